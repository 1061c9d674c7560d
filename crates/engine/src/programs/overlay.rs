//! Work in an overlay of folders of the lane, as a container does.
//!
//! The overlay is mounted nowhere: it is known by its descriptor alone, so that nothing has to be unmounted
//! and it is gone with the process, whatever happens.

use crate::beneath::{by_descriptor, open_beneath, refused};
use crate::error::EngineError;
use crate::workloads::heed;
use model::programs::{OVERLAY_UPPER, Overlay, OverlayWork};
use rustix::fs::{Dir, FileType, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Does it in the folder `top`, whose path is for messages; answers how many files it touched.
pub(super) fn work(
    (path, top): (&Path, BorrowedFd<'_>),
    overlay: &Overlay,
    stop: &AtomicBool,
) -> Result<u64, EngineError> {
    // The step before may have put links in their place.
    let layer = |name: &str| {
        open_beneath(top, Path::new(name), OFlags::PATH | OFlags::DIRECTORY)
            .map_err(|errno| refused("open the layer", &path.join(name), errno))
    };
    let lower: Vec<OwnedFd> = overlay.lower.iter().map(|name| layer(name)).collect::<Result<_, _>>()?;
    let [upper, work] = OVERLAY_UPPER.map(layer);
    // Such paths hold none of the characters that divide the folders of an overlay, whatever their names do.
    let lower_paths = lower.iter().map(by_descriptor).collect::<Vec<_>>().join(":");
    let mounted = mount(&lower_paths, &by_descriptor(&upper?), &by_descriptor(&work?)).map_err(|errno| {
        EngineError::Unsupported {
            what: format!("no overlay can be mounted on the lane: {}", std::io::Error::from(errno)),
            step: "overlay".to_owned(),
            errno: errno.raw_os_error(),
        }
    })?;
    let mut files = Vec::new();
    let root = open_beneath(mounted.as_fd(), Path::new("."), OFlags::RDONLY | OFlags::DIRECTORY)
        .map_err(|errno| EngineError::file("open the overlay in", path, errno))?;
    list(&root, Path::new(""), &mut files).map_err(|errno| EngineError::file("read the overlay in", path, errno))?;
    let mut touched = 0;
    let mut room = vec![0; 64 << 10];
    for (number, file) in files.iter().enumerate() {
        heed(stop)?;
        let open = |flags| open_beneath(root.as_fd(), file, flags | OFlags::NONBLOCK).map(File::from);
        match overlay.does {
            OverlayWork::Read => {
                let mut file = open(OFlags::RDONLY).map_err(|errno| refused("open", file, errno))?;
                while file.read(&mut room).map_err(|error| super::cannot("read", &files[number], &error))? > 0 {}
                touched += 1;
            }
            OverlayWork::Change if number % 10 == 0 => {
                let mut changed =
                    open(OFlags::WRONLY | OFlags::APPEND).map_err(|errno| refused("open", file, errno))?;
                changed.write_all(b"x").map_err(|error| super::cannot("write", file, &error))?;
                touched += 1;
            }
            OverlayWork::Change => {}
        }
    }
    Ok(touched)
}

fn mount(lower: &str, upper: &str, work: &str) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "lowerdir", lower)?;
    fsconfig_set_string(&context, "upperdir", upper)?;
    fsconfig_set_string(&context, "workdir", work)?;
    fsconfig_create(&context)?;
    let nothing_runs =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, nothing_runs)
}

/// Every regular file below, in the order of names; the path is the folder's in the overlay.
fn list(folder: &OwnedFd, path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            entries.push((name.to_vec(), entry.file_type()));
        }
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, kind) in entries {
        let name = OsStr::from_bytes(&name);
        match kind {
            FileType::Directory => {
                let below = open_beneath(folder.as_fd(), Path::new(name), OFlags::RDONLY | OFlags::DIRECTORY)?;
                list(&below, &path.join(name), files)?;
            }
            FileType::RegularFile => files.push(path.join(name)),
            _ => {}
        }
    }
    Ok(())
}
