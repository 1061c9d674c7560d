//! A scenario for advice from a trace: each kind of call weighs as much as it took of the time of all.

use crate::failure::Failure;
use model::kinds::replay::GROUPS;
use model::trace::Summary;
use model::units::{human_count, human_seconds};
use std::fmt::Write;

/// A kind that took less of the time is left out.
const LEAST_SHARE: f64 = 0.01;
/// Of the file's name: others are no part of a pattern for series.
const PLAIN: &str = "._-+";
/// On average a call moves so many bytes at least, where whole files stand for its kind.
const LARGE_BYTES: u64 = 64 << 10;

/// What calls of a kind took.
#[derive(Default, Clone, Copy)]
struct Kind {
    count: u64,
    bytes: u64,
    nanoseconds: u64,
}

/// The scenario as TOML, for `advise --scenario`; `file`: the trace's name, by which its replays are known.
///
/// # Errors
/// Where the trace has no times.
pub fn scenario(summary: &Summary, file: &str) -> Result<String, Failure> {
    let kinds = kinds(summary);
    let whole = in_all(&kinds);
    let is_told = |kind: &Kind| kind.nanoseconds as f64 >= LEAST_SHARE * whole;
    let kinds: Vec<(&str, Kind)> = kinds.into_iter().filter(|(_, kind)| whole > 0.0 && is_told(kind)).collect();
    let told = in_all(&kinds);
    if told <= 0.0 {
        return Err(Failure::usage(
            "the trace does not tell how long its calls took, so that nothing weighs them; capture the program instead"
                .to_owned(),
        ));
    }
    let program = summary.header.command.first().map_or("", |word| word.rsplit('/').next().unwrap_or_default());
    let program = if program.is_empty() { "a captured program" } else { program };
    let mut text = format!(
        "# Weights are the time of its calls when it was captured, and not what it computed between them.\n\
         # docs/advice.md says what the keys mean.\n\
         name = {}\ntitle = {}\nabout = {}\n",
        quoted(&name(program)),
        quoted(&report::clean_text(program)),
        quoted("a captured program, by the time of its calls")
    );
    if summary.syncs > 0 {
        let times = if summary.syncs == 1 { "once".to_owned() } else { format!("{} times", summary.syncs) };
        write_need(&mut text, &format!("waits for the disk {times}, so that what it wrote survives a power cut"));
    }
    // In thousandths that add up to 1; the last, which is the heaviest, gets what rounding leaves and is told first.
    let mut thousandths: Vec<i64> =
        kinds.iter().map(|(_, kind)| ((kind.nanoseconds as f64 / told * 1000.0).round() as i64).max(1)).collect();
    let left = 1000 - thousandths.iter().sum::<i64>();
    if let Some(last) = thousandths.last_mut() {
        *last += left;
    }
    for ((group, kind), share) in kinds.iter().zip(thousandths).rev() {
        write_weight(&mut text, group, kind, share as f64 / 1000.0, file);
    }
    Ok(text)
}

/// Nanoseconds of all kinds; a stranger's trace may say any.
fn in_all(kinds: &[(&'static str, Kind)]) -> f64 {
    kinds.iter().map(|(_, kind)| kind.nanoseconds as f64).sum()
}

/// What each kind of call took, the longest last: it gets what rounding leaves.
fn kinds(summary: &Summary) -> Vec<(&'static str, Kind)> {
    let mut kinds: Vec<(&'static str, Kind)> = GROUPS.iter().map(|group| (*group, Kind::default())).collect();
    for sum in &summary.calls {
        let group = trace::CALLS.iter().find(|call| call.name == sum.call).map(trace::Call::group);
        if let Some((_, kind)) = kinds.iter_mut().find(|(name, _)| Some(*name) == group) {
            kind.count = kind.count.saturating_add(sum.count);
            kind.bytes = kind.bytes.saturating_add(sum.bytes);
            kind.nanoseconds = kind.nanoseconds.saturating_add(sum.nanoseconds);
        }
    }
    kinds.sort_by_key(|(_, kind)| kind.nanoseconds);
    kinds
}

fn write_need(text: &mut String, why: &str) {
    let _ = write!(text, "\n[[need]]\nneed = \"durable\"\nwhy = {}\nsource = \"the trace's syncs\"\n", quoted(why));
}

fn write_weight(text: &mut String, group: &str, kind: &Kind, share: f64, file: &str) {
    let each = kind.nanoseconds as f64 * 1e-9 / kind.count.max(1) as f64;
    let why = format!("{} calls that took {} each", human_count(kind.count as f64), human_seconds(each));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    let suite = if !file.is_empty() && file.chars().all(is_plain) { file } else { "*" };
    let series: Vec<String> = std::iter::once(format!("{suite}/replay/{group}"))
        .chain(similar(group, kind).iter().map(|&series| series.to_owned()))
        .map(|series| quoted(&series))
        .collect();
    let _ = write!(
        text,
        "\n[[weight]]\nwhat = {}\nshare = {share:.3}\nwhy = {}\nsource = \"the trace\"\nseries = [{}]\n",
        quoted(&format!("calls of kind {group}")),
        quoted(&why),
        series.join(", ")
    );
}

/// Work of the suites that is like a kind of call, where some is.
fn similar(group: &str, kind: &Kind) -> &'static [&'static str] {
    let is_large = kind.bytes / kind.count.max(1) >= LARGE_BYTES;
    match group {
        "read" if is_large => &["general/sequential-read/read", "quick/new-files/cold read"],
        "write" if is_large => &["general/sequential-write/write", "quick/new-files/new file"],
        "sync" => &["quick/commit/write"],
        "names" => &["general/small-files/delete", "quick/small-files/delete 16 KiB"],
        "stat" => &["operations/operations/stat*"],
        _ => &[],
    }
}

/// Small letters, digits and hyphens.
fn name(program: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = program.chars().take(40).map(letter).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "program".to_owned() } else { name.to_owned() }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::scenario::Scenario;
    use model::trace::{CallSum, Header};

    fn summary(calls: &[(&str, u64, u64, u64)]) -> Summary {
        let calls = calls.iter().map(|&(call, count, bytes, nanoseconds)| CallSum {
            call: call.to_owned(),
            count,
            bytes,
            nanoseconds,
            ..CallSum::default()
        });
        let header = Header { command: vec!["/usr/bin/My \"App\"".to_owned()], ..Header::default() };
        Summary { header, calls: calls.collect(), syncs: 3, ..Summary::default() }
    }

    #[test]
    fn kinds_weigh_what_they_took() {
        let calls = [
            ("read", 10, 10 << 20, 200),
            ("pread64", 10, 10 << 20, 100),
            ("fsync", 3, 0, 600),
            ("openat", 4, 0, 96),
            ("close", 4, 0, 4),
        ];
        let scenario = Scenario::from_toml(&scenario(&summary(&calls), "app.trace").unwrap()).unwrap();
        assert_eq!((scenario.name.as_str(), scenario.title.as_str()), ("my--app", "My \"App\""));
        let of = |what: &str| {
            let weight = scenario.weight.iter().find(|weight| weight.what.ends_with(what)).expect("it is weighed");
            (weight.share, weight.series.len())
        };
        assert_eq!((of("sync"), of("read"), of("open")), ((0.603, 2), (0.301, 3), (0.096, 1)));
        // Too little.
        assert_eq!(scenario.weight.len(), 3);
        assert_eq!(scenario.need.len(), 1);
        assert!(scenario.weight.iter().all(|weight| weight.series[0].matches("app.trace", "replay", kind_of(weight))));
    }

    fn kind_of(weight: &model::scenario::Weight) -> &str {
        weight.what.rsplit(' ').next().unwrap_or_default()
    }

    #[test]
    fn hostile_names_are_text_and_a_trace_without_times_has_no_weights() {
        let mut hostile = summary(&[("read", 1, 0, 10)]);
        hostile.header.command = vec!["\u{1b}[31m\"\n[[need]]".to_owned()];
        let scenario = Scenario::from_toml(&super::scenario(&hostile, "a*/b").unwrap()).unwrap();
        assert!(!scenario.title.contains('\u{1b}') && scenario.need.len() == 1);
        assert!(scenario.weight[0].series[0].matches("anything", "replay", "read"));
        assert!(super::scenario(&summary(&[("read", 1, 0, 0)]), "x").is_err());
        // Times that are longer than any.
        let most = u64::MAX;
        let long = summary(&[("read", most, most, most), ("pread64", most, most, most), ("fsync", 1, 0, most)]);
        let scenario = Scenario::from_toml(&super::scenario(&long, "x").unwrap()).unwrap();
        assert_eq!(scenario.weight.iter().map(|weight| weight.share).collect::<Vec<_>>(), [0.5, 0.5]);
    }
}
