//! What a lane may say to its mkfs: the options of each program, and nothing that its table does not hold.
//!
//! mkfs runs as root behind an option that forces it, so a word that it takes for a device is a disk that is gone.
//! The lane's own device comes from Fairlane alone. A second one (a journal, a log) is given as the value of an option
//! that the table knows for it, and passes every check that the lane's own device passes.

use crate::device;
use crate::failure::{LaneFailure, usage};
use model::text::escaped;
use std::path::PathBuf;

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number, a size, a name or a label: mkfs opens nothing for it.
    Text,
    /// `KEY` or `KEY=VALUE` with commas between; the value of a key that is not listed is a text.
    Keys(&'static [(&'static str, Value)]),
    /// A block device.
    Device,
    /// Block devices with commas between.
    Devices,
    /// No lane may give it, and why: a half-sentence about it.
    Refused(&'static str),
}

/// The options that an mkfs takes from a lane.
#[derive(Debug)]
pub struct Grammar {
    /// Letters without a value.
    pub flags: &'static str,
    /// Letters whose value is a text.
    pub texts: &'static str,
    /// Letters with any other value.
    pub others: &'static [(char, Value)],
    /// Long options without a value.
    pub long_flags: &'static [&'static str],
    /// Long options whose value is a text.
    pub long_texts: &'static [&'static str],
    /// Long options with any other value.
    pub long_others: &'static [(&'static str, Value)],
    /// Long options that are the same as a letter.
    pub long_of: &'static [(&'static str, char)],
}

impl Grammar {
    /// No options at all.
    pub const NONE: Grammar =
        Grammar { flags: "", texts: "", others: &[], long_flags: &[], long_texts: &[], long_others: &[], long_of: &[] };
}

/// Why options of several programs are none of a lane. What only prints, only pretends or asks a question is none either.
pub(crate) const READS_A_FILE: Value = Value::Refused("reads a file");
pub(crate) const COPIES_A_FOLDER: Value = Value::Refused("copies files into the lane, which then is not fresh");
pub(crate) const STOPS_THE_MACHINE: Value = Value::Refused("has the whole machine stop at the first error");
pub(crate) const NAMES_THE_LANE: Value = Value::Refused("names what is formatted, and that is the lane's own device");
pub(crate) const MAKES_NOTHING: Value = Value::Refused("makes no filesystem");

/// What a lane said, as it is run: devices stand in it by the kernel's own path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) words: Vec<String>,
    /// The devices that are named beside the lane's own.
    pub(crate) devices: Vec<PathBuf>,
}

/// Placeholders that [`crate::custom::fill`] would replace in a user's word as well.
const PLACEHOLDERS: [&str; 3] = ["{device}", "{directory}", "{options}"];

/// Reads the words that a lane gives to the mkfs of a row.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first word that the table does not hold.
pub(crate) fn read(grammar: &Grammar, program: &str, words: &[String]) -> Result<Said, LaneFailure> {
    let mut reader = Reader { grammar, program, said: Said::default() };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        check_placeholder(word)?;
        let mut next = |option: &str| match rest.next() {
            // Whoever looks at the words alone would take it for an option, and what follows for a device.
            Some(value) if value.starts_with('-') => Err(usage(format!(
                "`{}` behind `{option}` of {program} looks like an option of its own; write the value of `{option}` there",
                escaped(value.as_bytes())
            ))),
            Some(value) => check_placeholder(value).map(|()| value.as_str()),
            None => Err(usage(format!("`{option}` of {program} wants a value; write it behind the option"))),
        };
        match word.strip_prefix("--") {
            Some("") => return Err(reader.positional(word)),
            Some(long) => reader.long(long, &mut next)?,
            None => match word.strip_prefix('-') {
                Some(letters) if !letters.is_empty() => reader.letters(letters, &mut next)?,
                _ => return Err(reader.positional(word)),
            },
        }
    }
    Ok(reader.said)
}

struct Reader<'a> {
    grammar: &'a Grammar,
    program: &'a str,
    said: Said,
}

impl Reader<'_> {
    /// `-q`, `-qF`, `-b4096`, `-b 4096`: letters until one takes a value, which is the rest or the next word. Each
    /// option becomes a word of its own, so that lists are found wherever they stood.
    fn letters<'w>(
        &mut self,
        letters: &'w str,
        next: &mut dyn FnMut(&str) -> Result<&'w str, LaneFailure>,
    ) -> Result<(), LaneFailure> {
        for (at, letter) in letters.char_indices() {
            let option = format!("-{}", escaped(letter.to_string().as_bytes()));
            if self.grammar.flags.contains(letter) {
                self.said.words.push(option);
                continue;
            }
            let value = match self.grammar.texts.contains(letter) {
                true => Value::Text,
                false => self.find(self.grammar.others.iter().map(|(of, value)| (*of == letter, value)), &option)?,
            };
            let glued = &letters[at + letter.len_utf8()..];
            if glued.is_empty() {
                let taken = self.take(&option, value, next(&option)?)?;
                self.said.words.extend([option, taken]);
            } else {
                let taken = self.take(&option, value, glued)?;
                self.said.words.push(option + &taken);
            }
            return Ok(());
        }
        Ok(())
    }

    /// `--force`, `--label=x`, `--label x`; an option that is cut short is none.
    fn long<'w>(
        &mut self,
        long: &'w str,
        next: &mut dyn FnMut(&str) -> Result<&'w str, LaneFailure>,
    ) -> Result<(), LaneFailure> {
        let (name, glued) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let option = format!("--{}", escaped(name.as_bytes()));
        if glued.is_none() && self.grammar.long_flags.contains(&name) {
            self.said.words.push(option);
            return Ok(());
        }
        let value = match self.grammar.long_texts.contains(&name) {
            true => Value::Text,
            false => self.find(self.grammar.long_others.iter().map(|(of, value)| (*of == name, value)), &option)?,
        };
        match glued {
            Some(glued) => {
                let taken = self.take(&option, value, glued)?;
                self.said.words.push(format!("{option}={taken}"));
            }
            None => {
                let taken = self.take(&option, value, next(&option)?)?;
                self.said.words.extend([option, taken]);
            }
        }
        Ok(())
    }

    fn find<'v>(&self, mut rows: impl Iterator<Item = (bool, &'v Value)>, option: &str) -> Result<Value, LaneFailure> {
        match rows.find(|(is, _)| *is) {
            // Whether a value follows or not.
            Some((_, Value::Refused(why))) => Err(self.refused(option, why)),
            Some((_, value)) => Ok(*value),
            None => Err(usage(format!(
                "`{option}` is none of the options that a lane gives to {}; remove it, or describe the filesystem in a \
                 file of your own: docs/myfs.toml",
                self.program
            ))),
        }
    }

    fn refused(&self, option: &str, why: &str) -> LaneFailure {
        usage(format!("`{option}` of {} is not for lanes: it {why}; remove it", self.program))
    }

    /// The value of an option, as it is run.
    fn take(&mut self, option: &str, value: Value, text: &str) -> Result<String, LaneFailure> {
        match value {
            Value::Text => check_text(self.program, text).map(|()| text.to_owned()),
            Value::Refused(why) => Err(self.refused(option, why)),
            Value::Device => self.device(option, text),
            Value::Devices => {
                let devices: Result<Vec<String>, _> = text.split(',').map(|one| self.device(option, one)).collect();
                devices.map(|devices| devices.join(","))
            }
            Value::Keys(keys) => {
                let taken: Result<Vec<String>, _> = text.split(',').map(|word| self.key(option, keys, word)).collect();
                taken.map(|words| words.join(","))
            }
        }
    }

    fn key(&mut self, option: &str, keys: &[(&str, Value)], word: &str) -> Result<String, LaneFailure> {
        let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
        let named = format!("{option} {}", escaped(key.as_bytes()));
        let row = keys.iter().find(|(of, _)| *of == key).map(|(_, value)| *value);
        match (row, value) {
            (Some(Value::Refused(_)), _) => self.take(&named, row.unwrap_or(Value::Text), ""),
            (Some(of), Some(value)) => self.take(&named, of, value).map(|taken| format!("{key}={taken}")),
            // Without a key of its own the whole word is looked at: `a:/dev/sdb`.
            _ => check_text(self.program, word).map(|()| word.to_owned()),
        }
    }

    fn device(&mut self, option: &str, text: &str) -> Result<String, LaneFailure> {
        let path = device::named_by(text).ok_or_else(|| {
            usage(format!(
                "`{option}` of {}: `{}` is no block device; name one by its path, such as /dev/disk/by-id/…",
                self.program,
                escaped(text.as_bytes())
            ))
        })?;
        let word = path.to_string_lossy().into_owned();
        self.said.devices.push(path);
        Ok(word)
    }

    fn positional(&self, word: &str) -> LaneFailure {
        usage(format!(
            "`{}` is no option of {}, which gets its device from Fairlane alone; remove it, and name the disk of a lane \
             behind an @",
            escaped(word.as_bytes()),
            self.program
        ))
    }
}

/// Refuses what would be replaced by a path when the command is run.
fn check_placeholder(word: &str) -> Result<(), LaneFailure> {
    match PLACEHOLDERS.iter().find(|placeholder| word.contains(**placeholder)) {
        Some(placeholder) => Err(usage(format!(
            "{placeholder} stands in a file that describes a filesystem, never in a lane; remove it"
        ))),
        None => Ok(()),
    }
}

/// Refuses a path and the name of a block device where mkfs wants neither: another version of it may think otherwise.
fn check_text(program: &str, text: &str) -> Result<(), LaneFailure> {
    check_no_device(program, text)?;
    match text.contains('/') {
        true => Err(usage(format!(
            "`{}` holds a slash, and {program} gets no path from a lane; remove it",
            escaped(text.as_bytes())
        ))),
        false => Ok(()),
    }
}

/// Refuses a word any part of which is the name of a block device.
pub(crate) fn check_no_device(program: &str, word: &str) -> Result<(), LaneFailure> {
    match parts(word).find_map(|part| device::named_by(part).map(|path| (part, path))) {
        Some((part, path)) => Err(usage(format!(
            "`{}` names the block device {}, which a lane does not hand to {program} like this; remove it",
            escaped(part.as_bytes()),
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Everything in a word that a program could take for a name: from its begin or behind a `=`, `,`, `:` or `@`, up to
/// any of these or its end.
pub(crate) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| matches!(c, '=' | ',' | ':' | '@');
    let starts = std::iter::once(0).chain(word.match_indices(is_between).map(|(at, _)| at + 1));
    starts.flat_map(move |start| {
        let ends = word[start..].match_indices(is_between).map(move |(at, _)| start + at);
        ends.chain([word.len()]).map(move |end| &word[start..end])
    })
}

/// Reads the words that a lane gives to the mkfs of a filesystem that has none.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first of them.
pub(crate) fn read_without(filesystem: &str, words: &[String]) -> Result<Said, LaneFailure> {
    match words.first() {
        None => Ok(Said::default()),
        Some(word) => {
            Err(usage(format!("{filesystem} has no mkfs, so `{}` goes nowhere; remove it", escaped(word.as_bytes()))))
        }
    }
}

/// Reads the words that a lane adds to the mkfs of a filesystem of the user's own, whose options nobody knows: none may
/// name a device, a file or a folder, and none may stand where a device does.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first word that does.
pub(crate) fn read_unknown(program: &str, words: &[String]) -> Result<Said, LaneFailure> {
    let refuse = |word: &str, what: &str| {
        usage(format!(
            "`{}` {what}, and a lane hands {program} only options; write it into the file that describes the filesystem",
            escaped(word.as_bytes())
        ))
    };
    let mut is_value = false;
    for word in words {
        check_placeholder(word)?;
        let is_option = word.starts_with('-');
        if (!is_option && !is_value) || word == "-" || word == "--" {
            return Err(refuse(word, "is no option"));
        }
        is_value = is_option;
        // Any letter of a cluster may be the one that takes the rest.
        let starts = word.char_indices().map(|(at, _)| at).filter(|&at| at == 0 || is_option);
        for part in starts.flat_map(|at| parts(&word[at..])) {
            if device::named_by(part).is_some() {
                return Err(refuse(part, "names a block device"));
            }
        }
        let glued = word.char_indices().nth(2).filter(|_| is_option).map(|(at, _)| &word[at..]);
        for part in parts(word).chain(glued.into_iter().flat_map(parts)) {
            if part.contains('/') || (!part.is_empty() && std::path::Path::new(part).symlink_metadata().is_ok()) {
                return Err(refuse(part, "names a file"));
            }
            if is_tag(word) {
                return Err(refuse(word, "names a device"));
            }
        }
    }
    Ok(Said { words: words.to_vec(), devices: Vec::new() })
}

/// `UUID=…` and its kin, which libblkid finds a device by.
pub(crate) fn is_tag(word: &str) -> bool {
    const TAGS: [&str; 5] = ["UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="];
    let upper = word.to_ascii_uppercase();
    TAGS.iter().any(|tag| upper.match_indices(tag).any(|(at, _)| !upper[..at].ends_with(|c: char| c.is_alphanumeric())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::{FILESYSTEMS, Home, find};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn said(filesystem: &str, line: &str) -> Result<String, String> {
        let row = find(filesystem).unwrap();
        let read = read(row.mkfs_takes, row.mkfs[0], &words(line));
        read.map(|said| said.words.join(" ")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_that_looks_like_an_option_is_none() {
        let said = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            read(find("ext4").unwrap().mkfs_takes, "mkfs.ext4", &words)
        };
        // mke2fs would take `vm.img` for its device once `-E…` went into the list of ours.
        for words in [&["-L", "-Enodiscard", "-m", "vm.img", "-L", "-Enodiscard"][..], &["-m", "-q"], &["-E", "-F"]] {
            let error = said(words).unwrap_err().to_string();
            assert!(error.contains("looks like an option of its own"), "{error}");
        }
        assert!(said(&["-L", "a-b", "-O", "^has_journal", "-E", "stride=16,stripe_width=64"]).is_ok());
    }

    #[test]
    fn honest_options_reach_mkfs_as_they_were_typed() {
        for (filesystem, line) in [
            ("ext4", "-O ^has_journal -b 1024"),
            ("ext4", "-E stride=16,stripe_width=64,root_owner=0:0"),
            ("ext4", "-J size=64,fast_commit_size=4 -m 0 -i 16384 -I 256 -N 1000 -T largefile -L data -g 32768"),
            ("ext4", "-O^has_journal -b1024 -U random -e remount-ro -C 65536 -G 16 -K -j -D"),
            ("ext2", "-b 1024"),
            ("ext3", "-O extent"),
            (
                "xfs",
                "-m reflink=0,crc=1 -i size=512 -d agcount=8,su=64k,sw=4 -l size=64m,internal -n size=8192 -s size=4096",
            ),
            ("xfs", "-mreflink=0 -K -L data -r extsize=64k -d noalign"),
            ("btrfs", "-m raid1c3 -d single -n 16384 -O quota -R free-space-tree -L data -K -M"),
            ("btrfs", "--csum xxhash --nodesize=4096 --mixed --label data -s 4096"),
            ("f2fs", "-O extra_attr,compression -o 5 -s 2 -z 1 -l data -t 0 -w 4096 -i -e mp3,gif"),
            ("nilfs2", "-b 4096 -B 2048 -L data -m 5 -O block_count"),
            ("exfat", "-L data -c 128K -b 1M --pack-bitmap --volume-label=data"),
            ("jfs", "-s 32 -L data -O -c"),
            ("reiserfs", "-b 4096 -s 8193 -h r5 --format 3.6 --label=data"),
            ("ntfs", "-c 4096 -L data -C --zero-time --label data -T"),
            ("bcachefs", "--compression=lz4 --replicas 1 --label=ssd --discard -L data"),
        ] {
            assert_eq!(said(filesystem, line).as_deref(), Ok(line), "{filesystem}");
        }
        // Letters that stand together are told apart, so that a list is found in them.
        assert_eq!(said("ext4", "-qFE stride=4").as_deref(), Ok("-q -F -E stride=4"));
        let command = find("ext4").unwrap().mkfs_command(&words(&said("ext4", "-qFEstride=4").unwrap())).join(" ");
        assert!(command.contains("lazy_journal_init=0,stride=4"), "{command}");
    }

    #[test]
    fn what_no_table_holds_is_refused_with_its_remedy() {
        for (filesystem, line, part) in [
            ("ext4", "-Y", "`-Y` is none of the options"),
            ("ext4", "-qY x", "`-Y` is none of the options"),
            ("ext4", "--label x", "none of the options"),
            ("btrfs", "--label", "wants a value"),
            ("btrfs", "--force=x", "none of the options"),
            ("btrfs", "--forc", "none of the options"),
            ("btrfs", "--", "no option of mkfs.btrfs"),
            ("btrfs", "-", "no option of mkfs.btrfs"),
            ("btrfs", "-L a b", "`b` is no option of mkfs.btrfs"),
            ("xfs", "-d", "wants a value"),
            ("xfs", "-N", "makes no filesystem"),
            ("ext4", "-n", "makes no filesystem"),
            ("ext4", "-e panic", "machine stop at the first error"),
            ("ext4", "-E stride=4,mount_opts=nodelalloc", "`-E mount_opts` of mkfs.ext4"),
            ("ext2", "-Emount_opts=noatime", "known to tune2fs alone"),
            ("ext3", "-qepanic", "machine stop at the first error"),
            ("bcachefs", "--errors=panic", "machine stop at the first error"),
            ("ext4", "-L \u{1b}[31m/x", "holds a slash"),
        ] {
            let error = said(filesystem, line).unwrap_err();
            assert!(error.contains(part), "{filesystem} {line}: {error}");
            assert!(
                !error.contains('\u{1b}') && (error.contains("remove it") || error.contains("write it")),
                "{error}"
            );
        }
    }

    #[test]
    fn every_part_of_a_word_is_looked_at() {
        let all: Vec<&str> = parts("a=b,c:d@e").collect();
        for part in ["a", "b", "c", "d", "e", "b,c", "a=b,c:d@e", "c:d", "b,c:d@e"] {
            assert!(all.contains(&part), "{part} is not in {all:?}");
        }
        assert!(is_tag("UUID=x") && is_tag("device=uuid=x") && is_tag("a,PARTLABEL=x") && !is_tag("MYUUID=x"));
    }

    /// A letter that stands twice in a table would mean whatever comes first.
    #[test]
    fn a_table_says_each_option_once() {
        for row in FILESYSTEMS.iter().filter(|row| row.home == Home::Block) {
            let Grammar { flags, texts, others, long_flags, long_texts, long_others, long_of } = row.mkfs_takes;
            let letters: Vec<char> =
                flags.chars().chain(texts.chars()).chain(others.iter().map(|(letter, _)| *letter)).collect();
            let long = long_flags.iter().chain(*long_texts).copied().chain(long_others.iter().map(|(name, _)| *name));
            let long: Vec<&str> = long.collect();
            for (index, letter) in letters.iter().enumerate() {
                assert!(!letters[..index].contains(letter), "{}: -{letter}", row.name);
            }
            for (index, name) in long.iter().enumerate() {
                assert!(!long[..index].contains(name), "{}: --{name}", row.name);
            }
            for (name, letter) in *long_of {
                assert!(long.contains(name) && letters.contains(letter), "{}: --{name} -{letter}", row.name);
            }
            assert!(!letters.is_empty(), "{} takes nothing", row.name);
        }
    }
}
