//! What simulated power cuts and damaged blocks say of each lane.
//!
//! None of N images with a fault leaves a failure rate below 1 - 0.05^(1/N) at 95 %, which is at most 3/N (the
//! rule of three; Hanley and Lippman-Hand 1983), for images such as the sampler draws.

use crate::advice::facts::{Broken, Observation, Promise};
use crate::statements::{name, race as statement};
use model::Sentence;
use model::durability::{
    Compared, Cuts, Damage, DamageFindings, DurabilityFindings, DurabilityLane, DurabilityRecord, DurabilityVerdict,
    Honesty, LaneDurability, LaneExample, SCHEMA, SpeedFinding, Untrusted,
};
use model::lane::Lane;
use model::record::EndOutcome;
use model::sentence::{Value, Weight};

/// How many examples of a lane are shown.
const EXAMPLES: usize = 3;
/// Where a lane failed that was cut to the end, and whose speed alone is missing.
const SPEED: &str = "speed";

/// The failure rate that is excluded at 95 % where none of `cuts` failed; `None`: there were none.
pub fn below(cuts: u64) -> Option<f64> {
    (cuts > 0).then(|| 1.0 - 0.05f64.powf(1.0 / cuts as f64))
}

/// The lanes that broke a promise: of durability, where the controls did what they must, and of checksums, where
/// damage was read without an error. What advice excludes.
pub fn broken(record: &DurabilityRecord) -> Vec<Broken> {
    let found = findings(record);
    let of = |lane: &DurabilityLane, promise: Promise| Broken {
        filesystem: lane.filesystem.clone(),
        mkfs_command: lane.mkfs_command.clone(),
        mount_options: lane.mount_options.clone(),
        kernel: found.kernel.clone(),
        promise,
        started: found.started.clone(),
    };
    let trusted = found.untrusted.is_empty() && !record.header.controls.is_empty();
    let cut = record.header.lanes.iter().zip(&found.lanes).filter(|_| trusted);
    // The tally of the report: what was promised, of the cuts of work that promises it.
    let lost = cut.filter(|(_, seen)| seen.verdict == DurabilityVerdict::Broke).flat_map(|(lane, seen)| {
        let (broken, cuts) = (seen.broken, seen.cuts);
        let durable = Promise::Durable { broken, cuts, only_torn_512: broken == seen.broken_torn_512 };
        let mounts = Promise::Mounts { unmountable: seen.bare_unmountable, cuts: seen.bare_cuts };
        [(broken > 0, durable), (seen.bare_unmountable > 0, mounts)]
            .into_iter()
            .filter(|(seen, _)| *seen)
            .map(|(_, promise)| of(lane, promise))
            .collect::<Vec<_>>()
    });
    let silent = record.header.lanes.iter().filter(|lane| lane.promises.data_checksums).filter_map(|lane| {
        let told = found.damage.iter().filter(|of| of.damage.lane == lane.name && of.damage.of == "data");
        let files = told.map(|of| of.damage.silent).max().filter(|&files| files > 0)?;
        Some(of(lane, Promise::Checksums { files }))
    });
    lost.chain(silent).collect()
}

/// What a report of a race must say of its lanes: the promises that they were seen to break, each once.
pub fn warnings(race: &model::record::Header, broken: &[Broken]) -> Vec<Sentence> {
    let kernel = &race.machine.kernel;
    let count = Value::Count;
    let of_lane = |lane: &Lane| {
        let kinds: [fn(&Promise) -> bool; 3] = [
            |promise| matches!(promise, Promise::Durable { .. }),
            |promise| matches!(promise, Promise::Mounts { .. }),
            |promise| matches!(promise, Promise::Checksums { .. }),
        ];
        let own = || name(&lane.name);
        let sentence = |seen: Observation| {
            let when = || name(&seen.told.started);
            let run = |most: fn(Value, Value) -> Sentence| match seen.runs {
                0 | 1 => when(),
                runs => most(when(), runs.into()).into(),
            };
            match seen.told.promise {
                Promise::Durable { broken, cuts, only_torn_512: true } => statement::lane_broke_a_promise_torn(
                    own(),
                    count(broken),
                    count(cuts),
                    run(statement::most_cuts_of_runs),
                ),
                Promise::Durable { broken, cuts, only_torn_512: false } => statement::lane_broke_a_promise(
                    own(),
                    count(broken),
                    count(cuts),
                    run(statement::most_cuts_of_runs),
                ),
                Promise::Mounts { unmountable, cuts } => statement::lane_did_not_mount(
                    own(),
                    count(unmountable),
                    count(cuts),
                    run(statement::most_cuts_of_runs),
                ),
                Promise::Checksums { files } => {
                    statement::lane_read_damage(own(), count(files), run(statement::most_files_of_runs))
                }
            }
        };
        let seen = kinds.into_iter().filter_map(|such| Observation::new(broken, lane, kernel, such));
        seen.map(|seen| sentence(seen).weigh(Weight::Choice)).collect::<Vec<_>>()
    };
    race.lanes.iter().filter(|lane| !lane.is_self).flat_map(of_lane).collect()
}

/// Everything.
pub fn findings(record: &DurabilityRecord) -> DurabilityFindings {
    let header = &record.header;
    let first = header.lanes.first().map(|lane| lane.name.as_str()).unwrap_or_default();
    let controls = controls(record);
    let mut lanes: Vec<LaneDurability> = header
        .lanes
        .iter()
        .filter(|_| header.command == "powercut")
        .map(|lane| LaneDurability {
            promises_fsync: lane.promises.fsync_reaches_stable_storage,
            speed: speed(record, &lane.name, first),
            ..of_lane(record, &lane.name, &controls)
        })
        .collect();
    let Controls { untrusted, unproven } = controls;
    // Where the controls show nothing, only they keep their verdicts, which are why.
    for lane in lanes.iter_mut().filter(|lane| !untrusted.is_empty() && !header.controls.contains(&lane.lane)) {
        (lane.verdict, lane.below) = (DurabilityVerdict::Unknown, None);
    }
    DurabilityFindings {
        schema: SCHEMA,
        command: header.command.clone(),
        started: header.started.clone(),
        kernel: header.machine.kernel.clone(),
        seed: header.seed,
        again: header.again.clone(),
        outcome: match record.end {
            Some(EndOutcome::Complete) => "complete",
            Some(EndOutcome::Interrupted | EndOutcome::Unexplained) => "interrupted",
            Some(EndOutcome::Failed) => "failed",
            None => "unfinished",
        }
        .to_owned(),
        controls: header.controls.clone(),
        untrusted,
        unproven,
        lanes,
        damage: record.damage.iter().map(of_damage).collect(),
        full: record.full.clone(),
        faults: record.faults.clone(),
    }
}

fn of_lane(record: &DurabilityRecord, lane: &str, controls: &Controls) -> LaneDurability {
    let all: Vec<&Cuts> = record.cuts.iter().filter(|cuts| cuts.lane == lane).collect();
    let promised = |figure: fn(&Cuts) -> u64| all.iter().filter(|cuts| cuts.promised).map(|cuts| figure(cuts)).sum();
    let bare = |figure: fn(&Cuts) -> u64| all.iter().filter(|cuts| !cuts.promised).map(|cuts| figure(cuts)).sum();
    let every = |figure: fn(&Cuts) -> u64| all.iter().map(|cuts| figure(cuts)).sum();
    let (cuts, broken): (u64, u64) = (promised(|cuts| cuts.cuts), promised(|cuts| cuts.broken));
    let proven = || all.iter().filter(|cuts| cuts.promised && !controls.unproven.contains(&cuts.workload));
    let proven_cuts = proven().map(|cuts| cuts.cuts).sum();
    let images: Option<u64> = proven().map(|cuts| cuts.images).sum();
    let failed = record.failed.iter().find(|failed| failed.lane == lane).cloned();
    let unfinished = failed.as_ref().is_some_and(|failed| failed.at != SPEED);
    let complaints = all.iter().flat_map(|cuts| {
        let workload = cuts.workload.clone();
        cuts.complained.iter().map(move |example| LaneExample { workload: workload.clone(), example: example.clone() })
    });
    // Of work that promises nothing of its names, only the image that did not mount: the first one.
    let examples = all.iter().filter(|cuts| cuts.promised || cuts.unmountable > 0).flat_map(|cuts| {
        let workload = cuts.workload.clone();
        let shown = if cuts.promised { cuts.examples.len() } else { 1 };
        cuts.examples
            .iter()
            .take(shown)
            .map(move |example| LaneExample { workload: workload.clone(), example: example.clone() })
    });
    let bare_unmountable = bare(|cuts| cuts.unmountable);
    let looked_at: u64 = every(|cuts| cuts.cuts);
    let seconds: f64 = all.iter().map(|cuts| cuts.replay_seconds).sum();
    LaneDurability {
        lane: lane.to_owned(),
        verdict: match (proven_cuts, broken + bare_unmountable) {
            (_, 1..) => DurabilityVerdict::Broke,
            (0, _) => DurabilityVerdict::Unknown,
            _ if unfinished => DurabilityVerdict::Unknown,
            _ => DurabilityVerdict::Kept,
        },
        cuts,
        broken,
        proven_cuts,
        open: proven().map(|cuts| cuts.open).sum(),
        images,
        // Cuts that gave the same image tried it once.
        below: below(images.unwrap_or(proven_cuts)).filter(|_| broken + bare_unmountable == 0 && !unfinished),
        failed,
        broken_torn_512: promised(|cuts| cuts.broken_torn_512),
        lost: promised(|cuts| cuts.lost),
        torn: promised(|cuts| cuts.torn),
        stale: promised(|cuts| cuts.stale),
        mixed: promised(|cuts| cuts.mixed),
        unmountable: promised(|cuts| cuts.unmountable),
        complaints: every(|cuts| cuts.complaints),
        repaired: every(|cuts| cuts.repaired),
        forced: every(|cuts| cuts.forced),
        loses_a_disk: all.iter().any(|cuts| cuts.loses_a_disk),
        lost_disk: all.iter().find_map(|cuts| cuts.lost_disk),
        bare_cuts: bare(|cuts| cuts.cuts),
        bare_missing: bare(|cuts| cuts.broken),
        bare_unmountable,
        images_per_hour: (seconds > 0.0).then_some(looked_at as f64 / seconds * 3600.0),
        memory_bytes: all.iter().map(|cuts| cuts.memory_bytes).max().unwrap_or(0),
        compared: all.iter().filter_map(|cuts| cuts.compared).reduce(|one, other| Compared {
            names: one.names + other.names,
            files: one.files + other.files,
            bytes: one.bytes + other.bytes,
        }),
        speed: None,
        promises_fsync: true,
        examples: examples.take(EXAMPLES).collect(),
        complained: complaints.take(1).collect(),
    }
}

/// What the controls of a run show.
struct Controls {
    untrusted: Vec<Untrusted>,
    unproven: Vec<String>,
}

/// A kind of promised work is proven where the safe control kept everything at it and the unsafe one did not. The harness
/// is trusted where the safe control kept everything and some kind is proven. Work that promises no names proves nothing.
fn controls(record: &DurabilityRecord) -> Controls {
    let nothing = Controls { untrusted: Vec::new(), unproven: Vec::new() };
    let [safe, unsafe_one] = record.header.controls.as_slice() else { return nothing };
    let of = |lane: &String, promised: bool| {
        let lane = lane.clone();
        record.cuts.iter().filter(move |cuts| cuts.lane == lane && cuts.promised == promised && cuts.cuts > 0)
    };
    let broke = |lane: &String, work: &str| of(lane, true).any(|cuts| cuts.workload == work && cuts.broken > 0);
    let mut kinds: Vec<&String> = Vec::new();
    for cuts in record.cuts.iter().filter(|cuts| cuts.promised) {
        if !kinds.contains(&&cuts.workload) {
            kinds.push(&cuts.workload);
        }
    }
    let (proven, unproven): (Vec<&String>, Vec<&String>) = kinds.into_iter().partition(|work| {
        let kept = of(safe, true).any(|cuts| cuts.workload == **work) && !broke(safe, work);
        kept && broke(unsafe_one, work)
    });
    let mut untrusted = Vec::new();
    if of(safe, true).any(|cuts| cuts.broken > 0) || of(safe, false).any(|cuts| cuts.unmountable > 0) {
        untrusted.push(Untrusted::SafeControlLost);
    }
    if [safe, unsafe_one].iter().any(|lane| of(lane, true).next().is_none()) {
        untrusted.push(Untrusted::ControlMissing);
    } else if of(unsafe_one, true).all(|cuts| cuts.broken == 0) {
        untrusted.push(Untrusted::UnsafeControlKept);
    } else if untrusted.is_empty() && proven.is_empty() {
        untrusted.push(Untrusted::ControlMissing);
    }
    // Where nothing is trusted, it is not for one kind of work.
    let unproven = if untrusted.is_empty() { unproven.into_iter().cloned().collect() } else { Vec::new() };
    Controls { untrusted, unproven }
}

fn speed(record: &DurabilityRecord, lane: &str, first: &str) -> Option<SpeedFinding> {
    let rate = |lane: &str, workload: &str| {
        let of = record.speeds.iter().find(|speed| speed.lane == lane && speed.workload == workload)?;
        median(&of.records_per_second)
    };
    let kinds = record.speeds.iter().filter(|speed| speed.lane == lane).map(|speed| speed.workload.as_str());
    let ratios: Vec<f64> = kinds.filter_map(|kind| Some(rate(lane, kind)? / rate(first, kind)?)).collect();
    if lane == first || ratios.is_empty() || ratios.iter().any(|ratio| !ratio.is_finite() || *ratio <= 0.0) {
        return None;
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    Some(SpeedFinding {
        ratio: mean.exp(),
        low: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        high: ratios.iter().copied().fold(0.0, f64::max),
    })
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        _ => Some(sorted[middle]),
    }
}

fn of_damage(damage: &Damage) -> DamageFindings {
    let refused = damage.refused > 0 || !damage.unmountable.is_empty();
    // A file that was hit inside of its bytes and was read whole came from the device that was not damaged.
    let other_copy = damage.devices > 1 && damage.repaired > 0;
    let honesty = match damage {
        damage if damage.silent > 0 => Honesty::Silent,
        _ if refused => Honesty::Refused,
        damage if damage.corrected > 0 => Honesty::Repaired,
        damage if !damage.noticed && (damage.blocks == 0 || damage.read == Some(0)) => Honesty::Untested,
        // Whoever read none of the damaged blocks has repaired nothing.
        _ if other_copy => Honesty::Repaired,
        _ => Honesty::Unharmed,
    };
    DamageFindings { honesty, damage: damage.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::durability::{DurabilityHeader, DurabilityLane, Example, Speed};
    use model::lane::Promises;

    fn record(lanes: &[&str]) -> DurabilityRecord {
        let lane = |name: &&str| DurabilityLane {
            name: (*name).to_owned(),
            spec: (*name).to_owned(),
            filesystem: "ext4".to_owned(),
            mkfs_command: Vec::new(),
            mount_options: Vec::new(),
            promises: Promises {
                journal: true,
                data_checksums: false,
                fsync_reaches_stable_storage: true,
                barriers: true,
                outlives_cache: true,
            },
        };
        DurabilityRecord::begin(DurabilityHeader {
            schema: SCHEMA,
            version: String::new(),
            command: "powercut".to_owned(),
            started: String::new(),
            seed: 1,
            again: Vec::new(),
            machine: model::machine::Machine::default(),
            lane_bytes: 0,
            lanes: lanes.iter().map(lane).collect(),
            controls: vec!["safe".to_owned(), "unsafe".to_owned()],
        })
    }

    fn cuts(lane: &str, promised: bool, cuts: u64, broken: u64) -> Cuts {
        let example = Example { said: "gone".to_owned(), ..Example::default() };
        let examples = if broken > 0 { vec![example; 5] } else { Vec::new() };
        Cuts { lane: lane.to_owned(), promised, cuts, broken, lost: broken, examples, ..Cuts::default() }
    }

    #[test]
    fn none_of_many_is_below_three_over_their_number() {
        assert_eq!(below(0), None);
        for cuts in [1, 60, 2000] {
            let bound = below(cuts).unwrap();
            assert!(bound <= 3.0 / cuts as f64 && bound > 0.9 / cuts as f64, "{cuts}: {bound}");
            // What the bound means: with that rate, none in so many happens once in twenty.
            assert!(((1.0 - bound).powf(cuts as f64) - 0.05).abs() < 1e-9);
        }
    }

    #[test]
    fn only_what_was_promised_breaks_a_promise() {
        let mut record = record(&["safe", "unsafe"]);
        record.cuts = vec![cuts("safe", true, 100, 0), cuts("safe", false, 50, 20), cuts("unsafe", true, 100, 30)];
        let found = findings(&record);
        let safe = &found.lanes[0];
        assert_eq!((safe.verdict, safe.broken, safe.bare_missing), (DurabilityVerdict::Kept, 0, 20));
        assert!(safe.below.is_some() && safe.examples.is_empty());
        let unsafe_one = &found.lanes[1];
        assert_eq!(
            (unsafe_one.verdict, unsafe_one.below, unsafe_one.examples.len()),
            (DurabilityVerdict::Broke, None, 3)
        );
        assert!(found.untrusted.is_empty());
    }

    #[test]
    fn controls_that_do_not_do_what_they_must_are_not_trusted() {
        let judged = |safe, unsafe_one| {
            let mut record = record(&["safe", "unsafe"]);
            record.cuts = vec![cuts("safe", true, 9, safe), cuts("unsafe", true, 9, unsafe_one)];
            findings(&record).untrusted
        };
        assert_eq!(judged(1, 1), [Untrusted::SafeControlLost]);
        assert_eq!(judged(0, 0), [Untrusted::UnsafeControlKept]);
        assert_eq!(judged(0, 1), []);
        let mut record_of_three = record(&["safe", "unsafe", "third"]);
        let of = |lane| cuts(lane, true, 9, 0);
        record_of_three.cuts = vec![of("safe"), of("unsafe"), of("third")];
        let found = findings(&record_of_three);
        let verdicts: Vec<_> = found.lanes.iter().map(|lane| (lane.verdict, lane.below.is_some())).collect();
        let kept = (DurabilityVerdict::Kept, true);
        assert_eq!(verdicts, [kept, kept, (DurabilityVerdict::Unknown, false)], "nothing is said of the third");
        assert_eq!(findings(&record(&["safe", "unsafe"])).untrusted, [Untrusted::ControlMissing]);
    }

    #[test]
    fn the_controls_prove_each_kind_of_work_by_itself() {
        let of = |lane: &str, workload: &str, broken| Cuts {
            workload: workload.to_owned(),
            open: Some(6),
            images: Some(5),
            ..cuts(lane, true, 9, broken)
        };
        let mut record = record(&["safe", "unsafe", "third"]);
        for lane in ["safe", "unsafe", "third"] {
            record.cuts.extend([of(lane, "append", u64::from(lane == "unsafe")), of(lane, "replace", 0)]);
        }
        let found = findings(&record);
        assert_eq!((found.untrusted.len(), &found.unproven[..]), (0, &["replace".to_owned()][..]));
        let third = &found.lanes[2];
        assert_eq!((third.verdict, third.cuts, third.proven_cuts), (DurabilityVerdict::Kept, 18, 9));
        // By the images that differ, and none of the kind that no control proves.
        assert_eq!((third.open, third.images, third.below), (Some(6), Some(5), below(5)));
        // A lane that was cut at that kind alone kept nothing that anybody would have seen lost.
        record.cuts.retain(|cuts| cuts.lane != "third" || cuts.workload == "replace");
        assert_eq!(findings(&record).lanes[2].verdict, DurabilityVerdict::Unknown);
        // What it broke there, it broke.
        record.cuts.push(of("third", "replace", 2));
        assert_eq!(findings(&record).lanes[2].verdict, DurabilityVerdict::Broke);
        // Images that do not mount of work that promises no names prove nothing of promised work.
        record.cuts.retain(|cuts| cuts.lane != "unsafe");
        record.cuts.extend([of("unsafe", "append", 0), of("unsafe", "replace", 0)]);
        record.cuts.push(Cuts { unmountable: 4, ..cuts("unsafe", false, 9, 4) });
        assert_eq!(findings(&record).untrusted, [Untrusted::UnsafeControlKept]);
    }

    #[test]
    fn a_lane_that_was_given_up_kept_nothing_and_the_others_are_judged() {
        let mut record = record(&["safe", "unsafe", "third"]);
        record.cuts = vec![cuts("safe", true, 9, 0), cuts("unsafe", true, 9, 4), cuts("third", true, 9, 0)];
        let failed = |at: &str| model::durability::Failed {
            lane: "third".to_owned(),
            at: at.to_owned(),
            reason: "no room".to_owned(),
        };
        record.failed = vec![failed("replace")];
        let found = findings(&record);
        assert!(found.untrusted.is_empty());
        assert_eq!((found.lanes[2].verdict, found.lanes[2].below), (DurabilityVerdict::Unknown, None));
        assert_eq!(found.lanes[2].failed, Some(failed("replace")));
        record.failed = vec![failed(SPEED)];
        assert_eq!(findings(&record).lanes[2].verdict, DurabilityVerdict::Kept);
    }

    #[test]
    fn advice_hears_of_a_broken_lane_only_from_a_trusted_run() {
        let told = |safe| {
            let mut record = record(&["safe", "unsafe"]);
            record.cuts = vec![cuts("safe", true, 9, safe), cuts("unsafe", true, 9, 4)];
            broken(&record)
        };
        let one = told(0);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].promise, Promise::Durable { broken: 4, cuts: 9, only_torn_512: false });
        assert!(told(1).is_empty());
    }

    #[test]
    fn advice_and_races_count_what_the_report_counts_and_tell_apart_what_nothing_promises() {
        let mut record = record(&["safe", "unsafe"]);
        let names = cuts("unsafe", false, 60, 31);
        record.cuts =
            vec![cuts("safe", true, 300, 0), cuts("unsafe", true, 300, 248), Cuts { unmountable: 1, ..names }];
        let report = findings(&record);
        let unsafe_one = &report.lanes[1];
        assert_eq!((unsafe_one.broken, unsafe_one.cuts), (248, 300));
        let told: Vec<Promise> = broken(&record).into_iter().map(|of| of.promise).collect();
        let durable = Promise::Durable { broken: 248, cuts: 300, only_torn_512: false };
        assert_eq!(told, [durable, Promise::Mounts { unmountable: 1, cuts: 60 }]);
    }

    #[test]
    fn a_filesystem_that_does_not_mount_broke_a_promise_whatever_was_synced() {
        let mut record = record(&["safe", "unsafe"]);
        let lost_names = cuts("safe", false, 50, 20);
        record.cuts = vec![cuts("safe", true, 100, 0), Cuts { unmountable: 2, ..lost_names }];
        let found = findings(&record);
        let safe = &found.lanes[0];
        assert_eq!((safe.verdict, safe.broken, safe.unmountable), (DurabilityVerdict::Broke, 0, 0));
        assert_eq!((safe.bare_unmountable, safe.below, safe.examples.len()), (2, None, 1));
        assert!(found.untrusted.contains(&Untrusted::SafeControlLost));
    }

    #[test]
    fn images_an_hour_and_memory_are_of_all_work() {
        let mut record = record(&["safe"]);
        let of = |seconds, bytes| Cuts { replay_seconds: seconds, memory_bytes: bytes, ..cuts("safe", true, 100, 0) };
        record.cuts = vec![of(9.0, 5), Cuts { promised: false, ..of(11.0, 7) }];
        let found = findings(&record);
        assert_eq!(found.lanes[0].images_per_hour.map(f64::round), Some(36_000.0));
        assert_eq!(found.lanes[0].memory_bytes, 7);
        record.cuts.clear();
        assert_eq!(findings(&record).lanes[0].images_per_hour, None);
    }

    #[test]
    fn wrong_bytes_break_a_promise_only_where_checksums_were_promised() {
        let told = |checksums, silent, of: &str| {
            let mut record = record(&["a"]);
            record.header.command = "integrity".to_owned();
            record.header.controls.clear();
            record.header.lanes[0].promises.data_checksums = checksums;
            record.damage = vec![Damage { lane: "a".to_owned(), of: of.to_owned(), silent, ..Damage::default() }];
            broken(&record).into_iter().map(|broken| broken.promise).collect::<Vec<_>>()
        };
        assert_eq!(told(true, 3, "data"), [Promise::Checksums { files: 3 }]);
        assert_eq!(told(false, 3, "data"), []);
        assert_eq!(told(true, 0, "data"), []);
        assert_eq!(told(true, 3, "metadata"), []);
    }

    #[test]
    fn speed_is_beside_the_first_lane() {
        let mut record = record(&["safe", "unsafe"]);
        let speed = |lane: &str, workload: &str, rates: &[f64]| Speed {
            lane: lane.to_owned(),
            workload: workload.to_owned(),
            records_per_second: rates.to_vec(),
        };
        record.speeds = vec![
            speed("safe", "a", &[10.0, 1000.0, 20.0]),
            speed("safe", "b", &[5.0]),
            speed("unsafe", "a", &[80.0]),
            speed("unsafe", "b", &[5.0]),
        ];
        let found = findings(&record);
        assert_eq!(found.lanes[0].speed, None);
        let beside = found.lanes[1].speed.unwrap();
        assert!((beside.ratio - 2.0).abs() < 1e-12 && (beside.low, beside.high) == (1.0, 4.0), "{beside:?}");
    }

    #[test]
    fn wrong_bytes_without_an_error_are_the_worst_and_another_copy_must_be_seen() {
        let of = |damage: Damage| of_damage(&Damage { blocks: 9, ..damage }).honesty;
        let files =
            |silent, refused, repaired, devices| Damage { silent, refused, repaired, devices, ..Damage::default() };
        assert_eq!(of(files(1, 5, 5, 2)), Honesty::Silent);
        assert_eq!(of(files(0, 1, 5, 2)), Honesty::Refused);
        assert_eq!(of(files(0, 0, 5, 2)), Honesty::Repaired);
        // On one device without a word of a correction, nobody repaired anything.
        assert_eq!(of(files(0, 0, 5, 1)), Honesty::Unharmed);
        assert_eq!(of(Damage { corrected: 3, ..files(0, 0, 5, 1) }), Honesty::Repaired);
        assert_eq!(of(files(0, 0, 0, 1)), Honesty::Unharmed);
        // What nobody read and nobody noticed says nothing.
        let unread = || Damage { read: Some(0), ..files(0, 0, 0, 1) };
        assert_eq!(of(unread()), Honesty::Untested);
        assert_eq!(of(Damage { noticed: true, ..unread() }), Honesty::Unharmed);
        assert_eq!(of(Damage { read: Some(1), ..unread() }), Honesty::Unharmed);
        assert_eq!(of_damage(&Damage::default()).honesty, Honesty::Untested);
    }
}
