//! Which descriptors of which process are which files.

use crate::import::builder::Builder;
use std::collections::HashMap;

/// Processes whose descriptors are kept.
const MOST_PROCESSES: usize = 200_000;

/// By descriptor: the number of the open file, and whether a new program loses it.
type Descriptors = HashMap<i32, (u32, bool)>;

#[derive(Debug, Default)]
pub(super) struct Processes {
    /// By thread: whose descriptors it uses.
    of_thread: HashMap<u32, u32>,
    descriptors: HashMap<u32, Descriptors>,
    directories: HashMap<u32, Vec<u8>>,
    /// Who is about to begin another one, whose lines may come before it is told: whether that shares the descriptors, and is a thread.
    beginning: Vec<(u32, bool, bool)>,
}

/// What makes processes.
const BEGIN: [&str; 4] = ["clone(", "clone3(", "fork(", "vfork("];

impl Processes {
    /// The number of a thread in the trace.
    pub(super) fn thread(&mut self, id: u32, builder: &mut Builder) -> u32 {
        if !builder.knows(id)
            && let Some(at) = self.beginning.iter().rposition(|(parent, ..)| *parent != id)
        {
            let (parent, shares, is_thread) = self.beginning.remove(at);
            self.begin(id, parent, shares, is_thread, builder);
        }
        let process = *self.of_thread.entry(id).or_insert(id);
        builder.thread(id, process, None)
    }

    /// A call that is not finished begins another process, if it is one of those.
    pub(super) fn may_begin(&mut self, parent: u32, call: &str) {
        if BEGIN.iter().any(|name| call.starts_with(name)) && self.beginning.len() < MOST_PROCESSES {
            self.beginning.push((parent, call.contains("CLONE_FILES"), call.contains("CLONE_THREAD")));
        }
    }

    /// A new process or thread.
    pub(super) fn begin(&mut self, child: u32, parent: u32, shares: bool, is_thread: bool, builder: &mut Builder) {
        self.beginning.retain(|(of, ..)| *of != parent);
        if builder.knows(child) {
            return;
        }
        let of_parent = *self.of_thread.entry(parent).or_insert(parent);
        let own = if shares { of_parent } else { child };
        self.of_thread.insert(child, own);
        if !shares && self.descriptors.len() < MOST_PROCESSES {
            let copied = self.descriptors.get(&of_parent).cloned().unwrap_or_default();
            self.descriptors.insert(child, copied);
        }
        if let Some(directory) = self.directories.get(&parent).cloned() {
            self.directories.entry(child).or_insert(directory);
        }
        builder.thread(child, if is_thread { of_parent } else { child }, Some(parent));
    }

    fn own(&self, thread: u32) -> u32 {
        self.of_thread.get(&thread).copied().unwrap_or(thread)
    }

    pub(super) fn open(&mut self, thread: u32, descriptor: i32, file: (u32, bool)) {
        let own = self.own(thread);
        if self.descriptors.len() < MOST_PROCESSES || self.descriptors.contains_key(&own) {
            self.descriptors.entry(own).or_default().insert(descriptor, file);
        }
    }

    pub(super) fn close(&mut self, thread: u32, descriptor: i32) {
        let own = self.own(thread);
        if let Some(of) = self.descriptors.get_mut(&own) {
            of.remove(&descriptor);
        }
    }

    pub(super) fn close_range(&mut self, thread: u32, first: u32, last: u32) {
        let own = self.own(thread);
        if let Some(of) = self.descriptors.get_mut(&own) {
            of.retain(|descriptor, _| !(first..=last).contains(&(*descriptor as u32)));
        }
    }

    /// A new program loses what was to be closed.
    pub(super) fn executes(&mut self, thread: u32) {
        let own = self.own(thread);
        if let Some(of) = self.descriptors.get_mut(&own) {
            of.retain(|_, (_, closes)| !*closes);
        }
    }

    pub(super) fn file(&self, thread: u32, descriptor: i32) -> Option<u32> {
        Some(self.descriptors.get(&self.own(thread))?.get(&descriptor)?.0)
    }

    pub(super) fn enter(&mut self, thread: u32, directory: Vec<u8>) {
        if self.directories.len() < MOST_PROCESSES {
            self.directories.insert(thread, directory);
        }
    }

    /// Where relative paths begin: at the top, where nobody told.
    pub(super) fn directory(&self, thread: u32) -> Vec<u8> {
        self.directories.get(&thread).cloned().unwrap_or_default()
    }
}
