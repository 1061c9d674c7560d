//! Which lanes advice may choose: those that may be ranked, that did the work, and that were measured.

use crate::asking;
use crate::common;

use asking::{asked, excluded, race, scenario, three};
use common::lane;
use model::findings::{Advice, NoAdvice};
use model::lane::{Lane, ServerAnswers};
use model::record::Record;
use model::trial::Outcome;

/// A directory on a disk.
fn directory(name: &str, filesystem: &str, disk: &str) -> Lane {
    let mut lane = lane(filesystem);
    (lane.name, lane.venue, lane.ground) = (name.into(), "directory".into(), format!("/mnt/{name}"));
    lane.backing = disk.into();
    lane
}

#[test]
fn lanes_on_two_disks_get_no_advice_whichever_is_named_first() {
    let (a, b) = (directory("a", "ext4", "sda1"), directory("b", "xfs", "sdb1"));
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let of = |lanes: Vec<Lane>| asked(&race(lanes, &[[1000.0; 2], [2000.0; 2]], 0.005), &plain, &[]);
    for advice in [of(vec![a.clone(), b.clone()]), of(vec![b.clone(), a.clone()])] {
        assert_eq!((advice.lane.as_deref(), advice.no_advice), (None, Some(NoAdvice::NotComparable)));
        assert!(advice.next.is_empty() && advice.flips_if.is_empty());
        for name in ["a", "b"] {
            let out = excluded(&advice, name);
            let why = out.facts[0].note.as_deref().unwrap();
            assert!(out.constraint == "comparable" && why.starts_with("different disks: "), "{out:?}");
        }
    }
    // Nor is a disk taken because more lanes are on it.
    let c = directory("c", "btrfs", "sda1");
    let rates = [[1000.0; 2], [2000.0; 2], [900.0; 2]];
    let advice = asked(&race(vec![a.clone(), b.clone(), c.clone()], &rates, 0.005), &plain, &[]);
    assert_eq!(advice.no_advice, Some(NoAdvice::NotComparable));
    // On one disk they may be ranked.
    let advice = asked(&race(vec![a, c], &rates[..2], 0.005), &plain, &[]);
    assert_eq!(advice.lane.as_deref(), Some("c"));
    // A constraint that leaves one lane leaves nothing to rank.
    let a = directory("a", "ext4", "sda1");
    let advice = asked(&race(vec![a, b], &rates[..2], 0.005), &plain, &["dynamic-inodes"]);
    assert_eq!((advice.lane.as_deref(), advice.no_advice), (Some("b"), None));
}

#[test]
fn a_lane_that_keeps_other_promises_is_not_preferred_by_their_number() {
    let mut risky = lane("ext4");
    (risky.name, risky.promises.barriers) = ("risky".into(), false);
    let mut old = lane("ext4");
    (old.name, old.promises.journal) = ("old".into(), false);
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let rates = [[1000.0; 2], [2000.0; 2], [900.0; 2]];
    let advice = asked(&race(vec![risky.clone(), old.clone()], &rates[..2], 0.005), &plain, &[]);
    assert_eq!(advice.no_advice, Some(NoAdvice::NotComparable), "each lacks what the other keeps");
    let advice = asked(&race(vec![risky, old, lane("xfs")], &rates, 0.005), &plain, &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"), "it keeps all of them");
}

#[test]
fn a_server_that_waits_for_its_disk_is_preferred_to_one_that_does_not_and_to_none_of_which_nothing_was_said() {
    let served =
        |name: &str, server_answers: Option<ServerAnswers>| Lane { server_answers, ..directory(name, "nfs4", "") };
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let of = |a: Option<ServerAnswers>, b: Option<ServerAnswers>| {
        asked(&race(vec![served("a", a), served("b", b)], &[[1000.0; 2], [2000.0; 2]], 0.005), &plain, &[])
    };
    assert_eq!(of(Some(ServerAnswers::Sync), Some(ServerAnswers::Async)).lane.as_deref(), Some("a"));
    for (a, b) in [(None, Some(ServerAnswers::Async)), (Some(ServerAnswers::Sync), None)] {
        let advice = of(a, b);
        assert_eq!((advice.lane.as_deref(), advice.no_advice), (None, Some(NoAdvice::NotComparable)), "{a:?} {b:?}");
    }
}

/// Makes trials of a lane and workload in these rounds something else.
fn come_out(
    record: &mut Record,
    (lane, workload): (&str, &str),
    rounds: std::ops::RangeInclusive<u32>,
    as_what: Outcome,
) {
    let why = match as_what {
        Outcome::Void => "the throttle did not hold: the device did 9k writes/s",
        _ => "write: Input/output error",
    };
    let wanted = |trial: &&mut model::trial::Trial| trial.lane == lane && trial.workload == workload;
    for trial in record.trials.iter_mut().filter(wanted).filter(|trial| rounds.contains(&trial.round)) {
        (trial.outcome, trial.reason) = (as_what, Some(why.into()));
        trial.groups.clear();
    }
}

#[test]
fn a_lane_that_failed_in_some_rounds_is_not_taken() {
    let mut race = race(three(), &[[1000.0; 2], [1500.0; 2], [5000.0; 2]], 0.005);
    // It fails twice and is left out of the later rounds.
    come_out(&mut race, ("btrfs", "commit"), 4..=5, Outcome::Failed);
    race.trials.retain(|trial| trial.lane != "btrfs" || trial.workload != "commit" || trial.round <= 5);
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let advice = asked(&race, &plain, &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    let out = excluded(&advice, "btrfs");
    let note = "commit 4 KiB: 2 of 5 rounds failed: write: Input/output error";
    assert_eq!((out.constraint.as_str(), out.facts[0].note.as_deref()), ("done", Some(note)));
    // What it failed at is no part of this work.
    let advice = asked(&race, &scenario([0.0, 0.6, 0.4], &[]), &[]);
    assert_eq!(advice.lane.as_deref(), Some("btrfs"));
}

fn lead(advice: &Advice, against: &str) -> f64 {
    advice.leads.iter().find(|lead| lead.against == against).unwrap().ratio
}

#[test]
fn a_throttle_that_did_not_hold_is_not_the_lanes_failure() {
    let mut race = race(three(), &[[1000.0; 2], [1500.0; 2], [2000.0; 2]], 0.005);
    come_out(&mut race, ("btrfs", "commit"), 1..=20, Outcome::Void);
    let advice = asked(&race, &scenario([0.3, 0.7, 0.0], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.excluded.len()), (Some("btrfs"), 0), "{advice:#?}");
    // Commits count as not measured in it: its lead is that of the reads alone, the others' of both.
    assert!((1.3..2.0 / 1.5).contains(&lead(&advice, "xfs")), "{advice:#?}");
    let note = advice.notes.iter().find(|note| note.lanes == ["btrfs"]).unwrap();
    assert!(
        note.text.starts_with("compared without commits, which count as not measured in it: the throttle"),
        "{note:?}"
    );
    // Where that leaves less than half of the work, nothing can be said of it.
    let advice = asked(&race, &scenario([0.7, 0.3, 0.0], &[]), &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    let out = excluded(&advice, "btrfs");
    assert!(out.constraint == "measured" && out.facts[0].note.as_deref().unwrap().starts_with("commits: the throttle"));
}

#[test]
fn one_lane_without_figures_leaves_the_others_measured() {
    let mut race = race(three(), &[[1000.0; 2], [1500.0; 2], [2000.0; 2]], 0.005);
    come_out(&mut race, ("btrfs", "commit"), 3..=20, Outcome::Void);
    come_out(&mut race, ("btrfs", "random-read"), 3..=20, Outcome::Void);
    let advice = asked(&race, &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.measured_share), (Some("xfs"), 1.0), "{advice:#?}");
    assert_eq!(excluded(&advice, "btrfs").constraint, "measured");
}

#[test]
fn how_safe_a_choice_is_rests_on_all_rounds_that_its_pairs_have() {
    // Reads: xfs 30 % ahead, sure. Commits, four times as heavy: level, and far too noisy to rank.
    let mut two = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1000.0, 1300.0]], 0.003);
    let mut noise = common::noise(3);
    for trial in two.trials.iter_mut().filter(|trial| trial.workload == "commit") {
        let scale = (0.3 * noise.next()).exp();
        trial.groups.iter_mut().flat_map(|group| group.metrics.values_mut()).for_each(|figure| *figure *= scale);
    }
    // The same with a third lane, far behind, that was decided after six rounds.
    let mut three = race(three(), &[[1000.0; 2], [1000.0; 2], [100.0; 2]], 0.003);
    three.trials.retain(|trial| trial.lane == "btrfs" && trial.round <= 6);
    three.trials.extend(two.trials.iter().cloned());
    let both = scenario([0.8, 0.2, 0.0], &[]);
    let (of_two, of_three) = (asked(&two, &both, &[]), asked(&three, &both, &[]));
    assert_eq!((of_two.lane.as_deref(), of_three.lane.as_deref()), (Some("xfs"), Some("xfs")));
    let share = |advice: &Advice| advice.share_of_resampled_races.unwrap();
    assert!((0.1..0.95).contains(&share(&of_two)), "{}", share(&of_two));
    assert!((share(&of_two) - share(&of_three)).abs() < 0.03, "{} and {}", share(&of_two), share(&of_three));
    // With the first six rounds of all it would be another share.
    two.trials.retain(|trial| trial.round <= 6);
    let of_six = asked(&two, &both, &[]);
    assert!((share(&of_two) - share(&of_six)).abs() > 0.03, "{} and {}", share(&of_two), share(&of_six));
}
