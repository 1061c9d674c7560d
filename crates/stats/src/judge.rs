//! Verdicts: what a record's trials say, workload by workload, and the findings of a whole race.

use crate::acts;
use crate::answer;
use crate::buffered;
use crate::calibrate;
use crate::comparable;
use crate::conclude;
use crate::disk;
use crate::estimate::{self, median};
use crate::evidence::Evidence;
use crate::explain;
use crate::failed;
use crate::header_warnings;
use crate::io500;
use crate::ladder;
use crate::latency;
use crate::layer_costs::layer_costs;
use crate::limit;
use crate::marks;
use crate::more_rounds;
use crate::operations;
use crate::pair::{self, Setting, finite};
use crate::past;
use crate::ranking;
use crate::ranks;
use crate::row_mean;
use crate::said;
use crate::search;
use crate::sequential::{self, Rule, Standing};
use crate::series::{LaneSeries, Reading, Scope, Series};
use crate::statements::{name, pair as pair_statement, race as statement, text};
use crate::throttle;
use crate::whole_race::{self, JudgedResult};
use crate::{appenders, transactions};
use model::Sentence;
use model::findings::{Ceiling, Conclusion, Estimate, Findings, Pair, ResultFinding, TrialCounts, Verdict};
use model::plan::{LOOKS, Plan, Rounds};
use model::record::{EndOutcome, Profile, Record, SCHEMA, SharedRate};
use model::sentence::{Value, Weight};
use model::trial::Outcome;
use model::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// The wall time of work that is done once, in nanoseconds.
const TIME: &str = "time_ns";

/// The results of one workload, one per group; empty where the plan does not know the workload or
/// no trial of it was run yet. Callable at any time of a race.
pub fn judge_workload(record: &Record, workload: &str) -> Vec<ResultFinding> {
    let mut results: Vec<ResultFinding> = judged(record, workload).into_iter().map(|of| of.result).collect();
    row_mean::set(&mut results);
    said::set(&mut results);
    results
}

/// As [`judge_workload`], with what the pairs were judged by.
fn judged(record: &Record, workload: &str) -> Vec<JudgedResult> {
    let Some(workload) = record.header.plan.workloads.iter().find(|of| of.name == workload) else {
        return Vec::new();
    };
    let series = Series::new(record, &workload.name);
    if series.trials == 0 {
        return Vec::new();
    }
    let groups = workload.groups();
    let standing = sequential::standing(series.done.len() as u32, record.header.plan.rounds, record.end);
    let evidence = Evidence::new(record, &workload.name, &groups, &series, standing);
    groups.iter().map(|group| judge_group(record, workload, group, &series, standing, &evidence)).collect()
}

fn judge_group(
    record: &Record,
    workload: &Workload,
    group: &str,
    series: &Series,
    standing: Standing,
    evidence: &Evidence,
) -> JudgedResult {
    let (plan, lanes) = (&record.header.plan, &series.lanes);
    let metric = primary_metric(series, group);
    let higher_is_better = higher_is_better(&metric);
    let shared_rate = record.rates.iter().rev().find(|rate| rate.workload == workload.name).cloned();
    let limited = limit::judge(record, workload, group, series);
    let stalled = series.stalled(group, &metric);
    let couples = couples(plan, lanes.len());
    let comparable =
        couples.iter().filter(|&&(a, b)| comparable::comparable(lanes[a].lane, lanes[b].lane).is_ok()).count();
    let rule =
        Rule { pairs: comparable.max(1), rounds: plan.rounds, margin: plan.margin, first_answer: plan.first_answer };
    let setting = Setting {
        series,
        workload,
        group,
        metric: &metric,
        higher_is_better,
        rule,
        standing,
        correlation: evidence.correlation(group),
        limit: limited.limit,
        keeps_differences: limited.keeps_differences(),
        missed_the_disk: limited.missed_the_disk,
        stalled: &stalled,
        reads: series.reading.reads(group),
        end: record.end,
        has_budget: plan.budget_seconds.is_some(),
        seconds_per_round: pair::seconds_per_round(series),
    };
    let judged = judge_pairs(record, &limited, &setting, &couples);
    let mut warnings = group_warnings(&setting, shared_rate.as_ref());
    warnings.extend(judged.iter().filter_map(|of| of.warning.clone()));
    warnings.extend(limited.warnings.into_iter().chain(throttle_warning(plan, &setting)));
    let uses = limited.device_use.iter().copied().zip(limited.impossible.iter().copied());
    let estimates = lane_estimates(&setting, uses, &mut warnings);
    let (kept, buffered, reads) = (acts::kept(lanes, group), buffered::lanes(&estimates), setting.reads);
    warnings.extend(buffered::warnings(&raced(lanes), &estimates, reads, &kept));
    warnings.extend(acts::not_compressed(lanes, group, workload));
    let (pairs, intervals): (Vec<_>, Vec<_>) = judged.into_iter().map(|of| setting.told(of, &estimates)).unzip();
    let result = ResultFinding {
        explanations: Vec::new(),
        explained: Vec::new(),
        unexplained: Vec::new(),
        headline: None,
        workload: workload.name.clone(),
        title: workload.title.clone(),
        acts: acts::sentences(&buffered, &kept, reads),
        buffered,
        kept,
        group: group.to_owned(),
        section: operations::section(workload, group),
        missed_the_disk: limited.missed_the_disk,
        by_means: series.means.decide(group),
        stalls_matter: workload.traits().is_awaited(group),
        unit: unit_of(&metric).to_owned(),
        counts: workload.traits().counts(group),
        higher_is_better,
        shared_rate,
        rounds: shared_rounds(series, group, &metric),
        limit: limited.limit,
        limit_reason: limited.reason,
        ranking: ranking::ranking(&record.header.lanes, &estimates, &pairs, higher_is_better),
        reference: None,
        statements: Vec::new(),
        metric,
        estimates,
        pairs,
        warnings,
    };
    JudgedResult { result, rule, intervals }
}

/// The couples of lanes that are judged. Those of a screening are parts of one design, which is judged as a whole.
fn couples(plan: &Plan, lanes: usize) -> Vec<(usize, usize)> {
    let lanes = if plan.screening.is_some() { 0 } else { lanes };
    (0..lanes).flat_map(|a| (0..a).map(move |b| (a, b))).collect()
}

/// Lanes without their trials.
fn raced<'a>(lanes: &[LaneSeries<'a>]) -> Vec<&'a model::lane::Lane> {
    lanes.iter().map(|lane| lane.lane).collect()
}

/// Judges every couple of lanes. A pair is judged on the rounds of its look, and so is what limited it: what came after
/// changes nothing. `limited`: what limited the group by all of its trials.
fn judge_pairs(
    record: &Record,
    limited: &limit::Limited,
    setting: &Setting,
    couples: &[(usize, usize)],
) -> Vec<pair::Judged> {
    let Setting { series, workload, group, standing, .. } = *setting;
    let lanes = &series.lanes;
    let newest = lanes.iter().flat_map(|lane| &lane.ok).map(|trial| trial.round).max().unwrap_or(0);
    let mut at_looks: BTreeMap<u32, limit::Limited> = BTreeMap::new();
    let judge = |&(a, b): &(usize, usize)| {
        let stopped = stopped_at(series, [&lanes[a], &lanes[b]], standing, setting.rule.rounds);
        let last = series.last_round(stopped.unwrap_or(standing));
        let limited = match last < newest {
            true => {
                &*at_looks.entry(last).or_insert_with(|| limit::judge(record, workload, group, &series.up_to(last)))
            }
            false => limited,
        };
        let limit = limited.between(&lanes[a].lane.name, &lanes[b].lane.name);
        let (keeps_differences, missed_the_disk) = (limited.keeps_differences(), limited.missed_the_disk);
        let setting = Setting { limit, keeps_differences, missed_the_disk, ..*setting };
        match stopped {
            None => setting.judge(&lanes[a], &lanes[b]),
            Some(look) => {
                // As at the look after which one of them raced no further: what was decided then stands, by the
                // figures that decided then.
                let groups = workload.groups();
                let earlier = series.up_to(last);
                let evidence = Evidence::new(record, &workload.name, &groups, &earlier, look);
                let then = Setting { standing: look, correlation: evidence.correlation(group), ..setting };
                then.judge(&earlier.lanes[a], &earlier.lanes[b])
            }
        }
    };
    couples.iter().map(judge).collect()
}

/// What a reader should know of a group's trials, whatever its pairs say.
fn group_warnings(setting: &Setting, shared_rate: Option<&SharedRate>) -> Vec<Sentence> {
    let Setting { series, workload, group, metric, stalled, .. } = *setting;
    let lanes = &series.lanes;
    let told = lanes.iter().flat_map(|lane| pair::lane_warnings(lane, group, metric, stalled));
    let mut warnings: Vec<Sentence> = series.means.sentences(workload, group);
    warnings.extend(told);
    // Where there is no other round the lanes' own sentences say it.
    if !stalled.is_empty() && stalled.len() < series.done.len() {
        warnings.push(pair_statement::every_lane_stood_still(stalled.len(), series.done.len()));
    }
    // What marks whole trials is said with the workload's first group, not with each.
    if workload.groups().first().is_some_and(|first| first == group) {
        warnings.extend(pair::trial_warnings(lanes));
        let raced = lanes.iter().map(|lane| lane.lane);
        warnings.extend(comparable::not_durable(raced).filter(|_| workload.flushes()));
        let disturbed = shared_rate.and_then(|rate| rate.disturbed.as_ref());
        warnings.extend(disturbed.map(|why| statement::shared_rate_disturbed(text(why))));
    }
    warnings
}

/// That a lane's limit does not show in so short a window, where the race is throttled.
fn throttle_warning(plan: &Plan, setting: &Setting) -> Option<Sentence> {
    if !plan.is_throttled() {
        return None;
    }
    let all = setting.series.lanes.iter().flat_map(|lane| lane.group(setting.group));
    let window = throttle::window_seconds(all.map(|(trial, of)| of.system.as_ref().unwrap_or(&trial.system)));
    window.filter(|&seconds| !throttle::shows(setting.workload, seconds)).map(|_| throttle::too_short())
}

/// Every lane's estimate; what could not be read of it is added to `warnings`. `uses`: the device use of each lane, and
/// whether it is more than the ceiling allows.
fn lane_estimates(
    setting: &Setting,
    uses: impl Iterator<Item = (Option<f64>, bool)>,
    warnings: &mut Vec<Sentence>,
) -> Vec<Estimate> {
    let Setting { series, workload, group, metric, stalled, standing, .. } = *setting;
    let mut estimates = Vec::new();
    for (lane, device_use) in series.lanes.iter().zip(uses) {
        let (mut estimate, warning) = estimate_of(lane, (group, metric), device_use, &series.reading, stalled);
        estimate.mean_to_median = series.means.shift(group, &lane.lane.name).and_then(|shift| finite(shift.exp()));
        estimate.row_mean = lane.level_until(group, metric, stalled, series.last_round(standing)).map(|of| of.mean);
        estimate.page_cache_share = buffered::share(workload, group, lane, &series.reading).and_then(finite);
        estimates.push(estimate);
        warnings.extend(warning);
    }
    estimates
}

/// The look of a pair of which one lane was decided, and raced no further, before the others were;
/// `None`: the pair stands where the workload does. Only an adaptive race leaves lanes out, and a lane
/// that was left out has no trial any more: one that failed in the last rounds raced them.
fn stopped_at(series: &Series, lanes: [&LaneSeries; 2], standing: Standing, plan: Rounds) -> Option<Standing> {
    let Standing::AtLook { rounds, last } = standing else { return None };
    let raced = |lane: &&LaneSeries, round: u32| {
        [&lane.ok, &lane.failed, &lane.void].iter().any(|trials| trials.iter().any(|trial| trial.round == round))
    };
    let shared = series.done.iter().rposition(|&round| lanes.iter().all(|lane| raced(lane, round)))? as u32 + 1;
    let look = LOOKS.into_iter().rev().find(|&look| look <= shared)?;
    (plan == Rounds::Auto && look < rounds && shared < series.done.len() as u32)
        .then_some(Standing::AtLook { rounds: look, last })
}

/// The metric that a group's verdicts rest on.
pub(crate) fn primary_metric(series: &Series, group: &str) -> String {
    let mut named = series.lanes.iter().flat_map(|lane| lane.group(group)).map(|(_, of)| of.primary_metric.as_str());
    named.find(|metric| !metric.is_empty()).unwrap_or("operations_per_second").to_owned()
}

/// Rates grow with speed; times, such as latencies, shrink; of another tool's own figure its key tells.
pub(crate) fn higher_is_better(metric: &str) -> bool {
    model::metric::grows_with_speed(metric)
}

pub(crate) fn unit_of(metric: &str) -> &str {
    match metric {
        "operations_per_second" => "operations/s",
        "bandwidth_bytes_per_second" => "B/s",
        other if other.ends_with("_ns") => "ns",
        other if other.ends_with("_seconds") => "s",
        other => model::kinds::foreign::unit_of(other).map_or(other, |(unit, _)| unit),
    }
}

/// Rounds in which two lanes have a figure, of the pair that has the most: a lane that was decided or failed
/// early takes none from the others. Of a lane alone its own.
fn shared_rounds(series: &Series, group: &str, metric: &str) -> u32 {
    let figures = series.lanes.iter().map(|lane| {
        let mut figures = lane.figures(group, metric);
        figures.retain(|&(_, figure)| estimate::usable(figure));
        figures
    });
    let all: Vec<Vec<(u32, f64)>> = figures.filter(|figures| !figures.is_empty()).collect();
    if let [alone] = all.as_slice() {
        return alone.len() as u32;
    }
    let couples = (0..all.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let shared = couples.map(|(a, b)| estimate::paired_differences(&all[a], &all[b]).len());
    shared.max().unwrap_or(0) as u32
}

/// One lane's estimate, and a warning where its histograms could not be read. `stalled`: rounds in which
/// every lane stood still.
fn estimate_of(
    lane: &LaneSeries,
    (group, metric): (&str, &str),
    (device_use, impossible): (Option<f64>, bool),
    reading: &Reading,
    stalled: &BTreeSet<u32>,
) -> (Estimate, Option<Sentence>) {
    let still = !lane.stood_still(group, metric).is_empty();
    let level = lane.level(group, metric, stalled);
    let failure = lane.lacks(group).or_else(|| match (level, still) {
        (Some(_), _) => None,
        _ if lane.lane.venue == comparable::FOREIGN => Some(statement::not_in_its_files()),
        (None, true) => Some(statement::stood_still_always()),
        (None, false) => Some(statement::no_trial_measured(text(metric.replace('_', " ")))),
    });
    // Nobody looked at the system while another tool measured.
    let looked_at = lane.group(group).filter(|_| lane.lane.venue != comparable::FOREIGN);
    let scopes: Vec<_> = looked_at.map(|(trial, of)| Scope::new(trial, of, reading)).collect();
    // Sums over several groups say nothing about one of them.
    let exact = || scopes.iter().filter(|scope| scope.exact);
    let per_operation = |amount: fn(&Scope) -> f64| {
        median(exact().filter(|scope| scope.operations > 0.0).map(|scope| amount(scope) / scope.operations))
    };
    let all_cpus = |scope: &Scope| scope.system.window_seconds * f64::from(scope.system.cpus);
    // Sums over rounds, as CPU time is counted in ticks of 10 ms and a short window holds few; the
    // groups of a trial share what was counted once for all of them.
    let load = |part: fn(&Scope) -> f64, whole: &dyn Fn(&Scope) -> f64| {
        let sum = |of: &dyn Fn(&Scope) -> f64| scopes.iter().map(of).sum::<f64>();
        let (part, whole) = (sum(&part), sum(whole));
        (whole > 0.0 && part >= 0.0).then_some(part / whole).and_then(finite)
    };
    let gib = |scope: &Scope| (scope.read_bytes + scope.write_bytes) / (1_u64 << 30) as f64;
    let (histogram, unreadable) = latency::merge(lane.group(group).filter_map(|(_, of)| of.histogram.as_deref()));
    let percentile = |share: f64| histogram.as_ref().and_then(|all| latency::percentile(all, share));
    let warning = (unreadable > 0).then(|| statement::histograms_unreadable(name(&lane.lane.name), unreadable));
    let estimate = Estimate {
        lane: lane.lane.name.clone(),
        void: lane.is_void(),
        mean: level.map_or(0.0, |level| level.mean),
        row_mean: None,
        low: level.and_then(|level| Some(level.interval?.0)),
        high: level.and_then(|level| Some(level.interval?.1)),
        rounds: level.map_or(0, |level| level.count as u32),
        cpu_seconds_per_gib: median(
            exact().filter(|scope| gib(scope) > 0.0).map(|scope| scope.cpu_seconds() / gib(scope)),
        ),
        cpu_seconds_per_operation: per_operation(|scope| scope.cpu_seconds()),
        agent_cpu_seconds_per_operation: per_operation(|scope| scope.system.agent_cpu_user_seconds),
        page_cache_share: None,
        write_amplification: median(exact().filter_map(Scope::write_amplification)),
        flushes_per_operation: per_operation(|scope| scope.system.device.flushes as f64),
        latency_p50_ns: percentile(0.5),
        latency_p99_ns: percentile(0.99),
        latency_p999_ns: percentile(0.999),
        latency_max_ns: lane.group(group).filter_map(|(_, of)| finite(of.latency_ns?.max)).reduce(f64::max),
        mean_to_median: None,
        latency_mean_ns: median(lane.group(group).filter_map(|(_, of)| Some(of.latency_ns?.mean))),
        // Ticks are counted a little late or early: no share is above the whole.
        cpu_share: load(|scope| scope.cpu_seconds(), &all_cpus).map(|share| share.min(1.0)),
        cpu_system_share: load(|scope| scope.system.cpu_system_seconds, &|scope| scope.cpu_seconds()),
        device_busy_share: load(|scope| scope.system.device.busy_seconds, &|scope| scope.system.window_seconds)
            .map(|share| share.min(1.0))
            .filter(|_| !lane.lane.backing.is_empty()),
        device_use: device_use.and_then(finite),
        device_use_is_impossible: impossible,
        extents: median(lane.group(group).filter_map(|(_, of)| of.metrics.get("extents").copied())),
        once_seconds: median(
            lane.group(group)
                .filter(|(_, of)| of.primary_metric != TIME)
                .filter_map(|(_, of)| Some(of.metrics.get(TIME)? * 1e-9)),
        ),
        failure,
    };
    (estimate, warning)
}

/// The pairs of a result that more rounds may still decide.
pub fn undecided(result: &ResultFinding) -> impl Iterator<Item = &Pair> {
    result.pairs.iter().filter(|pair| pair.verdict == Verdict::Undecided)
}

/// Rounds of a workload that hold a comparison: what its looks count. One in which so many lanes failed
/// that nothing is left to compare is none.
pub fn rounds_compared(record: &Record, workload: &str) -> u32 {
    Series::new(record, workload).done.len() as u32
}

/// What is to be said of a lane that failed in some rounds of a workload, although it did others: the title, the lane,
/// in how many, why. `None`: none did.
pub fn failed_rounds(record: &Record) -> Option<Sentence> {
    record.header.plan.workloads.iter().find_map(|workload| {
        let series = Series::new(record, &workload.name);
        let lane = series.lanes.iter().find(|lane| !lane.failed.is_empty() && !lane.ok.is_empty())?;
        let all = lane.failed.len() + lane.ok.len();
        let reason = failed::reason(lane.failed.last()?);
        let said = pair_statement::failed_in_rounds(name(&lane.lane.name), lane.failed.len(), all, reason);
        Some(pair_statement::lane_reason(text(&workload.title), said))
    })
}

/// The next look after so many rounds of a workload; `None` after the last.
pub fn next_look(rounds_done: u32, rounds: &Rounds) -> Option<u32> {
    sequential::next_look(rounds_done, *rounds)
}

/// Everything that a record says.
pub fn findings(record: &Record) -> Findings {
    let header = &record.header;
    let judged = header.plan.workloads.iter().flat_map(|workload| judged(record, &workload.name)).collect();
    let mut results = whole_race::mark(judged, header.plan.workloads.iter().map(|of| of.groups().len()).sum());
    row_mean::set(&mut results);
    let ceilings = ceilings(record);
    let mut warnings = header_warnings::warnings(record);
    // The ceilings' own throttle is a cap of ours.
    if header.plan.throttle.is_none() {
        warnings.extend(quotas(record, &ceilings));
    }
    let disk = disk::finding(record);
    warnings.extend(disk::queues_differ(record));
    warnings.extend(transactions::settings_that_differ(record));
    warnings.extend(not_raced(record));
    // What no quiet machine would mend comes before it.
    if let Some(disturbed) = marks::disturbed(record) {
        warnings.sort_by_key(|warning| warning.weight() != Weight::Choice);
        let after = warnings.iter().take_while(|warning| warning.weight() == Weight::Choice).count();
        warnings.insert(after, disturbed);
    }
    if let Some(cached) = disk.as_ref().and_then(|disk| disk.said.clone()) {
        warnings.insert(0, cached.weigh(Weight::Choice));
    }
    // Before all others, and once: the header may say it too.
    if let Some(different) = throttle::different_disks_of(&header.plan) {
        warnings.retain(|warning| *warning != different);
        warnings.insert(0, different);
    }
    let mut findings = Findings {
        schema: SCHEMA,
        started: header.started.clone(),
        imported: model::kinds::foreign::formats(&header.plan.workloads),
        suite: header.plan.suite.clone(),
        seed: header.seed,
        margin: header.plan.margin,
        throttle: header.plan.throttle,
        lane_throttles: header.plan.lane_throttles.clone(),
        outcome: outcome_words(record.end).to_owned(),
        command_line: header.plan.as_typed(),
        machine: header.machine.clone(),
        lanes: header.lanes.clone(),
        ceilings,
        disk,
        operations: operations::tables(record, &results),
        appenders: appenders::tables(record),
        transactions: transactions::tables(record),
        searches: search::findings(record),
        layers: layer_costs(record, &results),
        aged: past::aged(&header.lanes, &results),
        aged_ranks: past::ranks(&header.lanes, &results),
        io500: io500::findings(record),
        ranks: ranks::findings(record, &results),
        ladders: ladder::findings(record, &results),
        screening: more_rounds::screening(record, &results),
        code_only: comparable::code_only(&header.lanes),
        answer: answer::answer(record, &results),
        conclusion: Conclusion::default(),
        results,
        advice: Vec::new(),
        warnings,
        unexplained: Vec::new(),
        calibration: calibrate::calibration(record).map(Box::new).or_else(|| header.calibration.clone()),
        trials: count_trials(record),
    };
    conclude::tell(&mut findings);
    explain::set(record, &mut findings);
    findings
}

/// The workloads that the race never came to. ANSWER names them too, with what would come to them.
fn not_raced(record: &Record) -> Vec<Sentence> {
    let plan = &record.header.plan;
    // Records of earlier versions hold the sentence itself.
    let noted = |title: &str| record.warnings.iter().any(|said| said.starts_with(&format!("{title} was not raced")));
    let raced = |name: &str| record.trials.iter().any(|trial| trial.workload == name);
    let unraced = plan.workloads.iter().filter(|of| !raced(&of.name) && !noted(&of.title));
    if record.end.is_none() || plan.find_max.is_some() {
        return Vec::new();
    }
    let sentence = |of: &Workload| {
        let work = text(&of.title);
        let unreached = record.unreached.iter().find(|unreached| unreached.workload == of.name);
        match (record.end, unreached) {
            (Some(EndOutcome::Complete | EndOutcome::Unexplained), Some(unreached)) => {
                statement::no_time_for(work, Value::Seconds(unreached.round_seconds))
            }
            (Some(EndOutcome::Complete | EndOutcome::Unexplained), None) => statement::not_raced_for_time(work),
            _ => statement::not_raced_at_all(work),
        }
    };
    unraced.map(|of| sentence(of).weigh(Weight::Detail)).collect()
}

pub(crate) fn outcome_words(end: Option<EndOutcome>) -> &'static str {
    match end {
        Some(EndOutcome::Complete) => "complete",
        Some(EndOutcome::Interrupted) => "interrupted",
        Some(EndOutcome::Failed) => "failed",
        Some(EndOutcome::Unexplained) => "unexplained",
        None => "unfinished",
    }
}

/// Counts trials: an `ok` one that a later attempt replaced counts as repeated.
fn count_trials(record: &Record) -> TrialCounts {
    let with = |outcome: Outcome| record.trials.iter().filter(|trial| trial.outcome == outcome).count() as u32;
    let workloads = &record.header.plan.workloads;
    let counted: usize =
        workloads.iter().flat_map(|workload| Series::new(record, &workload.name).lanes).map(|lane| lane.ok.len()).sum();
    let ok = counted as u32;
    let replaced = with(Outcome::Ok).saturating_sub(ok);
    let (failed, void) = (with(Outcome::Failed), with(Outcome::Void));
    TrialCounts { ok, repeated: with(Outcome::Repeated) + replaced, failed, void }
}

/// Medians over the probes of each workload and profile, the engine's own ceiling left out.
pub fn ceilings(record: &Record) -> Vec<Ceiling> {
    // What the bare disk does in one place is none of another's.
    if !comparable::one_place(record.header.lanes.iter()) {
        return Vec::new();
    }
    let mut keys: Vec<(&str, Profile)> = Vec::new();
    for probe in record.probes.iter().filter(|probe| probe.profile != Profile::Null) {
        if !keys.contains(&(probe.workload.as_str(), probe.profile)) {
            keys.push((&probe.workload, probe.profile));
        }
    }
    let of = |(workload, profile): (&str, Profile)| {
        let matched =
            || record.probes.iter().filter(move |probe| probe.workload == workload && probe.profile == profile);
        // Those of single disks below lanes on several stand alone only where no lane stands on one.
        let is_of_one = matched().any(|probe| probe.disk.is_none());
        let probes: Vec<_> = matched().filter(|probe| probe.disk.is_none() || !is_of_one).collect();
        Some(Ceiling {
            workload: workload.to_owned(),
            profile,
            operations_per_second: median(probes.iter().map(|probe| probe.operations_per_second))?,
            bandwidth_bytes_per_second: median(probes.iter().map(|probe| probe.bandwidth_bytes_per_second))?,
            flush_seconds: median(probes.iter().filter_map(|probe| {
                let device = &probe.system.device;
                let counted = device.flushes > 0 && device.flush_seconds > 0.0;
                counted.then(|| device.flush_seconds / device.flushes as f64)
            })),
            probes: probes.len() as u32,
            through_filesystem: probes.iter().any(|probe| probe.through_filesystem),
            in_page_cache: comparable::in_page_cache(&record.header.lanes),
        })
    };
    keys.into_iter().filter_map(of).collect()
}

/// A plateau with a variation under 1 % and the same cap for reads and writes is a probable quota
/// (method 3.2): bandwidth for sequential profiles, IOPS for random ones.
fn quotas(record: &Record, ceilings: &[Ceiling]) -> Vec<Sentence> {
    let flat = |of: &Ceiling, figure: fn(&model::record::Probe) -> f64| {
        let probes = record.probes.iter().filter(|probe| probe.workload == of.workload && probe.profile == of.profile);
        let figures: Vec<f64> = probes.map(figure).collect();
        estimate::moments(&figures).is_some_and(|all| all.count >= 2 && all.deviation < 0.01 * all.mean)
    };
    let find = |profile: Profile| ceilings.iter().find(|of| of.profile == profile);
    let mut warnings = Vec::new();
    if let (Some(read), Some(write)) = (find(Profile::SeqRead), find(Profile::SeqWrite)) {
        let figure = |probe: &model::record::Probe| probe.bandwidth_bytes_per_second;
        let ratio = read.bandwidth_bytes_per_second / write.bandwidth_bytes_per_second;
        if (ratio - 1.0).abs() < 0.01 && flat(read, figure) && flat(write, figure) {
            warnings.push(statement::quota_of_streams(Value::Bandwidth(read.bandwidth_bytes_per_second)));
        }
    }
    if let (Some(read), Some(write)) = (find(Profile::RandRead), find(Profile::RandWrite)) {
        let figure = |probe: &model::record::Probe| probe.operations_per_second;
        let ratio = read.operations_per_second / write.operations_per_second;
        if (ratio - 1.0).abs() < 0.01 && flat(read, figure) && flat(write, figure) {
            warnings.push(statement::quota_of_requests(Value::Iops(read.operations_per_second)));
        }
    }
    warnings
}
