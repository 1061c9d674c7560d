//! Who runs clients ends the wait for an answer that never comes. The clients themselves wait without an end: a timer
//! for each answer was a tenth of their CPU time.

use super::session::DatabaseError;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

/// A transaction that takes longer has no answer: it may have twenty statements on a slow disk, and wait 50 s for a lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// What is known of one client from outside. Aligned: its moment is written for every transaction, and no other client's
/// shall lie beside it.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Watch {
    /// By the engine's clock, when the transaction in flight began; 0: none is.
    since: AtomicU64,
    hung_up: AtomicBool,
    socket: Mutex<Option<Weak<UnixStream>>>,
}

impl Watch {
    /// `None`: a client without a socket, which always has its answer.
    pub(super) fn new(socket: Option<Weak<UnixStream>>) -> Watch {
        Watch { since: AtomicU64::new(0), hung_up: AtomicBool::new(false), socket: Mutex::new(socket) }
    }

    /// A transaction begins.
    #[inline]
    pub(super) fn begins(&self, now: u64) {
        self.since.store(now, Ordering::Relaxed);
    }

    /// The client has ended.
    pub(super) fn ends(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// The client has a new connection.
    pub(super) fn reconnects(&self, socket: Option<Weak<UnixStream>>) {
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = socket;
        self.hung_up.store(false, Ordering::Relaxed);
    }

    /// Hangs up where the transaction in flight began longer ago than that.
    pub(super) fn look(&self, now: u64, patience: Duration) {
        let since = self.since.load(Ordering::Relaxed);
        if since != 0 && u128::from(now.saturating_sub(since)) > patience.as_nanos() {
            self.hang_up();
        }
    }

    /// Ends whatever the client waits for.
    pub(super) fn hang_up(&self) {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = socket.as_ref().and_then(Weak::upgrade) {
            // Before: the client looks at it as soon as it is awake.
            self.hung_up.store(true, Ordering::Relaxed);
            // Fails where the server was quicker.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// What a lost connection was.
    pub(super) fn explain(&self, error: DatabaseError, patience: Duration) -> DatabaseError {
        if !self.hung_up.load(Ordering::Relaxed) {
            return error;
        }
        let message =
            format!("the server has not answered for {} seconds; its lane or its disk may hang", patience.as_secs());
        DatabaseError { message, ..error }
    }
}
