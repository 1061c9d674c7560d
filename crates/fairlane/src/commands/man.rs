//! `fairlane man`: a manual page for each command, from the declarations that --help is made of.

use crate::failure::Failure;
use crate::options::{self, Man};
use crate::owned;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds since 1970 at which years have five digits.
const YEAR_10000: u64 = 253_402_300_800;

/// What Fairlane keeps, for the page of the whole.
const FILES: [(&str, &str); 3] = [
    (
        "~/.local/state/fairlane",
        "records of races, calibrations and power cuts, and without root the undo journals; XDG_STATE_HOME moves it",
    ),
    ("/var/lib/fairlane/undo", "root's undo journals, and images of lanes with a past; FAIRLANE_UNDO_DIR moves it"),
    ("/var/cache/fairlane", "what programs of suites work on, for root; FAIRLANE_MATERIAL moves it"),
];

/// Writes all pages into a new or empty folder.
///
/// # Errors
/// When the folder holds something, or cannot be written.
pub fn run(options: &Man) -> Result<(), Failure> {
    let folder = &options.directory;
    let cannot = |what: &str, path: &Path, error: std::io::Error| {
        Failure::failed(format!(
            "cannot {what} {}: {}; name another folder",
            model::text::escaped_path(path),
            owned::plain(&error)
        ))
    };
    owned::make_folders(folder).map_err(|error| cannot("make", folder, error))?;
    let there = owned::names(folder).map_err(|error| cannot("look into", folder, error))?;
    if !there.is_empty() {
        let shown = model::text::escaped_path(folder);
        return Err(Failure::usage(format!("{shown} holds something already; name a new folder or an empty one")));
    }
    for (name, text) in pages(&date()).map_err(|error| cannot("make pages for", folder, error))? {
        let path = folder.join(name);
        let written = owned::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| cannot("write", &path, error))?;
    }
    Ok(())
}

/// The day that pages bear: that of SOURCE_DATE_EPOCH, so that two builds make the same, or today.
fn date() -> String {
    let named = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse::<u64>().ok());
    let named = named.filter(|seconds| *seconds < YEAR_10000);
    let time = named.map_or_else(SystemTime::now, |seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    humantime::format_rfc3339_seconds(time).to_string().chars().take("2000-01-01".len()).collect()
}

/// Names and texts of the pages of all commands that are shown.
fn pages(date: &str) -> std::io::Result<Vec<(String, String)>> {
    let mut whole = options::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    let mut open = vec![whole];
    while let Some(command) = open.pop() {
        let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
        open.extend(shown.cloned());
        pages.push((format!("{}.1", title(&command)), page(&command, date)?));
    }
    Ok(pages)
}

/// `fairlane-race`.
fn title(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &clap::Command, date: &str) -> std::io::Result<String> {
    // What stands behind the options has lines of its own, which a page would fill.
    let notes = command.get_after_help().map(ToString::to_string);
    let bare = command.clone().after_help(None::<&'static str>);
    let version = concat!("Fairlane ", env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    clap_mangen::Man::new(bare).date(date).source(version).manual("Fairlane").render(&mut text)?;
    let mut page = String::from_utf8_lossy(&text).into_owned();
    // Quotes, carets and tildes as they are typed, and not as books print them.
    for (typed, roff) in [("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")] {
        page = page.replace(typed, roff);
    }
    if let Some(notes) = notes {
        page.push_str(&behind_options(&notes));
    }
    page.push_str(&files_and_others(command));
    Ok(page)
}

/// What --help says behind the options: sentences are filled, and what is indented there keeps its lines.
fn behind_options(notes: &str) -> String {
    let mut page = ".SH NOTES\n".to_owned();
    let (mut is_as_is, mut is_new) = (false, false);
    for line in notes.lines() {
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        let is_indented = line.starts_with("  ");
        if is_as_is && !is_indented {
            page.push_str(".fi\n");
        }
        if is_new {
            page.push_str(".PP\n");
        }
        if is_indented && !is_as_is {
            page.push_str(".nf\n");
        }
        (is_as_is, is_new) = (is_indented, false);
        page.push_str(&roff(line));
        page.push('\n');
    }
    page.push_str(if is_as_is { ".fi\n" } else { "" });
    page
}

/// Where things lie, on the page of the whole; which other pages there are.
fn files_and_others(command: &clap::Command) -> String {
    let mut page = String::new();
    let title = title(command);
    let mut others: Vec<String> = match title.rsplit_once('-') {
        Some((above, _)) => vec![above.to_owned()],
        None => {
            page.push_str(".SH FILES\n");
            for (path, what) in FILES {
                // Writing into a String cannot fail.
                let _ = writeln!(page, ".TP\n{}\n{}", roff(path), roff(what));
            }
            Vec::new()
        }
    };
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    others.extend(shown.map(|below| format!("{title}-{}", below.get_name())));
    let last = others.len().saturating_sub(1);
    page.push_str(".SH SEE ALSO\n");
    for (at, other) in others.iter().enumerate() {
        let comma = if at == last { "" } else { "," };
        let _ = writeln!(page, ".BR {} (1){comma}", roff(other));
    }
    page
}

/// A line of text, of which roff takes nothing for its own.
fn roff(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    if line.starts_with('.') {
        text.push_str("\\&");
    }
    for character in line.chars() {
        match character {
            '\\' => text.push_str("\\e"),
            '-' => text.push_str("\\-"),
            '\'' => text.push_str("\\(aq"),
            '`' => text.push_str("\\(ga"),
            '^' => text.push_str("\\(ha"),
            '~' => text.push_str("\\(ti"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Vec<clap::Command> {
        let mut whole = options::command();
        whole.build();
        let (mut open, mut all) = (vec![whole], Vec::new());
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands().cloned());
            all.push(command);
        }
        all
    }

    #[test]
    fn every_command_and_every_option_of_it_has_a_sentence() {
        let said = |text: Option<&clap::builder::StyledStr>| text.is_some_and(|text| text.to_string().trim().len() > 3);
        let mut options = 0;
        for command in commands() {
            assert!(said(command.get_about()), "{} says nothing of itself", command.get_name());
            for arg in command.get_arguments() {
                let has_words = said(arg.get_help()) || said(arg.get_long_help());
                assert!(has_words, "{}: {} says nothing of itself", command.get_name(), arg.get_id());
                options += 1;
            }
        }
        assert!(options > 100, "{options}");
    }

    #[test]
    fn every_command_that_is_shown_has_a_page_that_names_its_options() {
        let pages = pages("2026-11-29").unwrap();
        let mut names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), pages.len());
        assert!(names.contains(&"fairlane.1") && names.contains(&"fairlane-trace-show.1"), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("agent") || name.contains("-man")), "{names:?}");
        for command in commands().iter().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
            let Some((_, text)) = pages.iter().find(|(name, _)| *name == format!("{}.1", title(command))) else {
                assert!(title(command).contains("help"), "{} has no page", title(command));
                continue;
            };
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let named = arg.get_long().map(|long| format!("\\fB{}\\fR", roff(&format!("--{long}"))));
                assert!(named.is_none_or(|named| text.contains(&named)), "{}: {}", title(command), arg.get_id());
            }
            assert!(text.contains(".TH ") && text.contains("2026-11-29") && text.contains(".SH SEE ALSO"), "{text}");
        }
    }

    #[test]
    fn examples_keep_their_lines_and_nothing_is_taken_for_a_request() {
        let page = behind_options("First\nline.\n\n  fairlane race ext4(-O ^x)\n  .second '~'\n\nLast");
        let wanted = ".SH NOTES\nFirst\nline.\n.PP\n.nf\n  fairlane race ext4(\\-O \\(hax)\n  .second \\(aq\\(ti\\(aq\n.fi\n.PP\nLast\n";
        assert_eq!(page, wanted);
        assert_eq!(roff(".TH \\"), "\\&.TH \\e");
    }

    #[test]
    fn pages_bear_the_day_of_the_source() {
        let day = date();
        assert!(day.len() == 10 && day.bytes().filter(|byte| *byte == b'-').count() == 2, "{day}");
    }
}
