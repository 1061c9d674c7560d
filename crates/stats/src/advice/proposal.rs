//! The race that measures what a scenario still lacks: one that can be run as it is written, in lanes that can be
//! compared, on work that the records do not hold.

use super::Race;
use crate::answer;
use crate::comparable::LIBRARY;
use model::Bytes;
use model::lane::{Contestant, Lane, LaneSpec, USUAL_GUEST_MEMORY, Venue};
use model::oltp::Server;
use model::operations::Ability;
use model::plan::Plan;
use model::scenario::{Weight, fits};

/// A suite that may be proposed, with what decides whether lanes can race it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownSuite {
    /// Its name, as `--suite` takes it.
    pub name: String,
    /// Its workloads.
    pub workloads: Vec<KnownWorkload>,
    /// Bytes of a lane where nobody says another size.
    pub lane_bytes: u64,
    /// The suite says that size itself.
    pub own_lanes: bool,
}

/// One workload of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownWorkload {
    /// Its name, as `--workload` takes it.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Bytes that it keeps on a lane, which it may fill by half.
    pub work_bytes: u64,
    /// An in-process library can do it.
    pub in_library: bool,
    /// It needs no program of this machine, so that a guest can do it.
    pub in_guest: bool,
    /// What its steps ask of a filesystem.
    pub asks: Vec<Ability>,
}

/// Where nobody says how large a lane is.
pub const USUAL_LANE_BYTES: u64 = 2 << 30;

impl From<&str> for KnownSuite {
    /// A suite of which the name alone is known: any lane can race it.
    fn from(name: &str) -> Self {
        KnownSuite { name: name.to_owned(), workloads: Vec::new(), lane_bytes: USUAL_LANE_BYTES, own_lanes: false }
    }
}

/// What a race is looked for.
pub(super) struct Wanted<'a> {
    /// The records' races.
    pub races: &'a [Race<'a>],
    /// The suites that there are, in the order in which they are to be proposed.
    pub suites: &'a [KnownSuite],
    /// What a lane's filesystem lacks.
    pub lacks: fn(&LaneSpec) -> Vec<Ability>,
    /// All parts of the scenario.
    pub all: Vec<&'a Weight>,
    /// Those that were not measured.
    pub missing: &'a [&'a Weight],
    /// A filesystem that is to race too.
    pub added: Option<&'a Lane>,
}

/// A race and its suite.
pub(super) struct Proposal<'a> {
    /// Name of the suite.
    pub suite: &'a str,
    /// The command after `fairlane`.
    pub next: Vec<String>,
}

impl<'a> Wanted<'a> {
    /// The race that measures the most of it, of equals that of the first suite. `None`: none can.
    pub fn propose(&self) -> Option<Proposal<'a>> {
        let mut best: Option<(f64, Proposal)> = None;
        for suite in self.suites {
            let gain: f64 = self.wanted().iter().filter(|weight| series_of(suite, weight).is_some()).map(share).sum();
            if gain <= best.as_ref().map_or(0.0, |(most, _)| most + 1e-9) {
                continue;
            }
            if let Some(next) = self.command(suite) {
                best = Some((gain, Proposal { suite: &suite.name, next }));
            }
        }
        best.map(|(_, proposal)| proposal)
    }

    /// With another lane the race stands alone, because records of other lanes are not taken together.
    fn wanted(&self) -> &[&'a Weight] {
        if self.added.is_some() { &self.all } else { self.missing }
    }

    fn plan(&self) -> &'a Plan {
        &self.races[0].record.header.plan
    }

    fn lane(&self, name: &str) -> Option<&'a Lane> {
        self.races[0].record.header.lanes.iter().find(|lane| lane.name == name)
    }

    /// The command; `None`: these lanes cannot race this suite, or would be alone.
    fn command(&self, suite: &KnownSuite) -> Option<Vec<String>> {
        let chosen = self.workloads(suite);
        let workloads = chosen.clone().unwrap_or_else(|| suite.workloads.iter().collect());
        let lanes = self.lanes(&workloads)?;
        if lanes.len() < 2 {
            return None;
        }
        let mut next = vec!["race".to_owned()];
        next.extend(lanes.iter().map(LaneSpec::to_line));
        next.extend(["--suite".to_owned(), suite.name.clone()]);
        for workload in chosen.into_iter().flatten() {
            next.extend(["--workload".to_owned(), workload.name.clone()]);
        }
        if let Some(server) = server_of(suite, self.wanted()) {
            next.extend(["--set".to_owned(), format!("server={server}")]);
        }
        next.extend(self.options(suite, &workloads, &lanes)?);
        Some(next)
    }

    /// Of a suite that was raced already the workloads that are missing; `None`: all of it.
    fn workloads<'b>(&self, suite: &'b KnownSuite) -> Option<Vec<&'b KnownWorkload>> {
        if self.added.is_some() || !self.races.iter().any(|race| race.findings.suite == suite.name) {
            return None;
        }
        let measures = |workload: &&KnownWorkload| {
            self.missing.iter().any(|weight| {
                let patterns = series_of(suite, weight);
                patterns.is_some_and(|pattern| fits(pattern, &workload.name))
            })
        };
        let chosen: Vec<&KnownWorkload> = suite.workloads.iter().filter(measures).collect();
        (!chosen.is_empty() && chosen.len() < suite.workloads.len()).then_some(chosen)
    }

    /// The lanes as they were raced, without libraries where these cannot do the work, and the one that is added.
    fn lanes(&self, workloads: &[&KnownWorkload]) -> Option<Vec<LaneSpec>> {
        let in_library = !workloads.is_empty() && workloads.iter().all(|workload| workload.in_library);
        let in_guest = workloads.iter().all(|workload| workload.in_guest);
        let plan = self.plan();
        let is_library = |spec: &LaneSpec| self.lane(&spec.name).is_some_and(|lane| lane.venue == LIBRARY);
        let mut lanes: Vec<LaneSpec> =
            plan.lanes.iter().filter(|spec| in_library || !is_library(spec)).cloned().collect();
        lanes.extend(self.added.and_then(|lane| beside(plan, lane)));
        let lacks = |spec: &LaneSpec| {
            let lacks = (self.lacks)(spec);
            workloads.iter().flat_map(|workload| &workload.asks).any(|asked| lacks.contains(asked))
        };
        let cannot = (!in_guest && lanes.iter().any(lives_in_guest)) || lanes.iter().any(lacks);
        (!cannot).then_some(lanes)
    }

    /// The options that belong to the lanes and their ground, not to what they did there. `None`: the work does not
    /// fit on a device.
    fn options(&self, suite: &KnownSuite, workloads: &[&KnownWorkload], lanes: &[LaneSpec]) -> Option<Vec<String>> {
        const KEPT: [&str; 7] =
            ["--on", "--throttle", "--margin", "--erase", "--guest-cpus", "--guest-memory", "--guest-sync"];
        let plan = self.plan();
        let work = workloads.iter().map(|workload| workload.work_bytes).max().unwrap_or(0);
        let least = work.saturating_mul(2).max(self.added.map_or(0, |lane| lane.size_bytes));
        let all = &self.races[0].record.header.lanes;
        if all.iter().any(|lane| lane.venue == "device" && lane.size_bytes > 0 && lane.size_bytes < least) {
            return None;
        }
        // The job file stands in front of the lanes.
        let command = if plan.command_line.get(1).is_some_and(|word| word == "fio") { 3 } else { 2 };
        let given = answer::options_of(&plan.command_line, command + plan.lanes.len());
        let mut words = given.into_iter().peekable();
        let (mut options, mut sized) = (Vec::new(), suite.own_lanes);
        while let Some(option) = words.next() {
            let value = words.next_if(|word| !word.starts_with("--"));
            let keeps = match (option.as_str(), &value) {
                ("--lane-size", Some(size)) => {
                    let enough = size.parse::<Bytes>().is_ok_and(|size| size.get() >= least);
                    let keeps = enough && !suite.own_lanes;
                    sized |= keeps;
                    keeps
                }
                // The disk of a lane that does not race is nobody's.
                ("--throttle", Some(limits)) => {
                    limits.rsplit_once(':').is_none_or(|(name, _)| lanes.iter().any(|lane| lane.name == name))
                }
                (option, _) => KEPT.contains(&option),
            };
            if keeps {
                options.push(option);
                options.extend(value);
            }
        }
        let in_memory = lanes.iter().filter(|spec| lives_in_guest(spec) && is_tmpfs(spec)).count() as u64;
        let memory = work.saturating_mul(2 * in_memory).next_multiple_of(64 << 20);
        let given = options.iter().position(|option| option == "--guest-memory");
        let has = given
            .and_then(|at| options.get(at + 1)?.parse::<Bytes>().ok())
            .map_or(USUAL_GUEST_MEMORY.get(), Bytes::get);
        if has < memory {
            if let Some(at) = given {
                options.drain(at..(at + 2).min(options.len()));
            }
            options.extend(["--guest-memory".to_owned(), Bytes(memory).to_string()]);
        }
        if !sized && suite.lane_bytes < least {
            const STEP: u64 = 256 << 20;
            options.extend(["--lane-size".to_owned(), Bytes(least.next_multiple_of(STEP)).to_string()]);
        }
        Some(options)
    }
}

fn lives_in_guest(spec: &LaneSpec) -> bool {
    matches!(spec.venue, Some(Venue::Uml | Venue::Qemu(_)))
}

/// Its files lie in memory, of which they may take half.
fn is_tmpfs(spec: &LaneSpec) -> bool {
    matches!(&spec.contestant, Contestant::Filesystem(name) if name == "tmpfs")
}

fn share(weight: &&Weight) -> f64 {
    weight.share
}

/// The pattern of the workloads with which a suite measures a part; `None`: it does not.
/// The workload of this suite that stands for a part; `None`: several do, or none.
pub(super) fn workload_of<'a>(suites: &'a [KnownSuite], suite: &str, weight: &Weight) -> Option<&'a KnownWorkload> {
    let suite = suites.iter().find(|of| of.name == suite)?;
    let name = series_of(suite, weight)?;
    suite.workloads.iter().find(|workload| workload.name == name)
}

fn series_of<'a>(suite: &KnownSuite, weight: &'a Weight) -> Option<&'a str> {
    let series = weight.series.iter().find(|series| series.suite == suite.name)?;
    Some(&series.workload)
}

/// The suite that measures a part where none is proposed for it.
pub(super) fn suite_of<'a>(suites: &'a [KnownSuite], weight: &Weight, proposed: Option<&'a str>) -> Option<&'a str> {
    let has = |suite: &&KnownSuite| series_of(suite, weight).is_some();
    let of_proposal = suites.iter().find(|suite| Some(suite.name.as_str()) == proposed).filter(has);
    of_proposal.or_else(|| suites.iter().find(has)).map(|suite| suite.name.as_str())
}

/// A filesystem of the table beside the lanes of a plan, where they live; `None`: nothing can be made there.
fn beside(plan: &Plan, lane: &Lane) -> Option<LaneSpec> {
    let first = plan.lanes.first()?;
    let elsewhere = matches!(first.contestant, Contestant::Directory(_))
        || matches!(first.venue, Some(Venue::Device(_) | Venue::Library));
    let spec: LaneSpec = lane.spec.parse().ok().filter(|_| !elsewhere)?;
    Some(LaneSpec { venue: first.venue.clone(), ..spec })
}

/// The server that what is wanted asks for, where groups of the suite begin with one; the suite's own needs
/// no word.
fn server_of(suite: &KnownSuite, wanted: &[&Weight]) -> Option<&'static str> {
    let mut series = wanted.iter().flat_map(|weight| &weight.series).filter(|series| series.suite == suite.name);
    series.find_map(|series| {
        let servers = [Server::Mariadb, Server::Mysql, Server::Postgresql];
        servers.map(Server::name).into_iter().find(|name| series.group.starts_with(name))
    })
}
