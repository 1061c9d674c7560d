//! Data of a chosen compressibility: literals and repeats of what came shortly before, as in real
//! files, rather than random bytes beside zeros, which every compressor finds in no time.

use crate::pattern::below;
use rand_core::Rng;

/// Bytes at the start of each stretch of [`super::UNIT_BYTES`] that no repeat covers or copies:
/// a new random word goes there before each write, and must not change the ratio.
const STAMP_BYTES: usize = 8;
/// Repeats reach back at most so far: the window of a btrfs extent and the default record of ZFS.
pub(super) const FARTHEST: usize = 128 << 10;
/// The shortest repeat, as LZ4 and zstd -3 find them.
const SHORTEST: usize = 5;
/// Mean of what is added to that. Real files have many short repeats and few long ones.
const MEAN_FURTHER: f64 = 15.0;

/// What makes data compress to a ratio.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    /// Share of the bytes that are repeats, at units of 4 KiB and of 128 KiB and more; between
    /// them it follows the logarithm. Long units have more distant repeats, which cost more to
    /// name.
    near: f64,
    far: f64,
}

/// 1.6:1 with zstd -3.
pub(super) const RATIO_16: Recipe = Recipe { near: 0.220, far: 0.222 };
/// 2.7:1 with zstd -3.
pub(super) const RATIO_27: Recipe = Recipe { near: 0.659, far: 0.683 };
/// How unequal literal bytes are: byte n has the weight 1 / (n + this)², which is 5.9 bits a byte. Btrfs looks at a sample
/// before it compresses: it leaves alone what has 6.4 bits a byte and more, or 200 values that make up 90 % of it
/// (fs/btrfs/compression.c). In samples so taken source text had 4.8 to 5.2 bits, programs of Debian 12 5.4 to 6.3 (quartiles,
/// measured).
const EVENNESS: f64 = 12.0;

impl Recipe {
    fn share(&self, unit: usize) -> f64 {
        let far = ((unit.clamp(4096, FARTHEST) as f64 / 4096.0).log2() / 5.0).clamp(0.0, 1.0);
        self.near + (self.far - self.near) * far
    }
}

/// The literal byte for each of 4096 equally likely numbers.
fn literals() -> Vec<u8> {
    let weight = |byte: usize| (byte as f64 + EVENNESS).powi(-2);
    let whole: f64 = (0..256).map(weight).sum();
    let mut table = Vec::with_capacity(4096);
    let mut sum = 0.0;
    for byte in 0..256_usize {
        sum += weight(byte) / whole;
        // Spread over the values, so that the common ones are not neighbours.
        let value = (byte * 167 + 32) as u8;
        table.resize(((sum * 4096.0).round() as usize).min(4096), value);
    }
    table.resize(4096, 32);
    table
}

/// Fills `bytes`, unit after unit. Repeats stay within their unit, so that units may be written in
/// any order. `stride`: how far the words lie apart that are made new before each write.
pub(super) fn fill(bytes: &mut [u8], unit: usize, stride: usize, recipe: &Recipe, random: &mut impl Rng) {
    let literals = literals();
    let share = recipe.share(unit);
    for unit in bytes.chunks_mut(unit) {
        fill_unit(unit, stride, share, &literals, random);
    }
}

fn fill_unit(unit: &mut [u8], stride: usize, share: f64, literals: &[u8], random: &mut impl Rng) {
    let (mut at, mut repeated) = (0, 0);
    while at < unit.len() {
        // Neither source nor target of a repeat crosses a stamp.
        let end = (at / stride * stride + stride).min(unit.len());
        let stamp_end = (at / stride * stride + STAMP_BYTES).min(end);
        if at < stamp_end {
            random.fill_bytes(&mut unit[at..stamp_end]);
            at = stamp_end;
            continue;
        }
        let due = (at as f64 * share) as usize > repeated;
        let length = repeat_length(random).min(end - at);
        if due && length >= SHORTEST {
            let source = source(at, random);
            let room = stride - source % stride;
            let length = length.min(room).min(at - source);
            if source % stride >= STAMP_BYTES && length >= SHORTEST {
                unit.copy_within(source..source + length, at);
                repeated += length;
                at += length;
            }
        }
        // Literals follow, as many as the share leaves on average until the next repeat.
        let mean = MEAN_FURTHER * (1.0 - share) / share;
        let count = (1 + exponential(mean, random)).min(end - at);
        for byte in &mut unit[at..at + count] {
            *byte = literals[below(random, 4096) as usize];
        }
        at += count;
    }
}

/// Where a repeat at `at` is copied from: distances are uniform in their logarithm.
fn source(at: usize, random: &mut impl Rng) -> usize {
    let most = at.min(FARTHEST) as f64;
    let least = (SHORTEST * 3) as f64;
    let spread = (most / least).max(1.0).ln();
    at - (least * (spread * fraction(random)).exp()).min(most) as usize
}

fn repeat_length(random: &mut impl Rng) -> usize {
    SHORTEST + exponential(MEAN_FURTHER, random)
}

fn exponential(mean: f64, random: &mut impl Rng) -> usize {
    (-(1.0 - fraction(random)).ln() * mean) as usize
}

fn fraction(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
