//! What a guest holds in its memory: this program as its first process, the libraries that it needs, kernel
//! modules, and programs that a lane needs there.

use super::cpio::Archive;
use super::elf;
use super::machine::{LIBRARIES, Machine};
use super::protocol::{CHANNEL, INIT, MODULES};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Folders that the first process mounts on.
const FOLDERS: [&str; 6] = ["/proc", "/sys", "/dev", "/run", "/tmp", "/lanes"];

/// Writes the archive to a new file.
///
/// `program` is this program; `modules` are those of the lanes' filesystems, `programs` run in the guest by
/// their own paths.
///
/// # Errors
/// When something cannot be read or written, or a library is missing.
pub(crate) fn write(
    to: &Path,
    machine: &Machine,
    program: &Path,
    modules: &[&str],
    programs: &[PathBuf],
) -> io::Result<()> {
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
