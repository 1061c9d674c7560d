//! The ceilings: the same engine on the bare device, and without any device.

use super::agent_process::{CallError, unexpected};
use super::round::Runner;
use super::shared_rate::closed_loop;
use super::slices::WARM_UP_SECONDS;
use super::timeouts::TimeAllowance;
use crate::failure::Failure;
use model::Bytes;
use model::agent::{Devices, Reply, Request, Target};
use model::job::SyncMode;
use model::record::{Probe, Profile};
use model::workload::{Io, Jobs, Kind, Pattern, Workload};

/// Slices of a raw profile on each image; three rounds of them make the ceiling.
const RAW_SLICES: u32 = 2;

/// Measured seconds of such a slice for a job file, whose own options say nothing about slices.
const JOB_SLICE_SECONDS: f64 = 0.25;

/// Deeper queues than this tell nothing more about a disk.
const MOST_PROBE_DEPTH: u32 = 1024;

/// The rounds in which the raw profiles run (method 1.1).
pub fn due(round: u32) -> bool {
    matches!(round, 1 | 3 | 5)
}

/// Whether the work has a counterpart on the bare device, whose ceiling is measured.
pub fn has_raw(workload: &Workload) -> bool {
    !raw_works(workload).is_empty()
}

/// The profiles that stand for a workload: usually one; of large files reading and writing.
fn raw_works(workload: &Workload) -> Vec<(Profile, Workload)> {
    match &workload.kind {
        Kind::Streams(streams) => [(Profile::SeqWrite, Pattern::Write), (Profile::SeqRead, Pattern::Read)]
            .into_iter()
            .map(|(profile, rw)| {
                let io = Io {
                    rw,
                    bs: Bytes(1 << 20),
                    size: Bytes((streams.size.get() >> 20 << 20).min(256 << 20)),
                    ioengine: "io_uring".to_owned(),
                    iodepth: 8,
                    direct: true,
                    slices: RAW_SLICES,
                    slice_seconds: JOB_SLICE_SECONDS,
                    ..Io::default()
                };
                (profile, Workload { kind: Kind::Io(Box::new(io)), ..workload.clone() })
            })
            .collect(),
        _ => raw_work(workload).into_iter().collect(),
    }
}

/// The same work on the bare device: what the profile is called and what the engine is told.
fn raw_work(workload: &Workload) -> Option<(Profile, Workload)> {
    let (profile, io) = match &workload.kind {
        // What never touches a device has no ceiling on one.
        Kind::Io(io) if io.ioengine == "null" => return None,
        Kind::Io(io) => {
            let profile = match io.rw {
                _ if io.fdatasync > 0 => Profile::Flush,
                Pattern::Read => Profile::SeqRead,
                Pattern::Write | Pattern::Append => Profile::SeqWrite,
                Pattern::RandRead => Profile::RandRead,
                Pattern::RandWrite => Profile::RandWrite,
                // Of mixtures and discards no profile tells the ceiling.
                Pattern::Rw | Pattern::RandRw | Pattern::Trim | Pattern::RandTrim | Pattern::TrimWrite => return None,
            };
            let rw = if io.rw == Pattern::Append { Pattern::Write } else { io.rw };
            (profile, Io { rw, direct: true, slices: io.slices.min(RAW_SLICES), ..closed_loop(io) })
        }
        Kind::Jobs(jobs) => {
            let io = plain_job(jobs)?;
            let profile = match io.rw {
                Pattern::Read => Profile::SeqRead,
                Pattern::Write => Profile::SeqWrite,
                Pattern::RandRead => Profile::RandRead,
                _ => Profile::RandWrite,
            };
            (profile, io)
        }
        // What fio does is its own: no probe of ours matches it. Large files have two.
        Kind::Fio(_) | Kind::Streams(_) => return None,
        // Small files end in a sync, and so does a transaction: what a flush costs on the bare device tells the host's share.
        Kind::SmallFiles(_)
        | Kind::Operations(_)
        | Kind::Appenders(_)
        | Kind::Oltp(_)
        | Kind::Programs(_)
        | Kind::Mix(_) => {
            let io = Io {
                rw: Pattern::Write,
                bs: Bytes(4096),
                size: Bytes(64 << 20),
                ioengine: "sync".to_owned(),
                iodepth: 1,
                direct: true,
                fdatasync: 1,
                slices: RAW_SLICES,
                slice_seconds: 0.1,
                ..Io::default()
            };
            (Profile::Flush, io)
        }
    };
    // O_DIRECT needs whole sectors; work in odd sizes has no bare counterpart.
    io.bs.0.is_multiple_of(512).then(|| (profile, Workload { kind: Kind::Io(Box::new(io)), ..workload.clone() }))
}

/// The bare counterpart of a job file: only one job of a plain pattern that goes as fast as it can
/// has one. All of its workers' I/Os are kept in flight together.
fn plain_job(jobs: &Jobs) -> Option<Io> {
    let [job] = jobs.jobs.as_slice() else { return None };
    let io = &job.io;
    let plain = matches!(io.rw, Pattern::Read | Pattern::Write | Pattern::RandRead | Pattern::RandWrite);
    let steady = io.fsync == 0 && io.fdatasync == 0 && io.sync == SyncMode::None;
    let free = io.rate.is_none() && io.thinktime_seconds == 0.0 && io.block_sizes.is_none() && !io.create_only;
    if !plain || !steady || !free || io.ioengine == "null" {
        return None;
    }
    let iodepth = io.iodepth.saturating_mul(io.numjobs).min(MOST_PROBE_DEPTH);
    let ioengine = match io.ioengine.as_str() {
        _ if iodepth == 1 => "sync",
        "sync" | "mmap" => "io_uring",
        other => other,
    };
    // The lane set has refused jobs that fill more than half of a ground.
    let size = io.size.get() - io.size.get() % io.bs.get().max(1);
    let probe = Io {
        rw: io.rw,
        bs: io.bs,
        size: Bytes(size),
        ioengine: ioengine.to_owned(),
        iodepth,
        direct: true,
        slices: RAW_SLICES,
        slice_seconds: JOB_SLICE_SECONDS,
        ..Io::default()
    };
    probe.check().is_ok().then_some(probe)
}

/// One target of a probe: whose agent works, and where.
struct Spot {
    lane: usize,
    ground: u32,
    target: Target,
    devices: Devices,
}

impl Runner<'_> {
    /// Runs the raw profile that matches the workload on every lane's image before its mkfs, in
    /// slices that alternate between the images as those of the race do: a disk that reads ahead or
    /// caches behind our back is faster on one stream than on several. One probe per ground; none
    /// where there is no bare device: the ceiling is unknown.
    ///
    /// # Errors
    /// Only where the race must end; a ceiling that cannot be measured is unknown.
    pub fn probe_raw(
        &mut self,
        workload: &Workload,
        round: u32,
        places: &[(usize, usize)],
        seed: u64,
    ) -> Result<Vec<Probe>, Failure> {
        let mut probes = Vec::new();
        for (profile, work) in raw_works(workload) {
            let mut spots: Vec<Spot> = Vec::new();
            if let Kind::Io(io) = &work.kind {
                places.iter().for_each(|&(_, ground)| self.lane_set.warm(ground, io.size.get()));
            }
            for &(lane, ground) in places {
                let taken = spots.iter().any(|spot| spot.ground as usize == ground);
                if let (false, Some(path)) = (taken, self.lane_set.raw_target(ground)) {
                    let devices = self.lane_set.device_names(ground);
                    spots.push(Spot { lane, ground: ground as u32, target: Target::Device(path), devices });
                }
            }
            probes.extend(self.probe(profile, &work, spots, round, seed)?);
        }
        Ok(probes)
    }

    /// Runs the engine without a device.
    ///
    /// # Errors
    /// Only where the race must end.
    pub fn probe_null(&mut self, workload: &Workload, seed: u64) -> Result<Vec<Probe>, Failure> {
        let io = match &workload.kind {
            Kind::Io(io) => closed_loop(io),
            Kind::Jobs(jobs) => match plain_job(jobs) {
                Some(io) => io,
                None => return Ok(Vec::new()),
            },
            Kind::Fio(_)
            | Kind::SmallFiles(_)
            | Kind::Operations(_)
            | Kind::Appenders(_)
            | Kind::Oltp(_)
            | Kind::Streams(_)
            | Kind::Programs(_)
            | Kind::Mix(_) => return Ok(Vec::new()),
        };
        let io = Io { slices: 2, slice_seconds: io.slice_seconds.min(0.1), ..io };
        let work = Workload { kind: Kind::Io(Box::new(io)), ..workload.clone() };
        let spot = Spot { lane: 0, ground: 0, target: Target::Null, devices: Devices::default() };
        self.probe(Profile::Null, &work, vec![spot], 1, seed)
    }

    fn probe(
        &mut self,
        profile: Profile,
        work: &Workload,
        spots: Vec<Spot>,
        round: u32,
        seed: u64,
    ) -> Result<Vec<Probe>, Failure> {
        let outcome = self.run_probe(profile, work, &spots, round, seed);
        for spot in spots.iter().filter(|_| profile != Profile::Null) {
            self.lane_set.lift(spot.ground as usize).map_err(crate::commands::lane_failure)?;
        }
        for spot in &spots {
            if let Err(CallError::Interrupted) = self.call(spot.lane, &Request::Detach) {
                return Err(Failure::interrupted());
            }
        }
        match outcome {
            Ok(probes) => Ok(probes),
            Err(CallError::Interrupted) => Err(Failure::interrupted()),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn run_probe(
        &mut self,
        profile: Profile,
        work: &Workload,
        spots: &[Spot],
        round: u32,
        seed: u64,
    ) -> Result<Vec<Probe>, CallError> {
        let Kind::Io(io) = &work.kind else { return Ok(Vec::new()) };
        self.slack = TimeAllowance::new(&self.throttles, work);
        for spot in spots {
            self.call(spot.lane, &Request::Attach { target: spot.target.clone(), devices: spot.devices.clone() })?;
            self.call(spot.lane, &Request::Prepare { workload: work.clone(), seed })?;
        }
        // The emulated disk is the disk: its ceilings are those under the throttle of all lanes. Where a
        // lane has limits of its own, those are its ceiling.
        for spot in spots.iter().filter(|_| profile != Profile::Null) {
            self.lane_set.hold_bare(spot.ground as usize).map_err(|error| CallError::Lost(error.to_string()))?;
        }
        let (warm_up_seconds, seconds) = match profile {
            Profile::Null => (WARM_UP_SECONDS, io.slice_seconds),
            _ => self.slice_seconds(io),
        };
        for _ in 0..io.slices {
            for spot in spots {
                let request = Request::Slice { warm_up_seconds, seconds, threads: false };
                self.call(spot.lane, &request)?;
            }
        }
        let mut probes = Vec::new();
        for spot in spots {
            let (groups, system) = match self.call(spot.lane, &Request::Finish)? {
                Reply::Finished { groups, system, .. } => (groups, system),
                other => return Err(unexpected(&Request::Finish, &other)),
            };
            let metric = |name: &str| groups.first().and_then(|group| group.metrics.get(name)).copied().unwrap_or(0.0);
            probes.push(Probe {
                profile,
                workload: work.name.clone(),
                round,
                ground: spot.ground,
                operations_per_second: metric("operations_per_second"),
                bandwidth_bytes_per_second: metric("bandwidth_bytes_per_second"),
                through_filesystem: false,
                system,
            });
        }
        Ok(probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::workload::Job;

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
        let probe = plain_job(&jobs(std::slice::from_ref(&io))).unwrap();
        assert_eq!((probe.iodepth, probe.ioengine.as_str(), probe.direct), (4, "io_uring", true));
        assert_eq!((probe.size, probe.numjobs, probe.slices), (Bytes(1 << 20), 1, 2));
        let one = plain_job(&jobs(&[Io { numjobs: 1, ..io.clone() }])).unwrap();
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
            assert!(plain_job(&jobs(&[other])).is_none(), "{what}");
        }
        assert!(plain_job(&jobs(&[io.clone(), io])).is_none(), "two jobs");
    }
}
