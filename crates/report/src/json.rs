//! Findings and comparisons as JSON, the form that `schema/findings.schema.json` describes.

use crate::{Input, Style};
use model::findings::Comparison;
use model::text::is_unsafe;
use std::fmt::Write;

/// Renders findings as pretty JSON.
pub(crate) fn render(input: &Input, _: &Style) -> String {
    pretty(input.findings)
}

/// Renders a comparison as pretty JSON.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    pretty(comparison)
}

/// Pretty JSON that harms no terminal, ending in a line break.
pub(crate) fn pretty(value: &impl serde::Serialize) -> String {
    // Findings are strings, numbers and lists: nothing that JSON cannot hold.
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| unreachable!("findings are JSON: {error}"));
    harmless(&text) + "\n"
}

/// Escapes what serde_json leaves as it is and a terminal would obey: C1 controls and characters
/// that reorder text. They only occur inside strings, where an escape means the same character.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character != '\n' && is_unsafe(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_keeps_the_value() {
        let nasty = "a\u{1b}\u{9b}\u{202e}\u{e0001}\u{7f}\n文\"\\";
        let text = pretty(&nasty);
        assert_eq!(serde_json::from_str::<String>(&text).ok().as_deref(), Some(nasty));
        assert!(!text.trim_end().chars().any(is_unsafe), "{text:?}");
    }
}
