//! The digests by which servers are shown a password: SHA-1 (RFC 3174), SHA-256 (RFC 6234), HMAC (RFC 2104) and
//! PBKDF2 (RFC 2898) on it. Used when a connection is made, nowhere else.

/// Blocks of 64 bytes, the last ones with the length in bits.
fn blocks(data: &[u8]) -> Vec<[u8; 64]> {
    let mut padded = data.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(data.len() as u64 * 8).to_be_bytes());
    let whole = |block: &[u8]| {
        let mut out = [0; 64];
        out.copy_from_slice(block);
        out
    };
    padded.chunks_exact(64).map(whole).collect()
}

fn words(block: &[u8; 64]) -> impl Iterator<Item = u32> {
    block.chunks_exact(4).map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}

fn bytes<const COUNT: usize>(state: &[u32]) -> [u8; COUNT] {
    let mut out = [0; COUNT];
    for (into, word) in out.chunks_exact_mut(4).zip(state) {
        into.copy_from_slice(&word.to_be_bytes());
    }
    out
}

/// SHA-1.
pub(super) fn sha1(data: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in blocks(data) {
        let mut schedule: Vec<u32> = words(&block).collect();
        for at in 16..80 {
            let word = schedule[at - 3] ^ schedule[at - 8] ^ schedule[at - 14] ^ schedule[at - 16];
            schedule.push(word.rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in schedule.iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (sum, word) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(word);
        }
    }
    bytes(&state)
}

/// The first 32 bits behind the point of a prime's root, as the standard asks for: exact, because the root is
/// taken of an integer.
fn root_bits(prime: u32, cube: bool) -> u32 {
    // floor(root(prime) * 2^32), by halving.
    let (mut low, mut high) = (0_u128, 1_u128 << 40);
    while high - low > 1 {
        let middle = (low + high) / 2;
        let power = if cube { middle * middle * middle } else { middle * middle };
        let scaled = u128::from(prime) << if cube { 96 } else { 64 };
        if power <= scaled { low = middle } else { high = middle }
    }
    low as u32
}

fn primes() -> impl Iterator<Item = u32> {
    (2..).filter(|number: &u32| (2..*number).take_while(|by| by * by <= *number).all(|by| !number.is_multiple_of(by)))
}

/// SHA-256.
pub(super) fn sha256(data: &[u8]) -> [u8; 32] {
    use std::sync::OnceLock;
    static CONSTANTS: OnceLock<(Vec<u32>, Vec<u32>)> = OnceLock::new();
    let (begin, constants) = CONSTANTS.get_or_init(|| {
        let begin = primes().take(8).map(|prime| root_bits(prime, false)).collect();
        (begin, primes().take(64).map(|prime| root_bits(prime, true)).collect())
    });
    let mut state = begin.clone();
    for block in blocks(data) {
        let mut schedule: Vec<u32> = words(&block).collect();
        for at in 16..64 {
            let (near, far) = (schedule[at - 15], schedule[at - 2]);
            let near = near.rotate_right(7) ^ near.rotate_right(18) ^ (near >> 3);
            let far = far.rotate_right(17) ^ far.rotate_right(19) ^ (far >> 10);
            schedule.push(schedule[at - 16].wrapping_add(near).wrapping_add(schedule[at - 7]).wrapping_add(far));
        }
        let mut turn = state.clone();
        for (word, constant) in schedule.iter().zip(constants) {
            let (a, e) = (turn[0], turn[4]);
            let sum_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let chosen = (e & turn[5]) ^ (!e & turn[6]);
            let first = turn[7].wrapping_add(sum_e).wrapping_add(chosen).wrapping_add(*constant).wrapping_add(*word);
            let sum_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let most = (a & turn[1]) ^ (a & turn[2]) ^ (turn[1] & turn[2]);
            turn.rotate_right(1);
            turn[4] = turn[4].wrapping_add(first);
            turn[0] = first.wrapping_add(sum_a).wrapping_add(most);
        }
        for (sum, word) in state.iter_mut().zip(turn) {
            *sum = sum.wrapping_add(word);
        }
    }
    bytes(&state)
}

/// HMAC-SHA-256.
pub(super) fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut padded = [0; 64];
    if key.len() > 64 {
        padded[..32].copy_from_slice(&sha256(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let with = |byte: u8, rest: &[u8]| sha256(&[&padded.map(|of| of ^ byte)[..], rest].concat());
    with(0x5c, &with(0x36, data))
}

/// PBKDF2 with HMAC-SHA-256, one block of it.
pub(super) fn pbkdf2(password: &[u8], salt: &[u8], times: u32) -> [u8; 32] {
    let mut last = hmac(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut all = last;
    for _ in 1..times {
        last = hmac(password, &last);
        all.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(hex(&sha1(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hex(&sha1(b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex(&sha256(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        // Of two blocks.
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(&sha1(long)), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hex(&sha256(long)), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        // RFC 4231, test case 2.
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
