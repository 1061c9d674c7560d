//! JSON that others wrote: bounded in depth and size, and with the place of what is wrong in it.

use crate::ForeignError;
use serde_json::{Deserializer, Value};

/// Most values of a document, so that memory stays in proportion to what real files hold.
const MOST_WEIGHT: usize = 4_000_000;
/// As how many values an object counts: memory for its keys is set aside at once.
const OBJECT_WEIGHT: usize = 16;

/// The document that a text is.
pub(crate) fn value(text: &str) -> Result<Value, ForeignError> {
    bounded(text)?;
    serde_json::from_str(text).map_err(|error| malformed(text, 0, &error))
}

/// The document that begins at a byte of a text, and the byte behind its end.
pub(crate) fn value_at(text: &str, from: usize) -> Result<(Value, usize), ForeignError> {
    bounded_from(text, from)?;
    let rest = text.get(from..).unwrap_or_default();
    let mut documents = Deserializer::from_str(rest).into_iter::<Value>();
    match documents.next() {
        Some(Ok(value)) => Ok((value, from.saturating_add(documents.byte_offset()))),
        Some(Err(error)) => Err(malformed(text, from, &error)),
        None => Err(ends_early(place(text, text.len()))),
    }
}

/// Refuses a text whose first document has more values than results have, before memory is taken for them.
pub(crate) fn bounded(text: &str) -> Result<(), ForeignError> {
    bounded_from(text, 0)
}

fn bounded_from(text: &str, from: usize) -> Result<(), ForeignError> {
    let (mut weight, mut depth, mut quoted, mut escaped) = (0, 0_usize, false, false);
    let bytes = text.as_bytes().get(from..).unwrap_or_default();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => (weight, depth) = (weight + OBJECT_WEIGHT, depth + 1),
            b'[' => (weight, depth) = (weight + 1, depth + 1),
            b',' => weight += 1,
            b'}' | b']' if depth <= 1 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if weight > MOST_WEIGHT {
            let (line, column) = place(text, from + at);
            let what = format!("a JSON document of more than {MOST_WEIGHT} values; import a part of it");
            return Err(ForeignError::Malformed { line, column, what });
        }
    }
    Ok(())
}

/// A text of an object; empty where it is absent or no text.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A finite figure of an object, also where it stands there as a text.
pub(crate) fn number(value: &Value, key: &str) -> Option<f64> {
    let figure: f64 = match value.get(key)? {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    figure.is_finite().then_some(figure)
}

/// A count of an object; 0 where it is absent or no count.
pub(crate) fn count(value: &Value, key: &str) -> u64 {
    match value.get(key).and_then(Value::as_u64) {
        Some(count) => count,
        // A cast takes a figure below 0 to 0, and one that is too large to the largest.
        None => number(value, key).unwrap_or(0.0) as u64,
    }
}

/// What serde_json says of a document that begins at byte `from`, and where in the text that is.
fn malformed(text: &str, from: usize, error: &serde_json::Error) -> ForeignError {
    if error.is_eof() {
        return ends_early(place(text, text.len()));
    }
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let before: usize =
        rest.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let (line, column) = place(text, from + before + error.column().saturating_sub(1));
    let told = error.to_string();
    let fact = told.rsplit_once(" at line ").map_or(told.as_str(), |(fact, _)| fact);
    let what = format!("this is no JSON ({fact}); name the file as the tool wrote it");
    ForeignError::Malformed { line, column, what }
}

/// A document whose end is missing.
fn ends_early((line, column): (usize, usize)) -> ForeignError {
    let what = "the file ends in the middle of its JSON; name one that was written to its end".to_owned();
    ForeignError::Malformed { line, column, what }
}

/// Line and column of a byte, from 1, the column in characters.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let last = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    (line, last.iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> (usize, usize, String) {
        match value(text) {
            Err(ForeignError::Malformed { line, column, what }) => (line, column, what),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_place_of_a_mistake_is_told_in_lines_and_characters() {
        let (line, column, what) = mistake("{\n\"ä\": nan}");
        assert_eq!((line, column), (2, 7), "{what}");
        assert!(what.starts_with("this is no JSON (expected ident)"), "{what}");
        let (line, column, what) = mistake("{\"a\": [1,\n2");
        assert_eq!((line, column), (2, 2), "{what}");
        assert!(what.contains("ends in the middle"), "{what}");
    }

    #[test]
    fn a_mistake_of_a_second_document_is_told_by_its_place_in_the_text() {
        let text = "{}\n{\"a\"\n 1}";
        let (first, end) = value_at(text, 0).unwrap();
        assert_eq!((first, end), (serde_json::json!({}), 2));
        let error = value_at(text, end).unwrap_err().to_string();
        assert!(error.starts_with("line 3, column 2: this is no JSON (expected `:`)"), "{error}");
    }

    #[test]
    fn depth_and_size_are_bounded() {
        assert!(mistake(&"[".repeat(100_000)).2.contains("recursion limit"));
        for long in ["[".to_owned() + &"0,".repeat(MOST_WEIGHT), "{\"\":".repeat(MOST_WEIGHT / OBJECT_WEIGHT + 1)] {
            let what = mistake(&long).2;
            assert!(what.starts_with("a JSON document of more than"), "{what}");
        }
        let commas = format!("[\"\\\"{}\"]", ",{".repeat(MOST_WEIGHT));
        assert!(value(&commas).is_ok(), "marks within a text are no values");
    }

    #[test]
    fn figures_are_finite_whether_they_are_figures_or_texts() {
        let value = value(r#"{"a": 1.5, "b": "2.5 ", "c": "nan", "d": "inf", "e": [], "f": -3, "g": 7}"#).unwrap();
        assert_eq!(number(&value, "a"), Some(1.5));
        assert_eq!(number(&value, "b"), Some(2.5));
        for key in ["c", "d", "e", "z"] {
            assert_eq!((number(&value, key), count(&value, key)), (None, 0), "{key}");
        }
        assert_eq!((count(&value, "a"), count(&value, "f"), count(&value, "g")), (1, 0, 7));
        assert_eq!((text(&value, "b"), text(&value, "a"), text(&value, "z")), ("2.5 ", "", ""));
    }
}
