//! Without root: the distribution's packages, fetched by its own package client and unpacked into the user's data
//! folder. Nothing is installed, and nothing outside of that folder changes.

use super::install::{self, has};
use super::{Survey, kernel_package};
use crate::failure::Failure;
use crate::terminal;
use model::packages::Distribution;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages that others depend on, and that a kernel or a tool needs only when it is installed.
const OF_NO_USE: [&str; 8] =
    ["initramfs-tools", "initramfs-tools-core", "linux-base", "kmod", "klibc-utils", "libklibc", "busybox", "cpio"];
/// How the packages that hold a kernel and its modules begin.
const OF_KERNELS: [&str; 2] = ["linux-image-", "linux-modules-"];
/// A package that stands for a kernel leads to the kernel, and that to its modules.
const STEPS_TO_A_KERNEL: usize = 3;

/// Fetches and unpacks what is missing: first the guests, then the tools that they are of use with.
///
/// # Errors
/// When there is no apt-get, no folder, or a package cannot be had.
pub fn install() -> Result<(), Failure> {
    if lanes::host::is_root() {
        return Err(Failure::usage("--user is for people without root; as root: fairlane doctor --install"));
    }
    for program in ["apt-get", "apt-cache", "dpkg-deb"] {
        if !has(program) {
            return Err(Failure::missing(format!(
                "{program} is missing, and packages are unpacked with it; ask for the packages that `fairlane doctor` names"
            )));
        }
    }
    let folder = lanes::command::own_folder()
        .ok_or_else(|| Failure::missing("neither XDG_DATA_HOME nor HOME names a folder; set HOME"))?;
    let mut client = Client { downloads: folder.join("packages"), own_lists: false };
    client.unpack_debian(Survey::take().guest_packages(), &folder)?;
    client.unpack_debian(Survey::take().tool_packages(), &folder)?;
    let _ = std::fs::remove_dir_all(&client.downloads);
    Ok(())
}

/// The distribution's package client.
struct Client {
    /// Where packages, and lists of packages, lie meanwhile.
    downloads: PathBuf,
    /// The machine has no lists of packages, and an ordinary user cannot fetch them for all: ours are used.
    own_lists: bool,
}

impl Client {
    /// Packages by Debian's names.
    fn unpack_debian<'a>(&mut self, debian: impl IntoIterator<Item = &'a str>, folder: &Path) -> Result<(), Failure> {
        let names = lanes::missing::names(debian);
        let mut lacking = self.lacking(&names);
        // The machine's lists may be old, or none. Where others cannot be had, what these have is taken.
        if !lacking.is_empty() && !self.own_lists {
            match self.fetch_lists() {
                Ok(()) => lacking = self.lacking(&names),
                Err(error) if lacking.len() == names.len() => return Err(error),
                Err(_) => self.own_lists = false,
            }
        }
        if !lacking.is_empty() {
            terminal::say!("{}", install::left_out(&lacking));
        }
        let offered = names.iter().map(String::as_str).filter(|name| !lacking.iter().any(|lacks| lacks == name));
        self.unpack(&offered.collect::<Vec<_>>(), folder)
    }

    /// Those of them that the lists of packages do not have.
    fn lacking(&self, names: &[String]) -> Vec<String> {
        let is_offered = |name: &String| install::is_offered(self.command("apt-cache"), Distribution::Debian, name);
        names.iter().filter(|name| !is_offered(name)).cloned().collect()
    }

    fn unpack(&mut self, packages: &[&str], folder: &Path) -> Result<(), Failure> {
        if packages.is_empty() {
            return Ok(());
        }
        make(&self.downloads)?;
        let wanted = self.with_dependencies(packages)?;
        if wanted.is_empty() {
            return Err(Failure::failed(format!(
                "{} is installed and cannot be used by you; ask for it to be made readable",
                packages.join(" ")
            )));
        }
        terminal::say!("fetching {} into {}", wanted.join(" "), folder.display());
        let mut download = self.command("apt-get");
        download.args(["-qq", "download"]).args(&wanted).current_dir(&self.downloads);
        output_of(download)?;
        let entries = std::fs::read_dir(&self.downloads)
            .map_err(|error| Failure::failed(format!("cannot read {}: {error}", self.downloads.display())))?;
        for archive in entries.flatten().map(|entry| entry.path()) {
            if archive.extension().is_none_or(|extension| extension != "deb") {
                continue;
            }
            let mut extract = Command::new(super::install::found("dpkg-deb"));
            extract.arg("-x").arg(&archive).arg(folder);
            output_of(extract)?;
            let _ = std::fs::remove_file(&archive);
        }
        Ok(())
    }

    /// What would be installed with them, by the package client's own reckoning, and a kernel that is installed
    /// already where only root may read it.
    fn with_dependencies(&mut self, packages: &[&str]) -> Result<Vec<String>, Failure> {
        let simulate = |client: &Client| {
            let mut simulate = client.command("apt-get");
            simulate.args(["install", "--simulate", "-qq", "--no-install-recommends"]).args(packages);
            output_of(simulate)
        };
        let text = match simulate(self) {
            Err(_) if !self.own_lists => {
                self.fetch_lists()?;
                simulate(self)?
            }
            other => other?,
        };
        let mut wanted = simulated(&text);
        wanted.extend(believed_installed(packages, &text));
        let kernels = lanes::missing::names([kernel_package()]);
        let kernel = kernels.first().map_or(kernel_package(), String::as_str);
        let has_kernel = wanted.iter().any(|name| OF_KERNELS.iter().any(|start| name.starts_with(start)));
        if packages.contains(&kernel) && !has_kernel {
            wanted.extend(self.parts_of_kernel(kernel)?);
        }
        Ok(wanted)
    }

    fn parts_of_kernel(&self, package: &str) -> Result<Vec<String>, Failure> {
        let (mut parts, mut seen): (Vec<String>, usize) = (vec![package.to_owned()], 0);
        for _ in 0..STEPS_TO_A_KERNEL {
            let mut found = Vec::new();
            for part in &parts[seen..] {
                let mut depends = self.command("apt-cache");
                depends.args(["depends", "--important", part]);
                found.extend(depended(&output_of(depends)?));
            }
            seen = parts.len();
            found.retain(|name| !parts.contains(name));
            parts.extend(found);
        }
        Ok(parts)
    }

    /// Into a folder of our own, from the sources that the machine is set to.
    fn fetch_lists(&mut self) -> Result<(), Failure> {
        self.own_lists = true;
        for folder in ["lists/partial", "cache/archives/partial"] {
            make(&self.downloads.join(folder))?;
        }
        let mut update = self.command("apt-get");
        update.args(["-qq", "update"]);
        output_of(update).map(drop)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(super::install::found(program));
        if self.own_lists {
            for (key, folder) in [("Dir::State::Lists", "lists"), ("Dir::Cache", "cache")] {
                command.arg("-o").arg(format!("{key}={}", self.downloads.join(folder).display()));
            }
        }
        command
    }
}

fn make(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format!("cannot make {}: {error}", folder.display())))
}

/// `Inst NAME (VERSION …)`: one line a package.
fn simulated(text: &str) -> Vec<String> {
    let name = |line: &str| line.strip_prefix("Inst ")?.split_whitespace().next().map(str::to_owned);
    text.lines().filter_map(name).filter(|name| !OF_NO_USE.contains(&name.as_str())).collect()
}

/// Packages that the client would not install because it takes them for installed, while their programs are not
/// there: files that were removed, or that only root may read. They are fetched all the same; kernels are found
/// by what they depend on.
fn believed_installed(packages: &[&str], simulation: &str) -> Vec<String> {
    let would_install = |package: &str| {
        simulation
            .lines()
            .any(|line| line.strip_prefix("Inst ").is_some_and(|of| of.split(' ').next() == Some(package)))
    };
    let of_kernel = |package: &str| OF_KERNELS.iter().any(|start| package.starts_with(start));
    packages.iter().filter(|package| !would_install(package) && !of_kernel(package)).map(|&of| of.to_owned()).collect()
}

/// `  Depends: NAME`: one line a package; those that hold kernels.
fn depended(text: &str) -> Vec<String> {
    let name = |line: &str| line.trim().strip_prefix("Depends: ").map(str::to_owned);
    let of_kernel = |name: &String| OF_KERNELS.iter().any(|start| name.starts_with(start));
    text.lines().filter_map(name).filter(of_kernel).collect()
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

    #[test]
    fn packages_whose_files_are_gone_are_fetched_although_they_are_installed() {
        let text = "Inst jfsutils (1.1 [amd64])\nConf jfsutils (1.1 [amd64])\n";
        let packages = ["jfsutils", "ntfs-3g", "xfsprogs", "linux-image-amd64"];
        assert_eq!(believed_installed(&packages, text), ["ntfs-3g", "xfsprogs"]);
    }

    #[test]
    fn a_kernel_is_found_behind_the_package_that_stands_for_it() {
        let text = "linux-image-generic\n  Depends: linux-image-6.8.0-45-generic\n  Depends: linux-firmware\n \
                    |Depends: amd64-microcode\n  Depends: linux-modules-extra-6.8.0-45-generic\n";
        assert_eq!(depended(text), ["linux-image-6.8.0-45-generic", "linux-modules-extra-6.8.0-45-generic"]);
    }

    #[test]
    fn lists_of_our_own_are_named_to_the_client() {
        let words = |own_lists| {
            let client = Client { downloads: "/d".into(), own_lists };
            let command = client.command("apt-get");
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert!(words(false).is_empty());
        assert_eq!(words(true), ["-o", "Dir::State::Lists=/d/lists", "-o", "Dir::Cache=/d/cache"]);
    }
}
