//! Where the time of a group went in a lane (method 7): from a profile that was made beside the rounds that count.
//!
//! What callers waited for is told whole: shares of it add up to one, and what no row of the table knows is a share too.

mod causes;
mod differences;
mod shares;

use crate::estimate::median;
use crate::series::Series;
use model::findings::{Explanation, ResultFinding};
use model::profile::Profile;
use model::record::Record;

/// Explains each result of a record that was profiled.
pub(crate) fn set(record: &Record, results: &mut [ResultFinding]) {
    if record.profiles.is_empty() {
        return;
    }
    for result in results {
        let Some(workload) = record.header.plan.workloads.iter().find(|of| of.name == result.workload) else {
            continue;
        };
        let of_result = |profile: &&Profile| {
            profile.workload == result.workload && (profile.group == result.group || profile.group.is_empty())
        };
        let mut explained: Vec<Explanation> = Vec::new();
        // In the order of the lanes; a resumed race may have profiled twice, and the last one counts.
        for lane in &record.header.lanes {
            let profile = record.profiles.iter().rfind(|profile| profile.lane == lane.name && of_result(profile));
            let Some(found) = profile.and_then(|profile| shares::explain(profile, workload, &result.group)) else {
                continue;
            };
            // Groups that share a window share its profile, and their rates add up.
            let shared = profile.is_some_and(|of| of.group.is_empty());
            let groups = if shared { workload.groups() } else { vec![result.group.clone()] };
            let rates = groups.iter().filter_map(|group| unprofiled(record, &result.workload, group, &lane.name));
            let rate = Some(rates.sum::<f64>()).filter(|rate| *rate > 0.0);
            explained.push(Explanation { unprofiled_operations_per_second: rate, ..found });
        }
        result.explained = differences::sentences(&explained, result.reference.as_deref());
        result.explanations = explained;
    }
}

/// The rate of the rounds that count, the median over them.
fn unprofiled(record: &Record, workload: &str, group: &str, lane: &str) -> Option<f64> {
    let series = Series::new(record, workload);
    let of_lane = series.lanes.iter().find(|of| of.lane.name == lane)?;
    median(of_lane.figures(group, "operations_per_second").into_iter().map(|(_, rate)| rate))
}
