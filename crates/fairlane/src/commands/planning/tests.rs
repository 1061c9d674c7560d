//! Plans from the command line.

use super::*;
use crate::suites;

#[test]
fn a_suites_own_lanes_are_raced_as_far_as_they_are_there_and_the_others_are_named() {
    let suite = suites::find("appenders").unwrap();
    assert_eq!(suite.lanes, ["ext3", "ext4", "ntfs", "jfs", "xfs", "btrfs"], "the article's six");
    let here = |name: &str| match name {
        "ntfs" => Availability::KernelLacks,
        "jfs" => Availability::ToolMissing { program: "mkfs.jfs", package: "jfsutils" },
        _ => Availability::Ready,
    };
    let (ready, left_out) = ready_of(&suite, "appenders", here).unwrap();
    let names: Vec<&str> = ready.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["ext3", "ext4", "xfs", "btrfs"]);
    assert_eq!(
        left_out.unwrap(),
        "left out of suite appenders: ntfs (the kernel lacks it), jfs (mkfs.jfs is missing: apt install jfsutils)"
    );
    assert_eq!(ready_of(&suite, "appenders", |_| Availability::Ready).unwrap().1, None);
    let wrong = Suite { lanes: vec!["ext4".to_owned(), String::new()], ..suite };
    let refused = ready_of(&wrong, "appenders", here).unwrap_err();
    assert!(refused.message.contains("suite appenders: lanes:"), "{}", refused.message);
}
