//! Before the first workload every lane does, once and small, whatever operations on files it will be
//! asked for: what it cannot do is refused by name, while nothing has been measured yet.

use super::agent_process::{AgentProcess, CallError};
use lanes::guest::Guest;
use lanes::guest::protocol::{Answer, Ask};
use lanes::{LaneFailure, Opened};
use model::agent::{Devices, Part, Request, Target};
use model::operations::{Operations, Rehearsal};
use model::plan::Plan;
use model::workload::{Kind, Workload};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The work of a plan, as it is tried out.
pub struct Rehearsals<'a> {
    plays: Vec<Play<'a>>,
    /// So many do each of them at once.
    ranks: u64,
    seed: u64,
    /// Started for the first lane.
    agent: Option<AgentProcess>,
}

/// One workload of operations.
struct Play<'a> {
    whole: &'a Operations,
    rehearsal: Rehearsal,
    work: Workload,
}

impl<'a> Rehearsals<'a> {
    /// Of a plan's operations on files; what other work asks is known without trying.
    pub fn new(plan: &'a Plan) -> Self {
        let play = |workload: &'a Workload| match &workload.kind {
            Kind::Operations(whole) => {
                let rehearsal = whole.rehearsal();
                let kind = Kind::Operations(Box::new(rehearsal.operations.clone()));
                let work = Workload { kind, ..workload.clone() };
                Some(Play { whole, rehearsal, work })
            }
            _ => None,
        };
        let most = plan.workloads.iter().map(|workload| plan.at_work(&workload.name)).max();
        let ranks = u64::from(most.unwrap_or(1));
        Rehearsals { plays: plan.workloads.iter().filter_map(play).collect(), ranks, seed: plan.seed, agent: None }
    }

    /// Tries them in a lane that is mounted and empty.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for what the lane cannot do, [`LaneFailure::Failed`] for a rehearsal that
    /// makes no sense itself, [`LaneFailure::Interrupted`]. What goes wrong otherwise is left to the race,
    /// which tells it in the trial.
    pub fn run(&mut self, lane: &str, opened: &Opened, stop: &AtomicBool) -> Result<(), LaneFailure> {
        if self.plays.is_empty() {
            return Ok(());
        }
        self.plays.iter().try_for_each(Play::check)?;
        if opened.library.is_none() {
            self.check_inodes(lane, opened, stop)?;
        }
        if opened.guest.is_some() {
            // An agent of this machine does not see it, and the next lane may be in another guest.
            self.agent = None;
        }
        let agent = match (&mut self.agent, &opened.guest) {
            (Some(agent), _) => agent,
            (none, guest) => match started(guest.as_ref(), stop) {
                Ok(agent) => none.insert(agent),
                Err(CallError::Interrupted) => return Err(LaneFailure::Interrupted),
                Err(_) => return Ok(()),
            },
        };
        let target = match &opened.library {
            Some(library) => Target::Library(library.clone()),
            None => Target::Directory(opened.directory.clone()),
        };
        let mut result = agent.call(&Request::Attach { target, devices: Devices::default() }, stop).map(|_| None);
        for play in &self.plays {
            if matches!(result, Ok(None)) {
                result = play.run(lane, agent, self.seed, stop);
            }
        }
        // It lets go also of a lane that is refused, and on Ctrl-C.
        let let_go = agent.call(&Request::Detach, &AtomicBool::new(false));
        let lost = matches!(result, Err(CallError::Lost(_) | CallError::Interrupted)) || let_go.is_err();
        if lost || opened.guest.is_some() {
            self.agent = None;
        }
        match result {
            Ok(None) => Ok(()),
            Ok(Some(refused)) => Err(LaneFailure::Usage(refused)),
            Err(CallError::Interrupted) => Err(LaneFailure::Interrupted),
            Err(_) => Ok(()),
        }
    }

    /// Files that find no inode would end the race in the middle.
    fn check_inodes(&self, lane: &str, opened: &Opened, stop: &AtomicBool) -> Result<(), LaneFailure> {
        let Some((inodes, free_inodes)) = inodes(opened, stop) else { return Ok(()) };
        // Where inodes are made as they are needed, 0 of them are told.
        let most_inodes = |play: &Play| play.whole.most_inodes().saturating_mul(self.ranks);
        let needs_more = |play: &&Play| inodes > 0 && most_inodes(play) > free_inodes;
        match self.plays.iter().find(needs_more) {
            Some(play) => Err(LaneFailure::Usage(format!(
                "workload {}: it makes {} files and directories and lane {lane} has {} inodes; give mkfs more inodes, \
                 raise --lane-size or lower count",
                play.work.name,
                most_inodes(play),
                free_inodes
            ))),
            None => Ok(()),
        }
    }
}

/// The agent that tries things out: the lane's own number is not taken in a guest before the race.
fn started(guest: Option<&Arc<Guest>>, stop: &AtomicBool) -> Result<AgentProcess, CallError> {
    match guest {
        None => AgentProcess::start(stop),
        Some(guest) => {
            let link = guest.start_agent(0, stop).map_err(|error| CallError::Lost(error.to_string()))?;
            AgentProcess::in_guest(link, stop)
        }
    }
}

/// Inodes of a mounted lane, in all and free.
fn inodes(opened: &Opened, stop: &AtomicBool) -> Option<(u64, u64)> {
    match &opened.guest {
        None => rustix::fs::statvfs(&opened.directory).ok().map(|room| (room.f_files, room.f_ffree)),
        Some(guest) => match guest.ask(&Ask::Room { target: opened.directory.clone() }, stop) {
            Ok(Answer::Room { inodes, free_inodes }) => Some((inodes, free_inodes)),
            _ => None,
        },
    }
}

impl Play<'_> {
    /// A rehearsal of sound work that is not sound would try nothing, and nobody would know.
    fn check(&self) -> Result<(), LaneFailure> {
        match (self.rehearsal.operations.check(), self.whole.check()) {
            (Err(what), Ok(())) => Err(LaneFailure::Failed(format!(
                "workload {}: its steps cannot be tried before the race: {what}; this is a fault of Fairlane, report it",
                self.work.name
            ))),
            _ => Ok(()),
        }
    }

    /// Answers why the lane cannot do it.
    fn run(
        &self,
        lane: &str,
        agent: &mut AgentProcess,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<String>, CallError> {
        let name = &self.work.name;
        match agent.call(&Request::prepare(self.work.clone(), seed), stop) {
            Err(CallError::Unsupported { errno, .. }) => {
                return Ok(Some(format!(
                    "workload {name}: lane {lane} cannot make its directories{}; change names, or leave the lane out",
                    answer(errno)
                )));
            }
            Err(CallError::Refused(_) | CallError::Corrupt(_)) => return Ok(None),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        for (step, asked_by) in self.rehearsal.operations.step.iter().zip(&self.rehearsal.asked_by) {
            let request = Request::Phase { group: step.group().to_owned(), part: Part::WHOLE, threads: false };
            match agent.call(&request, stop) {
                Err(CallError::Unsupported { errno, .. }) => {
                    let remedy = match asked_by.starts_with("set ") {
                        true => "lower the size, or leave the lane out",
                        false => "leave the step or the lane out",
                    };
                    return Ok(Some(format!(
                        "workload {name}, {asked_by}: lane {lane} cannot do it{}; {remedy}",
                        answer(errno)
                    )));
                }
                Err(CallError::Refused(_) | CallError::Corrupt(_)) => return Ok(None),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        Ok(None)
    }
}

/// ` (Operation not supported)`.
fn answer(errno: Option<i32>) -> String {
    errno.map_or_else(String::new, |errno| {
        let said = std::io::Error::from_raw_os_error(errno).to_string();
        format!(" ({})", said.split(" (os error").next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_rehearsal_that_makes_no_sense_is_an_error_and_tries_nothing() {
        let text = "name = \"w\"\ntitle = \"w\"\nkind = \"operations\"\n\
                    files = [{ name = \"a\", count = 3 }]\nstep = [{ operation = \"create\", files = \"a\" }]";
        let work: Workload = toml::from_str(text).unwrap();
        let Kind::Operations(whole) = &work.kind else { unreachable!("the text says operations") };
        let mut rehearsal = whole.rehearsal();
        rehearsal.operations.step.clear();
        let play = Play { whole, rehearsal, work: work.clone() };
        let mut rehearsals = Rehearsals { plays: vec![play], ranks: 1, seed: 1, agent: None };
        let opened =
            Opened { directory: "/nonexistent".into(), library: None, guest: None, phases_seconds: BTreeMap::new() };
        let error = rehearsals.run("ext4", &opened, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(error, LaneFailure::Failed(_)), "{error:?}");
        assert!(error.to_string().contains("there is no step") && error.to_string().contains("report it"), "{error}");
        assert!(rehearsals.agent.is_none());
    }
}
