//! What IOR writes with `-O summaryFormat=JSON`; mdtest of the same project has no such option.

use crate::ior::{Collector, IOPS_NOTE, Options};
use crate::{ForeignError, Results, json, time};
use serde_json::Value;

const FORMAT: &str = "IOR JSON";

const BEHIND: &str = "text behind the JSON";
const NO_ACCESS: &str = "a run that is neither a read nor a write";

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    start(text).is_some() && text.contains("\"Command line\"") && text.contains("\"tests\"")
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    json::bounded(text)?;
    let mut collector = Collector::new(FORMAT);
    let mut at = start(text).unwrap_or_default();
    if let Some((tool, _)) = text.get(..at).and_then(|heading| heading.trim().split_once(": ")) {
        collector.tool(tool);
    }
    loop {
        let (document, end) = json::value_at(text, at)?;
        take(&document, &mut collector);
        let rest = text.get(end..).unwrap_or_default();
        match rest.trim_start() {
            "" => break,
            more if more.starts_with('{') => at = text.len() - more.len(),
            _ => {
                collector.leave_out(BEHIND);
                break;
            }
        }
    }
    Ok(collector.end())
}

/// Where the first document begins: version 3.2 prints a heading before it.
fn start(text: &str) -> Option<usize> {
    let at = text.find('{')?;
    let before = text.get(..at)?.trim();
    let is_heading = before.starts_with("IOR-") && !before.contains('\n');
    (before.is_empty() || is_heading).then_some(at)
}

/// Takes in what one call of IOR wrote.
fn take(document: &Value, collector: &mut Collector) {
    let version = json::text(document, "Version");
    if !version.is_empty() {
        collector.tool(&format!("IOR-{version}"));
    }
    collector.machine(json::text(document, "Machine"));
    collector.ran_at(time::from_ctime(json::text(document, "Began")));
    let tests = document.get("tests").and_then(Value::as_array);
    for test in tests.into_iter().flatten() {
        let mut options = Options::default();
        for (name, value) in test.get("Options").and_then(Value::as_object).into_iter().flatten() {
            match value {
                Value::String(text) => options.take(name, text),
                Value::Number(number) => options.take(name, &number.to_string()),
                _ => {}
            }
        }
        // The summary and the maxima tell the same runs again.
        let results = test.get("Results").and_then(Value::as_array);
        for result in results.into_iter().flatten() {
            match result {
                // Older versions put each repetition in an array of its own.
                Value::Array(runs) => runs.iter().for_each(|run| add(run, &options, collector)),
                run => add(run, &options, collector),
            }
        }
    }
}

fn add(run: &Value, options: &Options, collector: &mut Collector) {
    let group = match json::text(run, "access") {
        "write" => "write",
        "read" => "read",
        "remove" => return,
        _ => {
            collector.leave_out(NO_ACCESS);
            return;
        }
    };
    if run.get("iops").is_some() {
        collector.note(IOPS_NOTE);
    }
    let (figure, seconds) = (json::number(run, "bwMiB"), json::number(run, "totalTime"));
    collector.add_run(group, figure, seconds, &options.parameters(), options.path());
}
