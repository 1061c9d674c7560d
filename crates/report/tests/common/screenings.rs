//! Screenings as the statistics hand them along.

use super::*;
use model::screening::{DesignKind, Factor, LeftOutOption, OptionClass, OptionLevel};

/// A factor in one line: its name, its levels, what it changes and costs.
fn factor(name: &str, (usual, other): (&str, &str), class: OptionClass, costs: &str) -> Factor {
    let level = |label: &str| OptionLevel { label: label.to_owned(), ..OptionLevel::default() };
    Factor {
        name: name.to_owned(),
        usual: level(usual),
        other: level(other),
        further: Vec::new(),
        class,
        costs: costs.to_owned(),
        table_usual: String::new(),
    }
}

fn effect(factor: &str, (ratio, low, high): (f64, f64, f64), verdict: EffectVerdict) -> Effect {
    Effect { factor: factor.to_owned(), ratio, low, high, p: 0.01, verdict }
}

fn screened_result((workload, title, group): (&str, &str, &str), rounds: u32, effects: Vec<Effect>) -> ScreenedResult {
    ScreenedResult {
        workload: workload.to_owned(),
        title: title.to_owned(),
        group: group.to_owned(),
        metric: "operations_per_second".to_owned(),
        higher_is_better: true,
        rounds,
        unknown: None,
        effects,
        interactions: Vec::new(),
        deviation: Some(0.021),
        spare: Vec::new(),
        lanes_differ: false,
    }
}

fn expected_gain((workload, title, group): (&str, &str, &str), ratio: f64) -> ExpectedGain {
    ExpectedGain { workload: workload.to_owned(), group: group.to_owned(), title: title.to_owned(), ratio }
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

/// Six options of ext4, two of them promises, over two kinds of work; the proposal was raced and confirmed.
pub fn finding() -> ScreeningFinding {
    use EffectVerdict::{DoesNot, Matters, Open};
    use OptionClass::{Ordinary, Promises};
    let factors = vec![
        factor("dir_index", ("on", "off"), Ordinary, ""),
        factor("journal", ("64M", "1G"), Ordinary, "1 GiB of the lane's room"),
        factor("lazytime", ("off", "on"), Ordinary, ""),
        factor("noatime", ("off", "on"), Ordinary, ""),
        factor("barrier", ("on", "off"), Promises, "a power cut can lose or mix up what was saved"),
        factor("data", ("ordered", "writeback"), Promises, "files can hold old blocks after a crash"),
    ];
    let commits = vec![
        effect("dir_index", (1.002, 0.98, 1.025), DoesNot),
        effect("journal", (1.12, 1.09, 1.15), Matters),
        effect("lazytime", (1.03, 0.97, 1.09), Open),
        effect("noatime", (0.95, 0.93, 0.97), Matters),
        effect("barrier", (2.4, 2.2, 2.6), Matters),
        effect("data", (1.01, 0.96, 1.06), Open),
    ];
    let creations = vec![
        effect("dir_index", (0.8, 0.77, 0.83), Matters),
        effect("journal", (1.01, 0.99, 1.028), DoesNot),
        effect("lazytime", (1.01, 0.98, 1.04), Open),
        effect("noatime", (1.0, 0.98, 1.02), DoesNot),
        effect("barrier", (1.004, 0.985, 1.024), DoesNot),
        effect("data", (1.0, 0.975, 1.026), DoesNot),
    ];
    // Its suite and its ground are those of other races.
    let of_lanes = answer(&["ext4"], Vec::new());
    ScreeningFinding {
        base: "ext4".to_owned(),
        design: DesignKind::FoldedPlackettBurman,
        lanes: 16,
        full_factorial_lanes: 64,
        factors,
        left_out: vec![LeftOutOption {
            option: "bigalloc on".to_owned(),
            why: "mkfs.ext4 refuses it: invalid cluster size".to_owned(),
        }],
        few_spare: false,
        margin: model::screening::EFFECT_MARGIN,
        results: vec![
            ScreenedResult {
                interactions: vec![interaction()],
                spare: vec![1.006, 0.995, 1.002],
                ..screened_result(COMMIT, 5, commits)
            },
            ScreenedResult { lanes_differ: true, ..screened_result(CREATE, 4, creations) },
        ],
        proposal: Proposal {
            factors: names(&["journal"]),
            mixed: names(&["noatime"]),
            promises: names(&["barrier"]),
            expected: vec![expected_gain(COMMIT, 1.12)],
            ..Proposal::default()
        },
        unfinished: false,
        loop_queue: false,
        raced: of_lanes.raced,
        not_tested: of_lanes.not_tested,
        disturbed: false,
        hidden_by_lanes: false,
        anew: Vec::new(),
        confirmation: Some(confirmation()),
        confirmation_left_out: None,
    }
}

/// Two options that change each other's effect, as two other pairs would.
fn interaction() -> Interaction {
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    Interaction {
        factors: pair("journal", "barrier"),
        ratio: 1.08,
        low: 1.03,
        high: 1.13,
        aliases: vec![pair("dir_index", "data"), pair("lazytime", "noatime")],
        partial: 0,
    }
}

/// The proposal against the default: better at commits, and not worse at creations.
pub fn confirmation() -> Confirmation {
    let row = |(workload, title, group): (&str, &str, &str), expected, (ratio, low, high), verdict| ConfirmedRow {
        workload: workload.to_owned(),
        title: title.to_owned(),
        group: group.to_owned(),
        expected,
        ratio: Some(ratio),
        low: Some(low),
        high: Some(high),
        verdict,
        cpu_shares: Some([0.121, 0.117]),
        little_cpu: false,
        written_per_byte: Some([2.13, 1.25]),
    };
    Confirmation {
        lane: "proposal".to_owned(),
        default_lane: "default".to_owned(),
        seed: 43,
        rows: vec![
            row(COMMIT, Some(1.12), (1.09, 1.06, 1.12), Verdict::Faster),
            row(CREATE, None, (1.004, 0.98, 1.03), Verdict::Tie),
        ],
        outcome: ConfirmationOutcome::Confirmed,
        because: None,
        tuned: Vec::new(),
        counted: 1,
        gained: 1,
        commands: names(&["mkfs   mkfs.ext4 -J size=1024 DEVICE", "mount  mount DEVICE /mnt"]),
        unfinished: false,
        disturbed: false,
        warnings: Vec::new(),
        more: Vec::new(),
    }
}

/// An option at a level that tuning chose.
pub fn tuned(factor: &str, level: &str, costs: &str) -> TunedLevel {
    TunedLevel { factor: factor.to_owned(), level: level.to_owned(), costs: costs.to_owned() }
}

/// Tuning in one race, whose record has this name: the best of three combinations was chosen.
pub fn tuning(record: &str) -> Tuning {
    let combination = |levels: &[(&str, &str)], mean: Option<f64>, worst, fate| TunedCombination {
        levels: levels.iter().map(|(factor, level)| tuned(factor, level, "")).collect(),
        mean,
        worst,
        fate,
    };
    let combinations = vec![
        combination(&[("journal", "512M")], Some(1.2), Some(1.04), TunedFate::Chosen),
        combination(&[("journal", "1G"), ("lazytime", "on")], Some(1.1), Some(0.9), TunedFate::Dropped),
        combination(&[("lazytime", "on")], None, None, TunedFate::Dropped),
    ];
    let race = TuningRace { record: record.to_owned(), rounds: 3, combinations };
    Tuning { races: vec![race], unfinished: false, chosen: vec![tuned("journal", "512M", "half a GiB")] }
}

/// The race of a screening: its lanes have figures, and no pair of them is judged.
pub fn screened(finding: ScreeningFinding) -> Findings {
    let lanes: Vec<String> =
        (1..=finding.lanes).map(|run| if run == 1 { "default".to_owned() } else { format!("run-{run:02}") }).collect();
    let named: Vec<&str> = lanes.iter().map(String::as_str).collect();
    let figures = |work: (&str, &str, &str), mean: f64| {
        let estimates = (0_u32..).zip(&named).map(|(at, lane)| estimate(lane, mean * (1.0 + 0.01 * f64::from(at))));
        result(work, false, FLUSHES, estimates.collect(), Vec::new(), &[&named])
    };
    let results = vec![figures(COMMIT, 1_080.0), figures(CREATE, 21_000.0)];
    let lanes = named.iter().map(|name| lane(name, "ext4")).collect();
    let mut findings = race(lanes, results, None);
    findings.command_line =
        ["fairlane", "screen", "ext4", "--workload", "commit", "--seed", "42"].map(str::to_owned).to_vec();
    findings.screening = Some(finding);
    findings
}

/// A screening that proposes nothing, and tells nothing of one figure.
pub fn kept() -> ScreeningFinding {
    let mut finding = finding();
    let commits = &mut finding.results[0];
    commits.unknown = Some("effects need two rounds in which every lane has a figure".into());
    commits.rounds = 1;
    (commits.effects, commits.interactions) = (Vec::new(), Vec::new());
    (commits.spare, commits.deviation) = (Vec::new(), None);
    finding.results[1].effects[0].verdict = EffectVerdict::Open;
    finding.proposal = Proposal::default();
    finding.confirmation = None;
    finding
}
