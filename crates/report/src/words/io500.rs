//! What is said of IO500's score.

use model::findings::IO500_STONEWALL_SECONDS;

pub(crate) const IO500: &str = "IO500";
pub(crate) const TITLE: &str = "IO500";
pub(crate) const LEGEND: &str = "the score of IO500 in each round, put together as any other figure is: the root of \
     the product of two geometric means, of four bandwidths in GiB/s and of eight rates in thousands of operations a \
     second (kIOPS). In brackets the 95\u{a0}% interval of the lane alone. The phases are Fairlane's own and differ from \
     those of IO500's program (docs/mpi.md): these scores compare with each other, and with none that it gave.";
pub(crate) const COLUMNS: [&str; 5] = ["lane", "score", "bandwidth", "metadata", "rounds"];
pub(crate) const ABSENT: &str = "-";

pub(crate) fn score(mean: &str, interval: Option<(String, String)>) -> String {
    interval.map_or_else(|| mean.to_owned(), |(low, high)| format!("{mean} ({low} to {high})"))
}

/// The run is not what the rules ask for.
pub(crate) fn invalid(phases: &str, seconds: &str) -> String {
    format!(
        "INVALID by the rules of IO500: {phases} wrote for {seconds} in a round, and the rules ask for \
         {IO500_STONEWALL_SECONDS:.0} s."
    )
}

/// What was read was read once more, from the page cache.
pub(crate) fn read_again(phases: &str) -> String {
    format!(
        "{phases} read more in a round than the files hold, through the page cache: in part it is a figure of memory, and \
         so is the score. A larger size reads it once."
    )
}

pub(crate) fn no_score(lane: &str, missing: &str) -> String {
    match missing.is_empty() {
        true => format!("{lane} has no score: no round has figures of all phases."),
        false => format!("{lane} has no score: no round has a figure of {missing}."),
    }
}
