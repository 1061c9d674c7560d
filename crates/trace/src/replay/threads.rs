//! Threads of the program: who began whom, who saw whose end, and who stood still for the tracer.

use super::order::Order;
use super::survey::Survey;
use std::collections::HashMap;

/// Threads, by their numbers in the trace.
#[derive(Default)]
pub(super) struct Threads {
    /// By thread, until its first call: which threads of the replay it follows, and after how many steps.
    begun_by: Vec<Vec<(u32, u32)>>,
    /// By thread: the nearest of those who began it that does anything.
    parents: Vec<u32>,
    /// By thread: its process.
    processes: Vec<u32>,
    /// By its id: threads of a process, whose end somebody may wait for.
    threads_of: HashMap<u32, Vec<u32>>,
    /// By thread, until its next call: how many steps were done of those whose end it saw.
    seen_ends: HashMap<u32, Vec<(u32, u32)>>,
    /// By thread: for how many nanoseconds it stood still since its last call.
    standing: HashMap<u32, u64>,
}

impl Threads {
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
        begun_by.extend(self.seen_ends.get(&parent).into_iter().flatten());
        loop {
            match survey.thread_of.get(nearest as usize) {
                Some(Some(thread)) => {
                    begun_by.push((*thread, order.steps(*thread)));
                    break;
                }
                Some(None) => nearest = self.parents.get(nearest as usize).copied().unwrap_or(u32::MAX),
                None => break,
            }
        }
        // Those between are passed over from now on.
        self.parents.push(nearest);
        self.begun_by.push(begun_by);
    }

    /// A thread saw the end of a process: its next call follows all that the process did.
    pub(super) fn waited(&mut self, thread: u32, process: u32, survey: &Survey, order: &Order) {
        let Some(threads) = self.threads_of.remove(&process) else { return };
        let ended = threads.iter().filter_map(|&of| survey.thread_of.get(of as usize).copied().flatten());
        self.seen_ends.entry(thread).or_default().extend(ended.map(|of| (of, order.steps(of))));
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
        begun_by.into_iter().chain(self.seen_ends.remove(&thread).unwrap_or_default())
    }
}
