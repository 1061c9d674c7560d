//! Fair order, equal ground (method 1.1): who runs when, and on which image.
//!
//! Both are functions of their arguments alone, so that a race taken up again goes on exactly
//! where it stopped.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows of one complete, balanced set of orders: K for even K, 2 K for odd K (1 for one lane).
pub fn rows_in_a_set(lanes: usize) -> u32 {
    let lanes = lanes as u32;
    if lanes <= 1 {
        1
    } else if lanes.is_multiple_of(2) {
        lanes
    } else {
        2 * lanes
    }
}

/// The lanes' order in a round (from 1): `order[p]` is the lane at place p. `stream` tells apart
/// workloads of one race.
///
/// Every set of [`rows_in_a_set`] consecutive rounds is one Williams square (Williams 1949): each
/// lane stands at each place equally often and follows each other lane equally often. Labels and
/// rows are shuffled by the seed. A second set runs the first's rows backwards (for two lanes:
/// ABBA), because images rotate with the same period and a repeated set would tie a lane's place
/// to its image; the third set is shuffled anew.
pub fn round_order(lanes: usize, seed: u64, stream: u64, round: u32) -> Vec<usize> {
    if lanes <= 1 {
        return (0..lanes).collect();
    }
    let rows = rows_in_a_set(lanes);
    let at = round.saturating_sub(1);
    let (set, place) = (at / rows, at % rows);
    let mut labels: Vec<usize> = (0..lanes).collect();
    shuffle(&mut labels, &mut generator(seed, stream, 1));
    let mut sequence: Vec<usize> = (0..rows as usize).collect();
    shuffle(&mut sequence, &mut generator(seed, stream, 2 + u64::from(set / 2)));
    if set % 2 == 1 {
        sequence.reverse();
    }
    williams_row(lanes, sequence[place as usize]).into_iter().map(|lane| labels[lane]).collect()
}

/// Which image (0..lanes) carries the lane in a round (from 1). Over any `lanes` consecutive rounds
/// each lane is on each image once; in one round no two lanes share one. The first shift comes
/// from the seed.
pub fn ground_of(lane: usize, lanes: usize, seed: u64, stream: u64, round: u32) -> usize {
    if lanes <= 1 {
        return 0;
    }
    let shift = below(&mut generator(seed, stream, 0), lanes as u64);
    ((lane as u64 % lanes as u64 + shift + u64::from(round.saturating_sub(1))) % lanes as u64) as usize
}

/// Row `row` of the Williams square: the zigzag 0, 1, K-1, 2, K-2, … shifted by the row; for odd K
/// the second K rows are the first K mirrored.
fn williams_row(lanes: usize, row: usize) -> Vec<usize> {
    let zigzag = |place: usize| if place.is_multiple_of(2) { (lanes - place / 2) % lanes } else { place.div_ceil(2) };
    let mut order: Vec<usize> = (0..lanes).map(|place| (zigzag(place) + row) % lanes).collect();
    if row >= lanes {
        order.reverse();
    }
    order
}

fn generator(seed: u64, stream: u64, use_of: u64) -> Xoshiro256PlusPlus {
    // Odd multipliers keep neighbouring streams and uses apart; seed_from_u64 then scrambles all bits.
    let mixed = seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
    Xoshiro256PlusPlus::seed_from_u64(mixed.wrapping_add(use_of.wrapping_mul(0xD1B5_4A32_D192_ED03)))
}

/// A uniform number below `limit`, without the bias of a plain remainder.
fn below(generator: &mut impl Rng, limit: u64) -> u64 {
    let whole = u64::MAX - u64::MAX % limit;
    loop {
        let number = generator.next_u64();
        if number < whole {
            return number % limit;
        }
    }
}

fn shuffle(list: &mut [usize], generator: &mut impl Rng) {
    for end in (1..list.len()).rev() {
        list.swap(end, below(generator, end as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_complete_set_is_balanced_in_place_and_in_carryover() {
        for lanes in 2..=12 {
            let rows = rows_in_a_set(lanes);
            for set in 0..4 {
                let mut places = vec![vec![0; lanes]; lanes];
                let mut follows = vec![vec![0; lanes]; lanes];
                for round in set * rows + 1..=(set + 1) * rows {
                    let order = round_order(lanes, 7, 3, round);
                    for (place, &lane) in order.iter().enumerate() {
                        places[lane][place] += 1;
                    }
                    for two in order.windows(2) {
                        follows[two[0]][two[1]] += 1;
                    }
                }
                let each = rows as usize / lanes;
                for a in 0..lanes {
                    for b in 0..lanes {
                        assert_eq!(places[a][b], each, "{lanes} lanes, set {set}: place");
                        assert_eq!(follows[a][b], if a == b { 0 } else { each }, "{lanes} lanes, set {set}: carryover");
                    }
                }
            }
        }
    }

    #[test]
    fn the_number_of_rows_is_that_of_the_methods() {
        assert_eq!([1, 2, 3, 4, 5, 6].map(rows_in_a_set), [1, 2, 6, 4, 10, 6]);
    }

    #[test]
    fn two_lanes_run_abba_and_change_images_independently_of_their_place() {
        for seed in 0..20 {
            let mut seen = std::collections::BTreeSet::new();
            for round in 1..=4 {
                let place = round_order(2, seed, 0, round).iter().position(|&lane| lane == 0).unwrap();
                seen.insert((place, ground_of(0, 2, seed, 0, round)));
            }
            assert_eq!(seen.len(), 4, "seed {seed}: each place meets each image within four rounds");
        }
    }

    #[test]
    fn the_same_arguments_give_the_same_order_and_others_differ() {
        let orders = |seed, stream| -> Vec<_> { (1..=6).map(|round| round_order(3, seed, stream, round)).collect() };
        assert_eq!(orders(1, 1), orders(1, 1));
        assert!((2..12).any(|seed| orders(seed, 1) != orders(1, 1)));
        assert!((2..12).any(|stream| orders(1, stream) != orders(1, 1)));
    }

    #[test]
    fn the_seed_reaches_every_first_order_of_three_lanes() {
        let firsts: std::collections::BTreeSet<_> = (0..200).map(|seed| round_order(3, seed, 0, 1)).collect();
        assert_eq!(firsts.len(), 6);
    }

    #[test]
    fn images_rotate_so_that_each_lane_meets_each_image_once() {
        for lanes in 1..=32 {
            for start in [1_u32, 5, 18] {
                for lane in 0..lanes {
                    let mut met: Vec<_> =
                        (start..start + lanes as u32).map(|round| ground_of(lane, lanes, 9, 2, round)).collect();
                    met.sort_unstable();
                    assert!(met.iter().copied().eq(0..lanes), "{lanes} lanes, lane {lane}, from round {start}");
                }
                let mut taken: Vec<_> = (0..lanes).map(|lane| ground_of(lane, lanes, 9, 2, start)).collect();
                taken.sort_unstable();
                assert!(taken.into_iter().eq(0..lanes), "no two lanes share an image");
            }
        }
    }

    #[test]
    fn no_lane_and_one_lane_are_no_special_case_for_the_caller() {
        assert!(round_order(0, 1, 1, 1).is_empty());
        assert_eq!(round_order(1, 1, 1, 9), [0]);
        assert_eq!(round_order(3, 1, 1, 0).len(), 3);
        assert_eq!(ground_of(0, 0, 1, 1, 1), 0);
    }
}
