//! `fairlane advise`: which of the raced lanes to take for what somebody runs.

use super::report::print;
use super::screen::{style, tilde};
use super::screening;
use crate::failure::Failure;
use crate::options::Advise;
use crate::{knowledge, state};
use model::findings::AdviceReport;
use model::record::{Record, SCHEMA};
use stats::advice::Race;

/// Prints advice, the scenarios, or the table of features.
///
/// # Errors
/// When a record cannot be read or does not go with the others, or a scenario, a filesystem or the
/// format is unknown.
pub fn run(options: &Advise) -> Result<(), Failure> {
    if let Some(filesystem) = &options.features {
        return features(filesystem, &options.format);
    }
    if options.list {
        return print(&report::scenarios_text(&knowledge::scenarios()?, &style()));
    }
    if !report::ADVICE_FORMATS.contains(&options.format.as_str()) {
        return Err(Failure::usage(format!(
            "there is no advice in format `{}`; choose one of {}",
            report::clean_text(&options.format),
            report::ADVICE_FORMATS.join(", ")
        )));
    }
    let scenarios = match options.scenarios.as_slice() {
        [] => knowledge::scenarios()?,
        names => names.iter().map(|name| knowledge::scenario(name)).collect::<Result<_, _>>()?,
    };
    let paths = options.records.iter().map(|name| state::resolve(name)).collect::<Result<Vec<_>, _>>()?;
    let records = paths.iter().map(|path| state::load(path)).collect::<Result<Vec<Record>, _>>()?;
    for (record, name) in records.iter().zip(&options.records) {
        screening::refuse(
            record,
            name,
            "`fairlane report` says which options matter, and advice rests on races of lanes",
        )?;
    }
    let findings: Vec<_> = records.iter().map(stats::judge::findings).collect();
    let races: Vec<Race> = records.iter().zip(&findings).map(|(record, findings)| Race { record, findings }).collect();
    stats::advice::combinable(&races).map_err(Failure::usage)?;
    let advice = knowledge::advise(&races, &scenarios, &options.needs)?;
    let first = &findings[0];
    let mut warnings = Vec::new();
    for of in &findings {
        if of.outcome != "complete" {
            warnings.push(format!(
                "the race of {} is {}: advice uses the rounds that were finished",
                of.started, of.outcome
            ));
        }
    }
    // Records that are taken together were raced on the same disks.
    warnings.extend(stats::throttle::different_disks_of(&records[0].header.plan).map(String::from));
    let mut command = vec!["advise".to_owned()];
    command.extend(options.records.iter().filter(|_| options.records != ["last"]).cloned());
    command.extend(options.needs.iter().flat_map(|need| ["--need".to_owned(), need.to_string()]));
    let report = AdviceReport {
        schema: SCHEMA,
        command,
        records: paths.iter().map(|path| tilde(path)).collect(),
        lanes: first.lanes.iter().filter(|lane| !lane.is_self).map(|lane| lane.name.clone()).collect(),
        margin: first.margin,
        needs: options.needs.iter().map(ToString::to_string).collect(),
        advice,
        warnings,
    };
    let whole = !options.scenarios.is_empty();
    let text = report::render_advice(&report, &options.format, &style(), whole);
    print(&text.map_err(|error| Failure::usage(error.to_string()))?)
}

/// The table of features, or one filesystem with its sources.
fn features(filesystem: &str, format: &str) -> Result<(), Failure> {
    let all = knowledge::features()?;
    if filesystem.is_empty() {
        return match format {
            "markdown" => print(&report::features_table(&all)),
            "text" => print(&report::features_text(&all, &style())),
            _ => Err(Failure::usage("the table of features is shown as text or markdown; choose one of them")),
        };
    }
    match all.iter().find(|of| of.filesystem == filesystem) {
        Some(of) => print(&report::features_of(of, &style())),
        None => {
            let known: Vec<&str> = all.iter().map(|of| of.filesystem.as_str()).collect();
            Err(Failure::usage(format!(
                "nothing is known of `{}`; choose one of {}",
                report::clean_text(filesystem),
                known.join(", ")
            )))
        }
    }
}
