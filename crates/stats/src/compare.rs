//! Two records side by side. Races that ran apart have no pairs, so their rounds are compared as
//! two independent samples (Welch on logarithms, each side made wider for rounds that resemble each
//! other), which sees less than a race does.

use crate::comparable;
use crate::correlation::{self, ObservedCorrelation};
use crate::estimate;
use crate::judge;
use crate::operations;
use crate::pair;
use crate::sequential::{self, ONE_LOOK_P, Rule, Standing};
use crate::series::{LaneSeries, Series};
use crate::servers;
use crate::statements;
use crate::student;
use crate::words;
use model::findings::{Comparison, ComparisonRow, Limit, ResultFinding, Verdict};
use model::lane::Lane;
use model::machine::is_untold;
use model::plan::{LOOKS, Rounds};
use model::programs::MATERIAL_CHECKSUM;
use model::ranks::JobRanks;
use model::record::{Record, SCHEMA};

/// What stands beside every verdict here. Rounds share what their boot was lucky with, and two boots
/// show nothing of how boots differ: the gate asks for several.
fn caveat(a: &Record, b: &Record) -> &'static str {
    if is_foreign(a) || is_foreign(b) {
        return "another tool measured: in which order, on how many boots, with which mount options and promises is not known, \
                and whatever else changed is part of the difference";
    }
    let (a, b) = (&a.header.boot_id, &b.header.boot_id);
    match () {
        // A record that was shared does not tell.
        () if [a, b].iter().any(|boot| boot.is_empty() || is_untold(boot)) => {
            "these two races ran one after the other, not side by side: what changed between them is part of the difference"
        }
        () if a == b => {
            "these two races ran one after the other, not side by side: what changed between them is part of the difference"
        }
        () => {
            "these two races ran on two boots: what changed between them is part of the difference, and the intervals show the \
             spread of rounds, not of boots"
        }
    }
}

/// Whether another tool measured what a record holds.
fn is_foreign(record: &Record) -> bool {
    record.header.lanes.iter().any(|lane| lane.venue == comparable::FOREIGN)
}

/// Where a record's own report shows another figure of a lane.
const OWN_ROUNDS: &str = "figures here are means over each lane's own rounds; in a race's own table a lane that raced \
                          fewer rounds stands where its ratio puts it";

/// The two-sided p of each of so many rows. Every row is a verdict that may be wrong: together they hold
/// 5 % (Bonferroni), at most, where rounds are correlated at up to 0.3; what [`ONE_LOOK_P`] leaves is for
/// what the estimate of the correlation does not see. The example `compare` simulates it.
pub fn p_of_each(rows: usize) -> f64 {
    ONE_LOOK_P / rows.max(1) as f64
}

/// The difference of two lanes that raced apart, on logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// mean(b) - mean(a).
    pub difference: f64,
    /// Half of its interval.
    pub half: f64,
}

/// Compares the rounds of two races (logarithms, in order of time) at a two-sided p; `None` where one
/// side has fewer than two or they are no numbers.
///
/// Two independent samples (Welch 1947), each side's standard error and degrees of freedom those that
/// rounds leave which resemble their neighbours: at 0.3, or more where the side's own rounds show more,
/// as within a race, and never less, as figures of one lane drift where differences of two do not. The
/// degrees are at most those of two sides like the one with fewer, as in the gate: Satterthwaite's
/// estimate believes the larger side too much so far out in the tails.
pub fn apart(a: &[f64], b: &[f64], p: f64) -> Option<Apart> {
    let (of_a, of_b) = (Side::new(a)?, Side::new(b)?);
    let both = of_a.variance + of_b.variance;
    let difference = of_b.mean - of_a.mean;
    if !difference.is_finite() || !both.is_finite() {
        return None;
    }
    let squares = of_a.variance.powi(2) / of_a.degrees + of_b.variance.powi(2) / of_b.degrees;
    let most = 2.0 * of_a.degrees.min(of_b.degrees);
    let half = match squares > 0.0 {
        true => student::two_sided_quantile(p, (both * both / squares).min(most)) * both.sqrt(),
        false => 0.0,
    };
    Some(Apart { difference, half })
}

/// One side's mean, the variance of the mean, and the degrees of freedom of that.
struct Side {
    mean: f64,
    variance: f64,
    degrees: f64,
}

impl Side {
    fn new(logs: &[f64]) -> Option<Side> {
        let of = estimate::moments(logs).filter(|of| of.count >= 2)?;
        // What a race's evidence is made of are differences of lanes: here of the lane and a steady one.
        let own = ObservedCorrelation::new([&vec![logs.to_vec(), vec![0.0; logs.len()]]]);
        let lag1 = correlation::assumed(own, &[]).max(correlation::PRIOR);
        let lag1 = sequential::shown(logs).map_or(lag1, |shown| shown.max(lag1));
        let widening = correlation::widening(of.count, lag1);
        let error = widening.factor * of.deviation / (of.count as f64).sqrt();
        Some(Side { mean: of.mean, variance: error * error, degrees: widening.degrees })
    }
}

/// Compares lane by lane what both records hold: `b` against `a`, with `b`'s margin.
pub fn compare(a: &Record, b: &Record, a_name: &str, b_name: &str) -> Comparison {
    let mut warnings = machine_warnings(a, b);
    let mut rows = Vec::new();
    let mut in_proportion = false;
    let groups: usize = b.header.plan.workloads.iter().map(|workload| workload.groups().len()).sum();
    let p = p_of_each(groups * b.header.lanes.len());
    for workload in &b.header.plan.workloads {
        let Some(other) = a.header.plan.workloads.iter().find(|of| of.name == workload.name) else {
            warnings.push(format!("{} is only in {b_name}", workload.title));
            continue;
        };
        let changed = (other.kind != workload.kind).then(|| {
            let keys = workload.differing_keys(other);
            format!("different parameters of the workload: {}", few(&keys))
        });
        let changed = changed.or_else(|| different_material(a, b, &workload.name)).or_else(|| different_ranks([a, b]));
        let (results_a, results_b) =
            (judge::judge_workload(a, &workload.name), judge::judge_workload(b, &workload.name));
        let (mut series_a, mut series_b) = (Series::new(a, &workload.name), Series::new(b, &workload.name));
        series_a.decide_as([&series_b.means]);
        series_b.decide_as([&series_a.means]);
        let estimates = || results_a.iter().chain(&results_b).flat_map(|result| &result.estimates);
        in_proportion |= estimates().any(|of| of.row_mean.is_some());
        for result in &results_b {
            let Some(before) = results_a.iter().find(|of| of.group == result.group && of.metric == result.metric)
            else {
                continue;
            };
            let results = [before, result];
            let rates = [before, result].map(|of| of.shared_rate.as_ref().map(|rate| rate.operations_per_second));
            let changed = changed.clone().or_else(|| different_rates(rates[0]?, rates[1]?));
            let medians = changed.is_none() && !series_b.means.decide(&result.group);
            let passes = operations::passes(&workload.kind).filter(|_| medians);
            let sides = Sides {
                records: [a, b],
                series: [&series_a, &series_b],
                standings: [standing(a, &series_a), standing(b, &series_b)],
                results,
                changed,
                passes,
                p,
                caveat: caveat(a, b),
            };
            for lane in &b.header.lanes {
                match sides.row(lane, b.header.plan.margin) {
                    Some(row) => rows.push(row),
                    // Without any figure there is no ratio, and that is no reason to say nothing.
                    None => warnings.extend(
                        (0..2)
                            .find_map(|side| sides.stood_still(side, &lane.name))
                            .map(|why| format!("{}, {}: {why}", result.title, result.group)),
                    ),
                }
            }
        }
    }
    for workload in &a.header.plan.workloads {
        if !b.header.plan.workloads.iter().any(|of| of.name == workload.name) {
            warnings.push(format!("{} is only in {a_name}", workload.title));
        }
    }
    if is_foreign(a) || is_foreign(b) {
        warnings.push(caveat(a, b).to_owned());
    }
    warnings.extend(lane_warnings(a, b, a_name, b_name));
    if in_proportion {
        warnings.push(OWN_ROUNDS.to_owned());
    }
    Comparison { schema: SCHEMA, a: a_name.to_owned(), b: b_name.to_owned(), rows, warnings }
}

/// One workload and group in both records.
struct Sides<'a> {
    records: [&'a Record; 2],
    series: [&'a Series<'a>; 2],
    /// Where each race stands: rounds past a planned look wait for the next one here too.
    standings: [Standing; 2],
    results: [&'a ResultFinding; 2],
    changed: Option<String>,
    /// How often each round did the work, where its figure is the median of them; `None`: once.
    passes: Option<u32>,
    /// Two-sided p of one row.
    p: f64,
    /// What stands beside every verdict.
    caveat: &'static str,
}

/// What the records are called in reasons.
const WHICH: [&str; 2] = ["first", "second"];

impl<'a> Sides<'a> {
    fn lane(&self, side: usize, name: &str) -> Option<&LaneSeries<'a>> {
        self.series[side].lanes.iter().find(|of| of.lane.name == name)
    }

    /// Why a lane's rounds on one side are no sample of a rate: it did nothing in some of them. `None`: it
    /// never stood still.
    fn stood_still(&self, side: usize, name: &str) -> Option<String> {
        let lane = self.lane(side, name)?;
        let result = self.results[side];
        let stalled = self.series[side].stalled(&result.group, &result.metric);
        let rounds = lane.stood_still(&result.group, &result.metric);
        let still = rounds.into_iter().filter(|round| !stalled.contains(round)).count();
        let (of, which) = (lane.ok.len(), WHICH[side]);
        let said = format!("{name} stood still in {still} of {of} rounds of the {which} record");
        (still > 0).then(|| format!("{said}, and nothing is no rate to compare"))
    }

    fn row(&self, lane: &Lane, margin: f64) -> Option<ComparisonRow> {
        let result = self.results[1];
        let logs = |side: usize| -> Option<(Lane, Vec<f64>)> {
            let of = self.lane(side, &lane.name)?;
            let (figures, last) = (of.figures(&result.group, &result.metric), self.last_round(side));
            let figures = figures.into_iter().filter(|&(round, figure)| round <= last && estimate::usable(figure));
            Some((of.lane.clone(), figures.map(|(_, figure)| figure.ln()).collect()))
        };
        let ((lane_a, logs_a), (lane_b, logs_b)) = (logs(0)?, logs(1)?);
        let still = (0..2).find_map(|side| self.stood_still(side, &lane.name));
        let mean = |side: usize, logs: &[f64]| match still {
            // Those rounds count, as they do in either race's own report.
            Some(_) => {
                let stalled = self.series[side].stalled(&result.group, &result.metric);
                Some(self.lane(side, &lane.name)?.level(&result.group, &result.metric, &stalled)?.mean.ln())
            }
            None => Some(estimate::moments(logs)?.mean),
        };
        let (mean_a, mean_b) = (mean(0, &logs_a)?, mean(1, &logs_b)?);
        // Of times the ratio is turned, so that above 1 `b` always does better.
        let better = if result.higher_is_better { (&logs_a, &logs_b) } else { (&logs_b, &logs_a) };
        let gain = if result.higher_is_better { mean_b - mean_a } else { mean_a - mean_b };
        let ratio = pair::finite(gain.exp())?;
        let apart = apart(better.0, better.1, self.p).filter(|_| still.is_none());
        let interval = apart.filter(|of| of.half <= pair::says_something()).and_then(|of| {
            let low = pair::finite((of.difference - of.half).exp())?;
            Some((low, pair::finite((of.difference + of.half).exp())?))
        });
        let behind = (0..2)
            .find(|&side| self.lane(side, &lane.name).is_some_and(|of| pair::mostly_behind(of, self.last_round(side))));
        let changed = self.changed.clone().or_else(|| different_disks(self.records, &lane.name)).or_else(|| {
            let which = WHICH[behind?];
            Some(format!("{} cannot sustain the rate of the {which} record", lane.name))
        });
        let changed = changed.or(still);
        let (verdict, why) = match (&changed, apart) {
            (Some(changed), _) => (Verdict::None, changed.clone()),
            (None, None) => (Verdict::Undecided, "one round: no interval between runs".to_owned()),
            (None, Some(of)) => {
                let (verdict, why) = self.verdict(&lane_a, &lane_b, of.difference, of.half, margin);
                match self.unplanned().filter(|_| verdict != Verdict::None) {
                    Some(unplanned) => (Verdict::Undecided, unplanned),
                    None => (verdict, why),
                }
            }
        };
        let why = match self.passes.filter(|_| verdict != Verdict::None) {
            Some(passes) => format!("{why}; {}: each round's figure is the median of {passes} passes", result.title),
            None => why,
        };
        Some(ComparisonRow {
            lane: lane.name.clone(),
            workload: result.workload.clone(),
            title: result.title.clone(),
            group: result.group.clone(),
            metric: result.metric.clone(),
            a: pair::finite(mean_a.exp())?,
            b: pair::finite(mean_b.exp())?,
            ratio,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            verdict,
            why: Some(why),
        })
    }

    /// The last round of the look at which a side stands.
    fn last_round(&self, side: usize) -> u32 {
        self.series[side].last_round(self.standings[side])
    }

    /// Why nothing may be decided yet: a race that stands before its look. Whoever may end one where its
    /// figures please, and go on with it where they do not, looks as often as they like. `None`: both
    /// races are at a look.
    fn unplanned(&self) -> Option<String> {
        let side = self.standings.iter().position(|of| matches!(of, Standing::Before { .. }))?;
        let (which, done) = (WHICH[side], self.series[side].done.len());
        Some(match self.records[side].header.plan.rounds {
            Rounds::Fixed(planned) => {
                format!("{done} of {planned} rounds of the {which} record are done; go on with it (--resume)")
            }
            Rounds::Auto => format!(
                "{} of the {which} record are done, and verdicts begin after {}; give the race more time \
                 (--budget)",
                words::count(done, "round"),
                LOOKS[0]
            ),
        })
    }

    /// The decision rule with one look: the width condition belongs to looks that may go on.
    fn verdict(&self, a: &Lane, b: &Lane, difference: f64, half: f64, margin: f64) -> (Verdict, String) {
        let promises = a.promises.durability_differences(&b.promises);
        if !promises.is_empty() {
            return (Verdict::None, format!("different promises: {}", promises.join(", ")));
        }
        if let Some([then, now]) = servers::said_otherwise(a, b) {
            return (Verdict::None, format!("different things were said of its server: {then}, then {now}"));
        }
        if a.filesystem != b.filesystem {
            return (Verdict::None, format!("different filesystems: {} and {}", a.filesystem, b.filesystem));
        }
        if a.mkfs_command != b.mkfs_command {
            let [then, now] = apart_in(&a.mkfs_command, &b.mkfs_command);
            return (Verdict::None, format!("made in another way: by mkfs with {then}, then with {now}"));
        }
        if !a.stands_alike(b) {
            return (Verdict::None, format!("different ground: {}, then {}", a.stands_on(), b.stands_on()));
        }
        if a.past() != b.past() {
            return (Verdict::None, format!("different past: {}, then {}", a.past(), b.past()));
        }
        if a.venue != b.venue {
            return (Verdict::None, format!("different venue: {} and {}", a.venue, b.venue));
        }
        let guests = [a, b].map(comparable::guest_of);
        if let [Some(then), Some(now)] = &guests
            && then != now
        {
            return (Verdict::None, format!("different guests: {then} and {now}"));
        }
        let limited = |limit: Limit| self.results.iter().any(|result| result.limit == limit);
        if limited(Limit::Harness) {
            return (Verdict::None, "the engine was measured, not the filesystem".to_owned());
        }
        if self.results.iter().any(|result| result.missed_the_disk) {
            return (Verdict::None, statements::pair::missed_the_disk().into());
        }
        let rule = Rule { pairs: 1, rounds: Rounds::Fixed(1), margin, first_answer: true };
        let verdict = rule.verdict(difference, half, true);
        // Whether all lanes had one disk or each its own: what it did was measured.
        if (limited(Limit::Device) || limited(Limit::OwnDisk)) && verdict != Verdict::Tie {
            return (Verdict::None, "the device was measured, not the filesystem".to_owned());
        }
        if limited(Limit::Cache) {
            return (verdict, format!("the page cache answered, not the device; {}", self.caveat));
        }
        (verdict, self.caveat.to_owned())
    }
}

/// Keys named in one sentence.
const KEYS_NAMED: usize = 6;

/// `a, b and c`, or the first of them and how many more.
fn few(keys: &[String]) -> String {
    let names: Vec<&str> = keys.iter().take(KEYS_NAMED).map(String::as_str).collect();
    match keys.len().checked_sub(KEYS_NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", names.join(", ")),
        _ => words::list(&names),
    }
}

/// The words of two commands or lists of options that the other one does not have; all of them where they only stand in
/// another order.
fn apart_in(then: &[String], now: &[String]) -> [String; 2] {
    let own = |of: &[String], other: &[String]| {
        let own: Vec<&str> = of.iter().filter(|word| !other.contains(word)).map(String::as_str).collect();
        own.join(" ")
    };
    let both = [own(then, now), own(now, then)];
    let both = match both.iter().all(String::is_empty) {
        true => [then.join(" "), now.join(" ")],
        false => both,
    };
    both.map(|words| if words.is_empty() { "none of these".to_owned() } else { format!("`{words}`") })
}

/// Where a workload of a record stands.
fn standing(of: &Record, series: &Series) -> Standing {
    sequential::standing(series.done.len() as u32, of.header.plan.rounds, of.end)
}

/// Latencies at different rates, more than 2 % apart, are latencies of different work.
pub(crate) fn different_rates(then: f64, now: f64) -> Option<String> {
    let apart = (then / now).ln().abs() > 1.02_f64.ln();
    apart.then(|| format!("different shared rates: {} and {}", words::iops(then), words::iops(now)))
}

/// Why a lane's figures on two emulated disks, or on one and a real disk, are no contest; `None`: it was
/// one disk.
fn different_disks(records: [&Record; 2], lane: &str) -> Option<String> {
    let [then, now] = records.map(|record| record.header.plan.throttle_of(lane));
    let said = |throttle: Option<model::Throttle>| throttle.map_or("none".to_owned(), |throttle| throttle.to_string());
    (then != now).then(|| format!("different throttles: {} and {}", said(then), said(now)))
}

/// Why figures of all ranks of an MPI job together, and others, are no contest; `None`: as many ranks worked on as many nodes.
fn different_ranks(records: [&Record; 2]) -> Option<String> {
    // Which of them do a workload stands in its name.
    let of = |JobRanks { ranks, nodes, .. }: &JobRanks| (*ranks, *nodes);
    let [then, now] = records.map(|record| record.header.plan.ranks.as_ref().map(of));
    let said = |of: Option<(u32, u32)>| {
        of.map_or("none".to_owned(), |(ranks, nodes)| format!("{ranks} on {}", words::count(nodes as usize, "node")))
    };
    (then != now).then(|| format!("different ranks of MPI: {} and {}", said(then), said(now)))
}

/// What programs worked on, where it was not the same.
fn different_material(a: &Record, b: &Record, workload: &str) -> Option<String> {
    let of = |record: &Record| {
        let trials = record.trials.iter().filter(|trial| trial.workload == workload);
        let mut groups = trials.flat_map(|trial| &trial.groups);
        groups.find_map(|group| group.metrics.get(MATERIAL_CHECKSUM).copied())
    };
    let (then, now) = of(a).zip(of(b))?;
    let differ = then != now;
    differ.then(|| format!("different material: its CRC-32C was {:08x} and {:08x}", then as u32, now as u32))
}

/// What stands in place of a difference that nobody can tell.
const UNTOLD_MACHINES: &str = "whether both ran on one machine is not known: a record that was shared does not say which \
    machine it was";

fn machine_warnings(a: &Record, b: &Record) -> Vec<String> {
    let (a, b) = (&a.header, &b.header);
    let mut warnings = Vec::new();
    let pairs = [
        ("machines", &a.machine.machine_id_hash, &b.machine.machine_id_hash),
        ("kernels", &a.machine.kernel, &b.machine.kernel),
        ("kernel builds", &a.machine.kernel_build, &b.machine.kernel_build),
        ("CPUs", &a.machine.cpu, &b.machine.cpu),
        ("disks", &a.machine.device.name, &b.machine.device.name),
        ("disk models", &a.machine.device.model, &b.machine.device.model),
        ("further disks", &a.machine.further_disks_in_words(), &b.machine.further_disks_in_words()),
        ("versions of Fairlane", &a.version, &b.version),
    ];
    for (what, then, now) in pairs {
        if then != now {
            warnings.push(match is_untold(then) || is_untold(now) {
                true => UNTOLD_MACHINES.to_owned(),
                false => format!("different {what}: {then:?} and {now:?}"),
            });
        }
    }
    if a.machine.cpus != b.machine.cpus {
        warnings.push(format!("different numbers of CPUs: {} and {}", a.machine.cpus, b.machine.cpus));
    }
    let now = b.machine.kernel_settings();
    for (name, then) in a.machine.kernel_settings() {
        // Records of before do not tell all of them.
        if let Some((_, now)) = now.iter().find(|(of, now)| *of == name && *now != then) {
            warnings.push(format!("different vm.{name}: {then} and {now}"));
        }
    }
    if a.plan.lane_size != b.plan.lane_size {
        warnings.push(format!("different lane sizes: {} and {}", a.plan.lane_size, b.plan.lane_size));
    }
    warnings
}

fn lane_warnings(a: &Record, b: &Record, a_name: &str, b_name: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let find = |record: &Record, name: &str| record.header.lanes.iter().any(|lane| lane.name == name);
    for lane in a.header.lanes.iter().filter(|lane| !find(b, &lane.name)) {
        warnings.push(format!("lane {} is only in {a_name}", lane.name));
    }
    for lane in &b.header.lanes {
        let Some(before) = a.header.lanes.iter().find(|of| of.name == lane.name) else {
            warnings.push(format!("lane {} is only in {b_name}", lane.name));
            continue;
        };
        let name = &lane.name;
        if before.filesystem != lane.filesystem {
            warnings.push(format!("{name}: different filesystems, {} and {}", before.filesystem, lane.filesystem));
        }
        if before.mkfs_command != lane.mkfs_command {
            let [then, now] = apart_in(&before.mkfs_command, &lane.mkfs_command);
            warnings.push(format!("{name}: different mkfs options, {then} and {now}"));
        }
        if before.mount_options != lane.mount_options {
            let [then, now] = apart_in(&before.mount_options, &lane.mount_options);
            warnings.push(format!("{name}: different mount options, {then} and {now}"));
        }
        if !before.stands_alike(lane) {
            warnings.push(format!("{name}: different ground, {} and {}", before.stands_on(), lane.stands_on()));
        }
        if before.past() != lane.past() {
            warnings.push(format!("{name}: different pasts, {} and {}", before.past(), lane.past()));
        }
        if before.venue != lane.venue {
            warnings.push(format!("{name}: different venues, {} and {}", before.venue, lane.venue));
        }
        if before.kernel != lane.kernel {
            let named =
                |kernel: &str| if kernel.is_empty() { "the host's".to_owned() } else { format!("Linux {kernel}") };
            warnings.push(format!("{name}: different kernels, {} and {}", named(&before.kernel), named(&lane.kernel)));
        }
        let promises = before.promises.durability_differences(&lane.promises);
        if !promises.is_empty() {
            warnings.push(format!("{name}: different promises, {}", promises.join(", ")));
        }
        if let Some([then, now]) = servers::said_otherwise(before, lane) {
            warnings.push(format!("{name}: different things were said of its server, {then} and {now}"));
        }
    }
    warnings
}
