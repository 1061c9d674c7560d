//! Transactions on a database in the lane: SQLite in this process, or a server that is started for it.
//!
//! Loaded once, then stopped, so that each window begins from what lies on the lane. A server runs from the
//! first phase until the lane is let go ([`Work::release`]), and does not outlive the agent.

mod check;
mod clients;
mod external;
mod meter;
mod mysql;
mod postgresql;
mod programs;
mod script;
mod server;
mod server_directory;
mod session;
mod settings;
mod settle;
mod socket;
mod sqlite;
mod syncs;
#[cfg(test)]
mod tests;
mod turns;
mod usage;
mod watch;

pub use programs::{missing, version};
pub(crate) use script::Random;
pub use sqlite::version as sqlite_version;

use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use crate::workers::RunState;
use crate::workloads::{Observer, Work, heed};
use clients::{Came, Client};
use external::{External, Who};
use meter::{Counters, Meter};
use model::agent::Part;
use model::oltp::{Oltp, Script, Server};
use model::{Flag, NoteKind};
use server::Running;
use server_directory::ServerDirectory;
use session::{Cause, DatabaseError, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use turns::Turns;

/// How long a client looks for a server that lives and takes no connection: one that lost a backend recovers.
const RECONNECT: Duration = Duration::from_secs(30);
/// How long the backends of clients that are gone may take to end.
const BACKENDS_END: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(10);

/// Transactions on a database, prepared: the tables are filled.
pub struct OltpWork {
    oltp: Oltp,
    seed: u64,
    /// Where a server's process id is noted.
    note: Option<PathBuf>,
    running: Option<Running>,
    /// A server that is none of ours.
    external: Option<External>,
    /// What went wrong when the server was stopped; the next call says it.
    trouble: Option<EngineError>,
    /// Rows that there must be.
    expected_rows: i64,
    /// What the sum of all `k` must be, of index updates, which change nothing else.
    expected_sum: Option<i64>,
    /// Transactions of which nobody knows whether they stand.
    uncertain: u64,
    retries: u64,
    lost: u64,
    transactions: u64,
    /// The tables are not as long as they were when they were filled.
    grown: bool,
    /// What the database says of its own settings.
    settings: BTreeMap<String, String>,
    /// SQLite's writers.
    turns: Arc<Turns>,
    stop: Arc<AtomicBool>,
}

impl OltpWork {
    /// Makes the database, fills its tables and stops it. `note`: the file that tells a server's process id
    /// while it runs.
    ///
    /// # Errors
    /// Where there is no directory, a program is missing (its package is named), or the server fails.
    pub fn prepare(
        place: &OpenTarget,
        oltp: &Oltp,
        seed: u64,
        note: Option<PathBuf>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let who = if oltp.is_external() { Some(Who::of_environment(oltp.server)?) } else { None };
        OltpWork::prepare_as(place, oltp, seed, note, stop, who)
    }

    /// The same; `who`: who connects to a server that is none of ours.
    fn prepare_as(
        place: &OpenTarget,
        oltp: &Oltp,
        seed: u64,
        note: Option<PathBuf>,
        stop: Arc<AtomicBool>,
        who: Option<Who>,
    ) -> Result<Self, EngineError> {
        let external = who.map(|who| External::open(oltp, who, place)).transpose()?;
        if external.is_none() {
            OltpWork::make(place, oltp, &stop)?;
        }
        let mut work = OltpWork {
            oltp: oltp.clone(),
            seed,
            note,
            running: None,
            external,
            trouble: None,
            expected_rows: oltp.table_size as i64 * i64::from(oltp.tables),
            expected_sum: None,
            uncertain: 0,
            retries: 0,
            lost: 0,
            transactions: 0,
            grown: false,
            settings: BTreeMap::new(),
            turns: Arc::default(),
            stop,
        };
        work.start(place)?;
        work.load(place)?;
        if work.oltp.script == Script::UpdateIndex {
            let mut session = work.connect(place, 1)?;
            work.expected_sum = Some(check::sum(&work.oltp, session.as_mut()).map_err(|error| work.explain(error))?);
        }
        work.release();
        work.trouble.take().map_or(Ok(work), Err)
    }

    /// Makes the folder in the lane, and a server's first files in it.
    fn make(place: &OpenTarget, oltp: &Oltp, stop: &AtomicBool) -> Result<(), EngineError> {
        let user = if oltp.server.is_process() { crate::unprivileged::unprivileged() } else { None };
        let directory = ServerDirectory::build(place, user)?;
        if oltp.server.is_process() {
            server::make(oltp.server, &directory, stop)?;
        }
        Ok(())
    }

    /// Starts the server, where there is one and it does not run.
    fn start(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        if self.running.as_ref().is_some_and(|running| !running.is_alive()) {
            // Whoever used it was told; what it left is recovered now.
            self.running = None;
        }
        if self.oltp.starts_server() && self.running.is_none() {
            let directory = ServerDirectory::open(place)?;
            self.running = Some(Running::start(&self.oltp, directory, self.note.clone(), &self.stop)?);
            self.settings.clear();
        }
        if self.settings.is_empty() {
            let mut session = self.connect(place, 1)?;
            self.settings = settings::read(&self.oltp, session.as_mut()).map_err(|error| self.explain(error))?;
        }
        Ok(())
    }

    /// A connection, one of so many.
    fn connect(&self, place: &OpenTarget, clients: u32) -> Result<Box<dyn Session>, EngineError> {
        let connected: Result<Box<dyn Session>, DatabaseError> = match (&self.external, &self.running) {
            (Some(external), _) => external.connect(),
            (None, Some(running)) => running.connect(),
            (None, None) => {
                sqlite::Sqlite::open(ServerDirectory::open(place)?, &self.oltp, clients, self.turns.clone())
                    .map(|one| Box::new(one) as Box<dyn Session>)
            }
        };
        connected.map_err(|error| self.explain(error))
    }

    /// What a client met, with what the server said last where it is gone.
    fn explain(&self, error: DatabaseError) -> EngineError {
        let said = self.running.as_ref().filter(|_| error.cure == session::Cure::Lost).map(Running::last_lines);
        let said = said.map_or_else(String::new, |lines| format!("; the server's last lines: {lines}"));
        EngineError::Unsuitable(format!("{}{said}", error.message))
    }

    /// Makes and fills the tables, as sysbench does: rows first, then the second index.
    fn load(&self, place: &OpenTarget) -> Result<(), EngineError> {
        let mut session = self.connect(place, 1)?;
        for number in 1..=self.oltp.tables {
            let mut random = script::Random::new(self.seed ^ u64::from(number));
            let mut run = |sql: &str| session.run(sql).map_err(|error| self.explain(error));
            run(&script::create_table(self.oltp.server, number))?;
            run("BEGIN")?;
            let mut left = self.oltp.table_size;
            while left > 0 {
                heed(&self.stop)?;
                let rows = left.min(script::ROWS_AT_ONCE);
                run(&script::fill(number, rows, &self.oltp, &mut random))?;
                left -= rows;
            }
            run("COMMIT")?;
            run(&script::create_index(number))?;
        }
        Ok(())
    }

    fn clients(&self, place: &OpenTarget, threads: u32, group: &str) -> Result<Vec<Client>, EngineError> {
        // Groups of one trial do not begin with the same rows.
        let seed = group.bytes().fold(self.seed, |seed, byte| seed.rotate_left(7) ^ u64::from(byte));
        let client = |number: u32| {
            heed(&self.stop)?;
            let mut session = self.connect(place, threads)?;
            script::prepare(session.as_mut(), &self.oltp).map_err(|error| self.explain(error))?;
            Ok(Client::new(session, &self.oltp, seed, number))
        };
        (0..threads).map(client).collect()
    }

    /// Fills the tables anew where a group before changed how long they are: the next one would find a table that
    /// is larger or emptier in a lane that was faster. What stood there is counted first.
    fn refill(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        if !(self.grown && matches!(self.oltp.script, Script::Insert | Script::Delete)) {
            return Ok(());
        }
        let mut session = self.connect(place, 1)?;
        let found = check::rows(&self.oltp, session.as_mut()).map_err(|error| self.explain(error))?;
        self.compare(place, found, None)?;
        for number in 1..=self.oltp.tables {
            let drop = format!("DROP TABLE {}", script::table(number));
            session.run(&drop).map_err(|error| self.explain(error))?;
        }
        drop(session);
        self.load(place)?;
        self.expected_rows = self.filled_rows();
        self.grown = false;
        Ok(())
    }

    fn filled_rows(&self) -> i64 {
        self.oltp.table_size as i64 * i64::from(self.oltp.tables)
    }

    /// Whether as many rows and index updates are there as were acknowledged; what was uncertain is known then.
    fn compare(&mut self, place: &OpenTarget, rows: i64, sum: Option<i64>) -> Result<(), EngineError> {
        let wrong = |what: String| {
            let path = place.directory().map(|(path, _)| path.join(server_directory::NAME)).unwrap_or_default();
            EngineError::Contents { path, what }
        };
        if rows.abs_diff(self.expected_rows) > self.uncertain {
            return Err(wrong(format!("holds {rows} rows where {} were acknowledged", self.expected_rows)));
        }
        if let (Some(found), Some(expected)) = (sum, self.expected_sum)
            && found.abs_diff(expected) > self.uncertain
        {
            let by = found - expected;
            return Err(wrong(format!("holds index updates that differ by {by} from those that were acknowledged")));
        }
        self.expected_sum = sum.or(self.expected_sum);
        (self.expected_rows, self.uncertain) = (rows, 0);
        Ok(())
    }

    /// Everything that was changed goes to the device.
    fn settle(&self, place: &OpenTarget) -> Result<(), EngineError> {
        let mut session = self.connect(place, 1)?;
        let settled = settle::pages(&self.oltp, session.as_mut());
        // Whoever connects to a server that is none of ours may not be allowed to.
        if let (Err(error), None) = (settled, &self.external) {
            return Err(self.explain(error));
        }
        drop(session);
        place.sync()?;
        Ok(())
    }

    /// Another connection for a client that lost its own while the server lives.
    fn connect_again(&self, state: &RunState) -> Option<Box<dyn Session>> {
        let (external, running) = (self.external.as_ref(), self.running.as_ref());
        let is_alive = || external.map_or_else(|| running.is_some_and(Running::is_alive), External::is_alive);
        let connect = || match (external, running) {
            (Some(external), _) => Some(external.connect()),
            (None, running) => running.map(Running::connect),
        };
        let begun = Instant::now();
        while is_alive() && !state.is_over() && begun.elapsed() < RECONNECT {
            let connected = connect()?.and_then(|mut session| {
                script::prepare(session.as_mut(), &self.oltp)?;
                Ok(session)
            });
            if let Ok(session) = connected {
                return Some(session);
            }
            std::thread::sleep(GLANCE);
        }
        None
    }

    /// Syncs of PostgreSQL's log so far, by a server whose clients are gone.
    fn log_syncs(&self, place: &OpenTarget) -> Option<f64> {
        if self.oltp.server != Server::Postgresql {
            return None;
        }
        let mut session = self.connect(place, 1).ok()?;
        let begun = Instant::now();
        while !usage::is_alone(session.as_mut()) && begun.elapsed() < BACKENDS_END {
            std::thread::sleep(GLANCE);
        }
        usage::fsyncs(self.oltp.server, session.as_mut())
    }

    /// What the work counted itself, as totals of the window.
    fn totals(&self, came: &Came, fsyncs: Option<f64>, cold: bool) -> Vec<(&'static str, f64)> {
        let mut totals =
            vec![("retries", came.retries.iter().sum::<u64>() as f64), ("lost_connections", came.lost as f64)];
        totals.extend(Cause::ALL.iter().zip(came.retries).map(|(cause, count)| (cause.key(), count as f64)));
        totals.extend(fsyncs.map(|fsyncs| ("server_fsyncs_per_operation", fsyncs)));
        if self.oltp.server == Server::Sqlite {
            totals.push(("server_fsyncs_per_operation", came.syncs.count as f64));
            if came.syncs.count > 0 {
                totals.push(("server_fsync_ns", came.syncs.nanoseconds as f64 / came.syncs.count as f64));
            }
        }
        if cold && came.seconds > 0.0 {
            let part = came.seconds / f64::from(clients::FIRST_PART);
            totals.push(("operations_per_second_at_first", came.at_first as f64 / part));
        }
        totals
    }
}

impl Work for OltpWork {
    /// A server that does not run is started first; the window opens after the warm-up.
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let (threads, cold) = self.oltp.group_named(group).ok_or_else(|| {
            EngineError::Unsuitable(format!("the database has no group {}", model::text::escaped(group.as_bytes())))
        })?;
        if part != Part::WHOLE {
            return Err(EngineError::Unsuitable("transactions are not done in parts; ask for the whole".to_owned()));
        }
        self.start(place)?;
        self.refill(place)?;
        if !cold {
            // What filled the tables, and the group before, are not to be paid for here.
            self.settle(place)?;
        }
        let synced = self.log_syncs(place);
        let mut clients = self.clients(place, threads, group)?;
        let warm_up = if cold { 0.0 } else { self.oltp.warm_up_seconds };
        let [warm_up, window] = [warm_up, self.oltp.seconds].map(Duration::from_secs_f64);
        let times = clients::Times { warm_up, window, patience: watch::PATIENCE };
        let external = self.external.as_ref().and_then(External::pid);
        let pid = self.running.as_ref().map(Running::pid).or(external);
        let server = self.oltp.server;
        let counts_at_once = matches!(server, Server::Mariadb | Server::Mysql);
        let counters = counts_at_once.then(|| self.connect(place, 1)).transpose()?;
        observer.work_begins();
        let mut meter = Meter::new(&mut *observer, pid, counters.map(|session| Counters { server, session }));
        let again = |state: &RunState| self.connect_again(state);
        let came = clients::run(&mut clients, times, &self.stop, &mut meter, &again);
        let (used, counted) = (meter.cpu(), meter.syncs());
        drop(meter);
        drop(clients);
        self.expected_rows += came.grown.rows;
        self.expected_sum = self.expected_sum.map(|sum| sum + came.grown.sum);
        self.grown |= came.grown.rows != 0 || came.uncertain > 0;
        self.uncertain += came.uncertain;
        self.retries += came.retries.iter().sum::<u64>();
        self.lost += came.lost;
        self.transactions += came.operations;
        if came.stopped {
            return Err(EngineError::Interrupted);
        }
        if let Some(error) = came.error {
            return Err(self.explain(error));
        }
        // PostgreSQL's are of all transactions, those of the warm-up too: the window gets its share.
        let share = came.operations as f64 / came.all.max(1) as f64;
        let of_the_log = synced.zip(self.log_syncs(place)).map(|(before, after)| (after - before).max(0.0) * share);
        let totals = self.totals(&came, counted.or(of_the_log), cold);
        self.settle(place)?;
        observer.work_is_written();
        Ok(Window {
            group: group.to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            operations: came.operations,
            bytes: came.operations * self.oltp.transaction_bytes(),
            seconds: came.seconds,
            latencies: came.latencies,
            totals,
            server_cpu_seconds: used.map(|used| [used.user_seconds, used.system_seconds]),
            all_operations: came.all,
            settings: self.settings.clone(),
            ..Window::default()
        })
    }

    /// Starts the server where it does not run, checks every table and counts its rows.
    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let begun = std::time::Instant::now();
        self.start(place)?;
        let mut session = self.connect(place, 1)?;
        let found = check::tables(&self.oltp, session.as_mut()).map_err(|error| self.explain(error))?;
        drop(session);
        if let Some(what) = found.damage {
            let path = place.directory().map(|(path, _)| path.join(server_directory::NAME)).unwrap_or_default();
            return Err(EngineError::Contents { path, what });
        }
        self.compare(place, found.rows, found.sum)?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Stops the server: it would keep the lane busy. The next phase starts it again.
    fn release(&mut self) {
        let Some(running) = self.running.take() else { return };
        // A client was told of one that died under it.
        let told = !running.is_alive() && self.uncertain > 0;
        if let (false, Err(error)) = (told, running.stop()) {
            self.trouble.get_or_insert(error);
        }
    }

    fn notes(&self) -> Vec<Flag> {
        let mut notes = Vec::new();
        if self.oltp.fits_the_pool() {
            notes.push(Flag::Note(format!(
                "fits the pool: the tables' {} lie in the pool of {}, so that reads are served from memory",
                model::Bytes(self.oltp.data_bytes()),
                self.oltp.pool
            )));
        }
        if self.retries > 0 {
            let (retries, all) = (self.retries, self.transactions);
            notes.push(Flag::Note(format!(
                "retries: {retries} beside {all} transactions, after a deadlock or a busy database"
            )));
        }
        if self.oltp.is_external() {
            let unsafe_settings = Oltp::unsafe_stated(&self.settings);
            if !unsafe_settings.is_empty() {
                let settings = unsafe_settings.join(", ");
                notes.push(Flag::Note(
                    NoteKind::NotDurable
                        .note(format_args!("the server runs with {settings}, and may lose what it acknowledged")),
                ));
            }
        }
        if self.lost > 0 {
            notes.push(Flag::Note(format!("lost connections: {} while the server went on", self.lost)));
        }
        notes
    }
}
