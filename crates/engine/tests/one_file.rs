//! Clients that work on one file at the same time, on a real disk.

mod common;

use common::{directory, on_disk};
use engine::{OpenTarget, OtherClient, Work};
use model::agent::Part;
use model::ranks::Clients;
use model::workload::Workload;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Barrier};

const CLIENTS: u32 = 3;
const OPERATIONS: u64 = 203;

fn workload() -> Workload {
    let text =
        format!("name = \"t\"\ntitle = \"t\"\nkind = \"one-file\"\noperations = {OPERATIONS}\nrecord = \"3000B\"");
    toml::from_str(&text).unwrap()
}

/// Ranks have seeds of their own.
fn seed_of(client: u32) -> u64 {
    42 ^ (u64::from(client) << 32)
}

fn prepare_as(place: &OpenTarget, clients: Clients) -> Box<dyn Work> {
    engine::prepare_noted(place, &workload(), (seed_of(clients.number), clients), None, Arc::default()).unwrap()
}

/// More is appended than one client reads afterwards.
#[test]
fn of_a_long_file_each_client_looks_at_another_part() {
    let text =
        "name = \"t\"\ntitle = \"t\"\nkind = \"one-file\"\nacts = [\"append\"]\noperations = 80\nrecord = \"300000B\"";
    let workload: Workload = toml::from_str(text).unwrap();
    let folder = on_disk();
    let place = directory(folder.path());
    let mut works: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let clients = Clients { number, reads: (number + 1) % CLIENTS, of: CLIENTS };
            engine::prepare_noted(&place, &workload, (seed_of(number), clients), None, Arc::default()).unwrap()
        })
        .collect();
    // In turns, so that records of all lie in each part.
    for index in 0..8 {
        for work in &mut works {
            work.phase(&place, "append to one file", Part { index, of: 8 }, &mut ()).unwrap();
        }
    }
    let file = folder.path().join("fairlane-one-file/appended");
    let whole = std::fs::read(&file).unwrap();
    for (number, work) in (0..CLIENTS).zip(&mut works) {
        let reads = (number + 1) % CLIENTS;
        let other = OtherClient { number: reads, rank: reads, seed: seed_of(reads) };
        let compared = work.check_other(&place, other).unwrap();
        assert!(compared > 0 && compared < 80 * 300_000, "{compared}");
        // The last record of the other one lies in the last client's part alone. Whose it is stands behind its number.
        let is_theirs = |at: &usize| whole[at * 300_000 + 8..][..8] == u64::from(reads).to_le_bytes();
        let last = (0..240).rev().find(is_theirs).unwrap();
        let mut torn = whole.clone();
        torn[last * 300_000 + 299_999] ^= 1;
        std::fs::write(&file, &torn).unwrap();
        let told = work.check_other(&place, other);
        assert_eq!(told.is_err(), number == CLIENTS - 1, "client {number}: {told:?}");
        std::fs::write(&file, &whole).unwrap();
    }
}

/// Every act, in parts.
fn do_all(work: &mut dyn Work, place: &OpenTarget) {
    for group in workload().groups() {
        let part = |index: u32| work.phase(place, &group, Part { index, of: 4 }, &mut ());
        let windows: Vec<_> =
            (0..4).map(part).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{group}: {error}"));
        assert_eq!(windows.iter().map(|window| window.operations).sum::<u64>(), OPERATIONS, "{group}");
        let bytes = if group.starts_with("append") { OPERATIONS * 3000 } else { 0 };
        assert_eq!(windows.iter().map(|window| window.bytes).sum::<u64>(), bytes, "{group}");
        assert!(windows.iter().all(|window| window.seconds > 0.0), "{group}");
    }
}

#[test]
fn what_clients_append_and_count_at_once_is_all_there() {
    let folder = on_disk();
    let (path, all_done) = (folder.path(), &Barrier::new(CLIENTS as usize));
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            scope.spawn(move || {
                let (place, reads) = (directory(path), (number + 1) % CLIENTS);
                let mut work = prepare_as(&place, Clients { number, reads, of: CLIENTS });
                // The others wait also for one that fails.
                let done = catch_unwind(AssertUnwindSafe(|| do_all(&mut *work, &place)));
                all_done.wait();
                done.unwrap_or_else(|panic| resume_unwind(panic));
                let other = OtherClient { number: reads, rank: reads, seed: seed_of(reads) };
                assert_eq!(work.check_other(&place, other).unwrap(), OPERATIONS * 3000 + 8);
                let wrong = OtherClient { seed: 7, ..other };
                let said = work.check_other(&place, wrong).unwrap_err().to_string();
                assert!(said.contains("is not what was appended"), "{said}");
            });
        }
    });
}

#[test]
fn what_is_lost_of_appends_and_counts_is_told() {
    let folder = on_disk();
    let place = directory(folder.path());
    let mut work = prepare_as(&place, Clients::ALONE);
    do_all(&mut *work, &place);
    let file = |name: &str| folder.path().join("fairlane-one-file").join(name);
    let itself = OtherClient { number: 0, rank: 0, seed: seed_of(0) };
    let mut said = |path: &Path, bytes: &[u8]| {
        let before = std::fs::read(path).unwrap();
        std::fs::write(path, bytes).unwrap();
        let said = work.check_other(&place, itself).unwrap_err().to_string();
        std::fs::write(path, before).unwrap();
        said
    };
    let (appended, locked) = (file("appended"), file("locked"));
    let whole = std::fs::read(&appended).unwrap();
    let mut twice = whole.clone();
    twice.copy_within(0..3000, 3000);
    let mut torn = whole.clone();
    torn[7000] ^= 1;
    let mut hole = whole.clone();
    hole[3000..6000].fill(0);
    let short = &whole[..whole.len() - 3000];
    for (path, bytes, expected) in [
        (&appended, short, "has 606000 bytes where 203 records of 3000 were appended"),
        (&appended, &twice[..], "record 1 of rank 0 is not where it should be, 0 is"),
        (&appended, &torn[..], "record 2 of rank 0 is not what was appended"),
        (&appended, &hole[..], "record 1 of rank 0 is not where it should be, 0 is"),
        (&locked, &202_u64.to_le_bytes()[..], "203 were counted under the lock and 202 are there"),
    ] {
        let told = said(path, bytes);
        assert!(told.contains(expected), "{told}");
    }
    assert_eq!(work.check_other(&place, itself).unwrap(), OPERATIONS * 3000 + 8);
}
