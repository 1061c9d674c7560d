//! Profiles become shares that add up to one, and differences of lanes become sentences.

use crate::common::{lane, record, small_files, trial};
use model::findings::{Basis, Explanation, Findings, Limit, Part};
use model::plan::Rounds;
use model::profile::{Activity, DeviceTime, Profile, StackTime, ThreadRole, ThreadTime};
use model::record::Record;
use model::trial::SystemUse;
use model::workload::{Io, Kind, Workload};

fn threads(role: ThreadRole, cpu_seconds: f64, runnable_seconds: f64, waiting_seconds: f64) -> ThreadTime {
    ThreadTime { role, threads: 1, cpu_seconds, runnable_seconds, waiting_seconds }
}

/// A profile of one group whose stacks are named by their frames, outermost first.
struct Made(Profile);

impl Made {
    fn new(lane: &str, workload: &str, group: &str, operations: u64, threads: Vec<ThreadTime>) -> Made {
        Made(Profile {
            workload: workload.to_owned(),
            lane: lane.to_owned(),
            group: group.to_owned(),
            window_seconds: 1.0,
            windows: 1,
            operations,
            operations_per_second: operations as f64,
            samples: 1000,
            threads,
            device: DeviceTime { watched: true, ..DeviceTime::default() },
            ..Profile::default()
        })
    }

    fn stack(mut self, role: ThreadRole, activity: Activity, frames: &[&str], seconds: f64, device: [f64; 3]) -> Made {
        let symbols = &mut self.0.symbols;
        let frames = frames.iter().map(|name| match symbols.iter().position(|known| known == name) {
            Some(at) => at as u32,
            None => {
                symbols.push((*name).to_owned());
                symbols.len() as u32 - 1
            }
        });
        let frames = frames.collect();
        let [flush_seconds, busy_seconds, queued_seconds] = device;
        self.0.stacks.push(StackTime { role, activity, frames, seconds, flush_seconds, busy_seconds, queued_seconds });
        self
    }
}

fn found(record: &Record) -> Findings {
    stats::judge::findings(record)
}

fn explanation_of<'a>(findings: &'a Findings, group: &str, lane: &str) -> &'a Explanation {
    let result = findings.results.iter().find(|result| result.group == group).unwrap();
    result.explanations.iter().find(|of| of.lane == lane).unwrap()
}

fn assert_whole(of: &Explanation) {
    let sum: f64 = of.parts.iter().map(|part| part.share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}: {of:#?}");
    assert!(of.parts.iter().all(|part| (0.0..=1.0).contains(&part.share)), "{of:#?}");
}

const NONE: [f64; 3] = [0.0; 3];

/// A second of creating files: the caller runs, waits for a flush, for a lock, and for what nobody knows.
fn creating(lane: &str, operations: u64, flush: f64) -> Profile {
    use Activity::{Cpu, Wait};
    let callers = threads(ThreadRole::Caller, 0.3, 0.1, 0.6);
    let journal = ["do_fsync", "ext4_sync_file", "jbd2_log_wait_commit"];
    let lock = ["do_renameat2", "lock_rename", "down_write_nested", "rwsem_down_write_slowpath"];
    Made::new(lane, "small-files", "create", operations, vec![callers])
        .stack(ThreadRole::Caller, Cpu, &["vfs_write", "ext4_map_blocks"], 0.2, NONE)
        .stack(ThreadRole::Caller, Cpu, &[], 0.1, NONE)
        .stack(ThreadRole::Caller, Wait, &journal, 0.4, [flush, 0.1, 0.0])
        .stack(ThreadRole::Caller, Wait, &lock, 0.15, [0.0, 0.15, 0.0])
        .stack(ThreadRole::Caller, Wait, &["some_new_function"], 0.05, NONE)
        .0
}

fn raced() -> Record {
    let mut record = record(vec![lane("a"), lane("b")], vec![small_files()], Rounds::Fixed(1), false);
    for name in ["a", "b"] {
        record.trials.push(trial(name, &small_files(), 1, 1000.0));
    }
    record
}

#[test]
fn every_moment_of_a_caller_has_its_part() {
    let mut record = raced();
    record.profiles = vec![creating("a", 1000, 0.25)];
    let findings = found(&record);
    let explained = explanation_of(&findings, "create", "a");
    assert_whole(explained);
    for (part, share) in [
        (Part::Flush, 0.25),
        // A lock is a lock, whatever the device does meanwhile.
        (Part::Locks, 0.15 + 0.05),
        (Part::Device, 0.1),
        (Part::FilesystemCpu, 0.2),
        (Part::Fairlane, 0.1),
        (Part::Scheduler, 0.1),
        (Part::NotExplained, 0.05),
    ] {
        assert!((explained.share(part) - share).abs() < 1e-9, "{part:?} {share}: {explained:#?}");
    }
    assert_eq!(explained.unknown[0].function, "some_new_function");
    assert!((explained.seconds_per_operation - 0.001).abs() < 1e-12);
    assert!((explained.profiled_ratio().unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn stacks_without_room_are_not_explained() {
    let mut record = raced();
    let mut profile = creating("a", 1000, 0.25);
    profile.stacks.retain(|stack| !(stack.activity == Activity::Wait && stack.frames.len() == 3));
    record.profiles = vec![profile];
    let findings = found(&record);
    let explained = explanation_of(&findings, "create", "a");
    assert_whole(explained);
    assert!((explained.share(Part::NotExplained) - 0.45).abs() < 1e-9, "{explained:#?}");
}

#[test]
fn who_waits_for_kernel_threads_waits_for_what_they_do() {
    let callers = threads(ThreadRole::Caller, 0.0, 0.0, 1.0);
    let kernel = threads(ThreadRole::Kernel, 0.6, 0.0, 0.0);
    let waits = ["do_fsync", "btrfs_sync_file", "btrfs_wait_ordered_range"];
    let compresses = ["kthread", "worker_thread", "process_one_work", "compress_file_range", "ZSTD_compressBlock_fast"];
    let profile = Made::new("a", "small-files", "create", 10, vec![callers, kernel])
        .stack(ThreadRole::Caller, Activity::Wait, &waits, 1.0, [0.0, 0.2, 0.0])
        .stack(ThreadRole::Kernel, Activity::Cpu, &compresses, 0.6, NONE)
        .0;
    let mut record = raced();
    record.profiles = vec![profile];
    let findings = found(&record);
    let explained = explanation_of(&findings, "create", "a");
    assert_whole(explained);
    assert!((explained.share(Part::Checksums) - 0.6).abs() < 1e-9, "{explained:#?}");
    assert!((explained.share(Part::KernelThreads) - 0.2).abs() < 1e-9 && explained.share(Part::Device) > 0.19);
}

fn deep(lane: &str, in_flight: f64, work: f64) -> (Workload, Profile) {
    let io = Io { iodepth: 32, direct: true, ioengine: "io_uring".to_owned(), ..Io::default() };
    let workload = Workload { name: "rand".into(), title: "random".into(), kind: Kind::Io(Box::new(io)) };
    let group = workload.groups().remove(0);
    let callers = threads(ThreadRole::Caller, work, 0.0, 1.0 - work);
    let mut made = Made::new(lane, "rand", &group, 8000, vec![callers]).stack(
        ThreadRole::Caller,
        Activity::Cpu,
        &["io_submit_sqes", "ext4_dio_write_iter", "ext4_map_blocks"],
        work,
        NONE,
    );
    made.0.device = DeviceTime { watched: true, requests: 8000, request_seconds: in_flight, ..DeviceTime::default() };
    (workload, made.0)
}

#[test]
fn of_many_in_flight_so_many_stand_at_the_device() {
    for (in_flight, work, part, share) in [
        (24.0, 0.5, Part::Device, 0.75),
        (24.0, 0.5, Part::FilesystemCpu, 0.25),
        // Nobody worked, and they were not at the device: nobody knows.
        (8.0, 0.01, Part::NotExplained, 0.75),
        // More than was asked for is the device's own writeback.
        (64.0, 0.5, Part::Device, 1.0),
    ] {
        let (workload, profile) = deep("a", in_flight, work);
        let group = profile.group.clone();
        let trial = trial("a", &workload, 1, 8000.0);
        let mut record = record(vec![lane("a")], vec![workload], Rounds::Fixed(1), false);
        record.trials.push(trial);
        record.profiles = vec![profile];
        let findings = found(&record);
        let explained = explanation_of(&findings, &group, "a");
        assert_whole(explained);
        assert!((explained.share(part) - share).abs() < 1e-9, "{in_flight} {part:?}: {explained:#?}");
        assert!((explained.seconds_per_operation - 32.0 / 8000.0).abs() < 1e-9);
    }
}

#[test]
fn where_one_cause_stands_for_another_times_are_told() {
    let waiting = |lane: &str, operations: u64, frames: &[&str]| {
        let callers = threads(ThreadRole::Caller, 0.2, 0.0, 0.8);
        Made::new(lane, "small-files", "create", operations, vec![callers])
            .stack(ThreadRole::Caller, Activity::Cpu, &[], 0.2, NONE)
            .stack(ThreadRole::Caller, Activity::Wait, frames, 0.8, NONE)
            .0
    };
    let mut record = raced();
    record.profiles = vec![
        waiting("a", 1000, &["do_fsync", "ext4_sync_file", "jbd2_log_wait_commit"]),
        waiting("b", 800, &["do_fsync", "xfs_file_fsync", "xlog_wait_on_iclog"]),
    ];
    let said = found(&record).results[0].explained[0].to_string();
    let causes =
        "of the 250 us more, 1 ms waiting for the log to be written, less 800 us waiting for the journal's commit";
    assert!(said.ends_with(causes), "{said}");
}

#[test]
fn a_difference_is_told_by_its_causes_and_a_pass_tells_its_cost() {
    let mut record = raced();
    // b does a quarter as much, and flushes all the more.
    let mut slow = creating("b", 250, 0.25);
    slow.operations_per_second = 250.0;
    record.profiles = vec![creating("a", 1000, 0.25), slow];
    let findings = found(&record);
    let said: Vec<&str> = findings.results[0].explained.iter().map(|sentence| sentence.as_str()).collect();
    assert!(
        said[0].starts_with(
            "in these passes an operation takes 1 ms in a and 4 ms in b; of the 3 ms more, 40 % waiting for the journal's commit"
        ),
        "{said:?}"
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!((explanation_of(&findings, "create", "b").profiled_ratio().unwrap() - 0.25).abs() < 1e-9);
    // Alike, there is nothing to say.
    record.profiles = vec![creating("a", 1000, 0.25), creating("b", 950, 0.25)];
    assert!(found(&record).results[0].explained.is_empty());
}

#[test]
fn what_a_stranger_writes_breaks_nothing() {
    let mut record = raced();
    let mut odd = creating("a", 1000, 0.25);
    odd.stacks[0].frames = vec![u32::MAX, 7];
    odd.stacks[1].seconds = 1e308;
    odd.stacks[2].seconds = -5.0;
    odd.device.request_seconds = 1e308;
    odd.threads[0].cpu_seconds = 1e308;
    odd.threads[0].waiting_seconds = 1e308;
    let mut negative = creating("b", 1000, 0.25);
    negative.window_seconds = -1.0;
    let mut many = creating("b", 1000, 0.25);
    many.symbols = vec!["x".to_owned(); 30_000];
    record.profiles = vec![odd, negative, many, creating("nobody", 1, 0.1)];
    let findings = found(&record);
    for explained in findings.results.iter().flat_map(|result| &result.explanations) {
        assert!(explained.parts.iter().all(|part| part.share.is_finite()), "{explained:#?}");
    }
}

/// A round of each lane whose counters are these, of the whole second.
fn counted(workload: &Workload, system: &dyn Fn(&str) -> model::trial::SystemUse) -> Record {
    let mut record = record(vec![lane("a"), lane("b")], vec![workload.clone()], Rounds::Fixed(1), false);
    for name in ["a", "b"] {
        let mut trial = trial(name, workload, 1, 1000.0);
        trial.system = system(name);
        for group in &mut trial.groups {
            group.system = None;
        }
        record.trials.push(trial);
    }
    record
}

fn system(user: f64, kernel: f64, busy: f64, flush: f64, queue: f64) -> model::trial::SystemUse {
    model::trial::SystemUse {
        window_seconds: 1.0,
        windows: 1,
        cpus: 2,
        agent_cpu_user_seconds: user,
        agent_cpu_system_seconds: kernel,
        cpu_user_seconds: user,
        cpu_system_seconds: kernel,
        device: model::trial::DeviceUse {
            busy_seconds: busy,
            flush_seconds: flush,
            queue_seconds: queue,
            ..model::trial::DeviceUse::default()
        },
        ..model::trial::SystemUse::default()
    }
}

fn random_writes(iodepth: u32) -> Workload {
    let io = Io { iodepth, direct: true, ioengine: "io_uring".to_owned(), ..Io::default() };
    Workload { name: "rand".into(), title: "random".into(), kind: Kind::Io(Box::new(io)) }
}

#[test]
fn counters_tell_of_rows_that_no_pass_looked_at() {
    let record = counted(&small_files(), &|_| system(0.05, 0.25, 0.5, 0.3, 0.6));
    let findings = found(&record);
    let explained = explanation_of(&findings, "create", "a");
    assert_whole(explained);
    assert_eq!(explained.basis, Basis::Counters);
    for (part, share) in [
        (Part::Fairlane, 0.05),
        (Part::KernelCpu, 0.25),
        (Part::Flush, 0.3),
        (Part::Device, 0.2),
        (Part::NotExplained, 0.2),
    ] {
        assert!((explained.share(part) - share).abs() < 1e-9, "{part:?} {share}: {explained:#?}");
    }
    assert!(findings.results.iter().all(|result| result.explained.is_empty()), "counters name no causes");
}

#[test]
fn of_requests_in_flight_counters_tell_by_littles_law() {
    let record = counted(&random_writes(32), &|_| system(0.1, 0.4, 1.0, 0.0, 24.0));
    let findings = found(&record);
    let explained = &findings.results[0].explanations[0];
    assert_whole(explained);
    assert!((explained.share(Part::Device) - 0.75).abs() < 1e-9, "{explained:#?}");
    // Nobody was busy: what is not at the device may wait for locks, which no counter sees.
    assert!((explained.share(Part::KernelCpu) - 0.4 / 32.0).abs() < 1e-9, "{explained:#?}");
    let busy = counted(&random_writes(32), &|_| system(0.2, 0.8, 1.0, 0.0, 24.0));
    let findings = found(&busy);
    let explained = &findings.results[0].explanations[0];
    assert_whole(explained);
    assert!((explained.share(Part::KernelCpu) - 0.25 * 0.8).abs() < 1e-9, "{explained:#?}");
    assert!((explained.seconds_per_operation - 0.032).abs() < 1e-9, "{explained:#?}");
}

#[test]
fn a_row_without_a_limit_is_headed_by_its_slowest_lanes_largest_share() {
    let head = |a: Profile, b: Profile| {
        let mut record = raced();
        record.profiles = vec![a, b];
        let findings = found(&record);
        let result = findings.results.iter().find(|result| result.group == "create").expect("it was raced").clone();
        assert_eq!(result.limit, Limit::Unattributed, "{result:#?}");
        result.headline.expect("it is known")
    };
    let fast = || creating("a", 2000, 0.0);
    // Nothing takes half of it.
    let mixed = head(fast(), creating("b", 1000, 0.25));
    assert_eq!((mixed.lane.as_str(), mixed.part, mixed.basis), ("b", None, Basis::Profile));
    assert!(!mixed.is_unknown());
    let waiting = |function: &str| {
        let callers = threads(ThreadRole::Caller, 0.3, 0.1, 0.6);
        let journal = ["do_fsync", function];
        Made::new("b", "small-files", "create", 1000, vec![callers])
            .stack(ThreadRole::Caller, Activity::Cpu, &[], 0.3, NONE)
            .stack(ThreadRole::Caller, Activity::Wait, &journal, 0.6, [0.6, 0.0, 0.0])
            .0
    };
    let flush = head(fast(), waiting("blkdev_issue_flush"));
    assert_eq!(flush.part, Some(Part::Flush));
    assert!((flush.share - 0.6).abs() < 1e-9);
    let unknown = head(fast(), waiting("some_new_function"));
    assert!(unknown.is_unknown() && (unknown.not_explained - 0.6).abs() < 1e-9, "{unknown:?}");
}

#[test]
fn stacks_of_a_page_share_their_names_and_say_what_they_count_for() {
    let mut record = raced();
    record.profiles = vec![creating("a", 1000, 0.25), creating("a", 1000, 0.25), creating("b", 500, 0.1)];
    let mut others = record.profiles[2].stacks[0].clone();
    others.role = ThreadRole::Other;
    others.seconds = 50.0;
    record.profiles[2].stacks.push(others);
    let page = stats::page::race(&record, found(&record), Vec::new());
    let lanes: Vec<&str> = page.stacks.lanes.iter().map(|of| of.lane.as_str()).collect();
    assert!(page.stacks.lanes.iter().flat_map(|of| &of.stacks).all(|of| of.role != ThreadRole::Other));
    // A resumed race may have looked twice.
    assert_eq!(lanes, ["a", "b"]);
    let names: std::collections::BTreeSet<&String> = page.stacks.names.iter().collect();
    assert_eq!(names.len(), page.stacks.names.len());
    let lock = page.stacks.lanes[1].stacks.iter().find(|of| of.part == Part::Locks && of.frames.len() == 4);
    let frames: Vec<&str> =
        lock.expect("a lock").frames.iter().map(|at| page.stacks.names[*at as usize].as_str()).collect();
    assert_eq!(frames, ["do_renameat2", "lock_rename", "down_write_nested", "rwsem_down_write_slowpath"]);
    assert!(page.stacks.lanes[1].stacks.iter().any(|of| of.part == Part::Fairlane && of.frames.is_empty()));
}

#[test]
fn a_page_holds_so_many_stacks_at_most() {
    let mut record = raced();
    for at in 0..300 {
        let mut profile = creating("a", 1000, 0.25);
        profile.group = format!("g{at}");
        profile.stacks = (0..600).map(|_| profile.stacks[0].clone()).collect();
        record.profiles.push(profile);
    }
    let page = stats::page::race(&record, found(&record), Vec::new());
    let all: usize = page.stacks.lanes.iter().map(|of| of.stacks.len()).sum();
    assert_eq!(all, 60_000);
    assert!(
        (page.stacks.lanes[0].left_out_seconds - 400.0 * 0.2).abs() < 1e-6,
        "{}",
        page.stacks.lanes[0].left_out_seconds
    );
}

#[test]
fn a_row_of_which_nothing_is_told_says_why() {
    let why = |record: &Record| -> Vec<String> {
        let findings = found(record);
        assert!(findings.results.iter().all(|result| result.explanations.is_empty()), "{:#?}", findings.results);
        findings.results.iter().flat_map(|result| &result.unexplained).map(ToString::to_string).collect()
    };
    let mut work: Workload = toml::from_str(
        "name = \"names\"\ntitle = \"names\"\nkind = \"contention\"\nacts = [\"create\"]\nthreads = [2]\n\
         sharing = [\"own\"]\noperations = 3000",
    )
    .unwrap();
    let seconds = |of: &Workload, seconds: f64| {
        counted(of, &|_| SystemUse { window_seconds: seconds, ..system(0.0, 0.0, 0.0, 0.0, 0.0) })
    };
    let said = why(&seconds(&work, 0.05));
    assert_eq!(said.len(), 1, "lanes with one reason are told of together: {said:?}");
    for part in ["not explained in a and b", "too short for counters"] {
        assert!(said[0].contains(part), "{said:?}");
    }
    // Long enough, it is told of as any other work is.
    let findings = found(&seconds(&work, 1.0));
    assert!(findings.results.iter().all(|result| result.explanations.len() == 2 && result.unexplained.is_empty()));
    work = random_writes(1);
    if let Kind::Io(io) = &mut work.kind {
        io.rate_of_slowest = Some(0.7);
    }
    let said = why(&seconds(&work, 1.0));
    assert!(said[0].contains("waits by itself"), "{said:?}");
}

#[test]
fn why_passes_are_missing_is_what_the_record_holds() {
    use model::record::EndOutcome;
    let why = |change: &dyn Fn(&mut Record)| -> Vec<String> {
        let mut record = raced();
        record.end = Some(EndOutcome::Complete);
        change(&mut record);
        found(&record).unexplained.iter().map(ToString::to_string).collect()
    };
    let asked = |record: &mut Record| record.header.plan.explain = true;
    let in_time = |record: &mut Record| (record.header.plan.explain, record.header.plan.explain_in_time) = (true, true);
    let said = why(&|_| {});
    assert!(said.len() == 1 && said[0].contains("race with --explain"), "{said:?}");
    let said = why(&|record| {
        asked(record);
        record.end = Some(EndOutcome::Interrupted);
    });
    assert!(said.len() == 1 && said[0].contains("--resume") && !said[0].contains("--explain"), "{said:?}");
    let said = why(&in_time);
    assert!(said.len() == 1 && said[0].contains("no room for passes"), "{said:?}");
    let refused = stats::explain::nothing_is_explained("the kernel refuses perf events; run as root");
    let said = why(&|record| {
        asked(record);
        record.warnings.push(refused.clone());
    });
    assert_eq!(said, [refused.as_str()]);
    let guests = |record: &mut Record| record.header.lanes.iter_mut().for_each(|lane| lane.kernel = "6.1.0".to_owned());
    let said = why(&|record| guests(record));
    assert!(said.len() == 1 && said[0].contains("guests") && !said[0].contains("--explain"), "{said:?}");
    // Work that a pass looked at lacks nothing.
    let said = why(&|record| {
        asked(record);
        record.profiles = vec![creating("a", 1000, 0.25)];
    });
    assert!(said.is_empty(), "{said:?}");
    let partly = stats::explain::is_partly_explained("small files", "nobody looked meanwhile");
    let said = why(&|record| {
        asked(record);
        record.profiles = vec![creating("a", 1000, 0.25)];
        record.warnings.push(partly.clone());
    });
    assert_eq!(said, [partly.as_str()]);
}
