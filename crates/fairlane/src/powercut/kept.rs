//! A failing image, kept as what makes it again: the log up to its cut, and which cut it is.

use super::bench::Bench;
use super::cannot;
use super::recording::SECTOR_BYTES;
use crate::commands::{durability, lane_failure, planning};
use crate::failure::Failure;
use crate::owned;
use crashes::Replayer;
use crashes::log::Log;
use crashes::serve::FILE;
use crashes::survive::Cut;
use crashes::work::{self, Terms};
use lanes::loop_device::LoopDevice;
use lanes::{Consistency, Specimen, mount};
use model::lane::{LaneError, LaneSpec};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const CASE: &str = "case.json";
const LOG: &str = "log";
/// Bytes of a case at most; Fairlane writes some hundreds.
const LARGEST_CASE_BYTES: u64 = 1 << 20;

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
    owned::make_folders(&own).map_err(&kept)?;
    // What an earlier run of that name kept gives way; a link that stands there too, and what it names stays.
    for name in [LOG, CASE] {
        match owned::remove(&own.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(kept(error)),
            _ => {}
        }
    }
    let copy = owned::create(&own.join(LOG)).map_err(&kept)?;
    log.copy_until(case.cut.tick, copy).map_err(&kept)?;
    let text = serde_json::to_string_pretty(case).map_err(|error| kept(error.into()))?;
    let written = owned::create(&own.join(CASE)).and_then(|mut file| file.write_all((text + "\n").as_bytes()));
    written.map_err(&kept)?;
    Ok(own)
}

/// What a kept image showed when it was made again. It is left mounted.
#[derive(Debug, Clone, Serialize)]
pub struct Look {
    /// The lane, as the command line takes it.
    pub lane: String,
    /// The kind of work.
    pub workload: String,
    /// The cut, as `--cut` takes it.
    pub cut: String,
    /// Records acknowledged before it.
    pub acknowledged: u64,
    /// What was repaired before the mount, on a lane without a journal; `None`: nothing.
    pub repaired: Option<String>,
    /// Why it does not mount; `None`: it does.
    pub unmountable: Option<String>,
    /// The first thing that is wrong with the records; `None`: nothing, or nobody could look.
    pub wrong: Option<String>,
    /// What the checker complained of after the mount; `None`: of nothing, or it did not run.
    pub complaint: Option<String>,
    /// Where it is mounted.
    pub mounted: Option<PathBuf>,
    /// The image itself.
    pub image: PathBuf,
}

/// What a look is told in.
const LOOK_FORMATS: [&str; 2] = ["text", "json"];

/// Refuses what a look is not told in.
///
/// # Errors
/// With the formats that there are.
pub fn check_format(format: &str) -> Result<(), Failure> {
    match LOOK_FORMATS.contains(&format) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "a look at one image is not told as `{}`; choose one of {}",
            report::clean_text(format),
            LOOK_FORMATS.join(", ")
        ))),
    }
}

impl Look {
    /// In one of the formats of [`check_format`].
    ///
    /// # Errors
    /// As [`check_format`].
    pub fn render(&self, format: &str) -> Result<String, Failure> {
        check_format(format)?;
        if format == "json" {
            let text = serde_json::to_string_pretty(self).map_err(|error| Failure::failed(error.to_string()))?;
            return Ok(text + "\n");
        }
        let Look { lane, workload, cut, acknowledged, repaired, unmountable, wrong, complaint, mounted, image } = self;
        let mut lines = vec![format!("{lane}, {workload}, cut {cut}: {acknowledged} records acknowledged")];
        lines.extend(repaired.iter().map(|words| format!("repaired before the mount: {words}")));
        match unmountable {
            Some(words) => lines.push(format!("it does not mount: {words}")),
            None => {
                lines.push(wrong.clone().unwrap_or_else(|| "nothing is wrong with the records".to_owned()));
                lines.push(match complaint {
                    Some(words) => format!("the checker complains: {words}"),
                    None => "the checker complains of nothing".to_owned(),
                });
            }
        }
        lines.push(match mounted {
            Some(path) => format!("mounted at {}", path.display()),
            None => format!("the image is {}", image.display()),
        });
        lines.push("`fairlane clean` takes it away".to_owned());
        Ok(lines.iter().map(|line| report::clean_text(line) + "\n").collect())
    }
}

/// The lane of a kept image: as its file names it, where its mount options speak for themselves, or as it was typed
/// again. It is mounted and never formatted, so that its options of mkfs are nothing but words.
fn lane_of(case: &Case, typed: &[String]) -> Result<LaneSpec, Failure> {
    let lane: LaneSpec = case.lane.parse().map_err(|error: LaneError| Failure::usage(error.to_string()))?;
    let again = || report::shell_line(&[lane.to_line()]);
    match typed {
        [] if lanes::plain::has_plain_options(&lane) => Ok(lane),
        [] => Err(Failure::usage(format!(
            "the kept image is of a lane whose mount options do not speak for themselves; read them, and name the lane \
             again behind the folder: {}",
            again()
        ))),
        [typed] if typed.parse() == Ok(lane.clone()) => Ok(lane),
        _ => Err(Failure::usage(format!("the kept image is of another lane; name that one, or none: {}", again()))),
    }
}

/// Makes a kept image again and does with it what the run did: mounts it as its lane, looks at the records, unmounts it
/// and has it checked. Then it is mounted again, and left so. `typed`: the lane, where it was named again.
///
/// # Errors
/// A folder that keeps no image; a cut that the log does not reach; what the system answers.
pub fn look(folder: &Path, cut: Option<Cut>, typed: &[String], on: &Path) -> Result<Look, Failure> {
    let text = owned::read(&folder.join(CASE), LARGEST_CASE_BYTES).map_err(|error| {
        Failure::usage(format!("{} keeps no failing image ({error}); a report names the folders", folder.display()))
    })?;
    let mut case: Case = serde_json::from_slice(&text)
        .map_err(|error| Failure::usage(format!("{} is damaged: {error}", folder.join(CASE).display())))?;
    let specimen = Specimen::resolve(&lane_of(&case, typed)?).map_err(lane_failure)?;
    let kind = work::find(&case.workload)
        .ok_or_else(|| Failure::usage(format!("this version knows no work {}", case.workload)))?;
    let log = std::path::absolute(folder.join(LOG)).map_err(cannot("find the log"))?;
    if let Some(cut) = cut {
        case.cut = within(cut, case.cut, &log)?;
    }
    durability::check_system()?;
    durability::check_tools(std::slice::from_ref(&specimen))?;
    let mut bench = Bench::begin(on, &planning::run_id())?;
    let fuse = bench.mount_place("image")?;
    let disk = bench.loop_place(fuse.path.join(FILE))?;
    let lane = bench.mount_place("lane")?;
    let mut replayer = Replayer::start(&fuse.path, &log).map_err(cannot("show the crash image"))?;
    let acknowledged = replayer.show(case.cut).map_err(cannot("make the crash image"))?;
    let device = LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?;
    let mut seen = Look {
        lane: case.lane,
        workload: case.workload,
        cut: case.cut.to_string(),
        acknowledged,
        repaired: None,
        unmountable: None,
        wrong: None,
        complaint: None,
        mounted: None,
        image: disk.path.clone(),
    };
    let stop = AtomicBool::new(false);
    let said = |told: Consistency| match told {
        Consistency::Complaint(words) => Some(words),
        Consistency::Clean | Consistency::Unknown => None,
    };
    if specimen.is_repaired_before_mount() {
        seen.repaired = said(specimen.repair(&device.path(), &stop).map_err(lane_failure)?);
    }
    let mounted = specimen.mount(&device.path(), &lane.path).and_then(|()| {
        let found = (kind.check)(&lane.path.join("work"), case.terms, acknowledged);
        seen.wrong = Some(found.first).filter(|first| !first.is_empty());
        mount::unmount_patiently(&lane.path)?;
        // The checker reads through the cache of the device, which filesystems go past.
        device.drop_cache()?;
        seen.complaint = said(specimen.check(&device.path(), &stop)?);
        specimen.mount(&device.path(), &lane.path)
    });
    match mounted {
        Ok(()) => {
            seen.mounted = Some(lane.path.clone());
            device.leave();
        }
        Err(failure) => {
            seen.unmountable = Some(failure.to_string());
            drop(device);
        }
    }
    bench.keep()?;
    Ok(seen)
}

/// A cut that the log reaches: behind its end nothing was recorded. `own`: the one that it was kept for.
fn within(cut: Cut, own: Cut, log: &Path) -> Result<Cut, Failure> {
    let read = Log::open(log).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}; name a folder that a report names", log.display()))
    })?;
    let end = read.end().max(own.tick);
    match cut.tick <= end {
        true => Ok(cut),
        false => Err(Failure::usage(format!("there is no tick {} in this log; take one of 0 to {end}", cut.tick))),
    }
}
