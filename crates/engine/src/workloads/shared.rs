//! One file for all workers and clients (N-1): whose part is which, and how all of it is made.

use super::populate::{Filling, populate_part};
use crate::error::EngineError;
use crate::pattern::Places;
use crate::target::Directory;
use model::job::{FileLayout, Io};
use model::ranks::Clients;
use std::sync::atomic::AtomicBool;

/// The file.
pub(super) const FILE_NAME: &str = "fairlane.shared";

/// One worker's part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedPart {
    /// Its number, from 0.
    number: u64,
    /// How many parts there are.
    of: u64,
}

impl SharedPart {
    /// The part of a worker of the client of this number.
    fn new(io: &Io, client: u32, clients: Clients, worker: u32) -> Self {
        let workers = u64::from(io.numjobs.max(1));
        SharedPart {
            number: u64::from(client) * workers + u64::from(worker),
            of: u64::from(clients.of.max(1)) * workers,
        }
    }

    /// The part that a worker works on; `None`: it has files of its own. Work that changes nothing reads what another
    /// client wrote.
    pub(super) fn worked_on(io: &Io, clients: Clients, worker: u32) -> Option<Self> {
        let client = if io.rw.writes() { clients.number } else { clients.reads };
        (io.file != FileLayout::Own).then(|| SharedPart::new(io, client, clients, worker))
    }

    /// Offset of a part of `size` bytes that lies together.
    pub(super) fn start(&self, size: u64) -> u64 {
        self.number * size
    }

    /// Offset of the block of this number where blocks go round.
    pub(super) fn block(&self, number: u64, bytes: u64) -> u64 {
        (number * self.of + self.number) * bytes
    }

    /// Where the worker's operations go.
    pub(super) fn places(&self, io: &Io, seed: u64) -> Result<Places, EngineError> {
        let size = io.size.get();
        match io.file {
            FileLayout::Strided => Places::strided(io, size, (self.number, self.of), seed),
            FileLayout::Own | FileLayout::Segmented => {
                let start = self.start(size);
                Places::new(io, &[(start, start + size)], seed)
            }
        }
    }
}

/// Bytes of the whole file.
///
/// # Errors
/// [`EngineError::Unsuitable`] where no file is so long.
pub(super) fn whole_bytes(io: &Io, clients: Clients) -> Result<u64, EngineError> {
    let parts = u64::from(clients.of.max(1)) * u64::from(io.numjobs.max(1));
    let whole = io.size.get().checked_mul(parts).filter(|whole| i64::try_from(*whole).is_ok());
    whole.ok_or_else(|| {
        EngineError::Unsuitable(format!(
            "one file of {parts} parts of {} bytes is longer than a file can be; lower size",
            io.size.get()
        ))
    })
}

/// Writes the parts of this client's workers, each in full and filled as `filling` tells. The file is there.
///
/// # Errors
/// The first call that fails.
pub(super) fn make_parts(
    directory: Directory<'_>,
    io: &Io,
    clients: Clients,
    filling: impl Fn(u32) -> Filling,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    (0..io.numjobs.max(1)).try_for_each(|worker| {
        let part = SharedPart::new(io, clients.number, clients, worker);
        populate_part(directory, FILE_NAME, &part, io, filling(worker), stop)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use model::job::Pattern;
    use std::collections::BTreeSet;

    fn io(rw: Pattern, file: FileLayout) -> Io {
        Io { rw, file, bs: Bytes(47_008), size: Bytes(4 * 47_008), numjobs: 3, ..Io::default() }
    }

    fn offsets(io: &Io, clients: Clients, worker: u32) -> Vec<u64> {
        let part = SharedPart::worked_on(io, clients, worker).expect("a part");
        let mut places = part.places(io, 7).expect("places");
        std::iter::from_fn(|| places.next()).map(|span| span.offset).collect()
    }

    #[test]
    fn all_parts_are_the_whole_file_and_each_block_is_one_workers() {
        for rw in [Pattern::Write, Pattern::RandWrite, Pattern::RandRead] {
            for file in [FileLayout::Segmented, FileLayout::Strided] {
                let io = io(rw, file);
                let mut seen = BTreeSet::new();
                for number in 0..2 {
                    let clients = Clients { number, reads: number, of: 2 };
                    for worker in 0..3 {
                        for offset in offsets(&io, clients, worker) {
                            assert!(seen.insert(offset), "{rw:?} {file:?}: {offset} is worked on twice");
                        }
                    }
                }
                let whole = whole_bytes(&io, Clients { number: 0, reads: 0, of: 2 }).expect("a length");
                assert_eq!(seen.len(), 24);
                assert!(seen.iter().enumerate().all(|(at, offset)| *offset == at as u64 * 47_008), "{seen:?}");
                assert_eq!(whole, 24 * 47_008);
            }
        }
    }

    #[test]
    fn a_strided_worker_has_every_nth_block_in_order_and_goes_round() {
        let io = io(Pattern::Write, FileLayout::Strided);
        let clients = Clients { number: 1, reads: 0, of: 2 };
        let blocks = |of: &[u64]| of.iter().map(|block| block * 47_008).collect::<Vec<u64>>();
        assert_eq!(offsets(&io, clients, 0), blocks(&[3, 9, 15, 21]));
        let part = SharedPart::worked_on(&io, clients, 0).expect("a part");
        assert_eq!(part.block(2, 47_008), 15 * 47_008, "it is populated where it works");
        let mut places = part.places(&io, 7).expect("places");
        while places.next().is_some() {}
        places.restart();
        assert_eq!(places.next().map(|span| span.offset), Some(3 * 47_008));
    }

    #[test]
    fn only_work_that_changes_nothing_reads_what_another_client_wrote() {
        let clients = Clients { number: 0, reads: 1, of: 2 };
        let first = |rw: Pattern| offsets(&io(rw, FileLayout::Segmented), clients, 0).into_iter().min();
        assert_eq!(first(Pattern::Read), Some(3 * 4 * 47_008));
        assert_eq!((first(Pattern::Write), first(Pattern::RandRw)), (Some(0), Some(0)));
        assert_eq!(SharedPart::worked_on(&io(Pattern::Read, FileLayout::Own), clients, 0), None);
    }

    #[test]
    fn a_file_that_would_be_too_long_is_refused() {
        let long = Io { size: Bytes(1 << 60), ..io(Pattern::Write, FileLayout::Segmented) };
        let said = whole_bytes(&long, Clients { of: 64, ..Clients::ALONE }).err().map(|error| error.to_string());
        assert!(said.is_some_and(|said| said.contains("lower size")));
    }
}
