//! Real programs in the lane: each step a process of its own with fixed arguments, never a shell.

mod layers;
mod material;
mod overlay;
mod process;
mod repository;
mod seat;
mod store;

use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::extents;
use crate::target::Place;
use crate::window::{TIME, Window};
use crate::workloads::{Observer, Work};
use material::Stuff;
use model::agent::Part;
use model::programs::{MATERIAL, MATERIAL_CHECKSUM, OUTPUT_CHECKSUM, OVERLAY_UPPER, ProgramStep, Programs, TOTAL};
use rustix::fs::{Advice, OFlags, fadvise};
use seat::Seat;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use process::find;
pub use store::{folder as material_folder, sweep as sweep_material};

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

/// The first line that a program says of its version.
pub fn version(name: &str) -> Option<String> {
    let option = if name.starts_with("ff") { "-version" } else { "--version" };
    let asked = std::process::Command::new(find(name)?).arg(option).stdin(std::process::Stdio::null()).output().ok()?;
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
    pub fn prepare(place: &Place, programs: &Programs, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let top = top(place)?;
        if let Some((program, package)) = missing(programs) {
            let remedy = crate::packages::remedy(&package);
            return Err(EngineError::Unsuitable(format!("{program} is not installed; {remedy}")));
        }
        match std::fs::remove_dir_all(&top) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot("remove", &top, &error)),
            _ => {}
        }
        std::fs::create_dir(&top).map_err(|error| cannot("create directory", &top, &error))?;
        let stuff = Stuff::provide(programs, &top, &stop)?;
        if let Some(user) = crate::unprivileged::unprivileged() {
            // Last: nothing of root's is written into a folder of somebody else's.
            std::os::unix::fs::chown(&top, Some(user.uid), Some(user.gid))
                .map_err(|error| cannot("change the owner of", &top, &error))?;
        }
        let programs = programs.clone();
        Ok(ProgramsWork { programs, stuff, seconds: 0.0, sync_seconds: 0.0, unseen: vec![], found: vec![], stop })
    }

    /// Before the clock runs: folders of the step, made as the step's programs would make them.
    fn make_folders(&self, top: &Path, step: &ProgramStep) -> Result<(), EngineError> {
        let of_overlay = step.overlay.iter().flat_map(|_| OVERLAY_UPPER).map(str::to_owned);
        let folders: Vec<String> = step.folders.iter().cloned().chain(of_overlay).collect();
        if folders.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = ["mkdir", "-p", "--"].map(str::to_owned).into_iter().chain(folders).collect();
        self.start(top, &words)
    }

    fn start(&self, top: &Path, command: &[String]) -> Result<(), EngineError> {
        let material = self.stuff.path();
        let words: Vec<String> = command.iter().map(|word| word.replace(MATERIAL, &material)).collect();
        let seat = Seat::of_suite(top, self.stuff.folder(), self.stuff.descriptors())?;
        process::run(&words, &seat, &self.stop)
    }

    /// Contents and pieces of what a step made, read from the disk, and the program that checks it.
    fn look(&self, top: &Path, step: &ProgramStep) -> Result<Vec<(&'static str, f64)>, EngineError> {
        let (mut sum, mut pieces) = (0u32, Some(0u64));
        for output in &step.outputs {
            let path = top.join(output);
            let fail = |action, error: std::io::Error| cannot(action, &path, &error);
            // What a step made may be a link to anywhere.
            let file = OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(&path);
            let file = file.map_err(|error| fail("open", error))?;
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
    fn total(&self, place: &Place, window: &mut Window, observer: &mut dyn Observer) -> Result<(), EngineError> {
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
        place: &Place,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        if part != Part::WHOLE {
            return Err(EngineError::Unsuitable("a program is not run in parts; ask for the whole".to_owned()));
        }
        let top = top(place)?;
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
            Some(overlay) => overlay::work(&top, overlay, &self.stop),
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
    fn verify(&mut self, place: &Place) -> Result<f64, EngineError> {
        let (top, begun) = (top(place)?, Clock::get().now());
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

    fn notes(&self) -> Vec<String> {
        self.stuff.notes()
    }
}

/// Bytes of these files.
fn bytes_of(top: &Path, files: &[String]) -> Result<u64, EngineError> {
    let of = |name: &String| {
        let path = top.join(name);
        std::fs::symlink_metadata(&path).map(|of| of.len()).map_err(|error| cannot("stat", &path, &error))
    };
    files.iter().map(of).sum()
}

fn top(place: &Place) -> Result<PathBuf, EngineError> {
    let (path, _) = place
        .directory()
        .ok_or_else(|| EngineError::Unsuitable("programs work in a directory; race a lane that has one".to_owned()))?;
    Ok(path.join(TOP))
}

fn cannot(action: &'static str, path: &Path, error: &std::io::Error) -> EngineError {
    EngineError::File { action, path: path.to_owned(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

/// A path that a program which inherits the descriptor can open.
fn inherited(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
