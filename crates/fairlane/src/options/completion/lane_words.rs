//! What a word of a lane may become: filesystems, states, layers and venues, each behind its own sign.

use super::{begun, files};
use lanes::filesystems::{FILESYSTEMS, Home};
use model::stack::{DEGRADED, REBUILDING};

/// Where lanes live that name neither a device nor a folder.
const VENUES: [&str; 4] = ["image", "uml", "qemu", "library"];
/// How full a lane is as an example says it.
const FULL: &str = "full=90%";

/// The part of a lane that is being typed.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Filesystem(&'a str),
    State(&'a str),
    Layer(&'a str),
    Venue(&'a str),
    /// Options and numbers, which filesystems know and this table does not.
    Other,
}

/// The names of filesystems that can be raced.
pub(super) fn filesystems() -> Vec<String> {
    FILESYSTEMS.iter().map(|row| row.name.to_owned()).collect()
}

/// What a lane may become.
pub(super) fn lane(typed: &str) -> Vec<String> {
    let body = behind_name(typed);
    let name = typed.strip_suffix(body).unwrap_or_default();
    if is_path(body) && !body.contains(['@', '+']) {
        return files(name, body, &["toml"]);
    }
    match part(body) {
        Part::Filesystem(word) => behind(typed, word, filesystems()),
        Part::State(word) => states(typed, word),
        Part::Layer(word) => behind(typed, word, lanes::layer_words()),
        Part::Venue(place) if is_path(place) => files(typed.strip_suffix(place).unwrap_or_default(), place, &[]),
        Part::Venue(word) => behind(typed, word, venues(body)),
        Part::Other => Vec::new(),
    }
}

/// What `--state` may become.
pub(super) fn state(typed: &str) -> Vec<String> {
    let word = typed.rfind('+').and_then(|at| typed.get(at + 1..)).unwrap_or(typed);
    let mut found = begun(typed, [DEGRADED, REBUILDING].map(str::to_owned));
    found.extend(states(typed, word));
    found
}

/// Behind the `=` of `NAME=`, which stands before any sign of the lane itself.
fn behind_name(typed: &str) -> &str {
    match typed.find(['=', ',', '(', '@', '/', '+']) {
        Some(at) if typed.as_bytes().get(at) == Some(&b'=') => typed.get(at + 1..).unwrap_or_default(),
        _ => typed,
    }
}

fn is_path(text: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|begin| text.starts_with(begin))
}

/// Which part of a lane without its name is being typed.
fn part(body: &str) -> Part<'_> {
    let (mut depth, mut sign) = (0_usize, None);
    for (at, character) in body.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // A path that is a venue holds what it likes.
            '+' | '/' | '@' if depth == 0 && !matches!(sign, Some((_, '@'))) => sign = Some((at, character)),
            _ => {}
        }
    }
    let behind = |at: usize| body.get(at + 1..).unwrap_or_default();
    match sign {
        _ if depth > 0 => Part::Other,
        None if body.contains([',', ':', ')']) => Part::Other,
        None => Part::Filesystem(body),
        Some((at, '+')) => Part::State(behind(at)),
        Some((at, '/')) => Part::Layer(behind(at)),
        Some((at, _)) => Part::Venue(behind(at)),
    }
}

/// The states that a lane is not told yet.
fn states(typed: &str, word: &str) -> Vec<String> {
    let before = typed.strip_suffix(word).unwrap_or_default();
    let is_told = |state: &str| before.split('+').any(|told| told.starts_with(state));
    let mut words = Vec::new();
    if !is_told("aged") {
        words.push("aged".to_owned());
        words.extend(aging::profile::names().iter().map(|profile| format!("aged={profile}")));
    }
    if !is_told("full=") {
        words.push(FULL.to_owned());
    }
    behind(typed, word, words)
}

/// The venues of a lane; a library has filesystems of its own.
fn venues(body: &str) -> Vec<String> {
    let is_library =
        FILESYSTEMS.iter().any(|row| matches!(row.home, Home::Library) && body.starts_with(&format!("{}@", row.name)));
    VENUES.iter().filter(|venue| is_library == (**venue == "library")).map(|venue| (*venue).to_owned()).collect()
}

/// Words that the last part may become, with all that stands before it.
fn behind(typed: &str, word: &str, words: impl IntoIterator<Item = String>) -> Vec<String> {
    let before = typed.strip_suffix(word).unwrap_or_default();
    begun(word, words).into_iter().map(|found| format!("{before}{found}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_lane_is_known_by_the_sign_before_it() {
        for (body, wanted) in [
            ("", Part::Filesystem("")),
            ("xf", Part::Filesystem("xf")),
            ("ext4+", Part::State("")),
            ("ext4,noatime+aged=gi", Part::State("aged=gi")),
            ("ext4+aged+full", Part::State("full")),
            ("ext4/raid5:3/cr", Part::Layer("cr")),
            ("btrfs(-d raid1 -m raid1)/th", Part::Layer("th")),
            ("ext4@", Part::Venue("")),
            ("ext4@/dev/sd", Part::Venue("/dev/sd")),
            ("ext4,no", Part::Other),
            ("ext4(-O ^x/y", Part::Other),
            ("ext4:", Part::Other),
            ("文é@u", Part::Venue("u")),
        ] {
            assert_eq!(part(body), wanted, "{body}");
        }
    }

    #[test]
    fn a_lane_becomes_what_its_grammar_takes() {
        assert_eq!(lane("xf"), ["xfs"]);
        assert_eq!(lane("lean=xf"), ["lean=xfs"]);
        assert_eq!(lane("ext4+aged=g"), ["ext4+aged=git"]);
        assert_eq!(lane("old=ext4+aged=git+f"), ["old=ext4+aged=git+full=90%"]);
        assert_eq!(lane("ext4+full=90%+aged=gi"), ["ext4+full=90%+aged=git"]);
        assert_eq!(lane("ext4/raid5"), ["ext4/raid5:3"]);
        assert_eq!(lane("ext4/raid1:2/cry"), ["ext4/raid1:2/crypt"]);
        assert_eq!(lane("jfs@u"), ["jfs@uml"]);
        assert_eq!(lane("rsext4@"), ["rsext4@library"]);
        assert_eq!(state("deg"), ["degraded"]);
        assert_eq!(state("aged=git+f"), ["aged=git+full=90%"]);
        assert!(lane("ext4,no").is_empty() && lane("ext4+aged+aged").is_empty());
        let all = lane("");
        assert!(FILESYSTEMS.iter().all(|row| all.iter().any(|name| name == row.name)), "{all:?}");
        // What is told can be raced, as far as its grammar goes.
        for told in [lane(""), lane("ext4+"), lane("ext4/"), lane("ext4@")].concat() {
            assert!(told.parse::<model::lane::LaneSpec>().is_ok(), "{told}");
        }
    }
}
