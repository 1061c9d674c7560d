//! Threads that do one act at the same time, on a real disk.

mod common;

use common::{directory, on_disk};
use engine::{EngineError, Observer, OpenTarget, Tally, Window, Work};
use model::agent::Part;
use model::kinds::contention::{Contention, REGION_BYTES};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const OPERATIONS: u64 = 403;

fn contention(text: &str) -> Contention {
    toml::from_str(&format!("operations = {OPERATIONS}\nsize = \"3000B\"\nthreads = [1, 3]\n{text}")).unwrap()
}

fn workload(of: &Contention) -> Workload {
    Workload { name: "t".into(), title: "t".into(), kind: Kind::Contention(of.clone()) }
}

fn prepare(place: &OpenTarget, of: &Contention) -> Result<Box<dyn Work>, EngineError> {
    engine::prepare(place, &workload(of), 7, Arc::new(AtomicBool::new(false)))
}

/// All parts of a group.
fn phase(work: &mut dyn Work, place: &OpenTarget, group: &str, parts: u32) -> Result<Vec<Window>, EngineError> {
    (0..parts).map(|index| work.phase(place, group, Part { index, of: parts }, &mut ())).collect()
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn every_group_does_all_its_operations_and_leaves_what_they_leave() {
    let folder = on_disk();
    let place = directory(folder.path());
    let of = contention("");
    let mut work = prepare(&place, &of).unwrap();
    let groups = workload(&of).groups();
    assert_eq!(groups.len(), 18);
    for group in &groups {
        let windows = phase(&mut *work, &place, group, 10).unwrap_or_else(|error| panic!("{group}: {error}"));
        let operations: u64 = windows.iter().map(|window| window.operations).sum();
        match group.ends_with("1 thread") {
            true => assert_eq!(operations, OPERATIONS, "{group}"),
            // Until the first has done its share of a part.
            false => assert!((OPERATIONS / 4..=OPERATIONS).contains(&operations), "{group}: {operations}"),
        }
        let bytes: u64 = windows.iter().map(|window| window.bytes).sum();
        assert_eq!(bytes, if group.contains("append") || group.contains("overwrite") { operations * 3000 } else { 0 });
        let tally = windows[1..].iter().fold(Tally::new(windows[0].clone()), |mut tally, window| {
            tally.add(window);
            tally
        });
        let mut rates: Vec<f64> = windows.iter().map(|window| window.operations as f64 / window.seconds).collect();
        rates.sort_by(f64::total_cmp);
        let (told, median) = (tally.group().metrics["operations_per_second"], (rates[4] + rates[5]) / 2.0);
        assert!((told / median - 1.0).abs() < 1e-6, "{group}: no sync is in its figure: {told}, {rates:?}");
        for window in &windows {
            assert_eq!(window.latencies.operations(), window.operations, "{group}");
            assert!(window.seconds > 0.0 && window.sync_seconds == 0.0, "{group}: {window:?}");
            let (share, name) = window.busiest_thread.as_ref().unwrap();
            // The two clocks are not read at the same moment: of so short a part it may be more than one CPU.
            assert!(share.is_finite() && *share >= 0.0 && name.starts_with("contention-"), "{group}: {share} {name}");
        }
    }
    let top = folder.path().join("fairlane-contention");
    let group = |name: &str| top.join(format!("g{:03}", groups.iter().position(|of| of == name).unwrap()));
    let lengths = |name: &str| -> Vec<u64> {
        let places = std::fs::read_dir(group(name)).unwrap();
        places.map(|place| place.unwrap().metadata().unwrap().len()).collect()
    };
    assert_eq!(lengths("append, one file, 3 threads"), [OPERATIONS * 3000]);
    assert_eq!(lengths("append, own files, 3 threads").iter().sum::<u64>(), OPERATIONS * 3000);
    assert_eq!(lengths("append, own files, 3 threads").len(), 3);
    assert_eq!(lengths("overwrite, one file, 3 threads"), [3 * REGION_BYTES]);
    assert_eq!(count(&group("create, one directory, 3 threads").join("p000")), OPERATIONS as usize);
    let own: usize =
        (0..3).map(|at| count(&group("create, own directories, 3 threads").join(format!("p00{at}")))).sum();
    assert_eq!(own, OPERATIONS as usize);
    assert_eq!(count(&group("rename, one directory, 3 threads").join("p000")), 3);
}

#[test]
fn what_the_filesystem_loses_is_noticed() {
    let folder = on_disk();
    let place = directory(folder.path());
    let of = contention("acts = [\"append\", \"create\"]\nsharing = [\"one\"]");
    let mut work = prepare(&place, &of).unwrap();
    let top = folder.path().join("fairlane-contention");
    for (number, group) in workload(&of).groups().iter().enumerate().filter(|(_, group)| group.contains("3 threads")) {
        let first = work.phase(&place, group, Part { index: 0, of: 2 }, &mut ());
        first.unwrap();
        let place_of_all = top.join(format!("g{number:03}")).join("p000");
        match place_of_all.is_dir() {
            true => std::fs::remove_file(place_of_all.join("f000000000")).unwrap(),
            false => std::fs::File::options().write(true).open(&place_of_all).unwrap().set_len(5).unwrap(),
        }
        let error = work.phase(&place, group, Part { index: 1, of: 2 }, &mut ()).unwrap_err();
        assert!(matches!(error, EngineError::Contents { .. }) && error.is_corrupt(), "{group}: {error:?}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_the_flag_ends_it() {
    let folder = on_disk();
    let place = directory(folder.path());
    let of = contention("acts = [\"rename\"]");
    let mut work = prepare(&place, &of).unwrap();
    let group = "rename, one directory, 3 threads";
    for (group, part) in [("rename, one directory, 4 threads", Part::WHOLE), (group, Part { index: 2, of: 2 })] {
        assert!(matches!(work.phase(&place, group, part, &mut ()), Err(EngineError::Unsuitable(_))));
    }
    assert!(work.phase(&place, group, Part { index: 1, of: 2 }, &mut ()).is_err(), "its first part is missing");
    let null = OpenTarget::open(&model::agent::Target::Null).unwrap();
    assert!(matches!(prepare(&null, &of), Err(EngineError::Unsuitable(_))));
    let stop = Arc::new(AtomicBool::new(false));
    let mut work = engine::prepare(&place, &workload(&of), 7, stop.clone()).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(work.phase(&place, group, Part::WHOLE, &mut ()), Err(EngineError::Interrupted)));
}

#[test]
fn a_link_in_place_of_its_folder_is_not_followed() {
    let (folder, other) = (on_disk(), on_disk());
    let place = directory(folder.path());
    let of = contention("acts = [\"create\"]");
    let mut work = prepare(&place, &of).unwrap();
    std::fs::rename(folder.path().join("fairlane-contention"), other.path().join("fairlane-contention")).unwrap();
    std::os::unix::fs::symlink(other.path().join("fairlane-contention"), folder.path().join("fairlane-contention"))
        .unwrap();
    assert!(work.phase(&place, "create, 1 thread", Part::WHOLE, &mut ()).is_err());
    assert_eq!(count(&other.path().join("fairlane-contention/g000/p000")), 0);
}

#[derive(Default)]
struct Counts([u32; 2]);

impl Observer for Counts {
    fn window_opens(&mut self) {
        self.0[0] += 1;
    }
    fn window_closes(&mut self) {
        self.0[1] += 1;
    }
}

#[test]
fn each_part_is_watched_once_until_one_of_its_threads_is_done() {
    let folder = on_disk();
    let place = directory(folder.path());
    let of = contention("acts = [\"rename\"]");
    let mut work = prepare(&place, &of).unwrap();
    for group in workload(&of).groups() {
        let mut counts = Counts::default();
        work.phase(&place, &group, Part { index: 0, of: 2 }, &mut counts).unwrap();
        assert_eq!(counts.0, [1, 1], "{group}");
    }
}

#[test]
fn where_one_thread_fails_the_others_end_and_its_error_is_told() {
    let folder = on_disk();
    let place = directory(folder.path());
    let mut of = contention("acts = [\"create\"]\nsharing = [\"one\"]");
    of.operations = 300_000;
    let mut work = prepare(&place, &of).unwrap();
    let names = folder.path().join("fairlane-contention/g001/p000");
    // The first name of the second thread.
    std::fs::write(names.join("f000100000"), b"").unwrap();
    let error = work.phase(&place, "create, one directory, 3 threads", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EEXIST), "{error}");
    assert!(count(&names) < 200_000, "the others went on");
}
