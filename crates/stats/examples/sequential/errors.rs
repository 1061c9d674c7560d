//! How often families of equal lanes get a false `faster`, under every rule that a user meets.

use crate::race::{Noise, ROUNDS, Race, differs, first_answer, in_parts, least, whole};
use model::plan::LOOKS;
use stats::sequential::Rule;

/// Noise of one lane, in shares: the width condition and the margin depend on it. 0: no margin.
const SCALES: [f64; 6] = [0.0, 0.005, 0.01, 0.02, 0.04, 0.1];

/// Counts over families.
#[derive(Clone)]
pub struct Counts {
    /// Families.
    pub families: usize,
    /// With a false `faster`, by the look at which the budget ends, rule with a first answer.
    pub first_answer: [usize; LOOKS.len()],
    /// The same by look and scale, whole rule.
    pub whole: [[usize; SCALES.len()]; LOOKS.len()],
    /// One look after so many rounds.
    pub fixed: [usize; ROUNDS + 1],
    /// Of each family the smallest p over all looks.
    pub least_p: Vec<f32>,
    /// Of each family the smallest p of one look, after every number of rounds.
    pub least_p_fixed: Vec<Vec<f32>>,
}

impl Counts {
    fn none() -> Counts {
        Counts {
            families: 0,
            first_answer: [0; LOOKS.len()],
            whole: [[0; SCALES.len()]; LOOKS.len()],
            fixed: [0; ROUNDS + 1],
            least_p: Vec::new(),
            least_p_fixed: vec![Vec::new(); ROUNDS + 1],
        }
    }

    fn and(mut self, other: Counts) -> Counts {
        self.families += other.families;
        self.first_answer.iter_mut().zip(other.first_answer).for_each(|(a, b)| *a += b);
        self.whole.iter_mut().flatten().zip(other.whole.into_iter().flatten()).for_each(|(a, b)| *a += b);
        self.fixed.iter_mut().zip(other.fixed).for_each(|(a, b)| *a += b);
        self.least_p.extend(other.least_p);
        self.least_p_fixed.iter_mut().zip(other.least_p_fixed).for_each(|(a, b)| a.extend(b));
        self
    }

    /// The worst share over fixed numbers of rounds from two on.
    pub fn worst_fixed(&self) -> f64 {
        self.percent(self.fixed.iter().copied().max().unwrap_or(0))
    }

    /// A count as a share of the families.
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.families as f64
    }
}

/// What is judged in each simulated race.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// The first result alone.
    First,
    /// Every result, as they are all alike.
    All,
}

/// Simulates about `families` families of `lanes` equal lanes in races whose results have these noises.
pub fn errors(seed: u64, families: usize, lanes: usize, noises: &[Noise], judged: Judged) -> Counts {
    let each = if judged == Judged::All { noises.len() } else { 1 };
    let simulate = |source: &mut _, count: usize| {
        let rules = Rules::new(lanes);
        let mut counts = Counts::none();
        for _ in 0..count {
            let race = Race::new(source, lanes, noises);
            (0..each).for_each(|result| rules.judge(&race, result, &mut counts));
        }
        counts
    };
    in_parts(seed, families.div_ceil(each), simulate, Counts::and)
}

struct Rules {
    first: Rule,
    whole: [Rule; SCALES.len()],
    /// Below it neither a rule nor the search for p need look.
    screen: [f64; ROUNDS + 1],
}

impl Rules {
    fn new(lanes: usize) -> Rules {
        let first = first_answer(lanes, 0.0);
        let margin = |scale: f64| if scale > 0.0 { 0.05 } else { 0.0 };
        Rules {
            first,
            whole: SCALES.map(|scale| whole(lanes, margin(scale))),
            screen: least(&whole(lanes, 0.0)).map(|least| 0.85 * least),
        }
    }

    fn judge(&self, race: &Race, result: usize, counts: &mut Counts) {
        counts.families += 1;
        let (mut answered, mut least_p) = (false, 1.0_f64);
        let mut decided = [false; SCALES.len()];
        for rounds in 2..=ROUNDS {
            let look = LOOKS.iter().position(|&look| look as usize == rounds);
            let mut found = [false; SCALES.len()];
            let mut p = 1.0_f64;
            for of in race.intervals(result, rounds, &self.first, self.screen[rounds]) {
                p = p.min(of.p());
                answered |= look.is_some() && differs(self.first.verdict(of.mean, of.half, true));
                let half = self.whole[0].constant(rounds, of.correlation.lag1) * of.deviation / (rounds as f64).sqrt();
                for ((rule, scale), (found, decided)) in
                    self.whole.iter().zip(SCALES).zip(found.iter_mut().zip(decided.iter_mut()))
                {
                    let scale = if scale > 0.0 { scale } else { 1.0 };
                    *found |= differs(rule.verdict(scale * of.mean, scale * half, true));
                    *decided |= look.is_some() && differs(rule.verdict(scale * of.mean, scale * half, false));
                }
            }
            counts.least_p_fixed[rounds].push(p as f32);
            counts.fixed[rounds] += usize::from(found[0]);
            let Some(look) = look else { continue };
            least_p = least_p.min(p);
            counts.first_answer[look] += usize::from(answered);
            for (count, (found, decided)) in counts.whole[look].iter_mut().zip(found.iter().zip(&decided)) {
                *count += usize::from(*found || *decided);
            }
        }
        counts.least_p.push(least_p as f32);
    }
}
