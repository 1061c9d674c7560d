//! Disk, machine and lanes in words.

use crate::clean::{clean, shell_line, shorten};
use crate::figures;
use crate::layout::Phrase;
use model::findings::Ceiling;
use model::lane::{Lane, ServerAnswers};
use model::machine::Machine;
use model::record::Profile;

/// What the disk can do without a filesystem; `None` where nothing was probed on a device.
pub(crate) fn ceilings(ceilings: &[Ceiling]) -> Option<Phrase> {
    // Several workloads may probe one profile at their own block sizes: the disk's best is shown.
    let best = |profile: Profile| {
        ceilings
            .iter()
            .filter(|ceiling| ceiling.profile == profile && ceiling.operations_per_second > 0.0)
            .max_by(|x, y| x.bandwidth_bytes_per_second.total_cmp(&y.bandwidth_bytes_per_second))
    };
    let mut parts = Vec::new();
    for (profile, name) in [(Profile::SeqRead, "read"), (Profile::SeqWrite, "write")] {
        if let Some(ceiling) = best(profile) {
            parts.push(format!("{name} {}", figures::rate("B/s", ceiling.bandwidth_bytes_per_second)));
        }
    }
    for (profile, name) in [(Profile::RandRead, "random read"), (Profile::RandWrite, "random write")] {
        if let Some(ceiling) = best(profile) {
            parts.push(format!("{name} {}", figures::iops(ceiling.operations_per_second)));
        }
    }
    if let Some(flush) = best(Profile::Flush) {
        let alone = flush.flush_seconds.map(|one| format!(" (flush alone {})", figures::brief(one)));
        let cycle = figures::brief(flush.operations_per_second.recip());
        parts.push(format!("write with its flush {cycle}{}", alone.unwrap_or_default()));
    }
    let through = ceilings.iter().any(|ceiling| ceiling.through_filesystem && ceiling.profile != Profile::Null);
    let said = parts.join(", ");
    (!said.is_empty())
        .then(|| Phrase::new(if through { format!("{said} (measured on a file, not the bare disk)") } else { said }))
}

/// What the engine does without any device, the slowest of its workloads; `None`: not measured.
pub(crate) fn null_ceiling(ceilings: &[Ceiling]) -> Option<String> {
    let counts = |ceiling: &&Ceiling| ceiling.profile == Profile::Null && ceiling.operations_per_second > 0.0;
    let null = ceilings.iter().filter(counts);
    let least = null.map(|ceiling| ceiling.operations_per_second).reduce(f64::min)?;
    Some(format!("Fairlane's own limit without a disk: at least {}", figures::rate("operations/s", least)))
}

/// How well the data of a job compresses, over all its runs.
pub(crate) fn compresses(low: f64, high: f64) -> String {
    let (low, high) = (figures::compression(low), figures::compression(high));
    let ratio = if low == high { high } else { format!("{low} to {high}") };
    format!("data compresses {ratio} with zstd -3")
}

/// Blocks of a job that were verified, over all its runs.
pub(crate) fn read_back(blocks: u64) -> String {
    format!("{} blocks read back and compared", figures::whole(blocks))
}

const VIRTUAL_MACHINE: &str = "virtual machine";

/// The machine in one sentence.
pub(crate) fn machine(machine: &Machine) -> Phrase {
    let device = &machine.device;
    let or = |text: &str, other: &str| if text.trim().is_empty() { other.to_owned() } else { shorten(text, 80) };
    let mut parts = vec![
        match machine.cpus {
            0 => or(&machine.cpu, "unknown CPU"),
            cpus => format!("{}, {cpus} CPUs", or(&machine.cpu, "unknown CPU")),
        },
        match machine.memory_bytes {
            0 => "unknown memory".to_owned(),
            bytes => format!("{} memory", figures::bytes(bytes)),
        },
        or(&machine.os, "unknown system"),
        format!("kernel {}", or(&machine.kernel, "unknown")),
    ];
    if !machine.governor.is_empty() {
        parts.push(format!("governor {}", shorten(&machine.governor, 40)));
    }
    if !machine.virtualization.is_empty() {
        let hypervisor = shorten(&machine.virtualization, 40);
        let known = hypervisor != VIRTUAL_MACHINE;
        parts.push(if known { format!("{VIRTUAL_MACHINE} ({hypervisor})") } else { hypervisor });
    }
    let mut disk = vec![format!("disk {}", or(&device.name, "unknown"))];
    if !device.model.trim().is_empty() {
        disk[0].push_str(&format!(" ({})", shorten(device.model.trim(), 60)));
    }
    if device.size_bytes > 0 {
        disk.push(figures::disk_bytes(device.size_bytes));
    }
    // Of a disk without a name and a queue nobody looked whether it rotates.
    let is_known = !device.name.is_empty() || !device.scheduler.is_empty() || device.rotational;
    disk.extend(
        is_known
            .then(|| if device.rotational { "rotational (as the kernel was told)" } else { "not rotating" }.to_owned()),
    );
    if !device.write_cache.is_empty() {
        disk.push(format!("cache {}", shorten(&device.write_cache, 40)));
    }
    if !device.scheduler.is_empty() {
        disk.push(format!("scheduler {}", shorten(&device.scheduler, 40)));
    }
    if !device.host_filesystem.is_empty() {
        let options = match device.host_mount_options.as_str() {
            "" => String::new(),
            options => format!(" ({})", shorten(options, 120)),
        };
        disk.push(format!("images on {}{options}", shorten(&device.host_filesystem, 40)));
    }
    Phrase::new(parts.join(", ")).say("; ").say(disk.join(", "))
}

/// How a lane was made: mkfs and mount, as commands, and what it promises.
pub(crate) struct LaneFacts {
    /// `mkfs.ext4 -F … DEVICE`; `None`: nothing was formatted.
    pub(crate) mkfs: Option<String>,
    /// `noatime,nodiscard`; `None`: none given.
    pub(crate) mount_options: Option<String>,
    /// Where and how large; geometry; what it does not promise.
    pub(crate) rest: String,
}

/// A lane's facts.
pub(crate) fn lane(lane: &Lane) -> LaneFacts {
    let mkfs = (!lane.mkfs_command.is_empty()).then(|| {
        let words: Vec<String> = lane.mkfs_command.iter().map(|word| word.replace("{device}", "DEVICE")).collect();
        shell_line(&words)
    });
    let mount_options = (!lane.mount_options.is_empty()).then(|| clean(&lane.mount_options.join(",")));
    let mut rest = vec![shorten(&lane.venue, 40)];
    if !lane.kernel.is_empty() {
        rest.push(format!("Linux {}", shorten(&lane.kernel, 60)));
    }
    if lane.size_bytes > 0 {
        let size = figures::bytes(lane.size_bytes);
        rest.push(if lane.disks > 1 { format!("{} disks of {size}", lane.disks) } else { size });
    }
    if mkfs.is_none() {
        let made = match lane.venue.as_str() {
            "library" => "formatted by the library itself",
            "memory" => "made when it is mounted",
            model::kinds::foreign::VENUE => "measured by another tool",
            _ => "used as it was found",
        };
        rest.extend(Some(shorten(&lane.filesystem, 40)).filter(|name| !name.is_empty()));
        rest.push(made.to_owned());
    }
    rest.extend(lane.geometry.iter().map(|fact| shorten(fact, 80)));
    let promises = &lane.promises;
    // What a server promises no client sees.
    let is_served = lane.is_served();
    if is_served {
        rest.push(of_server(lane.server_answers).to_owned());
    }
    let missing = [
        (is_served || promises.journal, "no crash-safe metadata"),
        (is_served || promises.fsync_reaches_stable_storage, "fsync does not reach stable storage"),
        (is_served || promises.barriers, "no write barriers"),
        (promises.outlives_cache, "fsync need not outlive its cache's disk"),
        (!lane.flushes_stop_short, "no flush reaches a disk here"),
    ];
    rest.extend(missing.iter().filter(|(kept, _)| !kept).map(|(_, words)| (*words).to_owned()));
    if promises.data_checksums {
        rest.push("checksums its data".to_owned());
    }
    if lane.is_self {
        rest.push("the first lane a second time: any difference between the two is noise".to_owned());
    }
    LaneFacts { mkfs, mount_options, rest: rest.join(", ") }
}

/// When the server of a directory confirms a sync, as far as somebody said it.
fn of_server(answers: Option<ServerAnswers>) -> &'static str {
    match answers {
        None => "what its server promises is not known",
        Some(ServerAnswers::Sync) => "its server confirms a sync once its disk has the data (as was said)",
        Some(ServerAnswers::Async) => "its server confirms a sync before its disk has the data (as was said)",
    }
}

/// A lane's facts in one sentence: name, mkfs, mount options, the rest.
pub(crate) fn lane_sentence(name: &str, facts: &LaneFacts) -> Phrase {
    let mut said = Phrase::default().name(name).say(": ");
    if let Some(mkfs) = &facts.mkfs {
        said = said.say(mkfs).say("; ");
    }
    if let Some(options) = &facts.mount_options {
        said = said.say(format!("mount -o {options}; "));
    }
    said.say(&facts.rest)
}
