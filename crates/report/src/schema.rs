//! JSON schemas of what Fairlane writes, generated from the types themselves.
//!
//! The files in `schema/` are this module's output: `cargo run -p report --example schema`.

use model::findings::{AdviceReport, Findings};
use model::gate::Gate;
use model::record::Line;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A schema file of the repository.
pub struct SchemaFile {
    /// Its name in the folder `schema/`.
    pub name: &'static str,
    /// What it describes, as its title.
    pub title: &'static str,
    generate: fn() -> Schema,
}

/// Every schema file.
pub static FILES: [SchemaFile; 4] = [
    SchemaFile {
        name: "advice.schema.json",
        title: "Advice for scenarios, as `fairlane advise --format json` prints it",
        generate: generate::<AdviceReport>,
    },
    SchemaFile {
        name: "findings.schema.json",
        title: "Findings of a Fairlane race, as `fairlane report --format json` prints them",
        generate: generate::<Findings>,
    },
    SchemaFile {
        name: "record.schema.json",
        title: "One line of a Fairlane record; readers ignore lines of unknown kinds and unknown keys",
        generate: generate::<Line>,
    },
    SchemaFile {
        name: "gate.schema.json",
        title: "The verdict of a regression gate, as `fairlane compare --baseline … --format json` prints it",
        generate: generate::<Gate>,
    },
];

impl SchemaFile {
    /// The file's text, ending in a line break.
    pub fn text(&self) -> String {
        let mut schema = (self.generate)();
        schema.insert("title".to_owned(), self.title.into());
        let text = serde_json::to_string_pretty(&schema);
        text.unwrap_or_else(|error| unreachable!("a schema is JSON: {error}")) + "\n"
    }
}

fn generate<T: JsonSchema>() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<T>()
}
