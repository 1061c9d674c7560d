//! What the system did while each workload was raced, lane by lane.

use super::share_of;
use crate::series::{LaneSeries, Series};
use crate::timeline::{self, Point, Thinner, digits, milliseconds};
use model::findings::Findings;
use model::lane::Lane;
use model::page::{LaneTimeline, Quantity, Timeline};
use model::record::Record;
use model::timeline::TrialTimeline;
use model::trial::Trial;
use std::collections::BTreeMap;

/// Points of one lane in one workload at most.
const MOST_POINTS: usize = 2000;
/// Points of all lanes in all workloads at most, as long as each keeps sixty.
const MOST_POINTS_IN_ALL: usize = 12_000;
/// Digits of a figure: a chart shows no more.
const DIGITS: i32 = 4;

/// One course per workload of the plan, of the trials that count.
pub(super) fn timelines(record: &Record, findings: &Findings) -> Vec<Timeline> {
    let workloads = &record.header.plan.workloads;
    let most = share_of(MOST_POINTS_IN_ALL, workloads.len() * findings.lanes.len(), 60).min(MOST_POINTS);
    // A kernel that tells nothing of pressure gives zeros throughout.
    let pressure = record.trials.iter().any(|trial| trial.system.pressure_io_some_seconds > 0.0);
    let timeline = |name: &str, title: &str| {
        let series = Series::new(record, name);
        let of = |lane: &Lane| {
            let own = series.lanes.iter().find(|of| of.lane.name == lane.name);
            own.map_or_else(|| empty(lane), |own| lane_timeline(own, pressure, most))
        };
        let lanes = findings.lanes.iter().map(of).collect();
        Timeline { workload: name.to_owned(), title: title.to_owned(), lanes }
    };
    workloads.iter().map(|workload| timeline(&workload.name, &workload.title)).collect()
}

fn empty(lane: &Lane) -> LaneTimeline {
    LaneTimeline { lane: lane.name.clone(), ..LaneTimeline::default() }
}

/// The trials' courses one after the other; of a trial without one (a record of before courses were kept)
/// a single point from its sums.
fn lane_timeline(lane: &LaneSeries, pressure: bool, most: usize) -> LaneTimeline {
    let device = !lane.lane.backing.is_empty();
    let known_of_sums = |quantity: Quantity| match quantity {
        Quantity::PressureIoShare => pressure,
        other if other.is_of_appenders() => false,
        other => device || !other.is_of_the_device(),
    };
    let points = |trial: &Trial| kept(trial).map_or(usize::from(of_sums(trial).is_some()), TrialTimeline::points);
    let total: usize = lane.ok.iter().map(|trial| points(trial)).sum();
    // Known is what every trial knows: a list has a figure at every point.
    let known = Quantity::ALL.map(|quantity| {
        total > 0
            && lane.ok.iter().filter(|trial| points(trial) > 0).all(|trial| match kept(trial) {
                Some(timeline) => timeline.column(quantity).len() == timeline.points(),
                None => known_of_sums(quantity),
            })
    });
    let mut thinner = Thinner::new(total, most);
    let mut offset = 0.0;
    for trial in &lane.ok {
        let at = |seconds: f64| [offset + seconds, f64::from(trial.round)];
        let mut seconds = trial.system.window_seconds;
        match kept(trial) {
            Some(timeline) => {
                for point in 0..timeline.points() {
                    let figure = |column: usize| match known[column] {
                        true => timeline.column(Quantity::ALL[column])[point],
                        false => 0.0,
                    };
                    thinner
                        .push(Point { at: at(timeline.measured_seconds[point]), figures: std::array::from_fn(figure) });
                }
                seconds = timeline.measured_seconds.last().map_or(seconds, |last| last.max(seconds));
            }
            None => {
                if let Some((end, figures)) = of_sums(trial) {
                    thinner.push(Point { at: at(end), figures });
                    seconds = end;
                }
            }
        }
        offset += seconds.max(0.0);
    }
    let points = thinner.finish();
    let column = |at: usize| points.iter().map(|point| digits(point.figures[at], DIGITS)).collect::<Vec<f64>>();
    let quantities: BTreeMap<Quantity, Vec<f64>> =
        Quantity::ALL.into_iter().enumerate().filter(|(at, _)| known[*at]).map(|(at, of)| (of, column(at))).collect();
    LaneTimeline {
        lane: lane.lane.name.clone(),
        seconds: points.iter().map(|point| milliseconds(point.at[0])).collect(),
        rounds: points.iter().map(|point| point.at[1] as u32).collect(),
        quantities,
    }
}

/// What is drawn of a trial's course.
fn kept(trial: &Trial) -> Option<&TrialTimeline> {
    trial.timeline.as_deref().map(TrialTimeline::finest)
}

/// A trial's sums as one point, and its measured seconds; `None` where it has none.
fn of_sums(trial: &Trial) -> Option<(f64, timeline::Figures)> {
    let seconds = trial.system.window_seconds;
    let rate = || timeline::operations_in(&trial.groups, Some(seconds));
    (seconds > 0.0).then(|| (seconds, timeline::figures(&trial.system, rate())))
}
