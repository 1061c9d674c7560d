//! `fairlane import`: what other tools wrote down becomes a trace, or a record.

mod io500;
mod logs;
mod of_processes;
mod record;
mod results;

use crate::failure::Failure;
use crate::options::Import;
use crate::owned;
use model::text::escaped_path;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Most files of results of one import: each is open while all are read.
const MOST_FILES: usize = 512;
/// Bytes by which a file is known: warnings may stand before what a tool was asked for.
const BEGINNING_BYTES: u64 = 256 << 10;

/// A file of results, and the lane that it is of where the command line says so.
struct Named {
    lane: Option<String>,
    path: PathBuf,
}

/// Makes a record where the first file holds results, and otherwise a trace.
///
/// # Errors
/// When a file cannot be read, is of no known kind, or what comes of it cannot be written.
pub fn run(options: &Import) -> Result<(), Failure> {
    let files = all_named(&options.files)?;
    if let Some(name) = files.iter().filter_map(|file| file.lane.as_deref()).find(|name| name.trim().is_empty()) {
        return Err(Failure::usage(format!("`{name}=` names no lane; write LANE=FILE")));
    }
    if options.output.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage("a record or a trace is a file; for one of this name write -o ./-"));
    }
    let Some(first) = files.first() else { return Err(Failure::usage("name a file to import")) };
    let beginning = beginning(&first.path)?;
    // A process that was killed at once leaves an empty log.
    if beginning.is_empty() && files.len() == 1 {
        return Err(Failure::usage(format!("{} is empty; name a file that holds results", escaped_path(&first.path))));
    }
    match foreign::is_known(&beginning) {
        true if files.len() > MOST_FILES => Err(too_many(MOST_FILES)),
        true => results::run(&files, options.output.as_deref()),
        false => match (&options.output, files.iter().find(|file| file.lane.is_some())) {
            (_, Some(file)) => Err(Failure::usage(format!(
                "{} holds no results that are known, so that it is of no lane; docs/import.md lists the formats",
                escaped_path(&file.path)
            ))),
            (None, None) => Err(Failure::usage(format!(
                "{} holds no results that are known (docs/import.md lists the formats); of a log of calls write the trace \
                 somewhere: -o TRACE",
                escaped_path(&first.path)
            ))),
            (Some(output), None) => {
                let logs: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
                logs::run(&logs, output)
            }
        },
    }
}

fn too_many(most: usize) -> Failure {
    Failure::usage(format!("more than {most} files are no one import; name fewer"))
}

/// The files that are named, and those of a folder or of a name that `strace -ff` wrote for each process.
fn all_named(words: &[PathBuf]) -> Result<Vec<Named>, Failure> {
    let mut files = Vec::new();
    for word in words {
        let file = named(word);
        let found = if file.lane.is_none() { of_processes::find(word)? } else { None };
        match found {
            Some(found) => files.extend(found.into_iter().map(|path| Named { lane: None, path })),
            None => files.push(file),
        }
        if files.len() > of_processes::MOST_FILES {
            return Err(too_many(of_processes::MOST_FILES));
        }
    }
    Ok(files)
}

/// `NAME=FILE`, or a file: what is there as it was typed is a file, whatever its name.
fn named(word: &Path) -> Named {
    let whole = || Named { lane: None, path: word.to_owned() };
    let Some(text) = word.to_str().filter(|_| owned::metadata(word).is_err()) else { return whole() };
    match text.split_once('=') {
        Some((lane, file)) if !lane.is_empty() && !file.is_empty() && !lane.contains('/') => {
            Named { lane: Some(lane.to_owned()), path: PathBuf::from(file) }
        }
        _ => whole(),
    }
}

/// The beginning of a file, by which it is known.
fn beginning(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let cannot = |error| cannot_read(path, &error);
    owned::open_to_read(path).map_err(cannot)?.take(BEGINNING_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}; name another file", escaped_path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_stands_before_its_file_where_no_file_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a=b.json");
        std::fs::write(&odd, "{}").unwrap();
        assert!(named(&odd).lane.is_none() && named(&odd).path == odd);
        let of = named(Path::new("ext4=old/fio.json"));
        assert_eq!((of.lane.as_deref(), of.path.as_path()), (Some("ext4"), Path::new("old/fio.json")));
        for word in ["old/x=fio.json", "=fio.json", "ext4=", "fio.json"] {
            assert!(named(Path::new(word)).lane.is_none(), "{word}");
        }
    }
}
