//! An overlay whose upper directory lies on the lane's filesystem, as containers have one (the kernel's
//! Documentation/filesystems/overlayfs.rst).

use super::{Above, Place, SOURCE, Source};
use crate::failure::{LaneFailure, cannot};
use crate::layers::{LayerOption, Options, Takes};
use crate::{mount, run_folder};
use model::operations::Ability;
use std::os::fd::AsRawFd;

/// The row.
pub(super) static OVERLAY: Above = Above {
    name: "overlay",
    about: "overlayfs with an empty lower directory",
    options: &[
        LayerOption { key: "metacopy", takes: Takes::Words(&["on", "off"]) },
        LayerOption { key: "redirect_dir", takes: Takes::Words(&["on", "off", "follow", "nofollow"]) },
        LayerOption { key: "index", takes: Takes::Words(&["on", "off"]) },
        LayerOption { key: "xino", takes: Takes::Words(&["on", "off", "auto"]) },
        LayerOption { key: "volatile", takes: Takes::Nothing },
    ],
    filesystem: "overlay",
    helpers: &[],
    drivers: &["overlay"],
    source: Source::Fairlane,
    asks_mkfs_for_encryption: false,
    on_host: true,
    asks_of_filesystem: Some(Ability::Overlays),
    // None is laid on another: the kernel takes no overlay for an upper directory.
    lacks: |_| &[Ability::Overlays],
    promises: |options, below| match options.has("volatile") {
        true => super::Promises { fsync_reaches_stable_storage: false, barriers: false, ..below },
        false => below,
    },
    warning: "the lower directory of an overlay is empty: the way through it is measured, copying files up is not",
    mount: lay,
    let_go: |_| Ok(()),
};

/// Its three directories on the filesystem.
const DIRECTORIES: [(&str, &str); 3] = [("lowerdir", "lower"), ("upperdir", "upper"), ("workdir", "work")];

fn lay(place: &Place, options: &Options) -> Result<(), LaneFailure> {
    // The way by a descriptor: nobody puts a link on it, and no colon in a folder's name ends a directory of the list.
    let below = run_folder::open_directory(place.below)
        .map_err(|error| cannot(format!("open {}", place.below.display()), std::io::Error::from(error)))?;
    let base = std::path::Path::new("/proc/self/fd").join(below.as_raw_fd().to_string());
    let mut given = Vec::new();
    if options.has("volatile") {
        // The kernel refuses what was mounted so before: it cannot know whether all of it came to the disk.
        crate::lane_set::remove_folder(&place.below.join("work"))?;
    }
    for (option, name) in DIRECTORIES {
        let directory = base.join(name);
        match std::fs::create_dir(&directory) {
            // Made before the lane was made cold.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|error| cannot(format!("make {}/{name}", place.below.display()), error))?,
        }
        given.push(format!("{option}={}", directory.display()));
    }
    given.extend(options.words());
    mount::mount("overlay", SOURCE, &given, place.target)
}
