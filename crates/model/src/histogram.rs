//! Latency histograms as records hold them (HdrHistogram V2, deflated, base64), inflated with every length checked before
//! memory is taken for it: sixty characters may claim four gigabytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Decompress, FlushDecompress, Status};

/// What a deflated V2 histogram begins with (HdrHistogram's own cookies).
const DEFLATED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
/// What stands inside.
pub const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();
/// Bytes of the header inside.
pub const HEADER_BYTES: usize = 40;
/// Bytes of a histogram inside at most: every place of three digits with a long count.
pub const MOST_BYTES: usize = 1 << 20;
/// Digits of a histogram at most; Fairlane writes three, and each further one takes ten times the memory.
const MOST_DIGITS: u32 = 3;

/// Inflates histograms one after the other into one buffer.
pub struct Inflater {
    deflated: Vec<u8>,
    plain: Vec<u8>,
    inflate: Decompress,
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater { deflated: Vec::new(), plain: Vec::new(), inflate: Decompress::new(true) }
    }
}

impl Inflater {
    /// A plain V2 histogram whose claims hold: as many bytes of counts as it says, and no more digits than take half a
    /// megabyte. `None`: it is none.
    pub fn plain(&mut self, text: &str) -> Option<&[u8]> {
        let text = text.trim();
        if text.len() > 2 * MOST_BYTES {
            return None;
        }
        self.deflated.clear();
        STANDARD.decode_vec(text, &mut self.deflated).ok()?;
        match self.deflated.starts_with(&PLAIN) {
            true => std::mem::swap(&mut self.deflated, &mut self.plain),
            false => self.inflate()?,
        }
        let end = self.claimed_end()?;
        self.plain.get(..end)
    }

    fn inflate(&mut self) -> Option<()> {
        let (length, stream) = self.deflated.strip_prefix(&DEFLATED)?.split_first_chunk::<4>()?;
        let stream = stream.get(..u32::from_be_bytes(*length) as usize)?;
        self.inflate.reset(true);
        self.plain.clear();
        loop {
            if self.plain.len() == self.plain.capacity() {
                self.plain.reserve(self.plain.len().max(16 << 10));
            }
            let (taken, made) = (self.inflate.total_in() as usize, self.plain.len());
            match self.inflate.decompress_vec(&stream[taken..], &mut self.plain, FlushDecompress::None).ok()? {
                Status::StreamEnd => return Some(()),
                // Nothing more comes of it.
                _ if self.plain.len() == made && self.inflate.total_in() as usize == taken => return None,
                _ if self.plain.len() > MOST_BYTES => return None,
                Status::Ok | Status::BufError => {}
            }
        }
    }

    /// Where the counts end, by the header.
    fn claimed_end(&self) -> Option<usize> {
        let header = self.plain.strip_prefix(&PLAIN)?;
        let word = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
        let (length, digits) = (word(0)? as usize, word(8)?);
        let end = HEADER_BYTES.checked_add(length)?;
        (digits <= MOST_DIGITS && end <= self.plain.len()).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    fn header(length: u32, digits: u32) -> Vec<u8> {
        let mut bytes = PLAIN.to_vec();
        for word in [length, 0, digits] {
            bytes.extend(word.to_be_bytes());
        }
        for long in [1, u64::MAX >> 1, 1_f64.to_bits()] {
            bytes.extend(long.to_be_bytes());
        }
        bytes
    }

    fn deflated(plain: &[u8]) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        let stream = encoder.finish().unwrap();
        let mut bytes = DEFLATED.to_vec();
        bytes.extend((stream.len() as u32).to_be_bytes());
        bytes.extend(stream);
        STANDARD.encode(bytes)
    }

    #[test]
    fn a_claim_that_does_not_hold_costs_no_memory() {
        let mut inflater = Inflater::default();
        let four_gigabytes = deflated(&header(u32::MAX, 3));
        assert!(four_gigabytes.len() < 100, "{four_gigabytes}");
        for claim in
            [four_gigabytes, STANDARD.encode(header(u32::MAX, 3)), deflated(&header(0, 5)), deflated(&header(1, 3))]
        {
            assert_eq!(inflater.plain(&claim), None, "{claim}");
        }
        // A bomb: a thousand to one.
        assert_eq!(inflater.plain(&deflated(&[header(64 << 20, 3), vec![0; 64 << 20]].concat())), None);
        assert!(inflater.plain.capacity() <= 4 * MOST_BYTES, "{}", inflater.plain.capacity());
        assert_eq!(inflater.plain(&"A".repeat(4 * MOST_BYTES)), None);
        let whole = [header(2, 3), vec![2, 2]].concat();
        assert_eq!(inflater.plain(&deflated(&whole)), Some(whole.as_slice()));
        assert_eq!(inflater.plain(&STANDARD.encode([&whole[..], &[7, 7]].concat())), Some(whole.as_slice()));
    }
}
