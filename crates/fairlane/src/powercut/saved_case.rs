//! A failing image, kept as what makes it again: the log up to its cut, and which cut it is.

use super::cannot;
use super::recording::SECTOR_BYTES;
use super::scratch_space::{ScratchSpace, unmount};
use super::traced::{KeptTrace, Traced};
use crate::commands::{durability, lane_failure, planning};
use crate::failure::Failure;
use crate::owned;
use crashes::Replayer;
use crashes::crash_model::Cut;
use crashes::log::Log;
use crashes::serve::FILE;
use engine::durable::{self, Found, Kind, MOST_RECORDS, TRACED, Terms};
use lanes::loop_device::LoopDevice;
use lanes::{Consistency, Ground, LaneFailure, SingleLane, mount};
use model::lane::{LaneError, LaneSpec};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The name of its file.
pub const CASE: &str = "case.json";
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
    /// The trace whose calls the work is; `None`: it is work of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<KeptTrace>,
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

/// A case that a guest kept, which had the trace elsewhere.
///
/// # Errors
/// What the system answers, and where it is no case.
pub fn with_trace(from: &mut impl Read, path: &Path) -> std::io::Result<Vec<u8>> {
    let mut case: Case = serde_json::from_reader(from.take(LARGEST_CASE_BYTES))?;
    if let Some(trace) = &mut case.trace {
        trace.path = path.to_owned();
    }
    Ok((serde_json::to_string_pretty(&case)? + "\n").into_bytes())
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
            "one image is not shown as `{}`; choose one of {}",
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
    // Before it is resolved: a file that a stranger names would be read, and quoted, with root's rights.
    if !lanes::plain::stands_on_a_disk(&lane) {
        return Err(Failure::usage(
            "the kept image is of a lane that the kernel mounts from no disk, and no run keeps such a one; name a folder \
             that a report names",
        ));
    }
    lanes::plain::check_kept(&lane).map_err(lane_failure)?;
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

/// What was named again beside the folder.
pub struct Typed<'a> {
    /// The lane.
    pub lanes: &'a [String],
    /// The trace.
    pub trace: Option<&'a Path>,
}

/// A kept image as its folder has it: a stranger may have written all of it.
struct Kept {
    case: Case,
    work: KeptWork,
    single_lane: SingleLane,
    log: File,
    /// Records acknowledged by the cut, which are no more than there are.
    acknowledged: u64,
}

/// The work of a kept image.
enum KeptWork {
    Own(&'static Kind),
    Traced(Box<Traced>),
}

impl KeptWork {
    /// Finds it: in the table, or in the trace, as it was named again.
    fn find(case: &Case, typed: Option<&Path>) -> Result<KeptWork, Failure> {
        match (&case.trace, typed) {
            (Some(trace), typed) if case.workload == TRACED => {
                Traced::kept(trace, typed).map(|traced| KeptWork::Traced(Box::new(traced)))
            }
            (None, None) => match durable::find(&case.workload) {
                Some(kind) => Ok(KeptWork::Own(kind)),
                None => Err(Failure::usage(format!("this version knows no work {}", case.workload))),
            },
            (None, Some(_)) => Err(Failure::usage("the kept image is of no trace; leave --replay out")),
            (Some(_), _) => Err(Failure::usage(format!(
                "the kept image names a trace, and work {} has none; name a folder that a report names",
                case.workload
            ))),
        }
    }

    fn kind(&self) -> &Kind {
        match self {
            KeptWork::Own(kind) => kind,
            KeptWork::Traced(traced) => &traced.kind,
        }
    }
}

impl Kept {
    /// Reads what a folder keeps, and refuses what no run keeps.
    fn read(folder: &Path, cut: Option<Cut>, typed: &Typed) -> Result<Kept, Failure> {
        let text = owned::read(&folder.join(CASE), LARGEST_CASE_BYTES).map_err(|error| {
            Failure::usage(format!("{} keeps no failing image ({error}); a report names the folders", folder.display()))
        })?;
        let damaged = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("{} is damaged: {why}; keep the image again", folder.join(CASE).display()))
        };
        let mut case: Case = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
        let single_lane = SingleLane::resolve(&lane_of(&case, typed.lanes)?).map_err(lane_failure)?;
        if single_lane.disks() > 1 {
            return Err(Failure::usage(
                "the kept image is of a lane on several disks, and no run keeps such a one; name a folder that a report names",
            ));
        }
        let work = KeptWork::find(&case, typed.trace)?;
        // As the command line takes it: sectors have two sizes.
        if case.cut.to_string().parse() != Ok(case.cut) {
            return Err(damaged(&format!("there is no cut {}", case.cut)));
        }
        let unread = |error: std::io::Error| {
            let path = folder.join(LOG);
            Failure::usage(format!("{} cannot be read: {error}; name a folder that a report names", path.display()))
        };
        let log = owned::open_to_read(&folder.join(LOG)).map_err(unread)?;
        let index = Log::open_strangers(Path::new(&format!("/proc/self/fd/{}", log.as_raw_fd()))).map_err(unread)?;
        if let Some(cut) = cut {
            case.cut = within(cut, index.end().max(case.cut.tick))?;
        }
        let Terms { records, only, .. } = case.terms;
        let acknowledged = index.acknowledged_by(case.cut.tick);
        if records > MOST_RECORDS || acknowledged > records || only.is_some_and(|one| !(1..=records).contains(&one)) {
            return Err(damaged(&format!(
                "it is of {records} records, of which the log acknowledges {acknowledged}; works have {MOST_RECORDS} at most"
            )));
        }
        if matches!(work, KeptWork::Traced(_)) && (records != work.kind().records || only.is_some()) {
            return Err(damaged(&format!("it is of {records} records, and the trace has {}", work.kind().records)));
        }
        Ok(Kept { case, work, single_lane, log, acknowledged })
    }
}

/// Makes a kept image again and does with it what the run did: mounts it as its lane, looks at the records, unmounts it
/// and has it checked. Then it is mounted again, and left so.
///
/// # Errors
/// A folder that keeps no image; a cut that the log does not reach; an image that concerns disks other than itself; what
/// the system answers.
pub fn look(folder: &Path, cut: Option<Cut>, typed: &Typed, on: &Path) -> Result<Look, Failure> {
    let kept = Kept::read(folder, cut, typed)?;
    durability::check_system()?;
    SingleLane::check_partitions_stay_unread().map_err(lane_failure)?;
    durability::check_tools(std::slice::from_ref(&kept.single_lane))?;
    let mut scratch = ScratchSpace::begin(on, &planning::run_id())?;
    let fuse = scratch.mount_place("image")?;
    let disk = scratch.loop_place(fuse.path.join(FILE))?;
    let lane = scratch.mount_place("lane")?;
    let shown = Replayer::start_strangers(&fuse.path, &kept.log)
        .map_err(cannot("show the crash image"))
        .map(|mut replayer| (see(&kept, &mut replayer, &disk.path, &lane.path), replayer));
    let failure = match shown {
        Ok((Ok(seen), _)) => {
            scratch.keep()?;
            return Ok(seen);
        }
        Ok((Err(failure), replayer)) => {
            unmount(&lane.path)?;
            unmount(&fuse.path)?;
            replayer.wait();
            failure
        }
        Err(failure) => {
            unmount(&fuse.path)?;
            failure
        }
    };
    scratch.end()?;
    Err(failure)
}

/// Shows the image as a file at `disk`, and does with it what the run did at `lane`.
fn see(kept: &Kept, replayer: &mut Replayer, disk: &Path, lane: &Path) -> Result<Look, Failure> {
    let Kept { case, work, single_lane, .. } = kept;
    let acknowledged = replayer.show(case.cut).map_err(cannot("make the crash image"))?;
    // Who serves the image has read the log again, and only its bounds; from here on nothing of the folder is read.
    if acknowledged != kept.acknowledged {
        return Err(Failure::failed(
            "the log of the kept image changed while it was read; copy the folder to where nobody else writes, and look at \
             the copy",
        ));
    }
    // Before there is a device of it, which udev looks at.
    single_lane.check_strangers_image(disk, None).map_err(lane_failure)?;
    let device = LoopDevice::attach(disk, Some(SECTOR_BYTES)).map_err(lane_failure)?;
    let mut seen = Look {
        lane: case.lane.clone(),
        workload: case.workload.clone(),
        cut: case.cut.to_string(),
        acknowledged,
        repaired: None,
        unmountable: None,
        wrong: None,
        complaint: None,
        mounted: None,
        image: disk.to_owned(),
    };
    let stop = AtomicBool::new(false);
    let said = |told: Consistency| match told {
        Consistency::Complaint(words) => Some(words),
        Consistency::Clean | Consistency::Unknown => None,
    };
    let path = device.path();
    if single_lane.is_repaired_before_mount() {
        seen.repaired = said(single_lane.repair(&Ground::disk(&path), &stop).map_err(lane_failure)?);
        // The repair may have made the superblock another one.
        device.drop_cache().map_err(lane_failure)?;
        single_lane.check_strangers_image(disk, Some(&path)).map_err(lane_failure)?;
    }
    // Whatever the options say: what lies in the image is a stranger's.
    let mount = || single_lane.mount_strangers(&path, lane);
    let mounted = mount().and_then(|()| {
        let found = checked(work.kind(), lane, case.terms, acknowledged)?;
        seen.wrong = Some(found.first).filter(|first| !first.is_empty());
        mount::unmount_patiently(lane)?;
        // The checker reads through the cache of the device, which filesystems go past.
        device.drop_cache()?;
        seen.complaint = said(single_lane.check(&Ground::disk(&path), &stop)?);
        // The journal, which the first mount put into effect, may have held another superblock.
        single_lane.check_strangers_image(disk, Some(&path))?;
        mount()
    });
    match mounted {
        Ok(()) => {
            seen.mounted = Some(lane.to_owned());
            device.leave();
        }
        Err(failure) => {
            seen.unmountable = Some(failure.to_string());
            drop(device);
        }
    }
    Ok(seen)
}

/// Looks at the records in a thread that can change nothing but what is mounted there.
fn checked(kind: &Kind, lane: &Path, terms: Terms, acknowledged: u64) -> Result<Found, LaneFailure> {
    let look = || {
        lanes::confine_this_thread(lane)?;
        Ok(kind.check(&lane.join("work"), terms, acknowledged))
    };
    let gone = |_| Err(LaneFailure::Failed("a thread that looked at the records failed".to_owned()));
    std::thread::scope(|scope| scope.spawn(look).join().unwrap_or_else(gone))
}

/// A cut that the log reaches: behind its end nothing was recorded.
fn within(cut: Cut, end: u64) -> Result<Cut, Failure> {
    match cut.tick <= end {
        true => Ok(cut),
        false => Err(Failure::usage(format!("there is no tick {} in this log; take one of 0 to {end}", cut.tick))),
    }
}
