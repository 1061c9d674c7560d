//! The JSON that reports print keeps to the schemas of the repository, and those to the types.

use crate::common;

use common::{advice, gates, operations, races, record, screenings, told};
use model::ranks::{NodeClock, NodeClocks};
use model::record::{EndOutcome, Line};
use report::{Input, Style, schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(name)
}

fn validator(name: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(committed(name)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

fn findings_json(findings: &model::findings::Findings) -> Value {
    let record = record(findings);
    let input = Input { findings, record: &record, record_path: None };
    serde_json::from_str(&report::render(&input, "json", &Style::default()).unwrap()).unwrap()
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for file in &schema::FILES {
        let committed = std::fs::read_to_string(committed(file.name)).unwrap_or_default();
        assert!(committed == file.text(), "schema/{} is old: cargo run -p report --example schema", file.name);
    }
}

#[test]
fn rendered_json_validates_and_reads_back_as_the_same_findings() {
    let validator = validator("findings.schema.json");
    for findings in [
        races::three(),
        races::promises(),
        races::with_self(),
        races::alone(),
        races::interrupted(),
        races::hostile(),
        races::five(),
        races::nothing(),
        races::jobs(),
        operations::five(),
        operations::as_published(),
        operations::general(),
        advice::race(),
        screenings::screened(screenings::finding()),
    ] {
        let findings = told(&findings);
        let value = findings_json(&findings);
        assert!(validator.is_valid(&value), "{:?}", validator.iter_errors(&value).map(|e| e.to_string()).next());
        assert_eq!(serde_json::from_value::<model::findings::Findings>(value).unwrap(), findings);
    }
}

#[test]
fn what_the_page_reads_validates_and_broken_data_does_not() {
    let validator = validator("page.schema.json");
    let page = common::pages::page_of(&common::pages::record(3));
    let mut whole = serde_json::to_value(&page).unwrap();
    let error = validator.iter_errors(&whole).map(|error| error.to_string()).next();
    assert_eq!(error, None);
    let race = &mut whole["show"]["race"];
    assert!(race["courses"][0]["lanes"][0]["quantities"]["cpu_share"].is_array());
    race["trials"]["outcome"][0] = "fine".into();
    assert!(!validator.is_valid(&whole), "an unknown outcome went unseen");
    // What the dashboard answers stands among the definitions.
    let text = std::fs::read_to_string(committed("page.schema.json")).unwrap();
    let defined = serde_json::from_str::<Value>(&text).unwrap()["$defs"].clone();
    for (name, answer, harm) in [
        ("Live", serde_json::json!({ "kind": "idle" }), serde_json::json!({ "kind": "asleep" })),
        ("RecordList", serde_json::json!({ "records": [], "unreadable": ["x"] }), serde_json::json!({ "records": 1 })),
        ("Comparisons", serde_json::json!({ "comparisons": [] }), serde_json::json!({})),
        ("Quantity", serde_json::json!("cpu_share"), serde_json::json!("mood")),
    ] {
        let mut schema = defined[name].clone();
        schema["$defs"] = defined.clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&answer) && !validator.is_valid(&harm), "{name}");
    }
}

#[test]
fn advice_validates_and_broken_advice_does_not() {
    let validator = validator("advice.schema.json");
    let whole = serde_json::to_value(advice::report()).unwrap();
    let error = validator.iter_errors(&whole).map(|error| error.to_string()).next();
    assert_eq!(error, None);
    let broken: [fn(&mut Value); 4] = [
        |value| value["advice"][0]["flips_if"][0]["kind"] = "mood".into(),
        |value| value["advice"][0]["equal"][0]["because"] = "luck".into(),
        |value| drop(value["advice"][0]["excluded"][0].as_object_mut().unwrap().remove("source")),
        |value| value["advice"][0]["measured_share"] = "half".into(),
    ];
    for (index, harm) in broken.iter().enumerate() {
        let mut value = whole.clone();
        harm(&mut value);
        assert!(!validator.is_valid(&value), "harm {index} went unseen");
    }
}

#[test]
fn broken_findings_do_not_validate() {
    let validator = validator("findings.schema.json");
    let whole = findings_json(&races::three());
    let broken: [fn(&mut Value); 5] = [
        |value| value["results"][0]["pairs"][0]["verdict"] = "probably".into(),
        |value| value["results"][0]["limit"] = "mood".into(),
        |value| value["seed"] = "42".into(),
        |value| drop(value.as_object_mut().unwrap().remove("machine")),
        |value| value["results"][0]["estimates"][0]["mean"] = Value::Null,
    ];
    for (index, harm) in broken.iter().enumerate() {
        let mut value = whole.clone();
        harm(&mut value);
        assert!(!validator.is_valid(&value), "harm {index} went unseen");
    }
}

#[test]
fn gates_validate_and_read_back_and_a_broken_one_does_not() {
    let validator = validator("gate.schema.json");
    for gate in [gates::failing(), gates::passing(), gates::single()] {
        let text = report::render_gate(&gate, "json", &Style::default()).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        assert!(validator.is_valid(&value), "{:?}", validator.iter_errors(&value).map(|e| e.to_string()).next());
        assert_eq!(serde_json::from_value::<model::gate::Gate>(value.clone()).unwrap(), gate);
        value["rows"][0]["verdict"] = "tie".into();
        assert!(!validator.is_valid(&value));
    }
}

#[test]
fn record_lines_validate_and_a_broken_one_does_not() {
    let validator = validator("record.schema.json");
    let record = record(&races::three());
    let mut lines = vec![Line::Header(Box::new(record.header))];
    lines.extend(record.trials.into_iter().map(|trial| Line::Trial(Box::new(trial))));
    lines.push(Line::Resume {
        started: "2026-07-01T10:00:00Z".to_owned(),
        boot_id: "b0071d".to_owned(),
        without_passes: true,
    });
    let node = NodeClock { node: 1, drift_seconds: -1e-6, ..NodeClock::default() };
    lines.push(Line::Clocks(Box::new(NodeClocks { seconds: 60.0, nodes: vec![node] })));
    lines.push(Line::End {
        finished: "2026-07-01T10:03:00Z".to_owned(),
        outcome: EndOutcome::Complete,
        reason: None,
        rounds_done: true,
    });
    for line in &lines {
        let value = serde_json::to_value(line).unwrap();
        let error = validator.iter_errors(&value).map(|error| error.to_string()).next();
        assert_eq!(error, None, "{value}");
    }
    let mut trial = serde_json::to_value(&lines[1]).unwrap();
    trial["outcome"] = "fine".into();
    assert!(!validator.is_valid(&trial));
    let mut header = serde_json::to_value(&lines[0]).unwrap();
    header.as_object_mut().unwrap().remove("plan");
    assert!(!validator.is_valid(&header));
}
