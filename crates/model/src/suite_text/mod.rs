//! The text of a suite: read, and what is wrong with it in one sentence with its line.

mod shape;
#[cfg(test)]
mod tests;
mod tree;

use crate::bounds::MOST_WORKLOADS;
use crate::nearest;
use crate::operations::{At, Mistake};
use crate::workload::{AS_PUBLISHED, Kind, Suite, Workload, no_job_file};
use shape::Shape;
use std::collections::BTreeMap;
use tree::{Node, Value};

/// Kinds of workloads that no suite holds.
const JOB_FILES: [&str; 4] = ["jobs", "fio", "replay", "foreign"];

/// What is wrong with the text of a suite: one sentence with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct SuiteMistake {
    /// The line, from 1; `None`: it stands in no file.
    pub line: Option<usize>,
    /// The sentence.
    pub what: String,
}

impl SuiteMistake {
    /// `FILE:LINE: WHAT`.
    pub fn in_file(&self, name: &str) -> String {
        match self.line {
            Some(line) => format!("{name}:{line}: {}", self.what),
            None => format!("{name}: {}", self.what),
        }
    }

    fn at(node: &Node, what: impl Into<String>) -> Self {
        SuiteMistake { line: (node.line > 0).then_some(node.line), what: what.into() }
    }
}

impl Suite {
    /// Reads a suite from TOML and checks it. A suite holds no job file: a race runs as root, and the text of one could
    /// name any command. What its programs may be is another question: [`crate::programs::Programs::not_permitted`].
    ///
    /// # Errors
    /// One sentence with its line and the remedy.
    pub fn from_toml(text: &str) -> Result<Self, SuiteMistake> {
        let tree = Node::of_text(text).map_err(|(line, what)| SuiteMistake { line: Some(line), what })?;
        let shape = Shape::of_a_suite();
        shape.check_suite(&tree)?;
        let nodes = tree.get("workload").map_or(&[][..], Node::list);
        if nodes.is_empty() {
            return Err(SuiteMistake::at(&tree, "the suite lists no workload; add a [[workload]] table"));
        }
        // With other data some are raced twice.
        let twice = tree.get("compressible_too").map_or(0, |names| names.list().len());
        if nodes.len() + twice > MOST_WORKLOADS {
            return Err(SuiteMistake::at(
                &tree,
                format!(
                    "the suite lists {} workloads, and no race takes more than {MOST_WORKLOADS}; part it",
                    nodes.len() + twice
                ),
            ));
        }
        for (index, node) in nodes.iter().enumerate() {
            check_keys(&shape, node, &workload_words(node, index))?;
        }
        let suite = read(text, nodes)?;
        for (index, (workload, node)) in suite.workload.iter().zip(nodes).enumerate() {
            if suite.workload[..index].iter().any(|earlier| earlier.name == workload.name) {
                let line = node.entry("name").map(|entry| entry.line);
                return Err(SuiteMistake {
                    line,
                    what: format!("two workloads are named {}; rename one", workload.name),
                });
            }
            check_meaning(workload, node)?;
            let published = node.entry(AS_PUBLISHED).map(|entry| entry.line);
            suite.published(workload).map_err(|what| SuiteMistake { line: published.or(Some(node.line)), what })?;
        }
        check_lists(&suite, &tree)?;
        Ok(suite)
    }
}

/// The names of workloads that a suite lists beside them: each is one, and what is raced with other data too has data.
fn check_lists(suite: &Suite, tree: &Node) -> Result<(), SuiteMistake> {
    for (key, names) in [("most_telling", &suite.most_telling), ("compressible_too", &suite.compressible_too)] {
        let wrong = |what: String| SuiteMistake { line: tree.entry(key).map(|entry| entry.line), what };
        for name in names {
            let Some(workload) = suite.workload.iter().find(|workload| workload.name == *name) else {
                let meant = nearest(name, suite.workload.iter().map(|workload| workload.name.as_str()))
                    .map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
                return Err(wrong(format!("{key} lists `{name}`, and no workload has that name{meant}")));
            };
            let twin = workload.with_compressible_data();
            if key == "compressible_too" {
                let Some(twin) = twin else {
                    return Err(wrong(format!(
                        "compressible_too lists {name}, whose data is of one kind; list workloads of kind io or operations \
                         whose data does not compress"
                    )));
                };
                if suite.workload.iter().any(|workload| workload.name == twin.name) {
                    return Err(wrong(format!(
                        "{} is the name of {name} with other data; rename the workload",
                        twin.name
                    )));
                }
            }
        }
    }
    Ok(())
}

/// What is wrong with keys and values of a workload's table; it stands in no file.
///
/// # Errors
/// One sentence with the remedy.
pub fn check_table(table: &toml::Table) -> Result<(), String> {
    let node = Node::of_value(&toml::Value::Table(table.clone()));
    let who = workload_words(&node, 0);
    check_keys(&Shape::of_a_suite(), &node, &who).map_err(|mistake| mistake.what)
}

fn check_keys(shape: &Shape, node: &Node, who: &str) -> Result<(), SuiteMistake> {
    if !matches!(node.value, Value::Table(_)) {
        return Err(SuiteMistake::at(node, format!("{who} is {}; write a [[workload]] table", node.what())));
    }
    let known: Vec<&str> = shape.kinds().filter(|kind| !JOB_FILES.contains(kind)).collect();
    let kinds = known.join(", ");
    let Some(kind) = node.get("kind") else {
        return Err(SuiteMistake::at(node, format!("{who}: the key `kind` is missing; set it to one of {kinds}")));
    };
    let name = kind.text().unwrap_or_default();
    if JOB_FILES.contains(&name) {
        return Err(SuiteMistake::at(kind, no_job_file(who)));
    }
    if !known.contains(&name) {
        let meant = nearest(name, known).map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
        let what = kind.what();
        return Err(SuiteMistake::at(kind, format!("{who}: `kind` is {what}{meant}; it takes one of {kinds}")));
    }
    shape.check_workload(node, name, who, AS_PUBLISHED)?;
    let Some(changes) = node.get(AS_PUBLISHED) else { return Ok(()) };
    let Value::Table(entries) = &changes.value else {
        return Err(SuiteMistake::at(
            changes,
            format!("{who}: as_published is a table of changed keys; write [workload.as_published]"),
        ));
    };
    if let Some(entry) = entries.iter().find(|entry| ["name", "title", "kind"].contains(&&*entry.key)) {
        let what = format!("{who}: as_published cannot change {}; add a workload instead", entry.key);
        return Err(SuiteMistake { line: Some(entry.line).filter(|line| *line > 0), what });
    }
    shape.check_changes(changes, name, &format!("{who}, as_published"))
}

/// TOML as it stands, its tables `as_published` taken apart.
fn read(text: &str, nodes: &[Node]) -> Result<Suite, SuiteMistake> {
    let plain = |error: toml::de::Error| SuiteMistake { line: None, what: error.message().trim().replace('\n', " ") };
    let mut table: toml::Table = toml::from_str(text).map_err(plain)?;
    let mut as_published = BTreeMap::new();
    let workloads = table.get_mut("workload").and_then(|list| list.as_array_mut());
    for workload in workloads.into_iter().flatten().filter_map(|value| value.as_table_mut()) {
        let Some(toml::Value::Table(changes)) = workload.remove(AS_PUBLISHED) else { continue };
        let name = workload.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
        as_published.insert(name, changes);
    }
    match table.clone().try_into::<Suite>() {
        Ok(suite) => Ok(Suite { as_published, ..suite }),
        Err(error) => Err(mistake_in(&table, nodes).unwrap_or_else(|| plain(error))),
    }
}

/// A value that only its own reader knows to be wrong, such as `random_distribution`. A workload's keys
/// are read through a flattened enum, which loses which of them it is: it is the one without which
/// the mistake is another.
fn mistake_in(table: &toml::Table, nodes: &[Node]) -> Option<SuiteMistake> {
    let workloads = table.get("workload")?.as_array()?;
    workloads.iter().zip(nodes).enumerate().find_map(|(index, (value, node))| {
        let table = value.as_table()?;
        let wrong = table.clone().try_into::<Workload>().err()?;
        let message = wrong.message().trim().replace('\n', " ");
        let without = |key: &String| {
            let mut rest = table.clone();
            rest.remove(key);
            rest.try_into::<Workload>().err().map(|error| error.message().to_owned())
        };
        // Without one of these nothing else is read.
        let read_first = |key: &&String| ["name", "title", "kind"].contains(&key.as_str());
        let mut keys = table.keys().filter(|key| !read_first(key));
        let culprit = keys.find(|key| without(key).as_deref() != Some(wrong.message()));
        let who = workload_words(node, index);
        let line = culprit.and_then(|key| node.entry(key)).map_or(node.line, |entry| entry.line);
        let what = match culprit {
            Some(key) if !message.contains(key.as_str()) => format!("{who}: `{key}`: {message}"),
            _ => format!("{who}: {message}"),
        };
        Some(SuiteMistake { line: Some(line), what })
    })
}

/// What a workload's keys mean together.
fn check_meaning(workload: &Workload, node: &Node) -> Result<(), SuiteMistake> {
    if let Kind::Operations(operations) = &workload.kind
        && let Some(Mistake { at, key, what }) = operations.mistake()
    {
        let row = |key: &str, index: usize| node.get(key).and_then(|rows| rows.list().get(index)).unwrap_or(node);
        let node = match at {
            At::Workload => node,
            At::Set(index) => row("files", index),
            At::Step(index) => row("step", index),
        };
        let line = key.and_then(|key| node.entry(key)).map_or(node.line, |entry| entry.line);
        return Err(SuiteMistake { line: Some(line), what: format!("workload {}: {what}", workload.name) });
    }
    workload.check().map_err(|what| {
        // The sentence begins with the key that it is about.
        let about = what.strip_prefix(&format!("workload {}: ", workload.name)).unwrap_or(&what);
        let key = about.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
        let line = node.entry(key).map_or(node.line, |entry| entry.line);
        SuiteMistake { line: Some(line), what }
    })
}

/// `workload mail`, or its number where it has no name.
fn workload_words(node: &Node, index: usize) -> String {
    match node.get("name").and_then(Node::text) {
        Some(name) => format!("workload {}", name.escape_debug()),
        None => format!("workload {}", index + 1),
    }
}

/// `set spool`, `step expire`, or its number where it has no name.
fn row_words(key: &str, row: &Node, index: usize) -> String {
    let what = if key == "files" { "set" } else { "step" };
    match row.get("name").and_then(Node::text).filter(|name| !name.is_empty()) {
        Some(name) => format!("{what} {}", name.escape_debug()),
        None => format!("{what} {}", index + 1),
    }
}
