//! Work in an overlay of folders of the lane, as a container does.
//!
//! The overlay is mounted nowhere: it is known by its descriptor alone, so that nothing has to be unmounted
//! and it is gone with the process, whatever happens.

use super::cannot;
use crate::error::EngineError;
use crate::workloads::heed;
use model::programs::{OVERLAY_UPPER, Overlay, OverlayWork};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Does it; answers how many files it touched.
pub(super) fn work(top: &Path, overlay: &Overlay, stop: &AtomicBool) -> Result<u64, EngineError> {
    let folder = open(top, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| EngineError::file("open directory", top, errno))?;
    // Such paths hold none of the characters that divide the folders of an overlay, whatever the lane's does.
    let path = |name: &str| format!("{}/{name}", super::inherited(&folder));
    let lower: Vec<String> = overlay.lower.iter().map(|name| path(name)).collect();
    let mounted = mount(&lower.join(":"), &path(OVERLAY_UPPER[0]), &path(OVERLAY_UPPER[1])).map_err(|errno| {
        EngineError::Unsupported {
            what: format!("no overlay can be mounted on the lane: {}", std::io::Error::from(errno)),
            step: "overlay".to_owned(),
            errno: errno.raw_os_error(),
        }
    })?;
    let mut files = Vec::new();
    list(&PathBuf::from(super::inherited(&mounted)), &mut files)?;
    let mut touched = 0;
    let mut room = vec![0; 64 << 10];
    for (number, file) in files.iter().enumerate() {
        heed(stop)?;
        match overlay.does {
            OverlayWork::Read => {
                let mut file = File::open(file).map_err(|error| cannot("open", file, &error))?;
                while file.read(&mut room).map_err(|error| cannot("read", &files[number], &error))? > 0 {}
                touched += 1;
            }
            OverlayWork::Change if number % 10 == 0 => {
                let changed = OpenOptions::new().append(true).open(file).and_then(|mut file| file.write_all(b"x"));
                changed.map_err(|error| cannot("write", file, &error))?;
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
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Every file below, in the order of names.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), EngineError> {
    let fail = |error: std::io::Error| cannot("read directory", folder, &error);
    let mut entries: Vec<_> = std::fs::read_dir(folder).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(fail)?;
        match () {
            () if kind.is_dir() => list(&entry.path(), files)?,
            () if kind.is_file() => files.push(entry.path()),
            () => {}
        }
    }
    Ok(())
}
