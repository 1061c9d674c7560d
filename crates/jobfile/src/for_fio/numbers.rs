//! Numbers of options that fio reads by itself, as far as memory and space hang on them.

use crate::syntax::Setting;
use crate::values::{self, Base};
use crate::{JobFileError, shown, take};

/// fio's block where a job names none.
const USUAL_BLOCK: u64 = 4096;
/// The options that say how large blocks are.
const BLOCKS: [&str; 3] = ["bs", "bsrange", "bssplit"];

pub(super) fn find<'a>(settings: &'a [Setting], name: &str) -> Option<&'a Setting> {
    settings.iter().find(|setting| setting.row.name == name)
}

/// The value of an option that is set.
pub(super) fn value<'a>(settings: &'a [Setting], name: &str) -> Option<&'a str> {
    find(settings, name).and_then(|setting| setting.value.as_deref())
}

/// What a switch says; `None` where it is not set, or holds what only fio understands.
pub(super) fn switch(settings: &[Setting], name: &str) -> Option<bool> {
    find(settings, name).and_then(|setting| values::switch(setting.value.as_deref()).ok())
}

/// Whether a switch is set to anything but 0.
pub(super) fn maybe_on(settings: &[Setting], name: &str) -> bool {
    find(settings, name).is_some() && switch(settings, name) != Some(false)
}

/// The largest number of an option that may not be there.
pub(super) fn number(settings: &[Setting], name: &str) -> Result<Option<u64>, JobFileError> {
    find(settings, name).map(|setting| largest(setting, base(settings))).transpose()
}

fn base(settings: &[Setting]) -> Base {
    value(settings, "kb_base").map_or(Base::Binary, |text| take::base_of(text).unwrap_or(Base::Binary))
}

/// The largest number that an option gives: of `4k-64k`, `4k,8k` and `4k/50:64k/50` that of all parts; 0 where it gives
/// percentages alone.
///
/// # Errors
/// fio reads more than is read here (fractions, expressions between commas): how much that is nobody knows.
fn largest(setting: &Setting, base: Base) -> Result<u64, JobFileError> {
    let text = setting.value.as_deref().unwrap_or("").trim();
    if let Ok(number) = values::number(text, base) {
        return Ok(number);
    }
    let number = |part: &str| match part.strip_suffix('%') {
        Some(percent) if percent.parse::<u32>().is_ok() => Ok(0),
        _ => values::number(part, base),
    };
    // Between commas stands nothing where a direction keeps its default.
    let ends = text.split([',', ':', '/']).map(str::trim).filter(|part| !part.is_empty());
    let mut most = None;
    for end in ends.flat_map(|part| part.split('-')) {
        match number(end.trim()) {
            Ok(number) => most = most.max(Some(number)),
            Err(_) => {
                most = None;
                break;
            }
        }
    }
    most.ok_or_else(|| {
        let what = format!(
            "{}={}: how much memory and space that takes is not known; write a number such as 4k",
            setting.written,
            shown(text).trim_matches('`')
        );
        setting.place.refuse(what)
    })
}

/// The largest block of any direction.
pub(super) fn largest_block(settings: &[Setting]) -> Result<u64, JobFileError> {
    let mut block = None;
    for name in BLOCKS {
        block = block.max(number(settings, name)?);
    }
    Ok(block.unwrap_or(USUAL_BLOCK))
}

/// The smallest block of any direction, also of one that the job does not work in: fio's maps have a bit for each.
pub(super) fn smallest_block(settings: &[Setting]) -> u64 {
    let base = base(settings);
    let of = |text: &str| {
        if let Ok(number) = values::number(text.trim(), base) {
            return number;
        }
        let size = |part: &str| match part.split('/').next().unwrap_or_default().trim() {
            "" => USUAL_BLOCK,
            size => values::number(size, base).unwrap_or(1),
        };
        text.split([',', ':', '-']).map(size).min().unwrap_or(1)
    };
    BLOCKS.iter().filter_map(|name| value(settings, name)).map(of).min().unwrap_or(USUAL_BLOCK).max(1)
}
