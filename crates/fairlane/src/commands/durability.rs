//! What `powercut` and `integrity` share, and `report` of their records.

use super::lane_failure;
use super::screen::{style, tilde};
use crate::failure::Failure;
use crate::powercut::in_guest::Errand;
use crate::{state, terminal};
use lanes::SingleLane;
use model::Bytes;
use model::durability::DurabilityRecord;
use model::lane::{LaneSpec, Venue};
use model::page::Language;
use report::PlannedCuts;
use std::path::{Path, PathBuf};

/// Room on a guest's disk beside lanes and logs: kept images, and the disk's own filesystem.
const GUEST_SPARE_BYTES: u64 = 256 * Bytes::MIB;
/// Layers write each filesystem that is made to all their disks, zeros among it, and the log holds that.
const GUEST_SPARE_BYTES_OF_LAYERS: u64 = 4096 * Bytes::MIB;

/// Whether a file is a record of durability, by its first line.
pub fn is_record(path: &Path) -> bool {
    state::kind_of_record(path).is_some_and(|kind| kind == "durability")
}

/// A record of durability, judged again and rendered.
///
/// # Errors
/// Where it cannot be read, or is not rendered in that format or language.
pub fn render(path: &Path, format: &str, language: Option<Language>) -> Result<String, Failure> {
    report::check_durability(format, language).map_err(Failure::usage)?;
    let record = state::load_durability(path)?;
    let mut found = stats::durability::findings(&record);
    if record.end.is_none() && state::is_being_written(path) {
        found.outcome = state::outcome(None, true).to_owned();
    }
    let cases = own_cases(path);
    report::render_durability(&found, format, Some(&tilde(path)), cases.as_deref(), &style()).map_err(Failure::usage)
}

/// Where the run of a record kept its images, where the record is among the user's own: anybody may have written another.
fn own_cases(record: &Path) -> Option<PathBuf> {
    let folder = state::durability_path().ok()?;
    let record = record.canonicalize().ok()?;
    let is_own = record.parent()? == folder.canonicalize().ok()?;
    is_own.then(|| folder.join(record.file_name().unwrap_or_default()).with_extension("kept"))
}

/// Refuses where the system lacks what disks of our own need.
///
/// # Errors
/// Without root, or without FUSE.
pub fn check_system() -> Result<(), Failure> {
    if !lanes::host::is_root() {
        return Err(Failure::missing("disks of Fairlane's own are mounted by root alone; run it with sudo"));
    }
    match Path::new("/dev/fuse").exists() {
        true => Ok(()),
        false => Err(Failure::missing("there is no /dev/fuse, over which disks are recorded; run `modprobe fuse`")),
    }
}

/// Refuses where a program that looks at what is left is missing, before anything is recorded or damaged.
///
/// # Errors
/// With the package that brings it.
pub fn check_tools(specimens: &[SingleLane]) -> Result<(), Failure> {
    specimens.iter().try_for_each(SingleLane::check_tools).map_err(lane_failure)
}

/// Refuses a lane that a filesystem does not fit into, or that is no whole number of MiB, as disks are.
///
/// # Errors
/// With a size that the option takes.
pub fn check_lane_size(size: Bytes, smallest: u64) -> Result<(), Failure> {
    if size.0 < smallest {
        let smallest = Bytes(smallest);
        return Err(Failure::usage(format!(
            "--lane-size {size} is too small for these lanes; take {smallest} or more"
        )));
    }
    match size.0.is_multiple_of(Bytes::MIB) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "--lane-size {size} is no whole number of MiB; take {}",
            Bytes(size.0.checked_next_multiple_of(Bytes::MIB).unwrap_or(u64::MAX))
        ))),
    }
}

/// Bytes that a lane of this size takes at most: a disk and its log, or two disks.
pub fn room(lane_bytes: u64) -> u64 {
    lane_bytes.saturating_mul(2)
}

/// Lanes that are cut or damaged in a guest.
pub struct GuestLanes<'a> {
    /// In which guest.
    pub venue: &'a Venue,
    /// The lanes.
    pub specs: &'a [LaneSpec],
    /// Where the guest's disk lies.
    pub on: &'a Path,
    /// Size of each lane.
    pub lane_bytes: u64,
}

impl<'a> GuestLanes<'a> {
    /// What the guest is sent to do. `again`: the command, `more`: what only the guest is told; `record`: where the
    /// record goes.
    ///
    /// # Errors
    /// What cannot run in the guest, with the remedy.
    pub fn errand(
        &self,
        again: Vec<String>,
        more: &'a [&'a str],
        record: &'a Path,
        quiet: bool,
    ) -> Result<Errand<'a>, Failure> {
        if let Some(placed) = self.specs.iter().find(|spec| spec.venue.is_some()) {
            return Err(Failure::usage(format!(
                "lane {} names a place of its own, and all lanes are cut or damaged where --on says; leave it out",
                report::clean_text(&placed.name)
            )));
        }
        lanes::command_guest::check(self.venue, self.specs).map_err(lane_failure)?;
        let GuestLanes { venue, specs, on, lane_bytes } = *self;
        let disks = specs.iter().map(|spec| u64::from(spec.disks())).max().unwrap_or(1);
        let each = room(lane_bytes).saturating_mul(disks.max(2));
        let layered = specs.iter().any(|spec| !spec.layers.is_empty());
        let spare = if layered { GUEST_SPARE_BYTES_OF_LAYERS } else { GUEST_SPARE_BYTES };
        let disk_bytes = each.saturating_add(spare);
        Ok(Errand { venue, specs, on, disk_bytes, again, more, record, quiet, trace: None })
    }
}

/// Fails where lanes did, which the report has told.
///
/// # Errors
/// With their names.
pub fn failed_lanes(record: &DurabilityRecord) -> Result<(), Failure> {
    match record.failed.as_slice() {
        [] => Ok(()),
        failed => {
            let lanes: Vec<String> = failed.iter().map(|failed| report::clean_text(&failed.lane)).collect();
            Err(Failure::failed(format!("{} failed, and the report says why; mend it and run again", lanes.join(", "))))
        }
    }
}

/// Says what will be done, and refuses where the folder has not the room. `bytes`: what the files take at most.
///
/// # Errors
/// Where there is less room than the files take at most.
pub fn announce(lanes: usize, cuts: Option<PlannedCuts>, bytes: u64, on: &Path, quiet: bool) -> Result<(), Failure> {
    let folder = tilde(on);
    if !quiet {
        let plan = report::DurabilityPlan { lanes, cuts, folder: &folder, bytes };
        terminal::say!("{}", report::durability_plan(&plan));
    }
    let room = rustix::fs::statvfs(on).map_or(u64::MAX, |of| of.f_bavail.saturating_mul(of.f_frsize));
    match room >= bytes {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "{} has {} free, and {} may be needed; name another folder with --on, or a smaller --lane-size",
            report::clean_text(&folder),
            model::units::human_bytes(room as f64),
            model::units::human_bytes(bytes as f64)
        ))),
    }
}

/// The folder's records as `fairlane records` lists them, newest first; nothing where there is none.
///
/// # Errors
/// When the folder cannot be read.
pub fn list() -> Result<String, Failure> {
    let mut text = String::new();
    for path in state::durability_records()?.iter().rev() {
        let what = match state::load_durability(path) {
            Ok(record) => {
                let header = &record.header;
                let lanes: Vec<String> = header.lanes.iter().map(|lane| report::clean_text(&lane.name)).collect();
                let end = state::outcome(record.end, record.end.is_none() && state::is_being_written(path));
                let command = report::clean_text(&header.command);
                format!("{}  {command:<9} {end:<11} {}", report::clean_text(&header.started), lanes.join(" "))
            }
            Err(failure) => format!("unreadable: {}", report::clean_text(&failure.message)),
        };
        text.push_str(&format!("{what}\n         {}\n", model::text::escaped_path(path)));
    }
    Ok(match text.is_empty() {
        true => text,
        false => format!("\nPower cuts and damage; `fairlane report FILE` shows one:\n{text}"),
    })
}
