//! What is known of a traced process: its open files, and where it stands.

use crate::call_buffer::Buffered;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An open file of interest.
#[derive(Debug, Clone)]
pub(crate) struct OpenFile {
    /// In the trace.
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
    pub(crate) close_on_exec: bool,
}

/// Open files of interest by descriptor. Processes that share their descriptors (CLONE_FILES) have the same table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files(Rc<RefCell<Table>>);

type Table = HashMap<i32, Rc<OpenFile>, foldhash::fast::RandomState>;

impl Files {
    pub(crate) fn get(&self, descriptor: i32) -> Option<Rc<OpenFile>> {
        self.0.borrow().get(&descriptor).cloned()
    }

    pub(crate) fn insert(&self, descriptor: i32, file: OpenFile) {
        self.0.borrow_mut().insert(descriptor, Rc::new(file));
    }

    pub(crate) fn remove(&self, descriptor: i32) {
        self.0.borrow_mut().remove(&descriptor);
    }

    pub(crate) fn retain(&self, keeps: impl Fn(i32, &OpenFile) -> bool) {
        self.0.borrow_mut().retain(|&descriptor, file| keeps(descriptor, file));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn set_close_on_exec(&self, descriptor: i32, close: bool) {
        if let Some(file) = self.0.borrow_mut().get_mut(&descriptor) {
            Rc::make_mut(file).close_on_exec = close;
        }
    }

    /// A table of its own with the same files, as `fork` makes it.
    pub(crate) fn copied(&self) -> Files {
        Files(Rc::new(RefCell::new(self.0.borrow().clone())))
    }
}

/// A process; its threads share it.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) files: Files,
    /// Where relative paths begin.
    pub(crate) directory: PathBuf,
    /// What it has of the buffer of calls.
    pub(crate) buffered: Buffered,
}

impl Process {
    /// As the kernel tells of it now.
    pub(crate) fn as_it_is(pid: i32) -> Process {
        let directory = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_else(|_| PathBuf::from("/"));
        Process { files: Files::default(), directory, buffered: Buffered::default() }
    }

    /// One that this one makes; `shares`: with its descriptors.
    pub(crate) fn makes(&self, shares: bool, buffered: Buffered) -> Process {
        let files = if shares { self.files.clone() } else { self.files.copied() };
        Process { files, directory: self.directory.clone(), buffered }
    }

    /// `close_range`; `is_unshared`: others that share its descriptors keep theirs.
    pub(crate) fn closes(&mut self, range: RangeInclusive<i32>, is_unshared: bool) {
        if is_unshared {
            self.files = self.files.copied();
        }
        self.files.retain(|descriptor, _| !range.contains(&descriptor));
    }

    /// What `exec` leaves: also of what was marked or closed in a way that is not followed. Its descriptors are its own then.
    pub(crate) fn executes(&mut self, pid: i32) {
        self.buffered = Buffered::default();
        self.files = self.files.copied();
        let is_there = |descriptor: i32| Path::new(&format!("/proc/{pid}/fd/{descriptor}")).symlink_metadata().is_ok();
        self.files.retain(|descriptor, file| !file.close_on_exec && is_there(descriptor));
    }

    /// Where a path begins that is relative to a descriptor.
    pub(crate) fn directory_of(&self, pid: i32, descriptor: i32) -> Option<Cow<'_, Path>> {
        if descriptor == libc::AT_FDCWD {
            return Some(Cow::Borrowed(&self.directory));
        }
        if let Some(file) = self.files.get(descriptor) {
            return Some(Cow::Owned(file.path.clone()));
        }
        let link = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
        link.ok().filter(|path| path.is_absolute()).map(Cow::Owned)
    }
}

/// The process that a thread belongs to (proc_pid_status(5)).
pub(crate) fn process_of(thread: i32) -> Option<i32> {
    status_line(thread, "Tgid:")
}

/// Who traces it; 0: nobody.
pub(crate) fn tracer_of(thread: i32) -> Option<i32> {
    status_line(thread, "TracerPid:")
}

/// The state of a process or thread, and the kernel's flags (proc_pid_stat(5)).
pub(crate) fn state_of(thread: i32) -> Option<(char, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{thread}/stat")).ok()?;
    // Its name may have any character.
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?.chars().next()?;
    Some((state, words.nth(5)?.parse().ok()?))
}

/// The process that began it.
pub(crate) fn parent_of(process: i32) -> Option<i32> {
    status_line(process, "PPid:")
}

/// Numbers that a folder of /proc names, in order: processes, threads, descriptors.
pub(crate) fn numbers_in(folder: &str) -> Vec<i32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn status_line(thread: i32, key: &str) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
}

/// Descriptors of regular files and folders that a process has now, with their paths and flags. What has no name any more is left
/// out.
pub(crate) fn descriptors(pid: i32) -> Vec<(i32, PathBuf, i64)> {
    let found = |number: i32| {
        let link = format!("/proc/{pid}/fd/{number}");
        let kind = kind_of(pid, number)?;
        let path = std::fs::read_link(&link).ok()?;
        let is_named = path.is_absolute() && !path.as_os_str().as_bytes().ends_with(b" (deleted)");
        let flags = descriptor_line(pid, number, "flags:");
        let flags = flags.and_then(|flags| i64::from_str_radix(&flags, 8).ok()).unwrap_or(0);
        ([FileType::RegularFile, FileType::Directory].contains(&kind) && is_named).then_some((number, path, flags))
    };
    numbers_in(&format!("/proc/{pid}/fd")).into_iter().filter_map(found).collect()
}

/// What a descriptor is of. Nobody is asked: who serves that filesystem may be stopped.
fn kind_of(pid: i32, descriptor: i32) -> Option<FileType> {
    let of = statx(CWD, format!("/proc/{pid}/fd/{descriptor}"), AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    Some(FileType::from_raw_mode(of.stx_mode.into()))
}

/// Where an open file stands (proc_pid_fdinfo(5)); where a folder stands means something to its filesystem alone.
pub(crate) fn position(pid: i32, descriptor: i32) -> Option<i64> {
    kind_of(pid, descriptor).filter(|kind| *kind == FileType::RegularFile)?;
    descriptor_line(pid, descriptor, "pos:")?.parse().ok()
}

fn descriptor_line(pid: i32, descriptor: i32, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)).map(|of| of.trim().to_owned())
}

/// Whether two processes have the same descriptors (CLONE_FILES); where the kernel does not tell, each has its own.
pub(crate) fn share_descriptors(one: i32, other: i32) -> bool {
    const KCMP_FILES: libc::c_long = 2;
    let [one, other] = [one, other].map(libc::c_long::from);
    // SAFETY: a question without pointers.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0 }
}

/// How the open files of two descriptors are ordered, `Equal` where they are one, as `dup` and `fork` leave them (kcmp(2)). The order
/// means nothing and stays. `None`: one is gone, or the kernel does not tell.
pub(crate) fn order_of_files(one: (i32, i32), other: (i32, i32)) -> Option<Ordering> {
    const KCMP_FILE: i32 = 0;
    // SAFETY: a question without pointers.
    match unsafe { libc::syscall(libc::SYS_kcmp, one.0, other.0, KCMP_FILE, one.1, other.1) } {
        0 => Some(Ordering::Equal),
        1 => Some(Ordering::Less),
        2 => Some(Ordering::Greater),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_from_what_the_kernel_tells() {
        let own = std::process::id() as i32;
        assert_eq!(process_of(own), Some(own));
        assert_eq!(parent_of(own), Some(std::os::unix::process::parent_id() as i32));
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().canonicalize().unwrap();
        assert!(descriptors(own).iter().any(|(_, found, flags)| *found == path && flags & 3 == 2));
        let kept = std::os::fd::AsRawFd::as_raw_fd(file.as_file());
        let (again, apart) = (file.as_file().try_clone().unwrap(), file.reopen().unwrap());
        let [again, apart] = [&again, &apart].map(std::os::fd::AsRawFd::as_raw_fd);
        let order = |one: i32, other: i32| order_of_files((own, one), (own, other));
        assert_eq!((order(kept, again), order(kept, -1)), (Some(Ordering::Equal), None));
        let (there, back) = (order(kept, apart).unwrap(), order(apart, kept).unwrap());
        assert!(there != Ordering::Equal && there == back.reverse(), "{there:?} {back:?}");
        std::os::unix::fs::FileExt::write_at(file.as_file(), b"x", 0).unwrap();
        assert_eq!((position(own, kept), tracer_of(own)), (Some(0), Some(0)));
        assert!(numbers_in("/proc").contains(&own));
        let gone = tempfile::tempfile().unwrap();
        let gone = std::os::fd::AsRawFd::as_raw_fd(&gone);
        assert!(!descriptors(own).iter().any(|(number, ..)| *number == gone), "it has no name");
        let mut process = Process::as_it_is(own);
        assert_eq!(process.directory, std::env::current_dir().unwrap());
        let open = |close_on_exec| OpenFile { number: 0, path: "/a".into(), close_on_exec };
        let all = [(kept + 1000, open(true)), (kept, open(false)), (kept + 2000, open(false))];
        all.into_iter().for_each(|(descriptor, file)| process.files.insert(descriptor, file));
        // One that was made by `fork`, and one that shares its descriptors.
        let [apart, same] = [false, true].map(|shares| process.makes(shares, Buffered::default()));
        process.files.remove(kept + 2000);
        process.files.set_close_on_exec(kept + 1000, false);
        let of = |of: &Process| [1000, 2000].map(|more| of.files.get(kept + more).map(|file| file.close_on_exec));
        assert_eq!((of(&same), of(&apart)), ([Some(false), None], [Some(true), Some(false)]));
        process.files.set_close_on_exec(kept + 1000, true);
        let mut left = process.makes(true, Buffered::default());
        left.closes(kept..=kept + 1500, true);
        assert_eq!((of(&left), of(&same)), ([None, None], [Some(true), None]));
        assert!(share_descriptors(own, own) && !share_descriptors(own, std::os::unix::process::parent_id() as i32));
        assert_eq!(process.directory_of(own, kept).as_deref(), Some(Path::new("/a")));
        assert_eq!(process.directory_of(own, libc::AT_FDCWD).as_deref(), Some(&*process.directory));
        process.executes(own);
        assert_eq!(process.files.0.borrow().keys().copied().collect::<Vec<_>>(), [kept]);
        assert_eq!(of(&same), [Some(true), None], "they are another process's too");
    }
}
