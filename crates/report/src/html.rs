//! The page as one HTML file, report and dashboard alike: the built page with its data inside, written as it
//! is made.
//!
//! The pages are built from `ui/`; nothing of them is known here but the one line that waits for the data.

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use model::page::{Page, Show};
use model::text::is_unsafe;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, Read as _, Write};
use std::sync::LazyLock;

/// The built page of the report, whose policy forbids it to ask anybody; deflated by `build.rs`.
const DEFLATED_REPORT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.html.deflate"));
/// What the dashboard's head has in place of the report's: its page, and a policy by which it may ask its own server. All
/// else of its built page is the same, so that the program holds one of them.
const DASHBOARD: [(&str, &str); 2] =
    [(r#" data-page="report">"#, r#" data-page="dashboard">"#), ("; connect-src 'none'; ", "; connect-src 'self'; ")];
/// The element of a built page that waits for the data.
const ELEMENT: &str = r#"<script id="data" type="application/json"></script>"#;
/// How it begins where the data is plain JSON; how every Fairlane page can be told from other files.
const PLAIN: &str = r#"<script id="data" type="application/json">"#;
/// How it begins where the data is JSON, deflated without a header, in base64.
const DEFLATED: &str = r#"<script id="data" type="application/octet-stream" data-encoding="deflate-raw-base64">"#;
const END: &str = "</script>";

/// The data of a record with more trials is deflated.
const PLAIN_TRIALS: u32 = 500;
/// And so is data that would make the file larger than this: few trials may have many groups.
const PLAIN_FILE_BYTES: u64 = 1_450_000;
/// Of the levels from 1 to 9.
const LEVEL: u32 = 4;

/// Writes the page with its data. Nothing of the data is held as text meanwhile.
///
/// # Errors
/// What the writer answers; and where the built page has no place for data, which its tests exclude.
pub fn page(page: &Page, writer: &mut dyn Write) -> io::Result<()> {
    match page.show {
        Show::Race { .. } => fill(report(), page, writer),
        Show::Dashboard => fill(dashboard(), page, writer),
    }
}

fn report() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = String::new();
        let inflated = DeflateDecoder::new(DEFLATED_REPORT).read_to_string(&mut text);
        inflated.unwrap_or_else(|error| unreachable!("build.rs deflated it: {error}"));
        text
    });
    &TEXT
}

/// Kept, for a server answers with it again and again.
fn dashboard() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        DASHBOARD.iter().fold(report().to_owned(), |page, (of_the_report, own)| page.replacen(of_the_report, own, 1))
    });
    &TEXT
}

/// Whether a file is a page of Fairlane, so that a newer one may take its place.
pub fn is_page(text: &[u8]) -> bool {
    let holds = |mark: &str| text.windows(mark.len()).any(|part| part == mark.as_bytes());
    holds(PLAIN) || holds(DEFLATED)
}

fn fill(template: &str, page: &Page, writer: &mut dyn Write) -> io::Result<()> {
    let (before, after) =
        template.split_once(ELEMENT).filter(|(_, after)| !after.contains(ELEMENT)).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the page built in ui/dist does not hold `{ELEMENT}` once; build it again from ui/"),
            )
        })?;
    writer.write_all(before.as_bytes())?;
    if is_plain(template, page)? {
        writer.write_all(PLAIN.as_bytes())?;
        write_json(page, writer)?;
    } else {
        writer.write_all(DEFLATED.as_bytes())?;
        let mut encoder = EncoderWriter::new(&mut *writer, &STANDARD);
        let mut deflate = DeflateEncoder::new(&mut encoder, Compression::new(LEVEL));
        write_json(page, &mut deflate)?;
        deflate.finish()?;
        encoder.finish()?;
    }
    writer.write_all(END.as_bytes())?;
    writer.write_all(after.as_bytes())
}

fn is_plain(template: &str, page: &Page) -> io::Result<bool> {
    let trials = match &page.show {
        Show::Race { race } => {
            let counts = race.findings.trials;
            counts.ok.saturating_add(counts.repeated).saturating_add(counts.failed).saturating_add(counts.void)
        }
        Show::Dashboard => 0,
    };
    if trials > PLAIN_TRIALS {
        return Ok(false);
    }
    let mut count = Counted(0);
    write_json(page, &mut count)?;
    Ok(count.0 + template.len() as u64 <= PLAIN_FILE_BYTES)
}

/// One writer's type for all: for each of them the compiler writes out the code of everything that a page holds.
fn write_json(page: &Page, writer: &mut dyn Write) -> io::Result<()> {
    // serde_json writes a few bytes at a time.
    let mut buffered = io::BufWriter::with_capacity(64 << 10, writer);
    page.serialize(&mut serde_json::Serializer::with_formatter(&mut buffered, InScript))?;
    buffered.flush()
}

/// Counts bytes.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON that ends no script element, begins no comment, breaks no line, and harms no terminal that shows
/// the file: such characters only occur inside strings, where an escape means the same. Whole numbers go
/// without a fraction, as JavaScript writes them.
struct InScript;

impl Formatter for InScript {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in fragment.char_indices() {
            if character == '<' || is_unsafe(character) {
                writer.write_all(&fragment.as_bytes()[written..at])?;
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
                written = at + character.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // Up to here every whole number is exact; minus zero keeps its sign.
        let whole = value.trunc() == value && value.abs() < 9e15 && !(value == 0.0 && value.is_sign_negative());
        match whole {
            true => write!(writer, "{}", value as i64),
            false => serde_json::ser::CompactFormatter.write_f64(writer, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::page::{Language, PAGE_SCHEMA};

    const BUILT_DASHBOARD: &str = include_str!("../../../ui/dist/dashboard.html");

    fn page_of_the_dashboard() -> Page {
        Page { schema: PAGE_SCHEMA, version: "1".to_owned(), language: Language::En, show: Show::Dashboard }
    }

    #[test]
    fn a_template_without_its_element_or_with_two_is_an_error_that_says_so() {
        let twice = format!("{ELEMENT}\n{ELEMENT}");
        for template in ["<html></html>", twice.as_str()] {
            let error = fill(template, &page_of_the_dashboard(), &mut Vec::new()).unwrap_err().to_string();
            assert!(error.contains("ui/dist") && error.contains("build it again"), "{error}");
        }
        let mut out = Vec::new();
        fill(&format!("a\n{ELEMENT}\nb"), &page_of_the_dashboard(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(&format!("a\n{PLAIN}{{\"schema\":1,")) && text.ends_with("}</script>\nb"), "{text}");
    }

    #[test]
    fn the_built_pages_take_data_and_are_known_again() {
        for template in [report(), BUILT_DASHBOARD] {
            let mut out = Vec::new();
            fill(template, &page_of_the_dashboard(), &mut out).unwrap();
            assert!(is_page(&out));
        }
        assert!(!is_page(b"<html><script id=data></script></html>"));
    }

    #[test]
    fn only_the_dashboard_may_ask_and_only_its_own_server() {
        let mut out = Vec::new();
        page(&page_of_the_dashboard(), &mut out).unwrap();
        assert!(dashboard() == BUILT_DASHBOARD, "ui/dist/dashboard.html differs from page.html by more than its head");
        assert!(out.starts_with(BUILT_DASHBOARD.split_once(ELEMENT).unwrap().0.as_bytes()));
        assert!(BUILT_DASHBOARD.contains("connect-src 'self'") && !report().contains("connect-src 'self'"));
    }

    #[test]
    fn numbers_are_short_and_read_back_as_they_were() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0.0"),
            (12.0, "12"),
            (-3.0, "-3"),
            (0.25, "0.25"),
            (1e15, "1000000000000000"),
            (1e300, "1e+300"),
        ] {
            let mut out = Vec::new();
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, InScript)).unwrap();
            let written = String::from_utf8(out).unwrap();
            assert_eq!(written.replace("e+", "e"), text.replace("e+", "e"));
            assert_eq!(serde_json::from_str::<f64>(&written).unwrap().to_bits(), f64::to_bits(value));
        }
    }
}
