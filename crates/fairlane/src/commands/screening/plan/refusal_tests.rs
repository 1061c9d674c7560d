//! What is refused before any option is tried.

use super::*;
use crate::options::{Command, Options};
use clap::Parser;

/// A screening as it is typed behind `fairlane screen`.
fn typed(words: &str) -> Screen {
    let words = ["fairlane", "screen"].into_iter().chain(words.split(' '));
    match Options::try_parse_from(words).unwrap().command {
        Command::Screen(options) => *options,
        _ => panic!("another command"),
    }
}

#[test]
fn an_option_is_left_out_however_often_and_there_are_no_more_than_a_design_has_room_for() {
    let factors = |words: &str| factors(&screened("ext4").unwrap(), &typed(words)).map_err(|failure| failure.message);
    let once = factors("ext4 --without noatime").unwrap();
    assert!(once.iter().all(|factor| factor.name != "noatime") && once.len() > 5);
    assert_eq!(factors("ext4 --without noatime --without noatime").unwrap(), once);
    let none = factors("ext4 --without noatime --without nosuch").unwrap_err();
    assert!(none.contains("--without nosuch: that is none of the options"), "{none}");
    let all = factors("ext4 --option commit --without commit").unwrap_err();
    assert!(all.contains("--without leaves out every option of ext4"), "{all}");
    let many: Vec<String> = (0..24).map(|at| format!("--option o{at}=0|1")).collect();
    let many = factors(&format!("ext4 {}", many.join(" "))).unwrap_err();
    assert!(many.contains("24 options are more") && many.contains("name fewer with --option"), "{many}");
    assert!(!many.contains("--without"), "{many}");
}

#[test]
fn a_time_in_which_nothing_can_be_screened_is_refused() {
    for (budget, is_refused) in [("1s", true), ("29s", true), ("30s", false), ("3m", false)] {
        let said = check(&typed(&format!("ext4 --budget {budget}"))).map_err(|failure| failure.message);
        assert_eq!(said.is_err(), is_refused, "{budget}: {said:?}");
        assert!(said.err().is_none_or(|said| said.contains("give --budget 30s or more")), "{budget}");
    }
}

#[test]
fn who_has_no_room_is_told_how_many_options_have() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let record = model::record::Record::parse(include_str!("../../../../tests/fixtures/schema1.jsonl")).unwrap();
    let free = host::find(folder).unwrap().free_bytes;
    // Eight lanes have room, and sixteen have not.
    let (on, lane_size) = (Ground::Images(folder.to_owned()), Bytes(free / 12));
    let plan = Plan { on, lane_size, ..record.header.plan };
    let base: LaneSpec = "ext4".parse().unwrap();
    let said = |lanes: usize, options: usize, are_named: bool| {
        check_room(&plan, &base, (lanes, options), are_named).map_err(|failure| failure.message)
    };
    assert_eq!(said(8, 3, true), Ok(()));
    let named = said(16, 4, true).unwrap_err();
    assert!(named.contains("; name 3 of the 4 options, lower --lane-size"), "{named}");
    assert!(!named.contains("--without"), "{named}");
    let usual = said(24, 9, false).unwrap_err();
    assert!(usual.contains("leave 6 of 9 options out (--without NAME)"), "{usual}");
    let none = check_room(&Plan { lane_size: Bytes(free), ..plan.clone() }, &base, (2, 1), true).unwrap_err();
    assert!(none.message.contains("; free some space, lower --lane-size"), "{}", none.message);
}

#[test]
fn who_is_not_root_is_told_at_once_that_the_lanes_are_in_a_guest() {
    let lane = |text: &str| text.parse::<LaneSpec>().unwrap();
    let said =
        |typed: &str, base: &str, on: Option<&str>| not_root(&lane(typed), &lane(base), on.map(Path::new)).is_some();
    assert!(said("ext4", "ext4@uml", None) && said("ext4", "ext4@qemu", Some("/somewhere")));
    // Who names a guest, or is root, knows where the lanes are.
    assert!(!said("ext4@uml", "ext4@uml", None) && !said("ext4", "ext4@uml", Some("uml")));
    assert!(!said("ext4", "ext4", None));
}
