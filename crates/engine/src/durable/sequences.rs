//! Short sequences of operations on a small tree, generated from the seed, each followed by calls that
//! make it safe: most bugs of filesystems that studies of crashes found need no more than three operations.

use super::{Acknowledge, Found, Terms, below, content, sync_directory};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The names that a sequence works with; the first and the last are there at its beginning.
const NAMES: [&str; 4] = ["a", "c", "d/c", "d/b"];
/// Most bytes that are written at once.
const MOST: u64 = 12_000;
/// Bytes of the largest file: what it begins with, and three appends.
const LARGEST: u64 = 4 * MOST;

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

/// What one sequence does, the tree afterwards, and what becomes of its names on the way.
struct Sequence {
    operations: Vec<Operation>,
    end: End,
    after: Tree,
    /// Names that an operation is given.
    touched: BTreeSet<usize>,
    /// The file that each name leads to before the first operation and after each of them.
    stages: Vec<BTreeMap<usize, usize>>,
    /// Files that were made or whose bytes were changed: none of their bytes is safe before the end.
    written: BTreeSet<usize>,
}

fn start(terms: Terms, record: u64) -> Tree {
    let files = vec![
        content::bytes_of_record(terms.seed, record << 8, MOST),
        content::bytes_of_record(terms.seed, (record << 8) + 1, MOST),
    ];
    Tree { names: [(0, 0), (3, 1)].into(), files }
}

fn added(terms: Terms, record: u64, step: usize) -> Vec<u8> {
    content::bytes_of_record(terms.seed, (record << 8) + 16 + step as u64, MOST)
}

fn generate(terms: Terms, record: u64, bare: bool) -> Sequence {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(terms.seed ^ record.wrapping_mul(0xd134_2543_de82_ef95));
    let mut tree = start(terms, record);
    let (mut operations, mut touched, mut written) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut stages = vec![tree.names.clone()];
    let wanted = 1 + random.next_u64() % 3;
    while (operations.len() as u64) < wanted {
        let (from, to) = ((random.next_u64() % 4) as usize, (random.next_u64() % 4) as usize);
        let file = tree.names.get(&from).copied();
        let step = operations.len();
        let operation = match (random.next_u64() % 6, file) {
            (0, None) => {
                tree.files.push(added(terms, record, step));
                tree.names.insert(from, tree.files.len() - 1);
                written.insert(tree.files.len() - 1);
                Operation::Create(from)
            }
            (1, Some(file)) => {
                tree.files[file].extend(added(terms, record, step));
                written.insert(file);
                Operation::Append(from)
            }
            (2, Some(file)) => {
                let half = tree.files[file].len() / 2;
                tree.files[file].truncate(half);
                written.insert(file);
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
        touched.insert(from);
        if matches!(operation, Operation::Rename(..) | Operation::Link(..)) {
            touched.insert(to);
        }
        stages.push(tree.names.clone());
        operations.push(operation);
    }
    let end = match (bare, random.next_u64() % 4) {
        (true, _) => End::Bare,
        (false, 0) => End::Whole,
        (false, 1) => End::Data,
        (false, _) => End::Files,
    };
    Sequence { operations, end, after: tree, touched, stages, written }
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
enum Progress {
    /// Acknowledged: the tree must be as it leaves it.
    Done,
    /// What it touches may be in any state, but for what is renamed; what it does not touch was safe before.
    UnderWay,
    /// The tree must be as it was prepared.
    NotBegun,
}

/// What a name must lead to: nothing, a file, or `None`: that is open.
fn wanted<'a>(stage: Progress, before: &'a Tree, sequence: &'a Sequence, name: usize) -> Option<Option<&'a Vec<u8>>> {
    let of = |tree: &'a Tree| tree.names.get(&name).map(|&file| &tree.files[file]);
    match stage {
        Progress::Done => Some(of(&sequence.after)),
        Progress::UnderWay if sequence.touched.contains(&name) => None,
        Progress::UnderWay | Progress::NotBegun => Some(of(before)),
    }
}

/// Looks at the targets of renames of a sequence that is under way: each leads to a file that it led to before or after
/// one of the operations, whole, or to none where it led to none. Only where every byte of these files was safe before
/// the sequence began. What is wrong, as a sentence.
fn torn_renames(read: &dyn Fn(&str) -> std::io::Result<Vec<u8>>, before: &Tree, sequence: &Sequence) -> Vec<String> {
    let mut wrong = Vec::new();
    for operation in &sequence.operations {
        let Operation::Rename(from, to) = operation else { continue };
        let led: BTreeSet<Option<usize>> = sequence.stages.iter().map(|names| names.get(to).copied()).collect();
        if led.iter().flatten().any(|file| sequence.written.contains(file)) {
            continue;
        }
        let there = match read(NAMES[*to]) {
            Ok(bytes) => led.iter().flatten().find(|&&file| before.files[file] == bytes).map(|&file| Some(file)),
            Err(error) if below::is_missing(&error) => led.contains(&None).then_some(None),
            Err(_) => None,
        };
        let (source, target) = (NAMES[*from], NAMES[*to]);
        match there {
            None => {
                wrong.push(format!("{source} was being renamed to {target}, which is neither the old nor the new file"))
            }
            // Alone, so that what was renamed is at one of its two names.
            Some(now) if sequence.operations.len() == 1 && now != sequence.stages[1].get(to).copied() => {
                let file = sequence.stages[0][from];
                if !read(source).is_ok_and(|bytes| bytes == before.files[file]) {
                    wrong.push(format!("{source} was being renamed to {target}, and the file is at neither name"));
                }
            }
            Some(_) => {}
        }
    }
    wrong
}

fn check(folder: &Path, terms: Terms, acknowledged: u64, bare: bool) -> Found {
    let mut found = Found::default();
    for record in terms.numbers() {
        let (sequence, before) = (generate(terms, record, bare), start(terms, record));
        let stage = match record {
            record if record <= acknowledged => Progress::Done,
            record if record == acknowledged + 1 => Progress::UnderWay,
            _ => Progress::NotBegun,
        };
        let read = |name: &str| below::read(folder, &format!("s{record}/{name}"), LARGEST);
        let (operations, end) = (&sequence.operations, sequence.end);
        if stage == Progress::UnderWay {
            for wrong in torn_renames(&read, &before, &sequence) {
                found.mixed += 1;
                found.say(|| format!("sequence {record} ({operations:?}, {end:?}, {stage:?}): {wrong}"));
            }
        }
        for (index, name) in NAMES.iter().enumerate() {
            let Some(wanted) = wanted(stage, &before, &sequence, index) else { continue };
            let there = read(name);
            let what = match (wanted, there) {
                (Some(wanted), Ok(bytes)) if bytes == *wanted => continue,
                (None, Err(error)) if below::is_missing(&error) => continue,
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
                    format!("must be gone, and cannot be asked for: {error}")
                }
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The first sequence of one rename, from a safe file to a name that leads to a file or to none.
    fn renaming(onto_a_file: bool) -> (Terms, [PathBuf; 2], Tree) {
        for seed in 0.. {
            let terms = Terms { only: Some(1), ..Terms::new(1, seed) };
            let (sequence, before) = (generate(terms, 1, false), start(terms, 1));
            match sequence.operations[..] {
                [Operation::Rename(from, to)] if before.names.contains_key(&to) == onto_a_file => {
                    let names = [from, to].map(|name| PathBuf::from("s1").join(NAMES[name]));
                    return (terms, names, before);
                }
                _ => {}
            }
        }
        unreachable!("some seed has one")
    }

    #[test]
    fn a_rename_under_way_leaves_the_old_or_the_new_file() {
        for onto_a_file in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (terms, names, _) = renaming(onto_a_file);
            let [from, to] = names.map(|name| folder.path().join(name));
            prepare(folder.path(), terms).unwrap();
            let mixed = || check(folder.path(), terms, 0, false).mixed;
            assert_eq!(mixed(), 0, "the old one");
            let (source, target) = (std::fs::read(&from).unwrap(), std::fs::read(&to));
            std::fs::write(&to, &source[..source.len() / 2]).unwrap();
            assert_eq!(mixed(), 1, "half of the new one");
            std::fs::write(&to, &source).unwrap();
            assert_eq!(mixed(), 0, "the new one, still at both names");
            std::fs::remove_file(&from).unwrap();
            assert_eq!(mixed(), 0, "the new one");
            // The rename took the source away and put nothing in its place.
            match target {
                Ok(bytes) => std::fs::write(&to, bytes).unwrap(),
                Err(_) => std::fs::remove_file(&to).unwrap(),
            }
            assert_eq!(mixed(), 1, "the file is gone");
        }
    }

    #[test]
    fn only_renames_and_links_touch_a_second_name() {
        let mut alone = 0;
        for seed in 0..200 {
            let sequence = generate(Terms::new(1, seed), 1, false);
            let given = sequence.operations.iter().flat_map(|operation| match *operation {
                Operation::Rename(from, to) | Operation::Link(from, to) => vec![from, to],
                Operation::Create(name) | Operation::Append(name) => vec![name],
                Operation::Truncate(name) | Operation::Unlink(name) => vec![name],
            });
            assert_eq!(given.collect::<BTreeSet<_>>(), sequence.touched, "{seed}");
            alone += u32::from(sequence.touched.len() == 1);
        }
        assert!(alone > 20, "{alone}");
    }
}
