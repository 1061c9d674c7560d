//! What exists before and after each step, simulated on ranges of files.

use super::pieces::Pieces;
use super::{FileSet, Operation, OperationStep, Operations};
use std::ops::Range;

/// What every file and directory of a workload is at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    sets: Vec<SetState>,
}

/// What the files and directories of one set are.
#[derive(Debug, Clone, PartialEq)]
pub struct SetState {
    /// By file.
    pub files: Pieces<FileState>,
    /// By directory.
    pub directories: Pieces<DirectoryState>,
}

/// What one directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryState {
    /// Whether it is there.
    pub present: bool,
    /// The step that made or removed it.
    pub since: Option<usize>,
}

/// What one file is, and what lies beside it. A file that is not there has nothing beside it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileState {
    /// Whether it is there.
    pub present: bool,
    /// The step that made or removed it.
    pub since: Option<usize>,
    /// Renamed an odd number of times within its directory.
    pub renamed: bool,
    /// By how many directories of the set it has moved on, modulo their number.
    pub shift: u64,
    /// What made its contents, oldest first, since it was last written whole.
    pub changes: Vec<Change>,
    /// A hard link; the value: by how many directories it is shifted.
    pub link: Option<u64>,
    /// A symbolic link; by how many directories it is shifted, and whether the name it holds is that
    /// of the renamed file.
    pub symlink: Option<(u64, bool)>,
    /// A copy; by how many directories it is shifted, and what made its contents.
    pub copy: Option<(u64, Vec<Change>)>,
    /// The generation of its extended attribute.
    pub attribute: Option<u32>,
}

/// Something that changed what a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// 0: before the first step; otherwise the step's number, from 1.
    pub generation: u32,
    /// What it was.
    pub kind: ChangeKind,
}

/// What changed what a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Written anew with its set's size.
    Whole,
    /// Written over in place.
    Over,
    /// So many bytes were written behind the end.
    Append(u64),
    /// Cut, or lengthened with zeros, to so many bytes.
    Truncate(u64),
    /// So many zeros came behind the end.
    Allocate(u64),
    /// Blocks at random places were written over.
    Random,
}

impl FileSet {
    /// The directory in which file n is made: n·directories/count.
    #[inline]
    pub fn directory_of(&self, file: u64) -> u64 {
        (u128::from(file) * u128::from(self.directories) / u128::from(self.count.max(1))) as u64
    }

    /// The first file that is made in this directory or a later one.
    #[inline]
    pub fn first_file_of(&self, directory: u64) -> u64 {
        (u128::from(directory) * u128::from(self.count)).div_ceil(u128::from(self.directories.max(1))) as u64
    }

    /// The files that are made in these directories.
    pub fn files_of(&self, directories: &Range<u64>) -> Range<u64> {
        self.first_file_of(directories.start)..self.first_file_of(directories.end)
    }

    /// The directory of the set that holds this one; `None`: the set's folder.
    pub fn parent_of(&self, directory: u64) -> Option<u64> {
        (self.fan_out > 0 && directory >= self.fan_out).then(|| directory / self.fan_out - 1)
    }

    /// The directories in this one.
    pub fn children_of(&self, directory: u64) -> Range<u64> {
        if self.fan_out == 0 {
            return 0..0;
        }
        let first = self.fan_out.saturating_mul(directory.saturating_add(1)).min(self.directories);
        first..first.saturating_add(self.fan_out).min(self.directories)
    }

    /// Whether directories lie in directories of the set.
    pub fn is_tree(&self) -> bool {
        self.fan_out > 0 && self.directories > self.fan_out
    }

    /// The directories in which files lie that were made in `directories` and moved on by `shift`.
    pub fn shifted(&self, directories: &Range<u64>, shift: u64) -> [Range<u64>; 2] {
        let all = self.directories;
        let (start, end) = (directories.start + shift, directories.end + shift);
        [start.min(all)..end.min(all), start.max(all) - all..end.max(all) - all]
    }

    /// The directories of a range of files, each of which holds at least one of them when it was made.
    fn directories_of(&self, files: &Range<u64>) -> Range<u64> {
        if files.is_empty() { 0..0 } else { self.directory_of(files.start)..self.directory_of(files.end - 1) + 1 }
    }
}

/// The smallest and the largest size that files of a set have after these changes.
pub(super) fn size_bounds(set: &FileSet, changes: &[Change]) -> (u64, u64) {
    let each = |from: u64| changes.iter().fold(from, |size, change| size_after(size, from, change.kind));
    let (least, most) = set.size.bounds();
    (each(least), each(most))
}

/// A file's size after a change, where `whole` is the size that its set gives it.
#[inline]
pub fn size_after(size: u64, whole: u64, change: ChangeKind) -> u64 {
    match change {
        ChangeKind::Whole => whole,
        ChangeKind::Over | ChangeKind::Random => size,
        ChangeKind::Append(bytes) | ChangeKind::Allocate(bytes) => size.saturating_add(bytes),
        ChangeKind::Truncate(bytes) => bytes,
    }
}

impl State {
    /// Before the first step. A directory that a step makes before any removes it is not there yet.
    pub fn begin(operations: &Operations) -> State {
        let of = |set: &FileSet| {
            let mut untouched = Pieces::new(set.directories, true);
            let mut directories = Pieces::new(set.directories, DirectoryState { present: true, since: None });
            for step in operations.step.iter().filter(|step| step.files == set.name) {
                let makes = step.operation == Operation::Mkdir;
                if makes || matches!(step.operation, Operation::Rmdir | Operation::RemoveTree) {
                    let things = operations.things(step);
                    let first: Vec<Range<u64>> =
                        untouched.within(things.clone()).filter(|(_, first)| **first).map(|(range, _)| range).collect();
                    for range in first {
                        directories.change(range, |directory| directory.present = !makes);
                    }
                    untouched.change(things, |first| *first = false);
                }
            }
            let mut file = FileState::default();
            if set.populate {
                file.present = true;
                file.changes.push(Change { generation: 0, kind: ChangeKind::Whole });
            }
            SetState { files: Pieces::new(set.count, file), directories }
        };
        State { sets: operations.files.iter().map(of).collect() }
    }

    /// The set of that place in the list.
    pub fn set(&self, index: usize) -> &SetState {
        &self.sets[index]
    }

    /// What populated sets, and directories that are there from the beginning, need.
    ///
    /// # Errors
    /// One sentence with the remedy.
    pub(super) fn check_beginning(&self, operations: &Operations) -> Result<(), String> {
        for (set, state) in operations.files.iter().zip(&self.sets) {
            let there = state
                .directories
                .all()
                .iter()
                .filter(|(range, directory)| set.fan_out > 0 && directory.present && range.end > set.fan_out);
            for (range, _) in there {
                let lie_in = |directory: u64| set.parent_of(directory).unwrap_or_default();
                let parents = lie_in(range.start.max(set.fan_out))..lie_in(range.end - 1) + 1;
                if let Some((missing, _)) = state.directories.within(parents).find(|(_, parent)| !parent.present) {
                    return Err(format!(
                        "{} of {} are there from the beginning and lie in {}, which a step makes first; let that step \
                         make them too",
                        range_words("director", range),
                        set.name,
                        range_words("director", &missing)
                    ));
                }
            }
            if set.populate && set.count > 0 && state.directories.all().iter().any(|(_, directory)| !directory.present)
            {
                return Err(format!(
                    "set {} is populated before the first step, but a step makes its directories; remove populate or \
                     the mkdir step",
                    set.name
                ));
            }
        }
        Ok(())
    }

    /// The state after a step.
    ///
    /// # Errors
    /// Where it cannot be done: one sentence that names the step, the files and what stands against
    /// it.
    pub fn advance(&mut self, operations: &Operations, index: usize) -> Result<(), String> {
        let step = &operations.step[index];
        let Some(place) = operations.files.iter().position(|set| set.name == step.files) else {
            return Err(format!("step {} works on files = \"{}\", and no set has that name", step.group(), step.files));
        };
        let work = Advance { operations, index, step, set: &operations.files[place] };
        let state = &mut self.sets[place];
        match step.operation {
            Operation::Mkdir => work.make_directories(state),
            Operation::Rmdir => work.remove_directories(state),
            Operation::RemoveTree => work.remove_tree(state),
            Operation::List | Operation::FsyncDirectory => work.need_directories(state, &operations.things(step)),
            _ => work.change_files(state),
        }
    }
}

/// One step on one set.
struct Advance<'a> {
    operations: &'a Operations,
    index: usize,
    step: &'a OperationStep,
    set: &'a FileSet,
}

impl Advance<'_> {
    fn who(&self, since: Option<usize>) -> &str {
        since.and_then(|index| self.operations.step.get(index)).map_or("no step", OperationStep::group)
    }

    fn change_files(&self, state: &mut SetState) -> Result<(), String> {
        let files = self.operations.files_of(self.step);
        for (range, file) in state.files.within(files.clone()) {
            self.check_files(state, &range, file)?;
        }
        let (index, set, step) = (self.index, self.set, self.step);
        state.files.change(files, |file| change_file(file, index, set, step));
        Ok(())
    }

    fn check_files(&self, state: &SetState, range: &Range<u64>, file: &FileState) -> Result<(), String> {
        let (name, set) = (self.step.group(), &self.set.name);
        let these = range_words("file", range);
        if self.step.operation == Operation::Create && file.present {
            return Err(match file.since {
                Some(_) => format!(
                    "step {name} makes {these} of {set}, which step {} has made already; unlink them first",
                    self.who(file.since)
                ),
                None => {
                    format!("step {name} makes {these} of {set}, which are there from the beginning; remove populate")
                }
            });
        }
        if !matches!(self.step.operation, Operation::Create | Operation::Write) && !file.present {
            return Err(match file.since {
                Some(_) => format!(
                    "step {name} works on {these} of {set}, which step {} has removed; create them again before it",
                    self.who(file.since)
                ),
                None => format!(
                    "step {name} works on {these} of {set}, which no step has made; put a create step before it, or \
                     set populate = true"
                ),
            });
        }
        let home = self.set.directories_of(range);
        let next = if self.step.operation == Operation::RenameAcross { 1 } else { 0 };
        for shift in [file.shift, (file.shift + next) % self.set.directories] {
            for directories in self.set.shifted(&home, shift) {
                self.need_directories(state, &directories)?;
            }
        }
        self.check_what_is_beside(file, &these)?;
        self.check_sizes(file, &these)
    }

    fn check_what_is_beside(&self, file: &FileState, these: &str) -> Result<(), String> {
        let (what, there) = match self.step.operation {
            Operation::Link => ("a link", file.link.is_some()),
            Operation::Symlink => ("a symbolic link", file.symlink.is_some()),
            Operation::Reflink => ("a copy", file.copy.is_some()),
            Operation::Getxattr if file.attribute.is_none() => {
                return Err(format!(
                    "step {} reads an attribute of {these} of {}, which no step has set; put a setxattr step before it",
                    self.step.group(),
                    self.set.name
                ));
            }
            _ => return Ok(()),
        };
        if there {
            return Err(format!(
                "step {} makes {what} beside {these} of {}, where one is already; unlink the files first",
                self.step.group(),
                self.set.name
            ));
        }
        Ok(())
    }

    fn check_sizes(&self, file: &FileState, these: &str) -> Result<(), String> {
        let name = self.step.group();
        let block = self.step.block().0;
        let (least, most) = size_bounds(self.set, &file.changes);
        if matches!(self.step.operation, Operation::RandomRead | Operation::RandomWrite) {
            if least < block {
                return Err(format!(
                    "step {name} works in blocks of {} and {these} of {} may have {}; lower block",
                    self.step.block(),
                    self.set.name,
                    crate::Bytes(least)
                ));
            }
            if most / block > MOST_BLOCKS {
                return Err(format!("step {name} cuts a file into {} blocks; raise block", most / block));
            }
        }
        let mut after = file.clone();
        change_file(&mut after, self.index, self.set, self.step);
        if size_bounds(self.set, &after.changes).1 > super::LARGEST_FILE {
            return Err(format!(
                "step {name} makes files larger than {}; lower block",
                crate::Bytes(super::LARGEST_FILE)
            ));
        }
        Ok(())
    }

    fn need_directories(&self, state: &SetState, range: &Range<u64>) -> Result<(), String> {
        for (range, directory) in state.directories.within(range.clone()) {
            if !directory.present {
                let these = range_words("director", &range);
                let (name, set) = (self.step.group(), &self.set.name);
                return Err(match directory.since {
                    Some(_) => format!(
                        "step {name} works in {these} of {set}, which step {} has removed; put a mkdir step before it",
                        self.who(directory.since)
                    ),
                    None => format!(
                        "step {name} works in {these} of {set} before they are made; put it behind the mkdir step"
                    ),
                });
            }
        }
        Ok(())
    }

    fn make_directories(&self, state: &mut SetState) -> Result<(), String> {
        let things = self.operations.things(self.step);
        for (range, directory) in state.directories.within(things.clone()) {
            if directory.present {
                let these = range_words("director", &range);
                return Err(format!(
                    "step {} makes {these} of {}, which are there already; remove them first",
                    self.step.group(),
                    self.set.name
                ));
            }
        }
        // Parents lie before their children: those within the range are made by the step itself.
        if let (Some(first), Some(last)) = (self.parent_from(&things), self.set.parent_of(things.end - 1)) {
            self.need_directories(state, &(first..(last + 1).min(things.start)))?;
        }
        let since = Some(self.index);
        state.directories.change(things, |directory| *directory = DirectoryState { present: true, since });
        Ok(())
    }

    /// The first parent of any directory in the range.
    fn parent_from(&self, things: &Range<u64>) -> Option<u64> {
        self.set.parent_of(things.start.max(self.set.fan_out))
    }

    fn remove_directories(&self, state: &mut SetState) -> Result<(), String> {
        let things = self.operations.things(self.step);
        self.need_directories(state, &things)?;
        self.need_no_children(state, &things)?;
        for (files, file) in state.files.all() {
            if file.present && self.overlaps(files, file, &things) {
                return Err(format!(
                    "step {} removes {} of {}, which still hold files; unlink them first, or use remove-tree",
                    self.step.group(),
                    range_words("director", &things),
                    self.set.name
                ));
            }
        }
        let since = Some(self.index);
        state.directories.change(things, |directory| *directory = DirectoryState { present: false, since });
        Ok(())
    }

    fn remove_tree(&self, state: &mut SetState) -> Result<(), String> {
        let things = self.operations.things(self.step);
        self.need_directories(state, &things)?;
        self.need_no_children(state, &things)?;
        let whole = things == (0..self.set.directories);
        let mut gone = Vec::new();
        for (files, file) in state.files.all() {
            if !file.present || !self.overlaps(files, file, &things) {
                continue;
            }
            if whole {
                gone.push(files.clone());
                continue;
            }
            if shifts(file).any(|shift| shift != file.shift) {
                return Err(format!(
                    "step {} removes some directories of {}, and links of files in them lie in others; remove all of \
                     them: leave first and count out",
                    self.step.group(),
                    self.set.name
                ));
            }
            // Back to the directories in which they were made.
            let back = (self.set.directories - file.shift) % self.set.directories;
            for directories in self.set.shifted(&things, back) {
                let made = self.set.files_of(&directories);
                gone.push(made.start.max(files.start)..made.end.min(files.end));
            }
        }
        let since = Some(self.index);
        for files in gone {
            state.files.change(files, |file| *file = FileState { since, ..FileState::default() });
        }
        state.directories.change(things, |directory| *directory = DirectoryState { present: false, since });
        Ok(())
    }

    /// Whether a file, or what lies beside it, lies in one of the directories.
    fn overlaps(&self, files: &Range<u64>, file: &FileState, things: &Range<u64>) -> bool {
        let home = self.set.directories_of(files);
        shifts(file)
            .flat_map(|shift| self.set.shifted(&home, shift))
            .any(|range| range.start.max(things.start) < range.end.min(things.end))
    }

    fn need_no_children(&self, state: &SetState, things: &Range<u64>) -> Result<(), String> {
        if self.set.fan_out == 0 || things.is_empty() {
            return Ok(());
        }
        let below = self.set.children_of(things.start).start.max(things.end)..self.set.children_of(things.end - 1).end;
        if !below.is_empty() && state.directories.within(below).any(|(_, directory)| directory.present) {
            return Err(format!(
                "step {} removes {} of {}, in which other directories lie; remove those first",
                self.step.group(),
                range_words("director", things),
                self.set.name
            ));
        }
        Ok(())
    }
}

/// Blocks of one file among which random operations choose, at most: replaying them takes a bit each.
const MOST_BLOCKS: u64 = 1 << 28;

/// By how many directories the file and everything beside it are shifted.
fn shifts(file: &FileState) -> impl Iterator<Item = u64> {
    let beside = [file.link, file.symlink.map(|symlink| symlink.0), file.copy.as_ref().map(|copy| copy.0)];
    std::iter::once(file.shift).chain(beside.into_iter().flatten())
}

fn change_file(file: &mut FileState, index: usize, set: &FileSet, step: &OperationStep) {
    let generation = index as u32 + 1;
    let block = step.block().0;
    let mut add = |kind| file.changes.push(Change { generation, kind });
    match step.operation {
        Operation::Create => {
            let changes = vec![Change { generation, kind: ChangeKind::Whole }];
            *file = FileState { present: true, since: Some(index), changes, ..FileState::default() };
        }
        Operation::Write => {
            if !file.present {
                *file = FileState { present: true, since: Some(index), ..FileState::default() };
            }
            file.changes = vec![Change { generation, kind: ChangeKind::Whole }];
        }
        Operation::Overwrite => {
            // The size alone outlives it.
            add(ChangeKind::Over);
        }
        Operation::Append => add(ChangeKind::Append(block)),
        Operation::Truncate => add(ChangeKind::Truncate(block)),
        Operation::Fallocate => add(ChangeKind::Allocate(block)),
        Operation::RandomWrite => add(ChangeKind::Random),
        Operation::Rename => file.renamed = !file.renamed,
        Operation::RenameAcross => file.shift = (file.shift + 1) % set.directories,
        Operation::Link => file.link = Some(file.shift),
        Operation::Symlink => file.symlink = Some((file.shift, file.renamed)),
        Operation::Reflink => file.copy = Some((file.shift, file.changes.clone())),
        Operation::Setxattr => file.attribute = Some(generation),
        Operation::Unlink => *file = FileState { since: Some(index), ..FileState::default() },
        _ => {}
    }
}

/// `file 7`, `files 50 to 99`; `director` becomes `directory` and `directories`.
pub(super) fn range_words(what: &str, range: &Range<u64>) -> String {
    let (one, many) = if what == "director" { ("y", "ies") } else { ("", "s") };
    match range.end - range.start {
        1 => format!("{what}{one} {}", range.start),
        _ => format!("{what}{many} {} to {}", range.start, range.end.saturating_sub(1)),
    }
}
