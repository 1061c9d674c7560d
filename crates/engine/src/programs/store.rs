//! Where material is kept, and how it comes to be there whole.
//!
//! One process makes material at a time; it holds the lock of the folder. Whatever draft lies there when the lock is
//! free was left by a process that is gone. A draft is synced before it gets its name, and its checksum lies beside it.
//! Who works on material holds a shared lock on that checksum; of what nobody works on, only the newest few are kept.

use super::cannot;
use crate::error::EngineError;
use crate::workloads::heed;
use model::programs::{Material, Programs};
use rustix::fs::{FlockOperation, OFlags, flock, fsync, syncfs};
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// In the folder of one material: itself, a file or a folder, and its checksum.
pub(super) const CONTENTS: &str = "material";
const CHECKSUM: &str = "crc32c";
const DRAFT: &str = ".fairlane-draft-";
const LOCK: &str = ".fairlane-lock";
/// Materials kept at most where another one is made: their sizes are numbers of suites.
const MOST_KEPT: usize = 4;
/// How often the lock is tried while somebody else makes material.
const PATIENCE: Duration = Duration::from_millis(50);
/// Of what is free where material is kept, it may take so much.
const MOST_OF_DISK: f64 = 0.9;
/// Bytes read at once.
const ROOM: usize = 1 << 20;

/// What was found whole by this process.
static FOUND_WHOLE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Material that is whole, and its CRC-32C as it was when it was made. It stays as long as this does.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// The material itself.
    pub(super) path: PathBuf,
    pub(super) checksum: u32,
    /// The file of its checksum, which is locked.
    _used: Arc<File>,
}

/// Where material is kept: `FAIRLANE_MATERIAL`, else for root /var/cache/fairlane, else
/// `$XDG_CACHE_HOME/fairlane`.
///
/// # Errors
/// Where none of them is known.
pub fn folder() -> Result<PathBuf, EngineError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = absolute("FAIRLANE_MATERIAL") {
        return of_nobody_else(folder);
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/cache/fairlane"));
    }
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("fairlane")).ok_or_else(|| {
        EngineError::Unsuitable(
            "neither XDG_CACHE_HOME nor HOME names a folder for what programs work on; set HOME".to_owned(),
        )
    })
}

/// Root makes and removes files there by their names: in a folder that others write, a link would lead it elsewhere.
fn of_nobody_else(folder: PathBuf) -> Result<PathBuf, EngineError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(folder);
    }
    // Behind a folder that is still to be made it leads to one at which nobody looked.
    if folder.components().any(|part| part == Component::ParentDir) {
        return Err(EngineError::Unsuitable(format!(
            "FAIRLANE_MATERIAL={} is refused because of its `..`; write the path without it",
            model::text::escaped_path(&folder)
        )));
    }
    let there = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(Path::new("/"));
    let real = there.canonicalize().map_err(|error| cannot("look at", there, &error))?;
    for (level, above) in real.ancestors().enumerate() {
        let found = above.metadata().map_err(|error| cannot("look at", above, &error))?;
        // In a sticky folder nobody renames what is root's; in the folder itself they could put something beside it.
        let sticky = (level > 0 || there != folder) && found.mode() & 0o1000 != 0;
        if found.uid() != 0 || (found.mode() & 0o022 != 0 && !sticky) {
            return Err(EngineError::Unsuitable(format!(
                "{} is refused because users other than root can write {}; name with FAIRLANE_MATERIAL a folder that only \
                 root can write",
                model::text::escaped_path(&folder),
                model::text::escaped_path(above)
            )));
        }
    }
    Ok(folder)
}

/// Whether material of that name is there.
pub(super) fn is_there(name: &str) -> bool {
    folder().is_ok_and(|folder| folder.join(name).join(CHECKSUM).exists())
}

/// Bytes that the material takes, roughly.
pub(super) fn bytes_of(programs: &Programs) -> u64 {
    match programs.material {
        Material::None => 0,
        Material::Recording => programs.size.get(),
        // Mean size, and what a block and an inode add to it.
        Material::Repository | Material::Layers => programs.files.saturating_mul(8192 + 1024),
    }
}

/// Refuses to make material that would fill the disk on which it is kept: its size is a suite's number.
///
/// # Errors
/// The sentence with the remedy.
pub(super) fn check_room(bytes: u64) -> Result<(), EngineError> {
    let folder = folder()?;
    let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let state = rustix::fs::statvfs(there).map_err(|errno| EngineError::file("look at", there, errno))?;
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    if bytes as f64 > MOST_OF_DISK * free as f64 {
        return Err(EngineError::Unsuitable(format!(
            "what the programs work on takes {} MiB, and {} has {} MiB free; lower size or files, or name another folder \
             with FAIRLANE_MATERIAL",
            bytes >> 20,
            model::text::escaped_path(&folder),
            free >> 20
        )));
    }
    Ok(())
}

/// Removes drafts that dead processes left; answers them. Where somebody makes material now, nothing is touched.
pub fn sweep() -> Vec<PathBuf> {
    let Ok(folder) = folder() else { return Vec::new() };
    // Nothing is made where nothing was ever kept.
    let Ok(lock) = open_lock(&folder.join(LOCK), false) else { return Vec::new() };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => sweep_locked(&folder),
        Err(_) => Vec::new(),
    }
}

fn sweep_locked(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let user = rustix::process::geteuid().as_raw();
    let is_own = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user);
    let drafts = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(DRAFT) && is_own(entry));
    drafts.map(|entry| entry.path()).filter(|path| std::fs::remove_dir_all(path).is_ok()).collect()
}

/// Removes all material that nobody works on; answers what it was.
pub fn remove_all() -> Vec<PathBuf> {
    let Ok(folder) = folder() else { return Vec::new() };
    let Ok(lock) = open_lock(&folder.join(LOCK), false) else { return Vec::new() };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => remove_unused(&folder, 0),
        Err(_) => Vec::new(),
    }
}

/// Removes material that nobody works on, but for so many of the newest. The folder is locked.
fn remove_unused(folder: &Path, keep: usize) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_ours = |entry: std::fs::DirEntry| {
        let found = entry.metadata().ok().filter(|found| found.is_dir() && found.uid() == user)?;
        let made = std::fs::symlink_metadata(entry.path().join(CHECKSUM)).ok()?;
        let named = !entry.file_name().to_string_lossy().starts_with('.');
        (named && made.is_file()).then(|| (found.mtime(), entry.path()))
    };
    let mut all: Vec<(i64, PathBuf)> = entries.filter_map(of_ours).collect();
    all.sort_by(|a, b| b.cmp(a));
    let is_unused = |path: &PathBuf| {
        let gone = folder.join(format!("{DRAFT}gone-{}", path.file_name().unwrap_or_default().to_string_lossy()));
        // Locked until it is gone: whoever wants it meanwhile finds that it is not there any more. What is left where
        // this process dies is a draft, which the next one removes.
        open_used(&path.join(CHECKSUM)).is_ok_and(|used| {
            flock(&used, FlockOperation::NonBlockingLockExclusive).is_ok()
                && std::fs::rename(path, &gone).is_ok()
                && std::fs::remove_dir_all(&gone).is_ok()
        })
    };
    all.into_iter().skip(keep).map(|(_, path)| path).filter(is_unused).collect()
}

/// The file that says whether somebody works on material.
fn open_used(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Material of that name; it is made where it is not there. `make` is given the path of what it makes.
///
/// # Errors
/// Where it cannot be made, or is not what it was.
pub(super) fn kept(
    name: &str,
    stop: &AtomicBool,
    mut make: impl FnMut(&Path) -> Result<(), EngineError>,
) -> Result<Kept, EngineError> {
    let folder = folder()?;
    let path = folder.join(name);
    let told = path.join(CHECKSUM);
    let used = loop {
        provide(&folder, name, stop, &mut make)?;
        // Somebody may have removed it in between: then it is made again.
        if let Ok(used) = open_used(&told)
            && flock(&used, FlockOperation::NonBlockingLockShared).is_ok()
            && is_still(&used, &told)
        {
            break used;
        }
        heed(stop)?;
        std::thread::sleep(PATIENCE);
    };
    let text = std::fs::read_to_string(&told).map_err(|error| cannot("read", &told, &error))?;
    let checksum = u32::from_str_radix(text.trim(), 16).map_err(|_| damaged(&path, "its checksum cannot be read"))?;
    Ok(Kept { path: path.join(CONTENTS), checksum, _used: Arc::new(used) })
}

/// Whether an open file still has this name.
fn is_still(file: &File, path: &Path) -> bool {
    let same = |of: &std::fs::Metadata, other: std::fs::Metadata| (of.dev(), of.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|of| std::fs::symlink_metadata(path).is_ok_and(|named| same(&of, named)))
}

/// Makes material where it is not there.
fn provide(
    folder: &Path,
    name: &str,
    stop: &AtomicBool,
    make: &mut impl FnMut(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let path = folder.join(name);
    if !path.join(CHECKSUM).exists() {
        // For root nobody else writes there, whatever the umask is.
        let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
        made.map_err(|error| cannot("create directory", folder, &error))?;
        // Only now all of it is there to be looked at.
        of_nobody_else(folder.to_owned())?;
        let _lock = lock(folder, stop)?;
        // Somebody else may have made it meanwhile.
        if !path.join(CHECKSUM).exists() {
            sweep_locked(folder);
            remove_unused(folder, MOST_KEPT - 1);
            let draft = folder.join(format!("{DRAFT}{name}"));
            let made = draw_up(folder, &draft, &path, make);
            if made.is_err() {
                let _ = std::fs::remove_dir_all(&draft);
            }
            made?;
        }
    }
    Ok(())
}

/// Made, synced, and only then called by its name.
fn draw_up(
    folder: &Path,
    draft: &Path,
    path: &Path,
    make: &mut impl FnMut(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let contents = draft.join(CONTENTS);
    std::fs::create_dir(draft).map_err(|error| cannot("create directory", draft, &error))?;
    make(&contents)?;
    let sum = checksum(&contents).map_err(|error| cannot("read", &contents, &error))?;
    let beside = draft.join(CHECKSUM);
    std::fs::write(&beside, format!("{sum:08x}\n")).map_err(|error| cannot("write", &beside, &error))?;
    let directory = File::open(folder).map_err(|error| cannot("open directory", folder, &error))?;
    syncfs(&directory).map_err(|errno| EngineError::file("sync", draft, errno))?;
    if path.exists() {
        std::fs::remove_dir_all(path).map_err(|error| cannot("remove", path, &error))?;
    }
    std::fs::rename(draft, path).map_err(|error| cannot("create", path, &error))?;
    fsync(&directory).map_err(|errno| EngineError::file("sync", folder, errno))
}

/// The file that is locked: no link is followed, and no pipe waited for.
fn open_lock(path: &Path, create: bool) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().create(create).truncate(false).write(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("it is no regular file")),
    }
}

fn lock(folder: &Path, stop: &AtomicBool) -> Result<File, EngineError> {
    let path = folder.join(LOCK);
    let file = open_lock(&path, true).map_err(|error| cannot("open", &path, &error))?;
    loop {
        heed(stop)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(PATIENCE),
            Err(errno) => return Err(EngineError::file("lock", path, errno)),
        }
    }
}

impl Kept {
    /// Reads it and holds it against its checksum, once in this process.
    ///
    /// # Errors
    /// Where it is not what it was, with the remedy.
    pub(super) fn look(&self) -> Result<(), EngineError> {
        let known = || FOUND_WHOLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if known().contains(&self.path) {
            return Ok(());
        }
        let sum = checksum(&self.path).map_err(|error| cannot("read", &self.path, &error))?;
        self.hold_against(sum)?;
        known().insert(self.path.clone());
        Ok(())
    }

    /// The same where its checksum was taken while it was read.
    ///
    /// # Errors
    /// As [`Kept::look`].
    pub(super) fn hold_against(&self, sum: u32) -> Result<(), EngineError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let wrong = || damaged(folder, &format!("its CRC-32C is {sum:08x} instead of {:08x}", self.checksum));
        if sum == self.checksum { Ok(()) } else { Err(wrong()) }
    }
}

fn damaged(folder: &Path, what: &str) -> EngineError {
    let folder = model::text::escaped_path(folder);
    EngineError::Unsuitable(format!(
        "what programs work on is damaged: {folder}: {what}; remove that folder, and it is made anew"
    ))
}

/// CRC-32C of a file's contents; of a folder that of all names and contents in the order of names.
fn checksum(path: &Path) -> std::io::Result<u32> {
    if path.is_file() {
        return of_contents(File::open(path)?, 0);
    }
    let mut entries: Vec<_> = std::fs::read_dir(path)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut sum = 0;
    for entry in entries {
        sum = crc32c::crc32c_append(sum, entry.file_name().as_encoded_bytes());
        sum = crc32c::crc32c_append(sum, &checksum(&entry.path())?.to_le_bytes());
    }
    Ok(sum)
}

/// CRC-32C of what is read, begun with another.
pub(super) fn of_contents(mut from: impl Read, mut sum: u32) -> std::io::Result<u32> {
    let mut room = vec![0; ROOM];
    loop {
        match from.read(&mut room)? {
            0 => return Ok(sum),
            count => sum = crc32c::crc32c_append(sum, &room[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder stands in a variable of the process: one test reads and sets it.
    #[test]
    fn material_is_made_once_and_whole_and_what_a_dead_process_left_is_removed() {
        let top = tempfile::tempdir().unwrap();
        // SAFETY: no other test of this crate's library reads or sets the variable.
        unsafe { std::env::set_var("FAIRLANE_MATERIAL", top.path()) };
        let stop = AtomicBool::new(false);
        let write = |text: &'static str| {
            move |path: &Path| std::fs::write(path, text).map_err(|error| cannot("write", path, &error))
        };
        assert!(!is_there("a-v1"));
        let failed = kept("a-v1", &stop, |path| {
            write("half")(path)?;
            Err(EngineError::Interrupted)
        });
        assert!(failed.is_err() && !is_there("a-v1"));
        // As a process leaves it that is killed.
        std::fs::create_dir(top.path().join(".fairlane-draft-b-v1")).unwrap();
        let names = |folder: &Path| {
            let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            all.collect::<BTreeSet<_>>()
        };
        // While somebody makes material, drafts are theirs.
        let held = lock(top.path(), &stop).unwrap();
        assert!(sweep().is_empty() && names(top.path()).contains(".fairlane-draft-b-v1"));
        drop(held);
        assert_eq!(sweep(), [top.path().join(".fairlane-draft-b-v1")]);
        std::fs::create_dir(top.path().join(".fairlane-draft-b-v1")).unwrap();
        let made = kept("a-v1", &stop, write("whole")).unwrap();
        assert_eq!(names(top.path()), [".fairlane-lock", "a-v1"].map(str::to_owned).into(), "the draft is gone too");
        assert_eq!((made.checksum, std::fs::read(&made.path).unwrap()), (crc32c::crc32c(b"whole"), b"whole".to_vec()));
        let again = kept("a-v1", &stop, |_| panic!("it is there")).unwrap();
        assert_eq!((&again.path, again.checksum), (&made.path, made.checksum));
        std::fs::write(&made.path, "other").unwrap();
        let error = made.look().unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("remove that folder"), "{error}");
        std::fs::write(&made.path, "whole").unwrap();
        made.look().unwrap();
        // Of what nobody works on a few are kept, the newest.
        for number in 0..6 {
            kept(&format!("b-v{number}"), &stop, write("other")).unwrap();
        }
        let there = names(top.path());
        assert!(there.contains("a-v1") && there.contains("b-v5") && there.len() <= 1 + 1 + MOST_KEPT, "{there:?}");
        drop(again);
        assert_eq!(remove_all().len(), there.len() - 2, "all but the lock and what is worked on");
        drop(made);
        assert_eq!(remove_all(), [top.path().join("a-v1")]);
        assert!(!is_there("a-v1"));
    }

    #[test]
    fn root_keeps_material_nowhere_where_others_write_and_its_lock_is_a_file() {
        let top = tempfile::tempdir().unwrap();
        let link = top.path().join("link");
        std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
        assert!(open_lock(&link, true).is_err());
        let pipe = top.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(open_lock(&pipe, false).is_err(), "and it is not waited for");
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: the rest needs root");
            return;
        }
        let (own, theirs) = (top.path().join("own"), top.path().join("theirs"));
        for folder in [&own, &theirs] {
            std::fs::create_dir(folder).unwrap();
        }
        std::os::unix::fs::chown(&theirs, Some(54321), Some(54321)).unwrap();
        assert_eq!(of_nobody_else(own.join("not/yet")).unwrap(), own.join("not/yet"));
        for folder in [theirs.clone(), theirs.join("below")] {
            let said = of_nobody_else(folder).unwrap_err().to_string();
            assert!(said.contains("is refused because users other than root can write"), "{said}");
        }
    }

    #[test]
    fn root_keeps_material_in_no_folder_that_comes_to_lie_elsewhere() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let top = tempfile::tempdir().unwrap();
        let theirs = top.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(54321), Some(54321)).unwrap();
        // Nothing is there yet to tell where it leads.
        let said = of_nobody_else(top.path().join("missing/../theirs/mm")).unwrap_err().to_string();
        assert!(said.contains("because of its `..`; write the path without it"), "{said}");
        // And what became somebody else's since it was looked at.
        let stop = AtomicBool::new(false);
        let made = provide(&theirs.join("mm"), "a-v1", &stop, &mut |_: &Path| panic!("nothing is made there"));
        assert!(made.unwrap_err().to_string().contains("is refused because users other than root can write"));
        assert!(!theirs.join("mm").join(LOCK).exists());
        let own = top.path().join("own");
        let write = |path: &Path| std::fs::write(path, "x").map_err(|error| cannot("write", path, &error));
        provide(&own.join("mm"), "a-v1", &stop, &mut { write }).unwrap();
        assert_eq!(own.join("mm").metadata().unwrap().mode() & 0o022, 0, "whatever the umask is");
    }

    #[test]
    fn material_that_would_fill_the_disk_is_not_begun() {
        check_room(1 << 20).unwrap();
        let said = check_room(1 << 60).unwrap_err().to_string();
        assert!(said.contains("MiB free") && said.contains("FAIRLANE_MATERIAL"), "{said}");
    }

    #[test]
    fn the_checksum_of_a_folder_hangs_on_names_and_contents() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        std::fs::create_dir(path("one")).unwrap();
        std::fs::write(path("one/a"), "text").unwrap();
        let first = checksum(&path("one")).unwrap();
        std::fs::rename(path("one/a"), path("one/b")).unwrap();
        let renamed = checksum(&path("one")).unwrap();
        std::fs::write(path("one/b"), "texu").unwrap();
        assert!(first != renamed && renamed != checksum(&path("one")).unwrap());
    }
}
