//! Whose files ranks work on: their own, those of another one, or those of all.

use model::agent::{Part, Request};
use model::job::FileLayout;
use model::operations::Sharing;
use model::workload::{Kind, Workload};
use std::collections::BTreeMap;

/// Whether a workload reads its files and changes nothing, so that another rank can read them. Files whose sizes are drawn
/// are other ones on each rank.
pub fn only_reads(workload: &Workload) -> bool {
    let Kind::Io(io) = &workload.kind else { return false };
    io.rw.reads() && !io.rw.writes() && io.filesize.is_none_or(|(low, high)| low >= high)
}

/// Whether all ranks work in one folder.
pub fn works_in_one_folder(workload: &Workload) -> bool {
    match &workload.kind {
        Kind::Io(io) => io.file != FileLayout::Own,
        Kind::Operations(operations) => operations.shares_directories(),
        Kind::SmallFiles(small) => small.sharing == Sharing::Shared,
        Kind::OneFile(_) | Kind::Collective(_) => true,
        _ => false,
    }
}

/// The ranks that work where not all do: of each machine one in turn, so that they are spread evenly, and fewer are always
/// among more; ascending.
pub(super) fn picked(nodes: &[u32], count: usize) -> Vec<u32> {
    let mut of_node: BTreeMap<u32, u32> = BTreeMap::new();
    let turn = |(rank, node): (u32, &u32)| {
        let turn = of_node.entry(*node).or_default();
        *turn += 1;
        (*turn, *node, rank)
    };
    let mut order: Vec<(u32, u32, u32)> = (0..).zip(nodes).map(turn).collect();
    order.sort_unstable();
    let mut picked: Vec<u32> = order.into_iter().take(count).map(|(.., rank)| rank).collect();
    picked.sort_unstable();
    picked
}

/// Whether each rank compares what another one wrote before it does this, outside of all windows: when the slices of block I/O or
/// the acts on one file are done, where operations are compared anyway, and before small files are removed.
pub(super) fn compares_before(workload: &Workload, request: &Request) -> bool {
    match (&workload.kind, request) {
        (Kind::Io(_) | Kind::OneFile(_) | Kind::Collective(_), Request::Finish) => true,
        (Kind::Operations(_), Request::Verify) => true,
        (Kind::SmallFiles(_), Request::Phase { group, part: Part { index: 0, .. }, .. }) => group == "delete",
        _ => false,
    }
}

/// Whether all ranks do this by calls of MPI that each has to make as often as every other one.
pub(super) fn works_together(workload: &Workload, request: &Request) -> bool {
    matches!((&workload.kind, request), (Kind::Collective(_), Request::Phase { .. }))
}

/// Whether ranks go on behind the end of a slice until all have done as much.
pub(super) fn wears_out(workload: &Workload) -> bool {
    matches!(&workload.kind, Kind::Io(io) if io.wear_out)
}

/// Whose files each rank reads: those of a rank on another machine, where all have as many ranks.
pub(super) fn peers(nodes: &[u32]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|rank| nodes[*rank]);
    let mut on: BTreeMap<u32, usize> = BTreeMap::new();
    nodes.iter().for_each(|node| *on.entry(*node).or_default() += 1);
    let most = on.into_values().max().unwrap_or(1);
    let step = if most == nodes.len() { 1 } else { most };
    let mut peers = vec![0; nodes.len()];
    for (place, rank) in order.iter().enumerate() {
        peers[*rank] = order[(place + step) % order.len()] as u32;
    }
    peers
}

/// Whether each rank's peer is on another machine.
pub(super) fn all_elsewhere(nodes: &[u32]) -> bool {
    let node = |rank: u32| nodes.get(rank as usize);
    peers(nodes).into_iter().zip(nodes).all(|(peer, own)| node(peer) != Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_reads_another_ranks_files_on_another_machine_where_that_is_possible() {
        for nodes in [&[0, 0, 0, 0][..], &[0, 0, 1, 1], &[0, 1, 0, 1], &[0, 1, 2], &[0, 1, 1, 2, 2, 0]] {
            let peers = peers(nodes);
            let all: std::collections::BTreeSet<u32> = peers.iter().copied().collect();
            assert_eq!(all.len(), nodes.len(), "each rank's files are read once: {nodes:?} {peers:?}");
            let several = nodes.iter().any(|node| *node != nodes[0]);
            for (rank, peer) in peers.iter().enumerate() {
                assert_ne!(rank as u32, *peer);
                assert_eq!(nodes[rank] != nodes[*peer as usize], several, "{nodes:?} {peers:?}");
            }
        }
        assert_eq!(peers(&[0]), [0]);
    }

    #[test]
    fn fewer_ranks_are_spread_over_machines_and_rank_0_is_always_among_them() {
        let nodes = [0, 0, 0, 1, 1, 1, 2];
        let all: Vec<Vec<u32>> = (1..=8).map(|count| picked(&nodes, count)).collect();
        let few = [vec![0], vec![0, 3], vec![0, 3, 6], vec![0, 1, 3, 6], vec![0, 1, 3, 4, 6], vec![0, 1, 2, 3, 4, 6]];
        assert_eq!(all[..6], few);
        assert_eq!([&all[6], &all[7]], [&(0..7).collect::<Vec<u32>>(); 2], "there are no more than all");
        assert!(all.windows(2).all(|two| two[0].iter().all(|rank| two[1].contains(rank))), "{all:?}");
    }

    #[test]
    fn ranks_that_lie_unevenly_read_in_part_on_their_own_machine_and_that_is_known() {
        assert!(all_elsewhere(&[0, 0, 1, 1]) && all_elsewhere(&[0, 1, 2]));
        for nodes in [&[0, 0, 0, 1][..], &[0, 0], &[0], &[0, 1, 1, 1, 2]] {
            assert!(!all_elsewhere(nodes), "{nodes:?}");
        }
    }

    #[test]
    fn only_work_that_changes_nothing_is_read_by_another_rank() {
        let of = |suite: &str| crate::suites::find(suite).unwrap().workload;
        let names: Vec<String> = of("general").into_iter().filter(only_reads).map(|workload| workload.name).collect();
        assert_eq!(names, ["sequential-read", "random-read"]);
        let mut drawn = of("general").into_iter().find(only_reads).expect("it reads");
        let Kind::Io(io) = &mut drawn.kind else { panic!("{drawn:?}") };
        io.filesize = Some((model::Bytes(4096), model::Bytes(4096)));
        assert!(only_reads(&drawn));
        let Kind::Io(io) = &mut drawn.kind else { panic!("{drawn:?}") };
        io.filesize = Some((model::Bytes(4096), model::Bytes(8192)));
        assert!(!only_reads(&drawn), "each rank draws other sizes");
    }

    #[test]
    fn what_another_rank_wrote_is_compared_once_before_it_goes() {
        let of = |kind: &str| -> Workload {
            let text = format!("name = \"a\"\ntitle = \"a\"\n{kind}");
            toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let delete = |index| Request::Phase { group: "delete".to_owned(), part: Part { index, of: 2 }, threads: false };
        let read = Request::Phase { group: "read".to_owned(), part: Part::WHOLE, threads: false };
        let requests = [Request::Finish, Request::Verify, delete(0), delete(1), read, Request::Sync];
        let operations = "kind = \"operations\"\nfiles = [{ name = \"a\", count = 1 }]\n\
                          step = [{ operation = \"create\", files = \"a\" }]";
        for (kind, expected) in [
            ("kind = \"io\"\nrw = \"write\"\nbs = \"4KiB\"\nsize = \"1MiB\"", 0),
            (operations, 1),
            ("kind = \"small-files\"\nfiles = 10\nsize = \"1KiB\"", 2),
            ("kind = \"one-file\"\noperations = 10", 0),
            ("kind = \"collective\"\nbs = \"1KiB\"\noperations = 10", 0),
        ] {
            let workload = of(kind);
            let found: Vec<usize> =
                (0..requests.len()).filter(|at| compares_before(&workload, &requests[*at])).collect();
            assert_eq!(found, [expected], "{kind}");
            let together = requests.iter().filter(|request| works_together(&workload, request)).count();
            assert_eq!(together, if kind.contains("collective") { 3 } else { 0 }, "{kind}");
        }
    }

    #[test]
    fn work_on_one_file_or_in_the_same_directories_is_done_in_one_folder() {
        let all = crate::suites::find("shared").unwrap().workload;
        let names: Vec<&str> = all.iter().filter(|of| works_in_one_folder(of)).map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["write-one", "read-one", "collective", "files-together", "appends", "locks", "opens"]);
    }
}
