//! What each rank of an MPI job did, in reports.

use crate::common::{RECORD_PATH, races, record, told};
use model::findings::{Findings, NetworkUse, RanksFinding, RanksRow, Straggler};
use report::{Input, Style, render};

fn row(lane: &str, straggler: Option<Straggler>) -> RanksRow {
    RanksRow {
        lane: lane.to_owned(),
        ranks: 8,
        nodes: 2,
        rounds: 6,
        lowest_operations_per_second: 1_200.0,
        mean_operations_per_second: 2_000.0,
        highest_operations_per_second: 2_500.0,
        spread: 0.25,
        start_spread_seconds: 0.001,
        first_done_seconds: 2.5,
        last_done_seconds: 3.1,
        network: None,
        straggler,
    }
}

fn rendered(ranks: Vec<RanksFinding>, format: &str) -> String {
    let findings = Findings { ranks, ..told(&races::three()) };
    let record = record(&findings);
    let input = Input { findings: &findings, record: &record, record_path: Some(RECORD_PATH) };
    render(&input, format, &Style::default()).expect("a report")
}

#[test]
fn what_ranks_did_stands_in_a_table_and_the_one_that_the_others_wait_for_has_its_number() {
    assert!(!rendered(Vec::new(), "text").contains("standard deviation by mean"), "nowhere without a job");
    let straggler = Straggler { rank: 3, node: 1, rounds: 5, of: 6, below: 0.35 };
    let hostile = "x\u{1b}[2J<b>|\u{202e}";
    let of = |group: &str| RanksFinding {
        workload: "files".to_owned(),
        title: "new files".to_owned(),
        group: group.to_owned(),
        rows: vec![row("ext4", None), row(hostile, Some(straggler))],
    };
    for format in ["text", "markdown"] {
        let text = rendered(vec![of("create"), of("delete")], format);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["8 on 2 nodes", "1.2k ops/s", "2k ops/s", "2.5k ops/s", "25 %", "2.5 to 3.1 s"] {
            assert!(words.contains(part), "{part}: {text}");
        }
        assert!(words.contains("new files: delete"), "{text}");
        let said = "rank 3 (node 1) was the slowest and far behind in 5 of 6 rounds, in these 35 % below the mean of the others (median).";
        assert_eq!(words.matches(said).count(), 2, "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert!(format == "text" || !text.contains("<b>"), "{text}");
    }
}

#[test]
fn what_networks_carried_is_a_column_where_it_is_told_of_a_row() {
    let network = Some(NetworkUse { received_bytes_per_second: 120e6, sent_bytes_per_second: 3.5e6 });
    let finding = |network: Option<NetworkUse>| RanksFinding {
        workload: "read".to_owned(),
        title: "read".to_owned(),
        group: "read".to_owned(),
        rows: vec![RanksRow { network, ..row("ext4", None) }, row("xfs", None)],
    };
    for format in ["text", "markdown"] {
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let [without, with] = [None, network].map(|network| words(rendered(vec![finding(network)], format)));
        assert!(!without.contains("eceived, sent"), "{without}");
        assert!(with.contains("received, sent") && with.contains("120 MB/s, 3.5 MB/s"), "{with}");
    }
}
