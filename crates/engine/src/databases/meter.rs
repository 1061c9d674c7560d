//! What a server used and synced while its clients worked, looked at when the window opens and when it closes.

use super::session::Session;
use super::usage::{self, Cpu};
use crate::workloads::Observer;
use model::oltp::Server;

/// Stands between the clients and whoever watches: the same window for both.
pub(super) struct Meter<'a> {
    observer: &'a mut dyn Observer,
    /// The server's process; `None`: there is none, or it is none of ours.
    pid: Option<u32>,
    /// The server's counters, asked for over this connection.
    counters: Option<Counters>,
    cpu: [Option<Cpu>; 2],
    syncs: [Option<f64>; 2],
}

/// Syncs as a server that counts them at once tells them.
pub(super) struct Counters {
    pub(super) server: Server,
    pub(super) session: Box<dyn Session>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer, pid: Option<u32>, counters: Option<Counters>) -> Meter<'a> {
        Meter { observer, pid, counters, cpu: [None; 2], syncs: [None; 2] }
    }

    fn look(&mut self, at: usize) {
        self.cpu[at] = self.pid.map(usage::cpu);
        self.syncs[at] =
            self.counters.as_mut().and_then(|counters| usage::fsyncs(counters.server, counters.session.as_mut()));
    }

    /// CPU time of the server within the window.
    pub(super) fn cpu(&self) -> Option<Cpu> {
        Some(self.cpu[1]?.since(&self.cpu[0]?))
    }

    /// Syncs of the server within the window.
    pub(super) fn syncs(&self) -> Option<f64> {
        Some((self.syncs[1]? - self.syncs[0]?).max(0.0))
    }
}

impl Observer for Meter<'_> {
    fn window_opens(&mut self) {
        // Before it opens: the looks themselves are no part of it.
        self.look(0);
        self.observer.window_opens();
    }

    fn window_closes(&mut self) {
        self.observer.window_closes();
        self.look(1);
    }
}
