//! A directory as a lane, with what is said of the server that keeps it: `[NAME=]DIRECTORY[,server=sync|async]`.

use super::{Contestant, LaneSpec, ServerAnswers};
use std::path::{Path, PathBuf};

/// Stands before the word that tells when the server answers.
const SERVER: &str = ",server=";

/// A directory that is raced as it is; `text` is the lane without its name.
///
/// # Errors
/// The word that tells nothing of a server.
pub(super) fn read<'a>(name: Option<&str>, text: &'a str) -> Result<LaneSpec, &'a str> {
    let (path, server_answers) = match text.rsplit_once(SERVER) {
        Some((path, word)) if !word.contains('/') => {
            let known = ServerAnswers::ALL.into_iter().find(|answers| answers.word() == word);
            (path, Some(known.ok_or(word)?))
        }
        // A slash behind it tells a directory that is called so.
        Some(_) | None => (text, None),
    };
    Ok(LaneSpec {
        name: name.unwrap_or(text).to_owned(),
        contestant: Contestant::Directory(PathBuf::from(path)),
        mkfs_options: Vec::new(),
        mount_options: Vec::new(),
        devices: 1,
        aged: None,
        full_percent: None,
        layers: Vec::new(),
        above: None,
        venue: None,
        server_answers,
    })
}

/// The text of a directory, without the lane's name.
pub(super) fn line(path: &Path, server_answers: Option<ServerAnswers>) -> String {
    let said = server_answers.map(|answers| format!("{SERVER}{}", answers.word()));
    format!("{}{}", path.to_string_lossy(), said.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn what_is_said_of_a_server_stands_behind_its_directory() {
        for (text, name, path, said) in [
            ("/mnt/a,server=sync", "/mnt/a,server=sync", "/mnt/a", Some(ServerAnswers::Sync)),
            ("fast=/mnt/a,server=async", "fast", "/mnt/a", Some(ServerAnswers::Async)),
            ("./,server=async", "./,server=async", "./", Some(ServerAnswers::Async)),
            ("/mnt/a,server=x/b", "/mnt/a,server=x/b", "/mnt/a,server=x/b", None),
            ("/mnt/a,server=sync/", "/mnt/a,server=sync/", "/mnt/a,server=sync/", None),
            ("/mnt/a,b@c", "/mnt/a,b@c", "/mnt/a,b@c", None),
        ] {
            let read = lane(text);
            assert_eq!((read.name.as_str(), read.server_answers), (name, said), "{text}");
            assert_eq!(read.contestant, Contestant::Directory(path.into()), "{text}");
            assert_eq!((read.to_line().as_str(), lane(&read.to_line())), (text, read.clone()), "{text}");
        }
    }

    #[test]
    fn a_word_that_no_server_knows_is_refused_with_those_that_there_are() {
        for text in ["/mnt/a,server=asynk", "a=/mnt/a,server=", "/mnt/a,server=sync,server=none"] {
            let said = text.parse::<LaneSpec>().unwrap_err().to_string();
            assert!(said.contains("server=sync or server=async"), "{said}");
        }
    }

    #[test]
    fn a_lane_that_is_no_directory_says_nothing_of_a_server() {
        assert_eq!(lane("ext4,server=sync").server_answers, None);
        let odd = LaneSpec { server_answers: Some(ServerAnswers::Sync), ..lane("ext4") };
        assert_ne!(lane(&odd.to_line()), odd, "no line makes it, so that no record can ask for it");
    }
}
