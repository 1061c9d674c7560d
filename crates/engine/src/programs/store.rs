//! Where material is kept, and how it comes to be there whole.
//!
//! One process makes material at a time; it holds the lock of the folder. Whatever draft lies there when the lock is
//! free was left by a process that is gone. A draft is synced before it gets its name, and its checksum lies beside it.

use super::cannot;
use crate::error::EngineError;
use crate::workloads::heed;
use model::programs::{Material, Programs};
use rustix::fs::{FlockOperation, flock, fsync, syncfs};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// In the folder of one material: itself, a file or a folder, and its checksum.
pub(super) const CONTENTS: &str = "material";
const CHECKSUM: &str = "crc32c";
const DRAFT: &str = ".draft-";
const LOCK: &str = ".lock";
/// How often the lock is tried while somebody else makes material.
const PATIENCE: Duration = Duration::from_millis(50);
/// Of what is free where material is kept, it may take so much.
const MOST_OF_DISK: f64 = 0.9;
/// Bytes read at once.
const ROOM: usize = 1 << 20;

/// What was found whole by this process.
static FOUND_WHOLE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Material that is whole, and its CRC-32C as it was when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// The material itself.
    pub(super) path: PathBuf,
    pub(super) checksum: u32,
}

/// Where material is kept: `FAIRLANE_MATERIAL`, else for root /var/cache/fairlane, else
/// `$XDG_CACHE_HOME/fairlane`.
///
/// # Errors
/// Where none of them is known.
pub fn folder() -> Result<PathBuf, EngineError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = absolute("FAIRLANE_MATERIAL") {
        return Ok(folder);
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
    let Ok(lock) = OpenOptions::new().write(true).open(folder.join(LOCK)) else { return Vec::new() };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => sweep_locked(&folder),
        Err(_) => Vec::new(),
    }
}

fn sweep_locked(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let drafts = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(DRAFT));
    drafts.map(|entry| entry.path()).filter(|path| std::fs::remove_dir_all(path).is_ok()).collect()
}

/// Material of that name; it is made where it is not there. `make` is given the path of what it makes.
///
/// # Errors
/// Where it cannot be made, or is not what it was.
pub(super) fn kept(
    name: &str,
    stop: &AtomicBool,
    make: impl FnOnce(&Path) -> Result<(), EngineError>,
) -> Result<Kept, EngineError> {
    let folder = folder()?;
    let path = folder.join(name);
    if !path.join(CHECKSUM).exists() {
        std::fs::create_dir_all(&folder).map_err(|error| cannot("create directory", &folder, &error))?;
        let _lock = lock(&folder, stop)?;
        // Somebody else may have made it meanwhile.
        if !path.join(CHECKSUM).exists() {
            sweep_locked(&folder);
            let draft = folder.join(format!("{DRAFT}{name}"));
            let made = draw_up(&folder, &draft, &path, make);
            if made.is_err() {
                let _ = std::fs::remove_dir_all(&draft);
            }
            made?;
        }
    }
    let told = path.join(CHECKSUM);
    let text = std::fs::read_to_string(&told).map_err(|error| cannot("read", &told, &error))?;
    let checksum = u32::from_str_radix(text.trim(), 16).map_err(|_| damaged(&path, "its checksum cannot be read"))?;
    Ok(Kept { path: path.join(CONTENTS), checksum })
}

/// Made, synced, and only then called by its name.
fn draw_up(
    folder: &Path,
    draft: &Path,
    path: &Path,
    make: impl FnOnce(&Path) -> Result<(), EngineError>,
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

fn lock(folder: &Path, stop: &AtomicBool) -> Result<File, EngineError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| cannot("open", &path, &error))?;
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
        std::fs::create_dir(top.path().join(".draft-b-v1")).unwrap();
        let names = |folder: &Path| {
            let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            all.collect::<BTreeSet<_>>()
        };
        // While somebody makes material, drafts are theirs.
        let held = lock(top.path(), &stop).unwrap();
        assert!(sweep().is_empty() && names(top.path()).contains(".draft-b-v1"));
        drop(held);
        assert_eq!(sweep(), [top.path().join(".draft-b-v1")]);
        std::fs::create_dir(top.path().join(".draft-b-v1")).unwrap();
        let made = kept("a-v1", &stop, write("whole")).unwrap();
        assert_eq!(names(top.path()), [".lock", "a-v1"].map(str::to_owned).into(), "the draft is gone too");
        assert_eq!((made.checksum, std::fs::read(&made.path).unwrap()), (crc32c::crc32c(b"whole"), b"whole".to_vec()));
        assert_eq!(kept("a-v1", &stop, |_| panic!("it is there")).unwrap(), made);
        std::fs::write(&made.path, "other").unwrap();
        let error = made.look().unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("remove that folder"), "{error}");
        std::fs::write(&made.path, "whole").unwrap();
        made.look().unwrap();
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
