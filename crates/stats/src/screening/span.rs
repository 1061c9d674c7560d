//! What of columns is left beside others (Gram and Schmidt).

use super::design::Column;
use super::effects::dot;

/// A column of which less than this share is left beside others is one of them, or a sum of them.
pub(super) const NOTHING_LEFT: f64 = 1e-9;

/// All sums of some columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Span {
    /// Of length one, each at right angles to the others.
    basis: Vec<Column>,
}

impl Span {
    /// Of these columns.
    pub(super) fn new<'a>(columns: impl IntoIterator<Item = &'a Column>) -> Span {
        let mut span = Span::default();
        for column in columns {
            span.add(column);
        }
        span
    }

    /// Adds a column, and gives what of it was not there yet; `None`: it is a sum of those that are.
    pub(super) fn add(&mut self, column: &Column) -> Option<Column> {
        let left = self.beside(column)?;
        let length = dot(&left, &left).sqrt();
        self.basis.push(left.iter().map(|of| of / length).collect());
        Some(left)
    }

    /// What of a column is left beside those of the span; `None`: nothing.
    pub(super) fn beside(&self, column: &Column) -> Option<Column> {
        let mut left = column.clone();
        for of in &self.basis {
            let along = dot(&left, of);
            left.iter_mut().zip(of).for_each(|(left, of)| *left -= along * of);
        }
        (dot(&left, &left) > NOTHING_LEFT * dot(column, column)).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_stands_at_right_angles_and_a_sum_leaves_nothing() {
        let (a, b) = (vec![1.0, 1.0, 1.0, 1.0], vec![1.0, 1.0, 1.0, -1.0]);
        let mut span = Span::new([&a]);
        assert_eq!(span.beside(&b), Some(vec![0.5, 0.5, 0.5, -1.5]));
        assert_eq!(span.add(&b), Some(vec![0.5, 0.5, 0.5, -1.5]));
        let sum: Column = a.iter().zip(&b).map(|(a, b)| 2.0 * a - 3.0 * b).collect();
        assert_eq!((span.beside(&sum), span.add(&a)), (None, None));
        assert_eq!(span.basis.len(), 2);
        assert_eq!(Span::default().beside(&a), Some(a));
    }
}
