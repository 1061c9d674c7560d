//! Figures that others published, as data: what was measured, on what, how, and what to beware of.
//!
//! The files lie in `published/` and are built into the binary; anybody may write another. They hold every figure as the
//! article prints it, so that it can be checked by eye; [`Figure::metric`] names its unit, and
//! [`Figure::canonical`] turns it into what records hold.

use crate::bounds::MOST_LANES;
use crate::findings::{PublishedComparison, PublishedRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What `compare` takes in place of a record: `published:NAME`.
pub const PREFIX: &str = "published:";

/// Figures of one file at most: each is looked at beside the others.
const MOST_FIGURES: usize = 2_000;

/// The group that stands for all groups of a workload together.
pub const TOTAL: &str = "total";

/// The figures of one article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What `published:` takes.
    pub name: String,
    /// What was compared, in a few words.
    pub title: String,
    /// The suite whose workloads and groups the figures name.
    pub suite: String,
    /// What it ran on, as far as the article tells.
    pub hardware: String,
    /// Its kernel, as far as the article tells.
    pub kernel: String,
    /// Operations on files were processes that a shell started: their times hold the start.
    pub process_per_operation: bool,
    /// What was run, how it was timed, what was synced.
    pub method: Vec<String>,
    /// What to beware of: what the figures cannot tell, and where they contradict each other.
    pub caveats: Vec<String>,
    /// The contestants.
    pub lane: Vec<PublishedLane>,
    /// The figures.
    pub figure: Vec<Figure>,
    /// Where they stand.
    pub source: Source,
}

/// Where figures were published, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The site.
    pub site: String,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u32>,
    /// The article's language.
    pub language: String,
}

/// A contestant of an article.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedLane {
    /// As the figures name it.
    pub name: String,
    /// The filesystem of the lane that it is put beside.
    pub filesystem: String,
    /// Mount options that such a lane has.
    #[serde(default)]
    pub options: Vec<String>,
    /// Whether it kept a journal or the like; `None`: as the filesystem does by default.
    #[serde(default)]
    pub journal: Option<bool>,
    /// Whether writes were ordered with flushes; `None`: as the filesystem does by default.
    #[serde(default)]
    pub barriers: Option<bool>,
    /// What it was, where the name does not say it.
    #[serde(default)]
    pub about: Option<String>,
}

/// One figure, as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Workload of the suite.
    pub workload: String,
    /// Group of the workload, or `total`.
    pub group: String,
    /// Name of the article's lane.
    pub lane: String,
    /// The lane it is measured against; only of `speed_up`.
    #[serde(default)]
    pub against: Option<String>,
    /// What is counted, in which unit: a row of the table behind [`Figure::canonical`].
    pub metric: String,
    /// The number.
    pub value: f64,
    /// The range's end, where a range is given.
    #[serde(default)]
    pub to: Option<f64>,
    /// How exact it is.
    #[serde(default)]
    pub qualifier: Option<Qualifier>,
    /// A second place of the article, or why the figure cannot be right. Figures of a closing
    /// summary that contradict a table are kept with a note, and never compared.
    #[serde(default)]
    pub note: Option<String>,
}

/// How exact a published figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Qualifier {
    /// Rounded by the article.
    About,
    /// It was more.
    Above,
    /// It was this or less.
    AtMost,
}

/// Metrics as files name them: what records call it, the factor to its unit, whether more is better.
const METRICS: [(&str, &str, f64, bool); 17] = [
    ("seconds", "seconds", 1.0, false),
    ("milliseconds", "seconds", 1e-3, false),
    ("operations_per_second", "operations_per_second", 1.0, true),
    ("mebibytes_per_second", "bandwidth_bytes_per_second", 1_048_576.0, true),
    ("megabytes_per_second", "bandwidth_bytes_per_second", 1e6, true),
    ("latency_mean_milliseconds", "latency_mean_ns", 1e6, false),
    ("cpu_percent", "cpu_percent", 1.0, false),
    ("system_percent", "system_percent", 1.0, false),
    ("device_busy_percent", "device_busy_percent", 1.0, false),
    ("speed_up", "speed_up", 1.0, true),
    ("device_writes_per_second", "device_writes_per_second", 1.0, false),
    ("dirty_mebibytes", "dirty_bytes", 1_048_576.0, false),
    ("load_average", "load_average", 1.0, false),
    ("load_average_max", "load_average_max", 1.0, false),
    ("waiting_processes", "waiting_processes", 1.0, false),
    ("writeback_interval_seconds", "writeback_interval_seconds", 1.0, false),
    ("latency_mean_ns", "latency_mean_ns", 1.0, false),
];

impl Figure {
    /// What records call the metric, and the figure in its unit.
    pub fn canonical(&self) -> Option<(&'static str, f64)> {
        METRICS.iter().find(|row| row.0 == self.metric).map(|row| (row.1, self.value * row.2))
    }

    /// The end of the range in the unit of [`Figure::canonical`].
    pub fn canonical_end(&self) -> Option<f64> {
        let factor = METRICS.iter().find(|row| row.0 == self.metric)?.2;
        self.to.map(|to| to * factor)
    }

    /// Whether it is a second figure for what a table gives: kept, never compared.
    pub fn contradicts_a_table(&self) -> bool {
        self.note.as_deref().is_some_and(|note| note.starts_with("closing summary"))
    }
}

/// Whether more of a metric, as records name it, is better.
pub fn higher_is_better(metric: &str) -> bool {
    METRICS.iter().any(|row| row.1 == metric && row.3)
}

impl Published {
    /// Reads the figures of one article and checks that they hold together. Anybody may have written them.
    ///
    /// # Errors
    /// One sentence with what is wrong, and its line.
    pub fn from_toml(text: &str) -> Result<Published, String> {
        let published: Published = toml::from_str(text).map_err(|error| crate::text::toml_mistake(text, &error))?;
        if published.lane.len() > MOST_LANES || published.figure.len() > MOST_FIGURES {
            return Err(format!(
                "it lists {} lanes and {} figures, and {MOST_LANES} and {MOST_FIGURES} are the most; part it",
                published.lane.len(),
                published.figure.len()
            ));
        }
        published.check().map_err(|(number, what)| {
            let line = line_of(text, number).map_or(String::new(), |line| format!("line {line}: "));
            format!("{line}{what}")
        })?;
        Ok(published)
    }

    /// The place of the first wrong figure, and what is wrong with it.
    fn check(&self) -> Result<(), (usize, String)> {
        let mut seen = BTreeSet::new();
        for (number, figure) in self.figure.iter().enumerate() {
            self.check_figure(figure, &mut seen).map_err(|what| {
                let at = format!("{}, {}, {}, {}", figure.workload, figure.group, figure.lane, figure.metric);
                (number, format!("{}: {what}", crate::text::quoted(&at)))
            })?;
        }
        Ok(())
    }

    /// What is wrong with a figure; `seen`: what those before it are of.
    fn check_figure<'a>(&self, figure: &'a Figure, seen: &mut BTreeSet<[&'a str; 4]>) -> Result<(), String> {
        let is_listed = |name: &str| self.lane.iter().any(|lane| lane.name == name);
        let Some((metric, value)) = figure.canonical() else {
            let known: Vec<&str> = METRICS.iter().map(|row| row.0).collect();
            return Err(format!("the metric is not known; metrics are {}", known.join(", ")));
        };
        let is_no_range = |to: f64| !(to.is_finite() && to > figure.value);
        if !(value.is_finite() && value > 0.0) || figure.canonical_end().is_some_and(f64::is_nan) {
            return Err(format!("{} is no positive figure", figure.value));
        }
        if figure.to.is_some_and(is_no_range) || figure.canonical_end().is_some_and(f64::is_infinite) {
            return Err(format!("its range from {} is empty or endless", figure.value));
        }
        if !is_listed(&figure.lane) || figure.against.as_deref().is_some_and(|against| !is_listed(against)) {
            return Err("the figure names a lane that is not listed; list it".to_owned());
        }
        if (metric == "speed_up") != figure.against.is_some() {
            return Err("a speed-up has `against`, and nothing else has".to_owned());
        }
        let of = [figure.workload.as_str(), &figure.group, &figure.lane, metric];
        match figure.contradicts_a_table() || seen.insert(of) {
            true => Ok(()),
            false => Err("there are two figures for this; mark one with a note".to_owned()),
        }
    }

    /// The figures that are compared, workload by workload, group by group and metric by metric, in
    /// the order of the file.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for figure in self.figure.iter().filter(|figure| !figure.contradicts_a_table()) {
            let Some((metric, _)) = figure.canonical() else { continue };
            let same = |row: &&mut Row<'_>| {
                row.workload == figure.workload && row.group == figure.group && row.metric == metric
            };
            match rows.iter_mut().find(same) {
                Some(row) => row.figures.push(figure),
                None => {
                    let (workload, group) = (figure.workload.as_str(), figure.group.as_str());
                    rows.push(Row { workload, group, metric, figures: vec![figure] });
                }
            }
        }
        rows
    }
}

/// The line of a figure, from 1; `number`: its place in the list.
fn line_of(text: &str, number: usize) -> Option<usize> {
    #[derive(Deserialize)]
    struct Places {
        figure: Vec<toml::Spanned<serde::de::IgnoredAny>>,
    }
    let places: Places = toml::from_str(text).ok()?;
    let begin = places.figure.get(number)?.span().start;
    Some(1 + text.bytes().take(begin).filter(|byte| *byte == b'\n').count())
}

/// Figures of the article's lanes for one workload, group and metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// Workload of the suite.
    pub workload: &'a str,
    /// Group of the workload, or `total`.
    pub group: &'a str,
    /// As records name it.
    pub metric: &'static str,
    /// One per lane.
    pub figures: Vec<&'a Figure>,
}

impl PublishedComparison {
    /// Whether the record and the article have anything in common.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(PublishedRow::is_empty)
    }
}

impl PublishedRow {
    /// Whether the record has no figure for it.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.yours.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn article(figures: &str) -> Result<Published, String> {
        Published::from_toml(&format!(
            "name = \"a\"\ntitle = \"t\"\nsuite = \"s\"\nhardware = \"h\"\nkernel = \"k\"\nprocess_per_operation = false\n\
             method = []\ncaveats = []\nlane = [{{ name = \"x\", filesystem = \"ext4\" }}]\nfigure = [\n{figures}\n]\n\
             [source]\nsite = \"w\"\nlanguage = \"English\"\n"
        ))
    }

    fn figure(rest: &str) -> String {
        format!("{{ workload = \"w\", group = \"g\", lane = \"x\", {rest} }},")
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let good = figure("metric = \"seconds\", value = 1.5, to = 2");
        assert_eq!(article(&good).map(|of| of.figure.len()), Ok(1));
        for (rest, says) in [
            ("metric = \"hours\", value = 1", "metrics are seconds, milliseconds"),
            ("metric = \"cpu_percent\", value = 0", "no positive figure"),
            ("metric = \"cpu_percent\", value = nan", "no positive figure"),
            ("metric = \"megabytes_per_second\", value = 1e308", "no positive figure"),
            ("metric = \"cpu_percent\", value = 2, to = 1", "empty or endless"),
            ("metric = \"cpu_percent\", value = 2, to = inf", "empty or endless"),
            ("metric = \"megabytes_per_second\", value = 2, to = 1e308", "empty or endless"),
            ("metric = \"speed_up\", value = 2", "has `against`"),
            ("metric = \"speed_up\", value = 2, against = \"y\"", "list it"),
            ("metric = \"seconds\", value = 9", "two figures for this"),
        ] {
            let refused = article(&format!("{good}\n\n{}", figure(rest))).unwrap_err();
            assert!(refused.starts_with("line 13: w, g, x, ") && refused.contains(says), "{rest}: {refused}");
        }
        let unknown = article(&figure("metric = \"seconds\", value = 1, colour = 2")).unwrap_err();
        assert!(unknown.starts_with("line 11: ") && unknown.contains("colour"), "{unknown}");
    }

    #[test]
    fn a_file_of_a_strangers_is_bounded() {
        let many = (0..=MOST_FIGURES).map(|_| figure("metric = \"seconds\", value = 1"));
        let refused = article(&many.collect::<String>()).unwrap_err();
        assert!(refused.contains("2001 figures"), "{refused}");
        let long = format!(
            "{{ workload = \"{}\", group = \"g\", lane = \"y\", metric = \"seconds\", value = 1 }}",
            "w".repeat(10_000)
        );
        let refused = article(&long).unwrap_err();
        assert!(refused.len() < 1000 && refused.contains("list it"), "{}", refused.len());
    }
}
