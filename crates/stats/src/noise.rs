//! Foreign noise: rule 1 of method 3.1. A trial that was disturbed is repeated.

use crate::estimate::median;
use crate::words;
use model::record::{Probe, Profile};
use model::trial::{DeviceUse, SystemUse, Trial};
use model::{Disturbance, Disturber};

/// Share of the CPUs' time that steal or foreign work may take (method 3.1).
const CPU_SHARE: f64 = 0.05;
/// Share of the lane's own bytes that foreign bytes may reach (method 3.1).
const BYTES_SHARE: f64 = 0.02;
/// Foreign bytes below this are a log file or a mail, not a disturbance. Chosen: it is 2 % of 50 MiB, so
/// that it is the bound of trials that move less, in which a page of a log would else be 2 %; what hides
/// below it keeps a disk of 100 MB/s busy for 10 ms.
const BYTES_LEAST: f64 = 1024.0 * 1024.0;
/// CPU time is counted in ticks of 10 ms: a reading is off by up to one at either end of a window, so
/// that three are the least that cannot be the counting alone.
const TICKS_SECONDS: f64 = 0.03;
/// The host's overhead is measured on a quiet probe; real work may meet a little more. Chosen: on a host
/// that doubles flushed bytes (ext4, method 3.1) other programs may move half as much as the
/// lane's flushes do before they are seen; without it a host that adds 2 % more to real work than to the
/// probe would have every round repeated.
const GENEROUS: f64 = 1.5;
/// Bytes of other lanes below this are a superblock or a record of an idle log. Chosen: 16 pages, and as many again for
/// each second, so that what idle filesystems write every 5 to 30 s spoils no long window of work that writes nothing.
const NEIGHBOURS_LEAST: f64 = 64.0 * 1024.0;
/// Where no probe flushed: a journal commit of an ordinary host. Chosen: a descriptor, fourteen blocks and
/// a commit record of 4 KiB each; a host that writes more is taken for other programs, and its rounds
/// are marked.
const FLUSH_BYTES_UNKNOWN: f64 = 64.0 * 1024.0;

/// What the host's own filesystem under the images adds to the backing disk's traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostOverhead {
    /// Bytes at the backing disk for every flush of a lane, allowance included.
    pub bytes_per_flush: f64,
    /// Bytes at the backing disk per byte of a lane, beyond the byte itself, allowance included.
    pub extra_per_byte: f64,
}

impl Default for HostOverhead {
    fn default() -> Self {
        HostOverhead { bytes_per_flush: FLUSH_BYTES_UNKNOWN, extra_per_byte: 0.0 }
    }
}

impl HostOverhead {
    /// The overhead as the raw probes show it: medians, times 1.5. Profiles without flushes give
    /// the factor per byte, the flush profile the bytes per flush (an ext4 host doubles every
    /// flushed 4 KiB). Where no probe flushed, 64 KiB per flush are allowed.
    pub fn from_probes(probes: &[Probe]) -> HostOverhead {
        let seen = |flush: bool| {
            probes.iter().filter(move |probe| {
                probe.profile != Profile::Null
                    && (probe.profile == Profile::Flush) == flush
                    && total(&probe.system.backing) > 0.0
                    && total(&probe.system.device) > 0.0
            })
        };
        let per_byte = median(seen(false).map(|probe| extra(&probe.system) / total(&probe.system.device)));
        let extra_per_byte = GENEROUS * per_byte.unwrap_or(0.0);
        let per_flush = median(seen(true).filter(|probe| probe.system.device.flushes > 0).map(|probe| {
            let bytes = extra(&probe.system) - extra_per_byte / GENEROUS * total(&probe.system.device);
            bytes.max(0.0) / probe.system.device.flushes as f64
        }));
        let bytes_per_flush = per_flush.map_or(FLUSH_BYTES_UNKNOWN, |bytes| GENEROUS * bytes);
        HostOverhead { bytes_per_flush, extra_per_byte }
    }

    /// Bytes that the host may add to this work.
    fn allowed(&self, device: &DeviceUse) -> f64 {
        self.bytes_per_flush * device.flushes as f64 + self.extra_per_byte * total(device)
    }
}

/// What disturbed a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// Who, and what they took.
    pub disturbance: Disturbance,
    /// The same in one sentence.
    pub reason: String,
}

impl Foreign {
    fn new(by: Disturber, cpu_share: Option<f64>, reason: String) -> Foreign {
        Foreign { disturbance: Disturbance { by, cpu_share }, reason }
    }
}

/// What disturbed a trial; `None`: nothing did.
pub fn foreign(system: &SystemUse, overhead: &HostOverhead) -> Option<Foreign> {
    let cpu_seconds = system.window_seconds * f64::from(system.cpus);
    let steal = system.cpu_steal_seconds;
    if cpu_seconds > 0.0 && steal > CPU_SHARE * cpu_seconds && steal >= TICKS_SECONDS * 0.999 {
        let share = steal / cpu_seconds;
        let reason =
            format!("the hypervisor took {} of the CPU time ({steal:.2} s; 5 % is tolerated)", words::percent(share));
        return Some(Foreign::new(Disturber::Hypervisor, Some(share), reason));
    }
    // Where a process is the filesystem and nobody knows which, its time is no other program's.
    let known = !system.filesystem_process_unknown;
    let own = system.agent_cpu_user_seconds + system.filesystem_cpu_user_seconds + system.server_cpu_user_seconds;
    let other = system.cpu_user_seconds - own;
    if known && cpu_seconds > 0.0 && other > CPU_SHARE * cpu_seconds && other >= TICKS_SECONDS * 0.999 {
        let share = other / cpu_seconds;
        let reason =
            format!("other programs took {} of the CPU time ({other:.2} s; 5 % is tolerated)", words::percent(share));
        return Some(Foreign::new(Disturber::OtherPrograms, Some(share), reason));
    }
    // Their system calls too: user time alone does not show a program that only reads and writes.
    let looked = system.looked_seconds * f64::from(system.cpus);
    if let Some(other) = system.foreign_cpu_seconds
        && looked > 0.0
        && other > CPU_SHARE * looked
        && other >= TICKS_SECONDS * 0.999
    {
        let share = other / looked;
        let reason = format!(
            "other programs took {} of the CPU time with their system calls ({other:.2} s; 5 % is tolerated)",
            words::percent(share)
        );
        return Some(Foreign::new(Disturber::OtherPrograms, Some(share), reason));
    }
    let own = total(&system.device);
    if total(&system.backing) > 0.0 {
        let foreign = extra(system) - overhead.allowed(&system.device);
        if foreign > BYTES_SHARE * own && foreign >= BYTES_LEAST {
            let reason = format!(
                "other programs moved {} on the disk beside the lane's {} (2 % is tolerated)",
                words::bytes(foreign),
                words::bytes(own)
            );
            return Some(Foreign::new(Disturber::OtherPrograms, None, reason));
        }
    }
    None
}

/// What other lanes did to the disk beside a trial, in one sentence; `None`: no more than 2 % of what its own lane did
/// (method 3.1), in any of its groups.
pub fn neighbours(trial: &Trial) -> Option<String> {
    let groups = || trial.groups.iter().filter_map(|group| Some((Some(&group.name), group.system.as_ref()?)));
    let whole = [(None, &trial.system)];
    let disturbed = |(_, system): &(Option<&String>, &SystemUse)| {
        let others = total(&system.neighbours);
        others > BYTES_SHARE * total(&system.device) && others >= NEIGHBOURS_LEAST * (1.0 + system.window_seconds)
    };
    let (group, system) = match groups().next() {
        Some(_) => groups().find(disturbed),
        None => whole.into_iter().find(disturbed),
    }?;
    let during = group.map(|group| format!("{group}: ")).unwrap_or_default();
    Some(format!(
        "{during}other lanes moved {} on the disk beside {}'s {} (2 % is tolerated)",
        words::bytes(total(&system.neighbours)),
        trial.lane,
        words::bytes(total(&system.device))
    ))
}

/// Bytes at the backing disk that no lane accounts for.
fn extra(system: &SystemUse) -> f64 {
    (total(&system.backing) - total(&system.device) - total(&system.neighbours)).max(0.0)
}

/// Bytes read and written; a sum of floats, so that broken counters cannot overflow.
fn total(device: &DeviceUse) -> f64 {
    device.read_bytes as f64 + device.write_bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn foreign(system: &SystemUse, overhead: &HostOverhead) -> Option<String> {
        super::foreign(system, overhead).map(|found| found.reason)
    }

    #[test]
    fn who_disturbed_and_what_they_took_is_told_beside_the_sentence() {
        let of = |system: SystemUse| super::foreign(&system, &HostOverhead::default()).unwrap().disturbance;
        let stolen = of(SystemUse { cpu_steal_seconds: 0.4, ..quiet() });
        assert_eq!((stolen.by, stolen.cpu_share), (Disturber::Hypervisor, Some(0.1)));
        let busy = of(SystemUse { cpu_user_seconds: 1.25, ..quiet() });
        assert_eq!((busy.by, busy.cpu_share), (Disturber::OtherPrograms, Some(0.25)));
        let backing = DeviceUse { write_bytes: 200 * MIB, ..Default::default() };
        let disk = of(SystemUse { backing, ..quiet() });
        assert_eq!((disk.by, disk.cpu_share), (Disturber::OtherPrograms, None));
    }

    fn quiet() -> SystemUse {
        SystemUse {
            window_seconds: 1.0,
            cpus: 4,
            cpu_user_seconds: 0.30,
            agent_cpu_user_seconds: 0.25,
            device: DeviceUse { write_bytes: 100 * MIB, ..Default::default() },
            backing: DeviceUse { write_bytes: 100 * MIB, ..Default::default() },
            ..Default::default()
        }
    }

    fn flush_probe() -> Probe {
        Probe {
            profile: Profile::Flush,
            workload: "commit".into(),
            round: 1,
            ground: 0,
            disk: None,
            operations_per_second: 1000.0,
            bandwidth_bytes_per_second: 4_096_000.0,
            through_filesystem: false,
            system: SystemUse {
                window_seconds: 1.0,
                cpus: 4,
                device: DeviceUse { writes: 1000, write_bytes: 4_096_000, flushes: 1000, ..Default::default() },
                backing: DeviceUse { writes: 2000, write_bytes: 8_192_000, flushes: 1000, ..Default::default() },
                ..Default::default()
            },
        }
    }

    #[test]
    fn a_quiet_trial_is_quiet() {
        assert_eq!(foreign(&quiet(), &HostOverhead::default()), None);
        assert_eq!(foreign(&SystemUse::default(), &HostOverhead::default()), None);
    }

    #[test]
    fn steal_is_named_with_its_share() {
        let system = SystemUse { cpu_steal_seconds: 0.4, ..quiet() };
        let reason = foreign(&system, &HostOverhead::default()).unwrap();
        assert!(reason.contains("hypervisor took 10 %"), "{reason}");
        assert_eq!(foreign(&SystemUse { cpu_steal_seconds: 0.19, ..quiet() }, &HostOverhead::default()), None);
    }

    #[test]
    fn foreign_programs_are_told_from_the_agent_and_from_single_ticks() {
        let busy = SystemUse { cpu_user_seconds: 0.65, ..quiet() };
        assert!(foreign(&busy, &HostOverhead::default()).unwrap().contains("other programs took 10 %"));
        let own = SystemUse { cpu_user_seconds: 0.65, agent_cpu_user_seconds: 0.6, ..quiet() };
        assert_eq!(foreign(&own, &HostOverhead::default()), None);
        // A FUSE filesystem works in a process of its own, known or not.
        let served = SystemUse { filesystem_cpu_user_seconds: 0.35, ..busy.clone() };
        assert_eq!(foreign(&served, &HostOverhead::default()), None);
        let database = SystemUse { server_cpu_user_seconds: 0.35, ..busy.clone() };
        assert_eq!(foreign(&database, &HostOverhead::default()), None, "a server works for the lane");
        let partly = SystemUse { filesystem_cpu_user_seconds: 0.12, ..busy.clone() };
        assert!(foreign(&partly, &HostOverhead::default()).unwrap().contains("other programs took 7 %"));
        let somewhere = SystemUse { filesystem_process_unknown: true, ..busy };
        assert_eq!(foreign(&somewhere, &HostOverhead::default()), None);
        let stolen = SystemUse { cpu_steal_seconds: 0.4, ..somewhere };
        assert!(foreign(&stolen, &HostOverhead::default()).unwrap().contains("hypervisor"));
        // Two ticks in a window of 0.1 s on one CPU are 20 %, and mean nothing.
        let short = SystemUse {
            window_seconds: 0.1,
            cpus: 1,
            cpu_user_seconds: 0.02,
            agent_cpu_user_seconds: 0.0,
            ..Default::default()
        };
        assert_eq!(foreign(&short, &HostOverhead::default()), None);
    }

    #[test]
    fn programs_that_only_call_the_kernel_are_seen() {
        let copies = SystemUse { foreign_cpu_seconds: Some(0.5), looked_seconds: 1.2, ..quiet() };
        let reason = foreign(&copies, &HostOverhead::default()).unwrap();
        assert!(reason.contains("other programs took 10 % of the CPU time with their system calls"), "{reason}");
        for (seconds, looked) in [(Some(0.2), 1.2), (Some(0.02), 0.05), (Some(0.5), 0.0), (None, 1.2)] {
            let system = SystemUse { foreign_cpu_seconds: seconds, looked_seconds: looked, ..quiet() };
            assert_eq!(foreign(&system, &HostOverhead::default()), None, "{seconds:?} in {looked}");
        }
    }

    #[test]
    fn foreign_bytes_count_beyond_the_neighbours_and_the_hosts_overhead() {
        let mut system = quiet();
        system.backing.write_bytes += 3 * MIB;
        let reason = foreign(&system, &HostOverhead::default()).unwrap();
        assert!(reason.contains("moved 3 MiB") && reason.contains("100 MiB"), "{reason}");
        system.neighbours.write_bytes = 3 * MIB;
        assert_eq!(foreign(&system, &HostOverhead::default()), None);
        let bare = SystemUse { backing: DeviceUse::default(), ..quiet() };
        assert_eq!(foreign(&bare, &HostOverhead::default()), None, "no backing disk, nothing to compare");
    }

    #[test]
    fn an_ext4_host_that_doubles_flushed_blocks_is_not_foreign_noise() {
        let overhead = HostOverhead::from_probes(&[flush_probe()]);
        assert!((overhead.bytes_per_flush - 1.5 * 4096.0).abs() < 1.0, "{overhead:?}");
        let mut system = quiet();
        system.device = DeviceUse { write_bytes: 69 * MIB, flushes: 69 * 256, ..Default::default() };
        system.backing = DeviceUse { write_bytes: 139 * MIB, ..Default::default() };
        assert_eq!(foreign(&system, &overhead), None);
        system.backing.write_bytes = 200 * MIB;
        assert!(foreign(&system, &overhead).is_some());
    }

    #[test]
    fn probes_without_a_backing_disk_leave_the_default() {
        let mut probe = flush_probe();
        probe.system.backing = DeviceUse::default();
        assert_eq!(HostOverhead::from_probes(&[probe]), HostOverhead::default());
    }
}
