//! Figures above what the device or the memory can do: something else was measured, and its name is
//! said (methods section 3, rule 3, goes no further than reads that miss the device altogether).

use crate::comparable;
use crate::estimate::median;
use crate::limit;
use crate::say::{name, race as said};
use crate::series::{LaneSeries, Scope, Series};
use model::Sentence;
use model::job::Io;
use model::record::Record;
use model::sentence::Value;
use model::workload::{Kind, Workload};

/// So much above the bare device's own figure is no noise any more: ceilings of this project's own
/// runs lie within 10 % of what lanes reach (docs/method.md).
const BEYOND_THE_DEVICE: f64 = 1.15;
/// Of the application's bytes at the device: below, some never came there.
const NOT_ALL_AT_THE_DEVICE: f64 = 0.9;
/// Of them: below, hardly any did.
const HARDLY_ANY_AT_THE_DEVICE: f64 = 0.1;

/// One sentence for each lane whose figures cannot be those of its disk or of the memory; steady block
/// I/O only, as nothing else is known to be one kind of work.
pub(crate) fn flags(record: &Record, workload: &Workload, group: &str, series: &Series) -> Vec<Sentence> {
    let Kind::Io(io) = &workload.kind else { return Vec::new() };
    let raw = limit::raw_bandwidth(&record.probes, workload);
    let memory = Some(record.header.machine.memory_copy_bytes_per_second).filter(|&figure| figure > 0.0);
    let reads = series.reading.reads(group);
    let lanes = series.lanes.iter().filter(|lane| !comparable::stands_beside(lane.lane));
    lanes.filter_map(|lane| flag(lane, group, io, reads, series, (raw, memory))).collect()
}

fn flag(
    lane: &LaneSeries,
    group: &str,
    io: &Io,
    reads: bool,
    series: &Series,
    (raw, memory): (Option<f64>, Option<f64>),
) -> Option<Sentence> {
    let seen = || lane.group(group).map(|(trial, of)| (of, Scope::of(trial, of, &series.reading)));
    let rate = median(seen().filter_map(|(of, _)| {
        let operations = of.metrics.get("operations_per_second").copied();
        let per_operation = of.bytes as f64 / of.operations as f64;
        of.metrics.get("bandwidth_bytes_per_second").copied().or_else(|| Some(operations? * per_operation))
    }))?;
    let (own, shown) = (name(&lane.lane.name), Value::Bandwidth(rate));
    let copies = memory.filter(|&memory| rate > memory);
    let beyond = raw.filter(|&raw| !lane.lane.backing.is_empty() && rate > BEYOND_THE_DEVICE * raw);
    if let Some(memory) = copies {
        return Some(said::beyond_memory(own, shown, Value::Bandwidth(memory)));
    }
    let raw = beyond?;
    let at_device = median(seen().filter(|(_, scope)| scope.exact).filter_map(|(_, scope)| share(&scope, reads)));
    let compresses = lane.lane.mount_options.iter().any(|option| option.starts_with("compress"));
    let why = match at_device {
        Some(share) if compresses && share < NOT_ALL_AT_THE_DEVICE => said::it_compresses(Value::Share(share)),
        Some(share) if share < NOT_ALL_AT_THE_DEVICE && !io.direct => said::cache_did_the_rest(Value::Share(share)),
        Some(share) if share < HARDLY_ANY_AT_THE_DEVICE => said::hardly_a_byte(),
        Some(share) if share < NOT_ALL_AT_THE_DEVICE => said::rest_were_holes(Value::Share(share)),
        _ => said::all_bytes_passed(),
    };
    Some(said::beyond_the_disk(own, shown, Value::Bandwidth(raw), why))
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
