//! One disk written in long requests for longer than a slice, flushed and read back, before its first mkfs.

use super::agent_process::{CallError, unexpected};
use super::round::Runner;
use crate::failure::Failure;
use model::Bytes;
use model::agent::{Reply, Request, Target};
use model::disk::DiskProbe;
use model::workload::{Io, Kind, Pattern, Workload};

/// The rounds of a race's first workload in which its disks are looked at: twice, so that no single disturbance says
/// what a disk is.
const ROUNDS: [u32; 2] = [1, 3];
/// Seconds of writing. Chosen: five slices and more, so that it leaves what a slice stays in, and short beside a race.
const WRITE_SECONDS: f64 = 0.5;
/// Seconds of reading.
const READ_SECONDS: f64 = 0.25;
/// Of each disk so much is written over and over at most: what a cache took is then flushed in seconds even by a disk
/// that spins.
const MOST_AREA_BYTES: u64 = 2 << 30;
/// Less of it tells nothing: a disk's own cache may hold that.
const LEAST_AREA_BYTES: u64 = 512 << 20;
const BLOCK_BYTES: u64 = 1 << 20;
const DEPTH: u32 = 8;
/// What it takes in all, the flush of an ordinary disk with it; for forecasts.
pub const USUAL_SECONDS: f64 = ROUNDS.len() as f64 * (WRITE_SECONDS + READ_SECONDS + 0.25);

/// Whether disks are looked at in a round of the first workload.
pub fn due(round: u32) -> bool {
    ROUNDS.contains(&round)
}

impl Runner<'_> {
    /// Writes, flushes and reads one disk of each kind of ground: the first image stands for all, as they share their
    /// disk; devices each for themselves. An emulated disk is none that could be a cache, and the disks of user-mode
    /// Linux are known to lie in the page cache: neither is looked at.
    ///
    /// # Errors
    /// Only where the race must end; a disk that cannot be looked at says nothing of itself.
    pub fn probe_disks(
        &mut self,
        workload: &Workload,
        round: u32,
        places: &[(usize, usize)],
        sizes: &[u64],
        seed: u64,
    ) -> Result<Vec<DiskProbe>, Failure> {
        if !self.throttles.is_empty() {
            return Ok(Vec::new());
        }
        let mut seen: Vec<usize> = Vec::new();
        let mut probes = Vec::new();
        for &(lane, ground) in places {
            let image = self.lanes.is_image(ground);
            let known = seen.iter().any(|&other| other == ground || (image && self.lanes.is_image(other)));
            let area_bytes = sizes[lane].min(MOST_AREA_BYTES) / BLOCK_BYTES * BLOCK_BYTES;
            let target = self.lanes.raw_target(ground).filter(|_| !known && !self.lanes.is_guest_disk(ground));
            let Some(path) = target.filter(|_| area_bytes >= LEAST_AREA_BYTES) else { continue };
            seen.push(ground);
            let shape = DiskProbe {
                workload: workload.name.clone(),
                round,
                ground: ground as u32,
                area_bytes,
                block_bytes: BLOCK_BYTES,
                depth: DEPTH,
                ..DiskProbe::default()
            };
            let probed = self.probe_disk(lane, Target::Device(path), shape, seed);
            if let Err(CallError::Interrupted) = self.call(lane, &Request::Detach) {
                return Err(Failure::interrupted());
            }
            match probed {
                Ok(probe) => probes.push(probe),
                Err(CallError::Interrupted) => return Err(Failure::interrupted()),
                Err(_) => {}
            }
        }
        Ok(probes)
    }

    fn probe_disk(&mut self, lane: usize, target: Target, shape: DiskProbe, seed: u64) -> Result<DiskProbe, CallError> {
        let devices = self.lanes.device_names(shape.ground as usize);
        self.call(lane, &Request::Attach { target, devices })?;
        let work = |rw: Pattern, seconds: f64| Workload {
            name: shape.workload.clone(),
            title: String::new(),
            kind: Kind::Io(Box::new(Io {
                rw,
                bs: Bytes(BLOCK_BYTES),
                size: Bytes(shape.area_bytes),
                ioengine: "io_uring".to_owned(),
                iodepth: DEPTH,
                direct: true,
                slices: 1,
                slice_seconds: seconds,
                ..Io::default()
            })),
        };
        // What was in the device's cache before is not charged to this.
        self.call(lane, &Request::Sync)?;
        self.call(lane, &Request::prepare(work(Pattern::Write, WRITE_SECONDS), seed))?;
        let slice = |seconds: f64| Request::Slice { warm_up_seconds: 0.0, seconds, threads: false };
        let begun = self.clock.now();
        self.call(lane, &slice(WRITE_SECONDS))?;
        // Until the last request has come back, so that no byte is without its time.
        let write_seconds = self.clock.since(begun).as_secs_f64();
        let flush_seconds = match self.call(lane, &Request::Sync)? {
            Reply::Took { seconds } => seconds,
            other => return Err(unexpected(&Request::Sync, &other)),
        };
        let (written, system) = match self.call(lane, &Request::Finish)? {
            Reply::Finished { groups, system, .. } => (groups, system),
            other => return Err(unexpected(&Request::Finish, &other)),
        };
        self.call(lane, &Request::prepare(work(Pattern::Read, READ_SECONDS), seed))?;
        self.call(lane, &slice(READ_SECONDS))?;
        let read = match self.call(lane, &Request::Finish)? {
            Reply::Finished { groups, .. } => groups,
            other => return Err(unexpected(&Request::Finish, &other)),
        };
        let windows = written.first().map(|group| group.windows_operations_per_second.as_slice()).unwrap_or_default();
        let bandwidth = read.first().and_then(|group| group.metrics.get("bandwidth_bytes_per_second")).copied();
        Ok(DiskProbe {
            written_bytes: system.whole_application_write_bytes,
            write_seconds,
            flush_seconds,
            write_bytes_per_second: windows.iter().map(|rate| rate * BLOCK_BYTES as f64).collect(),
            read_bytes_per_second: bandwidth.unwrap_or(0.0),
            ..shape
        })
    }
}
