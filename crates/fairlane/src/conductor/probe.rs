//! The ceilings: the same engine on the bare device, and without any device.

use super::agent_process::{CallError, unexpected};
use super::round::Track;
use crate::failure::Failure;
use model::agent::{Devices, Reply, Request, Target};
use model::record::{Probe, Profile};
use model::workload::{Io, Kind, Pattern, Workload};

/// Seconds of a slice that run before its window.
const WARM_UP_SECONDS: f64 = 0.03;

/// The rounds in which the raw profiles run (methods section 1).
pub fn due(round: u32) -> bool {
    matches!(round, 1 | 3 | 5)
}

/// The same work on the bare device: what the profile is called and what the engine is told.
fn raw_work(workload: &Workload) -> Option<(Profile, Workload)> {
    let (profile, io) = match &workload.kind {
        Kind::Io(io) => {
            let profile = match io.rw {
                _ if io.fdatasync > 0 => Profile::Flush,
                Pattern::Read => Profile::SeqRead,
                Pattern::Write | Pattern::Append => Profile::SeqWrite,
                Pattern::RandRead => Profile::RandRead,
                Pattern::RandWrite => Profile::RandWrite,
            };
            let rw = if io.rw == Pattern::Append { Pattern::Write } else { io.rw };
            (profile, Io { rw, direct: true, slices: io.slices.min(4), ..io.clone() })
        }
        // Small files end in a sync: what a flush costs on the bare device tells the host's share.
        Kind::SmallFiles(_) => {
            let io = Io {
                rw: Pattern::Write,
                bs: model::Bytes(4096),
                size: model::Bytes(64 << 20),
                ioengine: "sync".to_owned(),
                iodepth: 1,
                direct: true,
                fdatasync: 1,
                slices: 4,
                slice_seconds: 0.1,
            };
            (Profile::Flush, io)
        }
    };
    // O_DIRECT needs whole sectors; work in odd sizes has no bare counterpart.
    io.bs.0.is_multiple_of(512).then(|| (profile, Workload { kind: Kind::Io(io), ..workload.clone() }))
}

impl Track<'_> {
    /// Runs the raw profile that matches the workload on an image before its mkfs. `None` where
    /// there is no bare device: the ceiling is unknown.
    ///
    /// # Errors
    /// Only where the race must end; a ceiling that cannot be measured is unknown.
    pub fn probe_raw(
        &mut self,
        workload: &Workload,
        round: u32,
        ground: usize,
        seed: u64,
    ) -> Result<Option<Probe>, Failure> {
        let (Some(path), Some((profile, work))) = (self.stage.raw_target(ground), raw_work(workload)) else {
            return Ok(None);
        };
        let devices = self.stage.device_names(ground);
        self.probe(profile, &work, Target::Device(path), devices, round, ground as u32, seed)
    }

    /// Runs the engine without a device.
    ///
    /// # Errors
    /// Only where the race must end.
    pub fn probe_null(&mut self, workload: &Workload, seed: u64) -> Result<Option<Probe>, Failure> {
        let Kind::Io(io) = &workload.kind else { return Ok(None) };
        let io = Io { slices: 2, slice_seconds: io.slice_seconds.min(0.1), ..io.clone() };
        let work = Workload { kind: Kind::Io(io), ..workload.clone() };
        self.probe(Profile::Null, &work, Target::Null, Devices::default(), 1, 0, seed)
    }

    #[expect(clippy::too_many_arguments, reason = "they are the probe's own fields")]
    fn probe(
        &mut self,
        profile: Profile,
        work: &Workload,
        target: Target,
        devices: Devices,
        round: u32,
        ground: u32,
        seed: u64,
    ) -> Result<Option<Probe>, Failure> {
        let outcome = self.run_probe(work, target, devices, seed);
        let release = self.call(0, &Request::Detach);
        match outcome.and_then(|probe| release.map(|_| probe)) {
            Ok((operations_per_second, bandwidth_bytes_per_second, system)) => Ok(Some(Probe {
                profile,
                workload: work.name.clone(),
                round,
                ground,
                operations_per_second,
                bandwidth_bytes_per_second,
                through_filesystem: false,
                system,
            })),
            Err(CallError::Interrupted) => Err(Failure::interrupted()),
            Err(CallError::Refused(_) | CallError::Lost(_)) => Ok(None),
        }
    }

    fn run_probe(
        &mut self,
        work: &Workload,
        target: Target,
        devices: Devices,
        seed: u64,
    ) -> Result<(f64, f64, model::trial::SystemUse), CallError> {
        let Kind::Io(io) = &work.kind else { return Err(CallError::Refused("only block I/O is probed".to_owned())) };
        self.call(0, &Request::Attach { target, devices })?;
        self.call(0, &Request::Prepare { workload: work.clone(), seed })?;
        for _ in 0..io.slices {
            let request =
                Request::Slice { warm_up_seconds: WARM_UP_SECONDS, seconds: io.slice_seconds, threads: false };
            self.call(0, &request)?;
        }
        let Reply::Finished { groups, system } = self.call(0, &Request::Finish)? else {
            return Err(unexpected(&Request::Finish, &Reply::Done));
        };
        let metric = |name: &str| groups.first().and_then(|group| group.metrics.get(name)).copied().unwrap_or(0.0);
        Ok((metric("operations_per_second"), metric("bandwidth_bytes_per_second"), system))
    }
}
