//! Advice, on races whose truth is known and with the real table of features.

use crate::asking;
use crate::common;

use asking::{asked, excluded, judged, nothing_known, race, scenario, table, three};
use common::{lane, probe, small_files, trial};
use model::aged::AgedLane;
use model::findings::{Advice, Equal, Flip, NoAdvice};
use model::lane::Lane;
use model::record::{Profile, Record};
use model::scenario::Scenario;
use model::trial::Outcome;
use stats::advice::{Knowledge, KnownSuite, KnownWorkload, Race, advise, combinable};

#[test]
fn the_lane_with_the_best_weighted_mean_is_taken_with_its_reasons() {
    let race = race(three(), &[[1000.0, 1000.0], [1500.0, 900.0], [500.0, 1000.0]], 0.005);
    let advice = asked(&race, &scenario([0.6, 0.4, 0.0], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.no_advice), (Some("xfs"), None));
    assert!(advice.level_with.is_empty() && advice.excluded.is_empty() && advice.not_measured.is_empty());
    // ln(xfs/ext4) = 0.6 ln 1.5 + 0.4 ln 0.9.
    let lead = advice.leads.iter().find(|lead| lead.against == "ext4").unwrap().ratio;
    assert!((lead - 1.5_f64.powf(0.6) * 0.9_f64.powf(0.4)).abs() < 0.01, "{lead}");
    let first = &advice.why[0];
    assert_eq!((first.what.as_str(), first.against.as_str(), first.share), ("commits", "btrfs", 0.6));
    assert_eq!(first.series, ["quick/commit/write"]);
    // The near end of an interval around 3.
    assert!(first.at_least && (2.8..3.0).contains(&first.ratio), "{first:?}");
    // What speaks against it is told too.
    let against = advice.why.iter().find(|why| why.what == "reads" && why.against == "ext4").unwrap();
    assert!((against.ratio - 0.9).abs() < 0.01, "{against:?}");
    assert_eq!(advice.share_of_resampled_races, Some(1.0));
    assert!((advice.measured_share - 1.0).abs() < 1e-9);
}

#[test]
fn an_aged_lane_is_no_second_contestant_beside_itself_fresh() {
    let of_states = |filesystem: &str, states: &str| Lane {
        spec: format!("{filesystem}{states}"),
        filesystem: filesystem.to_owned(),
        aged: (!states.is_empty()).then(|| AgedLane { states: states.to_owned(), ..AgedLane::default() }),
        ..lane(&format!("{filesystem}{states}"))
    };
    let lanes = vec![of_states("ext4", ""), of_states("ext4", "+aged"), of_states("xfs", "")];
    let advice =
        asked(&race(lanes, &[[1000.0; 2], [500.0; 2], [800.0; 2]], 0.002), &scenario([0.5, 0.5, 0.0], &[]), &[]);
    let others: Vec<&str> = advice.leads.iter().map(|lead| lead.against.as_str()).collect();
    assert_eq!((advice.lane.as_deref(), others), (Some("ext4"), vec!["xfs"]));
    // Without the fresh ones the old ones are ranked.
    let lanes = vec![of_states("ext4", "+aged"), of_states("xfs", "+aged")];
    let advice = asked(&race(lanes, &[[1000.0; 2], [500.0; 2]], 0.002), &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.leads.len()), (Some("ext4+aged"), 1));
}

#[test]
fn the_smallest_change_of_a_share_that_turns_the_choice_is_found() {
    // xfs: 1.5 at commits, 0.5 at reads. With shares 0.7 and 0.3 xfs wins; at s ln 1.5 = 0.3 ln 2 they
    // are level: s = 0.513; and at 0.7 ln 1.5 = s ln 2: s = 0.409. The second is nearer.
    let race = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1500.0, 500.0]], 0.002);
    let advice = asked(&race, &scenario([0.7, 0.3, 0.0], &[]), &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    let Some(Flip::Weight { what, share, at, lane }) = advice.flips_if.first() else { panic!("{:?}", advice.flips_if) };
    assert_eq!((what.as_str(), *share, lane.as_str()), ("reads", 0.3, "ext4"));
    assert!((at - 0.7 * 1.5_f64.ln() / 2_f64.ln()).abs() < 0.005, "{at}");
    // A lane that is level is no news: of two that are apart by 1 % no share is told.
    let near =
        asking::race(vec![common::lane("ext4"), common::lane("xfs")], &[[1000.0, 1060.0], [1070.0, 1000.0]], 0.001);
    let advice = asked(&near, &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!((advice.level_with.len(), advice.why.len()), (1, 2));
    assert!(!advice.flips_if.iter().any(|flip| matches!(flip, Flip::Weight { .. })), "{:?}", advice.flips_if);
    // Where one lane does better at everything, no share turns it.
    let race = asking::race(vec![common::lane("ext4"), common::lane("xfs")], &[[1000.0; 2], [1500.0, 1200.0]], 0.002);
    let advice = asked(&race, &scenario([0.7, 0.3, 0.0], &[]), &[]);
    assert!(!advice.flips_if.iter().any(|flip| matches!(flip, Flip::Weight { .. })), "{:?}", advice.flips_if);
}

#[test]
fn constraints_exclude_with_their_source_and_dropping_one_turns_the_choice() {
    let race = race(three(), &[[1000.0; 2], [1500.0; 2], [500.0; 2]], 0.005);
    let home =
        scenario([0.5, 0.5, 0.0], &[("checksums|snapshots", "keeps the only copy"), ("durable", "has no battery")]);
    let advice = asked(&race, &home, &[]);
    assert_eq!(advice.lane.as_deref(), Some("btrfs"));
    let out = excluded(&advice, "ext4");
    assert_eq!((out.constraint.as_str(), out.why.as_deref()), ("checksums|snapshots", Some("keeps the only copy")));
    assert_eq!(
        out.facts.iter().map(|fact| (fact.need.as_str(), fact.is.as_str())).collect::<Vec<_>>(),
        [("checksums", "no"), ("snapshots", "no")]
    );
    assert!(out.source.contains("ext4(5), metadata_csum"), "{}", out.source);
    assert!(excluded(&advice, "xfs").source.contains("mkfs.xfs(8)"));
    // With one lane left there is nothing that it could lose.
    assert_eq!(advice.share_of_resampled_races, None);
    let [Flip::Without { need, lane, ratio }] = advice.flips_if.as_slice() else { panic!("{:?}", advice.flips_if) };
    assert_eq!((need.as_str(), lane.as_str()), ("checksums|snapshots", "xfs"));
    // What the constraint costs: 1500 against 500.
    assert!((ratio - 3.0).abs() < 0.05, "{ratio}");
}

#[test]
fn what_the_user_asks_for_excludes_too_and_what_nobody_asked_for_is_named() {
    let race = race(three(), &[[1000.0; 2], [1500.0; 2], [500.0; 2]], 0.005);
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let advice = asked(&race, &plain, &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    let with = |advice: &Advice, of: &str| {
        advice.flips_if.iter().find_map(|flip| match flip {
            Flip::With { needs, lane, .. } if lane == of => Some(needs.clone()),
            _ => None,
        })
    };
    assert_eq!(with(&advice, "btrfs").unwrap(), ["checksums", "snapshots"]);
    assert_eq!(with(&advice, "ext4").unwrap(), ["encryption", "shrink"]);
    let advice = asked(&race, &plain, &["shrink"]);
    assert_eq!(advice.lane.as_deref(), Some("ext4"));
    assert_eq!(excluded(&advice, "xfs").why, None);
    let none = asked(&race, &plain, &["shrink=online", "encryption"]);
    assert_eq!((none.lane.as_deref(), none.no_advice), (None, Some(NoAdvice::AllExcluded)));
    assert_eq!(none.excluded.len(), 3);
}

#[test]
fn options_of_a_lane_decide_what_it_has() {
    let mut nocow = lane("btrfs");
    nocow.mount_options = vec!["noatime".into(), "nodatacow".into()];
    let mut squeezed = lane("btrfs");
    squeezed.name = "squeezed".into();
    squeezed.mount_options = vec!["nodatacow".into(), "compress=zstd:1".into()];
    let mut lean = lane("xfs");
    lean.mkfs_command = ["mkfs.xfs", "-f", "-mreflink=0", "{device}"].map(str::to_owned).to_vec();
    let mut old = lane("xfs");
    old.name = "old".into();
    old.geometry = vec!["meta-data crc: 1".into(), "meta-data reflink: 0".into()];
    let race = race(vec![nocow, squeezed, lean, old], &[[1000.0; 2]; 4], 0.005);
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let out = |needs: &[&str]| {
        let advice = asked(&race, &plain, needs);
        advice.excluded.iter().map(|of| of.lane.clone()).collect::<Vec<_>>()
    };
    assert_eq!(out(&["checksums"]), ["btrfs", "xfs", "old"]);
    assert_eq!(out(&["compression"]), ["btrfs", "xfs", "old"]);
    assert_eq!(out(&["reflink"]), ["xfs", "old"]);
    let advice = asked(&race, &plain, &["checksums"]);
    let fact = &excluded(&advice, "btrfs").facts[0];
    assert_eq!((fact.is.as_str(), fact.with.is_some()), ("off", true));
}

#[test]
fn a_directory_does_not_show_how_it_was_made() {
    let mut found = lane("xfs");
    (found.venue, found.mkfs_command) = ("directory".into(), Vec::new());
    let race = race(
        vec![found, {
            let mut b = lane("btrfs");
            b.venue = "directory".into();
            b
        }],
        &[[1000.0; 2]; 2],
        0.005,
    );
    let advice = asked(&race, &scenario([0.5, 0.5, 0.0], &[]), &["reflink"]);
    assert_eq!(excluded(&advice, "xfs").facts[0].is, "unknown");
    assert_eq!(advice.lane.as_deref(), Some("btrfs"));
    // What no tool does by itself is not feared, and what can be had at the worst is enough.
    let advice = asked(&race, &scenario([0.5, 0.5, 0.0], &[]), &["overlay", "quota=project|growth"]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
}

#[test]
fn lanes_that_promise_less_never_win_silently() {
    let mut risky = lane("ext4");
    risky.name = "ext4,nobarrier".into();
    risky.promises.barriers = false;
    risky.promises.fsync_reaches_stable_storage = false;
    let mut memory = lane("tmpfs");
    memory.venue = "memory".into();
    memory.promises = model::lane::Promises {
        journal: false,
        data_checksums: false,
        fsync_reaches_stable_storage: false,
        barriers: false,
        outlives_cache: true,
    };
    let mut library = lane("rsext4");
    library.venue = "library".into();
    let race = race(
        vec![lane("ext4"), risky, memory, library, lane("xfs")],
        &[[1000.0; 2], [9000.0; 2], [90000.0; 2], [8000.0; 2], [1100.0; 2]],
        0.005,
    );
    let durable = asked(&race, &scenario([0.5, 0.5, 0.0], &[("durable", "commits")]), &[]);
    assert_eq!(durable.lane.as_deref(), Some("xfs"));
    let out = excluded(&durable, "ext4,nobarrier");
    assert_eq!((out.constraint.as_str(), out.why.as_deref()), ("durable", Some("commits")));
    assert!(out.facts[0].note.as_deref().unwrap().contains("does not flush its writes"));
    assert_eq!(excluded(&durable, "tmpfs").constraint, "durable");
    assert_eq!(excluded(&durable, "rsext4").constraint, "mounted");
    // A scenario that can do without names them all the same.
    let scratch = asked(&race, &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!(scratch.lane.as_deref(), Some("xfs"));
    assert_eq!(excluded(&scratch, "ext4,nobarrier").constraint, "comparable");
    assert_eq!(excluded(&scratch, "tmpfs").constraint, "kept");
    assert!(!durable.flips_if.iter().any(|flip| matches!(flip, Flip::Without { .. })), "{:?}", durable.flips_if);
}

#[test]
fn what_the_disk_set_counts_as_equal_and_is_named() {
    let mut race = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1500.0, 990.0]], 0.002);
    for round in [1, 3, 5] {
        race.probes.push(probe("random-read", Profile::RandRead, round, 1000.0));
    }
    let advice = asked(&race, &scenario([0.3, 0.7, 0.0], &[]), &[]);
    assert_eq!(advice.equal.len(), 1);
    assert_eq!((advice.equal[0].what.as_str(), advice.equal[0].because), ("reads", Equal::Device));
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    assert!(advice.why.iter().all(|why| why.what == "commits"), "{:?}", advice.why);
    // Of its weight the disk's part still counts as measured: equal is what was measured.
    let lead = advice.leads[0].ratio;
    assert!((lead - 1.5_f64.powf(0.3)).abs() < 0.01, "{lead}");
}

#[test]
fn ties_and_noise_are_no_differences_and_noise_is_what_could_turn_it() {
    // Commits: xfs 8 % ahead, sure. Reads: ext4 seems 20 % ahead, far too noisy.
    let mut race = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1080.0, 1000.0]], 0.003);
    let mut noise = common::noise(3);
    for trial in race.trials.iter_mut().filter(|trial| trial.workload == "random-read") {
        let scale = (0.6 * noise.next()).exp() * if trial.lane == "ext4" { 1.2 } else { 1.0 };
        for figure in trial.groups.iter_mut().flat_map(|group| group.metrics.values_mut()) {
            *figure *= scale;
        }
    }
    let advice = asked(&race, &scenario([0.7, 0.3, 0.0], &[]), &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    assert_eq!(advice.equal[0].because, Equal::Undecided);
    let noisy = Flip::Undecided { what: "reads".into(), lane: "ext4".into() };
    assert!(advice.flips_if.contains(&noisy), "{:?}", advice.flips_if);
    let share = advice.share_of_resampled_races.unwrap();
    assert!(share > 0.02 && share < 0.98, "{share}");

    let ties = asking::race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1010.0, 1010.0]], 0.002);
    let advice = asked(&ties, &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), &advice.level_with[..]), (Some("ext4"), &["xfs".to_owned()][..]));
    assert!(advice.why.is_empty() && advice.equal.iter().all(|equal| equal.because == Equal::Tie));
    assert_eq!(advice.share_of_resampled_races, None);
}

#[test]
fn where_noise_alone_sets_lanes_apart_there_is_no_advice_yet_but_the_race_that_settles_it() {
    let noisy = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [1020.0, 1010.0]], 0.1);
    let advice = asked(&noisy, &scenario([0.4, 0.2, 0.4], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.no_advice), (None, Some(NoAdvice::Undecided)));
    assert!(advice.equal.iter().all(|part| part.because == Equal::Undecided) && advice.equal.len() == 2);
    assert_eq!(advice.next[0], "race");
    assert!(advice.next.contains(&"--rounds".to_owned()), "{:?}", advice.next);
    // Two rounds are no measurement.
    let mut begun = race(vec![lane("ext4"), lane("xfs")], &[[1000.0, 1000.0], [3000.0, 3000.0]], 0.01);
    begun.trials.retain(|trial| trial.round <= 2);
    let advice = asked(&begun, &scenario([0.4, 0.6, 0.0], &[]), &[]);
    assert_eq!((advice.no_advice, advice.measured_share), (Some(NoAdvice::TooLittleMeasured), 0.0));
}

#[test]
fn notes_are_told_of_the_chosen_lanes_that_they_are_about() {
    let mut scenario = scenario([0.5, 0.5, 0.0], &[]);
    let text = "name = \"x\"\ntitle = \"X\"\nabout = \"a\"\n[[weight]]\nwhat = \"w\"\nshare = 1.0\nwhy = \"y\"\n\
        series = [\"a/b/c\"]\n\
        [[note]]\nlacks = \"checksums\"\ntext = \"no sums\"\nsource = \"s\"\n\
        [[note]]\nfilesystems = [\"ext4\"]\nhas = \"shrink\"\ntext = \"it shrinks\"\nsource = \"s\"\n\
        [[note]]\nfilesystems = [\"btrfs\"]\ntext = \"of btrfs\"\nsource = \"s\"\n";
    scenario.note = Scenario::from_toml(text).unwrap().note;
    let level = race(three(), &[[1000.0; 2], [1002.0; 2], [300.0; 2]], 0.002);
    let advice = asked(&level, &scenario, &[]);
    let told: Vec<_> = advice.notes.iter().map(|note| (note.text.as_str(), note.lanes.join(" "))).collect();
    assert_eq!(told, [("no sums", "ext4 xfs".to_owned()), ("it shrinks", "ext4".to_owned())]);
}

#[test]
fn less_than_half_measured_gives_no_advice_but_the_command_that_measures_it() {
    let mut race = race(three(), &[[1000.0; 2], [1500.0; 2], [500.0; 2]], 0.005);
    race.header.plan.command_line =
        "fairlane race ext4 xfs btrfs --suite quick --set commit.bs=8KiB --on /srv --lane-size 4GiB --seed 7"
            .split(' ')
            .map(str::to_owned)
            .collect();
    let advice = asked(&race, &scenario([0.3, 0.1, 0.6], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.no_advice), (None, Some(NoAdvice::TooLittleMeasured)));
    assert!(advice.why.is_empty() && advice.flips_if.is_empty());
    assert!((advice.measured_share - 0.4).abs() < 1e-9);
    assert_eq!(advice.not_measured.len(), 1);
    assert_eq!(
        (advice.not_measured[0].what.as_str(), advice.not_measured[0].suite.as_deref()),
        ("large", Some("later"))
    );
    assert_eq!(advice.next.join(" "), "race ext4 xfs btrfs --suite later --on /srv --lane-size 4GiB");
    // Exactly half is enough, and what is missing is said all the same.
    let advice = asked(&race, &scenario([0.25, 0.25, 0.5], &[]), &[]);
    assert_eq!((advice.lane.as_deref(), advice.not_measured.len()), (Some("xfs"), 1));
    // Where no suite measures it there is no command.
    let (features, findings) = (table(), judged(&race));
    let known = Knowledge { features: &features, suites: &["quick"].map(KnownSuite::from), ..nothing_known() };
    let races = [Race { record: &race, findings: &findings }];
    let advice = advise(&races, &scenario([0.3, 0.1, 0.6], &[]), &[], &known);
    assert!(advice.next.is_empty() && advice.not_measured[0].suite.is_none());
}

/// A suite of two workloads that keep so much on a lane.
fn known_suite(name: &str, workloads: [&str; 2], work_bytes: u64) -> KnownSuite {
    let of = |name: &str| KnownWorkload {
        name: name.into(),
        title: format!("{name} by title"),
        work_bytes,
        in_library: false,
        in_guest: true,
        asks: Vec::new(),
    };
    KnownSuite { workloads: workloads.map(of).to_vec(), ..KnownSuite::from(name) }
}

fn command(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_race_that_is_proposed_measures_what_is_missing_and_can_be_run() {
    let mut race = race(vec![lane("ext4"), lane("xfs")], &[[1000.0; 2], [1500.0; 2]], 0.005);
    race.trials.retain(|trial| trial.workload == "commit");
    race.header.plan.workloads.truncate(1);
    race.header.plan.command_line =
        command("fairlane race ext4 xfs --suite quick --workload commit --on /srv --lane-size 512MiB --with-self");
    let findings = judged(&race);
    let races = [Race { record: &race, findings: &findings }];
    let features = table();
    let proposed = |scenario: &Scenario, suites: &[KnownSuite]| {
        let known = Knowledge { features: &features, suites, ..nothing_known() };
        advise(&races, scenario, &[], &known).next.join(" ")
    };
    // What the record holds already is not raced again.
    let quick = known_suite("quick", ["commit", "random-read"], 64 << 20);
    let of_quick = scenario([0.4, 0.6, 0.0], &[]);
    assert_eq!(
        proposed(&of_quick, std::slice::from_ref(&quick)),
        "race ext4 xfs --suite quick --workload random-read --on /srv --lane-size 512MiB"
    );
    // Lanes that are too small for the other suite grow.
    let later = known_suite("later", ["large", "other"], 768 << 20);
    let of_later = scenario([0.4, 0.0, 0.6], &[]);
    assert_eq!(
        proposed(&of_later, &[quick.clone(), later]),
        "race ext4 xfs --suite later --on /srv",
        "2 GiB are enough, and need no word"
    );
    let larger = known_suite("later", ["large", "other"], (3 << 30) / 2 + 1);
    assert_eq!(proposed(&of_later, &[larger]), "race ext4 xfs --suite later --on /srv --lane-size 3328MiB");
    // A search for writers is no part of another suite.
    let mut search = race.clone();
    search.header.plan.suite = "appenders".into();
    search.header.plan.command_line = command(
        "fairlane race ext4 xfs --suite appenders --find-max=load --most-writers 1600 --guest-sync --throttle 90iops \
         --as-published --keep",
    );
    let searched = judged(&search);
    let races = [Race { record: &search, findings: &searched }];
    let known = Knowledge { features: &features, suites: std::slice::from_ref(&quick), ..nothing_known() };
    let next = advise(&races, &of_quick, &[], &known).next.join(" ");
    assert_eq!(next, "race ext4 xfs --suite quick --guest-sync --throttle 90iops");
    // What no guest can do is not proposed to lanes that live in one.
    let mut in_guest = search.clone();
    for spec in &mut in_guest.header.plan.lanes {
        spec.venue = Some(model::lane::Venue::Uml);
    }
    let races = [Race { record: &in_guest, findings: &searched }];
    assert!(!advise(&races, &of_quick, &[], &known).next.is_empty());
    let mut programs = quick.clone();
    programs.workloads[1].in_guest = false;
    let known = Knowledge { features: &features, suites: &[programs], ..nothing_known() };
    assert!(advise(&races, &of_quick, &[], &known).next.is_empty());
}

#[test]
fn one_lane_gets_another_and_what_is_needed_is_named_and_raced() {
    let of = |lanes: Vec<Lane>, line: &str| {
        let rates = vec![[1000.0; 2]; lanes.len()];
        let mut race = race(lanes, &rates, 0.005);
        race.header.plan.command_line = command(line);
        race
    };
    let others = ["ext4", "xfs", "btrfs", "bcachefs"].map(|name| Lane { size_bytes: 300 << 20, ..lane(name) });
    let features = table();
    let suites = [known_suite("quick", ["commit", "random-read"], 1 << 20)];
    let known = Knowledge { features: &features, suites: &suites, others: &others, ..nothing_known() };
    let asked = |race: &Record, needs: &[&str]| {
        let needs: Vec<_> = needs.iter().map(|need| need.parse().unwrap()).collect();
        let races = [Race { record: race, findings: &judged(race) }];
        advise(&races, &scenario([0.5, 0.5, 0.0], &[]), &needs, &known)
    };
    let one = of(vec![lane("ext4")], "fairlane race ext4 --suite quick --lane-size 256MiB");
    // Records of other lanes are not taken together: all of it is raced, in lanes that both filesystems take.
    assert_eq!(asked(&one, &[]).next.join(" "), "race ext4 xfs --suite quick");
    // Of those that are needed the first is raced, and all are named.
    let advice = asked(&one, &["checksums"]);
    assert_eq!((advice.lane.as_deref(), advice.no_advice), (None, Some(NoAdvice::AllExcluded)));
    assert_eq!(advice.not_raced, ["btrfs", "bcachefs"]);
    assert_eq!(advice.next.join(" "), "race ext4 btrfs --suite quick");
    let two = of(vec![lane("ext4"), lane("btrfs")], "fairlane race ext4 btrfs --suite quick");
    let advice = asked(&two, &["checksums"]);
    assert_eq!((advice.lane.as_deref(), &advice.not_raced[..]), (Some("btrfs"), &["bcachefs".to_owned()][..]));
    assert!(asked(&two, &[]).not_raced.is_empty(), "nothing is asked for");
    // Beside a directory nothing can be made.
    let mut directory = one.clone();
    directory.header.plan.lanes[0].contestant = model::lane::Contestant::Directory("/mnt/a".into());
    assert!(asked(&directory, &[]).next.is_empty());
}

#[test]
fn a_lane_that_could_not_do_the_work_is_out() {
    let mut race = race(three(), &[[1000.0; 2], [1500.0; 2], [5000.0; 2]], 0.005);
    for trial in race.trials.iter_mut().filter(|trial| trial.lane == "btrfs" && trial.workload == "commit") {
        trial.outcome = Outcome::Failed;
        trial.reason = Some("no space left".into());
    }
    let advice = asked(&race, &scenario([0.5, 0.5, 0.0], &[]), &[]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    let out = excluded(&advice, "btrfs");
    assert_eq!((out.constraint.as_str(), out.facts[0].note.as_deref()), ("done", Some("commit 4 KiB: no space left")));
}

#[test]
fn what_can_be_had_later_is_enough_and_said() {
    let mut limited = lane("xfs");
    limited.mount_options = vec!["pquota".into()];
    let race = race(vec![lane("ext4"), limited, lane("btrfs")], &[[1500.0; 2], [1000.0; 2], [900.0; 2]], 0.005);
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let advice = asked(&race, &plain, &["quota=project"]);
    assert_eq!(advice.lane.as_deref(), Some("ext4"));
    assert_eq!(advice.raced_without.len(), 1);
    assert!(advice.raced_without[0].with.contains("tune2fs -O quota,project"), "{:?}", advice.raced_without);
    assert_eq!(excluded(&advice, "btrfs").constraint, "quota=project");
    // Project quotas were on in the race of xfs; user quotas were not, and can be had.
    let advice = asked(&race, &plain, &["quota=project", "shrink|dynamic-inodes", "quota=user", "reflink"]);
    assert_eq!(advice.lane.as_deref(), Some("xfs"));
    assert_eq!(advice.raced_without.iter().map(|of| of.need.as_str()).collect::<Vec<_>>(), ["quota=user"]);
}

#[test]
fn sizes_and_kernels_are_constraints() {
    let mut race =
        race(vec![lane("ext4"), lane("xfs"), lane("bcachefs")], &[[1000.0; 2], [900.0; 2], [2000.0; 2]], 0.005);
    race.header.machine.kernel = "6.18.44-fc".into();
    let plain = scenario([0.5, 0.5, 0.0], &[]);
    let taken = |race: &Record, need: &str| asked(race, &plain, &[need]).lane;
    assert_eq!(taken(&race, "kernel").as_deref(), Some("ext4"));
    assert_eq!(taken(&race, "file-size=16TiB").as_deref(), Some("ext4"));
    assert_eq!(taken(&race, "file-size=17TiB").as_deref(), Some("xfs"));
    assert_eq!(taken(&race, "kernel=6.12").as_deref(), Some("bcachefs"));
    assert_eq!(taken(&race, "kernel=5.10").as_deref(), Some("ext4"));
    race.header.machine.kernel = "6.12.0".into();
    assert_eq!(taken(&race, "kernel").as_deref(), Some("bcachefs"));
}

#[test]
fn records_of_the_same_lanes_are_taken_together() {
    let first = race(three(), &[[1000.0, 1000.0], [1500.0, 1000.0], [500.0, 1000.0]], 0.005);
    let mut second = first.clone();
    second.header.started = "2026-11-21T10:00:00Z".into();
    second.header.plan.suite = "later".into();
    second.header.plan.workloads = vec![{
        let mut large = small_files();
        large.name = "large".into();
        large
    }];
    second.trials.clear();
    for round in 1..=20 {
        for (name, rate) in [("ext4", 3000.0), ("xfs", 1000.0), ("btrfs", 1000.0)] {
            second.trials.push(trial(name, &second.header.plan.workloads[0].clone(), round, rate));
        }
    }
    let (of_first, of_second) = (judged(&first), judged(&second));
    let races = [Race { record: &first, findings: &of_first }, Race { record: &second, findings: &of_second }];
    assert_eq!(combinable(&races), Ok(()));
    let features = table();
    let known = Knowledge { features: &features, ..nothing_known() };
    let both = scenario([0.2, 0.2, 0.6], &[]);
    let advice = advise(&races, &both, &[], &known);
    // 0.6 · 2/3 ln 3 outweighs 0.2 ln 1.5: the page cache answered one of the three series, which is
    // then equal.
    assert_eq!((advice.lane.as_deref(), advice.measured_share), (Some("ext4"), 1.0));
    let large = advice.why.iter().find(|why| why.what == "large" && why.against == "xfs").unwrap();
    assert_eq!(large.series, ["later/large/create", "later/large/read", "later/large/delete"]);
    assert!((large.ratio - 3_f64.powf(2.0 / 3.0)).abs() < 0.05 && !large.at_least, "{large:?}");

    let twice = [races[0], races[0]];
    assert!(combinable(&twice).unwrap_err().contains("record 2 is one of the others again"));
    let mut other = second.clone();
    other.header.machine.cpu = "another".into();
    let far = [races[0], Race { record: &other, findings: &of_second }];
    assert!(combinable(&far).unwrap_err().contains("another CPU"));
    let mut fewer = second.clone();
    fewer.header.lanes.truncate(2);
    let apart = [races[0], Race { record: &fewer, findings: &of_second }];
    assert!(combinable(&apart).unwrap_err().contains("other lanes"));
    let mut slower = second.clone();
    slower.header.plan.throttle = Some("50MiB/s".parse().unwrap());
    let disks = [races[0], Race { record: &slower, findings: &of_second }];
    assert!(combinable(&disks).unwrap_err().contains("other emulated disks"));
    slower.header.plan.throttle = None;
    slower.header.plan.lane_throttles = [("xfs".to_owned(), "2000iops".parse().unwrap())].into();
    let disks = [races[0], Race { record: &slower, findings: &of_second }];
    assert!(combinable(&disks).unwrap_err().contains("other emulated disks"));
    assert!(combinable(&[]).is_err());
}

#[test]
fn what_is_missing_names_its_workload_and_what_was_raced_and_is_other_work() {
    let mut record = race(vec![lane("ext4"), lane("xfs")], &[[1000.0; 2], [1500.0; 2]], 0.005);
    let model::workload::Kind::Io(io) = &mut record.header.plan.workloads[0].kind else { unreachable!() };
    io.fdatasync = 1;
    let mut asked = scenario([0.5, 0.5, 0.0], &[]);
    asked.weight.truncate(2);
    asked.weight[0].what = "commits".to_owned();
    asked.weight[0].series = vec!["quick/log/write".to_owned().try_into().unwrap()];
    let (features, findings) = (table(), judged(&record));
    let suites = [known_suite("quick", ["log", "random-read"], 1 << 20)];
    let known = Knowledge { features: &features, suites: &suites, ..nothing_known() };
    let advice = advise(&[Race { record: &record, findings: &findings }], &asked, &[], &known);
    let of = &advice.not_measured[0];
    let named = (of.suite.as_deref(), of.workload.as_deref(), of.title.as_deref());
    assert_eq!(named, (Some("quick"), Some("log"), Some("log by title")), "{advice:#?}");
    assert_eq!(of.raced, [findings.results[0].title.clone()]);
}
