//! Threads of the program: how they come and go.

use super::standing::Left;
use super::{Pending, Tracer};
use crate::CaptureError;
use crate::process::{FileContext, Own, Process, parent_of, process_of};
use crate::stops;
use libc::pid_t;
use std::collections::HashMap;
use std::fs::File;
use std::time::{Duration, Instant};
use trace::{Item, MOST_THREADS};

const ANOTHER_ARCHITECTURE: &str = "a program of another architecture ran, as those of 32 bits are: its calls have other numbers, so that \
     what it asked for is missing; capture a build for this machine's own";
/// A new thread is kept stopped no longer, whoever does not tell of it.
const MOST_WAIT: Duration = Duration::from_secs(1);

/// A thread of the program.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) process: pid_t,
    /// In the trace.
    pub(super) number: u32,
    /// Its descriptors and its directory, which others may share.
    pub(super) context: FileContext,
    pub(super) pending: Option<Pending>,
    /// Closes that it told of before they were done, by descriptor: a signal may come between.
    pub(super) closing: HashMap<u64, Pending>,
    /// Since its last call.
    pub(super) left: Option<Left>,
    /// For how long it stood still since for other things.
    pub(super) held: Duration,
    /// Tells its time on a CPU; `None`: nobody asked, or too many are open.
    pub(super) time: Option<File>,
}

/// A thread, among those of its process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sibling {
    pub(super) thread: pid_t,
    /// Where its own memory is, by which its calls in the buffer are known.
    pub(super) own_memory: Option<u64>,
}

impl Tracer {
    /// Gets to know a thread, which another one began.
    pub(super) fn meet(&mut self, thread: pid_t, parent: Option<pid_t>) {
        if self.threads.contains_key(&thread) {
            return;
        }
        let process = process_of(thread).unwrap_or(thread);
        let parent = parent.and_then(|parent| Some((parent, self.threads.get(&parent)?)));
        let of_parent = parent.map(|(parent, of)| (parent, of.process, of.number));
        let context = self.context_of_new((thread, process), parent);
        let number = self.next_thread;
        self.next_thread += 1;
        if number >= MOST_THREADS {
            // What is written by then is a trace, and its reader would refuse one with more.
            self.failed.get_or_insert(CaptureError::Threads(MOST_THREADS));
        }
        let new = Thread {
            process,
            number,
            context,
            pending: None,
            closing: HashMap::new(),
            left: None,
            held: Duration::ZERO,
            time: None,
        };
        self.threads.insert(thread, new);
        self.threads_of.entry(process).or_default().push(Sibling { thread, own_memory: None });
        let parent_number = of_parent.map_or(u32::MAX, |(.., number)| number);
        self.add(&Item::Thread { process: process as u32, thread: thread as u32, parent: parent_number });
        if self.processes.contains_key(&process) {
            return;
        }
        if let Some((parent, from, _)) = of_parent {
            let buffered = self.buffered_of_child((from, parent), process);
            self.processes.insert(process, Process { buffered });
            return;
        }
        self.processes.insert(process, Process::default());
        if number == 0 {
            self.adopt(process);
        } else if let Some(buffer) = &self.buffer {
            buffer.adopt(process);
        }
    }

    /// A new thread has the descriptors and the directory of who began it, or copies of them. Of whom nobody tells who that was has
    /// those of another thread of its process.
    fn context_of_new(&self, (thread, process): (pid_t, pid_t), parent: Option<(pid_t, &Thread)>) -> FileContext {
        if let Some((by, parent)) = parent {
            return parent.context.makes(Own::of_new(thread, by, parent.process != process));
        }
        let sibling = self.threads_of.get(&process).and_then(|of| self.context(of.first()?.thread));
        sibling.cloned().unwrap_or_else(|| FileContext::as_it_is(thread))
    }

    /// The descriptors and the directory of a thread.
    pub(super) fn context(&self, thread: pid_t) -> Option<&FileContext> {
        Some(&self.threads.get(&thread)?.context)
    }

    pub(super) fn forget(&mut self, thread: pid_t) {
        self.waiting.remove(&thread);
        let Some(gone) = self.threads.remove(&thread) else { return };
        self.kept_open -= usize::from(gone.time.is_some());
        let others = self.threads_of.entry(gone.process).or_default();
        others.retain(|other| other.thread != thread);
        if others.is_empty() {
            self.threads_of.remove(&gone.process);
            self.processes.remove(&gone.process);
            self.gives_back(gone.process);
        }
        self.release_orphans();
    }

    pub(super) fn release_orphans(&mut self) {
        // Who was killed before it told of what it began tells of nothing any more.
        let has_none = |thread: &pid_t| {
            let of = [process_of(*thread), parent_of(*thread)];
            !of.into_iter().flatten().any(|process| process != *thread && self.processes.contains_key(&process))
        };
        let is_over = |(thread, since): &(&pid_t, &Instant)| has_none(thread) || since.elapsed() > MOST_WAIT;
        let orphans: Vec<pid_t> = self.waiting.iter().filter(is_over).map(|(thread, _)| *thread).collect();
        for orphan in orphans {
            self.waiting.remove(&orphan);
            self.meet(orphan, None);
            stops::resume(orphan, self.to_call, 0);
        }
    }

    /// Calls of another architecture go past the filter, and are told once to be missing.
    pub(super) fn note_another_architecture(&mut self, thread: pid_t) {
        if !self.noted_architecture && stops::is_of_another_architecture(thread) {
            self.noted_architecture = true;
            self.add(&Item::Note(ANOTHER_ARCHITECTURE.to_owned()));
        }
    }

    /// Another program; of several threads only this one is left, under the number of its process. With that its call is done: it need
    /// not stop behind it once more.
    pub(super) fn executed(&mut self, thread: pid_t, woke: Instant) {
        let before = stops::message(thread).filter(|&before| before != thread);
        if let Some(other) = before.and_then(|before| self.threads.remove(&before)) {
            self.kept_open -= usize::from(other.time.is_some());
            if let Some(own) = self.threads.get_mut(&thread) {
                (own.pending, own.context) = (other.pending, other.context);
            }
        }
        self.note_another_architecture(thread);
        self.threads_of.insert(thread, vec![Sibling { thread, own_memory: None }]);
        self.gives_back(thread);
        if let Some(process) = self.processes.get_mut(&thread) {
            *process = Process::default();
        }
        if let Some(own) = self.threads.get_mut(&thread) {
            own.context.executes(thread);
        }
        let pending = self.threads.get_mut(&thread).and_then(|of| of.pending.take());
        match pending.filter(|pending| pending.operation.call == trace::code::EXECVE) {
            Some(pending) => self.done_by(thread, pending, (0, woke)),
            None => self.was_held(thread, woke),
        }
    }
}
