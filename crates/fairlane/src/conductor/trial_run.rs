//! One lane's trial run in one round: what happened to it, until it becomes a trial.

use super::clocks;
use super::timeline::Gathered;
use lanes::guest::Clocks;
use model::Flag;
use model::agent::{Devices, LibraryTarget};
use model::trial::{Group, JobUse, Outcome, SystemUse, Trial};
use model::workload::Workload;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One lane's trial run in one round.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// Index of the lane.
    pub lane: usize,
    /// Index of the image or device that carries it in this round.
    pub ground: usize,
    /// Place in the round's order, from 1.
    pub position: u32,
    /// Where the work happens, once the lane is open.
    pub directory: PathBuf,
    /// What the agent attaches instead of that directory, where it is the filesystem itself.
    pub library: Option<LibraryTarget>,
    /// When it began, RFC 3339.
    pub started: String,
    /// Wall seconds of each phase.
    pub phases_seconds: BTreeMap<String, f64>,
    /// The figures.
    pub groups: Vec<Group>,
    /// The system during the measured windows.
    pub system: SystemUse,
    /// The devices to watch, once the lane is open.
    pub devices: Devices,
    /// The same window by window, since the lane was first opened.
    pub timeline: Option<Gathered>,
    /// What each job of a job file used.
    pub jobs: Vec<JobUse>,
    /// Remarks.
    pub flags: Vec<Flag>,
    /// Why it failed.
    pub failure: Option<String>,
    /// The step from which on nothing is done, because the filesystem cannot do it, and why. What was
    /// done before it counts.
    pub cut: Option<(String, String)>,
    /// The work has come to that step.
    pub past_cut: bool,
    /// The lane is mounted and must be closed.
    pub open: bool,
    /// What happens now is no part of the measured work.
    pub checking: bool,
    /// They are appenders, of which more is watched.
    pub appenders: bool,
    /// The host's clock and the guest's when the trial run began.
    pub clocks: Option<Clocks>,
    /// This machine's clocks when the trial run began.
    own_clocks: Option<clocks::Clocks>,
    /// Why it counts nowhere although nothing failed.
    pub void: Option<String>,
}

impl TrialRun {
    /// A trial run that has not begun.
    pub fn new(lane: usize, ground: usize, position: u32) -> Self {
        TrialRun {
            lane,
            ground,
            position,
            directory: PathBuf::new(),
            library: None,
            started: now(),
            phases_seconds: BTreeMap::new(),
            groups: Vec::new(),
            system: SystemUse::default(),
            devices: Devices::default(),
            timeline: None,
            jobs: Vec::new(),
            flags: Vec::new(),
            failure: None,
            cut: None,
            past_cut: false,
            open: false,
            checking: false,
            appenders: false,
            clocks: None,
            own_clocks: None,
            void: None,
        }
    }

    /// Charges seconds to a phase; while contents are checked, all of them to `verify`.
    pub fn charge(&mut self, phase: &str, seconds: f64) {
        let phase = if self.checking { "verify" } else { phase };
        *self.phases_seconds.entry(phase.to_owned()).or_insert(0.0) += seconds;
    }

    /// From here on the clocks are watched.
    pub fn watch_clocks(&mut self, now: clocks::Clocks) {
        self.own_clocks.get_or_insert(now);
    }

    /// What happened to the clocks since; the trial run ends.
    pub fn look_at_clocks(&mut self, now: clocks::Clocks) {
        let Some(before) = self.own_clocks.take() else { return };
        let found = now.since(&before);
        self.flags.extend(found.flags);
        self.void = self.void.take().or(found.void);
    }

    /// Whether it can go on.
    pub fn sound(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether the next step is done; once one cannot be done, it and those behind it are not, each time
    /// that the work comes so far.
    pub fn goes_on_to(&mut self, group: &str) -> bool {
        self.past_cut |= self.cut.as_ref().is_some_and(|(cut, _)| cut == group);
        !self.past_cut
    }

    /// Leaves the figures of the steps before the one that cannot be done; all of `groups` in order. A
    /// trial run without any has failed.
    pub fn end_at_cut(&mut self, groups: &[String]) {
        let Some((cut, reason)) = &self.cut else { return };
        let before = groups.iter().take_while(|group| *group != cut).collect::<Vec<_>>();
        self.groups.retain(|group| before.contains(&&group.name));
        if self.groups.is_empty() && self.failure.is_none() {
            self.failure = Some(reason.clone());
        }
    }

    /// The trial that the record keeps.
    pub fn into_trial(self, lane: &str, workload: &Workload, round: u32, attempt: u32) -> Trial {
        Trial {
            round,
            position: self.position,
            attempt,
            lane: lane.to_owned(),
            workload: workload.name.clone(),
            ground: self.ground as u32,
            outcome: match (&self.failure, &self.void) {
                (Some(_), _) => Outcome::Failed,
                (None, Some(_)) => Outcome::Void,
                (None, None) => Outcome::Ok,
            },
            reason: self.failure.or(self.void).or(self.cut.map(|(_, reason)| reason)),
            started: self.started,
            phases_seconds: self.phases_seconds,
            groups: self.groups,
            system: self.system,
            timeline: self.timeline.and_then(Gathered::into_course),
            jobs: self.jobs,
            flags: self.flags,
            // Whether others disturbed it is seen when all lanes of its round are done.
            disturbance: None,
        }
    }
}

/// This moment, RFC 3339, UTC, to the second.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}
