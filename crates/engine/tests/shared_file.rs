//! One file that all workers and clients share (N-1).

mod common;

use common::*;
use engine::{EngineError, OpenTarget, Work};
use model::Bytes;
use model::job::FileLayout;
use model::ranks::Clients;
use model::workload::{Io, Kind, Pattern, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const FILE: &str = "fairlane.shared";

fn shared(rw: Pattern, file: FileLayout, bs: u64, blocks: u64) -> Io {
    Io { file, ..io(rw, bs, bs * blocks) }
}

fn prepare_as(place: &OpenTarget, io: &Io, clients: Clients) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Io(Box::new(io.clone())) };
    // Ranks have seeds of their own.
    let seed = 42 ^ (u64::from(clients.number) << 32);
    engine::prepare_noted(place, &workload, (seed, clients), None, Arc::new(AtomicBool::new(false)))
}

fn bytes(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join(FILE)).unwrap()
}

#[test]
fn workers_of_one_machine_share_one_file_that_was_written_in_full() {
    for folder in [on_disk(), in_memory()] {
        for file in [FileLayout::Segmented, FileLayout::Strided] {
            for (rw, bs, direct) in [
                (Pattern::Write, 16 * KIB, true),
                (Pattern::RandWrite, 47_008, false),
                (Pattern::Read, 47_008, false),
                (Pattern::Read, 256 * KIB, true),
                (Pattern::RandRead, 4 * KIB, false),
            ] {
                let io = Io { numjobs: 3, direct, ..shared(rw, file, bs, 5) };
                let place = directory(folder.path());
                let mut work = match prepare(&place, &io) {
                    // Memory has no direct I/O on older kernels.
                    Err(EngineError::DirectRefused { .. }) => continue,
                    prepared => prepared.unwrap_or_else(|error| panic!("{io:?}: {error}")),
                };
                let populated = bytes(folder.path());
                assert_eq!(populated.len() as u64, 3 * 5 * bs, "{io:?}");
                assert_incompressible(&populated);
                let window = slice(&mut *work, &place);
                assert!(window.operations > 0, "{io:?}");
                assert_eq!(window.bytes, window.operations * bs);
                let after = bytes(folder.path());
                assert_eq!((after.len(), after == populated), (populated.len(), rw.reads()), "{io:?}");
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "one file");
                std::fs::remove_file(folder.path().join(FILE)).unwrap();
            }
        }
    }
}

#[test]
fn clients_make_their_own_parts_and_leave_the_others_alone() {
    for file in [FileLayout::Segmented, FileLayout::Strided] {
        let folder = on_disk();
        let place = directory(folder.path());
        let io = Io { numjobs: 2, ..shared(Pattern::Write, file, 47_008, 3) };
        let blocks = |bytes: &[u8]| bytes.chunks(47_008).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let first = Clients { number: 0, reads: 1, of: 2 };
        let _first = prepare_as(&place, &io, first).unwrap();
        let before = blocks(&bytes(folder.path()));
        let mut second = prepare_as(&place, &io, Clients { number: 1, reads: 0, of: 2 }).unwrap();
        let after = blocks(&bytes(folder.path()));
        assert_eq!(after.len(), 12);
        assert_incompressible(&after.concat());
        let of_first = |block: usize| match file {
            FileLayout::Strided => block % 4 < 2,
            _ => block < 6,
        };
        for block in (0..12).filter(|&block| of_first(block)) {
            assert_eq!(before[block], after[block], "{file:?}: block {block} was the first client's");
        }
        assert!(slice(&mut *second, &place).operations > 0);
        let worked = blocks(&bytes(folder.path()));
        for block in 0..12 {
            assert!(!of_first(block) || worked[block] == after[block], "{file:?}: block {block} is not the second's");
        }
        assert_ne!(worked, after, "{file:?}");
    }
}

#[test]
fn a_client_reads_what_another_one_wrote() {
    let folder = on_disk();
    let place = directory(folder.path());
    let io = shared(Pattern::Read, FileLayout::Segmented, 4 * KIB, 8);
    let mut crossed = prepare_as(&place, &io, Clients { number: 0, reads: 1, of: 2 }).unwrap();
    let mut other = prepare_as(&place, &io, Clients { number: 1, reads: 0, of: 2 }).unwrap();
    assert!(slice(&mut *crossed, &place).operations > 0);
    // Without the second client's part there is nothing to read for the first, and all is there for the second.
    let whole = std::fs::File::options().write(true).open(folder.path().join(FILE)).unwrap();
    whole.set_len(32 * KIB).unwrap();
    assert!(crossed.slice(&place, 0.0, 0.02, &mut ()).is_err());
    assert!(slice(&mut *other, &place).operations > 0);
}

#[test]
fn a_client_that_is_none_of_all_is_refused() {
    let folder = on_disk();
    let io = shared(Pattern::Write, FileLayout::Strided, 4 * KIB, 8);
    for (number, reads, of) in [(2, 0, 2), (0, 2, 2), (1, 0, 0), (u32::MAX, u32::MAX, u32::MAX)] {
        let prepared = prepare_as(&directory(folder.path()), &io, Clients { number, reads, of });
        let said = prepared.err().map(|error| error.to_string());
        assert!(said.is_some_and(|said| said.contains("is none of") && said.contains("start the job again")));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_an_earlier_work_left_goes_where_nobody_else_works() {
    let folder = on_disk();
    let place = directory(folder.path());
    std::fs::write(folder.path().join(FILE), vec![0; MIB as usize]).unwrap();
    let io = Io { size: Bytes(64 * KIB), ..shared(Pattern::Write, FileLayout::Strided, 4 * KIB, 1) };
    let _work = prepare(&place, &io).unwrap();
    assert_eq!(bytes(folder.path()).len() as u64, 64 * KIB);
}
