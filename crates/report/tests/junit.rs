//! A gate as JUnit's XML, read back by a parser that is not ours.

use crate::common;

use common::gates;
use model::gate::Gate;
use proptest::prelude::*;
use report::Style;
use roxmltree::{Document, Node};

fn xml(gate: &Gate) -> String {
    report::render_gate(gate, "junit", &Style::default()).unwrap()
}

fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> Vec<Node<'a, 'a>> {
    node.children().filter(|child| child.has_tag_name(name)).collect()
}

fn number(node: Node, attribute: &str) -> usize {
    node.attribute(attribute).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{attribute} of {node:?}"))
}

/// Every total is what its cases add up to.
fn assert_totals(document: &Document) {
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    let mut all = [0; 4];
    for suite in children(root, "testsuite") {
        let cases = children(suite, "testcase");
        let with = |name: &'static str| cases.iter().filter(|case| !children(**case, name).is_empty()).count();
        let counted = [cases.len(), with("failure"), with("error"), with("skipped")];
        assert_eq!(["tests", "failures", "errors", "skipped"].map(|of| number(suite, of)), counted);
        for (sum, count) in all.iter_mut().zip(counted) {
            *sum += count;
        }
    }
    assert_eq!(["tests", "failures", "errors", "skipped"].map(|of| number(root, of)), all);
}

#[test]
fn each_lane_is_a_suite_and_each_comparison_a_case() {
    let text = xml(&gates::failing());
    let document = Document::parse(&text).unwrap();
    assert_totals(&document);
    let suites = children(document.root_element(), "testsuite");
    let names: Vec<_> = suites.iter().map(|suite| suite.attribute("name").unwrap()).collect();
    assert_eq!(names, ["ext4", "=xfs|`", "not compared"]);
    let case = |suite: usize, name: &str| {
        let cases = children(suites[suite], "testcase");
        cases.into_iter().find(|case| case.attribute("name") == Some(name)).unwrap_or_else(|| panic!("no {name}"))
    };
    let failure = children(case(0, "commit: write"), "failure")[0];
    assert_eq!(failure.attribute("type"), Some("slower"));
    assert_eq!(failure.attribute("message"), Some("19 % slower (16 to 21 %); up to 5 % slower is allowed"));
    assert_eq!(failure.text(), Some("again: fairlane race ext4 '=xfs|`' --suite 'it'\\''s mine.toml' --seed 42"));
    assert_eq!(children(case(1, "small-files: delete"), "failure")[0].attribute("type"), Some("failed"));
    let error = children(case(1, "small-files: create"), "error")[0];
    assert_eq!(error.attribute("type"), Some("unresolved"));
    let said = error.attribute("message").unwrap();
    assert!(said.contains("about 2 more records of each side should do"), "{said}");
    // What passed, but wider than asked for, is not done.
    assert!(!children(case(0, "small-files: read"), "error").is_empty());
    let passed = case(0, "small-files: create");
    assert!(children(passed, "failure").is_empty() && children(passed, "skipped").is_empty());
    let out = children(passed, "system-out")[0].text().unwrap();
    assert!(out.starts_with("21k ops/s -> 21.1k ops/s\npass: "), "{out}");
    assert!(out.contains("5 records \u{b1}1.1 %") && out.contains("again: fairlane race ext4"), "{out}");
    let gone = case(2, "btrfs");
    assert_eq!(
        children(gone, "error")[0].attribute("message"),
        Some("lane btrfs is only in the baseline (3 comparisons)")
    );
}

#[test]
fn only_what_was_asked_for_and_not_reached_is_an_error() {
    let of = |gate: &Gate| {
        let text = xml(gate);
        let document = Document::parse(&text).unwrap();
        assert_totals(&document);
        let root = document.root_element();
        ["failures", "errors", "skipped"].map(|attribute| number(root, attribute))
    };
    let asked = gates::failing();
    let mut unasked = asked.clone();
    unasked.need_resolution = None;
    unasked.rows.iter_mut().for_each(|row| row.unresolved = false);
    let ([failures, errors, skipped], [without_failures, without_errors, without_skipped]) = (of(&asked), of(&unasked));
    assert!(errors > 0 && without_errors == 0, "{errors} {without_errors}");
    // An inconclusive row is skipped where no resolution was asked for; nothing turns into a pass but what passed.
    assert_eq!(failures, without_failures);
    assert!(without_skipped > skipped, "{without_skipped} {skipped}");
}

#[test]
fn every_gate_is_xml() {
    for gate in [gates::passing(), gates::single()] {
        assert_totals(&Document::parse(&xml(&gate)).unwrap());
    }
}

#[test]
fn names_that_look_like_xml_stay_names() {
    for name in ["</testcase>", "<![CDATA[", "]]>", "&amp;", "a\"b'c", "a\u{fffe}\u{ffff}\u{1b}b", "&#0;"] {
        let mut gate = gates::passing();
        gate.rows[0].lane = name.to_owned();
        let text = xml(&gate);
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{name:?}: {error}\n{text}"));
        let shown: String = name.chars().filter(|of| !of.is_control() && !"\u{fffe}\u{ffff}".contains(*of)).collect();
        let suite = children(document.root_element(), "testsuite")[0];
        assert_eq!(suite.attribute("name"), Some(shown.as_str()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_users_call_things_it_is_xml(text in any::<String>()) {
        let text = xml(&gates::filled_with(&text));
        assert_totals(&Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    }
}
