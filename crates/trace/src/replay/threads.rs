//! Threads of the program: who began whom, who saw whose end, and who stood still for the tracer.

use super::order::Order;
use super::survey::Survey;
use std::collections::HashMap;

/// Bytes of a thread with what is known of it, but for whom it follows.
const THREAD_BYTES: u64 = 192;

/// Which threads of the replay somebody follows, each once and in order, and after how many of their steps.
type Follows = Vec<(u32, u32)>;

/// Threads, by their numbers in the trace.
#[derive(Default)]
pub(super) struct Threads {
    /// Whom threads follow that had no call so far, all together: a child follows whom its parent does.
    followed: u64,
    /// By thread, until its first call: which threads of the replay it follows, and after how many steps.
    begun_by: Vec<Follows>,
    /// By thread: the nearest of those who began it that does anything.
    parents: Vec<u32>,
    /// By thread: its process.
    processes: Vec<u32>,
    /// By its id: threads of a process, whose end somebody may wait for.
    threads_of: HashMap<u32, Vec<u32>>,
    /// By thread, until its next call: how many steps were done of those whose end it saw.
    seen_ends: HashMap<u32, Follows>,
    /// By thread: for how many nanoseconds it stood still since its last call.
    standing: HashMap<u32, u64>,
}

/// Whoever follows the later step of a thread follows the earlier one.
fn note(list: &mut Follows, (thread, steps): (u32, u32)) {
    match list.binary_search_by_key(&thread, |(of, _)| *of) {
        Ok(at) => list[at].1 = list[at].1.max(steps),
        Err(at) => list.insert(at, (thread, steps)),
    }
}

impl Threads {
    /// Bytes that all of it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.parents.len() as u64 * THREAD_BYTES + self.followed * size_of::<(u32, u32)>() as u64
    }

    /// The next thread: it follows what the nearest of those who began it has done by now, if that one does anything.
    pub(super) fn begins(&mut self, parent: u32, process: u32, survey: &Survey, order: &Order) {
        let of_process = self.threads_of.entry(process).or_default();
        // A number may be another process's after the first has ended.
        if self.processes.get(parent as usize) != Some(&process) {
            of_process.clear();
        }
        of_process.push(self.parents.len() as u32);
        self.processes.push(process);
        let mut nearest = parent;
        // A parent that did nothing so far follows those whom it was begun by itself.
        let mut begun_by = self.begun_by.get(parent as usize).cloned().unwrap_or_default();
        // What the parent saw the end of is over for the child too.
        self.seen_ends.get(&parent).into_iter().flatten().for_each(|&of| note(&mut begun_by, of));
        loop {
            match survey.thread_of.get(nearest as usize) {
                Some(Some(thread)) => {
                    note(&mut begun_by, (*thread, order.steps(*thread)));
                    break;
                }
                Some(None) => nearest = self.parents.get(nearest as usize).copied().unwrap_or(u32::MAX),
                None => break,
            }
        }
        // Those between are passed over from now on.
        self.parents.push(nearest);
        self.followed += begun_by.len() as u64;
        self.begun_by.push(begun_by);
    }

    /// A thread saw the end of a process: its next call follows all that the process did.
    pub(super) fn waited(&mut self, thread: u32, process: u32, survey: &Survey, order: &Order) {
        let Some(threads) = self.threads_of.remove(&process) else { return };
        let ended = threads.iter().filter_map(|&of| survey.thread_of.get(of as usize).copied().flatten());
        let seen = self.seen_ends.entry(thread).or_default();
        let before = seen.len();
        ended.for_each(|of| note(seen, (of, order.steps(of))));
        self.followed += (seen.len() - before) as u64;
    }

    /// A thread stood still.
    pub(super) fn stood(&mut self, thread: u32, nanoseconds: u64) {
        let standing = self.standing.entry(thread).or_default();
        *standing = standing.saturating_add(nanoseconds);
    }

    /// For how many nanoseconds a thread stood still before the call that it begins now.
    pub(super) fn standing(&mut self, thread: u32) -> u64 {
        self.standing.remove(&thread).unwrap_or(0)
    }

    /// Which threads of the replay a call follows that a thread begins now, and after how many steps.
    pub(super) fn follows(&mut self, thread: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
        let begun_by = self.begun_by.get_mut(thread as usize).map(std::mem::take).unwrap_or_default();
        let seen_ends = self.seen_ends.remove(&thread).unwrap_or_default();
        self.followed = self.followed.saturating_sub((begun_by.len() + seen_ends.len()) as u64);
        begun_by.into_iter().chain(seen_ends)
    }
}
