//! What the ranges of `model::operations::State` mean for one file: its size, its contents, its
//! neighbours in a directory. All of it is a function of seed and numbers; nothing is kept per file.

use super::contents::{ONE_BLOCK, SMALL, mix};
use super::names::SetNames;
use crate::error::EngineError;
use crate::workloads::OtherClient;
use model::operations::{Change, ChangeKind, FileSet, FileSize, FileState, Operation, Operations, State, size_after};
use model::ranks::Clients;
use std::ops::Range;

/// Keeps the sizes of files apart from other random numbers of the same seed.
const SIZE_STREAM: u64 = 0x7369_7a65_735f_6f66;
/// The same for the places of random operations.
const BLOCK_STREAM: u64 = 0x626c_6f63_6b73_5f6f;

/// Operations with everything that is worked out once.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) operations: Operations,
    pub(crate) names: Vec<SetNames>,
    /// Of files that are only looked at; empty: the same.
    looked_at: Vec<SetNames>,
    /// Who share the directories.
    clients: Clients,
    seed: u64,
    /// Of each set what marks the contents of its files: 0 or `SMALL`.
    marks: Vec<u64>,
    /// Bytes of the largest file that each set ever has.
    largest: Vec<u64>,
    /// For each set its place in the list, of each step the set.
    pub(crate) set_of_step: Vec<usize>,
}

/// What stands in a stretch of a file; later ones lie over earlier ones.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) stretch: Range<u64>,
    pub(crate) fill: Fill,
}

/// How a stretch was filled.
#[derive(Debug)]
pub(crate) enum Fill {
    /// With zeros.
    Zero,
    /// With the contents of this generation.
    Written(u32),
    /// With those, in the blocks that are marked.
    Blocks { generation: u32, block: u64, marked: Vec<u64> },
}

impl Plan {
    pub(crate) fn new(operations: &Operations, (seed, clients): (u64, Clients)) -> Result<Self, EngineError> {
        operations.check().map_err(EngineError::Unsuitable)?;
        operations.check_clients(clients).map_err(EngineError::Unsuitable)?;
        // Who has directories of its own is alone there.
        let clients = if operations.shares_directories() { clients } else { Clients::ALONE };
        let place = |name: &str| operations.files.iter().position(|set| set.name == name).unwrap_or_default();
        let of_client = |index: usize, client: u32| match SetNames::new(operations, index) {
            names if clients.is_alone() => names,
            names => names.of_client(client, clients.of),
        };
        let whose = |set: &FileSet| if set.size.is_alike() { clients.reads } else { clients.number };
        let sets = || operations.files.iter().enumerate();
        let looked_at = sets().filter(|_| !clients.is_alone()).map(|(index, set)| of_client(index, whose(set)));
        Ok(Plan {
            names: sets().map(|(index, _)| of_client(index, clients.number)).collect(),
            looked_at: looked_at.collect(),
            clients,
            set_of_step: operations.step.iter().map(|step| place(&step.files)).collect(),
            marks: operations
                .files
                .iter()
                .map(|set| if set.size.bounds().1 <= ONE_BLOCK { SMALL } else { 0 })
                .collect(),
            largest: operations.largest_files(),
            operations: operations.clone(),
            seed,
        })
    }

    /// What another client does, who does the same.
    pub(crate) fn of_other(&self, other: OtherClient) -> Result<Self, EngineError> {
        let clients = Clients { number: other.number, reads: other.number, ..self.clients };
        Plan::new(&self.operations, (other.seed, clients))
    }

    pub(crate) fn set(&self, set: usize) -> &FileSet {
        &self.operations.files[set]
    }

    /// Whether other clients work in the same directories.
    pub(crate) fn is_shared(&self) -> bool {
        !self.clients.is_alone()
    }

    /// The names of files that an operation works on. Where clients share directories, files that it only looks at are
    /// those of a client on another machine, which this one has in no cache.
    pub(crate) fn names_for(&self, operation: Operation, set: usize) -> &SetNames {
        let looks = matches!(operation, Operation::Read | Operation::RandomRead | Operation::Stat | Operation::Open);
        self.looked_at.get(set).filter(|_| looks).unwrap_or(&self.names[set])
    }

    /// How well contents compress.
    pub(crate) fn data(&self) -> &model::job::Data {
        &self.operations.data
    }

    /// The seed of contents.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// What tells a file's contents from those of every other file of the workload.
    #[inline]
    pub(crate) fn identity(set: usize, number: u64) -> u64 {
        ((set as u64) << 40) | number
    }

    /// What names a file's contents: its identity, marked where files of the set fill one block at most.
    #[inline]
    pub(crate) fn contents_of(&self, set: usize, number: u64) -> u64 {
        Self::identity(set, number) | self.marks[set]
    }

    /// Bytes of the largest file that a set ever has.
    pub(crate) fn largest_file(&self, set: usize) -> u64 {
        self.largest[set]
    }

    /// Bytes of a file when it is written whole.
    #[inline]
    pub(crate) fn whole_size(&self, set: usize, number: u64) -> u64 {
        match &self.operations.files[set].size {
            FileSize::Fixed(size) => size.0,
            // The check made sure that there is one for each file.
            FileSize::Each(sizes) => sizes[number as usize].0,
            other => self.drawn_size(other, Self::identity(set, number)),
        }
    }

    fn drawn_size(&self, size: &FileSize, identity: u64) -> u64 {
        let word = mix(self.seed ^ SIZE_STREAM ^ mix(identity));
        match size {
            FileSize::Fixed(size) => size.0,
            // A place in a list is no draw: `whole_size` looks it up.
            FileSize::Each(_) => 0,
            FileSize::Between { from, to } => from.0 + below(word, to.0 - from.0 + 1),
            FileSize::Weighted(sizes) => {
                let all: f64 = sizes.iter().map(|size| size.weight).sum();
                let mut left = (word >> 11) as f64 / (1_u64 << 53) as f64 * all;
                let mut drawn = sizes.iter().filter(|size| size.weight > 0.0);
                let last = drawn.clone().next_back();
                let chosen = drawn.find(|size| {
                    left -= size.weight;
                    left < 0.0
                });
                // Rounding may leave a rest behind the last.
                chosen.or(last).map_or(0, |size| size.size.0)
            }
        }
    }

    /// Bytes of a file after these changes.
    #[inline]
    pub(crate) fn size(&self, set: usize, number: u64, changes: &[Change]) -> u64 {
        let whole = self.whole_size(set, number);
        changes.iter().fold(0, |size, change| size_after(size, whole, change.kind))
    }

    /// The file on which the step's random operation of this number works.
    #[inline]
    pub(crate) fn file_of_operation(&self, step: usize, operation: u64) -> u64 {
        let files = self.operations.files_of(&self.operations.step[step]);
        let count = self.operations.step[step].count.unwrap_or(1);
        files.start + (u128::from(operation) * u128::from(files.end - files.start) / u128::from(count)) as u64
    }

    /// The operations of a random step on one file.
    fn operations_of_file(&self, step: usize, number: u64) -> Range<u64> {
        let files = self.operations.files_of(&self.operations.step[step]);
        let count = self.operations.step[step].count.unwrap_or(1);
        let first = |file: u64| {
            let share = u128::from(file - files.start) * u128::from(count);
            share.div_ceil(u128::from(files.end - files.start)) as u64
        };
        first(number)..first(number + 1)
    }

    /// The block, of so many, on which the step's random operation of this number works.
    #[inline]
    pub(crate) fn block_of_operation(&self, step: usize, operation: u64, blocks: u64) -> u64 {
        below(mix(self.seed ^ BLOCK_STREAM ^ mix(((step as u64) << 40) ^ operation)), blocks)
    }

    /// What a file holds after these changes: its size, and its layers from below.
    pub(crate) fn layers(&self, set: usize, number: u64, changes: &[Change]) -> (u64, Vec<Layer>) {
        let (whole, mut size) = (self.whole_size(set, number), 0);
        let mut layers: Vec<Layer> = Vec::new();
        for change in changes {
            let after = size_after(size, whole, change.kind);
            let generation = change.generation;
            match change.kind {
                ChangeKind::Whole | ChangeKind::Over => {
                    layers.clear();
                    layers.push(Layer { stretch: 0..after, fill: Fill::Written(generation) });
                }
                ChangeKind::Append(_) => {
                    layers.push(Layer { stretch: size..after, fill: Fill::Written(generation) });
                }
                ChangeKind::Truncate(to) if to < size => {
                    layers.iter_mut().for_each(|layer| layer.stretch.end = layer.stretch.end.min(to));
                    layers.retain(|layer| layer.stretch.start < layer.stretch.end);
                }
                ChangeKind::Truncate(_) | ChangeKind::Allocate(_) => {
                    layers.push(Layer { stretch: size..after, fill: Fill::Zero });
                }
                ChangeKind::Random => {
                    let step = generation as usize - 1;
                    let block = self.operations.step[step].block().0;
                    let blocks = size / block;
                    let mut marked = vec![0; blocks.div_ceil(64) as usize];
                    for operation in self.operations_of_file(step, number) {
                        let at = self.block_of_operation(step, operation, blocks);
                        marked[(at / 64) as usize] |= 1_u64 << (at % 64);
                    }
                    layers.push(Layer { stretch: 0..size, fill: Fill::Blocks { generation, block, marked } });
                }
            }
            size = after;
        }
        (size, layers)
    }

    /// Names of files, links and copies in a directory of a set.
    pub(crate) fn files_in(&self, state: &State, set: usize, directory: u64) -> u64 {
        let spec = self.set(set);
        let inside = |shift: u64, files: &Range<u64>| {
            let home = (directory + spec.directories - shift) % spec.directories;
            let made = spec.files_of(&(home..home + 1));
            made.end.min(files.end).saturating_sub(made.start.max(files.start))
        };
        let of = |(files, file): &(Range<u64>, FileState)| {
            if !file.present {
                return 0;
            }
            let beside = [file.link, file.symlink.map(|symlink| symlink.0), file.copy.as_ref().map(|copy| copy.0)];
            inside(file.shift, files) + beside.into_iter().flatten().map(|shift| inside(shift, files)).sum::<u64>()
        };
        state.set(set).files.all().iter().map(of).sum()
    }

    /// Directories of the set that lie in this one.
    fn directories_in(&self, state: &State, set: usize, directory: u64) -> u64 {
        let children = self.set(set).children_of(directory);
        if self.names[set].is_flat() {
            return 0;
        }
        state
            .set(set)
            .directories
            .within(children)
            .filter(|(_, below)| below.present)
            .map(|(range, _)| range.end - range.start)
            .sum()
    }

    /// All names in a directory of a set: those of sets that share it, too, and of all clients, who have all done the
    /// same.
    pub(crate) fn entries(&self, state: &State, set: usize, directory: u64) -> u64 {
        let files_in = |set: usize, directory: u64| self.files_in(state, set, directory) * u64::from(self.clients.of);
        if !self.names[set].is_flat() {
            return files_in(set, directory) + self.directories_in(state, set, directory);
        }
        let folder = self.names[set].folder();
        let sharing = (0..self.names.len()).filter(|&other| self.names[other].folder() == folder);
        sharing.map(|other| files_in(other, 0)).sum()
    }
}

/// A number below `end`, from a random word (Lemire 2019, the multiplication alone: its bias is at
/// most end/2^64).
#[inline]
fn below(word: u64, end: u64) -> u64 {
    ((u128::from(word) * u128::from(end)) >> 64) as u64
}
