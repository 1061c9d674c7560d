//! A screening that is gone on with: its race, or what comes after it.

use super::told::{self, Then};
use super::{
    CONFIRMED, Screened, begun, beside, confirm, finish, how_to_go_on, kernel, levels, rounds, to_its_end, tune, tuned,
    words_to_go_on,
};
use crate::commands::contest::{Contest, Remark};
use crate::commands::lane_failure;
use crate::commands::resume::{self, Resumed, Typed};
use crate::commands::screen::{Channel, tilde};
use crate::conductor::begin::{raced_seconds, round_seconds};
use crate::conductor::time::OWED_ROUNDS;
use crate::failure::Failure;
use crate::options::Screen;
use crate::{owned, state};
use lanes::custom::Custom;
use lanes::screened_options;
use model::lane::{Contestant, LaneSpec, Venue};
use model::plan::{Plan, Rounds};
use model::record::{EndOutcome, Record};
use model::screening::{Factor, Screening};
use model::units::human_seconds;
use std::collections::BTreeSet;
use std::path::Path;

/// Goes on with a record: with its race, or where that is complete with its confirmation.
///
/// # Errors
/// When there is no such record, it is no screening, nothing of it is left to do, or what it may not choose by itself was
/// not typed again; and those of a race.
pub fn go_on(name: &str, options: &Screen) -> Result<(), Failure> {
    let path = state::resolve(name)?;
    let mut record = state::load(&path)?;
    let Some(screening) = record.header.plan.screening.clone() else {
        let line = ["fairlane", "race", "--resume", name].map(str::to_owned);
        return Err(Failure::usage(format!(
            "{} is no screening; go on with it as a race: {}",
            path.display(),
            report::shell_line(&line)
        )));
    };
    begun::check_rounds(&path, &record, options.rounds)?;
    let is_tuning_typed = options.tune.is_some();
    let options = &begun::as_begun(options, &record);
    // The lane is the record's: which one it is may be what is refused.
    let whole = words_to_go_on(Path::new(name), &record, &Screen { lane: None, ..options.clone() });
    let typed = Typed { command: "screen", name, set: &options.set, terms: &options.terms, whole: &whole };
    check_time(&record, options.terms.budget, confirm::may_come(options.no_confirm, &screening.factors))?;
    let trusted = resume::check(&path, &record, &typed)?;
    begun::check_options(&record.header.plan, options)?;
    let (base, lanes) = lanes_again(&record.header.plan, &screening, options, (&typed, trusted))?;
    same_file(&base, &record, &path)?;
    resume::place_again(&record.header.plan.on, &typed, trusted)?;
    // A file of the user's own is the one that was typed, wherever the record has it.
    record.header.plan.lanes.clone_from(&lanes);
    if record.end == Some(EndOutcome::Complete) {
        return go_on_behind(Screened::new(path, record, base)?, options, &typed, is_tuning_typed);
    }
    let _kernel = kernel::hold(&base, &screening.factors)?;
    let confirms = confirm::may_come(options.no_confirm, &screening.factors);
    let times = options.terms.budget.map(|budget| rounds::share_out(Some(budget), confirms));
    let plan = Plan {
        budget_seconds: times.map(|times| times.screening).or(record.header.plan.budget_seconds),
        lanes: lanes.clone(),
        ..record.header.plan.clone()
    };
    let whole = begun::budget(options.terms.budget, &record);
    let is_usual = whole.is_none() && plan.budget_seconds.is_some();
    let then = Then::new((rounds::share_out(whole, confirms), confirms), options.tune, is_usual);
    let tunes = (options.tune, plan.lane_size, path.as_path());
    let done = begun::done(&record);
    let about: Remark<'_> = Box::new(|summary| {
        let remark = told::remark(&screening, summary, then, tunes);
        Some(done.iter().cloned().chain([remark]).collect::<Vec<_>>().join("\n"))
    });
    let contest = Contest {
        plan,
        notes: Vec::new(),
        resumed: Some(Resumed { path: path.clone(), record, lanes }),
        terms: &options.terms,
        record: None,
        report: !options.no_report,
        channel: Channel::Plan,
        remark: Some(about),
        dry_run_tells: None,
        plan_only: Default::default(),
        most_telling: Vec::new(),
        ranks: None,
    };
    let ended = to_its_end(contest).map_err(|failure| how_to_go_on(failure, &path, options))?;
    let Some(ended) = ended else { return Ok(()) };
    let screened = Screened::new(path, ended.record, base)?;
    ended.result.and(finish(screened, options, &typed))
}

/// Goes on with what comes behind a race that is over.
fn go_on_behind(screened: Screened, options: &Screen, typed: &Typed, is_tuning_typed: bool) -> Result<(), Failure> {
    let is_left = is_anything_left(&screened, options, is_tuning_typed);
    // What lies in its way is told before anything is tuned.
    let over = if is_left { confirmed(&screened)? } else { None };
    if !is_left || over.is_some() {
        let more = over.map(|confirmed| race_more(&screened, &confirmed)).unwrap_or_default();
        return Err(begun::complete(&screened.path, &screened.record, &more));
    }
    if options.no_confirm {
        return Err(Failure::usage(format!(
            "{} is over, and only what comes behind it is left, which --no-confirm leaves out; leave that out",
            screened.path.display()
        )));
    }
    let _kernel = kernel::hold(&screened.base, &screened.finding.factors)?;
    finish(screened, options, typed)
}

/// Refuses a time that was typed and is up already: a race whose time is up is over, and goes on no more. `confirms`: a part of
/// it is the confirmation's.
///
/// # Errors
/// Says how long it was raced.
fn check_time(record: &Record, budget: Option<f64>, confirms: bool) -> Result<(), Failure> {
    let Some(budget) = budget.filter(|_| record.end != Some(EndOutcome::Complete)) else { return Ok(()) };
    super::plan::check_budget(Some(budget))?;
    time_is_left(record, rounds::share_out(Some(budget), confirms).screening, budget)
}

/// The same of one race. `own`: its part of the time; `typed`: all of it.
///
/// # Errors
/// Says how long it was raced.
pub(super) fn time_is_left(record: &Record, own: f64, typed: f64) -> Result<(), Failure> {
    let plan = &record.header.plan;
    let raced = |workload: &str| {
        let trials = record.trials.iter().filter(|trial| trial.workload == workload);
        trials.map(|trial| trial.round).collect::<BTreeSet<u32>>().len() as u32
    };
    // These are raced whatever the time is.
    let owed = if plan.screening.is_some() { OWED_ROUNDS } else { 1 };
    let owed = if let Rounds::Fixed(planned) = plan.rounds { owed.min(planned) } else { owed };
    let is_owed = plan.workloads.iter().any(|workload| raced(&workload.name) < owed);
    let rounds = plan.workloads.iter().map(|workload| round_seconds(record, &workload.name));
    let next = rounds.filter(|seconds| *seconds > 0.0).reduce(f64::min).unwrap_or(0.0);
    let spent = raced_seconds(record);
    match is_owed || spent + next <= own {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "--budget {}: {} of that are this race's, {} of it are raced already, and another round takes about {}, so that \
             the race would be over without one; give more, or leave --budget out",
            human_seconds(typed),
            human_seconds(own),
            human_seconds(spent),
            human_seconds(next)
        ))),
    }
}

/// Whether anything comes behind the race of a screening: a confirmation that was begun, levels to tune, or a proposal
/// to race.
fn is_anything_left(screened: &Screened, options: &Screen, is_tuning_typed: bool) -> bool {
    let Screened { path, record, finding, .. } = screened;
    let is_proposed = || confirm::proposed(finding).iter().any(|place| *place > 0);
    let tuned = || tuned::beside(finding, (record, path), options.tune, false);
    // Who types it wants it, and is told why nothing can be tuned.
    let is_to_be_tuned = || {
        let may_be = is_tuning_typed || (options.tune.is_some() && tune::candidates(finding).len() > 1);
        may_be && tuned().is_none_or(|tuned| tuned.tuning.unfinished)
    };
    let was_chosen = || tuned().is_some_and(|tuned| !tuned.tuning.chosen.is_empty());
    confirm::begun(finding, record, path).is_some() || is_proposed() || is_to_be_tuned() || was_chosen()
}

/// The confirmation of a screening, where it was raced to its end.
///
/// # Errors
/// Where what lies beside its record as that is none.
fn confirmed(screened: &Screened) -> Result<Option<Record>, Failure> {
    Ok(lying(screened)?.filter(|confirmed| confirmed.end == Some(EndOutcome::Complete)))
}

/// The words of the command that races a proposal for longer, as reports have them; none where its confirmation is not open.
fn race_more(screened: &Screened, confirmed: &Record) -> Vec<String> {
    let mut finding = screened.finding.clone();
    confirm::put_in(&mut finding, &screened.record, confirmed);
    finding.confirmation.map(|of| of.more).unwrap_or_default()
}

/// The race of the proposal, or of what tuning made of it, that lies beside a screening's record, as reports take it; `None`:
/// nothing does.
///
/// # Errors
/// Where what lies there is another record or none, which has the name that the race would take.
pub fn lying(screened: &Screened) -> Result<Option<Record>, Failure> {
    let path = beside(&screened.path, CONFIRMED);
    if !owned::metadata(&path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let confirmed = state::load(&path)?;
    match confirm::raced(&screened.finding, &screened.record.header, &confirmed.header) {
        Ok(_) => Ok(Some(confirmed)),
        Err(why) => Err(Failure::usage(format!(
            "{} is not the race of this screening's proposal against its default: {}; move it away, or look at it: fairlane \
             report {}",
            path.display(),
            report::clean_text(&why),
            tilde(&path)
        ))),
    }
}

/// The lane that is screened, and those of its runs, made anew of it and of options that are Fairlane's own or were typed
/// again: a record may hold what nobody ever typed.
fn lanes_again(
    plan: &Plan,
    screening: &Screening,
    options: &Screen,
    (typed, trusted): (&Typed, bool),
) -> Result<(LaneSpec, Vec<LaneSpec>), Failure> {
    let others = || Failure::usage("the lanes of this record are not what its options make of its lane; screen again");
    if screening.runs.len() != plan.lanes.len() {
        return Err(others());
    }
    let base = base_again(plan, options, (typed, trusted))?;
    super::plan::screened(&screening.base)?;
    let mut missing = Vec::new();
    for factor in &screening.factors {
        if !is_known(&base, factor, &options.options)? {
            missing.push(factor);
        }
    }
    if !missing.is_empty() {
        let again = named_again(&base, &missing, &options.options, plan);
        let words: Vec<&str> = options.lane.as_deref().into_iter().chain(again).collect();
        let names: Vec<&str> = missing.iter().map(|factor| factor.name.as_str()).collect();
        let (options, are, it) = match names.as_slice() {
            [_] => ("option", "is", "it"),
            _ => ("options", "are", "them"),
        };
        return Err(Failure::usage(format!(
            "{options} {} of this record {are} not as Fairlane's table has {it}, or set the kernel, and a record does not say \
             what mkfs, mount and the kernel are told; read it, and type {it} again: {}",
            report::clean_text(&names.join(", ")),
            typed.again(&words)
        )));
    }
    let made = levels::of_runs(&base, screening).map_err(lane_failure)?;
    match levels::are_all_one(&made, &plan.lanes) {
        true => Ok((base, made)),
        false => Err(others()),
    }
}

/// The options that the command of a plan names, as words of another one.
fn options_of(plan: &Plan) -> impl Iterator<Item = &str> {
    let named = plan.again().windows(2).filter(|two| two[0] == "--option");
    named.flat_map(|two| [two[0].as_str(), two[1].as_str()])
}

/// The words of a plan's command that name these options, behind those that were typed already; all of it where nobody can tell
/// which these are.
fn named_again<'a>(base: &LaneSpec, missing: &[&Factor], typed: &'a [String], plan: &'a Plan) -> Vec<&'a str> {
    let all: Vec<&str> = options_of(plan).collect();
    let is_missing = |text: &str| {
        let option = screened_options::parse_option(base, text).ok();
        option.is_some_and(|option| missing.iter().any(|factor| screened_options::is_of(factor, &option)))
    };
    let of_these = |two: &&[&str]| two.last().is_some_and(|&text| is_missing(text));
    let found: Vec<&str> = all.chunks(2).filter(of_these).flatten().copied().collect();
    if found.is_empty() {
        return all;
    }
    typed.iter().flat_map(|text| ["--option", text.as_str()]).chain(found).collect()
}

/// Refuses a file of a filesystem of the user's own that has other bytes than that which was screened, before anything
/// is made: of the confirmation no lane was raced yet that would tell.
fn same_file(base: &LaneSpec, record: &Record, path: &Path) -> Result<(), Failure> {
    let Contestant::Custom(file) = &base.contestant else { return Ok(()) };
    let now = Custom::read(file).map_err(lane_failure)?;
    let lanes = &record.header.lanes;
    match !lanes.is_empty() && lanes.iter().all(|lane| lane.definition_sha256 == now.sha256()) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{} cannot go on: the file {} is no longer what was screened; screen again",
            path.display(),
            model::text::escaped_path(file)
        ))),
    }
}

/// The lane that is screened: the record's, where it speaks for itself, or as it was typed again.
fn base_again(plan: &Plan, options: &Screen, (typed, trusted): (&Typed, bool)) -> Result<LaneSpec, Failure> {
    let Some(recorded) = confirm::base(plan) else {
        return Err(Failure::usage("the lane of this record is none that a command line makes; screen again"));
    };
    let line = || {
        let lane = recorded.to_line();
        // Its options are in no table.
        let are_typed = matches!(recorded.contestant, Contestant::Custom(_));
        let words = std::iter::once(lane.as_str()).chain(options_of(plan).filter(|_| are_typed));
        typed.again(&words.collect::<Vec<_>>())
    };
    if let Some(text) = &options.lane {
        let again: LaneSpec =
            text.parse().map_err(|error: model::lane::LaneError| Failure::usage(error.to_string()))?;
        return match names_again(again.clone(), &recorded) {
            true => Ok(LaneSpec { contestant: again.contestant, ..recorded }),
            false => Err(Failure::usage(format!("this record screens another lane; name that one: {}", line()))),
        };
    }
    let names_folder = matches!(recorded.venue, Some(Venue::Image(Some(_)))) && !trusted;
    let why = lanes::plain::must_be_typed(&recorded)
        .or(names_folder.then_some("it names a folder, in which root makes its images"));
    match why {
        None => Ok(recorded),
        Some(why) => Err(Failure::usage(format!(
            "the lane of this record is not screened again because the record says so: {why}; read it, and name the lane \
             again: {}",
            line()
        ))),
    }
}

/// Whether a lane that was typed is the record's. Only a guest needs no word, where no kernel is named for it: folders, devices
/// and kernels are typed again.
fn names_again(typed: LaneSpec, recorded: &LaneSpec) -> bool {
    let is_plain_guest = |venue: &Venue| matches!(venue, Venue::Uml | Venue::Qemu(None));
    let venue = typed.venue.clone().or_else(|| recorded.venue.clone().filter(is_plain_guest));
    let typed = LaneSpec { venue, ..typed };
    // A lane of a file has its name of that, and the file's bytes are compared elsewhere.
    let is_of_file = [&typed, recorded].iter().all(|lane| matches!(lane.contestant, Contestant::Custom(_)));
    let name = if is_of_file { recorded.name.clone() } else { typed.name.clone() };
    levels::are_one(&LaneSpec { name, ..typed }, recorded)
}

/// Whether an option with all of its levels is one of Fairlane's table, or was typed again. What sets the kernel of the whole
/// machine is typed in any case.
fn is_known(base: &LaneSpec, factor: &Factor, typed: &[String]) -> Result<bool, Failure> {
    let mut table = screened_options::table_of(base).iter();
    if !kernel::is_set_by(factor)
        && table.any(|option| screened_options::is_of(factor, &screened_options::factor(option)))
    {
        return Ok(true);
    }
    for text in typed {
        let option = screened_options::parse_option(base, text).map_err(lane_failure)?;
        if screened_options::is_of(factor, &option) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A confirmation that was begun and not ended, checked as a record that is gone on with. `lanes`: those that it has to race.
///
/// # Errors
/// When it is the record of something else, or may not go on here.
pub fn confirmation(screened: &Screened, lanes: &[LaneSpec], typed: &Typed) -> Result<Option<Resumed>, Failure> {
    let path = beside(&screened.path, CONFIRMED);
    let Some(record) = lying(screened)? else { return Ok(None) };
    let trusted = resume::check(&path, &record, typed)?;
    resume::place_again(&record.header.plan.on, typed, trusted)?;
    if !levels::are_all_one(&record.header.plan.lanes, lanes) {
        return Err(Failure::usage(format!(
            "{} races other levels than those that are to be raced now; move it away, or look at it: fairlane report {}",
            path.display(),
            tilde(&path)
        )));
    }
    Ok(Some(Resumed { path, record, lanes: lanes.to_vec() }))
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::describe;
    use super::super::tuned::tests::{screened, write};
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;
    use model::Bytes;
    use model::findings::EffectVerdict;

    type Change<'a> = &'a dyn Fn(&mut Record);

    #[test]
    fn a_time_that_is_up_already_is_refused_and_not_taken_for_the_end() {
        let mut record = screened().record;
        record.end = Some(EndOutcome::Interrupted);
        record.trials.retain(|trial| record.header.plan.workloads.iter().any(|of| of.name == trial.workload));
        let workload = record.header.plan.workloads[0].name.clone();
        record.header.plan.workloads.truncate(1);
        record.header.plan.rounds = Rounds::Fixed(6);
        let mut trial = record.trials.iter().find(|trial| trial.workload == workload).unwrap().clone();
        trial.phases_seconds = [("measure".to_owned(), 15.0)].into();
        let raced = |rounds: u32| {
            let mut record = record.clone();
            let of = |round: u32| model::trial::Trial { round, ..trial.clone() };
            record.trials = (1..=rounds).map(of).collect();
            record
        };
        // Three rounds of 15 s; a quarter of the time is the confirmation's.
        let check = |rounds: u32, budget: f64, confirms: bool| check_time(&raced(rounds), Some(budget), confirms);
        assert!(check(3, 80.0, true).is_ok(), "60 s have room for a fourth one");
        let said = check(3, 76.0, true).unwrap_err().message;
        assert!(said.contains("57 s of that are this race's, 45 s of it are raced already"), "{said}");
        assert!(check(3, 76.0, false).is_ok(), "without a confirmation all of it is its own");
        assert!(check(1, 40.0, true).is_ok(), "two rounds are raced whatever the time is");
        assert!(check(1, 29.0, true).unwrap_err().message.contains("30s or more"));
        let over = Record { end: Some(EndOutcome::Complete), ..raced(3) };
        assert!(check_time(&over, Some(31.0), true).is_ok() && check_time(&raced(3), None, true).is_ok());
    }

    #[test]
    fn what_reports_leave_out_is_no_confirmation_here_either_and_stands_in_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let mut screened = screened();
        screened.path = folder.path().join("s.jsonl");
        assert!(confirmed(&screened).unwrap().is_none());
        let lane =
            |name: &str, place: usize| levels::lane(&screened.base, name, &screened.finding.factors, &[place]).unwrap();
        let mut race = screened.record.clone();
        race.header.seed += 1;
        race.header.plan.screening = None;
        race.header.plan.lanes = vec![lane("default", 0), lane(confirm::PROPOSAL, 1)];
        describe(&mut race.header);
        race.trials.clear();
        let lying = |change: &dyn Fn(&mut Record)| {
            let mut other = race.clone();
            change(&mut other);
            write(&other, &beside(&screened.path, CONFIRMED));
            confirmed(&screened).map(|of| of.is_some()).map_err(|failure| failure.message)
        };
        assert_eq!(lying(&|of: &mut Record| of.end = Some(EndOutcome::Complete)), Ok(true));
        assert_eq!(lying(&|of: &mut Record| of.end = Some(EndOutcome::Interrupted)), Ok(false));
        let others: [(&str, Change); 4] = [
            ("other work", &|of: &mut Record| of.header.plan.workloads.clear()),
            ("another size", &|of: &mut Record| of.header.plan.lane_size = Bytes(1)),
            ("the same seed", &|of: &mut Record| of.header.seed -= 1),
            ("neither the proposal nor", &|of: &mut Record| of.header.plan.lanes[1].name.push('x')),
        ];
        for (says, change) in others {
            for end in [Some(EndOutcome::Complete), None] {
                let said = lying(&|of: &mut Record| {
                    change(of);
                    of.end = end;
                });
                let said = said.unwrap_err();
                assert!(said.contains(says) && said.contains("; move it away"), "{says}: {said}");
            }
        }
    }

    #[test]
    fn nothing_is_left_of_a_screening_that_proposes_nothing_where_no_level_is_to_be_tuned() {
        let folder = tempfile::tempdir().unwrap();
        let mut screened = screened();
        screened.path = folder.path().join("s.jsonl");
        let left = |screened: &Screened, tune: &[&str], is_typed: bool| {
            let words = ["fairlane", "screen", "--resume", "s.jsonl"].into_iter().chain(tune.iter().copied());
            let Command::Screen(options) = Options::try_parse_from(words).unwrap().command else { panic!("screen") };
            is_anything_left(screened, &options, is_typed)
        };
        let tune = ["--tune", "1m"];
        assert!(left(&screened, &[], false), "its proposal was not raced");
        screened.finding.proposal.factors.clear();
        assert!(!left(&screened, &[], false));
        assert!(left(&screened, &tune, false), "its levels were not tuned");
        screened.finding.results[0].effects[0].verdict = EffectVerdict::DoesNot;
        assert!(!left(&screened, &tune, false), "there is nothing to tune");
        assert!(left(&screened, &tune, true), "who asks for it is told so");
    }

    #[test]
    fn a_place_that_a_record_names_is_typed_again_but_for_a_guest_of_its_own() {
        let named = |typed: &str, at: &str| {
            let recorded = LaneSpec { venue: format!("xfs{at}").parse::<LaneSpec>().unwrap().venue, ..lane("xfs=xfs") };
            names_again(lane(typed), &recorded)
        };
        for at in ["", "@uml", "@qemu"] {
            assert!(named("xfs", at), "{at}");
        }
        for at in ["@/anywhere", "@image", "@qemu:/boot/vmlinuz"] {
            assert!(!named("xfs", at), "{at}");
            assert!(named(&format!("xfs=xfs{at}"), at), "{at}");
        }
        assert!(!named("ext4", "") && !named("xfs@uml", "@qemu") && !named("xfs,noatime", "@uml"));
    }

    #[test]
    fn only_the_options_that_a_record_may_not_choose_are_asked_for_again() {
        let ext4 = lane("ext4");
        let mut plan = screened().record.header.plan;
        let command = ["fairlane", "screen", "ext4", "--option", "noatime", "--option", "commit=5|29", "--option"];
        plan.command_line = command.into_iter().chain(["stripe=0|64"]).map(str::to_owned).collect();
        let [commit, stripe] =
            ["commit=5|29", "stripe=0|64"].map(|text| screened_options::parse_option(&ext4, text).unwrap());
        let typed = ["commit=5|29".to_owned()];
        assert_eq!(named_again(&ext4, &[&commit], &[], &plan), ["--option", "commit=5|29"]);
        let both = ["--option", "commit=5|29", "--option", "stripe=0|64"];
        assert_eq!(named_again(&ext4, &[&commit, &stripe], &[], &plan), both);
        assert_eq!(named_again(&ext4, &[&stripe], &typed, &plan), both, "what was typed is typed again");
        // Of a command that names none of it nobody can tell.
        let other = Factor { name: "other".to_owned(), ..commit };
        assert_eq!(named_again(&ext4, &[&other], &[], &plan).len(), 6);
    }

    #[test]
    fn an_option_that_sets_the_kernel_is_typed_again_although_it_is_in_the_table() {
        let ext4 = lane("ext4");
        let known = |text: &str, typed: &[String]| {
            let factor = screened_options::parse_option(&ext4, text).unwrap();
            is_known(&ext4, &factor, typed).unwrap_or(false)
        };
        assert!(known("commit", &[]) && known("read_ahead", &[]));
        assert!(!known("dirty_ratio", &[]) && known("dirty_ratio", &["dirty_ratio".to_owned()]));
    }

    #[test]
    fn a_file_of_ones_own_is_named_wherever_it_lies_and_whatever_it_is_called() {
        let named = |typed: &str| names_again(lane(typed), &lane("./my.toml,fast"));
        // Its bytes are compared where it is read.
        assert!(named("./my.toml,fast") && named("/elsewhere/my.toml,fast") && named("./other.toml,fast"));
        assert!(!named("./my.toml") && !named("xfs,fast"));
    }

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap()
    }
}
