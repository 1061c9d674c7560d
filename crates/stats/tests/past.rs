//! What their past did to lanes, from whole records.

use crate::common;

use common::{io, lane, record, run};
use model::aged::AgedLane;
use model::findings::Verdict;
use model::lane::Lane;
use model::plan::Rounds;
use model::record::Record;
use model::workload::Pattern;
use stats::compare::compare;
use stats::judge;

const ROUNDS: u32 = 8;

fn of_states(filesystem: &str, states: &str) -> Lane {
    let mut of = lane(&format!("{filesystem}{states}"));
    of.filesystem = filesystem.to_owned();
    of.spec = format!("{filesystem}{states}");
    of.aged = (!states.is_empty()).then(|| AgedLane { states: states.to_owned(), ..AgedLane::default() });
    of
}

fn race(lanes: Vec<Lane>, rates: &[f64]) -> Record {
    let mut record = record(lanes, vec![io("read", Pattern::RandRead, 8, 0)], Rounds::Auto, true);
    run(&mut record, ROUNDS, rates, 0.0, 1);
    record
}

#[test]
fn an_aged_lane_stands_beside_the_same_lane_fresh_and_a_flip_is_named() {
    let lanes = [("ext4", ""), ("xfs", ""), ("ext4", "+aged"), ("xfs", "+aged")].map(|(of, past)| of_states(of, past));
    let record = race(lanes.to_vec(), &[1000.0, 800.0, 500.0, 700.0]);
    let findings = judge::findings(&record);
    let [ext4, xfs] = &findings.aged[..] else { panic!("{:?}", findings.aged) };
    for (aged, fresh, ratio) in [(ext4, "ext4", 0.5), (xfs, "xfs", 0.875)] {
        assert_eq!(aged.beside.as_deref(), Some(fresh));
        let [row] = &aged.rows[..] else { panic!("{aged:?}") };
        assert!((row.ratio - ratio).abs() < 1e-3 && row.verdict == Verdict::Slower, "{row:?}");
        assert!(row.low.unwrap() <= row.ratio && row.ratio <= row.high.unwrap(), "{row:?}");
    }
    // The question is which filesystem, and not how old.
    let answer = findings.answer.as_ref().unwrap();
    assert_eq!(answer.choose, ["ext4"]);
    assert!(!answer.reasons.iter().any(|why| format!("{why:?}").contains("+aged")), "{:?}", answer.reasons);
    let ranks = findings.aged_ranks.unwrap();
    assert_eq!((ranks.decided, ranks.open), (1, 0));
    let [flip] = &ranks.flips[..] else { panic!("{ranks:?}") };
    assert_eq!(flip.fresh, ["ext4", "xfs"].map(str::to_owned));
    assert_eq!(flip.aged, ["xfs+aged", "ext4+aged"].map(str::to_owned));
}

#[test]
fn what_was_not_raced_fresh_or_has_another_past_is_compared_with_nothing() {
    // Their pasts differ, so that no ranks are compared.
    let lanes =
        [("ext4", ""), ("xfs", ""), ("ext4", "+aged"), ("xfs", "+aged=git")].map(|(of, past)| of_states(of, past));
    let findings = judge::findings(&race(lanes.to_vec(), &[1000.0, 800.0, 500.0, 700.0]));
    assert_eq!((findings.aged.len(), findings.aged_ranks), (2, None));
    // Options make another lane, and so does another place.
    let mut fresh = of_states("ext4", ",noatime");
    let aged = of_states("ext4", "+aged");
    fresh.aged = None;
    let alone = judge::findings(&race(vec![fresh, aged.clone()], &[1000.0, 500.0]));
    assert_eq!((&alone.aged[0].beside, alone.aged[0].rows.len()), (&None, 0));
    let mut elsewhere = of_states("ext4", "");
    elsewhere.ground = "images in /elsewhere".to_owned();
    let alone = judge::findings(&race(vec![elsewhere, aged], &[1000.0, 500.0]));
    assert_eq!(alone.aged[0].beside, None);
}

#[test]
fn records_of_other_pasts_are_not_compared_as_one_lane() {
    let named = |states: &str| Lane { name: "old".to_owned(), ..of_states("ext4", states) };
    let of = |states: &str| race(vec![named(states), of_states("xfs", "")], &[1000.0, 800.0]);
    let (fresh, aged) = (of(""), of("+aged"));
    let of = |a: &Record, b: &Record| compare(a, b, "then", "now");
    let apart = of(&fresh, &aged);
    let warned = apart.warnings.join("; ");
    assert!(warned.contains("old: different pasts, fresh and +aged"), "{warned}");
    let row = apart.rows.iter().find(|row| row.lane == "old").expect("a row");
    assert_eq!(row.verdict, Verdict::None);
    assert!(!of(&aged, &aged).warnings.join("; ").contains("different pasts"));
}

#[test]
fn among_lanes_that_are_all_old_one_is_chosen() {
    let lanes = [("ext4", "+aged"), ("xfs", "+aged")].map(|(of, past)| of_states(of, past));
    let answer = judge::findings(&race(lanes.to_vec(), &[500.0, 700.0])).answer.unwrap();
    assert_eq!(answer.choose, ["xfs+aged"]);
}

#[test]
fn a_guest_that_lived_the_past_is_not_called_fresh() {
    let lanes = [("ext4", ""), ("ext4", "+aged")].map(|(of, past)| Lane { venue: "uml".into(), ..of_states(of, past) });
    let answer = judge::findings(&race(lanes.to_vec(), &[500.0, 700.0])).answer.unwrap();
    let said = format!("{answer:?}");
    assert!(said.contains("on_fresh_filesystems_of_in") && said.contains("on_filesystems_with_a_past_of_in"), "{said}");
}

#[test]
fn lanes_of_one_past_that_are_not_equally_full_flip_no_rank_and_are_counted() {
    let flips = |reached: Option<f64>| {
        let mut lanes =
            [("ext4", ""), ("xfs", ""), ("ext4", "+aged"), ("xfs", "+aged")].map(|(of, past)| of_states(of, past));
        for (lane, reached) in lanes[2..].iter_mut().zip([Some(0.8), reached]) {
            lane.aged.as_mut().unwrap().reached_share = reached;
        }
        let ranks = judge::findings(&race(lanes.to_vec(), &[1000.0, 800.0, 500.0, 700.0])).aged_ranks.unwrap();
        (ranks.flips.len(), ranks.unequal)
    };
    assert_eq!(flips(Some(0.796)), (1, 0));
    assert_eq!(flips(Some(0.794)), (0, 1));
    assert_eq!(flips(None), (1, 0), "an older record does not say");
}

#[test]
fn ranks_that_are_not_decided_both_times_are_counted_and_do_not_flip() {
    let lanes = [("ext4", ""), ("xfs", ""), ("ext4", "+aged"), ("xfs", "+aged")].map(|(of, past)| of_states(of, past));
    let findings = judge::findings(&race(lanes.to_vec(), &[1000.0, 1000.0, 500.0, 700.0]));
    let ranks = findings.aged_ranks.unwrap();
    // Equal ones are a tie, and no side of it.
    assert_eq!((ranks.decided + ranks.open, ranks.flips.len()), (1, 0));
    let answer = findings.answer.unwrap();
    assert!(answer.raced.unwrap().to_string().contains("with a past"));
}
