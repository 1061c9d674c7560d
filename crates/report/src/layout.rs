//! Phrases with a tone, wrapped to a width and painted last, so that colours never count as text.

use crate::Style;
use crate::clean::{clean, columns, name};
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthChar;

/// Joins a number to its unit: the wrapping never breaks here, and a plain space is printed.
pub(crate) const GLUE: char = '\u{a0}';

/// What a piece of text is. A colour only repeats what the words already say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// A lane's name.
    Name,
    /// A heading or a label.
    Label,
    Faster,
    Slower,
    Tie,
    Undecided,
    NoVerdict,
    Failed,
    /// Less important than what stands around it.
    Quiet,
}

/// A piece of text of one tone; free of control characters by construction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// A sentence or a part of one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Phrase {
    pub(crate) spans: Vec<Span>,
}

impl Phrase {
    /// A phrase of plain text.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Phrase::default().say(text)
    }

    /// Adds plain text.
    pub(crate) fn say(self, text: impl AsRef<str>) -> Self {
        self.tone(Tone::Plain, text)
    }

    /// Adds text of a tone.
    pub(crate) fn tone(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        let text = clean(text.as_ref());
        if !text.is_empty() {
            self.spans.push(Span { text, tone });
        }
        self
    }

    /// Adds a lane's name.
    pub(crate) fn name(self, lane: &str) -> Self {
        self.tone(Tone::Name, name(lane))
    }

    /// Adds another phrase.
    pub(crate) fn and(mut self, other: Phrase) -> Self {
        self.spans.extend(other.spans);
        self
    }

    /// Adds phrases with a separator between them.
    pub(crate) fn join(mut self, parts: impl IntoIterator<Item = Phrase>, separator: &str) -> Self {
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                self = self.say(separator);
            }
            self = self.and(part);
        }
        self
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The words alone.
    pub(crate) fn plain(&self) -> String {
        let text: String = self.spans.iter().map(|span| span.text.as_str()).collect();
        text.replace(GLUE, " ")
    }

    /// Columns on one line.
    pub(crate) fn columns(&self) -> usize {
        self.spans.iter().map(|span| columns(&span.text)).sum()
    }

    /// On one line, painted.
    pub(crate) fn paint(&self, style: &Style) -> String {
        self.spans.iter().map(|span| paint(&span.text, span.tone, style)).collect()
    }

    /// Broken at spaces into lines of at most `width` columns; a longer word is broken hard.
    pub(crate) fn wrap(&self, width: usize) -> Vec<Phrase> {
        let width = width.max(1);
        let mut lines = vec![Phrase::default()];
        let mut used = 0;
        for word in self.words() {
            let length = word.columns();
            if used > 0 && used + 1 + length <= width {
                let tone = word.spans.first().map_or(Tone::Plain, |span| span.tone);
                push(&mut lines, ' ', tone);
                used += 1;
            } else if used > 0 {
                lines.push(Phrase::default());
                used = 0;
            }
            for span in &word.spans {
                for character in span.text.chars() {
                    let columns = character.width().unwrap_or(0);
                    if used > 0 && used + columns > width {
                        lines.push(Phrase::default());
                        used = 0;
                    }
                    push(&mut lines, character, span.tone);
                    used += columns;
                }
            }
        }
        lines
    }

    fn words(&self) -> Vec<Phrase> {
        let mut words = vec![Phrase::default()];
        for span in &self.spans {
            for (index, part) in span.text.split(' ').enumerate() {
                if index > 0 {
                    words.push(Phrase::default());
                }
                if let (Some(word), false) = (words.last_mut(), part.is_empty()) {
                    word.spans.push(Span { text: part.to_owned(), tone: span.tone });
                }
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }
}

fn push(lines: &mut [Phrase], character: char, tone: Tone) {
    let Some(line) = lines.last_mut() else { return };
    match line.spans.last_mut() {
        Some(span) if span.tone == tone => span.text.push(character),
        _ => line.spans.push(Span { text: character.to_string(), tone }),
    }
}

fn paint(text: &str, tone: Tone, style: &Style) -> String {
    let text = text.replace(GLUE, " ");
    if !style.colour {
        return text;
    }
    match tone {
        Tone::Plain => text,
        Tone::Name | Tone::Label => text.bold().to_string(),
        Tone::Faster => text.green().to_string(),
        Tone::Slower => text.magenta().to_string(),
        Tone::Tie => text.cyan().to_string(),
        Tone::Undecided => text.yellow().to_string(),
        Tone::NoVerdict => text.blue().to_string(),
        Tone::Failed => text.red().bold().to_string(),
        Tone::Quiet => text.dimmed().to_string(),
    }
}

/// Below this width a label stands on a line of its own: beside it no sentence would fit.
const NARROW_COLUMNS: usize = 64;
/// A label this short never needs a line of its own.
const SHORT_LABEL_COLUMNS: usize = 4;

/// Writes a label, a body that hangs beside it, and a remark at the right edge.
pub(crate) fn hang(
    out: &mut String,
    label: &str,
    label_columns: usize,
    body: &Phrase,
    right: Option<&Phrase>,
    style: &Style,
) {
    let width = style.columns();
    let label = clean(label);
    let narrow = width < NARROW_COLUMNS;
    let beside = !narrow || label_columns <= SHORT_LABEL_COLUMNS;
    let indent = if beside { label_columns } else { 2 };
    let lines = body.wrap(width - indent);
    // One that has no room beside its body stands above it, whole.
    let above = !label.is_empty() && (!beside || columns(&label) >= indent);
    let mut left = paint(if above { "" } else { &label }, Tone::Label, style);
    if above {
        // Breaking takes away what a label is indented by.
        let whole = Phrase::default().tone(Tone::Label, label.trim_end());
        let lines = if whole.columns() <= width { vec![whole] } else { whole.wrap(width) };
        for line in lines {
            out.push_str(&line.paint(style));
            out.push('\n');
        }
        left = " ".repeat(indent);
    } else {
        left.push_str(&" ".repeat(indent.saturating_sub(columns(&label))));
    }
    let last = lines.len() - 1;
    for (index, line) in lines.iter().enumerate() {
        out.push_str(&left);
        left = " ".repeat(indent);
        out.push_str(&line.paint(style));
        if let (true, Some(right)) = (index == last, right) {
            let free = (width - indent).saturating_sub(line.columns());
            if right.columns() + 2 > free {
                // No room beside the sentence: under it, still at the right edge where eyes look for it.
                out.push('\n');
                out.push_str(&" ".repeat(width.saturating_sub(right.columns())));
            } else {
                out.push_str(&" ".repeat(free - right.columns()));
            }
            out.push_str(&right.paint(style));
        }
        while out.ends_with(' ') {
            out.pop();
        }
        out.push('\n');
    }
}

/// Pads every cell to its column's widest, two spaces between columns; the first column and
/// those after it are left-aligned, as the cells carry their own units.
pub(crate) fn align(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest: Vec<usize> = (0..count)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max().unwrap_or(0))
        .collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widest) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - columns(cell) + 2));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_numbers_with_their_units_and_never_exceeds_the_width() {
        let phrase = Phrase::new(format!("xfs is 9{GLUE}% faster than")).say(" ").name("文".repeat(30).as_str());
        for width in [1, 2, 7, 10, 40] {
            let lines = phrase.wrap(width);
            assert!(lines.iter().all(|line| line.columns() <= width.max(2)), "{width}: {lines:?}");
        }
        assert!(phrase.wrap(9).iter().any(|line| line.plain() == "xfs is"));
    }

    #[test]
    fn colours_do_not_move_columns() {
        let body = Phrase::default().name("xfs").tone(Tone::Faster, " faster");
        let right = Phrase::new("limited by flushes");
        let (mut plain, mut coloured) = (String::new(), String::new());
        hang(&mut plain, "commit", 10, &body, Some(&right), &Style { colour: false, width: 80, ..Style::default() });
        hang(&mut coloured, "commit", 10, &body, Some(&right), &Style { colour: true, width: 80, ..Style::default() });
        let mut stripped = String::new();
        let mut inside = false;
        for character in coloured.chars() {
            match (inside, character) {
                (false, '\u{1b}') => inside = true,
                (false, other) => stripped.push(other),
                (true, 'm') => inside = false,
                (true, _) => {}
            }
        }
        assert_eq!(stripped, plain);
        assert_ne!(coloured, plain);
        assert_eq!(columns(plain.trim_end_matches('\n')), 80);
    }
}
