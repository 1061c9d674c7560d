//! What a lane's filesystem lived through before the race: `+aged=git:10x`, `+full=90%`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where nobody names a profile.
pub const USUAL_PROFILE: &str = "churn";
/// Where nobody says how long: so often its size is written.
pub const USUAL_AGE: Age = Age::Overwrites(3);
/// Where nobody names a seed.
pub const USUAL_SEED: u64 = 1;
/// What the words of a state are.
pub const STATES: &str = "aged, aged=PROFILE, aged=PROFILE:10x (its size is written 10 times), aged=PROFILE:2000 (so many cycles of the \
     profile), aged=PROFILE:10x:7 (with another seed than 1) and full=90%";
/// Most overwrites and cycles.
const MOST_OVERWRITES: u32 = 1000;
const MOST_CYCLES: u32 = 1_000_000;
/// A filesystem with less room than this is no place for work, and one with more is not full.
const FULL_PERCENT: std::ops::RangeInclusive<u8> = 10..=98;

/// How long a life is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// So often the lane's size is written: 1 to 1000.
    Overwrites(u32),
    /// So many cycles of the profile: 1 to 1,000,000.
    Cycles(u32),
}

/// A life that a filesystem lived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgedSpec {
    /// The name of a profile (`churn`), or of a file in the working directory that describes one (`mine.toml`).
    pub profile: String,
    /// How long it was.
    pub age: Age,
    /// Lives of one seed are the same.
    #[serde(default = "usual_seed")]
    pub seed: u64,
}

fn usual_seed() -> u64 {
    USUAL_SEED
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Age::Overwrites(times) => write!(f, "{times}x"),
            Age::Cycles(cycles) => write!(f, "{cycles}"),
        }
    }
}

/// What a lane is told of its filesystem's past.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) aged: Option<AgedSpec>,
    pub(crate) full_percent: Option<u8>,
}

impl Past {
    /// Splits the states off a filesystem with its options. `Err`: the word that is none, or stands twice.
    pub(crate) fn split(part: &str) -> Result<(&str, Past), String> {
        let (mut rest, mut past) = (part, Past::default());
        while let Some(at) = rest.rfind('+') {
            let word = &rest[at + 1..];
            let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
            let is_first = match key {
                "aged" => past.aged.replace(aged(value).ok_or(word)?).is_none(),
                "full" => past.full_percent.replace(full(value).ok_or(word)?).is_none(),
                // A filesystem's own name has none; an option's value may.
                _ if !rest[..at].contains([',', '(']) && !rest.contains('/') => return Err(word.to_owned()),
                _ => break,
            };
            if !is_first {
                return Err(word.to_owned());
            }
            rest = &rest[..at];
        }
        Ok((rest, past))
    }
}

/// What `--state` says of every lane's past: `aged=git:10x+full=90%`. `None`: it is no past.
pub fn read_states(text: &str) -> Option<(Option<AgedSpec>, Option<u8>)> {
    match Past::split(&format!("x+{text}")) {
        Ok(("x", past)) => Some((past.aged, past.full_percent)),
        _ => None,
    }
}

fn aged(value: Option<&str>) -> Option<AgedSpec> {
    let usual = |profile: &str| AgedSpec { profile: profile.to_owned(), age: USUAL_AGE, seed: USUAL_SEED };
    let Some(value) = value else { return Some(usual(USUAL_PROFILE)) };
    let mut parts = value.split(':');
    let (profile, age, seed) = (parts.next()?, parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let is_name = !profile.is_empty()
        && profile.len() <= 64
        && !profile.starts_with('.')
        && profile.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let age = match age {
        None => USUAL_AGE,
        Some(age) => {
            let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
            match age.strip_suffix('x') {
                Some(times) => Age::Overwrites(number(times).filter(|times| (1..=MOST_OVERWRITES).contains(times))?),
                None => Age::Cycles(number(age).filter(|cycles| (1..=MOST_CYCLES).contains(cycles))?),
            }
        }
    };
    let seed = match seed {
        None => USUAL_SEED,
        Some(seed) => seed.parse().ok().filter(|_| !seed.starts_with('+'))?,
    };
    is_name.then(|| AgedSpec { age, seed, ..usual(profile) })
}

fn full(value: Option<&str>) -> Option<u8> {
    let percent: u8 = value?.strip_suffix('%')?.parse().ok()?;
    FULL_PERCENT.contains(&percent).then_some(percent)
}

/// The states of a lane, as it is typed: `+aged=git:10x+full=90%`; empty: it is fresh.
pub fn states_line(aged: Option<&AgedSpec>, full_percent: Option<u8>) -> String {
    let mut line = String::new();
    if let Some(AgedSpec { profile, age, seed }) = aged {
        line.push_str("+aged");
        line.push_str(&match (profile == USUAL_PROFILE, *age == USUAL_AGE, *seed == USUAL_SEED) {
            (true, true, true) => String::new(),
            (false, true, true) => format!("={profile}"),
            (_, _, true) => format!("={profile}:{age}"),
            _ => format!("={profile}:{age}:{seed}"),
        });
    }
    if let Some(percent) = full_percent {
        line.push_str(&format!("+full={percent}%"));
    }
    line
}

/// Files beside those of another life of their profile: Pearson's chi-squared of two samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlikeFiles {
    /// The sum.
    pub chi_squared: f64,
    /// Degrees of freedom.
    pub degrees: u32,
    /// The probability of such a sum and of larger ones where both are alike, 0 to 1.
    pub probability: f64,
    /// Share of the files that would be in another class, 0 to 1.
    pub misplaced_share: f64,
}

/// What became of a lane's past, in the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgedLane {
    /// The states as the lane has them: `+aged=git:10x`.
    pub states: String,
    /// The seed of its life; lanes of one seed and profile lived the same life.
    pub seed: u64,
    /// Hash of all that decides the acts of its life.
    pub life: String,
    /// Bytes that its life wrote into files, refused ones too.
    pub bytes_written: u64,
    /// The same in sizes of the lane.
    pub overwrites: f64,
    /// Acts for which there was no room, and acts on files that were missing for that reason.
    pub refused_for_space: u64,
    /// Files that were there in the end, and the sum of their sizes in bytes.
    pub files: u64,
    /// See `files`.
    pub bytes: u64,
    /// What the filesystem says that these files take (`st_blocks`), bytes; absent: it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Share of the lane's size that they take by the life, 0 to 1.
    pub used_share: f64,
    /// The same as it was found there: less where acts had no room; absent: it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_share: Option<f64>,
    /// Files that are missing, too many, or of another size than its life says; absent: they were not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differing_files: Option<u64>,
    /// Sizes of the files, by powers of two; absent: they were compared with nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<AlikeFiles>,
    /// Their ages: what was written since, in tenths of the other life's files; absent: as of `sizes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ages: Option<AlikeFiles>,
    /// Share of its own room that the filesystem called used, 0 to 1; 0: not known.
    pub filesystem_used_share: f64,
    /// Bytes that it called free; 0: not known.
    #[serde(default)]
    pub free_bytes: u64,
    /// Extents per file (FIEMAP), 1 or more; absent: the filesystem does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents_per_file: Option<f64>,
    /// Share of the files' blocks that follow the one before them (Smith and Seltzer), 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_score: Option<f64>,
    /// The same for all blocks in the order in which a walk reads them, by where they lie, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_layout_score: Option<f64>,
    /// Share of folders that lie in more than one extent, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directories_split: Option<f64>,
    /// Free space by the sizes of its pieces, from small to large; empty: the filesystem does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_space: Vec<FreePieces>,
    /// Its files beside a fresh copy of them, read with cold caches when the image was made; absent: there was no room for a copy,
    /// its disk was throttled, or it was not read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_read: Option<ColdRead>,
    /// Hash of the image that every round begins with: a life that is lived once more leaves another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image: String,
    /// Whether it was restored from an image of an earlier race.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
}

/// Pieces of free space of one class of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FreePieces {
    /// Pieces of at least so many bytes, and of less than twice that.
    pub from_bytes: u64,
    /// How many.
    pub pieces: u64,
    /// Bytes together.
    pub bytes: u64,
}

/// Aged files and a fresh copy of them, each read once, as `grep -r` reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColdRead {
    /// The disk that the image lay on, as /proc/diskstats names it; empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub disk: String,
    /// Share of the files that were copied and read, 0 to 1.
    pub share_of_files: f64,
    /// Seconds for a gibibyte of the aged ones.
    pub aged_seconds_per_gib: f64,
    /// Seconds for a gibibyte of the copy.
    pub fresh_seconds_per_gib: f64,
}

impl AgedLane {
    /// Bytes of free space in pieces below a size, and bytes and pieces of all of it; `None`: not known. A stranger's record may say
    /// any numbers.
    pub fn free_below(&self, bytes: u64) -> Option<(u64, u64, u64)> {
        let (mut below, mut all, mut pieces) = (0_u64, 0_u64, 0_u64);
        for class in &self.free_space {
            all = all.saturating_add(class.bytes);
            pieces = pieces.saturating_add(class.pieces);
            if class.from_bytes < bytes {
                below = below.saturating_add(class.bytes);
            }
        }
        (all > 0).then_some((below, all, pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_summed_whatever_a_record_says() {
        let class = |from_bytes, pieces, bytes| FreePieces { from_bytes, pieces, bytes };
        let of = |free_space| AgedLane { free_space, ..AgedLane::default() }.free_below(65536);
        assert_eq!(of(vec![class(4096, 10, 50_000), class(65536, 2, 150_000)]), Some((50_000, 200_000, 12)));
        assert_eq!(of(Vec::new()), None);
        let most = class(1, u64::MAX, u64::MAX);
        assert_eq!(of(vec![most, most]), Some((u64::MAX, u64::MAX, u64::MAX)));
    }

    #[test]
    fn states_of_all_lanes_are_read_alone() {
        let git = read_states("aged=git+full=90%").unwrap();
        assert_eq!((git.0.unwrap().profile.as_str(), git.1), ("git", Some(90)));
        for text in ["", "ext4", "aged,x", "x+aged", "aged="] {
            assert_eq!(read_states(text), None, "{text}");
        }
    }

    #[test]
    fn states_are_split_off_and_come_back() {
        for (part, rest, line) in [
            ("ext4+aged", "ext4", "+aged"),
            ("ext4,noatime+aged=git", "ext4,noatime", "+aged=git"),
            ("xfs(-m reflink=0)+aged=git:2000+full=80%", "xfs(-m reflink=0)", "+aged=git:2000+full=80%"),
            ("btrfs+full=90%", "btrfs", "+full=90%"),
            ("btrfs+full=90%+aged=churn:10x", "btrfs", "+aged=churn:10x+full=90%"),
            ("ext4+aged=mine.toml:3x", "ext4", "+aged=mine.toml"),
            ("ext4+aged=churn:3x:7", "ext4", "+aged=churn:3x:7"),
            ("ext4,a=b+c", "ext4,a=b+c", ""),
            ("ext4", "ext4", ""),
        ] {
            let (found, past) = Past::split(part).unwrap();
            assert_eq!((found, states_line(past.aged.as_ref(), past.full_percent)), (rest, line.to_owned()), "{part}");
        }
        for (part, word) in [
            ("ext4+agde", "agde"),
            ("ext4+aged+aged", "aged"),
            ("ext4+aged=", "aged="),
            ("ext4+aged=git:", "aged=git:"),
            ("ext4+aged=git:0x", "aged=git:0x"),
            ("ext4+aged=git:+3", "3"),
            ("ext4+aged=../x", "aged=../x"),
            ("ext4+aged=git:3x:x", "aged=git:3x:x"),
            ("ext4+aged=git:3x:1:1", "aged=git:3x:1:1"),
            ("ext4+full", "full"),
            ("ext4+full=90", "full=90"),
            ("ext4+full=100%", "full=100%"),
            ("ext4+full=5%", "full=5%"),
        ] {
            assert_eq!(Past::split(part), Err(word.to_owned()), "{part}");
        }
    }
}
