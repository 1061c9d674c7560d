//! Any workload of operations leaves what its steps leave.

use super::*;
use proptest::prelude::*;

const ALL: [Operation; 25] = [
    Operation::Create,
    Operation::Write,
    Operation::Read,
    Operation::Append,
    Operation::Overwrite,
    Operation::RandomRead,
    Operation::RandomWrite,
    Operation::Stat,
    Operation::List,
    Operation::Open,
    Operation::Rename,
    Operation::RenameAcross,
    Operation::Link,
    Operation::Symlink,
    Operation::Truncate,
    Operation::Fallocate,
    Operation::Reflink,
    Operation::Setxattr,
    Operation::Getxattr,
    Operation::Fsync,
    Operation::FsyncDirectory,
    Operation::Unlink,
    Operation::Mkdir,
    Operation::Rmdir,
    Operation::RemoveTree,
];

prop_compose! {
    fn a_set(name: &'static str)(
        count in 0_u64..30, directories in 1_u64..6, fan_out in 0_u64..3, shared in any::<bool>(),
        populate in any::<bool>(), hostile in any::<bool>(), from in 0_u64..20_000, more in 0_u64..9000,
    ) -> String {
        let folder = if shared { ", folder = \"s\"" } else { "" };
        let names = if hostile { "hostile" } else { "plain" };
        format!(
            "{{ name = \"{name}\", count = {count}, directories = {directories}, fan_out = {fan_out}{folder}, \
             populate = {populate}, names = \"{names}\", size = {{ from = \"{from}\", to = \"{}\" }} }}",
            from + more
        )
    }
}

/// Operation, set, first, count, block, and whether each is synced.
type Asked = (Operation, &'static str, u64, Option<u64>, u64, bool);

prop_compose! {
    fn a_step()(
        operation in prop::sample::select(ALL.to_vec()), set in prop::sample::select(vec!["a", "b"]),
        first in 0_u64..12, count in prop::option::of(1_u64..25), block in 1_u64..9000, each in any::<bool>(),
    ) -> Asked {
        // Most steps work on everything: otherwise few orders are possible.
        let (first, count) = if block % 3 == 0 { (first, count) } else { (0, None) };
        (operation, set, first, count, block, each)
    }
}

fn text(sets: &[String], steps: &[Asked], threads: u32) -> String {
    let steps = steps.iter().enumerate().map(|(index, (operation, set, first, count, block, each))| {
        let name = operation.name();
        let random = matches!(operation, Operation::RandomRead | Operation::RandomWrite);
        let count = count.or(random.then_some(13)).map_or(String::new(), |count| format!(", count = {count}"));
        let syncs = operation.changes() && *operation != Operation::RemoveTree;
        let sync = if *each && syncs { ", sync = \"each\"" } else { "" };
        format!("{{ name = \"s{index}\", operation = \"{name}\", files = \"{set}\", first = {first}{count}, block = \"{block}\"{sync} }}")
    });
    let steps: Vec<String> = steps.collect();
    format!("threads = {threads}\nfiles = [{}]\nstep = [{}]\n", sets.join(", "), steps.join(", "))
}

/// The steps that are possible where they stand; the others are left out.
fn possible(sets: &[String], steps: &[Asked], threads: u32) -> Option<Workload> {
    let mut taken: Vec<_> = Vec::new();
    let mut last = None;
    for step in steps {
        // tmpfs shares no blocks.
        if step.0 == Operation::Reflink {
            continue;
        }
        taken.push(*step);
        let workload = workload(&text(sets, &taken, threads));
        match workload.check() {
            Ok(()) => last = Some(workload),
            Err(sentence) => {
                assert!(sentence.starts_with("workload t: ") && sentence.len() > 30, "{sentence}");
                taken.pop();
            }
        }
    }
    last
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_check_accepts_runs_through_and_verifies(
        sets in (a_set("a"), a_set("b")), steps in prop::collection::vec(a_step(), 1..25), threads in 1_u32..4,
        of in 1_u32..4,
    ) {
        if let Some(workload) = possible(&[sets.0, sets.1], &steps, threads) {
            let folder = in_memory();
            let place = directory(folder.path());
            run_through(&place, &workload, of);
            // What can be done can be rehearsed: a rehearsal that failed would refuse a sound lane.
            let small = operations(&workload).rehearsal().operations;
            let small = Workload { kind: Kind::Operations(Box::new(small)), ..workload };
            prop_assert_eq!(small.check(), Ok(()));
            run_through(&place, &small, 1);
        }
    }
}
