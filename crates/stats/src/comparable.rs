//! Which lanes may be ranked against each other, which of them the others are held against, and why
//! the rest is not ranked.

use crate::say::{name, pair as said};
use model::Sentence;
use model::findings::NotRanked;
use model::lane::{Lane, Promises};
use model::sentence::Value;

/// The venue of a lane whose filesystem is called inside the agent.
pub const LIBRARY: &str = "library";
/// The venue of a lane that lies in main memory.
pub const MEMORY: &str = "memory";

/// Whether a lane stands beside filesystems on disks to be read against them, and not to be chosen:
/// one in memory, or of an in-process library.
pub fn stands_beside(lane: &Lane) -> bool {
    lane.venue == LIBRARY || lane.venue == MEMORY
}

/// Why two lanes' speeds may not be ranked, as the start of a sentence; otherwise what has to be
/// said beside a verdict.
///
/// # Errors
/// The difference, named: promises, venue or disk.
pub fn comparable(a: &Lane, b: &Lane) -> Result<Vec<Sentence>, Sentence> {
    let mut different: Vec<Value> = Vec::new();
    let promises = a.promises.durability_differences(&b.promises);
    if !promises.is_empty() {
        let each = promises.iter().map(|promise| promise_words(promise, a, b).into());
        different.push(said::different_promises(Value::Clauses(each.collect())).into());
    }
    if (a.venue == LIBRARY) != (b.venue == LIBRARY) {
        let library = if a.venue == LIBRARY { a } else { b };
        different.push(said::in_process_library(name(&library.name)).into());
    }
    if !different.is_empty() {
        return Err(said::clauses(Value::Clauses(different)));
    }
    if a.venue != b.venue {
        return Err(said::different_venue(name(&a.name), name(&a.venue), name(&b.name), name(&b.venue)));
    }
    let mut beside = Vec::new();
    if a.ground != b.ground {
        let one_disk = a.venue == "directory" && !a.backing.is_empty() && a.backing == b.backing;
        if !one_disk {
            return Err(said::different_disks(name(&a.name), name(&a.ground), name(&b.name), name(&b.ground)));
        }
        beside.push(said::same_disk_elsewhere(name(&a.backing)));
    }
    if a.promises.data_checksums != b.promises.data_checksums {
        let with = if a.promises.data_checksums { a } else { b };
        beside.push(said::also_checksums(name(&with.name)));
    }
    Ok(beside)
}

/// One durability promise that two lanes do not share, naming who has it.
fn promise_words(promise: &str, a: &Lane, b: &Lane) -> Sentence {
    let (has_it, words): (bool, fn(Value, Value) -> Sentence) = match promise {
        "crash-safe metadata" => (a.promises.journal, said::survives_a_crash),
        "fsync reaches stable storage" => (a.promises.fsync_reaches_stable_storage, said::hands_over_fsync),
        "write barriers" => (a.promises.barriers, said::flushes_its_writes),
        other => return other.into(),
    };
    let (with, without) = if has_it { (a, b) } else { (b, a) };
    words(name(&with.name), name(&without.name))
}

/// The lane that the others are held against: the first filesystem on a disk that may get a verdict
/// against another one; where none may, the first on a disk, and without any the first lane.
pub fn reference<'a>(lanes: &[&'a Lane]) -> Option<&'a Lane> {
    let on_disks = || lanes.iter().copied().filter(|lane| !stands_beside(lane) && !lane.is_self);
    let ranked = |lane: &&Lane| on_disks().any(|other| other.name != lane.name && comparable(lane, other).is_ok());
    on_disks().find(ranked).or(on_disks().next()).or(lanes.first().copied())
}

/// A promise as a list names it where it is lacking and where it is kept, and whether a lane keeps it.
type Promise = (fn() -> Sentence, fn() -> Sentence, fn(&Promises) -> bool);

const PROMISES: [Promise; 3] = [
    (said::no_safe_metadata, said::safe_metadata, |of| of.journal),
    (said::no_stable_fsync, said::stable_fsync, |of| of.fsync_reaches_stable_storage),
    (said::no_write_barriers, said::write_barriers, |of| of.barriers),
];

/// Why lanes are not ranked against the reference: each fact once, with all lanes that it is true of.
pub fn not_ranked(lanes: &[&Lane], reference: &Lane) -> Vec<NotRanked> {
    let apart: Vec<&Lane> = lanes
        .iter()
        .copied()
        .filter(|lane| !lane.is_self && lane.name != reference.name && comparable(reference, lane).is_err())
        .collect();
    let mut facts: Vec<NotRanked> = Vec::new();
    let mut say = |of: Vec<&Lane>, one: Sentence, many: Sentence| {
        if !of.is_empty() {
            let what = if of.len() == 1 { one } else { many };
            let lanes = of.iter().map(|lane| lane.name.clone()).collect();
            facts.push(NotRanked { lanes, against: reference.name.clone(), what });
        }
    };
    // Promises that the same lanes lack, or keep beside the reference's, are one fact.
    for lacking in [true, false] {
        let mut gathered: Vec<(Vec<&Lane>, Vec<Value>)> = Vec::new();
        for (no, kept, keeps) in PROMISES {
            let differs = |lane: &&Lane| keeps(&lane.promises) != lacking && keeps(&reference.promises) == lacking;
            let of: Vec<&Lane> = apart.iter().copied().filter(differs).collect();
            let promise = if lacking { no() } else { kept() }.into();
            match gathered
                .iter_mut()
                .find(|(lanes, _)| lanes.iter().map(|lane| &lane.name).eq(of.iter().map(|lane| &lane.name)))
            {
                Some((_, names)) => names.push(promise),
                None => gathered.push((of, vec![promise])),
            }
        }
        for (of, names) in gathered {
            let names = Value::List(names);
            match lacking {
                true => say(of, said::promises_lacking_one(names.clone()), said::promises_lacking_many(names)),
                false => say(of, said::promises_beyond_one(names.clone()), said::promises_beyond_many(names)),
            }
        }
    }
    let is_library = |lane: &Lane| lane.venue == LIBRARY;
    let called = |lane: &&Lane| is_library(lane) && !is_library(reference);
    say(apart.iter().copied().filter(called).collect(), said::is_library(), said::are_libraries());
    let kernels = |lane: &&Lane| !is_library(lane) && is_library(reference);
    say(
        apart.iter().copied().filter(kernels).collect(),
        said::is_called_by_the_kernel(),
        said::are_called_by_the_kernel(),
    );
    for lane in apart {
        let alike = lane.promises.durability_differences(&reference.promises).is_empty();
        if alike && is_library(lane) == is_library(reference) {
            let place = if lane.venue == reference.venue { &lane.ground } else { &lane.venue };
            say(vec![lane], said::elsewhere(name(place)), Sentence::default());
        }
    }
    facts
}
