//! What a block device is to a filesystem, and what stands behind it: its queue, and whether it is memory.

use crate::host;
use crate::loop_device::backing_of;
use model::disk::{Behind, BehindKind, QueueLimits};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Devices on devices are followed so far: deeper stacks are nobody's.
const DEEPEST_STACK: u32 = 8;

/// The queue of a block device, as the kernel names it. A partition has none: its disk's is the one that mkfs and the
/// filesystem see. `None`: there is no such device.
pub fn queue_limits(name: &str) -> Option<QueueLimits> {
    let folder = block_folder(name)?.join("queue");
    if !folder.is_dir() {
        return None;
    }
    let text = |file: &str| Some(std::fs::read_to_string(folder.join(file)).ok()?.trim().to_owned());
    let number = |file: &str| text(file)?.parse().ok();
    let flag = |file: &str| Some(text(file)? == "1");
    Some(QueueLimits {
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        minimum_io_bytes: number("minimum_io_size"),
        optimal_io_bytes: number("optimal_io_size"),
        write_cache: text("write_cache"),
        fua: flag("fua"),
        discard_max_bytes: number("discard_max_bytes"),
        discard_granularity_bytes: number("discard_granularity"),
        rotational: flag("rotational"),
    })
}

/// What answers for a disk in place of a medium: memory of this machine, or its page cache. Stacks (device mapper, md)
/// are followed to their members, and are memory where all of those are; loop devices to what carries their file.
pub fn behind(name: &str) -> Option<Behind> {
    behind_within(name, DEEPEST_STACK)
}

fn behind_within(name: &str, depth: u32) -> Option<Behind> {
    let disk = host::whole_disk(name);
    let found = |kind| Some(Behind { kind, device: disk.clone() });
    if is_memory(&disk) {
        return found(BehindKind::Memory);
    }
    let folder = block_folder(&disk).filter(|_| depth > 0)?;
    if let Some(file) = backing_of(&disk) {
        let carrier = host::find(&file).ok()?;
        if matches!(carrier.filesystem.as_str(), "tmpfs" | "ramfs" | "devtmpfs") {
            return found(BehindKind::Memory);
        }
        if std::fs::read_to_string(folder.join("loop/dio")).is_ok_and(|direct| direct.trim() == "0") {
            return found(BehindKind::PageCache);
        }
        return behind_within(&carrier.block?, depth - 1);
    }
    let all: Option<Vec<Behind>> = members(&folder).iter().map(|member| behind_within(member, depth - 1)).collect();
    all?.into_iter().next()
}

/// The devices that a stack is made of, as the kernel names them; empty: it is none.
fn members(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("slaves")).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The whole disks that a device lies on in the end: of a stack (device mapper, md) those of its members.
pub(crate) fn lowest(name: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::from([host::whole_disk(name)]);
    for _ in 0..DEEPEST_STACK {
        let below = |disk: &String| match block_folder(disk).map(|folder| members(&folder)) {
            Some(members) if !members.is_empty() => members.iter().map(|member| host::whole_disk(member)).collect(),
            _ => vec![disk.clone()],
        };
        all = all.iter().flat_map(below).collect();
    }
    all
}

/// Block devices that are memory by their driver: drivers/block/brd.c and drivers/block/zram.
fn is_memory(disk: &str) -> bool {
    ["ram", "zram"].iter().any(|driver| {
        disk.strip_prefix(driver)
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// The folder of a whole disk in sysfs. Names are the kernel's own; what is none of them is not looked for.
fn block_folder(name: &str) -> Option<PathBuf> {
    let disk = host::whole_disk(name);
    let plain = !disk.is_empty() && !disk.contains('/') && disk != "." && disk != "..";
    plain.then(|| Path::new("/sys/block").join(disk)).filter(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_has_the_queue_of_its_disk() {
        let Ok(entries) = std::fs::read_dir("/sys/class/block") else { return };
        let mut looked = 0;
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let (limits, whole) = (queue_limits(&name), queue_limits(&host::whole_disk(&name)));
            // Loop devices come and go meanwhile.
            let Some((limits, whole)) = limits.zip(whole) else {
                assert!(!Path::new("/sys/class/block").join(&name).exists(), "{name} has no queue");
                continue;
            };
            assert_eq!(limits, whole, "{name}");
            let logical = limits.logical_block_bytes.expect("every kernel tells it");
            assert!(logical >= 512 && limits.physical_block_bytes >= Some(logical), "{name}: {limits:?}");
            looked += 1;
        }
        assert!(looked > 0 || !Path::new("/sys/block").is_dir());
    }

    #[test]
    fn what_is_no_device_has_neither_queue_nor_anything_behind_it() {
        for name in ["", ".", "..", "../../proc", "no-such-disk", "loop/0"] {
            assert_eq!((queue_limits(name), behind(name)), (None, None), "{name:?}");
        }
    }

    #[test]
    fn memory_is_known_by_its_driver_and_not_by_a_beginning() {
        let memory: Vec<&str> =
            ["ram0", "zram12", "ramdisk", "ram", "sda", "zramx"].into_iter().filter(|&name| is_memory(name)).collect();
        assert_eq!(memory, ["ram0", "zram12"]);
    }
}
