//! Estimates on logarithms: geometric means, paired ratios, their spread and correlation.

use crate::student;

/// Number, mean and standard deviation of figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// How many figures.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n - 1; 0 for fewer than two.
    pub deviation: f64,
}

/// Number, mean and standard deviation; `None` for no figures.
pub fn moments(figures: &[f64]) -> Option<Moments> {
    if figures.is_empty() {
        return None;
    }
    let count = figures.len();
    let mean = figures.iter().sum::<f64>() / count as f64;
    let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
    let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
    Some(Moments { count, mean, deviation })
}

/// Median; `None` for no figures. Figures that are not numbers are left out.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = figures.into_iter().filter(|figure| figure.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        even if even % 2 == 0 => Some(sorted[middle - 1] / 2.0 + sorted[middle] / 2.0),
        _ => Some(sorted[middle]),
    }
}

/// A figure that a logarithm can be taken of. A rate of zero is none, and an outcome all the same: see
/// [`crate::series::LaneSeries::stood_still`].
pub fn usable(figure: f64) -> bool {
    figure.is_finite() && figure > 0.0
}

/// A mean with its 95 % interval (Student's t on logarithms).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Geometric mean; arithmetic where some figures are zero.
    pub mean: f64,
    /// 95 % interval; `None` with fewer than two figures.
    pub interval: Option<(f64, f64)>,
    /// Figures that count.
    pub count: usize,
}

/// The geometric mean of one lane's figures; those that are no positive number are left out.
/// `None` where none is left.
pub fn level(figures: &[f64]) -> Option<Level> {
    let logs: Vec<f64> = figures.iter().copied().filter(|&figure| usable(figure)).map(f64::ln).collect();
    let of = moments(&logs)?;
    let interval = (of.count >= 2).then(|| {
        let half = student::two_sided_quantile(0.05, (of.count - 1) as f64) * of.deviation / (of.count as f64).sqrt();
        ((of.mean - half).exp(), (of.mean + half).exp())
    });
    let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    Some(Level { mean: of.mean.exp(), interval, count: of.count })
}

/// The arithmetic mean of one lane's figures of which some are zero, without an interval: a geometric mean
/// of a zero is zero, and of the others alone it would be that of the good rounds. `None` where no
/// figure is a number.
pub fn level_with_zeros(figures: &[f64]) -> Option<Level> {
    let counted: Vec<f64> = figures.iter().copied().filter(|figure| figure.is_finite() && *figure >= 0.0).collect();
    // A sum beyond what a number can hold is no mean.
    let of = moments(&counted).filter(|of| of.mean.is_finite())?;
    Some(Level { mean: of.mean, interval: None, count: of.count })
}

/// ln(a/b) for every round in which both lanes have a usable figure, in order of rounds. Both lists
/// are (round, figure), sorted by round.
pub fn paired_differences(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<f64> {
    a.iter()
        .filter_map(|&(round, of_a)| {
            let at = b.binary_search_by_key(&round, |&(round, _)| round).ok()?;
            let of_b = b[at].1;
            (usable(of_a) && usable(of_b)).then(|| of_a.ln() - of_b.ln())
        })
        .collect()
}

/// Lag-1 autocorrelation of figures in time order, as it is computed: r1 = Σ d(t) d(t+1) / Σ d(t)²
/// about the mean. `None` for fewer than three figures or no variation.
pub fn lag1(figures: &[f64]) -> Option<f64> {
    let of = moments(figures).filter(|of| of.count >= 3 && of.deviation > 0.0)?;
    let squares: f64 = figures.iter().map(|figure| (figure - of.mean).powi(2)).sum();
    let products: f64 = figures.windows(2).map(|two| (two[0] - of.mean) * (two[1] - of.mean)).sum();
    Some(products / squares).filter(|r| r.is_finite())
}

/// The difference of two means of unpaired figures (Welch 1947), mean(b) - mean(a).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// mean(b) - mean(a).
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom by Satterthwaite; `None` where neither side varies.
    pub degrees: Option<f64>,
}

impl Welch {
    /// Half-width of the 95 % interval.
    pub fn half_width(&self, p: f64) -> f64 {
        self.degrees.map_or(0.0, |degrees| student::two_sided_quantile(p, degrees) * self.error)
    }
}

/// Compares unpaired figures; `None` where one side has fewer than two or they are no numbers.
pub fn welch(a: &[f64], b: &[f64]) -> Option<Welch> {
    let (of_a, of_b) = (moments(a)?, moments(b)?);
    if of_a.count < 2 || of_b.count < 2 {
        return None;
    }
    let part = |of: &Moments| of.deviation.powi(2) / of.count as f64;
    let (part_a, part_b) = (part(&of_a), part(&of_b));
    let both = part_a + part_b;
    let difference = of_b.mean - of_a.mean;
    let squares = part_a * part_a / (of_a.count - 1) as f64 + part_b * part_b / (of_b.count - 1) as f64;
    let degrees = (squares > 0.0).then(|| both * both / squares);
    (difference.is_finite() && both.is_finite()).then(|| Welch { difference, error: both.sqrt(), degrees })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_geometric_mean_with_students_interval() {
        let of = level(&[100.0, 200.0, 400.0]).unwrap();
        assert!((of.mean - 200.0).abs() < 1e-9);
        // sd of logs is ln 2, t(0.05, 2) = 4.302653.
        let half = 4.302_653 * std::f64::consts::LN_2 / 3_f64.sqrt();
        let (low, high) = of.interval.unwrap();
        assert!((low.ln() - (200_f64.ln() - half)).abs() < 1e-5 && (high.ln() - (200_f64.ln() + half)).abs() < 1e-5);
    }

    #[test]
    fn zero_and_figures_that_are_no_numbers_are_left_out() {
        assert_eq!(level(&[f64::NAN, 0.0, -3.0, f64::INFINITY]), None);
        assert_eq!(level(&[f64::NAN, 5.0]).unwrap().count, 1);
        assert_eq!(level(&[5.0]).unwrap().interval, None);
    }

    #[test]
    fn zeros_count_in_a_mean_of_their_own_which_has_no_interval() {
        let of = level_with_zeros(&[0.0, 105.0, 105.0, 0.0, f64::NAN]).unwrap();
        assert_eq!((of.mean, of.count, of.interval), (52.5, 4, None));
        assert_eq!(level_with_zeros(&[f64::NAN]), None);
    }

    #[test]
    fn only_rounds_that_both_lanes_have_are_paired() {
        let a = [(1, 2.0), (2, 4.0), (4, 8.0), (5, 0.0)];
        let b = [(1, 1.0), (3, 1.0), (4, 2.0), (5, 1.0)];
        let found = paired_differences(&a, &b);
        assert_eq!(found.len(), 2);
        assert!((found[0] - 2_f64.ln()).abs() < 1e-12 && (found[1] - 4_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median([3.0, 1.0, 2.0, f64::NAN, 10.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn lag_one_correlation_matches_a_hand_calculation() {
        // About the mean 3: -2 -1 0 1 2; products 2 + 0 + 0 + 2, squares 10.
        assert!((lag1(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(lag1(&[1.0, 1.0, 1.0]), None);
    }

    #[test]
    fn welchs_test_matches_its_formula_worked_by_hand() {
        // a: n 4, mean 2.5, variance 5/3; b: n 3, mean 7, variance 9. Error² = 5/12 + 3 = 3.41667;
        // df = 3.41667² / ((5/12)²/3 + 9/2) = 2.56115.
        let of = welch(&[1.0, 2.0, 3.0, 4.0], &[4.0, 7.0, 10.0]).unwrap();
        assert!((of.difference - 4.5).abs() < 1e-12 && (of.error - 3.416_667_f64.sqrt()).abs() < 1e-6);
        assert!((of.degrees.unwrap() - 2.561_2).abs() < 1e-3, "{:?}", of.degrees);
        assert_eq!(welch(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]).unwrap().half_width(0.05), 0.0);
    }
}
