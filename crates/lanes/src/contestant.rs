//! A contestant, resolved: what the specification stands for on this machine.

use crate::above;
use crate::availability::{self, Availability};
use crate::custom::{self, Custom};
use crate::failure::{LaneFailure, privilege, usage};
use crate::filesystems::{self, Filesystem, Home};
use crate::guest_needs::other_kernels;
use crate::host::Host;
use crate::missing::missing;
use crate::mkfs_words::{self, Said};
use crate::promises;
use crate::{command, mount, mount_words};
use model::lane::{LaneSpec, Promises, Venue};
use model::stack::REBUILDING;
use std::path::{Path, PathBuf};

/// What races in a lane.
#[derive(Debug, Clone)]
pub(crate) enum Contestant {
    /// A row of the table.
    Row(&'static Filesystem),
    /// A filesystem of the user's own.
    Custom(Box<Custom>),
    /// A directory as it is.
    Directory(PathBuf),
}

/// The commands of a lane.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    /// The whole mkfs command with `{device}`; empty: none.
    pub(crate) mkfs: Vec<String>,
    /// All mount options, ours included.
    pub(crate) mount_options: Vec<String>,
    /// Block devices that they name beside the lane's own.
    pub(crate) devices: Vec<PathBuf>,
}

/// What is said to a row's mkfs; a row without one is told nothing, and refuses options itself.
fn read_mkfs(row: &Filesystem, spec: &LaneSpec) -> Result<Said, LaneFailure> {
    match row.mkfs.first() {
        Some(program) => mkfs_words::read(row.mkfs_takes, program, &spec.mkfs_options),
        None => Ok(Said::default()),
    }
}

/// Whether what lies above a lane's filesystem encrypts files of it.
fn encrypts(spec: &LaneSpec) -> bool {
    spec.above.as_ref().and_then(|above| above::find(&above.name)).is_some_and(|above| above.asks_mkfs_for_encryption)
}

impl Contestant {
    /// Resolves the name, or the file, of a specification.
    /// `kernel_mounts` tells whether the kernel that will mount it has a row's filesystem: where it has not, a
    /// row's FUSE program takes its place.
    pub(crate) fn resolve(
        spec: &LaneSpec,
        kernel_mounts: &dyn Fn(&'static Filesystem) -> bool,
    ) -> Result<Contestant, LaneFailure> {
        match &spec.contestant {
            model::lane::Contestant::Directory(path) => Ok(Contestant::Directory(path.clone())),
            model::lane::Contestant::Custom(path) => Ok(Contestant::Custom(Box::new(Custom::read(path)?))),
            model::lane::Contestant::Filesystem(name) => {
                let row = filesystems::find(name).ok_or_else(|| {
                    if let Some((above, layer)) = name.split_once('/')
                        && filesystems::find(above).is_some()
                    {
                        return no_layer(layer);
                    }
                    let hint = match filesystems::nearest(name) {
                        // `d` and `d/` may be meant as a directory; a path begins with `/` or `./`.
                        _ if name.contains('/') || Path::new(name).is_dir() => {
                            format!("to race a directory write ./{}", model::text::escaped(name.as_bytes()))
                        }
                        _ if name.ends_with(".toml") => {
                            format!(
                                "to race a filesystem of your own write ./{}",
                                model::text::escaped(name.as_bytes())
                            )
                        }
                        Some(near) => format!("did you mean {near}?"),
                        None => "`fairlane doctor` lists what can be raced".to_owned(),
                    };
                    usage(format!("no filesystem is called `{}`; {hint}", model::text::escaped(name.as_bytes())))
                })?;
                if row.home == Home::Pool {
                    return Err(usage(format!(
                        "{name} makes its own pools, which Fairlane does not; make one and race a directory in it: fairlane race /tank/dir"
                    )));
                }
                match row.fuse {
                    Some(fuse) if !kernel_mounts(row) => Ok(Contestant::Custom(Box::new(Custom::of_row(row, fuse)))),
                    _ => Ok(Contestant::Row(row)),
                }
            }
        }
    }

    /// Whether it lives in memory.
    pub(crate) fn in_memory(&self) -> bool {
        matches!(self, Contestant::Row(row) if row.home == Home::Memory)
    }

    /// Whether the agent itself is the filesystem: nothing is mounted.
    pub(crate) fn is_library(&self) -> bool {
        self.library().is_some()
    }

    fn library(&self) -> Option<&'static Filesystem> {
        match self {
            Contestant::Row(row) => Some(*row).filter(|row| row.home == Home::Library),
            _ => None,
        }
    }

    /// Refuses options that a library does not take: it has no mkfs and no mount to ask.
    pub(crate) fn check_library(&self, spec: &LaneSpec) -> Result<(), LaneFailure> {
        let Some(row) = self.library() else {
            return match &spec.venue {
                Some(Venue::Library) => Err(usage(format!(
                    "the venue library is for {}, and {} is a filesystem that the kernel mounts; remove @library",
                    filesystems::libraries().collect::<Vec<_>>().join(" and "),
                    self.filesystem_name()
                ))),
                _ => Ok(()),
            };
        };
        let unknown = |option: &&String| !row.library_options.contains(&option.as_str());
        match spec.mkfs_options.iter().chain(spec.mount_options.iter().filter(unknown)).next() {
            Some(option) => Err(usage(format!(
                "{} has no option `{}`; it takes {}",
                self.filesystem_name(),
                model::text::escaped(option.as_bytes()),
                row.library_options.join(" or ")
            ))),
            None => Ok(()),
        }
    }

    /// Which driver a row's filesystem is mounted by, where that is not its own name: what a reader must know who
    /// compares `ntfs` with `ntfs`. `None`: the name says it.
    pub(crate) fn driver(&self) -> Option<String> {
        match self {
            Contestant::Row(row) if row.mounted_as() != row.name => Some(format!("{} of the kernel", row.mounted_as())),
            Contestant::Custom(custom) if custom.row().is_some() => Some(format!("{} over FUSE", custom.name)),
            _ => None,
        }
    }

    /// The name of the filesystem; empty for a directory, whose host tells it.
    pub(crate) fn filesystem_name(&self) -> &str {
        match self {
            Contestant::Row(row) => row.mounted_as(),
            Contestant::Custom(custom) => &custom.name,
            Contestant::Directory(_) => "",
        }
    }

    /// What a lane says to mkfs and mount, as it is run: every word was looked at, and none names a device that is
    /// not listed.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for the first word that no lane may say.
    pub(crate) fn commands(&self, spec: &LaneSpec) -> Result<Commands, LaneFailure> {
        let (mkfs, takes_devices) = match self {
            Contestant::Directory(_) => return Ok(Commands::default()),
            Contestant::Row(row) => (read_mkfs(row, spec)?, true),
            Contestant::Custom(custom) => match (custom.row(), custom.mkfs.first()) {
                (Some(row), _) => (read_mkfs(row, spec)?, false),
                (None, Some(program)) => (mkfs_words::read_unknown(program, &spec.mkfs_options)?, false),
                // Its first word would be the command.
                (None, None) => (mkfs_words::read_without(&custom.name, &spec.mkfs_options)?, false),
            },
        };
        let size = |option: &&String| ["size", "nr_blocks"].contains(&option.split('=').next().unwrap_or_default());
        if let Some(option) = spec.mount_options.iter().filter(|_| self.in_memory()).find(size) {
            return Err(usage(format!(
                "a lane in memory is as large as the others, so `{}` is not for lanes; remove it, or give --lane-size",
                model::text::escaped(option.as_bytes())
            )));
        }
        // That it rebuilds a disk the kernel is not told at the mount.
        let rebuilds = matches!(self, Contestant::Row(row) if row.replace.is_some());
        let told = spec.mount_options.iter().filter(|word| !rebuilds || *word != REBUILDING);
        let told: Vec<String> = told.cloned().collect();
        let mount = mount_words::read(self.filesystem_name(), takes_devices, &told)?;
        Ok(Commands {
            mkfs: match self {
                Contestant::Row(row) if encrypts(spec) => row.mkfs_command(&row.with_encryption(mkfs.words)),
                Contestant::Row(row) => row.mkfs_command(&mkfs.words),
                Contestant::Custom(custom) => custom.mkfs_command(&mkfs.words),
                Contestant::Directory(_) => Vec::new(),
            },
            mount_options: match self {
                Contestant::Row(row) => row.all_mount_options(&mount.words),
                _ => mount.words,
            },
            devices: mkfs.devices.into_iter().chain(mount.devices).collect(),
        })
    }

    /// What it promises with these options. A row looks at `mount_options`, the kernel's own words
    /// about a mount included; a user's filesystem promises what its file says.
    pub(crate) fn promises(&self, mkfs_options: &[String], mount_options: &[String]) -> Promises {
        match self {
            Contestant::Row(row) => (row.promises)(mkfs_options, mount_options),
            Contestant::Custom(custom) => custom.promises.into(),
            Contestant::Directory(_) => promises::NOTHING,
        }
    }

    /// Smallest lane in bytes.
    pub(crate) fn minimum_bytes(&self) -> u64 {
        match self {
            Contestant::Row(row) => row.minimum_bytes,
            Contestant::Custom(custom) => custom.minimum_size.map_or(model::Bytes::MIB, |size| size.0),
            Contestant::Directory(_) => 0,
        }
    }

    /// Refuses what this machine cannot run.
    pub(crate) fn check_available(&self) -> Result<(), LaneFailure> {
        match self {
            Contestant::Directory(_) => Ok(()),
            Contestant::Custom(custom) if custom.row().is_some() => {
                custom.row().map_or(Ok(()), |row| Contestant::Row(row).check_available())
            }
            Contestant::Row(row) => match availability::find(row) {
                Availability::Ready => Ok(()),
                Availability::KernelLacks => {
                    Err(privilege(format!("the kernel lacks {}; {}", row.name, other_kernels(row, None))))
                }
                Availability::ToolMissing { program, package } => Err(privilege(missing(program, package))),
            },
            Contestant::Custom(custom) => {
                if !custom.module.is_empty() && !availability::kernel_has(&custom.module, &custom.module) {
                    return Err(privilege(format!(
                        "the kernel lacks {}; load its module: sudo modprobe {}",
                        custom.module, custom.module
                    )));
                }
                let programs = [&custom.mkfs, &custom.mount, &custom.unmount];
                match programs
                    .into_iter()
                    .filter_map(|words| words.first())
                    .find(|p| command::find_program(p).is_none())
                {
                    Some(absent) => Err(privilege(format!(
                        "the program {absent} of {} is missing; install it or correct its path",
                        custom.name
                    ))),
                    None => Ok(()),
                }
            }
        }
    }

    /// Refuses a filesystem whose mkfs is missing: images of guests are formatted on the host.
    pub(crate) fn check_mkfs(&self) -> Result<(), LaneFailure> {
        let (program, package) = match self {
            Contestant::Row(row) => (row.mkfs.first().copied(), row.package),
            Contestant::Custom(custom) => (custom.mkfs.first().map(String::as_str), ""),
            Contestant::Directory(_) => (None, ""),
        };
        match program.filter(|program| command::find_program(program).is_none()) {
            None => Ok(()),
            Some(program) if package.is_empty() => {
                Err(privilege(format!("the program {program} is missing; install it or add its folder to PATH")))
            }
            Some(program) => Err(privilege(missing(program, package))),
        }
    }

    /// Refuses mount options that this kernel does not know, without mounting anything.
    pub(crate) fn check_mount_options(&self, options: &[String]) -> Result<(), LaneFailure> {
        if mount::has(options, "ro") {
            return Err(usage("a race writes, so `ro` leaves nothing to race; remove it"));
        }
        match self {
            Contestant::Row(_) if self.is_library() => Ok(()),
            Contestant::Row(row) => {
                // To try an option that names a device is to open that device, and whether it may be has not been asked.
                let names_device = |option: &&String| option.split('=').any(|part| part.starts_with('/'));
                let others: Vec<String> = options.iter().filter(|option| !names_device(option)).cloned().collect();
                mount::try_options(row.mounted_as(), &others)
            }
            _ => Ok(()),
        }
    }

    /// Whether holes in the image are this contestant's own doing.
    pub(crate) fn discards(&self, spec: &LaneSpec) -> bool {
        filesystems::wants_discard(&spec.mkfs_options, &spec.mount_options)
    }
}

/// What stands behind the `/` of a lane and is no layer.
fn no_layer(layer: &str) -> LaneFailure {
    let name = layer.split('/').next().unwrap_or_default();
    let near = model::nearest(name, model::stack::LAYERS).map(|near| format!(", did you mean {near}?"));
    usage(format!(
        "there is no layer `{}`{}; layers are {}",
        model::text::escaped(name.as_bytes()),
        near.unwrap_or_default(),
        model::stack::LAYERS.join(", ")
    ))
}

/// What a directory promises, by the filesystem that holds it.
pub(crate) fn directory_promises(host: &Host) -> Promises {
    let Some(row) = filesystems::find(&host.filesystem) else { return promises::NOTHING };
    let mut promises = (row.promises)(&[], &host.mount_options);
    if let Some(journal) = host.block.as_deref().and_then(row.mounted_journal) {
        promises.journal = journal;
    }
    promises
}

/// Fills `{device}` of an mkfs command.
pub(crate) fn fill_device(command: &[String], device: &std::path::Path) -> Vec<String> {
    custom::fill(command, device, std::path::Path::new(""), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_told_where_the_filesystems_name_does_not_tell_it() {
        let of = |name: &str, kernel_mounts: bool| {
            let spec: LaneSpec = name.parse().unwrap();
            Contestant::resolve(&spec, &|_| kernel_mounts).unwrap().driver()
        };
        assert_eq!(of("ntfs", false).as_deref(), Some("ntfs-3g over FUSE"));
        assert_eq!(of("ntfs", true).as_deref(), Some("ntfs3 of the kernel"));
        assert_eq!(of("ext4", true), None);
    }

    #[test]
    fn a_filesystem_of_ones_own_without_mkfs_is_told_no_words_for_one() {
        let text = "name = \"my\"\nmount = [\"true\", \"{directory}\"]\n";
        let own = Contestant::Custom(Box::new(Custom::parse(text, "my.toml").unwrap()));
        let mkfs = |lane: &str| own.commands(&lane.parse().unwrap()).map(|commands| commands.mkfs);
        assert_eq!(mkfs("./my.toml,fast"), Ok(Vec::new()));
        let said = mkfs("./my.toml(-b 1024)").unwrap_err().to_string();
        assert!(said.contains("my has no mkfs, so `-b` goes nowhere"), "{said}");
    }
}
