//! What programs work on: made once, kept outside of the lanes, and handed to the programs by its path.

use super::sandbox::{self, Sandbox};
use super::store::{self, Kept};
use super::{cannot, layers, process, repository};
use crate::beneath::{self, by_descriptor};
use crate::error::EngineError;
use crate::workloads::{available_bytes, heed};
use model::programs::{Material, Programs};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, memfd_create, openat};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Of the memory that is free, so much may hold a recording.
const MOST_OF_MEMORY: f64 = 0.5;
/// Raised whenever what a generator makes changes: it stands in the name of what is kept.
const VERSION: u32 = 2;
/// What a cut takes of a recording.
const CUTS: &str = "cuts.ffconcat";

/// The material, at hand.
pub(super) struct Stuff {
    kept: Option<Kept>,
    /// A recording, in memory or on disk: programs inherit the descriptor.
    file: Option<File>,
    notes: Vec<String>,
}

/// What a workload's material is called; `None`: it has none.
pub(super) fn name(programs: &Programs) -> Option<String> {
    let (what, amount) = match programs.material {
        Material::None => return None,
        Material::Recording => ("recording", programs.size.get()),
        Material::Repository => ("repository", programs.files),
        Material::Layers => ("layers", programs.files),
    };
    Some(format!("{what}-{amount}-v{VERSION}"))
}

impl Stuff {
    /// Makes it where it is not there, looks whether it is what it was, and puts beside the programs what belongs to it.
    pub(super) fn provide(
        programs: &Programs,
        top: (&Path, BorrowedFd<'_>),
        stop: &AtomicBool,
    ) -> Result<Stuff, EngineError> {
        let mut stuff = Stuff { kept: None, file: None, notes: Vec::new() };
        let Some(name) = name(programs) else { return Ok(stuff) };
        if !store::is_there(&name) {
            let draft = if programs.material == Material::Repository { 2 } else { 1 };
            store::check_room(store::bytes_of(programs).saturating_mul(draft))?;
        }
        let kept = store::kept(&name, stop, |path| match programs.material {
            Material::Repository => repository::make(path, programs.files, stop),
            Material::Layers => {
                std::fs::create_dir(path).map_err(|error| cannot("create directory", path, &error))?;
                layers::make(path, programs.files, stop)
            }
            Material::Recording | Material::None => record(path, programs.size.get(), stop),
        })?;
        if programs.material == Material::Recording {
            write_cuts(top, duration(&kept.path)?)?;
            stuff.file = in_memory(&kept, stop)?;
            if stuff.file.is_none() {
                kept.look()?;
                let file = File::open(&kept.path).map_err(|error| cannot("open", &kept.path, &error))?;
                stuff.file = Some(file);
                stuff.notes.push("source on disk: the recording does not fit into memory".to_owned());
            }
        } else {
            kept.look()?;
            // Where programs see the folder of the material.
            beneath::make_folder(top.1, sandbox::MATERIAL_FOLDER, Mode::from_raw_mode(0o755), None)
                .map_err(|errno| EngineError::file("create directory", top.0.join(sandbox::MATERIAL_FOLDER), errno))?;
        }
        stuff.kept = Some(kept);
        Ok(stuff)
    }

    /// What `{material}` stands for.
    pub(super) fn path(&self) -> String {
        match (&self.file, self.folder()) {
            (Some(file), _) => by_descriptor(file),
            (None, Some(folder)) => sandbox::material_path(folder),
            (None, None) => String::new(),
        }
    }

    /// The folder that programs see.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.kept.as_ref().filter(|_| self.file.is_none()).map(|kept| kept.path.as_path())
    }

    /// What programs inherit.
    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        self.file.iter().map(AsRawFd::as_raw_fd).collect()
    }

    /// CRC-32C of what the programs work on.
    pub(super) fn checksum(&self) -> Option<u32> {
        self.kept.as_ref().map(|kept| kept.checksum)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
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
    process::run(&words, &Sandbox::own(folder)?, stop)
}

/// Seconds of a recording, as ffprobe tells them.
fn duration(path: &Path) -> Result<f64, EngineError> {
    let unknown =
        |what: &str| EngineError::Unsuitable(format!("ffprobe does not tell how long the recording is: {what}"));
    let program = process::find("ffprobe")
        .ok_or_else(|| unknown(&format!("it is not installed; {}", crate::packages::remedy("ffmpeg"))))?;
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
fn write_cuts((path, top): (&Path, BorrowedFd<'_>), seconds: f64) -> Result<(), EngineError> {
    let mut text = "ffconcat version 1.0\n".to_owned();
    for (from, to) in [(0.1, 0.4), (0.6, 0.9)] {
        text.push_str(&format!("file remuxed.mkv\ninpoint {:.3}\noutpoint {:.3}\n", from * seconds, to * seconds));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(top, CUTS, flags, Mode::from_raw_mode(0o644))
        .map_err(|errno| EngineError::file("create", path.join(CUTS), errno))?;
    File::from(made).write_all(text.as_bytes()).map_err(|error| cannot("write", &path.join(CUTS), &error))
}

/// A copy in memory that goes with this process, and that nobody can change; `None`: there is not enough memory.
fn in_memory(kept: &Kept, stop: &AtomicBool) -> Result<Option<File>, EngineError> {
    let fail = |error: std::io::Error| cannot("read", &kept.path, &error);
    let mut source = File::open(&kept.path).map_err(fail)?;
    let bytes = source.metadata().map_err(fail)?.len();
    if bytes as f64 > MOST_OF_MEMORY * available_bytes() as f64 {
        return Ok(None);
    }
    let mut memory = memfd_create("fairlane-recording", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map(File::from)
        .map_err(|errno| fail(errno.into()))?;
    let (mut room, mut sum) = (vec![0; 1 << 20], 0);
    loop {
        heed(stop)?;
        match source.read(&mut room).map_err(fail)? {
            0 => break,
            count => {
                sum = crc32c::crc32c_append(sum, &room[..count]);
                memory.write_all(&room[..count]).map_err(fail)?;
            }
        }
    }
    kept.hold_against(sum)?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    fcntl_add_seals(&memory, seals).map_err(|errno| fail(errno.into()))?;
    Ok(Some(memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_cuts_name_a_file_beside_them_and_lie_within_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let top = File::open(folder.path()).unwrap();
        write_cuts((folder.path(), top.as_fd()), 10.0).unwrap();
        let text = std::fs::read_to_string(folder.path().join("cuts.ffconcat")).unwrap();
        assert!(text.starts_with("ffconcat version 1.0\nfile remuxed.mkv\ninpoint 1.000\noutpoint 4.000\n"), "{text}");
        assert_eq!(text.matches("outpoint").count(), 2);
    }
}
