//! How items become bytes: tags and variable-length integers (LEB128), signed ones folded (zigzag).

/// The first line of a trace.
pub const MAGIC: &[u8] = b"fairlane-trace 1\n";
/// Of this format.
pub const VERSION: u32 = 1;

/// Most bytes of a frame before compression: what a reader must hold.
pub(crate) const MOST_FRAME_BYTES: usize = 1 << 20;
/// Before each frame: its length and the CRC-32C of what follows, both little-endian.
pub(crate) const FRAME_HEAD_BYTES: usize = 8;

/// Tags of items. A call has its code behind [`OPERATION`].
pub(crate) const HEADER: u8 = 1;
pub(crate) const PATH: u8 = 2;
pub(crate) const THREAD: u8 = 3;
pub(crate) const BEFORE: u8 = 4;
pub(crate) const SAMPLE: u8 = 5;
pub(crate) const NOTE: u8 = 6;
pub(crate) const END: u8 = 7;
pub(crate) const WAITED: u8 = 8;
pub(crate) const STOOD: u8 = 9;
pub(crate) const OPERATION: u8 = 32;

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The next integer; `None`: it does not end, or is larger than 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The next text of a length that is told before.
pub(crate) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_and_endless_ones_are_refused() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(take(&mut &bytes[..]), Some(value));
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unfold(fold(value)), value);
        }
        assert_eq!(take(&mut &[0x80; 20][..]), None);
        assert_eq!(take(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02][..]), None);
        assert_eq!(take_bytes(&mut &[5, 1, 2][..]), None);
    }
}
