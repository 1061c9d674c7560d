//! The agent's state: the target, the workload on it, and what it has yielded so far.

use engine::{EngineError, Observer, OpenTarget, OtherClient, Tally, Window, Work};
use model::agent::{Devices, Part, Reply, Request, Room, Target};
use model::ranks::Clients;
use model::trial::{Group, SystemUse};
use model::workload::{Kind, Workload};
use sampler::Sampler;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What the agent holds between requests.
pub(crate) struct Session {
    stop: Arc<AtomicBool>,
    attached: Option<Attached>,
    trial: Option<Trial>,
    /// Where servers note their process ids.
    note: Option<PathBuf>,
}

struct Attached {
    place: OpenTarget,
    sampler: Sampler,
}

/// A prepared workload and its figures so far. It outlives a detach: files are made cold by
/// detaching, remounting and attaching again.
struct Trial {
    work: Box<dyn Work>,
    workload: Workload,
    seed: u64,
    clients: Clients,
    tallies: Vec<(Tally, SystemUse)>,
    system: SystemUse,
    /// Phases tell apart what the system did in each; slices of steady work have one group only.
    in_phases: bool,
    /// Bytes written at the device and by the work before the first slice.
    before: Option<(u64, u64)>,
}

/// Keeps the sampler's window and the engine's one and the same.
struct Watch<'a> {
    sampler: &'a mut Sampler,
    /// Bytes written at the device when work began that is followed to its last byte.
    begun: Option<u64>,
    /// Bytes written there for it.
    written: Option<u64>,
}

impl Watch<'_> {
    fn new(sampler: &mut Sampler) -> Watch<'_> {
        Watch { sampler, begun: None, written: None }
    }
}

impl Observer for Watch<'_> {
    fn window_opens(&mut self) {
        self.sampler.open_window();
    }
    fn window_closes(&mut self) {
        self.sampler.close_window();
    }
    fn work_begins(&mut self) {
        self.begun = Some(self.sampler.device_write_bytes());
    }
    fn work_is_written(&mut self) {
        self.written = self.begun.map(|begun| self.sampler.device_write_bytes().saturating_sub(begun));
    }
}

/// Why a request was not done.
struct Refusal {
    reason: String,
    errno: Option<i32>,
    corrupt: bool,
    unsupported: bool,
    room: Room,
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        let (corrupt, unsupported) = (error.is_corrupt(), error.is_unsupported());
        Refusal { reason: error.to_string(), errno: error.errno(), corrupt, unsupported, room: error.room() }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        Refusal { reason: reason.to_owned(), errno: None, corrupt: false, unsupported: false, room: Room::Enough }
    }
}

impl Session {
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        Session { stop, attached: None, trial: None, note: None }
    }

    /// Drops the workload and the target.
    pub(crate) fn forget_all(&mut self) {
        self.trial = None;
        self.attached = None;
    }

    /// Does what is asked; whatever goes wrong is an answer too.
    pub(crate) fn answer(&mut self, request: &Request) -> Reply {
        let reply = match request {
            Request::Hello => Ok(hello()),
            Request::Attach { target, devices } => self.attach(target, devices),
            Request::Detach => self.detach().map(|()| Reply::Done),
            Request::Note { path } => {
                self.note = Some(path.clone());
                Ok(Reply::Done)
            }
            Request::Prepare { workload, seed, clients } => self.prepare(workload, *seed, *clients),
            Request::Again => self.again(),
            Request::Slice { warm_up_seconds, seconds, threads } => self.slice(*warm_up_seconds, *seconds, *threads),
            Request::WearOut { operations } => self.wear_out(*operations),
            Request::Phase { group, part, threads } => self.phase(group, *part, *threads),
            Request::Run { threads } => self.run(*threads),
            Request::Verify => self.verify(),
            Request::CheckOther { client, rank, seed } => {
                self.check_other(OtherClient { number: *client, rank: *rank, seed: *seed })
            }
            Request::Sync => self.sync(),
            Request::Finish => self.finish(),
            Request::Quit => {
                let let_go = self.detach();
                self.forget_all();
                let_go.map(|()| Reply::Done)
            }
        };
        reply.unwrap_or_else(|Refusal { reason, errno, corrupt, unsupported, room }| Reply::Failed {
            reason,
            errno,
            corrupt,
            unsupported,
            room,
        })
    }

    fn attach(&mut self, target: &Target, devices: &Devices) -> Result<Reply, Refusal> {
        self.detach()?;
        let place = OpenTarget::open(target)?;
        self.attached = Some(Attached { place, sampler: Sampler::new(devices).with_programs(devices) });
        Ok(Reply::Done)
    }

    /// Closes everything in the target. A library unmounts now, and what goes wrong then is said.
    fn detach(&mut self) -> Result<(), Refusal> {
        if let Some(trial) = &mut self.trial {
            trial.work.release();
        }
        Ok(self.attached.take().map_or(Ok(()), |attached| attached.place.close())?)
    }

    fn attached(&mut self) -> Result<&mut Attached, Refusal> {
        self.attached.as_mut().ok_or_else(not_attached)
    }

    fn prepare(&mut self, workload: &Workload, seed: u64, clients: Clients) -> Result<Reply, Refusal> {
        // First the old workload's files and buffers go, so that two never hold memory together.
        self.trial = None;
        let (stop, note) = (self.stop.clone(), self.note.clone());
        let attached = self.attached()?;
        let begun = Instant::now();
        let work = engine::prepare_noted(&attached.place, workload, (seed, clients), note, stop)?;
        let seconds = begun.elapsed().as_secs_f64();
        self.trial = Some(Trial {
            work,
            workload: workload.clone(),
            seed,
            clients,
            tallies: Vec::new(),
            system: SystemUse::default(),
            in_phases: false,
            before: None,
        });
        Ok(Reply::Took { seconds })
    }

    fn again(&mut self) -> Result<Reply, Refusal> {
        let stop = self.stop.clone();
        let Trial { work, workload, seed, clients, tallies, system, in_phases, before } =
            self.trial.take().ok_or("no workload is prepared; send prepare first")?;
        if !workload.traits().schedule().is_steps() {
            return Err("only operations on files begin again; send prepare for other work".into());
        }
        // As in `prepare`, and what is measured so far goes on.
        drop(work);
        let begun = Instant::now();
        let work = engine::prepare_noted(&self.attached()?.place, &workload, (seed, clients), None, stop)?;
        let seconds = begun.elapsed().as_secs_f64();
        self.trial = Some(Trial { work, workload, seed, clients, tallies, system, in_phases, before });
        Ok(Reply::Took { seconds })
    }

    fn slice(&mut self, warm_up_seconds: f64, seconds: f64, threads: bool) -> Result<Reply, Refusal> {
        let whole_hours = 0.0..=3600.0;
        if !whole_hours.contains(&warm_up_seconds) || !whole_hours.contains(&seconds) || seconds == 0.0 {
            return Err("a slice measures more than 0 and at most 3600 seconds after a warm-up of at most 3600".into());
        }
        let asked = Instant::now();
        let (attached, trial) = self.ready()?;
        if trial.before.is_none() {
            trial.before = Some((attached.sampler.device_write_bytes(), trial.work.written_bytes()));
        }
        attached.sampler.begin(threads);
        let mut watch = Watch::new(&mut attached.sampler);
        let windows = trial.work.slice(&attached.place, warm_up_seconds, seconds, &mut watch);
        let opened_after_seconds = attached.opened_after(asked);
        let mut system = attached.sampler.end();
        let windows = windows?;
        count_own_processes(&mut system, &windows);
        Ok(trial.measured(windows, system, opened_after_seconds))
    }

    fn wear_out(&mut self, operations: u64) -> Result<Reply, Refusal> {
        let asked = Instant::now();
        let (attached, trial) = self.ready()?;
        attached.sampler.begin(false);
        let mut watch = Watch::new(&mut attached.sampler);
        let windows = trial.work.wear_out(&attached.place, operations, &mut watch);
        let opened_after_seconds = attached.opened_after(asked);
        let system = attached.sampler.end();
        Ok(trial.measured(windows?, system, opened_after_seconds))
    }

    fn phase(&mut self, group: &str, part: Part, threads: bool) -> Result<Reply, Refusal> {
        let asked = Instant::now();
        let (attached, trial) = self.ready()?;
        trial.work.ready(group, part)?;
        attached.sampler.begin(threads);
        let mut watch = Watch::new(&mut attached.sampler);
        let window = trial.work.phase(&attached.place, group, part, &mut watch);
        let written = watch.written;
        let opened_after_seconds = attached.opened_after(asked);
        let mut system = attached.sampler.end();
        let mut window = match window {
            Ok(window) => window,
            Err(error) => {
                if error.is_unsupported() {
                    // Parts before it may have done something: half a step is no step.
                    trial.tallies.retain(|(tally, _)| tally.name() != group);
                }
                return Err(error.into());
            }
        };
        trial.in_phases = true;
        count_until_written(&mut window, written);
        if let Some([user, kernel]) = window.server_cpu_seconds {
            (system.server_cpu_user_seconds, system.server_cpu_system_seconds) = (user, kernel);
            if let (Some(foreign), true) = (&mut system.foreign_cpu_seconds, trial.serves_elsewhere()) {
                *foreign = (*foreign - user - kernel).max(0.0);
            }
        }
        if threads {
            count_own_threads(&mut system, &window);
        }
        Ok(trial.measured(vec![window], system, opened_after_seconds))
    }

    /// Runs a job file whole. The sampler's window is the one between the first job's start and the
    /// last one's end.
    fn run(&mut self, threads: bool) -> Result<Reply, Refusal> {
        let asked = Instant::now();
        let (attached, trial) = self.ready()?;
        if trial.before.is_none() {
            trial.before = Some((attached.sampler.device_write_bytes(), trial.work.written_bytes()));
        }
        attached.sampler.begin(threads);
        let mut watch = Watch::new(&mut attached.sampler);
        let windows = trial.work.run(&attached.place, &mut watch);
        let opened_after_seconds = attached.opened_after(asked);
        let system = attached.sampler.end();
        Ok(trial.measured(windows?, system, opened_after_seconds))
    }

    fn verify(&mut self) -> Result<Reply, Refusal> {
        let (attached, trial) = self.ready()?;
        let seconds = trial.work.verify(&attached.place)?;
        Ok(Reply::Took { seconds })
    }

    fn check_other(&mut self, other: OtherClient) -> Result<Reply, Refusal> {
        let (attached, trial) = self.ready()?;
        let clients = Clients { number: other.number, reads: other.number, ..trial.clients };
        clients.check().map_err(|wrong| Refusal::from(wrong.as_str()))?;
        let bytes = trial.work.check_other(&attached.place, other)?;
        Ok(Reply::Checked { bytes })
    }

    fn ready(&mut self) -> Result<(&mut Attached, &mut Trial), Refusal> {
        let attached = self.attached.as_mut().ok_or_else(not_attached)?;
        let trial = self.trial.as_mut().ok_or("no workload is prepared; send prepare first")?;
        Ok((attached, trial))
    }

    fn sync(&mut self) -> Result<Reply, Refusal> {
        let attached = self.attached.as_mut().ok_or_else(not_attached)?;
        let seconds = attached.place.sync()?;
        // Only now has everything that the slices wrote reached the device.
        if let Some(trial) = &mut self.trial
            && let Some((device, work)) = trial.before
        {
            trial.system.whole_device_write_bytes = attached.sampler.device_write_bytes().saturating_sub(device);
            trial.system.whole_application_write_bytes = trial.work.written_bytes() - work;
        }
        Ok(Reply::Took { seconds })
    }

    fn finish(&mut self) -> Result<Reply, Refusal> {
        let trial = self.trial.take().ok_or("no workload is prepared; send prepare first")?;
        let watched = self.attached.as_ref().map_or(Vec::new(), |attached| trial.work.watch_writes(&attached.place));
        let transactions = matches!(trial.workload.kind, Kind::Oltp(_));
        let group = |(tally, system): &(Tally, SystemUse)| {
            let mut group = Group { system: trial.in_phases.then(|| system.clone()), ..tally.group() };
            if transactions {
                count_device(&mut group, system);
            }
            if let Some((_, watched, cached)) = watched.iter().find(|(name, ..)| *name == group.name) {
                let files = group.cached_files.get_or_insert_default();
                (files.watched_writes, files.cached_writes) = (*watched, *cached);
            }
            let found = trial.work.found(&group.name);
            group.metrics.extend(found.into_iter().map(|(key, figure)| (key.to_owned(), figure)));
            group
        };
        let mut groups: Vec<Group> = trial.tallies.iter().map(group).collect();
        if transactions {
            // They were measured in another order in each round.
            let order = trial.workload.groups();
            groups.sort_by_key(|group| order.iter().position(|name| *name == group.name));
        }
        let notes = trial.work.notes();
        let jobs = trial.work.jobs();
        Ok(Reply::Finished { groups, system: trial.system, notes, jobs })
    }
}

impl Attached {
    /// Seconds from a request to the opening of the window that it was answered with.
    fn opened_after(&self, asked: Instant) -> f64 {
        self.sampler.opened_at().map_or(0.0, |opened| opened.saturating_duration_since(asked).as_secs_f64())
    }
}

impl Trial {
    /// Whether it works with a server that something else started: by its parents it is a program like any other.
    fn serves_elsewhere(&self) -> bool {
        match &self.workload.kind {
            Kind::Oltp(oltp) => oltp.is_external(),
            // The process that has MPI.
            Kind::Collective(_) => true,
            _ => false,
        }
    }

    fn measured(&mut self, windows: Vec<Window>, system: SystemUse, opened_after_seconds: f64) -> Reply {
        self.system.add(&system);
        let own = self.in_phases.then(|| system.clone());
        let group = |window: &Window| Group { system: own.clone(), ..window.group() };
        let groups = windows.iter().map(group).collect();
        for window in windows {
            match self.tallies.iter_mut().find(|(tally, _)| tally.name() == window.group) {
                Some((tally, sum)) => {
                    tally.add(&window);
                    sum.add(&system);
                }
                None => self.tallies.push((Tally::new(window), system.clone())),
            }
        }
        Reply::Measured { groups, system, opened_after_seconds }
    }
}

/// What a transaction costs at the device, and how long a flush takes there.
fn count_device(group: &mut Group, system: &SystemUse) {
    let device = &system.device;
    let mut count = |key: &str, amount: f64, of: u64| {
        if of > 0 {
            group.metrics.insert(key.to_owned(), amount / of as f64);
        }
    };
    let operations = group.operations;
    count("device_write_bytes_per_operation", device.write_bytes as f64, operations);
    count("device_flushes_per_operation", device.flushes as f64, operations);
    count("device_flush_ns", device.flush_seconds * 1e9, device.flushes);
}

/// What the whole of the work wrote at the device, up to its last byte, falls to each of its operations alike.
fn count_until_written(window: &mut Window, written: Option<u64>) {
    if let (Some(bytes), 1..) = (written, window.all_operations) {
        let share = window.operations as f64 / window.all_operations as f64;
        window.totals.push(("device_write_bytes_until_written_per_operation", bytes as f64 * share));
    }
}

/// Threads that ended with the work were gone when the sampler looked: their own clocks speak for them.
fn count_own_threads(system: &mut SystemUse, window: &Window) {
    if let Some((share, name)) = &window.busiest_thread
        && system.busiest_thread_share < Some(*share)
    {
        (system.busiest_thread_share, system.busiest_thread) = (Some(*share), Some(name.clone()));
    }
}

/// Processes that have not ended when the window closes are counted as children only later: what they used in
/// it they say themselves.
fn count_own_processes(system: &mut SystemUse, windows: &[Window]) {
    for (user, kernel) in windows.iter().map(|window| window.own_cpu_seconds) {
        system.agent_cpu_user_seconds += user;
        system.agent_cpu_system_seconds += kernel;
    }
}

fn hello() -> Reply {
    Reply::Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        ioengines: engine::io::available_names(),
    }
}

fn not_attached() -> Refusal {
    "nothing is attached; send attach first".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_later_falls_to_all_operations_alike() {
        let mut window = Window { operations: 50, all_operations: 80, seconds: 1.0, ..Window::default() };
        count_until_written(&mut window, None);
        assert_eq!(window.totals, []);
        count_until_written(&mut window, Some(8000));
        assert_eq!(Tally::new(window).group().metrics["device_write_bytes_until_written_per_operation"], 100.0);
        let mut none = Window::default();
        count_until_written(&mut none, Some(1));
        assert_eq!(none.totals, []);
    }

    #[test]
    fn what_processes_say_they_used_is_the_agents_own() {
        let window = |user, kernel| Window { own_cpu_seconds: (user, kernel), ..Window::default() };
        let mut system = SystemUse { agent_cpu_user_seconds: 0.5, ..SystemUse::default() };
        count_own_processes(&mut system, &[window(1.0, 2.0), window(0.25, 0.0)]);
        assert_eq!((system.agent_cpu_user_seconds, system.agent_cpu_system_seconds), (1.75, 2.0));
    }

    #[test]
    fn a_thread_that_is_gone_is_the_busiest_where_no_other_did_more() {
        let own = |share: f64| Window { busiest_thread: Some((share, "operations-1".to_owned())), ..Window::default() };
        let seen = |share: Option<f64>| SystemUse {
            busiest_thread_share: share,
            busiest_thread: share.map(|_| "kworker".to_owned()),
            ..SystemUse::default()
        };
        for (looked, window, share, name) in [
            (Some(0.4), own(0.95), Some(0.95), Some("operations-1")),
            (Some(0.98), own(0.95), Some(0.98), Some("kworker")),
            (None, own(0.95), Some(0.95), Some("operations-1")),
            (Some(0.4), Window::default(), Some(0.4), Some("kworker")),
        ] {
            let mut system = seen(looked);
            count_own_threads(&mut system, &window);
            assert_eq!((system.busiest_thread_share, system.busiest_thread.as_deref()), (share, name));
        }
    }
}
