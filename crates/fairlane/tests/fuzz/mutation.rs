//! Real inputs with bytes, numbers, keys and whole values changed, drawn from a seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// The longest input that mutation makes; what is longer is refused by its length (tests/strangers.rs).
const LONGEST: usize = 256 << 10;

/// What draws one input.
pub struct Draw {
    pub random: Xoshiro256PlusPlus,
}

impl Draw {
    pub fn new(reader: &str, number: u64) -> Draw {
        let name = reader
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Draw { random: Xoshiro256PlusPlus::seed_from_u64(name ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) }
    }

    pub fn below(&mut self, most: usize) -> usize {
        if most == 0 { 0 } else { (self.random.next_u64() % most as u64) as usize }
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A stretch of so many bytes.
    pub fn stretch(&mut self, bytes: usize) -> std::ops::Range<usize> {
        let from = self.below(bytes + 1);
        let most = *self.one(&[4, 32, 400, usize::MAX]);
        from..from + self.below((bytes - from).min(most) + 1)
    }
}

/// Numbers, words and brackets that have hurt a reader before.
const TOKENS: [&str; 56] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "7",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "0.1",
    "nan",
    "inf",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[[[[[[[",
    "{\"a\":",
    "\"",
    "\\",
    "\n",
    "\r",
    "\0",
    ",",
    ":",
    "=",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{feff}",
    "é",
    "\\u0000",
    "\\ud800",
    "64EiB",
    "1000000000000",
    "100%",
    "-5%",
    "a.b",
    "../..",
    "/dev/sda",
    "{device}",
    "\"4KiB\"",
    "[[workload]]\n",
    "kind",
    "}",
    "]",
];

/// Changes a text here and there.
pub fn mutate(draw: &mut Draw, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = draw.one(corpus).clone();
    for _ in 0..*draw.one(&[1, 1, 1, 2, 3, 8]) {
        match draw.below(12) {
            0 if !text.is_empty() => {
                let at = draw.below(text.len());
                text[at] = draw.random.next_u64() as u8;
            }
            1 => drop(text.drain(draw.stretch(text.len()))),
            2 => {
                let again = text[draw.stretch(text.len())].to_vec();
                let at = draw.below(text.len() + 1);
                text.splice(at..at, again);
            }
            3 => {
                let other = draw.one(corpus);
                let piece = other[draw.stretch(other.len())].to_vec();
                let at = draw.stretch(text.len());
                text.splice(at, piece);
            }
            4 => {
                let token = draw.one(&TOKENS).repeat(1 << (draw.below(4) * draw.below(4)));
                let at = draw.below(text.len() + 1);
                text.splice(at..at, token.into_bytes());
            }
            5..=9 => replace_a_word(draw, &mut text),
            10 => text.truncate(draw.below(text.len() + 1)),
            _ => double_a_line(draw, &mut text),
        }
    }
    text.truncate(LONGEST);
    text
}

/// A number or a word becomes one that hurts.
fn replace_a_word(draw: &mut Draw, text: &mut Vec<u8>) {
    let begun = draw.below(text.len() + 1);
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+%".contains(byte);
    let Some(from) = text[begun..].iter().position(word).map(|at| begun + at) else { return };
    let end = text[from..].iter().position(|byte| !word(byte)).map_or(text.len(), |at| from + at);
    let token = draw.one(&TOKENS).as_bytes().to_vec();
    text.splice(from..end, token);
}

/// Keys, tables and lines that come twice.
fn double_a_line(draw: &mut Draw, text: &mut Vec<u8>) {
    let begun = draw.below(text.len() + 1);
    let from = text[..begun].iter().rposition(|byte| b"\n,".contains(byte)).map_or(0, |at| at + 1);
    let end = text[begun..].iter().position(|byte| b"\n,".contains(byte)).map_or(text.len(), |at| begun + at + 1);
    let line = text[from..end].to_vec();
    text.splice(end..end, line);
}

/// Changes values of JSON, which stays JSON.
pub fn mutate_values(draw: &mut Draw, value: &mut Value) {
    let node = walk(draw, value);
    match draw.below(8) {
        0 => {
            if let Value::Object(keys) = node {
                let key = keys.keys().nth(draw.below(keys.len())).cloned();
                key.and_then(|key| keys.remove(&key));
            }
        }
        1 => {
            if let Value::Array(all) = node
                && let Some(one) = all.first().cloned()
            {
                let more = 1 + draw.below(60);
                all.extend(std::iter::repeat_n(one, more));
            }
        }
        2 => {
            if let Value::Array(all) = node {
                all.clear();
            }
        }
        _ => {
            let texts = [
                "",
                "ext4",
                "xfs",
                "commit",
                "\u{1b}[2J\u{202e}",
                "=cmd|'/c'!A0",
                "read",
                "ok",
                "void",
                "failed",
                "1e999",
            ];
            let numbers = [0.0, -1.0, 1.0, 1e308, -1e308, 5e-324, 4_294_967_295.0, 1.8e19, 0.5];
            *node = match draw.below(6) {
                0 => Value::from(*draw.one(&texts)),
                1 => Value::from(u64::MAX),
                2 => Value::from(u32::MAX),
                3 => Value::Null,
                _ => Value::from(*draw.one(&numbers)),
            };
        }
    }
}

/// Somewhere inside.
fn walk<'a>(draw: &mut Draw, value: &'a mut Value) -> &'a mut Value {
    let inside = match value {
        Value::Array(all) => all.len(),
        Value::Object(keys) => keys.len(),
        _ => 0,
    };
    if inside == 0 || draw.below(7) == 0 {
        return value;
    }
    let at = draw.below(inside);
    match value {
        Value::Array(all) => walk(draw, &mut all[at]),
        Value::Object(keys) => match keys.iter_mut().nth(at) {
            Some((_, inner)) => walk(draw, inner),
            None => unreachable!("it has so many keys"),
        },
        _ => unreachable!("it has something inside"),
    }
}
