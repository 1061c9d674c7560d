//! A trace's file, read and hashed at once: by its hash it is known to be the one that is meant.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// SHA-256 of what was read.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// In hexadecimal digits.
    pub fn hexadecimal(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Reads a file from its begin, wherever others read it, and hashes what is read.
#[derive(Debug)]
pub struct HashedFile<'a> {
    file: &'a File,
    at: u64,
    fingerprint: &'a mut Fingerprint,
}

impl<'a> HashedFile<'a> {
    /// Of a file that can be read at any place.
    pub fn new(file: &'a File, fingerprint: &'a mut Fingerprint) -> HashedFile<'a> {
        HashedFile { file, at: 0, fingerprint }
    }
}

impl Read for HashedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        self.fingerprint.0.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom};

    #[test]
    fn a_file_is_read_and_hashed_from_its_begin_wherever_others_are() {
        // What every program on Linux can open, and nobody writes while it runs.
        let mut file = File::open(std::env::current_exe().unwrap()).unwrap();
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        file.seek(SeekFrom::Start(100)).unwrap();
        let (mut fingerprint, mut read) = (Fingerprint::default(), Vec::new());
        HashedFile::new(&file, &mut fingerprint).read_to_end(&mut read).unwrap();
        assert!(read == whole);
        let mut all = Fingerprint::default();
        all.0.update(&whole);
        assert_eq!(fingerprint.hexadecimal(), all.hexadecimal());
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Fingerprint::default().hexadecimal(), nothing);
    }
}
