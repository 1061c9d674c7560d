//! What is said of the ranks of an MPI job.

pub(crate) const RANKS: &str = "RANKS";
pub(crate) const TITLE: &str = "What each rank did";
pub(crate) const LEGEND: &str = "operations a second of single ranks: of the slowest of a round, their mean, and the \
     fastest; spread: standard deviation by mean; done: seconds from the common start to when the first and the last \
     rank was done. Medians over rounds.";
pub(crate) const COLUMNS: [&str; 8] = ["work", "lane", "ranks", "slowest", "mean", "fastest", "spread", "done"];

pub(crate) const NETWORK: &str = "received, sent";
pub(crate) const NETWORK_LEGEND: &str = "Received, sent: by network interfaces of all nodes at work together, of all programs; what \
     goes past the kernel (RDMA) is not in it.";

/// How many ranks on how many nodes; one node is not told.
pub(crate) fn ranks(ranks: u32, nodes: u32) -> String {
    if nodes > 1 { format!("{ranks} on {nodes} nodes") } else { ranks.to_string() }
}

/// A rank that stays far behind. `rounds`: those in which it was the slowest and far behind, and all.
pub(crate) fn straggler(work: &str, lane: &str, rank: &str, rounds: (u32, u32), below: &str) -> String {
    let (behind, of) = rounds;
    format!(
        "{work}, {lane}: {rank} was the slowest and far behind in {behind} of {of} rounds, in these {below} below the \
         mean of the others (median). Why is not told: its node, its network, or what it worked on."
    )
}

/// A rank by its number, and its node where there are several.
pub(crate) fn rank(rank: u32, node: u32, nodes: u32) -> String {
    if nodes > 1 { format!("rank {rank} (node {node})") } else { format!("rank {rank}") }
}
