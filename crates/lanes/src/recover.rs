//! Undoing what dead runs left: reads their journals and takes their things away in reverse.
//!
//! A journal is a claim, not a command: each thing is looked up in the kernel first (mount table,
//! loop devices, owner of the directory), and nothing outside of the run directory is touched.

mod dead;

use crate::failure::{LaneFailure, cannot, failed};
use crate::guest::left as guest_left;
use crate::loop_device;
use crate::mount::unmount_patiently;
use crate::mountinfo;
use crate::throttle;
use crate::undo::{Detail, Entry, Owner, RUN_DIRECTORY_PREFIX, Thing, append, is_run_id};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another command that cleans the same journal is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(15);

/// What a recovery did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovered {
    /// What was taken away, one phrase each: `unmounted /…`.
    pub cleaned: Vec<String>,
    /// What could not be, one sentence each; its journal stays for the next time.
    pub failures: Vec<String>,
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

/// A journal, read back.
struct Claims {
    owner: Owner,
    kept: bool,
    /// What was not reported undone, by number.
    open: BTreeMap<u64, (Thing, Option<Detail>)>,
}

fn parse(text: &str) -> Option<Claims> {
    // A line without its end was being written at the death: its thing was not made.
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let Ok(Entry::Owner(owner)) = serde_json::from_str(lines.next()?) else { return None };
    let mut claims = Claims { owner, kept: false, open: BTreeMap::new() };
    for line in lines {
        match serde_json::from_str(line) {
            Ok(Entry::Will { id, thing }) => {
                claims.open.insert(id, (thing, None));
            }
            Ok(Entry::Learned { id, detail }) => {
                if let Some((_, known)) = claims.open.get_mut(&id) {
                    *known = Some(detail);
                }
            }
            Ok(Entry::Done { id }) => {
                claims.open.remove(&id);
            }
            Ok(Entry::Keep) => claims.kept = true,
            Ok(Entry::Owner(_)) | Err(_) => {}
        }
    }
    Some(claims)
}

fn recover_journal(path: &Path, kept_too: bool, recovered: &mut Recovered) -> Result<(), LaneFailure> {
    let open = OpenOptions::new().read(true).append(true).custom_flags(libc::O_NOFOLLOW).open(path);
    let mut file = match open {
        Ok(file) => file,
        // Another command cleaned it meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot(format!("open the undo journal {}", path.display()), error)),
    };
    let read = |file: &mut File| {
        let mut bytes = Vec::new();
        std::io::Seek::rewind(file)?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let cannot_read = |error: std::io::Error| cannot(format!("read the undo journal {}", path.display()), error);
    let Some(claims) = parse(&read(&mut file).map_err(cannot_read)?) else {
        return Err(failed(format!(
            "the undo journal {} is damaged; look at what it names, then remove it",
            path.display()
        )));
    };
    if claims.owner.lives() {
        return Ok(());
    }
    if !lock(&file)? {
        return Ok(());
    }
    // Whoever held the lock may have undone everything and removed the file.
    if file.metadata().map_err(cannot_read)?.nlink() == 0 {
        return Ok(());
    }
    let Some(claims) = parse(&read(&mut file).map_err(cannot_read)?) else { return Ok(()) };
    if claims.kept && !kept_too {
        recovered.kept.push(claims.owner.run_id);
        return Ok(());
    }
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
    let next = claims.open.keys().next_back().map_or(0, |last| last + 1);
    let mut hierarchy = Hierarchy::new(run_id, next);
    for (of_limits, list) in [(true, limits), (false, others)] {
        for (id, (thing, detail)) in list {
            // What only the kernel held went with its boot: an equal limit is somebody's own by now.
            let of_boot = matches!(thing, Thing::Limit { .. } | Thing::Group { .. } | Thing::Guest { .. });
            let gone = of_boot && !this_boot;
            let mut mount = || hierarchy.mount(&mut file);
            let undone = if gone { Ok(Vec::new()) } else { undo(thing, detail.as_ref(), run_id, &mut mount) };
            let undone = undone.map(|mut cleaned| {
                // A device has an entry for each throttle of its lanes, and these may share a value.
                cleaned.retain(|line| !is_limit(thing) || !recovered.cleaned.contains(line));
                recovered.cleaned.extend(cleaned);
                let _ = append(&mut file, &Entry::Done { id: *id });
            });
            note(undone, recovered);
        }
        if of_limits {
            note(hierarchy.unmount(&mut file), recovered);
        }
    }
    if whole {
        std::fs::remove_file(path)
            .map_err(|error| cannot(format!("remove the undo journal {}", path.display()), error))?;
    }
    Ok(())
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
    fn mount(&mut self, file: &mut File) -> Result<PathBuf, LaneFailure> {
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

    fn will(&mut self, file: &mut File, thing: Thing) -> Result<(), LaneFailure> {
        let id = self.next;
        append(file, &Entry::Will { id, thing: thing.clone() })
            .map_err(|error| cannot("write an undo journal", error))?;
        self.next += 1;
        self.made.push((id, thing));
        Ok(())
    }

    /// Takes away what it made; without a mount there is nothing.
    fn unmount(&mut self, file: &mut File) -> Result<(), LaneFailure> {
        while let Some((id, thing)) = self.made.pop() {
            undo(&thing, None, self.run_id, &mut || Err(failed("no limit is left")))?;
            if let Thing::Mount { target, .. } = &thing {
                let _ = std::fs::remove_dir(target);
            }
            let _ = append(file, &Entry::Done { id });
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

/// Undoes one thing; answers what was done, nothing where it was not there. `mount` mounts the hierarchy
/// that shows limits, where nobody has.
fn undo(
    thing: &Thing,
    detail: Option<&Detail>,
    run_id: &str,
    mount: &mut dyn FnMut() -> Result<PathBuf, LaneFailure>,
) -> Result<Vec<String>, LaneFailure> {
    match thing {
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
                return Err(foreign(path));
            }
            remove_run_directory(path, detail)
        }
        Thing::Limit { device, name, sequence, throttle } => {
            // The name is part of a path below.
            let plain =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_!".contains(&byte));
            if !plain {
                return Err(foreign(Path::new(name)));
            }
            let run = format!("{RUN_DIRECTORY_PREFIX}{run_id}");
            throttle::lift_left_over(*device, name, *sequence, throttle, &run, mount)
        }
        Thing::Group { path } => remove_group(path, run_id),
        Thing::Server { note } => crate::undo_server::end(note, run_id),
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
    }
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
        if source.is_some_and(|source| mount.source != source) {
            return Err(failed(format!(
                "{} carries {} instead of {}, so it is left mounted; unmount it yourself",
                target.display(),
                mount.source,
                source.unwrap_or_default()
            )));
        }
        unmount_patiently(target)?;
        cleaned.push(format!("unmounted {}", target.display()));
    }
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

fn remove(path: &Path) -> Result<Vec<String>, LaneFailure> {
    nothing_mounted_below(path)?;
    let fail = |error: std::io::Error| cannot(format!("remove {}", path.display()), error);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    if metadata.is_dir() {
        std::fs::remove_dir_all(path).map_err(fail)?;
    } else {
        // A symbolic link is removed, never followed.
        std::fs::remove_file(path).map_err(fail)?;
    }
    Ok(vec![format!("removed {}", path.display())])
}

fn remove_run_directory(path: &Path, detail: Option<&Detail>) -> Result<Vec<String>, LaneFailure> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(Vec::new()) };
    let replaced = match detail {
        // After a reboot the disk may have another number; the inode stays.
        Some(Detail::Inode(_, inode)) => metadata.ino() != *inode,
        _ => false,
    };
    if !metadata.is_dir() || replaced || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(failed(format!(
            "{} is not the directory that this run made, so it is left alone; remove it yourself",
            path.display()
        )));
    }
    remove(path)
}

fn nothing_mounted_below(path: &Path) -> Result<(), LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    match mountinfo::below(&mounts, path).next() {
        Some(mount) => Err(failed(format!(
            "{} is still mounted, so {} is left; unmount it, then run `fairlane clean`",
            mount.target.display(),
            path.display()
        ))),
        None => Ok(()),
    }
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
                Thing::Loop { backing: bad.into() },
                Thing::Mount { target: bad.into(), source: None },
                Thing::Group { path: bad.into() },
                Thing::Server { note: bad.into() },
                Thing::Guest { folder: bad.into() },
                Thing::Limit { device: (7, 0), name: bad.into(), sequence: 0, throttle: model::Throttle::default() },
            ] {
                assert!(undo(&thing, None, "r", &mut never).is_err(), "{thing:?}");
            }
        }
        assert_eq!(run_directory_of(Path::new("/srv/.fairlane-r/image0"), "r").unwrap(), Path::new("/srv/.fairlane-r"));
        assert!(undo(&Thing::RunDirectory { path: "/srv/.fairlane-r/x".into() }, None, "r", &mut never).is_err());
    }

    #[test]
    fn a_torn_last_line_was_never_made() {
        let text = "{\"entry\":\"owner\",\"run_id\":\"r\",\"pid\":1,\"start_ticks\":2,\"boot_id\":\"b\"}\n\
            {\"entry\":\"will\",\"id\":0,\"thing\":\"run-directory\",\"path\":\"/a\"}\n\
            {\"entry\":\"will\",\"id\":1,\"thing\":\"loop\",\"backing\":\"/b\"}\n\
            {\"entry\":\"done\",\"id\":0}\n\
            {\"entry\":\"will\",\"id\":2,\"thing\":\"run-directory\",\"path\":\"/c\"}";
        let claims = parse(text).unwrap();
        assert_eq!(claims.open.keys().copied().collect::<Vec<_>>(), [1]);
        assert!(parse("").is_none() && parse("{}\n").is_none());
    }
}
