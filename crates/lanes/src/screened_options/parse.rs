//! Options that a person types: a name of the table, `logbsize=32k|256k`, `-m reflink=1|0`, `queue:scheduler=none|bfq`,
//! `vm.dirty_ratio=20|5`.

use super::commit_interval;
use super::dialect::Dialect;
use super::join::{self, lane_with};
use super::kernel_settings::{self, Setting};
use super::level_words::{MkfsWord, keys, mount_key, of_mkfs, split_flag, split_unknown};
use super::recorded::are_of;
use super::{Level, ScreenedOption, UNSAID, factor, says_nothing, usual_level};
use crate::custom::Custom;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::{self, Filesystem, Home};
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Venue};
use model::screening::{Factor, OptionClass, OptionLevel};
use model::text::escaped;

/// The longest option that is read, in bytes, and the most levels that one has.
const LONGEST: usize = 256;
const MOST_LEVELS: usize = 8;
/// What an option is written in beside letters and digits.
const SIGNS: &str = "_-=^.,:| ";
/// How settings of a disk's queue begin, and how the layer of a lane does.
const QUEUE: &str = "queue:";
const QUEUE_LAYER: &str = "queue,";

/// Options of mount that are short for another one (btrfs(5)).
const SHORT_FOR: [(&str, &str); 1] = [("compress=zstd", "compress=zstd:3")];
/// Words for one state of a switch.
const SWITCHES: [&[&str]; 2] = [&["off", "no", "none", "0"], &["on", "yes", "1"]];

/// What was typed, taken apart.
struct Typed {
    name: String,
    /// The usual one first.
    levels: Vec<OptionLevel>,
    /// The option of the table that it is.
    option: Option<&'static ScreenedOption>,
}

impl Typed {
    /// Of levels that were typed; of a single one the usual one is that nothing is said.
    fn new(name: String, mut levels: Vec<OptionLevel>) -> Typed {
        if levels.len() == 1 {
            levels.insert(0, OptionLevel { label: UNSAID.to_owned(), ..OptionLevel::default() });
        }
        Typed { name, levels, option: None }
    }
}

/// Reads an option of a lane's filesystem, whatever the lane says beside it. Of several values the first is the usual
/// level, the second the other one, and further ones are for tuning; a single value stands against a lane that says
/// nothing.
///
/// # Errors
/// [`LaneFailure::Usage`] for what no lane may say, with the remedy.
pub fn parse_option(lane: &LaneSpec, text: &str) -> Result<Factor, LaneFailure> {
    let dialect = dialect_of(lane)?;
    let text = without_blanks(text);
    let text = text.as_str();
    check_form(text)?;
    if let Some(known) = dialect.table.iter().find(|option| option.is_called(text)) {
        return Ok(factor(known));
    }
    if let Some(setting) = kernel_settings::read(text)? {
        return of_kernel(lane, &dialect, setting);
    }
    if let Some(names) = several(text) {
        return Err(usage(format!(
            "`{}` names more than one option; name each with an --option of its own: {names}",
            escaped(text.as_bytes())
        )));
    }
    let typed = match text.strip_prefix(QUEUE).or_else(|| text.strip_prefix(QUEUE_LAYER)) {
        Some(setting) => of_queue(&dialect, setting.trim())?,
        None if text.starts_with('-') => for_mkfs(&dialect, text)?,
        None => of_mount(&dialect, text)?,
    };
    into_factor(lane, &dialect, typed)
}

/// Several names in one option, each with an `--option` of its own; `None`: it is one, or has levels.
fn several(text: &str) -> Option<String> {
    let is_one = !text.contains(',') || text.starts_with(['-', ',']) || text.contains(['=', '|', ':']);
    if is_one || text.starts_with(QUEUE_LAYER) {
        return None;
    }
    let names = text.split(',').filter(|name| !name.is_empty());
    Some(names.map(|name| format!("--option {}", escaped(name.as_bytes()))).collect::<Vec<_>>().join(" "))
}

/// Without blanks around names and levels.
fn without_blanks(text: &str) -> String {
    let around = |text: &str, sign: &str| text.split(sign).map(str::trim).collect::<Vec<_>>().join(sign);
    around(&around(text, "|"), "=")
}

/// What is known of the words of a lane's filesystem. The file of one of the user's own is read: it was typed with the
/// option.
fn dialect_of(lane: &LaneSpec) -> Result<Dialect, LaneFailure> {
    match &lane.contestant {
        Contestant::Filesystem(name) => row_named(name).map(Dialect::from),
        Contestant::Custom(path) => Custom::read(path).map(|custom| Dialect::from(&custom)),
        Contestant::Directory(_) => join::dialect_of(lane),
    }
}

fn row_named(filesystem: &str) -> Result<&'static Filesystem, LaneFailure> {
    let row = filesystems::find(filesystem).filter(|row| matches!(row.home, Home::Block | Home::Memory));
    row.ok_or_else(|| {
        let shown: String = escaped(filesystem.as_bytes()).chars().take(64).collect();
        let near = filesystems::nearest(filesystem).filter(|near| *near != filesystem);
        let hint = near.map_or_else(
            || "`fairlane doctor` lists what can be raced".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        usage(format!("no filesystem that is mounted is called `{shown}`; {hint}"))
    })
}

fn check_form(text: &str) -> Result<(), LaneFailure> {
    if text.is_empty() {
        return Err(usage("an option is empty; write its name, or its levels: --option 'logbsize=32k|256k'"));
    }
    if text.len() > LONGEST {
        return Err(usage(format!(
            "an option has {} bytes, and {LONGEST} are the most; write fewer levels",
            text.len()
        )));
    }
    match text.chars().find(|&letter| !letter.is_ascii_alphanumeric() && !SIGNS.contains(letter)) {
        Some(letter) => Err(usage(format!(
            "the option `{}` holds `{}`, which no level has; leave it out",
            escaped(text.as_bytes()),
            escaped(letter.to_string().as_bytes())
        ))),
        None => Ok(()),
    }
}

/// `vm.dirty_ratio=20|5`, or `vm.` and a name of the table.
fn of_kernel(lane: &LaneSpec, dialect: &Dialect, setting: Setting<'_>) -> Result<Factor, LaneFailure> {
    let Setting { name, levels } = setting;
    if matches!(lane.venue, Some(Venue::Uml | Venue::Qemu(_))) {
        return Err(usage(format!(
            "vm.{name} is set of this machine's kernel, and a lane in a guest works with that of its guest; screen without \
             a guest"
        )));
    }
    if levels.is_empty() {
        let known = dialect.table.iter().find(|option| option.name == name);
        return known.map(factor).ok_or_else(|| {
            usage(format!(
                "vm.{name} is named without a level; write the usual one and another: 'vm.{name}=USUAL|OTHER'"
            ))
        });
    }
    let mut typed = Typed::new(name.to_owned(), levels);
    typed.option = dialect.table.iter().find(|option| option.name == name && are_of(option, &typed.levels));
    into_factor(lane, dialect, typed)
}

/// `scheduler=none|bfq`, or a name of the table.
fn of_queue(dialect: &Dialect, setting: &str) -> Result<Typed, LaneFailure> {
    if let Some(option) = dialect.table.iter().find(|option| option.name == setting && is_of_queue(option)) {
        let levels = option.levels().map(Level::owned).collect();
        return Ok(Typed { name: option.name.to_owned(), levels, option: Some(option) });
    }
    let Some((key, values)) = setting.split_once('=') else {
        return Err(usage(format!(
            "`{QUEUE}{setting}` says nothing to a queue; write {QUEUE}scheduler=none|bfq, {QUEUE}read_ahead=128K|4M or \
             {QUEUE}requests=64|32"
        )));
    };
    let level = |value: &str| OptionLevel {
        label: value.to_owned(),
        queue: vec![format!("{key}={value}")],
        ..OptionLevel::default()
    };
    Ok(Typed::new(key.to_owned(), values.split('|').map(level).collect()))
}

fn is_of_queue(option: &ScreenedOption) -> bool {
    option.others.iter().all(|level| !level.queue.is_empty())
}

/// `-m reflink=1|0`, `-b 4096|1024`, `-O ^flex_bg|flex_bg`, `--csum crc32c|xxhash`, `-K`.
fn for_mkfs(dialect: &Dialect, text: &str) -> Result<Typed, LaneFailure> {
    let (flag, glue, values) = flag_and_values(dialect, text);
    if flag.contains('|') {
        return Err(usage(format!(
            "`{}` is no flag of mkfs with levels; write one flag and its values: '-b 1024|4096'",
            escaped(text.as_bytes())
        )));
    }
    let Some(values) = values else {
        let on = OptionLevel { label: "on".to_owned(), mkfs: vec![flag.to_owned()], ..OptionLevel::default() };
        return Ok(Typed::new(flag.to_owned(), vec![on]));
    };
    let parts: Vec<&str> = values.split('|').collect();
    let key = parts[0].split_once('=').map(|(key, _)| key);
    // Of a list's word without a value each level has it, or has it not.
    let bare = parts[0].trim_start_matches('^');
    let is_one_word = parts.iter().all(|part| part.trim_start_matches('^') == bare);
    let is_switch = key.is_none() && is_one_word && dialect.word_lists.contains(&flag);
    let level = |part: &&str| {
        let part = *part;
        let word = match key {
            Some(key) if !part.contains('=') => format!("{key}={part}"),
            _ => part.to_owned(),
        };
        let label = match key {
            Some(key) => part.strip_prefix(key).and_then(|rest| rest.strip_prefix('=')).unwrap_or(part),
            None if is_switch && !part.is_empty() => {
                if part.starts_with('^') {
                    "off"
                } else {
                    "on"
                }
            }
            None => part,
        };
        let mkfs = match glue {
            Some(glue) => vec![format!("{flag}{glue}{word}")],
            None => vec![flag.to_owned(), word],
        };
        OptionLevel { label: label.to_owned(), mkfs, ..OptionLevel::default() }
    };
    let name = match key {
        Some(key) => format!("{flag} {key}"),
        None if is_switch => format!("{flag} {bare}"),
        None => flag.to_owned(),
    };
    Ok(Typed::new(name, parts.iter().map(level).collect()))
}

/// A flag of mkfs and its values; between them what joins each of them to the flag, where nobody knows whether that
/// mkfs takes them as two words.
fn flag_and_values<'a>(dialect: &Dialect, text: &'a str) -> (&'a str, Option<&'a str>, Option<&'a str>) {
    if let Some((flag, values)) = text.split_once(' ') {
        return (flag, None, Some(values.trim()));
    }
    if dialect.takes.is_some() {
        let (flag, values) = split_flag(text);
        return (flag, None, values.filter(|values| !values.is_empty()));
    }
    match split_unknown(text) {
        // Levels have a flag, which can only be a letter.
        (flag, ..) if flag.contains('|') && !flag.starts_with("--") => {
            let (letter, values) = split_flag(text);
            (letter, Some(""), values)
        }
        (flag, glue, values) => (flag, Some(glue), values),
    }
}

/// `logbsize=32k|256k`, `noatime`, `nodelalloc|delalloc`; where the name is one of the table, its labels choose its levels.
fn of_mount(dialect: &Dialect, text: &str) -> Result<Typed, LaneFailure> {
    let Some((name, values)) = text.split_once('=') else {
        let parts: Vec<&str> = text.split('|').collect();
        let key = mount_key(parts[0]);
        let is_one = parts.len() > 1 && parts.iter().all(|part| mount_key(part) == key);
        let level = |part: &&str| {
            let label = if parts.len() == 1 && !part.is_empty() { "on" } else { *part };
            OptionLevel { label: label.to_owned(), mount: vec![(*part).to_owned()], ..OptionLevel::default() }
        };
        let name = if is_one { key } else { parts[0] };
        return Ok(Typed::new(name.to_owned(), parts.iter().map(level).collect()));
    };
    let parts: Vec<&str> = values.split('|').collect();
    let known = dialect.table.iter().find(|option| option.is_called(name));
    if let Some(option) = known {
        if let [only] = parts.as_slice()
            && level_called(option, only).is_some_and(|level| level.label == option.usual.label)
        {
            let other = option.others.first().map_or("OTHER", |level| level.label);
            return Err(usage(format!(
                "{name}={only} is what a lane has that says nothing; write two levels: '{name}={}|{other}'",
                option.usual.label
            )));
        }
        let level = |label: &&str| level_called(option, label).map(Level::owned);
        if let Some(mut levels) = parts.iter().map(level).collect::<Option<Vec<_>>>() {
            if levels.len() == 1 {
                levels.insert(0, option.usual.owned());
            }
            return Ok(Typed { name: option.name.to_owned(), levels, option: Some(option) });
        }
        let is_of_mount = |level: &Level| level.mount.iter().any(|word| mount_key(word) == mount_key(name));
        if !option.levels().any(is_of_mount) {
            let labels: Vec<&str> = option.levels().map(|level| level.label).collect();
            let own = own_words(option, (name, values))
                .map_or_else(String::new, |words| format!(", or its own words: '{words}'"));
            return Err(usage(format!(
                "{name} of {} has the levels {}; write some of these{own}",
                dialect.name,
                labels.join(", ")
            )));
        }
    }
    let level = |value: &&str| match known.filter(|_| *value == UNSAID) {
        Some(option) => option.usual.owned(),
        None => {
            OptionLevel { label: (*value).to_owned(), mount: vec![format!("{name}={value}")], ..OptionLevel::default() }
        }
    };
    Ok(Typed::new(name.to_owned(), parts.iter().map(level).collect()))
}

/// A level of an option by its label; `default` is another word for the usual one.
fn level_called(option: &'static ScreenedOption, label: &str) -> Option<&'static Level> {
    match option.levels().find(|level| level.label == label) {
        None if label == UNSAID => Some(&option.usual),
        found => found,
    }
}

/// How values are typed as words of mkfs or of the queue, of which the option is made: `-l size=64m|128m`. `None`: it takes more
/// than one word.
fn own_words(option: &ScreenedOption, (name, values): (&str, &str)) -> Option<String> {
    let first = option.others.first()?;
    match (first.mkfs, first.queue) {
        ([], [setting]) => {
            let key = setting.split_once('=')?.0;
            // The kernel's own name counts in KiB, and the queue's word takes a size.
            let of_kernel = |value: &str| match value.bytes().all(|byte| byte.is_ascii_digit()) {
                true if name.ends_with("_kb") => format!("{value}K"),
                _ => value.to_owned(),
            };
            let values: Vec<String> = values.split('|').map(of_kernel).collect();
            Some(format!("{QUEUE}{key}={}", values.join("|")))
        }
        ([flag, word], []) => match word.split_once('=') {
            Some((key, _)) => Some(format!("{flag} {key}={values}")),
            // What mkfs calls a level may be no value of it: 1024 of 1K.
            None => {
                let words = option.levels().filter_map(|level| level.mkfs.get(1).copied());
                Some(format!("{flag} {}", words.collect::<Vec<_>>().join("|")))
            }
        },
        _ => None,
    }
}

/// Has each level pass the checks of a lane that says it.
fn into_factor(lane: &LaneSpec, dialect: &Dialect, typed: Typed) -> Result<Factor, LaneFailure> {
    let Typed { name, levels, option } = typed;
    let shown = escaped(name.as_bytes());
    if name.is_empty() {
        return Err(usage("an option has no name; write it, or its levels: --option 'logbsize=32k|256k'"));
    }
    if levels.iter().any(|level| level.label.is_empty()) {
        let remedy = match levels.iter().find(|level| level.label.starts_with('-')) {
            Some(flag) => {
                let flag = escaped(flag.label.as_bytes());
                format!("`{flag}` is a flag of its own, and each flag is named by an --option of its own")
            }
            None => "write a value between two strokes".to_owned(),
        };
        return Err(usage(format!("the option `{shown}` has an empty level; {remedy}")));
    }
    if levels.len() > MOST_LEVELS {
        let count = levels.len();
        return Err(usage(format!(
            "the option `{shown}` has {count} levels, and {MOST_LEVELS} are the most; write fewer"
        )));
    }
    let says = |level: &OptionLevel| (level.mkfs.clone(), level.mount.clone(), level.queue.clone(), level.vm.clone());
    for (at, level) in levels.iter().enumerate() {
        if let Some(twin) = levels[..at].iter().find(|other| other.label == level.label || says(other) == says(level)) {
            return Err(usage(format!(
                "the levels `{}` and `{}` of the option `{shown}` are one; write two that differ",
                escaped(twin.label.as_bytes()),
                escaped(level.label.as_bytes())
            )));
        }
    }
    // By the name of its mkfs, and whether it has one.
    levels.iter().try_for_each(|level| of_mkfs(dialect, &level.mkfs).map(drop))?;
    let base = bare(lane);
    let lanes: Vec<LaneSpec> =
        levels.iter().map(|level| lane_with(&base, "option", &[level])).collect::<Result<_, _>>()?;
    let class = class_of(dialect, option, &levels, &lanes);
    let costs = costs_of(dialect, option, &levels);
    let table_usual = levels.first().map_or_else(String::new, |first| usual_level::of_table(dialect, first));
    let mut levels = levels.into_iter();
    Ok(Factor {
        name,
        usual: levels.next().unwrap_or_default(),
        other: levels.next().unwrap_or_default(),
        further: levels.collect(),
        class,
        costs,
        table_usual,
    })
}

/// What the other one of some levels costs; empty: nothing is known of it. `option`: of the table, which they are levels of.
pub(super) fn costs_of(dialect: &Dialect, option: Option<&ScreenedOption>, levels: &[OptionLevel]) -> String {
    // Of an interval, and of two numbers of the kernel's writeback, it is known of every level.
    if let [usual, other, ..] = levels
        && let Some(costs) =
            commit_interval::costs(dialect, usual, other).or_else(|| kernel_settings::costs(usual, other))
    {
        return costs;
    }
    if option.is_none() {
        return costs_of_own_words(dialect, levels).unwrap_or_default();
    }
    // What the table says is said of its first other level.
    let first = option.and_then(|option| option.others.first().map(|level| (level.label, option.costs)));
    first.map_or_else(String::new, |(label, costs)| match levels.get(1) {
        Some(other) if other.label == label => costs.to_owned(),
        Some(other) if option.is_some_and(|option| option.usual.label == other.label) => String::new(),
        _ => super::costs_of_level(label, costs),
    })
}

/// What the table tells of words of one's own that say what one of its levels says, beside the usual one; `None`: no level does.
fn costs_of_own_words(dialect: &Dialect, levels: &[OptionLevel]) -> Option<String> {
    let [usual, other, ..] = levels else { return None };
    let is_it = |level: &Level| told_by(dialect, &level.owned()) == told_by(dialect, other);
    let option = dialect.table.iter().find(|option| option.others.iter().any(is_it))?;
    let first = option.others.first().filter(|_| is_usual(option, usual))?;
    Some(if is_it(first) { option.costs.to_owned() } else { super::costs_of_level(first.label, option.costs) })
}

/// What a level says: to mkfs taken apart, to mount, to the queue and to the kernel.
fn told_by(dialect: &Dialect, level: &OptionLevel) -> (Vec<MkfsWord>, [Vec<String>; 3]) {
    let full = |word: &String| {
        let same = SHORT_FOR.iter().find(|(short, _)| short == word);
        same.map_or_else(|| word.clone(), |(_, full)| (*full).to_owned())
    };
    let mount = level.mount.iter().map(full).collect();
    let made = of_mkfs(dialect, &level.mkfs).unwrap_or_default();
    (made, [mount, level.queue.clone(), level.vm.clone()])
}

/// Whether a level that was typed is the usual one of an option of the table: `256`, `4096` for 4K, `no` for off.
fn is_usual(option: &ScreenedOption, typed: &OptionLevel) -> bool {
    let (label, usual) = (typed.label.as_str(), option.usual.label);
    let number = |text: &str| text.parse::<Bytes>().ok();
    let is_same_switch = SWITCHES.iter().any(|words| words.contains(&label) && words.contains(&usual));
    let is_same_number = number(label).is_some() && number(label) == number(usual);
    says_nothing(typed) || label == usual || is_same_switch || is_same_number
}

/// A lane's filesystem, told nothing.
pub(super) fn bare(lane: &LaneSpec) -> LaneSpec {
    LaneSpec {
        name: lane.name.clone(),
        contestant: lane.contestant.clone(),
        mkfs_options: Vec::new(),
        mount_options: Vec::new(),
        devices: 1,
        aged: None,
        full_percent: None,
        layers: Vec::new(),
        above: None,
        venue: None,
        server_answers: None,
    }
}

/// What the levels change beside speed: promises, where those of their lanes differ, or where they set what an option of the
/// table sets that does. Where the table knows nothing of what they set it is unknown.
pub(super) fn class_of(
    dialect: &Dialect,
    option: Option<&ScreenedOption>,
    levels: &[OptionLevel],
    lanes: &[LaneSpec],
) -> OptionClass {
    let promised = |lane: &LaneSpec| (dialect.promises)(&lane.mkfs_options, &lane.mount_options);
    let differ = lanes.windows(2).any(|two| promised(&two[0]) != promised(&two[1]));
    let set: Vec<_> = levels.iter().flat_map(|level| keys(dialect, level)).collect();
    let keys_of =
        |option: &ScreenedOption| option.levels().flat_map(|level| keys(dialect, &level.owned())).collect::<Vec<_>>();
    // Of two options that set one thing the one that changes promises counts.
    let is_set_by = |key: &(String, String), class: OptionClass| {
        dialect.table.iter().any(|option| option.class == class && keys_of(option).contains(key))
    };
    let changes = |key: &(String, String)| is_set_by(key, OptionClass::Promises);
    let is_known = |key: &(String, String)| changes(key) || is_set_by(key, OptionClass::Ordinary);
    match option {
        _ if differ => OptionClass::Promises,
        // An option of the table says itself what it is.
        Some(option) => option.class,
        None if set.iter().any(changes) => OptionClass::Promises,
        None if set.iter().all(is_known) => OptionClass::Ordinary,
        None => OptionClass::Unknown,
    }
}

#[cfg(test)]
mod tests;
