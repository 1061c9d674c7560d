//! What all records of a gate must share, what may differ between its sides and is then what is
//! compared, and what a reader has to know.

use super::{Named, Side};
use crate::comparable::{FOREIGN, guest_of, on_images};
use crate::servers;
use crate::words;
use model::Throttle;
use model::lane::Lane;
use model::machine::{Device, is_untold};
use model::oltp::Oltp;
use model::ranks::JobRanks;
use model::record::{EndOutcome, Header};
use model::workload::{Kind, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// What stands in place of machines that nobody can tell apart.
const UNTOLD_MACHINES: &str = "on which machines the records were raced is not known, because some were shared without saying so; \
    another machine would be part of every difference";
/// Columns that a value may take in a sentence.
const VALUE_CHARACTERS: usize = 60;

/// Why these records may not be compared, as one sentence with the remedy.
///
/// # Errors
/// The first difference found, with the two records that show it.
pub fn check(sides: [&Side; 2]) -> Result<(), String> {
    let all: Vec<&Named> = sides.iter().flat_map(|side| &side.records).collect();
    let Some((first, rest)) = all.split_first() else { return Ok(()) };
    for (at, one) in all.iter().enumerate() {
        let same = |other: &&&Named| {
            let copied = is_foreign(other) && other.record.trials == one.record.trials;
            other.record.header == one.record.header || copied
        };
        if let Some(same) = all[..at].iter().find(same) {
            return Err(format!(
                "{} and {} are one and the same race, which cannot stand for two; remove one of them",
                same.name, one.name
            ));
        }
    }
    for other in rest {
        same_race(first, other)?;
    }
    // A lane or a workload is held against the first record that has it.
    let mut lanes: BTreeMap<&str, (&Named, &Lane)> = BTreeMap::new();
    let mut workloads: BTreeMap<&str, (&Named, &Workload)> = BTreeMap::new();
    for named in all {
        for workload in &named.record.header.plan.workloads {
            let (first, like) = *workloads.entry(&workload.name).or_insert((named, workload));
            same_work((first, like), (named, workload))?;
        }
        for lane in &named.record.header.lanes {
            let (first, like) = *lanes.entry(&lane.name).or_insert((named, lane));
            same_lane((first, like), (named, lane))?;
        }
    }
    sides.iter().try_for_each(|side| same_mount_options(side).and_then(|()| same_settings(side)))
}

fn same_race(a: &Named, b: &Named) -> Result<(), String> {
    let (one, other) = (&a.record.header, &b.record.header);
    let (of_a, of_b) = (&a.name, &b.name);
    if one.version != other.version {
        return Err(format!(
            "{of_a} was raced by Fairlane {} and {of_b} by {}, which may measure in another way; race both sides with \
             one version",
            one.version, other.version
        ));
    }
    if one.plan.suite != other.plan.suite {
        return Err(format!(
            "{of_a} is a race of {} and {of_b} of {}; race the same suite on both sides",
            one.plan.suite, other.plan.suite
        ));
    }
    if one.plan.as_published != other.plan.as_published {
        return Err(format!(
            "only one of {of_a} and {of_b} was raced as published; race both sides with --as-published, or neither"
        ));
    }
    if one.plan.lane_size != other.plan.lane_size {
        return Err(format!(
            "the lanes of {of_a} have {} and those of {of_b} {}; race both sides with the same --lane-size",
            one.plan.lane_size, other.plan.lane_size
        ));
    }
    Ok(())
}

fn same_work((a, mine): (&Named, &Workload), (b, theirs): (&Named, &Workload)) -> Result<(), String> {
    if mine.kind == theirs.kind || only_settings_differ(&mine.kind, &theirs.kind) {
        return Ok(());
    }
    let mut different = mine.differing_values(theirs);
    // What kind of work it is explains all other differences.
    different.sort_by_key(|(key, ..)| key != "kind");
    let what = match different.first() {
        Some((key, one, other)) if [one, other].iter().all(|value| is_short(value.as_deref())) => {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "its default".to_owned());
            format!("{key} is {} in {} and {} in {}", value(one), a.name, value(other), b.name)
        }
        Some((key, ..)) => format!("{key} is another in {} than in {}", a.name, b.name),
        None => format!("its parameters are others in {} than in {}", a.name, b.name),
    };
    let more = match different.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", words::count(count - 1, "key")),
    };
    Err(format!("workload {} differs: {what}{more}; race both sides with the same parameters", mine.name))
}

/// Whether two databases are told other settings, which is then what is compared: all else is alike, and so is what keeps a
/// commit.
fn only_settings_differ(mine: &Kind, theirs: &Kind) -> bool {
    let (Kind::Oltp(mine), Kind::Oltp(theirs)) = (mine, theirs) else { return false };
    let alike = Oltp { options: theirs.options.clone(), pool: theirs.pool, ..(**mine).clone() };
    alike == **theirs && mine.durability() == theirs.durability()
}

/// What a database is told; `None`: it is other work.
fn settings(of: &Workload) -> Option<String> {
    let Kind::Oltp(oltp) = &of.kind else { return None };
    let told = oltp.options.iter().map(|(key, value)| format!(", {key}={value}"));
    Some(format!("pool={}{}", oltp.pool, told.collect::<String>()))
}

/// Settings of databases may differ between the sides, and not within one.
fn same_settings(side: &Side) -> Result<(), String> {
    let mut seen: BTreeMap<&str, (&Named, String)> = BTreeMap::new();
    for named in &side.records {
        for workload in &named.record.header.plan.workloads {
            let Some(told) = settings(workload) else { continue };
            let (first, like) = seen.entry(&workload.name).or_insert_with(|| (named, told.clone()));
            if *like != told {
                return Err(format!(
                    "the {} sets the database of {} in two ways ({like} in {}, {told} in {}), so its records are no \
                     replicates; keep those of one way",
                    side.called, workload.name, first.name, named.name
                ));
            }
        }
    }
    Ok(())
}

fn is_short(value: Option<&str>) -> bool {
    value.is_none_or(|value| value.chars().count() <= VALUE_CHARACTERS)
}

fn same_ground((of_a, mine): (&str, &Lane), (of_b, theirs): (&str, &Lane)) -> Result<(), String> {
    let lane = &mine.name;
    let (on, other) = (mine.stands_on(), theirs.stands_on());
    if on != other {
        return Err(format!(
            "lane {lane} stands on {on} in {of_a} and on {other} in {of_b}; race the two as lanes of one race"
        ));
    }
    let (past, other) = (mine.past(), theirs.past());
    if past != other {
        return Err(format!(
            "lane {lane} is {past} in {of_a} and {other} in {of_b}; race the two as lanes of one race"
        ));
    }
    if let Some([said, other]) = servers::said_otherwise(mine, theirs) {
        return Err(format!(
            "of the server of lane {lane} {said} was said in {of_a} and {other} in {of_b}; race both sides with the same server="
        ));
    }
    Ok(())
}

fn same_lane((a, mine): (&Named, &Lane), (b, theirs): (&Named, &Lane)) -> Result<(), String> {
    let lane = &mine.name;
    let (of_a, of_b) = (&a.name, &b.name);
    if mine.filesystem != theirs.filesystem {
        return Err(format!(
            "lane {lane} is {} in {of_a} and {} in {of_b}; name lanes apart with NAME=FS, or race the two in one race",
            mine.filesystem, theirs.filesystem
        ));
    }
    if mine.mkfs_command != theirs.mkfs_command {
        return Err(format!(
            "lane {lane} was made by `{}` in {of_a} and by `{}` in {of_b}; mkfs options are compared as two lanes of \
             one race, whose rounds pair",
            mine.mkfs_command.join(" "),
            theirs.mkfs_command.join(" ")
        ));
    }
    same_ground((of_a, mine), (of_b, theirs))?;
    if mine.promises != theirs.promises {
        let mut different = mine.promises.durability_differences(&theirs.promises);
        if mine.promises.data_checksums != theirs.promises.data_checksums {
            different.push("data checksums");
        }
        return Err(format!(
            "lane {lane} promises other things in {of_a} than in {of_b} ({}), so its speeds are not those of the same \
             work; race both sides with the same promises",
            words::list(&different)
        ));
    }
    if mine.venue != theirs.venue {
        return Err(format!(
            "lane {lane} stands on another venue ({} in {of_a}, {} in {of_b}); race both sides on the same",
            mine.venue, theirs.venue
        ));
    }
    if mine.flushes_stop_short != theirs.flushes_stop_short {
        return Err(format!(
            "flushes of lane {lane} reach a disk in one of {of_a} and {of_b} alone; race both sides with --guest-sync or \
             neither"
        ));
    }
    if let (Some(before), Some(after)) = (guest_of(mine), guest_of(theirs))
        && before != after
    {
        return Err(format!(
            "lane {lane} lived in other guests ({before} in {of_a}, {after} in {of_b}); race both sides with the same \
             --guest-cpus and --guest-memory, on machines where KVM works on both or on neither"
        ));
    }
    let (before, after) = (a.record.header.plan.throttle_of(lane), b.record.header.plan.throttle_of(lane));
    if before != after {
        let said = |throttle: Option<Throttle>| throttle.map_or("nothing".to_owned(), |throttle| throttle.to_string());
        return Err(format!(
            "lane {lane} was held to {} in {of_a} and to {} in {of_b}; race both sides with the same --throttle",
            said(before),
            said(after)
        ));
    }
    if mine.size_bytes != theirs.size_bytes {
        return Err(format!(
            "lane {lane} has {} in {of_a} and {} in {of_b}; race both sides with lanes of one size",
            words::bytes(mine.size_bytes as f64),
            words::bytes(theirs.size_bytes as f64)
        ));
    }
    same_ranks(a, b)
}

fn same_ranks(a: &Named, b: &Named) -> Result<(), String> {
    // Which of them do a workload stands in its name.
    let of = |of: &Named| of.record.header.plan.ranks.as_ref().map(|JobRanks { ranks, nodes, .. }| (*ranks, *nodes));
    let said = |named: &Named| match of(named) {
        Some((ranks, nodes)) => {
            format!("{} on {}", words::count(ranks as usize, "rank"), words::count(nodes as usize, "node"))
        }
        None => "one process".to_owned(),
    };
    match of(a) == of(b) {
        true => Ok(()),
        false => Err(format!(
            "the work was done by {} in {} and by {} in {}; race both sides with as many ranks on as many nodes",
            said(a),
            a.name,
            said(b),
            b.name
        )),
    }
}

/// Mount options may differ between the sides, where they are what is compared, and not within one. A
/// directory's are the host's and not chosen.
fn same_mount_options(side: &Side) -> Result<(), String> {
    let mut seen: BTreeMap<&str, (&Named, &Lane)> = BTreeMap::new();
    for named in &side.records {
        for lane in named.record.header.lanes.iter().filter(|lane| lane.venue != "directory") {
            let (first, like) = *seen.entry(&lane.name).or_insert((named, lane));
            if like.mount_options != lane.mount_options {
                return Err(format!(
                    "the {} mounts lane {} in two ways ({} in {}, {} in {}), so its records are no replicates; keep \
                     those of one way",
                    side.called,
                    lane.name,
                    like.mount_options.join(","),
                    first.name,
                    lane.mount_options.join(","),
                    named.name
                ));
            }
        }
    }
    Ok(())
}

/// A property of a record as a sentence shows it; `None`: the record does not have it.
type Property<'a> = (String, Box<dyn Fn(&Header) -> Option<String> + 'a>);

/// What differs between the sides, kernels first; and warnings, where a side is not alike in itself
/// or the machine is another.
pub fn differences(sides: [&Side; 2]) -> (Vec<String>, Vec<String>) {
    let (mut changes, mut warnings) = (Vec::new(), Vec::new());
    for (what, property) in compared(sides) {
        let [before, after] = sides.map(|side| distinct(side, &property));
        for (side, values) in sides.iter().zip([&before, &after]) {
            if values.len() > 1 {
                warnings.push(format!(
                    "the {}'s records differ in {what} ({}): their difference is part of its interval",
                    side.called,
                    shown(values)
                ));
            }
        }
        if before != after && !before.is_empty() && !after.is_empty() {
            changes.push(format!("{what}: {} -> {}", shown(&before), shown(&after)));
        }
    }
    for (what, property) in machine() {
        let [before, after] = sides.map(|side| distinct(side, &property));
        if before.iter().chain(&after).any(|value| is_untold(value)) {
            warnings.push(UNTOLD_MACHINES.to_owned());
        } else if before != after {
            warnings.push(format!(
                "different {what}: {} in the baseline, {} in the candidate; that is part of every difference",
                shown(&before),
                shown(&after)
            ));
        } else if before.len() > 1 {
            warnings.push(format!("both sides have several {what}: {}", shown(&before)));
        }
    }
    warnings.extend(memory(sides));
    (changes, warnings)
}

/// Machines of different memory; two kernels of one machine keep different amounts to themselves.
fn memory(sides: [&Side; 2]) -> Option<String> {
    let sizes = sides.iter().flat_map(|side| &side.records).map(|named| named.record.header.machine.memory_bytes);
    let (least, most) = sizes.fold((u64::MAX, 0), |(least, most), bytes| (least.min(bytes), most.max(bytes)));
    (most.saturating_sub(least) > most / 50).then(|| {
        format!(
            "different sizes of memory: {} to {}; that is part of every difference",
            words::bytes(least as f64),
            words::bytes(most as f64)
        )
    })
}

/// What may differ between the sides and is then what is compared, or belongs to it.
fn compared<'a>(sides: [&'a Side; 2]) -> Vec<Property<'a>> {
    let mut all: Vec<Property> = vec![
        ("kernel".into(), Box::new(|of: &Header| Some(of.machine.kernel.clone()))),
        ("kernel build".into(), Box::new(|of: &Header| Some(of.machine.kernel_build.clone()))),
        ("system".into(), Box::new(|of: &Header| Some(of.machine.os.clone()))),
        ("tools".into(), Box::new(|of: &Header| Some(of.machine.tools.join(", ")))),
        ("CPU governor".into(), Box::new(|of: &Header| Some(of.machine.governor.clone()))),
        ("I/O scheduler".into(), Box::new(|of: &Header| Some(of.machine.device.scheduler.clone()))),
        ("write cache".into(), Box::new(|of: &Header| Some(of.machine.device.write_cache.clone()))),
        ("filesystem under the images".into(), Box::new(|of: &Header| Some(host(of)))),
        ("writeback settings".into(), Box::new(|of: &Header| Some(writeback(of)))),
    ];
    all.extend(LATER_SETTINGS.map(later_setting));
    // Another release is always another build.
    if distinct(sides[0], &all[0].1) != distinct(sides[1], &all[0].1) {
        drop(all.remove(1));
    }
    all.extend(database_settings(sides));
    let mut names: Vec<&str> = Vec::new();
    for lane in sides.iter().flat_map(|side| &side.records).flat_map(|named| &named.record.header.lanes) {
        if !names.contains(&lane.name.as_str()) {
            names.push(&lane.name);
        }
    }
    for name in names {
        let lane = move |of: &Header| of.lanes.iter().find(|lane| lane.name == name).cloned();
        let kernel = move |of: &Header| lane(of).map(|lane| lane.kernel).filter(|kernel| !kernel.is_empty());
        // Two kernels may bear one release: where only the image differs it is told by its number.
        let build = move |of: &Header| lane(of).map(|lane| lane.kernel_build).filter(|build| !build.is_empty());
        all.push((format!("kernel of {name}'s guest"), Box::new(kernel)));
        all.push((format!("kernel image of {name}'s guest"), Box::new(build)));
        all.push((
            format!("mount options of {name}"),
            Box::new(move |of: &Header| Some(lane(of)?.mount_options.join(","))),
        ));
        // The guest was held against the other's already, and its kernel stands above.
        let geometry = move |of: &Header| {
            let lines = lane(of)?.geometry.into_iter().filter(|line| !line.starts_with("guest: "));
            Some(lines.collect::<Vec<_>>().join(", "))
        };
        all.push((format!("geometry of {name}"), Box::new(geometry)));
        // Images are new files wherever they lie; a device or a directory is a place of its own.
        let place = move |of: &Header| lane(of).filter(|lane| !on_images(&lane.venue)).map(|lane| lane.ground);
        all.push((format!("place of {name}"), Box::new(place)));
    }
    all
}

/// What databases are told, each work of theirs once.
fn database_settings<'a>(sides: [&'a Side; 2]) -> Vec<Property<'a>> {
    let headers = sides.into_iter().flat_map(|side| &side.records).map(|named| &named.record.header);
    let databases = headers.flat_map(|of| &of.plan.workloads).filter(|workload| settings(workload).is_some());
    let names: BTreeSet<&str> = databases.map(|workload| workload.name.as_str()).collect();
    let property = |name: &'a str| -> Property<'a> {
        let told = move |of: &Header| settings(of.plan.workloads.iter().find(|workload| workload.name == name)?);
        (format!("settings of the database of {name}"), Box::new(told))
    };
    names.into_iter().map(property).collect()
}

fn host(of: &Header) -> String {
    let device = &of.machine.device;
    format!("{} {}", device.host_filesystem, device.host_mount_options).trim().to_owned()
}

fn writeback(of: &Header) -> String {
    let of = &of.machine;
    format!(
        "dirty_ratio {}, background {}, expire {} cs, writeback {} cs",
        of.dirty_ratio, of.dirty_background_ratio, of.dirty_expire_centisecs, of.dirty_writeback_centisecs
    )
}

/// Settings of the kernel that records of before do not hold: of a side without one nothing is said.
const LATER_SETTINGS: [&str; 4] = ["dirty_bytes", "dirty_background_bytes", "vfs_cache_pressure", "swappiness"];

fn later_setting<'a>(name: &'static str) -> Property<'a> {
    let told = move |of: &Header| {
        let settings = of.machine.kernel_settings();
        settings.into_iter().find(|(of, _)| *of == name).map(|(_, value)| value.to_string())
    };
    (format!("vm.{name}"), Box::new(told))
}

fn rounds(of: &Header) -> String {
    match of.plan.rounds {
        model::plan::Rounds::Auto => "until decided".to_owned(),
        model::plan::Rounds::Fixed(rounds) => rounds.to_string(),
    }
}

/// What a machine is, and how long it was raced: a difference is no change that a candidate brings.
fn machine<'a>() -> Vec<Property<'a>> {
    vec![
        (
            "machines (by machine-id, which a new installation changes)".into(),
            Box::new(|of: &Header| Some(of.machine.machine_id_hash.clone())),
        ),
        ("numbers of rounds".into(), Box::new(|of: &Header| Some(rounds(of)))),
        ("CPUs".into(), Box::new(|of: &Header| Some(format!("{} x {}", of.machine.cpus, of.machine.cpu)))),
        (
            "disks".into(),
            Box::new(|of: &Header| {
                let words = |device: &Device| {
                    // Kernel names such as sda change from boot to boot: only without a model they must do.
                    let model = if device.model.is_empty() { &device.name } else { &device.model };
                    format!("{model}, {}", words::bytes(device.size_bytes as f64))
                };
                let all = std::iter::once(&of.machine.device).chain(&of.machine.further_disks).map(words);
                (!of.machine.device.name.is_empty()).then(|| all.collect::<Vec<_>>().join("; "))
            }),
        ),
    ]
}

/// The values of a property on one side, in order of time, each once.
fn distinct(side: &Side, property: &dyn Fn(&Header) -> Option<String>) -> Vec<String> {
    let mut values = Vec::new();
    for named in &side.records {
        if let Some(value) = property(&named.record.header).filter(|value| !values.contains(value)) {
            values.push(value);
        }
    }
    values.sort();
    values
}

fn shown(values: &[String]) -> String {
    let of = |value: &String| if value.is_empty() { "nothing".to_owned() } else { value.clone() };
    values.iter().map(of).collect::<Vec<_>>().join(" and ")
}

/// Records that ended early or share a boot, and sides that were not raced in turns.
pub fn remarks(sides: [&Side; 2]) -> Vec<String> {
    let mut said = Vec::new();
    let all: Vec<&Named> = sides.iter().flat_map(|side| &side.records).collect();
    for named in &all {
        let record = named.record;
        let how = match record.end {
            Some(EndOutcome::Complete | EndOutcome::Unexplained) => None,
            Some(EndOutcome::Interrupted) => Some("was interrupted"),
            Some(EndOutcome::Failed) => Some("ended with an error"),
            None => Some("has no end: it still runs, or it crashed"),
        };
        said.extend(how.map(|how| format!("{} {how}; the rounds that it finished count", named.name)));
        said.extend(record.warnings.iter().map(|warning| format!("{}: {warning}", named.name)));
        if record.resumes > 0 {
            said.push(format!("{} was interrupted and continued: it may hold more than one boot", named.name));
        }
    }
    if all.iter().any(|named| is_untold(&named.record.header.boot_id)) {
        said.push(
            "records that were shared do not say of which boot they are: those of one boot are no replicates of each other"
                .to_owned(),
        );
    }
    if all.iter().any(|named| is_foreign(named)) {
        said.push(
            "another tool measured what was imported: when, on how many boots, with which mount options and promises is not \
             known, and whatever else changed is part of every difference"
                .to_owned(),
        );
    }
    let shared: Vec<String> = sides.iter().filter_map(|side| boots(side)).collect();
    if !shared.is_empty() {
        said.push(format!(
            "{}: what changes from boot to boot is not in the intervals; boot before each race",
            shared.join(", and ")
        ));
    }
    said.extend(order(sides));
    said
}

/// Whether another tool measured what a record holds.
pub fn is_foreign(named: &Named) -> bool {
    named.record.header.lanes.iter().any(|lane| lane.venue == FOREIGN)
}

/// A side whose records share boots.
fn boots(side: &Side) -> Option<String> {
    let boots = distinct(side, &|of| Some(of.boot_id.clone()).filter(|id| !id.is_empty()));
    (!boots.is_empty() && boots.len() < side.records.len()).then(|| {
        let boots = words::count(boots.len(), "boot");
        format!("the {}'s {} records come from {boots}", side.called, side.records.len())
    })
}

/// What the order of the races leaves open.
fn order(sides: [&Side; 2]) -> Option<String> {
    let times = sides.map(|side| side.records.iter().filter_map(|named| super::time(&named.record.header)).collect());
    let [before, after]: [Vec<&str>; 2] = times;
    if before.len() < 2 || after.len() < 2 {
        return None;
    }
    let wholly_before = |a: &[&str], b: &[&str]| a.iter().max() < b.iter().min();
    (wholly_before(&before, &after) || wholly_before(&after, &before)).then(|| {
        "one side was raced wholly before the other: whatever changed meanwhile (the disk's fill and wear, neighbours, \
         temperature) is part of every difference; boots should alternate between baseline and candidate"
            .to_owned()
    })
}
