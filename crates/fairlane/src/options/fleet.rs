//! Options of what looks at many records at once.

use clap::Args;
use std::path::PathBuf;

const COLLECT_HELP: &str = "\
One row per trial, group and metric, failed trials too; docs/fleet.md explains the columns. Folders
are searched with those below them for files that end in .jsonl, through no link. What is no record
of a race is counted and named.

  fairlane collect -o fleet.parquet                      the records kept
  fairlane collect /srv/fleet last -o fleet.parquet      all below a folder, and the last one here
  fairlane collect 'old/*.jsonl' -o old.csv";

/// Options of `collect`.
#[derive(Debug, Args)]
#[command(after_help = COLLECT_HELP)]
pub struct Collect {
    /// Files, `last`, patterns such as 'old/*.jsonl', or folders; default: the records kept
    #[arg(value_name = "FOLDER|RECORD")]
    pub records: Vec<String>,
    /// Write the table here; a file that is there stays as it is
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// parquet or csv; default: what the file's name ends in, and else parquet
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
}

const TREND_HELP: &str = "\
Without a group all groups of the workload are shown, without folders and records those that are
kept. A trend judges nothing: it leaves out, by name, records of other work or on a disk of another
size, and lanes that were made in another way than the newest one. A word with a slash, a * or a ?,
one that ends in .jsonl, and `last` are records or folders; every other one behind the workload is
the group.

  fairlane trend commit
  fairlane trend \"commit 4 KiB\"                           by its title, where no workload has the name
  fairlane trend small-files create --lane ext4 --lane xfs
  fairlane trend commit write /srv/fleet --format csv > commit.csv";

/// Options of `trend`.
#[derive(Debug, Args)]
#[command(after_help = TREND_HELP)]
pub struct Trend {
    /// Name of the workload, as its suite has it, or its title
    pub workload: String,
    /// Name of the group: `write`, `create`, …
    pub group: Option<String>,
    /// Files, `last`, patterns such as 'old/*.jsonl', or folders; default: the records kept
    #[arg(value_name = "FOLDER|RECORD")]
    pub records: Vec<String>,
    /// Only this lane; may be given again
    #[arg(long = "lane", value_name = "LANE")]
    pub lanes: Vec<String>,
    /// text, markdown, csv or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
}

impl Trend {
    /// The group, and where the records are: the second word may be either.
    pub fn group_and_places(&self) -> (Option<String>, Vec<String>) {
        match &self.group {
            Some(word) if is_place(word) => (None, [&[word.clone()][..], &self.records].concat()),
            group => (group.clone(), self.records.clone()),
        }
    }
}

/// Whether a word names records or a folder, by its characters alone.
fn is_place(word: &str) -> bool {
    word.contains(['/', '*', '?'])
        || word.ends_with(".jsonl")
        || [".", "..", "last"].contains(&word)
        || word.starts_with("last~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_group_or_a_place_by_its_characters() {
        for place in ["runs/", "./write", "*.jsonl", "a.jsonl", "last", "last~3", ".", "/srv"] {
            assert!(is_place(place), "{place}");
        }
        for group in ["write", "JOB: read", "cold read 1 KiB", "lasting", "a.b", ""] {
            assert!(!is_place(group), "{group}");
        }
        let trend = |group: Option<&str>| Trend {
            workload: "commit".to_owned(),
            group: group.map(str::to_owned),
            records: vec!["b.jsonl".to_owned()],
            lanes: Vec::new(),
            format: "text".to_owned(),
        };
        assert_eq!(trend(Some("write")).group_and_places(), (Some("write".to_owned()), vec!["b.jsonl".to_owned()]));
        let places = vec!["a/".to_owned(), "b.jsonl".to_owned()];
        assert_eq!(trend(Some("a/")).group_and_places(), (None, places));
    }
}
