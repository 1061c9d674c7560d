//! Short sequences of operations on a small tree, generated from the seed, each followed by calls that
//! make it safe: most bugs of filesystems that studies of crashes found need no more than three operations.

use super::{Acknowledge, Found, Terms, content, sync_directory};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The names that a sequence works with; the first and the last are there at its beginning.
const NAMES: [&str; 4] = ["a", "c", "d/c", "d/b"];
/// Largest file in bytes.
const MOST: u64 = 12_000;

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operation {
    Create(usize),
    Append(usize),
    Truncate(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Unlink(usize),
}

/// How a sequence is made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// fsync of each file, then of both directories.
    Files,
    /// fdatasync of each file, then fsync of both directories.
    Data,
    /// syncfs.
    Whole,
    /// fsync of each file, and nothing else.
    Bare,
}

/// The tree as it must be: which file each name leads to, and what is in it.
#[derive(Debug, Default)]
struct Tree {
    names: BTreeMap<usize, usize>,
    files: Vec<Vec<u8>>,
}

/// What one sequence does, and the tree afterwards.
struct Sequence {
    operations: Vec<Operation>,
    end: End,
    after: Tree,
    touched: BTreeSet<usize>,
}

fn start(terms: Terms, record: u64) -> Tree {
    let files = vec![content::of(terms.seed, record << 8, MOST), content::of(terms.seed, (record << 8) + 1, MOST)];
    Tree { names: [(0, 0), (3, 1)].into(), files }
}

fn added(terms: Terms, record: u64, step: usize) -> Vec<u8> {
    content::of(terms.seed, (record << 8) + 16 + step as u64, MOST)
}

fn generate(terms: Terms, record: u64, bare: bool) -> Sequence {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(terms.seed ^ record.wrapping_mul(0xd134_2543_de82_ef95));
    let mut tree = start(terms, record);
    let (mut operations, mut touched) = (Vec::new(), BTreeSet::new());
    let wanted = 1 + random.next_u64() % 3;
    while (operations.len() as u64) < wanted {
        let (from, to) = ((random.next_u64() % 4) as usize, (random.next_u64() % 4) as usize);
        let file = tree.names.get(&from).copied();
        let step = operations.len();
        let operation = match (random.next_u64() % 6, file) {
            (0, None) => {
                tree.files.push(added(terms, record, step));
                tree.names.insert(from, tree.files.len() - 1);
                Operation::Create(from)
            }
            (1, Some(file)) => {
                tree.files[file].extend(added(terms, record, step));
                Operation::Append(from)
            }
            (2, Some(file)) => {
                let half = tree.files[file].len() / 2;
                tree.files[file].truncate(half);
                Operation::Truncate(from)
            }
            // A rename onto another name of the same file does nothing, by POSIX.
            (3, Some(file)) if tree.names.get(&to) != Some(&file) => {
                tree.names.remove(&from);
                tree.names.insert(to, file);
                Operation::Rename(from, to)
            }
            (4, Some(file)) if !tree.names.contains_key(&to) => {
                tree.names.insert(to, file);
                Operation::Link(from, to)
            }
            (5, Some(_)) => {
                tree.names.remove(&from);
                Operation::Unlink(from)
            }
            _ => continue,
        };
        touched.extend([from, to]);
        operations.push(operation);
    }
    let end = match (bare, random.next_u64() % 4) {
        (true, _) => End::Bare,
        (false, 0) => End::Whole,
        (false, 1) => End::Data,
        (false, _) => End::Files,
    };
    Sequence { operations, end, after: tree, touched }
}

fn folder_of(folder: &Path, record: u64) -> PathBuf {
    folder.join(format!("s{record}"))
}

pub fn prepare(folder: &Path, terms: Terms) -> std::io::Result<()> {
    for record in terms.numbers() {
        let own = folder_of(folder, record);
        std::fs::create_dir_all(own.join("d"))?;
        let tree = start(terms, record);
        for (&name, &file) in &tree.names {
            std::fs::write(own.join(NAMES[name]), &tree.files[file])?;
        }
    }
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(())
}

fn perform(own: &Path, sequence: &Sequence, terms: Terms, record: u64) -> std::io::Result<()> {
    let path = |name: &usize| own.join(NAMES[*name]);
    for (step, operation) in sequence.operations.iter().enumerate() {
        match operation {
            Operation::Create(name) => std::fs::write(path(name), added(terms, record, step))?,
            Operation::Append(name) => {
                OpenOptions::new().append(true).open(path(name))?.write_all(&added(terms, record, step))?;
            }
            Operation::Truncate(name) => {
                let file = OpenOptions::new().write(true).open(path(name))?;
                file.set_len(file.metadata()?.len() / 2)?;
            }
            Operation::Rename(from, to) => std::fs::rename(path(from), path(to))?,
            Operation::Link(from, to) => std::fs::hard_link(path(from), path(to))?,
            Operation::Unlink(name) => std::fs::remove_file(path(name))?,
        }
    }
    if sequence.end == End::Whole {
        return Ok(rustix::fs::syncfs(File::open(own)?)?);
    }
    for name in sequence.touched.iter().filter(|name| sequence.after.names.contains_key(name)) {
        let file = File::open(path(name))?;
        match sequence.end {
            End::Data => file.sync_data()?,
            _ => file.sync_all()?,
        }
    }
    if sequence.end != End::Bare {
        sync_directory(&own.join("d"))?;
        sync_directory(own)?;
    }
    Ok(())
}

fn run(folder: &Path, terms: Terms, acknowledge: Acknowledge, bare: bool) -> std::io::Result<()> {
    for record in terms.numbers() {
        perform(&folder_of(folder, record), &generate(terms, record, bare), terms, record)?;
        acknowledge(record)?;
    }
    Ok(())
}

/// How far a sequence was when the power went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Acknowledged: the tree must be as it leaves it.
    Done,
    /// Whatever it touches may be in any state; what it does not touch was safe before.
    UnderWay,
    /// The tree must be as it was prepared.
    NotBegun,
}

/// What a name must lead to: nothing, a file, or `None`: that is open.
fn wanted<'a>(stage: Stage, before: &'a Tree, sequence: &'a Sequence, name: usize) -> Option<Option<&'a Vec<u8>>> {
    let of = |tree: &'a Tree| tree.names.get(&name).map(|&file| &tree.files[file]);
    match stage {
        Stage::Done => Some(of(&sequence.after)),
        Stage::UnderWay if sequence.touched.contains(&name) => None,
        Stage::UnderWay | Stage::NotBegun => Some(of(before)),
    }
}

fn check(folder: &Path, terms: Terms, acknowledged: u64, bare: bool) -> Found {
    let mut found = Found::default();
    for record in terms.numbers() {
        let (sequence, before) = (generate(terms, record, bare), start(terms, record));
        let stage = match record {
            record if record <= acknowledged => Stage::Done,
            record if record == acknowledged + 1 => Stage::UnderWay,
            _ => Stage::NotBegun,
        };
        let own = folder_of(folder, record);
        for (index, name) in NAMES.iter().enumerate() {
            let Some(wanted) = wanted(stage, &before, &sequence, index) else { continue };
            let there = std::fs::read(own.join(name));
            let what = match (wanted, there) {
                (Some(wanted), Ok(bytes)) if bytes == *wanted => continue,
                (None, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => continue,
                (Some(wanted), Ok(bytes)) => {
                    found.torn += 1;
                    format!("holds {} bytes, not the {} that were written", bytes.len(), wanted.len())
                }
                (Some(_), Err(error)) => {
                    found.lost += 1;
                    format!("cannot be read: {error}")
                }
                (None, Ok(_)) => {
                    found.stale += 1;
                    "is still there".to_owned()
                }
                (None, Err(error)) => {
                    found.lost += 1;
                    format!("is gone, but cannot be asked for: {error}")
                }
            };
            let (operations, end) = (&sequence.operations, sequence.end);
            found.say(|| format!("sequence {record} ({operations:?}, {end:?}, {stage:?}): {name} {what}"));
        }
    }
    found
}

pub fn run_promised(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    run(folder, terms, acknowledge, false)
}

pub fn check_promised(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    check(folder, terms, acknowledged, false)
}

pub fn run_bare(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    run(folder, terms, acknowledge, true)
}

pub fn check_bare(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    check(folder, terms, acknowledged, true)
}
