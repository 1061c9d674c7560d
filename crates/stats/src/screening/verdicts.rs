//! Which effects are there, over all results of a screening together (method 9.5).

use super::errors::Errors;
use super::{Analysed, FOR_INTERACTIONS, ratio};
use crate::whole_race;
use model::findings::{Effect, EffectVerdict};
use model::plan::Rounds;
use model::screening::EFFECT_MARGIN;

/// Judges every effect: those that Holm's procedure (1979) finds matter, and those whose whole interval lies within the margin
/// do not, which comes first. An option that changes the effect of another one does something, whatever it does on average.
/// Results of which nothing is told, or not yet, keep their weight.
pub(super) fn decide(results: &mut [Analysed], rounds: Rounds) {
    let matter = matter(results, whole_race::share(rounds) * (1.0 - FOR_INTERACTIONS));
    for (result, matter) in results.iter_mut().zip(matter) {
        let Some(known) = result.known.as_ref().filter(|known| known.decides) else { continue };
        let interacts = |factor: usize| known.interactions.iter().any(|of| of.pair.0 == factor || of.pair.1 == factor);
        for (factor, (effect, matters)) in result.told.effects.iter_mut().zip(matter).enumerate() {
            effect.verdict = match () {
                () if is_within_margin(effect.low, effect.high) && !interacts(factor) => EffectVerdict::DoesNot,
                () if matters => EffectVerdict::Matters,
                () => EffectVerdict::Open,
            };
        }
    }
}

/// Whether an effect that cannot be told yet would not be told either had it come out the same in any number of rounds: what
/// other columns than options' show alone leaves its row open.
pub(super) fn stays_open(effect: &Effect, errors: &Errors) -> bool {
    let (log, half) = (effect.ratio.ln(), errors.half_in_any_rounds());
    let is_open = |low: f64, high: f64| low <= 0.0 && high >= 0.0 && !is_within_margin(ratio(low), ratio(high));
    effect.verdict == EffectVerdict::Open && is_open(log - half, log + half)
}

/// Whether an interval of ratios lies within the margin to either side of 1.
fn is_within_margin(low: f64, high: f64) -> bool {
    let edge = EFFECT_MARGIN.ln_1p();
    low >= ratio(-edge) && high <= ratio(edge)
}

/// Of each result and effect whether Holm's procedure finds it, all together at this p.
fn matter(results: &[Analysed], p: f64) -> Vec<Vec<bool>> {
    let mut found: Vec<Vec<bool>> = results.iter().map(|of| vec![false; of.told.effects.len()]).collect();
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for (place, result) in results.iter().enumerate() {
        if result.known.as_ref().is_some_and(|known| known.decides) {
            all.extend(result.told.effects.iter().enumerate().map(|(factor, effect)| (effect.p, place, factor)));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Every result has as many effects, whether they are told or not.
    let each = results.iter().map(|of| of.told.effects.len()).max().unwrap_or(0);
    let mut left = results.len() * each;
    for (of, place, factor) in all {
        if of > p / left.max(1) as f64 {
            break;
        }
        found[place][factor] = true;
        left = left.saturating_sub(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screening::Known;
    use model::findings::ScreenedResult;

    /// A result with effects of these p, each as (p, low, high).
    fn result(effects: &[(f64, f64, f64)], decides: bool) -> Analysed {
        let effect = |&(p, low, high): &(f64, f64, f64)| Effect {
            factor: String::new(),
            ratio: (low * high).sqrt(),
            low,
            high,
            p,
            verdict: EffectVerdict::Open,
        };
        let told = ScreenedResult {
            workload: String::new(),
            title: String::new(),
            group: String::new(),
            metric: String::new(),
            higher_is_better: true,
            rounds: 6,
            unknown: None,
            effects: effects.iter().map(effect).collect(),
            interactions: Vec::new(),
            deviation: None,
            spare: Vec::new(),
            lanes_differ: false,
        };
        let errors = Errors::from_rounds(&[vec![1.0, 2.0], vec![2.0, 1.0]]);
        let known =
            (!effects.is_empty()).then(|| Known { means: Vec::new(), interactions: Vec::new(), errors, decides });
        Analysed { told, known }
    }

    fn decided(mut results: Vec<Analysed>, rounds: Rounds) -> Vec<Vec<EffectVerdict>> {
        decide(&mut results, rounds);
        results.iter().map(|of| of.told.effects.iter().map(|effect| effect.verdict).collect()).collect()
    }

    /// An effect far outside the margin.
    fn far(p: f64) -> (f64, f64, f64) {
        (p, 1.05, 1.2)
    }

    use EffectVerdict::{DoesNot, Matters, Open};

    #[test]
    fn each_step_leaves_more_to_the_next_and_the_first_that_fails_ends_it() {
        // Of four at 0.0345, which is three quarters of 0.046: 0.008625, 0.0115, 0.01725, 0.0345.
        let of = |p: [f64; 4]| decided(vec![result(&p.map(far), true)], Rounds::Fixed(6)).remove(0);
        assert_eq!(of([0.0086, 0.0114, 0.0172, 0.0344]), [Matters; 4]);
        assert_eq!(of([0.0344, 0.0086, 0.0114, 0.0173]), [Open, Matters, Matters, Open]);
        assert_eq!(of([0.0087, 0.0088, 0.0089, 0.0090]), [Open; 4]);
    }

    #[test]
    fn results_that_were_not_reached_or_say_nothing_keep_their_weight() {
        let one = || result(&[far(0.015), far(0.8)], true);
        assert_eq!(decided(vec![one()], Rounds::Fixed(6)), [[Matters, Open]]);
        let beside = decided(vec![one(), result(&[], true)], Rounds::Fixed(6));
        assert_eq!(beside, [vec![Open, Open], vec![]]);
    }

    #[test]
    fn what_lies_within_the_margin_does_not_matter_however_sure_it_is() {
        let within = (1e-9, 1.01, 1.0299);
        let over = (1e-9, 1.01, 1.0301);
        let below = (0.9, 1.0 / 1.0299, 1.0);
        let further = (0.9, 1.0 / 1.0301, 1.0);
        let found = decided(vec![result(&[within, over, below, further], true)], Rounds::Fixed(6));
        assert_eq!(found, [[DoesNot, Matters, DoesNot, Open]]);
    }

    #[test]
    fn what_changes_the_effect_of_another_option_does_something_whatever_it_does_on_average() {
        let within = (0.9, 0.99, 1.01);
        let mut of = result(&[within, within, within], true);
        let design = crate::screening::Design::new(3);
        let column = design.pairs[0].clone();
        let known = of.known.as_mut().unwrap();
        known.interactions = vec![crate::screening::Candidate { pair: (0, 2), column }];
        assert_eq!(decided(vec![of], Rounds::Fixed(6)), [[Open, DoesNot, Open]]);
    }

    #[test]
    fn nothing_is_decided_before_its_look_and_looks_share_what_there_is() {
        assert_eq!(decided(vec![result(&[far(1e-9), (1e-9, 1.0, 1.01)], false)], Rounds::Fixed(6)), [[Open; 2]]);
        let of = |rounds: Rounds| decided(vec![result(&[far(0.02)], true)], rounds);
        assert_eq!((of(Rounds::Fixed(6)), of(Rounds::Auto)), (vec![vec![Matters]], vec![vec![Open]]));
    }
}
