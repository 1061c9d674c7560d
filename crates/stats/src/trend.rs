//! One figure over many records: how a lane fared from race to race. It judges nothing; it only sees to
//! it that the points of a line are figures of one kind of work.

use crate::comparable::guest_of;
use crate::estimate::Level;
use crate::judge::{higher_is_better, primary_metric};
use crate::series::Series;
use crate::words;
use model::Throttle;
use model::kinds::foreign;
use model::lane::{Lane, ServerAnswers};
use model::machine::Device;
use model::page::{Trend, TrendPoint};
use model::record::Record;
use model::workload::Workload;
use serde::{Deserialize, Serialize};

/// What one record holds for trends; a small part of it, which may be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordFigures {
    /// What the record is called.
    record: String,
    /// RFC 3339, UTC.
    started: String,
    kernel: String,
    machine: String,
    machine_id_hash: String,
    disk: String,
    /// 0: not known.
    disk_bytes: u64,
    is_screening: bool,
    lanes: Vec<Made>,
    workloads: Vec<(Workload, Vec<GroupFigures>)>,
}

/// How a lane was made: what another one of its name must share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Made {
    name: String,
    filesystem: String,
    mkfs_command: Vec<String>,
    mount_options: Vec<String>,
    /// Its layers, and how many disks.
    stands_on: String,
    /// What it lived through before.
    past: String,
    venue: String,
    /// What its guest is made of but for the kernel; `None`: it lives in none.
    guest: Option<String>,
    /// Its guest's kernel, which a trend is allowed to show; empty: the machine's.
    kernel: String,
    size_bytes: u64,
    /// What its disk was held to.
    throttle: Option<Throttle>,
    /// What was said of its server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server_answers: Option<ServerAnswers>,
}

impl Made {
    /// How another lane of this name differs; `None`: it was made alike, on a disk held to the same.
    fn differs(&self, newer: &Made) -> Option<&'static str> {
        if self.throttle != newer.throttle {
            return Some("its disk was throttled in another way");
        }
        if self.size_bytes != newer.size_bytes {
            return Some("it had another size");
        }
        if self.server_answers != newer.server_answers {
            return Some("something else was said of its server");
        }
        if self.guest != newer.guest {
            return Some("it lived in a guest of other CPUs or other memory");
        }
        // Another kernel is what a trend shows: its points name it.
        let of_kernel = Made { kernel: newer.kernel.clone(), ..self.clone() };
        (of_kernel != *newer).then_some("it was made in another way")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct GroupFigures {
    group: String,
    metric: String,
    /// Of each lane that has a figure, by its index.
    #[serde(with = "crate::exact")]
    levels: Vec<(usize, Level)>,
}

impl RecordFigures {
    /// Whether its lanes are runs of a design, which have no course.
    pub fn is_screening(&self) -> bool {
        self.is_screening
    }

    /// The workloads of the record, each once.
    pub fn workloads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (workload, _) in &self.workloads {
            if !names.contains(&workload.name.as_str()) {
                names.push(&workload.name);
            }
        }
        names
    }

    /// The groups of a workload that have figures, in order.
    pub fn groups(&self, workload: &str) -> Vec<&str> {
        let found = self.workloads.iter().find(|(one, _)| one.name == workload);
        found.map(|(_, groups)| groups.iter().map(|one| one.group.as_str()).collect()).unwrap_or_default()
    }

    /// What it holds of one workload alone; without any where it does not hold that.
    pub fn only(&self, workload: &str) -> RecordFigures {
        let workloads = self.workloads.iter().find(|(one, _)| one.name == workload).cloned().into_iter().collect();
        RecordFigures { workloads, lanes: self.lanes.clone(), ..self.facts() }
    }

    /// The same without lanes and workloads.
    fn facts(&self) -> RecordFigures {
        RecordFigures {
            record: self.record.clone(),
            started: self.started.clone(),
            kernel: self.kernel.clone(),
            machine: self.machine.clone(),
            machine_id_hash: self.machine_id_hash.clone(),
            disk: self.disk.clone(),
            disk_bytes: self.disk_bytes,
            is_screening: self.is_screening,
            lanes: Vec::new(),
            workloads: Vec::new(),
        }
    }
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
        stands_on: lane.stands_on(),
        past: lane.past(),
        venue: lane.venue.clone(),
        guest: guest_of(lane),
        kernel: lane.kernel.clone(),
        size_bytes: lane.size_bytes,
        throttle: header.plan.throttle_of(&lane.name),
        server_answers: lane.server_answers,
    };
    let of_workload = |workload: &Workload| {
        let series = Series::new(record, &workload.name);
        let of_group = |group: String| {
            let metric = primary_metric(&series, &group);
            let stalled = series.stalled(&group, &metric);
            let level = |index: usize| {
                // As in the record's own report.
                Some((index, series.lanes[index].level(&group, &metric, &stalled)?))
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
        machine_id_hash: header.machine.machine_id_hash.clone(),
        disk: std::iter::once(&header.machine.device)
            .chain(&header.machine.further_disks)
            .map(disk)
            .collect::<Vec<_>>()
            .join("; "),
        disk_bytes: header.machine.device.size_bytes,
        is_screening: header.plan.screening.is_some(),
        lanes: header.lanes.iter().map(made).collect(),
        workloads: header.plan.workloads.iter().map(of_workload).collect(),
    }
}

/// A disk in one line; what is not known is left out.
fn disk(device: &Device) -> String {
    let size = (device.size_bytes > 0).then(|| words::bytes(device.size_bytes as f64));
    let parts = [device.name.trim().to_owned(), device.model.trim().to_owned(), size.unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
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
        // A larger disk keeps more of itself in its cache, and has more room to spread.
        let sizes = [self.of.disk_bytes, newest.of.disk_bytes];
        if sizes[0] != sizes[1] && !sizes.contains(&0) {
            let [then, now] = sizes.map(|bytes| words::bytes(bytes as f64));
            return Some(format!("{name}: its disk had another size ({then}, the newest has {now})"));
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
        let (mut of_record, mut of_others) = (Vec::new(), Vec::new());
        for (index, level) in &one.figures.levels {
            // What was kept may have come from anywhere.
            let Some(made) = one.of.lanes.get(*index) else { continue };
            if !lanes.is_empty() && !lanes.contains(&made.name) {
                continue;
            }
            match newest_made.iter().find(|newer| newer.name == made.name).map(|newer| made.differs(newer)) {
                Some(Some(how)) => {
                    of_others.push(format!("{}: its lane {}: {how}", one.of.record, made.name));
                    continue;
                }
                Some(None) => {}
                None => newest_made.push(made),
            }
            of_record.push(TrendPoint {
                record: one.of.record.clone(),
                started: one.of.started.clone(),
                kernel: if made.kernel.is_empty() { &one.of.kernel } else { &made.kernel }.clone(),
                machine: one.of.machine.clone(),
                machine_id_hash: one.of.machine_id_hash.clone(),
                disk: one.of.disk.clone(),
                lane: made.name.clone(),
                mean: level.mean,
                low: level.interval.map(|(low, _)| low),
                high: level.interval.map(|(_, high)| high),
            });
        }
        points.extend(of_record.into_iter().rev());
        left_out.extend(of_others.into_iter().rev());
    }
    points.reverse();
    left_out.reverse();
    Some(Trend {
        workload: newest.workload.name.clone(),
        title: newest.workload.title.clone(),
        group: newest.figures.group.clone(),
        metric: newest.figures.metric.clone(),
        higher_is_better: higher_is_better(&newest.figures.metric),
        // Other work is left out, and so all of it was read from one format.
        imported: foreign::formats(std::slice::from_ref(newest.workload)).pop().unwrap_or_default(),
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
    fn what_is_kept_of_a_workload_gives_the_same_trend_to_the_last_bit() {
        let all = [figures(&record("2026-01-01T00:00:00Z"), "a"), figures(&record("2026-02-01T00:00:00Z"), "b")];
        assert_eq!(all[0].workloads(), ["commit", "random-read", "small-files"]);
        assert_eq!(all[0].groups("small-files"), ["create", "read", "delete"]);
        for workload in all[0].workloads() {
            let kept: Vec<RecordFigures> = all
                .iter()
                .map(|of| serde_json::from_str(&serde_json::to_string(&of.only(workload)).unwrap()).unwrap())
                .collect();
            assert_eq!(kept[0].workloads(), [workload]);
            for group in all[0].groups(workload) {
                let (whole, again) = (trend(&all, workload, group, &[]), trend(&kept, workload, group, &[]));
                assert!(whole.is_some() && whole == again, "{workload} {group}");
            }
        }
        assert!(all[0].only("nope").workloads().is_empty() && all[0].groups("nope").is_empty());
        // A lane that is not there is no point.
        let text = serde_json::to_string(&all[1].only("commit")).unwrap().replace("\"lane\":1", "\"lane\":7");
        let strange: RecordFigures = serde_json::from_str(&text).unwrap();
        assert_eq!(names(&trend([&strange], "commit", "write", &[]).unwrap()), [("b", "ext4")]);
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
        let mut other_disk = record("2026-04-01T00:00:00Z");
        other_disk.header.machine.device.size_bytes = 2 * new.header.machine.device.size_bytes + (1 << 40);
        let mut own = record("2026-05-01T00:00:00Z");
        own.header.plan.lane_throttles.insert("ext4".to_owned(), "90MiB/s".parse().unwrap());
        own.header.lanes[1].size_bytes += 1 << 30;
        let others = [remade, figures(&other_disk, "size"), figures(&own, "own")];
        let trend = trend(all.iter().chain(&others), "small-files", "create", &[]).unwrap();
        assert_eq!(names(&trend), [("made", "ext4"), ("new", "ext4"), ("new", "xfs")]);
        let left_out: Vec<&str> = trend.left_out.iter().map(String::as_str).collect();
        let begins = ["work: ", "disk: ", "disk: ", "made: ", "size: ", "own: ", "own: "];
        assert!(
            left_out.len() == 7 && left_out.iter().zip(begins).all(|(why, begin)| why.starts_with(begin)),
            "{left_out:?}"
        );
        assert!(left_out[0].contains("files"), "{left_out:?}");
        assert!(left_out[1..3].iter().all(|why| why.contains("throttled")), "{left_out:?}");
        assert!(left_out[3].contains("lane xfs: it was made"), "{left_out:?}");
        assert!(left_out[4].contains("another size"), "{left_out:?}");
        assert!(left_out[5].contains("lane ext4: its disk was throttled"), "{left_out:?}");
        assert!(left_out[6].contains("lane xfs: it had another size"), "{left_out:?}");
    }

    #[test]
    fn figures_that_another_tool_measured_name_their_format_and_are_no_others() {
        let mut imported = record("2026-02-01T00:00:00Z");
        let workload = imported.header.plan.workloads.iter_mut().find(|of| of.name == "small-files").unwrap();
        workload.kind = model::workload::Kind::Foreign(foreign::Foreign {
            format: "fio JSON".to_owned(),
            parameters: String::new(),
            groups: ["create", "read", "delete"].map(str::to_owned).to_vec(),
        });
        let all = [figures(&record("2026-01-01T00:00:00Z"), "raced"), figures(&imported, "imported")];
        let course = trend(&all, "small-files", "create", &[]).unwrap();
        assert_eq!((course.imported.as_str(), course.left_out.len()), ("fio JSON", 1));
        assert!(course.points.iter().all(|point| point.record == "imported"), "{course:?}");
        assert_eq!(trend(&all[..1], "small-files", "create", &[]).unwrap().imported, "");
    }

    #[test]
    fn rounds_without_work_count_as_they_do_in_the_report_and_points_name_machine_and_disk() {
        let mut still = record("2026-01-01T00:00:00Z");
        let of_ext4 = |trial: &&mut model::trial::Trial| trial.workload == "small-files" && trial.lane == "ext4";
        let trial = still.trials.iter_mut().find(of_ext4).unwrap();
        let group = trial.groups.iter_mut().find(|group| group.name == "create").unwrap();
        group.metrics.insert("operations_per_second".to_owned(), 0.0);
        still.header.machine.machine_id_hash = "abc".to_owned();
        still.header.machine.device =
            Device { name: "sda".to_owned(), model: " A disk ".to_owned(), size_bytes: 1 << 40, ..Device::default() };
        let trend = trend(&[figures(&still, "a")], "small-files", "create", &["ext4".to_owned()]).unwrap();
        let results = judge::judge_workload(&still, "small-files");
        let result = results.iter().find(|result| result.group == "create").unwrap();
        let point = &trend.points[0];
        assert_eq!((point.mean, point.low), (result.estimates[0].mean, None));
        assert!(
            point.mean < judge::judge_workload(&record("2026-01-01T00:00:00Z"), "small-files")[0].estimates[0].mean
        );
        assert_eq!((point.machine_id_hash.as_str(), point.disk.as_str()), ("abc", "sda, A disk, 1 TiB"));
    }
}
