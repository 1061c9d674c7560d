//! What `strace -ff` writes, a file for each process: named by their folder, or by what their names begin with.

use crate::failure::Failure;
use crate::owned;
use model::text::escaped_path;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most files of one import, and names of a folder that are looked at.
pub(super) const MOST_FILES: usize = 1_000_000;

/// The process after which a file is called: `NAME.PID`.
pub(super) fn process_of(path: &Path) -> Option<u32> {
    parts(path.file_name()?).map(|(_, process)| process)
}

fn parts(name: &OsStr) -> Option<(&[u8], u32)> {
    let name = name.as_bytes();
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    let (begin, digits) = (&name[..dot], &name[dot + 1..]);
    let are_digits = !begin.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let process = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (are_digits && process > 0).then_some((begin, process))
}

/// The files that a word stands for where it is a folder, or nothing is there and files are called after it; `None`: itself.
///
/// # Errors
/// Where a folder holds none, or those of several logs.
pub(super) fn find(word: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", escaped_path(word)));
    match owned::metadata(word) {
        Ok(there) if there.is_dir() => {
            let names = owned::names_with(word, b"", MOST_FILES + 1).map_err(cannot)?;
            in_folder(word, &files(names)?).map(Some)
        }
        Ok(_) => Ok(None),
        Err(_) => {
            let Some(name) = word.file_name() else { return Ok(None) };
            let folder = word.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
            let begin = [name.as_bytes(), b"."].concat();
            // What cannot be read is named when the word itself is.
            let names = owned::names_with(folder, &begin, MOST_FILES + 1).unwrap_or_default();
            let found: Vec<OsString> = files(names)?.into_iter().filter(|of| is_called_after(of, name)).collect();
            Ok((!found.is_empty()).then(|| in_order(folder, &found)))
        }
    }
}

fn files(names: Vec<(OsString, bool)>) -> Result<Vec<OsString>, Failure> {
    match names.len() > MOST_FILES {
        true => Err(super::too_many(MOST_FILES)),
        false => Ok(names.into_iter().filter(|(_, is_folder)| !is_folder).map(|(name, _)| name).collect()),
    }
}

fn is_called_after(file: &OsStr, name: &OsStr) -> bool {
    parts(file).is_some_and(|(begin, _)| begin == name.as_bytes())
}

/// All of a folder that are called so.
fn in_folder(folder: &Path, names: &[OsString]) -> Result<Vec<PathBuf>, Failure> {
    let logs: Vec<OsString> = names.iter().filter(|name| parts(name).is_some()).cloned().collect();
    let begins: BTreeSet<&[u8]> = logs.iter().filter_map(|name| parts(name)).map(|(begin, _)| begin).collect();
    let shown = escaped_path(folder);
    match (begins.first(), begins.last()) {
        (Some(first), Some(last)) if first != last => {
            let [one, other] = [first, last].map(|begin| escaped_path(&folder.join(OsStr::from_bytes(begin))));
            Err(Failure::usage(format!(
                "{shown} holds the files of several logs; name one by what its files begin with: {one}, or {other}"
            )))
        }
        (Some(_), _) => Ok(in_order(folder, &logs)),
        _ => Err(Failure::usage(format!(
            "{shown} is a folder without files of `strace -ff`, which are called NAME.PID; name files"
        ))),
    }
}

/// By the numbers of their processes.
fn in_order(folder: &Path, names: &[OsString]) -> Vec<PathBuf> {
    let mut all: Vec<(u32, PathBuf)> =
        names.iter().map(|name| (parts(name).map_or(0, |(_, process)| process), folder.join(name))).collect();
    all.sort();
    all.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[PathBuf]) -> Vec<String> {
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn files_of_processes_are_found_by_their_folder_and_by_how_their_names_begin() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("logs");
        std::fs::create_dir_all(folder.join("a.77")).unwrap();
        for name in ["a.9", "a.100", "a.old", ".5", "a.0"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(names(&find(&folder).unwrap().unwrap()), ["a.9", "a.100"]);
        assert_eq!(names(&find(&folder.join("a")).unwrap().unwrap()), ["a.9", "a.100"]);
        assert_eq!(find(&folder.join("b")).unwrap(), None);
        assert_eq!(find(&folder.join("a.old")).unwrap(), None);
        let said = find(&folder.join("a.77")).unwrap_err().message;
        assert!(said.contains("is a folder without files of `strace -ff`"), "{said}");
        std::fs::write(folder.join("b.1"), "").unwrap();
        let said = find(&folder).unwrap_err().message;
        assert!(said.contains("several logs") && said.contains("logs/a, or ") && said.contains("logs/b"), "{said}");
        assert_eq!(names(&find(&folder.join("b")).unwrap().unwrap()), ["b.1"]);
    }

    #[test]
    fn a_file_is_called_after_its_process_where_its_name_ends_with_a_number() {
        for (path, process) in [
            ("app.1234", Some(1234)),
            ("x/app.log.7", Some(7)),
            ("app.log", None),
            ("app.", None),
            ("app.+5", None),
            ("app.99999999999", None),
            (".7", None),
            ("7", None),
        ] {
            assert_eq!(process_of(Path::new(path)), process, "{path}");
        }
    }
}
