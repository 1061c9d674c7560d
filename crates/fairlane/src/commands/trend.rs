//! `fairlane trend`: one figure over many records, as the dashboard shows it.

use super::report::print;
use super::screen::style;
use crate::failure::Failure;
use crate::gathered::{self, Gathered, LeftOut};
use crate::listing::{Figures, Index, Listing};
use crate::options::Trend;
use crate::state;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Names that a message lists, at most.
const MOST_NAMED: usize = 30;
/// Workloads among which one is found by its title, at most.
const MOST_TITLES: usize = 100_000;

/// Names of workloads, each with a title.
type Titles = BTreeSet<(String, String)>;

/// What records have of a workload.
struct Found {
    /// Its name.
    workload: String,
    figures: Figures,
    /// The workloads of those records that have none of it.
    others: Titles,
}

/// Shows how lanes fared from record to record.
///
/// # Errors
/// When no record has the figure, or the format is unknown.
pub fn run(options: &Trend) -> Result<(), Failure> {
    let format = options.format.as_str();
    // An unknown format is told before thousands of records are read.
    report::render_trends(&[], format, &style()).map_err(|error| Failure::usage(error.to_string()))?;
    let (group, places) = options.group_and_places();
    let found = if places.is_empty() { kept(&options.workload)? } else { named(&options.workload, &places)? };
    let all = &found.figures.all;
    let groups = group.map_or_else(|| groups(&found.figures, &found.workload), |group| vec![group]);
    let course =
        |group: &String| stats::trend::trend(all.iter().map(Arc::as_ref), &found.workload, group, &options.lanes);
    let mut trends: Vec<model::page::Trend> = groups.iter().filter_map(course).collect();
    if trends.iter().all(|trend| trend.points.is_empty()) {
        return Err(nothing(options, &groups, &found));
    }
    trends.retain(|trend| !trend.points.is_empty());
    for trend in &mut trends {
        trend.left_out.extend(found.figures.left_out.iter().cloned());
    }
    print(&report::render_trends(&trends, format, &style()).map_err(|error| Failure::usage(error.to_string()))?)
}

/// Of the records kept.
fn kept(workload: &str) -> Result<Found, Failure> {
    let folder = state::state_folder()?.join("runs");
    let index = Index::of_kept(&folder, true);
    let mut listing = Listing::new(folder, index, u64::MAX);
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot list the records: {error}; name some"));
    let figures = listing.figures(workload).map_err(cannot)?;
    let mut others = Titles::new();
    if figures.all.is_empty() {
        let entries = listing.survey().map_err(cannot)?.into_iter().filter_map(|(_, entry)| entry.ok());
        for entry in entries {
            add(&mut others, entry.workloads.into_iter().map(|of| (of.name, of.title)));
        }
    }
    match by_title(workload, &others)? {
        Some(name) => Ok(Found { figures: listing.figures(&name).map_err(cannot)?, workload: name, others }),
        None => Ok(Found { workload: workload.to_owned(), figures, others }),
    }
}

/// Of records and folders that were named.
fn named(workload: &str, places: &[String]) -> Result<Found, Failure> {
    let gathered = gathered::gather(places)?;
    let (figures, others) = read(&gathered, workload);
    let title = if figures.all.is_empty() { by_title(workload, &others)? } else { None };
    let Some(name) = title else { return Ok(Found { workload: workload.to_owned(), figures, others }) };
    let (figures, others) = read(&gathered, &name);
    Ok(Found { workload: name, figures, others })
}

/// The workload that is meant by a title, in the letters as they are or else in whatever letters; `None`: none has it.
///
/// # Errors
/// Where several have it.
fn by_title(title: &str, known: &Titles) -> Result<Option<String>, Failure> {
    let named = |is_it: &dyn Fn(&str) -> bool| -> BTreeSet<&String> {
        known.iter().filter(|(_, of)| is_it(of)).map(|(name, _)| name).collect()
    };
    let small = title.to_lowercase();
    let exact = named(&|of| of == title);
    let found = if exact.is_empty() { named(&|of| of.to_lowercase() == small) } else { exact };
    match found.len() {
        0 | 1 => Ok(found.into_iter().next().cloned()),
        _ => Err(Failure::usage(format!(
            "several workloads have the title `{}`; choose one of {}",
            report::clean_text(title),
            listed(found)
        ))),
    }
}

/// What the files hold of a workload, and which others they hold; one record is in memory at a time.
fn read(gathered: &Gathered, workload: &str) -> (Figures, Titles) {
    let LeftOut { count, told } = &gathered.left_out;
    let mut left_out = LeftOut { count: *count, told: told.clone() };
    let (mut all, mut others) = (Vec::new(), Titles::new());
    for file in &gathered.files {
        let record = match file.read() {
            Ok(record) => record,
            Err(why) => {
                left_out.add(&file.name, &why);
                continue;
            }
        };
        match record.header.plan.workloads.iter().any(|of| of.name == workload) {
            true => all.push(Arc::new(stats::trend::figures(&record, &file.name).only(workload))),
            false => add(&mut others, record.header.plan.workloads.into_iter().map(|of| (of.name, of.title))),
        }
    }
    (Figures::new(all, left_out.told), others)
}

fn add(titles: &mut Titles, more: impl Iterator<Item = (String, String)>) {
    for of in more {
        if titles.len() < MOST_TITLES {
            titles.insert(of);
        }
    }
}

/// The groups that have figures, in the order in which records have them.
fn groups(figures: &Figures, workload: &str) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for group in figures.all.iter().flat_map(|of| of.groups(workload)) {
        if !groups.iter().any(|known| known == group) {
            groups.push(group.to_owned());
        }
    }
    groups
}

fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().take(MOST_NAMED).map(|name| report::clean_text(name)).collect::<Vec<_>>().join(", ")
}

fn nothing(options: &Trend, groups: &[String], found: &Found) -> Failure {
    let workload = report::clean_text(&options.workload);
    if found.figures.all.is_empty() {
        if found.figures.screenings > 0 {
            return Failure::usage(format!(
                "only screenings have figures of `{workload}`, and their lanes are runs of a design, which have no trend; \
                 race it first"
            ));
        }
        return Failure::usage(match found.others.is_empty() {
            true => format!("no record has figures of `{workload}`; race it first, or name folders that hold records"),
            false => {
                let names: BTreeSet<&String> = found.others.iter().map(|(name, _)| name).collect();
                format!("no record has figures of `{workload}`; choose one of {}", listed(names))
            }
        });
    }
    let known = self::groups(&found.figures, &found.workload);
    let is_known = groups.iter().any(|group| known.contains(group));
    Failure::usage(match (is_known, options.lanes.is_empty()) {
        (true, false) => format!("no record has figures of `{workload}` in lane {}", listed(&options.lanes)),
        _ if known.is_empty() => format!("the records hold no figures of `{workload}`; race it first"),
        _ => format!(
            "no record has figures of `{workload}` for {}; choose one of {}, and write ./NAME for a folder",
            listed(groups),
            listed(&known)
        ),
    })
}
