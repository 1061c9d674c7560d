//! Random numbers that are not spread evenly: where hot and cold blocks lie.

use super::bijection::Bijection;
use model::job::Distribution;
use rand_core::Rng;

/// Uniform below `limit`, by multiplication and shift (Lemire 2019) without rejection: the bias is
/// under limit / 2^64.
#[inline]
pub(crate) fn below(random: &mut impl Rng, limit: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(limit)) >> 64) as u64
}

/// Uniform in [0, 1), in steps of 2^-53.
#[inline]
fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Independent draws of a block of one file.
#[derive(Debug, Clone)]
pub(super) enum Draw {
    /// Every block alike.
    Uniform,
    /// Ranks by Zipf's law, scattered over the file.
    Zipf(Zipf, Bijection),
    /// Ranks by a power law, scattered over the file: the exponent.
    Pareto(f64, Bijection),
    /// About the middle, with this standard deviation in blocks.
    Normal(f64),
    /// Zones from the start.
    Zoned(Box<Zones>),
}

impl Draw {
    /// Draws among `blocks` blocks, from 1.
    pub fn new(distribution: &Distribution, blocks: u64, random: &mut impl Rng) -> Self {
        match distribution {
            Distribution::Random => Draw::Uniform,
            Distribution::Zipf(theta) => Draw::Zipf(Zipf::new(blocks, *theta), Bijection::new(blocks, random)),
            // The share h of the blocks gets 1 - h of the accesses: u^p < h where u < 1 - h, so
            // p = ln h / ln (1 - h), as fio documents for its power.
            Distribution::Pareto(power) => {
                Draw::Pareto(power.ln() / (1.0 - power).ln(), Bijection::new(blocks, random))
            }
            Distribution::Normal(percent) => Draw::Normal(blocks as f64 * percent / 100.0),
            Distribution::Zoned(zones) => Draw::Zoned(Box::new(Zones::new(zones))),
        }
    }

    /// A block below `blocks`.
    #[inline]
    pub fn block(&self, blocks: u64, random: &mut impl Rng) -> u64 {
        match self {
            Draw::Uniform => below(random, blocks),
            // A range that is shorter for some directions folds the few ranks beyond its end.
            Draw::Zipf(zipf, scatter) => fold(scatter.map(zipf.rank(random)), blocks),
            Draw::Pareto(exponent, scatter) => {
                let rank = (scatter.limit() as f64 * unit(random).powf(*exponent)) as u64;
                fold(scatter.map(rank.min(scatter.limit() - 1)), blocks)
            }
            Draw::Normal(deviation) => normal(blocks, *deviation, random),
            Draw::Zoned(zones) => zones.block(blocks, random),
        }
    }
}

#[inline]
fn fold(block: u64, blocks: u64) -> u64 {
    if block < blocks { block } else { block % blocks }
}

/// Normal by Box and Muller 1958; what falls outside is drawn again.
#[inline]
fn normal(blocks: u64, deviation: f64, random: &mut impl Rng) -> u64 {
    let middle = blocks as f64 / 2.0;
    loop {
        let length = (-2.0 * (1.0 - unit(random)).ln()).sqrt();
        let at = middle + deviation * length * (std::f64::consts::TAU * unit(random)).cos();
        if (0.0..blocks as f64).contains(&at) {
            return (at as u64).min(blocks - 1);
        }
    }
}

/// Zipf's law by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
/// generate variates from monotone discrete distributions", ACM TOMACS 6 (1996). Exact for every
/// exponent above 0, with 1.1 tries on average at most.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    exponent: f64,
    ranks: u64,
    /// H(1.5) - h(1) and H(ranks + 0.5), between which a uniform number is inverted.
    first: f64,
    last: f64,
    /// Distance below which a rank is accepted without computing H.
    near: f64,
}

impl Zipf {
    /// Ranks `0..ranks` with probability proportional to (rank + 1)^-exponent.
    pub fn new(ranks: u64, exponent: f64) -> Self {
        let mut zipf = Zipf { exponent, ranks, first: 0.0, last: 0.0, near: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(ranks as f64 + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// h(x) = x^-e.
    #[inline]
    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// H(x), an integral of h: (x^(1-e) - 1) / (1 - e), or ln x at e = 1; expm1 keeps it exact near
    /// that.
    #[inline]
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.exponent) * log;
        if power.abs() < 1e-12 { log } else { power.exp_m1() / power * log }
    }

    /// The inverse of H.
    #[inline]
    fn inverse(&self, area: f64) -> f64 {
        // Rounding must not take it below the pole at -1.
        let power = (area * (1.0 - self.exponent)).max(-1.0 + f64::EPSILON);
        if power.abs() < 1e-12 { area.exp() } else { (power.ln_1p() / power * area).exp() }
    }

    /// A rank, 0 the most frequent.
    #[inline]
    pub fn rank(&self, random: &mut impl Rng) -> u64 {
        loop {
            let area = self.last + unit(random) * (self.first - self.last);
            let x = self.inverse(area);
            let rank = ((x + 0.5) as u64).clamp(1, self.ranks);
            let whole = rank as f64;
            if whole - x <= self.near || area >= self.integral(whole + 0.5) - self.density(whole) {
                return rank - 1;
            }
        }
    }
}

/// Shares of the accesses for shares of the file.
#[derive(Debug, Clone)]
pub(super) struct Zones {
    /// For each percent of the accesses, the zone's start and end in percent of the file.
    percents: Vec<(u8, u8)>,
}

impl Zones {
    fn new(zones: &[(u32, u32)]) -> Self {
        let mut percents = Vec::with_capacity(100);
        let mut start = 0;
        for &(accesses, share) in zones {
            let end = (start + share).min(100);
            percents.extend(std::iter::repeat_n((start as u8, end as u8), accesses.min(100) as usize));
            start = end;
        }
        Zones { percents }
    }

    #[inline]
    fn block(&self, blocks: u64, random: &mut impl Rng) -> u64 {
        let (start, end) = self.percents[below(random, self.percents.len() as u64) as usize];
        // Blocks are fewer than 2^57, so the products fit. A zone too small for a block takes one.
        let first = (blocks * u64::from(start) / 100).min(blocks - 1);
        let count = (blocks * u64::from(end) / 100).saturating_sub(first).max(1);
        first + below(random, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const DRAWS: usize = 400_000;

    fn counts(distribution: &Distribution, blocks: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let draw = Draw::new(distribution, blocks, &mut random);
        let mut counts = vec![0.0; blocks as usize];
        (0..DRAWS).for_each(|_| counts[draw.block(blocks, &mut random) as usize] += 1.0);
        counts
    }

    #[test]
    fn zipf_ranks_have_the_frequencies_of_the_law_for_exponents_below_and_above_one() {
        for exponent in [0.2, 0.8, 0.9999, 1.2, 3.0] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
            let zipf = Zipf::new(1000, exponent);
            let mut counts = vec![0.0_f64; 1000];
            (0..DRAWS).for_each(|_| counts[zipf.rank(&mut random) as usize] += 1.0);
            let weights: Vec<f64> = (1..=1000).map(|rank| f64::from(rank).powf(-exponent)).collect();
            let sum: f64 = weights.iter().sum();
            let mut square = 0.0;
            let mut fields = 0.0;
            for (count, weight) in counts.iter().zip(&weights) {
                let expected = weight / sum * DRAWS as f64;
                if expected > 5.0 {
                    square += (count - expected).powi(2) / expected;
                    fields += 1.0;
                }
            }
            assert!(square < fields + 6.0 * (2.0_f64 * fields).sqrt() + 10.0, "theta {exponent}: {square} of {fields}");
        }
    }

    #[test]
    fn zipf_over_a_huge_file_stays_in_range_and_favours_the_first_ranks() {
        for exponent in [0.01, 0.99, 1.2, 10.0] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
            let zipf = Zipf::new(1 << 45, exponent);
            let ranks: Vec<u64> = (0..10_000).map(|_| zipf.rank(&mut random)).collect();
            assert!(ranks.iter().all(|rank| *rank < 1 << 45), "{exponent}");
        }
        let zipf = Zipf::new(1, 1.2);
        assert_eq!(zipf.rank(&mut Xoshiro256PlusPlus::seed_from_u64(1)), 0);
    }

    #[test]
    fn hot_blocks_of_zipf_and_pareto_are_scattered_and_each_rank_has_a_block_of_its_own() {
        for distribution in [Distribution::Zipf(1.1), Distribution::Pareto(0.2)] {
            let counts = counts(&distribution, 1000);
            let mut order: Vec<usize> = (0..1000).collect();
            order.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]));
            let hot = &order[..100];
            let first_half = hot.iter().filter(|block| **block < 500).count();
            assert!(
                (30..70).contains(&first_half),
                "{distribution}: {first_half} of the 100 hottest in the first half"
            );
            let neighbours = hot.iter().filter(|block| hot.contains(&(**block + 1))).count();
            assert!(neighbours < 30, "{distribution}: {neighbours} hot neighbours");
        }
    }

    #[test]
    fn a_pareto_of_one_fifth_gives_four_fifths_of_the_accesses_to_a_fifth_of_the_blocks() {
        let mut counts = counts(&Distribution::Pareto(0.2), 1000);
        counts.sort_by(|a, b| b.total_cmp(a));
        let hot: f64 = counts[..200].iter().sum::<f64>() / DRAWS as f64;
        assert!((hot - 0.8).abs() < 0.01, "{hot}");
    }

    #[test]
    fn a_normal_lies_about_the_middle_with_its_deviation() {
        let counts = counts(&Distribution::Normal(10.0), 1000);
        let mean: f64 = counts.iter().enumerate().map(|(at, count)| at as f64 * count).sum::<f64>() / DRAWS as f64;
        let variance: f64 =
            counts.iter().enumerate().map(|(at, count)| (at as f64 - mean).powi(2) * count).sum::<f64>() / DRAWS as f64;
        assert!((mean - 499.5).abs() < 2.0 && (variance.sqrt() - 100.0).abs() < 1.0, "{mean} {}", variance.sqrt());
    }

    #[test]
    fn a_wide_normal_stays_inside_the_file() {
        assert_eq!(counts(&Distribution::Normal(100.0), 10).iter().sum::<f64>() as usize, DRAWS);
    }

    #[test]
    fn zones_get_their_shares() {
        let zones = Distribution::Zoned(vec![(60, 10), (30, 20), (8, 30), (2, 40)]);
        let counts = counts(&zones, 1000);
        for (range, share) in [(0..100, 0.6), (100..300, 0.3), (300..600, 0.08), (600..1000, 0.02)] {
            let found = counts[range.clone()].iter().sum::<f64>() / DRAWS as f64;
            assert!((found - share).abs() < 5.0 * (share / DRAWS as f64).sqrt(), "{range:?}: {found} of {share}");
        }
    }

    #[test]
    fn zones_without_room_take_one_block() {
        let counts = counts(&Distribution::Zoned(vec![(50, 0), (50, 100)]), 3);
        assert!(counts.iter().all(|count| *count > 0.0), "{counts:?}");
        assert!(counts[0] > 0.6 * DRAWS as f64, "{counts:?}");
    }
}
