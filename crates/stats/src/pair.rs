//! One pair of lanes in one result: their ratio and the verdict.

use crate::comparable::comparable;
use crate::estimate;
use crate::failed;
use crate::forecast;
use crate::marks;
use crate::sequential::{self, Interval, Rule, Standing};
use crate::series::{LaneSeries, Series};
use crate::statements::{name, pair as statement, text};
use model::Mark;
use model::Sentence;
use model::findings::{Estimate, Limit, Pair, Undecided, Verdict};
use model::plan::{LOOKS, Rounds};
use model::record::EndOutcome;
use model::sentence::{Value, Weight};
use model::trial::Group;
use model::workload::{Kind, Workload};
use std::collections::BTreeSet;

/// So many operations in a slice show a lane's rate to within a few percent (one more or less is 5 %).
/// Chosen; it serves a remedy alone.
const OPERATIONS_IN_A_SLICE: f64 = 20.0;
/// An interval that reaches further than this factor to either side says nothing. Chosen: what differs by a hundred is seen
/// without statistics.
const SAYS_NOTHING: f64 = 100.0;
/// The longest slice that a suite may ask for.
const LONGEST_SLICE_SECONDS: f64 = 3600.0;

/// What the pairs of one result share.
pub struct Setting<'a> {
    /// The trials that count.
    pub series: &'a Series<'a>,
    /// What was raced.
    pub workload: &'a Workload,
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
    /// What limited the result, by the trials of this look.
    pub limit: Limit,
    /// At the device's limit a difference that the pair's own rounds show stays one: see
    /// `Limited::keeps_differences`.
    pub keeps_differences: bool,
    /// What was measured never passed the disk.
    pub missed_the_disk: bool,
    /// Rounds in which every lane stood still: [`Series::stalled`].
    pub stalled: &'a BTreeSet<u32>,
    /// The group reads.
    pub reads: bool,
    /// How the race ended; `None`: it crashed, or goes on, which [`crate::level::still_running`] tells apart.
    pub end: Option<EndOutcome>,
    /// A budget may end the race before its last round.
    pub has_budget: bool,
    /// Seconds of racing per round of this workload.
    pub seconds_per_round: Option<f64>,
}

/// A pair with what a reader should know about its rounds.
pub struct Judged {
    /// The pair.
    pub pair: Pair,
    /// Correlated rounds.
    pub warning: Option<Sentence>,
    /// What the verdict was made of, where the two may be ranked; `None`: they may not, or there is no ratio.
    pub interval: Option<Interval>,
}

/// Lanes that did nothing in some rounds.
struct Stillness {
    /// Why there is no ratio.
    why: Sentence,
    /// One of them in more than half of its rounds: no burst did that, and more rounds would not help.
    mostly: bool,
}

impl Setting<'_> {
    /// A pair as it is told, and its interval. Of another tool's work its ratio is that of the lanes' means: a run of which nobody
    /// knows when it was done belongs to none of the other lane's.
    pub fn told(&self, of: Judged, estimates: &[Estimate]) -> (Pair, Option<Interval>) {
        let Judged { mut pair, interval, .. } = of;
        if self.workload.traits().is_foreign() {
            let mean = |lane: &str| {
                let of = estimates.iter().find(|of| of.lane == lane && of.failure.is_none())?;
                Some(of.mean).filter(|mean| mean.is_finite() && *mean > 0.0)
            };
            let better = |(a, b): (f64, f64)| if self.higher_is_better { a / b } else { b / a };
            (pair.ratio, pair.low, pair.high) = (mean(&pair.a).zip(mean(&pair.b)).map(better), None, None);
        }
        (pair, interval)
    }

    /// Judges lane `a` against lane `b`.
    pub fn judge(&self, a: &LaneSeries, b: &LaneSeries) -> Judged {
        let mut pair = Pair {
            a: a.lane.name.clone(),
            b: b.lane.name.clone(),
            ratio: None,
            low: None,
            high: None,
            verdict: Verdict::None,
            undecided: None,
            why: None,
            minutes_to_settle: None,
            rounds_to_settle: None,
            over_race: false,
            at_least: None,
        };
        if let Some((lane, reason)) = [a, b].iter().find_map(|lane| Some((&lane.lane.name, lane.lacks(self.group)?))) {
            pair.why = Some(statement::lane_reason(name(lane), reason));
            return Judged { pair, warning: None, interval: None };
        }
        let differences = self.differences(a, b);
        // One burst of noise in an early round does not end the race.
        let before = matches!(self.standing, Standing::Before { .. });
        let more_may_come = !matches!(self.standing, Standing::AtLook { last: true, .. });
        let behind = self.cannot_sustain(a, b).map(|why| (why, before));
        let without = behind.or_else(|| {
            let Stillness { why, mostly } = self.stood_still(a, b, differences.is_empty())?;
            Some((why, before || (more_may_come && !mostly)))
        });
        if let Some((why, early)) = without {
            pair.verdict = if early { Verdict::Undecided } else { Verdict::None };
            pair.undecided = early.then(|| self.because(a, b));
            pair.why = Some(why);
            return Judged { pair, warning: None, interval: None };
        }
        let Some(interval) =
            sequential::interval(&differences, &self.rule, self.correlation).filter(|of| of.mean.is_finite())
        else {
            pair.why = Some(statement::shares_no_round(name(&pair.a), name(&pair.b)));
            return Judged { pair, warning: None, interval: None };
        };
        pair.ratio = finite(interval.mean.exp());
        // Few rounds that scatter have intervals of any length, and then they say nothing.
        if interval.half <= says_something()
            && let (Some(low), Some(high)) =
                (finite((interval.mean - interval.half).exp()), finite((interval.mean + interval.half).exp()))
        {
            (pair.low, pair.high) = (Some(low), Some(high));
        }
        let warning = correlation_words(&pair, &interval);
        let ranked = match comparable(a.lane, b.lane) {
            Err(difference) => {
                pair.why = Some(difference);
                None
            }
            Ok(beside) => {
                self.decide(&mut pair, &interval, beside);
                pair.undecided = (pair.verdict == Verdict::Undecided).then(|| self.because(a, b));
                Some(interval)
            }
        };
        Judged { pair, warning, interval: ranked }
    }

    /// ln(a/b) over the rounds of this look, in time order; of times ln(b/a), so that above zero
    /// `a` always does better.
    fn differences(&self, a: &LaneSeries, b: &LaneSeries) -> Vec<f64> {
        let last = self.last_round();
        let of = |lane: &LaneSeries| {
            let mut figures = lane.figures(self.group, self.metric);
            figures.retain(|&(round, _)| round <= last);
            figures
        };
        let (a, b) = if self.higher_is_better { (a, b) } else { (b, a) };
        estimate::paired_differences(&of(a), &of(b))
    }

    /// The last round of this look.
    fn last_round(&self) -> u32 {
        self.series.last_round(self.standing)
    }

    /// Why there is no ratio: a lane did nothing in some rounds. Those are an outcome, and the worst one;
    /// without them the lane would be judged on its good rounds. A round in which every lane did nothing says
    /// nothing of these two, unless there is no other (`all`). `None`: none stood still.
    fn stood_still(&self, a: &LaneSeries, b: &LaneSeries, all: bool) -> Option<Stillness> {
        let last = self.last_round();
        let count = |lane: &LaneSeries| {
            let rounds = lane.stood_still(self.group, self.metric).into_iter();
            rounds.filter(|round| *round <= last && (all || !self.stalled.contains(round))).count()
        };
        let still: Vec<(&LaneSeries, usize)> =
            [a, b].into_iter().map(|lane| (lane, count(lane))).filter(|&(_, count)| count > 0).collect();
        let rounds = |lane: &LaneSeries| lane.until(last).count();
        if still.is_empty() {
            return None;
        }
        let each = still
            .iter()
            .map(|&(lane, count)| statement::stood_still(name(&lane.lane.name), count, rounds(lane)).into());
        let lanes: Vec<&LaneSeries> = still.iter().map(|(lane, _)| *lane).collect();
        let why = statement::nothing_to_compare(Value::List(each.collect()), self.remedy(&lanes));
        Some(Stillness { why, mostly: still.iter().any(|&(lane, count)| 2 * count > rounds(lane)) })
    }

    /// What makes lanes that stood still do something in each round.
    fn remedy(&self, lanes: &[&LaneSeries]) -> Sentence {
        let Kind::Io(io) = &self.workload.kind else {
            return statement::more_time();
        };
        let each = |lane: &LaneSeries| {
            let sum = |of: fn(&Group) -> f64| lane.group(self.group).map(|(_, group)| of(group)).sum::<f64>();
            sum(|group| group.seconds) / sum(|group| group.operations as f64)
        };
        let needed = lanes.iter().map(|lane| OPERATIONS_IN_A_SLICE * each(lane)).filter(|seconds| seconds.is_finite());
        let seconds = needed.fold(4.0 * io.slice_seconds, f64::max).min(LONGEST_SLICE_SECONDS);
        // In tenths, and from ten on in whole seconds: what a person would type.
        let unit = if seconds < 10.0 { 0.1 } else { 1.0 };
        let seconds = (seconds / unit - 1e-6).ceil() * unit;
        statement::longer_slices(name(format!("--set {}.slice_seconds={seconds:.1}", self.workload.name)))
    }

    /// Why neither lane's figures may be compared: an open loop whose backlog grew measured the
    /// length of the window, not a latency. `None`: both kept up in at least half of their trials.
    fn cannot_sustain(&self, a: &LaneSeries, b: &LaneSeries) -> Option<Sentence> {
        let behind: Vec<Value> = [a, b]
            .iter()
            .filter_map(|lane| {
                let last = self.last_round();
                let (count, of) = (flagged(lane, Mark::CannotSustainRate, last), lane.until(last).count());
                mostly_behind(lane, last).then(|| statement::trials_behind(name(&lane.lane.name), count, of).into())
            })
            .collect();
        (!behind.is_empty()).then(|| statement::cannot_sustain(Value::List(behind)))
    }

    /// Why these two are undecided. What ended the race early is named before the noise of the rounds that there are.
    fn because(&self, a: &LaneSeries, b: &LaneSeries) -> Undecided {
        let done = self.series.done.len() as u32;
        let early = matches!(self.standing, Standing::Before { .. });
        let rounds_left = sequential::next_look(done, self.rule.rounds).is_some();
        let last = self.last_round();
        let (flags, trials) = [a, b].iter().fold((0, 0), |(flags, trials), lane| {
            (flags + flagged(lane, Mark::ForeignNoise, last), trials + lane.until(last).count())
        });
        let enough = match self.rule.rounds {
            Rounds::Auto => !early,
            Rounds::Fixed(_) => done >= LOOKS[0],
        };
        match self.end {
            None | Some(EndOutcome::Interrupted | EndOutcome::Failed) if rounds_left => Undecided::Interrupted,
            _ if enough && 2 * flags > trials => Undecided::MachineBusy,
            Some(EndOutcome::Complete | EndOutcome::Unexplained) if rounds_left && self.has_budget => {
                Undecided::OutOfBudget
            }
            _ if !enough => Undecided::TooFewRounds,
            _ => Undecided::Noise,
        }
    }

    fn decide(&self, pair: &mut Pair, interval: &Interval, mut beside: Vec<Sentence>) {
        let (mut verdict, mut why) = self.by_interval(interval);
        match self.limit {
            Limit::Harness => (verdict, why) = (Verdict::None, Some(statement::engine_was_measured())),
            // A tie stays one, but says what made it: it would not hold on a faster disk.
            // One round is none: that something stood at the limit once is said, and ranks nobody.
            Limit::Device if interval.count < 2 => {
                (verdict, why) = (Verdict::None, Some(statement::one_round()));
                beside.insert(0, statement::device_was_measured());
            }
            // A ceiling that scatters hits both lanes in the same rounds, and cannot have made this.
            Limit::Device if self.keeps_differences && self.rule.shows_difference(interval.mean, interval.half) => {
                beside.insert(0, statement::both_near_the_disk());
            }
            Limit::Device => {
                why = Some(statement::device_was_measured());
                if verdict != Verdict::Tie {
                    verdict = Verdict::None;
                }
            }
            Limit::Cache if self.missed_the_disk => {
                (verdict, why) = (Verdict::None, Some(statement::missed_the_disk()))
            }
            Limit::Cache if self.reads => beside.insert(0, statement::cache_not_device()),
            Limit::Cache => beside.insert(0, statement::cache_took_not_device()),
            _ => {}
        }
        if verdict == Verdict::Undecided {
            pair.rounds_to_settle = forecast::rounds_to_settle(interval, self.series.done.len() as u32, &self.rule);
            pair.minutes_to_settle = pair.rounds_to_settle.and_then(|rounds| self.minutes_until(rounds));
        }
        pair.verdict = verdict;
        let all: Vec<Value> = why.into_iter().chain(beside).map(Value::from).collect();
        pair.why = (!all.is_empty()).then(|| statement::clauses(Value::Clauses(all)));
    }

    fn by_interval(&self, interval: &Interval) -> (Verdict, Option<Sentence>) {
        let done = self.series.done.len();
        let last = match (self.standing, self.rule.rounds) {
            (Standing::Before { .. }, Rounds::Fixed(planned)) => {
                return (Verdict::Undecided, Some(statement::rounds_done_of(done, planned)));
            }
            _ if interval.count < 2 => return (Verdict::Undecided, Some(statement::one_round())),
            (Standing::AtLook { last, .. }, _) => last,
            (Standing::Before { first }, Rounds::Auto) => {
                return (Verdict::Undecided, Some(statement::rounds_done(done, first)));
            }
        };
        let verdict = self.rule.verdict(interval.mean, interval.half, last);
        let why = (verdict == Verdict::Undecided).then(|| {
            if interval.half > says_something() {
                return statement::scatter_too_much(interval.count);
            }
            let percent = |log: f64| Value::Signed(100.0 * log.clamp(-50.0, 50.0).exp_m1(), 0);
            let (low, high) = (interval.mean - interval.half, interval.mean + interval.half);
            statement::difference_between(interval.count, percent(low), percent(high))
        });
        (verdict, why)
    }

    fn minutes_until(&self, rounds: u32) -> Option<f64> {
        let more = rounds - self.series.done.len() as u32;
        finite(f64::from(more) * self.seconds_per_round? / 60.0).filter(|&minutes| minutes > 0.0)
    }
}

/// The half-width, on logarithms, up to which an interval is worth showing.
pub(crate) fn says_something() -> f64 {
    SAYS_NOTHING.ln()
}

/// Template of every warning about correlated rounds.
const CORRELATED: &str = "correlated";

/// Whether a warning is about correlated rounds.
pub fn is_about_correlation(warning: &Sentence) -> bool {
    warning.said().is_some_and(|said| said.id == CORRELATED)
}

fn correlation_words(pair: &Pair, interval: &Interval) -> Option<Sentence> {
    let of = interval.correlation;
    let number = Value::Number;
    of.notable.then(|| {
        let (worth, wider) = (number(of.effective_rounds, 1), number(of.wider, 1));
        statement::correlated(name(&pair.a), name(&pair.b), number(of.lag1, 2), interval.count, worth, wider)
            .weigh(Weight::Detail)
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

/// Trials up to this round that count and carry this mark.
pub fn flagged(lane: &LaneSeries, mark: Mark, last: u32) -> usize {
    lane.until(last).filter(|trial| trial.flags.iter().any(|flag| flag.is(mark))).count()
}

/// Whether a lane fell behind the rate in more than half of its trials up to this round. In fewer it was
/// a burst of noise that made the backlog grow, which is part of the interval.
pub fn mostly_behind(lane: &LaneSeries, last: u32) -> bool {
    2 * flagged(lane, Mark::CannotSustainRate, last) > lane.until(last).count()
}

/// Warnings about whole trials of all lanes: failed rounds, void ones, marks.
pub fn trial_warnings(lanes: &[LaneSeries]) -> Vec<Sentence> {
    let mut warnings = Vec::new();
    for lane in lanes {
        if let (Some(trial), false) = (lane.failed.last(), lane.ok.is_empty()) {
            let all = lane.failed.len() + lane.ok.len();
            let reason = failed::reason(trial);
            let failed = statement::failed_in_rounds(name(&lane.lane.name), lane.failed.len(), all, reason);
            warnings.push(failed.weigh(Weight::Choice));
        }
    }
    for lane in lanes {
        if let (Some(trial), false) = (lane.void.last(), lane.ok.is_empty()) {
            let all = lane.void.len() + lane.ok.len();
            let reason = failed::reason(trial);
            warnings.push(statement::void_trials(name(&lane.lane.name), lane.void.len(), all, reason));
        }
    }
    // Unsteady slices are told group by group, with their figures.
    let told = |lane: &LaneSeries| lane.ok.iter().any(|trial| trial.groups.iter().any(|of| unsteady(of).is_some()));
    warnings.extend(marks::sentences(lanes, told));
    warnings
}

/// Why a trial's group is not steady.
fn unsteady(of: &Group) -> Option<Sentence> {
    crate::steady::settled(of)?.unsteady
}

/// Warnings about a lane's figures in one group: unusable, missing, unsteady. What every lane did in a round
/// (`stalled`) is told once, of all of them.
pub fn lane_warnings(lane: &LaneSeries, group: &str, metric: &str, stalled: &BTreeSet<u32>) -> Vec<Sentence> {
    let who = || name(&lane.lane.name);
    let mut warnings = Vec::new();
    let figures = lane.figures(group, metric);
    let still = lane.stood_still(group, metric);
    // One that always did is told with its estimate.
    let own = still.iter().filter(|round| !stalled.contains(round)).count();
    if own > 0 && still.len() < lane.ok.len() {
        let (rounds, of) = (own, lane.ok.len());
        warnings.push(match metric.ends_with("_per_second") {
            true => statement::stood_still_rate(who(), rounds, of),
            false => statement::stood_still_latency(who(), rounds, of),
        });
    }
    let broken = |&&(round, figure): &&(u32, f64)| !estimate::usable(figure) && !still.contains(&round);
    let unusable = figures.iter().filter(broken).count();
    if unusable > 0 {
        warnings.push(statement::figures_left_out(who(), unusable, figures.len()));
    }
    let missing = lane.ok.len() - figures.len();
    // Where all are missing, the estimate says why.
    if missing > 0 && lane.lacks(group).is_none() {
        warnings.push(statement::figures_missing(who(), missing, lane.ok.len(), name(metric), text(group)));
    }
    let (trials, share) = lane.cut(group);
    if trials > 0 && metric.ends_with("_per_second") {
        let cut = statement::warm_up_cut(who(), trials, lane.ok.len(), Value::Share(share));
        warnings.push(cut.weigh(Weight::Detail));
    }
    let unsteady: Vec<_> = lane.group(group).filter_map(|(_, of)| unsteady(of)).collect();
    if let Some(reason) = unsteady.first() {
        let (some, all) = (unsteady.len(), lane.ok.len());
        let weight = if 2 * some > all { Weight::Figures } else { Weight::Detail };
        warnings.push(statement::not_steady(who(), some, all, reason.clone()).weigh(weight));
    }
    warnings
}
