//! What may be said of chosen lanes between which nothing decides.

use crate::answer::{cannot_tell, title};
use model::findings::{Answer, Findings, Level, Pair, ResultFinding, Undecided, Verdict};

/// What the results allow to say of the chosen lanes; `None`: one was chosen, or a difference between two of them is
/// named. `unraced`: why part of the work was never raced.
pub fn level(answer: &Answer, results: &[ResultFinding], unraced: Option<Undecided>) -> Option<Level> {
    let chosen = |lane: &String| answer.choose.contains(lane);
    if answer.choose.len() < 2 || answer.reasons.iter().any(|of| chosen(&of.lane) && chosen(&of.against)) {
        return None;
    }
    let pairs = |of: &ResultFinding| -> Vec<Pair> {
        of.pairs.iter().filter(|pair| chosen(&pair.a) && chosen(&pair.b)).cloned().collect()
    };
    let all: Vec<Pair> = results.iter().flat_map(pairs).collect();
    let open = |of: &ResultFinding| {
        let open = pairs(of).into_iter().filter(|pair| pair.verdict == Verdict::Undecided);
        Undecided::first(open.map(|pair| pair.undecided.unwrap_or(Undecided::Noise)))
    };
    let mut reasons: Vec<Undecided> = results.iter().filter_map(open).collect();
    let never = answer.reached.map_or(1, |reached| reached.of.saturating_sub(reached.workloads).max(1));
    reasons.extend(unraced.into_iter().flat_map(|reason| std::iter::repeat_n(reason, never as usize)));
    let tied = |of: &&ResultFinding| {
        let pairs = pairs(of);
        !cannot_tell(of) && !pairs.is_empty() && pairs.iter().all(|pair| pair.verdict == Verdict::Tie)
    };
    if let Some(because) = Undecided::of_most(reasons) {
        let apart = all.iter().any(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower));
        let ties = results.iter().filter(|of| !apart && tied(of)).map(|of| title(of, results)).collect();
        return Some(Level::Undecided { because, ties });
    }
    Some(if results.iter().all(|of| tied(&of)) { Level::Tie } else { Level::Unnamed })
}

/// Turns findings of a record without an end into those of a race that still runs: nothing interrupted it, and what is
/// undecided has too few rounds so far. What would go on with it is no advice yet.
pub fn still_running(findings: &mut Findings) {
    let open = |reason: &mut Undecided| {
        if *reason == Undecided::Interrupted {
            *reason = Undecided::TooFewRounds;
        }
    };
    let pairs = findings.results.iter_mut().flat_map(|result| &mut result.pairs);
    pairs.filter_map(|pair| pair.undecided.as_mut()).for_each(open);
    if let Some(answer) = &mut findings.answer {
        (answer.settle, answer.next) = (None, Vec::new());
        if let Some(Level::Undecided { because, .. }) = &mut answer.level {
            open(because);
        }
    }
}
