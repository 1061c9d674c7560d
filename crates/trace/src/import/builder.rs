//! Paths, threads and calls of a log, until all of it is read: only then it is known what was there before.

use super::{ImportError, Imported, MOST_CALLS};
use crate::calls::code;
use crate::reader::{MOST_PATH_BYTES, MOST_PATH_BYTES_IN_ALL, MOST_PATHS, MOST_THREADS};
use crate::replay::plain;
use crate::{Before, End, Header, Item, Operation, VERSION};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Kinds of lines that are told apart where they are left out.
const MOST_KINDS: usize = 64;
/// Characters of their names.
const MOST_CHARACTERS: usize = 80;
const MANY_PATHS: &str = "it names more paths than a trace holds: calls on further ones are left out";
/// Permissions of what nobody tells of.
const FILE: u32 = libc::S_IFREG | 0o644;
const FOLDER: u32 = libc::S_IFDIR | 0o755;

/// What is known of a path.
#[derive(Debug, Default, Clone)]
struct Known {
    /// It was there before anything made it.
    was_there: bool,
    /// Something made it, or removed it: what is found now was not there.
    is_touched: bool,
    mode: u32,
    bytes: u64,
}

/// A log on its way to a trace.
#[derive(Debug, Default)]
pub(super) struct Builder {
    paths: Vec<Vec<u8>>,
    /// Of all of them.
    path_bytes: u64,
    numbers: HashMap<Vec<u8>, u32>,
    known: Vec<Known>,
    threads: Vec<(u32, u32, u32)>,
    thread_numbers: HashMap<u32, u32>,
    operations: Vec<Operation>,
    /// By open file: its path, and where the next read begins.
    files: Vec<(u32, u64)>,
    pub(super) lines: u64,
    pub(super) left_out: BTreeMap<String, u64>,
    pub(super) notes: Vec<&'static str>,
    pub(super) command: Vec<String>,
}

impl Builder {
    /// The number of a path, made whole; `None`: no trace holds it.
    pub(super) fn path(&mut self, path: &[u8]) -> Option<u32> {
        let whole = plain(path)?;
        // As in a capture, these are no files of a lane.
        let top = whole.split(|&byte| byte == b'/').next();
        if top.is_some_and(|top| [&b"dev"[..], b"proc", b"sys"].contains(&top)) {
            return None;
        }
        match &whole[..] {
            b"." => self.text(b"/"),
            whole => self.text(&[b"/", whole].concat()),
        }
    }

    /// The number of what a link says.
    pub(super) fn text(&mut self, path: &[u8]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(path) {
            return Some(number);
        }
        if path.is_empty() || path.len() > MOST_PATH_BYTES || path.contains(&0) {
            return None;
        }
        let bytes = self.path_bytes + path.len() as u64;
        if bytes > MOST_PATH_BYTES_IN_ALL || self.paths.len() >= MOST_PATHS as usize {
            self.note(MANY_PATHS);
            return None;
        }
        self.path_bytes = bytes;
        let number = self.paths.len() as u32;
        self.paths.push(path.to_owned());
        self.known.push(Known::default());
        self.numbers.insert(path.to_owned(), number);
        Some(number)
    }

    /// Whether a thread has come.
    pub(super) fn knows(&self, id: u32) -> bool {
        self.thread_numbers.contains_key(&id)
    }

    /// The number of a thread; `process`: whose it is, `parent`: who began it.
    pub(super) fn thread(&mut self, id: u32, process: u32, parent: Option<u32>) -> u32 {
        if let Some(&number) = self.thread_numbers.get(&id) {
            return number;
        }
        let parent = parent.and_then(|parent| self.thread_numbers.get(&parent).copied()).unwrap_or(u32::MAX);
        let number = self.threads.len() as u32;
        self.threads.push((process, id, parent));
        self.thread_numbers.insert(id, number);
        number
    }

    /// A thread has ended: whoever has its number later is another one.
    pub(super) fn forget_thread(&mut self, id: u32) {
        self.thread_numbers.remove(&id);
    }

    /// As it was said.
    pub(super) fn said(&self, path: u32) -> &[u8] {
        &self.paths[path as usize]
    }

    /// The path of an open file.
    pub(super) fn path_of(&self, file: u32) -> Option<u32> {
        self.files.get(file as usize).map(|(path, _)| *path)
    }

    /// A file that is open from now on.
    pub(super) fn file(&mut self, path: u32) -> u32 {
        self.files.push((path, 0));
        self.files.len() as u32 - 1
    }

    /// It was there, as somebody says who looked.
    pub(super) fn saw(&mut self, path: u32, mode: u32, bytes: u64) {
        let known = &mut self.known[path as usize];
        if !known.is_touched {
            known.was_there = true;
            known.mode = mode;
            known.bytes = known.bytes.max(if mode & libc::S_IFMT == libc::S_IFREG { bytes } else { 0 });
        }
    }

    /// Somebody entered it.
    pub(super) fn is_folder(&mut self, path: u32) {
        self.saw(path, FOLDER, 0);
    }

    /// A file is at least so large before.
    pub(super) fn needs(&mut self, path: u32, bytes: u64) {
        let mode = self.known[path as usize].mode;
        self.saw(path, if mode == 0 { FILE } else { mode }, bytes);
    }

    /// A file is there with so many bytes before anything happens, whoever writes to it later.
    pub(super) fn lays_out(&mut self, path: u32, bytes: u64) {
        let known = &mut self.known[path as usize];
        known.was_there = true;
        known.mode = FILE;
        known.bytes = known.bytes.max(bytes);
    }

    /// A call, in the order in which they returned.
    pub(super) fn add(&mut self, operation: Operation) -> Result<(), ImportError> {
        if self.operations.len() >= MOST_CALLS || self.threads.len() > MOST_THREADS as usize {
            return Err(ImportError::TooMuch);
        }
        self.look(&operation);
        self.operations.push(operation);
        Ok(())
    }

    /// What a call says of what was there before.
    fn look(&mut self, operation: &Operation) {
        let [first, second] = operation.paths;
        let (done, flags) = (operation.result >= 0, operation.numbers[0]);
        let is_there = |of: &mut Self, path: u32, mode: u32| {
            let known = of.known[path as usize].mode;
            of.saw(path, if known == 0 || mode == FOLDER { mode } else { known }, 0);
        };
        let touch = |of: &mut Self, path: u32| of.known[path as usize].is_touched = true;
        match operation.call {
            code::OPENAT if done => {
                let makes = flags & i64::from(libc::O_CREAT) != 0;
                let is_folder = flags & i64::from(libc::O_DIRECTORY) != 0;
                match makes {
                    // It may have been there or not: the log does not tell.
                    true => touch(self, first),
                    false => is_there(self, first, if is_folder { FOLDER } else { FILE }),
                }
            }
            code::RENAMEAT2 | code::LINKAT if done => {
                is_there(self, first, FILE);
                touch(self, second);
                if operation.call == code::RENAMEAT2 {
                    touch(self, first);
                }
            }
            code::SYMLINKAT if done => touch(self, second),
            code::UNLINKAT if done => {
                is_there(self, first, if flags & i64::from(libc::AT_REMOVEDIR) != 0 { FOLDER } else { FILE });
                touch(self, first);
            }
            code::MKDIRAT | code::MKNODAT if done => touch(self, first),
            code::MKDIRAT if operation.result == -i64::from(libc::EEXIST) => is_there(self, first, FOLDER),
            code::READLINKAT if operation.result == -i64::from(libc::EINVAL) => is_there(self, first, FILE),
            code::NEWFSTATAT | code::FACCESSAT | code::STATFS | code::TRUNCATE | code::EXECVE if done => {
                is_there(self, first, FILE);
                let executes = operation.call == code::EXECVE
                    || (operation.call == code::FACCESSAT && flags & i64::from(libc::X_OK) != 0);
                if executes && !self.known[first as usize].is_touched {
                    self.known[first as usize].mode |= 0o111;
                }
            }
            _ => self.look_at_file(operation),
        }
    }

    /// What a call on an open file says of it.
    fn look_at_file(&mut self, operation: &Operation) {
        let done = operation.result >= 0;
        match operation.call {
            code::GETDENTS64 if done => {
                if let Some(path) = self.path_of(operation.files[0]) {
                    self.is_folder(path);
                }
            }
            code::READ | code::PREAD64 if operation.result > 0 => {
                let Some(&(path, position)) = self.files.get(operation.files[0] as usize) else { return };
                let begin = if operation.call == code::READ { position } else { operation.numbers[1].max(0) as u64 };
                let end = begin.saturating_add(operation.result as u64);
                if operation.call == code::READ {
                    self.files[operation.files[0] as usize].1 = end;
                }
                self.needs(path, end);
            }
            code::WRITE if done => {
                if let Some(file) = self.files.get_mut(operation.files[0] as usize) {
                    file.1 = file.1.saturating_add(operation.result as u64);
                    self.known[file.0 as usize].is_touched = true;
                }
            }
            code::PWRITE64 | code::FTRUNCATE | code::FALLOCATE if done => {
                if let Some(&(path, _)) = self.files.get(operation.files[0] as usize) {
                    self.known[path as usize].is_touched = true;
                }
            }
            code::LSEEK if done => {
                if let Some(file) = self.files.get_mut(operation.files[0] as usize) {
                    file.1 = operation.result as u64;
                }
            }
            _ => {}
        }
    }

    pub(super) fn leave_out(&mut self, what: &str) {
        let shown: String = what.chars().take(MOST_CHARACTERS).collect();
        if self.left_out.len() < MOST_KINDS || self.left_out.contains_key(&shown) {
            *self.left_out.entry(shown).or_default() += 1;
        }
    }

    pub(super) fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn end(mut self, format: &'static str) -> Result<Imported, ImportError> {
        if self.operations.is_empty() {
            let left: Vec<String> = self.left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
            return Err(ImportError::Nothing(if left.is_empty() { "it is empty".to_owned() } else { left.join(", ") }));
        }
        // Some begin behind the last call.
        if self.threads.len() > MOST_THREADS as usize {
            return Err(ImportError::TooMuch);
        }
        let begin = self.operations.iter().map(|operation| operation.start).min().unwrap_or(0);
        self.operations.iter_mut().for_each(|operation| operation.start -= begin);
        let end = self.operations.iter().map(|of| of.start.saturating_add(of.nanoseconds)).max().unwrap_or(0);
        let header = Header {
            version: VERSION,
            command: std::mem::take(&mut self.command),
            method: format.to_owned(),
            // Numbers of flags are this machine's.
            kernel: format!("import on {}", std::env::consts::ARCH),
            ..Header::default()
        };
        let mut items = vec![Item::Header(header)];
        items.extend(self.paths.drain(..).map(Item::Path));
        let threads = self.threads.drain(..);
        items.extend(threads.map(|(process, thread, parent)| Item::Thread { process, thread, parent }));
        let mut told = HashSet::new();
        for (path, known) in self.known.iter().enumerate().filter(|(_, known)| known.was_there) {
            if told.insert(path) {
                items.push(Item::Before(Before { path: path as u32, mode: known.mode, bytes: known.bytes }));
            }
        }
        items.extend(self.notes.iter().map(|note| Item::Note((*note).to_owned())));
        let operations = self.operations.len() as u64;
        items.extend(self.operations.drain(..).map(Item::Operation));
        items.push(Item::End(End { nanoseconds: end, ..End::default() }));
        Ok(Imported { format, items, lines: self.lines, operations, left_out: self.left_out, notes: self.notes })
    }
}
