//! The published figures that are built in.

use crate::failure::Failure;
use crate::{owned, state, suites};
use model::bounds::TOML_BYTES;
use model::findings::PublishedComparison;
use model::published::{PREFIX, Published};
use model::record::Record;
use model::workload::Suite;
use std::path::Path;

/// The articles: name and TOML.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("openeuler-2203", include_str!("../../../published/openeuler-2203.toml")),
    ("phytium-axvisor", include_str!("../../../published/phytium-axvisor.toml")),
    ("centos7-nvme", include_str!("../../../published/centos7-nvme.toml")),
    ("appenders-2011", include_str!("../../../published/appenders-2011.toml")),
    ("raid5-2gb", include_str!("../../../published/raid5-2gb.toml")),
];

/// Whether what stands behind `published:` is a file, and not the name of an article.
pub fn is_file(name: &str) -> bool {
    let ends = |end: &str| Path::new(name).extension().is_some_and(|of| of == end);
    name.contains('/') || ends("toml") || ends("jsonl")
}

/// The record that `published:FILE` names, where the file is one: somebody shared it, and it is compared like any other.
pub fn record_of(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).filter(|file| is_file(file) && state::is_record(Path::new(file)))
}

/// Reads the figures of a file that somebody wrote.
fn read_file(name: &str) -> Result<Published, Failure> {
    let text = owned::text(Path::new(name), TOML_BYTES).map_err(|error| {
        Failure::usage(format!(
            "cannot read the figures of {name}: {error}; name a TOML file of docs/published.md's form"
        ))
    })?;
    let known = Published::from_toml(&text).map_err(|what| {
        Failure::usage(format!("{name}: {what} (published/openeuler-2203.toml shows how such a file is written)"))
    })?;
    // It is called what it was asked for by.
    Ok(Published { name: name.to_owned(), ..known })
}

/// Finds published figures by their name, or reads those of a file.
///
/// # Errors
/// When there are none of that name: the ones there are, with what they compare; when a file cannot be read, or is wrong.
pub fn find(name: &str) -> Result<Published, Failure> {
    if is_file(name) {
        return read_file(name);
    }
    let read = |name: &str, text: &str| {
        Published::from_toml(text).map_err(|error| Failure::failed(format!("built-in {PREFIX}{name}: {error}")))
    };
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return read(name, text);
    }
    let mut list = String::new();
    for (name, text) in BUILT_IN {
        list.push_str(&format!("\n  {PREFIX}{name:<17}{}", read(name, text)?.title));
    }
    let what = match name {
        "" => format!("{PREFIX} names no article; write its name right behind the colon, without a space"),
        _ if state::resolve(name).is_ok() || name == "last" || name.starts_with("last~") => {
            format!("`{name}` is a record and no article; write it without {PREFIX}, and name an article")
        }
        _ => {
            let meant = model::nearest(name, BUILT_IN.iter().map(|(known, _)| *known));
            let meant = meant.map_or(String::new(), |near| format!(" (did you mean {PREFIX}{near}?)"));
            format!("there are no published figures `{}`{meant}; choose one", name.escape_debug())
        }
    };
    Err(Failure::usage(format!("{what}:{list}")))
}

/// The built-in suite that an article's figures belong to, as a record raced it; `None`: it is not built in
/// yet.
///
/// # Errors
/// When the built-in suite is wrong.
pub fn suite_of(published: &Published, record: &Record) -> Result<Option<Suite>, Failure> {
    let mut suite = suites::find_built_in(&published.suite)?;
    if let (true, Some(suite)) = (record.header.plan.as_published, &mut suite) {
        suite.do_as_published().map_err(Failure::failed)?;
    }
    Ok(suite)
}

/// A record beside every article of its suite that shares figures with it.
///
/// # Errors
/// When a built-in file is wrong.
pub fn beside(record: &Record, record_name: &str) -> Result<Vec<PublishedComparison>, Failure> {
    let mut found = Vec::new();
    for (name, _) in BUILT_IN {
        let published = find(name)?;
        if published.suite != record.header.plan.suite {
            continue;
        }
        let suite = suite_of(&published, record)?;
        found.push(stats::compare_published::compare_published(record, &published, suite.as_ref(), record_name));
    }
    found.retain(|comparison| !comparison.is_empty());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::workload::Workload;

    fn all() -> Vec<Published> {
        BUILT_IN.iter().map(|(name, _)| find(name).unwrap()).collect()
    }

    #[test]
    fn every_article_is_read_and_carries_its_own_name() {
        for (name, _) in BUILT_IN {
            assert_eq!(find(name).unwrap().name, *name);
        }
        let Err(refused) = find("nope") else { panic!("nope was found") };
        assert!(BUILT_IN.iter().all(|(name, _)| refused.message.contains(name)), "{}", refused.message);
    }

    #[test]
    fn no_figure_of_an_article_is_missing() {
        // Cells of the article's tables, and numbers of its text where it has no table.
        let cells = |name: &str| match name {
            // Seven tables of three filesystems: 4, 5, 5, 5, 6, 4 and 5 columns; four figures of the
            // closing summary that differ from them.
            "openeuler-2203" => 3 * (4 + 5 + 5 + 5 + 6 + 4 + 5) + 4,
            // 31 rows of two times and a speed-up, 21 of them with two throughputs; five in the summary.
            "phytium-axvisor" => 31 * 3 + 21 * 2 + 5,
            "centos7-nvme" => 1,
            "appenders-2011" => 20,
            // Four columns of four filesystems, and a chart of four times.
            "raid5-2gb" => 4 * 4 + 4,
            other => panic!("{other} is not counted here"),
        };
        for published in all() {
            assert_eq!(published.figure.len(), cells(&published.name), "{}", published.name);
        }
    }

    #[test]
    fn figures_name_workloads_and_groups_of_their_suite() {
        // Their articles print a figure for every group; the others chose, or drew charts.
        const WHOLE: [&str; 3] = ["general", "operations", "appenders"];
        // The article drew these results and gives no number of them.
        const DRAWN: [&str; 1] = ["appenders-2000"];
        for published in all() {
            let suite = suites::find(&published.suite).unwrap();
            for figure in &published.figure {
                let workload = suite.workload.iter().find(|of| of.name == figure.workload);
                let groups = workload.unwrap_or_else(|| panic!("no workload {}", figure.workload)).groups();
                let known = figure.group == model::published::TOTAL || groups.contains(&figure.group);
                assert!(known, "{}: no group {}", figure.workload, figure.group);
            }
            // And the other way round: every group of the suite has its figures.
            let printed = |workload: &&Workload| {
                WHOLE.contains(&published.suite.as_str()) && !DRAWN.contains(&workload.name.as_str())
            };
            for workload in suite.workload.iter().filter(printed) {
                for group in workload.groups() {
                    let has = published.figure.iter().any(|of| of.workload == workload.name && of.group == group);
                    assert!(has, "{}, {group}: no published figure", workload.name);
                }
            }
        }
    }

    #[test]
    fn speed_ups_and_totals_follow_from_the_times() {
        let published = find("phytium-axvisor").unwrap();
        let seconds = |group: &str, lane: &str| {
            let of = |figure: &&model::published::Figure| {
                figure.group == group && figure.lane == lane && matches!(figure.canonical(), Some(("seconds", _)))
            };
            published.figure.iter().find(of).and_then(|figure| figure.canonical()).map(|(_, value)| value).unwrap()
        };
        let mut faster = 0;
        for figure in published.figure.iter().filter(|figure| figure.metric == "speed_up") {
            let ratio = seconds(&figure.group, "linux") / seconds(&figure.group, "axvisor");
            // Times have two decimals, of which the shortest are 0.22 ms.
            assert!((ratio / figure.value - 1.0).abs() < 0.025, "{}: {ratio} and {}", figure.group, figure.value);
            faster += usize::from(ratio > 1.0 && figure.group != model::published::TOTAL);
        }
        assert_eq!(faster, 29);
        let groups = suites::find("operations").unwrap().workload[0].groups();
        assert_eq!(groups.len(), 31);
        for lane in ["axvisor", "linux"] {
            let sum: f64 = groups.iter().map(|group| seconds(group, lane)).sum();
            assert!((sum - seconds("total", lane)).abs() < 0.01, "{lane}: {sum}");
        }
    }

    #[test]
    fn throughput_that_does_not_follow_from_time_and_size_carries_a_note() {
        let published = find("phytium-axvisor").unwrap();
        let suite = suites::find("operations").unwrap();
        let model::workload::Kind::Operations(operations) = &suite.workload[0].kind else { panic!("another kind") };
        let mut checked = 0;
        for figure in published.figure.iter().filter(|figure| figure.group != model::published::TOTAL) {
            let Some(("bandwidth_bytes_per_second", printed)) = figure.canonical() else { continue };
            let step = operations.step_named(&figure.group).unwrap();
            let time = published.figure.iter().find(|of| {
                of.group == figure.group && of.lane == figure.lane && of.canonical().is_some_and(|of| of.0 == "seconds")
            });
            let seconds = time.unwrap().canonical().unwrap().1;
            // The Linux side was cut to 10 ms before it was divided.
            let seconds = if figure.lane == "linux" { (seconds * 100.0).floor() / 100.0 } else { seconds };
            let follows = bytes_of(operations, step) / seconds;
            // Two decimals, some of them cut: 0.61 may stand for anything up to 0.62.
            let fits = (printed - follows).abs() <= 0.011 * 1_048_576.0 + 0.002 * follows;
            assert_eq!(fits, figure.note.is_none(), "{} on {}: {printed} and {follows}", figure.group, figure.lane);
            checked += 1;
        }
        assert_eq!(checked, 42);
    }

    /// Bytes that a step moves.
    fn bytes_of(operations: &model::workload::Operations, step: &model::operations::OperationStep) -> f64 {
        use model::operations::{FileSize, Operation};
        let things = operations.things(step);
        let count = (things.end - things.start) as f64;
        let set = operations.set(&step.files).unwrap();
        match step.operation {
            Operation::Append | Operation::RandomRead | Operation::RandomWrite => count * step.block().0 as f64,
            _ => match &set.size {
                FileSize::Each(sizes) => {
                    sizes[things.start as usize..things.end as usize].iter().map(|of| of.0 as f64).sum()
                }
                size => count * size.mean() as f64,
            },
        }
    }
}
