//! TOML as it stands in a file, each value with its line.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and the line where it begins, from 1; 0: it stands in no file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    /// `None`: more than 128 bits.
    Whole(Option<i128>),
    Number,
    Truth,
    Time,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) node: Node,
}

impl Node {
    /// The document as a table.
    ///
    /// # Errors
    /// What is no TOML: the line where it shows, and what the parser says.
    pub(super) fn of_text(text: &str) -> Result<Node, (usize, String)> {
        let lines = Lines(text);
        match DeTable::parse(text) {
            Ok(table) => Ok(Node { line: 1, value: table_of(table.get_ref(), &lines) }),
            Err(error) => {
                let line = error.span().map_or(1, |span| lines.line_of(&span));
                Err((line, error.message().trim().replace('\n', " ")))
            }
        }
    }

    /// A value that stands in no file.
    pub(super) fn of_value(value: &toml::Value) -> Node {
        let value = match value {
            toml::Value::String(text) => Value::Text(text.clone()),
            toml::Value::Integer(number) => Value::Whole(Some(i128::from(*number))),
            toml::Value::Float(_) => Value::Number,
            toml::Value::Boolean(_) => Value::Truth,
            toml::Value::Datetime(_) => Value::Time,
            toml::Value::Array(list) => Value::List(list.iter().map(Node::of_value).collect()),
            toml::Value::Table(table) => {
                let entry = |(key, value): (&String, &toml::Value)| Entry {
                    key: key.clone(),
                    line: 0,
                    node: Node::of_value(value),
                };
                Value::Table(table.iter().map(entry).collect())
            }
        };
        Node { line: 0, value }
    }

    /// The value of a key; `None`: it is no table, or has no such key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// A key with its value.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The elements of a list; none where it is no list.
    pub(super) fn list(&self) -> &[Node] {
        match &self.value {
            Value::List(list) => list,
            _ => &[],
        }
    }

    /// A text; `None`: it is none.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, in words.
    pub(super) fn what(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text \"{}\"", text.chars().take(60).collect::<String>().escape_debug()),
            Value::Whole(Some(number)) => format!("{number}"),
            Value::Whole(None) => "a number beyond all bounds".to_owned(),
            Value::Number => "a number with a fraction".to_owned(),
            Value::Truth => "a truth value".to_owned(),
            Value::Time => "a date".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

fn node_of(value: &Spanned<DeValue>, lines: &Lines) -> Node {
    let line = lines.line_of(&value.span());
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Whole(i128::from_str_radix(number.as_str(), number.radix()).ok()),
        DeValue::Float(_) => Value::Number,
        DeValue::Boolean(_) => Value::Truth,
        DeValue::Datetime(_) => Value::Time,
        DeValue::Array(list) => Value::List(list.iter().map(|node| node_of(node, lines)).collect()),
        DeValue::Table(table) => table_of(table, lines),
    };
    Node { line, value }
}

fn table_of(table: &DeTable, lines: &Lines) -> Value {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<str>>, &Spanned<DeValue>)| Entry {
        key: key.get_ref().to_string(),
        line: lines.line_of(&key.span()),
        node: node_of(value, lines),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    // As they stand, so that the first mistake is the first that a reader meets.
    entries.sort_by_key(|entry| entry.line);
    Value::Table(entries)
}

/// Line numbers of a text.
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn line_of(&self, span: &Range<usize>) -> usize {
        let bytes = self.0.as_bytes();
        bytes[..span.start.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count() + 1
    }
}
