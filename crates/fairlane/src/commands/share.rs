//! `fairlane share`: a record as a file that others can use, without what tells whose machine it was.

use super::outputs;
use super::report::print;
use super::screening::{self, CONFIRMED};
use crate::failure::Failure;
use crate::options::Share;
use crate::owner::Owner;
use crate::{owned, state, terminal};
use model::bounds::RECORD_BYTES;
use model::findings::ScreeningFinding;
use model::record::{Header, Record};
use model::share::{Facts, Private, Removed, ShareError, Sharing, Sort};
use model::text::escaped_path;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Things of one sort that are listed; of more it is said how many.
const MOST_LISTED: usize = 40;
/// Characters of one of them that are shown.
const MOST_CHARACTERS: usize = 100;

/// Lists what is private in a record, and writes the rest; with a screening goes the race of its proposal.
///
/// # Errors
/// When the record cannot be read or is damaged, when something private would be left, or when the file is there already or
/// cannot be written.
pub fn run(options: &Share) -> Result<(), Failure> {
    let path = state::resolve(&options.record)?;
    let output = options.output.clone().unwrap_or_else(|| default_output(&path));
    let shown = escaped_path(&path);
    let text = read(&path).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; name a record")))?;
    let refused = |path: &Path, error: ShareError| Failure::usage(format!("{}: {error}", escaped_path(path)));
    let (confirmation, private) = (confirmation(&path, &text), private_here());
    let mut files = vec![(path.clone(), output.clone())];
    files.extend(confirmation.iter().map(|(file, _)| (file.clone(), screening::beside(&output, CONFIRMED))));
    if !options.dry_run {
        check(&files)?;
    }
    let begun = match &confirmation {
        None => Sharing::begin(&text, &private),
        Some((_, confirmed)) => Sharing::begin_both(&text, confirmed, &private),
    };
    let mut sharing = begun.map_err(|error| refused(&path, error))?;
    for (at, (path, _)) in files.iter().enumerate() {
        sharing.each_line_of(at, |_| Ok::<_, ShareError>(())).map_err(|error| refused(path, error))?;
        if at > 0 {
            print(&format!("\nwith it goes the race of its proposal, {}:\n", escaped_path(path)))?;
        }
        print(&listed(&sharing, at))?;
        say_what_is_missing(sharing.facts_of(at), path);
    }
    if options.dry_run {
        return Ok(());
    }
    for (at, (_, output)) in files.iter().enumerate() {
        if let Err(mut failure) = write(&mut sharing, at, output) {
            // One without the other would be another answer.
            failure.message.extend(files.iter().take(at).map(|(_, written)| take_back(written)));
            return Err(failure);
        }
    }
    let written: Vec<String> = files.iter().map(|(_, output)| escaped_path(output)).collect();
    let words = ["fairlane", "report", &output.display().to_string()].map(str::to_owned);
    print(&format!("\nwritten to {}; what it shows: {}\n", written.join(" and "), report::shell_line(&words)))
}

/// Refuses, before anything is done, what would be written over. `files`: each that is read, and what is made of it.
fn check(files: &[(PathBuf, PathBuf)]) -> Result<(), Failure> {
    let read = ["the record", "the confirmation"].into_iter().zip(files.iter().map(|(file, _)| file.as_path()));
    let written = ["-o", "beside -o,"].into_iter().zip(files.iter().map(|(_, output)| output.as_path()));
    outputs::check(&written.collect::<Vec<_>>(), &read.collect::<Vec<_>>())?;
    files.iter().try_for_each(|(_, output)| owned::check_new(output).map_err(|error| cannot_make(output, &error)))
}

/// The text of a record. What is no text in it is replaced, as every reader does.
fn read(path: &Path) -> std::io::Result<String> {
    let bytes = owned::read(path, RECORD_BYTES)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The race of the proposal that lies beside a screening, with its text. What lies there and is none stays behind, and
/// that is said.
fn confirmation(path: &Path, text: &str) -> Option<(PathBuf, String)> {
    let file = screening::beside(path, CONFIRMED);
    if !owned::metadata(&file).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let (finding, screened) = found(text)?;
    let taken = || -> Result<String, String> {
        let text = read(&file).map_err(|error| format!("it cannot be read: {error}"))?;
        let confirmed = Record::parse(&text).map_err(|error| error.to_string())?.header;
        screening::raced(&finding, &screened, &confirmed).map(|_| text)
    };
    match taken() {
        Ok(text) => Some((file, text)),
        Err(why) => {
            terminal::say!("{} stays behind: {}", escaped_path(&file), report::clean_text(&why));
            None
        }
    }
}

/// What a screening found, and its header: its trials are not held beside those of another record.
fn found(text: &str) -> Option<(ScreeningFinding, Header)> {
    let mut record = Record::parse(text).ok()?;
    screening::as_known(&mut record);
    Some((stats::screening::finding(&record)?, record.header))
}

/// `2026-07-01T100000Z-quick-shared.jsonl` in the working directory.
fn default_output(record: &Path) -> PathBuf {
    let stem = record.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-shared.jsonl");
    // A name that begins with a dash would be taken for an option.
    if name.starts_with('-') { Path::new(".").join(name) } else { PathBuf::from(name) }
}

fn cannot_make(path: &Path, error: &std::io::Error) -> Failure {
    let shown = escaped_path(path);
    Failure::usage(match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{shown} is there already; name another file with -o, or remove it")
        }
        _ => format!("cannot write {shown}: {}; name another file with -o", owned::plain(error)),
    })
}

/// What is known of this machine and of whoever shares.
fn private_here() -> Vec<Private> {
    let mut found: Vec<Private> = Vec::new();
    let mut add = |sort: Sort, text: String| found.push(Private { sort, text });
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if let Some((short, domain)) = host.split_once('.') {
        add(Sort::Host, short.to_owned());
        add(Sort::Host, domain.to_owned());
    }
    add(Sort::Host, host);
    for key in ["USER", "LOGNAME", "SUDO_USER"] {
        std::env::var(key).into_iter().for_each(|name| add(Sort::User, name));
    }
    let owner = Owner::current();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    in_passwd(&passwd, owner.uid()).into_iter().for_each(|name| add(Sort::User, name));
    let folders = [owner.home(), std::env::var_os("HOME").map(PathBuf::from), std::env::current_dir().ok()];
    for folder in folders.into_iter().flatten() {
        add(Sort::Path, folder.to_string_lossy().into_owned());
    }
    found
}

/// What passwd(5) calls a user: the account, and the person's name before the first comma.
fn in_passwd(lines: &str, user: u32) -> Vec<String> {
    let fields = lines
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.get(2).is_some_and(|number| number.parse() == Ok(user)));
    let Some(fields) = fields else { return Vec::new() };
    let account = fields.first().copied().unwrap_or_default();
    let person = fields.get(4).and_then(|comment| comment.split(',').next()).unwrap_or_default();
    [account, person].into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// What is removed, what stays although it may be a name, and what stays because reports need it.
fn listed(sharing: &Sharing, at: usize) -> String {
    let mut text = String::new();
    let removed = sharing.removed();
    for sort in removed.chunk_by(|one, other| one.sort == other.sort) {
        for Removed { sort, text: private, places } in sort.iter().take(MOST_LISTED) {
            let s = if *places == 1 { "" } else { "s" };
            text.push_str(&format!("removed  {} \"{}\" ({places} place{s})\n", sort.words(), short(private)));
        }
        if let (Some(first), Some(more @ 1..)) = (sort.first(), sort.len().checked_sub(MOST_LISTED)) {
            text.push_str(&format!("removed  {more} more of this sort: {}\n", first.sort.words()));
        }
    }
    for Private { sort, text: private } in sharing.ordinary() {
        let (words, private) = (sort.words(), short(private));
        text.push_str(&format!("stays    {words} \"{private}\", an ordinary word, which is looked for nowhere\n"));
    }
    for (what, private) in &sharing.facts_of(at).stays {
        text.push_str(&format!("stays    {what}: {}\n", short(private)));
    }
    text
}

/// Something that others wrote, on one line and not longer than anybody reads.
fn short(text: &str) -> String {
    let clean = report::clean_text(text);
    match clean.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", clean.get(..end).unwrap_or_default()),
        None => clean,
    }
}

fn say_what_is_missing(facts: &Facts, path: &Path) {
    if !facts.is_over {
        let why = match state::is_being_written(path) {
            true => "its race is still running",
            false => "its race did not come to its end",
        };
        terminal::say!("{}: {why}; what it holds so far is shared", escaped_path(path));
    }
    if facts.is_cut_off {
        terminal::say!("{}: its last line is incomplete and is left out", escaped_path(path));
    }
    if facts.unknown_lines > 0 {
        terminal::say!(
            "{}: lines of kinds that this version does not know are left out: {}",
            escaped_path(path),
            facts.unknown_lines
        );
    }
}

/// Writes one of the shared records into a new file; what could not be written whole is removed.
fn write(sharing: &mut Sharing, at: usize, path: &Path) -> Result<(), Failure> {
    let file = owned::create_private(path).map_err(|error| cannot_make(path, &error))?;
    let mut out = BufWriter::new(file);
    let written = sharing
        .each_line_of(at, |line| writeln!(out, "{line}").map_err(Unwritten::Disk))
        .and_then(|()| out.flush().map_err(Unwritten::Disk));
    written.map_err(|why| {
        let (shown, left) = (escaped_path(path), take_back(path));
        Failure::failed(match why {
            Unwritten::Disk(error) => {
                format!("cannot write {shown}: {error}; free space, or name another file with -o{left}")
            }
            Unwritten::Refused(error) => format!("{shown} was not written: {error}{left}"),
        })
    })
}

/// Removes what was written, and answers what is to be said where it stays.
fn take_back(path: &Path) -> String {
    match owned::remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let shown = escaped_path(path);
            format!("; {shown} was written and cannot be removed ({}), so remove it", owned::plain(&error))
        }
        _ => String::new(),
    }
}

/// Why a shared record was not written.
enum Unwritten {
    Disk(std::io::Error),
    Refused(ShareError),
}

impl From<ShareError> for Unwritten {
    fn from(error: ShareError) -> Self {
        Unwritten::Refused(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_called_by_account_and_person() {
        let lines = "root:x:0:0:root:/root:/bin/sh\nali:x:1000:1000:Alice Ex,Room 1,,:/home/ali:/bin/sh\nbare:x:7\n";
        assert_eq!(in_passwd(lines, 1000), ["ali", "Alice Ex"]);
        assert_eq!(in_passwd(lines, 7), ["bare"]);
        assert!(in_passwd(lines, 8).is_empty() && in_passwd("", 0).is_empty());
    }

    #[test]
    fn what_cannot_be_taken_back_is_said() {
        let place = tempfile::tempdir().unwrap();
        let (file, folder) = (place.path().join("file"), place.path().join("folder"));
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir(&folder).unwrap();
        assert_eq!((take_back(&file), take_back(&place.path().join("none"))), (String::new(), String::new()));
        assert!(!file.exists());
        let said = take_back(&folder);
        let begin = format!("; {} was written and cannot be removed (", escaped_path(&folder));
        assert!(said.starts_with(&begin) && said.ends_with("), so remove it"), "{said}");
    }

    #[test]
    fn what_is_shown_is_short_and_clean() {
        assert_eq!(short("a\u{1b}[2Jb"), report::clean_text("a\u{1b}[2Jb"));
        assert_eq!(short(&"文".repeat(1000)).chars().count(), MOST_CHARACTERS + 1);
        assert_eq!(default_output(Path::new("/x/r.jsonl")), Path::new("r-shared.jsonl"));
        assert!(default_output(Path::new("./-")).to_string_lossy().starts_with("./-"));
    }
}
