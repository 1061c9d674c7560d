//! What needs a server and a look behind the work's own face.

use super::*;
use crate::workloads::Observer;
use model::agent::Target;

/// Ends the first client that came after this connection.
struct Ends {
    session: Box<dyn Session>,
    own: f64,
}

impl Observer for Ends {
    fn window_opens(&mut self) {
        let rows = self.session.rows("SHOW PROCESSLIST").unwrap();
        let ids = rows.iter().filter_map(|row| row[0].parse::<u64>().ok()).filter(|id| *id as f64 > self.own);
        let first = ids.min().expect("clients");
        self.session.run(&format!("KILL {first}")).unwrap();
    }
    fn window_closes(&mut self) {}
}

#[test]
fn a_client_that_mariadb_lets_go_comes_again_and_is_counted() {
    if let Some((program, package)) = missing(Server::Mariadb) {
        eprintln!("skipped: {program} is not installed; apt install {package}");
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).unwrap();
    let oltp: Oltp = toml::from_str(
        "server = \"mariadb\"\nscript = \"update-index\"\nthreads = [3]\ntable_size = 300\npool = \"8MiB\"\n\
         warm_up_seconds = 0.1\nseconds = 1.0\ncold = false",
    )
    .unwrap();
    let mut work = OltpWork::prepare(&place, &oltp, 1, None, Arc::default()).unwrap();
    work.start(&place).unwrap();
    let mut session = work.connect(&place, 1).unwrap();
    let own = session.number("SELECT CONNECTION_ID()").unwrap().unwrap();
    let window = work.phase(&place, &oltp.groups()[0], Part::WHOLE, &mut Ends { session, own }).unwrap();
    let lost = window.totals.iter().find(|(key, _)| *key == "lost_connections").unwrap().1;
    assert_eq!(lost, 1.0);
    assert!(window.operations > 0);
    assert!(work.uncertain <= 1);
    // What was acknowledged before and after is there.
    work.verify(&place).unwrap();
    work.release();
}

/// A server of Fairlane's own in a folder, as one that runs already.
fn running(server: Server, folder: &std::path::Path) -> Option<(OltpWork, OpenTarget, String)> {
    if let Some((program, package)) = missing(server) {
        eprintln!("skipped: {program} is not installed; apt install {package}");
        return None;
    }
    let place = OpenTarget::open(&Target::Directory(folder.to_owned())).unwrap();
    let text =
        format!("server = \"{}\"\nscript = \"insert\"\nthreads = [2]\ntable_size = 10\npool = \"8MiB\"", server.name());
    let oltp: Oltp = toml::from_str(&text).unwrap();
    let mut work = OltpWork::prepare(&place, &oltp, 1, None, Arc::default()).unwrap();
    work.start(&place).unwrap();
    let name = if server == Server::Postgresql { ".s.PGSQL.5432" } else { "socket" };
    let socket = folder.join(server_directory::NAME).join(name).to_string_lossy().into_owned();
    Some((work, place, socket))
}

/// Makes users with passwords, who may make databases; PostgreSQL gets one of each kind of password.
fn admit_guests(mut session: Box<dyn Session>, server: Server, folder: &std::path::Path) {
    for sql in match server {
        Server::Postgresql => &[
            "SET password_encryption = 'scram-sha-256'",
            "CREATE ROLE guest SUPERUSER LOGIN PASSWORD 'it is secret'",
            "SET password_encryption = 'md5'",
            "CREATE ROLE old SUPERUSER LOGIN PASSWORD 'it is old'",
        ][..],
        _ => &["CREATE USER guest@localhost IDENTIFIED BY 'it is secret'", "GRANT ALL ON *.* TO guest@localhost"],
    } {
        session.run(sql).unwrap();
    }
    if server == Server::Postgresql {
        let file = folder.join(server_directory::NAME).join("data/pg_hba.conf");
        std::fs::write(&file, "local all guest scram-sha-256\nlocal all old md5\nlocal all all trust\n").unwrap();
        session.run("SELECT pg_reload_conf()").unwrap();
    }
}

/// A user and a password to connect with.
fn who(user: &str, password: &str) -> Option<Who> {
    let (user, database) = (user.to_owned(), String::new());
    Some(Who { user, password: password.as_bytes().to_vec(), database, creates: false })
}

#[test]
fn a_server_that_runs_already_is_used_and_left_as_it_was() {
    for server in [Server::Mariadb, Server::Postgresql] {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let Some((mut host, place, socket)) = running(server, folder.path()) else { continue };
        let pid = host.running.as_ref().unwrap().pid();
        let databases = |host: &OltpWork| {
            let question =
                if server == Server::Postgresql { "SELECT datname FROM pg_database" } else { "SHOW DATABASES" };
            let mut all = host.connect(&place, 1).unwrap().rows(question).unwrap();
            all.sort();
            all
        };
        let before = databases(&host);
        admit_guests(host.connect(&place, 1).unwrap(), server, folder.path());
        let text = format!(
            "server = \"{}\"\nscript = \"update-index\"\nthreads = [2]\ntable_size = 300\nwarm_up_seconds = 0.05\n\
             seconds = 0.3\nsocket = \"{socket}\"",
            server.name()
        );
        let oltp: Oltp = toml::from_str(&text).unwrap();
        oltp.check().unwrap();
        let prepare =
            |password: &str| OltpWork::prepare_as(&place, &oltp, 1, None, Arc::default(), who("guest", password));
        // The settings that PostgreSQL was told to read again are read soon.
        let begun = Instant::now();
        let refused = loop {
            match prepare("another") {
                Err(error) => break error.to_string(),
                Ok(work) => drop(work),
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{server:?} takes any password");
        };
        assert!(refused.contains("as guest") && refused.contains("FAIRLANE_DATABASE_PASSWORD"), "{refused}");
        let mut work = prepare("it is secret").unwrap_or_else(|error| panic!("{server:?}: {error}"));
        assert_eq!(oltp.groups().len(), 1, "nothing of it can begin cold");
        let window = work.phase(&place, &oltp.groups()[0], Part::WHOLE, &mut ()).unwrap();
        assert!(window.operations > 0 && !window.settings.is_empty());
        assert!(window.server_cpu_seconds.is_some(), "its socket tells its process");
        assert!(databases(&host).len() > before.len());
        work.release();
        work.verify(&place).unwrap();
        drop(work);
        assert_eq!(databases(&host), before, "its database was dropped");
        assert_eq!(host.running.as_ref().unwrap().pid(), pid);
        assert!(host.running.as_ref().unwrap().is_alive(), "it was not stopped");
        if server == Server::Postgresql {
            let prepare =
                |password: &str| OltpWork::prepare_as(&place, &oltp, 1, None, Arc::default(), who("old", password));
            assert!(prepare("another").is_err());
            drop(prepare("it is old").unwrap());
        }
        // A database of that name that is somebody's stays.
        let made = host.connect(&place, 1).unwrap().run("CREATE DATABASE fairlane_race");
        made.unwrap();
        let error = prepare("it is secret").err().unwrap().to_string();
        assert!(error.contains("DROP DATABASE fairlane_race"), "{error}");
        assert!(databases(&host).len() > before.len(), "it is still there");
        // Data on another filesystem.
        let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
        let other = OpenTarget::open(&Target::Directory(elsewhere.path().to_owned())).unwrap();
        let guest = who("guest", "it is secret");
        let error = OltpWork::prepare_as(&other, &oltp, 1, None, Arc::default(), guest).err().unwrap();
        assert!(error.to_string().contains("on another filesystem than the lane"), "{error}");
        host.release();
    }
}
