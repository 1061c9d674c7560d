//! JSON whose keys keep their order: people read fio's output too.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
    Text(String),
    Whole(u64),
    Real(f64),
}

/// An object of these fields in this order.
pub(super) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Json::List(values) => values.serialize(serializer),
            Json::Text(text) => serializer.serialize_str(text),
            Json::Whole(number) => serializer.serialize_u64(*number),
            // JSON has no word for what is no number, and readers of fio's output expect one.
            Json::Real(number) => serializer.serialize_f64(if number.is_finite() { *number } else { 0.0 }),
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Whole(number)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Whole(u64::from(number))
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Json {
        Json::Whole(number as u64)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Real(number)
    }
}
