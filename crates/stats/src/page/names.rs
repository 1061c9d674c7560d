//! Names of a table, each kept once.

use std::collections::HashMap;

/// Names by their places.
#[derive(Default)]
pub(super) struct Names<'a> {
    names: Vec<&'a str>,
    places: HashMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    /// The place of a name, which may be new.
    pub(super) fn place(&mut self, name: &'a str) -> u32 {
        *self.places.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }

    /// All of them, in the order of their places.
    pub(super) fn into_vec(self) -> Vec<String> {
        self.names.into_iter().map(str::to_owned).collect()
    }
}
