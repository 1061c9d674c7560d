//! What programs work on: made once, kept outside of the lanes, and handed to the programs by its path.
//!
//! It is made under another name and renamed when it is whole, so that a race that is cut short leaves nothing
//! that looks finished, and two agents that make it at the same time end with one.

use super::{cannot, inherited, layers, process, repository};
use crate::error::EngineError;
use crate::workloads::heed;
use model::programs::{Material, Programs};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Of the memory that is free, so much may hold a recording.
const MOST_OF_MEMORY: f64 = 0.5;

/// The material, at hand.
pub(super) struct Stuff {
    path: PathBuf,
    /// A recording in memory: programs inherit the descriptor.
    memory: Option<File>,
    notes: Vec<String>,
}

impl Stuff {
    /// Makes it where it is not there, and puts beside the programs what belongs to it.
    pub(super) fn provide(programs: &Programs, top: &Path, stop: &AtomicBool) -> Result<Stuff, EngineError> {
        let mut stuff = Stuff { path: PathBuf::new(), memory: None, notes: Vec::new() };
        match programs.material {
            Material::None => {}
            Material::Recording => {
                let name = format!("recording-{}.ts", programs.size.get());
                stuff.path = kept(&name, |path| record(path, programs.size.get(), stop))?;
                let length = duration(&stuff.path)?;
                write_cuts(top, length)?;
                stuff.memory = in_memory(&stuff.path, stop)?;
                if stuff.memory.is_none() {
                    stuff.notes.push("source on disk: the recording does not fit into memory".to_owned());
                }
            }
            Material::Repository => {
                let name = format!("repository-{}.git", programs.files);
                stuff.path = kept(&name, |path| repository::make(path, programs.files, stop))?;
            }
            Material::Layers => {
                let name = format!("layers-{}", programs.files);
                stuff.path = kept(&name, |path| layers::make(path, programs.files, stop))?;
            }
        }
        Ok(stuff)
    }

    /// What `{material}` stands for.
    pub(super) fn path(&self) -> String {
        match &self.memory {
            Some(memory) => inherited(memory),
            None => self.path.to_string_lossy().into_owned(),
        }
    }

    /// What programs inherit.
    pub(super) fn descriptor(&self) -> Option<RawFd> {
        self.memory.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Where material is kept: `FAIRLANE_MATERIAL`, else for root /var/cache/fairlane, else
/// `$XDG_CACHE_HOME/fairlane`.
fn folder() -> Result<PathBuf, EngineError> {
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

/// The path of material that is whole; it is made where it is not there.
fn kept(name: &str, make: impl FnOnce(&Path) -> Result<(), EngineError>) -> Result<PathBuf, EngineError> {
    let folder = folder()?;
    let path = folder.join(name);
    if path.exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(&folder).map_err(|error| cannot("create directory", &folder, &error))?;
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let remove = || {
        let _ = if draft.is_dir() { std::fs::remove_dir_all(&draft) } else { std::fs::remove_file(&draft) };
    };
    remove();
    let made = make(&draft).and_then(|()| match std::fs::rename(&draft, &path) {
        // Another agent was faster.
        Err(_) if path.exists() => Ok(()),
        renamed => renamed.map_err(|error| cannot("create", &path, &error)),
    });
    remove();
    made.map(|()| path)
}

/// A test picture with noise, so that it does not compress further, and a tone.
fn record(path: &Path, bytes: u64, stop: &AtomicBool) -> Result<(), EngineError> {
    let folder = path.parent().unwrap_or(path);
    let words = [
        "ffmpeg",
        "-nostdin",
        "-v",
        "error",
        "-y",
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=1280x720:rate=25",
        "-f",
        "lavfi",
        "-i",
        "sine=frequency=440:sample_rate=48000",
        "-vf",
        "noise=alls=60:allf=t",
        "-c:v",
        "mpeg2video",
        "-q:v",
        "2",
        "-g",
        "12",
        "-pix_fmt",
        "yuv420p",
        "-c:a",
        "mp2",
        "-b:a",
        "192k",
        "-flags",
        "+bitexact",
        "-fflags",
        "+bitexact",
        "-fs",
    ];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.extend([bytes.to_string(), "-f".to_owned(), "mpegts".to_owned(), path.to_string_lossy().into_owned()]);
    process::run(&words, folder, None, stop)
}

/// Seconds of a recording, as ffprobe tells them.
fn duration(path: &Path) -> Result<f64, EngineError> {
    let unknown =
        |what: &str| EngineError::Unsuitable(format!("ffprobe does not tell how long the recording is: {what}"));
    let program = process::find("ffprobe").ok_or_else(|| unknown("it is not installed; apt install ffmpeg"))?;
    let asked = std::process::Command::new(program)
        .args(["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0"])
        .arg(path)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| unknown(&error.to_string()))?;
    let said = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    said.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .ok_or_else(|| unknown(&model::text::escaped(said.as_bytes())))
}

/// Two parts are kept: from a tenth to four tenths, and from six tenths to nine.
fn write_cuts(top: &Path, seconds: f64) -> Result<(), EngineError> {
    let mut text = "ffconcat version 1.0\n".to_owned();
    for (from, to) in [(0.1, 0.4), (0.6, 0.9)] {
        text.push_str(&format!("file remuxed.mkv\ninpoint {:.3}\noutpoint {:.3}\n", from * seconds, to * seconds));
    }
    let path = top.join("cuts.ffconcat");
    std::fs::write(&path, text).map_err(|error| cannot("write", &path, &error))
}

/// A copy in memory that goes with this process; `None`: there is not enough memory.
fn in_memory(path: &Path, stop: &AtomicBool) -> Result<Option<File>, EngineError> {
    let fail = |error: std::io::Error| cannot("read", path, &error);
    let mut source = File::open(path).map_err(fail)?;
    let bytes = source.metadata().map_err(fail)?.len();
    if bytes as f64 > MOST_OF_MEMORY * available_bytes() as f64 {
        return Ok(None);
    }
    let mut memory =
        memfd_create("fairlane-recording", MemfdFlags::CLOEXEC).map(File::from).map_err(|errno| fail(errno.into()))?;
    let mut room = vec![0; 1 << 20];
    loop {
        heed(stop)?;
        match source.read(&mut room).map_err(fail)? {
            0 => return Ok(Some(memory)),
            count => memory.write_all(&room[..count]).map_err(fail)?,
        }
    }
}

/// MemAvailable of /proc/meminfo.
fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cuts_name_a_file_beside_them_and_lie_within_its_length() {
        let folder = tempfile::tempdir().unwrap();
        write_cuts(folder.path(), 10.0).unwrap();
        let text = std::fs::read_to_string(folder.path().join("cuts.ffconcat")).unwrap();
        assert!(text.starts_with("ffconcat version 1.0\nfile remuxed.mkv\ninpoint 1.000\noutpoint 4.000\n"), "{text}");
        assert_eq!(text.matches("outpoint").count(), 2);
    }

    #[test]
    fn memory_is_known_here() {
        assert!(available_bytes() > 1 << 20);
    }
}
