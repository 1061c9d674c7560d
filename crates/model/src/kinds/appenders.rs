//! Writers that append small records on time: what a logging service does.
//!
//! Every append is due at a moment that is known in advance. What is measured is its lateness: from when it
//! was due to when it was done, whatever the writer was doing meanwhile.

use super::{Demand, Schedule, WorkloadKind};
use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of the head of a record: by it a record tells its writer, its file, its place and its checksum.
pub const LEAST_RECORD: u64 = 16;
/// Largest record.
pub const LARGEST_RECORD: u64 = 32 * Bytes::KIB;
/// Most writers on few threads.
pub const MOST_WRITERS: u32 = 1_000_000;
/// Most writers that are processes.
pub const MOST_PROCESSES: u32 = 100_000;
/// Most files of one writer.
pub const MOST_FILES: u32 = 64;
/// Most files of all writers.
pub const MOST_FILES_OF_ALL: u64 = 4_000_000;
/// Most threads.
pub const MOST_THREADS: u32 = 256;
/// Most readers.
pub const MOST_READERS: u32 = 10_000;

/// Writers that append small records to files of their own, each at its time; with readers beside them
/// where asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Appenders {
    /// Number of writers, 1 to 1000000; of processes 100000.
    pub writers: u32,
    /// Seconds from one append of a writer to the next, 0.001 to 3600. In each period a writer appends one
    /// record to each of its files.
    pub period_seconds: f64,
    /// Measured seconds of each trial, 0.1 to 3600.
    pub seconds: f64,
    /// Seconds of the same work before them, 0 to 3600.
    #[serde(default = "one_second")]
    pub warm_up_seconds: f64,
    /// Files of each writer, 1 to 64.
    #[serde(default = "four")]
    pub files: u32,
    /// Bytes of a record in each of a writer's files, in order and from the beginning again, 16 to 32 KiB.
    #[serde(default = "published_sizes")]
    pub record_sizes: Vec<Bytes>,
    /// By how much an append may come before or after its turn, as a share of the period, 0 to 1: each moment
    /// is drawn evenly from so much of the period around the turn.
    #[serde(default)]
    pub jitter: f64,
    /// An fsync of a file after every so many of its records; 0: never.
    #[serde(default)]
    pub fsync_records: u32,
    /// An fsync of a file with the first record that comes so many seconds after the last one; 0: never.
    #[serde(default)]
    pub fsync_seconds: f64,
    /// A file is opened for each record and closed after it; otherwise it stays open.
    #[serde(default)]
    pub reopen: bool,
    /// Directories that share the writers evenly, 1 to `writers`.
    #[serde(default = "one")]
    pub directories: u32,
    /// What a writer is.
    #[serde(default)]
    pub method: AppendersMethod,
    /// Threads that the writers share where they are no processes, 1 to 256. One that waits for the
    /// filesystem lets its other writers wait too.
    #[serde(default = "eight")]
    pub threads: u32,
    /// Readers beside the writers, at most 10000: each reads a random record of a random file and compares it.
    #[serde(default)]
    pub readers: u32,
    /// Seconds from one read of a reader to the next; 0: the writers' period.
    #[serde(default)]
    pub read_period_seconds: f64,
}

/// What a writer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AppendersMethod {
    /// A place in the schedule of a thread that many writers share.
    #[default]
    Multiplexed,
    /// A process of its own, as in the article.
    Processes,
}

fn one() -> u32 {
    1
}
fn four() -> u32 {
    4
}
fn eight() -> u32 {
    8
}
fn one_second() -> f64 {
    1.0
}
fn published_sizes() -> Vec<Bytes> {
    [16, 32, 64, 256].map(Bytes).to_vec()
}

impl Appenders {
    /// Bytes of each record of a writer's file.
    pub fn record_size(&self, file: u32) -> u64 {
        match self.record_sizes.len() {
            0 => LEAST_RECORD,
            sizes => self.record_sizes[file as usize % sizes].get(),
        }
    }

    /// Bytes that one writer appends in one period.
    pub fn bytes_per_period(&self) -> u64 {
        (0..self.files).map(|file| self.record_size(file)).sum()
    }

    /// Records a second of all writers.
    pub fn records_per_second(&self) -> f64 {
        f64::from(self.writers) * f64::from(self.files) / self.period_seconds
    }

    /// Seconds from one read of a reader to the next.
    pub fn read_period(&self) -> f64 {
        if self.read_period_seconds > 0.0 { self.read_period_seconds } else { self.period_seconds }
    }

    /// Whether anything is synced.
    pub fn syncs(&self) -> bool {
        self.fsync_records > 0 || self.fsync_seconds > 0.0
    }

    /// Files of all writers.
    pub fn files_of_all(&self) -> u64 {
        u64::from(self.writers) * u64::from(self.files)
    }

    /// Descriptors that the process with the most of them needs for the work, and all processes together.
    pub fn descriptors(&self) -> (u64, u64) {
        let open = if self.reopen { 1 } else { u64::from(self.files) };
        let readers = u64::from(self.readers);
        match self.method {
            // A thread has one file open at a time, a reader too.
            AppendersMethod::Multiplexed if self.reopen => {
                let all = u64::from(self.threads) + readers.min(u64::from(self.threads));
                (all, all)
            }
            AppendersMethod::Multiplexed => {
                let all = self.files_of_all() + readers.min(u64::from(self.threads));
                (all, all)
            }
            AppendersMethod::Processes => (open, u64::from(self.writers) * open + readers),
        }
    }

    /// Processes that the work needs beside the agent.
    pub fn processes(&self) -> u64 {
        match self.method {
            AppendersMethod::Multiplexed => 0,
            AppendersMethod::Processes => u64::from(self.writers) + u64::from(self.readers),
        }
    }

    /// Bytes that the files come to hold, each in whole blocks with an inode and an entry beside it.
    pub fn working_set_bytes(&self) -> u64 {
        // The first and the last period are whole ones too.
        let periods = ((self.warm_up_seconds + self.seconds) / self.period_seconds).ceil() as u64 + 2;
        let of_file = |file: u32| {
            let bytes = periods.saturating_mul(self.record_size(file));
            bytes.checked_next_multiple_of(4096).unwrap_or(u64::MAX).saturating_add(1024)
        };
        let of_writer = (0..self.files).map(of_file).fold(0_u64, u64::saturating_add);
        of_writer.saturating_mul(u64::from(self.writers))
    }

    /// What is wrong with the parameters; the sentence begins with the key.
    ///
    /// # Errors
    /// One sentence with the remedy.
    pub fn check(&self) -> Result<(), String> {
        let between = |key: &str, value: f64, low: f64, high: f64| match (low..=high).contains(&value) {
            true => Ok(()),
            false => Err(format!("{key} must lie between {low} and {high}")),
        };
        let most = match self.method {
            AppendersMethod::Multiplexed => MOST_WRITERS,
            AppendersMethod::Processes => MOST_PROCESSES,
        };
        between("writers", self.writers.into(), 1.0, most.into())?;
        between("period_seconds", self.period_seconds, 0.001, 3600.0)?;
        between("seconds", self.seconds, 0.1, 3600.0)?;
        between("warm_up_seconds", self.warm_up_seconds, 0.0, 3600.0)?;
        between("files", self.files.into(), 1.0, MOST_FILES.into())?;
        if self.files_of_all() > MOST_FILES_OF_ALL {
            return Err(format!("files of all writers must be at most {MOST_FILES_OF_ALL}; lower files or writers"));
        }
        if self.record_sizes.is_empty() {
            return Err("record_sizes is empty; name a size such as [\"64B\"]".to_owned());
        }
        for size in &self.record_sizes {
            if !(LEAST_RECORD..=LARGEST_RECORD).contains(&size.get()) {
                return Err(format!(
                    "record_sizes must lie between {LEAST_RECORD} bytes, which hold the record's own description, and {}",
                    Bytes(LARGEST_RECORD)
                ));
            }
        }
        between("jitter", self.jitter, 0.0, 1.0)?;
        between("fsync_seconds", self.fsync_seconds, 0.0, 3600.0)?;
        if self.fsync_records > 0 && self.fsync_seconds > 0.0 {
            return Err("fsync_records and fsync_seconds exclude each other; leave one out".to_owned());
        }
        between("directories", self.directories.into(), 1.0, self.writers.into())?;
        between("threads", self.threads.into(), 1.0, MOST_THREADS.into())?;
        between("readers", self.readers.into(), 0.0, MOST_READERS.into())?;
        if self.read_period_seconds != 0.0 {
            between("read_period_seconds", self.read_period_seconds, 0.001, 3600.0)?;
        }
        Ok(())
    }
}

/// Until the last writer has ended.
const ENDS_SECONDS: f64 = 0.5;

impl WorkloadKind for Appenders {
    fn groups(&self) -> Vec<String> {
        if self.readers > 0 { ["append", "read"].map(str::to_owned).to_vec() } else { vec!["append".to_owned()] }
    }

    fn check(&self) -> Result<(), String> {
        Appenders::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Window { warm_up_seconds: self.warm_up_seconds, seconds: self.seconds }
    }

    fn working_set_bytes(&self) -> u64 {
        Appenders::working_set_bytes(self)
    }

    // Files are made one by one, and what was written is synced and read back after a remount.
    fn demand(&self) -> Demand {
        let bytes = self.working_set_bytes() as f64;
        Demand {
            changes: self.files_of_all() as f64,
            moved_bytes: bytes,
            written_bytes: bytes,
            remounts: 1.0,
            around_seconds: ENDS_SECONDS,
            ..Demand::default()
        }
    }

    fn flushes(&self) -> bool {
        self.syncs()
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.threads
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn do_as_published(&mut self) {
        self.method = AppendersMethod::Processes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appenders(text: &str) -> Appenders {
        toml::from_str(&format!("writers = 1000\nperiod_seconds = 1\nseconds = 10\n{text}")).unwrap()
    }

    #[test]
    fn the_articles_sizes_are_the_usual_ones_and_come_again_for_more_files() {
        let appenders = appenders("files = 6");
        let sizes: Vec<u64> = (0..6).map(|file| appenders.record_size(file)).collect();
        assert_eq!(sizes, [16, 32, 64, 256, 16, 32]);
        assert_eq!((appenders.bytes_per_period(), appenders.records_per_second()), (416, 6000.0));
        assert_eq!(appenders.check(), Ok(()));
    }

    #[test]
    fn what_the_work_needs_follows_from_what_a_writer_is() {
        assert_eq!(appenders("").descriptors(), (4000, 4000));
        assert_eq!(appenders("reopen = true").descriptors(), (8, 8));
        let processes = appenders("method = \"processes\"\nreaders = 10");
        assert_eq!((processes.descriptors(), processes.processes()), ((4, 4010), 1010));
        assert_eq!(appenders("").processes(), 0);
        // 13 periods at most: under 4 KiB of records in each file, and an inode.
        assert_eq!(appenders("").working_set_bytes(), 4000 * (4096 + 1024));
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_its_key() {
        for (text, key) in [
            ("files = 0", "files"),
            ("files = 65", "files"),
            ("record_sizes = []", "record_sizes"),
            ("record_sizes = [15]", "record_sizes"),
            ("record_sizes = [\"64KiB\"]", "record_sizes"),
            ("jitter = 1.5", "jitter"),
            ("fsync_records = 3\nfsync_seconds = 1", "fsync_records"),
            ("directories = 1001", "directories"),
            ("directories = 0", "directories"),
            ("threads = 0", "threads"),
            ("readers = 10001", "readers"),
            ("read_period_seconds = 0.0001", "read_period_seconds"),
            ("warm_up_seconds = -1.0", "warm_up_seconds"),
        ] {
            let said = appenders(text).check().unwrap_err();
            assert!(said.starts_with(key), "{text}: {said}");
        }
        let many = Appenders { writers: 200_000, ..appenders("method = \"processes\"") };
        assert!(many.check().unwrap_err().starts_with("writers"));
        assert!(Appenders { method: AppendersMethod::Multiplexed, ..many.clone() }.check().is_ok());
        assert!(
            Appenders { writers: 1_000_000, files: 5, method: AppendersMethod::Multiplexed, ..many }.check().is_err()
        );
        assert!(Appenders { period_seconds: f64::NAN, ..appenders("") }.check().is_err());
    }
}
