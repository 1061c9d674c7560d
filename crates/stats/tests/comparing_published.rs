//! A race beside published figures.

use crate::common;

use common::{io, lane, record, run};
use model::findings::{PublishedComparison, PublishedRow};
use model::plan::Rounds;
use model::published::Published;
use model::record::Record;
use model::workload::{Pattern, Suite, Workload};
use stats::compare_published::{Nothing, compare_published, nothing};

const ARTICLE: &str = r#"
name = "article"
title = "two filesystems"
suite = "s"
hardware = "a large machine"
kernel = "5.10"
process_per_operation = true
method = ["a loop in a shell"]
caveats = ["one run"]
lane = [
    { name = "own", filesystem = "rsext4", journal = false },
    { name = "linux", filesystem = "ext4" },
    { name = "fast", filesystem = "ext4", options = ["nobarrier"], barriers = false },
]
figure = [
    { workload = "files", group = "create", lane = "own", metric = "milliseconds", value = 10 },
    { workload = "files", group = "create", lane = "linux", metric = "milliseconds", value = 200 },
    { workload = "files", group = "create", lane = "own", against = "linux", metric = "speed_up", value = 20 },
    { workload = "files", group = "delete", lane = "own", against = "linux", metric = "speed_up", value = 4 },
    { workload = "files", group = "create", lane = "linux", metric = "operations_per_second", value = 50, note = "not what the time gives" },
    { workload = "files", group = "total", lane = "linux", metric = "seconds", value = 1.5 },
    { workload = "files", group = "read", lane = "linux", metric = "seconds", value = 1, note = "closing summary says so" },
    { workload = "reads", group = "read", lane = "linux", metric = "operations_per_second", value = 8050 },
    { workload = "reads", group = "read", lane = "fast", metric = "operations_per_second", value = 8040 },
    { workload = "reads", group = "read", lane = "linux", metric = "cpu_percent", value = 0.9, to = 1.2, qualifier = "about" },
    { workload = "elsewhere", group = "write", lane = "linux", metric = "seconds", value = 3 },
]
[source]
site = "a blog"
language = "English"
"#;

const SUITE: &str = r#"
name = "s"
about = "a test"
[[workload]]
name = "files"
title = "files"
kind = "operations"
files = [{ name = "small", count = 100, size = "1KiB" }]
step = [{ operation = "create", files = "small" }, { name = "delete", operation = "unlink", files = "small" }]
"#;

fn suite() -> Suite {
    Suite::from_toml(SUITE).unwrap()
}

fn article() -> Published {
    Published::from_toml(ARTICLE).unwrap()
}

/// rsext4 and ext4 with and without barriers: creating takes 1 s at every rate, as `common::trial` says.
fn race() -> Record {
    let mut fast = lane("quick");
    fast.filesystem = "ext4".into();
    fast.mount_options.push("nobarrier".into());
    fast.promises.barriers = false;
    let mut own = lane("rsext4");
    own.venue = "library".into();
    let reads = Workload { name: "reads".into(), ..io("reads", Pattern::RandRead, 1, 0) };
    let workloads = vec![suite().workload[0].clone(), reads];
    // The lane without barriers stands first: it must not be taken for the article's ordinary one.
    let mut race = record(vec![fast, own, lane("ext4")], workloads, Rounds::Auto, false);
    run(&mut race, 6, &[900.0, 2000.0, 1000.0], 0.0, 1);
    for trial in race.trials.iter_mut().filter(|trial| trial.workload == "files") {
        let seconds = if trial.lane == "rsext4" { 0.5 } else { 2.0 };
        for group in &mut trial.groups {
            // Exact in binary, so that operations over the rate are these seconds.
            (group.seconds, group.operations) = (seconds, 256);
            group.metrics.insert("operations_per_second".to_owned(), 256.0 / seconds);
        }
    }
    race
}

fn compared(race: &Record) -> PublishedComparison {
    compare_published(race, &article(), Some(&suite()), "mine")
}

fn row<'a>(of: &'a PublishedComparison, group: &str, metric: &str) -> &'a PublishedRow {
    of.rows.iter().find(|row| row.group == group && row.metric == metric).unwrap_or_else(|| panic!("{group} {metric}"))
}

#[test]
fn lanes_are_paired_by_filesystem_and_options() {
    let of = compared(&race());
    let pairs: Vec<_> = of.lanes.iter().map(|pair| (pair.published.as_str(), pair.yours.as_deref())).collect();
    assert_eq!(pairs, [("own", Some("rsext4")), ("linux", Some("ext4")), ("fast", Some("quick"))]);
    let mut alone = race();
    alone.header.lanes.remove(1);
    let of = compared(&alone);
    assert_eq!(of.lanes[0].yours, None);
    assert!(of.warnings.iter().any(|warning| warning.contains("race rsext4 beside")), "{:?}", of.warnings);
}

#[test]
fn both_ratios_stand_side_by_side_and_above_one_the_first_does_better() {
    let of = compared(&race());
    let create = row(&of, "create", "seconds");
    assert!(!create.higher_is_better);
    let figures: Vec<_> = create.lanes.iter().map(|lane| (lane.yours.unwrap(), lane.published.unwrap())).collect();
    assert!((figures[0].0 - 0.5).abs() < 1e-9 && (figures[1].0 - 2.0).abs() < 1e-9);
    assert!((figures[0].1 - 0.01).abs() < 1e-12 && (figures[1].1 - 0.2).abs() < 1e-12);
    let pair = &create.pairs[0];
    assert!((pair.yours.unwrap() - 4.0).abs() < 1e-9 && (pair.published.unwrap() - 20.0).abs() < 1e-9);
    // The speed-up follows from the times: it is no row of its own. Where it stands alone, it is one.
    assert_eq!(of.rows.iter().filter(|row| row.group == "create" && row.metric == "seconds").count(), 1);
    let delete = row(&of, "delete", "seconds");
    assert_eq!((delete.lanes[0].published, delete.pairs[0].published), (None, Some(4.0)));
    assert!((delete.pairs[0].yours.unwrap() - 4.0).abs() < 1e-9);
}

#[test]
fn totals_notes_ranges_and_percentages_are_kept() {
    let of = compared(&race());
    assert!((row(&of, "total", "seconds").lanes[0].yours.unwrap() - 4.0).abs() < 1e-9);
    let rate = row(&of, "create", "operations_per_second");
    assert_eq!(rate.lanes[0].note.as_deref(), Some("not what the time gives"));
    // 0.05 s of user time in a window of 1 s.
    let cpu = &row(&of, "read", "cpu_percent").lanes[0];
    assert!((cpu.yours.unwrap() - 5.0).abs() < 1e-9);
    assert_eq!((cpu.published, cpu.published_to), (Some(0.9), Some(1.2)));
    // What contradicts a table, and what the record did not do, is not compared.
    assert!(!of.rows.iter().any(|row| row.workload == "elsewhere" || (row.workload == "files" && row.group == "read")));
    assert!(of.warnings.iter().any(|warning| warning.ends_with("elsewhere")), "{:?}", of.warnings);
}

#[test]
fn the_reasons_name_hardware_method_promises_and_the_disk() {
    let of = compared(&race());
    let said: Vec<String> = of.differences.iter().map(|of| format!("{}: {}", of.subject, of.what)).collect();
    let said = said.join("\n");
    for part in [
        "hardware: the article: a large machine; yours: 4 CPUs",
        "method: the article: a loop in a shell",
        "race with --as-published",
        "promises: the article's own without crash-safe metadata, your rsext4 with",
        "promises: your ext4 and quick: different promises",
        "disk: the article's lanes lie within 2 % of each other in reads",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    assert!(!said.contains("differs from suite"), "{said}");
}

#[test]
fn another_method_or_other_sizes_than_the_suites_are_named() {
    let mut race = race();
    let model::workload::Kind::Operations(operations) = &mut race.header.plan.workloads[0].kind else {
        panic!("another kind")
    };
    operations.method = model::operations::Method::ProcessPerOperation;
    operations.files[0].count = 50;
    operations.loops = 5;
    let of = compared(&race);
    let said = |part: &str| of.differences.iter().any(|of| of.what.contains(part));
    assert!(said("which matches the article") && !said("race with --as-published"));
    assert!(said("files differs from suite s in files.small.count, loops and method"));
    assert!(said("which matches the article, but for rsext4, called inside Fairlane"));
    assert!(said("yours: of files each round's figure is the median of 5 passes"));
}

#[test]
fn a_race_of_something_else_has_nothing_in_common() {
    let mut other = record(vec![lane("ext4")], vec![io("w", Pattern::RandWrite, 1, 0)], Rounds::Auto, true);
    run(&mut other, 6, &[1000.0], 0.01, 1);
    let of = compared(&other);
    assert!(of.is_empty() && of.rows.is_empty());
    assert_eq!(nothing(&other, &article()), Nothing::OtherWork);
    assert!(!compared(&race()).is_empty());
}

#[test]
fn work_that_was_planned_or_raced_is_not_said_to_be_of_another_suite() {
    let mut race = race();
    race.trials.clear();
    let (workload, title) = ("files".to_owned(), "files and reads 4 KiB".to_owned());
    assert!(compared(&race).is_empty());
    assert_eq!(nothing(&race, &article()), Nothing::NotMeasured { workload, title: title.clone() });
    // It was raced, and none of its groups is in the article.
    let mut race = self::race();
    race.trials.iter_mut().for_each(|trial| trial.groups.iter_mut().for_each(|group| group.name.push('x')));
    assert!(compared(&race).is_empty());
    assert_eq!(nothing(&race, &article()), Nothing::OtherFigures { title });
    let mut article = article();
    article.lane.iter_mut().for_each(|lane| lane.filesystem = "zfs".to_owned());
    assert_eq!(nothing(&race, &article), Nothing::OtherLanes);
}

#[test]
fn figures_that_do_not_hold_together_are_refused() {
    for (from, to, says) in [
        ("value = 10 }", "value = -1 }", "no positive figure"),
        ("to = 1.2", "to = 0.1", "its range from 0.9 is empty"),
        ("metric = \"cpu_percent\"", "metric = \"luck\"", "not known"),
        ("lane = \"fast\", metric", "lane = \"slow\", metric", "not listed"),
        ("group = \"delete\"", "group = \"create\"", "two figures"),
        ("lane = \"own\", against = \"linux\", ", "lane = \"own\", ", "against"),
        ("value = 1.5 }", "value = 1.5, colour = 1 }", "colour"),
    ] {
        let error = Published::from_toml(&ARTICLE.replace(from, to)).unwrap_err();
        assert!(error.contains(says), "{to}: {error}");
    }
}

#[test]
fn rows_that_are_drawn_evenly_are_named_beside_an_article_on_a_database() {
    let article =
        ARTICLE.replace("workload = \"elsewhere\", group = \"write\"", "workload = \"db\", group = \"total\"");
    let article = Published::from_toml(&article).unwrap();
    let compared = |more: &str| {
        let text = format!(
            "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"db\"\ntitle = \"db\"\nkind = \"oltp\"\n\
             script = \"insert\"\nthreads = [4]\ncold = false\n{more}"
        );
        let workloads = Suite::from_toml(&text).unwrap().workload;
        let mut race = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Auto, false);
        run(&mut race, 6, &[900.0, 1000.0], 0.0, 1);
        let found = compare_published(&race, &article, None, "mine");
        found.differences.iter().any(|of| of.what.contains("db asked for each row as often as for any other"))
    };
    assert!(compared(""));
    assert!(!compared("distribution = \"special\""));
}
