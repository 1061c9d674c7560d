//! Programs that ran already: they are stopped once, so that their open files are known, and at the end they are let go.

use super::{FLUSH, Tracer, header, tracer};
use crate::attach::{self, Seized};
use crate::process::{
    FileContext, OpenFile, Process, descriptors, order_of_directories, order_of_files, order_of_tables, position,
};
use crate::signals::Signals;
use crate::stops::{self, On, Stop};
use crate::system_calls::code;
use crate::{CaptureError, Captured, Job, Running, filter};
use libc::pid_t;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use trace::{Header, Item, Operation, Writer};

const BEGAN_BEFORE: &str =
    "the program ran already when the capture began: what it had asked before is not in the trace";
const LET_GO: &str = "the capture ended before the program did: what it asked for later is not in the trace";

/// Attaches to them, and follows them to the end.
pub(crate) fn run(
    mut job: Job,
    running: &Running,
    out: File,
    mut begun: impl FnMut(usize, usize),
) -> Result<Captured, CaptureError> {
    if !filter::is_known() {
        return Err(CaptureError::Machine(std::env::consts::ARCH));
    }
    let signals = Signals::take_ending(FLUSH);
    let Seized { processes, left_out } = attach::seize(running)?;
    let first = running.processes.first().copied().unwrap_or(0);
    job.command = command_of(first);
    let directory = FileContext::as_it_is(first).directory.get().to_string_lossy().into_owned();
    let of_job = header(&job);
    let directory = if job.anonymous { of_job.directory.clone() } else { directory };
    let mut writer = Writer::begin(out).map_err(CaptureError::Write)?;
    writer.add(&Item::Header(Header { directory, ..of_job })).map_err(CaptureError::Write)?;
    let mut tracer = tracer(&job, writer, Instant::now(), None);
    tracer.to_call = On::ToReturn;
    [BEGAN_BEFORE.to_owned()].into_iter().chain(left_out).for_each(|note| tracer.add(&Item::Note(note)));
    let mut attached = Attached { running: HashSet::new(), shared: HashMap::new() };
    let held = tracer.hold(&processes, &mut attached);
    tracer.flush();
    let status = tracer.follow_attached(&mut attached, (first, held), &signals, || {
        begun(processes.len(), processes.iter().map(|(_, threads)| threads.len()).sum());
    })?;
    tracer.end(status)
}

/// The command of a process; one that has none has its name.
fn command_of(process: pid_t) -> Vec<CString> {
    let text = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = text.strip_suffix(b"\0").unwrap_or(&text).split(|&byte| byte == 0);
    let words: Vec<CString> = words.filter_map(|word| CString::new(word).ok()).collect();
    if words.iter().any(|word| !word.is_empty()) {
        return words;
    }
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    CString::new(name.trim_end()).into_iter().collect()
}

/// What is known of programs that ran already while they are stopped for the first time.
struct Attached {
    /// Threads that did not stop yet.
    running: HashSet<pid_t>,
    /// Descriptors that were told, by path, one of each open file and in the kernel's order of these: others may be of the same.
    shared: HashMap<PathBuf, Vec<Descriptor>>,
}

/// A descriptor that was told, of a thread that has it.
struct Descriptor {
    thread: pid_t,
    number: i32,
    /// In the trace.
    file: u32,
}

/// Where a descriptor's open file is among others, or where it belongs: threads stand still meanwhile, and may have many files open.
fn place_among(others: &[Descriptor], of: (pid_t, i32)) -> Result<usize, usize> {
    // What is gone has no place of its own.
    others.binary_search_by(|other| order_of_files((other.thread, other.number), of).unwrap_or(Ordering::Less))
}

/// What a thread has in common with one that is known, or else what it has itself; `order` is the kernel's, and where that does not tell,
/// threads of one process have it in common.
fn shared_by<T: Clone>(
    known: &mut Vec<(pid_t, T)>,
    (thread, own): (pid_t, T),
    order: fn(pid_t, pid_t) -> Option<Ordering>,
) -> T {
    match known.binary_search_by(|(other, _)| order(*other, thread).unwrap_or(Ordering::Equal)) {
        Ok(same) => known[same].1.clone(),
        Err(place) => {
            known.insert(place, (thread, own.clone()));
            own
        }
    }
}

impl Tracer {
    /// Stops all threads, so that nothing is opened or closed while their files are told; answers why each is stopped. Who cannot stop
    /// within a second, as behind a slow disk, is asked again when it does.
    fn hold(&mut self, processes: &[(pid_t, Vec<pid_t>)], attached: &mut Attached) -> Vec<(pid_t, Stop)> {
        for (process, threads) in processes {
            self.processes.insert(*process, Process::default());
            for &thread in threads {
                self.meet(thread, None);
                stops::interrupt(thread);
                attached.running.insert(thread);
            }
        }
        let mut held = Vec::new();
        while !attached.running.is_empty() {
            let Ok(Some((thread, stop))) = stops::next() else { break };
            if attached.running.remove(&thread) {
                stops::begin_again(thread);
            }
            held.push((thread, stop));
        }
        for (_, threads) in processes {
            for thread in self.look_at_contexts(threads) {
                self.adopt_running(thread, attached);
            }
        }
        held
    }

    /// What threads of one process have now: they may have gone elsewhere until they stopped, and unshared descriptors or directory long
    /// before. Answers one thread for each table of descriptors.
    fn look_at_contexts(&mut self, threads: &[pid_t]) -> Vec<pid_t> {
        let (mut tables, mut directories) = (Vec::new(), Vec::new());
        for &thread in threads {
            let Some(of) = self.threads.get_mut(&thread) else { continue };
            let FileContext { files, directory } = FileContext::as_it_is(thread);
            of.context = FileContext {
                files: shared_by(&mut tables, (thread, files), order_of_tables),
                directory: shared_by(&mut directories, (thread, directory), order_of_directories),
            };
        }
        tables.into_iter().map(|(thread, _)| thread).collect()
    }

    /// Files that a thread has open by now and that are not known: each is told as if it were opened, with the place where it stands.
    fn adopt_running(&mut self, thread: pid_t, attached: &mut Attached) {
        let number_of_thread = self.threads.get(&thread).map_or(0, |of| of.number);
        for (descriptor, path, flags) in descriptors(thread) {
            let is_known = self.context(thread).is_none_or(|own| own.files.get(descriptor).is_some());
            if is_known || !self.names.are_of_interest(&path) {
                continue;
            }
            let others = attached.shared.entry(path.clone()).or_default();
            let number = match place_among(others, (thread, descriptor)) {
                Ok(same) => others[same].file,
                Err(place) => {
                    let file = self.next_file;
                    others.insert(place, Descriptor { thread, number: descriptor, file });
                    self.next_file += 1;
                    let flags = flags & !i64::from(libc::O_CLOEXEC);
                    self.tell_open(number_of_thread, (file, &path), flags, position(thread, descriptor));
                    file
                }
            };
            let close_on_exec = flags & i64::from(libc::O_CLOEXEC) != 0;
            if let Some(own) = self.context(thread) {
                own.files.insert(descriptor, OpenFile { number, path, close_on_exec });
            }
        }
    }

    fn tell_open(&mut self, thread: u32, (file, path): (u32, &PathBuf), flags: i64, position: Option<i64>) {
        let start = self.begun.elapsed().as_nanos() as u64;
        let of_file = Operation { thread, start, files: [file, 0], ..Operation::default() };
        let opens = Operation {
            call: code("openat").unwrap_or(0),
            paths: [self.path(path, true), 0],
            numbers: [flags, 0, 0, 0],
            ..of_file
        };
        self.add(&Item::Operation(opens));
        self.operations += 1;
        if let Some(position) = position.filter(|&position| position > 0) {
            let numbers = [position, i64::from(libc::SEEK_SET), 0, 0];
            let seeks = Operation { call: code("lseek").unwrap_or(0), result: position, numbers, ..of_file };
            self.add(&Item::Operation(seeks));
            self.operations += 1;
        }
    }

    /// Until the last thread ended, or until the capture is told to end; answers the first process's status, 0 in the second case.
    fn follow_attached(
        &mut self,
        attached: &mut Attached,
        (first, held): (pid_t, Vec<(pid_t, Stop)>),
        signals: &Signals,
        begun: impl FnOnce(),
    ) -> Result<i32, CaptureError> {
        let mut status = None;
        for (thread, stop) in held {
            self.goes_on(thread, stop, (first, &mut status));
        }
        begun();
        loop {
            if signals.came() || self.failed.is_some() {
                self.add(&Item::Note(LET_GO.to_owned()));
                self.let_go(signals);
                return Ok(0);
            }
            match stops::next() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.flush();
                    self.release_orphans();
                }
                Err(error) => {
                    return Err(CaptureError::NotTraced { action: "wait for the program", error, remedy: "try again" });
                }
                Ok(None) => return Ok(status.unwrap_or(0)),
                Ok(Some((thread, stop))) => {
                    if attached.running.remove(&thread) {
                        stops::begin_again(thread);
                        self.adopt_running(thread, attached);
                    }
                    self.goes_on(thread, stop, (first, &mut status));
                }
            }
        }
    }

    /// Looks at a stop and lets the thread go on.
    fn goes_on(&mut self, thread: pid_t, stop: Stop, (first, status): (pid_t, &mut Option<i32>)) {
        let woke = Instant::now();
        if let Stop::Ended(how) = stop {
            if thread == first {
                status.get_or_insert(how);
            }
            self.forget(thread);
        } else if stop == Stop::New && !self.threads.contains_key(&thread) {
            // It waits for who began it to tell so: until then nobody knows its open files.
            self.waiting.insert(thread, woke);
            self.release_orphans();
        } else {
            let (on, signal) = self.stopped(thread, self.without_filter(thread, stop), woke);
            self.tracer_nanoseconds += woke.elapsed().as_nanos() as u64;
            stops::resume(thread, if on == On::ToCall { self.to_call } else { on }, signal);
        }
    }

    /// Without a filter a thread stops before every call and behind it: behind one of interest where one was seen to begin.
    fn without_filter(&self, thread: pid_t, stop: Stop) -> Stop {
        let is_pending = self.threads.get(&thread).is_some_and(|of| of.pending.is_some());
        if stop == Stop::Returned && !is_pending { Stop::Call } else { stop }
    }

    /// Stops each thread and lets it go on untraced, with the signal that it was about to get; who is stopped by one stays so.
    fn let_go(&mut self, signals: &Signals) {
        self.waiting.drain().for_each(|(thread, _)| stops::detach(thread, 0));
        self.threads.keys().for_each(|&thread| stops::interrupt(thread));
        loop {
            match stops::next() {
                // Told twice: the kernel lets go of the rest when this process ends.
                Err(error) if error.kind() == io::ErrorKind::Interrupted && !signals.came() => {}
                Err(_) | Ok(None) => return,
                Ok(Some((thread, Stop::Ended(_)))) => self.forget(thread),
                Ok(Some((thread, Stop::Signal(signal)))) => {
                    stops::begin_again(thread);
                    stops::detach(thread, signal);
                }
                Ok(Some((thread, Stop::Group(_)))) => stops::detach(thread, 0),
                Ok(Some((thread, Stop::New))) => {
                    stops::begin_again(thread);
                    stops::detach(thread, 0);
                }
                // On to the end of its call, which might answer as if a signal had come; any stop takes the place of the one it was told
                // to make.
                Ok(Some((thread, stop))) => {
                    if stop == Stop::Returned && self.without_filter(thread, stop) == Stop::Returned {
                        self.stopped(thread, stop, Instant::now());
                    }
                    stops::begin_again(thread);
                    stops::interrupt(thread);
                    stops::resume(thread, On::ToCall, 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn descriptors_of_one_open_file_are_found_among_many_of_the_same_path() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let own = std::process::id() as pid_t;
        let opened: Vec<File> = (0..50).map(|_| file.reopen().unwrap()).collect();
        let mut others = Vec::new();
        for (number, of) in opened.iter().enumerate() {
            let place = place_among(&others, (own, of.as_raw_fd())).unwrap_err();
            others.insert(place, Descriptor { thread: own, number: of.as_raw_fd(), file: number as u32 });
        }
        for (number, of) in opened.iter().enumerate() {
            let again = of.try_clone().unwrap();
            let found = place_among(&others, (own, again.as_raw_fd())).unwrap();
            assert_eq!(others[found].file, number as u32);
        }
    }
}
