//! The kernel's interface of limits: `blkio.throttle.*` of cgroup v1's root group, or `io.max` of a
//! group of cgroup v2 (the kernel's Documentation/admin-guide: cgroup-v1/blkio-controller.rst,
//! cgroup-v2.rst).

use super::standing::Standing;
use crate::device::DeviceNumber;
use crate::failure::{LaneFailure, cannot, failed, plain, privilege, usage};
use crate::mountinfo::{self, MountEntry};
use crate::undo::RUN_DIRECTORY_PREFIX;
use crate::{loop_device, mount};
use model::Throttle;
use model::throttle::Quantity;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the mount table calls a hierarchy that was mounted for a race.
pub(crate) const MOUNT_SOURCE: &str = "fairlane";
/// How long the processes of a group may take to be gone.
const GROUP_PATIENCE: Duration = Duration::from_secs(5);

/// How limits are set here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mechanism {
    /// The root group of cgroup v1's blkio hierarchy.
    V1(PathBuf),
    /// The same, to be mounted first.
    MountV1,
    /// A group of our own under cgroup v2's root.
    V2 {
        /// Where cgroup v2 is mounted.
        root: PathBuf,
        /// The group, once it is made.
        group: Option<PathBuf>,
    },
}

/// What a machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Offers {
    /// The root group of a mounted blkio hierarchy.
    v1: Option<PathBuf>,
    /// The kernel knows the controller, so that it may be mounted.
    blkio: bool,
    /// The root of cgroup v2, where it has the controller.
    v2: Option<PathBuf>,
    /// cgroup v2 hands the controller to its groups; it then cannot be mounted as v1.
    handed_out: bool,
    /// It hands `memory` to them too: only then the kernel knows whose the pages are that it writes back.
    memory: bool,
    /// The kernel has that controller at all; a Raspberry Pi's starts with it switched off.
    knows_memory: bool,
    /// Groups can be made there: a container may show it read-only.
    writable: bool,
    /// What is mounted there is a group of somebody's, as a container sees it, and not the machine's root.
    inner: bool,
}

/// The way that holds on this machine.
///
/// # Errors
/// [`LaneFailure::Privilege`] where there is none, with what would make one.
pub(super) fn find() -> Result<Mechanism, LaneFailure> {
    choose(offers()?)
}

fn offers() -> Result<Offers, LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    let v2 = mounts
        .iter()
        .filter(|mount| mount.filesystem == "cgroup2")
        .find(|mount| lists(&mount.target.join("cgroup.controllers"), "io"));
    let known = std::fs::read_to_string("/proc/cgroups").unwrap_or_default();
    let enabled = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.first() == Some(&"blkio") && fields.get(3) == Some(&"1")
    };
    Ok(Offers {
        // What another race has mounted goes with that race.
        v1: v1_roots(&mounts).find(|root| !is_in_a_run_directory(root)).map(Path::to_owned),
        blkio: known.lines().any(enabled),
        handed_out: v2.is_some_and(|mount| lists(&mount.target.join("cgroup.subtree_control"), "io")),
        memory: v2.is_some_and(|mount| lists(&mount.target.join("cgroup.subtree_control"), "memory")),
        knows_memory: v2.is_some_and(|mount| lists(&mount.target.join("cgroup.controllers"), "memory")),
        writable: v2.is_some_and(|mount| rustix::fs::access(&mount.target, rustix::fs::Access::WRITE_OK).is_ok()),
        // The root has no type (cgroup-v2.rst).
        inner: v2.is_some_and(|mount| mount.target.join("cgroup.type").exists()),
        v2: v2.map(|mount| mount.target.clone()),
    })
}

fn lists(path: &Path, word: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.split_whitespace().any(|found| found == word))
}

/// The root groups of blkio that are mounted and can limit, the latest first; all show the same
/// hierarchy. A container may show a group of its own instead: only a root group has a release agent.
pub(super) fn v1_roots(mounts: &[MountEntry]) -> impl Iterator<Item = &Path> {
    let is_blkio = |mount: &&MountEntry| {
        mount.filesystem == "cgroup"
            && mount.super_options.iter().any(|option| option == "blkio")
            && mount.target.join("release_agent").exists()
            && mount.target.join(v1_file(Quantity::ReadBytes)).exists()
    };
    mounts.iter().rev().filter(is_blkio).map(|mount| mount.target.as_path())
}

fn is_in_a_run_directory(path: &Path) -> bool {
    path.iter().any(|part| part.as_encoded_bytes().starts_with(RUN_DIRECTORY_PREFIX.as_bytes()))
}

fn choose(offers: Offers) -> Result<Mechanism, LaneFailure> {
    match offers {
        Offers { v1: Some(root), .. } => Ok(Mechanism::V1(root)),
        Offers { v2: Some(root), writable: false, .. } => Err(privilege(format!(
            "{} is read-only, as containers have it, so --throttle cannot limit a disk; run it outside of the container, or race without --throttle",
            root.display()
        ))),
        Offers { v2: Some(root), handed_out: true, memory: true, .. } => Ok(Mechanism::V2 { root, group: None }),
        Offers { v2: Some(_), handed_out: true, knows_memory: false, .. } => Err(privilege(
            "this kernel was booted without the control group `memory`, so what it writes back later would escape --throttle; add cgroup_enable=memory to its command line (of a Raspberry Pi: /boot/firmware/cmdline.txt) and boot again, or race without --throttle",
        )),
        Offers { v2: Some(root), handed_out: true, .. } => Err(privilege(format!(
            "cgroup v2 hands out `io` and not `memory`, so what the kernel writes back later would escape --throttle; as root: echo +memory > {}",
            root.join("cgroup.subtree_control").display()
        ))),
        Offers { v2: Some(root), inner: true, .. } => Err(privilege(format!(
            "{} is a control group without `io`, as containers have it, so --throttle cannot limit a disk; run it outside of the container, or race without --throttle",
            root.display()
        ))),
        Offers { blkio: true, .. } => Ok(Mechanism::MountV1),
        Offers { v2: Some(root), .. } => Err(privilege(format!(
            "cgroup v2 does not hand out its controller `io`, and blkio of cgroup v1 is switched off, so --throttle cannot limit a disk; as root: echo '+io +memory' > {}",
            root.join("cgroup.subtree_control").display()
        ))),
        _ => Err(privilege(
            "this kernel cannot limit a disk for --throttle; boot one with CONFIG_BLK_CGROUP and CONFIG_BLK_DEV_THROTTLING, as distributions build them",
        )),
    }
}

/// Mounts the blkio hierarchy.
///
/// # Errors
/// [`LaneFailure::Privilege`] where the kernel refuses.
pub(crate) fn mount_v1(target: &Path) -> Result<(), LaneFailure> {
    let mounted = mount::mount("cgroup", MOUNT_SOURCE, &["blkio".to_owned()], target);
    mounted.map_err(|error| {
        privilege(format!(
            "--throttle needs blkio of cgroup v1 or io of cgroup v2, and neither can be had: {error}; as root: echo '+io +memory' > /sys/fs/cgroup/cgroup.subtree_control"
        ))
    })?;
    if !target.join(v1_file(Quantity::ReadBytes)).exists() {
        mount::unmount_patiently(target)?;
        return Err(privilege(
            "this kernel cannot limit a disk for --throttle; boot one with CONFIG_BLK_DEV_THROTTLING, as distributions build them",
        ));
    }
    Ok(())
}

/// The group of a run.
pub(crate) fn group_of(root: &Path, run_id: &str) -> PathBuf {
    root.join(format!("fairlane-{run_id}"))
}

/// The file of cgroup v1 that holds a limit.
fn v1_file(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ReadBytes => "blkio.throttle.read_bps_device",
        Quantity::WriteBytes => "blkio.throttle.write_bps_device",
        Quantity::Reads => "blkio.throttle.read_iops_device",
        Quantity::Writes => "blkio.throttle.write_iops_device",
    }
}

/// The word of cgroup v2's `io.max` for it.
fn v2_word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ReadBytes => "rbps",
        Quantity::WriteBytes => "wbps",
        Quantity::Reads => "riops",
        Quantity::Writes => "wiops",
    }
}

/// The limit of a device in a group of cgroup v1; `None`: it has none.
fn v1_limit(root: &Path, quantity: Quantity, (major, minor): DeviceNumber) -> Result<Option<u64>, LaneFailure> {
    let path = root.join(v1_file(quantity));
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(format!("read {}", path.display()), error))?;
    let wanted = format!("{major}:{minor}");
    let of = |line: &str| {
        let (device, limit) = line.split_once(' ')?;
        (device == wanted).then(|| limit.trim().parse().ok())?
    };
    Ok(text.lines().find_map(of))
}

/// The limits of a device in a group of cgroup v1; a group that is not there has none.
pub(super) fn v1_limits(group: &Path, device: DeviceNumber) -> Vec<Standing> {
    let of = |quantity: Quantity| {
        let limit = v1_limit(group, quantity, device).ok()??;
        Some(Standing { file: group.join(v1_file(quantity)), limit: limit.to_string() })
    };
    Quantity::ALL.into_iter().filter_map(of).collect()
}

fn write(path: &Path, text: &str) -> Result<(), LaneFailure> {
    std::fs::write(path, text)
        .map_err(|error| failed(format!("cannot write `{}` to {}: {}", text.trim(), path.display(), plain(&error))))
}

fn v1_write(root: &Path, quantity: Quantity, (major, minor): DeviceNumber, limit: u64) -> Result<(), LaneFailure> {
    write(&root.join(v1_file(quantity)), &format!("{major}:{minor} {limit}\n"))
}

/// The line of `io.max`; without a throttle it takes all limits away.
fn v2_line((major, minor): DeviceNumber, throttle: Option<&Throttle>) -> String {
    let word = |quantity: Quantity| {
        let limit = throttle.and_then(|throttle| throttle.limit(quantity));
        format!("{}={}", v2_word(quantity), limit.map_or("max".to_owned(), |limit| limit.to_string()))
    };
    format!("{major}:{minor} {}\n", Quantity::ALL.map(word).join(" "))
}

impl Mechanism {
    /// Refuses a device that somebody limits already.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`], naming the limit and how it goes.
    pub(super) fn refuse_limited(&self, device: DeviceNumber, name: &str) -> Result<(), LaneFailure> {
        // A group of our own under the root of cgroup v2 is limited by nothing else.
        let Mechanism::V1(root) = self else { return Ok(()) };
        match v1_limits(root, device).first() {
            Some(Standing { file, limit }) => Err(usage(format!(
                "/dev/{name} has a limit of somebody else's ({limit} in {}), which --throttle would overwrite; remove it with `echo {}:{} 0 > {}`, or race elsewhere",
                file.display(),
                device.0,
                device.1,
                file.display()
            ))),
            None => Ok(()),
        }
    }

    /// Sets the limits and reads them back.
    pub(super) fn set(&self, device: DeviceNumber, name: &str, throttle: &Throttle) -> Result<(), LaneFailure> {
        match self {
            Mechanism::V1(root) => {
                for quantity in Quantity::ALL {
                    let Some(limit) = throttle.limit(quantity) else { continue };
                    v1_write(root, quantity, device, limit)?;
                    if v1_limit(root, quantity, device)? != Some(limit) {
                        return Err(failed(format!(
                            "the kernel did not keep the limit of /dev/{name} in {}; race without --throttle",
                            root.join(v1_file(quantity)).display()
                        )));
                    }
                }
                Ok(())
            }
            Mechanism::V2 { group: Some(group), .. } => write(&group.join("io.max"), &v2_line(device, Some(throttle))),
            Mechanism::MountV1 | Mechanism::V2 { group: None, .. } => unprepared(),
        }
    }

    /// Takes away what [`Mechanism::set`] set, and nothing that somebody changed since.
    pub(super) fn lift(&self, device: DeviceNumber, name: &str, throttle: &Throttle) -> Result<(), LaneFailure> {
        match self {
            Mechanism::V1(root) => {
                lift_v1(root, device, throttle)?;
                let left = Quantity::ALL.into_iter().filter(|&quantity| throttle.limit(quantity).is_some());
                for quantity in left {
                    if v1_limit(root, quantity, device)? == throttle.limit(quantity) {
                        return Err(failed(format!(
                            "the kernel did not lift the limit of /dev/{name} in {}; run `fairlane clean`",
                            root.join(v1_file(quantity)).display()
                        )));
                    }
                }
                Ok(())
            }
            Mechanism::V2 { group: Some(group), .. } => write(&group.join("io.max"), &v2_line(device, None)),
            Mechanism::MountV1 | Mechanism::V2 { group: None, .. } => unprepared(),
        }
    }

    /// Moves a process into the group that is limited.
    pub(super) fn join(&self, pid: u32) -> Result<(), LaneFailure> {
        match self {
            // Groups of v1 are not limited by the ones above them: the root's limit holds for the
            // root's own processes.
            Mechanism::V1(root) => write(&root.join("cgroup.procs"), &format!("{pid}\n")),
            Mechanism::V2 { group: Some(group), .. } => write(&group.join("cgroup.procs"), &format!("{pid}\n")),
            Mechanism::MountV1 | Mechanism::V2 { group: None, .. } => unprepared(),
        }
    }

    /// In words, for `--dry-run`.
    pub(super) fn describe(&self) -> String {
        match self {
            Mechanism::V1(root) => format!("blkio.throttle.* in {}", root.display()),
            Mechanism::MountV1 => "blkio.throttle.* of cgroup v1, mounted for it in the run's directory".to_owned(),
            Mechanism::V2 { root, .. } => format!("io.max of a cgroup of its own in {}", root.display()),
        }
    }
}

fn unprepared() -> Result<(), LaneFailure> {
    Err(failed("limits are set before the lanes are built; this is a fault of Fairlane, report it"))
}

/// Lifts every limit that equals what was set; answers whether there was one.
fn lift_v1(root: &Path, device: DeviceNumber, throttle: &Throttle) -> Result<bool, LaneFailure> {
    let mut lifted = false;
    for quantity in Quantity::ALL {
        let Some(limit) = throttle.limit(quantity) else { continue };
        if v1_limit(root, quantity, device)? == Some(limit) {
            v1_write(root, quantity, device, 0)?;
            lifted = true;
        }
    }
    Ok(lifted)
}

/// Lifts what a dead run of this boot set, where it still stands: a limit that differs is somebody
/// else's. A loop device that carries somebody else's image by now may have got the same limit from
/// them, so there all of it must be as it was set; another disk under the number has none of ours.
/// `mount` mounts the hierarchy where nobody has, and answers where.
///
/// # Errors
/// [`LaneFailure::Failed`] where the kernel does not lift it or shows no hierarchy.
pub(crate) fn lift_left_over(
    device: DeviceNumber,
    name: &str,
    sequence: u64,
    throttle: &Throttle,
    run: &str,
    mount: &mut dyn FnMut() -> Result<PathBuf, LaneFailure>,
) -> Result<Vec<String>, LaneFailure> {
    // A device that is gone took its limits along, and needs no hierarchy.
    if number_of(name).ok() != Some(device) {
        return Ok(Vec::new());
    }
    let is_loop = name.starts_with("loop");
    if !is_loop && sequence_of(name) != sequence {
        return Ok(Vec::new());
    }
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    // One of a race that lives goes with that race.
    let lasting = v1_roots(&mounts).find(|root| !is_in_a_run_directory(root));
    let found = lasting.or_else(|| v1_roots(&mounts).next()).map(Path::to_owned);
    let root = found.map_or_else(mount, Ok).map_err(|error| {
        failed(format!(
            "the limit of /dev/{name} cannot be looked at because blkio of cgroup v1 is not mounted: {error}; mount it (mount -t cgroup -o blkio blkio DIR), then run `fairlane clean`"
        ))
    })?;
    let foreign = is_loop
        && loop_device::backing_of(name)
            .is_some_and(|backing| !backing.components().any(|part| part.as_os_str() == run));
    if foreign {
        for quantity in Quantity::ALL {
            if v1_limit(&root, quantity, device)? != throttle.limit(quantity) {
                return Ok(Vec::new());
            }
        }
    }
    let lifted = lift_v1(&root, device, throttle)?;
    Ok(if lifted { vec![format!("lifted the limit of /dev/{name}")] } else { Vec::new() })
}

/// Takes every limit away that a group of cgroup v2 has; one that is not there has none.
///
/// # Errors
/// [`LaneFailure::Failed`] where the kernel does not.
pub(crate) fn lift_group(path: &Path) -> Result<(), LaneFailure> {
    let file = path.join("io.max");
    match std::fs::read_to_string(&file) {
        Ok(limits) => limited_in(&limits).try_for_each(|device| write(&file, &v2_line(device, None))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(cannot(format!("read {}", file.display()), error)),
    }
}

/// The devices that a text of `io.max` limits.
pub(super) fn limited_in(text: &str) -> impl Iterator<Item = DeviceNumber> {
    text.lines().filter_map(|line| {
        let (major, minor) = line.split_once(' ')?.0.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// Removes a group whose processes are gone, or go within a few seconds.
///
/// # Errors
/// [`LaneFailure::Failed`] where something stays in it.
pub(crate) fn remove_group(path: &Path) -> Result<(), LaneFailure> {
    let started = Instant::now();
    loop {
        match std::fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && started.elapsed() < GROUP_PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(cannot(format!("remove the cgroup {}", path.display()), error)),
        }
    }
}

/// Major and minor number of a device by its kernel name.
///
/// # Errors
/// [`LaneFailure::Failed`] where the kernel knows no such device.
pub(crate) fn number_of(name: &str) -> Result<DeviceNumber, LaneFailure> {
    let path = format!("/sys/class/block/{name}/dev");
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(format!("read {path}"), error))?;
    let numbers =
        text.trim().split_once(':').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    numbers.ok_or_else(|| failed(format!("{path} holds `{}`, which is no device number", text.trim())))
}

/// Changes whenever another disk appears under a name; 0: the kernel does not tell.
pub(super) fn sequence_of(name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/diskseq")).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_group_of_v1_comes_first_and_where_there_is_no_way_the_remedy_is_named() {
        let root = PathBuf::from("/sys/fs/cgroup");
        let free =
            Offers { blkio: true, v2: Some(root.clone()), writable: true, knows_memory: true, ..Offers::default() };
        let mounted = Offers { v1: Some("/c/blkio".into()), handed_out: true, ..free.clone() };
        assert_eq!(choose(mounted).unwrap(), Mechanism::V1("/c/blkio".into()));
        assert_eq!(choose(free.clone()).unwrap(), Mechanism::MountV1);
        let taken = Offers { handed_out: true, memory: true, ..free.clone() };
        assert_eq!(choose(taken.clone()).unwrap(), Mechanism::V2 { root, group: None });
        for (offers, says) in [
            (Offers { blkio: false, ..free.clone() }, "echo '+io +memory' > /sys/fs/cgroup/cgroup.subtree_control"),
            (Offers { memory: false, ..taken.clone() }, "echo +memory > /sys/fs/cgroup/cgroup.subtree_control"),
            (Offers { memory: false, knows_memory: false, ..taken.clone() }, "add cgroup_enable=memory"),
            (Offers { writable: false, ..taken }, "/sys/fs/cgroup is read-only, as containers have it"),
            (Offers { inner: true, ..free }, "is a control group without `io`, as containers have it"),
            (Offers::default(), "CONFIG_BLK_DEV_THROTTLING"),
        ] {
            let error = choose(offers).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.kind(), crate::FailureKind::Privilege);
        }
    }

    #[test]
    fn the_line_of_io_max_names_all_four_limits() {
        let throttle: Throttle = "151MiB/s,write=3000iops".parse().unwrap();
        assert_eq!(v2_line((7, 3), Some(&throttle)), "7:3 rbps=158334976 wbps=158334976 riops=max wiops=3000\n");
        assert_eq!(v2_line((7, 3), None), "7:3 rbps=max wbps=max riops=max wiops=max\n");
    }

    #[test]
    fn the_limits_of_a_group_are_taken_away_device_by_device() {
        let text =
            "7:3 rbps=158334976 wbps=158334976 riops=max wiops=3000\n259:0 rbps=max wbps=1048576 riops=max wiops=max\n";
        assert_eq!(limited_in(text).collect::<Vec<_>>(), [(7, 3), (259, 0)]);
        assert_eq!(limited_in("").count(), 0);
        let folder = Path::new("/var/tmp").join(format!("fairlane-io-max-{}", std::process::id()));
        lift_group(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        lift_group(&folder).unwrap();
        // What the kernel would take as one line after another.
        std::fs::write(folder.join("io.max"), text).unwrap();
        lift_group(&folder).unwrap();
        let last = std::fs::read_to_string(folder.join("io.max")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(last, "259:0 rbps=max wbps=max riops=max wiops=max\n");
    }

    #[test]
    fn what_another_race_mounted_is_not_taken() {
        for (path, is) in [
            ("/sys/fs/cgroup/blkio", false),
            ("/var/tmp/.fairlane-2026-11-22/blkio", true),
            ("/run/.fairlane-x/blkio", true),
            ("/srv/fairlane-x/blkio", false),
        ] {
            assert_eq!(is_in_a_run_directory(Path::new(path)), is, "{path}");
        }
    }
}
