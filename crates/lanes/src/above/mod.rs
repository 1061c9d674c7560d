//! The table of what may lie above a lane's filesystem, between it and the work: a file each.
//!
//! To add one: its file here and its line in [`TABLE`], and its name in `model::stack::ABOVE`.

mod ecryptfs;
mod fscrypt;
mod nfs;
mod overlay;

use crate::failure::{LaneFailure, cannot, usage};
use crate::layers::{LayerOption, Options};
use crate::mount;
use model::lane::Promises;
use model::operations::Ability;
use model::stack::LayerSpec;
use std::path::{Path, PathBuf};

/// Something that Fairlane can lay above a filesystem.
pub(crate) struct Above {
    /// As lanes name it.
    pub(crate) name: &'static str,
    /// What it is, in a few words.
    pub(crate) about: &'static str,
    /// What it may be told.
    pub(crate) options: &'static [LayerOption],
    /// As /proc/filesystems lists it; of what is no filesystem its own name.
    pub(crate) filesystem: &'static str,
    /// Kernel modules that are loaded before its drivers, where they are there: ciphers, and what a CPU has for them.
    pub(crate) helpers: &'static [&'static str],
    /// The modules that it cannot do without, in the order in which they are loaded.
    pub(crate) drivers: &'static [&'static str],
    /// What a mount table calls its source.
    pub(crate) source: Source,
    /// The filesystem below is made so that files of it can be encrypted each by itself.
    pub(crate) asks_mkfs_for_encryption: bool,
    /// Nothing of it reaches beyond the lane, so that it is mounted on this machine too.
    pub(crate) on_host: bool,
    /// What the filesystem below must be able to do.
    pub(crate) asks_of_filesystem: Option<Ability>,
    /// What work cannot ask of it, whatever the filesystem below can do.
    pub(crate) lacks: fn(&Options) -> &'static [Ability],
    /// What it makes of the promises of the filesystem below.
    pub(crate) promises: fn(&Options, Promises) -> Promises,
    /// What a reader should know of figures of lanes below it.
    pub(crate) warning: &'static str,
    /// Mounts it.
    mount: fn(&Place, &Options) -> Result<(), LaneFailure>,
    /// Lets go of the filesystem below, after it was unmounted.
    let_go: fn(&Place) -> Result<(), LaneFailure>,
}

/// What a mount table calls the source of a mount.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// [`SOURCE`].
    Fairlane,
    /// The folder that the filesystem below is mounted at.
    Folder,
    /// The device of the filesystem below: a part of that is mounted once more.
    Device,
}

/// Where it lies.
pub(crate) struct Place<'a> {
    /// Where the filesystem below is mounted.
    pub(crate) below: &'a Path,
    /// Where the work happens.
    pub(crate) target: &'a Path,
}

/// The rows.
pub(crate) static TABLE: [&Above; model::stack::ABOVE.len()] =
    [&overlay::OVERLAY, &nfs::NFS, &fscrypt::FSCRYPT, &ecryptfs::ECRYPTFS];

/// What a mount table calls the source of what [`mount`] mounts on this machine.
pub(crate) const SOURCE: &str = "fairlane";

/// What a mount table of this machine calls the source of what a lane's part mounts over a filesystem, whose own source is
/// `device`.
pub(crate) fn source(spec: &LayerSpec, device: Option<String>, base: &Path) -> Option<String> {
    match find(&spec.name)?.source {
        Source::Fairlane => Some(SOURCE.to_owned()),
        Source::Folder => Some(base.to_string_lossy().into_owned()),
        Source::Device => device,
    }
}

/// The row of a name.
pub(crate) fn find(name: &str) -> Option<&'static Above> {
    TABLE.into_iter().find(|above| above.name == name)
}

/// The row of a lane's part, and what that is told.
///
/// # Errors
/// [`LaneFailure::Usage`] for what there is not, and for the first option that it does not take.
pub(crate) fn read(spec: &LayerSpec) -> Result<(&'static Above, Options), LaneFailure> {
    let above = find(&spec.name).ok_or_else(|| {
        let shown = model::text::escaped(spec.name.as_bytes());
        usage(format!("nothing called `{shown}` lies above a filesystem; take {}", model::stack::ABOVE.join(" or ")))
    })?;
    Ok((above, Options::read(above.name, above.options, &spec.options)?))
}

/// Mounts it over a filesystem that is mounted.
///
/// # Errors
/// What the kernel says.
pub(crate) fn mount(spec: &LayerSpec, place: &Place) -> Result<(), LaneFailure> {
    let (above, options) = read(spec)?;
    (above.mount)(place, &options)
}

/// Unmounts it, so that the filesystem below can be unmounted; does nothing where it is not mounted.
///
/// # Errors
/// What the kernel says.
pub(crate) fn unmount(spec: &LayerSpec, place: &Place) -> Result<(), LaneFailure> {
    let (above, _) = read(spec)?;
    if mount::is_mounted(place.target)? {
        mount::unmount_patiently(place.target)?;
    }
    (above.let_go)(place)
}

/// Where filesystems are mounted in a guest that something lies above.
const BELOW: &str = "/below";

/// Where the filesystem of a lane is mounted in a guest, whose work happens above it.
pub(crate) fn place_below(target: &Path) -> PathBuf {
    Path::new(BELOW).join(target.file_name().unwrap_or_default())
}

/// Makes that folder.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn below_in_guest(target: &Path) -> Result<PathBuf, LaneFailure> {
    let base = Path::new(BELOW);
    let make =
        |path: &Path| std::fs::create_dir_all(path).map_err(|error| cannot(format!("make {}", path.display()), error));
    make(base)?;
    if !mount::is_mounted(base)? {
        // NFS serves from no root filesystem of an initramfs.
        mount::mount("tmpfs", "below", &["mode=755".to_owned()], base)?;
    }
    let below = place_below(target);
    make(&below)?;
    Ok(below)
}

/// What it is, for the record: `overlayfs with an empty lower directory, metacopy=on`.
pub(crate) fn describe(spec: &LayerSpec) -> String {
    let options: String = spec.options.iter().map(|option| format!(", {option}")).collect();
    format!("{}{options}", find(&spec.name).map_or(spec.name.as_str(), |above| above.about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_grammar_knows_above_a_filesystem_has_its_row() {
        assert_eq!(TABLE.map(|above| above.name), model::stack::ABOVE);
    }

    #[test]
    fn what_it_cannot_be_told_is_refused_with_what_it_can() {
        let said = |lane: &str| {
            let lane: model::lane::LaneSpec = lane.parse().unwrap();
            read(&lane.above.unwrap()).map(drop).map_err(|error| error.to_string())
        };
        for fine in ["overlay(ext4)", "overlay(xfs),metacopy=on,volatile", "nfs(ext4),vers=4.1,async,nconnect=4"] {
            assert_eq!(said(fine), Ok(()), "{fine}");
        }
        for (text, words) in [
            // What would name folders of the machine.
            ("overlay(ext4),lowerdir=/etc", "overlay has no option `lowerdir=/etc`; it takes"),
            ("overlay(ext4),upperdir=/root", "no option"),
            ("nfs(ext4),addr=10.0.0.1", "no option"),
            ("nfs(ext4),vers=3", "nfs does not take `vers=3`; write vers=4.2|4.1|4.0"),
            ("overlay(ext4),volatile=1", "does not take"),
        ] {
            let said = said(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn what_does_not_wait_for_the_disk_does_not_promise_it() {
        let kept = Promises {
            journal: true,
            data_checksums: false,
            fsync_reaches_stable_storage: true,
            barriers: true,
            outlives_cache: true,
        };
        let made = |lane: &str| {
            let (above, options) = read(&lane.parse::<model::lane::LaneSpec>().unwrap().above.unwrap()).unwrap();
            (above.promises)(&options, kept)
        };
        for honest in ["overlay(ext4)", "overlay(ext4),metacopy=on", "nfs(ext4)", "nfs(ext4),nconnect=2"] {
            assert_eq!(made(honest), kept, "{honest}");
        }
        for loose in ["overlay(ext4),volatile", "nfs(ext4),async"] {
            assert!(!made(loose).fsync_reaches_stable_storage && !made(loose).barriers, "{loose}");
        }
    }
}
