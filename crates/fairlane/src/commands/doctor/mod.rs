//! `fairlane doctor`: what this machine can race and where, what is missing, and the one command that adds it.

mod install;
mod programs;
mod user;

pub use programs::sweep;

use super::report::print;
use crate::failure::Failure;
use crate::options::Doctor;
use lanes::Architecture;
use lanes::availability::{self, Availability};
use lanes::filesystems::{FILESYSTEMS, Filesystem, Home};
use lanes::guest::uml::{self, Ptrace};
use lanes::guest::{GuestKind, Kernel};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Columns of the table.
const WIDTH: usize = 18;

/// What was found on this machine.
struct Survey {
    uml: Result<Kernel, String>,
    /// Whether it runs programs on this CPU, and by whose `ptrace`.
    uml_runs: Result<Ptrace, String>,
    qemu: Result<Kernel, String>,
}

/// Prints the survey, or installs what is missing first.
///
/// # Errors
/// When the packages cannot be installed.
pub fn run(options: &Doctor) -> Result<(), Failure> {
    match (options.install, options.user) {
        (true, true) => user::install()?,
        (true, false) => install::install(options.programs)?,
        (false, _) => {}
    }
    print(&Survey::take().text())
}

/// What stands in a column.
fn cell(of: Option<Availability>) -> String {
    match of {
        None => "-".to_owned(),
        Some(Availability::Ready) => "ready".to_owned(),
        Some(Availability::KernelLacks) => "kernel lacks it".to_owned(),
        Some(Availability::ToolMissing { program, .. }) => format!("no {program}"),
    }
}

impl Survey {
    fn take() -> Survey {
        let kernel = |kind| Kernel::find(kind, None).map_err(|failure| failure.to_string());
        let (uml, qemu) = (kernel(GuestKind::Uml), kernel(GuestKind::Qemu));
        let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
        let trial = |kernel: &Kernel| uml::try_again(kernel, &program, &AtomicBool::new(false));
        let uml_runs = uml.as_ref().map_err(Clone::clone).and_then(trial);
        Survey { uml, uml_runs, qemu }
    }

    /// Packages that bring the guests that are missing.
    fn guest_packages(&self) -> Vec<&'static str> {
        let mut packages = Vec::new();
        let Some(here) = Architecture::here() else { return packages };
        if self.uml.is_err() && here.user_mode_linux {
            packages.push("user-mode-linux");
        }
        if self.qemu.is_err() {
            if lanes::command::find_program(here.emulator).is_none() {
                packages.push(here.emulator_package);
            }
            // Where the emulator alone is missing the kernel may be there.
            if !lanes::guest::has_image() {
                packages.push(here.kernel_package);
            }
        }
        packages
    }

    /// Packages of tools for filesystems that some kernel here mounts.
    fn tool_packages(&self) -> BTreeSet<&'static str> {
        let package = |availability: Availability| match availability {
            Availability::ToolMissing { package, .. } if !package.is_empty() => Some(package),
            _ => None,
        };
        let checkers = checkers().into_iter().map(|(_, state)| Some(state));
        let layers = self.layers_in_guests().into_iter().flatten().map(|(.., state)| Some(state));
        let layers = layers.chain(availability::layers_here().into_iter().map(|(_, state)| state));
        let filesystems = FILESYSTEMS.iter().flat_map(|row| self.everywhere(row));
        filesystems.chain(checkers).chain(layers).flatten().filter_map(package).collect()
    }

    /// Packages of tools that may be of use in the guests that are missing: what their kernels mount shows when they
    /// are there.
    fn tools_of_missing_guests(&self) -> BTreeSet<&'static str> {
        if self.uml.is_ok() && self.qemu.is_ok() {
            return BTreeSet::new();
        }
        let absent = |program: &&str| lanes::command::find_program(program).is_none();
        let needed = |row: &'static Filesystem| {
            let mkfs = row.mkfs.first().copied().filter(absent).map(|_| row.package);
            let fuse = row.fuse.filter(|fuse| absent(&fuse.mount[0])).map(|fuse| fuse.package);
            mkfs.into_iter().chain(fuse)
        };
        let known = self.tool_packages();
        let rows = FILESYSTEMS.iter().copied().filter(|row| row.home == Home::Block);
        rows.flat_map(needed).filter(|package| !package.is_empty() && !known.contains(package)).collect()
    }

    /// On the host, in user-mode Linux, in QEMU; `None`: it cannot be there at all.
    fn everywhere(&self, row: &'static Filesystem) -> [Option<Availability>; 3] {
        let guest = |kernel: &Result<Kernel, String>| {
            kernel.as_ref().ok().and_then(|kernel| availability::in_guest(row, kernel))
        };
        let uml = self.uml_runs.as_ref().ok().and_then(|_| guest(&self.uml));
        [Some(availability::find(row)), uml, guest(&self.qemu)]
    }

    /// Whether each layer can be built in user-mode Linux and in QEMU.
    fn layers_in_guests(&self) -> [Vec<(&'static str, &'static str, Availability)>; 2] {
        let uml = self.uml.as_ref().ok().filter(|_| self.uml_runs.is_ok());
        let guest = |kernel: Option<&Kernel>| kernel.map(availability::layers_in_guest).unwrap_or_default();
        [guest(uml), guest(self.qemu.as_ref().ok())]
    }

    fn layers(&self, text: &mut String) {
        let [uml, qemu] = self.layers_in_guests();
        let _ = writeln!(text, "layers under a filesystem, as in ext4/raid5:3");
        for (name, here) in availability::layers_here() {
            let state =
                |of: &[(&str, &str, Availability)]| of.iter().find(|row| row.0 == name).map(|row| row.2.clone());
            let here = here.map_or_else(|| "in guests alone".to_owned(), |state| cell(Some(state)));
            let [uml, qemu] = [&uml, &qemu].map(|of| cell(state(of)));
            let _ = writeln!(text, "  {name:<11}{here:<WIDTH$}{uml:<WIDTH$}{qemu}");
        }
    }

    fn above(&self, text: &mut String) {
        let _ = writeln!(text, "above a filesystem, as in overlay(ext4)");
        let uml = availability::survey_above(self.uml.as_ref().ok().filter(|_| self.uml_runs.is_ok()));
        let qemu = availability::survey_above(self.qemu.as_ref().ok());
        for ((name, here, uml), (.., qemu)) in uml.into_iter().zip(qemu) {
            let here = here.map_or_else(|| "in guests alone".to_owned(), |state| cell(Some(state)));
            let _ = writeln!(text, "  {name:<11}{here:<WIDTH$}{:<WIDTH$}{}", cell(uml), cell(qemu));
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{:<12}{:<WIDTH$}{:<WIDTH$}qemu", "filesystem", "image, device", "uml");
        for row in FILESYSTEMS {
            let [host, uml, qemu] = self.everywhere(row);
            let cell = |of: Option<Availability>, no_guest: bool| match of {
                None if no_guest && row.home == Home::Block => "no guest".to_owned(),
                of => cell(of),
            };
            let note = match row.home {
                Home::Library => "  a library in the agent: --suite operations",
                Home::Pool => "  raced as a directory of a pool",
                _ => "",
            };
            let cells = [cell(host, false), cell(uml, self.uml_runs.is_err()), cell(qemu, self.qemu.is_err())];
            let line = format!("{:<12}{:<WIDTH$}{:<WIDTH$}{:<WIDTH$}{note}", row.name, cells[0], cells[1], cells[2]);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        self.layers(&mut text);
        self.above(&mut text);
        self.guests(&mut text);
        let _ = writeln!(text, "I/O engines");
        for engine in engine::io::ENGINES {
            let state = (engine.available)().map_or_else(|reason| reason, |()| "ready".to_owned());
            let _ = writeln!(text, "  {:<10} {state}", engine.name);
        }
        programs_of_suites(&mut text);
        let _ = writeln!(text, "checkers of powercut and integrity");
        for (row, state) in checkers() {
            let _ = writeln!(text, "  {:<10} {}", row.name, state.describe());
        }
        let _ = writeln!(text, "privilege");
        let root = lanes::host::is_root();
        let _ = writeln!(
            text,
            "  {}",
            match (root, GuestKind::options_here()) {
                (true, _) => "root: images, devices, directories and guests can be raced".to_owned(),
                (false, none) if none.is_empty() =>
                    "not root: directories can be raced; sudo adds images and devices".to_owned(),
                (false, options) =>
                    format!("not root: guests ({options}) and directories can be raced; sudo adds images and devices"),
            }
        );
        let missing: Vec<&str> = self.guest_packages().into_iter().chain(self.tool_packages()).collect();
        if missing.is_empty() {
            let _ = writeln!(text, "every tool and guest is installed");
        } else {
            let _ = writeln!(text, "missing: {}", names_or_none(missing));
            let later = lanes::missing::names(self.tools_of_missing_guests());
            if !later.is_empty() {
                let _ = writeln!(
                    text,
                    "and then, as far as a guest's kernel mounts their filesystems: {}",
                    later.join(" ")
                );
            }
            let _ = writeln!(text, "added by: {}", added_by(root));
        }
        text
    }

    fn guests(&self, text: &mut String) {
        let _ = writeln!(text, "guests");
        let told = |kernel: &Result<Kernel, String>, more: &str| match kernel {
            Ok(kernel) => format!("Linux {} ({}){more}", kernel.release, kernel.path.display()),
            Err(reason) => reason.clone(),
        };
        let kvm = match rustix::fs::access("/dev/kvm", rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK) {
            Ok(()) => "; /dev/kvm is there, and a race finds out by a trial boot whether it works",
            Err(_) => "; its CPU is emulated, because /dev/kvm cannot be opened",
        };
        let runs = match &self.uml_runs {
            Ok(Ptrace::Libc) => "; a trial boot ran a program".to_owned(),
            Ok(Ptrace::Whole) => {
                "; a trial boot ran a program with all registers of this CPU set by Fairlane, without that it panics"
                    .to_owned()
            }
            Err(why) => format!("; it runs no program on this machine: {why}"),
        };
        let _ = writeln!(text, "  {:<10} {}", "uml", told(&self.uml, &runs));
        let _ = writeln!(text, "  {:<10} {}", "qemu", told(&self.qemu, kvm));
    }
}

/// The programs that look at what a power cut or damage left, of filesystems that this kernel mounts.
fn checkers() -> Vec<(&'static Filesystem, Availability)> {
    let mut all = lanes::survey_checkers();
    all.retain(|(row, _)| availability::find(row) != Availability::KernelLacks);
    // Without its mkfs there is nothing to check.
    for (row, state) in &mut all {
        if *state == Availability::Ready {
            *state = availability::find(row);
        }
    }
    all
}

fn programs_of_suites(text: &mut String) {
    let survey = programs::survey();
    let _ = writeln!(text, "programs of the suites database, media and applications");
    let _ = writeln!(text, "  {:<10} ready (built in)", "sqlite");
    for (name, missing) in &survey {
        let state = missing.as_ref().map_or_else(
            || "ready".to_owned(),
            |missing| format!("no {}: {}", missing.program, lanes::missing::remedy(&missing.package)),
        );
        let _ = writeln!(text, "  {name:<10} {state}");
    }
    if survey.iter().any(|(_, missing)| missing.is_some()) {
        let _ = writeln!(text, "  added by: fairlane doctor --install --programs");
    }
}

/// Packages by their names here; what this distribution has no package of is said.
fn names_or_none(debian: Vec<&str>) -> String {
    let (here, nowhere): (Vec<&str>, Vec<&str>) =
        debian.into_iter().partition(|package| !lanes::missing::names([*package]).is_empty());
    let here = lanes::missing::names(here).join(" ");
    match nowhere.is_empty() {
        true => here,
        false => format!("{here} (this distribution has no package of {})", nowhere.join(", ")).trim().to_owned(),
    }
}

/// The command that adds them.
fn added_by(root: bool) -> &'static str {
    match lanes::missing::distribution() {
        None => "this distribution's package manager, under its own names: these are Debian's",
        Some(distribution) if distribution.has_apt() && !root => {
            "fairlane doctor --install, or without root: fairlane doctor --install --user"
        }
        Some(_) => "fairlane doctor --install",
    }
}

/// Debian's package of its own kernel; `lanes::missing` and `model::packages` know it by its name here.
fn kernel_package() -> &'static str {
    Architecture::here().map_or("linux-image-amd64", |here| here.kernel_package)
}
