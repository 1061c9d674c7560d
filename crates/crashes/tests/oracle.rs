//! The images against a second, simple implementation, the one in `plain`.

mod plain;

use crashes::image::Images;
use crashes::log::{Entry, Log, LogWriter, What};
use crashes::survive::{Cut, Survival, cuts};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::sync::Arc;

const DISK: u64 = 256 << 10;

/// A log as several threads would write it: requests overlap in time, and some are answered late.
fn random_log(path: &Path, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut log = LogWriter::create(path, DISK).unwrap();
    let mut tick = 1;
    let mut open: Vec<(What, u64, Vec<u8>)> = Vec::new();
    for record in 0..400u64 {
        let draw = random.next_u64();
        let bytes = 512 * (1 + draw / 7 % 24);
        let offset = 512 * (draw / 1000 % ((DISK - bytes) / 512));
        let data: Vec<u8> = (0..bytes).map(|index| (draw.wrapping_mul(index + 1) >> 24) as u8).collect();
        let entry = match draw % 10 {
            0 => (What::Flush, Vec::new()),
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
    for seed in 0..6 {
        let path = folder.path().join("log");
        random_log(&path, seed);
        let lines = plain::read(&path);
        let log = Arc::new(Log::open(&path).unwrap());
        assert_eq!(log.entries().len(), lines.len());
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
    random_log(&path, 2);
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
    random_log(&path, 9);
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
    let mut log = LogWriter::create(&path, DISK).unwrap();
    let write = |offset| What::Write { offset, bytes: 512, data: 0 };
    // The second write was answered only after the flush came: nothing is known of it.
    let entries = [
        (write(0), 1, 2),
        (write(512), 3, 6),
        (What::Flush, 5, 7),
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
    random_log(&path, 11);
    let log = Arc::new(Log::open(&path).unwrap());
    let cut = Cut { tick: log.end() / 2, survival: Survival::Torn { seed: 3, sector_bytes: 512 } };
    log.copy_until(cut.tick, &short).unwrap();
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
    random_log(&path, 3);
    let whole = Log::open(&path).unwrap().entries().len();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(Log::open(&path).unwrap().entries().len(), whole - 1);
    std::fs::write(&path, b"something else entirely").unwrap();
    assert!(Log::open(&path).is_err());
}
