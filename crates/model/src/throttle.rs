//! An emulated disk: the limits that `--throttle` puts on the lanes' devices.

mod several;

pub use several::{Throttles, ThrottlesError, slice_of_all};

use crate::Bytes;
use crate::job::{Direction, Io};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The kernel's throttle hands out what a limit allows in steps of this length: 100 ms
/// (`DFL_THROTL_SLICE` of block/blk-throttle.c). So much may pass at once, and it passes in bursts of
/// that period.
pub const STEP_SECONDS: f64 = 0.1;

/// Smallest bandwidth: one request of 1 MiB a second.
const LEAST_BYTES_PER_SECOND: u64 = Bytes::MIB;
/// Smallest rate of requests: a single rotating disk does about as many.
const LEAST_IOPS: u64 = 100;
/// The kernel's own largest rate of requests (`unsigned int`).
const MOST_IOPS: u64 = u32::MAX as u64;
/// 1 TiB/s: more than any device does.
const MOST_BYTES_PER_SECOND: u64 = 1 << 40;

/// Windows of steady work are at least so many steps long: one burst more or less at an edge is then
/// a fifth of a single slice.
const LEAST_STEPS: f64 = 5.0;
/// And hold at least so many requests.
const LEAST_REQUESTS: f64 = 10.0;
/// Steps that pass before a window may open: the burst that an idle device is given (up to two steps'
/// worth: measured) is over. It opens at the first completion after that, so with the next burst.
const WARM_UP_STEPS: f64 = 1.5;
/// A window also ends with a completion: asked for so much less than whole steps, it ends with the
/// first ones of a burst, although that burst comes a little early, and not with the ones after it.
const EARLY_STEPS: f64 = 0.25;

/// The limits of an emulated disk; reads and writes are counted apart. What is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Throttle {
    /// Bytes read per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_second: Option<u64>,
    /// Bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_second: Option<u64>,
    /// Read requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Write requests per second; a flush is one too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
}

/// Why a throttle makes no sense. Displays as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThrottleError {
    /// Neither a bandwidth nor a number of requests.
    #[error(
        "`{0}` is no limit of a disk; write a bandwidth or a rate of requests, such as 151MiB/s, 8050iops or write=3000iops"
    )]
    Limit(String),
    /// Given twice.
    #[error("{0} are limited twice; give each limit once, for both directions or for one")]
    Twice(&'static str),
    /// Outside of what can be emulated.
    #[error("`{0}` is outside of what can be emulated; give 1MiB/s to 1TiB/s, and 100 to 4294967295 iops")]
    Range(String),
}

/// One of the four limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes read.
    ReadBytes,
    /// Bytes written.
    WriteBytes,
    /// Read requests.
    Reads,
    /// Write requests.
    Writes,
}

impl Quantity {
    /// All four.
    pub const ALL: [Quantity; 4] = [Quantity::ReadBytes, Quantity::WriteBytes, Quantity::Reads, Quantity::Writes];

    /// Whether it counts bytes rather than requests.
    pub fn is_bytes(self) -> bool {
        matches!(self, Quantity::ReadBytes | Quantity::WriteBytes)
    }

    fn said(self) -> &'static str {
        match self {
            Quantity::ReadBytes => "bytes read",
            Quantity::WriteBytes => "bytes written",
            Quantity::Reads => "read requests",
            Quantity::Writes => "write requests",
        }
    }
}

impl Throttle {
    /// The limit of a quantity, per second; `None`: it is not limited.
    pub fn limit(&self, quantity: Quantity) -> Option<u64> {
        match quantity {
            Quantity::ReadBytes => self.read_bytes_per_second,
            Quantity::WriteBytes => self.write_bytes_per_second,
            Quantity::Reads => self.read_iops,
            Quantity::Writes => self.write_iops,
        }
    }

    fn set(&mut self, quantity: Quantity, limit: u64) -> Result<(), ThrottleError> {
        let place = match quantity {
            Quantity::ReadBytes => &mut self.read_bytes_per_second,
            Quantity::WriteBytes => &mut self.write_bytes_per_second,
            Quantity::Reads => &mut self.read_iops,
            Quantity::Writes => &mut self.write_iops,
        };
        if place.replace(limit).is_some() {
            return Err(ThrottleError::Twice(quantity.said()));
        }
        Ok(())
    }

    /// Whether every limit can be emulated; a record may have been edited.
    ///
    /// # Errors
    /// [`ThrottleError`]: no limit at all, or one out of range.
    pub fn check(&self) -> Result<(), ThrottleError> {
        let limits: Vec<(Quantity, u64)> =
            Quantity::ALL.into_iter().filter_map(|quantity| Some((quantity, self.limit(quantity)?))).collect();
        if limits.is_empty() {
            return Err(ThrottleError::Limit(String::new()));
        }
        match limits.into_iter().find(|&(quantity, limit)| !possible(quantity, limit)) {
            Some((quantity, limit)) => Err(ThrottleError::Range(rate(quantity, limit))),
            None => Ok(()),
        }
    }

    /// How steady work runs under it: seconds of warm-up and of the window, for slices of
    /// `slice_seconds`. From one completion to another the window is a whole number of the kernel's
    /// steps, so that it holds a whole number of bursts.
    pub fn slice(&self, io: &Io) -> (f64, f64) {
        // Seconds that one request takes at the tightest limit.
        let each = io.rw.directions().iter().flat_map(|&direction| self.seconds_each(io, direction));
        let each = each.fold(0.0, f64::max);
        let window = io.slice_seconds.max(LEAST_STEPS * STEP_SECONDS).max(LEAST_REQUESTS * each);
        // Whole steps in tenths, so that 0.3 s does not become 0.4 s by a rounding error.
        let steps = (window / STEP_SECONDS - 1e-6).ceil();
        (WARM_UP_STEPS * STEP_SECONDS.max(each), (steps - EARLY_STEPS) * STEP_SECONDS)
    }

    fn seconds_each(&self, io: &Io, direction: Direction) -> [f64; 2] {
        let (bytes, requests) = match direction {
            Direction::Read => (self.read_bytes_per_second, self.read_iops),
            Direction::Write | Direction::Trim => (self.write_bytes_per_second, self.write_iops),
        };
        let block = io.blocks(direction).largest().get() as f64;
        let of = |amount: f64, limit: Option<u64>| limit.map_or(0.0, |limit| amount / limit as f64);
        [of(block, bytes), of(1.0, requests)]
    }
}

fn possible(quantity: Quantity, limit: u64) -> bool {
    let range =
        if quantity.is_bytes() { LEAST_BYTES_PER_SECOND..=MOST_BYTES_PER_SECOND } else { LEAST_IOPS..=MOST_IOPS };
    range.contains(&limit)
}

/// A limit as the command line writes it.
fn rate(quantity: Quantity, limit: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    match quantity.is_bytes() {
        true if limit.is_multiple_of(MEGABYTE) && !limit.is_multiple_of(Bytes::MIB) => {
            format!("{}MB/s", limit / MEGABYTE)
        }
        true => format!("{}/s", Bytes(limit)),
        false => format!("{limit}iops"),
    }
}

impl FromStr for Throttle {
    type Err = ThrottleError;

    fn from_str(text: &str) -> Result<Self, ThrottleError> {
        let mut throttle = Throttle::default();
        for part in text.split(',') {
            let part = part.trim();
            let (direction, amount) = match part.split_once('=') {
                Some((direction, amount)) => (Some(direction.trim()), amount.trim()),
                None => (None, part),
            };
            let unknown = || ThrottleError::Limit(part.to_owned());
            let (bytes, limit) = amount_of(amount).ok_or_else(unknown)?;
            let both = match bytes {
                true => [Quantity::ReadBytes, Quantity::WriteBytes],
                false => [Quantity::Reads, Quantity::Writes],
            };
            let limited = match direction {
                None => &both[..],
                Some("read") => &both[..1],
                Some("write") => &both[1..],
                Some(_) => return Err(unknown()),
            };
            for &quantity in limited {
                if !possible(quantity, limit) {
                    return Err(ThrottleError::Range(part.to_owned()));
                }
                throttle.set(quantity, limit)?;
            }
        }
        Ok(throttle)
    }
}

/// Whether it counts bytes, and how many a second.
fn amount_of(text: &str) -> Option<(bool, u64)> {
    if let Some(size) = text.strip_suffix("/s") {
        return Some((true, size.trim_end().parse::<Bytes>().ok()?.get()));
    }
    let digits = text.len().checked_sub("iops".len()).filter(|&at| text.is_char_boundary(at))?;
    let (digits, unit) = text.split_at(digits);
    let digits = digits.trim_end();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (plain && unit.eq_ignore_ascii_case("iops")).then(|| digits.parse().ok().map(|iops| (false, iops)))?
}

/// As the command line takes it: `151MiB/s,8050iops`.
impl fmt::Display for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = [(Quantity::ReadBytes, Quantity::WriteBytes), (Quantity::Reads, Quantity::Writes)];
        let mut parts: Vec<String> = Vec::new();
        for (read, write) in pairs {
            match (self.limit(read), self.limit(write)) {
                (Some(one), Some(other)) if one == other => parts.push(rate(read, one)),
                (reads, writes) => {
                    parts.extend(reads.map(|limit| format!("read={}", rate(read, limit))));
                    parts.extend(writes.map(|limit| format!("write={}", rate(write, limit))));
                }
            }
        }
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Pattern;

    fn throttle(text: &str) -> Throttle {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn limits_are_for_both_directions_or_for_one() {
        let both = throttle("151MiB/s,8050iops");
        assert_eq!(both.read_bytes_per_second, Some(151 << 20));
        assert_eq!(
            (both.write_bytes_per_second, both.read_iops, both.write_iops),
            (Some(151 << 20), Some(8050), Some(8050))
        );
        let apart = throttle("read=200MB/s, write=3000 IOPS");
        assert_eq!((apart.read_bytes_per_second, apart.write_bytes_per_second), (Some(200_000_000), None));
        assert_eq!((apart.read_iops, apart.write_iops), (None, Some(3000)));
    }

    #[test]
    fn a_throttle_prints_as_it_is_read() {
        for text in [
            "151MiB/s,8050iops",
            "8050iops",
            "read=200MB/s,write=1GiB/s,write=3000iops",
            "write=100MiB/s",
            "read=1048577B/s",
        ] {
            assert_eq!(throttle(text).to_string(), text);
            assert_eq!(throttle(&throttle(text).to_string()), throttle(text));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_sentence() {
        for (text, says) in [
            ("", "is no limit"),
            ("fast", "is no limit"),
            ("151", "is no limit"),
            ("151MiB", "is no limit"),
            ("8050", "is no limit"),
            ("-8050iops", "is no limit"),
            ("80.5iops", "is no limit"),
            ("iops", "is no limit"),
            ("99999999999999999999iops", "is no limit"),
            ("ééé", "is no limit"),
            ("151MiB/s,", "is no limit"),
            ("trim=8050iops", "is no limit"),
            ("read=", "is no limit"),
            ("0MiB/s", "can be emulated"),
            ("1000KiB/s", "can be emulated"),
            ("99iops", "can be emulated"),
            ("4294967296iops", "can be emulated"),
            ("2TiB/s", "can be emulated"),
            ("8050iops,9000iops", "read requests are limited twice"),
            ("151MiB/s,write=100MiB/s", "bytes written are limited twice"),
        ] {
            let error = text.parse::<Throttle>().expect_err(text).to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn a_throttle_of_an_edited_record_is_checked_again() {
        assert!(throttle("151MiB/s").check().is_ok());
        assert!(Throttle::default().check().is_err());
        let edited = Throttle { write_iops: Some(1), ..throttle("151MiB/s") };
        assert!(edited.check().unwrap_err().to_string().contains("`1iops`"));
    }

    #[test]
    fn a_slice_holds_whole_steps_and_enough_requests() {
        let io = |rw, block: u64, seconds| Io { rw, bs: Bytes(block), slice_seconds: seconds, ..Io::default() };
        let steps =
            |(warm_up, window): (f64, f64)| ((warm_up / 0.01).round() as u32, ((window + 0.025) / 0.1).round() as u32);
        let disk = throttle("151MiB/s,8050iops");
        assert_eq!(steps(disk.slice(&io(Pattern::RandRead, 4096, 0.1))), (15, 5));
        assert_eq!(steps(disk.slice(&io(Pattern::Read, 1 << 20, 0.7))), (15, 7));
        assert_eq!(steps(disk.slice(&io(Pattern::Read, 1 << 20, 60.0))), (15, 600));
        // Ten requests of 1 MiB at 4 MiB/s take 2.5 s, and one of them 0.25 s.
        assert_eq!(steps(throttle("write=4MiB/s").slice(&io(Pattern::Write, 1 << 20, 0.1))), (38, 25));
        assert_eq!(steps(throttle("write=4MiB/s").slice(&io(Pattern::Read, 1 << 20, 0.1))), (15, 5));
    }
}
