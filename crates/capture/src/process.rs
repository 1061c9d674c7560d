//! What is known of traced processes and threads: their open files, and where they stand.

use crate::call_buffer::Buffered;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
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

/// Open files of interest by descriptor. Who shares its descriptors with others (CLONE_FILES) has the same table as they.
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

    fn retain(&self, keeps: impl Fn(i32, &OpenFile) -> bool) {
        self.0.borrow_mut().retain(|&descriptor, file| keeps(descriptor, file));
    }

    /// Closes descriptors, as `close_range` does.
    pub(crate) fn close(&self, range: &RangeInclusive<i32>) {
        self.retain(|descriptor, _| !range.contains(&descriptor));
    }

    pub(crate) fn set_close_on_exec(&self, descriptor: i32, close: bool) {
        if let Some(file) = self.0.borrow_mut().get_mut(&descriptor) {
            Rc::make_mut(file).close_on_exec = close;
        }
    }

    /// From now on a table of its own with the same files, as `fork` makes it; what nobody else has is its own already.
    fn unshare(&mut self) {
        if Rc::strong_count(&self.0) > 1 {
            let copied = self.0.borrow().clone();
            *self = Files(Rc::new(RefCell::new(copied)));
        }
    }
}

/// Where relative paths begin. Who shares it with others (CLONE_FS) has the same one as they.
#[derive(Debug, Clone)]
pub(crate) struct Directory(Rc<RefCell<Rc<Path>>>);

impl Directory {
    fn new(path: Rc<Path>) -> Directory {
        Directory(Rc::new(RefCell::new(path)))
    }

    pub(crate) fn get(&self) -> Rc<Path> {
        self.0.borrow().clone()
    }

    pub(crate) fn set(&self, path: Rc<Path>) {
        *self.0.borrow_mut() = path;
    }

    fn unshare(&mut self) {
        if Rc::strong_count(&self.0) > 1 {
            *self = Directory::new(self.get());
        }
    }
}

/// Descriptors and directory of a thread. The kernel keeps them by thread: those of one process usually share them, as `pthread_create`
/// asks for, until one of them unshares them.
#[derive(Debug, Clone)]
pub(crate) struct FileContext {
    pub(crate) files: Files,
    pub(crate) directory: Directory,
}

/// Which of them a thread has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) files: bool,
    pub(crate) directory: bool,
}

impl Own {
    /// Once `unshare` succeeded with these flags. Who has its own mounts or users has its own directory too (kernel/fork.c,
    /// ksys_unshare).
    pub(crate) fn by_flags(flags: u64) -> Own {
        const DIRECTORY: u64 = (libc::CLONE_FS | libc::CLONE_NEWNS | libc::CLONE_NEWUSER) as u64;
        Own { files: flags & libc::CLONE_FILES as u64 != 0, directory: flags & DIRECTORY != 0 }
    }

    /// Of a new thread that another one began; where the kernel does not tell, threads of one process share both, and processes
    /// neither.
    pub(crate) fn of_new(thread: i32, by: i32, is_process: bool) -> Own {
        let is_own = |order: Option<Ordering>| order.map_or(is_process, |order| order != Ordering::Equal);
        Own { files: is_own(order_of_tables(thread, by)), directory: is_own(order_of_directories(thread, by)) }
    }
}

impl FileContext {
    /// Where a thread stands now, as the kernel tells; its files are not looked for.
    pub(crate) fn as_it_is(thread: i32) -> FileContext {
        let directory = std::fs::read_link(format!("/proc/{thread}/cwd")).unwrap_or_else(|_| PathBuf::from("/"));
        FileContext { files: Files::default(), directory: Directory::new(directory.into()) }
    }

    /// That of a thread which this one begins: copies of what the new one has for itself, and the rest is shared.
    pub(crate) fn makes(&self, own: Own) -> FileContext {
        let mut made = self.clone();
        made.unshares(own);
        made
    }

    /// Others keep what they share, and this one has copies.
    pub(crate) fn unshares(&mut self, own: Own) {
        if own.files {
            self.files.unshare();
        }
        if own.directory {
            self.directory.unshare();
        }
    }

    /// What `exec` leaves: also of what was marked or closed in a way that is not followed. Its descriptors are its own then.
    pub(crate) fn executes(&mut self, pid: i32) {
        self.files.unshare();
        let is_there = |descriptor: i32| Path::new(&format!("/proc/{pid}/fd/{descriptor}")).symlink_metadata().is_ok();
        self.files.retain(|descriptor, file| !file.close_on_exec && is_there(descriptor));
    }

    /// Where a path of this thread begins that is relative to a descriptor.
    pub(crate) fn directory_of(&self, thread: i32, descriptor: i32) -> Option<Rc<Path>> {
        if descriptor == libc::AT_FDCWD {
            return Some(self.directory.get());
        }
        if let Some(file) = self.files.get(descriptor) {
            return Some(file.path.as_path().into());
        }
        let link = std::fs::read_link(format!("/proc/{thread}/fd/{descriptor}"));
        link.ok().filter(|path| path.is_absolute()).map(Rc::from)
    }
}

/// A process; its threads share it.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// What it has of the buffer of calls.
    pub(crate) buffered: Buffered,
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

/// How the tables of descriptors of two threads are ordered, `Equal` where it is one (CLONE_FILES). As of files below.
pub(crate) fn order_of_tables(one: i32, other: i32) -> Option<Ordering> {
    const KCMP_FILES: i32 = 2;
    order_of(KCMP_FILES, (one, 0), (other, 0))
}

/// The same of where their relative paths begin (CLONE_FS).
pub(crate) fn order_of_directories(one: i32, other: i32) -> Option<Ordering> {
    const KCMP_FS: i32 = 3;
    order_of(KCMP_FS, (one, 0), (other, 0))
}

/// How the open files of two descriptors are ordered, `Equal` where they are one, as `dup` and `fork` leave them. The order means nothing
/// and stays. `None`: one is gone, or the kernel does not tell.
pub(crate) fn order_of_files(one: (i32, i32), other: (i32, i32)) -> Option<Ordering> {
    const KCMP_FILE: i32 = 0;
    order_of(KCMP_FILE, one, other)
}

/// kcmp(2), linux/kcmp.h.
fn order_of(what: i32, one: (i32, i32), other: (i32, i32)) -> Option<Ordering> {
    let [first, second, what, of_first, of_second] = [one.0, other.0, what, one.1, other.1].map(libc::c_long::from);
    // SAFETY: a question without pointers.
    match unsafe { libc::syscall(libc::SYS_kcmp, first, second, what, of_first, of_second) } {
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
        let mut process = FileContext::as_it_is(own);
        assert_eq!(&*process.directory.get(), std::env::current_dir().unwrap());
        let open = |close_on_exec| OpenFile { number: 0, path: "/a".into(), close_on_exec };
        let all = [(kept + 1000, open(true)), (kept, open(false)), (kept + 2000, open(false))];
        all.into_iter().for_each(|(descriptor, file)| process.files.insert(descriptor, file));
        // One that was made by `fork`, and one that shares its descriptors.
        let [apart, same] = [true, false].map(|files| process.makes(Own { files, directory: true }));
        process.files.remove(kept + 2000);
        process.files.set_close_on_exec(kept + 1000, false);
        let of = |of: &FileContext| [1000, 2000].map(|more| of.files.get(kept + more).map(|file| file.close_on_exec));
        assert_eq!((of(&same), of(&apart)), ([Some(false), None], [Some(true), Some(false)]));
        process.files.set_close_on_exec(kept + 1000, true);
        assert_eq!(process.directory_of(own, kept).as_deref(), Some(Path::new("/a")));
        assert_eq!(process.directory_of(own, libc::AT_FDCWD), Some(process.directory.get()));
        process.executes(own);
        assert_eq!(process.files.0.borrow().keys().copied().collect::<Vec<_>>(), [kept]);
        assert_eq!(of(&same), [Some(true), None], "they are another process's too");
    }

    #[test]
    fn a_thread_that_unshares_has_copies_and_others_keep_what_they_share() {
        let mut main = FileContext { files: Files::default(), directory: Directory::new(Path::new("/a").into()) };
        let open = |number| OpenFile { number, path: "/f".into(), close_on_exec: false };
        (3..6).for_each(|descriptor| main.files.insert(descriptor, open(descriptor as u32)));
        let own = |files, directory| Own { files, directory };
        let (neither, both) = (own(false, false), own(true, true));
        let numbers = |of: &FileContext| [3, 4, 5, 6].map(|at| of.files.get(at).map(|file| file.number));
        let (mut one, other) = (main.makes(neither), main.makes(neither));
        one.unshares(own(true, false));
        // As of `close_range` that unshares; then one opens what the others have open already.
        one.files.close(&(3..=4));
        one.files.insert(3, open(30));
        other.files.insert(6, open(60));
        main.files.remove(5);
        let (of_one, of_others) = ([Some(30), None, Some(5), None], [Some(3), Some(4), None, Some(60)]);
        assert_eq!([numbers(&one), numbers(&other), numbers(&main)], [of_one, of_others, of_others]);
        // The directory is everybody's until it is unshared too.
        let enters = |of: &FileContext, path: &str| of.directory.set(Path::new(path).into());
        enters(&one, "/b");
        assert_eq!(&*main.directory.get(), Path::new("/b"));
        one.unshares(own(false, true));
        enters(&one, "/c");
        enters(&other, "/d");
        let stand = |of: [&FileContext; 3]| of.map(|of| of.directory.get().to_string_lossy().into_owned());
        assert_eq!(stand([&one, &other, &main]), ["/c", "/d", "/d"]);
        // A thread that it begins has what it has, a process has copies; where nobody shares it nothing is copied.
        let (thread, process) = (one.makes(neither), one.makes(both));
        one.files.remove(3);
        enters(&one, "/e");
        assert_eq!((numbers(&thread)[0], numbers(&process)[0]), (None, Some(30)));
        assert_eq!(stand([&one, &thread, &process]), ["/e", "/e", "/c"]);
        drop((other, process));
        let table = Rc::as_ptr(&main.files.0);
        main.unshares(both);
        assert_eq!(Rc::as_ptr(&main.files.0), table);
    }

    #[test]
    fn the_kernel_tells_what_is_shared_and_flags_tell_what_will_not_be() {
        let own = std::process::id() as i32;
        let parent = std::os::unix::process::parent_id() as i32;
        let shared = Own { files: false, directory: false };
        // Two threads of this process, and two processes.
        assert_eq!(Own::of_new(own, own, false), shared);
        assert_eq!(Own::of_new(parent, own, true), Own { files: true, directory: true });
        // Where the kernel tells nothing.
        assert_eq!((Own::of_new(-1, own, false), Own::of_new(-1, own, true).files), (shared, true));
        for (flags, files, directory) in [
            (libc::CLONE_FILES, true, false),
            (libc::CLONE_FS, false, true),
            (libc::CLONE_FILES | libc::CLONE_NEWNS, true, true),
            (libc::CLONE_NEWUSER, false, true),
            (libc::CLONE_NEWNET | libc::CLONE_SYSVSEM, false, false),
        ] {
            assert_eq!(Own::by_flags(flags as u64), Own { files, directory }, "{flags:x}");
        }
    }
}
