//! Options of a screening tried on real loop devices: what mkfs, the kernel or the queue refuses is told, and nothing is left.

mod common;

use common::{Scratch, no_stop, privileged};
use lanes::LaneFailure;
use lanes::screened_options::{Made, Tried, try_lane, try_lane_of_size};
use model::Bytes;

/// Why a lane is refused.
fn refusal(told: Tried) -> Option<String> {
    match told {
        Tried::Refused(why) => Some(why),
        Tried::Works(_) => None,
        Tried::NotTried => panic!("it can be tried here"),
    }
}

#[test]
fn what_mkfs_or_the_kernel_refuses_is_told_in_their_words_and_what_they_take_is_not() {
    if !privileged("trials of options") {
        return;
    }
    for (lane, wanted) in [
        ("ext4", None),
        ("ext4(-O ^flex_bg),noatime", None),
        ("ext4/queue,read_ahead=4M", None),
        ("ext4/vm,dirty_ratio=7/queue,read_ahead=4M", None),
        (
            "ext4/vm,dirty_background_ratio=9,dirty_ratio=9",
            Some(["dirty_background_ratio=9 is not below dirty_ratio=9", "write less"]),
        ),
        ("ext4(-O bogus)", Some(["mkfs.ext4 refuses it: ", "bogus"])),
        ("ext4,no_such_option", Some(["ext4 refuses the mount option `no_such_option`", "no_such_option"])),
        ("ext4,journal_async_commit", Some(["mounting ext4", "journal_async_commit"])),
        ("ext4/queue,scheduler=none,requests=10000", Some(["nr_requests=10000", "loop devices take 128 at most"])),
    ] {
        let scratch = Scratch::new();
        let mut journal = scratch.journal();
        let told = try_lane(&lane.parse().unwrap(), &scratch.path, &mut journal, &no_stop());
        journal.finish().unwrap();
        let told = refusal(told.unwrap_or_else(|error| panic!("{lane}: {error}")));
        match (&told, wanted) {
            (None, None) => {}
            (Some(why), Some(parts)) => {
                assert!(parts.iter().all(|part| why.contains(part)) && !why.ends_with('.'), "{lane}: {why}");
                assert!(!why.contains("remove or correct it"), "{lane}: {why}");
            }
            _ => panic!("{lane}: {told:?}"),
        }
        scratch.assert_nothing_left();
    }
}

#[test]
fn a_filesystem_of_ones_own_is_tried_by_the_commands_of_its_file() {
    if !privileged("trials of a filesystem of one's own") {
        return;
    }
    let files = std::env::temp_dir().join(format!("fairlane-own-trial-{}", std::process::id()));
    std::fs::create_dir(&files).unwrap();
    let written = |name: &str, program: &str| {
        let path = files.join(name);
        let text =
            format!("name = \"my\"\nmkfs = [\"true\", \"{{device}}\"]\nmount = [\"{program}\", \"{{directory}}\"]\n");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml");
    let told: Vec<(String, Result<Option<String>, String>)> = [
        example.to_owned(),
        format!("{example}(-I 512),noatime"),
        format!("{example}(-I 100)"),
        format!("{example},no_such_option"),
        written("silent.toml", "false"),
        written("nothing.toml", "true"),
    ]
    .into_iter()
    .map(|lane| {
        let scratch = Scratch::new();
        let mut journal = scratch.journal();
        let told = try_lane(&lane.parse().unwrap(), &scratch.path, &mut journal, &no_stop());
        journal.finish().unwrap();
        scratch.assert_nothing_left();
        (lane, told.map(refusal).map_err(|error| error.to_string()))
    })
    .collect();
    std::fs::remove_dir_all(&files).unwrap();
    for ((lane, told), wanted) in told.iter().zip([
        Ok(None),
        Ok(None),
        Ok(Some(["mkfs.ext4 refuses it: ", "100"])),
        Ok(Some(["mount refuses it: ", "mount"])),
        Ok(Some(["false refuses it: ", "it ended with status 1 and said nothing"])),
        Err("mounted nothing; correct `mount` in its file"),
    ]) {
        match (told, wanted) {
            (Ok(None), Ok(None)) => {}
            (Ok(Some(why)), Ok(Some(parts))) => assert!(parts.iter().all(|part| why.contains(part)), "{lane}: {why}"),
            (Err(said), Err(part)) => assert!(said.contains(part), "{lane}: {said}"),
            _ => panic!("{lane}: {told:?}"),
        }
    }
    // What its programs make of words nobody knows: other words are another filesystem.
    assert_ne!(made(&format!("{example},relatime")), made(example));
    assert_eq!(made(example), made(example));
}

#[test]
fn a_mkfs_that_keeps_silent_is_asked_once_more_why_it_refuses() {
    if !privileged("trials of f2fs") {
        return;
    }
    let scratch = Scratch::new();
    let mut journal = scratch.journal();
    let told = try_lane(&"f2fs(-O inode_checksum)".parse().unwrap(), &scratch.path, &mut journal, &no_stop());
    journal.finish().unwrap();
    scratch.assert_nothing_left();
    match told {
        Err(LaneFailure::Privilege(why)) => eprintln!("trials of f2fs: skipped, because {why}"),
        told => {
            let why = refusal(told.unwrap()).unwrap_or_default();
            assert!(why.starts_with("mkfs.f2fs refuses it: ") && why.contains("extra attr"), "{why}");
        }
    }
}

#[test]
fn the_size_of_the_lane_decides_what_of_it_is_refused() {
    if !privileged("trials of sizes") {
        return;
    }
    let lane: model::lane::LaneSpec = "ext4(-J size=256)".parse().unwrap();
    let told = [128 << 20, 1 << 30].map(|bytes| {
        let scratch = Scratch::new();
        let mut journal = scratch.journal();
        let told = try_lane_of_size(&lane, (Bytes(bytes), &[]), &scratch.path, &mut journal, &no_stop()).unwrap();
        journal.finish().unwrap();
        scratch.assert_nothing_left();
        refusal(told)
    });
    assert!(told[0].as_ref().is_some_and(|why| why.contains("ournal")) && told[1].is_none(), "{told:?}");
}

/// What is made of a lane.
fn made(lane: &str) -> Made {
    let scratch = Scratch::new();
    let mut journal = scratch.journal();
    let told = try_lane(&lane.parse().unwrap(), &scratch.path, &mut journal, &no_stop()).unwrap();
    journal.finish().unwrap();
    scratch.assert_nothing_left();
    match told {
        Tried::Works(made) => made,
        other => panic!("{lane}: {other:?}"),
    }
}

#[test]
fn two_lanes_that_are_one_thing_here_are_made_alike_and_others_are_not() {
    if !privileged("what trials make") {
        return;
    }
    for alike in ["ext4", "ext4(-O flex_bg)", "ext4,relatime"] {
        assert_eq!(made(alike), made("ext4"), "{alike}");
    }
    let ratio: u64 = std::fs::read_to_string("/proc/sys/vm/dirty_ratio").unwrap().trim().parse().unwrap();
    let as_it_is = format!("ext4/vm,dirty_ratio={ratio}");
    assert!(ratio == 0 || made(&as_it_is) == made("ext4"), "{as_it_is}");
    for other in [
        "ext4(-O ^flex_bg)",
        "ext4(-E stride=16)",
        "ext4,noatime",
        "ext4,commit=30",
        "ext4/queue,read_ahead=4M",
        "ext4/vm,dirty_bytes=123M",
    ] {
        assert_ne!(made(other), made("ext4"), "{other}");
    }
}
