//! Programs that are captured, and what their traces say of them.

use crate::common::{Place, assert_one_sentence};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn shown(place: &Place, trace: &str) -> Value {
    serde_json::from_str(&place.expect(0, &["trace", "show", trace, "--format", "json"]).0).expect("JSON")
}

fn count(shown: &Value, call: &str) -> u64 {
    let calls = shown["calls"].as_array().expect("calls");
    calls.iter().find(|of| of["call"] == call).map_or(0, |of| of["count"].as_u64().expect("a count"))
}

fn file<'a>(shown: &'a Value, name: &Path) -> &'a Value {
    let files = shown["files"].as_array().expect("files");
    let found = files.iter().find(|of| of["path"] == name.to_str().expect("a name"));
    found.unwrap_or_else(|| panic!("{} in {files:?}", name.display()))
}

const WORK: &str = "
mkdir d && cd d && cat > in && dd if=in of=out bs=1000 conv=fsync status=none && ln out again && mv out moved \
&& ln -s moved link && rm again && chmod 600 moved && cat link missing ../d/moved > ../copy 2>/dev/null; exit 7";

#[test]
fn what_a_program_asks_of_files_is_written_down_and_it_stays_as_it_is() {
    let place = Place::new();
    let mut command = place.fairlane(&["capture", "-o", "t.trace", "--", "sh", "-c", WORK]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("a pipe").write_all(&[b'x'; 10_000]).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(output.stdout.is_empty(), "its own output is the program's alone: {output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("fairlane trace show t.trace"), "{output:?}");
    assert_eq!(std::fs::read(place.path().join("copy")).expect("a copy").len(), 20_000);

    let top = place.path().canonicalize().expect("a folder");
    let shown = shown(&place, "t.trace");
    assert_eq!(shown["end"]["status"], 7);
    let (read, written) = (file(&shown, &top.join("d/in")), file(&shown, &top.join("d/out")));
    assert_eq!((&read["written_bytes"], &read["read_bytes"]), (&10_000.into(), &10_000.into()));
    assert_eq!(
        (&written["written_bytes"], &written["syncs"], &written["extent_bytes"]),
        (&10_000.into(), &1.into(), &10_000.into())
    );
    assert_eq!(file(&shown, &top.join("copy"))["written_bytes"], 20_000);
    for call in ["mkdirat", "linkat", "renameat2", "symlinkat", "unlinkat", "fsync", "fchmodat"] {
        assert_eq!(count(&shown, call), 1, "{call}: {shown}");
    }
    assert!(shown["processes"].as_u64().expect("a number") >= 7 && count(&shown, "execve") >= 7, "{shown}");
    assert!(shown["sampled_bytes"].as_u64() > Some(0), "{shown}");
    let (text, _) = place.expect(0, &["trace", "show", "t.trace"]);
    assert!(text.contains("exit status 7") && text.contains("d/moved") && text.contains("1 sync"), "{text}");
    let (csv, _) = place.expect(0, &["trace", "show", "t.trace", "--format", "csv"]);
    assert!(csv.starts_with("path,opened,read_bytes") && csv.contains("/d/in,"), "{csv}");
    place.assert_nothing_left();
}

#[test]
fn static_programs_threads_and_signals_are_seen() {
    let place = Place::new();
    let source = "#include <fcntl.h>\n#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\n\
        static void *work(void *name) { int f = open(name, O_RDWR | O_CREAT, 0600); char b[4096] = {0};\n\
        for (int i = 0; i < 50; i++) pwrite(f, b, 4096, i * 4096L); pread(f, b, 100, 50); fdatasync(f); close(f); return 0; }\n\
        int main(void) { pthread_t t[3]; char *names[] = {\"a\", \"b\", \"c\"};\n\
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, names[i]);\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); raise(SIGUSR1); return 0; }\n";
    std::fs::write(place.path().join("s.c"), source).expect("a source");
    let made = Command::new("cc")
        .args(["-O1", "-static", "-pthread", "-w", "-o", "s", "s.c"])
        .current_dir(place.path())
        .status()
        .expect("a compiler");
    assert!(made.success());
    place.expect(128 + 10, &["capture", "-q", "-o", "s.trace", "--", "./s"]);
    let top = place.path().canonicalize().expect("a folder");
    let shown = shown(&place, "s.trace");
    assert_eq!((&shown["threads"], &shown["processes"]), (&4.into(), &1.into()));
    assert_eq!(shown["end"]["buffer"]["calls"].as_u64().unwrap_or(0), 0, "all of them stopped");
    assert_eq!((count(&shown, "pwrite64"), count(&shown, "pread64"), count(&shown, "fdatasync")), (150, 3, 3));
    for name in ["a", "b", "c"] {
        let of = file(&shown, &top.join(name));
        assert_eq!(
            (&of["written_bytes"], &of["extent_bytes"], &of["syncs"]),
            (&204_800.into(), &204_800.into(), &1.into())
        );
    }
}

/// A program of 32 bits for x86 that ends with status 7, as the kernel loads it: a header, one segment, `exit(7)`.
#[cfg(target_arch = "x86_64")]
fn of_32_bits() -> Vec<u8> {
    let halves = |words: &[u16]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (begin, code) = (0x0804_8000, [0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80]);
    let bytes = 84 + code.len() as u32;
    [
        b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
        halves(&[2, 3]),
        words(&[1, begin + 84, 52, 0, 0]),
        halves(&[52, 32, 1, 0, 0, 0]),
        words(&[1, 0, begin, begin, bytes, bytes, 5, 0x1000]),
        code.to_vec(),
    ]
    .concat()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn programs_whose_calls_are_not_seen_are_told_to_be_missing() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let program = place.path().join("narrow");
    std::fs::write(&program, of_32_bits()).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it may be run");
    let runs = Command::new(&program).status().is_ok_and(|status| status.code() == Some(7));
    let notes = |trace: &str| shown(&place, trace)["notes"].to_string();
    place.expect(0, &["capture", "-q", "-o", "w.trace", "--", "true"]);
    assert!(!notes("w.trace").contains("32 bits"), "{}", notes("w.trace"));
    // Kernels without calls of 32 bits run no such program.
    if runs {
        place.expect(7, &["capture", "-q", "-o", "n.trace", "--", "./narrow"]);
        assert!(notes("n.trace").contains("32 bits are"), "{}", notes("n.trace"));
    }
}

#[test]
fn bytes_are_of_the_file_that_a_descriptor_leads_to_now() {
    let place = Place::new();
    // The shell lays its own output, which is a pipe, over the file again.
    let script = "echo a > f; echo bbbbbbbbbb; /bin/echo ccc; umask";
    let output =
        place.fairlane(&["capture", "-q", "-o", "d.trace", "--", "sh", "-c", script]).output().expect("it runs");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with("bbbbbbbbbb\nccc\n"));
    let top = place.path().canonicalize().expect("a folder");
    assert_eq!(file(&shown(&place, "d.trace"), &top.join("f"))["written_bytes"], 2);
    // A number that one thread closes is the next one's at once.
    let source = "#include <fcntl.h>\n#include <pthread.h>\n#include <unistd.h>\n\
        static void *work(void *name) { char b[64] = {0}; for (int i = 0; i < 200; i++) {\n\
        int f = open(name, O_RDWR | O_CREAT, 0600); for (int k = 0; k < 4; k++) pwrite(f, b, 64, 0); close(f); } return 0; }\n\
        int main(void) { pthread_t t[4]; char *names[] = {\"a\", \"b\", \"c\", \"d\"};\n\
        for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, names[i]);\n\
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }\n";
    std::fs::write(place.path().join("t.c"), source).expect("a source");
    let made = Command::new("cc").args(["-O1", "-pthread", "-w", "-o", "t", "t.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    place.expect(0, &["capture", "-q", "-o", "t.trace", "--", "./t"]);
    let shown = shown(&place, "t.trace");
    for name in ["a", "b", "c", "d"] {
        assert_eq!(file(&shown, &top.join(name))["written_bytes"], 200 * 4 * 64, "{name}");
    }
    // A process that is no thread may share descriptors: what it opened is written by the other.
    let source = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <sched.h>\n#include <signal.h>\n#include <sys/wait.h>\n\
        #include <unistd.h>\nstatic char stack[65536] __attribute__((aligned(16)));\n\
        static int opens(void *name) { return open(name, O_RDWR | O_CREAT, 0600); }\n\
        int main(void) { int status; int child = clone(opens, stack + sizeof stack, CLONE_FILES | SIGCHLD, \"shared\");\n\
        if (waitpid(child, &status, 0) != child) return 1; int f = WEXITSTATUS(status);\n\
        return write(f, \"abc\", 3) != 3 || close(f) != 0; }\n";
    std::fs::write(place.path().join("c.c"), source).expect("a source");
    let made = Command::new("cc").args(["-O1", "-w", "-o", "c", "c.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    for (how, trace) in [(None, "c1.trace"), (Some("--no-buffer"), "c2.trace")] {
        let words = ["capture", "-q", "-o", trace].into_iter().chain(how).chain(["--", "./c"]);
        place.expect(0, &words.collect::<Vec<_>>());
        let of = file(&self::shown(&place, trace), &top.join("shared")).clone();
        assert_eq!((&of["opened"], &of["written_bytes"]), (&1.into(), &3.into()), "{how:?}");
        std::fs::remove_file(place.path().join("shared")).expect("a file");
    }
}

/// Two threads with one descriptor number for two files, and two directories; status 77: a container forbids that.
const APART: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t both; static int by_range, common, f; static char b[4096];
static void meet(void) { pthread_barrier_wait(&both); }
static int opens(const char *name) { return open(name, O_RDWR | O_CREAT, 0600); }
static void *of_apart(void *x) { write(f, b, 7); return 0; }
static void *apart(void *x) {
    /* Both are refused, the second one as close_range with a range that ends before it begins. */
    if (syscall(SYS_unshare, CLONE_FILES | 1L) == 0 || syscall(436L, 9L, 3L, 2L) == 0) exit(1);
    common = opens("common"); meet(); meet();
    if (!by_range || syscall(436L, (long)f, (long)f, 2L) != 0) { if (unshare(CLONE_FILES)) exit(77); close(f); }
    if (unshare(CLONE_FS)) exit(77);
    if (opens("second") != f || chdir("d")) exit(2);
    write(f, b, 200);
    int child = fork(); if (child == 0) { write(f, b, 5); _exit(0); }
    if (waitpid(child, 0, 0) != child) exit(3);
    pthread_t t; pthread_create(&t, 0, of_apart, 0); pthread_join(t, 0);
    write(opens("x"), b, 11); meet(); meet();
    close(f); if (opens("third") != f) exit(4);
    write(f, b, 30); meet(); return 0; }
int main(int count, char **words) {
    by_range = count > 1; f = opens("first"); mkdir("d", 0700); pthread_barrier_init(&both, 0, 2);
    pthread_t t; pthread_create(&t, 0, apart, 0);
    meet(); write(common, b, 3); meet();
    meet(); write(f, b, 10); write(opens("x"), b, 13); meet();
    meet(); write(f, b, 20); close(f); pthread_join(t, 0); return 0; }
"#;

#[test]
fn a_thread_that_unshares_has_descriptors_and_a_directory_of_its_own() {
    let place = Place::new();
    std::fs::write(place.path().join("u.c"), APART).expect("a source");
    let made = Command::new("cc").args(["-O1", "-pthread", "-w", "-o", "u", "u.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    let ran = Command::new("./u").current_dir(place.path()).status().expect("it runs");
    if ran.code() == Some(77) {
        return eprintln!("skipped: unshare is forbidden here, as in some containers");
    }
    assert!(ran.success(), "{ran}");
    let top = place.path().canonicalize().expect("a folder");
    for (more, word) in [("", None), ("", Some("range")), ("--no-buffer", None), ("--no-buffer", Some("range"))] {
        let trace = format!("u{more}{}.trace", word.unwrap_or_default());
        let how = Some(more).filter(|more| !more.is_empty());
        let words = ["capture", "-q", "-o", &trace].into_iter().chain(how).chain(["--", "./u"]).chain(word);
        place.expect(0, &words.collect::<Vec<_>>());
        let shown = shown(&place, &trace);
        for (name, bytes) in
            [("common", 3_u64), ("first", 30), ("second", 212), ("d/third", 30), ("x", 13), ("d/x", 11)]
        {
            let of = file(&shown, &top.join(name));
            assert_eq!((&of["opened"], &of["written_bytes"]), (&1.into(), &bytes.into()), "{name}, {more}, {word:?}");
        }
    }
}

#[test]
fn who_ends_the_tracer_gently_ends_the_program_gently() {
    let place = Place::new();
    let script = "trap 'echo cleaned > cleaned; exit 3' TERM; echo > begun; while :; do sleep 0.05; done";
    let mut child =
        place.fairlane(&["capture", "-q", "-o", "g.trace", "--", "sh", "-c", script]).spawn().expect("it runs");
    let begun = Instant::now();
    while !place.path().join("begun").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("SIGTERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    assert!(place.path().join("cleaned").exists());
    assert_eq!(shown(&place, "g.trace")["end"]["status"], 3);
}

#[test]
fn a_tracer_that_is_killed_leaves_what_came_before_and_no_program() {
    let place = Place::new();
    let script = "echo $$ > pid; while :; do echo x >> f; done";
    let mut command = place.fairlane(&["capture", "-q", "-o", "k.trace", "--", "sh", "-c", script]);
    let mut child = command.spawn().expect("it runs");
    let trace = place.path().join("k.trace");
    let begun = Instant::now();
    // Two frames at least: one of them is written each second.
    let mut sizes = std::collections::BTreeSet::new();
    while sizes.len() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(50));
        sizes.insert(trace.metadata().map_or(0, |of| of.len()));
    }
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    let program: i32 =
        std::fs::read_to_string(place.path().join("pid")).expect("a pid").trim().parse().expect("a number");
    while Path::new(&format!("/proc/{program}/stat")).exists() {
        assert!(begun.elapsed() < Duration::from_secs(90), "the program goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let shown = shown(&place, "k.trace");
    assert!(shown["end"].is_null() && count(&shown, "write") > 100, "{shown}");
    let (text, _) = place.expect(0, &["trace", "show", "k.trace"]);
    assert!(text.contains("UNENDED"), "{text}");
}

#[test]
fn a_trace_can_be_of_one_folder_and_without_names() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("secret")).expect("a folder");
    let script = "echo x > secret/name; cat secret/name > elsewhere";
    let line = ["capture", "-q", "-o", "u.trace", "--under", "secret", "--anonymous", "--", "sh", "-c", script];
    place.expect(0, &line);
    let shown = shown(&place, "u.trace");
    let files = shown["files"].as_array().expect("files");
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!((&files[0]["written_bytes"], &files[0]["read_bytes"]), (&2.into(), &2.into()));
    let all = place.expect(0, &["trace", "show", "u.trace"]).0 + &shown.to_string();
    assert!(!all.contains("secret") && !all.contains("name\"") && !all.contains("elsewhere"), "{all}");
    let bytes = std::fs::read(place.path().join("u.trace")).expect("a trace");
    assert!(!bytes.windows(6).any(|part| part == b"secret"));
}

#[test]
fn what_is_typed_wrongly_or_is_no_trace_is_said_in_one_sentence() {
    let place = Place::new();
    std::fs::write(place.path().join("there"), "mine").expect("a file");
    for (status, line, says) in [
        (125, &["capture", "-o", "there", "--", "true"][..], &["there is there already", "-o"][..]),
        (125, &["capture", "-o", "no/such/folder", "--", "true"], &["cannot write no/such/folder"]),
        (125, &["capture", "-o", "t", "--under", "/no/such", "--", "true"], &["--under", "name a folder"]),
        (127, &["capture", "-o", "t", "--", "no-such-program"], &["no program `no-such-program`"]),
        (126, &["capture", "-o", "t", "--", "./there"], &["cannot run the program"]),
        (2, &["trace", "show", "there"], &["there: it is no trace of fairlane"]),
        (2, &["trace", "show", "missing"], &["cannot read missing"]),
        (2, &["trace", "show", "there", "--format", "pdf"], &["not shown as `pdf`", "text, html, json, csv"]),
    ] {
        let (_, err) = place.expect(status, line);
        assert_one_sentence(&err, says);
    }
    assert_eq!(std::fs::read(place.path().join("there")).expect("a file"), b"mine");
    assert!(!place.path().join("t").exists(), "what holds nothing is removed");
    place.expect(2, &["capture", "-o", "t"]);
}
