//! fio's output for people, which is known so that the better one can be named.

use crate::{ForeignError, Results};

/// Whether a text is fio's output for people: two of its three kinds of lines are in it.
pub(crate) fn is_one(text: &str) -> bool {
    let (mut version, mut job, mut result) = (false, false, false);
    for line in text.lines().map(str::trim) {
        let digits = line.strip_prefix("fio-").unwrap_or_default();
        version |= digits.starts_with(|first: char| first.is_ascii_digit()) && !digits.contains([' ', ';', ',']);
        job |= line.contains(": (g=") && line.contains("): rw=");
        result |= line.starts_with("Run status group ") || line.contains(": (groupid=") && line.contains("err=");
    }
    u8::from(version) + u8::from(job) + u8::from(result) >= 2
}

/// Says which of fio's formats is read.
pub(crate) fn refuse(_text: &str) -> Result<Results, ForeignError> {
    Err(ForeignError::ForPeople(
        "this is fio's output for people; run it with --output-format=json, which holds more and is exact",
    ))
}
