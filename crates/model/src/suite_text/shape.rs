//! Keys and values of a suite's text, held against the shape of what is read from it (the JSON schema
//! that the types describe themselves by), so that a slip is told in words and where it stands.

use super::SuiteMistake;
use super::tree::{Entry, Node, Value};
use crate::{Bytes, nearest};
use serde_json::Value as Json;
use std::sync::LazyLock;

/// The schema of [`crate::workload::Suite`], kept as a file so that the program holds no code that makes schemas; report's tests
/// hold it against the type.
const SUITE: &str = include_str!("../../../../schema/suite.schema.json");
/// Keys that are listed where one is unknown, at most.
const MOST_KEYS: usize = 20;

/// A suite's shape.
pub(super) struct Shape {
    root: &'static Json,
}

impl Shape {
    pub(super) fn of_a_suite() -> Self {
        static ROOT: LazyLock<Json> = LazyLock::new(|| {
            let root = serde_json::from_str(SUITE);
            root.unwrap_or_else(|error| unreachable!("schema/suite.schema.json is JSON: {error}"))
        });
        Shape { root: &ROOT }
    }

    /// The whole text but for its workloads, whose keys depend on their kind.
    pub(super) fn check_suite(&self, suite: &Node) -> Result<(), SuiteMistake> {
        let mut properties = self.root.get("properties").cloned().unwrap_or_default();
        properties["workload"] = serde_json::json!({ "type": "array" });
        let mut shape = serde_json::json!({ "properties": properties });
        for key in ["type", "required", "additionalProperties"] {
            if let Some(value) = self.root.get(key) {
                shape[key] = value.clone();
            }
        }
        self.check(&shape, suite, &Place { who: "", path: "" })
    }

    /// A workload of this kind. `more`: keys that it may have beside its own.
    pub(super) fn check_workload(
        &self,
        workload: &Node,
        kind: &str,
        who: &str,
        more: &str,
    ) -> Result<(), SuiteMistake> {
        let Some(shape) = self.workload_of(kind) else { return Ok(()) };
        let mut shape = shape.clone();
        if let Some(properties) = shape.get_mut("properties").and_then(Json::as_object_mut) {
            for key in ["name", "title"] {
                properties.insert(key.to_owned(), serde_json::json!({ "type": "string" }));
            }
            properties.insert(more.to_owned(), Json::Bool(true));
        }
        if let Some(required) = shape.get_mut("required").and_then(Json::as_array_mut) {
            required.extend(["name", "title"].map(|key| Json::String(key.to_owned())));
        }
        self.check(&shape, workload, &Place { who, path: "" })
    }

    /// Keys that replace some of a workload's; none of them must be there.
    pub(super) fn check_changes(&self, changes: &Node, kind: &str, who: &str) -> Result<(), SuiteMistake> {
        let Some(shape) = self.workload_of(kind) else { return Ok(()) };
        let mut shape = shape.clone();
        shape["required"] = Json::Array(Vec::new());
        self.check(&shape, changes, &Place { who, path: "" })
    }

    fn workload_of(&self, kind: &str) -> Option<&Json> {
        self.workloads().find(|shape| kind_of(shape) == Some(kind))
    }

    /// Names of all kinds of workloads, in order.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.workloads().filter_map(kind_of)
    }

    fn workloads(&self) -> impl Iterator<Item = &Json> {
        self.root.pointer("/$defs/Workload/oneOf").and_then(Json::as_array).into_iter().flatten()
    }

    fn resolve<'s>(&'s self, shape: &'s Json) -> (&'s Json, Option<&'s str>) {
        let name = shape.get("$ref").and_then(Json::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
        match name.and_then(|name| Some((self.root.get("$defs")?.get(name)?, name))) {
            Some((shape, name)) => (shape, Some(name)),
            None => (shape, None),
        }
    }

    fn check(&self, shape: &Json, node: &Node, place: &Place) -> Result<(), SuiteMistake> {
        let (shape, name) = self.resolve(shape);
        if name == Some("Bytes") {
            return check_size(node, place);
        }
        if let Some(words) = words_of(shape) {
            return check_word(&words, node, place);
        }
        if let Some(alternatives) = shape.get("anyOf").and_then(Json::as_array) {
            return self.check_any(alternatives, node, place);
        }
        if shape.get("properties").is_some() {
            return self.check_table(shape, node, place);
        }
        let kinds: Vec<&str> = match shape.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
            // What has no shape of its own is read by its type alone.
            _ => return Ok(()),
        };
        let fits = |kind: &&str| match (*kind, &node.value) {
            ("string", Value::Text(_)) | ("boolean", Value::Truth) | ("array", Value::List(_)) => true,
            ("object", Value::Table(_)) | ("number", Value::Number | Value::Whole(_)) => true,
            ("integer", Value::Whole(number)) => number.is_some_and(|number| within(shape, number)),
            _ => false,
        };
        if !kinds.iter().any(fits) {
            return Err(place.wrong(node, &allowed(shape, &kinds)));
        }
        let each = |item: &Json| node.list().iter().try_for_each(|node| self.check(item, node, place));
        shape.get("items").map_or(Ok(()), each)
    }

    /// One of several shapes; of tables and lists the first that fits in kind says what is wrong.
    fn check_any(&self, alternatives: &[Json], node: &Node, place: &Place) -> Result<(), SuiteMistake> {
        let mut of_its_kind = None;
        let mut all: Vec<String> = Vec::new();
        for shape in alternatives {
            let Err(mistake) = self.check(shape, node, place) else { return Ok(()) };
            let (resolved, name) = self.resolve(shape);
            let kind = resolved.get("type").and_then(Json::as_str);
            let fits = match &node.value {
                Value::Table(_) => resolved.get("properties").is_some(),
                Value::List(list) => {
                    let of_tables = resolved.pointer("/items/$ref").is_some_and(|item| item != "#/$defs/Bytes");
                    kind == Some("array") && of_tables == list.iter().all(|node| matches!(node.value, Value::Table(_)))
                }
                Value::Text(_) => name == Some("Bytes"),
                _ => false,
            };
            if fits {
                of_its_kind.get_or_insert(mistake);
            }
            let said = match (name, kind, resolved.get("properties").and_then(Json::as_object)) {
                (Some("Bytes"), ..) => SIZE.to_owned(),
                (_, _, Some(keys)) => format!("a table of {}", keys.keys().cloned().collect::<Vec<_>>().join(" and ")),
                (_, Some("array"), _) => "a list".to_owned(),
                (_, Some(kind), _) if kind != "null" => allowed(resolved, &[kind]),
                _ => continue,
            };
            if !all.contains(&said) {
                all.push(said);
            }
        }
        Err(of_its_kind.unwrap_or_else(|| place.wrong(node, &all.join(", or "))))
    }

    fn check_table(&self, shape: &Json, node: &Node, place: &Place) -> Result<(), SuiteMistake> {
        let Value::Table(entries) = &node.value else { return Err(place.wrong(node, "a table")) };
        let Some(properties) = shape.get("properties").and_then(Json::as_object) else { return Ok(()) };
        for Entry { key, line, node } in entries {
            let Some(shape) = properties.get(key) else {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                return Err(place.unknown(key, *line, &known));
            };
            let path = if place.path.is_empty() { key.clone() } else { format!("{}.{key}", place.path) };
            let is_rows = shape.get("items").is_some() && ["files", "step"].contains(&&*path);
            match is_rows {
                true => self.check_rows(shape, node, place, key)?,
                false => self.check(shape, node, &Place { who: place.who, path: &path })?,
            }
        }
        let required = shape.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let mut missing = required.filter(|key| node.get(key).is_none());
        match missing.next() {
            Some(key) => Err(place.missing(node, key, &self.in_words(&properties[key]))),
            None => Ok(()),
        }
    }

    /// Sets and steps are told by their names, or by their numbers.
    fn check_rows(&self, shape: &Json, node: &Node, place: &Place, key: &str) -> Result<(), SuiteMistake> {
        if !matches!(node.value, Value::List(_)) {
            let all = Place { who: place.who, path: key };
            return Err(all.wrong(node, &format!("a list of tables: [[workload.{key}]]")));
        }
        for (index, row) in node.list().iter().enumerate() {
            let who = join(place.who, &super::row_words(key, row, index));
            self.check(&shape["items"], row, &Place { who: &who, path: "" })?;
        }
        Ok(())
    }

    /// What a key takes, in words.
    fn in_words(&self, shape: &Json) -> String {
        let (resolved, name) = self.resolve(shape);
        match (name, words_of(resolved), resolved.get("type").and_then(Json::as_str)) {
            (Some("Bytes"), ..) => SIZE.to_owned(),
            (_, Some(words), _) => format!("one of {}", words.join(", ")),
            (_, _, Some(kind)) => allowed(resolved, &[kind]),
            _ => "a value".to_owned(),
        }
    }
}

/// The kind of work that a shape is of.
fn kind_of(workload: &Json) -> Option<&str> {
    workload.pointer("/properties/kind/const").and_then(Json::as_str)
}

/// Where a value stands: `who` in words, `path` its key below that.
struct Place<'a> {
    who: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn wrong(&self, node: &Node, takes: &str) -> SuiteMistake {
        let key = if self.path.is_empty() { "this".to_owned() } else { format!("`{}`", self.path) };
        self.tell(node.line, &format!("{key} is {}; it takes {takes}", node.what()))
    }

    fn unknown(&self, key: &str, line: usize, known: &[&str]) -> SuiteMistake {
        let meant =
            nearest(key, known.iter().copied()).map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
        let known = match known.len() {
            0..=MOST_KEYS => format!("the keys here are {}", known.join(", ")),
            _ => "docs/suites.md lists the keys".to_owned(),
        };
        let key = match self.path.is_empty() {
            true => key.escape_debug().to_string(),
            false => format!("{}.{}", self.path, key.escape_debug()),
        };
        self.tell(line, &format!("there is no key `{key}`{meant}; {known}"))
    }

    fn missing(&self, node: &Node, key: &str, takes: &str) -> SuiteMistake {
        self.tell(node.line, &format!("the key `{key}` is missing; set it to {takes}"))
    }

    fn tell(&self, line: usize, what: &str) -> SuiteMistake {
        let what = if self.who.is_empty() { what.to_owned() } else { format!("{}: {what}", self.who) };
        SuiteMistake { line: (line > 0).then_some(line), what }
    }
}

const SIZE: &str = "a size such as \"4KiB\"";

fn check_size(node: &Node, place: &Place) -> Result<(), SuiteMistake> {
    match &node.value {
        Value::Whole(Some(0..)) => Ok(()),
        Value::Text(text) if text.parse::<Bytes>().is_ok() => Ok(()),
        _ => Err(place.wrong(node, SIZE)),
    }
}

/// The texts that an enumeration takes; `None`: it is none.
fn words_of(shape: &Json) -> Option<Vec<&str>> {
    if let Some(word) = shape.get("const").and_then(Json::as_str) {
        return Some(vec![word]);
    }
    let listed = shape.get("enum").and_then(Json::as_array);
    if let Some(listed) = listed {
        return listed.iter().map(Json::as_str).collect();
    }
    let each = shape.get("oneOf").and_then(Json::as_array)?;
    let mut words = Vec::new();
    for one in each {
        words.extend(words_of(one)?);
    }
    (!words.is_empty()).then_some(words)
}

fn check_word(words: &[&str], node: &Node, place: &Place) -> Result<(), SuiteMistake> {
    let Some(text) = node.text() else { return Err(place.wrong(node, &format!("one of {}", words.join(", ")))) };
    if words.contains(&text) {
        return Ok(());
    }
    let meant = nearest(text, words.iter().copied());
    let meant = meant.map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
    let (key, text) = (place.path, text.escape_debug());
    Err(place.tell(node.line, &format!("`{key}` is \"{text}\"{meant}; it takes one of {}", words.join(", "))))
}

/// Whether a whole number lies within what the shape's format holds.
fn within(shape: &Json, number: i128) -> bool {
    let (least, most) = bounds(shape);
    (least..=most).contains(&number)
}

fn bounds(shape: &Json) -> (i128, i128) {
    match shape.get("format").and_then(Json::as_str) {
        Some("uint32") => (0, i128::from(u32::MAX)),
        // TOML's own numbers end there.
        Some("uint64") => (0, i128::from(i64::MAX)),
        _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
    }
}

/// What may stand there, in words.
fn allowed(shape: &Json, kinds: &[&str]) -> String {
    let one = |kind: &&str| {
        Some(match *kind {
            "string" => "a text in quotes".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => "a list".to_owned(),
            "object" => "a table".to_owned(),
            "number" => "a number".to_owned(),
            "integer" => match bounds(shape) {
                (0, most) if most == i128::from(u32::MAX) => format!("a whole number from 0 to {most}"),
                (0, _) => "a whole number from 0 on".to_owned(),
                _ => "a whole number".to_owned(),
            },
            _ => return None,
        })
    };
    kinds.iter().filter_map(one).collect::<Vec<_>>().join(" or ")
}

fn join(who: &str, part: &str) -> String {
    if who.is_empty() { part.to_owned() } else { format!("{who}, {part}") }
}
