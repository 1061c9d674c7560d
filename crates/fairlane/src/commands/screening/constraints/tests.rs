//! What is left of options that are refused, excluded, said already, or made alike.

use super::super::levels::tests::factor;
use super::trying::{Reach, can_be_tried};
use super::*;
use lanes::screened_options::Made;
use model::bounds::MOST_LANES;
use std::path::PathBuf;

fn base() -> LaneSpec {
    "ext4".parse().unwrap()
}

const ROOM: Room = Room { lanes: MOST_LANES, are_named: false, tunes: false };

/// Settles options where every lane can be made.
fn settled_of(base: &str, factors: Vec<Factor>, room: Room) -> Result<Settled, Failure> {
    settle(&base.parse().unwrap(), factors, (room, &|_: &str, _: &str| false), &mut |_| Ok(Tried::NotTried))
}

#[test]
fn what_the_lane_says_itself_is_left_out_however_it_is_written() {
    let mut made = factor("reflink", &["on", "off"]);
    made.usual = OptionLevel { label: "on".into(), ..OptionLevel::default() };
    made.other = OptionLevel { label: "off".into(), mkfs: vec!["-m".into(), "reflink=0".into()], ..made.usual.clone() };
    let mut noatime = factor("noatime", &["off", "on"]);
    noatime.usual.mount.clear();
    noatime.other.mount = vec!["noatime".into()];
    let mut queue = factor("scheduler", &["default", "bfq"]);
    queue.usual.mount.clear();
    queue.other = OptionLevel { label: "bfq".into(), queue: vec!["scheduler=bfq".into()], ..OptionLevel::default() };
    let mut kernel = factor("dirty_ratio", &["default", "5"]);
    kernel.usual.mount.clear();
    kernel.other = OptionLevel { label: "5".into(), vm: vec!["dirty_ratio=5".into()], ..OptionLevel::default() };
    let all = [made, noatime, queue, factor("logbsize", &["32k", "256k"]), kernel];
    for (base, said) in [
        ("xfs", &[][..]),
        ("xfs(-K -m crc=1),logbufs=8", &[][..]),
        ("xfs,noatime,logbufs=8", &["noatime"][..]),
        ("xfs,relatime", &["noatime"][..]),
        ("xfs,logbsize=64k", &["logbsize"][..]),
        ("xfs(-m reflink=0)", &["reflink"][..]),
        ("xfs,-mreflink=1", &["reflink"][..]),
        ("xfs(-m crc=1,reflink=0)", &["reflink"][..]),
        ("xfs/queue,scheduler=none", &["scheduler"][..]),
        ("xfs/vm,swappiness=10/queue,scheduler=none", &["scheduler"][..]),
        ("xfs/vm,dirty_bytes=1G", &["dirty_ratio"][..]),
    ] {
        let settled = settled_of(base, all.to_vec(), ROOM).unwrap();
        assert!(settled.left_out.iter().all(|of| of.why == SAID), "{base}: {:?}", settled.left_out);
        let kept = names(&settled);
        let left: Vec<&str> = all.iter().map(|of| of.name.as_str()).filter(|name| !kept.contains(name)).collect();
        assert_eq!(left, said, "{base}");
    }
    // What a layer below says is none of the queue's.
    assert!(!says_it(&"xfs/raid0:2,chunk=64K".parse().unwrap(), &all[2]));
    let nothing = settled_of("xfs,noatime", vec![all[1].clone()], ROOM).unwrap_err().message;
    assert!(
        nothing.contains("no option of ") && nothing.contains("noatime on (the lane says it already)"),
        "{nothing}"
    );
}

#[test]
fn options_of_a_file_of_ones_own_are_settled_by_their_words_where_it_is_not_opened() {
    let own = |lane: &str| lane.parse::<LaneSpec>().unwrap();
    assert_eq!(can_be_tried(&own("./no-such.toml")), lanes::host::is_root());
    assert_eq!(why_untried(&own("./no-such.toml"), Reach::Whole, true), None);
    assert!(["xfs@uml", "ext4@qemu"].iter().all(|lane| can_be_tried(&own(lane))));
    for (reach, is_untried, said) in [
        (Reach::Whole, false, None),
        (Reach::UntilGuestEnded, false, Some("not started again and of the others mkfs alone was tried")),
        (Reach::UntilGuestEnded, true, Some("not started again and the others were not tried")),
    ] {
        let why = why_untried(&own("xfs@uml"), reach, is_untried);
        assert_eq!(why.is_some(), said.is_some(), "{why:?}");
        assert!(why.zip(said).is_none_or(|(why, said)| why.contains(said)), "{why:?}");
    }
    let mut block = factor("-b", &["1024", "4096"]);
    for (level, bytes) in [(&mut block.usual, "1024"), (&mut block.other, "4096")] {
        (level.mount, level.mkfs) = (Vec::new(), vec!["-b".to_owned(), bytes.to_owned()]);
    }
    let mut again = Factor { name: "again".to_owned(), ..block.clone() };
    again.usual = OptionLevel { label: "default".to_owned(), ..OptionLevel::default() };
    let all = vec![factor("delay", &["0", "100"]), block, again];
    let settled = settled_of("./no-such.toml", all.clone(), ROOM).unwrap();
    assert_eq!((names(&settled), settled.runs.len()), (vec!["delay", "-b"], 8));
    let [left] = settled.left_out.as_slice() else { panic!("{:?}", settled.left_out) };
    assert_eq!(left.option, "again 4096");
    assert!(left.why.starts_with("it does not go with -b 1024: a lane cannot have both `-b 1024` and `-b 4096`"));
    let said = settled_of("./no-such.toml(-b 512),delay=1", all, ROOM).unwrap_err().message;
    assert!(said.contains("delay 100 (the lane says it already); -b 4096 (the lane says it already)"), "{said}");
}

#[test]
fn a_guest_takes_as_many_options_as_its_disks_have_room_for() {
    let factors =
        |count: usize| -> Vec<Factor> { (0..count).map(|at| factor(&format!("o{at}"), &["0", "1"])).collect() };
    let room = |lane: &str| Room::new(&lane.parse().unwrap(), false, false);
    assert_eq!([room("ext4"), room("ext4@uml"), room("ext4@qemu")].map(|room| room.lanes), [64, 16, 24]);
    assert_eq!(room("ext4/raid0:2@uml").lanes, 8);
    let few = Room { lanes: 8, ..ROOM };
    let settled = settled_of("ext4@uml", factors(5), few).unwrap();
    assert_eq!((names(&settled), settled.runs.len()), (vec!["o0", "o1", "o2"], 8));
    assert_eq!(left_out(&settled), [("o3 1", NO_DISKS), ("o4 1", NO_DISKS)]);
    let named = settled_of("ext4@uml", factors(5), Room { are_named: true, ..few }).unwrap_err().message;
    assert!(named.contains("disks for 8: name 3 options at most"), "{named}");
    let none = settled_of("ext4/raid0:16@uml", factors(1), room("ext4/raid0:16@uml")).unwrap_err().message;
    assert!(none.contains("no disks for the 8 lanes of the smallest design on 16 each"), "{none}");
}

/// Of a lane whose mount shows these options.
fn made(shown: &[String]) -> Tried {
    Tried::Works(Made { mount: shown.to_vec(), ..Made::default() })
}

/// Settles four options where lanes are refused that hold all options of one of these lists.
fn settled(refused: &[&[&str]], excluded: &[[&str; 2]]) -> (Result<Settled, Failure>, Vec<String>) {
    let factors = ["a", "b", "c", "d"].map(|name| factor(name, &["0", "1"])).to_vec();
    let mut tried = Vec::new();
    let mut try_one = |lane: &LaneSpec| {
        tried.push(lane.to_line());
        let has = |option: &&str| lane.mount_options.iter().any(|of| of == option);
        let no = refused.iter().find(|list| list.iter().all(&has));
        let why = no.map(|list| format!("the kernel\nrefuses {}.", list.join(" with ")));
        Ok(why.map_or_else(|| made(&lane.mount_options), Tried::Refused))
    };
    let excludes = |one: &str, other: &str| excluded.contains(&[one, other]) || excluded.contains(&[other, one]);
    let settled = settle(&base(), factors, (ROOM, &excludes), &mut try_one);
    (settled, tried)
}

fn names(settled: &Settled) -> Vec<&str> {
    settled.factors.iter().map(|factor| factor.name.as_str()).collect()
}

fn left_out(settled: &Settled) -> Vec<(&str, &str)> {
    settled.left_out.iter().map(|of| (of.option.as_str(), of.why.as_str())).collect()
}

#[test]
fn all_that_can_be_made_is_screened_and_no_lane_is_tried_twice() {
    let (settled, mut tried) = settled(&[], &[]);
    let settled = settled.unwrap();
    assert_eq!((names(&settled).len(), settled.runs.len()), (4, 16));
    assert_eq!(settled.design, DesignKind::FullFactorial);
    assert!(settled.left_out.is_empty() && settled.runs[0].iter().all(|other| !other));
    let count = tried.len();
    tried.sort();
    tried.dedup();
    assert_eq!(tried.len(), count, "{tried:?}");
}

#[test]
fn what_is_so_by_itself_is_left_out_or_screened_at_a_level_that_is_not() {
    let costly = |labels: &[&str]| Factor { costs: "much".to_owned(), ..factor("a", labels) };
    for (labels, same, wanted) in [
        (&["0", "1"][..], &["a=1"][..], None),
        (&["0", "1", "2", "3"][..], &["a=1"][..], Some((2, 1, "its level 1 costs: much"))),
        (&["0", "1", "2", "3"][..], &["a=1", "a=2"][..], Some((3, 0, "its level 1 costs: much"))),
        (&["0", "1", "2"][..], &["a=2"][..], Some((1, 1, "much"))),
        (&["0", "1", "2"][..], &["a=1", "a=2"][..], None),
        (&["0", "1", "bad"][..], &["a=1"][..], None),
    ] {
        let mut try_one = |lane: &LaneSpec| {
            let shown: Vec<String> =
                lane.mount_options.iter().filter(|of| **of != "a=0" && !same.contains(&of.as_str())).cloned().collect();
            let is_bad = shown.iter().any(|of| of == "a=bad");
            Ok(if is_bad { Tried::Refused("no".to_owned()) } else { made(&shown) })
        };
        let factors = vec![costly(labels), factor("b", &["0", "1"])];
        let settled = settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap();
        let kept = settled.factors.iter().find(|factor| factor.name == "a");
        let kept = kept.map(|factor| (factor.other.label.clone(), factor.further.len(), factor.costs.clone()));
        let wanted =
            wanted.map(|(other, further, costs): (i32, usize, &str)| (other.to_string(), further, costs.to_owned()));
        assert_eq!(kept, wanted, "{labels:?} {same:?}");
        let says = |of: &LeftOutOption| of.option == "a 1" && of.why == SO_ALREADY;
        assert_eq!(settled.left_out.iter().any(says), kept.is_none(), "{labels:?} {same:?}");
    }
    let factors = vec![factor("a", &["0", "1"])];
    let settled = settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut |_| Ok(Tried::NotTried)).unwrap();
    assert_eq!(settled.factors.len(), 1, "what was not tried is screened");
}

/// Settles options of which a kernel makes these options of the mount.
fn settled_by(factors: Vec<Factor>, kernel: impl Fn(&mut Vec<String>)) -> Settled {
    let mut try_one = |lane: &LaneSpec| {
        let mut shown = lane.mount_options.clone();
        kernel(&mut shown);
        Ok(made(&shown))
    };
    settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap()
}

/// An option of the mount that is said at its other level alone.
fn switch(name: &str, other: &str) -> Factor {
    let mut switch = factor(name, &["default", other]);
    switch.usual.mount.clear();
    switch.other.mount = vec![other.to_owned()];
    switch
}

#[test]
fn what_the_kernel_turns_off_beside_another_option_is_left_out_of_the_two_the_later_one() {
    // As data=journal turns delayed allocation off, and locks reads.
    let journals = |shown: &mut Vec<String>| {
        let says = |shown: &[String], option: &str| shown.iter().any(|of| of == option);
        if says(shown, "data=journal") {
            for option in ["nodelalloc", "dioread_lock"] {
                if !says(shown, option) {
                    shown.push(option.to_owned());
                }
            }
        }
    };
    let all = [switch("data", "data=journal"), switch("delalloc", "nodelalloc"), switch("commit", "commit=30")];
    let settled = settled_by(all.to_vec(), journals);
    assert_eq!((names(&settled), settled.runs.len()), (vec!["data", "commit"], 8));
    let why = "it does not go with data data=journal, which sets `nodelalloc` too";
    assert_eq!(left_out(&settled), [("delalloc nodelalloc", why)]);
    let turned = settled_by(all.iter().rev().cloned().collect(), journals);
    assert_eq!(names(&turned), ["commit", "delalloc"]);
    let why = "it does not go with delalloc nodelalloc, which sets `nodelalloc` too";
    assert_eq!(left_out(&turned), [("data data=journal", why)]);
}

#[test]
fn options_that_take_the_same_away_go_together() {
    // As quotas of users and of groups take `noquota` away.
    let quotas = |shown: &mut Vec<String>| {
        if !shown.iter().any(|of| of == "uquota" || of == "gquota") {
            shown.push("noquota".to_owned());
        }
    };
    let settled = settled_by(vec![switch("a", "uquota"), switch("b", "gquota")], quotas);
    assert_eq!((names(&settled), left_out(&settled), settled.runs.len()), (vec!["a", "b"], vec![], 8));
}

#[test]
fn what_the_kernel_makes_of_options_together_is_looked_at_too() {
    let three = || ["a", "b", "c"].map(|name| switch(name, name)).to_vec();
    let has = |shown: &[String], options: &[&str]| options.iter().all(|option| shown.iter().any(|of| of == option));
    // Alone each of them is put into effect.
    let pair = settled_by(three(), |shown| {
        if has(shown, &["a", "c"]) {
            shown.retain(|of| of != "c");
        }
    });
    assert_eq!(names(&pair), ["a", "b"]);
    let why = "it does not go with a a: the kernel mounts it without `c` then";
    assert_eq!(left_out(&pair), [("c c", why)]);
    let more = settled_by(three(), |shown| {
        if has(shown, &["a", "b"]) {
            shown.push("slow".to_owned());
        }
    });
    assert_eq!(left_out(&more), [("b b", "it does not go with a a: the kernel mounts it with `slow` then")]);
    let of_three = settled_by(three(), |shown| {
        if has(shown, &["a", "b", "c"]) {
            shown.push("slow".to_owned());
        }
    });
    let why = "it does not go with the others: the kernel mounts it with `slow` then";
    assert_eq!(left_out(&of_three), [("c c", why)]);
}

#[test]
fn what_mkfs_makes_of_one_option_alone_and_of_two_is_no_pair() {
    let mut factors = ["a", "b", "c"].map(|name| switch(name, name)).to_vec();
    for factor in &mut factors {
        factor.other.mount.clear();
        factor.other.mkfs = vec!["-O".to_owned(), factor.name.clone()];
    }
    let mut try_one = |lane: &LaneSpec| {
        let words = lane.mkfs_options.iter().flat_map(|word| word.split(',')).filter(|word| !word.starts_with('-'));
        let mut geometry: Vec<String> = words.map(str::to_owned).collect();
        // It takes a feature for nothing where another one is on.
        if geometry.iter().any(|word| word == "a") {
            geometry.retain(|word| word != "b");
        }
        Ok(Tried::Works(Made { geometry, ..Made::default() }))
    };
    let settled = settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap();
    assert_eq!(names(&settled), ["a", "c"]);
    let why = "it does not go with a a: both together make the same as one of them alone";
    assert_eq!(left_out(&settled), [("b b", why)]);
}

#[test]
fn one_option_under_two_names_is_screened_once() {
    let twins = || vec![switch("delalloc", "nodelalloc"), switch("nodelalloc", "nodelalloc"), switch("c", "c")];
    let settled = settled_of("ext4", twins(), ROOM).unwrap();
    assert_eq!(names(&settled), ["delalloc", "c"], "by their words");
    assert_eq!(left_out(&settled), [("nodelalloc nodelalloc", "it is the same as delalloc nodelalloc")]);
    // As the kernel takes two words for one.
    let factors = vec![switch("lock", "dioread_lock"), switch("nolock", "nodioread_nolock"), switch("c", "c")];
    let settled = settled_by(factors, |shown| {
        shown.iter_mut().filter(|of| *of == "nodioread_nolock").for_each(|of| *of = "dioread_lock".to_owned());
    });
    assert_eq!(names(&settled), ["lock", "c"]);
    assert_eq!(left_out(&settled), [("nolock nodioread_nolock", "it is the same as lock dioread_lock")]);
    // Two that say nothing but what is so by itself at their other levels are two.
    let two = ["a", "b"].map(|name| {
        let mut turned = factor(name, &["no", "default"]);
        turned.other.mount.clear();
        turned
    });
    assert_eq!(settled_by(two.to_vec(), |_| ()).factors.len(), 2);
}

#[test]
fn own_words_exclude_what_the_option_of_the_table_does_that_they_are() {
    let table = |name: &str| {
        let option = screened_options::options_of("ext4").iter().find(|option| option.name == name);
        screened_options::factor(option.unwrap())
    };
    let words = |name: &str, words: [&str; 2]| {
        let mut own = factor(name, &["off", "on"]);
        for (level, word) in [(&mut own.usual, words[0]), (&mut own.other, words[1])] {
            (level.mount, level.mkfs) = (Vec::new(), vec!["-O".to_owned(), word.to_owned()]);
        }
        own
    };
    let journal = || words("-O has_journal", ["^has_journal", "has_journal"]);
    let left = |base: &str, factors: Vec<Factor>| {
        let base: LaneSpec = base.parse().unwrap();
        let excludes = |one: &str, other: &str| excludes(&base, one, other);
        let settled = settle(&base, factors, (ROOM, &excludes), &mut |_| Ok(Tried::NotTried)).unwrap();
        let left_out: Vec<String> = settled.left_out.iter().map(|of| format!("{}: {}", of.option, of.why)).collect();
        left_out.join("; ")
    };
    let why = "it does not go with -O has_journal, which is screened";
    assert_eq!(left("ext4", vec![journal(), table("fast_commit")]), format!("fast_commit on: {why}"));
    assert_eq!(
        left("ext4", vec![table("fast_commit"), journal()]),
        "-O has_journal on: it does not go with fast_commit, which is screened"
    );
    let clusters = words("-O bigalloc", ["^bigalloc", "bigalloc"]);
    assert_eq!(
        left("ext4", vec![clusters, table("delalloc"), table("noatime")]),
        "delalloc off: it does not go with -O bigalloc, which is screened"
    );
    assert_eq!(left("ext4", vec![journal(), table("noatime"), table("lazytime")]), "");
    // Nor does what the lane says itself go with it.
    let factors = vec![table("commit"), table("noatime")];
    assert_eq!(left("ext4(-O^has_journal)", factors), format!("commit 30: {EXCLUDED_BY_LANE}"));
}

#[test]
fn what_is_so_here_by_itself_is_told_as_the_usual_level_where_that_claims_another_one() {
    let sizes = |labels: &[&str]| {
        let mut sizes = factor("block_size", labels);
        sizes.usual.mount.clear();
        sizes.costs = "much".to_owned();
        sizes
    };
    for (labels, same, usual, others, are_costs_its_own) in [
        (&["4K", "1K", "2K"][..], "block_size=1K", "default (1K here)", &["2K"][..], false),
        (&["4K", "1K", "2K"][..], "block_size=2K", "default (2K here)", &["1K"][..], true),
        (&["4K", "1K", "2K", "8K"][..], "block_size=2K", "default (2K here)", &["1K", "8K"][..], true),
        (&["4K", "1K", "2K"][..], "", "4K", &["1K", "2K"][..], true),
        (&["default", "1K", "2K", "8K"][..], "block_size=1K", "default (1K here)", &["2K", "8K"][..], false),
    ] {
        let settled = settled_by(vec![sizes(labels), switch("c", "c")], |shown| shown.retain(|of| of != same));
        let kept = &settled.factors[0];
        let labels = std::iter::once(&kept.other).chain(&kept.further).map(|level| level.label.as_str());
        let found = (kept.usual.label.as_str(), labels.collect::<Vec<_>>(), kept.costs == "much");
        assert_eq!(found, (usual, others.to_vec(), are_costs_its_own));
        assert!(kept.usual.mount.is_empty() && settled.left_out.is_empty());
    }
}

#[test]
fn an_option_that_wants_a_value_is_told_how_levels_are_written() {
    let mut try_one = |lane: &LaneSpec| {
        let is_bad = lane.mount_options.iter().any(|option| option == "commit");
        Ok(if is_bad { Tried::Refused("Bad value for 'commit'".to_owned()) } else { Tried::NotTried })
    };
    let base = "ext3".parse().unwrap();
    let factors = vec![switch("commit", "commit"), switch("noatime", "noatime")];
    let settled = settle(&base, factors, (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap();
    let why = "Bad value for 'commit' (it takes a value: write 'commit=USUAL|OTHER')";
    assert_eq!(left_out(&settled), [("commit commit", why)]);
}

#[test]
fn words_alone_tell_how_many_options_are_left_before_any_is_tried() {
    let images = Ground::Images(PathBuf::from("."));
    let table = screened_options::options_of("ext4").iter().filter(|option| option.by_itself);
    let factors: Vec<Factor> = table.map(screened_options::factor).collect();
    let left = |lane: &str| {
        let settled = untried(&lane.parse().unwrap(), factors.clone(), ROOM, &images).unwrap();
        (settled.factors.len(), settled.runs.len())
    };
    let all = factors.len();
    assert_eq!(left("ext4"), (all, stats::screening::lanes_of(all)));
    assert_eq!(left("ext4,noatime,commit=9").0, all - 2);
    // Those of the disk's queue.
    assert_eq!(left("ext4/crypt").0, all - 2);
    assert_eq!(left("ext4(-O ^has_journal)").0, all - 3);
}

#[test]
fn a_queue_that_is_not_the_filesystem_s_own_is_not_screened() {
    let mut scheduler = factor("scheduler", &["none", "bfq"]);
    scheduler.other =
        OptionLevel { queue: vec!["scheduler=bfq".to_owned()], label: "bfq".to_owned(), ..OptionLevel::default() };
    let images = Ground::Images(PathBuf::from("."));
    let all = || vec![scheduler.clone(), factor("a", &["0", "1"])];
    let kept = |lane: &str, on: &Ground| {
        let (kept, left_out) = without_queue(&lane.parse().unwrap(), all(), on).unwrap();
        (kept.len(), left_out.into_iter().map(|of| of.option).collect::<Vec<_>>())
    };
    assert_eq!(kept("ext4", &images), (2, Vec::new()));
    assert_eq!(kept("ext4/crypt", &images), (1, vec!["scheduler bfq".to_owned()]));
    let gone = Ground::Device(PathBuf::from("/dev/no-such-disk"));
    assert_eq!(kept("ext4", &gone), (1, vec!["scheduler bfq".to_owned()]));
    let layered: LaneSpec = "ext4/crypt".parse().unwrap();
    let none = without_queue(&layered, vec![scheduler.clone()], &images).unwrap_err();
    assert!(none.message.contains("scheduler bfq (layers stand between"), "{}", none.message);
}

#[test]
fn what_is_refused_alone_is_left_out_with_the_words_of_who_refuses_it() {
    let (settled, _) = settled(&[&["b=1"], &["c=0"]], &[]);
    let settled = settled.unwrap();
    assert_eq!(names(&settled), ["a", "d"]);
    assert_eq!(left_out(&settled), [("b 1", "the kernel refuses b=1"), ("c 0", "the kernel refuses c=0")]);
    assert_eq!(settled.runs.len(), 8);
}

#[test]
fn what_was_named_and_is_refused_alone_ends_the_command_with_all_of_it() {
    let settled = |refused: &'static [&'static str]| {
        let factors = ["a", "b", "c"].map(|name| factor(name, &["0", "1"])).to_vec();
        let mut try_one = |lane: &LaneSpec| {
            let found = lane.mount_options.iter().find(|option| refused.contains(&option.as_str()));
            Ok(found.map_or(Tried::NotTried, |option| Tried::Refused(format!("no {option} here"))))
        };
        let room = Room { are_named: true, ..ROOM };
        settle(&base(), factors, (room, &|_: &str, _: &str| false), &mut try_one).map_err(|failure| failure.message)
    };
    let said = settled(&["a=1", "c=0"]).unwrap_err();
    assert!(said.contains("--option names is refused: a 1 (no a=1 here); c 0 (no c=0 here); correct it"), "{said}");
    assert_eq!(names(&settled(&[]).unwrap()), ["a", "b", "c"]);
}

#[test]
fn where_it_is_tuned_further_levels_are_tried_beforehand_and_elsewhere_they_are_not() {
    let settled = |are_named: bool, tunes: bool| {
        let factors = vec![factor("a", &["0", "1", "2", "bad", "3"]), factor("c", &["0", "1"])];
        let mut try_one = |lane: &LaneSpec| {
            let is_bad = lane.mount_options.iter().any(|option| option == "a=bad");
            Ok(if is_bad { Tried::Refused("no\nsuch level.".to_owned()) } else { Tried::NotTried })
        };
        let room = Room { are_named, tunes, ..ROOM };
        settle(&base(), factors, (room, &|_: &str, _: &str| false), &mut try_one).map_err(|failure| failure.message)
    };
    let said = settled(true, true).unwrap_err();
    assert!(said.contains("--option names is refused: a bad (no such level); correct it"), "{said}");
    let left = settled(false, true).unwrap();
    assert_eq!((names(&left), left_out(&left)), (vec!["a", "c"], vec![("a bad", "no such level")]));
    let further: Vec<&str> = left.factors[0].further.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(further, ["2", "3"]);
    for are_named in [false, true] {
        let all = settled(are_named, false).unwrap();
        assert_eq!((all.factors[0].further.len(), left_out(&all)), (3, Vec::new()));
    }
}

#[test]
fn what_was_named_and_is_left_out_is_counted_and_said() {
    let settled = |excluded: &[[&str; 2]]| settled(&[], excluded).0.unwrap();
    let some = settled(&[["a", "b"]]);
    assert_eq!(
        named_and_left_out(&some, true).as_deref(),
        Some(
            "1 of the 4 options that you named is left out: b 1 (it does not go with a, which is screened); the other 3 are \
             screened"
        )
    );
    assert_eq!([named_and_left_out(&some, false), named_and_left_out(&settled(&[]), true)], [None, None]);
    let one = named_and_left_out(&settled(&[["a", "b"], ["a", "c"], ["a", "d"]]), true).unwrap();
    assert!(one.starts_with("3 of the 4 options that you named") && one.ends_with("; a alone is screened"), "{one}");
    // Nobody typed the `on` of a flag that no table has.
    let mut flag = factor("nosuch", &["default", "on"]);
    flag.class = OptionClass::Unknown;
    assert_eq!([named(&flag, 1), named(&flag, 0)], ["nosuch", "nosuch default"]);
    flag.class = OptionClass::Ordinary;
    assert_eq!(named(&flag, 1), "nosuch on");
}

#[test]
fn what_is_not_tried_and_nearly_has_a_name_of_the_table_is_told_that_one() {
    let said = |lane: &str, option: &str| {
        let base: LaneSpec = lane.parse().unwrap();
        perhaps_meant(&base, &screened_options::parse_option(&base, option).unwrap())
    };
    let near = said("xfs@uml", "logbzise=32k|256k");
    assert_eq!(near.as_deref(), Some("option logbzise is in no table: if logbsize is meant, write that"));
    assert_eq!([said("xfs@uml", "logbsize=32k|256k"), said("xfs@uml", "nothing_like_it")], [None, None]);
}

#[test]
fn a_name_that_is_refused_and_nearly_one_of_the_table_has_that_one_named() {
    for (name, near) in [
        ("comit", " (did you mean commit?)"),
        ("NOATIME", " (did you mean noatime?)"),
        ("-O flexbg", " (did you mean flex_bg?)"),
        ("commit", ""),
        ("-b", ""),
        ("nothing_like_it", ""),
    ] {
        let mut odd = factor("odd", &["0", "1"]);
        odd.name = name.to_owned();
        let factors = vec![odd, factor("other", &["0", "1"])];
        let mut try_one = |lane: &LaneSpec| {
            let is_odd = lane.mount_options.iter().any(|option| option == "odd=1");
            Ok(if is_odd { Tried::Refused("no".to_owned()) } else { Tried::NotTried })
        };
        let settled = settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap();
        assert_eq!(left_out(&settled), [(format!("{name} 1").as_str(), format!("no{near}").as_str())]);
    }
}

#[test]
fn of_options_that_do_not_go_together_the_later_one_is_left_out() {
    let (of_pair, _) = settled(&[&["a=1", "c=1"]], &[["b", "d"]]);
    let of_pair = of_pair.unwrap();
    assert_eq!(names(&of_pair), ["a", "b"]);
    let why = [
        ("d 1", "it does not go with b, which is screened"),
        ("c 1", "it does not go with a 1: the kernel refuses a=1 with c=1"),
    ];
    assert_eq!(left_out(&of_pair), why);
    let (of_three, _) = settled(&[&["a=1", "b=1", "d=1"]], &[]);
    let of_three = of_three.unwrap();
    assert_eq!(names(&of_three), ["a", "b", "c"]);
    assert!(of_three.left_out[0].why.starts_with("it does not go with the others: "), "{of_three:?}");
}

#[test]
fn a_lane_that_cannot_be_made_and_one_without_options_are_refused() {
    let (refused, tried) = settled(&[&[]], &[]);
    let message = refused.unwrap_err().message;
    assert!(message.contains("lane ext4 cannot be made and mounted here: the kernel refuses"), "{message}");
    // Alone, and with the usual levels of the options.
    assert_eq!(tried.len(), 2);
    let (nothing, _) = settled(&[&["a=1"], &["b=1"], &["c=1"], &["d=1"]], &[]);
    let message = nothing.unwrap_err().message;
    assert!(message.contains("no option of ext4 is left") && message.contains("d 1 (the kernel"), "{message}");
}

#[test]
fn what_a_lane_cannot_do_without_may_be_the_usual_level_of_an_option() {
    let mut other = factor("other", &["off", "on"]);
    other.usual.mount.clear();
    let factors = vec![factor("sleep", &["2000", "2105"]), other];
    let mut tried = Vec::new();
    let mut try_one = |lane: &LaneSpec| {
        tried.push(lane.mount_options.clone());
        let sleeps = lane.mount_options.iter().any(|option| option.starts_with("sleep="));
        Ok(if sleeps { Tried::NotTried } else { Tried::Refused("it has no sleep".to_owned()) })
    };
    let settled = settle(&base(), factors.clone(), (ROOM, &|_: &str, _: &str| false), &mut try_one).unwrap();
    assert_eq!(names(&settled), ["sleep", "other"]);
    assert!(tried.contains(&vec!["sleep=2000".to_owned(), "other=on".to_owned()]), "{tried:?}");
    let mut never = |_: &LaneSpec| Ok(Tried::Refused("it has no sleep".to_owned()));
    let refused = settle(&base(), factors, (ROOM, &|_: &str, _: &str| false), &mut never).unwrap_err().message;
    assert!(refused.contains("lane ext4 cannot be made and mounted here: it has no sleep"), "{refused}");
}
