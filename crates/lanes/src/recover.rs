//! Undoing what dead runs left: reads their journals and takes their things away in reverse.
//!
//! A journal is a claim, not a command: each thing is looked up in the kernel first (mount table,
//! loop devices, owner of the directory), and nothing outside of the run directory is touched.

mod dead;
mod reading;

use crate::failure::{LaneFailure, cannot, failed};
use crate::guest::orphans as guest_left;
use crate::layers::teardown;
use crate::mount::{self, unmount_patiently};
use crate::undo::{Detail, Entry, JournalFile, RUN_DIRECTORY_PREFIX, Thing, is_run_id};
use crate::{loop_device, mountinfo, replacing, run_folder, throttle};
use reading::Claims;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, openat};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another command that cleans the same journal is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(15);

/// How often a rebuild that holds a mount is ended before the unmount is said to fail.
const REPLACE_TRIES: u32 = 3;

/// What a recovery did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovered {
    /// What was taken away, one phrase each: `unmounted /…`.
    pub cleaned: Vec<String>,
    /// What could not be, one sentence each; its journal stays for the next time.
    pub failures: Vec<String>,
    /// Processes whose races run, or end just now, and were passed over.
    pub living: Vec<u32>,
    /// Runs that were kept on purpose and passed over.
    pub kept: Vec<String>,
    /// Run folders that no journal knows, in which disks of dead processes are mounted: [`recover_kept`] takes them
    /// away.
    pub dead: Vec<PathBuf>,
}

/// Undoes what dead runs left. Journals of living runs and of runs kept on purpose are passed over.
/// Any number of processes may call it at once. A directory that does not exist holds nothing.
pub fn recover(directory: &Path) -> Recovered {
    recover_journals(directory, false)
}

/// As [`recover`], and undoes what `--keep` kept too: `fairlane clean`.
pub fn recover_kept(directory: &Path) -> Recovered {
    recover_journals(directory, true)
}

fn recover_journals(directory: &Path, kept_too: bool) -> Recovered {
    let mut recovered = Recovered::default();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => {
                if let Err(error) = recover_journal(&path, kept_too, &mut recovered) {
                    recovered.failures.push(error.to_string());
                }
            }
            Some("new") => remove_stale_draft(&path),
            _ => {}
        }
    }
    let known = |folder: &Path| {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let run_id = name.strip_prefix(RUN_DIRECTORY_PREFIX).unwrap_or_default();
        directory.join(format!("{run_id}.jsonl")).exists()
    };
    let dead = dead::folders().into_iter().filter(|folder| !known(folder));
    match kept_too {
        false => recovered.dead.extend(dead),
        true => dead.for_each(|folder| match dead::take_away(&folder) {
            Ok(cleaned) => recovered.cleaned.extend(cleaned),
            Err(error) => recovered.failures.push(error.to_string()),
        }),
    }
    recovered
}

/// A draft belongs to a run that died before it made anything.
fn remove_stale_draft(path: &Path) {
    let old = |metadata: std::fs::Metadata| metadata.modified().ok()?.elapsed().ok();
    if path.symlink_metadata().ok().and_then(old).is_some_and(|age| age.as_secs() > 60) {
        let _ = std::fs::remove_file(path);
    }
}

fn recover_journal(path: &Path, kept_too: bool, recovered: &mut Recovered) -> Result<(), LaneFailure> {
    let Some(file) = reading::open(path)? else { return Ok(()) };
    let read = || {
        let claims =
            reading::read(&file).map_err(|error| cannot(format!("read the undo journal {}", path.display()), error))?;
        claims.ok_or_else(|| {
            failed(format!("the undo journal {} is damaged; look at what it names, then remove it", path.display()))
        })
    };
    let owner = read()?.owner;
    if owner.lives() || !lock(&file)? {
        recovered.living.push(owner.pid);
        return Ok(());
    }
    // Whoever held the lock may have undone everything and removed the file.
    let metadata = file.metadata().map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    if metadata.nlink() == 0 {
        return Ok(());
    }
    let claims = read()?;
    if claims.kept && !kept_too {
        recovered.kept.push(claims.owner.run_id);
        return Ok(());
    }
    // The lock is held until the journal is gone.
    let mut file = JournalFile::new(file, claims.length);
    if undo_claims(&claims, path, &mut file, recovered) {
        std::fs::remove_file(path)
            .map_err(|error| cannot(format!("remove the undo journal {}", path.display()), error))?;
    }
    Ok(())
}

/// Undoes what a journal claims and notes it there; answers whether no later try is needed.
fn undo_claims(claims: &Claims, path: &Path, file: &mut JournalFile, recovered: &mut Recovered) -> bool {
    let mut whole = true;
    let mut note = |result: Result<(), LaneFailure>, recovered: &mut Recovered| {
        if let Err(error) = result {
            whole = false;
            recovered.failures.push(error.to_string());
        }
    };
    // Limits first: what a throttled device still has to write would keep everything else busy. Those of a
    // group go now, and the group itself when its processes are gone.
    let this_boot = claims.owner.is_of_this_boot();
    let run_id = &claims.owner.run_id;
    for (thing, _) in claims.open.values().filter(|_| this_boot) {
        if let Thing::Group { path } = thing
            && own_group(path, run_id).is_ok()
        {
            note(throttle::lift_group(path), recovered);
        }
    }
    // A server keeps its lane mounted: it goes with them.
    let is_limit = |thing: &Thing| matches!(thing, Thing::Limit { .. });
    let is_first = |thing: &Thing| is_limit(thing) || matches!(thing, Thing::Server { .. });
    let (limits, others): (Vec<_>, Vec<_>) = claims.open.iter().rev().partition(|(_, (thing, _))| is_first(thing));
    let mut hierarchy = Hierarchy::new(run_id, claims.next());
    for (of_limits, list) in [(true, limits), (false, others)] {
        for (id, (thing, detail)) in list {
            // An equal limit is somebody's own by now.
            let gone = is_of_boot(thing) && !this_boot;
            let mut mount = || hierarchy.mount(file);
            let undone =
                if gone { Ok(Vec::new()) } else { undo(thing, detail.as_ref(), (run_id, this_boot), &mut mount) };
            match undone {
                Ok(mut cleaned) => {
                    // A device has an entry for each throttle of its lanes, and these may share a value.
                    cleaned.retain(|line| !is_limit(thing) || !recovered.cleaned.contains(line));
                    recovered.cleaned.extend(cleaned);
                }
                // No later try would change it: it is told once.
                Err(NotUndone::Foreign(failure)) => recovered.failures.push(failure.to_string()),
                Err(NotUndone::Failed(failure)) => {
                    note(Err(failure), recovered);
                    continue;
                }
            }
            let _ = file.note(&Entry::Done { id: *id });
        }
        if of_limits {
            note(hierarchy.unmount(file), recovered);
        }
    }
    if let Some(thing) = claims.unknown.values().next() {
        note(
            Err(failed(format!(
                "the undo journal {} names a thing that this version does not know ({thing}); run `fairlane clean` of \
                 the version that made it",
                path.display()
            ))),
            recovered,
        );
    }
    whole
}

/// Whether only the kernel held it: it went with its boot.
fn is_of_boot(thing: &Thing) -> bool {
    // An array may have been put together again since: its disks are known by what they say.
    let of_kernel = matches!(thing, Thing::Limit { .. } | Thing::Group { .. } | Thing::Guest { .. });
    of_kernel || matches!(thing, Thing::MappedDevice { .. } | Thing::Queue { .. } | Thing::KernelSettings { .. })
}

/// The hierarchy of blkio, mounted for a recovery where nobody else has mounted it: in a folder of the dead
/// run's own, and in its journal before.
struct Hierarchy<'a> {
    run_id: &'a str,
    /// The number of the next entry.
    next: u64,
    /// What was made, with its entry: the folders and the mount.
    made: Vec<(u64, Thing)>,
}

impl<'a> Hierarchy<'a> {
    fn new(run_id: &'a str, next: u64) -> Self {
        Hierarchy { run_id, next, made: Vec::new() }
    }

    /// Mounts it and answers where.
    fn mount(&mut self, file: &mut JournalFile) -> Result<PathBuf, LaneFailure> {
        if !is_run_id(self.run_id) {
            return Err(foreign(Path::new(self.run_id)));
        }
        let folder = Path::new("/run").join(format!("{RUN_DIRECTORY_PREFIX}{}", self.run_id));
        let target = folder.join("blkio-undo");
        let make = |path: &Path| match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(|error| cannot(format!("make the directory {}", path.display()), error)),
        };
        // A race on a block device has its folder there itself.
        if folder.symlink_metadata().is_err() {
            self.will(file, Thing::RunDirectory { path: folder.clone() })?;
        }
        make(&folder)?;
        make(&target)?;
        let source = Some(throttle::MOUNT_SOURCE.to_owned());
        self.will(file, Thing::Mount { target: target.clone(), source })?;
        throttle::mount_v1(&target)?;
        Ok(target)
    }

    fn will(&mut self, file: &mut JournalFile, thing: Thing) -> Result<(), LaneFailure> {
        let id = self.next;
        file.note(&Entry::Will { id, thing: thing.clone() }).map_err(|error| cannot("write an undo journal", error))?;
        self.next += 1;
        self.made.push((id, thing));
        Ok(())
    }

    /// Takes away what it made; without a mount there is nothing.
    fn unmount(&mut self, file: &mut JournalFile) -> Result<(), LaneFailure> {
        while let Some((id, thing)) = self.made.pop() {
            undo(&thing, None, (self.run_id, true), &mut || Err(failed("no limit is left")))
                .map_err(LaneFailure::from)?;
            if let Thing::Mount { target, .. } = &thing {
                let _ = std::fs::remove_dir(target);
            }
            let _ = file.note(&Entry::Done { id });
        }
        Ok(())
    }
}

/// `false`: another command still cleans this journal.
fn lock(file: &File) -> Result<bool, LaneFailure> {
    let started = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) if started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(cannot("lock an undo journal", error)),
        }
    }
}

/// Why a thing was not undone.
#[derive(Debug)]
enum NotUndone {
    /// It may go at the next try.
    Failed(LaneFailure),
    /// What is there is not what the run made.
    Foreign(LaneFailure),
}

impl From<LaneFailure> for NotUndone {
    fn from(failure: LaneFailure) -> Self {
        NotUndone::Failed(failure)
    }
}

impl From<NotUndone> for LaneFailure {
    fn from(not: NotUndone) -> Self {
        match not {
            NotUndone::Failed(failure) | NotUndone::Foreign(failure) => failure,
        }
    }
}

/// Undoes one thing; answers what was done, nothing where it was not there. `mount` mounts the hierarchy
/// that shows limits, where nobody has.
fn undo(
    thing: &Thing,
    detail: Option<&Detail>,
    (run_id, this_boot): (&str, bool),
    mount: &mut dyn FnMut() -> Result<PathBuf, LaneFailure>,
) -> Result<Vec<String>, NotUndone> {
    let done = match thing {
        Thing::Mount { target, source } => {
            run_directory_of(target, run_id)?;
            unmount_all(target, source.as_deref())
        }
        Thing::Loop { backing } => {
            run_directory_of(backing, run_id)?;
            detach_all(backing)
        }
        Thing::RunDirectory { path } => {
            if run_directory_of(path, run_id)? != *path {
                return Err(foreign(path).into());
            }
            return remove_run_directory(path, detail);
        }
        Thing::BoundDirectory { path, target } => {
            let shelter = run_directory_of(target, run_id)?;
            if run_directory_of(path, run_id)? != *path || target.parent() != Some(&shelter) {
                return Err(foreign(path).into());
            }
            return remove_bound_directory(path, target, detail);
        }
        Thing::Limit { device, name, sequence, throttle } => {
            // The name is part of a path below.
            let plain =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_!".contains(&byte));
            if !plain {
                return Err(foreign(Path::new(name)).into());
            }
            let run = format!("{RUN_DIRECTORY_PREFIX}{run_id}");
            throttle::lift_left_over(*device, name, *sequence, throttle, &run, mount)
        }
        Thing::Group { path } => remove_group(path, run_id),
        Thing::MappedDevice { .. }
        | Thing::Array { .. }
        | Thing::CacheSet { .. }
        | Thing::Queue { .. }
        | Thing::KernelSettings { .. } => {
            teardown::check_is_of_run(thing, run_id).map_err(NotUndone::Foreign)?;
            teardown::take_away_for_good(thing).map(|done| done.into_iter().collect())
        }
        Thing::Server { note } => crate::undo_server::end(note, run_id, this_boot),
        Thing::Guest { folder } => {
            run_directory_of(folder, run_id)?;
            let (began, session) = match detail {
                Some(Detail::Process(_, ticks)) => (*ticks, None),
                Some(Detail::Session(session, ticks)) => (*ticks, Some(*session)),
                // The race died before it learned the number; the folder's name is the run's own.
                _ => (0, None),
            };
            guest_left::end(began, folder, session)
        }
    };
    Ok(done?)
}

/// Whether it is the run's own group of cgroup v2.
fn own_group(path: &Path, run_id: &str) -> Result<(), LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    let ours =
        mounts.iter().any(|mount| mount.filesystem == "cgroup2" && throttle::group_of(&mount.target, run_id) == path);
    if ours && is_run_id(run_id) { Ok(()) } else { Err(foreign(path)) }
}

/// Removes the run's own group of cgroup v2, which holds no process any more.
fn remove_group(path: &Path, run_id: &str) -> Result<Vec<String>, LaneFailure> {
    own_group(path, run_id)?;
    if !path.exists() {
        return Ok(Vec::new());
    }
    throttle::remove_group(path)?;
    Ok(vec![format!("removed the cgroup {}", path.display())])
}

fn foreign(path: &Path) -> LaneFailure {
    failed(format!(
        "the undo journal names {}, which lies outside of its run directory, so it is left alone; remove the journal",
        path.display()
    ))
}

/// The run directory that a journalled path lies in (or is).
fn run_directory_of(path: &Path, run_id: &str) -> Result<PathBuf, LaneFailure> {
    let wanted = format!("{RUN_DIRECTORY_PREFIX}{run_id}");
    let plain = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        && is_run_id(run_id);
    let found = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == wanted.as_str()));
    match found {
        Some(found) if plain => Ok(found.to_owned()),
        _ => Err(foreign(path)),
    }
}

fn unmount_all(target: &Path, source: Option<&str>) -> Result<Vec<String>, LaneFailure> {
    let mut cleaned = Vec::new();
    loop {
        let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
        let Some(mount) = mountinfo::at(&mounts, target) else { return Ok(cleaned) };
        if source.is_some_and(|source| !is_source(&mount.source, source)) {
            return Err(failed(format!(
                "{} carries {} instead of {}, so it is left mounted; unmount it yourself",
                target.display(),
                mount.source,
                source.unwrap_or_default()
            )));
        }
        // Of a lane that rebuilt a disk the kernel goes on with that, and holds the mount.
        let replaces = mount.filesystem == "btrfs";
        unmount_replacing(target, replaces)?;
        cleaned.push(format!("unmounted {}", target.display()));
    }
}

/// Whether the mount table names what was mounted: Btrfs may call a mapped device by another of its names.
fn is_source(found: &str, mounted: &str) -> bool {
    let number = |path: &str| {
        let metadata = Path::new(path).metadata().ok().filter(|of| of.file_type().is_block_device());
        metadata.map(|of| of.rdev())
    };
    let of_device = || mounted.starts_with("/dev/") && number(mounted).is_some() && number(mounted) == number(found);
    found == mounted || of_device()
}

/// The tool that a dead run had rebuild a disk may begin with it just now.
fn unmount_replacing(target: &Path, replaces: bool) -> Result<(), LaneFailure> {
    for _ in 0..REPLACE_TRIES {
        if replaces {
            replacing::cancel(target);
        }
        match unmount_patiently(target) {
            Err(_) if replaces => {}
            result => return result,
        }
    }
    unmount_patiently(target)
}

/// Detaches every loop device that carries the image: the death may have come before the journal
/// learned its number.
fn detach_all(backing: &Path) -> Result<Vec<String>, LaneFailure> {
    let mut cleaned = Vec::new();
    for (number, found) in loop_device::attached() {
        if found == backing {
            loop_device::detach_number(number, backing, None)?;
            cleaned.push(format!("detached /dev/loop{number}"));
        }
    }
    Ok(cleaned)
}

/// The folder that a run made, opened; `None`: nothing is there.
fn open_own(path: &Path, detail: Option<&Detail>) -> Result<Option<OwnedFd>, NotUndone> {
    let foreign = || {
        let inode = match detail {
            Some(Detail::Inode(_, inode)) => format!(" (that one has the inode {inode}, and may have been moved)"),
            _ => String::new(),
        };
        NotUndone::Foreign(failed(format!(
            "{} is not the directory that this run made{inode}, so it is left alone; remove it yourself",
            path.display()
        )))
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Through no link: one could lead to a folder of the same inode on another disk, and the disk's number is no proof
    // after a reboot.
    let opened = run_folder::parent_of(path).and_then(|(above, name)| openat(above, name, flags, Mode::empty()));
    let folder = match opened {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(foreign()),
        Err(error) => return Err(cannot(format!("open {}", path.display()), error).into()),
    };
    let stat = fstat(&folder).map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    let ours = match detail {
        // After a reboot the disk may have another number; the inode stays.
        Some(Detail::Inode(_, inode)) => stat.st_ino == *inode,
        _ => stat.st_uid == rustix::process::geteuid().as_raw(),
    };
    if ours { Ok(Some(folder)) } else { Err(foreign()) }
}

fn remove_run_directory(path: &Path, detail: Option<&Detail>) -> Result<Vec<String>, NotUndone> {
    let Some(folder) = open_own(path, detail)? else { return Ok(Vec::new()) };
    run_folder::nothing_mounted_below(path)?;
    run_folder::remove_folder(&folder, path)?;
    Ok(vec![format!("removed {}", path.display())])
}

/// Through its mount in root's own place it is found wherever somebody moved it; without the mount nothing was in
/// it yet, or the machine was booted since.
fn remove_bound_directory(path: &Path, target: &Path, detail: Option<&Detail>) -> Result<Vec<String>, NotUndone> {
    let bound = match mount::is_mounted(target)? {
        true => open_own(target, detail)?,
        false => None,
    };
    let folder = match bound {
        Some(folder) => Some(folder),
        None => {
            run_folder::unbind(target)?;
            open_own(path, detail)?
        }
    };
    let Some(folder) = folder else { return Ok(Vec::new()) };
    // The run died before it knew which folder it had made, so nothing is in that one yet; another of root's, that
    // somebody moved there, is left as it is.
    let known = matches!(detail, Some(Detail::Inode(..)));
    if !known && !run_folder::is_fresh(&folder).map_err(|error| cannot(format!("look at {}", path.display()), error))? {
        return Err(NotUndone::Foreign(failed(format!(
            "{} is not the empty directory that this run made, so it is left alone; remove it yourself",
            path.display()
        ))));
    }
    run_folder::remove_bound(folder, path, target)?;
    Ok(vec![format!("removed {}", path.display())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_the_run_directory_are_undone() {
        let mut never = || Err(failed("nothing here needs the hierarchy"));
        for bad in [
            "/etc",
            "/srv/.fairlane-other/image0",
            "/srv/.fairlane-r/../../etc",
            "relative/.fairlane-r/x",
            "/srv/x.fairlane-r/y",
        ] {
            for thing in [
                Thing::RunDirectory { path: bad.into() },
                Thing::BoundDirectory { path: bad.into(), target: "/run/.fairlane-r/images".into() },
                Thing::BoundDirectory { path: "/srv/.fairlane-r".into(), target: bad.into() },
                Thing::Loop { backing: bad.into() },
                Thing::Mount { target: bad.into(), source: None },
                Thing::Group { path: bad.into() },
                Thing::Server { note: bad.into() },
                Thing::Guest { folder: bad.into() },
                Thing::Limit { device: (7, 0), name: bad.into(), sequence: 0, throttle: model::Throttle::default() },
            ] {
                assert!(undo(&thing, None, ("r", true), &mut never).is_err(), "{thing:?}");
            }
        }
        assert_eq!(run_directory_of(Path::new("/srv/.fairlane-r/image0"), "r").unwrap(), Path::new("/srv/.fairlane-r"));
        assert!(
            undo(&Thing::RunDirectory { path: "/srv/.fairlane-r/x".into() }, None, ("r", true), &mut never).is_err()
        );
    }

    #[test]
    fn a_folder_of_a_run_is_opened_through_no_link() {
        let top = std::env::temp_dir().join(format!("fairlane-no-link-{}", std::process::id()));
        std::fs::create_dir(&top).unwrap();
        let top = top.canonicalize().unwrap();
        let (place, moved) = (top.join("place"), top.join("moved"));
        let own = place.join(".fairlane-r");
        std::fs::create_dir_all(&own).unwrap();
        let (device, inode) = run_folder::identity(std::fs::File::open(&own).unwrap()).unwrap();
        let detail = Detail::Inode(device, inode);
        assert!(open_own(&own, Some(&detail)).unwrap().is_some());
        assert!(open_own(&place.join(".fairlane-other"), None).unwrap().is_none());
        let by_hand = |path: &Path| run_folder::open_part_by_part(path, OFlags::PATH | OFlags::DIRECTORY);
        assert!(by_hand(&own).is_ok());
        // The inode is the same, as one of another disk may be.
        std::fs::rename(&place, &moved).unwrap();
        assert!(open_own(&own, Some(&detail)).unwrap().is_none());
        std::os::unix::fs::symlink(&moved, &place).unwrap();
        assert!(matches!(open_own(&own, Some(&detail)), Err(NotUndone::Foreign(_))));
        assert!(by_hand(&own).is_err() && moved.join(".fairlane-r").is_dir());
        std::fs::remove_file(&place).unwrap();
        std::fs::create_dir(&place).unwrap();
        std::os::unix::fs::symlink(moved.join(".fairlane-r"), &own).unwrap();
        let behind_a_link = open_own(&own, None);
        std::fs::remove_dir_all(&top).unwrap();
        assert!(matches!(behind_a_link, Err(NotUndone::Foreign(_))));
    }
}
