//! What a lane's filesystem stands on, layers from top to bottom each behind a `/` as in `ext4/crypt/raid5:3,chunk=64K`; and
//! what lies above it, as in `overlay(ext4)`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Layers that there are. A `/` in a lane begins a layer only where one of these words follows.
pub const LAYERS: [&str; 18] = [
    "raid0",
    "raid1",
    "raid4",
    "raid5",
    "raid6",
    "raid10",
    "linear",
    "stripe",
    "crypt",
    "integrity",
    "thin",
    "snapshot",
    "delay",
    "cache",
    "writecache",
    "bcache",
    QUEUE,
    VM,
];
/// The layer that builds nothing: it sets the queue of the device below it, which stays the same device.
pub const QUEUE: &str = "queue";
/// The layer that builds nothing and sets the kernel's writeback while its lane is open; nothing but [`QUEUE`] stands above it.
pub const VM: &str = "vm";
/// What may lie above a filesystem, with the filesystem in brackets behind it.
pub const ABOVE: [&str; 4] = ["overlay", "nfs", "fscrypt", "ecryptfs"];
/// Devices that one layer, or one filesystem, may be told to stand on.
pub const MOST_DEVICES: u32 = 24;

/// The word of an array, or of a filesystem on several disks, whose last disk was taken out.
pub const DEGRADED: &str = "degraded";
/// The word of one whose last disk is rebuilt beside the work.
pub const REBUILDING: &str = "rebuilding";

/// One layer of a lane, or what lies above its filesystem, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerSpec {
    /// One of [`LAYERS`] or of [`ABOVE`].
    pub name: String,
    /// What it is told, in order: `chunk=64K`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Devices that it stands on, each of them all that stands below; 1 to [`MOST_DEVICES`]; above a filesystem 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: u32,
}

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn is_one(count: &u32) -> bool {
    *count == 1
}

/// What could not be read of a part of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartError {
    /// What follows a colon is no number of devices.
    Count(String),
    /// Nothing stands between two commas.
    EmptyOption,
    /// The brackets do not close.
    Bracket,
    /// What lies above a filesystem stands without one.
    NothingBelow(String),
}

/// A filesystem or a layer with what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    pub(crate) devices: u32,
    /// What stands in brackets.
    pub(crate) inside: &'a str,
    pub(crate) options: Vec<&'a str>,
}

/// Splits a lane without name and venue into its filesystem and its layers. `from`: where the filesystem's own path ends.
pub(crate) fn split(body: &str, from: usize) -> Vec<&str> {
    let bytes = body.as_bytes();
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0usize);
    for at in from..bytes.len() {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'/' if depth == 0 && (at == 0 || bytes[at - 1] != b'=') && begins_layer(&body[at + 1..]) => {
                parts.push(&body[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&body[begin..]);
    parts
}

/// Whether a lane goes on with a layer there.
pub(crate) fn begins_layer(rest: &str) -> bool {
    let end = rest.find([',', ':', '/', '(']).unwrap_or(rest.len());
    LAYERS.contains(&&rest[..end])
}

/// Reads `NAME[:DEVICES][(INSIDE)][,OPTION…]`; the number may also stand behind a last option that begins with a dash, as
/// in `btrfs,-draid1:2`. `from`: where the name may end, which of a path is behind its colons.
pub(crate) fn read(part: &str, from: usize) -> Result<Part<'_>, PartError> {
    let end = part[from..].find([',', '(']).map_or(part.len(), |at| from + at);
    // What looks like a venue is told as one, with its colon.
    let colon = part[from..end].find([':', '@']).map(|at| from + at).filter(|at| part.as_bytes()[*at] == b':');
    let (name, mut rest) = part.split_at(colon.unwrap_or(end));
    let mut devices = None;
    if let Some(behind) = rest.strip_prefix(':') {
        let end = behind.find([',', '(']).unwrap_or(behind.len());
        devices = Some(count(&behind[..end])?);
        rest = &behind[end..];
    }
    let mut inside = "";
    if rest.starts_with('(') {
        let close = closing(rest).ok_or(PartError::Bracket)?;
        inside = &rest[1..close];
        rest = &rest[close + 1..];
        if let (None, Some(behind)) = (devices, rest.strip_prefix(':')) {
            let end = behind.find(',').unwrap_or(behind.len());
            devices = Some(count(&behind[..end])?);
            rest = &behind[end..];
        }
    }
    let mut options: Vec<&str> = match rest.strip_prefix(',') {
        Some(options) => options.split(',').collect(),
        None if rest.is_empty() => Vec::new(),
        None => return Err(PartError::Bracket),
    };
    if let (None, Some(last)) = (devices, options.last_mut())
        && last.starts_with('-')
        && let Some((word, number)) = last.rsplit_once(':')
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && !number.is_empty()
    {
        devices = Some(count(number)?);
        *last = word;
    }
    if options.iter().any(|option| option.is_empty()) {
        return Err(PartError::EmptyOption);
    }
    Ok(Part { name, devices: devices.unwrap_or(1), inside, options })
}

/// Splits a lane without name and venue into what lies above its filesystem, with its options, and the filesystem with all
/// that stands below it. `None`: nothing lies above.
pub(crate) fn split_above(body: &str) -> Result<Option<(LayerSpec, &str)>, PartError> {
    let end = body.find([',', '(', '/', ':']).unwrap_or(body.len());
    let (name, rest) = body.split_at(end);
    if !ABOVE.contains(&name) {
        return Ok(None);
    }
    if !rest.starts_with('(') {
        return Err(PartError::NothingBelow(name.to_owned()));
    }
    let mut depth = 0usize;
    let close = rest.bytes().position(|byte| {
        depth = match byte {
            b'(' => depth + 1,
            b')' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let misplaced = || PartError::NothingBelow(name.to_owned());
    let close = close.ok_or_else(misplaced)?;
    let inside = &rest[1..close];
    if inside.is_empty() {
        return Err(PartError::NothingBelow(name.to_owned()));
    }
    let options: Vec<String> = match &rest[close + 1..] {
        "" => Vec::new(),
        told => told.strip_prefix(',').ok_or_else(misplaced)?.split(',').map(str::to_owned).collect(),
    };
    if options.iter().any(String::is_empty) {
        return Err(PartError::EmptyOption);
    }
    Ok(Some((LayerSpec { name: name.to_owned(), options, devices: 1 }, inside)))
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    text.find(')')
}

fn count(text: &str) -> Result<u32, PartError> {
    let number = text.parse().ok().filter(|count| (1..=MOST_DEVICES).contains(count) && !text.starts_with('+'));
    number.ok_or_else(|| PartError::Count(crate::text::escaped(text.as_bytes())))
}

/// Whether nothing is built for a layer, as a record names it, because it only sets something: `queue,scheduler=none`,
/// `vm,dirty_ratio=5`.
pub fn only_sets(layer: &str) -> bool {
    layer.split([',', ':']).next().is_some_and(|name| [QUEUE, VM].contains(&name))
}

impl LayerSpec {
    /// Whether something is built for it: settings of a queue or of the kernel are none.
    pub fn is_built(&self) -> bool {
        !only_sets(&self.name)
    }

    /// As a lane has it, without the `/`.
    pub fn to_line(&self) -> String {
        let count = if self.devices == 1 { String::new() } else { format!(":{}", self.devices) };
        let options: String = self.options.iter().map(|option| format!(",{option}")).collect();
        format!("{}{count}{options}", self.name)
    }
}

impl From<Part<'_>> for LayerSpec {
    fn from(part: Part<'_>) -> Self {
        LayerSpec {
            name: part.name.to_owned(),
            options: part.options.into_iter().map(str::to_owned).collect(),
            devices: part.devices,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_begins_a_layer_only_before_the_name_of_one() {
        assert_eq!(split("ext4/raid5:3", 0), ["ext4", "raid5:3"]);
        assert_eq!(split("xfs,noatime/thin/raid1:2,bitmap=none", 0), ["xfs,noatime", "thin", "raid1:2,bitmap=none"]);
        for whole in [
            "xfs,logdev=/dev/sdb",
            "btrfs,subvol=/crypt",
            "btrfs,subvol=a/b",
            "ext4(-Lx/raid1)",
            "ext4/raid7:4",
            "ext4/thinner",
        ] {
            assert_eq!(split(whole, 0), [whole]);
        }
        assert_eq!(split("./raid1/my.toml/crypt", "./raid1/my.toml".len()), ["./raid1/my.toml", "crypt"]);
    }

    #[test]
    fn the_number_of_devices_stands_behind_the_name_or_behind_a_last_word_for_mkfs() {
        let part = |text: &'static str| read(text, 0).map(|part| (part.name, part.devices, part.options));
        assert_eq!(part("raid5:3"), Ok(("raid5", 3, vec![])));
        assert_eq!(part("raid10:4,chunk=64K"), Ok(("raid10", 4, vec!["chunk=64K"])));
        assert_eq!(part("btrfs,-draid1,-mraid1:2"), Ok(("btrfs", 2, vec!["-draid1", "-mraid1"])));
        // The level of a compression is none.
        assert_eq!(part("btrfs,compress=zstd:3"), Ok(("btrfs", 1, vec!["compress=zstd:3"])));
        let bracket = read("btrfs(-d raid1):2,noatime", 0).unwrap();
        assert_eq!((bracket.inside, bracket.devices, bracket.options), ("-d raid1", 2, vec!["noatime"]));
        for (text, wrong) in
            [("raid5:", ""), ("raid5:0", "0"), ("raid5:25", "25"), ("raid5:x", "x"), ("raid5:+3", "+3")]
        {
            assert_eq!(read(text, 0), Err(PartError::Count(wrong.to_owned())), "{text}");
        }
        assert_eq!(read("raid5:3,", 0), Err(PartError::EmptyOption));
        assert_eq!(read("btrfs(-d raid1", 0), Err(PartError::Bracket));
    }
}
