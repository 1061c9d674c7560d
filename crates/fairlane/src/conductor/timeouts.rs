//! How long a lane may take to answer before it counts as hung.

use model::Throttle;
use model::agent::Request;
use model::kinds::Traffic;
use model::throttle::Quantity;
use model::workload::{Kind, Workload};
use std::time::Duration;

/// What writes or syncs whole files takes as long as a slow disk needs.
const USUAL: Duration = Duration::from_secs(3600);
/// A slice ends by itself, and then waits for what is in flight.
const AFTER_A_SLICE_SECONDS: f64 = 120.0;
/// A job file may run for days, and only its author knows: Ctrl-C ends it.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// So many times what the emulated disk needs for the work at its limits: journals and metadata come on
/// top of the work's own bytes.
const TIMES: f64 = 4.0;

/// What an emulated disk, and appenders, add to it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAllowance {
    seconds: f64,
    /// `None`: the lanes are held to nothing.
    throttle: Option<Throttle>,
    /// How long the engine itself waits in a slice, beside what is measured.
    in_a_slice: Duration,
}

impl TimeAllowance {
    /// Of a workload on the slowest of these disks; `None`: it takes no longer than is usual.
    pub fn new(throttles: &[Throttle], workload: &Workload) -> Option<TimeAllowance> {
        let in_a_slice = match &workload.kind {
            Kind::Appenders(appenders) => engine::appenders_allowance(appenders),
            _ => Duration::ZERO,
        };
        let free = (!in_a_slice.is_zero()).then_some(TimeAllowance { seconds: 0.0, throttle: None, in_a_slice });
        let Traffic { bytes, requests } = workload.traits().traffic();
        let of = |throttle: &Throttle| {
            let tightest = |quantities: [Quantity; 2]| {
                quantities.into_iter().filter_map(|quantity| throttle.limit(quantity)).min()
            };
            let seconds = |amount: f64, limit: Option<u64>| limit.map_or(0.0, |limit| amount / limit as f64);
            let seconds = seconds(bytes, tightest([Quantity::ReadBytes, Quantity::WriteBytes]))
                + seconds(requests, tightest([Quantity::Reads, Quantity::Writes]));
            TimeAllowance { seconds: TIMES * seconds, throttle: Some(*throttle), in_a_slice }
        };
        throttles.iter().map(of).max_by(|a, b| a.seconds.total_cmp(&b.seconds)).or(free)
    }

    /// Why an answer may take so long, for the sentence that says it did not come.
    pub fn words(&self) -> String {
        match self.throttle {
            Some(throttle) => format!(" although it was given the time that a disk of {throttle} needs"),
            None => String::new(),
        }
    }
}

/// How long the answer to a request may take.
pub fn timeout_for(request: &Request, slack: Option<&TimeAllowance>) -> Duration {
    let usual = match request {
        Request::Slice { warm_up_seconds, seconds, .. } => {
            let in_a_slice = slack.map_or(Duration::ZERO, |slack| slack.in_a_slice);
            Duration::from_secs_f64(warm_up_seconds + seconds + AFTER_A_SLICE_SECONDS) + in_a_slice
        }
        Request::Run { .. } => return LONGEST,
        _ => USUAL,
    };
    let more = slack.map_or(0.0, |slack| slack.seconds).min(LONGEST.as_secs_f64());
    (usual + Duration::from_secs_f64(more)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::agent::Part;

    fn workload(text: &str) -> Workload {
        toml::from_str(&format!("name = \"w\"\ntitle = \"w\"\n{text}")).unwrap()
    }

    fn large_files() -> Workload {
        workload(
            "kind = \"operations\"\nfiles = [{ name = \"a\", count = 1, size = \"8GiB\" }]\n\
             step = [{ operation = \"create\", files = \"a\" }]",
        )
    }

    fn phase() -> Request {
        Request::Phase { group: "create".to_owned(), part: Part::WHOLE, threads: false }
    }

    #[test]
    fn an_emulated_disk_is_given_the_time_that_it_needs() {
        let of_disk = |limits: &str| TimeAllowance::new(&[limits.parse().unwrap()], &large_files()).unwrap();
        // 8 GiB at 1 MiB/s take 8192 s, more than the hour that a lane has without a throttle.
        assert_eq!(timeout_for(&phase(), Some(&of_disk("1MiB/s"))), Duration::from_secs(3600 + 4 * 8192));
        // 65,536 requests of 128 KiB and the operation itself.
        assert_eq!(timeout_for(&phase(), Some(&of_disk("write=100iops"))).as_secs(), 3600 + 4 * 65_537 / 100);
        // The slower direction, and bytes and requests after each other.
        let both = of_disk("read=1MiB/s,write=4MiB/s,128iops");
        assert_eq!(timeout_for(&phase(), Some(&both)).as_secs(), 3600 + 4 * 8192 + 4 * 65_537 / 128);
        assert_eq!(timeout_for(&phase(), None), Duration::from_secs(3600));
        assert_eq!(TimeAllowance::new(&[], &large_files()), None);
    }

    #[test]
    fn appenders_of_processes_is_waited_for_longer_than_the_engine_waits_itself() {
        let appenders =
            |more: &str| workload(&format!("kind = \"appenders\"\nperiod_seconds = 60.0\nseconds = 180.0\n{more}"));
        let slice = Request::Slice { warm_up_seconds: 2.0, seconds: 180.0, threads: false };
        // The engine gives each process 50 ms to become ready, waits ten seconds for what is late, and a minute for
        // the end of all of them.
        let large = appenders("writers = 20000\nmethod = \"processes\"");
        let slack = TimeAllowance::new(&[], &large).unwrap();
        assert!(
            timeout_for(&slice, Some(&slack)).as_secs() >= 182 + 20_000 / 20 + 10 + 60,
            "{:?}",
            timeout_for(&slice, Some(&slack))
        );
        assert_eq!(slack.words(), "");
        // On an emulated disk the time that this one needs comes on top.
        let held = TimeAllowance::new(&["100iops".parse().unwrap()], &large).unwrap();
        assert!(
            timeout_for(&slice, Some(&held)) > timeout_for(&slice, Some(&slack)) && held.words().contains("100iops")
        );
        // Other requests, and other work, are waited for as ever.
        assert_eq!(timeout_for(&Request::Sync, Some(&slack)), USUAL);
        assert_eq!(TimeAllowance::new(&[], &large_files()), None);
    }

    #[test]
    fn the_slowest_disk_counts_and_is_named() {
        let disks = ["100MiB/s", "1MiB/s", "2MiB/s"].map(|limits| limits.parse().unwrap());
        let slack = TimeAllowance::new(&disks, &large_files()).unwrap();
        assert!(slack.words().contains("a disk of 1MiB/s"), "{}", slack.words());
    }

    #[test]
    fn a_slice_waits_for_what_is_in_flight_and_no_answer_takes_more_than_a_month() {
        let deep = workload(
            "kind = \"io\"\nrw = \"randread\"\nbs = \"1MiB\"\nsize = \"1MiB\"\niodepth = 255\nioengine = \"libaio\"",
        );
        let slack = TimeAllowance::new(&["1MiB/s".parse().unwrap()], &deep).unwrap();
        let slice = Request::Slice { warm_up_seconds: 0.5, seconds: 0.5, threads: false };
        assert_eq!(timeout_for(&slice, Some(&slack)), Duration::from_secs(121 + 4 * 256));
        let huge = workload(
            "kind = \"operations\"\nfiles = [{ name = \"a\", count = 100000000, size = \"1TiB\" }]\n\
             step = [{ operation = \"create\", files = \"a\" }]",
        );
        let slack = TimeAllowance::new(&["1MiB/s".parse().unwrap()], &huge).unwrap();
        assert_eq!(timeout_for(&phase(), Some(&slack)), LONGEST);
        assert_eq!(timeout_for(&Request::Run { threads: false }, None), LONGEST);
    }
}
