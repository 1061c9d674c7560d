//! What power cuts and damage showed of a lane, in advice and in the report of a race.

use crate::asking;

use asking::{excluded, judged, nothing_known, race, scenario, table, three};
use model::lane::Lane;
use model::record::Record;
use stats::advice::facts::{Broken, Promise};
use stats::advice::{Knowledge, KnownSuite, Race, advise};
use stats::durability::warnings;

fn broken(lane: &Lane, kernel: &str, promise: Promise) -> Broken {
    Broken {
        filesystem: lane.filesystem.clone(),
        mkfs_command: lane.mkfs_command.clone(),
        mount_options: lane.mount_options.clone(),
        kernel: kernel.to_owned(),
        promise,
        started: "2026-11-22T10:00:00Z".to_owned(),
    }
}

fn lost(only_torn_512: bool) -> Promise {
    Promise::Durable { broken: 7, cuts: 900, only_torn_512 }
}

/// xfs is the fastest of three.
fn fast_xfs() -> Record {
    race(three(), &[[1000.0; 2], [1500.0; 2], [500.0; 2]], 0.005)
}

fn chosen(race: &Record, need: &str, broken: &[Broken]) -> model::findings::Advice {
    let features = table();
    let known = Knowledge { features: &features, suites: &["quick"].map(KnownSuite::from), broken, ..nothing_known() };
    let races = [Race { record: race, findings: &judged(race) }];
    advise(&races, &scenario([0.5, 0.5, 0.0], &[(need, "it must")]), &[], &known)
}

#[test]
fn a_lane_that_broke_a_promise_is_excluded_where_it_is_needed_and_says_so() {
    let race = fast_xfs();
    let kernel = race.header.machine.kernel.clone();
    let xfs = race.header.lanes[1].clone();
    assert_eq!(chosen(&race, "durable", &[]).lane.as_deref(), Some("xfs"));
    let advice = chosen(&race, "durable", &[broken(&xfs, &kernel, lost(false))]);
    assert_eq!(advice.lane.as_deref(), Some("ext4"));
    let out = excluded(&advice, "xfs");
    let note = String::from(out.facts[0].note.clone().expect("a note"));
    assert_eq!(note, "it broke a promise in 7 of 900 simulated power cuts");
    assert!(out.source.contains("fairlane powercut of 2026-11-22"), "{}", out.source);
    // Another kernel, other options, a guest: nobody cut those.
    let mut others = vec![broken(&xfs, "5.0", lost(false)), broken(&xfs, &kernel, lost(false))];
    others[1].mount_options.push("nobarrier".to_owned());
    assert_eq!(chosen(&race, "durable", &others).lane.as_deref(), Some("xfs"));
    let mut guest = xfs.clone();
    assert!(broken(&xfs, &kernel, lost(false)).is_of(&guest, &kernel));
    guest.venue = "uml".to_owned();
    assert!(!broken(&xfs, &kernel, lost(false)).is_of(&guest, &kernel));
    // Nor what stands on layers or on several disks.
    let mut stacked = [xfs.clone(), xfs.clone()];
    (stacked[0].layers, stacked[1].disks) = (vec!["crypt".to_owned()], 2);
    assert!(stacked.iter().all(|lane| !broken(&xfs, &kernel, lost(false)).is_of(lane, &kernel)));
    // A scenario that does not need it takes it all the same.
    assert_eq!(chosen(&race, "growth", &[broken(&xfs, &kernel, lost(false))]).lane.as_deref(), Some("xfs"));
}

#[test]
fn damage_that_was_read_without_an_error_takes_checksums_away() {
    let race = fast_xfs();
    let kernel = race.header.machine.kernel.clone();
    let btrfs = race.header.lanes[2].clone();
    assert_eq!(chosen(&race, "checksums", &[]).lane.as_deref(), Some("btrfs"));
    let silent = broken(&btrfs, &kernel, Promise::Checksums { files: 3 });
    let advice = chosen(&race, "checksums", std::slice::from_ref(&silent));
    assert_eq!(advice.lane, None);
    let note = String::from(excluded(&advice, "btrfs").facts[0].note.clone().expect("a note"));
    assert_eq!(note, "it gave 3 damaged files to a reader without an error");
    // Of two runs the one that damaged more is told.
    let more = broken(&btrfs, &kernel, Promise::Checksums { files: 5 });
    let advice = chosen(&race, "checksums", &[silent.clone(), more]);
    let out = excluded(&advice, "btrfs");
    assert_eq!(out.facts[0].note.as_deref(), Some("it gave 5 damaged files to a reader without an error"));
    assert!(out.source.ends_with("of 2 runs that saw it the one with the most files"), "{}", out.source);
    // Of durability it says nothing.
    assert_eq!(chosen(&race, "durable", &[silent]).lane.as_deref(), Some("xfs"));
}

#[test]
fn the_report_of_a_race_names_the_price_of_a_lane() {
    let race = fast_xfs();
    let kernel = race.header.machine.kernel.clone();
    let [ext4, xfs, btrfs] = &race.header.lanes[..] else { panic!("three lanes") };
    let known = [
        broken(xfs, &kernel, lost(false)),
        broken(xfs, &kernel, Promise::Durable { broken: 1, cuts: 20, only_torn_512: false }),
        broken(btrfs, &kernel, lost(true)),
        broken(btrfs, &kernel, Promise::Checksums { files: 3 }),
        broken(ext4, "5.0", lost(false)),
    ];
    let said: Vec<String> = warnings(&race.header, &known).into_iter().map(String::from).collect();
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[0].starts_with("xfs broke a promise in 7 of 900 simulated power cuts"), "{}", said[0]);
    assert!(said[1].contains("tore a write between sectors of 512 bytes"), "{}", said[1]);
    assert!(said[2].contains("btrfs promises checksums of data and gave 3 damaged files"), "{}", said[2]);
}

#[test]
fn a_new_small_run_does_not_replace_an_older_larger_one_and_it_is_said_which_is_told() {
    let race = fast_xfs();
    let kernel = race.header.machine.kernel.clone();
    let xfs = race.header.lanes[1].clone();
    let durable = |broken, cuts| Promise::Durable { broken, cuts, only_torn_512: false };
    let run = |started: &str, promise| Broken { started: started.to_owned(), ..broken(&xfs, &kernel, promise) };
    // The newest first, as they are read.
    let runs = [
        run("2026-11-23T01:00:00Z", durable(24, 24)),
        run("2026-11-22T01:00:00Z", durable(248, 300)),
        run("2026-11-21T01:00:00Z", durable(250, 300)),
    ];
    let said: Vec<String> = warnings(&race.header, &runs).into_iter().map(String::from).collect();
    assert_eq!(
        said,
        [
            "xfs broke a promise in 248 of 300 simulated power cuts (fairlane powercut of 2026-11-22T01:00:00Z, of 3 runs \
          that saw it the one with the most cuts): its speed has this price"
        ]
    );
    let advice = chosen(&race, "durable", &runs);
    let out = excluded(&advice, "xfs");
    assert_eq!(out.facts[0].note.as_deref(), Some("it broke a promise in 248 of 300 simulated power cuts"));
    assert_eq!(
        out.source,
        "fairlane powercut of 2026-11-22T01:00:00Z, of 3 runs that saw it the one with the most cuts"
    );
    // Where it did not even mount, and nothing else broke, that excludes it too.
    let unmounted = [run("2026-11-22T01:00:00Z", Promise::Mounts { unmountable: 2, cuts: 60 })];
    let note =
        String::from(excluded(&chosen(&race, "durable", &unmounted), "xfs").facts[0].note.clone().expect("a note"));
    assert_eq!(note, "after 2 of 60 simulated power cuts without fsync of directories it did not mount");
    let said: Vec<String> = warnings(&race.header, &unmounted).into_iter().map(String::from).collect();
    assert!(said[0].starts_with("xfs did not mount after 2 of 60 simulated power cuts"), "{said:?}");
}
