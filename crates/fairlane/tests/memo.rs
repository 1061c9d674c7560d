//! `fairlane report --format memo` on a record that was kept: its languages, and who refuses them.

use crate::common;

use common::{Place, assert_one_sentence};

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path().join("r.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    place
}

const MEMO: [&str; 4] = ["report", "r.jsonl", "--format", "memo"];

#[test]
fn a_memo_speaks_the_language_that_was_asked_for_or_the_locales() {
    let place = place();
    let of = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = place.fairlane(&[&MEMO, more].concat());
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let heading = |memo: String| memo.lines().find(|line| line.starts_with("## ")).unwrap_or_default().to_owned();
    let english = heading(of(&[], &[]));
    assert!(english.starts_with("## What"), "{english}");
    assert_eq!(heading(of(&[("LANG", "fr_FR.UTF-8")], &[])), english);
    let chinese = heading(of(&[("LC_ALL", "zh_CN.UTF-8"), ("LANG", "de_DE.UTF-8")], &[]));
    assert!(!chinese.is_ascii(), "{chinese}");
    let german = heading(of(&[("LC_MESSAGES", "de_DE.UTF-8"), ("LANG", "zh_CN.UTF-8")], &[]));
    assert!(german.starts_with("## Was "), "{german}");
    assert_eq!(heading(of(&[("LC_ALL", "zh_CN.UTF-8")], &["--lang", "de"])), german);
    assert_eq!(heading(of(&[("LC_ALL", "zh_CN.UTF-8")], &["--lang", "en"])), english);
}

#[test]
fn a_memo_of_a_real_record_says_what_is_open_and_how_to_repeat_it() {
    let place = place();
    place.expect(0, &[&MEMO[..], &["--lang", "de", "-o", "memo.md"]].concat());
    let memo = std::fs::read_to_string(place.path().join("memo.md")).unwrap();
    for said in ["`ext4`", "`xfs`", "6.12.0-fixture", "    fairlane race ext4 xfs --suite tiny.toml"] {
        assert!(memo.contains(said), "{said}: {memo}");
    }
    // Two rounds decide nothing, and nobody is told that they do.
    assert!(memo.contains("**Entscheidung**: ") && memo.contains("eine Entscheidung"), "{memo}");
    assert!(memo.lines().count() <= 45, "{memo}");
}

#[test]
fn formats_that_speak_english_alone_refuse_another_language() {
    let place = place();
    for format in ["text", "markdown", "csv", "json"] {
        let arguments = ["report", "r.jsonl", "--format", format, "--lang", "zh"];
        let (_, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &[format, "speaks English alone", "memo"]);
        place.expect(0, &["report", "r.jsonl", "--format", format, "--lang", "en"]);
    }
    let (_, err) = place.expect(2, &["report", "r.jsonl", "--lang", "fr"]);
    assert!(err.contains("write en, zh or de"), "{err}");
    let (_, err) = place.expect(2, &["compare", "r.jsonl", "r.jsonl", "--format", "memo"]);
    assert_one_sentence(&err, &["a memo is about one race", "markdown"]);
}
