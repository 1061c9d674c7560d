//! What is private in a record, and the placeholders that stand for it in all its texts.

use super::ordinary::is_ordinary;
use super::patterns::{self, Found};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Private texts that are looked for at most; no machine and no race has more.
const MOST_KNOWN: usize = 256;
/// How often one text is looked through.
const MOST_PASSES: usize = 3;
/// Digits of a number behind what a placeholder begins with, at most.
const MOST_DIGITS: usize = 9;

/// What something private is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Which machine it was.
    Machine,
    /// Which boot of it.
    Boot,
    /// The name of a machine.
    Host,
    /// The name of a person, or of the account of one.
    User,
    /// Who built the kernel, and where: `user@host`.
    Builder,
    /// A path of a file or a folder.
    Path,
    /// A path of a device.
    Device,
    /// What the kernel calls a disk, where somebody chose the name.
    Disk,
    /// What a lane stands on, in other words than a path.
    Ground,
    /// The name of a file.
    File,
    /// A trace of a program.
    Trace,
    /// A program with its arguments.
    Command,
    /// The label of a filesystem.
    Label,
    /// The value of a mount option that names somebody or something.
    Option,
    /// A thread of some program.
    Thread,
    /// An address in a network.
    Address,
    /// A UUID, a serial number, the address of a network card.
    Identifier,
    /// An address of a person.
    Mail,
}

impl Sort {
    const ALL: [Sort; 18] = [
        Sort::Machine,
        Sort::Boot,
        Sort::Host,
        Sort::User,
        Sort::Builder,
        Sort::Path,
        Sort::Device,
        Sort::Disk,
        Sort::Ground,
        Sort::File,
        Sort::Trace,
        Sort::Command,
        Sort::Label,
        Sort::Option,
        Sort::Thread,
        Sort::Address,
        Sort::Identifier,
        Sort::Mail,
    ];

    /// What it is called: `host name`.
    pub fn words(self) -> &'static str {
        match self {
            Sort::Machine => "machine identity",
            Sort::Boot => "boot id",
            Sort::Host => "host name",
            Sort::User => "user name",
            Sort::Builder => "kernel's builder",
            Sort::Path => "path",
            Sort::Device => "device",
            Sort::Disk => "disk name",
            Sort::Ground => "place of a lane",
            Sort::File => "file name",
            Sort::Trace => "trace",
            Sort::Command => "command",
            Sort::Label => "label",
            Sort::Option => "mount option's value",
            Sort::Thread => "thread",
            Sort::Address => "network address",
            Sort::Identifier => "unique id",
            Sort::Mail => "mail address",
        }
    }

    /// What its placeholders begin with; a number follows.
    fn begin(self) -> &'static str {
        match self {
            Sort::Machine => "machine-",
            Sort::Boot => "boot-",
            Sort::Host => "host-",
            Sort::User => "user-",
            Sort::Builder => "builder-",
            Sort::Path => "/work/",
            Sort::Device => "/dev/disk-",
            Sort::Disk => "disk-",
            Sort::Ground => "ground-",
            Sort::File => "file-",
            Sort::Trace => "trace-",
            Sort::Command => "command-",
            Sort::Label => "label-",
            Sort::Option => "value-",
            Sort::Thread => "thread-",
            Sort::Address => "address-",
            Sort::Identifier => "id-",
            Sort::Mail => "mail-",
        }
    }

    /// Whether it is a name, which may be an ordinary word, and whose case says nothing.
    fn is_name(self) -> bool {
        matches!(self, Sort::Host | Sort::User)
    }

    fn is_path(self) -> bool {
        matches!(self, Sort::Path | Sort::Device)
    }
}

/// Something private that is known beforehand, and looked for in all texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Private {
    /// What it is.
    pub sort: Sort,
    /// It itself.
    pub text: String,
}

/// Something private that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// What it is.
    pub sort: Sort,
    /// It itself.
    pub text: String,
    /// In how many places it stood.
    pub places: u64,
}

struct Known {
    sort: Sort,
    text: String,
}

struct Entry {
    placeholder: String,
    places: u64,
}

/// What is found at the beginning of a text.
struct Find {
    bytes: usize,
    /// What it is, and what it is known as; `None`: it may stay.
    private: Option<(Sort, String)>,
}

/// Replaces what is private in texts: each distinct text by one placeholder, whatever it stands in.
pub(super) struct Shield {
    /// The longest first.
    known: Vec<Known>,
    entries: BTreeMap<(Sort, String), Entry>,
    issued: BTreeSet<String>,
    /// Of these what stands for itself.
    kept: BTreeSet<String>,
    next: BTreeMap<Sort, u64>,
    /// Words of the record itself that no person chose.
    own: BTreeSet<String>,
    ordinary: Vec<Private>,
}

impl Shield {
    /// `texts`: all of the files, whose own words no placeholder may be.
    pub(super) fn new(texts: &[&str]) -> Shield {
        let free = |sort: &Sort| texts.iter().map(|text| first_free(text, sort.begin())).max().unwrap_or(1);
        Shield {
            known: Vec::new(),
            entries: BTreeMap::new(),
            issued: BTreeSet::new(),
            kept: BTreeSet::new(),
            next: Sort::ALL.iter().map(|sort| (*sort, free(sort))).collect(),
            own: BTreeSet::new(),
            ordinary: Vec::new(),
        }
    }

    /// Words of a text that no person chose: who is called so is not to be told from them.
    pub(super) fn own_words(&mut self, text: &str) {
        let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        self.own.extend(words.map(str::to_lowercase));
    }

    /// Looks for a text in all others from here on. `instead`: what stands for it; `None`: a placeholder of its sort.
    pub(super) fn know(&mut self, sort: Sort, text: &str, instead: Option<String>) {
        let text = text.trim();
        let private = Private { sort, text: text.to_owned() };
        if sort.is_name() && is_ordinary(text, &self.own) {
            if !text.is_empty() && !self.ordinary.contains(&private) {
                self.ordinary.push(private);
            }
            return;
        }
        if text.len() < 2 || self.known.len() >= MOST_KNOWN || self.known.iter().any(|known| known.text == text) {
            return;
        }
        if let Some(placeholder) = instead {
            self.entries.insert((sort, text.to_owned()), Entry { placeholder, places: 0 });
        }
        self.known.push(Known { sort, text: text.to_owned() });
        self.known.sort_by_key(|known| Reverse(known.text.len()));
    }

    /// What stands for a whole text, which is private.
    pub(super) fn stand_in(&mut self, sort: Sort, text: &str) -> String {
        self.stand_in_as(sort, text, None)
    }

    /// The same, under a name of the caller's where it is free.
    pub(super) fn stand_in_as(&mut self, sort: Sort, text: &str, wish: Option<String>) -> String {
        let key = (sort, text.to_owned());
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.places += 1;
            return entry.placeholder.clone();
        }
        let wish = wish.filter(|wish| !self.issued.contains(wish));
        let placeholder = wish.unwrap_or_else(|| self.number(sort));
        self.issued.insert(placeholder.clone());
        self.entries.insert(key, Entry { placeholder: placeholder.clone(), places: 1 });
        placeholder
    }

    /// Lets a text stand that looks private and is not, as if it were a placeholder. `false`: it is one for something else.
    pub(super) fn keep(&mut self, text: &str) -> bool {
        self.kept.contains(text) || (self.issued.insert(text.to_owned()) && self.kept.insert(text.to_owned()))
    }

    /// Whether a text is a placeholder, or stands as if it were one.
    pub(super) fn is_issued(&self, text: &str) -> bool {
        self.issued.contains(text)
    }

    /// The next placeholder of a sort.
    fn number(&mut self, sort: Sort) -> String {
        let next = self.next.entry(sort).or_insert(1);
        let placeholder = format!("{}{next}", sort.begin());
        *next += 1;
        placeholder
    }

    /// A text without what is private in it.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut clean = self.replaced(text);
        // What stands behind a placeholder may make something of it that looks private again.
        for _ in 0..MOST_PASSES {
            if self.left(&clean).is_none() {
                return clean;
            }
            clean = self.replaced(&clean);
        }
        match self.left(&clean) {
            None => clean,
            Some(_) => self.stand_in(Sort::Identifier, &clean),
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let (mut at, mut before) = (0, None);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Find { bytes, private } = self.next_piece(rest, before);
            let piece = rest.get(..bytes).unwrap_or(rest);
            match private {
                Some((sort, known)) if !self.issued.contains(piece) => clean.push_str(&self.stand_in(sort, &known)),
                _ => clean.push_str(piece),
            }
            before = piece.chars().next_back();
            at += piece.len();
        }
        clean
    }

    /// The first thing in a text that is private and no placeholder, with what it is.
    pub(super) fn left(&self, text: &str) -> Option<Private> {
        let (mut at, mut before) = (0, None);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Find { bytes, private } = self.next_piece(rest, before);
            let piece = rest.get(..bytes).unwrap_or(rest);
            if let Some((sort, _)) = private
                && !self.issued.contains(piece)
            {
                return Some(Private { sort, text: piece.to_owned() });
            }
            before = piece.chars().next_back();
            at += piece.len();
        }
        None
    }

    /// What was replaced, by what it is.
    pub(super) fn removed(&self) -> Vec<Removed> {
        let counted = self.entries.iter().filter(|(_, entry)| entry.places > 0);
        counted.map(|((sort, text), entry)| Removed { sort: *sort, text: text.clone(), places: entry.places }).collect()
    }

    /// Names that are ordinary words, and were looked for nowhere.
    pub(super) fn ordinary(&self) -> &[Private] {
        &self.ordinary
    }

    /// Counts places anew, with the same placeholders.
    pub(super) fn count_anew(&mut self) {
        self.entries.values_mut().for_each(|entry| entry.places = 0);
    }

    /// What begins a text: something private, or a piece of one character and more that may stay.
    fn next_piece(&self, rest: &str, before: Option<char>) -> Find {
        let looks = patterns::find(rest, before).filter(|found| found.bytes > 0);
        let known = self.known_at(rest, before);
        let longer = |bytes: usize| looks.is_none_or(|found| found.bytes <= bytes);
        if let Some((bytes, sort, text)) = known.filter(|(bytes, ..)| *bytes > 0 && longer(*bytes)) {
            return Find { bytes, private: Some((sort, text)) };
        }
        match looks {
            Some(Found { bytes, sort }) => {
                let text = rest.get(..bytes).unwrap_or(rest).to_owned();
                Find { bytes, private: sort.map(|sort| (sort, text)) }
            }
            None => Find { bytes: rest.chars().next().map_or(1, char::len_utf8), private: None },
        }
    }

    /// The longest of what is known that a text begins with: its length there, and what it is known as.
    fn known_at(&self, rest: &str, before: Option<char>) -> Option<(usize, Sort, String)> {
        let first = rest.as_bytes().first()?.to_ascii_lowercase();
        let begins = |known: &&Known| known.text.as_bytes().first().map(u8::to_ascii_lowercase) == Some(first);
        self.known.iter().filter(begins).find_map(|known| {
            let bytes = known.text.len();
            let (there, behind) = (rest.get(..bytes)?, rest.get(bytes..)?);
            let is_it =
                if known.sort.is_name() { there.eq_ignore_ascii_case(&known.text) } else { there == known.text };
            if !is_it || !stands_alone(&known.text, before, behind.chars().next()) {
                return None;
            }
            // What lies below a known folder is another path.
            let below = if known.sort.is_path() { patterns::below(&known.text, behind) } else { 0 };
            let text = if below > 0 { rest.get(..bytes + below)? } else { known.text.as_str() };
            Some((bytes + below, known.sort, text.to_owned()))
        })
    }
}

/// Whether letters and digits of a text end where it ends.
fn stands_alone(text: &str, before: Option<char>, after: Option<char>) -> bool {
    let joins = |own: Option<char>, other: Option<char>| {
        own.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    !joins(text.chars().next(), before) && !joins(text.chars().next_back(), after)
}

/// The first number that stands nowhere in a text behind what a placeholder begins with.
fn first_free(text: &str, begin: &str) -> u64 {
    let number = |(at, _): (usize, &str)| {
        let behind = text.get(at + begin.len()..)?;
        let digits = behind.bytes().take(MOST_DIGITS).take_while(u8::is_ascii_digit).count();
        behind.get(..digits)?.parse::<u64>().ok()
    };
    text.match_indices(begin).filter_map(number).max().map_or(1, |most| most + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shield() -> Shield {
        let mut shield = Shield::new(&["disk-7 is a disk of this text", "disk-3 is one of another"]);
        shield.know(Sort::Host, "box", None);
        shield.know(Sort::User, "alice", None);
        shield.know(Sort::User, "root", None);
        shield.know(Sort::Path, "/home/alice/my work", None);
        shield
    }

    #[test]
    fn names_are_replaced_as_whole_words_and_alike() {
        let mut shield = shield();
        assert_eq!(shield.text("alice on BOX: alice_data, box-1"), "user-1 on host-1: user-1_data, host-1-1");
        assert_eq!(shield.text("malice, boxes and root"), "malice, boxes and root");
        let removed = shield.removed();
        assert_eq!(removed.len(), 2);
        assert_eq!(removed[0], Removed { sort: Sort::Host, text: "box".into(), places: 2 });
        assert_eq!(shield.ordinary(), [Private { sort: Sort::User, text: "root".into() }]);
    }

    #[test]
    fn a_known_path_is_known_with_its_blanks_and_what_lies_below_it_is_another() {
        let mut shield = shield();
        assert_eq!(
            shield.text("in /home/alice/my work, and again in /home/alice/my work"),
            "in /work/1, and again in /work/1"
        );
        assert_eq!(shield.text("/home/alice/my work/a: no"), "/work/2: no");
        assert_eq!(shield.text("/work/1 and /work/2 stay"), "/work/1 and /work/2 stay");
        assert_eq!(shield.left("/work/1 and /work/2 stay"), None);
        let left = shield.left("but /work/3 does not").map(|left| (left.sort, left.text));
        assert_eq!(left, Some((Sort::Path, "/work/3".to_owned())));
    }

    #[test]
    fn no_placeholder_is_a_word_of_the_record() {
        let mut shield = shield();
        assert_eq!(shield.stand_in(Sort::Disk, "alices-disk"), "disk-8");
        assert_eq!(shield.stand_in(Sort::Disk, "alices-disk"), "disk-8");
        assert_eq!(shield.stand_in(Sort::Disk, "another"), "disk-9");
        assert_eq!(shield.stand_in_as(Sort::File, "/x/a.toml", Some("./a.toml".into())), "./a.toml");
        assert_eq!(shield.stand_in_as(Sort::File, "/y/a.toml", Some("./a.toml".into())), "file-1");
    }

    #[test]
    fn what_follows_a_placeholder_makes_nothing_private_of_it() {
        let mut shield = shield();
        for text in ["00:16:3e:12:34:56@x.org", "/home/alice/my work@x.org", "'/home/alice/my work'/x", "::1@x.org"] {
            let clean = shield.text(text);
            assert_eq!(shield.left(&clean), None, "{text}: {clean}");
            assert_eq!(shield.text(&clean), clean);
        }
    }
}
