//! The tracer: looks at each stop of the program and writes down what it was about.

mod asks;
mod attached;
mod buffered;
mod standing;
mod threads;
mod undecided;

pub(crate) use attached::run as attach;

use crate::before::Found;
use crate::begin::{self, Child};
use crate::call_buffer::{CallBuffer, Record};
use crate::names::{Names, whole};
use crate::process::{OpenFile, Own, Process, descriptors};
use crate::samples::Samples;
use crate::signals::{self, Signals};
use crate::stops::{self, On, Stop, Told};
use crate::system_calls::{self, PathAt, SystemCall, code};
use crate::{CaptureError, Captured, Job, filter, memory};
use buffered::Lay;
use foldhash::fast::RandomState;
use libc::{c_int, pid_t};
use standing::Latency;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use threads::{Sibling, Thread};
use trace::{Before, End, Header, Item, Operation, VERSION, Writer};
use undecided::Undecided;

/// What is gathered reaches the file at least so often, and whatever ends the tracer leaves it.
const FLUSH: Duration = Duration::from_secs(1);
/// Bytes of the command that are written down.
const MOST_COMMAND_BYTES: usize = 64 << 10;
/// Links that are followed from one path, as the kernel does at most.
const MOST_LINKS: usize = 40;
/// Bytes of the names of folders of which it is known whether they are links, at most.
const MOST_FOLDER_BYTES: usize = 128 << 20;
const MANY_PATHS: &str = "the program named as many paths as a trace holds: what it did under further ones is missing";
const NOT_ASKED: &str = "what lay under a path did not answer in time, as where the program serves the filesystem itself: from then on \
     it is not asked what was there before";
/// The kernel's number for a call that it begins again by itself (include/linux/errno.h, ERESTARTSYS and those behind it).
const BEGUN_AGAIN: RangeInclusive<i64> = -516..=-512;

/// Runs it.
pub(crate) fn run(job: &Job, out: File) -> Result<Captured, CaptureError> {
    if !filter::is_known() {
        return Err(CaptureError::Machine(std::env::consts::ARCH));
    }
    let mut writer = Writer::begin(out).map_err(CaptureError::Write)?;
    writer.add(&Item::Header(header(job))).map_err(CaptureError::Write)?;
    let begun = Instant::now();
    let buffer = if job.buffered { CallBuffer::begin(begun) } else { None };
    let filter = filter::program(&system_calls::numbers(), buffer.as_ref().map(|_| CallBuffer::inside()));
    let child = begin::begin(&job.command, &filter, job.mask)?;
    let mut tracer = tracer(job, writer, begun, buffer);
    tracer.flush();
    let status = tracer.follow(&child)?;
    tracer.end(status)
}

fn tracer(job: &Job, writer: Writer<File>, begun: Instant, buffer: Option<CallBuffer>) -> Tracer {
    Tracer {
        writer,
        names: Names::new(job.under.clone(), job.anonymous),
        begun,
        threads: HashMap::default(),
        threads_of: HashMap::default(),
        buffer,
        record: None,
        known: None,
        had_calls: begun,
        early: Vec::new(),
        ending: None,
        waiting: HashMap::new(),
        processes: HashMap::default(),
        calls: system_calls::all().map(|call| (call.number, (call, code(call.name).unwrap_or(0)))).collect(),
        samples: Samples::new(),
        before: crate::before::Before::new(),
        folders: HashSet::default(),
        folder_bytes: 0,
        last_folder: Vec::new(),
        next_file: 0,
        next_thread: 0,
        operations: 0,
        buffered_operations: 0,
        tracer_nanoseconds: 0,
        noted_uring: false,
        noted_architecture: false,
        failed: None,
        latency: Latency::default(),
        kept_open: 0,
        undecided: Undecided::default(),
        to_call: On::ToCall,
    }
}

fn header(job: &Job) -> Header {
    let shown = |word: &std::ffi::CString| String::from_utf8_lossy(word.as_bytes()).into_owned();
    let system = rustix::system::uname();
    let text = |of: &std::ffi::CStr| of.to_string_lossy().into_owned();
    let directory = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    Header {
        version: VERSION,
        // Arguments and folders of the command name files.
        command: match job.anonymous {
            true => job
                .command
                .iter()
                .take(1)
                .map(|word| shown(word).rsplit('/').next().unwrap_or_default().to_owned())
                .collect(),
            false => shortened(job.command.iter().map(shown)),
        },
        directory: if job.anonymous { String::new() } else { directory },
        started: job.started.clone(),
        kernel: format!("{} {} {}", text(system.sysname()), text(system.release()), text(system.machine())),
        under: match (job.under.first(), job.anonymous) {
            (Some(under), false) => under.to_string_lossy().into_owned(),
            _ => String::new(),
        },
        anonymous: job.anonymous,
        method: "ptrace".to_owned(),
    }
}

/// A command with its first so many bytes: a frame holds no more than 1 MiB.
fn shortened(words: impl Iterator<Item = String>) -> Vec<String> {
    let (mut kept, mut bytes) = (Vec::new(), 0);
    for word in words {
        // With its quotes and a comma: empty ones take room too.
        bytes += word.len() + 3;
        if bytes > MOST_COMMAND_BYTES {
            kept.push("…".to_owned());
            break;
        }
        kept.push(word);
    }
    kept
}

/// A call that has begun.
#[derive(Debug)]
struct Pending {
    operation: Operation,
    /// Whether it is written down, or only followed.
    is_told: bool,
    does: Does,
    began: Instant,
}

/// What of the process changes when it succeeds.
#[derive(Debug)]
enum Does {
    Nothing,
    /// The path, and whether it is closed by `exec`.
    Opens(PathBuf, bool),
    /// The descriptor is another file's now, which is not followed.
    Forgets(i32),
    /// The file, and whether the new descriptor is closed by `exec`.
    Duplicates(Rc<OpenFile>, bool),
    Enters(Rc<Path>),
    /// The thread has these for itself, and its descriptors without this range.
    Unshares(Own, Option<RangeInclusive<i32>>),
    /// The end of that process; 0: of the one that is returned.
    Waits(u32),
}

struct Tracer {
    writer: Writer<File>,
    names: Names,
    begun: Instant,
    threads: HashMap<pid_t, Thread, RandomState>,
    /// Those of each process.
    threads_of: HashMap<pid_t, Vec<Sibling>, RandomState>,
    /// Where calls are that were done without a stop.
    buffer: Option<CallBuffer>,
    /// The call from the buffer that is looked at.
    record: Option<Record>,
    /// What it tells of what lay under its path before.
    known: Option<Lay>,
    /// When the buffer held some the last time.
    had_calls: Instant,
    /// Stops that were seen where another was waited for.
    early: Vec<(pid_t, Stop)>,
    /// The thread whose end is looked at.
    ending: Option<pid_t>,
    /// New threads that stopped before who began them told of them.
    waiting: HashMap<pid_t, Instant>,
    processes: HashMap<pid_t, Process, RandomState>,
    /// By the kernel's number, with the code in a trace.
    calls: HashMap<i64, (&'static SystemCall, u8), RandomState>,
    samples: Samples,
    before: crate::before::Before,
    /// Folders that were looked at for links.
    folders: HashSet<OsString, RandomState>,
    folder_bytes: usize,
    /// The last of them.
    last_folder: Vec<u8>,
    next_file: u32,
    next_thread: u32,
    operations: u64,
    /// Those of them that did not stop.
    buffered_operations: u64,
    tracer_nanoseconds: u64,
    noted_uring: bool,
    noted_architecture: bool,
    /// Why nothing is written any more; the program goes on.
    failed: Option<CaptureError>,
    latency: Latency,
    /// Files that tell of threads' time, of those that are open.
    kept_open: usize,
    undecided: Undecided,
    /// How a new thread goes on.
    to_call: On,
}

impl Tracer {
    /// Until the last thread ended; answers the first process's status.
    fn follow(&mut self, child: &Child) -> Result<i32, CaptureError> {
        let mut pace = buffered::SOONEST;
        let mut flushed = Instant::now();
        let signals = Signals::take(pace);
        self.meet(child.pid, None);
        let mut status = None;
        loop {
            match self.next_stop() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    let woke = Instant::now();
                    pace = self.drain_now_and_then(pace);
                    signals::every(pace);
                    if flushed.elapsed() >= FLUSH {
                        self.flush();
                        flushed = Instant::now();
                    }
                    self.tracer_nanoseconds += woke.elapsed().as_nanos() as u64;
                    if status.is_none() {
                        signals.hand_on(child.pid);
                    }
                    self.release_orphans();
                }
                Err(error) => {
                    return Err(CaptureError::NotTraced { action: "wait for the program", error, remedy: "try again" });
                }
                Ok(None) => break,
                Ok(Some((thread, stop))) => {
                    let woke = Instant::now();
                    self.ending = matches!(stop, Stop::Ended(_)).then_some(thread);
                    self.drain_at(thread, stop);
                    if let Stop::Ended(how) = stop {
                        if thread == child.pid {
                            // Another process may get its number.
                            status.get_or_insert(how);
                        }
                        self.forget(thread);
                        self.tracer_nanoseconds += woke.elapsed().as_nanos() as u64;
                    } else if stop == Stop::New && !self.threads.contains_key(&thread) {
                        // It waits for who began it to tell so: until then nobody knows its open files.
                        self.waiting.insert(thread, woke);
                        self.release_orphans();
                    } else {
                        let (on, signal) = self.stopped(thread, stop, woke);
                        if !matches!(stop, Stop::Call | Stop::Returned | Stop::Executed) {
                            self.was_held(thread, woke);
                        }
                        self.tracer_nanoseconds += woke.elapsed().as_nanos() as u64;
                        stops::resume(thread, on, signal);
                        stops::stop_with(child.pid, thread, stop);
                    }
                }
            }
        }
        self.drain(true);
        self.tell_lost();
        child.failure().map_or(Ok(status.unwrap_or(0)), Err)
    }

    fn end(mut self, status: i32) -> Result<Captured, CaptureError> {
        let nanoseconds = self.begun.elapsed().as_nanos() as u64;
        let (tracer_nanoseconds, operations, buffer) = (self.tracer_nanoseconds, self.operations, self.buffer_use());
        if self.names.are_full() {
            self.add(&Item::Note(MANY_PATHS.to_owned()));
        }
        self.add(&Item::End(End { status, nanoseconds, tracer_nanoseconds, buffer }));
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None => {
                let bytes = self.writer.bytes();
                Ok(Captured { status, operations, bytes, nanoseconds, tracer_nanoseconds, buffer })
            }
        }
    }

    fn add(&mut self, item: &Item) {
        if self.undecided.waits() {
            self.undecided.push(item.clone());
        } else if self.failed.is_none() {
            self.failed = self.writer.add(item).err().map(CaptureError::Write);
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.writer.flush().err().map(CaptureError::Write);
        }
    }

    /// How it goes on.
    fn stopped(&mut self, thread: pid_t, stop: Stop, woke: Instant) -> (On, c_int) {
        if !self.threads.contains_key(&thread) {
            self.meet(thread, None);
        }
        let is_pending = |tracer: &Tracer| tracer.threads.get(&thread).is_some_and(|of| of.pending.is_some());
        match stop {
            Stop::Call => self.called(thread, woke),
            Stop::Returned => self.returned(thread, woke),
            Stop::Began => {
                if let Some(new) = stops::message(thread) {
                    self.meet(new, Some(thread));
                    if let Some(since) = self.waiting.remove(&new) {
                        self.learn_memory(new);
                        self.was_held(new, since);
                        stops::resume(new, self.to_call, 0);
                    }
                }
            }
            Stop::Executed => self.executed(thread, woke),
            Stop::Group(_) => return (On::Listen, 0),
            Stop::Signal(signal) => {
                let on = if is_pending(self) { On::ToReturn } else { On::ToCall };
                return self.signalled(thread, signal, on);
            }
            Stop::New => self.learn_memory(thread),
            Stop::Ended(_) => {}
        }
        (if is_pending(self) { On::ToReturn } else { On::ToCall }, 0)
    }

    /// Files that the program was given when it began.
    fn adopt(&mut self, process: pid_t) {
        for (descriptor, path, flags) in descriptors(process) {
            // Those that are closed with its begin are the tracer's own.
            let is_kept = flags & i64::from(libc::O_CLOEXEC) == 0;
            if !is_kept || !self.names.are_of_interest(&path) {
                continue;
            }
            let operation = Operation {
                call: code("openat").unwrap_or(0),
                start: self.begun.elapsed().as_nanos() as u64,
                paths: [self.path(&path, true), 0],
                files: [self.next_file, 0],
                numbers: [flags, 0, 0, 0],
                ..Operation::default()
            };
            let file = OpenFile { number: self.next_file, path, close_on_exec: false };
            self.next_file += 1;
            if let Some(own) = self.context(process) {
                own.files.insert(descriptor, file);
            }
            self.add(&Item::Operation(operation));
            self.operations += 1;
        }
    }

    /// The number of a path; `before`: what was there is told with a new one, and of a link where it leads.
    fn path(&mut self, path: &Path, before: bool) -> u32 {
        let (number, is_new) = self.number(path);
        if before && !is_new {
            if let Some(lay) = self.known.take() {
                self.decide(number, lay);
            }
        } else if before {
            let known = self.known.take();
            self.links_above(path);
            let is_link =
                |tracer: &mut Tracer| matches!(tracer.before.look(path), Ok(Some(Found { link: Some(_), .. })));
            match known {
                // It was not there, or is a link to what is not.
                Some(Lay { follows: true, .. }) if is_link(self) => self.look_at(number, path),
                Some(Lay { mode, bytes, .. }) => self.add(&Item::Before(Before { path: number, mode, bytes })),
                None => self.look_at(number, path),
            }
        }
        number
    }

    /// Links among the folders above a path are told too: what lies behind them has two names.
    fn links_above(&mut self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        let folder = bytes.iter().rposition(|&byte| byte == b'/').map_or(&[][..], |slash| &bytes[..slash]);
        if self.last_folder == folder {
            return;
        }
        folder.clone_into(&mut self.last_folder);
        for folder in path.ancestors().skip(1) {
            let bytes = self.folder_bytes + folder.as_os_str().len() + size_of::<OsString>();
            if self.folders.contains(folder.as_os_str()) || bytes > MOST_FOLDER_BYTES {
                return;
            }
            if let Ok(Some(Found { link: Some(_), .. })) = self.before.look(folder)
                && self.names.are_files(folder)
            {
                let (number, is_new) = self.number(folder);
                if is_new {
                    self.look_at(number, folder);
                }
            }
            self.folders.insert(folder.as_os_str().to_owned());
            self.folder_bytes = bytes;
        }
    }

    /// What lies there, and of a link where it leads.
    fn look_at(&mut self, number: u32, path: &Path) {
        let mut next = Some((number, path.to_owned()));
        for _ in 0..MOST_LINKS {
            let Some((number, path)) = next.take() else { break };
            match self.before.look(&path) {
                Ok(Some(Found { mode, bytes, link: None })) => {
                    self.tell_before(Before { path: number, mode, bytes });
                }
                Ok(Some(Found { mode, link: Some(text), .. })) => {
                    let target = whole(path.parent().unwrap_or(Path::new("/")), &text);
                    // The text may be the same path, which is new but once.
                    if self.names.are_of_interest(&target) {
                        let (number, is_new) = self.number(&target);
                        next = is_new.then_some((number, target));
                    }
                    let of_text = if self.names.fits(&text) { u64::from(self.number(&text).0) + 1 } else { 0 };
                    self.add(&Item::Before(Before { path: number, mode, bytes: of_text }));
                }
                Ok(None) => {}
                Err(()) => self.add(&Item::Note(NOT_ASKED.to_owned())),
            }
        }
    }

    /// The number of a path, which is told where it is new; whether it is.
    fn number(&mut self, path: &Path) -> (u32, bool) {
        let (number, is_new) = self.names.number(path);
        if is_new {
            let shown = self.names.shown(path);
            if self.undecided.waits() {
                self.undecided.push(Item::Path(shown.into_owned()));
            } else if self.failed.is_none() {
                self.failed = self.writer.add_path(&shown).err().map(CaptureError::Write);
            }
        }
        (number, is_new)
    }

    /// Where a path leads that the program names; `None`: it is none, or of no interest.
    fn resolve(&self, thread: pid_t, at: PathAt, arguments: &[u64; 6]) -> Option<PathBuf> {
        self.whole(thread, at, arguments).filter(|path| self.names.are_of_interest(path))
    }

    /// The same, wherever it lies.
    fn whole(&self, thread: pid_t, (directory, at): PathAt, arguments: &[u64; 6]) -> Option<PathBuf> {
        let said = self.text(thread, arguments[at]).filter(|said| !said.is_empty())?;
        let said = Path::new(OsStr::from_bytes(&said));
        let own = self.context(thread)?;
        let from = match directory {
            _ if said.is_absolute() => None,
            None => Some(own.directory.get()),
            Some(directory) => Some(own.directory_of(thread, arguments[directory] as i32)?),
        };
        Some(whole(from.as_deref().unwrap_or(Path::new("")), said))
    }

    /// A text of a thread's memory, or of the call from the buffer that is looked at.
    fn text(&self, thread: pid_t, address: u64) -> Option<Cow<'_, [u8]>> {
        match &self.record {
            Some(record) => record.path.as_deref().map(Cow::Borrowed),
            None => memory::text(thread, address).map(Cow::Owned),
        }
    }

    fn file(&self, thread: pid_t, descriptor: u64) -> Option<Rc<OpenFile>> {
        let file = self.context(thread)?.files.get(descriptor as i32)?;
        (file.number != trace::NOT_FOLLOWED).then_some(file)
    }

    fn called(&mut self, thread: pid_t, woke: Instant) {
        let told = stops::told(thread);
        let Some(Told::Call(number, arguments, address)) = told else {
            if told.is_none() {
                self.note_another_architecture(thread);
            }
            return self.was_held(thread, woke);
        };
        if self.is_led(thread, address) {
            return self.was_held(thread, woke);
        }
        // Where it was attached to it stops at every call, and behind it.
        let Some(&call) = self.calls.get(&number) else { return self.was_held(thread, woke) };
        self.stood_until_stop(thread, woke);
        let pending = self.pending(thread, call, &arguments);
        if pending.is_none() {
            // It does not stop when it returns: what is between this call and the next is a gap like others.
            self.leaves(thread, woke);
        }
        if let Some(of) = self.threads.get_mut(&thread) {
            of.pending = pending.map(|pending| Pending { began: Instant::now(), ..pending });
        }
    }

    fn returned(&mut self, thread: pid_t, woke: Instant) {
        let Some(pending) = self.threads.get_mut(&thread).and_then(|of| of.pending.take()) else { return };
        let Some(Told::Returned(result)) = stops::told(thread) else { return };
        if !BEGUN_AGAIN.contains(&result) {
            self.done_by(thread, pending, (result, woke));
        }
    }

    /// A call at which a thread stopped is done, and it goes on.
    fn done_by(&mut self, thread: pid_t, mut pending: Pending, (result, woke): (i64, Instant)) {
        pending.operation.start = pending.began.duration_since(self.begun).as_nanos() as u64;
        pending.operation.nanoseconds = woke.duration_since(pending.began).as_nanos() as u64;
        self.done(thread, pending, result);
        self.leaves(thread, woke);
    }

    /// A call is done: what changes with it, and its operation.
    fn done(&mut self, thread: pid_t, mut pending: Pending, result: i64) {
        let operation = &mut pending.operation;
        operation.result = result;
        if let Does::Waits(process) = pending.does {
            let at = operation.start.saturating_add(operation.nanoseconds);
            return self.waited(operation.thread, (process, result), at);
        }
        if let Some(own) = self.threads.get_mut(&thread).map(|of| &mut of.context) {
            match pending.does {
                Does::Opens(path, close_on_exec) if result >= 0 && !pending.is_told => {
                    own.files.insert(result as i32, OpenFile { number: trace::NOT_FOLLOWED, path, close_on_exec });
                }
                Does::Opens(path, close_on_exec) if result >= 0 => {
                    operation.files[0] = self.next_file;
                    own.files.insert(result as i32, OpenFile { number: self.next_file, path, close_on_exec });
                    self.next_file += 1;
                }
                Does::Opens(..) => operation.files[0] = trace::NOT_FOLLOWED,
                // What stood there is closed by it.
                Does::Forgets(descriptor) if result >= 0 => own.files.remove(descriptor),
                Does::Duplicates(file, close_on_exec) if result >= 0 => {
                    own.files.insert(result as i32, OpenFile { close_on_exec, ..(*file).clone() });
                }
                Does::Enters(directory) if result >= 0 => own.directory.set(directory),
                Does::Unshares(what, closed) if result >= 0 => {
                    own.unshares(what);
                    closed.iter().for_each(|range| own.files.close(range));
                }
                _ => {}
            }
        }
        if pending.is_told {
            self.operations += 1;
            self.add(&Item::Operation(pending.operation));
        }
    }
}
