//! The superblock of md 1.2 on a disk: which array that is of, and that it is forgotten.

use crate::device;
use crate::failure::{LaneFailure, cannot, failed};
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Where it lies on a disk; bcache's lies there too.
pub(super) const SUPERBLOCK_AT: u64 = 4096;
const SUPERBLOCK_BYTES: usize = 4096;
/// The UUID and the name of the array in it (linux/raid/md_p.h, `set_uuid` and `set_name`), and its magic.
const ARRAY_UUID: Range<usize> = 16..32;
const ARRAY_NAME: Range<usize> = 32..64;
const MD_MAGIC: [u8; 4] = 0xa92b_4efcu32.to_le_bytes();
/// Most bytes of a name.
pub(super) const NAME_BYTES: usize = ARRAY_NAME.end - ARRAY_NAME.start;

/// By what an array is known on each of its disks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// 32 hexadecimal digits.
    pub(super) uuid: String,
    name: String,
}

impl Identity {
    pub(super) fn new(uuid: &str, name: &str) -> Identity {
        Identity { uuid: uuid.to_owned(), name: name.to_owned() }
    }

    /// What the superblock of a disk says; `None`: it has none of md 1.2.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn on(disk: &File) -> std::io::Result<Option<Identity>> {
        let mut bytes = [0; ARRAY_NAME.end];
        match disk.read_exact_at(&mut bytes, SUPERBLOCK_AT) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let name = bytes[ARRAY_NAME].split(|&byte| byte == 0).next().unwrap_or_default();
        let identity =
            Identity { uuid: hexadecimal(&bytes[ARRAY_UUID]), name: String::from_utf8_lossy(name).into_owned() };
        Ok((bytes[..4] == MD_MAGIC).then_some(identity))
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Zeros over the superblock of a disk of this array; answers whether there was one. Whatever else is there by now is somebody's.
///
/// # Errors
/// When it cannot be read or written.
pub(super) fn forget(disk: &Path, ours: &Identity) -> Result<bool, LaneFailure> {
    let fail = |error: std::io::Error| match error.raw_os_error() {
        Some(libc::EBUSY) => failed(format!(
            "something uses {}, which holds the superblock of an array that is gone; end it, then run `fairlane clean`",
            disk.display()
        )),
        _ => cannot(format!("wipe the superblock of {}", disk.display()), error),
    };
    // A journal may name anything, and some devices do something when they are opened: this one is a disk.
    if !disk.metadata().is_ok_and(|of| of.file_type().is_block_device()) {
        return Ok(false);
    }
    let open = |write| {
        let alone = if write { libc::O_EXCL } else { 0 };
        File::options().read(true).write(write).custom_flags(libc::O_NONBLOCK | alone).open(disk)
    };
    let is_ours = |disk: &File| {
        let is_disk = disk.metadata()?.file_type().is_block_device();
        Ok::<_, std::io::Error>(is_disk && Identity::on(disk)?.as_ref() == Some(ours))
    };
    let found = match open(false) {
        // Its driver is gone.
        Err(error) if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ENXIO) => {
            return Ok(false);
        }
        opened => opened.map_err(fail)?,
    };
    if !is_ours(&found).map_err(fail)? {
        return Ok(false);
    }
    drop(found);
    device::wait_until_free(disk);
    let file = open(true).map_err(fail)?;
    // The name may lead to another disk by now.
    if !is_ours(&file).map_err(fail)? {
        return Ok(false);
    }
    file.write_all_at(&[0; SUPERBLOCK_BYTES], SUPERBLOCK_AT).and_then(|()| file.sync_all()).map_err(fail)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_of_another_array_is_no_runs() {
        let superblock = |uuid: u8, name: &str| {
            let disk = File::from(rustix::fs::memfd_create("disk", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
            disk.write_all_at(&MD_MAGIC, SUPERBLOCK_AT).unwrap();
            disk.write_all_at(&[uuid; 16], SUPERBLOCK_AT + ARRAY_UUID.start as u64).unwrap();
            disk.write_all_at(name.as_bytes(), SUPERBLOCK_AT + ARRAY_NAME.start as u64).unwrap();
            disk.set_len(1 << 20).unwrap();
            Identity::on(&disk).unwrap().unwrap()
        };
        let ours = Identity::new(&"ab".repeat(16), "fairlane-r");
        assert_eq!(superblock(0xab, "fairlane-r"), ours);
        assert_ne!(superblock(0xac, "fairlane-r"), ours);
        assert_ne!(superblock(0xab, "fairlane-s"), ours);
        assert_ne!(superblock(0xab, "home:0"), ours);
        let empty = rustix::fs::memfd_create("disk", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        assert_eq!(Identity::on(&File::from(empty)).unwrap(), None);
        for none in ["/dev/no-such-disk", "/dev/null", "/etc/passwd"] {
            assert_eq!(forget(Path::new(none), &ours), Ok(false), "{none}");
        }
    }
}
