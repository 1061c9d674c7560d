//! What this machine can race: kernel support and tools, row by row of the table.

use crate::above::Above;
use crate::command::find_program;
use crate::filesystems::{FILESYSTEMS, Filesystem, Home};
use crate::guest::Kernel;
use crate::lane_set::guest;
use crate::layers::{Layer, TABLE};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Whether a filesystem can be raced here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Kernel and tool are there.
    Ready,
    /// The kernel neither has it nor has a module of it.
    KernelLacks,
    /// The mkfs program is missing.
    ToolMissing {
        /// The program that is missing.
        program: &'static str,
        /// Debian and Ubuntu package that brings it.
        package: &'static str,
    },
}

impl Availability {
    /// The words that `doctor` and refusals use.
    pub fn describe(&self) -> String {
        match self {
            Availability::Ready => "ready".to_owned(),
            Availability::KernelLacks => "the kernel lacks it".to_owned(),
            Availability::ToolMissing { program, package } => {
                format!("{program} is missing: {}", crate::missing::remedy(package))
            }
        }
    }
}

/// Whether a guest with this kernel can race it; `None`: it makes pools of its own.
pub fn in_guest(row: &'static Filesystem, kernel: &Kernel) -> Option<Availability> {
    match row.home {
        Home::Pool => return None,
        Home::Memory | Home::Library => return Some(Availability::Ready),
        Home::Block => {}
    }
    let mkfs = row.mkfs.first().copied().map(|program| (program, row.package));
    let fuse = row.fuse.filter(|_| !guest::kernel_mounts(kernel, row));
    if fuse.is_none() && !guest::kernel_mounts(kernel, row) {
        return Some(Availability::KernelLacks);
    }
    let needed = mkfs.into_iter().chain(fuse.map(|fuse| (fuse.mount[0], fuse.package)));
    let missing = needed.into_iter().find(|(program, _)| find_program(program).is_none());
    Some(missing.map_or(Availability::Ready, |(program, package)| Availability::ToolMissing { program, package }))
}

/// The first of these drivers that a guest's kernel lacks. Where it does not tell what it has in itself, the running guest alone
/// knows.
pub(crate) fn lacking_in_guest(drivers: &[&'static str], kernel: &Kernel) -> Option<&'static str> {
    let has = |own: &str| !kernel.modules.knows_builtin() || kernel.modules.has(own);
    drivers.iter().copied().find(|own| !has(own))
}

/// Whether a guest with this kernel can build a layer that is told nothing.
pub(crate) fn layer_in_guest(layer: &Layer, kernel: &Kernel) -> Availability {
    of_layer(layer, lacking_in_guest(layer.drivers, kernel))
}

/// Whether this machine's own kernel can, and whether the tools are here.
pub(crate) fn layer_here(layer: &Layer) -> Availability {
    of_layer(layer, lacking_here(layer.helpers, layer.drivers))
}

/// Whether a layer can be built where the kernel lacks this driver of it.
pub(crate) fn of_layer(layer: &Layer, lacking: Option<&str>) -> Availability {
    if lacking.is_some() {
        return Availability::KernelLacks;
    }
    match layer.programs.iter().find(|(program, _)| find_program(program).is_none()) {
        Some(&(program, package)) => Availability::ToolMissing { program, package },
        None => Availability::Ready,
    }
}

/// The first of these drivers that this machine's kernel lacks. As root, those that are there are loaded, and what helps them.
pub(crate) fn lacking_here(helpers: &[&str], drivers: &[&'static str]) -> Option<&'static str> {
    let load = |module: &str| {
        let arguments = ["modprobe", "-q", module].map(str::to_owned);
        // One that is not there is an answer, not an error. What is part of the kernel is no error either.
        crate::command::run(&arguments, &AtomicBool::new(false)).is_ok()
    };
    let loads = crate::host::is_root() && find_program("modprobe").is_some();
    if loads {
        helpers.iter().for_each(|module| {
            load(module);
        });
    }
    drivers.iter().copied().find(|own| {
        let loaded = loads && load(own);
        !(loaded || is_here(own))
    })
}

/// Whether the kernel has a driver now. One that is part of it shows as a module only where it has parameters.
fn is_here(own: &str) -> bool {
    Path::new("/sys/module").join(own).is_dir()
        || (!crate::host::is_root() && module_is_installed(own))
        || (own == "bcache" && Path::new("/sys/fs/bcache").is_dir())
        || personalities().contains(own)
        || targets().contains(&own.trim_start_matches("dm_").replace('_', "-").replace("mod", "linear"))
}

/// The levels of md that the kernel has: `raid1`, and `raid456` for each of these.
fn personalities() -> BTreeSet<String> {
    let text = std::fs::read_to_string("/proc/mdstat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Personalities :")).unwrap_or_default();
    let name = |word: &str| match word.trim_matches(['[', ']']) {
        "raid4" | "raid5" | "raid6" => "raid456".to_owned(),
        other => other.to_owned(),
    };
    line.split_whitespace().map(name).collect()
}

/// The targets of the device mapper that the kernel has: `thin-pool`. Only root is told.
fn targets() -> BTreeSet<String> {
    if !crate::host::is_root() || find_program("dmsetup").is_none() || !Path::new("/dev/mapper/control").exists() {
        return BTreeSet::new();
    }
    let arguments = ["dmsetup", "targets"].map(str::to_owned);
    let Ok(said) = crate::command::run(&arguments, &AtomicBool::new(false)) else { return BTreeSet::new() };
    said.stdout.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Whether a guest with this kernel can lay something above a filesystem.
pub(crate) fn above_in_guest(above: &Above, kernel: &Kernel) -> Availability {
    match lacking_in_guest(above.drivers, kernel) {
        Some(_) => Availability::KernelLacks,
        None => Availability::Ready,
    }
}

/// Whether this machine's own kernel can.
pub(crate) fn above_here(above: &Above) -> Availability {
    let module = above.drivers.last().copied().unwrap_or_default();
    let is_here = Path::new("/sys/module").join(module).is_dir() || kernel_has(above.filesystem, module);
    if is_here { Availability::Ready } else { Availability::KernelLacks }
}

/// Everything that may lie above a filesystem by its name, and whether this machine can lay it there (`None`: only guests
/// do), and a guest with this kernel.
pub fn survey_above(kernel: Option<&Kernel>) -> Vec<(&'static str, Option<Availability>, Option<Availability>)> {
    let row = |above: &&'static Above| {
        let here = above.on_host.then(|| above_here(above));
        (above.name, here, kernel.map(|kernel| above_in_guest(above, kernel)))
    };
    crate::above::TABLE.iter().map(row).collect()
}

/// Every layer by its name, and whether this machine can build it (`None`: only guests do).
pub fn layers_here() -> Vec<(&'static str, Option<Availability>)> {
    TABLE.iter().map(|layer| (layer.name, layer.on_host.then(|| layer_here(layer)))).collect()
}

/// Every layer that guests may build by its name and what it is, and whether one with this kernel can.
pub fn layers_in_guest(kernel: &Kernel) -> Vec<(&'static str, &'static str, Availability)> {
    let in_guests = TABLE.iter().filter(|layer| layer.is_for_guests());
    in_guests.map(|layer| (layer.name, layer.about, layer_in_guest(layer, kernel))).collect()
}

/// Every row of the table with its availability.
pub fn survey() -> Vec<(&'static Filesystem, Availability)> {
    FILESYSTEMS.iter().map(|&row| (row, find(row))).collect()
}

/// Whether this filesystem can be raced here. As root, a module that is there is loaded.
pub fn find(row: &Filesystem) -> Availability {
    if row.home == Home::Library {
        return Availability::Ready;
    }
    if !kernel_has(row.mounted_as(), row.module) {
        match row.fuse {
            None => return Availability::KernelLacks,
            Some(_) if !kernel_has("fuse", "fuse") => return Availability::KernelLacks,
            Some(fuse) if find_program(fuse.mount[0]).is_none() => {
                return Availability::ToolMissing { program: fuse.mount[0], package: fuse.package };
            }
            Some(_) => {}
        }
    }
    match row.mkfs.first() {
        Some(program) if find_program(program).is_none() => Availability::ToolMissing { program, package: row.package },
        _ => Availability::Ready,
    }
}

/// Whether the kernel mounts this type now or, after loading `module`, would.
pub fn kernel_has(name: &str, module: &str) -> bool {
    if registered(name) {
        return true;
    }
    let plausible = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if module.is_empty() || module.starts_with('-') || !module.chars().all(plausible) {
        return false;
    }
    if crate::host::is_root() && find_program("modprobe").is_some() {
        let arguments = ["modprobe", "-q", module].map(str::to_owned);
        // A module that is not there is an answer, not an error.
        let _ = crate::command::run(&arguments, &AtomicBool::new(false));
        return registered(name);
    }
    module_is_installed(module)
}

/// /proc/filesystems: `nodev\tNAME` or `\tNAME`.
fn registered(name: &str) -> bool {
    std::fs::read_to_string("/proc/filesystems")
        .is_ok_and(|text| text.lines().any(|line| line.split('\t').next_back() == Some(name)))
}

/// Whether a module lies on disk for the running kernel: what an ordinary user can know.
fn module_is_installed(module: &str) -> bool {
    let release = rustix::system::uname();
    let Ok(release) = release.release().to_str() else { return false };
    // Names of files may have dashes where modules have underscores.
    let plain = |name: &str| name.replace('-', "_");
    let wanted = format!("{}.ko", plain(module));
    std::fs::read_to_string(format!("/lib/modules/{release}/modules.dep")).is_ok_and(|text| {
        text.lines()
            .filter_map(|line| line.split(':').next())
            .any(|path| path.rsplit('/').next().is_some_and(|file| plain(file).starts_with(&wanted)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked_and_not_guessed() {
        assert!(kernel_has("tmpfs", ""));
        assert!(!kernel_has("no-such-filesystem", "no-such-module"));
        assert!(!kernel_has("x", "-r"));
        assert_eq!(survey().len(), FILESYSTEMS.len());
        for (row, availability) in survey() {
            let fuse = row.fuse.is_some() && kernel_has("fuse", "fuse");
            let lacks = row.home != Home::Library && !fuse && !kernel_has(row.mounted_as(), row.module);
            assert_eq!(availability == Availability::KernelLacks, lacks, "{}", row.name);
        }
    }
}
