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
    /// What the disk does, where that is what it is above.
    above: Option<AboveTheDisk>,
}

/// A figure above what the disk does.
#[derive(Debug, Clone, PartialEq)]
struct AboveTheDisk {
    lane: String,
    /// Bytes per second, of the lane and of the bare disk.
    rate: f64,
    bare: f64,
    why: Sentence,
}

/// So many lanes of which the same is said have a sentence each; more have one together.
const SAID_ONE_BY_ONE: usize = 3;

/// What is said of such figures, where `all` lanes were raced: once of many lanes that are above one disk for one reason.
pub(crate) fn warnings(beyond: Vec<Beyond>, all: usize) -> Vec<Sentence> {
    let alike = |one: &Beyond, other: &Beyond| match (&one.above, &other.above) {
        (Some(one), Some(other)) => one.bare.to_bits() == other.bare.to_bits() && one.why == other.why,
        _ => false,
    };
    let mut groups: Vec<Vec<Beyond>> = Vec::new();
    for one in beyond {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(first, &one))) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.into_iter().flat_map(|group| together(group, all)).collect()
}

fn together(group: Vec<Beyond>, all: usize) -> Vec<Sentence> {
    let above: Vec<&AboveTheDisk> = group.iter().filter_map(|of| of.above.as_ref()).collect();
    let Some(first) = above.first().filter(|_| above.len() > SAID_ONE_BY_ONE) else {
        return group.into_iter().map(|of| of.said).collect();
    };
    let lanes: Value = match above.len() == all {
        true => statement::all_lanes(all).into(),
        false => Value::Row(above.iter().map(|of| name(&of.lane)).collect()),
    };
    let low = above.iter().map(|of| of.rate).fold(f64::INFINITY, f64::min);
    let high = above.iter().map(|of| of.rate).fold(0.0, f64::max);
    let (low, high, bare) = (Value::Bandwidth(low), Value::Bandwidth(high), Value::Bandwidth(first.bare));
    vec![statement::lanes_beyond_the_disk(lanes, low, high, bare, first.why.clone())]
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
            return Some(Beyond { said, counts: false, above: None });
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
        let said = statement::beyond_the_disk(own(), shown, Value::Bandwidth(bare), why.clone());
        let above = Some(AboveTheDisk { lane: lane.lane.name.clone(), rate, bare, why });
        (!silent).then_some(Beyond { said, counts, above })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(lane: &str, rate: f64, bare: f64) -> Beyond {
        let why = statement::all_bytes_passed();
        let said = statement::beyond_the_disk(name(lane), Value::Bandwidth(rate), Value::Bandwidth(bare), why.clone());
        Beyond { said, counts: true, above: Some(AboveTheDisk { lane: lane.to_owned(), rate, bare, why }) }
    }

    fn said(beyond: &[Beyond], all: usize) -> Vec<String> {
        warnings(beyond.to_vec(), all).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn many_lanes_above_one_disk_are_told_in_one_sentence_and_few_by_themselves() {
        let rates = [("a", 3e8), ("b", 4e8), ("c", 5e8), ("d", 6e8)];
        let lanes: Vec<Beyond> = rates.into_iter().map(|(lane, rate)| beyond(lane, rate, 2e8)).collect();
        let three = said(&lanes[..3], 3);
        assert_eq!(three.len(), 3);
        assert!(three[0].starts_with("a: 300 MB/s is more than the bare disk's 200 MB/s"), "{three:?}");
        let all = said(&lanes, 4);
        assert_eq!(all.len(), 1, "{all:?}");
        let told = "all 4 lanes: 300 MB/s to 600 MB/s are more than the bare disk's 200 MB/s, and";
        assert!(all[0].starts_with(told), "{all:?}");
        let some = said(&lanes, 9);
        assert!(some[0].starts_with("a, b, c, d: 300 MB/s to "), "{some:?}");
        // Another disk is another sentence.
        let two_disks = [lanes, vec![beyond("e", 9e8, 3e8)]].concat();
        assert_eq!(said(&two_disks, 9).len(), 2);
    }
}
