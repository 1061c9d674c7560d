//! Advice beside databases that may lose what they acknowledged.

use crate::asking;
use crate::common;

use asking::{asked, judged};
use common::{lane, noise, record, trial};
use model::plan::Rounds;
use model::record::Record;
use model::scenario::Scenario;
use model::workload::{Suite, Workload};
use stats::advice::{Race, combinable};

fn scenario(durable: bool) -> Scenario {
    let need = "[[need]]\nneed = \"durable\"\nwhy = \"it is so\"\nsource = \"a book\"\n";
    let text = format!(
        "name = \"x\"\ntitle = \"X\"\nabout = \"a test\"\n{}[[weight]]\nwhat = \"commits\"\nshare = 1.0\n\
         why = \"it is so\"\nseries = [\"quick/db/*\"]\n",
        if durable { need } else { "" }
    );
    Scenario::from_toml(&text).unwrap()
}

fn workload(more: &str) -> Workload {
    let text = format!(
        "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"db\"\ntitle = \"db\"\nkind = \"oltp\"\n\
         script = \"insert\"\nthreads = [4]\ncold = false\n{more}"
    );
    Suite::from_toml(&text).unwrap().workload.remove(0)
}

fn race(more: &str) -> Record {
    let workload = workload(more);
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    let mut noise = noise(7);
    for round in 1..=20 {
        for (name, rate) in [("ext4", 1000.0), ("xfs", 1500.0)] {
            race.trials.push(trial(name, &workload, round, rate * (0.005 * noise.next()).exp()));
        }
    }
    race
}

#[test]
fn what_may_be_lost_is_not_measured_where_writes_must_survive() {
    let (safe, fast) = (race(""), race("options = { synchronous = \"OFF\" }"));
    assert_eq!(asked(&safe, &scenario(true), &[]).measured_share, 1.0);
    let advice = asked(&fast, &scenario(true), &[]);
    assert_eq!((advice.measured_share, advice.lane), (0.0, None));
    // As a server says it of itself, where nobody else told it.
    let mut stated = race("");
    let group = &mut stated.trials[0].groups[0];
    group.settings.insert("synchronous".to_owned(), "NORMAL".to_owned());
    assert_eq!(asked(&stated, &scenario(true), &[]).measured_share, 0.0);
    // Where nobody asks for that, it counts.
    assert_eq!(asked(&fast, &scenario(false), &[]).measured_share, 1.0);
}

#[test]
fn races_of_other_tables_are_not_taken_together() {
    let mut other = race("table_size = 5000");
    other.header.started = "another day".to_owned();
    let one = race("");
    let (of_one, of_other) = (judged(&one), judged(&other));
    let races = [Race { record: &one, findings: &of_one }, Race { record: &other, findings: &of_other }];
    let why = combinable(&races).unwrap_err();
    assert!(why.contains("record 2 raced db with other tables or settings"), "{why}");
    let mut same = race("");
    same.header.started = "another day".to_owned();
    assert_eq!(combinable(&[races[0], Race { record: &same, findings: &of_one }]), Ok(()));
}
