//! A race beside published figures: figures and ratios side by side, and why they differ. There is
//! no verdict between the two: other machines, methods and years lie between them.

use crate::bursts;
use crate::comparable::{LIBRARY, comparable};
use crate::estimate;
use crate::judge;
use crate::operations;
use crate::pair::finite;
use crate::series::Series;
use crate::words;
use model::findings::{
    Difference, Limit, PublishedComparison, PublishedFigures, PublishedPairing, PublishedRatio, PublishedRow,
    ResultFinding,
};
use model::lane::Lane;
use model::oltp::Distribution;
use model::operations::Method;
use model::page::Quantity;
use model::published::{self, Figure, Published, PublishedLane, Row, TOTAL};
use model::record::{Record, SCHEMA};
use model::trial::{Group, SystemUse, Trial};
use model::units::human_bytes;
use model::workload::{Kind, Suite, Workload};

/// Published lanes closer than this tie.
const TIE: f64 = 1.02;

/// Puts a record beside published figures. `suite`: the built-in suite that the figures belong to,
/// where there is one; workloads of the record that differ from it are named.
pub fn compare_published(
    record: &Record,
    published: &Published,
    suite: Option<&Suite>,
    record_name: &str,
) -> PublishedComparison {
    let pairs = lane_pairs(record, published);
    let rows: Vec<PublishedRow> =
        published.rows().iter().filter_map(|row| Side { record, published, pairs: &pairs }.row(row)).collect();
    let mut differences = hardware(record, published);
    differences.extend(method(record, published, suite));
    differences.extend(promises(&pairs));
    differences.extend(disk_bound(record, published, &rows));
    PublishedComparison {
        schema: SCHEMA,
        record: record_name.to_owned(),
        started: record.header.started.clone(),
        published: published.name.clone(),
        title: published.title.clone(),
        source: published.source.clone(),
        lanes: pairs.iter().map(pairing).collect(),
        differences,
        caveats: published.caveats.clone(),
        warnings: warnings(record, published, &pairs, &rows),
        rows,
    }
}

/// Why a record has nothing beside published figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nothing {
    /// It plans none of the work.
    OtherWork,
    /// None of its lanes has a filesystem of the article's.
    OtherLanes,
    /// It plans the work, and no trial of it counts.
    NotMeasured {
        /// One workload that the article has figures for.
        workload: String,
        /// Titles of all of them.
        title: String,
    },
    /// The work was raced, and its figures are not those of the article.
    OtherFigures {
        /// Titles of what was raced.
        title: String,
    },
}

/// Why no row of an article has a figure of this record.
pub fn nothing(record: &Record, published: &Published) -> Nothing {
    let planned = shared(record, published);
    let titles = |of: &[&Workload]| words::list(&of.iter().map(|of| of.title.as_str()).collect::<Vec<_>>());
    let Some(first) = planned.first() else { return Nothing::OtherWork };
    let pairs = lane_pairs(record, published);
    if pairs.iter().all(|pair| pair.yours.is_none()) {
        return Nothing::OtherLanes;
    }
    let raced = |of: &&&Workload| Series::new(record, &of.name).lanes.iter().any(|lane| !lane.ok.is_empty());
    let raced: Vec<&Workload> = planned.iter().filter(raced).copied().collect();
    match raced.is_empty() {
        true => Nothing::NotMeasured { workload: first.name.clone(), title: titles(&planned) },
        false => Nothing::OtherFigures { title: titles(&raced) },
    }
}

/// An article's lane and the record's that stands for it.
struct LanePair<'a> {
    published: &'a PublishedLane,
    yours: Option<&'a Lane>,
}

fn pairing(pair: &LanePair<'_>) -> PublishedPairing {
    PublishedPairing {
        published: pair.published.name.clone(),
        yours: pair.yours.map(|lane| lane.name.clone()),
        about: pair.published.about.clone(),
    }
}

/// Each lane of the article gets the first lane of the race with its filesystem and its options, and
/// without options that another lane of the article is about.
fn lane_pairs<'a>(record: &'a Record, published: &'a Published) -> Vec<LanePair<'a>> {
    let has = |lane: &Lane, option: &String| lane.mount_options.contains(option);
    let of = |of: &'a PublishedLane| {
        let others = published.lane.iter().filter(|other| other.filesystem == of.filesystem && other.name != of.name);
        let foreign: Vec<&String> = others.flat_map(|other| &other.options).collect();
        let fits = |lane: &&Lane| {
            lane.filesystem == of.filesystem
                && !lane.is_self
                && of.options.iter().all(|option| has(lane, option))
                && foreign.iter().all(|option| of.options.contains(option) || !has(lane, option))
        };
        LanePair { published: of, yours: record.header.lanes.iter().find(fits) }
    };
    published.lane.iter().map(of).collect()
}

/// What one row is made from.
struct Side<'a> {
    record: &'a Record,
    published: &'a Published,
    pairs: &'a [LanePair<'a>],
}

impl Side<'_> {
    /// One row; `None` where the record has no such workload, group or figure.
    fn row(&self, row: &Row<'_>) -> Option<PublishedRow> {
        let workload = self.record.header.plan.workloads.iter().find(|of| of.name == row.workload)?;
        let metric = if row.metric == "speed_up" { self.metric_of_speed_up(workload, row)? } else { row.metric };
        let series = Series::new(self.record, row.workload);
        // Per lane of the article: its figure, and those of your rounds.
        let mut sides: Vec<Shown<'_>> = Vec::new();
        for pair in self.pairs {
            let name = pair.published.name.as_str();
            if !row.figures.iter().any(|of| of.lane == name || of.against.as_deref() == Some(name)) {
                continue;
            }
            let printed = row.figures.iter().copied().find(|figure| figure.lane == name && figure.against.is_none());
            let yours = series.lanes.iter().find(|of| pair.yours.is_some_and(|lane| lane.name == of.lane.name));
            let figure = |trial: &Trial| Some((trial.round, of_trial(trial, workload, row.group, metric)?));
            let rounds = yours.map(|of| of.ok.iter().filter_map(|trial| figure(trial)).collect());
            sides.push((name, printed, rounds.unwrap_or_default()));
        }
        let higher_is_better = published::higher_is_better(metric);
        let lanes = sides.iter().map(|(name, printed, rounds)| figures(name, *printed, rounds)).collect();
        let mut pairs = Vec::new();
        for (at, (a, printed_a, rounds_a)) in sides.iter().enumerate() {
            for (b, printed_b, rounds_b) in &sides[at + 1..] {
                let turned = |ratio: f64| if higher_is_better { ratio } else { ratio.recip() };
                let differences = estimate::paired_differences(rounds_a, rounds_b);
                let stated = row.figures.iter().find_map(|figure| stated(figure, a, b));
                let printed =
                    printed_a.and_then(|a| Some(turned(a.canonical()?.1 / printed_b.as_ref()?.canonical()?.1)));
                pairs.push(PublishedRatio {
                    a: (*a).to_owned(),
                    b: (*b).to_owned(),
                    yours: estimate::moments(&differences).and_then(|of| finite(turned(of.mean.exp()))),
                    published: printed.or(stated).and_then(finite),
                });
            }
        }
        let row = PublishedRow {
            workload: row.workload.to_owned(),
            title: workload.title.clone(),
            group: row.group.to_owned(),
            metric: metric.to_owned(),
            higher_is_better,
            lanes,
            pairs,
        };
        (!row.is_empty()).then_some(row)
    }

    /// Where an article gives speed-ups alone, the metric behind them; `None` where it gives the
    /// figures too, of which the speed-up follows.
    fn metric_of_speed_up(&self, workload: &Workload, row: &Row<'_>) -> Option<&'static str> {
        let measured = self.published.figure.iter().any(|figure| {
            figure.workload == row.workload
                && figure.group == row.group
                && figure.canonical().is_some_and(|(metric, _)| metric == "seconds")
        });
        match (measured, workload.traits().has_an_end()) {
            (true, _) => None,
            (false, true) => Some("seconds"),
            (false, false) => Some("operations_per_second"),
        }
    }
}

/// A speed-up that the article states for this pair, turned so that above 1 `a` does better.
fn stated(figure: &Figure, a: &str, b: &str) -> Option<f64> {
    match figure.against.as_deref() {
        Some(against) if figure.lane == a && against == b => Some(figure.value),
        Some(against) if figure.lane == b && against == a => Some(figure.value.recip()),
        _ => None,
    }
}

fn figures(lane: &str, printed: Option<&Figure>, rounds: &[(u32, f64)]) -> PublishedFigures {
    let yours: Vec<f64> = rounds.iter().map(|&(_, figure)| figure).collect();
    PublishedFigures {
        lane: lane.to_owned(),
        yours: estimate::level(&yours).and_then(|of| finite(of.mean)),
        published: printed.and_then(Figure::canonical).map(|(_, value)| value),
        published_to: printed.and_then(Figure::canonical_end),
        qualifier: printed.and_then(|figure| figure.qualifier),
        note: printed.and_then(|figure| figure.note.clone()),
    }
}

/// A lane's name, what the article prints of it, and its figure in each round.
type Shown<'a> = (&'a str, Option<&'a Figure>, Vec<(u32, f64)>);

/// One trial's figure of a group, or of all groups together, in the metric's unit.
fn of_trial(trial: &Trial, workload: &Workload, group: &str, metric: &str) -> Option<f64> {
    // Programs have a total of their own, with the sync behind them.
    if group == TOTAL && !trial.groups.iter().any(|of| of.name == TOTAL) {
        return total(trial, workload, metric);
    }
    let of = trial.groups.iter().find(|of| of.name == group)?;
    match metric {
        "seconds" => workload
            .traits()
            .has_an_end()
            .then(|| operations::once(workload, of).seconds)
            .filter(|seconds| *seconds > 0.0),
        "latency_mean_ns" => of.latency_ns.map(|latency| latency.mean),
        "cpu_percent" | "system_percent" | "device_busy_percent" => {
            share(own_system(trial, of)?, workers(workload), metric)
        }
        "device_writes_per_second" => {
            let seconds = Some(trial.system.window_seconds).filter(|&seconds| seconds > 0.0)?;
            Some(trial.system.device.writes as f64 / seconds).filter(|&figure| estimate::usable(figure))
        }
        "dirty_bytes" => mean_of(trial, Quantity::DirtyBytes),
        "load_average" => mean_of(trial, Quantity::LoadAverage),
        "load_average_max" => trial.timeline.as_ref()?.largest(Quantity::LoadAverage),
        "waiting_processes" => trial.timeline.as_ref()?.largest(Quantity::BlockedTasks),
        "writeback_interval_seconds" => bursts::of_trials(&[trial])?.every_seconds,
        _ => of.metrics.get(metric).copied().filter(|&figure| estimate::usable(figure)),
    }
}

/// The mean of what was watched in the course of a trial; `None`: it was not known.
fn mean_of(trial: &Trial, quantity: Quantity) -> Option<f64> {
    // Extremes have no mean.
    let seen = trial.timeline.as_ref()?.evenly().column(quantity);
    let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
    (!seen.is_empty()).then_some(mean).filter(|&figure| estimate::usable(figure))
}

/// A group's own window; the trial's where the trial has one group alone.
fn own_system<'a>(trial: &'a Trial, group: &'a Group) -> Option<&'a SystemUse> {
    group.system.as_ref().or_else(|| (trial.groups.len() == 1).then_some(&trial.system))
}

/// All groups of a trial together. A mean of throughputs over different operations has no
/// counterpart here: bandwidths add only where the groups ran at the same time.
fn total(trial: &Trial, workload: &Workload, metric: &str) -> Option<f64> {
    let groups = workload.groups();
    let of = |name: &String| trial.groups.iter().find(|of| of.name == *name);
    let all: Vec<&Group> = groups.iter().map(of).collect::<Option<_>>()?;
    match metric {
        "seconds" if workload.traits().has_an_end() => {
            Some(all.iter().map(|of| operations::once(workload, of).seconds).sum())
        }
        "cpu_percent" | "system_percent" | "device_busy_percent" => share(&trial.system, workers(workload), metric),
        "bandwidth_bytes_per_second" | "operations_per_second" if !workload.traits().has_an_end() => {
            all.iter().map(|of| of.metrics.get(metric).copied()).sum()
        }
        _ => None,
    }
}

fn workers(workload: &Workload) -> f64 {
    match &workload.kind {
        Kind::Io(io) => f64::from(io.numjobs.max(1)),
        Kind::Operations(operations) => f64::from(operations.threads.max(1)),
        _ => 1.0,
    }
}

/// Percentages as fio gives them: CPU time of a job over its wall time, the mean over jobs.
fn share(system: &SystemUse, workers: f64, metric: &str) -> Option<f64> {
    let (user, kernel) = (system.agent_cpu_user_seconds, system.agent_cpu_system_seconds);
    let seconds = match metric {
        "cpu_percent" => (user + kernel) / workers,
        "system_percent" => kernel / workers,
        _ => system.device.busy_seconds,
    };
    Some(100.0 * seconds / system.window_seconds).filter(|&share| estimate::usable(share))
}

fn difference(subject: &str, what: impl Into<String>) -> Difference {
    Difference { subject: subject.to_owned(), what: what.into() }
}

fn hardware(record: &Record, published: &Published) -> Vec<Difference> {
    let machine = &record.header.machine;
    let device = [&machine.device.model, &machine.device.name].into_iter().find(|name| !name.is_empty());
    let mut yours = format!("{} CPUs", machine.cpus);
    if !machine.cpu.is_empty() {
        yours.push_str(&format!(" of {}", machine.cpu));
    }
    yours.push_str(&format!(", {} of memory", human_bytes(machine.memory_bytes as f64)));
    if let Some(device) = device {
        yours.push_str(&format!(", disk {device}"));
    }
    vec![
        difference("hardware", format!("the article: {}; yours: {yours}", published.hardware)),
        difference("kernel", format!("the article: {}; yours: {}", published.kernel, machine.kernel)),
    ]
}

/// The workloads of the record that the article has figures for.
fn shared<'a>(record: &'a Record, published: &Published) -> Vec<&'a Workload> {
    let known = |workload: &&Workload| published.figure.iter().any(|figure| figure.workload == workload.name);
    record.header.plan.workloads.iter().filter(known).collect()
}

fn method(record: &Record, published: &Published, suite: Option<&Suite>) -> Vec<Difference> {
    let article = published.method.iter().map(|of| difference("method", format!("the article: {of}")));
    let mut found: Vec<Difference> = article.collect();
    let shared = shared(record, published);
    found.push(difference("method", runs(record, &shared)));
    for workload in &shared {
        if let Some(passes) = operations::passes(&workload.kind) {
            let title = &workload.title;
            found.push(difference(
                "method",
                format!("yours: of {title} each round's figure is the median of {passes} passes"),
            ));
        }
    }
    let with = |method: Method| {
        let of = |workload: &&&Workload| matches!(&workload.kind, Kind::Operations(of) if of.method == method);
        let titles: Vec<&str> = shared.iter().filter(of).map(|workload| workload.name.as_str()).collect();
        (!titles.is_empty()).then(|| words::list(&titles))
    };
    if let Some(names) = with(Method::InProcess).filter(|_| published.process_per_operation) {
        found.push(difference(
            "method",
            format!(
                "yours: {names} by system calls of one process that already runs, without the start of a process; \
                 race with --as-published for the article's own method"
            ),
        ));
    }
    if let Some(names) = with(Method::ProcessPerOperation) {
        let matches = if published.process_per_operation { "matches the article" } else { "the article did not do" };
        let mut what = format!("yours: {names} with one process for each operation, which {matches}");
        let libraries: Vec<&str> =
            record.header.lanes.iter().filter(|of| of.venue == LIBRARY).map(|of| of.name.as_str()).collect();
        if !libraries.is_empty() {
            what.push_str(&format!(", but for {}, called inside Fairlane", words::list(&libraries)));
        }
        found.push(difference("method", what));
    }
    let evenly = |workload: &&&Workload| matches!(&workload.kind, Kind::Oltp(oltp) if oltp.distribution == Distribution::Uniform);
    let names: Vec<&str> = shared.iter().filter(evenly).map(|workload| workload.name.as_str()).collect();
    if !names.is_empty() {
        found.push(difference(
            "method",
            format!(
                "yours: {} asked for each row as often as for any other; sysbench before version 1.1 asks for one row \
                 in a hundred three quarters of the time unless it is told otherwise, which --set distribution=special \
                 does too",
                words::list(&names)
            ),
        ));
    }
    let Some(suite) = suite else { return found };
    for workload in shared {
        let Some(built_in) = suite.workload.iter().find(|of| of.name == workload.name) else { continue };
        let keys = workload.differing_keys(built_in);
        if !keys.is_empty() {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let (name, keys) = (&workload.name, words::list(&keys));
            found.push(difference("method", format!("yours: {name} differs from suite {} in {keys}", suite.name)));
        }
    }
    found
}

/// How the record's figures came about.
fn runs(record: &Record, shared: &[&Workload]) -> String {
    if record.header.plan.as_published {
        return "yours: raced with --as-published, so by the article's own method and sizes where the lane holds them"
            .to_owned();
    }
    let rounds = shared.iter().map(|workload| Series::new(record, &workload.name).done.len());
    let (fewest, most) = rounds.fold((usize::MAX, 0), |(low, high), of| (low.min(of), high.max(of)));
    let mut said = match fewest == most {
        true if most == 1 => "yours: one round, with work that alternates between the lanes".to_owned(),
        true => format!("yours: {most} rounds in balanced order, with work that alternates between the lanes"),
        false => format!("yours: {} to {most} rounds in balanced order, with work that alternates", fewest.min(most)),
    };
    if shared.iter().any(|workload| workload.traits().schedule().is_slices()) {
        said.push_str("; block I/O in slices, to files that were written in full before");
    }
    said
}

fn promises(pairs: &[LanePair<'_>]) -> Vec<Difference> {
    let mut found = Vec::new();
    for pair in pairs {
        let Some(lane) = pair.yours else { continue };
        let (name, promises) = (&pair.published.name, &lane.promises);
        let each = [
            (pair.published.journal, promises.journal, "crash-safe metadata"),
            (pair.published.barriers, promises.barriers, "write barriers"),
        ];
        for (theirs, yours, what) in each {
            if let Some(theirs) = theirs.filter(|&theirs| theirs != yours) {
                let has = |promised: bool| if promised { "with" } else { "without" };
                let (mine, has, with) = (&lane.name, has(theirs), has(yours));
                found.push(difference("promises", format!("the article's {name} {has} {what}, your {mine} {with}")));
            }
        }
    }
    for (at, a) in pairs.iter().enumerate() {
        for b in &pairs[at + 1..] {
            if let (Some(a), Some(b)) = (a.yours, b.yours)
                && let Err(why) = comparable(a, b)
            {
                found.push(difference("promises", format!("your {} and {}: {why}", a.name, b.name)));
            }
        }
    }
    found
}

/// Groups in which the article's lanes tie are probably the disk's own limit; and those of which the
/// record itself says so.
fn disk_bound(record: &Record, published: &Published, rows: &[PublishedRow]) -> Vec<Difference> {
    let steady =
        |name: &str| record.header.plan.workloads.iter().any(|of| of.name == name && !of.traits().has_an_end());
    let mut ties: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.metric == "operations_per_second" && steady(&row.workload)) {
        let figures: Vec<f64> = row.lanes.iter().filter_map(|lane| lane.published).collect();
        let (low, high) = figures.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &of| (low.min(of), high.max(of)));
        if figures.len() > 1 && high / low <= TIE && !ties.contains(&row.workload.as_str()) {
            ties.push(&row.workload);
        }
    }
    let mut found = Vec::new();
    if !ties.is_empty() {
        found.push(difference(
            "disk",
            format!(
                "the article's lanes lie within 2 % of each other in {}: its disk was measured, not the filesystems",
                words::list(&ties)
            ),
        ));
    }
    let device = |workload: &&Workload| {
        let of_disk = |result: &ResultFinding| matches!(result.limit, Limit::Device | Limit::OwnDisk);
        judge::judge_workload(record, &workload.name).iter().any(of_disk)
    };
    let yours: Vec<&str> =
        shared(record, published).into_iter().filter(device).map(|workload| workload.name.as_str()).collect();
    if !yours.is_empty() {
        let names = words::list(&yours);
        found.push(difference("disk", format!("your lanes are limited by your disk in {names}: no more can be seen")));
    }
    found
}

fn warnings(record: &Record, published: &Published, pairs: &[LanePair<'_>], rows: &[PublishedRow]) -> Vec<String> {
    let mut warnings = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.yours.is_none()) {
        let (name, filesystem) = (&pair.published.name, &pair.published.filesystem);
        let with = match pair.published.options.join(",") {
            options if options.is_empty() => String::new(),
            options => format!(",{options}"),
        };
        warnings.push(format!(
            "no lane of yours stands for the article's {name}; race {filesystem}{with} beside the others"
        ));
    }
    for lane in record.header.lanes.iter().filter(|lane| !lane.is_self) {
        if !pairs.iter().any(|pair| pair.yours.is_some_and(|yours| yours.name == lane.name)) {
            warnings.push(format!("the article has no lane for your {}", lane.name));
        }
    }
    let mut missing: Vec<&str> = Vec::new();
    for figure in &published.figure {
        let name = figure.workload.as_str();
        if !missing.contains(&name) && !rows.iter().any(|row| row.workload == name) {
            missing.push(name);
        }
    }
    if !missing.is_empty() {
        warnings.push(format!("your record has no figures for {}", words::list(&missing)));
    }
    warnings
}
