//! A record that was shared comes to the same findings, and two of one machine are not taken for it.

use crate::boots;
use crate::common;

use boots::{boots, judged};
use common::{io, lane, record, run};
use model::aged::AgedLane;
use model::flag::Flag;
use model::lane::Lane;
use model::plan::{Ground, Rounds};
use model::record::{Line, Record};
use model::share::{Private, ShareError, Sharing, Sort};
use model::trial::Outcome;
use model::workload::Pattern;
use serde_json::Value;
use stats::compare::compare;
use stats::judge;

/// The record as a file has it.
fn text_of(record: &Record) -> String {
    let header = [Line::Header(Box::new(record.header.clone()))];
    let probes = record.probes.iter().map(|probe| Line::Probe(Box::new(probe.clone())));
    let trials = record.trials.iter().map(|trial| Line::Trial(Box::new(trial.clone())));
    let notes = record.warnings.iter().map(|said| Line::Note { said: said.clone() });
    let end = record.end.map(|outcome| Line::End {
        finished: "2026-11-20T10:10:00Z".into(),
        outcome,
        reason: None,
        rounds_done: false,
    });
    let lines = header.into_iter().chain(probes).chain(trials).chain(notes).chain(end);
    lines.map(|line| line.to_json().unwrap() + "\n").collect()
}

fn shared(record: &Record) -> Record {
    let private =
        [(Sort::User, "alice"), (Sort::Host, "box17")].map(|(sort, text)| Private { sort, text: text.into() });
    let text = text_of(record);
    let mut sharing = Sharing::begin(&text, &private).unwrap();
    let mut written = String::new();
    let take = |line: &str| -> Result<(), ShareError> {
        written.push_str(line);
        written.push('\n');
        Ok(())
    };
    sharing.each_line(take).unwrap();
    for word in ["alice", "box17", "/mnt", "/home"] {
        assert!(!written.contains(word), "{word} is left in {written}");
    }
    Record::parse(&written).unwrap()
}

/// The same figures, words and order; what was private is another text.
fn assert_alike(one: &Value, other: &Value, at: &str) {
    let is_private = |text: &str| ["alice", "/mnt", "box17", "/dev/"].iter().any(|word| text.contains(word));
    let same = |one: &str, other: &str| {
        // A ground is a place, whatever it is called; a machine without a number has one of its own then.
        assert!(
            one == other || is_private(one) || [".ground", ".machine_id_hash"].iter().any(|of| at.ends_with(of)),
            "{at}: {one:?} and {other:?}"
        );
    };
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let [one, other] = [one, other].map(|number| number.as_f64().unwrap());
            // JSON is read to the last digit but one.
            assert!((one - other).abs() <= 1e-9 * one.abs().max(other.abs()), "{at}: {one} and {other}");
        }
        (Value::String(one), Value::String(other)) => same(one, other),
        (Value::Array(ones), Value::Array(others)) => {
            assert_eq!(ones.len(), others.len(), "{at}");
            ones.iter()
                .zip(others)
                .enumerate()
                .for_each(|(n, (one, other))| assert_alike(one, other, &format!("{at}[{n}]")));
        }
        (Value::Object(ones), Value::Object(others)) => {
            assert_eq!(ones.len(), others.len(), "{at}");
            for ((key, one), (other_key, other)) in ones.iter().zip(others) {
                same(key, other_key);
                assert_alike(one, other, &format!("{at}.{key}"));
            }
        }
        _ => assert_eq!(one, other, "{at}"),
    }
}

fn race(lanes: Vec<Lane>, rates: &[f64]) -> Record {
    let workloads = vec![io("w", Pattern::RandWrite, 1, 0), io("r", Pattern::RandRead, 8, 0)];
    let mut race = record(lanes, workloads, Rounds::Auto, true);
    run(&mut race, 8, rates, 0.02, 7);
    race
}

/// A directory of alice's on a disk.
fn directory(path: &str, backing: &str) -> Lane {
    let mut of = lane("ext4");
    (of.name, of.spec, of.ground) = (path.into(), path.into(), path.into());
    (of.venue, of.backing, of.mkfs_command) = ("directory".into(), backing.into(), Vec::new());
    of
}

fn on(venue: &str, ground: &str, name: &str) -> Lane {
    Lane { venue: venue.into(), ground: ground.into(), ..lane(name) }
}

fn aged(states: &str) -> Lane {
    let name = format!("ext4{states}");
    let facts = (!states.is_empty()).then(|| AgedLane { states: states.to_owned(), ..AgedLane::default() });
    Lane { name: name.clone(), spec: name, aged: facts, ..lane("ext4") }
}

#[test]
fn a_shared_record_comes_to_the_same_findings() {
    let mut own = lane("myfs");
    (own.name, own.spec) = ("my,fast".into(), "/home/alice/fs/my.toml,fast".into());
    let mut labelled = lane("ext4");
    labelled.mkfs_command = ["mkfs.ext4", "-L", "alices", "{device}"].map(str::to_owned).to_vec();
    (labelled.name, labelled.spec) = ("ext4(-L alices)".into(), "ext4(-L alices)".into());
    let mut qemu = on("qemu", "images in /mnt/alice", "xfs");
    (qemu.kernel, qemu.geometry) = ("6.1".into(), vec!["guest: QEMU with Linux 6.1, 2 CPUs, 512MiB, KVM".into()]);
    let mut newer = qemu.clone();
    (newer.name, newer.spec, newer.kernel) = ("new".into(), "new=xfs@qemu:/home/alice/vmlinuz".into(), "6.12".into());
    newer.geometry = vec!["guest: QEMU with Linux 6.12, 2 CPUs, 512MiB, KVM".into()];
    for lanes in [
        vec![lane("ext4"), lane("xfs")],
        vec![directory("/mnt/alice/a", "nvme0n1"), directory("/mnt/alice/b", "nvme0n1")],
        vec![directory("/mnt/alice/a", "alices-lv"), directory("/mnt/alice/b", "sdb")],
        vec![on("device", "/dev/sdb2", "ext4"), on("device", "/dev/sdb2", "xfs")],
        vec![on("image", "images in /mnt/alice", "ext4"), on("image", "images in /mnt/other", "xfs")],
        vec![aged(""), lane("xfs"), aged("+aged")],
        vec![qemu, newer],
        vec![own, lane("xfs")],
        vec![labelled, lane("xfs")],
    ] {
        let mut race = race(lanes, &[1000.0, 800.0, 600.0]);
        race.header.plan.on = Ground::Images("/mnt/alice".into());
        race.header.warnings = vec!["images lie in /mnt/alice on box17".into()];
        race.warnings = vec!["alice's editor was busy".into()];
        if let Some(trial) = race.trials.last_mut() {
            (trial.outcome, trial.reason) = (Outcome::Failed, Some("cannot open /mnt/alice/x: No such file".into()));
        }
        race.trials[0].flags = vec![Flag::from("foreign-noise: alice took 9 % of the CPU time")];
        let again = shared(&race);
        let [one, other] = [&race, &again].map(|race| serde_json::to_value(judge::findings(race)).unwrap());
        assert_alike(&one, &other, "");
    }
}

#[test]
fn two_shared_records_of_one_machine_may_be_of_two() {
    let mut before = race(vec![lane("ext4"), lane("xfs")], &[1000.0, 800.0]);
    before.header.machine.machine_id_hash = "0123456789abcdef".into();
    let mut after = before.clone();
    after.header.started = "2026-11-20T11:00:00Z".into();
    let said = |a: &Record, b: &Record| compare(a, b, "then", "now").warnings.join("; ");
    assert!(!said(&before, &after).contains("one machine"), "{}", said(&before, &after));
    let [before, after] = [before, after].map(|record| shared(&record));
    let told = said(&before, &after);
    assert!(told.contains("whether both ran on one machine is not known") && !told.contains("shared-"), "{told}");
}

#[test]
fn the_gate_of_shared_records_says_what_it_does_not_know() {
    let sides = boots(6, [0.8, 1.0]);
    let of = judged(&sides);
    let shared = judged(&sides.map(|side| side.iter().map(shared).collect()));
    assert_eq!(shared.outcome, of.outcome);
    for (one, other) in of.rows.iter().zip(&shared.rows) {
        assert_eq!((&one.lane, one.verdict), (&other.lane, other.verdict));
    }
    let said = shared.warnings.join("; ");
    assert!(said.contains("on which machines the records were raced is not known"), "{said}");
    assert!(said.contains("do not say of which boot they are") && !said.contains("shared-"), "{said}");
    assert!(of.warnings.iter().all(|said| !said.contains("shared")), "{:?}", of.warnings);
}
