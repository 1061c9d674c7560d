//! IO500's result.txt: a section for each phase, and the score.

use crate::clean::{SENTENCE_COLUMNS, clean, name, shorten};
use crate::{Input, Style};
use model::findings::{Io500Finding, Io500Phase};
use model::record::Record;
use model::trial::Outcome;
use std::fmt::Write;

/// Renders the phases of each lane as IO500 writes its result.txt; several lanes follow each other, each from its `[run]` on.
/// A phase is the mean of its rounds, so that the score is that of the figures above it. What IO500's rules call
/// INVALID is called so. There is no hash: that vouches for the program of IO500.
///
/// # Errors
/// A sentence with the remedy where the record does not have the phases.
pub(crate) fn render(input: &Input, _: &Style) -> Result<String, String> {
    if input.findings.io500.is_empty() {
        return Err(
            "this record does not have the phases of IO500, which is all that its result.txt can show; race --suite \
                    io500, or choose another --format"
                .to_owned(),
        );
    }
    let mut out = String::new();
    for (at, lane) in input.findings.io500.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        of_lane(&mut out, input.record, lane);
        of_system(&mut out, input.record, lane);
    }
    Ok(out)
}

/// What submissions say of a system that no client of it knows, as IO500 calls it.
const OF_THE_SUBMITTER: [&str; 23] = [
    "institution",
    "system",
    "submitter",
    "storage_vendor",
    "storage_capacity",
    "storage_install_date",
    "filesystem_name",
    "filesystem_version",
    "clients_interconnect",
    "md_nodes",
    "md_storage_devices",
    "md_storage_type",
    "md_storage_interface",
    "md_volatile_memory_capacity",
    "md_network",
    "md_software_version",
    "ds_nodes",
    "ds_storage_devices",
    "ds_storage_type",
    "ds_storage_interface",
    "ds_volatile_memory_capacity",
    "ds_network",
    "ds_software_version",
];
const TODO: &str = "# TODO by the submitter";

/// The description of the system that submissions ask for, in comments: what the record tells, and what it does not.
fn of_system(out: &mut String, record: &Record, lane: &Io500Finding) {
    let (machine, plan) = (&record.header.machine, &record.header.plan);
    let (ranks, nodes) = plan.ranks.as_ref().map_or((1, 1), |job| (job.ranks, job.nodes));
    let built = record.header.lanes.iter().find(|built| built.name == lane.lane);
    let number = |number: u64| if number > 0 { number.to_string() } else { String::new() };
    // Where nodes have different numbers of ranks, the record does not tell which.
    let per_node = ranks.checked_rem(nodes).filter(|rest| *rest == 0).map_or(0, |_| u64::from(ranks / nodes));
    let facts = [
        ("client_nodes", number(nodes.into())),
        ("client_procs_per_node", number(per_node)),
        ("client_total_procs", number(ranks.into())),
        ("client_operating_system", machine.os.clone()),
        ("client_kernel_version", machine.kernel.clone()),
        ("client_processor", machine.cpu.clone()),
        ("client_cpus", number(machine.cpus.into())),
        ("client_memory_bytes", number(machine.memory_bytes)),
        ("filesystem_type", built.map_or_else(String::new, |built| built.filesystem.clone())),
        ("filesystem_mount_options", built.map_or_else(String::new, |built| built.mount_options.join(","))),
    ];
    out.push('\n');
    comment(out, "description of the system: machine and mount options are those of rank 0's node");
    for (key, fact) in facts {
        let fact = shorten(&fact, SENTENCE_COLUMNS);
        let fact = if fact.trim().is_empty() { TODO } else { fact.as_str() };
        comment(out, &format!("{key:<27} = {fact}"));
    }
    for key in OF_THE_SUBMITTER {
        comment(out, &format!("{key:<27} = {TODO}"));
    }
}

fn of_lane(out: &mut String, record: &Record, lane: &Io500Finding) {
    let header = &record.header;
    out.push_str("[run]\n");
    pair(out, "procs", &header.plan.ranks.as_ref().map_or(1, |ranks| ranks.ranks).to_string());
    pair(out, "version", &format!("fairlane-{}", clean(&header.version)));
    pair(out, "lane", &name(&lane.lane));
    comment(out, "phases of Fairlane, not of IO500's own program: no submission");
    comment(out, &format!("START {}", moment(&header.started)));
    for phase in &lane.phases {
        of_phase(out, record, lane, phase);
    }
    let missing: Vec<&str> = lane.missing().collect();
    if !missing.is_empty() {
        out.push('\n');
        comment(out, &format!("no figure of {}", missing.join(", ")));
    }
    let Some(score) = lane.score else { return };
    out.push_str("\n[SCORE]\n");
    pair(out, "MD", &format!("{:.6}", score.metadata));
    pair(out, "BW", &format!("{:.6}", score.bandwidth));
    let invalid = if lane.is_valid() { "" } else { " [INVALID]" };
    pair(out, "SCORE", &format!("{:.6}{invalid}", score.score));
    if let (Some(low), Some(high)) = (score.low, score.high) {
        comment(out, &format!("95 % interval of SCORE: {low:.6} to {high:.6}, {} rounds", score.rounds));
    }
}

fn of_phase(out: &mut String, record: &Record, lane: &Io500Finding, phase: &Io500Phase) {
    // A section's name is one of ours.
    let _ = writeln!(out, "\n[{}]", phase.name);
    let trials = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok && trial.lane == lane.lane);
    let begun = trials
        .filter(|trial| trial.workload == phase.name || trial.groups.iter().any(|group| group.name == phase.name))
        .map(|trial| trial.started.as_str())
        .min();
    if let Some(begun) = begun {
        pair(out, "t_start", &moment(begun));
    }
    if phase.is_too_short() {
        comment(out, "ERROR INVALID Runtime is smaller than expected minimum runtime");
    }
    if phase.read_again {
        comment(out, "read more than its files hold, through the page cache");
    }
    pair(out, "score", &format!("{:.6}", phase.figure));
    pair(out, "t_delta", &format!("{:.4}", phase.seconds));
    pair(out, "rounds", &phase.rounds.to_string());
}

fn pair(out: &mut String, key: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key:<16}= {value}");
}

fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "; {text}");
}

/// A moment of RFC 3339 as IO500 writes it; what is none is left out.
fn moment(text: &str) -> String {
    let moment: String = text.chars().take(19).collect();
    match moment.chars().all(|character| character.is_ascii_digit() || "-:T".contains(character)) {
        true => moment.replace('T', " "),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_as_io500_does_and_nothing_else_is() {
        assert_eq!(moment("2026-11-30T10:23:47Z"), "2026-11-30 10:23:47");
        assert_eq!(moment("yesterday\n[SCORE]"), "");
    }
}
