//! How a call is done again: what it asks for, whether it follows links, and whether it moves bytes or a position.

use crate::Operation;
use crate::calls::code;

/// Bytes that a call which failed is given again, at most.
pub const MOST_FAILED_BYTES: u64 = 1 << 20;

/// Bytes that a call asks for when it is done again: no more than the program got.
pub fn asked(call: u8, numbers: [i64; 4], result: i64) -> u64 {
    let wanted = numbers[0].max(0) as u64;
    match call {
        code::WRITE | code::PWRITE64 | code::COPY_FILE_RANGE | code::SENDFILE if result >= 0 => {
            wanted.min(result as u64)
        }
        _ => wanted.min(MOST_FAILED_BYTES),
    }
}

/// Whether a call's result is bytes that were moved.
pub fn moves_bytes(call: u8) -> bool {
    let all = [code::READ, code::PREAD64, code::WRITE, code::PWRITE64, code::COPY_FILE_RANGE, code::SENDFILE];
    all.contains(&call)
}

/// Whether a call follows a link that is the last part of its path.
pub fn follows(call: u8, numbers: [i64; 4], at: usize) -> bool {
    let has = |flag: i32| numbers[0] & i64::from(flag) == i64::from(flag);
    match call {
        code::OPENAT => !(has(libc::O_NOFOLLOW) || has(libc::O_CREAT | libc::O_EXCL)),
        code::NEWFSTATAT => !has(libc::AT_SYMLINK_NOFOLLOW),
        code::LINKAT => at == 0 && has(libc::AT_SYMLINK_FOLLOW),
        code::FACCESSAT | code::TRUNCATE | code::FCHMODAT | code::STATFS | code::EXECVE => true,
        code::SETXATTR | code::GETXATTR | code::LISTXATTR | code::REMOVEXATTR => true,
        _ => false,
    }
}

/// Whether it works where the file stands, and moves that.
pub(super) fn moves_the_position(operation: &Operation, which: usize) -> bool {
    match operation.call {
        code::READ | code::WRITE | code::LSEEK | code::GETDENTS64 => true,
        // An offset of its own leaves the file's as it is.
        code::COPY_FILE_RANGE => operation.numbers[1 + which] < 0,
        code::SENDFILE => which == 1 || operation.numbers[1] < 0,
        _ => false,
    }
}
