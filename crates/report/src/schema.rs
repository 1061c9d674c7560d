//! JSON schemas of what Fairlane writes, generated from the types themselves.
//!
//! The files in `schema/` are this module's output: `cargo run -p report --example schema`.

use model::durability::{DurabilityFindings, DurabilityLine};
use model::findings::{AdviceReport, Findings};
use model::gate::Gate;
use model::page::{Comparisons, Live, Page, Quantity, RecordList, Trend};
use model::record::Line;
use model::workload::Suite;
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
pub static FILES: [SchemaFile; 8] = [
    SchemaFile {
        name: "advice.schema.json",
        title: "Advice for scenarios, as `fairlane advise --format json` prints it",
        generate: generate::<AdviceReport>,
    },
    SchemaFile {
        name: "durability.schema.json",
        title: "Findings of durability, as `fairlane powercut` and `integrity` with `--format json` print them",
        generate: generate::<DurabilityFindings>,
    },
    SchemaFile {
        name: "durability-record.schema.json",
        title: "One line of a record of durability; readers ignore lines of unknown kinds and unknown keys",
        generate: generate::<DurabilityLine>,
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
    SchemaFile {
        name: "page.schema.json",
        title: "The data of the page; its definitions hold what the dashboard answers too",
        generate: page,
    },
    SchemaFile {
        name: "suite.schema.json",
        title: "The shape of a suite, by which slips in one are told; what its values mean is checked beside it",
        generate: generate::<Suite>,
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

/// The page's data. Whatever else the page reads, and the names that it uses as keys, stand among the
/// definitions, so that one file gives all of its types.
fn page() -> Schema {
    let mut generator = SchemaGenerator::default();
    generator.subschema_for::<RecordList>();
    generator.subschema_for::<Live>();
    generator.subschema_for::<Trend>();
    generator.subschema_for::<Comparisons>();
    generator.subschema_for::<Quantity>();
    generator.into_root_schema_for::<Page>()
}

fn generate<T: JsonSchema>() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<T>()
}
