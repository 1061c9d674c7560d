//! What statements settle so far: which lanes tie, and which beat which.

/// Lanes by their numbers.
pub(super) struct Known {
    lanes: usize,
    /// Of each lane those that it beats by a pair that is said.
    above: Vec<Vec<usize>>,
    /// Of each lane those that it ties with.
    level: Vec<Vec<usize>>,
    ties: Vec<bool>,
}

impl Known {
    /// Nothing is known of so many lanes.
    pub(super) fn new(lanes: usize) -> Self {
        Known {
            lanes,
            above: vec![Vec::new(); lanes],
            level: vec![Vec::new(); lanes],
            ties: vec![false; lanes * lanes],
        }
    }

    pub(super) fn add_above(&mut self, above: usize, below: usize) {
        self.above[above].push(below);
    }

    pub(super) fn add_level(&mut self, x: usize, y: usize) {
        self.level[x].push(y);
        self.level[y].push(x);
        (self.ties[x * self.lanes + y], self.ties[y * self.lanes + x]) = (true, true);
    }

    /// Whether a pair says that the two tie.
    pub(super) fn is_level(&self, x: usize, y: usize) -> bool {
        self.ties[x * self.lanes + y]
    }

    /// Whether `above` beats `below` by a chain of known pairs, at least one of them decided.
    pub(super) fn follows(&self, above: usize, below: usize) -> bool {
        // Each lane twice: reached over ties alone, and over a pair that is decided.
        let mut seen = vec![false; 2 * self.lanes];
        let mut next = vec![(above, false)];
        while let Some((lane, beaten)) = next.pop() {
            if std::mem::replace(&mut seen[2 * lane + usize::from(beaten)], true) {
                continue;
            }
            if lane == below && beaten {
                return true;
            }
            next.extend(self.above[lane].iter().map(|&to| (to, true)));
            next.extend(self.level[lane].iter().map(|&to| (to, beaten)));
        }
        false
    }
}
