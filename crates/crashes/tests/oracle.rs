//! The images against a second, simple implementation, the one in `plain`.

mod plain;

use crashes::crash_model::{Cut, Survival, cuts, survivors, variety};
use crashes::image::Images;
use crashes::log::{Entry, Log, LogWriter, What};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::sync::Arc;

const DISK: u64 = 256 << 10;

/// A log as several threads would write it: requests overlap in time, and some are answered late.
fn random_log(path: &Path, seed: u64, disks: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut log = LogWriter::create(path, DISK, disks).unwrap();
    let each = DISK / disks;
    let mut tick = 1;
    let mut open: Vec<(What, u64, Vec<u8>)> = Vec::new();
    for record in 0..400u64 {
        let draw = random.next_u64();
        let bytes = 512 * (1 + draw / 7 % 24);
        let disk = draw / 77 % disks;
        let offset = disk * each + 512 * (draw / 1000 % ((each - bytes) / 512));
        let data: Vec<u8> = (0..bytes).map(|index| (draw.wrapping_mul(index + 1) >> 24) as u8).collect();
        let entry = match draw % 10 {
            0 => (What::Flush { disk }, Vec::new()),
            1 => (What::Zero { offset, bytes }, Vec::new()),
            2 => (What::Acknowledged { record }, Vec::new()),
            _ => (What::Write { offset, bytes, data: 0 }, data),
        };
        open.push((entry.0, tick, entry.1));
        tick += 1;
        while open.len() > 4 || (!open.is_empty() && random.next_u64().is_multiple_of(3)) {
            let (what, received, data) = open.swap_remove((random.next_u64() % open.len() as u64) as usize);
            log.append(Entry { what, received, replied: tick }, &data).unwrap();
            tick += 1;
        }
    }
    log.flush().unwrap();
}

#[test]
fn every_image_is_that_of_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    // The last ones are of several disks, each of which has its own flushes.
    for (seed, disks) in (0..6).map(|seed| (seed, 1)).chain([(6, 2), (7, 2), (8, 4), (9, 8)]) {
        let path = folder.path().join("log");
        random_log(&path, seed, disks);
        let lines = plain::read(&path);
        let log = Arc::new(Log::open(&path).unwrap());
        assert_eq!((log.entries().len(), log.disks()), (lines.len(), disks));
        let mut images = Images::new(Arc::clone(&log)).unwrap();
        let mut differing = std::collections::BTreeSet::new();
        for cut in cuts(&log, &[(0, log.end())], 120, seed ^ 77, &[512, 4096]) {
            let wanted = plain::image(&lines, cut).whole(DISK);
            let image = images.image(cut).unwrap();
            let mut found = vec![0u8; DISK as usize];
            image.read(0, &mut found).unwrap();
            assert!(found == wanted, "seed {seed}, {cut:?}");
            differing.insert(crc32c::crc32c(&found));
            // A recovery writes into its image: the next one must know nothing of it.
            image.write(4096, &[0x5a; 8192]).unwrap();
            image.zero(0, 4096).unwrap();
        }
        assert!(differing.len() > 60, "the images differ: {}", differing.len());
    }
}

#[test]
fn cuts_fall_into_windows_alone_and_are_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    random_log(&path, 2, 1);
    let log = Log::open(&path).unwrap();
    let end = log.end();
    let windows = [(10, end / 4), (end / 2, end / 2 + 40), (end - 30, end)];
    let drawn = |seed| cuts(&log, &windows, 300, seed, &[512]);
    for cut in drawn(1) {
        assert!(windows.iter().any(|&(from, until)| (from..=until).contains(&cut.tick)), "{cut}");
    }
    for (from, until) in windows {
        assert!(drawn(1).iter().any(|cut| (from..=until).contains(&cut.tick)), "none from {from} to {until}");
    }
    assert!(drawn(1) == drawn(1) && drawn(1) != drawn(2));
    assert!(cuts(&log, &[], 10, 1, &[512]).is_empty());
}

#[test]
fn going_back_in_time_gives_the_same_image_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    random_log(&path, 9, 2);
    let log = Arc::new(Log::open(&path).unwrap());
    let mut images = Images::new(Arc::clone(&log)).unwrap();
    let mut contents = |tick| {
        let image = images.image(Cut { tick, survival: Survival::Random(5) }).unwrap();
        let mut found = vec![0u8; DISK as usize];
        image.read(0, &mut found).unwrap();
        found
    };
    let early = contents(log.end() / 3);
    let late = contents(log.end());
    assert!(early != late && contents(log.end() / 3) == early);
}

#[test]
fn what_a_flush_confirmed_is_never_open_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = LogWriter::create(&path, DISK, 1).unwrap();
    let write = |offset| What::Write { offset, bytes: 512, data: 0 };
    // The second write was answered only after the flush came: nothing is known of it.
    let entries = [
        (write(0), 1, 2),
        (write(512), 3, 6),
        (What::Flush { disk: 0 }, 5, 7),
        (What::Acknowledged { record: 1 }, 8, 9),
        (write(1024), 10, 11),
    ];
    for (what, received, replied) in entries {
        let data = if matches!(what, What::Write { .. }) { vec![7; 512] } else { Vec::new() };
        log.append(Entry { what, received, replied }, &data).unwrap();
    }
    log.flush().unwrap();
    let log = Log::open(&path).unwrap();
    assert_eq!(log.volatile(6), [0, 1]);
    assert_eq!(log.volatile(7), [1]);
    assert_eq!(log.volatile(10), [1, 4]);
    assert_eq!((log.acknowledged_by(8), log.acknowledged_by(9)), (0, 1));
}

#[test]
fn a_shortened_log_gives_the_same_image() {
    let folder = tempfile::tempdir().unwrap();
    let (path, short) = (folder.path().join("log"), folder.path().join("short"));
    random_log(&path, 11, 2);
    let log = Arc::new(Log::open(&path).unwrap());
    let cut = Cut { tick: log.end() / 2, survival: Survival::Torn { seed: 3, sector_bytes: 512 } };
    log.copy_until(cut.tick, std::fs::File::create(&short).unwrap()).unwrap();
    let contents = |log: Arc<Log>| {
        let image = Images::new(log).unwrap().image(cut).unwrap();
        let mut found = vec![0u8; DISK as usize];
        image.read(0, &mut found).unwrap();
        found
    };
    let again = Arc::new(Log::open(&short).unwrap());
    assert!(again.entries().len() < log.entries().len());
    assert_eq!(again.acknowledged_by(cut.tick), log.acknowledged_by(cut.tick));
    assert!(contents(log) == contents(again));
}

#[test]
fn a_log_whose_writer_died_is_read_up_to_its_last_whole_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    random_log(&path, 3, 1);
    let whole = Log::open(&path).unwrap().entries().len();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(Log::open(&path).unwrap().entries().len(), whole - 1);
    std::fs::write(&path, b"something else entirely").unwrap();
    assert!(Log::open(&path).is_err());
}

/// A log with these entries; writes hold their number.
fn written(path: &Path, disk: u64, entries: &[(What, u64, u64)]) -> Log {
    let mut log = LogWriter::create(path, disk, 1).unwrap();
    for (index, &(what, received, replied)) in entries.iter().enumerate() {
        let data =
            if let What::Write { bytes, .. } = what { vec![1 + index as u8; bytes as usize] } else { Vec::new() };
        log.append(Entry { what, received, replied }, &data).unwrap();
    }
    log.flush().unwrap();
    Log::open(path).unwrap()
}

#[test]
fn a_write_is_torn_where_the_disk_has_its_sectors() {
    let folder = tempfile::tempdir().unwrap();
    let write = |offset, bytes| What::Write { offset, bytes, data: 0 };
    // From the middle of a sector of 4 KiB into another; and one that lies within a sector.
    for (offset, bytes) in [(512, 12 << 10), (4096 + 1024, 1024)] {
        let log = written(&folder.path().join("log"), DISK, &[(write(offset, bytes), 1, 2)]);
        let mut torn = 0;
        for seed in 0..200 {
            for piece in survivors(&log, 2, Survival::Torn { seed, sector_bytes: 4096 }) {
                for border in [offset + piece.from, offset + piece.from + piece.bytes] {
                    let end = border == offset || border == offset + bytes;
                    assert!(end || border.is_multiple_of(4096), "seed {seed}: {piece:?}");
                }
                torn += u32::from(piece.bytes < bytes);
            }
        }
        assert_eq!(torn > 50, offset == 512, "{torn}");
    }
}

#[test]
fn most_cuts_have_something_open_and_images_differ() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = Vec::new();
    let mut tick = 0;
    let mut next = |what| {
        tick += 2;
        entries.push((what, tick - 1, tick));
    };
    // As a journal does it: a few writes, a flush, one write, a flush, and only then an acknowledgement. Nothing is open
    // after most of these.
    for record in 1..=40u64 {
        for part in 0..3 {
            next(What::Write { offset: (record * 4 + part) * 1024, bytes: 1024, data: 0 });
        }
        next(What::Flush { disk: 0 });
        next(What::Write { offset: 0, bytes: 512, data: 0 });
        next(What::Flush { disk: 0 });
        next(What::Acknowledged { record });
    }
    let path = folder.path().join("log");
    let log = written(&path, DISK, &entries);
    let drawn = cuts(&log, &[(0, log.end())], 240, 5, &[512, 4096]);
    let (open, images) = variety(&log, &drawn);
    assert!(open >= 120 && images >= 120, "{open} open, {images} images");
    let acknowledged = entries.iter().filter(|entry| matches!(entry.0, What::Acknowledged { .. }));
    let fresh: Vec<u64> = acknowledged.map(|entry| entry.2).collect();
    let after = drawn.iter().filter(|cut| fresh.contains(&cut.tick)).count();
    assert!(after >= 40, "{after} right after an acknowledgement");

    // The oracle counts the same: what is open from its own reading, images by their bytes. Bytes can only be the same
    // more often than choices of writes.
    let lines = plain::read(&path);
    let oracle_open = drawn.iter().filter(|cut| !plain::open(&lines, cut.tick).is_empty()).count() as u64;
    let bytes: std::collections::BTreeSet<Vec<u8>> =
        drawn.iter().map(|&cut| plain::image(&lines, cut).whole(DISK)).collect();
    assert_eq!(oracle_open, open);
    assert!(bytes.len() as u64 <= images && bytes.len() >= 120, "{} of {images}", bytes.len());
}

#[test]
fn images_are_counted_once_however_they_came_about() {
    let folder = tempfile::tempdir().unwrap();
    let write = |offset| What::Write { offset, bytes: 512, data: 0 };
    let entries = [(write(0), 1, 2), (write(512), 3, 4), (What::Flush { disk: 0 }, 5, 7), (write(1024), 8, 9)];
    let log = written(&folder.path().join("log"), DISK, &entries);
    let cut = |tick, survival| Cut { tick, survival };
    // All that was open before the flush is what is safe after it.
    let same = [
        cut(6, Survival::Everything),
        cut(7, Survival::Nothing),
        cut(6, Survival::Prefix(2)),
        cut(9, Survival::Nothing),
    ];
    assert_eq!(variety(&log, &same), (3, 1));
    let others = [cut(6, Survival::Prefix(1)), cut(6, Survival::AllBut(0)), cut(9, Survival::Everything)];
    assert_eq!(variety(&log, &[&same[..], &others].concat()), (6, 4));
}

#[test]
fn zeroing_a_disk_takes_no_memory_and_leaves_what_is_beside() {
    let folder = tempfile::tempdir().unwrap();
    let disk = 64 << 20;
    let entries = [
        (What::Write { offset: 0, bytes: 8192, data: 0 }, 1, 2),
        (What::Write { offset: disk - 8192, bytes: 8192, data: 0 }, 3, 4),
        (What::Flush { disk: 0 }, 5, 6),
        (What::Zero { offset: 512, bytes: disk - 1024 }, 7, 8),
    ];
    let log = Arc::new(written(&folder.path().join("log"), disk, &entries));
    let mut images = Images::new(log).unwrap();
    let image = images.image(Cut { tick: 8, survival: Survival::Everything }).unwrap();
    assert!(images.durable_bytes().unwrap() < 1 << 20, "{}", images.durable_bytes().unwrap());
    let mut there = vec![0; disk as usize];
    image.read(0, &mut there).unwrap();
    let zeros = there.iter().filter(|&&byte| byte == 0).count() as u64;
    assert!(zeros == disk - 1024 && there[..512] == [1; 512] && there[there.len() - 512..] == [2; 512]);
}

#[test]
fn a_flush_of_one_disk_makes_nothing_safe_on_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = LogWriter::create(&path, DISK, 2).unwrap();
    let write = |offset| What::Write { offset, bytes: 512, data: 0 };
    let entries = [
        (write(0), 1, 2),
        (write(DISK / 2), 3, 4),
        (What::Flush { disk: 1 }, 5, 6),
        (write(512), 7, 8),
        (What::Flush { disk: 0 }, 9, 10),
    ];
    for (what, received, replied) in entries {
        let data = if matches!(what, What::Write { .. }) { vec![7; 512] } else { Vec::new() };
        log.append(Entry { what, received, replied }, &data).unwrap();
    }
    log.flush().unwrap();
    let log = Log::open(&path).unwrap();
    assert_eq!((log.volatile(4), log.volatile(6), log.volatile(8)), (vec![0, 1], vec![0], vec![0, 3]));
    assert!(log.volatile(10).is_empty());
    // What is safe on the second disk is there, whatever became of the first.
    let image = Images::new(Arc::new(log)).unwrap().image(Cut { tick: 8, survival: Survival::Nothing }).unwrap();
    let mut there = vec![0; DISK as usize];
    image.read(0, &mut there).unwrap();
    let second = DISK as usize / 2;
    assert!(there[..second].iter().all(|&byte| byte == 0) && there[second..second + 512] == [7; 512]);
}

#[test]
fn a_log_of_several_disks_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let refused = |disk: u64, disks: u64, what: What| {
        let mut log = LogWriter::create(&path, disk, disks).unwrap();
        let data = if let What::Write { bytes, .. } = what { vec![1; bytes as usize] } else { Vec::new() };
        log.append(Entry { what, received: 1, replied: 2 }, &data).unwrap();
        log.flush().unwrap();
        Log::open(&path).is_err()
    };
    let flush = What::Flush { disk: 0 };
    assert!(!refused(DISK, 2, flush));
    for (disk, disks, what) in [
        (DISK, 0, flush),
        (DISK, 65, flush),
        (DISK, u64::MAX, flush),
        (DISK + 512, 2, flush),
        (DISK, 2, What::Flush { disk: 2 }),
        (DISK, 2, What::Flush { disk: u64::MAX }),
        // It would lie on two of them.
        (DISK, 2, What::Write { offset: DISK / 2 - 512, bytes: 1024, data: 0 }),
        (DISK, 2, What::Zero { offset: 0, bytes: DISK }),
    ] {
        assert!(refused(disk, disks, what), "{disk} {disks} {what:?}");
    }
}
