//! What lies in the lane after some of the calls, and what of it a power cut must leave.
//!
//! Each change and each sync has a number in their order. What was changed behind its last sync is open: it may be there or
//! not. All else must be as it is here.

use super::content::{Origin, Source};
use super::spans::Spans;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of a file, folder or link, from 0: the top of the work.
pub type Id = u32;

/// The folder of the work.
pub const TOP: Id = 0;

/// What a call did, as far as it concerns what must be there.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Something is made, with the next number.
    Made(Node),
    /// A name in a folder leads to something else now, or to nothing.
    Named { folder: Id, name: Arc<[u8]>, leads: Option<Id> },
    /// Bytes were written.
    Wrote { file: Id, from: u64, until: u64, call: u32 },
    /// Bytes were copied.
    Copied { source: Id, from: u64, file: Id, to: u64, bytes: u64 },
    /// A range became zeros; the size stays.
    Zeroed { file: Id, from: u64, until: u64 },
    /// Place was made for a range that may lie beyond the end.
    Reserved { file: Id, from: u64, until: u64, grows: bool },
    /// The file has another size.
    Resized { file: Id, bytes: u64 },
    /// Nobody knows what lies in this range, nor how large the file is, but that it has `least` bytes.
    Unsure { file: Id, from: u64, until: u64, least: u64 },
    /// A file's bytes and size are safe, or a folder's names.
    Synced(Id),
    /// A range of a file is safe, and that the file is so long.
    SyncedRange { file: Id, from: u64, until: u64 },
    /// All is safe.
    SyncedAll,
}

/// A file, a folder or something else.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A regular file.
    File(File),
    /// A folder.
    Folder(Folder),
    /// A symbolic link with its text.
    Link(Arc<[u8]>),
    /// A pipe or a socket.
    Other,
}

/// A regular file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct File {
    /// Where its bytes come from; what is left out is zeros.
    pub sources: Spans<Source>,
    /// Its size: at least, at most; the same where it is known.
    pub bytes: (u64, u64),
    /// The smallest and the largest size since its last sync.
    sizes: (u64, u64),
    /// What was changed since.
    open: Spans<()>,
    /// When it was changed last, and made.
    changed: u64,
    made: u64,
    /// Whether it was ever synced by itself, or there before.
    is_synced: bool,
    /// Whether the program changed it.
    pub is_touched: bool,
}

impl File {
    /// One that is there before: its number in the tree, where its contents are known.
    pub fn there(bytes: u64, number: Option<u32>) -> File {
        let mut sources = Spans::default();
        let origin = number.map_or(Origin::Unknown, Origin::Tree);
        sources.put(0, bytes, Source { origin, at: 0 });
        File { sources, bytes: (bytes, bytes), sizes: (bytes, bytes), is_synced: true, ..File::default() }
    }
}

/// A folder: its names, those that went too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Folder {
    /// By name.
    pub names: BTreeMap<Arc<[u8]>, Entry>,
    /// When it was synced last.
    synced: u64,
}

/// What a name leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// `None`: it went.
    pub leads: Option<Id>,
    changed: u64,
}

impl Folder {
    /// A name that is there before.
    pub fn add(&mut self, name: &[u8], leads: Id) {
        self.names.insert(name.into(), Entry { leads: Some(leads), changed: 0 });
    }

    /// What a name leads to.
    pub fn find(&self, name: &[u8]) -> Option<Id> {
        self.names.get(name).and_then(|entry| entry.leads)
    }
}

/// What a cut must leave of a file that is promised.
#[derive(Debug)]
pub struct Promise {
    /// The smallest and the largest size that it may have; `None`: any.
    pub sizes: Option<(u64, u64)>,
    /// The ranges below the smallest size that are promised, with where their bytes come from; `None`: zeros.
    pub ranges: Vec<(u64, u64, Option<Source>)>,
    /// Whether the program changed it.
    pub is_touched: bool,
}

/// The lane.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// By number.
    pub nodes: Vec<Node>,
    now: u64,
    all_synced: u64,
}

impl State {
    /// As it is before: all of it is safe.
    pub fn new(nodes: Vec<Node>) -> State {
        State { nodes, now: 0, all_synced: 0 }
    }

    pub fn folder(&self, id: Id) -> Option<&Folder> {
        match self.nodes.get(id as usize) {
            Some(Node::Folder(folder)) => Some(folder),
            _ => None,
        }
    }

    pub fn file(&self, id: Id) -> Option<&File> {
        match self.nodes.get(id as usize) {
            Some(Node::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Whether a name must lead where it leads here.
    pub fn is_promised(&self, folder: &Folder, entry: &Entry) -> bool {
        entry.changed <= folder.synced.max(self.all_synced)
    }

    /// Whether a cut must leave a file's size: it was synced since it was made.
    pub fn has_promised_size(&self, file: &File) -> bool {
        file.is_synced || file.made <= self.all_synced
    }

    /// What must be there of a file, whatever its name.
    pub fn promise(&self, file: &File) -> Promise {
        let is_clean = file.changed <= self.all_synced;
        let is_synced = self.has_promised_size(file);
        let sizes = if is_clean { file.bytes } else { file.sizes };
        let (mut ranges, nothing) = (Vec::new(), Spans::default());
        let open = if is_clean { &nothing } else { &file.open };
        for (from, until, open) in open.all_within(0, if is_synced { sizes.0 } else { 0 }) {
            if open.is_none() {
                ranges.extend(file.sources.all_within(from, until));
            }
        }
        ranges.retain(|(_, _, source)| source.is_none_or(|source| source.origin != Origin::Unknown));
        let sizes = is_synced.then_some(sizes);
        Promise { sizes, ranges, is_touched: file.is_touched }
    }

    /// A file that is about to be changed.
    fn change(&mut self, id: Id) -> Option<&mut File> {
        let (now, all_synced) = (self.now, self.all_synced);
        let Some(Node::File(file)) = self.nodes.get_mut(id as usize) else { return None };
        if file.changed <= all_synced {
            file.is_synced |= file.made <= all_synced;
            file.sync();
        }
        (file.changed, file.is_touched) = (now, true);
        Some(file)
    }

    /// One more call.
    pub fn apply(&mut self, effect: &Effect) {
        self.now += 1;
        match *effect {
            Effect::Made(ref node) => {
                let mut node = node.clone();
                if let Node::File(file) = &mut node {
                    (file.made, file.changed, file.is_touched) = (self.now, self.now, true);
                }
                self.nodes.push(node);
            }
            Effect::Named { folder, ref name, leads } => {
                let changed = self.now;
                if let Some(Node::Folder(folder)) = self.nodes.get_mut(folder as usize) {
                    folder.names.insert(name.clone(), Entry { leads, changed });
                }
            }
            Effect::Copied { source, from, file, to, bytes } => self.copy(source, from, (file, to), bytes),
            Effect::Synced(id) => match self.nodes.get_mut(id as usize) {
                Some(Node::Folder(folder)) => folder.synced = self.now,
                Some(Node::File(file)) => {
                    file.is_synced = true;
                    file.sync();
                }
                _ => {}
            },
            Effect::SyncedAll => self.all_synced = self.now,
            Effect::Wrote { file, .. }
            | Effect::Zeroed { file, .. }
            | Effect::Reserved { file, .. }
            | Effect::Resized { file, .. }
            | Effect::Unsure { file, .. }
            | Effect::SyncedRange { file, .. } => {
                if let Some(file) = self.change(file) {
                    file.apply(effect);
                }
            }
        }
    }

    fn copy(&mut self, source: Id, from: u64, (file, to): (Id, u64), bytes: u64) {
        let parts = match self.file(source) {
            Some(source) => source.sources.all_within(from, from.saturating_add(bytes)),
            None => return,
        };
        let Some(file) = self.change(file) else { return };
        let until = to.saturating_add(bytes);
        file.opens(to, until);
        file.sources.cut(to, until);
        for (begin, end, source) in parts {
            if let Some(source) = source {
                let there = |at: u64| to.saturating_add(at - from);
                file.sources.put(there(begin), there(end), source);
            }
        }
        file.grows(until);
    }

    /// How many spans say where a range of a file comes from.
    pub fn spans(&self, file: Id, from: u64, until: u64) -> usize {
        self.file(file).map_or(0, |file| file.sources.within(from, until).count())
    }
}

impl File {
    fn sync(&mut self) {
        self.sizes = self.bytes;
        self.open.clear();
    }

    fn opens(&mut self, from: u64, until: u64) {
        self.open.put(from, until, ());
        // What lay between the end and there is made now.
        self.open.put(self.bytes.0.min(from), from, ());
    }

    fn has(&mut self, least: u64, most: u64) {
        self.bytes = (least, most);
        self.sizes = (self.sizes.0.min(least), self.sizes.1.max(most));
    }

    fn grows(&mut self, end: u64) {
        self.has(self.bytes.0.max(end), self.bytes.1.max(end));
    }

    fn apply(&mut self, effect: &Effect) {
        match *effect {
            Effect::Wrote { from, until, call, .. } => {
                self.opens(from, until);
                self.sources.put(from, until, Source { origin: Origin::Call(call), at: 0 });
                self.grows(until);
            }
            Effect::Zeroed { from, until, .. } => {
                self.open.put(from, until, ());
                self.sources.cut(from, until);
            }
            Effect::Reserved { from, until, grows, .. } => {
                self.open.put(from, until, ());
                if grows {
                    self.opens(from, until);
                    self.grows(until);
                }
            }
            Effect::Resized { bytes, .. } => {
                let (least, most) = self.bytes;
                self.open.put(bytes.min(least), most.max(bytes), ());
                self.sources.cut(bytes, u64::MAX);
                self.has(bytes, bytes);
            }
            Effect::Unsure { from, until, least, .. } => {
                self.opens(from, until);
                self.sources.put(from, until, Source { origin: Origin::Unknown, at: 0 });
                self.has(least, self.bytes.1.max(until));
            }
            Effect::SyncedRange { from, until, .. } => {
                self.open.cut(from, until);
                self.sizes.0 = self.sizes.0.max(until.min(self.bytes.0));
                self.is_synced = true;
            }
            _ => {}
        }
    }
}
