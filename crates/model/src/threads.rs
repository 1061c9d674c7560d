//! A number of threads in a suite: a number, or "cpus".

use serde::{Deserialize, Deserializer};

/// Most threads that "cpus" stands for: more show the scheduler's work beside the filesystem's.
pub const MOST_OF_CPUS: u32 = 8;
/// Fewest: with one there is nothing at the same time.
const FEWEST_OF_CPUS: u32 = 2;

/// What "cpus" stands for on a machine with so many CPUs: that many threads, 2 to 8.
pub fn of_cpus(cpus: u32) -> u32 {
    cpus.clamp(FEWEST_OF_CPUS, MOST_OF_CPUS)
}

/// Reads a number, or "cpus": as many threads as the machine that reads has CPUs, 2 to 8. What is written is the number, so
/// that a record says how many there were.
///
/// # Errors
/// Another word, and a number that is none.
pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number of threads, or \"cpus\"")]
    enum Threads {
        Number(u32),
        Word(Cpus),
    }
    #[derive(Deserialize)]
    enum Cpus {
        #[serde(rename = "cpus")]
        Cpus,
    }
    Ok(match Threads::deserialize(deserializer)? {
        Threads::Number(number) => number,
        Threads::Word(Cpus::Cpus) => of_cpus(std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32)),
    })
}

/// Its shape.
pub(crate) fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [
        { "type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX },
        { "type": "string", "const": "cpus" },
    ] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operations;

    #[test]
    fn cpus_are_two_to_eight_threads() {
        assert_eq!([1, 2, 4, 8, 64].map(of_cpus), [2, 2, 4, 8, 8]);
    }

    #[test]
    fn a_number_stays_and_a_word_becomes_one() {
        let read = |threads: &str| {
            let text = format!(
                "threads = {threads}\n[[files]]\nname = \"a\"\ncount = 1\nsize = \"1KiB\"\n[[step]]\noperation = \
                 \"create\"\nfiles = \"a\"\n"
            );
            toml::from_str::<Operations>(&text).map(|of| of.threads).map_err(|error| error.to_string())
        };
        assert_eq!(read("3"), Ok(3));
        let several = read("\"cpus\"").unwrap();
        assert!((2..=8).contains(&several));
        for wrong in ["\"cpu\"", "-1", "1.5", "true"] {
            assert!(read(wrong).unwrap_err().contains("a number of threads, or \"cpus\""), "{wrong}");
        }
    }
}
