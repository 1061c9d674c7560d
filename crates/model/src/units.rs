//! Sizes and times with their units, in and out.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A size in bytes. Reads `4096`, `4KiB`, `4k` (fio's 1024), `2GiB`, `1MB` (10^6), with or without a space; a fraction of
/// a megabyte or more that is no whole number of bytes (`1.14 GiB`) is the next 4 KiB above it. Writes the largest binary
/// unit that divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// One kibibyte.
    pub const KIB: u64 = 1 << 10;
    /// One mebibyte.
    pub const MIB: u64 = 1 << 20;
    /// One gibibyte.
    pub const GIB: u64 = 1 << 30;

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Why a size or a duration could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a size.
    #[error("`{0}` is not a size; write a number with a unit, such as 4KiB or 2GiB")]
    Size(String),
    /// Not a duration.
    #[error("`{0}` is not a duration; write a number with a unit, such as 90s, 10m or 1h")]
    Duration(String),
    /// A duration without its unit.
    #[error("`{0}` has no unit; write {0}s, {0}m or {0}h")]
    NoUnit(String),
    /// Not a percentage.
    #[error("`{0}` is not a percentage above 0 and below 100; write for example 5%")]
    Percent(String),
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::Size(text.to_owned());
        let (number, unit) = split_number(text).ok_or_else(error)?;
        let scale: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "ki" | "kib" => 1 << 10,
            "m" | "mi" | "mib" => 1 << 20,
            "g" | "gi" | "gib" => 1 << 30,
            "t" | "ti" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return Err(error()),
        };
        let mut bytes = number * scale as f64;
        if bytes.fract() != 0.0 && scale >= 1_000_000 {
            bytes = (bytes / 4096.0).ceil() * 4096.0;
        }
        // 2^53: past it a float no longer holds every byte, and no lane is that large.
        if !(0.0..=9.0e15).contains(&bytes) || bytes.fract() != 0.0 {
            return Err(error());
        }
        Ok(Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (scale, name) in units {
            if self.0 >= scale && self.0.is_multiple_of(scale) {
                return write!(f, "{}{name}", self.0 / scale);
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(u64),
            Text(String),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Number(bytes) => Ok(Bytes(bytes)),
            Raw::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl schemars::JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "integer"], "description": "a size such as 4KiB" })
    }
}

/// Reads a duration: `90s`, `250ms`, `10m`, `1.5h`, `1h30m`. Without a unit it is refused: who writes `2` may mean
/// minutes.
///
/// # Errors
/// [`UnitError::NoUnit`] for a bare number; [`UnitError::Duration`] when the text is not a positive duration of at
/// most a year.
pub fn parse_seconds(text: &str) -> Result<f64, UnitError> {
    let error = || UnitError::Duration(text.to_owned());
    let mut rest = text.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(error());
    }
    if rest.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite()) {
        return Err(UnitError::NoUnit(rest.to_owned()));
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().map_err(|_| error())?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let scale = match &rest[..letters] {
            "ms" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            _ => return Err(error()),
        };
        total += number * scale;
        rest = rest[letters..].trim_start();
    }
    if total > 0.0 && total <= 366.0 * 86400.0 { Ok(total) } else { Err(error()) }
}

/// Reads a share given as a percentage: `5%` or `5`; answers 0.05.
///
/// # Errors
/// [`UnitError::Percent`] outside 0 (exclusive) to 100 (exclusive).
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let error = || UnitError::Percent(text.to_owned());
    let number: f64 = text.trim().trim_end_matches('%').trim_end().parse().map_err(|_| error())?;
    if number > 0.0 && number < 100.0 { Ok(number / 100.0) } else { Err(error()) }
}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// A size for people: three significant digits, binary unit (`29.8 GiB`).
pub fn human_bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// A bandwidth for people, decimal as disks are sold (`512 MB/s`).
pub fn human_bandwidth(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, 1000.0, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

/// A rate for people: `88.1k`, `950`.
pub fn human_count(count: f64) -> String {
    scaled(count, 1000.0, &["", "k", "M", "G"]).replace(' ', "")
}

/// What stands for a number that is none.
const UNKNOWN: &str = "?";

/// A share as a percentage without decimals from 10 % on: `97 %`, `4.2 %`, `<0.1 %`.
pub fn percent(share: f64) -> String {
    if share.is_nan() {
        return UNKNOWN.to_owned();
    }
    // Broken counters can claim anything; a sentence need not repeat three hundred digits of it.
    let percent = 100.0 * share.clamp(-1e6, 1e6);
    match percent {
        small if small > 0.0 && small < 0.05 => "<0.1 %".to_owned(),
        small if small <= 0.0 && small > -0.05 => "0 %".to_owned(),
        large if large.abs() >= 9.95 => format!("{percent:.0} %"),
        _ => format!("{percent:.1} %").replace(".0 %", " %"),
    }
}

/// Two shares as a range, or one where they print alike: `97 to 99 %`.
pub fn percent_range(shares: impl IntoIterator<Item = f64>) -> String {
    let (low, high) =
        shares.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let (low, high) = (percent(low), percent(high));
    if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// From here on a time is told in days.
const TWO_DAYS: f64 = 2.0 * 86_400.0;
/// Most days that are told.
const MOST_DAYS: u64 = 9_999;

/// A duration for people: `0.9 ms`, `42 s`, `84 min`, `2 h 10 min`, `3 days`.
pub fn human_seconds(seconds: f64) -> String {
    // Each unit ends where its last figure would read as the next one's first.
    match seconds {
        never if !never.is_finite() || never < 0.0 => UNKNOWN.to_owned(),
        0.0 => "0 s".to_owned(),
        ns if ns < 0.5e-9 => "<1 ns".to_owned(),
        ns if ns < 999.5e-9 => format!("{:.0} ns", ns * 1e9),
        us if us < 999.5e-6 => format!("{} us", significant(us * 1e6)),
        ms if ms < 0.9995 => format!("{} ms", significant(ms * 1e3)),
        short if short < 9.95 => format!("{short:.1} s"),
        some if some < 119.5 => format!("{some:.0} s"),
        // One way everywhere: what follows the first figure says nothing beside it.
        some if some < 7170.0 => format!("{:.0} min", some / 60.0),
        long if long < TWO_DAYS => {
            let minutes = (long / 60.0).round() as u64;
            match (minutes / 60, minutes % 60) {
                (hours, 0) => format!("{hours} h"),
                (hours, rest) => format!("{hours} h {rest} min"),
            }
        }
        days => match (days / 86_400.0).round() as u64 {
            days if days > MOST_DAYS => ">9,999 days".to_owned(),
            days => format!("{days} days"),
        },
    }
}

/// Largest number in the largest unit.
const MOST: f64 = 999_999.0;

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let mut unit = 0;
    // 999.5 would print as 1000: take the next unit already there.
    while value.abs() >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let number = match value {
        large if large.abs() > MOST => format!("{}999,999", if large > 0.0 { ">" } else { "<-" }),
        0.0 => "0".to_owned(),
        small if small.abs() < 0.005 => if small > 0.0 { "<0.01" } else { "0" }.to_owned(),
        whole if unit == 0 && whole.fract() == 0.0 => format!("{whole:.0}"),
        other => significant(other),
    };
    format!("{number} {}", units[unit]).trim_end().to_owned()
}

/// Three significant digits, without trailing zeros.
fn significant(value: f64) -> String {
    let digits = if value.abs() >= 99.95 {
        0
    } else if value.abs() >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_binary_and_decimal_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4KiB", 4096),
            ("4k", 4096),
            ("1MB", 1_000_000),
            ("2GiB", 2 << 30),
            ("1.5 GiB", 3 << 29),
            ("1.14 GiB", 298_845 << 12),
            ("1.14GiB", 298_845 << 12),
            ("0.1 MiB", 26 << 12),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "x", "-1", "-1.5GiB", "4 potatoes", "0.3", "0.3KiB", "1e3", "GiB", "99999999999999TiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_in_the_largest_unit_that_divides_them() {
        assert_eq!(Bytes(4096).to_string(), "4KiB");
        assert_eq!(Bytes(2 << 30).to_string(), "2GiB");
        assert_eq!(Bytes(1000).to_string(), "1000B");
        assert_eq!(Bytes(0).to_string(), "0B");
    }

    #[test]
    fn durations_are_read_with_units_and_sums() {
        for (text, seconds) in [("90s", 90.0), ("1.5 h", 5400.0), ("250ms", 0.25), ("10m", 600.0), ("1h30m", 5400.0)] {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
        for text in ["", "0s", "s", "-5s", "5 parsecs", "9999d", "1h30", "0", "inf"] {
            assert_eq!(parse_seconds(text), Err(UnitError::Duration(text.to_owned())), "{text}");
        }
        let said = parse_seconds(" 2 ").unwrap_err().to_string();
        assert_eq!(said, "`2` has no unit; write 2s, 2m or 2h");
    }

    #[test]
    fn shares_read_as_percentages_and_ranges_name_their_sign_once() {
        assert_eq!([0.97, 0.0421, 0.05, 1e300].map(percent), ["97 %", "4.2 %", "5 %", "100000000 %"]);
        assert_eq!((percent_range([0.99, 0.97]), percent_range([0.97])), ("97 to 99 %".into(), "97 %".into()));
    }

    #[test]
    fn what_says_nothing_is_not_printed_as_if_it_did() {
        assert_eq!([f64::NAN, -1e-9, 0.0004, -0.0, 0.00051].map(percent), ["?", "0 %", "<0.1 %", "0 %", "0.1 %"]);
        let times = [f64::NAN, f64::INFINITY, -1.0, 0.0, 3e-10, 6e-10, 999.7e-9, 999.7e-6, 0.9997, 9.97, 89.7, 1e300];
        let said = ["?", "?", "?", "0 s", "<1 ns", "1 ns", "1 us", "1 ms", "1.0 s", "10 s", "90 s", ">9,999 days"];
        assert_eq!(times.map(human_seconds), said);
        assert_eq!([f64::NAN, 0.0, 1e-9, -1e-9, 1e300].map(human_count), ["?", "0", "<0.01", "0", ">999,999G"]);
        assert_eq!([f64::INFINITY, 1e300].map(human_bandwidth), ["?", ">999,999 TB/s"]);
    }

    proptest::proptest! {
        #[test]
        fn every_figure_is_short_and_none_is_an_empty_zero(bits in proptest::num::u64::ANY) {
            let value = f64::from_bits(bits);
            for said in [percent(value), human_seconds(value), human_count(value), human_bytes(value), human_bandwidth(value)] {
                assert!(said.len() <= 16, "{said}");
                for silly in ["NaN", "inf", "-0 ", "e2"] {
                    assert!(!said.contains(silly), "{said}");
                }
                // Zero is said of zero alone, and of less than nothing.
                let zero = !said.contains(|c: char| ('1'..='9').contains(&c)) && said.starts_with('0');
                assert!(!zero || value <= 0.0, "{value}: {said}");
            }
        }

        #[test]
        fn times_grow_with_what_they_tell(a in 1e-12_f64..1e9, factor in 1.2_f64..10.0) {
            let read = |text: &str| -> f64 {
                let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86_400.0)];
                let words: Vec<&str> = text.trim_start_matches(['<', '>']).split(' ').collect();
                words.chunks(2).map(|part| {
                    let scale = units.iter().find(|(name, _)| *name == part[1]).unwrap().1;
                    part[0].replace(',', "").parse::<f64>().unwrap() * scale
                }).sum()
            };
            let told = human_seconds(a);
            if told != "<1 ns" && told != ">9,999 days" {
                let off = (read(&told) / a - 1.0).abs();
                // A few minutes, and a few days, are whole ones.
                let whole = told.ends_with("min") || told.ends_with("days");
                assert!(off < 0.51 && (a < 1e-8 || off < if whole { 0.26 } else { 0.06 }), "{a}: {told}");
            }
            assert!(read(&human_seconds(a * factor)) >= read(&told), "{a} {factor}");
        }
    }

    #[test]
    fn people_see_three_digits_and_a_unit() {
        assert_eq!(human_bandwidth(512e6), "512 MB/s");
        assert_eq!(human_count(88_100.0), "88.1k");
        assert_eq!(human_count(999.6), "1k");
        assert_eq!(human_bytes(6.0 * 1024.0 * 1024.0 * 1024.0), "6 GiB");
        assert_eq!(human_seconds(0.0009), "900 us");
        let times = [67.0, 119.4, 119.6, 5091.0, 7169.0, 7170.0, 7800.0, 36_000.0, 172_700.0, 8_640_000.0];
        let said =
            ["67 s", "119 s", "2 min", "85 min", "119 min", "2 h", "2 h 10 min", "10 h", "47 h 58 min", "100 days"];
        assert_eq!(times.map(human_seconds), said);
    }
}
