//! Filesystems grow old: profiles of use, the life that follows from a profile and a seed, and how old a filesystem looks.
//!
//! [`profile`] reads what a life is made of, [`life`] makes the acts of it, [`live`] does them below a folder and knows when it
//! is enough, [`measures`] tells how old that made the filesystem (method 8).

pub mod beneath;
mod error;
mod executor;
pub mod life;
mod lived;
pub mod measures;
mod numbers;
pub mod profile;
pub mod state;
mod until;

pub use error::AgingError;
pub use lived::{Lived, Progress, live};
pub use measures::{Measures, measure};
pub use profile::Profile;
pub use until::{EndedBy, Until};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Changes whenever the same profile, seed and size would have other acts.
const GENERATION: u32 = 1;
/// Bytes of a life's size at least.
pub const LEAST_CAPACITY: u64 = 16 << 20;
/// Files of a life at most: each takes 24 bytes of memory, and some more while it is measured.
const MOST_FILES: f64 = 2e7;
/// Share of the size that folders may take which are there from the beginning.
const MOST_FOLDERS: u64 = 8;

/// A life to be lived: all that decides its acts, and when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// What it is made of.
    pub profile: Profile,
    /// The same seed gives the same acts.
    pub seed: u64,
    /// What it takes for the size of the filesystem, bytes; shares of fullness are of this.
    pub capacity_bytes: u64,
    /// When it ends.
    pub until: Until,
    /// Share of the size, 0 to 1, that a last filling or freeing reaches.
    pub full: Option<f64>,
}

impl Life {
    /// A short hash of all that decides its acts: the same key, the same acts.
    pub fn key(&self) -> String {
        self.hash(&(&self.until, &self.full))
    }

    /// The same without its end: lives of one such key are one life, which one of them lives longer.
    pub fn endless_key(&self) -> String {
        self.hash(&())
    }

    fn hash(&self, end: &impl Serialize) -> String {
        let all = (GENERATION, &self.profile, self.seed, self.capacity_bytes, end);
        // Numbers of a checked profile are finite, and its keys are texts: it is JSON.
        let text = serde_json::to_vec(&all).unwrap_or_default();
        Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether such a life can be lived.
    ///
    /// # Errors
    /// [`AgingError::Life`] with the remedy.
    pub fn check(&self) -> Result<(), AgingError> {
        let wrong = |text: String| Err(AgingError::Life(text));
        self.profile.check()?;
        if self.capacity_bytes < LEAST_CAPACITY {
            let least = model::Bytes(LEAST_CAPACITY);
            return wrong(format!("a life on {} is none; give it {least} or more", model::Bytes(self.capacity_bytes)));
        }
        let files: f64 = self.expected_files();
        if files > MOST_FILES {
            return wrong(format!(
                "this life would have {files:.0} files, more than {MOST_FILES:.0}; give it a smaller size"
            ));
        }
        let folders: u64 =
            self.profile.groups.iter().map(|group| u64::from(group.directories.count.unwrap_or(1))).sum();
        if folders * life::BLOCK_BYTES * MOST_FOLDERS > self.capacity_bytes {
            return wrong(format!("{folders} folders take too much of this size; give the life a larger one"));
        }
        if self.full.is_some_and(|full| !(0.0..=1.0).contains(&full)) {
            return wrong("a filesystem is full by a share between 0 and 1; give one of these".to_owned());
        }
        self.until.check()
    }

    /// Files that the first filling makes, by the mean of their sizes.
    fn expected_files(&self) -> f64 {
        let space: f64 = self.profile.groups.iter().map(|group| group.space).sum();
        let of_group = |group: &profile::Group| {
            let part = (self.capacity_bytes / 16) as f64;
            let mean = group.sizes.mean().min(part).max(life::BLOCK_BYTES as f64);
            self.capacity_bytes as f64 * group.space / space / mean
        };
        self.profile.groups.iter().map(of_group).sum()
    }

    /// Bytes that it writes, at least and at most: what can be told before it is lived.
    pub fn forecast_bytes(&self) -> (f64, f64) {
        let size = self.capacity_bytes as f64;
        let fill = size * self.profile.fill;
        let full = self.full.unwrap_or(0.0) * size;
        let (least, most) = match self.until {
            // It is filled, and what each cycle removes is written again.
            Until::Cycles(cycles) => {
                let bytes = fill * (1.0 + f64::from(cycles.saturating_sub(1)) * self.profile.delete);
                (bytes, Some(bytes))
            }
            until => until.forecast(size),
        };
        match most {
            Some(0.0) => (full, full),
            Some(most) => (least.min(most), most.max(fill) + full * 0.25),
            None => (least, f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life() -> Life {
        let profile = Profile::named("churn").unwrap();
        Life { profile, seed: 1, capacity_bytes: 1 << 30, until: Until::Overwrites(2.0), full: None }
    }

    #[test]
    fn a_key_is_that_of_all_that_decides_the_acts() {
        let first = life();
        assert_eq!(first.key(), life().key());
        assert_eq!(first.key().len(), 16);
        let mut other = life();
        other.profile.groups[0].acts.rename = 0.1;
        let changed = [
            Life { seed: 2, ..life() },
            Life { capacity_bytes: 2 << 30, ..life() },
            Life { until: Until::Settled, ..life() },
            Life { full: Some(0.9), ..life() },
            other,
        ];
        for (at, change) in changed.iter().enumerate() {
            assert_ne!(change.key(), first.key());
            let is_same_life = change.endless_key() == first.endless_key();
            assert_eq!(is_same_life, [2, 3].contains(&at), "{at}");
        }
    }

    #[test]
    fn what_cannot_be_lived_is_refused_with_a_remedy() {
        assert_eq!(life().check(), Ok(()));
        let refused = [
            Life { capacity_bytes: 1 << 20, ..life() },
            Life { capacity_bytes: 1 << 60, ..life() },
            Life { full: Some(1.5), ..life() },
            Life { until: Until::Overwrites(f64::NAN), ..life() },
            Life { until: Until::Minutes(-1.0), ..life() },
        ];
        for life in refused {
            let said = life.check().unwrap_err().to_string();
            assert!(said.contains("; give "), "{said}");
        }
    }
}
