//! The clients: threads that do transactions, of which those that end within the window count.

use super::script::{Change, Random, Transactions};
use super::session::{Cause, Cure, DatabaseError, Session};
use super::syncs::{self, Syncs};
use super::watch::Watch;
use crate::clock::{Clock, seconds};
use crate::histogram::Latencies;
use crate::workers::{RunState, Running, Threads};
use crate::workloads::Observer;
use model::oltp::Oltp;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often is looked whether the last clients have ended.
const JOIN: Duration = Duration::from_millis(1);
/// A client's stack: its buffers lie on the heap.
const STACK_BYTES: usize = 512 << 10;
/// A window's beginning, of which a cold group tells the rate: one part of so many.
pub(super) const FIRST_PART: u32 = 10;

/// One client.
pub(super) struct Client {
    session: Box<dyn Session>,
    transactions: Transactions,
}

/// Another connection instead of one that was lost; `None`: the server is gone, or does not take one.
pub(super) type Again<'a> = dyn Fn(&RunState) -> Option<Box<dyn Session>> + Sync + 'a;

/// What all clients came to.
#[derive(Default)]
pub(super) struct Came {
    /// Transactions that ended within the window.
    pub(super) operations: u64,
    /// All that were done, in the warm-up and behind the window too.
    pub(super) all: u64,
    /// Those that ended within the window's first part.
    pub(super) at_first: u64,
    /// Seconds of the window.
    pub(super) seconds: f64,
    /// Of each of them, its repetitions included, and of those that were in flight when the window closed: without
    /// these the longest would be the ones that are not seen.
    pub(super) latencies: Latencies,
    /// Transactions that were done again within the window, by their cause.
    pub(super) retries: [u64; Cause::ALL.len()],
    /// Connections that were lost while the server went on.
    pub(super) lost: u64,
    /// Syncs of SQLite's for the transactions of the window.
    pub(super) syncs: Syncs,
    /// What became of the tables, the warm-up included.
    pub(super) grown: Change,
    /// Transactions of which nobody knows whether they stand.
    pub(super) uncertain: u64,
    /// The first error that ended it.
    pub(super) error: Option<DatabaseError>,
    /// The stop flag was set.
    pub(super) stopped: bool,
}

/// Where the clients stand, and when the window opened.
struct Progress {
    state: RunState,
    /// By the engine's clock, the end of the window's first part.
    first_part_ends: AtomicU64,
}

impl Client {
    pub(super) fn new(session: Box<dyn Session>, oltp: &Oltp, seed: u64, number: u32) -> Client {
        // Neighbouring seeds are spread first.
        let own = Random::new(seed ^ (u64::from(number) + 1).rotate_left(32)).next();
        Client { session, transactions: Transactions::new(oltp, own) }
    }
}

/// How long clients work, and are waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Not counted.
    pub(super) warm_up: Duration,
    /// Transactions that end in it count.
    pub(super) window: Duration,
    /// Whose transaction takes longer has lost its connection.
    pub(super) patience: Duration,
}

/// Lets all clients work: `warm_up`, then the window.
pub(super) fn run(
    clients: &mut [Client],
    Times { warm_up, window, patience }: Times,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
    again: &Again<'_>,
) -> Came {
    let progress = Progress { state: RunState::default(), first_part_ends: AtomicU64::new(u64::MAX) };
    let (state, progress) = (&progress.state, &progress);
    let came = Mutex::new(Came::default());
    let clock = Clock::get();
    let first_part = window.as_nanos() as u64 / u64::from(FIRST_PART);
    let watches: Vec<Watch> = clients.iter_mut().map(|client| Watch::new(client.session.watched())).collect();
    let look = || watches.iter().for_each(|watch| watch.look(clock.now(), patience));
    let hang_up = || watches.iter().for_each(Watch::hang_up);
    let works = clients.iter_mut().zip(&watches).map(|(client, watch)| {
        let came = &came;
        move || {
            let own = work(client, progress, (watch, patience), again);
            watch.ends();
            came.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(own);
        }
    });
    let open = |observer: &mut dyn Observer| {
        let now = state.open_window(observer);
        progress.first_part_ends.store(now + first_part, Ordering::Relaxed);
        now
    };
    // A cold window opens before there are clients.
    let cold = warm_up.is_zero().then(|| open(&mut *observer));
    let release = || {
        state.end();
        hang_up();
    };
    let not_started = |number: usize, error: &std::io::Error| {
        format!("no thread can be started for client {number}: {error}; lower threads")
    };
    let threads = Threads {
        name: Some(&|number| format!("client-{number}")),
        stack_bytes: Some(STACK_BYTES),
        not_started: Some(&not_started),
    };
    let ran = threads.run(works, release, |all_ended| {
        let mut stopped = false;
        let opened = cold.unwrap_or_else(|| {
            stopped = state.wait(warm_up, stop, look).is_err();
            open(&mut *observer)
        });
        stopped |= state.wait(window, stop, look).is_err();
        let closed = state.close_window(observer);
        while !all_ended() {
            // What is in flight then is not kept either.
            if stop.load(Ordering::Relaxed) {
                stopped = true;
                hang_up();
            }
            look();
            std::thread::sleep(JOIN);
        }
        (stopped, seconds(closed.saturating_sub(opened)))
    });
    let mut came = came.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match ran {
        Ok((_, (stopped, seconds))) => (came.stopped, came.seconds) = (stopped, seconds),
        Err(error) => {
            if cold.is_some() {
                observer.window_closes();
            }
            came.error.get_or_insert(DatabaseError { message: error.to_string(), cure: Cure::None });
        }
    }
    came
}

/// One client's share: transaction after transaction until it is over.
fn work(client: &mut Client, progress: &Progress, (watch, patience): (&Watch, Duration), again: &Again<'_>) -> Came {
    let mut own = Came { latencies: Latencies::resident(), ..Came::default() };
    let clock = Clock::get();
    let state = || progress.state.now();
    loop {
        let before = state();
        if before == Running::Over {
            return own;
        }
        let (begun, synced) = (clock.now(), syncs::of_this_thread());
        watch.begins(begun);
        loop {
            match client.transactions.one(client.session.as_mut()) {
                Ok(grown) => {
                    let ended = clock.now();
                    own.grown.add(grown);
                    own.all += 1;
                    match state() {
                        Running::Measured => {
                            own.latencies.record(ended - begun);
                            own.operations += 1;
                            own.at_first += u64::from(ended < progress.first_part_ends.load(Ordering::Relaxed));
                            own.syncs.add(syncs::of_this_thread().since(synced));
                        }
                        Running::Over if before == Running::Measured => own.latencies.record(ended - begun),
                        _ => {}
                    }
                    break;
                }
                Err(DatabaseError { cure: Cure::Again(cause), .. }) => match state() {
                    Running::Over => break,
                    now => {
                        own.retries[cause as usize] += u64::from(now == Running::Measured);
                        watch.begins(clock.now());
                    }
                },
                Err(error) => {
                    if error.cure == Cure::Lost {
                        own.uncertain += 1;
                        if let Some(session) = again(&progress.state) {
                            client.session = session;
                            watch.reconnects(client.session.watched());
                            own.lost += 1;
                            break;
                        }
                    }
                    own.error = Some(watch.explain(error, patience));
                    progress.state.end();
                    return own;
                }
            }
        }
    }
}

impl Came {
    fn add(&mut self, other: Came) {
        self.operations += other.operations;
        self.all += other.all;
        self.at_first += other.at_first;
        self.latencies.add(&other.latencies);
        self.retries.iter_mut().zip(other.retries).for_each(|(sum, own)| *sum += own);
        self.lost += other.lost;
        self.syncs.add(other.syncs);
        self.grown.add(other.grown);
        self.uncertain += other.uncertain;
        if self.error.is_none() {
            self.error = other.error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::Value;
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::sync::{Arc, Weak};

    /// A server that takes every statement and never answers, or answers after a moment.
    struct Fake {
        socket: Arc<UnixStream>,
        _server: UnixStream,
        answers: bool,
        /// Statements that it was asked.
        asked: Arc<AtomicU64>,
    }

    impl Fake {
        fn boxed(answers: bool, asked: &Arc<AtomicU64>) -> Box<dyn Session> {
            let (socket, server) = UnixStream::pair().unwrap();
            Box::new(Fake { socket: Arc::new(socket), _server: server, answers, asked: asked.clone() })
        }
    }

    impl Session for Fake {
        fn run(&mut self, _: &str) -> Result<u64, DatabaseError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.answers {
                std::thread::sleep(JOIN);
                return Ok(1);
            }
            (&*self.socket).read_exact(&mut [0]).map(|()| 0).map_err(|error| DatabaseError::lost(&error))
        }
        fn rows(&mut self, _: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
            Ok(Vec::new())
        }
        fn prepare(&mut self, _: &str) -> Result<(), DatabaseError> {
            Ok(())
        }
        fn execute(&mut self, _: usize, _: &[Value<'_>]) -> Result<u64, DatabaseError> {
            self.run("")
        }
        fn watched(&mut self) -> Option<Weak<UnixStream>> {
            Some(Arc::downgrade(&self.socket))
        }
    }

    fn silent_clients(asked: &Arc<AtomicU64>) -> Vec<Client> {
        let oltp: Oltp = toml::from_str("script = \"point-select\"\nserver = \"mariadb\"").unwrap();
        (0..3).map(|number| Client::new(Fake::boxed(false, asked), &oltp, 1, number)).collect()
    }

    const LONG: Duration = Duration::from_secs(1 << 20);
    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn a_server_that_never_answers_is_told_as_such() {
        // Long enough for a thread to begin on a slow machine.
        let window = Duration::from_millis(500);
        let times = Times { warm_up: Duration::ZERO, window, patience: SHORT };
        let asked = Arc::default();
        let came = run(&mut silent_clients(&asked), times, &AtomicBool::new(false), &mut (), &|_| None);
        let asked = asked.load(Ordering::Relaxed);
        assert!((1..=3).contains(&asked), "{asked}");
        assert_eq!((came.operations, came.uncertain, came.stopped), (0, asked, false));
        let error = came.error.unwrap();
        assert_eq!(error.cure, Cure::Lost);
        assert!(error.message.contains("has not answered for 0 seconds"), "{}", error.message);
    }

    #[test]
    fn a_client_without_an_answer_gets_another_connection_within_the_window() {
        let times = Times { warm_up: Duration::ZERO, window: Duration::from_secs(2), patience: 20 * SHORT };
        let asked = Arc::default();
        let again = |_: &RunState| Some(Fake::boxed(true, &asked));
        let came = run(&mut silent_clients(&asked), times, &AtomicBool::new(false), &mut (), &again);
        assert!(came.error.is_none() && came.operations > 0, "{:?}", came.error);
        assert!(came.lost >= 3, "{}", came.lost);
    }

    #[test]
    fn whoever_stops_waits_for_no_answer() {
        let times = Times { warm_up: Duration::ZERO, window: LONG, patience: LONG };
        let came = run(&mut silent_clients(&Arc::default()), times, &AtomicBool::new(true), &mut (), &|_| None);
        assert!(came.stopped && came.operations == 0);
    }
}
