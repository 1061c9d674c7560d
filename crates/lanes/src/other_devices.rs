//! What an image that a stranger may have written would have the kernel or a checker do to other devices: filesystems
//! name their log, their journal and their members by numbers and UUIDs inside the image.
//!
//! Offsets are those of the formats on disk; each function names its header.

use crate::plain::is_plain;
use crate::signature::{self, EXT};
use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

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

const BTRFS_MAGIC: &[u8] = b"_BHRfS_M";
/// Where btrfs keeps its superblocks: the kernel mounts by the first, its tools may take another.
const BTRFS_SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];

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

    fn at<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0[offset..offset + N].try_into().expect("as many as were asked for")
    }

    fn le16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.at(offset))
    }

    fn le32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.at(offset))
    }

    fn le64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.at(offset))
    }

    fn be64(&self, offset: usize) -> u64 {
        u64::from_be_bytes(self.at(offset))
    }
}

/// What `names` tells of other devices, or else what the image may be taken for beside `own`: a reader that does not
/// know `own` as the kernel does takes that for the whole, and the name that stands there for the image's.
fn or_beside(names: Names, image: &Image, own: &str) -> std::io::Result<Option<String>> {
    if let Some(told) = names(image)? {
        return Ok(Some(told));
    }
    let told = |what| format!("it has the signature of {what} too, by which it may pass for a disk of this machine");
    Ok(signature::beside(image, own)?.map(told))
}

/// Of ext2, ext3 and ext4.
pub(crate) fn ext(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(ext_names, image, EXT)
}

/// Of XFS.
pub(crate) fn xfs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(xfs_names, image, "xfs")
}

/// Of Btrfs.
pub(crate) fn btrfs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(btrfs_names, image, "btrfs")
}

/// Of F2FS.
pub(crate) fn f2fs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(f2fs_names, image, "f2fs")
}

/// Of JFS.
pub(crate) fn jfs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(jfs_names, image, "jfs")
}

/// Of ReiserFS.
pub(crate) fn reiserfs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(reiserfs_names, image, "reiserfs")
}

/// Of bcachefs.
pub(crate) fn bcachefs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(bcachefs_names, image, "bcachefs")
}

/// Of exFAT, whose format has no word for another device.
pub(crate) fn exfat(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(|_| Ok(None), image, "exfat")
}

/// Of NTFS, whose format has none either.
pub(crate) fn ntfs(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(|_| Ok(None), image, "ntfs")
}

/// Of NILFS2, whose format has none either.
pub(crate) fn nilfs2(image: &Image) -> std::io::Result<Option<String>> {
    or_beside(|_| Ok(None), image, "nilfs2")
}

/// Of what is never mounted from an image.
pub(crate) fn unknown(_: &Image) -> std::io::Result<Option<String>> {
    Ok(Some("nobody knows whether it names other devices".to_owned()))
}

/// fs/ext4/ext4.h: a journal on another device, by number or by UUID.
fn ext_names(image: &Image) -> std::io::Result<Option<String>> {
    for superblock in ext_superblocks(image)? {
        let (uuid, inode, number) = (superblock.at::<16>(208), superblock.le32(224), superblock.le32(228));
        if superblock.le32(96) & 0x8 != 0 {
            return Ok(Some("it is the journal of another filesystem".to_owned()));
        }
        if (has_journal(&superblock) && inode == 0) || number != 0 || uuid != [0; 16] {
            return Ok(Some("its journal lies on another device".to_owned()));
        }
        // To the kernel that is a filesystem, to libblkid nothing at all.
        if superblock.le32(96) & 0x4 != 0 && !has_journal(&superblock) {
            return Ok(Some("it asks for its journal to be put into effect, and has none".to_owned()));
        }
        if !ext_own_options(&superblock).iter().all(|option| is_plain(option)) {
            return Ok(Some("it has mount options of its own, which do not speak for themselves".to_owned()));
        }
    }
    Ok(None)
}

/// What the kernel takes for mount options before those of the mount: a journal on another device may be among them.
fn ext_own_options(superblock: &Bytes) -> Vec<String> {
    let text: Vec<u8> = superblock.at::<64>(512).into_iter().take_while(|&byte| byte != 0).collect();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split(',').filter(|option| !option.is_empty()).map(str::to_owned).collect()
}

/// Whether an image of ext2, ext3 or ext4 has a journal, which whoever repairs it puts into effect.
///
/// # Errors
/// The error of reading the image.
pub(crate) fn ext_has_journal(image: &Image) -> std::io::Result<bool> {
    Ok(ext_superblocks(image)?.iter().any(has_journal))
}

fn has_journal(superblock: &Bytes) -> bool {
    superblock.le32(92) & 0x4 != 0
}

/// The superblock that the kernel takes, and those that e2fsck looks for where that one is damaged.
pub(crate) fn ext_superblocks(image: &Image) -> std::io::Result<Vec<Bytes>> {
    const BYTES: usize = 1024;
    const FIRST: u64 = 1024;
    let first = Bytes::new(image, FIRST, BYTES)?;
    // A copy begins each group of blocks, of which there are eight for each byte of a block.
    let usual = (0..7).map(|power| 1024u64 << power).map(|block| start(block * 8, block));
    let block = 1024u64 << first.le32(24).min(6);
    let group = u64::from(first.le32(32)) + u64::from(first.le32(20));
    let mut found = Vec::new();
    for at in usual.chain([group * block, FIRST]) {
        let superblock = Bytes::new(image, at, BYTES)?;
        if superblock.le16(56) == 0xEF53 {
            found.push(superblock);
        }
    }
    Ok(found)
}

/// The byte at which the block of a copy begins; with blocks of 1 KiB the first group begins behind the boot block.
fn start(block: u64, bytes: u64) -> u64 {
    (block + u64::from(bytes == 1024)) * bytes
}

/// fs/xfs/libxfs/xfs_format.h: a log or a realtime section on another device.
fn xfs_names(image: &Image) -> std::io::Result<Option<String>> {
    let superblock = Bytes::new(image, 0, 512)?;
    if superblock.at::<4>(0) != *b"XFSB" {
        return Ok(None);
    }
    let (realtime_blocks, log_start, realtime_start) = (superblock.be64(16), superblock.be64(48), superblock.be64(288));
    Ok(match (log_start, realtime_blocks, realtime_start) {
        (0, ..) => Some("its log lies on another device".to_owned()),
        // Zoned filesystems, since Linux 6.15, may have it on the same.
        (_, 1.., 0) => Some("its realtime section lies on another device".to_owned()),
        _ => None,
    })
}

/// include/uapi/linux/btrfs_tree.h: more devices than one, or a filesystem of which the machine has another device: the
/// kernel joins devices by the UUID of their filesystem, which whoever wrote the image chose.
fn btrfs_names(image: &Image) -> std::io::Result<Option<String>> {
    for at in BTRFS_SUPERBLOCKS {
        let Some(superblock) = btrfs_superblock(image, at)? else { continue };
        if superblock.le64(136) != 1 {
            return Ok(Some("it has more devices than one, or none".to_owned()));
        }
        if superblock.le64(56) & 1 << 32 != 0 {
            return Ok(Some("it is the seed of other filesystems".to_owned()));
        }
        let own = btrfs_uuids(&superblock);
        for path in block_devices()?.into_iter().filter(|path| Some(path.as_path()) != image.device) {
            let Some(other) = superblock_of_device(&path) else { continue };
            if btrfs_uuids(&other).iter().any(|uuid| own.contains(uuid)) {
                return Ok(Some(format!(
                    "{} is, by its UUID, a part of the same filesystem (where that is an earlier look, `fairlane clean` \
                     takes it away)",
                    path.display()
                )));
            }
        }
    }
    Ok(None)
}

fn btrfs_superblock(image: &Image, at: u64) -> std::io::Result<Option<Bytes>> {
    let superblock = Bytes::new(image, at, 4096)?;
    Ok((superblock.at::<8>(64) == *BTRFS_MAGIC).then_some(superblock))
}

/// All by which its filesystem is known: of the filesystem, of its metadata, of the one that its device belongs to.
fn btrfs_uuids(superblock: &Bytes) -> Vec<[u8; 16]> {
    let uuids = [superblock.at::<16>(32), superblock.at::<16>(571), superblock.at::<16>(283)];
    uuids.into_iter().filter(|uuid| *uuid != [0; 16]).collect()
}

/// Every block device of the machine.
fn block_devices() -> std::io::Result<Vec<PathBuf>> {
    let text = std::fs::read_to_string("/proc/partitions")?;
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(3)).filter(|name| *name != "name");
    // The kernel writes `!` for the `/` of names such as cciss/c0d0.
    Ok(names.map(|name| Path::new("/dev").join(name.replace('!', "/"))).collect())
}

/// What cannot be opened or read is no part that the kernel could join.
fn superblock_of_device(path: &Path) -> Option<Bytes> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    let device = File::options().read(true).custom_flags(flags.cast_signed()).open(path).ok()?;
    btrfs_superblock(&Image { file: device, device: None }, BTRFS_SUPERBLOCKS[0]).ok()?
}

/// include/linux/f2fs_fs.h: paths of its devices, which the kernel opens; in either of its two superblocks.
fn f2fs_names(image: &Image) -> std::io::Result<Option<String>> {
    const DEVICES: usize = 8;
    const DEVICE_BYTES: usize = 68;
    for at in [1024, 4096 + 1024] {
        let superblock = Bytes::new(image, at, 2201 + DEVICES * DEVICE_BYTES)?;
        let names = (0..DEVICES).any(|device| superblock.0[2201 + device * DEVICE_BYTES] != 0);
        if superblock.le32(0) == 0xF2F5_2010 && names {
            return Ok(Some("it names other devices".to_owned()));
        }
    }
    Ok(None)
}

/// fs/jfs/jfs_superblock.h: a log on another device, by number or by UUID; in either of its two superblocks.
fn jfs_names(image: &Image) -> std::io::Result<Option<String>> {
    const LOG_INSIDE: u32 = 0x800;
    for at in [0x8000, 0xF000] {
        let superblock = Bytes::new(image, at, 512)?;
        if superblock.at::<4>(0) == *b"JFS1" && superblock.le32(36) & LOG_INSIDE == 0 {
            return Ok(Some("its log lies on another device".to_owned()));
        }
    }
    Ok(None)
}

/// fs/reiserfs/reiserfs.h: a journal on another device, by number; at the place of today or of old.
fn reiserfs_names(image: &Image) -> std::io::Result<Option<String>> {
    for at in [64 << 10, 8 << 10] {
        let superblock = Bytes::new(image, at, 512)?;
        if superblock.at::<6>(52) == *b"ReIsEr" && superblock.le32(16) != 0 {
            return Ok(Some("its journal lies on another device".to_owned()));
        }
    }
    Ok(None)
}

/// fs/bcachefs/bcachefs_format.h: more devices than one. The kernel opens those that the mount names and no others.
fn bcachefs_names(image: &Image) -> std::io::Result<Option<String>> {
    let superblock = Bytes::new(image, 4096, 512)?;
    let is_one = superblock.at::<4>(24) == [0xC6, 0x85, 0x73, 0xF6];
    Ok((is_one && superblock.0[123] != 1).then(|| "it has more devices than one, or none".to_owned()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
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

    fn told(of: Names, parts: &[(u64, &[u8])]) -> bool {
        of(&image(parts)).unwrap().is_some()
    }

    #[test]
    fn every_superblock_that_a_kernel_or_a_checker_takes_is_looked_at() {
        let magic: &[u8] = &[0x53, 0xEF];
        for at in [1024, 8193 << 10, 16384 << 11, 32768 << 12] {
            assert!(!told(ext, &[(at + 56, magic)]), "{at}");
            for (offset, bytes) in [(92, 4u8), (96, 8), (208, 1), (223, 1), (228, 7)] {
                assert!(told(ext, &[(at + 56, magic), (at + offset, &[bytes])]), "{at}: {offset}");
            }
            assert!(!told(ext, &[(at + 56, magic), (at + 92, &[4]), (at + 224, &[8])]), "a journal of its own");
            for (options, is_told) in [("nobarrier,commit=9", false), ("commit=9,journal_dev=0x801", true)] {
                assert_eq!(told(ext, &[(at + 56, magic), (at + 512, options.as_bytes())]), is_told, "{at}: {options}");
            }
        }
        // The place of a copy is what the first says.
        let odd = [(1024 + 56, magic), (1024 + 32, &[0, 3]), (768 << 10, &[0][..]), ((768 << 10) + 56, magic)];
        assert!(!told(ext, &odd));
        assert!(told(ext, &[&odd[..], &[((768 << 10) + 228, &[1][..])]].concat()));
        for at in [64u64 << 10, 64 << 20] {
            let btrfs_of = |devices: u8, flag: u8| {
                told(
                    btrfs,
                    &[(at + 64, BTRFS_MAGIC), (at + 32, &[0xA7; 16]), (at + 136, &[devices]), (at + 60, &[flag])],
                )
            };
            assert!(!btrfs_of(1, 0) && btrfs_of(2, 0) && btrfs_of(0, 0) && btrfs_of(1, 1), "{at}");
        }
        for at in [1024u64, 5120] {
            let magic: &[u8] = &[0x10, 0x20, 0xF5, 0xF2];
            assert!(!told(f2fs, &[(at, magic)]) && told(f2fs, &[(at, magic), (at + 2201 + 68, b"/dev/sda")]), "{at}");
        }
        for at in [0x8000, 0xF000] {
            assert!(told(jfs, &[(at, b"JFS1")]) && !told(jfs, &[(at, b"JFS1"), (at + 37, &[8])]), "{at}");
        }
        for at in [8 << 10, 64 << 10] {
            assert!(!told(reiserfs, &[(at + 52, b"ReIsEr2Fs")]), "{at}");
            assert!(told(reiserfs, &[(at + 52, b"ReIsEr3Fs"), (at + 17, &[8])]), "{at}");
        }
        assert!(told(xfs, &[(0, b"XFSB")]) && !told(xfs, &[(0, b"XFSB"), (55, &[9])]));
        assert!(told(xfs, &[(0, b"XFSB"), (55, &[9]), (23, &[1])]));
        assert!(told(bcachefs, &[(4096 + 24, &[0xC6, 0x85, 0x73, 0xF6])]));
        for of in [ext, xfs, btrfs, f2fs, jfs, reiserfs, bcachefs] {
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
        let of = |parts: &[(u64, &[u8])], own: Names| own(&image(parts)).unwrap().unwrap_or_default();
        let fat: [(u64, &[u8]); 2] = [(0, &sector), (directory, &entry)];
        let recover: [(u64, &[u8]); 2] = [(1024 + 56, magic), (1024 + 96, &[4])];
        assert!(of(&[&fat[..], &[(1024 + 56, magic)]].concat(), ext).contains("the signature of vfat too"));
        assert!(of(&recover, ext).contains("asks for its journal to be put into effect, and has none"));
        assert_eq!(of(&[&recover[..], &[(1024 + 92, &[4]), (1024 + 224, &[8])]].concat(), ext), "");
        // Without the sector's last two bytes its magic is enough, without the magic a jump or those two bytes.
        for (at, length) in [(510, 2), (54, 8), (0, 3)] {
            let mut sector = sector.clone();
            sector[at..at + length].fill(0);
            assert!(of(&[(0, &sector), (1024 + 56, magic)], ext).contains("vfat"), "{at}");
            assert!(of(&[(0, &sector)], xfs).contains("vfat"), "{at}");
        }
        // Whatever else lies where mkfs leaves zeros is somebody's.
        assert!(of(&[(700, &[1]), (1024 + 56, magic)], ext).contains("an unknown boot sector"));
    }

    #[test]
    fn an_image_of_another_filesystem_than_its_lanes_is_refused() {
        let of = |parts: &[(u64, &[u8])], own: Names| own(&image(parts)).unwrap().unwrap_or_default();
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
            for own in [xfs, btrfs, f2fs, jfs, reiserfs, bcachefs] as [Names; 6] {
                assert!(of(&[(at, bytes)], own).contains(&format!("the signature of {what}")), "{what}");
            }
        }
        // The number of inodes of an ext may begin as HFS+ does.
        let inodes: [(u64, &[u8]); 2] = [(1024, b"H+"), (1024 + 56, &[0x53, 0xEF])];
        assert_eq!(of(&inodes, ext), "");
        assert!(of(&[&inodes[..], &[(1026, &[0, 4])]].concat(), ext).contains("hfsplus"));
        for (one, own, other) in [(b"EXFAT   ", exfat as Names, ntfs as Names), (b"NTFS    ", ntfs, exfat)] {
            assert_eq!(of(&[(3, one), (510, &[0x55, 0xAA])], own), "");
            assert!(of(&[(3, one), (1030, &[0x34, 0x34])], own).contains("nilfs2"));
            assert!(of(&[(3, one), (0x8001, b"CD001")], own).contains("iso9660"));
            assert_ne!(of(&[(3, one)], other), "");
        }
        assert!(of(&[(0x8001, b"CD001")], ntfs).contains("iso9660"));
        assert_eq!(of(&[(1030, &[0x34, 0x34]), (SIZE - 4096, &copy)], nilfs2), "");
        assert_eq!(of(&[], exfat), "");
    }

    #[test]
    fn mkfs_makes_what_names_no_other_device() {
        let folder = std::env::temp_dir();
        for (program, words, of) in [
            ("mkfs.ext4", &["-q", "-F"][..], ext as Names),
            ("mkfs.ext4", &["-q", "-F", "-b", "1024"], ext),
            ("mkfs.ext4", &["-q", "-F", "-b", "2048", "-O", "^has_journal,bigalloc"], ext),
            ("mkfs.ext3", &["-q", "-F"], ext),
            ("mkfs.ext2", &["-q", "-F", "-b", "1024", "-I", "128"], ext),
            ("mkfs.xfs", &["-f", "-q"], xfs),
            ("mkfs.xfs", &["-f", "-q", "-s", "size=4096"], xfs),
            ("mkfs.btrfs", &["-f", "-q"], btrfs),
            ("mkfs.btrfs", &["-f", "-q", "--mixed"], btrfs),
            ("mkfs.f2fs", &["-q", "-f"], f2fs),
            ("mkfs.jfs", &["-q"], jfs),
            ("mkfs.reiserfs", &["-q", "-f", "-f"], reiserfs),
            ("mkfs.ntfs", &["-q", "-F", "-Q"], ntfs),
            ("mkfs.ntfs", &["-q", "-F", "-f", "-c", "65536"], ntfs),
            ("mkfs.exfat", &[], exfat),
            ("mkfs.nilfs2", &["-q", "-f"], nilfs2),
            ("mkfs.bcachefs", &["-q", "-f"], bcachefs),
        ] {
            let path = folder.join(format!("fairlane-other-devices-{}", std::process::id()));
            File::create(&path).unwrap().set_len(SIZE).unwrap();
            let words: Vec<String> = [&[program], words].concat().iter().map(|&word| word.to_owned()).collect();
            let words = [words, vec![path.display().to_string()]].concat();
            let made = crate::command::run(&words, &std::sync::atomic::AtomicBool::new(false));
            let image = Image { file: File::open(&path).unwrap(), device: None };
            let (found, beside) = (of(&image).unwrap(), joined(&image, program.trim_start_matches("mkfs.")).unwrap());
            std::fs::remove_file(&path).unwrap();
            match made {
                Ok(_) => assert_eq!((found, beside), (None, None), "{program}"),
                Err(error) => eprintln!("{program}: not looked at, because it is not here: {error}"),
            }
        }
    }
}
