//! A gate over two configurations of one database.

use crate::boots;

use boots::{boots, judge};
use model::lane::ServerAnswers;
use model::oltp::Oltp;
use model::record::Record;
use model::workload::{Kind, Workload};

/// The record as if its work were a database with these settings.
fn told(record: &mut Record, settings: &str) {
    let text = format!("script = \"insert\"\nthreads = [1]\ncold = false\n{settings}");
    let oltp: Oltp = toml::from_str(&text).expect("a database");
    let workload = Workload { name: "db".into(), title: "inserts".into(), kind: Kind::Oltp(Box::new(oltp)) };
    let [group] = &workload.groups()[..] else { panic!("one group") };
    for trial in &mut record.trials {
        trial.workload = workload.name.clone();
        trial.groups.iter_mut().for_each(|of| of.name.clone_from(group));
    }
    record.header.plan.workloads = vec![workload];
}

/// Five boots of each side; the candidate's ext4 does `factor` of the baseline's work.
fn sides(before: &str, after: &str, factor: f64) -> [Vec<Record>; 2] {
    let mut sides = boots(5, [factor, 1.0]);
    for (side, settings) in sides.iter_mut().zip([before, after]) {
        side.iter_mut().for_each(|record| told(record, settings));
    }
    sides
}

#[test]
fn settings_of_a_database_are_what_is_compared() {
    let of = judge(&sides("", "pool = \"32MiB\"\noptions = { cache_spill = \"OFF\" }", 0.7), None).unwrap();
    let change = "settings of the database of db: pool=16MiB -> pool=32MiB, cache_spill=OFF";
    assert!(of.changes.iter().any(|said| said == change), "{:?}", of.changes);
    assert_eq!((of.rows.len(), of.counts.slower), (2, 1), "{:?}", of.rows);
    let same = judge(&sides("", "", 1.0), None).unwrap();
    assert!(!same.changes.iter().any(|said| said.contains("database")), "{:?}", same.changes);
}

#[test]
fn settings_of_the_kernel_are_what_is_compared_where_both_sides_tell_them() {
    let set = |swappiness: [Option<u32>; 2]| {
        let mut sides = sides("", "", 1.0);
        for (side, swappiness) in sides.iter_mut().zip(swappiness) {
            side.iter_mut().for_each(|record| record.header.machine.swappiness = swappiness);
        }
        let changes = judge(&sides, None).unwrap().changes;
        changes.into_iter().filter(|said| said.starts_with("vm.")).collect::<Vec<_>>()
    };
    assert_eq!(set([Some(60), Some(10)]), ["vm.swappiness: 60 -> 10"]);
    for alike in [[Some(60); 2], [None, Some(60)], [None; 2]] {
        assert_eq!(set(alike), Vec::<String>::new(), "{alike:?}");
    }
}

#[test]
fn other_work_and_other_promises_are_refused() {
    for after in ["options = { synchronous = \"OFF\" }", "table_size = 1000", "server = \"mariadb\""] {
        let refused = judge(&sides("", after, 1.0), None).unwrap_err();
        assert!(refused.contains("workload db differs"), "{after}: {refused}");
    }
    let mut mixed = sides("", "options = { cache_spill = \"OFF\" }", 1.0);
    told(&mut mixed[1][3], "");
    let refused = judge(&mixed, None).unwrap_err();
    assert!(refused.contains("the candidate sets the database of db in two ways"), "{refused}");
    let mut served = sides("", "", 1.0);
    for lane in served[1].iter_mut().flat_map(|record| &mut record.header.lanes) {
        lane.server_answers = Some(ServerAnswers::Async);
    }
    let refused = judge(&served, None).unwrap_err();
    assert!(refused.contains("race both sides with the same server="), "{refused}");
}
