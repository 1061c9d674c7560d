//! Strings that others made (lane names, titles, reasons, paths) made safe to show.
//!
//! A record can come from anywhere. Nothing in it may move a cursor, change a colour, reorder the
//! line it stands in, or run when it is pasted into a shell.

use model::text::is_unsafe;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a lane's name may take; longer ones end in `…`. The command line refuses names
/// above 64 characters, so only a record made by other means is ever shortened.
pub(crate) const NAME_COLUMNS: usize = 64;
/// Columns that a free sentence (a reason, a warning) may take.
pub(crate) const SENTENCE_COLUMNS: usize = 600;

/// The text without unsafe characters; what breaks a line becomes a space.
pub fn clean(text: &str) -> String {
    model::text::clean(text)
}

/// The text cleaned and cut to at most so many columns, `…` included.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    let text = clean(text);
    // Characters without a width of their own could pile up for ever: they are counted too.
    let most_characters = columns.saturating_mul(4);
    if text.width() <= columns && text.chars().count() <= most_characters {
        return text;
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars().take(most_characters) {
        let width = character.width().unwrap_or(0);
        if used + width + 1 > columns {
            break;
        }
        used += width;
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// A lane's name, cleaned; never empty, so that a sentence keeps its subject.
pub(crate) fn name(text: &str) -> String {
    let shown = shorten(text, NAME_COLUMNS);
    if shown.trim().is_empty() { "(unnamed)".to_owned() } else { shown }
}

/// Columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// An argument list as a line that a shell reads back as the same list.
///
/// Arguments with characters that may not be shown are written in the `$'…'` form of bash, zsh
/// and ksh, so that the line stays exact and harmless to look at.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// One argument, quoted where a shell would change it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+^-".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_unsafe) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for character in word.chars() {
        match character {
            '\'' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            other if is_unsafe(other) => {
                // Eight digits, because a shorter escape would swallow a hexadecimal digit behind it.
                let _ = write!(quoted, "\\U{:08x}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_bidi_overrides_lose_their_force() {
        assert_eq!(clean("a\u{1b}[31mred\u{202e}x\u{9b}2Jy\nz"), "a[31mredx2Jy z");
    }

    #[test]
    fn a_long_name_is_cut_to_columns_not_bytes() {
        let cut = shorten(&"文".repeat(4000), 11);
        assert_eq!((cut.as_str(), columns(&cut)), ("文文文文文…", 11));
        assert!(shorten(&format!("a{}", "\u{301}".repeat(4000)), 10).chars().count() <= 41);
    }

    #[test]
    fn a_shell_reads_a_quoted_word_back_as_it_was() {
        for word in ["ext4", "a b", "it's", "$(touch x)", "a\u{1b}[31m'\\\u{202e}9", "", "=x", "~/x", "{a,b}", "文"] {
            let output = std::process::Command::new("bash")
                .env("LC_ALL", "C.UTF-8")
                .args(["-c", &format!("printf %s {}", shell_word(word))])
                .output()
                .expect("bash runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{}", shell_word(word));
        }
    }
}
