//! A life that is lived in a guest while it answers other requests.

use super::protocol::Answer;
use crate::failure::{LaneFailure, failed};
use crate::lane_set::past::live_below;
use aging::Life;
use model::aged::AgedLane;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// One that goes on, or has ended and was not asked for yet.
pub(super) struct GuestLife {
    stop: Arc<AtomicBool>,
    bytes_written: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<AgedLane, LaneFailure>>>,
}

impl GuestLife {
    /// Begins it below `base`, where its filesystem is mounted.
    pub(super) fn begin(base: PathBuf, life: Life) -> GuestLife {
        let (stop, bytes_written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, written) = (stop.clone(), bytes_written.clone());
        let live = move || live_below(&base, &life, &stopped, &mut |bytes| written.store(bytes, Ordering::Relaxed));
        GuestLife { stop, bytes_written, thread: Some(std::thread::spawn(live)) }
    }

    /// How far it is.
    ///
    /// # Errors
    /// What it could not do.
    pub(super) fn look(&mut self) -> Result<Answer, LaneFailure> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(Answer::Living { bytes_written: self.bytes_written.load(Ordering::Relaxed) });
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(lived)) => lived.map(|facts| Answer::Lived { facts: Box::new(facts) }),
            _ => Err(failed("the life ended in a fault of Fairlane; report it")),
        }
    }
}

impl Drop for GuestLife {
    /// Ends it between two acts: only then its filesystem can be unmounted.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
