//! Power cuts and damage as reports say them: the figures stand in the sentences, and names of others harm nothing.

use model::durability::{
    Damage, DamageFindings, DurabilityFindings, DurabilityVerdict, Example, Failed, Fault, Full, Honesty,
    LaneDurability, LaneExample, SpeedFinding, Untrusted,
};
use report::{DURABILITY_FORMATS, DurabilityPlan, PlannedCuts, Style, render_durability};
use std::path::Path;

fn lane(name: &str, broken: u64) -> LaneDurability {
    let example = Example {
        cut: "88/random:7".to_owned(),
        acknowledged: 3,
        said: "record 1 is missing".to_owned(),
        kept: "/state/it's kept".to_owned(),
    };
    LaneDurability {
        lane: name.to_owned(),
        verdict: if broken > 0 { DurabilityVerdict::Broke } else { DurabilityVerdict::Kept },
        cuts: 2000,
        broken,
        proven_cuts: 1600,
        open: Some(1410),
        images: Some(1203),
        failed: None,
        below: (broken == 0).then_some(0.0015),
        lost: broken,
        torn: 0,
        stale: 0,
        mixed: 0,
        unmountable: 0,
        broken_torn_512: 0,
        complaints: 0,
        repaired: 0,
        forced: 0,
        loses_a_disk: false,
        lost_disk: None,
        bare_cuts: 400,
        bare_missing: 31,
        bare_unmountable: 0,
        images_per_hour: Some(143_210.4),
        memory_bytes: 212 << 20,
        speed: (broken > 0).then_some(SpeedFinding { ratio: 1.4, low: 1.1, high: 2.0 }),
        promises_fsync: broken == 0,
        examples: if broken > 0 { vec![LaneExample { workload: "append".to_owned(), example }] } else { Vec::new() },
        complained: Vec::new(),
        compared: None,
    }
}

fn found(command: &str) -> DurabilityFindings {
    DurabilityFindings {
        schema: 1,
        command: command.to_owned(),
        started: "2026-11-22T10:00:00Z".to_owned(),
        kernel: "6.18".to_owned(),
        seed: 7,
        again: vec![command.to_owned(), "ext4(-O ^has_journal)".to_owned()],
        outcome: "complete".to_owned(),
        controls: vec!["ext4".to_owned(), "ext4,nobarrier".to_owned()],
        untrusted: Vec::new(),
        unproven: Vec::new(),
        lanes: vec![lane("ext4", 0), lane("ext4,nobarrier", 1430)],
        damage: Vec::new(),
        full: Vec::new(),
        faults: Vec::new(),
    }
}

fn text(found: &DurabilityFindings) -> String {
    let text = render_durability(
        found,
        "text",
        Some("r.jsonl"),
        Some(Path::new("/state")),
        &Style { colour: false, width: 140, ..Style::default() },
    )
    .unwrap();
    // Sentences are looked for, wherever their lines break.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn speed_and_price_stand_in_one_sentence() {
    let text = text(&found("powercut"));
    let kept = "ext4 lost no acknowledged record in 1600 cuts (1410 of them with open writes, 1203 different images, by \
                which the bound goes); the true rate is probably below 0.15 %.";
    assert!(text.contains(kept), "{text}");
    assert!(text.contains("with open writes different images") && text.contains("1410 1203 0 missing"), "{text}");
    assert!(text.contains("broke a promise in 1430 of 2000 cuts (1430 lost acknowledged records)"), "{text}");
    assert!(text.contains("1.40x faster than ext4"), "{text}");
    assert!(text.contains("missing in 31 of 400, not promised"), "{text}");
    assert!(text.contains("ext4: 143,210 images an hour, at most 212 MiB of memory."), "{text}");
    assert!(text.contains("whether your own drive"), "{text}");
    // Both lines survive being copied into a shell.
    assert!(text.contains(r"fairlane powercut --look '/state/it'\''s kept'"), "{text}");
    assert!(text.contains("fairlane powercut 'ext4(-O ^has_journal)'"), "{text}");
}

#[test]
fn a_lane_says_which_of_its_disks_was_lost() {
    for (loses_a_disk, lost_disk, said) in [
        (false, None, None),
        // A record of before there was a choice.
        (true, None, Some("its first disk was lost with each cut")),
        (true, Some(1), Some("its first disk was lost with each cut")),
        (true, Some(3), Some("its disk 3 was lost with each cut")),
    ] {
        let mut found = found("powercut");
        (found.lanes[0].loses_a_disk, found.lanes[0].lost_disk) = (loses_a_disk, lost_disk);
        let text = text(&found);
        assert_eq!(text.contains("was lost with each cut"), said.is_some(), "{text}");
        assert!(said.is_none_or(|said| text.contains(said)), "{text}");
    }
}

#[test]
fn a_lane_that_only_tore_sectors_or_did_not_mount_is_told_apart() {
    let mut found = found("powercut");
    found.lanes[1].broken_torn_512 = 1430;
    found.lanes[0].verdict = DurabilityVerdict::Broke;
    found.lanes[0].bare_unmountable = 3;
    let text = text(&found);
    assert!(text.contains("each of which tore a write between sectors of 512 bytes, which a drive"), "{text}");
    assert!(
        text.contains(
            "did not mount after 3 of 400 cuts without fsync of directories, and broke no promise in 2000 others"
        ),
        "{text}"
    );
}

#[test]
fn a_lane_that_is_faster_at_some_work_and_slower_at_other_is_not_called_either() {
    let mut found = found("powercut");
    found.lanes[1].speed = Some(SpeedFinding { ratio: 1.51, low: 0.71, high: 2.39 });
    let text = text(&found);
    assert!(text.contains("between x0.71 and x2.39 as fast as ext4, by kind of work"), "{text}");
    assert!(!text.contains("faster than") && !text.contains("slower than"), "{text}");
}

#[test]
fn work_that_no_control_proves_and_lanes_that_were_given_up_are_told() {
    let mut found = found("powercut");
    assert!(text(&found).contains("what would be lost is seen, at each kind of work."));
    found.unproven = vec!["replace".to_owned()];
    let mut third = lane("third", 0);
    third.verdict = DurabilityVerdict::Unknown;
    let reason = "cannot make an image: no room".to_owned();
    third.failed = Some(Failed { lane: "third".to_owned(), at: "sequences".to_owned(), reason });
    found.lanes.push(third);
    let text = text(&found);
    assert!(
        text.contains("But at replace ext4,nobarrier broke nothing, so that no control proves a 0 there"),
        "{text}"
    );
    assert!(
        text.contains("third was not cut to the end; it failed at sequences: cannot make an image: no room."),
        "{text}"
    );
    assert!(text.contains("ext4 lost no acknowledged record"), "the others are told: {text}");
}

#[test]
fn what_is_not_rendered_is_refused_in_one_sentence() {
    use model::page::Language;
    assert_eq!(report::check_durability("text", Some(Language::En)), Ok(()));
    let german = report::check_durability("text", Some(Language::De)).unwrap_err();
    assert!(german.contains("English only"), "{german}");
    for format in ["html", "memo", "csv", "\u{1b}"] {
        let refused = report::check_durability(format, None).unwrap_err();
        assert!(refused.contains("choose one of text, markdown, json") && !refused.contains('\u{1b}'), "{refused}");
    }
}

#[test]
fn an_untrusted_run_says_so_instead_of_naming_its_controls() {
    for (reason, says) in [
        (Untrusted::SafeControlLost, "No verdict of this run is to be believed"),
        (Untrusted::UnsafeControlKept, "losses are not seen here"),
        (Untrusted::ControlMissing, "a control was not cut"),
    ] {
        let text = text(&DurabilityFindings { untrusted: vec![reason], ..found("powercut") });
        assert!(text.contains("UNTRUSTED") && text.contains(says) && !text.contains("CONTROLS"), "{text}");
        assert!(!text.contains("lost no acknowledged record") && !text.contains("faster than"), "{text}");
        assert!(text.find("UNTRUSTED") < text.find("broke a promise"), "before any figure: {text}");
    }
}

#[test]
fn damage_a_full_disk_and_a_failing_one_are_told() {
    let damage = |honesty, silent, refused, repaired| DamageFindings {
        honesty,
        damage: Damage {
            lane: "x".to_owned(),
            of: "data".to_owned(),
            devices: 2,
            blocks: 9,
            files: 50,
            hit: 8,
            silent,
            refused,
            repaired,
            ..Damage::default()
        },
    };
    let mut found = found("integrity");
    found.damage = vec![
        damage(Honesty::Silent, 8, 0, 0),
        damage(Honesty::Refused, 0, 8, 0),
        damage(Honesty::Repaired, 0, 0, 8),
        damage(Honesty::Unharmed, 0, 0, 0),
        damage(Honesty::Untested, 0, 0, 0),
    ];
    found.damage[3].damage.read = Some(4);
    found.damage[0].damage.array_mismatches = Some(16);
    found.damage[3].damage.array_mismatches = Some(0);
    // Metadata belongs to no file.
    let mut of_metadata = damage(Honesty::Refused, 0, 1, 0);
    of_metadata.damage.hit = 0;
    found.damage.push(of_metadata);
    let mut silent = damage(Honesty::Silent, 2, 96, 0);
    silent.damage.hit = 0;
    found.damage.push(silent);
    found.full = vec![Full { lane: "x".to_owned(), could_delete: false, ..Full::default() }];
    let fault = |told: &str, lost, lost_mounted, writable| Fault {
        lane: "x".to_owned(),
        happened: true,
        told: told.to_owned(),
        by: if told.is_empty() { "" } else { "fsync" }.to_owned(),
        acknowledged: 5,
        lost,
        lost_mounted,
        writable,
        ..Fault::default()
    };
    let gone = Fault { unmountable: "bad superblock".to_owned(), ..fault("EIO", 0, 0, false) };
    found.faults = vec![fault("", 2, 0, true), fault("EIO", 0, 3, false), fault("EIO", 0, 0, true), gone];
    let text = text(&found);
    for says in [
        "8 files were wrong or gone WITHOUT AN ERROR",
        "of 50 files 8 were hit: 8 refused",
        "of 50 files 2 were wrong or gone WITHOUT AN ERROR, 96 were refused",
        "1 of 50 files were refused, none read with wrong bytes",
        "all read whole, from another copy",
        "every file was read whole (4 of the blocks were read); the array's own check noticed nothing; the check noticed nothing.",
        "(mismatch_cnt 16, which counts all sectors of what it compares at a time); the check noticed nothing.",
        "none of them was read again, so this shows nothing",
        "it did NOT MOUNT AGAIN (bad superblock); before that fsync answered \"EIO\"",
        "whether its 5 acknowledged records are whole cannot be read.",
        "NOTHING could be deleted",
        "the application was told nothing; 2 of 5 acknowledged records LOST",
        "fsync answered \"EIO\", and the filesystem took no more writes until a new mount; 3 of 5 acknowledged records \
         could not be read before a new mount, all after it.",
        "and the filesystem took further writes; all 5 acknowledged records whole, before and after a new mount.",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("POWER CUTS"));
}

#[test]
fn the_plan_tells_cuts_that_blame_nobody_apart() {
    let plan = |promised, unpromised| {
        let cuts = Some(PlannedCuts { promised, unpromised });
        report::durability_plan(&DurabilityPlan { lanes: 3, cuts, folder: "~/x", bytes: 1 << 30 })
    };
    let told = plan(1200, 240);
    assert!(
        told.starts_with("3 lanes, 1,200 power cuts in each, and beside them 240 at work that promises nothing. "),
        "{told}"
    );
    assert!(plan(300, 0).starts_with("3 lanes, 300 power cuts in each. Formats no disk"), "{}", plan(300, 0));
}

#[test]
fn every_format_bears_hostile_names() {
    let hostile = "a\u{1b}[31m|<script>\u{202e}";
    let mut found = found("powercut");
    found.lanes[1].lane = hostile.to_owned();
    found.lanes[1].examples[0].example.said = hostile.to_owned();
    for format in DURABILITY_FORMATS {
        let text = render_durability(&found, format, None, None, &Style::default()).unwrap();
        assert!(!text.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'), "{format}: {text}");
    }
    assert!(render_durability(&found, "csv", None, None, &Style::default()).is_err());
}

#[test]
fn the_line_that_looks_at_an_image_is_shown_for_cases_of_ones_own_alone() {
    let found = found("powercut");
    let shown = |cases: Option<&str>| {
        let style = Style { colour: false, width: 140, ..Style::default() };
        render_durability(&found, "text", None, cases.map(Path::new), &style).unwrap()
    };
    assert!(shown(Some("/state")).contains("fairlane powercut --look '/state/it'"));
    for other in [None, Some("/state/it's kept"), Some("/"), Some("")] {
        let text = shown(other);
        assert!(!text.contains("--look") && text.contains("look only at images"), "{other:?}: {text}");
    }
}
