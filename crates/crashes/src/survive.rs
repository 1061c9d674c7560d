//! What of the writes that no flush confirmed is on the disk after a cut.
//!
//! A disk may write its cache in any order and stop anywhere, so any subset is possible; what it does
//! not do is to tear a sector. Everything here is drawn from a seed and nothing else.

use crate::log::Log;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::fmt;
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
    /// As `Random`, and one write is torn between sectors of so many bytes.
    Torn {
        /// Of the draw.
        seed: u64,
        /// 512 or 4096.
        sector_bytes: u32,
    },
}

/// A part of an entry that reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        Survival::Random(seed) => draw(&volatile, seed, None, &length),
        Survival::Torn { seed, sector_bytes } => draw(&volatile, seed, Some(u64::from(sector_bytes)), &length),
    }
}

fn draw(volatile: &[usize], seed: u64, sector: Option<u64>, length: &dyn Fn(usize) -> u64) -> Vec<Piece> {
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
        let bytes = length(entry);
        match sector.filter(|_| torn == Some(index)) {
            None => pieces.push(Piece { entry, from: 0, bytes }),
            Some(sector) => tear(entry, bytes, sector, &mut random, &mut pieces),
        }
    }
    pieces
}

/// One write, of which only some sectors arrived: its first ones, or any.
fn tear(entry: usize, bytes: u64, sector: u64, random: &mut impl Rng, pieces: &mut Vec<Piece>) {
    let sectors = bytes.div_ceil(sector);
    let prefix = random.next_u64().is_multiple_of(2).then(|| random.next_u64() % sectors.max(1));
    for index in 0..sectors {
        let arrived = match prefix {
            Some(count) => index < count,
            None => random.next_u64().is_multiple_of(2),
        };
        let from = index * sector;
        let length = sector.min(bytes - from);
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

/// So many cuts in windows of a log, each from one tick to another, drawn from a seed and sorted by time: two thirds
/// right after a flush or an acknowledgement, where a promise is freshest, the others at any moment of any window.
/// `sectors`: sizes in bytes (512, 4096) between which writes are torn. None where there is no window.
pub fn cuts(log: &Log, windows: &[(u64, u64)], count: usize, seed: u64, sectors: &[u32]) -> Vec<Cut> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let Some(&(first, _)) = windows.first() else { return Vec::new() };
    let mut moments = log.moments(first);
    moments.retain(|&tick| windows.iter().any(|&(from, until)| (from..=until).contains(&tick)));
    let mut cuts: Vec<Cut> = (0..count)
        .map(|index| {
            let (from, until) = windows[(random.next_u64() % windows.len() as u64) as usize];
            let any = from + random.next_u64() % until.saturating_sub(from).max(1);
            let tick = match moments.len() {
                0 => any,
                _ if index % 3 == 2 => any,
                length => moments[(random.next_u64() % length as u64) as usize],
            };
            let open = log.volatile(tick).len() as u64;
            let one = random.next_u64();
            let survival = match random.next_u64() % 16 {
                0 | 1 => Survival::Nothing,
                2 => Survival::Everything,
                3..=5 => Survival::Prefix(one % (open + 1)),
                6 | 7 if open > 0 => Survival::AllBut(one % open),
                8..=11 => Survival::Torn { seed: one, sector_bytes: sectors[(one % sectors.len() as u64) as usize] },
                _ => Survival::Random(one),
            };
            Cut { tick, survival }
        })
        .collect();
    cuts.sort_by_key(|cut| cut.tick);
    cuts
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
