//! One figure over many records, in every format: it words what the statistics found and judges nothing.

use crate::clean::{name, shorten};
use crate::layout::{GLUE, align};
use crate::words::race::imported_from;
use crate::{ReportError, Style, csv as rows, facts, figures, json, markdown};
use model::machine::is_untold;
use model::page::{Trend, TrendPoint};

/// What `fairlane trend --format` takes.
pub const TREND_FORMATS: [&str; 4] = ["text", "markdown", "csv", "json"];

/// Blocks of a chart, from the lowest figure to the highest.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Blocks of a chart at most; more points share them.
const MOST_BLOCKS: usize = 60;
/// Records left out that are named; the others are counted, and stand in JSON.
const MOST_LEFT_OUT: usize = 20;
/// Columns of a kernel's release and of a record's name.
const KERNEL_COLUMNS: usize = 40;
const RECORD_COLUMNS: usize = 80;
/// What stands below figures of which some stand across a change.
const NO_TREND: &str = "Figures across another machine or disk are no trend; whether a kernel is faster, fairlane compare \
                        --baseline decides.";

/// Renders the course of figures.
///
/// # Errors
/// [`ReportError`]: trends have no such format.
pub fn render_trends(trends: &[Trend], format: &str, style: &Style) -> Result<String, ReportError> {
    match format {
        "text" => Ok(trends.iter().map(|trend| text(trend, style)).collect::<Vec<_>>().join("\n")),
        "markdown" => Ok(trends.iter().map(in_markdown).collect::<Vec<_>>().join("\n")),
        "csv" => Ok(csv(trends)),
        "json" => Ok(json::pretty(&trends)),
        other => Err(ReportError::Unfit(format!(
            "there is no trend in format `{}`; choose one of {}",
            shorten(other, 40),
            TREND_FORMATS.join(", ")
        ))),
    }
}

/// What is shown, which way is better, and whether another tool measured it.
fn heading(trend: &Trend) -> String {
    let title = shorten(&trend.title, facts::TITLE_COLUMNS);
    let metric = shorten(&trend.metric.replace('_', " "), 60);
    let better = if trend.higher_is_better { "more is better" } else { "less is better" };
    let imported = match trend.imported.as_str() {
        "" => String::new(),
        format => format!("; {}", imported_from(&[format])),
    };
    format!("{title}, {}: {metric}, {better}{imported}", shorten(&trend.group, 60))
}

/// The lanes, in the order in which they come up first.
fn lanes(trend: &Trend) -> Vec<(&str, Vec<&TrendPoint>)> {
    let mut lanes: Vec<(&str, Vec<&TrendPoint>)> = Vec::new();
    for point in &trend.points {
        match lanes.iter_mut().find(|(lane, _)| *lane == point.lane) {
            Some((_, points)) => points.push(point),
            None => lanes.push((&point.lane, vec![point])),
        }
    }
    lanes
}

/// Date, kernel, figure with its interval, and what changed since the point before.
fn cells(trend: &Trend, point: &TrendPoint, before: Option<&TrendPoint>) -> [String; 5] {
    let unit = figures::unit_of_metric(&trend.metric);
    let figure = figures::rate_with_interval(&unit, point.mean, point.low, point.high).replace(GLUE, " ");
    [
        shorten(&point.started, 20),
        shorten(&point.kernel, KERNEL_COLUMNS),
        figure.trim().to_owned(),
        changes(point, before).join(", "),
        shorten(&point.record, RECORD_COLUMNS),
    ]
}

/// What makes a figure another one's than the figure before it.
fn changes(point: &TrendPoint, before: Option<&TrendPoint>) -> Vec<&'static str> {
    let Some(before) = before else { return Vec::new() };
    let identities = [&point.machine_id_hash, &before.machine_id_hash];
    // Of a record that was shared nobody can tell which machine it was.
    let is_known = identities.iter().all(|identity| !identity.is_empty() && !is_untold(identity));
    // A machine's line names its kernel too.
    let other_machine = is_known && identities[0] != identities[1];
    let changed = [
        (other_machine, "another machine"),
        (point.disk != before.disk, "another disk"),
        (point.kernel != before.kernel, "another kernel"),
    ];
    changed.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect()
}

fn text(trend: &Trend, style: &Style) -> String {
    let mut out = heading(trend) + "\n";
    let mut is_broken = false;
    for (lane, points) in lanes(trend) {
        let means: Vec<f64> = points.iter().map(|point| point.mean).collect();
        let most = MOST_BLOCKS.min(style.columns() / 2);
        out.push_str(&format!("\n{}  {}\n", name(lane), chart(&means, most)));
        let mut table = Vec::new();
        let mut before = None;
        for &point in &points {
            is_broken |= !changes(point, before).is_empty();
            table.push(cells(trend, point, before).to_vec());
            before = Some(point);
        }
        for line in align(&table) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    if trend.points.is_empty() {
        out.push_str("\nno record is left\n");
    }
    if is_broken {
        out.push_str(&format!("\n{NO_TREND}\n"));
    }
    if !trend.left_out.is_empty() {
        out.push_str(&format!("\nleft out: {}\n", trend.left_out.len()));
        for why in trend.left_out.iter().take(MOST_LEFT_OUT) {
            out.push_str(&format!("  {}\n", shorten(why, 200)));
        }
        if let Some(more @ 1..) = trend.left_out.len().checked_sub(MOST_LEFT_OUT) {
            out.push_str(&format!("  and {more} more; --format json names them all\n"));
        }
    }
    out
}

/// Figures as blocks, the lowest the smallest; where they are more than `most`, neighbours share one.
fn chart(means: &[f64], most: usize) -> String {
    let count = means.len().min(most.max(1));
    let shared = |at: usize| {
        let (from, to) = (at * means.len() / count, (at + 1) * means.len() / count);
        let part = means.get(from..to).unwrap_or_default();
        part.iter().sum::<f64>() / part.len().max(1) as f64
    };
    let heights: Vec<f64> = (0..count).map(shared).collect();
    let usable = || heights.iter().copied().filter(|height| height.is_finite());
    let (low, high) = (usable().fold(f64::INFINITY, f64::min), usable().fold(f64::NEG_INFINITY, f64::max));
    let block = |height: f64| {
        let share = (height - low) / (high - low);
        match share.is_finite() {
            true => BLOCKS[((share * 7.0).round().clamp(0.0, 7.0)) as usize],
            false if height.is_finite() => BLOCKS[3],
            false => '?',
        }
    };
    heights.into_iter().map(block).collect()
}

fn in_markdown(trend: &Trend) -> String {
    let mut out = format!("**{}**\n\n", markdown::escape(&heading(trend)));
    out.push_str("| lane | started | kernel | mean and 95 % interval | since the one before | record |\n");
    out.push_str("| --- | --- | --- | ---: | --- | --- |\n");
    let mut is_broken = false;
    for (lane, points) in lanes(trend) {
        let mut before = None;
        for &point in &points {
            is_broken |= !changes(point, before).is_empty();
            let mut row = vec![markdown::code(&name(lane), true)];
            row.extend(cells(trend, point, before).iter().map(|cell| markdown::escape(cell)));
            markdown::row(&mut out, &row);
            before = Some(point);
        }
    }
    if is_broken {
        out.push_str(&format!("\n{NO_TREND}\n"));
    }
    if !trend.left_out.is_empty() {
        markdown::open(&mut out, &format!("left out: {}", trend.left_out.len()));
        for why in trend.left_out.iter().take(MOST_LEFT_OUT) {
            out.push_str(&format!("- {}\n", markdown::escape(&shorten(why, 200))));
        }
        if let Some(more @ 1..) = trend.left_out.len().checked_sub(MOST_LEFT_OUT) {
            out.push_str(&format!("- and {more} more\n"));
        }
        markdown::close(&mut out);
    }
    out
}

const COLUMNS: [&str; 16] = [
    "workload",
    "group",
    "lane",
    "metric",
    "unit",
    "higher_is_better",
    "record",
    "record_started",
    "kernel",
    "machine",
    "machine_id_hash",
    "disk",
    "mean",
    "low",
    "high",
    "imported_from",
];

/// A row per point.
fn csv(trends: &[Trend]) -> String {
    let mut table = vec![COLUMNS.map(str::to_owned).to_vec()];
    for trend in trends {
        table.extend(trend.points.iter().map(|point| {
            vec![
                rows::text(&trend.workload),
                rows::text(&trend.group),
                rows::text(&point.lane),
                rows::text(&trend.metric),
                rows::text(&figures::unit_of_metric(&trend.metric)),
                trend.higher_is_better.to_string(),
                rows::text(&point.record),
                rows::text(&point.started),
                rows::text(&point.kernel),
                rows::text(&point.machine),
                rows::text(&point.machine_id_hash),
                rows::text(&point.disk),
                rows::number(point.mean),
                rows::optional(point.low),
                rows::optional(point.high),
                rows::text(&trend.imported),
            ]
        }));
    }
    rows::table(&table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(record: &str, lane: &str, kernel: &str, mean: f64) -> TrendPoint {
        TrendPoint {
            record: record.to_owned(),
            started: format!("2026-0{}-01T00:00:00Z", record.len()),
            kernel: kernel.to_owned(),
            machine: format!("Debian, Linux {kernel}, A processor"),
            machine_id_hash: "abc".to_owned(),
            disk: "vda, 256 GiB".to_owned(),
            lane: lane.to_owned(),
            mean,
            low: Some(mean * 0.5),
            high: Some(mean * 2.0),
        }
    }

    fn trend() -> Trend {
        Trend {
            workload: "commit".to_owned(),
            title: "commit 4 KiB".to_owned(),
            group: "write".to_owned(),
            metric: "operations_per_second".to_owned(),
            higher_is_better: true,
            imported: String::new(),
            points: vec![
                point("a", "ext4", "6.12.0", 1000.0),
                point("a", "xfs", "6.12.0", 1500.0),
                point("bb", "ext4", "6.12.0", 2000.0),
                TrendPoint { machine_id_hash: "def".to_owned(), ..point("ccc", "ext4", "6.18.0", 3000.0) },
            ],
            left_out: vec!["old: it was measured in latency p99 ns".to_owned()],
        }
    }

    #[test]
    fn a_line_per_record_shows_date_kernel_figure_and_what_changed() {
        let text = render_trends(&[trend()], "text", &Style::default()).unwrap();
        assert!(
            text.starts_with("commit 4 KiB, write: operations per second, more is better\n\next4  ▁▅█\n"),
            "{text}"
        );
        let line = |record: &str| text.lines().find(|line| line.ends_with(record)).unwrap_or_else(|| panic!("{text}"));
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(line(" bb")).starts_with("2026-02-01T00:00:00Z 6.12.0 2k ops/s"), "{text}");
        assert!(words(line(" ccc")).ends_with("another machine, another kernel ccc"), "{text}");
        assert!(
            text.contains("\nxfs  ▄\n") && text.contains("are no trend") && text.contains("left out: 1\n  old: "),
            "{text}"
        );
        let alone = Trend { points: vec![point("a", "ext4", "6.12.0", 1.0)], left_out: Vec::new(), ..trend() };
        let text = render_trends(&[alone], "text", &Style::default()).unwrap();
        assert!(!text.contains("no trend") && !text.contains("left out"), "{text}");
    }

    #[test]
    fn what_another_tool_measured_is_marked_in_every_format() {
        let imported = [Trend { imported: "fio JSON\u{1b}".to_owned(), ..trend() }];
        for format in TREND_FORMATS {
            let shown = render_trends(&imported, format, &Style::default()).unwrap();
            assert!(shown.contains("imported") && shown.contains("fio JSON"), "{format}: {shown}");
            assert!(!shown.contains('\u{1b}'), "{format}: {shown}");
        }
        let text = render_trends(&imported, "text", &Style::default()).unwrap();
        assert!(
            text.lines().next().is_some_and(|line| line.contains("more is better; imported from fio JSON")),
            "{text}"
        );
        assert!(!render_trends(&[trend()], "text", &Style::default()).unwrap().contains("imported"));
    }

    #[test]
    fn a_record_that_was_shared_is_of_no_other_machine() {
        let of =
            |identity: &str| TrendPoint { machine_id_hash: identity.to_owned(), ..point("a", "ext4", "6.12.0", 1.0) };
        let told = of("def");
        for untold in ["", "shared-0123456789abcdef", "boot-of-shared-0123456789abcdef-1"] {
            assert!(changes(&told, Some(&of(untold))).is_empty(), "{untold}");
            assert!(changes(&of(untold), Some(&told)).is_empty(), "{untold}");
        }
        let others = [of("shared-0123456789abcdef"), of("shared-fedcba9876543210")];
        assert!(changes(&others[0], Some(&others[1])).is_empty());
        assert_eq!(changes(&told, Some(&of("abc"))), ["another machine"]);
    }

    #[test]
    fn every_format_holds_every_point_and_no_other_format_is_taken() {
        let both = [trend(), Trend { group: "read".to_owned(), ..trend() }];
        for format in TREND_FORMATS {
            let shown = render_trends(&both, format, &Style::default()).unwrap();
            assert_eq!(shown.matches("ccc").count(), 2, "{format}: {shown}");
        }
        let shown = render_trends(&both, "json", &Style::default()).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Trend>>(&shown).unwrap(), both);
        let csv = render_trends(&both, "csv", &Style::default()).unwrap();
        let mut read = ::csv::Reader::from_reader(csv.as_bytes());
        let rows: Vec<::csv::StringRecord> = read.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), rows[3].get(6), rows[3].get(12)), (8, Some("ccc"), Some("3000")));
        let refused = render_trends(&both, "html\u{1b}", &Style::default()).unwrap_err().to_string();
        assert!(refused.contains("`html`") && refused.contains("text, markdown, csv, json"), "{refused}");
    }

    #[test]
    fn a_chart_has_room_for_any_figures() {
        assert_eq!(chart(&[], 10), "");
        assert_eq!(chart(&[5.0, 5.0], 10), "▄▄");
        assert_eq!(chart(&[0.0, f64::NAN, 7.0], 10), "▁?█");
        assert_eq!(chart(&[1.0, 1.0, 3.0, 3.0, 8.0, 8.0], 3), "▁▃█");
        assert_eq!(chart(&(0..10_000).map(f64::from).collect::<Vec<_>>(), 60).chars().count(), 60);
    }
}
