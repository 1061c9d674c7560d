//! A race beside published figures, in words.

use crate::clean::shorten;
use crate::figures;
use model::findings::{PublishedComparison, PublishedFigures, PublishedRow};
use model::published::Qualifier;

pub(crate) const PUBLISHED: &str = "PUBLISHED";
pub(crate) const YOURS: &str = "YOURS";
pub(crate) const COLUMN_YOURS: &str = "yours";
pub(crate) const COLUMN_ARTICLE: &str = "article";
pub(crate) const COLUMN_GROUP: &str = "group";
pub(crate) const WHY: &str = "WHY THEY DIFFER";
pub(crate) const CAVEATS: &str = "THE ARTICLE";
pub(crate) const WHY_TITLE: &str = "Why they differ";
pub(crate) const CAVEATS_TITLE: &str = "What the article leaves open";
pub(crate) const NO_VERDICT: &str =
    "No verdicts: between the two lie other machines and methods. A ratio above 1x: the first lane does better.";
pub(crate) const NOTHING: &str = "Nothing in common: no workload and group of the record is in the article.";

/// Where the figures come from.
pub(crate) fn source(comparison: &PublishedComparison) -> String {
    let source = &comparison.source;
    let mut said = format!("{} (published:{}); {}", comparison.title, comparison.published, source.site);
    if let Some(author) = &source.author {
        said.push_str(&format!(", {author}"));
    }
    if let Some(year) = source.year {
        said.push_str(&format!(", {year}"));
    }
    said.push_str(&format!(", in {}", source.language));
    said
}

/// Your record and which lane stands for which.
pub(crate) fn record(comparison: &PublishedComparison) -> String {
    let pairs = comparison.lanes.iter().filter_map(|pair| {
        let yours = pair.yours.as_deref()?;
        Some(match yours == pair.published {
            true => yours.to_owned(),
            false => format!("{yours} for the article's {}", pair.published),
        })
    });
    let pairs: Vec<String> = pairs.collect();
    format!("{}, raced {}; lanes: {}", comparison.record, comparison.started, pairs.join(", "))
}

/// Heading of a column of your figures.
pub(crate) fn your_lane(lane: &str) -> String {
    format!("your {lane}")
}

/// Heading of a column of the article's figures.
pub(crate) fn articles_lane(lane: &str) -> String {
    format!("article's {lane}")
}

/// Columns of a metric's name in a heading.
const METRIC_COLUMNS: usize = 60;

/// What a metric is called in a heading.
pub(crate) fn metric(metric: &str) -> String {
    match metric {
        "seconds" => "time".to_owned(),
        "operations_per_second" => "operations per second".to_owned(),
        "bandwidth_bytes_per_second" => "throughput".to_owned(),
        "latency_mean_ns" => "mean latency".to_owned(),
        "cpu_percent" => "CPU of the jobs".to_owned(),
        "system_percent" => "system share of the CPU".to_owned(),
        "device_busy_percent" => "device busy".to_owned(),
        other => shorten(&other.replace('_', " "), METRIC_COLUMNS),
    }
}

/// A figure with its unit.
pub(crate) fn figure(metric: &str, value: f64) -> String {
    match metric {
        // Articles print seconds with decimals, and ratios of them are compared.
        "seconds" if value.is_finite() && value >= 1.0 => {
            let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            format!("{value:.digits$} s")
        }
        "seconds" => figures::brief(value),
        metric if metric.ends_with("_percent") => format!("{value:.2} %"),
        metric => figures::rate(&figures::unit_of_metric(metric), value),
    }
    .replace(crate::layout::GLUE, " ")
}

/// Your figure; a dash where there is none.
pub(crate) fn yours(row: &PublishedRow, lane: &PublishedFigures) -> String {
    lane.yours.map_or_else(|| "–".to_owned(), |value| figure(&row.metric, value))
}

/// The article's figure with its range, how exact it is, and a mark where a note stands beside it.
pub(crate) fn article(row: &PublishedRow, lane: &PublishedFigures) -> String {
    let Some(value) = lane.published else { return "–".to_owned() };
    let mut said = figure(&row.metric, value);
    if let Some(to) = lane.published_to {
        said = format!("{said} to {}", figure(&row.metric, to));
    }
    let said = match lane.qualifier {
        Some(Qualifier::About) => format!("about {said}"),
        Some(Qualifier::Above) => format!("above {said}"),
        Some(Qualifier::AtMost) => format!("at most {said}"),
        None => said,
    };
    if lane.note.is_some() { format!("{said} *") } else { said }
}

/// A ratio; a dash where there is none.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), figures::times)
}

/// The notes behind the marks, each once, with the places where they stand.
pub(crate) fn notes(comparison: &PublishedComparison) -> Vec<String> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for row in &comparison.rows {
        for lane in &row.lanes {
            let Some(note) = &lane.note else { continue };
            let place = format!("{} on {}", row.group, lane.lane);
            match said.iter_mut().find(|(known, _)| known == note) {
                Some((_, places)) => places.push(place),
                None => said.push((note.clone(), vec![place])),
            }
        }
    }
    said.into_iter().map(|(note, places)| format!("* {}: {note}", places.join("; "))).collect()
}
