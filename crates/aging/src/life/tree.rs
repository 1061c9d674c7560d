//! The tree as a life has it, without ever asking a filesystem.

use super::operation::{Name, Place};
use crate::numbers::Random;
use crate::profile::{Choose, Group};

/// The block that space is counted in: files of 1 byte take as much. Filesystems may count otherwise.
pub const BLOCK_BYTES: u64 = 4096;

/// A file of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Bytes.
    pub bytes: u64,
    /// Number of its name.
    pub serial: u32,
    /// Its folder.
    pub directory: u32,
    /// Its turn among all files that were ever made.
    pub born: u32,
    /// The cycle in which it was written last.
    pub cycle: u32,
}

/// A folder of the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directory {
    pub(crate) place: Place,
    pub(crate) depth: u32,
    pub(crate) files: u32,
    pub(crate) children: u32,
    /// Where it stands in its group's list; `u32::MAX`: it is gone, or no group's.
    pub(crate) position: u32,
}

/// Files of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    pub(crate) files: Vec<File>,
    /// Folders in which files lie.
    pub(crate) directories: Vec<u32>,
    pub(crate) used: u64,
    /// Where the last file went.
    pub(crate) last: Option<u32>,
}

impl Members {
    /// The file that goes next: of some that are drawn the one that the profile's lifetimes choose.
    pub(crate) fn victim(&self, group: &Group, born: u32, random: &mut Random) -> usize {
        let draws = if group.lifetimes.ages.is_empty() { group.lifetimes.among } else { group.lifetimes.among.max(16) };
        let mut chosen = random.below(self.files.len());
        for _ in 1..draws {
            let other = random.below(self.files.len());
            let (a, b) = (self.files[other].born, self.files[chosen].born);
            let is_better = match group.lifetimes.choose {
                _ if !group.lifetimes.ages.is_empty() => {
                    share_of_age(&group.lifetimes.ages, born - a, born)
                        < share_of_age(&group.lifetimes.ages, born - b, born)
                }
                Choose::Any => false,
                Choose::Young => a > b,
                Choose::Old => a < b,
            };
            if is_better {
                chosen = other;
            }
        }
        chosen
    }
}

/// The weight of an age, where the largest age of the list is that of the oldest file that there may be.
fn share_of_age(ages: &[(u64, f64)], age: u32, oldest: u32) -> f64 {
    let largest = ages.iter().map(|age| age.0).max().unwrap_or(1).max(1);
    let scaled = (f64::from(age) / f64::from(oldest.max(1)) * largest as f64) as u64;
    let nearest = ages.iter().min_by_key(|age| age.0.abs_diff(scaled));
    nearest.map_or(0.0, |age| age.1)
}

/// Bytes that a file takes, in whole blocks.
pub(crate) fn space(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES
}

/// Where a file lies.
pub(crate) fn place(file: &File, group: &Group) -> Place {
    Place { directory: file.directory, name: Name { serial: file.serial, length: group.name_length } }
}
