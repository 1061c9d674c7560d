//! Whether the score in a file of IO500's results is the one that its formula makes of the phases there.

use foreign::{Metric, Results};
use model::findings::{IO500_PHASES, Io500Kind};
use stats::io500::{Score, score};

/// Bytes of one of IO500's GiB.
const GIB: f64 = 1_073_741_824.0;
/// Operations of one of its kIOPS.
const KILO: f64 = 1000.0;
/// By how much a figure is off that has three digits behind its point; newer files have six.
const ROUNDED: f64 = 0.0005;

/// Notes where a total of the file is not what IO500's formula makes of its twelve phases, by more than their digits leave open.
/// Nothing is said where one of them has no figure, and of files whose bandwidths are not in GiB/s.
pub(super) fn check_score(results: &mut Results) {
    if let Some(note) = differing(results) {
        results.notes.push(note);
    }
}

fn differing(results: &Results) -> Option<String> {
    let of_kind = |kind: Io500Kind| -> Option<Vec<f64>> {
        let names = IO500_PHASES.iter().filter(|(_, counts)| *counts == kind);
        names.map(|(name, _)| figure(results, name)).collect()
    };
    let (bandwidths, rates) = (of_kind(Io500Kind::Bandwidth)?, of_kind(Io500Kind::Metadata)?);
    let made = score(&bandwidths, &rates)?;
    let [bandwidth, metadata, total] = ["BW", "MD", "SCORE"].map(|name| figure(results, &format!("IO500 {name}")));
    let said = Score { bandwidth: bandwidth?, metadata: metadata?, total: total? };
    let (of_bandwidth, of_metadata) = (left_open(&bandwidths), left_open(&rates));
    let is_off = |said: f64, made: f64, open: f64| (said - made).abs() > made * open + ROUNDED;
    let differs = is_off(said.bandwidth, made.bandwidth, of_bandwidth)
        || is_off(said.metadata, made.metadata, of_metadata)
        || is_off(said.total, made.total, (of_bandwidth + of_metadata) / 2.0);
    differs.then(|| {
        format!("IO500's formula makes {} of the file's phases; the file says {}.", shown(&made), shown(&said))
    })
}

/// A score as IO500 writes it; what is too large for one stays short.
fn shown(score: &Score) -> String {
    let figure = |of: f64| if of < 1e12 { format!("{of:.6}") } else { format!("{of:e}") };
    format!("BW {}, MD {} and SCORE {}", figure(score.bandwidth), figure(score.metadata), figure(score.total))
}

/// The share of a geometric mean that the digits of its figures leave open.
fn left_open(figures: &[f64]) -> f64 {
    figures.iter().map(|figure| ROUNDED / figure).sum::<f64>() / figures.len() as f64
}

/// A phase or a total in IO500's own unit; older files write `_` for `-`.
fn figure(results: &Results, name: &str) -> Option<f64> {
    let series = results.series.iter().find(|series| series.workload.replace('_', "-") == name)?;
    let run = *series.runs.first()?;
    match &series.metric {
        Metric::BandwidthBytesPerSecond => Some(run / GIB),
        Metric::OperationsPerSecond => Some(run / KILO),
        Metric::Other { unit, .. } => (unit != "GB/s").then_some(run),
        Metric::Seconds => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of a run that was published with its score (IO500 io500-sc20_v3), in the order of `IO500_PHASES`.
    const PUBLISHED: [f64; 12] = [
        6.173493, 21.002955, 0.328757, 9.818279, 255.641154, 6.647157, 63.395256, 0.902677, 27.472745, 11.505903,
        10.385374, 7.021386,
    ];
    /// Its `[SCORE]`: BW, MD and SCORE.
    const TOTALS: [f64; 3] = [1.868072, 22.952705, 6.548076];

    /// A result.txt of these figures, with so many digits.
    fn result_txt(figures: &[f64], [bandwidth, metadata, total]: [f64; 3], digits: usize) -> String {
        let mut text = "[run]\nprocs           = 10\nversion         = io500-example\n".to_owned();
        for ((name, _), figure) in IO500_PHASES.iter().zip(figures) {
            text.push_str(&format!("\n[{name}]\nscore           = {figure:.digits$}\nt_delta         = 301.0000\n"));
        }
        let totals = format!("MD = {metadata:.digits$}\nBW = {bandwidth:.digits$}\nSCORE = {total:.digits$}\n");
        text + "\n[SCORE]\n" + &totals
    }

    fn differing_in(text: &str) -> Option<String> {
        differing(&foreign::read(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    #[test]
    fn a_published_score_is_that_of_its_phases() {
        assert_eq!(differing_in(&result_txt(&PUBLISHED, TOTALS, 6)), None);
        assert_eq!(differing_in(&result_txt(&PUBLISHED, TOTALS, 3)), None, "older files have three digits");
        let older = result_txt(&PUBLISHED, TOTALS, 6).replace("[ior-", "[ior_").replace("[mdtest-", "[mdtest_");
        assert_eq!(differing_in(&older), None);
    }

    #[test]
    fn a_score_that_is_not_that_of_its_phases_is_noted_with_both() {
        for changed in 0..PUBLISHED.len() {
            let mut figures = PUBLISHED;
            figures[changed] *= 1.05;
            assert!(differing_in(&result_txt(&figures, TOTALS, 6)).is_some(), "{}", IO500_PHASES[changed].0);
        }
        for changed in 0..TOTALS.len() {
            let mut totals = TOTALS;
            totals[changed] *= 1.01;
            assert!(differing_in(&result_txt(&PUBLISHED, totals, 6)).is_some(), "total {changed}");
        }
        let mut results = foreign::read(&result_txt(&PUBLISHED, [1.868072, 22.952705, 7.5], 6)).expect("results");
        check_score(&mut results);
        let note = "IO500's formula makes BW 1.868072, MD 22.952705 and SCORE 6.548076 of the file's phases; the file says \
                    BW 1.868072, MD 22.952705 and SCORE 7.500000.";
        assert_eq!(results.notes.last().map(String::as_str), Some(note));
        let absurd = differing_in(&result_txt(&PUBLISHED, [1e300; 3], 6)).expect("a note");
        assert!(
            absurd.ends_with("the file says BW 1e300, MD 1e300 and SCORE 1e300.") && absurd.len() < 200,
            "{absurd}"
        );
    }

    #[test]
    fn nothing_is_said_of_a_run_without_all_phases_and_totals() {
        let text = result_txt(&PUBLISHED, [9.0, 9.0, 9.0], 6);
        assert!(differing_in(&text).is_some());
        for left_out in ["[find]\n", "SCORE = 9.000000\n", "BW = 9.000000\n"] {
            assert_eq!(differing_in(&text.replace(left_out, "")), None, "{left_out}");
        }
        assert_eq!(differing_in(&text.replace("score           = 255.641154", "score           = 0")), None);
    }
}
