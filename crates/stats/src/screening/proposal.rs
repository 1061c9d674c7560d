//! What to take after a screening (method 9.7).

use super::ratio;
use model::findings::{Effect, EffectVerdict, ExpectedGain, Interaction, Proposal, ScreenedResult};
use model::screening::{Factor, OptionClass};

/// What all results together say of one factor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It matters nowhere, or is worse where it does.
    NoGain,
    /// Better somewhere and worse nowhere.
    Gain,
    /// Better somewhere and worse elsewhere.
    Both,
}

/// What to take: factors that gain somewhere and cost nothing anywhere, of those that change no promise.
pub(super) fn propose(factors: &[Factor], results: &[ScreenedResult]) -> Proposal {
    let such = |wanted: &dyn Fn(&Factor, Said) -> bool| -> Vec<String> {
        let kept = factors.iter().filter(|factor| wanted(factor, said_of(&factor.name, results)));
        kept.map(|factor| factor.name.clone()).collect()
    };
    let gains = |factor: &Factor, said: Said, class: OptionClass| said == Said::Gain && factor.class == class;
    let taken = such(&|factor, said| gains(factor, said, OptionClass::Ordinary));
    Proposal {
        mixed: such(&|_, said| said == Said::Both),
        promises: such(&|factor, said| gains(factor, said, OptionClass::Promises)),
        expected: results.iter().filter_map(|result| expected(result, &taken)).collect(),
        factors: taken,
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
    (!logs.is_empty()).then(|| ExpectedGain { title: result.title.clone(), ratio: gain })
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

    use EffectVerdict::{DoesNot, Matters, Open};
    use OptionClass::{Ordinary, Promises};

    #[test]
    fn what_gains_somewhere_and_costs_nowhere_is_taken_unless_it_changes_a_promise() {
        let factors = [
            factor("gains", Ordinary),
            factor("risky", Promises),
            factor("both", Ordinary),
            factor("loses", Ordinary),
            factor("open", Ordinary),
        ];
        let results = [
            result(
                "commits",
                &[("gains", 1.2, Matters), ("risky", 1.5, Matters), ("both", 1.1, Matters), ("loses", 0.8, Matters)],
            ),
            result("reads", &[("gains", 0.99, DoesNot), ("both", 0.9, Matters), ("open", 1.4, Open)]),
        ];
        let found = propose(&factors, &results);
        assert_eq!(
            (found.factors, found.promises, found.mixed),
            (vec!["gains".to_owned()], vec!["risky".to_owned()], vec!["both".to_owned()])
        );
        // In reads nothing of what is taken matters.
        assert_eq!(found.expected, [ExpectedGain { title: "commits".to_owned(), ratio: 1.2_f64.ln().exp() }]);
        assert_eq!(propose(&factors, &[]), Proposal::default());
    }

    #[test]
    fn what_is_expected_counts_interactions_with_what_is_not_taken() {
        // Rates by (a, b): 100 and 110 where b is usual, 100 and 121 where it is not.
        let (a, b) = ((1.1_f64 * 1.21).sqrt(), 1.1_f64.sqrt());
        let mut of = result("commits", &[("a", a, Matters), ("b", b, Matters)]);
        let factors = ["a".to_owned(), "b".to_owned()];
        of.interactions =
            vec![Interaction { factors: factors.clone(), ratio: 1.1, low: 1.0, high: 1.2, aliases: Vec::new() }];
        let ratio = |taken: &[String]| expected(&of, taken).unwrap().ratio;
        assert!((ratio(&factors) - 1.21).abs() < 1e-9, "both");
        assert!((ratio(&factors[..1]) - 1.1).abs() < 1e-9, "a alone");
        assert!((ratio(&factors[1..]) - 1.0).abs() < 1e-9, "b alone");
        assert_eq!(expected(&of, &[]), None);
    }
}
