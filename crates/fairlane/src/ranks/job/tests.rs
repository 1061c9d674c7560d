//! What rank 0 asks of whom.

use super::*;
use crate::ranks::message::Moments;
use model::agent::{Part, Target};
use model::ranks::LadderStep;
use model::trial::{Group, SystemUse};
use model::workload::Kind;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;

#[test]
fn disks_of_rank_0_are_nobody_elses() {
    let devices = Devices {
        device: Some("sda".to_owned()),
        filesystem: FilesystemProcesses::Known(vec![7]),
        ..Devices::default()
    };
    let attach = Request::Attach { target: Target::Null, devices };
    let Request::Attach { devices, .. } = elsewhere(&attach) else { panic!("it attaches") };
    assert_eq!((devices.device, devices.filesystem), (None, FilesystemProcesses::Unknown));
    assert_eq!(elsewhere(&Request::Sync), Request::Sync);
}

/// A rank that does whatever it is asked, and the more the higher its number.
fn yes(ask: &Ask) -> Answer {
    let Ask::Agent { request, folder_of, .. } = ask else { return Answer::Done };
    let is_timed = matches!(**request, Request::Slice { .. } | Request::WearOut { .. } | Request::Phase { .. });
    let operations = folder_of.map_or(0, |rank| 100 * (u64::from(rank) + 1));
    let group = Group { name: "write".to_owned(), operations, seconds: 1.0, ..Group::default() };
    let system = SystemUse::default();
    let reply = match **request {
        _ if is_timed => Reply::Measured { groups: vec![group], system, opened_after_seconds: 0.0 },
        Request::Finish => Reply::Finished { groups: Vec::new(), system, notes: Vec::new(), jobs: Vec::new() },
        Request::CheckOther { .. } => Reply::Checked { bytes: 8 },
        _ => Reply::Done,
    };
    let moments = is_timed.then_some(Moments { released_ns: 1, asked_ns: 1 });
    Answer::Agent { reply: Box::new(reply), moments }
}

/// What the relay tells of clocks of every other node.
const CLOCKS: Ahead = Ahead { monotonic_ns: -3_000_000, wall_ns: 250_000_000, uncertainty_ns: 20_000 };

/// A job with ranks on these nodes, and what each of them is asked.
fn job_of(nodes: &[u32]) -> (Job, Receiver<(u32, Ask)>) {
    let (ours, relay) = UnixStream::pair().expect("sockets");
    let ((answers, events), (own, orders), (asked, told)) = (channel(), channel(), channel());
    let told_by_relay = answers.clone();
    let hear = move |rank: u32, Asked { number, ask }: Asked| {
        let answer = yes(&ask);
        asked.send((rank, ask)).is_ok() && answers.send(Event::Told(rank, Told { number, answer })).is_ok()
    };
    let hear_own = hear.clone();
    std::thread::spawn(move || {
        for order in orders {
            let Order::Asked(asked) = order else { break };
            if !hear_own(0, asked) {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for line in BufReader::new(relay).lines().map_while(Result::ok) {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            if let ["clocks", rank] = words[..] {
                let of_rank = Event::Clocks(rank.parse().expect("a rank"), Some(CLOCKS));
                let _ = told_by_relay.send(of_rank);
                continue;
            }
            let ["to", rank, text] = words[..] else { break };
            let asked = serde_json::from_str(text).expect("a question");
            if !hear(rank.parse().expect("a rank"), asked) {
                break;
            }
        }
    });
    let link = Arc::new(Link::new(ours));
    let lines = Lines { link, own, own_stop: Arc::default(), events, broken: Arc::default() };
    let mut job = Job::new(nodes.len() as u32, lines);
    job.nodes = nodes.to_vec();
    (job, told)
}

/// What is answered to a request of a lane, and what each rank is asked for it, in their order.
fn called(job: &mut Job, told: &Receiver<(u32, Ask)>, request: &Request) -> (Reply, Vec<(u32, Ask)>) {
    let reply = job.call(0, request, &AtomicBool::new(false), &mut || {});
    let reply = reply.unwrap_or_else(|error| panic!("{request:?}: {error:?}"));
    let mut all: Vec<(u32, Ask)> = told.try_iter().collect();
    all.sort_by_key(|(rank, _)| *rank);
    (reply, all)
}

fn step(workload: &str, ranks: u32) -> LadderStep {
    LadderStep { workload: workload.to_owned(), ranks }
}

/// Work that writes files of each rank's own.
fn write() -> Workload {
    of_shared("write")
}

fn of_shared(name: &str) -> Workload {
    let all = crate::suites::find("shared").unwrap_or_else(|failure| panic!("{}", failure.message)).workload;
    all.into_iter().find(|of| of.name == name).expect("the suite has it")
}

fn attach() -> Request {
    Request::Attach { target: Target::Directory("/x/lane00".into()), devices: Devices::default() }
}

const SLICE: Request = Request::Slice { warm_up_seconds: 0.0, seconds: 0.1, threads: false };

#[test]
fn a_step_of_a_ladder_is_done_by_some_ranks_while_the_others_come_to_its_barrier_alone() {
    let (mut job, told) = job_of(&[0, 0, 1, 1]);
    job.climb(&[RankLadder { steps: vec![step("write-ranks-2", 2), step("write", 4)] }]);
    let write = write();
    let mut asked = |request: Request| called(&mut job, &told, &request).1;
    let ranks = |all: &[(u32, Ask)]| all.iter().map(|(rank, _)| *rank).collect::<Vec<u32>>();
    let clients = |all: &[(u32, Ask)]| {
        let of = |(_, ask): &(u32, Ask)| match ask {
            Ask::Agent { request, .. } => match **request {
                Request::Prepare { clients, .. } => Some((clients.number, clients.reads, clients.of)),
                _ => None,
            },
            _ => None,
        };
        all.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(ranks(&asked(attach())), [0, 1, 2, 3]);
    let prepared = asked(Request::prepare(write.of_ranks(2, 4), 1));
    assert_eq!(ranks(&prepared), [0, 0, 2, 2], "they are attached again, because others might have been");
    assert_eq!(clients(&prepared), [(0, 1, 2), (1, 0, 2)], "one of each node, numbered among themselves");
    let barrier = |(rank, ask): &(u32, Ask)| (*rank, *ask == Ask::Barrier);
    let of_slice: Vec<(u32, bool)> = asked(SLICE).iter().map(barrier).collect();
    assert_eq!(of_slice, [(0, false), (1, true), (2, false), (3, true)]);
    assert_eq!(ranks(&asked(Request::Sync)), [0, 2], "nothing is sent to who does not work");
    assert_eq!(ranks(&asked(Request::Detach)), [0, 1, 2, 3]);
    // The step of all: the lane was attached by the two that worked before.
    assert_eq!(ranks(&asked(attach())), [0, 2]);
    let prepared = asked(Request::prepare(write.of_ranks(4, 4), 1));
    assert_eq!(ranks(&prepared), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(clients(&prepared), [(0, 2, 4), (1, 3, 4), (2, 0, 4), (3, 1, 4)]);
    assert!(asked(SLICE).iter().all(|of| !barrier(of).1));
    assert!(job.reads_elsewhere(&[1, 2, 4]) && !job.reads_elsewhere(&[3]));
}

#[test]
fn ranks_of_a_ladders_step_wear_out_and_compare_among_themselves() {
    let (mut job, told) = job_of(&[0, 0, 1, 1]);
    job.climb(&[RankLadder { steps: vec![step("write-ranks-1", 1), step("write-ranks-2", 2), step("write", 4)] }]);
    let mut write = write();
    let Kind::Io(io) = &mut write.kind else { panic!("{write:?}") };
    io.wear_out = true;
    let mut asked = |request: Request| called(&mut job, &told, &request);
    let agent = |of: (u32, Ask)| match of {
        (rank, Ask::Agent { request, folder_of, .. }) => (rank, Some((*request, folder_of))),
        (rank, _) => (rank, None),
    };
    asked(attach());
    asked(Request::prepare(write.of_ranks(2, 4), 7));
    let of_slice: Vec<_> = asked(SLICE).1.into_iter().map(agent).collect();
    let [(0, Some(_)), (0, Some(first)), (1, None), (2, Some(_)), (2, Some(second)), (3, None)] = &of_slice[..] else {
        panic!("those that do not work come to the barrier of the slice alone: {of_slice:?}");
    };
    let expected = Request::WearOut { operations: 300 };
    assert_eq!([&first.0, &second.0], [&expected; 2], "as many as rank 2, the faster of both");
    let (reply, of_finish) = asked(Request::Finish);
    let of_finish: Vec<_> = of_finish.into_iter().map(agent).collect();
    let of_rank = |rank: u32, client: u32, writer: u32| {
        let check = Request::CheckOther { client, rank: writer, seed: 7 };
        let all = [(attach(), writer), (check, writer), (attach(), rank), (Request::Finish, rank)];
        all.map(|(request, folder_of)| (rank, Some((request, Some(folder_of)))))
    };
    let expected = [of_rank(0, 1, 2), of_rank(2, 0, 0)].concat();
    // Disks of rank 0's node are nobody else's.
    let as_sent = |(rank, asked): (u32, Option<(Request, Option<u32>)>)| {
        (rank, asked.map(|(request, of)| (if rank == 2 { elsewhere(&request) } else { request }, of)))
    };
    assert_eq!(of_finish, expected.into_iter().map(as_sent).collect::<Vec<_>>());
    let Reply::Finished { groups, .. } = &reply else { panic!("{reply:?}") };
    let [Group { operations: 400, ranks: Some(ranks), .. }] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!((ranks.ranks, ranks.nodes, ranks.slowest_rank, ranks.fastest_rank), (2, 2, 0, 2));
    assert_eq!((ranks.deadline_operations, ranks.deadline_seconds), (400, 1.0));
    assert_eq!((ranks.compared_by_other_node_bytes, ranks.compared_by_same_node_bytes), (16, 0));
    // One rank has nobody to wait for or to read.
    asked(attach());
    asked(Request::prepare(write.of_ranks(1, 4), 7));
    for (request, expected) in [(SLICE, 4), (Request::Finish, 1)] {
        assert_eq!(asked(request.clone()).1.len(), expected, "{request:?}");
    }
}

#[test]
fn rows_of_ranks_are_told_by_their_ends() {
    assert_eq!(rows(&[0, 1, 2, 3]), [[0, 3]]);
    assert_eq!(rows(&[0, 2, 3, 7]), [[0, 0], [2, 3], [7, 7]]);
    assert!(rows(&[]).is_empty());
}

#[test]
fn ranks_that_do_collective_io_are_told_with_whom_and_no_others() {
    let (mut job, told) = job_of(&[0, 0, 1, 1]);
    job.climb(&[RankLadder { steps: vec![step("collective-ranks-2", 2), step("collective", 4)] }]);
    let collective = of_shared("collective");
    let mut asked = |request: Request| called(&mut job, &told, &request).1;
    let together = |(rank, ask): &(u32, Ask)| match ask {
        Ask::Agent { together, .. } => (*rank, together.iter().flat_map(|[first, last]| *first..=*last).collect()),
        _ => (*rank, Vec::new()),
    };
    asked(attach());
    let prepared = asked(Request::prepare(collective.of_ranks(2, 4), 7));
    assert!(prepared.iter().all(|of| together(of).1.is_empty()));
    let part = Request::Phase { group: "collective write".to_owned(), part: Part::WHOLE, threads: false };
    let of_part: Vec<(u32, Vec<u32>)> = asked(part).iter().map(together).collect();
    let idle = Vec::new;
    assert_eq!(of_part, [(0, vec![0, 2]), (1, idle()), (2, vec![0, 2]), (3, idle())]);
    assert!(asked(Request::Finish).iter().all(|of| together(of).1.is_empty()));
}

#[test]
fn clocks_of_other_nodes_are_compared_before_the_first_window_and_around_the_race() {
    let (mut job, told) = job_of(&[0, 0, 1, 1]);
    let stop = AtomicBool::new(false);
    assert_eq!(job.clocks_behind(&stop), None, "they were not compared before");
    job.compare_clocks_before(&stop).unwrap_or_else(|error| panic!("{error:?}"));
    let mut asked = |request: Request| called(&mut job, &told, &request).0;
    asked(attach());
    asked(Request::prepare(write(), 7));
    asked(SLICE);
    let reply = asked(Request::Finish);
    let Reply::Finished { groups, .. } = &reply else { panic!("{reply:?}") };
    let ranks = groups[0].ranks.as_deref().expect("ranks");
    // All were let go at 1 ns by their own clocks, and those of node 1 are 3 ms behind.
    assert!((ranks.release_spread_seconds - 3e-3).abs() < 1e-12, "{ranks:?}");
    assert!((ranks.release_uncertainty_seconds - 20e-6).abs() < 1e-12, "{ranks:?}");
    let clocks = job.clocks_behind(&stop).expect("node 1 answered twice");
    let [of] = clocks.nodes[..] else { panic!("{clocks:?}") };
    assert_eq!((of.node, of.ahead_seconds, of.drift_seconds), (1, 0.25, 0.0));
    let (mut alone, _told) = job_of(&[0, 0]);
    alone.compare_clocks_before(&stop).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(alone.clocks_behind(&stop), None, "one node has one clock");
}
