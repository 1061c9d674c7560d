//! The ceilings: the same engine on the bare device, and without any device.

use super::agent_process::{CallError, unexpected};
use super::round::Runner;
use super::slices::WARM_UP_SECONDS;
use super::timeouts::TimeAllowance;
use super::{Race, round_seed};
use crate::failure::Failure;
use model::agent::{Devices, Reply, Request, Target};
use model::record::{LayerProbe, Line, Probe, Profile};
use model::workload::{Io, Kind, Workload};

/// What O_DIRECT moves at least.
const SECTOR_BYTES: u64 = 512;

/// The rounds in which the raw profiles run (method 1.1).
pub fn due(round: u32) -> bool {
    matches!(round, 1 | 3 | 5)
}

/// The same work on the bare device: what the profile is called and what the engine is told. Usually one; of large files
/// reading and writing.
pub fn raw_works(workload: &Workload) -> Vec<(Profile, Io)> {
    let mut all = workload.traits().bare_counterparts();
    // O_DIRECT needs whole sectors; work in odd sizes has no bare counterpart.
    all.retain(|(_, io)| io.bs.0.is_multiple_of(SECTOR_BYTES));
    all
}

/// The workload with a probe's work in place of its own.
fn work_of_probe(workload: &Workload, io: Io) -> Workload {
    Workload { kind: Kind::Io(Box::new(io)), ..workload.clone() }
}

/// One target of a probe: whose agent works, and where.
struct Spot {
    lane: usize,
    ground: u32,
    target: Target,
    devices: Devices,
}

impl Race<'_> {
    /// What the layers of each lane do without a filesystem. They are built once for it, which takes as long as for a round.
    pub(super) fn probe_layers(&mut self) -> Result<(), Failure> {
        let lanes: Vec<usize> =
            (0..self.runner.names.len()).filter(|&lane| self.record.header.lanes[lane].has_built_layers()).collect();
        if lanes.is_empty() || !self.record.layer_probes.is_empty() {
            return Ok(());
        }
        let mut works = Vec::new();
        for index in (0..self.plan().workloads.len()).filter(|&index| self.is_probed(index) || self.ceilings_fit(index))
        {
            works.push((self.plan().workloads[index].clone(), round_seed(self.plan().seed, index, 1)));
        }
        let before = self.runner.clock.clocks();
        let mut lines = Vec::new();
        for lane in lanes {
            let layers = self.runner.probe_layers(lane, self.ground_of(lane, 0, 1), &works)?;
            lines.extend(layers.into_iter().map(|layers| Line::Layers(Box::new(layers))));
        }
        // On a machine that slept meanwhile nothing was measured.
        match self.runner.clock.clocks().since(&before).void {
            None if !lines.is_empty() => self.append_all(lines),
            _ => Ok(()),
        }
    }
}

impl Runner<'_> {
    /// Runs the raw profile that matches the workload on every lane's image before its mkfs, in
    /// slices that alternate between the images as those of the race do: a disk that reads ahead or
    /// caches behind our back is faster on one stream than on several. One probe per ground; none
    /// where there is no bare device: the ceiling is unknown. Several disks of one's own are probed
    /// one by one: there lanes work alone.
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
        for (profile, io) in raw_works(workload) {
            let mut spots: Vec<Spot> = Vec::new();
            places.iter().for_each(|&(_, ground)| self.lanes.warm(ground, io.size.get()));
            for &(lane, ground) in places {
                let taken = spots.iter().any(|spot| spot.ground as usize == ground);
                if let (false, Some(path)) = (taken, self.lanes.raw_target(ground)) {
                    let devices = self.lanes.device_names(ground);
                    spots.push(Spot { lane, ground: ground as u32, target: Target::Device(path), devices });
                }
            }
            probes.extend(self.probe(profile, &io, workload, spots, round, seed)?);
            let mut grounds: Vec<usize> = Vec::new();
            for &(lane, ground) in places {
                if grounds.contains(&ground) {
                    continue;
                }
                grounds.push(ground);
                for ((path, devices), number) in self.lanes.raw_disks(ground).into_iter().zip(1..) {
                    let spot = Spot { lane, ground: ground as u32, target: Target::Device(path), devices };
                    // A disk that is smaller than what the lane's work takes is not known, and the others are.
                    let of_disk = self.probe(profile, &io, workload, vec![spot], round, seed)?;
                    probes.extend(of_disk.into_iter().map(|probe| Probe { disk: Some(number), ..probe }));
                }
            }
        }
        Ok(probes)
    }

    /// Does the work of ceilings on the layers of a lane, without a filesystem. What cannot be built or measured is unknown.
    ///
    /// # Errors
    /// Only where the race must end.
    pub fn probe_layers(
        &mut self,
        lane: usize,
        ground: usize,
        works: &[(Workload, u64)],
    ) -> Result<Vec<LayerProbe>, Failure> {
        let all = || {
            works
                .iter()
                .flat_map(|(workload, seed)| raw_works(workload).into_iter().map(move |raw| (workload, *seed, raw)))
        };
        if all().next().is_none() {
            return Ok(Vec::new());
        }
        let Ok(Some(device)) = self.lanes.stand_bare(lane, ground) else { return Ok(Vec::new()) };
        let (mut layers, mut outcome) = (Vec::new(), Ok(()));
        for (workload, seed, (profile, io)) in all() {
            let devices = self.lanes.device_names(ground);
            let spot = Spot { lane, ground: ground as u32, target: Target::Device(device.clone()), devices };
            match self.probe(profile, &io, workload, vec![spot], 1, seed) {
                Ok(probes) => {
                    let name = &self.names[lane];
                    layers.extend(probes.into_iter().map(|probe| LayerProbe { lane: name.clone(), probe }));
                }
                Err(failure) => {
                    outcome = Err(failure);
                    break;
                }
            }
        }
        // A guest that does not let them go shows that again when the lane is opened.
        let _ = self.lanes.take_down_bare(lane);
        outcome.map(|()| layers)
    }

    /// Runs the engine without a device.
    ///
    /// # Errors
    /// Only where the race must end.
    pub fn probe_null(&mut self, workload: &Workload, seed: u64) -> Result<Vec<Probe>, Failure> {
        let Some(io) = workload.traits().null_counterpart() else { return Ok(Vec::new()) };
        let io = Io { slices: 2, slice_seconds: io.slice_seconds.min(0.1), ..io };
        let spot = Spot { lane: 0, ground: 0, target: Target::Null, devices: Devices::default() };
        self.probe(Profile::Null, &io, workload, vec![spot], 1, seed)
    }

    fn probe(
        &mut self,
        profile: Profile,
        io: &Io,
        workload: &Workload,
        spots: Vec<Spot>,
        round: u32,
        seed: u64,
    ) -> Result<Vec<Probe>, Failure> {
        let outcome = self.run_probe(profile, io, workload, &spots, round, seed);
        for spot in spots.iter().filter(|_| profile != Profile::Null) {
            self.lanes.lift(spot.ground as usize).map_err(crate::commands::lane_failure)?;
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
        io: &Io,
        workload: &Workload,
        spots: &[Spot],
        round: u32,
        seed: u64,
    ) -> Result<Vec<Probe>, CallError> {
        let work = work_of_probe(workload, io.clone());
        self.slack = TimeAllowance::new(&self.throttles, &work);
        for spot in spots {
            self.call(spot.lane, &Request::Attach { target: spot.target.clone(), devices: spot.devices.clone() })?;
            self.call(spot.lane, &Request::prepare(work.clone(), seed))?;
        }
        // The emulated disk is the disk: its ceilings are those under the throttle of all lanes. Where a
        // lane has limits of its own, those are its ceiling.
        for spot in spots.iter().filter(|_| profile != Profile::Null) {
            self.lanes.hold_bare(spot.ground as usize).map_err(|error| CallError::Lost(error.to_string()))?;
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
                disk: None,
                operations_per_second: metric("operations_per_second"),
                bandwidth_bytes_per_second: metric("bandwidth_bytes_per_second"),
                through_filesystem: false,
                system,
            });
        }
        Ok(probes)
    }
}
