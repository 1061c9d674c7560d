//! Names that others made, as messages show them.
//!
//! A file's name may hold a line break, an escape sequence or a letter that turns the line round. It
//! is shown so that it stays on its line, moves no cursor, and no two names look alike.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a character is never shown as it is: controls (C0, C1, DEL) and the invisible characters
/// that reorder text or hide in it. ZWJ and ZWNJ stay, because scripts and emoji need them.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

/// A name or path of any bytes: what must not be shown is escaped (`\n`, `\u{1b}`, `\xff` for a byte
/// that is no UTF-8), and the backslash too (`\\`), so that the name can be told from what is shown.
pub fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => shown.push_str("\\\\"),
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                '\t' => shown.push_str("\\t"),
                other if is_unsafe(other) => shown.extend(other.escape_unicode()),
                other => shown.push(other),
            }
        }
        for byte in chunk.invalid() {
            // Writing into a String cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// The text without unsafe characters; what breaks a line becomes a space.
pub fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|character| match character {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
            other if is_unsafe(other) => None,
            other => Some(other),
        })
        .collect()
}

/// A cleaned text that no spreadsheet takes for a formula: what would be one begins with an apostrophe.
pub fn for_spreadsheet(text: &str) -> String {
    let text = clean(text);
    // Spreadsheets skip blanks in front of a formula.
    match text.trim_start().chars().next() {
        Some('=' | '+' | '-' | '@' | '|' | '%') => format!("'{text}"),
        _ => text,
    }
}

/// A word of the kernel's mount table without its escapes: blanks and backslashes stand there as `\ooo`, octal
/// (proc_pid_mounts(5)).
pub fn mount_word(word: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(word.len()), word);
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', behind @ ..]) => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = behind;
            }
            _ => plain.push(*byte),
        }
    }
    plain
}

/// FNV-1a, 64 bits: a number that other bytes hardly have. Who chooses the bytes can choose its value.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Characters of a message that quotes what others wrote, at most.
const QUOTED_CHARACTERS: usize = 300;

/// What a parser said, which quotes what others wrote: on one line, escaped, and not longer than anybody reads.
pub fn quoted(said: &str) -> String {
    let cut = said.char_indices().nth(QUOTED_CHARACTERS).map(|(at, _)| at);
    let mut shown = String::new();
    for character in said[..cut.unwrap_or(said.len())].chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            other if is_unsafe(other) => shown.extend(other.escape_unicode()),
            other => shown.push(other),
        }
    }
    if cut.is_some() {
        shown.push('…');
    }
    shown
}

/// What is wrong with TOML, with its line, in one sentence that quotes no source.
pub fn toml_mistake(text: &str, error: &toml::de::Error) -> String {
    let said = quoted(error.message().trim());
    match error.span() {
        Some(span) => {
            let before = &text.as_bytes()[..span.start.min(text.len())];
            format!("line {}: {said}", 1 + before.iter().filter(|byte| **byte == b'\n').count())
        }
        None => said,
    }
}

/// A path, as [`escaped`] shows it.
pub fn escaped_path(path: &Path) -> String {
    escaped(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_name_keeps_its_line_and_stays_readable() {
        for (name, shown) in [
            (&b"new\nline"[..], "new\\nline"),
            (b"back\\nslash", "back\\\\nslash"),
            (b"\x1b[31m\t\x7f\r", "\\u{1b}[31m\\t\\u{7f}\\r"),
            ("имя-ファイル 'quoted\"".as_bytes(), "имя-ファイル 'quoted\""),
            ("a\u{202e}b".as_bytes(), "a\\u{202e}b"),
            (b"a\xff\xfeb", "a\\xff\\xfeb"),
        ] {
            assert_eq!(escaped(name), shown);
        }
        assert_eq!(escaped_path(Path::new("/a\n/b\\")), "/a\\n/b\\\\");
    }

    #[test]
    fn what_a_parser_quotes_is_one_line_and_not_long() {
        assert_eq!(quoted("unknown `\u{1b}[2J\u{202e}`\nat line 1"), "unknown `\\u{1b}[2J\\u{202e}` at line 1");
        assert_eq!(quoted(&"文".repeat(100_000)).chars().count(), QUOTED_CHARACTERS + 1);
    }

    #[test]
    fn a_word_of_the_mount_table_loses_its_escapes() {
        assert_eq!(mount_word(br"/srv/a\040b\134c\9\011"), b"/srv/a b\\c\\9\t");
        assert_eq!(mount_word(br"\777\04"), br"\777\04");
    }

    #[test]
    fn no_two_names_look_alike() {
        let pieces: [&[u8]; 10] = [b"\n", b"\\", b"n", b"\\n", b"\xff", b"\\xff", b"x", b"\x1b", b"u{1b}", b"f"];
        let mut seen: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    let name = [a, b, c].concat();
                    let before = seen.insert(escaped(&name), name.clone());
                    assert!(before.is_none_or(|before| before == name), "{:?}", escaped(&name));
                }
            }
        }
    }
}
