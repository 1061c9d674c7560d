//! Whether an image carries a UUID or a label by which this machine knows a disk of its own: udev would give that name to
//! the image, and what mounts, unlocks, swaps or resumes by it would take the one for the other.
//!
//! Offsets are those that libblkid reads (util-linux, libblkid/src/superblocks). Which format the image has is not asked:
//! no UUID of this machine stands anywhere by chance.

use crate::other_devices::{Bytes, Image, size_of};
use std::path::{Path, PathBuf};

/// Of ext, XFS, btrfs, F2FS, NILFS2, JFS, ReiserFS, swap and bcachefs.
const UUIDS: [u64; 9] =
    [1024 + 104, 32, (64 << 10) + 32, 1024 + 108, 1024 + 152, 0x8000 + 136, (64 << 10) + 84, 1024 + 12, 4096 + 56];
/// Of the second superblock of NILFS2: so many bytes before the end.
const UUID_BEFORE_THE_END: u64 = 4096 - 152;
/// Serial numbers with their lengths: of exFAT, NTFS and FAT.
const SERIALS: [(u64, usize); 4] = [(100, 4), (72, 8), (39, 4), (67, 4)];
/// Labels with their lengths: of the filesystems of `UUIDS`, in that order but for F2FS, and of FAT.
const LABELS: [(u64, usize); 10] = [
    (1024 + 120, 16),
    (108, 12),
    ((64 << 10) + 299, 256),
    (1024 + 168, 80),
    (0x8000 + 152, 16),
    ((64 << 10) + 100, 16),
    (1024 + 28, 16),
    (4096 + 72, 32),
    (43, 11),
    (71, 11),
];
/// Of F2FS, in UTF-16.
const WIDE_LABEL: (u64, usize) = (1024 + 124, 1024);

/// Where this machine writes down names of disks: those that are there, and those that it waits for.
const FOLDERS: [(&str, Form); 2] = [("/dev/disk/by-uuid", Form::Uuid), ("/dev/disk/by-label", Form::Label)];
const TEXTS: [&str; 3] = ["/etc/fstab", "/etc/crypttab", "/proc/cmdline"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Uuid,
    Label,
}

/// A name, as a superblock has it.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    form: Form,
    bytes: Vec<u8>,
    /// Whose it is.
    of: String,
}

/// What this machine calls its disks, but for the one that the image is already.
fn names_here(image: &Image) -> Vec<Name> {
    let mut names = Vec::new();
    for (folder, form) in FOLDERS {
        names.extend(names_in(Path::new(folder), form, image.device));
    }
    for path in TEXTS {
        // What cannot be read names nothing that anybody would take for a disk.
        names.extend(names_said(&std::fs::read_to_string(path).unwrap_or_default(), path));
    }
    names
}

/// The links of a folder of udev's.
fn names_in(folder: &Path, form: Form, but: Option<&Path>) -> Vec<Name> {
    let links = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = links.filter_map(|link| {
        let device: PathBuf = std::fs::canonicalize(link.path()).unwrap_or_else(|_| link.path());
        let name = unescaped(&link.file_name().into_string().ok()?);
        let is_own = but.is_some_and(|but| but == device);
        let of = format!("{} (where that is an earlier look, `fairlane clean` takes it away)", device.display());
        (!is_own).then(|| name_of(form, &name, of)).flatten()
    });
    named.collect()
}

/// What stands behind `UUID=` and its kin in a text.
fn names_said(text: &str, path: &str) -> Vec<Name> {
    let mut names = Vec::new();
    for (key, form) in
        [("UUID=", Form::Uuid), ("by-uuid/", Form::Uuid), ("LABEL=", Form::Label), ("by-label/", Form::Label)]
    {
        for (at, _) in text.match_indices(key) {
            // PARTUUID= is of a partition table.
            if text[..at].ends_with(|c: char| c.is_alphanumeric()) {
                continue;
            }
            let value = text[at + key.len()..].trim_start_matches('"');
            let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | ',')).unwrap_or(value.len());
            names.extend(name_of(form, &unescaped(&value[..end]), path.to_owned()));
        }
    }
    names
}

fn name_of(form: Form, text: &str, of: String) -> Option<Name> {
    let bytes = match form {
        Form::Uuid => uuid(text)?,
        Form::Label => Some(text.as_bytes().to_vec()).filter(|bytes| !bytes.is_empty())?,
    };
    Some(Name { form, bytes, of })
}

/// The bytes of a UUID (36 characters), or of a serial number of NTFS (16) or FAT (9), which lie the other way round.
fn uuid(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|&c| c != '-').collect();
    let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    let mut bytes: Vec<u8> = digits.chunks(2).map(pair).collect::<Option<_>>()?;
    match (text.len(), bytes.len()) {
        (36, 16) => {}
        (16, 8) | (9, 4) => bytes.reverse(),
        _ => return None,
    }
    Some(bytes)
}

/// `\x20` of udev and `\040` of fstab.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = |radix: u32, digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok();
        let found = match (first, more) {
            (b'\\', [b'x', high, low, ..]) => code(16, &[*high, *low]),
            (b'\\', [a, b, c, ..]) => code(8, &[*a, *b, *c]),
            _ => None,
        };
        bytes.push(found.unwrap_or(first));
        rest = if found.is_some() { &more[3..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why an image would be taken for a disk of this machine; `None`: it would not.
///
/// # Errors
/// The error of reading the image.
pub(crate) fn carried(image: &Image) -> std::io::Result<Option<String>> {
    among(image, &names_here(image))
}

fn among(image: &Image, names: &[Name]) -> std::io::Result<Option<String>> {
    let is = |form: Form, bytes: &[u8]| names.iter().find(|name| name.form == form && name.bytes == bytes);
    let size = size_of(image)? / 512 * 512;
    let places = UUIDS.iter().copied().chain(size.checked_sub(UUID_BEFORE_THE_END)).map(|at| (at, 16));
    for (at, length) in places.chain(SERIALS) {
        if let Some(name) = is(Form::Uuid, &Bytes::of(image, at, length)?.0) {
            return Ok(Some(format!("it carries the UUID of {}", name.of)));
        }
    }
    for (at, length) in LABELS {
        if let Some(name) = is(Form::Label, trimmed(&Bytes::of(image, at, length)?.0)) {
            return Ok(Some(format!("it carries the label of {}", name.of)));
        }
    }
    let wide = Bytes::of(image, WIDE_LABEL.0, WIDE_LABEL.1)?.0;
    let wide = wide.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).take_while(|&unit| unit != 0);
    let wide = String::from_utf16_lossy(&wide.collect::<Vec<u16>>());
    Ok(is(Form::Label, wide.as_bytes()).map(|name| format!("it carries the label of {}", name.of)))
}

/// A label up to its end.
fn trimmed(label: &[u8]) -> &[u8] {
    let end = label.iter().position(|&byte| byte == 0).unwrap_or(label.len());
    label[..end].trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::other_devices::tests::image_of;
    use std::os::unix::fs::symlink;

    const SIZE: u64 = 64 << 20;
    const ONE: &str = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

    #[test]
    fn a_uuid_or_a_label_of_this_machine_is_found_in_every_superblock() {
        let names = names_said(&format!("UUID={ONE} / ext4\nUUID=1A2B-3C4D /boot\nLABEL=my\\040data /d\n"), "fstab");
        assert_eq!(names.len(), 3);
        let told = |at: u64, bytes: &[u8]| among(&image_of(SIZE, &[(at, bytes)]), &names).unwrap();
        for at in UUIDS.into_iter().chain([SIZE - 4096 + 152]) {
            assert_eq!(told(at, &uuid(ONE).unwrap()).as_deref(), Some("it carries the UUID of fstab"), "{at}");
            assert_eq!(told(at, &[7; 16]), None, "{at}");
        }
        for at in [39, 67, 100] {
            assert!(told(at, &[0x4D, 0x3C, 0x2B, 0x1A]).is_some(), "{at}");
        }
        for (at, _) in LABELS {
            assert_eq!(told(at, b"my data").as_deref(), Some("it carries the label of fstab"), "{at}");
            assert_eq!(told(at, b"my data2"), None, "{at}");
        }
        let wide: Vec<u8> = "my data".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(told(WIDE_LABEL.0, &wide).is_some());
        assert_eq!(among(&image_of(SIZE, &[]), &names).unwrap(), None);
    }

    #[test]
    fn names_are_those_of_udev_but_for_the_images_own_device() {
        let folder = std::env::temp_dir().join(format!("fairlane-same-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("disk"), "").unwrap();
        symlink("disk", folder.join(ONE)).unwrap();
        let disk = std::fs::canonicalize(folder.join("disk")).unwrap();
        let (found, own) = (names_in(&folder, Form::Uuid, None), names_in(&folder, Form::Uuid, Some(&disk)));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.iter().map(|name| name.bytes.clone()).collect::<Vec<_>>(), [uuid(ONE).unwrap()]);
        assert!(found[0].of.starts_with(&disk.display().to_string()));
        assert_eq!(own, []);
        assert_eq!(names_in(&folder, Form::Uuid, None), []);
    }

    #[test]
    fn what_a_text_says_of_disks_is_read_as_its_readers_do() {
        let bytes = |text: &str| names_said(text, "x").into_iter().map(|name| name.bytes).collect::<Vec<_>>();
        assert_eq!(bytes(&format!("PARTUUID={ONE} PARTLABEL=a UUID=short UUID=")), Vec::<Vec<u8>>::new());
        assert_eq!(bytes(&format!("root=UUID={ONE} ro resume=UUID=\"{ONE}\"")).len(), 2);
        assert_eq!(bytes(&format!("/dev/disk/by-uuid/{ONE} /x")), [uuid(ONE).unwrap()]);
        assert_eq!(bytes("UUID=0123456789ABCDEF"), [vec![0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]]);
        assert_eq!(unescaped("a\\x20b\\x2f\\040\\"), "a b/ \\");
        assert_eq!(unescaped("\\x2\\"), "\\x2\\");
    }
}
