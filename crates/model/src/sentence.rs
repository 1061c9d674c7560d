//! Sentences that the statistics say, in a form that other languages can be made of.
//!
//! A [`Sentence`] is its English text everywhere: it reads, compares and serialises as that. Beside
//! it stands what it was made of, a template's name and the values in its places, so that a report can
//! fill them into the same template in another language. What came from a file has no such parts, and
//! stays English.

use crate::units::{human_bandwidth, human_bytes, human_count, human_seconds, percent, percent_range};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

/// Name of the template of a sentence that is nothing but several, one behind the other.
const CLAUSES: &str = "clauses";

/// A sentence, or a part of one, in English, with what it was made of.
#[derive(Debug, Clone, Default)]
pub struct Sentence {
    english: String,
    said: Option<Box<Said>>,
}

/// What a sentence was made of.
#[derive(Debug, Clone)]
pub struct Said {
    /// Name of the template.
    pub id: &'static str,
    /// The values in its places, by their names.
    pub values: Vec<(&'static str, Value)>,
    /// How much a reader has to heed it.
    pub weight: Weight,
}

/// How much a reader has to heed a warning; the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Whoever chooses by this race without knowing it may choose wrongly.
    Choice,
    /// Some figures are not what they seem.
    Figures,
    /// What this machine is like, and what somebody noted.
    Circumstances,
    /// What was done about it is part of the figures already: for the full report alone.
    Detail,
}

/// What stands in a place of a template.
#[derive(Debug, Clone)]
pub enum Value {
    /// Text that means the same in every language: a lane's name, a path, an option.
    Name(String),
    /// Text that others wrote, in English; some of it is known in other languages.
    Text(String),
    /// How many.
    Count(u64),
    /// A number with so many decimals.
    Number(f64, usize),
    /// A number with so many decimals and its sign, whichever it is.
    Signed(f64, usize),
    /// A share as a percentage: `97 %`.
    Share(f64),
    /// Shares as a range of percentages, or one where they read alike: `97 to 99 %`.
    Shares(Vec<f64>),
    /// How many per second, as a number: `88.1k`.
    Rate(f64),
    /// Requests per second: `88.1k IOPS`.
    Iops(f64),
    /// Bytes per second: `512 MB/s`.
    Bandwidth(f64),
    /// Bytes: `29.8 GiB`.
    Bytes(f64),
    /// A time: `0.9 ms`.
    Seconds(f64),
    /// `a, b and c`.
    List(Vec<Value>),
    /// `a, b, c`.
    Row(Vec<Value>),
    /// `a; b; c`.
    Clauses(Vec<Value>),
    /// A part that has a template of its own.
    Part(Sentence),
}

/// A template of the statistics.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// Its name.
    pub id: &'static str,
    /// The English text; `{name}` is a place.
    pub english: &'static str,
    /// Names of the places.
    pub places: &'static [&'static str],
}

impl Sentence {
    /// Fills an English template.
    pub fn new(id: &'static str, english: &str, values: Vec<(&'static str, Value)>) -> Self {
        let mut text = String::with_capacity(english.len() + 32);
        for piece in pieces(english) {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Place(name) => match values.iter().find(|(known, _)| *known == name) {
                    Some((_, value)) => text.push_str(&value.to_string()),
                    None => text.push_str(&format!("{{{name}}}")),
                },
            }
        }
        Sentence { english: text, said: Some(Box::new(Said { id, values, weight: Weight::Figures })) }
    }

    /// The English text.
    pub fn as_str(&self) -> &str {
        &self.english
    }

    /// The same sentence with another weight; text that came from elsewhere has none of its own.
    pub fn weigh(mut self, weight: Weight) -> Self {
        if let Some(said) = &mut self.said {
            said.weight = weight;
        }
        self
    }

    /// How much a reader has to heed it. What came from elsewhere is a circumstance.
    pub fn weight(&self) -> Weight {
        self.said.as_ref().map_or(Weight::Circumstances, |said| said.weight)
    }

    /// The sentences that stand one behind the other in it; of one that is none of several, itself.
    pub fn clauses(&self) -> Vec<&Sentence> {
        let said = self.said().filter(|said| said.id == CLAUSES);
        let [(_, Value::Clauses(parts))] = said.map_or(&[][..], |said| said.values.as_slice()) else {
            return vec![self];
        };
        let sentences: Option<Vec<&Sentence>> = parts
            .iter()
            .map(|part| match part {
                Value::Part(sentence) => Some(sentence),
                _ => None,
            })
            .collect();
        sentences.map_or_else(|| vec![self], |all| all.into_iter().flat_map(Sentence::clauses).collect())
    }

    /// What it was made of; `None`: text that came from elsewhere.
    pub fn said(&self) -> Option<&Said> {
        self.said.as_deref()
    }
}

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// The value of this name.
    Place(&'a str),
}

/// The parts of a template. A brace that nothing closes is text.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some((start, end)) = rest.find('{').and_then(|start| Some((start, start + rest[start..].find('}')?))) {
        found.extend((start > 0).then(|| Piece::Text(&rest[..start])));
        found.push(Piece::Place(&rest[start + 1..end]));
        rest = &rest[end + 1..];
    }
    found.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    found
}

impl fmt::Display for Value {
    /// As English writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined =
            |values: &[Value], between: &str| values.iter().map(Value::to_string).collect::<Vec<_>>().join(between);
        match self {
            Value::Name(text) | Value::Text(text) => f.write_str(text),
            Value::Count(count) => write!(f, "{count}"),
            Value::Number(number, decimals) => write!(f, "{number:.after$}", after = *decimals),
            Value::Signed(number, decimals) => write!(f, "{number:+.after$}", after = *decimals),
            Value::Share(share) => f.write_str(&percent(*share)),
            Value::Shares(shares) => f.write_str(&percent_range(shares.iter().copied())),
            Value::Rate(rate) => f.write_str(&human_count(*rate)),
            Value::Iops(rate) => write!(f, "{} IOPS", human_count(*rate)),
            Value::Bandwidth(rate) => f.write_str(&human_bandwidth(*rate)),
            Value::Bytes(bytes) => f.write_str(&human_bytes(*bytes)),
            Value::Seconds(seconds) => f.write_str(&human_seconds(*seconds)),
            Value::List(values) => match values.as_slice() {
                [before @ .., last] if !before.is_empty() => write!(f, "{} and {last}", joined(before, ", ")),
                all => f.write_str(&joined(all, "")),
            },
            Value::Row(values) => f.write_str(&joined(values, ", ")),
            Value::Clauses(values) => f.write_str(&joined(values, "; ")),
            Value::Part(sentence) => f.write_str(sentence),
        }
    }
}

impl From<Sentence> for Value {
    fn from(part: Sentence) -> Self {
        Value::Part(part)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Count(count as u64)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Value::Count(count.into())
    }
}

impl From<String> for Sentence {
    fn from(english: String) -> Self {
        Sentence { english, said: None }
    }
}

impl From<&str> for Sentence {
    fn from(english: &str) -> Self {
        Sentence::from(english.to_owned())
    }
}

impl From<Sentence> for String {
    fn from(sentence: Sentence) -> Self {
        sentence.english
    }
}

impl Deref for Sentence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.english
    }
}

impl Borrow<str> for Sentence {
    fn borrow(&self) -> &str {
        &self.english
    }
}

impl AsRef<str> for Sentence {
    fn as_ref(&self) -> &str {
        &self.english
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.english)
    }
}

impl PartialEq for Sentence {
    fn eq(&self, other: &Self) -> bool {
        self.english == other.english
    }
}

impl Eq for Sentence {}

impl PartialEq<str> for Sentence {
    fn eq(&self, other: &str) -> bool {
        self.english == other
    }
}

impl PartialEq<&str> for Sentence {
    fn eq(&self, other: &&str) -> bool {
        self.english == *other
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.english)
    }
}

impl<'de> Deserialize<'de> for Sentence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Sentence::from)
    }
}

impl JsonSchema for Sentence {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sentence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_and_its_values_are_kept() {
        let part = Sentence::new("part", "{rate} flushes/s", vec![("rate", Value::Rate(1_110.0))]);
        let values = vec![
            ("lanes", Value::List(["a", "b", "c"].map(|name| Value::Name(name.to_owned())).to_vec())),
            ("use", Value::Shares(vec![0.99, 0.97])),
            ("of", part.into()),
        ];
        let said = Sentence::new("whole", "{lanes} run at {use} of {of}{nobody}", values);
        assert_eq!(said, "a, b and c run at 97 to 99 % of 1.11k flushes/s{nobody}");
        assert_eq!(said.said().map(|said| (said.id, said.values.len())), Some(("whole", 3)));
    }

    #[test]
    fn values_read_as_english_writes_them() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (value, said) in [
            (Value::Share(0.0421), "4.2 %"),
            (Value::Shares(vec![0.97]), "97 %"),
            (Value::Number(2.5, 2), "2.50"),
            (Value::Signed(9.4, 0), "+9"),
            (Value::Iops(88_100.0), "88.1k IOPS"),
            (Value::Bandwidth(512e6), "512 MB/s"),
            (Value::Seconds(0.0021), "2.1 ms"),
            (Value::List(vec![text("a")]), "a"),
            (Value::List(Vec::new()), ""),
            (Value::Row(vec![text("a"), text("b")]), "a, b"),
            (Value::Clauses(vec![text("a"), text("b")]), "a; b"),
            (Value::Count(3), "3"),
        ] {
            assert_eq!(value.to_string(), said);
        }
    }

    #[test]
    fn it_is_a_string_in_json_and_in_every_comparison() {
        let said = Sentence::new("id", "a {b}", vec![("b", Value::Count(1))]);
        let json = serde_json::to_string(&said).unwrap();
        assert_eq!(json, "\"a 1\"");
        let back: Sentence = serde_json::from_str(&json).unwrap();
        assert!(back == said && back.said().is_none() && said.starts_with("a ") && *said == *"a 1");
        assert_eq!([said, back].join("; "), "a 1; a 1");
        let schema = |of: Schema| serde_json::to_value(of).unwrap();
        assert_eq!(schema(schemars::schema_for!(Sentence))["type"], "string");
    }

    #[test]
    fn pieces_keep_what_is_no_place() {
        assert_eq!(pieces("{a} b{c}"), [Piece::Place("a"), Piece::Text(" b"), Piece::Place("c")]);
        assert_eq!(pieces("x {open"), [Piece::Text("x {open")]);
        assert!(pieces("").is_empty());
    }
}
