//! What differs between the processors that Fairlane runs on: a row for each.

/// A processor architecture.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// As Rust and `uname -m` name it.
    pub name: &'static str,
    /// `e_machine` of its programs (elf.h) …
    pub(crate) elf: u16,
    /// … and the machine that the PE header of its EFI programs names.
    pub(crate) pe: u16,
    /// The folder of its libraries where several architectures share one system.
    pub(crate) multiarch: &'static str,
    /// QEMU's program for a whole machine.
    pub emulator: &'static str,
    /// The package that brings it.
    pub emulator_package: &'static str,
    /// Which machine QEMU emulates.
    pub(crate) machine: &'static str,
    /// Its processor where it is emulated.
    pub(crate) emulated_cpu: &'static str,
    /// The first serial line of that machine, by the kernel's name.
    pub(crate) console: &'static str,
    /// The package that brings Debian's own kernel.
    pub kernel_package: &'static str,
    /// Whether Linux can be built as a program for it.
    pub user_mode_linux: bool,
}

/// Every architecture that guests are made for.
pub(crate) const ARCHITECTURES: [Architecture; 2] = [
    Architecture {
        name: "x86_64",
        elf: 62,
        pe: 0x8664,
        multiarch: "x86_64-linux-gnu",
        emulator: "qemu-system-x86_64",
        emulator_package: "qemu-system-x86",
        machine: "q35",
        emulated_cpu: "max",
        console: "ttyS0",
        kernel_package: "linux-image-amd64",
        user_mode_linux: true,
    },
    Architecture {
        name: "aarch64",
        elf: 183,
        pe: 0xaa64,
        multiarch: "aarch64-linux-gnu",
        emulator: "qemu-system-aarch64",
        emulator_package: "qemu-system-arm",
        // The second version of the interrupt controller, which is the default, ends at eight CPUs, and KVM has none
        // on processors with the third alone.
        machine: "virt,gic-version=max",
        // Pointers signed by the architecture's own cipher cost an emulator most of the time of a boot.
        emulated_cpu: "max,pauth-impdef=on",
        console: "ttyAMA0",
        kernel_package: "linux-image-arm64",
        user_mode_linux: false,
    },
];

impl Architecture {
    /// That of this program; `None`: guests are not made for it.
    pub fn here() -> Option<&'static Architecture> {
        ARCHITECTURES.iter().find(|row| row.name == std::env::consts::ARCH)
    }

    /// By what programs say in their ELF header.
    pub(crate) fn of_elf(machine: u16) -> Option<&'static Architecture> {
        ARCHITECTURES.iter().find(|row| row.elf == machine)
    }

    /// By what EFI programs say in their PE header.
    pub(crate) fn of_pe(machine: u16) -> Option<&'static Architecture> {
        ARCHITECTURES.iter().find(|row| row.pe == machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_of_the_architecture_that_its_own_header_names() {
        let header = std::fs::read("/proc/self/exe").unwrap();
        let machine = u16::from_le_bytes([header[18], header[19]]);
        assert_eq!(Architecture::of_elf(machine), Architecture::here());
    }

    #[test]
    fn no_two_rows_are_told_apart_by_one_of_their_signs_alone() {
        let [a, b] = &ARCHITECTURES;
        assert!(a.name != b.name && a.elf != b.elf && a.pe != b.pe && a.emulator != b.emulator);
        assert!(Architecture::of_elf(0).is_none() && Architecture::of_pe(0x1c0).is_none());
    }
}
