//! Which lane is the best for a weighting.
//!
//! Two lanes are held against each other by the weighted mean of their logarithmic differences, in
//! which only decided differences count. Such differences need not add up (a may beat c while b is
//! too noisy to be told from either), so no lane gets a score of its own: the choice is the lane whose
//! worst comparison is the best (maximin; where a lane beats every other one, it is that lane).

use super::work::Part;

/// Differences of every two lanes, part by part, with the parts' shares.
pub struct Contest<'a> {
    /// The lanes, in the header's order.
    pub lanes: Vec<&'a str>,
    /// Shares of the parts.
    pub shares: Vec<f64>,
    /// Per part, per lane and other lane: ln(lane/other); `None` where the two were not measured together.
    differences: Vec<Vec<Vec<Option<f64>>>>,
}

/// A choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Index of the lane.
    pub lane: usize,
    /// Indices of those that it beats by less than the margin.
    pub level: Vec<usize>,
}

impl<'a> Contest<'a> {
    /// The lanes over the measured parts.
    pub fn new(parts: &[Part], lanes: Vec<&'a str>) -> Contest<'a> {
        let of = |part: &Part| {
            let row = |a: &&str| lanes.iter().map(|b| if a == b { Some(0.0) } else { part.difference(a, b) }).collect();
            lanes.iter().map(row).collect()
        };
        let differences = parts.iter().map(of).collect();
        let shares = parts.iter().map(|part| part.weight.share).collect();
        Contest { lanes, shares, differences }
    }

    /// The same lanes with another share of one part.
    pub fn with_share(&self, part: usize, share: f64) -> Contest<'a> {
        let mut shares = self.shares.clone();
        shares[part] = share;
        Contest { lanes: self.lanes.clone(), shares, differences: self.differences.clone() }
    }

    /// ln(a/b) over the parts in which the two were measured together.
    pub fn lead(&self, a: usize, b: usize) -> f64 {
        let total = self.total(a, b);
        let sum: f64 = (0..self.shares.len()).map(|part| self.shares[part] * self.difference(part, a, b)).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// The shares of the parts in which the two were measured together.
    pub fn total(&self, a: usize, b: usize) -> f64 {
        let measured = self.shares.iter().zip(&self.differences).filter(|(_, part)| part[a][b].is_some());
        measured.map(|(share, _)| share).sum()
    }

    /// ln(a/b) of one part; 0 where no difference counts.
    pub fn difference(&self, part: usize, a: usize, b: usize) -> f64 {
        self.differences[part][a][b].unwrap_or(0.0)
    }

    /// Whether no difference of any two lanes counts in any part.
    pub fn is_level(&self) -> bool {
        self.differences.iter().flatten().flatten().all(|difference| difference.unwrap_or(0.0) == 0.0)
    }

    /// The best lane; of equals the first. `delta`: ln(1 + margin). `None`: there is no lane.
    pub fn choose(&self, delta: f64) -> Option<Choice> {
        let lane = best(self.lanes.len(), |a, b| self.lead(a, b)).first().copied()?;
        let others = (0..self.lanes.len()).filter(|other| *other != lane);
        let level = others.filter(|other| self.lead(lane, *other) < delta).collect();
        Some(Choice { lane, level })
    }
}

/// The lanes whose worst lead is the best, of so many.
pub fn best(lanes: usize, lead: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let others = |lane: usize| (0..lanes).filter(move |other| *other != lane);
    let worst: Vec<f64> =
        (0..lanes).map(|lane| others(lane).map(|other| lead(lane, other)).fold(f64::INFINITY, f64::min)).collect();
    let most = worst.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Rounding must not turn two equal lanes about.
    (0..lanes).filter(|lane| worst[*lane] >= most - 1e-12).collect()
}
