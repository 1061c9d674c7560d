//! fio's JSON (format `json+`, fio 3.x) in our figures.

use crate::histogram::Latencies;
use crate::window::{BANDWIDTH, OPERATIONS_PER_SECOND, Window};
use model::job::{Direction, FioRun, group_name};
use model::trial::JobUse;
use serde_json::Value;

/// From this mean size on people speak of bandwidth rather than of operations.
const BANDWIDTH_FROM_BYTES: u64 = 64 << 10;

/// What a run of fio yielded.
pub(super) struct FioResult {
    /// One window per job and direction.
    pub windows: Vec<Window>,
    /// What each job used.
    pub jobs: Vec<JobUse>,
    /// Bytes that the jobs wrote in their measured time.
    pub written_bytes: u64,
    /// The first error that a job reports.
    pub errno: Option<i32>,
}

impl FioResult {
    /// Reads the JSON; notes that fio printed before it are passed over. fio lists every worker of a
    /// job under the job's name: they are added up.
    pub fn read(output: &str, run: &FioRun) -> Result<FioResult, String> {
        let start = output.match_indices('{').map(|(at, _)| at).find(|&at| at == 0 || output[..at].ends_with('\n'));
        let json = &output[start.ok_or("there is none")?..];
        let value = serde_json::Deserializer::from_str(json)
            .into_iter::<Value>()
            .next()
            .ok_or("there is none")?
            .map_err(|error| error.to_string())?;
        let workers = value["jobs"].as_array().ok_or("it lists no jobs")?;
        let mut result = FioResult { windows: Vec::new(), jobs: Vec::new(), written_bytes: 0, errno: None };
        result.errno = workers.iter().find_map(|worker| match worker["error"].as_i64() {
            Some(0) | None => None,
            Some(errno) => i32::try_from(errno).ok(),
        });
        let only_job = run.jobs.len() == 1;
        for (index, job) in run.jobs.iter().enumerate() {
            if run.jobs[..index].iter().any(|earlier| earlier.name == job.name) {
                continue;
            }
            let own: Vec<&Value> = workers.iter().filter(|worker| worker["jobname"] == job.name.as_str()).collect();
            if own.is_empty() {
                return Err(format!("it has no job {}", job.name));
            }
            for &direction in &job.directions {
                let sides = own.iter().map(|worker| &worker[direction.name()]);
                let group = group_name(&job.name, direction, only_job);
                let window = Window { job: job.name.clone(), ..window(group, sides) };
                if direction == Direction::Write {
                    result.written_bytes += window.bytes;
                }
                result.windows.push(window);
            }
            result.windows.extend(syncs(&job.name, only_job, &own));
            result.jobs.push(used(&job.name, &own));
        }
        Ok(result)
    }
}

/// One direction of all workers of a job.
fn window<'a>(group: String, sides: impl Iterator<Item = &'a Value>) -> Window {
    let (mut operations, mut bytes, mut milliseconds) = (0, 0, 0);
    let mut latencies = Latencies::new();
    for side in sides {
        operations += side["total_ios"].as_u64().unwrap_or(0);
        bytes += side["io_bytes"].as_u64().unwrap_or(0);
        milliseconds = milliseconds.max(side["runtime"].as_u64().unwrap_or(0));
        // Completion latency is what fio keeps a histogram of; with lat_percentiles it is the whole.
        let _ = take(&side["clat_ns"], &mut latencies) || take(&side["lat_ns"], &mut latencies);
    }
    let large = operations > 0 && bytes / operations >= BANDWIDTH_FROM_BYTES;
    Window {
        group,
        primary_metric: if large { BANDWIDTH } else { OPERATIONS_PER_SECOND },
        operations,
        bytes,
        seconds: milliseconds as f64 / 1000.0,
        latencies,
        ..Window::default()
    }
}

/// The fsync and fdatasync calls of a job, where it made any: a group of their own.
fn syncs(job: &str, only_job: bool, workers: &[&Value]) -> Option<Window> {
    let mut latencies = Latencies::new();
    let (mut operations, mut milliseconds) = (0, 0);
    for worker in workers {
        operations += worker["sync"]["total_ios"].as_u64().unwrap_or(0);
        milliseconds = milliseconds.max(worker["job_runtime"].as_u64().unwrap_or(0));
        take(&worker["sync"]["lat_ns"], &mut latencies);
    }
    (operations > 0).then(|| Window {
        group: if only_job { "sync".to_owned() } else { format!("{job}: sync") },
        job: job.to_owned(),
        primary_metric: OPERATIONS_PER_SECOND,
        operations,
        bytes: 0,
        seconds: milliseconds as f64 / 1000.0,
        latencies,
        ..Window::default()
    })
}

/// Adds a latency histogram of fio's: nanoseconds in the middle of each bin, and their counts. The
/// smallest and the largest are known exactly, and replace one of the outermost bins each. Answers
/// whether there was one.
fn take(latency: &Value, latencies: &mut Latencies) -> bool {
    let Some(bins) = latency["bins"].as_object() else { return false };
    let mut counts: Vec<(u64, u64)> =
        bins.iter().filter_map(|(middle, count)| Some((middle.parse().ok()?, count.as_u64()?))).collect();
    counts.retain(|&(_, count)| count > 0);
    counts.sort_unstable();
    let total: u64 = counts.iter().map(|&(_, count)| count).sum();
    let last = counts.len().saturating_sub(1);
    for (key, at) in [("max", last), ("min", 0)] {
        // Where there is a single operation, both are the same one.
        if let (Some(value), Some((_, count @ 1..))) = (latency[key].as_u64(), counts.get_mut(at)) {
            *count -= 1;
            latencies.record(value);
        }
    }
    for (middle, count) in counts {
        latencies.record_n(middle, count);
    }
    total > 0
}

/// What the workers of a job used. fio gives CPU time in percent of the worker's own run time.
fn used(name: &str, workers: &[&Value]) -> JobUse {
    let mut used = JobUse { name: name.to_owned(), workers: workers.len() as u32, ..JobUse::default() };
    for worker in workers {
        let seconds = worker["job_runtime"].as_f64().unwrap_or(0.0) / 1000.0;
        let share = |key: &str| worker[key].as_f64().unwrap_or(0.0) / 100.0;
        let count = |key: &str| worker[key].as_u64().unwrap_or(0);
        used.seconds = used.seconds.max(seconds);
        used.cpu_user_seconds += share("usr_cpu") * seconds;
        used.cpu_system_seconds += share("sys_cpu") * seconds;
        used.context_switches += count("ctx");
        used.major_faults += count("majf");
        used.minor_faults += count("minf");
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::FioJob;
    use serde_json::json;

    fn run(names: &[&str]) -> FioRun {
        let job = |name: &&str| FioJob { name: (*name).to_owned(), directions: vec![Direction::Read], direct: false };
        FioRun {
            file: String::new(),
            text: String::new(),
            jobs: names.iter().map(job).collect(),
            working_set: model::Bytes(0),
        }
    }

    fn worker(name: &str, operations: u64, bins: Value) -> Value {
        let clat = json!({ "min": 90, "max": 5003, "N": operations, "bins": bins });
        json!({
            "jobname": name, "error": 0, "job_runtime": 2000, "usr_cpu": 25.0, "sys_cpu": 50.0, "ctx": 7, "majf": 0,
            "minf": 3,
            "read": { "total_ios": operations, "io_bytes": operations * 4096, "runtime": 1500, "clat_ns": clat }
        })
    }

    #[test]
    fn workers_of_one_job_are_added_up_and_notes_before_the_json_are_passed_over() {
        let bins = json!({ "100": 60, "5000": 40 });
        let output = json!({ "jobs": [worker("a", 100, bins.clone()), worker("a", 100, bins)] });
        let result = FioResult::read(&format!("note: depth {{1}}\n{output:#}\n"), &run(&["a"])).unwrap();
        let window = &result.windows[0];
        assert_eq!((window.group.as_str(), window.operations, window.bytes), ("read", 200, 200 * 4096));
        assert_eq!(window.seconds, 1.5);
        assert_eq!(window.latencies.operations(), 200);
        let latency = window.latencies.summary().unwrap();
        assert!((latency.p50.unwrap() - 100.0).abs() <= 1.0 && (latency.max - 5003.0).abs() <= 5.0, "{latency:?}");
        let used = &result.jobs[0];
        assert_eq!((used.workers, used.context_switches, used.minor_faults), (2, 14, 6));
        assert_eq!((used.cpu_user_seconds, used.cpu_system_seconds, used.seconds), (1.0, 2.0, 2.0));
    }

    #[test]
    fn a_single_operation_counts_once() {
        let output = json!({ "jobs": [worker("a", 1, json!({ "5000": 1 }))] }).to_string();
        let result = FioResult::read(&output, &run(&["a"])).unwrap();
        assert_eq!(result.windows[0].latencies.operations(), 1);
    }

    #[test]
    fn a_job_that_is_missing_and_an_errno_are_told() {
        let output = json!({ "jobs": [worker("a", 1, json!({}))] }).to_string();
        assert!(FioResult::read(&output, &run(&["a", "b"])).is_err());
        let failed = output.replace("\"error\":0", "\"error\":28");
        assert_eq!(FioResult::read(&failed, &run(&["a"])).unwrap().errno, Some(28));
        for nothing in ["", "fio: engine nope not loadable", "{"] {
            assert!(FioResult::read(nothing, &run(&["a"])).is_err(), "{nothing}");
        }
    }
}
