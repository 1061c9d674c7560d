//! The screen during a race, fed with events as the conductor sends them.

mod common;

use common::{RECORD_PATH, ceilings, operations, pair, races, undecided};
use model::event::Event;
use model::findings::{Findings, ResultFinding, Verdict};
use report::{Screen, ScreenOptions, Style};
use std::io::{self, Write};

fn options(findings: &Findings, progress: bool) -> ScreenOptions {
    ScreenOptions {
        style: Style { colour: false, width: 100 },
        progress,
        progress_width: 70,
        titles: findings.results.iter().map(|result| result.title.clone()).collect(),
        record_path: Some(RECORD_PATH.to_owned()),
        record_is_last: true,
    }
}

fn of(findings: &Findings, workload: &str) -> Vec<ResultFinding> {
    findings.results.iter().filter(|result| result.workload == workload).cloned().collect()
}

/// Shows events and answers with what stands on both streams.
fn shown(findings: &Findings, progress: bool, events: &[Event]) -> (String, String) {
    let mut screen = Screen::new(Vec::new(), Vec::new(), options(findings, progress));
    for event in events {
        screen.show(event).unwrap();
    }
    let (data, progress) = screen.into_streams();
    (String::from_utf8(data).unwrap(), String::from_utf8(progress).unwrap())
}

fn round(round: u32) -> Event {
    Event::RoundStarted {
        title: "commit 4 KiB".to_owned(),
        number: 1,
        round,
        look_at: 6,
        elapsed_seconds: 42.4,
        budget_seconds: Some(180.0),
    }
}

#[test]
fn a_whole_race_puts_ceilings_verdicts_and_the_answer_on_the_data_stream() {
    let findings = races::three();
    let mut events = vec![Event::Ceilings(ceilings())];
    let mut workloads: Vec<&str> = findings.results.iter().map(|result| result.workload.as_str()).collect();
    workloads.dedup();
    events.extend(workloads.iter().map(|workload| Event::Verdicts(of(&findings, workload))));
    events.push(Event::Finished(Box::new(findings.clone())));
    let (data, progress) = shown(&findings, false, &events);
    assert_eq!(progress, "", "nothing but data where the other stream is no terminal");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/screen-three.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &data).unwrap();
    }
    assert_eq!(data, std::fs::read_to_string(&path).unwrap_or_default(), "UPDATE_GOLDEN=1 writes it anew");
}

#[test]
fn a_verdict_that_settles_later_is_printed_again_and_marked_and_an_unchanged_one_is_not() {
    let findings = races::three();
    let before = of(&findings, "small-files");
    let mut after = before.clone();
    after[0].pairs[0] = pair("xfs", "ext4", (1.06, 1.03, 1.09), Verdict::Faster);
    let (data, _) = shown(&findings, false, &[Event::Verdicts(before.clone()), Event::Verdicts(before.clone())]);
    assert!(!data.contains("later"), "{data}");
    let once = data.len();
    let (data, _) = shown(&findings, false, &[Event::Verdicts(before.clone()), Event::Verdicts(after.clone())]);
    let again = &data[once..];
    assert!(
        again.starts_with("small files             settled later: create: xfs 6 % faster than ext4 (3 to 9 %)"),
        "{again}"
    );
    assert!(!again.contains("delete"), "what did not change is not repeated: {again}");
    after[0].pairs[0] = undecided("xfs", "ext4", (1.03, 0.98, 1.08), 9.0);
    let (data, _) = shown(&findings, false, &[Event::Verdicts(before), Event::Verdicts(after)]);
    assert!(data[once..].contains("after more rounds: create:"), "{data}");
}

#[test]
fn a_race_that_ends_early_still_says_what_it_found() {
    let findings = races::interrupted();
    let (data, _) = shown(&findings, false, &[Event::Finished(Box::new(findings.clone()))]);
    assert!(data.contains("commit 4 KiB           too few rounds to rank"), "{data}");
    assert!(data.contains("NOTE      The race was interrupted"), "{data}");
    assert!(data.contains("No choice can be made yet"), "{data}");
    assert!(data.contains("fairlane race --resume ~/.local/state"), "{data}");
}

#[test]
fn progress_is_one_line_that_fits_and_is_gone_before_data_is_written() {
    let findings = races::three();
    let hostile = "x\u{1b}[2J\n".repeat(40);
    let events = [
        Event::WritingImages { done_bytes: 1 << 30, total_bytes: 6 << 30 },
        Event::WorkloadStarted { title: "commit 4 KiB".to_owned(), number: 1, of: 6 },
        round(3),
        Event::LaneStarted { lane: "xfs".to_owned(), phase: "populate" },
        Event::RoundRecorded { rates: Vec::new(), trials: 9 },
        Event::RoundRepeated { title: "commit 4 KiB".to_owned(), round: 3, reason: hostile.clone() },
        Event::LaneStarted { lane: hostile, phase: "mkfs" },
        Event::Verdicts(of(&findings, "commit")),
    ];
    let (data, progress) = shown(&findings, true, &events);
    assert!(data.starts_with("commit 4 KiB"), "{data}");
    assert!(!data.contains('\u{1b}'), "{data:?}");
    assert!(!progress.contains('\n'), "{progress:?}");
    let lines: Vec<&str> = progress.split('\r').filter(|line| !line.is_empty()).collect();
    assert!(lines.iter().all(|line| line.ends_with("\u{1b}[K")), "{lines:?}");
    for line in &lines {
        let text = line.trim_end_matches("\u{1b}[K");
        assert!(text.chars().count() < 70 && !text.contains('\u{1b}'), "{text:?}");
    }
    assert_eq!(lines[0], "writing images, 1 GiB of 6 GiB\u{1b}[K");
    assert_eq!(lines[3], "workload 1/6 commit 4 KiB, round 3 of 6, 42 s of 3 min, xfs populate\u{1b}[K");
    // The line before the data wipes the progress, the one after draws it again.
    assert_eq!(lines[lines.len() - 2], "\u{1b}[K");
}

#[test]
fn a_failure_is_said_once_even_where_no_terminal_listens() {
    let findings = races::three();
    let failure = Event::TrialFailed {
        lane: "btrfs".to_owned(),
        title: "small files".to_owned(),
        reason: "no space left on the lane.".to_owned(),
    };
    let (data, progress) = shown(&findings, false, &[failure.clone(), round(2), failure]);
    assert_eq!(data, "");
    assert_eq!(progress, "btrfs failed at small files: no space left on the lane; the race goes on\n");
}

/// A pipe whose reader has gone.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_an_error_and_no_panic() {
    let findings = races::three();
    let mut screen = Screen::new(Closed, Vec::new(), options(&findings, false));
    let error = screen.show(&Event::Ceilings(ceilings())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn steps_of_file_operations_are_counted_while_the_race_runs_and_tabled_at_its_end() {
    let findings = operations::five();
    let verdicts = Event::Verdicts(of(&findings, "operations"));
    let (before, _) = shown(&findings, false, &[verdicts.clone(), verdicts.clone()]);
    assert!(before.lines().count() <= 10, "a few lines and not one per step:\n{before}");
    assert!(before.contains("xfs against ext4: faster in") && before.contains("of 31 steps"), "{before}");
    let (data, _) = shown(&findings, false, &[verdicts, Event::Finished(Box::new(findings.clone()))]);
    let after = data.strip_prefix(&before).unwrap();
    for row in &findings.operations[0].rows {
        let word = row.group.split(' ').next().unwrap();
        assert!(after.contains(word), "{word} is missing:\n{after}");
    }
    assert!(
        after.contains("all steps") && after.contains("sync after the work") && after.contains("ANSWER"),
        "{after}"
    );
}
