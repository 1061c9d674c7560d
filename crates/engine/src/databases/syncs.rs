//! SQLite's syncs, counted and timed: its usual way to files, with one call in between.
//!
//! Files are opened by SQLite's own VFS; then the table of their methods is exchanged for a copy in which `xSync`
//! is ours (https://sqlite.org/c3ref/io_methods.html). Counts belong to the thread: a client's syncs are its own.

use rusqlite::ffi;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Name by which databases are opened so.
const NAME: &CStr = c"fairlane";

/// Syncs of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Syncs {
    pub(super) count: u64,
    pub(super) nanoseconds: u64,
}

impl Syncs {
    pub(super) fn since(self, before: Syncs) -> Syncs {
        Syncs { count: self.count - before.count, nanoseconds: self.nanoseconds - before.nanoseconds }
    }

    pub(super) fn add(&mut self, other: Syncs) {
        self.count += other.count;
        self.nanoseconds += other.nanoseconds;
    }
}

thread_local! {
    static OWN: Cell<Syncs> = const { Cell::new(Syncs { count: 0, nanoseconds: 0 }) };
}

/// Those of this thread so far.
pub(super) fn of_this_thread() -> Syncs {
    OWN.get()
}

/// The name to open a database by; `None`: SQLite does not take it, and nothing is counted.
pub(super) fn vfs() -> Option<&'static CStr> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    REGISTERED.get_or_init(register).then_some(NAME)
}

fn register() -> bool {
    // SAFETY: the default VFS is a static of SQLite's, or null; sqlite3_initialize may be called at any time. The
    // copy lives for ever, as SQLite asks of what is registered.
    unsafe {
        if ffi::sqlite3_initialize() != ffi::SQLITE_OK {
            return false;
        }
        let usual = ffi::sqlite3_vfs_find(std::ptr::null());
        if usual.is_null() {
            return false;
        }
        let mut own = *usual;
        own.pNext = std::ptr::null_mut();
        own.zName = NAME.as_ptr();
        own.xOpen = Some(open);
        own.xFullPathname = Some(full_path);
        ffi::sqlite3_vfs_register(Box::into_raw(Box::new(own)), 0) == ffi::SQLITE_OK
    }
}

/// A path that begins with a descriptor is whole as it stands: resolved, it could be another folder's by the time the next
/// file beside it is opened.
unsafe extern "C" fn full_path(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite hands a string that ends in 0 and `out`, which has `room` bytes; the usual VFS has an xFullPathname,
    // and finds all of its own in our copy.
    unsafe {
        let bytes = CStr::from_ptr(name).to_bytes_with_nul();
        if bytes.starts_with(b"/proc/self/fd/") && usize::try_from(room).is_ok_and(|room| bytes.len() <= room) {
            std::ptr::copy_nonoverlapping(name, out, bytes.len());
            return ffi::SQLITE_OK;
        }
        let usual = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        match usual.as_ref().and_then(|usual| usual.xFullPathname) {
            Some(usual) => usual(vfs, name, room, out),
            None => ffi::SQLITE_CANTOPEN,
        }
    }
}

/// Opens as the usual VFS does.
unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls with what `xOpen` is promised, which is handed on as it is; the usual VFS has an xOpen, and
    // finds all of its own in our copy. After success the file's methods are a table of SQLite's that lives for ever.
    unsafe {
        let usual = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        let Some(Some(usual_open)) = usual.as_ref().map(|usual| usual.xOpen) else { return ffi::SQLITE_CANTOPEN };
        let result = usual_open(vfs, name, file, flags, out);
        if result == ffi::SQLITE_OK && !(*file).pMethods.is_null() {
            (*file).pMethods = counting((*file).pMethods);
        }
        result
    }
}

/// A table of methods, and the one that it was made of.
#[repr(C)]
struct Counting {
    methods: ffi::sqlite3_io_methods,
    usual: *const ffi::sqlite3_io_methods,
}

/// The table for this one: made once, because there are a handful of them.
unsafe fn counting(usual: *const ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    static MADE: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, own)) = made.iter().find(|(known, _)| *known == usual as usize) {
        return *own as *const ffi::sqlite3_io_methods;
    }
    // SAFETY: the caller's table lives for ever, and is plain data.
    let mut methods = unsafe { *usual };
    methods.xSync = Some(sync);
    let own = Box::into_raw(Box::new(Counting { methods, usual }));
    made.push((usual as usize, own as usize));
    own.cast()
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: only files whose table is a `Counting`'s first field come here, and its usual table has an xSync.
    let usual = unsafe { (*(*(*file).pMethods.cast::<Counting>()).usual).xSync };
    let Some(usual) = usual else { return ffi::SQLITE_IOERR_FSYNC };
    let begun = Instant::now();
    // SAFETY: as SQLite called us.
    let result = unsafe { usual(file, flags) };
    let nanoseconds = begun.elapsed().as_nanos() as u64;
    let mut own = OWN.get();
    own.add(Syncs { count: 1, nanoseconds });
    OWN.set(own);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, OpenFlags};

    #[test]
    fn a_commit_syncs_where_it_was_asked_to_and_not_where_it_was_not() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let file = folder.path().join("x.sqlite");
        let database = Connection::open_with_flags_and_vfs(&file, OpenFlags::default(), vfs().unwrap()).unwrap();
        database.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)").unwrap();
        let before = of_this_thread();
        for _ in 0..10 {
            database.execute("INSERT INTO t VALUES (1)", []).unwrap();
        }
        let synced = of_this_thread().since(before);
        assert_eq!(synced.count, 10, "one of the log for each commit");
        assert!(synced.nanoseconds > 0);
        database.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let before = of_this_thread();
        database.execute("INSERT INTO t VALUES (1)", []).unwrap();
        assert_eq!(of_this_thread().since(before).count, 0);
        // Another thread's are its own.
        assert_eq!(std::thread::spawn(of_this_thread).join().unwrap(), Syncs::default());
        drop(database);
        let plain = Connection::open(&file).unwrap();
        assert_eq!(plain.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap(), 11);
    }
}
