//! Reading a journal back: whatever lies in the folder of journals, in bounded memory, and past lines that are torn.

use crate::failure::{LaneFailure, cannot, failed};
use crate::undo::{Detail, Entry, Owner, Thing};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The largest journal that is read: a lane that is opened a million times.
const MOST_BYTES: u64 = 256 << 20;
/// The longest line: two paths of the longest sort, each byte written as an escape.
const MOST_LINE_BYTES: u64 = 64 << 10;
/// The most things that stand at one time, and the most that are named.
const MOST_THINGS: usize = 16 << 10;
/// How every line begins. Quotes inside of a text are escaped, so that nothing else does.
const BEGINNING: &str = "{\"entry\":\"";

/// A journal, read back.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) owner: Owner,
    pub(super) kept: bool,
    /// What was not reported undone, by number.
    pub(super) open: BTreeMap<u64, (Thing, Option<Detail>)>,
    /// What only another version of Fairlane knows how to undo, by number: its name.
    pub(super) unknown: BTreeMap<u64, String>,
    /// Where the last whole line ends.
    pub(super) length: u64,
}

impl Claims {
    /// The number of the next entry.
    pub(super) fn next(&self) -> u64 {
        let last = self.open.keys().chain(self.unknown.keys()).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
}

/// Opens a journal to read and, where the disk takes writes, to write; `None`: another command cleaned it
/// meanwhile.
///
/// # Errors
/// [`LaneFailure::Failed`] where it is none of ours.
pub(super) fn open(path: &Path) -> Result<Option<File>, LaneFailure> {
    let cannot_open = |error: std::io::Error| cannot(format!("open the undo journal {}", path.display()), error);
    let none_of_ours = |why: &str| {
        failed(format!("{} {why}, so it is no undo journal of Fairlane's; remove it from that folder", path.display()))
    };
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_open(error)),
    };
    if !metadata.is_file() {
        let kind = metadata.file_type();
        return Err(none_of_ours(match () {
            () if kind.is_symlink() => "is a symbolic link",
            () if kind.is_dir() => "is a folder",
            () if kind.is_fifo() => "is a pipe",
            () => "is no ordinary file",
        }));
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = |write: bool| OpenOptions::new().read(true).write(write).custom_flags(flags).open(path);
    let file = match opened(true) {
        Err(error) if error.raw_os_error() == Some(libc::EROFS) => opened(false),
        other => other,
    };
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_open(error)),
    };
    let metadata = file.metadata().map_err(cannot_open)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.permissions().mode() & 0o022 != 0 {
        return Err(none_of_ours("could be written by somebody else"));
    }
    match metadata.is_file() && metadata.len() <= MOST_BYTES {
        true => Ok(Some(file)),
        false => Err(none_of_ours("is larger than any journal")),
    }
}

/// Reads a journal from its beginning; `None`: it does not begin as one.
///
/// # Errors
/// That of the disk.
pub(super) fn read(file: &File) -> std::io::Result<Option<Claims>> {
    let mut file = file;
    std::io::Seek::rewind(&mut file)?;
    parse(&mut BufReader::new(file.take(MOST_BYTES)))
}

fn parse(text: &mut dyn BufRead) -> std::io::Result<Option<Claims>> {
    let mut line = Vec::new();
    let mut length = 0;
    let Some(Ok(Entry::Owner(owner))) = next_line(text, &mut line, &mut length)?.map(|()| entry(&line)) else {
        return Ok(None);
    };
    let mut claims = Claims { owner, kept: false, open: BTreeMap::new(), unknown: BTreeMap::new(), length };
    while next_line(text, &mut line, &mut claims.length)?.is_some() {
        take_in(&line, &mut claims);
        if claims.open.len() + claims.unknown.len() > MOST_THINGS {
            return Ok(None);
        }
    }
    Ok(Some(claims))
}

/// The next whole line, what is longer than any is shortened; `None`: there is none. A line without its end was
/// being written at the death: its thing was not made.
fn next_line(text: &mut dyn BufRead, line: &mut Vec<u8>, length: &mut u64) -> std::io::Result<Option<()>> {
    line.clear();
    let mut bytes = text.take(MOST_LINE_BYTES).read_until(b'\n', line)? as u64;
    while line.last() != Some(&b'\n') {
        let part = text.fill_buf()?;
        if part.is_empty() {
            return Ok(None);
        }
        let end = part.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(part.len(), |end| end + 1);
        text.consume(used);
        bytes += used as u64;
        if end.is_some() {
            line.push(b'\n');
        }
    }
    *length += bytes;
    Ok(Some(()))
}

fn entry(line: &[u8]) -> Result<Entry, serde_json::Error> {
    serde_json::from_slice(line)
}

/// A line, or the whole one behind a torn one: earlier versions did not take half a line back, and the next ran
/// into it.
fn take_in(line: &[u8], claims: &mut Claims) {
    let mut rest = line;
    loop {
        match entry(rest) {
            Ok(Entry::Will { id, thing }) => drop(claims.open.insert(id, (thing, None))),
            Ok(Entry::Learned { id, detail }) => {
                if let Some((_, known)) = claims.open.get_mut(&id) {
                    *known = Some(detail);
                }
            }
            Ok(Entry::Done { id }) => {
                claims.open.remove(&id);
                claims.unknown.remove(&id);
            }
            Ok(Entry::Keep) => claims.kept = true,
            Ok(Entry::Owner(_)) => {}
            Err(_) => match unknown(rest) {
                Some((id, thing)) => drop(claims.unknown.insert(id, thing)),
                None => {
                    let later = rest.windows(BEGINNING.len()).skip(1).position(|at| at == BEGINNING.as_bytes());
                    let Some(later) = later else { return };
                    rest = &rest[later + 1..];
                    continue;
                }
            },
        }
        return;
    }
}

/// A promise of a thing that this version does not know.
fn unknown(line: &[u8]) -> Option<(u64, String)> {
    let line: serde_json::Value = serde_json::from_slice(line).ok()?;
    (line.get("entry")?.as_str()? == "will").then_some(())?;
    let thing: String = line.get("thing")?.as_str()?.chars().filter(char::is_ascii_graphic).take(32).collect();
    Some((line.get("id")?.as_u64()?, thing))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &str = "{\"entry\":\"owner\",\"run_id\":\"r\",\"pid\":1,\"start_ticks\":2,\"boot_id\":\"b\"}\n";

    fn read_claims(text: &str) -> Option<Claims> {
        parse(&mut text.as_bytes()).unwrap()
    }

    fn will(id: u64) -> String {
        format!("{{\"entry\":\"will\",\"id\":{id},\"thing\":\"loop\",\"backing\":\"/b\"}}\n")
    }

    fn open(text: &str) -> Vec<u64> {
        read_claims(text).unwrap().open.into_keys().collect()
    }

    #[test]
    fn a_torn_last_line_was_never_made() {
        let whole = format!("{OWNER}{}{}{{\"entry\":\"done\",\"id\":0}}\n", will(0), will(1));
        let text = format!("{whole}{}", will(2).trim_end());
        assert_eq!(open(&text), [1]);
        assert_eq!(read_claims(&text).unwrap().length, whole.len() as u64);
        assert!(read_claims("").is_none() && read_claims("{}\n").is_none() && read_claims(OWNER.trim_end()).is_none());
    }

    #[test]
    fn a_torn_line_hides_no_other_wherever_it_is_cut() {
        let (torn, next) = (will(1), will(2));
        for cut in 0..torn.len() {
            let text = format!("{OWNER}{}{}{next}{}", will(0), &torn[..cut], will(3));
            let found = open(&text);
            let whole: &[u64] = if cut + 1 == torn.len() { &[0, 1, 2, 3] } else { &[0, 2, 3] };
            // A promise that lacks but its line end runs into the next; that one counts.
            assert!(found == whole || found == [0, 2, 3], "{cut}: {found:?}");
        }
        for rubbish in
            ["\0\0\0\n", "\u{fffd}\n", "{\"entry\":\"\n", "\n\n", "{\"entry\":\"{\"entry\":\"{\"entry\":\"\n"]
        {
            assert_eq!(open(&format!("{OWNER}{rubbish}{}", will(5))), [5], "{rubbish:?}");
        }
    }

    #[test]
    fn a_line_of_any_length_and_any_number_of_things_is_read_in_bounded_memory() {
        let long = format!("{OWNER}{}\n{}", "x".repeat(3 * MOST_LINE_BYTES as usize), will(1));
        assert_eq!(open(&long), [1]);
        assert_eq!(read_claims(&long).unwrap().length, long.len() as u64);
        let many: String = (0..=MOST_THINGS as u64).map(will).collect();
        assert!(read_claims(&format!("{OWNER}{many}")).is_none(), "nothing of ours makes that many");
    }

    #[test]
    fn what_another_version_made_is_named_and_not_forgotten() {
        let later = "{\"entry\":\"will\",\"id\":7,\"thing\":\"moon-base\",\"path\":\"/m\"}\n";
        let claims = read_claims(&format!("{OWNER}{later}{}", will(8))).unwrap();
        assert_eq!(claims.unknown.into_iter().collect::<Vec<_>>(), [(7, "moon-base".to_owned())]);
        assert!(read_claims(&format!("{OWNER}{later}{{\"entry\":\"done\",\"id\":7}}\n")).unwrap().unknown.is_empty());
    }
}
