//! What a suite may start by itself: a suite's text may come from anywhere, and a race is often root's.
//!
//! A row is a program that starts no other and reads no script, with the options that a suite may give it. Paths stay
//! inside the lane. Anything else is for a user who has read the suite and says so.

use super::{MATERIAL, Programs};

/// A program that a suite may start.
struct Row {
    name: &'static str,
    /// Its options; one that ends with `=` takes a value.
    options: &'static [&'static str],
}

const TABLE: [Row; 17] = [
    Row { name: "cat", options: &[] },
    Row { name: "cksum", options: &[] },
    Row { name: "cmp", options: &["-s"] },
    Row { name: "cp", options: &["-a", "-f", "-p", "-r", "-R", "--reflink=", "--sparse=", "--"] },
    Row {
        name: "ffmpeg",
        options: &[
            "-nostdin",
            "-v",
            "-y",
            "-n",
            "-f",
            "-i",
            "-t",
            "-ss",
            "-to",
            "-map",
            "-map_metadata",
            "-c",
            "-c:v",
            "-c:a",
            "-an",
            "-vn",
            "-fflags",
            "-flags",
            "-movflags",
            "-1",
        ],
    },
    Row { name: "ffprobe", options: &["-v", "-i", "-show_entries", "-show_format", "-show_streams", "-of"] },
    Row {
        name: "git",
        options: &[
            "-C",
            "-q",
            "-a",
            "-A",
            "-b",
            "-f",
            "-m",
            "--bare",
            "--no-local",
            "--no-hardlinks",
            "--porcelain",
            "--connectivity-only",
            "--no-progress",
            "--hard",
            "--",
        ],
    },
    Row { name: "ln", options: &["-s", "-f", "--"] },
    Row { name: "ls", options: &["-a", "-l", "-R", "-1"] },
    Row { name: "md5sum", options: &["-c", "--quiet"] },
    Row { name: "mkdir", options: &["-p", "--"] },
    Row { name: "mv", options: &["-f", "--"] },
    Row { name: "rm", options: &["-f", "-r", "-rf", "-fr", "--"] },
    Row { name: "sha256sum", options: &["-c", "--quiet"] },
    Row { name: "sync", options: &["-f", "-d"] },
    Row { name: "tar", options: &["-c", "-f", "-t", "-x", "-C", "-cf", "-tf", "-xf"] },
    Row { name: "touch", options: &["--"] },
];

/// What git is asked to do: nothing that runs commands of its user's.
const OF_GIT: [&str; 10] = ["add", "checkout", "clone", "commit", "fsck", "gc", "log", "repack", "reset", "status"];

/// Forms of media that are files of the lane.
const OF_MEDIA: [&str; 9] = ["concat", "matroska", "md5", "mov", "mp4", "mpegts", "null", "s16le", "wav"];

impl Programs {
    /// What in it is not permitted to a suite by itself: the step, the fact, and what is permitted.
    pub fn not_permitted(&self) -> Option<String> {
        self.step.iter().find_map(|step| {
            let found = [&step.program, &step.check].into_iter().find_map(|words| refusal(words))?;
            Some(format!("step {}: {found}", step.name))
        })
    }
}

/// Why a program may not be started; `None`: it may.
fn refusal(words: &[String]) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let Some(row) = TABLE.iter().find(|row| row.name == name) else {
        let known: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        let name = name.escape_debug();
        return Some(format!(
            "`{name}` is none of the programs that a suite may start by itself: {}",
            known.join(", ")
        ));
    };
    let unknown = |word: &str| Some(format!("`{name} {}` is not permitted to a suite by itself", word.escape_debug()));
    for word in arguments {
        let is_option = word.len() > 1 && word.starts_with('-');
        let is_listed = |option: &&&str| {
            word == **option || (option.ends_with('=') && word.starts_with(**option) && stays_inside(word))
        };
        if is_option && !row.options.iter().any(|option| is_listed(&option)) {
            return unknown(word);
        }
        if !is_option && !stays_inside(word) {
            let (word, material) = (word.escape_debug(), MATERIAL);
            return Some(format!(
                "`{word}` may lead out of the lane; a suite names relative paths without `..`, and {material}"
            ));
        }
    }
    match row.name {
        "git" => {
            let mut left = arguments;
            while let [option, _, rest @ ..] = left
                && option == "-C"
            {
                left = rest;
            }
            let asked = left.first().map_or("", String::as_str);
            if OF_GIT.contains(&asked) { None } else { unknown(asked) }
        }
        "ffmpeg" | "ffprobe" => {
            let mut forms = arguments.windows(2).filter(|two| two[0] == "-f").map(|two| two[1].as_str());
            forms.find(|form| !OF_MEDIA.contains(form)).and_then(unknown)
        }
        _ => None,
    }
}

/// Whether a word names nothing outside of the lane: no absolute path, also not behind `=`, `:` and the like, no way
/// up, and no protocol such as `http:`.
fn stays_inside(word: &str) -> bool {
    let word = word.strip_prefix(MATERIAL).map_or(word, |rest| rest.strip_prefix('/').unwrap_or(rest));
    let letters = word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len());
    let is_protocol = letters > 0 && word[letters..].starts_with(':');
    let mut before = None;
    let mut leads_out = false;
    for letter in word.chars() {
        let within = |letter: char| letter.is_alphanumeric() || "._-)]} ".contains(letter);
        leads_out |= letter == '/' && !before.is_some_and(within);
        before = Some(letter);
    }
    !leads_out && !is_protocol && !word.contains("..") && !word.contains('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Option<String> {
        refusal(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_built_in_suites_are_permitted() {
        for text in
            [include_str!("../../../../suites/media.toml"), include_str!("../../../../suites/applications.toml")]
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
            assert!(of(wrong).is_some(), "{wrong:?}");
        }
        for right in [
            &["cp", "-a", "{material}", "a b/c"][..],
            &["tar", "-xf", "{material}/layer1.tar", "-C", "layers/1"],
            &["ffmpeg", "-i", "a.ts", "-map", "0:v", "-c", "copy", "-f", "matroska", "b.mkv"],
        ] {
            assert_eq!(of(right), None, "{right:?}");
        }
        let said = of(&["sh"]).unwrap();
        assert!(said.contains("`sh`") && said.contains("md5sum"), "{said}");
    }
}
