//! Without root: the distribution's packages, fetched by its own package client and unpacked into the user's data
//! folder. Nothing is installed, and nothing outside of that folder changes.

use super::Survey;
use super::install::has;
use crate::failure::Failure;
use std::path::Path;
use std::process::Command;

/// Packages that others depend on, and that a kernel or a tool needs only when it is installed.
const OF_NO_USE: [&str; 8] =
    ["initramfs-tools", "initramfs-tools-core", "linux-base", "kmod", "klibc-utils", "libklibc", "busybox", "cpio"];

/// Fetches and unpacks what is missing: first the guests, then the tools that they are of use with.
///
/// # Errors
/// When there is no apt-get, no folder, or a package cannot be had.
pub fn install() -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Err(Failure::usage("--user is for people without root; as root: fairlane doctor --install"));
    }
    for program in ["apt-get", "dpkg-deb"] {
        if !has(program) {
            return Err(Failure::missing(format!(
                "{program} is missing, and packages are unpacked with it; ask for the packages that `fairlane doctor` names"
            )));
        }
    }
    let folder = lanes::command::own_folder()
        .ok_or_else(|| Failure::missing("neither XDG_DATA_HOME nor HOME names a folder; set HOME"))?;
    unpack(&Survey::take().guest_packages(), &folder)?;
    unpack(&Survey::take().tool_packages().into_iter().collect::<Vec<_>>(), &folder)
}

fn unpack(packages: &[&str], folder: &Path) -> Result<(), Failure> {
    if packages.is_empty() {
        return Ok(());
    }
    let wanted = with_dependencies(packages)?;
    let downloads = folder.join("packages");
    std::fs::create_dir_all(&downloads)
        .map_err(|error| Failure::failed(format!("cannot make {}: {error}", downloads.display())))?;
    eprintln!("fetching {} into {}", wanted.join(" "), folder.display());
    let mut download = Command::new("apt-get");
    download.args(["-qq", "download"]).args(&wanted).current_dir(&downloads);
    output_of(download)?;
    let entries = std::fs::read_dir(&downloads)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", downloads.display())))?;
    for archive in entries.flatten().map(|entry| entry.path()) {
        if archive.extension().is_none_or(|extension| extension != "deb") {
            continue;
        }
        let mut extract = Command::new("dpkg-deb");
        extract.arg("-x").arg(&archive).arg(folder);
        output_of(extract)?;
        let _ = std::fs::remove_file(&archive);
    }
    let _ = std::fs::remove_dir(&downloads);
    Ok(())
}

/// What would be installed with them, by the package client's own reckoning.
fn with_dependencies(packages: &[&str]) -> Result<Vec<String>, Failure> {
    let mut simulate = Command::new("apt-get");
    simulate.args(["install", "--simulate", "-qq", "--no-install-recommends"]).args(packages);
    Ok(simulated(&output_of(simulate)?))
}

/// `Inst NAME (VERSION …)`: one line a package.
fn simulated(text: &str) -> Vec<String> {
    let name = |line: &str| line.strip_prefix("Inst ")?.split_whitespace().next().map(str::to_owned);
    text.lines().filter_map(name).filter(|name| !OF_NO_USE.contains(&name.as_str())).collect()
}

fn output_of(mut command: Command) -> Result<String, Failure> {
    let line = format!("{command:?}").replace('"', "");
    let output =
        command.env("LC_ALL", "C").output().map_err(|error| Failure::failed(format!("cannot run {line}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it printed nothing");
        return Err(Failure::failed(format!("{line} failed: {}", report::clean_text(said))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_simulation_would_install_is_fetched_but_for_what_only_boots_a_machine() {
        let text = "NOTE: only a simulation\nInst linux-base (4.9 Debian:12 [all])\n\
                    Inst linux-image-6.1.0-56-amd64 (6.1.192-2 Debian:12 [amd64])\nInst jfsutils (1.1 [amd64])\n\
                    Conf jfsutils (1.1 [amd64])\n";
        assert_eq!(simulated(text), ["linux-image-6.1.0-56-amd64", "jfsutils"]);
    }
}
