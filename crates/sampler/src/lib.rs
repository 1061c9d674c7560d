//! What the whole system did during a measured window.
//!
//! One file per source. Files stay open and are read into buffers that are kept: opening or closing
//! a window takes well under 300 µs, unless every thread is looked at. A source that this kernel
//! does not have gives zeros.

mod cpu;
mod diskstats;
mod memory;
mod network;
mod own;
mod pressure;
mod processes;
mod programs;
mod source;
mod threads;
mod writeback;

pub use cpu::{online_cpus, ticks_per_second};
pub use writeback::Writeback;

use model::agent::{Devices, FilesystemProcesses};
use model::trial::SystemUse;
use std::time::Instant;

/// Whether this kernel tells how long tasks waited for I/O.
pub fn knows_pressure() -> bool {
    pressure::Pressure::open().is_known()
}

/// Samples the system around measured windows.
#[derive(Debug)]
pub struct Sampler {
    cpu: cpu::Cpu,
    disks: diskstats::Disks,
    memory: memory::Memory,
    network: network::Network,
    pressure: pressure::Pressure,
    processes: processes::Processes,
    threads: Option<threads::Threads>,
    programs: Option<programs::Programs>,
    /// Programs when the watch began.
    looked: Option<(Instant, programs::Look)>,
    opened: Option<Counters>,
    closed: Option<Closed>,
}

/// Every counter at one moment.
#[derive(Debug, Clone)]
struct Counters {
    moment: Instant,
    cpu: cpu::Ticks,
    own: own::OwnTime,
    filesystem_user_ticks: u64,
    disks: diskstats::Watched,
    network: network::Carried,
    pressure_microseconds: u64,
    dirtied_bytes: Option<u64>,
}

#[derive(Debug, Clone)]
struct Closed {
    counters: Counters,
    dirty_bytes: u64,
}

impl Sampler {
    /// Opens the sources; those that do not exist here will give zeros.
    pub fn new(devices: &Devices) -> Self {
        Sampler {
            cpu: cpu::Cpu::open(),
            disks: diskstats::Disks::open(devices),
            memory: memory::Memory::open(),
            network: network::Network::open(),
            pressure: pressure::Pressure::open(),
            processes: processes::Processes::open(&devices.filesystem),
            threads: None,
            programs: None,
            looked: None,
            opened: None,
            closed: None,
        }
    }

    /// Tells programs that have nothing to do with the lane by their CPU time, too. This process and all that it starts
    /// are the lane's; where nobody knows which process is the filesystem, no program is told from it.
    pub fn with_programs(mut self, devices: &Devices) -> Self {
        self.programs = match &devices.filesystem {
            FilesystemProcesses::None => Some(programs::Programs::new(&[])),
            FilesystemProcesses::Known(pids) => Some(programs::Programs::new(pids)),
            FilesystemProcesses::Unknown => None,
        };
        self
    }

    /// Begins to watch and opens the window. With `threads`, every thread is looked at first, which
    /// takes milliseconds.
    pub fn begin(&mut self, threads: bool) {
        self.looked = self.programs.as_mut().map(|programs| (Instant::now(), programs.look(threads)));
        self.threads = threads.then(threads::Threads::look);
        self.open_window();
    }

    /// Opens the window here, in place of where [`Sampler::begin`] did: after a warm-up.
    pub fn open_window(&mut self) {
        self.closed = None;
        self.opened = Some(self.counters());
    }

    /// Closes the window here; what follows until [`Sampler::end`] does not count.
    pub fn close_window(&mut self) {
        let counters = self.counters();
        self.closed = Some(Closed { counters, dirty_bytes: self.memory.dirty_bytes() });
    }

    /// When the window opened that [`Sampler::end`] has not answered for yet.
    pub fn opened_at(&self) -> Option<Instant> {
        self.opened.as_ref().map(|counters| counters.moment)
    }

    /// What the system did since the window opened, or since the last call: the next one begins where this
    /// one ends, and nothing is counted twice or not at all.
    pub fn lap(&mut self) -> SystemUse {
        self.close_window();
        let next = self.closed.as_ref().map(|closed| closed.counters.clone());
        let used = self.end();
        self.opened = next;
        used
    }

    /// What the system did in the window, which closes here unless it was closed already. The
    /// shares of threads refer to the whole time since [`Sampler::begin`], warm-up included: looking
    /// at them takes too long for the window. All zero when no window was opened.
    pub fn end(&mut self) -> SystemUse {
        if self.closed.is_none() {
            self.close_window();
        }
        let looked_until = Instant::now();
        let programs = self.looked.take().zip(self.programs.as_mut()).map(|((since, before), programs)| {
            let after = programs.look(false);
            let seconds = self.cpu.seconds(before.foreign_ticks, after.foreign_ticks);
            (looked_until.duration_since(since).as_secs_f64(), seconds, after)
        });
        // Another program's thread limits nobody's filesystem.
        let counts = |pid: u32| programs.as_ref().is_none_or(|(.., now)| !now.is_foreign(pid));
        let busiest = self.threads.take().and_then(|before| threads::Threads::look().busiest_since(&before, &counts));
        let (Some(before), Some(closed)) = (self.opened.take(), self.closed.take()) else {
            return SystemUse::default();
        };
        let after = closed.counters;
        let microseconds = |after: u64, before: u64| after.saturating_sub(before) as f64 / 1e6;
        SystemUse {
            window_seconds: after.moment.duration_since(before.moment).as_secs_f64(),
            windows: 1,
            cpus: self.cpu.online(),
            cpu_user_seconds: self.cpu.seconds(before.cpu.user, after.cpu.user),
            cpu_system_seconds: self.cpu.seconds(before.cpu.system, after.cpu.system),
            cpu_iowait_seconds: self.cpu.seconds(before.cpu.iowait, after.cpu.iowait),
            cpu_steal_seconds: self.cpu.seconds(before.cpu.steal, after.cpu.steal),
            agent_cpu_user_seconds: microseconds(after.own.user_microseconds, before.own.user_microseconds),
            agent_cpu_system_seconds: microseconds(after.own.system_microseconds, before.own.system_microseconds),
            filesystem_cpu_user_seconds: self.cpu.seconds(before.filesystem_user_ticks, after.filesystem_user_ticks),
            filesystem_process_unknown: self.processes.unknown(),
            device: after.disks.device.since(&before.disks.device),
            disks: after
                .disks
                .disks
                .iter()
                .zip(&before.disks.disks)
                .map(|(after, before)| after.since(before))
                .collect(),
            backing: after.disks.backing.since(&before.disks.backing),
            neighbours: after.disks.neighbours.since(&before.disks.neighbours),
            foreign_cpu_seconds: programs.as_ref().map(|(_, seconds, _)| *seconds),
            looked_seconds: programs.as_ref().map_or(0.0, |(looked, ..)| *looked),
            busiest_thread_share: busiest.as_ref().map(|busiest| busiest.share),
            busiest_thread: busiest.map(|busiest| busiest.name),
            dirtied_bytes: after
                .dirtied_bytes
                .zip(before.dirtied_bytes)
                .map(|(after, before)| after.saturating_sub(before)),
            dirty_bytes_max: closed.dirty_bytes,
            network_received_bytes: after.network.received.saturating_sub(before.network.received),
            network_sent_bytes: after.network.sent.saturating_sub(before.network.sent),
            pressure_io_some_seconds: microseconds(after.pressure_microseconds, before.pressure_microseconds),
            // Only the agent knows what a server used, and what the work wrote outside of windows.
            server_cpu_user_seconds: 0.0,
            server_cpu_system_seconds: 0.0,
            whole_device_write_bytes: 0,
            whole_application_write_bytes: 0,
        }
    }

    /// Bytes written to the lane's device so far; only differences mean something.
    pub fn device_write_bytes(&mut self) -> u64 {
        self.disks.read().device.write_bytes()
    }

    fn counters(&mut self) -> Counters {
        Counters {
            moment: Instant::now(),
            cpu: self.cpu.read(),
            own: own::read(),
            filesystem_user_ticks: self.processes.user_ticks(),
            disks: self.disks.read(),
            network: self.network.read(),
            pressure_microseconds: self.pressure.some_microseconds(),
            dirtied_bytes: self.memory.dirtied_bytes(),
        }
    }
}
