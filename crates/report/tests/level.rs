//! Where nothing decides between the lanes, no report denies a difference that it shows.

use model::findings::{Findings, Level, Limit, Undecided, Verdict};
use model::page::Language;
use model::record::Record;
use report::{FORMATS, Input, Render, Style};

const RECORD: &str = include_str!("../../fairlane/tests/fixtures/schema1.jsonl");

/// Two rounds of ext4 and xfs: four of five rows are undecided, and one ties.
fn two_rounds() -> (Record, Findings) {
    let record = Record::read(RECORD.as_bytes()).unwrap();
    let findings = stats::judge::findings(&record);
    (record, findings)
}

/// Without the line breaks of a terminal.
fn said(findings: &Findings, record: &Record, format: &str) -> String {
    let input = Input { findings, record, record_path: None };
    let text = report::render(&input, format, &Style::default()).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn memo(findings: &Findings, record: &Record, language: Language) -> String {
    let render = FORMATS.iter().find_map(|format| match format.render {
        Render::Spoken(render) => Some(render),
        _ => None,
    });
    let input = Input { findings, record, record_path: None };
    render.unwrap()(&input, language).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn two_rounds_choose_nothing_and_deny_no_difference() {
    let (record, findings) = two_rounds();
    let level = findings.answer.as_ref().unwrap().level.clone();
    let ties = vec!["small files: read".to_owned()];
    assert_eq!(level, Some(Level::Undecided { because: Undecided::TooFewRounds, ties }));
    for format in ["text", "markdown"] {
        let text = said(&findings, &record, format);
        let told = "No choice yet: too few rounds were raced; what was decided ties: small files: read.";
        assert!(text.contains(told), "{text}");
        assert!(!text.contains("no difference above") && !text.contains("Either"), "{text}");
    }
    let memo = memo(&findings, &record, Language::En);
    assert!(memo.contains("No decision yet: too few rounds were raced."), "{memo}");
}

#[test]
fn a_crashed_race_is_told_as_interrupted_beside_its_resume() {
    let (mut record, _) = two_rounds();
    record.header.plan.rounds = model::plan::Rounds::Fixed(10);
    record.end = None;
    let mut findings = stats::judge::findings(&record);
    let text = said(&findings, &record, "text");
    assert!(text.contains("No choice yet: the race was interrupted before it could tell"), "{text}");
    assert!(text.contains("Undecided (interrupted)") && text.contains("--resume goes on with it"), "{text}");
    stats::level::still_running(&mut findings);
    let text = said(&findings, &record, "text");
    assert!(!text.contains("interrupted") && text.contains("No choice yet: too few rounds were raced"), "{text}");
}

#[test]
fn a_difference_that_may_not_be_named_is_not_denied_and_ties_are_told() {
    let (record, mut findings) = two_rounds();
    let tie = findings.results.iter().find(|result| result.pairs[0].verdict == Verdict::Tie).unwrap().pairs[0].clone();
    findings.results.iter_mut().for_each(|result| result.pairs = vec![tie.clone()]);
    let judged = |findings: &Findings| {
        let mut findings = findings.clone();
        let mut answer = findings.answer.take().unwrap();
        answer.undecided.clear();
        answer.settle = None;
        answer.level = stats::level::level(&answer, &findings.results, None);
        findings.answer = Some(answer);
        stats::conclude::tell(&mut findings);
        findings
    };
    let level = judged(&findings);
    assert!(said(&level, &record, "text").contains("; no difference above the 5 % margin was found."));
    assert!(
        memo(&level, &record, Language::En).contains("this race found no difference of more than 5 % between them")
    );
    // The page cache answered in one row, which shows a difference.
    findings.results[0].limit = Limit::Cache;
    findings.results[0].pairs[0].verdict = Verdict::Faster;
    findings.results[0].pairs[0].over_race = true;
    let unnamed = judged(&findings);
    let text = said(&unnamed, &record, "text");
    assert!(text.contains("for this mix; no difference that this race may name.") && !text.contains("above the 5 %"));
    for (language, told) in [
        (Language::En, "this race may name no difference between them"),
        (Language::De, "Dieses Rennen darf dazwischen keinen Unterschied nennen"),
        (Language::Zh, "本次对比没有可以认定的差异"),
    ] {
        let memo = memo(&unnamed, &record, language);
        let joined = |text: &str| text.replace(' ', "");
        assert!(joined(&memo).contains(&joined(told)), "{memo}");
    }
}
