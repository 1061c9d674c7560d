//! The calls that a trace knows, a row each.

/// One call, by what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// In the trace.
    pub code: u8,
    /// As the kernel calls it, the older forms by the newer (`open` is `openat`).
    pub name: &'static str,
    /// Paths that it names.
    pub paths: usize,
    /// Open files that it works on; the file that `openat` makes among them.
    pub files: usize,
    /// Names of its other arguments.
    pub numbers: &'static [&'static str],
}

macro_rules! calls {
    ($($code:literal $constant:ident = $name:literal, $paths:literal, $files:literal, [$($number:literal),*];)+) => {
        /// All of them, by their codes without a gap. New ones come at the end: codes stay.
        pub static CALLS: &[Call] =
            &[$(Call { code: $code, name: $name, paths: $paths, files: $files, numbers: &[$($number),*] },)+];

        /// Codes by name.
        pub mod code {
            $(#[doc = concat!("`", $name, "`")] pub const $constant: u8 = $code;)+
        }
    };
}

calls! {
    0 OPENAT = "openat", 1, 1, ["flags", "mode"];
    1 CLOSE = "close", 0, 1, [];
    2 READ = "read", 0, 1, ["bytes"];
    3 PREAD64 = "pread64", 0, 1, ["bytes", "offset"];
    4 WRITE = "write", 0, 1, ["bytes"];
    5 PWRITE64 = "pwrite64", 0, 1, ["bytes", "offset"];
    6 LSEEK = "lseek", 0, 1, ["offset", "whence"];
    7 FSYNC = "fsync", 0, 1, [];
    8 FDATASYNC = "fdatasync", 0, 1, [];
    9 SYNC_FILE_RANGE = "sync_file_range", 0, 1, ["offset", "bytes", "flags"];
    10 SYNCFS = "syncfs", 0, 1, [];
    11 SYNC = "sync", 0, 0, [];
    12 TRUNCATE = "truncate", 1, 0, ["bytes"];
    13 FTRUNCATE = "ftruncate", 0, 1, ["bytes"];
    14 FALLOCATE = "fallocate", 0, 1, ["mode", "offset", "bytes"];
    15 RENAMEAT2 = "renameat2", 2, 0, ["flags"];
    16 LINKAT = "linkat", 2, 0, ["flags"];
    17 SYMLINKAT = "symlinkat", 2, 0, [];
    18 UNLINKAT = "unlinkat", 1, 0, ["flags"];
    19 MKDIRAT = "mkdirat", 1, 0, ["mode"];
    20 MKNODAT = "mknodat", 1, 0, ["mode"];
    21 NEWFSTATAT = "newfstatat", 1, 0, ["flags"];
    22 FSTAT = "fstat", 0, 1, [];
    23 FACCESSAT = "faccessat", 1, 0, ["mode"];
    24 READLINKAT = "readlinkat", 1, 0, [];
    25 GETDENTS64 = "getdents64", 0, 1, ["bytes"];
    26 FCHMODAT = "fchmodat", 1, 0, ["mode"];
    27 FCHMOD = "fchmod", 0, 1, ["mode"];
    28 FCHOWNAT = "fchownat", 1, 0, ["owner", "group"];
    29 FCHOWN = "fchown", 0, 1, ["owner", "group"];
    30 UTIMENSAT = "utimensat", 1, 0, [];
    31 SETXATTR = "setxattr", 1, 0, ["bytes"];
    32 GETXATTR = "getxattr", 1, 0, ["bytes"];
    33 LISTXATTR = "listxattr", 1, 0, [];
    34 REMOVEXATTR = "removexattr", 1, 0, [];
    35 FSETXATTR = "fsetxattr", 0, 1, ["bytes"];
    36 FGETXATTR = "fgetxattr", 0, 1, ["bytes"];
    37 FLISTXATTR = "flistxattr", 0, 1, [];
    38 FLOCK = "flock", 0, 1, ["operation"];
    39 FCNTL_LOCK = "fcntl_lock", 0, 1, ["command"];
    40 MMAP = "mmap", 0, 1, ["bytes", "offset", "protection", "flags"];
    41 MSYNC = "msync", 0, 0, ["address", "bytes", "flags"];
    42 COPY_FILE_RANGE = "copy_file_range", 0, 2, ["bytes", "from", "to"];
    43 SENDFILE = "sendfile", 0, 2, ["bytes", "from"];
    44 STATFS = "statfs", 1, 0, [];
    45 EXECVE = "execve", 1, 0, [];
    46 DUP = "dup", 0, 1, [];
    47 FADVISE64 = "fadvise64", 0, 1, ["offset", "bytes", "advice"];
    48 FICLONE = "ficlone", 0, 2, [];
    49 FUTIMENS = "futimens", 0, 1, [];
}

impl Call {
    /// What it is a kind of, as figures are told: one of `model::kinds::replay::GROUPS`.
    pub fn group(&self) -> &'static str {
        match self.code {
            code::OPENAT | code::EXECVE => "open",
            code::CLOSE => "close",
            code::READ | code::PREAD64 => "read",
            code::WRITE | code::PWRITE64 => "write",
            code::FSYNC | code::FDATASYNC | code::SYNC_FILE_RANGE | code::SYNCFS | code::SYNC | code::MSYNC => "sync",
            code::NEWFSTATAT | code::FSTAT | code::FACCESSAT | code::READLINKAT | code::STATFS => "stat",
            code::GETDENTS64 => "list",
            code::RENAMEAT2 | code::LINKAT | code::SYMLINKAT | code::UNLINKAT | code::MKDIRAT | code::MKNODAT => {
                "names"
            }
            code::TRUNCATE | code::FTRUNCATE | code::FALLOCATE => "allocate",
            code::COPY_FILE_RANGE | code::SENDFILE | code::FICLONE => "copy",
            code::LSEEK | code::FLOCK | code::FCNTL_LOCK | code::MMAP | code::DUP | code::FADVISE64 => "other",
            _ => "attributes",
        }
    }
}

/// The row of a code.
pub fn call(code: u8) -> Option<&'static Call> {
    CALLS.get(usize::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_no_gap_and_names_are_said_once() {
        for (at, call) in CALLS.iter().enumerate() {
            assert_eq!(usize::from(call.code), at);
            assert!(call.paths <= 2 && call.files <= 2 && call.numbers.len() <= 4, "{call:?}");
            assert_eq!(CALLS.iter().filter(|other| other.name == call.name).count(), 1, "{call:?}");
        }
    }

    #[test]
    fn the_document_has_all_of_them() {
        let document = include_str!("../../../docs/trace.md");
        for call in CALLS {
            let numbers = if call.numbers.is_empty() { "-".to_owned() } else { call.numbers.join(", ") };
            let row = format!("| {} | `{}` | {} | {} | {numbers} |", call.code, call.name, call.paths, call.files);
            assert!(document.lines().any(|line| line == row), "{row}");
        }
    }
}
