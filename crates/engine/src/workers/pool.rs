//! Threads that live as long as their work, each with a state of its own that no other thread may touch.

use super::threads::{not_started, panicked};
use crate::error::EngineError;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// What a thread of a pool does with its state.
type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// So many threads, each with an `S`. They end when it is dropped.
pub(crate) struct Pool<S> {
    jobs: Vec<Sender<Job<S>>>,
    threads: Vec<JoinHandle<()>>,
}

impl<S: 'static> Pool<S> {
    /// Starts a thread for each of these, which makes its state; all are made, or one has failed, when it answers.
    pub(crate) fn start<M>(name: &str, makers: impl IntoIterator<Item = M>) -> Result<Self, EngineError>
    where
        M: FnOnce() -> Result<S, EngineError> + Send + 'static,
    {
        let (sender, made) = channel();
        let mut pool = Pool { jobs: Vec::new(), threads: Vec::new() };
        for (number, make) in makers.into_iter().enumerate() {
            let (jobs, orders) = channel();
            let sender = sender.clone();
            let thread = std::thread::Builder::new().name(format!("{name}-{number}")).spawn(move || {
                let (state, made) = match make() {
                    Ok(state) => (Some(state), Ok(())),
                    Err(error) => (None, Err(error)),
                };
                drop((sender.send((number, made)), sender));
                let Some(mut state) = state else { return };
                orders.into_iter().for_each(|job: Job<S>| job(&mut state));
            });
            pool.threads.push(thread.map_err(|error| not_started(&error))?);
            pool.jobs.push(jobs);
        }
        drop(sender);
        pool.all(made)?;
        Ok(pool)
    }

    /// Has each thread do a job, which is made by its number, and meanwhile this one `lead`. Answers what came of all, or
    /// the first error, once all have answered.
    pub(crate) fn run<A, J>(
        &self,
        job: impl Fn(usize) -> Result<J, EngineError>,
        lead: impl FnOnce(),
    ) -> Result<Vec<A>, EngineError>
    where
        A: Send + 'static,
        J: FnOnce(&mut S) -> Result<A, EngineError> + Send + 'static,
    {
        let (sender, answers) = channel();
        for (number, jobs) in self.jobs.iter().enumerate() {
            let (job, sender) = (job(number)?, sender.clone());
            // A thread that is gone is noticed when its answer does not come.
            let _ = jobs.send(Box::new(move |state| drop(sender.send((number, job(state))))));
        }
        drop(sender);
        lead();
        self.all(answers)
    }

    fn all<A>(&self, answers: Receiver<(usize, Result<A, EngineError>)>) -> Result<Vec<A>, EngineError> {
        let mut all: Vec<_> = answers.into_iter().collect();
        all.sort_by_key(|(number, _)| *number);
        let gone = all.len() < self.jobs.len();
        let all = all.into_iter().map(|(_, answer)| answer).collect::<Result<_, _>>()?;
        if gone { Err(panicked()) } else { Ok(all) }
    }
}

impl<S> Drop for Pool<S> {
    fn drop(&mut self) {
        // Between jobs every thread waits for the next: without any more it ends.
        self.jobs.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
