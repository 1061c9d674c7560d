//! What rank 0 asks of whom.

use super::*;
use crate::ranks::message::Moments;
use model::agent::Target;
use model::ranks::LadderStep;
use model::trial::SystemUse;
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

/// A rank that does whatever it is asked.
fn yes(ask: &Ask) -> Answer {
    let Ask::Agent { request, .. } = ask else { return Answer::Done };
    let is_slice = matches!(**request, Request::Slice { .. });
    let (groups, system) = (Vec::new(), SystemUse::default());
    let reply = if is_slice { Reply::Measured { groups, system, opened_after_seconds: 0.0 } } else { Reply::Done };
    let moments = is_slice.then_some(Moments { released_ns: 1, asked_ns: 1 });
    Answer::Agent { reply: Box::new(reply), moments }
}

/// A job with ranks on these nodes, and what each of them is asked.
fn job_of(nodes: &[u32]) -> (Job, Receiver<(u32, Ask)>) {
    let (ours, relay) = UnixStream::pair().expect("sockets");
    let ((answers, events), (own, orders), (asked, told)) = (channel(), channel(), channel());
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

#[test]
fn a_step_of_a_ladder_is_done_by_some_ranks_while_the_others_come_to_its_barrier_alone() {
    let (mut job, told) = job_of(&[0, 0, 1, 1]);
    let step = |workload: &str, ranks: u32| LadderStep { workload: workload.to_owned(), ranks };
    job.climb(&[RankLadder { steps: vec![step("write-ranks-2", 2), step("write", 4)] }]);
    let all = crate::suites::find("shared").unwrap_or_else(|failure| panic!("{}", failure.message)).workload;
    let write = all.into_iter().find(|of| of.name == "write").expect("it writes");
    // What each rank is asked for one request, in their order.
    let mut asked = |request: Request| -> Vec<(u32, Ask)> {
        let reply = job.call(0, &request, &AtomicBool::new(false), &mut || {});
        assert!(reply.is_ok(), "{reply:?}");
        let mut all: Vec<(u32, Ask)> = told.try_iter().collect();
        all.sort_by_key(|(rank, _)| *rank);
        all
    };
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
    let attach = Request::Attach { target: Target::Directory("/x/lane00".into()), devices: Devices::default() };
    let slice = Request::Slice { warm_up_seconds: 0.0, seconds: 0.1, threads: false };
    assert_eq!(ranks(&asked(attach.clone())), [0, 1, 2, 3]);
    let prepared = asked(Request::prepare(write.of_ranks(2, 4), 1));
    assert_eq!(ranks(&prepared), [0, 0, 2, 2], "they are attached again, because others might have been");
    assert_eq!(clients(&prepared), [(0, 1, 2), (1, 0, 2)], "one of each node, numbered among themselves");
    let barrier = |(rank, ask): &(u32, Ask)| (*rank, *ask == Ask::Barrier);
    let of_slice: Vec<(u32, bool)> = asked(slice.clone()).iter().map(barrier).collect();
    assert_eq!(of_slice, [(0, false), (1, true), (2, false), (3, true)]);
    assert_eq!(ranks(&asked(Request::Sync)), [0, 2], "nothing is sent to who does not work");
    assert_eq!(ranks(&asked(Request::Detach)), [0, 1, 2, 3]);
    // The step of all: the lane was attached by the two that worked before.
    assert_eq!(ranks(&asked(attach)), [0, 2]);
    let prepared = asked(Request::prepare(write.of_ranks(4, 4), 1));
    assert_eq!(ranks(&prepared), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(clients(&prepared), [(0, 2, 4), (1, 3, 4), (2, 0, 4), (3, 1, 4)]);
    assert!(asked(slice).iter().all(|of| !barrier(of).1));
    assert!(job.reads_elsewhere(&[1, 2, 4]) && !job.reads_elsewhere(&[3]));
}
