//! STAND-IN until `report::fio_json` is merged: delete this file, `mod fio_json;` in main.rs, and
//! call `report::fio_json` in commands/fio.rs.

use model::record::Record;
use model::trial::Outcome;
use serde_json::json;

/// The trials that stand, in the outline of fio's JSON.
pub fn fio_json(record: &Record) -> Result<String, String> {
    let standing = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok);
    let jobs: Vec<_> = standing
        .flat_map(|trial| trial.groups.iter().map(move |group| (trial, group)))
        .map(|(trial, group)| {
            let figures = json!({ "total_ios": group.operations, "io_bytes": group.bytes });
            json!({ "jobname": group.job, "desc": trial.lane, (group.name.as_str()): figures })
        })
        .collect();
    serde_json::to_string_pretty(&json!({ "fio version": "fairlane", "jobs": jobs }))
        .map(|text| text + "\n")
        .map_err(|error| error.to_string())
}
