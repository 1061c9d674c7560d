//! Every number below a limit exactly once, in an order that looks random, without memory.

use rand_core::Rng;

/// The factor of each round of mixing: odd, with bits spread evenly. They are those of SplitMix64
/// (Steele, Lea and Flood 2014), its relatives and MurmurHash3 (Appleby). Four rounds
/// leave patterns between neighbours that the tests see, and so do some choices of five factors at
/// some widths; these six leave none.
const FACTORS: [u64; 6] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xff51_afd7_ed55_8ccd,
    0xc4ce_b9fe_1a85_ec53,
];

/// A permutation of `0..limit`, chosen by a key.
///
/// It permutes the numbers of the smallest power of two that holds `limit`, and walks on from a
/// result beyond `limit` until one lies below ("cycle walking", Black and Rogaway 2002): that is a
/// permutation again, and takes fewer than two steps on average. One step is a chain of
/// multiplications by odd numbers, additions and xors with a right shift, each of which can be
/// undone modulo a power of two.
#[derive(Debug, Clone)]
pub(super) struct Bijection {
    limit: u64,
    mask: u64,
    shift: u32,
    summands: [u64; FACTORS.len()],
}

impl Bijection {
    /// A permutation of `0..limit`; `limit` from 1.
    pub fn new(limit: u64, random: &mut impl Rng) -> Self {
        let bits = (u64::BITS - limit.saturating_sub(1).leading_zeros()).max(1);
        let mut made = Bijection {
            limit: limit.max(1),
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            summands: [0; FACTORS.len()],
        };
        made.choose(random);
        made
    }

    /// Another permutation of the same numbers.
    pub fn choose(&mut self, random: &mut impl Rng) {
        self.summands = std::array::from_fn(|_| random.next_u64());
    }

    /// How many numbers are permuted.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Where `number`, below the limit, goes.
    #[inline]
    pub fn map(&self, number: u64) -> u64 {
        let mut at = number;
        loop {
            for (factor, summand) in FACTORS.into_iter().zip(self.summands) {
                at = at.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                at ^= at >> self.shift;
            }
            if at < self.limit {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn order(limit: u64, seed: u64) -> Vec<u64> {
        let bijection = Bijection::new(limit, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        (0..limit).map(|number| bijection.map(number)).collect()
    }

    proptest! {
        #[test]
        fn every_number_below_the_limit_comes_exactly_once(limit in 1_u64..5000, seed: u64) {
            let mut seen = order(limit, seed);
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..limit));
        }
    }

    #[test]
    fn limits_beyond_four_billion_stay_in_range() {
        let bijection = Bijection::new((1 << 40) + 7, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        let seen: std::collections::HashSet<u64> = (0..100_000).map(|number| bijection.map(number)).collect();
        assert_eq!(seen.len(), 100_000);
        assert!(seen.iter().all(|at| *at < (1 << 40) + 7));
    }

    /// Chi-square of counts against equal shares, in standard deviations from its mean.
    fn excess(counts: &[u64]) -> f64 {
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let square: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
        let freedom = (counts.len() - 1) as f64;
        (square - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn the_order_passes_for_random_in_pairs_steps_runs_and_fixed_points() {
        let mut fixed_points = 0;
        let widths = (10..20).map(|bits| 1_u64 << bits).chain([3000, 25_000, 50_000, 65_537, 200_000]);
        for (seed, limit) in (0..120).zip(widths.cycle()) {
            let order = order(limit, seed);
            let of = |at: u64, parts: u64| (at * parts / limit) as usize;
            for lag in [1, 2, 3, 4, 8, 64] {
                // Each place and the one some steps later, in 8 x 8 fields; and the distance
                // between them modulo the range: a lattice would favour few distances.
                let (mut pairs, mut steps) = (vec![0_u64; 64], vec![0_u64; 64]);
                for (a, b) in order.iter().zip(&order[lag..]) {
                    pairs[of(*a, 8) * 8 + of(*b, 8)] += 1;
                    steps[of((b + limit - a) % limit, 64)] += 1;
                }
                for counts in [pairs, steps] {
                    assert!(excess(&counts) < 6.0, "seed {seed} limit {limit} lag {lag}: {}", excess(&counts));
                }
            }
            let near = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
            assert!(near < 15, "seed {seed} limit {limit}: {near} neighbours, 2 expected");
            let rising = order.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
            let away = (rising - limit as f64 / 2.0) / (limit as f64 / 12.0).sqrt();
            assert!(away.abs() < 6.0, "seed {seed} limit {limit}: {away}");
            fixed_points += order.iter().enumerate().filter(|(index, at)| *index as u64 == **at).count();
        }
        // One expected in each permutation.
        assert!((70..180).contains(&fixed_points), "{fixed_points}");
    }

    #[test]
    fn the_first_part_of_the_order_reaches_all_of_the_range() {
        for seed in 0..20 {
            let mut counts = vec![0_u64; 64];
            let bijection = Bijection::new(1 << 20, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            (0..6400).for_each(|number| counts[(bijection.map(number) >> 14) as usize] += 1);
            assert!(excess(&counts) < 6.0, "seed {seed}: {}", excess(&counts));
        }
    }
}
