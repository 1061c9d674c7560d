//! The second look at a trace: each call becomes a step with what it waits for.

use super::again::{asked, follows, moves_bytes, moves_the_position};
use super::files::{Disk, OpenFile};
use super::followed::{Followed, files_of};
use super::inodes::Inodes;
use super::links::Links;
use super::names::{Above, Origins, above};
use super::order::{Order, Overlap, Resource};
use super::survey::{STEP_BYTES, Survey};
use super::threads::Threads;
use super::{Limits, Replay, ReplayError, Step, Thing, ThingKind};
use crate::calls::code;
use crate::reader::Reader;
use crate::{Before, Item, NOT_FOLLOWED, Operation, call};
use model::kinds::replay::{Facts, GROUPS};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

/// Bytes that a file takes while a trace is read, beside its names, and an open one beside that.
const INODE_BYTES: u64 = 512;
const OPEN_BYTES: u64 = 256;
/// Bytes of what is known of a name that ever changes, beside the places of those who used it.
const NAME_BYTES: u64 = 192;
/// Files that are moved with folders above them, in all: each is looked at once for each move.
const MOST_MOVED_ENTRIES: u64 = 50_000_000;

struct Planner {
    survey: Survey,
    followed: Followed,
    order: Order,
    origins: Origins,
    links: Links,
    above: Above,
    /// By path that ever changes.
    names: HashMap<u32, Resource>,
    /// Whether something is there, by path that ever changes, as far as it is known.
    is_there: HashMap<u32, bool>,
    inodes: Inodes,
    disk: Disk,
    open: HashMap<u32, OpenFile>,
    /// What has to be there, by path.
    tree: BTreeMap<Vec<u8>, (u32, ThingKind, u32)>,
    threads: Threads,
    files: u32,
    descriptors: u32,
    moved_bytes: u64,
    /// Paths of which it was told what lay there.
    told: HashSet<u32>,
    /// Entries that moved with their folders.
    moved_entries: u64,
    facts: Facts,
    groups: HashSet<&'static str>,
}

pub(super) fn read(trace: impl Read, survey: Survey, limits: &Limits) -> Result<Replay, ReplayError> {
    let mut reader = Reader::begin(trace)?;
    let mut planner = Planner::new(survey, limits.memory_bytes);
    let mut at = 0;
    while let Some(item) = reader.next_item()? {
        limits.heed(planner.is_too_much(limits.memory_bytes))?;
        match item {
            Item::Thread { parent, process, .. } => {
                planner.threads.begins(parent, process, &planner.survey, &planner.order)
            }
            Item::Waited { thread, process, .. } => {
                planner.threads.waited(thread, process, &planner.survey, &planner.order)
            }
            Item::Stood { thread, nanoseconds } => planner.threads.stood(thread, nanoseconds),
            Item::Before(before) => planner.before(&before),
            Item::Operation(operation) if planner.followed.takes(&operation) => {
                at += 1;
                planner.operation(at, &operation);
            }
            Item::Operation(operation) => planner.leave_out(&operation),
            _ => {}
        }
    }
    // The last call may have been too much.
    limits.heed(planner.is_too_much(limits.memory_bytes))?;
    planner.end()
}

impl Planner {
    fn new(survey: Survey, memory_bytes: u64) -> Planner {
        let facts = Facts {
            command: survey.header.command.join(" "),
            compressed: match survey.sampled {
                (0, _) => 1.0,
                (bytes, compressed) => compressed as f64 / bytes as f64,
            },
            ..Facts::default()
        };
        let mut links = Links::default();
        survey.links.iter().for_each(|(path, text)| links.made(*path, *text));
        Planner {
            followed: Followed::default(),
            order: Order::new(survey.threads),
            origins: Origins::default(),
            links,
            above: Above::default(),
            names: HashMap::new(),
            is_there: HashMap::new(),
            inodes: Inodes::within(memory_bytes),
            disk: Disk::default(),
            open: HashMap::new(),
            tree: BTreeMap::new(),
            threads: Threads::default(),
            files: 0,
            descriptors: 0,
            moved_bytes: 0,
            told: HashSet::new(),
            moved_entries: 0,
            facts,
            groups: HashSet::new(),
            survey,
        }
    }

    fn is_too_much(&self, memory_bytes: u64) -> bool {
        let moved = self.moved_entries > MOST_MOVED_ENTRIES || self.links.are_too_long();
        let steps = self.facts.operations * STEP_BYTES;
        let files = self.disk.inodes.len() as u64 * INODE_BYTES + self.open.len() as u64 * OPEN_BYTES;
        let names = self.survey.names.memory_bytes() + self.inodes.bytes() + self.names.len() as u64 * NAME_BYTES;
        let kept = steps + self.order.bytes() + files + names + self.above.bytes() + self.threads.bytes();
        moved || self.survey.names.are_too_many() || self.order.has_too_many_waits() || kept > memory_bytes
    }

    /// The path that is meant where links lie in it; `follows`: its last part too.
    fn lead(&mut self, path: u32, follows: bool) -> u32 {
        self.links.lead(&mut self.survey.names, path, follows)
    }

    /// Something was there when the program first named it.
    fn before(&mut self, before: &Before) {
        self.followed.saw(before);
        let Some(path) = self.survey.names.known(before.path) else { return };
        if !self.told.insert(path) {
            return;
        }
        let path = self.lead(path, false);
        // Under another name it is known already.
        if self.inodes.knows(self.survey.names.path(path)) {
            return;
        }
        if self.survey.changed.contains(&path) {
            self.is_there.entry(path).or_insert(before.mode != 0);
        }
        if before.mode == 0 {
            return;
        }
        let Some(origin) = self.origins.before(&mut self.survey.names, path) else { return };
        let kind = match before.mode & libc::S_IFMT {
            libc::S_IFREG => ThingKind::File { bytes: before.bytes, is_opened: false },
            libc::S_IFLNK => {
                let text = u32::try_from(before.bytes).ok().and_then(|number| number.checked_sub(1));
                match text.and_then(|text| self.survey.names.text(text)) {
                    Some(text) => ThingKind::Link(text),
                    None => ThingKind::File { bytes: 0, is_opened: false },
                }
            }
            libc::S_IFDIR => ThingKind::Folder,
            _ => return,
        };
        self.add(origin, kind, before.mode & 0o777);
        if let ThingKind::File { bytes, .. } = kind {
            let inode = self.disk.add(bytes);
            self.inodes.insert(self.survey.names.path(path).to_vec(), inode);
        }
    }

    fn add(&mut self, path: u32, kind: ThingKind, permissions: u32) {
        let bytes = self.survey.names.path(path).to_vec();
        self.folders_above(&bytes);
        if bytes != b"." {
            self.tree.entry(bytes).or_insert((path, kind, permissions));
        }
    }

    /// Where something lies, there are folders.
    fn folders_above(&mut self, path: &[u8]) {
        let above: Vec<Vec<u8>> = above(path).map(<[u8]>::to_vec).collect();
        for folder in above {
            match self.tree.get_mut(&folder) {
                Some((_, ThingKind::Folder, _)) => return,
                // It was something else before, and nobody told when that changed.
                Some((_, kind, permissions)) => (*kind, *permissions) = (ThingKind::Folder, 0o755),
                None => {
                    let number = self.survey.names.number(folder.clone());
                    self.tree.insert(folder, (number, ThingKind::Folder, 0o755));
                }
            }
        }
    }

    fn leave_out(&mut self, operation: &Operation) {
        let name = call(operation.call).map_or("", |row| row.name);
        // Another descriptor of the same file is none of a filesystem's business.
        if operation.call != code::DUP {
            *self.facts.left_out.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn operation(&mut self, at: u64, operation: &Operation) {
        let Some(row) = call(operation.call) else { return };
        let paths: Vec<Option<u32>> =
            operation.paths[..row.paths].iter().map(|&of| self.survey.names.known(of)).collect();
        let is_text = |at: usize| operation.call == code::SYMLINKAT && at == 0;
        let is_last = |file: u32| self.survey.last_use.get(&file) == Some(&at);
        let is_lost = paths.iter().enumerate().any(|(at, path)| path.is_none() && !is_text(at));
        // Its file has other descriptors.
        let goes_on = operation.call == code::CLOSE && !is_last(operation.files[0]);
        let thread = self.survey.thread_of.get(operation.thread as usize).copied().flatten();
        let Some(thread) = thread.filter(|_| !is_lost && !goes_on) else {
            if is_lost {
                self.leave_out(operation);
            }
            return;
        };
        let text = match operation.call {
            code::SYMLINKAT => match self.survey.names.text(operation.paths[0]) {
                Some(text) => Some(text),
                None => return self.leave_out(operation),
            },
            _ => None,
        };
        self.order.begin(thread, operation.start, operation.start.saturating_add(operation.nanoseconds));
        for (other, steps) in self.threads.follows(operation.thread) {
            self.order.follows(other, steps);
        }
        let numbers = [paths.first(), paths.get(1)].map(|path| path.copied().flatten().unwrap_or(0));
        let mut step = Step {
            call: operation.call,
            closes: [false; 2],
            is_awaited: false,
            start: operation.start,
            nanoseconds: operation.nanoseconds,
            stood: self.threads.standing(operation.thread),
            result: operation.result,
            paths: numbers,
            files: [NOT_FOLLOWED; 2],
            numbers: operation.numbers,
            waits: (0, 0),
        };
        step.paths[0] = text.unwrap_or(step.paths[0]);
        for (at, path) in paths.iter().enumerate().filter(|(at, _)| !is_text(*at)) {
            let path = self.lead(path.unwrap_or(0), follows(operation.call, operation.numbers, at));
            self.name(operation, at, path);
        }
        match operation.call {
            code::OPENAT if operation.result >= 0 => {
                let path = self.lead(numbers[0], follows(operation.call, operation.numbers, 0));
                step.files[0] = self.opens(operation, path);
                step.closes[0] = is_last_of(&self.survey, operation.files[0], at);
                if step.closes[0] {
                    self.forget(operation.files[0]);
                }
            }
            code::TRUNCATE if operation.result >= 0 => {
                let path = self.lead(numbers[0], true);
                if let Some(inode) = self.inodes.get(self.survey.names.path(path)) {
                    self.disk.resized(inode, operation.numbers[0].max(0) as u64);
                    self.order.changes(&mut self.disk.inodes[inode].data, Overlap::Free);
                }
            }
            _ => self.files(operation, &mut step, at),
        }
        self.count(operation);
        self.order.end(step);
    }

    /// A call names a path: it uses it with the folders above it, or it changes it.
    fn name(&mut self, operation: &Operation, at: usize, path: u32) {
        let Survey { names, changed, .. } = &self.survey;
        for &folder in &*self.above.changed(names, changed, path) {
            self.order.uses(self.names.entry(folder).or_default(), Overlap::Ordered);
        }
        if !changed.contains(&path) {
            return;
        }
        let done = operation.result >= 0;
        let is_new = !self.inodes.knows(names.path(path)) && self.is_there.get(&path) != Some(&true);
        let makes = done
            && match operation.call {
                code::OPENAT => operation.numbers[0] & i64::from(libc::O_CREAT) != 0 && is_new,
                code::RENAMEAT2 | code::UNLINKAT | code::MKDIRAT | code::MKNODAT | code::SYMLINKAT => true,
                code::LINKAT => at == 1,
                _ => false,
            };
        // What was refused because something still lay in it is refused again only behind who put it there.
        let is_full = operation.result == -i64::from(libc::ENOTEMPTY);
        let resource = self.names.entry(path).or_default();
        let found = done || operation.result == -i64::from(libc::EEXIST);
        let missed = operation.result == -i64::from(libc::ENOENT);
        // Of a call with two paths the answer is that of the second alone.
        let is_told = at + 1 == call(operation.call).map_or(1, |row| row.paths);
        let is_there = self.is_there.get(&path).copied().filter(|_| is_told);
        let contradicts = (is_there == Some(false) && found) || (is_there == Some(true) && missed);
        if makes || is_full {
            self.order.changes(resource, Overlap::Ordered);
        } else if contradicts && self.order.uses_before_the_last_change(resource) {
            // It was asked before that.
        } else if contradicts && found {
            self.order.uses_early(resource);
        } else {
            self.order.uses(resource, Overlap::Ordered);
        }
        if makes {
            self.changed(operation, at, path);
        }
    }

    /// A path is another thing from now on.
    fn changed(&mut self, operation: &Operation, at: usize, path: u32) {
        let names = &mut self.survey.names;
        let bytes = names.path(path).to_vec();
        // Whoever makes something makes it in a folder that is there, if he did not make that too.
        if let Some(folder) = above(&bytes).next().map(<[u8]>::to_vec) {
            let number = names.number(folder);
            if let Some(origin) = self.origins.before(names, number) {
                self.add(origin, ThingKind::Folder, 0o755);
            }
        }
        let goes = operation.call == code::UNLINKAT || (operation.call == code::RENAMEAT2 && at == 0);
        self.is_there.insert(path, !goes);
        match operation.call {
            // The first path goes, the second comes: once, when the second is looked at.
            code::RENAMEAT2 if at == 0 => {}
            code::RENAMEAT2 => self.renamed(operation, path),
            code::UNLINKAT => {
                self.loses_its_name(path);
                self.origins.made(path);
                self.links.gone(path);
                self.inodes.remove(&bytes).into_iter().for_each(|inode| self.disk.unnamed(inode));
            }
            code::LINKAT => {
                self.origins.made(path);
                let from = self.survey.names.known(operation.paths[0]);
                let from = from.map(|from| self.lead(from, follows(operation.call, operation.numbers, 0)));
                if let Some(inode) = from.and_then(|from| self.inodes.get(self.survey.names.path(from))) {
                    self.disk.inodes[inode].names += 1;
                    self.inodes.insert(bytes, inode);
                }
            }
            code::SYMLINKAT => {
                self.origins.made(path);
                self.links.made(path, operation.paths[0]);
            }
            _ => self.origins.made(path),
        }
    }

    fn renamed(&mut self, operation: &Operation, to: u32) {
        let Some(from) = self.survey.names.known(operation.paths[0]) else { return };
        let from = self.lead(from, false);
        if from == to {
            self.is_there.insert(to, true);
            return;
        }
        let exchanges = operation.numbers[0] as u32 & libc::RENAME_EXCHANGE != 0;
        if !exchanges {
            self.loses_its_name(to);
        }
        let names = &mut self.survey.names;
        let (old, new) = (names.path(from).to_vec(), names.path(to).to_vec());
        let (moved, replaced) = (self.inodes.take_below(&old), self.inodes.take_below(&new));
        self.links.moved(&mut self.survey.names, from, to, exchanges);
        self.moved_entries += (moved.len() + replaced.len()) as u64;
        if exchanges {
            // What lies there changes places; where either was before is not followed.
            self.is_there.insert(from, true);
            self.origins.made(from);
            self.origins.made(to);
            replaced.into_iter().for_each(|(rest, inode)| self.inodes.insert([&old[..], &rest].concat(), inode));
        } else {
            self.origins.moved(&mut self.survey.names, from, to);
            replaced.into_iter().for_each(|(_, inode)| self.disk.unnamed(inode));
        }
        moved.into_iter().for_each(|(rest, inode)| self.inodes.insert([&new[..], &rest].concat(), inode));
    }

    /// A file that was there before has its contents, because it is opened, or because removing it takes time by them; answers whether
    /// it had none so far.
    fn needs_contents(&mut self, path: u32) -> bool {
        let Some(origin) = self.origins.before(&mut self.survey.names, path) else { return false };
        match self.tree.get_mut(self.survey.names.path(origin)) {
            Some((_, ThingKind::File { is_opened, .. }, _)) => !std::mem::replace(is_opened, true),
            _ => false,
        }
    }

    /// The name of a file goes.
    fn loses_its_name(&mut self, path: u32) {
        let inode = self.inodes.get(self.survey.names.path(path));
        if self.needs_contents(path)
            && let Some(inode) = inode
        {
            self.disk.filled(inode);
        }
    }

    fn opens(&mut self, operation: &Operation, path: u32) -> u32 {
        let flags = operation.numbers[0];
        let has = |flag: i32| flags & i64::from(flag) == i64::from(flag);
        let is_unnamed = has(libc::O_TMPFILE);
        let bytes = self.survey.names.path(path).to_vec();
        let known = self.inodes.get(&bytes).filter(|_| !is_unnamed);
        let inode = known.unwrap_or_else(|| {
            self.facts.name_changes += 1;
            self.disk.make()
        });
        match is_unnamed {
            true => self.disk.inodes[inode].names = 0,
            false => self.inodes.insert(bytes, inode),
        }
        // Whoever opens it without making it finds it, though nobody could look at it before.
        let makes = has(libc::O_CREAT) || is_unnamed;
        if !makes
            && known.is_none()
            && let Some(origin) = self.origins.before(&mut self.survey.names, path)
        {
            let is_folder = has(libc::O_DIRECTORY);
            let kind = if is_folder { ThingKind::Folder } else { ThingKind::File { bytes: 0, is_opened: false } };
            self.add(origin, kind, 0o755);
        }
        let is_whole = self.needs_contents(path);
        self.disk.opened(inode, is_whole);
        let writes = flags & i64::from(libc::O_ACCMODE) != i64::from(libc::O_RDONLY);
        if has(libc::O_TRUNC) {
            self.order.changes(&mut self.disk.inodes[inode].data, Overlap::Free);
            if writes {
                self.disk.resized(inode, 0);
            }
        }
        let mut own = Resource::default();
        self.order.changes(&mut own, Overlap::Ordered);
        // No trace opens one number twice; who writes one by hand may.
        self.forget(operation.files[0]);
        let number = self.files;
        let file = OpenFile { number, inode, position: 0, appends: has(libc::O_APPEND), writes, own };
        self.files += 1;
        self.open.insert(operation.files[0], file);
        self.descriptors = self.descriptors.max(self.open.len() as u32);
        number
    }

    /// Nobody uses a file any more.
    fn forget(&mut self, file: u32) {
        if let Some(of) = self.open.remove(&file) {
            self.disk.closed(of.inode);
            self.order.forget(&of.own);
        }
    }

    /// A call on open files.
    fn files(&mut self, operation: &Operation, step: &mut Step, at: u64) {
        let files = files_of(operation);
        for (which, file) in files.iter().enumerate() {
            let is_last = is_last_of(&self.survey, *file, at);
            let Some(of) = self.open.get_mut(file) else { continue };
            step.files[which] = of.number;
            step.closes[which] = is_last && operation.call != code::CLOSE;
            let moves = moves_the_position(operation, which);
            match is_last || moves {
                true => self.order.changes(&mut of.own, Overlap::Ordered),
                false => self.order.uses(&mut of.own, Overlap::Ordered),
            }
            let (inode, writes) = (of.inode, of.writes);
            let done = operation.result.max(0) as u64;
            let offset = match operation.call {
                code::PREAD64 | code::PWRITE64 => operation.numbers[1].max(0) as u64,
                code::LSEEK => 0,
                code::COPY_FILE_RANGE | code::SENDFILE if !moves => operation.numbers[1 + which].max(0) as u64,
                code::WRITE if of.appends => self.disk.inodes[inode].size,
                _ => of.position,
            };
            if moves {
                of.position = offset.saturating_add(done);
            }
            self.data(operation, which, (inode, writes), offset);
        }
        for (which, file) in files.iter().enumerate() {
            if step.closes[which] || (operation.call == code::CLOSE && is_last_of(&self.survey, *file, at)) {
                self.forget(*file);
            }
        }
    }

    /// What a call does with what lies in a file.
    fn data(&mut self, operation: &Operation, which: usize, (inode, writes): (usize, bool), offset: u64) {
        let done = operation.result.max(0) as u64;
        let asked = asked(operation.call, operation.numbers, operation.result);
        let copies = matches!(operation.call, code::COPY_FILE_RANGE | code::SENDFILE | code::FICLONE);
        let is_written = matches!(operation.call, code::WRITE | code::PWRITE64) || (which == 1 && copies);
        let is_read = matches!(operation.call, code::READ | code::PREAD64 | code::FSTAT | code::MMAP | code::LSEEK);
        let changes = match operation.call {
            // A clone is as long as what it is cloned from; it takes no place of its own.
            code::FICLONE => which == 1 && operation.result >= 0,
            _ if is_written => self.disk.written(inode, offset, done, asked),
            code::FALLOCATE => {
                let place = operation.numbers.map(|number| number.max(0) as u64);
                let frees =
                    operation.numbers[0] as i32 & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_COLLAPSE_RANGE) != 0;
                if writes && !frees {
                    self.disk.reserved(inode, place[2]);
                }
                let keeps = operation.numbers[0] as i32 & libc::FALLOC_FL_KEEP_SIZE != 0;
                if operation.result >= 0 && !keeps {
                    let of = &mut self.disk.inodes[inode];
                    of.size = of.size.max(place[1].saturating_add(place[2]));
                }
                operation.result >= 0
            }
            code::FTRUNCATE if operation.result >= 0 && writes => {
                self.disk.resized(inode, operation.numbers[0].max(0) as u64);
                true
            }
            _ => false,
        };
        let of = &mut self.disk.inodes[inode];
        match operation.call {
            _ if changes => self.order.changes(&mut of.data, Overlap::Free),
            code::FSYNC | code::FDATASYNC | code::SYNC_FILE_RANGE => self.order.waits_for_users(&of.written),
            code::FLOCK => self.order.changes(&mut of.locks, Overlap::Ordered),
            _ if is_read || is_written || copies => self.order.uses(&mut of.data, Overlap::Free),
            _ => {}
        }
        if is_written || changes {
            self.order.uses(&mut of.written, Overlap::Free);
        }
    }

    fn count(&mut self, operation: &Operation) {
        let Some(row) = call(operation.call) else { return };
        let (facts, done) = (&mut self.facts, operation.result.max(0) as u64);
        facts.operations += 1;
        self.groups.insert(row.group());
        facts.seconds = facts.seconds.max(operation.start.saturating_add(operation.nanoseconds) as f64 * 1e-9);
        match operation.call {
            code::READ | code::PREAD64 => facts.read_bytes = facts.read_bytes.saturating_add(done),
            code::WRITE | code::PWRITE64 | code::COPY_FILE_RANGE => {
                facts.written_bytes = facts.written_bytes.saturating_add(done);
            }
            _ => {}
        }
        if moves_bytes(operation.call) {
            self.moved_bytes = self.moved_bytes.saturating_add(done);
        }
        match row.group() {
            "sync" => facts.syncs += 1,
            "names" => facts.name_changes += 1,
            _ => {}
        }
    }

    fn end(self) -> Result<Replay, ReplayError> {
        let Planner { survey, order, tree, files, mut facts, groups, disk, descriptors, moved_bytes, .. } = self;
        facts.threads = survey.threads;
        facts.kinds = GROUPS.iter().filter(|group| groups.contains(*group)).map(|&group| group.to_owned()).collect();
        facts.most_bytes = disk.most;
        let tree: Vec<Thing> =
            tree.into_values().map(|(path, kind, permissions)| Thing { path, kind, permissions }).collect();
        for thing in &tree {
            facts.tree_entries += 1;
            if let ThingKind::File { bytes, is_opened: true } = thing.kind {
                facts.tree_bytes = facts.tree_bytes.saturating_add(bytes);
            }
        }
        let (mut threads, waits) = order.finish();
        let begin = threads.iter().filter_map(|steps| steps.first()).map(|step| step.start).min().unwrap_or(0);
        let last =
            threads.iter().filter_map(|steps| steps.last()).map(|step| step.start.saturating_add(step.nanoseconds));
        let tail = survey.ended.saturating_sub(last.max().unwrap_or(0));
        threads.iter_mut().flatten().for_each(|step| step.start = step.start.saturating_sub(begin));
        facts.seconds = (facts.seconds - begin as f64 * 1e-9).max(0.0);
        if facts.operations == 0 {
            return Err(ReplayError::Nothing);
        }
        let (header, paths) = (survey.header, survey.names.into_paths());
        let before_and_after = (begin, tail);
        Ok(Replay { header, paths, tree, threads, waits, files, descriptors, moved_bytes, before_and_after, facts })
    }
}

fn is_last_of(survey: &Survey, file: u32, at: u64) -> bool {
    survey.last_use.get(&file) == Some(&at)
}
