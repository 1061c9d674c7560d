//! Lanes that sent direct writes through the page cache are told, and nobody is who did not.

use crate::common;

use common::{io, lane, record, run};
use model::findings::{KeptForm, ResultFinding};
use model::job::{Data, Job, Jobs};
use model::plan::Rounds;
use model::record::Record;
use model::seen::{CachedFiles, KeptFiles};
use model::trial::Trial;
use model::workload::{Kind, Pattern, Workload};
use stats::judge;

fn overwrite(direct: bool) -> Workload {
    let mut workload = io("random-write", Pattern::RandWrite, 32, 0);
    let Kind::Io(io) = &mut workload.kind else { unreachable!("it is block I/O") };
    io.direct = direct;
    workload
}

/// ext4, btrfs and xfs, six rounds; dirtied bytes per byte written, of each round.
fn race(workload: &Workload, shares: [[f64; 6]; 3]) -> Record {
    let names = ["ext4", "btrfs", "xfs"];
    let mut race = record(names.map(lane).to_vec(), vec![workload.clone()], Rounds::Auto, true);
    for lane in &mut race.header.lanes {
        lane.promises.data_checksums = lane.filesystem == "btrfs";
    }
    run(&mut race, 6, &[60_000.0, 6_000.0, 60_000.0], 0.01, 1);
    for trial in &mut race.trials {
        let at = names.iter().position(|name| *name == trial.lane).expect("a lane");
        let written: u64 = trial.groups.iter().map(|group| group.bytes).sum();
        trial.system.dirtied_bytes = Some((written as f64 * shares[at][trial.round as usize - 1]) as u64);
    }
    race
}

/// The files of 256 MiB of a trial, so many of every hundred touched bytes of them in the page cache afterwards.
fn cached(trial: &mut Trial, percent: u64) {
    for group in &mut trial.groups {
        let after_bytes = group.bytes.min(1 << 28) * percent / 100;
        let all = CachedFiles { file_bytes: 1 << 28, looked_bytes: 1 << 28, after_bytes, ..CachedFiles::default() };
        group.cached_files = Some(all);
    }
}

fn reads() -> Workload {
    let mut reads = io("random-read", Pattern::RandRead, 32, 0);
    let Kind::Io(io) = &mut reads.kind else { unreachable!("it is block I/O") };
    io.direct = true;
    reads
}

fn words(found: &ResultFinding) -> (Vec<String>, Vec<String>) {
    let text = |said: &model::Sentence| String::from(said.clone());
    let warned = found.warnings.iter().map(text).filter(|said| said.contains("O_DIRECT"));
    (found.acts.iter().map(text).collect(), warned.collect())
}

fn only(race: &Record) -> ResultFinding {
    judge::findings(race).results.remove(0)
}

const DIRECT: [f64; 6] = [0.0, 0.01, 0.02, 0.0, 0.01, 0.0];
const BUFFERED: [f64; 6] = [1.0, 1.02, 1.0, 1.0, 1.01, 1.0];

#[test]
fn who_buffers_is_named_in_the_result_its_answer_and_a_warning() {
    let race = race(&overwrite(true), [DIRECT, BUFFERED, DIRECT]);
    let found = only(&race);
    assert_eq!(found.buffered, ["btrfs"]);
    let shares: Vec<_> = found.estimates.iter().map(|of| of.page_cache_share.map(|share| share.round())).collect();
    assert_eq!(shares, [Some(0.0), Some(1.0), Some(0.0)]);
    let warning = found.warnings.iter().map(|said| String::from(said.clone())).find(|said| said.contains("O_DIRECT"));
    let warning = warning.expect("a warning");
    assert!(warning.starts_with("btrfs: what was written with O_DIRECT") && warning.contains("nodatasum"), "{warning}");
    let answer = judge::findings(&race).answer.expect("an answer");
    assert!(!answer.reasons.is_empty());
    for reason in &answer.reasons {
        let about = reason.lane == "btrfs" || reason.against == "btrfs";
        assert_eq!(reason.buffers.as_deref(), about.then_some("btrfs"), "{reason:?}");
    }
}

#[test]
fn a_round_in_which_others_wrote_makes_nobody_one_who_buffers() {
    let disturbed = [1.9, 3.0, 0.01, 1.1, 7.5, 0.9];
    let found = only(&race(&overwrite(true), [disturbed, BUFFERED, DIRECT]));
    assert_eq!(found.buffered, ["btrfs"]);
}

#[test]
fn where_all_buffer_none_stands_apart_and_each_is_told() {
    let found = only(&race(&overwrite(true), [BUFFERED; 3]));
    assert_eq!(found.buffered, Vec::<String>::new());
    let told = found.warnings.iter().filter(|said| String::from((*said).clone()).contains("O_DIRECT")).count();
    assert_eq!(told, 3);
}

#[test]
fn buffered_work_reads_and_kernels_that_do_not_tell_are_left_alone() {
    let buffered = only(&race(&overwrite(false), [BUFFERED; 3]));
    let mut reads = io("random-read", Pattern::RandRead, 32, 0);
    let Kind::Io(io) = &mut reads.kind else { unreachable!("it is block I/O") };
    io.direct = true;
    let reads = only(&race(&reads, [BUFFERED; 3]));
    let mut untold = race(&overwrite(true), [BUFFERED; 3]);
    untold.trials.iter_mut().for_each(|trial| trial.system.dirtied_bytes = None);
    for found in [buffered, reads, only(&untold)] {
        assert!(found.buffered.is_empty() && found.estimates.iter().all(|of| of.page_cache_share.is_none()));
        assert!(found.warnings.iter().all(|said| !String::from(said.clone()).contains("O_DIRECT")));
    }
}

#[test]
fn direct_reads_that_lie_in_the_page_cache_afterwards_are_told_and_why() {
    let mut race = race(&reads(), [DIRECT; 3]);
    for trial in &mut race.trials {
        cached(trial, if trial.lane == "btrfs" { 100 } else { 0 });
    }
    let found = only(&race);
    assert_eq!(found.buffered, ["btrfs"]);
    let (acts, warned) = words(&found);
    assert_eq!(acts, ["btrfs buffers these direct reads"]);
    assert!(warned.len() == 1 && warned[0].starts_with("btrfs: 100 % of what was read with O_DIRECT"), "{warned:?}");
    assert!(!warned[0].contains("compressed") && !warned[0].contains("nodatasum"), "{warned:?}");
    let compressed = KeptFiles { files: 1, compressed_files: 1, ..KeptFiles::default() };
    for trial in race.trials.iter_mut().filter(|trial| trial.lane == "btrfs") {
        trial.groups.iter_mut().for_each(|group| group.kept_files = Some(compressed));
    }
    let found = only(&race);
    let (acts, warned) = words(&found);
    assert_eq!(acts, ["btrfs buffers these direct reads", "btrfs keeps these files compressed"]);
    assert!(warned[0].ends_with("its files are compressed"), "{warned:?}");
    let answer = judge::findings(&race).answer.expect("an answer");
    assert!(answer.next_adds.is_empty(), "no option makes compressed files direct: {answer:?}");
}

#[test]
fn programs_that_write_in_every_round_make_no_lane_one_that_buffers_where_its_writes_were_watched() {
    // Every round of every lane beside a program that writes as much.
    let mut race = race(&overwrite(true), [BUFFERED; 3]);
    for trial in &mut race.trials {
        let cached_writes = if trial.lane == "btrfs" { 8 } else { 0 };
        let seen = CachedFiles { watched_writes: 8, cached_writes, ..CachedFiles::default() };
        trial.groups.iter_mut().for_each(|group| group.cached_files = Some(seen));
    }
    let found = only(&race);
    assert_eq!(found.buffered, ["btrfs"]);
    let shares: Vec<_> = found.estimates.iter().map(|of| of.page_cache_share.map(|share| share.round())).collect();
    assert_eq!(shares, [Some(0.0), Some(1.0), Some(0.0)]);
}

#[test]
fn writes_that_stay_in_the_page_cache_are_seen_where_nothing_is_dirty_yet() {
    let mut race = race(&overwrite(true), [DIRECT; 3]);
    for trial in &mut race.trials {
        // A round from whose files the cache was taken away meanwhile decides nothing alone.
        cached(trial, if trial.lane == "ext4" { 90 } else { 0 });
    }
    assert_eq!(only(&race).buffered, ["ext4"]);
    let first = race.trials.iter_mut().find(|trial| trial.lane == "ext4").expect("a trial");
    cached(first, 10);
    assert_eq!(only(&race).buffered, Vec::<String>::new());
}

#[test]
fn jobs_of_a_job_file_are_told_one_by_one_and_only_those_that_ask_for_direct_io() {
    let job = |name: &str, direct: bool, rw: Pattern| {
        let Kind::Io(mut io) = io(name, rw, 1, 0).kind else { unreachable!("it is block I/O") };
        io.direct = direct;
        Job { name: name.into(), stonewall: false, exitall: false, wait_for: None, options: Vec::new(), io: *io }
    };
    let file = |jobs: Vec<Job>| Workload {
        name: "file".into(),
        title: "file".into(),
        kind: Kind::Jobs(Box::new(Jobs { jobs, file: "a.fio".into(), notes: Vec::new() })),
    };
    let of = |workload: &Workload, percent: u64| {
        let mut race = race(workload, [DIRECT, BUFFERED, DIRECT]);
        for trial in &mut race.trials {
            let here = if trial.lane == "btrfs" { percent } else { 0 };
            cached(trial, here);
            trial.groups.iter_mut().for_each(|group| group.job = group.name.split(": ").next().unwrap().to_owned());
        }
        let found = judge::findings(&race).results;
        found.into_iter().map(|of| (of.group, of.buffered)).collect::<Vec<_>>()
    };
    let none = || Vec::<String>::new();
    let btrfs = || vec!["btrfs".to_owned()];
    // What became dirty may be that of the buffered job, and what lies in the cache belongs to each job's own files.
    let mixed = file(vec![job("a", true, Pattern::RandWrite), job("b", false, Pattern::RandWrite)]);
    assert_eq!(of(&mixed, 0), [("a: write".to_owned(), none()), ("b: write".to_owned(), none())]);
    assert_eq!(of(&mixed, 100), [("a: write".to_owned(), btrfs()), ("b: write".to_owned(), none())]);
    let direct = file(vec![job("a", true, Pattern::RandWrite), job("b", true, Pattern::RandRead)]);
    assert_eq!(of(&direct, 0), [("a: write".to_owned(), btrfs()), ("b: read".to_owned(), none())]);
    assert_eq!(of(&direct, 100), [("a: write".to_owned(), btrfs()), ("b: read".to_owned(), btrfs())]);
}

#[test]
fn files_that_are_kept_within_metadata_are_named_where_half_of_those_looked_at_are() {
    let mut race = race(&common::small_files(), [DIRECT; 3]);
    let seen =
        |inline_files: u32, tail_files: u32| KeptFiles { files: 8, inline_files, tail_files, compressed_files: 0 };
    for trial in &mut race.trials {
        let kept = match trial.lane.as_str() {
            "btrfs" => seen(4, 0),
            "xfs" => seen(0, 8),
            _ => seen(3, 0),
        };
        trial.groups.iter_mut().filter(|group| group.name != "delete").for_each(|group| group.kept_files = Some(kept));
    }
    let found = judge::findings(&race).results;
    let create = found.iter().find(|of| of.group == "create").expect("a result");
    let kept: Vec<_> = create.kept.iter().map(|of| (of.lane.as_str(), of.form)).collect();
    assert_eq!(kept, [("btrfs", KeptForm::Inline), ("xfs", KeptForm::Tail)]);
    let said = words(create).0;
    assert_eq!(said, ["btrfs keeps these files in its metadata", "xfs keeps these files in blocks that files share"]);
    assert!(found.iter().find(|of| of.group == "delete").is_some_and(|of| of.kept.is_empty() && of.acts.is_empty()));
    // In the answer only where the two lanes differ in it.
    let answer = judge::findings(&race).answer.expect("an answer");
    let about: Vec<_> = answer.reasons.iter().filter(|of| of.group == "create").collect();
    assert!(about.iter().all(|of| !of.acts.is_empty()), "{about:?}");
}

#[test]
fn the_next_race_has_the_lane_that_does_not_buffer_beside_the_one_that_does() {
    let mut race = race(&overwrite(true), [DIRECT, BUFFERED, DIRECT]);
    // Nothing is left to settle.
    for group in race.trials.iter_mut().filter(|trial| trial.lane == "xfs").flat_map(|trial| &mut trial.groups) {
        group.metrics.values_mut().for_each(|figure| *figure *= 0.5);
    }
    let next = |race: &Record| {
        let answer = judge::findings(race).answer.expect("an answer");
        (answer.next.join(" "), answer.next_adds)
    };
    let (line, adds) = next(&race);
    assert_eq!(adds, ["nosum=btrfs,nodatasum"]);
    assert_eq!(line, "race ext4 btrfs nosum=btrfs,nodatasum xfs --budget 180s");
    // Where it was raced, or cannot be made, nothing is added.
    let without = |change: &dyn Fn(&mut Record)| {
        let mut race = race.clone();
        change(&mut race);
        let (line, adds) = next(&race);
        assert!(adds.is_empty() && !line.contains("nodatasum"), "{line}");
    };
    without(&|race| race.header.lanes[2].filesystem = "btrfs".into());
    without(&|race| race.header.lanes[1].promises.data_checksums = false);
    without(&|race| race.header.lanes[1].mount_options.push("compress=zstd:1".into()));
    without(&|race| race.header.plan.lanes[1].contestant = model::lane::Contestant::Directory("/mnt".into()));
    without(&|race| race.header.plan.as_published = true);
    without(&|race| race.trials.iter_mut().for_each(|trial| trial.system.dirtied_bytes = Some(0)));
    // A name that is taken is not given twice.
    let mut taken = race.clone();
    taken.header.lanes[0].name = "nosum".into();
    taken.header.plan.lanes[0].name = "nosum".into();
    taken.trials.iter_mut().filter(|trial| trial.lane == "ext4").for_each(|trial| trial.lane = "nosum".into());
    assert_eq!(next(&taken).1, ["nosum2=btrfs,nodatasum"]);
}

#[test]
fn a_lane_that_compresses_and_left_what_compresses_as_it_was_is_told() {
    let told = |data: Data, compressed_files: u32, option: &str| {
        let mut work = overwrite(false);
        let Kind::Io(io) = &mut work.kind else { unreachable!("it is block I/O") };
        io.data = data;
        let mut race = race(&work, [DIRECT; 3]);
        race.header.lanes[1].mount_options.push(option.to_owned());
        for group in race.trials.iter_mut().flat_map(|trial| &mut trial.groups) {
            group.kept_files = Some(KeptFiles { files: 1, compressed_files, ..KeptFiles::default() });
        }
        let warnings = only(&race).warnings;
        warnings.into_iter().map(String::from).find(|said| said.contains("stored these files as they are"))
    };
    let said = told(Data::Ratio27, 0, "compress=zstd:3").expect("a warning");
    assert!(said.starts_with("btrfs compresses, and stored"), "{said}");
    assert_eq!(told(Data::Ratio27, 1, "compress=zstd:3"), None);
    assert_eq!(told(Data::Incompressible, 0, "compress=zstd:3"), None);
    assert_eq!(told(Data::Ratio27, 0, "compress=no"), None);
}
