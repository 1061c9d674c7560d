//! The clients: threads that do transactions, of which those that end within the window count.

use super::script::{Change, Random, Transactions};
use super::session::{Cause, Cure, DatabaseError, Session};
use super::syncs::{self, Syncs};
use crate::clock::{Clock, seconds};
use crate::histogram::Latencies;
use crate::workloads::Observer;
use model::oltp::Oltp;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WARMING_UP: u8 = 0;
const MEASURED: u8 = 1;
const OVER: u8 = 2;
/// How often the stop flag is looked at while clients work.
const GLANCE: Duration = Duration::from_millis(10);
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
pub(super) type Again<'a> = dyn Fn(&AtomicU8) -> Option<Box<dyn Session>> + Sync + 'a;

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
struct Course {
    state: AtomicU8,
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

/// Whether clients still work, as [`Again`] is told.
pub(super) fn is_over(state: &AtomicU8) -> bool {
    state.load(Ordering::Relaxed) == OVER
}

/// How long clients work, and are waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Not counted.
    pub(super) warm_up: Duration,
    /// Transactions that end in it count.
    pub(super) window: Duration,
    /// From the window's end on; whoever has no answer by then has lost its connection.
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
    let state = AtomicU8::new(if warm_up.is_zero() { MEASURED } else { WARMING_UP });
    let course = Course { state, first_part_ends: AtomicU64::new(u64::MAX) };
    let came = Mutex::new(Came::default());
    let clock = Clock::get();
    let first_part = window.as_nanos() as u64 / u64::from(FIRST_PART);
    let mut measured = (0, 0);
    let mut stopped = false;
    let sockets: Vec<UnixStream> = clients.iter_mut().filter_map(|client| client.session.watched()).collect();
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(clients.len());
        let mut pause = |length: Duration| {
            let begun = Instant::now();
            while begun.elapsed() < length && !is_over(&course.state) {
                if stop.load(Ordering::Relaxed) {
                    stopped = true;
                    break;
                }
                std::thread::sleep(GLANCE.min(length.saturating_sub(begun.elapsed())));
            }
        };
        let opened = || {
            let now = clock.now();
            course.first_part_ends.store(now + first_part, Ordering::Relaxed);
            now
        };
        if warm_up.is_zero() {
            observer.window_opens();
            measured.0 = opened();
        }
        for (number, client) in clients.iter_mut().enumerate() {
            let (course, came) = (&course, &came);
            let thread = std::thread::Builder::new().name(format!("client-{number}")).stack_size(STACK_BYTES);
            let spawned = thread.spawn_scoped(scope, move || {
                let own = work(client, course, again);
                let mut came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                came.add(own);
            });
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let message = format!("no thread can be started for client {number}: {error}; lower threads");
                    let mut came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    came.error.get_or_insert(DatabaseError { message, cure: Cure::None });
                    course.state.store(OVER, Ordering::Relaxed);
                    break;
                }
            }
        }
        if !warm_up.is_zero() {
            pause(warm_up);
            observer.window_opens();
            measured.0 = opened();
            // Only if no client has given up.
            let _ = course.state.compare_exchange(WARMING_UP, MEASURED, Ordering::Relaxed, Ordering::Relaxed);
        }
        pause(window);
        course.state.store(OVER, Ordering::Relaxed);
        measured.1 = clock.now();
        observer.window_closes();
        let closed = Instant::now();
        while !threads.iter().all(|thread| thread.is_finished()) && closed.elapsed() < patience {
            std::thread::sleep(JOIN);
        }
        // To those that have ended it means nothing.
        sockets.iter().for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
    });
    let mut came = came.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    came.seconds = seconds(measured.1.saturating_sub(measured.0));
    came.stopped = stopped;
    came
}

/// One client's share: transaction after transaction until it is over.
fn work(client: &mut Client, course: &Course, again: &Again<'_>) -> Came {
    let mut own = Came { latencies: Latencies::resident(), ..Came::default() };
    let clock = Clock::get();
    let state = || course.state.load(Ordering::Relaxed);
    loop {
        let before = state();
        if before == OVER {
            return own;
        }
        let (begun, synced) = (clock.now(), syncs::of_this_thread());
        loop {
            match client.transactions.one(client.session.as_mut()) {
                Ok(grown) => {
                    let ended = clock.now();
                    own.grown.add(grown);
                    own.all += 1;
                    match state() {
                        MEASURED => {
                            own.latencies.record(ended - begun);
                            own.operations += 1;
                            own.at_first += u64::from(ended < course.first_part_ends.load(Ordering::Relaxed));
                            own.syncs.add(syncs::of_this_thread().since(synced));
                        }
                        OVER if before == MEASURED => own.latencies.record(ended - begun),
                        _ => {}
                    }
                    break;
                }
                Err(DatabaseError { cure: Cure::Again(cause), .. }) => match state() {
                    OVER => break,
                    MEASURED => own.retries[cause as usize] += 1,
                    _ => {}
                },
                Err(error) => {
                    if error.cure == Cure::Lost {
                        own.uncertain += 1;
                        if let Some(session) = again(&course.state) {
                            client.session = session;
                            own.lost += 1;
                            break;
                        }
                    }
                    own.error = Some(error);
                    course.state.store(OVER, Ordering::Relaxed);
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

    /// A server that takes every statement and never answers.
    struct Silent {
        socket: UnixStream,
        _server: UnixStream,
    }

    impl Session for Silent {
        fn run(&mut self, _: &str) -> Result<u64, DatabaseError> {
            self.socket.read_exact(&mut [0]).map(|()| 0).map_err(|error| DatabaseError::lost(&error))
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
        fn watched(&mut self) -> Option<UnixStream> {
            self.socket.try_clone().ok()
        }
    }

    #[test]
    fn clients_whose_server_never_answers_are_waited_for_to_an_end() {
        let oltp: Oltp = toml::from_str("script = \"point-select\"\nserver = \"mariadb\"").unwrap();
        let mut clients: Vec<Client> = (0..3)
            .map(|number| {
                let (socket, server) = UnixStream::pair().unwrap();
                Client::new(Box::new(Silent { socket, _server: server }), &oltp, 1, number)
            })
            .collect();
        let short = Duration::from_millis(1);
        let times = Times { warm_up: Duration::ZERO, window: short, patience: short };
        let came = run(&mut clients, times, &AtomicBool::new(false), &mut (), &|_| None);
        assert_eq!((came.operations, came.uncertain, came.stopped), (0, 3, false));
        assert_eq!(came.error.map(|error| error.cure), Some(Cure::Lost));
    }
}
