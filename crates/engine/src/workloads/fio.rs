//! A job file that the installed fio runs: its figures in our groups.

use super::direct::DirectFiles;
use super::fio_process::{self, Ended};
use super::fio_result::FioResult;
use super::{Observer, Work};
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::window::Window;
use model::job::{Direction, FioJob, FioRun, group_name};
use model::trial::JobUse;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Options that change only what fio prints: it would add up what belongs apart.
const REPORTING: [&str; 3] = ["group_reporting", "unified_rw_reporting", "per_job_logs"];
/// Bytes of a write that is watched: at least the alignment that direct I/O asks for.
const WATCHED_BLOCK: u64 = 4096;
/// The state of a verification is of no use once the lane is gone, and it would be written into it.
const NO_STATE_FILES: &str = "[global]\nverify_state_save=0\n";

/// A job file for the installed fio, prepared.
pub struct FioWork {
    run: FioRun,
    program: PathBuf,
    jobs: Vec<JobUse>,
    written_bytes: u64,
    stop: Arc<AtomicBool>,
}

impl FioWork {
    /// Finds fio. It lays out the files itself, when it runs.
    ///
    /// # Errors
    /// Where the target is no directory, or fio is not installed.
    pub fn prepare(place: &OpenTarget, run: &FioRun, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        if place.directory().is_none() {
            return Err(EngineError::Unsuitable("fio works in a directory; race a lane that has one".to_owned()));
        }
        let program = fio_process::find().ok_or_else(|| {
            EngineError::Unsuitable(format!("fio is not installed; {}", crate::packages::remedy("fio")))
        })?;
        Ok(FioWork { run: run.clone(), program, jobs: Vec::new(), written_bytes: 0, stop })
    }

    /// The job file as fio gets it.
    fn text(&self) -> String {
        let reporting = |line: &&str| {
            let key = line.split('=').next().unwrap_or_default().trim();
            !REPORTING.contains(&key)
        };
        let lines = self.run.text.lines().filter(reporting);
        NO_STATE_FILES.lines().chain(lines).map(|line| format!("{line}\n")).collect()
    }
}

impl Work for FioWork {
    /// The observer's window is fio's whole run: fio does not tell when its files are laid out and
    /// its measured time begins.
    fn run(&mut self, place: &OpenTarget, observer: &mut dyn Observer) -> Result<Vec<Window>, EngineError> {
        let Some((path, directory)) = place.directory() else {
            return Err(EngineError::Unsuitable("fio works in a directory; race a lane that has one".to_owned()));
        };
        observer.window_opens();
        let ended = fio_process::run(&self.program, directory, &self.text(), &self.stop);
        observer.window_closes();
        let Ended { output, said, status } = ended?;
        let result = FioResult::read(&output, &self.run);
        if let Some(error) = failure(&said, status.success(), &result, path) {
            return Err(error);
        }
        let result = result.map_err(|reason| EngineError::Fio {
            message: format!("its JSON cannot be read ({reason}); update fio to 3.33 or later"),
            errno: None,
        })?;
        self.written_bytes += result.written_bytes;
        self.jobs = result.jobs;
        Ok(result.windows)
    }

    fn jobs(&self) -> Vec<JobUse> {
        self.jobs.clone()
    }

    /// The files are fio's, and which job made which is not known: where each job that writes asks for direct I/O, all are
    /// alike.
    fn watch_writes(&self, place: &OpenTarget) -> Vec<(String, u32, u32)> {
        let writers: Vec<&FioJob> =
            self.run.jobs.iter().filter(|job| job.directions.contains(&Direction::Write)).collect();
        let (Some(directory), false) = (place.directory(), writers.is_empty()) else { return Vec::new() };
        if !writers.iter().all(|job| job.direct) {
            return Vec::new();
        }
        let (watched, cached) = DirectFiles::made_meanwhile(directory).watch_writes(directory, WATCHED_BLOCK);
        let alone = self.run.jobs.len() == 1;
        writers.iter().map(|job| (group_name(&job.name, Direction::Write, alone), watched, cached)).collect()
    }

    /// fio holds its files only while it runs.
    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}

/// Why the run failed, in fio's own words: what it printed first, and the errno that it names.
fn failure(
    said: &str,
    success: bool,
    result: &Result<FioResult, String>,
    directory: &std::path::Path,
) -> Option<EngineError> {
    let reported = result.as_ref().ok().and_then(|result| result.errno);
    if success && reported.is_none() {
        return None;
    }
    if let Some(line) = said.lines().find(|line| line.starts_with("verify: ")) {
        let (what, place) = line.split_once(" at file ").unwrap_or((line, ""));
        let (name, offset) = place.split_once(" offset ").unwrap_or((place, ""));
        let digits = offset.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
        return Some(EngineError::Corrupt {
            path: directory.join(name),
            offset: digits.parse().unwrap_or(0),
            what: format!("fio's {what}"),
        });
    }
    let of_line = |line: &str| line.split("err=").nth(1)?.split('/').next()?.parse::<i32>().ok();
    let errno = reported.or_else(|| said.lines().find_map(of_line));
    let first = said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("note: "));
    let message = match (first, errno) {
        (Some(line), _) => line.strip_prefix("fio: ").unwrap_or(line).to_owned(),
        (None, Some(errno)) => std::io::Error::from_raw_os_error(errno).to_string(),
        (None, None) => "it ended without a result; run the job file with fio alone to see why".to_owned(),
    };
    Some(EngineError::Fio { message, errno })
}
