//! A value for each of very many things, kept as a few ranges.

use std::ops::Range;

/// A value for each of `0..count`; neighbours of equal value are one piece, so that memory follows
/// the number of changes and never the count.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces<T> {
    pieces: Vec<(Range<u64>, T)>,
}

impl<T: Clone + PartialEq> Pieces<T> {
    /// The same value for all.
    pub fn new(count: u64, value: T) -> Self {
        let pieces = if count == 0 { Vec::new() } else { vec![(0..count, value)] };
        Pieces { pieces }
    }

    /// All pieces in order.
    pub fn all(&self) -> &[(Range<u64>, T)] {
        &self.pieces
    }

    /// The pieces of a range, cut to it.
    pub fn within(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &T)> {
        let first = self.pieces.partition_point(|(piece, _)| piece.end <= range.start);
        self.pieces[first..]
            .iter()
            .take_while(move |(piece, _)| piece.start < range.end)
            .map(move |(piece, value)| (piece.start.max(range.start)..piece.end.min(range.end), value))
            .filter(|(piece, _)| !piece.is_empty())
    }

    /// The value of one thing; `None` beyond the last.
    pub fn at(&self, number: u64) -> Option<&T> {
        self.within(number..number.saturating_add(1)).next().map(|(_, value)| value)
    }

    /// Changes the values of a range.
    pub fn change(&mut self, range: Range<u64>, mut change: impl FnMut(&mut T)) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let inside = |piece: &Range<u64>| piece.start >= range.start && piece.end <= range.end;
        self.pieces.iter_mut().filter(|(piece, _)| inside(piece)).for_each(|(_, value)| change(value));
        // What has become equal to its neighbour is one piece again.
        self.pieces.dedup_by(|later, earlier| {
            let joined = earlier.1 == later.1;
            if joined {
                earlier.0.end = later.0.end;
            }
            joined
        });
    }

    fn cut(&mut self, at: u64) {
        if let Some(index) = self.pieces.iter().position(|(piece, _)| piece.start < at && at < piece.end) {
            let (piece, value) = self.pieces[index].clone();
            self.pieces[index].0.end = at;
            self.pieces.insert(index + 1, (at..piece.end, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_changed_and_joined_again() {
        let mut pieces = Pieces::new(1_000_000_000_000, 0);
        pieces.change(10..20, |value| *value += 1);
        pieces.change(15..30, |value| *value += 1);
        assert_eq!(
            pieces.all(),
            [(0..10, 0), (10..15, 1), (15..20, 2), (20..30, 1), (30..1_000_000_000_000, 0)].as_slice()
        );
        assert_eq!(pieces.at(17), Some(&2));
        assert_eq!(pieces.at(1_000_000_000_000), None);
        assert_eq!(pieces.within(12..21).collect::<Vec<_>>(), [(12..15, &1), (15..20, &2), (20..21, &1)]);
        pieces.change(0..1_000_000_000_000, |value| *value = 7);
        assert_eq!(pieces.all().len(), 1);
        assert!(Pieces::new(0, 1).all().is_empty());
    }
}
