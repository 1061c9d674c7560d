//! Noise that is correlated from round to round: what it does to an interval, how much of it a race
//! shows, and how much is taken for granted until the race shows otherwise.
//!
//! A few rounds cannot show a correlation of 0.3 (six rounds of one pair know r to within ±0.8), but
//! equal lanes with noise correlated so are called different three times as often as promised. So
//! 0.3 is assumed at first, and what the series of a race show together replaces it little by little.

use crate::estimate;

/// The correlation that is assumed where nothing is known: the verdicts must hold for it (issue 5).
pub const PRIOR: f64 = 0.3;

/// How far from [`PRIOR`] races are taken to lie (standard deviation). Chosen by
/// `cargo run --release -p stats --example sequential`: with 0.1 races with white noise keep wide
/// intervals for long, with 0.2 the scatter of the estimate itself costs 10 % of the looks' p; 0.15
/// costs 4 % and leaves the constants for white noise nearly as they are.
const PRIOR_SPREAD: f64 = 0.15;

/// How far the results of one race are taken to lie from each other (standard deviation): noise
/// that lasts for rounds in one workload need not in another, and what the others show tells about
/// this one only to within it. An assumption. Source: the same example; where one result of ten is
/// correlated at 0.3 and the others are not, three lanes get a false `faster` in 13 % of families with
/// 0, 10 % with 0.1 and under 8 % with 0.2, which costs intervals 4 % of their width.
const SPREAD_IN_RACE: f64 = 0.2;

/// Estimates above it do not exist: it stands for a trend.
pub const HIGHEST: f64 = 0.9;

/// What correlated rounds do to the interval of a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widening {
    /// What s/√n is multiplied by; 1 for independent rounds.
    pub factor: f64,
    /// Degrees of freedom of s; n - 1 for independent rounds.
    pub degrees: f64,
    /// What σ/√n is multiplied by to give the mean's standard error; 1 for independent rounds.
    pub of_mean: f64,
}

/// The widening for `rounds` ≥ 2 with a first-order autoregression of this lag-1 correlation (in
/// 0..=0.9).
///
/// With Σ the correlation matrix (ρ^|t-u|) and M = I - 11'/n: n·Var(mean)/σ² = 1'Σ1/n, E s² =
/// σ² tr(MΣ)/(n-1), and s² is close to χ² with tr(MΣ)²/tr(MΣMΣ) degrees (Satterthwaite 1946). The
/// sums are geometric series.
pub fn widening(rounds: usize, lag1: f64) -> Widening {
    let n = rounds.max(2) as f64;
    let r = lag1.clamp(0.0, HIGHEST);
    let power = r.powf(n);
    let beside = 1.0 - r;
    // The sum of Σ over n, of its squares, and of the squares of its rows' sums.
    let of_mean = (1.0 + r) / beside - 2.0 * r * (1.0 - power) / (n * beside * beside);
    let q = r * r;
    let squares = n * (1.0 + q) / (1.0 - q) - 2.0 * q * (1.0 - power * power) / ((1.0 - q) * (1.0 - q));
    let ends = r * (1.0 - power) / beside;
    let ends_squared = q * (1.0 - power * power) / (1.0 - q);
    let rows = n * (1.0 + r) * (1.0 + r) - 4.0 * (1.0 + r) * ends + 2.0 * ends_squared + 2.0 * n * r * power;
    let rows = rows / (beside * beside);
    let left = n - of_mean;
    let left_squared = squares - 2.0 / n * rows + of_mean * of_mean;
    let factor = (of_mean * (n - 1.0) / left).sqrt();
    Widening { factor, degrees: left * left / left_squared, of_mean: of_mean.sqrt() }
}

/// What some series of one length show of their correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedCorrelation {
    /// Rounds of each series.
    pub rounds: usize,
    /// Mean lag-1 autocorrelation as it is computed, with its bias.
    pub lag1: f64,
    /// Independent series that they are worth.
    pub contrasts: f64,
}

/// One result's figures as logarithms: per lane, one per round, the same rounds in all lanes.
pub type Logs = Vec<Vec<f64>>;

impl ObservedCorrelation {
    /// What the results of one workload, measured in the same rounds, show; `None` where no two lanes
    /// have five rounds.
    ///
    /// Series are the differences of pairs of lanes, which the verdicts rest on. K lanes give K - 1
    /// independent ones; results that share bursts of noise are worth less: correlated series with
    /// the matrix R scatter their mean r1 as S²/ΣR² independent ones do.
    pub fn new<'a>(results: impl IntoIterator<Item = &'a Logs>) -> Option<ObservedCorrelation> {
        let mut results: Vec<&Logs> = results.into_iter().collect();
        let rounds = results.first()?.first()?.len();
        results.retain(|of| of.len() >= 2 && of.iter().all(|lane| lane.len() == rounds));
        if rounds < FEWEST_ROUNDS || results.is_empty() {
            return None;
        }
        let (mut sum, mut series) = (0.0, Vec::new());
        for lanes in &results {
            for a in 1..lanes.len() {
                for b in 0..a {
                    let difference: Vec<f64> = lanes[a].iter().zip(&lanes[b]).map(|(a, b)| a - b).collect();
                    let Some(lag1) = estimate::lag1(&difference) else { continue };
                    sum += lag1;
                    series.push(of_length_one(difference));
                }
            }
        }
        if series.is_empty() {
            return None;
        }
        let count = series.len() as f64;
        let independent = |lanes: &&Logs| (lanes.len() - 1) as f64;
        let most: f64 = results.iter().map(independent).sum();
        let least = results.iter().map(independent).fold(0.0, f64::max);
        // White noise of n rounds gives each R² 1/(n-1).
        let squares = squared_correlations(&series, rounds);
        let by_chance = 1.0 / (rounds - 1) as f64;
        let between = (squares - count - by_chance * count * (count - 1.0)) / (1.0 - by_chance);
        let worth = if results.len() == 1 { most } else { count * count / (count + between.max(0.0)) };
        Some(ObservedCorrelation { rounds, lag1: sum / count, contrasts: worth.clamp(least, most) })
    }

    /// What residuals show: of each lane its series, without its own mean and without those of the rounds, which K lanes have
    /// in common, so that they are K - 1 independent ones; `None` where no two lanes have five rounds.
    pub(crate) fn from_residuals(lanes: &[Vec<f64>]) -> Option<ObservedCorrelation> {
        let rounds = lanes.first()?.len();
        let each: Vec<f64> = lanes.iter().filter_map(|of| estimate::lag1(of)).collect();
        let mean = estimate::moments(&each).filter(|of| rounds >= FEWEST_ROUNDS && of.count >= 2)?.mean;
        Some(ObservedCorrelation { rounds, lag1: mean, contrasts: (lanes.len() - 1) as f64 })
    }

    /// The correlation without bias, and the precision (1/variance) with which it is known.
    ///
    /// For series of n rounds with ρ near 0.3 the computed r1 is ρ - (1+4ρ)/n on average (Marriott
    /// & Pope 1954, Kendall 1954), and its variance (n-2)²/(n²(n-1)) (Moran 1948, exact for white
    /// noise). The terms in n² and n³, which matter below ten rounds, were fitted to the example's
    /// table of one million series; a test compares them with a simulation.
    fn unbiased(&self) -> (f64, f64) {
        let n = self.rounds as f64;
        let (mean, slope) = expected_lag1(n);
        let variance = ((n - 2.0) / n).powi(2) / (n - 1.0);
        (PRIOR + (self.lag1 - mean) / slope, self.contrasts * slope * slope / variance)
    }
}

/// Shorter series say nothing.
const FEWEST_ROUNDS: usize = 5;

/// The mean of r1 over series of n rounds with ρ = 0.3, and its slope in ρ there.
fn expected_lag1(n: f64) -> (f64, f64) {
    let mean = PRIOR - (1.0 + 4.0 * PRIOR) / n + 0.9 / (n * n);
    (mean, 1.0 - 4.0 / n + 13.0 / (n * n * n))
}

/// A series, centred and of length one.
fn of_length_one(mut series: Vec<f64>) -> Vec<f64> {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let length = series.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>().sqrt();
    series.iter_mut().for_each(|of| *of = (*of - mean) / length);
    series
}

/// ΣR² over all couples of such series, each with itself too: the squared norm of their Gram matrix, and
/// of the matrix of their rounds' products as well. The smaller of the two is made, so that neither
/// thousands of rounds nor thousands of series cost a square of them.
fn squared_correlations(series: &[Vec<f64>], rounds: usize) -> f64 {
    let square = |of: f64| of * of;
    if series.len() <= rounds {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        return series.iter().flat_map(|a| series.iter().map(|b| square(product(a, b)))).sum();
    }
    let mut products = vec![0.0; rounds * rounds];
    for series in series {
        for (row, a) in products.chunks_mut(rounds).zip(series) {
            for (product, b) in row.iter_mut().zip(series) {
                *product += a * b;
            }
        }
    }
    products.into_iter().map(square).sum()
}

/// The correlation that a result's intervals are made for, in 0..=0.9: the mean of [`PRIOR`], of what
/// its own pairs show and of what the race's other results show, each by its precision.
pub fn assumed(own: Option<ObservedCorrelation>, others: &[ObservedCorrelation]) -> f64 {
    let mut precision = PRIOR_SPREAD.powi(-2);
    let mut sum = PRIOR * precision;
    if let Some((correlation, known)) = own.map(|of| of.unbiased()) {
        sum += correlation * known;
        precision += known;
    }
    let others: Vec<(f64, f64)> = others.iter().map(ObservedCorrelation::unbiased).collect();
    let known: f64 = others.iter().map(|of| of.1).sum();
    if known > 0.0 {
        let mean = others.iter().map(|(correlation, known)| correlation * known).sum::<f64>() / known;
        let known = 1.0 / (1.0 / known + SPREAD_IN_RACE * SPREAD_IN_RACE);
        sum += mean * known;
        precision += known;
    }
    (sum / precision).clamp(0.0, HIGHEST)
}

/// The correlation that a race plans with: what [`assumed`] will be on average after `rounds` of
/// `lanes` lanes with `others` other results, if the noise is correlated so.
pub fn expected(correlation: f64, rounds: usize, lanes: usize, others: usize) -> f64 {
    let (mean, slope) = expected_lag1(rounds.max(1) as f64);
    let lag1 = mean + slope * (correlation - PRIOR);
    let of = |contrasts: f64| ObservedCorrelation { rounds, lag1, contrasts };
    let independent = lanes.saturating_sub(1).max(1) as f64;
    let own = (rounds >= FEWEST_ROUNDS).then(|| of(independent));
    let others = own.filter(|_| others > 0).map(|_| of(independent * others as f64));
    assumed(own, others.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Normal, correlated};

    #[test]
    fn the_squares_of_the_correlations_are_the_same_from_either_side() {
        let mut noise = Normal::new(3);
        let mut series = |count: usize, rounds: usize| -> Vec<Vec<f64>> {
            (0..count).map(|_| of_length_one((0..rounds).map(|_| noise.next()).collect())).collect()
        };
        for (count, rounds) in [(1, 5), (4, 9), (9, 9), (12, 7)] {
            let series = series(count, rounds);
            let plain: f64 = (0..count)
                .flat_map(|a| (0..count).map(move |b| (a, b)))
                .map(|(a, b)| (0..rounds).map(|at| series[a][at] * series[b][at]).sum::<f64>().powi(2))
                .sum();
            let found = squared_correlations(&series, rounds);
            assert!((found - plain).abs() < 1e-9 * plain, "{count} of {rounds}: {found} and {plain}");
        }
    }

    #[test]
    fn the_widening_matches_the_matrices_it_stands_for() {
        for n in [2_usize, 3, 6, 20, 57] {
            for r in [0.0_f64, 0.1, 0.3, 0.7, 0.9] {
                let correlation = |t: usize, u: usize| r.powf(t.abs_diff(u) as f64);
                let row = |t: usize| (0..n).map(|u| correlation(t, u)).sum::<f64>() / n as f64;
                let rows: Vec<f64> = (0..n).map(row).collect();
                let all = rows.iter().sum::<f64>() / n as f64;
                let centred = |t: usize, u: usize| correlation(t, u) - rows[t] - rows[u] + all;
                let trace: f64 = (0..n).map(|t| centred(t, t)).sum();
                let squares: f64 = (0..n).flat_map(|t| (0..n).map(move |u| centred(t, u).powi(2))).sum();
                let factor = (all * n as f64 / (trace / (n - 1) as f64)).sqrt();
                let of = widening(n, r);
                assert!((of.factor / factor - 1.0).abs() < 1e-9, "n {n}, r {r}: {of:?}, {factor}");
                assert!((of.of_mean / (all * n as f64).sqrt() - 1.0).abs() < 1e-9, "n {n}, r {r}: {of:?}");
                assert!((of.degrees * squares / (trace * trace) - 1.0).abs() < 1e-9, "n {n}, r {r}: {of:?}");
            }
        }
        assert_eq!(widening(6, 0.0), Widening { factor: 1.0, degrees: 5.0, of_mean: 1.0 });
    }

    /// `results` of `lanes` lanes with noise correlated so.
    fn race(source: &mut Normal, results: usize, lanes: usize, rounds: usize, correlation: f64) -> Vec<Logs> {
        let lane = |source: &mut Normal| correlated(source, rounds, correlation);
        (0..results).map(|_| (0..lanes).map(|_| lane(source)).collect()).collect()
    }

    #[test]
    fn the_computed_correlation_loses_its_bias() {
        let mut source = Normal::new(3);
        for (rounds, correlation) in [(5, 0.3), (6, 0.0), (6, 0.3), (8, 0.3), (10, 0.15), (20, 0.0), (20, 0.3)] {
            let all = race(&mut source, 40_000, 2, rounds, correlation);
            // So many series know it to within a hundredth; the rest is the formula's.
            let (found, _) = ObservedCorrelation::new(&all).unwrap().unbiased();
            assert!((found - correlation).abs() < 0.05, "n {rounds}, {correlation}: {found}");
        }
    }

    #[test]
    fn residuals_show_what_the_differences_of_their_lanes_show() {
        let mut source = Normal::new(5);
        let (mut found, mut same) = (0.0, 0.0);
        for _ in 0..2000 {
            let lanes = race(&mut source, 1, 12, 6, 0.3).remove(0);
            let of_round = |round: usize| lanes.iter().map(|lane| lane[round]).sum::<f64>() / 12.0;
            let without = |lane: &Vec<f64>| -> Vec<f64> {
                lane.iter().enumerate().map(|(round, of)| of - of_round(round)).collect()
            };
            let residuals: Logs = lanes.iter().map(without).collect();
            let of = ObservedCorrelation::from_residuals(&residuals).unwrap();
            assert_eq!((of.rounds, of.contrasts), (6, 11.0));
            found += of.unbiased().0 / 2000.0;
            same += ObservedCorrelation::new([&lanes]).unwrap().unbiased().0 / 2000.0;
        }
        assert!((found - 0.3).abs() < 0.05 && (found - same).abs() < 0.03, "{found} and {same}");
        let (short, still): (Logs, Logs) = (vec![vec![1.0, 2.0, 1.0, 4.0]; 3], vec![vec![0.0; 6]; 3]);
        assert_eq!(ObservedCorrelation::from_residuals(&short), None);
        assert_eq!(ObservedCorrelation::from_residuals(&still), None);
    }

    #[test]
    fn series_that_share_their_noise_are_worth_less() {
        let mut source = Normal::new(4);
        let independent: Vec<f64> =
            (0..200).map(|_| ObservedCorrelation::new(&race(&mut source, 10, 3, 8, 0.0)).unwrap().contrasts).collect();
        let mean = estimate::moments(&independent).unwrap().mean;
        assert!((15.0..=20.0).contains(&mean), "20 independent contrasts count as {mean}");
        // Ten results of which each is the same: worth what one is.
        let same: Vec<Logs> = vec![race(&mut source, 1, 3, 8, 0.0).remove(0); 10];
        let of = ObservedCorrelation::new(&same).unwrap();
        assert!(of.contrasts < 2.5, "{of:?}");
        assert!((of.lag1 - ObservedCorrelation::new(&same[..1]).unwrap().lag1).abs() < 1e-12);
        assert_eq!(ObservedCorrelation::new(&same[..1]).unwrap().contrasts, 2.0);
    }

    #[test]
    fn the_prior_gives_way_to_what_the_race_shows() {
        assert_eq!(assumed(None, &[]), PRIOR);
        let mut source = Normal::new(9);
        let mean = |source: &mut Normal, results: usize, rounds: usize, correlation: f64| {
            let one = |source: &mut Normal| {
                let all = race(source, results, 3, rounds, correlation);
                let others: Vec<ObservedCorrelation> = ObservedCorrelation::new(&all[1..]).into_iter().collect();
                assumed(ObservedCorrelation::new(&all[..1]), &others)
            };
            (0..200).map(|_| one(source)).sum::<f64>() / 200.0
        };
        let alone = mean(&mut source, 1, 6, 0.0);
        let late = mean(&mut source, 1, 20, 0.0);
        let many = mean(&mut source, 12, 6, 0.0);
        let all = mean(&mut source, 12, 20, 0.0);
        let means = [alone, late, many, all];
        assert!(late < alone && many < alone && all < late && all < many, "{means:?}");
        assert!(alone > 0.2 && all < 0.16, "{means:?}");
        for (results, rounds) in [(1, 6), (1, 20), (12, 6), (12, 20)] {
            let found = mean(&mut source, results, rounds, 0.3);
            assert!((found - 0.3).abs() < 0.04, "{results} results, {rounds} rounds: {found}");
        }
        assert!(mean(&mut source, 12, 20, 0.6) > 0.4, "a high correlation is found");
        for (expected, found) in [
            (expected(0.0, 6, 3, 0), alone),
            (expected(0.0, 20, 3, 0), late),
            (expected(0.0, 6, 3, 11), many),
            (expected(0.0, 20, 3, 11), all),
        ] {
            assert!((expected - found).abs() < 0.04, "planned with {expected}, found {found}");
        }
        assert_eq!(expected(0.1, 3, 3, 5), PRIOR);
    }

    #[test]
    fn what_has_no_pair_or_no_noise_shows_nothing() {
        assert_eq!(ObservedCorrelation::new([]), None);
        assert_eq!(ObservedCorrelation::new([&vec![vec![1.0, 2.0, 3.0, 4.0, 5.0]]]), None);
        assert_eq!(ObservedCorrelation::new([&vec![vec![1.0; 6]; 3]]), None);
        assert_eq!(ObservedCorrelation::new([&vec![vec![1.0, 2.0, 1.0, 4.0], vec![2.0, 2.0, 1.0, 3.0]]]), None);
    }
}
