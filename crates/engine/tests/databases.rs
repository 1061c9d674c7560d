//! Transactions on the real databases: SQLite always, the servers where they are installed.

mod common;

use common::{directory, on_disk};
use engine::{EngineError, Observer, OpenTarget, Window, Work};
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

fn prepare(place: &OpenTarget, oltp: &Oltp, note: Option<PathBuf>) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Oltp(Box::new(oltp.clone())) };
    engine::prepare_noted(place, &workload, (42, model::ranks::Clients::ALONE), note, Arc::new(AtomicBool::new(false)))
}

fn phase(work: &mut dyn Work, place: &OpenTarget, oltp: &Oltp, group: usize) -> Result<Window, EngineError> {
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
            // Those that were in flight at the end have a latency, and are in no rate.
            let latencies = window.latencies.operations();
            assert!((window.operations..=window.operations + 2).contains(&latencies), "{latencies}");
            assert!(window.all_operations >= window.operations);
            assert_eq!(window.settings["synchronous"], "FULL");
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
    assert!(error.to_string().contains("sychronous is not handed on to SQLite"), "{error}");
}

#[test]
fn a_journal_that_sqlite_does_not_take_is_an_error() {
    let folder = on_disk();
    let of = oltp(Server::Sqlite, "insert", "options = { journal_mode = \"BOGUS\" }");
    let error = prepare(&directory(folder.path()), &of, None).err().unwrap();
    assert!(error.to_string().contains("keeps journal_mode = delete in this lane where BOGUS"), "{error}");
}

/// What is done at the moments of a window.
#[derive(Default)]
struct At<'a> {
    begins: Option<Box<dyn FnMut() + Send + 'a>>,
    opens: Option<Box<dyn FnMut() + Send + 'a>>,
    written: u32,
}

impl Observer for At<'_> {
    fn window_opens(&mut self) {
        self.opens.iter_mut().for_each(|then| then());
    }
    fn window_closes(&mut self) {}
    fn work_begins(&mut self) {
        self.begins.iter_mut().for_each(|then| then());
    }
    fn work_is_written(&mut self) {
        self.written += 1;
    }
}

#[test]
fn every_group_of_deletes_begins_with_full_tables() {
    let (folder, of) = (on_disk(), oltp(Server::Sqlite, "delete", "cold = false").clone());
    let of = Oltp { table_size: 40, ..of };
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    let file = folder.path().join("fairlane-database/data.sqlite");
    let rows = || {
        let database = rusqlite::Connection::open(&file).unwrap();
        database.query_row("SELECT COUNT(*) FROM sbtest1", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for _ in 0..2 {
        let mut seen = 0;
        let mut at = At { begins: Some(Box::new(|| seen = rows())), ..At::default() };
        work.phase(&place, &of.groups()[0], Part::WHOLE, &mut at).unwrap();
        assert_eq!(at.written, 1, "all of it was written, and whoever watches was told");
        drop(at);
        assert_eq!(seen, 40);
        assert!(rows() < 40);
    }
    work.verify(&place).unwrap();
}

#[test]
fn what_is_in_flight_when_the_window_closes_has_a_latency_too() {
    let (folder, of) = (on_disk(), oltp(Server::Sqlite, "insert", "cold = false"));
    let of = Oltp { threads: vec![16], ..of };
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    let window = phase(work.as_mut(), &place, &of, 0).unwrap();
    // One writes and the others stand in the queue.
    assert!(window.latencies.operations() > window.operations);
}

fn total(window: &Window, key: &str) -> f64 {
    window.totals.iter().find(|(own, _)| *own == key).unwrap_or_else(|| panic!("{key}: {:?}", window.totals)).1
}

#[test]
fn an_insert_of_one_client_is_synced_about_once() {
    for server in [Server::Sqlite, Server::Mariadb, Server::Postgresql] {
        if !installed(server) {
            continue;
        }
        let (folder, of) = (on_disk(), oltp(server, "insert", "cold = false"));
        let of = Oltp { threads: vec![1], warm_up_seconds: 0.3, ..of };
        let place = directory(folder.path());
        let mut work = prepare(&place, &of, None).unwrap();
        let window = phase(work.as_mut(), &place, &of, 0).unwrap();
        let each = total(&window, "server_fsyncs_per_operation") / window.operations as f64;
        assert!((0.05..2.5).contains(&each), "{server:?}: {each} in {} transactions", window.operations);
        if server == Server::Sqlite {
            assert!(total(&window, "server_fsync_ns") > 0.0);
        }
        work.release();
    }
}

#[test]
fn what_a_server_used_in_the_warm_up_is_not_the_windows() {
    for server in SERVERS.into_iter().filter(|&server| installed(server)) {
        let (folder, of) = (on_disk(), oltp(server, "point-select", "cold = false"));
        let of = Oltp { warm_up_seconds: 3.0, seconds: 0.1, ..of };
        let place = directory(folder.path());
        let mut work = prepare(&place, &of, None).unwrap();
        let window = phase(work.as_mut(), &place, &of, 0).unwrap();
        let [user, system] = window.server_cpu_seconds.unwrap();
        let most = (window.seconds + 0.2) * std::thread::available_parallelism().unwrap().get() as f64;
        assert!(user + system <= most, "{server:?}: {user} + {system} of {most}");
        assert!(window.all_operations > window.operations, "the warm-up did some too");
        work.release();
    }
}

#[test]
fn a_server_states_its_settings_and_an_abbreviation_is_no_option() {
    for (server, key, value) in
        [(Server::Mariadb, "innodb_io_capacity", "345"), (Server::Postgresql, "MAX_WAL_SIZE", "128MB")]
    {
        if !installed(server) {
            continue;
        }
        let (folder, of) = (on_disk(), oltp(server, "insert", &format!("options = {{ {key} = \"{value}\" }}")));
        let place = directory(folder.path());
        let mut work = prepare(&place, &of, None).unwrap();
        let settings = phase(work.as_mut(), &place, &of, 0).unwrap().settings;
        assert_eq!(settings[&key.to_ascii_lowercase()], value);
        let durable = if server == Server::Mariadb { "innodb_flush_log_at_trx_commit" } else { "fsync" };
        assert!(["1", "on"].contains(&settings[durable].as_str()), "{settings:?}");
        let method = if server == Server::Mariadb { "innodb_flush_method" } else { "wal_sync_method" };
        assert!(settings.contains_key(method), "{settings:?}");
        work.release();
        // It would fill the next pool with what this one held.
        assert!(!folder.path().join("fairlane-database/data/ib_buffer_pool").exists());
    }
    if installed(Server::Mariadb) {
        let of = oltp(Server::Mariadb, "insert", "options = { innodb_flush_log_at_trx = \"0\" }");
        let folder = on_disk();
        let error = prepare(&directory(folder.path()), &of, None).err().unwrap().to_string();
        assert!(error.contains("innodb_flush_log_at_trx"), "{error}");
    }
}

#[test]
fn transactions_that_met_each_other_are_counted_by_their_cause() {
    for server in SERVERS.into_iter().filter(|&server| installed(server)) {
        // PostgreSQL looks for a deadlock once it has waited for a second: some windows see none.
        let mut deadlocks = 0.0;
        for _ in 0..10 {
            let (folder, of) = (on_disk(), oltp(server, "write-only", "cold = false"));
            let of = Oltp { threads: vec![8], table_size: 3, seconds: 2.0, ..of };
            let place = directory(folder.path());
            let mut work = prepare(&place, &of, None).unwrap();
            let window = phase(work.as_mut(), &place, &of, 0).unwrap();
            let causes = ["deadlocks", "lock_timeouts", "serialisation_failures", "duplicate_keys", "busy"];
            let each = causes.map(|key| total(&window, key));
            assert_eq!(each.iter().sum::<f64>(), total(&window, "retries"));
            assert_eq!((each[4], total(&window, "lost_connections")), (0.0, 0.0));
            work.release();
            deadlocks += each[0];
            if deadlocks > 0.0 {
                break;
            }
        }
        assert!(deadlocks > 0.0, "{server:?}: eight clients and three rows");
    }
}

/// Children of a process by what they call themselves.
fn children(pid: i32, called: &str) -> Vec<i32> {
    let of = |entry: std::fs::DirEntry| {
        let child: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent: i32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (parent == pid && line.contains(called)).then_some(child)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

#[test]
fn a_connection_that_is_lost_while_the_server_lives_is_made_anew_and_counted() {
    if !installed(Server::Postgresql) {
        return;
    }
    let (folder, of) = (on_disk(), oltp(Server::Postgresql, "insert", "cold = false"));
    let of = Oltp { seconds: 1.5, ..of };
    let (place, note) = (directory(folder.path()), folder.path().join("note"));
    let mut work = prepare(&place, &of, Some(note.clone())).unwrap();
    let end_one = || {
        let backends = children(noted(&note).unwrap(), "fairlane postgres");
        let pid = rustix::process::Pid::from_raw(*backends.first().expect("a client")).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    };
    let mut at = At { opens: Some(Box::new(end_one)), ..At::default() };
    let window = work.phase(&place, &of.groups()[0], Part::WHOLE, &mut at).unwrap();
    assert_eq!(total(&window, "lost_connections"), 1.0);
    assert!(window.operations > 0);
    drop(at);
    assert!(work.notes().iter().any(|note| note.parts().0 == "lost connections"), "{:?}", work.notes());
    work.verify(&place).unwrap();
    work.release();
}

#[test]
fn a_server_has_no_privileges_and_is_reached_by_its_socket_alone() {
    for server in SERVERS.into_iter().filter(|&server| installed(server)) {
        let (folder, of) = (on_disk(), oltp(server, "insert", ""));
        let (place, note) = (directory(folder.path()), folder.path().join("note"));
        let mut work = prepare(&place, &of, Some(note.clone())).unwrap();
        let mut checked = 0;
        let look = || {
            let pid = noted(&note).unwrap();
            for pid in children(pid, "").into_iter().chain([pid]) {
                let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
                let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
                assert!(uid.split_whitespace().all(|uid| uid != "0"), "{server:?} runs as root: {uid}");
                assert!(status.contains("\nNoNewPrivs:\t1\n"), "{server:?} could become root again");
                let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
                let inode = |entry: std::fs::DirEntry| {
                    let to = std::fs::read_link(entry.path()).ok()?;
                    Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
                };
                let own: Vec<String> = open.filter_map(inode).collect();
                for table in ["tcp", "tcp6", "udp", "udp6"] {
                    let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
                    let inodes: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(9)).collect();
                    // Loopback alone, connected to itself: PostgreSQL 14 told its statistics so.
                    assert!(!own.iter().any(|own| inodes.contains(&own.as_str())), "{server:?} has a {table} socket");
                }
                checked += 1;
            }
        };
        let mut at = At { opens: Some(Box::new(look)), ..At::default() };
        work.phase(&place, &of.groups()[1], Part::WHOLE, &mut at).unwrap();
        drop(at);
        assert!(checked > 0);
        work.release();
    }
}

#[test]
fn a_panic_of_who_watches_ends_the_clients_too() {
    let (folder, of) = (on_disk(), oltp(Server::Sqlite, "insert", ""));
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    let mut at = At { opens: Some(Box::new(|| panic!("on purpose"))), ..At::default() };
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = work.phase(&place, &of.groups()[1], Part::WHOLE, &mut at);
    }));
    assert!(ended.is_err(), "it came back, and with the panic");
}

#[test]
fn postgresql_that_is_let_go_at_once_keeps_no_shared_memory() {
    if !installed(Server::Postgresql) {
        return;
    }
    let (folder, of) = (on_disk(), oltp(Server::Postgresql, "insert", ""));
    let place = directory(folder.path());
    let mut work = prepare(&place, &of, None).unwrap();
    phase(work.as_mut(), &place, &of, 1).unwrap();
    // Its seventh line names the segment: key and id.
    let text = std::fs::read_to_string(folder.path().join("fairlane-database/data/postmaster.pid")).unwrap();
    let id = text.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)).unwrap().to_owned();
    let is_there = || {
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        segments.lines().any(|line| line.split_whitespace().nth(1) == Some(id.as_str()))
    };
    assert!(is_there());
    drop(work);
    assert!(!is_there(), "segment {id} is left");
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
    let all = SERVERS.into_iter().filter(|&server| installed(server));
    for (server, script) in all.flat_map(|server| [(server, "insert"), (server, "update-index")]) {
        let (folder, mut of) = (on_disk(), oltp(server, script, "cold = false"));
        let (place, note) = (directory(folder.path()), folder.path().join("note"));
        let mut work = prepare(&place, &of, Some(note.clone())).unwrap();
        // These are acknowledged for certain.
        let acknowledged = phase(work.as_mut(), &place, &of, 0).unwrap().operations;
        assert!(acknowledged > 0);
        let pid = noted(&note).unwrap();
        let kill = || {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            });
        };
        let mut at = At { opens: Some(Box::new(kill)), ..At::default() };
        let cut = work.phase(&place, &of.groups()[0], Part::WHOLE, &mut at);
        drop(at);
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
        (Server::Mariadb, "innodb_no_such_option = \"1\"", "innodb-no-such-option"),
        (Server::Postgresql, "wal_no_such_option = \"1\"", "wal_no_such_option"),
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
    let null = OpenTarget::open(&model::agent::Target::Null).unwrap();
    assert!(prepare(&null, &of, None).is_err());
}

/// Where a child of this test puts its database; it is set in the child alone.
const CHILD: &str = "FAIRLANE_TEST_DATABASE";

fn sum_of_k(folder: &Path) -> i64 {
    let database = rusqlite::Connection::open(folder.join("fairlane-database/data.sqlite")).unwrap();
    let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    database.query_row("SELECT SUM(k) FROM sbtest1", [], |row| row.get(0)).unwrap()
}

/// Not a test of its own: updates until it is killed, and says what was acknowledged.
#[test]
fn updates_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let of = oltp(Server::Sqlite, "update-index", "cold = false");
    let place = directory(&folder);
    let mut work = prepare(&place, &of, None).unwrap();
    println!("\nacknowledged {}", sum_of_k(&folder));
    loop {
        let window = phase(work.as_mut(), &place, &of, 0).unwrap();
        println!("\nacknowledged {}", window.all_operations);
    }
}

#[test]
fn a_killed_process_leaves_every_acknowledged_update_in_sqlite() {
    use std::io::BufRead;
    let folder = on_disk();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "updates_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(CHILD, folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<i64>().ok());
    // The sum before, and three windows.
    let told: Vec<i64> = told.take(4).collect();
    std::thread::sleep(Duration::from_millis(100));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told.len(), 4, "it said what it did");
    assert!(told[1..].iter().all(|count| *count > 0));
    let (found, least) = (sum_of_k(folder.path()), told.iter().sum::<i64>());
    assert!(found >= least, "{found} of at least {least}");
}
