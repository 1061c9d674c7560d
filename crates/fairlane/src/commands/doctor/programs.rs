//! Database servers and the programs that suites start: which are here, and how they come without a service
//! that runs ever after.

use model::oltp::Server;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// What is missing of one of them.
pub struct Missing {
    /// The program.
    pub program: String,
    /// The package that brings it.
    pub package: String,
}

/// Database servers and the programs that suites start, with what is missing of each.
pub fn survey() -> Vec<(&'static str, Option<Missing>)> {
    let missing = |program: &str, package: &str| Missing { program: program.to_owned(), package: package.to_owned() };
    let servers = [Server::Mariadb, Server::Mysql, Server::Postgresql].map(|server| {
        (server.name(), engine::databases::missing(server).map(|(program, package)| missing(program, package)))
    });
    let others = ["ffmpeg", "git", "tar"]
        .map(|program| (program, engine::programs::find(program).is_none().then(|| missing(program, program))));
    servers.into_iter().chain(others).collect()
}

/// Packages that bring what is missing.
pub fn packages() -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for package in survey().into_iter().filter_map(|(_, missing)| missing).map(|missing| missing.package) {
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    packages
}

/// What packages call to start a service and to make a cluster of PostgreSQL's, which would be started at every
/// boot.
const STARTERS: [&str; 3] = ["invoke-rc.d", "deb-systemd-invoke", "pg_createcluster"];
/// How the folder begins in which they are something else; what follows is the process whose it is.
const FOLDER: &str = ".fairlane-install-";
/// Where it lies: gone with the next boot, whatever happens.
const OF_ROOT: &str = "/run";
/// Where maintainers' scripts find all other programs.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An installation that starts no service: packages find `true` under the names of the programs that do it, by a
/// PATH that holds for this installation alone. No file of the system changes, so that a death leaves nothing that
/// anybody would read.
pub struct NoServices(PathBuf);

impl NoServices {
    /// Makes the folder of links.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn for_a_while() -> std::io::Result<Self> {
        let made = NoServices(Path::new(OF_ROOT).join(format!("{FOLDER}{}", std::process::id())));
        // One of our own number is of somebody who is dead.
        let _ = std::fs::remove_dir_all(&made.0);
        DirBuilder::new().mode(0o755).create(&made.0)?;
        for starter in STARTERS {
            symlink("/bin/true", made.0.join(starter))?;
        }
        Ok(made)
    }

    /// The setting that apt-get needs.
    pub fn setting(&self) -> String {
        format!("DPkg::Path={}:{SYSTEM_PATH}", self.0.display())
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes what installations that were killed left, of scripts/install-tools too; answers the folders. An
/// installation that outlives whoever started it keeps its own.
pub fn sweep() -> Vec<PathBuf> {
    if !lanes::host::is_root() {
        return Vec::new();
    }
    let of_dead = |entry: std::fs::DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.strip_prefix(FOLDER)?.parse().ok()?;
        (!Path::new("/proc").join(pid.to_string()).exists()).then(|| entry.path())
    };
    let folders: Vec<PathBuf> =
        std::fs::read_dir(OF_ROOT).into_iter().flatten().flatten().filter_map(of_dead).collect();
    let gone = |folder: &PathBuf| !is_used(folder) && std::fs::remove_dir_all(folder).is_ok();
    folders.into_iter().filter(gone).collect()
}

/// Whether an apt-get works with a folder.
fn is_used(folder: &Path) -> bool {
    let setting = format!("DPkg::Path={}:", folder.display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|&byte| byte == 0).any(|word| word.starts_with(setting.as_bytes())))
}
