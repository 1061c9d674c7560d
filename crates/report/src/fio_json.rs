//! A race's block I/O in the shape of fio's JSON, so that tools for fio read it: an entry of `jobs`
//! for each job and lane.
//!
//! Rounds are put together: operations, bytes and seconds are summed, latency histograms are merged
//! by adding counts. Nothing is compared here. What fio counts and Fairlane does not is zero and
//! named in `fairlane.not_measured` of the entry. Latency is recorded from hand-over to completion,
//! so `clat_ns` and `lat_ns` are the same figures and `slat_ns` is a part of both.

mod options;
mod side;
mod tree;

use crate::json::pretty;
use model::record::Record;
use model::trial::{DeviceUse, Group, JobUse, Outcome, Trial};
use model::workload::{Direction, Kind, Workload};
use options::JobOptions;
use side::Side;
use tree::{Json, object};

/// errno of a lane that could not do the work: EIO, as a failed job of fio answers most often.
const FAILED_ERROR: u32 = 5;

/// Renders a record's block I/O as fio's JSON (`--output-format=json`, the shape of fio 3.33).
///
/// A job's entry is named after the job, or `LANE/JOB` where the record has several lanes; work of
/// kind `io` is one job of the workload's name. `fio version` is `fairlane-VERSION`. All lanes and
/// rounds whose trials count are in it.
///
/// # Errors
/// A sentence with the remedy where the record holds no block I/O.
pub fn fio_json(record: &Record) -> Result<String, String> {
    let header = &record.header;
    let jobs: Vec<Job> = header.plan.workloads.iter().flat_map(jobs_of).collect();
    if jobs.is_empty() {
        return Err(
            "this record holds no block I/O, which is all that fio's JSON can show; choose another --format".to_owned()
        );
    }
    let several = header.lanes.len() > 1;
    let names = header.lanes.iter().map(|lane| lane.name.as_str());
    let entries: Vec<Entry> =
        names.flat_map(|lane| jobs.iter().map(move |job| Entry::new(record, lane, job, several))).collect();
    let last = record.trials.iter().map(|trial| trial.started.as_str()).max().unwrap_or(&header.started);
    let (seconds, time) = clock(last);
    let whole = object([
        ("fio version", format!("fairlane-{}", header.version).into()),
        ("timestamp", seconds.into()),
        ("timestamp_ms", (seconds * 1000).into()),
        ("time", time.into()),
        ("global options", options_json(&shared(&jobs))),
        ("jobs", Json::List(entries.iter().map(|entry| entry.json(&entries)).collect())),
        ("disk_util", Json::List(disks(record))),
    ]);
    Ok(pretty(&whole))
}

/// One job as a workload names it.
struct Job<'a> {
    workload: &'a Workload,
    name: &'a str,
    /// Jobs of one number run together; a stonewall begins the next.
    group: u32,
    /// Its workload has no other job: groups carry no name.
    only: bool,
    options: JobOptions,
}

/// The jobs of a workload; none where it is no block I/O.
fn jobs_of(workload: &Workload) -> Vec<Job<'_>> {
    match &workload.kind {
        Kind::Io(io) => {
            vec![Job { workload, name: &workload.name, group: 0, only: true, options: JobOptions::of_io(io) }]
        }
        Kind::Jobs(jobs) => {
            let mut group = 0;
            let numbered = jobs.jobs.iter().enumerate().map(|(at, job)| {
                group += u32::from(job.stonewall && at > 0);
                let options = JobOptions::of_job(job);
                Job { workload, name: &job.name, group, only: jobs.jobs.len() == 1, options }
            });
            numbered.collect()
        }
        Kind::Fio(run) => {
            let named = run.jobs.iter().map(|job| {
                let options = JobOptions::of_fio(run, job);
                Job { workload, name: &job.name, group: 0, only: run.jobs.len() == 1, options }
            });
            named.collect()
        }
        // fio knows no other work.
        _ => Vec::new(),
    }
}

impl Job<'_> {
    /// The group of a trial that holds one kind of this job's figures: `read`, `sync`, …
    fn group_of<'t>(&self, trial: &'t Trial, kind: &str) -> Option<&'t Group> {
        trial.groups.iter().find(|group| {
            group.name == format!("{}: {kind}", self.name)
                || (group.name == kind && (self.only || group.job == self.name))
        })
    }
}

/// Options that all jobs share.
fn shared(jobs: &[Job]) -> Vec<(String, String)> {
    let Some((first, others)) = jobs.split_first() else { return Vec::new() };
    let everywhere = |pair: &&(String, String)| others.iter().all(|job| job.options.all.contains(pair));
    first.options.all.iter().filter(everywhere).cloned().collect()
}

fn options_json(options: &[(String, String)]) -> Json {
    Json::Object(options.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect())
}

/// One job in one lane, all rounds together.
struct Entry<'a> {
    job: &'a Job<'a>,
    jobname: String,
    lane: &'a str,
    record: &'a Record,
    sides: [Side; 3],
    sync: Side,
    used: Used,
    rounds: usize,
    failure: Option<&'a str>,
}

/// What a job's workers used, over all rounds.
#[derive(Default)]
struct Used {
    seconds: f64,
    /// Seconds of all workers together.
    worker_seconds: f64,
    cpu_user_seconds: f64,
    cpu_system_seconds: f64,
    context_switches: u64,
    major_faults: u64,
    minor_faults: u64,
    /// Switches and faults were counted.
    counted: bool,
}

impl<'a> Entry<'a> {
    fn new(record: &'a Record, lane: &'a str, job: &'a Job<'a>, several: bool) -> Entry<'a> {
        let trials = last_attempts(record, &job.workload.name, lane);
        let ok: Vec<&Trial> = trials.iter().copied().filter(|trial| trial.outcome == Outcome::Ok).collect();
        let side = |kind: &str| {
            let mut side = Side::default();
            ok.iter().filter_map(|trial| job.group_of(trial, kind)).for_each(|group| side.add(group));
            side
        };
        let sides = Direction::ALL.map(|direction| side(direction.name()));
        let mut used = Used::default();
        for trial in &ok {
            let seconds = Direction::ALL.iter().filter_map(|of| job.group_of(trial, of.name())).map(|of| of.seconds);
            let of_job = trial.jobs.iter().find(|of| of.name == job.name).or(match trial.jobs.as_slice() {
                [only] if job.only => Some(only),
                _ => None,
            });
            used.add(of_job, trial, job, seconds.fold(0.0, f64::max));
        }
        let failed = trials.iter().rev().find(|trial| trial.outcome == Outcome::Failed);
        let failure = failed.filter(|_| ok.is_empty());
        Entry {
            jobname: if several { format!("{lane}/{}", job.name) } else { job.name.to_owned() },
            failure: failure.map(|trial| trial.reason.as_deref().unwrap_or("it failed without a reason")),
            sync: side("sync"),
            rounds: ok.len(),
            job,
            lane,
            record,
            sides,
            used,
        }
    }

    fn json(&self, all: &[Entry]) -> Json {
        let used = &self.used;
        let percent = |part: f64| if used.worker_seconds > 0.0 { 100.0 * part / used.worker_seconds } else { 0.0 };
        let depth = self.job.options.iodepth;
        let error = if self.failure.is_some() { FAILED_ERROR } else { 0 };
        let mut fields = vec![
            ("jobname", self.jobname.as_str().into()),
            ("groupid", self.job.group.into()),
            ("error", error.into()),
            ("eta", 0_u64.into()),
            ("elapsed", whole(used.seconds.ceil()).into()),
            ("job options", options_json(&self.job.options.all)),
        ];
        for (at, direction) in Direction::ALL.iter().enumerate() {
            let together = |other: &&Entry| {
                other.lane == self.lane
                    && other.job.group == self.job.group
                    && other.job.workload.name == self.job.workload.name
            };
            let group_rate = all.iter().filter(together).map(|other| other.sides[at].bytes_per_second()).sum();
            fields.push((direction.name(), self.sides[at].json(group_rate)));
        }
        let buckets = side::Buckets::new(&self.sides);
        fields.extend([
            ("sync", self.sync.sync_json()),
            ("job_runtime", whole(1e3 * used.worker_seconds).into()),
            ("usr_cpu", percent(used.cpu_user_seconds).into()),
            ("sys_cpu", percent(used.cpu_system_seconds).into()),
            ("ctx", used.context_switches.into()),
            ("majf", used.major_faults.into()),
            ("minf", used.minor_faults.into()),
            ("iodepth_level", self.level(depth)),
            ("iodepth_submit", self.batches(depth)),
            ("iodepth_complete", self.batches(depth)),
            ("latency_ns", buckets.nanoseconds()),
            ("latency_us", buckets.microseconds()),
            ("latency_ms", buckets.milliseconds()),
            ("latency_depth", depth.into()),
            ("latency_target", 0_u64.into()),
            ("latency_percentile", 100.0_f64.into()),
            ("latency_window", 0_u64.into()),
            ("fairlane", self.own(depth)),
        ]);
        object(fields)
    }

    fn worked(&self) -> bool {
        self.sides.iter().any(|side| side.operations > 0)
    }

    /// The depth that was asked for: every operation counts in its bucket.
    fn level(&self, depth: u32) -> Json {
        let bounds = [1, 2, 4, 8, 16, 32];
        let at = bounds.iter().rposition(|&bound| bound <= depth.min(63)).filter(|_| depth < 64).unwrap_or(6);
        let names = bounds.iter().map(u32::to_string).chain([">=64".to_owned()]);
        let share = |index| if index == at && self.worked() { 100.0 } else { 0.0 };
        Json::Object(names.enumerate().map(|(index, name)| (name, share(index).into())).collect())
    }

    /// Operations per call: known where there is never more than one.
    fn batches(&self, depth: u32) -> Json {
        let share = |name: &str| if name == "4" && depth == 1 && self.worked() { 100.0 } else { 0.0 };
        let names = ["0", "4", "8", "16", "32", "64", ">=64"];
        Json::Object(names.iter().map(|name| ((*name).to_owned(), share(name).into())).collect())
    }

    /// What fio's keys have no room for.
    fn own(&self, depth: u32) -> Json {
        let header = &self.record.header;
        let mut missing = vec!["short_ios", "drop_ios"];
        if depth > 1 {
            missing.extend(["iodepth_level (as asked for)", "iodepth_submit", "iodepth_complete"]);
        }
        if !self.used.counted {
            missing.extend(["ctx", "majf", "minf"]);
        }
        if self.sides.iter().all(|side| !side.submitted()) {
            missing.push("slat_ns");
        }
        let mut fields = vec![
            ("lane", self.lane.into()),
            ("rounds", self.rounds.into()),
            ("workload", self.job.workload.name.as_str().into()),
            ("job", self.job.name.into()),
            (
                "record",
                object([
                    ("started", header.started.as_str().into()),
                    ("suite", header.plan.suite.as_str().into()),
                    ("seed", header.seed.into()),
                    ("version", header.version.as_str().into()),
                ]),
            ),
            ("not_measured", Json::List(missing.into_iter().map(Json::from).collect())),
        ];
        fields.extend(self.failure.map(|reason| ("failure", reason.into())));
        object(fields)
    }
}

impl Used {
    /// Adds a trial: the job's own counters, or where it has none the agent's, which did nothing
    /// but this work. `seconds`: of its longest group.
    fn add(&mut self, of_job: Option<&JobUse>, trial: &Trial, job: &Job, seconds: f64) {
        match of_job {
            Some(of) => {
                self.seconds += of.seconds;
                self.worker_seconds += of.seconds * f64::from(of.workers.max(1));
                self.cpu_user_seconds += of.cpu_user_seconds;
                self.cpu_system_seconds += of.cpu_system_seconds;
                self.context_switches += of.context_switches;
                self.major_faults += of.major_faults;
                self.minor_faults += of.minor_faults;
                self.counted = true;
            }
            None => {
                self.seconds += seconds;
                self.worker_seconds += seconds * f64::from(job.options.numjobs);
                if job.only {
                    self.cpu_user_seconds += trial.system.agent_cpu_user_seconds;
                    self.cpu_system_seconds += trial.system.agent_cpu_system_seconds;
                }
            }
        }
    }
}

/// The last attempt of each round of one workload in one lane, in order of rounds.
fn last_attempts<'a>(record: &'a Record, workload: &str, lane: &str) -> Vec<&'a Trial> {
    let mut last: std::collections::BTreeMap<u32, &Trial> = Default::default();
    for trial in record.trials.iter().filter(|trial| trial.workload == workload && trial.lane == lane) {
        let kept = last.entry(trial.round).or_insert(trial);
        if trial.attempt >= kept.attempt {
            *kept = trial;
        }
    }
    last.into_values().collect()
}

/// Each lane's device and the disk under it, over all trials of block I/O that count.
fn disks(record: &Record) -> Vec<Json> {
    let mut out = Vec::new();
    for lane in &record.header.lanes {
        let (mut device, mut backing) = (DeviceUse::default(), DeviceUse::default());
        let mut window = 0.0;
        for workload in record
            .header
            .plan
            .workloads
            .iter()
            .filter(|of| matches!(of.kind, Kind::Io(_) | Kind::Jobs(_) | Kind::Fio(_)))
        {
            for trial in last_attempts(record, &workload.name, &lane.name) {
                if trial.outcome == Outcome::Ok {
                    window += trial.system.window_seconds;
                    device.add(&trial.system.device);
                    backing.add(&trial.system.backing);
                }
            }
        }
        for (role, name, of) in [("lane", &lane.name, device), ("backing", &lane.backing, backing)] {
            if of != DeviceUse::default() && !name.is_empty() {
                out.push(disk(role, name, &lane.name, &of, window));
            }
        }
    }
    out
}

fn disk(role: &str, name: &str, lane: &str, of: &DeviceUse, window: f64) -> Json {
    let util = if window > 0.0 { (100.0 * of.busy_seconds / window).min(100.0) } else { 0.0 };
    object([
        ("name", name.into()),
        ("read_ios", of.reads.into()),
        ("write_ios", of.writes.into()),
        ("read_merges", 0_u64.into()),
        ("write_merges", 0_u64.into()),
        ("read_ticks", 0_u64.into()),
        ("write_ticks", 0_u64.into()),
        ("in_queue", whole(1e3 * of.queue_seconds).into()),
        ("util", util.into()),
        (
            "fairlane",
            object([
                ("lane", lane.into()),
                ("role", role.into()),
                (
                    "not_measured",
                    Json::List(["read_merges", "write_merges", "read_ticks", "write_ticks"].map(Json::from).to_vec()),
                ),
            ]),
        ),
    ])
}

/// A figure that is counted, from one that was computed.
fn whole(figure: f64) -> u64 {
    // A cast saturates and takes what is no number for zero.
    figure.round() as u64
}

/// Seconds since 1970 and fio's way of writing the time (`Sat Nov 21 20:37:39 2026`), from an
/// RFC 3339 time in UTC; zero and the text itself where it is none.
fn clock(text: &str) -> (u64, String) {
    read_clock(text).unwrap_or_else(|| (0, text.to_owned()))
}

fn read_clock(text: &str) -> Option<(u64, String)> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // 1970-01-01 was a Thursday.
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let name = MONTHS.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if year < 1970 || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970 of the proleptic Gregorian calendar, years beginning in March.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    let weekday = DAYS[(days % 7) as usize];
    let time = format!("{weekday} {name} {day:>2} {hour:02}:{minute:02}:{second:02} {year}");
    Some((86_400 * days + 3600 * hour + 60 * minute + second, time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::group_name;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(clock("2026-11-21T20:37:39Z"), (1_795_293_459, "Sat Nov 21 20:37:39 2026".to_owned()));
        assert_eq!(clock("2024-02-29T00:00:00.5Z"), (1_709_164_800, "Thu Feb 29 00:00:00 2024".to_owned()));
        assert_eq!(clock("1970-01-01T00:00:01Z"), (1, "Thu Jan  1 00:00:01 1970".to_owned()));
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "日本語日本語日本語"] {
            assert_eq!(clock(text), (0, text.to_owned()));
        }
    }

    #[test]
    fn groups_are_found_under_the_names_that_the_model_gives_them() {
        let kind = Kind::SmallFiles(model::workload::SmallFiles {
            files: 1,
            size: model::Bytes(1),
            directories: 1,
            sharing: Default::default(),
        });
        let workload = Workload { name: "w".into(), title: "w".into(), kind };
        for only in [true, false] {
            let options = JobOptions::default();
            let job = Job { workload: &workload, name: "a: b", group: 0, only, options };
            let name = group_name("a: b", Direction::Write, only);
            let group = Group { name, ..Group::default() };
            let trial = serde_json::json!({
                "round": 1, "position": 1, "attempt": 1, "lane": "x", "workload": "w", "outcome": "ok",
                "started": "", "phases_seconds": {}, "groups": [group], "system": {}
            });
            let trial: Trial = serde_json::from_value(trial).unwrap();
            assert!(job.group_of(&trial, "write").is_some());
            assert!(job.group_of(&trial, "read").is_none());
        }
    }
}
