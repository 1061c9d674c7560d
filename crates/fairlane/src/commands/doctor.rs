//! `fairlane doctor`: what this machine can race, what is missing, and the one command that adds it.

use super::report::print;
use crate::failure::Failure;
use crate::options::Doctor;
use lanes::availability::{Availability, survey};
use lanes::filesystem::Home;
use model::oltp::Server;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Prints the survey, or installs what is missing.
///
/// # Errors
/// When the packages cannot be installed.
pub fn run(options: &Doctor) -> Result<(), Failure> {
    if options.install {
        install(options.programs)?;
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
    let _ = writeln!(text, "programs of the suites database, media and applications");
    let _ = writeln!(text, "  {:<10} ready (built in)", "sqlite");
    for (name, missing) in programs() {
        let state = missing.as_ref().map_or_else(
            || "ready".to_owned(),
            |(program, package)| format!("{program} is missing: apt install {package}"),
        );
        let _ = writeln!(text, "  {name:<10} {state}");
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
    if programs().iter().any(|(_, missing)| missing.is_some()) {
        let _ = writeln!(text, "missing programs are added by: fairlane doctor --install --programs");
    }
    if packages.is_empty() {
        let _ = writeln!(text, "every tool for this kernel's filesystems is installed");
    } else {
        let _ = writeln!(text, "missing tools are added by: fairlane doctor --install");
    }
    print(&text)
}

/// Database servers and the programs that suites start, with what is missing of each: a program, and the
/// package that brings it.
fn programs() -> Vec<(&'static str, Option<(String, String)>)> {
    let servers = [Server::Mariadb, Server::Postgresql].map(|server| {
        let missing = engine::databases::missing(server);
        (server.name(), missing.map(|(program, package)| (program.to_owned(), package.to_owned())))
    });
    let others = [("ffmpeg", "ffmpeg"), ("git", "git"), ("tar", "tar")].map(|(program, package)| {
        let missing = engine::programs::find(program).is_none();
        (program, missing.then(|| (program.to_owned(), package.to_owned())))
    });
    servers.into_iter().chain(others).collect()
}

/// Files that keep an installation from starting services, removed again whatever happens. A file that is there
/// already is the administrator's and stays.
struct NoServices(Vec<&'static Path>);

impl NoServices {
    fn for_a_while() -> std::io::Result<Self> {
        let files: [(&str, &str, u32); 2] = [
            // What Debian's packages ask before they start a service: 101 forbids it.
            ("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755),
            // A cluster of PostgreSQL's would be started at every boot.
            ("/etc/postgresql-common/createcluster.d/fairlane.conf", "create_main_cluster = false\n", 0o644),
        ];
        let mut made = NoServices(Vec::new());
        for (path, text, mode) in files {
            let path = Path::new(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
                Ok(mut file) => {
                    made.0.push(path);
                    file.write_all(text.as_bytes())?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Installs the missing packages with apt-get, through sudo where needed.
fn install(with_programs: bool) -> Result<(), Failure> {
    let mut packages: BTreeSet<String> = survey()
        .into_iter()
        .filter_map(|(_, availability)| match availability {
            Availability::ToolMissing { package, .. } => Some(package.to_owned()),
            _ => None,
        })
        .collect();
    if with_programs {
        packages.extend(programs().into_iter().filter_map(|(_, missing)| missing).map(|(_, package)| package));
    }
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    if !has("apt-get") {
        return Err(Failure::missing(format!(
            "there is no apt-get here; install with this distribution's package manager what Debian calls: {list}"
        )));
    }
    let root = rustix::process::geteuid().is_root();
    if !root && !has("sudo") {
        return Err(Failure::missing(format!("installing needs root; as root: apt-get install {list}")));
    }
    let no_services = packages.contains("postgresql");
    if no_services && !root {
        return Err(Failure::missing(
            "that no database server is started by its package takes root: sudo fairlane doctor --install --programs",
        ));
    }
    let quiet = no_services.then(NoServices::for_a_while).transpose();
    let _quiet = quiet.map_err(|error| Failure::failed(format!("services cannot be kept from starting: {error}")))?;
    apt(root, &["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages.iter().map(String::as_str));
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
