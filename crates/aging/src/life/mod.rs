//! A life: the acts that follow from a profile, a seed and a size, and from nothing else.
//!
//! It keeps a model of the tree and asks no filesystem, so that every lane lives the same life, act by act.

mod operation;
mod tree;

pub(crate) use operation::NAME_BYTES;
pub use operation::{Name, Operation, Place};
pub use tree::{BLOCK_BYTES, File};
pub(crate) use tree::{Directory, place, space};

use crate::numbers::Random;
use crate::profile::{FreedBy, Group, Profile, Replaced};
use std::collections::VecDeque;
use tree::Members;

/// A file takes this part of the size at most, so that one file is no filesystem.
const LARGEST_PART: u64 = 16;
/// An edit changes a file's size by this share at most.
const EDIT: f64 = 0.05;
/// A last filling that is so near to its level is there: freeing and filling would take turns for ever.
const LAST_SLACK: u64 = 16 * BLOCK_BYTES;
/// A number that no folder has in its group's list.
const NOWHERE: u32 = u32::MAX;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Begin,
    Filling,
    Deleting {
        to: u64,
        then: u64,
    },
    Refilling {
        to: u64,
    },
    /// Space is freed, then filled, to end at this many bytes.
    Last {
        to: u64,
    },
    Ended,
}

/// The acts of a life, in order; it ends only after [`Generator::finish`].
#[derive(Debug, Clone)]
pub struct Generator<'a> {
    profile: &'a Profile,
    capacity: u64,
    random: Random,
    phase: Phase,
    queue: VecDeque<Operation>,
    members: Vec<Members>,
    directories: Vec<Directory>,
    serial: u32,
    born: u32,
    cycle: u32,
    used: u64,
    planned_bytes: u64,
    count: u64,
}

impl<'a> Generator<'a> {
    /// The life of this profile and seed on so many bytes.
    pub fn new(profile: &'a Profile, seed: u64, capacity_bytes: u64) -> Generator<'a> {
        let root = Directory {
            place: Place { directory: 0, name: Name { serial: 0, length: 9 } },
            depth: 0,
            files: 0,
            children: 0,
            position: NOWHERE,
        };
        Generator {
            profile,
            capacity: capacity_bytes,
            random: Random::new(seed, 0x6c69_6665),
            phase: Phase::Begin,
            queue: VecDeque::new(),
            members: vec![Members::default(); profile.groups.len()],
            directories: vec![root],
            serial: 1,
            born: 0,
            cycle: 0,
            used: 0,
            planned_bytes: 0,
            count: 0,
        }
    }

    /// From here on only a last filling (or freeing) to this share of the size, 0 to 1, and the end of its cycle.
    pub fn finish(&mut self, full: f64) {
        self.begin();
        self.phase = Phase::Last { to: (self.capacity as f64 * full) as u64 };
    }

    /// Acts so far.
    pub fn acts(&self) -> u64 {
        self.count
    }

    /// Bytes that acts so far write into files.
    pub fn planned_bytes(&self) -> u64 {
        self.planned_bytes
    }

    /// Space that files and folders of the tree take, in whole blocks, bytes.
    pub fn used_bytes(&self) -> u64 {
        self.used
    }

    /// Cycles that have ended; the first filling is one.
    pub fn cycles(&self) -> u32 {
        self.cycle
    }

    /// All files with the number of their group, in no order.
    pub fn files(&self) -> impl Iterator<Item = (usize, &File)> {
        self.members.iter().enumerate().flat_map(|(group, members)| members.files.iter().map(move |file| (group, file)))
    }

    /// The place of a file of a group.
    pub fn place(&self, group: usize, file: &File) -> Place {
        place(file, &self.profile.groups[group])
    }

    /// Number and place of every folder that is there, parents first; the folder of the life itself is not among them.
    pub fn directories(&self) -> impl Iterator<Item = (u32, Place)> {
        let there = self.directories.iter().enumerate().skip(1).filter(|(_, of)| of.position != NOWHERE);
        there.map(|(number, of)| (number as u32, of.place))
    }

    /// Places of all folders that there ever were, by their numbers.
    pub(crate) fn all_places(&self) -> impl Iterator<Item = Place> {
        self.directories.iter().map(|of| of.place)
    }

    fn name(&mut self, length: u8) -> Name {
        self.serial += 1;
        Name { serial: self.serial, length }
    }

    fn make_directory(&mut self, group: usize, parent: u32) -> u32 {
        let number = self.directories.len() as u32;
        let place = Place { directory: parent, name: self.name(9) };
        let depth = self.directories[parent as usize].depth + 1;
        let position = self.members[group].directories.len() as u32;
        self.directories.push(Directory { place, depth, files: 0, children: 0, position });
        self.directories[parent as usize].children += 1;
        self.members[group].directories.push(number);
        self.used += BLOCK_BYTES;
        self.members[group].used += BLOCK_BYTES;
        self.queue.push_back(Operation::MakeDirectory { number, place });
        number
    }

    /// A folder that is empty goes, and those above it that are empty then; the last one of a group stays.
    fn remove_empty(&mut self, group: usize, mut number: u32) {
        loop {
            let of = self.directories[number as usize];
            let members = &mut self.members[group];
            if of.files > 0 || of.children > 0 || of.position == NOWHERE || members.directories.len() < 2 {
                return;
            }
            members.directories.swap_remove(of.position as usize);
            if let Some(&moved) = members.directories.get(of.position as usize) {
                self.directories[moved as usize].position = of.position;
            }
            members.used -= BLOCK_BYTES;
            members.last = members.last.filter(|&last| last != number);
            self.used -= BLOCK_BYTES;
            self.directories[number as usize].position = NOWHERE;
            self.directories[of.place.directory as usize].children -= 1;
            self.queue.push_back(Operation::RemoveDirectory { number, place: of.place });
            number = of.place.directory;
        }
    }

    /// The folders that are there from the beginning.
    fn begin(&mut self) {
        if self.phase != Phase::Begin {
            return;
        }
        self.phase = Phase::Filling;
        let profile = self.profile;
        for (at, group) in profile.groups.iter().enumerate() {
            for _ in 0..group.directories.count.unwrap_or(1) {
                self.make_directory(at, 0);
            }
        }
    }

    /// Where a new file goes.
    fn folder(&mut self, at: usize) -> u32 {
        let shape = &self.profile.groups[at].directories;
        if let Some(last) = self.members[at].last
            && self.random.happens(shape.local)
            && shape.files.is_none_or(|most| self.directories[last as usize].files < most)
        {
            return last;
        }
        let members = &self.members[at];
        let is_wanted =
            shape.files.is_some_and(|each| members.files.len() >= members.directories.len() * each as usize);
        let drawn = members.directories[self.random.below(members.directories.len())];
        let chosen = if is_wanted { self.new_folder(at, drawn) } else { drawn };
        self.members[at].last = Some(chosen);
        chosen
    }

    /// A new folder in or beside the one that was drawn, no deeper than the profile says.
    fn new_folder(&mut self, at: usize, drawn: u32) -> u32 {
        let shape = &self.profile.groups[at].directories;
        let deepest = match shape.depths.is_empty() {
            true => shape.depth,
            false => {
                let depth = self.random.weighted(shape.depths.iter().map(|depth| depth.1));
                shape.depths[depth].0.clamp(1, 16)
            }
        };
        let mut parent = drawn;
        while parent != 0 && self.directories[parent as usize].depth >= deepest {
            parent = self.directories[parent as usize].place.directory;
        }
        self.make_directory(at, parent)
    }

    fn account(&mut self, at: usize, before: u64, after: u64) {
        self.used = self.used - space(before) + space(after);
        self.members[at].used = self.members[at].used - space(before) + space(after);
    }

    /// A size that leaves no more than the level over, and no file larger than a part of all.
    fn bounded(&self, bytes: u64, room: u64) -> u64 {
        bytes.min(self.capacity / LARGEST_PART).min(room.max(BLOCK_BYTES)).max(1)
    }

    fn synced(&mut self, at: usize, place: Place) {
        if self.random.happens(self.profile.groups[at].fsync) {
            self.queue.push_back(Operation::Sync { place });
        }
    }

    fn create(&mut self, at: usize, room: u64) {
        let group = &self.profile.groups[at];
        let drawn = group.sizes.draw(&mut self.random);
        let bytes = self.bounded(drawn, room);
        let directory = self.folder(at);
        let name = self.name(group.name_length);
        self.born += 1;
        let file = File { bytes, serial: name.serial, directory, born: self.born, cycle: self.cycle };
        self.members[at].files.push(file);
        self.directories[directory as usize].files += 1;
        self.account(at, 0, bytes);
        let place = place(&file, group);
        self.queue.push_back(Operation::Create { place, bytes });
        self.synced(at, place);
    }

    fn append(&mut self, at: usize, room: u64) {
        let group = &self.profile.groups[at];
        let chosen = self.random.below(self.members[at].files.len());
        let drawn = group.appends.as_ref().map_or(1, |sizes| sizes.draw(&mut self.random));
        let bytes = self.bounded(drawn, room);
        let file = self.members[at].files[chosen];
        let most = group.sizes.largest().min(self.capacity / LARGEST_PART);
        if file.bytes + bytes > most {
            return self.create(at, room);
        }
        self.members[at].files[chosen] = File { bytes: file.bytes + bytes, cycle: self.cycle, ..file };
        self.account(at, file.bytes, file.bytes + bytes);
        let place = place(&file, group);
        self.queue.push_back(Operation::Append { place, from: file.bytes, bytes });
        self.synced(at, place);
    }

    fn replace(&mut self, at: usize, chosen: usize, bytes: u64) {
        let group = &self.profile.groups[at];
        let file = self.members[at].files[chosen];
        let temporary = self.name(group.name_length);
        let sync = self.random.happens(group.fsync);
        self.members[at].files[chosen] = File { bytes, cycle: self.cycle, ..file };
        self.account(at, file.bytes, bytes);
        self.queue.push_back(Operation::Replace { place: place(&file, group), temporary, bytes, sync });
    }

    fn edit(&mut self, at: usize, room: u64) {
        let group = &self.profile.groups[at];
        let chosen = self.random.below(self.members[at].files.len());
        let before = self.members[at].files[chosen].bytes;
        let drawn = match group.replaced {
            Replaced::Drawn => group.sizes.draw(&mut self.random),
            Replaced::Near => {
                let factor = 1.0 + EDIT * (2.0 * self.random.share() - 1.0);
                ((before as f64 * factor) as u64).min(group.sizes.largest())
            }
        };
        let bytes = self.bounded(drawn, room + space(before));
        self.replace(at, chosen, bytes);
    }

    fn overwrite(&mut self, at: usize) {
        let group = &self.profile.groups[at];
        let file = &mut self.members[at].files;
        let chosen = self.random.below(file.len());
        file[chosen].cycle = self.cycle;
        let file = file[chosen];
        let drawn = group.overwrites.as_ref().map_or(1, |sizes| sizes.draw(&mut self.random));
        let blocks = file.bytes.div_ceil(BLOCK_BYTES) as usize;
        let from = self.random.below(blocks) as u64 * BLOCK_BYTES;
        let bytes = drawn.min(file.bytes - from);
        let place = place(&file, group);
        self.queue.push_back(Operation::Overwrite { place, from, bytes });
        self.synced(at, place);
    }

    fn rename(&mut self, at: usize) {
        let group = &self.profile.groups[at];
        let chosen = self.random.below(self.members[at].files.len());
        let before = self.members[at].files[chosen];
        let to = self.members[at].directories[self.random.below(self.members[at].directories.len())];
        let after = File { directory: to, serial: self.name(group.name_length).serial, ..before };
        self.members[at].files[chosen] = after;
        self.directories[to as usize].files += 1;
        self.directories[before.directory as usize].files -= 1;
        self.queue.push_back(Operation::Rename { place: place(&before, group), to: place(&after, group) });
        if group.directories.files.is_some() {
            self.remove_empty(at, before.directory);
        }
    }

    /// One act of refilling.
    fn act(&mut self, room: u64) {
        let at = self.random.weighted(self.profile.groups.iter().map(|group| group.weight));
        let acts = self.profile.groups[at].acts;
        if self.members[at].files.is_empty() {
            return self.create(at, room);
        }
        let weights = [acts.create, acts.append, acts.replace, acts.overwrite, acts.rename];
        match self.random.weighted(weights.iter().copied()) {
            0 => self.create(at, room),
            1 => self.append(at, room),
            2 => self.edit(at, room),
            3 => self.overwrite(at),
            _ => self.rename(at),
        }
    }

    /// The group whose share of the space is least, or largest, beside what the profile gives it.
    fn group_by_space(&self, largest: bool) -> usize {
        let part = |at: usize| self.members[at].used as f64 / self.profile.groups[at].space;
        let groups = (0..self.members.len()).filter(|&at| !largest || !self.members[at].files.is_empty());
        let better = |best: usize, next: usize| if (part(next) > part(best)) == largest { next } else { best };
        groups.reduce(better).unwrap_or(0)
    }

    /// Space is freed by one file.
    fn free_one(&mut self) {
        let at = self.group_by_space(true);
        let group: &Group = &self.profile.groups[at];
        let chosen = self.members[at].victim(group, self.born, &mut self.random);
        let file = self.members[at].files[chosen];
        let rest = ((file.bytes as f64 * group.rewritten_to) as u64).max(1);
        if group.freed_by == FreedBy::Rewrite && space(rest) < space(file.bytes) {
            return self.replace(at, chosen, rest);
        }
        self.members[at].files.swap_remove(chosen);
        self.directories[file.directory as usize].files -= 1;
        self.account(at, file.bytes, 0);
        self.queue.push_back(Operation::Delete { place: place(&file, group) });
        if group.directories.files.is_some() {
            self.remove_empty(at, file.directory);
        }
    }

    fn end_cycle(&mut self) {
        self.cycle += 1;
        self.queue.push_back(Operation::EndOfCycle { number: self.cycle });
    }

    /// A cycle ends at a level of its own; enough is freed to get there, and the profile's share of it more.
    fn next_cycle(&mut self) -> Phase {
        let [low, high] = self.profile.settle;
        let level = low + (high - low) * self.random.share();
        let then = (self.capacity as f64 * level) as u64;
        Phase::Deleting { to: (self.used.min(then) as f64 * (1.0 - self.profile.delete)) as u64, then }
    }

    fn has_files(&self) -> bool {
        self.members.iter().any(|members| !members.files.is_empty())
    }

    /// One step of what is being done; it may have no act.
    fn step(&mut self) {
        match self.phase {
            Phase::Begin => self.begin(),
            Phase::Filling => match self.room((self.capacity as f64 * self.profile.fill) as u64) {
                0 => {
                    self.end_cycle();
                    self.phase = self.next_cycle();
                }
                room => self.create(self.group_by_space(false), room),
            },
            Phase::Deleting { to, .. } if self.used > to && self.has_files() => self.free_one(),
            Phase::Deleting { then, .. } => self.phase = Phase::Refilling { to: then },
            Phase::Refilling { to } => match self.room(to) {
                0 => {
                    self.end_cycle();
                    self.phase = self.next_cycle();
                }
                room => self.act(room),
            },
            Phase::Last { to } if self.used > to + LAST_SLACK && self.has_files() => self.free_one(),
            Phase::Last { to } => match self.room(to) {
                0 => {
                    self.end_cycle();
                    self.phase = Phase::Ended;
                }
                room => self.create(self.group_by_space(false), room),
            },
            Phase::Ended => {}
        }
    }

    /// Bytes up to a level, in whole blocks.
    fn room(&self, to: u64) -> u64 {
        to.saturating_sub(self.used) / BLOCK_BYTES * BLOCK_BYTES
    }
}

impl Iterator for Generator<'_> {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        while self.queue.is_empty() {
            if self.phase == Phase::Ended {
                return None;
            }
            self.step();
        }
        let next = self.queue.pop_front()?;
        self.planned_bytes += next.written_bytes();
        self.count += 1;
        Some(next)
    }
}

#[cfg(test)]
mod tests;
