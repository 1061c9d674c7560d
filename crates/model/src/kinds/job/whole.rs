//! Job files as kinds of work: run whole, by Fairlane or by the installed fio.

use super::Pattern;
use super::file::{FioRun, Jobs};
use super::io::Io;
use crate::Bytes;
use crate::findings::Counts;
use crate::kinds::{COUNTERPART_SLICES, Demand, Schedule, WorkloadKind};
use crate::record::Profile;

/// Measured seconds of a counterpart's slice, about which a job's own options say nothing.
const SLICE_SECONDS: f64 = 0.25;

/// Deeper queues than this tell nothing more about a disk.
const MOST_DEPTH: u32 = 1024;

impl Jobs {
    /// The one job as a single loop in slices: only one job of a plain pattern that goes as fast as it can has such a
    /// counterpart. All of its workers' I/Os are kept in flight together.
    fn counterpart(&self) -> Option<Io> {
        let [job] = self.jobs.as_slice() else { return None };
        let io = &job.io;
        let paced = io.rate.is_some() || io.thinktime_seconds != 0.0;
        if !io.is_plain() || paced || io.ioengine == "null" {
            return None;
        }
        let iodepth = io.iodepth.saturating_mul(io.numjobs).min(MOST_DEPTH);
        let ioengine = match io.ioengine.as_str() {
            _ if iodepth == 1 => "sync",
            "sync" | "mmap" => "io_uring",
            other => other,
        };
        // The lane set has refused jobs that fill more than half of a ground.
        let size = io.size.get() - io.size.get() % io.bs.get().max(1);
        let alike = Io {
            rw: io.rw,
            bs: io.bs,
            size: Bytes(size),
            ioengine: ioengine.to_owned(),
            iodepth,
            direct: true,
            slices: COUNTERPART_SLICES,
            slice_seconds: SLICE_SECONDS,
            ..Io::default()
        };
        alike.check().is_ok().then_some(alike)
    }
}

impl WorkloadKind for Jobs {
    fn groups(&self) -> Vec<String> {
        Jobs::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        Jobs::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Whole { reads_back: self.reads_back() }
    }

    fn working_set_bytes(&self) -> u64 {
        Jobs::working_set_bytes(self)
    }

    fn demand(&self) -> Demand {
        laid_out(self.working_set_bytes())
    }

    fn flushes(&self) -> bool {
        self.jobs.iter().any(|job| job.io.flushes())
    }

    /// Of the jobs that may run at once, which are the jobs between two stonewalls; the largest such group counts.
    fn concurrency(&self, _: &str) -> u32 {
        let (mut most, mut group) = (1, 0_u32);
        for job in &self.jobs {
            group = if job.stonewall { 0 } else { group }.saturating_add(job.io.numjobs);
            most = most.max(group);
        }
        most
    }

    fn is_paced(&self) -> bool {
        self.jobs.iter().any(|job| job.io.is_paced())
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    fn only_writes(&self) -> bool {
        self.jobs.iter().all(|job| job.io.only_writes())
    }

    fn is_direct(&self) -> Option<bool> {
        match self.jobs.as_slice() {
            [job] => Some(job.io.direct),
            _ => None,
        }
    }

    fn counts(&self, _: &str) -> Counts {
        Counts::Requests
    }

    fn bare_counterparts(&self) -> Vec<(Profile, Io)> {
        let of = |io: Io| {
            let profile = match io.rw {
                Pattern::Read => Profile::SeqRead,
                Pattern::Write => Profile::SeqWrite,
                Pattern::RandRead => Profile::RandRead,
                _ => Profile::RandWrite,
            };
            (profile, io)
        };
        self.counterpart().map(of).into_iter().collect()
    }

    fn counterpart_is_alike(&self) -> bool {
        matches!(self.jobs.as_slice(), [job] if job.io.is_plain())
    }

    fn null_counterpart(&self) -> Option<Io> {
        self.counterpart()
    }

    fn null_is_alike(&self) -> bool {
        matches!(self.jobs.as_slice(), [job] if job.io.numjobs == 1 && job.io.is_plain())
    }
}

impl WorkloadKind for FioRun {
    fn groups(&self) -> Vec<String> {
        FioRun::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        match self.jobs.is_empty() {
            true => Err("the job file has no job; add a section such as [job]".to_owned()),
            false => Ok(()),
        }
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Whole { reads_back: false }
    }

    fn working_set_bytes(&self) -> u64 {
        self.working_set.0
    }

    fn demand(&self) -> Demand {
        laid_out(self.working_set_bytes())
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    fn counts(&self, _: &str) -> Counts {
        Counts::Requests
    }

    // What fio does is its own: nothing of ours matches it.
    fn bare_counterparts(&self) -> Vec<(Profile, Io)> {
        Vec::new()
    }

    fn starts_programs(&self) -> bool {
        true
    }
}

/// Files are laid out once, and written at most once more as far as anybody can say.
fn laid_out(bytes: u64) -> Demand {
    let bytes = bytes as f64;
    Demand { moved_bytes: bytes, written_bytes: 2.0 * bytes, ..Demand::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    fn jobs(io: &[Io]) -> Jobs {
        let job = |io: &Io| Job {
            name: "a".to_owned(),
            stonewall: false,
            exitall: false,
            wait_for: None,
            options: Vec::new(),
            io: io.clone(),
        };
        Jobs { jobs: io.iter().map(job).collect(), file: String::new(), notes: Vec::new() }
    }

    #[test]
    fn a_single_plain_job_has_a_bare_counterpart_with_all_its_workers_in_flight() {
        let io = Io { rw: Pattern::RandRead, size: Bytes((1 << 20) + 7), numjobs: 4, ..Io::default() };
        let alike = jobs(std::slice::from_ref(&io)).counterpart().unwrap();
        assert_eq!((alike.iodepth, alike.ioengine.as_str(), alike.direct), (4, "io_uring", true));
        assert_eq!((alike.size, alike.numjobs, alike.slices), (Bytes(1 << 20), 1, 2));
        let one = jobs(&[Io { numjobs: 1, ..io.clone() }]).counterpart().unwrap();
        assert_eq!((one.iodepth, one.ioengine.as_str()), (1, "sync"));
    }

    #[test]
    fn work_without_a_bare_counterpart_has_no_ceiling() {
        let io = Io { size: Bytes(1 << 20), ..Io::default() };
        for (what, other) in [
            ("mixed", Io { rw: Pattern::RandRw, ..io.clone() }),
            ("syncing", Io { rw: Pattern::Write, fsync: 1, ..io.clone() }),
            ("slowed down", Io { thinktime_seconds: 0.1, ..io.clone() }),
            ("of odd blocks", Io { bs: Bytes(1000), ..io.clone() }),
        ] {
            assert!(jobs(&[other]).counterpart().is_none(), "{what}");
        }
        assert!(jobs(&[io.clone(), io]).counterpart().is_none(), "two jobs");
    }
}
