//! The files of appending work: one that grows, one that waits, and those that are full.

use crate::error::EngineError;
use crate::target::{Access, Directory, open_file, remove_file};
use rustix::fs::fsync;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Full files that wait for their removal at most; one more is removed at once, inside the window,
/// so that the lane does not fill up.
const MOST_FULL_FILES: usize = 1;

/// Appending work writes file after file. The next one is made ahead of time and full ones are
/// removed after the window: a window pays for neither unless it fills more than one file.
#[derive(Debug)]
pub(super) struct AppendFiles {
    number: u64,
    waiting: Option<Rc<OwnedFd>>,
    full: VecDeque<u64>,
    direct: bool,
}

impl AppendFiles {
    /// Makes the first file, empty and synced.
    pub(super) fn begin(directory: Directory<'_>, direct: bool) -> Result<Self, EngineError> {
        create(directory, 0, direct)?;
        Ok(AppendFiles { number: 0, waiting: None, full: VecDeque::new(), direct })
    }

    /// The file that grows, opened again.
    pub(super) fn open_current(&self, directory: Directory<'_>) -> Result<Rc<OwnedFd>, EngineError> {
        open_file(directory, &name(self.number), Access::Write, self.direct)
    }

    /// Path of the file that grows, for messages.
    pub(super) fn path(&self, directory: &Path) -> PathBuf {
        directory.join(name(self.number))
    }

    /// Outside windows: makes the next file if none waits, and removes full ones.
    pub(super) fn tidy(&mut self, directory: Directory<'_>) -> Result<(), EngineError> {
        while let Some(number) = self.full.pop_front() {
            remove_file(directory, &name(number))?;
        }
        if self.waiting.is_none() {
            self.waiting = Some(create(directory, self.number + 1, self.direct)?);
        }
        Ok(())
    }

    /// The file that grows is full: answers the next one.
    pub(super) fn advance(&mut self, directory: Directory<'_>) -> Result<Rc<OwnedFd>, EngineError> {
        self.full.push_back(self.number);
        self.number += 1;
        if self.full.len() > MOST_FULL_FILES
            && let Some(number) = self.full.pop_front()
        {
            remove_file(directory, &name(number))?;
        }
        match self.waiting.take() {
            Some(file) => Ok(file),
            None => open_file(directory, &name(self.number), Access::Create, self.direct),
        }
    }

    /// Closes what is held open.
    pub(super) fn release(&mut self) {
        self.waiting = None;
    }
}

/// Names of equal length: the length of a name alone moves the rate of some filesystems.
fn name(number: u64) -> String {
    format!("fairlane.{number:08}")
}

fn create(directory: Directory<'_>, number: u64, direct: bool) -> Result<Rc<OwnedFd>, EngineError> {
    let file = open_file(directory, &name(number), Access::Create, direct)?;
    // The new entry reaches the disk now, so that the first commit in it is like any other.
    fsync(&*file).map_err(|errno| EngineError::file("sync", directory.0.join(name(number)), errno))?;
    fsync(directory.1).map_err(|errno| EngineError::file("sync", directory.0, errno))?;
    Ok(file)
}
