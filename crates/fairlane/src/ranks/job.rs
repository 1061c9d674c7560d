//! Rank 0's side: it asks all ranks, waits for all of them, and ends the race where one is gone.

mod clocks;
mod shifted;

use super::check::{self, Place, Program, named};
use super::combine::{self, Compared, RankGroup, RankReply, Release};
use super::host::{Order, TOKEN};
use super::link::{Ahead, Link};
use super::message::{Answer, Ask, Asked, Told};
use super::sharing::{all_elsewhere, only_reads, peers, picked, wears_out, works_in_one_folder, works_together};
use super::waits::{GONE_AFTER, Waits};
use super::{MOST_SILENCE, monotonic_ns, within};
use crate::conductor::agent_process::{CallError, checked};
use crate::failure::Failure;
use lanes::LaneFailure;
use model::agent::{Devices, FilesystemProcesses, Reply, Request};
use model::lane::LaneSpec;
use model::ranks::{Clients, JobRanks, RankLadder};
use model::text::escaped_path;
use model::workload::Workload;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// How long is waited for an answer before anything else is looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// How long the agents of a job that is over take to end: they are asked to, or the kernel ends them with their parents.
const AGENTS_END: Duration = Duration::from_secs(2);

/// What comes from the ranks.
pub enum Event {
    /// A rank answers.
    Told(u32, Told),
    /// The process of a rank is gone; why, in words.
    Lost(u32, String),
    /// How far clocks of a rank go ahead of this one's; `None`: it did not tell.
    Clocks(u32, Option<Ahead>),
    /// MPI is gone.
    Gone,
}

/// How this process reaches the ranks.
pub struct Lines {
    /// To the other ranks.
    pub link: Arc<Link>,
    /// To the host of this one.
    pub own: Sender<Order>,
    /// Ends what that one does.
    pub own_stop: Arc<AtomicBool>,
    /// From all of them.
    pub events: Receiver<Event>,
    /// Set where the job cannot end in order: MPI has to end it.
    pub broken: Arc<AtomicBool>,
}

/// The ranks of a job.
pub struct Job {
    lines: Lines,
    size: u32,
    /// The number of each rank's machine.
    nodes: Vec<u32>,
    /// How many of them do which workload, by its name; all do the others.
    at_work: BTreeMap<String, u32>,
    /// Of the last question.
    number: u64,
    /// By the lane's number.
    lanes: BTreeMap<usize, LaneWork>,
    clocks: clocks::Clocks,
    /// Why nothing more comes of it.
    over: Option<String>,
    /// Its agents were waited for since.
    is_awaited: bool,
    /// Folders whose filesystem does not answer.
    silent: Vec<PathBuf>,
}

/// What a lane's agents are at.
#[derive(Default)]
struct LaneWork {
    attached: Option<Request>,
    /// The ranks that do the workload, ascending; empty: all.
    team: Vec<u32>,
    /// All of them work in one folder.
    is_shared: bool,
    /// The next sync is the one after the files were made, and then each rank reads those of another, or sees what all
    /// have made.
    shifts: bool,
    /// Each rank has the files of another.
    is_shifted: bool,
    groups: Vec<RankGroup>,
    /// Into the first window.
    release: Option<Release>,
    /// What is done, with the round's seed.
    prepared: Option<(Box<Workload>, u64)>,
    /// What of it ranks compared that others wrote; operations are compared in a pass of their own, before those that count.
    compared: Compared,
}

impl LaneWork {
    /// Something else is done in the lane, or the same once more.
    fn prepare(&mut self, workload: &Workload, seed: u64, team: Vec<u32>) {
        let is_shared = works_in_one_folder(workload);
        let is_known = self.prepared.as_ref().is_some_and(|(known, of)| known.name == workload.name && *of == seed);
        *self = LaneWork {
            attached: self.attached.take(),
            team,
            is_shared,
            shifts: is_shared || only_reads(workload),
            is_shifted: false,
            groups: Vec::new(),
            release: None,
            prepared: Some((Box::new(workload.clone()), seed)),
            compared: if is_known { self.compared } else { Compared::default() },
        };
    }
}

impl Job {
    /// So many ranks, of which nothing is known yet.
    pub fn new(size: u32, lines: Lines) -> Self {
        Job {
            lines,
            size,
            nodes: vec![0; size as usize],
            at_work: BTreeMap::new(),
            number: 0,
            lanes: BTreeMap::new(),
            clocks: clocks::Clocks::default(),
            over: None,
            is_awaited: false,
            silent: Vec::new(),
        }
    }

    /// From here on so many ranks do each step of these ladders.
    pub fn climb(&mut self, ladders: &[RankLadder]) {
        let steps = ladders.iter().flat_map(|ladder| &ladder.steps);
        self.at_work = steps.map(|step| (step.workload.clone(), step.ranks)).collect();
    }

    /// Asks every rank who it is, and compares clocks of their machines.
    ///
    /// # Errors
    /// Where one runs another program, or does not answer.
    pub fn greet(&mut self, stop: &AtomicBool) -> Result<JobRanks, Failure> {
        let failed = |error: CallError| match error {
            CallError::Interrupted => Failure::interrupted(),
            CallError::JobLost(reason) | CallError::Lost(reason) => Failure::failed(reason),
            other => Failure::failed(format!("the ranks do not answer: {other:?}")),
        };
        let answers = self.ask(&|_| Some(Ask::Hello), stop, &mut || {}).map_err(failed)?;
        let (mut programs, mut boots): (Vec<Program>, Vec<String>) = Default::default();
        for (rank, answer) in answers {
            let Answer::Hello { version, build, boot } = answer else {
                return Err(Failure::failed(format!("rank {rank} does not say who it is; {AGAIN}")));
            };
            programs.push(Program { version, build });
            let node = boots.iter().position(|known| *known == boot).unwrap_or_else(|| {
                boots.push(boot);
                boots.len() - 1
            });
            if let Some(of) = self.nodes.get_mut(rank as usize) {
                *of = node as u32;
            }
        }
        check::one_program(&programs, &self.nodes)?;
        self.compare_clocks_before(stop).map_err(failed)?;
        Ok(self.ranks())
    }

    /// How many there are, and on how many machines.
    pub fn ranks(&self) -> JobRanks {
        JobRanks {
            ranks: self.size,
            nodes: self.nodes.iter().max().map_or(1, |last| last + 1),
            srun: super::launcher::is_srun(self.size, |name| std::env::var(name).ok()),
            ladders: Vec::new(),
        }
    }

    /// Whether every rank that reads what another one wrote reads it on another machine, where so many work. `numbers`: of
    /// a ladder; none: all ranks.
    pub fn reads_elsewhere(&self, numbers: &[u32]) -> bool {
        let is_elsewhere = |count: u32| {
            let team = picked(&self.nodes, count as usize);
            all_elsewhere(&team.iter().map(|rank| self.node(*rank)).collect::<Vec<u32>>())
        };
        match numbers {
            [] => is_elsewhere(self.size),
            _ => numbers.iter().filter(|count| **count > 1).all(|count| is_elsewhere(*count)),
        }
    }

    fn node(&self, rank: u32) -> u32 {
        self.nodes.get(rank as usize).copied().unwrap_or(0)
    }

    /// The ranks that do a workload, by its name; empty: all.
    fn team_of(&self, workload: &str) -> Vec<u32> {
        let of_step = self.at_work.get(workload).filter(|count| **count < self.size);
        of_step.map_or_else(Vec::new, |count| picked(&self.nodes, *count as usize))
    }

    /// The ranks that a request to a lane is for, ascending. All let go of it, also those that work no more.
    fn asked(&self, lane: usize, request: &Request) -> Vec<u32> {
        if *request == Request::Detach { (0..self.size).collect() } else { self.team_at(lane) }
    }

    /// The ranks that work in a lane, ascending.
    fn team_at(&self, lane: usize) -> Vec<u32> {
        match self.lanes.get(&lane).filter(|work| !work.team.is_empty()) {
            Some(work) => work.team.clone(),
            None => (0..self.size).collect(),
        }
    }

    /// Whether all ranks see a lane's folder and may work there.
    ///
    /// # Errors
    /// The first that does not, with the remedy.
    pub fn look(&mut self, spec: &LaneSpec, lane: &str, folder: &Path, stop: &AtomicBool) -> Result<(), LaneFailure> {
        let directory = check::directory_of(spec);
        let token = format!("{:x}-{:x}", monotonic_ns(), std::process::id());
        let (file, text) = (folder.join(TOKEN), token.clone());
        let written = within(MOST_SILENCE, move || {
            let mut file = std::fs::File::create_new(file)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        match written {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                return Err(LaneFailure::Failed(format!(
                    "lane {lane}: cannot write into {}: {error}; free some space, or choose another directory",
                    escaped_path(&directory)
                )));
            }
            None => return Err(self.silent(folder.parent().unwrap_or(folder))),
        }
        let ask = |_| Some(Ask::Look { directory: directory.clone(), folder: folder.to_owned(), token: token.clone() });
        let answers = self.ask(&ask, stop, &mut || {}).map_err(|error| match error {
            CallError::Interrupted => LaneFailure::Interrupted,
            CallError::JobLost(reason) | CallError::Lost(reason) => LaneFailure::Failed(reason),
            other => LaneFailure::Failed(format!("the ranks do not answer: {other:?}")),
        })?;
        for (rank, answer) in answers {
            if let Answer::Looked { trouble: Some(trouble) } = answer {
                let place = Place { lane, directory: &directory, folder };
                return Err(check::cannot_work(&place, &self.named(rank), &trouble));
            }
        }
        // The folder goes with everything in it when the lane is closed.
        Ok(())
    }

    /// Asks the agents of a lane on all ranks, and makes one answer of theirs.
    ///
    /// # Errors
    /// See [`CallError`]; where one rank refuses, all have.
    pub fn call(
        &mut self,
        lane: usize,
        request: &Request,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        let nodes = self.ranks().nodes;
        let sent_ns = monotonic_ns();
        match request {
            Request::Attach { .. } => self.lanes.entry(lane).or_default().attached = Some(request.clone()),
            Request::Prepare { workload, seed, .. } => {
                let (is_shared, team) = (works_in_one_folder(workload), self.team_of(&workload.name));
                let work = self.lanes.entry(lane).or_default();
                // Attached are those that did the workload before this one.
                let moves = is_shared != work.is_shared || team != work.team;
                work.prepare(workload, *seed, team);
                if moves {
                    self.attach_again(lane, &|rank| (!is_shared).then_some(rank), stop, waiting)?;
                }
            }
            _ => {}
        }
        self.compare(lane, request, stop, waiting)?;
        let clocks = self.clocks_before_window(lane, request, stop)?;
        let is_shared = self.lanes.get(&lane).is_some_and(|work| work.is_shared);
        let replies = self.ask_agents(lane, request, &|rank| (!is_shared).then_some(rank), stop, waiting)?;
        let work = self.lanes.entry(lane).or_default();
        if let Some(refusal) = combine::refusal(&replies, nodes) {
            if let (Reply::Failed { unsupported: true, .. }, Request::Phase { group, .. }) = (&refusal, request) {
                // Half a step is no step.
                work.groups.retain(|of| of.name() != *group);
            }
            return checked(refusal, stop);
        }
        work.release = combine::release(&replies, &clocks).or(work.release);
        let wears_out = work.prepared.as_ref().is_some_and(|(of, _)| wears_out(of));
        let reply = match request {
            Request::Slice { .. } if wears_out && replies.len() > 1 => {
                return self.wear_out(lane, (&replies[..], sent_ns), stop, waiting);
            }
            Request::Slice { .. } | Request::Phase { .. } => combine::measured(&replies, &mut work.groups, sent_ns),
            Request::Finish => {
                let (mut groups, compared) = (std::mem::take(&mut work.groups), std::mem::take(&mut work.compared));
                if let (Some(first), Some(release)) = (groups.first_mut(), work.release.take()) {
                    first.release(release);
                }
                combine::finished(&replies, groups, compared)
            }
            Request::Sync if std::mem::take(&mut work.shifts) => {
                self.shift(lane, stop, waiting)?;
                combine::plain(&replies)
            }
            _ => combine::plain(&replies),
        };
        checked(reply, stop)
    }

    /// The deadline of a slice has come: the ranks that work are told how many operations the fastest of them has
    /// done, and do as many.
    fn wear_out(
        &mut self,
        lane: usize,
        (first, sent_ns): (&[RankReply], u64),
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        let operations = combine::most_operations(first).unwrap_or(0);
        // Their files are open.
        let rest = self.ask_agents(lane, &Request::WearOut { operations }, &|_| None, stop, waiting)?;
        if let Some(refusal) = combine::refusal(&rest, self.ranks().nodes) {
            return checked(refusal, stop);
        }
        let work = self.lanes.entry(lane).or_default();
        checked(combine::worn_out(first, &rest, &mut work.groups, sent_ns), stop)
    }

    /// The agents of a lane let go of it, also after Ctrl-C; `None`: nobody is there.
    pub fn let_go(&mut self, lane: usize) -> Option<Result<(), CallError>> {
        if self.over.is_some() {
            return None;
        }
        let go_on = AtomicBool::new(false);
        Some(self.call(lane, &Request::Detach, &go_on, &mut || {}).map(drop))
    }

    /// All agents end.
    pub fn end_agents(&mut self) {
        self.lanes.clear();
        if self.over.is_none() {
            // Who does not answer is told by what is asked next.
            let _ = self.ask(&|_| Some(Ask::EndAgents), &AtomicBool::new(false), &mut || {});
        }
    }

    /// Whether the filesystem of a folder still answers this rank. It is asked before anything is done there that may wait
    /// for ever; of a job that is gone, its agents are waited for.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`]; nothing is to be done there any more.
    pub fn check_answers(&mut self, folder: &Path, stop: &AtomicBool) -> Result<(), LaneFailure> {
        if self.over.is_some() && !std::mem::replace(&mut self.is_awaited, true) {
            std::thread::sleep(AGENTS_END);
        }
        if self.silent.iter().any(|silent| silent == folder) {
            return Err(self.silent(folder));
        }
        let asked = folder.join("answers");
        let most = if stop.load(Ordering::Relaxed) { MOST_SILENCE / 4 } else { MOST_SILENCE };
        // What it answers is nothing to this: that it does.
        let answered = within(most, move || _ = std::fs::create_dir(&asked).and_then(|()| std::fs::remove_dir(&asked)));
        answered.ok_or_else(|| self.silent(folder))
    }

    /// A folder whose filesystem does not answer any more; `None`: all do.
    pub fn silent_folder(&self) -> Option<&Path> {
        self.silent.first().map(PathBuf::as_path)
    }

    fn silent(&mut self, folder: &Path) -> LaneFailure {
        if !self.silent.iter().any(|silent| silent == folder) {
            self.silent.push(folder.to_owned());
        }
        // What hangs there holds this process, and whoever waits for its end.
        self.lines.broken.store(true, Ordering::Relaxed);
        LaneFailure::Failed(format!(
            "the filesystem of {} does not answer rank 0; look after it (dmesg)",
            escaped_path(folder)
        ))
    }

    fn named(&self, rank: u32) -> String {
        named(rank, self.node(rank), self.ranks().nodes)
    }

    /// `folder_of`: whose folder a rank works in; `None`: in the one that all share.
    fn ask_agents(
        &mut self,
        lane: usize,
        request: &Request,
        folder_of: &dyn Fn(u32) -> Option<u32>,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<Vec<RankReply>, CallError> {
        let team = self.asked(lane, request);
        let nodes: Vec<u32> = team.iter().map(|rank| self.node(*rank)).collect();
        let (peers, of) = (peers(&nodes), team.len() as u32);
        let is_measured = matches!(request, Request::Slice { .. } | Request::Phase { .. });
        let prepared = self.lanes.get(&lane).and_then(|work| work.prepared.as_ref());
        let is_together = prepared.is_some_and(|(of, _)| works_together(of, request));
        let together = if is_together { rows(&team) } else { Vec::new() };
        let ask = |rank: u32| {
            // The barrier is that of all ranks.
            let Ok(place) = team.binary_search(&rank) else { return is_measured.then_some(Ask::Barrier) };
            let mut request = if nodes[place] == 0 { request.clone() } else { elsewhere(request) };
            // Those that work are numbered among themselves.
            let (number, reads) = (place as u32, peers[place]);
            match &mut request {
                Request::Prepare { clients, .. } => *clients = Clients { number, reads, of },
                Request::CheckOther { client, rank, .. } => (*client, *rank) = (reads, team[reads as usize]),
                _ => {}
            }
            let (lane, request, together) = (lane as u32, Box::new(request), together.clone());
            Some(Ask::Agent { lane, request, folder_of: folder_of(rank), together })
        };
        let answers = self.ask(&ask, stop, waiting)?;
        if answers.iter().any(|(_, answer)| matches!(answer, Answer::Lost { hangs: true, .. })) {
            // It holds the outputs of its rank open, and who starts jobs waits for their end.
            self.lines.broken.store(true, Ordering::Relaxed);
        }
        let mut replies = Vec::with_capacity(team.len());
        for (rank, answer) in answers {
            match answer {
                Answer::Agent { reply, moments } => {
                    replies.push(RankReply { rank, node: self.node(rank), reply: *reply, moments });
                }
                // It came to the barrier for those that work.
                Answer::Done if team.binary_search(&rank).is_err() => {}
                Answer::Apart => return Err(self.over(format!("not all ranks came to work together; {AGAIN}"))),
                _ if stop.load(Ordering::Relaxed) => return Err(CallError::Interrupted),
                Answer::Lost { reason, .. } => return Err(CallError::Lost(format!("{}: {reason}", self.named(rank)))),
                other => return Err(CallError::Lost(format!("{} answered {other:?}", self.named(rank)))),
            }
        }
        Ok(replies)
    }

    /// Asks ranks, and waits for the answers of all that were asked something; they are in the ranks' order.
    fn ask(
        &mut self,
        ask: &dyn Fn(u32) -> Option<Ask>,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<Vec<(u32, Answer)>, CallError> {
        if let Some(reason) = &self.over {
            return Err(CallError::JobLost(reason.clone()));
        }
        self.number += 1;
        let mut answers: BTreeMap<u32, Option<Answer>> = BTreeMap::new();
        for (rank, ask) in (0..self.size).filter_map(|rank| Some((rank, ask(rank)?))) {
            self.tell(rank, self.number, ask)?;
            answers.insert(rank, None);
        }
        let mut left = answers.len();
        let mut waits = Waits::new(self.size as usize);
        while left > 0 {
            match self.lines.events.recv_timeout(GLANCE) {
                Ok(Event::Told(rank, Told { number, answer })) => {
                    waits.hear(rank);
                    let place = answers.get_mut(&rank).filter(|place| place.is_none());
                    if let (Some(place), true) = (place, number == self.number && answer != Answer::Pong) {
                        *place = Some(answer);
                        left -= 1;
                    }
                }
                Ok(Event::Lost(rank, why)) => return Err(self.is_lost(rank, &why, stop)),
                Ok(Event::Gone) | Err(RecvTimeoutError::Disconnected) => return Err(self.has_ended(stop)),
                // Of clocks that nobody waits for any more.
                Ok(Event::Clocks(..)) | Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.load(Ordering::Relaxed) {
                if waits.stops() {
                    self.lines.own_stop.store(true, Ordering::Relaxed);
                    (1..self.size).try_for_each(|rank| self.tell(rank, self.number, Ask::Stop))?;
                }
                if waits.have_stopped() {
                    return Err(CallError::Interrupted);
                }
            } else {
                waiting();
            }
            let pending = || answers.iter().filter(|(_, answer)| answer.is_none()).map(|(rank, _)| *rank);
            if let Some(rank) = pending().find(|rank| *rank > 0 && waits.is_gone(*rank)) {
                let who = self.named(rank);
                let seconds = GONE_AFTER.as_secs();
                return Err(
                    self.over(format!("{who} has not answered for {seconds} s; look after its node, then {AGAIN}"))
                );
            }
            if waits.ping_is_due() {
                let asked: Vec<u32> = pending().filter(|rank: &u32| *rank > 0).collect();
                asked.into_iter().try_for_each(|rank| self.tell(rank, self.number, Ask::Ping))?;
            }
        }
        Ok(answers.into_iter().filter_map(|(rank, answer)| Some((rank, answer?))).collect())
    }

    fn tell(&mut self, rank: u32, number: u64, ask: Ask) -> Result<(), CallError> {
        let asked = Asked { number, ask };
        let told = match rank {
            0 => self.lines.own.send(Order::Asked(asked)).is_ok(),
            _ => {
                let line = serde_json::to_string(&asked).map_err(|error| CallError::Lost(error.to_string()))?;
                self.lines.link.tell(rank, &line).is_ok()
            }
        };
        if told { Ok(()) } else { Err(self.over(format!("the MPI job has ended under the race; {AGAIN}"))) }
    }

    fn is_lost(&mut self, rank: u32, why: &str, stop: &AtomicBool) -> CallError {
        let who = self.named(rank);
        self.gone(format!("{who} is gone: {why}; {AGAIN}"), stop)
    }

    fn has_ended(&mut self, stop: &AtomicBool) -> CallError {
        self.gone(format!("the MPI job has ended under the race; {AGAIN}"), stop)
    }

    /// Nothing more comes of the job; where it was to end anyway, that is why.
    fn gone(&mut self, reason: String, stop: &AtomicBool) -> CallError {
        let over = self.over(reason);
        if stop.load(Ordering::Relaxed) { CallError::Interrupted } else { over }
    }

    /// Nothing more comes of the job.
    fn over(&mut self, reason: String) -> CallError {
        self.lines.broken.store(true, Ordering::Relaxed);
        self.lines.own_stop.store(true, Ordering::Relaxed);
        if self.over.is_none()
            && let Ok(line) = serde_json::to_string(&Asked { number: self.number, ask: Ask::Stop })
        {
            // Who is left writes nothing more while rank 0 removes what is there. Who is gone hears nothing.
            let _ = (1..self.size).try_for_each(|rank| self.lines.link.tell(rank, &line));
        }
        CallError::JobLost(self.over.get_or_insert(reason).clone())
    }
}

/// What to do about a job that broke.
const AGAIN: &str = "start the job again";

/// A request for a machine other than rank 0's, where disks have other names and processes other numbers.
fn elsewhere(request: &Request) -> Request {
    match request {
        Request::Attach { target, devices } => {
            let filesystem = match devices.filesystem {
                FilesystemProcesses::None => FilesystemProcesses::None,
                FilesystemProcesses::Known(_) | FilesystemProcesses::Unknown => FilesystemProcesses::Unknown,
            };
            Request::Attach { target: target.clone(), devices: Devices { filesystem, ..Devices::default() } }
        }
        other => other.clone(),
    }
}

/// The first and the last of each row of ranks without a gap. Of all ranks that is one, where each of them by its number would be told to
/// each other one.
fn rows(ranks: &[u32]) -> Vec<[u32; 2]> {
    ranks.chunk_by(|one, next| one + 1 == *next).filter_map(|row| Some([*row.first()?, *row.last()?])).collect()
}

#[cfg(test)]
mod tests;
