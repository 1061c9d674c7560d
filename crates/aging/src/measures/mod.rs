//! How old a filesystem looks: where files and free space lie, and whether the tree is what its profile says (method 8.4).

mod chi_squared;
mod cold_walk;
mod fiemap;
mod free_space;
mod walk;

pub use chi_squared::ChiSquared;
pub use cold_walk::{
    BesideFresh, Caches, ColdStep, ColdWalk, FRESH_SHARE, Fresh, LEAST_FRESH_BYTES, SteppedTo, cold_step, cold_walk,
    copy_fresh, has_fresh, read_beside_fresh, read_copied, read_copy, remove_fresh,
};
pub use fiemap::{Extent, extents_of};
pub use free_space::FreeClass;
pub use walk::FRESH;

use crate::Life;
use crate::life::{BLOCK_BYTES, Generator, NAME_BYTES, Operation};
use crate::lived::replay;
use crate::numbers::mixed;
use crate::state::State;
use rustix::fd::BorrowedFd;
use rustix::fs::{Mode, OFlags, fstatvfs, openat, syncfs};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use walk::{Found, Visitor, walk};

/// Classes of ages, of as many files each.
const AGE_CLASSES: usize = 10;

/// What was measured; what a filesystem does not tell is missing and named among the notes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measures {
    /// Regular files.
    pub files: u64,
    /// Folders, that of the life too.
    pub directories: u64,
    /// Sum of the files' sizes, bytes.
    pub bytes: u64,
    /// The same in whole blocks of 4 KiB, with a block for each folder below that of the life: what a life counts as used, bytes.
    #[serde(default)]
    pub used_bytes: u64,
    /// What the filesystem says that they take (`st_blocks`), bytes.
    pub allocated_bytes: u64,
    /// Size of the whole filesystem (`statvfs`), bytes.
    pub filesystem_bytes: u64,
    /// Of it what is used, by others too, bytes.
    pub filesystem_used_bytes: u64,
    /// What it would still give to anybody (`f_bavail`), bytes.
    #[serde(default)]
    pub filesystem_available_bytes: u64,
    /// Extents per file that has one (FIEMAP), 1 or more.
    pub extents_per_file: Option<f64>,
    /// Extents of the file that has most.
    pub most_extents: Option<u64>,
    /// Share of the files' blocks that follow the one before them on the disk; files of one block do not count (Smith and
    /// Seltzer, SIGMETRICS'97), 0 to 1.
    pub layout_score: Option<f64>,
    /// The same for all blocks in the order in which a walk reads them, across files too (Conway and others, FAST'17), computed from
    /// where the blocks lie, not traced at the device.
    pub dynamic_layout_score: Option<f64>,
    /// Share of folders that lie in more than one extent, 0 to 1.
    pub directories_split: Option<f64>,
    /// Free space by the sizes of its pieces.
    pub free_extents: Option<Vec<FreeClass>>,
    /// Sizes of files beside those of a life of the same profile, size and length with another seed.
    pub sizes: Option<ChiSquared>,
    /// Ages of files (what was written since, by their times of change and the ends of cycles) beside the same.
    pub ages: Option<ChiSquared>,
    /// Files that are missing, too many, or of another size than the life has them; of a tree that was not walked to its end, and
    /// without a state, it is not known.
    pub differing_files: Option<u64>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

/// Blocks in an order, and how many follow the one before.
#[derive(Debug, Default)]
struct Layout {
    blocks: u64,
    breaks: u64,
    end: Option<u64>,
    /// Blocks of files that have a predecessor in their file, and those that follow it.
    successors: u64,
    following: u64,
    extents: u64,
    files: u64,
    most: u64,
}

impl Layout {
    fn add(&mut self, extents: &[Extent]) {
        if extents.is_empty() {
            return;
        }
        let blocks: u64 = extents.iter().map(|extent| extent.length.div_ceil(BLOCK_BYTES)).sum();
        for extent in extents {
            self.breaks += u64::from(self.end.is_some_and(|end| end != extent.physical));
            self.end = extent.physical.checked_add(extent.length);
        }
        self.blocks += blocks;
        self.successors += blocks.saturating_sub(1);
        self.following += blocks.saturating_sub(extents.len() as u64);
        self.extents += extents.len() as u64;
        self.files += 1;
        self.most = self.most.max(extents.len() as u64);
    }
}

struct Looking<'a> {
    measures: Measures,
    layout: Layout,
    no_extents: Option<Errno>,
    folders: (u64, u64),
    no_folders: Option<Errno>,
    /// Sizes of the model's files by their names; those that are found are taken out.
    model: HashMap<CString, u64>,
    differing: u64,
    state: Option<&'a State>,
    sizes: Vec<u64>,
    ages: Vec<u32>,
    stop: &'a AtomicBool,
}

impl Visitor for Looking<'_> {
    fn folder(&mut self, folder: BorrowedFd, _: &CStr, _: usize) {
        // The life's own folder is the first, and was there before it.
        self.measures.used_bytes += if self.measures.directories > 0 { BLOCK_BYTES } else { 0 };
        self.measures.directories += 1;
        if self.no_folders.is_none() {
            match extents_of(folder) {
                Ok(extents) if !extents.is_empty() => {
                    self.folders.0 += 1;
                    self.folders.1 += u64::from(extents.len() > 1);
                }
                Ok(_) => {}
                Err(errno) => self.no_folders = Some(errno),
            }
        }
    }

    fn file(&mut self, file: &Found) -> Result<bool, Errno> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Errno::INTR);
        }
        self.measures.files += 1;
        self.measures.bytes += file.bytes;
        self.measures.used_bytes += file.bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES;
        self.measures.allocated_bytes += file.allocated;
        self.sizes.push(file.bytes);
        if let Some(state) = self.state {
            self.ages.push(state.cycle_ends_ns.partition_point(|&end| end < file.modified_ns) as u32);
            self.differing += u64::from(self.model.remove(file.name) != Some(file.bytes));
        }
        if self.no_extents.is_none() {
            match file.open().and_then(extents_of) {
                Ok(extents) => self.layout.add(&extents),
                Err(errno) => self.no_extents = Some(errno),
            }
        }
        Ok(true)
    }
}

/// Measures the tree below a folder. It writes nothing but what is dirty already, and reads no file's contents. Once `stop` is
/// set it comes back soon, with what it has seen so far.
pub fn measure(root: BorrowedFd<'_>, life: &Life, stop: &AtomicBool) -> Measures {
    let state = State::read(root).ok().flatten().filter(|state| state.key == life.endless_key());
    let mut generator = Generator::new(&life.profile, life.seed, life.capacity_bytes);
    let model = state.as_ref().map(|state| {
        replay(&mut generator, state);
        model_of(&generator)
    });
    let mut looking = Looking {
        measures: Measures::default(),
        layout: Layout::default(),
        no_extents: None,
        folders: (0, 0),
        no_folders: None,
        model: model.unwrap_or_default(),
        differing: 0,
        state: state.as_ref(),
        sizes: Vec::new(),
        ages: Vec::new(),
        stop,
    };
    let folder = openat(root, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let walked = folder.and_then(|folder| {
        syncfs(&folder)?;
        walk(&folder, false, &mut looking)?;
        Ok(folder)
    });
    if let Err(errno) = &walked {
        looking.measures.notes.push(format!("the tree was not walked to its end: {errno}"));
    }
    let mut measures = told(&mut looking);
    let is_whole = walked.is_ok();
    match walked.and_then(|folder| free_space::free_extents(folder.as_fd())) {
        Ok(classes) => measures.free_extents = Some(classes),
        Err(errno) => measures.notes.push(format!("where free space lies is not known (GETFSMAP: {errno})")),
    }
    if let Ok(space) = fstatvfs(root) {
        measures.filesystem_bytes = space.f_blocks * space.f_frsize;
        measures.filesystem_used_bytes = (space.f_blocks - space.f_bfree) * space.f_frsize;
        measures.filesystem_available_bytes = space.f_bavail * space.f_frsize;
    }
    match &state {
        // Of a part of the tree the rest is not missing.
        Some(_) if !is_whole => {}
        Some(state) => {
            measures.differing_files = Some(looking.differing + looking.model.len() as u64);
            compare(&mut measures, life, state, &looking.sizes, &looking.ages);
        }
        None => measures
            .notes
            .push("no state of this life is in the folder: sizes and ages are compared with nothing".to_owned()),
    }
    measures
}

fn model_of(generator: &Generator) -> HashMap<CString, u64> {
    let named = generator.files().map(|(group, file)| {
        let name = generator.place(group, file).name;
        (name.write(&mut [0; NAME_BYTES]).to_owned(), file.bytes)
    });
    named.collect()
}

/// What the walk has seen.
fn told(looking: &mut Looking) -> Measures {
    let mut measures = std::mem::take(&mut looking.measures);
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    let layout = &looking.layout;
    match looking.no_extents {
        Some(errno) => measures.notes.push(format!("where files lie is not known (FIEMAP: {errno})")),
        None => {
            measures.extents_per_file = share(layout.extents, layout.files);
            measures.most_extents = (layout.files > 0).then_some(layout.most);
            measures.layout_score = share(layout.following, layout.successors);
            measures.dynamic_layout_score = share(layout.blocks.saturating_sub(layout.breaks), layout.blocks);
        }
    }
    match (looking.no_folders, looking.folders) {
        (Some(errno), _) => measures.notes.push(format!("where folders lie is not known (FIEMAP: {errno})")),
        (None, (0, _)) => measures.notes.push("where folders lie is not known (FIEMAP tells no place)".to_owned()),
        (None, (all, split)) => measures.directories_split = share(split, all),
    }
    measures
}

/// A life with what was written when each of its cycles ended, bytes.
struct Written<'a> {
    generator: Generator<'a>,
    ends: Vec<u64>,
}

impl<'a> Written<'a> {
    fn new(life: &'a Life, seed: u64) -> Self {
        Written { generator: Generator::new(&life.profile, seed, life.capacity_bytes), ends: Vec::new() }
    }

    /// One act more; whether there was one.
    fn step(&mut self) -> bool {
        let act = self.generator.next();
        if matches!(act, Some(Operation::EndOfCycle { .. })) {
            self.ends.push(self.generator.planned_bytes());
        }
        act.is_some()
    }

    /// The last filling of a state, where it had one.
    fn finish(&mut self, state: &State) {
        if let Some(last) = state.last {
            self.generator.finish(last.full);
            while self.step() {}
        }
    }

    /// What was written since files of these cycles were, in sizes of the life. Of a cycle's files nobody knows the order:
    /// they are spread over it.
    fn ages(&self, cycles: impl Iterator<Item = u32>) -> Vec<f64> {
        let total = self.generator.planned_bytes();
        let age = |(at, cycle): (usize, u32)| {
            let cycle = (cycle as usize).min(self.ends.len());
            let from = cycle.checked_sub(1).map_or(0, |before| self.ends[before]);
            let to = self.ends.get(cycle).copied().unwrap_or(total);
            // Multiples of the golden ratio, whose fractions lie evenly.
            let place = (at as f64 * 0.618_033_988_749_895).fract();
            total as f64 - (from as f64 + place * to.saturating_sub(from) as f64)
        };
        cycles.enumerate().map(age).collect()
    }
}

/// Sizes and ages beside those of another life of the profile, which no filesystem saw.
fn compare(measures: &mut Measures, life: &Life, state: &State, sizes: &[u64], ages: &[u32]) {
    let mut own = Written::new(life, life.seed);
    while own.generator.acts() < state.operations && own.step() {}
    let cycles = own.ends.len();
    own.finish(state);
    let mut other = Written::new(life, mixed(life.seed ^ 0x006f_7468_6572));
    // Another seed's cycles have other acts, but not many times as many.
    let most = state.operations.saturating_mul(4).saturating_add(1_000_000);
    while other.generator.acts() < most
        && (other.ends.len() < cycles || (cycles == 0 && other.generator.acts() < state.operations))
    {
        other.step();
    }
    other.finish(state);
    let class = |bytes: u64| bytes.max(1).ilog2() as usize;
    let count = |sizes: &mut dyn Iterator<Item = u64>| {
        let mut counts = [0_u64; 64];
        sizes.for_each(|bytes| counts[class(bytes)] += 1);
        counts
    };
    let expected = count(&mut other.generator.files().map(|(_, file)| file.bytes));
    measures.sizes = chi_squared::two_samples(&count(&mut sizes.iter().copied()), &expected);
    let mut expected = other.ages(other.generator.files().map(|(_, file)| file.cycle));
    expected.sort_by(f64::total_cmp);
    let edge = |at: usize| expected.get(at * expected.len() / AGE_CLASSES).copied();
    let edges: Vec<f64> = (1..AGE_CLASSES).filter_map(edge).collect();
    let count = |ages: &[f64]| {
        let mut counts = [0_u64; AGE_CLASSES];
        ages.iter().for_each(|age| counts[edges.partition_point(|edge| edge <= age)] += 1);
        counts
    };
    measures.ages = chi_squared::two_samples(&count(&own.ages(ages.iter().copied())), &count(&expected));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_shares_of_blocks_that_follow() {
        let run = |physical: u64, length: u64| Extent { physical: physical * 4096, length: length * 4096 };
        let mut layout = Layout::default();
        // Four blocks in one run, four in two runs, and one block that follows them.
        layout.add(&[run(10, 4)]);
        layout.add(&[run(14, 2), run(30, 2)]);
        layout.add(&[run(32, 1)]);
        layout.add(&[]);
        assert_eq!((layout.files, layout.extents, layout.most), (3, 4, 2));
        assert_eq!((layout.following, layout.successors), (5, 6));
        assert_eq!((layout.blocks, layout.breaks), (9, 1));
    }
}
