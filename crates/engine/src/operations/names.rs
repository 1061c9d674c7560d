//! What files and directories are called, in a buffer that is written anew for each.

use model::operations::{FileSet, Names, Operations};
use std::ffi::CStr;

/// The folder of a lane in which all operations work.
pub(crate) const TOP: &str = "fairlane-operations";
/// Room for any path: what `Operations::check` lets through is shorter.
const PATH_BYTES: usize = 4096;
/// Bytes of the longest name that filesystems take.
const LONGEST_NAME: usize = 255;

/// First letter of a file's name.
pub(crate) const FILE: u8 = b'f';
/// Of a file renamed an odd number of times.
pub(crate) const RENAMED: u8 = b'r';
/// Of a hard link.
pub(crate) const LINK: u8 = b'l';
/// Of a symbolic link.
pub(crate) const SYMLINK: u8 = b's';
/// Of a copy.
pub(crate) const COPY: u8 = b'c';
/// Of a directory.
pub(crate) const DIRECTORY: u8 = b'd';

/// What surrounds letter and number of a hostile name, in turn; none holds nine digits in a row.
const HOSTILE: [(&str, &str); 8] = [
    // Filled to 255 bytes.
    ("", "w"),
    ("имя-文件-όνομα-ملف-ファイル-", "-é🦀\u{202e}"),
    ("  two  spaces ", " at both ends  "),
    ("-rf --", ""),
    ("new\nline\n", "\n"),
    ("back\\slash\\", "\\n\\"),
    ("\u{1}\u{1b}[31m\t\u{7f}", "\r\u{8}"),
    ("*?\"'$(id)`id`;&|<>#~[!", "}{%s%n"),
];

/// How one set names its files.
#[derive(Debug, Clone)]
pub(crate) struct SetNames {
    folder: Vec<u8>,
    hostile: bool,
    /// Tells the sets of a shared folder apart: none, or two letters.
    mark: Option<[u8; 2]>,
    digits: usize,
    name_bytes: usize,
    set: FileSet,
    /// What numbers of files begin at in their names.
    base: u64,
    /// Files of all clients who share the directories; `None`: they are one client's own.
    of_all: Option<u64>,
}

impl SetNames {
    pub(crate) fn new(operations: &Operations, index: usize) -> Self {
        let set = &operations.files[index];
        let mark = [b'a' + (index / 26 % 26) as u8, b'a' + (index % 26) as u8];
        assert!(set.folder.as_ref().is_none_or(|folder| !folder.contains('\0')), "the check refuses such folders");
        SetNames {
            // Of equal length, and never the same as a folder that somebody names.
            folder: match &set.folder {
                Some(folder) => format!("folder-{folder}").into_bytes(),
                None => format!("set-{index:03}").into_bytes(),
            },
            hostile: set.names == Names::Hostile,
            mark: operations.shares_folder(set).then_some(mark),
            digits: operations.digits(set) as usize,
            name_bytes: set.name_bytes as usize,
            set: set.clone(),
            base: 0,
            of_all: None,
        }
    }

    /// The names of one of several clients who share the directories: its files are numbered behind those of the clients
    /// before it.
    pub(crate) fn of_client(mut self, client: u32, of: u32) -> Self {
        (self.base, self.of_all) = (self.set.count * u64::from(client), Some(self.set.count * u64::from(of)));
        self
    }

    /// The folder of the set, below [`TOP`].
    pub(crate) fn folder(&self) -> &[u8] {
        &self.folder
    }

    /// Whether files lie in the folder itself.
    pub(crate) fn is_flat(&self) -> bool {
        self.set.directories == 1
    }

    /// Appends the path of a directory of the set.
    fn push_directory(&self, directory: u64, path: &mut Vec<u8>) {
        match self.set.parent_of(directory) {
            Some(parent) => self.push_directory(parent, path),
            None => path.extend_from_slice(&self.folder),
        }
        if !self.is_flat() {
            path.push(b'/');
            self.push_name(DIRECTORY, directory, path);
        }
    }

    /// Appends the name of a file (or directory).
    pub(crate) fn push_name(&self, letter: u8, number: u64, name: &mut Vec<u8>) {
        let base = if letter == DIRECTORY { 0 } else { self.base };
        self.push_numbered(letter, base + number, name);
    }

    /// The same, with the number as it stands in the name.
    fn push_numbered(&self, letter: u8, number: u64, name: &mut Vec<u8>) {
        let begin = name.len();
        let (before, after) = if self.hostile { HOSTILE[(number % HOSTILE.len() as u64) as usize] } else { ("", "x") };
        name.extend_from_slice(before.as_bytes());
        name.push(letter);
        let (mark, digits) = if letter == DIRECTORY { (None, 9) } else { (self.mark, self.digits) };
        name.extend(mark.iter().flatten());
        let at = name.len();
        name.resize(at + digits, b'0');
        put_digits(&mut name[at..], number);
        let filled = match (self.hostile, letter) {
            (false, DIRECTORY) => 10,
            (false, _) => self.name_bytes,
            // The one variant with nothing before its letter is the longest.
            (true, _) if before.is_empty() => LONGEST_NAME,
            (true, _) => 0,
        };
        if filled > 0 {
            name.resize(begin + filled, after.as_bytes()[0]);
        } else {
            name.extend_from_slice(after.as_bytes());
        }
    }

    /// The letter and number of a name that this set gives, whichever client's; `None`: it is no name of this set.
    pub(crate) fn parse(&self, name: &[u8], scratch: &mut Vec<u8>) -> Option<(u8, u64)> {
        let mut is = |letter: u8, number: u64| {
            scratch.clear();
            self.push_numbered(letter, number, scratch);
            scratch == name
        };
        // Directories carry no mark and always nine digits.
        let mark = self.mark.map_or(0, |mark| mark.len());
        for (digits, mark, directory) in [(self.digits, mark, false), (9, 0, true)] {
            let Some((at, number)) = first_number(name, digits) else { continue };
            let letter = at.checked_sub(mark + 1).map(|at| name[at]);
            if let Some(letter) = letter.filter(|&letter| (letter == DIRECTORY) == directory && is(letter, number)) {
                return match self.of_all.filter(|_| !directory) {
                    Some(all) => (number < all).then(|| (letter, number % self.set.count)),
                    None => Some((letter, number)),
                };
            }
        }
        None
    }
}

/// Where the first so many digits in a row stand, and what they say.
fn first_number(name: &[u8], digits: usize) -> Option<(usize, u64)> {
    let at = name.windows(digits).position(|window| window.iter().all(u8::is_ascii_digit))?;
    Some((at, std::str::from_utf8(&name[at..at + digits]).ok()?.parse().ok()?))
}

/// A path below [`TOP`], changed in place from file to file.
#[derive(Debug)]
pub(crate) struct PathOf<'a> {
    names: &'a SetNames,
    bytes: Vec<u8>,
    directory: Option<u64>,
    /// Where the name stands.
    name_at: usize,
    /// Letter and number that stand there.
    stands: Option<(u8, u64)>,
}

impl<'a> PathOf<'a> {
    /// Empty.
    pub(crate) fn new(names: &'a SetNames) -> Self {
        let mut bytes = Vec::with_capacity(PATH_BYTES);
        bytes.push(0);
        PathOf { names, bytes, directory: None, name_at: 0, stands: None }
    }

    /// Makes it the path of a file, which lies in this directory.
    #[inline]
    pub(crate) fn set_file(&mut self, directory: u64, letter: u8, number: u64) {
        if self.directory == Some(directory) && !self.names.hostile && self.stands.is_some() {
            let digits_at = self.name_at + 1 + self.names.mark.map_or(0, |mark| mark.len());
            self.bytes[self.name_at] = letter;
            let follows = self.stands.is_some_and(|(_, before)| before.wrapping_add(1) == number);
            let digits = &mut self.bytes[digits_at..digits_at + self.names.digits];
            if follows { count_up(digits) } else { put_digits(digits, number + self.names.base) }
        } else {
            self.write_file(directory, letter, number);
        }
        self.stands = Some((letter, number));
    }

    fn write_file(&mut self, directory: u64, letter: u8, number: u64) {
        if self.directory == Some(directory) {
            self.bytes.truncate(self.name_at);
        } else {
            self.bytes.clear();
            self.names.push_directory(directory, &mut self.bytes);
            self.bytes.push(b'/');
            self.name_at = self.bytes.len();
            self.directory = Some(directory);
        }
        self.names.push_name(letter, number, &mut self.bytes);
        self.bytes.push(0);
    }

    /// Makes it the path of a directory of the set.
    pub(crate) fn set_directory(&mut self, directory: u64) {
        self.bytes.clear();
        self.names.push_directory(directory, &mut self.bytes);
        self.bytes.push(0);
        (self.directory, self.stands) = (None, None);
    }

    /// The path.
    #[inline]
    pub(crate) fn as_c_str(&self) -> &CStr {
        debug_assert!(CStr::from_bytes_with_nul(&self.bytes).is_ok());
        // SAFETY: `push_name` and `push_directory` write no zero byte, and after each of them one is
        // put behind; what changes digits in place keeps to them. Looking for it again took a
        // hundredth of a `stat`.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.bytes) }
    }

    /// The name alone.
    #[inline]
    pub(crate) fn name(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[self.name_at..])
            .expect("names hold no zero byte, and the last byte is one")
    }
}

fn put_digits(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The next number: nearly always one digit changes.
#[inline]
fn count_up(digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::operations::{FileSize, Operation, OperationStep, SyncPolicy};

    fn operations(change: impl Fn(&mut FileSet)) -> Operations {
        let set = |name: &str| {
            let mut set = FileSet {
                name: name.to_owned(),
                count: 100_000,
                size: FileSize::default(),
                directories: 10,
                fan_out: 0,
                folder: None,
                populate: false,
                names: Names::Plain,
                name_bytes: 10,
            };
            change(&mut set);
            set
        };
        let step = OperationStep {
            name: String::new(),
            section: String::new(),
            operation: Operation::Create,
            files: "a".to_owned(),
            first: 0,
            count: None,
            block: None,
            sync: SyncPolicy::None,
            cold: false,
        };
        Operations {
            method: Default::default(),
            threads: 1,
            sharing: Default::default(),
            loops: 1,
            data: Default::default(),
            files: vec![set("a"), set("b")],
            step: vec![step],
        }
    }

    #[test]
    fn plain_names_have_equal_length_and_carry_the_number() {
        let plain = operations(|_| {});
        let names = SetNames::new(&plain, 1);
        let mut path = PathOf::new(&names);
        path.set_file(7, FILE, 123);
        assert_eq!(path.as_c_str(), c"set-001/d000000007/f000000123");
        path.set_file(7, RENAMED, 124);
        assert_eq!(path.as_c_str(), c"set-001/d000000007/r000000124");
        path.set_file(7, FILE, 99_999);
        path.set_file(7, FILE, 100_000);
        assert_eq!((path.as_c_str(), path.name()), (c"set-001/d000000007/f000100000", c"f000100000"));
        path.set_directory(3);
        assert_eq!(path.as_c_str(), c"set-001/d000000003");
        path.set_file(3, LINK, 1);
        assert_eq!(path.as_c_str(), c"set-001/d000000003/l000000001");
        let long = operations(|set| set.name_bytes = 40);
        let names = SetNames::new(&long, 0);
        let mut path = PathOf::new(&names);
        path.set_file(0, FILE, 5);
        assert_eq!(path.name().to_bytes().len(), 40);
        let shared = operations(|set| (set.folder, set.directories) = (Some("all".to_owned()), 1));
        let names = SetNames::new(&shared, 1);
        let mut path = PathOf::new(&names);
        path.set_file(0, FILE, 5);
        assert_eq!(path.as_c_str(), c"folder-all/fab0000005");
    }

    #[test]
    fn clients_who_share_directories_have_names_of_their_own_and_know_those_of_the_others() {
        for hostile in [false, true] {
            let operations = operations(|set| {
                (set.count, set.names) = (10, if hostile { Names::Hostile } else { Names::Plain });
            });
            let of = |client: u32| SetNames::new(&operations, 0).of_client(client, 3);
            let mut seen = std::collections::HashSet::new();
            let mut scratch = Vec::new();
            for client in 0..3 {
                let names = of(client);
                for number in 0..10 {
                    let mut name = Vec::new();
                    names.push_name(FILE, number, &mut name);
                    assert!(seen.insert(name.clone()), "{}", name.escape_ascii());
                    assert_eq!(of(2 - client).parse(&name, &mut scratch), Some((FILE, number)));
                }
                let mut directory = Vec::new();
                names.push_name(DIRECTORY, 7, &mut directory);
                assert_eq!(names.parse(&directory, &mut scratch), Some((DIRECTORY, 7)), "directories are everybody's");
            }
            let mut beyond = Vec::new();
            of(0).push_name(FILE, 30, &mut beyond);
            assert_eq!(of(0).parse(&beyond, &mut scratch), None, "nobody's");
        }
        let operations = operations(|set| set.count = 10);
        let names = SetNames::new(&operations, 0).of_client(2, 3);
        let mut path = PathOf::new(&names);
        for (number, says) in [(8, c"set-000/d000000000/f000000028"), (9, c"set-000/d000000000/f000000029")] {
            path.set_file(0, FILE, number);
            assert_eq!(path.as_c_str(), says);
        }
        path.set_file(0, FILE, 3);
        assert_eq!(path.as_c_str(), c"set-000/d000000000/f000000023");
    }

    #[test]
    fn directories_form_a_tree_of_the_fan_out() {
        let tree = operations(|set| set.fan_out = 2);
        let names = SetNames::new(&tree, 0);
        let mut path = PathOf::new(&names);
        for (directory, says) in [
            (1, c"set-000/d000000001"),
            (2, c"set-000/d000000000/d000000002"),
            (7, c"set-000/d000000000/d000000002/d000000007"),
        ] {
            path.set_directory(directory);
            assert_eq!(path.as_c_str(), says);
        }
    }

    #[test]
    fn every_name_tells_letter_and_number_and_no_other_name_does() {
        for (hostile, shared) in [(false, false), (false, true), (true, false), (true, true)] {
            let operations = operations(|set| {
                if hostile {
                    set.names = Names::Hostile;
                }
                if shared {
                    (set.folder, set.directories) = (Some("all".to_owned()), 1);
                }
            });
            let (names, other) = (SetNames::new(&operations, 0), SetNames::new(&operations, 1));
            let mut seen = std::collections::HashSet::new();
            let mut scratch = Vec::new();
            for number in [0, 1, 2, 3, 4, 5, 6, 7, 8, 99_999, 1_234_567] {
                for letter in [FILE, RENAMED, LINK, SYMLINK, COPY, DIRECTORY] {
                    let mut name = Vec::new();
                    names.push_name(letter, number, &mut name);
                    assert!(name.len() <= 255 && !name.contains(&0) && !name.contains(&b'/'));
                    assert!(seen.insert(name.clone()));
                    assert_eq!(names.parse(&name, &mut scratch), Some((letter, number)), "{}", name.escape_ascii());
                    if shared && letter != DIRECTORY {
                        assert_eq!(other.parse(&name, &mut scratch), None, "{}", name.escape_ascii());
                    }
                    name.push(b'x');
                    assert_eq!(names.parse(&name, &mut scratch), None, "{}", name.escape_ascii());
                }
            }
            assert_eq!(seen.iter().any(|name| name.len() == 255), hostile);
            assert_eq!(names.parse(b"lost+found", &mut scratch), None);
        }
    }
}
