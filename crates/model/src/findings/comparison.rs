//! Two records side by side, and a record beside published figures.

use super::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two records side by side: no pairs, because the races ran apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Schema of the findings.
    pub schema: u32,
    /// The first record's name.
    pub a: String,
    /// The second record's name.
    pub b: String,
    /// One per lane, workload and group that both records hold.
    pub rows: Vec<ComparisonRow>,
    /// Lanes, workloads or machines that differ.
    pub warnings: Vec<String>,
}

/// One lane, workload and group in two records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    /// Name of the lane.
    pub lane: String,
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// The metric.
    pub metric: String,
    /// Geometric mean in the first record.
    pub a: f64,
    /// Geometric mean in the second record.
    pub b: f64,
    /// b/a of rates and a/b of times, so that above 1 `b` does better.
    pub ratio: f64,
    /// 95 % interval of the ratio between rounds (Welch on logarithms); absent with too few rounds.
    pub low: Option<f64>,
    /// 95 % interval of the ratio.
    pub high: Option<f64>,
    /// `faster`: b does better than a.
    pub verdict: Verdict,
    /// Why there is no verdict, or the caveat.
    pub why: Option<String>,
}

/// A race beside figures that somebody published. There are no verdicts between the two: machine,
/// method and years lie between them. What can be compared is how far the lanes of each are apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedComparison {
    /// Schema of the findings.
    pub schema: u32,
    /// The record's name.
    pub record: String,
    /// When its race started, RFC 3339.
    pub started: String,
    /// Name of the published figures.
    pub published: String,
    /// What they compare.
    pub title: String,
    /// Where they stand.
    pub source: crate::published::Source,
    /// The article's lanes and yours beside them.
    pub lanes: Vec<PublishedPairing>,
    /// One per workload, group and metric that the article and the record share.
    pub rows: Vec<PublishedRow>,
    /// Why the article's figures differ: hardware, method, promises, disk-bound ties.
    pub differences: Vec<Difference>,
    /// What the article itself leaves open.
    pub caveats: Vec<String>,
    /// What is not compared, and why.
    pub warnings: Vec<String>,
}

/// An article's lane and yours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedPairing {
    /// Name in the article.
    pub published: String,
    /// Your lane; `None`: none raced.
    pub yours: Option<String>,
    /// What the article's lane was, where its name does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// One workload, group and metric in a record and in an article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group; `total`: all groups together.
    pub group: String,
    /// The metric; its unit stands in the name.
    pub metric: String,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// One per lane of the article that has a figure.
    pub lanes: Vec<PublishedFigures>,
    /// One per pair of the article's lanes.
    pub pairs: Vec<PublishedRatio>,
}

/// One lane in a record and in an article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFigures {
    /// Name in the article.
    pub lane: String,
    /// Geometric mean over the record's rounds.
    pub yours: Option<f64>,
    /// The article's figure in the same unit; absent where it gives only a ratio.
    pub published: Option<f64>,
    /// The end of the article's range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_to: Option<f64>,
    /// How exact the article's figure is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<crate::published::Qualifier>,
    /// What is remarkable about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How far two lanes are apart in a record and in an article: above 1 `a` does better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRatio {
    /// The article's lane that is compared.
    pub a: String,
    /// The one it is compared with.
    pub b: String,
    /// In the record: the geometric mean over rounds; no verdict.
    pub yours: Option<f64>,
    /// In the article.
    pub published: Option<f64>,
}

/// One reason why figures differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// `hardware`, `kernel`, `method`, `promises`, `disk`.
    pub subject: String,
    /// One sentence.
    pub what: String,
}
