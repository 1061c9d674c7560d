//! Calls that were done without a stop: read from the buffer before anything else is looked at.

use super::{Pending, Tracer};
use crate::call_buffer::{self, Buffered, CallBuffer, Looked, Owner, Record};
use crate::process::state_of;
use crate::samples;
use crate::stops::{On, Stop};
use libc::pid_t;
use std::time::{Duration, Instant};
use trace::{BufferUse, Item};

/// The buffer is looked at so often, and where it had nothing for a second less and less.
pub(super) const SOONEST: Duration = Duration::from_millis(5);
const LATEST: Duration = Duration::from_secs(1);

impl Tracer {
    /// Writes down what the buffer holds. `all`: a call is waited for whose thread lost the CPU while it wrote it; not where a thread
    /// stopped that may itself be writing.
    pub(super) fn drain(&mut self, all: bool) {
        let Some(mut buffer) = self.buffer.take() else { return };
        buffer.synchronize();
        self.undecided.begin();
        let before = self.operations;
        loop {
            while let Some(record) = buffer.next(all, &|process, own_memory| self.owner(process as pid_t, own_memory)) {
                let when = buffer.when(&record);
                self.recorded(record, when);
            }
            if !buffer.is_held_up() {
                break;
            }
            // They are looked at when this is done; who got a signal while he wrote a record ends that first.
            while let Some((thread, stop)) = crate::stops::next_now() {
                if matches!(stop, Stop::Signal(_))
                    && let Some(other) = CallBuffer::ends_its_record(thread)
                {
                    self.early.push((thread, other));
                }
                self.early.push((thread, stop));
            }
        }
        self.tell_undecided(all);
        if self.operations > before {
            self.had_calls = Instant::now();
        }
        self.buffer = Some(buffer);
    }

    /// The same where a thread stopped. Before it gets a signal it ends the record that it is writing.
    pub(super) fn drain_at(&mut self, thread: pid_t, stop: Stop) {
        let is_signal = matches!(stop, Stop::Signal(_));
        let process = self.threads.get(&thread).and_then(|of| self.processes.get(&of.process));
        if is_signal
            && process.is_some_and(|own| own.buffered.is_mapped())
            && let Some(stop) = CallBuffer::ends_its_record(thread)
        {
            self.early.push((thread, stop));
        }
        self.drain(!is_signal && !matches!(stop, Stop::Group(_)));
    }

    /// The same where a timer ran out; answers when it shall the next time.
    pub(super) fn drain_now_and_then(&mut self, last: Duration) -> Duration {
        self.drain(false);
        match self.buffer {
            Some(_) if self.had_calls.elapsed() < LATEST => SOONEST,
            _ => (last * 2).min(LATEST),
        }
    }

    /// What becomes of a thread that has begun a record: running, or waiting for the disk in the middle of it, it ends it.
    fn owner(&self, process: pid_t, own_memory: u64) -> Owner {
        let Some(thread) = self.thread_of(process, own_memory) else { return Owner::Gone };
        match state_of(thread).map(|(state, _)| state) {
            Some('R' | 'D') => Owner::Runs,
            None | Some('Z' | 'X') => Owner::Gone,
            Some(_) => Owner::Stands,
        }
    }

    fn recorded(&mut self, record: Record, (start, nanoseconds, look): (u64, u64, u64)) {
        let (process, own_memory) = CallBuffer::whose(&record);
        let Some(thread) = self.thread_of(process, own_memory) else { return };
        let Some(&call) = self.calls.get(&record.number) else { return };
        let (number, arguments, result, begins) = (record.number, record.arguments, record.result, record.begins);
        if !begins {
            self.stood_to_look(thread, look);
            self.stood_until(thread, start, nanoseconds);
        }
        if !begins && number == libc::SYS_close {
            // What the descriptor leads to now may be another thread's.
            let closing = self.threads.get_mut(&thread).and_then(|of| of.closing.remove(&arguments[0]));
            if let Some(pending) = closing {
                self.done_at(thread, pending, (start, nanoseconds), result);
            }
            return;
        }
        // Behind a slash a link is led, and the path is written without it.
        let is_plain = record.path.as_deref().is_none_or(|path| !path.ends_with(b"/") && !path.ends_with(b"/."));
        self.known = match record.looked {
            true => looked(&arguments),
            false => lay(number, &arguments, result),
        };
        self.known = self.known.take().filter(|_| is_plain);
        self.record = Some(record);
        let pending = self.pending(thread, call, &arguments);
        (self.record, self.known) = (None, None);
        if begins {
            if let (Some(of), Some(pending)) = (self.threads.get_mut(&thread), pending) {
                of.closing.insert(arguments[0], pending);
            }
        } else if let Some(pending) = pending {
            self.done_at(thread, pending, (start, nanoseconds), result);
        }
    }

    fn done_at(&mut self, thread: pid_t, mut pending: Pending, (start, nanoseconds): (u64, u64), result: i64) {
        (pending.operation.start, pending.operation.nanoseconds) = (start, nanoseconds);
        self.buffered_operations += u64::from(pending.is_told);
        self.done(thread, pending, result);
    }

    /// The thread of a process whose own memory is there; the process's first where nobody's is.
    fn thread_of(&self, process: pid_t, own_memory: u64) -> Option<pid_t> {
        let of = self.threads_of.get(&process)?;
        let first = of.first()?;
        if of.len() == 1 {
            return Some(first.thread);
        }
        let its = of.iter().find(|sibling| sibling.own_memory == Some(own_memory));
        Some(its.or_else(|| of.iter().find(|sibling| sibling.thread == process)).unwrap_or(first).thread)
    }

    /// Whether the thread begins its call again.
    pub(super) fn is_led(&mut self, thread: pid_t, address: u64) -> bool {
        let Some(mut buffer) = self.buffer.take() else { return false };
        let process = self.threads.get(&thread).map_or(thread, |of| of.process);
        let is_alone = self.threads_of.get(&process).is_some_and(|of| of.len() == 1);
        let looked = self
            .processes
            .get_mut(&process)
            .map_or(Looked::AsItWas, |own| buffer.look(&mut own.buffered, (thread, process), address, is_alone));
        self.buffer = Some(buffer);
        match looked {
            Looked::AsItWas => false,
            Looked::Again => true,
            Looked::Ended(stop) => {
                self.early.push((thread, stop));
                true
            }
        }
    }

    /// What a process has of the buffer that was just made of another one.
    pub(super) fn buffered_of_child(&mut self, (parent, thread): (pid_t, pid_t), child: pid_t) -> Buffered {
        let Some(buffer) = &self.buffer else { return Buffered::default() };
        let Some(own) = self.processes.get_mut(&parent) else { return Buffered::default() };
        // The first thread of the process may be over, and its memory with it.
        let shares = call_buffer::share_memory(thread, child);
        buffer.forked(thread, &mut own.buffered, child, shares);
        let buffered = match own.buffered.is_mapped() {
            true => own.buffered.of_child(shares),
            // Other threads of the process may run in the same memory: nothing is put there.
            false => Buffered::default().of_child(shares),
        };
        if shares {
            // Who lent the parent its memory has lent it to the child as well.
            self.processes.values_mut().for_each(|lender| buffer.lent_on(&mut lender.buffered, (parent, child)));
        }
        buffered
    }

    /// A process's calls are not written into the buffer any more.
    pub(super) fn stops_from_now_on(&mut self, thread: pid_t) {
        let process = self.threads.get(&thread).map(|of| of.process);
        let own = process.and_then(|process| self.processes.get_mut(&process));
        if let (Some(buffer), Some(own)) = (&self.buffer, own) {
            buffer.turn_off(thread, &mut own.buffered);
        }
    }

    /// A process is another program now, or none any more: it uses nobody's memory.
    pub(super) fn gives_back(&mut self, process: pid_t) {
        let Some(buffer) = &self.buffer else { return };
        for (&owner, own) in &mut self.processes {
            buffer.has_back(&mut own.buffered, (owner, process));
        }
    }

    /// A thread is stopped for the first time.
    pub(super) fn learn_memory(&mut self, thread: pid_t) {
        if self.buffer.is_none() {
            return;
        }
        let own_memory = CallBuffer::own_memory(thread);
        let process = self.threads.get(&thread).map(|of| of.process);
        let siblings = process.and_then(|process| self.threads_of.get_mut(&process));
        for sibling in siblings.into_iter().flatten() {
            // Who had it before is over, though that was not told yet.
            if sibling.thread == thread {
                sibling.own_memory = own_memory;
            } else if sibling.own_memory == own_memory {
                sibling.own_memory = None;
            }
        }
    }

    /// A write stopped: the next ones of its process do not, for a while.
    pub(super) fn was_looked_at(&self, thread: pid_t) {
        let own = self.threads.get(&thread).and_then(|of| self.processes.get(&of.process));
        if let (Some(buffer), Some(own)) = (&self.buffer, own)
            && own.buffered.is_mapped()
        {
            buffer.sampled(thread, samples::EVERY);
        }
    }

    /// How a thread goes on that is about to get a signal; a fault of the code that writes calls is none of the program's.
    pub(super) fn signalled(&self, thread: pid_t, signal: libc::c_int, on: On) -> (On, libc::c_int) {
        let own = self.threads.get(&thread).and_then(|of| self.processes.get(&of.process));
        if !own.is_some_and(|own| own.buffered.is_mapped()) {
            return (on, signal);
        }
        let is_fault = [libc::SIGSEGV, libc::SIGBUS].contains(&signal);
        if is_fault && CallBuffer::leads_out(thread) {
            return (on, 0);
        }
        (on, signal)
    }

    /// Calls of which only the begin was written.
    pub(super) fn tell_lost(&mut self) {
        let lost = self.buffer.as_ref().map_or(0, CallBuffer::lost);
        if lost > 0 {
            let calls = if lost == 1 { "1 call is".to_owned() } else { format!("{lost} calls are") };
            self.add(&Item::Note(format!(
                "threads were stopped or killed while they wrote their calls down: {calls} missing"
            )));
        }
    }

    /// How much of the buffer was in use; `None`: there was none.
    pub(super) fn buffer_use(&self) -> Option<BufferUse> {
        let (bytes, most_bytes, filled) = self.buffer.as_ref()?.fullness();
        Some(BufferUse { bytes, most_bytes, filled, calls: self.buffered_operations })
    }

    /// The next stop, of which some were seen already.
    pub(super) fn next_stop(&mut self) -> std::io::Result<Option<(pid_t, Stop)>> {
        match self.early.pop() {
            Some(early) => Ok(Some(early)),
            None => crate::stops::next(),
        }
    }
}

/// What lay under a path: type and permissions, 0 where nothing did, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lay {
    pub(super) mode: u32,
    pub(super) bytes: u64,
    /// Said of where a link leads, if there was one.
    pub(super) follows: bool,
}

/// What a call that named a path tells by its result of what lay there before; `None`: it has to be looked at.
fn lay(number: i64, arguments: &[u64; 6], result: i64) -> Option<Lay> {
    const NEW: u64 = (libc::O_CREAT | libc::O_EXCL) as u64;
    const NOT_THERE: i64 = -(libc::ENOENT as i64);
    let nothing = |follows| Some(Lay { mode: 0, bytes: 0, follows });
    let is_look = number == libc::SYS_newfstatat && arguments[3] & libc::AT_SYMLINK_NOFOLLOW as u64 != 0;
    match number {
        libc::SYS_openat if arguments[2] & NEW == NEW && result >= 0 => nothing(false),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open if arguments[1] & NEW == NEW && result >= 0 => nothing(false),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir | libc::SYS_mknod if result >= 0 => nothing(false),
        libc::SYS_mkdirat | libc::SYS_mknodat if result >= 0 => nothing(false),
        // The path may be made by the next call, which is in the buffer too.
        _ if result == NOT_THERE => nothing(!is_look),
        // The buffer has st_mode and st_size in place of arguments that this call has not.
        libc::SYS_newfstatat if is_look && result == 0 => looked(arguments),
        _ => None,
    }
}

/// The same where st_mode and st_size stand in place of the last arguments; a link is looked at.
fn looked(arguments: &[u64; 6]) -> Option<Lay> {
    let (mode, bytes) = (arguments[4] as u32, arguments[5].min(i64::MAX as u64));
    let kind = mode & libc::S_IFMT;
    let bytes = if kind == libc::S_IFREG { bytes } else { 0 };
    (kind != libc::S_IFLNK).then_some(Lay { mode, bytes, follows: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_calls_tell_what_lay_under_their_path() {
        let lstat = |mode: u32, result| {
            lay(libc::SYS_newfstatat, &[0, 0, 0, libc::AT_SYMLINK_NOFOLLOW as u64, u64::from(mode), 7], result)
        };
        let of = |mode, bytes| Some(Lay { mode, bytes, follows: false });
        assert_eq!(lstat(libc::S_IFREG | 0o644, 0), of(libc::S_IFREG | 0o644, 7));
        assert_eq!(lstat(libc::S_IFDIR | 0o755, 0), of(libc::S_IFDIR | 0o755, 0));
        // Where a link leads is looked at.
        assert_eq!(lstat(libc::S_IFLNK | 0o777, 0), None);
        assert_eq!(lstat(0, -i64::from(libc::ENOENT)), of(0, 0));
        assert_eq!(lstat(0, -i64::from(libc::EACCES)), None);
        // Through a link it may be another file.
        assert_eq!(lay(libc::SYS_newfstatat, &[0, 0, 0, 0, 0o100_644, 7], 0), None);
        let open = |flags: i32, result| lay(libc::SYS_openat, &[0, 0, flags as u64, 0, 0, 0], result);
        assert_eq!(open(libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY, 3), of(0, 0));
        assert_eq!(open(libc::O_CREAT | libc::O_EXCL, -i64::from(libc::EEXIST)), None);
        assert_eq!(open(libc::O_CREAT, 3), None);
        assert_eq!(lay(libc::SYS_mkdirat, &[0; 6], 0), of(0, 0));
        assert_eq!(lay(libc::SYS_mkdirat, &[0; 6], -i64::from(libc::EEXIST)), None);
        assert_eq!(looked(&[0, 0, 0, 0, u64::from(libc::S_IFREG | 0o600), 9]), of(libc::S_IFREG | 0o600, 9));
        assert_eq!(looked(&[0, 0, 0, 0, u64::from(libc::S_IFDIR | 0o700), 9]), of(libc::S_IFDIR | 0o700, 0));
        assert_eq!(looked(&[0, 0, 0, 0, u64::from(libc::S_IFLNK | 0o777), 9]), None);
        // A link may lead to what is not there.
        let nothing = Some(Lay { mode: 0, bytes: 0, follows: true });
        assert_eq!(open(libc::O_RDONLY, -i64::from(libc::ENOENT)), nothing);
        assert_eq!(lay(libc::SYS_faccessat, &[0; 6], -i64::from(libc::ENOENT)), nothing);
    }
}
