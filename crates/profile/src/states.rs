//! Events in order become times: of each thread on a CPU, runnable and waiting, and of the lane's device.
//!
//! Each wait is split by what the device did meanwhile: it flushed, it had requests, or it had none.

use crate::events::{Event, Events, Left, Request, StackId, What};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The stack of a wait that began before anybody looked.
pub(crate) const UNSEEN: StackId = StackId::MAX;

/// Nanoseconds by what the device did: flushed, had other requests alone, had none while some waited in front of it, had
/// none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Beside {
    pub(crate) flush: u64,
    pub(crate) busy: u64,
    pub(crate) queued: u64,
    pub(crate) idle: u64,
}

impl Beside {
    pub(crate) fn sum(self) -> u64 {
        self.flush + self.busy + self.queued + self.idle
    }

    fn since(self, before: Beside) -> Beside {
        Beside {
            flush: self.flush - before.flush,
            busy: self.busy - before.busy,
            queued: self.queued - before.queued,
            idle: self.idle - before.idle,
        }
    }

    pub(crate) fn add(&mut self, other: Beside) {
        self.flush += other.flush;
        self.busy += other.busy;
        self.queued += other.queued;
        self.idle += other.idle;
    }
}

/// A thread's times in a window, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ThreadTimes {
    /// Its process; 0: it was never seen on a CPU.
    pub(crate) process: u32,
    pub(crate) on_cpu: u64,
    pub(crate) runnable: u64,
    /// By the stack that it waits in.
    pub(crate) waits: BTreeMap<StackId, Beside>,
    /// Samples on a CPU by stack.
    pub(crate) samples: BTreeMap<StackId, u64>,
}

/// The device's times in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DeviceTimes {
    /// The window by what the device did.
    pub(crate) window: Beside,
    /// Nanoseconds of each request but flushes, added up.
    pub(crate) in_flight: u64,
    /// The same of what waits in front of the device.
    pub(crate) queued: u64,
    /// The same of flushes.
    pub(crate) flushing: u64,
    /// Requests that were completed in the window, and flushes.
    pub(crate) completed: u64,
    pub(crate) flushed: u64,
}

/// What a window shows.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) threads: HashMap<u32, ThreadTimes>,
    pub(crate) device: DeviceTimes,
    /// The lane has a device whose requests are seen.
    pub(crate) watched: bool,
}

/// A thread's state since a moment.
#[derive(Clone, Copy)]
struct Now {
    state: State,
    since: Beside,
}

#[derive(Clone, Copy)]
enum State {
    Running,
    Runnable,
    Waiting(StackId),
}

/// Goes through events in order of time.
struct States<'a> {
    window: Range<u64>,
    devices: &'a [u32],
    time: u64,
    /// Of the window so far.
    passed: Beside,
    /// Requests at a device, by where they begin: a completion may be one of several of its request.
    in_flight: HashMap<(u32, u64, bool), u32>,
    /// What waits in front of each device, by its first sector, and all of it.
    queued: BTreeMap<(u32, u64), u32>,
    waiting: u64,
    data: u64,
    flushes: u64,
    now: HashMap<u32, Now>,
    times: Times,
}

/// The times of a window, in nanoseconds of the events' clock. `devices`: the numbers of the lane's own.
pub(crate) fn times(events: &mut Events, window: Range<u64>, devices: &[u32]) -> Times {
    // Each ring is in order; all together they are not.
    events.events.sort_by_key(|event| event.time);
    let of = |event: &Event| match event.what {
        What::Queued(request) => (devices.contains(&request.device), false),
        What::Issued(request) => (false, devices.contains(&request.device)),
        _ => (false, false),
    };
    let (queues, issues) = events.events.iter().map(of).fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
    // Device mapper and its like take what is made for them and never give it on under their own name.
    let watched = !devices.is_empty() && (issues || !queues);
    let devices = if watched { devices } else { &[] };
    let mut states = States {
        window,
        devices,
        time: 0,
        passed: Beside::default(),
        in_flight: HashMap::new(),
        queued: BTreeMap::new(),
        waiting: 0,
        data: 0,
        flushes: 0,
        now: HashMap::new(),
        times: Times { watched, ..Times::default() },
    };
    for event in &events.events {
        states.take(event);
    }
    states.end()
}

impl States<'_> {
    /// Time goes on; what of it lies in the window counts.
    fn advance(&mut self, to: u64) {
        let clip = |time: u64| time.clamp(self.window.start, self.window.end);
        let passed = clip(to) - clip(self.time);
        self.time = to;
        match (self.flushes, self.data, self.waiting) {
            (1.., ..) => self.passed.flush += passed,
            (0, 1.., _) => self.passed.busy += passed,
            (0, 0, 1..) => self.passed.queued += passed,
            (0, 0, 0) => self.passed.idle += passed,
        }
        self.times.device.queued += passed * self.waiting;
        self.times.device.in_flight += passed * self.data;
        self.times.device.flushing += passed * self.flushes;
    }

    fn take(&mut self, event: &Event) {
        self.advance(event.time);
        match event.what {
            What::Arrival => self.runs(event),
            What::Sample(stack) => {
                self.runs(event);
                if self.window.contains(&event.time)
                    && let Some(thread) = self.times.threads.get_mut(&event.thread)
                {
                    *thread.samples.entry(stack).or_default() += 1;
                }
            }
            What::Switch { next, left, stack } => {
                self.see(event.thread, event.process, State::Running);
                match left {
                    Left::RunsOn => self.turn(event.thread, Some(State::Runnable)),
                    Left::Waits => self.turn(event.thread, Some(State::Waiting(stack))),
                    Left::Ended => self.turn(event.thread, None),
                }
                self.see(next, 0, State::Waiting(UNSEEN));
                self.turn(next, Some(State::Running));
            }
            What::Waking(thread) => {
                self.see(thread, 0, State::Waiting(UNSEEN));
                // One that is on its way to sleep may be woken before it is off the CPU.
                if matches!(self.now.get(&thread), Some(Now { state: State::Waiting(_), .. })) {
                    self.turn(thread, Some(State::Runnable));
                }
            }
            What::Queued(request) => self.queue(request),
            What::Issued(request) => self.issued(request),
            What::Completed(request) => self.completed(request),
        }
    }

    /// A thread is on a CPU, however it came there.
    fn runs(&mut self, event: &Event) {
        let first = if event.what == What::Arrival { State::Waiting(UNSEEN) } else { State::Running };
        self.see(event.thread, event.process, first);
        if !matches!(self.now.get(&event.thread), None | Some(Now { state: State::Running, .. })) {
            self.turn(event.thread, Some(State::Running));
        }
    }

    /// A thread that was not seen before was in this state since the window opened. The idle threads have number 0.
    fn see(&mut self, thread: u32, process: u32, state: State) {
        if thread == 0 {
            return;
        }
        // Of one that ended and whose number came again, the time before is not known.
        let since = if self.times.threads.contains_key(&thread) { self.passed } else { Beside::default() };
        self.now.entry(thread).or_insert(Now { state, since });
        let times = self.times.threads.entry(thread).or_default();
        if process != 0 {
            times.process = process;
        }
    }

    /// A thread enters another state; `None`: it has ended.
    fn turn(&mut self, thread: u32, state: Option<State>) {
        let Some(before) = self.now.remove(&thread) else { return };
        self.charge(thread, before);
        if let Some(state) = state {
            self.now.insert(thread, Now { state, since: self.passed });
        }
    }

    fn charge(&mut self, thread: u32, before: Now) {
        let spent = self.passed.since(before.since);
        let Some(times) = self.times.threads.get_mut(&thread).filter(|_| spent.sum() > 0) else { return };
        match before.state {
            State::Running => times.on_cpu += spent.sum(),
            State::Runnable => times.runnable += spent.sum(),
            State::Waiting(stack) => times.waits.entry(stack).or_default().add(spent),
        }
    }

    /// A flush is a request of the device's own making when it is issued: of what waits, only data is known.
    fn queue(&mut self, request: Request) {
        if self.devices.contains(&request.device) && request.sectors > 0 {
            *self.queued.entry((request.device, request.sector)).or_default() += 1;
            self.waiting += 1;
        }
    }

    /// Requests that lie behind one another may be given to the device as one.
    fn issued(&mut self, request: Request) {
        if !self.devices.contains(&request.device) {
            return;
        }
        let (device, first) = (request.device, request.sector);
        let within = (device, first)..(device, first + u64::from(request.sectors));
        let taken: Vec<(u32, u64)> = self.queued.range(within).map(|(place, _)| *place).collect();
        for place in taken {
            self.waiting -= self.queued.remove(&place).map_or(0, u64::from);
        }
        *self.in_flight.entry((device, first, request.flush)).or_default() += 1;
        *(if request.flush { &mut self.flushes } else { &mut self.data }) += 1;
    }

    /// What was issued before anybody looked is not known to be in flight, and is not counted down.
    fn completed(&mut self, request: Request) {
        let key = (request.device, request.sector, request.flush);
        let Some(count) = self.in_flight.get_mut(&key).filter(|count| **count > 0) else { return };
        *count -= 1;
        if *count == 0 {
            self.in_flight.remove(&key);
        }
        *(if request.flush { &mut self.flushes } else { &mut self.data }) -= 1;
        if self.window.contains(&self.time) {
            *(if request.flush { &mut self.times.device.flushed } else { &mut self.times.device.completed }) += 1;
        }
    }

    fn end(mut self) -> Times {
        self.advance(self.window.end.max(self.time));
        for (thread, now) in std::mem::take(&mut self.now) {
            self.charge(thread, now);
        }
        self.times.device.window = self.passed;
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_of(list: &[(u64, u32, What)], window: Range<u64>) -> Times {
        let events = list.iter().map(|&(time, thread, what)| Event { time, process: thread, thread, what }).collect();
        times(&mut Events { events, ..Events::default() }, window, &[7])
    }

    const IO: Request = Request { device: 7, sector: 8, sectors: 8, flush: false };
    const FLUSH: Request = Request { device: 7, sector: 0, sectors: 0, flush: true };

    fn switch(next: u32, left: Left, stack: StackId) -> What {
        What::Switch { next, left, stack }
    }

    #[test]
    fn a_wait_is_split_by_what_the_device_did() {
        // Thread 1 runs to 110, waits in stack 5, is woken at 160, runs again at 170.
        let times = times_of(
            &[
                (110, 1, switch(0, Left::Waits, 5)),
                (115, 9, What::Queued(IO)),
                (120, 9, What::Issued(Request { sector: 0, sectors: 32, ..IO })),
                (130, 9, What::Completed(Request { sector: 0, sectors: 32, ..IO })),
                (130, 9, What::Issued(FLUSH)),
                (150, 9, What::Completed(FLUSH)),
                (160, 9, What::Waking(1)),
                (170, 0, switch(1, Left::RunsOn, 0)),
                (171, 1, What::Arrival),
                (175, 1, What::Sample(3)),
            ],
            100..200,
        );
        let thread = &times.threads[&1];
        assert_eq!((thread.on_cpu, thread.runnable), (10 + 30, 10));
        assert_eq!(thread.waits[&5], Beside { flush: 20, busy: 10, queued: 5, idle: 15 });
        assert_eq!(thread.samples[&3], 1);
        let device = times.device;
        assert_eq!(device.window, Beside { flush: 20, busy: 10, queued: 5, idle: 65 });
        assert_eq!(device.queued, 5);
        assert_eq!((device.in_flight, device.flushing, device.completed, device.flushed), (10, 20, 1, 1));
        assert!(!times.threads.contains_key(&0), "the idle thread is none");
    }

    #[test]
    fn a_thread_whose_wake_up_nobody_told_of_runs_from_its_arrival_on() {
        let times = times_of(
            &[
                (110, 1, switch(0, Left::Waits, 5)),
                (150, 1, What::Arrival),
                (160, 1, switch(0, Left::Waits, 5)),
                // Not even that: a sample at least.
                (180, 1, What::Sample(3)),
                (190, 1, switch(0, Left::Waits, 5)),
            ],
            100..200,
        );
        let thread = &times.threads[&1];
        assert_eq!((thread.on_cpu, thread.runnable, thread.waits[&5].idle), (10 + 10 + 10, 0, 40 + 20 + 10));
    }

    #[test]
    fn only_the_window_counts_and_every_thread_fills_it() {
        let times = times_of(
            &[
                (10, 1, switch(2, Left::Waits, 5)),
                (50, 2, switch(1, Left::RunsOn, 6)),
                (120, 1, switch(2, Left::Waits, 5)),
                (300, 2, switch(1, Left::Waits, 6)),
            ],
            100..200,
        );
        for thread in [1, 2] {
            let of = &times.threads[&thread];
            let waits: u64 = of.waits.values().map(|beside| beside.sum()).sum();
            assert_eq!(of.on_cpu + of.runnable + waits, 100, "{thread}: {of:?}");
        }
        assert_eq!(times.threads[&1].on_cpu, 20);
        assert_eq!(times.threads[&2].runnable, 20);
    }

    #[test]
    fn what_was_not_seen_to_begin_is_said_to_be_unseen() {
        let times =
            times_of(&[(150, 9, What::Waking(1)), (160, 9, What::Completed(IO)), (160, 8, What::Issued(IO))], 100..200);
        assert_eq!(times.threads[&1].waits[&UNSEEN].sum(), 50);
        assert_eq!(times.threads[&1].runnable, 50);
        // Another device's requests are none of the lane's.
        assert_eq!((times.device.completed, times.device.in_flight), (0, 40));
        let other = Request { device: 8, ..IO };
        assert_eq!(times_of(&[(110, 1, What::Issued(other))], 100..200).device.in_flight, 0);
    }

    #[test]
    fn a_device_that_never_gives_requests_on_is_not_looked_at() {
        let times = times_of(&[(110, 1, What::Queued(IO))], 100..200);
        assert!(!times.watched && times.device.queued == 0, "{times:?}");
        assert!(times_of(&[(110, 1, What::Queued(IO)), (120, 1, What::Issued(IO))], 100..200).watched);
        assert!(times_of(&[], 100..200).watched, "it had nothing to do");
        let none = super::times(&mut Events::default(), 100..200, &[]);
        assert!(!none.watched);
    }

    #[test]
    fn a_thread_that_ended_waits_for_nothing() {
        let times = times_of(&[(120, 1, switch(0, Left::Ended, 4))], 100..200);
        assert_eq!((times.threads[&1].on_cpu, times.threads[&1].waits.len()), (20, 0));
    }
}
