//! Operations as calls of this process: the calls that the operation needs, and no other.

use super::backend::{Access, FileCalls, Operator, Task};
use super::contents::Contents;
use crate::buffers::Room;
use crate::error::EngineError;
use model::operations::Operation;
use rustix::io::Errno;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// The attribute that `setxattr` sets.
pub(crate) const ATTRIBUTE: &CStr = c"user.fairlane";
/// Its bytes.
pub(crate) const ATTRIBUTE_BYTES: usize = 32;
/// Tells an attribute's contents from those of its file.
pub(crate) const OF_ATTRIBUTE: u64 = 1 << 63;
/// Names held at a time while a tree is removed, in bytes.
const NAME_BYTES: usize = 1 << 20;

/// Operations on a filesystem, call by call.
pub(crate) struct InProcess<'a, C: FileCalls> {
    calls: &'a mut C,
    top: PathBuf,
    room: Room,
    /// The file that block operations keep open.
    held: Option<C::File>,
    names: Vec<u8>,
    path: Vec<u8>,
}

impl<'a, C: FileCalls> InProcess<'a, C> {
    /// `room` takes what is read; `top` is for messages.
    pub(crate) fn new(calls: &'a mut C, top: &Path, room: Room) -> Self {
        InProcess { calls, top: top.to_owned(), room, held: None, names: Vec::new(), path: Vec::with_capacity(4096) }
    }

    /// Gives the room back.
    pub(crate) fn into_room(self) -> Room {
        self.room
    }

    #[inline]
    fn create(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let mut file = self.calls.open(task.path, Access::New).map_err(|errno| self.failed("create", task, errno))?;
        self.write_all(&mut file, task, contents, 0)?;
        self.finish(file, task)
    }

    #[inline]
    fn overwrite(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let mut file = self.calls.open(task.path, Access::Write).map_err(|errno| self.failed("open", task, errno))?;
        self.write_all(&mut file, task, contents, 0)?;
        self.finish(file, task)
    }

    #[inline]
    fn append(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let mut file = self.calls.open(task.path, Access::Append).map_err(|errno| self.failed("open", task, errno))?;
        self.write_all(&mut file, task, contents, task.offset)?;
        self.finish(file, task)
    }

    /// Writes the task's bytes from `from` on, block by block.
    #[inline]
    fn write_all(
        &mut self,
        file: &mut C::File,
        task: &Task<'_>,
        contents: &mut Contents,
        from: u64,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        while done < task.bytes {
            let offset = from + done;
            let length = task.block.min(task.bytes - done);
            let bytes = contents.bytes(task.file, task.generation, offset, length as usize);
            let moved =
                self.calls.write(file, bytes, offset).map_err(|errno| self.failed("write", task, errno))? as u64;
            if moved == 0 {
                return Err(self.short("write", task, done));
            }
            done += moved;
        }
        Ok(())
    }

    #[inline]
    fn finish(&mut self, mut file: C::File, task: &Task<'_>) -> Result<u64, EngineError> {
        if task.sync {
            self.calls.sync(&mut file).map_err(|errno| self.failed("sync", task, errno))?;
        }
        self.calls.close(file).map_err(|errno| self.failed("close", task, errno))?;
        Ok(task.bytes)
    }

    #[inline]
    fn read(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let mut file = self.calls.open(task.path, Access::Read).map_err(|errno| self.failed("open", task, errno))?;
        let mut done = 0;
        loop {
            // What is left and one byte more, where that is one block: usually one call, and less
            // than was asked for is the file's end.
            let left = task.bytes - done;
            let wanted = if left <= task.block { left + 1 } else { task.block } as usize;
            let moved = self
                .calls
                .read(&mut file, &mut self.room[..wanted], done)
                .map_err(|errno| self.failed("read", task, errno))?;
            done += moved as u64;
            if moved < wanted || done > task.bytes {
                break;
            }
        }
        self.calls.close(file).map_err(|errno| self.failed("close", task, errno))?;
        if done != task.bytes {
            return Err(self.wrong_size(task, done));
        }
        Ok(done)
    }

    /// The file that block operations keep open.
    fn hold(&mut self, task: &Task<'_>) -> Result<C::File, EngineError> {
        if let Some(file) = self.held.take() {
            return Ok(file);
        }
        let opened = match task.operation {
            Operation::RandomRead => self.calls.open(task.path, Access::Read),
            Operation::RandomWrite => self.calls.open(task.path, Access::Write),
            _ => match self.calls.open(task.path, Access::Write) {
                Ok(mut file) => self.calls.truncate(&mut file, 0).map(|()| file),
                Err(Errno::NOENT) => self.calls.open(task.path, Access::New),
                Err(errno) => Err(errno),
            },
        };
        opened.map_err(|errno| self.failed("open", task, errno))
    }

    #[inline]
    fn write_block(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let mut file = self.hold(task)?;
        self.write_all(&mut file, task, contents, task.offset)?;
        if task.sync {
            self.calls.sync(&mut file).map_err(|errno| self.failed("sync", task, errno))?;
        }
        self.held = Some(file);
        Ok(task.bytes)
    }

    #[inline]
    fn read_block(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let mut file = self.hold(task)?;
        let mut done = 0;
        while done < task.bytes {
            let room = &mut self.room[..(task.bytes - done) as usize];
            let moved = self
                .calls
                .read(&mut file, room, task.offset + done)
                .map_err(|errno| self.failed("read", task, errno))?;
            if moved == 0 {
                return Err(self.short("read", task, done));
            }
            done += moved as u64;
        }
        self.held = Some(file);
        Ok(done)
    }

    fn list(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let mut entries = 0;
        self.calls.list(task.path, &mut |_| entries += 1).map_err(|errno| self.failed("list", task, errno))?;
        if entries != task.entries {
            return Err(self.wrong_entries(task, entries));
        }
        Ok(0)
    }

    /// As `rm -r` does on a directory of files: reads it, removes what it found, then itself.
    fn remove_tree(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let mut removed = 0;
        loop {
            let names = &mut self.names;
            names.clear();
            self.calls
                .list(task.path, &mut |name| {
                    if names.len() < NAME_BYTES {
                        names.extend_from_slice(name);
                        names.push(0);
                    }
                })
                .map_err(|errno| self.failed("list", task, errno))?;
            if self.names.is_empty() {
                break;
            }
            let names = std::mem::take(&mut self.names);
            for name in names.split_inclusive(|byte| *byte == 0) {
                let mut path = std::mem::take(&mut self.path);
                path.clear();
                path.extend_from_slice(task.path.to_bytes());
                path.push(b'/');
                path.extend_from_slice(name);
                let done =
                    CStr::from_bytes_with_nul(&path).map_err(|_| Errno::INVAL).and_then(|path| self.calls.unlink(path));
                self.path = path;
                done.map_err(|errno| self.failed("remove a file in", task, errno))?;
                removed += 1;
            }
            self.names = names;
            // A directory that never empties is not read for ever.
            if removed > task.entries {
                break;
            }
        }
        if removed != task.entries {
            return Err(self.wrong_entries(task, removed));
        }
        self.calls.remove_directory(task.path).map_err(|errno| self.failed("remove directory", task, errno))?;
        Ok(0)
    }

    /// Makes the directory stable that holds the path.
    fn sync_parent(&mut self, task: &Task<'_>, path: &CStr) -> Result<(), EngineError> {
        let bytes = path.to_bytes();
        let end = bytes.iter().rposition(|byte| *byte == b'/');
        self.path.clear();
        self.path.extend_from_slice(end.map_or(b".", |end| &bytes[..end]));
        self.path.push(0);
        let directory = CStr::from_bytes_with_nul(&self.path).unwrap_or(c".");
        self.calls.sync_directory(directory).map_err(|errno| self.failed("sync the directory of", task, errno))
    }

    /// Operations that change names alone: one call, and the directories' fsync.
    #[inline]
    fn change_names(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let (path, other) = (task.path, task.other);
        let (action, done) = match task.operation {
            Operation::Rename | Operation::RenameAcross => ("rename", self.calls.rename(path, other)),
            Operation::Link => ("link", self.calls.link(path, other)),
            // The link holds the name alone: it lies beside its file.
            Operation::Symlink => ("link", self.calls.symlink(file_name(path), other)),
            Operation::Reflink => ("copy by sharing blocks", self.calls.reflink(path, other)),
            Operation::Unlink => ("remove", self.calls.unlink(path)),
            Operation::Mkdir => ("create directory", self.calls.make_directory(path)),
            _ => ("remove directory", self.calls.remove_directory(path)),
        };
        done.map_err(|errno| self.failed(action, task, errno))?;
        if task.sync {
            self.sync_parent(task, path)?;
            if task.operation == Operation::RenameAcross {
                self.sync_parent(task, other)?;
            }
        }
        Ok(0)
    }

    /// Operations that open the file for one call on it.
    fn change_file(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let access = if task.operation == Operation::Fsync { Access::Read } else { Access::Write };
        let mut file = self.calls.open(task.path, access).map_err(|errno| self.failed("open", task, errno))?;
        let (action, done) = match task.operation {
            Operation::Truncate => ("truncate", self.calls.truncate(&mut file, task.bytes)),
            Operation::Fallocate => ("allocate space for", self.calls.allocate(&mut file, task.offset, task.bytes)),
            _ => ("sync", self.calls.sync(&mut file)),
        };
        done.map_err(|errno| self.failed(action, task, errno))?;
        self.finish(file, task)?;
        Ok(0)
    }

    fn set_attribute(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let value = contents.bytes(task.file ^ OF_ATTRIBUTE, task.generation, 0, ATTRIBUTE_BYTES);
        self.calls
            .set_xattr(task.path, ATTRIBUTE, value)
            .map_err(|errno| self.failed("set an attribute of", task, errno))?;
        if task.sync {
            let mut file =
                self.calls.open(task.path, Access::Read).map_err(|errno| self.failed("open", task, errno))?;
            self.calls.sync(&mut file).map_err(|errno| self.failed("sync", task, errno))?;
            self.calls.close(file).map_err(|errno| self.failed("close", task, errno))?;
        }
        Ok(0)
    }

    fn get_attribute(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let mut value = [0; ATTRIBUTE_BYTES + 1];
        let found = self
            .calls
            .get_xattr(task.path, ATTRIBUTE, &mut value)
            .map_err(|errno| self.failed("read an attribute of", task, errno))?;
        if found != ATTRIBUTE_BYTES {
            return Err(EngineError::Contents {
                path: self.shown(task),
                what: format!("has an attribute of {found} bytes instead of {ATTRIBUTE_BYTES}"),
            });
        }
        Ok(0)
    }

    #[inline]
    fn open_and_close(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let file = self.calls.open(task.path, Access::Read).map_err(|errno| self.failed("open", task, errno))?;
        self.calls.close(file).map_err(|errno| self.failed("close", task, errno))?;
        Ok(0)
    }

    fn shown(&self, task: &Task<'_>) -> PathBuf {
        shown(&self.top, task.path)
    }

    #[cold]
    fn failed(&self, action: &'static str, task: &Task<'_>, errno: Errno) -> EngineError {
        EngineError::file(action, self.shown(task), errno)
    }

    #[cold]
    fn short(&self, action: &'static str, task: &Task<'_>, moved: u64) -> EngineError {
        EngineError::Short { action, moved, bytes: task.bytes, offset: task.offset, path: self.shown(task) }
    }

    #[cold]
    fn wrong_size(&self, task: &Task<'_>, found: u64) -> EngineError {
        let holds = if found > task.bytes { "more than".to_owned() } else { format!("{found} of") };
        let what = format!("holds {holds} the {} bytes that it should", task.bytes);
        EngineError::Contents { path: self.shown(task), what }
    }

    #[cold]
    fn wrong_entries(&self, task: &Task<'_>, found: u64) -> EngineError {
        let what = format!("lists {found} entries instead of {}", task.entries);
        EngineError::Contents { path: self.shown(task), what }
    }
}

impl<C: FileCalls> Operator for InProcess<'_, C> {
    #[inline]
    fn operate(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        match task.operation {
            Operation::Create => self.create(task, contents),
            Operation::Stat => {
                self.calls.stat(task.path).map_err(|errno| self.failed("stat", task, errno))?;
                Ok(0)
            }
            Operation::Read => self.read(task),
            Operation::Open => self.open_and_close(task),
            Operation::Overwrite => self.overwrite(task, contents),
            Operation::Append => self.append(task, contents),
            Operation::Write | Operation::RandomWrite => self.write_block(task, contents),
            Operation::RandomRead => self.read_block(task),
            Operation::List => self.list(task),
            Operation::Truncate | Operation::Fallocate | Operation::Fsync => self.change_file(task),
            Operation::Setxattr => self.set_attribute(task, contents),
            Operation::Getxattr => self.get_attribute(task),
            Operation::FsyncDirectory => {
                self.calls.sync_directory(task.path).map_err(|errno| self.failed("sync", task, errno))?;
                Ok(0)
            }
            Operation::RemoveTree => self.remove_tree(task),
            Operation::Rename
            | Operation::RenameAcross
            | Operation::Link
            | Operation::Symlink
            | Operation::Reflink
            | Operation::Unlink
            | Operation::Mkdir
            | Operation::Rmdir => self.change_names(task),
        }
    }

    fn end_of_file(&mut self) -> Result<(), EngineError> {
        match self.held.take() {
            Some(file) => {
                self.calls.close(file).map_err(|errno| EngineError::file("close a file in", &self.top, errno))
            }
            None => Ok(()),
        }
    }
}

/// What stands behind the last slash.
pub(crate) fn file_name(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let at = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    CStr::from_bytes_with_nul(&bytes[at..]).unwrap_or(path)
}

/// A path below the top, for messages.
pub(crate) fn shown(top: &Path, path: &CStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    top.join(std::ffi::OsStr::from_bytes(path.to_bytes()))
}
