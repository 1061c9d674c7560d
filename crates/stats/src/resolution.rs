//! What a race can resolve in the time it has, before it begins.
//!
//! A difference is resolved when its interval excludes zero. Whether it is called `faster` is the
//! margin's matter too: a resolved difference that lies inside the margin is still a tie.

use crate::correlation::{self, Widening};
use crate::estimate;
use crate::evidence::Evidence;
use crate::pair;
use crate::sequential::{self, Rule};
use crate::series::Series;
use model::plan::{LOOKS, Rounds};
use model::record::Record;

/// The probability with which a difference is to be resolved (issue 5).
pub const PROBABILITY: f64 = 0.8;

/// The noise of one result: how two lanes that are alike differ from round to round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of ln(a/b) over rounds; 0.04 is 4 %.
    pub deviation: f64,
    /// Lag-1 correlation from round to round, in 0..=0.9.
    pub correlation: f64,
}

/// What is assumed of a machine that was never raced on. docs/method.md measured deviations of 2 to
/// 4 % on a shared virtual disk.
pub const UNKNOWN: Noise = Noise { deviation: 0.04, correlation: 0.0 };

/// What all workloads of a race have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contest {
    /// What decides.
    pub rule: Rule,
    /// Lanes that may be compared with each other.
    pub lanes: usize,
    /// Results (groups of all workloads): they tell each other how correlated rounds are.
    pub results: usize,
}

/// One workload as a planner sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Its noise; of several groups the one that matters.
    pub noise: Noise,
    /// Seconds that all lanes together take for a round.
    pub seconds_per_round: f64,
}

/// What one workload comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Rounds until the last look that the budget reaches; 0 where it reaches none.
    pub rounds: u32,
    /// The smallest difference that is then resolved with [`PROBABILITY`], as a share: 0.06 is 6 %.
    /// `None` where there is no look.
    pub difference: Option<f64>,
}

/// The smallest difference (a share: 0.06 is 6 %) that `rounds` rounds resolve with [`PROBABILITY`].
/// `None` for fewer than two rounds, or noise that is no number.
///
/// The mean of n rounds is off by σ√(A/n) and their deviation s² by χ²/ν about B σ² (A, B, ν of
/// [`correlation::widening`]), so the race is won where a noncentral t passes c/√(A/B), c being the
/// rule's constant. Its quantile is approximated as Johnson & Welch (1940) do: the noncentrality is
/// k (1 - 1/4ν) + z √(1 + k²/2ν). Tests compare it with simulated races.
pub fn smallest_difference(noise: Noise, rounds: u32, contest: &Contest) -> Option<f64> {
    let usable = noise.deviation.is_finite() && noise.deviation >= 0.0 && (0.0..=1.0).contains(&noise.correlation);
    if rounds < 2 || !usable {
        return None;
    }
    let n = rounds as usize;
    let assumed = correlation::expected(noise.correlation, n, contest.lanes, contest.results.saturating_sub(1));
    let Widening { factor, degrees, of_mean } = correlation::widening(n, noise.correlation);
    let k = contest.rule.constant(n, assumed) / factor;
    let noncentrality = k * (1.0 - 0.25 / degrees) + QUANTILE * (1.0 + k * k / (2.0 * degrees)).sqrt();
    let error_of_mean = noise.deviation * of_mean / f64::from(rounds).sqrt();
    let difference = (noncentrality * error_of_mean).exp_m1();
    difference.is_finite().then_some(difference)
}

/// The standard normal quantile of [`PROBABILITY`].
const QUANTILE: f64 = 0.841_621;

/// The rounds after which this difference (a share, above zero) is resolved with [`PROBABILITY`]: the
/// first look that does, or beyond the last look so many rounds, which `--rounds` asks for. `None`
/// where ten thousand would not do.
pub fn rounds_for(noise: Noise, difference: f64, contest: &Contest) -> Option<u32> {
    let resolves = |contest: &Contest, rounds: u32| {
        smallest_difference(noise, rounds, contest).is_some_and(|smallest| smallest <= difference)
    };
    if contest.rule.rounds == Rounds::Auto
        && let Some(look) = LOOKS.into_iter().find(|&look| resolves(contest, look))
    {
        return Some(look);
    }
    let fixed = Contest { rule: Rule { rounds: Rounds::Fixed(0), ..contest.rule }, ..*contest };
    let mut rounds = match contest.rule.rounds {
        Rounds::Auto => LOOKS[LOOKS.len() - 1] + 1,
        Rounds::Fixed(_) => 2,
    };
    while rounds <= 10_000 {
        if resolves(&fixed, rounds) {
            return Some(rounds);
        }
        // A step of a fiftieth loses nothing against what is known of the noise.
        rounds += if rounds < 100 { 1 } else { rounds / 50 };
    }
    None
}

/// What a budget of so many seconds of racing resolves, workload by workload in racing order.
///
/// As the conductor does: every workload gets an equal share of what is left and takes the looks that
/// fit, the first look even beyond its share; what remains goes to the cheapest next looks. A race
/// with a fixed number of rounds takes them whatever the budget.
pub fn plan(works: &[Work], budget_seconds: f64, contest: &Contest) -> Vec<Planned> {
    let cost = |work: &Work, from: u32, to: u32| f64::from(to - from) * work.seconds_per_round.max(0.0);
    let mut rounds = vec![0_u32; works.len()];
    let mut left = budget_seconds;
    match contest.rule.rounds {
        Rounds::Fixed(planned) => rounds.fill(planned),
        Rounds::Auto => {
            for (index, work) in works.iter().enumerate() {
                let share = left / (works.len() - index) as f64;
                let fits = |look: &&u32| cost(work, 0, **look) <= if **look == LOOKS[0] { left } else { share };
                rounds[index] = LOOKS.iter().take_while(fits).last().copied().unwrap_or(0);
                left -= cost(work, 0, rounds[index]);
            }
            loop {
                let next = |index: usize| {
                    let look = sequential::next_look(rounds[index], Rounds::Auto)?;
                    let cost = cost(&works[index], rounds[index], look);
                    (cost <= left).then_some((cost, index, look))
                };
                let cheapest = (0..works.len()).filter_map(next).min_by(|a, b| a.0.total_cmp(&b.0));
                let Some((cost, index, look)) = cheapest else { break };
                rounds[index] = look;
                left -= cost;
            }
        }
    }
    let planned =
        |(work, rounds): (&Work, u32)| Planned { rounds, difference: smallest_difference(work.noise, rounds, contest) };
    works.iter().zip(rounds).map(planned).collect()
}

/// The seconds of racing after which every workload resolves this difference (a share); `None` where
/// one never does.
pub fn seconds_for(works: &[Work], difference: f64, contest: &Contest) -> Option<f64> {
    let seconds =
        |work: &Work| Some(f64::from(rounds_for(work.noise, difference, contest)?) * work.seconds_per_round.max(0.0));
    works.iter().map(seconds).sum()
}

/// The noise of one result of an earlier race.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The workload.
    pub workload: String,
    /// The group.
    pub group: String,
    /// Its noise: the root mean square over all pairs of lanes, and the correlation that its intervals
    /// were made for.
    pub noise: Noise,
    /// Rounds that it was measured in.
    pub rounds: u32,
    /// Seconds of racing per round of the workload; `None` where the record does not say.
    pub seconds_per_round: Option<f64>,
}

/// The noise of every result of a race in which two lanes share at least three rounds.
pub fn measured(record: &Record) -> Vec<Measured> {
    let mut all = Vec::new();
    for workload in &record.header.plan.workloads {
        let series = Series::of(record, &workload.name);
        let groups = workload.groups();
        let standing = sequential::standing(series.done.len() as u32, record.header.plan.rounds, record.end);
        let evidence = Evidence::of(record, &workload.name, &groups, &series, standing);
        for group in groups {
            let metric = crate::judge::primary_metric(&series, &group);
            let lanes: Vec<_> = series.lanes.iter().map(|lane| lane.figures(&group, &metric)).collect();
            let couples = (0..lanes.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
            let differences = couples.map(|(a, b)| estimate::paired_differences(&lanes[a], &lanes[b]));
            let moments: Vec<_> =
                differences.filter_map(|of| estimate::moments(&of)).filter(|of| of.count >= 3).collect();
            let rounds = moments.iter().map(|of| of.count as u32).max();
            let squares = moments.iter().map(|of| of.deviation * of.deviation);
            let deviation = (squares.sum::<f64>() / moments.len().max(1) as f64).sqrt();
            if let Some(rounds) = rounds.filter(|_| deviation.is_finite()) {
                all.push(Measured {
                    workload: workload.name.clone(),
                    noise: Noise { deviation, correlation: evidence.correlation(&group) },
                    group,
                    rounds,
                    seconds_per_round: pair::seconds_per_round(&series),
                });
            }
        }
    }
    all
}
