//! eCryptfs: a filesystem over a directory of the lane's own, which encrypts each file in it (the kernel's
//! Documentation/filesystems/ecryptfs.rst).

use super::{Above, Place, Source};
use crate::failure::{LaneFailure, cannot};
use crate::layers::{LayerOption, Options, Takes};
use crate::{mount, run_folder};
use model::operations::Ability;

/// The row.
pub(super) static ECRYPTFS: Above = Above {
    name: "ecryptfs",
    about: "eCryptfs",
    options: &[
        LayerOption { key: "key", takes: Takes::Words(&["16", "24", "32"]) },
        LayerOption { key: "names", takes: Takes::Nothing },
    ],
    filesystem: "ecryptfs",
    helpers: &["aes_generic", "aesni_intel", "aes_ce_blk", "ecb", "cbc", "md5"],
    drivers: &["ecryptfs"],
    source: Source::Folder,
    asks_mkfs_for_encryption: false,
    on_host: true,
    asks_of_filesystem: None,
    // Its files have neither an operation that allocates nor one that shares blocks, and where one is lengthened it writes
    // zeros; overlayfs takes none for an upper directory. An encrypted name is longer than its own (143 bytes become 255).
    lacks: |options| match options.has("names") {
        false => &[Ability::Reflink, Ability::Allocation, Ability::Holes, Ability::Overlays],
        true => &[Ability::Reflink, Ability::Allocation, Ability::Holes, Ability::Overlays, Ability::AnyNames],
    },
    promises: |_, below| below,
    warning: "eCryptfs has no direct I/O: what asks for it is read and written through the page cache",
    mount: lay,
    let_go: |_| Ok(()),
};

/// By which the kernel finds the key: eight bytes in hexadecimal digits.
const SIGNATURE: &str = "6661697262656e63";
/// In lanes nothing is secret: what encrypting costs does not depend on the key.
const KEY: [u8; 64] = *b"a lane holds no secrets, so each of them may have this very key.";

fn lay(place: &Place, options: &Options) -> Result<(), LaneFailure> {
    // No part of the way may be a link by now; the mount table names the folder.
    run_folder::open_directory(place.below)
        .map_err(|error| cannot(format!("open {}", place.below.display()), std::io::Error::from(error)))?;
    add_key().map_err(|error| cannot("give the kernel a key for eCryptfs", error))?;
    let mut given = vec![
        format!("ecryptfs_sig={SIGNATURE}"),
        "ecryptfs_cipher=aes".to_owned(),
        format!("ecryptfs_key_bytes={}", options.text("key").unwrap_or("16")),
    ];
    if options.has("names") {
        given.push(format!("ecryptfs_fnek_sig={SIGNATURE}"));
    }
    mount::mount("ecryptfs", &place.below.to_string_lossy(), &given, place.target)
}

/// Where each field of include/linux/ecryptfs.h's packed `ecryptfs_auth_tok` begins, for a passphrase.
mod at {
    pub(super) const VERSION: usize = 0;
    /// Behind type and flags, the session key (588 bytes) and 32 reserved bytes.
    const PASSWORD: usize = 8 + 588 + 32;
    pub(super) const HASH_ALGORITHM: usize = PASSWORD + 4;
    pub(super) const KEY_BYTES: usize = PASSWORD + 12;
    pub(super) const FLAGS: usize = PASSWORD + 16;
    pub(super) const KEY: usize = PASSWORD + 20;
    pub(super) const SIGNATURE: usize = KEY + 64;
    /// Signature (17), salt (8), and what the compiler fills up.
    pub(super) const END: usize = PASSWORD + 112;
}

/// ECRYPTFS_VERSION_MAJOR 0, ECRYPTFS_VERSION_MINOR 4.
const VERSION: u16 = 4;
/// PGP_DIGEST_ALGO_SHA512.
const SHA512: i32 = 10;
/// ECRYPTFS_SESSION_KEY_ENCRYPTION_KEY_SET.
const KEY_IS_SET: u32 = 2;

/// A token of the key, as ecryptfs-utils makes one of a passphrase.
fn token() -> [u8; at::END] {
    let mut token = [0; at::END];
    let mut put = |at: usize, bytes: &[u8]| token[at..at + bytes.len()].copy_from_slice(bytes);
    put(at::VERSION, &VERSION.to_ne_bytes());
    put(at::HASH_ALGORITHM, &SHA512.to_ne_bytes());
    put(at::KEY_BYTES, &(KEY.len() as u32).to_ne_bytes());
    put(at::FLAGS, &KEY_IS_SET.to_ne_bytes());
    put(at::KEY, &KEY);
    put(at::SIGNATURE, SIGNATURE.as_bytes());
    token
}

/// Lays it where this process alone finds it; the mount keeps it.
fn add_key() -> std::io::Result<()> {
    let (token, signature) = (token(), std::ffi::CString::new(SIGNATURE)?);
    // SAFETY: both texts end with a zero, and the kernel reads as many bytes of the token as it is told.
    let added = unsafe {
        libc::syscall(
            libc::SYS_add_key,
            c"user".as_ptr(),
            signature.as_ptr(),
            token.as_ptr(),
            token.len(),
            libc::KEY_SPEC_PROCESS_KEYRING,
        )
    };
    if added < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
