//! Which lanes may be ranked against each other, which of them the others are held against, and why
//! the rest is not ranked.

use crate::words;
use model::findings::NotRanked;
use model::lane::{Lane, Promises};

/// The venue of a lane whose filesystem is called inside the agent.
pub const LIBRARY: &str = "library";
/// The venue of a lane that lies in main memory.
pub const MEMORY: &str = "memory";

/// The venue of a lane in user-mode Linux.
pub const UML: &str = "uml";

/// What has to be said of work that is made of flushes where no flush reaches a disk.
pub fn not_durable<'a>(lanes: impl Iterator<Item = &'a Lane>) -> Option<String> {
    let names: Vec<&str> = lanes
        .filter(|lane| lane.venue == UML && !lane.promises.fsync_reaches_stable_storage)
        .map(|lane| lane.name.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "not durable: user-mode Linux hands no flush to the disk, so {} made nothing stable; --guest-sync, --on qemu \
             or the host do",
            words::list(&names)
        )
    })
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
pub fn comparable(a: &Lane, b: &Lane) -> Result<Vec<String>, String> {
    let mut different = Vec::new();
    let promises = a.promises.durability_differences(&b.promises);
    if !promises.is_empty() {
        let each: Vec<String> = promises.iter().map(|promise| promise_words(promise, a, b)).collect();
        different.push(format!("different promises: {}", each.join("; ")));
    }
    if (a.venue == LIBRARY) != (b.venue == LIBRARY) {
        let library = if a.venue == LIBRARY { a } else { b };
        different.push(format!("{} is an in-process library, called without any system call", library.name));
    }
    if !different.is_empty() {
        return Err(different.join("; "));
    }
    if a.venue != b.venue {
        return Err(format!("different venue: {} is {}, {} is {}", a.name, a.venue, b.name, b.venue));
    }
    let mut beside = Vec::new();
    if a.kernel != b.kernel {
        // Two guests: the one comparison that tells something is of two kernels, with all else equal.
        let equal =
            a.filesystem == b.filesystem && a.mkfs_command == b.mkfs_command && a.mount_options == b.mount_options;
        if !equal {
            return Err(format!(
                "different kernels: {} is on Linux {}, {} is on Linux {}, and more than the kernel differs",
                a.name, a.kernel, b.name, b.kernel
            ));
        }
        beside.push(format!(
            "the kernel differs: {} is on Linux {}, {} is on Linux {}",
            a.name, a.kernel, b.name, b.kernel
        ));
    }
    if a.ground != b.ground {
        let one_disk = a.venue == "directory" && !a.backing.is_empty() && a.backing == b.backing;
        if !one_disk {
            return Err(format!("different disks: {} is on {}, {} is on {}", a.name, a.ground, b.name, b.ground));
        }
        beside.push(format!("both directories are on {}, but their fill and position on it differ", a.backing));
    }
    if a.promises.data_checksums != b.promises.data_checksums {
        let with = if a.promises.data_checksums { a } else { b };
        beside.push(format!("{} also checksums data", with.name));
    }
    Ok(beside)
}

/// One durability promise that two lanes do not share, naming who has it.
fn promise_words(promise: &str, a: &Lane, b: &Lane) -> String {
    let (has_it, text): (bool, [&str; 2]) = match promise {
        "crash-safe metadata" => (a.promises.journal, ["survives a crash without a full check", "does not"]),
        "fsync reaches stable storage" => {
            (a.promises.fsync_reaches_stable_storage, ["hands fsync's data to the device as stable", "does not"])
        }
        "write barriers" => (a.promises.barriers, ["flushes its writes", "does not"]),
        other => return other.to_owned(),
    };
    let (with, without) = if has_it { (a, b) } else { (b, a) };
    format!("{} {}, {} {}", with.name, text[0], without.name, text[1])
}

/// The lane that the others are held against: the first filesystem on a disk that may get a verdict
/// against another one; where none may, the first on a disk, and without any the first lane.
pub fn reference<'a>(lanes: &[&'a Lane]) -> Option<&'a Lane> {
    let on_disks = || lanes.iter().copied().filter(|lane| !stands_beside(lane) && !lane.is_self);
    let ranked = |lane: &&Lane| on_disks().any(|other| other.name != lane.name && comparable(lane, other).is_ok());
    on_disks().find(ranked).or(on_disks().next()).or(lanes.first().copied())
}

/// A promise as it is named in a list, and whether a lane keeps it.
type Promise = (&'static str, fn(&Promises) -> bool);

const PROMISES: [Promise; 3] = [
    ("crash-safe metadata", |of| of.journal),
    ("fsync that reaches stable storage", |of| of.fsync_reaches_stable_storage),
    ("write barriers", |of| of.barriers),
];

/// Why lanes are not ranked against the reference: each fact once, with all lanes that it is true of.
pub fn not_ranked(lanes: &[&Lane], reference: &Lane) -> Vec<NotRanked> {
    let apart: Vec<&Lane> = lanes
        .iter()
        .copied()
        .filter(|lane| !lane.is_self && lane.name != reference.name && comparable(reference, lane).is_err())
        .collect();
    let mut facts: Vec<NotRanked> = Vec::new();
    let mut say = |of: Vec<&Lane>, one: &str, many: &str| {
        if !of.is_empty() {
            let what = if of.len() == 1 { one } else { many }.to_owned();
            let lanes = of.iter().map(|lane| lane.name.clone()).collect();
            facts.push(NotRanked { lanes, against: reference.name.clone(), what });
        }
    };
    // Promises that the same lanes lack, or keep beside the reference's, are one fact.
    for (lacking, verb, no) in [(true, ["promises", "promise"], "no "), (false, ["also promises", "also promise"], "")]
    {
        let mut said: Vec<(Vec<&Lane>, Vec<String>)> = Vec::new();
        for (name, keeps) in PROMISES {
            let differs = |lane: &&Lane| keeps(&lane.promises) != lacking && keeps(&reference.promises) == lacking;
            let of: Vec<&Lane> = apart.iter().copied().filter(differs).collect();
            let name = format!("{no}{name}");
            match said
                .iter_mut()
                .find(|(lanes, _)| lanes.iter().map(|lane| &lane.name).eq(of.iter().map(|lane| &lane.name)))
            {
                Some((_, names)) => names.push(name),
                None => said.push((of, vec![name])),
            }
        }
        for (of, names) in said {
            let names = words::list(&names.iter().map(String::as_str).collect::<Vec<_>>());
            say(of, &format!("{} {names}", verb[0]), &format!("{} {names}", verb[1]));
        }
    }
    let is_library = |lane: &Lane| lane.venue == LIBRARY;
    let called = |lane: &&Lane| is_library(lane) && !is_library(reference);
    say(
        apart.iter().copied().filter(called).collect(),
        "is an in-process library, called without any system call",
        "are in-process libraries, called without any system call",
    );
    let kernels = |lane: &&Lane| !is_library(lane) && is_library(reference);
    say(
        apart.iter().copied().filter(kernels).collect(),
        "is called by system calls, which an in-process library is not",
        "are called by system calls, which an in-process library is not",
    );
    for lane in apart {
        let alike = lane.promises.durability_differences(&reference.promises).is_empty();
        if alike && is_library(lane) == is_library(reference) {
            if lane.venue == reference.venue && lane.kernel != reference.kernel {
                say(
                    vec![lane],
                    &format!("runs on another kernel (Linux {}), and more than that differs", lane.kernel),
                    "",
                );
                continue;
            }
            let place = if lane.venue == reference.venue { &lane.ground } else { &lane.venue };
            say(vec![lane], &format!("does not share its ground ({place})"), "");
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str, venue: &str, kernel: &str) -> Lane {
        Lane {
            name: name.to_owned(),
            spec: name.to_owned(),
            filesystem: "ext4".to_owned(),
            mkfs_command: vec!["mkfs.ext4".to_owned()],
            mount_options: Vec::new(),
            venue: venue.to_owned(),
            ground: "images in /a".to_owned(),
            backing: "vda".to_owned(),
            size_bytes: 1 << 30,
            promises: Promises {
                journal: true,
                data_checksums: false,
                fsync_reaches_stable_storage: venue != UML,
                barriers: venue != UML,
            },
            is_self: false,
            kernel: kernel.to_owned(),
            geometry: Vec::new(),
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
    fn what_flushes_without_a_disk_is_called_not_durable() {
        let lanes = [lane("a", UML, "6.1"), lane("b", "qemu", "6.1")];
        let said = not_durable(lanes.iter()).unwrap();
        assert!(said.starts_with("not durable") && said.contains("so a made"), "{said}");
        assert_eq!(not_durable(lanes[1..].iter()), None);
    }
}
