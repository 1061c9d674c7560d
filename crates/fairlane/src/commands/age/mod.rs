//! `fairlane age`: lives a life of use in a folder, and tells how old that made its filesystem.

mod folder;
mod told;

use super::report::print;
use crate::failure::{Failure, Status};
use crate::options::Age;
use crate::owned;
use crate::signals;
use crate::terminal;
use aging::measures::{BesideFresh, ColdWalk, cold_walk, copy_fresh, read_beside_fresh, remove_fresh};
use aging::state::State;
use aging::{AgingError, EndedBy, LEAST_CAPACITY, Life, Lived, Measures, Profile, Progress, Until};
use folder::{Aged, Place};
use model::Bytes;
use model::aged::{Age as Amount, USUAL_PROFILE, USUAL_SEED};
use model::lane::LaneSpec;
use rustix::io::Errno;
use std::io::{IsTerminal, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Of what is free a life takes this share where no size is given: filesystems keep some for themselves.
const SHARE_OF_FREE: f64 = 0.95;
/// Sizes that are not given are whole ones of these.
const WHOLE: u64 = Bytes::MIB;
/// Progress is shown so often.
const BETWEEN_SHOWS: Duration = Duration::from_millis(500);

/// Ages, looks or removes.
///
/// # Errors
/// When the folder is none of ours, the life cannot be lived there, or somebody interrupted it.
pub fn run(options: &Age) -> Result<(), Failure> {
    if !["text", "json"].contains(&options.format.as_str()) {
        let shown = model::text::escaped(options.format.as_bytes());
        return Err(Failure::usage(format!("ageing is not told as `{shown}`; choose text or json")));
    }
    let place = Place::open(&options.directory)?;
    let aged = place.aged()?;
    if options.remove {
        return remove(&place, aged);
    }
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    if options.look {
        let aged = aged.ok_or_else(|| place.nothing("to look at"))?;
        let life = life_of(&aged.state, options);
        life.check().map_err(failure)?;
        return result(&place, &aged, &life, &aged.state.lived, options, &stop);
    }
    let life = life(options, &place, aged.as_ref().map(|aged| &aged.state))?;
    life.check().map_err(failure)?;
    if let Some(aged) =
        aged.as_ref().filter(|aged| aged.state.ended.as_ref().is_some_and(|ended| ended.key == life.key()))
    {
        return result(&place, aged, &life, &aged.state.lived, options, &stop);
    }
    let space = place.space()?;
    let plan = told::plan(&place, &life, &space, aged.as_ref().map(|aged| &aged.state));
    match options.format.as_str() {
        "json" => terminal::say!("{plan}"),
        _ => print(&plan)?,
    }
    if options.dry_run {
        return Ok(());
    }
    let aged = match aged {
        Some(aged) => aged,
        None => place.make(&life)?,
    };
    let lived = grow_old(&aged, &life, &stop)?;
    if lived.ended_by == Some(EndedBy::Interrupted) {
        let again = report::shell_line(&[options.directory.display().to_string()]);
        let message = format!(
            "interrupted in cycle {}, with {} written; what was lived is kept: `fairlane age {again}` with the same options \
             goes on, `fairlane age {again} --remove` removes it",
            lived.cycles + 1,
            model::units::human_bytes(lived.bytes_written as f64)
        );
        return Err(Failure { status: Status::Interrupted, message });
    }
    result(&place, &aged, &life, &lived, options, &stop)
}

fn remove(place: &Place, aged: Option<Aged>) -> Result<(), Failure> {
    let aged = aged.ok_or_else(|| place.nothing("to remove"))?;
    place.remove(&aged)?;
    print(&format!("removed {}\n", place.shown()))
}

/// An error of the life with its documented exit status.
fn failure(error: AgingError) -> Failure {
    let status = match &error {
        AgingError::Profile { .. } | AgingError::Life(_) | AgingError::Another(_) => Status::Usage,
        AgingError::System { errno: Errno::ACCESS | Errno::PERM, .. } => Status::Missing,
        AgingError::System { .. } => Status::Failed,
    };
    Failure { status, message: error.to_string() }
}

/// The life of a state, with the end that was asked for.
fn life_of(state: &State, options: &Age) -> Life {
    Life {
        profile: state.profile.clone(),
        seed: state.seed,
        capacity_bytes: state.capacity_bytes,
        until: options.until,
        full: options.full.or(state.last.map(|last| last.full)),
    }
}

/// The life that is asked for; one that is there is gone on with.
fn life(options: &Age, place: &Place, state: Option<&State>) -> Result<Life, Failure> {
    let Some(state) = state else {
        let profile = profile(options.profile.as_deref().unwrap_or(USUAL_PROFILE))?;
        let capacity_bytes = capacity(options, place)?;
        let seed = options.seed.unwrap_or(USUAL_SEED);
        return Ok(Life { profile, seed, capacity_bytes, until: options.until, full: options.full });
    };
    let life = life_of(state, options);
    let differs = |what: &str, has: String| {
        let message = format!(
            "the life in {} has {what} {has}; leave --{what} out to go on with it, or remove it first with --remove",
            place.shown()
        );
        Err(Failure::usage(message))
    };
    if let Some(name) = &options.profile
        && profile(name)? != life.profile
    {
        return differs("profile", life.profile.name);
    }
    match (options.seed, options.size) {
        (Some(seed), _) if seed != life.seed => differs("seed", life.seed.to_string()),
        (_, Some(size)) if size.get() != life.capacity_bytes => differs("size", Bytes(life.capacity_bytes).to_string()),
        _ => Ok(life),
    }
}

/// The life that a lane's filesystem has behind it; `None`: it is fresh.
///
/// # Errors
/// Where there is no such profile, or it cannot be lived.
pub fn of_lane(lane: &LaneSpec, size: Bytes) -> Result<Option<Life>, Failure> {
    if !lane.has_past() {
        return Ok(None);
    }
    let aged = lane.aged.as_ref();
    let named = aged.map_or(model::aged::USUAL_PROFILE, |aged| aged.profile.as_str());
    let until = match aged.map(|aged| aged.age) {
        // Only filled.
        None => Until::Overwrites(0.0),
        Some(Amount::Overwrites(times)) => Until::Overwrites(times.into()),
        Some(Amount::Cycles(cycles)) => Until::Cycles(cycles),
    };
    let life = Life {
        profile: profile(named)?,
        seed: aged.map_or(model::aged::USUAL_SEED, |aged| aged.seed),
        // Of several disks, what copies and parity leave.
        capacity_bytes: lanes::capacity::of_lane(lane, size.get()).1,
        until,
        full: lane.full_percent.map(|percent| f64::from(percent) / 100.0),
    };
    life.check().map_err(failure)?;
    Ok(Some(life))
}

/// A profile by its name, or a file where the name has a slash or the end of TOML.
fn profile(name: &str) -> Result<Profile, Failure> {
    if !name.contains('/') && !name.ends_with(".toml") {
        return Profile::named(name).map_err(failure);
    }
    let path = Path::new(name);
    let text = owned::text(path, model::bounds::TOML_BYTES).map_err(|error| {
        let shown = model::text::escaped_path(path);
        Failure::usage(format!("cannot read {shown}: {}; name a profile", owned::plain(&error)))
    })?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut open = |of: &str| {
        let mut bytes = Vec::new();
        // What somebody's text names is read with the user's rights alone.
        owned::open_as_owner(&beside.join(of))?.take(model::bounds::TOML_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Profile::read(name, &text, &mut open).map_err(failure)
}

/// The size of a new life, bytes.
fn capacity(options: &Age, place: &Place) -> Result<u64, Failure> {
    let space = place.space()?;
    let free = Bytes(space.free_bytes / WHOLE * WHOLE);
    if let Some(size) = options.size {
        return match size.get() <= space.free_bytes {
            true => Ok(size.get()),
            false => {
                let shown = model::text::escaped_path(&options.directory);
                Err(Failure::usage(format!("{shown}: only {free} are free; give a smaller --size")))
            }
        };
    }
    let shown = model::text::escaped_path(&options.directory);
    if space.is_root {
        return Err(Failure::usage(format!(
            "{shown} lies on the root filesystem, which this machine needs; name a folder on another one, or say with --size \
             how much of it may be used"
        )));
    }
    if space.used_bytes > space.size_bytes / 2 {
        return Err(Failure::usage(format!(
            "{shown}: more than half of this filesystem is in use by others; name another one, or say with --size how much \
             of what is free may be used"
        )));
    }
    let size = (space.free_bytes as f64 * SHARE_OF_FREE) as u64 / WHOLE * WHOLE;
    match size >= LEAST_CAPACITY {
        true => Ok(size),
        false => Err(Failure::usage(format!("{shown}: only {free} are free; a life takes {}", Bytes(LEAST_CAPACITY)))),
    }
}

/// Lives with the user's rights.
fn grow_old(aged: &Aged, life: &Life, stop: &AtomicBool) -> Result<Lived, Failure> {
    let root = aged.folder.as_fd();
    let is_shown = std::io::stderr().is_terminal();
    let lived = owned::as_owner(|| {
        let mut shown = Instant::now();
        let mut progress = |progress: &Progress| {
            if is_shown && shown.elapsed() >= BETWEEN_SHOWS {
                show(&told::progress(progress));
                shown = Instant::now();
            }
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        Ok(aging::live(root, life, &mut progress))
    });
    if is_shown {
        show("");
    }
    lived.map_err(|error| Failure::failed(owned::plain(&error)))?.map_err(failure)
}

/// A line of progress in place of the one before.
fn show(line: &str) {
    let mut err = terminal::err();
    let _ = write!(err, "\r{line}\x1b[K").and_then(|()| err.flush());
}

/// Everything that is told at the end.
#[derive(Debug, serde::Serialize)]
struct Outcome<'a> {
    folder: String,
    profile: &'a str,
    seed: u64,
    size_bytes: u64,
    key: String,
    lived: &'a Lived,
    measures: Measures,
    cold_walk: Option<ColdWalk>,
    beside_fresh: Option<BesideFresh>,
    no_fresh_copy: Option<String>,
}

fn result(
    place: &Place,
    aged: &Aged,
    life: &Life,
    lived: &Lived,
    options: &Age,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let root = aged.folder.as_fd();
    let going_on = || if stop.load(Ordering::Relaxed) { Err(Failure::interrupted()) } else { Ok(()) };
    let measures = aging::measure(root, life, stop);
    going_on()?;
    let (beside_fresh, no_fresh_copy) = beside_fresh(root, measures.files, stop)?;
    going_on()?;
    let whole = beside_fresh.filter(|beside| beside.share_of_files >= 1.0).map(|beside| beside.aged);
    let cold_walk = match whole {
        Some(whole) => Some(whole),
        None => Some(cold_walk(root, &mut drop_caches, stop).map_err(failure)?),
    };
    going_on()?;
    let outcome = Outcome {
        folder: place.shown(),
        profile: &life.profile.name,
        seed: life.seed,
        size_bytes: life.capacity_bytes,
        key: life.key(),
        lived,
        measures,
        cold_walk,
        beside_fresh,
        no_fresh_copy,
    };
    match options.format.as_str() {
        "json" => {
            let text = serde_json::to_string_pretty(&outcome).map_err(|error| Failure::failed(error.to_string()))?;
            print(&(text + "\n"))
        }
        _ => print(&told::outcome(&outcome)),
    }
}

/// The tree beside a fresh copy of it, or why there is none. The copy is made and removed with the user's rights.
fn beside_fresh(
    root: BorrowedFd<'_>,
    files: u64,
    stop: &AtomicBool,
) -> Result<(Option<BesideFresh>, Option<String>), Failure> {
    let of_system = |error: std::io::Error| Failure::failed(owned::plain(&error));
    let fresh = owned::as_owner(|| Ok(copy_fresh(root, stop))).map_err(of_system)?.map_err(failure)?;
    let Some(fresh) = fresh else {
        return Ok((None, Some("no room for a fresh copy".to_owned())));
    };
    let read = read_beside_fresh(root, &fresh, files, &mut drop_caches, stop);
    owned::as_owner(|| Ok(remove_fresh(root))).map_err(of_system)?.map_err(failure)?;
    Ok((Some(read.map_err(failure)?), None))
}

/// Empties the kernel's caches; whether it could.
fn drop_caches() -> bool {
    lanes::host::is_root() && std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}
