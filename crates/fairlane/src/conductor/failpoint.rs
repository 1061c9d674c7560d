//! What tests need: a race that stops in a chosen phase, and one that waits less. Release builds heed neither.

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
