//! Whether an image carries a UUID or a label by which this machine knows a disk of its own: udev would give that name to
//! the image, and what mounts, unlocks, swaps or resumes by it would take the one for the other.
//!
//! Offsets are those that libblkid reads (util-linux, libblkid/src/superblocks). Which format the image has is not asked:
//! no UUID of this machine stands anywhere by chance.

mod written;

use crate::filesystems::FILESYSTEMS;
use crate::other_devices::{Bytes, Image, size_of};
use crate::signature::At::{self, Start};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use written::{names_said, without_hex};

/// UUID and label of each copy of a superblock.
pub type Copies = Vec<[Vec<u8>; 2]>;

/// Where a format keeps its names: place and length in bytes.
#[derive(Debug, Clone, Copy)]
pub struct NamePlaces {
    /// UUIDs and serial numbers.
    pub uuids: &'static [(At, usize)],
    /// Labels.
    pub labels: &'static [(At, usize)],
    /// Labels in UTF-16.
    pub wide_labels: &'static [(At, usize)],
    /// UUID and label of each copy of the superblock whose place the image itself tells.
    pub copies: fn(&Image) -> std::io::Result<Copies>,
}

impl NamePlaces {
    /// No names, or none that anybody looks for.
    pub const NONE: NamePlaces = NamePlaces { uuids: &[], labels: &[], wide_labels: &[], copies: |_| Ok(Vec::new()) };
}

/// Of formats that are no filesystems of `filesystems`.
const OTHERS: [NamePlaces; 2] = [SWAP, FAT];
const SWAP: NamePlaces =
    NamePlaces { uuids: &[(Start(1024 + 12), 16)], labels: &[(Start(1024 + 28), 16)], ..NamePlaces::NONE };
const FAT: NamePlaces = NamePlaces {
    uuids: &[(Start(39), 4), (Start(67), 4)],
    labels: &[(Start(43), 11), (Start(71), 11)],
    ..NamePlaces::NONE
};

/// Of all formats.
fn places() -> impl Iterator<Item = NamePlaces> {
    FILESYSTEMS.iter().map(|row| row.names).chain(OTHERS)
}

/// Where this machine writes down names of disks: those that are there, and those that it waits for.
const FOLDERS: [(&str, Form); 2] = [("/dev/disk/by-uuid", Form::Uuid), ("/dev/disk/by-label", Form::Label)];
const TEXTS: [&str; 3] = ["/etc/fstab", "/etc/crypttab", "/proc/cmdline"];
/// No text about disks is longer.
const MOST_TEXT: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
///
/// # Errors
/// Why that is not known: a name that nobody read is one that the image may carry.
fn names_here(image: &Image) -> Result<Vec<Name>, String> {
    let mut names = Vec::new();
    for (folder, form) in FOLDERS {
        names.extend(names_in(Path::new(folder), form, image.device)?);
    }
    for path in TEXTS {
        names.extend(names_said(&text_of(Path::new(path))?, path));
    }
    Ok(names)
}

fn unread(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{} names disks of this machine and cannot be read ({error}), so make it readable first", path.display())
}

/// The bytes of a text; none where there is no such text.
fn text_of(path: &Path) -> Result<Vec<u8>, String> {
    // A pipe is not waited for.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        file => file.map_err(|error| unread(path, &error))?,
    };
    if !file.metadata().map_err(|error| unread(path, &error))?.is_file() {
        return Err(unread(path, &"it is no file"));
    }
    let mut text = Vec::new();
    file.take(MOST_TEXT + 1).read_to_end(&mut text).map_err(|error| unread(path, &error))?;
    if text.len() as u64 > MOST_TEXT {
        return Err(unread(path, &"it is longer than 1 MiB"));
    }
    Ok(text)
}

/// The links of a folder of udev's.
fn names_in(folder: &Path, form: Form, but: Option<&Path>) -> Result<Vec<Name>, String> {
    let links = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        links => links.map_err(|error| unread(folder, &error))?,
    };
    let mut names = Vec::new();
    for link in links {
        let link = link.map_err(|error| unread(folder, &error))?;
        let device: PathBuf = std::fs::canonicalize(link.path()).unwrap_or_else(|_| link.path());
        if but.is_some_and(|but| but == device) {
            continue;
        }
        let of = format!("{} (where that is an earlier look, `fairlane clean` takes it away)", device.display());
        let name = name_of(form, &without_hex(link.file_name().as_bytes()));
        names.extend(name.map(|(form, bytes)| Name { form, bytes, of }));
    }
    Ok(names)
}

/// What a superblock has where it has this name; `None`: no superblock has such a name.
fn name_of(form: Form, text: &[u8]) -> Option<(Form, Vec<u8>)> {
    let bytes = match form {
        Form::Uuid => uuid(text)?,
        Form::Label => Some(trimmed(text)).filter(|bytes| !bytes.is_empty())?.to_vec(),
    };
    Some((form, bytes))
}

/// The bytes of a UUID (36 characters, or 32), or of a serial number of NTFS (16) or FAT (9), which lie the other way
/// round.
fn uuid(text: &[u8]) -> Option<Vec<u8>> {
    if !text.iter().all(|&byte| byte == b'-' || byte.is_ascii_hexdigit()) {
        return None;
    }
    let digits: Vec<u8> = text.iter().copied().filter(|&byte| byte != b'-').collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let mut bytes: Vec<u8> = digits.chunks(2).map(pair).collect::<Option<_>>()?;
    match (text.len(), digits.len()) {
        (36 | 32, 32) => {}
        (16, 16) | (9, 8) => bytes.reverse(),
        _ => return None,
    }
    Some(bytes)
}

/// Why an image would be taken for a disk of this machine; `None`: it would not.
///
/// # Errors
/// The error of reading the image.
pub(crate) fn carried(image: &Image) -> std::io::Result<Option<String>> {
    match names_here(image) {
        Ok(names) => among(image, &names),
        Err(why) => Ok(Some(why)),
    }
}

fn among(image: &Image, names: &[Name]) -> std::io::Result<Option<String>> {
    let size = size_of(image)?;
    let mut found: Vec<(Form, Vec<u8>)> = Vec::new();
    let bytes = |(at, length): (At, usize)| match at.offset_in(size) {
        Some(at) => Bytes::new(image, at, length).map(|bytes| bytes.0),
        None => Ok(Vec::new()),
    };
    for of in places() {
        for place in of.uuids {
            found.push((Form::Uuid, bytes(*place)?));
        }
        for place in of.labels {
            found.push((Form::Label, bytes(*place)?));
        }
        for place in of.wide_labels {
            let wide = bytes(*place)?;
            let wide = wide.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            let wide: Vec<u16> = wide.take_while(|&unit| unit != 0).collect();
            found.push((Form::Label, String::from_utf16_lossy(&wide).into_bytes()));
        }
        for [uuid, label] in (of.copies)(image)? {
            found.extend([(Form::Uuid, uuid), (Form::Label, label)]);
        }
    }
    let is = |name: &Name, (form, bytes): &(Form, Vec<u8>)| {
        name.form == *form && name.bytes == *if *form == Form::Label { trimmed(bytes) } else { bytes }
    };
    let carried = names.iter().find(|name| found.iter().any(|found| is(name, found)));
    Ok(carried.map(|name| match name.form {
        Form::Uuid => format!("it carries the UUID of {}", name.of),
        Form::Label => format!("it carries the label of {}", name.of),
    }))
}

/// A label up to its end, without the blanks before that, as libblkid has it.
fn trimmed(label: &[u8]) -> &[u8] {
    let label = label.split(|&byte| byte == 0).next().unwrap_or_default();
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    &label[..label.iter().rposition(|byte| !blank(byte)).map_or(0, |last| last + 1)]
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
        let text = format!("UUID={ONE} / ext4\nUUID=1A2B-3C4D /boot\nLABEL='my\\040data' /d\n");
        let names = names_said(text.as_bytes(), "fstab");
        let told = |at: u64, bytes: &[u8]| among(&image_of(SIZE, &[(at, bytes)]), &names).unwrap();
        let uuids = places().flat_map(|of| of.uuids.iter().copied());
        for (at, length) in uuids.map(|(at, length)| (at.offset_in(SIZE).unwrap(), length)) {
            // What the machine calls a serial number, as it lies on the disk.
            let (carried, of) = match length {
                16 => (uuid(ONE.as_bytes()).unwrap(), true),
                4 => (vec![0x4D, 0x3C, 0x2B, 0x1A], true),
                _ => (vec![1; length], false),
            };
            assert_eq!(told(at, &carried).as_deref(), of.then_some("it carries the UUID of fstab"), "{at}");
            assert_eq!(told(at, &vec![7; length]), None, "{at}");
        }
        let labels = places().flat_map(|of| of.labels.iter().copied());
        for at in labels.map(|(at, _)| at.offset_in(SIZE).unwrap()) {
            assert_eq!(told(at, b"my data").as_deref(), Some("it carries the label of fstab"), "{at}");
            assert_eq!(told(at, b"my data2"), None, "{at}");
        }
        let wide: Vec<u8> = "my data".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide_labels: Vec<(At, usize)> = places().flat_map(|of| of.wide_labels.iter().copied()).collect();
        assert!(!wide_labels.is_empty());
        for (at, _) in wide_labels {
            assert!(told(at.offset_in(SIZE).unwrap(), &wide).is_some());
        }
        // Of a copy of the superblock of an ext, which e2fsck may make the first.
        let copy = |at: u64, bytes: &[u8]| {
            let group = 8193 << 10;
            among(&image_of(SIZE, &[(group + 56, &[0x53, 0xEF]), (group + at, bytes)]), &names).unwrap()
        };
        assert!(copy(104, &uuid(ONE.as_bytes()).unwrap()).is_some() && copy(120, b"my data").is_some());
        assert_eq!(copy(140, b"my data"), None);
        // As libblkid has them, labels end before blanks.
        assert!(told(1024 + 120, b"my data \t\x0B\n").is_some() && told(1024 + 120, b" my data").is_none());
        assert_eq!(among(&image_of(SIZE, &[]), &names).unwrap(), None);
    }

    #[test]
    fn names_are_those_of_udev_but_for_the_images_own_device() {
        let folder = std::env::temp_dir().join(format!("fairlane-same-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("disk"), "").unwrap();
        symlink("disk", folder.join(ONE)).unwrap();
        let disk = std::fs::canonicalize(folder.join("disk")).unwrap();
        let names = |but: Option<&Path>| names_in(&folder, Form::Uuid, but).unwrap();
        let (found, own) = (names(None), names(Some(&disk)));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.iter().map(|name| name.bytes.clone()).collect::<Vec<_>>(), [uuid(ONE.as_bytes()).unwrap()]);
        assert!(found[0].of.starts_with(&disk.display().to_string()));
        assert_eq!(own, []);
        assert_eq!(names(None), []);
    }

    #[test]
    fn names_that_are_there_and_cannot_be_read_are_no_reason_to_go_on() {
        let folder = std::env::temp_dir().join(format!("fairlane-unread-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("fstab");
        let of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            text_of(&path)
        };
        let not_there = text_of(&path);
        let latin = of(b"# f\xFCr\nUUID=1A2B-3C4D /b\n");
        let (most, more) = (of(&vec![b'#'; MOST_TEXT as usize]), of(&vec![b'#'; MOST_TEXT as usize + 1]));
        let links = names_in(&path, Form::Uuid, None);
        let (is_folder, pipe) = (text_of(&folder), folder.join("pipe"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let is_pipe = text_of(&pipe);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(not_there, Ok(Vec::new()));
        assert_eq!(names_said(&latin.unwrap(), "fstab").len(), 1);
        assert_eq!(most.unwrap().len() as u64, MOST_TEXT);
        for refused in [more, is_folder, is_pipe, links.map(|_| Vec::new())] {
            let why = refused.unwrap_err();
            assert!(why.contains("names disks of this machine and cannot be read"), "{why}");
        }
    }

    #[test]
    fn names_that_blkid_reads_from_what_mkfs_makes_are_compared() {
        let blkid = |path: &Path, tag: &str| {
            let output = std::process::Command::new("blkid").args(["-p", "-o", "value", "-s", tag]).arg(path).output();
            output.map(|output| output.stdout.trim_ascii().to_vec()).unwrap_or_default()
        };
        let rows = FILESYSTEMS.iter().filter(|row| !row.names.uuids.is_empty());
        let plain = rows.map(|row| (row.mkfs_command(&[]), vec!["UUID"]));
        let labelled = [
            ("ext4", "-L", "my data"),
            ("xfs", "-L", "mydata"),
            ("btrfs", "-L", "my data"),
            ("f2fs", "-l", "my d\u{e4}t\u{e4}"),
            ("nilfs2", "-L", "my data"),
            ("jfs", "-L", "my data"),
            ("reiserfs", "-l", "my data"),
        ];
        let labelled = labelled.map(|(name, option, label)| {
            let row = crate::filesystems::find(name).unwrap();
            (row.mkfs_command(&[option.to_owned(), label.to_owned()]), vec!["UUID", "LABEL"])
        });
        for (command, tags) in plain.chain(labelled) {
            let path = std::env::temp_dir().join(format!("fairlane-read-names-{}", std::process::id()));
            File::create(&path).unwrap().set_len(300 << 20).unwrap();
            let command = crate::contestant::fill_device(&command, &path);
            let made = std::process::Command::new(&command[0]).args(&command[1..]).output();
            let is_made = made.is_ok_and(|made| made.status.success()) && !blkid(&path, "TYPE").is_empty();
            let image = Image { file: File::open(&path).unwrap(), device: None };
            let read: Vec<Vec<u8>> = tags.iter().map(|tag| blkid(&path, tag)).collect();
            let carried = tags.iter().zip(&read).map(|(tag, value)| {
                let text = [tag.as_bytes(), b"='", value, b"' /mnt auto noauto 0 0\n"].concat();
                among(&image, &names_said(&text, "fstab")).unwrap()
            });
            let carried: Vec<Option<String>> = carried.collect();
            std::fs::remove_file(&path).unwrap();
            if !is_made {
                eprintln!("{}: not looked at, because it or blkid is not here", command[0]);
                continue;
            }
            for ((tag, value), carried) in tags.iter().zip(read).zip(carried) {
                assert!(!value.is_empty() && carried.is_some(), "{command:?}: {tag}={}", value.escape_ascii());
            }
        }
    }
}
