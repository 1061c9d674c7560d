//! `fairlane share`: a record as a file that others can use, without what tells whose machine it was.

use super::outputs;
use super::report::print;
use crate::failure::Failure;
use crate::options::Share;
use crate::owner::Owner;
use crate::{owned, state, terminal};
use model::bounds::RECORD_BYTES;
use model::share::{Facts, Private, Removed, ShareError, Sharing, Sort};
use model::text::escaped_path;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Things of one sort that are listed; of more it is said how many.
const MOST_LISTED: usize = 40;
/// Characters of one of them that are shown.
const MOST_CHARACTERS: usize = 100;

/// Lists what is private in a record, and writes the rest.
///
/// # Errors
/// When the record cannot be read or is damaged, when something private would be left, or when the file is there already or
/// cannot be written.
pub fn run(options: &Share) -> Result<(), Failure> {
    let path = state::resolve(&options.record)?;
    let output = options.output.clone().unwrap_or_else(|| default_output(&path));
    if !options.dry_run {
        outputs::check(&[("-o", &output)], &[("the record", &path)])?;
        owned::check_new(&output).map_err(|error| cannot_make(&output, &error))?;
    }
    let shown = escaped_path(&path);
    let bytes = owned::read(&path, RECORD_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; name a record")))?;
    let text = String::from_utf8_lossy(&bytes);
    let refused = |error: ShareError| Failure::usage(format!("{shown}: {error}"));
    let mut sharing = Sharing::begin(&text, &private_here()).map_err(refused)?;
    sharing.each_line(|_| Ok::<_, ShareError>(())).map_err(refused)?;
    print(&listed(&sharing))?;
    say_what_is_missing(sharing.facts(), &path);
    if options.dry_run {
        return Ok(());
    }
    write(&mut sharing, &output)?;
    let words = ["fairlane", "report", &output.display().to_string()].map(str::to_owned);
    print(&format!("\nwritten to {}; what it shows: {}\n", escaped_path(&output), report::shell_line(&words)))
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
fn listed(sharing: &Sharing) -> String {
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
    for (what, private) in &sharing.facts().stays {
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
    if !facts.has_end {
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

/// Writes the shared record into a new file; what could not be written whole is removed.
fn write(sharing: &mut Sharing, path: &Path) -> Result<(), Failure> {
    let file = owned::create_private(path).map_err(|error| cannot_make(path, &error))?;
    let mut out = BufWriter::new(file);
    let written = sharing
        .each_line(|line| writeln!(out, "{line}").map_err(Unwritten::Disk))
        .and_then(|()| out.flush().map_err(Unwritten::Disk));
    written.map_err(|why| {
        let _ = owned::remove(path);
        let shown = escaped_path(path);
        match why {
            Unwritten::Disk(error) => {
                Failure::failed(format!("cannot write {shown}: {error}; free space, or name another file with -o"))
            }
            Unwritten::Refused(error) => Failure::failed(format!("{shown} was not written: {error}")),
        }
    })
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
    fn what_is_shown_is_short_and_clean() {
        assert_eq!(short("a\u{1b}[2Jb"), report::clean_text("a\u{1b}[2Jb"));
        assert_eq!(short(&"文".repeat(1000)).chars().count(), MOST_CHARACTERS + 1);
        assert_eq!(default_output(Path::new("/x/r.jsonl")), Path::new("r-shared.jsonl"));
        assert!(default_output(Path::new("./-")).to_string_lossy().starts_with("./-"));
    }
}
