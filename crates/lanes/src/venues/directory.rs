//! A directory as it is, on a filesystem that is there already.

use super::Venue;
use crate::device::Found;
use crate::failure::{LaneFailure, usage};
use crate::host::{self, Host};
use model::Bytes;
use model::lane::{Contestant, LaneSpec, SERVED};
use std::path::{Path, PathBuf};

/// A directory as it is.
#[derive(Debug)]
pub(crate) struct DirectoryStore {
    pub(crate) path: PathBuf,
    pub(crate) host: Host,
    /// Where the run's folder in it is worked on.
    pub(crate) work: PathBuf,
}

impl Venue for DirectoryStore {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn identity(&self, _images: &Path) -> String {
        self.path.display().to_string()
    }

    fn size_bytes(&self, _lane_size: Bytes) -> u64 {
        0
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Err(usage(format!(
            "{} shares its disk with everything else there, so --throttle cannot hold it alone; race images there instead{}: --on {}",
            self.path.display(),
            if host::is_root() { "" } else { ", as root (sudo fairlane …)" },
            self.path.display()
        )))
    }

    fn device_name(&self) -> Option<String> {
        self.host.block.clone()
    }

    fn disk_name(&self, _images: Option<&Host>) -> Option<String> {
        self.host.disk.clone()
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.work)
    }

    fn existing_filesystem(&self) -> Option<&Host> {
        Some(&self.host)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.path == path
    }

    fn describe(&self, _lane_size: Bytes) -> Vec<String> {
        Vec::new()
    }

    /// Nothing is formatted.
    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> &[Found] {
        &[]
    }
}

/// Refuses what is said of a server where none keeps the directory: what a filesystem of this machine promises is seen.
///
/// # Errors
/// [`LaneFailure::Usage`] with the filesystem that was found.
pub(crate) fn check_server(spec: &LaneSpec, real: &Path, host: &Host) -> Result<(), LaneFailure> {
    let Some(answers) = spec.server_answers else { return Ok(()) };
    match host.block.is_none() && SERVED.contains(&host.filesystem.as_str()) {
        true => Ok(()),
        false => Err(usage(format!(
            "{} is on {}, which no server keeps as far as is known here ({} are known); leave out server={}",
            real.display(),
            host.filesystem,
            SERVED.join(", "),
            answers.word()
        ))),
    }
}

/// Refuses a directory that was raced before as another lane, of whose server something else is said there.
///
/// # Errors
/// [`LaneFailure::Usage`] with both lanes.
pub(crate) fn check_said_once<'a>(
    spec: &LaneSpec,
    real: &Path,
    earlier: impl Iterator<Item = &'a LaneSpec>,
) -> Result<(), LaneFailure> {
    let is_here = |other: &&LaneSpec| match &other.contestant {
        Contestant::Directory(path) => path.canonicalize().is_ok_and(|path| path == real),
        Contestant::Filesystem(_) | Contestant::Custom(_) => false,
    };
    let mut others = earlier.filter(is_here);
    match others.find(|other| other.server_answers != spec.server_answers) {
        None => Ok(()),
        Some(other) => Err(usage(format!(
            "{} and {} are one directory, and different things are said of its server; say one of both",
            other.name, spec.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn on(filesystem: &str, block: Option<&str>) -> Host {
        Host {
            filesystem: filesystem.to_owned(),
            mount_options: Vec::new(),
            block: block.map(str::to_owned),
            disk: block.map(str::to_owned),
            free_bytes: 1 << 30,
            read_only: false,
        }
    }

    #[test]
    fn something_is_said_of_servers_alone() {
        let check = |text: &str, host: &Host| check_server(&lane(text), Path::new("/mnt/a"), host);
        for host in [on("nfs4", None), on("lustre", None)] {
            assert_eq!(check("/mnt/a,server=sync", &host), Ok(()));
        }
        for host in [on("ext4", Some("vda1")), on("tmpfs", None)] {
            assert_eq!(check("/mnt/a", &host), Ok(()));
            let said = check("a=/mnt/a,server=async", &host).unwrap_err().to_string();
            assert!(said.contains(&host.filesystem) && said.contains("leave out server=async"), "{said}");
        }
    }

    #[test]
    fn of_one_directory_one_thing_is_said() {
        let real = std::env::temp_dir().canonicalize().unwrap();
        let named = |name: &str, said: &str| lane(&format!("{name}={}{said}", real.display()));
        let check = |later: &LaneSpec, earlier: &[LaneSpec]| check_said_once(later, &real, earlier.iter());
        let (sync, fast) = (named("a", ",server=sync"), named("b", ",server=async"));
        assert_eq!(check(&sync, &[lane("/mnt,server=async"), lane("ext4"), sync.clone()]), Ok(()));
        for other in [fast, named("c", "")] {
            let said = check(&other, &[lane("ext4"), sync.clone()]).unwrap_err().to_string();
            assert!(said.contains("are one directory"), "{said}");
        }
    }
}
