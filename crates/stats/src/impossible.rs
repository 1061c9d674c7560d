//! Figures above what the device or the memory can do: something else was measured, and its name is
//! said (method 3.2, goes no further than reads that miss the device altogether).
//!
//! What decides is where the bytes went. A filesystem that compresses moves fewer, and keeps its
//! verdict. Where all passed the disk the ceiling itself is doubted: so work whose sync is charged to it
//! keeps its verdict too, buffered or not. Bytes that never came to the disk in the measured time were
//! the page cache's, or holes: they are no figure of a filesystem on this disk.

use crate::comparable;
use crate::estimate::median;
use crate::limit;
use crate::series::{LaneSeries, Scope, Series};
use crate::statements::{name, race as statement};
use model::Sentence;
use model::record::Record;
use model::sentence::Value;
use model::workload::Workload;

/// So much above the bare device's own figure is no noise any more: ceilings lie within 10 % of what
/// lanes reach (method 3.3 has the figures). Chosen between that and the
/// smallest lie worth telling: with 10 % lanes that read at the disk's own speed are doubted now and
/// then, and what lies between 1 and 1.15 times the disk is not.
const BEYOND_THE_DEVICE: f64 = 1.15;
/// Of the application's bytes at the device: below, some never came there. Chosen: 10 % of a window may
/// be on its way when it ends, in a queue or a cache of the disk.
const NOT_ALL_AT_THE_DEVICE: f64 = 0.9;
/// Of them: below, hardly any did (the share of method 3.2).
pub(crate) const HARDLY_ANY_AT_THE_DEVICE: f64 = 0.1;

/// One lane's figure that cannot be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beyond {
    /// One sentence that names the lane.
    pub(crate) said: Sentence,
    /// It is a filesystem's all the same.
    pub(crate) counts: bool,
}

/// The lanes whose figures cannot be those of their disk or of the memory: of steady block I/O, of a
/// job file that does one thing, and of steps on files where the disk's own sequential rate is known.
pub(crate) fn found(record: &Record, workload: &Workload, group: &str, series: &Series) -> Vec<Beyond> {
    let reads = series.reading.reads(group);
    let Some(direct) = workload.traits().is_direct() else { return Vec::new() };
    let steps = workload.traits().schedule().is_steps();
    let observed = Observed {
        group,
        direct,
        reads,
        // Short steps on files: neither a slow moment of the ceiling nor a burst is worth a word each.
        only_what_missed_the_disk: steps,
        series,
        raw: &|lane| limit::raw_bandwidth(record, workload, lane, reads),
        memory: Some(record.header.machine.memory_copy_bytes_per_second).filter(|&figure| figure > 0.0 && !steps),
    };
    let lanes = series.lanes.iter().filter(|lane| !comparable::stands_beside(lane.lane));
    lanes.filter_map(|lane| observed.judge(lane)).collect()
}

/// What one group is held against.
struct Observed<'a> {
    group: &'a str,
    direct: bool,
    reads: bool,
    only_what_missed_the_disk: bool,
    series: &'a Series<'a>,
    /// The bandwidth of the bare disk below a lane.
    raw: &'a dyn Fn(&str) -> Option<f64>,
    /// What all CPUs together copy in memory, bytes per second.
    memory: Option<f64>,
}

impl Observed<'_> {
    fn judge(&self, lane: &LaneSeries) -> Option<Beyond> {
        let seen = || lane.group(self.group).map(|(trial, of)| (of, Scope::new(trial, of, &self.series.reading)));
        let rate = median(seen().filter(|(of, _)| of.bytes > 0).filter_map(|(of, _)| {
            let operations = of.metrics.get("operations_per_second").copied();
            let per_operation = of.bytes as f64 / of.operations as f64;
            of.metrics.get("bandwidth_bytes_per_second").copied().or_else(|| Some(operations? * per_operation))
        }))?;
        let (own, shown) = (|| name(&lane.lane.name), Value::Bandwidth(rate));
        if let Some(memory) = self.memory.filter(|&memory| rate > memory) {
            let said = statement::beyond_memory(own(), shown, Value::Bandwidth(memory));
            return Some(Beyond { said, counts: false });
        }
        let bare = (self.raw)(&lane.lane.name);
        let bare = bare.filter(|&bare| !lane.lane.backing.is_empty() && rate > BEYOND_THE_DEVICE * bare)?;
        let at_device =
            median(seen().filter(|(_, scope)| scope.exact).filter_map(|(_, scope)| share(&scope, self.reads)));
        let compresses = lane.lane.mount_options.iter().any(|option| option.starts_with("compress"));
        let missed = at_device.filter(|&share| share < NOT_ALL_AT_THE_DEVICE);
        let (why, counts) = match missed {
            Some(share) if compresses && share >= HARDLY_ANY_AT_THE_DEVICE => {
                (statement::it_compresses(Value::Share(share)), true)
            }
            Some(share) if !self.direct => (statement::cache_did_the_rest(Value::Share(share)), false),
            Some(share) if share < HARDLY_ANY_AT_THE_DEVICE => (statement::hardly_a_byte(), false),
            Some(share) => (statement::rest_were_holes(Value::Share(share)), false),
            None => (statement::all_bytes_passed(), true),
        };
        let silent = counts && self.only_what_missed_the_disk;
        let said = statement::beyond_the_disk(own(), shown, Value::Bandwidth(bare), why);
        (!silent).then_some(Beyond { said, counts })
    }
}

/// Bytes at the device per byte of the application, in the work's own direction.
fn share(scope: &Scope, reads: bool) -> Option<f64> {
    let device = &scope.system.device;
    let (at_device, of_work) = match reads {
        true => (device.read_bytes, scope.read_bytes),
        false => (device.write_bytes, scope.write_bytes),
    };
    (of_work > 0.0).then(|| at_device as f64 / of_work)
}
