//! The files of a job: their names and sizes, laid out before the work, opened for it.

use super::populate::{Filling, populate};
use crate::beneath;
use crate::error::EngineError;
use crate::target::{Directory, remove_file};
use model::Flag;
use model::job::{FadviseHint, Fallocate, Io, SyncMode, file_name};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, FileType, Mode, OFlags, fadvise, fallocate, fsync, ftruncate, mkdirat, openat,
    statat,
};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// What a seed is mixed with, so that sizes share no random numbers with anything else.
const SIZES_STREAM: u64 = 0x512e_5512;

/// One file of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePlan {
    /// Relative to the lane.
    pub(super) name: String,
    /// In bytes.
    pub(super) size: u64,
}

/// The files of one worker of a job, in order. Workers of a job with `filename` share them.
pub(super) fn plan(job: &str, io: &Io, worker: u32, seed: u64) -> Vec<FilePlan> {
    let count = if io.filename.is_empty() { io.nrfiles.max(1) } else { io.filename.len() as u32 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ SIZES_STREAM ^ u64::from(worker));
    (0..count)
        .map(|number| FilePlan {
            name: match io.filename.get(number as usize) {
                Some(name) => name.clone(),
                None => file_name(&io.filename_format, job, worker, number),
            },
            size: match io.filesize {
                Some((low, high)) if high > low => low.0 + random.next_u64() % (high.0 - low.0 + 1),
                Some((low, _)) => low.0,
                None => io.size.0 / u64::from(count),
            },
        })
        .collect()
}

/// Whether the files must hold data before the work begins.
pub(super) fn needs_contents(io: &Io) -> bool {
    io.rw.reads() || io.rw.trims() || io.overwrite
}

/// Makes a job's files as its options say, before anything is measured: those that will be read are
/// written in full, those that will be written are reserved. A file that is large enough already
/// stays as it is. Answers the bytes written.
///
/// # Errors
/// The first call that fails; a missing file where none may be made.
pub(super) fn lay_out(
    directory: Directory<'_>,
    io: &Io,
    files: &[FilePlan],
    seed: u64,
    stop: &AtomicBool,
    notes: &mut Vec<Flag>,
) -> Result<u64, EngineError> {
    let mut written = 0;
    for (number, file) in files.iter().enumerate() {
        make_parents(directory, &file.name)?;
        let there = length(directory, &file.name)?;
        if there.is_some_and(|length| length >= file.size) {
            continue;
        }
        if there.is_none() && !io.allow_file_create {
            return Err(EngineError::Unsuitable(format!(
                "{} is not there and allow_file_create=0; make it in an earlier job or allow it",
                model::text::escaped_path(&directory.0.join(&file.name))
            )));
        }
        if needs_contents(io) {
            let filling = Filling::unmarked(seed ^ (number as u64).rotate_left(32));
            populate(directory, &file.name, file.size, io, filling, stop)?;
            written += file.size;
        } else if !io.create_on_open && !reserve(directory, io, file)? {
            let note = "fallocate: this filesystem cannot reserve blocks; files grow as they are written";
            let note = Flag::Note(note.to_owned());
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(written)
}

/// Makes an empty file and reserves its blocks; `false` where the filesystem cannot.
fn reserve(directory: Directory<'_>, io: &Io, file: &FilePlan) -> Result<bool, EngineError> {
    let path = directory.0.join(&file.name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(directory.1, &file.name, flags, Mode::from_raw_mode(0o644))
        .map_err(|errno| EngineError::file("create", &path, errno))?;
    let error = |errno| EngineError::file("reserve blocks of", &path, errno);
    // A file that will grow is not reserved: its end would not be where the work appends.
    let mut reserved = true;
    if !io.file_append {
        let done = match io.fallocate {
            Fallocate::None => Ok(()),
            Fallocate::Truncate => ftruncate(&made, file.size),
            Fallocate::Keep => fallocate(&made, FallocateFlags::KEEP_SIZE, 0, file.size),
            Fallocate::Posix => posix_fallocate(&made, file.size),
            Fallocate::Native => fallocate(&made, FallocateFlags::empty(), 0, file.size),
        };
        match done {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => reserved = false,
            Err(errno) => return Err(error(errno)),
        }
    }
    if io.create_fsync {
        fsync(&made).map_err(|errno| EngineError::file("sync", &path, errno))?;
    }
    Ok(reserved)
}

fn posix_fallocate(file: &OwnedFd, size: u64) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let size = libc::off_t::try_from(size).map_err(|_| Errno::FBIG)?;
    // SAFETY: the descriptor is open for the duration of the call, which touches no memory of ours.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size) } {
        0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno)),
    }
}

pub(super) fn make_parents(directory: Directory<'_>, name: &str) -> Result<(), EngineError> {
    let parents: Vec<&Path> = Path::new(name).ancestors().skip(1).filter(|path| *path != Path::new("")).collect();
    for parent in parents.into_iter().rev() {
        match mkdirat(directory.1, parent, Mode::from_raw_mode(0o755)) {
            Ok(()) => {}
            // A folder, and no link to one.
            Err(Errno::EXIST) => {
                beneath::open_beneath(directory.1, parent, OFlags::PATH | OFlags::DIRECTORY)
                    .map_err(|errno| EngineError::file("open directory", directory.0.join(parent), errno))?;
            }
            Err(errno) => return Err(EngineError::file("create directory", directory.0.join(parent), errno)),
        }
    }
    Ok(())
}

/// Length of a regular file; `None` where there is nothing of that name.
fn length(directory: Directory<'_>, name: &str) -> Result<Option<u64>, EngineError> {
    match statat(directory.1, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => Ok(Some(stat.st_size as u64)),
        Ok(_) => Err(EngineError::Unsuitable(format!(
            "{} is no regular file; choose another filename",
            model::text::escaped_path(&directory.0.join(name))
        ))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(EngineError::file("look at", directory.0.join(name), errno)),
    }
}

/// Opens a file for the job's work, tells the kernel what is to come, and drops its cached pages
/// where the job says so.
pub(super) fn open(directory: Directory<'_>, name: &str, io: &Io) -> Result<Rc<OwnedFd>, EngineError> {
    let path = directory.0.join(name);
    let writes = io.rw.writes() || io.rw.trims();
    // A mapping that is written must be readable too.
    let reads = io.rw.reads() || io.ioengine == "mmap" || io.pre_read;
    let mut flags = OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | match (reads, writes) {
            (_, false) => OFlags::RDONLY,
            (false, true) => OFlags::WRONLY,
            (true, true) => OFlags::RDWR,
        };
    if writes && io.allow_file_create {
        flags |= OFlags::CREATE;
    }
    match io.sync {
        SyncMode::None => {}
        SyncMode::Sync => flags |= OFlags::SYNC,
        // rustix 1.1 gives O_SYNC for its DSYNC, which would make every write's times durable too.
        SyncMode::Dsync => flags |= OFlags::from_bits_retain(libc::O_DSYNC as u32),
    }
    if io.direct {
        flags |= OFlags::DIRECT;
    }
    let file = match openat(directory.1, name, flags, Mode::from_raw_mode(0o644)) {
        Ok(file) => file,
        // A filesystem without direct I/O answers EINVAL at open, some in user space ENOTSUP.
        Err(errno @ (Errno::INVAL | Errno::OPNOTSUPP)) if io.direct => {
            return Err(EngineError::DirectRefused { path, errno: errno.raw_os_error() });
        }
        Err(errno) => return Err(EngineError::file("open", path, errno)),
    };
    advise(&file, io).map_err(|errno| EngineError::file("advise the kernel about", &path, errno))?;
    Ok(Rc::new(file))
}

fn advise(file: &OwnedFd, io: &Io) -> Result<(), Errno> {
    if io.pre_read {
        let mut block = vec![0; 1 << 20];
        let mut at = 0;
        // Direct files need aligned buffers; their pages are not kept anyway.
        if !io.direct {
            loop {
                match rustix::io::pread(file, &mut block, at)? {
                    0 => break,
                    moved => at += moved as u64,
                }
            }
        }
    } else if io.invalidate {
        invalidate(file)?;
    }
    let hint = match io.fadvise_hint {
        FadviseHint::None => return Ok(()),
        FadviseHint::Pattern if io.rw.random() => Advice::Random,
        FadviseHint::Pattern | FadviseHint::Sequential => Advice::Sequential,
        FadviseHint::Random => Advice::Random,
        FadviseHint::Noreuse => Advice::NoReuse,
    };
    fadvise(file, 0, None, hint)
}

/// Drops the file's clean pages from the page cache.
pub(super) fn invalidate(file: &OwnedFd) -> Result<(), Errno> {
    fadvise(file, 0, None, Advice::DontNeed)
}

/// Removes files; those that are gone already are fine.
pub(super) fn remove(directory: Directory<'_>, files: &[FilePlan]) -> Result<(), EngineError> {
    files.iter().try_for_each(|file| remove_file(directory, &file.name))
}

/// Where a worker may work in each of its files: from `offset` to the end, or within its region.
pub(super) fn ranges(io: &Io, files: &[FilePlan], worker: u32) -> Vec<(u64, u64)> {
    let start = io.offset.0.saturating_add(io.offset_increment.0.saturating_mul(u64::from(worker)));
    let end = |size: u64| io.region.map_or(size, |region| start.saturating_add(region.0).min(size));
    files.iter().map(|file| (start.min(file.size), end(file.size))).collect()
}

/// Files that are open at the same time.
pub(super) fn most_open(io: &Io, files: &[FilePlan]) -> usize {
    io.openfiles.map_or(files.len(), |most| (most as usize).clamp(1, files.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use model::job::Pattern;

    #[test]
    fn names_are_those_of_fio_and_sizes_share_the_jobs_size() {
        let io = Io { rw: Pattern::Write, size: Bytes(1 << 20), nrfiles: 4, ..Io::default() };
        let files = plan("dir/job", &io, 2, 1);
        assert_eq!(files[3], FilePlan { name: "dir_job.2.3".into(), size: 1 << 18 });
        let io = Io { filename: vec!["x".into(), "y/z".into()], ..io };
        assert_eq!(plan("job", &io, 0, 1)[1], FilePlan { name: "y/z".into(), size: 1 << 19 });
        let io = Io { filename: Vec::new(), filename_format: "$jobnum-$filenum.dat".into(), ..io };
        assert_eq!(plan("job", &io, 7, 1)[2].name, "7-2.dat");
    }

    #[test]
    fn files_are_opened_with_the_durability_that_was_asked_and_no_more() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let root = std::fs::File::open(folder.path())?;
        let sync_bits = (libc::O_SYNC | libc::O_DSYNC) as u32;
        for (sync, expected) in [(SyncMode::None, 0), (SyncMode::Sync, libc::O_SYNC), (SyncMode::Dsync, libc::O_DSYNC)]
        {
            let io = Io { rw: Pattern::Write, sync, ..Io::default() };
            let file = open((folder.path(), std::os::fd::AsFd::as_fd(&root)), "file", &io)?;
            let flags = rustix::fs::fcntl_getfl(&*file)?.bits();
            assert_eq!(flags & sync_bits, expected as u32, "{sync:?}");
        }
        Ok(())
    }

    #[test]
    fn sizes_between_two_are_drawn_alike_for_the_same_seed() {
        let io = Io { filesize: Some((Bytes(100), Bytes(200))), nrfiles: 50, ..Io::default() };
        let sizes = |seed| plan("j", &io, 0, seed).iter().map(|file| file.size).collect::<Vec<_>>();
        assert!(sizes(1).iter().all(|size| (100..=200).contains(size)));
        assert_eq!(sizes(1), sizes(1));
        assert_ne!(sizes(1), sizes(2));
    }

    #[test]
    fn a_worker_begins_at_its_own_offset() {
        let io = Io { offset: Bytes(10), offset_increment: Bytes(30), size: Bytes(100), ..Io::default() };
        let files = plan("j", &io, 0, 1);
        assert_eq!(ranges(&io, &files, 0), [(10, 100)]);
        assert_eq!(ranges(&io, &files, 2), [(70, 100)]);
        assert_eq!(ranges(&io, &files, 9), [(100, 100)]);
        let io = Io { region: Some(Bytes(30)), ..io };
        assert_eq!(ranges(&io, &files, 1), [(40, 70)]);
    }
}
