//! A pair as it is shown, possibly the other way round than it was judged.

use super::{Pair, ResultFinding, Told, Undecided, Verdict};
use crate::sentence::Sentence;

/// What a pair says of `a` against `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown<'a> {
    /// The lane that is told of.
    pub a: &'a str,
    /// The lane that it is held against.
    pub b: &'a str,
    /// Above 1 where `a` does better.
    pub ratio: Option<f64>,
    /// Where the ratio may lie.
    pub interval: Option<(f64, f64)>,
    /// It holds beside all other differences of the race, and what it comes to at least where that is known.
    pub over_race: Option<Option<f64>>,
    /// What it means.
    pub verdict: Verdict,
    /// Why it is undecided.
    pub undecided: Option<Undecided>,
    /// Why there is no verdict, or what stands beside it.
    pub why: Option<&'a Sentence>,
}

impl<'a> Shown<'a> {
    /// As it was judged.
    pub fn new(pair: &'a Pair) -> Self {
        Shown {
            a: &pair.a,
            b: &pair.b,
            ratio: pair.ratio,
            interval: pair.low.zip(pair.high),
            over_race: pair.over_race.then_some(pair.at_least),
            verdict: pair.verdict,
            undecided: pair.undecided,
            why: pair.why.as_ref().filter(|why| !why.trim().is_empty()),
        }
    }

    /// As a statement about the result tells it; `None`: the result has no such pair.
    pub fn from_told(result: &'a ResultFinding, told: Told) -> Option<Self> {
        let shown = Shown::new(result.pairs.get(told.pair as usize)?);
        Some(if told.turned { shown.turned() } else { shown })
    }

    /// What is known of a lane against another one; `None`: nobody compared them.
    pub fn from_lanes(result: &'a ResultFinding, lane: &str, other: &str) -> Option<Self> {
        let straight = result.pairs.iter().find(|pair| pair.a == lane && pair.b == other).map(Shown::new);
        let turned = || result.pairs.iter().find(|pair| pair.a == other && pair.b == lane).map(Shown::new);
        straight.or_else(|| turned().map(Shown::turned))
    }

    /// The same of `b` against `a`.
    #[must_use]
    pub fn turned(self) -> Self {
        Shown {
            a: self.b,
            b: self.a,
            ratio: self.ratio.map(f64::recip),
            interval: self.interval.map(|(low, high)| (high.recip(), low.recip())),
            over_race: self.over_race.map(|at_least| at_least.map(f64::recip)),
            verdict: match self.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            },
            ..self
        }
    }
}
