//! Programs that are captured once and raced in guests.

use crate::common::assert_one_sentence;
use crate::home::Home;
use crate::user_mode_linux::user_mode_linux;
use crate::{assert_all_done, results};
use model::record::Record;
use model::trial::Outcome;

/// Files are made, read, renamed and removed by programs that start one another.
const WORK: &str = "mkdir d && cd d && for i in 1 2 3; do dd if=../in of=f$i bs=4096 conv=fsync status=none; done \
&& mv f1 g1 && ln -s g1 link && cat link f2 missing >../all 2>/dev/null; rm f3; ls >../list";

fn captured(home: &Home, trace: &str, work: &str) {
    let file = home.0.path().join("in");
    std::fs::write(&file, vec![b'x'; 20_000]).expect("a file");
    home.owns(&file);
    home.expect(0, &["capture", "-q", "-o", trace, "--", "sh", "-c", work]);
}

/// All was done, and nothing was answered otherwise than the program was.
#[track_caller]
fn assert_the_same_work(record: &Record) {
    let done = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok);
    for trial in done {
        let otherwise = trial.flags.iter().any(|flag| flag.to_string().contains("answered otherwise"));
        assert!(!otherwise, "{trial:?}");
    }
}

#[test]
fn a_captured_program_is_raced_in_a_guest() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    captured(&home, "t.trace", WORK);
    let race = ["race", "ext4", "xfs", "--replay", "t.trace", "--on", "uml", "--lane-size", "320MiB", "-o", "r.jsonl"];
    let (out, _) = home.expect(0, &[&race[..], &["--rounds", "2"]].concat());
    assert!(!out.contains("answered otherwise"), "{out}");
    let record = home.record();
    assert_all_done(&record, &["ext4", "xfs"], "uml", 2);
    assert_the_same_work(&record);
    let found: Vec<String> = results(&record, "replay").into_iter().map(|result| result.group).collect();
    for group in ["all", "open", "read", "write", "sync", "names", "list", "write back"] {
        assert!(found.iter().any(|of| of == group), "{group}: {found:?}");
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
    // It goes on with its own trace alone, at the end of which another one is as good as none.
    let path = home.0.path().join("r.jsonl");
    let text = std::fs::read_to_string(&path).expect("a record");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&path, format!("{}\n", lines[..lines.len() - 1].join("\n"))).expect("a record");
    captured(&home, "other.trace", "cat in");
    std::fs::rename(home.0.path().join("other.trace"), home.0.path().join("t.trace")).expect("a trace");
    let (_, err) = home.expect(2, &["race", "--resume", "r.jsonl"]);
    assert_one_sentence(&err, &["is not the trace that this race began with"]);
    home.0.assert_nothing_left();
}

#[test]
fn a_replay_keeps_to_the_recorded_times_in_a_guest() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    captured(&home, "t.trace", WORK);
    let race = ["race", "ext4", "--replay", "t.trace", "--speed", "recorded", "--on", "uml", "--rounds", "1"];
    home.expect(0, &[&race[..], &["--lane-size", "320MiB", "-o", "r.jsonl", "--no-report"]].concat());
    let record = home.record();
    assert_all_done(&record, &["ext4"], "uml", 1);
    assert_the_same_work(&record);
    assert!(results(&record, "replay").iter().any(|result| result.group == "lateness"));
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn a_trace_that_a_guest_has_no_room_for_is_refused_before_anything_is_made() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    captured(&home, "t.trace", "truncate -s 300M large; dd if=large of=/dev/null bs=300M status=none; rm large");
    let race = ["race", "ext4", "--replay", "t.trace", "--on", "uml", "--rounds", "1", "-o", "r.jsonl"];
    let (_, err) = home.expect(2, &race);
    let says = ["does not fit into a guest of 512MiB", "move 300 MiB at once", "--guest-memory"];
    assert_one_sentence(&err, &says);
    assert!(!home.0.path().join("r.jsonl").exists());
    home.0.assert_nothing_left();
    // With more memory it is not.
    home.expect(0, &[&race[..], &["--guest-memory", "2GiB", "--dry-run"]].concat());
    home.0.assert_nothing_left();
}
