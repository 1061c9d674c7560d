//! What every plan needs, whatever its work: lanes, their ground, the seed, the line that runs it
//! again.

use crate::failure::Failure;
use crate::options::Terms;
use crate::suites::Room;
use crate::terminal;
use lanes::availability::{self, Availability};
use lanes::guest::{GuestKind, Kernel};
use model::Bytes;
use model::job::Data;
use model::lane::{Contestant, LaneSpec, Venue};
use model::oltp::Distribution;
use model::plan::{Ground, GuestTerms, Plan, Rounds};
use model::throttle::Throttles;
use model::workload::{Kind, Suite, Workload};
use std::io::{Seek, SeekFrom};
use std::path::Path;

/// Left free in a directory lane: what the check of its room keeps, and what others write meanwhile.
const DIRECTORY_RESERVE_BYTES: u64 = 256 * Bytes::MIB;

/// The filesystems of a race that names none.
pub const DEFAULT_LANES: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// What the plan alone says, and no record keeps.
#[derive(Debug, Default)]
pub struct PlanOnly {
    /// Why lanes are as large as they are, where nobody said how large.
    pub of_size: Option<String>,
    /// Which workloads `--set` changed, a sentence each.
    pub reached: Vec<String>,
}

impl PlanOnly {
    /// All of it, a sentence each.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.of_size.iter().chain(&self.reached)
    }
}

/// Reads the lanes; where none is named, the usual ones as far as this machine, or the guest that `--on`
/// names, mounts them. Those without a venue of their own move into that guest.
///
/// # Errors
/// When a lane makes no sense, or too few of the usual ones can be raced here.
pub fn lanes(texts: &[String], on: Option<&Path>) -> Result<Vec<LaneSpec>, Failure> {
    let guest = on.and_then(guest_venue);
    let mut lanes = match texts {
        [] => default_lanes(guest.as_ref())?,
        _ => {
            let parsed: Result<Vec<LaneSpec>, _> = texts.iter().map(|text| text.parse()).collect();
            parsed.map_err(|error| Failure::usage(error.to_string()))?
        }
    };
    move_into_guest(&mut lanes, on);
    // A directory has its place, and a guest that nobody lives in would be passed over without a word.
    match on.filter(|on| guest_venue(on).is_some()) {
        Some(on) if lanes.iter().all(|lane| matches!(lane.contestant, Contestant::Directory(_))) => {
            Err(Failure::usage(format!(
                "--on {} has no effect: a directory is raced where it is, by this machine's kernel; remove it or name a \
                 filesystem",
                on.display()
            )))
        }
        _ => Ok(lanes),
    }
}

/// Reads the lanes of a suite's race; where none is named, those that the suite names as far as this machine, or the
/// guest that `--on` names, mounts and formats them, and of a suite that names none the usual ones. `named`: the suite
/// as the command line names it; `notes`: which are left out, and why.
///
/// # Errors
/// When a lane makes no sense, or is more than a suite may ask for, or too few can be raced here.
pub fn lanes_of_suite(
    texts: &[String],
    on: Option<&Path>,
    (suite, named): (&Suite, &str),
    notes: &mut Vec<String>,
) -> Result<Vec<LaneSpec>, Failure> {
    if !texts.is_empty() || suite.lanes.is_empty() {
        return lanes(texts, on);
    }
    let kernel = kernel_of(on.and_then(guest_venue).as_ref())?;
    let of_row = |name: &str| {
        lanes::filesystems::find(name).map_or(Availability::KernelLacks, |row| availability_of(row, kernel.as_ref()))
    };
    let (mut ready, left_out) = ready_of(suite, named, of_row)?;
    if ready.len() < 2 {
        return Err(Failure::missing(format!(
            "fewer than two of the lanes of suite {} ({}) can be raced here; `{}` adds tools, or name lanes yourself",
            suite.name,
            suite.lanes.join(", "),
            lanes::missing::doctor()
        )));
    }
    notes.extend(left_out);
    move_into_guest(&mut ready, on);
    Ok(ready)
}

/// A suite's lanes that can be raced, and a sentence about the others.
fn ready_of(
    suite: &Suite,
    named: &str,
    available: impl Fn(&str) -> Availability,
) -> Result<(Vec<LaneSpec>, Option<String>), Failure> {
    let (mut ready, mut left_out) = (Vec::new(), Vec::new());
    let lanes = suite.lanes.iter().map(|text| text.parse::<LaneSpec>().map(|lane| (text, lane)));
    let lanes: Vec<(&String, LaneSpec)> = lanes
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::usage(format!("suite {}: lanes: {error}", suite.name)))?;
    // All of them first: of a suite that asks for more than it may, nothing is raced.
    if let Some((text, _)) = lanes.iter().find(|(_, lane)| !lanes::plain::is_bare(lane)) {
        let typed = ["fairlane", "race"].into_iter().chain(suite.lanes.iter().map(String::as_str));
        let typed: Vec<String> = typed.chain(["--suite", named]).map(str::to_owned).collect();
        return Err(Failure::usage(format!(
            "suite {}: lanes: `{}` is more than a name of Fairlane's table with a label, and what else a lane may be \
             comes from the command line alone; read what it does, and type it: {}",
            suite.name,
            model::text::escaped(text.as_bytes()),
            report::shell_line(&typed)
        )));
    }
    for (text, lane) in lanes {
        let found = match &lane.contestant {
            Contestant::Filesystem(name) => available(name),
            _ => Availability::Ready,
        };
        match found {
            Availability::Ready => ready.push(lane),
            missing => left_out.push(format!("{text} ({})", missing.describe())),
        }
    }
    let said = format!("left out of suite {}: {}", suite.name, left_out.join(", "));
    Ok((ready, (!left_out.is_empty()).then_some(said)))
}

/// The kernel of the guest that `--on` names; `None`: this machine's own.
fn kernel_of(guest: Option<&Venue>) -> Result<Option<Kernel>, Failure> {
    let kernel = match guest {
        Some(Venue::Qemu(named)) => Some(Kernel::find(GuestKind::Qemu, named.as_deref())),
        Some(_) => Some(Kernel::find(GuestKind::Uml, None)),
        None => None,
    };
    kernel.transpose().map_err(super::lane_failure)
}

fn availability_of(row: &'static lanes::filesystems::Filesystem, kernel: Option<&Kernel>) -> Availability {
    match kernel {
        Some(kernel) => availability::in_guest(row, kernel).unwrap_or(Availability::KernelLacks),
        None => availability::find(row),
    }
}

fn default_lanes(guest: Option<&Venue>) -> Result<Vec<LaneSpec>, Failure> {
    let kernel = kernel_of(guest)?;
    let of = |row| availability_of(row, kernel.as_ref());
    let mut ready = Vec::new();
    for row in DEFAULT_LANES.iter().filter_map(|name| lanes::filesystems::find(name)) {
        match of(row) {
            Availability::Ready => ready.push(row.name),
            missing => terminal::say!("left out: {}: {}", row.name, missing.describe()),
        }
    }
    if ready.len() < 2 {
        return Err(Failure::missing(format!(
            "fewer than two of ext4, xfs and btrfs can be raced here; `{}` adds their tools",
            lanes::missing::doctor()
        )));
    }
    Ok(ready.iter().filter_map(|name| name.parse().ok()).collect())
}

/// The guest that `--on` names: `uml`, `qemu` or `qemu:KERNEL`.
pub fn guest_venue(on: &Path) -> Option<Venue> {
    let on = on.to_str()?;
    match on {
        "uml" => Some(Venue::Uml),
        "qemu" => Some(Venue::Qemu(None)),
        _ => {
            on.strip_prefix("qemu:").filter(|kernel| !kernel.is_empty()).map(|kernel| Venue::Qemu(Some(kernel.into())))
        }
    }
}

/// Lanes without a venue of their own move into the guest that `--on` names; a directory stays where it is.
pub fn move_into_guest(lanes: &mut [LaneSpec], on: Option<&Path>) {
    let Some(venue) = on.and_then(guest_venue) else { return };
    let free = |lane: &&mut LaneSpec| lane.venue.is_none() && !matches!(lane.contestant, Contestant::Directory(_));
    lanes.iter_mut().filter(free).for_each(|lane| lane.venue = Some(venue.clone()));
}

/// Whether a lane lives in a guest.
pub fn in_guest(lane: &LaneSpec) -> bool {
    matches!(lane.venue, Some(Venue::Uml | Venue::Qemu(_)))
}

/// What guests are to be made of.
pub fn guest_terms(terms: &Terms) -> GuestTerms {
    GuestTerms { cpus: terms.guest_cpus, memory: terms.guest_memory, sync: terms.guest_sync }
}

/// A new seed where none was given: from the clock, kept in the record.
pub fn new_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    (since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(20)) % 1_000_000_007
}

/// The disks that the lanes were given with `--throttle`.
///
/// # Errors
/// When limits, or the lane that they are for, make no sense.
pub fn throttles(terms: &Terms, lanes: &[LaneSpec]) -> Result<Throttles, Failure> {
    let names: Vec<&str> = lanes.iter().map(|lane| lane.name.as_str()).collect();
    Throttles::read(&terms.throttle, &names).map_err(|error| Failure::usage(error.to_string()))
}

/// Names of the lanes whose options compress.
pub fn compressing(lanes: &[LaneSpec]) -> Vec<&str> {
    let compresses = |option: &String| model::lane::is_compression(option);
    let with = lanes.iter().filter(|lane| lane.mount_options.iter().chain(&lane.mkfs_options).any(compresses));
    with.map(|lane| lane.name.as_str()).collect()
}

/// Where a lane compresses: what the data of this race lets it show. `listed`: workloads that the suite races with
/// compressible data too where nobody chose others.
pub fn compression_note(lanes: &[LaneSpec], workloads: &[Workload], listed: &[String]) -> Option<String> {
    let data = |workload: &Workload| workload.data().cloned();
    let lanes = compressing(lanes);
    let compressible = workloads.iter().filter_map(data).filter(|data| *data != Data::Incompressible).count();
    let with_data = workloads.iter().filter_map(data).count();
    if lanes.is_empty() || (compressible > 0 && compressible == with_data) {
        return None;
    }
    let lanes = lanes.join(", ");
    let raced = |name: &&String| workloads.iter().any(|workload| workload.name == **name);
    Some(match (compressible, listed.iter().find(raced)) {
        (0, None) => format!(
            "{lanes}: data is compressed, and what this race writes cannot be: it shows what trying costs, and nothing of what \
             compression gains; --data 2.7:1 writes what can be"
        ),
        (0, Some(name)) => format!(
            "{lanes}: data is compressed, and what this race writes cannot be: it shows what trying costs, and nothing of what \
             compression gains; --data 2.7:1 writes what can be, or add --workload {name}-compressible"
        ),
        (some, _) => format!(
            "{lanes}: data is compressed: {some} of {} workloads write what compresses (2.7:1 with zstd -3), the others what \
             cannot be compressed",
            workloads.len()
        ),
    })
}

/// Directories that lie on one filesystem, or are one: what sets them apart is no filesystem.
pub fn same_filesystem_note(lanes: &[LaneSpec]) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let looked = |lane: &LaneSpec| match &lane.contestant {
        Contestant::Directory(path) => {
            let real = path.canonicalize().ok()?;
            Some((lane.name.clone(), real.metadata().ok()?.dev(), real))
        }
        _ => None,
    };
    let directories: Vec<_> = lanes.iter().filter_map(looked).collect();
    let pair = directories.iter().enumerate().find_map(|(place, first)| {
        let other = directories[place + 1..].iter().find(|other| other.1 == first.1)?;
        Some((first, other))
    });
    pair.map(|(first, other)| {
        let is_in = |one: &Path, other: &Path| one.starts_with(other);
        let what = match (is_in(&first.2, &other.2), is_in(&other.2, &first.2)) {
            (true, true) => "are one directory",
            (false, false) => "lie on one filesystem",
            _ => "lie on one filesystem, one in the other",
        };
        format!("{} and {} {what}: what sets them apart is no filesystem's doing", first.0, other.0)
    })
}

/// Where a size of lanes was asked for that no lane takes.
pub fn lane_size_note(asked: Option<Bytes>, lanes: &[LaneSpec], on: &Ground) -> Option<String> {
    let has_own = |lane: &LaneSpec| {
        matches!(lane.contestant, Contestant::Directory(_))
            || matches!(lane.venue, Some(Venue::Device(_)))
            || (lane.venue.is_none() && matches!(on, Ground::Device(_) | Ground::Disks(_)))
    };
    (asked.is_some() && lanes.iter().all(has_own)).then(|| {
        "--lane-size is the size of images, and directories and devices have their own: it changes nothing".to_owned()
    })
}

/// What a reader must know of the disks that were raced on; it stands in the plan and in the record.
pub fn throttle_note(throttles: &Throttles, lanes: &[LaneSpec]) -> Option<String> {
    let of = |lane: &LaneSpec| throttles.of_lane(&lane.name);
    let different =
        stats::throttle::different_disks(lanes.iter().map(|lane| (lane.name.as_str(), of(lane), lane.disks())));
    different.map(String::from).or_else(|| {
        let throttle = lanes.first().and_then(of)?;
        let held = match lanes.iter().any(|lane| lane.disks() > 1) {
            true => "emulated disks: each disk of every lane is",
            false => "an emulated disk: every lane's device is",
        };
        Some(format!("{held} held to {throttle} while it is measured, reads and writes counted apart"))
    })
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
        (Some(Venue::Device(_)), _) | (None | Some(Venue::Library), Ground::Device(_) | Ground::Disks(_)) => false,
        (Some(_), _) | (None, Ground::Images(_)) => true,
    })
}

/// What decides whether a commit survives a power cut, for each server once; and where it may not, that no
/// such figure is to be compared with those of others.
pub fn database_notes(workloads: &[Workload]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for workload in workloads {
        let Kind::Oltp(oltp) = &workload.kind else { continue };
        let settings: Vec<String> = oltp.durability().iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let title = oltp.server.title();
        let mut said = vec![if oltp.is_external() {
            let socket = model::text::escaped(oltp.socket.as_bytes());
            format!(
                "{title} at {socket} keeps its own settings, which the record states; Fairlane neither starts nor stops it"
            )
        } else {
            format!("{title} commits with {}, in every lane alike", settings.join(", "))
        }];
        if oltp.distribution != Distribution::Uniform {
            said.push(format!("{title}: rows are drawn with distribution = {}", oltp.distribution.name()));
        }
        let unsafe_settings = oltp.unsafe_settings();
        if !unsafe_settings.is_empty() {
            said.push(format!(
                "{}: with {} a power cut may lose acknowledged transactions or the database; do not compare these \
                 figures with those of durable settings",
                workload.title,
                unsafe_settings.join(", ")
            ));
        }
        for note in said {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// A server that runs already is somebody's: which it is comes from the command line alone, never from a suite or a
/// record. `typed`: the values of `--set`.
///
/// # Errors
/// Names the workload, and the words to type.
pub fn check_sockets(workloads: &[Workload], typed: &[String]) -> Result<(), Failure> {
    for workload in workloads {
        let Kind::Oltp(oltp) = &workload.kind else { continue };
        let names_it = |assignment: &String| {
            let of_this = |key: &str| key == "socket" || key.strip_suffix(".socket") == Some(workload.name.as_str());
            assignment.split_once('=').is_some_and(|(key, socket)| of_this(key) && socket == oltp.socket)
        };
        if oltp.is_external() && !typed.iter().any(names_it) {
            let words = ["--set".to_owned(), format!("{}.socket={}", workload.name, oltp.socket)];
            return Err(Failure::usage(format!(
                "workload {} works in a server that runs already, and which that is comes from the command line alone; \
                 if it is meant, type {}",
                workload.name,
                report::shell_line(&words)
            )));
        }
    }
    Ok(())
}

/// What programs work on and what has to be made first, outside of the lanes: bytes, time and place.
pub fn material_notes(workloads: &[Workload]) -> Vec<String> {
    let mut notes = Vec::new();
    for workload in workloads {
        let Kind::Programs(programs) = &workload.kind else { continue };
        if engine::programs::is_made(programs) {
            continue;
        }
        let (work, folder) = (super::forecast::material(programs), engine::programs::material_folder());
        let folder = folder.map_or_else(|error| error.to_string(), |folder| folder.display().to_string());
        notes.push(format!(
            "{}: what its programs work on is made once and kept in {}: {}, about {}",
            workload.title,
            report::clean_text(&folder),
            model::units::human_bytes(work.bytes),
            model::units::human_seconds(work.seconds)
        ));
    }
    notes
}

/// The tools that operations are started as, and the servers of databases, are there.
///
/// # Errors
/// Names those that are missing and the packages that bring them.
pub fn check_tools(plan: &Plan) -> Result<(), Failure> {
    for workload in &plan.workloads {
        if let Kind::Oltp(oltp) = &workload.kind
            && !oltp.is_external()
            && let Some((program, package)) = engine::databases::missing(oltp.server)
        {
            let remedy = "`--set server=sqlite` needs none";
            return Err(Failure::missing(format!(
                "workload {} needs {program}, which is not installed: {}; {remedy}",
                workload.name,
                lanes::missing::remedy(package)
            )));
        }
        if let Kind::Programs(programs) = &workload.kind
            && let Some((program, package)) = engine::programs::missing(programs)
        {
            return Err(Failure::missing(format!(
                "workload {} starts {program}, which is not installed: {}",
                workload.name,
                lanes::missing::remedy(&package)
            )));
        }
        let Kind::Operations(operations) = &workload.kind else { continue };
        let missing = engine::missing_tools(operations);
        if missing.is_empty() {
            continue;
        }
        let list = |words: Vec<&str>, between: &str| {
            let mut kept: Vec<&str> = Vec::new();
            for word in words {
                if !kept.contains(&word) {
                    kept.push(word);
                }
            }
            kept.join(between)
        };
        let names = list(missing.iter().map(|tool| tool.name).collect(), ", ");
        let packages = list(missing.iter().map(|tool| tool.package).collect(), " ");
        return Err(Failure::missing(format!(
            "workload {} starts a process for each operation and lacks {names}: {}",
            workload.name,
            lanes::missing::remedy(&packages)
        )));
    }
    Ok(())
}

/// What the kernel allows is enough for all appenders.
///
/// # Errors
/// Names the limit and how to raise it.
pub fn check_limits(plan: &Plan) -> Result<(), Failure> {
    let scope = limits_of(&plan.lanes);
    for workload in &plan.workloads {
        let Kind::Appenders(appenders) = &workload.kind else { continue };
        let checked = match scope {
            Limits::Nothing => Ok(()),
            Limits::Processes => engine::check_process_limit(appenders),
            Limits::All => engine::check_limits(appenders),
        };
        checked.map_err(|said| Failure::missing(format!("workload {}: {said}", workload.name)))?;
    }
    Ok(())
}

/// Which of this machine's limits appenders meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limits {
    /// None: all lanes live in QEMU, whose own kernel has its own; the agent there refuses by name what it cannot do.
    Nothing,
    /// Each process and thread of user-mode Linux is a process of this machine too.
    Processes,
    /// All of them.
    All,
}

fn limits_of(lanes: &[LaneSpec]) -> Limits {
    let of = |lane: &LaneSpec| match &lane.venue {
        Some(Venue::Qemu(_)) => Limits::Nothing,
        Some(Venue::Uml) => Limits::Processes,
        _ => Limits::All,
    };
    lanes.iter().map(of).max().unwrap_or(Limits::All)
}

/// The lane with the least room for the work: half of what its image, its device or its disks hold, and of a directory what
/// is free but for a reserve. `None` where that cannot be told yet.
pub fn room(lanes: &[LaneSpec], on: &Ground, lane_size: Bytes) -> Option<Room> {
    let device = |path: &Path| std::fs::File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0))).ok();
    let of = |lane: &LaneSpec, disk: u64| lanes::capacity::of_lane(lane, disk).1 / 2;
    let room = |lane: &LaneSpec| match (&lane.contestant, &lane.venue, on) {
        (Contestant::Directory(path), _, _) => {
            let status = rustix::fs::statvfs(path).ok()?;
            let free = status.f_bavail.saturating_mul(status.f_frsize);
            Some(Room { bytes: free.saturating_sub(DIRECTORY_RESERVE_BYTES), grows: false })
        }
        (_, Some(Venue::Device(path)), _) | (_, None, Ground::Device(path)) => {
            device(path).map(|bytes| Room { bytes: of(lane, bytes), grows: false })
        }
        (_, None, Ground::Disks(disks)) => {
            let least = disks.iter().filter_map(|disk| device(disk)).min();
            least.map(|bytes| Room { bytes: of(lane, bytes), grows: false })
        }
        _ => Some(Room { bytes: of(lane, lane_size.get()), grows: true }),
    };
    lanes.iter().filter_map(room).min_by_key(|room| room.bytes)
}

/// The options at the end of the line that runs a race again, defaults that could change spelt out.
pub struct Tail<'a> {
    /// What every race takes.
    pub terms: &'a Terms,
    /// The lanes.
    pub lanes: &'a [LaneSpec],
    /// What their devices are held to.
    pub throttles: &'a Throttles,
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
            Ground::Disks(disks) => {
                let names: Vec<String> = disks.iter().map(|disk| disk.display().to_string()).collect();
                push("--disks", names.join(","));
            }
            Ground::Images(_) => {}
        }
        push("--lane-size", self.lane_size.to_string());
        if let Some(budget) = self.terms.budget {
            push("--budget", format!("{budget}s"));
        }
        if let Rounds::Fixed(rounds) = self.rounds {
            push("--rounds", rounds.to_string());
        }
        for limits in self.throttles.to_options() {
            push("--throttle", limits);
        }
        push("--margin", format!("{}%", self.terms.margin * 100.0));
        push("--seed", self.seed.to_string());
        if let Some(cpus) = self.terms.guest_cpus {
            push("--guest-cpus", cpus.to_string());
        }
        if let Some(memory) = self.terms.guest_memory {
            push("--guest-memory", memory.to_string());
        }
        for device in &self.terms.erase {
            push("--erase", device.display().to_string());
        }
        let switches = [
            (self.terms.guest_sync, "--guest-sync"),
            // Without it the line would be refused.
            (self.terms.allow_programs, "--allow-programs"),
        ];
        line.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()));
        if self.terms.with_self {
            line.push("--with-self".to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
