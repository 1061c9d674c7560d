//! What a trace of a program holds: text for a terminal, a page, JSON, and its files as CSV.

mod page;

use crate::clean::clean;
use crate::layout::align;
use model::trace::{BufferUse, CallSum, FileSum, Summary};
use model::units::{human_bytes, human_count, human_seconds};

/// Formats that a trace is shown in.
pub const TRACE_FORMATS: [&str; 4] = ["text", "html", "json", "csv"];
/// Files that the page names.
const MOST_FILES: usize = 15;

/// Renders a trace in one of [`TRACE_FORMATS`].
/// Any other is text.
pub fn render_trace(summary: &Summary, format: &str) -> String {
    match format {
        "json" => crate::json::pretty(summary),
        "csv" => csv(summary),
        "html" => page::page(summary),
        _ => text(summary),
    }
}

fn seconds(nanoseconds: u64) -> String {
    human_seconds(nanoseconds as f64 * 1e-9)
}

fn bytes(bytes: u64) -> String {
    human_bytes(bytes as f64)
}

/// Whose trace it is.
fn title(summary: &Summary) -> String {
    let header = &summary.header;
    match header.command.join(" ") {
        command if !command.is_empty() => command,
        _ if header.anonymous => "a program whose name is not kept".to_owned(),
        _ => format!("a program, from its {}", if header.method.is_empty() { "trace" } else { &header.method }),
    }
}

/// What is said of it as a whole.
fn facts(summary: &Summary) -> Vec<String> {
    let header = &summary.header;
    let place = if header.directory.is_empty() { String::new() } else { format!("in {}", header.directory) };
    let parts = [place, header.kernel.clone(), header.started.clone()];
    let mut lines = vec![parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")];
    if !header.under.is_empty() {
        lines.push(format!("only what lies below {}", header.under));
    }
    let per_second = summary.syncs as f64 / (summary.nanoseconds as f64 * 1e-9).max(1e-9);
    lines.push(format!(
        "{} operations, {} of them failed, in {} by {} in {}; {:.1} at once on average",
        human_count(summary.operations as f64),
        human_count(summary.failed as f64),
        seconds(summary.nanoseconds),
        counted(summary.threads, "thread"),
        counted(summary.processes, "process"),
        summary.at_once
    ));
    lines.push(format!(
        "read {}, wrote {}, touched {} of its files; {}, {per_second:.1} a second",
        bytes(summary.read_bytes),
        bytes(summary.written_bytes),
        bytes(summary.working_set_bytes),
        counted(summary.syncs, "sync"),
    ));
    if summary.sampled_bytes > 0 {
        let share = |part: u64| part as f64 / summary.sampled_bytes as f64 * 100.0;
        lines.push(format!(
            "{} of what was written were looked at: they compress to {:.0} %, and {:.0} % came again",
            bytes(summary.sampled_bytes),
            share(summary.sampled_compressed_bytes),
            share(summary.sampled_repeated_bytes)
        ));
    }
    if let Some(end) = summary.end.as_ref().filter(|end| end.tracer_nanoseconds > 0) {
        let share = end.tracer_nanoseconds as f64 / end.nanoseconds.max(1) as f64 * 100.0;
        lines.push(format!(
            "captured in {}, of which the tracer was at work {share:.0} %; exit status {}",
            seconds(end.nanoseconds),
            end.status
        ));
        lines.extend(end.buffer.as_ref().into_iter().flat_map(|buffer| of_buffer(buffer, summary.operations)));
    }
    lines
}

/// How calls were written down.
fn of_buffer(buffer: &BufferUse, operations: u64) -> Vec<String> {
    let filled = match buffer.filled {
        0 => "it was never more than half full".to_owned(),
        filled => {
            format!(
                "it came to be more than half full {}, and calls stopped until it was read",
                counted(filled, "time")
            )
        }
    };
    let mut lines = vec![format!(
        "{} of the operations were written into a buffer, {} stopped the program; of its {} at most {} were in use at once: {filled}",
        human_count(buffer.calls as f64),
        human_count(operations.saturating_sub(buffer.calls) as f64),
        bytes(buffer.bytes),
        bytes(buffer.most_bytes),
    )];
    if buffer.was_passed_by(operations) {
        lines.push(
            "most calls stopped the program, as all of static programs, of Go and of musl do, and opens, reads, writes and syncs where \
             glibc is 2.41 or newer, so that it was slower than by itself: race it with --speed max, which leaves out the time between its calls"
                .to_owned(),
        );
    }
    lines
}

fn text(summary: &Summary) -> String {
    let mut out = format!("TRACE     {}\n", clean(&title(summary)));
    facts(summary).iter().for_each(|line| out += &format!("          {}\n", clean(line)));
    out.push('\n');
    let mut rows = vec![["call", "count", "failed", "bytes", "time in all", "p50", "p99"].map(str::to_owned).to_vec()];
    rows.extend(summary.calls.iter().map(call));
    align(&rows).iter().for_each(|line| out += &format!("  {line}\n"));
    if !summary.files.is_empty() {
        out += &format!("\nFILES     those with the most bytes, of {}\n", human_count(summary.files.len() as f64));
        let mut rows = vec![["read", "written", "opened", "syncs", "file"].map(str::to_owned).to_vec()];
        rows.extend(summary.files.iter().take(MOST_FILES).map(file));
        align(&rows).iter().for_each(|line| out += &format!("  {line}\n"));
    }
    for note in &summary.notes {
        out += &format!("NOT SEEN  {}\n", clean(note));
    }
    if summary.end.is_none() {
        out += "UNENDED   the tracer did not see the end: what came after its last second is missing\n";
    }
    out
}

fn counted(count: u64, what: &str) -> String {
    let plural = if what.ends_with('s') { "es" } else { "s" };
    format!("{} {what}{}", human_count(count as f64), if count == 1 { "" } else { plural })
}

fn call(sum: &CallSum) -> Vec<String> {
    vec![
        clean(&sum.call),
        human_count(sum.count as f64),
        human_count(sum.failed as f64),
        if sum.bytes == 0 { "-".to_owned() } else { bytes(sum.bytes) },
        seconds(sum.nanoseconds),
        seconds(sum.p50_nanoseconds),
        seconds(sum.p99_nanoseconds),
    ]
}

fn file(sum: &FileSum) -> Vec<String> {
    vec![
        bytes(sum.read_bytes),
        bytes(sum.written_bytes),
        human_count(sum.opened as f64),
        human_count(sum.syncs as f64),
        clean(&sum.path),
    ]
}

fn csv(summary: &Summary) -> String {
    let mut rows =
        vec![["path", "opened", "read_bytes", "written_bytes", "syncs", "extent_bytes"].map(str::to_owned).to_vec()];
    rows.extend(summary.files.iter().map(|file| {
        let numbers = [file.opened, file.read_bytes, file.written_bytes, file.syncs, file.extent_bytes];
        [vec![crate::csv::text(&file.path)], numbers.map(|number| number.to_string()).to_vec()].concat()
    }));
    crate::csv::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::End;

    #[test]
    fn it_is_told_how_full_the_buffer_was_and_what_helps_where_most_calls_stopped() {
        let said = |calls: u64, filled: u64| {
            let buffer = BufferUse { bytes: 4 << 20, most_bytes: 3 << 20, filled, calls };
            let end = End { nanoseconds: 5, tracer_nanoseconds: 1, buffer: Some(buffer), ..End::default() };
            text(&Summary { operations: 2000, end: Some(end), ..Summary::default() })
        };
        let well = said(1999, 0);
        assert!(well.contains("1 stopped the program") && well.contains("never more than half full"), "{well}");
        assert!(!well.contains("--speed max"), "{well}");
        let badly = said(10, 2);
        assert!(badly.contains("more than half full 2 times") && badly.contains("--speed max"), "{badly}");
        let without = End { nanoseconds: 5, tracer_nanoseconds: 1, ..End::default() };
        let without = text(&Summary { operations: 2000, end: Some(without), ..Summary::default() });
        assert!(without.contains("tracer was at work") && !without.contains("buffer"), "{without}");
    }
}
