//! The hidden command that makes the load on behalf of a race.

use crate::failure::Failure;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Serves requests until its input ends.
///
/// # Errors
/// When the conversation cannot go on.
pub fn run() -> Result<(), Failure> {
    // It was started through a link in /proc, whose name would stand in ps and in busiest threads.
    let _ = rustix::thread::set_name(c"fairlane-agent");
    engine::carrier::inherit();
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&stop))
        .map_err(|error| Failure::failed(format!("cannot catch SIGTERM: {error}")))?;
    agent::serve(std::io::stdin().lock(), std::io::stdout().lock(), stop)
        .map_err(|error| Failure::failed(error.to_string()))
}
