//! Which lanes may be ranked against each other, which of them the others are held against, and why
//! the rest is not ranked.

use crate::guarantees;
use crate::servers;
use crate::statements::{self, name, pair as statement};
use model::Sentence;
use model::findings::NotRanked;
use model::lane::{Lane, Promises};
use model::record::Header;
use model::sentence::{Value, Weight};

/// The venue of a lane whose filesystem is called inside the agent.
pub const LIBRARY: &str = "library";
/// The venue of a lane that lies in main memory.
pub const MEMORY: &str = "memory";

/// The venue of a lane in user-mode Linux.
pub const UML: &str = "uml";
/// The venue of a lane in QEMU.
pub const QEMU: &str = "qemu";
/// The venue of a lane that another tool measured.
pub use model::kinds::foreign::VENUE as FOREIGN;

/// What has to be said of work that is made of flushes where no flush reaches a disk.
pub fn not_durable<'a>(lanes: impl Iterator<Item = &'a Lane>) -> Option<Sentence> {
    let names: Vec<&str> = lanes.filter(|lane| lane.flushes_stop_short).map(|lane| lane.name.as_str()).collect();
    (!names.is_empty()).then(|| statement::not_durable(statements::names(names)).weigh(Weight::Choice))
}

/// What stands above the verdicts where lanes live in user-mode Linux.
pub fn code_only(lanes: &[Lane]) -> Option<Sentence> {
    let names: Vec<&str> = lanes.iter().filter(|lane| lane.venue == UML).map(|lane| lane.name.as_str()).collect();
    match () {
        () if names.is_empty() => None,
        () if in_page_cache(lanes) => Some(statement::code_only()),
        () => Some(statement::code_only_of(statements::names(names))),
    }
}

/// Whether all disks of a race lie in the host's page cache.
pub fn in_page_cache(lanes: &[Lane]) -> bool {
    let mut on_disks = lanes.iter().filter(|lane| !stands_beside(lane)).peekable();
    on_disks.peek().is_some() && on_disks.all(|lane| lane.venue == UML)
}

/// Whether a venue's disks are new image files wherever they lie, and no place of their own.
pub fn on_images(venue: &str) -> bool {
    ["image", UML, QEMU].contains(&venue)
}

/// Whether lanes live in one guest, or none of them does. Lanes that only stand beside do not count.
pub fn one_place<'a>(lanes: impl Iterator<Item = &'a Lane>) -> bool {
    let mut lanes = lanes.filter(|lane| !stands_beside(lane));
    lanes.next().is_none_or(|first| lanes.all(|other| same_place(first, other)))
}

/// Whether what was measured beside one lane, a ceiling or noise, tells something of another: both live in
/// guests of one kind with the same kernel and the same CPUs and memory, or neither lives in one.
pub fn same_place(a: &Lane, b: &Lane) -> bool {
    let guest = |lane: &Lane| [UML, QEMU].into_iter().find(|venue| lane.venue == *venue);
    guest(a) == guest(b) && same_kernel(a, b) && guest_of(a) == guest_of(b)
}

/// Whether lanes live in one guest, or none of them does; those that stand beside count too.
pub fn one_guest<'a>(lanes: impl Iterator<Item = &'a Lane> + Clone) -> bool {
    let mut all = lanes.clone();
    let first = all.next();
    let alike = |first: &Lane| all.all(|other| same_kernel(first, other) && guest_of(first) == guest_of(other));
    first.is_none_or(alike) && one_place(lanes)
}

/// Whether two lanes' kernels are one: of older records only the release is known.
pub fn same_kernel(a: &Lane, b: &Lane) -> bool {
    let unknown = a.kernel_build.is_empty() || b.kernel_build.is_empty();
    a.kernel == b.kernel && (unknown || a.kernel_build == b.kernel_build)
}

/// A lane's kernel as it is told beside another: with its build where the releases are the same.
fn kernel_beside(lane: &Lane, other: &Lane) -> String {
    match lane.kernel == other.kernel && !lane.kernel_build.is_empty() {
        true => format!("{} (image {})", lane.kernel, lane.kernel_build),
        false => lane.kernel.clone(),
    }
}

/// The kernels that the lanes of a race are on: the machine's, unless all of them live in guests.
pub fn raced_kernels(of: &Header) -> String {
    let mut kernels: Vec<&str> = Vec::new();
    for lane in &of.lanes {
        let kernel = if lane.kernel.is_empty() { &of.machine.kernel } else { &lane.kernel };
        if !kernels.contains(&kernel.as_str()) {
            kernels.push(kernel);
        }
    }
    if kernels.is_empty() { of.machine.kernel.clone() } else { kernels.join(", ") }
}

/// What a lane's guest is made of but for its kernel: CPUs, memory, KVM or an emulated CPU. `None`: it lives
/// in none.
pub fn guest_of(lane: &Lane) -> Option<String> {
    let words = lane.geometry.iter().find_map(|of| of.strip_prefix("guest: "))?;
    let kernel = format!("Linux {}", lane.kernel);
    Some(words.replace(&kernel, "Linux"))
}

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
    // Of what this lane promises, and of when it was measured, nothing is known.
    if a.venue == FOREIGN || b.venue == FOREIGN {
        return Err(statement::order_unknown(name(&a.name), name(&b.name)));
    }
    let mut different: Vec<Value> = Vec::new();
    if apart_by_place(a, b) {
        different.push(statement::different_venue(name(&a.name), name(&a.venue), name(&b.name), name(&b.venue)).into());
    }
    // What a filesystem hands to a disk says nothing in another place where no flush reaches one.
    let told = |promise: &&&str| **promise == SURVIVES || !void_across(a, b);
    let promises = a.promises.durability_differences(&b.promises);
    let each = promises.iter().filter(told).map(|promise| promise_words(promise, a, b));
    let each: Vec<Value> = each.chain(servers::unlike(a, b)).map(Value::from).collect();
    if !each.is_empty() {
        different.push(statement::different_promises(Value::Clauses(each)).into());
    }
    if (a.venue == LIBRARY) != (b.venue == LIBRARY) {
        let library = if a.venue == LIBRARY { a } else { b };
        different.push(statement::in_process_library(name(&library.name)).into());
    }
    if !different.is_empty() {
        return Err(statement::clauses(Value::Clauses(different)));
    }
    if a.venue != b.venue {
        return Err(statement::different_venue(name(&a.name), name(&a.venue), name(&b.name), name(&b.venue)));
    }
    if a.flushes_stop_short != b.flushes_stop_short {
        let (stops, reaches) = if a.flushes_stop_short { (a, b) } else { (b, a) };
        return Err(statement::flushes_stop_short(name(&stops.name), name(&reaches.name)));
    }
    let mut beside = Vec::new();
    if !same_kernel(a, b) {
        // Two guests: the one comparison that tells something is of two kernels, with all else equal.
        let equal =
            a.filesystem == b.filesystem && a.mkfs_command == b.mkfs_command && a.mount_options == b.mount_options;
        let equal = equal && a.stands_alike(b);
        let kernels = [name(&a.name), name(kernel_beside(a, b)), name(&b.name), name(kernel_beside(b, a))];
        let [a_is, a_on, b_is, b_on] = kernels;
        if !equal || a.venue != QEMU {
            return Err(statement::other_kernels(a_is, a_on, b_is, b_on));
        }
        beside.push(statement::kernel_differs(a_is, a_on, b_is, b_on));
    }
    if let (Some(of_a), Some(of_b)) = (guest_of(a), guest_of(b))
        && of_a != of_b
    {
        return Err(statement::other_guests(name(&a.name), name(of_a), name(&b.name), name(of_b)));
    }
    if a.ground != b.ground {
        let one_disk = a.venue == "directory" && !a.backing.is_empty() && a.backing == b.backing;
        match () {
            () if one_disk => beside.push(statement::same_disk_elsewhere(name(&a.backing))),
            () if a.is_served() && b.is_served() => beside.push(servers::compared(a, b)),
            () => {
                return Err(statement::different_disks(name(&a.name), name(&a.ground), name(&b.name), name(&b.ground)));
            }
        }
    }
    if a.promises.data_checksums != b.promises.data_checksums {
        let with = if a.promises.data_checksums { a } else { b };
        beside.push(statement::also_checksums(name(&with.name)));
    }
    beside.extend(guarantees::unlike(a, b));
    Ok(beside)
}

/// The promise that is the filesystem's own, wherever its disk lies.
const SURVIVES: &str = "crash-safe metadata";

/// Whether lanes are in two places of which one hands no flush to a disk: then what else the filesystems promise of
/// flushes is not what sets the lanes apart.
fn void_across(a: &Lane, b: &Lane) -> bool {
    apart_by_place(a, b) && (a.flushes_stop_short || b.flushes_stop_short)
}

/// Whether two lanes are in different places, and neither stands beside, in memory or inside the agent.
fn apart_by_place(a: &Lane, b: &Lane) -> bool {
    a.venue != b.venue && !stands_beside(a) && !stands_beside(b)
}

/// One durability promise that two lanes do not share, naming who has it.
fn promise_words(promise: &str, a: &Lane, b: &Lane) -> Sentence {
    let (has_it, words): (bool, fn(Value, Value) -> Sentence) = match promise {
        SURVIVES => (a.promises.journal, statement::survives_a_crash),
        "fsync reaches stable storage" => (a.promises.fsync_reaches_stable_storage, statement::hands_over_fsync),
        "write barriers" => (a.promises.barriers, statement::flushes_its_writes),
        "fsync outlives a cache's disk" => (a.promises.outlives_cache, statement::outlives_cache),
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

const PROMISES: [Promise; 4] = [
    (statement::no_safe_metadata, statement::safe_metadata, |of| of.journal),
    (statement::no_stable_fsync, statement::stable_fsync, |of| of.fsync_reaches_stable_storage),
    (statement::no_write_barriers, statement::write_barriers, |of| of.barriers),
    (statement::no_fsync_beyond_cache, statement::fsync_beyond_cache, |of| of.outlives_cache),
];

const NO_PROMISES: Promises = Promises {
    journal: false,
    data_checksums: false,
    fsync_reaches_stable_storage: false,
    barriers: false,
    outlives_cache: false,
};

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
    // Where a lane is comes first: it settles the matter, whatever the filesystems promise.
    let mut places: Vec<&str> = Vec::new();
    for lane in apart.iter().filter(|lane| apart_by_place(lane, reference)) {
        if !places.contains(&lane.venue.as_str()) {
            places.push(&lane.venue);
        }
    }
    for place in places {
        let of = apart.iter().copied().filter(|lane| lane.venue == place).collect();
        say(of, statement::in_another_place_one(name(place)), statement::in_another_place_many(name(place)));
    }
    // Promises that the same lanes lack, or keep beside the reference's, are one fact.
    for lacking in [true, false] {
        for (of, names) in promises_apart(&apart, reference, lacking) {
            let names = Value::List(names);
            match lacking {
                true => {
                    say(of, statement::promises_lacking_one(names.clone()), statement::promises_lacking_many(names))
                }
                false => say(of, statement::promises_beyond_one(names.clone()), statement::promises_beyond_many(names)),
            }
        }
    }
    let is_library = |lane: &Lane| lane.venue == LIBRARY;
    let called = |lane: &&Lane| is_library(lane) && !is_library(reference);
    say(apart.iter().copied().filter(called).collect(), statement::is_library(), statement::are_libraries());
    let kernels = |lane: &&Lane| !is_library(lane) && is_library(reference);
    say(
        apart.iter().copied().filter(kernels).collect(),
        statement::is_called_by_the_kernel(),
        statement::are_called_by_the_kernel(),
    );
    for lane in apart.into_iter().filter(|lane| !apart_by_place(lane, reference)) {
        let alike = lane.promises.durability_differences(&reference.promises).is_empty();
        if alike && is_library(lane) == is_library(reference) {
            say(vec![lane], apart_alone(lane, reference), Sentence::default());
        }
    }
    facts
}

/// The promises that tell lanes from the reference, gathered by the lanes that they are true of: those that a lane lacks
/// and the reference keeps, or (`lacking` is false) the other way round.
fn promises_apart<'a>(apart: &[&'a Lane], reference: &Lane, lacking: bool) -> Vec<(Vec<&'a Lane>, Vec<Value>)> {
    let mut gathered: Vec<(Vec<&'a Lane>, Vec<Value>)> = Vec::new();
    for (no, kept, keeps) in PROMISES {
        let own = keeps(&Promises { journal: true, ..NO_PROMISES });
        let counts = |lane: &&Lane| own || !void_across(lane, reference);
        let differs =
            |lane: &&Lane| keeps(&lane.promises) != lacking && keeps(&reference.promises) == lacking && counts(lane);
        let of: Vec<&'a Lane> = apart.iter().copied().filter(differs).collect();
        let promise = if lacking { no() } else { kept() }.into();
        match gathered
            .iter_mut()
            .find(|(lanes, _)| lanes.iter().map(|lane| &lane.name).eq(of.iter().map(|lane| &lane.name)))
        {
            Some((_, names)) => names.push(promise),
            None => gathered.push((of, vec![promise])),
        }
    }
    gathered
}

/// What sets a lane apart that promises what the reference does, as far as that is seen: its server, its kernel, its guest or
/// where it is.
fn apart_alone(lane: &Lane, reference: &Lane) -> Sentence {
    if servers::unlike(lane, reference).is_some() {
        return servers::said(lane);
    }
    if lane.venue == reference.venue && !same_kernel(lane, reference) {
        return statement::on_another_kernel(name(kernel_beside(lane, reference)));
    }
    if let (true, Some(guest)) = (lane.venue == reference.venue, guest_of(lane)) {
        return statement::in_another_guest(name(guest));
    }
    if lane.venue == FOREIGN && reference.venue == FOREIGN {
        return statement::beside_in_unknown_order();
    }
    let place = if lane.venue == reference.venue { &lane.ground } else { &lane.venue };
    statement::elsewhere(name(place))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn lane(name: &str, venue: &str, kernel: &str) -> Lane {
        Lane {
            mkfs_command: vec!["mkfs.ext4".to_owned()],
            ground: "images in /a".to_owned(),
            backing: "vda".to_owned(),
            size_bytes: 1 << 30,
            kernel: kernel.to_owned(),
            flushes_stop_short: venue == UML,
            ..Lane::new(name, "ext4", venue)
        }
    }

    #[test]
    fn two_kernels_are_compared_where_all_else_is_equal() {
        let (old, new) = (lane("old", "qemu", "6.1"), lane("new", "qemu", "6.12"));
        let beside = comparable(&old, &new).unwrap();
        assert!(beside.iter().any(|said| said.contains("6.1") && said.contains("6.12")), "{beside:?}");
        let noatime = Lane { mount_options: vec!["noatime".to_owned()], ..new.clone() };
        let why = comparable(&old, &noatime).unwrap_err();
        assert!(why.contains("different kernels") && why.contains("more than the kernel differs"), "{why}");
        let xfs = Lane { filesystem: "xfs".to_owned(), ..new };
        assert!(comparable(&old, &xfs).is_err());
        // On hardware and emulated are two machines.
        let guest = |of: &Lane, more: &str| Lane {
            geometry: vec![format!("guest: QEMU with Linux {}, {more}", of.kernel)],
            ..of.clone()
        };
        let new = lane("new", "qemu", "6.12");
        assert!(comparable(&guest(&old, "KVM"), &guest(&new, "KVM")).is_ok());
        let why = comparable(&guest(&old, "KVM"), &guest(&new, "emulated CPU")).unwrap_err();
        assert_eq!(why, "different guests: old is in QEMU with Linux, KVM, new is in QEMU with Linux, emulated CPU");
    }

    #[test]
    fn venues_are_not_mixed() {
        let lanes = [lane("a", UML, "6.1"), lane("b", "qemu", "6.1"), lane("c", "image", "")];
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            let why = comparable(&lanes[a], &lanes[b]).unwrap_err();
            assert!(why.contains("different"), "{why}");
        }
        let why = comparable(&lanes[1], &lanes[2]).unwrap_err();
        assert_eq!(why, "different venue: b is qemu, c is image");
        assert!(comparable(&lanes[0], &lane("d", UML, "6.1")).is_ok());
    }

    #[test]
    fn the_place_comes_first_and_no_promise_of_flushes_is_told_across_places() {
        let (ext4, mut jfs) = (lane("ext4", UML, "6.1"), lane("jfs", QEMU, "6.1"));
        jfs.promises.barriers = false;
        let why = comparable(&ext4, &jfs).unwrap_err();
        assert_eq!(why, "different venue: ext4 is uml, jfs is qemu");
        (jfs.promises.journal, jfs.promises.fsync_reaches_stable_storage) = (false, false);
        let why = comparable(&ext4, &jfs).unwrap_err();
        assert!(why.starts_with("different venue: ext4 is uml, jfs is qemu; different promises"), "{why}");
        assert!(why.contains("survives a crash") && !why.contains("fsync") && !why.contains("flushes"), "{why}");
        let facts = not_ranked(&[&ext4, &jfs], &ext4);
        let told: Vec<&str> = facts.iter().map(|fact| &*fact.what).collect();
        assert_eq!(told, ["runs in another place (qemu)", "promises no crash-safe metadata"]);
        // Where flushes reach a disk on both sides, all promises are told behind the place.
        let (host, bare) = (lane("ext4", "image", ""), Lane { promises: jfs.promises, ..lane("jfs", QEMU, "6.1") });
        let why = comparable(&host, &bare).unwrap_err();
        assert!(why.starts_with("different venue") && why.contains("fsync"), "{why}");
    }

    #[test]
    fn guests_of_one_kind_are_one_place() {
        let [uml, qemu, image] = [lane("a", UML, "6.1"), lane("b", QEMU, "6.1"), lane("c", "image", "")];
        let memory = lane("d", MEMORY, "6.1");
        assert!(one_place([&uml, &lane("e", UML, "6.1"), &memory].into_iter()));
        // What the bare disk does in one guest is no ceiling of another.
        assert!(!one_place([&qemu, &lane("e", QEMU, "6.12")].into_iter()));
        let other = Lane { geometry: vec!["guest: QEMU with Linux 6.1, 1 CPUs".to_owned()], ..lane("e", QEMU, "6.1") };
        assert!(one_place([&qemu, &lane("e", QEMU, "6.1")].into_iter()) && !one_place([&qemu, &other].into_iter()));
        assert!(one_place([&image, &lane("e", "device", ""), &memory].into_iter()));
        let host = lane("d", MEMORY, "");
        assert!(one_guest([&host, &image].into_iter()) && !one_guest([&host, &memory].into_iter()));
        assert!(!one_guest([&uml, &image].into_iter()) && one_guest([&uml, &memory].into_iter()));
        assert!(!one_place([&uml, &qemu].into_iter()) && !one_place([&memory, &image, &uml].into_iter()));
    }

    #[test]
    fn two_builds_of_one_release_are_two_kernels() {
        let built = |name: &str, build: &str| Lane { kernel_build: build.to_owned(), ..lane(name, QEMU, "6.12.0") };
        let (old, new) = (built("old", "aaaa"), built("new", "bbbb"));
        let beside = comparable(&old, &new).unwrap();
        assert!(beside.iter().any(|said| said.contains("aaaa") && said.contains("bbbb")), "{beside:?}");
        let xfs = Lane { filesystem: "xfs".to_owned(), ..new };
        assert!(comparable(&old, &xfs).unwrap_err().contains("different kernels"));
        assert!(comparable(&old, &Lane { filesystem: "xfs".to_owned(), ..built("x", "aaaa") }).is_ok());
        // A record from before builds were kept.
        assert!(same_kernel(&old, &lane("x", QEMU, "6.12.0")));
    }

    #[test]
    fn directories_that_servers_keep_are_ranked_and_what_is_compared_with_them_is_said() {
        let on = |name: &str, filesystem: &str| Lane {
            filesystem: filesystem.to_owned(),
            ground: format!("/scratch/{name}"),
            backing: String::new(),
            ..lane(name, "directory", "")
        };
        let beside = comparable(&on("a", "lustre"), &on("b", "nfs4")).unwrap();
        assert!(beside.iter().any(|said| said.contains("a and b are kept by servers")), "{beside:?}");
        for other in ["tmpfs", "ext4"] {
            let why = comparable(&on("a", "lustre"), &on("b", other)).unwrap_err();
            assert!(why.starts_with("different disks"), "{why}");
        }
    }

    #[test]
    fn promises_count_where_no_flush_reaches_a_disk_too() {
        let plain = lane("ext4", UML, "6.1");
        let mut risky = lane("risky", UML, "6.1");
        (risky.promises.barriers, risky.promises.fsync_reaches_stable_storage) = (false, false);
        let why = comparable(&plain, &risky).unwrap_err();
        assert!(why.contains("promises"), "{why}");
        let synced = Lane { flushes_stop_short: false, ..lane("synced", UML, "6.1") };
        let why = comparable(&plain, &synced).unwrap_err();
        assert!(why.contains("no flush of ext4 reaches a disk"), "{why}");
    }

    #[test]
    fn what_compares_code_alone_says_so_for_all_lanes_or_by_name() {
        let [uml, qemu, memory] = [lane("a", UML, "6.1"), lane("b", QEMU, "6.1"), lane("d", MEMORY, "6.1")];
        let all = code_only(&[uml.clone(), memory.clone()]).unwrap();
        assert!(
            all.contains("compares the filesystems' code, not your disk") && in_page_cache(std::slice::from_ref(&uml)),
            "{all}"
        );
        assert!(code_only(&[uml.clone(), qemu.clone()]).unwrap().starts_with("a lives in user-mode Linux"));
        assert!(!in_page_cache(&[uml, qemu.clone()]) && !in_page_cache(&[memory]) && code_only(&[qemu]).is_none());
    }

    #[test]
    fn what_flushes_without_a_disk_is_called_not_durable() {
        let lanes = [lane("a", UML, "6.1"), lane("b", "qemu", "6.1")];
        let said = not_durable(lanes.iter()).unwrap();
        assert!(said.starts_with("not durable") && said.contains("so a made"), "{said}");
        assert_eq!(not_durable(lanes[1..].iter()), None);
    }
}
