//! The screen during a race, fed with events as the conductor sends them.

use crate::common;

use common::{RECORD_PATH, ceilings, operations, pair, races, undecided};
use model::aged::AgedLane;
use model::event::Event;
use model::findings::{AgedFinding, AgedRanks, AgedRow, Findings, ResultFinding, Verdict};
use model::workload::{Kind, Workload};
use report::{Screen, ScreenOptions, Style};
use std::io::{self, Write};

fn options(findings: &Findings, progress: bool) -> ScreenOptions {
    ScreenOptions {
        style: Style { colour: false, width: 100, ..Style::default() },
        progress,
        progress_width: 70,
        titles: findings.results.iter().map(|result| result.title.clone()).collect(),
        record_path: Some(RECORD_PATH.to_owned()),
        record_is_last: true,
    }
}

fn results_of(findings: &Findings, workload: &str) -> Vec<ResultFinding> {
    common::told(findings).results.into_iter().filter(|result| result.workload == workload).collect()
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
fn a_whole_race_puts_its_result_once_on_the_data_stream() {
    let findings = races::three();
    let mut events = vec![Event::Ceilings(ceilings())];
    let mut workloads: Vec<&str> = findings.results.iter().map(|result| result.workload.as_str()).collect();
    workloads.dedup();
    events.extend(workloads.iter().map(|workload| Event::Verdicts(results_of(&findings, workload))));
    events.push(Event::Finished(Box::new(common::told(&findings))));
    let (data, progress) = shown(&findings, false, &events);
    assert_eq!(progress, "", "nothing but data where the other stream is no terminal");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/screen-three.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &data).unwrap();
    }
    assert_eq!(data, std::fs::read_to_string(&path).unwrap_or_default(), "UPDATE_GOLDEN=1 writes it anew");
}

#[test]
fn passes_that_were_asked_for_and_refused_are_never_cut_and_the_rest_names_its_record() {
    let mut findings = common::told(&races::three());
    let refused = "nothing is explained: the kernel refuses perf events; run as root";
    let mut record = common::record(&findings);
    let work = |name: &str| Workload { name: name.into(), title: name.into(), kind: Kind::Io(Box::default()) };
    record.header.plan.workloads = vec![work("commit")];
    record.warnings.push(refused.to_owned());
    let said = stats::judge::findings(&record).unexplained;
    assert_eq!(said.iter().map(ToString::to_string).collect::<Vec<_>>(), [refused]);
    findings.unexplained.clone_from(&said);
    findings.warnings = (0..20).map(|at| format!("warning {at}").into()).chain(said).collect();
    let shown = |record_is_last: bool| {
        let of = ScreenOptions { record_is_last, ..options(&findings, false) };
        let mut screen = Screen::new(Vec::new(), Vec::new(), of);
        screen.show(&Event::Finished(Box::new(findings.clone()))).unwrap();
        let text = String::from_utf8(screen.into_streams().0).unwrap();
        text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = shown(true);
    assert!(text.contains(&format!("EXPLAIN {refused}.")), "{text}");
    assert_eq!(text.matches("nothing is explained").count(), 1, "{text}");
    assert!(text.contains("more in the report: fairlane report ") && !text.contains("fairlane report ~"), "{text}");
    let text = shown(false);
    assert!(text.contains(&format!("more in the report: fairlane report {RECORD_PATH}")), "{text}");
}

#[test]
fn a_verdict_that_settles_later_is_printed_again_and_marked_and_an_unchanged_one_is_not() {
    let findings = races::three();
    let before = results_of(&findings, "small-files");
    let mut after = before.clone();
    after[0].pairs[0] = pair("xfs", "ext4", (1.06, 1.03, 1.09), Verdict::Faster);
    stats::said::set(&mut after);
    let told = |events: &[Event]| {
        let (data, progress) = shown(&findings, true, events);
        assert_eq!(data, "", "what falls during a race is no result");
        progress.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let twice = told(&[Event::Verdicts(before.clone()), Event::Verdicts(before.clone())]);
    assert!(!twice.contains("later"), "{twice}");
    let once = twice.len();
    let both = told(&[Event::Verdicts(before.clone()), Event::Verdicts(after.clone())]);
    let again = both[once..].trim_start();
    assert!(again.starts_with("small files settled later: create: xfs 6 % faster than ext4 (3 to 9 %)"), "{again}");
    assert!(!again.contains("delete"), "what did not change is not repeated: {again}");
    after[0].pairs[0] = undecided("xfs", "ext4", (1.03, 0.98, 1.08), 9.0);
    stats::said::set(&mut after);
    let both = told(&[Event::Verdicts(before.clone()), Event::Verdicts(after)]);
    assert!(both[once..].contains("after more rounds: create:"), "{both}");
    let (data, progress) = shown(&findings, false, &[Event::Verdicts(before)]);
    assert_eq!((data.as_str(), progress.as_str()), ("", ""), "nobody watches");
}

#[test]
fn a_race_that_ends_early_still_says_what_it_found() {
    let findings = races::interrupted();
    let (data, _) = shown(&findings, false, &[Event::Finished(Box::new(common::told(&findings)))]);
    assert!(data.contains("commit 4 KiB            1.08k    1.12k  ? interrupted"), "{data}");
    assert_eq!(data.matches("NOTE").count(), 1, "{data}");
    assert!(data.contains("NOTE      The race was interrupted"), "{data}");
    assert!(data.contains("ANSWER    No choice yet: the race was interrupted"), "{data}");
    assert!(data.contains("Undecided (interrupted): commit 4 KiB. --resume goes on with it (about 2 min)."), "{data}");
    assert!(!data.contains("noisy"), "{data}");
    assert!(data.contains("fairlane race --resume ~/.local/state"), "{data}");
    // A race over MPI is not gone on with.
    let mut over_mpi = findings;
    for line in
        ["fairlane-mpi race /a /b", "mpirun -n 8 fairlane-mpi race /a /b", "srun -N 2 -n 8 fairlane-mpi race /a"]
    {
        over_mpi.command_line = line.split(' ').map(str::to_owned).collect();
        let (data, _) = shown(&over_mpi, false, &[Event::Finished(Box::new(common::told(&over_mpi)))]);
        assert!(data.contains("The race was interrupted") && !data.contains("race --resume"), "{data}");
    }
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
        Event::Verdicts(results_of(&findings, "commit")),
    ];
    let (data, progress) = shown(&findings, true, &events);
    assert_eq!(data, "", "what falls during a race is no result");
    let verdict = progress.find("commit 4 KiB            xfs").expect("the verdict stands between two progress lines");
    assert!(progress[..verdict].ends_with("\u{1b}[K") && !progress[..verdict].contains('\n'), "{progress:?}");
    let after = &progress[verdict..];
    let end = after.rfind('\n').unwrap();
    assert!(!after[..end].contains('\u{1b}'), "{after:?}");
    let progress = format!("{}{}", &progress[..verdict], &after[end + 1..]);
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
    let error = screen.show(&Event::Finished(Box::new(common::told(&findings)))).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn steps_of_file_operations_are_counted_while_the_race_runs_and_tabled_at_its_end() {
    let findings = operations::five();
    let verdicts = Event::Verdicts(results_of(&findings, "operations"));
    let (_, before) = shown(&findings, true, &[verdicts.clone(), verdicts.clone()]);
    assert!(before.lines().count() <= 10, "a few lines and not one per step:\n{before}");
    assert!(before.contains("xfs against ext4: faster in") && before.contains("of 31 steps"), "{before}");
    let (after, _) = shown(&findings, false, &[verdicts, Event::Finished(Box::new(common::told(&findings)))]);
    for row in &findings.operations[0].rows {
        let word = row.group.split(' ').next().unwrap();
        assert!(after.contains(word), "{word} is missing:\n{after}");
    }
    assert!(after.contains("ANSWER") && !after.contains("all steps"), "the tables are the report's:\n{after}");
}

/// A report without the line breaks of a terminal.
fn report_of(findings: &Findings, format: &str) -> String {
    let record = common::record(findings);
    let input = report::Input { findings: &common::told(findings), record: &record, record_path: None };
    let text = report::render(&input, format, &Style::default()).unwrap().replace('\u{a0}', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "")
}

#[test]
fn a_difference_names_its_other_lane_and_what_is_open_its_pairs() {
    let findings = races::three();
    let text = report_of(&findings, "text");
    assert!(text.contains("small files: create (xfs against ext4)"), "{text}");
    assert!(text.contains("small files: read (btrfs against ext4, btrfs against xfs)"), "{text}");
    // Two lanes are chosen, and the third is slower than one of them.
    let answer = text.split("ANSWER").nth(1).unwrap().split("question").next().unwrap();
    assert!(answer.contains("btrfs is at least") && answer.contains("than ext4"), "{answer}");
}

#[test]
fn an_answer_is_no_bolder_than_what_was_reached_and_how_quiet_it_was() {
    let mut findings = races::three();
    let disturbed = "Other programs disturbed most of these rounds: race again when the machine is idle before relying \
                     on this.";
    assert!(!report_of(&findings, "text").contains(disturbed));
    let answer = findings.answer.as_mut().unwrap();
    answer.disturbed = true;
    answer.reached = Some(model::findings::Reached { workloads: 4, of: 8 });
    for format in ["text", "markdown"] {
        let text = report_of(&findings, format);
        assert!(text.contains(disturbed) && text.contains("the 4 of 8 workloads that were reached"), "{text}");
        assert!(!text.contains("for this mix"), "{text}");
        assert!(text.contains("--budget 12m should settle it, on an idle machine"), "{text}");
    }
}

#[test]
fn times_below_a_minute_are_told_in_seconds() {
    let mut findings = races::three();
    let settle = model::findings::Settle::FirstRounds { rounds: 6, seconds: 15 };
    findings.answer.as_mut().unwrap().settle = Some(settle);
    assert!(report_of(&findings, "text").contains("--rounds 6 (about 15 s) is the least"));
}

#[test]
fn figures_in_proportion_are_shown_and_said() {
    let mut findings = races::three();
    findings.results[0].estimates[2].row_mean = Some(612.0);
    for format in ["text", "markdown"] {
        let text = report_of(&findings, format);
        assert!(text.contains("612") && text.contains("stands where its ratio puts it"), "{text}");
    }
}

#[test]
fn what_age_costs_is_said_at_the_end_of_a_race_and_how_old_a_lane_is_in_its_report() {
    let mut findings = common::told(&races::three());
    let row = AgedRow {
        title: "commit 4 KiB".to_owned(),
        ratio: 0.5,
        low: Some(0.4),
        high: Some(0.6),
        verdict: Verdict::Slower,
    };
    let facts = AgedLane { states: "+aged".to_owned(), layout_score: Some(0.93), ..AgedLane::default() };
    let lane = "ext4+aged".to_owned();
    findings.aged = vec![AgedFinding { lane, facts, beside: Some("ext4".to_owned()), rows: vec![row] }];
    findings.aged_ranks = Some(AgedRanks { decided: 1, ..AgedRanks::default() });
    let (data, _) = shown(&findings, false, &[Event::Finished(Box::new(findings.clone()))]);
    let text = data.replace('\u{a0}', " ");
    assert!(text.contains("AGED") && text.contains("ext4+aged / ext4: commit 4 KiB"), "{text}");
    assert!(text.contains("no rank flips") && !text.contains("0.93"), "{text}");
}
