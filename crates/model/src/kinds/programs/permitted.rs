//! What a suite may start by itself: a suite's text may come from anywhere, and a race is often root's.
//!
//! A form is a program with the words that it may be given, in kinds: its options, the values of these, and what it
//! works on. Programs of the table start no other and read no script; what they work on lies in the lane; and no word
//! may become text that a program would read as settings. Anything else is for a user who has read the suite and says so.

use super::{MATERIAL, Programs};

/// What a word may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// A relative path inside the lane, of plain names.
    Path,
    /// The same, or the material, or something in it.
    Source,
    /// A file of a kind of media, or the material.
    Media,
    /// The same, or `-`, the standard output.
    MediaOut,
    /// A branch or a tag.
    Branch,
    /// Letters, digits and blanks, which no program reads as settings.
    Text,
    /// Letters, digits and what joins them in names of codecs, lists of entries and times.
    Value,
    /// A stream: `0:v`.
    Streams,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// A program, or one of the things that it does, and what it may be given.
struct Form {
    name: &'static str,
    /// The word that says what it does; empty: there is none.
    asks: &'static str,
    /// Options as they stand.
    flags: &'static [&'static str],
    /// Options with a value: the next word, or what stands behind an option that ends with `=`.
    values: &'static [(&'static str, Word)],
    /// What it works on, and how many of them at least and at most.
    operands: Word,
    counts: (usize, usize),
    /// The kind of the last one, which it writes.
    last: Word,
}

/// As many as there are.
const ANY: usize = usize::MAX;

const fn form(name: &'static str, flags: &'static [&'static str], operands: Word, counts: (usize, usize)) -> Form {
    Form { name, asks: "", flags, values: &[], operands, counts, last: operands }
}

const fn git(
    asks: &'static str,
    flags: &'static [&'static str],
    values: &'static [(&'static str, Word)],
    operands: Word,
    counts: (usize, usize),
) -> Form {
    Form { name: "git", asks, flags, values, operands, counts, last: operands }
}

/// Forms of media that are files of the lane.
const FORMATS: Word = Word::OneOf(&["concat", "matroska", "md5", "mov", "mp4", "mpegts", "null", "wav"]);
/// What ends the name of such a file, without a dot. A list of cuts is one too.
const MEDIA: [&str; 11] = ["aac", "ffconcat", "m4a", "m4v", "mkv", "mov", "mp2", "mp4", "mpg", "ts", "wav"];

const TABLE: [Form; 28] = [
    form("cat", &[], Word::Source, (1, ANY)),
    form("cksum", &[], Word::Source, (1, ANY)),
    form("cmp", &["-s"], Word::Source, (2, 2)),
    Form {
        values: &[
            ("--reflink=", Word::OneOf(&["always", "auto", "never"])),
            ("--sparse=", Word::OneOf(&["always", "auto", "never"])),
        ],
        last: Word::Path,
        ..form("cp", &["-a", "-f", "-p", "-r", "-R"], Word::Source, (2, ANY))
    },
    Form {
        values: &[
            ("-v", Word::Value),
            ("-f", FORMATS),
            ("-i", Word::Media),
            ("-t", Word::Value),
            ("-ss", Word::Value),
            ("-to", Word::Value),
            ("-map", Word::Streams),
            ("-map_metadata", Word::OneOf(&["-1", "0"])),
            ("-c", Word::Value),
            ("-c:v", Word::Value),
            ("-c:a", Word::Value),
            ("-fflags", Word::Value),
            ("-flags", Word::Value),
            ("-movflags", Word::Value),
        ],
        ..form("ffmpeg", &["-nostdin", "-y", "-n", "-an", "-vn"], Word::MediaOut, (1, ANY))
    },
    Form {
        values: &[("-v", Word::Value), ("-i", Word::Media), ("-show_entries", Word::Value), ("-of", Word::Value)],
        ..form("ffprobe", &["-show_format", "-show_streams"], Word::Media, (0, 1))
    },
    git("add", &["-A", "-f"], &[], Word::Path, (0, ANY)),
    git("checkout", &["-q", "-f"], &[("-b", Word::Branch)], Word::Branch, (0, ANY)),
    Form {
        last: Word::Path,
        ..git("clone", &["-q", "--bare", "--no-local", "--no-hardlinks"], &[("-b", Word::Branch)], Word::Source, (2, 2))
    },
    git("commit", &["-q", "-a"], &[("-m", Word::Text)], Word::Path, (0, 0)),
    git("fsck", &["--connectivity-only", "--no-progress"], &[], Word::Branch, (0, 0)),
    git("gc", &["-q"], &[], Word::Branch, (0, 0)),
    git("log", &["-q"], &[], Word::Branch, (0, 1)),
    git("repack", &["-q", "-a", "-A", "-f"], &[], Word::Branch, (0, 0)),
    git("reset", &["-q", "--hard"], &[], Word::Branch, (0, 1)),
    git("status", &["--porcelain"], &[], Word::Path, (0, ANY)),
    form("ln", &["-s", "-f"], Word::Path, (2, 2)),
    form("ls", &["-a", "-l", "-R", "-1"], Word::Source, (0, ANY)),
    form("md5sum", &["-c", "--quiet"], Word::Source, (1, ANY)),
    form("mkdir", &["-p"], Word::Path, (1, ANY)),
    form("mv", &["-f"], Word::Path, (2, ANY)),
    form("rm", &["-f", "-r", "-rf", "-fr"], Word::Path, (1, ANY)),
    form("sha256sum", &["-c", "--quiet"], Word::Source, (1, ANY)),
    form("sync", &["-f", "-d"], Word::Path, (0, ANY)),
    Form { asks: "-c", values: &[("-f", Word::Path), ("-C", Word::Path)], ..form("tar", &[], Word::Path, (1, ANY)) },
    Form { asks: "-x", ..TAR_READS },
    Form { asks: "-t", ..TAR_READS },
    form("touch", &[], Word::Path, (1, ANY)),
];

const TAR_READS: Form =
    Form { values: &[("-f", Word::Source), ("-C", Word::Path)], ..form("tar", &[], Word::Path, (0, ANY)) };

impl Programs {
    /// What in it is not permitted to a suite by itself: the step, the fact, and what is permitted.
    pub fn not_permitted(&self) -> Option<String> {
        self.step.iter().find_map(|step| {
            let words = [&step.program, &step.check].into_iter().find_map(|words| refusal(words));
            let found = words.or_else(|| step.folders.iter().find_map(|folder| wrong(folder, Word::Path)))?;
            Some(format!("step {}: {found}", step.name))
        })
    }
}

/// Whether a suite may start a program of this name by itself, with words of the forms of the table.
pub fn is_known(name: &str) -> bool {
    TABLE.iter().any(|form| form.name == name)
}

/// Whether a suite may start this by itself.
pub fn is_permitted(words: &[String]) -> bool {
    refusal(words).is_none()
}

/// Why a program may not be started; `None`: it may.
fn refusal(words: &[String]) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    if !is_known(name) {
        let mut known: Vec<&str> = TABLE.iter().map(|form| form.name).collect();
        known.dedup();
        let name = name.escape_debug();
        return Some(format!(
            "`{name}` is none of the programs that a suite may start by itself: {}",
            known.join(", ")
        ));
    }
    // In words of one letter each: `-cf a` is `-c -f a`.
    let apart = |word: &String| match (name.as_str(), word.as_str()) {
        ("tar", "-cf" | "-tf" | "-xf") => vec![word[..2].to_owned(), "-f".to_owned()],
        _ => vec![word.clone()],
    };
    let mut left: Vec<String> = arguments.iter().flat_map(apart).collect();
    if name == "git"
        && let [option, folder, ..] = &left[..]
        && option == "-C"
    {
        if let Some(wrong) = wrong(folder, Word::Path) {
            return Some(wrong);
        }
        left.drain(..2);
    }
    if name == "tar"
        && let Some(at) = left.iter().position(|word| ["-c", "-t", "-x"].contains(&word.as_str()))
    {
        // It is no value of what stands before it: no path begins so.
        left[..=at].rotate_right(1);
    }
    let asks = left.first().map_or("", String::as_str);
    let form = TABLE.iter().find(|form| form.name == name && (form.asks.is_empty() || form.asks == asks));
    let Some(form) = form else {
        let known: Vec<&str> = TABLE.iter().filter(|form| form.name == name).map(|form| form.asks).collect();
        return Some(format!(
            "`{name} {}` is not permitted to a suite by itself; it may ask {name} for {}",
            asks.escape_debug(),
            known.join(", ")
        ));
    };
    form.refuses(&left[usize::from(!form.asks.is_empty())..])
}

impl Form {
    /// What is wrong with the words behind the program and what it is asked for.
    fn refuses(&self, words: &[String]) -> Option<String> {
        let mut operands: Vec<&str> = Vec::new();
        let mut has = Vec::new();
        let mut left = words.iter();
        let mut only_operands = false;
        while let Some(word) = left.next() {
            // A lone dash is a name that programs take for their standard output.
            if only_operands || !word.starts_with('-') || word == "-" {
                operands.push(word);
            } else if word == "--" {
                only_operands = true;
            } else if let Some((option, kind)) = self.values.iter().find(|(option, _)| word == option) {
                let Some(value) = left.next() else { return Some(self.unknown(word)) };
                if let Some(wrong) = wrong(value, *kind) {
                    return Some(wrong);
                }
                has.push(*option);
            } else if let Some((option, kind)) =
                self.values.iter().find(|(option, _)| option.ends_with('=') && word.starts_with(option))
            {
                if wrong(&word[option.len()..], *kind).is_some() {
                    return Some(self.unknown(word));
                }
            } else if !self.flags.contains(&word.as_str()) {
                return Some(self.unknown(word));
            }
        }
        // Without these they would ask somebody, or read and write what is no file of the lane.
        let needs: &[&str] = match (self.name, self.asks) {
            ("git", "commit") => &["-m"],
            ("tar", _) => &["-f"],
            _ => &[],
        };
        if let Some(lacking) = needs.iter().find(|option| !has.contains(option)) {
            return Some(format!("`{} {}` needs {lacking} in a suite", self.name, self.asks));
        }
        let (least, most) = self.counts;
        if !(least..=most).contains(&operands.len()) {
            return Some(format!(
                "`{}` is given {} names in a suite, and this step has {}",
                [self.name, self.asks].join(" ").trim_end(),
                if most == ANY { format!("{least} or more") } else { format!("{least} to {most}") },
                operands.len()
            ));
        }
        let last = operands.len().saturating_sub(1);
        let kind = |at: usize| if at == last && at > 0 { self.last } else { self.operands };
        operands.iter().enumerate().find_map(|(at, word)| wrong(word, kind(at)))
    }

    fn unknown(&self, word: &str) -> String {
        let program = [self.name, self.asks].join(" ");
        format!("`{} {}` is not permitted to a suite by itself", program.trim_end(), word.escape_debug())
    }
}

/// Why a word is not of this kind; `None`: it is.
fn wrong(word: &str, kind: Word) -> Option<String> {
    let of = |letters: &str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letters.contains(letter);
        !word.is_empty() && word.chars().all(plain)
    };
    let in_material = || match word.strip_prefix(MATERIAL) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('/').is_some_and(is_plain_path),
        None => false,
    };
    let is_media = || word.rsplit_once('.').is_some_and(|(_, end)| MEDIA.contains(&end)) && is_plain_path(word);
    let (is_right, right) = match kind {
        Word::Path => (is_plain_path(word), "a relative path of plain names inside the lane".to_owned()),
        Word::Source => (
            is_plain_path(word) || in_material(),
            format!("a relative path of plain names inside the lane, or {MATERIAL}"),
        ),
        Word::Media => (is_media() || word == MATERIAL, format!("{MATERIAL}, or a file of {}", MEDIA.join(", "))),
        Word::MediaOut => (is_media() || word == "-", format!("-, or a file of {}", MEDIA.join(", "))),
        Word::Branch => (is_plain_path(word) && !word.contains(' '), "the plain name of a branch or a file".to_owned()),
        Word::Text => (of(" ") && word.len() <= 200, "plain letters, digits and blanks".to_owned()),
        Word::Value => (of("_.,:=+-") && !word.starts_with('-'), "letters, digits and _.,:=+-".to_owned()),
        Word::Streams => (of(":?-"), "streams such as 0:v".to_owned()),
        Word::OneOf(words) => (words.contains(&word), format!("one of {}", words.join(", "))),
    };
    (!is_right).then(|| format!("`{}` is not {right}, which is what a suite may write here", word.escape_debug()))
}

/// Whether a word is a relative path of names that are nothing but names: no way up, no protocol or machine in front,
/// nothing that a list or settings would take for more than a name, and no way into what git keeps for itself.
fn is_plain_path(word: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || " ._-+@,".contains(letter);
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= 255
            && name != ".."
            && name.chars().all(plain)
            && !name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
    };
    !word.starts_with(['/', '-']) && word.len() < 4096 && word.strip_suffix('/').unwrap_or(word).split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> Option<String> {
        refusal(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_built_in_suites_are_permitted() {
        for text in
            [include_str!("../../../../../suites/media.toml"), include_str!("../../../../../suites/applications.toml")]
        {
            for workload in crate::workload::Suite::from_toml(text).unwrap().workload {
                if let crate::workload::Kind::Programs(programs) = workload.kind {
                    assert_eq!(programs.not_permitted(), None, "{}", workload.name);
                }
            }
        }
    }

    #[test]
    fn interpreters_and_what_leads_out_of_the_lane_are_not() {
        for wrong in [
            &["sh", "-c", "id"][..],
            &["python3", "x.py"],
            &["env", "sh"],
            &["rm", "-rf", "/home"],
            &["rm", "-rf", "../../home"],
            &["rm", "--no-preserve-root", "x"],
            &["cp", "a", "{material}/../b"],
            &["cp", "a", "{home}/b"],
            &["cp", "-t/etc", "a"],
            &["cp", "--target-directory=/etc", "a"],
            &["cp", "--reflink=/etc", "a", "b"],
            &["tar", "-xf", "a.tar", "--to-command=sh"],
            &["tar", "-xf", "a.tar", "--to-com=sh"],
            &["tar", "-I", "sh", "-xf", "a.tar"],
            &["git", "-c", "core.fsmonitor=sh", "status"],
            &["git", "clone", "-u", "sh", "a", "b"],
            &["git", "clone", "https://example.org/a", "b"],
            &["git", "clone", "ext::sh", "b"],
            &["git", "-C", "a", "bisect", "run", "sh"],
            &["git"],
            &["ffmpeg", "-i", "concat:/etc/passwd", "a.ts"],
            &["ffmpeg", "-i", "subfile,,start,0,end,9,,:/etc/passwd", "a.ts"],
            &["ffmpeg", "-f", "lavfi", "-i", "movie=/etc/passwd", "a.ts"],
            &["ffmpeg", "-f", "x11grab", "-i", "a", "a.ts"],
        ] {
            assert!(refused(wrong).is_some(), "{wrong:?}");
        }
        for right in [
            &["cp", "-a", "{material}", "a b/c"][..],
            &["cp", "--reflink=always", "a", "b"],
            &["tar", "-xf", "{material}/layer1.tar", "-C", "layers/1"],
            &["tar", "-c", "-f", "a.tar", "b", "."],
            &["git", "-C", "a/b", "commit", "-q", "-a", "-m", "All of it 2"],
            &["git", "-C", "a", "checkout", "-q", "-b", "feature/x"],
            &["git", "clone", "-b", "other", "{material}", "r"],
            &["ffmpeg", "-i", "a.ts", "-map", "0:v", "-c", "copy", "-f", "matroska", "b.mkv"],
            &["ffmpeg", "-i", "{material}", "-f", "md5", "-"],
            &["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "a.mkv"],
            &["rm", "-rf", "--", "Größe"],
            &["tar", "-C", "layers", "-xf", "a.tar"],
            &["sync"],
        ] {
            assert_eq!(refused(right), None, "{right:?}");
        }
        let said = refused(&["sh"]).unwrap();
        assert!(said.contains("`sh`") && said.contains("md5sum") && said.matches("git").count() == 1, "{said}");
    }

    /// Each was permitted once, and led to a command of the suite's own, to another machine, or to files that it made.
    #[test]
    fn no_word_becomes_settings_that_a_program_reads() {
        for wrong in [
            // A message that becomes .git/COMMIT_EDITMSG, and then .git/config.
            &["git", "-C", "r", "commit", "-q", "-a", "-m", "[core]\n\tfsmonitor = id > out"][..],
            &["git", "-C", "r", "commit", "-a", "-m", "a#b"],
            &["git", "-C", "r", "commit", "-a", "-m", ""],
            &["cp", "r/.git/COMMIT_EDITMSG", "r/.git/config"],
            &["cp", "a", "r/.GIT/config"],
            &["mv", "a", "r/.git"],
            &["mkdir", "-p", "r/.git. /hooks"],
            &["ln", "-s", "a", ".git"],
            // Without a message it starts an editor.
            &["git", "-C", "r", "commit", "-a"],
            // A name that an archive begins with, and the archive is the settings.
            &["touch", "[core]\n\tfsmonitor = id\n#"],
            &["touch", "a\nb"],
            &["mkdir", "-p", "[core]"],
            &["git", "-C", "r", "checkout", "-b", "a\"b"],
            // Another machine, by rsh.
            &["tar", "-cf", "host1:file", "a"],
            &["tar", "-xf", "10.0.0.1:a"],
            &["tar", "-c", "a"],
            // Options behind another meaning.
            &["tar", "-cf", "a.tar", "--checkpoint-action=exec=sh", "b"],
            &["tar", "-cf", "-", "-C", "..", "b"],
            &["git", "--exec-path=x", "status"],
            &["git", "-C", "../..", "status"],
            &["git", "clone", "-c", "core.fsmonitor=id", "{material}", "r"],
            &["git", "clone", "{material}", "{material}/r"],
            &["git", "clone", "{material}"],
            &["git", "clone", "--config", "a", "b"],
            &["git", "log", "-p"],
            &["git", "log", "--ext-diff"],
            &["git", "status", "/etc"],
            &["git", "fsck", "a"],
            // Playlists, subtitles, and raw slices of any file.
            &["ffmpeg", "-i", "a.m3u8", "b.ts"],
            &["ffmpeg", "-i", "a.ts", "b.ffmetadata"],
            &["ffmpeg", "-i", "hls+file:a.ts", "b.ts"],
            &["ffmpeg", "-f", "s16le", "-i", "a.ts", "b.ts"],
            &["ffmpeg", "-i", "a:b.ts", "c.ts"],
            &["ffmpeg", "-i", "a.ts", "-c:v", "a/b", "c.ts"],
            &["ffmpeg", "-i", "a.ts", "-map", "[x]", "c.ts"],
            &["ffmpeg", "-safe", "0", "-i", "a.ts", "b.ts"],
            &["ffmpeg", "-i"],
            &["ffprobe", "-of", "xml=x=/etc/passwd", "-i", "a.ts"],
            // Names that are too long, or none.
            &["touch", &"x".repeat(256)],
            &["touch", ""],
            &["touch", "a//b"],
            &["touch", "a\0b"],
            &["touch"],
            &["cp", "a"],
            &["ln", "-s", "{material}", "x"],
        ] {
            assert!(refused(wrong).is_some(), "{wrong:?}");
        }
    }
}
