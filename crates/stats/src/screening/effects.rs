//! Effects as contrasts: figures where a column is at its other level, beside those where it is not.

use super::design::Column;

/// The mean of each row.
pub(super) fn means(rows: &[Vec<f64>]) -> Vec<f64> {
    rows.iter().map(|row| row.iter().sum::<f64>() / row.len().max(1) as f64).collect()
}

/// The sum of the products of two columns.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The column that is at its other level where two are alike.
pub(super) fn product(a: &[f64], b: &[f64]) -> Column {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// The mean of the figures where a column of ±1 is 1, less their mean where it is -1: 2/L Σ x y. One figure for each of the L
/// runs of a column that is balanced.
pub(super) fn contrast(column: &[f64], figures: &[f64]) -> f64 {
    2.0 / figures.len().max(1) as f64 * dot(column, figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screening::design::Design;

    #[track_caller]
    fn close(found: f64, told: f64) {
        assert!((found - told).abs() < 1e-9, "{found}, the book says {told}");
    }

    #[test]
    fn the_pilot_plant_of_box_hunter_and_hunter_has_the_effects_of_the_book() {
        // Statistics for Experimenters, 2nd edition, chapter 5, in standard order: temperature, concentration, catalyst.
        let yields = [60.0, 72.0, 54.0, 68.0, 52.0, 83.0, 45.0, 80.0];
        let Design { factors, spare, .. } = Design::new(3);
        let [t, c, k] = factors.as_slice() else { panic!("three factors") };
        close(contrast(t, &yields), 23.0);
        close(contrast(c, &yields), -5.0);
        close(contrast(k, &yields), 1.5);
        close(contrast(&product(t, c), &yields), 1.5);
        close(contrast(&product(t, k), &yields), 10.0);
        close(contrast(&product(c, k), &yields), 0.0);
        close(contrast(&spare[0], &yields), 0.5);
    }

    #[test]
    fn the_process_development_of_box_hunter_and_hunter_has_the_effects_of_the_book() {
        // The same chapter, in standard order: catalyst charge, temperature, pressure, concentration.
        let conversions =
            [71.0, 61.0, 90.0, 82.0, 68.0, 61.0, 87.0, 80.0, 61.0, 50.0, 89.0, 83.0, 59.0, 51.0, 85.0, 78.0];
        let Design { factors, spare, .. } = Design::new(4);
        for (column, effect) in factors.iter().zip([-8.0, 24.0, -2.25, -5.5]) {
            close(contrast(column, &conversions), effect);
        }
        // Temperature with concentration is the one interaction of two that the book finds.
        close(contrast(&product(&factors[1], &factors[3]), &conversions), 4.5);
        // Interactions of three and four, from which the book takes its error: 123, 124, 134, 234 and 1234.
        let mut found: Vec<f64> = spare.iter().map(|column| contrast(column, &conversions)).collect();
        found.sort_by(f64::total_cmp);
        for (found, told) in found.into_iter().zip([-0.75, -0.75, -0.25, -0.25, 0.5]) {
            close(found, told);
        }
    }

    #[test]
    fn all_columns_together_hold_all_that_figures_show() {
        // Of 16 lanes: 15 columns, of which 8 are odd (factors and spare ones) and 7 even (products of two).
        let figures: Vec<f64> = (0..16).map(|lane| f64::from(lane * lane % 11)).collect();
        let Design { factors, spare, pairs } = Design::new(7);
        let part = |column: &Column| contrast(column, &figures).powi(2) * 16.0 / 4.0;
        let whole: f64 = factors.iter().chain(&spare).chain(&pairs).map(part).sum();
        let mean = figures.iter().sum::<f64>() / 16.0;
        let squares: f64 = figures.iter().map(|of| (of - mean).powi(2)).sum();
        assert!((whole - squares).abs() < 1e-9 && squares > 0.0, "{whole} of {squares}");
    }
}
