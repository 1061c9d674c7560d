//! Every command that a report proposes can be typed: it is read by the program's own parser, and a race is planned
//! with it as far as the machine is not asked for privileges or tools.

use super::{abilities, contest, lane_failure, planning, race};
use crate::failure::{Failure, Status};
use crate::knowledge;
use crate::options::{Command, Options};
use clap::Parser;
use lanes::filesystems::{self, Home};
use lanes::{LaneSet, undo};
use model::findings::Findings;
use model::lane::{Contestant, Lane, LaneSpec, Venue};
use model::machine::Machine;
use model::page::Language;
use model::plan::{Ground, Plan};
use model::record::{EndOutcome, Header, Record, SCHEMA};
use model::scenario::{Need, Scenario};
use model::trial::{DeviceUse, Group, Outcome, SystemUse, Trial};
use model::workload::Workload;
use report::{Input, Style};
use stats::advice::Race;
use std::collections::BTreeSet;

/// Command lines whose records ask for something else each. `{a}` and `{b}` are directories.
const SHAPES: [&str; 19] = [
    "race ext4 xfs",
    "race ext4 xfs btrfs --workload commit --workload random-read --set commit.size=64MiB --lane-size 512MiB --with-self",
    "race ext4 xfs --budget 2s --margin 3% --seed 7",
    "race ext4",
    "race ext4 --workload small-files --lane-size 256MiB",
    "race {a} {b}",
    "race {a}",
    "race ext4 xfs --suite appenders --workload appenders-400 --find-max --most-writers 1600 --lane-size 320MiB",
    "race ext4 --suite appenders --workload appenders-400 --find-max=load",
    "race ext4 tmpfs --suite appenders --workload appenders-400 --lane-size 320MiB",
    "race ext4@qemu tmpfs@qemu --suite appenders --workload appenders-400 --lane-size 320MiB",
    "race ext4 rsext4 tmpfs --suite operations",
    "race rsext4 --suite operations --workload operations",
    "race ext4 xfs --suite general --as-published --lane-size 512MiB",
    "race ext4 exfat --suite latency",
    "race ext4 xfs --suite media",
    "race ext4 xfs --suite database --set server=mariadb --throttle 151MiB/s,8050iops --throttle xfs:50MiB/s",
    "race ext4@uml xfs@uml --guest-sync",
    "race old=ext4(-O^has_journal),noatime ext4,nobarrier btrfs,compress=zstd:1 --rounds 2 --suite applications",
];

/// How far a race came.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Came {
    /// Two rounds of its first workload, and it was interrupted.
    Begun,
    /// So many rounds of every workload, too noisy to rank or clear.
    Through { rounds: u32, noisy: bool },
}

fn planned(line: &str, folder: &std::path::Path) -> Plan {
    let place = |name: &str| folder.join(name).display().to_string();
    let words: Vec<String> = format!("fairlane {line}")
        .split(' ')
        .map(|word| word.replace("{a}", &place("a")).replace("{b}", &place("b")))
        .collect();
    let Command::Race(options) = Options::try_parse_from(&words).unwrap().command else { panic!("{line} is no race") };
    race::plan(&options, &mut Vec::new(), &mut Vec::new(), &mut Default::default())
        .unwrap_or_else(|error| panic!("{line}: {}", error.message))
}

/// A lane as its race's header has it.
fn lane(spec: &LaneSpec, plan: &Plan) -> Lane {
    let row = match &spec.contestant {
        Contestant::Filesystem(name) => filesystems::find(name),
        _ => None,
    };
    let venue = match (&spec.contestant, &spec.venue, &plan.on) {
        (Contestant::Directory(_), ..) => "directory",
        _ if row.is_some_and(|row| row.home == Home::Memory) => "memory",
        _ if row.is_some_and(|row| row.home == Home::Library) => "library",
        (_, Some(Venue::Uml), _) => "uml",
        (_, None, Ground::Device(_) | Ground::Disks(_)) => "device",
        _ => "image",
    };
    let base = knowledge::bare_lane(row.unwrap_or_else(|| filesystems::find("ext4").unwrap()));
    Lane {
        name: spec.name.clone(),
        spec: spec.to_line(),
        mkfs_command: row.map(|row| row.mkfs_command(&spec.mkfs_options)).unwrap_or_default(),
        mount_options: row.map(|row| row.all_mount_options(&spec.mount_options)).unwrap_or_default(),
        venue: venue.to_owned(),
        layers: spec.layers.iter().map(model::stack::LayerSpec::to_line).collect(),
        above: spec.above.as_ref().map(model::stack::LayerSpec::to_line).unwrap_or_default(),
        disks: spec.disks(),
        backing: "vda".to_owned(),
        size_bytes: plan.lane_size.get(),
        ..base
    }
}

fn trial(lane: &str, workload: &Workload, round: u32, rate: f64) -> Trial {
    let groups = workload.groups().into_iter().map(|name| Group {
        name,
        operations: rate as u64,
        bytes: rate as u64 * 4096,
        seconds: 1.0,
        primary_metric: "operations_per_second".to_owned(),
        metrics: [("operations_per_second".to_owned(), rate)].into(),
        ..Group::default()
    });
    let device = DeviceUse {
        reads: rate as u64,
        read_bytes: rate as u64 * 4096,
        writes: rate as u64,
        write_bytes: rate as u64 * 4096,
        ..DeviceUse::default()
    };
    Trial {
        round,
        position: 1,
        attempt: 1,
        lane: lane.to_owned(),
        workload: workload.name.clone(),
        ground: 0,
        outcome: Outcome::Ok,
        reason: None,
        started: "2026-11-20T10:00:00Z".to_owned(),
        phases_seconds: [("measure".to_owned(), 1.0)].into(),
        groups: groups.collect(),
        system: SystemUse { window_seconds: 1.0, cpus: 4, device, ..SystemUse::default() },
        timeline: None,
        jobs: Vec::new(),
        flags: Vec::new(),
        disturbance: None,
    }
}

fn record(plan: &Plan, came: Came) -> Record {
    let lanes: Vec<Lane> = plan.lanes.iter().map(|spec| lane(spec, plan)).collect();
    let (rounds, noisy, workloads, end) = match came {
        Came::Begun => (2, false, 1, EndOutcome::Interrupted),
        Came::Through { rounds, noisy } => (rounds, noisy, plan.workloads.len(), EndOutcome::Complete),
    };
    let mut trials = Vec::new();
    for workload in plan.workloads.iter().take(workloads) {
        for round in 1..=rounds {
            for (at, lane) in lanes.iter().enumerate() {
                // Every lane at its own rate, or all alike and each round another.
                let swing = [0.88, 1.0, 1.13][(round as usize * 7 + at * 2 + round as usize / 3) % 3];
                let rate = if noisy { 1000.0 * swing } else { 1000.0 * (1.0 + at as f64) };
                trials.push(trial(&lane.name, workload, round, rate));
            }
        }
    }
    Record {
        header: Header {
            schema: SCHEMA,
            version: "0.1.0".to_owned(),
            started: "2026-11-20T10:00:00Z".to_owned(),
            boot_id: "b".to_owned(),
            seed: 1,
            plan: plan.clone(),
            machine: Machine { cpus: 4, kernel: "6.18.0".to_owned(), ..Machine::default() },
            lanes,
            warnings: Vec::new(),
            calibration: None,
        },
        rates: Vec::new(),
        probes: Vec::new(),
        layer_probes: Vec::new(),
        disks: Vec::new(),
        trials,
        steps: Vec::new(),
        profiles: Vec::new(),
        unreached: Vec::new(),
        clocks: None,
        end: Some(end),
        resumes: 0,
        warnings: Vec::new(),
        whole_bytes: 0,
    }
}

/// The record of a real race, as if its images had lain here.
fn kept(folder: &std::path::Path) -> Record {
    let mut record = Record::parse(include_str!("../../tests/fixtures/schema1.jsonl")).unwrap();
    let plan = &mut record.header.plan;
    let here = folder.display().to_string();
    if let Some(at) = plan.command_line.iter().position(|word| word == "--on") {
        plan.command_line[at + 1].clone_from(&here);
    }
    plan.on = Ground::Images(folder.to_owned());
    record
}

/// A command line as a shell takes it apart.
fn words_of(line: &str) -> Vec<String> {
    let output =
        std::process::Command::new("sh").args(["-c", &format!("printf '%s\\0' {line}")]).output().expect("sh runs");
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).expect("words");
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// Every command that text, Markdown, memo and advice print.
fn printed(record: &Record, findings: &Findings, advice: &[String]) -> Vec<String> {
    let path = "~/.local/state/fairlane/runs/it's one.jsonl";
    let input = Input { findings, record, record_path: Some(path) };
    let style = Style { colour: false, width: 100, ..Style::default() };
    let mut texts: Vec<String> =
        ["text", "markdown"].map(|format| report::render(&input, format, &style).unwrap()).to_vec();
    let report::Render::Spoken(memo) = report::format_named("memo").unwrap().render else {
        panic!("it speaks languages")
    };
    texts.extend([Language::En, Language::De, Language::Zh].map(|language| memo(&input, language)));
    texts.extend(advice.iter().cloned());
    let mut commands = Vec::new();
    for text in texts {
        let labels = ["NEXT", "AGAIN", "REASONS", "RECORD"];
        for line in text.lines() {
            let command = labels.iter().find_map(|label| line.strip_prefix(label)).unwrap_or(line).trim_start();
            commands.extend(command.starts_with("fairlane ").then(|| command.to_owned()));
        }
        // In a sentence a command is code, which may go on in the next line.
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        commands.extend(flat.split('`').skip(1).step_by(2).filter(|of| of.starts_with("fairlane ")).map(str::to_owned));
    }
    commands.retain(|command| !command.ends_with('\\'));
    commands
}

/// Why a command cannot be run as it is written, whatever the machine has; `None`: it can.
fn refused(words: &[String]) -> Option<String> {
    let options = match Options::try_parse_from(words) {
        Ok(options) => options,
        Err(error) => return Some(error.to_string()),
    };
    let Command::Race(race) = options.command else { return None };
    if race.resume.is_some() {
        return None;
    }
    let planned = || -> Result<usize, Failure> {
        let plan = race::plan(&race, &mut Vec::new(), &mut Vec::new(), &mut Default::default())?;
        contest::check_libraries(&plan)?;
        contest::check_guests(&plan)?;
        let lanes = plan.lanes.len() + usize::from(plan.with_self);
        let (id, undo) = (planning::run_id(), undo::directory().map_err(lane_failure)?);
        let lane_set = LaneSet::check(contest::settings(&plan, &race.terms, (&id, undo))?).map_err(lane_failure)?;
        abilities::check(&plan, &lane_set)?;
        Ok(lanes)
    };
    match planned() {
        Err(failure) if failure.status == Status::Usage => Some(failure.message),
        _ => None,
    }
}

/// What advice says of a record with each need, and how many steps it proposes.
fn advised(record: &Record, findings: &Findings, scenarios: &[Scenario], of: &str) -> (Vec<String>, usize) {
    let races = [Race { record, findings }];
    let (mut told, mut proposed) = (Vec::new(), 0);
    for need in ["", "checksums", "snapshots", "shrink", "reflink"] {
        let needs: Vec<Need> = need.split_whitespace().map(|need| need.parse().unwrap()).collect();
        let advice = knowledge::advise(&races, scenarios, &needs).unwrap();
        for of_advice in advice.iter().filter(|of_advice| !of_advice.next.is_empty()) {
            let contestants = of_advice.next.iter().skip(1).take_while(|word| !word.starts_with("--")).count();
            assert!(contestants >= 2, "{of}: {:?} chooses between nothing", of_advice.next);
            proposed += 1;
        }
        let report = model::findings::AdviceReport {
            schema: SCHEMA,
            command: vec!["advise".to_owned()],
            records: Vec::new(),
            lanes: Vec::new(),
            margin: record.header.plan.margin,
            needs: needs.iter().map(ToString::to_string).collect(),
            advice,
            warnings: Vec::new(),
        };
        for whole in [true, false] {
            let style = Style { colour: false, width: 100, ..Style::default() };
            told.push(report::render_advice(&report, "text", &style, whole).unwrap());
        }
    }
    (told, proposed)
}

/// Runs what records of these shapes propose; answers how much is proposed, and how many commands were read.
fn run_proposals(shapes: &[&str], with_kept: bool, folder: &std::path::Path) -> (usize, usize) {
    let scenarios = knowledge::scenarios().unwrap();
    let (mut proposed, mut read) = (0, 0);
    // Many records propose the same commands, and whether one can be run depends on its words alone.
    let mut run = BTreeSet::new();
    let all_came = [
        Came::Begun,
        Came::Through { rounds: 20, noisy: true },
        Came::Through { rounds: 6, noisy: false },
        Came::Through { rounds: 1, noisy: false },
    ];
    let of_shapes = shapes.iter().map(|line| {
        let plan = planned(line, folder);
        (*line, all_came.map(|came| (format!("{came:?}"), record(&plan, came))).to_vec())
    });
    let kept = with_kept.then(|| ("a record that is kept", vec![(String::new(), kept(folder))]));
    for (line, records) in of_shapes.chain(kept) {
        for (came, record) in records {
            // Without root lanes live in guests, and a race that these cannot do never begins.
            if !rustix::process::geteuid().is_root() && refused(record.header.plan.again()).is_some() {
                continue;
            }
            let findings = knowledge::findings(&record).unwrap();
            let of = format!("{line}, {came}");
            let (told, steps) = advised(&record, &findings, &scenarios, &of);
            proposed += steps;
            let mut commands = printed(&record, &findings, &told);
            // Its own suite lay in a file that nobody kept.
            commands.retain(|command| !command.contains("tiny.toml"));
            commands.sort();
            commands.dedup();
            read += commands.len();
            for command in commands {
                if !run.contains(&command) {
                    assert_eq!(refused(&words_of(&command)), None, "{of}\n{command}");
                    run.insert(command);
                }
            }
        }
    }
    (proposed, read)
}

#[test]
fn every_command_that_is_proposed_can_be_run_as_it_is_written() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    // Two halves at once: all other tests here have ended long before one thread has done both.
    let (one, other) = SHAPES.split_at(SHAPES.len() / 2);
    let (one, other) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| run_proposals(other, true, folder.path()));
        (run_proposals(one, false, folder.path()), beside.join().expect("the other half"))
    });
    let (proposed, read) = (one.0 + other.0, one.1 + other.1);
    assert!(proposed > 1000 && read > 300, "{proposed} were proposed and {read} were read");
}

#[test]
fn a_command_that_ends_with_status_2_would_be_seen() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (line, says) in [
        ("fairlane race ext4 xfs --suite quick --find-max", "has none"),
        ("fairlane race ext4 xfs --workload nope", "has no workload"),
        ("fairlane race ext4 xfs --lane-size 64MiB", "--lane-size"),
        ("fairlane race ext4 rsext4 --suite quick", "library"),
        ("fairlane race ext4@uml xfs@uml --suite applications", "guest"),
        ("fairlane race ext4 xfs --throttle btrfs:50MiB/s", "btrfs"),
        ("fairlane race ext4 xfs --nope", "--nope"),
    ] {
        let why = refused(&words(line)).unwrap_or_else(|| panic!("{line} is accepted"));
        assert!(why.contains(says), "{line}: {why}");
    }
}
