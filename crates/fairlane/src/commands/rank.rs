//! The hidden command that `fairlane-mpi` starts on every rank: the first one races, all of them work.

use crate::failure::Failure;
use crate::options::{self, Command, Rank};
use crate::ranks::host::{Order, RankHost};
use crate::ranks::job::{Event, Job, Lines};
use crate::ranks::link::{self, Heard, Link, Listening};
use crate::ranks::message::{Answer, Ask, Asked, Told};
use crate::ranks::monotonic_ns;
use crate::{signals, terminal};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Exit status of a command line that is wrong.
const USAGE: u8 = 2;
/// How long rank 0 waits for a relay that does not take what it says.
const RELAY_LISTENS: Duration = Duration::from_secs(10);
/// How long a relay may take to let go of its `fairlane` once the job ends.
const RELAY_ENDS: Duration = Duration::from_secs(10);

/// Works for the relay on standard input until the job ends.
pub fn run(options: &Rank) -> ExitCode {
    let _ = rustix::thread::set_name(c"fairlane-rank");
    // Its agents are to have it, and no other program that it starts.
    engine::carrier::inherit();
    let Ok((link, mut listening)) = link::open() else {
        terminal::say!(
            "fairlane: `rank` is for fairlane-mpi alone; race over MPI with: mpirun fairlane-mpi race DIR DIR"
        );
        return ExitCode::from(USAGE);
    };
    // Where MPI cannot begin, who asked for it is told by the relay.
    let Some(Heard::Rank { rank, size, version }) = listening.next_line() else { return ExitCode::SUCCESS };
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        terminal::say!(
            "fairlane: fairlane-mpi is of version {version} and fairlane beside it of version {own}; build both with `make mpi`"
        );
        return ExitCode::from(USAGE);
    }
    let link = Arc::new(link);
    match rank {
        0 => lead(link, listening, size, &options.words),
        _ => follow(rank, link, listening),
    }
}

/// Rank 0: it races, and works too.
fn lead(link: Arc<Link>, listening: Listening, size: u32, words: &[OsString]) -> ExitCode {
    let (events, from_ranks) = channel();
    let (orders, for_host) = channel();
    let (relay_lives, relay_ends) = channel::<()>();
    // Where that cannot be, a relay that hangs costs the record its last line.
    let _ = link.wait_at_most(RELAY_LISTENS);
    let (own_stop, broken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let host = RankHost::new(0, Arc::clone(&link), for_host, Arc::clone(&own_stop));
    let own_events = events.clone();
    let lines = Lines {
        link: Arc::clone(&link),
        own: orders.clone(),
        own_stop: Arc::clone(&own_stop),
        events: from_ranks,
        broken: Arc::clone(&broken),
    };
    let threads = [
        // The agents live as long as the thread that started them: it ends with this process.
        start("fairlane-agents", move || host.serve(|told| _ = own_events.send(Event::Told(0, told)))),
        start("fairlane-lines", move || {
            let _relay_lives = relay_lives;
            hear_ranks(listening, &events, &orders, &own_stop);
        }),
    ];
    let raced = threads.into_iter().collect::<Result<(), Failure>>().and_then(|()| race(words, Job::new(size, lines)));
    let status = crate::told(raced);
    link.end(status, broken.load(Ordering::Relaxed));
    if relay_ends.recv_timeout(RELAY_ENDS) == Err(RecvTimeoutError::Timeout) {
        end_relay();
    }
    ExitCode::from(status)
}

/// MPI holds the relay, and without its end the job has none: whoever started the job sees it die, and ends the rest.
fn end_relay() {
    if let Some(relay) = relay() {
        let _ = rustix::process::kill_process(relay, rustix::process::Signal::KILL);
    }
}

/// The process that made the socket on standard input, where that is this one's parent: while it is, its number is nobody else's.
/// `None`: it is gone, and who took its children over is not to be ended for it.
fn relay() -> Option<rustix::process::Pid> {
    let maker = rustix::net::sockopt::socket_peercred(std::io::stdin()).ok()?.pid;
    (rustix::process::getppid() == Some(maker)).then_some(maker)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(|error| Failure::failed(format!("cannot start a thread: {error}")))
}

fn race(words: &[OsString], job: Job) -> Result<(), Failure> {
    match options::parse_over_mpi(words).command {
        Command::Race(options) => {
            super::clean::recover();
            super::race::run_over_ranks(&options, job)
        }
        _ => Err(Failure::usage(
            "fairlane-mpi races and does nothing else: mpirun fairlane-mpi race DIR DIR; for other commands type fairlane",
        )),
    }
}

/// Hands on what the relay of rank 0 says until it is gone, also where nobody listens any more.
fn hear_ranks(mut listening: Listening, events: &Sender<Event>, orders: &Sender<Order>, own_stop: &AtomicBool) {
    while let Some(heard) = listening.next_line() {
        match heard {
            Heard::From { rank, text } => {
                let unread =
                    |error: serde_json::Error| Event::Lost(rank, format!("what it said cannot be read ({error})"));
                let told = serde_json::from_str::<Told>(&text);
                let _ = events.send(told.map_or_else(unread, |told| Event::Told(rank, told)));
            }
            Heard::Lost { rank, why } => _ = events.send(Event::Lost(rank, why)),
            Heard::Clocks { rank, ahead } => _ = events.send(Event::Clocks(rank, ahead)),
            Heard::Released => _ = orders.send(Order::Released(monotonic_ns())),
            Heard::Rank { .. } => {}
        }
    }
    own_stop.store(true, Ordering::Relaxed);
    let _ = events.send(Event::Gone);
    let _ = orders.send(Order::Gone);
}

/// Any other rank: it works until the job is gone.
fn follow(rank: u32, link: Arc<Link>, listening: Listening) -> ExitCode {
    // A signal that all processes of a job get ends the race on rank 0, and this one with the job.
    let _ = signals::stop(&Arc::default());
    let (orders, for_host) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let host = RankHost::new(rank, Arc::clone(&link), for_host, Arc::clone(&stop));
    let (answers, pongs) = (Arc::clone(&link), link);
    if let Err(failure) = start("fairlane-lines", move || hear_rank_0(listening, &pongs, &orders, &stop)) {
        return ExitCode::from(crate::told(Err(failure)));
    }
    host.serve(|told| tell(&answers, &told));
    ExitCode::SUCCESS
}

fn tell(link: &Link, told: &Told) {
    // Where the relay is gone, the other thread ends this process.
    let _ = serde_json::to_string(told).map(|line| link.tell(0, &line));
}

/// Hands on what rank 0 asks, and answers at once what does not wait for work.
fn hear_rank_0(mut listening: Listening, link: &Link, orders: &Sender<Order>, stop: &AtomicBool) {
    loop {
        match listening.next_line() {
            Some(Heard::From { text, .. }) => match serde_json::from_str::<Asked>(&text) {
                Ok(Asked { ask: Ask::Ping, number }) => tell(link, &Told { number, answer: Answer::Pong }),
                Ok(Asked { ask: Ask::Stop, .. }) => stop.store(true, Ordering::Relaxed),
                Ok(asked) => _ = orders.send(Order::Asked(asked)),
                Err(error) => {
                    terminal::say!("fairlane: what rank 0 said cannot be read ({error}); build all ranks anew");
                    std::process::exit(1);
                }
            },
            Some(Heard::Released) => _ = orders.send(Order::Released(monotonic_ns())),
            Some(Heard::Lost { .. } | Heard::Rank { .. } | Heard::Clocks { .. }) => {}
            // The kernel ends the agents, and rank 0 removes what they wrote.
            None => std::process::exit(0),
        }
    }
}
