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
    let place = Place::open(&Target::Directory(folder.path().to_owned())).unwrap();
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
