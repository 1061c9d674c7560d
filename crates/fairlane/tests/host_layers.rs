//! Layers on the machine's own kernel: user-mode Linux as a machine whose kernel has md and the device mapper, in which
//! Fairlane races as root, on loop devices.

use super::common::Place;
use super::home::Home;
use super::user_mode_linux::user_mode_linux;
use lanes::command_guest::{CommandGuest, FILES, Terms, copy_out};
use lanes::undo::Journal;
use model::lane::{LaneSpec, Venue};
use model::record::Record;
use model::trial::Outcome;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Killed so often, at moments that are spread over a whole race; FAIRLANE_KILLS says another number.
const KILLS: u32 = 4;

/// A machine that has what lanes need.
struct Machine {
    home: Home,
    guest: CommandGuest,
    journal: Journal,
}

impl Machine {
    /// With so many disks of this many bytes beside the one of its files: ubdb, ubdc, …
    fn boot(lanes: &[&str], disks: usize, bytes: u64) -> Machine {
        let home = Home::new();
        let disks: Vec<PathBuf> = (0..disks).map(|number| home.0.path().join(format!("disk{number}"))).collect();
        disks.iter().for_each(|disk| File::create_new(disk).unwrap().set_len(bytes).unwrap());
        let specs: Vec<LaneSpec> = lanes.iter().map(|lane| lane.parse().unwrap()).collect();
        let mut journal = Journal::begin(&home.0.path().join("undo"), "host-layers").unwrap();
        let terms = Terms {
            venue: &Venue::Uml,
            specs: &specs,
            folder: home.0.path(),
            disk_bytes: 3 << 30,
            further_disks: &disks,
            trace: None,
            program: PathBuf::from(env!("CARGO_BIN_EXE_fairlane")),
        };
        let guest = CommandGuest::boot(&terms, &mut journal, &AtomicBool::new(false)).unwrap();
        Machine { home, guest, journal }
    }

    /// Runs Fairlane there; answers its status and what it said.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let mut said = String::new();
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let status = self.guest.run(words, &mut |text| said.push_str(text), &AtomicBool::new(false)).unwrap();
        (status, said)
    }

    /// Powers it off and answers a record that it wrote.
    fn end(mut self, record: &str) -> Record {
        let disk = self.guest.end(&mut self.journal).unwrap();
        let back = self.home.0.path().join("back");
        std::fs::create_dir(&back).unwrap();
        copy_out(&disk, &[record], &back).unwrap();
        let text = std::fs::read_to_string(back.join(record)).unwrap();
        self.journal.finish().unwrap();
        let place: &Place = &self.home.0;
        place.assert_nothing_left();
        Record::parse(&text).unwrap()
    }
}

fn race<'a>(lanes: &[&'a str], record: &'a str) -> Vec<&'a str> {
    let images = ["--lane-size", "64MiB", "--on", FILES];
    race_on(&images, lanes, record)
}

fn race_on<'a>(ground: &[&'a str], lanes: &[&'a str], record: &'a str) -> Vec<&'a str> {
    let fixed = [
        "--suite",
        "quick",
        "--workload",
        "log",
        "--set",
        "log.size=8MiB",
        "--set",
        "log.slices=2",
        "--explain=no",
        "--rounds",
        "1",
        "-o",
    ];
    ["race"]
        .into_iter()
        .chain(lanes.iter().copied())
        .chain(ground.iter().copied())
        .chain(fixed)
        .chain([record])
        .collect()
}

fn in_files(name: &str) -> String {
    Path::new(FILES).join(name).to_string_lossy().into_owned()
}

#[test]
fn a_machine_whose_kernel_has_the_drivers_builds_layers_itself_and_takes_them_down() {
    if !user_mode_linux() {
        return;
    }
    let lanes = ["ext4", "ext4/raid1:2", "ext4/crypt", "ext4/thin/raid0:2"];
    let machine = Machine::boot(&lanes, 0, 0);
    let record = in_files("r.jsonl");
    let (status, said) = machine.run(&race(&lanes, &record));
    assert_eq!(status, 0, "{said}");
    let record = machine.end("r.jsonl");
    let ended: Vec<_> = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).collect();
    for lane in &record.header.lanes {
        assert_eq!(lane.venue, "image");
        let trial = ended.iter().find(|trial| trial.lane == lane.name).unwrap_or_else(|| panic!("{said}"));
        assert_eq!(trial.phases_seconds.contains_key("layers"), lane.name != "ext4", "{trial:?}");
        assert_eq!(lane.usable_bytes > 0, lane.name != "ext4", "{lane:?}");
    }
    let disks = |name: &str| {
        let trial = ended.iter().find(|trial| trial.lane == name).unwrap();
        trial.system.disks.iter().map(|disk| disk.write_bytes as f64).collect::<Vec<_>>()
    };
    // Each disk of the mirror has the whole of it.
    let [one, two] = disks("ext4/raid1:2")[..] else { panic!("{:?}", disks("ext4/raid1:2")) };
    assert!(one > 0.0 && (one / two - 1.0).abs() < 0.2, "{one} {two}");
}

/// Wherever a kill falls: `clean` takes away what stands on the loop devices before these, and fails where anything holds one.
#[test]
fn sigkill_in_the_life_of_layers_leaves_nothing_once_the_next_command_ran() {
    if !user_mode_linux() {
        return;
    }
    let lanes = ["ext4/raid5:3/crypt", "ext4/raid1:2,rebuilding", "ecryptfs(ext4/thin)"];
    let kills = std::env::var("FAIRLANE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let machine = Machine::boot(&lanes, 0, 0);
    let begun = Instant::now();
    let (status, said) = machine.run(&race(&lanes, &in_files("whole.jsonl")));
    assert_eq!(status, 0, "{said}");
    let whole = begun.elapsed();
    for kill in 0..kills {
        let after = whole.mul_f64((f64::from(kill) + 0.5) / f64::from(kills));
        let record = in_files(&format!("{kill}.jsonl"));
        let words = race(&lanes, &record).into_iter().map(str::to_owned).collect();
        let (said, status) = machine.guest.run_and_kill(words, after.max(Duration::from_millis(100))).unwrap();
        assert!(status == 137 || status == 0, "{status}: {said}");
        let (status, said) = machine.run(&["clean"]);
        assert_eq!(status, 0, "killed after {after:?}: {said}");
    }
    // Nothing is in the way of the next one.
    let (status, said) = machine.run(&race(&lanes, &in_files("last.jsonl")));
    assert_eq!(status, 0, "{said}");
    let record = machine.end("last.jsonl");
    assert_eq!(record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).count(), 3, "{said}");
}

/// What a killed race left on them is wiped by the next one.
#[test]
fn layers_stand_on_disks_of_ones_own_and_leave_them_free() {
    if !user_mode_linux() {
        return;
    }
    let lanes = ["ext4", "ext4/raid1:2", "ext4/cache:2,mode=writeback", "xfs/raid5:3,consistency=journal"];
    // From 512 MiB on a race looks at each of the disks for seconds.
    let machine = Machine::boot(&lanes, 3, 448 << 20);
    let disks = ["b", "c", "d"].map(|letter| format!("/dev/disk/by-id/guest-ubd{letter}"));
    let erase: Vec<&str> = disks.iter().flat_map(|disk| ["--erase", disk.as_str()]).collect();
    let (all, both) = (disks.join(","), disks[..2].join(","));
    let ground: Vec<&str> = ["--disks", &all].into_iter().chain(erase.iter().copied()).collect();
    let on_two: Vec<&str> = ["--disks", &both].into_iter().chain(erase[..4].iter().copied()).collect();
    let first = in_files("r.jsonl");
    let (status, said) = machine.run(&race_on(&ground, &lanes, &first));
    assert_eq!(status, 0, "{said}");
    // Layers are taken down with --keep too: nothing could be looked at without them.
    let (status, said) =
        machine.run(&[&race_on(&on_two, &lanes[1..3], &in_files("kept.jsonl"))[..], &["--keep"]].concat());
    assert_eq!(status, 0, "{said}");
    let (status, said) = machine.run(&["clean"]);
    assert_eq!(status, 0, "{said}");
    let last = in_files("last.jsonl");
    let words = race_on(&on_two, &lanes[..2], &last).into_iter().map(str::to_owned).collect();
    let _ = machine.guest.run_and_kill(words, Duration::from_secs(4)).unwrap();
    let (status, said) = machine.run(&["clean"]);
    assert_eq!(status, 0, "{said}");
    let again = in_files("again.jsonl");
    let (status, said) = machine.run(&race_on(&ground, &lanes, &again));
    assert_eq!(status, 0, "{said}");
    let record = machine.end("again.jsonl");
    for lane in &record.header.lanes {
        assert_eq!(
            (lane.venue.as_str(), lane.disks as usize),
            ("device", lane.spec.parse::<LaneSpec>().unwrap().disks() as usize)
        );
        let done = |trial: &&model::trial::Trial| trial.lane == lane.name && trial.outcome == Outcome::Ok;
        assert!(record.trials.iter().any(|trial| done(&trial)), "{}: {said}", lane.name);
    }
}
