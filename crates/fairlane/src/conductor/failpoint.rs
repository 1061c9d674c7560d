//! Lets a test kill a race in a chosen phase; absent from release builds.

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
