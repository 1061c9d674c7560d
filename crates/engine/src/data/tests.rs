//! What is written: new every time, as compressible and as repetitive as asked for.

use super::*;
use crate::compressibility::zstd_ratio;
use model::Bytes;
use model::job::{BlockSizes, Pattern, PerDirection};
use std::collections::{HashMap, HashSet};

/// Writes of these lengths in turn.
fn writes(contents: &mut Contents, lengths: &[usize], count: usize) -> Vec<Vec<u8>> {
    let mut written = Vec::new();
    for length in lengths.iter().cycle().take(count) {
        let chunk = contents.take();
        contents.renew(chunk, *length as u32);
        written.push(contents.bytes(chunk)[..*length].to_vec());
        contents.give_back(chunk);
    }
    written
}

fn contents(data: &Data, dedupe: u32, block: u64, seed: u64) -> Contents {
    Contents::new(data, dedupe, block, 1, seed).unwrap()
}

#[test]
fn no_word_comes_twice_within_four_mebibytes_of_writes() {
    let bytes = writes(&mut contents(&Data::Incompressible, 0, 4096, 5), &[4096], 1024).concat();
    let words: HashSet<&[u8]> = bytes.chunks(8).collect();
    assert_eq!(words.len(), bytes.len() / 8);
}

#[test]
fn no_word_comes_twice_within_the_spread_where_lengths_vary_either() {
    let mut contents = contents(&Data::Incompressible, 0, 1 << 20, 5);
    let lengths = [4096, 1 << 20, 512, 65_536, 12_288];
    // One turn, in which the pool is still in use, then a stretch under four MiB.
    writes(&mut contents, &lengths, 3);
    let bytes = writes(&mut contents, &lengths, 15).concat();
    assert!(bytes.len() > 3 << 20);
    let words: HashSet<&[u8]> = bytes.chunks(8).collect();
    assert_eq!(words.len(), bytes.len() / 8);
}

#[test]
fn no_block_of_4_kib_is_ever_written_twice() {
    for data in [Data::Incompressible, Data::Ratio16, Data::Ratio27, Data::Compress(50, 512)] {
        for lengths in [vec![512], vec![4096], vec![10_000], vec![1 << 20], vec![4096, 65_536, 8192]] {
            let mut contents = contents(&data, 0, *lengths.iter().max().unwrap() as u64, 5);
            let mut seen = HashSet::new();
            let mean = lengths.iter().sum::<usize>() / lengths.len();
            // Well over one turn through the pool.
            for written in writes(&mut contents, &lengths, (10 << 20) / mean) {
                for block in written.chunks(4096).filter(|block| block.len() >= 512) {
                    assert!(seen.insert(block.to_vec()), "{data} in {lengths:?}");
                }
            }
        }
    }
}

#[test]
fn the_seed_alone_decides_the_contents() {
    for data in [Data::Incompressible, Data::Ratio16, Data::Compress(30, 0)] {
        let first = |seed| writes(&mut contents(&data, 0, 4096, seed), &[4096], 3);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}

#[test]
fn presets_keep_their_ratio_after_many_turns_in_any_order_and_with_lengths_that_vary() {
    for (data, target) in [(Data::Ratio16, 1.6), (Data::Ratio27, 2.7)] {
        let near = |bytes: &[u8], what: &str| {
            let ratio = zstd_ratio(bytes);
            assert!((ratio / target - 1.0).abs() < 0.05, "{data} {what}: {ratio}");
        };
        let mut small = contents(&data, 0, 4096, 7);
        for _ in 0..20 {
            writes(&mut small, &[4096], 1024);
        }
        let mut blocks = writes(&mut small, &[4096], 1024);
        near(&blocks.concat(), "after twenty turns");
        blocks.sort();
        near(&blocks.concat(), "in another order");
        let mut varying = contents(&data, 0, 1 << 20, 7);
        near(&writes(&mut varying, &[4096, 65_536, 8192, 1 << 20, 16_384], 40).concat(), "with varying lengths");
    }
}

#[test]
fn presets_hold_real_repeats_not_only_unequal_bytes() {
    for (data, least) in [(Data::Ratio16, 0.17), (Data::Ratio27, 0.6)] {
        let bytes = writes(&mut contents(&data, 0, 65_536, 7), &[65_536], 16).concat();
        let mut repeated = 0;
        for chunk in bytes.chunks(65_536) {
            let mut seen = HashSet::new();
            let mut until = 0;
            for (at, word) in chunk.windows(5).enumerate() {
                if !seen.insert(word) {
                    repeated += at + 5 - until.max(at);
                    until = at + 5;
                }
            }
        }
        let share = repeated as f64 / bytes.len() as f64;
        assert!(share > least, "{data}: {share}");
    }
}

/// What Btrfs looks at before it compresses 128 KiB (fs/btrfs/compression.c): of 16 bytes in every 256, how many values make
/// up 90 %, and how many bits a byte has. From 200 values or 6.4 bits on it stores them as they are.
fn sampled_by_btrfs(bytes: &[u8]) -> (usize, f64) {
    let mut counts = [0_u32; 256];
    bytes.chunks(256).flat_map(|of| &of[..16]).for_each(|byte| counts[*byte as usize] += 1);
    let all = f64::from(counts.iter().sum::<u32>());
    let bits = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| -f64::from(*count) / all * (f64::from(*count) / all).log2());
    let bits = bits.sum();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = 0.0;
    let values = counts.iter().take_while(|count| {
        let before = sum < 0.9 * all;
        sum += f64::from(**count);
        before
    });
    (values.count(), bits)
}

#[test]
fn presets_are_what_btrfs_takes_for_compressible_and_random_bytes_are_not() {
    for data in [Data::Ratio16, Data::Ratio27] {
        for length in [4096, 16_384, 65_536, 1 << 20] {
            let bytes = writes(&mut contents(&data, 0, length as u64, 7), &[length], (2 << 20) / length).concat();
            for chunk in bytes.chunks(128 << 10) {
                let (values, bits) = sampled_by_btrfs(chunk);
                // Its own logarithms have steps of a quarter bit.
                assert!(values < 150 && bits < 6.2, "{data} in {length}: {values} values, {bits:.2} bits");
            }
        }
    }
    let random = writes(&mut contents(&Data::Incompressible, 0, 1 << 20, 7), &[1 << 20], 1).concat();
    let (values, bits) = sampled_by_btrfs(&random[..128 << 10]);
    assert!(values >= 200 && bits > 7.9, "{values} values, {bits:.2} bits");
}

#[test]
fn zeros_are_zeros_and_patterns_repeat_from_the_start_of_each_block() {
    for block in writes(&mut contents(&Data::Zero, 0, 4096, 1), &[4096, 512], 4) {
        assert!(block.iter().all(|byte| *byte == 0));
    }
    for block in writes(&mut contents(&Data::Pattern(vec![1, 2, 3]), 50, 4096, 1), &[4096, 512], 4) {
        assert!(block.iter().zip([1, 2, 3].iter().cycle()).all(|(byte, of)| byte == of));
    }
}

#[test]
fn the_share_of_zeros_lies_at_the_end_of_each_chunk() {
    for (percent, chunk, length) in [(50, 0, 4096), (30, 512, 4096), (90, 10_000, 65_536), (99, 64, 512), (0, 0, 4096)]
    {
        let mut contents = contents(&Data::Compress(percent, chunk), 0, 65_536, 3);
        for lengths in [[65_536], [length]] {
            for block in writes(&mut contents, &lengths, 40) {
                let chunk = if chunk == 0 { block.len() } else { chunk as usize };
                for part in block.chunks(chunk) {
                    let random = part.len() * (100 - percent as usize) / 100;
                    assert!(part[random..].iter().all(|byte| *byte == 0), "{percent} % of {chunk}");
                    let zeros = part[..random].iter().filter(|byte| **byte == 0).count();
                    assert!(zeros <= 8 + random / 100, "{percent} % of {chunk}: {zeros} zeros in {random}");
                }
            }
        }
    }
}

#[test]
fn the_asked_for_share_of_blocks_repeats_an_earlier_one() {
    for data in [Data::Incompressible, Data::Ratio16, Data::Compress(50, 512)] {
        for (percent, length) in [(30, 4096), (75, 65_536), (100, 4096), (50, 512)] {
            let mut contents = contents(&data, percent, length as u64, 3);
            let unit = length.min(4096);
            let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
            let (mut blocks, mut again) = (0.0, 0.0);
            for written in writes(&mut contents, &[length], (40 << 20) / length.max(4096)) {
                for block in written.chunks(unit) {
                    blocks += 1.0;
                    let count = seen.entry(block.to_vec()).or_default();
                    again += f64::from((*count > 0) as u32);
                    *count += 1;
                }
            }
            let (share, expected): (f64, f64) = (again / blocks, f64::from(percent) / 100.0);
            let deviation = (expected * (1.0 - expected) / blocks).sqrt();
            assert!((share - expected).abs() <= 5.0 * deviation + 1.5 / blocks, "{data} {percent} %: {share}");
            assert!(seen.values().filter(|count| **count > 1).count() <= REPEATED_BLOCKS);
        }
    }
}

#[test]
fn data_that_repeats_blocks_keeps_its_ratio() {
    let ratio = zstd_ratio(&writes(&mut contents(&Data::Ratio16, 20, 4096, 3), &[4096], 4096).concat());
    assert!((ratio / 1.6 - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn what_was_read_is_never_written() {
    let io = Io { rw: Pattern::RandRw, size: Bytes(1 << 20), iodepth: 4, data: Data::Zero, ..Io::default() };
    let mut contents = Contents::for_job(&io, 1).unwrap();
    for _ in 0..3 {
        let reads: Vec<u32> = (0..4).map(|_| contents.take_for_read()).collect();
        for chunk in reads {
            contents.bytes_mut(chunk).fill(9);
            contents.give_back(chunk);
        }
        let written: Vec<u32> = (0..4).map(|_| contents.take()).collect();
        for chunk in written {
            contents.renew(chunk, 4096);
            assert!(contents.bytes(chunk).iter().all(|byte| *byte == 0));
            contents.give_back(chunk);
        }
    }
    contents.free_all();
    assert_ne!(contents.take(), contents.take_for_read());
}

#[test]
fn a_job_gets_no_more_chunks_than_it_needs() {
    let io = |rw, data| Io { rw, size: Bytes(1 << 20), iodepth: 3, data, ..Io::default() };
    let chunks = |io: &Io| Contents::for_job(io, 1).unwrap().memory().chunks();
    assert_eq!(chunks(&io(Pattern::Read, Data::Incompressible)), 3);
    assert_eq!(chunks(&io(Pattern::Write, Data::Zero)), 3);
    assert_eq!(chunks(&io(Pattern::Trim, Data::Zero)), 3);
    assert_eq!(chunks(&io(Pattern::Write, Data::Incompressible)), 1024);
    assert_eq!(chunks(&io(Pattern::Rw, Data::Ratio16)), 1027);
    let range = BlockSizes::Range(Bytes(4096), Bytes(65_536));
    let sizes = PerDirection { read: range.clone(), write: range.clone(), trim: range };
    let varying = Io { block_sizes: Some(Box::new(sizes)), ..io(Pattern::Write, Data::Incompressible) };
    let contents = Contents::for_job(&varying, 1).unwrap();
    assert!(matches!(contents.renewal, Renewal::Copied(_)));
    assert_eq!(contents.memory().chunk_bytes(), 65_536);
    let repeating = Contents::for_job(&Io { dedupe_percentage: 30, ..varying }, 1).unwrap();
    assert!(matches!(&repeating.renewal, Renewal::Copied(source) if source.repeats.is_some()));
}

#[test]
fn memory_that_is_not_there_is_refused() {
    let error = Contents::new(&Data::Zero, 0, 1 << 40, 4096, 1).unwrap_err();
    assert!(error.to_string().contains("lower iodepth or bs"), "{error}");
}
