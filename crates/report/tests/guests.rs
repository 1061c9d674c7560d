//! Lanes in guests, as every report that a person reads tells of them.

use crate::common;

use common::{memos, races, record, told};
use model::findings::{Findings, NotRanked};
use model::lane::Lane;
use model::page::Language;
use report::{Input, Render, Style};

fn memo(findings: &Findings, language: Language) -> String {
    let record = record(findings);
    let input = Input { findings: &told(findings), record: &record, record_path: None };
    let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
    // As one line, so that no assertion depends on where lines end.
    render(&input, language).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(findings: &Findings, format: &str) -> String {
    let record = record(findings);
    let input = Input { findings: &told(findings), record: &record, record_path: None };
    let said = report::render(&input, format, &Style::default()).unwrap();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Moves a lane into user-mode Linux.
fn to_uml(lane: &mut Lane) {
    (lane.venue, lane.kernel, lane.flushes_stop_short) = ("uml".into(), "6.1.176".into(), true);
    lane.geometry.push("guest: user-mode Linux 6.1.176, 1 CPU, 512MiB".into());
}

fn to_qemu(lane: &mut Lane, kernel: &str) {
    (lane.venue, lane.kernel) = ("qemu".into(), kernel.into());
    lane.geometry.push(format!("guest: QEMU with Linux {kernel}, 2 CPUs, 512MiB, emulated CPU"));
}

#[test]
fn a_memo_names_the_guests_and_lays_no_lost_flush_on_a_filesystem() {
    let mut findings = races::three();
    findings.lanes.iter_mut().for_each(to_uml);
    let said = memo(&findings, Language::En);
    assert!(said.contains("Take `ext4` or `xfs`"), "{said}");
    assert!(said.contains("in a guest: user-mode Linux 6.1.176, 1 CPU, 512MiB"), "{said}");
    assert_eq!(said.matches("in a guest:").count(), 1, "what all share is told once: {said}");
    assert!(said.contains("host of the guests AMD Ryzen"), "{said}");
    assert!(!said.contains("a power cut can lose what a program believes is saved"), "{said}");
    assert!(said.contains("`ext4`, `xfs`, `btrfs`: no flush reached a disk in user-mode Linux"), "{said}");
    let mut risky = findings.clone();
    risky.lanes[0].promises.fsync_reaches_stable_storage = false;
    let said = memo(&risky, Language::En);
    assert!(said.contains("`ext4`: a power cut can lose what a program believes is saved"), "{said}");
    assert!(!memo(&races::three(), Language::En).contains("guest"));
}

#[test]
fn contestants_in_guests_are_never_dropped_for_want_of_room() {
    for (language, label) in [(Language::En, "Contestants"), (Language::De, "Angetreten"), (Language::Zh, "参测")] {
        for mut findings in [races::three(), races::five(), memos::twelve()] {
            findings.lanes.iter_mut().for_each(to_uml);
            assert!(memo(&findings, language).contains(label), "{label}");
        }
    }
}

#[test]
fn one_filesystem_on_two_kernels_is_told_as_two_kernels() {
    let mut findings = memos::noisy();
    for (lane, (name, kernel)) in findings.lanes.iter_mut().zip([("ext4", "6.1.0-56-amd64"), ("xfs", "6.12.9")]) {
        *lane = Lane { filesystem: "ext4".into(), ..common::lane(name, "ext4") };
        to_qemu(lane, kernel);
    }
    let said = memo(&findings, Language::En);
    assert!(said.starts_with("# Which kernel? "), "{said}");
    assert!(
        said.contains("No decision yet: what was measured is too noisy.") && !said.contains("these filesystems"),
        "{said}"
    );
    assert!(said.contains("`ext4` (Linux 6.1.0-56-amd64), `xfs` (Linux 6.12.9)"), "{said}");
    assert!(said.contains("512MiB, emulated CPU"), "{said}");
}

#[test]
fn a_memo_says_which_places_cannot_be_ranked_and_what_disturbed_the_race() {
    let mut findings = memos::noisy();
    to_uml(&mut findings.lanes[0]);
    to_qemu(&mut findings.lanes[1], "6.1.0-56-amd64");
    let answer = findings.answer.as_mut().unwrap();
    answer.not_ranked = vec![NotRanked {
        lanes: vec!["xfs".into()],
        against: "ext4".into(),
        what: "runs in another place (qemu)".into(),
    }];
    let quiet = memo(&findings, Language::En);
    assert!(quiet.contains("`xfs`, not ranked against `ext4`: runs in another place (qemu)."), "{quiet}");
    assert!(!quiet.contains("Other programs disturbed"), "{quiet}");
    findings.answer.as_mut().unwrap().disturbed = true;
    assert!(memo(&findings, Language::En).contains("Other programs disturbed most of these rounds"));
    let mut decided = races::three();
    decided.answer.as_mut().unwrap().disturbed = true;
    let said = memo(&decided, Language::En);
    assert!(said.contains("Take `ext4`") && said.contains("Other programs disturbed most of these rounds"), "{said}");
}

#[test]
fn the_driver_that_ran_is_named_in_every_readable_report() {
    let mut findings = races::three();
    findings.lanes[0].filesystem = "ntfs-3g".into();
    findings.lanes[0].geometry.push("driver: ntfs-3g over FUSE".into());
    for format in ["text", "markdown"] {
        let said = text(&findings, format);
        assert!(said.replace('\\', "").contains("driver: ntfs-3g over FUSE"), "{format}: {said}");
    }
    assert!(memo(&findings, Language::En).contains("mounted by ntfs-3g over FUSE"));
}

#[test]
fn a_chinese_note_ends_as_chinese_sentences_do() {
    let mut findings = races::three();
    findings.code_only = Some("code alone".into());
    assert!(memo(&findings, Language::Zh).contains("code alone。"));
    assert!(memo(&findings, Language::De).contains("code alone."));
}
