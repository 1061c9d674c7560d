//! The search for the largest number of writers that a lane sustains: which number to try next, what came of a step, and
//! what all of it says.
//!
//! A pass doubles the number of writers until a step is not sustained (or halves it until one is), and then
//! tries the geometric mean of the two nearest numbers until they lie close together. Its figure is the
//! geometric mean of these two. Passes are the replicates: lanes are compared pass by pass, as rounds of a race
//! are. A later pass begins at what the earlier ones found, and goes on in smaller steps: chance moves the edge
//! only a little.

mod outcome;

use crate::comparable::comparable;
use crate::correlation;
use crate::estimate::{self, Level};
use crate::pair::{self, finite};
use crate::ranking;
use crate::sequential::{self, Interval, Rule, Standing};
use crate::statements::{appenders as statement, name, names, pair as pair_statement};
use model::Sentence;
use model::findings::{Estimate, Pair, SearchFinding, SearchLane, SearchPass, Verdict};
use model::plan::Rounds;
use model::record::Record;
use model::search::{FindMax, SearchStep, StepOutcome};
use model::sentence::Value;
use model::trial::Trial;
use model::workload::{Appenders, Kind, Workload};
pub use outcome::outcome;
use outcome::{Alone, reason};

/// Passes of a search that asks for no number.
pub const USUAL_PASSES: u32 = 4;
/// By how much the first pass goes on from step to step, and the later ones.
const FIRST_FACTOR: f64 = 2.0;
const LATER_FACTOR: f64 = 1.25;
/// So many steps that fail at the beginning of a pass end it: it is not the number of writers that fails.
const FAILURES_AT_FIRST: usize = 3;

/// What a pass does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Tries so many writers.
    Try(u32),
    /// The pass has found what there is.
    Done,
}

/// The workload whose writers a search varies; `None`: the record holds no search.
pub fn workload_of(record: &Record) -> Option<(&Workload, &Appenders, FindMax)> {
    let plan = &record.header.plan;
    let find_max = plan.find_max?;
    plan.workloads.iter().find_map(|workload| match &workload.kind {
        Kind::Appenders(appenders) => Some((workload, &**appenders, find_max)),
        _ => None,
    })
}

/// Passes that the plan asks for.
pub fn passes_of(rounds: Rounds) -> u32 {
    match rounds {
        Rounds::Fixed(passes) => passes.max(1),
        Rounds::Auto => USUAL_PASSES,
    }
}

/// What a lane's pass does next, after the steps of it that are recorded.
pub fn next(record: &Record, lane: &str, pass: u32) -> Next {
    let Some((_, appenders, find_max)) = workload_of(record) else { return Next::Done };
    let view = View::new(record, appenders, find_max);
    view.after(&view.passes(lane, pass), &view.tried(lane, pass))
}

/// What came of a step, which may not be in the record yet, after all that the record shows.
pub fn outcome_of(record: &Record, step: &SearchStep) -> StepOutcome {
    let Some((_, appenders, find_max)) = workload_of(record) else { return step.outcome };
    View::new(record, appenders, find_max).outcome(step)
}

/// Whether it must still be seen how so many writers do without a filesystem: this trial of theirs was not
/// sustained, and no step tells whose fault that is.
pub fn asks_for_a_run_without_filesystem(record: &Record, trial: &Trial, writers: u32) -> bool {
    let Some((_, appenders, find_max)) = workload_of(record) else { return false };
    let view = View::new(record, appenders, find_max);
    let fell = matches!(view.of_trial(trial), StepOutcome::Late | StepOutcome::Backlog | StepOutcome::Load);
    fell && view.alone.holds(writers).is_none()
}

/// What a record says of its search; empty: it holds none.
pub fn findings(record: &Record) -> Vec<SearchFinding> {
    let Some((workload, appenders, find_max)) = workload_of(record) else { return Vec::new() };
    let view = View::new(record, appenders, find_max);
    let lanes: Vec<SearchLane> = record.header.lanes.iter().map(|lane| view.lane(&lane.name)).collect();
    let done = lanes.iter().filter(|lane| lane.failure.is_none()).map(|lane| lane.passes.len() as u32).min();
    let pairs = view.pairs(&lanes, done.unwrap_or(0));
    vec![SearchFinding {
        workload: workload.name.clone(),
        title: workload.title.clone(),
        criterion: find_max.criterion,
        files: appenders.files,
        period_seconds: appenders.period_seconds,
        most_writers: find_max.most_writers,
        passes: done.unwrap_or(0),
        ranking: ranking::ranking(&record.header.lanes, &estimates(&lanes), &pairs, true),
        lanes,
        pairs,
        warnings: Vec::new(),
    }]
}

/// A record's search.
struct View<'a> {
    record: &'a Record,
    appenders: &'a Appenders,
    find_max: FindMax,
    alone: Alone,
}

impl<'a> View<'a> {
    fn new(record: &'a Record, appenders: &'a Appenders, find_max: FindMax) -> Self {
        let view = View { record, appenders, find_max, alone: Alone::default() };
        View { alone: record.steps.iter().fold(Alone::default(), |alone, step| view.and(alone, step)), ..view }
    }

    fn steps(&self, lane: &'a str, pass: u32) -> impl Iterator<Item = &'a SearchStep> {
        self.record.steps.iter().filter(move |step| step.trial.lane == lane && step.pass == pass)
    }

    /// The CPUs that a trial had: a guest has its own.
    fn cpus(&self, trial: &Trial) -> u32 {
        match trial.system.cpus {
            0 => self.record.header.machine.cpus,
            own => own,
        }
    }

    /// What came of a trial, taken by itself.
    fn of_trial(&self, trial: &Trial) -> StepOutcome {
        outcome(trial, self.appenders, self.cpus(trial), self.find_max.criterion)
    }

    /// With what a step shows of its writers without a filesystem.
    fn and(&self, alone: Alone, step: &SearchStep) -> Alone {
        step.without_filesystem.as_deref().map_or(alone, |trial| alone.and(step.writers, self.of_trial(trial)))
    }

    fn outcome(&self, step: &SearchStep) -> StepOutcome {
        match self.of_trial(&step.trial) {
            StepOutcome::Late | StepOutcome::Backlog | StepOutcome::Load
                if self.and(self.alone, step).holds(step.writers) == Some(false) =>
            {
                StepOutcome::Harness
            }
            came => came,
        }
    }

    fn tried(&self, lane: &str, pass: u32) -> Vec<(u32, StepOutcome)> {
        let steps = self.record.steps.iter().filter(|step| step.trial.lane == lane && step.pass == pass);
        steps.map(|step| (step.writers, self.outcome(step))).collect()
    }

    /// What follows the steps of a pass, before which these have ended.
    fn after(&self, before: &[SearchPass], tried: &[(u32, StepOutcome)]) -> Next {
        let (begin, factor) = match level(before) {
            Some(level) => (level.mean.round() as u32, LATER_FACTOR),
            None => (self.appenders.writers, FIRST_FACTOR),
        };
        step_after(tried, begin.clamp(1, self.find_max.most_writers), factor, &self.find_max)
    }

    /// Passes of a lane that have ended, one after another, before this one.
    fn passes(&self, lane: &str, before: u32) -> Vec<SearchPass> {
        let mut ended: Vec<SearchPass> = Vec::new();
        for pass in 1..before {
            let tried = self.tried(lane, pass);
            if tried.is_empty() || self.after(&ended, &tried) != Next::Done {
                break;
            }
            let (sustained, too_many) = bracket(&tried);
            let steps = tried.len() as u32;
            ended.push(SearchPass { pass, sustained: sustained.unwrap_or(0), too_many, steps });
        }
        ended
    }

    fn lane(&self, lane: &'a str) -> SearchLane {
        let passes = self.passes(lane, u32::MAX);
        let level = level(&passes);
        let ended = |pass: &SearchPass| self.edge(lane, pass).map(|step| self.outcome(step));
        let ended_by = |by: StepOutcome| passes.iter().any(|pass| ended(pass) == Some(by));
        let (could_not_go_on, harness) = (ended_by(StepOutcome::Failed), ended_by(StepOutcome::Harness));
        // What says why the lane may sustain more is told before what says why it does not.
        let open = |pass: &&SearchPass| matches!(ended(pass), None | Some(StepOutcome::Failed | StepOutcome::Harness));
        let telling = passes.iter().rfind(open).or(passes.last());
        let reason = telling.and_then(|pass| self.reason(lane, pass));
        let failure = match (telling, level) {
            (None, _) => Some(statement::no_pass_ended()),
            (Some(pass), None) => {
                Some(reason.clone().unwrap_or_else(|| statement::not_even(pass.too_many.unwrap_or(1))))
            }
            (Some(_), Some(_)) => None,
        };
        SearchLane {
            lane: lane.to_owned(),
            writers: level.map(|level| level.mean),
            low: level.and_then(|level| Some(level.interval?.0)),
            high: level.and_then(|level| Some(level.interval?.1)),
            at_least: level.is_some() && telling.as_ref().is_some_and(open),
            could_not_go_on,
            harness,
            reason,
            passes,
            failure,
        }
    }

    /// The step at the smallest number that a pass did not sustain.
    fn edge(&self, lane: &'a str, pass: &SearchPass) -> Option<&'a SearchStep> {
        let too_many = pass.too_many?;
        let fell = |step: &&SearchStep| step.writers == too_many && self.outcome(step) != StepOutcome::Sustained;
        self.steps(lane, pass.pass).find(fell)
    }

    /// What was the matter at the smallest number that a pass did not sustain; where there is none, that.
    fn reason(&self, lane: &'a str, pass: &SearchPass) -> Option<Sentence> {
        if pass.too_many.is_none() {
            return Some(statement::all_sustained(pass.sustained));
        }
        let step = self.edge(lane, pass)?;
        let terms = (self.cpus(&step.trial), self.find_max.criterion);
        reason(step, self.outcome(step), self.appenders, terms)
    }

    fn pairs(&self, lanes: &[SearchLane], done: u32) -> Vec<Pair> {
        let header = &self.record.header;
        let couples: Vec<(usize, usize)> = (0..lanes.len()).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let may = couples.iter().filter(|&&(a, b)| comparable(&header.lanes[a], &header.lanes[b]).is_ok()).count();
        let rounds = Rounds::Fixed(passes_of(header.plan.rounds));
        let rule =
            Rule { pairs: may.max(1), rounds, margin: header.plan.margin, first_answer: header.plan.first_answer };
        let at = (&rule, sequential::standing(done, rounds, self.record.end));
        couples.into_iter().map(|couple| self.pair(lanes, couple, at, done)).collect()
    }

    /// Compares two lanes pass by pass, by the rule and at the look of `at`.
    fn pair(&self, lanes: &[SearchLane], (a, b): (usize, usize), at: (&Rule, Standing), done: u32) -> Pair {
        let mut pair = Pair {
            a: lanes[a].lane.clone(),
            b: lanes[b].lane.clone(),
            ratio: None,
            low: None,
            high: None,
            verdict: Verdict::None,
            why: None,
            minutes_to_settle: None,
            rounds_to_settle: None,
            undecided: None,
            over_race: false,
            at_least: None,
        };
        if let Some((lane, why)) = [a, b].into_iter().find_map(|at| Some((&lanes[at].lane, lanes[at].failure.clone()?)))
        {
            pair.why = Some(pair_statement::lane_reason(name(lane), why));
            return pair;
        }
        let differences = estimate::paired_differences(&figures(&lanes[a]), &figures(&lanes[b]));
        let assumed = correlation::assumed(None, &[]);
        let Some(interval) = sequential::interval(&differences, at.0, assumed) else {
            pair.why = Some(pair_statement::shares_no_round(name(&pair.a), name(&pair.b)));
            return pair;
        };
        pair.ratio = finite(interval.mean.exp());
        pair.low = finite((interval.mean - interval.half).exp()).filter(|_| interval.half.is_finite());
        pair.high = finite((interval.mean + interval.half).exp()).filter(|_| interval.half.is_finite());
        let mut beside = match comparable(&self.record.header.lanes[a], &self.record.header.lanes[b]) {
            Ok(beside) => beside,
            Err(different) => {
                pair.why = Some(different);
                return pair;
            }
        };
        if let Some(why) = why_none([&lanes[a], &lanes[b]], interval.mean, self.find_max.most_writers) {
            pair.why = Some(why);
            return pair;
        }
        let open: Vec<&SearchLane> = [&lanes[a], &lanes[b]].into_iter().filter(|lane| lane.at_least).collect();
        if !open.is_empty() {
            beside.push(statement::more_not_tried(names(open.iter().map(|lane| lane.lane.as_str()))));
        }
        let (verdict, why) = verdict_of(&interval, at, done, !open.is_empty());
        pair.verdict = verdict;
        let all: Vec<Value> = why.into_iter().chain(beside).map(Value::from).collect();
        pair.why = (!all.is_empty()).then(|| pair_statement::clauses(Value::Clauses(all)));
        pair
    }
}

/// The verdict over passes and why there is none, by the rule and at the look of `at`. `open`: one of the lanes sustains
/// at least its number.
fn verdict_of(
    interval: &Interval,
    (rule, standing): (&Rule, Standing),
    done: u32,
    open: bool,
) -> (Verdict, Option<Sentence>) {
    match standing {
        _ if interval.count < 2 => (Verdict::Undecided, Some(statement::one_pass())),
        Standing::Before { first } => (Verdict::Undecided, Some(statement::passes_done_of(done, first))),
        Standing::AtLook { last, .. } => match rule.verdict(interval.mean, interval.half, last) {
            // A lane that sustains at least so many may sustain more: that is no tie.
            Verdict::Tie if open => (Verdict::Undecided, None),
            Verdict::Undecided if interval.half > pair::says_something() => {
                (Verdict::Undecided, Some(pair_statement::scatter_too_much(interval.count)))
            }
            Verdict::Undecided => {
                let percent = |log: f64| Value::Signed(100.0 * log.clamp(-50.0, 50.0).exp_m1(), 0);
                let (low, high) = (interval.mean - interval.half, interval.mean + interval.half);
                let why = pair_statement::difference_between(interval.count, percent(low), percent(high));
                (Verdict::Undecided, Some(why))
            }
            verdict => (verdict, None),
        },
    }
}

/// Why the two numbers of a pair say nothing of which lane sustains more; `None`: they do. `log_ratio`: above 0 the
/// first one is larger.
fn why_none([a, b]: [&SearchLane; 2], log_ratio: f64, most_writers: u32) -> Option<Sentence> {
    let measured: Vec<&str> = [a, b].into_iter().filter(|lane| lane.harness).map(|lane| lane.lane.as_str()).collect();
    if !measured.is_empty() {
        return Some(statement::harness_measured(names(measured)));
    }
    if a.at_least && b.at_least {
        return Some(match a.could_not_go_on || b.could_not_go_on {
            true => statement::neither_gave_way(name(&a.lane), name(&b.lane)),
            false => statement::both_at_the_end(most_writers),
        });
    }
    // The larger number may be larger still, and the ratio with it; the smaller one says nothing of the order.
    let fewer = if log_ratio > 0.0 { b } else { a };
    fewer.at_least.then(|| match &fewer.reason {
        Some(reason) => statement::fewer_but_open_because(name(&fewer.lane), reason.clone()),
        None => statement::fewer_but_open(name(&fewer.lane)),
    })
}

/// The largest number that was sustained below every one that was not, and the smallest that was not.
fn bracket(tried: &[(u32, StepOutcome)]) -> (Option<u32>, Option<u32>) {
    let fell = |of: &&(u32, StepOutcome)| of.1 != StepOutcome::Sustained;
    let too_many = tried.iter().filter(fell).map(|of| of.0).min();
    let below = |of: &&(u32, StepOutcome)| !fell(of) && too_many.is_none_or(|many| of.0 < many);
    (tried.iter().filter(below).map(|of| of.0).max(), too_many)
}

/// What follows these steps of a pass.
fn step_after(tried: &[(u32, StepOutcome)], begin: u32, factor: f64, find_max: &FindMax) -> Next {
    if tried.is_empty() {
        return Next::Try(begin);
    }
    let failed = |of: &(u32, StepOutcome)| of.1 == StepOutcome::Failed;
    if tried.len() >= FAILURES_AT_FIRST && tried.iter().all(failed) {
        return Next::Done;
    }
    let grown = |from: u32| ((f64::from(from) * factor).round() as u32).max(from + 1).min(find_max.most_writers);
    let shrunk = |from: u32| ((f64::from(from) / factor).round() as u32).min(from - 1);
    match bracket(tried) {
        (Some(sustained), None) if sustained >= find_max.most_writers => Next::Done,
        (Some(sustained), None) => Next::Try(grown(sustained)),
        (None, Some(0 | 1)) => Next::Done,
        (None, Some(many)) => Next::Try(shrunk(many).max(1)),
        (Some(sustained), Some(many)) => {
            let middle = (f64::from(sustained) * f64::from(many)).sqrt().round() as u32;
            let close = f64::from(many) <= f64::from(sustained) * (1.0 + find_max.resolution);
            match close || many - sustained <= 1 || middle <= sustained || middle >= many {
                true => Next::Done,
                false => Next::Try(middle),
            }
        }
        (None, None) => Next::Done,
    }
}

/// What passes have found.
fn level(passes: &[SearchPass]) -> Option<Level> {
    let figures: Vec<f64> = passes.iter().filter_map(figure).collect();
    estimate::level(&figures)
}

/// A pass as one number; `None`: nothing was sustained.
fn figure(pass: &SearchPass) -> Option<f64> {
    let sustained = f64::from(pass.sustained);
    (pass.sustained > 0).then(|| pass.too_many.map_or(sustained, |many| (sustained * f64::from(many)).sqrt()))
}

fn figures(lane: &SearchLane) -> Vec<(u32, f64)> {
    lane.passes.iter().filter_map(|pass| Some((pass.pass, figure(pass)?))).collect()
}

/// What the ranking looks at.
fn estimates(lanes: &[SearchLane]) -> Vec<Estimate> {
    let of = |lane: &SearchLane| Estimate {
        lane: lane.lane.clone(),
        mean: lane.writers.unwrap_or(0.0),
        failure: lane.failure.clone(),
        ..Estimate::default()
    };
    lanes.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::search::Criterion;

    const PLAN: FindMax = FindMax { criterion: Criterion::Lateness, most_writers: 100_000, resolution: 0.1 };

    /// The steps that a lane takes which sustains so many.
    fn walk(limit: u32, begin: u32, factor: f64, plan: &FindMax) -> Vec<(u32, StepOutcome)> {
        let mut tried = Vec::new();
        while let Next::Try(writers) = step_after(&tried, begin, factor, plan) {
            assert!(
                (1..=plan.most_writers).contains(&writers) && tried.iter().all(|(of, _)| *of != writers),
                "{tried:?}"
            );
            tried.push((writers, if writers <= limit { StepOutcome::Sustained } else { StepOutcome::Late }));
            assert!(tried.len() < 60, "{tried:?}");
        }
        tried
    }

    #[test]
    fn doubling_and_bisection_close_in_on_any_limit() {
        for begin in [1, 100, 4000, 90_000] {
            for limit in [1, 2, 3, 77, 100, 101, 4000, 31_000, 99_999] {
                for factor in [FIRST_FACTOR, LATER_FACTOR] {
                    let tried = walk(limit, begin, factor, &PLAN);
                    let (sustained, too_many) = bracket(&tried);
                    let (sustained, too_many) = (sustained.unwrap(), too_many.unwrap());
                    assert!(sustained <= limit && limit < too_many, "{begin}, {limit}: {tried:?}");
                    let close = f64::from(too_many) <= 1.1 * f64::from(sustained) + 1e-9;
                    assert!(close || too_many - sustained == 1, "{begin}, {limit}: {tried:?}");
                }
            }
        }
        let first: Vec<u32> = walk(30_000, 4000, 2.0, &PLAN).iter().map(|(writers, _)| *writers).collect();
        assert_eq!(first[..5], [4000, 8000, 16_000, 32_000, 22_627]);
    }

    #[test]
    fn a_lane_that_sustains_all_or_nothing_ends_its_pass() {
        let all = walk(u32::MAX, 30_000, 2.0, &PLAN);
        assert_eq!(bracket(&all), (Some(100_000), None));
        let none = walk(0, 4000, 2.0, &PLAN);
        assert_eq!(bracket(&none), (None, Some(1)));
        assert_eq!(none.len(), 13);
        let failed = [(4000, StepOutcome::Failed), (2000, StepOutcome::Failed), (1000, StepOutcome::Failed)];
        assert_eq!(step_after(&failed[..2], 4000, 2.0, &PLAN), Next::Try(1000));
        assert_eq!(step_after(&failed, 4000, 2.0, &PLAN), Next::Done);
    }

    #[test]
    fn a_lucky_step_above_a_failed_one_does_not_count() {
        let tried = [(100, StepOutcome::Sustained), (200, StepOutcome::Late), (400, StepOutcome::Sustained)];
        assert_eq!(bracket(&tried), (Some(100), Some(200)));
    }
}
