//! `fairlane screen`: a designed experiment over options of one filesystem, raced as one race; its proposal is raced against
//! the default then.

mod again;
mod begun;
mod confirm;
mod constraints;
mod kernel;
mod known;
mod levels;
mod plan;
pub mod rounds;
mod told;
mod tune;
mod tuned;

pub use confirm::{CONFIRMED, TUNED, beside, put_in_anew, put_in_beside, put_in_read, raced, without_known_warnings};
pub use known::as_known;
pub use tuned::{put_in_tuning, records_of_tuning};

use super::contest::{self, Contest, Remark, Tells};
use super::resume::{Resumed, Typed};
use super::screen::{self, Channel, tilde};
use super::{lane_failure, page, planning, report as shown};
use crate::conductor::begin::raced_seconds;
use crate::failure::{Failure, Status};
use crate::options::{Screen, Terms};
use crate::record_writer::RecordWriter;
use crate::{knowledge, owned, state, terminal};
use confirm::{Length, put_in};
use levels::Combination;
use model::event::Event;
use model::findings::ScreeningFinding;
use model::lane::LaneSpec;
use model::plan::{Plan, Rounds};
use model::record::{EndOutcome, Record};
use model::units::human_seconds;
use plan::Planned;
use report::{PlanSummary, THIS_RECORD};
use std::path::{Path, PathBuf};
use told::Then;

/// Races of a tuning at most: each has half as many combinations as the one before.
const MOST_TUNING_RACES: u32 = 4;

/// A screening whose race is over.
struct Screened {
    /// Where its record lies.
    path: PathBuf,
    record: Record,
    /// The lane that was screened, where its runs live.
    base: LaneSpec,
    finding: ScreeningFinding,
}

impl Screened {
    fn new(path: PathBuf, record: Record, base: LaneSpec) -> Result<Screened, Failure> {
        match stats::judge::findings(&record).screening {
            Some(finding) => Ok(Screened { path, record, base, finding }),
            None => Err(Failure::failed("the record holds no screening; this is a fault of Fairlane, report it")),
        }
    }
}

/// A race that came to its end, and what failed in it all the same.
struct Ended {
    record: Record,
    result: Result<(), Failure>,
}

/// Screens, or with `--dry-run` says what a screening would touch and how it is designed.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Screen) -> Result<(), Failure> {
    match (&options.resume, &options.lane) {
        (Some(name), _) => again::go_on(name, options),
        (None, Some(lane)) => begin(lane, options),
        (None, None) => Err(Failure::usage("name a filesystem to screen, such as xfs")),
    }
}

fn begin(lane: &str, options: &Screen) -> Result<(), Failure> {
    let terms = &options.terms;
    check_outputs(options)?;
    let Planned { plan, notes, most_telling, plan_only, kernel: _kernel } = plan::planned(lane, options)?;
    let factors = plan.screening.as_ref().map_or(&[][..], |screening| screening.factors.as_slice());
    tune::check(factors, options.tune)?;
    let confirms = confirm::may_come(options.no_confirm, factors);
    let name = contest::new_record_name(&plan);
    let path = match (&options.output, terms.dry_run) {
        (Some(path), _) => path.clone(),
        (None, true) => state::state_folder()?.join("runs").join(name),
        (None, false) => state::runs_folder()?.join(name),
    };
    let times = rounds::share_out(terms.budget, confirms);
    let (screening, base) = (plan.screening.clone(), confirm::base(&plan));
    // Where rounds are named no time ends it.
    let is_usual = terms.budget.is_none() && options.rounds.is_none();
    let then = Then::new((times, confirms), options.tune, is_usual);
    let tunes = (options.tune, plan.lane_size, path.as_path());
    let about: Remark<'_> =
        Box::new(|summary| screening.as_ref().map(|screening| told::remark(screening, summary, then, tunes)));
    let tells: Tells<'_> = Box::new(|plan| told::dry_run(plan, &path, (times, confirms)));
    let contest = Contest {
        dry_run_tells: Some(tells),
        plan,
        notes,
        resumed: None,
        terms,
        record: Some(&path),
        report: !options.no_report,
        channel: Channel::Plan,
        remark: Some(about),
        plan_only,
        most_telling,
        ranks: None,
    };
    let ended = to_its_end(contest).map_err(|failure| how_to_go_on(failure, &path, options))?;
    let (Some(ended), Some(base)) = (ended, base) else { return Ok(()) };
    let name = path.display().to_string();
    let typed = Typed { command: "screen", name: &name, set: &options.set, terms, whole: &[] };
    let screened = Screened::new(path, ended.record, base)?;
    ended.result.and(finish(screened, options, &typed))
}

/// Refuses a name for the record that is taken, or one that follows from it, before anything is tried; in a dry run too.
fn check_outputs(options: &Screen) -> Result<(), Failure> {
    let Some(path) = &options.output else { return Ok(()) };
    // A folder of our own is made when the record is, which a dry run has none of.
    if options.terms.dry_run && state::state_folder().is_ok_and(|folder| path.starts_with(folder)) {
        return Ok(());
    }
    let confirmed = (!options.no_confirm).then(|| CONFIRMED.to_owned());
    let tuned = options.tune.iter().flat_map(|_| (1..=MOST_TUNING_RACES).map(|number| format!("{TUNED}{number}")));
    let following = confirmed.into_iter().chain(tuned).map(|what| beside(path, &what));
    std::iter::once(path.clone()).chain(following).try_for_each(|path| RecordWriter::check_new(&path))
}

/// Races a plan that follows from a screening, or goes on with it; `None`: it was a dry run. `path`: of its record.
///
/// # Errors
/// Where the race did not come to its end.
fn follow(
    plan: Plan,
    resumed: Option<Resumed>,
    path: &Path,
    (terms, channel): (&Terms, Channel),
) -> Result<Option<Ended>, Failure> {
    let done = resumed.as_ref().and_then(|resumed| begun::done(&resumed.record));
    let remark = done.map(|line| -> Remark<'static> { Box::new(move |_: &PlanSummary| Some(line.clone())) });
    to_its_end(Contest {
        plan,
        notes: Vec::new(),
        resumed,
        terms,
        record: Some(path),
        report: false,
        channel,
        remark,
        dry_run_tells: None,
        plan_only: Default::default(),
        most_telling: Vec::new(),
        ranks: None,
    })
}

/// Races; `None`: it was a dry run.
///
/// # Errors
/// Where the race did not come to its end.
fn to_its_end(contest: Contest) -> Result<Option<Ended>, Failure> {
    let (mut raced, is_dry) = (None, contest.terms.dry_run);
    let result = contest::run(contest, |record| {
        raced = Some(record.clone());
        Ok(())
    });
    if is_dry {
        return result.map(|()| None);
    }
    // A lane that failed in some work is told, and the others are not lost for it.
    let is_over = |record: &Record| record.end == Some(EndOutcome::Complete);
    match (raced.filter(is_over), result) {
        (Some(record), result) if result.as_ref().err().is_none_or(|failure| failure.status == Status::Failed) => {
            Ok(Some(Ended { record, result }))
        }
        (_, Err(failure)) => Err(failure),
        (_, Ok(())) => Err(Failure::failed("nothing was measured; screen again, for longer")),
    }
}

/// Says of a screening that was interrupted how much of what was under way is done and how it goes on, where anything of it
/// is kept; nothing is said behind that.
fn how_to_go_on(failure: Failure, path: &Path, options: &Screen) -> Failure {
    if failure.status != Status::Interrupted || owned::metadata(path).is_err() {
        return failure;
    }
    let Ok(record) = state::load(path) else {
        let line = ["fairlane", "screen", "--resume", &path.display().to_string()].map(str::to_owned);
        terminal::say!("the screening goes on with: {}", report::shell_line(&line));
        return Failure::interrupted();
    };
    let is_over = |record: &Record| record.end == Some(EndOutcome::Complete);
    let confirmed = beside(path, CONFIRMED);
    match is_over(&record) {
        false => terminal::say!("{}", how_much("the screening", &record)),
        // Tuning is not gone on with, and begins anew.
        true if owned::metadata(&confirmed).is_ok_and(|found| found.is_file()) => {
            let under_way = state::load(&confirmed).ok().filter(|confirmed| !is_over(confirmed));
            under_way.iter().for_each(|of| terminal::say!("{}", how_much("its confirmation", of)));
        }
        true => {}
    }
    let line = report::shell_line(&words_to_go_on(path, &record, options));
    terminal::say!("the screening goes on with: {}", begun::as_typed(line, &record));
    Failure::interrupted()
}

/// How many rounds of a race that was interrupted are done.
fn how_much(what: &str, record: &Record) -> String {
    match begun::so_far(record) {
        Some(so_far) => format!("{what} was interrupted; raced so far, {so_far}"),
        None => format!("{what} was interrupted before a round was done"),
    }
}

/// The command that goes on with a screening, as reports of its record have it. `name`: the record as it is typed.
pub fn words_that_go_on(name: &str, record: &Record) -> Vec<String> {
    let place = |word: String| if word == THIS_RECORD { name.to_owned() } else { word };
    let words = report::words_to_go_on(&stats::judge::findings(record)).into_iter().map(place);
    let words: Vec<String> = std::iter::once("fairlane".to_owned()).chain(words).collect();
    match words.len() {
        1 => ["fairlane", "screen", "--resume", name].map(str::to_owned).to_vec(),
        _ => words,
    }
}

/// The same with what was typed beside that: another file that says what its lane is, devices, and what was allowed.
fn words_to_go_on(path: &Path, record: &Record, options: &Screen) -> Vec<String> {
    let mut words = words_that_go_on(&path.display().to_string(), record);
    let is_typed =
        |text: &&String| text.parse::<LaneSpec>().is_ok_and(|lane| lanes::plain::must_be_typed(&lane).is_some());
    if let Some(lane) = options.lane.as_ref().filter(is_typed) {
        match words.get(2).is_some_and(|word| word == "--resume") {
            true => words.insert(2, lane.clone()),
            false => words[2].clone_from(lane),
        }
    }
    let begun = begun::as_begun(&Screen { no_confirm: false, tune: None, ..options.clone() }, record);
    words.extend((options.no_confirm && !begun.no_confirm).then(|| "--no-confirm".to_owned()));
    let tune = options.tune.filter(|seconds| begun.tune != Some(*seconds));
    words.extend(tune.iter().flat_map(|seconds| ["--tune".to_owned(), format!("{seconds}s")]));
    let terms = &options.terms;
    let devices: Vec<String> = terms.erase.iter().map(|disk| disk.display().to_string()).collect();
    let new: Vec<String> = devices.into_iter().filter(|disk| !words.contains(disk)).collect();
    words.extend(new.into_iter().flat_map(|disk| ["--erase".to_owned(), disk]));
    let allowed = "--allow-programs".to_owned();
    words.extend(Some(allowed).filter(|word| terms.allow_programs && !words.contains(word)));
    words
}

/// What comes behind the race: tuning, the race of the proposal against the default, and what all of it found.
fn finish(mut screened: Screened, options: &Screen, typed: &Typed) -> Result<(), Failure> {
    let result = tune_and_confirm(&mut screened, options, typed);
    if !options.no_report && !options.terms.dry_run {
        // Also where it was interrupted: the page that lies there knows nothing of it.
        let page = write_page(&screened);
        if let Some(page) = page.filter(|_| result.is_err()) {
            let mut shown = screen::Show::new(Channel::Plan, options.terms.quiet, Vec::new(), &screened.path);
            shown.event(&Event::ReportWritten { path: tilde(&page) });
        }
    }
    let result = result.map_err(|failure| how_to_go_on(failure, &screened.path, options))?;
    match options.terms.dry_run {
        true => result,
        false => show(&screened, options.terms.quiet).and(result),
    }
}

/// Tunes, and races what comes of it against the default. Answers what failed in that race all the same.
fn tune_and_confirm(screened: &mut Screened, options: &Screen, typed: &Typed) -> Result<Result<(), Failure>, Failure> {
    let combination = combination(screened, options)?;
    let tuned = tuned::beside(&screened.finding, (&screened.record, &screened.path), options.tune, false);
    screened.finding.proposal.tuning = tuned.map(|tuned| tuned.tuning);
    tuned::choose(screened, &combination);
    if options.no_confirm || combination.iter().all(|place| *place == 0) {
        return Ok(Ok(()));
    }
    if !options.terms.quiet {
        // It takes a while until the proposal was raced.
        let lying = again::lying(screened)?;
        shown::print(&before_confirmation(screened, &combination, lying.as_ref(), options.terms.dry_run))?;
    }
    let Some(ended) = confirmation(screened, &combination, options, typed)? else { return Ok(Ok(())) };
    put_in(&mut screened.finding, &screened.record, &ended.record);
    Ok(ended.result)
}

/// What stands before the plan of a confirmation: what the screening found, with what was raced of the confirmation already,
/// and what races now. Of a dry run, which was asked for the plan, only where the rest is told.
fn before_confirmation(screened: &Screened, combination: &[usize], lying: Option<&Record>, is_dry: bool) -> String {
    let words = report::clean_text(&levels::in_words(&screened.finding.factors, combination));
    let act = match lying {
        Some(_) => "the race of the proposal against the default goes on",
        None => "now the proposal races the default",
    };
    if is_dry {
        let line = report::shell_line(&["fairlane".to_owned(), "report".to_owned(), tilde(&screened.path)]);
        return format!("the race of all runs is over, and `{line}` shows it; {act}: {words}\n");
    }
    let mut finding = screened.finding.clone();
    if let Some(confirmed) = lying {
        put_in(&mut finding, &screened.record, confirmed);
    }
    format!("{}\n{act}: {words}\n", report::screening_text(&finding, &screen::style()))
}

/// What races the default: what a confirmation that was begun races, what tuning makes of the proposal, or the proposal
/// itself.
fn combination(screened: &Screened, options: &Screen) -> Result<Combination, Failure> {
    let Screened { path, record, finding, .. } = screened;
    if let Some(begun) = confirm::begun(finding, record, path) {
        return Ok(begun);
    }
    let lying = tuned::beside(finding, (record, path), options.tune, false);
    let best = match (lying.filter(|tuned| !tuned.tuning.unfinished), options.tune) {
        // It was done before, and is not done again.
        (Some(tuned), _) => tuned.best,
        (None, Some(seconds)) if options.terms.dry_run => {
            terminal::say!(
                "a dry run tunes nothing: --tune is {} of races, and what comes of them races the default",
                human_seconds(seconds)
            );
            None
        }
        (None, Some(seconds)) => tune::tune(screened, seconds, options)?,
        (None, None) => None,
    };
    Ok(best.unwrap_or_else(|| confirm::proposed(finding)))
}

/// Races a combination against the default, or goes on with that race; `None`: it was a dry run.
fn confirmation(
    screened: &Screened,
    combination: &[usize],
    options: &Screen,
    typed: &Typed,
) -> Result<Option<Ended>, Failure> {
    let of = &screened.record.header.plan;
    let (terms, path) = (&options.terms, beside(&screened.path, CONFIRMED));
    let proposal = levels::lane(&screened.base, confirm::PROPOSAL, &screened.finding.factors, combination);
    let lanes: Vec<LaneSpec> = of.lanes.first().cloned().into_iter().chain([proposal.map_err(lane_failure)?]).collect();
    let whole = begun::budget(terms.budget, &screened.record);
    let budget = rounds::of_confirmation(whole, raced_seconds(&screened.record));
    let length = Length { rounds: Rounds::Auto, budget: Some(budget) };
    // Who names a seed has the same orders again, and the two races have none in common.
    let seed = terms.seed.map_or_else(planning::new_seed, |seed| seed.wrapping_add(1));
    let resumed = again::confirmation(screened, &lanes, typed)?;
    if let (Some(resumed), Some(typed)) = (&resumed, terms.budget) {
        again::time_is_left(&resumed.record, budget, typed)?;
    }
    let plan = match &resumed {
        Some(resumed) => gone_on(&resumed.record.header.plan, lanes, terms.budget.map(|_| budget)),
        None => confirm::plan(of, lanes, length, seed),
    };
    follow(plan, resumed, &path, (terms, Channel::Plan))
}

/// The plan of a confirmation that goes on. `budget`: its seconds where a time was typed; else it keeps its own.
fn gone_on(begun: &Plan, lanes: Vec<LaneSpec>, budget: Option<f64>) -> Plan {
    Plan { lanes, budget_seconds: budget.or(begun.budget_seconds), ..begun.clone() }
}

/// Writes the page beside the screening's record once more, where a race behind it lies there too; answers where.
fn write_page(screened: &Screened) -> Option<PathBuf> {
    let mut findings = stats::judge::findings(&screened.record);
    confirm::put_in_beside(&mut findings, &screened.record, &screened.path);
    let is_more = |finding: &ScreeningFinding| finding.confirmation.is_some() || finding.proposal.tuning.is_some();
    if !findings.screening.as_ref().is_some_and(is_more) {
        return None;
    }
    let written = page::write_beside(&screened.record, findings, &screened.path);
    written.inspect_err(|said| terminal::say!("warning: {}", report::clean_text(said))).ok()
}

/// Prints what was found, behind what warns of it; of a race of the proposal only what that showed, unless `quiet`: the rest
/// stood before that race.
fn show(screened: &Screened, quiet: bool) -> Result<(), Failure> {
    let (finding, style) = (&screened.finding, screen::style());
    let mut findings = knowledge::findings(&screened.record)?;
    let warnings = report::warnings_text(&findings, &style);
    findings.screening = Some(finding.clone());
    let mut text = report::answer_text(&findings, &style) + &warnings;
    if !text.is_empty() {
        text.push('\n');
    }
    let is_raced = finding.confirmation.is_some() || finding.confirmation_left_out.is_some();
    text.push_str(&match is_raced && !quiet {
        true => report::confirmation_text(finding, &style),
        false => report::screening_text(finding, &style),
    });
    text.push_str(&format!("\n`fairlane report {}` shows this again\n", tilde(&screened.path)));
    if let Some(anew) = begun::anew_where_it_may_tell(finding, &screened.record) {
        let anew = begun::as_typed(report::shell_line(&anew), &screened.record);
        text.push_str(&format!("more rounds take a screening anew: {anew}\n"));
    }
    shown::print(&text)
}

/// What to do instead with the race of a screening's proposal, which is one of lanes, where there is one. `act`:
/// `compare`; `name`: what the screening is called; `path`: where it lies, `None`: nobody knows.
pub fn of_proposal(act: &str, record: &Record, name: &str, path: Option<&Path>) -> String {
    let Some(path) = path else {
        let beside = beside(Path::new(name), CONFIRMED).display().to_string();
        return format!("{act} the race of its proposal, {}, where there is one", report::clean_text(&beside));
    };
    let is_there =
        || stats::screening::finding(record).is_some_and(|finding| confirm::begun(&finding, record, path).is_some());
    match record.header.plan.screening.is_some() && is_there() {
        true => format!("{act} the race of its proposal: {}", report::clean_text(&tilde(&beside(path, CONFIRMED)))),
        false => format!(
            "no race of its proposal lies beside it to {act}; `fairlane report {}` says which options matter",
            report::clean_text(&tilde(path))
        ),
    }
}

/// Refuses a screening where lanes are compared by their names: its lanes are runs of a design. `instead`: what to do.
///
/// # Errors
/// Where the record is one.
pub fn refuse(record: &Record, name: &str, instead: &str) -> Result<(), Failure> {
    match record.header.plan.screening.is_some() {
        true => Err(Failure::usage(format!(
            "{} is a screening, whose lanes are runs of a design and mean nothing one by one; {instead}",
            report::clean_text(name)
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;

    #[test]
    fn names_that_are_taken_are_refused_in_a_dry_run_too() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("r.jsonl");
        let check = |more: &str| {
            let record = record.display().to_string();
            let words = ["fairlane", "screen", "ext4", "-o", &record].into_iter().chain(more.split_whitespace());
            let Command::Screen(options) = Options::try_parse_from(words).unwrap().command else { panic!("{more}") };
            check_outputs(&options).map_err(|failure| failure.message)
        };
        assert_eq!(check("--tune 5m"), Ok(()));
        for (taken, refusing, fine) in [
            ("r-tune1.jsonl", &["--tune 5m", "--tune 5m --dry-run"][..], &["", "--no-confirm"][..]),
            ("r-confirmed.jsonl", &["", "--dry-run"][..], &["--no-confirm"][..]),
            ("r.jsonl", &["", "--dry-run", "--no-confirm"][..], &[][..]),
        ] {
            let path = folder.path().join(taken);
            std::fs::write(&path, "").unwrap();
            for more in refusing {
                let said = check(more).unwrap_err();
                assert!(said.contains(&format!("{taken} exists already")), "{more}: {said}");
            }
            for more in fine {
                assert_eq!(check(more), Ok(()), "{more}");
            }
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::remove_dir(folder.path()).unwrap();
        assert!(check("--dry-run").unwrap_err().contains("does not exist"));
    }

    #[test]
    fn a_confirmation_that_was_begun_has_the_time_that_is_typed_or_its_own() {
        let screened = tuned::tests::screened();
        let lanes = screened.record.header.plan.lanes.clone();
        let begun = Plan { budget_seconds: Some(30.0), ..screened.record.header.plan.clone() };
        assert_eq!(gone_on(&begun, lanes.clone(), Some(150.0)).budget_seconds, Some(150.0));
        assert_eq!(gone_on(&begun, lanes, None).budget_seconds, Some(30.0));
    }

    #[test]
    fn what_was_raced_of_a_confirmation_is_told_before_it_goes_on_and_a_dry_run_begins_with_its_plan() {
        let screened = tuned::tests::screened();
        let said = |lying: Option<&Record>, is_dry: bool| before_confirmation(&screened, &[1], lying, is_dry);
        let new = said(None, false);
        assert!(new.contains("SCREENING") && new.contains("\nnow the proposal races the default: "), "{new}");
        assert!(new.contains("Not yet"), "{new}");
        let mut confirmed = screened.record.clone();
        let lane =
            |name: &str, place: usize| levels::lane(&screened.base, name, &screened.finding.factors, &[place]).unwrap();
        confirmed.header.plan.lanes = vec![lane("default", 0), lane(confirm::PROPOSAL, 1)];
        (confirmed.header.plan.screening, confirmed.end) = (None, Some(EndOutcome::Interrupted));
        confirmed.header.seed += 1;
        levels::tests::describe(&mut confirmed.header);
        let begun = said(Some(&confirmed), false);
        assert!(begun.contains("the race of the proposal against the default goes on: "), "{begun}");
        assert!(begun.contains("CONFIRMED") && !begun.contains("Not yet"), "{begun}");
        for lying in [None, Some(&confirmed)] {
            let dry = said(lying, true);
            assert_eq!(dry.lines().count(), 1, "{dry}");
            assert!(dry.contains("fairlane report s.jsonl"), "{dry}");
        }
    }

    #[test]
    fn who_interrupts_is_told_how_many_rounds_are_done() {
        let mut record = tuned::tests::screened().record;
        let said = how_much("the screening", &record);
        assert!(said.starts_with("the screening was interrupted; raced so far, ") && said.contains(" 2"), "{said}");
        record.trials.clear();
        assert_eq!(how_much("its confirmation", &record), "its confirmation was interrupted before a round was done");
    }

    #[test]
    fn a_screening_goes_on_by_the_command_of_its_reports_with_what_was_typed_beside_it() {
        for (begun, typed, again) in [
            ("", "", ""),
            ("--rounds 3 --seed 4", "", ""),
            ("--tune 600s", "--tune 600s", ""),
            ("--no-confirm", "--no-confirm", ""),
            ("", "--no-confirm", " --no-confirm"),
            ("--tune 60s", "--tune 600s", " --tune 600s"),
            ("--on /dev/sdz --erase /dev/sdz", "", " --on /dev/sdz --erase /dev/sdz"),
            ("--option delay=0|100", "", " --option delay=0|100"),
            ("", "--allow-programs", " --allow-programs"),
            ("", "--erase /dev/sdz", " --erase /dev/sdz"),
        ] {
            let mut record = tuned::tests::screened().record;
            record.end = Some(EndOutcome::Interrupted);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
            record.header.plan.command_line = words(&format!("fairlane screen ext4 {begun}"));
            let typed = [words("fairlane screen ext4"), words(typed)].concat();
            let Command::Screen(options) = Options::try_parse_from(typed).unwrap().command else { panic!("{again}") };
            let words = words_to_go_on(Path::new("r.jsonl"), &record, &options);
            assert_eq!(words.join(" "), format!("fairlane screen ext4 --resume r.jsonl{again}"));
            let read = Options::try_parse_from(&words);
            assert!(read.is_ok_and(|read| matches!(read.command, Command::Screen(_))), "{again}");
        }
        // A file that says which programs run is the one that was typed, wherever the record has it.
        let record = tuned::tests::screened().record;
        let typed = ["fairlane", "screen", "./new/other.toml", "--resume", "r.jsonl"];
        let Command::Screen(options) = Options::try_parse_from(typed).unwrap().command else { panic!("screen") };
        let words = words_to_go_on(Path::new("r.jsonl"), &record, &options).join(" ");
        assert!(words.starts_with("fairlane screen ./new/other.toml --resume r.jsonl"), "{words}");
    }
}
