//! What of a lane's past a guest does while it answers other requests: a life, and reading what was lived.

use super::protocol::{Answer, Ask};
use super::system::{this_thread, work_of};
use crate::failure::{LaneFailure, failed};
use crate::lane_set::past::cold::step_below;
use crate::lane_set::past::live_below;
use aging::measures::{ColdStep, Fresh, SteppedTo};
use model::aged::AgedLane;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Work on a thread of its own, which goes on, or has ended and was not asked for yet.
struct Background<T> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<T, LaneFailure>>>,
    /// Where the kernel tells of that thread, once it has begun.
    told_of: Arc<OnceLock<PathBuf>>,
}

impl<T: Send + 'static> Background<T> {
    fn begin(work: impl FnOnce(&AtomicBool) -> Result<T, LaneFailure> + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told_of = Arc::new(OnceLock::new());
        let (stopped, own) = (stop.clone(), told_of.clone());
        let thread = std::thread::spawn(move || {
            if let Some(path) = this_thread() {
                let _ = own.set(path);
            }
            work(&stopped)
        });
        Background { stop, thread: Some(thread), told_of }
    }

    /// A sum that changes while it gets on.
    fn work(&self) -> u64 {
        work_of(self.told_of.get().map(PathBuf::as_path))
    }

    /// What came of it; `None`: it goes on.
    fn look(&mut self) -> Option<Result<T, LaneFailure>> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return None;
        }
        Some(match self.thread.take().map(JoinHandle::join) {
            Some(Ok(done)) => done,
            _ => Err(failed("work on a lane's past ended in a fault of Fairlane; report it")),
        })
    }
}

impl<T> Drop for Background<T> {
    /// Ends it between two acts: only then its filesystem can be unmounted.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A life, and how many bytes it wrote so far.
struct GuestLife {
    lived: Background<AgedLane>,
    bytes_written: Arc<AtomicU64>,
}

/// What a guest does of pasts, by where the work of their lanes happens.
#[derive(Default)]
pub(super) struct GuestPasts {
    lives: BTreeMap<PathBuf, GuestLife>,
    readings: BTreeMap<PathBuf, Background<(SteppedTo, Fresh)>>,
    /// What was copied: it is read after an unmount.
    copied: BTreeMap<PathBuf, Fresh>,
}

impl GuestPasts {
    /// Begins something, or tells how far it is; `base` is where the filesystem is mounted of what is begun.
    ///
    /// # Errors
    /// What could not be done.
    pub(super) fn answer(&mut self, ask: Ask, base: PathBuf) -> Result<Answer, LaneFailure> {
        match ask {
            Ask::Live { target, life } => {
                let bytes_written = Arc::new(AtomicU64::new(0));
                let written = bytes_written.clone();
                let lived = Background::begin(move |stop| {
                    live_below(&base, &life, stop, &mut |bytes| written.store(bytes, Ordering::Relaxed))
                });
                self.lives.insert(target, GuestLife { lived, bytes_written });
                Ok(Answer::Done)
            }
            Ask::Lived { target } => {
                let Some(life) = self.lives.get_mut(&target) else { return Err(failed("nothing lives there")) };
                match life.lived.look() {
                    None => {
                        let bytes_written = life.bytes_written.load(Ordering::Relaxed);
                        Ok(Answer::Living { bytes_written, work: life.lived.work().wrapping_add(bytes_written) })
                    }
                    Some(lived) => lived.map(|facts| Answer::Lived { facts: Box::new(facts) }),
                }
            }
            Ask::ReadCold { target, step } => {
                let mut fresh = self.copied.remove(&target).unwrap_or_default();
                let reading = Background::begin(move |stop| {
                    let came_to = step_below(&base, step, &mut fresh, stop)?;
                    // After the last step nobody asks for its names, and a guest that kept them would have less memory to race in.
                    Ok((came_to, if step == ColdStep::Fresh { Fresh::default() } else { fresh }))
                });
                self.readings.insert(target, reading);
                Ok(Answer::Done)
            }
            Ask::HasRead { target } => {
                let Some(reading) = self.readings.get_mut(&target) else { return Err(failed("nothing is read there")) };
                let Some(read) = reading.look() else { return Ok(Answer::Reading { work: reading.work() }) };
                let (came_to, fresh) = read?;
                if !fresh.names.is_empty() {
                    self.copied.insert(target, fresh);
                }
                Ok(Answer::HasRead { came_to })
            }
            other => Err(failed(format!("{other:?} concerns no past; this is a fault of Fairlane, report it"))),
        }
    }

    /// Ends what works on a filesystem, so that it can be unmounted.
    pub(super) fn end(&mut self, target: &Path) {
        self.lives.remove(target);
        self.readings.remove(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aging::measures::LEAST_FRESH_BYTES;
    use std::time::Duration;

    #[test]
    fn what_was_copied_is_known_until_the_copy_was_read_and_no_longer() {
        let base = PathBuf::from(format!("/var/tmp/fairlane-pasts-{}", std::process::id()));
        std::fs::create_dir_all(base.join("aged")).unwrap();
        std::fs::write(base.join("aged/file"), vec![7; LEAST_FRESH_BYTES as usize]).unwrap();
        let mut pasts = GuestPasts::default();
        let mut came_to = Vec::new();
        for step in [ColdStep::Copy, ColdStep::Aged, ColdStep::Fresh] {
            assert_eq!(pasts.copied.contains_key(&base), step != ColdStep::Copy, "{step:?}");
            pasts.answer(Ask::ReadCold { target: base.clone(), step }, base.clone()).unwrap();
            came_to.push(loop {
                match pasts.answer(Ask::HasRead { target: base.clone() }, PathBuf::new()).unwrap() {
                    Answer::Reading { .. } => std::thread::sleep(Duration::from_millis(1)),
                    Answer::HasRead { came_to } => break came_to,
                    other => panic!("{other:?}"),
                }
            });
        }
        std::fs::remove_dir_all(&base).unwrap();
        assert!(pasts.copied.is_empty());
        let [SteppedTo::Copied, SteppedTo::Read(aged), SteppedTo::Read(copy)] = came_to[..] else {
            panic!("{came_to:?}")
        };
        assert_eq!((aged.files, aged.bytes, copy.files, copy.bytes), (1, LEAST_FRESH_BYTES, 1, LEAST_FRESH_BYTES));
    }
}
