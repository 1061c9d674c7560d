//! What a lane may say to mount: everything that is about its own filesystem, and of other devices those that pass the
//! checks of its own.

use crate::device;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::FILESYSTEMS;
use crate::mkfs_words::{Said, check_no_device, is_tag};
use model::text::escaped;

/// Options that no lane gives, and why, beside those of single filesystems. A `*` at the end stands for anything.
static REFUSED: [(&str, &str); 15] = [
    ("suid", "lanes are mounted nosuid and nodev, always"),
    ("dev", "lanes are mounted nosuid and nodev, always"),
    ("source", "the device comes from Fairlane alone"),
    ("loop", "the device comes from Fairlane alone"),
    ("offset", "the device comes from Fairlane alone"),
    ("sizelimit", "the device comes from Fairlane alone"),
    ("bind", "it mounts something else"),
    ("rbind", "it mounts something else"),
    ("move", "it mounts something else"),
    ("remount", "it changes another mount"),
    ("helper", "it names a program"),
    ("uhelper", "it names a program"),
    ("x-*", "it is for mount(8) and not for the filesystem"),
    ("X-*", "it is for mount(8) and not for the filesystem"),
    ("user", "a lane is mounted by Fairlane alone"),
];

/// Of options that some filesystems need, the values that have the whole machine stop.
const STOPS: [&str; 1] = ["errors=panic"];

/// Whether the value of an option is a block device to any filesystem.
fn names_device(key: &str) -> bool {
    FILESYSTEMS.iter().any(|row| row.mount_devices.contains(&key))
}

/// Why no lane gives an option.
fn refused(key: &str) -> Option<&'static str> {
    let own = FILESYSTEMS.iter().flat_map(|row| row.mount_refused);
    REFUSED.iter().chain(own).find(|(name, _)| is(name, key)).map(|(_, why)| *why)
}

/// Reads the mount options of an image that a stranger may have written: as below, and none names another device, whether
/// there is one of that name or not.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_alone(filesystem: &str, options: &[String]) -> Result<(), LaneFailure> {
    match options.iter().find(|option| names_device(option.split('=').next().unwrap_or_default())) {
        Some(option) => Err(usage(format!(
            "the mount option `{}` names another device, and a kept image is looked at alone; look at one of a lane \
             without it",
            escaped(option.as_bytes())
        ))),
        None => read(filesystem, false, options).map(drop),
    }
}

/// Reads the mount options of a lane. `takes_devices`: the kernel mounts it, so that the table of filesystems holds.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first option that no lane gives.
pub(crate) fn read(filesystem: &str, takes_devices: bool, options: &[String]) -> Result<Said, LaneFailure> {
    let mut said = Said::default();
    for option in options {
        let (key, value) = option.split_once('=').map_or((option.as_str(), None), |(key, value)| (key, Some(value)));
        let shown = escaped(key.as_bytes());
        if let Some(why) = refused(key) {
            let remedy = if why.contains(';') { "" } else { "; remove it" };
            return Err(usage(format!("the mount option `{shown}` is not for lanes: {why}{remedy}")));
        }
        if STOPS.contains(&option.as_str()) {
            return Err(usage(format!(
                "the mount option `{option}` is not for lanes: the whole machine would stop at the first error; remove it, \
                 or write errors=remount-ro"
            )));
        }
        let Some(value) = value.filter(|_| takes_devices && names_device(key)) else {
            if value.is_some_and(is_tag) && names_device(key) {
                return Err(no_device(&shown, option));
            }
            check_no_device(&format!("the mount of {filesystem}"), option)?;
            said.words.push(option.clone());
            continue;
        };
        let path = device::named_by(value).ok_or_else(|| no_device(&shown, value))?;
        said.words.push(format!("{key}={}", path.display()));
        said.devices.push(path);
    }
    Ok(said)
}

fn no_device(key: &str, value: &str) -> LaneFailure {
    usage(format!(
        "the mount option `{key}`: `{}` is no block device; name one by its path, such as /dev/disk/by-id/…",
        escaped(value.as_bytes())
    ))
}

fn is(name: &str, key: &str) -> bool {
    match name.strip_suffix('*') {
        Some(begin) => key.starts_with(begin),
        None => name == key,
    }
}
