//! What a trace holds as one HTML file: no script, nothing that is loaded.

use super::{bytes, counted};
use crate::markdown::html;
use model::trace::Summary;
use model::units::human_count;

/// Files that the page lists.
const MOST_FILES: usize = 500;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fff}h1{font-size:1.4rem;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%;\
font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.15rem .6rem;border-bottom:1px solid #ddd}\
th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}td.share{width:12rem}td.share div{background:#3b6ea8;\
height:.8rem}.note{border-left:4px solid #b36b00;padding-left:.8rem}@media (prefers-color-scheme:dark){body{color:#ddd;\
background:#1b1b1b}th,td{border-color:#444}td.share div{background:#7fb2ea}}";

fn row(cells: &[String]) -> String {
    format!("<tr>{}</tr>\n", cells.iter().map(|cell| format!("<td>{cell}</td>")).collect::<String>())
}

fn head(cells: &[&str]) -> String {
    format!("<tr>{}</tr>\n", cells.iter().map(|cell| format!("<th scope=\"col\">{cell}</th>")).collect::<String>())
}

/// The page.
pub(super) fn page(summary: &Summary) -> String {
    let title = html(&super::title(summary));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Trace of {title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
    );
    for line in super::facts(summary) {
        out += &format!("<p>{}</p>\n", html(&line));
    }
    for note in &summary.notes {
        out += &format!("<p class=\"note\">Not seen: {}</p>\n", html(note));
    }
    if summary.end.is_none() {
        out += "<p class=\"note\">The tracer did not see the end: what came after its last second is missing.</p>\n";
    }
    let most = summary.calls.iter().map(|call| call.nanoseconds).max().unwrap_or(0).max(1);
    out += "<h2>Calls</h2>\n<table>\n";
    out += &head(&["call", "count", "failed", "bytes", "time in all", "", "p50", "p99"]);
    for of in &summary.calls {
        let share = of.nanoseconds as f64 / most as f64 * 100.0;
        let cells = super::call(of);
        out += "<tr>";
        cells[..5].iter().for_each(|cell| out += &format!("<td>{}</td>", html(cell)));
        out += &format!("<td class=\"share\"><div style=\"width:{share:.1}%\"></div></td>");
        cells[5..].iter().for_each(|cell| out += &format!("<td>{}</td>", html(cell)));
        out += "</tr>\n";
    }
    out += "</table>\n";
    if !summary.files.is_empty() {
        let shown = summary.files.len().min(MOST_FILES);
        out += &format!(
            "<h2>Files</h2>\n<p>{} of {}, those with the most bytes.</p>\n<table>\n",
            human_count(shown as f64),
            counted(summary.files.len() as u64, "file")
        );
        out += &head(&["file", "read", "written", "opened", "syncs", "touched to"]);
        for of in summary.files.iter().take(MOST_FILES) {
            let numbers = [bytes(of.read_bytes), bytes(of.written_bytes), human_count(of.opened as f64)];
            let more = [human_count(of.syncs as f64), bytes(of.extent_bytes)];
            out += &row(&[&[html(&of.path)], &numbers[..], &more[..]].concat());
        }
        out += "</table>\n";
    }
    out += "</body></html>\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::{CallSum, FileSum, Header};

    #[test]
    fn names_of_strangers_are_text_and_nothing_is_loaded() {
        let odd = "<script src=x>\u{1b}[2J\"&'".to_owned();
        let summary = Summary {
            header: Header {
                command: vec![odd.clone()],
                directory: odd.clone(),
                kernel: odd.clone(),
                ..Header::default()
            },
            calls: vec![CallSum { call: odd.clone(), count: 1, nanoseconds: 5, ..CallSum::default() }],
            files: vec![FileSum { path: odd.clone(), opened: 2, ..FileSum::default() }],
            notes: vec![odd],
            ..Summary::default()
        };
        let page = page(&summary);
        assert!(!page.contains("<script") && !page.contains('\u{1b}') && page.contains("&lt;script"), "{page}");
        assert!(!page.contains("http") && page.contains("<h2>Files</h2>") && page.contains("width:100.0%"), "{page}");
        assert_eq!(page.matches("<tr>").count(), page.matches("</tr>").count());
    }
}
