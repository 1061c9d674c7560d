//! A guest in which a command of Fairlane's own runs as it would on a machine with that kernel: with a disk for its files, and
//! the programs and modules that its lanes need.

use crate::above;
use crate::command::{self, find_program};
use crate::failure::{LaneFailure, cannot, failed, privilege, usage};
use crate::filesystems::{self, Filesystem, Home};
pub use crate::guest::protocol::TRACE;
use crate::guest::protocol::{Answer, Ask};
use crate::guest::{Begun, Boot, CarriedTrace, Guest, GuestKind, Kernel, Machine, kvm};
use crate::guest_needs;
use crate::lane_set::guest::{kernel_mounts, try_kvm};
use crate::lane_set::stacked;
use crate::layers;
use crate::missing::missing;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Venue};
use model::stack::MOST_DEVICES;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Where the guest has the disk of its files.
pub const FILES: &str = "/lanes/files";
/// Memory of the guest: images of several cuts are looked at at the same time, each in the page cache.
pub const MEMORY: Bytes = Bytes(1024 * Bytes::MIB);
/// And where it carries a trace, which lies there twice while it boots, beside what the calls come to.
pub const MEMORY_WITH_TRACE: Bytes = Bytes(2048 * Bytes::MIB);
/// Most bytes of a trace that it carries.
pub const MOST_TRACE_BYTES: u64 = 128 * Bytes::MIB;
/// How often what the command says is fetched.
const EVERY: Duration = Duration::from_millis(200);
/// How long a command may take to end that was told to.
const END_PATIENCE: Duration = Duration::from_secs(60);
/// CPUs of a QEMU guest, where the machine has them.
const CPUS: u32 = 2;
/// What every such command needs: its disks are files that a program serves, on loop devices.
const MODULES: [&str; 3] = ["fuse", "loop", "ext4"];
/// Makes the disk of its files, and takes the files out of it again; both need no root.
const MKFS: (&str, &str) = ("mkfs.ext4", "e2fsprogs");
const DEBUGFS: (&str, &str) = ("debugfs", "e2fsprogs");
/// Puts its journal into effect, where the guest died.
const FSCK: (&str, &str) = ("e2fsck", "e2fsprogs");

/// What it takes.
pub struct Terms<'a> {
    /// Which guest, and by which kernel.
    pub venue: &'a Venue,
    /// The lanes of the command.
    pub specs: &'a [LaneSpec],
    /// A folder of the run's own.
    pub folder: &'a Path,
    /// Size of the disk of its files, in bytes; the file behind it is sparse.
    pub disk_bytes: u64,
    /// Files that are further disks of it, as they are.
    pub further_disks: &'a [PathBuf],
    /// The trace that the command reads there at [`TRACE`]; `None`: it reads none.
    pub trace: Option<&'a CarriedTrace>,
    /// Fairlane's own program.
    pub program: PathBuf,
}

/// The guest, running.
pub struct CommandGuest {
    guest: Guest,
    entry: EntryId,
    disk: PathBuf,
}

/// What a command needs of a guest.
struct Needs {
    kind: GuestKind,
    kernel: Kernel,
    modules: Vec<&'static str>,
    programs: Vec<PathBuf>,
}

/// Refuses what cannot run there, before anything is made: a lane that is no filesystem of the guest's kernel, and programs
/// that are missing.
///
/// # Errors
/// [`LaneFailure::Usage`] or [`LaneFailure::Privilege`], with the remedy.
pub fn check(venue: &Venue, specs: &[LaneSpec]) -> Result<(), LaneFailure> {
    needs(venue, specs).map(drop)
}

fn needs(venue: &Venue, specs: &[LaneSpec]) -> Result<Needs, LaneFailure> {
    let (kind, named) = match venue {
        Venue::Uml => (GuestKind::Uml, None),
        Venue::Qemu(named) => (GuestKind::Qemu, named.as_deref()),
        _ => return Err(failed("a command runs in user-mode Linux or in QEMU")),
    };
    let kernel = Kernel::find(kind, named)?;
    let mut modules = MODULES.to_vec();
    let mut programs = vec![program(MKFS)?];
    program(DEBUGFS)?;
    program(FSCK)?;
    for spec in specs {
        let row = row(spec)?;
        if !kernel_mounts(&kernel, row) {
            let release = &kernel.release;
            return Err(privilege(format!(
                "the {} kernel {release} lacks {}; {}",
                kind.venue(),
                row.mounted_as(),
                guest_needs::other_kernels(row, Some(kind))
            ))
            .in_lane(&spec.name));
        }
        modules.push(kernel.modules.of_filesystem(row).unwrap_or(row.module));
        for name in programs_of(row) {
            let path = program((name, row.package)).map_err(|error| error.in_lane(&spec.name))?;
            if !programs.contains(&path) {
                programs.push(path);
            }
        }
    }
    for spec in specs {
        let disks = spec.disks();
        if disks > MOST_DEVICES {
            return Err(usage(format!("it stands on {disks} disks, and {MOST_DEVICES} are the most; take fewer"))
                .in_lane(&spec.name));
        }
        for told in &spec.layers {
            let layer = stacked::check_layer(told, kind, &kernel).map_err(|error| error.in_lane(&spec.name))?;
            modules.extend(layers::helpers(told));
            modules.extend(layers::drivers(told));
            for &named in layer.programs {
                let path = program(named).map_err(|error| error.in_lane(&spec.name))?;
                if !programs.contains(&path) {
                    programs.push(path);
                }
            }
        }
    }
    for above in specs.iter().filter_map(|spec| above::find(&spec.above.as_ref()?.name)) {
        modules.extend([above.helpers, above.drivers].concat());
    }
    modules.retain(|module| !module.is_empty());
    Ok(Needs { kind, kernel, modules, programs })
}

fn row(spec: &LaneSpec) -> Result<&'static Filesystem, LaneFailure> {
    let row = match &spec.contestant {
        Contestant::Filesystem(name) => filesystems::find(name),
        _ => None,
    };
    row.filter(|row| row.home == Home::Block).ok_or_else(|| {
        usage("it is no filesystem of Fairlane's table that stands on a disk; name one such as ext4 or xfs")
            .in_lane(&spec.name)
    })
}

/// What makes it, looks at it and repairs it.
fn programs_of(row: &'static Filesystem) -> impl Iterator<Item = &'static str> {
    let checker = row.checker.into_iter().flat_map(|checker| [checker.look.first(), checker.repair.first()]);
    row.mkfs.first().into_iter().chain(checker.flatten()).copied()
}

fn program((name, package): (&str, &str)) -> Result<PathBuf, LaneFailure> {
    find_program(name).ok_or_else(|| privilege(missing(name, package)))
}

impl CommandGuest {
    /// Starts it.
    ///
    /// # Errors
    /// What the machine or the guest's kernel says; nothing of it runs then.
    pub fn boot(terms: &Terms, journal: &mut Journal, stop: &AtomicBool) -> Result<CommandGuest, LaneFailure> {
        let Needs { kind, kernel, modules, programs } = needs(terms.venue, terms.specs)?;
        let disk = terms.folder.join("files.image");
        let made = File::create_new(&disk).and_then(|file| file.set_len(terms.disk_bytes));
        made.map_err(|error| cannot(format!("make {}", disk.display()), error))?;
        let words = [MKFS.0, "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"];
        let words = words.iter().map(|word| (*word).to_owned()).chain([disk.display().to_string()]);
        command::run(&words.collect::<Vec<_>>(), stop)?;
        let host = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let mut boot = Boot {
            machine: Machine {
                kind,
                kernel,
                cpus: CPUS.min(host),
                memory: if terms.trace.is_some() { MEMORY_WITH_TRACE } else { MEMORY },
                disks: [disk.clone()].into_iter().chain(terms.further_disks.iter().cloned()).collect(),
                sync: false,
                discards: true,
                kvm: false,
            },
            folder: terms.folder.join("guest"),
            program: terms.program.clone(),
            modules,
            programs,
            trace: terms.trace.cloned(),
        };
        if kind == GuestKind::Qemu {
            boot.machine.kvm = match kvm::known(&boot.machine.kernel.path) {
                Some(works) => works,
                None => try_kvm(&boot, journal, stop)?,
            };
        }
        let entry = journal.will(Thing::Guest { folder: boot.folder.clone() })?;
        let mut keeper = 0;
        let booted = Guest::boot(&boot, stop, &mut |begun| match begun {
            Begun::Keeper(pid) => {
                keeper = pid;
                journal.learned_process(entry, pid)
            }
            Begun::Session(session) => journal.learned_session(entry, session, keeper),
        });
        let guest = match booted {
            Ok(guest) => guest,
            Err(error) => {
                journal.done(entry)?;
                return Err(error);
            }
        };
        let started = CommandGuest { guest, entry, disk };
        let mount = Ask::Mount {
            filesystem: "ext4".to_owned(),
            source: Path::new("/dev").join(Machine::disk_name(kind, 0)),
            options: Vec::new(),
            target: FILES.into(),
            above: None,
            replace: None,
        };
        match started.guest.ask(&mount, stop) {
            Ok(_) => Ok(started),
            Err(error) => {
                started.end(journal)?;
                Err(error)
            }
        }
    }

    /// Runs a command to its end; answers its exit status. `say` is handed what it says, in pieces. Ctrl-C reaches it too.
    ///
    /// # Errors
    /// Where the guest is gone.
    pub fn run(
        &self,
        arguments: Vec<String>,
        say: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Result<i32, LaneFailure> {
        // The guest itself goes on until the command has ended.
        let never = AtomicBool::new(false);
        self.guest.ask(&Ask::Run { arguments }, &never)?;
        let (mut from, mut told) = (0, None);
        loop {
            if stop.load(Ordering::Relaxed) {
                if told.is_none() {
                    self.guest.ask(&Ask::EndRun { kill: false }, &never)?;
                }
                if told.get_or_insert_with(Instant::now).elapsed() > END_PATIENCE {
                    // What hangs in its kernel goes with it.
                    self.guest.kill();
                    return Err(LaneFailure::Interrupted);
                }
            }
            match self.guest.ask(&Ask::Said { from }, &never)? {
                Answer::Said { text, bytes, ended } => {
                    from += bytes;
                    say(&text);
                    match ended {
                        Some(status) => return Ok(status),
                        None if bytes == 0 => std::thread::sleep(EVERY),
                        None => {}
                    }
                }
                other => return Err(failed(format!("the guest answered {other:?} when it was asked what was said"))),
            }
        }
    }

    /// Runs a command, and kills it after so long; answers what it said until then, and its exit status (137: it was killed).
    ///
    /// # Errors
    /// Where the guest is gone.
    pub fn run_and_kill(&self, arguments: Vec<String>, after: Duration) -> Result<(String, i32), LaneFailure> {
        let never = AtomicBool::new(false);
        self.guest.ask(&Ask::Run { arguments }, &never)?;
        std::thread::sleep(after);
        self.guest.ask(&Ask::EndRun { kill: true }, &never)?;
        let mut said = String::new();
        loop {
            match self.guest.ask(&Ask::Said { from: said.len() as u64 }, &never)? {
                Answer::Said { text, ended, .. } => {
                    said += &text;
                    match ended {
                        Some(status) => return Ok((said, status)),
                        None => std::thread::sleep(EVERY),
                    }
                }
                other => return Err(failed(format!("the guest answered {other:?} when it was asked what was said"))),
            }
        }
    }

    /// Powers it off; answers the disk of its files.
    ///
    /// # Errors
    /// Where some of it stays.
    pub fn end(self, journal: &mut Journal) -> Result<PathBuf, LaneFailure> {
        // Of a guest that died the disk says what came to it.
        let _ = self.guest.ask(&Ask::Unmount { target: FILES.into() }, &AtomicBool::new(false));
        self.guest.end();
        self.guest.leave_nothing()?;
        journal.done(self.entry)?;
        Ok(self.disk)
    }
}

/// Makes the disk of the files whole of a guest that died; nothing of it is mounted here.
///
/// # Errors
/// What e2fsck says where it cannot.
pub fn replay_journal(disk: &Path) -> Result<(), LaneFailure> {
    let words = [program(FSCK)?.display().to_string(), "-fy".to_owned(), disk.display().to_string()];
    // A status that is no error of its own says what it repaired: what is there now, the copy shows.
    match command::run(&words, &AtomicBool::new(false)) {
        Err(LaneFailure::Failed(_)) | Ok(_) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Copies files and folders of the top of the disk of its files into a folder that is there; nothing of the disk is mounted
/// here. What is not there is passed over.
///
/// # Errors
/// What debugfs says.
pub fn copy_out(disk: &Path, names: &[&str], to: &Path) -> Result<(), LaneFailure> {
    // It splits its request at spaces and knows no more than quotes: what could end one is nowhere in the path.
    let (program, target) = (program(DEBUGFS)?.display().to_string(), to.to_str().unwrap_or("\\").to_owned());
    if target.contains(['"', '\\', '\n']) {
        return Err(usage(format!(
            "{} has a quote, a backslash or bytes that are no UTF-8 in its name, which debugfs cannot be told; work in another folder",
            to.display()
        )));
    }
    let names: String = names.iter().map(|name| format!("/{name} ")).collect();
    let request = format!("rdump {names}\"{target}\"");
    let words = [program, "-R".to_owned(), request, disk.display().to_string()];
    command::run(&words, &AtomicBool::new(false)).map(drop)
}
