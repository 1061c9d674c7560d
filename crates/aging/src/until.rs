//! When a life ends.

use crate::error::AgingError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A settled life has written its used space so many times at least (method 8.3).
pub const SETTLED_REWRITES: f64 = 3.0;
/// Extents per file of two windows differ by less than this share when a life has settled.
pub const SETTLED_CHANGE: f64 = 0.05;
/// A window: so many times the used space is written in it.
pub const WINDOW_REWRITES: f64 = 0.5;
/// A life that does not settle ends when the disk was overwritten so often.
pub const MOST_OVERWRITES: f64 = 10.0;
/// A life that does not settle ends after so many minutes.
pub const MOST_MINUTES: f64 = 30.0;

/// When a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// When what fragments it no longer does: three times the used space was written, and extents per file differ by less
    /// than 5 % between two windows. At the latest after 10 overwrites or 30 minutes.
    Settled,
    /// When so many times its size was written; at the end of a cycle. 0: only a last filling.
    Overwrites(f64),
    /// After so many minutes.
    Minutes(f64),
    /// After so many acts.
    Operations(u64),
    /// After so many cycles; the first filling is one.
    Cycles(u32),
}

/// What ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// It has settled.
    Settled,
    /// The overwrites that were asked for.
    Overwrites,
    /// The minutes that were asked for.
    Minutes,
    /// The acts that were asked for.
    Operations,
    /// The cycles that were asked for.
    Cycles,
    /// It did not settle within 10 overwrites.
    OverwritesWithoutSettling,
    /// It did not settle within 30 minutes.
    MinutesWithoutSettling,
    /// Whoever watched it; it can go on.
    Interrupted,
}

impl EndedBy {
    /// The same for people.
    pub fn words(self) -> &'static str {
        match self {
            EndedBy::Settled => "it has settled: extents per file changed by less than 5 % from one window to the next",
            EndedBy::Overwrites => "the overwrites that were asked for",
            EndedBy::Minutes => "the time that was asked for",
            EndedBy::Operations => "the operations that were asked for",
            EndedBy::Cycles => "the cycles that were asked for",
            EndedBy::OverwritesWithoutSettling => "10 overwrites, within which it did not settle",
            EndedBy::MinutesWithoutSettling => "30 minutes, within which it did not settle",
            EndedBy::Interrupted => "interrupted",
        }
    }
}

impl Until {
    /// Whether it can be reached.
    ///
    /// # Errors
    /// [`AgingError::Life`].
    pub(crate) fn check(self) -> Result<(), AgingError> {
        let wrong = |text: &str| Err(AgingError::Life(text.to_owned()));
        match self {
            Until::Overwrites(times) if !(0.0..=10_000.0).contains(&times) => {
                wrong("a disk is overwritten 0 to 10000 times; give one of these, such as 10x")
            }
            Until::Minutes(minutes) if !(minutes > 0.0 && minutes <= 60.0 * 24.0 * 366.0) => {
                wrong("a life has a time of a year at most; give one, such as 30m")
            }
            _ => Ok(()),
        }
    }

    /// Bytes that are written until then, at least and at most; no upper bound for minutes and acts.
    pub(crate) fn forecast(self, capacity: f64) -> (f64, Option<f64>) {
        match self {
            // It is filled, and three times what is used is written over.
            Until::Settled => (SETTLED_REWRITES * 0.75 * capacity, Some(MOST_OVERWRITES * capacity)),
            Until::Overwrites(times) => (times * capacity, Some(times * capacity)),
            Until::Minutes(_) | Until::Operations(_) | Until::Cycles(_) => (0.0, None),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Settled => write!(f, "settled"),
            Until::Overwrites(times) => write!(f, "{times}x"),
            Until::Minutes(minutes) => write!(f, "{minutes}m"),
            Until::Operations(acts) => write!(f, "{acts}op"),
            Until::Cycles(cycles) => write!(f, "{cycles}cycles"),
        }
    }
}

impl FromStr for Until {
    type Err = String;

    /// Reads `settled`, `10x`, `30m` (and other times), `50000op`, `2000cycles`.
    fn from_str(text: &str) -> Result<Until, String> {
        let text = text.trim();
        let shown = model::text::quoted(text);
        let error = || {
            format!(
                "`{shown}` is no end of a life; write settled, 10x (overwrites), 2000cycles, 30m or 50000op (operations)"
            )
        };
        let number = |rest: &str| rest.trim().parse::<f64>().map_err(|_| error());
        let until = if text == "settled" {
            Until::Settled
        } else if let Some(rest) = text.strip_suffix(['x', 'X']) {
            Until::Overwrites(number(rest)?)
        } else if let Some(rest) = text.strip_suffix("cycles") {
            Until::Cycles(rest.trim().parse().map_err(|_| error())?)
        } else if let Some(rest) = text.strip_suffix("op") {
            Until::Operations(rest.trim().parse().map_err(|_| error())?)
        } else {
            Until::Minutes(model::units::parse_seconds(text).map_err(|_| error())? / 60.0)
        };
        until.check().map_err(|_| error())?;
        Ok(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_and_written() {
        for (text, until) in [
            ("settled", Until::Settled),
            ("10x", Until::Overwrites(10.0)),
            ("0x", Until::Overwrites(0.0)),
            ("30m", Until::Minutes(30.0)),
            ("90s", Until::Minutes(1.5)),
            ("500op", Until::Operations(500)),
            ("2000cycles", Until::Cycles(2000)),
        ] {
            assert_eq!(text.parse(), Ok(until));
            assert_eq!(until.to_string().parse(), Ok(until));
        }
        for text in ["", "x", "10", "-1x", "nanx", "infx", "1e9x", "old", "-5op"] {
            assert!(text.parse::<Until>().unwrap_err().contains("write settled, 10x"), "{text}");
        }
    }
}
