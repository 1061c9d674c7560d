//! The machine a race ran on.

use crate::disk::{Behind, QueueLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine a race ran on; a record is resumed only where `same_ground` holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// `PRETTY_NAME` of os-release.
    pub os: String,
    /// `uname -r`.
    pub kernel: String,
    /// `uname -v`.
    pub kernel_build: String,
    /// Model name.
    pub cpu: String,
    /// Online CPUs.
    pub cpus: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// Bytes per second that all CPUs together copied at their best, within their caches; 0: not measured.
    pub memory_copy_bytes_per_second: f64,
    /// cpufreq governor of the first CPU; empty where the kernel shows none.
    pub governor: String,
    /// vm.dirty_ratio.
    pub dirty_ratio: u32,
    /// vm.dirty_background_ratio.
    pub dirty_background_ratio: u32,
    /// vm.dirty_expire_centisecs.
    pub dirty_expire_centisecs: u32,
    /// vm.dirty_writeback_centisecs.
    pub dirty_writeback_centisecs: u32,
    /// vm.dirty_bytes; 0: the ratio counts. Absent in records of before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// vm.dirty_background_bytes; 0: the ratio counts. Absent in records of before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_background_bytes: Option<u64>,
    /// vm.vfs_cache_pressure; absent in records of before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vfs_cache_pressure: Option<u32>,
    /// vm.swappiness; absent in records of before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swappiness: Option<u32>,
    /// A stable identity: /etc/machine-id, hashed; empty where there is none.
    pub machine_id_hash: String,
    /// Hypervisor as the CPU shows it; empty: none seen.
    pub virtualization: String,
    /// The disk under the lanes.
    pub device: Device,
    /// The disks behind the first, of lanes that take turns on several; empty: there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_disks: Vec<Device>,
    /// Versions of the tools used: `mkfs.ext4 1.47.0`.
    pub tools: Vec<String>,
}

/// The disk under the lanes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Device {
    /// Kernel name: `nvme0n1`.
    pub name: String,
    /// Model as the device tells it; empty where it does not.
    pub model: String,
    /// Size.
    pub size_bytes: u64,
    /// Spinning, as the kernel believes.
    pub rotational: bool,
    /// `write back` or `write through`.
    pub write_cache: String,
    /// Forced unit access.
    pub fua: bool,
    /// Active I/O scheduler.
    pub scheduler: String,
    /// Filesystem that holds the images; empty on bare devices.
    pub host_filesystem: String,
    /// Its mount options.
    pub host_mount_options: String,
    /// What filesystems see of it; absent in records of before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
    /// What answers for it in place of a medium; absent where the kernel shows nothing of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Behind>,
}

impl Machine {
    /// Operating system, kernel and CPU in one line; what is not known is left out.
    pub fn in_one_line(&self) -> String {
        let kernel = if self.kernel.is_empty() { String::new() } else { format!("Linux {}", self.kernel) };
        let cpu = match (self.cpu.as_str(), self.cpus) {
            ("", _) => String::new(),
            (cpu, 0 | 1) => cpu.to_owned(),
            (cpu, cpus) => format!("{cpus} x {cpu}"),
        };
        [self.os.clone(), kernel, cpu].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Settings of the kernel's writeback and page cache, by their names in /proc/sys/vm; what the record does not tell is left
    /// out.
    pub fn kernel_settings(&self) -> Vec<(&'static str, u64)> {
        let always = [
            ("dirty_ratio", self.dirty_ratio),
            ("dirty_background_ratio", self.dirty_background_ratio),
            ("dirty_expire_centisecs", self.dirty_expire_centisecs),
            ("dirty_writeback_centisecs", self.dirty_writeback_centisecs),
        ];
        // Of another tool's machine nobody looked them up.
        let is_told = always.iter().any(|(_, value)| *value > 0);
        let later = [
            ("dirty_bytes", self.dirty_bytes),
            ("dirty_background_bytes", self.dirty_background_bytes),
            ("vfs_cache_pressure", self.vfs_cache_pressure.map(u64::from)),
            ("swappiness", self.swappiness.map(u64::from)),
        ];
        let always = always.into_iter().filter(|_| is_told).map(|(name, value)| (name, u64::from(value)));
        always.chain(later.into_iter().filter_map(|(name, value)| Some((name, value?)))).collect()
    }

    /// The disks behind the first: names, models and sizes, which tell two apart.
    pub fn further_disks_in_words(&self) -> String {
        let words = |disk: &Device| format!("{} {} {}", disk.name, disk.model, disk.size_bytes);
        self.further_disks.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    /// Why a race begun on `self` cannot go on on `other`; `None`: it can.
    pub fn differs_from(&self, other: &Machine) -> Option<String> {
        let pairs = [
            ("machine", &self.machine_id_hash, &other.machine_id_hash),
            ("kernel", &self.kernel, &other.kernel),
            ("kernel build", &self.kernel_build, &other.kernel_build),
            ("CPU", &self.cpu, &other.cpu),
            ("disk", &self.device.name, &other.device.name),
            ("disk model", &self.device.model, &other.device.model),
            ("further disk", &self.further_disks_in_words(), &other.further_disks_in_words()),
        ];
        for (what, mine, theirs) in pairs {
            if mine != theirs {
                return Some(format!("another {what} ({mine:?}, here {theirs:?})"));
            }
        }
        if self.cpus != other.cpus || self.memory_bytes.abs_diff(other.memory_bytes) > self.memory_bytes / 50 {
            return Some(format!(
                "another size of machine ({} CPUs and {} bytes of memory, here {} and {})",
                self.cpus, self.memory_bytes, other.cpus, other.memory_bytes
            ));
        }
        None
    }
}

/// What the identity of a machine begins with where a record was shared: it does not say which machine it was.
const UNTOLD: &str = "shared-";
/// What a boot begins with there.
const UNTOLD_BOOT: &str = "boot-of-shared-";

/// What stands for a machine in a record that is shared: another text in each record, by when its race began and its seed,
/// which stand in it too. Two records of one machine do not show that they are.
pub fn untold_identity(started: &str, seed: u64) -> String {
    let hash = crate::text::fnv1a(format!("{started} {seed}").bytes());
    format!("{UNTOLD}{hash:016x}")
}

/// What stands for a boot beside such an identity; `number`: which of the record's boots it is, from 1.
pub fn untold_boot(identity: &str, number: usize) -> String {
    format!("{UNTOLD_BOOT}{}-{number}", identity.strip_prefix(UNTOLD).unwrap_or(identity))
}

/// Whether the identity of a machine, or a boot, is such a placeholder: whether two of them are one, nobody can tell.
pub fn is_untold(identity: &str) -> bool {
    identity.starts_with(UNTOLD) || identity.starts_with(UNTOLD_BOOT)
}

/// Whether a filesystem shows owners and rights that its mount options made up, or that a server decides; `magic` is its
/// `f_type`, as statfs(2) answers it (include/uapi/linux/magic.h).
pub fn keeps_no_owners(magic: u32) -> bool {
    /// msdos, exfat, ntfs, ntfs3, smb, smb2, cifs, 9p, nfs, fuse, ceph, afs, hfs, hfs+, vboxsf.
    const MAGIC: [u32; 15] = [
        0x4d44,
        0x2011_bab0,
        0x5346_544e,
        0x7366_746e,
        0x517b,
        0xfe53_4d42,
        0xff53_4d42,
        0x0102_1997,
        0x6969,
        0x6573_5546,
        0x00c3_6400,
        0x5346_414f,
        0x4244,
        0x482b,
        0x786f_4256,
    ];
    MAGIC.contains(&magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_kernel_that_a_record_does_not_hold_are_not_told() {
        let read = |value: serde_json::Value| serde_json::from_value::<Machine>(value).unwrap();
        let old = read(serde_json::json!({
            "dirty_ratio": 20, "dirty_background_ratio": 10, "dirty_expire_centisecs": 3000,
        }));
        let told = [
            ("dirty_ratio", 20_u64),
            ("dirty_background_ratio", 10),
            ("dirty_expire_centisecs", 3000),
            ("dirty_writeback_centisecs", 0),
        ];
        assert_eq!(old.kernel_settings(), told);
        let written = serde_json::to_value(&old).unwrap();
        assert!(written.get("dirty_bytes").is_none() && written.get("swappiness").is_none(), "{written}");
        let now = Machine { dirty_bytes: Some(0), swappiness: Some(60), ..old };
        let later = [("dirty_bytes", 0_u64), ("swappiness", 60)];
        assert_eq!(now.kernel_settings(), [&told[..], &later[..]].concat());
        assert_eq!(read(serde_json::to_value(&now).unwrap()), now);
        assert!(Machine::default().kernel_settings().is_empty(), "nobody looked");
    }
}
