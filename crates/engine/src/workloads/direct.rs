//! The files of direct I/O, looked at before and after: what of them lies in the page cache, and how they are kept.
//!
//! O_DIRECT is a wish. A filesystem that passes it over leaves what was read, and often what was written, in the page
//! cache, which is seen at the files themselves: no other program shows there, and nothing is watched while the work is
//! measured.

mod watched;

use super::files::{self, FilePlan};
use crate::target::Directory;
use crate::{beneath, cached, extents};
use model::seen::{CachedFiles, KeptFiles};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Files that are looked at, at most.
const MOST_FILES: usize = 64;
/// Names of a folder that are looked through for files that were made meanwhile, at most.
const MOST_NAMES: usize = 4096;
/// Writes that are watched.
const WATCHED: u32 = 8;
/// Files whose extents are looked at, at most.
const MOST_KEPT: usize = 16;

/// The files of some work that asks for direct I/O.
#[derive(Debug, Clone)]
pub(super) struct DirectFiles {
    /// Names and bytes of those that are looked at.
    looked: Vec<(String, u64)>,
    /// As they were before the work.
    before: CachedFiles,
    kept: KeptFiles,
}

impl DirectFiles {
    /// Asks the kernel to let go of the files, which must be synced, and looks at them before the work. `None`: there
    /// is none, or the kernel does not tell.
    pub(super) fn let_go<'a>(directory: Directory<'_>, plans: impl Iterator<Item = &'a FilePlan>) -> Option<Self> {
        // Workers may share files.
        let all: BTreeMap<&String, u64> = plans.map(|file| (&file.name, file.size)).collect();
        let looked: Vec<(String, u64)> = spread(all.len(), MOST_FILES)
            .filter_map(|at| all.iter().nth(at).map(|(name, size)| ((*name).clone(), *size)))
            .collect();
        for file in all.keys().filter_map(|name| open(directory, name)) {
            // What cannot be let go is seen in the next line.
            let _ = files::invalidate(&file);
        }
        let mut work = DirectFiles { looked, before: CachedFiles::default(), kept: KeptFiles::default() };
        work.before = CachedFiles {
            file_bytes: all.values().sum(),
            looked_bytes: work.looked.iter().map(|(_, bytes)| bytes).sum(),
            before_bytes: work.cached_bytes(directory)?,
            ..CachedFiles::default()
        };
        work.kept = kept(work.looked.iter().filter_map(|(name, _)| open(directory, name)));
        Some(work)
    }

    /// Files that the work, or its program, made meanwhile: those of some length that lie in the lane's own folder. Of them
    /// only writes can be watched: nobody let go of them before.
    pub(super) fn made_meanwhile(directory: Directory<'_>) -> Self {
        let names = rustix::fs::Dir::read_from(directory.1).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned)).take(MOST_NAMES);
        let long_enough = |name: String| {
            let file = open(directory, &name)?;
            let stat = rustix::fs::fstat(&file).ok()?;
            let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
            let bytes = u64::try_from(stat.st_size).ok()?;
            // What is still to be written cannot leave the page cache, and would be taken for what is watched.
            let is_told = is_file && bytes >= rustix::param::page_size() as u64 && rustix::fs::fsync(&file).is_ok();
            is_told.then_some((name, bytes))
        };
        let all: BTreeMap<String, u64> = names.filter_map(long_enough).collect();
        let looked = spread(all.len(), MOST_FILES)
            .filter_map(|at| all.iter().nth(at))
            .map(|(name, bytes)| (name.clone(), *bytes));
        DirectFiles { looked: looked.collect(), before: CachedFiles::default(), kept: KeptFiles::default() }
    }

    /// What lies in the page cache now; `None`: the files are gone.
    pub(super) fn look(&self, directory: Directory<'_>) -> Option<CachedFiles> {
        Some(CachedFiles { after_bytes: self.cached_bytes(directory)?, ..self.before })
    }

    /// Direct writes of a block over themselves, watched one by one when all the work is done: how many, and of how many
    /// of them pages were seen in the page cache.
    pub(super) fn watch_writes(&self, directory: Directory<'_>, block: u64) -> (u32, u32) {
        let step = block.max(1).next_multiple_of(rustix::param::page_size() as u64);
        let (mut watched, mut cached) = (0, 0);
        for number in 0..WATCHED {
            let Some((name, bytes)) = self.looked.get(number as usize % self.looked.len().max(1)) else { break };
            let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::NONBLOCK;
            let Ok(file) = beneath::open_beneath(directory.1, Path::new(name), flags) else { continue };
            // Spread over the file, the last one not at its end.
            let offset = (bytes / step) * u64::from(number) / u64::from(WATCHED) * step;
            let Some(seen) = watched::write(&file, offset, block) else { continue };
            watched += 1;
            cached += u32::from(seen);
        }
        (watched, cached)
    }

    /// How they were kept before the work.
    pub(super) fn kept(&self) -> Option<KeptFiles> {
        Some(self.kept).filter(|kept| kept.files > 0)
    }

    /// A file that the work makes itself has nothing in the cache before. `None` where none of them is there and told.
    fn cached_bytes(&self, directory: Directory<'_>) -> Option<u64> {
        let of = |(name, bytes): &(String, u64)| cached::bytes(open(directory, name)?, *bytes);
        let known: Vec<u64> = self.looked.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }
}

/// How these files are kept.
pub(crate) fn kept(some: impl Iterator<Item = OwnedFd>) -> KeptFiles {
    let mut kept = KeptFiles::default();
    for form in some.take(MOST_KEPT).filter_map(extents::form) {
        kept.files += 1;
        match form {
            extents::Form::Plain => {}
            extents::Form::Inline => kept.inline_files += 1,
            extents::Form::Compressed => kept.compressed_files += 1,
            extents::Form::Tail => kept.tail_files += 1,
        }
    }
    kept
}

/// At most `most` of so many places, spread evenly, from the first on.
pub(crate) fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |at| at * count / taken)
}

fn open(directory: Directory<'_>, name: &str) -> Option<OwnedFd> {
    beneath::open_beneath(directory.1, Path::new(name), OFlags::RDONLY | OFlags::NONBLOCK).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn places_are_spread_over_all() {
        assert_eq!(spread(0, 4).collect::<Vec<_>>(), Vec::<usize>::new());
        assert_eq!(spread(3, 4).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(spread(100, 4).collect::<Vec<_>>(), [0, 25, 50, 75]);
    }

    #[test]
    fn files_that_were_read_lie_in_the_cache_and_those_that_are_gone_tell_nothing() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let directory = std::fs::File::open(folder.path()).unwrap();
        let directory = (folder.path(), directory.as_fd());
        let plans: Vec<FilePlan> =
            (0..100).map(|at| FilePlan { name: format!("file-{at:03}"), size: 64 << 10 }).collect();
        assert!(DirectFiles::let_go(directory, plans.iter()).is_none());
        for file in &plans {
            let made = std::fs::File::create(folder.path().join(&file.name)).unwrap();
            std::io::Write::write_all(&mut &made, &[7; 64 << 10]).unwrap();
            made.sync_all().unwrap();
        }
        let files = DirectFiles::let_go(directory, plans.iter().chain(&plans)).unwrap();
        let before = files.look(directory).unwrap();
        assert_eq!((before.file_bytes, before.looked_bytes), (100 << 16, 64 << 16));
        for file in &plans {
            std::fs::read(folder.path().join(&file.name)).unwrap();
        }
        let after = files.look(directory).unwrap();
        assert!(after.after_bytes >= 63 << 16, "{after:?}");
        drop(std::fs::remove_dir_all(folder.path()));
        assert!(files.look(directory).is_none());
    }
}
