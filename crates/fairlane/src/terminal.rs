//! Everything that reaches standard output or standard error passes here: what a terminal would obey is escaped, whoever
//! wrote it into a name, a record, an error or a program's output. Only our own colours and the progress line's two
//! sequences go through, and those only where they were asked for.

use crate::failure::Failure;
use model::text::is_unsafe;
use std::fmt::{Arguments, Write as _};
use std::io::{self, IsTerminal, Stderr, Stdout, Write};

/// Bytes of one message at most: longer ones quote something that nobody reads.
const MOST_MESSAGE_BYTES: usize = 8 << 10;
/// Bytes of a sequence that may be ours, at most.
const MOST_SEQUENCE_BYTES: usize = 24;

/// Which sequences are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    /// None.
    Nothing,
    /// Colours and weights of letters: `ESC [ … m`.
    Colours,
    /// Those, the return to the line's begin and the clearing of its rest.
    Progress,
}

/// A writer that lets nothing through that a terminal would obey.
pub struct Clean<W> {
    out: W,
    ours: Ours,
    /// Half a character or half a sequence, whose rest comes with the next write.
    begun: Vec<u8>,
}

/// Standard output. `colours`: ours go through.
pub fn out(colours: bool) -> Clean<Stdout> {
    Clean::new(io::stdout(), if colours { Ours::Colours } else { Ours::Nothing })
}

/// Standard error.
pub fn err() -> Clean<Stderr> {
    let err = io::stderr();
    let ours = if err.is_terminal() { Ours::Progress } else { Ours::Nothing };
    Clean::new(err, ours)
}

/// Prints text on standard output; a reader that left (`| head`) is no error.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = out(io::stdout().is_terminal());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error. Nobody may be listening: nothing depends on it. Lines after the first are indented, so
/// that no name with a line break in it speaks for us.
pub fn line(said: Arguments) {
    let mut text = said.to_string();
    if text.len() > MOST_MESSAGE_BYTES {
        let end = (0..=MOST_MESSAGE_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    let text = text.trim_end().replace('\n', "\n  ") + "\n";
    // Nothing of ours that a terminal obeys is in a message.
    let mut err = Clean::new(io::stderr(), Ours::Nothing);
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// [`line`] with a format.
macro_rules! say {
    ($($said:tt)*) => { $crate::terminal::line(format_args!($($said)*)) };
}
pub(crate) use say;

impl<W: Write> Clean<W> {
    fn new(out: W, ours: Ours) -> Self {
        Clean { out, ours, begun: Vec::new() }
    }

    /// Writes what is whole; answers what is not.
    fn pass(&mut self, mut bytes: &[u8], last: bool) -> io::Result<Vec<u8>> {
        let mut shown = String::with_capacity(bytes.len());
        while !bytes.is_empty() {
            if let Some(length) = self.sequence(bytes) {
                shown.push_str(&String::from_utf8_lossy(&bytes[..length]));
                bytes = &bytes[length..];
                continue;
            }
            if !last && self.may_become_sequence(bytes) {
                break;
            }
            // The end of a line of CSV (RFC 4180): a terminal does with it what it does with LF alone.
            if bytes.starts_with(b"\r\n") {
                shown.push_str("\r\n");
                bytes = &bytes[2..];
                continue;
            }
            if !last && bytes == b"\r" {
                break;
            }
            let (taken, character) = first(bytes);
            match character {
                Some('\n' | '\t') => shown.push(bytes[0] as char),
                Some(other) if is_unsafe(other) => shown.extend(other.escape_unicode()),
                Some(other) => shown.push(other),
                None if !last && taken == bytes.len() && may_become_character(bytes) => break,
                // Writing into a String cannot fail.
                None => _ = write!(shown, "\\x{:02x}", bytes[0]),
            }
            bytes = &bytes[if character.is_some() { taken } else { 1 }..];
        }
        self.out.write_all(shown.as_bytes())?;
        Ok(bytes.to_vec())
    }

    /// Length of a sequence of ours at the beginning.
    fn sequence(&self, bytes: &[u8]) -> Option<usize> {
        match self.ours {
            Ours::Progress if bytes.starts_with(b"\r") => return Some(1),
            Ours::Progress if bytes.starts_with(b"\x1b[K") => return Some(3),
            Ours::Progress | Ours::Colours => {}
            Ours::Nothing => return None,
        }
        let inside = bytes.strip_prefix(b"\x1b[")?;
        let end = inside.iter().take(MOST_SEQUENCE_BYTES).position(|byte| !(byte.is_ascii_digit() || *byte == b';'))?;
        (inside[end] == b'm').then_some(2 + end + 1)
    }

    fn may_become_sequence(&self, bytes: &[u8]) -> bool {
        self.ours != Ours::Nothing
            && bytes.len() < MOST_SEQUENCE_BYTES
            && bytes[0] == 0x1b
            && bytes.get(1).is_none_or(|byte| *byte == b'[')
            && bytes.iter().skip(2).all(|byte| byte.is_ascii_digit() || *byte == b';')
    }
}

/// The first character and its bytes; `None`: these bytes are none.
fn first(bytes: &[u8]) -> (usize, Option<char>) {
    let window = &bytes[..bytes.len().min(4)];
    let text = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(),
    };
    match text.chars().next() {
        Some(character) => (character.len_utf8(), Some(character)),
        None => (window.len(), None),
    }
}

fn may_become_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        self.begun = self.pass(&all, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.begun);
        if !rest.is_empty() {
            self.pass(&rest, true)?;
        }
        self.out.flush()
    }
}

impl<W> std::fmt::Debug for Clean<W> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Clean").field("ours", &self.ours).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ours: Ours, writes: &[&[u8]]) -> String {
        let mut clean = Clean::new(Vec::new(), ours);
        for bytes in writes {
            clean.write_all(bytes).unwrap();
        }
        clean.flush().unwrap();
        String::from_utf8(clean.out).unwrap()
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        for (written, told) in [
            (&b"plain\n\tline"[..], "plain\n\tline"),
            (b"\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            ("a\u{202e}b\u{2066}c\u{200b}d\u{9b}31m".as_bytes(), "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{9b}31m"),
            (b"\r\x7f\0", "\\u{d}\\u{7f}\\u{0}"),
            (b"csv\r\nover\rwritten\r", "csv\r\nover\\u{d}written\\u{d}"),
            (b"a\xff\xc3", "a\\xff\\xc3"),
            ("文é 👩\u{200d}💻".as_bytes(), "文é 👩\u{200d}💻"),
            (b"\x1b[1mbold\x1b[0m", "\\u{1b}[1mbold\\u{1b}[0m"),
        ] {
            assert_eq!(shown(Ours::Nothing, &[written]), told);
        }
    }

    #[test]
    fn our_own_colours_and_the_progress_line_go_through_where_they_are_asked_for() {
        let colours = b"\x1b[1;32mfast\x1b[0m\r\x1b[K\x1b[2K\x1b[5A";
        assert_eq!(shown(Ours::Colours, &[colours]), "\x1b[1;32mfast\x1b[0m\\u{d}\\u{1b}[K\\u{1b}[2K\\u{1b}[5A");
        assert_eq!(shown(Ours::Progress, &[colours]), "\x1b[1;32mfast\x1b[0m\r\x1b[K\\u{1b}[2K\\u{1b}[5A");
        let endless = [b"\x1b[".to_vec(), vec![b'1'; 100], b"m".to_vec()].concat();
        assert!(shown(Ours::Colours, &[&endless]).starts_with("\\u{1b}[111"));
    }

    #[test]
    fn characters_and_sequences_may_come_in_pieces() {
        let text = "文\x1b[1;31mé\x1b[0m\u{202e}x\r\ny\rz".as_bytes();
        let whole = shown(Ours::Colours, &[text]);
        for cut in 0..text.len() {
            assert_eq!(shown(Ours::Colours, &[&text[..cut], &text[cut..]]), whole, "{cut}");
        }
        let pieces: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(shown(Ours::Colours, &pieces), whole);
        assert_eq!(shown(Ours::Nothing, &[b"a\xe6\x96"]), "a\\xe6\\x96");
    }
}
