//! The calls themselves. Paths are relative to the folder of the replay, in which the thread stands.

use super::rooms::{self, Rooms};
use libc::{AT_FDCWD, c_int, c_long, c_uint, c_void, off_t};
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use trace::code;
use trace::replay::{Step, asked};

/// An open file that is closed, or was never opened.
pub(super) const CLOSED: c_int = -1;
/// What an attribute is called: a trace does not have its name.
const ATTRIBUTE: &CStr = c"user.fairlane";
/// The kernel's own limit of a value.
const MOST_ATTRIBUTE_BYTES: usize = 64 << 10;
static ZEROS: [u8; MOST_ATTRIBUTE_BYTES] = [0; MOST_ATTRIBUTE_BYTES];
/// linux/fs.h: FICLONE.
const FICLONE: u64 = 0x4004_9409;
/// Flags of an open that are done again. Nothing waits for a reader of a pipe.
const OPEN_FLAGS: c_int = libc::O_ACCMODE
    | libc::O_CREAT
    | libc::O_EXCL
    | libc::O_TRUNC
    | libc::O_APPEND
    | libc::O_DIRECTORY
    | libc::O_NOFOLLOW
    | libc::O_SYNC
    | libc::O_DIRECT
    | libc::O_NOATIME
    | libc::O_PATH
    | libc::O_TMPFILE;
/// Most bytes that are mapped.
const MOST_MAPPED_BYTES: i64 = 1 << 40;

/// Where paths begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shelter {
    /// In the thread's own root: the kernel leads nobody out of it.
    Root,
    /// In a folder, below which the kernel looks a path up as if that were the root (openat2) before the call is timed.
    Folder,
}

/// What calls work on.
pub(super) struct Ground<'a> {
    pub(super) paths: &'a [CString],
    pub(super) shelter: Shelter,
    pub(super) files: &'a [AtomicI32],
    /// Where what went to a socket goes.
    pub(super) sink: BorrowedFd<'a>,
    pub(super) top: BorrowedFd<'a>,
    /// User and group of this process, who own all that is made.
    pub(super) owner: (u32, u32),
    /// Permissions that what is made has in any case, of a file and of a folder: who is not root must be able to open it again, and to
    /// remove what lies in it.
    pub(super) always: [c_uint; 2],
}

/// Where a call finds a path: a folder, and a name that begins there.
struct Place {
    folder: c_int,
    name: CString,
    /// A descriptor that is closed when the call is done.
    held: c_int,
}

/// What a call needs, found before it is timed.
pub(super) struct Prepared {
    files: [c_int; 2],
    places: [Option<Place>; 2],
    /// What the lookup of a path answered, where it failed.
    refused: Option<i64>,
    data: *mut c_void,
    bytes: usize,
    /// What the call mapped, and a descriptor that nobody uses: both go when it is no longer timed.
    mapped: Cell<(*mut c_void, usize)>,
    opened: Cell<c_int>,
}

/// Closes a descriptor, if it is one.
pub(super) fn close(descriptor: c_int) {
    if descriptor >= 0 {
        // SAFETY: it was opened here, and whoever held it has let go of it.
        unsafe { libc::close(descriptor) };
    }
}

fn answer(result: impl Into<i64>) -> i64 {
    let result = result.into();
    if result < 0 { -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) } else { result }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.places.iter().flatten().for_each(|place| close(place.held));
        close(self.opened.get());
        let (mapped, bytes) = self.mapped.get();
        if bytes > 0 {
            // SAFETY: the call mapped so many bytes there, and nobody reads them.
            unsafe { libc::munmap(mapped, bytes) };
        }
    }
}

/// `struct open_how` of linux/openat2.h, with all links led as if the folder were the root, and none of /proc's.
fn open_inside(top: c_int, path: &CStr, flags: c_int, mode: c_uint) -> i64 {
    // O_TMPFILE has the bit of O_DIRECTORY in it.
    let makes = flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE;
    // SAFETY: all of its fields are numbers.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = u64::from(flags as u32);
    how.mode = if makes { u64::from(mode) } else { 0 };
    how.resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_MAGICLINKS;
    let size = size_of::<libc::open_how>();
    // SAFETY: a path that ends with a zero, and a structure of that size.
    answer(unsafe { libc::syscall(libc::SYS_openat2, top, path.as_ptr(), &raw const how, size) } as i64)
}

/// Whether the kernel looks paths up so.
pub(super) fn can_open_inside(top: BorrowedFd<'_>) -> bool {
    let opened = open_inside(top.as_raw_fd(), c".", libc::O_PATH | libc::O_CLOEXEC, 0);
    close(i32::try_from(opened).unwrap_or(CLOSED));
    opened >= 0
}

impl<'a> Ground<'a> {
    /// Of this process. `top`: the folder, `sink`: where what went to a socket goes.
    pub(super) fn new(
        paths: &'a [CString],
        files: &'a [AtomicI32],
        (top, sink): (BorrowedFd<'a>, BorrowedFd<'a>),
        shelter: Shelter,
    ) -> Self {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        // Who is root opens and removes what he likes.
        let always = if user.is_root() { [0, 0] } else { [0o600, 0o700] };
        Ground { paths, shelter, files, sink, top, owner: (user.as_raw(), group.as_raw()), always }
    }

    /// Where a path of a step is found without a root of one's own; `follows`: a link that is its last part is led too.
    fn find(&self, step: &Step, at: usize, follows: bool) -> Result<Place, i64> {
        let path = self.path(step, at).to_bytes();
        let path_only = libc::O_PATH | libc::O_CLOEXEC;
        let open = |path: &[u8], flags: c_int| {
            let path = CString::new(path).unwrap_or_default();
            let opened = open_inside(self.top.as_raw_fd(), &path, flags, 0);
            i32::try_from(opened).ok().filter(|opened| *opened >= 0).ok_or(opened)
        };
        if follows {
            let held = open(path, path_only)?;
            let name = CString::new(format!("/proc/self/fd/{held}")).unwrap_or_default();
            return Ok(Place { folder: AT_FDCWD, name, held });
        }
        let (parent, last) = match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b"."[..], path),
        };
        let held = open(parent, path_only | libc::O_DIRECTORY)?;
        Ok(Place { folder: held, name: CString::new(last).unwrap_or_default(), held })
    }

    /// The places of a call that names paths; none where a path is enough.
    fn places(&self, step: &Step) -> ([Option<Place>; 2], Option<i64>) {
        let is_led_by_itself = [code::OPENAT, code::EXECVE].contains(&step.call);
        if self.shelter == Shelter::Root || is_led_by_itself {
            return ([None, None], None);
        }
        let count = trace::call(step.call).map_or(0, |row| row.paths);
        let mut places = [None, None];
        for (at, place) in places.iter_mut().enumerate().take(count) {
            if step.call == code::SYMLINKAT && at == 0 {
                continue;
            }
            match self.find(step, at, trace::replay::follows(step.call, step.numbers, at)) {
                Ok(found) => *place = Some(found),
                Err(error) => return (places, Some(error)),
            }
        }
        (places, None)
    }

    pub(super) fn prepare(&self, step: &Step, rooms: &mut Rooms) -> Prepared {
        let (data, bytes) = match step.call {
            code::WRITE | code::PWRITE64 => rooms.next(rooms::asked(step)),
            code::READ | code::PREAD64 | code::GETDENTS64 => {
                (rooms.read.as_ptr(), rooms::asked(step).min(rooms.read.len()))
            }
            _ => (std::ptr::null(), 0),
        };
        self.prepare_with(step, (data.cast_mut(), bytes))
    }

    /// The same with memory of the caller's own, which stays there until the call is done.
    pub(super) fn prepare_with(&self, step: &Step, (data, bytes): (*mut u8, usize)) -> Prepared {
        let is_sink = step.call == code::SENDFILE && step.files[1] == trace::NOT_FOLLOWED;
        let file = |at: usize| match self.files.get(step.files[at] as usize) {
            Some(file) => file.load(Ordering::Acquire),
            None if at == 1 && is_sink => self.sink.as_raw_fd(),
            None => CLOSED,
        };
        let (places, refused) = self.places(step);
        let nothing = Cell::new((std::ptr::null_mut(), 0));
        Prepared {
            files: [file(0), file(1)],
            places,
            refused,
            data: data.cast(),
            bytes,
            mapped: nothing,
            opened: Cell::new(CLOSED),
        }
    }

    pub(super) fn close(&self, file: u32) {
        if let Some(file) = self.files.get(file as usize) {
            close(file.swap(CLOSED, Ordering::AcqRel));
        }
    }

    /// Does it; answers what it returns, an error as its negative number.
    #[inline]
    pub(super) fn call(&self, step: &Step, of: &Prepared) -> i64 {
        if let Some(refused) = of.refused {
            return refused;
        }
        let works_on_files = trace::call(step.call).is_some_and(|row| row.files > 0) && step.call != code::OPENAT;
        if works_on_files && of.files[0] < 0 {
            return -i64::from(libc::EBADF);
        }
        match step.call {
            code::OPENAT | code::EXECVE => self.open(step, of),
            code::CLOSE => {
                let file = self.files.get(step.files[0] as usize);
                let descriptor = file.map_or(CLOSED, |file| file.swap(CLOSED, Ordering::AcqRel));
                // SAFETY: it was opened here, and whoever used it has let go of it.
                answer(unsafe { libc::close(descriptor) })
            }
            code::READ | code::PREAD64 | code::WRITE | code::PWRITE64 | code::GETDENTS64 => move_bytes(step, of),
            code::FCHMOD => {
                let mode = step.numbers[0] as c_uint & 0o777 | self.always[1];
                // SAFETY: a descriptor and a mode.
                answer(unsafe { libc::fchmod(of.files[0], mode) })
            }
            code::FCHOWN => {
                let (user, group) = self.owner;
                // SAFETY: a descriptor and two numbers.
                answer(unsafe { libc::fchown(of.files[0], user, group) })
            }
            _ if works_on_files => on_file(step, of),
            _ => self.on_path(step, of),
        }
    }

    fn path(&self, step: &Step, at: usize) -> &CStr {
        self.paths.get(step.paths[at] as usize).map_or(c".", |path| path.as_c_str())
    }

    fn open(&self, step: &Step, of: &Prepared) -> i64 {
        let path = self.path(step, 0);
        let always = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        let open = |flags: c_int, mode: c_uint| match self.shelter {
            // SAFETY: a path that ends with a zero, flags and a mode.
            Shelter::Root => answer(unsafe { libc::open(path.as_ptr(), flags, mode) }),
            Shelter::Folder => open_inside(self.top.as_raw_fd(), path, flags, mode),
        };
        if step.call == code::EXECVE {
            let opened = open(libc::O_RDONLY | always, 0);
            of.opened.set(i32::try_from(opened).unwrap_or(CLOSED));
            return opened;
        }
        let flags = step.numbers[0] as c_int & OPEN_FLAGS | always;
        // openat2 refuses what open ignores.
        let flags = if flags & libc::O_PATH != 0 {
            flags & (libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        } else {
            flags
        };
        let opened = open(flags, (step.numbers[1] & 0o777) as c_uint | self.always[0]);
        if let (Some(file), Ok(descriptor @ 0..)) = (self.files.get(step.files[0] as usize), i32::try_from(opened)) {
            file.store(descriptor, Ordering::Release);
        }
        opened
    }

    /// A call that names paths, or nothing.
    fn on_path(&self, step: &Step, of: &Prepared) -> i64 {
        let numbers = &step.numbers;
        let place = |at: usize| match &of.places[at] {
            Some(place) => (place.folder, place.name.as_ptr()),
            None => (AT_FDCWD, self.path(step, at).as_ptr()),
        };
        let ((folder, first), (other, second)) = (place(0), place(1));
        // Where it was led already, the last part is one of /proc's links.
        let is_led = of.places[0].as_ref().is_some_and(|place| place.folder == AT_FDCWD);
        let no_follow = if is_led { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        let now = [libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW }; 2];
        let mut text = MaybeUninit::<[u8; 4096]>::uninit();
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        let mut statfs = MaybeUninit::<libc::statfs>::uninit();
        let flags = |known: c_int| numbers[0] as c_int & known;
        // SAFETY: paths end with a zero; what is written to is as large as the kernel is told, and nobody reads it.
        unsafe {
            match step.call {
                code::SYNC => answer(libc::syncfs(self.top.as_raw_fd())),
                code::TRUNCATE => answer(libc::truncate(first, numbers[0])),
                code::RENAMEAT2 => {
                    let flags = numbers[0] as c_uint & (libc::RENAME_NOREPLACE | libc::RENAME_EXCHANGE);
                    answer(libc::syscall(libc::SYS_renameat2, folder, first, other, second, flags) as i64)
                }
                code::LINKAT => {
                    let flags = if is_led { libc::AT_SYMLINK_FOLLOW } else { flags(libc::AT_SYMLINK_FOLLOW) };
                    answer(libc::linkat(folder, first, other, second, flags))
                }
                code::SYMLINKAT => answer(libc::symlinkat(first, other, second)),
                code::UNLINKAT => answer(libc::unlinkat(folder, first, flags(libc::AT_REMOVEDIR))),
                code::MKDIRAT => answer(libc::mkdirat(folder, first, numbers[0] as c_uint & 0o777 | self.always[1])),
                code::MKNODAT => {
                    let kind = numbers[0] as c_uint & libc::S_IFMT;
                    let kind = if [libc::S_IFIFO, libc::S_IFSOCK].contains(&kind) { kind } else { libc::S_IFREG };
                    let mode = kind | numbers[0] as c_uint & 0o777 | self.always[0];
                    answer(libc::mknodat(folder, first, mode, 0))
                }
                code::NEWFSTATAT => {
                    let asked = flags(libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT);
                    let asked = if is_led { 0 } else { asked };
                    answer(libc::fstatat(folder, first, stat.as_mut_ptr(), asked))
                }
                code::FACCESSAT => answer(libc::faccessat(folder, first, flags(0o7), 0)),
                code::READLINKAT => answer(libc::readlinkat(folder, first, text.as_mut_ptr().cast(), 4096) as i64),
                code::FCHMODAT => {
                    answer(libc::fchmodat(folder, first, numbers[0] as c_uint & 0o777 | self.always[1], 0))
                }
                code::FCHOWNAT => {
                    let (user, group) = self.owner;
                    answer(libc::fchownat(folder, first, user, group, no_follow))
                }
                code::UTIMENSAT => answer(libc::utimensat(folder, first, now.as_ptr(), no_follow)),
                code::SETXATTR => {
                    answer(libc::setxattr(first, ATTRIBUTE.as_ptr(), ZEROS.as_ptr().cast(), value_bytes(step), 0))
                }
                code::GETXATTR => {
                    answer(libc::getxattr(first, ATTRIBUTE.as_ptr(), text.as_mut_ptr().cast(), 4096) as i64)
                }
                code::LISTXATTR => answer(libc::listxattr(first, text.as_mut_ptr().cast(), 4096) as i64),
                code::REMOVEXATTR => answer(libc::removexattr(first, ATTRIBUTE.as_ptr())),
                code::STATFS => answer(libc::statfs(first, statfs.as_mut_ptr())),
                // The others are left out when a trace is read.
                _ => step.result,
            }
        }
    }
}

/// Bytes of an attribute's value.
fn value_bytes(step: &Step) -> usize {
    (step.numbers[0].max(0) as usize).min(MOST_ATTRIBUTE_BYTES)
}

fn move_bytes(step: &Step, of: &Prepared) -> i64 {
    let (file, offset) = (of.files[0], step.numbers[1]);
    // SAFETY: the memory is this thread's own, and so many bytes of it are there.
    let moved = unsafe {
        match step.call {
            code::READ => libc::read(file, of.data, of.bytes),
            code::PREAD64 => libc::pread(file, of.data, of.bytes, offset),
            code::WRITE => libc::write(file, of.data, of.bytes),
            code::PWRITE64 => libc::pwrite(file, of.data, of.bytes, offset),
            _ => libc::syscall(libc::SYS_getdents64, file, of.data, of.bytes) as isize,
        }
    };
    answer(moved as i64)
}

/// A call on open files.
fn on_file(step: &Step, of: &Prepared) -> i64 {
    let (numbers, [file, second]) = (&step.numbers, of.files);
    let mut text = MaybeUninit::<[u8; 4096]>::uninit();
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    let mut lock = libc::flock { l_type: libc::F_WRLCK as i16, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
    let count = |number: i64| number.max(0) as usize;
    // SAFETY: as of paths; what is mapped goes with `of`, and nobody reads it.
    unsafe {
        match step.call {
            code::LSEEK => answer(libc::lseek(file, numbers[0], numbers[1] as c_int)),
            code::FSYNC => answer(libc::fsync(file)),
            code::FDATASYNC => answer(libc::fdatasync(file)),
            code::SYNC_FILE_RANGE => {
                answer(libc::sync_file_range(file, numbers[0], numbers[1] as off_t, numbers[2] as c_uint))
            }
            code::SYNCFS => answer(libc::syncfs(file)),
            code::FTRUNCATE => answer(libc::ftruncate(file, numbers[0])),
            code::FALLOCATE => answer(libc::fallocate(file, numbers[0] as c_int, numbers[1], numbers[2])),
            code::FSTAT => answer(libc::fstat(file, stat.as_mut_ptr())),
            code::FUTIMENS => answer(libc::futimens(file, std::ptr::null())),
            code::FSETXATTR => {
                answer(libc::fsetxattr(file, ATTRIBUTE.as_ptr(), ZEROS.as_ptr().cast(), value_bytes(step), 0))
            }
            code::FGETXATTR => answer(libc::fgetxattr(file, ATTRIBUTE.as_ptr(), text.as_mut_ptr().cast(), 4096) as i64),
            code::FLISTXATTR => answer(libc::flistxattr(file, text.as_mut_ptr().cast(), 4096) as i64),
            code::FLOCK => answer(libc::flock(file, numbers[0] as c_int | libc::LOCK_NB)),
            // Of which range a trace does not tell, and one process has no conflict with itself: it is looked at.
            code::FCNTL_LOCK => answer(libc::fcntl(file, libc::F_GETLK, &raw mut lock)),
            code::MMAP => {
                let protection = numbers[2] as c_int & (libc::PROT_READ | libc::PROT_WRITE);
                let shared = numbers[3] as c_int & (libc::MAP_SHARED | libc::MAP_PRIVATE);
                let bytes = count(numbers[0].min(MOST_MAPPED_BYTES));
                let mapped = libc::mmap(std::ptr::null_mut(), bytes, protection, shared, file, numbers[1]);
                if mapped == libc::MAP_FAILED {
                    return answer(-1);
                }
                of.mapped.set((mapped, bytes));
                0
            }
            code::COPY_FILE_RANGE | code::SENDFILE => {
                let mut offsets = [numbers[1], numbers[2]];
                // A negative one: where the file stands.
                let [from, to] =
                    offsets.each_mut().map(|of| if *of < 0 { std::ptr::null_mut() } else { of as *mut off_t });
                let bytes = asked(step.call, *numbers, step.result) as usize;
                match step.call {
                    code::SENDFILE => answer(libc::sendfile(second, file, from, bytes) as i64),
                    _ => answer(libc::copy_file_range(file, from, second, to, bytes, 0) as i64),
                }
            }
            code::FADVISE64 => -i64::from(libc::posix_fadvise(file, numbers[0], numbers[1], numbers[2] as c_int)),
            code::FICLONE => answer(libc::ioctl(second, FICLONE as _, c_long::from(file))),
            _ => step.result,
        }
    }
}
