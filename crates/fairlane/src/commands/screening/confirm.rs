//! The race of a proposal against the default: its plan, where its record lies, and whose it is.

use super::{known, levels, told, tune, tuned};
use crate::terminal;
use crate::{owned, state};
use levels::Combination;
use model::findings::{ConfirmationOutcome, Findings, ScreeningFinding, TunedLevel};
use model::lane::{Lane, LaneSpec};
use model::machine::is_untold;
use model::plan::{Plan, Rounds};
use model::record::{Header, Record};
use model::screening::{Factor, OptionClass};
use model::text::escaped_path;
use std::path::{Path, PathBuf};

/// What stands behind the stem of the record's name.
pub const CONFIRMED: &str = "confirmed";
/// What stands there of the races of tuning, with a number behind it.
pub const TUNED: &str = "tune";
/// What the lane of the proposal is called.
pub const PROPOSAL: &str = "proposal";
/// Options of `screen` with a value that a race of its lanes has not, or has another one of.
const OF_A_SCREENING: [&str; 6] = ["--option", "--without", "--tune", "--rounds", "--budget", "--seed"];

/// How long a race of some lanes of a screening goes on.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// Its rounds.
    pub rounds: Rounds,
    /// Its seconds; `None`: as many as the rounds take.
    pub budget: Option<f64>,
}

/// The record of a race that follows from a screening's: STEM-confirmed.jsonl.
pub fn beside(record: &Path, what: &str) -> PathBuf {
    let mut name = record.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{what}.jsonl"));
    record.with_file_name(name)
}

/// The lane that was screened, where its runs live; `None`: nobody wrote it so on a command line.
pub fn base(plan: &Plan) -> Option<LaneSpec> {
    let mut base: LaneSpec = plan.screening.as_ref()?.base.parse().ok()?;
    base.venue = plan.lanes.first()?.venue.clone();
    Some(base)
}

/// Whether a race of the proposal may come behind a screening of these options: it is wanted, and one of them may be proposed.
pub fn may_come(no_confirm: bool, factors: &[Factor]) -> bool {
    !no_confirm && may_propose(factors)
}

/// Whether any of these options may be proposed.
pub fn may_propose(factors: &[Factor]) -> bool {
    factors.iter().any(|factor| factor.class == OptionClass::Ordinary)
}

/// The levels of the proposal.
pub fn proposed(finding: &ScreeningFinding) -> Combination {
    let is_taken = |name: &String| finding.proposal.factors.contains(name);
    finding.factors.iter().map(|factor| usize::from(is_taken(&factor.name))).collect()
}

/// An ordinary race of some lanes: the work, the place and the size of the screening, and an order of its own.
pub fn plan(screened: &Plan, lanes: Vec<LaneSpec>, length: Length, seed: u64) -> Plan {
    let lines = lanes.iter().map(LaneSpec::to_line).collect();
    let command_line = command_line(screened, lines, length, Some(seed));
    Plan {
        screening: None,
        lanes,
        rounds: length.rounds,
        budget_seconds: length.budget,
        seed,
        command_line,
        ..screened.clone()
    }
}

/// The command that runs such a race. `seed`: absent where it is not known yet.
pub fn command_line(screened: &Plan, lanes: Vec<String>, length: Length, seed: Option<u64>) -> Vec<String> {
    let mut line = vec!["fairlane".to_owned(), "race".to_owned()];
    line.extend(lanes);
    // Behind `fairlane screen LANE`.
    let mut words = screened.command_line.iter().skip(3);
    while let Some(word) = words.next() {
        if OF_A_SCREENING.contains(&word.as_str()) {
            words.next();
        } else if word != "--no-confirm" {
            line.push(word.clone());
        }
    }
    if let Rounds::Fixed(rounds) = length.rounds {
        line.extend(["--rounds".to_owned(), rounds.to_string()]);
    }
    line.extend(length.budget.iter().flat_map(|seconds| ["--budget".to_owned(), format!("{seconds:.0}s")]));
    line.extend(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    line
}

/// Puts a confirmation into what a screening found. A record that is not the race of its proposal, or of what tuning made of
/// that, against its default is left out, and the finding says why.
pub fn put_in(finding: &mut ScreeningFinding, screened: &Record, confirmed: &Record) {
    let combination = match raced(finding, &screened.header, &confirmed.header) {
        Ok(combination) => combination,
        Err(why) => {
            finding.confirmation_left_out = Some(why);
            return;
        }
    };
    let is_tuned = combination != proposed(finding);
    if is_tuned {
        // What the screening expects is of its own proposal.
        finding.proposal.expected.clear();
    }
    stats::screening::confirm(finding, confirmed);
    let ScreeningFinding { factors, confirmation, .. } = finding;
    let Some(confirmation) = confirmation else { return };
    if is_tuned {
        let words = levels::in_words(factors, &combination);
        confirmation.lane = format!("{} as tuned ({words})", confirmation.lane);
        confirmation.tuned = levels_that_differ(factors, &combination);
    }
    // What also loses is for a person to weigh.
    if confirmation.outcome == ConfirmationOutcome::Confirmed
        && let [default, lane, ..] = confirmed.header.plan.lanes.as_slice()
    {
        confirmation.commands = told::set_it(default, lane, &confirmed.header.machine);
    }
}

/// Puts in what was read as the confirmation, or that it could not be, and why.
pub fn put_in_read(finding: &mut ScreeningFinding, screened: &Record, confirmed: Result<Record, String>) {
    match confirmed {
        Ok(confirmed) => put_in(finding, screened, &confirmed),
        Err(why) => finding.confirmation_left_out = Some(why),
    }
}

/// The options of a combination that are not as usual, each with its level.
pub fn levels_that_differ(factors: &[Factor], combination: &[usize]) -> Vec<TunedLevel> {
    let changed = factors.iter().zip(combination).filter(|(_, place)| **place > 0);
    let level = |(factor, place): (&Factor, &usize)| {
        let level = levels::level(factor, *place)?.label.clone();
        Some(TunedLevel { factor: factor.name.clone(), level, costs: tuned::costs(factor, *place) })
    };
    changed.filter_map(level).collect()
}

/// The combination that a record races against the screening's default: in the screening's work, where that was raced, and in
/// an order of its own. The headers tell it.
///
/// # Errors
/// Why it does not, as a sentence without a full stop.
pub fn raced(finding: &ScreeningFinding, screened: &Header, confirmed: &Header) -> Result<Combination, String> {
    let (of, plan) = (&screened.plan, &confirmed.plan);
    let base = base(of).ok_or("the lane of this screening is none that can be typed")?;
    let [default, lane] = plan.lanes.as_slice() else {
        return Err("it is no race of two lanes".to_owned());
    };
    if !of.lanes.first().is_some_and(|lane| levels::are_one(lane, default)) {
        return Err("its first lane is not the default of this screening".to_owned());
    }
    if !are_of_one_file(screened, confirmed) {
        return Err("the file that describes its filesystem is not the one that was screened".to_owned());
    }
    if of.workloads != plan.workloads || of.suite != plan.suite {
        return Err("it raced other work".to_owned());
    }
    let has_another = |lane: &Lane| screened.lanes.first().is_none_or(|first| first.size_bytes != lane.size_bytes);
    if of.lane_size != plan.lane_size || confirmed.lanes.iter().any(has_another) {
        return Err("its lanes have another size".to_owned());
    }
    if screened.seed == confirmed.seed {
        return Err("it has the same seed as the screening, so that its order is not another one".to_owned());
    }
    if let Some(elsewhere) = elsewhere(screened, confirmed) {
        return Err(format!("it ran on {elsewhere}"));
    }
    let is_it = |combination: &Combination| {
        levels::lane(&base, PROPOSAL, &finding.factors, combination).is_ok_and(|made| levels::are_one(&made, lane))
    };
    let mut all = std::iter::once(proposed(finding)).chain(tune::candidates(finding));
    let combination = all.find(is_it).ok_or("its second lane is neither the proposal nor what tuning makes of it")?;
    match (known::lanes_are_made(screened), levels::are_described(confirmed)) {
        (false, _) => Err("the lanes of the screening are not what its options make of its lane".to_owned()),
        (_, false) => Err("the lanes that it tells of are not those that it planned".to_owned()),
        (true, true) => Ok(combination),
    }
}

/// Whether the lanes of both races are described by the same bytes, where their filesystem is the user's own.
pub fn are_of_one_file(screened: &Header, confirmed: &Header) -> bool {
    let definition = screened.lanes.first().map_or("", |lane| lane.definition_sha256.as_str());
    confirmed.lanes.iter().all(|lane| lane.definition_sha256 == definition)
}

/// What the second race ran on that the first one did not: another machine, disk or kernel; `None`: nothing.
pub fn elsewhere(one: &Header, other: &Header) -> Option<String> {
    let mut machine = other.machine.clone();
    // Two records that were shared do not tell whether their machines are one.
    if [&one.machine, &other.machine].iter().any(|machine| is_untold(&machine.machine_id_hash)) {
        machine.machine_id_hash.clone_from(&one.machine.machine_id_hash);
    }
    // Lanes in guests have a kernel of their own.
    let of_lanes = || match one.lanes.first().zip(other.lanes.first()) {
        Some((a, b)) if a.backing != b.backing => Some("another disk".to_owned()),
        Some((a, b)) if !stats::comparable::same_kernel(a, b) => Some("another kernel".to_owned()),
        _ => None,
    };
    one.machine.differs_from(&machine).or_else(of_lanes)
}

/// The combination of a confirmation that was begun: it goes on, and nothing is tuned again for it.
pub fn begun(finding: &ScreeningFinding, screened: &Record, path: &Path) -> Option<Combination> {
    let file = beside(path, CONFIRMED);
    let is_there = owned::metadata(&file).is_ok_and(|found| found.is_file());
    let confirmed = is_there.then(|| state::load(&file).ok()).flatten()?;
    raced(finding, &screened.header, &confirmed.header).ok()
}

/// Puts what tuned a screening and the confirmation, as they lie beside its record, into its findings; what lies there
/// and is none is said in them and on standard error.
pub fn put_in_beside(findings: &mut Findings, screened: &Record, path: &Path) {
    let Some(finding) = &mut findings.screening else { return };
    tuned::put_in_beside(finding, screened, path);
    let file = beside(path, CONFIRMED);
    if owned::metadata(&file).is_ok_and(|found| found.is_file()) {
        put_in_read(finding, screened, state::load(&file).map_err(|failure| failure.message));
        if let Some(why) = &finding.confirmation_left_out {
            terminal::say!("{} is left out: {}", escaped_path(&file), report::clean_text(why));
        }
    }
    put_in_anew(finding, screened);
    without_known_warnings(findings);
}

/// Puts in the command of a screening anew, where that may tell more than this one with what came behind it.
pub fn put_in_anew(finding: &mut ScreeningFinding, screened: &Record) {
    finding.anew = super::begun::anew_where_it_may_tell(finding, screened).unwrap_or_default();
}

/// Takes from the warnings of a confirmation those that the screening has too: they are told once.
pub fn without_known_warnings(findings: &mut Findings) {
    let Findings { screening, warnings, .. } = findings;
    if let Some(confirmation) = screening.as_mut().and_then(|of| of.confirmation.as_mut()) {
        confirmation.warnings.retain(|warning| !warnings.contains(warning));
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::{describe, factor};
    use super::super::tune::tests::finding;
    use super::*;

    type Change<'a> = &'a dyn Fn(&mut Record);
    use model::findings::EffectVerdict;
    use model::lane::Contestant;
    use model::machine::untold_identity;
    use model::screening::{DesignKind, Screening, ScreeningRun};

    /// A screening of one option that it proposes, with its record and that of the race of the proposal.
    fn screened_and_confirmed(base: &str) -> (ScreeningFinding, Record, Record) {
        let factors = vec![factor("commit", &["5", "30"])];
        let spec: LaneSpec = base.parse().unwrap();
        let lane = |name: &str, place: usize| levels::lane(&spec, name, &factors, &[place]).unwrap();
        let mut screened = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap();
        let run = |lane: &str, other: bool| ScreeningRun { lane: lane.to_owned(), at_other: vec![other] };
        screened.header.plan.lanes = vec![lane("default", 0), lane("r02", 1)];
        screened.header.plan.screening = Some(Screening {
            base: base.to_owned(),
            design: DesignKind::FullFactorial,
            factors: factors.clone(),
            runs: vec![run("default", false), run("r02", true)],
            left_out: Vec::new(),
        });
        let mut confirmed = screened.clone();
        confirmed.header.plan.screening = None;
        confirmed.header.plan.lanes = vec![lane("default", 0), lane(PROPOSAL, 1)];
        confirmed.header.seed += 1;
        for record in [&mut screened, &mut confirmed] {
            describe(&mut record.header);
        }
        (finding(factors, &[(1.2, EffectVerdict::Matters)], &["commit"]), screened, confirmed)
    }

    #[test]
    fn a_file_of_ones_own_may_lie_elsewhere_and_is_not_opened_for_a_record() {
        let (found, mut screened, mut confirmed) = screened_and_confirmed("./no-such.toml");
        for record in [&mut screened, &mut confirmed] {
            record.header.lanes.iter_mut().for_each(|lane| lane.definition_sha256 = "5a".to_owned());
        }
        assert_eq!(raced(&found, &screened.header, &confirmed.header), Ok(vec![1]));
        for lane in &mut confirmed.header.plan.lanes {
            lane.contestant = Contestant::Custom("/elsewhere/no-such.toml".into());
        }
        assert_eq!(raced(&found, &screened.header, &confirmed.header), Ok(vec![1]));
        confirmed.header.lanes[1].definition_sha256 = "5b".to_owned();
        let why = raced(&found, &screened.header, &confirmed.header).unwrap_err();
        assert!(why.contains("the file that describes its filesystem"), "{why}");
        for lane in &mut confirmed.header.plan.lanes {
            lane.contestant = Contestant::Filesystem("ext4".into());
        }
        let why = raced(&found, &screened.header, &confirmed.header).unwrap_err();
        assert!(why.contains("its first lane is not the default"), "{why}");
    }

    #[test]
    fn the_race_of_a_proposal_has_a_seed_of_its_own_and_the_machine_of_the_screening() {
        let (found, screened, confirmed) = screened_and_confirmed("ext4");
        let raced_with = |change: &dyn Fn(&mut Record)| {
            let mut other = confirmed.clone();
            change(&mut other);
            raced(&found, &screened.header, &other.header)
        };
        assert_eq!(raced_with(&|_: &mut Record| ()), Ok(vec![1]));
        let others: [(&str, Change); 13] = [
            ("lanes that it tells of", &|of: &mut Record| of.header.lanes[1].spec.push_str(",nobarrier")),
            ("lanes that it tells of", &|of: &mut Record| {
                of.header.lanes[1].mount_options.push("nobarrier".to_owned())
            }),
            ("another size", &|of: &mut Record| of.header.lanes[1].size_bytes -= 1),
            ("other work", &|of: &mut Record| of.header.plan.suite.push('x')),
            ("the same seed", &|of: &mut Record| of.header.seed -= 1),
            ("another machine", &|of: &mut Record| of.header.machine.machine_id_hash = "another".to_owned()),
            ("another kernel", &|of: &mut Record| of.header.machine.kernel.push('x')),
            ("another disk", &|of: &mut Record| of.header.machine.device.name.push('x')),
            ("another kernel", &|of: &mut Record| of.header.lanes[0].kernel = "6.1.0".to_owned()),
            ("its first lane is not the default", &|of: &mut Record| of.header.plan.lanes.swap(0, 1)),
            ("no race of two lanes", &|of: &mut Record| of.header.plan.lanes.truncate(1)),
            ("neither the proposal nor", &|of: &mut Record| of.header.plan.lanes[1].name.push('x')),
            ("other work", &|of: &mut Record| of.header.plan.workloads.clear()),
        ];
        for (says, change) in others {
            let why = raced_with(change).unwrap_err();
            assert!(why.contains(says), "{says}: {why}");
            let (mut left_out, mut other) = (found.clone(), confirmed.clone());
            change(&mut other);
            put_in(&mut left_out, &screened, &other);
            assert_eq!((left_out.confirmation, left_out.confirmation_left_out), (None, Some(why)));
        }
        let shared = |of: &mut Record| of.header.machine.machine_id_hash = untold_identity("t", 1);
        assert_eq!(raced_with(&shared), Ok(vec![1]));
        let mut theirs = screened.clone();
        theirs.header.plan.lanes[1].mount_options = vec!["nobarrier".to_owned()];
        let why = raced(&found, &theirs.header, &confirmed.header).unwrap_err();
        assert!(why.contains("the lanes of the screening are not what its options make"), "{why}");
    }

    #[test]
    fn no_confirmation_comes_where_it_is_not_wanted_or_no_option_may_be_proposed() {
        let of = |class: OptionClass| Factor { class, ..factor("a", &["0", "1"]) };
        let never = [of(OptionClass::Promises), of(OptionClass::Unknown)];
        let some = [of(OptionClass::Promises), of(OptionClass::Ordinary)];
        assert!(may_come(false, &some) && !may_come(true, &some));
        assert!(!may_come(false, &never) && !may_come(true, &never));
    }

    #[test]
    fn what_tuning_chose_is_named_with_its_own_levels() {
        let commit = Factor { costs: "much".to_owned(), ..factor("commit", &["5", "30", "60"]) };
        let factors = [commit, factor("stripe", &["0", "64"])];
        let level = |factor: &str, level: &str, costs: &str| TunedLevel {
            factor: factor.to_owned(),
            level: level.to_owned(),
            costs: costs.to_owned(),
        };
        // What the table tells is said of the first other level.
        for (combination, wanted) in [
            ([2, 0], vec![level("commit", "60", "its level 30 costs: much")]),
            ([1, 1], vec![level("commit", "30", "much"), level("stripe", "64", "")]),
            ([0, 0], vec![]),
        ] {
            assert_eq!(levels_that_differ(&factors, &combination), wanted);
        }
    }

    #[test]
    fn what_follows_from_a_screening_lies_beside_its_record() {
        for (record, confirmed) in [
            ("r.jsonl", "r-confirmed.jsonl"),
            ("/a/b.c.jsonl", "/a/b.c-confirmed.jsonl"),
            ("./record", "./record-confirmed.jsonl"),
        ] {
            assert_eq!(beside(Path::new(record), CONFIRMED), Path::new(confirmed));
        }
    }

    #[test]
    fn the_command_of_a_confirmation_has_the_work_of_the_screening_and_nothing_of_its_design() {
        let mut plan = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap().header.plan;
        let typed = "fairlane screen xfs --suite quick --workload commit --option logbsize=32k|256k --without lazy-count \
                     --tune 600s --no-confirm --on /mnt --lane-size 1GiB --budget 3600s --rounds 4 --margin 5% --seed 7";
        plan.command_line = typed.split_whitespace().map(str::to_owned).collect();
        let lanes = vec!["default=xfs".to_owned(), "proposal=xfs,logbsize=256k".to_owned()];
        let length = Length { rounds: Rounds::Auto, budget: Some(900.0) };
        assert_eq!(
            command_line(&plan, lanes, length, Some(8)).join(" "),
            "fairlane race default=xfs proposal=xfs,logbsize=256k --suite quick --workload commit --on /mnt --lane-size 1GiB \
             --margin 5% --budget 900s --seed 8"
        );
    }
}
