//! How well what is written compresses, so that a preset is what its name says.

use crate::data::Contents;
use crate::error::EngineError;
use model::job::Data;

/// The largest extent that btrfs compresses at once, and the default record of ZFS.
const CHUNK_BYTES: usize = 128 << 10;
/// zstd's default, and that of btrfs and ZFS.
const LEVEL: i32 = 3;
/// How much of a stream is measured.
const STREAM_BYTES: usize = 8 << 20;
/// How far a preset may be off its target.
const TOLERANCE: f64 = 0.10;
/// The block that [`check`] measures with.
const USUAL_BLOCK: u64 = 64 << 10;

/// Uncompressed over compressed bytes of `zstd -3` on chunks of 128 KiB, each for itself, summed
/// over them (method 5.2). 1 for no bytes.
pub fn zstd_ratio(bytes: &[u8]) -> f64 {
    let compressed = |chunk: &[u8]| zstd::bulk::compress(chunk, LEVEL).map_or(chunk.len(), |out| out.len());
    let sum: usize = bytes.chunks(CHUNK_BYTES).map(compressed).sum();
    if sum == 0 { 1.0 } else { bytes.len() as f64 / sum as f64 }
}

/// The ratio of what a job with such data writes, in blocks of 64 KiB; `None` for zeros and
/// patterns, whose ratio says nothing.
///
/// # Errors
/// [`EngineError::Unsuitable`] where a preset is off its target by more than 10 %;
/// [`EngineError::Memory`] where the memory is not to be had.
pub fn check(data: &Data, seed: u64) -> Result<Option<f64>, EngineError> {
    check_blocks(data, USUAL_BLOCK, seed)
}

/// As [`check`], for a stream of blocks of `block_bytes`.
///
/// # Errors
/// As [`check`].
pub fn check_blocks(data: &Data, block_bytes: u64, seed: u64) -> Result<Option<f64>, EngineError> {
    if matches!(data, Data::Zero | Data::Pattern(_)) {
        return Ok(None);
    }
    let ratio = zstd_ratio(&stream(data, block_bytes, STREAM_BYTES, seed)?);
    let target = match data {
        Data::Ratio16 => 1.6,
        Data::Ratio27 => 2.7,
        Data::Incompressible => 1.0,
        _ => ratio,
    };
    if (ratio / target - 1.0).abs() > TOLERANCE {
        return Err(EngineError::Unsuitable(format!(
            "data \"{data}\" compresses {ratio:.2}:1 with zstd -3 in blocks of {block_bytes} bytes, more than 10 % off; \
             choose another block size or data"
        )));
    }
    Ok(Some(ratio))
}

/// What would be written in sequence: `bytes` at least, after one turn through the pool, so that
/// every chunk has been renewed.
pub(crate) fn stream(data: &Data, block_bytes: u64, bytes: usize, seed: u64) -> Result<Vec<u8>, EngineError> {
    let mut contents = Contents::new(data, 0, block_bytes, 1, seed)?;
    let length = contents.memory().chunk_bytes();
    let turn = contents.memory().chunks() as usize;
    let mut written = Vec::with_capacity(bytes + length);
    for write in 0..turn + bytes.div_ceil(length.max(1)) {
        let chunk = contents.take();
        contents.renew(chunk, length as u32);
        if write >= turn {
            written.extend_from_slice(contents.bytes(chunk));
        }
        contents.give_back(chunk);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_within_five_percent_of_their_target_in_small_and_large_blocks() {
        for (data, target) in [(Data::Ratio16, 1.6), (Data::Ratio27, 2.7)] {
            for block in [4096, 16_384, 65_536, 1 << 20] {
                for seed in [1, 2] {
                    let ratio = check_blocks(&data, block, seed).unwrap().unwrap();
                    assert!((ratio / target - 1.0).abs() < 0.05, "{data} in blocks of {block}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn incompressible_data_does_not_compress() {
        for block in [512, 4096, 1 << 20] {
            let ratio = check_blocks(&Data::Incompressible, block, 1).unwrap().unwrap();
            assert!((0.99..1.001).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn a_share_of_zeros_compresses_by_that_share() {
        for (percent, chunk, ratio) in [(50, 0, 2.0), (75, 4096, 4.0), (0, 512, 1.0), (25, 8192, 1.333)] {
            let measured = check(&Data::Compress(percent, chunk), 1).unwrap().unwrap();
            assert!((measured / ratio - 1.0).abs() < 0.03, "{percent} % in {chunk}: {measured}");
        }
        assert!(check(&Data::Compress(100, 512), 1).unwrap().unwrap() > 1000.0);
    }

    #[test]
    fn zeros_and_patterns_have_no_ratio_to_check() {
        assert_eq!(check(&Data::Zero, 1).unwrap(), None);
        assert_eq!(check(&Data::Pattern(vec![1, 2]), 1).unwrap(), None);
        assert!((zstd_ratio(&[]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_preset_that_cannot_be_kept_is_refused() {
        // In blocks this small, the words that make them new are most of the data.
        let error = check_blocks(&Data::Ratio27, 24, 1).unwrap_err();
        assert!(error.to_string().contains("more than 10 % off"), "{error}");
    }
}
