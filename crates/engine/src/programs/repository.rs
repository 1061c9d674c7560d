//! A repository that git makes of generated files.

use super::sandbox::Sandbox;
use super::{cannot, process};
use crate::databases::Random;
use crate::error::EngineError;
use crate::workloads::heed;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Files of a directory, and directories of one above them.
const FILES: u64 = 50;
const DIRECTORIES: u64 = 20;

/// Makes a bare repository with two branches, `main` and `other`; a quarter of the files differ.
pub(super) fn make(path: &Path, files: u64, stop: &AtomicBool) -> Result<(), EngineError> {
    let mut work = path.as_os_str().to_owned();
    work.push(".work");
    let work = Path::new(&work);
    let made = build(path, work, files, stop);
    let _ = std::fs::remove_dir_all(work);
    made
}

fn build(path: &Path, work: &Path, files: u64, stop: &AtomicBool) -> Result<(), EngineError> {
    let _ = std::fs::remove_dir_all(work);
    std::fs::create_dir_all(work).map_err(|error| cannot("create directory", work, &error))?;
    let sandbox = Sandbox::own(work)?;
    let git = |words: &[&str]| {
        let words: Vec<String> = ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect();
        process::run(&words, &sandbox, stop)
    };
    git(&["init", "-q", "--initial-branch=main"])?;
    write(work, 0..files, 1, stop)?;
    git(&["add", "-A"])?;
    git(&["commit", "-q", "-m", "all files"])?;
    git(&["checkout", "-q", "-b", "other"])?;
    write(work, 0..files / 4, 2, stop)?;
    git(&["commit", "-q", "-a", "-m", "a quarter of them anew"])?;
    git(&["checkout", "-q", "main"])?;
    git(&["clone", "-q", "--bare", "--no-hardlinks", ".", &path.to_string_lossy()])
}

/// Files of text, from a few hundred bytes to 16 KiB, most of them small.
fn write(work: &Path, numbers: std::ops::Range<u64>, version: u64, stop: &AtomicBool) -> Result<(), EngineError> {
    for number in numbers {
        heed(stop)?;
        let directory = number / FILES;
        let folder = work.join(format!("part{:03}/module{directory:05}", directory / DIRECTORIES));
        if number.is_multiple_of(FILES) {
            std::fs::create_dir_all(&folder).map_err(|error| cannot("create directory", &folder, &error))?;
        }
        let mut random = Random::new(number ^ (version << 48));
        let bytes = 256 << random.below(7);
        let mut text = String::with_capacity(bytes + 64);
        while text.len() < bytes {
            text.push_str(&format!("line {:016x} of file {number}\n", random.next()));
        }
        let path = folder.join(format!("file{number:07}.txt"));
        std::fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(())
}
