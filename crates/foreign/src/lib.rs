//! Results of other benchmarks, read as series of runs.
//!
//! [`read`] finds out by a file's first bytes which tool wrote it, and hands its text to the reader of that format: a file
//! each. Readers invent nothing: what a format does not tell stays empty, and what they cannot read is counted.

mod bonnie;
mod error;
mod fio;
mod fio_terse;
mod fio_text;
mod fs_benchmark;
mod io500;
mod ior;
mod ior_json;
mod json;
mod mdtest;
mod mmtests;
mod number;
mod phoronix;
mod results;
mod runs;
mod sysbench;
mod text;
mod time;

pub use error::ForeignError;
pub use results::{Facts, Latency, Metric, Results, Series};

/// Most bytes of a file of results.
pub const MOST_BYTES: u64 = 64 << 20;
/// Most series of a file.
pub const MOST_SERIES: usize = 10_000;
/// Most runs of a series.
pub const MOST_RUNS: usize = 10_000;
/// Most runs of all series of a file together.
pub const MOST_RUNS_OF_ALL: usize = 100_000;

/// A format: its name, whether a text is of it, and its reader.
struct Format {
    name: &'static str,
    is_one: fn(&str) -> bool,
    read: fn(&str) -> Result<Results, ForeignError>,
}

/// Formats in the order in which they are tried: what is recognised by more stands first.
const FORMATS: [Format; 11] = [
    Format { name: "fio JSON", is_one: fio::is_one, read: fio::read },
    Format { name: "fio's terse output", is_one: fio_terse::is_one, read: fio_terse::read },
    Format { name: "fio's output for people", is_one: fio_text::is_one, read: fio_text::refuse },
    Format { name: "IOR JSON", is_one: ior_json::is_one, read: ior_json::read },
    Format { name: "mmtests JSON", is_one: mmtests::is_one, read: mmtests::read },
    Format { name: "modern-fs-benchmark JSON", is_one: fs_benchmark::is_one, read: fs_benchmark::read },
    Format { name: "Phoronix composite.xml", is_one: phoronix::is_one, read: phoronix::read },
    Format { name: "IO500 result.txt", is_one: io500::is_one, read: io500::read },
    Format { name: "IOR or mdtest output", is_one: ior::is_one, read: ior::read },
    Format { name: "sysbench output", is_one: sysbench::is_one, read: sysbench::read },
    Format { name: "bonnie++ CSV", is_one: bonnie::is_one, read: bonnie::read },
];

/// Names of the formats that are read, in the order in which they are tried.
pub fn formats() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Whether a text, or the beginning of one, is of a format that is read here. A byte order mark is no matter.
pub fn is_known(text: &str) -> bool {
    let text = unmarked(text);
    FORMATS.iter().any(|format| (format.is_one)(text))
}

/// Reads the results of one file. A byte order mark at its beginning and carriage returns are no matter.
///
/// # Errors
/// As [`ForeignError`] says.
pub fn read(text: &str) -> Result<Results, ForeignError> {
    if text.len() as u64 > MOST_BYTES {
        return Err(ForeignError::TooLarge);
    }
    let text = unmarked(text);
    let format = FORMATS.iter().find(|format| (format.is_one)(text)).ok_or(ForeignError::Unknown)?;
    let mut results = (format.read)(text)?;
    results.check()?;
    Ok(results)
}

/// A text without the byte order mark at its beginning.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
