//! Real programs in the lane: each step a process of its own with fixed arguments, never a shell.

mod layers;
mod material;
mod overlay;
mod process;
mod repository;

use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::extents;
use crate::target::Place;
use crate::window::{TIME, Window};
use crate::workloads::{Observer, Work};
use material::Stuff;
use model::agent::Part;
use model::programs::{MATERIAL, OUTPUT_CHECKSUM, OVERLAY_UPPER, ProgramStep, Programs, TOTAL};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use process::find;

/// The folder of the target in which programs work.
const TOP: &str = "fairlane-programs";
/// Bytes of an output that are read at once for its checksum.
const CHECKED_BYTES: usize = 1 << 20;

/// Programs, prepared: the material is there, and the folder is empty but for what belongs to it.
pub struct ProgramsWork {
    programs: Programs,
    stuff: Stuff,
    /// Seconds of the steps so far.
    seconds: f64,
    stop: Arc<AtomicBool>,
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
        "cp" | "rm" | "mv" | "md5sum" | "sha256sum" | "cat" | "mkdir" | "sync" => "coreutils",
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
            return Err(EngineError::Unsuitable(format!("{program} is not installed; apt install {package}")));
        }
        match std::fs::remove_dir_all(&top) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot("remove", &top, &error)),
            _ => {}
        }
        std::fs::create_dir(&top).map_err(|error| cannot("create directory", &top, &error))?;
        let stuff = Stuff::provide(programs, &top, &stop)?;
        Ok(ProgramsWork { programs: programs.clone(), stuff, seconds: 0.0, stop })
    }

    /// Before the clock runs: folders of the step.
    fn make_folders(&self, top: &Path, step: &ProgramStep) -> Result<(), EngineError> {
        let of_overlay = step.overlay.iter().flat_map(|_| OVERLAY_UPPER).map(str::to_owned);
        for folder in step.folders.iter().cloned().chain(of_overlay) {
            let folder = top.join(folder);
            std::fs::create_dir_all(&folder).map_err(|error| cannot("create directory", &folder, &error))?;
        }
        Ok(())
    }

    fn start(&self, top: &Path, command: &[String]) -> Result<(), EngineError> {
        let material = self.stuff.path();
        let words: Vec<String> = command.iter().map(|word| word.replace(MATERIAL, &material)).collect();
        process::run(&words, top, self.stuff.descriptor(), &self.stop)
    }

    /// After the clock: contents and pieces of what the step made, and the program that checks it.
    fn look(&self, top: &Path, step: &ProgramStep) -> Result<Vec<(&'static str, f64)>, EngineError> {
        if !step.check.is_empty() {
            self.start(top, &step.check)?;
        }
        let (mut sum, mut pieces) = (0u32, Some(0u64));
        for output in &step.outputs {
            let path = top.join(output);
            let file = File::open(&path).map_err(|error| cannot("open", &path, &error))?;
            sum = checksum(&file, sum).map_err(|error| cannot("read", &path, &error))?;
            pieces = pieces.zip(extents::count(&file)).map(|(sum, own)| sum + own);
        }
        if step.outputs.is_empty() {
            return Ok(Vec::new());
        }
        let mut totals = vec![(OUTPUT_CHECKSUM, f64::from(sum))];
        totals.extend(pieces.map(|pieces| ("extents", pieces as f64)));
        Ok(totals)
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
            observer.window_opens();
            window.sync_seconds = place.sync()?;
            observer.window_closes();
            window.seconds = self.seconds + window.sync_seconds;
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
        let took = clock.now() - begun;
        observer.window_closes();
        window.operations = done?;
        window.seconds = seconds(took);
        window.latencies.record(took);
        self.seconds += window.seconds;
        window.totals = self.look(&top, &step)?;
        window.totals.push((TIME, window.seconds * 1e9));
        Ok(window)
    }

    /// Programs hold nothing between steps.
    fn release(&mut self) {}

    fn notes(&self) -> Vec<String> {
        self.stuff.notes()
    }
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

/// CRC-32C of a file, begun with another.
fn checksum(mut file: &File, mut sum: u32) -> std::io::Result<u32> {
    let mut room = vec![0; CHECKED_BYTES];
    loop {
        match file.read(&mut room)? {
            0 => return Ok(sum),
            count => sum = crc32c::crc32c_append(sum, &room[..count]),
        }
    }
}

/// A path that a program which inherits the descriptor can open.
fn inherited(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
