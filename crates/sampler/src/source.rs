//! A file of /proc, kept open and read again from its beginning.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Files of /proc that the kernel makes anew at every read. A file that is not there, or not
/// readable, reads as empty: a guest kernel may lack any of them.
#[derive(Debug)]
pub(crate) struct Source {
    file: Option<File>,
    text: Vec<u8>,
}

impl Source {
    /// Opens the file; `usual_bytes` is room that its text usually fits into.
    pub(crate) fn open(path: impl AsRef<Path>, usual_bytes: usize) -> Self {
        Source { file: File::open(path).ok(), text: vec![0; usual_bytes] }
    }

    /// Whether the file could be opened.
    pub(crate) fn is_there(&self) -> bool {
        self.file.is_some()
    }

    /// The whole text as it is now.
    pub(crate) fn read(&mut self) -> &[u8] {
        let Some(file) = &self.file else { return &[] };
        let mut filled = 0;
        loop {
            match file.read_at(&mut self.text[filled..], filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return &[],
            }
            if filled == self.text.len() {
                self.text.resize(filled * 2, 0);
            }
        }
        &self.text[..filled]
    }

    /// The beginning of the text, as much as one read into the room gives: one call, where the first
    /// lines hold all that is wanted.
    pub(crate) fn read_beginning(&mut self) -> &[u8] {
        match self.file.as_ref().map(|file| file.read_at(&mut self.text, 0)) {
            Some(Ok(count)) => &self.text[..count],
            _ => &[],
        }
    }
}

/// The fields of a line, parted by blanks.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// The lines of a text.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// A whole number; anything else is 0.
pub(crate) fn number(field: &[u8]) -> u64 {
    std::str::from_utf8(field).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_text_longer_than_the_room_is_read_whole_and_again() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "{}", "x".repeat(1000)).unwrap();
        let mut source = Source::open(file.path(), 16);
        assert_eq!(source.read().len(), 1000);
        write!(file, "yy").unwrap();
        assert_eq!(source.read().len(), 1002);
        assert_eq!(Source::open(file.path(), 16).read_beginning().len(), 16);
    }

    #[test]
    fn a_missing_file_reads_as_empty() {
        let mut source = Source::open("/proc/there-is-no-such-file", 16);
        assert!(source.read().is_empty() && source.read_beginning().is_empty() && !source.is_there());
    }

    #[test]
    fn fields_and_numbers_are_told_apart() {
        let found: Vec<&[u8]> = fields(b"  8  0 sda\t12 ").collect();
        assert_eq!(found, [b"8".as_slice(), b"0", b"sda", b"12"]);
        assert_eq!((number(b"12"), number(b"-1"), number(b"x")), (12, 0, 0));
    }
}
