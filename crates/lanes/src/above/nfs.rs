//! NFS 4: the kernel's server exports the lane's filesystem, and its client mounts that over the loopback (nfsd(7), and the
//! caches of the kernel's Documentation/filesystems/nfs/rpc-cache.rst).
//!
//! Exports are written into the kernel's caches as mountd and exportfs do, so that a guest needs no program for it.

use super::{Above, BELOW, Place, Source};
use crate::failure::{LaneFailure, cannot, failed};
use crate::layers::{LayerOption, Options, Takes};
use crate::mount;
use model::operations::Ability;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The row.
pub(super) static NFS: Above = Above {
    name: "nfs",
    about: "an NFS 4 server and its client on one machine",
    options: &[
        LayerOption { key: "vers", takes: Takes::Words(&["4.2", "4.1", "4.0"]) },
        LayerOption { key: "async", takes: Takes::Nothing },
        LayerOption { key: "nconnect", takes: Takes::Number(1, 16) },
        LayerOption { key: "rsize", takes: Takes::Size(4 << 10, 1 << 20) },
        LayerOption { key: "wsize", takes: Takes::Size(4 << 10, 1 << 20) },
    ],
    filesystem: "nfs4",
    helpers: &["sunrpc"],
    drivers: &["nfsv4", "nfsd"],
    source: Source::Fairlane,
    asks_mkfs_for_encryption: false,
    // An export, and the server's threads, would be the whole machine's.
    on_host: false,
    asks_of_filesystem: None,
    lacks: |options| match options.text("vers") {
        None | Some("4.2") => &[Ability::Overlays],
        // What came with 4.2 and after it (RFC 7862, RFC 8276).
        Some(_) => &[Ability::Overlays, Ability::Reflink, Ability::Attributes, Ability::Allocation],
    },
    promises: |options, below| match options.has("async") {
        true => super::Promises { fsync_reaches_stable_storage: false, barriers: false, ..below },
        false => below,
    },
    warning: "the server and the client of NFS are one machine: its CPUs do the work of both, and no network lies between",
    mount: serve_and_mount,
    let_go,
};

const NFSD: &str = "/proc/fs/nfsd";
/// nfsd(8): the usual number of threads.
const THREADS: &str = "8";
/// The shortest time of grace that the kernel takes.
const LEAST_GRACE_SECONDS: &str = "10";
/// No entry of the caches expires in the life of a guest: seconds since 1970, of which old kernels read 31 bits.
const NEVER: u32 = i32::MAX as u32;

/// Emptying may be dated a second ahead, and so may what comes behind it.
const BETWEEN_FLUSHES: Duration = Duration::from_millis(2100);

/// Bits of an export (include/uapi/linux/nfsd/export.h).
mod flag {
    pub(super) const INSECURE_PORT: u32 = 0x2;
    pub(super) const ASYNC: u32 = 0x10;
    pub(super) const NO_SUBTREE_CHECK: u32 = 0x400;
    pub(super) const FSID: u32 = 0x2000;
    pub(super) const CROSS_MOUNT: u32 = 0x4000;
}

/// Filesystems that are exported, by their number: where they are, and whether the server answers before the disk does.
static EXPORTS: Mutex<BTreeMap<u32, (PathBuf, bool)>> = Mutex::new(BTreeMap::new());

/// When the caches were emptied last.
static LAST_FLUSH: Mutex<Option<Instant>> = Mutex::new(None);

fn serve_and_mount(place: &Place, options: &Options) -> Result<(), LaneFailure> {
    let mut exports = EXPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    if exports.is_empty() && !mount::is_mounted(Path::new(NFSD))? {
        start_server()?;
    }
    let (name, number) = name_of(place)?;
    exports.insert(number, (place.below.to_owned(), options.has("async")));
    export_all(&exports)?;
    let mut given: Vec<String> =
        ["addr=127.0.0.1", "clientaddr=127.0.0.1", "proto=tcp", "hard"].map(str::to_owned).to_vec();
    given.push(format!("vers={}", options.text("vers").unwrap_or("4.2")));
    given.extend(options.text("nconnect").map(|count| format!("nconnect={count}")));
    for key in ["rsize", "wsize"].into_iter().filter(|key| options.has(key)) {
        given.push(format!("{key}={}", options.size(key, 1 << 20)));
    }
    mount::mount("nfs4", &format!("127.0.0.1:/{name}"), &given, place.target)
}

/// The server's caches hold a filesystem that they know; they are emptied, and told of the others again.
fn let_go(place: &Place) -> Result<(), LaneFailure> {
    let (_, number) = name_of(place)?;
    let mut exports = EXPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    if exports.remove(&number).is_none() {
        return Ok(());
    }
    wait_for_another_flush();
    for cache in ["nfsd.fh", "nfsd.export"] {
        write(&Path::new("/proc/net/rpc").join(cache).join("flush"), &format!("{NEVER}\n"))?;
    }
    export_all(&exports)
}

/// The caches count in seconds, and one that is emptied twice in a second empties itself much later.
fn wait_for_another_flush() {
    let mut last = LAST_FLUSH.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = *last {
        std::thread::sleep(BETWEEN_FLUSHES.saturating_sub(last.elapsed()));
    }
    *last = Some(Instant::now());
}

/// The name of a lane's folder, and the number of its filesystem: that of the root of all exports is 0.
fn name_of<'a>(place: &Place<'a>) -> Result<(&'a str, u32), LaneFailure> {
    let name = place.below.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number: u32 = name.parse().map_err(|_| failed(format!("{} is no lane's folder", place.below.display())))?;
    Ok((name, number + 1))
}

fn export_all(exports: &BTreeMap<u32, (PathBuf, bool)>) -> Result<(), LaneFailure> {
    channel("auth.unix.ip", &format!("nfsd 127.0.0.1 {NEVER} *"))?;
    export(0, Path::new(BELOW), flag::CROSS_MOUNT)?;
    exports
        .iter()
        .try_for_each(|(number, (path, is_async))| export(*number, path, if *is_async { flag::ASYNC } else { 0 }))
}

/// Tells the kernel of a filesystem that anybody on the loopback may write to, root as root, known by a number.
fn export(number: u32, path: &Path, flags: u32) -> Result<(), LaneFailure> {
    let flags = flags | flag::INSECURE_PORT | flag::NO_SUBTREE_CHECK | flag::FSID;
    let path = path.display();
    channel("nfsd.export", &format!("* {path} {NEVER} {flags} 65534 65534 {number}"))?;
    let bytes: String = number.to_ne_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    // Type 1: four bytes, the number.
    channel("nfsd.fh", &format!("* 1 \\x{bytes} {NEVER} {path}"))
}

fn channel(cache: &str, line: &str) -> Result<(), LaneFailure> {
    write(&Path::new("/proc/net/rpc").join(cache).join("channel"), &format!("{line}\n"))
}

fn write(path: &Path, text: &str) -> Result<(), LaneFailure> {
    // One write is one entry.
    std::fs::write(path, text)
        .map_err(|error| cannot(format!("write `{}` to {}", text.trim_end(), path.display()), error))
}

fn start_server() -> Result<(), LaneFailure> {
    raise_loopback()?;
    // From Linux 6.12 on a client goes past the protocol to a server of its own machine.
    let _ = std::fs::write("/sys/module/nfs/parameters/localio_enabled", "N");
    mount::mount("nfsd", "nfsd", &[], Path::new(NFSD))?;
    let told = |name: &str, text: &str| write(&Path::new(NFSD).join(name), &format!("{text}\n"));
    told("versions", "-3 +4 +4.0 +4.1 +4.2")?;
    told("nfsv4gracetime", LEAST_GRACE_SECONDS)?;
    told("portlist", "tcp 2049")?;
    // Where the server keeps its clients' names it ends the time of grace when it is told to, because nobody has anything
    // to reclaim; a kernel that keeps them elsewhere lets the first client wait until it is over.
    let _ = std::fs::create_dir_all("/var/lib/nfs/v4recovery");
    told("threads", THREADS)?;
    let _ = told("v4_end_grace", "Y");
    Ok(())
}

/// The address comes with it.
fn raise_loopback() -> Result<(), LaneFailure> {
    // SAFETY: an `ifreq` of zeros is a valid one; its name is ended by a zero, and both calls read and write no more.
    let raised = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(cannot("open a socket", std::io::Error::last_os_error()));
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        let mut done = libc::ioctl(socket, libc::SIOCGIFFLAGS, &mut request);
        if done == 0 {
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            done = libc::ioctl(socket, libc::SIOCSIFFLAGS, &mut request);
        }
        let said = std::io::Error::last_os_error();
        libc::close(socket);
        if done == 0 { Ok(()) } else { Err(said) }
    };
    raised.map_err(|error| cannot("raise the loopback", error))
}
