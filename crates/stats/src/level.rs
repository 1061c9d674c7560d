//! What may be said of chosen lanes between which nothing decides.

use crate::answer::{cannot_tell, title};
use crate::conclude;
use model::findings::{Answer, Findings, Level, Pair, ResultFinding, Undecided, Verdict};

/// What the results allow to say of the chosen lanes; `None`: one was chosen, or a difference between two of them is
/// named. `unraced`: why part of the work was never raced.
pub fn level(answer: &Answer, results: &[ResultFinding], unraced: Option<Undecided>) -> Option<Level> {
    let chosen = |lane: &String| answer.choose.contains(lane);
    if answer.choose.len() < 2 || answer.reasons.iter().any(|of| chosen(&of.lane) && chosen(&of.against)) {
        return None;
    }
    let open = |of: &ResultFinding| {
        let open = between(answer, of).filter(|pair| pair.verdict == Verdict::Undecided);
        Undecided::first(open.map(|pair| pair.undecided.unwrap_or(Undecided::Noise)))
    };
    let mut reasons: Vec<Undecided> = results.iter().filter_map(open).collect();
    let never = answer.reached.map_or(1, |reached| reached.of.saturating_sub(reached.workloads).max(1));
    reasons.extend(unraced.into_iter().flat_map(|reason| std::iter::repeat_n(reason, never as usize)));
    if let Some(because) = Undecided::of_most(reasons) {
        let ties = ties(answer, results).into_iter().map(|place| title(&results[place], results)).collect();
        return Some(Level::Undecided { because, ties });
    }
    Some(if results.iter().all(|of| all_tie(answer, of)) { Level::Tie } else { Level::Unnamed })
}

/// Places of the results in which each pair of the chosen lanes ties; none where any result told them apart.
pub(crate) fn ties(answer: &Answer, results: &[ResultFinding]) -> Vec<usize> {
    let is_apart = |pair: &Pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower);
    if results.iter().flat_map(|of| between(answer, of)).any(is_apart) {
        return Vec::new();
    }
    (0..results.len()).filter(|&place| all_tie(answer, &results[place])).collect()
}

/// Whether a result is able to tell, and each pair of the chosen lanes ties in it.
fn all_tie(answer: &Answer, result: &ResultFinding) -> bool {
    let mut pairs = between(answer, result).peekable();
    !cannot_tell(result) && pairs.peek().is_some() && pairs.all(|pair| pair.verdict == Verdict::Tie)
}

/// The pairs of two chosen lanes.
fn between<'a>(answer: &'a Answer, result: &'a ResultFinding) -> impl Iterator<Item = &'a Pair> {
    result.pairs.iter().filter(|pair| answer.choose.contains(&pair.a) && answer.choose.contains(&pair.b))
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
    conclude::tell(findings);
}
