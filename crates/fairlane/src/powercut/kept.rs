//! A failing image, kept as what makes it again: the log up to its cut, and which cut it is.

use super::bench::Bench;
use super::cannot;
use super::recording::SECTOR_BYTES;
use crate::commands::{durability, lane_failure, planning};
use crate::failure::Failure;
use crate::state::Owner;
use crashes::Replayer;
use crashes::log::Log;
use crashes::serve::FILE;
use crashes::survive::Cut;
use crashes::work::{self, Terms};
use lanes::Specimen;
use lanes::loop_device::LoopDevice;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const CASE: &str = "case.json";
const LOG: &str = "log";

/// Which image it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// The lane, as the command line takes it.
    pub lane: String,
    /// The kind of work.
    pub workload: String,
    /// Its terms.
    pub terms: Terms,
    /// The cut.
    pub cut: Cut,
}

/// Keeps a case in a folder of its own, whose name ends with `what` it is; answers where.
///
/// # Errors
/// What the system answers.
pub fn keep(folder: &Path, case: &Case, what: &str, log: &Log) -> Result<PathBuf, Failure> {
    let plain: String =
        case.lane.chars().map(|c| if c.is_ascii_alphanumeric() || c == '^' { c } else { '-' }).collect();
    let own = folder.join(format!("{plain}-{}{what}", case.workload));
    let kept = cannot(format!("keep a failing image in {}", own.display()));
    std::fs::create_dir_all(&own).map_err(&kept)?;
    log.copy_until(case.cut.tick, &own.join(LOG)).map_err(&kept)?;
    let text = serde_json::to_string_pretty(case).map_err(|error| kept(error.into()))?;
    std::fs::write(own.join(CASE), text + "\n").map_err(&kept)?;
    // Under sudo they are the user's, as the record is.
    let owner = Owner::current();
    let give_file = |name: &str| std::fs::File::open(own.join(name)).and_then(|file| owner.give_file(&file));
    let given = give_file(LOG).and_then(|()| give_file(CASE));
    given.and_then(|()| owner.give_folder(&own)).and_then(|()| owner.give_folder(folder)).map_err(&kept)?;
    Ok(own)
}

/// Makes a kept image again, mounts it as its lane, says what is wrong, and leaves it mounted. Answers what to print.
///
/// # Errors
/// A folder that keeps no image; what the system answers.
pub fn look(folder: &Path, cut: Option<Cut>, on: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(folder.join(CASE)).map_err(|error| {
        Failure::usage(format!("{} keeps no failing image ({error}); a report names the folders", folder.display()))
    })?;
    let mut case: Case = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{} is damaged: {error}", folder.join(CASE).display())))?;
    case.cut = cut.unwrap_or(case.cut);
    let spec = case.lane.parse().map_err(|error| Failure::usage(format!("lane {}: {error}", case.lane)))?;
    let specimen = Specimen::resolve(&spec).map_err(lane_failure)?;
    let kind = work::find(&case.workload)
        .ok_or_else(|| Failure::usage(format!("this version knows no work {}", case.workload)))?;
    let log = std::path::absolute(folder.join(LOG)).map_err(cannot("find the log"))?;
    durability::check_system()?;
    durability::check_tools(std::slice::from_ref(&specimen))?;
    let mut bench = Bench::begin(on, &planning::run_id())?;
    let fuse = bench.mount_place("image")?;
    let disk = bench.loop_place(fuse.path.join(FILE))?;
    let lane = bench.mount_place("lane")?;
    let mut replayer = Replayer::start(&fuse.path, &log).map_err(cannot("show the crash image"))?;
    let acknowledged = replayer.show(case.cut).map_err(cannot("make the crash image"))?;
    let device = LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?;
    let mut said = format!(
        "{}, {}, cut {}: {acknowledged} records acknowledged\n",
        report::clean_text(&case.lane),
        kind.name,
        case.cut
    );
    if specimen.is_repaired_before_mount() {
        let stop = AtomicBool::new(false);
        if let lanes::Consistency::Complaint(words) = specimen.repair(&device.path(), &stop).map_err(lane_failure)? {
            said.push_str(&format!("repaired before the mount: {}\n", report::clean_text(&words)));
        }
    }
    match specimen.mount(&device.path(), &lane.path) {
        Ok(()) => {
            let found = (kind.check)(&lane.path.join("work"), case.terms, acknowledged);
            let first = if found.is_clean() { "nothing is wrong with the records".to_owned() } else { found.first };
            said.push_str(&format!("{}\nmounted at {}\n", report::clean_text(&first), lane.path.display()));
            device.leave();
        }
        Err(failure) => {
            said.push_str(&format!("it does not mount: {failure}\nthe image is {}\n", disk.path.display()));
            drop(device);
        }
    }
    said.push_str("`fairlane clean` takes it away\n");
    bench.keep()?;
    Ok(said)
}
