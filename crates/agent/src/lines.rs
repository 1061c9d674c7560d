//! Lines of bounded length.

use std::io::{BufRead, Read};

/// No request comes near it: a longer line is not for us, and is not kept in memory.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// One line without its end.
pub(crate) enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// More than [`MOST_BYTES`]; it was read to its end and dropped.
    TooLong,
}

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Lines { input, buffer: Vec::new() }
    }

    /// The next line; `None` at the end of the input.
    pub(crate) fn next_line(&mut self) -> std::io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let most = MOST_BYTES as u64 + 1;
        if self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > MOST_BYTES {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_dropped_and_the_next_one_is_whole() {
        let text = format!("a\n{}\nb\n\nlast", "x".repeat(3 * MOST_BYTES));
        let mut lines = Lines::new(text.as_bytes());
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            seen.push(match line {
                Line::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Line::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(seen, ["a", "too long", "b", "", "last"]);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_kept() {
        let text = format!("{}\n", "x".repeat(MOST_BYTES));
        let mut lines = Lines::new(text.as_bytes());
        assert!(matches!(lines.next_line().unwrap(), Some(Line::Whole(bytes)) if bytes.len() == MOST_BYTES));
        assert!(lines.next_line().unwrap().is_none());
    }
}
