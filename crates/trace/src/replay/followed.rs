//! Which calls are done again, and which are left out.

use crate::calls::code;
use crate::{Before, NOT_FOLLOWED, Operation, call};
use std::collections::HashSet;

/// Errors that hang on who the program was, on when it asked or on the disk that it had, and on nothing that a filesystem does.
const OF_OTHERS: [i32; 16] = [
    libc::EACCES,
    libc::EPERM,
    libc::EROFS,
    libc::ETXTBSY,
    libc::EINTR,
    libc::EAGAIN,
    libc::ENOMEM,
    libc::EMFILE,
    libc::ENFILE,
    libc::EBUSY,
    libc::EBADF,
    libc::EFAULT,
    // The room and the disk that the program had are not the lane's.
    libc::ENOSPC,
    libc::EDQUOT,
    libc::EFBIG,
    libc::EIO,
];

/// The files that are followed.
#[derive(Default)]
pub(super) struct Followed {
    opened: HashSet<u32>,
    /// Paths under which something else than a file, a folder or a link lies.
    special: HashSet<u32>,
}

/// The open files of a call; an open that failed has none, whatever stands there.
pub(super) fn files_of(operation: &Operation) -> &[u32] {
    let count = call(operation.call).map_or(0, |row| row.files);
    let failed = operation.call == code::OPENAT && operation.result < 0;
    &operation.files[..if failed { 0 } else { count }]
}

impl Followed {
    pub(super) fn saw(&mut self, before: &Before) {
        let kind = before.mode & libc::S_IFMT;
        if before.mode != 0 && ![libc::S_IFREG, libc::S_IFDIR, libc::S_IFLNK].contains(&kind) {
            self.special.insert(before.path);
        }
    }

    /// Whether a call is done again.
    pub(super) fn takes(&mut self, operation: &Operation) -> bool {
        let Some(row) = call(operation.call) else { return false };
        let of_others = OF_OTHERS.iter().any(|&errno| operation.result == -i64::from(errno));
        if of_others || [code::DUP, code::MSYNC].contains(&operation.call) {
            return false;
        }
        if operation.paths[..row.paths].iter().any(|path| self.special.contains(path)) {
            return false;
        }
        if operation.call == code::OPENAT {
            if operation.result >= 0 {
                self.opened.insert(operation.files[0]);
            }
            return true;
        }
        let files = files_of(operation).iter().enumerate();
        // What went to a socket can go to nothing.
        let is_sink = |at: usize, file: u32| operation.call == code::SENDFILE && at == 1 && file == NOT_FOLLOWED;
        files.into_iter().all(|(at, file)| self.opened.contains(file) || is_sink(at, *file))
    }
}
