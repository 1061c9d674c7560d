//! System calls of interest, a row each: what they are in a trace, and where their arguments stand.

use trace::CALLS;

/// Arguments that say a path: the descriptor that it is relative to (`None`: the working directory), and its address.
pub(crate) type PathAt = (Option<usize>, usize);

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Makes an open file. Arguments: its path, its flags (`None`: those of creat), its mode.
    Open(PathAt, Option<usize>, usize),
    /// As above, with a `struct open_how`.
    OpenHow(PathAt, usize),
    /// Names a path; its other arguments.
    Path(PathAt, &'static [usize]),
    /// The same; where the path is empty it works on the descriptor, as this other call.
    PathOrFile(PathAt, &'static [usize], &'static str),
    /// Names two.
    Paths(PathAt, PathAt, &'static [usize]),
    /// A link to a text, with the text's address.
    Symlink(usize, PathAt),
    /// Works on an open file; its other arguments.
    File(usize, &'static [usize]),
    /// Works on one, and what it writes begins there.
    Writes(usize, usize, &'static [usize]),
    /// Works on one with a list of buffers: its file, where the list is, how many there are, and where it begins in the file.
    Vector(usize, usize, usize, Option<usize>),
    /// From one file to another, each with where the address of its offset is; and how many bytes.
    Files((usize, Option<usize>), (usize, Option<usize>), usize),
    /// Works on none.
    Nothing(&'static [usize]),
    /// Forgets a descriptor.
    Close,
    /// Forgets those from one to another, with flags.
    CloseRange,
    /// Has descriptors or a directory of its own.
    Unshare,
    /// Another descriptor of the same file: the new one is what is returned.
    Duplicate,
    /// The same onto a descriptor, whose file is closed; flags stand there.
    DuplicateOnto(Option<usize>),
    /// Descriptors, locks.
    Fcntl,
    /// Clones of files among much else.
    Ioctl,
    /// Changes where relative paths begin.
    Directory,
    /// The same, by a descriptor.
    DirectoryOf,
    /// Another program.
    Execute(PathAt),
    /// Waits for the end of a process: where it says which (`None`: what is returned tells), and its options.
    Wait(Option<usize>, usize),
    /// Its requests go past the tracer.
    Uring,
    /// From then on a filter may forbid calls that the program does not ask for itself.
    Filter,
}

/// One system call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemCall {
    pub(crate) number: i64,
    /// Its name in the trace; empty: it is only followed.
    pub(crate) name: &'static str,
    pub(crate) asks: Asks,
}

const fn row(number: libc::c_long, name: &'static str, asks: Asks) -> SystemCall {
    #[allow(clippy::unnecessary_cast, reason = "32-bit machines have it shorter")]
    SystemCall { number: number as i64, name, asks }
}

/// Linux 6.6, the same number everywhere.
const FCHMODAT2: libc::c_long = 452;

const AT: PathAt = (Some(0), 1);
const HERE: PathAt = (None, 0);

/// What both kinds of CPU have.
static ROWS: &[SystemCall] = &[
    row(libc::SYS_openat, "openat", Asks::Open(AT, Some(2), 3)),
    row(libc::SYS_openat2, "openat", Asks::OpenHow(AT, 2)),
    row(libc::SYS_close, "close", Asks::Close),
    row(libc::SYS_close_range, "", Asks::CloseRange),
    row(libc::SYS_read, "read", Asks::File(0, &[2])),
    row(libc::SYS_pread64, "pread64", Asks::File(0, &[2, 3])),
    row(libc::SYS_write, "write", Asks::Writes(0, 1, &[2])),
    row(libc::SYS_pwrite64, "pwrite64", Asks::Writes(0, 1, &[2, 3])),
    row(libc::SYS_readv, "read", Asks::Vector(0, 1, 2, None)),
    row(libc::SYS_writev, "write", Asks::Vector(0, 1, 2, None)),
    row(libc::SYS_preadv, "pread64", Asks::Vector(0, 1, 2, Some(3))),
    row(libc::SYS_pwritev, "pwrite64", Asks::Vector(0, 1, 2, Some(3))),
    row(libc::SYS_preadv2, "pread64", Asks::Vector(0, 1, 2, Some(3))),
    row(libc::SYS_pwritev2, "pwrite64", Asks::Vector(0, 1, 2, Some(3))),
    row(libc::SYS_lseek, "lseek", Asks::File(0, &[1, 2])),
    row(libc::SYS_fsync, "fsync", Asks::File(0, &[])),
    row(libc::SYS_fdatasync, "fdatasync", Asks::File(0, &[])),
    row(libc::SYS_sync_file_range, "sync_file_range", Asks::File(0, &[1, 2, 3])),
    row(libc::SYS_syncfs, "syncfs", Asks::File(0, &[])),
    row(libc::SYS_sync, "sync", Asks::Nothing(&[])),
    row(libc::SYS_truncate, "truncate", Asks::Path(HERE, &[1])),
    row(libc::SYS_ftruncate, "ftruncate", Asks::File(0, &[1])),
    row(libc::SYS_fallocate, "fallocate", Asks::File(0, &[1, 2, 3])),
    row(libc::SYS_renameat2, "renameat2", Asks::Paths(AT, (Some(2), 3), &[4])),
    row(libc::SYS_renameat, "renameat2", Asks::Paths(AT, (Some(2), 3), &[])),
    row(libc::SYS_linkat, "linkat", Asks::Paths(AT, (Some(2), 3), &[4])),
    row(libc::SYS_symlinkat, "symlinkat", Asks::Symlink(0, (Some(1), 2))),
    row(libc::SYS_unlinkat, "unlinkat", Asks::Path(AT, &[2])),
    row(libc::SYS_mkdirat, "mkdirat", Asks::Path(AT, &[2])),
    row(libc::SYS_mknodat, "mknodat", Asks::Path(AT, &[2])),
    row(libc::SYS_newfstatat, "newfstatat", Asks::PathOrFile(AT, &[3], "fstat")),
    row(libc::SYS_statx, "newfstatat", Asks::PathOrFile(AT, &[2], "fstat")),
    row(libc::SYS_fstat, "fstat", Asks::File(0, &[])),
    row(libc::SYS_faccessat, "faccessat", Asks::Path(AT, &[2])),
    row(libc::SYS_faccessat2, "faccessat", Asks::Path(AT, &[2])),
    row(libc::SYS_readlinkat, "readlinkat", Asks::Path(AT, &[])),
    row(libc::SYS_getdents64, "getdents64", Asks::File(0, &[2])),
    row(libc::SYS_fchmodat, "fchmodat", Asks::Path(AT, &[2])),
    row(FCHMODAT2, "fchmodat", Asks::Path(AT, &[2])),
    row(libc::SYS_fchmod, "fchmod", Asks::File(0, &[1])),
    row(libc::SYS_fchownat, "fchownat", Asks::Path(AT, &[2, 3])),
    row(libc::SYS_fchown, "fchown", Asks::File(0, &[1, 2])),
    row(libc::SYS_utimensat, "utimensat", Asks::PathOrFile(AT, &[], "futimens")),
    row(libc::SYS_setxattr, "setxattr", Asks::Path(HERE, &[3])),
    row(libc::SYS_lsetxattr, "setxattr", Asks::Path(HERE, &[3])),
    row(libc::SYS_getxattr, "getxattr", Asks::Path(HERE, &[3])),
    row(libc::SYS_lgetxattr, "getxattr", Asks::Path(HERE, &[3])),
    row(libc::SYS_listxattr, "listxattr", Asks::Path(HERE, &[])),
    row(libc::SYS_llistxattr, "listxattr", Asks::Path(HERE, &[])),
    row(libc::SYS_removexattr, "removexattr", Asks::Path(HERE, &[])),
    row(libc::SYS_fsetxattr, "fsetxattr", Asks::File(0, &[3])),
    row(libc::SYS_fgetxattr, "fgetxattr", Asks::File(0, &[3])),
    row(libc::SYS_flistxattr, "flistxattr", Asks::File(0, &[])),
    row(libc::SYS_flock, "flock", Asks::File(0, &[1])),
    row(libc::SYS_fcntl, "fcntl_lock", Asks::Fcntl),
    row(libc::SYS_ioctl, "ficlone", Asks::Ioctl),
    row(libc::SYS_mmap, "mmap", Asks::File(4, &[1, 5, 2, 3])),
    row(libc::SYS_msync, "msync", Asks::Nothing(&[0, 1, 2])),
    row(libc::SYS_copy_file_range, "copy_file_range", Asks::Files((0, Some(1)), (2, Some(3)), 4)),
    row(libc::SYS_sendfile, "sendfile", Asks::Files((1, Some(2)), (0, None), 3)),
    row(libc::SYS_statfs, "statfs", Asks::Path(HERE, &[])),
    row(libc::SYS_fadvise64, "fadvise64", Asks::File(0, &[1, 2, 3])),
    row(libc::SYS_execve, "execve", Asks::Execute(HERE)),
    row(libc::SYS_execveat, "execve", Asks::Execute(AT)),
    row(libc::SYS_wait4, "", Asks::Wait(None, 2)),
    row(libc::SYS_waitid, "", Asks::Wait(Some(1), 3)),
    row(libc::SYS_dup, "dup", Asks::Duplicate),
    row(libc::SYS_dup3, "dup", Asks::DuplicateOnto(Some(2))),
    row(libc::SYS_chdir, "", Asks::Directory),
    row(libc::SYS_fchdir, "", Asks::DirectoryOf),
    row(libc::SYS_unshare, "", Asks::Unshare),
    row(libc::SYS_prctl, "", Asks::Filter),
    row(libc::SYS_seccomp, "", Asks::Filter),
    row(libc::SYS_io_uring_setup, "", Asks::Uring),
    row(libc::SYS_io_setup, "", Asks::Uring),
];

/// What x86-64 has besides, from before there were descriptors of folders.
#[cfg(target_arch = "x86_64")]
static OLDER: &[SystemCall] = &[
    row(libc::SYS_open, "openat", Asks::Open(HERE, Some(1), 2)),
    row(libc::SYS_creat, "openat", Asks::Open(HERE, None, 1)),
    row(libc::SYS_stat, "newfstatat", Asks::Path(HERE, &[])),
    row(libc::SYS_lstat, "newfstatat", Asks::Path(HERE, &[])),
    row(libc::SYS_access, "faccessat", Asks::Path(HERE, &[1])),
    row(libc::SYS_rename, "renameat2", Asks::Paths(HERE, (None, 1), &[])),
    row(libc::SYS_link, "linkat", Asks::Paths(HERE, (None, 1), &[])),
    row(libc::SYS_symlink, "symlinkat", Asks::Symlink(0, (None, 1))),
    row(libc::SYS_unlink, "unlinkat", Asks::Path(HERE, &[])),
    row(libc::SYS_mkdir, "mkdirat", Asks::Path(HERE, &[1])),
    row(libc::SYS_rmdir, "unlinkat", Asks::Path(HERE, &[])),
    row(libc::SYS_mknod, "mknodat", Asks::Path(HERE, &[1])),
    row(libc::SYS_readlink, "readlinkat", Asks::Path(HERE, &[])),
    row(libc::SYS_getdents, "getdents64", Asks::File(0, &[2])),
    row(libc::SYS_chmod, "fchmodat", Asks::Path(HERE, &[1])),
    row(libc::SYS_chown, "fchownat", Asks::Path(HERE, &[1, 2])),
    row(libc::SYS_lchown, "fchownat", Asks::Path(HERE, &[1, 2])),
    row(libc::SYS_utime, "utimensat", Asks::Path(HERE, &[])),
    row(libc::SYS_utimes, "utimensat", Asks::Path(HERE, &[])),
    row(libc::SYS_futimesat, "utimensat", Asks::Path(AT, &[])),
    row(libc::SYS_dup2, "dup", Asks::DuplicateOnto(None)),
];
#[cfg(not(target_arch = "x86_64"))]
static OLDER: &[SystemCall] = &[];

/// AT_REMOVEDIR, which `rmdir` is told without.
pub(crate) const REMOVE_DIRECTORY: i64 = libc::AT_REMOVEDIR as i64;

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static SystemCall> {
    ROWS.iter().chain(OLDER)
}

/// Their numbers, the commonest first: the filter asks in this order.
pub(crate) fn numbers() -> Vec<i64> {
    const FIRST: [libc::c_long; 6] =
        [libc::SYS_read, libc::SYS_write, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_openat, libc::SYS_close];
    #[allow(clippy::unnecessary_cast, reason = "32-bit machines have it shorter")]
    let first: Vec<i64> = FIRST.iter().map(|&number| number as i64).collect();
    let rest = all().map(|call| call.number).filter(|number| !first.contains(number));
    first.iter().copied().chain(rest).collect()
}

/// The code of a call's name in a trace.
pub(crate) fn code(name: &str) -> Option<u8> {
    CALLS.iter().find(|row| row.name == name).map(|row| row.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_call_of_traces_and_of_one_number() {
        let numbers = numbers();
        for row in all() {
            assert!(row.name.is_empty() || code(row.name).is_some(), "{row:?}");
            assert_eq!(numbers.iter().filter(|&&number| number == row.number).count(), 1, "{row:?}");
        }
        for row in all() {
            let Some(call) = code(row.name).and_then(trace::call) else { continue };
            let most = |numbers: &[usize]| assert!(numbers.len() <= call.numbers.len(), "{row:?}");
            match row.asks {
                Asks::Path(_, numbers) | Asks::PathOrFile(_, numbers, _) => most(numbers),
                Asks::Paths(_, _, numbers) | Asks::File(_, numbers) => most(numbers),
                Asks::Writes(_, _, numbers) | Asks::Nothing(numbers) => most(numbers),
                _ => {}
            }
        }
    }
}
