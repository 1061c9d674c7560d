//! The room of a lane while a replay runs: a trace may say less than its calls take.

use crate::error::EngineError;
use model::Bytes;
use rustix::fs::fstatvfs;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often whoever leads looks whether all have ended, and whether to stop.
const GLANCE: Duration = Duration::from_millis(5);
/// How often it looks at the room.
const LOOK: Duration = Duration::from_millis(100);
/// What a filesystem takes for itself beside what the trace tells: room that it keeps ready, and gives back later.
const SLACK_BYTES: u64 = 2 << 30;
/// Of the room that was free so much stays free, and at most so much.
const FLOOR_SHARE: u64 = 20;
const MOST_FLOOR_BYTES: u64 = 1 << 30;

/// Ends a replay that takes much more room than its trace tells.
pub(super) struct RoomWatch<'a> {
    folder: BorrowedFd<'a>,
    free_bytes: Option<u64>,
    most_bytes: u64,
    slack_bytes: u64,
}

fn free_bytes(folder: BorrowedFd<'_>) -> Option<u64> {
    fstatvfs(folder).ok().map(|of| of.f_bavail.saturating_mul(of.f_frsize))
}

impl<'a> RoomWatch<'a> {
    pub(super) fn new(folder: BorrowedFd<'a>, most_bytes: u64) -> Self {
        RoomWatch { folder, free_bytes: free_bytes(folder), most_bytes, slack_bytes: SLACK_BYTES }
    }

    fn look(&self) -> Result<(), EngineError> {
        let Some((before, now)) = self.free_bytes.zip(free_bytes(self.folder)) else { return Ok(()) };
        let taken = before.saturating_sub(now);
        let most = self.most_bytes.saturating_mul(2).saturating_add(self.slack_bytes);
        if taken <= most && now >= (before / FLOOR_SHARE).min(MOST_FLOOR_BYTES) {
            return Ok(());
        }
        Err(EngineError::Unsuitable(format!(
            "the lane lost {} of room and has {} left, while this trace tells of {} at most: the trace is not what it says, or others \
             write there; race it in larger images",
            Bytes(taken),
            Bytes(now),
            Bytes(self.most_bytes)
        )))
    }

    /// Until all have ended; `over` ends them.
    pub(super) fn until(
        &self,
        have_ended: &dyn Fn() -> bool,
        stop: &AtomicBool,
        over: &AtomicBool,
    ) -> Result<(), EngineError> {
        let mut looked = Instant::now();
        while !have_ended() {
            std::thread::sleep(GLANCE);
            if stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
                return Err(EngineError::Interrupted);
            }
            if looked.elapsed() < LOOK {
                continue;
            }
            looked = Instant::now();
            let Err(_) = self.look() else { continue };
            // What was removed may still take its place until it is written.
            let _ = rustix::fs::syncfs(self.folder);
            if let Err(error) = self.look() {
                over.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_replay_that_takes_more_than_its_trace_tells_is_ended() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let top = std::fs::File::open(folder.path()).unwrap();
        let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let watch = |most_bytes| RoomWatch { slack_bytes: 8 << 20, ..RoomWatch::new(top.as_fd(), most_bytes) };
        let (small, large) = (watch(0), watch(1 << 40));
        std::fs::write(folder.path().join("x"), vec![1; 64 << 20]).unwrap();
        let said = small.until(&|| false, &stop, &over).unwrap_err().to_string();
        assert!(said.contains("while this trace tells of"), "{said}");
        assert!(over.load(Ordering::Relaxed));
        let looks = std::cell::Cell::new(0);
        let ended = || looks.replace(looks.get() + 1) > 40;
        assert!(large.until(&ended, &stop, &over).is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(large.until(&|| false, &stop, &over), Err(EngineError::Interrupted)));
    }
}
