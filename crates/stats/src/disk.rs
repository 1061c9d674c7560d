//! Whether the disk under the lanes is a disk: what long writes, a flush and reads showed of it, and in what the lanes'
//! own devices differ from it.

use crate::estimate::median;
use crate::statements::{disk as statement, name};
use model::Sentence;
use model::disk::{BehindKind, DiskProbe, QueueLimits};
use model::findings::{DiskFinding, DiskSign};
use model::record::Record;
use model::sentence::Value;

/// Fewer looks at a disk than this say nothing: one may have been disturbed.
const FEWEST_LOOKS: usize = 2;
/// With the flush counted, a rate of this share of the one without it or less is a cache's. An NVMe or SATA disk with a
/// volatile cache of its own empties it within some hundredths of a second, 10 % of the time written; what needs as long
/// to flush as it took to write had not stored half of it.
const FLUSH_LOWERS_TO: f64 = 0.5;
/// Shorter flushes are an ordinary disk's own cache (32 MiB at 128 MiB/s, or a few erase blocks).
const LONG_FLUSH_SECONDS: f64 = 0.25;
/// No medium takes long requests so many times as fast as it gives them back.
const WRITES_ABOVE_READS: f64 = 1.5;
/// Below this, quotas that allow more writes than reads are sold (cloud disks of 400 MB/s of writes and 240 of reads).
const ABOVE_ANY_SUCH_QUOTA: f64 = 1e9;
/// A last third that wrote so much less than the first had filled something.
const FALLS_TO: f64 = 0.5;
/// Parts of a window below which thirds of it say nothing.
const FEWEST_PARTS: usize = 9;

/// What the record shows of the disk under the lanes; `None`: nobody looked.
pub fn finding(record: &Record) -> Option<DiskFinding> {
    let behind = record.header.machine.device.behind.clone();
    let looks: Vec<&DiskProbe> = record.disks.iter().filter(|look| look.unflushed() > 0.0).collect();
    if looks.is_empty() && behind.is_none() {
        return None;
    }
    let of = |figure: &dyn Fn(&DiskProbe) -> f64| median(looks.iter().map(|look| figure(look))).unwrap_or(0.0);
    let mut signs: Vec<DiskSign> = behind.iter().map(|behind| DiskSign::Behind(behind.clone())).collect();
    if looks.len() >= FEWEST_LOOKS {
        signs.extend([flush_lowers(&looks), writes_above_reads(&looks), falls(&looks)].into_iter().flatten());
    }
    Some(DiskFinding {
        looks: looks.len() as u32,
        written_bytes: of(&|look| look.written_bytes as f64) as u64,
        write_bytes_per_second: of(&DiskProbe::unflushed),
        flushed_bytes_per_second: of(&DiskProbe::flushed),
        flush_seconds: of(&|look| look.flush_seconds),
        read_bytes_per_second: of(&|look| look.read_bytes_per_second),
        said: sentence(&signs),
        signs,
    })
}

/// Whether a sign is seen in most of the looks, so that one disturbed moment makes none.
fn in_most(looks: &[&DiskProbe], seen: impl Fn(&DiskProbe) -> bool) -> bool {
    2 * looks.iter().filter(|look| seen(look)).count() > looks.len()
}

fn middle(looks: &[&DiskProbe], figure: impl Fn(&DiskProbe) -> f64) -> f64 {
    median(looks.iter().map(|look| figure(look))).unwrap_or(0.0)
}

fn flush_lowers(looks: &[&DiskProbe]) -> Option<DiskSign> {
    let seen = |look: &DiskProbe| {
        look.flush_seconds >= LONG_FLUSH_SECONDS && look.flushed() <= FLUSH_LOWERS_TO * look.unflushed()
    };
    in_most(looks, seen).then(|| DiskSign::FlushLowers {
        write_bytes_per_second: middle(looks, DiskProbe::unflushed),
        flushed_bytes_per_second: middle(looks, DiskProbe::flushed),
    })
}

fn writes_above_reads(looks: &[&DiskProbe]) -> Option<DiskSign> {
    // Reads that something else slowed down are no evidence: the slowest writes against the fastest reads.
    let written = looks.iter().map(|look| look.flushed()).fold(f64::INFINITY, f64::min);
    let read = looks.iter().map(|look| look.read_bytes_per_second).fold(0.0, f64::max);
    let seen = read > 0.0 && written >= WRITES_ABOVE_READS * read && written >= ABOVE_ANY_SUCH_QUOTA;
    seen.then_some(DiskSign::WritesAboveReads { write_bytes_per_second: written, read_bytes_per_second: read })
}

/// Means of the first and of the last third of the window.
fn thirds(look: &DiskProbe) -> Option<(f64, f64)> {
    let parts = &look.write_bytes_per_second;
    let third = parts.len() / 3;
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    (parts.len() >= FEWEST_PARTS).then(|| (mean(&parts[..third]), mean(&parts[parts.len() - third..])))
}

fn falls(looks: &[&DiskProbe]) -> Option<DiskSign> {
    let seen = |look: &DiskProbe| thirds(look).is_some_and(|(first, last)| last <= FALLS_TO * first);
    let of = |which: fn((f64, f64)) -> f64| median(looks.iter().filter_map(|look| thirds(look).map(which)));
    in_most(looks, seen).then_some(())?;
    Some(DiskSign::Falls {
        first_bytes_per_second: of(|(first, _)| first)?,
        last_bytes_per_second: of(|(_, last)| last)?,
        seconds: middle(looks, |look| look.write_seconds),
    })
}

/// What the signs come to; `None`: there are none.
fn sentence(signs: &[DiskSign]) -> Option<Sentence> {
    let behind = signs.iter().find_map(|sign| match sign {
        DiskSign::Behind(behind) => Some(behind),
        _ => None,
    });
    match behind.map(|behind| (behind.kind, name(&behind.device))) {
        Some((BehindKind::Memory, device)) => return Some(statement::disk_is_memory(device)),
        Some((BehindKind::PageCache, device)) => return Some(statement::disk_is_page_cache(device)),
        None => {}
    }
    let each: Vec<Value> = signs.iter().filter_map(told).map(Value::from).collect();
    let list = Value::Row(each);
    match signs {
        [] => None,
        // A quota that lets more through at first looks alike.
        [DiskSign::Falls { .. }] => Some(statement::disk_is_a_cache_or_an_allowance(list)),
        _ => Some(statement::disk_is_a_cache(list)),
    }
}

fn told(sign: &DiskSign) -> Option<Sentence> {
    Some(match *sign {
        DiskSign::Behind(_) => return None,
        DiskSign::FlushLowers { write_bytes_per_second, flushed_bytes_per_second } => statement::disk_flush_lowers(
            Value::Bandwidth(write_bytes_per_second),
            Value::Bandwidth(flushed_bytes_per_second),
        ),
        DiskSign::WritesAboveReads { write_bytes_per_second, read_bytes_per_second } => {
            statement::disk_writes_above_reads(
                Value::Bandwidth(write_bytes_per_second),
                Value::Bandwidth(read_bytes_per_second),
            )
        }
        DiskSign::Falls { first_bytes_per_second, last_bytes_per_second, seconds } => statement::disk_writes_fall(
            Value::Bandwidth(first_bytes_per_second),
            Value::Bandwidth(last_bytes_per_second),
            Value::Seconds(seconds),
        ),
    })
}

/// In what the lanes' own devices differ from the disk under them, of what mkfs and the kernel look at; `None`: in
/// nothing, or one of them does not tell.
pub(crate) fn queues_differ(record: &Record) -> Option<Sentence> {
    let disk = &record.header.machine.device;
    let there = disk.queue.as_ref()?;
    let lanes = record.header.lanes.iter().filter(|lane| lane.backing == disk.name);
    let differing = lanes.filter_map(|lane| lane.queue.as_ref()).map(|here| differences(here, there));
    let list = differing.into_iter().find(|list| !list.is_empty())?;
    let list = list.into_iter().map(Value::from).collect();
    Some(statement::loop_is_not_the_disk(name(&disk.name), Value::Row(list)))
}

/// What says one difference.
type Say = fn() -> Sentence;

fn differences(here: &QueueLimits, there: &QueueLimits) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = Vec::new();
    let mut sizes = |here: Option<u64>, there: Option<u64>, say: fn(Value, Value) -> Sentence| {
        if let (Some(here), Some(there)) = (here, there)
            && here != there
        {
            all.push(say(bytes(here), bytes(there)));
        }
    };
    sizes(here.logical_block_bytes, there.logical_block_bytes, statement::logical_blocks_differ);
    sizes(here.physical_block_bytes, there.physical_block_bytes, statement::physical_blocks_differ);
    // A device without stripes names its block here, which is told already.
    let chunk = |of: &QueueLimits| of.minimum_io_bytes.filter(|&least| Some(least) != of.physical_block_bytes);
    if chunk(here) != chunk(there) {
        sizes(here.minimum_io_bytes, there.minimum_io_bytes, statement::minimum_io_differs);
    }
    sizes(here.optimal_io_bytes, there.optimal_io_bytes, statement::optimal_io_differs);
    let cached = |of: &QueueLimits| of.write_cache.as_deref().map(|cache| cache == "write back");
    let discards = |of: &QueueLimits| of.discard_max_bytes.map(|most| most > 0);
    let flags: [(Option<bool>, Option<bool>, Say, Say); 4] = [
        (cached(here), cached(there), statement::loop_has_a_write_cache, statement::loop_has_no_write_cache),
        (here.fua, there.fua, statement::loop_has_fua, statement::loop_has_no_fua),
        (discards(here), discards(there), statement::loop_discards, statement::loop_does_not_discard),
        (here.rotational, there.rotational, statement::loop_spins, statement::loop_does_not_spin),
    ];
    for (here, there, has, lacks) in flags {
        match (here, there) {
            (Some(true), Some(false)) => all.push(has()),
            (Some(false), Some(true)) => all.push(lacks()),
            _ => {}
        }
    }
    all
}

/// A size of a queue; 0 is none.
fn bytes(size: u64) -> Value {
    if size == 0 { statement::no_such_size().into() } else { Value::Bytes(size as f64) }
}
