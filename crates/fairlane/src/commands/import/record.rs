//! What other benchmarks measured, as the lines of a record.

use foreign::{Facts, Metric, Results, Series};
use model::Bytes;
use model::bounds::{MOST_LANES, MOST_WORKLOADS};
use model::kinds::foreign::{Foreign, VENUE, metric};
use model::lane::Lane;
use model::machine::{Device, Machine};
use model::plan::{Ground, GuestTerms, Plan, Rounds};
use model::record::{EndOutcome, Header, Line, SCHEMA};
use model::trial::{Group, Latency, Outcome, SystemUse, Trial};
use model::workload::{Kind, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// The suite that such records name.
const SUITE: &str = "imported";
/// The tie margin of findings: as in a race where nothing is said.
const MARGIN: f64 = 0.05;
/// Most characters of a name of a workload.
const NAME_CHARACTERS: usize = 60;
/// Most runs of one import: each becomes a line of the record, or a part of one.
const MOST_RUNS: usize = 100_000;

/// A file that was read.
pub(super) struct Imported {
    /// The lane, where the command line names it.
    pub(super) lane: Option<String>,
    /// The file's name without its ending.
    pub(super) stem: String,
    /// What it holds.
    pub(super) results: Results,
}

/// The runs of one kind of operation of one test in one lane.
struct Figures<'a> {
    lane: usize,
    workload: usize,
    group: String,
    metric: String,
    runs: Vec<(f64, &'a Series)>,
}

/// All that the files hold, by lane, test and kind of operation.
#[derive(Default)]
struct Gathered<'a> {
    lanes: Vec<(String, String)>,
    workloads: Vec<Workload>,
    figures: Vec<Figures<'a>>,
    /// Places of lanes by name, of tests by title, parameters and format, and of figures by lane, test, group and metric.
    lane_places: BTreeMap<String, usize>,
    test_places: BTreeMap<(&'a str, &'a str, &'static str), usize>,
    figure_places: BTreeMap<(usize, usize, String, String), usize>,
    /// The metric by which a kind of operation of a test was counted first.
    first_metrics: BTreeMap<(usize, &'a str), String>,
    /// How many tests would have this name.
    names: BTreeMap<String, u32>,
}

/// The lines of a record of what the files hold. `now`: RFC 3339, when they were imported.
///
/// # Errors
/// One sentence: where it is not known which lane a file is of, or there is too much.
pub(super) fn lines(files: &[Imported], now: &str, command_line: Vec<String>) -> Result<Vec<Line>, String> {
    check_names(files)?;
    let mut gathered = Gathered::default();
    for file in files {
        for series in &file.results.series {
            gathered.add(file, series)?;
        }
    }
    gathered.tell_apart();
    // Of what does not tell when it was measured nobody can say what came before it.
    let told = files.iter().map(|file| file.results.ran.as_str());
    let started = if told.clone().any(str::is_empty) { "" } else { told.min().unwrap_or_default() };
    let header = header(files, &gathered, started, command_line);
    let mut lines = vec![Line::Header(Box::new(header))];
    lines.extend(gathered.trials(started).into_iter().map(|trial| Line::Trial(Box::new(trial))));
    lines.push(Line::End { finished: now.to_owned(), outcome: EndOutcome::Complete, reason: None, rounds_done: false });
    Ok(lines)
}

/// Refuses more runs than one import takes, before all of its files are read: they lie in memory together.
///
/// # Errors
/// The sentence.
pub(super) fn check_runs(runs: usize) -> Result<(), String> {
    check_count(runs, MOST_RUNS, "runs")
}

fn check_count(count: usize, most: usize, what: &str) -> Result<(), String> {
    match count <= most {
        true => Ok(()),
        false => Err(format!("there are more than {most} {what} in these files, which no record holds; import fewer")),
    }
}

/// Files that nothing names go by their own names: two of one name may be of two lanes, or runs of one.
fn check_names(files: &[Imported]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let by_file =
        |file: &&Imported| file.lane.is_none() && file.results.series.iter().any(|series| series.contestant.is_empty());
    for file in files.iter().filter(by_file) {
        if !seen.insert(&file.stem) {
            let shown = model::text::escaped(file.stem.as_bytes());
            return Err(format!(
                "two files are called {shown}, and nothing tells whether they are runs of one lane; name each file's lane: \
                 LANE=FILE"
            ));
        }
    }
    Ok(())
}

impl<'a> Gathered<'a> {
    fn add(&mut self, file: &'a Imported, series: &'a Series) -> Result<(), String> {
        let lane = self.lane(file, series);
        let workload = self.workload(file, series);
        for (count, most, what) in
            [(self.lanes.len(), MOST_LANES, "lanes"), (self.workloads.len(), MOST_WORKLOADS, "different tests")]
        {
            check_count(count, most, what)?;
        }
        let metric = key(&series.metric);
        // A test that counts one kind of operation in two ways has a group for each.
        let first = self.first_metrics.entry((workload, &series.group)).or_insert_with(|| metric.clone());
        let group = match *first == metric {
            true => series.group.clone(),
            false => format!("{}, {}", series.group, unit(&series.metric)),
        };
        let next = self.figures.len();
        let place = *self.figure_places.entry((lane, workload, group.clone(), metric.clone())).or_insert(next);
        if place == next {
            self.figures.push(Figures { lane, workload, group: group.clone(), metric, runs: Vec::new() });
            if let Kind::Foreign(kind) = &mut self.workloads[workload].kind
                && !kind.groups.contains(&group)
            {
                kind.groups.push(group);
            }
        }
        self.figures[place].runs.extend(series.runs.iter().map(|&run| (run, series)));
        Ok(())
    }

    /// Tests of one title have their parameters behind it.
    fn tell_apart(&mut self) {
        let mut titles: BTreeMap<String, u32> = BTreeMap::new();
        for workload in &self.workloads {
            *titles.entry(workload.title.clone()).or_default() += 1;
        }
        for workload in self.workloads.iter_mut().filter(|of| titles.get(&of.title).is_some_and(|count| *count > 1)) {
            if let Kind::Foreign(Foreign { parameters, .. }) = &workload.kind
                && !parameters.is_empty()
            {
                workload.title = format!("{}, {parameters}", workload.title);
            }
        }
    }

    /// The place of a series' lane.
    fn lane(&mut self, file: &Imported, series: &Series) -> usize {
        let name = match (&file.lane, series.contestant.as_str()) {
            (Some(lane), "") => lane.clone(),
            (None, "") => file.stem.clone(),
            (Some(lane), contestant) => format!("{lane} {contestant}"),
            (None, contestant) => contestant.to_owned(),
        };
        let next = self.lanes.len();
        let place = *self.lane_places.entry(name.clone()).or_insert(next);
        if place == next {
            self.lanes.push((name, series.filesystem.clone()));
        }
        place
    }

    /// The place of a series' test. Other parameters are another test.
    fn workload(&mut self, file: &'a Imported, series: &'a Series) -> usize {
        let next = self.workloads.len();
        let of = (series.workload.as_str(), series.parameters.as_str(), file.results.format);
        let place = *self.test_places.entry(of).or_insert(next);
        if place == next {
            let kind = Foreign {
                format: file.results.format.to_owned(),
                parameters: series.parameters.clone(),
                groups: Vec::new(),
            };
            let name = self.free_name(&series.workload);
            self.workloads.push(Workload { name, title: series.workload.clone(), kind: Kind::Foreign(kind) });
        }
        place
    }

    /// A name that no other test has: letters, digits and dashes of what the file calls it. Of several that come to one name each
    /// has its number behind two dashes, which no other name holds.
    fn free_name(&mut self, title: &str) -> String {
        let mut name = String::new();
        for character in title.chars().take(NAME_CHARACTERS) {
            match character.is_alphanumeric() {
                true => name.extend(character.to_lowercase()),
                false if !name.is_empty() && !name.ends_with('-') => name.push('-'),
                false => {}
            }
        }
        let name = match name.trim_matches('-') {
            "" => "test",
            name => name,
        };
        let number = self.names.entry(name.to_owned()).and_modify(|number| *number += 1).or_insert(1);
        if *number == 1 { name.to_owned() } else { format!("{name}--{number}") }
    }

    /// One trial for each run of each test in each lane.
    fn trials(&self, started: &str) -> Vec<Trial> {
        let mut of_lane: BTreeMap<(usize, usize), Vec<&Figures<'_>>> = BTreeMap::new();
        for figures in &self.figures {
            of_lane.entry((figures.workload, figures.lane)).or_default().push(figures);
        }
        let mut all = Vec::new();
        for ((workload, lane), figures) in of_lane {
            let runs = figures.iter().map(|of| of.runs.len()).max().unwrap_or(0);
            for run in 0..runs {
                let groups: Vec<Group> = figures.iter().filter_map(|of| of.group(run)).collect();
                let names = (self.lanes[lane].0.as_str(), self.workloads[workload].name.as_str());
                all.push(((workload, run, lane), trial(run as u32 + 1, names.0, names.1, started, groups)));
            }
        }
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, trial)| trial).collect()
    }

    /// The most runs of a test in any lane.
    fn runs_of(&self, workload: usize) -> u32 {
        let of = self.figures.iter().filter(|figures| figures.workload == workload);
        of.map(|figures| figures.runs.len() as u32).max().unwrap_or(0)
    }
}

impl Figures<'_> {
    /// One run's figures.
    fn group(&self, run: usize) -> Option<Group> {
        let &(figure, series) = self.runs.get(run)?;
        let mut metrics =
            BTreeMap::from([(self.metric.clone(), if self.metric == TIME { figure * 1e9 } else { figure })]);
        if let Some(deviation) = series.deviation {
            metrics.insert("standard_deviation_in_the_file".to_owned(), deviation);
        }
        let alone = series.runs.len() == 1;
        let latency = series.latency.filter(|_| alone);
        let beside = latency.map(|of| [("min", of.min), ("p95", of.p95), ("max", of.max)]);
        for (what, nanoseconds) in beside.into_iter().flatten() {
            if let Some(nanoseconds) = nanoseconds {
                metrics.insert(format!("latency_{what}_ns"), nanoseconds);
            }
        }
        let latency_ns = latency
            .and_then(|of| Some(Latency { mean: of.mean?, p50: of.p50, p99: of.p99, p999: of.p999, max: of.max? }));
        let told = |number: u64| if alone { number } else { 0 };
        Some(Group {
            name: self.group.clone(),
            operations: told(series.operations),
            bytes: told(series.bytes),
            seconds: if alone { series.seconds } else { 0.0 },
            primary_metric: self.metric.clone(),
            metrics,
            latency_ns,
            ..Group::default()
        })
    }
}

/// The key of times, which records hold in nanoseconds.
const TIME: &str = "time_ns";

fn key(of: &Metric) -> String {
    match of {
        Metric::OperationsPerSecond => "operations_per_second".to_owned(),
        Metric::BandwidthBytesPerSecond => "bandwidth_bytes_per_second".to_owned(),
        Metric::Seconds => TIME.to_owned(),
        Metric::Other { unit, higher_is_better } => metric(unit, *higher_is_better),
    }
}

fn unit(of: &Metric) -> &str {
    match of {
        Metric::OperationsPerSecond => "operations",
        Metric::BandwidthBytesPerSecond => "bandwidth",
        Metric::Seconds => "time",
        Metric::Other { unit, .. } => unit,
    }
}

fn trial(round: u32, lane: &str, workload: &str, started: &str, groups: Vec<Group>) -> Trial {
    Trial {
        round,
        position: 1,
        attempt: 1,
        lane: lane.to_owned(),
        workload: workload.to_owned(),
        ground: 0,
        outcome: Outcome::Ok,
        reason: None,
        started: started.to_owned(),
        phases_seconds: BTreeMap::new(),
        groups,
        system: SystemUse::default(),
        timeline: None,
        jobs: Vec::new(),
        flags: Vec::new(),
        disturbance: None,
    }
}

fn header(files: &[Imported], gathered: &Gathered<'_>, started: &str, command_line: Vec<String>) -> Header {
    let rounds = (0..gathered.workloads.len()).map(|workload| gathered.runs_of(workload)).max().unwrap_or(1);
    let plan = Plan {
        suite: SUITE.to_owned(),
        not_tested: Vec::new(),
        first_answer: false,
        as_published: false,
        calibration: false,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        lanes: Vec::new(),
        with_self: false,
        workloads: gathered.workloads.clone(),
        rounds: Rounds::Fixed(rounds),
        margin: MARGIN,
        budget_seconds: None,
        lane_size: Bytes(0),
        throttle: None,
        lane_throttles: BTreeMap::new(),
        seed: 0,
        on: Ground::Images(std::path::PathBuf::new()),
        guest: GuestTerms::default(),
        command_line,
    };
    Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_owned(),
        boot_id: String::new(),
        seed: 0,
        plan,
        machine: machine(files),
        lanes: gathered.lanes.iter().map(|(name, filesystem)| lane(name, filesystem)).collect(),
        warnings: warnings(files, gathered),
        calibration: None,
    }
}

/// What it promises is not known: lanes of one record get no verdict, and those of two one that says so.
fn lane(name: &str, filesystem: &str) -> Lane {
    Lane { ground: VENUE.to_owned(), ..Lane::new(name, filesystem, VENUE) }
}

/// The machine that the first file tells of.
fn machine(files: &[Imported]) -> Machine {
    let known = files.iter().map(|file| &file.results.facts).find(|facts| **facts != Facts::default());
    let Some(facts) = known else { return Machine::default() };
    Machine {
        os: facts.os.clone(),
        kernel: facts.kernel.clone(),
        cpu: facts.cpu.clone(),
        cpus: facts.cpus,
        memory_bytes: facts.memory_bytes,
        device: Device { model: facts.disk.clone(), ..Device::default() },
        ..Machine::default()
    }
}

/// What a reader should know before believing the figures.
fn warnings(files: &[Imported], gathered: &Gathered<'_>) -> Vec<String> {
    let formats: BTreeSet<&str> = files.iter().map(|file| file.results.format).collect();
    let formats: Vec<&str> = formats.into_iter().collect();
    let mut all = vec![format!(
        "foreign figures, imported from {}: the lanes are none of Fairlane's; what they promise, in which order they were \
         measured, what limited them and what else the machine did is not known",
        formats.join(", ")
    )];
    let single = gathered.figures.iter().filter(|of| of.runs.len() == 1).count();
    if single > 0 {
        all.push(match single == gathered.figures.len() {
            true => "one run of each test: no interval".to_owned(),
            false => format!("{single} of {} figures are of one run: no interval", gathered.figures.len()),
        });
    }
    let mut tools: Vec<&str> = files.iter().map(|file| file.results.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    match tools.as_slice() {
        [""] | [] => all.push("which version of the tool wrote them is not known".to_owned()),
        [tool] => all.push(format!("measured by {tool}")),
        several => all.push(format!("measured by different versions: {}", several.join(", "))),
    }
    let facts: Vec<&Facts> =
        files.iter().map(|file| &file.results.facts).filter(|of| **of != Facts::default()).collect();
    match facts.split_first() {
        None => all.push("on which machine is not known".to_owned()),
        Some((first, others)) if others.iter().any(|other| other != first) => {
            all.push("the files are of different machines, of which the first is shown".to_owned());
        }
        Some(_) => {}
    }
    let times = || files.iter().map(|file| file.results.ran.as_str());
    if times().any(str::is_empty) {
        all.push("when it was measured is not known".to_owned());
    } else if times().any(|time| !time.ends_with('Z')) {
        all.push("when it was measured is told in local time, whose zone is not known".to_owned());
    }
    for file in files {
        for (what, count) in &file.results.left_out {
            let said = format!("left out of {}: {count} x {what}", file.stem);
            if !all.contains(&said) && all.len() < MOST_WARNINGS {
                all.push(said);
            }
        }
        for note in &file.results.notes {
            if !all.contains(note) && all.len() < MOST_WARNINGS {
                all.push(note.clone());
            }
        }
    }
    all
}

/// Most warnings of one import.
const MOST_WARNINGS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::Record;

    fn series(workload: &str, group: &str, contestant: &str, runs: &[f64]) -> Series {
        Series {
            workload: workload.to_owned(),
            parameters: "bs=4k".to_owned(),
            group: group.to_owned(),
            contestant: contestant.to_owned(),
            filesystem: String::new(),
            metric: Metric::OperationsPerSecond,
            runs: runs.to_vec(),
            deviation: None,
            operations: 0,
            bytes: 0,
            seconds: 0.0,
            latency: None,
        }
    }

    fn file(lane: Option<&str>, stem: &str, series: Vec<Series>) -> Imported {
        let results = Results { format: "fio JSON", tool: "fio-3.33".to_owned(), series, ..Results::default() };
        Imported { lane: lane.map(str::to_owned), stem: stem.to_owned(), results }
    }

    fn record(files: &[Imported]) -> Record {
        let command = vec!["fairlane".to_owned(), "import".to_owned()];
        let lines = lines(files, "2026-01-02T03:04:05Z", command).unwrap();
        let text: Vec<String> = lines.iter().map(|line| line.to_json().unwrap()).collect();
        Record::read(text.join("\n").as_bytes()).unwrap()
    }

    fn figures(record: &Record, lane: &str, group: &str) -> Vec<(u32, f64)> {
        let of_lane = record.trials.iter().filter(|trial| trial.lane == lane);
        let groups = of_lane.flat_map(|trial| trial.groups.iter().map(move |group| (trial.round, group)));
        groups.filter(|(_, of)| of.name == group).map(|(round, of)| (round, of.metrics[&of.primary_metric])).collect()
    }

    #[test]
    fn files_of_one_lane_are_its_runs() {
        let files = [
            file(Some("ext4"), "a", vec![series("randread", "read", "", &[100.0])]),
            file(Some("xfs"), "c", vec![series("randread", "read", "", &[300.0])]),
            file(Some("ext4"), "b", vec![series("randread", "read", "", &[110.0, 120.0])]),
        ];
        let record = record(&files);
        assert_eq!(figures(&record, "ext4", "read"), [(1, 100.0), (2, 110.0), (3, 120.0)]);
        assert_eq!(figures(&record, "xfs", "read"), [(1, 300.0)]);
        assert_eq!(record.header.plan.rounds, Rounds::Fixed(3));
        assert!(record.header.warnings.iter().any(|said| said.contains("foreign figures")));
        assert!(record.header.warnings.iter().any(|said| said == "1 of 2 figures are of one run: no interval"));
    }

    #[test]
    fn contestants_of_one_file_are_lanes_and_other_parameters_another_test() {
        let other = Series { parameters: "bs=1m".to_owned(), ..series("Random Read!", "read", "xfs", &[7.0]) };
        let all = vec![
            series("Random Read!", "read", "ext4", &[1.0, 2.0]),
            series("Random Read!", "read", "xfs", &[3.0]),
            other,
        ];
        let record = record(&[file(None, "composite", all)]);
        let names: Vec<&str> = record.header.plan.workloads.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["random-read", "random-read--2"]);
        let lanes: Vec<&str> = record.header.lanes.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(lanes, ["ext4", "xfs"]);
    }

    #[test]
    fn one_operation_that_is_counted_twice_has_a_group_for_each_figure() {
        let bandwidth = Series { metric: Metric::BandwidthBytesPerSecond, ..series("job", "read", "", &[4096.0]) };
        let score = Metric::Other { unit: "points".to_owned(), higher_is_better: false };
        let score = Series { metric: score, ..series("job", "read", "", &[9.0]) };
        let seconds = Series { metric: Metric::Seconds, ..series("job", "all", "", &[1.5]) };
        let record = record(&[file(None, "a", vec![series("job", "read", "", &[1.0]), bandwidth, score, seconds])]);
        assert_eq!(record.header.plan.workloads[0].groups(), ["read", "read, bandwidth", "read, points", "all"]);
        assert_eq!(figures(&record, "a", "read, bandwidth"), [(1, 4096.0)]);
        assert_eq!(figures(&record, "a", "read, points"), [(1, 9.0)]);
        // Times stand in nanoseconds.
        assert_eq!(figures(&record, "a", "all"), [(1, 1.5e9)]);
    }

    #[test]
    fn two_files_of_one_name_are_not_guessed_about() {
        let twice = || file(None, "fio", vec![series("job", "read", "", &[1.0])]);
        let said = lines(&[twice(), twice()], "", Vec::new()).unwrap_err();
        assert!(said.contains("two files are called fio") && said.contains("LANE=FILE"), "{said}");
        let named = |lane| Imported { lane: Some(lane), ..twice() };
        assert!(lines(&[named("a".to_owned()), named("b".to_owned())], "", Vec::new()).is_ok());
    }

    #[test]
    fn more_lanes_than_a_record_holds_are_refused() {
        let all = (0..=MOST_LANES).map(|lane| series("job", "read", &format!("lane{lane}"), &[1.0])).collect();
        let said = lines(&[file(None, "a", all)], "", Vec::new()).unwrap_err();
        assert!(said.starts_with("there are more than 64 lanes in these files"), "{said}");
    }

    #[test]
    fn more_tests_and_runs_than_a_record_holds_are_refused_and_soon() {
        let one = |number: usize| Series { parameters: format!("size={number}"), ..series("job", "read", "", &[1.0]) };
        let said = lines(&[file(None, "a", (0..10_000).map(one).collect())], "", Vec::new()).unwrap_err();
        assert!(said.starts_with("there are more than 1000 different tests"), "{said}");
        assert!(check_runs(MOST_RUNS).is_ok());
        let said = check_runs(MOST_RUNS + 1).unwrap_err();
        assert!(said.starts_with("there are more than 100000 runs"), "{said}");
    }

    #[test]
    fn a_record_has_a_time_only_where_every_file_tells_one() {
        let at = |ran: &str| {
            let mut of = file(Some("a"), "a", vec![series("job", "read", "", &[1.0])]);
            of.results.ran = ran.to_owned();
            of
        };
        let [early, late] = ["2025-01-01T00:00:00Z", "2025-03-01T00:00:00Z"];
        assert_eq!(record(&[at(late), at(early)]).header.started, early);
        assert_eq!(record(&[at(late), at("")]).header.started, "");
        // A local time stays one, and that its zone is not known is said.
        let local = record(&[at("2025-02-01T10:00:00"), at(late)]);
        assert_eq!(local.header.started, "2025-02-01T10:00:00");
        assert!(local.trials.iter().all(|trial| trial.started == local.header.started));
        let zone = |of: &Record| of.header.warnings.iter().any(|said| said.contains("zone is not known"));
        assert!(zone(&local) && !zone(&record(&[at(late)])));
    }
}
