//! What growing numbers of ranks bring, in reports.

use crate::common::{RECORD_PATH, races, record, told};
use model::findings::{Findings, LadderFinding, LadderLane, LadderRow, LadderShare, Scaling};
use model::page::Language;
use report::{Input, Style, render};

fn rendered(ladders: Vec<LadderFinding>, format: &str) -> String {
    let findings = Findings { ladders, ..told(&races::three()) };
    let record = record(&findings);
    let input = Input { findings: &findings, record: &record, record_path: Some(RECORD_PATH) };
    render(&input, format, &Style::default()).expect("a report")
}

fn row(ranks: u32, mean: f64, share: Option<f64>) -> LadderRow {
    let share = share.map(|share| LadderShare { share, low: share - 0.1, high: share + 0.1 });
    LadderRow { ranks, nodes: ranks.min(2), mean, low: Some(0.9 * mean), high: Some(1.1 * mean), rounds: 8, share }
}

#[test]
fn where_it_bends_stands_below_the_figures_of_each_number_of_ranks() {
    assert!(!rendered(Vec::new(), "text").contains("LADDER"), "nowhere without a ladder");
    let rows =
        || vec![row(1, 100e6, None), row(2, 190e6, Some(0.9)), row(4, 171e6, Some(-0.05)), row(5, 171e6, Some(-0.001))];
    let bends = Scaling::Bends { from: 2, to: 4, at_most: 0.05, perhaps_before: true };
    let lane = |lane: &str, scaling: Scaling| LadderLane { lane: lane.to_owned(), rows: rows(), scaling };
    let hostile = "x\u{1b}[2J<b>|\u{202e}";
    let lanes = vec![lane("ext4", bends), lane("xfs", Scaling::Straight), lane(hostile, Scaling::Open)];
    let of = LadderFinding { title: "overwrite".to_owned(), group: String::new(), unit: "B/s".to_owned(), lanes };
    for format in ["text", "markdown"] {
        let text = rendered(vec![of.clone()], format);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "190 MB/s (171 to 209)",
            "90 % (80 % to 100 %)",
            "-5 % (-15 % to 5 %)",
            "0 % (-10 % to 10 %)",
            "2 on 2 nodes",
            "overwrite, ext4: bends from 2 to 4 ranks, at the latest: those that are added bring at most 5 %.",
            "overwrite, xfs: does not bend up to 5 ranks: every step brings at least half of what it should.",
            "whether it bends up to 5 ranks is not known: too noisy, too few rounds, or it stood still in one.",
        ] {
            assert!(words.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert!(format == "text" || !text.contains("<b>"), "{text}");
    }
}

#[test]
fn titles_of_steps_are_those_of_their_work_in_every_language() {
    let mut findings = told(&races::three());
    findings.results[0].title = "read 2 MiB, direct, 4 ranks".to_owned();
    findings.results[1].title = "somebody's own, 1 rank".to_owned();
    let sentences = report::language::sentences(&findings);
    let of = |language: Language, english: &str| sentences[&language].get(english).cloned().unwrap_or_default();
    assert!(of(Language::De, "read 2 MiB, direct, 4 ranks").ends_with(", direkt, 4 Ränge"), "{sentences:?}");
    assert!(of(Language::Zh, "read 2 MiB, direct, 4 ranks").ends_with("，4 个进程"), "{sentences:?}");
    assert_eq!(of(Language::De, "somebody's own, 1 rank"), "somebody's own, 1 Rang");
}
