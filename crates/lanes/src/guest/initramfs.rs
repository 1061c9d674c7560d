//! What a guest holds in its memory: this program as its first process, the libraries that it needs, kernel
//! modules, programs that a lane needs there, and the trace of a replay.

use super::cpio::Archive;
use super::elf;
use super::host::Boot;
use super::machine::LIBRARIES;
use super::protocol::{CHANNEL, INIT, MODULES, TRACE};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use trace::{Fingerprint, HashedFile};

/// Folders that the first process mounts on.
const FOLDERS: [&str; 6] = ["/proc", "/sys", "/dev", "/run", "/tmp", "/lanes"];

/// A trace that a guest gets: the file that was opened before anything was made, whatever lies under its name later.
#[derive(Debug, Clone)]
pub struct CarriedTrace {
    file: Arc<File>,
    bytes: u64,
    sha256: String,
}

impl CarriedTrace {
    /// Of a file that may be read, with the size that it has now and the SHA-256 that it must have.
    ///
    /// # Errors
    /// The system's.
    pub fn new(file: File, sha256: &str) -> io::Result<CarriedTrace> {
        let bytes = file.metadata()?.len();
        Ok(CarriedTrace { file: Arc::new(file), bytes, sha256: sha256.to_owned() })
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Writes the archive to a new file.
///
/// # Errors
/// When something cannot be read or written, or a library is missing.
pub(crate) fn write(to: &Path, boot: &Boot) -> io::Result<()> {
    let Boot { machine, program, modules, programs, trace, .. } = boot;
    let mut archive = Archive::new(BufWriter::new(File::create_new(to)?));
    for folder in FOLDERS {
        archive.folder(folder)?;
    }
    // The kernel opens it for the first process, before anything is mounted.
    archive.character("/dev/console", 5, 1)?;
    let mut carried = BTreeSet::new();
    carry(&mut archive, program, INIT, &mut carried)?;
    for path in programs {
        carry(&mut archive, path, &path.to_string_lossy(), &mut carried)?;
    }
    let wanted: Vec<&str> = machine.own_modules().iter().chain(modules).copied().collect();
    let mut list = String::new();
    for module in machine.kernel.modules.load_order(&wanted)? {
        let path = format!("/modules/{}.ko", module.name);
        archive.file(&path, 0o644, &module.bytes)?;
        list.push_str(&path);
        list.push('\n');
    }
    archive.file(MODULES, 0o644, list.as_bytes())?;
    archive.file(CHANNEL, 0o644, machine.channel().as_bytes())?;
    if let Some(trace) = trace {
        let mut fingerprint = Fingerprint::default();
        archive.copy(TRACE, 0o600, HashedFile::new(&trace.file, &mut fingerprint), trace.bytes)?;
        if fingerprint.hexadecimal() != trace.sha256 {
            return Err(io::Error::other("the trace changed since the race began; put the old one back"));
        }
    }
    archive.finish()?;
    Ok(())
}

/// A program with its loader and libraries, each once.
fn carry<W: Write>(
    archive: &mut Archive<W>,
    program: &Path,
    to: &str,
    carried: &mut BTreeSet<String>,
) -> io::Result<()> {
    archive.file(to, 0o755, &elf::loaded_bytes(program)?)?;
    let elf::Carried { loader, libraries } = elf::carried_by(program)?;
    let libraries = libraries.into_iter().map(|(name, path)| (format!("{LIBRARIES}/{name}"), path));
    let loader = loader.map(|path| (path.to_string_lossy().into_owned(), path));
    for (to, path) in libraries.chain(loader) {
        if carried.insert(to.clone()) {
            archive.file(&to, 0o755, &elf::loaded_bytes(&path)?)?;
        }
    }
    Ok(())
}
