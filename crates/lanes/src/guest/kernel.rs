//! The kernels that guests can run: where they lie, what they are called, and their modules.

use super::modules::Modules;
use crate::command;
use crate::failure::{LaneFailure, cannot, failed, plain, privilege, usage};
use crate::missing::{install, missing};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Which of the two kinds of guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GuestKind {
    /// User-mode Linux.
    Uml,
    /// QEMU.
    Qemu,
}

impl GuestKind {
    /// As lanes and records name the venue.
    pub fn venue(self) -> &'static str {
        match self {
            GuestKind::Uml => "uml",
            GuestKind::Qemu => "qemu",
        }
    }
}

/// User-mode Linux, as Debian names it.
const UML: &str = "linux.uml";
/// The emulator.
pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// A kernel for a guest.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The program (user-mode Linux) or the image (QEMU).
    pub path: PathBuf,
    /// Its release: `6.1.0-9-amd64`.
    pub release: String,
    /// Its modules; empty where there are none.
    pub modules: Modules,
}

impl Kernel {
    /// [`hash`] of the image: what tells two kernels of one release apart. A program has few different kernels, and nobody profits from two with the same number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn build(&self) -> Result<String, LaneFailure> {
        let bytes = std::fs::read(&self.path)
            .map_err(|error| cannot(format!("read the kernel {}", self.path.display()), error))?;
        Ok(hash(&bytes))
    }

    /// The kernel of a venue: the one that is named, or the distribution's newest.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where it is missing, with the package that brings it.
    pub fn find(kind: GuestKind, named: Option<&Path>) -> Result<Kernel, LaneFailure> {
        match kind {
            GuestKind::Uml => uml(),
            GuestKind::Qemu => {
                if emulator().is_none() {
                    return Err(privilege(missing(QEMU, "qemu-system-x86")));
                }
                let mut kernel = named.map_or_else(newest_image, image)?;
                // One kernel by two names is one.
                if let Ok(path) = kernel.path.canonicalize() {
                    kernel.path = path;
                }
                Ok(kernel)
            }
        }
    }
}

/// FNV-1a over eight bytes at a time, 64 bits in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// The emulator's program, of the system or of the user's own folder.
pub(crate) fn emulator() -> Option<PathBuf> {
    command::find_program(QEMU)
}

fn uml() -> Result<Kernel, LaneFailure> {
    let program = command::find_program(UML).ok_or_else(|| privilege(missing(UML, "user-mode-linux")))?;
    let words = [program.to_string_lossy().into_owned(), "--version".to_owned()];
    let output = command::run(&words, &AtomicBool::new(false))?;
    let release = output.stdout.trim().to_owned();
    if release.is_empty() || release.contains(char::is_whitespace) || release.contains('/') {
        return Err(failed(format!("{} does not tell its version; reinstall user-mode-linux", program.display())));
    }
    let modules = beside(&program, &["../lib/uml/modules", "../../lib/uml/modules"], "/usr/lib/uml/modules", &release)?;
    Ok(Kernel { path: program, release, modules })
}

/// The modules of a release, where they lie beside the kernel or in the usual place.
fn beside(kernel: &Path, near: &[&str], usual: &str, release: &str) -> Result<Modules, LaneFailure> {
    let folder = kernel.parent().unwrap_or(Path::new("/"));
    let mut places: Vec<PathBuf> = near.iter().map(|place| folder.join(place).join(release)).collect();
    places.push(Path::new(usual).join(release));
    match places.into_iter().find(|place| place.is_dir()) {
        Some(place) => Modules::read(&place).map_err(|error| cannot(format!("read {}", place.display()), error)),
        None => Ok(Modules::default()),
    }
}

/// The newest image that can be read, of the system or of the user's own folder.
fn newest_image() -> Result<Kernel, LaneFailure> {
    let mut folders = vec![PathBuf::from("/boot")];
    folders.extend(command::own_folder().map(|folder| folder.join("boot")));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let images = entries.map(|entry| entry.path()).filter(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("vmlinuz-"))
    });
    let mut found: Vec<Kernel> = images.filter_map(|path| image(&path).ok()).collect();
    // Of one version the plain kernel, whose name is the shortest, has the most modules.
    found.sort_by_key(|kernel| (version_key(&kernel.release), std::cmp::Reverse(kernel.release.len())));
    found.pop().ok_or_else(|| {
        privilege(format!(
            "there is no kernel image that can be read in /boot; {}, or name one: ext4@qemu:/path/to/vmlinuz",
            install("linux-image-amd64")
        ))
    })
}

/// Whether there is a kernel for QEMU that can be read.
pub fn has_image() -> bool {
    newest_image().is_ok()
}

/// Numbers compare as numbers: 6.12 is newer than 6.1.
fn version_key(release: &str) -> Vec<u64> {
    release.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// A kernel image with its modules.
fn image(path: &Path) -> Result<Kernel, LaneFailure> {
    let release = release_of_image(path)?;
    let near = ["../lib/modules", "../usr/lib/modules", "lib/modules", "modules"];
    let modules = beside(path, &near, "/lib/modules", &release)?;
    Ok(Kernel { path: path.to_owned(), release, modules })
}

/// The release that an x86 image names in its header: the kernel's Documentation/arch/x86/boot.rst,
/// `kernel_version`.
fn release_of_image(path: &Path) -> Result<String, LaneFailure> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path).map_err(|error| {
        usage(format!("{}: {}; name a kernel image that you may read", path.display(), plain(&error)))
    })?;
    let no_kernel = || usage(format!("{} is no kernel image for this machine; name a vmlinuz", path.display()));
    let mut header = [0u8; 0x210];
    file.read_exact_at(&mut header, 0).map_err(|_| no_kernel())?;
    if header[0x202..0x206] != *b"HdrS" {
        return Err(no_kernel());
    }
    let at = u64::from(u16::from_le_bytes([header[0x20e], header[0x20f]])) + 0x200;
    let mut text = [0u8; 128];
    let count = file.read_at(&mut text, at).map_err(|_| no_kernel())?;
    let text = String::from_utf8_lossy(&text[..count]);
    let release = text.split([' ', '\0']).next().unwrap_or_default();
    match release.is_empty() || release.contains('/') {
        true => Err(no_kernel()),
        false => Ok(release.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(version_key("6.12.0-1-amd64") > version_key("6.1.0-56-amd64"));
        assert!(version_key("6.1.0-56-amd64") > version_key("6.1.0-9-amd64"));
    }

    #[test]
    fn kernels_of_one_release_differ_by_what_they_are() {
        let kernel = |name: &str, bytes: &[u8]| {
            let path = std::env::temp_dir().join(format!("fairlane-kernel-{}-{name}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            let kernel = Kernel { path, release: "6.12.0".to_owned(), modules: Modules::default() };
            let build = kernel.build().unwrap();
            std::fs::remove_file(kernel.path).unwrap();
            build
        };
        assert_eq!(kernel("a", b"0123456789"), kernel("b", b"0123456789"));
        assert_ne!(kernel("a", b"0123456789"), kernel("b", b"0123456788"));
        assert_ne!(kernel("a", b"0123456789"), kernel("b", b"012345678"));
    }

    #[test]
    fn what_is_no_kernel_is_refused_by_name() {
        for path in ["/bin/true", "/etc/passwd", "/nonexistent-vmlinuz"] {
            let error = image(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(path), "{error}");
        }
    }
}
