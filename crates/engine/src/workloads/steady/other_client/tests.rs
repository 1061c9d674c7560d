//! What one client wrote is told by another, and every change of it is found.

use super::*;
use crate::target::OpenTarget;
use crate::workloads::{SteadyWork, Work};
use model::Bytes;
use model::agent::Target;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

const BLOCK: u64 = 8192;

fn io(rw: Pattern, file: FileLayout) -> Io {
    let bs = if file == FileLayout::Strided { 47_008 } else { BLOCK };
    Io { rw, file, bs: Bytes(bs), size: Bytes(bs * 150), ..Io::default() }
}

fn place(folder: &Path) -> OpenTarget {
    OpenTarget::open(&Target::Directory(folder.to_owned())).expect("a folder")
}

/// A client of two makes its files, and works for a moment; answers the work of the other one.
fn written(folder: &Path, io: &Io) -> Box<dyn Work> {
    let of_client = |number: u32, seed: u64| {
        let clients = Clients { number, reads: 1 - number, of: 2 };
        SteadyWork::prepare(&place(folder), io, (seed, clients), Arc::default()).expect("prepared")
    };
    let mut writer = of_client(1, 71);
    writer.slice(&place(folder), 0.0, 0.005, &mut ()).expect("a slice");
    drop(writer);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let own = if io.file == FileLayout::Own { elsewhere.path() } else { folder };
    let clients = Clients { number: 0, reads: 1, of: 2 };
    Box::new(SteadyWork::prepare(&place(own), io, (70, clients), Arc::default()).expect("prepared"))
}

fn check_of(work: &mut dyn Work, folder: &Path, seed: u64) -> Result<u64, String> {
    work.check_other(&place(folder), OtherClient { number: 1, rank: 5, seed }).map_err(|error| error.to_string())
}

#[test]
fn every_layout_and_pattern_is_told_by_the_other_clients_seed_alone() {
    for (rw, numjobs) in [(Pattern::Write, 1), (Pattern::RandRw, 2), (Pattern::Read, 2)] {
        for file in [FileLayout::Own, FileLayout::Segmented, FileLayout::Strided] {
            let folder = tempfile::tempdir().expect("a folder");
            let io = Io { numjobs, ..io(rw, file) };
            let mut work = written(folder.path(), &io);
            let all = u64::from(numjobs) * io.size.get();
            assert_eq!(check_of(&mut *work, folder.path(), 71), Ok(all.min(256 * io.bs.get())), "{rw:?} {file:?}");
            let said = check_of(&mut *work, folder.path(), 72).unwrap_err();
            assert!(said.contains("of another place instead of 0x") && said.contains("which rank 5 wrote"), "{said}");
        }
    }
}

#[test]
fn of_long_blocks_in_several_files_no_more_is_read_than_of_short_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let io = Io { numjobs: 3, bs: Bytes(8 << 20), size: Bytes(8 << 20), ..io(Pattern::Write, FileLayout::Own) };
    let mut work = written(folder.path(), &io);
    assert_eq!(check_of(&mut *work, folder.path(), 71), Ok(MOST_BYTES));
}

#[test]
fn a_byte_that_changed_a_block_in_another_place_and_a_short_file_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let io = io(Pattern::Write, FileLayout::Own);
    let mut work = written(folder.path(), &io);
    assert_eq!(check_of(&mut *work, folder.path(), 71), Ok(io.size.get()));
    let path = folder.path().join("fairlane.contents");
    let file = std::fs::File::options().read(true).write(true).open(&path).expect("the file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, 3 * BLOCK + 4500).expect("a byte");
    file.write_all_at(&[byte[0] ^ 0x10], 3 * BLOCK + 4500).expect("a byte");
    let said = check_of(&mut *work, folder.path(), 71).unwrap_err();
    let values = format!("{:#04x} instead of {:#04x}, which rank 5 wrote", byte[0] ^ 0x10, byte[0]);
    assert!(said.contains(&format!("wrong data at offset {}: {values}", 3 * BLOCK + 4500)), "{said}");
    file.write_all_at(&byte, 3 * BLOCK + 4500).expect("a byte");
    let mut block = vec![0; BLOCK as usize];
    file.read_exact_at(&mut block, 5 * BLOCK).expect("a block");
    file.write_all_at(&block, 7 * BLOCK).expect("a block");
    let said = check_of(&mut *work, folder.path(), 71).unwrap_err();
    assert!(said.contains(&format!("at offset {}: the mark 0x", 7 * BLOCK)), "{said}");
    file.set_len(7 * BLOCK + 100).expect("a length");
    let said = check_of(&mut *work, folder.path(), 71).unwrap_err();
    assert!(said.contains(&format!("at offset {}: the file's end instead of data", 7 * BLOCK + 100)), "{said}");
}

#[test]
fn what_a_seed_does_not_tell_is_not_compared() {
    let told = |change: &dyn Fn(&mut Io)| {
        let mut io = io(Pattern::Write, FileLayout::Own);
        change(&mut io);
        can_be_told(&io)
    };
    assert!(told(&|_| {}));
    let changes: [&dyn Fn(&mut Io); 9] = [
        &|io| io.bs = Bytes(47_008),
        &|io| io.data = Data::Zero,
        &|io| io.dedupe_percentage = 10,
        &|io| io.offset = Bytes(512),
        &|io| io.blockalign = Bytes(4096),
        &|io| io.rw = Pattern::Append,
        &|io| io.filename = vec!["a".to_owned()],
        &|io| io.filename_format = "a.$filenum".to_owned(),
        &|io| (io.file, io.bs, io.iodepth) = (FileLayout::Strided, Bytes(8), 65_537),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert!(!told(change), "{number}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut work = written(folder.path(), &Io { data: Data::Zero, ..io(Pattern::Write, FileLayout::Own) });
    assert_eq!(check_of(&mut *work, folder.path(), 71), Ok(0));
}
