//! `--replay`: a trace becomes a suite of one workload.

use super::planning;
use crate::failure::Failure;
use crate::owned;
use lanes::LaneSet;
use lanes::guest::CarriedTrace;
use model::Bytes;
use model::kinds::replay::{Facts, Replay, Speed};
use model::plan::Plan;
use model::workload::{Kind, Suite, Workload};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Seconds of racing where nobody says how long. Chosen: rounds of most programs are seconds long, and six of them decide much.
const USUAL_BUDGET_SECONDS: f64 = 600.0;
/// Threads that think one after another take no longer than the program did, but for calls that overlapped in the trace. Chosen.
const MOST_THINKING: f64 = 2.0;
/// And no longer than this in seconds, as at recorded times.
const MOST_THINKING_SECONDS: f64 = 86_400.0;
/// Lanes that are made larger grow in such steps.
const LANE_STEP_BYTES: u64 = 256 << 20;
/// Characters of a command in a title.
const TITLE_CHARACTERS: usize = 24;

/// The suite that does a trace again.
///
/// # Errors
/// Where the file cannot be read or is no trace that can be done again.
pub fn suite(path: &Path, speed: Speed) -> Result<Suite, Failure> {
    let replay = read(path, speed)?;
    let kept = replay.facts.most_bytes.max(replay.facts.tree_bytes);
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let workload = Workload {
        name: "replay".to_owned(),
        title: replay.title(&title(&replay.facts, path)),
        kind: Kind::Replay(Box::new(replay)),
    };
    workload.check().map_err(Failure::usage)?;
    let needed = workload.working_set_bytes().saturating_mul(2).checked_next_multiple_of(LANE_STEP_BYTES);
    let needed = needed.filter(|needed| *needed > super::lane_size::USUAL.get() && kept > 0).map(Bytes);
    Ok(Suite {
        name: report::clean_text(&file),
        about: "a program's calls, done again in every lane".to_owned(),
        lanes: Vec::new(),
        not_tested: Vec::new(),
        first_answer: false,
        explain: false,
        budget_seconds: Some(USUAL_BUDGET_SECONDS),
        lane_size: needed,
        most_telling: Vec::new(),
        compressible_too: Vec::new(),
        workload: vec![workload],
        as_published: std::collections::BTreeMap::new(),
    })
}

/// What a program is called in a title: the begin of its command, or the name of its trace.
pub fn title(facts: &Facts, path: &Path) -> String {
    let whole = report::clean_text(&facts.command);
    let mut command: String = whole.chars().take(TITLE_CHARACTERS).collect();
    if command.len() < whole.len() {
        command.push('…');
    }
    match command.is_empty() {
        true => report::clean_text(&path.file_name().unwrap_or_default().to_string_lossy()),
        false => command,
    }
}

/// Reads the trace for whoever names it.
///
/// # Errors
/// As [`suite`].
fn read(path: &Path, speed: Speed) -> Result<Replay, Failure> {
    let (replay, sha256) = plan(path, owned::open_to_read(path), &AtomicBool::new(false))?;
    let shown = model::text::escaped_path(path);
    let trace = std::path::absolute(path).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    if speed == Speed::ThinkTime {
        check_thinking(&replay).map_err(|what| Failure::usage(format!("{shown}: {what}")))?;
    }
    Ok(Replay { trace, sha256, speed, facts: replay.facts })
}

/// Whether threads that wait for each other think no longer than the program did, as far as clocks of a trace go: one that was written by
/// hand may say otherwise.
fn check_thinking(replay: &trace::replay::Replay) -> Result<(), String> {
    let (before, after) = replay.before_and_after;
    let program = replay.facts.seconds + (before.saturating_add(after)) as f64 * 1e-9;
    let thinks = replay.thinks() as f64 * 1e-9;
    let human = model::units::human_seconds;
    if thinks > MOST_THINKING_SECONDS {
        return Err(format!("its threads think for {}, and a day is the most; take --speed max", human(thinks)));
    }
    match thinks > program * MOST_THINKING + 1.0 {
        true => Err(format!(
            "its threads think for {} one after another, and the program took {}: its times are wrong; take --speed max",
            human(thinks),
            human(program)
        )),
        false => Ok(()),
    }
}

/// What a trace that was opened does, and its SHA-256 in hexadecimal digits.
///
/// # Errors
/// As [`suite`]; interrupted, where the flag is set.
pub fn plan(
    path: &Path,
    opened: std::io::Result<File>,
    stop: &AtomicBool,
) -> Result<(trace::replay::Replay, String), Failure> {
    let shown = model::text::escaped_path(path);
    let file = opened.map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; name a trace")))?;
    let (replay, sha256) = engine::read_trace(&file, stop).map_err(|error| match stop.load(Ordering::Relaxed) {
        true => Failure::interrupted(),
        false => Failure::usage(format!("{shown}: {error}")),
    })?;
    check_architecture(&replay.header.kernel).map_err(|what| Failure::usage(format!("{shown}: {what}")))?;
    Ok((replay, sha256))
}

/// Numbers of flags differ between architectures. `kernel`: `Linux 6.12.1 x86_64`; empty: of this one.
fn check_architecture(kernel: &str) -> Result<(), String> {
    let here = std::env::consts::ARCH;
    match kernel.split_whitespace().last() {
        Some(there) if there != here => Err(format!(
            "it was captured on {}, whose flags have other numbers than those of {here}; capture it here",
            report::clean_text(there)
        )),
        _ => Ok(()),
    }
}

/// Whether a record's replay is still that of the file that it names, which the user may read.
///
/// # Errors
/// One sentence.
pub fn check_again(recorded: &Replay) -> Result<(), String> {
    let found = read(&recorded.trace, recorded.speed)
        .map_err(|failure| format!("its trace cannot be read any more ({})", failure.message))?;
    match found.sha256 == recorded.sha256 && found.facts.is_like(&recorded.facts) {
        true => Ok(()),
        false => Err(format!(
            "{} is not the trace that this race began with; put that one back",
            model::text::escaped_path(&recorded.trace)
        )),
    }
}

/// The replay of a plan that some lane does in a guest.
fn in_guests(plan: &Plan) -> Option<&Replay> {
    let replay = plan.workloads.iter().find_map(|workload| match &workload.kind {
        Kind::Replay(replay) => Some(&**replay),
        _ => None,
    });
    replay.filter(|_| plan.lanes.iter().any(planning::in_guest))
}

/// The trace that guests of this plan get into their memory; `None`: none does.
///
/// # Errors
/// Where the user may not read it.
pub fn carried(plan: &Plan) -> Result<Option<CarriedTrace>, Failure> {
    let Some(replay) = in_guests(plan) else { return Ok(None) };
    let opened = owned::open_to_read(&replay.trace).and_then(|file| CarriedTrace::new(file, &replay.sha256));
    opened.map(Some).map_err(|error| {
        let shown = model::text::escaped_path(&replay.trace);
        Failure::usage(format!("cannot read {shown}: {error}; name a trace"))
    })
}

/// Refuses a trace that is done in guests and finds no room in their memory, before anything is made.
///
/// # Errors
/// One sentence.
pub fn check_in_guests(plan: &Plan, lane_set: &LaneSet, stop: &AtomicBool) -> Result<(), Failure> {
    let (Some(replay), Some(trace)) = (in_guests(plan), lane_set.carried_trace()) else { return Ok(()) };
    let Some(free) = lane_set.free_in_guests() else { return Ok(()) };
    let found = engine::check_trace_memory(trace.file(), free.get(), stop).map_err(|why| {
        match stop.load(Ordering::Relaxed) {
            true => Failure::interrupted(),
            false => Failure::usage(format!(
                "the trace does not fit into a guest of {}: {why}, or give guests more with --guest-memory",
                lane_set.memory_of_guests()
            )),
        }
    })?;
    match found == replay.sha256 {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{} changed while the race was planned; leave it alone until the race has ended",
            model::text::escaped_path(&replay.trace)
        ))),
    }
}

/// How many calls are not done again, and which; `None`: all are.
pub fn note(suite: &Suite) -> Option<String> {
    let [Workload { kind: Kind::Replay(replay), .. }] = &suite.workload[..] else { return None };
    left_out(replay)
}

/// The same of a replay.
pub fn left_out(replay: &Replay) -> Option<String> {
    let left_out: u64 = replay.facts.left_out.values().sum();
    let names: Vec<String> = replay.facts.left_out.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let all = replay.facts.operations + left_out;
    (left_out > 0).then(|| {
        format!(
            "{left_out} of {all} calls are not done again ({}): what they answer hangs on the user or the moment, or their \
             file is not followed (docs/replay.md)",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_think_longer_than_their_program_took_are_refused() {
        const SECOND: u64 = 1_000_000_000;
        let step = |start| trace::replay::Step { start, nanoseconds: 1, ..Default::default() };
        let of = |starts: &[u64], (before, after)| {
            let last = starts.iter().max().copied().unwrap_or(0) as f64 * 1e-9;
            let facts = model::kinds::replay::Facts { seconds: last, ..Default::default() };
            let threads = vec![starts.iter().map(|&start| step(start)).collect()];
            check_thinking(&trace::replay::Replay {
                threads,
                before_and_after: (before, after),
                facts,
                ..Default::default()
            })
        };
        assert_eq!(of(&[0, 2 * SECOND, 3 * SECOND], (SECOND, SECOND)), Ok(()));
        // Clocks that go back add nothing.
        assert_eq!(of(&[0, 20 * SECOND, 0, 20 * SECOND, 0, 20 * SECOND], (0, 0)), Ok(()));
        assert!(of(&[0], (SECOND * 100_000, 0)).unwrap_err().contains("a day is the most"));
        // The second thread waits for the first one's call that is late in the trace, and is early there itself, again and again.
        let waits: Vec<trace::replay::Wait> = (0..9).map(|at| trace::replay::Wait { thread: at, steps: 1 }).collect();
        let threads = (0..10u32).map(|at| {
            let wait = if at == 0 { (0, 0) } else { (at - 1, 1) };
            let start = if at % 2 == 0 { 20 * SECOND } else { 0 };
            vec![trace::replay::Step { waits: wait, ..step(start) }]
        });
        let facts = model::kinds::replay::Facts { seconds: 20.0, ..Default::default() };
        let hostile = trace::replay::Replay { threads: threads.collect(), waits, facts, ..Default::default() };
        assert!(
            check_thinking(&hostile).unwrap_err().contains("its times are wrong"),
            "{:?}",
            check_thinking(&hostile)
        );
    }
}
