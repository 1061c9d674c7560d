//! The clients: threads that do transactions, of which those that end within the window count.

use super::script::{Random, Transactions};
use super::session::{Cure, DatabaseError, Session};
use crate::clock::{Clock, seconds};
use crate::histogram::Latencies;
use crate::workloads::Observer;
use model::oltp::Oltp;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

const WARMING_UP: u8 = 0;
const MEASURED: u8 = 1;
const OVER: u8 = 2;
/// How often the stop flag is looked at while clients work.
const GLANCE: Duration = Duration::from_millis(10);
/// A client's stack: its buffers lie on the heap.
const STACK_BYTES: usize = 512 << 10;

/// One client.
pub(super) struct Client {
    session: Box<dyn Session>,
    transactions: Transactions,
}

/// What all clients came to.
#[derive(Default)]
pub(super) struct Came {
    /// Transactions that ended within the window.
    pub(super) operations: u64,
    /// Seconds of the window.
    pub(super) seconds: f64,
    /// Of each of them, its repetitions included.
    pub(super) latencies: Latencies,
    /// Transactions that were done again within the window.
    pub(super) retries: u64,
    /// Rows that the tables grew by, the warm-up included.
    pub(super) grown: i64,
    /// Transactions of which nobody knows whether they stand.
    pub(super) uncertain: u64,
    /// The first error that ended it.
    pub(super) error: Option<DatabaseError>,
    /// The stop flag was set.
    pub(super) stopped: bool,
}

impl Client {
    pub(super) fn new(session: Box<dyn Session>, oltp: &Oltp, seed: u64, number: u32) -> Client {
        // Neighbouring seeds are spread first.
        let own = Random::new(seed ^ (u64::from(number) + 1).rotate_left(32)).next();
        Client { session, transactions: Transactions::new(oltp, own) }
    }
}

/// Lets all clients work: `warm_up`, then the window.
pub(super) fn run(
    clients: &mut [Client],
    (warm_up, window): (Duration, Duration),
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Came {
    let state = AtomicU8::new(if warm_up.is_zero() { MEASURED } else { WARMING_UP });
    let came = Mutex::new(Came::default());
    let clock = Clock::get();
    let mut measured = (0, 0);
    let mut stopped = false;
    std::thread::scope(|scope| {
        let mut pause = |length: Duration| {
            let begun = Instant::now();
            while begun.elapsed() < length && state.load(Ordering::Relaxed) != OVER {
                if stop.load(Ordering::Relaxed) {
                    stopped = true;
                    break;
                }
                std::thread::sleep(GLANCE.min(length.saturating_sub(begun.elapsed())));
            }
        };
        if warm_up.is_zero() {
            observer.window_opens();
            measured.0 = clock.now();
        }
        for (number, client) in clients.iter_mut().enumerate() {
            let (state, came) = (&state, &came);
            let thread = std::thread::Builder::new().name(format!("client-{number}")).stack_size(STACK_BYTES);
            let spawned = thread.spawn_scoped(scope, move || {
                let own = work(client, state);
                let mut came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                came.add(own);
            });
            if let Err(error) = spawned {
                let message = format!("no thread can be started for client {number}: {error}; lower threads");
                let mut came = came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                came.error.get_or_insert(DatabaseError { message, cure: Cure::None });
                state.store(OVER, Ordering::Relaxed);
                break;
            }
        }
        if !warm_up.is_zero() {
            pause(warm_up);
            observer.window_opens();
            measured.0 = clock.now();
            // Only if no client has given up.
            let _ = state.compare_exchange(WARMING_UP, MEASURED, Ordering::Relaxed, Ordering::Relaxed);
        }
        pause(window);
        state.store(OVER, Ordering::Relaxed);
        measured.1 = clock.now();
        observer.window_closes();
    });
    let mut came = came.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    came.seconds = seconds(measured.1.saturating_sub(measured.0));
    came.stopped = stopped;
    came
}

/// One client's share: transaction after transaction until it is over.
fn work(client: &mut Client, state: &AtomicU8) -> Came {
    let mut own = Came { latencies: Latencies::resident(), ..Came::default() };
    let clock = Clock::get();
    while state.load(Ordering::Relaxed) != OVER {
        let begun = clock.now();
        loop {
            match client.transactions.one(client.session.as_mut()) {
                Ok(grown) => {
                    own.grown += grown;
                    if state.load(Ordering::Relaxed) == MEASURED {
                        own.latencies.record(clock.now() - begun);
                        own.operations += 1;
                    }
                    break;
                }
                Err(error) if error.cure == Cure::Again => match state.load(Ordering::Relaxed) {
                    OVER => break,
                    MEASURED => own.retries += 1,
                    _ => {}
                },
                Err(error) => {
                    own.uncertain += u64::from(error.cure == Cure::Lost);
                    own.error = Some(error);
                    state.store(OVER, Ordering::Relaxed);
                    return own;
                }
            }
        }
    }
    own
}

impl Came {
    fn add(&mut self, other: Came) {
        self.operations += other.operations;
        self.latencies.add(&other.latencies);
        self.retries += other.retries;
        self.grown += other.grown;
        self.uncertain += other.uncertain;
        if self.error.is_none() {
            self.error = other.error;
        }
    }
}
