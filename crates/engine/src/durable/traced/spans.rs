//! Spans of a file that have something in common, without overlaps.

use std::collections::BTreeMap;

/// What a span says of its bytes.
pub trait Part: Copy + PartialEq {
    /// The same of the rest of a span, so many bytes behind its begin.
    fn behind(self, bytes: u64) -> Self;
}

impl Part for () {
    fn behind(self, _: u64) -> Self {}
}

/// Spans by their begin: end and what they say. Neighbours that say the same are one.
#[derive(Debug, Clone, PartialEq)]
pub struct Spans<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for Spans<T> {
    fn default() -> Self {
        Spans(BTreeMap::new())
    }
}

impl<T: Part> Spans<T> {
    /// Nothing is said of these bytes any more.
    pub fn cut(&mut self, from: u64, until: u64) {
        if from >= until {
            return;
        }
        let before = self.0.range(..from).next_back().map(|(&begin, &(end, of))| (begin, end, of));
        if let Some((begin, end, of)) = before.filter(|(_, end, _)| *end > from) {
            self.0.insert(begin, (from, of));
            if end > until {
                self.0.insert(until, (end, of.behind(until - begin)));
                return;
            }
        }
        while let Some((&begin, &(end, of))) = self.0.range(from..until).next() {
            self.0.remove(&begin);
            if end > until {
                self.0.insert(until, (end, of.behind(until - begin)));
            }
        }
    }

    /// This is said of these bytes from now on.
    pub fn put(&mut self, from: u64, until: u64, of: T) {
        if from >= until {
            return;
        }
        self.cut(from, until);
        let (mut begin, mut end, mut said) = (from, until, of);
        if let Some((&left, &(left_end, left_of))) = self.0.range(..from).next_back()
            && left_end == from
            && left_of.behind(from - left) == of
        {
            (begin, said) = (left, left_of);
        }
        if let Some(&(right_end, right_of)) = self.0.get(&until)
            && of.behind(until - from) == right_of
        {
            self.0.remove(&until);
            end = right_end;
        }
        self.0.insert(begin, (end, said));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The spans that lie in this range, as far as they do.
    pub fn within(&self, from: u64, until: u64) -> impl Iterator<Item = (u64, u64, T)> + '_ {
        let first = self.0.range(..=from).next_back().map_or(from, |(&begin, _)| begin);
        let inside = self.0.range(first..until.max(first));
        inside.filter(move |(_, (end, _))| *end > from).map(move |(&begin, &(end, of))| {
            let clipped = begin.max(from);
            (clipped, end.min(until), of.behind(clipped - begin))
        })
    }

    /// The same with what lies between them, of which nothing is said.
    pub fn all_within(&self, from: u64, until: u64) -> Vec<(u64, u64, Option<T>)> {
        let (mut all, mut at) = (Vec::new(), from);
        for (begin, end, of) in self.within(from, until) {
            if begin > at {
                all.push((at, begin, None));
            }
            all.push((begin, end, Some(of)));
            at = end;
        }
        if at < until {
            all.push((at, until, None));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Part for (u8, u64) {
        fn behind(self, bytes: u64) -> Self {
            (self.0, self.1 + bytes)
        }
    }

    proptest! {
        #[test]
        fn spans_say_what_a_list_of_bytes_says(steps in proptest::collection::vec((0u64..40, 0u64..40, 0u8..4), 0..60)) {
            let (mut spans, mut plain) = (Spans::<(u8, u64)>::default(), vec![None; 80]);
            for (from, length, what) in steps {
                let until = from + length;
                match what {
                    0 => spans.cut(from, until),
                    what => spans.put(from, until, (what, 7)),
                }
                (from..until).for_each(|at| plain[at as usize] = (what > 0).then_some((what, 7 + at - from)));
                let mut told = vec![None; 80];
                for (from, until, of) in spans.all_within(0, 80) {
                    (from..until).for_each(|at| told[at as usize] = of.map(|of| of.behind(at - from)));
                }
                prop_assert_eq!(&told, &plain);
                let part: Vec<u64> = spans.within(10, 20).flat_map(|(from, until, _)| from..until).collect();
                let wanted: Vec<u64> = (10..20).filter(|at| plain[*at as usize].is_some()).collect();
                prop_assert_eq!(part, wanted);
            }
        }
    }

    #[test]
    fn neighbours_that_say_the_same_are_one() {
        let mut spans = Spans::<()>::default();
        [(0, 10), (20, 30), (10, 20)].into_iter().for_each(|(from, until)| spans.put(from, until, ()));
        assert_eq!(spans.count(), 1);
        let mut sources = Spans::<(u8, u64)>::default();
        sources.put(0, 10, (1, 0));
        sources.put(10, 20, (1, 10));
        sources.put(20, 30, (1, 10));
        assert_eq!(sources.count(), 2);
    }
}
