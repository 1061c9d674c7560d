//! Data that waits for its way to the disk: `Dirty` of /proc/meminfo.

use crate::source::{Source, fields, lines, number};

#[derive(Debug)]
pub(crate) struct Memory {
    meminfo: Source,
}

impl Memory {
    pub(crate) fn open() -> Self {
        Memory { meminfo: Source::open("/proc/meminfo", 4096) }
    }

    /// Dirty bytes now.
    pub(crate) fn dirty_bytes(&mut self) -> u64 {
        parse(self.meminfo.read_beginning())
    }
}

fn parse(text: &[u8]) -> u64 {
    let dirty = lines(text).find_map(|line| line.strip_prefix(b"Dirty:"));
    dirty.and_then(|rest| fields(rest).next()).map_or(0, number) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirty_is_found_in_kib_and_a_missing_one_is_zero() {
        assert_eq!(parse(b"MemTotal: 100 kB\nDirty:              12 kB\nWriteback: 9 kB\n"), 12 * 1024);
        assert_eq!(parse(b"MemTotal: 100 kB\n"), 0);
        assert_eq!(parse(b""), 0);
    }
}
