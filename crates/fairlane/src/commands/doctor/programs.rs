//! Database servers and the programs that suites start: which are here, and how they come without a service
//! that runs ever after.

use model::oltp::Server;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

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

/// Files that keep an installation from starting services, removed again whatever happens. A file that is there
/// already is the administrator's and stays.
pub struct NoServices(Vec<&'static Path>);

impl NoServices {
    /// Makes them.
    ///
    /// # Errors
    /// When one cannot be written; what was written is removed.
    pub fn for_a_while() -> std::io::Result<Self> {
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
