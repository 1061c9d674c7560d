//! Kernel images: whose processor they are for, which release they hold, and how an emulator is given them.
//!
//! x86 images name their release in their header. Those of arm64 do not (Documentation/arch/arm64/booting.rst): their
//! release is read from the banner of the kernel itself, which stands in the clear once the image is unpacked. It may
//! be packed by gzip whole, or be an EFI program that unpacks itself (`CONFIG_EFI_ZBOOT`), which QEMU learned to read
//! late and of gzip alone: emulators get it unpacked.

use super::modules::unpack;
use crate::architecture::Architecture;
use crate::failure::{LaneFailure, cannot, plain, usage};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// More is no kernel.
const LARGEST_IMAGE_BYTES: u64 = 512 << 20;
/// Bytes that tell what an image is: an x86 image's header is the longest.
const HEADER_BYTES: usize = 0x210;
/// Before the release in the banner that every kernel prints first (init/version.c).
const BANNER: &[u8] = b"Linux version ";
/// No release is longer: `struct new_utsname`.
const LONGEST_RELEASE: usize = 64;

/// How the kernel stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// As an emulator starts it.
    None,
    /// All of it packed by gzip.
    Gzip,
    /// Packed bytes inside of an EFI program, and the ending of files that are packed in that way.
    Zboot { offset: u64, bytes: u64, ending: &'static str },
}

/// What a kernel image says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    /// Whose processor it is for.
    pub(super) architecture: &'static Architecture,
    /// Its release: `6.1.0-9-amd64`.
    pub(super) release: String,
    packing: Packing,
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(BYTES)?)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

impl Image {
    /// Looks at a file.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] where it cannot be read or is no kernel image that is known.
    pub(super) fn look(path: &Path) -> Result<Image, LaneFailure> {
        let file = open_image(path).map_err(|error| {
            usage(format!("{}: {}; name a kernel image that you may read", path.display(), plain(&error)))
        })?;
        let no_kernel = || usage(format!("{} is no kernel image for this machine; name a vmlinuz", path.display()));
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&file).take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(|_| no_kernel())?;
        if let Some(of_x86) = x86(&file, &header) {
            return Ok(of_x86);
        }
        let packing = packing_of(&header).ok_or_else(no_kernel)?;
        let whole = unpacked(&file, packing)
            .map_err(|error| usage(format!("{} cannot be unpacked: {}", path.display(), plain(&error))))?;
        let architecture = of_plain(&whole).ok_or_else(no_kernel)?;
        let release = release_in(&whole).ok_or_else(no_kernel)?;
        Ok(Image { architecture, release, packing })
    }
}

/// The kernel as an emulator starts it: the file itself, or a new one in a folder where it is packed in a way that
/// QEMU may not know.
///
/// # Errors
/// When it cannot be read, unpacked or written.
pub(super) fn for_emulator(path: &Path, folder: &Path) -> Result<PathBuf, LaneFailure> {
    let unpack = || -> io::Result<Option<Vec<u8>>> {
        let file = open_image(path)?;
        let mut header = [0; HEADER_BYTES];
        let length = file.read_at(&mut header, 0)?;
        match packing_of(&header[..length]) {
            Some(packing @ Packing::Zboot { .. }) => unpacked(&file, packing).map(Some),
            _ => Ok(None),
        }
    };
    let whole = unpack().map_err(|error| cannot(format!("unpack the kernel {}", path.display()), error))?;
    let Some(whole) = whole else { return Ok(path.to_owned()) };
    let to = folder.join("kernel");
    std::fs::write(&to, whole).map_err(|error| cannot(format!("write {}", to.display()), error))?;
    Ok(to)
}

/// An image for x86, whose header names the release: Documentation/arch/x86/boot.rst, `kernel_version`.
fn x86(file: &File, header: &[u8]) -> Option<Image> {
    (header.get(0x202..0x206)? == b"HdrS").then_some(())?;
    let at = number::<2>(header, 0x20e)? + 0x200;
    let mut text = [0u8; 128];
    let count = file.read_at(&mut text, at).ok()?;
    let architecture = Architecture::of_pe(0x8664)?;
    Some(Image { architecture, release: release_at(&text[..count])?, packing: Packing::None })
}

/// `None`: no image that is known.
fn packing_of(header: &[u8]) -> Option<Packing> {
    if header.starts_with(b"\x1f\x8b") {
        return Some(Packing::Gzip);
    }
    // drivers/firmware/efi/libstub/zboot-header.S
    if header.starts_with(b"MZ") && header.get(4..8)? == b"zimg" {
        let name = header.get(24..56)?.split(|&byte| byte == 0).next()?;
        let ending = [(&b"gzip"[..], "gz"), (b"xzkern", "xz"), (b"xz", "xz"), (b"zstd22", "zst"), (b"zstd", "zst")];
        let ending = ending.into_iter().find(|(of, _)| *of == name)?.1;
        return Some(Packing::Zboot { offset: number::<4>(header, 8)?, bytes: number::<4>(header, 12)?, ending });
    }
    of_plain(header).map(|_| Packing::None)
}

/// The architecture of an image as an emulator starts it: the magic of arm64's own header.
fn of_plain(header: &[u8]) -> Option<&'static Architecture> {
    (header.get(0x38..0x3c)? == b"ARM\x64").then(|| Architecture::of_pe(0xaa64)).flatten()
}

/// Opens a kernel image: a file, of no more bytes than a kernel has. A pipe is not waited for.
fn open_image(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    match found.is_file() && found.len() <= LARGEST_IMAGE_BYTES {
        true => Ok(file),
        false => Err(io::Error::other("it is no file of at most 512 MiB")),
    }
}

fn unpacked(file: &File, packing: Packing) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let (offset, bytes, ending) = match packing {
        Packing::None => (0, size, ""),
        Packing::Gzip => (0, size, "gz"),
        Packing::Zboot { offset, bytes, ending } => (offset, bytes, ending),
    };
    // A header that was made up asks for no more than there is.
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(io::Error::other("it is cut"));
    }
    let mut packed = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    file.read_exact_at(&mut packed, offset)?;
    if ending.is_empty() {
        return Ok(packed);
    }
    let mut piece = File::from(memfd_create("kernel", MemfdFlags::CLOEXEC)?);
    piece.write_all(&packed)?;
    piece.rewind()?;
    unpack(piece, ending)
}

/// The release in the banner of an unpacked kernel.
fn release_in(whole: &[u8]) -> Option<String> {
    let first = BANNER[0];
    let mut rest = whole;
    loop {
        let at = rest.iter().position(|&byte| byte == first)?;
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix(BANNER)
            && let Some(release) = release_at(behind)
        {
            return Some(release);
        }
        rest = &rest[1..];
    }
}

/// The release that a text begins with. It becomes a part of a path.
fn release_at(text: &[u8]) -> Option<String> {
    let end = text.iter().take(LONGEST_RELEASE + 1).position(|&byte| byte == b' ' || byte == 0)?;
    let release = std::str::from_utf8(&text[..end]).ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+~".contains(c);
    (release.starts_with(|c: char| c.is_ascii_digit()) && release.chars().all(plain)).then(|| release.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// A folder that goes with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("fairlane-image-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }

        fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// As arm64's head.S and version.c lay them out; before the banner stands its own beginning, as it does in code
    /// that looks for it.
    fn arm64() -> Vec<u8> {
        let mut image = vec![0; 4096];
        image[..2].copy_from_slice(b"MZ");
        image[0x38..0x3c].copy_from_slice(b"ARM\x64");
        image.extend_from_slice(b"Linux version %s\0Linux version 6.12.117+deb13-arm64 (x@y) #1 SMP\0");
        image
    }

    fn packed(program: &str, bytes: &[u8]) -> Vec<u8> {
        let mut child =
            Command::new(program).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect(program);
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap().stdout
    }

    fn zboot(name: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 0x300];
        image[..2].copy_from_slice(b"MZ");
        image[4..8].copy_from_slice(b"zimg");
        image[8..12].copy_from_slice(&0x300u32.to_le_bytes());
        image[12..16].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        image[24..24 + name.len()].copy_from_slice(name);
        image.extend_from_slice(payload);
        // The size of what was packed stands behind it.
        image.extend_from_slice(&[0; 4]);
        image
    }

    #[test]
    fn kernels_of_arm64_are_known_in_every_packing() {
        let scratch = Scratch::new("arm64");
        let plain = arm64();
        let files = [
            ("plain", plain.clone(), false),
            ("gzip", packed("gzip", &plain), false),
            ("zboot-gzip", zboot(b"gzip", &packed("gzip", &plain)), true),
            ("zboot-xz", zboot(b"xzkern", &packed("xz", &plain)), true),
            ("zboot-zstd", zboot(b"zstd22", &packed("zstd", &plain)), true),
        ];
        for (name, bytes, unpacks) in files {
            let path = scratch.file(name, &bytes);
            let image = Image::look(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((image.architecture.name, &*image.release), ("aarch64", "6.12.117+deb13-arm64"), "{name}");
            let given = for_emulator(&path, &scratch.0).unwrap();
            assert_eq!(given, scratch.0.join(if unpacks { "kernel" } else { name }));
            if unpacks {
                assert!(std::fs::read(given).unwrap() == plain, "{name}");
            }
        }
    }

    #[test]
    fn images_that_are_cut_or_made_up_are_refused_by_name() {
        let scratch = Scratch::new("hostile");
        let mut other = arm64();
        let end = other.len();
        other.truncate(4096);
        other.extend_from_slice(b"Linux version 6.1/../../etc x Linux version ");
        let mut beyond = zboot(b"gzip", b"");
        beyond[8..16].copy_from_slice(&[0xff; 8]);
        let files = [
            ("empty", Vec::new()),
            ("no-banner", arm64()[..4096].to_vec()),
            ("path-as-release", other),
            ("beyond-the-end", beyond),
            ("torn-gzip", b"\x1f\x8b\x08rest".to_vec()),
            ("torn-zboot", zboot(b"xzkern", b"none")),
            ("unknown-packing", zboot(b"lzo", b"x")),
            ("cut-banner", arm64()[..end - 50].to_vec()),
        ];
        for (name, bytes) in files {
            let path = scratch.file(name, &bytes);
            let error = Image::look(&path).expect_err(name).to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn an_image_of_x86_names_its_release_in_its_header() {
        let scratch = Scratch::new("x86");
        let mut image = vec![0; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        image[0x300..0x314].copy_from_slice(b"6.1.0-9-amd64 (x@y)\0");
        let image = Image::look(&scratch.file("bz", &image)).unwrap();
        assert_eq!((image.architecture.name, &*image.release), ("x86_64", "6.1.0-9-amd64"));
    }
}
