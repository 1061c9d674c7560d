//! What the screen says while a race runs.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{Phrase, Tone};
use crate::words::sentence;

/// Marks a verdict that was printed before.
pub(crate) fn settled_later(still_undecided: bool) -> &'static str {
    if still_undecided { "after more rounds: " } else { "settled later: " }
}

/// A trial that could not be done.
pub(crate) fn trial_failed(lane: &str, title: &str, reason: &str) -> Phrase {
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(format!(
        " at {}: {}; the race goes on",
        shorten(title, 60),
        sentence(reason)
    ))
}

/// Progress: images are written in full.
pub(crate) fn writing_images(done_bytes: u64, total_bytes: u64) -> String {
    format!("writing images, {} of {}", figures::bytes(done_bytes), figures::bytes(total_bytes))
}

/// Progress: which workload.
pub(crate) fn workload(title: &str, number: u32, of: u32) -> String {
    format!("workload {number}/{of} {}", shorten(title, 28))
}

/// Progress: a pass that looks where the time goes.
pub(crate) fn explaining(title: &str) -> String {
    format!("explaining {}", shorten(title, 28))
}

/// Progress: which round, and when the next look at the figures is.
pub(crate) fn round(round: u32, look_at: u32) -> String {
    format!("round {round} of {look_at}")
}

/// Progress: how long so far.
pub(crate) fn elapsed(seconds: f64, budget_seconds: Option<f64>) -> String {
    let elapsed = figures::duration(seconds);
    match budget_seconds {
        Some(budget) => format!("{elapsed} of {}", figures::duration(budget)),
        None => elapsed,
    }
}

/// Progress: a noisy round.
pub(crate) fn repeated(reason: &str) -> String {
    format!("run again for noise: {}", sentence(reason))
}

/// Where the rest of the warnings is.
pub(crate) fn more_warnings(count: usize, command: &str) -> String {
    format!("{count} more in the report: {command}")
}
