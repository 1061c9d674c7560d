//! An option as a record holds it, which may come from anybody: its words tell what it changes and costs.

use super::dialect::Dialect;
use super::join::{dialect_of, lane_with};
use super::level_words::{keys, of_mkfs};
use super::parse::{bare, class_of, costs_of};
use super::{ScreenedOption, as_here, factor, is_of, usual_level};
use model::lane::LaneSpec;
use model::screening::{Factor, OptionClass, OptionLevel};

/// An option of a record as its words are known here, whatever the record says of it: what it costs, that it changes
/// promises, or that nobody knows what it changes, and what is usual where its first level is not. What a record itself calls
/// more than ordinary stays so. `base`: the lane that was screened; `None`: none that can be typed.
pub fn as_known(base: Option<&LaneSpec>, recorded: &Factor) -> Factor {
    let known = base.and_then(|base| known(base, recorded));
    let (class, costs) = known.unwrap_or((OptionClass::Unknown, String::new()));
    let class = match (recorded.class, class) {
        (OptionClass::Ordinary, known) => known,
        // That it changes promises is known of its words, whatever it is called.
        (OptionClass::Unknown, OptionClass::Promises) => OptionClass::Promises,
        (said, _) => said,
    };
    let dialect = base.and_then(|base| dialect_of(base).ok());
    let table_usual = dialect.map_or_else(String::new, |dialect| usual_level::of_table(&dialect, &recorded.usual));
    Factor { class, costs, table_usual, ..recorded.clone() }
}

/// What is known of its words; `None`: no lane may say them.
fn known(base: &LaneSpec, recorded: &Factor) -> Option<(OptionClass, String)> {
    let dialect = dialect_of(base).ok()?;
    if dialect.table.iter().any(|option| is_of(recorded, &factor(option))) {
        return Some((recorded.class, recorded.costs.clone()));
    }
    let levels: Vec<OptionLevel> =
        [&recorded.usual, &recorded.other].into_iter().chain(&recorded.further).cloned().collect();
    levels.iter().try_for_each(|level| of_mkfs(&dialect, &level.mkfs).map(drop)).ok()?;
    let base = bare(base);
    let lane = |level: &OptionLevel| lane_with(&base, "option", &[level]).ok();
    let lanes: Vec<LaneSpec> = levels.iter().map(lane).collect::<Option<_>>()?;
    if !is_named_so(&dialect, &recorded.name, &levels) {
        // Its own words tell that it changes promises; that it changes none is told by no other name.
        let class = class_of(&dialect, None, &levels, &lanes);
        return (class == OptionClass::Promises).then(|| (class, String::new()));
    }
    let option = dialect.table.iter().find(|option| option.name == recorded.name && are_of(option, &levels));
    let costs = costs_of(&dialect, option, &levels);
    Some((class_of(&dialect, option, &levels, &lanes), costs))
}

/// Whether levels set nothing but what an option of the table does that is called so, where there is one: nobody reads another
/// one behind its name.
fn is_named_so(dialect: &Dialect, name: &str, levels: &[OptionLevel]) -> bool {
    let Some(option) = dialect.table.iter().find(|option| option.name == name) else { return true };
    let known: Vec<_> = option.levels().flat_map(|level| set_by(dialect, &level.owned())).collect();
    levels.iter().flat_map(|level| set_by(dialect, level)).all(|key| known.contains(&key))
}

/// Everything that a level sets: of mkfs and mount, of the disk's queue and of the kernel.
fn set_by(dialect: &Dialect, level: &OptionLevel) -> Vec<(String, String)> {
    let settings = |of: &str, words: &[String]| -> Vec<(String, String)> {
        words.iter().map(|word| (of.to_owned(), word.split('=').next().unwrap_or_default().to_owned())).collect()
    };
    [keys(dialect, level), settings("queue", &level.queue), settings("vm", &level.vm)].concat()
}

/// Whether all of some levels are those of an option of the table; the usual one may be told as it is on lanes of some size.
pub(super) fn are_of(option: &ScreenedOption, levels: &[OptionLevel]) -> bool {
    let all: Vec<OptionLevel> = option.levels().map(super::Level::owned).collect();
    let is_usual_here = |level: &OptionLevel| all.iter().any(|same| *level == as_here(&option.usual.owned(), same));
    levels.iter().enumerate().all(|(at, level)| all.contains(level) || (at == 0 && is_usual_here(level)))
}

#[cfg(test)]
mod tests {
    use super::super::{options_of, parse_option};
    use super::*;

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap()
    }

    /// An option that a record calls harmless, between a lane that says nothing and these words for mount.
    fn claimed(name: &str, mount: &[&str]) -> Factor {
        Factor {
            name: name.to_owned(),
            usual: OptionLevel { label: "off".to_owned(), ..OptionLevel::default() },
            other: OptionLevel {
                label: "on".to_owned(),
                mount: mount.iter().map(|&word| word.to_owned()).collect(),
                ..OptionLevel::default()
            },
            further: Vec::new(),
            class: OptionClass::Ordinary,
            costs: "none".to_owned(),
            table_usual: String::new(),
        }
    }

    #[test]
    fn what_a_record_calls_harmless_is_what_its_words_make_it() {
        use OptionClass::{Ordinary, Promises, Unknown};
        for (base, name, mount, class) in [
            // Behind a name of the table other words.
            ("ext4", "noatime", &["nobarrier"][..], Promises),
            ("ext4", "noatime", &["noatime", "nobarrier"][..], Promises),
            ("ext4", "noatime", &["commit=300"][..], Unknown),
            ("ext4", "read_ahead", &["commit=300"][..], Unknown),
            ("ext4", "barrier", &["nobarrier"][..], Promises),
            ("ext4", "speed", &["nobarrier"][..], Promises),
            ("ext4", "speed", &["nodelalloc", "nobarrier"][..], Promises),
            ("ext4", "speed", &["nombcache"][..], Unknown),
            ("ext4", "speed", &["commit=5,nobarrier"][..], Unknown),
            ("ext4", "speed", &["suid"][..], Unknown),
            ("./my.toml", "noatime", &["noatime"][..], Unknown),
            ("exr4", "noatime", &["noatime"][..], Unknown),
            ("ext4", "speed", &["nodelalloc"][..], Ordinary),
        ] {
            let known = as_known(Some(&lane(base)), &claimed(name, mount));
            // What words cost is known of them, but for those behind the name of another option.
            let of = |name: &str| options_of("ext4").iter().find(|option| option.name == name).unwrap().costs;
            let costs = match (name, mount) {
                ("barrier" | "speed", ["nobarrier"]) => of("barrier"),
                ("speed", ["nodelalloc"]) => of("delalloc"),
                _ => "",
            };
            assert_eq!((known.class, known.costs.as_str()), (class, costs), "{base} {name} {mount:?}");
            assert_eq!(known.other, claimed(name, mount).other, "its words stay");
        }
        let noatime = as_known(Some(&lane("ext4")), &claimed("noatime", &["noatime"]));
        assert_eq!(noatime, factor(options_of("ext4").iter().find(|option| option.name == "noatime").unwrap()));
        assert_eq!(as_known(None, &claimed("noatime", &["noatime"])).class, Unknown);
        let made = Factor {
            other: OptionLevel {
                label: "on".to_owned(),
                mkfs: ["-O", "^has_journal"].map(str::to_owned).to_vec(),
                ..OptionLevel::default()
            },
            ..claimed("flex_bg", &[])
        };
        assert_eq!(as_known(Some(&lane("ext4")), &made).class, Promises);
        assert_eq!(as_known(Some(&lane("ext4")), &Factor { name: "speed".to_owned(), ..made }).class, Promises);
        let unknown = Factor { class: Unknown, ..claimed("noatime", &["nobarrier"]) };
        assert_eq!(as_known(Some(&lane("ext4")), &unknown).class, Promises, "it is in a table");
    }

    #[test]
    fn what_was_typed_or_stands_in_a_table_is_known_as_it_was_screened() {
        for (base, text) in [
            ("ext4", "commit=5|45"),
            ("ext4", "commit=30|5"),
            ("ext4", "nodelalloc|delalloc"),
            ("ext4", "-b 4096|1024"),
            ("ext4", "-O flex_bg|^flex_bg"),
            ("ext4", "-m 5|0"),
            ("ext4", "nobarrier"),
            ("ext4", "data=ordered|writeback"),
            ("ext4", "read_ahead=16K|1M"),
            ("xfs", "queue:scheduler=none|bfq"),
            ("xfs", "logbsize=64k|32k"),
            ("xfs", "-m reflink=1|0"),
            ("btrfs", "compress=zstd:1|lzo"),
            ("btrfs", "vm.dirty_ratio=20|60"),
            ("btrfs", "vm.dirty_ratio=default|5"),
            ("btrfs", "vm.dirty_ratio=default|10"),
            ("ext4", "vm.dirty_ratio=5|10"),
            ("ext4", "vm.dirty_background_ratio=10|2"),
            ("ext4", "vm.dirty_expire_centisecs=3000|100"),
            ("nilfs2", "order=relaxed|strict"),
        ] {
            let typed = parse_option(&lane(base), text).unwrap();
            assert_eq!(as_known(Some(&lane(base)), &typed), typed, "{base} {text}");
            let claimed = Factor { class: OptionClass::Ordinary, costs: "none".to_owned(), ..typed.clone() };
            assert_eq!(as_known(Some(&lane(base)), &claimed).class, typed.class, "{base} {text}");
        }
        for filesystem in ["ext4", "xfs", "btrfs", "f2fs"] {
            for option in options_of(filesystem) {
                let whole = factor(option);
                assert_eq!(as_known(Some(&lane(filesystem)), &whole), whole, "{filesystem} {}", option.name);
            }
        }
        // What older records call a change of promises stays one.
        let typed = parse_option(&lane("ext4"), "-m 5|0").unwrap();
        let before = Factor { class: OptionClass::Promises, ..typed };
        assert_eq!(as_known(Some(&lane("ext4")), &before), before);
    }

    #[test]
    fn queues_of_lanes_by_a_file_of_ones_own_stay_ordinary() {
        let own = lane("./my.toml");
        let queue = Factor {
            other: OptionLevel {
                label: "4M".to_owned(),
                queue: vec!["read_ahead=4M".to_owned()],
                ..OptionLevel::default()
            },
            ..claimed("read_ahead", &[])
        };
        let known = as_known(Some(&own), &queue);
        assert_eq!((known.class, known.costs.as_str()), (OptionClass::Ordinary, ""));
    }
}
