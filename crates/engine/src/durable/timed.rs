//! The same work in a race: how fast records are made durable where nobody cuts the power.

use super::{Kind, Terms, row_of};
use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use crate::workloads::{Observer, Work, heed};
use model::agent::Part;
use model::kinds::durable::Durable;
use rustix::fs::Mode;
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All files lie below this folder of the target.
const TOP: &str = "fairlane-durable";

/// Durable records, prepared: each way has a folder of its own.
pub(crate) struct DurableWork {
    rows: Vec<&'static Kind>,
    terms: Terms,
    stop: Arc<AtomicBool>,
}

impl DurableWork {
    /// Makes the folders, and in each what must be there before the first record. What an interrupted race left there is
    /// removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub(crate) fn prepare(
        place: &OpenTarget,
        durable: &Durable,
        seed: u64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let top = path.join(TOP);
        let folder = beneath::make_anew(directory, TOP, Mode::RWXU, &top)?;
        let rows: Vec<&Kind> = durable.records.iter().map(|&record| row_of(record)).collect();
        let terms = Terms::new(durable.count, seed);
        for row in &rows {
            heed(&stop)?;
            let path = top.join(row.name);
            beneath::make_anew(folder.as_fd(), row.name, Mode::RWXU, &path)?;
            row.prepare(&path, terms).map_err(|error| failed("prepare records in", &path, &error))?;
        }
        place.sync()?;
        Ok(DurableWork { rows, terms, stop })
    }
}

impl Work for DurableWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let Some(row) = self.rows.iter().find(|row| row.name == group) else {
            return Err(EngineError::Unsuitable(format!(
                "no durable records are named {}; choose one of those that were prepared",
                model::text::escaped(group.as_bytes())
            )));
        };
        if part != Part::WHOLE {
            return Err(EngineError::Unsuitable(format!("{group} is done whole; ask for one part of one")));
        }
        let (path, _) = place.directory().ok_or_else(no_directory)?;
        let path: PathBuf = path.join(TOP).join(row.name);
        let (clock, stop) = (Clock::get(), &self.stop);
        let mut latencies = Latencies::new();
        observer.window_opens();
        let begun = clock.now();
        let (mut before, mut records) = (begun, 0);
        let ran = row.run(&path, self.terms, &mut |_| {
            let now = clock.now();
            latencies.record(now - before);
            (before, records) = (now, records + 1);
            match stop.load(Ordering::Relaxed) {
                true => Err(std::io::ErrorKind::Interrupted.into()),
                false => Ok(()),
            }
        });
        let ended = clock.now();
        observer.window_closes();
        heed(stop)?;
        ran.map_err(|error| failed("make records durable in", &path, &error))?;
        Ok(Window {
            group: group.to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            operations: records,
            seconds: seconds(ended - begun),
            latencies,
            ..Window::default()
        })
    }

    fn release(&mut self) {}
}

/// Libraries answer in their own words, and then no errno is known.
fn failed(action: &'static str, path: &Path, error: &std::io::Error) -> EngineError {
    match Errno::from_io_error(error) {
        Some(errno) => EngineError::file(action, path, errno),
        None => EngineError::Program {
            message: format!("cannot {action} {}: {error}", model::text::escaped_path(path)),
            errno: None,
        },
    }
}

fn no_directory() -> EngineError {
    EngineError::Unsuitable("durable records need a directory on a filesystem; name one".to_owned())
}
