//! Captures whose calls are written down without a stop, beside those that stop at each.

use crate::common::Place;
use serde_json::Value;
use std::process::Command;

const MANY_CALLS: &str = include_str!("fixtures/many_calls.c");

/// Whether this machine's CPU has a counter that the kernel itself takes for a clock.
fn has_buffer() -> bool {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let has = |flag: &str| cpu.split_whitespace().any(|word| word == flag);
    let clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    cfg!(target_arch = "x86_64")
        && ["constant_tsc", "nonstop_tsc", "fsgsbase"].into_iter().all(has)
        && ["tsc", "kvm-clock"].contains(&clock.trim())
}

/// Compiles a program; where it lies.
fn program(place: &Place, source: &str) -> String {
    std::fs::write(place.path().join("many.c"), source).expect("a source");
    let made =
        Command::new("cc").args(["-O1", "-pthread", "-w", "-o", "many", "many.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    place.path().join("many").display().to_string()
}

/// Runs it in a new folder of its own, captured so; what it printed and what is in the trace.
fn captured_until(place: &Place, program: &str, how: &[&str], arguments: &[&str], status: i32) -> (String, Value) {
    let folder = place.path().join("work");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    let trace = place.path().join("t.trace").display().to_string();
    let _ = std::fs::remove_file(&trace);
    let words = [&["capture", "-q", "-o", &trace], how, &["--", program], arguments].concat();
    let output = place.fairlane(&words).current_dir(&folder).output().expect("it runs");
    assert!(output.status.code() == Some(status), "{output:?}");
    let (text, _) = place.expect(0, &["trace", "show", &trace, "--format", "json"]);
    let shown = serde_json::from_str(&text).expect("a trace");
    (String::from_utf8(output.stdout).expect("text"), shown)
}

fn captured(place: &Place, program: &str, how: &[&str], arguments: &[&str]) -> (String, Value) {
    captured_until(place, program, how, arguments, 0)
}

/// What does not hang on time: of each call how often, how many failed and bytes; of each file what was done with it.
fn work(shown: &Value) -> (Vec<Value>, Vec<Value>) {
    let part = |of: &Value, keys: &[&str]| keys.iter().map(|key| of[key].clone()).collect::<Value>();
    let calls = shown["calls"].as_array().expect("calls");
    let mut calls: Vec<Value> = calls.iter().map(|call| part(call, &["call", "count", "failed", "bytes"])).collect();
    calls.sort_by_key(ToString::to_string);
    let files = shown["files"].as_array().expect("files");
    let keys = ["path", "opened", "read_bytes", "written_bytes", "syncs", "extent_bytes"];
    let mut files: Vec<Value> = files.iter().map(|file| part(file, &keys)).collect();
    files.sort_by_key(ToString::to_string);
    (calls, files)
}

#[test]
fn what_a_program_asks_is_the_same_with_and_without_stops() {
    let place = Place::new();
    let program = program(&place, MANY_CALLS);
    let (said, buffered) = captured(&place, &program, &[], &["100"]);
    let (without, stopped) = captured(&place, &program, &["--no-buffer"], &["100"]);
    assert_eq!(without, "without\n");
    assert_eq!(said, if has_buffer() { "with a buffer\n" } else { "without\n" });
    assert_eq!(work(&buffered), work(&stopped));
    let of_buffer = |key: &str| buffered["end"]["buffer"][key].as_u64();
    assert_eq!(
        of_buffer("calls") > Some(100) && of_buffer("most_bytes") > Some(0),
        has_buffer(),
        "{}",
        buffered["end"]
    );
    assert!(stopped["end"]["buffer"].is_null() && of_buffer("bytes") >= of_buffer("most_bytes"), "{}", stopped["end"]);
    assert_eq!(buffered["bytes_before"], stopped["bytes_before"]);
    assert_eq!((&buffered["threads"], &buffered["processes"]), (&stopped["threads"], &stopped["processes"]));
}

#[test]
fn the_end_of_each_process_is_seen_with_and_without_stops() {
    let place = Place::new();
    let script = "i=0; while [ $i -lt 30 ]; do /bin/echo x > f; i=$((i + 1)); done";
    let seen = |how: &[&str]| {
        let (_, shown) = captured(&place, "sh", how, &["-c", script]);
        let trace = std::fs::File::open(place.path().join("t.trace")).expect("a trace");
        let mut reader = trace::Reader::begin(trace).expect("a trace");
        let mut ends = 0;
        while let Some(item) = reader.next_item().expect("an item") {
            ends += u64::from(matches!(item, trace::Item::Waited { .. }));
        }
        (ends, shown["processes"].as_u64(), work(&shown).0)
    };
    let (buffered, stopped) = (seen(&[]), seen(&["--no-buffer"]));
    assert_eq!(buffered, stopped);
    assert_eq!((buffered.0, buffered.1), (30, Some(31)));
}

/// What lies under a path is told as it was before the program changed it, though both calls are read from the buffer at once.
#[test]
fn what_was_there_before_is_told_though_it_changed_before_it_was_looked_at() {
    let place = Place::new();
    let source = r#"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) { struct stat s; char b[64]; int f;
    f = open("read", O_RDONLY); (void)!read(f, b, 64); close(f); unlink("read");
    f = open("cut", O_RDONLY); close(f); f = open("cut", O_WRONLY | O_TRUNC); (void)!write(f, b, 64); close(f);
    stat("seen", &s); unlink("seen"); access("asked", R_OK); (void)!truncate("asked", 3);
    f = open("longer", O_RDONLY); close(f); f = open("longer", O_WRONLY | O_APPEND); (void)!write(f, b, 64); close(f);
    stat("folder", &s); rmdir("folder"); mkdir("there", 0700); rmdir("there"); return 0; }
"#;
    let program = program(&place, source);
    let names = [("read", 1001), ("cut", 1002), ("seen", 1003), ("asked", 1004), ("longer", 1005)];
    let folder = place.path().join("work");
    let befores = |how: &[&str]| {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        names.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), vec![b'x'; *bytes]).expect("a file"));
        ["folder", "there"].iter().for_each(|name| std::fs::create_dir(folder.join(name)).expect("a folder"));
        let trace = place.path().join("b.trace");
        let _ = std::fs::remove_file(&trace);
        let words = ["capture", "-q", "-o", trace.to_str().expect("a name")];
        let output = place.fairlane(&[&words, how, &["--", &program]].concat()).current_dir(&folder).output();
        assert!(output.expect("it runs").status.success());
        let mut reader = trace::Reader::begin(std::fs::File::open(&trace).expect("a trace")).expect("a trace");
        let (mut paths, mut found) = (Vec::new(), Vec::new());
        while let Some(item) = reader.next_item().expect("an item") {
            match item {
                trace::Item::Path(path) => paths.push(String::from_utf8(path).expect("text")),
                trace::Item::Before(before) => found.push((paths[before.path as usize].clone(), before)),
                _ => {}
            }
        }
        let of = |name: &str| {
            let path = folder.join(name).display().to_string();
            found.iter().find(|(of, _)| *of == path).map(|(_, before)| (before.mode & libc::S_IFMT, before.bytes))
        };
        let files =
            names.map(|(name, bytes)| assert_eq!(of(name), Some((libc::S_IFREG, bytes as u64)), "{name} {how:?}"));
        assert_eq!([of("folder"), of("there")], [Some((libc::S_IFDIR, 0)); 2], "{how:?}");
        files.len()
    };
    assert_eq!((befores(&["--no-buffer"]), befores(&[])), (5, 5));
}

#[test]
fn no_call_is_lost_where_more_come_than_the_buffer_holds() {
    let place = Place::new();
    let program = program(&place, MANY_CALLS);
    let preads = |loops: &str| {
        let (_, shown) = captured(&place, &program, &[], &[loops]);
        let calls = shown["calls"].as_array().expect("calls");
        calls.iter().find(|row| row["call"] == "pread64").expect("the call")["count"].as_u64().expect("a number")
    };
    assert_eq!(preads("400000"), preads("0") + 400_000);
}

#[test]
fn nothing_is_missing_of_who_ends_beside_busy_threads() {
    let place = Place::new();
    let program = program(&place, include_str!("fixtures/busy_exit.c"));
    let (_, shown) = captured(&place, &program, &[], &[]);
    let opened = |name: &str| {
        let files = shown["files"].as_array().expect("files");
        let is_it = |file: &&Value| file["path"].as_str().is_some_and(|path| path.ends_with(name));
        files.iter().find(is_it).expect("the file")["opened"].as_u64().expect("a number")
    };
    assert_eq!((opened("/work/last"), opened("/work/child")), (1 + 20 * 10 + 10, 1 + 10));
}

#[test]
fn signals_reach_a_program_whose_calls_do_not_stop() {
    let place = Place::new();
    let program = program(&place, MANY_CALLS);
    captured(&place, &program, &[], &["signals"]);
}

#[test]
fn a_program_that_writes_garbage_into_the_buffer_is_followed_to_its_end() {
    let place = Place::new();
    let program = program(&place, include_str!("fixtures/garbage_in_buffer.c"));
    // It ends with 3 where it finds no buffer.
    let status = if has_buffer() { 7 } else { 3 };
    let (_, shown) = captured_until(&place, &program, &[], &[], status);
    assert_eq!(shown["end"]["status"], status, "{shown}");
}
