//! The throttles of a race: one for every lane, and lanes that have their own.

use super::{Throttle, ThrottleError};
use crate::job::Io;
use crate::text::escaped;
use std::collections::BTreeMap;

/// What all options `--throttle` of a race say together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Throttles {
    /// For the bare devices of the ceilings, and for every lane that has none of its own.
    pub base: Option<Throttle>,
    /// Lanes' own, by the lane's name. Each replaces the base wholly.
    pub lanes: BTreeMap<String, Throttle>,
}

/// Why options `--throttle` make no sense, alone or together. Displays as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThrottlesError {
    /// The limits for every lane.
    #[error("--throttle: {0}")]
    Base(#[source] ThrottleError),
    /// The limits of one lane.
    #[error("--throttle for lane {lane}: {error}")]
    Lane {
        /// Its name.
        lane: String,
        /// What is wrong with them.
        #[source]
        error: ThrottleError,
    },
    /// No lane has that name.
    #[error("--throttle names a lane `{lane}` that is not in this race; its lanes are {lanes}")]
    Unknown {
        /// What was named.
        lane: String,
        /// Those that there are.
        lanes: String,
    },
    /// Two options for one lane.
    #[error("--throttle is given twice for lane {lane}; give it once for each lane of this race: {lanes}")]
    LaneTwice {
        /// Its name.
        lane: String,
        /// Those that there are.
        lanes: String,
    },
    /// Two options without a lane.
    #[error(
        "--throttle is given twice without a lane; give it once for all lanes, and LANE:LIMITS for those that differ: {0}"
    )]
    BaseTwice(String),
}

impl Throttles {
    /// Reads options `[LANE:]LIMITS` for the lanes of these names. A name may hold colons: the longest
    /// one that begins the text and is followed by a colon is the lane's.
    ///
    /// # Errors
    /// [`ThrottlesError`]: limits that are none, a lane that is not there, or anything twice.
    pub fn read(texts: &[String], lanes: &[&str]) -> Result<Throttles, ThrottlesError> {
        let mut all = Throttles::default();
        for text in texts {
            let begins = |lane: &&&str| text.strip_prefix(**lane).is_some_and(|rest| rest.starts_with(':'));
            match lanes.iter().filter(begins).max_by_key(|lane| lane.len()) {
                Some(&lane) => {
                    let named = || escaped(lane.as_bytes());
                    let throttle = text[lane.len() + 1..].parse::<Throttle>();
                    let throttle = throttle.map_err(|error| ThrottlesError::Lane { lane: named(), error })?;
                    if all.lanes.insert(lane.to_owned(), throttle).is_some() {
                        return Err(ThrottlesError::LaneTwice { lane: named(), lanes: listed(lanes) });
                    }
                }
                None => {
                    // No limit holds a colon.
                    if let Some((lane, _)) = text.rsplit_once(':') {
                        return Err(unknown(lane, lanes));
                    }
                    let throttle = text.parse::<Throttle>().map_err(ThrottlesError::Base)?;
                    if all.base.replace(throttle).is_some() {
                        return Err(ThrottlesError::BaseTwice(listed(lanes)));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Whether every limit can be emulated and every lane is there; a record may have been edited.
    ///
    /// # Errors
    /// [`ThrottlesError`].
    pub fn check(&self, lanes: &[&str]) -> Result<(), ThrottlesError> {
        self.base.as_ref().map_or(Ok(()), Throttle::check).map_err(ThrottlesError::Base)?;
        for (lane, throttle) in &self.lanes {
            if !lanes.contains(&lane.as_str()) {
                return Err(unknown(lane, lanes));
            }
            let checked = throttle.check();
            checked.map_err(|error| ThrottlesError::Lane { lane: escaped(lane.as_bytes()), error })?;
        }
        Ok(())
    }

    /// What a lane's device is held to; `None`: to nothing.
    pub fn of_lane(&self, lane: &str) -> Option<Throttle> {
        self.lanes.get(lane).copied().or(self.base)
    }

    /// Every throttle of the race, each once; empty: nothing is held.
    pub fn all(&self) -> Vec<Throttle> {
        let mut all: Vec<Throttle> = Vec::new();
        for throttle in self.base.iter().chain(self.lanes.values()) {
            if !all.contains(throttle) {
                all.push(*throttle);
            }
        }
        all
    }

    /// The values of the options that say the same.
    pub fn to_options(&self) -> Vec<String> {
        let lanes = self.lanes.iter().map(|(lane, throttle)| format!("{lane}:{throttle}"));
        self.base.iter().map(ToString::to_string).chain(lanes).collect()
    }
}

/// How steady work runs on all disks of a race, in seconds of warm-up and of the window: as long as the
/// one that asks for most, because slices are the same in every lane. `None`: nothing is held.
pub fn slice_of_all(throttles: &[Throttle], io: &Io) -> Option<(f64, f64)> {
    throttles.iter().map(|throttle| throttle.slice(io)).reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))
}

fn unknown(lane: &str, lanes: &[&str]) -> ThrottlesError {
    ThrottlesError::Unknown { lane: escaped(lane.as_bytes()), lanes: listed(lanes) }
}

fn listed(lanes: &[&str]) -> String {
    lanes.iter().map(|lane| escaped(lane.as_bytes())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;
    use crate::job::Pattern;

    fn read(texts: &[&str], lanes: &[&str]) -> Result<Throttles, ThrottlesError> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Throttles::read(&texts, lanes)
    }

    fn throttle(text: &str) -> Throttle {
        text.parse().unwrap()
    }

    #[test]
    fn a_lanes_own_limits_replace_those_of_all_lanes_wholly() {
        let all = read(&["less:4500iops", "151MiB/s,5000iops"], &["full", "less"]).unwrap();
        assert_eq!(all.of_lane("full"), Some(throttle("151MiB/s,5000iops")));
        assert_eq!(all.of_lane("less"), Some(throttle("4500iops")), "no bandwidth of the base is left");
        assert_eq!(all.all(), [throttle("151MiB/s,5000iops"), throttle("4500iops")]);
        let one = read(&["less:4500iops"], &["full", "less"]).unwrap();
        assert_eq!((one.of_lane("full"), one.of_lane("less")), (None, Some(throttle("4500iops"))));
        let alike = read(&["2000iops", "full:2000iops"], &["full", "less"]).unwrap();
        assert_eq!(alike.all(), [throttle("2000iops")], "each once");
        assert_eq!(read(&[], &["full"]).unwrap(), Throttles::default());
    }

    #[test]
    fn a_name_may_hold_colons_and_the_longest_one_counts() {
        let lanes = ["btrfs", "btrfs,compress=zstd:1", "a", "a:b"];
        let all = read(&["btrfs,compress=zstd:1:2000iops", "btrfs:1000iops", "a:b:500iops"], &lanes).unwrap();
        assert_eq!(all.of_lane("btrfs,compress=zstd:1"), Some(throttle("2000iops")));
        assert_eq!(all.of_lane("btrfs"), Some(throttle("1000iops")));
        assert_eq!((all.of_lane("a:b"), all.of_lane("a")), (Some(throttle("500iops")), None));
    }

    #[test]
    fn the_options_are_written_as_they_are_read() {
        let lanes = ["full", "less:1"];
        let all = read(&["less:1:read=20MiB/s", "5000iops", "full:151MiB/s,8050iops"], &lanes).unwrap();
        assert_eq!(all.to_options(), ["5000iops", "full:151MiB/s,8050iops", "less:1:read=20MiB/s"]);
        assert_eq!(Throttles::read(&all.to_options(), &lanes).unwrap(), all);
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_sentence_that_names_the_lanes() {
        for (texts, says) in [
            (vec!["fast"], vec!["--throttle: `fast` is no limit"]),
            (vec!["full:fast"], vec!["for lane full: `fast` is no limit"]),
            (vec!["full:"], vec!["for lane full: `` is no limit"]),
            (vec!["full:5iops"], vec!["for lane full: `5iops` is outside"]),
            (vec!["fuller:2000iops"], vec!["a lane `fuller`", "full, less"]),
            (vec!["a\n:b:2000iops"], vec!["a lane `a\\n:b`", "full, less"]),
            (vec![":2000iops"], vec!["a lane ``", "full, less"]),
            (vec!["full:2000iops", "full:2000iops"], vec!["twice for lane full", "full, less"]),
            (vec!["2000iops", "less:1000iops", "3000iops"], vec!["twice without a lane", "full, less"]),
        ] {
            let error = read(&texts, &["full", "less"]).expect_err(&texts.join(" ")).to_string();
            assert!(says.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{texts:?}: {error}");
        }
    }

    #[test]
    fn throttles_of_an_edited_record_are_checked_again() {
        let sound = read(&["2000iops", "less:1000iops"], &["full", "less"]).unwrap();
        assert_eq!(sound.check(&["full", "less"]), Ok(()));
        assert!(sound.check(&["full"]).unwrap_err().to_string().contains("`less`"), "a lane that went");
        let edited = Throttle { read_iops: Some(1), ..Throttle::default() };
        let base = Throttles { base: Some(edited), ..Throttles::default() };
        assert!(base.check(&[]).unwrap_err().to_string().contains("`1iops`"));
        let own = Throttles { base: None, lanes: [("full".to_owned(), edited)].into() };
        assert!(own.check(&["full"]).unwrap_err().to_string().contains("lane full: `1iops`"));
    }

    #[test]
    fn a_slice_is_as_long_as_the_disk_asks_for_that_needs_most() {
        let io = Io { rw: Pattern::Write, bs: Bytes(1 << 20), slice_seconds: 0.1, ..Io::default() };
        let (fast, slow) = (throttle("151MiB/s"), throttle("write=4MiB/s"));
        assert_eq!(slice_of_all(&[fast], &io), Some(fast.slice(&io)));
        for order in [[fast, slow], [slow, fast]] {
            assert_eq!(slice_of_all(&order, &io), Some(slow.slice(&io)));
        }
        assert!(slow.slice(&io) > fast.slice(&io));
        assert_eq!(slice_of_all(&[], &io), None);
    }
}
