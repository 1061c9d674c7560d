//! What every rank does: it keeps an agent for each lane, in a folder of its own, and answers rank 0.

use super::link::Link;
use super::message::{Answer, Ask, Asked, Moments, Told, Trouble};
use super::progress::Progress;
use super::{MOST_SILENCE, folder_of, monotonic_ns, within};
use crate::conductor::agent_process::{AgentProcess, CallError, GRACE};
use crate::conductor::timeouts::timeout_for;
use model::agent::{Reply, Request, Target};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// What rank 0 leaves in a lane for the others to find.
pub(super) const TOKEN: &str = "token";

/// What a rank is to do next.
pub enum Order {
    /// Rank 0 asks something.
    Asked(Asked),
    /// The barrier let go, at this moment of this machine's clock in nanoseconds.
    Released(u64),
    /// The job is gone.
    Gone,
}

/// The agents of one rank.
pub struct RankHost {
    rank: u32,
    link: Arc<Link>,
    /// By the lane's number.
    agents: BTreeMap<u32, AgentProcess>,
    stop: Arc<AtomicBool>,
    orders: Receiver<Order>,
    /// What was asked while this rank stood at the barrier.
    later: VecDeque<Asked>,
    /// It came to a barrier for others and has not seen it let go: until then it comes to no other.
    is_before_barrier: bool,
}

impl RankHost {
    /// Of this rank; whoever sets `stop` ends what an agent does.
    pub fn new(rank: u32, link: Arc<Link>, orders: Receiver<Order>, stop: Arc<AtomicBool>) -> Self {
        let (agents, later) = (BTreeMap::new(), VecDeque::new());
        RankHost { rank, link, agents, stop, orders, later, is_before_barrier: false }
    }

    /// Does what is asked until the job is gone; `tell` takes the answers.
    pub fn serve(mut self, mut tell: impl FnMut(Told)) {
        loop {
            let order = match self.later.pop_front() {
                Some(asked) => Order::Asked(asked),
                None => self.orders.recv().unwrap_or(Order::Gone),
            };
            match order {
                Order::Asked(Asked { number, ask }) => {
                    if let Some(answer) = self.answer(ask) {
                        tell(Told { number, answer });
                    }
                }
                // Of a barrier that this rank came to for others, or gave up.
                Order::Released(_) => self.is_before_barrier = false,
                Order::Gone => break,
            }
        }
    }

    fn answer(&mut self, ask: Ask) -> Option<Answer> {
        match ask {
            Ask::Hello => Some(hello(self.rank)),
            Ask::Look { directory, folder, token } => {
                let rank = self.rank;
                let looked = within(MOST_SILENCE, move || look(rank, &directory, &folder, &token));
                Some(Answer::Looked { trouble: looked.unwrap_or(Some(Trouble::Silent)) })
            }
            Ask::Agent { lane, request, folder_of, together } => {
                let mut answered = self.ask_agent(lane, &request, folder_of, &together);
                if !together.is_empty() {
                    // Where it did not come to the others, they are not to wait for it.
                    let _ = self.link.collected();
                }
                if let Answer::Lost { hangs, .. } = &mut answered {
                    // Another one is started for the next request.
                    *hangs = self.agents.remove(&lane).is_some_and(outlives_its_end);
                }
                Some(answered)
            }
            Ask::Barrier => Some(match self.come_to_barrier() {
                Some(()) => {
                    self.is_before_barrier = true;
                    Answer::Done
                }
                None => Answer::Apart,
            }),
            Ask::EndAgents => {
                self.agents.clear();
                Some(Answer::Done)
            }
            // Whoever reads the lines has done it.
            Ask::Stop | Ask::Ping => None,
        }
    }

    fn ask_agent(&mut self, lane: u32, request: &Request, of: Option<u32>, together: &[[u32; 2]]) -> Answer {
        let done = Answer::Agent { reply: Box::new(Reply::Done), moments: None };
        if *request == Request::Detach && !self.agents.contains_key(&lane) {
            return done;
        }
        // Whatever goes wrong here: the others wait at the barrier.
        let ready = self.start(lane).and_then(|()| self.own_request(request, of));
        let released_ns = match request {
            Request::Slice { .. } | Request::Phase { .. } => match self.barrier() {
                Some(released_ns) => Some(released_ns),
                None => return Answer::Apart,
            },
            // It goes on at once: nobody waits for the others.
            Request::WearOut { .. } => Some(monotonic_ns()),
            _ => None,
        };
        // Behind the barrier all ranks know of it, and all of these say it: MPI waits for the last one.
        let ranks: Vec<u32> = together.iter().flat_map(|[first, last]| *first..=*last).collect();
        if !ranks.is_empty() && self.link.collect(&ranks).is_err() {
            return Answer::Apart;
        }
        let answered = ready.and_then(|request| self.call(lane, &request, released_ns));
        answered.unwrap_or_else(|reason| Answer::Lost { reason, hangs: false })
    }

    fn start(&mut self, lane: u32) -> Result<(), String> {
        if !self.agents.contains_key(&lane) {
            let agent = AgentProcess::start(&self.stop).map_err(|error| in_words(&error))?;
            self.agents.insert(lane, agent);
        }
        Ok(())
    }

    /// The request as this rank's agent gets it: with a folder and a seed of its own.
    fn own_request(&self, request: &Request, of: Option<u32>) -> Result<Request, String> {
        match request {
            Request::Attach { target: Target::Directory(lane), devices } => {
                let folder = folder_of(of, lane);
                if of.is_none_or(|of| of == self.rank) {
                    let made = folder.clone();
                    let made = within(MOST_SILENCE, move || make(&made)).unwrap_or(Err(Errno::TIMEDOUT));
                    made.map_err(|errno| format!("cannot make the folder {}: {errno}", folder.display()))?;
                }
                Ok(Request::Attach { target: Target::Directory(folder), devices: devices.clone() })
            }
            Request::Prepare { workload, seed, clients } => {
                let seed = seed_of(*seed, self.rank);
                Ok(Request::Prepare { workload: workload.clone(), seed, clients: *clients })
            }
            Request::CheckOther { client, rank, seed } => {
                Ok(Request::CheckOther { client: *client, rank: *rank, seed: seed_of(*seed, *rank) })
            }
            other => Ok(other.clone()),
        }
    }

    /// Waits for all ranks; answers when they were let go. `None`: some did not come.
    fn barrier(&mut self) -> Option<u64> {
        self.come_to_barrier()?;
        self.released()
    }

    /// Comes to the barrier once the one before has let go: the relay knows one at a time. `None`: some did not come there.
    fn come_to_barrier(&mut self) -> Option<()> {
        if self.is_before_barrier {
            self.released()?;
            self.is_before_barrier = false;
        }
        self.link.barrier().ok()
    }

    fn released(&mut self) -> Option<u64> {
        let begun = Instant::now();
        while let Some(left) = MOST_SILENCE.checked_sub(begun.elapsed()) {
            match self.orders.recv_timeout(left) {
                Ok(Order::Released(at_ns)) => return Some(at_ns),
                // Rank 0 has given up the question that led here, and waits for the answer to this one.
                Ok(Order::Asked(asked)) => self.later.push_back(asked),
                Ok(Order::Gone) | Err(_) => return None,
            }
        }
        None
    }

    /// Asks the agent, and watches over it while it works.
    fn call(&mut self, lane: u32, request: &Request, released_ns: Option<u64>) -> Result<Answer, String> {
        let agent = self.agents.get_mut(&lane).ok_or("the agent is gone")?;
        let asked_ns = monotonic_ns();
        agent.ask(request).map_err(|error| in_words(&error))?;
        let begun = Instant::now();
        let longest = match request {
            // It ends by itself, and then waits for what is in flight.
            Request::Slice { warm_up_seconds, seconds, .. } => {
                Duration::from_secs_f64(warm_up_seconds + seconds) + MOST_SILENCE
            }
            _ => timeout_for(request, None),
        };
        let mut progress = agent.pid().map(|pid| Progress::new(pid, MOST_SILENCE));
        let mut stopped: Option<Instant> = None;
        loop {
            if let Some(reply) = agent.glance().map_err(|error| in_words(&error))? {
                let moments = released_ns.map(|released_ns| Moments { released_ns, asked_ns });
                return Ok(Answer::Agent { reply: Box::new(reply), moments });
            }
            match stopped {
                None if self.stop.load(Ordering::Relaxed) => {
                    agent.ask_to_stop();
                    stopped = Some(Instant::now());
                }
                Some(at) if at.elapsed() > GRACE => {
                    agent.kill(false);
                    return Err("it was ended".to_owned());
                }
                _ if begun.elapsed() > longest || progress.as_mut().is_some_and(Progress::is_hung) => {
                    agent.kill(false);
                    return Err(format!(
                        "the lane did not answer for {}; look at the kernel's log there (dmesg)",
                        model::units::human_seconds(begun.elapsed().as_secs_f64())
                    ));
                }
                _ => {}
            }
        }
    }
}

fn hello(rank: u32) -> Answer {
    let build = checksum("/proc/self/exe").map_or_else(|error| plain(&error), |sum| format!("{sum:08x}"));
    let mut boot = crate::conductor::machine::boot_id();
    if boot.is_empty() {
        // Whose clock it has is not known, so it is taken for a machine of its own.
        boot = format!("rank {rank}");
    }
    Answer::Hello { version: env!("CARGO_PKG_VERSION").to_owned(), build, boot }
}

/// CRC-32C of a file, which is read in parts: many ranks of a machine do it at once.
fn checksum(path: &str) -> std::io::Result<u32> {
    let (mut file, mut part, mut sum) = (std::fs::File::open(path)?, vec![0_u8; 256 << 10], 0);
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(sum),
            Ok(count) => sum = crc32c::crc32c_append(sum, &part[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Ends an agent; answers whether its process is there all the same, because it hangs in the kernel.
fn outlives_its_end(agent: AgentProcess) -> bool {
    let process = agent.pid().map(|pid| Path::new("/proc").join(pid.to_string()));
    drop(agent);
    process.is_some_and(|process| process.exists())
}

/// Whether this rank sees what rank 0 wrote, and may work beside it.
fn look(rank: u32, directory: &Path, folder: &Path, token: &str) -> Option<Trouble> {
    let not_allowed = |errno: Errno| Trouble::NotAllowed { why: errno.to_string() };
    match std::fs::metadata(directory) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Some(Trouble::Missing),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Trouble::Missing),
        Err(error) => return Some(Trouble::NotAllowed { why: plain(&error) }),
    }
    match read_token(&folder.join(TOKEN), token.len()) {
        Ok(read) if read == token.as_bytes() => {}
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Some(Trouble::NotAllowed { why: plain(&error) });
        }
        Ok(_) | Err(_) => return Some(Trouble::NotShared),
    }
    let own = folder_of(Some(rank), folder);
    make(&own).and_then(|()| rustix::fs::rmdir(&own)).err().map(not_allowed)
}

/// What stands there, of which one byte more than was written is enough. Whoever may write in the directory may have put anything
/// in its place: no link is followed, and no pipe waited for.
fn read_token(path: &Path, bytes: usize) -> std::io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?);
    let mut read = Vec::new();
    file.take(bytes as u64 + 1).read_to_end(&mut read)?;
    Ok(read)
}

fn plain(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |code| Errno::from_raw_os_error(code).to_string())
}

/// Makes a folder that nobody else may enter; one that is there stays.
fn make(folder: &Path) -> Result<(), Errno> {
    match rustix::fs::mkdir(folder, rustix::fs::Mode::RWXU) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

/// The seed of a rank: another for each of them, and the same in every lane.
fn seed_of(seed: u64, rank: u32) -> u64 {
    seed ^ u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn in_words(error: &CallError) -> String {
    match error {
        CallError::Refused(reason)
        | CallError::Unsupported { reason, .. }
        | CallError::Lost(reason)
        | CallError::Corrupt(reason)
        | CallError::JobLost(reason) => reason.clone(),
        CallError::Interrupted => "it was interrupted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_seed_of_its_own_and_the_first_has_the_rounds() {
        let seeds: std::collections::BTreeSet<u64> = (0..1000).map(|rank| seed_of(42, rank)).collect();
        assert_eq!((seeds.len(), seed_of(42, 0)), (1000, 42));
    }

    #[test]
    fn what_is_asked_of_a_rank_at_the_barrier_is_answered_behind_it() {
        let (_relay, stream) = std::os::unix::net::UnixStream::pair().unwrap();
        let (orders, for_host) = std::sync::mpsc::channel();
        let mut host = RankHost::new(1, Arc::new(Link::new(stream)), for_host, Arc::default());
        for order in [Order::Asked(Asked { number: 7, ask: Ask::EndAgents }), Order::Released(5), Order::Gone] {
            orders.send(order).unwrap();
        }
        assert_eq!(host.barrier(), Some(5));
        let mut told = Vec::new();
        host.serve(|answer| told.push(answer));
        assert_eq!(told, [Told { number: 7, answer: Answer::Done }]);
    }

    #[test]
    fn a_rank_that_comes_to_the_barrier_for_others_answers_at_once_and_comes_to_the_next_when_it_was_let_go() {
        let (mut relay, stream) = std::os::unix::net::UnixStream::pair().unwrap();
        let (orders, for_host) = std::sync::mpsc::channel();
        let mut host = RankHost::new(1, Arc::new(Link::new(stream)), for_host, Arc::default());
        assert_eq!(host.answer(Ask::Barrier), Some(Answer::Done), "nobody has let it go");
        // Of the first barrier, and of the one at which it works itself.
        for order in [Order::Released(5), Order::Released(9), Order::Gone] {
            orders.send(order).unwrap();
        }
        assert_eq!(host.barrier(), Some(9));
        drop(host);
        let mut lines = String::new();
        relay.read_to_string(&mut lines).unwrap();
        assert_eq!(lines, "barrier\nbarrier\n");
    }

    #[test]
    fn programs_are_told_from_each_other_by_all_of_their_bytes() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("program");
        let bytes: Vec<u8> = (0..600_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(checksum(path.to_str().unwrap()).unwrap(), crc32c::crc32c(&bytes));
        assert!(checksum("/nonexistent").is_err());
    }

    #[test]
    fn a_rank_says_why_it_cannot_work_in_a_lane() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("lane00");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(TOKEN), "abc").unwrap();
        assert_eq!(look(3, place.path(), &folder, "abc"), None);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "its own folder is gone again");
        assert_eq!(look(3, place.path(), &folder, "abd"), Some(Trouble::NotShared));
        assert_eq!(look(3, place.path(), &place.path().join("lane01"), "abc"), Some(Trouble::NotShared));
        let linked = place.path().join("lane02");
        std::fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(folder.join(TOKEN), linked.join(TOKEN)).unwrap();
        assert_eq!(look(3, place.path(), &linked, "abc"), Some(Trouble::NotShared), "no link is followed");
        std::fs::remove_file(linked.join(TOKEN)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", linked.join(TOKEN)).unwrap();
        assert_eq!(look(3, place.path(), &linked, "abc"), Some(Trouble::NotShared), "nor read without end");
        let gone = place.path().join("gone");
        assert_eq!(look(3, &gone, &gone.join("lane00"), "abc"), Some(Trouble::Missing));
        assert_eq!(look(3, &folder.join(TOKEN), &folder, "abc"), Some(Trouble::Missing), "a file is no directory");
    }
}
