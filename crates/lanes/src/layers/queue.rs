//! Settings of the queue of the device below, among its attributes in sysfs (the kernel's Documentation/ABI/stable/sysfs-block).
//! Nothing is built, and what stood there before stands there again afterwards.

use super::build::{Building, kernel_folder};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::availability;
use crate::failure::{LaneFailure, cannot, failed, is_refusal, plain, usage};
use crate::undo::Thing;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const SCHEDULER: &str = "scheduler";
const REQUESTS: &str = "nr_requests";
const READ_AHEAD: &str = "read_ahead_kb";
/// All that is ever written there, in the order in which it is: another scheduler brings its own number of requests.
const ATTRIBUTES: [&str; 3] = [SCHEDULER, REQUESTS, READ_AHEAD];
/// Schedulers of Linux (Documentation/block), and the modules that have them.
const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "kyber", "bfq"];
const MODULES: [(&str, &str); 3] = [("mq-deadline", "mq_deadline"), ("kyber", "kyber_iosched"), ("bfq", "bfq")];
/// The longest value that is ever written, in bytes.
const LONGEST_VALUE: usize = 32;

/// Attributes and their values.
type Settings = BTreeMap<String, String>;

/// The row.
pub(super) static QUEUE: Layer = Layer {
    name: model::stack::QUEUE,
    about: "settings of the queue of the device below",
    devices: 1..=1,
    options: &[
        LayerOption { key: "scheduler", takes: Takes::Words(&SCHEDULERS) },
        LayerOption { key: "read_ahead", takes: Takes::Size(4 << 10, 64 << 20) },
        LayerOption { key: "requests", takes: Takes::Number(4, 10_000) },
    ],
    capacity: super::of_one,
    programs: &[],
    helpers: &[],
    // This machine's kernel loads a scheduler itself when it is asked for; guests carry it along (`modules`).
    drivers: &[],
    promises: unchanged,
    hides: false,
    discards: never,
    wipes: false,
    on_host: true,
    build,
};

/// The modules of the scheduler that a layer is told; where they are not there, they may be a part of the kernel.
pub(super) fn modules(options: &[String]) -> Vec<&'static str> {
    let told = |scheduler: &str| options.iter().any(|option| option.strip_prefix("scheduler=") == Some(scheduler));
    MODULES.iter().filter(|(scheduler, _)| told(scheduler)).map(|(_, module)| *module).collect()
}

/// The modules of all of them: which ones lanes will be told is not known while options are tried.
pub(crate) fn modules_of_all() -> Vec<&'static str> {
    MODULES.iter().map(|(_, module)| *module).collect()
}

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let device = &below[0];
    let set = wanted(options);
    let unread = |error| cannot(format!("find {} in sysfs", device.display()), error);
    let folder = kernel_folder(device).map_err(unread)?;
    check_has_queue(&folder, device)?;
    let mut was = Settings::new();
    for attribute in set.keys() {
        was.insert(attribute.clone(), current(&folder, attribute).ok_or_else(|| lacks(attribute, device))?);
    }
    // It changes with the scheduler.
    if let Some(requests) = current(&folder, REQUESTS).filter(|_| set.contains_key(SCHEDULER)) {
        was.entry(REQUESTS.to_owned()).or_insert(requests);
    }
    let number = device.metadata().map(|of| of.rdev()).map_err(unread)?;
    let number = (rustix::fs::major(number), rustix::fs::minor(number));
    let thing = Thing::Queue { device: number, sequence: sequence_of(&folder), set: set.clone(), was: was.clone() };
    building.will_make(device.clone(), thing)?;
    for attribute in ATTRIBUTES {
        let Some(value) = set.get(attribute) else { continue };
        write(&folder, attribute, value)
            .map_err(|error| refused(&folder, device, (attribute, value.as_str()), &error))?;
        let now = current(&folder, attribute);
        if now.as_ref() != Some(value) {
            // What is not as it was set is somebody else's once this layer is taken away.
            let _ = was.get(attribute).map(|before| write(&folder, attribute, before));
            return Err(usage(format!(
                "the kernel makes {} of {attribute}={value} of {}; write what it makes",
                now.as_deref().unwrap_or("nothing"),
                device.display()
            )));
        }
    }
    Ok(device.clone())
}

/// What the queue of a device holds, or would with these settings; nothing is set: `scheduler=none`.
///
/// # Errors
/// [`LaneFailure::Usage`] where it has no queue, or the kernel would not take a scheduler of these; [`LaneFailure::Failed`]
/// where there is no such device.
pub(crate) fn queue_with(device: &Path, settings: &[String]) -> Result<Vec<String>, LaneFailure> {
    let set = wanted(&Options::read(QUEUE.name, QUEUE.options, settings)?);
    let unread = |error| cannot(format!("find {} in sysfs", device.display()), error);
    let folder = kernel_folder(device).map_err(unread)?;
    check_has_queue(&folder, device)?;
    if let Some(attribute) = set.keys().find(|attribute| current(&folder, attribute).is_none()) {
        return Err(lacks(attribute, device));
    }
    if let Some(scheduler) = set.get(SCHEDULER).filter(|name| !has_scheduler(&folder, name)) {
        // The kernel loads it itself where it can.
        let _ = availability::lacking_here(&modules(settings), &[]);
        if !has_scheduler(&folder, scheduler) {
            return Err(refused(&folder, device, (SCHEDULER, scheduler.as_str()), &Errno::INVAL.into()));
        }
    }
    let value = |attribute: &str| set.get(attribute).cloned().or_else(|| current(&folder, attribute));
    Ok(ATTRIBUTES.into_iter().filter_map(|attribute| Some(format!("{attribute}={}", value(attribute)?))).collect())
}

/// Whether a device takes a scheduler now. Of one whose driver has no say in it the kernel shows a word without brackets.
fn has_scheduler(folder: &Path, name: &str) -> bool {
    let there = std::fs::read_to_string(folder.join("queue").join(SCHEDULER)).unwrap_or_default();
    match there.contains('[') {
        true => there.split_whitespace().any(|word| word.trim_matches(['[', ']']) == name),
        false => there.trim() == name,
    }
}

/// What the layer is told, as the kernel writes it.
fn wanted(options: &Options) -> Settings {
    let mut wanted = Settings::new();
    if let Some(scheduler) = options.text("scheduler") {
        wanted.insert(SCHEDULER.to_owned(), scheduler.to_owned());
    }
    if options.has("requests") {
        wanted.insert(REQUESTS.to_owned(), options.number("requests", 0).to_string());
    }
    if options.has("read_ahead") {
        wanted.insert(READ_AHEAD.to_owned(), (options.size("read_ahead", 0) >> 10).to_string());
    }
    wanted
}

/// A partition has no queue: that of its disk is the other partitions' too.
fn check_has_queue(folder: &Path, device: &Path) -> Result<(), LaneFailure> {
    if folder.join("queue").is_dir() {
        return Ok(());
    }
    Err(usage(match folder.join("partition").exists() {
        true => format!(
            "{} is a part of a disk, whose queue all of its parts share; race on a whole disk, or leave the layer queue out",
            device.display()
        ),
        false => format!("the kernel shows no queue of {}; leave the layer queue out", device.display()),
    }))
}

fn lacks(attribute: &str, device: &Path) -> LaneFailure {
    usage(format!(
        "{} has no {attribute} of its own, as devices of the device mapper and arrays have none; write the layer queue below \
         that one, or leave {attribute} out",
        device.display()
    ))
}

/// What the kernel did not take.
fn refused(folder: &Path, device: &Path, (attribute, value): (&str, &str), error: &std::io::Error) -> LaneFailure {
    if !Errno::from_io_error(error).is_some_and(is_refusal) {
        let option = option_of(attribute);
        return failed(format!(
            "cannot set {attribute}={value} of {}: {}; leave {option} out of the layer queue, and out of a screening \
             with --without {option}",
            device.display(),
            plain(error)
        ));
    }
    let there = std::fs::read_to_string(folder.join("queue").join(SCHEDULER)).unwrap_or_default();
    let there: Vec<&str> = there.split_whitespace().map(|word| word.trim_matches(['[', ']'])).collect();
    // A loop device has a scheduler only where somebody sets one.
    let is_loop = device.file_name().is_some_and(|name| name.as_bytes().starts_with(b"loop"));
    let has = current(folder, attribute).map_or_else(String::new, |now| match (attribute, is_loop) {
        (REQUESTS, true) => format!("it has {now}, and loop devices take 128 at most by themselves, so "),
        _ => format!("it has {now}, so "),
    });
    let device = device.display();
    usage(match attribute {
        SCHEDULER if !there.is_empty() => format!(
            "the kernel has no scheduler {value} for {device} ({}); it has {}, so write one of these",
            plain(error),
            there.join(", ")
        ),
        REQUESTS => format!(
            "the kernel takes no {attribute}={value} of {device} ({}); {has}write a smaller number",
            plain(error)
        ),
        _ => {
            format!("the kernel takes no {attribute}={value} of {device} ({}); {has}write another value", plain(error))
        }
    })
}

/// What the option of the layer is called, and of a screening, that sets an attribute.
fn option_of(attribute: &str) -> &str {
    match attribute {
        REQUESTS => "requests",
        READ_AHEAD => "read_ahead",
        other => other,
    }
}

/// The value of an attribute; of schedulers the one in brackets. `None`: the device has no such attribute.
fn current(folder: &Path, attribute: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("queue").join(attribute)).ok()?;
    let chosen = text.split_whitespace().find(|word| word.starts_with('[')).map(|word| word.trim_matches(['[', ']']));
    Some(chosen.unwrap_or(text.trim()).to_owned())
}

fn write(folder: &Path, attribute: &str, value: &str) -> std::io::Result<()> {
    std::fs::write(folder.join("queue").join(attribute), value)
}

/// Changes whenever another disk appears under a number; 0: the kernel does not tell.
fn sequence_of(folder: &Path) -> u64 {
    std::fs::read_to_string(folder.join("diskseq")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Whether a journal names only attributes that a run sets, with values of their form.
pub(super) fn is_plain(set: &Settings, was: &Settings) -> bool {
    let of_a_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_';
    set.iter().chain(was).all(|(attribute, value)| {
        let is_name = attribute == SCHEDULER;
        let fits = |byte: u8| byte.is_ascii_digit() || (is_name && of_a_name(byte));
        let length = 1..=LONGEST_VALUE;
        ATTRIBUTES.contains(&attribute.as_str()) && length.contains(&value.len()) && value.bytes().all(fits)
    })
}

/// Where the kernel tells of a disk that was set, and what it calls it; `None`: it is gone.
fn place_of((major, minor): (u32, u32), sequence: u64) -> Option<(PathBuf, String)> {
    let folder = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    // It leads to a folder that is called as the kernel calls the device.
    let name = std::fs::read_link(&folder).ok()?.file_name()?.to_string_lossy().into_owned();
    // A loop device keeps its settings when its image goes, and bears another number with the next one.
    let is_same = name.starts_with("loop") || sequence_of(&folder) == sequence;
    is_same.then_some((folder, name))
}

/// Sets again what somebody set otherwise since: when a mkfs closes its disk, rules of udev may.
///
/// # Errors
/// When the kernel does not take it.
pub(super) fn set_again(device: (u32, u32), sequence: u64, set: &Settings) -> Result<(), LaneFailure> {
    let Some((folder, name)) = place_of(device, sequence) else { return Ok(()) };
    set_again_in(&folder, set).map_err(|error| cannot(format!("set the queue of /dev/{name} again"), error))
}

fn set_again_in(folder: &Path, set: &Settings) -> std::io::Result<()> {
    for attribute in ATTRIBUTES {
        if let Some(value) = set.get(attribute).filter(|value| current(folder, attribute).as_ref() != Some(*value)) {
            write(folder, attribute, value)?;
        }
    }
    Ok(())
}

/// What did not stay as it was set, in a sentence without a full stop; `None`: all of it did, or the disk is gone.
pub(super) fn changed(device: (u32, u32), sequence: u64, set: &Settings) -> Option<String> {
    let (folder, name) = place_of(device, sequence)?;
    let changed = changed_in(&folder, set);
    (!changed.is_empty()).then(|| {
        format!(
            "the queue of /dev/{name} did not stay as it was set ({}), because a rule of udev or another program set it; \
             find that and switch it off",
            changed.join(", ")
        )
    })
}

fn changed_in(folder: &Path, set: &Settings) -> Vec<String> {
    let of = |attribute: &str| {
        let (wanted, now) = (set.get(attribute)?, current(folder, attribute)?);
        (*wanted != now).then(|| format!("{attribute} {wanted} became {now}"))
    };
    ATTRIBUTES.into_iter().filter_map(of).collect()
}

/// Writes back what stood there before it was set. What is not as it was set is somebody else's by now, and is left alone;
/// answers what was done, `None`: nothing was to be.
///
/// # Errors
/// The first that the kernel does not take; the others are written back all the same.
pub(super) fn put_back(
    device: (u32, u32),
    sequence: u64,
    (set, was): (&Settings, &Settings),
) -> Result<Option<String>, LaneFailure> {
    let Some((folder, name)) = place_of(device, sequence) else { return Ok(None) };
    let done = put_back_in(&folder, set, was)?;
    Ok((!done.is_empty()).then(|| format!("put the queue of /dev/{name} back ({})", done.join(", "))))
}

fn put_back_in(folder: &Path, set: &Settings, was: &Settings) -> Result<Vec<&'static str>, LaneFailure> {
    let (mut first, mut done) = (Ok(()), Vec::new());
    for attribute in ATTRIBUTES {
        let (Some(before), Some(now)) = (was.get(attribute), current(folder, attribute)) else { continue };
        let came_with_the_scheduler = attribute == REQUESTS && done.contains(&SCHEDULER);
        let is_ours = came_with_the_scheduler || set.get(attribute) == Some(&now);
        if !is_ours || now == *before {
            continue;
        }
        match write(folder, attribute, before) {
            Ok(()) => done.push(attribute),
            Err(error) => {
                let what = format!("write {before} back to {attribute} of {}", folder.display());
                first = first.and(Err(cannot(what, error)));
            }
        }
    }
    first.map(|()| done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screened_options;

    fn settings(all: &[(&str, &str)]) -> Settings {
        all.iter().map(|(attribute, value)| ((*attribute).to_owned(), (*value).to_owned())).collect()
    }

    /// A folder as the kernel has one for a device.
    fn device(name: &str, all: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fairlane-queue-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("queue")).unwrap();
        all.iter().for_each(|(attribute, value)| write(&folder, attribute, value).unwrap());
        folder
    }

    #[test]
    fn what_was_set_is_put_back_and_what_somebody_set_since_is_left_alone() {
        let set = settings(&[(SCHEDULER, "bfq"), (READ_AHEAD, "4096")]);
        let was = settings(&[(SCHEDULER, "none"), (REQUESTS, "64"), (READ_AHEAD, "128")]);
        let folder = device("back", &[(SCHEDULER, "none [bfq]\n"), (REQUESTS, "256\n"), (READ_AHEAD, "4096\n")]);
        let all = |folder: &Path| ATTRIBUTES.map(|attribute| current(folder, attribute).unwrap());
        let done = put_back_in(&folder, &set, &was).unwrap();
        let first = all(&folder);
        // The second time there is nothing of ours any more.
        let again = put_back_in(&folder, &set, &was).unwrap();
        for (attribute, value) in [(SCHEDULER, "[kyber]"), (REQUESTS, "32"), (READ_AHEAD, "512")] {
            write(&folder, attribute, value).unwrap();
        }
        let others = put_back_in(&folder, &set, &was).unwrap();
        let left = all(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((done, first), (ATTRIBUTES.to_vec(), ["none", "64", "128"].map(str::to_owned)));
        assert!(again.is_empty() && others.is_empty(), "{again:?} {others:?}");
        assert_eq!(left, ["kyber", "32", "512"].map(str::to_owned));
    }

    #[test]
    fn what_somebody_set_meanwhile_is_told_and_set_again() {
        let set = settings(&[(SCHEDULER, "bfq"), (READ_AHEAD, "4096")]);
        let folder =
            device("again", &[(SCHEDULER, "none [mq-deadline] bfq\n"), (REQUESTS, "256\n"), (READ_AHEAD, "4096\n")]);
        let told = changed_in(&folder, &set);
        set_again_in(&folder, &set).unwrap();
        let after = (changed_in(&folder, &set), current(&folder, REQUESTS));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(told, ["scheduler bfq became mq-deadline"]);
        assert_eq!(after, (Vec::new(), Some("256".to_owned())));
    }

    #[test]
    fn a_scheduler_is_there_where_the_kernel_lists_it_or_has_no_other_word() {
        for (text, name, has) in [
            ("[none] mq-deadline bfq\n", "bfq", true),
            ("[none] mq-deadline bfq\n", "none", true),
            ("[none]\n", "bfq", false),
            ("none\n", "mq-deadline", false),
            ("none\n", "none", true),
        ] {
            let folder = device("scheduler", &[(SCHEDULER, text)]);
            let found = has_scheduler(&folder, name);
            std::fs::remove_dir_all(&folder).unwrap();
            assert_eq!(found, has, "{text} {name}");
        }
    }

    #[test]
    fn a_number_that_is_refused_is_told_with_the_one_that_is_there() {
        let folder = device("requests", &[(SCHEDULER, "none\n"), (REQUESTS, "64\n")]);
        let said =
            |device: &str| refused(&folder, Path::new(device), (REQUESTS, "256"), &Errno::INVAL.into()).to_string();
        let (of_loop, of_disk) = (said("/dev/loop3"), said("/dev/sda"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(of_loop.contains("it has 64, and loop devices take 128 at most by themselves"), "{of_loop}");
        assert!(
            of_loop.contains("takes no nr_requests=256 of /dev/loop3") && of_loop.ends_with("write a smaller number")
        );
        assert!(of_disk.contains("it has 64, so write a smaller number") && !of_disk.contains("loop"), "{of_disk}");
    }

    #[test]
    fn a_machine_that_cannot_set_a_queue_refuses_no_value() {
        let of = |error: Errno| refused(Path::new("/no"), Path::new("/dev/sda"), (REQUESTS, "256"), &error.into());
        assert!(matches!(of(Errno::INVAL), LaneFailure::Usage(_)));
        let said = of(Errno::ROFS);
        assert!(matches!(&said, LaneFailure::Failed(said) if said.contains("Read-only file system")), "{said}");
        let remedy = "; leave requests out of the layer queue, and out of a screening with --without requests";
        assert!(said.to_string().ends_with(remedy), "{said}");
        let screened = [screened_options::SCHEDULER, screened_options::REQUESTS, screened_options::READ_AHEAD];
        assert_eq!(ATTRIBUTES.map(option_of), screened.map(|option| option.name));
    }

    #[test]
    fn a_device_that_is_gone_has_nothing_to_be_put_back() {
        let (set, was) = (settings(&[(READ_AHEAD, "4096")]), settings(&[(READ_AHEAD, "128")]));
        assert_eq!(put_back((4095, 1_048_575), 0, (&set, &was)).unwrap(), None);
        assert_eq!(set_again((4095, 1_048_575), 0, &set), Ok(()));
        assert_eq!(changed((4095, 1_048_575), 0, &set), None);
    }

    #[test]
    fn a_journal_names_no_other_attribute_and_no_other_value() {
        let fine = settings(&[(SCHEDULER, "mq-deadline"), (REQUESTS, "64"), (READ_AHEAD, "128")]);
        assert!(is_plain(&fine, &Settings::new()) && is_plain(&fine, &fine));
        for bad in [
            ("../../../kernel/panic", "1"),
            ("iosched", "1"),
            (SCHEDULER, ""),
            (SCHEDULER, "a/b"),
            (SCHEDULER, "none\n"),
            (SCHEDULER, "None"),
            (REQUESTS, "-1"),
            (READ_AHEAD, "1e9"),
            (READ_AHEAD, "111111111111111111111111111111111"),
        ] {
            assert!(!is_plain(&settings(&[bad]), &fine) && !is_plain(&fine, &settings(&[bad])), "{bad:?}");
        }
    }

    #[test]
    fn what_a_lane_says_is_written_as_the_kernel_writes_it() {
        let words = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let said = |line: &str| Options::read("queue", QUEUE.options, &words(line)).map(|options| wanted(&options));
        let all = said("scheduler=bfq,read_ahead=4M,requests=0064").unwrap();
        assert_eq!(all, settings(&[(SCHEDULER, "bfq"), (READ_AHEAD, "4096"), (REQUESTS, "64")]));
        for bad in ["scheduler=cfq", "read_ahead=5M", "read_ahead=128M", "requests=3", "requests=x", "rotational=0"] {
            assert!(said(bad).is_err(), "{bad}");
        }
        assert_eq!(modules(&words("scheduler=kyber,requests=64")), ["kyber_iosched"]);
        assert!(modules(&words("scheduler=none")).is_empty() && modules(&[]).is_empty());
    }
}
