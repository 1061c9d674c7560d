//! All files of a tree, in the order in which the filesystem lists them.

use crate::beneath::{MOST_DEPTH, entries, open_folder};
use crate::state;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// A fresh copy lies here while it is needed.
pub const FRESH: &CStr = c".fairlane-fresh";

/// A file or folder as a walk sees it.
pub(crate) struct Found<'a> {
    pub(crate) folder: BorrowedFd<'a>,
    pub(crate) name: &'a CStr,
    pub(crate) bytes: u64,
    pub(crate) allocated: u64,
    pub(crate) modified_ns: u64,
}

/// What a walk does.
pub(crate) trait Visitor {
    /// A folder, before what lies in it.
    fn folder(&mut self, _folder: BorrowedFd, _name: &CStr, _depth: usize) {}
    /// Whether a folder is entered.
    fn enters(&self, _name: &CStr) -> bool {
        true
    }
    /// A regular file. Whether the walk goes on.
    fn file(&mut self, file: &Found) -> Result<bool, Errno>;
    /// Whether files are looked at (`stat`) before they are handed over.
    fn looks(&self) -> bool {
        true
    }
}

/// Walks a tree depth first, each folder in its own order; what is mounted, links and all that is no file is passed over.
/// `in_name_order`: by names instead, as a copy is made.
pub(crate) fn walk(root: impl AsFd, in_name_order: bool, visitor: &mut dyn Visitor) -> Result<(), Errno> {
    let root = Rc::new(root.as_fd().try_clone_to_owned().map_err(|of| Errno::from_io_error(&of).unwrap_or(Errno::IO))?);
    // A folder is opened when its turn comes, from the one above it.
    let mut folders: Vec<(Rc<OwnedFd>, CString, usize)> = vec![(root, c".".to_owned(), 0)];
    while let Some((above, name, depth)) = folders.pop() {
        let folder = match open_folder(above.as_fd(), &name) {
            Ok(folder) => Rc::new(folder),
            Err(Errno::NOENT | Errno::XDEV | Errno::LOOP | Errno::NOTDIR) => continue,
            Err(errno) => return Err(errno),
        };
        visitor.folder(folder.as_fd(), &name, depth);
        let mut found = entries(folder.as_fd())?;
        if in_name_order {
            found.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let mut below = Vec::new();
        for (name, kind) in found {
            let here = name.as_c_str();
            let is_none = here == FRESH || here == state::LOST_AND_FOUND || state::NAMES.contains(&here);
            match kind {
                _ if depth == 0 && is_none => {}
                FileType::Directory if depth < MOST_DEPTH && visitor.enters(here) => {
                    below.push((Rc::clone(&folder), name, depth + 1))
                }
                FileType::Directory => {}
                FileType::RegularFile if visitor.file(&looked_at(folder.as_fd(), &name, visitor.looks())?)? => {}
                FileType::RegularFile => return Ok(()),
                _ => {}
            }
        }
        folders.extend(below.into_iter().rev());
    }
    Ok(())
}

fn looked_at<'a>(folder: BorrowedFd<'a>, name: &'a CStr, looks: bool) -> Result<Found<'a>, Errno> {
    if !looks {
        return Ok(Found { folder, name, bytes: 0, allocated: 0, modified_ns: 0 });
    }
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let modified_ns = (stat.st_mtime as u64).wrapping_mul(1_000_000_000).wrapping_add(stat.st_mtime_nsec as u64);
    Ok(Found { folder, name, bytes: stat.st_size as u64, allocated: stat.st_blocks as u64 * 512, modified_ns })
}

impl Found<'_> {
    /// Opens the file to read it, and nothing else that may have its name by now.
    pub(crate) fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(self.folder, self.name, flags, Mode::empty())
    }
}
