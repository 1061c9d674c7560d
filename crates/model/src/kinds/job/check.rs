//! What a job comes to, and what is wrong with it.

use super::io::Io;
use super::pattern::Direction;
use super::values::{BlockSizes, Rate, SyncMode, Verify};
use super::{LARGEST_BLOCK, MOST_FILES, MOST_FILES_OF_ALL, MOST_IODEPTH, MOST_WORKERS};
use crate::Bytes;
use std::borrow::Cow;

impl Io {
    /// Block sizes of one direction.
    pub fn blocks(&self, direction: Direction) -> BlockSizes {
        match &self.block_sizes {
            Some(sizes) => sizes.for_direction(direction).clone(),
            None => BlockSizes::Fixed(self.bs),
        }
    }

    /// The smallest block of the pattern's directions.
    pub fn smallest_block(&self) -> Bytes {
        let smallest = |&direction: &Direction| self.blocks(direction).smallest();
        self.rw.directions().iter().map(smallest).min().unwrap_or(self.bs)
    }

    /// The largest block of the pattern's directions.
    pub fn largest_block(&self) -> Bytes {
        let largest = |&direction: &Direction| self.blocks(direction).largest();
        self.rw.directions().iter().map(largest).max().unwrap_or(self.bs)
    }

    /// Files of all workers, as they are kept in memory.
    pub fn files_of_all(&self) -> u64 {
        let each = if self.filename.is_empty() { u64::from(self.nrfiles) } else { self.filename.len() as u64 };
        each.saturating_mul(u64::from(self.numjobs))
    }

    /// Bytes that the buffers of all workers take at least.
    pub fn buffer_bytes(&self) -> u64 {
        let each = self.largest_block().0.saturating_mul(u64::from(self.iodepth));
        each.saturating_mul(u64::from(self.numjobs))
    }

    /// Whether this job reads back what it wrote.
    pub fn reads_back(&self) -> bool {
        self.verify != Verify::None && self.do_verify && self.rw.writes()
    }

    /// Operations per second that a rate of a direction comes to, bytes in blocks of the mean length;
    /// `None` where it limits nothing.
    pub fn operations_of(&self, direction: Direction, rate: Rate) -> Option<f64> {
        let operations = match rate {
            Rate::Unlimited => return None,
            Rate::Operations(operations) => operations,
            Rate::Bytes(bytes) => bytes / self.blocks(direction).mean(),
        };
        (operations > 0.0 && operations.is_finite()).then_some(operations)
    }

    /// The share of reads, from 0 to 1, that the rates of a mixed pattern ask for, where both its
    /// directions have one.
    pub fn share_of_rates(&self) -> Option<f64> {
        let rates = self.rate.as_ref().filter(|_| self.rw.mixed())?;
        let of = |direction| self.operations_of(direction, *rates.for_direction(direction));
        let (read, write) = (of(Direction::Read)?, of(Direction::Write)?);
        Some(read / (read + write))
    }

    /// The share of reads in a mixed pattern, from 0 to 1: that of its rates, else `rwmixread`.
    pub fn read_share(&self) -> f64 {
        self.share_of_rates().unwrap_or(f64::from(self.rwmixread.min(100)) / 100.0)
    }

    /// Whether a rate limits one direction of a mixed pattern and the other is free. fio lets the free
    /// one run ahead; here their order is drawn beforehand, and both would keep to the rate.
    pub fn limits_one_of_two(&self) -> bool {
        let Some(rates) = self.rate.as_ref().filter(|_| self.rw.mixed() && (1..100).contains(&self.rwmixread)) else {
            return false;
        };
        let limited = |direction| self.operations_of(direction, *rates.for_direction(direction)).is_some();
        limited(Direction::Read) != limited(Direction::Write)
    }

    /// The directions that yield figures: those of the pattern, but for the one that a mix of 0 or
    /// 100 % leaves without operations.
    pub fn directions(&self) -> &'static [Direction] {
        match (self.rw.mixed(), self.rwmixread) {
            (true, 0) => &[Direction::Write],
            (true, 100..) => &[Direction::Read],
            _ => self.rw.directions(),
        }
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the key.
    pub fn check(&self) -> Result<(), Cow<'static, str>> {
        let fail = |what: &'static str| Err(Cow::Borrowed(what));
        self.check_names("job")?;
        let (smallest, largest) = (self.smallest_block().0, self.largest_block().0);
        if smallest == 0 || (self.size.0 > 0 && smallest > self.size.0) {
            return fail("bs must lie between 1 byte and size; change bs or size");
        }
        if self.size.0 == 0 && self.ioengine != "null" && self.filesize.is_none() {
            return fail("size is missing; say how many bytes the files have");
        }
        if largest > LARGEST_BLOCK.0 {
            return fail("bs is above 64MiB; lower it");
        }
        let aligned = |bytes: u64| bytes.is_multiple_of(512);
        if self.direct && (!aligned(smallest) || !aligned(largest) || !aligned(self.offset.0) || self.bs_unaligned) {
            return fail("bs must be a multiple of 512 with direct = true, offsets too; change bs, offset or direct");
        }
        if self.iodepth == 0 || self.iodepth > MOST_IODEPTH {
            return fail("iodepth must lie between 1 and 65536");
        }
        if matches!(self.ioengine.as_str(), "sync" | "mmap") && self.iodepth != 1 {
            return Err(Cow::Owned(format!(
                "ioengine {} keeps one I/O in flight; set iodepth = 1 or ioengine = \"io_uring\"",
                self.ioengine
            )));
        }
        self.check_counts().and_then(|()| self.check_times()).map_err(Cow::Borrowed)
    }

    /// How many workers and files, and what goes with what.
    fn check_counts(&self) -> Result<(), &'static str> {
        let fail = Err;
        if (self.fdatasync > 0 || self.fsync > 0) && !self.rw.writes() {
            return fail("fsync and fdatasync need a writing rw; remove them or write");
        }
        if !(1..=100).contains(&self.slices) {
            return fail("slices must lie between 1 and 100");
        }
        if !(0.01..=3600.0).contains(&self.slice_seconds) {
            return fail("slice_seconds must lie between 0.01 and 3600");
        }
        if self.rwmixread > 100 || self.dedupe_percentage > 100 {
            return fail("rwmixread and dedupe_percentage are percentages; write 0 to 100");
        }
        if !(1..=MOST_WORKERS).contains(&self.numjobs) {
            return fail("numjobs must lie between 1 and 1024");
        }
        if !(1..=MOST_FILES).contains(&self.nrfiles) {
            return fail("nrfiles must lie between 1 and 1048576");
        }
        if self.files_of_all() > MOST_FILES_OF_ALL {
            return fail("nrfiles of all workers together must be at most 2097152; lower nrfiles or numjobs");
        }
        if self.filename.len() > MOST_FILES as usize {
            return fail("filename must name at most 1048576 files");
        }
        if self.limits_one_of_two() {
            return fail("rate limits only one direction of a mixed rw; give reads and writes a rate each, or none");
        }
        if self.ioengine == "mmap" && self.sync != SyncMode::None {
            return fail(
                "sync does nothing for stores into a mapped file; write fdatasync = 1, which is an msync after each \
                 write, or another ioengine",
            );
        }
        if self.openfiles == Some(0) || self.iodepth_batch == Some(0) {
            return fail("openfiles and iodepth_batch begin at 1; raise them or leave them out");
        }
        if self.verify != Verify::None && self.file_append {
            return fail("verify does not work with file_append; remove one of them");
        }
        Ok(())
    }

    /// How long everything takes.
    fn check_times(&self) -> Result<(), &'static str> {
        let fail = Err;
        let times = [
            self.runtime_seconds.unwrap_or(0.0),
            self.ramp_time_seconds,
            self.startdelay_seconds,
            self.thinktime_seconds,
            self.thinktime_spin_seconds,
        ];
        // A year, so that no sum of nanoseconds overflows.
        if times.iter().any(|seconds| !(0.0..=31_536_000.0).contains(seconds)) {
            return fail("a time must lie between 0 seconds and a year");
        }
        if self.time_based && self.runtime_seconds.is_none_or(|seconds| seconds <= 0.0) {
            return fail("time_based needs a runtime; say how long");
        }
        if self.rate_of_slowest.is_some_and(|share| !(0.01..=0.99).contains(&share)) {
            return fail("rate_of_slowest must lie between 0.01 and 0.99; 0.7 is usual");
        }
        Ok(())
    }

    /// Refuses names of files outside the lane: races run as root, and make and remove these files.
    /// Both the pattern and the name that it gives for this job are looked at: an empty
    /// `$clientuid` can turn a harmless pattern into an absolute name.
    pub(super) fn check_names(&self, job: &str) -> Result<(), Cow<'static, str>> {
        for name in &self.filename {
            inside(name).map_err(|what| format!("filename {name:?} {what}"))?;
        }
        if self.filename_format.is_empty() {
            return Ok(());
        }
        let format = &self.filename_format;
        let first = file_name(format, job, 0, 0);
        inside(format).and_then(|()| inside(&first)).map_err(|what| format!("filename_format {format:?} {what}"))?;
        Ok(())
    }
}

/// Name of a file of a job, relative to the lane: fio's names, so that another job of the file finds
/// them. `format` is [`Io::filename_format`]; workers and files count from 0. A slash in a job's name
/// becomes `_`: it would be a directory that nobody asked for.
pub fn file_name(format: &str, job: &str, worker: u32, number: u32) -> String {
    let format = if format.is_empty() { "$jobname.$jobnum.$filenum" } else { format };
    format
        .replace("$jobname", &job.replace('/', "_"))
        .replace("$jobnum", &worker.to_string())
        .replace("$filenum", &number.to_string())
        .replace("$clientuid", "")
}

/// Why a name is no file inside the lane, as the rest of a sentence that begins with the name.
pub(super) fn inside(name: &str) -> Result<(), &'static str> {
    let last = name.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        Err("is empty; name a file of the lane")
    } else if name.contains('\0') {
        Err("holds a NUL byte; remove it")
    } else if name.starts_with('/') {
        Err("is absolute; write it relative to the lane")
    } else if name.split('/').any(|part| part == "..") {
        Err("leads out of the lane by `..`; write it relative to the lane, without `..`")
    } else if last.is_empty() || last == "." {
        Err("names a directory; name a file in it")
    } else {
        Ok(())
    }
}
