//! The kernels that guests can run: where they lie, what they are called, and their modules.

use super::image::Image;
use super::modules::Modules;
use crate::architecture::Architecture;
use crate::command;
use crate::failure::{LaneFailure, cannot, failed, privilege, usage};
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

    /// The kinds that there are for this processor.
    pub fn of_here() -> Vec<GuestKind> {
        match Architecture::here() {
            Some(here) if here.user_mode_linux => vec![GuestKind::Uml, GuestKind::Qemu],
            Some(_) => vec![GuestKind::Qemu],
            None => Vec::new(),
        }
    }

    /// The ways to ask for one of them: `--on uml, --on qemu`; empty where there is none.
    pub fn options_here() -> String {
        GuestKind::of_here().iter().map(|kind| format!("--on {}", kind.venue())).collect::<Vec<_>>().join(", ")
    }
}

/// User-mode Linux, as Debian names it.
pub(super) const UML: &str = "linux.uml";

/// A kernel for a guest.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The program (user-mode Linux) or the image (QEMU).
    pub path: PathBuf,
    /// Its release: `6.1.0-9-amd64`.
    pub release: String,
    /// Its modules; empty where there are none.
    pub modules: Modules,
    /// Whose processor it is for.
    pub architecture: &'static Architecture,
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

    /// A kernel image with its modules.
    ///
    /// # Errors
    /// Where it cannot be read or is none.
    pub fn of_image(path: &Path) -> Result<Kernel, LaneFailure> {
        let Image { architecture, release, .. } = Image::look(path)?;
        let near = ["../lib/modules", "../usr/lib/modules", "lib/modules", "modules"];
        let modules = beside(path, &near, "/lib/modules", &release)?;
        Ok(Kernel { path: path.to_owned(), release, modules, architecture })
    }

    /// The kernel of a venue: the one that is named, or the distribution's newest.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where it is missing, with the package that brings it.
    pub fn find(kind: GuestKind, named: Option<&Path>) -> Result<Kernel, LaneFailure> {
        match kind {
            GuestKind::Uml => uml(),
            GuestKind::Qemu => {
                let here = here()?;
                if command::find_program(here.emulator).is_none() {
                    return Err(privilege(missing(here.emulator, here.emulator_package)));
                }
                let mut kernel = named.map_or_else(newest_image, Kernel::of_image)?;
                if kernel.architecture != here {
                    return Err(usage(format!(
                        "{} is a kernel for {}, and guests here are {}; name one for {0}",
                        kernel.path.display(),
                        kernel.architecture.name,
                        here.name
                    )));
                }
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

/// The architecture of this machine.
///
/// # Errors
/// Where guests are not made for it.
fn here() -> Result<&'static Architecture, LaneFailure> {
    let other = || privilege(format!("there are no guests for {}; race directories or images", std::env::consts::ARCH));
    Architecture::here().ok_or_else(other)
}

fn uml() -> Result<Kernel, LaneFailure> {
    let here = here()?;
    if !here.user_mode_linux {
        return Err(privilege(format!("user-mode Linux is for x86 alone, and this is {}; use --on qemu", here.name)));
    }
    let program = command::find_program(UML).ok_or_else(|| privilege(missing(UML, "user-mode-linux")))?;
    let words = [program.to_string_lossy().into_owned(), "--version".to_owned()];
    let output = command::run(&words, &AtomicBool::new(false))?;
    let release = output.stdout.trim().to_owned();
    if release.is_empty() || release.contains(char::is_whitespace) || release.contains('/') {
        return Err(failed(format!("{} does not tell its version; reinstall user-mode-linux", program.display())));
    }
    let modules = beside(&program, &["../lib/uml/modules", "../../lib/uml/modules"], "/usr/lib/uml/modules", &release)?;
    Ok(Kernel { path: program, release, modules, architecture: here })
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
    let here = here()?;
    let mut folders = vec![PathBuf::from("/boot")];
    folders.extend(command::own_folder().map(|folder| folder.join("boot")));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let images = entries.map(|entry| entry.path()).filter(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("vmlinuz-"))
    });
    let mut found: Vec<Kernel> = images.filter_map(|path| Kernel::of_image(&path).ok()).collect();
    found.retain(|kernel| kernel.architecture == here);
    // Of one version the plain kernel, whose name is the shortest, has the most modules.
    found.sort_by_key(|kernel| (version_key(&kernel.release), std::cmp::Reverse(kernel.release.len())));
    found.pop().ok_or_else(|| {
        privilege(format!(
            "there is no kernel image that can be read in /boot; {}, or name one: ext4@qemu:/path/to/vmlinuz",
            install(here.kernel_package)
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
            let kernel = Kernel {
                path,
                release: "6.12.0".to_owned(),
                modules: Modules::default(),
                architecture: here().unwrap(),
            };
            let build = kernel.build().unwrap();
            std::fs::remove_file(kernel.path).unwrap();
            build
        };
        assert_eq!(kernel("a", b"0123456789"), kernel("b", b"0123456789"));
        assert_ne!(kernel("a", b"0123456789"), kernel("b", b"0123456788"));
        assert_ne!(kernel("a", b"0123456789"), kernel("b", b"012345678"));
    }

    #[test]
    fn a_kernel_of_another_processor_is_refused_by_name() {
        let mut of_x86 = vec![0; 0x400];
        of_x86[0x202..0x206].copy_from_slice(b"HdrS");
        of_x86[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        of_x86[0x300..0x306].copy_from_slice(b"6.1.0 ");
        let mut of_arm = vec![0; 0x38];
        of_arm.extend_from_slice(b"ARM\x64Linux version 6.1.0 (x@y)");
        let path = std::env::temp_dir().join(format!("fairlane-other-kernel-{}", std::process::id()));
        for (name, bytes) in [("x86_64", of_x86), ("aarch64", of_arm)] {
            std::fs::write(&path, bytes).unwrap();
            let found = Kernel::find(GuestKind::Qemu, Some(&path));
            match here().unwrap().name == name {
                true => assert_eq!(found.unwrap().release, "6.1.0"),
                false => {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains(&format!("is a kernel for {name}, and guests here are")), "{error}");
                }
            }
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_is_no_kernel_is_refused_by_name() {
        for path in ["/bin/true", "/etc/passwd", "/nonexistent-vmlinuz"] {
            let error = Kernel::of_image(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(path), "{error}");
        }
    }
}
