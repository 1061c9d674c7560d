//! What the calls of a trace do to files and names, one after another as they are done again.
//!
//! Calls answer as they answered the program: whoever does them sees to it that they do, where something hangs on it.

use super::state::{Effect, File, Folder, Id, Node, State, TOP};
use crate::durable::MOST_RECORDS;
use model::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::code;
use trace::replay::{Replay, Step, ThingKind, Turn, in_turn};

/// Changes that are followed, at most: a check goes through all of them.
pub const MOST_CHANGES: usize = 1_000_000;
/// Bytes of the files that are there before and of what the work writes together, at most: a kept log of a disk holds 1 GiB in
/// all, and the rest of it is for what the filesystem writes of its own.
pub const MOST_WRITTEN_BYTES: u64 = 768 << 20;
/// Bytes that it reads, at most.
const MOST_READ_BYTES: u64 = 64 << 30;
/// Parts of paths that are walked, and spans of files that are copied, at most: a small trace may ask for very many.
const MOST_WALKED: u64 = 200_000_000;
const MOST_COPIED_SPANS: usize = 400_000;
/// Modes of fallocate that make place, or zeros: what they do is known. (FALLOC_FL_UNSHARE_RANGE changes no byte.)
const PLACE_MODES: i32 =
    libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_UNSHARE_RANGE;
/// Those that move what lies behind the range.
const MOVING_MODES: i32 = libc::FALLOC_FL_COLLAPSE_RANGE | libc::FALLOC_FL_INSERT_RANGE;
/// Links that one path leads over, as in the kernel.
const MOST_LINKS: u32 = 40;

/// A sync of the program that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The number of its call, in the order of the work.
    pub turn: u32,
    /// How many changes come before it.
    pub before: u32,
}

/// What the work does.
#[derive(Debug)]
pub struct Course {
    /// As it is before.
    pub start: State,
    /// The calls in their order.
    pub turns: Vec<Turn>,
    /// What they do.
    pub effects: Vec<Effect>,
    /// The syncs, in their order.
    pub records: Vec<Record>,
    /// How many of them were of something to which no safe name led by then.
    pub unnamed: u64,
    /// Why the work ends before the trace does.
    pub end: Option<End>,
}

/// Why the work ends before the trace does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// There are more syncs.
    Records,
    /// There are more changes.
    Changes,
    /// It moves more bytes.
    Moved,
    /// Its copies are of more pieces.
    Copies,
    /// Its paths have more parts.
    Paths,
    /// What a call answered the program does not fit to what the calls before it left.
    Contradiction,
}

impl End {
    /// As a part of a sentence.
    pub fn said(self) -> String {
        match self {
            End::Records => format!("it has more than {MOST_RECORDS} syncs"),
            End::Changes => format!("it changes files and names more than {MOST_CHANGES} times"),
            End::Moved => {
                let (written, read) = (Bytes(MOST_WRITTEN_BYTES), Bytes(MOST_READ_BYTES));
                format!(
                    "its files before and what it writes are more than {written} together, or it reads more than {read}"
                )
            }
            End::Copies => format!("what it copies lies in more than {MOST_COPIED_SPANS} pieces"),
            End::Paths => format!("its paths have more than {MOST_WALKED} parts in all"),
            End::Contradiction => {
                "the next call answered the program as if something had lain there that the trace does not tell"
                    .to_owned()
            }
        }
    }
}

/// An open file.
struct Open {
    node: Id,
    position: u64,
    appends: bool,
    /// Each write returns when its bytes are safe.
    syncs: bool,
    /// The names that led to it, from the top.
    way: Way,
}

/// Names from the top, each with its folder.
type Way = Vec<(Id, Arc<[u8]>)>;

/// Where a path leads.
struct Place {
    folder: Id,
    /// Empty: the folder itself.
    name: Arc<[u8]>,
    node: Option<Id>,
    /// The folders above, from the top.
    above: Vec<Id>,
    /// The names that lead to it, its own among them.
    way: Way,
}

struct Follower<'a> {
    plan: &'a Replay,
    state: State,
    effects: Vec<Effect>,
    records: Vec<Record>,
    unnamed: u64,
    open: HashMap<u32, Open>,
    walked: u64,
    copied_spans: usize,
    /// With those of the files that are there before.
    written_bytes: u64,
    read_bytes: u64,
}

/// Follows all calls of a plan; `None`: the flag was set.
pub fn follow(plan: &Replay, stop: &AtomicBool) -> Option<Course> {
    let goes_on = || !stop.load(Ordering::Relaxed);
    let mut turns = in_turn(plan, &goes_on)?;
    let start = start(plan);
    let mut follower = Follower {
        plan,
        state: start.clone(),
        effects: Vec::new(),
        records: Vec::new(),
        unnamed: 0,
        open: HashMap::new(),
        walked: 0,
        copied_spans: 0,
        written_bytes: tree_bytes(plan),
        read_bytes: 0,
    };
    let mut end = None;
    for (number, turn) in turns.iter().enumerate() {
        if !goes_on() {
            return None;
        }
        let step = &plan.threads[turn.thread as usize][turn.step as usize];
        let (effects, records) = (follower.effects.len(), follower.records.len());
        end = match follower.step(number as u32, step) {
            Err(end) => Some(end),
            Ok(()) => follower.is_too_much(),
        };
        if end.is_some() {
            // It is not done any more.
            follower.effects.truncate(effects);
            follower.records.truncate(records);
            turns.truncate(number);
            break;
        }
    }
    let Follower { effects, records, unnamed, .. } = follower;
    Some(Course { start, turns, effects, records, unnamed, end })
}

/// Bytes of the files that are there before.
fn tree_bytes(plan: &Replay) -> u64 {
    let bytes = plan.tree.iter().map(|thing| match thing.kind {
        // One that is only looked at has a size and no contents.
        ThingKind::File { bytes, is_opened: true } => bytes,
        _ => 0,
    });
    bytes.fold(0, u64::saturating_add)
}

/// What has to be there before.
fn start(plan: &Replay) -> State {
    let mut nodes = vec![Node::Folder(Folder::default())];
    let mut folders: HashMap<&[u8], Id> = [(&b"."[..], TOP)].into();
    for thing in &plan.tree {
        let path = plan.paths[thing.path as usize].as_slice();
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (above, name) = slash.map_or((&b"."[..], path), |slash| (&path[..slash], &path[slash + 1..]));
        let id = nodes.len() as Id;
        let Some(&above) = folders.get(above) else { continue };
        let Some(Node::Folder(folder)) = nodes.get_mut(above as usize) else { continue };
        folder.add(name, id);
        nodes.push(match thing.kind {
            ThingKind::Folder => {
                folders.insert(path, id);
                Node::Folder(Folder::default())
            }
            ThingKind::File { bytes, is_opened } => Node::File(File::there(bytes, is_opened.then_some(thing.path))),
            ThingKind::Link(text) => Node::Link(plan.paths[text as usize].as_slice().into()),
        });
    }
    State::new(nodes)
}

/// Why no step follows.
type Followed<T> = Result<T, End>;

impl Follower<'_> {
    fn is_too_much(&self) -> Option<End> {
        if self.records.len() as u64 > MOST_RECORDS {
            return Some(End::Records);
        }
        if self.effects.len() > MOST_CHANGES {
            return Some(End::Changes);
        }
        if self.walked > MOST_WALKED {
            return Some(End::Paths);
        }
        (self.read_bytes > MOST_READ_BYTES).then_some(End::Moved)
    }

    /// Counts bytes before they are written.
    fn writes_more(&mut self, bytes: u64) -> Followed<()> {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        if self.written_bytes > MOST_WRITTEN_BYTES { Err(End::Moved) } else { Ok(()) }
    }

    fn does(&mut self, effect: Effect) {
        self.state.apply(&effect);
        self.effects.push(effect);
    }

    fn step(&mut self, turn: u32, step: &Step) -> Followed<()> {
        if step.result >= 0 || step.call == code::FICLONE {
            self.done(turn, step)?;
        }
        for (file, _) in step.files.iter().zip(step.closes).filter(|(_, closes)| *closes) {
            self.open.remove(file);
        }
        Ok(())
    }

    /// A call that did what it was asked for; a clone may have, or not.
    fn done(&mut self, turn: u32, step: &Step) -> Followed<()> {
        match step.call {
            code::OPENAT => self.opens(step),
            code::CLOSE => {
                self.open.remove(&step.files[0]);
                Ok(())
            }
            code::READ | code::PREAD64 | code::LSEEK => {
                self.moves(step);
                Ok(())
            }
            code::WRITE | code::PWRITE64 => self.writes(turn, step),
            code::COPY_FILE_RANGE | code::SENDFILE => self.copies(step),
            code::FICLONE => {
                self.clones(step);
                Ok(())
            }
            code::TRUNCATE | code::FTRUNCATE | code::FALLOCATE => self.resizes(step),
            code::FSYNC | code::FDATASYNC | code::SYNCFS | code::SYNC => self.syncs(turn, step),
            _ => self.names(step),
        }
    }

    fn opens(&mut self, step: &Step) -> Followed<()> {
        let has = |flag: i32| step.numbers[0] & i64::from(flag) == i64::from(flag);
        let is_path = has(libc::O_PATH);
        let makes = !is_path && has(libc::O_CREAT);
        let place = match self.place(step, 0) {
            Ok(place) if place.node.is_some() || makes => place,
            // Nobody finds it here, and whoever does nothing but read has lost nothing of what must be there.
            _ if !makes && !has(libc::O_TRUNC) => return Ok(()),
            _ => return Err(End::Contradiction),
        };
        let node = match place.node {
            Some(_) if !is_path && has(libc::O_TMPFILE) => self.makes(Node::File(File::default())),
            Some(_) if makes && has(libc::O_EXCL) => return Err(End::Contradiction),
            Some(node) => node,
            None if makes => self.makes_named(&place, Node::File(File::default()))?,
            None => return Err(End::Contradiction),
        };
        let is_there = place.node == Some(node);
        if is_there && has(libc::O_TRUNC) && !is_path && self.state.file(node).is_some() {
            match step.numbers[0] & i64::from(libc::O_ACCMODE) != i64::from(libc::O_RDONLY) {
                true => self.does(Effect::Resized { file: node, bytes: 0 }),
                // POSIX leaves it open.
                false => self.is_unsure(node, 0),
            }
        }
        let open = Open { node, position: 0, appends: has(libc::O_APPEND), syncs: has(libc::O_DSYNC), way: place.way };
        self.open.insert(step.files[0], open);
        Ok(())
    }

    /// Calls that move a file's position and nothing else.
    fn moves(&mut self, step: &Step) {
        let done = step.result as u64;
        if step.call != code::LSEEK {
            self.read_bytes = self.read_bytes.saturating_add(done);
        }
        let Some(of) = self.open.get_mut(&step.files[0]) else { return };
        match step.call {
            code::READ => of.position = of.position.saturating_add(done),
            code::LSEEK => of.position = done,
            _ => {}
        }
    }

    /// Where a write goes, if that is known: at the end where a file is appended to, which Linux has `pwrite` do too.
    fn writes(&mut self, turn: u32, step: &Step) -> Followed<()> {
        let bytes = step.result as u64;
        let Some(of) = self.open.get(&step.files[0]) else { return Err(End::Contradiction) };
        let (node, position, appends, syncs) = (of.node, of.position, of.appends, of.syncs);
        let Some(file) = self.state.file(node).filter(|_| bytes > 0) else { return Ok(()) };
        let (least, most) = file.bytes;
        self.writes_more(bytes)?;
        let from = match (appends, step.call) {
            (true, _) => least,
            (false, code::PWRITE64) => step.numbers[1].max(0) as u64,
            (false, _) => position,
        };
        let until = from.saturating_add(bytes);
        if appends && least != most {
            let until = most.saturating_add(bytes);
            self.does(Effect::Unsure { file: node, from, until, least: from.saturating_add(bytes) });
        } else {
            self.does(Effect::Wrote { file: node, from, until, call: turn });
        }
        if let Some(of) = self.open.get_mut(&step.files[0]).filter(|_| step.call == code::WRITE) {
            of.position = until;
        }
        if syncs {
            self.record(turn, Some(Effect::SyncedRange { file: node, from, until }));
            self.is_found(step.files[0]);
        }
        Ok(())
    }

    fn copies(&mut self, step: &Step) -> Followed<()> {
        let bytes = step.result as u64;
        let mut places = [None; 2];
        for (which, place) in places.iter_mut().enumerate() {
            let said = match (step.call, which) {
                (code::SENDFILE, 1) => -1,
                (_, which) => step.numbers[1 + which],
            };
            let Some(of) = self.open.get_mut(&step.files[which]) else { continue };
            let at = u64::try_from(said).unwrap_or(of.position);
            if said < 0 {
                of.position = of.position.saturating_add(bytes);
            }
            *place = Some((of.node, at));
        }
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        // What went to a socket went nowhere.
        let (Some((source, from)), Some((file, to))) = (places[0], places[1]) else { return Ok(()) };
        if self.state.file(file).is_none() || bytes == 0 {
            return Ok(());
        }
        self.writes_more(bytes)?;
        if self.state.file(source).is_none() {
            let least = self.state.file(file).map_or(0, |file| file.bytes.0);
            self.does(Effect::Unsure { file, from: to, until: to.saturating_add(bytes), least });
            return Ok(());
        }
        self.copied_spans += self.state.spans(source, from, from.saturating_add(bytes));
        if self.copied_spans > MOST_COPIED_SPANS {
            return Err(End::Copies);
        }
        self.does(Effect::Copied { source, from, file, to, bytes });
        Ok(())
    }

    /// Some filesystems share blocks and some refuse it: nobody knows what the file holds until it is written.
    fn clones(&mut self, step: &Step) {
        let node = |which: usize| self.open.get(&step.files[which]).map(|of| of.node);
        let (Some(source), Some(file)) = (node(0), node(1)) else { return };
        let (Some(of), Some(own)) = (self.state.file(source), self.state.file(file)) else { return };
        let (until, least) = (of.bytes.1, own.bytes.0);
        self.does(Effect::Unsure { file, from: 0, until, least });
    }

    /// Nobody knows what a file holds.
    fn is_unsure(&mut self, file: Id, least: u64) {
        let until = self.state.file(file).map_or(0, |file| file.bytes.1);
        self.does(Effect::Unsure { file, from: 0, until, least });
    }

    fn resizes(&mut self, step: &Step) -> Followed<()> {
        let node = match step.call {
            code::TRUNCATE => self.place(step, 0)?.node,
            _ => self.open.get(&step.files[0]).map(|of| of.node),
        };
        let Some(file) = node.filter(|node| self.state.file(*node).is_some()) else { return Err(End::Contradiction) };
        if step.call != code::FALLOCATE {
            self.does(Effect::Resized { file, bytes: step.numbers[0].max(0) as u64 });
            return Ok(());
        }
        let [mode, from, bytes, _] = step.numbers;
        let (from, mode) = (from.max(0) as u64, mode as i32);
        let until = from.saturating_add(bytes.max(0) as u64);
        let has = |flag: i32| mode & flag != 0;
        let grows = !has(libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE);
        let is_unknown = has(!(PLACE_MODES | MOVING_MODES));
        if is_unknown || has(MOVING_MODES) {
            let (least, most) = self.state.file(file).map_or((0, 0), |file| file.bytes);
            let (until, least) = (most.saturating_add(until), if is_unknown { 0 } else { least.min(from) });
            self.does(Effect::Unsure { file, from: 0, until, least });
            return Ok(());
        }
        if has(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) {
            self.does(Effect::Zeroed { file, from, until });
        }
        self.does(Effect::Reserved { file, from, until, grows });
        Ok(())
    }

    fn record(&mut self, turn: u32, effect: Option<Effect>) {
        self.records.push(Record { turn, before: self.effects.len() as u32 });
        effect.into_iter().for_each(|effect| self.does(effect));
    }

    fn syncs(&mut self, turn: u32, step: &Step) -> Followed<()> {
        if [code::SYNC, code::SYNCFS].contains(&step.call) {
            self.record(turn, Some(Effect::SyncedAll));
            return Ok(());
        }
        let Some(node) = self.open.get(&step.files[0]).map(|of| of.node) else { return Err(End::Contradiction) };
        // fdatasync promises what is needed to read a file's data; of a folder's names nobody says that it does.
        let is_names = step.call == code::FDATASYNC && self.state.folder(node).is_some();
        self.record(turn, (!is_names).then_some(Effect::Synced(node)));
        self.is_found(step.files[0]);
        Ok(())
    }

    /// Counts a sync of what nobody has to find: some name on the way to it is not safe, or leads elsewhere by now.
    fn is_found(&mut self, file: u32) {
        let Some(of) = self.open.get(&file) else { return };
        let next = of.way.iter().skip(1).map(|(folder, _)| *folder).chain([of.node]);
        let is_safe = of.way.iter().zip(next).all(|((folder, name), next)| {
            let folder = self.state.folder(*folder);
            let entry = folder.and_then(|folder| Some((folder, folder.names.get(name)?)));
            entry.is_some_and(|(folder, entry)| self.state.is_promised(folder, entry) && entry.leads == Some(next))
        });
        self.unnamed += u64::from(!is_safe);
    }

    fn names(&mut self, step: &Step) -> Followed<()> {
        match step.call {
            code::RENAMEAT2 => self.renames(step),
            code::LINKAT => {
                let (from, to) = (self.place(step, 0)?, self.place(step, 1)?);
                match from.node {
                    Some(node) if to.node.is_none() && self.state.folder(node).is_none() => {
                        self.leads(&to, Some(node));
                        Ok(())
                    }
                    _ => Err(End::Contradiction),
                }
            }
            code::SYMLINKAT => {
                let text = self.plan.paths[step.paths[0] as usize].as_slice().into();
                let to = self.place(step, 1)?;
                self.makes_named(&to, Node::Link(text)).map(drop)
            }
            code::UNLINKAT => self.removes(step),
            code::MKDIRAT => {
                let to = self.place(step, 0)?;
                self.makes_named(&to, Node::Folder(Folder::default())).map(drop)
            }
            code::MKNODAT => {
                let to = self.place(step, 0)?;
                let is_pipe = [libc::S_IFIFO, libc::S_IFSOCK].contains(&(step.numbers[0] as u32 & libc::S_IFMT));
                let node = if is_pipe { Node::Other } else { Node::File(File::default()) };
                self.makes_named(&to, node).map(drop)
            }
            // The others change nothing that is looked at.
            _ => Ok(()),
        }
    }

    fn renames(&mut self, step: &Step) -> Followed<()> {
        let (from, to) = (self.place(step, 0)?, self.place(step, 1)?);
        let (Some(moved), false, false) = (from.node, from.name.is_empty(), to.name.is_empty()) else {
            return Err(End::Contradiction);
        };
        // Two names of one file: nothing happens, by POSIX.
        if to.node == Some(moved) {
            return Ok(());
        }
        if to.above.contains(&moved) || to.node.is_some_and(|node| from.above.contains(&node)) {
            return Err(End::Contradiction);
        }
        let exchanges = step.numbers[0] as u32 & libc::RENAME_EXCHANGE != 0;
        match (exchanges, to.node) {
            (true, None) => return Err(End::Contradiction),
            (true, replaced) => self.leads(&from, replaced),
            (false, _) => self.leads(&from, None),
        }
        self.leads(&to, Some(moved));
        Ok(())
    }

    fn removes(&mut self, step: &Step) -> Followed<()> {
        let place = self.place(step, 0)?;
        let Some(node) = place.node.filter(|_| !place.name.is_empty()) else { return Err(End::Contradiction) };
        let is_folder = self.state.folder(node).map(|folder| folder.names.values().all(|entry| entry.leads.is_none()));
        let wants_folder = step.numbers[0] & i64::from(libc::AT_REMOVEDIR) != 0;
        match (is_folder, wants_folder) {
            (None, false) | (Some(true), true) => self.leads(&place, None),
            _ => return Err(End::Contradiction),
        }
        Ok(())
    }

    fn leads(&mut self, place: &Place, leads: Option<Id>) {
        self.does(Effect::Named { folder: place.folder, name: place.name.clone(), leads });
    }

    fn makes(&mut self, node: Node) -> Id {
        let id = self.state.nodes.len() as Id;
        self.does(Effect::Made(node));
        id
    }

    fn makes_named(&mut self, place: &Place, node: Node) -> Followed<Id> {
        if place.node.is_some() || place.name.is_empty() {
            return Err(End::Contradiction);
        }
        let id = self.makes(node);
        self.leads(place, Some(id));
        Ok(id)
    }

    /// Where a path of a step leads.
    fn place(&mut self, step: &Step, which: usize) -> Followed<Place> {
        let follows = trace::replay::follows(step.call, step.numbers, which);
        let plan = self.plan;
        let path = plan.paths.get(step.paths[which] as usize).ok_or(End::Contradiction)?;
        let (mut left, mut above, mut way, mut links) = (parts(path, &mut self.walked)?, vec![TOP], Way::new(), 0);
        while let Some(part) = left.pop() {
            let here = above.last().copied().unwrap_or(TOP);
            match &part[..] {
                b"" | b"." => continue,
                b".." => {
                    above.truncate((above.len() - 1).max(1));
                    way.pop();
                    continue;
                }
                _ => {}
            }
            let is_last = left.iter().all(|part| part.is_empty() || part[..] == *b".");
            let node = self.state.folder(here).ok_or(End::Contradiction)?.find(&part);
            match node.map(|id| (id, &self.state.nodes[id as usize])) {
                Some((_, Node::Link(text))) if !is_last || follows => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(End::Contradiction);
                    }
                    if text.first() == Some(&b'/') {
                        above.truncate(1);
                        way.clear();
                    }
                    left.extend(parts(text, &mut self.walked)?);
                }
                Some((id, Node::Folder(_))) if !is_last => {
                    above.push(id);
                    way.push((here, part));
                }
                _ if is_last => {
                    way.push((here, part.clone()));
                    return Ok(Place { folder: here, name: part, node, above, way });
                }
                _ => return Err(End::Contradiction),
            }
        }
        let node = above.last().copied();
        Ok(Place { folder: TOP, name: Arc::from(&b""[..]), node, above, way })
    }
}

/// The parts of a path, the last first; they are counted before there is room for them.
fn parts(path: &[u8], walked: &mut u64) -> Followed<Vec<Arc<[u8]>>> {
    let parts = path.split(|&byte| byte == b'/').rev();
    *walked = walked.saturating_add(parts.clone().count() as u64);
    if *walked > MOST_WALKED { Err(End::Paths) } else { Ok(parts.map(Arc::from).collect()) }
}
