//! What several ranks did becomes one figure.

use super::*;
use engine::{BANDWIDTH, OPERATIONS_PER_SECOND};
use model::trial::DeviceUse;

const SECOND: u64 = 1_000_000_000;

fn group(name: &str, operations: u64, seconds: f64) -> Group {
    let rate = operations as f64 / seconds;
    Group {
        name: name.to_owned(),
        operations,
        bytes: operations * 4096,
        seconds,
        primary_metric: OPERATIONS_PER_SECOND.to_owned(),
        windows_operations_per_second: vec![rate; 10],
        windows_seconds: seconds / 10.0,
        ..Group::default()
    }
}

/// A window of a rank: on which node, when the barrier let it go, how long after that it opened, and what it did.
fn window(rank: u32, node: u32, (released_ns, after): (u64, f64), group: Group) -> RankReply {
    let system = SystemUse { window_seconds: group.seconds, windows: 1, cpus: 4, ..SystemUse::default() };
    let reply = Reply::Measured { groups: vec![group], system, opened_after_seconds: after };
    RankReply { rank, node, reply, moments: Some(Moments { released_ns, asked_ns: released_ns }) }
}

#[track_caller]
fn figures_of(reply: &Reply) -> &Group {
    match reply {
        Reply::Measured { groups, .. } | Reply::Finished { groups, .. } if groups.len() == 1 => &groups[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_figure_is_the_sum_from_the_common_start_to_the_last_done() {
    let mut so_far = Vec::new();
    // Rank 1 was let go a quarter of a second later by the same clock, and is done half a second after rank 0.
    let replies = [
        window(0, 0, (7 * SECOND, 0.0), group("create", 1000, 2.0)),
        window(1, 0, (7 * SECOND + SECOND / 4, 0.0), group("create", 1000, 2.25)),
    ];
    let reply = measured(&replies, &mut so_far, 6 * SECOND);
    let Reply::Measured { opened_after_seconds, .. } = &reply else { panic!("{reply:?}") };
    assert_eq!(*opened_after_seconds, 1.0);
    let figures = figures_of(&reply);
    assert_eq!((figures.operations, figures.bytes, figures.seconds), (2000, 2000 * 4096, 2.5));
    assert_eq!(figures.metrics[OPERATIONS_PER_SECOND], 800.0);
    assert_eq!(figures.metrics[BANDWIDTH], 800.0 * 4096.0);
}

#[test]
fn machines_have_clocks_of_their_own_and_the_barrier_is_their_common_moment() {
    let replies = [
        window(0, 0, (7 * SECOND, 0.5), group("write", 100, 1.0)),
        window(1, 1, (900 * SECOND, 0.5), group("write", 300, 1.0)),
    ];
    let reply = measured(&replies, &mut Vec::new(), 7 * SECOND);
    let figures = figures_of(&reply);
    assert_eq!((figures.seconds, figures.metrics[OPERATIONS_PER_SECOND]), (1.0, 400.0));
    assert_eq!(figures.windows_operations_per_second, vec![400.0; 10]);
}

#[test]
fn machines_are_let_go_as_far_apart_as_their_clocks_tell_and_as_uncertain() {
    let go = |rank: u32, node: u32, released_ns: u64| window(rank, node, (released_ns, 0.0), group("write", 1, 1.0));
    let clock = |told_ns: u64, monotonic_ns: i64, uncertainty_ns: u64| {
        let ahead = Ahead { monotonic_ns, wall_ns: 0, uncertainty_ns };
        ClockAhead { told_ns, ahead }
    };
    // Node 1 is let go 300 us before node 0, and node 2 500 us behind it; a second rank of a node counts as its first.
    let replies =
        [go(0, 0, 7 * SECOND), go(1, 1, 107 * SECOND - 300_000), go(2, 2, 5 * SECOND + 500_000), go(3, 2, 6 * SECOND)];
    // Node 1 was asked 10 ms before: in these its clock may drift by 10 us.
    let told_ns = 7 * SECOND - 300_000 - 10_000_000;
    let hundred_seconds = (100 * SECOND).cast_signed();
    let mut clocks = BTreeMap::from([
        (1, clock(told_ns, hundred_seconds, 40_000)),
        (2, clock(8 * SECOND, -(2 * SECOND).cast_signed(), 20_000)),
    ]);
    let found = release(&replies, &clocks).expect("all are known");
    assert!((found.spread_seconds - 800e-6).abs() < 1e-12, "{found:?}");
    assert!((found.uncertainty_seconds - 70e-6).abs() < 1e-12, "50 us of node 1 and 20 of node 2: {found:?}");
    clocks.remove(&2);
    assert_eq!(release(&replies, &clocks), None, "of node 2 nothing is known");
    assert_eq!(release(&replies[..1], &clocks), None, "one machine has nobody beside it");
}

#[test]
fn a_sync_that_is_charged_counts_from_the_last_work_to_the_last_done() {
    let synced = Group { sync_seconds: 1.0, ..group("create", 100, 3.0) };
    let replies = [window(0, 0, (SECOND, 0.0), synced), window(1, 0, (SECOND, 0.0), group("create", 100, 2.5))];
    let figures = measured(&replies, &mut Vec::new(), SECOND);
    let figures = figures_of(&figures);
    assert_eq!((figures.seconds, figures.sync_seconds), (3.0, 0.5));
    assert!((figures.metrics[OPERATIONS_PER_SECOND] - 200.0 / 3.0).abs() < 1e-9, "{figures:?}");
}

fn of_trial(rank: u32, name: &str, nanoseconds: u64) -> RankReply {
    let mut latencies = Latencies::new();
    (0..100).for_each(|_| latencies.record(nanoseconds));
    let group = Group {
        histogram: latencies.encode(),
        cached_files: Some(CachedFiles { file_bytes: 1 << 20, looked_bytes: 1 << 20, ..CachedFiles::default() }),
        ..group(name, 100, 1.0)
    };
    let system = SystemUse { whole_application_write_bytes: 4096, ..SystemUse::default() };
    let reply = Reply::Finished { groups: vec![group], system, notes: Vec::new(), jobs: Vec::new() };
    RankReply { rank, node: 0, reply, moments: None }
}

#[test]
fn a_trial_is_the_median_of_its_windows_and_keeps_what_each_rank_did() {
    let mut so_far = Vec::new();
    for (slow, fast) in [(100, 300), (100, 200), (300, 500)] {
        let replies = [
            window(0, 0, (SECOND, 0.0), group("write", slow, 1.0)),
            window(1, 0, (SECOND, 0.0), group("write", fast, 1.0)),
        ];
        measured(&replies, &mut so_far, SECOND);
    }
    let compared = Compared { other_node: 5, same_node: 7 };
    let reply = finished(&[of_trial(0, "write", 1000), of_trial(1, "write", 9000)], so_far, compared);
    let Reply::Finished { system, .. } = &reply else { panic!("{reply:?}") };
    assert_eq!(system.whole_application_write_bytes, 8192);
    let figures = figures_of(&reply);
    assert_eq!(figures.slices_operations_per_second, [400.0, 300.0, 800.0]);
    assert_eq!((figures.operations, figures.metrics[OPERATIONS_PER_SECOND]), (1500, 400.0));
    assert_eq!(figures.cached_files.map(|of| of.file_bytes), Some(2 << 20));
    let latency = figures.latency_ns.expect("latencies of both");
    assert!(latency.max >= 9000.0 && (latency.mean - 5000.0).abs() < 50.0, "{latency:?}");
    let ranks = figures.ranks.as_deref().expect("ranks");
    assert_eq!((ranks.ranks, ranks.nodes, ranks.slowest_rank, ranks.fastest_rank), (2, 1, 0, 1));
    let rates = (ranks.lowest_operations_per_second, ranks.highest_operations_per_second);
    assert_eq!(rates, (500.0 / 3.0, 1000.0 / 3.0));
    assert!((ranks.mean_operations_per_second - 250.0).abs() < 1e-9, "{ranks:?}");
    assert!((ranks.spread - 1.0 / 3.0).abs() < 1e-9, "{ranks:?}");
    assert_eq!((ranks.first_done_seconds, ranks.last_done_seconds, ranks.start_spread_seconds), (3.0, 3.0, 0.0));
    assert_eq!((ranks.compared_by_other_node_bytes, ranks.compared_by_same_node_bytes), (5, 7));
}

#[test]
fn what_was_compared_counts_by_where_its_writer_is() {
    // Those that do not work are not among them: ranks 2 and 4 have places 1 and 2.
    let checked =
        |rank: u32, node: u32, bytes: u64| RankReply { rank, node, reply: Reply::Checked { bytes }, moments: None };
    let mut compared = Compared::default();
    compared.add(&[checked(0, 0, 1), checked(2, 0, 10), checked(4, 1, 100)], &[1, 2, 0]);
    assert_eq!(compared, Compared { other_node: 110, same_node: 1 });
}

#[test]
fn ranks_that_wear_out_count_until_the_last_has_done_as_much_as_the_fastest() {
    let at = |rank: u32, released_ns: u64, asked_ns: u64, group: Group| {
        let of = window(rank, 0, (released_ns, 0.0), group);
        RankReply { moments: Some(Moments { released_ns, asked_ns }), ..of }
    };
    let first = [
        at(0, 10 * SECOND, 10 * SECOND, group("write", 300, 2.0)),
        at(1, 10 * SECOND, 10 * SECOND, group("write", 100, 2.0)),
    ];
    assert_eq!(most_operations(&first), Some(300));
    // Half a second after the deadline rank 1 hears how many it has to do.
    let rest = [
        at(0, 12 * SECOND, 12 * SECOND, group("write", 0, 0.001)),
        at(1, 12 * SECOND + SECOND / 2, 12 * SECOND + SECOND / 2, group("write", 200, 3.5)),
    ];
    let mut so_far = Vec::new();
    let reply = worn_out(&first, &rest, &mut so_far, 10 * SECOND);
    let figures = figures_of(&reply);
    assert_eq!((figures.operations, figures.seconds, figures.metrics[OPERATIONS_PER_SECOND]), (600, 6.0, 100.0));
    let reply = finished(&[of_trial(0, "write", 1), of_trial(1, "write", 1)], so_far, Compared::default());
    let ranks = figures_of(&reply).ranks.as_deref().expect("ranks");
    assert_eq!((ranks.deadline_operations, ranks.deadline_bytes, ranks.deadline_seconds), (400, 400 * 4096, 2.0));
    assert_eq!((ranks.first_done_seconds, ranks.last_done_seconds), (2.0, 6.0));
    let none = RankReply { rank: 1, node: 0, reply: Reply::Done, moments: None };
    assert!(matches!(worn_out(&first[..1], &[none], &mut Vec::new(), 0), Reply::Failed { .. }));
}

#[test]
fn a_rank_that_is_done_early_is_told_from_the_last() {
    let mut so_far = Vec::new();
    let replies = [
        window(0, 0, (SECOND, 0.0), group("create", 100, 1.0)),
        window(1, 0, (SECOND + SECOND / 2, 0.0), group("create", 100, 3.0)),
    ];
    measured(&replies, &mut so_far, SECOND);
    let reply = finished(&[of_trial(0, "create", 1), of_trial(1, "create", 1)], so_far, Compared::default());
    let ranks = figures_of(&reply).ranks.as_deref().expect("ranks");
    assert_eq!((ranks.first_done_seconds, ranks.last_done_seconds, ranks.start_spread_seconds), (1.0, 3.5, 0.5));
}

#[test]
fn where_not_all_ranks_work_those_that_do_have_their_own_numbers() {
    let mut so_far = Vec::new();
    let of = |rank: u32, node: u32, operations: u64| window(rank, node, (SECOND, 0.0), group("write", operations, 1.0));
    measured(&[of(0, 0, 300), of(4, 1, 100)], &mut so_far, SECOND);
    let done = |rank: u32, node: u32| RankReply { node, ..of_trial(rank, "write", 1) };
    let reply = finished(&[done(0, 0), done(4, 1)], so_far, Compared::default());
    let ranks = figures_of(&reply).ranks.as_deref().expect("ranks");
    assert_eq!((ranks.ranks, ranks.nodes, ranks.slowest_rank, ranks.slowest_node), (2, 2, 4, 1));
    assert_eq!((ranks.fastest_rank, ranks.fastest_node), (0, 0));
}

#[test]
fn one_rank_speaks_for_its_machine_and_all_for_their_agents() {
    let of = |user: f64| SystemUse {
        window_seconds: 1.0,
        windows: 1,
        cpus: 4,
        cpu_user_seconds: 2.0,
        agent_cpu_user_seconds: user,
        foreign_cpu_seconds: Some(0.9),
        looked_seconds: 1.0,
        pressure_io_some_seconds: 2.0 * user,
        network_received_bytes: 1000,
        network_sent_bytes: 7,
        device: DeviceUse { write_bytes: 100, ..DeviceUse::default() },
        ..SystemUse::default()
    };
    let [a, b, c] = [of(1.0), of(1.0), of(0.5)];
    let all = system_of_all(&[(0, &a), (0, &b), (1, &c)]);
    assert_eq!((all.cpus, all.window_seconds, all.windows), (8, 1.0, 1));
    assert_eq!((all.cpu_user_seconds, all.agent_cpu_user_seconds, all.device.write_bytes), (4.0, 2.5, 200));
    assert_eq!((all.network_received_bytes, all.network_sent_bytes), (2000, 14), "of each machine once");
    assert_eq!(all.pressure_io_some_seconds, 1.5, "the mean of the machines, because it is a share of the time");
    assert_eq!(all.foreign_cpu_seconds, None, "the agents of a machine are no other programs");
    assert_eq!(system_of_all(&[(0, &a), (1, &c)]).foreign_cpu_seconds, Some(1.8), "one a machine tells them");
}

#[test]
fn what_is_wrong_goes_before_what_is_lacking_and_names_its_rank() {
    let failed = |rank: u32, corrupt: bool, unsupported: bool| {
        let reason = format!("reason {rank}");
        let reply = Reply::Failed { reason, errno: None, corrupt, unsupported, room: Room::Enough };
        RankReply { rank, node: rank, reply, moments: None }
    };
    let done = RankReply { rank: 0, node: 0, reply: Reply::Done, moments: None };
    assert_eq!(refusal(std::slice::from_ref(&done), 1), None);
    let said = |replies: &[RankReply]| match refusal(replies, 4) {
        Some(Reply::Failed { reason, corrupt, unsupported, .. }) => (reason, corrupt, unsupported),
        other => panic!("{other:?}"),
    };
    let all = [done, failed(1, false, true), failed(2, false, false), failed(3, true, false)];
    assert_eq!(said(&all), ("rank 3 (node 3): reason 3".to_owned(), true, false));
    assert_eq!(said(&all[..3]), ("rank 2 (node 2): reason 2".to_owned(), false, false));
    assert_eq!(said(&all[..2]), ("rank 1 (node 1): reason 1".to_owned(), false, true));
    let errno = Some(Errno::CANCELED.raw_os_error());
    let (reason, room) = ("rank 2 did not begin".to_owned(), Room::Enough);
    let reply = Reply::Failed { reason, errno, corrupt: false, unsupported: false, room };
    let ended = RankReply { rank: 0, node: 0, reply, moments: None };
    assert_eq!(said(&[ended.clone(), all[2].clone()]).0, "rank 2 (node 2): reason 2", "who knows more is heard");
    assert_eq!(said(&[all[1].clone(), ended]).0, "rank 0 (node 0): rank 2 did not begin");
}

#[test]
fn ranks_that_measured_something_else_are_no_figure() {
    let other =
        [window(0, 0, (SECOND, 0.0), group("read", 1, 1.0)), window(1, 0, (SECOND, 0.0), group("write", 1, 1.0))];
    assert!(matches!(measured(&other, &mut Vec::new(), 0), Reply::Failed { .. }));
    let none = RankReply { rank: 0, node: 0, reply: Reply::Done, moments: None };
    assert!(matches!(measured(std::slice::from_ref(&none), &mut Vec::new(), 0), Reply::Failed { .. }));
    assert!(matches!(finished(&[none], Vec::new(), Compared::default()), Reply::Failed { .. }));
    let took = |seconds: f64| RankReply { rank: 0, node: 0, reply: Reply::Took { seconds }, moments: None };
    assert_eq!(plain(&[took(1.0), took(3.0), took(2.0)]), Reply::Took { seconds: 3.0 });
}
