//! What happens in a life, one act after another.

use crate::numbers::{mixed, mixed_short};
use std::ffi::CStr;

/// Characters of a name at most, and its end.
pub(crate) const NAME_BYTES: usize = 65;

/// A name: what it is numbered in this life, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// No two names of a life have the same number.
    pub serial: u32,
    /// Characters, 9 to 64.
    pub length: u8,
}

impl Name {
    /// The name's letters: `f` and hexadecimal digits, which look like no order in which they were made.
    pub fn write(self, into: &mut [u8; NAME_BYTES]) -> &CStr {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let length = usize::from(self.length).clamp(9, NAME_BYTES - 1);
        into[0] = b'f';
        // The first eight digits are of this name alone; what follows only makes it longer.
        let mut bits = u64::from(mixed_short(self.serial));
        for (at, byte) in into[1..length].iter_mut().enumerate() {
            if at >= 8 && at % 8 == 0 {
                bits = mixed(u64::from(self.serial) ^ (at as u64) << 32);
            }
            *byte = DIGITS[(bits >> (28 - 4 * (at % 8))) as usize & 15];
        }
        into[length] = 0;
        CStr::from_bytes_until_nul(into).unwrap_or_default()
    }

    /// The same as text.
    pub fn text(self) -> String {
        self.write(&mut [0; NAME_BYTES]).to_string_lossy().into_owned()
    }
}

/// A place in the tree: a folder by its number (0 is the folder of the life itself), and a name in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The folder.
    pub directory: u32,
    /// The name.
    pub name: Name,
}

/// An act. Bytes are those of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A new folder, which has this number from here on; the next one in order.
    MakeDirectory {
        /// Its number.
        number: u32,
        /// Where.
        place: Place,
    },
    /// An empty folder goes.
    RemoveDirectory {
        /// Its number.
        number: u32,
        /// Where.
        place: Place,
    },
    /// A new file is written.
    Create {
        /// Where.
        place: Place,
        /// Its size.
        bytes: u64,
    },
    /// Something is added to a file.
    Append {
        /// Where.
        place: Place,
        /// Its size before.
        from: u64,
        /// What is added.
        bytes: u64,
    },
    /// A part of a file is written anew, in place.
    Overwrite {
        /// Where.
        place: Place,
        /// Where the part begins.
        from: u64,
        /// How long it is.
        bytes: u64,
    },
    /// A new file is written under another name, and takes the place of an old one.
    Replace {
        /// Of the old one.
        place: Place,
        /// The name under which it is written, in the same folder.
        temporary: Name,
        /// Its size.
        bytes: u64,
        /// It is synced before it is renamed.
        sync: bool,
    },
    /// A file gets another name.
    Rename {
        /// Its old place.
        place: Place,
        /// Its new one.
        to: Place,
    },
    /// A file goes.
    Delete {
        /// Where.
        place: Place,
    },
    /// A file is synced (`fsync`), when what was asked of it before is done.
    Sync {
        /// Where.
        place: Place,
    },
    /// All that is under way is done, and the filesystem is synced (`syncfs`).
    EndOfCycle {
        /// Cycles so far; the first filling is the first.
        number: u32,
    },
}

impl Operation {
    /// Bytes that it writes into files.
    pub fn written_bytes(&self) -> u64 {
        match *self {
            Operation::Create { bytes, .. }
            | Operation::Append { bytes, .. }
            | Operation::Overwrite { bytes, .. }
            | Operation::Replace { bytes, .. } => bytes,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_of_one_length_and_of_one_life_each() {
        for length in [9, 12, 17, 38, 64] {
            let names: BTreeSet<String> = (0..20_000).map(|serial| Name { serial, length }.text()).collect();
            assert_eq!(names.len(), 20_000);
            let is_plain =
                |name: &String| name.len() == usize::from(length) && name.bytes().all(|b| b.is_ascii_alphanumeric());
            assert!(names.iter().all(is_plain), "{length}");
        }
    }
}
