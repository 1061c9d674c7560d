//! Words for mkfs and mount taken apart, each with the key that only one value can stand for.

use super::dialect::Dialect;
use crate::failure::LaneFailure;
use crate::mkfs_words::{self, Grammar};
use model::screening::OptionLevel;

/// An option of mkfs, or one word of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MkfsWord {
    /// `-O`, `--csum`; where a long option has a letter, that one.
    pub(super) flag: String,
    /// What a word of a list sets: `flex_bg`, `reflink`; empty: the value is no list.
    pub(super) key: String,
    /// Its value, or that word of it; `None`: it takes none.
    pub(super) value: Option<String>,
    /// As it was typed, of a mkfs whose options nobody knows: it alone takes that apart. Empty: flag and value say it.
    pub(super) typed: Vec<String>,
}

impl MkfsWord {
    /// Whether both set the same thing.
    pub(super) fn sets_the_same(&self, other: &MkfsWord) -> bool {
        self.flag == other.flag && self.key == other.key
    }

    /// As a person types it: `-O ^flex_bg`.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            _ if !self.typed.is_empty() => self.typed.join(" "),
            Some(value) => format!("{} {value}", self.flag),
            None => self.flag.clone(),
        }
    }
}

/// Takes words for mkfs apart, each of which was looked at before.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first word that no lane gives to this mkfs.
pub(super) fn of_mkfs(dialect: &Dialect, words: &[String]) -> Result<Vec<MkfsWord>, LaneFailure> {
    let Some(program) = &dialect.program else {
        return mkfs_words::read_without(&dialect.name, words).map(|_| Vec::new());
    };
    let Some(takes) = dialect.takes else { return of_unknown(program, words) };
    let mut rest = mkfs_words::read(takes, program, words)?.words.into_iter();
    let mut taken = Vec::new();
    while let Some(word) = rest.next() {
        let (flag, glued) = split_flag(&word);
        let letter = letter_of(takes, flag);
        let value = match glued {
            Some(glued) => Some(glued.to_owned()),
            None if takes_none(takes, flag) => None,
            None => rest.next(),
        };
        let flag = letter.as_deref().unwrap_or(flag);
        match value {
            Some(list) if dialect.word_lists.contains(&flag) => {
                taken.extend(list.split(',').map(|word| MkfsWord {
                    flag: flag.to_owned(),
                    key: key_of(word).to_owned(),
                    value: Some(word.to_owned()),
                    typed: Vec::new(),
                }));
            }
            value => taken.push(MkfsWord { flag: flag.to_owned(), key: String::new(), value, typed: Vec::new() }),
        }
    }
    Ok(taken)
}

/// The same of a mkfs whose options nobody knows: a word that is no option is the value of the one before it.
fn of_unknown(program: &str, words: &[String]) -> Result<Vec<MkfsWord>, LaneFailure> {
    let mut rest = mkfs_words::read_unknown(program, words)?.words.into_iter().peekable();
    let mut taken = Vec::new();
    while let Some(word) = rest.next() {
        let value = rest.next_if(|next| !next.starts_with('-'));
        let (flag, _, glued) = match &value {
            // It has its value, and is a flag as a whole.
            Some(_) => (word.as_str(), "", None),
            None => split_unknown(&word),
        };
        taken.push(MkfsWord {
            flag: flag.to_owned(),
            key: String::new(),
            value: value.clone().or_else(|| glued.map(str::to_owned)),
            typed: std::iter::once(word.clone()).chain(value).collect(),
        });
    }
    Ok(taken)
}

/// The words again: those of one list stand together, where its first one stood.
pub(super) fn to_mkfs(words: &[MkfsWord]) -> Vec<String> {
    let mut told = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let of_list = |other: &&MkfsWord| other.flag == word.flag && !other.key.is_empty();
        if !word.typed.is_empty() {
            told.extend(word.typed.iter().cloned());
        } else if word.key.is_empty() {
            told.push(word.flag.clone());
            told.extend(word.value.clone());
        } else if !words[..at].iter().any(|before| of_list(&before)) {
            let list: Vec<&str> = words.iter().filter(of_list).filter_map(|word| word.value.as_deref()).collect();
            told.extend([word.flag.clone(), list.join(",")]);
        }
    }
    told
}

/// What a mount option sets: `noatime` and `relatime` the same, as `delalloc` and `nodelalloc` do.
pub(super) fn mount_key(option: &str) -> &str {
    let key = option.split('=').next().unwrap_or_default();
    match key {
        "noatime" | "relatime" | "strictatime" => "atime",
        _ => key.strip_prefix("no").filter(|bare| !bare.is_empty()).unwrap_or(key),
    }
}

/// Everything that a level sets of mkfs and mount: the option of mkfs, and what of it; of mount options without the first.
pub(super) fn keys(dialect: &Dialect, level: &OptionLevel) -> Vec<(String, String)> {
    let made = of_mkfs(dialect, &level.mkfs).unwrap_or_default();
    let mounted = level.mount.iter().map(|option| (String::new(), mount_key(option).to_owned()));
    made.into_iter().map(|word| (word.flag, word.key)).chain(mounted).collect()
}

/// `-m` of `--metadata`, where the two are one.
fn letter_of(grammar: &Grammar, flag: &str) -> Option<String> {
    let long = flag.strip_prefix("--")?;
    grammar.long_of.iter().find(|(name, _)| *name == long).map(|(_, letter)| format!("-{letter}"))
}

/// A flag of mkfs, and the value that is glued to it.
pub(super) fn split_flag(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
    }
    match word.split_at_checked(2) {
        Some((flag, value)) => (flag, Some(value).filter(|value| !value.is_empty())),
        None => (word, None),
    }
}

/// A flag of a mkfs whose options nobody knows, what stands between it and its value, and that value: `-b4096`,
/// `--size=4k`, `-size=4k`. What may be a flag alone (`-quick`) is one.
pub(super) fn split_unknown(word: &str) -> (&str, &str, Option<&str>) {
    if let Some((flag, value)) = word.split_once('=') {
        return (flag, "=", Some(value));
    }
    match word.split_at_checked(2) {
        Some((flag, value)) if flag != "--" && value.starts_with(|first: char| first.is_ascii_digit()) => {
            (flag, "", Some(value))
        }
        _ => (word, "", None),
    }
}

fn takes_none(grammar: &Grammar, flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(long) => grammar.long_flags.contains(&long),
        None => flag.chars().nth(1).is_some_and(|letter| grammar.flags.contains(letter)),
    }
}

/// `flex_bg` of `^flex_bg`, `reflink` of `reflink=0`.
fn key_of(word: &str) -> &str {
    word.split('=').next().unwrap_or_default().trim_start_matches('^')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::Custom;
    use crate::filesystems::find;
    use std::path::Path;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn dialect(filesystem: &str) -> Dialect {
        find(filesystem).unwrap().into()
    }

    #[test]
    fn words_for_a_mkfs_that_nobody_knows_stay_as_they_were_typed() {
        let own = Dialect::from(&Custom::unread(Path::new("./my.toml")));
        for (line, flags) in [
            ("-b 1024 -K", &["-b", "-K"][..]),
            ("-b1024 --size=4k -size=4k", &["-b", "--size", "-size"][..]),
            ("--size 4k -block-size 4k", &["--size", "-block-size"][..]),
            // Each may be a flag, or several of them.
            ("-quick -qF x --2k", &["-quick", "-qF", "--2k"][..]),
            ("-mreflink=0 -m crc=0", &["-mreflink", "-m"][..]),
        ] {
            let taken = of_mkfs(&own, &words(line)).unwrap();
            assert_eq!(to_mkfs(&taken).join(" "), line);
            assert_eq!(taken.iter().map(|word| word.flag.as_str()).collect::<Vec<_>>(), flags, "{line}");
        }
        let twice = of_mkfs(&own, &words("-b 1024 -b4096")).unwrap();
        assert!(twice[0].sets_the_same(&twice[1]) && twice[0] != twice[1]);
        assert_eq!([twice[0].shown(), twice[1].shown()], ["-b 1024", "-b4096"]);
        for line in
            ["/dev/sda", "-d /etc", "-d/etc", "-b 1024 4096", "-- 4096", "-L UUID=x", "{device}", "-c Cargo.toml"]
        {
            assert!(of_mkfs(&own, &words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn words_for_mkfs_are_put_together_again_as_they_were_taken_apart() {
        for (filesystem, line, again) in [
            ("ext4", "-b 1024 -O ^flex_bg,fast_commit -F", "-b 1024 -O ^flex_bg,fast_commit -F"),
            ("ext4", "-O^flex_bg -b1024 -O fast_commit", "-O ^flex_bg,fast_commit -b 1024"),
            ("xfs", "-m reflink=0,crc=1 -mrmapbt=1 -K", "-m reflink=0,crc=1,rmapbt=1 -K"),
            ("btrfs", "-m single --csum=xxhash --mixed", "-m single --csum xxhash -M"),
            (
                "btrfs",
                "--nodesize 4096 --features=^no-holes -O block-group-tree",
                "-n 4096 -O ^no-holes,block-group-tree",
            ),
        ] {
            let taken = of_mkfs(&dialect(filesystem), &words(line)).unwrap();
            assert_eq!(to_mkfs(&taken).join(" "), again, "{filesystem} {line}");
        }
        assert!(of_mkfs(&dialect("xfs"), &words("-N")).is_err());
        let told = of_mkfs(&dialect("tmpfs"), &words("-b 4096")).unwrap_err().to_string();
        assert!(told.contains("has no mkfs"), "{told}");
    }

    #[test]
    fn what_a_word_sets_is_known_whichever_way_it_sets_it() {
        let xfs = of_mkfs(&dialect("xfs"), &words("-m reflink=0 -m reflink=1")).unwrap();
        assert!(xfs[0].sets_the_same(&xfs[1]) && xfs[0] != xfs[1]);
        let btrfs = of_mkfs(&dialect("btrfs"), &words("--metadata=dup -m single")).unwrap();
        assert!(btrfs[0].sets_the_same(&btrfs[1]) && btrfs[0] != btrfs[1]);
        let both = OptionLevel { mkfs: words("-E stride=4"), mount: words("nodelalloc"), ..OptionLevel::default() };
        let keys = keys(&dialect("ext4"), &both);
        let keys: Vec<(&str, &str)> = keys.iter().map(|(flag, key)| (flag.as_str(), key.as_str())).collect();
        assert_eq!(keys, [("-E", "stride"), ("", "delalloc")]);
        for (one, other) in [("noatime", "relatime"), ("nodelalloc", "delalloc"), ("commit=5", "commit=30")] {
            assert_eq!(mount_key(one), mount_key(other), "{one} {other}");
        }
        assert_ne!(mount_key("nodatacow"), mount_key("nodatasum"));
        assert_eq!(mount_key("no"), "no");
    }
}
