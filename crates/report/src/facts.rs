//! What a report gathers besides verdicts: figures, self-check, notes, warnings; shared by text
//! and Markdown.

use crate::Input;
use crate::clean::{shell_line, shorten};
use crate::figures;
use crate::layout::Phrase;
use crate::operations;
use crate::words::{self, race::SelfCheck};
use model::Sentence;
use model::findings::{Estimate, Findings, Limit, Pair, ResultFinding, Verdict};
use model::record::Record;
use model::sentence::Weight;
use model::trial::{JobUse, Outcome, Trial};
use model::workload::Kind;

/// Columns that a title may take: what only a record made by other means exceeds, because what a cut takes may be all that
/// two titles differ in.
pub(crate) const TITLE_COLUMNS: usize = 160;
/// Columns of a title where it is a label or a column: longer labels stand on lines of their own.
pub(crate) const LABEL_COLUMNS: usize = 42;

/// A result's title as every report shows it.
pub(crate) fn title(result: &ResultFinding) -> String {
    shorten(if result.title.trim().is_empty() { &result.workload } else { &result.title }, TITLE_COLUMNS)
}

/// The group, where the workload has several.
pub(crate) fn group_of<'a>(result: &'a ResultFinding, all: &[ResultFinding]) -> Option<&'a str> {
    let several = all.iter().filter(|other| other.workload == result.workload).count() > 1;
    several.then(|| beside_title(&result.group, &result.title))
}

/// A group without the last clause where its workload's title ends in the same: `new file, fsync, data 2.7:1` of `files of
/// 64 MiB, data 2.7:1` is `new file, fsync`.
pub(crate) fn beside_title<'a>(group: &'a str, title: &str) -> &'a str {
    match group.rsplit_once(", ") {
        Some((kept, clause)) if title.rsplit_once(", ").is_some_and(|(_, last)| last == clause) => kept,
        _ => group,
    }
}

/// The cells of one lane's figures, in the order of [`words::columns::COLUMNS`]; `None`: no such figure.
pub(crate) fn cells(result: &ResultFinding, estimate: &Estimate) -> [Option<String>; words::columns::COLUMNS.len()] {
    let per_gib = result.unit == "B/s" && estimate.cpu_seconds_per_gib.is_some();
    // CPU time is counted in ticks: none is a window that was shorter than one.
    let some = |seconds: Option<f64>| seconds.filter(|seconds| *seconds > 0.0);
    let cpu = if per_gib {
        some(estimate.cpu_seconds_per_gib).map(|seconds| format!("{}/GiB", figures::brief(seconds)))
    } else {
        some(estimate.cpu_seconds_per_operation).map(|seconds| format!("{}/op", figures::brief(seconds)))
    };
    let latency = |percentile: Option<f64>| percentile.map(|nanoseconds| figures::brief(nanoseconds * 1e-9));
    [
        latency(estimate.latency_p50_ns),
        latency(estimate.latency_p99_ns),
        latency(estimate.latency_p999_ns),
        cpu,
        some(estimate.agent_cpu_seconds_per_operation).map(|seconds| format!("{}/op", figures::brief(seconds))),
        estimate.write_amplification.map(figures::times),
        estimate.flushes_per_operation.map(figures::per_operation),
        estimate.device_use.map(|share| match estimate.device_use_is_impossible {
            true => words::columns::impossible(&figures::share(share)),
            false => figures::share(share),
        }),
        estimate.extents.map(figures::per_operation),
        estimate.once_seconds.map(figures::brief),
    ]
}

/// The cells of one lane's load, in the order of [`words::columns::LOAD_COLUMNS`]; `None`: no such figure.
pub(crate) fn load(estimate: &Estimate) -> [Option<String>; words::columns::LOAD_COLUMNS.len()] {
    [
        estimate.latency_mean_ns.map(|nanoseconds| figures::brief(nanoseconds * 1e-9)),
        estimate.cpu_share.map(figures::small_share),
        estimate.cpu_system_share.map(figures::share),
        estimate.device_busy_share.map(figures::share),
    ]
}

/// The load of a result's lanes in one line, each figure in the lanes' order; `None`: nothing known.
pub(crate) fn load_line(result: &ResultFinding) -> Option<String> {
    let lanes: Vec<_> = result.estimates.iter().filter(|of| of.failure.is_none()).map(load).collect();
    let parts: Vec<String> = (0..words::columns::LOAD_COLUMNS.len())
        .filter(|&at| lanes.iter().any(|of| of[at].is_some()))
        .map(|at| {
            let cells: Vec<&str> = lanes.iter().map(|of| of[at].as_deref().unwrap_or("-")).collect();
            format!("{} {}", words::columns::LOAD_COLUMNS[at], cells.join(", "))
        })
        .collect();
    let order = if lanes.len() > 1 { words::columns::LOAD_IN_ORDER } else { "" };
    (!parts.is_empty()).then(|| format!("{order}{}", parts.join("; ")))
}

/// The mean with its interval.
pub(crate) fn figure(result: &ResultFinding, estimate: &Estimate) -> String {
    figures::rate_with_interval(&result.unit, estimate.mean, estimate.low, estimate.high)
}

/// The first lane, and its pairs with its twin; `None`: it was not raced twice.
pub(crate) fn self_pairs(findings: &Findings) -> Option<(&str, Vec<&Pair>)> {
    let twin = findings.lanes.iter().find(|lane| lane.is_self)?;
    let first = findings.lanes.iter().find(|lane| !lane.is_self)?;
    let of = |a: &str, b: &str| a == first.name && b == twin.name;
    let pairs = findings.results.iter().flat_map(|result| &result.pairs);
    Some((&first.name, pairs.filter(|pair| of(&pair.a, &pair.b) || of(&pair.b, &pair.a)).collect()))
}

/// How the first lane did against itself; `None`: it was not raced twice.
pub(crate) fn self_check(findings: &Findings) -> Option<Phrase> {
    let (first, pairs) = self_pairs(findings)?;
    let mut counts = SelfCheck::default();
    let mut bounds: Option<(f64, f64)> = None;
    for pair in pairs {
        match pair.verdict {
            Verdict::Tie => {
                counts.ties += 1;
                if let Some((low, high)) = pair.low.zip(pair.high) {
                    bounds = Some(match bounds {
                        None => (low, high),
                        Some((lowest, highest)) => (lowest.min(low), highest.max(high)),
                    });
                }
            }
            Verdict::Undecided => counts.undecided += 1,
            Verdict::None => counts.none += 1,
            Verdict::Faster | Verdict::Slower => counts.apart += 1,
        }
    }
    counts.within = bounds.map(|(low, high)| figures::within(low, high));
    (counts.ties + counts.undecided + counts.apart + counts.none > 0).then(|| words::race::self_check(first, &counts))
}

/// How job files were taken, what their data was like, and what stands beside pairs without voiding
/// their verdict, each once.
pub(crate) fn notes(input: &Input) -> Vec<String> {
    let mut said = job_notes(input.record);
    said.extend(input.findings.calibration.as_deref().map(words::calibration::quoted));
    beside_pairs(input.findings, &mut said);
    said
}

/// The same for the page, which says what the machine's calibration found in a place of its own.
pub fn page_notes(record: &Record, findings: &Findings) -> Vec<String> {
    let mut said = job_notes(record);
    beside_pairs(findings, &mut said);
    said
}

/// What stands beside pairs, put behind what is said already.
fn beside_pairs(findings: &Findings, said: &mut Vec<String>) {
    // A table says itself which of its steps the page cache answered.
    let said_there = |of: &&ResultFinding| of.section.is_some() && of.limit == Limit::Cache;
    for pair in findings.results.iter().filter(|of| !said_there(of)).flat_map(|result| &result.pairs) {
        // An undecided pair says first why it is undecided, and then what stands beside it.
        let skipped = match pair.verdict {
            Verdict::None => continue,
            Verdict::Undecided => 1,
            Verdict::Faster | Verdict::Slower | Verdict::Tie => 0,
        };
        for note in
            pair.why.iter().flat_map(|why| why.clauses().into_iter().skip(skipped)).map(|note| words::sentence(note))
        {
            if !note.trim().is_empty() && !said.contains(&note) {
                said.push(note);
            }
        }
    }
}

/// What a job file's options became, and what its jobs' data was like.
fn job_notes(record: &Record) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for workload in &record.header.plan.workloads {
        let title = shorten(&workload.title, TITLE_COLUMNS);
        if let Kind::Jobs(jobs) = &workload.kind {
            said.extend(jobs.notes.iter().map(|note| format!("{title}: {}", words::sentence(note))));
        }
        let counted = |trial: &&Trial| trial.workload == workload.name && trial.outcome == Outcome::Ok;
        let uses: Vec<&JobUse> = record.trials.iter().filter(counted).flat_map(|trial| &trial.jobs).collect();
        let mut names: Vec<&str> = Vec::new();
        for name in uses.iter().map(|of| of.name.as_str()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in &names {
            let of_job = || uses.iter().filter(|of| of.name == *name);
            let subject =
                if names.len() > 1 { format!("{title}, {}", shorten(name, LABEL_COLUMNS)) } else { title.clone() };
            let ratios = || of_job().filter_map(|of| of.compression_ratio).filter(|ratio| ratio.is_finite());
            if let (Some(low), Some(high)) = (ratios().reduce(f64::min), ratios().reduce(f64::max)) {
                said.push(format!("{subject}: {}", words::facts::compresses(low, high)));
            }
            let blocks: u64 = of_job().map(|of| of.verified_blocks).fold(0, u64::saturating_add);
            if blocks > 0 {
                said.push(format!("{subject}: {}", words::facts::read_back(blocks)));
            }
        }
    }
    said
}

/// Every warning of the race, its results and its file, each once, the heaviest first.
pub(crate) fn warnings(input: &Input) -> Vec<String> {
    let all = weighed_warnings(input.findings, &input.record.warnings);
    all.into_iter().map(|(_, warning)| warning).collect()
}

/// The same with their weights, where only the findings are at hand.
pub(crate) fn weighed_warnings(findings: &Findings, of_file: &[String]) -> Vec<(Weight, String)> {
    // A table's warnings are gathered over its steps.
    let of_tables = findings.operations.iter().flat_map(|table| {
        let title = shorten(&table.title, TITLE_COLUMNS);
        let said = move |warning: &Sentence| format!("{title}: {}", words::sentence(warning));
        table.warnings.iter().map(move |warning| (warning.weight(), said(warning)))
    });
    let of_results = operations::others(findings).into_iter().flat_map(|result| {
        let group = group_of(result, &findings.results).map(|group| format!(" {}", shorten(group, 80)));
        let subject = format!("{}{}", title(result), group.unwrap_or_default());
        let said = move |warning: &Sentence| format!("{subject}: {}", words::sentence(warning));
        result.warnings.iter().map(move |warning| (warning.weight(), said(warning)))
    });
    let of_race = findings.warnings.iter().map(|warning| (warning.weight(), words::sentence(warning)));
    let of_file = of_file.iter().map(|warning| (Weight::Circumstances, words::sentence(warning)));
    let mut all: Vec<(Weight, String)> = Vec::new();
    for (weight, warning) in of_race.chain(of_file).chain(of_tables).chain(of_results) {
        if all.iter().all(|(_, other)| *other != warning) {
            all.push((weight, warning));
        }
    }
    all.sort_by_key(|(weight, _)| *weight);
    all
}

/// The words that run the race again.
pub(crate) fn again_words(findings: &Findings) -> Vec<String> {
    let mut words = findings.command_line.clone();
    if words.first().is_none_or(|word| word == "race") {
        words.insert(0, "fairlane".to_owned());
    }
    words
}

/// The line that runs the race again.
pub(crate) fn again(findings: &Findings) -> String {
    shell_line(&again_words(findings))
}

#[cfg(test)]
mod tests {
    use super::beside_title;

    #[test]
    fn a_group_does_not_say_again_what_its_title_ends_in() {
        let title = "files of 64 MiB, page cache, data 2.7:1";
        assert_eq!(beside_title("new file, fsync, data 2.7:1", title), "new file, fsync");
        assert_eq!(beside_title("new file, fsync", title), "new file, fsync");
        assert_eq!(beside_title("data 2.7:1", "data 2.7:1"), "data 2.7:1");
    }
}
