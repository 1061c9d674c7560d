//! Every sentence of the statistics that a report may want to say in another language: a template with
//! named places, and a function of its name that fills them. A template that nobody uses does not
//! compile, and neither does a place that is left empty; that the catalogues of the other languages know
//! them all is tested in the crate that holds both (`fairlane/tests/languages.rs`).

// A template that nobody says must not linger in the catalogues.
#![deny(dead_code)]

use model::sentence::{Template, Value};

/// Makes a function for each template, and the table of all.
macro_rules! templates {
    ($($name:ident($($place:ident),* $(,)?) = $english:expr;)*) => {
        $(
            pub(crate) fn $name($($place: impl Into<model::sentence::Value>),*) -> model::Sentence {
                model::Sentence::new(stringify!($name), $english, vec![$((stringify!($place), $place.into())),*])
            }
        )*

        pub(super) static TEMPLATES: &[model::sentence::Template] = &[
            $(model::sentence::Template {
                id: stringify!($name),
                english: $english,
                places: &[$(stringify!($place)),*],
            }),*
        ];
    };
}

pub(crate) mod advice;
pub(crate) mod appenders;
pub(crate) mod disk;
pub(crate) mod explain;
pub(crate) mod limit;
pub(crate) mod marks;
pub(crate) mod pair;
pub(crate) mod race;

/// Every template of the statistics.
pub fn templates() -> impl Iterator<Item = &'static Template> {
    let all = [
        advice::TEMPLATES,
        appenders::TEMPLATES,
        disk::TEMPLATES,
        explain::TEMPLATES,
        limit::TEMPLATES,
        marks::TEMPLATES,
        pair::TEMPLATES,
        race::TEMPLATES,
    ];
    all.into_iter().flatten()
}

/// A lane's name, or another one that no language changes.
pub(crate) fn name(text: impl Into<String>) -> Value {
    Value::Name(text.into())
}

/// Names as `a, b and c`.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
    Value::List(names.into_iter().map(name).collect())
}

/// Text that others wrote.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// A number with the decimals that it has.
pub(crate) fn exact(number: f64) -> Value {
    let decimals = number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Value::Number(number, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::sentence::{Piece, pieces};
    use std::collections::BTreeSet;

    #[test]
    fn templates_have_one_name_each_and_fill_every_place() {
        let mut ids = BTreeSet::new();
        for template in templates() {
            assert!(ids.insert(template.id), "{} stands twice", template.id);
            let used: BTreeSet<&str> = pieces(template.english)
                .into_iter()
                .filter_map(|piece| match piece {
                    Piece::Place(name) => Some(name),
                    Piece::Text(_) => None,
                })
                .collect();
            assert_eq!(used, template.places.iter().copied().collect(), "{}", template.id);
        }
        assert!(ids.len() > 60, "{}", ids.len());
    }
}
