//! Where the time went, as text, Markdown and a memo tell it.

use crate::common;

use common::{races, record, told};
use model::Sentence;
use model::findings::{Basis, CauseShare, Explanation, Findings, Part, PartShare};
use model::page::Language;
use model::sentence::Value;
use report::{Input, Render, Style};

fn explanation(lane: &str, samples: u64, ratio: f64) -> Explanation {
    let journal = "waiting for the journal's commit";
    let cause = |cause: &str, part: Part, share: f64| CauseShare { cause: cause.to_owned(), part, share };
    Explanation {
        lane: lane.to_owned(),
        basis: Basis::Profile,
        seconds_per_operation: 1e-3,
        operations_per_second: 1000.0 * ratio,
        unprofiled_operations_per_second: Some(1000.0),
        samples,
        lost_events: 0,
        device_by_counters: false,
        parts: [(Part::Device, 0.4), (Part::Flush, 0.31), (Part::FilesystemCpu, 0.29)]
            .map(|(part, share)| PartShare { part, share })
            .to_vec(),
        causes: vec![
            cause(journal, Part::Device, 0.4),
            cause(journal, Part::Flush, 0.31),
            cause("ext4's own code", Part::FilesystemCpu, 0.29),
        ],
        unknown: Vec::new(),
    }
}

fn explained() -> Findings {
    let mut findings = told(&races::three());
    findings.results[0].explanations = vec![explanation("ext4", 500, 1.0), explanation("xfs", 38, 1.59)];
    findings.results[1].unexplained = vec!["not explained in ext4: its rounds are too short".into()];
    findings
}

fn shown(findings: &Findings, format: &str) -> String {
    let style = Style { colour: false, width: 140, ..Style::default() };
    let text = report::render_explanation(findings, &record(findings), format, &style).unwrap();
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cause_of_several_parts_names_them_and_a_rough_pass_says_so() {
    let findings = explained();
    for format in ["text", "markdown"] {
        let text = shown(&findings, format);
        let split = "waiting for the journal's commit 71 % (device 40 %, flush 31 %), ext4's own code 29 %";
        assert!(text.contains(split), "{format}: {text}");
        for once in ["this pass differs much from the rounds", "38 samples are few"] {
            assert_eq!(text.matches(once).count(), 1, "{format}: {text}");
        }
        assert!(text.contains("not explained in ext4: its rounds are too short."), "{format}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(
        &report::render_explanation(&findings, &record(&findings), "json", &Style::default()).unwrap(),
    )
    .unwrap();
    assert!(json[1]["unexplained"][0].as_str().unwrap().contains("too short"), "{json:#}");
}

#[test]
fn reports_say_where_the_time_went_wherever_anything_tells_it() {
    let mut findings = explained();
    findings.results[0].explanations.iter_mut().for_each(|of| of.basis = Basis::Counters);
    findings.unexplained = vec!["the race ended before its passes: --resume does them".into()];
    let record = record(&findings);
    let input = Input { findings: &findings, record: &record, record_path: None };
    let render = |format: &str| report::render(&input, format, &Style::default()).unwrap();
    let text = render("text").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("WHERE THE TIME WENT") && text.contains("--resume does them."), "{text}");
    assert!(!text.contains("race with --explain"), "{text}");
    assert!(render("markdown").contains("(by counters)"));
    assert!(shown(&findings, "markdown").contains("--resume does them"));
}

#[test]
fn a_memo_says_of_a_difference_where_the_time_went() {
    let mut findings = told(&races::three());
    let memo = |findings: &Findings, language: Language| {
        let record = record(findings);
        let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
        render(&Input { findings, record: &record, record_path: None }, language)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(!memo(&findings, Language::En).contains("Where the time went"));
    let lanes: Vec<String> = findings.lanes.iter().map(|lane| lane.name.clone()).collect();
    let difference = |fast: &str, slow: &str| {
        let values = vec![
            ("fast", Value::Name(fast.to_owned())),
            ("fast_time", Value::Seconds(1e-3)),
            ("slow", Value::Name(slow.to_owned())),
            ("slow_time", Value::Seconds(2e-3)),
            ("more", Value::Seconds(1e-3)),
            ("causes", Value::Text("71 % trees".to_owned())),
        ];
        let english = "in these passes an operation takes {fast_time} in {fast} and {slow_time} in {slow}; of the {more} more, {causes}";
        Sentence::new("difference", english, values)
    };
    for result in &mut findings.results {
        let pairs = lanes.iter().flat_map(|fast| lanes.iter().map(move |slow| (fast, slow)));
        result.explained = pairs.map(|(fast, slow)| difference(fast, slow)).collect();
    }
    for (language, says) in [
        (Language::En, "Where the time went at"),
        (Language::De, "Wohin die Zeit ging bei"),
        (Language::Zh, "的时间花在哪里"),
    ] {
        let text = memo(&findings, language);
        assert_eq!(text.matches(says).count(), 1, "{text}");
    }
}
