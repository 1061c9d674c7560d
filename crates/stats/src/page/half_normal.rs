//! The effects of a screening as points of half-normal plots.

use super::DIGITS;
use crate::student;
use crate::timeline::digits;
use model::findings::{Findings, ScreenedResult};
use model::page::{HalfNormal, HalfNormalPoint};

/// A plot for each result of a screening that tells effects.
///
/// Of effects that are chance alone the sizes are those of normal deviates, so that the points lie on a line through zero,
/// and what is not chance lies above it (Daniel 1959, Use of half-normal plots in interpreting factorial two-level
/// experiments).
pub(super) fn plots(findings: &Findings) -> Vec<HalfNormal> {
    let results = findings.screening.iter().flat_map(|screening| &screening.results);
    let plot = |result: &ScreenedResult| {
        let points = points(result);
        let (workload, group) = (result.workload.clone(), result.group.clone());
        (!points.is_empty()).then_some(HalfNormal { workload, group, points })
    };
    results.filter_map(plot).collect()
}

/// The point i of n stands at the quantile (i - 0.5)/n of the half-normal distribution.
fn points(result: &ScreenedResult) -> Vec<HalfNormalPoint> {
    let of_options = result.effects.iter().map(|effect| (Some(&effect.factor), effect.ratio));
    let of_chance = result.spare.iter().map(|&ratio| (None, ratio));
    let sizes = of_options.chain(of_chance).map(|(factor, ratio)| (factor, ratio.ln().abs()));
    let mut sizes: Vec<(Option<&String>, f64)> = sizes.filter(|(_, size)| size.is_finite()).collect();
    sizes.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = sizes.len() as f64;
    let point = |(at, (factor, size)): (usize, (Option<&String>, f64))| {
        let beyond = 1.0 - (at as f64 + 0.5) / count;
        // Of so many degrees of freedom it is the normal's.
        let quantile = student::two_sided_quantile(beyond, f64::INFINITY);
        HalfNormalPoint { factor: factor.cloned(), quantile: digits(quantile, DIGITS), size: digits(size, DIGITS) }
    };
    sizes.into_iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::findings::{Effect, EffectVerdict};

    fn result(effects: &[(&str, f64)], spare: &[f64]) -> ScreenedResult {
        let effect = |&(factor, ratio): &(&str, f64)| Effect {
            factor: factor.to_owned(),
            ratio,
            low: ratio * 0.98,
            high: ratio * 1.02,
            p: 0.5,
            verdict: EffectVerdict::Open,
        };
        ScreenedResult {
            workload: "commit".to_owned(),
            title: "commit 4 KiB".to_owned(),
            group: "write".to_owned(),
            metric: "operations_per_second".to_owned(),
            higher_is_better: true,
            rounds: 4,
            unknown: None,
            effects: effects.iter().map(effect).collect(),
            interactions: Vec::new(),
            deviation: None,
            spare: spare.to_vec(),
            lanes_differ: false,
        }
    }

    #[test]
    fn points_rise_and_stand_at_the_quantiles_of_the_half_normal_distribution() {
        let points = points(&result(&[("logbsize", 1.2), ("reflink", 0.9)], &[1.01, 0.995]));
        let named: Vec<Option<&str>> = points.iter().map(|point| point.factor.as_deref()).collect();
        assert_eq!(named, [None, None, Some("reflink"), Some("logbsize")]);
        // Of four: the quantiles 0.125, 0.375, 0.625 and 0.875, as tables of the normal distribution have them.
        for (point, quantile) in points.iter().zip([0.157_311, 0.488_776, 0.887_147, 1.534_121]) {
            assert!((point.quantile - quantile).abs() < 1e-5, "{point:?}");
        }
        for (point, size) in points.iter().zip([0.995_f64, 1.01, 0.9, 1.2]) {
            assert!((point.size - size.ln().abs()).abs() < 1e-6, "{point:?}");
        }
    }

    #[test]
    fn a_better_and_a_worse_effect_of_one_size_are_alike_and_what_is_no_number_is_left_out() {
        let points = points(&result(&[("a", 1.25), ("b", 0.8), ("c", f64::NAN), ("d", 0.0)], &[]));
        assert_eq!(points.len(), 2);
        assert!((points[0].size - points[1].size).abs() < 1e-6, "{points:?}");
        assert!(super::points(&result(&[], &[])).is_empty());
    }
}
