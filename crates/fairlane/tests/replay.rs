//! Programs that are captured once and raced: in images, in directories without root, and what is refused.

use crate::common::{Place, assert_one_sentence, root};
use serde_json::Value;

/// Files are made, read, renamed and removed by programs that start one another.
const WORK: &str = "mkdir d && cd d && for i in 1 2 3; do dd if=../in of=f$i bs=4096 conv=fsync status=none; done \
&& mv f1 g1 && ln -s g1 link && cat link f2 missing >../all 2>/dev/null; rm f3; ls >../list";

fn captured(place: &Place) {
    std::fs::write(place.path().join("in"), vec![b'x'; 20_000]).expect("a file");
    place.expect(0, &["capture", "-q", "-o", "t.trace", "--", "sh", "-c", WORK]);
}

fn report(place: &Place, record: &str) -> Value {
    serde_json::from_str(&place.expect(0, &["report", record, "--format", "json"]).0).expect("JSON")
}

fn trials(place: &Place, record: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join(record)).expect("a record");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["type"] == "trial" || line.get("outcome").is_some()).collect()
}

#[test]
fn a_captured_program_is_raced_in_images() {
    if !root() {
        return;
    }
    let place = Place::new();
    captured(&place);
    let words =
        ["race", "ext4", "xfs", "--replay", "t.trace", "--rounds", "2", "--lane-size", "320MiB", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &words);
    assert!(out.contains("replay of sh -c") && out.contains("write back"), "{out}");
    assert!(!out.contains("answered otherwise"), "{out}");
    assert!(out.lines().any(|line| line.contains("NEXT") && line.contains("--replay t.trace")), "{out}");
    let found = report(&place, "r.jsonl");
    let answered = found["answer"].to_string();
    for group in ["all", "open", "read", "write", "sync", "names", "list", "write back"] {
        assert!(answered.contains(&format!(": {group}\"")), "{group}: {answered}");
    }
    // What was raced is in the record, and another file of that name is another race.
    let all = trials(&place, "r.jsonl");
    assert!(all.len() >= 4, "{}", all.len());
    place.assert_nothing_left();
}

#[test]
fn a_replay_needs_no_root_and_keeps_to_the_recorded_times_where_it_is_asked_to() {
    let place = Place::new();
    captured(&place);
    for folder in ["a", "b"] {
        std::fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    let words =
        ["race", "./a", "./b", "--replay", "t.trace", "--speed", "2x", "--rounds", "1", "-o", "r.jsonl", "--no-report"];
    let (out, _) = place.expect(0, &words);
    assert!(out.contains("2 times as fast as recorded") && out.contains("  lateness"), "{out}");
    assert!(!out.contains("answered otherwise"), "{out}");
    // Nothing of the user's is touched.
    assert_eq!(std::fs::read(place.path().join("in")).expect("a file").len(), 20_000);
    place.assert_nothing_left();
}

#[test]
fn a_trace_is_a_scenario_whose_parts_its_own_replay_measures() {
    let place = Place::new();
    captured(&place);
    for folder in ["a", "b"] {
        std::fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    place.expect(0, &["race", "./a", "./b", "--replay", "t.trace", "--rounds", "3", "-o", "r.jsonl", "--no-report"]);
    let (text, _) = place.expect(0, &["trace", "show", "t.trace", "--format", "scenario"]);
    assert!(text.contains("series = [\"t.trace/replay/sync\", ") && text.contains("need = \"durable\""), "{text}");
    std::fs::write(place.path().join("mine.toml"), &text).expect("a file");
    let advice = |scenario: &str| {
        let (text, _) = place.expect(0, &["advise", "r.jsonl", "--scenario", scenario, "--format", "json"]);
        serde_json::from_str::<Value>(&text).expect("JSON")["advice"][0].clone()
    };
    let of_trace = advice("t.trace");
    assert_eq!((&of_trace["scenario"], &of_trace["measured_share"]), (&"sh".into(), &1.0.into()), "{of_trace}");
    assert_eq!(of_trace, advice("mine.toml"));
}

#[test]
fn what_cannot_be_done_again_is_refused_in_one_sentence() {
    let place = Place::new();
    captured(&place);
    std::fs::write(place.path().join("no.trace"), "fairlane").expect("a file");
    std::fs::create_dir_all(place.path().join("state")).expect("a folder");
    place.expect(0, &["capture", "-q", "-o", "empty.trace", "--under", "state", "--", "true"]);
    for (words, says) in [
        (vec!["--replay", "no.trace"], "it is no trace of fairlane"),
        (vec!["--replay", "missing.trace"], "name a trace"),
        (vec!["--replay", "."], "name a trace"),
        (vec!["--replay", "empty.trace"], "nothing in it can be done again"),
        (vec!["--replay", "t.trace", "--lane-size", "1MiB"], "lane"),
    ] {
        let (_, err) = place.expect(2, &[vec!["race", "ext4"], words].concat());
        assert_one_sentence(&err, &[says]);
    }
    for (words, says) in [
        (vec!["race", "ext4", "--speed", "2x"], "--replay"),
        (
            vec!["race", "ext4", "--replay", "t.trace", "--speed", "fast"],
            "choose max, thinktime, recorded, or a factor",
        ),
        (vec!["race", "ext4", "--replay", "t.trace", "--suite", "quick"], "cannot be used with"),
    ] {
        let (_, err) = place.expect(2, &words);
        assert!(err.contains(says), "{words:?}: {err}");
    }
    place.assert_nothing_left();
}

#[test]
fn another_trace_of_that_name_is_not_resumed() {
    let place = Place::new();
    captured(&place);
    for folder in ["a", "b"] {
        std::fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    place.expect(0, &["race", "./a", "./b", "--replay", "t.trace", "--rounds", "1", "-o", "r.jsonl", "--no-report"]);
    // As one that was cut off.
    let record = place.path().join("r.jsonl");
    let text = std::fs::read_to_string(&record).expect("a record");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&record, format!("{}\n", lines[..lines.len() - 1].join("\n"))).expect("a record");
    let whole = std::fs::read(&record).expect("a record");
    // With its own trace it goes on.
    place.expect(0, &["race", "--resume", "r.jsonl", "--no-report"]);
    std::fs::write(&record, whole).expect("a record");
    std::fs::remove_file(place.path().join("t.trace")).expect("a trace");
    place.expect(0, &["capture", "-q", "-o", "t.trace", "--", "ls", "/usr"]);
    let (_, err) = place.expect(2, &["race", "--resume", "r.jsonl"]);
    assert_one_sentence(&err, &["is not the trace that this race began with"]);
    place.assert_nothing_left();
}

#[test]
fn logs_of_others_become_traces_that_are_raced() {
    let place = Place::new();
    let strace = "1 10:00:00.000000 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in> <0.000010>\n\
                  1 10:00:00.001000 read(3</w/in>, \"x\"..., 8192) = 5000 <0.000010>\n\
                  1 10:00:00.002000 openat(AT_FDCWD</w>, \"out\", O_WRONLY|O_CREAT, 0644) = 4</w/out> <0.000010>\n\
                  1 10:00:00.003000 write(4</w/out>, \"x\"..., 5000) = 5000 <0.000010>\n\
                  1 10:00:00.004000 fsync(4</w/out>) = 0 <0.001000>\n\
                  1 10:00:00.005000 rename(\"/w/out\", \"/w/new\") = 0 <0.000010>\n\
                  1 10:00:00.006000 futex(0x1, FUTEX_WAKE, 1) = 0\n";
    let fio = "fio version 2 iolog\n/f add\n/f open\n/f write 0 4096\n/f read 4096 4096\n/f sync 0 0\n/f close\n";
    std::fs::create_dir(place.path().join("a")).expect("a folder");
    for (name, log, says) in [("s", strace, "6 calls from 7 lines"), ("f", fio, "5 calls from 7 lines")] {
        std::fs::write(place.path().join(name), log).expect("a log");
        let trace = format!("{name}.trace");
        let (out, _) = place.expect(0, &["import", name, "-o", &trace]);
        assert!(out.contains(says) && out.contains("note: "), "{out}");
        let (out, _) = place.expect(0, &["race", "./a", "--replay", &trace, "--rounds", "1", "--no-report"]);
        assert!(!out.contains("answered otherwise"), "{out}");
        let (_, err) = place.expect(2, &["import", name, "-o", &trace]);
        assert_one_sentence(&err, &["is there already"]);
    }
    // A file for each process, by what their names begin with, by their folder and by their names.
    std::fs::create_dir(place.path().join("ff")).expect("a folder");
    let (one, other) = strace.split_at(strace.find("1 10:00:00.004").expect("a line"));
    let of_process = |part: &str| part.lines().map(|line| format!("{}\n", &line[2..])).collect::<String>();
    let begin = format!("{}10:00:00.003900 vfork() = 12 <0.100000>\n", of_process(one));
    std::fs::write(place.path().join("ff/log.9"), begin).expect("a log");
    std::fs::write(place.path().join("ff/log.12"), of_process(other)).expect("a log");
    let mut traces = Vec::new();
    for (number, words) in [vec!["ff/log"], vec!["ff"], vec!["ff/log.9", "ff/log.12"]].into_iter().enumerate() {
        let trace = format!("ff{number}.trace");
        let (out, _) = place.expect(0, &[&["import"], &words[..], &["-o", &trace]].concat());
        assert!(out.contains("6 calls from 8 lines") && out.contains("strace -ff"), "{out}");
        traces.push(std::fs::read(place.path().join(&trace)).expect("a trace"));
    }
    assert!(traces[0] == traces[1] && traces[1] == traces[2]);
    let (out, _) = place.expect(0, &["race", "./a", "--replay", "ff0.trace", "--rounds", "1", "--no-report"]);
    assert!(!out.contains("answered otherwise"), "{out}");
    std::fs::write(place.path().join("odd"), "hello\n").expect("a file");
    let (_, err) = place.expect(2, &["import", "odd", "-o", "x.trace"]);
    assert_one_sentence(&err, &["nor a log that is known"]);
    let (_, err) = place.expect(2, &["import", "missing", "-o", "x.trace"]);
    assert_one_sentence(&err, &["cannot read missing"]);
    assert!(!place.path().join("x.trace").exists());
    place.assert_nothing_left();
}
