//! User-mode Linux where the CPU has more registers than its kernel knows, and where it runs nothing at all.
#![cfg(target_arch = "x86_64")]

use crate::common;
use crate::home;
use crate::picky_host;

use common::assert_one_sentence;
use home::Home;
use picky_host::{Seen, Takes, own_length, run_on};
use std::sync::atomic::Ordering;

fn expect(home: &Home, takes: Takes, status: i32, arguments: &[&str]) -> (String, String, std::sync::Arc<Seen>) {
    let (output, seen) = run_on(home.fairlane(arguments), takes);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "fairlane {arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
    (out, err, seen)
}

#[test]
fn a_race_runs_where_registers_are_taken_only_whole() {
    if own_length().is_none() {
        eprintln!("skipped: this CPU's registers are just what user-mode Linux keeps, so no host can tell them apart");
        return;
    }
    let home = Home::of_a_stranger();
    let arguments = home.race_of("1", &["ext4", "xfs", "jfs", "--on", "uml"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, err, seen) = expect(&home, Takes::Whole, 0, &arguments);
    assert!(seen.refused.load(Ordering::Relaxed) > 0, "the first trial gave a part");
    assert!(seen.taken.load(Ordering::Relaxed) > 1000, "{seen:?}");
    // On the screen heavier warnings may have its place.
    let warned = format!("{:?}", home.record().header);
    assert!(warned.contains("less of this CPU's registers"), "{warned}\n{out}{err}");
    let trials = home.record().trials;
    assert!(
        !trials.is_empty() && trials.iter().all(|trial| trial.outcome != model::trial::Outcome::Failed),
        "{trials:?}"
    );
    // What was tried is remembered.
    let mut again = arguments.clone();
    again.retain(|word| !["-o", "r.jsonl"].contains(word));
    again.push("--dry-run");
    let (_, _, seen) = expect(&home, Takes::Whole, 0, &again);
    assert_eq!(seen.refused.load(Ordering::Relaxed), 0);
    let (out, _, _) = expect(&home, Takes::Whole, 0, &["doctor"]);
    assert!(out.contains("all registers of this CPU set by Fairlane"), "{out}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn where_user_mode_linux_runs_nothing_a_race_without_root_takes_qemu_and_doctor_says_so() {
    let home = Home::of_a_stranger();
    let suite = home.0.tiny_suite();
    let (out, err, seen) = expect(&home, Takes::Nothing, 0, &["race", "--suite", &suite, "--dry-run"]);
    assert!(seen.refused.load(Ordering::Relaxed) > 0);
    let said = format!("{out}{err}").split_whitespace().collect::<Vec<_>>().join(" ");
    // Where KVM works user-mode Linux is not asked.
    if !said.contains("with KVM, on the real disk") {
        assert!(said.contains("in a QEMU guest, whose CPU is emulated because"), "{said}");
        assert!(said.contains("user-mode Linux runs no program on this machine (Kernel panic"), "{said}");
    }
    let (_, err, _) = expect(&home, Takes::Nothing, 1, &["race", "ext4", "xfs", "--on", "uml", "--suite", &suite]);
    assert_one_sentence(&err, &["runs no program on this machine", "--on qemu"]);
    let (out, _, _) = expect(&home, Takes::Nothing, 0, &["doctor"]);
    assert!(out.contains("it runs no program on this machine: Kernel panic"), "{out}");
    let ext4 = out.lines().find(|line| line.starts_with("ext4")).expect("a row");
    assert!(ext4.contains("no guest"), "{ext4}");
    assert!(!out.contains("missing: user-mode-linux"), "{out}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}
