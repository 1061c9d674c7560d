//! What is left of the work after a cut, held against what must be there.

use super::content::{Content, Origin, Source};
use super::state::{Effect, Entry, File, Folder, Id, Node, State, TOP};
use crate::durable::{Found, below};
use rustix::fs::FileType;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes that one check compares, at most: of files that the program changed, and of the others.
const MOST_CHANGED_BYTES: u64 = 256 << 20;
const MOST_OTHER_BYTES: u64 = 64 << 20;
/// Bytes of a read.
const READ_BYTES: u64 = 128 << 10;
/// Folders in folders that are looked into, at most.
const MOST_DEPTH: usize = 256;
/// Bytes that tell who wrote them.
const TELLING_BYTES: u64 = 16;

struct Look<'a> {
    state: &'a State,
    /// As it was before.
    start: &'a State,
    content: &'a Content,
    effects: &'a [Effect],
    /// By file, which of the effects wrote to it: made where the first bytes are wrong.
    writes: OnceCell<HashMap<Id, Vec<u32>>>,
    found: Found,
    /// Bytes that may still be compared: of files that the program changed, and of the others.
    left: [u64; 2],
}

/// What is wrong with bytes.
enum Wrong {
    /// They are zeros, or cannot be read.
    Lost(String),
    /// What an earlier call wrote.
    Stale(String),
    /// Nobody's.
    Torn(String),
}

/// Looks at what must be there in the folder of the work; `start`: as it was before, `effects`: what was done since.
pub fn check(state: &State, (start, effects): (&State, &[Effect]), content: &Content, work: &Path) -> Found {
    let left = [MOST_CHANGED_BYTES, MOST_OTHER_BYTES];
    let mut look = Look { state, start, content, effects, writes: OnceCell::new(), found: Found::default(), left };
    match (below::folder(work), state.folder(TOP)) {
        (Ok(top), Some(folder)) => look.folder(folder, &top, &mut Vec::new()),
        (Err(error), _) => {
            look.found.lost += 1;
            look.found.say(|| format!("the folder of the work cannot be read: {error}"));
        }
        (Ok(_), None) => {}
    }
    look.found
}

impl Look<'_> {
    fn folder(&mut self, folder: &Folder, opened: &OwnedFd, path: &mut Vec<u8>) {
        let length = path.len();
        for (name, entry) in folder.names.iter().filter(|(_, entry)| self.state.is_promised(folder, entry)) {
            path.extend(if length == 0 { &b""[..] } else { b"/" });
            path.extend(&name[..]);
            self.name(entry, (opened, OsStr::from_bytes(name)), path);
            path.truncate(length);
        }
    }

    fn name(&mut self, entry: &Entry, (folder, name): (&OwnedFd, &OsStr), path: &mut Vec<u8>) {
        let Some(id) = entry.leads else { return self.gone(below::kind(folder, name), path) };
        self.found.names += 1;
        let kind = match &self.state.nodes[id as usize] {
            Node::File(file) => return self.file((id, file), below::file(folder, name), path),
            Node::Folder(inner) => {
                match below::enter(folder, name) {
                    Ok(opened) if path.iter().filter(|&&byte| byte == b'/').count() < MOST_DEPTH => {
                        self.folder(inner, &opened, path);
                    }
                    Ok(_) => {}
                    Err(error) => self.lost(path, &error),
                }
                return;
            }
            Node::Link(_) => Some(FileType::Symlink),
            Node::Other => None,
        };
        match below::kind(folder, name) {
            Ok((there, _)) if kind.is_none_or(|kind| kind == there) => {}
            Ok(_) => self.lost(path, &Error::other("it is no symbolic link")),
            Err(error) => self.lost(path, &error),
        }
    }

    fn lost(&mut self, path: &[u8], error: &Error) {
        self.found.lost += 1;
        let state = if below::is_missing(error) { "is gone" } else { "cannot be read" };
        self.found.say(|| format!("{} {state}: {error}", model::text::escaped(path)));
    }

    /// A name that must lead to nothing.
    fn gone(&mut self, there: Result<(FileType, u64)>, path: &[u8]) {
        self.found.names += 1;
        match there {
            Err(error) if below::is_missing(&error) => {}
            Ok(_) => {
                self.found.stale += 1;
                self.found.say(|| format!("{} was removed or renamed and is still there", model::text::escaped(path)));
            }
            Err(error) => {
                self.found.lost += 1;
                self.found
                    .say(|| format!("{} must be gone, and cannot be asked for: {error}", model::text::escaped(path)));
            }
        }
    }

    fn file(&mut self, (id, file): (Id, &File), there: Result<std::fs::File>, path: &[u8]) {
        let opened = there.and_then(|there| there.metadata().map(|metadata| (there, metadata.len())));
        let (there, bytes) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.lost(path, &error),
        };
        let promise = self.state.promise(file);
        let Some((least, most)) = promise.sizes else { return };
        self.found.files += 1;
        if bytes < least {
            self.found.lost += 1;
            self.found.say(|| format!("{} has {bytes} bytes, and {least} were made safe", model::text::escaped(path)));
        } else if bytes > most {
            self.found.stale += 1;
            self.found
                .say(|| format!("{} has {bytes} bytes, and never had more than {most}", model::text::escaped(path)));
        }
        for (from, until, source) in promise.ranges {
            match self.range((id, &there), (from, until.min(bytes)), source, promise.is_touched) {
                Ok(()) => {}
                Err(wrong) => return self.wrong(wrong, path),
            }
        }
    }

    fn wrong(&mut self, wrong: Wrong, path: &[u8]) {
        let said = match wrong {
            Wrong::Lost(said) => {
                self.found.lost += 1;
                said
            }
            Wrong::Stale(said) => {
                self.found.stale += 1;
                said
            }
            Wrong::Torn(said) => {
                self.found.torn += 1;
                said
            }
        };
        self.found.say(|| format!("{}: {said}", model::text::escaped(path)));
    }

    /// Compares a range, as far as there are bytes left to compare.
    fn range(
        &mut self,
        (id, there): (Id, &std::fs::File),
        (from, until): (u64, u64),
        source: Option<Source>,
        is_touched: bool,
    ) -> std::result::Result<(), Wrong> {
        let mut at = from;
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        while at < until {
            let left = &mut self.left[usize::from(!is_touched)];
            let count = (until - at).min(READ_BYTES).min(*left);
            if count == 0 {
                return Ok(());
            }
            *left -= count;
            self.found.bytes += count;
            found.resize(count as usize, 0);
            wanted.clear();
            wanted.resize(count as usize, 0);
            there
                .read_exact_at(&mut found, at)
                .map_err(|error| Wrong::Lost(format!("byte {at} cannot be read: {error}")))?;
            if let Some(source) = source {
                self.content.fill(Source { at: source.at + (at - from), ..source }, &mut wanted);
            }
            if found != wanted {
                let first = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted).unwrap_or(0);
                let seen = &found[first..found.len().min(first + TELLING_BYTES as usize)];
                return Err(self.told(id, at + first as u64, seen, source));
            }
            at += count;
        }
        Ok(())
    }

    /// What these bytes are, in place of those that must be there.
    fn told(&self, id: Id, at: u64, seen: &[u8], source: Option<Source>) -> Wrong {
        let must = match source.map(|source| source.origin) {
            Some(Origin::Call(call)) => format!("what call {} wrote and a sync made safe", call + 1),
            Some(_) => "what was there before".to_owned(),
            None => "zeros".to_owned(),
        };
        let is_of = |(origin, behind): &(Origin, u64)| {
            let mut bytes = vec![0; seen.len()];
            self.content.fill(Source { origin: *origin, at: *behind }, &mut bytes);
            bytes == seen && Some(*origin) != source.map(|source| source.origin)
        };
        let before = self.start.file(id).and_then(|file| file.sources.within(at, at + 1).next());
        let before = before.map(|(_, _, source)| (source.origin, source.at));
        match self.writers(id, at).chain(before).find(is_of) {
            Some((Origin::Call(call), _)) => {
                return Wrong::Stale(format!("from byte {at} on it holds what call {} wrote, not {must}", call + 1));
            }
            Some((Origin::Tree(_), _)) => {
                return Wrong::Stale(format!("from byte {at} on it holds what was there before, not {must}"));
            }
            _ => {}
        }
        match seen.iter().all(|&byte| byte == 0) {
            true => Wrong::Lost(format!("from byte {at} on it holds zeros, not {must}")),
            false => Wrong::Torn(format!("from byte {at} on it holds other bytes than {must}")),
        }
    }

    /// Who wrote what lies at a place of a file, before what lies there now, with how many bytes behind the begin of it: the
    /// last first.
    fn writers(&self, file: Id, at: u64) -> impl Iterator<Item = (Origin, u64)> + '_ {
        let writes = self.writes.get_or_init(|| writes(self.effects));
        writes.get(&file).into_iter().flatten().rev().filter_map(move |&number| match self.effects[number as usize] {
            Effect::Wrote { from, until, call, .. } if (from..until).contains(&at) => {
                Some((Origin::Call(call), at - from))
            }
            _ => None,
        })
    }
}

/// By file, which of the effects wrote to it, the first first.
fn writes(effects: &[Effect]) -> HashMap<Id, Vec<u32>> {
    let mut writes: HashMap<Id, Vec<u32>> = HashMap::new();
    for (number, effect) in effects.iter().enumerate() {
        if let Effect::Wrote { file, .. } = effect {
            writes.entry(*file).or_default().push(number as u32);
        }
    }
    writes
}
