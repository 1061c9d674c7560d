//! Settings of the kernel that a person types: `vm.dirty_ratio=20|5`, and those by which lanes of one race cannot differ.

use super::{DIRTY_BACKGROUND_RATIO, DIRTY_RATIO, UNSAID};
use crate::failure::{LaneFailure, usage};
use crate::layers::VM_NAMES;
use model::Bytes;
use model::screening::OptionLevel;
use model::text::escaped;

/// How a setting of layer `vm` begins, as sysctl and as a lane have it.
const BEGINNINGS: [&str; 3] = ["vm.", "vm:", "vm,"];
/// How other settings of a whole kernel begin (sysctl).
const OTHERS: [&str; 2] = ["fs.", "kernel."];
const WRITEBACK: &str = "dirty_writeback_centisecs";

/// A setting that was typed.
pub(super) struct Setting<'a> {
    /// As layer `vm` calls it.
    pub(super) name: &'a str,
    /// The usual one first; empty: its name alone was typed.
    pub(super) levels: Vec<OptionLevel>,
}

/// Reads a setting of the kernel; `None`: it is none.
///
/// # Errors
/// [`LaneFailure::Usage`] for one by which lanes of one race cannot differ.
pub(super) fn read(text: &str) -> Result<Option<Setting<'_>>, LaneFailure> {
    let own = BEGINNINGS.iter().find_map(|begin| text.strip_prefix(begin));
    let (name, values) = match own.unwrap_or(text).split_once('=') {
        Some((name, values)) => (name, Some(values)),
        None => (own.unwrap_or(text), None),
    };
    if !VM_NAMES.contains(&name) {
        let is_of_kernel = own.is_some() || OTHERS.iter().any(|begin| text.starts_with(begin));
        return if is_of_kernel { Err(of_all_lanes(text)) } else { Ok(None) };
    }
    let level = |value: &str| OptionLevel {
        label: value.to_owned(),
        vm: if value == UNSAID { Vec::new() } else { vec![format!("{name}={value}")] },
        ..OptionLevel::default()
    };
    let levels = values.map(|values| values.split('|').map(level).collect()).unwrap_or_default();
    Ok(Some(Setting { name, levels }))
}

/// Lanes of one race share a kernel, and what cannot be set for a lane's turn alone is the same for all of them.
fn of_all_lanes(text: &str) -> LaneFailure {
    let name = text.split(['=', '|', ' ']).next().unwrap_or_default();
    usage(format!(
        "`{}` is one setting of a whole kernel, so lanes of one race cannot differ by it (but they can by vm.{}); set it, \
         race, set it back and race again, then type fairlane compare with both records",
        escaped(name.as_bytes()),
        VM_NAMES.join(", vm.")
    ))
}

/// What the other level costs beside the usual one, empty where it costs nothing that is known; `None`: they are no two numbers
/// of one setting.
pub(super) fn costs(usual: &OptionLevel, other: &OptionLevel) -> Option<String> {
    let ((name, before), (of_other, now)) = (number(usual)?, number(other)?);
    if name != of_other {
        return None;
    }
    let costs = match name {
        _ if !name.starts_with("dirty_") || now == before => "",
        _ if now > before => "a crash takes more of what nobody synced",
        // Below, as the tables say of their own levels.
        "dirty_ratio" | "dirty_bytes" => DIRTY_RATIO.costs,
        _ => DIRTY_BACKGROUND_RATIO.costs,
    };
    Some(costs.to_owned())
}

/// The setting that a level makes and nothing else, with its number.
fn number(level: &OptionLevel) -> Option<(&str, u64)> {
    let [setting] = level.vm.as_slice() else { return None };
    let (name, value) = setting.split_once('=')?;
    let number = value.parse::<Bytes>().ok()?.get();
    let is_alone = level.mkfs.is_empty() && level.mount.is_empty() && level.queue.is_empty();
    // It is never written back for its age then.
    let number = if name == WRITEBACK && number == 0 { u64::MAX } else { number };
    is_alone.then_some((name, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::screening::Factor;

    fn factor(text: &str) -> Factor {
        let Ok(Some(Setting { name, levels })) = read(text) else { panic!("{text}") };
        let mut levels = levels.into_iter();
        Factor {
            name: name.to_owned(),
            usual: levels.next().unwrap_or_default(),
            other: levels.next().unwrap_or_default(),
            further: levels.collect(),
            class: model::screening::OptionClass::Ordinary,
            costs: String::new(),
            table_usual: String::new(),
        }
    }

    #[test]
    fn settings_of_the_layer_are_read_in_every_spelling_and_others_are_refused() {
        for text in ["vm.dirty_ratio=20|5", "vm:dirty_ratio=20|5", "vm,dirty_ratio=20|5", "dirty_ratio=20|5"] {
            let factor = factor(text);
            let said = [&factor.usual, &factor.other].map(|level| (level.label.as_str(), level.vm.join(" ")));
            let wanted = [("20", "dirty_ratio=20".to_owned()), ("5", "dirty_ratio=5".to_owned())];
            assert_eq!((factor.name.as_str(), said), ("dirty_ratio", wanted), "{text}");
        }
        assert_eq!(factor("vm.swappiness=default|10").usual.vm, Vec::<String>::new());
        let alone = read("vm.dirty_ratio").unwrap().map(|setting| (setting.name, setting.levels.len()));
        assert_eq!(alone, Some(("dirty_ratio", 0)));
        for text in ["commit=5|30", "noatime", "dirty_ratios=5", "queue:scheduler=none", "-O x", "vmx=1"] {
            assert!(matches!(read(text), Ok(None)), "{text}");
        }
        for text in ["vm.overcommit_memory=0|1", "vm.=1", "kernel.panic=1", "fs.file-max"] {
            let said = read(text).map(drop).unwrap_err().to_string();
            assert!(said.contains("one setting of a whole kernel") && said.contains("fairlane compare"), "{said}");
        }
    }

    #[test]
    fn what_is_written_back_later_or_sooner_costs_what_the_tables_say_of_their_levels_or_more_by_a_crash() {
        let costs = |text: &str| {
            let Factor { usual, other, .. } = factor(text);
            super::costs(&usual, &other)
        };
        for text in [
            "vm.dirty_ratio=20|40",
            "vm.dirty_background_ratio=10|30",
            "vm.dirty_bytes=256M|1G",
            "vm.dirty_expire_centisecs=3000|6000",
            "vm.dirty_writeback_centisecs=500|0",
        ] {
            assert!(costs(text).is_some_and(|said| said.contains("nobody synced")), "{text}");
        }
        for (text, says) in [
            ("vm.dirty_ratio=20|5", "who writes waits for the disk sooner"),
            ("vm.dirty_bytes=1G|256M", "who writes waits for the disk sooner"),
            ("vm.dirty_background_ratio=10|2", "reaches the disk all the same"),
            ("vm.dirty_background_bytes=1G|64M", "reaches the disk all the same"),
            ("vm.dirty_expire_centisecs=3000|100", "reaches the disk all the same"),
            ("vm.dirty_writeback_centisecs=0|500", "reaches the disk all the same"),
        ] {
            assert!(costs(text).is_some_and(|said| said.contains(says)), "{text}");
        }
        // What this machine has by itself is not asked.
        for text in ["vm.dirty_ratio=default|5", "vm.dirty_ratio=default|60", "vm.dirty_bytes=default|1G"] {
            assert_eq!(costs(text), None, "{text}");
        }
        assert_eq!(costs("vm.swappiness=10|60").as_deref(), Some(""));
        let [ratio, bytes] = ["vm.dirty_ratio=20|5", "vm.dirty_bytes=1G|2G"].map(factor);
        assert_eq!(super::costs(&ratio.usual, &bytes.other), None, "two settings");
        let more = OptionLevel { mount: vec!["nobarrier".to_owned()], ..ratio.other };
        assert_eq!(super::costs(&ratio.usual, &more), None, "it says something else too");
    }
}
