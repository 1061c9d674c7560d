//! One pair of lanes in one result: their ratio and the verdict.

use crate::comparable::comparable;
use crate::estimate;
use crate::forecast;
use crate::sequential::{self, Interval, Rule, Standing};
use crate::say::{name, pair as said, text};
use crate::series::{LaneSeries, Series};
use model::Sentence;
use model::findings::{Limit, Pair, Verdict};
use model::sentence::Value;
use model::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};

/// What the pairs of one result share.
pub struct Setting<'a> {
    /// The trials that count.
    pub series: &'a Series<'a>,
    /// The group judged.
    pub group: &'a str,
    /// Its metric.
    pub metric: &'a str,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// What decides.
    pub rule: Rule,
    /// At which look.
    pub standing: Standing,
    /// The correlation from round to round that intervals are made for.
    pub correlation: f64,
    /// What limited the result.
    pub limit: Limit,
    /// Seconds of racing per round of this workload.
    pub seconds_per_round: Option<f64>,
}

/// A pair with what a reader should know about its rounds.
pub struct Judged {
    /// The pair.
    pub pair: Pair,
    /// Correlated rounds.
    pub warning: Option<Sentence>,
}

impl Setting<'_> {
    /// Judges lane `a` against lane `b`.
    pub fn judge(&self, a: &LaneSeries, b: &LaneSeries) -> Judged {
        let mut pair = Pair {
            a: a.lane.name.clone(),
            b: b.lane.name.clone(),
            ratio: None,
            low: None,
            high: None,
            verdict: Verdict::None,
            why: None,
            minutes_to_settle: None,
            rounds_to_settle: None,
        };
        if let Some((lane, reason)) = [a, b].iter().find_map(|lane| Some((&lane.lane.name, lane.lacks(self.group)?))) {
            pair.why = Some(said::lane_reason(name(lane), text(reason)));
            return Judged { pair, warning: None };
        }
        if let Some(why) = self.cannot_sustain(a, b) {
            // One burst of noise in an early round does not end the race.
            let early = matches!(self.standing, Standing::Before { .. });
            pair.verdict = if early { Verdict::Undecided } else { Verdict::None };
            pair.why = Some(why);
            return Judged { pair, warning: None };
        }
        let differences = self.differences(a, b);
        let Some(interval) =
            sequential::interval(&differences, &self.rule, self.correlation).filter(|of| of.mean.is_finite())
        else {
            pair.why = Some(said::shares_no_round(name(&pair.a), name(&pair.b)));
            return Judged { pair, warning: None };
        };
        pair.ratio = finite(interval.mean.exp());
        if let (Some(low), Some(high)) =
            (finite((interval.mean - interval.half).exp()), finite((interval.mean + interval.half).exp()))
        {
            (pair.low, pair.high) = (Some(low), Some(high));
        }
        let warning = correlation_words(&pair, &interval);
        match comparable(a.lane, b.lane) {
            Err(difference) => pair.why = Some(difference),
            Ok(beside) => self.decide(&mut pair, &interval, beside),
        }
        Judged { pair, warning }
    }

    /// ln(a/b) over the rounds of this look, in time order; of times ln(b/a), so that above zero
    /// `a` always does better.
    fn differences(&self, a: &LaneSeries, b: &LaneSeries) -> Vec<f64> {
        let last = match self.standing {
            Standing::AtLook { rounds, .. } => self.series.done.get(rounds as usize - 1).copied().unwrap_or(u32::MAX),
            Standing::Before { .. } => u32::MAX,
        };
        let of = |lane: &LaneSeries| {
            let mut figures = lane.figures(self.group, self.metric);
            figures.retain(|&(round, _)| round <= last);
            figures
        };
        let (a, b) = if self.higher_is_better { (a, b) } else { (b, a) };
        estimate::paired_differences(&of(a), &of(b))
    }

    /// Why neither lane's figures may be compared: an open loop whose backlog grew measured the
    /// length of the window, not a latency. `None`: both kept up.
    fn cannot_sustain(&self, a: &LaneSeries, b: &LaneSeries) -> Option<Sentence> {
        let behind: Vec<Value> = [a, b]
            .iter()
            .filter_map(|lane| {
                let count = flagged(lane, CANNOT_SUSTAIN);
                (count > 0).then(|| said::trials_behind(name(&lane.lane.name), count, lane.ok.len()).into())
            })
            .collect();
        (!behind.is_empty()).then(|| said::cannot_sustain(Value::List(behind)))
    }

    fn decide(&self, pair: &mut Pair, interval: &Interval, mut beside: Vec<Sentence>) {
        let (mut verdict, mut why) = self.by_interval(interval);
        match self.limit {
            Limit::Harness => {
                (verdict, why) = (Verdict::None, Some(said::engine_was_measured()))
            }
            Limit::Device if verdict != Verdict::Tie => {
                (verdict, why) = (Verdict::None, Some(said::device_was_measured()));
            }
            Limit::Cache => beside.insert(0, said::cache_not_device()),
            _ => {}
        }
        if verdict == Verdict::Undecided {
            pair.rounds_to_settle = forecast::rounds_to_settle(interval, self.series.done.len() as u32, &self.rule);
            pair.minutes_to_settle = pair.rounds_to_settle.and_then(|rounds| self.minutes_until(rounds));
        }
        pair.verdict = verdict;
        let all: Vec<Value> = why.into_iter().chain(beside).map(Value::from).collect();
        pair.why = (!all.is_empty()).then(|| said::clauses(Value::Clauses(all)));
    }

    fn by_interval(&self, interval: &Interval) -> (Verdict, Option<Sentence>) {
        if interval.count < 2 {
            return (Verdict::Undecided, Some(said::one_round()));
        }
        let last = match self.standing {
            Standing::AtLook { last, .. } => last,
            Standing::Before { first } => {
                let done = self.series.done.len();
                let why = if done == 1 { said::round_done(done, first) } else { said::rounds_done(done, first) };
                return (Verdict::Undecided, Some(why));
            }
        };
        let verdict = self.rule.verdict(interval.mean, interval.half, last);
        let why = (verdict == Verdict::Undecided).then(|| {
            let percent = |log: f64| Value::Signed(100.0 * log.clamp(-50.0, 50.0).exp_m1(), 0);
            let (low, high) = (interval.mean - interval.half, interval.mean + interval.half);
            said::difference_between(interval.count, percent(low), percent(high))
        });
        (verdict, why)
    }

    fn minutes_until(&self, rounds: u32) -> Option<f64> {
        let more = rounds - self.series.done.len() as u32;
        finite(f64::from(more) * self.seconds_per_round? / 60.0).filter(|&minutes| minutes > 0.0)
    }
}

/// What every warning about correlated rounds says.
const CORRELATED: &str = "the rounds are correlated";

/// Whether a warning is about correlated rounds.
pub fn is_about_correlation(warning: &str) -> bool {
    warning.contains(CORRELATED)
}

fn correlation_words(pair: &Pair, interval: &Interval) -> Option<Sentence> {
    let of = interval.correlation;
    let number = Value::Number;
    of.notable.then(|| {
        let (worth, wider) = (number(of.effective_rounds, 1), number(of.wider, 1));
        said::correlated(name(&pair.a), name(&pair.b), number(of.lag1, 2), interval.count, worth, wider)
    })
}

/// A figure that JSON can hold.
pub fn finite(figure: f64) -> Option<f64> {
    figure.is_finite().then_some(figure)
}

/// Median over rounds of the seconds that all lanes together took, all phases included.
pub fn seconds_per_round(series: &Series) -> Option<f64> {
    estimate::median(series.done.iter().map(|&round| {
        let trials = series.lanes.iter().flat_map(|lane| &lane.ok).filter(|trial| trial.round == round);
        trials.flat_map(|trial| trial.phases_seconds.values()).filter(|seconds| seconds.is_finite()).sum()
    }))
}

/// A trial of an open loop whose backlog grew over the window begins a flag with this.
pub const CANNOT_SUSTAIN: &str = "cannot-sustain-rate";

/// Trials that count and carry a flag that begins so.
pub fn flagged(lane: &LaneSeries, beginning: &str) -> usize {
    lane.ok.iter().filter(|trial| trial.flags.iter().any(|flag| flag.starts_with(beginning))).count()
}

/// Warnings about whole trials of all lanes: failed rounds, flags. What marks every trial is said
/// once.
pub fn trial_warnings(lanes: &[LaneSeries]) -> Vec<Sentence> {
    let mut warnings = Vec::new();
    for lane in lanes {
        if let (Some(trial), false) = (lane.failed.last(), lane.ok.is_empty()) {
            let all = lane.failed.len() + lane.ok.len();
            let reason = reason_of(trial);
            warnings.push(said::failed_in_rounds(name(&lane.lane.name), lane.failed.len(), all, reason));
        }
    }
    for lane in lanes {
        if let (Some(trial), false) = (lane.void.last(), lane.ok.is_empty()) {
            let all = lane.void.len() + lane.ok.len();
            let reason = reason_of(trial);
            warnings.push(said::void_trials(name(&lane.lane.name), lane.void.len(), all, reason));
        }
    }
    let of_all: usize = lanes.iter().map(|lane| lane.ok.len()).sum();
    let mut everywhere = Marks::of(lanes);
    everywhere.0.retain(|kind, mark| mark.trials == of_all && *kind != NOT_STEADY && lanes.len() > 1);
    for lane in lanes {
        let mut marks = Marks::of(std::slice::from_ref(lane));
        // Unsteady slices are told group by group, with their figures.
        let told = |trial: &&Trial| {
            trial.groups.iter().any(|of| crate::steady::not_steady(&of.slices_operations_per_second).is_some())
        };
        if lane.ok.iter().any(told) {
            marks.0.remove(NOT_STEADY);
        }
        let of = lane.ok.len();
        let own = marks.0.into_iter().filter(|(kind, _)| !everywhere.0.contains_key(kind));
        warnings.extend(own.map(|(_, mark)| said::marked(name(&lane.lane.name), mark.trials, of, mark.said())));
    }
    warnings.extend(everywhere.0.into_values().map(|mark| said::all_marked(of_all, mark.said())));
    warnings
}

/// Why a trial has no figures.
fn reason_of(trial: &Trial) -> Value {
    trial.reason.as_ref().map_or_else(|| said::no_reason().into(), text)
}

/// The flags of trials by their kind: the words before the first colon. What follows them is often a
/// figure that no two trials share.
struct Marks<'a>(BTreeMap<&'a str, Mark<'a>>);

/// Flags of one kind.
struct Mark<'a> {
    /// Trials that carry one, or several.
    trials: usize,
    /// The first.
    example: &'a str,
    /// Whether all others say the same.
    alike: bool,
}

impl<'a> Marks<'a> {
    fn of(lanes: &'a [LaneSeries]) -> Self {
        let mut marks: BTreeMap<&str, Mark> = BTreeMap::new();
        for trial in lanes.iter().flat_map(|lane| &lane.ok) {
            let mut seen = BTreeSet::new();
            for flag in &trial.flags {
                let kind = flag.split_once(':').map_or(flag.as_str(), |(kind, _)| kind);
                let mark = marks.entry(kind).or_insert(Mark { trials: 0, example: flag, alike: true });
                mark.alike &= mark.example == flag;
                mark.trials += usize::from(seen.insert(kind));
            }
        }
        Marks(marks)
    }
}

impl Mark<'_> {
    /// The flag where all are alike; otherwise its kind and one example.
    fn said(&self) -> Value {
        match self.example.split_once(':') {
            Some((kind, rest)) if !self.alike => said::mark_with_example(text(kind), text(rest)).into(),
            _ => text(self.example),
        }
    }
}

/// The flag of a trial whose slices are not steady.
const NOT_STEADY: &str = "not-steady";

/// Warnings about a lane's figures in one group: unusable, missing, unsteady.
pub fn lane_warnings(lane: &LaneSeries, group: &str, metric: &str) -> Vec<Sentence> {
    let own = || name(&lane.lane.name);
    let mut warnings = Vec::new();
    let figures = lane.figures(group, metric);
    let unusable = figures.iter().filter(|&&(_, figure)| !estimate::usable(figure)).count();
    if unusable > 0 {
        warnings.push(said::figures_left_out(own(), unusable, figures.len()));
    }
    let missing = lane.ok.len() - figures.len();
    // Where all are missing, the estimate says why.
    if missing > 0 && lane.lacks(group).is_none() {
        warnings.push(said::figures_missing(own(), missing, lane.ok.len(), name(metric), text(group)));
    }
    let (trials, slices) = lane.cut(group);
    if trials > 0 && metric.ends_with("_per_second") {
        warnings.push(said::warm_up_cut(own(), trials, lane.ok.len(), slices));
    }
    let unsteady: Vec<_> =
        lane.group(group).filter_map(|(_, of)| crate::steady::not_steady(&of.slices_operations_per_second)).collect();
    if let Some(reason) = unsteady.first() {
        warnings.push(said::not_steady(own(), unsteady.len(), lane.ok.len(), reason.clone()));
    }
    warnings
}
