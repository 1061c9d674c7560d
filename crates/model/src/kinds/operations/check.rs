//! What is wrong with the parameters of operations, in sentences with their remedies.

use super::Method;
use super::states::{State, range_words};
use super::{FileSet, FileSize, LARGEST_FILE, Names, Operation, OperationStep, Operations, SyncPolicy};
use crate::job::Data;
use crate::{Bytes, nearest};

/// Files of one set, at most.
const MOST_FILES: u64 = 100_000_000;
/// Sets, and steps, of one workload at most.
const MOST_ROWS: usize = 600;
/// Sets that are listed where one is unknown, at most.
const SETS_NAMED: usize = 20;
/// Bytes of one call at most: each thread holds a buffer of that size.
const LARGEST_BLOCK: u64 = 64 * Bytes::MIB;
/// Bytes of the buffers of all threads together, at most.
const MOST_BUFFER_BYTES: u64 = 2 << 30;
/// Bytes of a path at most, the lane's own path left out: the kernel's limit is 4096 for both.
const LONGEST_PATH: u64 = 3500;
/// Bytes of a hostile name at most.
const LONGEST_NAME: u64 = 255;

/// Where a mistake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// In the workload's own keys, or in all of them together.
    Workload,
    /// In the set of that place in the list.
    Set(usize),
    /// In the step of that place in the list.
    Step(usize),
}

/// What is wrong with the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is.
    pub at: At,
    /// The key, where it is one.
    pub key: Option<&'static str>,
    /// One sentence with the remedy.
    pub what: String,
}

impl Mistake {
    fn new(at: At, key: Option<&'static str>, what: impl Into<String>) -> Self {
        Mistake { at, key, what: what.into() }
    }
}

/// The first thing that is wrong.
pub(super) fn check(operations: &Operations) -> Result<(), Mistake> {
    let own = |key: &'static str, what: &str| Err(Mistake::new(At::Workload, Some(key), what));
    if operations.threads == 0 || operations.threads > 1024 {
        return own("threads", "threads must lie between 1 and 1024");
    }
    if operations.loops == 0 || operations.loops > 1000 {
        return own("loops", "loops must lie between 1 and 1000");
    }
    if matches!(operations.data, Data::Zero | Data::Pattern(_) | Data::Compress(100.., _)) {
        return own(
            "data",
            "files hold bytes that can be told apart; write incompressible, 1.6:1, 2.7:1 or compress:50",
        );
    }
    if operations.data != Data::Incompressible && operations.method != Method::InProcess {
        return own("data", "processes write what cannot be compressed; leave data or method out");
    }
    if operations.files.is_empty() {
        return own("files", "there is no set of files; add a [[workload.files]] table");
    }
    if operations.step.is_empty() {
        return own("step", "there is no step; add a [[workload.step]] table");
    }
    if operations.step.len() > MOST_ROWS || operations.files.len() > MOST_ROWS {
        let what = format!("there are more than {MOST_ROWS} sets or steps; put some into another workload");
        return Err(Mistake::new(At::Workload, None, what));
    }
    for (index, set) in operations.files.iter().enumerate() {
        let at = At::Set(index);
        if operations.files[..index].iter().any(|earlier| earlier.name == set.name) {
            return Err(Mistake::new(at, Some("name"), format!("two sets are named \"{}\"; rename one", set.name)));
        }
        check_set(operations, set).map_err(|what| Mistake::new(at, None, format!("set {}: {what}", set.name)))?;
    }
    for (index, step) in operations.step.iter().enumerate() {
        let (name, at) = (step.group(), At::Step(index));
        if operations.step[..index].iter().any(|earlier| earlier.group() == name) {
            let what = format!("two steps are named {name}; give one a name of its own");
            return Err(Mistake::new(at, Some("name"), what));
        }
        let Some(set) = operations.set(&step.files) else {
            return Err(Mistake::new(at, Some("files"), no_such_set(operations, step)));
        };
        check_range(operations, set, step)
            .and_then(|()| check_amounts(step))
            .and_then(|()| check_fit(operations, set, step))
            .map_err(|what| Mistake::new(at, None, what))?;
    }
    let mut state = State::begin(operations);
    state.check_beginning(operations).map_err(|what| Mistake::new(At::Workload, None, what))?;
    let mut advance = |index: usize| state.advance(operations, index);
    (0..operations.step.len())
        .try_for_each(|index| advance(index).map_err(|what| Mistake::new(At::Step(index), None, what)))?;
    check_buffers(operations)
}

/// Each thread holds what it writes and what it reads.
fn check_buffers(operations: &Operations) -> Result<(), Mistake> {
    let (bytes, most) = operations.buffers();
    match most {
        Some((step, call)) if bytes > MOST_BUFFER_BYTES => {
            let what = format!(
                "{} threads would hold {} MiB of buffers, more than the {} MiB that are allowed: step {} moves {} at \
                 once; lower threads or block",
                operations.threads,
                bytes.div_ceil(Bytes::MIB),
                MOST_BUFFER_BYTES / Bytes::MIB,
                step.group(),
                Bytes(call)
            );
            Err(Mistake::new(At::Workload, Some("threads"), what))
        }
        _ => Ok(()),
    }
}

fn no_such_set(operations: &Operations, step: &OperationStep) -> String {
    let names = || operations.files.iter().map(|set| set.name.as_str());
    let meant = nearest(&step.files, names()).map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
    let mut known: Vec<String> = names().take(SETS_NAMED).map(|name| format!("\"{name}\"")).collect();
    if operations.files.len() > SETS_NAMED {
        known.push(format!("{} more", operations.files.len() - SETS_NAMED));
    }
    format!(
        "step {} works on files = \"{}\", and no set has that name{meant}; the sets are {}",
        step.group(),
        step.files,
        known.join(", ")
    )
}

fn check_set(operations: &Operations, set: &FileSet) -> Result<(), String> {
    if set.name.is_empty() {
        return Err("name is empty; give it one that steps can call it by".to_owned());
    }
    if set.count > MOST_FILES {
        return Err(format!("count is above {MOST_FILES}; lower it"));
    }
    if set.directories == 0 || set.directories > MOST_FILES {
        return Err(format!("directories must lie between 1 and {MOST_FILES}"));
    }
    if set.count > 0 && set.directories > set.count {
        return Err(format!(
            "{} files cannot fill {} directories; lower directories, or set count = 0 for directories alone",
            set.count, set.directories
        ));
    }
    if !(10..=255).contains(&set.name_bytes) {
        return Err("name_bytes must lie between 10 and 255".to_owned());
    }
    if set.populate && set.count == 0 {
        return Err("it populates nothing, because count is 0; give it a count or leave populate out".to_owned());
    }
    check_folder(operations, set)?;
    if set.count > 10_u64.pow(operations.digits(set)) {
        return Err(format!(
            "names of {} bytes have room for {} digits beside what tells the sets of a folder apart; raise name_bytes \
             to 12",
            set.name_bytes,
            operations.digits(set)
        ));
    }
    check_sizes(&set.size)?;
    if let FileSize::Each(sizes) = &set.size
        && sizes.len() as u64 != set.count
    {
        let (count, sizes) = (set.count, sizes.len());
        return Err(format!("count is {count} and size lists {sizes} sizes; list one for each file"));
    }
    if set.is_tree() && operations.threads > 1 {
        let changes = |step: &&OperationStep| {
            step.files == set.name
                && matches!(step.operation, Operation::Mkdir | Operation::Rmdir | Operation::RemoveTree)
        };
        if let Some(step) = operations.step.iter().find(changes) {
            return Err(format!(
                "step {} makes or removes directories within directories, which threads cannot share; set threads = 1 \
                 or fan_out = 0",
                step.group()
            ));
        }
    }
    let longest = longest_path(set);
    if longest > LONGEST_PATH {
        return Err(format!("paths would have more than {LONGEST_PATH} bytes; raise fan_out or shorten the names"));
    }
    Ok(())
}

fn check_folder(operations: &Operations, set: &FileSet) -> Result<(), String> {
    let Some(folder) = &set.folder else { return Ok(()) };
    if folder.is_empty() || folder.len() > 200 || folder.contains(['/', '\0']) {
        return Err("folder must be one name of 1 to 200 bytes without a slash".to_owned());
    }
    if !operations.shares_folder(set) {
        return Ok(());
    }
    let others = || operations.files.iter().filter(|other| other.folder.as_ref() == Some(folder));
    if let Some(other) = others().find(|other| other.directories != 1) {
        return Err(format!(
            "folder \"{folder}\" is shared and set {} has {} directories; give that set a folder of its own, or set \
             directories = 1",
            other.name, other.directories
        ));
    }
    Ok(())
}

fn check_sizes(size: &FileSize) -> Result<(), String> {
    match size {
        FileSize::Between { from, to } if from > to => {
            return Err(format!("size goes from {from} to {to}; exchange the two"));
        }
        FileSize::Weighted(sizes) => {
            if sizes.is_empty() {
                return Err("size lists no size; name at least one with its weight".to_owned());
            }
            if sizes.iter().any(|size| !size.weight.is_finite() || size.weight < 0.0)
                || sizes.iter().map(|size| size.weight).sum::<f64>() <= 0.0
            {
                return Err("weights must be numbers of at least 0, one of them above 0".to_owned());
            }
        }
        _ => {}
    }
    if size.bounds().1 > LARGEST_FILE {
        return Err(format!("size is above {}; lower it", Bytes(LARGEST_FILE)));
    }
    Ok(())
}

/// Bytes of the longest path of the set below the lane's top folder.
fn longest_path(set: &FileSet) -> u64 {
    let file = if set.names == Names::Hostile { LONGEST_NAME } else { u64::from(set.name_bytes) };
    let directory = if set.names == Names::Hostile { LONGEST_NAME } else { 10 };
    let folder = set.folder.as_ref().map_or(0, |folder| folder.len() as u64) + 20;
    let mut bytes = folder + file + 1;
    let mut deepest = (set.directories > 1).then_some(set.directories - 1);
    while let Some(one) = deepest {
        bytes += directory + 1;
        if bytes > LONGEST_PATH {
            break;
        }
        deepest = set.parent_of(one);
    }
    bytes
}

fn check_range(operations: &Operations, set: &FileSet, step: &OperationStep) -> Result<(), String> {
    let name = step.group();
    let (what, all) = match step.operation.works_on() {
        super::Thing::File => ("file", set.count),
        super::Thing::Directory => ("director", set.directories),
    };
    if all == 0 {
        return Err(format!(
            "step {name} works on files and set {} has none; raise its count, or name an operation on directories",
            set.name
        ));
    }
    let random = matches!(step.operation, Operation::RandomRead | Operation::RandomWrite);
    if random && step.count.is_none() {
        return Err(format!("step {name} does not say how many operations; set count"));
    }
    if step.count == Some(0) {
        return Err(format!("step {name} does nothing: count is 0; raise it or remove the step"));
    }
    let things = operations.things(step);
    let beyond = if random { step.first >= all } else { things.start >= all || things.end > all };
    if beyond {
        let asked = if random || things.is_empty() { step.first..step.first.saturating_add(1) } else { things };
        return Err(format!(
            "step {name} works on {} and set {} has {all}, counted from 0; change first or count",
            range_words(what, &asked),
            set.name
        ));
    }
    if random && things.end > MOST_FILES * 10 {
        return Err(format!("step {name}: count is above {}; lower it", MOST_FILES * 10));
    }
    Ok(())
}

/// What `block` and `sync` must be for the operation.
fn check_amounts(step: &OperationStep) -> Result<(), String> {
    let name = step.group();
    let (means, most) = match step.operation {
        Operation::Truncate => ("the new size", LARGEST_FILE),
        Operation::Fallocate => ("the bytes that it allocates", LARGEST_FILE),
        Operation::Append => ("the bytes that it appends", LARGEST_BLOCK),
        Operation::RandomRead | Operation::RandomWrite => ("the bytes of one operation", LARGEST_BLOCK),
        _ => ("", LARGEST_BLOCK),
    };
    match step.block {
        None if !means.is_empty() => return Err(format!("step {name}: block is missing; set it to {means}")),
        Some(Bytes(0)) if step.operation != Operation::Truncate => {
            return Err(format!("step {name}: block is 0; raise it"));
        }
        Some(block) if block.0 > most => return Err(format!("step {name}: block is above {}; lower it", Bytes(most))),
        _ => {}
    }
    // A tree that is gone leaves nothing to open and sync.
    let syncs_each = step.operation.changes() && step.operation != Operation::RemoveTree;
    if step.sync == SyncPolicy::Each && !syncs_each {
        return Err(format!(
            "step {name}: sync = \"each\" has nothing to sync after {}; remove it",
            step.operation.name()
        ));
    }
    Ok(())
}

/// Whether operation and set go together.
fn check_fit(operations: &Operations, set: &FileSet, step: &OperationStep) -> Result<(), String> {
    let name = step.group();
    if step.operation == Operation::RenameAcross && set.directories < 2 {
        return Err(format!(
            "step {name} needs a second directory and set {} has one; raise its directories",
            set.name
        ));
    }
    let own = matches!(step.operation, Operation::Mkdir | Operation::Rmdir | Operation::RemoveTree);
    if own && operations.shares_folder(set) {
        return Err(format!(
            "step {name} makes or removes the directory of set {}, which other sets share; give the set a folder of its \
             own",
            set.name
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
