//! Whether a lane holds exactly what the steps so far made: every name, every byte.

use super::backend::{Access, FileCalls};
use super::contents::Contents;
use super::in_process::{ATTRIBUTE, ATTRIBUTE_BYTES, OF_ATTRIBUTE, shown};
use super::names::{COPY, DIRECTORY, FILE, LINK, PathOf, RENAMED, SYMLINK};
use super::plan::{Fill, Layer, Plan};
use super::run::letter_of;
use super::work::CallsErrand;
use crate::error::EngineError;
use crate::workloads::direct::spread;
use crate::workloads::heed;
use model::operations::{Change, FileState, State};
use model::text::escaped;
use rustix::io::Errno;
use std::ffi::CStr;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Bytes compared at once.
const WINDOW: usize = 1 << 20;

/// Of another client's files: how many of each set are compared, and how many bytes, at most.
const MOST_OF_SOME: usize = 64;
const MOST_BYTES_OF_SOME: u64 = 64 << 20;

/// Compares every name and every byte below the top folder. What it holds in memory does not depend
/// on the number of files: a listed name is parsed and asked of the plan, not looked up in a list.
pub(super) struct Verify<'a> {
    plan: &'a Plan,
    state: &'a State,
    stop: &'a AtomicBool,
    contents: Contents,
    /// What is read, and one byte more to see a file's end.
    room: Vec<u8>,
    /// What should be read, where it is made of several layers.
    expected: Vec<u8>,
}

impl<'a> Verify<'a> {
    /// Against the state after the steps so far.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub(super) fn new(plan: &'a Plan, state: &'a State, stop: &'a AtomicBool) -> Result<Self, EngineError> {
        let contents = Contents::with_data(plan.data(), plan.seed(), WINDOW)?;
        Ok(Verify { plan, state, stop, contents, room: vec![0; WINDOW + 1], expected: vec![0; WINDOW] })
    }
}

impl CallsErrand for Verify<'_> {
    type Answer = ();

    fn run<C: FileCalls>(mut self, calls: &mut C, top: &Path) -> Result<(), EngineError> {
        self.check_folders(calls, top)?;
        for set in 0..self.plan.names.len() {
            self.check_directories(set, calls, top)?;
            self.check_files(set, calls, top)?;
        }
        Ok(())
    }
}

/// Compares some files of every set, all where they are few; answers their bytes.
pub(super) struct VerifySome<'a>(pub(super) Verify<'a>);

impl CallsErrand for VerifySome<'_> {
    type Answer = u64;

    fn run<C: FileCalls>(mut self, calls: &mut C, top: &Path) -> Result<u64, EngineError> {
        let mut compared = 0;
        for set in 0..self.0.plan.names.len() {
            compared += self.0.check_some(set, calls, top)?;
        }
        Ok(compared)
    }
}

impl Verify<'_> {
    /// Size and every byte of some files of the set.
    fn check_some<C: FileCalls>(&mut self, set: usize, calls: &mut C, top: &Path) -> Result<u64, EngineError> {
        let (plan, state) = (self.plan, self.state);
        let spec = plan.set(set);
        let mut path = PathOf::new(&plan.names[set]);
        let mut compared = 0;
        for number in spread(spec.count as usize, MOST_OF_SOME).map(|number| number as u64) {
            let Some(file) = state.set(set).files.at(number).filter(|file| file.present) else { continue };
            let size = plan.size(set, number, &file.changes);
            if compared + size > MOST_BYTES_OF_SOME {
                continue;
            }
            path.set_file((spec.directory_of(number) + file.shift) % spec.directories, letter_of(file), number);
            self.check_contents((set, number), path.as_c_str(), &file.changes, calls, top)?;
            compared += size;
        }
        Ok(compared)
    }

    /// The folders of the sets and nothing else.
    fn check_folders<C: FileCalls>(&self, calls: &mut C, top: &Path) -> Result<(), EngineError> {
        let mut expected: Vec<&[u8]> = Vec::new();
        for (set, names) in self.plan.names.iter().enumerate() {
            let there = !names.is_flat() || self.state.set(set).directories.at(0).is_some_and(|first| first.present);
            if there && !expected.contains(&names.folder()) {
                expected.push(names.folder());
            }
        }
        let (mut found, mut foreign) = (0, None);
        let list = &mut |name: &[u8]| match expected.contains(&name) {
            true => found += 1,
            false => foreign = Some(escaped(name)),
        };
        calls.list(c".", list).map_err(|errno| EngineError::file("list", top, errno))?;
        match foreign {
            Some(name) => Err(wrong(top, c"", format!("holds {name}, which no step made"))),
            None if found != expected.len() => {
                Err(wrong(top, c"", format!("lists {found} folders instead of {}", expected.len())))
            }
            None => Ok(()),
        }
    }

    /// Every directory of the set lists exactly what it should.
    fn check_directories<C: FileCalls>(&self, set: usize, calls: &mut C, top: &Path) -> Result<(), EngineError> {
        let names = &self.plan.names[set];
        if names.is_flat() {
            // Once for all sets of a folder.
            let first = self.plan.names.iter().position(|other| other.folder() == names.folder());
            if first == Some(set) && self.state.set(set).directories.at(0).is_some_and(|directory| directory.present) {
                let path = std::ffi::CString::new(names.folder()).unwrap_or_default();
                self.check_listing(set, Some(0), &path, self.plan.entries(self.state, set, 0), calls, top)?;
            }
            return Ok(());
        }
        let folder = std::ffi::CString::new(names.folder()).unwrap_or_default();
        let spec = self.plan.set(set);
        let outermost = if spec.fan_out == 0 { spec.directories } else { spec.fan_out.min(spec.directories) };
        let present = self.state.set(set).directories.within(0..outermost);
        let count = present.filter(|(_, directory)| directory.present).map(|(range, _)| range.end - range.start).sum();
        self.check_listing(set, None, &folder, count, calls, top)?;
        let mut path = PathOf::new(names);
        for (range, directory) in self.state.set(set).directories.all() {
            for number in range.clone().filter(|_| directory.present) {
                heed(self.stop)?;
                path.set_directory(number);
                let entries = self.plan.entries(self.state, set, number);
                self.check_listing(set, Some(number), path.as_c_str(), entries, calls, top)?;
            }
        }
        Ok(())
    }

    /// `directory`: the set's own number; `None` for the folder around its directories.
    fn check_listing<C: FileCalls>(
        &self,
        set: usize,
        directory: Option<u64>,
        path: &CStr,
        expected: u64,
        calls: &mut C,
        top: &Path,
    ) -> Result<(), EngineError> {
        let folder = self.plan.names[set].folder();
        let flat = self.plan.names[set].is_flat();
        let sharing: Vec<usize> = match flat {
            true => (0..self.plan.names.len()).filter(|&other| self.plan.names[other].folder() == folder).collect(),
            false => vec![set],
        };
        let (mut found, mut foreign, mut scratch) = (0_u64, None, Vec::new());
        let list = &mut |name: &[u8]| {
            let known = sharing.iter().any(|&set| {
                let parsed = self.plan.names[set].parse(name, &mut scratch);
                parsed.is_some_and(|(letter, number)| self.belongs(set, directory, letter, number))
            });
            match known {
                true => found += 1,
                false => foreign = Some(escaped(name)),
            }
        };
        calls.list(path, list).map_err(|errno| EngineError::file("list", shown(top, path), errno))?;
        match foreign {
            Some(name) => Err(wrong(top, path, format!("lists {name}, which should not be there"))),
            None if found != expected => Err(wrong(top, path, format!("lists {found} entries instead of {expected}"))),
            None => Ok(()),
        }
    }

    /// Whether this name of a set should stand in the directory.
    fn belongs(&self, set: usize, directory: Option<u64>, letter: u8, number: u64) -> bool {
        let (spec, state) = (self.plan.set(set), self.state.set(set));
        if letter == DIRECTORY {
            let present = state.directories.at(number).is_some_and(|directory| directory.present);
            return present && !self.plan.names[set].is_flat() && spec.parent_of(number) == directory;
        }
        let Some(directory) = directory else { return false };
        let Some(file) = state.files.at(number).filter(|file| file.present) else { return false };
        let shift = match letter {
            FILE | RENAMED => (letter == letter_of(file)).then_some(file.shift),
            LINK => file.link,
            SYMLINK => file.symlink.map(|symlink| symlink.0),
            COPY => file.copy.as_ref().map(|copy| copy.0),
            _ => None,
        };
        shift.is_some_and(|shift| (spec.directory_of(number) + shift) % spec.directories == directory)
    }

    /// Every file of the set, and what lies beside it.
    fn check_files<C: FileCalls>(&mut self, set: usize, calls: &mut C, top: &Path) -> Result<(), EngineError> {
        let (plan, state) = (self.plan, self.state);
        let spec = plan.set(set);
        let mut path = PathOf::new(&plan.names[set]);
        for (range, file) in state.set(set).files.all().iter().filter(|(_, file)| file.present) {
            for number in range.clone() {
                heed(self.stop)?;
                let home = spec.directory_of(number);
                let at = |shift: u64| (home + shift) % spec.directories;
                path.set_file(at(file.shift), letter_of(file), number);
                self.check_contents((set, number), path.as_c_str(), &file.changes, calls, top)?;
                self.check_names(file, path.as_c_str(), calls, top)?;
                self.check_attribute((set, number), file, path.as_c_str(), calls, top)?;
                if let Some(shift) = file.link {
                    path.set_file(at(shift), LINK, number);
                    self.check_contents((set, number), path.as_c_str(), &file.changes, calls, top)?;
                }
                if let Some((shift, changes)) = &file.copy {
                    path.set_file(at(*shift), COPY, number);
                    self.check_contents((set, number), path.as_c_str(), changes, calls, top)?;
                }
                if let Some((shift, renamed)) = file.symlink {
                    path.set_file(at(shift), if renamed { RENAMED } else { FILE }, number);
                    let target = path.name().to_bytes().to_vec();
                    path.set_file(at(shift), SYMLINK, number);
                    self.check_symlink(&target, path.as_c_str(), calls, top)?;
                }
            }
        }
        Ok(())
    }

    fn check_names<C: FileCalls>(
        &self,
        file: &FileState,
        path: &CStr,
        calls: &mut C,
        top: &Path,
    ) -> Result<(), EngineError> {
        let expected = 1 + u64::from(file.link.is_some());
        match calls.links(path) {
            Ok(links) if links != expected => {
                Err(wrong(top, path, format!("has {links} hard links instead of {expected}")))
            }
            Ok(_) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => Err(EngineError::file("stat", shown(top, path), errno)),
        }
    }

    fn check_symlink<C: FileCalls>(
        &self,
        target: &[u8],
        path: &CStr,
        calls: &mut C,
        top: &Path,
    ) -> Result<(), EngineError> {
        let mut room = [0; 4096];
        match calls.read_link(path, &mut room) {
            Ok(length) if &room[..length] != target => {
                let (found, target) = (escaped(&room[..length]), escaped(target));
                Err(wrong(top, path, format!("points to {found} instead of {target}")))
            }
            Ok(_) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => Err(EngineError::file("read the link", shown(top, path), errno)),
        }
    }

    fn check_attribute<C: FileCalls>(
        &mut self,
        (set, number): (usize, u64),
        file: &FileState,
        path: &CStr,
        calls: &mut C,
        top: &Path,
    ) -> Result<(), EngineError> {
        let Some(generation) = file.attribute else { return Ok(()) };
        let mut room = [0; ATTRIBUTE_BYTES + 1];
        let length = calls
            .get_xattr(path, ATTRIBUTE, &mut room)
            .map_err(|errno| EngineError::file("read an attribute of", shown(top, path), errno))?;
        let identity = self.plan.contents_of(set, number) ^ OF_ATTRIBUTE;
        if room[..length] != *self.contents.bytes(identity, generation, 0, ATTRIBUTE_BYTES) {
            return Err(wrong(top, path, "has another attribute than was set".to_owned()));
        }
        Ok(())
    }

    /// Size and every byte of one file.
    fn check_contents<C: FileCalls>(
        &mut self,
        (set, number): (usize, u64),
        path: &CStr,
        changes: &[Change],
        calls: &mut C,
        top: &Path,
    ) -> Result<(), EngineError> {
        let (size, layers) = self.plan.layers(set, number, changes);
        let mut file =
            calls.open(path, Access::Read).map_err(|errno| EngineError::file("open", shown(top, path), errno))?;
        let mut offset = 0;
        loop {
            heed(self.stop)?;
            // Of a hole of many gigabytes nothing is read: it need only be one. The last window is read, so
            // that the file's size shows.
            let zeros = zeros_until(&layers, offset, size.saturating_sub(1)) / WINDOW as u64 * WINDOW as u64;
            if zeros > offset
                && let Ok(data) = calls.next_data(&mut file, offset)
            {
                let skipped = (data / WINDOW as u64 * WINDOW as u64).min(zeros);
                offset = offset.max(skipped);
            }
            let wanted = (size - offset).min(WINDOW as u64) as usize;
            // One byte more at the end: a file that is too long is seen.
            let asked = if offset + wanted as u64 == size { wanted + 1 } else { wanted };
            let mut read = 0;
            while read < asked {
                let room = &mut self.room[read..asked];
                match calls.read(&mut file, room, offset + read as u64) {
                    Ok(0) => break,
                    Ok(moved) => read += moved,
                    Err(errno) => return Err(EngineError::file("read", shown(top, path), errno)),
                }
            }
            if read != wanted {
                let holds = if read > wanted { "more than".to_owned() } else { format!("{} of", offset + read as u64) };
                return Err(wrong(top, path, format!("holds {holds} the {size} bytes that were written to it")));
            }
            let window = offset..offset + wanted as u64;
            self.compose(self.plan.contents_of(set, number), &layers, &window);
            if let Some(at) = first_difference(&self.room[..wanted], &self.expected[..wanted]) {
                return Err(EngineError::Corrupt {
                    path: shown(top, path),
                    offset: offset + at as u64,
                    what: format!("{:#04x} instead of {:#04x}", self.room[at], self.expected[at]),
                });
            }
            offset = window.end;
            if offset == size {
                break;
            }
        }
        calls.close(file).map_err(|errno| EngineError::file("close", shown(top, path), errno))
    }

    /// What the window should hold.
    fn compose(&mut self, identity: u64, layers: &[Layer], window: &Range<u64>) {
        for layer in layers {
            let both = overlap(&layer.stretch, window);
            if both.is_empty() {
                continue;
            }
            match &layer.fill {
                Fill::Zero => self.expected[within(&both, window)].fill(0),
                Fill::Written(generation) => self.put(identity, *generation, &both, window),
                Fill::Blocks { generation, block, marked } => {
                    for number in both.start / block..both.end.div_ceil(*block) {
                        let is_marked =
                            marked.get((number / 64) as usize).is_some_and(|bits| bits >> (number % 64) & 1 == 1);
                        if is_marked {
                            let place = overlap(&(number * block..(number + 1) * block), &both);
                            self.put(identity, *generation, &place, window);
                        }
                    }
                }
            }
        }
    }

    fn put(&mut self, identity: u64, generation: u32, stretch: &Range<u64>, window: &Range<u64>) {
        let bytes = self.contents.bytes(identity, generation, stretch.start, (stretch.end - stretch.start) as usize);
        self.expected[within(stretch, window)].copy_from_slice(bytes);
    }
}

/// Up to where nothing but zeros is expected from `offset` on, at most to `end`; `offset`: not even there.
fn zeros_until(layers: &[Layer], offset: u64, end: u64) -> u64 {
    let filled = layers.iter().filter(|layer| !matches!(layer.fill, Fill::Zero) && layer.stretch.end > offset);
    filled.map(|layer| layer.stretch.start.max(offset)).fold(end.max(offset), u64::min)
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    let start = one.start.max(other.start);
    start..one.end.min(other.end).max(start)
}

/// Where a stretch lies in the window's buffer.
fn within(stretch: &Range<u64>, window: &Range<u64>) -> Range<usize> {
    (stretch.start - window.start) as usize..(stretch.end - window.start) as usize
}

fn first_difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    if found == expected {
        return None;
    }
    found.iter().zip(expected).position(|(found, expected)| found != expected)
}

#[cold]
fn wrong(top: &Path, path: &CStr, what: String) -> EngineError {
    EngineError::Contents { path: shown(top, path), what }
}
