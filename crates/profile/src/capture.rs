//! Windows of one group in one lane, added up: addresses become names, threads get their roles.

use crate::Window;
use crate::states::{Beside, DeviceTimes, ThreadTimes, UNSEEN};
use crate::symbols::Symbols;
use model::profile::{Activity, DeviceTime, Profile, StackTime, ThreadRole, ThreadTime};
use model::trial::DeviceUse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Stacks of one group in one lane that are kept. Chosen: with their names they stay below 200 KiB.
const MOST_STACKS: usize = 1200;
/// Innermost functions that are kept of all others, and the frame that stands for those above them.
const MOST_LEAVES: usize = 300;
const RARE: &str = "rare_stacks";
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
    /// A window in which the device was not looked at.
    unwatched: bool,
    /// A window in which completions were missed, so that the device's own counters tell.
    counted: bool,
    roles: BTreeMap<ThreadRole, ThreadTime>,
    names: Names,
    stacks: BTreeMap<Key, Beside>,
}

/// Whose, what it did, and its frames, outermost first.
type Key = (ThreadRole, Activity, Vec<u32>);

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
    /// Adds a window. `counters`: what the device itself counted in it, if that is known.
    pub fn add(&mut self, window: &Window, symbols: &Kernel, lane: &LaneProcesses, counters: Option<&DeviceUse>) {
        let symbols = &symbols.0;
        let counted = counters.filter(|_| window.times.watched);
        let counted = counted.filter(|counters| misses_completions(&window.times.device, counters));
        self.counted |= counted.is_some();
        let nanoseconds = window.times.device.window.sum();
        self.seconds += nanoseconds as f64 / 1e9;
        self.windows += 1;
        self.lost += window.events.lost;
        self.unwatched |= !window.times.watched;
        let seen = window.times.device;
        let device = counted.map_or(seen, |counters| by_counters(counters, &seen, nanoseconds));
        self.add_device(&device);
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
            self.add_waits(role, thread, &frames, &|wait| match counted {
                Some(_) => spread(wait, thread, &device),
                None => wait,
            });
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

    fn add_waits<'a>(
        &mut self,
        role: ThreadRole,
        thread: &ThreadTimes,
        frames: &dyn Fn(u32) -> Vec<&'a str>,
        split: &dyn Fn(Beside) -> Beside,
    ) {
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
                self.add_stack(role, Activity::Wait, &frames, split(*beside));
            }
        }
        let of = self.roles.entry(role).or_insert(nothing(role));
        of.cpu_seconds += thread.on_cpu as f64 / 1e9;
        of.runnable_seconds += thread.runnable as f64 / 1e9;
        of.waiting_seconds += waiting as f64 / 1e9;
    }

    /// `frames`: innermost first.
    fn add_stack(&mut self, role: ThreadRole, activity: Activity, frames: &[&str], time: Beside) {
        let told = without_the_interrupted(frames).iter().rev().filter(|name| !EVERYWHERE.contains(name));
        let told: Vec<u32> = told.map(|name| self.names.id(name)).collect();
        self.stacks.entry((role, activity, told)).or_default().add(time);
    }

    /// What a record keeps of it. `operations` and `operations_per_second`: of the windows.
    pub fn profile(
        mut self,
        (workload, lane, group): (&str, &str, &str),
        operations: u64,
        operations_per_second: f64,
    ) -> Profile {
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let (all, left_out) = self.kept();
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
            pass_seconds: 0.0,
            operations,
            operations_per_second,
            samples: self.samples,
            lost_events: self.lost,
            device: DeviceTime {
                watched: self.windows > 0 && !self.unwatched,
                by_counters: self.counted,
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
            left_out_seconds: seconds(left_out),
        }
    }

    /// The stacks that a record has room for, those with the most time first, and the nanoseconds of the others. Of stacks
    /// that each took little the innermost functions are kept, together.
    fn kept(&mut self) -> (Vec<(Key, Beside)>, u64) {
        let largest_first =
            |a: &(Key, Beside), b: &(Key, Beside)| b.1.sum().cmp(&a.1.sum()).then_with(|| a.0.cmp(&b.0));
        let mut all: Vec<_> = std::mem::take(&mut self.stacks).into_iter().collect();
        all.sort_by(largest_first);
        let small = all.split_off(all.len().min(MOST_STACKS));
        let rare = self.names.id(RARE);
        let mut by_leaf: BTreeMap<Key, Beside> = BTreeMap::new();
        for ((role, activity, frames), time) in small {
            let Some(leaf) = frames.last().copied() else {
                by_leaf.entry((role, activity, Vec::new())).or_default().add(time);
                continue;
            };
            // What a thread of the kernel's is tells its main function.
            let main = frames.iter().take(if role == ThreadRole::Kernel { 2.min(frames.len() - 1) } else { 0 });
            let told = main.copied().chain([rare, leaf]).collect();
            by_leaf.entry((role, activity, told)).or_default().add(time);
        }
        let mut by_leaf: Vec<_> = by_leaf.into_iter().collect();
        by_leaf.sort_by(largest_first);
        let left_out = by_leaf.split_off(by_leaf.len().min(MOST_LEAVES));
        all.extend(by_leaf);
        all.sort_by(largest_first);
        (all, left_out.iter().map(|(_, time)| time.sum()).sum())
    }
}

/// Completions are missed that are more than a tenth of what the device counted, or requests seem to take more than a tenth
/// longer, and a millisecond, than it counted: without its completion a request seems to be under way for ever.
const MISSED: f64 = 0.1;
const LEAST_MISSED: f64 = 0.001;

/// Whether the device completed more than was seen: a kernel may lose events of interrupts on idle CPUs. The device counts
/// a request from when it is made, so that no request that was seen whole takes longer.
fn misses_completions(seen: &DeviceTimes, counters: &DeviceUse) -> bool {
    let of_data = counters.reads + counters.writes;
    let missed = of_data.saturating_sub(seen.completed) + counters.flushes.saturating_sub(seen.flushed);
    let longer = (seen.in_flight + seen.flushing) as f64 / 1e9 - counters.queue_seconds;
    missed as f64 > MISSED * (of_data + counters.flushes) as f64
        || (of_data > 0 && longer > MISSED * counters.queue_seconds + LEAST_MISSED)
}

/// A window's times by the device's counters. Its busy time is counted in ticks of the kernel's clock, so that few short
/// requests make it look busy: it was not for longer than its requests took together.
/// Kernels before 5.5 count no flushes: then those that were seen stand.
fn by_counters(counters: &DeviceUse, seen: &DeviceTimes, window: u64) -> DeviceTimes {
    let nanoseconds = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
    let (flushed, flushing) = match counters.flushes {
        0 => (seen.flushed, seen.flushing),
        flushes => (flushes, nanoseconds(counters.flush_seconds)),
    };
    let flush = flushing.min(window);
    let requests = nanoseconds(counters.queue_seconds).saturating_sub(nanoseconds(counters.flush_seconds));
    let busy = nanoseconds(counters.busy_seconds).min(requests).min(window - flush);
    DeviceTimes {
        window: Beside { flush, busy, queued: 0, idle: window - flush - busy },
        in_flight: requests,
        queued: 0,
        flushing,
        completed: counters.reads + counters.writes,
        flushed,
    }
}

/// Splits a wait of a thread's by what the device did in the whole window, as if it was at work while the thread waited.
fn spread(wait: Beside, thread: &ThreadTimes, device: &DeviceTimes) -> Beside {
    let waits: u64 = thread.waits.values().map(|of| of.sum()).sum();
    let of = |nanoseconds: u64| {
        (u128::from(wait.sum()) * u128::from(nanoseconds.min(waits)) / u128::from(waits.max(1))) as u64
    };
    let flush = of(device.window.flush);
    let busy = of(device.window.busy).min(wait.sum() - flush);
    Beside { flush, busy, queued: 0, idle: wait.sum() - flush - busy }
}

/// The frames of an interrupt without those of whom it interrupted, who has nothing to do with it; innermost first.
fn without_the_interrupted<'a, 'b>(frames: &'b [&'a str]) -> &'b [&'a str] {
    let is_entry = |name: &&str| {
        (name.starts_with("asm_") && (name.ends_with("interrupt") || name.starts_with("asm_sysvec_")))
            || matches!(*name, "el1_interrupt" | "el1h_64_irq" | "el1h_64_irq_handler")
    };
    frames.iter().rposition(is_entry).map_or(frames, |entry| &frames[..=entry])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_not_the_interrupted_functions() {
        let stack = ["handle_softirqs", "common_interrupt", "asm_common_interrupt", "ext4_map_blocks", "vfs_write"];
        assert_eq!(without_the_interrupted(&stack), &stack[..3]);
        assert_eq!(without_the_interrupted(&stack[3..]), &stack[3..]);
        let timer = ["sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt", "vfs_write"];
        assert_eq!(without_the_interrupted(&timer), &timer[..2]);
        assert_eq!(without_the_interrupted(&[]), &[] as &[&str]);
    }

    #[test]
    fn of_rare_stacks_their_innermost_functions_are_kept() {
        let mut capture = Capture::default();
        for at in 0..MOST_STACKS as u64 + 50 {
            let outer = format!("f{at}");
            let time = Beside { idle: 10_000 - at, ..Beside::default() };
            capture.add_stack(ThreadRole::Caller, Activity::Cpu, &["leaf", &outer], time);
        }
        let all: u64 = capture.stacks.values().map(|time| time.sum()).sum();
        let profile = capture.profile(("w", "l", "g"), 1, 1.0);
        assert_eq!(profile.stacks.len(), MOST_STACKS + 1);
        let told: f64 = profile.stacks.iter().map(|stack| stack.seconds).sum();
        assert!((told * 1e9 - all as f64).abs() < 1.0 && profile.left_out_seconds == 0.0, "{told} of {all}");
        let rare =
            profile.stacks.iter().find(|stack| profile.names(stack).next() == Some(RARE)).expect("they are together");
        assert_eq!(profile.names(rare).collect::<Vec<_>>(), [RARE, "leaf"]);
    }

    /// Completions that nobody saw: the device's counters tell, and a wait is the device's as far as that worked.
    #[test]
    fn where_completions_are_missed_counters_tell() {
        let seen = DeviceTimes { completed: 7, in_flight: 400_000_000_000, ..DeviceTimes::default() };
        let counters = DeviceUse { reads: 800, busy_seconds: 1.9, queue_seconds: 0.4, ..DeviceUse::default() };
        assert!(misses_completions(&seen, &counters));
        // One that is never seen to end is enough.
        let all_but_one = DeviceTimes { completed: 799, in_flight: 2_400_000_000, ..seen };
        assert!(misses_completions(&all_but_one, &counters));
        let some_at_the_edge = DeviceTimes { completed: 790, in_flight: 399_000_000, ..seen };
        assert!(!misses_completions(&some_at_the_edge, &counters));
        assert!(!misses_completions(&DeviceTimes::default(), &DeviceUse::default()));
        let told = by_counters(&counters, &seen, 2_000_000_000);
        // Ticks made it look busy; its requests took 0.4 s together.
        assert_eq!(told.window, Beside { flush: 0, busy: 400_000_000, queued: 0, idle: 1_600_000_000 });
        assert_eq!((told.in_flight, told.completed), (400_000_000, 800));
        let wait = Beside { busy: 1_000_000_000, ..Beside::default() };
        let thread = ThreadTimes { waits: BTreeMap::from([(1, wait)]), ..ThreadTimes::default() };
        assert_eq!(spread(wait, &thread, &told), Beside { busy: 400_000_000, idle: 600_000_000, ..Beside::default() });
    }
}
