//! Names of the kernel's functions, from /proc/kallsyms.

use std::io::{BufRead, BufReader, Read};

/// Bytes of /proc/kallsyms that are read at most; today's kernels have some 20 MB with all modules.
const MOST_BYTES: u64 = 128 << 20;
/// Letters of a name that are kept.
const MOST_LETTERS: usize = 120;

/// Functions by address, in order.
pub(crate) struct Symbols {
    functions: Vec<(u64, Box<str>)>,
}

impl Symbols {
    /// Reads them; `None`: this kernel shows no addresses to this process (`kernel.kptr_restrict`).
    pub(crate) fn read() -> Option<Symbols> {
        let file = std::fs::File::open("/proc/kallsyms").ok()?;
        let symbols = Symbols::parse(BufReader::with_capacity(1 << 16, file.take(MOST_BYTES)));
        (!symbols.functions.is_empty()).then_some(symbols)
    }

    /// `ffffffff81000000 T _text`: of these the functions, whose letter is t or T, or w or W.
    fn parse(mut text: impl BufRead) -> Symbols {
        let mut functions = Vec::new();
        let mut line = Vec::new();
        while matches!(text.read_until(b'\n', &mut line), Ok(1..)) {
            if let Some(function) = function(&line) {
                functions.push(function);
            }
            line.clear();
        }
        functions.sort_by_key(|(address, _)| *address);
        Symbols { functions }
    }

    /// The function that an address lies in.
    pub(crate) fn name(&self, address: u64) -> &str {
        match self.functions.partition_point(|(begin, _)| *begin <= address) {
            0 => "unknown",
            after => &self.functions[after - 1].1,
        }
    }
}

fn function(line: &[u8]) -> Option<(u64, Box<str>)> {
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address != 0)?;
    if !matches!(words.next()?, "t" | "T" | "w" | "W") {
        return None;
    }
    Some((address, plain(words.next()?)))
}

/// A function's own name: what a compiler made of a part of it (`.isra.0`, `.constprop.0`, `.cold`) is that function. Modules
/// may bring any letters.
fn plain(name: &str) -> Box<str> {
    let name = name.split('.').next().unwrap_or(name);
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '?' };
    name.chars().take(MOST_LETTERS).map(letter).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_function_that_begins_before_it() {
        let text = "0000000000000000 t hidden\nffffffff81000200 t vfs_write.isra.0\nffffffff81000100 T vfs_read\n\
            ffffffff81000180 d no_function\nffffffffc0000000 t evil\x1b[31m\t[module]\nzzz t torn\nffffffff81000300\n";
        let symbols = Symbols::parse(text.as_bytes());
        assert_eq!(symbols.name(0xffff_ffff_8100_01ff), "vfs_read");
        assert_eq!(symbols.name(0xffff_ffff_8100_0200), "vfs_write");
        assert_eq!(symbols.name(1), "unknown");
        assert_eq!(symbols.name(u64::MAX), "evil??31m");
    }
}
