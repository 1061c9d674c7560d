//! Threads that live as long as their work, each with a state of its own that no other thread may touch.

use super::ThreadsError;
use crate::error::EngineError;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// What a thread of a pool does with its state.
type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// So many threads, each with an `S`. They end when it is dropped.
pub(crate) struct Pool<S> {
    members: Vec<Member<S>>,
}

struct Member<S> {
    jobs: Option<Sender<Job<S>>>,
    thread: Option<JoinHandle<()>>,
}

/// Answers that are to come, one of each thread.
pub(crate) struct Answers<A> {
    expected: usize,
    answers: Receiver<(usize, Result<A, EngineError>)>,
}

impl<S: 'static> Pool<S> {
    /// Starts a thread for each of these, which makes its state; all are made when it answers.
    ///
    /// # Errors
    /// Where a thread cannot be started or a state cannot be made.
    pub(crate) fn start<M>(name: &str, makers: impl IntoIterator<Item = M>) -> Result<Self, EngineError>
    where
        M: FnOnce() -> Result<S, EngineError> + Send + 'static,
    {
        let (sender, answers) = channel();
        let mut pool = Pool { members: Vec::new() };
        for (number, make) in makers.into_iter().enumerate() {
            let (jobs, orders) = channel();
            let sender = sender.clone();
            let thread = std::thread::Builder::new().name(format!("{name}-{number}")).spawn(move || {
                let mut state = match make() {
                    Ok(state) => state,
                    Err(error) => return drop(sender.send((number, Err(error)))),
                };
                let _ = sender.send((number, Ok(())));
                drop(sender);
                orders.into_iter().for_each(|job: Job<S>| job(&mut state));
            });
            let thread = thread.map_err(|error| ThreadsError::NotStarted(number, error))?;
            pool.members.push(Member { jobs: Some(jobs), thread: Some(thread) });
        }
        drop(sender);
        Answers { expected: pool.members.len(), answers }.wait()?;
        Ok(pool)
    }

    /// Has each thread do a job, which is made by its number, and answers at once.
    ///
    /// # Errors
    /// Where a job cannot be made.
    pub(crate) fn tell<A, J>(&self, job: impl Fn(usize) -> Result<J, EngineError>) -> Result<Answers<A>, EngineError>
    where
        A: Send + 'static,
        J: FnOnce(&mut S) -> Result<A, EngineError> + Send + 'static,
    {
        let (sender, answers) = channel();
        for (number, member) in self.members.iter().enumerate() {
            let (job, sender) = (job(number)?, sender.clone());
            let job: Job<S> = Box::new(move |state| drop(sender.send((number, job(state)))));
            // A thread that is gone is noticed when its answer does not come.
            if let Some(jobs) = &member.jobs {
                let _ = jobs.send(job);
            }
        }
        Ok(Answers { expected: self.members.len(), answers })
    }
}

impl<A> Answers<A> {
    /// All of them, in the threads' order; the first error, once all have answered.
    pub(crate) fn wait(self) -> Result<Vec<A>, EngineError> {
        let mut all: Vec<_> = self.answers.into_iter().collect();
        all.sort_by_key(|(number, _)| *number);
        let gone = all.len() < self.expected;
        let all = all.into_iter().map(|(_, answer)| answer).collect::<Result<_, _>>()?;
        if gone { Err(ThreadsError::Panicked.into()) } else { Ok(all) }
    }
}

impl<S> Drop for Pool<S> {
    fn drop(&mut self) {
        // Between jobs every thread waits for the next: without any more it ends.
        for member in &mut self.members {
            member.jobs = None;
            if let Some(thread) = member.thread.take() {
                let _ = thread.join();
            }
        }
    }
}
