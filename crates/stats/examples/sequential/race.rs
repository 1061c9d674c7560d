//! Simulated races: families of lanes whose noise is known, and what the library's rule says of them.

use crate::sample::Normal;
use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};
use stats::correlation::{self, Logs, ObservedCorrelation};
use stats::sequential::{self, Interval, Rule};

/// Rounds of every simulated race.
pub const ROUNDS: usize = LOOKS[LOOKS.len() - 1] as usize;

/// One lane's noise from round to round, on its logarithm; standard deviation 1.
#[derive(Clone, Copy)]
pub struct Noise {
    /// Lag-1 correlation of a first-order autoregression.
    pub lag1: f64,
    /// What comes new in each round is lognormal (shape 0.5): skewed where the rule expects symmetry.
    pub skewed: bool,
    /// Share of the variance that all results of a race have in common, lane by lane.
    pub shared: f64,
}

impl Noise {
    /// Independent and normal.
    pub const WHITE: Noise = Noise { lag1: 0.0, skewed: false, shared: 0.0 };

    /// Normal with this correlation.
    pub const fn correlated(lag1: f64) -> Noise {
        Noise { lag1, ..Noise::WHITE }
    }

    fn new_in_round(self, source: &mut Normal) -> f64 {
        if !self.skewed {
            return source.next();
        }
        let variance = 0.25_f64;
        let spread = (variance.exp_m1() * variance.exp()).sqrt();
        ((0.5 * source.next()).exp() - (variance / 2.0).exp()) / spread
    }

    fn lane(self, source: &mut Normal) -> Vec<f64> {
        let mut before = self.new_in_round(source);
        let beside = (1.0 - self.lag1 * self.lag1).sqrt();
        let mut next = || {
            before = self.lag1 * before + beside * self.new_in_round(source);
            before
        };
        (0..ROUNDS).map(|_| next()).collect()
    }
}

/// One result of a race: its lanes' logarithms and the sums that looks are made from.
pub struct Result {
    /// Per lane, one per round.
    pub lanes: Logs,
    pairs: Vec<Pair>,
}

/// The differences of two lanes and, per number of rounds, their |t| as if they were independent.
struct Pair {
    differences: Vec<f64>,
    t: [f64; ROUNDS + 1],
}

impl Result {
    /// From its lanes' logarithms.
    pub fn from_logs(lanes: Logs) -> Result {
        let couples = (0..lanes.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let pairs = couples
            .map(|(a, b)| {
                let differences: Vec<f64> = lanes[a].iter().zip(&lanes[b]).map(|(a, b)| a - b).collect();
                let mut t = [0.0; ROUNDS + 1];
                let (mut sum, mut squares) = (0.0, 0.0);
                for (round, difference) in differences.iter().enumerate() {
                    (sum, squares) = (sum + difference, squares + difference * difference);
                    let n = (round + 1) as f64;
                    let variance = (squares - sum * sum / n) / (n - 1.0).max(1.0);
                    t[round + 1] = (sum / n).abs() / (variance / n).sqrt();
                }
                Pair { differences, t }
            })
            .collect();
        Result { lanes, pairs }
    }

    /// The first rounds of all lanes.
    pub fn until(&self, rounds: usize) -> Logs {
        self.lanes.iter().map(|lane| lane[..rounds].to_vec()).collect()
    }

    /// The differences of the pair with this index after so many rounds.
    pub fn differences(&self, pair: usize, rounds: usize) -> &[f64] {
        &self.pairs[pair].differences[..rounds]
    }
}

/// A race of equal lanes with several results.
pub struct Race {
    /// Its results.
    pub results: Vec<Result>,
}

impl Race {
    /// `noises` are those of its results; `lanes` take part.
    pub fn new(source: &mut Normal, lanes: usize, noises: &[Noise]) -> Race {
        let common: Vec<Vec<f64>> = match noises.iter().find(|noise| noise.shared > 0.0) {
            Some(noise) => (0..lanes).map(|_| noise.lane(source)).collect(),
            None => Vec::new(),
        };
        let result = |noise: &Noise| {
            let lane = |index: usize| {
                let mut own = noise.lane(source);
                if let Some(common) = common.get(index).filter(|_| noise.shared > 0.0) {
                    let (of_own, of_common) = ((1.0 - noise.shared).sqrt(), noise.shared.sqrt());
                    own.iter_mut().zip(common).for_each(|(own, common)| *own = of_own * *own + of_common * common);
                }
                own
            };
            Result::from_logs((0..lanes).map(lane).collect())
        };
        Race { results: noises.iter().map(result).collect() }
    }

    /// The correlation that the library makes this result's intervals for after so many rounds of
    /// every result. All other results count as one workload's, measured in the same rounds.
    pub fn assumed(&self, result: usize, rounds: usize) -> f64 {
        let own = ObservedCorrelation::new([&self.results[result].until(rounds)]);
        let beside = self.results.iter().enumerate().filter(|(index, _)| *index != result);
        let others: Vec<Logs> = beside.map(|(_, of)| of.until(rounds)).collect();
        correlation::assumed(own, &ObservedCorrelation::new(&others).into_iter().collect::<Vec<_>>())
    }

    /// The intervals of those pairs of a result whose |t| is above `least`. The correlation is
    /// computed only where there is one.
    pub fn intervals(&self, result: usize, rounds: usize, rule: &Rule, least: f64) -> Vec<Interval> {
        let pairs: Vec<&Pair> = self.results[result].pairs.iter().filter(|pair| pair.t[rounds] > least).collect();
        if pairs.is_empty() {
            return Vec::new();
        }
        let assumed = self.assumed(result, rounds);
        pairs.iter().filter_map(|pair| sequential::interval(&pair.differences[..rounds], rule, assumed)).collect()
    }
}

/// The smallest |t| that a rule may call a difference: for rounds that are not correlated.
pub fn least(rule: &Rule) -> [f64; ROUNDS + 1] {
    let mut least = [f64::INFINITY; ROUNDS + 1];
    for (rounds, least) in least.iter_mut().enumerate().skip(2) {
        *least = rule.constant(rounds, 0.0);
    }
    least
}

/// The rule that decides at every look.
pub fn first_answer(lanes: usize, margin: f64) -> Rule {
    Rule { pairs: lanes * (lanes - 1) / 2, rounds: Rounds::Auto, margin, first_answer: true }
}

/// The rule with the width condition.
pub fn whole(lanes: usize, margin: f64) -> Rule {
    Rule { first_answer: false, ..first_answer(lanes, margin) }
}

/// Whether a verdict says that lanes differ.
pub fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

/// Runs `count` simulations, divided into parts that each have their own seed, on all CPUs; the
/// same seed gives the same figures on every machine. `one` adds the results of so many to a sum.
pub fn in_parts<T: Send>(
    seed: u64,
    count: usize,
    one: impl Fn(&mut Normal, usize) -> T + Sync,
    add: impl Fn(T, T) -> T,
) -> T {
    const PARTS: usize = 8;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let part = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if part >= PARTS {
                return done;
            }
            let mut source = Normal::new(seed.wrapping_mul(1_000_003).wrapping_add(part as u64));
            done.push((part, one(&mut source, count.div_ceil(PARTS))));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(PARTS);
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a simulation panicked")).collect()
    });
    all.sort_by_key(|(part, _)| *part);
    all.into_iter().map(|(_, sum)| sum).reduce(add).expect("there are parts")
}
