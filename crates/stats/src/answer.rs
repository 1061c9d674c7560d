//! What to do, from the measured results alone.

use crate::acts;
use crate::comparable::{comparable, not_ranked, reference, stands_beside};
use crate::comparable_lane;
use crate::disk;
use crate::estimate;
use crate::ground;
use crate::level;
use crate::pair;
use crate::past;
use crate::ranking::{beats, beats_over_race};
use crate::series::Series;
use crate::statements;
use crate::throttle::held_alike;
use model::Mark;
use model::Sentence;
use model::findings::{Answer, Limit, Pair, Reached, Reason, ResultFinding, Settle, Undecided, Verdict};
use model::lane::{Lane, LaneSpec};
use model::plan::{LOOKS, Rounds};
use model::record::{EndOutcome, Header, Record};
use model::trial::{KILLED_FROM_OUTSIDE, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// Losses named per lane.
const REASONS_PER_LANE: usize = 2;
/// What suites call it.
const AGING: &str = "aging";

/// The answer of a race; `None` where no lane has a figure, and of a screening, whose lanes are no choices.
///
/// A lane is out if a comparable lane beats it somewhere, by a difference that holds over the whole race
/// ([`crate::whole_race`]), and it never beats that lane in any row, or if it could not do a workload that a comparable
/// lane did. The lanes left are chosen. Lanes with
/// different promises are never ranked: pairs without a verdict decide nothing, and `not_ranked`
/// says why; beside a filesystem on a disk one in memory or of an in-process library is not chosen
/// either. Results that measured the engine, the cache or the device decide nothing either.
pub fn answer(record: &Record, results: &[ResultFinding]) -> Option<Answer> {
    let header = &record.header;
    let all: Vec<&Lane> =
        header.lanes.iter().filter(|lane| !lane.is_self && is_measured(results, &lane.name)).collect();
    if all.is_empty() || header.plan.screening.is_some() {
        return None;
    }
    // Nobody keeps files in memory or inside a benchmark: such lanes are there to be read against.
    let mut lanes = all.clone();
    if all.iter().any(|lane| !stands_beside(lane)) {
        lanes.retain(|lane| !stands_beside(lane));
    }
    // Nobody chooses between a filesystem and the same one later: what age does to it is told by itself.
    let has_twin = |lane: &Lane| {
        let twin = past::fresh_twin(&header.lanes, lane);
        twin.is_some_and(|twin| all.iter().any(|other| other.name == twin.name))
    };
    lanes.retain(|lane| !has_twin(lane));
    let telling: Vec<&ResultFinding> = results.iter().filter(|result| !cannot_tell(result)).collect();
    let choose = choose(&lanes, &telling);
    let undecided: Vec<&ResultFinding> = results
        .iter()
        .filter(|result| contestants(&header.lanes, result).any(|pair| pair.verdict == Verdict::Undecided))
        .collect();
    let open_disturbed = disturbed(record, &undecided);
    let reasons: Vec<Reason> = lanes.iter().flat_map(|lane| losses(lane, &lanes, &telling)).collect();
    let of_reason =
        |of: &&ResultFinding| reasons.iter().any(|why| why.workload == of.workload && why.group == of.group);
    let named: Vec<&ResultFinding> = results.iter().filter(of_reason).collect();
    let disturbed = open_disturbed || disturbed(record, &named);
    let unraced = unraced(header, results);
    let is_old = past::aged(&header.lanes, results).iter().any(past::tells);
    let more_lanes = usize::from(comparable_lane::is_missing(record, results));
    let (mut next, settle) = next(record, &undecided, (unraced.len(), open_disturbed), more_lanes);
    let next_adds = comparable_lane::add(record, results, &mut next);
    let mut answer = Answer {
        level: None,
        next,
        next_adds,
        settle,
        reasons,
        reached: reached(header, unraced.len()),
        choose,
        undecided: undecided.iter().map(|result| title(result, results)).collect(),
        unsure: telling.iter().filter(|of| is_unsure(&header.lanes, of)).map(|result| title(result, results)).collect(),
        cannot_tell: results.iter().filter(|result| cannot_tell(result)).map(|result| title(result, results)).collect(),
        different_disks: lanes.windows(2).any(|two| {
            let [a, b] = [0, 1].map(|at: usize| (header.plan.throttle_of(&two[at].name), two[at].disks));
            !held_alike(a, b)
        }),
        disturbed,
        not_ranked: reference(&all).map(|of| not_ranked(&all, of)).unwrap_or_default(),
        raced: ground::raced(&all),
        cached_disk: disk::finding(record).and_then(|disk| disk.said),
        not_tested: not_tested(header, results, is_old),
    };
    let is_done = record.end.is_some_and(EndOutcome::rounds_are_done);
    let ended = if is_done { Undecided::OutOfBudget } else { Undecided::Interrupted };
    answer.level = level::level(&answer, results, (!unraced.is_empty()).then_some(ended));
    Some(answer)
}

/// Whether other programs disturbed more than half of the trials behind these results.
fn disturbed(record: &Record, results: &[&ResultFinding]) -> bool {
    let workloads: BTreeSet<&str> = results.iter().map(|result| result.workload.as_str()).collect();
    let series: Vec<Series> = workloads.iter().map(|name| Series::new(record, name)).collect();
    let lanes = || series.iter().flat_map(|of| &of.lanes);
    let flagged: usize = lanes().map(|lane| pair::flagged(lane, Mark::ForeignNoise, u32::MAX)).sum();
    2 * flagged > lanes().map(|lane| lane.ok.len()).sum()
}

/// What was not tested: work that the race never came to, and what the suite says of all races. `is_old`: this one tells of
/// aged lanes.
pub(crate) fn not_tested(header: &Header, results: &[ResultFinding], is_old: bool) -> Vec<Sentence> {
    let never = |title: &str| statements::race::never_reached(statements::text(title));
    let listed = header.plan.not_tested.iter().filter(|what| !(is_old && what.as_str() == AGING));
    unraced(header, results).into_iter().map(never).chain(listed.cloned().map(Sentence::from)).collect()
}

/// Titles of the workloads that the race never came to.
fn unraced<'a>(header: &'a Header, results: &[ResultFinding]) -> Vec<&'a str> {
    let raced = |name: &str| results.iter().any(|result| result.workload == name);
    header.plan.workloads.iter().filter(|of| !raced(&of.name)).map(|of| of.title.as_str()).collect()
}

/// How much of the work was raced; `None`: all of it.
fn reached(header: &Header, unraced: usize) -> Option<Reached> {
    let of = header.plan.workloads.len() as u32;
    (unraced > 0).then(|| Reached { workloads: of.saturating_sub(unraced as u32), of })
}

/// Whether a lane has a figure of anything.
pub(crate) fn is_measured(results: &[ResultFinding], lane: &str) -> bool {
    let of = |result: &ResultFinding| result.estimates.iter().any(|at| at.lane == lane && at.failure.is_none());
    results.iter().any(of)
}

/// Whether a result says nothing about filesystems: it measured the device, the engine or the cache. Where pairs near
/// the device's rate differ all the same, it does.
pub(crate) fn cannot_tell(result: &ResultFinding) -> bool {
    match result.limit {
        Limit::Device => !result.pairs.iter().any(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower)),
        Limit::Harness => true,
        // A step of file operations reads what steps before it wrote: from memory, unless it asks for
        // cold caches, and the way there is the filesystem's.
        Limit::Cache => result.section.is_none(),
        _ => false,
    }
}

/// Whether a result tells contestants apart by a difference that does not hold over the whole race.
fn is_unsure(lanes: &[Lane], result: &ResultFinding) -> bool {
    contestants(lanes, result).any(|pair| !pair.over_race && matches!(pair.verdict, Verdict::Faster | Verdict::Slower))
}

/// The workload's title, with the group where the workload has several.
pub(crate) fn title(result: &ResultFinding, results: &[ResultFinding]) -> String {
    let several = results.iter().filter(|other| other.workload == result.workload).count() > 1;
    if several { format!("{}: {}", result.title, result.group) } else { result.title.clone() }
}

/// The pairs of a result without the lane that runs against itself.
fn contestants<'a>(lanes: &'a [Lane], result: &'a ResultFinding) -> impl Iterator<Item = &'a Pair> {
    let is_self = |name: &str| lanes.iter().any(|lane| lane.is_self && lane.name == name);
    result.pairs.iter().filter(move |pair| !is_self(&pair.a) && !is_self(&pair.b))
}

fn choose(lanes: &[&Lane], telling: &[&ResultFinding]) -> Vec<String> {
    let wins = |one: &Lane, other: &Lane| telling.iter().any(|of| beats_over_race(&of.pairs, &one.name, &other.name));
    // What may be chance puts no lane out, and keeps one in.
    let may_win = |one: &Lane, other: &Lane| telling.iter().any(|of| beats(&of.pairs, &one.name, &other.name));
    let failed = |result: &ResultFinding, lane: &Lane| {
        result.estimates.iter().any(|at| at.lane == lane.name && at.own_failure().is_some())
    };
    let unable = |lane: &Lane, other: &Lane| {
        comparable(lane, other).is_ok() && telling.iter().any(|result| failed(result, lane) && !failed(result, other))
    };
    let out = |lane: &Lane| {
        lanes.iter().any(|other| {
            other.name != lane.name && ((wins(other, lane) && !may_win(lane, other)) || unable(lane, other))
        })
    };
    let left: Vec<String> = lanes.iter().filter(|lane| !out(lane)).map(|lane| lane.name.clone()).collect();
    // Three lanes can beat each other in a circle, each in a result of its own: then none stands out.
    if left.is_empty() { lanes.iter().map(|lane| lane.name.clone()).collect() } else { left }
}

/// The largest decided losses of a lane, one per result.
fn losses(lane: &Lane, lanes: &[&Lane], telling: &[&ResultFinding]) -> Vec<Reason> {
    let mut all: Vec<Reason> = telling.iter().filter_map(|result| worst_loss(lane, lanes, result)).collect();
    let sure = |reason: &Reason| reason.at_least.unwrap_or(1.0);
    all.sort_by(|a, b| sure(a).total_cmp(&sure(b)).then(a.ratio.total_cmp(&b.ratio)));
    all.truncate(REASONS_PER_LANE);
    all
}

fn worst_loss(lane: &Lane, lanes: &[&Lane], result: &ResultFinding) -> Option<Reason> {
    let to = |other: &&Lane| {
        let pair = result.pairs.iter().find(|pair| {
            (pair.a == lane.name && pair.b == other.name) || (pair.b == lane.name && pair.a == other.name)
        })?;
        if !beats_over_race(std::slice::from_ref(pair), &other.name, &lane.name) {
            return None;
        }
        // Written so that less than 1 always means worse, whichever way the metric points.
        let ratio = pair.ratio.filter(|&ratio| ratio > 0.0)?;
        let below_one = |ratio: f64| ratio.min(1.0 / ratio);
        Some((other.name.clone(), below_one(ratio), pair.at_least.map(below_one)))
    };
    // The largest loss that is sure, not the one that noise made the largest.
    let sure = |of: &(String, f64, Option<f64>)| of.2.unwrap_or(1.0);
    let order = |a: &(String, f64, Option<f64>), b: &(String, f64, Option<f64>)| {
        sure(a).total_cmp(&sure(b)).then(a.1.total_cmp(&b.1))
    };
    let (against, ratio, at_least) = lanes.iter().filter_map(to).min_by(order)?;
    Some(Reason {
        lane: lane.name.clone(),
        title: result.title.clone(),
        buffers: result.buffered.iter().find(|name| [&lane.name, &against].contains(name)).cloned(),
        acts: acts::between(result, [&lane.name, &against]),
        workload: result.workload.clone(),
        group: result.group.clone(),
        against,
        ratio,
        at_least,
    })
}

/// What to run next, and what it should settle: going on with a race that did not end by itself; otherwise the same race
/// with the budget that should settle it; with so many rounds, where that is more than an adaptive race makes; where
/// other programs disturbed it and nothing lacked time, the same race as it was, when the machine is idle; or the report. More of the same
/// settles nothing that a failing step keeps open: a lane that failed in every workload is left out, and what only such
/// lanes leave undecided does not count. Nor does what would take more than is worth asking for.
fn next(
    record: &Record,
    undecided: &[&ResultFinding],
    (unraced, disturbed): (usize, bool),
    more_lanes: usize,
) -> (Vec<String>, Option<Settle>) {
    let (header, plan) = (&record.header, &record.header.plan);
    // Too few rounds for a first look are no matter of others' noise.
    let looked = |result: &&ResultFinding| result.rounds >= LOOKS[0];
    let disturbed = disturbed && undecided.iter().all(looked);
    let failures = Failures::from_record(record);
    let open = worth_settling(header, undecided, &failures);
    let report = || ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    if plan.ranks.is_some() {
        // On which nodes a job runs is said to who starts it, and not to Fairlane.
        return (report(), None);
    }
    let nobody = plan.lanes.iter().all(|lane| failures.everywhere(&lane.name));
    if record.end == Some(EndOutcome::Failed) && (nobody || (open.is_empty() && unraced == 0)) {
        return (report(), None);
    }
    if !record.end.is_some_and(EndOutcome::rounds_are_done) && (!open.is_empty() || unraced > 0) {
        let seconds = seconds_left(record);
        return (["race", "--resume", THIS_RECORD].map(str::to_owned).to_vec(), Some(Settle::Resume { seconds }));
    }
    // A guest that was killed says nothing of its filesystem, and racing again may.
    if (open.is_empty() && unraced == 0 && !failures.killed) || (nobody && !failures.killed) {
        return (report(), None);
    }
    let spent = minutes_of_the_same(record, unraced);
    let Reach { minutes, rounds, beyond, unknown } = Reach::new(record, &open, MOST_MINUTES - spent);
    if minutes.is_empty() && beyond && !unknown && unraced == 0 && !disturbed {
        return (report(), Some(Settle::OutOfReach));
    }
    let mut next = again_without_what_failed(record, &failures);
    // What had no time is no better off on an idle machine.
    let lacks_time = |pair: &&Pair| pair.undecided == Some(Undecided::OutOfBudget);
    let short = unraced > 0 || open.iter().flat_map(|(_, pairs)| pairs).any(lacks_time);
    let disturbed = disturbed && !short;
    if (disturbed || open.is_empty()) && unraced == 0 {
        next.extend(plan.budget_seconds.iter().flat_map(|budget| ["--budget".to_owned(), format!("{budget:.0}s")]));
        return (next, disturbed.then_some(Settle::Quiet));
    }
    let more: f64 = minutes.values().sum();
    let lanes = plan.lanes.len().max(1) as f64;
    let same = if more > 0.0 || unraced > 0 { spent + more } else { 2.0 * spent };
    let budget = (same * (lanes + more_lanes as f64) / lanes).clamp(1.0, MOST_MINUTES).ceil();
    let pace = Pace { record, failures: &failures, more_lanes };
    let settle = match (rounds.filter(|_| unraced == 0), plan.rounds) {
        (Some(rounds), _) => {
            if next[0] == "race" && minutes.len() < plan.workloads.len() {
                without(&mut next, "--workload");
                next.extend(minutes.keys().flat_map(|name| ["--workload".to_owned(), (*name).to_owned()]));
            }
            // A race from its beginning, in which each of them is raced so many rounds.
            let again = |name: &str| next[0] != "race" || minutes.contains_key(name);
            Settle::Rounds { rounds, seconds: pace.seconds(again, |_| rounds), some_only: beyond }
        }
        // From so few rounds nobody can tell how many it takes.
        (None, Rounds::Fixed(few)) if few < LOOKS[0] && minutes.is_empty() && unraced == 0 && !plan.as_published => {
            let rounds = LOOKS[0];
            Settle::FirstRounds { rounds, seconds: pace.seconds(|_| true, |_| rounds) }
        }
        (None, _) => Settle::Budget { minutes: budget as u32, some_only: beyond },
    };
    next.extend(settle.option().into_iter().flat_map(|(option, value)| [option.to_owned(), value]));
    let known = more > 0.0 || matches!(settle, Settle::FirstRounds { .. });
    let settle = match () {
        () if open.is_empty() => None,
        () if disturbed => Some(Settle::Quiet),
        () => Some(settle).filter(|_| known),
    };
    (next, settle)
}

/// The pairs that are undecided, without those that a failing lane keeps open.
fn worth_settling<'a>(
    header: &'a Header,
    undecided: &[&'a ResultFinding],
    failures: &Failures,
) -> Vec<(&'a ResultFinding, Vec<&'a Pair>)> {
    let able = |result: &ResultFinding, pair: &Pair| {
        ![&pair.a, &pair.b].iter().any(|lane| failures.within(&result.workload, lane))
    };
    let of = |result: &'a ResultFinding| -> (&'a ResultFinding, Vec<&'a Pair>) {
        let open = contestants(&header.lanes, result).filter(|pair| pair.verdict == Verdict::Undecided);
        (result, open.filter(|pair| able(result, pair)).collect())
    };
    undecided.iter().map(|result| of(result)).filter(|(_, pairs)| !pairs.is_empty()).collect()
}

/// Stands where the record's name belongs, which only whoever shows it knows.
pub const THIS_RECORD: &str = "RECORD";

/// The same race without the lanes that failed in everything.
fn again_without_what_failed(record: &Record, failures: &Failures) -> Vec<String> {
    let plan = &record.header.plan;
    let mut next = command_of(&plan.command_line);
    let before_lanes = next.len() + 1;
    let left_out = |lane: &&LaneSpec| failures.everywhere(&lane.name);
    next.extend(plan.lanes.iter().filter(|lane| !left_out(lane)).map(LaneSpec::to_line));
    let mut options = options_of(&plan.command_line, before_lanes + plan.lanes.len());
    for lane in plan.lanes.iter().filter(left_out) {
        // A disk of its own goes with its lane.
        let own = plan.lane_throttles.get(&lane.name).map(|throttle| format!("{}:{throttle}", lane.name));
        let at = own.and_then(|own| options.windows(2).position(|two| two[0] == "--throttle" && two[1] == own));
        if let Some(at) = at {
            options.drain(at..at + 2);
        }
    }
    if plan.as_published && !options.iter().any(|option| option == "--set") {
        // The article's work was made to fit; that of the suite may need the room that it asks for.
        without(&mut options, "--lane-size");
    }
    next.extend(options);
    next
}

/// Minutes of the same race with room for everything that it was to do.
fn minutes_of_the_same(record: &Record, unraced: usize) -> f64 {
    let plan = &record.header.plan;
    let planned = plan.budget_seconds.unwrap_or(180.0) / 60.0;
    let whole = record.unreached.iter().map(|of| of.whole_seconds).filter(|of| of.is_finite()).fold(0.0, f64::max);
    match (unraced, whole > 0.0) {
        (0, _) => planned,
        (_, true) => (whole / 60.0).max(planned),
        // What was never reached needs as much again as what was.
        (_, false) => {
            let count = plan.workloads.len() as f64;
            planned * count / (count - unraced as f64).max(1.0)
        }
    }
}

/// How fast this race went, and who races in the next one.
struct Pace<'a> {
    record: &'a Record,
    failures: &'a Failures<'a>,
    /// Lanes that the next one has beside this one's.
    more_lanes: usize,
}

impl Pace<'_> {
    /// Seconds that rounds of these workloads take, roughly; 0: nobody knows.
    fn seconds(&self, of: impl Fn(&str) -> bool, rounds: impl Fn(&Series) -> u32) -> u32 {
        let workloads = self.record.header.plan.workloads.iter().filter(|workload| of(&workload.name));
        let seconds = workloads.map(|workload| {
            let series = Series::new(self.record, &workload.name);
            Some(f64::from(rounds(&series)) * self.round_seconds(&series)?)
        });
        roughly(seconds.sum())
    }

    /// Seconds of a round with all lanes of the next race: one that was decided early takes part in all of its rounds, and
    /// one that was not here takes as long as the others do.
    fn round_seconds(&self, series: &Series) -> Option<f64> {
        let lanes = || series.lanes.iter().filter(|of| !self.failures.everywhere(&of.lane.name));
        let seconds = |trial: &&Trial| trial.phases_seconds.values().filter(|of| of.is_finite()).sum::<f64>();
        let each: Vec<f64> = lanes().filter_map(|of| estimate::median(of.ok.iter().map(seconds))).collect();
        let mean = estimate::moments(&each)?.mean;
        Some(mean * (lanes().count() + self.more_lanes) as f64)
    }
}

/// Seconds rounded up as far as nobody can tell more; 0: nobody knows.
fn roughly(seconds: Option<f64>) -> u32 {
    let unit = |seconds: f64| if seconds < 100.0 { 5.0 } else { 60.0 };
    seconds.filter(|of| of.is_finite()).map_or(0, |of| ((of / unit(of)).ceil() * unit(of)) as u32)
}

/// Seconds that are left of a race that did not end by itself; 0: nobody knows.
fn seconds_left(record: &Record) -> u32 {
    let trials: f64 = record.trials.iter().flat_map(|trial| trial.phases_seconds.values()).sum();
    let raced = trials + record.profiles.iter().map(|profile| profile.pass_seconds).sum::<f64>();
    let plan = &record.header.plan;
    match (plan.rounds, plan.budget_seconds) {
        (_, Some(budget)) => roughly(Some((budget - raced).max(0.0))),
        (Rounds::Fixed(planned), None) => {
            let left = |series: &Series| f64::from(planned.saturating_sub(series.done.len() as u32));
            let workloads = plan.workloads.iter().map(|workload| Series::new(record, &workload.name));
            roughly(workloads.map(|series| Some(left(&series) * pair::seconds_per_round(&series)?)).sum())
        }
        (Rounds::Auto, None) => 0,
    }
}

/// Minutes until the first look of work that the time was too short for.
fn minutes_to_first_look(record: &Record, result: &ResultFinding) -> Option<f64> {
    let series = Series::new(record, &result.workload);
    let left = LOOKS[0].checked_sub(series.done.len() as u32).filter(|&left| left > 0)?;
    Some(f64::from(left) * pair::seconds_per_round(&series)? / 60.0).filter(|minutes| *minutes > 0.0)
}

/// What more of the same race can settle of what is open.
struct Reach<'a> {
    /// Minutes that each workload takes until what can be settled of it is.
    minutes: BTreeMap<&'a str, f64>,
    /// The rounds that the slowest of its pairs needs, where these are more than an adaptive race makes: a larger
    /// budget would not help it.
    rounds: Option<u32>,
    /// Some of it would take more rounds or time than are worth asking for.
    beyond: bool,
    /// Of some of it nobody knows what it takes.
    unknown: bool,
}

impl<'a> Reach<'a> {
    /// `most`: minutes of further racing that are worth asking for.
    fn new(record: &Record, open: &[(&'a ResultFinding, Vec<&Pair>)], most: f64) -> Reach<'a> {
        let mut reach = Reach { minutes: BTreeMap::new(), rounds: None, beyond: false, unknown: false };
        let short = |pair: &Pair| pair.undecided == Some(Undecided::OutOfBudget);
        // What takes least comes first: together they must fit into what is worth asking for.
        let mut forecasts: Vec<(f64, u32, &str)> = Vec::new();
        for (result, pair) in open.iter().flat_map(|(result, pairs)| pairs.iter().map(move |pair| (result, pair))) {
            let first = || minutes_to_first_look(record, result).filter(|_| short(pair));
            match pair.minutes_to_settle.or_else(first) {
                Some(minutes) => {
                    forecasts.push((minutes, pair.rounds_to_settle.unwrap_or(0), result.workload.as_str()))
                }
                None => reach.unknown = true,
            }
        }
        forecasts.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (minutes, rounds, workload) in forecasts {
            // Groups of one workload settle in the same rounds: the slowest of a workload counts.
            let others: f64 = reach.minutes.iter().filter(|(name, _)| **name != workload).map(|(_, more)| more).sum();
            if rounds > MOST_ROUNDS || others + minutes > most {
                reach.beyond = true;
                continue;
            }
            let so_far = reach.minutes.entry(workload).or_default();
            *so_far = so_far.max(minutes);
            if rounds > LOOKS[LOOKS.len() - 1] {
                reach.rounds = reach.rounds.max(Some(rounds));
            }
        }
        reach
    }
}

/// What failed where, last attempts alone.
struct Failures<'a> {
    /// Workload and lane of which a round failed.
    some: BTreeSet<(&'a str, &'a str)>,
    /// Somebody killed a guest, and no other attempt made up for it.
    killed: bool,
    /// Lanes that failed in every round of every workload that was raced.
    all: BTreeSet<&'a str>,
}

impl<'a> Failures<'a> {
    fn from_record(record: &'a Record) -> Self {
        let header = &record.header;
        let raced: Vec<(&str, Series)> = header
            .plan
            .workloads
            .iter()
            .map(|workload| (workload.name.as_str(), Series::new(record, &workload.name)))
            .filter(|(_, series)| series.trials > 0)
            .collect();
        let lanes = || raced.iter().flat_map(|(workload, of)| of.lanes.iter().map(move |lane| (*workload, lane)));
        let killed = |trial: &&Trial| trial.reason.as_deref().is_some_and(|why| why.contains(KILLED_FROM_OUTSIDE));
        let failed = lanes().filter(|(_, lane)| !lane.failed.iter().all(killed));
        let done: BTreeSet<&str> =
            lanes().filter(|(_, lane)| !lane.ok.is_empty()).map(|(_, lane)| lane.lane.name.as_str()).collect();
        let some: BTreeSet<(&str, &str)> = failed.map(|(workload, lane)| (workload, lane.lane.name.as_str())).collect();
        let all = some.iter().map(|(_, lane)| *lane).filter(|lane| !done.contains(lane)).collect();
        Failures { some, all, killed: lanes().any(|(_, lane)| lane.failed.iter().any(killed)) }
    }

    fn within(&self, workload: &str, lane: &str) -> bool {
        self.some.contains(&(workload, lane))
    }

    fn everywhere(&self, lane: &str) -> bool {
        self.all.contains(lane)
    }
}

/// A forecast is a guess: no more than a night is worth recommending.
const MOST_MINUTES: f64 = 720.0;

/// From a few rounds hundreds are a guess.
const MOST_ROUNDS: u32 = 200;

/// Takes an option and its value out of a command line, wherever it stands.
pub(crate) fn without(line: &mut Vec<String>, option: &str) {
    while let Some(at) = line.iter().position(|word| word == option) {
        line.drain(at..(at + 2).min(line.len()));
    }
}

/// The command, with the job file where it takes one: `race`, or `fio JOBFILE`.
pub(crate) fn command_of(command_line: &[String]) -> Vec<String> {
    match command_line {
        [_, command, jobfile, ..] if command == "fio" => vec![command.clone(), jobfile.clone()],
        _ => vec!["race".to_owned()],
    }
}

/// The options of a race's command line that its continuation needs too: not the seed, the rounds
/// and the time, and none that only repeats a default. So many words come first;
/// options follow, each with a value but for the switches.
pub(crate) fn options_of(command_line: &[String], first: usize) -> Vec<String> {
    // An article's own method gives no verdicts: what is worth running next is the race that does.
    const LEFT_OUT: [&str; 6] = ["--seed", "--rounds", "--budget", "--output", "-o", "--as-published"];
    const DEFAULTS: [(&str, &str); 3] = [("--suite", "quick"), ("--lane-size", "2GiB"), ("--margin", "5%")];
    let mut kept = Vec::new();
    let mut words = command_line.iter().skip(first).peekable();
    while let Some(option) = words.next() {
        let value = words.next_if(|word| !word.starts_with("--"));
        let known = |value: &String| DEFAULTS.contains(&(option.as_str(), value.as_str()));
        if !LEFT_OUT.contains(&option.as_str()) && !value.is_some_and(known) {
            kept.push(option.clone());
            kept.extend(value.cloned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_command_keeps_what_matters_and_leaves_out_what_must_change() {
        let line = "fairlane race a=ext4 xfs --suite mine.toml --workload commit --set commit.bs=8KiB --on /srv \
            --as-published --lane-size 2GiB --budget 60s --rounds 6 --margin 5% --seed 7 --with-self";
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let kept = options_of(&words, 4).join(" ");
        assert_eq!(kept, "--suite mine.toml --workload commit --set commit.bs=8KiB --on /srv --with-self");
        assert!(options_of(&words[..4], 4).is_empty());
        assert!(options_of(&[], 2).is_empty());
        assert_eq!(command_of(&words), ["race"]);
        let fio: Vec<String> =
            "fairlane fio a.fio ext4 xfs --seed 7 --with-fio".split(' ').map(str::to_owned).collect();
        assert_eq!(command_of(&fio), ["fio", "a.fio"]);
        assert_eq!(options_of(&fio, 5), ["--with-fio"]);
    }
}
