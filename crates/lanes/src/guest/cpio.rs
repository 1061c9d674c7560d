//! An initramfs in the one format that kernels unpack: cpio, "newc" (the kernel's
//! Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Component, Path};

/// Writes an archive entry by entry; folders above an entry are made by themselves.
pub(crate) struct Archive<W> {
    to: W,
    inode: u32,
    folders: BTreeSet<String>,
}

/// What an entry is, with its permissions.
enum Mode {
    Folder,
    File(u32),
    Character { major: u32, minor: u32 },
}

impl<W: Write> Archive<W> {
    pub(crate) fn new(to: W) -> Self {
        Archive { to, inode: 0, folders: BTreeSet::new() }
    }

    /// A folder and those above it.
    pub(crate) fn folder(&mut self, path: &str) -> io::Result<()> {
        let path = path.trim_matches('/');
        if path.is_empty() || self.folders.contains(path) {
            return Ok(());
        }
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above)?;
        }
        self.folders.insert(path.to_owned());
        self.entry(path, &Mode::Folder, &[])
    }

    /// A file with these permissions (`0o755`).
    pub(crate) fn file(&mut self, path: &str, permissions: u32, bytes: &[u8]) -> io::Result<()> {
        let path = self.above(path)?;
        self.entry(&path, &Mode::File(permissions), bytes)
    }

    /// A file of so many bytes that are read from somewhere.
    pub(crate) fn copy(&mut self, path: &str, permissions: u32, from: impl Read, length: u64) -> io::Result<()> {
        let path = self.above(path)?;
        self.begin(&path, &Mode::File(permissions), length)?;
        let copied = io::copy(&mut from.take(length), &mut self.to)?;
        if copied != length {
            return Err(io::Error::other(format!("{path} became shorter while it was read")));
        }
        self.pad(length)
    }

    /// A character device.
    pub(crate) fn character(&mut self, path: &str, major: u32, minor: u32) -> io::Result<()> {
        let path = self.above(path)?;
        self.entry(&path, &Mode::Character { major, minor }, &[])
    }

    /// Writes the end and answers what it was written to.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.inode = 0;
        self.header("TRAILER!!!", 0, 0, (0, 0))?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn above(&mut self, path: &str) -> io::Result<String> {
        let clean = Path::new(path).components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if !clean {
            return Err(io::Error::other(format!("{path} is no plain path")));
        }
        let path = path.trim_matches('/').to_owned();
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above)?;
        }
        Ok(path)
    }

    fn entry(&mut self, path: &str, mode: &Mode, bytes: &[u8]) -> io::Result<()> {
        self.begin(path, mode, bytes.len() as u64)?;
        self.to.write_all(bytes)?;
        self.pad(bytes.len() as u64)
    }

    fn begin(&mut self, path: &str, mode: &Mode, length: u64) -> io::Result<()> {
        let (bits, device) = match mode {
            Mode::Folder => (0o040_755, (0, 0)),
            Mode::File(permissions) => (0o100_000 | permissions, (0, 0)),
            Mode::Character { major, minor } => (0o020_600, (*major, *minor)),
        };
        self.inode += 1;
        let length = u32::try_from(length).map_err(|_| io::Error::other(format!("{path} is too large")))?;
        self.header(path, bits, length, device)
    }

    fn header(&mut self, path: &str, mode: u32, length: u32, (major, minor): (u32, u32)) -> io::Result<()> {
        let name_length = path.len() as u32 + 1;
        // inode, mode, uid, gid, links, time, length, the archive's device, the entry's, name, no checksum.
        let fields = [self.inode, mode, 0, 0, 1, 0, length, 0, 0, major, minor, name_length, 0];
        let mut text = String::from("070701");
        fields.iter().for_each(|field| text.push_str(&format!("{field:08X}")));
        self.to.write_all(text.as_bytes())?;
        self.to.write_all(path.as_bytes())?;
        self.to.write_all(&[0])?;
        self.pad((text.len() + path.len() + 1) as u64)
    }

    /// Everything begins at a multiple of 4 bytes.
    fn pad(&mut self, length: u64) -> io::Result<()> {
        self.to.write_all(&[0u8; 3][..(length.wrapping_neg() % 4) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn archive() -> Vec<u8> {
        let mut archive = Archive::new(Vec::new());
        archive.file("/a/b/three", 0o755, b"abc").unwrap();
        archive.file("/a/b/empty", 0o600, b"").unwrap();
        assert!(archive.file("/a/../b", 0o600, b"").is_err());
        archive.finish().unwrap()
    }

    #[test]
    fn what_is_copied_is_as_what_is_given_and_a_file_that_became_shorter_is_refused() {
        let written = |copies: bool| {
            let mut archive = Archive::new(Vec::new());
            match copies {
                true => archive.copy("/x", 0o600, &b"abcde and more"[..], 5).unwrap(),
                false => archive.file("/x", 0o600, b"abcde").unwrap(),
            }
            archive.finish().unwrap()
        };
        assert_eq!(written(true), written(false));
        assert!(Archive::new(Vec::new()).copy("/x", 0o600, &b"abcd"[..], 5).is_err());
    }

    #[test]
    fn entries_begin_at_multiples_of_four_and_the_end_is_named() {
        let bytes = archive();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}"));
        assert!(text.starts_with("070701") && text.contains("TRAILER!!!"));
        assert_eq!(at("abc") % 4, 0);
        assert_eq!(text.matches("070701").count(), 5, "two folders, two files, the end");
    }

    #[test]
    fn cpio_itself_reads_it() {
        let Ok(mut cpio) =
            Command::new("cpio").args(["-t", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        else {
            eprintln!("cpio: skipped, because it is not installed");
            return;
        };
        cpio.stdin.take().unwrap().write_all(&archive()).unwrap();
        let output = cpio.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "a\na/b\na/b/three\na/b/empty\n");
    }
}
