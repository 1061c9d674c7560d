//! The regression gate: several records of a baseline against several of a candidate.
//!
//! One record is one replicate: what a boot or an installation is lucky with, all of its rounds share.
//! A replicate's figure is the geometric mean over its rounds; the sides are compared on logarithms, as
//! two independent samples or in pairs where the races alternated, and all intervals hold together.

mod alike;
mod failures;
pub mod interval;
mod planned;
mod replicate;
mod row;

use crate::comparable;
use crate::compare;
use crate::estimate;
use crate::judge;
use crate::words;
use model::gate::{Gate, GateCounts, GateOutcome, GateRecord, GateRow, GateSide, GateVerdict, OneSided, Pairing};
use model::record::{Header, Record, SCHEMA};
use planned::{Planned, lanes_of, planned, workloads_of};
use replicate::Judged;
use row::Setting;

/// A record with the name that messages call it by.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// The record.
    pub record: &'a Record,
}

/// What a gate is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// The candidate may be slower by this share; above 0, below 1.
    pub fail_if_slower: f64,
    /// Half-width that every interval should reach, as a share.
    pub need_resolution: Option<f64>,
}

/// One side, its records in order of time.
struct Side<'a> {
    called: &'static str,
    records: Vec<Named<'a>>,
}

/// Pairs from which on races that alternate are compared in pairs. Pairing costs half of the degrees of
/// freedom: with five pairs the interval is a third wider where neighbouring boots have none of their
/// noise in common and as wide where they share half of it, with three pairs it pays only from three
/// quarters on (simulated: the example `gate`). Decided by number and order alone, never by figures.
const LEAST_PAIRS: usize = 6;

/// Judges a candidate against a baseline. The order of the records does not matter: they are put in
/// order of time.
///
/// # Errors
/// One sentence with the remedy where the records may not be compared: one race given twice, other
/// parameters, lanes, promises or versions, nothing in common, or too few of them.
pub fn gate(baseline: &[Named], candidate: &[Named], terms: &Terms) -> Result<Gate, String> {
    let mut warnings = Vec::new();
    let sides = [("baseline", baseline), ("candidate", candidate)].map(|(called, records)| {
        let mut records = records.to_vec();
        records.sort_by_key(|named| time(&named.record.header).map(str::to_owned));
        Side { called, records }
    });
    alike::check([&sides[0], &sides[1]])?;
    let sides = sides.map(|side| with_trials(side, &mut warnings));
    let [before, after] = &sides;
    enough([before, after])?;
    let (planned, one_sided) = planned([before, after]);
    if planned.is_empty() {
        return Err("the two sides share no lane and workload; race the same lanes and suite on both".to_owned());
    }
    let (changes, differences) = alike::differences([before, after]);
    let pairing = pairing([before, after]);
    let setting =
        Setting { sides: [before, after], terms, p: interval::p_of_each(planned.len()), paired: pairing.paired };
    let (rows, failed_rounds) = judge_all(&setting, &planned);
    let single = before.records.len() == 1 && after.records.len() == 1;
    if !single {
        // The ordinary comparison names them itself.
        warnings.extend(differences);
    }
    warnings.extend(alike::remarks([before, after]).into_iter().chain(failed_rounds));
    let is_foreign = [before, after].iter().flat_map(|side| &side.records).any(|named| alike::is_foreign(named));
    if changes.is_empty() && !single && !is_foreign {
        warnings.push(
            "both sides ran on the same kernel, system and options: what was changed between them is not in the records"
                .to_owned(),
        );
    }
    let comparison = single.then(|| {
        let [a, b] = [before, after].map(|side| side.records[0]);
        compare::compare(a.record, b.record, a.name, b.name)
    });
    let noise = noise(&rows);
    if let Some(noise) = noise.filter(|noise| *noise > terms.fail_if_slower) {
        warnings.push(format!(
            "records of one side vary by {}, more than the margin: quieten the machine before racing more",
            words::percent(noise)
        ));
    }
    let counts = counts(&rows, &one_sided, terms);
    let lost = one_sided.iter().any(|of| of.in_baseline);
    Ok(Gate {
        schema: SCHEMA,
        outcome: outcome(&counts, lost),
        counts,
        fail_if_slower: terms.fail_if_slower,
        need_resolution: terms.need_resolution,
        confidence: 1.0 - interval::FAMILY_ERROR,
        comparisons: planned.len() as u32,
        noise,
        pairing,
        baseline: described(before),
        candidate: described(after),
        changes,
        rows,
        one_sided,
        warnings,
        comparison,
    })
}

/// Judges every comparison; also the rounds in which a lane failed that did others.
fn judge_all(setting: &Setting, planned: &[Planned]) -> (Vec<GateRow>, Vec<String>) {
    let (mut rows, mut failed_rounds) = (Vec::new(), Vec::new());
    let lanes = lanes_of(planned);
    for workload in workloads_of(planned) {
        let mut judged: [Vec<Judged>; 2] = setting
            .sides
            .map(|side| side.records.iter().filter_map(|named| Judged::new(named, &workload.name)).collect());
        replicate::by_the_same_figures(judged.iter_mut().flatten());
        for one in planned.iter().filter(|one| one.workload.name == workload.name) {
            rows.push(setting.row(one, [&judged[0], &judged[1]]));
        }
        let all = judged.iter().flatten();
        failed_rounds.extend(all.flat_map(|of| lanes.iter().filter_map(|lane| of.failed_rounds(lane))));
    }
    (rows, failed_rounds)
}

/// When a race began, in a form whose order is that of time; `None` where the record tells no time in
/// UTC. Without its `Z` a whole second stands before its fractions.
fn time(header: &Header) -> Option<&str> {
    let whole = header.started.strip_suffix('Z')?;
    (whole.len() >= 19 && whole.as_bytes().get(10) == Some(&b'T')).then_some(whole)
}

/// Leaves out records that hold no trial: they are no replicates.
fn with_trials<'a>(mut side: Side<'a>, warnings: &mut Vec<String>) -> Side<'a> {
    side.records.retain(|named| {
        let empty = named.record.trials.is_empty();
        if empty {
            warnings.push(format!("{} holds no trial and was left out", named.name));
        }
        !empty
    });
    side
}

/// # Errors
/// When a side has too few records.
fn enough(sides: [&Side; 2]) -> Result<(), String> {
    let counts = sides.map(|side| side.records.len());
    match (counts, sides) {
        ([1, 1], _) => Ok(()),
        ([0, _], [side, _]) | ([_, 0], [_, side]) => {
            Err(format!("the {} holds no record with a trial; name records of finished races", side.called))
        }
        ([1, _], [side, _]) | ([_, 1], [_, side]) => Err(format!(
            "the {} is one record, which shows no spread between boots; race it at least twice, better five times",
            side.called
        )),
        _ => Ok(()),
    }
}

/// Whether the records are put against each other in pairs. Only races that were planned to alternate
/// do so strictly; figures have no say, because the narrower of two intervals would be wrong more often.
fn pairing(sides: [&Side; 2]) -> Pairing {
    let unpaired = |why: String| Pairing { paired: false, why };
    let [before, after] = sides.map(|side| side.records.len());
    if before == 1 && after == 1 {
        return unpaired("one record on each side makes no two pairs".to_owned());
    }
    let mut order = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        for named in &side.records {
            let Some(time) = time(&named.record.header) else {
                return unpaired(format!("{} does not tell when it was raced, in UTC", named.name));
            };
            order.push((time, at));
        }
    }
    order.sort_unstable();
    let alternate = before == after
        && order.windows(2).all(|two| two[0].0 != two[1].0)
        && order.windows(2).all(|two| two[0].1 != two[1].1);
    if !alternate {
        return unpaired("the races did not alternate strictly between baseline and candidate".to_owned());
    }
    if before < LEAST_PAIRS {
        return unpaired(format!(
            "the races alternate, and with fewer than {LEAST_PAIRS} pairs pairing costs more than it gains"
        ));
    }
    let why = "the races alternate strictly between baseline and candidate".to_owned();
    Pairing { paired: true, why }
}

/// The median deviation between records.
fn noise(rows: &[GateRow]) -> Option<f64> {
    let deviations = rows.iter().flat_map(|row| [row.baseline.deviation, row.candidate.deviation]);
    estimate::median(deviations.flatten())
}

fn counts(rows: &[GateRow], one_sided: &[OneSided], terms: &Terms) -> GateCounts {
    let with = |verdict: GateVerdict| rows.iter().filter(|row| row.verdict == verdict).count() as u32;
    let unresolved = rows.iter().filter(|row| row.unresolved).count();
    // What the baseline had and the candidate did not race is not resolved either.
    let lost = one_sided.iter().filter(|of| of.in_baseline && terms.need_resolution.is_some());
    GateCounts {
        slower: with(GateVerdict::Slower),
        failed: with(GateVerdict::Failed),
        inconclusive: with(GateVerdict::Inconclusive),
        pass: with(GateVerdict::Pass),
        faster: with(GateVerdict::Faster),
        one_sided: one_sided.iter().map(|of| of.comparisons).sum(),
        unresolved: unresolved as u32 + lost.map(|of| of.comparisons).sum::<u32>(),
    }
}

/// `lost`: the candidate did not race all that the baseline did.
fn outcome(counts: &GateCounts, lost: bool) -> GateOutcome {
    match counts {
        of if of.slower + of.failed > 0 => GateOutcome::Fail,
        of if of.unresolved > 0 => GateOutcome::Unresolved,
        of if of.inconclusive > 0 || lost => GateOutcome::Inconclusive,
        _ => GateOutcome::Pass,
    }
}

fn described(side: &Side) -> GateSide {
    let each_once = |of: fn(&Header) -> String| {
        let mut all: Vec<String> = Vec::new();
        for value in side.records.iter().map(|named| of(&named.record.header)) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        all
    };
    let record = |named: &Named| GateRecord {
        name: named.name.to_owned(),
        started: named.record.header.started.clone(),
        boot_id: named.record.header.boot_id.clone(),
        kernel: comparable::raced_kernels(&named.record.header),
        seed: named.record.header.seed,
        outcome: judge::outcome_words(named.record.end).to_owned(),
    };
    GateSide {
        records: side.records.iter().map(record).collect(),
        kernels: each_once(comparable::raced_kernels),
        systems: each_once(|of| of.machine.os.clone()),
    }
}
