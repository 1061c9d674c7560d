//! Real programs in the lane: each step a process of its own with fixed arguments, never a shell.

mod layers;
mod material;
mod overlay;
mod process;
mod repository;
mod sandbox;
mod store;

use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::extents;
use crate::target::OpenTarget;
use crate::unprivileged::User;
use crate::window::{TIME, Window};
use crate::workloads::{Observer, Work};
use material::Stuff;
use model::Flag;
use model::agent::Part;
use model::programs::{MATERIAL, MATERIAL_CHECKSUM, OUTPUT_CHECKSUM, OVERLAY_UPPER, ProgramStep, Programs, TOTAL};
use rustix::fs::{Advice, Gid, Mode, Uid, fadvise, fchown};
use sandbox::Sandbox;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use process::find;
pub use store::{folder as material_folder, remove_all as remove_material, sweep as sweep_material};

/// The folder of the target in which programs work.
const TOP: &str = "fairlane-programs";

/// Programs, prepared: the material is there, and the folder is empty but for what belongs to it.
pub struct ProgramsWork {
    programs: Programs,
    stuff: Stuff,
    /// Seconds of the steps so far, their syncs included.
    seconds: f64,
    /// Of these, seconds of the syncs.
    sync_seconds: f64,
    /// Steps that were done, and that nobody has looked at yet.
    unseen: Vec<String>,
    /// What was found of those that somebody looked at.
    found: Vec<(String, Vec<(&'static str, f64)>)>,
    stop: Arc<AtomicBool>,
}

/// Whether what these programs work on is kept already, or has to be made first.
pub fn is_made(programs: &Programs) -> bool {
    material::name(programs).is_none_or(|name| store::is_there(&name))
}

/// What is missing to run these programs here, as a program and the package that brings it.
pub fn missing(programs: &Programs) -> Option<(String, String)> {
    let all = programs.programs();
    let name = all.into_iter().find(|name| find(name).is_none())?;
    Some((name.to_owned(), package_of(name).to_owned()))
}

/// The first line that a program says of its version; `None` also for those that are not on the list of what a suite
/// may start by itself: it is asked by this process, with its rights.
pub fn version(name: &str) -> Option<String> {
    if !model::programs::is_known(name) {
        return None;
    }
    let option = if name.starts_with("ff") { "-version" } else { "--version" };
    let mut command = std::process::Command::new(find(name)?);
    command.arg(option).env_clear().env("LC_ALL", "C").stdin(std::process::Stdio::null());
    let asked = command.output().ok()?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Debian's package of a program; of one that is not known its own name.
fn package_of(name: &str) -> &str {
    match name {
        "ffmpeg" | "ffprobe" => "ffmpeg",
        "cat" | "cksum" | "cp" | "ln" | "ls" | "md5sum" | "mkdir" | "mv" | "rm" | "sha256sum" | "sync" | "touch" => {
            "coreutils"
        }
        "cmp" | "diff" => "diffutils",
        other => other,
    }
}

impl ProgramsWork {
    /// Makes the material where it is not there yet, and the folder anew.
    ///
    /// # Errors
    /// Where there is no directory, a program is missing (its package is named), or one fails.
    pub fn prepare(place: &OpenTarget, programs: &Programs, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let (lane_path, lane) = lane(place)?;
        let path = lane_path.join(TOP);
        if let Some((program, package)) = missing(programs) {
            let remedy = crate::packages::remedy(&package);
            return Err(EngineError::Unsuitable(format!("{program} is not installed; {remedy}")));
        }
        beneath::remove_tree(lane, TOP).map_err(|errno| EngineError::file("remove", &path, errno))?;
        let top = beneath::make_folder(lane, TOP, Mode::from_raw_mode(0o755), None)
            .map_err(|errno| EngineError::file("create directory", &path, errno))?;
        let stuff = Stuff::provide(programs, (&path, top.as_fd()), &stop)?;
        if let Some(User { uid, gid }) = crate::unprivileged::unprivileged() {
            // Last: nothing of root's is written into a folder of somebody else's.
            fchown(&top, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
                .map_err(|errno| EngineError::file("change the owner of", &path, errno))?;
        }
        let programs = programs.clone();
        Ok(ProgramsWork { programs, stuff, seconds: 0.0, sync_seconds: 0.0, unseen: vec![], found: vec![], stop })
    }

    /// Before the clock runs: folders of the step, made as the step's programs would make them.
    fn make_folders(&self, top: &Top, step: &ProgramStep) -> Result<(), EngineError> {
        let of_overlay = step.overlay.iter().flat_map(|_| OVERLAY_UPPER).map(str::to_owned);
        let folders: Vec<String> = step.folders.iter().cloned().chain(of_overlay).collect();
        if folders.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = ["mkdir", "-p", "--"].map(str::to_owned).into_iter().chain(folders).collect();
        self.start(top, &words)
    }

    fn start(&self, top: &Top, command: &[String]) -> Result<(), EngineError> {
        let material = self.stuff.path();
        let words: Vec<String> = command.iter().map(|word| word.replace(MATERIAL, &material)).collect();
        let sandbox = Sandbox::of_suite(&top.path, &top.folder, self.stuff.folder(), self.stuff.descriptors())?
            // Before the material's path stands in it.
            .for_suite(model::programs::is_permitted(command));
        process::run(&words, &sandbox, &self.stop)
    }

    /// Contents and pieces of what a step made, read from the disk, and the program that checks it.
    fn look(&self, top: &Top, step: &ProgramStep) -> Result<Vec<(&'static str, f64)>, EngineError> {
        let (mut sum, mut pieces) = (0u32, Some(0u64));
        for output in &step.outputs {
            let path = top.path.join(output);
            let fail = |action, error: std::io::Error| cannot(action, &path, &error);
            // What a step made may be a link to anywhere, or a pipe.
            let file = beneath::open_to_read(top.folder.as_fd(), Path::new(output))
                .map_err(|errno| beneath::refused("open", &path, errno))?;
            // Where the lane cannot be mounted anew: nothing of it is dirty, so that it leaves the cache.
            file.sync_all().map_err(|error| fail("sync", error))?;
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
            sum = store::of_contents(&file, sum).map_err(|error| fail("read", error))?;
            pieces = pieces.zip(extents::count(&file)).map(|(sum, own)| sum + own);
        }
        if !step.check.is_empty() {
            self.start(top, &step.check)?;
        }
        if step.outputs.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = vec![(OUTPUT_CHECKSUM, f64::from(sum))];
        found.extend(pieces.map(|pieces| ("extents", pieces as f64)));
        Ok(found)
    }

    /// The time of all steps, each with the sync of what it left.
    fn total(&self, place: &OpenTarget, window: &mut Window, observer: &mut dyn Observer) -> Result<(), EngineError> {
        observer.window_opens();
        let rest = place.sync()?;
        observer.window_closes();
        window.sync_seconds = self.sync_seconds + rest;
        window.seconds = self.seconds + rest;
        window.totals.extend(self.stuff.checksum().map(|sum| (MATERIAL_CHECKSUM, f64::from(sum))));
        Ok(())
    }
}

impl Work for ProgramsWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        if part != Part::WHOLE {
            return Err(EngineError::Unsuitable("a program is not run in parts; ask for the whole".to_owned()));
        }
        let top = Top::open(place)?;
        let clock = Clock::get();
        let mut window = Window { group: group.to_owned(), primary_metric: TIME, operations: 1, ..Window::default() };
        if group == TOTAL {
            self.total(place, &mut window, observer)?;
            window.totals.push((TIME, window.seconds * 1e9));
            return Ok(window);
        }
        let step = self.programs.step_named(group).cloned().ok_or_else(|| {
            EngineError::Unsuitable(format!("there is no step {}", model::text::escaped(group.as_bytes())))
        })?;
        self.make_folders(&top, &step)?;
        observer.window_opens();
        let begun = clock.now();
        let done = match &step.overlay {
            Some(overlay) => overlay::work((&top.path, top.folder.as_fd()), overlay, &self.stop),
            None => self.start(&top, &step.program).map(|()| 1),
        };
        // What it left in memory is its own, and nobody else's to write.
        let synced = done.and_then(|count| Ok((count, place.sync()?)));
        let took = clock.now() - begun;
        observer.window_closes();
        (window.operations, window.sync_seconds) = synced?;
        window.seconds = seconds(took);
        window.bytes = bytes_of(&top, &step.reads)?;
        window.latencies.record(took);
        self.seconds += window.seconds;
        self.sync_seconds += window.sync_seconds;
        if step.is_looked_at() {
            self.unseen.push(step.name);
        }
        window.totals.push((TIME, window.seconds * 1e9));
        Ok(window)
    }

    /// Looks at what the steps since the last time made; the caller has it come from the disk.
    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let (top, begun) = (Top::open(place)?, Clock::get().now());
        for name in std::mem::take(&mut self.unseen) {
            if let Some(step) = self.programs.step_named(&name) {
                let found = self.look(&top, step)?;
                self.found.push((name, found));
            }
        }
        Ok(seconds(Clock::get().now() - begun))
    }

    fn found(&self, group: &str) -> Vec<(&'static str, f64)> {
        self.found.iter().filter(|(name, _)| name == group).flat_map(|(_, found)| found.iter().copied()).collect()
    }

    /// Programs hold nothing between steps.
    fn release(&mut self) {}

    fn notes(&self) -> Vec<Flag> {
        self.stuff.notes().into_iter().map(Flag::Note).collect()
    }
}

/// Bytes of these files.
fn bytes_of(top: &Top, files: &[String]) -> Result<u64, EngineError> {
    let of = |name: &String| {
        beneath::length(top.folder.as_fd(), Path::new(name))
            .map_err(|errno| beneath::refused("look at", &top.path.join(name), errno))
    };
    files.iter().map(of).sum()
}

/// The folder in which programs work, open: everything of theirs is reached from here.
struct Top {
    /// For messages.
    path: PathBuf,
    folder: OwnedFd,
}

impl Top {
    fn open(place: &OpenTarget) -> Result<Top, EngineError> {
        let (path, lane) = lane(place)?;
        let path = path.join(TOP);
        let folder = beneath::open_folder(lane, TOP).map_err(|errno| beneath::refused("open", &path, errno))?;
        Ok(Top { path, folder })
    }
}

fn lane(place: &OpenTarget) -> Result<(&Path, BorrowedFd<'_>), EngineError> {
    place
        .directory()
        .ok_or_else(|| EngineError::Unsuitable("programs work in a directory; race a lane that has one".to_owned()))
}

fn cannot(action: &'static str, path: &Path, error: &std::io::Error) -> EngineError {
    EngineError::File { action, path: path.to_owned(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
}
