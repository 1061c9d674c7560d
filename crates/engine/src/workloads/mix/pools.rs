//! Files of which threads take one at a time.

use super::heed;
use crate::beneath;
use crate::databases::Random;
use crate::error::EngineError;
use crate::target::Directory;
use model::mix::{Mix, Pool};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::{Errno, write};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// States of a file: not there; there, and read by one thread fewer than the number says; one thread's alone.
const ABSENT: u32 = 0;
const IDLE: u32 = 1;
const ALONE: u32 = u32::MAX;

/// How a thread wants a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// One that is there, beside others.
    Shared,
    /// One that is there, alone.
    Alone,
    /// One that is not there, alone.
    Absent,
}

/// A file's name. Aligned: two threads that hold neighbours must not wait for one cache line, of which
/// some ARM processors have 128 bytes.
#[derive(Debug)]
#[cfg_attr(target_arch = "aarch64", repr(align(128)))]
#[cfg_attr(not(target_arch = "aarch64"), repr(align(64)))]
pub(super) struct Slot {
    state: AtomicU32,
    /// Bytes, while it is there.
    pub(super) size: AtomicU64,
    /// Below the folder of the work.
    pub(super) name: CString,
}

impl Slot {
    fn take(&self, want: Want) -> bool {
        let swap = |from, to| self.state.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok();
        match want {
            Want::Alone => swap(IDLE, ALONE),
            Want::Absent => swap(ABSENT, ALONE),
            Want::Shared => loop {
                match self.state.load(Ordering::Relaxed) {
                    ABSENT | ALONE => return false,
                    readers if swap(readers, readers + 1) => return true,
                    _ => {}
                }
            },
        }
    }

    /// `there`: it is there from now on.
    pub(super) fn give_back(&self, want: Want, there: bool) {
        match want {
            Want::Shared => _ = self.state.fetch_sub(1, Ordering::Release),
            Want::Alone | Want::Absent => self.state.store(if there { IDLE } else { ABSENT }, Ordering::Release),
        }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(self.name.to_string_lossy().into_owned())
    }

    #[cold]
    pub(super) fn error(&self, action: &'static str, errno: Errno) -> EngineError {
        EngineError::file(action, self.path(), errno)
    }

    #[cold]
    pub(super) fn wrong_size(&self, found: u64, expected: u64) -> EngineError {
        EngineError::Contents { path: self.path(), what: format!("has {found} bytes instead of {expected}") }
    }
}

/// All pools of a workload.
#[derive(Debug)]
pub(super) struct Pools(Vec<Vec<Slot>>);

impl Pools {
    /// Makes the folders and the files that are there at the beginning.
    pub(super) fn make(
        (path, directory): Directory<'_>,
        top: &str,
        mix: &Mix,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Pools, EngineError> {
        let own = path.join(top);
        beneath::remove_tree(directory, top).map_err(|errno| EngineError::file("remove", &own, errno))?;
        let make = |directory: BorrowedFd, name: &str| {
            mkdirat(directory, name, Mode::RWXU)
                .map_err(|errno| EngineError::file("create directory", own.join(name), errno))
        };
        let folder = beneath::make_folder(directory, top, Mode::RWXU, None)
            .map_err(|errno| EngineError::file("create directory", &own, errno))?;
        let mut pools = Vec::new();
        for (at, pool) in mix.files.iter().enumerate() {
            make(folder.as_fd(), &format!("p{at}"))?;
            for number in 0..pool.directories {
                make(folder.as_fd(), &format!("p{at}/d{number:06}"))?;
            }
            let mut random = Random::new(seed ^ ((at as u64 + 1) << 56));
            let mut slots = Vec::with_capacity(pool.count as usize);
            for number in 0..pool.count {
                heed(stop)?;
                let within = (u128::from(number) * u128::from(pool.directories) / u128::from(pool.count)) as u64;
                let name = CString::new(format!("p{at}/d{within:06}/f{number:09}")).unwrap_or_default();
                let slot = Slot { state: AtomicU32::new(ABSENT), size: AtomicU64::new(0), name };
                // Spread over the names, so that a search from anywhere soon finds both kinds.
                if is_present(pool, number) {
                    fill(&slot, folder.as_fd(), size(pool, &mut random), &mut random)?;
                }
                slots.push(slot);
            }
            pools.push(slots);
        }
        Ok(Pools(pools))
    }

    pub(super) fn slots(&self, pool: usize) -> &[Slot] {
        &self.0[pool]
    }

    /// A file at random; `None`: none is as it is wanted at this moment.
    #[inline]
    pub(super) fn take(&self, pool: usize, want: Want, random: &mut Random) -> Option<&Slot> {
        let slots = self.slots(pool);
        let (first, last) = slots.split_at(random.below(slots.len() as u64) as usize);
        last.iter().chain(first).find(|slot| slot.take(want))
    }

    /// Every file that is there has its size, and no other is there. `shared`: all threads append to these files, whose
    /// sizes nobody knows.
    pub(super) fn verify(
        &self,
        pool: usize,
        top: BorrowedFd<'_>,
        shared: bool,
        stop: &AtomicBool,
    ) -> Result<(), EngineError> {
        for slot in self.slots(pool) {
            heed(stop)?;
            let there = slot.state.load(Ordering::Relaxed) != ABSENT;
            match (statat(top, &*slot.name, AtFlags::SYMLINK_NOFOLLOW), there) {
                (Err(Errno::NOENT), false) => {}
                (Err(Errno::NOENT), true) => {
                    return Err(EngineError::Contents { path: slot.path(), what: "is gone".to_owned() });
                }
                (Err(errno), _) => return Err(slot.error("stat", errno)),
                (Ok(_), false) => {
                    return Err(EngineError::Contents { path: slot.path(), what: "is there again".to_owned() });
                }
                (Ok(of), true) => {
                    let (found, expected) = (of.st_size as u64, slot.size.load(Ordering::Relaxed));
                    if !shared && found != expected {
                        return Err(slot.wrong_size(found, expected));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a file is there at the beginning: so many of all, evenly spread over the names.
fn is_present(pool: &Pool, number: u64) -> bool {
    let before = |number: u64| u128::from(number) * u128::from(pool.present()) / u128::from(pool.count);
    before(number + 1) > before(number)
}

fn fill(slot: &Slot, top: BorrowedFd, bytes: u64, random: &mut Random) -> Result<(), EngineError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(top, &*slot.name, flags, Mode::from_raw_mode(0o644));
    let file = file.map_err(|errno| slot.error("create", errno))?;
    let contents: Vec<u8> = (0..bytes.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).collect();
    let mut left = &contents[..bytes as usize];
    while !left.is_empty() {
        match write(&file, left).map_err(|errno| slot.error("write", errno))? {
            0 => return Err(slot.error("write", Errno::NOSPC)),
            count => left = &left[count..],
        }
    }
    slot.size.store(bytes, Ordering::Relaxed);
    slot.state.store(IDLE, Ordering::Relaxed);
    Ok(())
}

/// Bytes of a file: gamma-distributed with the pool's mean and shape (Marsaglia and Tsang 2000: with d = shape - 1/3 and
/// c = 1/sqrt(9 d), d (1 + c x)^3 of a normal x is accepted where ln u < x^2/2 + d - d v + d ln v).
fn size(pool: &Pool, random: &mut Random) -> u64 {
    let mean = pool.mean.get() as f64;
    if pool.shape == 0.0 {
        return pool.mean.get();
    }
    let d = pool.shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && unit(random).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return (d * v * mean / pool.shape).round() as u64;
        }
    }
}

/// Above 0, at most 1.
fn unit(random: &mut Random) -> f64 {
    ((random.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Standard normal (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * unit(random).ln()).sqrt() * (std::f64::consts::TAU * unit(random)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    fn pool(text: &str) -> Pool {
        toml::from_str(&format!("name = \"p\"\n{text}")).unwrap()
    }

    #[test]
    fn sizes_have_the_mean_and_the_spread_of_the_distribution() {
        let of = pool("count = 1\nmean = \"16KiB\"\nshape = 1.5");
        let mut random = Random::new(7);
        let all: Vec<f64> = (0..200_000).map(|_| size(&of, &mut random) as f64).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|bytes| (bytes - mean).powi(2)).sum::<f64>() / all.len() as f64;
        assert!((mean / 16384.0 - 1.0).abs() < 0.01, "{mean}");
        // The variance of a gamma distribution is the square of its mean over its shape.
        assert!((variance / (16384.0 * 16384.0 / 1.5) - 1.0).abs() < 0.03, "{variance}");
        assert_eq!(size(&Pool { shape: 0.0, mean: Bytes(5), ..of }, &mut random), 5);
    }

    #[test]
    fn so_many_files_are_there_and_spread_over_the_names() {
        let of = pool("count = 1000\nfilled = 0.8");
        let there: Vec<u64> = (0..1000).filter(|number| is_present(&of, *number)).collect();
        assert_eq!(there.len(), 800);
        assert!(there.windows(2).all(|two| two[1] - two[0] <= 2));
    }

    #[test]
    fn a_file_is_one_threads_alone_or_many_readers() {
        let slot = Slot { state: AtomicU32::new(ABSENT), size: AtomicU64::new(0), name: CString::default() };
        assert!(!slot.take(Want::Shared) && !slot.take(Want::Alone) && slot.take(Want::Absent));
        assert!(!slot.take(Want::Absent) && !slot.take(Want::Shared));
        slot.give_back(Want::Absent, true);
        assert!(slot.take(Want::Shared) && slot.take(Want::Shared) && !slot.take(Want::Alone));
        slot.give_back(Want::Shared, true);
        slot.give_back(Want::Shared, true);
        assert!(slot.take(Want::Alone));
        slot.give_back(Want::Alone, false);
        assert!(slot.take(Want::Absent));
    }
}
