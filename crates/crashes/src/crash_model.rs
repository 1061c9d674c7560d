//! What of the writes that no flush confirmed is on the disk after a cut.
//!
//! A disk may write its cache in any order and stop anywhere, so any subset is possible; what it does
//! not do is to tear a sector. Everything here is drawn from a seed and nothing else.

use crate::log::{Entry, Log};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::str::FromStr;

/// What survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Survival {
    /// Nothing that was not flushed.
    Nothing,
    /// All of it.
    Everything,
    /// The first so many writes.
    Prefix(u64),
    /// All but one write.
    AllBut(u64),
    /// Each write or not, drawn from this seed.
    Random(u64),
    /// As `Random`, and one write is torn between sectors of so many bytes, counted from the disk's beginning.
    Torn {
        /// Of the draw.
        seed: u64,
        /// 512 or 4096.
        sector_bytes: u32,
    },
}

/// A part of an entry that reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The entry's number in the log.
    pub entry: usize,
    /// From here, in bytes from the beginning of its range.
    pub from: u64,
    /// So many bytes.
    pub bytes: u64,
}

/// The parts of the volatile writes of a cut that are on the disk, in the order in which they were answered.
pub fn survivors(log: &Log, cut: u64, survival: Survival) -> Vec<Piece> {
    let volatile = log.volatile(cut);
    let length = |entry: usize| log.entries()[entry].range().map_or(0, |(_, bytes)| bytes);
    let whole = |entry: &usize| Piece { entry: *entry, from: 0, bytes: length(*entry) };
    match survival {
        Survival::Nothing => Vec::new(),
        Survival::Everything => volatile.iter().map(whole).collect(),
        Survival::Prefix(count) => volatile.iter().take(count as usize).map(whole).collect(),
        Survival::AllBut(missing) => {
            let kept = volatile.iter().enumerate().filter(|(index, _)| *index as u64 != missing);
            kept.map(|(_, entry)| whole(entry)).collect()
        }
        Survival::Random(seed) => draw(log.entries(), &volatile, seed, None),
        Survival::Torn { seed, sector_bytes } => draw(log.entries(), &volatile, seed, Some(u64::from(sector_bytes))),
    }
}

fn draw(entries: &[Entry], volatile: &[usize], seed: u64, sector: Option<u64>) -> Vec<Piece> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    // Few, half or most of them: a cache that was nearly empty is as likely as one that was nearly full.
    let share = [32u64, 128, 224][(random.next_u64() % 3) as usize];
    let mut kept: Vec<bool> = volatile.iter().map(|_| random.next_u64() % 256 < share).collect();
    let torn = match (sector, volatile.len() as u64) {
        (Some(_), count) if count > 0 => Some((random.next_u64() % count) as usize),
        _ => None,
    };
    if let Some(torn) = torn {
        kept[torn] = true;
    }
    let mut pieces = Vec::new();
    for (index, &entry) in volatile.iter().enumerate() {
        if !kept[index] {
            continue;
        }
        let Some(range) = entries[entry].range() else { continue };
        match sector.filter(|_| torn == Some(index)) {
            None => pieces.push(Piece { entry, from: 0, bytes: range.1 }),
            Some(sector) => tear(entry, range, sector, &mut random, &mut pieces),
        }
    }
    pieces
}

/// One write, of which only some of the disk's sectors arrived: its first ones, or any. Sectors lie where the disk has
/// them, wherever the write begins; of a sector that it covers in part, its part arrived or did not.
fn tear(entry: usize, (offset, bytes): (u64, u64), sector: u64, random: &mut impl Rng, pieces: &mut Vec<Piece>) {
    let (first, end) = (offset / sector, (offset + bytes).div_ceil(sector));
    let prefix = random.next_u64().is_multiple_of(2).then(|| random.next_u64() % (end - first).max(1));
    for number in first..end {
        let arrived = match prefix {
            Some(count) => number - first < count,
            None => random.next_u64().is_multiple_of(2),
        };
        let from = (number * sector).saturating_sub(offset);
        let length = ((number + 1) * sector - offset).min(bytes) - from;
        match pieces.last_mut() {
            Some(last) if arrived && last.entry == entry && last.from + last.bytes == from => last.bytes += length,
            _ if arrived => pieces.push(Piece { entry, from, bytes: length }),
            _ => {}
        }
    }
}

/// One simulated cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// When, in ticks of the log.
    pub tick: u64,
    /// What survived.
    pub survival: Survival,
}

impl fmt::Display for Survival {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Survival::Nothing => write!(f, "nothing"),
            Survival::Everything => write!(f, "everything"),
            Survival::Prefix(count) => write!(f, "first:{count}"),
            Survival::AllBut(missing) => write!(f, "all-but:{missing}"),
            Survival::Random(seed) => write!(f, "random:{seed}"),
            Survival::Torn { seed, sector_bytes } => write!(f, "torn:{seed}:{sector_bytes}"),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.tick, self.survival)
    }
}

impl FromStr for Cut {
    type Err = String;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Cut, String> {
        let wrong = || {
            format!("`{text}` names no cut; write it as a report does: TICK/nothing, TICK/first:3, TICK/random:SEED, …")
        };
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).ok_or_else(wrong);
        let (tick, survival) = text.split_once('/').ok_or_else(wrong)?;
        let mut words = survival.split(':');
        let survival = match words.next() {
            Some("nothing") => Survival::Nothing,
            Some("everything") => Survival::Everything,
            Some("first") => Survival::Prefix(number(words.next())?),
            Some("all-but") => Survival::AllBut(number(words.next())?),
            Some("random") => Survival::Random(number(words.next())?),
            Some("torn") => {
                let seed = number(words.next())?;
                match number(words.next())? {
                    size @ (512 | 4096) => Survival::Torn { seed, sector_bytes: size as u32 },
                    _ => return Err(wrong()),
                }
            }
            _ => return Err(wrong()),
        };
        match words.next() {
            None => Ok(Cut { tick: number(Some(tick))?, survival }),
            Some(_) => Err(wrong()),
        }
    }
}

/// How often a cut is drawn again that gives an image which was drawn before: short logs have few.
const DRAWS: u32 = 4;

/// So many cuts in windows of a log, each from one tick to another, drawn from a seed and sorted by time: half of them
/// while a flush is under way, where most is open; a third right after an acknowledgement, where a promise is freshest;
/// the others at any moment of any window. An image that was drawn before, with the same acknowledgements, is taken only
/// where no other is found. `sectors`: sizes in bytes (512, 4096) between which writes are torn. None
/// where there is no window.
pub fn cuts(log: &Log, windows: &[(u64, u64)], count: usize, seed: u64, sectors: &[u32]) -> Vec<Cut> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    if windows.is_empty() {
        return Vec::new();
    }
    let inside = |tick: u64| windows.iter().any(|&(from, until)| (from..=until).contains(&tick));
    let (mut fresh, mut brinks) = (log.acknowledgements(), log.brinks());
    fresh.retain(|&tick| inside(tick));
    brinks.retain(|&(from, until)| inside(from) && inside(until));
    let mut drawn: HashSet<(u64, u64)> = HashSet::new();
    let mut cuts = Vec::with_capacity(count);
    for index in 0..count {
        for attempt in 1..=DRAWS {
            let (from, until) = windows[(random.next_u64() % windows.len() as u64) as usize];
            let any = from + random.next_u64() % until.saturating_sub(from).max(1);
            let (pick, within) = (random.next_u64(), random.next_u64());
            let tick = match (index % 6, brinks.len() as u64, fresh.len() as u64) {
                (0..=2, spans @ 1.., _) => {
                    let (came, last) = brinks[(pick % spans) as usize];
                    // Right before the answer, or at any moment from its arrival on.
                    if within.is_multiple_of(2) { last } else { came + within / 2 % (last - came + 1) }
                }
                (0..=4, _, ticks @ 1..) => fresh[(pick % ticks) as usize],
                _ => any,
            };
            let survival = survival(log.volatile(tick).len() as u64, &mut random, sectors);
            let cut = Cut { tick, survival };
            if drawn.insert((log.acknowledged_by(tick), Image::after_cut(log, cut).number())) || attempt == DRAWS {
                cuts.push(cut);
                break;
            }
        }
    }
    cuts.sort_by_key(|cut| cut.tick);
    cuts
}

fn survival(open: u64, random: &mut impl Rng, sectors: &[u32]) -> Survival {
    let one = random.next_u64();
    match random.next_u64() % 16 {
        0 | 1 => Survival::Nothing,
        2 => Survival::Everything,
        3..=5 => Survival::Prefix(one % (open + 1)),
        6 | 7 if open > 0 => Survival::AllBut(one % open),
        8..=11 => Survival::Torn { seed: one, sector_bytes: sectors[(one % sectors.len() as u64) as usize] },
        _ => Survival::Random(one),
    }
}

/// What an image is made of: all writes before one, and parts of those after it. Two cuts with the same are one image;
/// of two that differ, the bytes may still be the same where one write repeats another.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Image {
    whole_before: usize,
    then: Vec<Piece>,
}

/// What is on the disks after a cut: the number of entries that are there whole, from the first on, and pieces of others
/// in their order, whether flushes confirmed them or they survived.
pub fn there(log: &Log, cut: Cut) -> (usize, Vec<Piece>) {
    let (whole_before, durable) = log.durable(&log.durable_before(cut.tick));
    let mut then = survivors(log, cut.tick, cut.survival);
    if !durable.is_empty() {
        // Of another disk than the one that was flushed last.
        let bytes = |entry: usize| log.entries()[entry].range().map_or(0, |(_, bytes)| bytes);
        then.extend(durable.into_iter().map(|entry| Piece { entry, from: 0, bytes: bytes(entry) }));
        then.sort_by_key(|piece| (piece.entry, piece.from));
    }
    (whole_before, then)
}

impl Image {
    fn after_cut(log: &Log, cut: Cut) -> Image {
        let entries = log.entries();
        let (mut whole_before, mut then) = there(log, cut);
        let mut taken = 0;
        // Writes that survived as if a flush had confirmed them.
        while let Some(entry) = entries.get(whole_before) {
            match (entry.range(), then.get(taken)) {
                (None, _) => {}
                (Some((_, bytes)), Some(piece))
                    if (piece.entry, piece.from, piece.bytes) == (whole_before, 0, bytes) =>
                {
                    taken += 1;
                }
                (Some(_), _) => break,
            }
            whole_before += 1;
        }
        then.drain(..taken);
        Image { whole_before, then }
    }

    /// A number of its own: of a million images, two share theirs once in tens of millions of runs.
    fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// How many of these cuts had writes of which any part might be on the disk, and how many images the cuts give that are
/// made of different writes.
pub fn variety(log: &Log, cuts: &[Cut]) -> (u64, u64) {
    let open = cuts.iter().filter(|cut| !log.volatile(cut.tick).is_empty()).count() as u64;
    let images: HashSet<u64> = cuts.iter().map(|&cut| Image::after_cut(log, cut).number()).collect();
    (open, images.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_read_as_it_is_written() {
        let all = [
            Survival::Nothing,
            Survival::Everything,
            Survival::Prefix(3),
            Survival::AllBut(0),
            Survival::Random(u64::MAX),
            Survival::Torn { seed: 9, sector_bytes: 512 },
        ];
        for survival in all {
            let cut = Cut { tick: 77, survival };
            assert_eq!(cut.to_string().parse::<Cut>(), Ok(cut));
        }
        for wrong in ["", "7", "7/", "x/nothing", "7/first", "7/torn:1", "7/torn:1:1024", "7/nothing:1", "7/random:1:2"]
        {
            assert!(wrong.parse::<Cut>().is_err(), "{wrong}");
        }
    }
}
