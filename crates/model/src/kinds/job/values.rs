//! What options hold: block sizes, distributions, data, rates, and those with a few named values.

use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The block sizes of one direction: `"4KiB"`, `"4KiB-64KiB"` (uniform, in steps of the lower), or
/// `"4KiB/60:64KiB/40"` (size and percent).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockSizes {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform between both, in steps of the lower.
    Range(Bytes, Bytes),
    /// Each with its share in percent; the shares sum to 100.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSizes {
    /// The smallest.
    pub fn smallest(&self) -> Bytes {
        match self {
            BlockSizes::Fixed(bytes) | BlockSizes::Range(bytes, _) => *bytes,
            BlockSizes::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or_default(),
        }
    }

    /// The largest.
    pub fn largest(&self) -> Bytes {
        match self {
            BlockSizes::Fixed(bytes) | BlockSizes::Range(_, bytes) => *bytes,
            BlockSizes::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or_default(),
        }
    }
}

impl BlockSizes {
    /// The mean length in bytes, as often as each is drawn.
    pub fn mean(&self) -> f64 {
        match self {
            BlockSizes::Fixed(bytes) => bytes.0 as f64,
            BlockSizes::Range(low, high) => {
                let steps = high.0.saturating_sub(low.0) / low.0.max(1);
                low.0 as f64 * (1.0 + steps as f64 / 2.0)
            }
            BlockSizes::Split(parts) => {
                parts.iter().map(|(bytes, percent)| bytes.0 as f64 * f64::from(*percent) / 100.0).sum()
            }
        }
    }
}

/// How random offsets are distributed: `"random"`, `"zipf:1.2"`, `"pareto:0.2"`, `"normal:10"`,
/// `"zoned:90/10:10/90"` (share of accesses / share of the file, in percent: hot and cold).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Distribution {
    /// Every block alike.
    #[default]
    Random,
    /// Zipf with this exponent, above 0 and not 1.
    Zipf(f64),
    /// Pareto with this power, above 0 and under 1.
    Pareto(f64),
    /// Normal about the middle, with this standard deviation in percent of the file.
    Normal(f64),
    /// Zones from the start of the file: percent of the accesses, percent of the file.
    Zoned(Vec<(u32, u32)>),
}

/// How the next file is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileService {
    /// One after another.
    #[default]
    RoundRobin,
    /// At random.
    Random,
    /// Each to its end before the next.
    Sequential,
}

/// How files to be written are reserved before the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallocate {
    /// As fio's default on Linux: `fallocate` where the filesystem has it, else nothing.
    #[default]
    Native,
    /// Nothing.
    None,
    /// `posix_fallocate`, which writes zeros where the filesystem cannot reserve.
    Posix,
    /// `fallocate` with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// `ftruncate` to the size: a hole.
    Truncate,
}

/// What the kernel is told about the coming accesses (`posix_fadvise`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FadviseHint {
    /// What the pattern suggests.
    #[default]
    Pattern,
    /// Nothing.
    None,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_NOREUSE.
    Noreuse,
}

/// How files to be written are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncMode {
    /// Plainly.
    #[default]
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// A rate that each worker keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// As fast as it goes.
    #[default]
    Unlimited,
    /// Operations per second.
    Operations(f64),
    /// Bytes per second.
    Bytes(f64),
}

/// How the operations of a rate are spread over time, and from when their latency counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// A limit, at equal distances; latency from the moment of submission, as in fio.
    #[default]
    Linear,
    /// The open loop of method 4.1: Poisson arrivals; latency from the intended start.
    Poisson,
}

/// What is written: `"incompressible"`, `"1.6:1"`, `"2.7:1"`, `"zero"`, `"compress:50"` (percent of
/// each chunk that is compressible), `"pattern:deadbeef"`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Data {
    /// Random bytes that never repeat.
    #[default]
    Incompressible,
    /// zstd -3 makes about 1.6:1 of it.
    Ratio16,
    /// zstd -3 makes about 2.7:1 of it.
    Ratio27,
    /// Zeros. Flatters filesystems that compress; a job file may ask for it.
    Zero,
    /// So many percent of each chunk are zeros, in chunks of so many bytes (0: a block).
    Compress(u32, u32),
    /// These bytes over and over.
    Pattern(Vec<u8>),
}

/// How blocks are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// CRC-32C with offset and generation.
    Crc32c,
}

impl fmt::Display for BlockSizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockSizes::Fixed(bytes) => write!(out, "{bytes}"),
            BlockSizes::Range(low, high) => write!(out, "{low}-{high}"),
            BlockSizes::Split(parts) => {
                for (index, (bytes, percent)) in parts.iter().enumerate() {
                    let colon = if index > 0 { ":" } else { "" };
                    write!(out, "{colon}{bytes}/{percent}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for BlockSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        if text.contains('/') {
            let mut parts = Vec::new();
            for part in text.split(':') {
                let (bytes, percent) =
                    part.split_once('/').ok_or_else(|| format!("`{part}` is no SIZE/PERCENT, such as 4KiB/60"))?;
                let percent: u32 = percent
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{percent}` is no whole percentage; write 0 to 100"))?;
                parts.push((size(bytes)?, percent));
            }
            let sum: u64 = parts.iter().map(|part| u64::from(part.1)).sum();
            if sum != 100 {
                return Err(format!("the shares of `{text}` sum to {sum}, not 100; change them"));
            }
            return Ok(BlockSizes::Split(parts));
        }
        match text.split_once('-') {
            None => Ok(BlockSizes::Fixed(size(text)?)),
            Some((low, high)) => {
                let (low, high) = (size(low)?, size(high)?);
                if low > high || low.0 == 0 {
                    return Err(format!(
                        "`{text}` is no range of sizes; write the smaller one first, such as 4KiB-64KiB"
                    ));
                }
                Ok(BlockSizes::Range(low, high))
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Random => out.write_str("random"),
            Distribution::Zipf(theta) => write!(out, "zipf:{theta}"),
            Distribution::Pareto(power) => write!(out, "pareto:{power}"),
            Distribution::Normal(deviation) => write!(out, "normal:{deviation}"),
            Distribution::Zoned(zones) => {
                out.write_str("zoned")?;
                zones.iter().try_for_each(|(accesses, share)| write!(out, ":{accesses}/{share}"))
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |within: std::ops::RangeInclusive<f64>, usual: f64| {
            if rest.is_empty() {
                return Ok(usual);
            }
            let number: f64 = rest.parse().map_err(|_| format!("`{rest}` is no number for {name}"))?;
            if within.contains(&number) {
                Ok(number)
            } else {
                Err(format!("{name} takes {} to {}, not {rest}", within.start(), within.end()))
            }
        };
        match name {
            "random" => Ok(Distribution::Random),
            "zipf" => match number(0.01..=10.0, 1.1)? {
                1.0 => Err("zipf:1 has no closed form; write 1.01 or 0.99".to_owned()),
                theta => Ok(Distribution::Zipf(theta)),
            },
            "pareto" => Ok(Distribution::Pareto(number(0.001..=0.999, 0.2)?)),
            "normal" => Ok(Distribution::Normal(number(0.001..=100.0, 10.0)?)),
            "zoned" => {
                let mut zones = Vec::new();
                for zone in rest.split(':') {
                    let read = |text: &str| text.trim().parse::<u32>().ok().filter(|percent| *percent <= 100);
                    let pair = zone.split_once('/').and_then(|(a, b)| Some((read(a)?, read(b)?)));
                    zones.push(pair.ok_or_else(|| format!("`{zone}` is no ACCESSES/SHARE in percent, such as 90/10"))?);
                }
                let sums: (u64, u64) =
                    zones.iter().fold((0, 0), |sum, zone| (sum.0 + u64::from(zone.0), sum.1 + u64::from(zone.1)));
                if sums != (100, 100) {
                    return Err(format!(
                        "the zones of `{text}` sum to {}/{}, not 100/100; change them",
                        sums.0, sums.1
                    ));
                }
                Ok(Distribution::Zoned(zones))
            }
            _ => Err(format!("`{name}` is no distribution; choose random, zipf, pareto, normal or zoned")),
        }
    }
}

impl fmt::Display for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::Incompressible => out.write_str("incompressible"),
            Data::Ratio16 => out.write_str("1.6:1"),
            Data::Ratio27 => out.write_str("2.7:1"),
            Data::Zero => out.write_str("zero"),
            Data::Compress(percent, 0) => write!(out, "compress:{percent}"),
            Data::Compress(percent, chunk) => write!(out, "compress:{percent}/{chunk}"),
            Data::Pattern(bytes) => {
                out.write_str("pattern:")?;
                bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
        }
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no data; choose incompressible, 1.6:1, 2.7:1, zero, compress:PERCENT or pattern:HEX")
        };
        match text {
            "incompressible" => return Ok(Data::Incompressible),
            "1.6:1" => return Ok(Data::Ratio16),
            "2.7:1" => return Ok(Data::Ratio27),
            "zero" => return Ok(Data::Zero),
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("compress:") {
            let (percent, chunk) = rest.split_once('/').unwrap_or((rest, "0"));
            let percent = percent.parse().ok().filter(|percent| *percent <= 100).ok_or_else(wrong)?;
            return Ok(Data::Compress(percent, chunk.parse().map_err(|_| wrong())?));
        }
        let hex = text.strip_prefix("pattern:").ok_or_else(wrong)?;
        if hex.is_empty() || hex.len() % 2 != 0 || hex.len() > 1024 || !hex.is_ascii() {
            return Err(wrong());
        }
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).map_err(|_| wrong());
        (0..hex.len()).step_by(2).map(byte).collect::<Result<_, _>>().map(Data::Pattern)
    }
}

/// Types whose JSON and TOML form is their text.
macro_rules! as_text {
    ($($type:ty => $example:literal),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": [$example] })
            }
        }
    )*};
}

as_text!(BlockSizes => "4KiB/60:64KiB/40", Distribution => "zipf:1.2", Data => "2.7:1");
