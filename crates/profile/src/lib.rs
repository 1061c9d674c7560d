//! What the kernel does while a lane works: stacks on the CPU, waits off it, requests at the device.
//!
//! A [`Profiler`] looks at all CPUs through perf events between [`Profiler::start`] and [`Profiler::stop`]; what lies in a
//! measured window becomes times ([`Window`]), and windows of one group in one lane become a [`model::profile::Profile`].
//! Nothing is mounted and nothing stays: everything hangs on descriptors of this process.

mod capture;
mod denied;
mod events;
mod stacks;
mod states;
mod symbols;
mod tracefs;

pub use capture::{Capture, Kernel, LaneProcesses};
pub use denied::Denied;

use events::{Events, Rings};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use symbols::Symbols;
use tracefs::Tracefs;

/// How often rings are emptied.
const EMPTIED_EVERY: Duration = Duration::from_millis(5);

/// The kernel's own namespace of process numbers (`PROC_PID_INIT_INO` of linux/proc_ns.h).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Why nothing can be profiled here: the fact, then the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// perf events are refused.
    #[error(
        "the kernel refuses perf events ({0}); run as root, with descriptors enough (ulimit -n), or allow them: sysctl \
         kernel.perf_event_paranoid=-1"
    )]
    Refused(#[source] std::io::Error),
    /// There is no tracefs, or no right to it.
    #[error(
        "the kernel's tracepoints cannot be read ({0}); run as root, on a kernel with tracefs, or let your group read it: mount -o \
         remount,gid=GROUP /sys/kernel/tracing"
    )]
    NoTracefs(#[source] rustix::io::Errno),
    /// A tracepoint is missing.
    #[error("this kernel has no tracepoint {0}; use one with CONFIG_EVENT_TRACING and block tracing")]
    NoTracepoint(&'static str),
    /// A tracepoint lacks a field.
    #[error("this kernel's tracepoints lack the field {0}, so nothing can be read of them")]
    NoField(&'static str),
    /// More happened in a window than is kept.
    #[error("more happened in a window than can be kept; profile shorter work")]
    TooMuch,
    /// It was not started, or its reader is gone.
    #[error("nobody looked meanwhile")]
    DidNotLook,
    /// Threads have other numbers here than in the kernel's events.
    #[error(
        "this is a container with process numbers of its own, and the kernel's events have others; run it outside, or with --pid=host"
    )]
    Namespace,
    /// Somebody without root's rights lacks several of these.
    #[error("{0}")]
    Denied(Denied),
    /// Functions have no addresses.
    #[error("/proc/kallsyms shows no addresses; run as root, or allow it: sysctl kernel.kptr_restrict=1")]
    NoSymbols,
}

impl ProfileError {
    /// Whether it is a matter of rights, which can be given.
    fn is_of_rights(&self) -> bool {
        match self {
            ProfileError::Refused(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
            ProfileError::NoTracefs(errno) => [rustix::io::Errno::ACCESS, rustix::io::Errno::PERM].contains(errno),
            ProfileError::NoSymbols => true,
            _ => false,
        }
    }
}

/// Looks at all CPUs.
pub struct Profiler {
    kernel: Kernel,
    state: Option<State>,
}

enum State {
    Idle(Box<Rings>),
    Running { stop: Arc<AtomicBool>, reader: JoinHandle<(Box<Rings>, Events)>, started: u64 },
}

/// One measured window.
pub struct Window {
    pub(crate) events: Events,
    pub(crate) times: states::Times,
}

/// The tracepoints of this kernel, where events are those of this process's own numbers.
fn tracefs() -> Result<Tracefs, ProfileError> {
    if std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() != FIRST_PID_NAMESPACE) {
        return Err(ProfileError::Namespace);
    }
    let tracefs = Tracefs::open().map_err(ProfileError::NoTracefs)?;
    if tracefs.is_refused() { Err(ProfileError::NoTracefs(rustix::io::Errno::ACCESS)) } else { Ok(tracefs) }
}

impl Profiler {
    /// Opens everything.
    ///
    /// # Errors
    /// What this kernel refuses or lacks.
    pub fn open() -> Result<Profiler, ProfileError> {
        let opened = || -> Result<Profiler, ProfileError> {
            let rings = Rings::open(&tracefs()?)?;
            let kernel = Kernel(Symbols::read().ok_or(ProfileError::NoSymbols)?);
            Ok(Profiler { kernel, state: Some(State::Idle(Box::new(rings))) })
        };
        // Who lacks one right mostly lacks others too: all of them are named at once.
        opened().map_err(|error| match Denied::look() {
            Some(denied) if error.is_of_rights() => ProfileError::Denied(denied),
            _ => error,
        })
    }

    /// Whether it could be opened, as far as one CPU tells; names of functions are not asked for.
    ///
    /// # Errors
    /// What this kernel refuses or lacks.
    pub fn probe() -> Result<(), ProfileError> {
        Rings::probe(&tracefs()?)
    }

    /// The kernel's functions.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Begins to look.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn start(&mut self) -> Result<(), ProfileError> {
        let mut rings = match self.state.take() {
            Some(State::Idle(rings)) => rings,
            running => {
                self.state = running;
                return Ok(());
            }
        };
        if let Err(error) = rings.start() {
            self.state = Some(State::Idle(rings));
            return Err(error);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let reader = std::thread::spawn(move || {
            let mut events = Events::default();
            while !stopped.load(Ordering::Relaxed) {
                rings.drain(&mut events);
                std::thread::sleep(EMPTIED_EVERY);
            }
            // What comes while it is emptied is not wanted any more.
            let _ = rings.stop();
            rings.drain(&mut events);
            (rings, events)
        });
        self.state = Some(State::Running { stop, reader, started: now() });
        Ok(())
    }

    /// Looks no longer. `window`: seconds from [`Profiler::start`] to where the window opened, and its length; `devices`: the
    /// lane's own, as /dev knows them (`loop0`).
    ///
    /// # Errors
    /// It did not look, or more happened than it can keep.
    pub fn stop(&mut self, window: (f64, f64), devices: &[&str]) -> Result<Window, ProfileError> {
        let (stop, reader, started) = match self.state.take() {
            Some(State::Running { stop, reader, started }) => (stop, reader, started),
            idle => {
                self.state = idle;
                return Err(ProfileError::DidNotLook);
            }
        };
        stop.store(true, Ordering::Relaxed);
        let (rings, mut events) = reader.join().map_err(|_| ProfileError::DidNotLook)?;
        self.state = Some(State::Idle(rings));
        let nanoseconds = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
        let begin = started + nanoseconds(window.0);
        let devices: Vec<u32> = devices.iter().filter_map(|name| device_number(name)).collect();
        if events.is_full {
            return Err(ProfileError::TooMuch);
        }
        let times = states::times(&mut events, begin..begin + nanoseconds(window.1), &devices);
        Ok(Window { events, times })
    }
}

/// Nanoseconds of the events' clock.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The number of a block device inside the kernel, as tracepoints have it: 12 bits of major, 20 of minor.
fn device_number(name: &str) -> Option<u32> {
    if name.contains('/') || name.starts_with('.') {
        return None;
    }
    // A partition's requests are those of its disk.
    let own = std::path::PathBuf::from(format!("/sys/class/block/{name}"));
    let folder = match own.join("partition").exists() {
        true => own.canonicalize().ok()?.parent()?.to_owned(),
        false => own,
    };
    let text = std::fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?)
}

/// A process and all that it started, as far as they live: by their parents in /proc.
pub fn with_descendants(process: u32) -> BTreeSet<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<(u32, u32)> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = BTreeSet::from([process]);
    loop {
        let before = found.len();
        found.extend(all.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid).collect::<Vec<_>>());
        if found.len() == before {
            return found;
        }
    }
}
