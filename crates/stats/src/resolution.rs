//! What a race can resolve in the time it has, before it begins.
//!
//! A difference is resolved when its interval excludes zero. Whether it is called `faster` is the
//! margin's matter too: a resolved difference that lies inside the margin is still a tie.

use crate::correlation::{self, Widening};
use crate::estimate;
use crate::evidence::Evidence;
use crate::forecast;
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

/// What is assumed of a machine that was never raced on. docs/simulation.md measured deviations of 2 to
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
    let of_race = correlation::expected(noise.correlation, n, contest.lanes, contest.results.saturating_sub(1));
    let assumed = of_race + SHOWN_BY_PAIRS * noise.correlation * (1.0 - 6.0 / f64::from(rounds)).max(0.0);
    let Widening { factor, degrees, of_mean } = correlation::widening(n, noise.correlation);
    let k = contest.rule.constant(n, assumed) / factor;
    let noncentrality = k * (1.0 - 0.25 / degrees) + QUANTILE * (1.0 + k * k / (2.0 * degrees)).sqrt();
    let error_of_mean = noise.deviation * of_mean / f64::from(rounds).sqrt();
    let difference = (noncentrality * error_of_mean).exp_m1();
    difference.is_finite().then_some(difference)
}

/// Where rounds are correlated some pairs show more of it than the race does, and their intervals are
/// made for that. Fitted to simulated races at 0.3 (`tests/sequential.rs` and the example's last table).
const SHOWN_BY_PAIRS: f64 = 0.35;

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
    let least = match contest.rule.rounds {
        Rounds::Auto => LOOKS[LOOKS.len() - 1] + 1,
        Rounds::Fixed(_) => 2,
    };
    forecast::first_that(least, MOST_ROUNDS, |rounds| resolves(&fixed, rounds))
}

/// What needs more is called out of reach.
const MOST_ROUNDS: u32 = 10_000;

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

/// As [`plan`], of whoever asks for as many rounds as the time has room for: an adaptive race ends after its last look, and
/// what the time is enough for beyond it takes `--rounds`.
pub fn most(works: &[Work], budget_seconds: f64, contest: &Contest) -> Vec<Planned> {
    let adaptive = plan(works, budget_seconds, contest);
    let round: f64 = works.iter().map(|work| work.seconds_per_round.max(0.0)).sum();
    let rounds = if round > 0.0 { (budget_seconds / round + 1e-9) as u32 } else { 0 };
    if contest.rule.rounds != Rounds::Auto || rounds <= LOOKS[LOOKS.len() - 1] {
        return adaptive;
    }
    plan(works, budget_seconds, &with_rounds(rounds, contest))
}

/// The race that makes so many rounds: with `--rounds` where an adaptive one makes fewer.
pub fn of_rounds(rounds: u32, contest: &Contest) -> Contest {
    match rounds > LOOKS[LOOKS.len() - 1] {
        true => with_rounds(rounds, contest),
        false => *contest,
    }
}

/// The same race with so many rounds (`--rounds`).
fn with_rounds(rounds: u32, contest: &Contest) -> Contest {
    Contest { rule: Rule { rounds: Rounds::Fixed(rounds), ..contest.rule }, ..*contest }
}

/// What a difference takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds of racing.
    pub seconds: f64,
    /// The rounds to ask for with `--rounds`, where an adaptive race makes fewer.
    pub rounds: Option<u32>,
}

/// What it takes until every workload resolves this difference (a share); `None` where one never does.
pub fn cost_of(works: &[Work], difference: f64, contest: &Contest) -> Option<Cost> {
    let needed: Option<Vec<u32>> = works.iter().map(|work| rounds_for(work.noise, difference, contest)).collect();
    let needed = needed?;
    let seconds = |rounds: &dyn Fn(usize) -> u32| -> f64 {
        let of = |(at, work): (usize, &Work)| f64::from(rounds(at)) * work.seconds_per_round.max(0.0);
        works.iter().enumerate().map(of).sum()
    };
    let most = needed.iter().copied().max().unwrap_or(0);
    // All workloads of one race get the rounds that it is given.
    if contest.rule.rounds == Rounds::Auto && most > LOOKS[LOOKS.len() - 1] {
        return Some(Cost { seconds: seconds(&|_| most), rounds: Some(most) });
    }
    Some(Cost { seconds: seconds(&|at| needed[at]), rounds: None })
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
        let series = Series::new(record, &workload.name);
        let groups = workload.groups();
        let standing = sequential::standing(series.done.len() as u32, record.header.plan.rounds, record.end);
        let evidence = Evidence::new(record, &workload.name, &groups, &series, standing);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(rounds: Rounds, first_answer: bool) -> Contest {
        let rule = Rule { pairs: 3, rounds, margin: 0.05, first_answer };
        Contest { rule, lanes: 3, results: 8 }
    }

    fn noise(deviation: f64) -> Noise {
        Noise { deviation, correlation: 0.0 }
    }

    #[test]
    fn more_rounds_less_noise_and_fewer_pairs_resolve_smaller_differences() {
        let of = |deviation, rounds, contest: &Contest| smallest_difference(noise(deviation), rounds, contest).unwrap();
        let whole = contest(Rounds::Auto, false);
        assert!(of(0.04, 20, &whole) < of(0.04, 10, &whole) && of(0.04, 10, &whole) < of(0.04, 6, &whole));
        assert!(of(0.02, 10, &whole) < of(0.04, 10, &whole));
        assert!(of(0.04, 10, &whole) < of(0.04, 10, &contest(Rounds::Auto, true)), "every look may decide: wider");
        let one = Contest { rule: Rule { pairs: 1, ..whole.rule }, ..whole };
        assert!(of(0.04, 10, &one) < of(0.04, 10, &whole));
        let correlated = Noise { correlation: 0.3, ..noise(0.04) };
        assert!(smallest_difference(correlated, 10, &whole).unwrap() > of(0.04, 10, &whole));
        assert_eq!(of(0.0, 6, &whole), 0.0);
        assert_eq!(smallest_difference(noise(0.04), 1, &whole), None);
        assert_eq!(smallest_difference(noise(f64::NAN), 6, &whole), None);
        assert_eq!(smallest_difference(noise(1e6), 6, &whole), None, "no number holds it");
    }

    #[test]
    fn the_rounds_for_a_difference_are_the_first_that_resolve_it() {
        let whole = contest(Rounds::Auto, false);
        for difference in [0.005, 0.03, 0.06, 0.12, 0.5] {
            let rounds = rounds_for(noise(0.04), difference, &whole).unwrap();
            assert!(smallest_difference(noise(0.04), rounds, &whole).unwrap() <= difference);
            let looks = LOOKS.into_iter().filter(|&look| look < rounds);
            assert!(looks.into_iter().all(|look| smallest_difference(noise(0.04), look, &whole).unwrap() > difference));
            assert!(rounds > 20 || LOOKS.contains(&rounds));
        }
        assert!(rounds_for(noise(0.04), 0.005, &whole).unwrap() > 100);
        assert_eq!(rounds_for(noise(0.04), 0.0, &whole), None);
        assert!(rounds_for(noise(0.04), 0.12, &contest(Rounds::Fixed(3), false)).unwrap() < 14);
    }

    #[test]
    fn a_budget_buys_first_looks_then_shares_then_the_cheapest() {
        let whole = contest(Rounds::Auto, false);
        let works = [(0.04, 10.0), (0.04, 1.0), (0.08, 2.0)]
            .map(|(deviation, seconds_per_round)| Work { noise: noise(deviation), seconds_per_round });
        let rounds = |budget: f64| plan(&works, budget, &whole).iter().map(|of| of.rounds).collect::<Vec<_>>();
        let spent =
            |rounds: &[u32]| rounds.iter().zip(&works).map(|(n, of)| f64::from(*n) * of.seconds_per_round).sum::<f64>();
        assert_eq!(rounds(1e9), [20, 20, 20]);
        assert_eq!(rounds(59.0), [0, 20, 14], "the first look costs 60 s; the others take what there is");
        assert_eq!(rounds(60.0), [6, 0, 0]);
        assert_eq!(rounds(0.0), [0, 0, 0]);
        for budget in [70.0, 100.0, 150.0, 250.0] {
            let rounds = rounds(budget);
            assert!(spent(&rounds) <= budget && rounds[0] >= 6, "{budget}: {rounds:?}");
        }
        let planned = plan(&works, 70.0, &whole);
        assert_eq!(planned[0].difference, smallest_difference(works[0].noise, planned[0].rounds, &whole));
        assert_eq!(plan(&works, 59.0, &whole)[0].difference, None);
        let fixed = plan(&works, 1.0, &contest(Rounds::Fixed(5), false));
        assert!(fixed.iter().all(|of| of.rounds == 5 && of.difference.is_some()));
    }

    #[test]
    fn the_seconds_for_a_difference_are_those_of_all_workloads() {
        let whole = contest(Rounds::Auto, false);
        let works =
            [Work { noise: noise(0.04), seconds_per_round: 3.0 }, Work { noise: noise(0.02), seconds_per_round: 5.0 }];
        let by_hand = f64::from(rounds_for(noise(0.04), 0.06, &whole).unwrap()) * 3.0
            + f64::from(rounds_for(noise(0.02), 0.06, &whole).unwrap()) * 5.0;
        assert_eq!(cost_of(&works, 0.06, &whole), Some(Cost { seconds: by_hand, rounds: None }));
        assert_eq!(cost_of(&works, 0.0, &whole), None);
        let budget = by_hand;
        assert!(plan(&works, budget * 1.5, &whole).iter().all(|of| of.difference.unwrap() <= 0.06));
        // What takes more rounds than an adaptive race makes is found in the time that is said, with those rounds, and
        // not a moment before.
        let cost = cost_of(&works, 0.01, &whole).unwrap();
        let rounds = cost.rounds.unwrap();
        assert!(rounds > 20 && cost.seconds == f64::from(rounds) * 8.0 && cost.seconds > by_hand, "{cost:?}");
        let finds = |budget: f64| most(&works, budget, &whole).iter().all(|of| of.difference.unwrap() <= 0.01);
        assert!(finds(cost.seconds) && !finds(cost.seconds - 8.0));
        assert!(plan(&works, cost.seconds, &whole).iter().any(|of| of.difference.unwrap() > 0.01), "twenty rounds");
        assert_eq!(most(&works, budget, &whole), plan(&works, budget, &whole));
    }
}
