//! What limited databases, large files and real programs: others work there beside the filesystem.

use crate::common;

use common::{lane, probe, record, run};
use model::findings::Limit;
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::Trial;
use model::workload::{Suite, Workload};
use stats::limit::limit_of;

fn workload(text: &str) -> Workload {
    let suite = format!("name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\n{text}");
    Suite::from_toml(&suite).unwrap().workload.remove(0)
}

fn race(workload: &Workload, rates: [f64; 2], probes: &[(Profile, f64)], change: impl Fn(&mut Trial)) -> Record {
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    run(&mut race, 6, &rates, 0.0, 1);
    race.trials.iter_mut().for_each(change);
    for &(profile, rate) in probes {
        race.probes.push(probe(&workload.name, profile, 1, rate));
    }
    race
}

fn limit(race: &Record, group: &str) -> (Limit, String) {
    let of = limit_of(race, &race.header.plan.workloads[0], group);
    (of.limit, of.reason.into())
}

fn transactions(script: &str) -> Workload {
    workload(&format!("kind = \"oltp\"\nscript = \"{script}\"\nthreads = [2]\ncold = false"))
}

const GROUP: &str = "sqlite 2 threads";

#[test]
fn a_busy_client_of_a_database_is_no_harness_and_full_cpus_are_not_laid_to_the_filesystem() {
    let race = race(&transactions("update-index"), [1000.0, 1000.0], &[], |trial| {
        trial.system.agent_cpu_user_seconds = 0.5 * trial.system.window_seconds;
        trial.system.cpu_user_seconds = 0.97 * trial.system.window_seconds * f64::from(trial.system.cpus);
        trial.system.cpu_system_seconds = 0.0;
        trial.system.device.flush_seconds = 0.0;
    });
    let (what, why) = limit(&race, GROUP);
    assert_eq!(what, Limit::Cpu, "{why}");
    assert!(why.contains("97 %"), "{why}");
}

#[test]
fn transactions_that_wait_for_flushes_are_limited_by_them() {
    let race = race(&transactions("insert"), [1000.0, 1000.0], &[], |trial| {
        trial.system.device.flush_seconds = 0.7 * trial.system.window_seconds;
        trial.system.device.flushes = 500;
    });
    assert_eq!(limit(&race, GROUP).0, Limit::Flush);
}

#[test]
fn selects_that_no_page_was_read_for_are_the_caches_and_writes_are_not() {
    let shape = |trial: &mut Trial| {
        trial.groups[0].bytes = trial.groups[0].operations * 4096;
        trial.system.device.read_bytes = trial.groups[0].bytes / 100;
    };
    assert_eq!(limit(&race(&transactions("point-select"), [1000.0, 1000.0], &[], shape), GROUP).0, Limit::Cache);
    assert_ne!(limit(&race(&transactions("insert"), [1000.0, 1000.0], &[], shape), GROUP).0, Limit::Cache);
}

#[test]
fn each_way_of_a_large_file_is_held_against_its_own_ceiling() {
    let streams = workload("kind = \"streams\"\nsize = \"1GiB\"");
    let probes = [(Profile::SeqRead, 1010.0), (Profile::SeqWrite, 5000.0)];
    // Moved as fast as the bare disk reads; the same rate is a fifth of what it writes.
    let writing = race(&streams, [1000.0, 1000.0], &probes, |_| {});
    assert_ne!(limit(&writing, "write").0, Limit::Device);
    let reading = race(&streams, [1000.0, 1000.0], &probes, |trial| {
        let device = &mut trial.system.device;
        (device.reads, device.read_bytes) = (device.writes, device.write_bytes);
        (device.writes, device.write_bytes) = (0, 0);
    });
    assert_eq!(limit(&reading, "read").0, Limit::Device);
    assert_ne!(limit(&reading, "read+write").0, Limit::Device, "no profile is alike");
}

/// A race of one workload; of the bytes of this group a share came from the device.
fn reading(workload: &Workload, group: &str, share: f64) -> Record {
    race(workload, [10.0, 10.0], &[], |trial| {
        trial.groups.iter_mut().find(|of| of.name == group).unwrap().bytes = 1 << 20;
        trial.system.device.read_bytes = (share * f64::from(1 << 20)) as u64;
    })
}

#[test]
fn a_step_that_reads_from_memory_is_told_from_one_that_reads_from_the_disk() {
    let step = |reads: &str| {
        workload(&format!("kind = \"programs\"\nstep = [{{ name = \"sum\", program = [\"md5sum\", \"a\"]{reads} }}]"))
    };
    let told = step(", reads = [\"a\"]");
    assert_eq!(limit(&reading(&told, "sum", 0.01), "sum").0, Limit::Cache);
    assert_ne!(limit(&reading(&told, "sum", 1.0), "sum").0, Limit::Cache);
    // Of a step that does not say what it reads nothing is known.
    assert_ne!(limit(&reading(&step(""), "sum", 0.01), "sum").0, Limit::Cache);
}

#[test]
fn pages_that_memory_serves_are_the_caches_and_mail_that_waits_for_flushes_is_limited_by_them() {
    let mix = |operation: &str| {
        workload(&format!(
            "kind = \"mix\"\nthreads = 2\nfiles = [{{ name = \"f\", count = 10 }}]\n\
             step = [{{ name = \"x\", files = \"f\", operation = {operation} }}]"
        ))
    };
    let serves = mix("\"read\"");
    assert_eq!(limit(&reading(&serves, "x", 0.01), "x").0, Limit::Cache);
    assert_ne!(limit(&reading(&serves, "x", 1.0), "x").0, Limit::Cache);
    let delivers = mix("\"append\", append = \"1KiB\", sync = true");
    let waits = race(&delivers, [1000.0, 1000.0], &[], |trial| {
        trial.system.device.flush_seconds = 0.7 * trial.system.window_seconds;
        trial.system.device.flushes = 500;
    });
    assert_eq!(limit(&waits, "x").0, Limit::Flush);
    // Nine of ten operations read: the rate of all is as much the cache's.
    let web = |times: u32| {
        let of = workload(&format!(
            "kind = \"mix\"\nthreads = 2\nfiles = [{{ name = \"f\", count = 10 }}, {{ name = \"log\", count = 1 }}]\n\
             step = [{{ name = \"serve\", files = \"f\", operation = \"read\", times = {times} }}, \
             {{ name = \"log\", files = \"log\", operation = \"append\", append = \"1KiB\", times = 5 }}]"
        ));
        let mut race = reading(&of, "serve", 0.01);
        for trial in &mut race.trials {
            trial.groups.iter_mut().find(|of| of.name == "all").unwrap().bytes = 1 << 20;
        }
        limit(&race, "all").0
    };
    assert_eq!(web(45), Limit::Cache);
    assert_ne!(web(1), Limit::Cache);
}
