//! Pages: what is embedded reads back as it was, whatever the record holds, and files stay small.

use crate::common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::pages;
use model::page::{Page, Show};
use proptest::prelude::*;
use std::io::Read;

const PLAIN: &str = "<script id=\"data\" type=\"application/json\">";
const DEFLATED: &str = "<script id=\"data\" type=\"application/octet-stream\" data-encoding=\"deflate-raw-base64\">";

fn written(page: &Page) -> String {
    let mut out = Vec::new();
    report::html::page(page, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What a browser finds in the element of the data: its text ends at the first end tag.
fn embedded(html: &str) -> (String, bool) {
    let (begin, deflated) = match html.contains(DEFLATED) {
        true => (DEFLATED, true),
        false => (PLAIN, false),
    };
    let (_, after) = html.split_once(begin).expect("a data element");
    let (text, _) = after.split_once("</script").expect("its end");
    if !deflated {
        return (text.to_owned(), false);
    }
    let mut json = String::new();
    let bytes = STANDARD.decode(text).expect("base64");
    flate2::read::DeflateDecoder::new(bytes.as_slice()).read_to_string(&mut json).expect("raw deflate");
    (json, true)
}

/// The page as its JSON reads, whichever way numbers are written.
fn as_read(page: &Page) -> Page {
    serde_json::from_str(&serde_json::to_string(page).unwrap()).unwrap()
}

/// A small page in which one string stands wherever a string of the user's may stand.
fn filled_with(text: &str) -> Page {
    let mut record = pages::record(2);
    let renamed = |name: &mut String| {
        if name == "xfs" {
            text.clone_into(name);
        }
    };
    record.header.lanes.iter_mut().for_each(|lane| renamed(&mut lane.name));
    for trial in &mut record.trials {
        renamed(&mut trial.lane);
        trial.flags.push(text.into());
    }
    let workload = &mut record.header.plan.workloads[0];
    workload.title = text.to_owned();
    record.header.plan.suite = text.to_owned();
    record.header.plan.command_line.push(text.to_owned());
    record.header.warnings.push(text.to_owned());
    record.header.machine.device.model = text.to_owned();
    let mut page = pages::page_of(&record);
    let Show::Race { race } = &mut page.show else { unreachable!() };
    race.record = Some(text.to_owned());
    race.trials.remarks.insert(0, text.to_owned());
    page
}

/// Nothing but the page's own markup is markup: the data adds no `<`, breaks no line and turns none.
fn check(page: &Page) {
    let html = written(page);
    let empty = {
        let mut out = Vec::new();
        let show = Show::Dashboard;
        report::html::page(&Page { show, ..page.clone() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(html.matches('<').count(), empty.matches('<').count());
    assert_eq!(html.lines().count(), empty.lines().count());
    let (json, deflated) = embedded(&html);
    if !deflated {
        let harmful = |character: char| character == '<' || model::text::is_unsafe(character);
        assert!(!json.contains(harmful), "{json:?}");
    }
    assert_eq!(serde_json::from_str::<Page>(&json).unwrap(), as_read(page));
}

#[test]
fn hostile_names_stay_text() {
    let long = "文<&>\"'".repeat(700);
    for text in [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "<!-- -->]]>",
        "\"'`\\\\\u{0}\u{7f}\u{9b}31m",
        "\u{202e}txt.exe\u{2066}\u{200f}\u{200e}",
        "a\u{2028}b\u{2029}c\r\nd",
        "\u{1f600}\u{e0001}\u{feff}\u{fffe}",
        "&lt;/script&gt;",
        long.as_str(),
    ] {
        check(&filled_with(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_stays_text(text in any::<String>()) {
        check(&filled_with(&text));
    }
}

#[test]
fn a_record_of_many_trials_is_deflated_and_reads_back() {
    let small = pages::page_of(&pages::record(20));
    assert!(!embedded(&written(&small)).1, "180 trials");
    let large = pages::page_of(&pages::record(60));
    let html = written(&large);
    let (json, deflated) = embedded(&html);
    assert!(deflated, "540 trials");
    assert_eq!(serde_json::from_str::<Page>(&json).unwrap(), as_read(&large));
    // Beside the page itself, which is the same whatever it shows.
    let page = written(&small).len() - embedded(&written(&small)).0.len();
    assert!(html.len() - page < json.len() / 2, "{} of {}", html.len() - page, json.len());
    // The same hostile names inside.
    let Show::Race { mut race } = large.show.clone() else { unreachable!() };
    race.trials.remarks.insert(3, "</script>\u{2028}<!--".to_owned());
    check(&Page { show: Show::Race { race }, ..large });
}

#[test]
fn files_keep_to_their_sizes() {
    // 55 rounds of three lanes and three workloads: 495 trials, and the longest courses that they may have.
    for points in [5, 256] {
        let html = written(&pages::page_of(&pages::record_of(55, points)));
        assert!(html.len() <= 1_500_000, "{} bytes", html.len());
    }
    let html = written(&pages::page_of(&pages::record_of(1200, 20)));
    assert!(html.len() <= 10_000_000, "{} bytes", html.len());
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let html = written(&pages::page_of(&pages::record(2)));
    let policy = html.split_once("Content-Security-Policy\" content=\"").expect("a policy").1;
    let policy = policy.split_once('"').expect("its end").0;
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("http") && !policy.contains('*'), "{policy}");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = report::html::page(&pages::page_of(&pages::record(60)), &mut Full).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(28));
}
