//! `fairlane doctor`: what this machine can race, what is missing, and the one command that adds it.

use super::report::print;
use crate::failure::Failure;
use crate::options::Doctor;
use lanes::availability::{Availability, survey};
use lanes::filesystem::Home;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// Prints the survey, or installs what is missing.
///
/// # Errors
/// When the packages cannot be installed.
pub fn run(options: &Doctor) -> Result<(), Failure> {
    if options.install {
        install()?;
    }
    let mut text = String::new();
    let mut packages = BTreeSet::new();
    let _ = writeln!(text, "filesystems as images or on a device");
    for (row, availability) in survey() {
        if let Availability::ToolMissing { package, .. } = availability {
            packages.insert(package);
        }
        let note = if row.home == Home::Library { " (a library in the agent: --suite operations)" } else { "" };
        let _ = writeln!(text, "  {:<10} {}{note}", row.name, availability.describe());
    }
    let _ = writeln!(text, "I/O engines");
    for engine in engine::io::ENGINES {
        let state = (engine.available)().map_or_else(|reason| reason, |()| "ready".to_owned());
        let _ = writeln!(text, "  {:<10} {state}", engine.name);
    }
    let _ = writeln!(text, "privilege");
    let root = rustix::process::geteuid().is_root();
    let _ = writeln!(
        text,
        "  {}",
        match root {
            true => "root: images, devices and directories can be raced",
            false =>
                "not root: only directories can be raced (fairlane race /mnt/a /mnt/b); sudo adds images and devices",
        }
    );
    if packages.is_empty() {
        let _ = writeln!(text, "every tool for this kernel's filesystems is installed");
    } else {
        let _ = writeln!(text, "missing tools are added by: fairlane doctor --install");
    }
    print(&text)
}

/// Installs the missing packages with apt-get, through sudo where needed.
fn install() -> Result<(), Failure> {
    let packages: BTreeSet<&str> = survey()
        .into_iter()
        .filter_map(|(_, availability)| match availability {
            Availability::ToolMissing { package, .. } => Some(package),
            _ => None,
        })
        .collect();
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.iter().copied().collect::<Vec<_>>().join(" ");
    if !has("apt-get") {
        return Err(Failure::missing(format!(
            "there is no apt-get here; install with this distribution's package manager what Debian calls: {list}"
        )));
    }
    let root = rustix::process::geteuid().is_root();
    if !root && !has("sudo") {
        return Err(Failure::missing(format!("installing needs root; as root: apt-get install {list}")));
    }
    apt(root, &["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages.iter().copied());
    apt(root, &arguments)
}

fn has(program: &str) -> bool {
    lanes::command::find_program(program).is_some()
}

fn apt(root: bool, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = match root {
        true => Command::new("apt-get"),
        false => {
            let mut sudo = Command::new("sudo");
            sudo.arg("apt-get");
            sudo
        }
    };
    let status = command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null())
        .status()
        .map_err(|error| Failure::failed(format!("cannot run apt-get: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "apt-get {} failed ({status}); run it by hand to see why",
            arguments.join(" ")
        ))),
    }
}
