//! Variables in values, and how much they may come to: a line of variables is far shorter than what they stand for.

use crate::{JobFileError, Place, Surroundings, one_line, shown, values};
use model::Bytes;

/// One value: no more than a whole job file may have.
const MOST_VALUE_BYTES: usize = 16 << 20;
/// All values together: as much as a job file and all that it includes may have.
const MOST_BYTES: usize = 64 << 20;

/// Fills in variables.
pub(crate) struct Variables<'a> {
    surroundings: &'a Surroundings<'a>,
    /// Of all values so far.
    bytes: usize,
}

impl<'a> Variables<'a> {
    pub fn new(surroundings: &'a Surroundings<'a>) -> Self {
        Variables { surroundings, bytes: 0 }
    }

    /// `${NAME}` becomes the variable; `$pagesize`, `$mb_memory` and `$ncpus` become numbers, which may
    /// be calculated with.
    pub fn expand(&mut self, key: &str, value: &str, place: &Place) -> Result<String, JobFileError> {
        let out = keywords(self.variables(key, value, place)?, self.surroundings);
        room(key, out.len(), place)?;
        self.bytes += out.len();
        if self.bytes > MOST_BYTES {
            return Err(place.refuse(format!(
                "all values up to here come to more than {} once their variables are filled in; leave some out",
                Bytes(MOST_BYTES as u64)
            )));
        }
        Ok(out)
    }

    fn variables(&self, key: &str, value: &str, place: &Place) -> Result<String, JobFileError> {
        let mut out = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(at) = rest.find("${") {
            out.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let Some(end) = inside.find('}') else {
                return Err(
                    place.refuse(format!("{key}={} opens ${{ without }}; close it", shown(value).trim_matches('`')))
                );
            };
            let found = self.variable(key, &inside[..end], place)?;
            room(key, out.len() + found.len(), place)?;
            out.push_str(&found);
            rest = &inside[end + 1..];
        }
        out.push_str(rest);
        // Texts and values that stand side by side may become one, and fio would ask its environment for that.
        if out.contains("${") {
            return Err(place.refuse(format!(
                "{key} still asks for an environment variable once its own are filled in; name it whole"
            )));
        }
        Ok(out)
    }

    fn variable(&self, key: &str, name: &str, place: &Place) -> Result<String, JobFileError> {
        let Some(found) = (self.surroundings.variable)(name) else {
            return Err(
                place.refuse(format!("{key} asks for environment variable {}, which is not set; set it", shown(name)))
            );
        };
        // A line break would begin a new option, and fio takes `;` and `#` for comments.
        let outside = |letter| one_line(letter) != letter || matches!(letter, ';' | '#');
        if found.contains("${") || found.chars().any(outside) {
            return Err(place.refuse(format!(
                "{key} asks for environment variable {}, which holds a control character, `;`, `#` or `${{`; set it without",
                shown(name)
            )));
        }
        Ok(found)
    }
}

fn room(key: &str, bytes: usize, place: &Place) -> Result<(), JobFileError> {
    if bytes <= MOST_VALUE_BYTES {
        return Ok(());
    }
    Err(place.refuse(format!(
        "{key} comes to more than {} once its variables are filled in; shorten it",
        Bytes(MOST_VALUE_BYTES as u64)
    )))
}

fn keywords(value: String, surroundings: &Surroundings) -> String {
    let words = [
        ("$pagesize", surroundings.page_bytes),
        ("$mb_memory", surroundings.memory_bytes >> 20),
        ("$ncpus", u64::from(surroundings.cpus)),
    ];
    if !words.iter().any(|(word, _)| value.contains(word)) {
        return value;
    }
    let mut out = value;
    for (word, number) in words {
        out = out.replace(word, &number.to_string());
    }
    // `8*$mb_memory` is calculated; a keyword inside other text only stands for its number.
    match values::calculate(&out) {
        Some(number) => number.to_string(),
        None => out,
    }
}
