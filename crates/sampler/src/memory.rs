//! Data that waits for its way to the disk (`Dirty` of /proc/meminfo), and what came to wait (`nr_dirtied` of
//! /proc/vmstat: mm/page-writeback.c counts a page whenever it becomes dirty, and direct I/O makes none).

use crate::source::{Source, fields, lines, number};

#[derive(Debug)]
pub(crate) struct Memory {
    meminfo: Source,
    vmstat: Source,
}

impl Memory {
    pub(crate) fn open() -> Self {
        Memory { meminfo: Source::open("/proc/meminfo", 4096), vmstat: Source::open("/proc/vmstat", 8192) }
    }

    /// Bytes of pages that became dirty since the machine was booted; `None`: the kernel does not tell.
    pub(crate) fn dirtied_bytes(&mut self) -> Option<u64> {
        // SAFETY: sysconf takes no pointer and has no precondition.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(dirtied_pages(self.vmstat.read())? * u64::try_from(page_bytes).ok()?)
    }

    /// Dirty bytes now.
    pub(crate) fn dirty_bytes(&mut self) -> u64 {
        parse(self.meminfo.read_beginning())
    }
}

fn dirtied_pages(text: &[u8]) -> Option<u64> {
    lines(text).find_map(|line| line.strip_prefix(b"nr_dirtied ")).map(number)
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

    #[test]
    fn pages_that_became_dirty_are_found_and_missing_ones_are_not_none_of_them() {
        assert_eq!(dirtied_pages(b"nr_dirty 3\nnr_dirtied 4567\nnr_written 9\n"), Some(4567));
        assert_eq!(dirtied_pages(b"nr_dirty 3\n"), None);
    }
}
