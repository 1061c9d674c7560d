//! What is said of a screening before it is raced, and the commands that set what it found.

use super::confirm::{self, Length};
use super::rounds::{self, Times};
use super::tune;
use crate::commands::planning;
use lanes::filesystems;
use model::Bytes;
use model::lane::{Contestant, LaneSpec};
use model::machine::Machine;
use model::plan::{Plan, Rounds};
use model::screening::{DesignKind, Factor, OptionClass, Screening};
use model::stack::LayerSpec;
use model::text::escaped_path;
use model::units::human_seconds;
use report::{PlanSummary, clean_text, shell_line};
use std::path::Path;

/// Said where no option of a screening may be proposed.
const NEVER_PROPOSED: &str = "none of these options may be proposed, so that no race of a proposal comes behind it.";

/// Of fewer rounds the scatter of a lane is hardly known.
const FEWEST_THAT_TELL: u32 = 3;

/// What comes behind the race of all runs.
#[derive(Debug, Clone, Copy)]
pub struct Then {
    /// Seconds of the confirmation at most; `None`: there is none.
    confirmation: Option<f64>,
    /// Seconds of tuning; `None`: nothing is tuned.
    tuning: Option<f64>,
    /// The time is the usual one, because nobody said how long.
    is_usual: bool,
}

impl Then {
    /// As it was asked for. `is_usual`: the time of the race and of the confirmation is Fairlane's own.
    pub fn new((times, confirms): (Times, bool), tuning: Option<f64>, is_usual: bool) -> Then {
        Then { confirmation: confirms.then_some(times.confirmation), tuning, is_usual }
    }

    /// `then at most 15 min for the confirmation; --tune: 5 min more`; `None`: nothing comes.
    fn in_words(self) -> Option<String> {
        let confirmation = self.confirmation.map(|seconds| {
            let time = human_seconds(seconds);
            match seconds < rounds::MOST_CONFIRMATION_SECONDS {
                true => format!("{time} for the confirmation, and what the race before it leaves of its own time"),
                false => format!("at most {time} for the confirmation"),
            }
        });
        let tuning = self.tuning.map(|seconds| format!("--tune: {} more", human_seconds(seconds)));
        let parts: Vec<String> = confirmation.into_iter().chain(tuning).collect();
        (!parts.is_empty()).then(|| format!("then {}.", parts.join("; ")))
    }

    /// That the confirmation probably has no time for a verdict, and what has; `None`: it has.
    fn too_short(self, summary: &PlanSummary) -> Option<String> {
        let part = self.confirmation?;
        let needed = summary.first_look_seconds;
        // What is expected to be left is its own too.
        let left = summary.budget_seconds.zip(summary.seconds).map_or(0.0, |(budget, seconds)| budget - seconds);
        let room = (part + left.max(0.0)).min(rounds::MOST_CONFIRMATION_SECONDS);
        (needed > room).then(|| {
            let remedy = match rounds::with_confirmation_of(needed) {
                Some(whole) => format!("--budget {:.0}m has room for them", (whole / 60.0).ceil()),
                None => "less work (--workload NAME) takes less".to_owned(),
            };
            format!(
                "{} rounds of the confirmation, the fewest that decide, take about {}, and it will have about {}: it will \
                 probably stay open; {remedy}.",
                model::plan::LOOKS[0],
                human_seconds(needed),
                human_seconds(room)
            )
        })
    }
}

/// What is raced and what is not, what comes behind it, and what all combinations would take: lines behind the plan.
pub fn about(screening: &Screening, summary: &PlanSummary, then: Then) -> String {
    let (factors, lanes) = (&screening.factors, screening.runs.len());
    let options = if factors.len() == 1 { "1 option".to_owned() } else { format!("{} options", factors.len()) };
    let full = stats::screening::full_factorial(factors.len());
    let design = match screening.design {
        DesignKind::FullFactorial => match lanes as u64 / full.max(1) {
            0 | 1 => "all combinations of their levels".to_owned(),
            each => format!("all combinations of their levels, each in {each} lanes"),
        },
        DesignKind::FoldedPlackettBurman => "a folded design of Plackett and Burman".to_owned(),
    };
    let mut lines = vec![format!("screening: {options} in {lanes} lanes, {design}.")];
    lines.extend(then.in_words());
    lines.extend(then.is_usual.then(|| {
        let usual = human_seconds(rounds::USUAL_SECONDS);
        format!("nobody said how long: it is {usual} by itself for all but --tune, and --budget takes any other time.")
    }));
    lines.extend(then.too_short(summary));
    lines.extend((!confirm::may_propose(factors)).then(|| NEVER_PROPOSED.to_owned()));
    if full > lanes as u64 {
        let of_lane = summary.seconds_per_round.iter().sum::<f64>() / lanes.max(1) as f64;
        let seconds = of_lane * full as f64 * f64::from(summary.rounds.0);
        lines.push(format!(
            "all combinations of them would be {full} lanes, and as many rounds of these would take about {}.",
            human_seconds(seconds)
        ));
    }
    lines.extend(few_rounds(summary));
    lines.extend(factors.iter().map(|factor| format!("  {}{}", option(factor), not_raced(factor, then))));
    lines.extend(left_out(screening));
    lines.into_iter().map(|line| clean_text(&line)).collect::<Vec<_>>().join("\n")
}

/// That so few rounds hardly tell anything; `None`: there are more.
fn few_rounds(summary: &PlanSummary) -> Option<String> {
    let (_, most) = summary.rounds;
    (most < FEWEST_THAT_TELL).then(|| {
        format!(
            "so few rounds ({most}) hardly tell anything: intervals will be wide, and most options cannot be told; a \
             screening with more --rounds tells more."
        )
    })
}

/// Further levels that nothing races, and why; empty: there are none.
fn not_raced(factor: &Factor, then: Then) -> String {
    let labels: Vec<&str> = factor.further.iter().map(|level| level.label.as_str()).collect();
    let why = match (then.tuning, factor.class) {
        (Some(_), OptionClass::Ordinary) => return String::new(),
        (Some(_), _) => "not raced, because only what may be proposed is tuned",
        (None, _) => "for --tune and not raced",
    };
    match labels.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} is {why}"),
        some => format!("; {} are {why}", some.join(", ")),
    }
}

/// `logbsize: 32k, or 256k`.
fn option(factor: &Factor) -> String {
    let costs = if factor.costs.is_empty() { String::new() } else { format!(" ({})", factor.costs) };
    let promises = match factor.class {
        OptionClass::Ordinary => "",
        OptionClass::Promises => "; changes what is promised: it is told, and never proposed",
        OptionClass::Unknown => "; in no table, so never proposed",
    };
    let unusual = match factor.table_usual.as_str() {
        "" => String::new(),
        usual => format!(
            "; the default of this screening has {}, where a lane that says nothing has {usual} (Fairlane's table)",
            factor.usual.label
        ),
    };
    format!("{}: {}, or {}{costs}{promises}{unusual}", factor.name, factor.usual.label, factor.other.label)
}

fn left_out(screening: &Screening) -> impl Iterator<Item = String> {
    screening.left_out.iter().map(|of| format!("  left out: {}: {}", of.option, of.why))
}

/// What a dry run says behind its own lines: the design, and what comes after the race. `path`: of the record.
pub fn dry_run(plan: &Plan, path: &Path, (times, confirms): (Times, bool)) -> Vec<String> {
    let Some(screening) = &plan.screening else { return Vec::new() };
    let mut lines: Vec<String> = tried(plan).into_iter().collect();
    lines.push("the design: each column is an option, - at its usual level and + at the other one".to_owned());
    let columns = screening.factors.iter().enumerate();
    lines.extend(columns.map(|(at, factor)| format!("  column {}: {}", at + 1, option(factor))));
    for run in &screening.runs {
        let signs = run.at_other.iter().map(|&is_other| if is_other { "+" } else { "-" });
        lines.push(format!("  {:<8} {}", run.lane, signs.collect::<Vec<_>>().join(" ")));
    }
    if confirms {
        let lanes = plan.lanes.first().map(LaneSpec::to_line).into_iter().chain([format!("{}=…", confirm::PROPOSAL)]);
        let length = Length { rounds: Rounds::Auto, budget: Some(times.confirmation) };
        let command = confirm::command_line(plan, lanes.collect(), length, None);
        let longer = match times.confirmation < rounds::MOST_CONFIRMATION_SECONDS {
            true => ", for longer where that race leaves some of its time,",
            false => "",
        };
        lines.push(format!(
            "then, where something is proposed, race it against the default{longer} into {}: {}",
            confirm::beside(path, confirm::CONFIRMED).display(),
            shell_line(&command)
        ));
    }
    lines
}

/// That programs ran for the dry run itself; `None`: of a lane in a guest the plan says it.
fn tried(plan: &Plan) -> Option<String> {
    let base = plan.lanes.first().filter(|base| !planning::in_guest(base))?;
    let by = match &base.contestant {
        Contestant::Custom(file) => format!("the commands of {}", escaped_path(file)),
        Contestant::Filesystem(_) | Contestant::Directory(_) => "its mkfs and mount".to_owned(),
    };
    Some(format!("done already: the options were tried by {by}, on sparse images that are gone again"))
}

/// The commands that set what was confirmed, a line each. What its default sets of the kernel too is not what was proposed: where
/// the machine had it by itself it is left out, and a last line names the rest of it and of the disk's queue.
pub fn set_it(default: &LaneSpec, lane: &LaneSpec, machine: &Machine) -> Vec<String> {
    let usual = |layer: Option<&LayerSpec>, of_lane: Option<&LayerSpec>| -> Vec<String> {
        let both = settings(layer).into_iter().filter(|setting| settings(of_lane).contains(setting));
        both.collect()
    };
    let (of_machine, kept): (Vec<String>, Vec<String>) =
        usual(default.vm(), lane.vm()).into_iter().partition(|setting| is_of_machine(setting, machine));
    let of_kernel = kept.iter().map(|setting| format!("vm.{setting}"));
    let of_queue = usual(default.queue(), lane.queue()).into_iter().map(|setting| format!("queue {setting}"));
    let others: Vec<String> = of_kernel.chain(of_queue).collect();
    let mut lines = commands(lane, &of_machine);
    lines.extend((!others.is_empty()).then(|| format!("# the default was set so too: {}", others.join(", "))));
    lines
}

fn settings(layer: Option<&LayerSpec>) -> Vec<String> {
    layer.map(|layer| layer.options.clone()).unwrap_or_default()
}

/// Whether a machine has a setting of the kernel by itself. Where the other one of a pair counts, it tells 0.
fn is_of_machine(setting: &str, machine: &Machine) -> bool {
    let Some((name, value)) = setting.split_once('=') else { return false };
    let number = value.parse::<Bytes>().ok().map(Bytes::get).filter(|number| *number > 0);
    number.is_some_and(|number| machine.kernel_settings().contains(&(name, number)))
}

/// The commands that make and mount a lane by hand, a line each; of a filesystem of the user's own, whose file says how
/// that is done, the lane as it is typed. `left_out`: settings of the kernel that have no line.
fn commands(lane: &LaneSpec, left_out: &[String]) -> Vec<String> {
    let mut lines = match &lane.contestant {
        Contestant::Filesystem(name) => by_hand(name, lane),
        Contestant::Custom(_) => vec![format!("lane   {}", shell_line(&[as_typed(lane)]))],
        Contestant::Directory(_) => Vec::new(),
    };
    if !lines.is_empty() {
        lines.extend(settings(lane.queue()).iter().map(|setting| of_the_queue(setting)));
        let of_kernel = settings(lane.vm()).into_iter().filter(|setting| !left_out.contains(setting));
        lines.extend(of_kernel.map(|setting| of_the_kernel(&setting)));
    }
    lines
}

/// A lane without its name.
fn as_typed(lane: &LaneSpec) -> String {
    let line = lane.to_line();
    let rest = line.strip_prefix(lane.name.as_str()).and_then(|rest| rest.strip_prefix('='));
    rest.unwrap_or(&line).to_owned()
}

/// Lines for mkfs, mount and /etc/fstab; none where there is no such filesystem.
fn by_hand(name: &str, lane: &LaneSpec) -> Vec<String> {
    let Some(row) = filesystems::find(name) else { return Vec::new() };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    let mkfs = [words(row.mkfs.get(..1).unwrap_or_default()), lane.mkfs_options.clone(), words(&["DEVICE"])].concat();
    // Those of Fairlane's own too: without them another filesystem would be mounted than the one that was confirmed.
    let options = row.all_mount_options(&lane.mount_options).join(",");
    let mount = match options.as_str() {
        "" => words(&["mount", "DEVICE", "/mnt"]),
        options => words(&["mount", "-o", options, "DEVICE", "/mnt"]),
    };
    let shown: &str = if options.is_empty() { "defaults" } else { &options };
    vec![
        format!("mkfs   {}", shell_line(&mkfs)),
        format!("mount  {}", shell_line(&mount)),
        format!("fstab  UUID=… /mnt {} {} 0 2", row.mounted_as(), clean_text(shown)),
    ]
}

/// The command that sets a disk's queue as the layer `queue` does.
fn of_the_queue(setting: &str) -> String {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let (attribute, value) = match (key, value.parse::<Bytes>()) {
        ("read_ahead", Ok(bytes)) => ("read_ahead_kb", (bytes.get() >> 10).to_string()),
        ("requests", _) => ("nr_requests", value.to_owned()),
        _ => (key, value.to_owned()),
    };
    let [value, file] = [value, format!("/sys/block/DISK/queue/{attribute}")].map(|word| shell_line(&[word]));
    format!("queue  echo {value} > {file}  # until the next boot")
}

/// What sets the kernel as the layer `vm` does, as a command and without its first word as a line in /etc/sysctl.d.
fn of_the_kernel(setting: &str) -> String {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let value = match value.parse::<Bytes>() {
        Ok(bytes) => bytes.get().to_string(),
        Err(_) => value.to_owned(),
    };
    format!("sysctl {}", shell_line(&[format!("vm.{name}={value}")]))
}

/// What stands behind the plan: what is raced and what is not, and what tuning races behind it. `tunes`: the seconds of
/// tuning, `None`: nothing is tuned; the size of lanes; where the screening's record lies.
pub fn remark(screening: &Screening, summary: &PlanSummary, then: Then, tunes: (Option<f64>, Bytes, &Path)) -> String {
    let (seconds, size, path) = tunes;
    let mut lines = vec![about(screening, summary, then)];
    lines.extend(seconds.into_iter().flat_map(|seconds| tuning(screening, summary, seconds, (size, path))));
    lines.join("\n")
}

/// What tuning races, where, and how long that takes at least: a line each.
fn tuning(screening: &Screening, summary: &PlanSummary, seconds: f64, (size, path): (Bytes, &Path)) -> Vec<String> {
    let combinations = tune::most_candidates(&screening.factors);
    let record = clean_text(&tune::next_record(path).display().to_string());
    let mut lines = vec![format!(
        "tuning: up to {combinations} combinations of levels race the default, {} lanes of {size} in all, of the options that \
         matter or cannot be told by then; of fewer than two nothing is tuned. Records: {record} and so on.",
        combinations + 1
    )];
    let tunable = screening.factors.iter().filter(|factor| factor.class == OptionClass::Ordinary);
    lines.extend(tunable.filter(|factor| !factor.further.is_empty()).map(|factor| {
        let labels: Vec<&str> = factor.further.iter().map(|level| level.label.as_str()).collect();
        clean_text(&format!("  {}: with {} too", factor.name, labels.join(", ")))
    }));
    // The default and the fewest combinations of a first race.
    let lanes = (tune::LEFT_AT_THE_END + 1) as f64 / screening.runs.len().max(1) as f64;
    let least = summary.seconds_per_round.iter().sum::<f64>() * lanes * f64::from(tune::FIRST_ROUNDS);
    lines.extend((least > seconds).then(|| {
        format!(
            "--tune: {} have no room for its first race, which takes about {}, and nothing will be tuned; give it more \
             time.",
            human_seconds(seconds),
            human_seconds(least)
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::factor;
    use super::*;
    use model::screening::ScreeningRun;

    #[test]
    fn an_option_that_changes_promises_says_so_before_the_race() {
        let ordinary = factor("logbsize", &["32k", "256k"]);
        assert_eq!(option(&ordinary), "logbsize: 32k, or 256k");
        let wsync = Factor { class: OptionClass::Promises, costs: "time".into(), ..factor("wsync", &["off", "on"]) };
        assert_eq!(
            option(&wsync),
            "wsync: off, or on (time); changes what is promised: it is told, and never proposed"
        );
        let turned = Factor { table_usual: "5".into(), ..factor("commit", &["30", "5"]) };
        let unusual = "the default of this screening has 30, where a lane that says nothing has 5 (Fairlane's table)";
        assert_eq!(option(&turned), format!("commit: 30, or 5; {unusual}"));
        let reserved = Factor { class: OptionClass::Unknown, ..factor("-m", &["5", "0"]) };
        assert_eq!(option(&reserved), "-m: 5, or 0; in no table, so never proposed");
    }

    /// A plan of rounds that take so many seconds with all lanes.
    fn summary(seconds_per_round: Vec<f64>) -> PlanSummary {
        PlanSummary {
            contestants: Vec::new(),
            written_bytes: None,
            needed_bytes: None,
            workloads: seconds_per_round.len() as u32,
            rounds: (3, 3),
            ranks: false,
            fits: None,
            rounds_until_the_time_is_up: false,
            seconds: None,
            seconds_per_round,
            resolves: None,
            setup_seconds: 0.0,
            first_look_seconds: 0.0,
            budget_seconds: None,
            keep: false,
            as_published: false,
            passes: report::PlannedPasses::No,
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_tuning_races_is_said_before_the_race_with_the_time_that_it_takes_at_least() {
        let data = Factor { class: OptionClass::Promises, ..factor("data", &["0", "1", "2"]) };
        let run = |at: usize| ScreeningRun { lane: format!("r{at}"), at_other: vec![!at.is_multiple_of(2), at > 1] };
        let screening = Screening {
            base: "ext4".to_owned(),
            design: DesignKind::FullFactorial,
            factors: vec![factor("commit", &["5", "30", "60", "300"]), data],
            runs: (0..4).map(run).collect(),
            left_out: Vec::new(),
        };
        let then = Then { confirmation: None, tuning: None, is_usual: false };
        let said = |seconds: Option<f64>| {
            let tunes = (seconds, Bytes(Bytes::GIB), Path::new("/no-such-folder/zz.jsonl"));
            remark(&screening, &summary(vec![6.0, 2.0]), Then { tuning: seconds, ..then }, tunes)
        };
        assert_eq!(said(None), about(&screening, &summary(vec![6.0, 2.0]), then));
        // Two combinations and the default are three lanes, four of which take 8 s for a round of all work.
        let (enough, short) = (said(Some(18.0)), said(Some(17.9)));
        assert!(!enough.contains(NEVER_PROPOSED), "{enough}");
        let plain = said(None);
        assert!(plain.contains("commit: 5, or 30; 60, 300 are for --tune and not raced"), "{plain}");
        let told = "data: 0, or 1; changes what is promised: it is told, and never proposed; 2 is not raced,";
        assert!(enough.contains(told), "{enough}");
        assert!(!enough.contains("for --tune and not") && !plain.contains("hardly tell"), "{plain} {enough}");
        let two = PlanSummary { rounds: (2, 2), ..summary(vec![6.0]) };
        assert!(about(&screening, &two, then).contains("so few rounds (2) hardly tell anything"));
        let mut never = screening.clone();
        never.factors.iter_mut().for_each(|factor| factor.class = OptionClass::Unknown);
        assert!(about(&never, &summary(vec![6.0]), then).contains(NEVER_PROPOSED));
        for part in ["up to 3 combinations", "4 lanes of 1GiB", "/no-such-folder/zz-tune1.jsonl", "with 60, 300 too"] {
            assert!(enough.contains(part) && short.contains(part), "{part}: {enough}");
        }
        assert!(!enough.contains("data: with") && !enough.contains("no room"), "{enough}");
        assert!(short.contains("no room for its first race, which takes about 18 s"), "{short}");
    }

    #[test]
    fn what_comes_behind_the_race_has_its_time_said() {
        for (confirmation, tuning, said) in [
            (Some(900.0), None, Some("then at most 15 min for the confirmation.")),
            (Some(900.0), Some(300.0), Some("then at most 15 min for the confirmation; --tune: 5 min more.")),
            (
                Some(30.0),
                None,
                Some("then 30 s for the confirmation, and what the race before it leaves of its own time."),
            ),
            (None, None, None),
        ] {
            assert_eq!(Then { confirmation, tuning, is_usual: false }.in_words().as_deref(), said);
        }
    }

    #[test]
    fn a_confirmation_without_time_for_a_verdict_is_told_before_the_race_with_the_budget_that_has_it() {
        let said = |part: Option<f64>, needed: f64, budget: Option<f64>| {
            let times = PlanSummary { first_look_seconds: needed, seconds: Some(50.0), ..summary(vec![6.0]) };
            let then = Then { confirmation: part, tuning: None, is_usual: false };
            then.too_short(&PlanSummary { budget_seconds: budget, ..times })
        };
        // 40 s are expected to be left.
        assert_eq!(said(Some(30.0), 69.0, Some(90.0)), None);
        let short = said(Some(7.5), 69.0, Some(22.5)).expect("a sentence");
        assert!(short.contains("about 69 s, and it will have about 7.5 s"), "{short}");
        assert!(short.ends_with("; --budget 5m has room for them."), "{short}");
        // That race goes on beyond its own time.
        assert!(said(Some(7.5), 8.0, None).is_some());
        assert_eq!(said(Some(900.0), 900.0, None), None);
        assert!(said(Some(900.0), 901.0, None).is_some_and(|said| said.contains("less work (--workload NAME)")));
        assert_eq!(said(None, 901.0, None), None, "there is none");
    }

    #[test]
    fn what_was_found_is_set_by_lines_that_can_be_copied() {
        let told = |lane: &str| commands(&lane.parse().unwrap(), &[]);
        assert_eq!(
            told("p=xfs(-m reflink=0),logbsize=256k,noatime/queue,scheduler=bfq,read_ahead=4M"),
            [
                "mkfs   mkfs.xfs -m reflink=0 DEVICE",
                "mount  mount -o nodiscard,logbsize=256k,noatime DEVICE /mnt",
                "fstab  UUID=… /mnt xfs nodiscard,logbsize=256k,noatime 0 2",
                "queue  echo bfq > /sys/block/DISK/queue/scheduler  # until the next boot",
                "queue  echo 4096 > /sys/block/DISK/queue/read_ahead_kb  # until the next boot",
            ]
        );
        let own = told("p=./my.toml/queue,scheduler=bfq");
        assert_eq!(own[0], "lane   ./my.toml/queue,scheduler=bfq");
        assert_eq!(own[1], "queue  echo bfq > /sys/block/DISK/queue/scheduler  # until the next boot");
        assert_eq!(told("proposal=./my.toml(-b 4096),delay=100"), ["lane   './my.toml(-b 4096),delay=100'"]);
        assert_eq!(told("./my.toml,delay=100"), ["lane   ./my.toml,delay=100"]);
        assert!(told("/mnt/a").is_empty());
        let set = told("p=ext4/vm,dirty_bytes=256M,swappiness=10");
        assert_eq!(set[3..], ["sysctl vm.dirty_bytes=268435456", "sysctl vm.swappiness=10"]);
        let bare = told("ext2");
        assert_eq!(
            bare,
            ["mkfs   mkfs.ext2 DEVICE", "mount  mount DEVICE /mnt", "fstab  UUID=… /mnt ext2 defaults 0 2"]
        );
    }

    #[test]
    fn what_the_default_was_set_to_as_well_is_left_out_or_said_to_be_of_both() {
        let record = model::record::Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap();
        let machine = Machine { dirty_ratio: 20, dirty_background_ratio: 10, ..record.header.machine };
        let told = |default: &str, lane: &str| {
            let [default, lane] = [default, lane].map(|lane| lane.parse::<LaneSpec>().unwrap());
            set_it(&default, &lane, &machine).split_off(3)
        };
        let set = "vm,dirty_ratio=5,dirty_background_ratio";
        assert_eq!(
            told("d=ext4/vm,dirty_ratio=20,dirty_background_ratio=10", &format!("p=ext4/{set}=10")),
            ["sysctl vm.dirty_ratio=5"]
        );
        assert_eq!(
            told("d=ext4/vm,dirty_ratio=20,dirty_background_ratio=3", &format!("p=ext4/{set}=3")),
            [
                "sysctl vm.dirty_ratio=5",
                "sysctl vm.dirty_background_ratio=3",
                "# the default was set so too: vm.dirty_background_ratio=3"
            ]
        );
        let queue = told("d=ext4/queue,scheduler=none", "p=ext4,noatime/queue,scheduler=none");
        assert!(queue[0].starts_with("queue  echo none"), "{queue:?}");
        assert_eq!(queue[1..], ["# the default was set so too: queue scheduler=none"]);
        assert_eq!(told("d=ext4", "p=ext4/vm,dirty_ratio=20"), ["sysctl vm.dirty_ratio=20"], "it was proposed");
    }

    #[test]
    fn what_was_found_is_mounted_as_its_lane_was() {
        for (lane, options) in [
            ("f2fs", "nodiscard"),
            ("btrfs,compress=zstd:1", "nodiscard,compress=zstd:1"),
            // Who races discard has it as it was raced.
            ("btrfs,discard=async", "discard=async"),
        ] {
            let spec: LaneSpec = lane.parse().unwrap();
            let lines = commands(&spec, &[]);
            assert_eq!(lines[1], format!("mount  mount -o {options} DEVICE /mnt"), "{lane}");
            assert!(lines[2].ends_with(&format!(" {options} 0 2")), "{lane}: {}", lines[2]);
        }
    }
}
