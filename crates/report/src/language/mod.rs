//! Languages: what a memo says in each, how each writes numbers and lists, the names that data files
//! give, and the sentences of the statistics. To add one: a file of [`words::Words`], one of sentences, a
//! column of [`phrases`] and of [`cause_phrases`], a row of [`TONGUES`].

mod cause_phrases;
mod de;
mod en;
mod phrases;
mod said_de;
mod said_explain;
mod said_limits;
mod said_zh;
mod sentences;
mod words;
mod zh;

pub use sentences::{catalogue, sentences};

use crate::clean::shorten;
use crate::layout::{GLUE, Phrase};
use model::page::Language;
use model::sentence::{Piece, pieces};
use words::Words;

/// How one language says things.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tongue {
    pub(crate) language: Language,
    pub(crate) words: &'static Words,
    /// Another thousands separator and decimal mark than English.
    decimal_comma: bool,
    /// Units of time and signs that stand differently: English, and what stands for it.
    units: &'static [(&'static str, &'static str)],
    /// The statistics' sentences by the names of their templates; empty: as they are.
    said: [Sayings; 3],
}

/// Templates by their names.
type Sayings = &'static [(&'static str, &'static str)];

static TONGUES: [Tongue; 3] = [
    Tongue {
        language: Language::En,
        words: &en::WORDS,
        decimal_comma: false,
        units: &[("\u{a0}us", "\u{a0}µs")],
        said: [&[], &[], &[]],
    },
    Tongue {
        language: Language::De,
        words: &de::WORDS,
        decimal_comma: true,
        units: &[("\u{a0}us", "\u{a0}µs")],
        said: [said_explain::GERMAN, said_limits::GERMAN, said_de::SENTENCES],
    },
    Tongue {
        language: Language::Zh,
        words: &zh::WORDS,
        decimal_comma: false,
        units: &[("\u{a0}us", "\u{a0}µs"), ("\u{a0}%", "%"), ("\u{a0}min", "\u{a0}分钟"), ("\u{a0}h", "\u{a0}小时")],
        said: [said_explain::CHINESE, said_limits::CHINESE, said_zh::SENTENCES],
    },
];

/// English, Chinese, German.
fn known_rows() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    phrases::PHRASES.iter().chain(cause_phrases::CAUSES)
}

/// The names that data files give and that are known in every language.
pub fn known_phrases() -> impl Iterator<Item = &'static str> {
    known_rows().map(|(english, ..)| *english)
}

impl Tongue {
    pub(crate) fn new(language: Language) -> Tongue {
        TONGUES.into_iter().find(|tongue| tongue.language == language).unwrap_or(TONGUES[0])
    }

    /// A figure as this language writes it; it comes as English writes it, its unit glued to it.
    pub(crate) fn figure(&self, english: &str) -> String {
        let swapped = |(at, character): (usize, char)| match character {
            '.' | ',' if self.decimal_comma && between_digits(english, at) => {
                if character == '.' {
                    ','
                } else {
                    '.'
                }
            }
            other => other,
        };
        let said: String = english.char_indices().map(swapped).collect();
        self.units.iter().fold(said, |said, (english, own)| said.replace(english, own))
    }

    /// A name that a data file gives, with what was set behind it; as it is where nobody knows it.
    pub(crate) fn name(&self, english: &str) -> String {
        let own = self.known(english).or_else(|| self.of_ranks(english));
        own.unwrap_or_else(|| english.to_owned())
    }

    /// A name of a data file, or one with parameters behind it (`random read 4 KiB (bs=16KiB)`); `None`: nobody knows it.
    fn known(&self, english: &str) -> Option<String> {
        let row = |name: &str| known_rows().find(|(known, ..)| *known == name);
        let own = |(_, zh, de): &(&str, &'static str, &'static str)| match self.language {
            Language::En => None,
            Language::Zh => Some(*zh),
            Language::De => Some(*de),
        };
        if let Some(row) = row(english) {
            return own(row).map(str::to_owned);
        }
        let (title, set) = english.strip_suffix(')')?.rsplit_once(" (")?;
        Some(format!("{} ({set})", row(title).and_then(own)?))
    }

    /// The title of work as so many ranks of a job do it (`model::ranks::titled`); `None`: it is none.
    fn of_ranks(&self, english: &str) -> Option<String> {
        let (title, ranks) = english.rsplit_once(", ")?;
        let ranks: u32 = ranks.split_once(' ')?.0.parse().ok()?;
        if model::ranks::titled(title, ranks) != english {
            return None;
        }
        let own = self.known(title).unwrap_or_else(|| title.to_owned());
        match self.language {
            Language::En => None,
            Language::Zh => Some(format!("{own}，{ranks} 个进程")),
            Language::De if ranks == 1 => Some(format!("{own}, 1 Rang")),
            Language::De => Some(format!("{own}, {ranks} Ränge")),
        }
    }

    /// The same, cut to so many columns.
    pub(crate) fn short_name(&self, english: &str, columns: usize) -> Phrase {
        Phrase::new(shorten(&self.name(english), columns))
    }

    /// `a, b and c`, or with another `end`.
    pub(crate) fn listed(&self, mut parts: Vec<Phrase>, end: &str) -> Phrase {
        match parts.pop() {
            None => Phrase::default(),
            Some(only) if parts.is_empty() => only,
            Some(last) => fill(end, &[("before", self.joined(parts)), ("last", last)]),
        }
    }

    /// `a, b, c`.
    pub(crate) fn joined(&self, parts: impl IntoIterator<Item = Phrase>) -> Phrase {
        Phrase::default().join(parts, self.words.comma)
    }

    /// `a, b, c`, or the first of them and how many more.
    pub(crate) fn few(&self, mut parts: Vec<Phrase>, most: usize) -> Phrase {
        let more = parts.len().saturating_sub(most.max(1));
        parts.truncate(parts.len() - more);
        let list = self.joined(parts);
        match more {
            0 => list,
            count => fill(self.words.and_more, &[("list", list), ("count", Phrase::new(count.to_string()))]),
        }
    }

    /// Text with something in brackets.
    pub(crate) fn with(&self, text: Phrase, inside: Phrase) -> Phrase {
        fill(self.words.brackets, &[("text", text), ("inside", inside)])
    }
}

fn between_digits(text: &str, at: usize) -> bool {
    let digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    digit(text[..at].chars().next_back()) && digit(text[at + 1..].chars().next())
}

/// A template with its places filled; a space before `%` never breaks.
pub(crate) fn fill(template: &str, values: &[(&str, Phrase)]) -> Phrase {
    pieces(template).into_iter().fold(Phrase::default(), |said, piece| match piece {
        Piece::Text(text) => said.say(glued(text)),
        Piece::Place(name) => match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => said.and(value.clone()),
            None => said.say(format!("{{{name}}}")),
        },
    })
}

fn glued(text: &str) -> String {
    text.replace(" %", &format!("{GLUE}%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn places(template: &str) -> BTreeSet<&str> {
        let name = |piece| match piece {
            Piece::Place(name) => Some(name),
            Piece::Text(_) => None,
        };
        pieces(template).into_iter().filter_map(name).collect()
    }

    #[test]
    fn every_language_fills_the_same_into_every_sentence() {
        for tongue in &TONGUES {
            for ((name, english), (_, own)) in TONGUES[0].words.all().into_iter().zip(tongue.words.all()) {
                assert_eq!(places(english), places(own), "{name} in {:?}", tongue.language);
                assert!(!own.trim().is_empty(), "{name} in {:?}", tongue.language);
            }
            assert_eq!(tongue.words.months.split(' ').count(), 12);
        }
        assert_eq!(
            TONGUES.map(|tongue| Tongue::new(tongue.language).words.decision),
            ["Decision", "Entscheidung", "结论"]
        );
    }

    #[test]
    fn sentences_differ_from_english_where_a_language_is_another() {
        for tongue in &TONGUES[1..] {
            let pairs = TONGUES[0].words.all().into_iter().zip(tongue.words.all());
            let left: Vec<&str> = pairs
                .filter(|((_, english), (_, own))| english == own && english.contains(' '))
                .map(|of| of.0.0)
                .collect();
            // Lists, brackets, and figures that German writes as English does.
            assert!(left.len() <= 12, "{left:?}");
        }
    }

    #[test]
    fn numbers_and_lists_are_written_as_each_language_does() {
        let said = |language| {
            let tongue = Tongue::new(language);
            let list = ["a", "b", "c"].map(Phrase::new).to_vec();
            let figures = ["1,234.5", "2.5\u{a0}%", "41\u{a0}us", "12\u{a0}min"];
            let figures = figures.map(|figure| tongue.figure(figure).replace(GLUE, " "));
            (tongue.listed(list.clone(), tongue.words.or).plain(), tongue.few(list, 2).plain(), figures.join(" | "))
        };
        let text = |parts: [&str; 3]| (parts[0].to_owned(), parts[1].to_owned(), parts[2].to_owned());
        let en = ["a, b or c", "a, b and 1 more", "1,234.5 | 2.5 % | 41 µs | 12 min"];
        assert_eq!(said(Language::En), text(en));
        let de = ["a, b oder c", "a, b und 1 weitere", "1.234,5 | 2,5 % | 41 µs | 12 min"];
        assert_eq!(said(Language::De), text(de));
        let zh = ["a、b 或 c", "a、b 等，另有 1 个", "1,234.5 | 2.5% | 41 µs | 12 分钟"];
        assert_eq!(said(Language::Zh), text(zh));
    }

    #[test]
    fn a_place_that_nobody_fills_stays_to_be_seen() {
        assert_eq!(fill("a {b} {c} 5 %", &[("b", Phrase::new("x"))]).plain(), "a x {c} 5 %");
        assert_eq!(fill("{open", &[]).plain(), "{open");
    }

    #[test]
    fn known_names_are_told_in_each_language_and_others_as_they_are() {
        assert_eq!(Tongue::new(Language::De).name("power cut"), "Stromausfall");
        assert_eq!(Tongue::new(Language::Zh).name("power cut"), "断电");
        assert_eq!(Tongue::new(Language::Zh).name("my own test"), "my own test");
        let mut names: Vec<&str> = known_phrases().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), known_phrases().count(), "a name stands twice");
    }

    #[test]
    fn a_name_is_said_in_each_language_with_what_was_set_behind_it() {
        let (english, zh, de) = phrases::PHRASES[0];
        for (language, own) in [(Language::En, english), (Language::Zh, zh), (Language::De, de)] {
            let tongue = Tongue::new(language);
            assert_eq!(tongue.name(english), own);
            assert_eq!(tongue.name(&format!("{english} (size=2MiB, bs=8KiB)")), format!("{own} (size=2MiB, bs=8KiB)"));
        }
        let ranks = model::ranks::titled(&format!("{english} (size=2MiB)"), 4);
        assert_eq!(Tongue::new(Language::De).name(&ranks), format!("{de} (size=2MiB), 4 Ränge"));
        for unknown in ["my work (size=2MiB)", "my work", "(", ")", " ()", ""] {
            assert_eq!(Tongue::new(Language::De).name(unknown), unknown);
        }
    }
}
