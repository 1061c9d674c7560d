//! Which descriptors of which process are which files.

use crate::import::builder::Builder;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Processes whose descriptors are kept.
const MOST_PROCESSES: usize = 1_000_000;
/// Descriptors of all processes that run at the same time: a new process has those of the one that began it.
const MOST_DESCRIPTORS: usize = 10_000_000;
/// Calls that begin a process and are not over, at most.
const MOST_BEGINNING: usize = 4096;
const MANY_DESCRIPTORS: &str =
    "its processes have more descriptors at the same time than are followed: some are left out";

/// By descriptor: the number of the open file, and whether a new program loses it.
type Descriptors = HashMap<i32, (u32, bool)>;

#[derive(Debug, Default)]
pub(super) struct Processes {
    /// By thread: whose descriptors it uses.
    of_thread: HashMap<u32, u32>,
    descriptors: HashMap<u32, Descriptors>,
    /// Of all processes.
    count: usize,
    directories: HashMap<u32, Rc<[u8]>>,
    /// Each of them once: many processes have the same.
    folders: HashSet<Rc<[u8]>>,
    /// When processes and threads ended whose numbers nobody has now.
    ended: HashMap<u32, u64>,
    /// Who is about to begin another one, whose lines may come before it is told: whether that shares the descriptors, and is a thread.
    beginning: Vec<(u32, bool, bool)>,
}

/// What makes processes.
const BEGIN: [&str; 4] = ["clone(", "clone3(", "fork(", "vfork("];

/// The process that a finished line began; whether it shares the descriptors, and is a thread.
pub(super) fn begun_by(line: &str) -> Option<(u32, bool, bool)> {
    if !BEGIN.iter().any(|name| line.starts_with(name)) {
        return None;
    }
    let (_, result) = line.rsplit_once('=')?;
    let child = result.trim_start().split([' ', '<']).next()?.parse().ok().filter(|child| *child > 0)?;
    Some((child, line.contains("CLONE_FILES"), line.contains("CLONE_THREAD")))
}

impl Processes {
    /// The number of a thread in the trace.
    pub(super) fn thread(&mut self, id: u32, builder: &mut Builder) -> u32 {
        if !builder.knows(id) {
            // Who has a line is there, whoever had that number before.
            self.ended.remove(&id);
            if let Some(at) = self.beginning.iter().rposition(|(parent, ..)| *parent != id) {
                let (parent, shares, is_thread) = self.beginning.remove(at);
                self.begin(id, parent, shares, is_thread, builder);
            }
        }
        let process = *self.of_thread.entry(id).or_insert(id);
        builder.thread(id, process, None)
    }

    /// A call that is not finished begins another process, if it is one of those.
    pub(super) fn may_begin(&mut self, parent: u32, call: &str) {
        if BEGIN.iter().any(|name| call.starts_with(name)) && self.beginning.len() < MOST_BEGINNING {
            self.beginning.push((parent, call.contains("CLONE_FILES"), call.contains("CLONE_THREAD")));
        }
    }

    /// A new process or thread.
    pub(super) fn begin(&mut self, child: u32, parent: u32, shares: bool, is_thread: bool, builder: &mut Builder) {
        self.has_begun(parent);
        if builder.knows(child) {
            return;
        }
        self.ended.remove(&child);
        let of_parent = *self.of_thread.entry(parent).or_insert(parent);
        let own = if shares { of_parent } else { child };
        self.of_thread.insert(child, own);
        if !shares {
            self.inherit(child, of_parent, builder);
        }
        if let Some(directory) = self.directories.get(&parent).cloned() {
            self.directories.entry(child).or_insert(directory);
        }
        builder.thread(child, if is_thread { of_parent } else { child }, Some(parent));
    }

    /// What a process was about to begin has begun.
    pub(super) fn has_begun(&mut self, parent: u32) {
        self.beginning.retain(|(of, ..)| *of != parent);
    }

    /// Whether a call that began then, and tells of this child, tells of one that is over: its number may be another's later.
    pub(super) fn is_over(&self, child: u32, at: u64) -> bool {
        self.ended.get(&child).is_some_and(|ended| *ended >= at)
    }

    fn inherit(&mut self, child: u32, parent: u32, builder: &mut Builder) {
        let Some(of_parent) = self.descriptors.get(&parent) else { return };
        if self.descriptors.len() >= MOST_PROCESSES || self.count + of_parent.len() > MOST_DESCRIPTORS {
            return builder.note(MANY_DESCRIPTORS);
        }
        // No larger than it has to be, however many the parent once had.
        let copied: Descriptors = of_parent.iter().map(|(descriptor, of)| (*descriptor, *of)).collect();
        self.count += copied.len();
        let before = self.descriptors.insert(child, copied);
        self.count -= before.map_or(0, |before| before.len());
    }

    /// A process is over, or one of its threads: whoever gets its number is another one.
    pub(super) fn ends(&mut self, thread: u32, at: u64, builder: &mut Builder) {
        if self.own(thread) == thread {
            self.count -= self.descriptors.remove(&thread).map_or(0, |of| of.len());
        }
        self.of_thread.remove(&thread);
        self.directories.remove(&thread);
        self.has_begun(thread);
        self.ended.insert(thread, at);
        builder.forget_thread(thread);
    }

    fn own(&self, thread: u32) -> u32 {
        self.of_thread.get(&thread).copied().unwrap_or(thread)
    }

    pub(super) fn open(&mut self, thread: u32, descriptor: i32, file: (u32, bool)) {
        let own = self.own(thread);
        let is_kept = self.descriptors.len() < MOST_PROCESSES || self.descriptors.contains_key(&own);
        if is_kept && self.count < MOST_DESCRIPTORS {
            let before = self.descriptors.entry(own).or_default().insert(descriptor, file);
            self.count += usize::from(before.is_none());
        }
    }

    pub(super) fn close(&mut self, thread: u32, descriptor: i32) {
        let own = self.own(thread);
        let closed = self.descriptors.get_mut(&own).and_then(|of| of.remove(&descriptor));
        self.count -= usize::from(closed.is_some());
    }

    pub(super) fn close_range(&mut self, thread: u32, first: u32, last: u32) {
        let own = self.own(thread);
        self.retain(own, |descriptor, _| !(first..=last).contains(&(descriptor as u32)));
    }

    /// A new program loses what was to be closed.
    pub(super) fn executes(&mut self, thread: u32) {
        let own = self.own(thread);
        self.retain(own, |_, closes| !closes);
    }

    /// Keeps those descriptors of which it is said, by number and whether a new program loses them.
    fn retain(&mut self, own: u32, keeps: impl Fn(i32, bool) -> bool) {
        if let Some(of) = self.descriptors.get_mut(&own) {
            let before = of.len();
            of.retain(|descriptor, (_, closes)| keeps(*descriptor, *closes));
            self.count -= before - of.len();
        }
    }

    pub(super) fn file(&self, thread: u32, descriptor: i32) -> Option<u32> {
        Some(self.descriptors.get(&self.own(thread))?.get(&descriptor)?.0)
    }

    pub(super) fn enter(&mut self, thread: u32, directory: Vec<u8>) {
        if self.directories.len() >= MOST_PROCESSES && !self.directories.contains_key(&thread) {
            return;
        }
        let folder = match self.folders.get(&directory[..]) {
            Some(known) => Rc::clone(known),
            None => {
                let new: Rc<[u8]> = directory.into();
                self.folders.insert(Rc::clone(&new));
                new
            }
        };
        self.directories.insert(thread, folder);
    }

    /// Where relative paths begin: at the top, where nobody told.
    pub(super) fn directory(&self, thread: u32) -> Vec<u8> {
        self.directories.get(&thread).map(|of| of.to_vec()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_counted_as_they_come_and_go() {
        let (mut processes, mut builder) = (Processes::default(), Builder::default());
        processes.thread(1, &mut builder);
        (3..9).for_each(|descriptor| processes.open(1, descriptor, (0, descriptor % 2 == 0)));
        processes.open(1, 3, (1, false));
        processes.begin(2, 1, false, false, &mut builder);
        processes.begin(3, 2, true, true, &mut builder);
        assert_eq!((processes.count, processes.file(3, 3)), (12, Some(1)));
        processes.executes(2);
        processes.close(3, 3);
        processes.close(3, 3);
        processes.close_range(1, 5, 6);
        assert_eq!((processes.count, processes.file(2, 4), processes.file(1, 4)), (6, None, Some(0)));
        // A thread's end is not its process's.
        processes.ends(3, 0, &mut builder);
        assert_eq!(processes.count, 6);
        processes.ends(2, 0, &mut builder);
        processes.ends(2, 0, &mut builder);
        assert_eq!((processes.count, processes.file(3, 7)), (4, None));
        // What is not copied is not followed, and told.
        processes.count = MOST_DESCRIPTORS;
        processes.begin(4, 1, false, false, &mut builder);
        assert_eq!((processes.file(4, 7), builder.notes), (None, vec![MANY_DESCRIPTORS]));
    }
}
