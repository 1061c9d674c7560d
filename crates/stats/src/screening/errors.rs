//! How exactly a screening knows its effects: from the scatter of rounds, and from columns that no option stands in
//! (method 9.4).

use super::effects::means;
use crate::correlation::{self, ObservedCorrelation};
use crate::estimate;
use crate::student;
use model::findings::FEWEST_SPARE;

/// Intervals of a row, and the test of the spare columns: two-sided p.
pub(super) const ROW_P: f64 = 0.05;
/// Logarithms that scatter by less are taken to scatter so: what is left of figures that do not scatter are their last
/// digits.
const LEAST_DEVIATION: f64 = 1e-9;

/// What the effects of one figure are judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Errors {
    /// Standard deviation of a lane's figure from round to round beside the other lanes.
    pub(super) deviation: f64,
    /// Standard error of a lane's mean beside those of the others.
    pub(super) of_lane: f64,
    /// Standard error of an effect that no further rounds would take away: 0 where rounds alone were seen to make it.
    pub(super) of_effect_in_any_rounds: f64,
    /// How many lanes.
    pub(super) lanes: usize,
    /// Its degrees of freedom.
    pub(super) degrees: f64,
    /// Spare columns show that lanes differ by more than their rounds tell and chance explains.
    pub(super) lanes_differ: bool,
}

impl Errors {
    /// Of lanes' figures, the same rounds in each, two at least: what their rounds alone show.
    ///
    /// What is left of a figure without its lane's and its round's mean scatters with (L-1)(R-1) degrees of freedom, fewer where
    /// rounds are correlated, which makes the error of a mean wider too, both as in verdicts (method 2.2).
    pub(super) fn from_rounds(lanes: &[Vec<f64>]) -> Errors {
        let (count, rounds) = (lanes.len(), lanes.first().map_or(0, Vec::len));
        let residuals = residuals(lanes);
        let squares: f64 = residuals.iter().flatten().map(|of| of * of).sum();
        let free = count.saturating_sub(1).max(1) * rounds.saturating_sub(1).max(1);
        let deviation = (squares / free as f64).sqrt();
        let lag1 = correlation::assumed(ObservedCorrelation::from_residuals(&residuals), &[]);
        let widening = correlation::widening(rounds, lag1);
        Errors {
            deviation,
            of_lane: deviation.max(LEAST_DEVIATION) * widening.factor / (rounds.max(1) as f64).sqrt(),
            of_effect_in_any_rounds: 0.0,
            lanes: count,
            degrees: widening.degrees * count.saturating_sub(1).max(1) as f64,
            lanes_differ: false,
        }
    }

    /// The larger one of this error and of that which columns without an option show, whose effects squared have this sum. Fewer
    /// of them than [`FEWEST_SPARE`] are heard only where theirs is larger by more than chance explains: one that is large by
    /// chance would hide every effect.
    ///
    /// To ask for significance of more columns too would leave most lanes unnoticed that differ by as much as their rounds
    /// scatter, and then far more options than 5 % of screenings allow would be said to matter.
    pub(super) fn beside(self, squares: f64, columns: usize) -> Errors {
        if columns == 0 {
            return self;
        }
        let degrees = columns as f64;
        let variance = squares.max(0.0) / degrees;
        let times = variance / self.of_effect().powi(2);
        let lanes_differ = f_tail(times, degrees, self.degrees) < ROW_P;
        let is_larger = times > 1.0 && columns >= FEWEST_SPARE;
        if !lanes_differ && !is_larger {
            return self;
        }
        let of_lane = variance.sqrt() * (self.lanes as f64).sqrt() / 2.0;
        let of_effect_in_any_rounds = (variance - self.of_effect().powi(2)).max(0.0).sqrt();
        Errors { of_lane, of_effect_in_any_rounds, degrees, lanes_differ, ..self }
    }

    /// Logarithms to either side of an effect's interval, had it been raced in any number of rounds and come out the same.
    pub(super) fn half_in_any_rounds(&self) -> f64 {
        self.half_in_errors() * self.of_effect_in_any_rounds
    }

    /// Standard error of an effect: of the difference of two means of half the lanes each.
    pub(super) fn of_effect(&self) -> f64 {
        2.0 * self.of_lane / (self.lanes.max(1) as f64).sqrt()
    }

    /// P of effects that are no more than chance and whose squares have this sum, as many as there are `columns`.
    pub(super) fn p_together(&self, squares: f64, columns: usize) -> f64 {
        let columns = columns.max(1) as f64;
        f_tail(squares / columns / self.of_effect().powi(2), columns, self.degrees)
    }

    /// Two-sided p of something that is so many of its standard errors from zero.
    pub(super) fn p(&self, errors: f64) -> f64 {
        student::two_sided_p(errors, self.degrees)
    }

    /// Standard errors to either side of a 95 % interval.
    pub(super) fn half_in_errors(&self) -> f64 {
        student::two_sided_quantile(ROW_P, self.degrees)
    }
}

/// Figures without the means of their lanes and of their rounds.
fn residuals(lanes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let rounds = lanes.first().map_or(0, Vec::len);
    let of_round = |round: usize| lanes.iter().map(|lane| lane[round]).sum::<f64>() / lanes.len() as f64;
    let of_rounds: Vec<f64> = (0..rounds).map(of_round).collect();
    let whole = estimate::moments(&of_rounds).map_or(0.0, |of| of.mean);
    let of_lane = |(lane, mean): (&Vec<f64>, f64)| -> Vec<f64> {
        lane.iter().zip(&of_rounds).map(|(figure, of_round)| figure - mean - of_round + whole).collect()
    };
    lanes.iter().zip(means(lanes)).map(of_lane).collect()
}

/// P(F > `times`) with so many degrees of freedom above and below the line; not a number where they are none.
fn f_tail(times: f64, above: f64, below: f64) -> f64 {
    // As Student's t: above ten million degrees the fraction loses its digits.
    let below = below.min(1e7);
    student::incomplete_beta(below / 2.0, above / 2.0, below / (below + above * times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;
    use crate::screening::design::Design;
    use crate::screening::effects::contrast;

    #[test]
    fn the_f_distribution_matches_the_published_table() {
        // NIST/SEMATECH e-Handbook 1.3.6.7.3, upper critical values at 5 %.
        for (above, below, critical) in
            [(1.0, 10.0, 4.965), (5.0, 10.0, 3.326), (4.0, 20.0, 2.866), (10.0, 100.0, 1.927), (2.0, 3.0, 9.552)]
        {
            let p = f_tail(critical, above, below);
            assert!((p - 0.05).abs() < 1e-4, "F({above}, {below}) at {critical}: {p}");
        }
        assert_eq!((f_tail(0.0, 3.0, 5.0), f_tail(f64::INFINITY, 3.0, 5.0)), (1.0, 0.0));
        // One above the line is Student's t, squared.
        assert!((f_tail(2.571 * 2.571, 1.0, 5.0) - student::two_sided_p(2.571, 5.0)).abs() < 1e-12);
    }

    #[test]
    fn residuals_and_their_deviation_match_a_hand_calculation() {
        // Means of lanes 2 and 4, of rounds 2, 2 and 5, of all 3.
        let lanes = [vec![1.0, 1.0, 4.0], vec![3.0, 3.0, 6.0]];
        assert!(residuals(&lanes).iter().flatten().all(|of| of.abs() < 1e-12));
        let lanes = [vec![1.0, 1.0, 4.0], vec![3.0, 6.0, 3.0]];
        // Means of lanes 2 and 4, of rounds 2, 3.5 and 3.5, of all 3.
        assert_eq!(residuals(&lanes), [[0.0, -1.5, 1.5], [0.0, 1.5, -1.5]]);
        let errors = Errors::from_rounds(&lanes);
        // 9 over (2-1)(3-1).
        assert!((errors.deviation - 4.5_f64.sqrt()).abs() < 1e-12);
        // Three rounds show no correlation, so that 0.3 is taken.
        let widening = correlation::widening(3, correlation::PRIOR);
        assert!((errors.of_lane - 4.5_f64.sqrt() * widening.factor / 3_f64.sqrt()).abs() < 1e-12);
        assert!((errors.degrees - widening.degrees).abs() < 1e-12);
        assert!((errors.of_effect() - 2_f64.sqrt() * errors.of_lane).abs() < 1e-12);
    }

    fn squares(effects: &[f64]) -> f64 {
        effects.iter().map(|of| of * of).sum()
    }

    /// Figures of so many lanes: noise of this deviation, and lanes that lie apart by that one.
    fn figures(source: &mut Normal, lanes: usize, rounds: usize, apart: f64) -> Vec<Vec<f64>> {
        let mut lane = || -> Vec<f64> {
            let own = apart * source.next();
            crate::sample::correlated(source, rounds, 0.3).into_iter().map(|of| own + 0.05 * of).collect()
        };
        (0..lanes).map(|_| lane()).collect()
    }

    #[test]
    fn intervals_hold_for_correlated_rounds_and_lanes_that_differ_are_found() {
        let design = Design::new(8);
        let mut source = Normal::new(11);
        for (apart, differ) in [(0.0, 0..=60_u32), (0.06, 240..=400)] {
            let (mut outside, mut found, mut told) = (0_u32, 0_u32, 0_u32);
            for _ in 0..400 {
                let lanes = figures(&mut source, 24, 6, apart);
                let means = means(&lanes);
                let left = design.effects_left(&[], &means);
                let errors = Errors::from_rounds(&lanes).beside(squares(&left), left.len());
                found += u32::from(errors.lanes_differ);
                let half = errors.half_in_errors() * errors.of_effect();
                let effects = design.factors.iter().map(|column| contrast(column, &means));
                outside += effects.clone().filter(|effect| effect.abs() > half).count() as u32;
                told += effects.count() as u32;
            }
            assert!(differ.contains(&found), "lanes apart by {apart}: {found} of 400 times they are found to differ");
            let share = f64::from(outside) / f64::from(told);
            assert!(share < 0.06, "lanes apart by {apart}: {share} of the effects lie outside");
        }
    }

    #[test]
    fn three_spare_columns_make_the_error_larger_before_chance_is_ruled_out_and_two_do_not() {
        let mut source = Normal::new(5);
        let lanes = figures(&mut source, 24, 6, 0.0);
        let rounds = Errors::from_rounds(&lanes);
        // Half as large again: an F of 2.25, which is chance for so few columns.
        let effect = 1.5 * rounds.of_effect();
        let three = rounds.beside(squares(&[effect; 3]), 3);
        assert!((three.of_effect() / effect - 1.0).abs() < 1e-9 && !three.lanes_differ, "{three:?}");
        assert!((three.degrees - 3.0).abs() < 1e-12);
        for spare in [vec![effect; 2], vec![0.9 * rounds.of_effect(); 3]] {
            assert_eq!(rounds.beside(squares(&spare), spare.len()), rounds);
        }
        assert!(rounds.beside(squares(&[20.0 * effect]), 1).lanes_differ, "one that is far too large is heard");
    }

    #[test]
    fn figures_that_do_not_scatter_have_an_error_all_the_same() {
        let errors = Errors::from_rounds(&[vec![7.0; 4], vec![7.0; 4]]).beside(0.0, 1);
        assert!(errors.of_effect() > 0.0 && errors.of_effect() < 1e-8 && !errors.lanes_differ, "{errors:?}");
        assert!((errors.p(0.0) - 1.0).abs() < 1e-12 && errors.p(1e6) < 1e-3);
    }
}
