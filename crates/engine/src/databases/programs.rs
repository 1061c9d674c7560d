//! The servers' programs: where they are, what they are told, and the package that brings each.

use super::server_directory::ServerDirectory;
use crate::error::EngineError;
use model::oltp::{Oltp, Server};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A program, by the first of its names that is there.
pub(super) struct Program {
    /// Names, the usual one first.
    names: &'static [&'static str],
    /// Debian's package.
    pub(super) package: &'static str,
}

/// The server itself.
pub(super) fn server(of: Server) -> Program {
    match of {
        Server::Mariadb => Program { names: &["mariadbd", "mysqld"], package: "mariadb-server-core" },
        Server::Mysql => Program { names: &["mysqld", "mariadbd"], package: mysql_package() },
        Server::Postgresql | Server::Sqlite => Program { names: &["postgres"], package: "postgresql" },
    }
}

/// Ubuntu has packages of MySQL; Debian has MariaDB alone, which speaks its language.
fn mysql_package() -> &'static str {
    static PACKAGE: OnceLock<&str> = OnceLock::new();
    PACKAGE.get_or_init(|| package_of_mysql(&crate::packages::os_release()))
}

fn package_of_mysql(os_release: &str) -> &'static str {
    let is_ubuntu = |line: &str| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        ["ID", "ID_LIKE"].contains(&key) && value.trim_matches('"').split(' ').any(|name| name == "ubuntu")
    };
    if os_release.lines().any(is_ubuntu) { "mysql-server-core-8.0" } else { "mariadb-server-core" }
}

/// What makes PostgreSQL's first files; the others make them themselves.
const INITDB: Program = Program { names: &["initdb"], package: "postgresql" };

impl Program {
    /// Where it is.
    ///
    /// # Errors
    /// Names the package where it is not installed.
    pub(super) fn find(&self) -> Result<PathBuf, EngineError> {
        self.names.iter().find_map(|name| find(name)).ok_or_else(|| {
            let remedy = crate::packages::remedy(self.package);
            EngineError::Unsuitable(format!("{} is not installed; {remedy}", self.names[0]))
        })
    }
}

/// Where servers lie beside PATH: administrators' folders, and Fedora's and SUSE's of programs that nobody types.
const FOLDERS: [&str; 7] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/libexec"];
/// How a folder of one version of PostgreSQL begins, before its number and `/bin`: Debian, SUSE, its project's own
/// packages, Gentoo.
const VERSIONS: [&str; 4] = ["/usr/lib/postgresql/", "/usr/lib/postgresql", "/usr/pgsql-", "/usr/lib64/postgresql-"];

/// Looks in PATH, where administrators' programs lie, and in the folders of PostgreSQL's versions, the newest
/// first. Relative elements of PATH are left out.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    find_below(Path::new("/"), &std::env::var_os("PATH").unwrap_or_default(), name)
}

/// The same on a system whose root is elsewhere; `path` is left as it is.
fn find_below(root: &Path, path: &std::ffi::OsStr, name: &str) -> Option<PathBuf> {
    let below = |folder: &str| root.join(folder.trim_start_matches('/'));
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    for beginning in VERSIONS {
        let (parent, start) = beginning.rsplit_once('/').unwrap_or_default();
        for entry in std::fs::read_dir(below(parent)).into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.strip_prefix(start)?.parse().ok());
            versions.extend(number.map(|number| (number, entry.path().join("bin"))));
        }
    }
    versions.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    let fixed = FOLDERS.iter().map(|folder| below(folder));
    let all = folders.chain(fixed).chain(versions.into_iter().map(|(_, folder)| folder));
    all.map(|folder| folder.join(name)).find(executable)
}

/// What is missing to run this server here, as a program and the package that brings it.
pub fn missing(of: Server) -> Option<(&'static str, &'static str)> {
    if of == Server::Sqlite {
        return None;
    }
    let maker = Some(INITDB).filter(|_| of == Server::Postgresql);
    let all = [Some(server(of)), maker];
    all.into_iter().flatten().find(|program| program.find().is_err()).map(|program| (program.names[0], program.package))
}

/// The first line that the server says of its version, for the record.
pub fn version(of: Server) -> Option<String> {
    let program = server(of).find().ok().filter(|_| of.is_process())?;
    let asked =
        std::process::Command::new(&program).arg("--version").stdin(std::process::Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// What makes a server's first files in the directory.
pub(super) struct Making {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// What it reads.
    pub(super) input: Vec<u8>,
}

/// What makes the server's first files in the directory.
pub(super) fn making(of: Server, directory: &ServerDirectory) -> Result<Making, EngineError> {
    let data = directory.for_server("data");
    let program = server(of).find()?;
    Ok(match of {
        Server::Postgresql => {
            let fixed = ["--auth=trust", "--username=fairlane", "--encoding=UTF8", "--locale=C", "--no-sync"];
            let arguments = [format!("--pgdata={data}")].into_iter().chain(fixed.map(str::to_owned));
            Making { program: INITDB.find()?, arguments: arguments.collect(), input: Vec::new() }
        }
        // MySQL makes them itself; mariadbd, even where it is called mysqld, does not know how.
        _ if !is_mariadb(&program) => {
            let arguments =
                vec!["--no-defaults".to_owned(), "--initialize-insecure".to_owned(), format!("--datadir={data}")];
            Making { program, arguments, input: Vec::new() }
        }
        // What mariadb-install-db does, which is a shell script and needs the client's package too.
        _ => {
            let places = [format!("--datadir={data}"), format!("--tmpdir={}", directory.for_server("tmp"))];
            let fixed = [
                "--skip-networking",
                "--log-warnings=0",
                "--enforce-storage-engine=",
                "--max-allowed-packet=8M",
                // A list of pages that the first start would read.
                "--innodb-buffer-pool-dump-at-shutdown=OFF",
            ];
            let begin = ["--no-defaults", "--bootstrap"].map(str::to_owned);
            let arguments = begin.into_iter().chain(places).chain(fixed.map(str::to_owned)).collect();
            Making { program, arguments, input: system_tables()? }
        }
    })
}

/// MariaDB's own statements that make its system tables, with a root who has no password: the socket lies in
/// a folder that nobody else can enter.
fn system_tables() -> Result<Vec<u8>, EngineError> {
    const FOLDERS: [&str; 4] =
        ["/usr/share/mysql", "/usr/share/mariadb", "/usr/local/share/mysql", "/usr/local/share/mariadb"];
    let found = FOLDERS.iter().flat_map(|folder| ["mysql", "mariadb"].map(|name| format!("{folder}/{name}_")));
    let beginning = found.into_iter().find(|beginning| Path::new(&format!("{beginning}system_tables.sql")).is_file());
    let beginning = beginning.ok_or_else(|| {
        EngineError::Unsuitable(format!(
            "MariaDB's system tables are in none of {}; {}",
            FOLDERS.join(", "),
            crate::packages::remedy("mariadb-server-core")
        ))
    })?;
    // Each on a line of its own: a bootstrapping server reads statements so.
    let mut text = b"create database if not exists mysql;\nuse mysql;\nSET @auth_root_socket=NULL;\n".to_vec();
    for name in ["system_tables", "performance_tables", "system_tables_data"] {
        let path = format!("{beginning}{name}.sql");
        let part =
            std::fs::read(&path).map_err(|error| EngineError::Unsuitable(format!("{path} cannot be read: {error}")))?;
        text.extend(part);
        text.push(b'\n');
    }
    Ok(text)
}

fn is_mariadb(program: &Path) -> bool {
    let asked = std::process::Command::new(program).arg("--version").stdin(std::process::Stdio::null()).output();
    asked.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("MariaDB"))
}

/// Program and arguments that start the server in the directory. What the user asks for comes before what
/// Fairlane must have, because the last one wins.
pub(super) fn starting(oltp: &Oltp, directory: &ServerDirectory) -> Result<(PathBuf, Vec<String>), EngineError> {
    let program = server(oltp.server).find()?;
    let clients = oltp.threads.iter().max().copied().unwrap_or(1) + 10;
    let (data, here) = (directory.for_server("data"), directory.for_server("."));
    let mut arguments: Vec<String> = Vec::new();
    match oltp.server {
        Server::Postgresql => {
            arguments.extend(["-D".to_owned(), data]);
            let mut set = |key: &str, value: &str| arguments.extend(["-c".to_owned(), format!("{key}={value}")]);
            set("max_wal_size", "256MB");
            for (key, value) in oltp.durability().into_iter().chain(oltp.settings()) {
                set(&key, &value);
            }
            set("listen_addresses", "");
            set("unix_socket_directories", here.trim_end_matches("/."));
            set("unix_socket_permissions", "0700");
            set("port", "5432");
            set("shared_buffers", &format!("{}kB", oltp.pool.get() / 1024));
            set("max_connections", &clients.to_string());
            // In the lane, so that nothing stays in /dev/shm where the server is killed.
            set("dynamic_shared_memory_type", "mmap");
            set("logging_collector", "off");
        }
        _ => {
            arguments.push("--no-defaults".to_owned());
            let mut set = |key: &str, value: &str| arguments.push(format!("--{}={value}", key.replace('_', "-")));
            set("performance-schema", "OFF");
            if let Some(depth) = lru_scan_depth(oltp.pool.get()) {
                set("innodb-lru-scan-depth", &depth.to_string());
            }
            // Behind it: what the user says holds.
            for (key, value) in oltp.durability().into_iter().chain(oltp.settings()) {
                set(&key, &value);
            }
            set("datadir", &data);
            set("tmpdir", &directory.for_server("tmp"));
            set("socket", &directory.for_server("socket"));
            set("pid-file", &directory.for_server("pid"));
            set("skip-networking", "ON");
            set("loose-mysqlx", "OFF");
            set("skip-log-bin", "ON");
            // By default they fill the pool with what it held before.
            set("innodb-buffer-pool-dump-at-shutdown", "OFF");
            set("innodb-buffer-pool-load-at-startup", "OFF");
            set("innodb-buffer-pool-size", &oltp.pool.get().to_string());
            set("max-connections", &clients.to_string());
            set("max-prepared-stmt-count", "1048576");
        }
    }
    Ok((program, arguments))
}

/// Pages that InnoDB keeps free at the end of its list, for a pool of so many bytes; `None`: its own default, 1024 (MySQL)
/// or 1536 (MariaDB). That is more than all pages of a small pool: every page that is changed would be written at once, and
/// an insert of one row wrote 100 KiB.
fn lru_scan_depth(pool: u64) -> Option<u64> {
    const PAGE_BYTES: u64 = 16 << 10;
    const DEFAULT: u64 = 1536;
    const LEAST: u64 = 100;
    let pages = pool / PAGE_BYTES;
    (pages < 4 * DEFAULT).then_some((pages / 8).max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_pool_is_not_written_out_whole() {
        assert_eq!(lru_scan_depth(16 << 20), Some(128));
        assert_eq!(lru_scan_depth(8 << 20), Some(100));
        assert_eq!(lru_scan_depth(95 << 20), Some(760));
        assert_eq!(lru_scan_depth(128 << 20), None);
    }

    #[test]
    fn servers_are_found_where_other_distributions_put_them() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            path
        };
        let found = |name: &str| find_below(root.path(), std::ffi::OsStr::new(""), name);
        assert_eq!(found("mariadbd"), None);
        // Fedora and SUSE; Debian; SUSE; the packages of PostgreSQL's project for RHEL.
        assert_eq!(Some(put("usr/libexec/mariadbd")), found("mariadbd"));
        for newer in ["usr/lib/postgresql/9/bin/initdb", "usr/lib/postgresql15/bin/initdb", "usr/pgsql-17/bin/initdb"] {
            assert_eq!(Some(put(newer)), found("initdb"));
        }
        put("usr/lib/postgresql/16/bin/initdb");
        put("usr/lib/postgresql-common/bin/initdb");
        assert!(found("initdb").unwrap().ends_with("usr/pgsql-17/bin/initdb"));
    }

    #[test]
    fn mysql_is_named_by_a_package_that_the_distribution_has() {
        for (release, package) in [
            ("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n", "mysql-server-core-8.0"),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "mysql-server-core-8.0"),
            ("PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", "mariadb-server-core"),
            ("", "mariadb-server-core"),
        ] {
            assert_eq!(package_of_mysql(release), package, "{release}");
        }
    }
}
