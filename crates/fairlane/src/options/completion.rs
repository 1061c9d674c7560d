//! What a shell is told that the word may become which is being typed.
//!
//! The scripts of `fairlane completions` set [`VARIABLE`] and give the words of the command line up to the cursor. Nothing is
//! written for them, and what goes wrong is silence: whoever types is not disturbed.

mod lane_words;
mod records;

use super::Shell;
use crate::commands::trace::SCENARIO;
use crate::{knowledge, language, owned, published, suites, terminal};
use clap::builder::{Arg, Command, ValueHint};
use clap::{ArgAction, ValueEnum as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use lanes::filesystems::FILESYSTEMS;
use lanes::screened_options::options_of;
use model::bounds::TOML_BYTES;
use model::published::PREFIX;
use model::workload::Suite;
use report::Purpose;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Names the shell that asks.
const VARIABLE: &str = "FAIRLANE_COMPLETE";
/// Names of one folder that are told, at most.
const MOST_NAMES: usize = 500;
/// Characters of what is told of a word, at most.
const MOST_HELP: usize = 100;
/// What words and names may hold beside letters and digits: a shell takes all of them for themselves.
const PLAIN: &str = "-_./,:=@+~%";
/// The same of the names of files, which others chose.
const PLAIN_IN_NAMES: &str = "-_.,@+";

/// Answers a shell that asks; `None`: nobody does.
pub fn answer() -> Option<ExitCode> {
    let shell = std::env::var(VARIABLE).ok()?;
    let mut arguments = std::env::args_os().skip(1);
    // No command line begins so: a variable that is set by mistake changes nothing.
    if arguments.next()? != "--" {
        return None;
    }
    let typed: Vec<OsString> = arguments.collect();
    std::panic::set_hook(Box::new(|_| {}));
    let text = Shell::from_str(&shell, false).ok().and_then(|shell| answers(shell, typed));
    match text.map(|text| terminal::print(&text)) {
        Some(Ok(())) => Some(ExitCode::SUCCESS),
        _ => Some(ExitCode::FAILURE),
    }
}

/// A line for each word that the last one may become.
fn answers(shell: Shell, typed: Vec<OsString>) -> Option<String> {
    let index = typed.len().checked_sub(1)?;
    let is_empty = typed.last().is_none_or(|word| word.is_empty());
    let suite = value_of(&typed, "--suite").unwrap_or_else(|| "quick".to_owned());
    let mut command = attach(super::command(), &suite);
    let mut candidates = complete(&mut command, typed, index, None).ok()?;
    candidates.retain(|candidate| !candidate.is_hide_set() && is_plain(candidate.get_value()));
    // Dozens of options would hide what an empty word may become.
    if is_empty && candidates.iter().any(|candidate| !is_option(candidate)) {
        candidates.retain(|candidate| !is_option(candidate));
    }
    Some(candidates.iter().map(|candidate| line(shell, candidate)).collect())
}

fn is_option(candidate: &CompletionCandidate) -> bool {
    candidate.get_value().as_encoded_bytes().starts_with(b"-")
}

/// Whether a word means itself to every shell, and shows itself on every terminal: shells put it on the command line as it is.
fn is_plain(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| holds_only(word, PLAIN))
}

fn holds_only(word: &str, others: &str) -> bool {
    word.chars().all(|c| (c.is_alphanumeric() && !model::text::is_unsafe(c)) || others.contains(c))
}

/// A candidate as a shell reads it.
fn line(shell: Shell, candidate: &CompletionCandidate) -> String {
    let value = candidate.get_value().to_string_lossy();
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let help: String = help.lines().next().unwrap_or_default().chars().take(MOST_HELP).collect();
    match shell {
        Shell::Bash => format!("{value}\n"),
        // A colon parts a word from what is told of it.
        Shell::Zsh if help.is_empty() => format!("{}\n", value.replace(':', "\\:")),
        Shell::Zsh => format!("{}:{help}\n", value.replace(':', "\\:")),
        Shell::Fish => format!("{value}\t{help}\n"),
    }
}

/// What an option was given before the word that is being typed.
fn value_of(typed: &[OsString], option: &str) -> Option<String> {
    let (_, before) = typed.split_last()?;
    let words: Vec<&str> = before.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    words.iter().enumerate().rev().find_map(|(at, word)| match word.strip_prefix(option)? {
        "" => words.get(at + 1).map(|value| (*value).to_owned()),
        rest => rest.strip_prefix('=').map(str::to_owned),
    })
}

/// The command with what completes its values. `suite`: what `--suite` was given.
fn attach(command: Command, suite: &str) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match completer(&name, &arg, suite) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(|below| attach(below, suite))
}

/// What completes the values of an option or argument; `None`: nothing is known of them here.
fn completer(command: &str, arg: &Arg, suite: &str) -> Option<ArgValueCompleter> {
    if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        return None;
    }
    Some(match (command, arg.get_id().as_str()) {
        (_, "lanes" | "lane") => words(lane_words::lane),
        ("race", "state") => words(lane_words::state),
        (_, "suite") | ("suites", "name") => words(|typed| names_or_files(suites::BUILT_IN, typed, &["toml"])),
        ("powercut", "workloads") => listed(engine::durable::KINDS.iter().map(|kind| kind.name.to_owned()).collect()),
        (_, "workloads") => {
            let suite = suite.to_owned();
            words(move |typed| begun(typed, workloads(&suite)))
        }
        ("age", "profile") => words(|typed| {
            let mut found = begun(typed, aging::profile::names().into_iter().map(str::to_owned));
            found.extend(files("", typed, &["toml"]));
            found
        }),
        ("advise", "scenarios") => words(|typed| names_or_files(knowledge::SCENARIOS, typed, &["toml", "trace"])),
        ("advise", "needs") => listed(model::scenario::wishes().map(|(wish, _)| without_place(wish)).collect()),
        ("advise", "features") => listed(lane_words::filesystems()),
        ("screen", "options" | "without") => listed(screened_options()),
        ("race" | "screen", "resume")
        | ("report" | "explain" | "share", "record")
        | ("advise" | "collect" | "trend", "records") => words(records::records),
        ("trend", "workload") => words(|typed| {
            begun(typed, suites::BUILT_IN.iter().flat_map(|(name, _)| workloads(name)).collect::<BTreeSet<_>>())
        }),
        ("compare", "baseline" | "candidate") => words(records::records),
        ("compare", "a" | "b") => words(|typed| {
            let articles = published::BUILT_IN.iter().map(|(name, _)| format!("{PREFIX}{name}"));
            records::records(typed).into_iter().chain(begun(typed, articles)).collect()
        }),
        (_, "replay") | ("show", "trace") => words(|typed| files("", typed, &["trace"])),
        ("race" | "screen", "data") => {
            listed(["incompressible", "1.6:1", "2.7:1", "compress:50"].map(str::to_owned).to_vec())
        }
        ("powercut", "sector") => listed(["512", "4096"].map(str::to_owned).to_vec()),
        (_, "lang") => listed(language::names().map(str::to_owned).collect()),
        (command, "format") => listed(formats(command).into_iter().map(str::to_owned).collect()),
        _ => return spelled_or_path(arg),
    })
}

/// Words that the name of a value spells (`auto|N`), and paths where it is one.
fn spelled_or_path(arg: &Arg) -> Option<ArgValueCompleter> {
    let is_path = arg.get_value_hint() == ValueHint::AnyPath;
    let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str().to_owned());
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let spelled: Vec<String> = name.unwrap_or_default().split('|').filter(is_word).map(str::to_owned).collect();
    (is_path || !spelled.is_empty()).then(|| {
        words(move |typed| {
            let mut found = begun(typed, spelled.iter().cloned());
            if is_path {
                found.extend(files("", typed, &[]));
            }
            found
        })
    })
}

/// The formats that `--format` of a command takes.
fn formats(command: &str) -> Vec<&'static str> {
    let fits = |purposes: &[Purpose]| match command {
        "compare" => purposes.contains(&Purpose::Comparison) || purposes.contains(&Purpose::Gate),
        _ => purposes.contains(&Purpose::Race),
    };
    match command {
        "report" | "compare" => {
            let fitting = report::FORMATS.iter().filter(|format| fits(format.purposes));
            fitting.map(|format| format.name).collect()
        }
        "explain" => report::EXPLANATION_FORMATS.to_vec(),
        "advise" => report::ADVICE_FORMATS.to_vec(),
        "powercut" | "integrity" => report::DURABILITY_FORMATS.to_vec(),
        "show" => report::TRACE_FORMATS.into_iter().chain([SCENARIO]).collect(),
        "age" => vec!["text", "json"],
        "collect" => vec!["parquet", "csv"],
        "trend" => vec!["text", "json", "csv", "markdown"],
        _ => Vec::new(),
    }
}

/// The workloads of a suite; none where it cannot be read.
fn workloads(suite: &str) -> Vec<String> {
    let built_in = || suites::find_built_in(suite).ok().flatten();
    let of_file = || {
        let bytes = owned::read(Path::new(suite), TOML_BYTES).ok()?;
        Suite::from_toml(std::str::from_utf8(&bytes).ok()?).ok()
    };
    let Some(mut suite) = built_in().or_else(of_file) else { return Vec::new() };
    suites::add_compressible(&mut suite);
    suite.workload.into_iter().map(|workload| workload.name).collect()
}

/// The names of all options that can be screened; which of them a filesystem has is said when one is not its own.
fn screened_options() -> Vec<String> {
    let all = FILESYSTEMS.iter().flat_map(|row| options_of(row.name)).map(|option| option.name.to_owned());
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// `quota=` of `quota=KIND`.
fn without_place(wish: &str) -> String {
    match wish.split_once('=') {
        Some((key, value)) if value.chars().all(|c| c.is_ascii_uppercase()) => format!("{key}="),
        _ => wish.to_owned(),
    }
}

/// What completes by a function of the word that is being typed.
fn words(become_of: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let found = typed.to_str().map(&become_of).unwrap_or_default();
        found.into_iter().map(CompletionCandidate::new).collect::<Vec<_>>()
    })
}

/// What completes by a list.
fn listed(list: Vec<String>) -> ArgValueCompleter {
    words(move |typed| begun(typed, list.iter().cloned()))
}

/// Those of some words that begin as what is typed.
fn begun(typed: &str, words: impl IntoIterator<Item = String>) -> Vec<String> {
    words.into_iter().filter(|word| word.starts_with(typed)).collect()
}

/// Names that are built in, then files with these endings.
fn names_or_files(built_in: &[(&str, &str)], typed: &str, endings: &[&str]) -> Vec<String> {
    let mut found = begun(typed, built_in.iter().map(|(name, _)| (*name).to_owned()));
    found.extend(files("", typed, endings));
    found
}

/// Folders, and files with these endings (none: all), that begin as what is typed, each behind `before`. Looked for with the
/// user's rights alone. A name that a shell would not take for itself is left out.
fn files(before: &str, typed: &str, endings: &[&str]) -> Vec<String> {
    let (folder, beginning) = match typed.rfind('/') {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let place = match folder.strip_prefix("~/") {
        Some(rest) => crate::owner::Owner::current().home().map(|home| home.join(rest)),
        None if folder.is_empty() => Some(PathBuf::from(".")),
        None => Some(PathBuf::from(folder)),
    };
    let found = place.and_then(|place| owned::names_with(&place, beginning.as_bytes(), MOST_NAMES).ok());
    let mut names: Vec<String> = found
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(name, is_folder)| {
            let name = name.into_string().ok()?;
            let is_hidden = name.starts_with('.') && !beginning.starts_with('.');
            let is_dash = folder.is_empty() && name.starts_with('-');
            let ends = endings.is_empty()
                || endings.iter().any(|ending| Path::new(&name).extension() == Some(OsStr::new(ending)));
            let fits = !is_hidden && !is_dash && (is_folder || ends) && holds_only(&name, PLAIN_IN_NAMES);
            fits.then(|| format!("{before}{folder}{name}{}", if is_folder { "/" } else { "" }))
        })
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
