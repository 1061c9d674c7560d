//! Transactions on the real databases: SQLite always, the servers where they are installed.

mod common;

use common::{directory, on_disk};
use engine::{EngineError, Place, Window, Work};
use model::agent::Part;
use model::oltp::{Oltp, Server};
use model::workload::{Kind, Workload};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const SERVERS: [Server; 2] = [Server::Mariadb, Server::Postgresql];

fn oltp(server: Server, script: &str, more: &str) -> Oltp {
    let text = format!(
        "server = \"{}\"\nscript = \"{script}\"\nthreads = [2]\ntable_size = 600\npool = \"8MiB\"\nwarm_up_seconds = 0.05\n\
         seconds = 0.3\n{more}",
        server.name()
    );
    toml::from_str(&text).unwrap()
}

fn prepare(place: &Place, oltp: &Oltp, note: Option<PathBuf>) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Oltp(Box::new(oltp.clone())) };
    engine::prepare_noted(place, &workload, 42, note, Arc::new(AtomicBool::new(false)))
}

fn phase(work: &mut dyn Work, place: &Place, oltp: &Oltp, group: usize) -> Result<Window, EngineError> {
    work.phase(place, &oltp.groups()[group], Part::WHOLE, &mut ())
}

/// Whether the server's programs are there; otherwise the reason to skip.
fn installed(server: Server) -> bool {
    match engine::databases::missing(server) {
        None => true,
        Some((program, package)) => {
            eprintln!("skipped: {program} is not installed; apt install {package}");
            false
        }
    }
}

fn noted(note: &Path) -> Option<i32> {
    std::fs::read_to_string(note).ok()?.split(' ').next()?.parse().ok()
}

fn is_running(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !matches!(stat.rsplit(") ").next().and_then(|rest| rest.chars().next()), None | Some('Z'))
}

#[test]
fn every_script_works_on_sqlite_and_its_rows_are_there() {
    for script in ["point-select", "insert", "update-index", "delete", "read-only", "write-only", "read-write"] {
        let (folder, of) = (on_disk(), oltp(Server::Sqlite, script, "tables = 2"));
        let place = directory(folder.path());
        let mut work = prepare(&place, &of, None).unwrap();
        for group in 0..of.groups().len() {
            let window = phase(work.as_mut(), &place, &of, group).unwrap();
            assert_eq!(window.group, of.groups()[group]);
            assert!(
                window.operations > 0 && window.seconds > 0.25,
                "{script}: {} in {}",
                window.operations,
                window.seconds
            );
            assert_eq!(window.latencies.operations(), window.operations);
            assert_eq!(window.bytes, window.operations * of.transaction_bytes());
            work.release();
        }
        work.verify(&place).unwrap();
    }
}

#[test]
fn servers_work_below_a_folder_that_they_may_not_enter() {
    use std::os::unix::fs::PermissionsExt;
    for server in SERVERS.into_iter().filter(|server| installed(*server)) {
        let (folder, of) = (on_disk(), oltp(server, "insert", ""));
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let place = directory(folder.path());
        let mut work = prepare(&place, &of, None).unwrap();
        assert!(phase(work.as_mut(), &place, &of, 1).unwrap().operations > 0);
        work.verify(&place).unwrap();
        work.release();
        // Nothing of the server's own view is left in this one.
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains("fairlane-database"), "{mounts}");
    }
}

#[test]
fn what_the_filesystem_lost_is_found_in_sqlite() {
    let of = oltp(Server::Sqlite, "insert", "");
    let file = |folder: &Path| folder.join("fairlane-database/data.sqlite");
    // A row that was acknowledged is gone.
    let folder = on_disk();
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    work.verify(&place).unwrap();
    work.release();
    let other = rusqlite::Connection::open(file(folder.path())).unwrap();
    other.execute("DELETE FROM sbtest1 WHERE id = 300", []).unwrap();
    drop(other);
    let error = work.verify(&place).unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("599 rows where 600 were acknowledged"), "{error}");
    // A page holds something else.
    let folder = on_disk();
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    work.release();
    let bytes = std::fs::metadata(file(folder.path())).unwrap().len();
    let damaged = std::fs::OpenOptions::new().write(true).open(file(folder.path())).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&damaged, &[0xa5; 8192], bytes / 2 / 4096 * 4096).unwrap();
    let error = work.verify(&place).unwrap_err();
    assert!(error.to_string().contains("damaged") || error.to_string().contains("malformed"), "{error}");
}

#[test]
fn a_pragma_that_sqlite_does_not_have_is_refused_by_name() {
    let folder = on_disk();
    let of = oltp(Server::Sqlite, "insert", "options = { sychronous = \"OFF\" }");
    let error = prepare(&directory(folder.path()), &of, None).err().unwrap();
    assert!(error.to_string().contains("no pragma sychronous"), "{error}");
}

#[test]
fn servers_work_from_the_empty_lane_to_the_checked_tables_and_leave_no_process() {
    for server in SERVERS.into_iter().filter(|&server| installed(server)) {
        let (folder, of) = (on_disk(), oltp(server, "read-write", ""));
        let (place, note) = (directory(folder.path()), folder.path().join("note"));
        let mut work = prepare(&place, &of, Some(note.clone())).unwrap();
        assert_eq!(noted(&note), None, "it was stopped after the load");
        let cold = phase(work.as_mut(), &place, &of, 0).unwrap();
        let first = noted(&note).expect("its id is noted while it runs");
        assert!(is_running(first));
        let warm = phase(work.as_mut(), &place, &of, 1).unwrap();
        assert_eq!(noted(&note), Some(first), "it goes on from group to group");
        for window in [&cold, &warm] {
            assert!(window.operations > 0, "{server:?}");
            let [user, system] = window.server_cpu_seconds.unwrap();
            assert!(user >= 0.0 && system >= 0.0 && user + system < 60.0);
        }
        assert!(warm.totals.iter().any(|(key, _)| *key == "server_fsyncs_per_operation"), "{:?}", warm.totals);
        work.verify(&place).unwrap();
        work.release();
        assert!(!is_running(first) && noted(&note).is_none());
        // It starts again on what lies there.
        work.verify(&place).unwrap();
        drop(work);
        assert_eq!(noted(&note), None);
    }
}

#[test]
fn a_killed_server_recovers_every_acknowledged_transaction() {
    for server in SERVERS.into_iter().filter(|&server| installed(server)) {
        let (folder, mut of) = (on_disk(), oltp(server, "insert", "cold = false"));
        let (place, note) = (directory(folder.path()), folder.path().join("note"));
        let mut work = prepare(&place, &of, Some(note.clone())).unwrap();
        // These are acknowledged for certain.
        let acknowledged = phase(work.as_mut(), &place, &of, 0).unwrap().operations;
        assert!(acknowledged > 0);
        let pid = noted(&note).unwrap();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL)
        });
        let cut = phase(work.as_mut(), &place, &of, 0);
        killer.join().unwrap().unwrap();
        let begun = Instant::now();
        while is_running(pid) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{server:?} survived SIGKILL");
            std::thread::sleep(Duration::from_millis(5));
        }
        if let Err(error) = cut {
            assert!(error.to_string().contains("connection"), "{error}");
        }
        // Started again, with at most one transaction of each client uncertain.
        work.verify(&place).unwrap();
        of.seconds = 0.1;
        assert!(phase(work.as_mut(), &place, &of, 0).unwrap().operations > 0);
        work.verify(&place).unwrap();
        work.release();
    }
}

#[test]
fn a_server_that_does_not_start_says_why() {
    for (server, option, says) in [
        (Server::Mariadb, "innodb_page_size = \"12345\"", "12345"),
        (Server::Mariadb, "no_such_option = \"1\"", "no-such-option"),
        (Server::Postgresql, "no_such_option = \"1\"", "no_such_option"),
    ] {
        if !installed(server) {
            continue;
        }
        let folder = on_disk();
        let of = oltp(server, "insert", &format!("options = {{ {option} }}"));
        let error = prepare(&directory(folder.path()), &of, None).err().unwrap().to_string();
        assert!(error.contains("did not start") && error.contains(says), "{error}");
    }
}

#[test]
fn a_part_and_a_group_that_are_not_there_are_refused() {
    let (folder, of) = (on_disk(), oltp(Server::Sqlite, "insert", ""));
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    assert!(work.phase(&place, "mariadb 2 threads", Part::WHOLE, &mut ()).is_err());
    assert!(work.phase(&place, &of.groups()[0], Part { index: 0, of: 2 }, &mut ()).is_err());
    let null = Place::open(&model::agent::Target::Null).unwrap();
    assert!(prepare(&null, &of, None).is_err());
}
