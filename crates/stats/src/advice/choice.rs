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
    /// Per part, per lane and other lane: ln(lane/other).
    differences: Vec<Vec<Vec<f64>>>,
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
            let row = |a: &&str| lanes.iter().map(|b| if a == b { 0.0 } else { part.difference(a, b) }).collect();
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

    /// ln(a/b) over all parts.
    pub fn lead(&self, a: usize, b: usize) -> f64 {
        let total: f64 = self.shares.iter().sum();
        let sum: f64 = self.shares.iter().zip(&self.differences).map(|(share, part)| share * part[a][b]).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// ln(a/b) of one part.
    pub fn difference(&self, part: usize, a: usize, b: usize) -> f64 {
        self.differences[part][a][b]
    }

    /// Whether no difference of any two lanes counts in any part.
    pub fn is_level(&self) -> bool {
        self.differences.iter().flatten().flatten().all(|difference| *difference == 0.0)
    }

    /// The best lane; of equals the first. `delta`: ln(1 + margin). `None`: there is no lane.
    pub fn choose(&self, delta: f64) -> Option<Choice> {
        let others = |lane: usize| (0..self.lanes.len()).filter(move |other| *other != lane);
        let worst = |lane: usize| others(lane).map(|other| self.lead(lane, other)).fold(f64::INFINITY, f64::min);
        let mut lane = 0;
        for other in 1..self.lanes.len() {
            // Rounding must not turn two equal lanes about.
            if worst(other) > worst(lane) + 1e-12 {
                lane = other;
            }
        }
        let level = others(lane).filter(|other| self.lead(lane, *other) < delta).collect();
        (!self.lanes.is_empty()).then_some(Choice { lane, level })
    }
}
