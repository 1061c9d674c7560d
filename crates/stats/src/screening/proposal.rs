//! What to take after a screening (method 9.7).

use super::ratio;
use model::findings::{Effect, EffectVerdict, ExpectedGain, Interaction, Proposal, ScreenedResult};
use model::screening::{Factor, OptionClass};

/// What all results together say of one factor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It matters nowhere, or is worse where it does.
    NoGain,
    /// Better somewhere and found worse nowhere.
    Gain,
    /// Better somewhere and worse elsewhere.
    Both,
}

/// Logarithms nearer to zero are zero but for their last digits.
const ROUNDING: f64 = 1e-9;

/// What to take: factors that gain somewhere and are found to lose nowhere, beside what else is taken, of those that change no
/// promise.
pub(super) fn propose(factors: &[Factor], results: &[ScreenedResult]) -> Proposal {
    let such = |wanted: &dyn Fn(&Factor, Said) -> bool| -> Vec<String> {
        let kept = factors.iter().filter(|factor| wanted(factor, said_of(&factor.name, results)));
        kept.map(|factor| factor.name.clone()).collect()
    };
    let is_ordinary = |factor: &Factor| factor.class == OptionClass::Ordinary;
    let mut taken = such(&|factor, said| said == Said::Gain && is_ordinary(factor));
    let mut mixed = such(&|_, said| said == Said::Both);
    while let Some(loser) = loser(&taken, results).or_else(|| loser_together(&taken, results)) {
        mixed.push(taken.remove(loser));
    }
    Proposal {
        mixed,
        promises: such(&|factor, said| said == Said::Gain && !is_ordinary(factor)),
        expected: results.iter().filter_map(|result| expected(result, &taken)).collect(),
        factors: taken,
        ..Proposal::default()
    }
}

fn said_of(factor: &str, results: &[ScreenedResult]) -> Said {
    let there =
        || results.iter().flat_map(|result| &result.effects).filter(move |of| of.factor == factor && matters(of));
    match (there().any(|of| of.ratio > 1.0), there().any(|of| of.ratio < 1.0)) {
        (true, true) => Said::Both,
        (true, false) => Said::Gain,
        (false, _) => Said::NoGain,
    }
}

/// The place of the factor of those taken that is expected to lose most in any figure; `None`: none is expected to lose.
fn loser(taken: &[String], results: &[ScreenedResult]) -> Option<usize> {
    let least = |name: &String| results.iter().filter_map(|result| beside(result, name, taken)).fold(0.0, f64::min);
    let all = taken.iter().map(least).enumerate();
    all.filter(|(_, least)| *least < -ROUNDING).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

/// Where some figure is expected to lose by all that is taken together, the place of the factor that brings least there;
/// `None`: none is expected to.
fn loser_together(taken: &[String], results: &[ScreenedResult]) -> Option<usize> {
    let log = |result: &&ScreenedResult| expected(result, taken).map_or(0.0, |of| of.ratio.ln());
    let worst = results.iter().filter(|of| log(of) < -ROUNDING).min_by(|a, b| log(a).total_cmp(&log(b)))?;
    let brings = |name: &String| beside(worst, name, taken);
    let all = taken.iter().enumerate().filter_map(|(place, name)| Some((place, brings(name)?)));
    all.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

/// ln of what a factor does to a figure beside what else is taken, where everything else is at its usual level: 2a + 2b with
/// each that is taken and interacts with it, 2a - 2b with each other. `None`: nothing is found of it there.
fn beside(result: &ScreenedResult, name: &str, taken: &[String]) -> Option<f64> {
    let effect = result.effects.iter().find(|of| of.factor == *name)?;
    let part = |of: &Interaction| {
        let other = match &of.factors {
            [one, other] if one == name => other,
            [other, one] if one == name => other,
            _ => return None,
        };
        let half = of.ratio.ln() / 2.0;
        Some(if taken.contains(other) { half } else { -half })
    };
    let parts: Vec<f64> = result.interactions.iter().filter_map(part).collect();
    (matters(effect) || !parts.is_empty()).then(|| effect.ratio.ln() + parts.iter().sum::<f64>())
}

fn matters(effect: &Effect) -> bool {
    effect.verdict == EffectVerdict::Matters
}

/// What the proposal should come to in one figure; `None`: none of its factors matters there.
///
/// Effects are those on average over the levels of all other factors. Where one that is taken and one that is not change each
/// other's effect, the effect is another one than on average: 2a - 2b instead of 2a, as e to the 4b is their ratio. Where both
/// are taken, what the one gains by the other and what it lost on average add up to nothing.
fn expected(result: &ScreenedResult, taken: &[String]) -> Option<ExpectedGain> {
    let is_taken = |name: &String| taken.contains(name);
    let gains = |name: &String| result.effects.iter().any(|of| of.factor == *name && matters(of)) && is_taken(name);
    let logs: Vec<f64> =
        result.effects.iter().filter(|of| matters(of) && is_taken(&of.factor)).map(|of| of.ratio.ln()).collect();
    let beside = |of: &&Interaction| {
        let [a, b] = &of.factors;
        (gains(a) && !is_taken(b)) || (gains(b) && !is_taken(a))
    };
    let lost: f64 = result.interactions.iter().filter(beside).map(|of| of.ratio.ln() / 2.0).sum();
    let gain = ratio(logs.iter().sum::<f64>() - lost);
    (!logs.is_empty()).then(|| ExpectedGain {
        workload: result.workload.clone(),
        group: result.group.clone(),
        title: result.title.clone(),
        ratio: gain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::screening::OptionLevel;

    fn factor(name: &str, class: OptionClass) -> Factor {
        Factor {
            name: name.to_owned(),
            usual: OptionLevel::default(),
            other: OptionLevel::default(),
            further: Vec::new(),
            class,
            costs: String::new(),
            table_usual: String::new(),
        }
    }

    fn result(title: &str, effects: &[(&str, f64, EffectVerdict)]) -> ScreenedResult {
        let effect = |&(factor, ratio, verdict): &(&str, f64, EffectVerdict)| Effect {
            factor: factor.to_owned(),
            ratio,
            low: ratio,
            high: ratio,
            p: 0.0,
            verdict,
        };
        ScreenedResult {
            workload: title.to_owned(),
            title: title.to_owned(),
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
        }
    }

    fn interaction(factors: &[String; 2], ratio: f64) -> Interaction {
        Interaction { factors: factors.clone(), ratio, low: ratio, high: ratio, aliases: Vec::new(), partial: 0 }
    }

    use EffectVerdict::{DoesNot, Matters, Open};
    use OptionClass::{Ordinary, Promises, Unknown};

    #[test]
    fn what_gains_somewhere_and_costs_nowhere_is_taken_unless_it_changes_a_promise() {
        let factors = [
            factor("gains", Ordinary),
            factor("risky", Promises),
            factor("odd", Unknown),
            factor("both", Ordinary),
            factor("loses", Ordinary),
            factor("open", Ordinary),
        ];
        let results = [
            result(
                "commits",
                &[
                    ("gains", 1.2, Matters),
                    ("risky", 1.5, Matters),
                    ("odd", 1.3, Matters),
                    ("both", 1.1, Matters),
                    ("loses", 0.8, Matters),
                ],
            ),
            result("reads", &[("gains", 0.99, DoesNot), ("both", 0.9, Matters), ("open", 1.4, Open)]),
        ];
        let found = propose(&factors, &results);
        assert_eq!(
            (found.factors, found.promises, found.mixed),
            (vec!["gains".to_owned()], vec!["risky".to_owned(), "odd".to_owned()], vec!["both".to_owned()])
        );
        // In reads nothing of what is taken matters.
        let (workload, title) = ("commits".to_owned(), "commits".to_owned());
        let gain = ExpectedGain { workload, group: String::new(), title, ratio: 1.2_f64.ln().exp() };
        assert_eq!(found.expected, [gain]);
        assert_eq!(propose(&factors, &[]), Proposal::default());
    }

    #[test]
    fn what_would_lose_beside_what_else_is_taken_is_not_taken() {
        // On average over the other one's levels each gains; beside the other one each loses 16 % of that.
        let mut of = result("commits", &[("a", 1.15, Matters), ("b", 1.1, Matters)]);
        let factors = ["a", "b"].map(|name| factor(name, Ordinary));
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(propose(&factors, std::slice::from_ref(&of)).factors, names);
        of.interactions = vec![interaction(&names, 0.7)];
        let found = propose(&factors, std::slice::from_ref(&of));
        // The one that would lose more goes, and the other gains more without it.
        assert_eq!((found.factors, found.mixed), (vec!["a".to_owned()], vec!["b".to_owned()]));
        assert!((found.expected[0].ratio - 1.15 / 0.7_f64.sqrt()).abs() < 1e-9, "{:?}", found.expected);
        // An option that changes what another one gains, where it does not matter itself, counts too.
        let mut elsewhere = result("reads", &[("a", 1.0, Open), ("b", 1.2, Matters)]);
        elsewhere.interactions = vec![interaction(&names, 0.9)];
        let commits = result("commits", &[("a", 1.1, Matters), ("b", 1.1, Matters)]);
        let found = propose(&factors, &[commits, elsewhere]);
        assert_eq!((found.factors, found.mixed), (vec!["b".to_owned()], vec!["a".to_owned()]));
    }

    #[test]
    fn what_would_lose_together_is_not_taken_whole() {
        // Each gains beside the other, and loses more without c, which is not taken because it changes a promise.
        let mut of = result("commits", &[("a", 1.05, Matters), ("b", 1.05, Matters)]);
        let factors = [factor("a", Ordinary), factor("b", Ordinary), factor("c", Promises)];
        let names = ["a", "b", "c"].map(str::to_owned);
        let pair = |a: usize, b: usize| [names[a].clone(), names[b].clone()];
        of.interactions = vec![interaction(&pair(0, 1), 0.4_f64.exp()), interaction(&pair(0, 2), 0.4_f64.exp())];
        assert!(expected(&of, &names[..2]).unwrap().ratio < 0.91);
        let found = propose(&factors, std::slice::from_ref(&of));
        assert!(found.expected.iter().all(|of| of.ratio > 1.0 - 1e-9), "{found:?}");
        assert_eq!((found.factors, found.mixed), (vec![], vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_is_expected_counts_interactions_with_what_is_not_taken() {
        // Rates by (a, b): 100 and 110 where b is usual, 100 and 121 where it is not.
        let (a, b) = ((1.1_f64 * 1.21).sqrt(), 1.1_f64.sqrt());
        let mut of = result("commits", &[("a", a, Matters), ("b", b, Matters)]);
        let factors = ["a".to_owned(), "b".to_owned()];
        of.interactions = vec![interaction(&factors, 1.1)];
        let ratio = |taken: &[String]| expected(&of, taken).unwrap().ratio;
        assert!((ratio(&factors) - 1.21).abs() < 1e-9, "both");
        assert!((ratio(&factors[..1]) - 1.1).abs() < 1e-9, "a alone");
        assert!((ratio(&factors[1..]) - 1.0).abs() < 1e-9, "b alone");
        assert_eq!(expected(&of, &[]), None);
    }
}
