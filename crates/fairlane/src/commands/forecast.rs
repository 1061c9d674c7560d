//! How long a race takes and what it writes, roughly and before it begins: the sum of its parts. What
//! it really took stands in the record, phase by phase.

mod disks;
mod operations;
mod programs;
mod rates;

pub use disks::Disks;
pub use programs::material;
pub use rates::{FAST, IN_GUEST, Rates, SPINNING};

use crate::conductor::slices::EXTENSIONS;
use disks::limited;
use model::kinds::{Demand, WindowWrites};
use model::record::Profile;
use model::workload::{Io, Schedule, Workload, WorkloadKind};
use std::ops::{Add, AddAssign, Mul};

/// Seconds and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Wall seconds.
    pub seconds: f64,
    /// Bytes written.
    pub bytes: f64,
}

impl Work {
    fn seconds(seconds: f64) -> Self {
        Work { seconds, bytes: 0.0 }
    }
}

impl Add for Work {
    type Output = Work;
    fn add(self, other: Work) -> Work {
        Work { seconds: self.seconds + other.seconds, bytes: self.bytes + other.bytes }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        *self = *self + other;
    }
}

impl Mul<f64> for Work {
    type Output = Work;
    fn mul(self, times: f64) -> Work {
        Work { seconds: self.seconds * times, bytes: self.bytes * times }
    }
}

/// Where a race takes place.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// What things take there.
    pub rates: Rates,
    /// Lanes.
    pub lanes: f64,
    /// Of these, those that are formatted and mounted.
    pub formatted: f64,
    /// Bytes that mkfs writes into each of these beyond what a visit takes anyhow.
    pub mkfs_bytes: f64,
    /// Images and devices whose ceilings are measured.
    pub probed: f64,
    /// All lanes are mounted at the same time and wait for quiet together.
    pub side_by_side: bool,
    /// How often slices of lanes side by side are made once more, on average.
    pub made_again: f64,
    /// How long they are quiet before each measurement.
    pub quiet_seconds: f64,
    /// The emulated disks that the lanes are held to.
    pub disks: Disks,
    /// CPUs that threads may share.
    pub cpus: f64,
}

/// Slices of a ceiling, and seconds of each beside its own: warm-up, the agent's answer.
const PROBE_SLICES: f64 = 2.0;
const SLICE_EXTRA_SECONDS: f64 = 0.045;
/// Seconds until what a throttled slice has in flight has come back.
const THROTTLED_END_SECONDS: f64 = 0.1;
/// The engine without a device: two slices of 0.1 s.
const NULL_SECONDS: f64 = 0.3;
/// Of lanes that are steady so many seem to change past their middle (method 2.3), at most, as the simulation in the tests of
/// stats::steady finds. Lanes that do change come on top of it, and nobody knows them beforehand.
const SEEM_TO_CHANGE: f64 = 0.01;

/// How often slices are made once more on average, because at least one of so many lanes seems to change: up to three times
/// (conductor::slices), each as likely as the one before. Of 3 lanes that is hardly anything, of 24 a quarter of all slices.
pub fn made_again(lanes: usize) -> f64 {
    let any = 1.0 - (1.0 - SEEM_TO_CHANGE).powf(lanes as f64);
    (0..EXTENSIONS).fold((0.0, any), |(sum, chance), _| (sum + chance, chance * any)).0
}

/// A workload, in parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Once: the engine's own ceiling, the maxima that a shared rate comes of, what programs work on.
    pub once: Work,
    /// The checking pass of the first round.
    pub checked: Work,
    /// A round of all lanes.
    pub round: Work,
    /// The bare disk's ceiling, in the rounds in which it is measured.
    pub probe: Work,
}

impl Parts {
    /// So many rounds of it.
    pub fn of_rounds(&self, rounds: u32) -> Work {
        let probes = (1..=rounds).take_while(|round| *round <= 5).filter(|round| crate::conductor::probe::due(*round));
        self.once + self.checked + self.round * f64::from(rounds) + self.probe * probes.count() as f64
    }
}

/// Starts of a process that tell what one takes.
const TRIAL_STARTS: usize = 21;
/// What starting one takes on a machine that does nothing else: a moment in which others keep it busy
/// says little about the minutes to come.
const USUAL_START_SECONDS: (f64, f64) = (0.3e-3, 2e-3);

/// What starting a process that does nothing takes here, the median of some; `None`: there is none.
pub fn process_seconds() -> Option<f64> {
    let program = idle_program()?;
    let start = || {
        let begun = std::time::Instant::now();
        let started = std::process::Command::new(&program).stdin(std::process::Stdio::null()).status();
        started.is_ok().then(|| begun.elapsed().as_secs_f64())
    };
    let mut all: Vec<f64> = (0..TRIAL_STARTS).map_while(|_| start()).collect();
    all.sort_by(f64::total_cmp);
    (all.len() == TRIAL_STARTS).then(|| all[TRIAL_STARTS / 2].clamp(USUAL_START_SECONDS.0, USUAL_START_SECONDS.1))
}

/// The program that does nothing.
fn idle_program() -> Option<std::path::PathBuf> {
    lanes::command::find_program("true")
}

impl Setting {
    /// Before the first round: images are written, and every lane is formatted, mounted and tried once.
    pub fn setup_seconds(&self, image_bytes: f64) -> f64 {
        image_bytes / self.rates.sequential + self.rates.visit_seconds * self.formatted
    }

    /// A workload's parts. `whole_seconds`: of work that runs whole and says itself how long, such as a
    /// job file.
    pub fn parts(&self, workload: &Workload, whole_seconds: Option<f64>) -> Parts {
        match workload.traits().schedule() {
            Schedule::Slices(io) => self.steady(workload, io),
            Schedule::Steps(operations) => self.operations(operations),
            Schedule::Transactions(oltp) => self.transactions(oltp),
            Schedule::Programs(programs) => self.programs(workload, programs),
            Schedule::Phases { .. } => self.phases(workload.traits()),
            Schedule::Window { warm_up_seconds, seconds } => self.window(workload.traits(), warm_up_seconds + seconds),
            Schedule::Whole { .. } => self.whole(workload.traits(), whole_seconds),
        }
    }

    /// What a kind asks of a lane beside the seconds of its schedule.
    fn demanded(&self, demand: &Demand) -> Work {
        let rates = &self.rates;
        let seconds = demand.changes * rates.change_seconds
            + demand.cold_files * rates.cold_seconds
            + demand.moved_bytes / rates.sequential
            + demand.flushes * rates.flush_seconds
            + demand.around_seconds;
        Work { seconds, bytes: demand.written_bytes }
    }

    /// Phases, one after another, each after a moment of quiet.
    fn phases(&self, kind: &dyn WorkloadKind) -> Parts {
        let demand = kind.demand();
        let remounts = Work::seconds(demand.remounts * self.rates.remount_seconds);
        let round = (self.visit() + self.demanded(&demand) + remounts) * self.lanes;
        let phases = kind.groups().len() as f64;
        Parts { round: round + self.quiet(phases), probe: self.counterparts(kind), ..Parts::default() }
    }

    /// One window, which is as long as it is; each lane waits by itself.
    fn window(&self, kind: &dyn WorkloadKind, seconds: f64) -> Parts {
        let demand = kind.demand();
        let rate = match demand.window {
            WindowWrites::Stated => 0.0,
            WindowWrites::Flushed => self.rates.flushed,
            WindowWrites::Free => self.rates.random,
        };
        let around = Work::seconds(demand.remounts * self.remount_seconds());
        let measured = Work { seconds, bytes: seconds * rate };
        let round = (self.visit() + self.demanded(&demand) + around + measured) * self.lanes;
        let quiet = Work::seconds(self.quiet_seconds * self.lanes);
        Parts { round: round + quiet, probe: self.counterparts(kind), ..Parts::default() }
    }

    /// Work that runs whole, as long as it says or as it takes to write its files once; each lane waits by itself.
    fn whole(&self, kind: &dyn WorkloadKind, seconds: Option<f64>) -> Parts {
        let (rates, demand) = (&self.rates, kind.demand());
        let measured =
            || self.disks.mean(|disk| demand.moved_bytes / limited(disk, rates.sequential, model::Bytes::MIB));
        let measured = Work::seconds(seconds.unwrap_or_else(measured));
        let round = (self.visit() + self.demanded(&demand) + measured) * self.lanes;
        Parts { round: round + Work::seconds(self.quiet_seconds * self.lanes), ..Parts::default() }
    }

    /// The ceilings of work that has no slices of its own.
    fn counterparts(&self, kind: &dyn WorkloadKind) -> Work {
        let one = |(profile, io): (Profile, Io)| {
            let rate = match profile {
                Profile::Flush => self.rates.flushed,
                Profile::SeqWrite => self.rates.sequential,
                Profile::RandWrite => self.rates.random,
                Profile::SeqRead | Profile::RandRead | Profile::Null => 0.0,
            };
            let seconds = PROBE_SLICES * (io.slice_seconds + SLICE_EXTRA_SECONDS);
            Work { seconds, bytes: PROBE_SLICES * io.slice_seconds * rate } * self.probed
        };
        kind.bare_counterparts().into_iter().map(one).fold(Work::default(), Work::add)
    }

    /// mkfs, mount, the last sync and unmount of one lane, on average.
    fn visit(&self) -> Work {
        let mkfs = self.mkfs_bytes / self.rates.sequential;
        let visit = Work { seconds: self.rates.visit_seconds + mkfs, bytes: self.mkfs_bytes };
        visit * (self.formatted / self.lanes.max(1.0))
    }

    fn remount_seconds(&self) -> f64 {
        self.rates.remount_seconds * self.formatted / self.lanes.max(1.0)
    }

    /// So many times of quiet for all lanes.
    fn quiet(&self, times: f64) -> Work {
        let groups = if self.side_by_side { 1.0 } else { self.lanes };
        Work::seconds(if self.formatted > 0.0 { times * groups * self.quiet_seconds } else { 0.0 })
    }

    /// Seconds of one slice; of an emulated disk with its warm-up, and until what is in flight came back.
    fn slice_seconds(&self, io: &Io) -> f64 {
        match self.disks.slice(io) {
            Some((warm_up, window)) => warm_up + window + THROTTLED_END_SECONDS,
            None => io.slice_seconds,
        }
    }

    /// What a flush costs on the bare disk, as it is measured for work on files.
    fn flushes(&self) -> Work {
        let seconds = PROBE_SLICES * (0.1 + SLICE_EXTRA_SECONDS);
        Work { seconds, bytes: PROBE_SLICES * 0.1 * self.rates.flushed } * self.probed
    }

    fn steady(&self, workload: &Workload, io: &Io) -> Parts {
        let rates = &self.rates;
        // A single slice is never made again.
        let again = if io.slices > 1 && self.side_by_side { self.made_again } else { 0.0 };
        let slices = f64::from(io.slices) * (1.0 + again);
        let slice_seconds = self.slice_seconds(io);
        let measured = slices * slice_seconds;
        let rate = match () {
            () if io.rw.reads() => 0.0,
            () if io.fdatasync > 0 => rates.flushed,
            () if io.bs.get() >= 64 * 1024 => rates.sequential,
            () => rates.random,
        };
        let of_lanes = self.disks.mean(|disk| limited(disk, rate, io.bs.get()));
        let of_bare = limited(self.disks.bare, rate, io.bs.get());
        let laid_out = if io.rw.needs_populated_file() { workload.working_set_bytes() as f64 } else { 0.0 };
        let lane = self.visit()
            + Work { seconds: laid_out / rates.sequential, bytes: laid_out }
            + Work { seconds: measured + slices * SLICE_EXTRA_SECONDS, bytes: measured * of_lanes };
        let round = lane * self.lanes + self.quiet(1.0);
        let probe_slices = f64::from(io.slices).min(PROBE_SLICES);
        let probed = !crate::conductor::probe::raw_works(workload).is_empty();
        let seconds = probe_slices * (slice_seconds + SLICE_EXTRA_SECONDS);
        let probe = Work { seconds, bytes: probe_slices * slice_seconds * of_bare } * self.probed;
        let maxima = if io.rate_of_slowest.is_some() { round } else { Work::default() };
        let probe = if probed { probe } else { Work::default() };
        Parts { once: maxima + Work::seconds(NULL_SECONDS), round, probe, ..Parts::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::operations::BUSY_PROCESS;
    use super::rates::FUSE_IN_GUEST;
    use super::*;
    use model::Throttle;
    use model::workload::Kind;

    #[test]
    fn the_program_whose_start_is_timed_is_the_systems() {
        // A name alone would also be looked for where PATH says `.`.
        assert!(idle_program().is_some_and(|path| path.is_absolute() && path.is_file()));
    }

    /// Round figures, so that sums can be followed.
    const RATES: Rates = Rates {
        sequential: 1e9,
        random: 1e8,
        flushed: 1e7,
        compared: 1e9,
        flush_seconds: 1e-3,
        change_seconds: 100e-6,
        look_seconds: 10e-6,
        cold_seconds: 1e-3,
        process_seconds: 2e-3,
        visit_seconds: 0.5,
        remount_seconds: 0.2,
    };

    const IMAGES: Setting = Setting {
        rates: RATES,
        lanes: 3.0,
        formatted: 3.0,
        mkfs_bytes: 0.0,
        probed: 3.0,
        side_by_side: true,
        made_again: 0.0,
        quiet_seconds: 0.5,
        disks: Disks::FREE,
        cpus: 2.0,
    };

    #[test]
    fn a_slow_lane_takes_its_own_time_of_the_whole() {
        let rates = RATES.with_fuse_in_guest(0.5);
        // Half of the bytes at 1 GB/s, half at 15 MB/s.
        assert!((rates.sequential - 2.0 / (1.0 / 1e9 + 1.0 / FUSE_IN_GUEST)).abs() < 1.0, "{rates:?}");
        near(RATES.with_fuse_in_guest(0.0).sequential, RATES.sequential);
        assert_eq!(rates.flushed, RATES.flushed);
    }

    fn workload(text: &str) -> Workload {
        toml::from_str(&format!("name = \"w\"\ntitle = \"w\"\n{text}")).unwrap()
    }

    fn operations(text: &str) -> Workload {
        let workload = workload(&format!("kind = \"operations\"\n{text}"));
        workload.check().unwrap();
        workload
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn slices_last_as_long_as_the_slowest_disk_asks_for_and_each_lane_writes_what_its_own_lets_it() {
        let write = STEADY.replace("randread", "write").replace("4KiB", "1MiB").replace("numjobs = 2", "numjobs = 1");
        let held = |bare: &str, lanes: [&str; 3]| {
            let disk = |text: &str| text.parse::<Throttle>().ok();
            let disks = Disks { bare: disk(bare), lanes: lanes.map(disk).to_vec() };
            Setting { disks, ..IMAGES }.parts(&workload(&write), None)
        };
        let free = IMAGES.parts(&workload(&write), None);
        // Every lane's file is laid out at full speed before.
        let laid_out = 3.0 * 1e9;
        near(free.round.bytes, laid_out + 3.0 * 4.0 * 0.25 * 1e9);
        let alike = held("100MB/s", ["100MB/s"; 3]);
        let slice: Throttle = "100MB/s".parse().unwrap();
        let Kind::Io(io) = &workload(&write).kind else { unreachable!() };
        let (warm_up, window) = slice.slice(io);
        let seconds = warm_up + window + THROTTLED_END_SECONDS;
        near(alike.round.bytes, laid_out + 3.0 * 4.0 * seconds * 100e6);
        near(alike.probe.bytes, 3.0 * 2.0 * seconds * 100e6);
        // One lane at half of it, one at none: the same slices, and the ceilings are those of no throttle.
        let apart = held("", ["100MB/s", "50MB/s", ""]);
        near(apart.round.seconds, alike.round.seconds);
        near(apart.round.bytes, laid_out + 4.0 * seconds * (100e6 + 50e6 + 1e9));
        near(apart.probe.bytes, 3.0 * 2.0 * seconds * 1e9);
        // Ten requests of 1 MiB take 2.5 s at 4 MiB/s, for every lane.
        let slow = held("", ["100MB/s", "4MiB/s", ""]);
        assert!(slow.round.seconds > 3.0 * 4.0 * 2.5, "{slow:?}");
    }

    #[test]
    fn mkfs_of_larger_lanes_is_charged_for_what_it_writes() {
        let large = Setting { mkfs_bytes: 300e6, ..IMAGES };
        let of = |setting: &Setting| setting.parts(&workload(STEADY), None).round;
        near(of(&large).seconds, of(&IMAGES).seconds + 3.0 * 0.3);
        near(of(&large).bytes, of(&IMAGES).bytes + 3.0 * 300e6);
    }

    const STEADY: &str = "kind = \"io\"\nrw = \"randread\"\nbs = \"4KiB\"\nsize = \"1000MB\"\nnumjobs = 2\nslices = 4\nslice_seconds = 0.25";

    #[test]
    fn steady_work_is_laid_out_by_all_its_workers_and_measured_in_slices() {
        let parts = IMAGES.parts(&workload(STEADY), None);
        let slices = 4.0 * (0.25 + SLICE_EXTRA_SECONDS);
        near(parts.round.seconds, 3.0 * (0.5 + 2.0 + slices) + 0.5);
        near(parts.round.bytes, 3.0 * 2e9);
        // Both slices of a ceiling are as long as those of the race, on each image.
        near(parts.probe.seconds, 3.0 * 2.0 * (0.25 + SLICE_EXTRA_SECONDS));
        near(parts.once.seconds, NULL_SECONDS);
        // In turns on one device each lane waits by itself, and one device is probed.
        let turns = Setting { side_by_side: false, probed: 1.0, ..IMAGES }.parts(&workload(STEADY), None);
        near(turns.round.seconds, parts.round.seconds + 1.0);
        near(turns.probe.seconds, parts.probe.seconds / 3.0);
        // As published the ceiling takes its minute too.
        let published = STEADY.replace("slices = 4\nslice_seconds = 0.25", "slices = 1\nslice_seconds = 60.0");
        near(IMAGES.parts(&workload(&published), None).probe.seconds, 3.0 * (60.0 + SLICE_EXTRA_SECONDS));
        // The maxima that a shared rate comes of are a round more.
        let shared = IMAGES.parts(&workload(&format!("{STEADY}\nrate_of_slowest = 0.7")), None);
        near(shared.once.seconds, NULL_SECONDS + shared.round.seconds);
        let mixed = workload(&STEADY.replace("randread", "randrw"));
        assert_eq!(IMAGES.parts(&mixed, None).probe, Work::default(), "a mixture has no ceiling");
    }

    #[test]
    fn slices_are_made_again_the_more_often_the_more_lanes_there_are() {
        assert_eq!(made_again(0), 0.0);
        // 0.99 to the 24th is 0.78568: one of the lanes in 0.21432, then in 0.21432 of these, and once more.
        assert!((made_again(24) - 0.270_100_3).abs() < 1e-6, "{}", made_again(24));
        assert!((made_again(3) - 0.030_609_4).abs() < 1e-6, "{}", made_again(3));
        let parts = |setting: &Setting, text: &str| setting.parts(&workload(text), None);
        let often = Setting { made_again: 0.5, ..IMAGES };
        let (once, more) = (parts(&IMAGES, STEADY), parts(&often, STEADY));
        near(more.round.seconds, once.round.seconds + 3.0 * 2.0 * (0.25 + SLICE_EXTRA_SECONDS));
        assert_eq!((more.probe, more.once), (once.probe, once.once), "no ceiling is made again");
        // Lanes that take turns, and a single slice, are not.
        let turns = [&often, &IMAGES].map(|of| parts(&Setting { side_by_side: false, ..of.clone() }, STEADY));
        assert_eq!(turns[0], turns[1]);
        let single = STEADY.replace("slices = 4", "slices = 1");
        assert_eq!(parts(&often, &single), parts(&IMAGES, &single));
    }

    #[test]
    fn directories_are_neither_formatted_nor_waited_for_nor_probed() {
        let folders = Setting { formatted: 0.0, probed: 0.0, ..IMAGES };
        let parts = folders.parts(&workload(STEADY), None);
        near(parts.round.seconds, 3.0 * (2.0 + 4.0 * (0.25 + SLICE_EXTRA_SECONDS)));
        assert_eq!(parts.probe, Work::default());
        assert_eq!(folders.setup_seconds(0.0), 0.0);
        near(IMAGES.setup_seconds(6e9), 6.0 + 1.5);
    }

    #[test]
    fn ceilings_are_measured_in_three_rounds_and_what_is_done_once_is_done_once() {
        let of = |seconds| Work { seconds, bytes: seconds };
        let parts = Parts { once: of(60.0), checked: of(40.0), round: of(10.0), probe: of(1.0) };
        let rounds = [1, 2, 3, 5, 20].map(|rounds| parts.of_rounds(rounds).seconds);
        assert_eq!(rounds, [111.0, 121.0, 132.0, 153.0, 303.0]);
        assert_eq!(parts.of_rounds(2).bytes, 121.0);
    }

    const FILES: &str = r#"
        files = [{ name = "a", count = 1000, size = "1MB" }]
        step = [
            { operation = "create", files = "a", sync = "none" },
            { operation = "stat", files = "a" },
            { operation = "read", files = "a", cold = true },
            { operation = "append", files = "a", block = "1000", sync = "each" },
            { operation = "unlink", files = "a", sync = "none" },
        ]
    "#;

    #[test]
    fn every_step_of_operations_is_charged_for_calls_bytes_syncs_and_remounts() {
        let workload = operations(FILES);
        let Kind::Operations(of) = &workload.kind else { unreachable!() };
        let steps: Vec<f64> = of.step.iter().map(|step| IMAGES.step(of, step).seconds).collect();
        near(steps[0], 1000.0 * 100e-6 + 1.0);
        near(steps[1], 1000.0 * 10e-6);
        near(steps[2], 1000.0 * 1e-3 + 1.0);
        near(steps[3], 1000.0 * (100e-6 + 1e-3) + 1e-3);
        near(steps[4], 1000.0 * 100e-6);
        let pass: f64 = steps.iter().sum::<f64>() + 2e-3;
        let parts = IMAGES.parts(&workload, None);
        // Quiet before each step for all lanes together; one remount for the cold step; ten parts of the create and of the
        // unlink, which are made stable before the next lane's.
        near(parts.round.seconds, 3.0 * (0.5 + pass + 0.2 + 20.0 * 1e-3) + 5.0 * 0.5);
        let alone = Setting { lanes: 1.0, formatted: 1.0, probed: 1.0, ..IMAGES }.parts(&workload, None);
        near(alone.round.seconds, 0.5 + pass + 0.2 + 5.0 * 0.5);
        // Under a throttle a step is done whole.
        let held = Disks { bare: "100MB/s".parse().ok(), lanes: Vec::new() };
        let whole = Setting { disks: held, ..IMAGES }.parts(&workload, None);
        near(whole.round.seconds, 3.0 * (0.5 + pass + 0.2 + 2.0 * 1e-3) + 5.0 * 0.5);
        near(parts.round.bytes, 3.0 * (1e9 + 1e6));
        // The checking pass: made anew, done once, and read back before the unlink and at the end.
        let compared = (0.2 + 1.001 + 1001.0 * 1e-3) + (0.2 + 1e-3);
        // No step of it begins cold: the read asks the caches, half as long for the bytes.
        let warm = pass - steps[2] + 1000.0 * 10e-6 + 0.5;
        near(parts.checked.seconds, 3.0 * (0.5 + warm + compared));
        assert_eq!(parts.once, Work::default());
        assert!(parts.probe.seconds > 0.0, "what a flush costs on the bare disk");
        let loops = IMAGES.parts(&operations(&format!("loops = 4\n{FILES}")), None);
        near(loops.round.seconds, 3.0 * (0.5 + 4.0 * (pass + 0.2)) + 4.0 * 3.0 * 0.5);
        near(loops.checked.seconds, parts.checked.seconds);
        near(loops.round.bytes, 4.0 * parts.round.bytes);
    }

    #[test]
    fn processes_are_charged_for_each_operation_and_for_the_starts_before_each_step() {
        let workload = operations(&format!("method = \"process-per-operation\"\n{FILES}"));
        let Kind::Operations(of) = &workload.kind else { unreachable!() };
        let seconds = |index: usize| IMAGES.step(of, &of.step[index]).seconds;
        let (busy, starts) = (2e-3 * BUSY_PROCESS, 200.0 * 2e-3);
        near(seconds(0), 1000.0 * busy + starts + 1.0);
        near(seconds(1), 1000.0 * busy + starts);
        near(seconds(2), 1000.0 * (busy + 1e-3) + starts + 1.0);
        // Its sync is a process as well.
        near(seconds(3), 2000.0 * busy + starts + 1000.0 * 1e-3 + 1e-3);
        // Each block that is written is a process.
        let blocks = operations(
            "method = \"process-per-operation\"\nfiles = [{ name = \"a\", count = 1, size = \"1MiB\" }]\n\
             step = [{ operation = \"write\", files = \"a\", block = \"4KiB\", sync = \"none\" }]",
        );
        let Kind::Operations(of) = &blocks.kind else { unreachable!() };
        near(IMAGES.step(of, &of.step[0]).seconds, 256.0 * busy + starts + (1 << 20) as f64 / 1e9);
    }

    #[test]
    fn threads_share_a_step_as_far_as_there_are_processors() {
        let seconds = |threads: u32| {
            let workload = operations(&format!("threads = {threads}\n{FILES}"));
            let Kind::Operations(of) = &workload.kind else { unreachable!() };
            IMAGES.step(of, &of.step[1]).seconds
        };
        near(seconds(2), seconds(1) / 2.0);
        near(seconds(8), seconds(2));
    }
}
