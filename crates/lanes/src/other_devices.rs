//! What an image that a stranger may have written would have the kernel or a checker do to other devices: filesystems
//! name their log, their journal and their members by numbers and UUIDs inside the image.
//!
//! Offsets are those of the formats on disk; each function names its header.

use crate::filesystems::Filesystem;
use crate::signature;
use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// What a filesystem's row tells of an image: the reason why it concerns other devices; `None`: it does not.
pub type Names = fn(&Image) -> std::io::Result<Option<String>>;

/// An image, and the block device that it is already.
#[derive(Debug)]
pub struct Image<'a> {
    /// Its file.
    pub file: File,
    /// The loop device of that file; `None`: there is none yet.
    pub device: Option<&'a Path>,
}

/// Size in bytes of an image, or of a block device.
pub(crate) fn size_of(image: &Image) -> std::io::Result<u64> {
    (&image.file).seek(SeekFrom::End(0))
}

/// Some bytes of an image; zeros behind its end.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn new(image: &Image, at: u64, length: usize) -> std::io::Result<Bytes> {
        let mut bytes = vec![0; length];
        // What shows a crash image answers an error behind its end.
        let size = size_of(image)?;
        let (mut done, there) = (0, size.saturating_sub(at).min(length as u64) as usize);
        while done < there {
            match image.file.read_at(&mut bytes[done..there], at + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Bytes(bytes))
    }

    pub(crate) fn at<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0[offset..offset + N].try_into().expect("as many as were asked for")
    }

    pub(crate) fn le16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.at(offset))
    }

    pub(crate) fn le32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.at(offset))
    }

    pub(crate) fn le64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.at(offset))
    }

    pub(crate) fn be64(&self, offset: usize) -> u64 {
        u64::from_be_bytes(self.at(offset))
    }
}

/// What `names` tells of other devices, or else what the image may be taken for beside `own`: a reader that does not
/// know `own` as the kernel does takes that for the whole, and the name that stands there for the image's.
pub(crate) fn or_beside(names: Names, image: &Image, own: &Filesystem) -> std::io::Result<Option<String>> {
    if let Some(told) = names(image)? {
        return Ok(Some(told));
    }
    let told = |what| format!("it has the signature of {what} too, by which it may pass for a disk of this machine");
    Ok(signature::beside(image, own)?.map(told))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::filesystems::{FILESYSTEMS, Home, find};
    use crate::joined::joined;

    const SIZE: u64 = 300 << 20;

    /// An image of so many bytes, with these in it.
    pub(crate) fn image_of(size: u64, parts: &[(u64, &[u8])]) -> Image<'static> {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let file = File::from(rustix::fs::memfd_create("image", flags).unwrap());
        file.set_len(size).unwrap();
        for (at, bytes) in parts {
            file.write_all_at(bytes, *at).unwrap();
        }
        Image { file, device: None }
    }

    fn image(parts: &[(u64, &[u8])]) -> Image<'static> {
        image_of(SIZE, parts)
    }

    fn said(own: &str, parts: &[(u64, &[u8])]) -> String {
        find(own).unwrap().concerns_others(&image(parts)).unwrap().unwrap_or_default()
    }

    fn told(own: &str, parts: &[(u64, &[u8])]) -> bool {
        !said(own, parts).is_empty()
    }

    #[test]
    fn every_superblock_that_a_kernel_or_a_checker_takes_is_looked_at() {
        let magic: &[u8] = &[0x53, 0xEF];
        for at in [1024, 8193 << 10, 16384 << 11, 32768 << 12] {
            assert!(!told("ext4", &[(at + 56, magic)]), "{at}");
            for (offset, bytes) in [(92, 4u8), (96, 8), (208, 1), (223, 1), (228, 7)] {
                assert!(told("ext4", &[(at + 56, magic), (at + offset, &[bytes])]), "{at}: {offset}");
            }
            assert!(!told("ext4", &[(at + 56, magic), (at + 92, &[4]), (at + 224, &[8])]), "a journal of its own");
            for (options, is_told) in [("nobarrier,commit=9", false), ("commit=9,journal_dev=0x801", true)] {
                assert_eq!(
                    told("ext4", &[(at + 56, magic), (at + 512, options.as_bytes())]),
                    is_told,
                    "{at}: {options}"
                );
            }
        }
        // The place of a copy is what the first says.
        let odd = [(1024 + 56, magic), (1024 + 32, &[0, 3]), (768 << 10, &[0][..]), ((768 << 10) + 56, magic)];
        assert!(!told("ext4", &odd));
        assert!(told("ext4", &[&odd[..], &[((768 << 10) + 228, &[1][..])]].concat()));
        for at in [64u64 << 10, 64 << 20] {
            let btrfs_of = |devices: u8, flag: u8| {
                told(
                    "btrfs",
                    &[(at + 64, b"_BHRfS_M"), (at + 32, &[0xA7; 16]), (at + 136, &[devices]), (at + 60, &[flag])],
                )
            };
            assert!(!btrfs_of(1, 0) && btrfs_of(2, 0) && btrfs_of(0, 0) && btrfs_of(1, 1), "{at}");
        }
        for at in [1024u64, 5120] {
            let magic: &[u8] = &[0x10, 0x20, 0xF5, 0xF2];
            assert!(
                !told("f2fs", &[(at, magic)]) && told("f2fs", &[(at, magic), (at + 2201 + 68, b"/dev/sda")]),
                "{at}"
            );
        }
        for at in [0x8000, 0xF000] {
            assert!(told("jfs", &[(at, b"JFS1")]) && !told("jfs", &[(at, b"JFS1"), (at + 37, &[8])]), "{at}");
        }
        for at in [8 << 10, 64 << 10] {
            assert!(!told("reiserfs", &[(at + 52, b"ReIsEr2Fs")]), "{at}");
            assert!(told("reiserfs", &[(at + 52, b"ReIsEr3Fs"), (at + 17, &[8])]), "{at}");
        }
        assert!(told("xfs", &[(0, b"XFSB")]) && !told("xfs", &[(0, b"XFSB"), (55, &[9])]));
        assert!(told("xfs", &[(0, b"XFSB"), (55, &[9]), (23, &[1])]));
        assert!(told("bcachefs", &[(4096 + 24, &[0xC6, 0x85, 0x73, 0xF6])]));
        for of in ["ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs", "bcachefs"] {
            assert!(!told(of, &[]), "nothing is there, and nothing is mounted");
        }
    }

    /// A boot sector of FAT16 with 512 sectors of a FAT, and `BACKUP` as the first entry of its root directory.
    fn fat16() -> [Vec<u8>; 2] {
        let mut sector = vec![0; 512];
        let numbers: [(usize, &[u8]); 7] = [
            (0, &[0xEB, 0x3C, 0x90]),
            (11, &[0, 2, 4, 4, 0, 1, 0, 2]),
            (21, &[0xF8, 0, 2]),
            (32, &[0, 0, 2, 0]),
            (38, &[0x29, 1, 2, 3, 4]),
            (43, b"NO NAME    FAT16   "),
            (510, &[0x55, 0xAA]),
        ];
        for (at, bytes) in numbers {
            sector[at..at + bytes.len()].copy_from_slice(bytes);
        }
        [sector, b"BACKUP     \x08".to_vec()]
    }

    #[test]
    fn an_ext_that_libblkid_takes_for_a_fat_is_refused() {
        let [sector, entry] = fat16();
        let directory = (4 + 512) * 512;
        let magic: &[u8] = &[0x53, 0xEF];
        let of = |parts: &[(u64, &[u8])], own: &str| said(own, parts);
        let fat: [(u64, &[u8]); 2] = [(0, &sector), (directory, &entry)];
        let recover: [(u64, &[u8]); 2] = [(1024 + 56, magic), (1024 + 96, &[4])];
        assert!(of(&[&fat[..], &[(1024 + 56, magic)]].concat(), "ext4").contains("the signature of vfat too"));
        assert!(of(&recover, "ext4").contains("asks for its journal to be put into effect, and has none"));
        assert_eq!(of(&[&recover[..], &[(1024 + 92, &[4]), (1024 + 224, &[8])]].concat(), "ext4"), "");
        // Without the sector's last two bytes its magic is enough, without the magic a jump or those two bytes.
        for (at, length) in [(510, 2), (54, 8), (0, 3)] {
            let mut sector = sector.clone();
            sector[at..at + length].fill(0);
            assert!(of(&[(0, &sector), (1024 + 56, magic)], "ext4").contains("vfat"), "{at}");
            assert!(of(&[(0, &sector)], "xfs").contains("vfat"), "{at}");
        }
        // Whatever else lies where mkfs leaves zeros is somebody's.
        assert!(of(&[(700, &[1]), (1024 + 56, magic)], "ext4").contains("an unknown boot sector"));
    }

    #[test]
    fn an_image_of_another_filesystem_than_its_lanes_is_refused() {
        let of = |parts: &[(u64, &[u8])], own: &str| said(own, parts);
        let copy = [&[0; 6][..], &[0x34, 0x34], &[0; 24], &SIZE.to_le_bytes()].concat();
        for (what, at, bytes) in [
            ("iso9660", 0x8001, &b"CD001"[..]),
            ("udf", 0x8001, b"BEA01"),
            ("hfs", 1024, b"H+"),
            ("hfs", 1024, b"BD"),
            ("erofs", 1024, &[0xE2, 0xE1, 0xF5, 0xE0]),
            ("squashfs", 0, b"hsqs"),
            ("swap", 0xFF6, b"SWAPSPACE2"),
            ("nilfs2", SIZE - 4096, &copy),
            ("ufs", (64 << 10) + 1372, &[0x19, 0x54, 0x01, 0x19]),
            ("GPT", 512, b"EFI PART"),
            ("GPT", SIZE - 512, b"EFI PART"),
            ("MBR", 510, &[0x55, 0xAA]),
            ("ext2/ext3/ext4", 1024 + 56, &[0x53, 0xEF]),
            ("ntfs", 3, b"NTFS    "),
        ] {
            for own in ["xfs", "btrfs", "f2fs", "jfs", "reiserfs", "bcachefs"] {
                assert!(of(&[(at, bytes)], own).contains(&format!("the signature of {what}")), "{what}");
            }
        }
        // The number of inodes of an ext may begin as HFS+ does.
        let inodes: [(u64, &[u8]); 2] = [(1024, b"H+"), (1024 + 56, &[0x53, 0xEF])];
        assert_eq!(of(&inodes, "ext4"), "");
        assert!(of(&[&inodes[..], &[(1026, &[0, 4])]].concat(), "ext4").contains("hfsplus"));
        for (one, own, other) in [(b"EXFAT   ", "exfat", "ntfs"), (b"NTFS    ", "ntfs", "exfat")] {
            assert_eq!(of(&[(3, one), (510, &[0x55, 0xAA])], own), "");
            assert!(of(&[(3, one), (1030, &[0x34, 0x34])], own).contains("nilfs2"));
            assert!(of(&[(3, one), (0x8001, b"CD001")], own).contains("iso9660"));
            assert_ne!(of(&[(3, one)], other), "");
        }
        assert!(of(&[(0x8001, b"CD001")], "ntfs").contains("iso9660"));
        assert_eq!(of(&[(1030, &[0x34, 0x34]), (SIZE - 4096, &copy)], "nilfs2"), "");
        assert_eq!(of(&[], "exfat"), "");
    }

    #[test]
    fn mkfs_makes_what_names_no_other_device() {
        let rows = FILESYSTEMS.iter().filter(|row| row.home == Home::Block && row.names_others.is_some());
        let more = [
            ("ext4", "-b 1024"),
            ("ext4", "-b 2048 -O ^has_journal,bigalloc"),
            ("ext2", "-b 1024 -I 128"),
            ("xfs", "-s size=4096"),
            ("btrfs", "--mixed"),
            ("ntfs", "-f -c 65536"),
        ];
        for (row, words) in rows.map(|&row| (row, "")).chain(more.map(|(name, words)| (find(name).unwrap(), words))) {
            let path = std::env::temp_dir().join(format!("fairlane-other-devices-{}", std::process::id()));
            File::create(&path).unwrap().set_len(SIZE).unwrap();
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let command = crate::contestant::fill_device(&row.mkfs_command(&words), &path);
            let made = crate::command::run(&command, &std::sync::atomic::AtomicBool::new(false));
            let image = Image { file: File::open(&path).unwrap(), device: None };
            let (found, beside) = (row.concerns_others(&image).unwrap(), joined(&image, row.name).unwrap());
            std::fs::remove_file(&path).unwrap();
            match made {
                Ok(_) => assert_eq!((found, beside), (None, None), "{command:?}"),
                Err(error) => eprintln!("{}: not looked at, because it is not here: {error}", row.name),
            }
        }
    }
}
