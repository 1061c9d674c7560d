//! What the CPUs are called, and whether they are a virtual machine's.
//!
//! x86 says both in /proc/cpuinfo. ARM kernels print the numbers of the identification register (MIDR_EL1) there, and
//! what machine it is stands in the device tree or in the firmware's tables.

use std::fs;
use std::path::Path;

/// Who builds ARM processors, by `CPU implementer`: the table of lscpu(1).
const IMPLEMENTERS: [(u32, &str); 15] = [
    (0x00, "QEMU"),
    (0x41, "ARM"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x50, "APM"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x56, "Marvell"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0x70, "Phytium"),
    (0xc0, "Ampere"),
];

/// Processors that run Linux with disks worth a race, by implementer and `CPU part`: the table of lscpu(1).
const PARTS: [(u32, u32, &str); 45] = [
    (0x00, 0x051, "max"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "Kunpeng-920"),
    (0x4e, 0x004, "Carmel"),
    (0x61, 0x022, "M1 Icestorm"),
    (0x61, 0x023, "M1 Firestorm"),
    (0x70, 0x660, "FTC660"),
    (0x70, 0x661, "FTC661"),
    (0x70, 0x662, "FTC662"),
    (0x70, 0x663, "FTC663"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
];

/// How the firmware's tables of virtual machines begin: the table of systemd-detect-virt(1), which looks in these files.
const VIRTUAL: [&str; 17] = [
    "KVM",
    "OpenStack",
    "KubeVirt",
    "Amazon EC2",
    "QEMU",
    "VMware",
    "VMW",
    "innotek GmbH",
    "VirtualBox",
    "Oracle Corporation",
    "Xen",
    "Bochs",
    "Parallels",
    "BHYVE",
    "Hyper-V",
    "Apple Virtualization",
    "Google Compute Engine",
];
const TABLES: [&str; 5] = ["product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"];

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The values of a key of /proc/cpuinfo, one a CPU.
fn values<'a>(cpuinfo: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

/// What the CPUs are called, from the text of /proc/cpuinfo. `root`: the folder of the system. Where nothing names them,
/// the architecture does.
pub fn name(cpuinfo: &str, root: &Path, architecture: &str) -> String {
    if let Some(name) = values(cpuinfo, "model name").next() {
        return name.to_owned();
    }
    let board = text(&root.join("proc/device-tree/model"));
    let board = board.trim_matches(['\0', '\n', ' ']);
    match (board, arm(cpuinfo)) {
        ("", None) => architecture.to_owned(),
        ("", Some(cpus)) => cpus,
        (board, None) => board.to_owned(),
        (board, Some(cpus)) => format!("{board} ({cpus})"),
    }
}

/// `ARM Cortex-A76 + ARM Cortex-A55`: every kind of CPU once, in the order of the first of each.
fn arm(cpuinfo: &str) -> Option<String> {
    let hexadecimal = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let numbers = |key| values(cpuinfo, key).map(hexadecimal);
    let mut kinds: Vec<String> = Vec::new();
    for (implementer, part) in numbers("CPU implementer").zip(numbers("CPU part")) {
        let (implementer, part) = (implementer?, part?);
        let maker = IMPLEMENTERS.iter().find(|row| row.0 == implementer).map(|row| row.1.to_owned());
        let maker = maker.unwrap_or_else(|| format!("implementer {implementer:#04x}"));
        let known = PARTS.iter().find(|row| (row.0, row.1) == (implementer, part)).map(|row| row.2.to_owned());
        let kind = format!("{maker} {}", known.unwrap_or_else(|| format!("part {part:#05x}")));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (!kinds.is_empty()).then(|| kinds.join(" + "))
}

/// `virtual machine (QEMU)`, or nothing where the machine is none.
pub fn virtualization(cpuinfo: &str, root: &Path) -> String {
    let vendor = text(&root.join("sys/class/dmi/id/sys_vendor"));
    let vendor = vendor.trim();
    // x86 has a flag of its own; without flags the machine itself has to tell.
    let flag = values(cpuinfo, "flags").next().map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    if !flag.unwrap_or_else(|| machine_is_virtual(root)) {
        return String::new();
    }
    match vendor {
        "" => "virtual machine".to_owned(),
        vendor => format!("virtual machine ({vendor})"),
    }
}

fn machine_is_virtual(root: &Path) -> bool {
    let table = |name: &str| text(&root.join("sys/class/dmi/id").join(name));
    // Whole machines of a cloud say so in their product's name: `c6g.metal`.
    let whole = table("product_name").trim().ends_with(".metal");
    let says = |name: &&str| VIRTUAL.iter().any(|start| table(name).starts_with(start));
    let tree = root.join("proc/device-tree");
    // A hypervisor's own node, or the device by which QEMU hands over its settings.
    let of_qemu = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with("fw-cfg@");
    (!whole && TABLES.iter().any(says))
        || tree.join("hypervisor").is_dir()
        || fs::read_dir(tree).is_ok_and(|entries| entries.flatten().any(of_qemu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(kinds: &[(u32, u32)]) -> String {
        let one = |(number, (implementer, part)): (usize, &(u32, u32))| {
            format!(
                "processor\t: {number}\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU implementer\t: {implementer:#04x}\n\
                 CPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: {part:#05x}\nCPU revision\t: 1\n\n"
            )
        };
        kinds.iter().enumerate().map(one).collect()
    }

    #[test]
    fn cpus_of_arm_are_called_by_their_numbers() {
        let root = tempfile::tempdir().unwrap();
        let name = |text: &str| name(text, root.path(), "aarch64");
        assert_eq!(name(&cpus(&[(0x41, 0xd0c), (0x41, 0xd0c)])), "ARM Neoverse-N1");
        assert_eq!(name(&cpus(&[(0x41, 0xd05), (0x41, 0xd0b)])), "ARM Cortex-A55 + ARM Cortex-A76");
        assert_eq!(name(&cpus(&[(0x70, 0x663)])), "Phytium FTC663");
        assert_eq!(name(&cpus(&[(0x41, 0xfff)])), "ARM part 0xfff");
        assert_eq!(name(&cpus(&[(0x99, 0x001)])), "implementer 0x99 part 0x001");
        assert_eq!(name("processor : 0\nCPU implementer : 65\nCPU part : x\n"), "aarch64");
        assert_eq!(name(""), "aarch64");
        assert_eq!(name("model name\t: AMD EPYC 7B13\nmodel name\t: AMD EPYC 7B13\n"), "AMD EPYC 7B13");
    }

    #[test]
    fn a_board_is_called_by_its_device_tree() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/device-tree")).unwrap();
        fs::write(root.path().join("proc/device-tree/model"), "Raspberry Pi 5 Model B Rev 1.0\0").unwrap();
        let found = name(&cpus(&[(0x41, 0xd0b)]), root.path(), "aarch64");
        assert_eq!(found, "Raspberry Pi 5 Model B Rev 1.0 (ARM Cortex-A76)");
        assert_eq!(name("", root.path(), "aarch64"), "Raspberry Pi 5 Model B Rev 1.0");
    }

    #[test]
    fn a_virtual_machine_is_known_with_and_without_the_flag_of_x86() {
        let with = |files: &[(&str, &str)], cpuinfo: &str| {
            let root = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            virtualization(cpuinfo, root.path())
        };
        let vendor = "sys/class/dmi/id/sys_vendor";
        let arm = cpus(&[(0x41, 0xd0c)]);
        assert_eq!(with(&[(vendor, "QEMU\n")], "flags\t: fpu hypervisor avx\n"), "virtual machine (QEMU)");
        // A cloud's whole machine has its maker's name and no flag.
        assert_eq!(with(&[(vendor, "Amazon EC2\n")], "flags\t: fpu avx\n"), "");
        assert_eq!(with(&[(vendor, "Amazon EC2\n")], &arm), "virtual machine (Amazon EC2)");
        assert_eq!(with(&[(vendor, "Amazon EC2\n"), ("sys/class/dmi/id/product_name", "c6g.metal\n")], &arm), "");
        assert_eq!(with(&[(vendor, "Ampere(R)\n")], &arm), "");
        let hyper_v = [(vendor, "Microsoft Corporation\n"), ("sys/class/dmi/id/product_version", "Hyper-V UEFI\n")];
        assert_eq!(with(&hyper_v, &arm), "virtual machine (Microsoft Corporation)");
        assert_eq!(with(&hyper_v[..1], &arm), "", "its maker sells laptops too");
        assert_eq!(with(&[], &arm), "");
        assert_eq!(with(&[("proc/device-tree/fw-cfg@9020000/compatible", "qemu")], &arm), "virtual machine");
        assert_eq!(with(&[("proc/device-tree/hypervisor/compatible", "linux,kvm")], &arm), "virtual machine");
    }
}
