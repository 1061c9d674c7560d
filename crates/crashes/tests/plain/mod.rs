//! The oracle: a second, simple implementation of what a power cut leaves. It reads the log's bytes itself, decides
//! itself what survives, builds every image from an empty disk in plain memory, sector by sector, and knows nothing
//! of mappings, of indexes or of the image before.
#![allow(dead_code, reason = "each test file uses a part of it")]

use crashes::crash_model::{Cut, Survival};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const SECTOR: u64 = 512;

/// One entry as the oracle reads it.
pub struct Line {
    pub kind: u8,
    pub offset: u64,
    pub bytes: u64,
    pub received: u64,
    pub replied: u64,
    pub data: Vec<u8>,
    /// The disk that is written or flushed.
    disk: u64,
}

impl Line {
    fn changes(&self) -> bool {
        self.kind == 1 || self.kind == 2
    }

    /// The sectors of its range.
    pub fn sectors(&self) -> std::ops::Range<u64> {
        self.offset / SECTOR..(self.offset + self.bytes) / SECTOR
    }
}

/// Bytes of each disk of a log; of one disk all.
fn bytes_of_each(bytes: &[u8]) -> u64 {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    if &bytes[..8] == b"FLCUT002" { word(8) / word(16) } else { u64::MAX }
}

pub fn read(path: &Path) -> Vec<Line> {
    let bytes = std::fs::read(path).unwrap();
    let mut lines = Vec::new();
    let several = &bytes[..8] == b"FLCUT002";
    let mut at = if several { 24 } else { 16 };
    while at < bytes.len() {
        let word = |index: usize| {
            let from = at + 1 + 8 * index;
            u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap())
        };
        let kind = bytes[at];
        let length = if kind == 1 { word(1) as usize } else { 0 };
        let data = bytes[at + 41..at + 41 + length].to_vec();
        let disk = if kind == 3 { word(0) } else { word(0) / bytes_of_each(&bytes) };
        lines.push(Line { kind, offset: word(0), bytes: word(1), received: word(2), replied: word(3), data, disk });
        at += 41 + length;
    }
    lines
}

/// The disk: sectors that were ever written; all others are zeros. Writes of block devices are whole sectors.
#[derive(Default)]
pub struct Disk(BTreeMap<u64, [u8; SECTOR as usize]>);

impl Disk {
    fn put(&mut self, line: &Line, from: u64, bytes: u64) {
        assert!([line.offset, from, bytes].iter().all(|at| at.is_multiple_of(SECTOR)), "whole sectors");
        let first = (line.offset + from) / SECTOR;
        if line.kind == 2 {
            // Zeros of a whole disk: what is not in the map is zero.
            let gone: Vec<u64> = self.0.range(first..first + bytes / SECTOR).map(|(&sector, _)| sector).collect();
            for sector in gone {
                self.0.insert(sector, [0; SECTOR as usize]);
            }
            return;
        }
        for index in 0..bytes / SECTOR {
            let start = (from + index * SECTOR) as usize;
            let sector = line.data[start..start + SECTOR as usize].try_into().unwrap();
            self.0.insert(first + index, sector);
        }
    }

    pub fn sector(&self, number: u64) -> [u8; SECTOR as usize] {
        self.0.get(&number).copied().unwrap_or([0; SECTOR as usize])
    }

    /// The sectors that anything was ever written to.
    pub fn written(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.keys().copied()
    }

    /// All of it, for a small disk.
    pub fn whole(&self, bytes: u64) -> Vec<u8> {
        self.part(0, bytes)
    }

    /// A part of it, in whole sectors.
    pub fn part(&self, offset: u64, bytes: u64) -> Vec<u8> {
        let first = offset / SECTOR;
        let mut part = vec![0; bytes as usize];
        for (number, sector) in self.0.range(first..first + bytes / SECTOR) {
            let at = ((number - first) * SECTOR) as usize;
            part[at..at + SECTOR as usize].copy_from_slice(sector);
        }
        part
    }
}

/// When the last flush of a disk came of those that were answered by a tick: what was answered before it is safe.
fn safe_before(lines: &[Line], tick: u64, disk: u64) -> u64 {
    let flushes = lines.iter().filter(|line| line.kind == 3 && line.replied <= tick && line.disk == disk);
    flushes.fold(0, |last, flush| last.max(flush.received))
}

/// The writes that had come by a tick and that no flush confirmed.
pub fn open(lines: &[Line], tick: u64) -> Vec<&Line> {
    let is_open =
        |line: &&Line| line.changes() && line.received <= tick && line.replied >= safe_before(lines, tick, line.disk);
    lines.iter().filter(is_open).collect()
}

/// The disk at a cut: everything that a flush confirmed, then what survived of the rest.
pub fn image(lines: &[Line], cut: Cut) -> Disk {
    let mut disk = Disk::default();
    // Later writes lie over earlier ones of the same disk, whether a flush confirmed them or they survived.
    let is_safe = |line: &&Line| line.changes() && line.replied < safe_before(lines, cut.tick, line.disk);
    let mut parts: Vec<(&Line, u64, u64)> = lines.iter().filter(is_safe).map(|line| (line, 0, line.bytes)).collect();
    parts.extend(survivors(&open(lines, cut.tick), cut.survival));
    parts.sort_by_key(|(line, from, _)| (line.replied, *from));
    for (line, from, bytes) in parts {
        disk.put(line, from, bytes);
    }
    disk
}

/// What survives of the open writes, as the report's words promise: none, all, the first few, all but one, some, and
/// some with one of them torn between sectors.
fn survivors<'a>(open: &[&'a Line], survival: Survival) -> Vec<(&'a Line, u64, u64)> {
    let whole = |line: &&'a Line| (*line, 0, line.bytes);
    match survival {
        Survival::Nothing => Vec::new(),
        Survival::Everything => open.iter().map(whole).collect(),
        Survival::Prefix(count) => open[..open.len().min(count as usize)].iter().map(whole).collect(),
        Survival::AllBut(missing) => {
            let mut kept = open.to_vec();
            if (missing as usize) < kept.len() {
                kept.remove(missing as usize);
            }
            kept.iter().map(whole).collect()
        }
        Survival::Random(seed) => drawn(open, seed, None),
        Survival::Torn { seed, sector_bytes } => drawn(open, seed, Some(u64::from(sector_bytes))),
    }
}

/// The draws of a seed: the share of what survives, each write, which is torn, and which of its sectors arrived.
fn drawn<'a>(open: &[&'a Line], seed: u64, sector: Option<u64>) -> Vec<(&'a Line, u64, u64)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let share = match random.next_u64() % 3 {
        0 => 32,
        1 => 128,
        _ => 224,
    };
    let mut fate: Vec<bool> = Vec::new();
    for _ in open {
        fate.push(random.next_u64() % 256 < share);
    }
    let torn = match sector {
        Some(_) if !open.is_empty() => (random.next_u64() % open.len() as u64) as usize,
        _ => usize::MAX,
    };
    let mut parts = Vec::new();
    for (index, line) in open.iter().enumerate() {
        if index != torn {
            if fate[index] {
                parts.push((*line, 0, line.bytes));
            }
            continue;
        }
        // Which of the disk's own sectors the write lies in, and what of them arrived, by their addresses.
        let size = sector.unwrap();
        let touched: BTreeSet<u64> = line.sectors().map(|at| at * SECTOR / size).collect();
        let first_ones = match random.next_u64() % 2 {
            0 => Some((random.next_u64() % touched.len().max(1) as u64) as usize),
            _ => None,
        };
        let mut arrived = BTreeSet::new();
        for (place, &number) in touched.iter().enumerate() {
            let has = match first_ones {
                Some(limit) => place < limit,
                None => random.next_u64().is_multiple_of(2),
            };
            if has {
                arrived.insert(number);
            }
        }
        for at in line.sectors().filter(|at| arrived.contains(&(at * SECTOR / size))) {
            parts.push((*line, at * SECTOR - line.offset, SECTOR));
        }
    }
    parts
}
