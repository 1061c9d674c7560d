//! Workloads of file operations as tables: times, rates, shares and counts over all steps.
//!
//! Verdicts stay where they are, one result per step; here nothing is judged again. Times are
//! geometric means over rounds of a step's whole time, and rates follow from them, so that a row
//! agrees with itself; the verdict rests on the step's own metric, the median over its slices, or the mean where that
//! decides.

use crate::comparable;
use crate::estimate::{self, median};
use crate::pair::{self, finite};
use crate::series::{LaneSeries, Series};
use crate::statements::{self, names, race as statement, text};
use model::Sentence;
use model::findings::{
    Limit, OperationFigure, OperationRow, OperationTotal, OperationsFinding, OperationsPair, Pair, ResultFinding,
    Verdict,
};
use model::lane::Lane;
use model::operations::{Method, OperationStep, Operations};
use model::record::Record;
use model::sentence::{Value, Weight};
use model::trial::Group;
use model::workload::{Kind, Workload};

/// The metric of a group in which each operation was a process: seconds that starting one takes.
pub const PROCESS_STARTUP: &str = "process_startup_seconds_per_operation";

/// Steps named in one warning.
const STEPS_NAMED: usize = 3;

/// How often each round does the work, where that is more than once.
pub(crate) fn passes(kind: &Kind) -> Option<u32> {
    match kind {
        Kind::Operations(operations) => Some(operations.loops).filter(|&loops| loops > 1),
        _ => None,
    }
}

/// A group's sums of one trial, for doing its step once.
pub(crate) struct Once {
    pub(crate) seconds: f64,
    pub(crate) sync_seconds: f64,
    pub(crate) operations: f64,
    pub(crate) bytes: f64,
}

/// What the steps came to each time, as long as the verdict takes them to be: at the median rate of
/// passes and parts, with the sync that is charged to them.
pub(crate) fn once(workload: &Workload, of: &Group) -> Once {
    once_at(workload, of, of.metrics.get("operations_per_second").copied())
}

/// The same at another rate; `None`: what the clock showed.
fn once_at(workload: &Workload, of: &Group, rate: Option<f64>) -> Once {
    let loops = match &workload.kind {
        Kind::Operations(operations) => f64::from(operations.loops.max(1)),
        _ => 1.0,
    };
    let operations = of.operations as f64 / loops;
    Once {
        seconds: rate.and_then(|rate| finite(operations / rate)).unwrap_or(of.seconds / loops),
        sync_seconds: of.sync_seconds / loops,
        operations,
        bytes: of.bytes as f64 / loops,
    }
}

/// The section of a group's step; `None` where the workload is of another kind.
pub(crate) fn section(workload: &Workload, group: &str) -> Option<String> {
    let Kind::Operations(operations) = &workload.kind else { return None };
    Some(operations.step_named(group).map(|step| step.section.clone()).unwrap_or_default())
}

/// One table per workload of file operations that was raced. `results` are the record's own.
pub fn tables(record: &Record, results: &[ResultFinding]) -> Vec<OperationsFinding> {
    let of = |workload: &Workload| match &workload.kind {
        Kind::Operations(operations) => table(record, workload, operations, results),
        _ => None,
    };
    record.header.plan.workloads.iter().filter_map(of).collect()
}

fn table(
    record: &Record,
    workload: &Workload,
    operations: &Operations,
    results: &[ResultFinding],
) -> Option<OperationsFinding> {
    let results: Vec<&ResultFinding> = results.iter().filter(|result| result.workload == workload.name).collect();
    if results.is_empty() {
        return None;
    }
    let series = Series::new(record, &workload.name);
    let lanes = &record.header.lanes;
    let reference = reference(&series, operations)?;
    let floor = lanes.iter().find(|lane| is_floor(lane) && lane.name != reference.name);
    let order = in_order(lanes, reference, floor);
    let mut warnings = warnings(&series, &results);
    warnings.splice(0..0, without_processes(operations, lanes));
    let result_of = |step: &OperationStep| results.iter().copied().find(|result| result.group == step.group());
    let row = |step: &OperationStep| row(step, workload, &series, floor, result_of(step));
    let rows: Vec<OperationRow> = by_section(&operations.step).into_iter().map(row).collect();
    Some(OperationsFinding {
        workload: workload.name.clone(),
        title: workload.title.clone(),
        reference: reference.name.clone(),
        floor: floor.map(|lane| lane.name.clone()),
        rounds: results.iter().map(|result| result.rounds).max().unwrap_or(0),
        passes: operations.loops.max(1),
        totals: totals(&series, &rows, &order, f64::from(operations.loops.max(1))),
        pairs: pairs(&results, &order),
        process_startup_share: startup_of_all(&rows),
        warnings,
        rows,
    })
}

/// The lane that the others are held against. One that did fewer of the steps than another on a disk
/// would leave rows without anything to compare with.
fn reference<'a>(series: &Series<'a>, operations: &Operations) -> Option<&'a Lane> {
    let done = |of: &LaneSeries| operations.step.iter().filter(|step| of.lacks(step.group()).is_none()).count();
    let on_disk = |of: &LaneSeries| !comparable::stands_beside(of.lane);
    let most = series.lanes.iter().filter(|of| on_disk(of)).map(done).max().unwrap_or(0);
    let whole = |of: &LaneSeries| done(of) > 0 && (!on_disk(of) || done(of) == most);
    let with = |wanted: &dyn Fn(&LaneSeries) -> bool| -> Vec<&'a Lane> {
        series.lanes.iter().filter(|of| wanted(of)).map(|of| of.lane).collect()
    };
    comparable::reference(&with(&whole)).or_else(|| comparable::reference(&with(&|_| true)))
}

/// The lanes as the table shows them: the reference, the others on disks, what stands beside them,
/// the floor.
fn in_order<'a>(lanes: &'a [Lane], reference: &Lane, floor: Option<&Lane>) -> Vec<&'a str> {
    let mut order: Vec<&Lane> = lanes.iter().collect();
    let is_floor = |lane: &Lane| floor.is_some_and(|floor| floor.name == lane.name);
    order.sort_by_key(|lane| (lane.name != reference.name, comparable::stands_beside(lane), is_floor(lane)));
    order.into_iter().map(|lane| lane.name.as_str()).collect()
}

/// Where each operation is a process, the lanes whose operations are none.
fn without_processes(operations: &Operations, lanes: &[Lane]) -> Option<Sentence> {
    let inside: Vec<&str> =
        lanes.iter().filter(|of| of.venue == comparable::LIBRARY).map(|of| of.name.as_str()).collect();
    if operations.method != Method::ProcessPerOperation || inside.is_empty() {
        return None;
    }
    Some(match inside.as_slice() {
        [only] => statement::library_without_processes(statements::name(*only)),
        several => statement::libraries_without_processes(names(several.iter().copied())),
    })
}

/// A filesystem in memory of which nothing but the system calls and the kernel's own names are left.
fn is_floor(lane: &Lane) -> bool {
    lane.venue == comparable::MEMORY && lane.filesystem == "tmpfs"
}

/// The steps, gathered by section; sections in the order in which they first occur.
fn by_section(steps: &[OperationStep]) -> Vec<&OperationStep> {
    let mut sections: Vec<&str> = Vec::new();
    for step in steps {
        if !sections.contains(&step.section.as_str()) {
            sections.push(&step.section);
        }
    }
    sections.into_iter().flat_map(|section| steps.iter().filter(move |step| step.section == section)).collect()
}

fn row(
    step: &OperationStep,
    workload: &Workload,
    series: &Series,
    floor: Option<&Lane>,
    result: Option<&ResultFinding>,
) -> OperationRow {
    let figure = |lane| {
        let mut figure = figure(lane, workload, step.group());
        in_row(&mut figure, result);
        figure
    };
    let mut figures: Vec<OperationFigure> = series.lanes.iter().map(figure).collect();
    let floor_seconds =
        floor.and_then(|floor| figures.iter().find(|of| of.lane == floor.name)).and_then(|of| of.seconds);
    for of in figures.iter_mut().filter(|of| floor.is_some_and(|floor| floor.name != of.lane)) {
        of.floor_share = floor_seconds.zip(of.seconds).and_then(|(floor, own)| finite(floor / own));
    }
    OperationRow {
        section: step.section.clone(),
        group: step.group().to_owned(),
        operation: step.operation.name().to_owned(),
        figures,
    }
}

fn figure(lane: &LaneSeries, workload: &Workload, group: &str) -> OperationFigure {
    let at = |of: &Group| once_at(workload, of, lane.figure(of, "operations_per_second"));
    let seen: Vec<(&Group, Once)> = lane.group(group).map(|(_, of)| (of, at(of))).collect();
    let seconds: Vec<f64> = seen.iter().map(|(_, of)| of.seconds).collect();
    let level = estimate::level(&seconds);
    let mean = level.map(|level| level.mean);
    // Every round does the same: the median only stands up to a broken record.
    let amount = |of: fn(&Once) -> f64| median(seen.iter().map(|(_, once)| of(once))).unwrap_or(0.0) as u64;
    let (operations, bytes) = (amount(|of| of.operations), amount(|of| of.bytes));
    let by_seconds = |amount: u64| mean.filter(|_| amount > 0).and_then(|seconds| finite(amount as f64 / seconds));
    let startup = median(
        seen.iter().filter_map(|(of, once)| Some(of.metrics.get(PROCESS_STARTUP)? * once.operations / once.seconds)),
    );
    OperationFigure {
        lane: lane.lane.name.clone(),
        seconds: mean,
        low: level.and_then(|level| Some(level.interval?.0)),
        high: level.and_then(|level| Some(level.interval?.1)),
        sync_seconds: median(seen.iter().map(|(_, of)| of.sync_seconds)),
        operations,
        bytes,
        operations_per_second: by_seconds(operations),
        bandwidth_bytes_per_second: by_seconds(bytes),
        floor_share: None,
        // Starting processes may have taken longer right before than meanwhile: no share is above the whole.
        process_startup_share: startup.and_then(finite).map(|share| share.min(1.0)),
        failure: lane.lacks(group).or_else(|| mean.is_none().then(|| statement::no_time_of_step(text(group)))),
    }
}

/// A lane that raced fewer rounds stands where its ratio puts it, as in the table of all work.
fn in_row(figure: &mut OperationFigure, result: Option<&ResultFinding>) {
    let Some(estimate) = result.and_then(|of| of.estimates.iter().find(|of| of.lane == figure.lane)) else { return };
    let faster = estimate.in_row() / estimate.mean;
    if estimate.row_mean.is_none() || !estimate::usable(faster) {
        return;
    }
    for seconds in [&mut figure.seconds, &mut figure.low, &mut figure.high] {
        *seconds = seconds.and_then(|seconds| finite(seconds / faster));
    }
    for rate in [&mut figure.operations_per_second, &mut figure.bandwidth_bytes_per_second] {
        *rate = rate.and_then(|rate| finite(rate * faster));
    }
}

fn totals(series: &Series, rows: &[OperationRow], order: &[&str], loops: f64) -> Vec<OperationTotal> {
    let measured = |lane: &str| rows.iter().any(|row| seconds_of(row, lane).is_some());
    let lanes: Vec<&str> =
        series.lanes.iter().map(|lane| lane.lane.name.as_str()).filter(|lane| measured(lane)).collect();
    let shared: Vec<&OperationRow> =
        rows.iter().filter(|row| lanes.iter().all(|lane| seconds_of(row, lane).is_some())).collect();
    let of = |lane: &LaneSeries| {
        let name = &lane.lane.name;
        let phase = |phase: &str| median(lane.ok.iter().filter_map(|trial| trial.phases_seconds.get(phase).copied()));
        let sum: f64 = shared.iter().filter_map(|row| seconds_of(row, name)).sum();
        OperationTotal {
            lane: name.clone(),
            seconds: (measured(name) && !shared.is_empty()).then_some(sum).and_then(finite),
            steps: shared.len() as u32,
            sync_seconds: phase("sync").map(|seconds| seconds / loops),
            unmount_seconds: phase("unmount"),
        }
    };
    order.iter().filter_map(|name| series.lanes.iter().find(|lane| lane.lane.name == *name)).map(of).collect()
}

fn seconds_of(row: &OperationRow, lane: &str) -> Option<f64> {
    row.figures.iter().find(|of| of.lane == lane)?.seconds
}

/// Start-up's share of the time of all rows that know it.
fn startup_of_all(rows: &[OperationRow]) -> Option<f64> {
    let known: Vec<(f64, f64)> = rows
        .iter()
        .flat_map(|row| &row.figures)
        .filter_map(|of| Some((of.seconds?, of.process_startup_share?)))
        .collect();
    let all: f64 = known.iter().map(|(seconds, _)| seconds).sum();
    let started: f64 = known.iter().map(|(seconds, share)| seconds * share).sum();
    (all > 0.0).then_some(started / all).and_then(finite)
}

/// Every pair of lanes over all steps, the later lane of this order against the earlier.
fn pairs(results: &[&ResultFinding], order: &[&str]) -> Vec<OperationsPair> {
    let of = |a: &str, b: &str| {
        let all = || {
            results.iter().filter_map(move |result| {
                Some((result.limit, result.pairs.iter().find_map(|pair| toward(pair, a, b))?))
            })
        };
        let count = |verdict: Verdict| all().filter(|(_, pair)| pair.verdict == verdict).count() as u32;
        // What Fairlane's own speed set would pass for the lanes'.
        let logs: Vec<f64> = all()
            .filter(|(limit, _)| *limit != Limit::Harness)
            .filter_map(|(_, pair)| pair.ratio.filter(|&ratio| estimate::usable(ratio)))
            .map(f64::ln)
            .collect();
        let unranked: Vec<Pair> =
            all().map(|(_, pair)| pair).filter(|pair| pair.verdict == Verdict::None && pair.ratio.is_some()).collect();
        let why = unranked.first().and_then(|pair| pair.why.clone());
        OperationsPair {
            a: a.to_owned(),
            b: b.to_owned(),
            geometric_mean: estimate::moments(&logs).and_then(|of| finite(of.mean.exp())),
            steps: logs.len() as u32,
            wins: count(Verdict::Faster),
            ties: count(Verdict::Tie),
            losses: count(Verdict::Slower),
            undecided: count(Verdict::Undecided),
            without_verdict: unranked.len() as u32,
            why: why.filter(|why| unranked.iter().all(|pair| pair.why.as_ref() == Some(why))),
        }
    };
    let couples = order.iter().enumerate().flat_map(|(at, a)| order[..at].iter().map(move |b| (*a, *b)));
    let judged = |(a, b): &(&str, &str)| {
        results.iter().flat_map(|result| &result.pairs).any(|pair| toward(pair, a, b).is_some())
    };
    couples.filter(judged).map(|(a, b)| of(a, b)).collect()
}

/// The pair as `a` against `b`; `None`: it is of other lanes.
fn toward(pair: &Pair, a: &str, b: &str) -> Option<Pair> {
    if pair.a == a && pair.b == b {
        return Some(pair.clone());
    }
    (pair.a == b && pair.b == a).then(|| Pair {
        a: a.to_owned(),
        b: b.to_owned(),
        ratio: pair.ratio.map(f64::recip),
        low: pair.high.map(f64::recip),
        high: pair.low.map(f64::recip),
        verdict: match pair.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        },
        ..pair.clone()
    })
}

/// Warnings over all steps: of whole trials as they are, of single steps gathered by what they say.
fn warnings(series: &Series, results: &[&ResultFinding]) -> Vec<Sentence> {
    let mut all = pair::trial_warnings(&series.lanes);
    let mut gathered: Vec<(&Sentence, Vec<&str>)> = Vec::new();
    let mut correlated = 0_usize;
    for result in results {
        for warning in result.warnings.iter().filter(|warning| !all.contains(warning)) {
            if pair::is_about_correlation(warning) {
                correlated += 1;
                continue;
            }
            match gathered.iter_mut().find(|(other, _)| *other == warning) {
                Some((_, groups)) => groups.push(&result.group),
                None => gathered.push((warning, vec![&result.group])),
            }
        }
    }
    let with_steps = |(warning, groups): (&Sentence, Vec<&str>)| {
        statement::steps_and_warning(named(&groups), warning.clone()).weigh(warning.weight())
    };
    all.extend(gathered.into_iter().map(with_steps));
    if correlated > 0 {
        let pairs: usize = results.iter().map(|result| result.pairs.len()).sum();
        all.push(statement::correlated_comparisons(correlated, pairs).weigh(Weight::Detail));
    }
    all
}

/// `a, b and c`, or the first of them and how many more.
fn named(groups: &[&str]) -> Value {
    let names = |groups: &[&str]| groups.iter().map(|group| text(*group)).collect();
    if groups.len() <= STEPS_NAMED {
        return Value::List(names(groups));
    }
    statement::and_more_steps(Value::Row(names(&groups[..STEPS_NAMED])), groups.len() - STEPS_NAMED).into()
}
