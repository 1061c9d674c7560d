//! The relay of races over MPI: it carries lines between the `fairlane` of each rank, and calls MPI-IO for its agents.
//!
//! Every rank starts the `fairlane` that lies beside this program, before there is MPI in it, and speaks with it through a
//! socket: that one races on rank 0 and works on all of them, this one calls MPI. No call of MPI waits but those of
//! [`collective`] I/O, so that a rank that hangs holds no other; between two looks it sleeps in poll(2).
//!
//! From `fairlane`: `to RANK TEXT`, `barrier`, `clocks RANK`, `end STATUS`, `abort STATUS`, and around a part of collective I/O
//! `collect RANK …` with all ranks that do it, and `collected`. To it: `rank RANK SIZE VERSION` first,
//! then `from RANK TEXT`, `released` when all have come to the barrier, `lost RANK WHY`, and `clocks RANK` with three numbers: by how
//! many nanoseconds that rank's CLOCK_MONOTONIC and its wall clock go ahead of this one's, and how far both may be wrong; or with
//! `none`.

mod asked;
mod clocks;
mod collective;
mod cpu;
mod mpi_file;
mod own;

use clocks::{Asking, Reading};
use collective::Collective;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Rank, Tag};
use own::{Own, Read};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A line of one `fairlane` for another.
const TEXT: Tag = 1;
/// The `fairlane` of the sender is gone; to rank 0, with the reason.
const LOST: Tag = 2;
/// The job ends; from rank 0.
const END: Tag = 3;
/// The sender wants to know what clocks tell here.
const CLOCKS: Tag = 4;
/// What they tell there.
const TOLD: Tag = 5;
/// Between two looks at MPI just after something happened, and while something is under way.
const SHORTEST_NAP: Duration = Duration::from_micros(100);
/// The same where nothing has happened for a while.
const LONGEST_NAP: Duration = Duration::from_millis(2);
/// The same from a barrier until the own `fairlane` says something: ranks measure meanwhile.
const NAP_WHILE_MEASURED: Duration = Duration::from_millis(20);
/// So long behind a question for its clocks a rank looks at MPI without a pause: the next one comes at once.
const AWAKE: Duration = Duration::from_millis(5);
/// How long ranks may take to end together.
const PATIENCE: Duration = Duration::from_secs(10);
/// Exit status where something that is needed is missing, as of `fairlane`.
const MISSING: i32 = 4;

fn main() {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Without it a signal ends this process at once, and `fairlane` sees that.
        let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
    }
    // A process that is forked beside an open network device may not be well: so before there is one.
    let own = Own::start();
    let Some(universe) = mpi::initialize() else {
        eprintln!(
            "fairlane-mpi: MPI cannot be initialized; start it with mpirun or srun of the MPI that it was built with"
        );
        std::process::exit(MISSING);
    };
    let world = universe.world();
    let status = Relay::new(&world, own, stop).run();
    drop(universe);
    std::process::exit(status);
}

/// What is on its way.
struct Sending {
    request: Request<'static, [u8]>,
    bytes: *mut [u8],
}

/// What is on its way here.
struct Receiving {
    request: Request<'static, [u8]>,
    bytes: *mut [u8],
    from: Rank,
    tag: Tag,
}

/// One rank's part.
struct Relay<'a> {
    world: &'a SimpleCommunicator,
    rank: Rank,
    own: Option<Own>,
    stop: Arc<AtomicBool>,
    is_stopped: bool,
    sending: Vec<Sending>,
    /// In the order in which it began to come.
    receiving: Vec<Receiving>,
    barrier: Option<Request<'static, ()>>,
    nap: Duration,
    /// Whose clocks are asked for, and how far that is.
    asking: Option<(Rank, Asking)>,
    /// Number of the next question for clocks.
    next_question: u64,
    /// Until then it does not sleep.
    awake: Option<Instant>,
    collective: Collective,
    /// The job ends, with this exit status.
    end: Option<i32>,
}

impl<'a> Relay<'a> {
    fn new(world: &'a SimpleCommunicator, own: Result<Own, String>, stop: Arc<AtomicBool>) -> Self {
        let rank = world.rank();
        let mut relay = Relay {
            world,
            rank,
            own: None,
            stop,
            is_stopped: false,
            sending: Vec::new(),
            receiving: Vec::new(),
            barrier: None,
            nap: SHORTEST_NAP,
            asking: None,
            next_question: 0,
            awake: None,
            collective: Collective::new(world),
            end: None,
        };
        match own {
            Ok(own) => {
                relay.own = Some(own);
                let (size, version) = (world.size(), env!("CARGO_PKG_VERSION"));
                relay.tell(format!("rank {rank} {size} {version}\n").as_bytes());
            }
            Err(why) if rank == 0 => {
                eprintln!("fairlane-mpi: {why}");
                relay.end = Some(MISSING);
            }
            Err(why) => relay.send(0, LOST, why.as_bytes()),
        }
        relay
    }

    /// Carries lines until the job ends; answers the exit status.
    fn run(mut self) -> i32 {
        loop {
            if let Some(status) = self.end {
                return self.finish(status);
            }
            let happened = self.look();
            self.nap = match happened {
                true => SHORTEST_NAP,
                false if self.nap < LONGEST_NAP => (self.nap * 2).min(LONGEST_NAP),
                false => self.nap,
            };
            let nap = match () {
                () if self.is_awake() => Duration::ZERO,
                () if self.is_under_way() => SHORTEST_NAP,
                () => self.nap,
            };
            if let Some(own) = &self.own {
                own.wait(nap);
            } else {
                std::thread::sleep(nap);
            }
        }
    }

    /// Whether MPI has something to do that only gets on while it is called.
    fn is_under_way(&self) -> bool {
        let carries = self.barrier.is_some() || !self.sending.is_empty() || !self.receiving.is_empty();
        carries || self.collective.is_awaited()
    }

    /// Whether each moment counts: clocks are compared, or collective I/O is done, which waits by itself.
    fn is_awake(&mut self) -> bool {
        self.awake = self.awake.filter(|until| Instant::now() < *until);
        self.awake.is_some() || self.asking.is_some() || self.collective.is_at_work()
    }

    /// One look at everything; answers whether something happened.
    fn look(&mut self) -> bool {
        if self.rank == 0 && !self.is_stopped && self.stop.load(Ordering::Relaxed) {
            self.is_stopped = true;
            if let Some(own) = &self.own {
                own.terminate();
            }
        }
        let mut happened = self.listen();
        for (from, tag, text) in self.receive() {
            happened = true;
            match tag {
                TEXT => self.tell(&[format!("from {from} ").as_bytes(), &text[..], b"\n"].concat()),
                LOST => self.tell(&[format!("lost {from} ").as_bytes(), &text[..], b"\n"].concat()),
                CLOCKS => {
                    self.send(from, TOLD, &Reading::behind().answer(&text));
                    self.awake = Some(Instant::now() + AWAKE);
                }
                TOLD => self.hear_clocks(from, &text),
                // Nobody but rank 0 has a status that somebody reads.
                _ => self.end = Some(0),
            }
        }
        self.test_sent();
        self.tell_clocks();
        happened |= self.collective.step(self.own.as_ref().map(Own::agents));
        match self.barrier.take().map(Request::test) {
            Some(Ok(_)) => {
                self.tell(b"released\n");
                self.nap = NAP_WHILE_MEASURED;
                // Nobody stays awake for clocks in a measured window.
                self.awake = None;
                // What happened is over: all that is to come is the own `fairlane`'s word.
                happened = false;
            }
            Some(Err(waits)) => self.barrier = Some(waits),
            None => {}
        }
        happened
    }

    /// Reads what the own `fairlane` says, and does it.
    fn listen(&mut self) -> bool {
        let Some(own) = &mut self.own else { return false };
        match own.read() {
            Read::Nothing => false,
            Read::Lines(lines) => {
                for line in lines {
                    self.obey(&line);
                }
                true
            }
            Read::Ended(why) => {
                let code = self.own.take().map_or(1, Own::status);
                match self.rank {
                    0 => self.end = Some(self.end.unwrap_or(code)),
                    _ => self.send(0, LOST, why.as_bytes()),
                }
                true
            }
        }
    }

    fn obey(&mut self, line: &[u8]) {
        if line.strip_prefix(b"collect ").is_some_and(|ranks| self.collective.expect(ranks)) {
            return;
        }
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let verb = words.next().unwrap_or_default();
        let number = words.next().and_then(|word| std::str::from_utf8(word).ok()?.parse::<i32>().ok());
        match (verb, number) {
            (b"to", Some(rank)) if (0..self.world.size()).contains(&rank) => {
                self.send(rank, TEXT, words.next().unwrap_or_default());
            }
            // It gave one up that MPI has begun, and no rank can leave that in order any more.
            (b"barrier", _) if self.barrier.is_some() => self.world.abort(1),
            (b"barrier", _) => self.barrier = Some(self.world.immediate_barrier()),
            (b"collected", None) => self.collective.give_up(),
            (b"clocks", Some(rank)) if (0..self.world.size()).contains(&rank) => self.ask_clocks(rank),
            (b"end", Some(status)) => self.end = Some(status),
            (b"abort", Some(status)) => self.world.abort(status),
            _ => eprintln!("fairlane-mpi: its fairlane said what nobody knows; build both anew with `make mpi`"),
        }
    }

    /// Begins to ask a rank for its clocks; who is asked in its place is asked no more.
    fn ask_clocks(&mut self, rank: Rank) {
        if let Some((_, before)) = self.asking.take() {
            self.next_question = before.next_number();
        }
        let mut asking = Asking::new(self.next_question);
        self.send(rank, CLOCKS, &asking.question());
        self.asking = Some((rank, asking));
    }

    fn hear_clocks(&mut self, from: Rank, answer: &[u8]) {
        let heard = Reading::behind();
        let Some((rank, asking)) = self.asking.as_mut().filter(|(rank, _)| *rank == from) else { return };
        if asking.hear(answer, heard) {
            let (rank, question) = (*rank, asking.question());
            self.send(rank, CLOCKS, &question);
        }
    }

    /// Tells the own `fairlane` of the clocks that were asked for, once that is known or given up.
    fn tell_clocks(&mut self) {
        let Some((rank, asking)) = &self.asking else { return };
        let Some(found) = asking.found() else { return };
        self.next_question = asking.next_number();
        let words = found.map_or_else(|| "none".to_owned(), clocks::Ahead::words);
        let line = format!("clocks {rank} {words}\n");
        self.asking = None;
        self.tell(line.as_bytes());
    }

    fn tell(&mut self, line: &[u8]) {
        if let Some(own) = &mut self.own {
            own.write(line);
        }
    }

    fn send(&mut self, to: Rank, tag: Tag, text: &[u8]) {
        let bytes = Box::into_raw(text.to_vec().into_boxed_slice());
        // SAFETY: `bytes` was just made, and nobody frees or writes it before MPI has sent it (`test_sent`).
        let text: &'static [u8] = unsafe { &*bytes };
        let request = self.world.process_at_rank(to).immediate_send_with_tag(StaticScope, text, tag);
        self.sending.push(Sending { request, bytes });
    }

    /// What has come whole: from whom, as what, and its bytes. A long text comes only while its sender takes part, so it is
    /// not waited for; what the same rank sent behind it stays behind it.
    fn receive(&mut self) -> Vec<(Rank, Tag, Box<[u8]>)> {
        while let Some((message, status)) = self.world.any_process().immediate_matched_probe() {
            let count = usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0);
            let bytes = Box::into_raw(vec![0_u8; count].into_boxed_slice());
            // SAFETY: `bytes` was just made, and nobody reads, writes or frees it before MPI has filled it (below).
            let buffer: &'static mut [u8] = unsafe { &mut *bytes };
            let request = message.immediate_matched_receive_into(StaticScope, buffer);
            self.receiving.push(Receiving { request, bytes, from: status.source_rank(), tag: status.tag() });
        }
        let (mut whole, mut waits) = (Vec::new(), BTreeSet::new());
        for Receiving { request, bytes, from, tag } in std::mem::take(&mut self.receiving) {
            let tested = if waits.contains(&from) { Err(request) } else { request.test() };
            match tested {
                // SAFETY: it was made by `Box::into_raw`, MPI is done with it, and it is on no list any more.
                Ok(_) => whole.push((from, tag, unsafe { Box::from_raw(bytes) })),
                Err(request) => {
                    waits.insert(from);
                    self.receiving.push(Receiving { request, bytes, from, tag });
                }
            }
        }
        whole
    }

    fn test_sent(&mut self) {
        for Sending { request, bytes } in std::mem::take(&mut self.sending) {
            match request.test() {
                // SAFETY: it was made by `Box::into_raw`, MPI is done with it, and it is on no list any more.
                Ok(_) => drop(unsafe { Box::from_raw(bytes) }),
                Err(request) => self.sending.push(Sending { request, bytes }),
            }
        }
    }

    /// All ranks end together; who does not come is ended by MPI.
    fn finish(mut self, status: i32) -> i32 {
        // Its input ends, and so does it.
        drop(self.own.take());
        // Others wait for rank 0, whose status it is that somebody reads.
        let (status_of_abort, patience) = if self.rank == 0 { (status, PATIENCE) } else { (1, 2 * PATIENCE) };
        if self.barrier.is_some() || self.collective.is_under_way() {
            self.world.abort(status_of_abort);
        }
        if self.rank == 0 {
            (1..self.world.size()).for_each(|rank| self.send(rank, END, b""));
        }
        let mut last = Some(self.world.immediate_barrier());
        let begun = Instant::now();
        while last.is_some() || !self.sending.is_empty() || !self.receiving.is_empty() {
            // What still comes was asked by nobody who is there.
            drop(self.receive());
            self.test_sent();
            last = last.and_then(|waits| waits.test().err());
            if begun.elapsed() > patience {
                self.world.abort(status_of_abort);
            }
            std::thread::sleep(SHORTEST_NAP);
        }
        status
    }
}
