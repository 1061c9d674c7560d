//! Advice: which of the raced lanes to take for what people run.
//!
//! A scenario weighs measured series; a lane must meet its constraints and the user's (the table of
//! features says what a lane has, its options applied); what is left is compared over the measured
//! parts, in which only decided differences count. A race that measured less than half of a scenario's
//! weight gives no advice for it, and no lane that promises less than others is ranked beside them.

mod choice;
mod databases;
pub mod facts;
mod field;
mod flips;
mod proposal;
mod safety;
mod work;

pub use proposal::{KnownSuite, KnownWorkload, USUAL_LANE_BYTES};

use crate::comparable::{LIBRARY, stands_beside};
use crate::statements::{advice as statement, text};
use crate::{answer, past};
use choice::{Choice, Contest};
use facts::{Holds, Table};
use field::{Divided, Field, names};
use model::Sentence;
use model::features::Features;
use model::findings::{
    Advice, AdviceLead, AdviceNote, AdviceReason, Equal, EqualWork, Findings, NoAdvice, NotMeasured, RacedWithout,
};
use model::lane::{Lane, LaneSpec};
use model::operations::Ability;
use model::record::Record;
use model::scenario::{Need, Note, Scenario, Weight};
use model::sentence::Value;
use proposal::{Proposal, Wanted};
use work::Part;

/// The share of a scenario's weight that must have been measured.
pub const LEAST_MEASURED: f64 = 0.5;

/// A race with what the statistics made of it.
#[derive(Debug, Clone, Copy)]
pub struct Race<'a> {
    /// The record.
    pub record: &'a Record,
    /// Its findings.
    pub findings: &'a Findings,
}

/// What advice rests on beside the races.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    /// The table of features.
    pub features: &'a [Features],
    /// The suites that there are, in the order in which they are to be proposed.
    pub suites: &'a [KnownSuite],
    /// Filesystems that could race too, as lanes without options: the usual ones first. Their size is the smallest
    /// that they take.
    pub others: &'a [Lane],
    /// What the filesystem of a lane lacks of what work may ask.
    pub lacks: fn(&LaneSpec) -> Vec<Ability>,
    /// What simulated power cuts showed.
    pub broken: &'a [facts::Broken],
}

/// Why races cannot be taken together for one advice, as a sentence that begins with a record's place.
///
/// # Errors
/// Another machine, another emulated disk, other lanes, another database, or the same race twice.
pub fn combinable(races: &[Race]) -> Result<(), String> {
    let Some((first, others)) = races.split_first() else {
        return Err("no record was given; name one, or `last`".to_owned());
    };
    for (place, other) in others.iter().enumerate() {
        let number = place + 2;
        let (a, b) = (&first.record.header, &other.record.header);
        if races[..=place].iter().any(|race| is_same(race.record, other.record)) {
            return Err(format!("record {number} is one of the others again; name each race once"));
        }
        if let Some(difference) = a.machine.differs_from(&b.machine) {
            return Err(format!("record {number} was raced on {difference}; ask for advice from each by itself"));
        }
        // A library is never chosen, and cannot do the work of most suites.
        let counts = |lane: &&Lane| !lane.is_self && lane.venue != LIBRARY;
        let of = |lanes: &[Lane]| lanes.iter().filter(counts).map(identity).collect::<Vec<_>>();
        let (mut mine, mut theirs) = (of(&a.lanes), of(&b.lanes));
        mine.sort();
        theirs.sort();
        if mine != theirs {
            return Err(format!("record {number} has other lanes; race the same lanes to take records together"));
        }
        if a.lanes.iter().any(|lane| a.plan.throttle_of(&lane.name) != b.plan.throttle_of(&lane.name)) {
            return Err(format!(
                "record {number} was raced on other emulated disks; race with the same --throttle to take records together"
            ));
        }
        if let Some(workload) = databases::differs(&a.plan.workloads, &b.plan.workloads) {
            return Err(format!(
                "record {number} raced {workload} with other tables or settings of the database; race with the same to \
                 take records together"
            ));
        }
    }
    Ok(())
}

fn is_same(a: &Record, b: &Record) -> bool {
    let key = |record: &Record| (record.header.started.clone(), record.header.seed, record.header.boot_id.clone());
    key(a) == key(b)
}

/// What makes two lanes of two records the same one.
fn identity(lane: &Lane) -> [Vec<String>; 3] {
    let words =
        [&lane.name, &lane.filesystem, &lane.venue, &lane.stands_on(), &lane.past()].map(String::clone).to_vec();
    [words, lane.mkfs_command.clone(), lane.mount_options.clone()]
}

/// Advice for a scenario from one race, or from several that are [`combinable`]. `needs`: what the user
/// asks for beside the scenario's own constraints.
///
/// # Panics
/// Never; without a race there is no lane, and all are excluded.
pub fn advise(races: &[Race], scenario: &Scenario, needs: &[Need], known: &Knowledge) -> Advice {
    let Some(first) = races.first() else { return nothing(scenario) };
    let header = &first.record.header;
    let table = Table { features: known.features, kernel: &header.machine.kernel, broken: known.broken };
    let (parts, missing) = work::parts(scenario, races);
    let measured_share: f64 = parts.iter().map(|part| part.weight.share).sum();
    let own_suite = scenario.own_suite();
    let own = parts.iter().filter(|part| part.series.iter().any(|series| series.suite == own_suite));
    let own_share: f64 = own.map(|part| part.weight.share).sum();
    let few = missing.iter().filter(|weight| work::was_raced(weight, races));
    let too_few_rounds_share: f64 = few.map(|weight| weight.share).sum();
    let lanes = contestants(first);
    let asked = Asked::new(scenario, needs);
    let field = Field { lanes: &lanes, parts: &parts, table };
    let Divided { left, excluded, apart } = field.divide(&asked.all());
    let others = others(known, &lanes, &table, &asked);
    let blocked = excluded.iter().filter(|out| field::is_of_a_need(out)).count();
    let wanted = Wanted {
        races,
        suites: known.suites,
        lacks: known.lacks,
        all: scenario.weight.iter().collect(),
        missing: &missing,
        added: added(known, &lanes, &others, left.is_empty() && blocked > 0 && !apart),
    };
    let proposal = wanted.propose();
    let suite = proposal.as_ref().map(|proposal| proposal.suite);
    let advice = Advice {
        measured_share: measured_share.min(1.0),
        own_share: own_share.min(1.0),
        too_few_rounds_share: too_few_rounds_share.min(1.0),
        not_measured: missing.iter().map(|weight| not_measured(weight, suite, known, races)).collect(),
        not_raced: others.iter().filter(|_| blocked > 0).map(|lane| lane.name.clone()).collect(),
        next: proposal.map(|Proposal { next, .. }| next).unwrap_or_default(),
        excluded,
        ..nothing(scenario)
    };
    if measured_share < LEAST_MEASURED - 1e-9 {
        return Advice { no_advice: Some(NoAdvice::TooLittleMeasured), ..advice };
    }
    if apart {
        return Advice { no_advice: Some(NoAdvice::NotComparable), next: Vec::new(), ..advice };
    }
    let delta = first.findings.margin.max(0.0).ln_1p();
    let contest = Contest::new(&parts, names(&left));
    let Some(chosen) = contest.choose(delta) else {
        return Advice { no_advice: Some(NoAdvice::AllExcluded), ..advice };
    };
    let lane = left[chosen.lane];
    let equal = equal(&parts, &contest.lanes);
    if is_undecided(&equal, &contest, measured_share) {
        let next = more_rounds(races, &parts).unwrap_or(advice.next);
        return Advice { no_advice: Some(NoAdvice::Undecided), next, equal, ..advice };
    }
    let winners = std::iter::once(lane).chain(chosen.level.iter().map(|other| left[*other]));
    let winners: Vec<&Lane> = winners.collect();
    let mut notes: Vec<AdviceNote> = scenario.note.iter().filter_map(|note| told(&table, &winners, note)).collect();
    notes.extend(left.iter().filter_map(|lane| unmeasured(&parts, lane)));
    Advice {
        no_advice: None,
        lane: Some(lane.name.clone()),
        level_with: chosen.level.iter().map(|other| contest.lanes[*other].to_owned()).collect(),
        why: reasons(&parts, &contest, chosen.lane),
        leads: leads(&contest, chosen.lane),
        equal,
        share_of_resampled_races: safety(races, &parts, &contest, &chosen),
        flips_if: field.flips(&asked, &contest, &chosen, delta),
        raced_without: raced_without(&table, lane, &asked),
        notes,
        ..advice
    }
}

/// As in the answer, a lane that was measured fresh too is no second contestant when it is old.
fn contestants<'a>(race: &Race<'a>) -> Vec<&'a Lane> {
    let lanes = &race.record.header.lanes;
    let has_twin = |lane: &Lane| {
        past::fresh_twin(lanes, lane).is_some_and(|twin| answer::is_measured(&race.findings.results, &twin.name))
    };
    lanes.iter().filter(|lane| !lane.is_self && !has_twin(lane)).collect()
}

/// Whether nothing sets the lanes apart and noise is the reason for more than half of what was measured.
fn is_undecided(equal: &[EqualWork], contest: &Contest, measured_share: f64) -> bool {
    let noisy = equal.iter().filter(|part| matches!(part.because, Equal::Undecided | Equal::Unsure));
    let noisy: f64 = noisy.map(|part| part.share).sum();
    contest.lanes.len() > 1 && contest.is_level() && 2.0 * noisy > measured_share
}

/// The race that should settle what is too noisy to rank, of the first record that has such a part.
fn more_rounds(races: &[Race], parts: &[Part]) -> Option<Vec<String>> {
    let race = parts.iter().flat_map(|part| &part.series).map(|series| series.race).min()?;
    races[race].findings.answer.as_ref().map(|answer| answer.next.clone()).filter(|next| is_race(next))
}

/// Whether a command measures something.
fn is_race(command: &[String]) -> bool {
    command.first().is_some_and(|word| word == "race" || word == "fio")
}

/// Advice that says nothing yet.
fn nothing(scenario: &Scenario) -> Advice {
    Advice {
        scenario: scenario.name.clone(),
        title: scenario.title.clone(),
        lane: None,
        level_with: Vec::new(),
        no_advice: Some(NoAdvice::AllExcluded),
        why: Vec::new(),
        leads: Vec::new(),
        equal: Vec::new(),
        excluded: Vec::new(),
        share_of_resampled_races: None,
        flips_if: Vec::new(),
        measured_share: 0.0,
        own_share: 0.0,
        own_suite: scenario.own_suite().to_owned(),
        too_few_rounds_share: 0.0,
        not_measured: Vec::new(),
        not_raced: Vec::new(),
        next: Vec::new(),
        raced_without: Vec::new(),
        notes: Vec::new(),
    }
}

/// What lanes must have: the scenario's constraints with their reasons, then the user's.
struct Asked<'a> {
    scenario: Vec<(&'a Need, Option<&'a str>)>,
    user: Vec<(&'a Need, Option<&'a str>)>,
}

impl<'a> Asked<'a> {
    fn new(scenario: &'a Scenario, needs: &'a [Need]) -> Asked<'a> {
        Asked {
            scenario: scenario.need.iter().map(|of| (&of.need, Some(of.why.as_str()))).collect(),
            user: needs.iter().map(|need| (need, None)).collect(),
        }
    }

    fn all(&self) -> Vec<(&'a Need, Option<&'a str>)> {
        self.scenario.iter().chain(&self.user).copied().collect()
    }
}

fn reasons(parts: &[Part], contest: &Contest, chosen: usize) -> Vec<AdviceReason> {
    let mut reasons = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        for other in (0..contest.lanes.len()).filter(|other| *other != chosen) {
            let difference = contest.difference(index, chosen, other);
            if difference == 0.0 {
                continue;
            }
            let (a, b) = (contest.lanes[chosen], contest.lanes[other]);
            let at_least = matches!(part.series.as_slice(), [one] if one.has_size(a, b));
            reasons.push(AdviceReason {
                what: part.weight.what.clone(),
                share: part.weight.share,
                series: part.names(),
                against: contest.lanes[other].to_owned(),
                ratio: difference.exp(),
                at_least,
            });
        }
    }
    // By what they weigh in the choice.
    let weight = |reason: &AdviceReason| reason.share * reason.ratio.ln().abs();
    reasons.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    reasons
}

fn leads(contest: &Contest, chosen: usize) -> Vec<AdviceLead> {
    let others = (0..contest.lanes.len()).filter(|other| *other != chosen);
    let of = |other: usize| AdviceLead {
        against: contest.lanes[other].to_owned(),
        ratio: contest.lead(chosen, other).exp(),
    };
    others.map(of).collect()
}

fn equal(parts: &[Part], lanes: &[&str]) -> Vec<EqualWork> {
    let of = |part: &Part| {
        let because = part.equal(lanes)?;
        Some(EqualWork { what: part.weight.what.clone(), share: part.weight.share, because })
    };
    parts.iter().filter_map(of).collect()
}

fn safety(races: &[Race], parts: &[Part], contest: &Contest, chosen: &Choice) -> Option<f64> {
    let mut winners = vec![chosen.lane];
    winners.extend(&chosen.level);
    // With one lane, or with all of them chosen, every race would be won.
    if winners.len() >= contest.lanes.len() {
        return None;
    }
    safety::share(races, parts, contest, &winners)
}

fn raced_without(table: &Table, lane: &Lane, asked: &Asked) -> Vec<RacedWithout> {
    let of = |(need, _): &(&Need, Option<&str>)| {
        let (holds, found) = table.need(lane, need);
        let later = found.into_iter().find(|(_, one)| holds == Holds::Later && one.holds == Holds::Later);
        later.map(|(wish, one)| RacedWithout {
            need: wish.to_string(),
            with: one.fact.with.unwrap_or_default(),
            source: one.fact.source,
        })
    };
    asked.all().iter().filter_map(of).collect()
}

fn applies(table: &Table, lane: &Lane, note: &Note) -> bool {
    let holds = |need: &Need| table.need(lane, need).0 != Holds::No;
    (note.filesystems.is_empty() || note.filesystems.contains(&lane.filesystem))
        && note.has.as_ref().is_none_or(holds)
        && note.lacks.as_ref().is_none_or(|need| !holds(need))
}

/// A note with the chosen lanes that it is about; `None`: it is about none of them.
fn told(table: &Table, lanes: &[&Lane], note: &Note) -> Option<AdviceNote> {
    let about: Vec<String> =
        lanes.iter().filter(|lane| applies(table, lane, note)).map(|lane| lane.name.clone()).collect();
    (!about.is_empty()).then(|| AdviceNote {
        lanes: about,
        text: note.text.as_str().into(),
        source: note.source.clone(),
    })
}

/// The parts that count as not measured for a lane that was compared in the others; `None`: all were.
fn unmeasured(parts: &[Part], lane: &Lane) -> Option<AdviceNote> {
    let lacking: Vec<(&str, Sentence)> =
        parts.iter().filter_map(|part| Some((part.weight.what.as_str(), part.unmeasured(&lane.name)?))).collect();
    let (_, why) = lacking.first()?;
    let what = Value::List(lacking.iter().map(|(what, _)| text(*what)).collect());
    Some(AdviceNote {
        lanes: vec![lane.name.clone()],
        text: statement::compared_without(what, why.clone()),
        source: "the race".to_owned(),
    })
}

/// A part that was not measured, with the suite that is proposed where it measures the part.
fn not_measured(weight: &Weight, proposed: Option<&str>, known: &Knowledge, races: &[Race]) -> NotMeasured {
    let suite = proposal::suite_of(known.suites, weight, proposed);
    let workload = suite.and_then(|suite| proposal::workload_of(known.suites, suite, weight));
    NotMeasured {
        what: weight.what.clone(),
        share: weight.share,
        suite: suite.map(str::to_owned),
        workload: workload.map(|of| of.name.clone()),
        title: workload.map(|of| of.title.clone()),
        raced: work::of_its_kind(weight, races),
    }
}

/// Filesystems that were not raced and meet every need, as far as the table knows.
fn others<'a>(known: &Knowledge<'a>, raced: &[&Lane], table: &Table, asked: &Asked) -> Vec<&'a Lane> {
    let all = asked.all();
    let meets = |lane: &&Lane| all.iter().all(|(need, _)| table.need(lane, need).0 != Holds::No);
    let is_new = |lane: &&Lane| raced.iter().all(|raced| raced.filesystem != lane.filesystem);
    known.others.iter().filter(is_new).filter(meets).collect()
}

/// The filesystem that has to race too: where the needs leave no lane (`stuck`) one that meets them, and beside a lane
/// that is alone any.
fn added<'a>(known: &Knowledge<'a>, raced: &[&Lane], others: &[&'a Lane], stuck: bool) -> Option<&'a Lane> {
    let alone = raced.iter().filter(|lane| !stands_beside(lane)).count() < 2;
    let is_new = |lane: &&Lane| raced.iter().all(|raced| raced.filesystem != lane.filesystem);
    let meets = others.first().copied().filter(|_| alone || stuck);
    meets.or_else(|| known.others.iter().find(is_new).filter(|_| alone))
}
