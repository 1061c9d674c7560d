//! What the record of a screening says of how it was begun, and the screening anew that tells more.

use crate::commands::{planning, screen};
use crate::failure::Failure;
use crate::options::Screen;
use crate::suites;
use model::findings::ScreeningFinding;
use model::plan::{Plan, Rounds};
use model::record::{EndOutcome, Record};
use model::trial::Outcome;
use model::units::parse_seconds;
use model::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Options of a command of `screen` that the one which tells more has otherwise, each with a value.
const OTHERWISE: [&str; 3] = ["--rounds", "--budget", "--seed"];

/// What was typed to go on with a record, and for what was not typed what it was begun with: how long is tuned, and before
/// its own race is over whether its proposal is raced.
pub fn as_begun(options: &Screen, record: &Record) -> Screen {
    let plan = &record.header.plan;
    let is_over = record.end == Some(EndOutcome::Complete);
    let no_confirm = options.no_confirm || (!is_over && named(plan).any(|(option, _)| option == "--no-confirm"));
    let mut options = options.clone();
    options.no_confirm = no_confirm;
    options.tune = options.tune.or_else(|| recorded(plan, "--tune").filter(|_| !no_confirm));
    options
}

/// Seconds of a screening and its confirmation together: as they were typed, or what its record was begun with; `None`: the
/// usual ones.
pub fn budget(typed: Option<f64>, record: &Record) -> Option<f64> {
    typed.or_else(|| recorded(&record.header.plan, "--budget"))
}

/// A time that the command of a plan names, in seconds.
pub fn recorded(plan: &Plan, option: &str) -> Option<f64> {
    named(plan).find(|(name, _)| *name == option).and_then(|(_, value)| parse_seconds(value?).ok())
}

/// The options of a plan's command, each with the word behind it.
fn named(plan: &Plan) -> impl Iterator<Item = (&str, Option<&str>)> {
    let words = plan.again();
    // What stands behind `--option` is a word for mkfs, which may look like an option.
    let is_value = move |at: usize| at > 0 && words[at - 1] == "--option";
    let options = (0..words.len()).filter(move |&at| !is_value(at) && words[at].starts_with("--"));
    options.map(move |at| (words[at].as_str(), words.get(at + 1).map(String::as_str)))
}

/// Refuses an option that was typed and that the record's command does not name: nobody would screen it.
///
/// # Errors
/// Names the first of them.
pub fn check_options(plan: &Plan, options: &Screen) -> Result<(), Failure> {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let known: Vec<String> =
        named(plan).filter(|(option, _)| *option == "--option").filter_map(|(_, value)| Some(bare(value?))).collect();
    match options.options.iter().find(|text| !known.contains(&bare(text))) {
        None => Ok(()),
        Some(other) => Err(Failure::usage(format!(
            "--option {}: the record's command names no such option, and a screening that was begun takes no other; \
             leave it out, or screen anew",
            report::shell_line(std::slice::from_ref(other))
        ))),
    }
}

/// Refuses another number of rounds than that of the plan: only planned rounds decide (method 9.3), and who has seen what the
/// first ones show would choose by it how many more there are.
///
/// # Errors
/// Names the command of a screening anew with so many.
pub fn check_rounds(path: &Path, record: &Record, typed: Option<u32>) -> Result<(), Failure> {
    let Some(rounds) = typed.filter(|rounds| record.header.plan.rounds != Rounds::Fixed(*rounds)) else {
        return Ok(());
    };
    let anew = anew_with(&record.header.plan, rounds);
    let anew = anew.map_or_else(String::new, |words| format!(": {}", report::shell_line(&words)));
    Err(Failure::usage(format!(
        "--rounds {rounds}: only the rounds that were planned before {} began decide what it tells; leave --rounds out, or screen \
         anew{anew}",
        path.display()
    )))
}

/// How many rounds are raced already of a screening or a confirmation that goes on, a line for behind its plan; `None`: no
/// whole one is.
pub fn done(record: &Record) -> Option<String> {
    let so_far = so_far(record)?;
    Some(format!("raced already, {so_far}. The plan above is that of the whole race."))
}

/// `of 3 rounds each: commit 1`, what is raced of a record; `None`: no whole round is. What was set aside to be run again is
/// none.
pub fn so_far(record: &Record) -> Option<String> {
    let plan = &record.header.plan;
    let mut lanes: BTreeMap<(&str, u32), BTreeSet<&str>> = BTreeMap::new();
    for trial in record.trials.iter().filter(|trial| trial.outcome != Outcome::Repeated) {
        lanes.entry((trial.workload.as_str(), trial.round)).or_default().insert(trial.lane.as_str());
    }
    let whole = |workload: &str| {
        let rounds = lanes.iter().filter(|((of, _), lanes)| *of == workload && lanes.len() >= plan.lanes.len());
        rounds.count()
    };
    let told: Vec<(&str, usize)> =
        plan.workloads.iter().map(|workload| (workload.title.as_str(), whole(&workload.name))).collect();
    let list: Vec<String> = told.iter().map(|(title, whole)| format!("{title} {whole}")).collect();
    let is_any = told.iter().any(|(_, whole)| *whole > 0);
    let of = match plan.rounds {
        Rounds::Fixed(planned) => format!("of {planned} rounds each"),
        Rounds::Auto => "in whole rounds".to_owned(),
    };
    is_any.then(|| report::clean_text(&format!("{of}: {}", list.join(", "))))
}

/// Nothing of a screening is left to do. `race_more`: the words of the command that races its proposal for longer, where its
/// confirmation is open; empty: it is not.
pub fn complete(path: &Path, record: &Record, race_more: &[String]) -> Failure {
    let more = match race_more {
        [] if stats::judge::findings(record).screening.is_some_and(|of| of.hidden_by_lanes) => None,
        [] => anew(record).map(|words| {
            format!("; more rounds take a screening anew: {}", as_typed(report::shell_line(&words), record))
        }),
        words => {
            let line = as_typed(report::shell_line(words), record);
            Some(format!("; its confirmation cannot tell yet, and a longer race of the proposal may: {line}"))
        }
    };
    let more = more.unwrap_or_default();
    Failure::usage(format!(
        "{} is complete, and nothing of it is left to do: fairlane report {}{more}",
        path.display(),
        path.display()
    ))
}

/// The command of a screening anew, where the one that is over leaves open what more rounds may tell; `None`: it does not.
pub fn anew_where_it_may_tell(finding: &ScreeningFinding, record: &Record) -> Option<Vec<String>> {
    let tells_too_little = finding.confirmation.is_none() && finding.proposal.factors.is_empty();
    let more_may_tell = !finding.open_options().is_empty() && !finding.hidden_by_lanes;
    let is_open = finding.proposal.cut_short.is_some() || (tells_too_little && more_may_tell);
    anew(record).filter(|_| is_open && !finding.unfinished)
}

/// A command that races lanes of a screening, as whoever sees it types it.
pub fn as_typed(line: String, record: &Record) -> String {
    let in_guest = record.header.plan.lanes.first().is_some_and(planning::in_guest);
    screen::with_sudo(line, in_guest)
}

/// The command of the screening that tells more: with all the rounds that were planned where the time was too short for
/// them, otherwise with twice as many. `None`: the record has no command of Fairlane's.
pub fn anew(record: &Record) -> Option<Vec<String>> {
    let plan = &record.header.plan;
    let Rounds::Fixed(planned) = plan.rounds else { return None };
    let raced = |workload: &str| {
        let trials = record.trials.iter().filter(|trial| trial.workload == workload);
        trials.map(|trial| trial.round).max().unwrap_or(0)
    };
    let is_short = plan.workloads.iter().any(|workload| raced(&workload.name) < planned);
    anew_with(plan, if is_short { planned } else { planned.saturating_mul(2) })
}

/// The command of a plan with so many rounds, neither its time nor its seed, and the workloads that the time left out.
fn anew_with(plan: &Plan, rounds: u32) -> Option<Vec<String>> {
    let mut line: Vec<String> = Vec::new();
    let mut words = plan.again().iter();
    while let Some(word) = words.next() {
        let is_of_mkfs = line.last().is_some_and(|last| last == "--option");
        if OTHERWISE.contains(&word.as_str()) && !is_of_mkfs {
            words.next();
        } else {
            line.push(word.clone());
        }
    }
    let more = left_out_of_time(plan, &line);
    line.extend(more.into_iter().flat_map(|name| ["--workload".to_owned(), name]));
    line.extend(["--rounds".to_owned(), rounds.to_string()]);
    (line.len() > 2).then_some(line)
}

/// Names of the workloads that a budget left out of a screening, which its plan has by their titles; none of a suite of the
/// user's own, which may have changed since. `line`: its command.
fn left_out_of_time(plan: &Plan, line: &[String]) -> Vec<String> {
    let names = |option: &str, value: &str| line.windows(2).any(|two| two[0] == option && two[1] == value);
    // Only where workloads are named are there fewer than all.
    if !line.iter().any(|word| word == "--workload") || !names("--suite", &plan.suite) {
        return Vec::new();
    }
    let Ok(Some(mut suite)) = suites::find_built_in(&plan.suite) else { return Vec::new() };
    suites::add_compressible(&mut suite);
    // Behind a title stands what `--set` changed.
    let is_it = |what: &String, title: &str| {
        what.strip_prefix(title).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let is_left_out = |of: &Workload| plan.not_tested.iter().any(|what| is_it(what, &of.title));
    let left_out = suite.workload.into_iter().filter(is_left_out);
    left_out.map(|of| of.name).filter(|name| !names("--workload", name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;

    /// A record that was begun so, and ended so.
    fn record(command: &str, end: Option<EndOutcome>) -> Record {
        let mut record = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap();
        record.header.plan.command_line = command.split('_').map(str::to_owned).collect();
        record.end = end;
        record
    }

    fn typed(words: &[&str]) -> Screen {
        let words = ["fairlane", "screen", "--resume", "r.jsonl"].into_iter().chain(words.iter().copied());
        let Command::Screen(options) = Options::try_parse_from(words).unwrap().command else { panic!("screen") };
        *options
    }

    const BEGUN: &str = "fairlane_screen_ext4_--suite_quick_--option_commit=5|30_--option_--tune 1|2_--tune_300s_\
        --lane-size_1GiB_--budget_180s_--rounds_4_--seed_7";

    #[test]
    fn what_is_not_typed_again_is_as_it_was_begun() {
        let times = |words: &[&str], command: &str, end: Option<EndOutcome>| {
            let (typed, record) = (typed(words), record(command, end));
            let options = as_begun(&typed, &record);
            assert_eq!(options.terms.budget, typed.terms.budget, "what was typed is told from what was not");
            (budget(options.terms.budget, &record), options.tune, options.no_confirm)
        };
        let over = Some(EndOutcome::Complete);
        assert_eq!(times(&[], BEGUN, None), (Some(180.0), Some(300.0), false));
        assert_eq!(times(&[], BEGUN, over), (Some(180.0), Some(300.0), false));
        assert_eq!(times(&["--budget", "5m", "--tune", "1m"], BEGUN, None), (Some(300.0), Some(60.0), false));
        assert_eq!(times(&["--no-confirm"], BEGUN, None), (Some(180.0), None, true));
        let alone = "fairlane_screen_ext4_--no-confirm";
        assert_eq!(times(&[], alone, Some(EndOutcome::Interrupted)), (None, None, true));
        // Of a race that is over only the confirmation is left.
        assert_eq!(times(&[], alone, over), (None, None, false));
        assert_eq!(times(&[], "rm_--budget_9s", None), (None, None, false), "it is no command of Fairlane's");
        assert_eq!(recorded(&record("fairlane_screen_ext4_--budget", None).header.plan, "--budget"), None);
        assert_eq!(recorded(&record("fairlane_screen_ext4_--tune_never", None).header.plan, "--tune"), None);
    }

    #[test]
    fn what_is_raced_already_is_told_by_whole_rounds() {
        let mut record = record(BEGUN, None);
        record.header.plan.rounds = Rounds::Fixed(5);
        let first = record.header.plan.workloads[0].clone();
        let said = done(&record).expect("two rounds were raced");
        assert!(said.contains(&format!("of 5 rounds each: {} 2", first.title)), "{said}");
        // A round in which a lane is missing goes on.
        let last = record.trials.iter().rposition(|trial| trial.workload == first.name && trial.round == 2).unwrap();
        record.trials.remove(last);
        let said = done(&record).expect("one whole round was raced");
        assert!(said.contains(&format!("of 5 rounds each: {} 1", first.title)), "{said}");
        // That of a confirmation ends by itself.
        record.header.plan.rounds = Rounds::Auto;
        let said = done(&record).expect("one whole round was raced");
        assert!(said.starts_with(&format!("raced already, in whole rounds: {} 1", first.title)), "{said}");
        // What was set aside is run again.
        record.trials.iter_mut().for_each(|trial| trial.outcome = Outcome::Repeated);
        assert_eq!(done(&record), None);
        record.trials.clear();
        assert_eq!(done(&record), None);
    }

    #[test]
    fn a_screening_that_was_begun_keeps_its_rounds_whether_it_is_over_or_not() {
        for end in [None, Some(EndOutcome::Interrupted), Some(EndOutcome::Complete)] {
            let mut record = record(BEGUN, end);
            record.header.plan.rounds = Rounds::Fixed(4);
            let check = |words: &[&str]| {
                let rounds = typed(words).rounds;
                check_rounds(Path::new("r.jsonl"), &record, rounds).map_err(|failure| failure.message)
            };
            assert_eq!(check(&[]), Ok(()));
            assert_eq!(check(&["--rounds", "4"]), Ok(()), "it has so many");
            for other in ["3", "8"] {
                let said = check(&["--rounds", other]).unwrap_err();
                assert!(said.starts_with(&format!("--rounds {other}: only the rounds that were planned")), "{said}");
                let anew = "screen anew: fairlane screen ext4 --suite quick --option 'commit=5|30'";
                assert!(said.contains(anew) && said.ends_with(&format!(" --rounds {other}")), "{said}");
            }
        }
    }

    #[test]
    fn an_option_that_the_record_s_command_does_not_name_is_refused() {
        let plan = record(BEGUN, None).header.plan;
        let check = |words: &[&str]| check_options(&plan, &typed(words)).map_err(|failure| failure.message);
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&["--option", "commit = 5 | 30", "--option", "--tune 1|2"]), Ok(()));
        for other in ["noatime", "commit=5|60", "--tune"] {
            let said = check(&["--option", "commit=5|30", "--option", other]).unwrap_err();
            assert!(said.contains(other) && said.contains("names no such option"), "{said}");
        }
    }

    #[test]
    fn a_screening_anew_has_all_rounds_or_twice_as_many_and_neither_the_time_nor_the_seed() {
        let mut record = record(BEGUN, Some(EndOutcome::Complete));
        let line = |rounds: u32| {
            format!(
                "fairlane screen ext4 --suite quick --option 'commit=5|30' --option '--tune 1|2' --tune 300s \
                 --lane-size 1GiB --rounds {rounds}"
            )
        };
        let anew = |record: &Record| anew(record).map(|words| report::shell_line(&words));
        assert_eq!(anew(&record), Some(line(4)), "two rounds were raced of two");
        record.header.plan.rounds = Rounds::Fixed(5);
        assert_eq!(anew(&record), Some(line(5)), "two rounds were raced of five");
        let said = complete(Path::new("r.jsonl"), &record, &[]).message;
        assert!(said.starts_with("r.jsonl is complete") && said.ends_with(&line(5)), "{said}");
        let race = ["fairlane", "race", "default=ext4", "proposal=ext4,commit=30"].map(str::to_owned);
        let said = complete(Path::new("r.jsonl"), &record, &race).message;
        assert!(said.ends_with("fairlane race default=ext4 proposal=ext4,commit=30"), "{said}");
        assert!(said.contains("its confirmation cannot tell yet") && !said.contains("anew"), "{said}");
        record.header.plan.command_line = vec!["rm".to_owned()];
        assert_eq!(anew(&record), None);
    }

    #[test]
    fn a_screening_anew_has_the_workloads_again_that_a_budget_left_out() {
        let of = |command: &str, suite: &str| {
            let mut plan = record(command, Some(EndOutcome::Complete)).header.plan;
            let commit = suites::find("quick").unwrap().workload.into_iter().find(|of| of.name == "commit").unwrap();
            // With `--set` its parameters stand behind a title.
            let told = [commit.title.clone(), format!("{} (size=2MiB)", commit.title)].map(|title| {
                (plan.suite, plan.not_tested) = (suite.to_owned(), vec![title, "power cuts".to_owned()]);
                report::shell_line(&anew_with(&plan, 4).unwrap())
            });
            assert_eq!(told[0], told[1]);
            told[0].clone()
        };
        let left = "fairlane_screen_ext4_--suite_quick_--budget_60s_--workload_small-files";
        let line = "fairlane screen ext4 --suite quick --workload small-files";
        assert_eq!(of(left, "quick"), format!("{line} --workload commit --rounds 4"));
        // Of a suite of one's own nobody knows which these are.
        assert_eq!(of(left, "tiny"), format!("{line} --rounds 4"));
        let named = "fairlane_screen_ext4_--suite_quick_--workload_commit";
        assert_eq!(of(named, "quick"), "fairlane screen ext4 --suite quick --workload commit --rounds 4");
    }
}
