//! Events of all CPUs: samples of stacks on them, switches and wake-ups, and requests at block devices.

use crate::ProfileError;
use crate::stacks::Stacks;
use crate::tracefs::{Tracefs, Tracepoint};
use perf_event::data::Record;
use perf_event::events::{Software, Tracepoint as PerfTracepoint};
use perf_event::{Builder, Clock, SampleFlag, Sampler};
use std::ops::Range;

/// Samples of each CPU a second. Chosen: a second and a lane is told within some percent, and a sample costs some
/// microseconds.
pub(crate) const SAMPLES_PER_SECOND: u64 = 1999;
/// Bytes of the rings of one CPU, all together below 8 MiB; each is a power of two.
const SWITCHES_BYTES: usize = 4 << 20;
const SAMPLES_BYTES: usize = 1 << 20;
const WAKINGS_BYTES: usize = 1 << 20;
const REQUESTS_BYTES: usize = 512 << 10;
/// Events of one window that are kept, some 40 bytes each; more are counted as lost.
const MOST_EVENTS: usize = 2_000_000;
/// Frames of a stack.
const MOST_FRAMES: u16 = 48;

/// What happened on a CPU at a moment (nanoseconds of `CLOCK_MONOTONIC`), and which thread was on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) time: u64,
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) what: What,
}

/// A stack's number in [`Stacks`].
pub(crate) type StackId = u32;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The thread was running here; an empty stack is one outside of the kernel.
    Sample(StackId),
    /// The thread left the CPU to `next`.
    Switch { next: u32, left: Left, stack: StackId },
    /// It came to the CPU.
    Arrival,
    /// It wakes another one.
    Waking(u32),
    /// A request was made, and waits in front of its device.
    Queued(Request),
    /// It was given to the device, maybe with others; it is known by its first sector until it is completed.
    Issued(Request),
    /// It was completed.
    Completed(Request),
}

/// How a thread left a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// It would have gone on.
    RunsOn,
    /// It waits.
    Waits,
    /// It has ended.
    Ended,
}

/// A request at a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) device: u32,
    pub(crate) sector: u64,
    pub(crate) sectors: u32,
    /// No data: the device makes safe what it holds.
    pub(crate) flush: bool,
}

/// Which events a ring has, with the places of its fields.
enum Kind {
    Samples,
    Switches {
        previous: Range<usize>,
        state: Range<usize>,
        next: Range<usize>,
    },
    Wakings {
        thread: Range<usize>,
    },
    Requests {
        device: Range<usize>,
        sector: Range<usize>,
        sectors: Range<usize>,
        rwbs: Range<usize>,
        step: fn(Request) -> What,
    },
}

/// The rings of all CPUs.
pub(crate) struct Rings {
    rings: Vec<(Kind, Sampler)>,
}

/// What was read of them.
#[derive(Default)]
pub(crate) struct Events {
    pub(crate) events: Vec<Event>,
    pub(crate) stacks: Stacks,
    pub(crate) lost: u64,
    /// No more are kept.
    pub(crate) is_full: bool,
}

impl Rings {
    /// Opens them on every CPU that is online, stopped.
    pub(crate) fn open(tracefs: &Tracefs) -> Result<Rings, ProfileError> {
        Rings::open_on(tracefs, online_cpus())
    }

    /// Opens them on one CPU and lets them go: whether the kernel allows it.
    pub(crate) fn probe(tracefs: &Tracefs) -> Result<(), ProfileError> {
        Rings::open_on(tracefs, online_cpus().into_iter().take(1)).map(drop)
    }

    fn open_on(tracefs: &Tracefs, cpus: impl IntoIterator<Item = usize>) -> Result<Rings, ProfileError> {
        let found = |name: &'static str| tracefs.tracepoint(name).ok_or(ProfileError::NoTracepoint(name));
        let [switch, waking] = [found("sched/sched_switch")?, found("sched/sched_waking")?];
        let [issue, complete] = [found("block/block_rq_issue")?, found("block/block_rq_complete")?];
        let queue = found("block/block_bio_queue")?;
        // The kernel lowers both where it was slow.
        let limit = |name: &str, wanted: u64| {
            let allowed = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
            allowed.and_then(|text| text.trim().parse::<u64>().ok()).map_or(wanted, |most| most.min(wanted).max(1))
        };
        let rate = limit("perf_event_max_sample_rate", SAMPLES_PER_SECOND);
        let frames = limit("perf_event_max_stack", u64::from(MOST_FRAMES)) as u16;
        let mut rings = Vec::new();
        for cpu in cpus {
            let mut add = |kind: Kind, mut builder: Builder, bytes: usize| -> Result<(), ProfileError> {
                builder.any_pid().one_cpu(cpu).include_kernel().clockid(Clock::MONOTONIC).exclude_callchain_user(true);
                builder.sample(SampleFlag::TID | SampleFlag::TIME).sample_max_stack(frames);
                builder.wakeup_watermark(bytes / 2).enabled(false);
                let sampler =
                    builder.build().and_then(|counter| counter.sampled(bytes)).map_err(ProfileError::Refused)?;
                rings.push((kind, sampler));
                Ok(())
            };
            let mut samples = Builder::new(Software::CPU_CLOCK);
            // An idle CPU tells nothing, and is not woken for it.
            // Behind the stack something has to follow: the reader takes an empty one at the end of a record for a cut one.
            samples.sample_frequency(rate).exclude_idle(true).sample(SampleFlag::CALLCHAIN | SampleFlag::RAW);
            add(Kind::Samples, samples, SAMPLES_BYTES)?;
            let mut switches = tracepoint(&switch);
            // Who comes to a CPU is told by itself too: a kernel may lose what its idle threads say.
            switches.sample(SampleFlag::CALLCHAIN).context_switch(true).sample_id_all(true);
            add(switches_of(&switch)?, switches, SWITCHES_BYTES)?;
            add(Kind::Wakings { thread: place(&waking, "pid")? }, tracepoint(&waking), WAKINGS_BYTES)?;
            add(requests_of(&queue, What::Queued)?, tracepoint(&queue), REQUESTS_BYTES)?;
            add(requests_of(&issue, What::Issued)?, tracepoint(&issue), REQUESTS_BYTES)?;
            add(requests_of(&complete, What::Completed)?, tracepoint(&complete), REQUESTS_BYTES)?;
        }
        Ok(Rings { rings })
    }

    /// From here on events are written.
    pub(crate) fn start(&mut self) -> Result<(), ProfileError> {
        self.rings.iter_mut().try_for_each(|(_, ring)| ring.enable()).map_err(ProfileError::Refused)
    }

    /// And from here on none; what is in the rings can still be read.
    pub(crate) fn stop(&mut self) -> Result<(), ProfileError> {
        self.rings.iter_mut().try_for_each(|(_, ring)| ring.disable()).map_err(ProfileError::Refused)
    }

    /// Takes out what is there. Answers whether anything was.
    pub(crate) fn drain(&mut self, into: &mut Events) -> bool {
        let mut any = false;
        for (kind, ring) in &mut self.rings {
            // Who comes to this CPU next, as the one who left it said.
            let mut told = None;
            while let Some(record) = ring.next_record() {
                any = true;
                if record.ty() == SWITCH_CPU_WIDE {
                    let arrival = (record.misc() & SWITCH_OUT == 0).then(|| arrival(&record.to_contiguous())).flatten();
                    arrival
                        .filter(|event| told.take() != Some(event.thread))
                        .into_iter()
                        .for_each(|event| into.keep(event));
                    continue;
                }
                match record.parse_record() {
                    Ok(Record::Lost(lost)) => into.lost += lost.lost,
                    Ok(Record::LostSamples(lost)) => into.lost += lost.lost,
                    Ok(Record::Sample(sample)) => {
                        let (Some(time), Some(process), Some(thread)) = (sample.time(), sample.pid(), sample.tid())
                        else {
                            continue;
                        };
                        let stack = sample.callchain().map_or(0, |chain| into.stacks.id(chain));
                        let raw = sample.raw().unwrap_or_default();
                        // One that has ended has no number any more when it leaves its CPU for the last time.
                        let process = if process == u32::MAX { 0 } else { process };
                        let thread = kind.thread(raw).unwrap_or(thread);
                        if let Some(what) = kind.event(raw, stack) {
                            if let What::Switch { next, .. } = what {
                                told = Some(next);
                            }
                            into.keep(Event { time, process, thread, what });
                        }
                    }
                    Err(_) => into.lost += 1,
                    Ok(_) => {}
                }
            }
        }
        any
    }
}

impl Events {
    fn keep(&mut self, event: Event) {
        if self.events.len() < MOST_EVENTS {
            return self.events.push(event);
        }
        self.lost += 1;
        self.is_full = true;
    }
}

/// `PERF_RECORD_SWITCH_CPU_WIDE` and `PERF_RECORD_MISC_SWITCH_OUT` of linux/perf_event.h.
const SWITCH_CPU_WIDE: u32 = 15;
const SWITCH_OUT: u16 = 1 << 13;

/// Whose arrival a record tells of: it ends with the process, the thread and the time, as every sample of this ring has them.
fn arrival(body: &[u8]) -> Option<Event> {
    let end = body.get(body.len().checked_sub(16)?..)?;
    let at = |place: Range<usize>| number(end, &place);
    let (process, thread) = (at(0..4)? as u32, at(4..8)? as u32);
    Some(Event { time: at(8..16)?, process, thread, what: What::Arrival })
}

impl Kind {
    /// The thread that an event is about, where it says so itself.
    fn thread(&self, raw: &[u8]) -> Option<u32> {
        match self {
            Kind::Switches { previous, .. } => number(raw, previous).map(|thread| thread as u32),
            _ => None,
        }
    }

    fn event(&self, raw: &[u8], stack: StackId) -> Option<What> {
        let number = |place: &Range<usize>| number(raw, place);
        match self {
            Kind::Samples => Some(What::Sample(stack)),
            Kind::Switches { state, next, .. } => {
                Some(What::Switch { next: number(next)? as u32, left: left(number(state)?), stack })
            }
            Kind::Wakings { thread } => Some(What::Waking(number(thread)? as u32)),
            Kind::Requests { device, sector, sectors, rwbs, step } => {
                let (letters, sectors) = (raw.get(rwbs.clone())?, number(sectors)? as u32);
                let flush = letters.first() == Some(&b'F') && sectors == 0;
                let sector = if flush { 0 } else { number(sector)? };
                Some(step(Request { device: number(device)? as u32, sector, sectors, flush }))
            }
        }
    }
}

/// TASK_RUNNING is 0; a task that was preempted has the bit above the reported ones, and 0 below. EXIT_DEAD and EXIT_ZOMBIE
/// are 0x10 and 0x20 (include/linux/sched.h).
fn left(state: u64) -> Left {
    match state & 0xff {
        0 => Left::RunsOn,
        state if state & 0x30 != 0 => Left::Ended,
        _ => Left::Waits,
    }
}

fn tracepoint(of: &Tracepoint) -> Builder<'static> {
    let mut builder = Builder::new(PerfTracepoint::with_id(of.id));
    builder.sample_period(1).sample(SampleFlag::RAW);
    builder
}

fn place(of: &Tracepoint, field: &'static str) -> Result<Range<usize>, ProfileError> {
    of.field(field).ok_or(ProfileError::NoField(field))
}

fn switches_of(of: &Tracepoint) -> Result<Kind, ProfileError> {
    let [previous, state, next] = ["prev_pid", "prev_state", "next_pid"].map(|field| place(of, field));
    Ok(Kind::Switches { previous: previous?, state: state?, next: next? })
}

fn requests_of(of: &Tracepoint, step: fn(Request) -> What) -> Result<Kind, ProfileError> {
    let [device, sector, sectors, rwbs] = ["dev", "sector", "nr_sector", "rwbs"].map(|field| place(of, field));
    Ok(Kind::Requests { device: device?, sector: sector?, sectors: sectors?, rwbs: rwbs?, step })
}

/// A field of one, two, four or eight bytes.
fn number(raw: &[u8], place: &Range<usize>) -> Option<u64> {
    let bytes = raw.get(place.clone())?;
    let mut whole = [0; 8];
    let place = if cfg!(target_endian = "big") { 8usize.checked_sub(bytes.len())?..8 } else { 0..bytes.len() };
    whole.get_mut(place)?.copy_from_slice(bytes);
    Some(u64::from_ne_bytes(whole))
}

/// Numbers of the CPUs that are online: `0-3,8`.
fn online_cpus() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_any_width_are_numbers_and_a_short_sample_is_none() {
        let raw = [1, 0, 0, 0, 2, 1, 0, 0, 9];
        assert_eq!(number(&raw, &(0..4)), Some(u64::from(u32::from_ne_bytes([1, 0, 0, 0]))));
        assert_eq!(number(&raw, &(8..9)), Some(9));
        assert_eq!(number(&raw, &(6..14)), None);
        assert_eq!(number(&[0; 16], &(0..16)), None);
    }

    #[test]
    fn a_flush_is_a_request_without_data() {
        let kind = Kind::Requests { device: 0..4, sector: 4..8, sectors: 8..12, rwbs: 12..16, step: What::Issued };
        let raw = |sectors: u32, rwbs: &[u8; 4]| {
            [&7u32.to_ne_bytes()[..], &64u32.to_ne_bytes()[..], &sectors.to_ne_bytes()[..], &rwbs[..]].concat()
        };
        let request = |sector, sectors, flush| Some(What::Issued(Request { device: 7, sector, sectors, flush }));
        assert_eq!(kind.event(&raw(0, b"FF\0\0"), 0), request(0, 0, true));
        assert_eq!(kind.event(&raw(8, b"FWS\0"), 0), request(64, 8, false), "data with a flush before it");
        assert_eq!(kind.event(&raw(8, b"WS\0\0"), 0), request(64, 8, false));
        assert_eq!(kind.event(&[0; 3], 0), None);
    }

    #[test]
    fn every_cpu_of_this_machine_is_known() {
        assert!(online_cpus().contains(&0), "{:?}", online_cpus());
    }
}
