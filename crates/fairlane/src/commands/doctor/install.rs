//! Installs what is missing with the distribution's package manager, through sudo where needed.

use super::Survey;
use super::programs::{self, NoServices};
use crate::failure::Failure;
use std::process::{Command, Stdio};

/// First the guests, because which tools are of use depends on what their kernels mount; `with_programs`: at
/// last the servers and programs of suites.
///
/// # Errors
/// When there is no apt-get, no way to be root, or a package cannot be installed.
pub fn install(with_programs: bool) -> Result<(), Failure> {
    let guests = Survey::take().guest_packages();
    packages(&guests, None)?;
    packages(&Survey::take().tool_packages().into_iter().collect::<Vec<_>>(), None)?;
    if with_programs { programs_without_services() } else { Ok(()) }
}

/// A database server's package starts it as a service, which nobody asked for here.
fn programs_without_services() -> Result<(), Failure> {
    let missing = programs::packages();
    let list: Vec<&str> = missing.iter().map(String::as_str).collect();
    let brings_service = list.contains(&"postgresql");
    if brings_service && !rustix::process::geteuid().is_root() {
        return Err(Failure::missing(
            "that no database server is started by its package takes root: sudo fairlane doctor --install --programs",
        ));
    }
    let quiet = brings_service.then(NoServices::for_a_while).transpose();
    let quiet = quiet.map_err(|error| Failure::failed(format!("services cannot be kept from starting: {error}")))?;
    // Ctrl-C reaches apt-get too, which ends; this process then takes its folder away.
    if quiet.is_some() {
        hold_signals()?;
    }
    packages(&list, quiet.as_ref())
}

/// The signals of a terminal and of a session's end do not end this process from here on.
fn hold_signals() -> Result<(), Failure> {
    let noticed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, std::sync::Arc::clone(&noticed))
            .map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    }
    Ok(())
}

fn packages(packages: &[&str], quiet: Option<&NoServices>) -> Result<(), Failure> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if !has("apt-get") {
        return Err(Failure::missing(format!(
            "there is no apt-get here; install with this distribution's package manager what Debian calls: {list}"
        )));
    }
    let root = rustix::process::geteuid().is_root();
    if !root && !has("sudo") {
        return Err(Failure::missing(format!(
            "installing needs root; as root: apt-get install {list}, or without it: fairlane doctor --install --user"
        )));
    }
    apt(root, &["update", "-qq"])?;
    let setting = quiet.map(NoServices::setting);
    let mut arguments: Vec<&str> = setting.iter().flat_map(|setting| ["-o", setting.as_str()]).collect();
    arguments.extend(["install", "-y", "-qq", "--no-install-recommends"]);
    arguments.extend(packages);
    apt(root, &arguments)
}

/// Whether a program is there.
pub fn has(program: &str) -> bool {
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
