//! Windows of one group in one lane, added up: addresses become names, threads get their roles.

use crate::Window;
use crate::states::{Beside, DeviceTimes, ThreadTimes, UNSEEN};
use crate::symbols::Symbols;
use model::profile::{Activity, DeviceTime, Profile, StackTime, ThreadRole, ThreadTime};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Stacks of one group in one lane that are kept. Chosen: with their names some 100 KiB.
const MOST_STACKS: usize = 600;
/// Frames above every stack, or below every wait, that tell nothing.
const EVERYWHERE: &[&str] = &[
    "entry_SYSCALL_64_after_hwframe",
    "do_syscall_64",
    "x64_sys_call",
    "el0t_64_sync",
    "el0t_64_sync_handler",
    "el0_svc",
    "do_el0_svc",
    "invoke_syscall",
    "__schedule",
    "schedule",
    "ret_from_fork_asm",
    "ret_from_fork",
];
/// Calls in which a thread waits for others of its program, or for a moment that it chose: no waiting for the lane.
const OWN_WAITS: &[&str] = &[
    "futex_wait",
    "__futex_wait",
    "do_futex",
    "hrtimer_nanosleep",
    "do_nanosleep",
    "ep_poll",
    "do_epoll_wait",
    "do_poll",
    "do_sys_poll",
    "do_select",
    "do_wait",
    "pipe_read",
    "anon_pipe_read",
    "do_sigtimedwait",
    "sigsuspend",
    "unix_stream_read_generic",
];
/// A thread that waits so much of a window in those works for nobody.
const WORKS_FOR_NOBODY: f64 = 0.95;

/// Who works for a lane.
#[derive(Debug, Clone, Default)]
pub struct LaneProcesses {
    /// The agent and what it started.
    pub agent: BTreeSet<u32>,
    /// Processes that are the lane's filesystem.
    pub filesystem: BTreeSet<u32>,
}

/// What the windows of one group in one lane showed.
#[derive(Default)]
pub struct Capture {
    seconds: f64,
    windows: u32,
    samples: u64,
    lost: u64,
    device: DeviceTimes,
    watched: bool,
    roles: BTreeMap<ThreadRole, ThreadTime>,
    names: Names,
    stacks: BTreeMap<(ThreadRole, Activity, Vec<u32>), Beside>,
}

/// Names by number.
#[derive(Default)]
struct Names {
    ids: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }
}

impl Capture {
    /// Adds a window.
    pub fn add(&mut self, window: &Window, symbols: &Kernel, lane: &LaneProcesses) {
        let symbols = &symbols.0;
        let nanoseconds = window.times.device.window.sum();
        self.seconds += nanoseconds as f64 / 1e9;
        self.windows += 1;
        self.lost += window.events.lost;
        self.watched |= window.times.watched;
        self.add_device(&window.times.device);
        let mut threads: BTreeMap<ThreadRole, u32> = BTreeMap::new();
        // A CPU's samples of a window stand for what its threads ran, by role.
        let mut samples: BTreeMap<ThreadRole, (u64, u64)> = BTreeMap::new();
        let mut roles = HashMap::new();
        for (number, thread) in &window.times.threads {
            let frames = |stack: u32| -> Vec<&str> {
                window.events.stacks.frames(stack).iter().map(|address| symbols.name(*address)).collect()
            };
            let Some(role) = role(thread, &frames, lane, nanoseconds) else { continue };
            *threads.entry(role).or_default() += 1;
            let of = samples.entry(role).or_default();
            of.0 += thread.samples.values().sum::<u64>();
            of.1 += thread.on_cpu;
            self.add_waits(role, thread, &frames);
            roles.insert(*number, role);
        }
        for (number, thread) in &window.times.threads {
            let Some(role) = roles.get(number) else { continue };
            let (count, on_cpu) = samples[role];
            for (stack, of) in &thread.samples {
                let frames: Vec<&str> =
                    window.events.stacks.frames(*stack).iter().map(|address| symbols.name(*address)).collect();
                let idle = (u128::from(on_cpu) * u128::from(*of) / u128::from(count.max(1))) as u64;
                self.add_stack(*role, Activity::Cpu, &frames, Beside { idle, ..Beside::default() });
                self.samples += of;
            }
        }
        for (role, count) in threads {
            let of = self.roles.entry(role).or_insert(nothing(role));
            of.threads = of.threads.max(count);
        }
    }

    fn add_device(&mut self, more: &DeviceTimes) {
        self.device.window.add(more.window);
        self.device.in_flight += more.in_flight;
        self.device.queued += more.queued;
        self.device.flushing += more.flushing;
        self.device.completed += more.completed;
        self.device.flushed += more.flushed;
    }

    fn add_waits<'a>(&mut self, role: ThreadRole, thread: &ThreadTimes, frames: &dyn Fn(u32) -> Vec<&'a str>) {
        let mut waiting = 0;
        for (stack, beside) in &thread.waits {
            let frames = if *stack == UNSEEN { Vec::new() } else { frames(*stack) };
            // A thread of the kernel's that waits for work, and one of which nothing is known, work for nobody.
            let works = matches!(role, ThreadRole::Caller | ThreadRole::Filesystem);
            if !works && (frames.is_empty() || waits_for_work(&frames)) {
                continue;
            }
            waiting += beside.sum();
            // Who is no part of the lane waits for what it likes.
            if !matches!(role, ThreadRole::Other | ThreadRole::Profiler) {
                self.add_stack(role, Activity::Wait, &frames, *beside);
            }
        }
        let of = self.roles.entry(role).or_insert(nothing(role));
        of.cpu_seconds += thread.on_cpu as f64 / 1e9;
        of.runnable_seconds += thread.runnable as f64 / 1e9;
        of.waiting_seconds += waiting as f64 / 1e9;
    }

    /// `frames`: innermost first.
    fn add_stack(&mut self, role: ThreadRole, activity: Activity, frames: &[&str], time: Beside) {
        let told = frames.iter().rev().filter(|name| !EVERYWHERE.contains(name));
        let told: Vec<u32> = told.map(|name| self.names.id(name)).collect();
        self.stacks.entry((role, activity, told)).or_default().add(time);
    }

    /// What a record keeps of it. `operations` and `operations_per_second`: of the windows.
    pub fn profile(
        self,
        (workload, lane, group): (&str, &str, &str),
        operations: u64,
        operations_per_second: f64,
    ) -> Profile {
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let mut all: Vec<_> = self.stacks.into_iter().collect();
        all.sort_by(|a, b| b.1.sum().cmp(&a.1.sum()).then_with(|| a.0.cmp(&b.0)));
        let left_out = all.split_off(all.len().min(MOST_STACKS));
        let mut names = Names::default();
        let stacks = all.into_iter().map(|((role, activity, frames), time)| StackTime {
            role,
            activity,
            frames: frames.iter().map(|place| names.id(&self.names.names[*place as usize])).collect(),
            seconds: seconds(time.sum()),
            flush_seconds: seconds(time.flush),
            busy_seconds: seconds(time.busy),
            queued_seconds: seconds(time.queued),
        });
        let stacks = stacks.collect();
        let device = &self.device;
        Profile {
            workload: workload.to_owned(),
            lane: lane.to_owned(),
            group: group.to_owned(),
            window_seconds: self.seconds,
            windows: self.windows,
            operations,
            operations_per_second,
            samples: self.samples,
            lost_events: self.lost,
            device: DeviceTime {
                watched: self.watched,
                requests: device.completed,
                request_seconds: seconds(device.in_flight),
                queued_request_seconds: seconds(device.queued),
                flushes: device.flushed,
                flush_request_seconds: seconds(device.flushing),
                flush_seconds: seconds(device.window.flush),
                busy_seconds: seconds(device.window.busy),
            },
            threads: self.roles.into_values().collect(),
            symbols: names.names,
            stacks,
            left_out_seconds: left_out.iter().map(|(_, time)| seconds(time.sum())).sum(),
        }
    }
}

fn nothing(role: ThreadRole) -> ThreadTime {
    ThreadTime { role, threads: 0, cpu_seconds: 0.0, runnable_seconds: 0.0, waiting_seconds: 0.0 }
}

/// What a thread is to the lane; `None`: one of the agent's that only waits for the others.
fn role<'a>(
    thread: &ThreadTimes,
    frames: &dyn Fn(u32) -> Vec<&'a str>,
    lane: &LaneProcesses,
    window: u64,
) -> Option<ThreadRole> {
    let stacks = || thread.waits.keys().filter(|stack| **stack != UNSEEN).chain(thread.samples.keys());
    let has = |name: &str| stacks().any(|stack| frames(*stack).contains(&name));
    if lane.agent.contains(&thread.process) {
        if has("io_wq_worker") {
            return Some(ThreadRole::IoWorker);
        }
        let own = thread
            .waits
            .iter()
            .filter(|(stack, _)| **stack != UNSEEN && frames(**stack).iter().any(|name| OWN_WAITS.contains(name)));
        let own: u64 = own.map(|(_, beside)| beside.sum()).sum();
        return (own as f64 <= WORKS_FOR_NOBODY * window as f64).then_some(ThreadRole::Caller);
    }
    Some(match thread.process {
        process if lane.filesystem.contains(&process) => ThreadRole::Filesystem,
        process if process == std::process::id() => ThreadRole::Profiler,
        _ if has("kthread") => ThreadRole::Kernel,
        _ => ThreadRole::Other,
    })
}

/// Whether a thread of the kernel's waits in its own main function: nothing is given to it to do. Innermost first.
fn waits_for_work(frames: &[&str]) -> bool {
    const WAITING: &[&str] =
        &["schedule_timeout", "schedule_preempt_disabled", "schedule_hrtimeout_range", "io_schedule"];
    let inner = frames.iter().position(|name| !EVERYWHERE.contains(name) && !WAITING.contains(name));
    let main = frames.iter().rposition(|name| *name == "kthread").map(|kthread| kthread.saturating_sub(1));
    let worker = frames.iter().rposition(|name| *name == "io_wq_worker");
    inner.is_some() && (inner == main || inner == worker || inner == main.map(|main| main + 1))
}

/// The kernel's functions by address.
pub struct Kernel(pub(crate) Symbols);
