//! Reads what the machine is. Whatever cannot be read stays empty: a record is never refused for it.

use super::processor;
use model::lane::Lane;
use model::machine::{Device, Machine};
use model::operations::Method;
use model::workload::{Kind, Workload};
use std::fs;
use std::path::Path;

/// Reads the machine and the disk that the kernel names `disk` (empty: none).
pub fn read(disk: &str) -> Machine {
    let cpuinfo = text("/proc/cpuinfo");
    let root = Path::new("/");
    let uname = rustix::system::uname();
    let memory_kib = text("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .unwrap_or(0);
    Machine {
        os: os_name(),
        kernel: uname.release().to_string_lossy().into_owned(),
        kernel_build: uname.version().to_string_lossy().into_owned(),
        cpu: processor::name(&cpuinfo, root, &uname.machine().to_string_lossy()),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        memory_bytes: memory_kib * 1024,
        memory_copy_bytes_per_second: 0.0,
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").trim().to_owned(),
        dirty_ratio: number("/proc/sys/vm/dirty_ratio"),
        dirty_background_ratio: number("/proc/sys/vm/dirty_background_ratio"),
        dirty_expire_centisecs: number("/proc/sys/vm/dirty_expire_centisecs"),
        dirty_writeback_centisecs: number("/proc/sys/vm/dirty_writeback_centisecs"),
        dirty_bytes: told("/proc/sys/vm/dirty_bytes"),
        dirty_background_bytes: told("/proc/sys/vm/dirty_background_bytes"),
        vfs_cache_pressure: told("/proc/sys/vm/vfs_cache_pressure"),
        swappiness: told("/proc/sys/vm/swappiness"),
        machine_id_hash: machine_id_hash(),
        virtualization: processor::virtualization(&cpuinfo, root),
        further_disks: Vec::new(),
        device: if disk.is_empty() { Device::default() } else { lanes::host::describe_disk(disk) },
        tools: Vec::new(),
    }
}

fn os_name() -> String {
    text("/etc/os-release")
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim_matches('"').to_owned())
        .unwrap_or_default()
}

/// The machine's id is private (machine-id(5)): only a hash leaves it. FNV-1a, 64 bits.
fn machine_id_hash() -> String {
    let id = text("/etc/machine-id");
    if id.trim().is_empty() {
        return String::new();
    }
    let hash = model::text::fnv1a(format!("fairlane{}", id.trim()).bytes());
    format!("{hash:016x}")
}

/// What the mkfs programs of these lanes call themselves, fio where it makes the load, and the tools
/// that operations are started as. Only those of the table are asked: what a program of the user's
/// own does with `-V` is not known.
pub fn tool_versions(lanes: &[Lane], workloads: &[Workload]) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    let known = lanes.iter().filter(|lane| lanes::filesystems::find(&lane.filesystem).is_some());
    let mkfs = known.filter_map(|lane| lane.mkfs_command.first()).map(|program| (program.as_str(), "-V"));
    let fio = workloads.iter().any(|workload| matches!(workload.kind, Kind::Fio(_))).then_some(("fio", "--version"));
    let is_process = |workload: &Workload| match &workload.kind {
        Kind::Operations(operations) => operations.method == Method::ProcessPerOperation,
        _ => false,
    };
    // Nearly all of these tools come in one package.
    let processes = workloads.iter().any(is_process).then_some(("dd", "--version"));
    for (program, option) in mkfs.chain(fio).chain(processes) {
        let Some(path) = lanes::command::find_program(program) else { continue };
        let asked = std::process::Command::new(path).arg(option).stdin(std::process::Stdio::null()).output();
        let Ok(output) = asked else { continue };
        // mke2fs says it on standard error.
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if let Some(line) = said.lines().find(|line| !line.trim().is_empty()) {
            let line = format!("{program}: {}", line.trim());
            if !versions.contains(&line) {
                versions.push(line);
            }
        }
    }
    for workload in workloads {
        if let Kind::Programs(programs) = &workload.kind {
            for name in programs.programs() {
                let Some(version) = engine::programs::version(name) else { continue };
                let version = format!("{name}: {version}");
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
        }
        let Kind::Oltp(oltp) = &workload.kind else { continue };
        let version = match engine::databases::version(oltp.server) {
            Some(version) => format!("{}: {version}", oltp.server.name()),
            None => format!("sqlite: {}", engine::databases::sqlite_version()),
        };
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions
}

/// What a reader should know about this machine before believing figures from it.
pub fn warnings(machine: &Machine) -> Vec<String> {
    let mut warnings = Vec::new();
    if !matches!(machine.governor.as_str(), "" | "performance") {
        warnings.push(format!(
            "the CPU governor is `{}`: clock changes add noise; `performance` is steadier",
            machine.governor
        ));
    }
    if !machine.virtualization.is_empty() {
        warnings.push("this is a virtual machine: its disk may be shared, cached by the host or capped".to_owned());
    }
    warnings
}

/// This boot's identity.
pub fn boot_id() -> String {
    text("/proc/sys/kernel/random/boot_id").trim().to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn number(path: &str) -> u32 {
    told(path).unwrap_or(0)
}

/// A number of the kernel's; `None`: it tells none.
fn told<T: std::str::FromStr>(path: &str) -> Option<T> {
    text(path).trim().parse().ok()
}
