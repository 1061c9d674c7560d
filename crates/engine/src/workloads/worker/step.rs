//! What is done next: another place, a sync, a pause.

use super::{Flight, NOTHING, SLOW_TO_RENEW_BYTES, Tallied, Until, Worker};
use crate::clock::nanoseconds;
use crate::error::EngineError;
use crate::io::{Action, Operation, Queue};
use crate::pattern::Span;
use crate::target::OpenTarget;
use crate::workloads::files;
use crate::workloads::pace::Arrival;
use model::job::Direction;
use rustix::fs::fsync;

/// What one turn of the filling has come to.
pub(super) enum Step {
    /// An operation is queued.
    Queued,
    /// Nothing before this moment.
    Wait(u64),
    /// Everything in flight must end first.
    Drain,
    /// The loop's places are used up.
    Done,
}

impl Worker {
    /// Queues the next operation, its contents made.
    #[inline]
    pub(super) fn step<const PLAIN: bool>(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        mut now: u64,
        until: Until,
        in_flight: u32,
    ) -> Result<Step, EngineError> {
        if !PLAIN {
            if let Some((span, due)) = self.pace.kept() {
                if self.pace.is_past(due) {
                    return Ok(Step::Done);
                }
                if due > now {
                    return Ok(Step::Wait(due));
                }
                self.pace.take_kept();
                let begun = self.pace.started(due, now, self.room_since, self.begun_counting);
                return self.special(queue, place, span, begun);
            }
            if let Some(other) = self.before_the_next(queue, place, now, in_flight)? {
                return Ok(other);
            }
        }
        let span = match self.places.next() {
            Some(span) => span,
            None => match self.begin_again(until)? {
                Some(span) => {
                    now = self.clock.now();
                    span
                }
                None => return Ok(Step::Done),
            },
        };
        if PLAIN {
            return self.plain(queue, span, now);
        }
        match self.pace.due(span.direction, span.bytes) {
            Arrival::Free => self.special(queue, place, span, now),
            Arrival::At(due) if self.pace.is_past(due) => Ok(Step::Done),
            Arrival::At(due) if due <= now => {
                let begun = self.pace.started(due, now, self.room_since, self.begun_counting);
                self.special(queue, place, span, begun)
            }
            Arrival::At(due) => {
                self.pace.keep(span, due);
                Ok(Step::Wait(due))
            }
        }
    }

    /// What comes before another place: a sync, a pause.
    fn before_the_next(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        now: u64,
        in_flight: u32,
    ) -> Result<Option<Step>, EngineError> {
        if self.resume_at > now {
            return Ok(Some(Step::Wait(self.resume_at)));
        }
        if let Some(action) = self.sync_that_is_due() {
            // As in fio it takes the turn of a file: with several, each is synced in its time.
            let file = self.places.file_for_sync().unwrap_or(self.last_written);
            self.ensure_open(queue, place, file)?;
            let chunk = self.contents.take();
            self.flights[chunk as usize] = Flight { begun: now, file, action, tallied: Tallied::Sync, ..NOTHING };
            queue.queue(Operation { chunk, file, offset: 0, bytes: 0, action })?;
            return Ok(Some(Step::Queued));
        }
        let io = &self.task.io;
        if io.thinktime_seconds > 0.0 && self.issued_since_think >= io.thinktime_blocks.max(1) {
            if in_flight > 0 {
                return Ok(Some(Step::Drain));
            }
            self.issued_since_think = 0;
            self.resume_at = self.think(now);
            return Ok(Some(Step::Wait(self.resume_at)));
        }
        Ok(None)
    }

    /// Computes for as long as the job says, and answers until when to sleep.
    fn think(&self, now: u64) -> u64 {
        let io = &self.task.io;
        let spin = now + nanoseconds(io.thinktime_spin_seconds.min(io.thinktime_seconds));
        while self.clock.now() < spin {
            std::hint::spin_loop();
        }
        now + nanoseconds(io.thinktime_seconds)
    }

    /// In job files a sync is an operation of its own, as in fio; in slices at depth 1 it belongs to
    /// its write.
    fn sync_that_is_due(&mut self) -> Option<Action> {
        let (fsync, fdatasync) = (self.task.io.fsync, self.task.io.fdatasync);
        if fsync > 0 && self.writes_since_fsync >= fsync {
            self.writes_since_fsync = 0;
            // It does what an fdatasync would do too.
            if self.writes_since_sync >= fdatasync {
                self.writes_since_sync = 0;
            }
            return Some(Action::Fsync);
        }
        if fdatasync > 0 && !self.joins_syncs() && self.writes_since_sync >= fdatasync {
            self.writes_since_sync = 0;
            return Some(Action::Fdatasync);
        }
        None
    }

    fn joins_syncs(&self) -> bool {
        !self.task.whole && self.task.io.fdatasync > 0 && self.depth == 1
    }

    /// All places of a loop are used up.
    #[cold]
    pub(super) fn begin_again(&mut self, until: Until) -> Result<Option<Span>, EngineError> {
        if until == Until::LoopEnd(None) || (!self.task.io.time_based && self.task.whole) {
            return Ok(None);
        }
        if self.task.io.invalidate && !self.task.io.direct && self.device.is_none() && self.task.whole {
            for file in self.handles.iter().flatten() {
                // Best effort, as before the work: a page that is dirty or in use stays.
                let _ = files::invalidate(file);
            }
        }
        self.places.restart();
        Ok(self.places.next())
    }

    /// An operation of work with more to it than offsets.
    fn special(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        mut span: Span,
        begun: u64,
    ) -> Result<Step, EngineError> {
        if self.append.is_some() {
            if span.offset == 0 && self.written_bytes > 0 {
                self.advance(queue, place)?;
            }
        } else {
            self.ensure_open(queue, place, span.file)?;
            span.offset += self.shifts[span.file as usize];
        }
        self.issued_since_think += 1;
        let (chunk, mut action) = self.chunk_for(&span);
        if action == Action::Write {
            self.last_written = span.file;
            if self.task.io.fsync > 0 || self.task.io.fdatasync > 0 {
                self.writes_since_sync += 1;
                self.writes_since_fsync += 1;
                if self.joins_syncs() && self.writes_since_sync == self.task.io.fdatasync {
                    self.writes_since_sync = 0;
                    action = Action::WriteAndSync;
                }
            }
            if let Some(verifier) = &mut self.verifier {
                let bytes = &mut self.contents.bytes_mut(chunk)[..span.bytes as usize];
                verifier.issue(bytes, span.file, span.offset);
            }
        }
        self.hand_over(queue, chunk, span, action, begun)
    }

    /// An operation of work with nothing more to it than offsets.
    #[inline]
    fn plain(&mut self, queue: &mut dyn Queue, span: Span, begun: u64) -> Result<Step, EngineError> {
        let (chunk, action) = self.chunk_for(&span);
        self.hand_over(queue, chunk, span, action, begun)
    }

    /// Memory for an operation; a write's holds what it writes.
    #[inline]
    pub(super) fn chunk_for(&mut self, span: &Span) -> (u32, Action) {
        match span.direction {
            Direction::Read => (self.contents.take_for_read(), Action::Read),
            Direction::Write => {
                let chunk = self.contents.take();
                self.contents.renew_at(chunk, span.bytes, (span.file, span.offset));
                self.written_bytes += u64::from(span.bytes);
                (chunk, Action::Write)
            }
            Direction::Trim => (self.contents.take(), Action::Trim),
        }
    }

    #[inline]
    fn hand_over(
        &mut self,
        queue: &mut dyn Queue,
        chunk: u32,
        span: Span,
        action: Action,
        mut begun: u64,
    ) -> Result<Step, EngineError> {
        let Span { file, offset, bytes, direction } = span;
        if bytes >= SLOW_TO_RENEW_BYTES && direction == Direction::Write && self.free {
            begun = self.clock.now();
        }
        let expected = action.moves(bytes);
        self.flights[chunk as usize] =
            Flight { begun, offset, bytes, file, expected, action, tallied: direction.into() };
        queue.queue(Operation { chunk, file, offset, bytes, action })?;
        Ok(Step::Queued)
    }

    /// The appended file is full: on to the next.
    #[cold]
    fn advance(&mut self, queue: &mut dyn Queue, place: &OpenTarget) -> Result<(), EngineError> {
        if let (Some(append), Some(directory)) = (&mut self.append, place.directory()) {
            let file = append.advance(directory)?;
            self.handles[0] = Some(file.clone());
            queue.set_file(0, Some(file))?;
        }
        Ok(())
    }

    /// A file that is not open takes the place of the one that has been open for longest.
    fn ensure_open(&mut self, queue: &mut dyn Queue, place: &OpenTarget, slot: u32) -> Result<(), EngineError> {
        if self.null || self.handles[slot as usize].is_some() {
            return Ok(());
        }
        if self.open_slots.len() >= files::most_open(&self.task.io, &self.task.files)
            && let Some(oldest) = self.open_slots.pop_front()
        {
            let file = self.handles[oldest as usize].take();
            if let (true, Some(file)) = (self.task.io.fsync_on_close, &file) {
                fsync(&**file).map_err(|errno| EngineError::file("sync", self.path(place, oldest), errno))?;
            }
            queue.set_file(oldest, None)?;
        }
        let file = self.open_slot(place, slot)?;
        self.handles[slot as usize] = Some(file.clone());
        self.open_slots.push_back(slot);
        queue.set_file(slot, Some(file))
    }
}
