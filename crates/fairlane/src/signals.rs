//! Signals: which end a race in order, and which are errors to be told.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What ends a command in order: everything is undone first.
const STOPS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Sets the flag when one of the signals comes that end a command in order.
///
/// # Errors
/// Where signals cannot be caught.
pub fn stop(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in STOPS {
        flag::register(signal, Arc::clone(stop))
            .map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    }
    Ok(())
}

/// A limit on the size of files (`ulimit -f`) is an error to be told by whoever writes, and no death in the middle.
pub fn tell_of_file_size() {
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
