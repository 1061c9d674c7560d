//! Whether the CPU slowed itself down because it was hot: then the same work costs more time, in
//! whichever lane had the bad luck.

use model::{Flag, Mark};
use std::fs;
use std::path::Path;

/// Where the kernel counts it (Intel's processors; Documentation/ABI/testing/sysfs-devices-system-cpu). Kernels of ARM
/// count nothing of the kind: firmware slows those down unseen.
pub const CPUS: &str = "/sys/devices/system/cpu";

/// How often the CPUs slowed down for heat since they were started; `None` where the kernel does not
/// count it, as in virtual machines and on ARM.
pub fn throttle_events(cpus: &Path) -> Option<u64> {
    let mut events = None;
    for entry in fs::read_dir(cpus).ok()?.flatten() {
        for counter in ["core_throttle_count", "package_throttle_count"] {
            let counted = fs::read_to_string(entry.path().join("thermal_throttle").join(counter));
            if let Some(count) = counted.ok().and_then(|text| text.trim().parse::<u64>().ok()) {
                events = Some(events.unwrap_or(0) + count);
            }
        }
    }
    events
}

/// The flag of a round's trials during which the CPUs slowed down.
pub fn flag(before: Option<u64>, after: Option<u64>) -> Option<Flag> {
    let times = after?.checked_sub(before?).filter(|&times| times > 0)?;
    Some(Mark::CpuThrottled.with(format!("the CPUs slowed down for heat {times} times during this round")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_cpus_are_added_and_a_machine_without_them_is_not_called_hot() {
        let cpus = tempfile::tempdir().unwrap();
        assert_eq!(throttle_events(cpus.path()), None);
        for (cpu, core, package) in [("cpu0", "3\n", "1\n"), ("cpu1", "4\n", "1\n")] {
            let folder = cpus.path().join(cpu).join("thermal_throttle");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("core_throttle_count"), core).unwrap();
            fs::write(folder.join("package_throttle_count"), package).unwrap();
        }
        fs::create_dir(cpus.path().join("cpuidle")).unwrap();
        assert_eq!(throttle_events(cpus.path()), Some(9));
    }

    #[test]
    fn only_what_happened_during_the_round_marks_it() {
        assert!(flag(Some(7), Some(9)).unwrap().to_string().contains("2 times"));
        for (before, after) in [(Some(7), Some(7)), (None, Some(9)), (Some(7), None), (Some(9), Some(1))] {
            assert_eq!(flag(before, after), None);
        }
    }
}
