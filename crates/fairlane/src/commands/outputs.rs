//! Files that a command writes: none of them is another one of them, or something that the command reads.

use crate::failure::Failure;
use crate::owned;
use model::text::escaped_path;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file with what messages call it: the option that names it, or what it is.
pub type Called<'a> = (&'a str, &'a Path);

/// What a path stands for, however it is spelled.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Something that is there: by a link or a hard link, too.
    There(u64, u64),
    /// A name in a folder.
    Name(u64, u64, OsString),
}

/// Refuses, before anything is done, what would be written over.
///
/// # Errors
/// Exit status 2, with both names.
pub fn check(outputs: &[Called], inputs: &[Called]) -> Result<(), Failure> {
    for (index, (option, output)) in outputs.iter().enumerate() {
        let same = |(_, other): &&Called| is_same(output, other);
        if let Some((other, _)) = outputs[..index].iter().find(same) {
            return Err(Failure::usage(format!(
                "{option} {} is the same file as that of {other}; name another",
                escaped_path(output)
            )));
        }
        if let Some((what, _)) = inputs.iter().find(same) {
            return Err(Failure::usage(format!(
                "{option} {}: it is {what} itself; name another file",
                escaped_path(output)
            )));
        }
    }
    Ok(())
}

fn is_same(a: &Path, b: &Path) -> bool {
    identity(a).is_some_and(|a| identity(b).is_some_and(|b| a == b))
}

/// `None`: what is no regular file may be named as often as somebody likes, and what cannot be looked at is refused where it
/// is written.
fn identity(path: &Path) -> Option<Identity> {
    let looked = owned::as_owner(|| {
        Ok(match std::fs::metadata(path) {
            Ok(of) => of.is_file().then(|| Identity::There(of.dev(), of.ino())),
            Err(_) => {
                // A link to nothing yet: what it names will be made.
                let target = std::fs::read_link(path).ok();
                let path = target.map_or_else(|| path.to_owned(), |target| path.parent().unwrap_or(path).join(target));
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let of = std::fs::metadata(folder)?;
                path.file_name().map(|name| Identity::Name(of.dev(), of.ino(), name.to_owned()))
            }
        })
    });
    looked.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_known_under_every_name_that_it_has() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("real"), "").unwrap();
        std::fs::hard_link(at("real"), at("hard")).unwrap();
        symlink("real", at("soft")).unwrap();
        symlink(".", at("round")).unwrap();
        symlink("new", at("to-new")).unwrap();
        for (a, b) in [
            ("real", "real"),
            ("real", "hard"),
            ("soft", "hard"),
            ("sub/../real", "./real"),
            ("round/real", "soft"),
            ("new", "new"),
            ("new", "sub/../new"),
            ("round/./new", "new"),
            ("to-new", "round/new"),
        ] {
            assert!(is_same(&at(a), &at(b)), "{a} {b}");
            let refused = check(&[("-o", &at(a)), ("--output", &at(b))], &[]).unwrap_err();
            assert!(refused.message.contains("-o"), "{}", refused.message);
            assert!(check(&[("-o", &at(a))], &[("the job file", &at(b))]).is_err());
        }
        for (a, b) in [("real", "new"), ("new", "other"), ("sub/new", "new"), ("no/new", "no/new")] {
            assert!(check(&[("-o", &at(a)), ("--output", &at(b))], &[]).is_ok(), "{a} {b}");
        }
        let null = Path::new("/dev/null");
        assert!(check(&[("-o", null), ("--output", null)], &[]).is_ok());
    }
}
