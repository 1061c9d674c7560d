//! Installs what is missing with the distribution's package manager, through sudo where needed.

use super::Survey;
use crate::failure::Failure;
use std::process::{Command, Stdio};

/// First the guests, because which tools are of use depends on what their kernels mount.
///
/// # Errors
/// When there is no apt-get, no way to be root, or a package cannot be installed.
pub fn install() -> Result<(), Failure> {
    let guests = Survey::take().guest_packages();
    packages(&guests)?;
    packages(&Survey::take().tool_packages().into_iter().collect::<Vec<_>>())
}

fn packages(packages: &[&str]) -> Result<(), Failure> {
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
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
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
