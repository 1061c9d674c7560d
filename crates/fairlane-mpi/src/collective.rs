//! Collective I/O: what the agents of several ranks ask for at the same time is done by MPI-IO, by all of them together.
//!
//! A call that all have to make waits for ever for a rank that does not make it. So before each one the ranks agree that
//! all go on, without waiting in MPI for that: who has not been asked, whose agent is gone, or what failed there ends the part for
//! all of them, at the same place. The file's own calls do wait.

use crate::asked::{self, Asked, Heard};
use crate::cpu;
use crate::mpi_file::{FULL, MpiFile};
use mpi::Rank;
use mpi::collective::SystemOperation;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// So long this process works before it looks at anything else.
const AT_ONCE: Duration = Duration::from_millis(250);
/// So long it waits for its agent before it looks at anything else.
const GLANCE: Duration = Duration::from_millis(20);
/// Bytes of what a rank tells the others of its failure.
const MOST_TOLD: usize = 1024;

/// Collective I/O of this rank.
pub struct Collective {
    /// All ranks, apart from those that carry lines: Open MPI makes communicators by messages of the tag that it is given, which whoever
    /// looks for lines of any tag among these would take for one.
    all: &'static SimpleCommunicator,
    /// Those that worked together before. They live as long as the job: letting go of one is a call that all have to make.
    teams: Vec<Members>,
    /// Ranks that work together when what is under way is over, and whether this one takes no part in it.
    next: Option<(Vec<Rank>, bool)>,
    /// The own agent was given up while the ranks agreed to begin.
    is_ended: bool,
    state: State,
}

/// Ranks that work together.
#[derive(Clone)]
struct Members {
    ranks: Vec<Rank>,
    ours: &'static SimpleCommunicator,
    /// This rank's place among them.
    place: i32,
}

/// What is under way.
enum State {
    /// Nothing.
    Idle,
    /// The own agent is going to ask for its part.
    Awaited(Members),
    /// The ranks agree to begin; `None`: this one has no part.
    Joining(Members, Option<Asked>, Agreement),
    /// The file is open, and the own agent is going to say `go`.
    Opened(Work),
    /// Blocks are written or read.
    Working(Work),
}

impl Collective {
    /// Nothing is done yet. Waits for all ranks, which begin with this.
    pub fn new(world: &SimpleCommunicator) -> Self {
        // To free it would be a call of all ranks too.
        let all = Box::leak(Box::new(world.duplicate()));
        Collective { all, teams: Vec::new(), next: None, is_ended: false, state: State::Idle }
    }

    /// These ranks, as they are written one behind the other, begin a part together, and this is one of them; `false`: that is
    /// no list of such ranks.
    pub fn expect(&mut self, ranks: &[u8]) -> bool {
        let Some(ranks) = read(ranks, self.all.size()).filter(|ranks| ranks.contains(&self.all.rank())) else {
            return false;
        };
        self.next = Some((ranks, false));
        true
    }

    /// The own agent does not come, or waits no longer for what is under way.
    pub fn give_up(&mut self) {
        if let Some((_, is_given_up)) = &mut self.next {
            *is_given_up = true;
            return;
        }
        self.state = match std::mem::replace(&mut self.state, State::Idle) {
            State::Awaited(team) => State::join(team, None),
            State::Opened(work) | State::Working(work) => State::Working(work.ended()),
            // Whether it opens the file the others decide.
            State::Joining(team, asked, agreement) => {
                self.is_ended = true;
                State::Joining(team, asked, agreement)
            }
            State::Idle => State::Idle,
        };
    }

    /// Whether there is something to do all the time.
    pub fn is_at_work(&self) -> bool {
        matches!(self.state, State::Opened(_) | State::Working(_))
    }

    /// Whether something may happen soon.
    pub fn is_awaited(&self) -> bool {
        self.next.is_some() || !matches!(self.state, State::Idle)
    }

    /// Whether MPI has begun something that no rank can leave in order.
    pub fn is_under_way(&self) -> bool {
        !matches!(self.state, State::Idle | State::Awaited(_))
    }

    /// One step; answers whether something happened. `socket`: on which agents ask.
    pub fn step(&mut self, socket: Option<BorrowedFd<'_>>) -> bool {
        let (state, happened) = match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => match self.next.take() {
                Some((ranks, is_given_up)) => match self.team(ranks) {
                    Some(team) if is_given_up => (State::join(team, None), true),
                    Some(team) => (State::Awaited(team), true),
                    None => (State::Idle, true),
                },
                None => (State::Idle, false),
            },
            State::Awaited(team) => match socket.and_then(asked::next) {
                Some(asked) => (State::join(team, Some(asked)), true),
                None => (State::Awaited(team), false),
            },
            State::Joining(team, asked, mut agreement) => match agreement.test() {
                None => (State::Joining(team, asked, agreement), false),
                Some(against) => {
                    let state = joined(team, asked, against);
                    self.is_ended &= matches!(state, State::Opened(_));
                    (state, true)
                }
            },
            State::Opened(work) if std::mem::take(&mut self.is_ended) => (State::Working(work.ended()), true),
            State::Opened(work) => work.wait(),
            State::Working(work) => work.go_on(),
        };
        self.state = state;
        happened
    }

    /// These ranks as a team. Whoever makes a new one waits for the others: all of them have been let go from a barrier just
    /// before, and were told of it.
    fn team(&mut self, ranks: Vec<Rank>) -> Option<Members> {
        if let Some(team) = self.teams.iter().find(|team| team.ranks == ranks) {
            return Some(team.clone());
        }
        let ours = self.all.split_by_subgroup(&self.all.group().include(&ranks))?;
        let place = ours.rank();
        let team = Members { ranks, ours: Box::leak(Box::new(ours)), place };
        self.teams.push(team.clone());
        Some(team)
    }
}

impl State {
    fn join(team: Members, asked: Option<Asked>) -> State {
        let agreement = team.begin_to_agree(asked.is_none());
        State::Joining(team, asked, agreement)
    }
}

/// What comes of it when all have said whether they take part; `against`: see [`Members::begin_to_agree`].
fn joined(team: Members, asked: Option<Asked>, against: i32) -> State {
    // Who has none is against it.
    let Some(asked) = asked else { return State::Idle };
    if against > 0 {
        let rank = team.rank_of(against);
        asked.tell(&format!("failed other rank {rank} did not begin it"));
        return State::Idle;
    }
    let file = MpiFile::open(team.ours, &asked.path(), asked.writes());
    match (team.agree(file.as_ref().err().map(String::as_str)), file) {
        (Ok(()), Ok(file)) => {
            asked.tell("opened");
            State::Opened(Work { team, asked, file, number: 0, wrong: None, agreement: None, used: [0; 2] })
        }
        // Where it is open on some ranks alone, it stays so to the end of the job: to close it all of them would have to call.
        (Err(wrong), _) | (Ok(()), Err(wrong)) => {
            asked.tell(&format!("failed {wrong}"));
            State::Idle
        }
    }
}

impl Members {
    /// Begins to agree on whether all go on; what comes of it is 0, or the place of a rank that is against it, from 1.
    fn begin_to_agree(&self, is_against: bool) -> Agreement {
        Agreement::begin(self.ours, if is_against { self.place + 1 } else { 0 })
    }

    /// Agrees that nothing went wrong on any rank; waits for all of them, which have just come back from the same call.
    ///
    /// # Errors
    /// What went wrong, on which rank.
    fn agree(&self, wrong: Option<&str>) -> Result<(), String> {
        let (own, mut against) = (if wrong.is_some() { self.place + 1 } else { 0 }, 0);
        self.ours.all_reduce_into(&own, &mut against, SystemOperation::max());
        if against == 0 { Ok(()) } else { Err(self.told(wrong, against)) }
    }

    /// What a rank that is against it tells all of them, with its name.
    fn told(&self, wrong: Option<&str>, against: i32) -> String {
        let mut bytes = [0_u8; MOST_TOLD];
        if against == self.place + 1 {
            let wrong = wrong.unwrap_or_default().as_bytes();
            let length = wrong.len().min(MOST_TOLD);
            bytes[..length].copy_from_slice(&wrong[..length]);
        }
        self.ours.process_at_rank(against - 1).broadcast_into(&mut bytes[..]);
        let text = String::from_utf8_lossy(&bytes);
        failure(text.trim_end_matches('\0'), self.rank_of(against))
    }

    fn rank_of(&self, against: i32) -> Rank {
        usize::try_from(against - 1).ok().and_then(|place| self.ranks.get(place).copied()).unwrap_or(-1)
    }
}

/// What is told of a failure on a rank.
fn failure(text: &str, rank: Rank) -> String {
    match text.strip_prefix(FULL) {
        Some(text) => format!("{FULL}rank {rank}: {text}"),
        None => format!("rank {rank}: {text}"),
    }
}

/// The part of a rank, with the file open on all of them.
struct Work {
    team: Members,
    asked: Asked,
    file: MpiFile,
    /// Of the next block.
    number: u64,
    /// Why this rank does not go on.
    wrong: Option<String>,
    agreement: Option<Agreement>,
    /// CPU time of this process when it began.
    used: [u64; 2],
}

impl Work {
    /// Its agent waits no longer: no rank goes on behind the call that is under way.
    fn ended(mut self) -> Work {
        self.wrong.get_or_insert_with(|| ENDED.to_owned());
        self
    }

    /// Waits for the agent's word to begin.
    fn wait(mut self) -> (State, bool) {
        match self.asked.hears(GLANCE) {
            Heard::Nothing => return (State::Opened(self), false),
            Heard::Go => {}
            Heard::Gone => self.wrong = Some(ENDED.to_owned()),
        }
        self.used = cpu::used();
        (State::Working(self), true)
    }

    /// Does some of it.
    fn go_on(mut self) -> (State, bool) {
        let begun = Instant::now();
        while begun.elapsed() < AT_ONCE {
            let Some(mut agreement) = self.agreement.take() else {
                if self.wrong.is_none() && self.asked.hears(Duration::ZERO) == Heard::Gone {
                    self.wrong = Some(ENDED.to_owned());
                }
                self.agreement = Some(self.team.begin_to_agree(self.wrong.is_some()));
                continue;
            };
            match agreement.test() {
                None => {
                    self.agreement = Some(agreement);
                    // Another rank may need this CPU.
                    std::thread::yield_now();
                }
                Some(0) if self.number < self.asked.count() => self.transfer(),
                Some(0) => return (self.end(), true),
                Some(against) => return (self.fail(against), true),
            }
        }
        (State::Working(self), true)
    }

    fn transfer(&mut self) {
        let begun = Instant::now();
        // SAFETY: the block is one of the agent's memory, which is mapped as long as `asked` lives, and the agent waits.
        let moved = unsafe { self.file.transfer(self.asked.writes(), self.asked.block(self.number)) };
        self.asked.took(self.number, u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.number += 1;
        if let Err(wrong) = moved {
            self.wrong.get_or_insert(wrong);
        }
    }

    /// All blocks are done on all ranks.
    fn end(self) -> State {
        let Work { team, asked, file, used, .. } = self;
        let begun = Instant::now();
        let synced = if asked.writes() { file.sync() } else { Ok(()) };
        let nanoseconds = if asked.writes() { begun.elapsed().as_nanos() } else { 0 };
        let all = team.agree(synced.err().as_deref());
        match &all {
            Ok(()) => {
                let [user, system] = cpu::used_since(used);
                asked.tell(&format!("done {} {user} {system}", u64::try_from(nanoseconds).unwrap_or(u64::MAX)));
            }
            Err(wrong) => asked.tell(&format!("failed {wrong}")),
        }
        // Only then another rank is sure to see it, and only then the agent goes on.
        match (all, file.close()) {
            (Ok(()), Ok(())) => asked.tell("closed"),
            (Ok(()), Err(wrong)) => asked.tell(&format!("failed {}", failure(&wrong, team.rank_of(team.place + 1)))),
            (Err(_), _) => {}
        }
        State::Idle
    }

    /// A rank does not go on, and so nobody does.
    fn fail(self, against: i32) -> State {
        let wrong = self.team.told(self.wrong.as_deref(), against);
        // What else goes wrong is no news.
        let _ = self.file.close();
        self.asked.tell(&format!("failed {wrong}"));
        State::Idle
    }
}

/// Why a rank does not go on whose agent is gone.
const ENDED: &str = "its agent was ended";

/// A number on which ranks agree: the largest of theirs. It must not be dropped before it is known.
struct Agreement {
    request: Option<Request<'static, i32>>,
    own: *mut i32,
    largest: *mut i32,
}

impl Agreement {
    fn begin(team: &'static SimpleCommunicator, own: i32) -> Self {
        let (own, largest) = (Box::into_raw(Box::new(own)), Box::into_raw(Box::new(0)));
        // SAFETY: both were just made, and nobody frees, reads or writes them before MPI is done with them (`test`).
        let (sent, received): (&'static i32, &'static mut i32) = unsafe { (&*own, &mut *largest) };
        let request = team.immediate_all_reduce_into(StaticScope, sent, received, SystemOperation::max());
        Agreement { request: Some(request), own, largest }
    }

    /// The number; `None`: it is not known yet.
    fn test(&mut self) -> Option<i32> {
        match self.request.take()?.test() {
            // SAFETY: MPI is done with it, and it is freed only with this.
            Ok(_) => Some(unsafe { *self.largest }),
            Err(request) => {
                self.request = Some(request);
                None
            }
        }
    }
}

impl Drop for Agreement {
    fn drop(&mut self) {
        if self.request.is_none() {
            // SAFETY: both were made by `Box::into_raw`, and MPI is done with them.
            unsafe {
                drop(Box::from_raw(self.own));
                drop(Box::from_raw(self.largest));
            }
        }
    }
}

/// Ranks of a job of so many, ascending; `None`: these are none.
fn read(text: &[u8], size: Rank) -> Option<Vec<Rank>> {
    let words = std::str::from_utf8(text).ok()?.split(' ');
    let ranks = words.map(|word| word.parse().ok()).collect::<Option<Vec<Rank>>>()?;
    let are_ranks = ranks.iter().all(|rank| (0..size).contains(rank)) && ranks.is_sorted_by(|one, next| one < next);
    are_ranks.then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::{failure, read};

    #[test]
    fn ranks_that_work_together_are_read_and_what_is_none_is_not() {
        assert_eq!(read(b"0 2 3", 4), Some(vec![0, 2, 3]));
        assert_eq!(read(b"1", 2), Some(vec![1]));
        for wrong in [&b""[..], b"0  1", b"0 4", b"-1 0", b"1 0", b"1 1", b"x", b"\xff"] {
            assert_eq!(read(wrong, 4), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_failure_names_its_rank_behind_what_says_that_the_lane_is_full() {
        assert_eq!(failure("MPI_File_sync: x", 3), "rank 3: MPI_File_sync: x");
        assert_eq!(failure("full MPI_File_sync: x", 3), "full rank 3: MPI_File_sync: x");
    }
}
