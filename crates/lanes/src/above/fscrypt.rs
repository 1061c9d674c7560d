//! fscrypt: an encrypted directory of the lane's filesystem, which encrypts each file in it by itself (the kernel's
//! Documentation/filesystems/fscrypt.rst).

use super::{Above, Place, Source};
use crate::failure::{LaneFailure, cannot, failed};
use crate::layers::{LayerOption, Options, Takes};
use crate::{mount, run_folder};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

/// The row.
pub(super) static FSCRYPT: Above = Above {
    name: "fscrypt",
    about: "an encrypted directory of the filesystem (fscrypt)",
    options: &[LayerOption { key: "cipher", takes: Takes::Words(&["aes-256-xts", "adiantum"]) }],
    filesystem: "fscrypt",
    helpers: &[
        "aes_generic",
        "aesni_intel",
        "aes_ce_blk",
        "ecb",
        "cts",
        "xts",
        "sha512_generic",
        "hmac",
        "chacha_generic",
        "nhpoly1305",
        "adiantum",
    ],
    drivers: &["fscrypto"],
    source: Source::Device,
    asks_mkfs_for_encryption: true,
    on_host: true,
    asks_of_filesystem: None,
    lacks: |_| &[],
    promises: |_, below| below,
    warning: "files encrypted by fscrypt are read and written through the page cache where direct I/O is asked for, but for \
              filesystems mounted with inlinecrypt on kernels with CONFIG_BLK_INLINE_ENCRYPTION",
    mount: lay,
    let_go: |_| Ok(()),
};

/// The directory that is encrypted.
const DIRECTORY: &str = "encrypted";
/// In lanes nothing is secret: what encrypting costs does not depend on the key.
const KEY: [u8; 64] = *b"a lane holds no secrets, so each of them may have this very key.";

/// include/uapi/linux/fscrypt.h: `fscrypt_add_key_arg` with the key behind it.
#[repr(C)]
struct AddKey {
    specifier: u32,
    reserved: u32,
    /// Answered by the kernel: what names the key in policies.
    identifier: [u8; 16],
    rest_of_specifier: [u8; 16],
    raw_size: u32,
    key_id: u32,
    reserved_too: [u32; 8],
    raw: [u8; 64],
}

/// `fscrypt_policy_v2`.
#[repr(C)]
struct Policy {
    version: u8,
    contents: u8,
    filenames: u8,
    flags: u8,
    log2_data_unit_size: u8,
    reserved: [u8; 3],
    identifier: [u8; 16],
}

/// `_IOWR('f', 23, struct fscrypt_add_key_arg)`, whose size is without the key.
const ADD_KEY: libc::c_ulong = 0xC050_6617;
/// `_IOR('f', 19, struct fscrypt_policy_v1)`, which takes both versions.
const SET_POLICY: libc::c_ulong = 0x800C_6613;
/// FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER.
const BY_IDENTIFIER: u32 = 2;
/// Names are padded to a multiple of 32 bytes (FSCRYPT_POLICY_FLAGS_PAD_32), as the program fscrypt asks for.
const PAD_32: u8 = 3;

fn lay(place: &Place, options: &Options) -> Result<(), LaneFailure> {
    let shown = place.below.display();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What leads there takes no ioctl.
    let below = run_folder::open_directory(place.below)
        .and_then(|path| openat(&path, ".", flags, Mode::empty()))
        .map_err(|error| cannot(format!("open {shown}"), std::io::Error::from(error)))?;
    let identifier = add_key(&below).map_err(|error| refused("take a key for encrypted files", error))?;
    let is_new = match mkdirat(&below, DIRECTORY, Mode::from_raw_mode(0o755)) {
        Ok(()) => true,
        // Made before the lane was made cold.
        Err(Errno::EXIST) => false,
        Err(error) => return Err(cannot(format!("make {shown}/{DIRECTORY}"), std::io::Error::from(error))),
    };
    let directory = openat(&below, DIRECTORY, flags, Mode::empty())
        .map_err(|error| cannot(format!("open {shown}/{DIRECTORY}"), std::io::Error::from(error)))?;
    let (contents, filenames) = match options.text("cipher") {
        // Adiantum is for both, and AES-256-CTS goes with AES-256-XTS.
        Some("adiantum") => (9, 9),
        _ => (1, 4),
    };
    set_policy(&directory, (contents, filenames), identifier).map_err(|error| refused("encrypt a directory", error))?;
    if is_new {
        try_to_encrypt(&directory).map_err(|error| refused("encrypt a file", error.into()))?;
    }
    mount::mount_again(&directory, place.target)
}

/// Makes a file in an empty directory and removes it: only then the kernel looks for the cipher.
fn try_to_encrypt(directory: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(directory, "tried", flags, Mode::RUSR)?;
    unlinkat(directory, "tried", AtFlags::empty())
}

/// Gives the filesystem the key, for as long as it is mounted.
fn add_key(mounted: &OwnedFd) -> std::io::Result<[u8; 16]> {
    let mut key = AddKey {
        specifier: BY_IDENTIFIER,
        reserved: 0,
        identifier: [0; 16],
        rest_of_specifier: [0; 16],
        raw_size: KEY.len() as u32,
        key_id: 0,
        reserved_too: [0; 8],
        raw: KEY,
    };
    // SAFETY: the kernel reads and writes this structure, and reads the key behind it, of which `raw_size` tells the bytes.
    match unsafe { libc::ioctl(mounted.as_raw_fd(), ADD_KEY as _, &mut key) } {
        0 => Ok(key.identifier),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Has all that is made in an empty directory encrypted; does nothing where it has this policy.
fn set_policy(directory: &OwnedFd, (contents, filenames): (u8, u8), identifier: [u8; 16]) -> std::io::Result<()> {
    let policy =
        Policy { version: 2, contents, filenames, flags: PAD_32, log2_data_unit_size: 0, reserved: [0; 3], identifier };
    // SAFETY: the kernel reads a policy of version 2, which this is.
    match unsafe { libc::ioctl(directory.as_raw_fd(), SET_POLICY as _, &policy) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn refused(what: &str, error: std::io::Error) -> LaneFailure {
    match error.raw_os_error() {
        Some(libc::ENOTTY | libc::EOPNOTSUPP) => failed(format!(
            "the kernel or its filesystem cannot {what}; race it on a kernel with CONFIG_FS_ENCRYPTION, or leave fscrypt out"
        )),
        Some(libc::ENOPKG) => failed(format!("the kernel cannot {what}: it lacks this cipher; take another one")),
        _ => cannot(what, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_is_told_has_its_own_sizes() {
        // `_IOWR` and `_IOR` carry the sizes in bits 16 to 29.
        assert_eq!((ADD_KEY >> 16) as usize & 0x3FFF, size_of::<AddKey>() - KEY.len());
        assert_eq!(size_of::<Policy>(), 24);
        assert_eq!((SET_POLICY >> 16) & 0x3FFF, 12);
    }
}
