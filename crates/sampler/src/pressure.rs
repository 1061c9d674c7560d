//! Time in which some task waited for I/O: /proc/pressure/io (the kernel's
//! Documentation/accounting/psi.rst). Guests and kernels without PSI have no such file.

use crate::source::{Source, fields, lines, number};

#[derive(Debug)]
pub(crate) struct Pressure {
    io: Source,
}

impl Pressure {
    pub(crate) fn open() -> Self {
        Pressure { io: Source::open("/proc/pressure/io", 512) }
    }

    /// Whether this kernel tells it.
    pub(crate) fn is_known(&self) -> bool {
        self.io.is_there()
    }

    /// Microseconds since boot in which at least one task waited for I/O.
    pub(crate) fn some_microseconds(&mut self) -> u64 {
        parse(self.io.read_beginning())
    }
}

fn parse(text: &[u8]) -> u64 {
    let some = lines(text).find(|line| line.starts_with(b"some "));
    some.and_then(|line| fields(line).find_map(|field| field.strip_prefix(b"total="))).map_or(0, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_some_is_read() {
        let text = b"some avg10=0.00 avg60=0.00 avg300=0.15 total=8585726\nfull avg10=0.00 avg60=0 avg300=0 total=7\n";
        assert_eq!(parse(text), 8_585_726);
        assert_eq!(parse(b""), 0);
    }
}
