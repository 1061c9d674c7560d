//! What the installed fio takes of a machine for the jobs of a file: memory by block, by entry and by thread. It has no
//! bounds of its own.
//!
//! Bytes of a request, a worker, a helper and a block to verify were measured with fio 3.33, and are rounded up.

use super::Space;
use super::numbers::{find, largest_block, maybe_on, number, smallest_block, switch, value};
use crate::syntax::{Section, Setting};
use crate::{JobFileError, names, shown, values};
use model::Bytes;
use model::job::{Direction, FioJob};

/// Of the machine's memory what all jobs may take together, as one part of so many.
const PART_OF_MEMORY: u64 = 2;
/// Maps of the blocks visited, one bit a block, of all jobs together.
const MOST_MAP_BYTES: u64 = 1 << 30;
/// Workers of all jobs together: fio's own limit (`REAL_MAX_JOBS`).
const MOST_WORKERS: u64 = 4096;
/// Threads beside the workers, of all jobs together.
const MOST_HELPERS: u64 = 1024;
/// Threads of one worker that verify.
const MOST_VERIFIERS: u64 = 64;
/// Seconds of `steadystate_duration` of all workers together: fio keeps figures of each of them.
const MOST_STEADY_SECONDS: f64 = (1 << 20) as f64;
/// What a request in flight takes beside its buffer.
const REQUEST_BYTES: u64 = 1024;
const WORKER_BYTES: u64 = 512 << 10;
const HELPER_BYTES: u64 = 256 << 10;
/// What a file takes beside its map.
const FILE_BYTES: u64 = 512;
/// What fio keeps of a written block until it has read it back.
const PIECE_BYTES: u64 = 128;

/// What the jobs so far take.
#[derive(Default)]
pub(super) struct Load {
    memory_bytes: u64,
    map_bits: u64,
    files: u64,
    workers: u64,
    helpers: u64,
    steady_seconds: f64,
}

/// One job's options as they bear on it.
struct Part<'a> {
    settings: &'a [Setting],
    job: &'a FioJob,
    workers: u64,
    iodepth: u64,
    smallest: u64,
    /// Files of each worker.
    files: u64,
    /// Bytes of one worker's files that it works on.
    region: u64,
}

impl<'a> Part<'a> {
    /// `space` is what jobs keep on the lane, this one and those before it.
    fn new(settings: &'a [Setting], job: &'a FioJob, space: &Space) -> Result<Self, JobFileError> {
        let at_least_one = |name: &str| number(settings, name).map(|number| number.unwrap_or(1).max(1));
        let names = value(settings, "filename").map(names::list).unwrap_or_default();
        let files = if names.is_empty() { at_least_one("nrfiles")? } else { names.len() as u64 };
        let size = number(settings, "size")?.unwrap_or(0);
        let region = match number(settings, "filesize")? {
            Some(each) => each.saturating_mul(files),
            None if size > 0 => size,
            // Until the device is full: how much that is, the file does not say.
            None if maybe_on(settings, "fill_device") => u64::MAX,
            None => {
                let inside = names.iter().filter_map(|name| names::inside(name).ok());
                inside.fold(0, |sum: u64, name| sum.saturating_add(space.most_bytes_of(&name)))
            }
        };
        let (workers, iodepth) = (at_least_one("numjobs")?, at_least_one("iodepth")?);
        Ok(Part { settings, job, workers, iodepth, smallest: smallest_block(settings), files, region })
    }

    /// Whether fio marks each block that it visited.
    fn has_map(&self) -> bool {
        let text = |name: &str| value(self.settings, name).unwrap_or("");
        let even =
            find(self.settings, "random_distribution").is_none() || text("random_distribution").starts_with("random");
        let without = switch(self.settings, "norandommap") == Some(true) || text("random_generator") == "lfsr";
        text("rw").starts_with("rand") && even && !without
    }

    /// Bits of the maps of all workers.
    fn map_bits(&self) -> Result<u64, JobFileError> {
        if !self.has_map() {
            return Ok(0);
        }
        let mut region = self.region;
        // In strided zones each file's map is as large as a zone.
        for name in ["zonerange", "zonesize"] {
            region = region.max(number(self.settings, name)?.unwrap_or(0).saturating_mul(self.files));
        }
        Ok(region.div_ceil(self.smallest).saturating_mul(self.workers))
    }

    /// Blocks that fio remembers until it has read them back, of all workers.
    fn pieces(&self) -> Result<u64, JobFileError> {
        let verify = find(self.settings, "verify").filter(|setting| setting.value.as_deref() != Some("0"));
        let Some(setting) = verify.or_else(|| find(self.settings, "verify_pattern")) else { return Ok(0) };
        let trims = number(self.settings, "trim_percentage")?.unwrap_or(0) > 0;
        let reads_back = switch(self.settings, "do_verify") != Some(false) || trims;
        let by_itself = switch(self.settings, "experimental_verify") == Some(true);
        if !self.job.directions.contains(&Direction::Write) || !reads_back || by_itself {
            return Ok(0);
        }
        let blocks = self.region.div_ceil(self.smallest);
        let pieces = match number(self.settings, "verify_backlog")?.filter(|backlog| *backlog > 0) {
            Some(backlog) => blocks.min(backlog),
            // It begins the map anew when all blocks are visited, and reads back when the time is over.
            None if self.has_map() && maybe_on(self.settings, "time_based") => {
                let what = "verify of random writes with time_based makes fio remember every write until the end; write \
                            verify_backlog=1024, or remove time_based";
                return Err(setting.place.refuse(what));
            }
            None => blocks,
        };
        Ok(pieces.saturating_mul(self.workers))
    }

    /// Threads that fio starts beside the workers.
    fn helpers(&self) -> Result<u64, JobFileError> {
        let verifiers = number(self.settings, "verify_async")?.unwrap_or(0);
        if let (Some(setting), true) = (find(self.settings, "verify_async"), verifiers > MOST_VERIFIERS) {
            let what = format!("verify_async={verifiers} is above {MOST_VERIFIERS} threads for each worker; lower it");
            return Err(setting.place.refuse(what));
        }
        let submitters = match value(self.settings, "io_submit_mode") {
            None | Some("inline") => 0,
            Some(_) => self.iodepth,
        };
        Ok(verifiers.saturating_add(submitters).saturating_mul(self.workers))
    }

    fn steady_seconds(&self) -> Result<f64, JobFileError> {
        let Some(setting) = find(self.settings, "steadystate_duration") else { return Ok(0.0) };
        let text = setting.value.as_deref().unwrap_or("");
        let seconds = values::seconds(text, 1_000_000)
            .map_err(|what| setting.place.refuse(format!("{}: {what}", setting.written)))?;
        Ok(seconds * self.workers as f64)
    }

    fn memory_bytes(&self, helpers: u64) -> Result<u64, JobFileError> {
        let request = largest_block(self.settings)?.saturating_add(REQUEST_BYTES);
        let files = self.files.saturating_mul(FILE_BYTES);
        let worker = request.saturating_mul(self.iodepth).saturating_add(files).saturating_add(WORKER_BYTES);
        let helpers = helpers.saturating_mul(HELPER_BYTES);
        let pieces = self.pieces()?.saturating_mul(PIECE_BYTES);
        Ok(worker.saturating_mul(self.workers).saturating_add(helpers).saturating_add(pieces))
    }
}

impl Load {
    /// Counts a job in. `space` is what the jobs so far keep on the lane, this one too.
    ///
    /// # Errors
    /// With this job there is too much of something; numbers that only fio understands.
    pub fn add(
        &mut self,
        (section, settings): (&Section, &[Setting]),
        job: &FioJob,
        space: &Space,
        machine_bytes: u64,
    ) -> Result<(), JobFileError> {
        let part = Part::new(settings, job, space)?;
        let helpers = part.helpers()?;
        self.workers = self.workers.saturating_add(part.workers);
        self.helpers = self.helpers.saturating_add(helpers);
        self.files = self.files.saturating_add(part.files.saturating_mul(part.workers));
        self.map_bits = self.map_bits.saturating_add(part.map_bits()?);
        self.steady_seconds += part.steady_seconds()?;
        self.memory_bytes = self.memory_bytes.saturating_add(part.memory_bytes(helpers)?);
        self.check(machine_bytes).map_err(|what| section.place.refuse(what))
    }

    fn check(&self, machine_bytes: u64) -> Result<(), String> {
        let most = machine_bytes / PART_OF_MEMORY;
        if most > 0 && self.memory_bytes > most {
            return Err(format!(
                "fio would take {} for the jobs up to here (bs times iodepth times numjobs, its workers and files, and the \
                 blocks to verify), more than half of this machine's memory; lower one of them",
                model::units::human_bytes(self.memory_bytes as f64)
            ));
        }
        if self.workers > MOST_WORKERS {
            let workers = self.workers;
            return Err(format!(
                "the jobs up to here have {workers} workers, above the {MOST_WORKERS} that fio runs; lower numjobs"
            ));
        }
        if self.helpers > MOST_HELPERS {
            let helpers = self.helpers;
            return Err(format!(
                "verify_async and io_submit_mode=offload start {helpers} threads for the jobs up to here, above \
                 {MOST_HELPERS}; lower verify_async, iodepth or numjobs"
            ));
        }
        model::job::check_files(self.files)?;
        if self.map_bits / 8 > MOST_MAP_BYTES {
            return Err(format!(
                "fio's maps of the blocks that the jobs up to here visit, one bit a block of size, take {}, above {}; write \
                 norandommap or a larger bs",
                model::units::human_bytes(self.map_bits as f64 / 8.0),
                Bytes(MOST_MAP_BYTES)
            ));
        }
        if self.steady_seconds > MOST_STEADY_SECONDS {
            return Err(format!(
                "fio keeps figures of every second of steadystate_duration for each worker, above {MOST_STEADY_SECONDS} \
                 of them for the jobs up to here; lower it"
            ));
        }
        Ok(())
    }
}

/// Refuses modes that keep something for each block of the working set.
pub(super) fn dedupe_mode(setting: &Setting) -> Result<(), JobFileError> {
    let mode = setting.value.as_deref().unwrap_or("");
    if setting.row.name != "dedupe_mode" || mode == "repeat" {
        return Ok(());
    }
    let what = format!(
        "{}={} makes fio remember every block of its working set; write dedupe_mode=repeat",
        setting.written,
        shown(mode).trim_matches('`')
    );
    Err(setting.place.refuse(what))
}
