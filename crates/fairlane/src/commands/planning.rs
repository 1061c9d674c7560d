//! What every plan needs, whatever its work: lanes, their ground, the seed, the line that runs it
//! again.

use crate::failure::Failure;
use crate::options::Terms;
use lanes::availability;
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Venue};
use model::plan::{Ground, Rounds};
use std::path::Path;

/// The filesystems of a race that names none.
const DEFAULT_LANES: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Reads the lanes; where none is named, the usual ones as far as this machine mounts them.
///
/// # Errors
/// When a lane makes no sense, or too few of the usual ones can be raced here.
pub fn lanes(texts: &[String]) -> Result<Vec<LaneSpec>, Failure> {
    if texts.is_empty() {
        return default_lanes();
    }
    let parsed: Result<Vec<LaneSpec>, _> = texts.iter().map(|text| text.parse()).collect();
    parsed.map_err(|error| Failure::usage(error.to_string()))
}

fn default_lanes() -> Result<Vec<LaneSpec>, Failure> {
    let mut ready = Vec::new();
    for row in DEFAULT_LANES.iter().filter_map(|name| lanes::filesystem::find(name)) {
        match availability::of(row) {
            availability::Availability::Ready => ready.push(row.name),
            missing => eprintln!("left out: {}: {}", row.name, missing.describe()),
        }
    }
    if ready.len() < 2 {
        return Err(Failure::missing(
            "fewer than two of ext4, xfs and btrfs can be raced here; `fairlane doctor --install` adds their tools",
        ));
    }
    Ok(ready.iter().filter_map(|name| name.parse().ok()).collect())
}

/// Where lanes without a venue of their own live.
///
/// # Errors
/// When the place is neither a directory nor a block device.
pub fn ground(on: Option<&Path>, lanes: &[LaneSpec]) -> Result<Ground, Failure> {
    use std::os::unix::fs::FileTypeExt;
    let here = || {
        std::env::current_dir().map_err(|error| {
            Failure::usage(format!("the working directory cannot be used: {error}; name one with --on DIR"))
        })
    };
    let Some(on) = on else {
        // One place for all images, wherever a lane names it.
        let named = lanes.iter().find_map(|lane| match &lane.venue {
            Some(Venue::Image(Some(path))) => Some(path.clone()),
            _ => None,
        });
        return Ok(Ground::Images(named.map_or_else(here, Ok)?));
    };
    if on == Path::new("image") {
        return Ok(Ground::Images(here()?));
    }
    if on == Path::new("library") {
        return Err(Failure::usage(
            "--on library: rsext4 is the library there is, and it stands on images like the others; race it as a lane: rsext4",
        ));
    }
    if ["uml", "qemu"].iter().any(|guest| on == Path::new(guest)) {
        return Err(Failure::usage(format!(
            "--on {}: guests are not in this version; race images (as root), a device or directories",
            on.display()
        )));
    }
    let absolute =
        std::path::absolute(on).map_err(|error| Failure::usage(format!("--on {}: {error}", on.display())))?;
    let metadata = std::fs::metadata(&absolute).map_err(|error| {
        Failure::usage(format!("--on {}: {error}; name a directory or a block device", on.display()))
    })?;
    if metadata.file_type().is_block_device() {
        Ok(Ground::Device(absolute))
    } else if metadata.is_dir() {
        Ok(Ground::Images(absolute))
    } else {
        Err(Failure::usage(format!("--on {}: neither a directory nor a block device", on.display())))
    }
}

/// A new seed where none was given: from the clock, kept in the record.
pub fn new_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    (since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(20)) % 1_000_000_007
}

/// Unique among races of this machine, and safe in file names.
pub fn run_id() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_millis(), std::process::id())
}

/// Whether some lane lives in an image.
pub fn any_image(lanes: &[LaneSpec], on: &Ground) -> bool {
    let free = |lane: &LaneSpec| !matches!(lane.contestant, Contestant::Directory(_));
    lanes.iter().filter(|lane| free(lane)).any(|lane| match (&lane.venue, on) {
        (Some(Venue::Device(_)), _) | (None | Some(Venue::Library), Ground::Device(_)) => false,
        (Some(_), _) | (None, Ground::Images(_)) => true,
    })
}

/// The options at the end of the line that runs a race again, defaults that could change spelt out.
pub struct Tail<'a> {
    /// What every race takes.
    pub terms: &'a Terms,
    /// The lanes.
    pub lanes: &'a [LaneSpec],
    /// Where they live.
    pub on: &'a Ground,
    /// Size of each.
    pub lane_size: Bytes,
    /// How many rounds.
    pub rounds: Rounds,
    /// The seed that is used.
    pub seed: u64,
}

impl Tail<'_> {
    /// Appends them.
    pub fn append_to(&self, line: &mut Vec<String>) {
        let mut push = |name: &str, value: String| line.extend([name.to_owned(), value]);
        // Where it ran is part of what ran, also where nobody named it.
        match self.on {
            Ground::Images(path) if any_image(self.lanes, self.on) => push("--on", path.display().to_string()),
            Ground::Device(path) => push("--on", path.display().to_string()),
            Ground::Images(_) => {}
        }
        push("--lane-size", self.lane_size.to_string());
        if let Some(budget) = self.terms.budget {
            push("--budget", format!("{budget}s"));
        }
        if let Rounds::Fixed(rounds) = self.rounds {
            push("--rounds", rounds.to_string());
        }
        push("--margin", format!("{}%", self.terms.margin * 100.0));
        push("--seed", self.seed.to_string());
        for device in &self.terms.erase {
            push("--erase", device.display().to_string());
        }
        if self.terms.with_self {
            line.push("--with-self".to_owned());
        }
    }
}
