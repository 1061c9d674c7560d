//! Places as a whole: coverage, order, shares and ends.

use super::*;
use model::Bytes;
use model::job::{FileService, PerDirection};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

const K: u64 = 1024;

fn io(rw: Pattern) -> Io {
    Io { rw, size: Bytes(1 << 40), ..Io::default() }
}

fn sized(rw: Pattern, sizes: &str) -> Io {
    let sizes: BlockSizes = sizes.parse().unwrap();
    let all = PerDirection { read: sizes.clone(), write: sizes.clone(), trim: sizes };
    Io { block_sizes: Some(Box::new(all)), ..io(rw) }
}

/// All places of one loop, at most a million.
fn one_loop(places: &mut Places) -> Vec<Span> {
    let spans: Vec<Span> = std::iter::from_fn(|| places.next()).take(1_000_000).collect();
    assert!(spans.len() < 1_000_000, "the loop has no end");
    assert_eq!(places.next(), None);
    spans
}

fn run(io: &Io, files: &[(u64, u64)], seed: u64) -> Vec<Span> {
    one_loop(&mut Places::new(io, files, seed).unwrap())
}

fn kibibytes(spans: &[Span]) -> Vec<u64> {
    spans.iter().map(|span| span.offset / K).collect()
}

fn moved(spans: &[Span]) -> u64 {
    spans.iter().map(|span| u64::from(span.bytes)).sum()
}

#[test]
fn sequential_places_run_from_start_to_the_last_whole_block() {
    for rw in [Pattern::Read, Pattern::Write, Pattern::Trim, Pattern::Append] {
        let spans = run(&io(rw), &[(8 * K, 21 * K)], 1);
        assert_eq!(kibibytes(&spans), [8, 12, 16], "{rw:?}");
        assert!(spans.iter().all(|span| span.bytes == 4096 && span.direction == rw.directions()[0]));
    }
}

#[test]
fn io_size_ends_early_or_goes_round_again_in_the_same_order() {
    let of = |rw, io_size: u64| run(&Io { io_size: Some(Bytes(io_size)), ..io(rw) }, &[(0, 64 * K)], 1);
    assert_eq!(kibibytes(&of(Pattern::Read, 10 * K)), [0, 4, 8]);
    assert_eq!(kibibytes(&of(Pattern::Read, 72 * K))[15..], [60, 0, 4]);
    let random = kibibytes(&of(Pattern::RandRead, 100 * K));
    assert_eq!(random.len(), 25);
    assert_eq!(random[..9], random[16..]);
    let fresh = Io { io_size: Some(Bytes(128 * K)), randrepeat: false, ..io(Pattern::RandRead) };
    let fresh = kibibytes(&run(&fresh, &[(0, 64 * K)], 1));
    assert_ne!(fresh[..16], fresh[16..]);
    assert_eq!(fresh[16..].iter().collect::<HashSet<_>>().len(), 16);
}

#[test]
fn steps_leave_holes_and_go_backwards_as_fio_does() {
    let of = |step: i64, kib: u64| {
        let io = Io { sequential_step_bytes: step, ..io(Pattern::Read) };
        let mut places = Places::new(&io, &[(0, kib * K)], 1).unwrap();
        let spans = one_loop(&mut places);
        assert_eq!(moved(&spans), places.loop_bytes(), "step {step} size {kib} KiB");
        kibibytes(&spans)
    };
    // What fio 3.33 does with 64 KiB and blocks of 4 KiB.
    assert_eq!(of(8192, 64), [0, 12, 24, 36, 48, 60]);
    assert_eq!(of(-8192, 64), [0, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0]);
    assert_eq!(of(8192, 20), [0, 12, 0, 12, 0]);
    for step in [-20_000, -12_288, -8192, -6000, -4096, -2048, -1, 1, 4096, 5000, 100_000] {
        for kib in [4, 7, 8, 12, 33, 64] {
            of(step, kib);
        }
    }
}

#[test]
fn mixed_sequential_reads_and_writes_have_positions_of_their_own() {
    let spans = run(&Io { rwmixread: 30, ..io(Pattern::Rw) }, &[(0, 4000 * K)], 1);
    assert_eq!(spans.len(), 1000);
    for direction in [Direction::Read, Direction::Write] {
        let own: Vec<u64> = spans.iter().filter(|span| span.direction == direction).map(|span| span.offset).collect();
        assert!(own.iter().zip(0..).all(|(offset, index)| *offset == index * 4096));
    }
}

#[test]
fn the_share_of_reads_is_kept_whatever_the_pattern() {
    for rw in [Pattern::Rw, Pattern::RandRw] {
        for percent in [0, 1, 70, 100] {
            let spans = run(&Io { rwmixread: percent, ..io(rw) }, &[(0, 40_000 * 4 * K)], 9);
            let reads = spans.iter().filter(|span| span.direction == Direction::Read).count() as f64;
            let share = f64::from(percent) / 100.0;
            let deviation = (40_000.0 * share * (1.0 - share)).sqrt();
            assert!((reads - 40_000.0 * share).abs() <= 5.0 * deviation, "{rw:?} {percent}: {reads}");
        }
    }
}

#[test]
fn a_mixed_random_job_visits_each_block_once_in_one_direction() {
    let spans = run(&io(Pattern::RandRw), &[(0, 4096 * K)], 3);
    assert_eq!(spans.len(), 1024);
    assert_eq!(spans.iter().map(|span| span.offset).collect::<HashSet<_>>().len(), 1024);
}

#[test]
fn trimwrite_trims_and_then_writes_each_block() {
    let mut places = Places::new(&io(Pattern::TrimWrite), &[(0, 13 * K)], 3).unwrap();
    assert_eq!(places.loop_bytes(), 24 * K);
    let spans = one_loop(&mut places);
    let seen: Vec<(u64, Direction)> = spans.iter().map(|span| (span.offset / K, span.direction)).collect();
    use Direction::{Trim, Write};
    assert_eq!(seen, [(0, Trim), (0, Write), (4, Trim), (4, Write), (8, Trim), (8, Write)]);
}

#[test]
fn bursts_go_on_behind_a_random_place() {
    let io = Io { operations_per_offset: 4, ..io(Pattern::RandRead) };
    let spans = run(&io, &[(0, 40_000 * K)], 5);
    let follows = spans.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    let share = follows as f64 / spans.len() as f64;
    assert!((0.70..0.76).contains(&share), "{share}");
    assert!(spans.chunks(4).take(100).all(|four| {
        let runs = four.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
        runs == 3 || four.iter().any(|span| span.offset + 4096 == 40_000 * K)
    }));
}

#[test]
fn a_percentage_of_the_places_is_random() {
    let io = Io { percentage_random: Some(PerDirection { read: 30, write: 0, trim: 0 }), ..io(Pattern::RandRead) };
    for norandommap in [false, true] {
        let spans = run(&Io { norandommap, ..io.clone() }, &[(0, 400_000 * K)], 5);
        let follows = spans.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
        let share = follows as f64 / spans.len() as f64;
        assert!((share - 0.7).abs() < 0.01, "{share}");
    }
}

#[test]
fn blockalign_places_blocks_at_its_multiples_and_drops_the_map() {
    let io = Io { blockalign: Bytes(2048), ..io(Pattern::RandRead) };
    let spans = run(&io, &[(512, 512 + 64 * K)], 5);
    assert_eq!(moved(&spans), 64 * K);
    let many = run(&Io { io_size: Some(Bytes(8 << 20)), ..io }, &[(512, 512 + 64 * K)], 5);
    let offsets: HashSet<u64> = many.iter().map(|span| span.offset).collect();
    assert_eq!(offsets.len(), 31);
    assert!(offsets.iter().all(|offset| (offset - 512) % 2048 == 0 && offset + 4096 <= 512 + 64 * K));
}

#[test]
fn zones_hold_in_the_places() {
    let io = Io {
        random_distribution: "zoned:90/10:10/90".parse().unwrap(),
        io_size: Some(Bytes(100_000 * 4096)),
        ..io(Pattern::RandRead)
    };
    let spans = run(&io, &[(0, 4000 * K)], 5);
    let hot = spans.iter().filter(|span| span.offset < 400 * K).count() as f64 / 1e5;
    assert!((hot - 0.9).abs() < 0.005, "{hot}");
}

#[test]
fn hot_blocks_stay_hot_when_other_places_are_drawn() {
    let io = Io {
        random_distribution: "zipf:1.2".parse().unwrap(),
        randrepeat: false,
        io_size: Some(Bytes(20_000 * 4096)),
        ..io(Pattern::RandRead)
    };
    let mut places = Places::new(&io, &[(0, 4000 * K)], 5).unwrap();
    let hottest = |spans: &[Span]| {
        let mut counts = BTreeMap::new();
        spans.iter().for_each(|span| *counts.entry(span.offset).or_insert(0) += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0
    };
    let first = one_loop(&mut places);
    places.restart();
    let second = one_loop(&mut places);
    assert_ne!(first, second);
    assert_eq!(hottest(&first), hottest(&second));
}

#[test]
fn several_files_are_served_in_turn_and_each_is_covered() {
    let files = [(0, 16 * K), (4 * K, 8 * K), (0, 3 * K), (0, 40 * K)];
    for rw in [Pattern::Read, Pattern::RandRead] {
        for service in [FileService::RoundRobin, FileService::Random, FileService::Sequential] {
            let io = Io { nrfiles: 4, file_service_type: service, ..io(rw) };
            let mut places = Places::new(&io, &files, 5).unwrap();
            assert_eq!(places.loop_bytes(), 60 * K);
            let spans = one_loop(&mut places);
            assert_eq!(spans.len(), 15, "{rw:?} {service:?}");
            let seen: HashSet<(u32, u64)> = spans.iter().map(|span| (span.file, span.offset)).collect();
            assert_eq!(seen.len(), 15);
            assert!(seen.iter().all(|(file, offset)| {
                let (start, end) = files[*file as usize];
                *offset >= start && offset + 4096 <= end
            }));
        }
    }
    let io = Io { nrfiles: 4, ..io(Pattern::Read) };
    let files: Vec<u32> = run(&io, &files, 5).iter().map(|span| span.file).collect();
    assert_eq!(files[..6], [0, 1, 3, 0, 3, 0]);
}

#[test]
fn directions_with_sizes_of_their_own_keep_them() {
    let sizes = PerDirection {
        read: BlockSizes::Fixed(Bytes(4096)),
        write: BlockSizes::Fixed(Bytes(16384)),
        trim: BlockSizes::Fixed(Bytes(512)),
    };
    let io = Io { block_sizes: Some(Box::new(sizes)), ..io(Pattern::Rw) };
    let spans = run(&io, &[(0, 4000 * K)], 5);
    for span in spans {
        assert_eq!(span.bytes, if span.direction == Direction::Read { 4096 } else { 16384 });
    }
}

#[test]
fn random_directions_with_sizes_of_their_own_keep_to_multiples_of_them() {
    let sizes = PerDirection {
        read: BlockSizes::Fixed(Bytes(4096)),
        write: BlockSizes::Fixed(Bytes(16384)),
        trim: BlockSizes::Fixed(Bytes(512)),
    };
    for (norandommap, start) in [(false, 0), (true, 0), (false, 4096)] {
        let io = Io { block_sizes: Some(Box::new(sizes.clone())), norandommap, ..io(Pattern::RandRw) };
        let spans = run(&io, &[(start, start + 4000 * K)], 5);
        let writes = spans.iter().filter(|span| span.direction == Direction::Write).count();
        assert!(writes > 100, "{writes} of {}", spans.len());
        for span in spans {
            let own = if span.direction == Direction::Read { 4096 } else { 16384 };
            assert_eq!((u64::from(span.bytes), (span.offset - start) % own), (own, 0), "{norandommap} {span:?}");
        }
    }
}

#[test]
fn a_sync_takes_the_turn_of_a_file() {
    let io = Io { nrfiles: 4, ..io(Pattern::RandWrite) };
    let mut places = Places::new(&io, &[(0, 400 * K); 4], 5).unwrap();
    let mut synced = Vec::new();
    for _ in 0..8 {
        (0..4).for_each(|_| assert!(places.next().is_some()));
        synced.extend(places.file_for_sync());
    }
    assert_eq!(synced, [0, 1, 2, 3, 0, 1, 2, 3]);
    let mut alone = Places::new(&io, &[(0, 400 * K)], 5).unwrap();
    assert_eq!(alone.file_for_sync(), None);
}

#[test]
fn files_without_room_are_refused() {
    let error = Places::new(&io(Pattern::Read), &[(0, 4095), (9000, 100)], 1).unwrap_err();
    assert!(error.to_string().contains("raise size"), "{error}");
    assert!(Places::new(&io(Pattern::Read), &[], 1).is_err());
}

#[test]
fn a_mix_does_not_change_the_places() {
    let offsets = |rw| kibibytes(&run(&io(rw), &[(0, 400 * K)], 5));
    assert_eq!(offsets(Pattern::RandRead), offsets(Pattern::RandRw));
}

/// Jobs of all kinds, on one or several files.
fn any_job() -> impl Strategy<Value = (Io, Vec<(u64, u64)>)> {
    let rw = prop::sample::select(vec![
        Pattern::Read,
        Pattern::Write,
        Pattern::RandRead,
        Pattern::RandWrite,
        Pattern::Rw,
        Pattern::RandRw,
        Pattern::RandTrim,
        Pattern::TrimWrite,
    ]);
    let sizes = prop::sample::select(vec!["512", "4KiB", "3000", "512-8KiB", "1KiB/30:3KiB/70", "1000-9000"]);
    let distribution =
        prop::sample::select(vec!["random", "random", "zipf:1.2", "pareto:0.3", "normal:20", "zoned:80/20:20/80"]);
    let service = prop::sample::select(vec![FileService::RoundRobin, FileService::Random, FileService::Sequential]);
    let files = prop::collection::vec((0_u64..20_000, 0_u64..300_000), 1..5);
    let numbers = (prop::option::of(1_u64..900_000), -9000_i64..9000, 1_u32..5, 0_u32..=100, 0_u64..3);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (rw, sizes, distribution, service, files, numbers, flags).prop_map(
        |(rw, sizes, distribution, service, files, (io_size, step, burst, percent, align), flags)| {
            let (norandommap, randrepeat, unaligned, stepping) = flags;
            let mut io = sized(rw, sizes);
            io.random_distribution = distribution.parse().unwrap();
            io.file_service_type = service;
            io.file_service_count = burst;
            io.io_size = io_size.map(Bytes);
            io.norandommap = norandommap;
            io.randrepeat = randrepeat;
            io.bs_unaligned = unaligned;
            io.blockalign = Bytes(align / 2 * 512);
            io.rwmixread = percent;
            if stepping {
                io.sequential_step_bytes = step;
                io.operations_per_offset = burst;
                io.percentage_random = Some(PerDirection { read: percent, write: percent, trim: percent });
            }
            (io, files.into_iter().map(|(start, bytes)| (start, start + bytes)).collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_job_stays_inside_its_files_ends_and_repeats_itself((io, files) in any_job(), seed: u64) {
        let Ok(mut places) = Places::new(&io, &files, seed) else {
            prop_assert!(files.iter().all(|(start, end)| end - start < io.smallest_block().0));
            return Ok(());
        };
        let first = one_loop(&mut places);
        prop_assert!(!first.is_empty());
        for span in &first {
            let (start, end) = files[span.file as usize];
            prop_assert!(span.offset >= start && span.offset + u64::from(span.bytes) <= end, "{:?}", span);
            prop_assert!(span.bytes > 0 && u64::from(span.bytes) <= io.largest_block().0);
        }
        places.restart();
        let second = one_loop(&mut places);
        if io.randrepeat {
            prop_assert_eq!(&first, &second);
        }
        prop_assert_eq!(&first, &run(&io, &files, seed));
        let block = common_block(&io);
        if block.is_some() && (io.sequential_step_bytes == 0 || files.len() == 1) {
            prop_assert_eq!(moved(&first), places.loop_bytes());
        }
    }

    #[test]
    fn without_repeats_every_block_is_visited_exactly_once(
        sizes in prop::sample::select(vec!["512", "4KiB", "512-8KiB", "1KiB/30:3KiB/70"]),
        rw in prop::sample::select(vec![Pattern::RandRead, Pattern::RandRw]),
        lengths in prop::collection::vec(0_u64..200_000, 1..4),
        seed: u64,
    ) {
        let io = sized(rw, sizes);
        let unit = io.smallest_block().0;
        let files: Vec<(u64, u64)> = lengths.iter().map(|bytes| (700, 700 + bytes)).collect();
        let Ok(mut places) = Places::new(&io, &files, seed) else { return Ok(()) };
        let mut visited: Vec<Vec<u32>> = lengths.iter().map(|bytes| vec![0; (bytes / unit) as usize]).collect();
        for span in one_loop(&mut places) {
            let first = (span.offset - 700) / unit;
            for block in first..first + u64::from(span.bytes) / unit {
                visited[span.file as usize][block as usize] += 1;
            }
        }
        prop_assert!(visited.iter().flatten().all(|count| *count == 1));
    }
}
