//! What tests need: a race that stops in a chosen phase, one that waits less, and one that runs no round again. Release builds
//! heed none of it.

use std::time::Duration;

/// Stops this process with SIGSTOP when FAIRLANE_HOLD names the phase, so that a test can see it
/// stopped and decide what to send next.
#[cfg(debug_assertions)]
pub fn at(phase: &str) {
    if std::env::var("FAIRLANE_HOLD").is_ok_and(|wanted| wanted == phase) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
    }
}

/// Does nothing: release builds are not held.
#[cfg(not(debug_assertions))]
pub fn at(_phase: &str) {}

/// How long a quiet disk is waited for at most. Tests race beside each other on one disk, which is never quiet: they set
/// FAIRLANE_QUIET_MILLISECONDS.
#[cfg(debug_assertions)]
pub fn patience(usual: Duration) -> Duration {
    let set = std::env::var("FAIRLANE_QUIET_MILLISECONDS").ok().and_then(|text| text.parse().ok());
    set.map_or(usual, Duration::from_millis)
}

/// The usual time.
#[cfg(not(debug_assertions))]
pub fn patience(usual: Duration) -> Duration {
    usual
}

/// Whether a round that something disturbed is run again. Where tests race beside each other every round is disturbed, and
/// half of all rounds would be run for nobody: scripts/test-programs sets FAIRLANE_RUN_AGAIN=no there, and such a round is
/// marked. Rounds that are void are run again all the same.
#[cfg(debug_assertions)]
pub fn runs_disturbed_again() -> bool {
    says_again(std::env::var_os("FAIRLANE_RUN_AGAIN").as_deref())
}

/// Nothing but the one word changes what a race does.
#[cfg(debug_assertions)]
fn says_again(value: Option<&std::ffi::OsStr>) -> bool {
    value.is_none_or(|value| value != "no")
}

/// It is.
#[cfg(not(debug_assertions))]
pub fn runs_disturbed_again() -> bool {
    true
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::says_again;
    use std::ffi::OsStr;

    #[test]
    fn only_one_word_keeps_a_disturbed_round_from_being_run_again() {
        let says = [None, Some(""), Some("yes"), Some("No"), Some("no")].map(|word| says_again(word.map(OsStr::new)));
        assert_eq!(says, [true, true, true, true, false]);
    }
}
