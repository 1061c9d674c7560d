//! One figure over many records: how a lane fared from race to race. It judges nothing; it only sees to
//! it that the points of a line are figures of one kind of work.

use crate::estimate::{self, Level};
use crate::judge::{higher_is_better, primary_metric};
use crate::series::Series;
use model::Throttle;
use model::lane::Lane;
use model::page::{Trend, TrendPoint};
use model::record::Record;
use model::workload::Workload;

/// What one record holds for trends; a small part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordFigures {
    /// What the record is called.
    record: String,
    /// RFC 3339, UTC.
    started: String,
    kernel: String,
    machine: String,
    throttle: Option<Throttle>,
    lanes: Vec<Made>,
    workloads: Vec<(Workload, Vec<GroupFigures>)>,
}

/// How a lane was made: what another one of its name must share.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    name: String,
    filesystem: String,
    mkfs_command: Vec<String>,
    mount_options: Vec<String>,
    venue: String,
}

#[derive(Debug, Clone, PartialEq)]
struct GroupFigures {
    group: String,
    metric: String,
    /// Of each lane that has a figure, by its index.
    levels: Vec<(usize, Level)>,
}

/// Takes from a record what trends need: of every workload, group and lane the geometric mean over
/// rounds with its own 95 % interval.
pub fn figures(record: &Record, name: &str) -> RecordFigures {
    let header = &record.header;
    let made = |lane: &Lane| Made {
        name: lane.name.clone(),
        filesystem: lane.filesystem.clone(),
        mkfs_command: lane.mkfs_command.clone(),
        mount_options: lane.mount_options.clone(),
        venue: lane.venue.clone(),
    };
    let of_workload = |workload: &Workload| {
        let series = Series::of(record, &workload.name);
        let of_group = |group: String| {
            let metric = primary_metric(&series, &group);
            let level = |index: usize| {
                let figures: Vec<f64> =
                    series.lanes[index].figures(&group, &metric).into_iter().map(|(_, figure)| figure).collect();
                Some((index, estimate::level(&figures)?))
            };
            let levels: Vec<_> = (0..series.lanes.len()).filter_map(level).collect();
            (!levels.is_empty()).then_some(GroupFigures { group, metric, levels })
        };
        (workload.clone(), workload.groups().into_iter().filter_map(of_group).collect())
    };
    RecordFigures {
        record: name.to_owned(),
        started: header.started.clone(),
        kernel: header.machine.kernel.clone(),
        machine: header.machine.in_one_line(),
        throttle: header.plan.throttle,
        lanes: header.lanes.iter().map(made).collect(),
        workloads: header.plan.workloads.iter().map(of_workload).collect(),
    }
}

/// One workload and group of one record.
struct One<'a> {
    of: &'a RecordFigures,
    workload: &'a Workload,
    figures: &'a GroupFigures,
}

impl One<'_> {
    /// Why this is other work than the newest record's; `None`: it is the same.
    fn differs(&self, newest: &One) -> Option<String> {
        let name = &self.of.record;
        if self.workload.kind != newest.workload.kind {
            let keys = newest.workload.differing_keys(self.workload).join(", ");
            return Some(format!("{name}: the workload's parameters were others: {keys}"));
        }
        if self.of.throttle != newest.of.throttle {
            return Some(format!("{name}: its disk was throttled in another way"));
        }
        (self.figures.metric != newest.figures.metric)
            .then(|| format!("{name}: it was measured in {}", self.figures.metric.replace('_', " ")))
    }
}

/// The course of one figure; the newest record says what work it is. `lanes`: only these; none: all.
/// `None` where no record has the figure.
pub fn trend<'a>(
    records: impl IntoIterator<Item = &'a RecordFigures>,
    workload: &str,
    group: &str,
    lanes: &[String],
) -> Option<Trend> {
    let find = |of: &'a RecordFigures| {
        let (workload, groups) = of.workloads.iter().find(|(one, _)| one.name == workload)?;
        Some(One { of, workload, figures: groups.iter().find(|one| one.group == group)? })
    };
    let mut found: Vec<One> = records.into_iter().filter_map(find).collect();
    found.sort_by(|a, b| (&a.of.started, &a.of.record).cmp(&(&b.of.started, &b.of.record)));
    let newest = found.last()?;
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    // How the newest lane of each name was made.
    let mut newest_made: Vec<&Made> = Vec::new();
    for one in found.iter().rev() {
        if let Some(differs) = one.differs(newest) {
            left_out.push(differs);
            continue;
        }
        let mut of_record = Vec::new();
        for (index, level) in &one.figures.levels {
            let made = &one.of.lanes[*index];
            if !lanes.is_empty() && !lanes.contains(&made.name) {
                continue;
            }
            match newest_made.iter().find(|newer| newer.name == made.name) {
                Some(newer) if **newer != *made => {
                    left_out.push(format!("{}: its lane {} was made in another way", one.of.record, made.name));
                    continue;
                }
                Some(_) => {}
                None => newest_made.push(made),
            }
            of_record.push(TrendPoint {
                record: one.of.record.clone(),
                started: one.of.started.clone(),
                kernel: one.of.kernel.clone(),
                machine: one.of.machine.clone(),
                lane: made.name.clone(),
                mean: level.mean,
                low: level.interval.map(|(low, _)| low),
                high: level.interval.map(|(_, high)| high),
            });
        }
        points.extend(of_record.into_iter().rev());
    }
    points.reverse();
    left_out.reverse();
    Some(Trend {
        workload: newest.workload.name.clone(),
        title: newest.workload.title.clone(),
        group: newest.figures.group.clone(),
        metric: newest.figures.metric.clone(),
        higher_is_better: higher_is_better(&newest.figures.metric),
        points,
        left_out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;

    const RECORD: &str = include_str!("../../fairlane/tests/fixtures/schema1.jsonl");

    fn record(started: &str) -> Record {
        let mut record = Record::parse(RECORD).unwrap();
        record.header.started = started.to_owned();
        record
    }

    fn names(trend: &Trend) -> Vec<(&str, &str)> {
        trend.points.iter().map(|point| (point.record.as_str(), point.lane.as_str())).collect()
    }

    #[test]
    fn points_are_the_reports_own_estimates_in_the_order_of_starts() {
        let (old, new) = (record("2026-01-01T00:00:00Z"), record("2026-02-01T00:00:00Z"));
        let all = [figures(&new, "new"), figures(&old, "old")];
        let trend = trend(&all, "small-files", "create", &[]).unwrap();
        assert_eq!(names(&trend), [("old", "ext4"), ("old", "xfs"), ("new", "ext4"), ("new", "xfs")]);
        let results = judge::judge_workload(&new, "small-files");
        let result = results.iter().find(|result| result.group == "create").unwrap();
        for (point, estimate) in trend.points[2..].iter().zip(&result.estimates) {
            assert_eq!((&point.lane, point.mean), (&estimate.lane, estimate.mean));
            assert_eq!((point.low, point.high), (estimate.low, estimate.high));
        }
        assert_eq!((trend.metric.as_str(), trend.higher_is_better), (result.metric.as_str(), true));
        assert!(trend.left_out.is_empty() && trend.points[0].machine.contains("Linux 6.12.0-fixture"));
    }

    #[test]
    fn only_the_lanes_asked_for_and_only_figures_that_exist() {
        let all = [figures(&record("2026-01-01T00:00:00Z"), "a")];
        let one = trend(&all, "small-files", "create", &["xfs".to_owned()]).unwrap();
        assert_eq!(names(&one), [("a", "xfs")]);
        assert!(trend(&all, "small-files", "nope", &[]).is_none());
        assert!(trend(&all, "nope", "create", &[]).is_none());
        assert!(trend(&[], "small-files", "create", &[]).is_none());
    }

    #[test]
    fn other_work_another_disk_and_a_lane_made_otherwise_are_no_points_and_are_named() {
        let new = record("2026-06-01T00:00:00Z");
        let mut other_work = record("2026-01-01T00:00:00Z");
        let workload = other_work.header.plan.workloads.iter_mut().find(|of| of.name == "small-files").unwrap();
        let model::workload::Kind::SmallFiles(files) = &mut workload.kind else { panic!("{workload:?}") };
        files.files += 1;
        let mut throttled = record("2026-02-01T00:00:00Z");
        throttled.header.plan.throttle = Some("100MiB/s".parse().unwrap());
        let mut remade = record("2026-03-01T00:00:00Z");
        remade.header.lanes[1].mkfs_command.push("-m".to_owned());
        let all = [figures(&new, "new"), figures(&other_work, "work"), figures(&throttled, "disk")];
        let remade = figures(&remade, "made");
        let trend = trend(all.iter().chain([&remade]), "small-files", "create", &[]).unwrap();
        assert_eq!(names(&trend), [("made", "ext4"), ("new", "ext4"), ("new", "xfs")]);
        assert_eq!(trend.left_out.len(), 3, "{:?}", trend.left_out);
        assert!(trend.left_out[0].starts_with("work: ") && trend.left_out[0].contains("files"));
        assert!(trend.left_out[1].starts_with("disk: "));
        assert!(trend.left_out[2].starts_with("made: ") && trend.left_out[2].contains("lane xfs"));
    }
}
