//! Names of the writers' files: always of the same length, and nothing is allocated for one.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// `d000007/w000123.02`: the directory, the writer and its file.
pub(super) struct Name {
    bytes: [u8; 19],
}

impl Name {
    const SLASH: usize = 7;

    pub(super) fn new() -> Self {
        Name { bytes: *b"d000000/w000000.00\0" }
    }

    pub(super) fn set(&mut self, directory: u32, writer: u32, file: u32) {
        self.bytes[Self::SLASH] = b'/';
        put_digits(&mut self.bytes[1..7], directory);
        put_digits(&mut self.bytes[9..15], writer);
        put_digits(&mut self.bytes[16..18], file);
    }

    /// The directory alone: the string ends where the slash would stand.
    pub(super) fn set_directory(&mut self, directory: u32) {
        put_digits(&mut self.bytes[1..7], directory);
        self.bytes[Self::SLASH] = 0;
    }

    pub(super) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).expect("the last byte is always 0")
    }

    pub(super) fn path(&self, top: &Path) -> PathBuf {
        top.join(self.as_c_str().to_string_lossy().as_ref())
    }
}

fn put_digits(room: &mut [u8], mut number: u32) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_equal_length_and_differ() {
        let mut name = Name::new();
        name.set(7, 123, 2);
        assert_eq!(name.as_c_str().to_str(), Ok("d000007/w000123.02"));
        name.set_directory(42);
        assert_eq!(name.as_c_str().to_str(), Ok("d000042"));
        name.set(999_999, 999_999, 63);
        assert_eq!(name.as_c_str().to_str(), Ok("d999999/w999999.63"));
    }
}
