//! Block I/O as a kind of work: measured in slices.

use super::io::Io;
use super::shared::{self, FileLayout};
use super::values::{Data, Fallocate, Rate, RateProcess, SyncMode, Verify};
use super::{Direction, Pattern};
use crate::findings::Counts;
use crate::kinds::{COUNTERPART_SLICES, Schedule, Traffic, WorkloadKind};
use crate::record::Profile;
use crate::workload::{COMPRESSIBLE, Kind, PUBLISHED_SLICE_SECONDS};

/// Why work does not wear out.
const ONE_DEADLINE: &str =
    "wear_out counts one worker's operations until one deadline; set slices = 1, iodepth = 1 and numjobs = 1";
const ONE_DIRECTION: &str =
    "wear_out goes with read, write, randread and randwrite at their own speed; change rw, or remove wear_out";

impl Io {
    /// The same work as fast as it goes.
    pub fn closed_loop(&self) -> Io {
        let rate_process = RateProcess::Linear;
        Io { rate_of_slowest: None, rate: None, rate_process, wear_out: false, ..self.clone() }
    }

    /// Refuses what has no one count of operations at one deadline.
    fn check_wear_out(&self) -> Result<(), String> {
        if self.slices != 1 || self.iodepth != 1 || self.numjobs != 1 {
            return Err(ONE_DEADLINE.to_owned());
        }
        let has_one_count = matches!(self.rw, Pattern::Read | Pattern::Write | Pattern::RandRead | Pattern::RandWrite);
        if !has_one_count || Io::is_paced(self) {
            return Err(ONE_DIRECTION.to_owned());
        }
        Ok(())
    }

    /// Whether it waits by itself: a rate, an open loop, pauses.
    pub fn is_paced(&self) -> bool {
        let limited =
            |&direction: &Direction| self.rate.is_some_and(|rates| *rates.for_direction(direction) != Rate::Unlimited);
        self.rate_of_slowest.is_some()
            || self.thinktime_seconds > 0.0
            || self.thinktime_spin_seconds > 0.0
            || self.rw.directions().iter().any(limited)
    }

    /// One kind of operation, back to back, and nothing beside it that a counterpart leaves out.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.rw, Pattern::Read | Pattern::Write | Pattern::RandRead | Pattern::RandWrite)
            && self.fsync == 0
            && self.fdatasync == 0
            && self.sync == SyncMode::None
            && self.block_sizes.is_none()
            && !self.create_only
            && !self.is_paced()
    }

    /// Whether it only writes, as fast as it can, and should reach a device.
    pub(super) fn only_writes(&self) -> bool {
        self.rw.writes() && !self.rw.reads() && !self.rw.trims() && self.ioengine != "null" && !self.is_paced()
    }

    /// Whether writes are made stable by the job itself.
    pub(super) fn flushes(&self) -> bool {
        self.rw.writes()
            && (self.fsync > 0
                || self.fdatasync > 0
                || self.sync != SyncMode::None
                || self.rwf_dsync
                || self.end_fsync
                || self.fsync_on_close)
    }
}

impl WorkloadKind for Io {
    fn groups(&self) -> Vec<String> {
        self.directions().iter().map(|direction| direction.name().to_owned()).collect()
    }

    fn check(&self) -> Result<(), String> {
        if let Some((key, _, remedy)) = only_in_whole_jobs(self).iter().find(|(_, is_set, _)| *is_set) {
            return Err(format!("{key} has no effect on work measured in slices; {remedy}"));
        }
        Io::check(self)?;
        shared::check(self)?;
        if self.wear_out {
            self.check_wear_out()?;
        }
        if self.fdatasync > 0 && self.iodepth != 1 {
            return Err("fdatasync counts writes one after another; set iodepth = 1".to_owned());
        }
        if self.rw == Pattern::Append && (self.numjobs > 1 || self.nrfiles > 1 || !self.filename.is_empty()) {
            return Err("append works on one file of one worker; leave numjobs, nrfiles and filename out".to_owned());
        }
        Ok(())
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Slices(self)
    }

    fn working_set_bytes(&self) -> u64 {
        match self.rw {
            // A full file waits for its removal beside the one that grows.
            Pattern::Append => self.size.0.saturating_mul(2),
            _ if self.filename.is_empty() => self.size.0.saturating_mul(u64::from(self.numjobs)),
            _ => self.size.0,
        }
    }

    fn traffic(&self) -> Traffic {
        let in_flight = f64::from(self.iodepth) * f64::from(self.numjobs) * self.largest_block().get() as f64;
        let bytes = self.working_set_bytes() as f64 + in_flight;
        Traffic { bytes, requests: bytes / self.bs.get().max(1) as f64 }
    }

    fn flushes(&self) -> bool {
        Io::flushes(self)
    }

    fn is_flush_bound(&self) -> bool {
        self.fdatasync > 0 || self.fsync > 0
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.numjobs.max(1)
    }

    fn queue_depth(&self) -> u32 {
        self.iodepth.saturating_mul(self.numjobs)
    }

    fn is_paced(&self) -> bool {
        Io::is_paced(self)
    }

    fn mixes_operations(&self) -> bool {
        self.rw.directions().len() > 1
    }

    fn only_writes(&self) -> bool {
        Io::only_writes(self)
    }

    fn is_awaited(&self, group: &str) -> bool {
        let flushed = self.fdatasync == 1 || self.fsync == 1 || self.rwf_dsync || self.sync != SyncMode::None;
        Io::is_paced(self) || (flushed && !self.reads(group))
    }

    fn is_direct(&self) -> Option<bool> {
        Some(self.direct)
    }

    fn request_bytes(&self) -> Option<u64> {
        Some(self.bs.get())
    }

    fn counts(&self, _: &str) -> Counts {
        // A flush now and then is part of writing.
        if self.fdatasync == 1 || self.fsync == 1 { Counts::Commits } else { Counts::Requests }
    }

    fn bare_counterparts(&self) -> Vec<(Profile, Io)> {
        let profile = match self.rw {
            // What never touches a device has no ceiling on one.
            _ if self.ioengine == "null" => return Vec::new(),
            _ if self.fdatasync > 0 => Profile::Flush,
            Pattern::Read => Profile::SeqRead,
            Pattern::Write | Pattern::Append => Profile::SeqWrite,
            Pattern::RandRead => Profile::RandRead,
            Pattern::RandWrite => Profile::RandWrite,
            // Of mixtures and discards no profile tells the ceiling.
            Pattern::Rw | Pattern::RandRw | Pattern::Trim | Pattern::RandTrim | Pattern::TrimWrite => {
                return Vec::new();
            }
        };
        let rw = if self.rw == Pattern::Append { Pattern::Write } else { self.rw };
        let slices = self.slices.min(COUNTERPART_SLICES);
        let alike = Io { rw, direct: true, slices, file: FileLayout::Own, ..self.closed_loop() };
        // Blocks of any length go through the page cache alone, and no device takes them.
        if alike.check().is_ok() { vec![(profile, alike)] } else { Vec::new() }
    }

    fn null_counterpart(&self) -> Option<Io> {
        Some(self.closed_loop())
    }

    fn null_is_alike(&self) -> bool {
        true
    }

    fn data(&self) -> Option<&Data> {
        Some(&self.data)
    }

    fn with_compressible_data(&self, _: &dyn Fn(&str) -> String) -> Option<Kind> {
        let same = Io { data: COMPRESSIBLE, ..self.clone() };
        (self.data == Data::Incompressible).then(|| Kind::Io(Box::new(same)))
    }

    fn do_as_published(&mut self) {
        (self.slices, self.slice_seconds) = (1, PUBLISHED_SLICE_SECONDS);
    }
}

/// The remedy for most options that slices leave out.
const LEAVE_OUT: &str = "remove it, or put the work into a job file and run that with `fairlane fio JOBFILE`";

/// Options that only work done whole heeds: key, whether it is set, remedy. Slices end by time,
/// their files are written in full before the first one, and their fdatasyncs count as part of the
/// writes: to accept these options and ignore them would answer another question than was asked.
fn only_in_whole_jobs(io: &Io) -> [(&'static str, bool, &'static str); 22] {
    [
        ("fsync", io.fsync > 0, "use fdatasync"),
        ("end_fsync", io.end_fsync, "use fdatasync, or remove it"),
        ("fsync_on_close", io.fsync_on_close, "use fdatasync, or remove it"),
        ("runtime_seconds", io.runtime_seconds.is_some(), "use slices and slice_seconds"),
        ("time_based", io.time_based, "remove it: slices end by time"),
        ("ramp_time_seconds", io.ramp_time_seconds != 0.0, "remove it: every slice warms up first"),
        ("startdelay_seconds", io.startdelay_seconds != 0.0, "remove it: every slice begins on command"),
        ("loops", io.loops != 1, "remove it: slices go on until their time is over"),
        ("io_size", io.io_size.is_some(), "remove it: slices end by time"),
        ("file_append", io.file_append, "use rw = \"append\""),
        ("overwrite", io.overwrite, "remove it: the files are always written in full first"),
        ("fallocate", io.fallocate != Fallocate::default(), "remove it: the files are always written in full first"),
        ("allow_file_create", !io.allow_file_create, "remove it: the files are always made first"),
        ("create_on_open", io.create_on_open, LEAVE_OUT),
        ("create_only", io.create_only, LEAVE_OUT),
        ("create_fsync", !io.create_fsync, LEAVE_OUT),
        ("unlink", io.unlink, LEAVE_OUT),
        ("unlink_each_loop", io.unlink_each_loop, LEAVE_OUT),
        ("verify", io.verify != Verify::None, LEAVE_OUT),
        ("do_verify", !io.do_verify, LEAVE_OUT),
        ("verify_fatal", io.verify_fatal, LEAVE_OUT),
        ("verify_interval", io.verify_interval.get() > 0, LEAVE_OUT),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_out_goes_with_one_worker_and_one_deadline() {
        let of = |change: &dyn Fn(&mut Io)| {
            let (bs, size) = (crate::Bytes(4096), crate::Bytes(1 << 20));
            let mut io = Io { rw: Pattern::Write, bs, size, slices: 1, wear_out: true, ..Io::default() };
            change(&mut io);
            WorkloadKind::check(&io)
        };
        assert_eq!(of(&|_| {}), Ok(()));
        assert_eq!(of(&|io| io.slices = 4), Err(ONE_DEADLINE.to_owned()));
        assert_eq!(of(&|io| io.numjobs = 2), Err(ONE_DEADLINE.to_owned()));
        assert_eq!(of(&|io| io.rw = Pattern::RandRw), Err(ONE_DIRECTION.to_owned()));
        assert_eq!(of(&|io| io.thinktime_seconds = 0.1), Err(ONE_DIRECTION.to_owned()));
    }

    #[test]
    fn no_option_that_slices_leave_out_is_set_by_default() {
        let all = only_in_whole_jobs(&Io::default());
        // `options_that_slices_ignore_are_refused_by_name_with_a_remedy` tries each of them.
        assert_eq!(all.len(), 22);
        for (key, is_set, _) in all {
            assert!(!is_set, "{key}");
        }
    }
}
