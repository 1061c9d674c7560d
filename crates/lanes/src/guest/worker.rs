//! The guest's side of the conversation: what it is asked it does, and what is for an agent it hands on.

use super::errand::Errand;
use super::init::FAILURES;
use super::life::GuestPasts;
use super::protocol::{Answer, Answered, Ask, Asked, CHANNEL, READY};
use super::system::{activity, clock, hello, room};
use crate::command::{self, Running};
use crate::contestant::fill_device;
use crate::failure::{LaneFailure, NotDone, cannot, failed};
use crate::layers::{Holding, Rebuilt, Site, Stack};
use crate::replacing::Replacing;
use crate::{above, filesystems, loop_device, mount, mountinfo, screened_options};
use model::agent::Devices;
use model::lane::LaneSpec;
use model::stack::LayerSpec;
use model::timeline::Look;
use model::trial::SystemUse;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the channel's device may take to show, while its driver looks for it.
const DEVICE_PATIENCE: Duration = Duration::from_secs(10);
/// How long a FUSE program may take until it is mounted, or until it ended after its unmount.
const FUSE_PATIENCE: Duration = Duration::from_secs(15);
/// How long an agent whose input was closed may take to end.
const END_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of a read.
const READ_BYTES: usize = 4096;
/// The out-of-memory killer takes agents first.
const NEVER_KILLED: &str = "-1000";

/// Where a process says how gladly it is taken.
const SCORE: &str = "/proc/self/oom_score_adj";

type Output = Arc<Mutex<File>>;

/// Whoever looks at the guest's system: each call answers what it did since the one before, and of appenders what else
/// shows.
pub type Looking = Box<dyn FnMut() -> (SystemUse, Option<Look>)>;

/// Listens until it is told to power off. `watch` begins to look at the system.
///
/// # Errors
/// When the channel breaks.
pub fn run(watch: &dyn Fn(&Devices, bool) -> Looking) -> Result<(), String> {
    let _ = rustix::thread::set_name(c"fairlane-guest");
    let _ = std::fs::write(SCORE, NEVER_KILLED);
    let channel = open_channel()?;
    let mut input = channel.try_clone().map_err(|error| error.to_string())?;
    let output: Output = Arc::new(Mutex::new(channel));
    send(&output, READY);
    let mut worker = Worker {
        output,
        agents: BTreeMap::new(),
        fuse: BTreeMap::new(),
        replacing: BTreeMap::new(),
        stacks: BTreeMap::new(),
        covered: BTreeMap::new(),
        errand: None,
        pasts: GuestPasts::default(),
        watch,
        looking: BTreeMap::new(),
    };
    let mut line = Vec::new();
    let mut read = 0u64;
    let mut buffer = [0u8; READ_BYTES];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Err("the host closed the channel".to_owned()),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the channel cannot be read: {error}")),
        };
        read += count as u64;
        send(&worker.output, &format!("+{read}"));
        for &byte in &buffer[..count] {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if worker.line(&text) {
                return Ok(());
            }
        }
    }
}

/// Writes a line; the host reads as fast as it can.
fn send(output: &Output, line: &str) {
    let mut file = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    // Without the host nobody is left to tell.
    let _ = file.write_all(&bytes);
}

/// What a filesystem on several disks left registered where it lay before: an older image of it that was laid elsewhere would be taken
/// for a part of that. All disks of a guest are lanes', and what is mounted stays known.
fn forget_other_copies(filesystem: &str, options: &[String]) {
    let Some(row) = filesystems::find(filesystem) else { return };
    let Some((forget, option)) = row.forget.zip(row.further_device_option) else { return };
    if options.iter().any(|word| word.split('=').next() == Some(option)) {
        let _ = forget(Path::new(""));
    }
}

fn open_channel() -> Result<File, String> {
    let path = std::fs::read_to_string(CHANNEL).map_err(|error| format!("{CHANNEL}: {error}"))?;
    let path = Path::new(path.trim());
    let begun = Instant::now();
    while !path.exists() && begun.elapsed() < DEVICE_PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| format!("the channel {} cannot be opened: {error}", path.display()))?;
    // A serial line changes and echoes what passes unless it is told not to; a virtio port does not.
    if let Ok(mut settings) = rustix::termios::tcgetattr(&file) {
        settings.make_raw();
        rustix::termios::tcsetattr(&file, rustix::termios::OptionalActions::Now, &settings)
            .map_err(|error| format!("the channel cannot be made raw: {error}"))?;
    }
    Ok(file)
}

struct Worker<'a> {
    output: Output,
    agents: BTreeMap<u32, Agent>,
    /// FUSE programs by where they are mounted.
    fuse: BTreeMap<PathBuf, Running>,
    /// What lies above a filesystem by where the work happens, and where the filesystem itself is mounted.
    covered: BTreeMap<PathBuf, (LayerSpec, PathBuf)>,
    /// The command that was started last.
    errand: Option<Errand>,
    /// Lives that are lived, and what of them is read.
    pasts: GuestPasts,
    /// Disks that are replaced, by where their filesystem is mounted.
    replacing: BTreeMap<PathBuf, Replacing>,
    /// Layers of lanes, as they stand.
    stacks: BTreeMap<u32, Stack>,
    watch: &'a dyn Fn(&Devices, bool) -> Looking,
    /// Who looks at the system for each lane.
    looking: BTreeMap<u32, Looking>,
}

struct Agent {
    pid: Pid,
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
}

impl Worker<'_> {
    /// Does a line; answers whether it was the last.
    fn line(&mut self, line: &str) -> bool {
        if let Some(text) = line.strip_prefix("A ") {
            let Ok(asked) = serde_json::from_str::<Asked>(text) else { return false };
            let last = asked.ask == Ask::PowerOff;
            let answer = self.answer(asked.ask).unwrap_or_else(Answer::from);
            let answered = Answered { serial: asked.serial, answer };
            send(&self.output, &format!("A {}", serde_json::to_string(&answered).unwrap_or_default()));
            return last;
        }
        if let Some((lane, text)) = line.strip_prefix('L').and_then(|rest| rest.split_once(' '))
            && let Some(agent) = lane.parse().ok().and_then(|lane: u32| self.agents.get_mut(&lane))
            && let Some(input) = &mut agent.input
        {
            // One that ended tells so by itself.
            let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
        }
        false
    }

    fn answer(&mut self, ask: Ask) -> Result<Answer, LaneFailure> {
        match ask {
            Ask::Hello => Ok(Answer::Hello(hello())),
            Ask::Mount { ref target, .. } | Ask::MountFuse { ref target, .. } => {
                let target = target.clone();
                self.mount_lane(ask).inspect_err(|_| {
                    // Its own error is told; what cannot be unmounted is asked for once more.
                    let _ = self.unmount(&target);
                })
            }
            Ask::Stack { lane, disks, layers, devices, again } => self.stack(lane, (&disks, again), &layers, devices),
            Ask::Unstack { lane } => self.unstack(lane).map(|rebuilt| Answer::Unstacked { rebuilt }),
            Ask::Format { command, device, further } => format_device(&command, &device, &further),
            Ask::Try { lane, disks, mkfs, fuse } => try_lane(&lane, &disks, (mkfs.as_deref(), fuse.as_deref())),
            Ask::Unmount { target } => self.unmount(&target),
            Ask::DropCache { devices } => self.drop_caches(&devices).map(|()| Answer::Done),
            Ask::Watch { lane, devices, appenders } => {
                self.looking.insert(lane, (self.watch)(&devices, appenders));
                Ok(Answer::Done)
            }
            Ask::Look { lane } => match self.looking.get_mut(&lane) {
                Some(look) => {
                    let (system, beside) = look();
                    Ok(Answer::Looked { system: Box::new(system), beside })
                }
                None => Err(failed("nobody watches for this lane")),
            },
            Ask::Start { lane } => self.start(lane).map(|()| Answer::Done),
            Ask::Stop { lane, kill } => {
                if let Some(agent) = self.agents.get(&lane) {
                    let _ = kill_process(agent.pid, if kill { Signal::KILL } else { Signal::TERM });
                }
                Ok(Answer::Done)
            }
            Ask::End { lane } => {
                self.end(lane);
                Ok(Answer::Done)
            }
            Ask::Clock => Ok(clock()),
            Ask::Activity { devices } => Ok(activity(&devices)),
            Ask::Live { ref target, .. } | Ask::ReadCold { ref target, .. } => {
                let base = self.base_of(target);
                self.pasts.answer(ask, base)
            }
            Ask::Lived { .. } | Ask::HasRead { .. } => self.pasts.answer(ask, PathBuf::new()),
            Ask::Room { target } => room(&target),
            ask @ (Ask::Run { .. } | Ask::Said { .. } | Ask::EndRun { .. }) => self.run_command(ask),
            Ask::Crash => crash(),
            Ask::BendClock { tick_microseconds } => bend_clock(tick_microseconds).map(|()| Answer::Done),
            Ask::PowerOff => {
                let lanes: Vec<u32> = self.agents.keys().copied().collect();
                lanes.into_iter().for_each(|lane| self.end(lane));
                Ok(Answer::Done)
            }
        }
    }

    /// Mounts a lane, and begins to rebuild on it what is to be; where it fails, a part of it may stand.
    fn mount_lane(&mut self, ask: Ask) -> Result<Answer, LaneFailure> {
        match ask {
            Ask::Mount { filesystem, source, options, target, above, replace } => {
                forget_other_copies(&filesystem, &options);
                let mounted = self.mount(&target, above, |_, at| {
                    mount::mount(&filesystem, &source.to_string_lossy(), &options, at)
                })?;
                self.begin_rebuilds(|device| *device == source)?;
                if let Some(replace) = replace {
                    self.replacing.insert(target.clone(), Replacing::begin(*replace, &self.base_of(&target))?);
                }
                Ok(mounted)
            }
            Ask::MountFuse { command, target, above } => self.mount(&target, above, |worker, at| {
                let running = mount_fuse(&command, at)?;
                worker.fuse.insert(at.to_owned(), running);
                worker.begin_rebuilds(|device| command.iter().any(|word| Path::new(word) == device))
            }),
            other => Err(failed(format!("{other:?} mounts nothing; this is a fault of Fairlane, report it"))),
        }
    }

    /// Mounts a lane's filesystem by `how`, which is told where, and what lies above it.
    fn mount(
        &mut self,
        target: &Path,
        above: Option<LayerSpec>,
        how: impl FnOnce(&mut Self, &Path) -> Result<(), LaneFailure>,
    ) -> Result<Answer, LaneFailure> {
        make_folder(target)?;
        let Some(above) = above else {
            how(self, target)?;
            return Ok(mounted(target));
        };
        let below = above::below_in_guest(target)?;
        // From here on both are unmounted, whatever fails.
        self.covered.insert(target.to_owned(), (above.clone(), below.clone()));
        how(self, &below)?;
        above::mount(&above, &above::Place { below: &below, target }).map_err(with_module_failures)?;
        Ok(mounted(&below))
    }

    /// What concerns a command.
    fn run_command(&mut self, ask: Ask) -> Result<Answer, LaneFailure> {
        match ask {
            Ask::Run { arguments } => self.errand = Some(Errand::start(&arguments)?),
            Ask::Said { from } => {
                let (text, bytes, ended) = self.errand()?.said(from)?;
                return Ok(Answer::Said { text, bytes, ended });
            }
            Ask::EndRun { kill } => self.errand()?.stop(if kill { Signal::KILL } else { Signal::INT })?,
            _ => {}
        }
        Ok(Answer::Done)
    }

    fn errand(&mut self) -> Result<&mut Errand, LaneFailure> {
        self.errand.as_mut().ok_or_else(|| failed("no command was started"))
    }

    fn stack(
        &mut self,
        lane: u32,
        (disks, again): (&[PathBuf], bool),
        layers: &[LayerSpec],
        devices: u32,
    ) -> Result<Answer, LaneFailure> {
        self.unstack(lane)?;
        let begun = Instant::now();
        let holding = if again { Holding::WholeStack } else { Holding::Anything };
        let stack = Stack::build((Site::Guest, &AtomicBool::new(false)), lane, (disks, holding), layers, devices);
        let stack = match stack {
            Ok(stack) => stack,
            Err((error, left)) => {
                self.keep_standing(lane, *left);
                return Err(with_module_failures(error));
            }
        };
        let (devices, bytes) = (stack.devices.clone(), stack.bytes());
        // From here on it is taken down before another takes its place.
        self.stacks.insert(lane, stack);
        Ok(Answer::Stacked { devices, bytes: bytes?, seconds: begun.elapsed().as_secs_f64() })
    }

    /// Takes the layers of a lane down; what does not go is tried again the next time.
    fn unstack(&mut self, lane: u32) -> Result<Option<Rebuilt>, LaneFailure> {
        let Some(mut stack) = self.stacks.remove(&lane) else { return Ok(None) };
        let taken_down = stack.take_down(None);
        self.keep_standing(lane, stack);
        taken_down
    }

    fn keep_standing(&mut self, lane: u32, stack: Stack) {
        if stack.stands() {
            self.stacks.insert(lane, stack);
        }
    }

    /// Has the layers rebuild what they are to, of which a filesystem was mounted just now.
    fn begin_rebuilds(&mut self, is_mounted: impl Fn(&Path) -> bool) -> Result<(), LaneFailure> {
        let of = |stack: &&mut Stack| stack.devices.iter().any(|device| is_mounted(device));
        self.stacks.values_mut().find(of).map_or(Ok(()), Stack::begin_rebuilds)
    }

    /// Where the filesystem is mounted of a lane whose work happens in `target`.
    fn base_of(&self, target: &Path) -> PathBuf {
        self.covered.get(target).map_or_else(|| target.to_owned(), |(_, below)| below.clone())
    }

    fn unmount(&mut self, target: &Path) -> Result<Answer, LaneFailure> {
        self.pasts.end(target);
        // Whatever it says, the mount is free then.
        let replaced = self.replacing.remove(target).map(Replacing::end);
        let base = self.base_of(target);
        if let Some((above, below)) = self.covered.get(target) {
            above::unmount(above, &above::Place { below, target })?;
        }
        if mount::is_mounted(&base)? {
            mount::unmount_patiently(&base)?;
        }
        self.covered.remove(target);
        self.fuse.remove(&base).map_or(Ok(()), wait_for_end)?;
        Ok(match replaced {
            None => Answer::Done,
            Some(Ok(replaced)) => Answer::Unmounted { replaced: Some(replaced), failure: String::new() },
            // It is unmounted all the same.
            Some(Err(failure)) => Answer::Unmounted { replaced: None, failure: failure.to_string() },
        })
    }

    /// Of these devices, and of every layer below them.
    fn drop_caches(&self, devices: &[PathBuf]) -> Result<(), LaneFailure> {
        let stands_on = |stack: &&Stack| stack.devices.iter().any(|device| devices.contains(device));
        let below = self.stacks.values().filter(stands_on);
        below.into_iter().try_for_each(|stack| stack.drop_caches(&drop_cache))?;
        devices.iter().try_for_each(|device| drop_cache(device))
    }

    fn start(&mut self, lane: u32) -> Result<(), LaneFailure> {
        self.end(lane);
        let mut command = Command::new("/proc/self/exe");
        command.arg("agent").stdin(Stdio::piped()).stdout(Stdio::piped());
        as_others_are_killed(&mut command);
        let mut child = command.spawn().map_err(|error| cannot("start an agent", error))?;
        let pid = Pid::from_child(&child);
        let input = child.stdin.take();
        let lines = child.stdout.take().ok_or_else(|| failed("the agent has no output"))?;
        let output = self.output.clone();
        let reader = std::thread::Builder::new()
            .stack_size(256 << 10)
            .spawn(move || {
                for line in BufReader::new(lines).lines().map_while(Result::ok) {
                    send(&output, &format!("L{lane} {line}"));
                }
                let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                send(&output, &format!("X{lane} {ended}"));
            })
            .map_err(|error| cannot("start a thread", error))?;
        self.agents.insert(lane, Agent { pid, input, reader: Some(reader) });
        Ok(())
    }

    /// Closing its input is an agent's sign to end.
    fn end(&mut self, lane: u32) {
        let Some(mut agent) = self.agents.remove(&lane) else { return };
        agent.input.take();
        let begun = Instant::now();
        let reader = agent.reader.take();
        // Its end is told before another takes its place; one that hangs in the kernel is not waited for.
        let mut killed = false;
        while reader.as_ref().is_some_and(|reader| !reader.is_finished()) && begun.elapsed() < 2 * END_PATIENCE {
            if begun.elapsed() > END_PATIENCE && !std::mem::replace(&mut killed, true) {
                let _ = kill_process(agent.pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What a child would inherit from us, it does not: the out-of-memory killer may take it.
pub(super) fn as_others_are_killed(command: &mut Command) {
    // SAFETY: between fork and exec only the async-signal-safe calls open, write and close are made, with
    // texts that were made before.
    unsafe {
        command.pre_exec(|| {
            let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file >= 0 {
                libc::write(file, c"0".as_ptr().cast(), 1);
                libc::close(file);
            }
            Ok(())
        });
    }
}

/// While it lives the out-of-memory killer may take this process, and what it starts inherits that.
struct Mortal;

impl Mortal {
    fn begin() -> Self {
        let _ = std::fs::write(SCORE, "0");
        Mortal
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = std::fs::write(SCORE, NEVER_KILLED);
    }
}

fn make_folder(path: &Path) -> Result<(), LaneFailure> {
    std::fs::create_dir_all(path).map_err(|error| cannot(format!("make {}", path.display()), error))
}

/// Names the modules that could not be loaded: the layer may have been one of them.
fn with_module_failures(error: LaneFailure) -> LaneFailure {
    let failures = std::fs::read_to_string(FAILURES).unwrap_or_default();
    match error {
        LaneFailure::Failed(said) if !failures.trim().is_empty() => {
            failed(format!("{said}; not loaded: {}", failures.lines().collect::<Vec<_>>().join(", ")))
        }
        error => error,
    }
}

/// Runs mkfs on a block device, or on several.
fn format_device(command: &[String], device: &Path, further: &[PathBuf]) -> Result<Answer, LaneFailure> {
    let output = {
        // mkfs must not outlive everybody when memory runs out; nothing else starts meanwhile.
        let _mortal = Mortal::begin();
        let further = further.iter().map(|device| device.display().to_string());
        let words: Vec<String> = fill_device(command, device).into_iter().chain(further).collect();
        command::run(&words, &AtomicBool::new(false))?
    };
    further.iter().map(PathBuf::as_path).chain([device]).try_for_each(drop_cache)?;
    Ok(Answer::Formatted { stdout: output.stdout, seconds: output.seconds })
}

/// Tries a lane. What was cached before the host wrote to its disks must be gone, and nothing of this one be left to be written.
fn try_lane(
    lane: &LaneSpec,
    disks: &[PathBuf],
    (mkfs, fuse): (Option<&Path>, Option<&Path>),
) -> Result<Answer, LaneFailure> {
    let drop_caches = || disks.iter().try_for_each(|disk| drop_cache(disk));
    drop_caches()?;
    // As in `format_device`.
    let _mortal = mkfs.or(fuse).map(|_| Mortal::begin());
    let tried = screened_options::try_in_guest(lane, disks, (mkfs, fuse))?;
    drop_caches().map(|()| Answer::Tried { tried })
}

fn crash() -> Result<Answer, LaneFailure> {
    let written = std::fs::write("/proc/sysrq-trigger", "c");
    Err(failed(format!("the kernel goes on ({written:?})")))
}

/// Writes what the kernel caches of a block device, and forgets it.
fn drop_cache(device: &Path) -> Result<(), LaneFailure> {
    let file = File::open(device).map_err(|error| cannot(format!("open {}", device.display()), error))?;
    loop_device::flush_buffers(&file).map_err(|error| cannot(format!("drop the cache of {}", device.display()), error))
}

/// adjtimex(2), which moves the monotonic clock's speed too.
fn bend_clock(tick_microseconds: i64) -> Result<(), LaneFailure> {
    // SAFETY: a zeroed `timex` is a valid one, and the kernel reads and writes no more than that.
    let answer = unsafe {
        let mut terms: libc::timex = std::mem::zeroed();
        terms.modes = libc::ADJ_TICK;
        terms.tick = tick_microseconds;
        libc::adjtimex(&mut terms)
    };
    match answer {
        -1 => Err(cannot("bend the clock", std::io::Error::last_os_error())),
        _ => Ok(()),
    }
}

fn mounted(target: &Path) -> Answer {
    let mounts = mountinfo::read().unwrap_or_default();
    let entry = mountinfo::at(&mounts, target);
    Answer::Mounted { super_options: entry.map(|entry| entry.super_options.clone()).unwrap_or_default() }
}

/// The program stays in the foreground, so that its end is known. One that ends says why.
fn mount_fuse(command: &[String], target: &Path) -> Result<Running, LaneFailure> {
    let program = command.first().map_or("", String::as_str);
    let mut running = {
        // As in `format_device`.
        let _mortal = Mortal::begin();
        Running::start(command)?
    };
    let begun = Instant::now();
    loop {
        if mount::is_mounted(target)? {
            running.ignore_output();
            return Ok(running);
        }
        if let Some(status) = running.wait(5)? {
            return Err(match running.not_done(status) {
                _ if status.success() => failed(format!("{program} mounted nothing and ended ({status})")),
                NotDone::Refused { failure, .. } => {
                    failed(format!("{failure}; correct the lane's mount options, or leave them out one by one"))
                }
                why => why.into(),
            });
        }
        // It is killed where it goes on.
        if begun.elapsed() > FUSE_PATIENCE {
            return Err(failed(format!("{program} mounted nothing within 15 s")));
        }
    }
}

fn wait_for_end(mut running: Running) -> Result<(), LaneFailure> {
    let begun = Instant::now();
    while running.wait(5)?.is_none() {
        if begun.elapsed() > FUSE_PATIENCE {
            return Err(failed(
                "the FUSE program went on after its unmount and was killed; what it still held is lost",
            ));
        }
    }
    Ok(())
}
