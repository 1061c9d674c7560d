//! The page of a record, and the file of it that lies beside the record.

use super::screen::tilde;
use crate::failure::Failure;
use crate::owned::{self, There};
use crate::{knowledge, language, published, state};
use model::findings::Findings;
use model::page::{Language, PAGE_SCHEMA, Page, RacePage, Show};
use model::record::Record;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes of a page at most, to be told from something else.
const LARGEST_PAGE_BYTES: u64 = 64 << 20;

/// How a page is written.
type Writer = fn(&Page, &mut dyn Write) -> io::Result<()>;

/// What a page shows of a record: published figures of its suite and notes beside the findings, and what those
/// say in every language.
///
/// # Errors
/// When a built-in file is wrong.
pub fn race(record: &Record, mut findings: Findings, path: &Path) -> Result<RacePage, Failure> {
    state::mark_running(&mut findings, record, path);
    let shown = tilde(path);
    let published = published::beside(record, &shown)?;
    let mut race = stats::page::race(record, findings, published);
    race.record = Some(shown);
    race.resume = report::words_that_are_next(&race.findings);
    race.notes = report::page_notes(record, &race.findings);
    race.sentences = report::language::sentences(&race.findings);
    Ok(race)
}

/// The page of a record with its findings, in a language.
///
/// # Errors
/// When a built-in file is wrong.
pub fn build(record: &Record, findings: Findings, path: &Path, language: Language) -> Result<Page, Failure> {
    let show = Show::Race { race: Box::new(race(record, findings, path)?) };
    Ok(Page { schema: PAGE_SCHEMA, version: env!("CARGO_PKG_VERSION").to_owned(), language, show })
}

/// Refuses to show a page on a terminal.
///
/// # Errors
/// Where no file is named and standard output is a terminal.
pub fn check_place(output: Option<&Path>) -> Result<(), Failure> {
    match output.is_none() && io::stdout().is_terminal() {
        true => Err(Failure::usage("an HTML page is for a browser, not for a terminal; add -o report.html")),
        false => Ok(()),
    }
}

/// Writes a page to a file, or to standard output where none is named.
///
/// # Errors
/// When neither can be written.
pub fn put(page: &Page, write: Writer, file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else {
        let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
        return match write(page, &mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::failed(format!("cannot write the page to standard output: {error}")))
            }
            _ => Ok(()),
        };
    };
    into_file(file, &mut |out| write(page, out))
}

/// Writes to a file that somebody named: whole or not at all, so that a full disk costs nothing that was there, and
/// never over a record, which nothing brings back, or a disk. What is no regular file otherwise (a pipe, a terminal) is
/// written as it is.
///
/// # Errors
/// When it holds a record, is a disk, or cannot be written.
pub fn into_file(file: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let kind = owned::metadata(file);
    if kind.as_ref().is_ok_and(|of| !takes_text(of)) {
        return Err(Failure::usage(format!("{} is a device; name a file with -o", file.display())));
    }
    if kind.as_ref().is_ok_and(fs::Metadata::is_file) && state::is_record(file) {
        return Err(Failure::usage(format!("{} is a record; name another file with -o", file.display())));
    }
    let written = match kind {
        Ok(of) if !of.is_file() => owned::open_special(file, &takes_text).and_then(|mut out| write(&mut out)),
        // A symbolic link stays one: what it names is replaced.
        _ => owned::replace(file, true, write),
    };
    written.map_err(|error| {
        Failure::failed(format!("cannot write {}: {}; name another file with -o", file.display(), owned::plain(&error)))
    })
}

/// Whether text may be written to what is there: to a file, a pipe, a terminal, or one of the devices that keep nothing. Any
/// other device is somebody's data, or the machine's memory.
fn takes_text(of: &fs::Metadata) -> bool {
    let kind = of.file_type();
    if kind.is_block_device() {
        return false;
    }
    // Numbers of devices: Documentation/admin-guide/devices.txt.
    let (major, minor) = (rustix::fs::major(of.rdev()), rustix::fs::minor(of.rdev()));
    let keeps_nothing = major == 1 && [3, 5, 7].contains(&minor);
    let terminal = matches!(major, 4 | 5 | 136..=143 | 204 | 229);
    !kind.is_char_device() || keeps_nothing || terminal
}

/// Writes the page of a race that has just ended beside its record, in the language of the locale, and
/// answers where it lies.
///
/// # Errors
/// One sentence: the race itself has not failed for it.
pub fn write_beside(record: &Record, findings: Findings, path: &Path) -> Result<PathBuf, String> {
    let file = beside(path);
    let elsewhere = || format!("fairlane report {} --format html -o FILE", tilde(path));
    let cannot = |error: &dyn std::fmt::Display| {
        format!("the report {} cannot be written: {error}; `{}` writes it elsewhere", tilde(&file), elsewhere())
    };
    let failed = |error: io::Error| cannot(&owned::plain(&error));
    match may_replace(&file) {
        Ok(true) => {}
        Ok(false) => {
            return Err(format!(
                "{} exists already and is no report of Fairlane, so it stays as it is; `{}` writes the report elsewhere",
                tilde(&file),
                elsewhere()
            ));
        }
        Err(error) => return Err(failed(error)),
    }
    let page = knowledge::advised(record, findings)
        .and_then(|findings| build(record, findings, path, language::chosen(None)))
        .map_err(|failure| cannot(&failure.message))?;
    // What is there under another name is never written to.
    owned::replace(&file, false, &mut |out| report::html::page(&page, out)).map_err(failed)?;
    Ok(file)
}

/// The file of a record's page: its name, with `html` for `jsonl`.
pub fn beside(record: &Path) -> PathBuf {
    let mut name = match record.extension().is_some_and(|end| end == "jsonl") {
        true => record.with_extension("").into_os_string(),
        false => record.as_os_str().to_owned(),
    };
    name.push(".html");
    PathBuf::from(name)
}

/// Whether a page may be put there: nothing is there, or an older page of Fairlane.
fn may_replace(file: &Path) -> io::Result<bool> {
    Ok(match owned::there(file)? {
        There::Nothing => true,
        There::File => report::html::is_page(&owned::read(file, LARGEST_PAGE_BYTES)?),
        There::Else => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_to_no_device_that_keeps_something() {
        for (path, takes) in
            [("/dev/null", true), ("/dev/full", true), ("/proc/self/exe", true), ("/dev/urandom", false)]
        {
            assert_eq!(takes_text(&fs::metadata(path).unwrap()), takes, "{path}");
        }
    }

    #[test]
    fn a_page_lies_beside_its_record_under_the_same_name() {
        for (record, page) in [
            ("r.jsonl", "r.html"),
            ("/a/b.c.jsonl", "/a/b.c.html"),
            ("record", "record.html"),
            ("x.html", "x.html.html"),
            ("v1.2", "v1.2.html"),
        ] {
            assert_eq!(beside(Path::new(record)), Path::new(page));
        }
    }
}
