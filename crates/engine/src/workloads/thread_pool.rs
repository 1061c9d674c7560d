//! Several workers of steady work, each in a thread of its own that lives as long as the work: a
//! worker's ring belongs to the thread that made it.

use super::Observer;
use super::worker::{Call, Counts, Tallied, Task, Until, Worker};
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::target::OpenTarget;
use model::Flag;
use model::job::Direction;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// From the command to the start of a slice: every thread has woken by then.
const HEAD_START_NS: u64 = 300_000;

/// The workers of one workload.
pub(super) struct ThreadPool {
    members: Vec<Member>,
    written_bytes: u64,
    notes: Vec<Flag>,
}

struct Member {
    commands: Option<Sender<Command>>,
    answers: Receiver<Result<Answer, EngineError>>,
    thread: Option<JoinHandle<()>>,
}

enum Command {
    /// Opens files and queue.
    Open(OpenTarget),
    /// Works from this moment on.
    Slice { place: OpenTarget, begin_at: u64, warm_up_ns: u64, window_ns: u64, moments: Option<Moments> },
    /// Closes everything.
    Release,
}

/// Tells when a worker's window opens and when it closes.
struct Moments(Sender<()>);

impl Observer for Moments {
    fn window_opens(&mut self) {
        // Nobody listens any longer where the race is over.
        let _ = self.0.send(());
    }

    fn window_closes(&mut self) {
        let _ = self.0.send(());
    }
}

#[derive(Default)]
struct Answer {
    counts: Box<[Counts; 4]>,
    elapsed_ns: u64,
    written_bytes: u64,
    notes: Vec<Flag>,
}

impl ThreadPool {
    /// Starts a thread for each task and opens its files.
    pub(super) fn start(place: &OpenTarget, tasks: Vec<Task>, stop: &Arc<AtomicBool>) -> Result<Self, EngineError> {
        let members = tasks.into_iter().map(|task| Member::start(place, task, stop)).collect::<Result<_, _>>()?;
        let mut crew = ThreadPool { members, written_bytes: 0, notes: Vec::new() };
        crew.open(place)?;
        Ok(crew)
    }

    fn open(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        for member in &self.members {
            member.tell(Command::Open(place.try_clone()?));
        }
        self.answers().map(|_| ())
    }

    /// One slice of all workers at once: counts by direction, and the seconds in which they were
    /// done at the sum of the workers' rates.
    pub(super) fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_ns: u64,
        window_ns: u64,
        directions: &[Direction],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Counts>, f64), EngineError> {
        // Opened before the common start: after a release every worker opens its files again.
        self.open(place)?;
        let clock = Clock::get();
        let begin_at = clock.now() + HEAD_START_NS;
        let (first, moments) = channel();
        let mut first = Some(Moments(first));
        for member in &self.members {
            let moments = first.take();
            member.tell(Command::Slice { place: place.try_clone()?, begin_at, warm_up_ns, window_ns, moments });
        }
        // The window is that of the first worker: what comes back after it is no part of it. Where that
        // one fails it says nothing more.
        if moments.recv().is_ok() {
            observer.window_opens();
            if moments.recv().is_ok() {
                observer.window_closes();
            }
        }
        let answers = self.answers()?;
        self.written_bytes = answers.iter().map(|answer| answer.written_bytes).sum();
        self.notes.clear();
        for note in answers.iter().flat_map(|answer| &answer.notes) {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let mut sums = vec![Counts::default(); directions.len()];
        let (mut operations, mut rate) = (0.0, 0.0);
        for answer in &answers {
            let mut own = 0;
            for (sum, &direction) in sums.iter_mut().zip(directions) {
                let counts = &answer.counts[Tallied::from(direction) as usize];
                sum.add(counts);
                own += counts.operations;
            }
            operations += own as f64;
            rate += own as f64 / seconds(answer.elapsed_ns).max(1e-9);
        }
        let elapsed = if rate > 0.0 { operations / rate } else { seconds(window_ns) };
        Ok((sums, elapsed))
    }

    /// Every member's answer to what it was told last; the first error, once all have answered.
    fn answers(&mut self) -> Result<Vec<Answer>, EngineError> {
        let gone = |_| Err(EngineError::Unsuitable("a worker ended by itself; this is a fault of Fairlane".to_owned()));
        let all: Vec<_> = self.members.iter().map(|member| member.answers.recv().unwrap_or_else(gone)).collect();
        all.into_iter().collect()
    }

    /// Bytes written since the start.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// What the engines had to do without.
    pub(super) fn notes(&self) -> Vec<Flag> {
        self.notes.clone()
    }

    /// Closes every file.
    pub(super) fn release(&mut self) {
        for member in &self.members {
            member.tell(Command::Release);
        }
        // Nothing that closing says changes what happens next.
        let _ = self.answers();
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        // Between commands every thread waits for the next: without any more it ends.
        for member in &mut self.members {
            member.commands = None;
            if let Some(thread) = member.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl Member {
    fn start(place: &OpenTarget, task: Task, stop: &Arc<AtomicBool>) -> Result<Self, EngineError> {
        let (commands, orders) = channel();
        let (sender, answers) = channel();
        let (place, stop) = (place.try_clone()?, stop.clone());
        let name = format!("worker-{}", task.worker);
        let thread =
            std::thread::Builder::new().name(name).spawn(move || obey(place, task, &stop, &orders, &sender)).map_err(
                |error| EngineError::Memory { bytes: 2 << 20, errno: error.raw_os_error().unwrap_or(libc::EAGAIN) },
            )?;
        Ok(Member { commands: Some(commands), answers, thread: Some(thread) })
    }

    fn tell(&self, command: Command) {
        // A thread that is gone is noticed when its answer does not come.
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }
}

/// The thread: one answer for each command.
fn obey(
    place: OpenTarget,
    task: Task,
    stop: &AtomicBool,
    orders: &Receiver<Command>,
    answers: &Sender<Result<Answer, EngineError>>,
) {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let made = Worker::new(&place, task, None);
    drop(place);
    let mut worker = match made {
        Ok(worker) => worker,
        Err(error) => {
            // Told in answer to the first command; nobody is here for a second.
            let _ = orders.recv().map(|_| answers.send(Err(error)));
            return;
        }
    };
    for command in orders {
        if answers.send(carry_out(&mut worker, command, stop)).is_err() {
            return;
        }
    }
}

fn carry_out(worker: &mut Worker, command: Command, stop: &AtomicBool) -> Result<Answer, EngineError> {
    match command {
        Command::Open(place) => {
            worker.open(&place)?;
            Ok(Answer::default())
        }
        Command::Release => {
            worker.release();
            Ok(Answer::default())
        }
        Command::Slice { place, begin_at, warm_up_ns, window_ns, mut moments } => {
            worker.clear();
            let clock = Clock::get();
            while clock.now() < begin_at {
                std::hint::spin_loop();
            }
            let never = AtomicBool::new(false);
            let mut nobody = ();
            let observer = moments.as_mut().map_or(&mut nobody as &mut dyn Observer, |moments| moments);
            let mut call = Call { stop, end: &never, observer };
            let elapsed_ns = worker.drive(&place, warm_up_ns, Until::Window(window_ns), &mut call)?;
            Ok(Answer {
                counts: Box::new(worker.counts().clone()),
                elapsed_ns,
                written_bytes: worker.written_bytes(),
                notes: worker.notes(),
            })
        }
    }
}
