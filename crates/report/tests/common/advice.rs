//! Advice as it comes out of the statistics: clear, level, excluded, too little measured, too noisy.

use super::{RECORD_PATH, races};
use model::findings::*;

fn empty(scenario: &str, title: &str) -> Advice {
    Advice {
        scenario: scenario.to_owned(),
        title: title.to_owned(),
        lane: None,
        level_with: Vec::new(),
        no_advice: None,
        why: Vec::new(),
        leads: Vec::new(),
        equal: Vec::new(),
        excluded: Vec::new(),
        share_of_resampled_races: None,
        flips_if: Vec::new(),
        measured_share: 0.6,
        own_share: 0.0,
        own_suite: "database".to_owned(),
        too_few_rounds_share: 0.0,
        not_measured: Vec::new(),
        not_raced: Vec::new(),
        next: Vec::new(),
        raced_without: Vec::new(),
        notes: Vec::new(),
    }
}

fn reason(what: &str, share: f64, against: &str, (_, low, high): (f64, f64, f64)) -> AdviceReason {
    AdviceReason {
        what: what.to_owned(),
        share,
        series: vec![format!("quick/{what}/write")],
        against: against.to_owned(),
        ratio: if low > 1.0 { low } else { high },
        at_least: true,
    }
}

fn lead(against: &str, ratio: f64) -> AdviceLead {
    AdviceLead { against: against.to_owned(), ratio }
}

fn fact(need: &str, is: &str, with: Option<&str>, note: Option<&str>) -> LaneFact {
    LaneFact { need: need.to_owned(), is: is.to_owned(), with: with.map(str::to_owned), note: note.map(Into::into) }
}

fn out(lane: &str, constraint: &str, why: Option<&str>, facts: Vec<LaneFact>, source: &str) -> Excluded {
    Excluded {
        lane: lane.to_owned(),
        constraint: constraint.to_owned(),
        why: why.map(str::to_owned),
        facts,
        source: source.to_owned(),
    }
}

fn missing(what: &str, share: f64, suite: Option<&str>) -> NotMeasured {
    NotMeasured {
        what: what.to_owned(),
        share,
        suite: suite.map(str::to_owned),
        workload: None,
        title: None,
        raced: Vec::new(),
    }
}

const POWER: &str = "promises that a committed transaction survives a power cut";

fn mysql() -> Advice {
    let barriers = "fsync does not reach stable storage; it does not flush its writes";
    Advice {
        lane: Some("xfs".to_owned()),
        why: vec![
            reason("random writes", 0.15, "btrfs", (11.0, 10.0, 11.4)),
            reason("commits", 0.2, "btrfs", (1.68, 1.5, 1.9)),
            reason("commits", 0.2, "ext4", (1.34, 1.23, 1.45)),
            reason("sequential reads", 0.05, "ext4", (0.94, 0.92, 0.96)),
        ],
        leads: vec![lead("ext4", 1.12), lead("btrfs", 2.9)],
        equal: vec![EqualWork { what: "random reads".to_owned(), share: 0.15, because: Equal::Device }],
        excluded: vec![
            out(
                "ext4,nobarrier",
                "durable",
                Some(POWER),
                vec![fact("durable", "no", None, Some(barriers))],
                "the lane's options",
            ),
            out("old", "done", None, vec![fact("done", "no", None, Some("commit 4 KiB: no space left"))], "the race"),
        ],
        share_of_resampled_races: Some(0.94),
        flips_if: vec![
            Flip::Weight { what: "commits".to_owned(), share: 0.2, at: 0.12, lane: "ext4".to_owned() },
            Flip::Undecided { what: "latency of reads under load".to_owned(), lane: "ext4".to_owned() },
            Flip::With {
                needs: ["checksums", "snapshots"].map(str::to_owned).to_vec(),
                lane: "btrfs".to_owned(),
                ratio: 0.345,
            },
        ],
        measured_share: 0.55,
        own_share: 0.4,
        not_measured: vec![
            missing("transactions", 0.4, None),
            missing("latency of reads under load", 0.05, Some("latency")),
        ],
        next: ["race", "ext4", "xfs", "btrfs", "--suite", "latency"].map(str::to_owned).to_vec(),
        notes: vec![AdviceNote {
            lanes: vec!["xfs".to_owned()],
            text: "it does not checksum data".into(),
            source: "docs/advice.md, the table".to_owned(),
        }],
        ..empty("mysql", "MySQL")
    }
}

fn home_server() -> Advice {
    let why = "keeps the only copy for years";
    let facts = || {
        vec![
            fact("checksums", "no", None, Some("metadata alone is checksummed")),
            fact("snapshots", "no", None, Some("LVM below it can take them")),
        ]
    };
    Advice {
        lane: Some("btrfs".to_owned()),
        excluded: vec![
            out("ext4", "checksums|snapshots", Some(why), facts(), "ext4(5), metadata_csum"),
            out("xfs", "checksums|snapshots", Some(why), facts(), "mkfs.xfs(8), -m crc"),
            out(
                "btrfs,nodatacow",
                "checksums",
                None,
                vec![fact("checksums", "off", Some("btrfs without nodatacow"), None)],
                "btrfs(5), nodatacow",
            ),
        ],
        flips_if: vec![Flip::Without { need: "checksums|snapshots".to_owned(), lane: "xfs".to_owned(), ratio: 1.51 }],
        raced_without: vec![RacedWithout {
            need: "quota".to_owned(),
            with: "btrfs quota enable".to_owned(),
            source: "btrfs-quota(8), DESCRIPTION".to_owned(),
        }],
        measured_share: 1.0,
        own_share: 1.0,
        ..empty("home-server", "home server")
    }
}

fn level() -> Advice {
    Advice {
        lane: Some("ext4".to_owned()),
        level_with: vec!["xfs".to_owned()],
        why: vec![reason("reads of small files", 0.35, "btrfs", (1.25, 1.12, 1.32))],
        leads: vec![lead("xfs", 1.02), lead("btrfs", 1.14)],
        share_of_resampled_races: Some(0.997),
        flips_if: vec![Flip::Weight { what: "appends".to_owned(), share: 0.1, at: 0.31, lane: "btrfs".to_owned() }],
        ..empty("web-server", "web server")
    }
}

fn same() -> Advice {
    Advice {
        lane: Some("ext4".to_owned()),
        level_with: vec!["xfs".to_owned(), "btrfs".to_owned()],
        leads: vec![lead("xfs", 1.0), lead("btrfs", 1.0)],
        equal: vec![
            EqualWork { what: "sequential reads".to_owned(), share: 0.35, because: Equal::Tie },
            EqualWork { what: "sequential writes".to_owned(), share: 0.4, because: Equal::Device },
        ],
        measured_share: 0.75,
        not_measured: vec![missing("large files, both ways at once", 0.25, None)],
        ..empty("video", "video")
    }
}

fn shaky() -> Advice {
    Advice {
        lane: Some("ext4".to_owned()),
        leads: vec![lead("xfs", 1.07)],
        why: vec![reason("commits", 0.3, "xfs", (1.25, 1.12, 1.32))],
        share_of_resampled_races: Some(0.62),
        own_share: 0.2,
        ..empty("mail", "mail")
    }
}

fn noisy() -> Advice {
    Advice {
        no_advice: Some(NoAdvice::Undecided),
        equal: vec![EqualWork { what: "commits".to_owned(), share: 0.6, because: Equal::Undecided }],
        next: ["race", "ext4", "xfs", "--budget", "12m"].map(str::to_owned).to_vec(),
        ..empty("postgresql", "PostgreSQL")
    }
}

fn none() -> Advice {
    Advice {
        no_advice: Some(NoAdvice::AllExcluded),
        excluded: vec![out("tmpfs", "kept", None, vec![fact("kept", "no", None, None)], "the lane's venue")],
        ..empty("source-hosting", "source code hosting")
    }
}

fn little() -> Advice {
    Advice {
        no_advice: Some(NoAdvice::TooLittleMeasured),
        measured_share: 0.45,
        not_measured: vec![missing("appends", 0.55, Some("operations"))],
        next: ["race", "ext4", "xfs", "btrfs", "--suite", "operations"].map(str::to_owned).to_vec(),
        ..empty("logs", "logs")
    }
}

fn apart() -> Advice {
    let disks = "different disks: xfs is on /mnt/a, btrfs is on /mnt/b";
    let comparable = |lane| out(lane, "comparable", None, vec![fact("comparable", "no", None, Some(disks))], "venues");
    let few = fact("measured", "no", None, Some("commits: the throttle did not hold: the device did 9k writes/s"));
    Advice {
        no_advice: Some(NoAdvice::NotComparable),
        excluded: vec![out("ext4", "measured", None, vec![few], "the race"), comparable("xfs"), comparable("btrfs")],
        ..empty("web-server", "web server")
    }
}

/// Every kind of advice.
pub fn report() -> AdviceReport {
    AdviceReport {
        schema: 1,
        command: ["advise", "last~1"].map(str::to_owned).to_vec(),
        records: vec![RECORD_PATH.to_owned()],
        lanes: ["ext4", "xfs", "btrfs"].map(str::to_owned).to_vec(),
        margin: 0.05,
        needs: vec!["checksums".to_owned()],
        advice: vec![mysql(), home_server(), level(), same(), shaky(), noisy(), none(), little(), apart()],
        warnings: vec!["the race of 2026-07-01T10:00:00Z is interrupted: advice rests on what was finished".to_owned()],
    }
}

/// A race whose report tells advice in short.
pub fn race() -> Findings {
    let mut findings = races::three();
    findings.advice = report().advice;
    findings.advice.retain(|advice| advice.measured_share >= 0.5);
    findings
}
