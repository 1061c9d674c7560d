//! Whether an image carries a UUID or a label by which this machine knows a disk of its own: udev would give that name to
//! the image, and what mounts, unlocks, swaps or resumes by it would take the one for the other.
//!
//! Offsets are those that libblkid reads (util-linux, libblkid/src/superblocks). Which format the image has is not asked:
//! no UUID of this machine stands anywhere by chance.

mod written;

use crate::other_devices::{Bytes, Image, ext_superblocks, size_of};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use written::{names_said, without_hex};

/// Of ext, XFS, btrfs, F2FS, NILFS2, JFS, ReiserFS (of today and of old), swap and bcachefs (and its copy).
const UUIDS: [u64; 11] = [
    1024 + 104,
    32,
    (64 << 10) + 32,
    1024 + 108,
    1024 + 152,
    0x8000 + 136,
    (64 << 10) + 84,
    (8 << 10) + 84,
    1024 + 12,
    4096 + 56,
    (2 << 20) + 56,
];
/// Of the second superblock of NILFS2 and of the last one of bcachefs: so many bytes before the end.
const UUIDS_BEFORE_THE_END: [u64; 2] = [4096 - 152, (1 << 20) - 56];
/// Serial numbers with their lengths: of exFAT, NTFS and FAT.
const SERIALS: [(u64, usize); 4] = [(100, 4), (72, 8), (39, 4), (67, 4)];
/// Labels with their lengths: of the filesystems of `UUIDS`, in that order but for F2FS, and of FAT.
const LABELS: [(u64, usize); 12] = [
    (1024 + 120, 16),
    (108, 12),
    ((64 << 10) + 299, 256),
    (1024 + 168, 80),
    (0x8000 + 152, 16),
    ((64 << 10) + 100, 16),
    ((8 << 10) + 100, 16),
    (1024 + 28, 16),
    (4096 + 72, 32),
    ((2 << 20) + 72, 32),
    (43, 11),
    (71, 11),
];
/// Of those of `UUIDS_BEFORE_THE_END`.
const LABELS_BEFORE_THE_END: [(u64, usize); 2] = [(4096 - 168, 80), ((1 << 20) - 72, 32)];
/// Of F2FS, in UTF-16.
const WIDE_LABEL: (u64, usize) = (1024 + 124, 1024);

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
    let size = size_of(image)? / 512 * 512;
    let mut found: Vec<(Form, Vec<u8>)> = Vec::new();
    let ends = UUIDS_BEFORE_THE_END.into_iter().filter_map(|back| size.checked_sub(back));
    for (at, length) in UUIDS.into_iter().chain(ends).map(|at| (at, 16)).chain(SERIALS) {
        found.push((Form::Uuid, Bytes::new(image, at, length)?.0));
    }
    let ends = LABELS_BEFORE_THE_END.into_iter().filter_map(|(back, length)| Some((size.checked_sub(back)?, length)));
    for (at, length) in LABELS.into_iter().chain(ends) {
        found.push((Form::Label, Bytes::new(image, at, length)?.0));
    }
    // Whoever repairs an ext may make any of them the first.
    for superblock in ext_superblocks(image)? {
        found.push((Form::Uuid, superblock.0[104..120].to_vec()));
        found.push((Form::Label, superblock.0[120..136].to_vec()));
    }
    let wide = Bytes::new(image, WIDE_LABEL.0, WIDE_LABEL.1)?.0;
    let wide = wide.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).take_while(|&unit| unit != 0);
    found.push((Form::Label, String::from_utf16_lossy(&wide.collect::<Vec<u16>>()).into_bytes()));
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
        for at in UUIDS.into_iter().chain([SIZE - 4096 + 152, SIZE - (1 << 20) + 56]) {
            assert_eq!(
                told(at, &uuid(ONE.as_bytes()).unwrap()).as_deref(),
                Some("it carries the UUID of fstab"),
                "{at}"
            );
            assert_eq!(told(at, &[7; 16]), None, "{at}");
        }
        for at in [39, 67, 100] {
            assert!(told(at, &[0x4D, 0x3C, 0x2B, 0x1A]).is_some(), "{at}");
        }
        for at in LABELS.map(|(at, _)| at).into_iter().chain([SIZE - 4096 + 168, SIZE - (1 << 20) + 72]) {
            assert_eq!(told(at, b"my data").as_deref(), Some("it carries the label of fstab"), "{at}");
            assert_eq!(told(at, b"my data2"), None, "{at}");
        }
        let wide: Vec<u8> = "my data".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(told(WIDE_LABEL.0, &wide).is_some());
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
        for (program, words, tags) in [
            ("mkfs.ext4", &["-q", "-F", "-L", "my data"][..], &["UUID", "LABEL"][..]),
            ("mkfs.xfs", &["-f", "-q", "-L", "mydata"], &["UUID", "LABEL"]),
            ("mkfs.btrfs", &["-f", "-q", "-L", "my data"], &["UUID", "LABEL"]),
            ("mkfs.f2fs", &["-q", "-f", "-l", "my d\u{e4}t\u{e4}"], &["UUID", "LABEL"]),
            ("mkfs.nilfs2", &["-q", "-f", "-L", "my data"], &["UUID", "LABEL"]),
            ("mkfs.jfs", &["-q", "-L", "my data"], &["UUID", "LABEL"]),
            ("mkfs.reiserfs", &["-q", "-f", "-f", "-l", "my data"], &["UUID", "LABEL"]),
            ("mkfs.exfat", &[], &["UUID"]),
            ("mkfs.ntfs", &["-q", "-F", "-Q"], &["UUID"]),
        ] {
            let path = std::env::temp_dir().join(format!("fairlane-read-names-{}", std::process::id()));
            File::create(&path).unwrap().set_len(300 << 20).unwrap();
            let made = std::process::Command::new(program).args(words).arg(&path).output();
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
                eprintln!("{program}: not looked at, because it or blkid is not here");
                continue;
            }
            for ((tag, value), carried) in tags.iter().zip(read).zip(carried) {
                assert!(!value.is_empty() && carried.is_some(), "{program}: {tag}={}", value.escape_ascii());
            }
        }
    }
}
