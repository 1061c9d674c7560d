//! Job files: several jobs, for the engine or for the installed fio.

use super::MOST_FILES_OF_ALL;
use super::check::inside;
use super::defaults::is_false;
use super::io::Io;
use super::pattern::{Direction, Pattern};
use super::shared::FileLayout;
use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A job file as a workload: jobs run whole, together, or one group after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// The jobs in the order of the file.
    pub jobs: Vec<Job>,
    /// Name of the job file.
    #[serde(default)]
    pub file: String,
    /// How options were taken, one sentence each: accepted without effect, or with another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One job of a job file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of its section.
    pub name: String,
    /// It begins when all jobs before it have ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stonewall: bool,
    /// When it has ended, the others of its group end too: the jobs between the same two stonewalls
    /// (fio's `exitall`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub exitall: bool,
    /// It begins when this job has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// Every option of the job as the file and its defaults resolve it, in fio's spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// What it does.
    pub io: Io,
}

/// A job file that the installed fio runs, not Fairlane's engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioRun {
    /// Name of the job file.
    pub file: String,
    /// The whole job file, includes and variables resolved, without directories.
    pub text: String,
    /// The jobs' names and directions, in order.
    pub jobs: Vec<FioJob>,
    /// Bytes that the jobs keep on the lane, as far as the file says.
    pub working_set: Bytes,
}

/// One job of a job file that fio runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioJob {
    /// Name of its section.
    pub name: String,
    /// Directions that yield figures.
    pub directions: Vec<Direction>,
    /// It asks for direct I/O.
    #[serde(default, skip_serializing_if = "is_false")]
    pub direct: bool,
}

impl Jobs {
    /// Names of the groups: the direction, after the job's name where there are several jobs.
    pub fn groups(&self) -> Vec<String> {
        let one = self.jobs.len() == 1;
        let of = |job: &Job| {
            let name = job.name.clone();
            job.io.directions().iter().map(move |&direction| group_name(&name, direction, one)).collect::<Vec<_>>()
        };
        self.jobs.iter().filter(|job| !job.io.create_only).flat_map(of).collect()
    }

    /// Bytes that all files together take; files that several jobs share count once.
    pub fn working_set_bytes(&self) -> u64 {
        let mut named = std::collections::BTreeMap::new();
        let mut own = 0_u64;
        // The null engine moves nothing and keeps no files.
        for Job { io, .. } in self.jobs.iter().filter(|job| job.io.ioengine != "null") {
            if io.filename.is_empty() {
                own = own.saturating_add(io.size.0.saturating_mul(u64::from(io.numjobs)));
            } else {
                let each = io.size.0.div_ceil(io.filename.len() as u64);
                for name in &io.filename {
                    let bytes = named.entry(name.as_str()).or_insert(0_u64);
                    *bytes = (*bytes).max(each);
                }
            }
        }
        named.values().fold(own, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Most seconds that one run takes as far as the options say; `None` where some job has no
    /// runtime.
    pub fn run_seconds(&self) -> Option<f64> {
        let (mut whole, mut group) = (0.0, 0.0_f64);
        for job in &self.jobs {
            if job.stonewall {
                whole += group;
                group = 0.0;
            }
            let own = job.io.runtime_seconds? + job.io.ramp_time_seconds + job.io.startdelay_seconds;
            group = group.max(own);
        }
        Some(whole + group)
    }

    /// Whether something is read back at the end.
    pub fn reads_back(&self) -> bool {
        self.jobs.iter().any(|job| job.io.reads_back())
    }

    /// What is wrong with the jobs, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the job.
    pub fn check(&self) -> Result<(), String> {
        if self.jobs.is_empty() {
            return Err("the job file has no job; add a section such as [job]".to_owned());
        }
        check_files(self.jobs.iter().map(|job| job.io.files_of_all()).fold(0, u64::saturating_add))?;
        for (index, job) in self.jobs.iter().enumerate() {
            let name = &job.name;
            inside(&name.replace('/', "_")).map_err(|what| format!("the name of job {name:?} {what}"))?;
            job.io.check().and_then(|()| job.io.check_names(name)).map_err(|what| format!("job {name}: {what}"))?;
            if job.io.file != FileLayout::Own {
                return Err(format!("job {name}: file is for work in slices; name one file by filename"));
            }
            if job.io.wear_out {
                return Err(format!("job {name}: wear_out is for work in slices; remove it"));
            }
            if job.io.rw == Pattern::Append {
                return Err(format!("job {}: append is not for job files; use rw=write and file_append", job.name));
            }
            if job.wait_for.as_ref().is_some_and(|name| !self.jobs[..index].iter().any(|of| of.name == *name)) {
                return Err(format!("job {}: wait_for names no earlier job; change it", job.name));
            }
        }
        Ok(())
    }
}

impl FioRun {
    /// Names of the groups, as [`Jobs::groups`].
    pub fn groups(&self) -> Vec<String> {
        let one = self.jobs.len() == 1;
        let of = |job: &FioJob| {
            let name = job.name.clone();
            let directions = job.directions.clone();
            directions.into_iter().map(move |direction| group_name(&name, direction, one))
        };
        self.jobs.iter().flat_map(of).collect()
    }
}

/// Refuses more files of all jobs together than are kept in memory. Whoever reads jobs one by one asks with each of them,
/// before all are there.
///
/// # Errors
/// The sentence with the remedy.
pub fn check_files(files: u64) -> Result<(), String> {
    match files {
        ..=MOST_FILES_OF_ALL => Ok(()),
        _ => Err(format!("the jobs have more than {MOST_FILES_OF_ALL} files together; lower nrfiles or numjobs")),
    }
}

/// Name of a job's group: `read`, or `JOB: read` where the file has several jobs.
pub fn group_name(job: &str, direction: Direction, only_job: bool) -> String {
    if only_job { direction.name().to_owned() } else { format!("{job}: {}", direction.name()) }
}
