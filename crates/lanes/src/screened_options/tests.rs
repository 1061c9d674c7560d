//! What the tables say, and what lanes are made of it.

use super::*;
use crate::filesystems::FILESYSTEMS;
use crate::layers;

/// Every option of every table, with its filesystem.
fn all() -> impl Iterator<Item = (&'static str, &'static ScreenedOption)> {
    FILESYSTEMS.iter().flat_map(|row| row.screened.iter().map(move |option| (row.name, option)))
}

fn level(filesystem: &str, option: &str, label: &str) -> OptionLevel {
    let found = options_of(filesystem).iter().find(|row| row.name == option).unwrap();
    found.levels().find(|level| level.label == label).unwrap().owned()
}

/// The line of a lane at these levels, each an option and a label.
fn line(base: &str, levels: &[(&str, &str)]) -> Result<String, String> {
    let base: LaneSpec = base.parse().unwrap();
    let model::lane::Contestant::Filesystem(name) = &base.contestant else { panic!("{base:?}") };
    let levels: Vec<OptionLevel> = levels.iter().map(|(option, label)| level(name, option, label)).collect();
    let levels: Vec<&OptionLevel> = levels.iter().collect();
    lane_with(&base, "a", &levels).map(|lane| lane.to_line()).map_err(|error| error.to_string())
}

#[test]
fn a_table_has_each_option_once_with_levels_that_differ() {
    for row in FILESYSTEMS {
        for (at, option) in row.screened.iter().enumerate() {
            let place = format!("{} {}", row.name, option.name);
            assert!(row.screened[..at].iter().all(|before| before.name != option.name), "{place}");
            assert!(!option.others.is_empty(), "{place}");
            let factor = factor(option);
            let levels: Vec<&OptionLevel> = [&factor.usual, &factor.other].into_iter().chain(&factor.further).collect();
            for (at, level) in levels.iter().enumerate() {
                assert!(levels[..at].iter().all(|before| before.label != level.label), "{place}: {}", level.label);
                let says = |level: &OptionLevel| {
                    (level.mkfs.clone(), level.mount.clone(), level.queue.clone(), level.vm.clone())
                };
                assert!(levels[..at].iter().all(|before| says(before) != says(level)), "{place}: {}", level.label);
            }
            let is_there = |name: &&str| row.screened.iter().any(|other| other.name == *name);
            assert_ne!(option.class, OptionClass::Unknown, "{place}");
            assert!(option.excludes.iter().all(is_there), "{place}");
            let is_taken = |name: &&str| row.screened.iter().filter(|other| other.is_called(name)).count() > 1;
            assert!(!option.also.iter().any(|name| is_taken(name) || is_there(name)), "{place}");
            assert!(!option.excludes.contains(&option.name), "{place}");
        }
    }
    assert!(["ext4", "xfs", "btrfs", "f2fs"].iter().all(|name| options_of(name).len() > 10));
    assert!(options_of("tmpfs").is_empty() && options_of("no-such-filesystem").is_empty());
}

#[test]
fn an_option_without_its_first_other_levels_is_known_and_no_other_one_is() {
    let whole = factor(&SCHEDULER);
    let cut = Factor { other: whole.further[0].clone(), further: whole.further[1..].to_vec(), ..whole.clone() };
    assert!(is_of(&whole, &whole) && is_of(&cut, &whole) && !is_of(&whole, &cut));
    let costs = Factor { costs: "nothing".to_owned(), ..cut.clone() };
    let swapped = Factor { other: whole.further[0].clone(), further: vec![whole.other.clone()], ..whole.clone() };
    let named = Factor { name: "other".to_owned(), ..cut };
    assert!([costs, swapped, named].iter().all(|other| !is_of(other, &whole)));
    // What the first level costs is said as its own; older records say nothing of it.
    let whole = factor(&READ_AHEAD);
    let cut = |costs: &str| Factor {
        other: whole.further[0].clone(),
        further: whole.further[1..].to_vec(),
        costs: costs.to_owned(),
        ..whole.clone()
    };
    let named = costs_of_level("4M", &whole.costs);
    assert_eq!(named, "its level 4M costs: memory and disk time for what is read ahead and never asked for");
    assert_eq!((costs_of_level("1M", &named), costs_of_level("1M", "")), (named.clone(), String::new()));
    assert!(is_of(&cut(&named), &whole) && is_of(&cut(""), &whole) && !is_of(&cut(&whole.costs), &whole));
}

#[test]
fn an_option_whose_usual_level_is_told_as_it_is_here_is_known() {
    let whole = factor(options_of("ext4").iter().find(|option| option.name == "block_size").unwrap());
    assert!(is_claim(&whole.usual) && !is_claim(&whole.other) && !is_claim(&factor(&SCHEDULER).usual));
    let [one, two] = [whole.other.clone(), whole.further[0].clone()];
    let cut = |usual: OptionLevel, left: &OptionLevel| Factor {
        usual,
        other: left.clone(),
        further: Vec::new(),
        costs: String::new(),
        ..whole.clone()
    };
    let of_one = as_here(&whole.usual, &one);
    assert_eq!((of_one.label.as_str(), of_one.mkfs.is_empty()), ("default (1K here)", true));
    assert!(is_of(&cut(of_one.clone(), &two), &whole));
    // A level in the middle or at the end may be what is so here.
    let of_two = as_here(&whole.usual, &two);
    assert!(is_of(&Factor { costs: whole.costs.clone(), ..cut(of_two.clone(), &one) }, &whole));
    let other_words = OptionLevel { mkfs: vec!["-b".to_owned(), "2048".to_owned()], ..of_one.clone() };
    for usual in [of_two, OptionLevel { label: "default (8K here)".to_owned(), ..of_one.clone() }, other_words] {
        assert!(!is_of(&cut(usual, &two), &whole));
    }
    assert!(!is_of(&Factor { usual: of_one, ..whole.clone() }, &whole), "nothing of it was left out");
    assert_eq!(as_here(&two, &one), two, "a level that says something is that");
}

#[test]
fn an_option_of_no_table_in_a_record_of_before_is_known() {
    let now = parse_option(&"ext4".parse().unwrap(), "-m 5|0").unwrap();
    let before = Factor { class: OptionClass::Promises, ..now.clone() };
    assert_eq!(now.class, OptionClass::Unknown);
    assert!(is_of(&before, &now) && !is_of(&now, &before));
    assert!(!is_of(&Factor { class: OptionClass::Ordinary, ..now.clone() }, &now));
}

#[test]
fn what_takes_part_by_itself_is_ordinary_and_fits_into_one_design() {
    for row in FILESYSTEMS.iter().filter(|row| !row.screened.is_empty()) {
        let by_itself: Vec<&ScreenedOption> = row.screened.iter().filter(|option| option.by_itself).collect();
        assert!((8..=9).contains(&by_itself.len()), "{}: {}", row.name, by_itself.len());
        for option in &by_itself {
            assert_eq!(option.class, OptionClass::Ordinary, "{} {}", row.name, option.name);
            let beside = |name: &&str| by_itself.iter().any(|other| other.name == *name);
            assert!(!option.excludes.iter().any(beside), "{} {}", row.name, option.name);
        }
    }
}

#[test]
fn every_level_of_every_table_makes_a_lane_that_a_command_line_makes_again() {
    for (filesystem, option) in all() {
        let base: LaneSpec = filesystem.parse().unwrap();
        for level in option.levels().map(Level::owned) {
            let lane = lane_with(&base, "a", &[&level]);
            let lane = lane.unwrap_or_else(|error| panic!("{filesystem} {} {}: {error}", option.name, level.label));
            assert_eq!(lane.to_line().parse::<LaneSpec>().as_ref(), Ok(&lane), "{filesystem} {}", option.name);
            assert!(lane.layers.iter().all(|layer| layers::check(layer).is_ok()), "{filesystem} {}", option.name);
        }
    }
}

#[test]
fn an_option_is_called_ordinary_only_where_its_lanes_promise_the_same() {
    for (filesystem, option) in all().filter(|(_, option)| option.class == OptionClass::Ordinary) {
        let row = filesystems::find(filesystem).unwrap();
        let base: LaneSpec = filesystem.parse().unwrap();
        for level in option.levels().map(Level::owned) {
            let lane = lane_with(&base, "a", &[&level]).unwrap();
            let promised = |lane: &LaneSpec| (row.promises)(&lane.mkfs_options, &lane.mount_options);
            assert_eq!(promised(&lane), promised(&base), "{filesystem} {} {}", option.name, level.label);
        }
    }
}

#[test]
fn all_options_that_take_part_by_themselves_are_said_at_once() {
    for row in FILESYSTEMS.iter().filter(|row| !row.screened.is_empty()) {
        let base: LaneSpec = row.name.parse().unwrap();
        let others: Vec<OptionLevel> =
            row.screened.iter().filter(|option| option.by_itself).map(|option| option.others[0].owned()).collect();
        let others: Vec<&OptionLevel> = others.iter().collect();
        let lane = lane_with(&base, "all", &others).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(lane.layers[0].name, model::stack::QUEUE);
    }
}

#[test]
fn words_of_levels_are_joined_with_those_of_the_lane() {
    for (base, levels, wanted) in [
        ("xfs", &[][..], "a=xfs"),
        ("xfs,-mreflink=0", &[][..], "a=xfs(-mreflink=0)"),
        ("xfs", &[("logbsize", "32k"), ("reflink", "on")][..], "a=xfs"),
        (
            "xfs",
            &[("reflink", "off"), ("rmapbt", "on"), ("log_size", "128m"), ("logbsize", "256k")][..],
            "a=xfs(-m reflink=0,rmapbt=1 -l size=128m),logbsize=256k",
        ),
        (
            "xfs(-m rmapbt=0),logbsize=64k",
            &[("rmapbt", "on"), ("logbsize", "256k")][..],
            "a=xfs(-m rmapbt=1),logbsize=256k",
        ),
        ("ext4(-O ^64bit)", &[("flex_bg", "off"), ("fast_commit", "on")][..], "a=ext4(-O ^64bit,^flex_bg,fast_commit)"),
        ("ext4(-b 4096)", &[("block_size", "1K")][..], "a=ext4(-b 1024)"),
        ("btrfs(--nodesize 32768)", &[("node_size", "4K")][..], "a=btrfs(-n 4096)"),
        (
            "ext4,relatime@uml",
            &[("noatime", "on"), ("scheduler", "bfq"), ("read_ahead", "4M")][..],
            "a=ext4,noatime/queue,scheduler=bfq,read_ahead=4M@uml",
        ),
        ("ext4/crypt", &[("read_ahead", "1M")][..], "a=ext4/queue,read_ahead=1M/crypt"),
        ("ext4/crypt", &[("dirty_ratio", "5")][..], "a=ext4/vm,dirty_ratio=5/crypt"),
        (
            "ext4",
            &[("dirty_background_ratio", "2"), ("scheduler", "bfq"), ("dirty_ratio", "10")][..],
            "a=ext4/vm,dirty_background_ratio=2,dirty_ratio=10/queue,scheduler=bfq",
        ),
        (
            "ext4/vm,dirty_bytes=1G,swappiness=10/queue,scheduler=none",
            &[("dirty_ratio", "5"), ("scheduler", "bfq")][..],
            "a=ext4/vm,swappiness=10,dirty_ratio=5/queue,scheduler=bfq",
        ),
        (
            "ext4/queue,requests=64/vm,swappiness=10",
            &[("requests", "32")][..],
            "a=ext4/queue,requests=32/vm,swappiness=10",
        ),
        (
            "ext4/queue,scheduler=none,requests=64",
            &[("scheduler", "bfq"), ("read_ahead", "4M")][..],
            "a=ext4/queue,requests=64,scheduler=bfq,read_ahead=4M",
        ),
        (
            "overlay(btrfs:2(-d raid1 -m raid1))",
            &[("metadata", "single")][..],
            "a=overlay(btrfs:2(-d raid1 -m single))",
        ),
    ] {
        let line = line(base, levels);
        let again = line.clone().unwrap().parse::<LaneSpec>().unwrap();
        let wanted: LaneSpec = wanted.parse().unwrap();
        assert_eq!(again, wanted, "{base}: {line:?}");
    }
}

#[test]
fn two_levels_that_set_one_thing_in_two_ways_exclude_each_other() {
    let both = [("data", "journal"), ("journal_async_commit", "on")];
    let said = line("ext4", &both).unwrap_err();
    assert!(said.contains("`data=journal` and `data=writeback`, which set one thing"), "{said}");
    assert!(line("ext4", &[("data", "writeback"), ("journal_async_commit", "on")]).is_ok(), "they say the same");
    let base: LaneSpec = "ext4".parse().unwrap();
    let levels = [("-O", "^flex_bg"), ("-O", "flex_bg")]
        .map(|(flag, word)| OptionLevel { mkfs: vec![flag.to_owned(), word.to_owned()], ..OptionLevel::default() });
    let said = lane_with(&base, "a", &[&levels[0], &levels[1]]).unwrap_err().to_string();
    assert!(said.contains("`-O ^flex_bg` and `-O flex_bg`"), "{said}");
    let queues = ["scheduler=none", "scheduler=bfq"]
        .map(|setting| OptionLevel { queue: vec![setting.to_owned()], ..OptionLevel::default() });
    assert!(lane_with(&base, "a", &[&queues[0], &queues[1]]).is_err());
    let kernels = ["dirty_ratio=5", "dirty_bytes=1G"]
        .map(|setting| OptionLevel { vm: vec![setting.to_owned()], ..OptionLevel::default() });
    let said = lane_with(&base, "a", &[&kernels[0], &kernels[1]]).unwrap_err().to_string();
    assert!(said.contains("both `dirty_ratio=5` and `dirty_bytes=1G`, which set one thing"), "{said}");
    let background = OptionLevel { vm: vec!["dirty_background_ratio=5".to_owned()], ..OptionLevel::default() };
    let said = lane_with(&base, "a", &[&kernels[0], &background]).unwrap_err().to_string();
    assert!(said.contains("is not below dirty_ratio=5"), "{said}");
}

#[test]
fn a_level_of_a_stranger_s_record_passes_the_checks_of_words_too() {
    let base: LaneSpec = "ext4".parse().unwrap();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    for level in [
        OptionLevel { mkfs: words(&["/dev/sda"]), ..OptionLevel::default() },
        OptionLevel { mkfs: words(&["-E", "-F", "/dev/sda"]), ..OptionLevel::default() },
        OptionLevel { mkfs: words(&["-d", "/etc"]), ..OptionLevel::default() },
        OptionLevel { mount: words(&["suid"]), ..OptionLevel::default() },
        OptionLevel { mount: words(&["noatime,suid"]), ..OptionLevel::default() },
        OptionLevel { mount: words(&["noatime@uml"]), ..OptionLevel::default() },
        OptionLevel { mount: words(&["-b1024"]), ..OptionLevel::default() },
        OptionLevel { mount: words(&["ro"]), ..OptionLevel::default() },
        OptionLevel { queue: words(&["scheduler=../x"]), ..OptionLevel::default() },
        OptionLevel { queue: words(&["rotational=1"]), ..OptionLevel::default() },
        OptionLevel { vm: words(&["overcommit_memory=1"]), ..OptionLevel::default() },
        OptionLevel { vm: words(&["dirty_ratio=5/crypt"]), ..OptionLevel::default() },
        OptionLevel { vm: words(&["../kernel/panic=1"]), ..OptionLevel::default() },
    ] {
        assert!(lane_with(&base, "a", &[&level]).is_err(), "{level:?}");
    }
    let nothing = OptionLevel::default();
    for other in ["/mnt/data", "zfs", "rsext4"] {
        let other: LaneSpec = other.parse().unwrap();
        let said = lane_with(&other, "a", &[&nothing]).unwrap_err().to_string();
        assert!(said.contains("name one such as ext4"), "{said}");
    }
}

/// What comes of lanes that are tried, of which nothing is left.
fn tried<const N: usize>(test: &str, lanes: [&str; N]) -> [Result<Tried, crate::LaneFailure>; N] {
    let folder = std::env::temp_dir().join(format!("fairlane-trial-{test}-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut journal = crate::undo::Journal::begin(&folder, "trial").unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let told = lanes.map(|lane| try_lane(&lane.parse().unwrap(), &folder, &mut journal, &stop));
    journal.finish().unwrap();
    let empty = std::fs::read_dir(&folder).unwrap().count() == 0;
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(empty, "{told:?}");
    told
}

#[test]
fn a_lane_that_its_guest_formats_is_not_tried_here() {
    for told in
        tried("guest", ["btrfs@uml", "ext4/crypt@uml", "ext4(-O bogus)/raid0:2@qemu", "./no-such.toml@uml", "tmpfs"])
    {
        assert_eq!(told, Ok(Tried::NotTried));
    }
}

#[test]
fn of_a_lane_in_a_guest_its_mkfs_alone_is_tried_and_needs_no_root() {
    if crate::command::find_program("mkfs.ext4").is_none() {
        eprintln!("trials of lanes in guests: skipped, because mkfs.ext4 is missing");
        return;
    }
    let lanes =
        ["ext4(-O bogus)@uml", "ext4@uml", "ext4(-O flex_bg)@uml", "ext4(-O ^flex_bg)@uml", "ext4,no_such@qemu"];
    let [refused, plain, alike, other, mounted] = tried("mkfs", lanes).map(Result::unwrap);
    let Tried::Refused(why) = &refused else { panic!("{refused:?}") };
    assert!(why.starts_with("mkfs.ext4 refuses it: ") && why.contains("bogus"), "{why}");
    assert!(matches!(plain, Tried::Works(_)), "{plain:?}");
    assert_eq!(alike, plain);
    assert_ne!(other, plain);
    // No kernel was asked, and it may be another lane.
    assert!(matches!(mounted, Tried::Works(_)) && mounted != plain, "{mounted:?}");
}

/// A file of the user's own, in a folder that goes with it.
struct Own(std::path::PathBuf);

impl Own {
    fn new(test: &str, mkfs: &str) -> Own {
        let folder = std::env::temp_dir().join(format!("fairlane-own-{test}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let text = format!("name = \"my\"\n{mkfs}mount = [\"true\", \"{{directory}}\"]\n");
        std::fs::write(folder.join("my.toml"), text).unwrap();
        Own(folder)
    }

    fn lane(&self) -> LaneSpec {
        self.0.join("my.toml").to_str().unwrap().parse().unwrap()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn options_of_a_file_of_ones_own_are_read_and_change_promises_but_for_those_of_the_queue() {
    let own = Own::new("read", "mkfs = [\"mkfs.my\", \"{device}\"]\n");
    for (text, name, wanted) in [
        ("delay=0|100|500", "delay", "0:delay=0; 100:delay=100; 500:delay=500"),
        ("fast", "fast", "default:; on:fast"),
        ("nosafe|safe", "safe", "nosafe:nosafe; safe:safe"),
        ("-b 1024|4096", "-b", "1024:-b 1024; 4096:-b 4096"),
        ("-b1024|4096", "-b", "1024:-b1024; 4096:-b4096"),
        ("-O ^x|x", "-O", "^x:-O ^x; x:-O x"),
        ("-m reflink=1|0", "-m reflink", "1:-m reflink=1; 0:-m reflink=0"),
        ("-mreflink=1|0", "-mreflink", "1:-mreflink=1; 0:-mreflink=0"),
        ("-Lx|y", "-L", "x:-Lx; y:-Ly"),
        ("-size=4k|8k", "-size", "4k:-size=4k; 8k:-size=8k"),
        ("--size=4k|8k", "--size", "4k:--size=4k; 8k:--size=8k"),
        ("--size 4k|8k", "--size", "4k:--size 4k; 8k:--size 8k"),
        ("-quick", "-quick", "default:; on:-quick"),
        ("-K", "-K", "default:; on:-K"),
        ("queue:scheduler=none|bfq", "scheduler", "none:scheduler=none; bfq:scheduler=bfq"),
        ("vm.dirty_ratio=20|5", "dirty_ratio", "20:dirty_ratio=20; 5:dirty_ratio=5"),
    ] {
        let factor = parse_option(&own.lane(), text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let levels = [&factor.usual, &factor.other].into_iter().chain(&factor.further);
        let line = |level: &OptionLevel| {
            let words =
                [level.mkfs.join(" "), level.mount.join(","), level.queue.join(","), level.vm.join(",")].concat();
            format!("{}:{words}", level.label)
        };
        assert_eq!((factor.name.as_str(), levels.map(line).collect::<Vec<_>>().join("; ").as_str()), (name, wanted));
        let is_of_filesystem = !text.starts_with("queue") && !text.starts_with("vm.");
        let wanted = if is_of_filesystem { OptionClass::Unknown } else { OptionClass::Ordinary };
        assert_eq!(factor.class, wanted, "{text}");
    }
}

#[test]
fn what_no_lane_of_a_file_of_ones_own_may_say_is_no_option_of_it() {
    let own = Own::new("refused", "mkfs = [\"mkfs.my\", \"{device}\"]\n");
    for (text, part) in [
        ("-d UUID=0a0b|x", "names a device"),
        ("-c Cargo.toml|x", "names a file"),
        ("-c /etc/passwd|x", "holds `/`"),
        ("-b 1024 4096", "no command line makes a lane"),
        ("-", "`-` is no option, and a lane hands mkfs.my only options"),
        ("-a|-b", "an empty level"),
        ("--a|--b", "no flag of mkfs with levels"),
        ("-b=", "an empty level"),
        ("suid", "not for lanes"),
        ("errors=panic", "whole machine would stop"),
        ("device=UUID=x", "is no block device"),
        ("ro", "no option to vary"),
        ("queue:scheduler=none|cfq", "write scheduler=none|mq-deadline|kyber|bfq"),
    ] {
        let said = parse_option(&own.lane(), text).map(|factor| factor.name).unwrap_err().to_string();
        assert!(said.contains(part), "{text}: {said}");
    }
    let bare = Own::new("bare", "");
    let said = parse_option(&bare.lane(), "-b 1024|4096").unwrap_err().to_string();
    assert!(said.contains("my has no mkfs, so `-b` goes nowhere"), "{said}");
    assert!(parse_option(&bare.lane(), "delay=0|100").is_ok());
    let absent = parse_option(&"./no-such.toml".parse().unwrap(), "fast").unwrap_err().to_string();
    assert!(absent.contains("no-such.toml") && absent.contains("name a TOML file"), "{absent}");
}

#[test]
fn lanes_of_a_file_that_nobody_opens_are_made_of_what_they_and_levels_say() {
    let level = |kind: &str, words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        match kind {
            "mkfs" => OptionLevel { mkfs: words, ..OptionLevel::default() },
            "mount" => OptionLevel { mount: words, ..OptionLevel::default() },
            _ => OptionLevel { queue: words, ..OptionLevel::default() },
        }
    };
    let made = |base: &str, levels: &[&OptionLevel]| {
        let lane = lane_with(&base.parse().unwrap(), "a", levels);
        lane.map(|lane| lane.to_line()).map_err(|error| error.to_string())
    };
    for (base, kind, words, wanted) in [
        ("./no-such.toml", "mount", &["delay=100"][..], "a=./no-such.toml,delay=100"),
        ("./no-such.toml,delay=0,fast", "mount", &["delay=100"][..], "a=./no-such.toml,fast,delay=100"),
        ("./no-such.toml(-qF -b 1024)", "mkfs", &["-b", "4096"][..], "a=./no-such.toml(-qF -b 4096)"),
        ("./no-such.toml,-b1024,-quick", "mkfs", &["-b4096"][..], "a=./no-such.toml(-b4096 -quick)"),
        ("./no-such.toml,-quick", "mkfs", &["-quiet"][..], "a=./no-such.toml(-quick -quiet)"),
        ("./no-such.toml", "queue", &["scheduler=bfq"][..], "a=./no-such.toml/queue,scheduler=bfq"),
        ("./no-such.toml@image", "queue", &["requests=64"][..], "a=./no-such.toml/queue,requests=64@image"),
    ] {
        assert_eq!(made(base, &[&level(kind, words)]).as_deref(), Ok(wanted), "{base}");
    }
    let said = made("./no-such.toml", &[&level("mkfs", &["-b", "1024"]), &level("mkfs", &["-b", "4096"])]).unwrap_err();
    assert!(said.contains("both `-b 1024` and `-b 4096`, which set one thing"), "{said}");
    for (kind, words) in [
        ("mkfs", &["/dev/sda"][..]),
        ("mkfs", &["-d", "/etc"][..]),
        ("mkfs", &["-d/etc"][..]),
        ("mkfs", &["{device}"][..]),
        ("mkfs", &["-L", "UUID=x"][..]),
        ("mkfs", &["-b", "1024", "4096"][..]),
        ("mount", &["suid"][..]),
        ("mount", &["fast,suid"][..]),
        ("mount", &["fast@uml"][..]),
        ("queue", &["scheduler=../x"][..]),
    ] {
        assert!(made("./no-such.toml", &[&level(kind, words)]).is_err(), "{kind} {words:?}");
    }
}
