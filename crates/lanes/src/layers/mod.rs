//! The table of layers that a filesystem can stand on: a file for each driver, with all that Fairlane knows of it.
//!
//! Guests build them for the lanes that live there, and what they make goes with them; this machine journals what it makes. To
//! add a layer: its file here and its line in [`TABLE`], and its name in `model::stack::LAYERS`.

mod array_check;
mod bcache;
mod build;
mod cache;
mod crypt;
mod delay;
mod device_mapper;
mod fast_disk;
mod integrity;
mod linear;
mod md;
mod queue;
mod rebuild;
mod snapshot;
mod stripe;
mod superblock;
pub(crate) mod teardown;
mod thin;
mod vm;
mod vm_held;
mod writecache;

pub(crate) use build::{Holding, Site, Stack, hold};
pub(crate) use queue::{modules_of_all, queue_with};
pub(crate) use rebuild::Rebuilt;
pub use vm::VmLock;
pub(crate) use vm::{NAMES as VM_NAMES, check_vm_here, is_vm_held_here, lock_vm, vm_with};
pub(crate) use vm_held::is_vm_held_by_another;

use crate::failure::{LaneFailure, usage};
use build::Building;
use model::Bytes;
use model::lane::Promises;
use model::stack::{DEGRADED, LayerSpec, QUEUE, VM};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// One layer that Fairlane knows.
pub(crate) struct Layer {
    /// As lanes name it.
    pub(crate) name: &'static str,
    /// What it is, in a few words.
    pub(crate) about: &'static str,
    /// Devices that it may stand on.
    pub(crate) devices: RangeInclusive<u32>,
    /// What it may be told.
    pub(crate) options: &'static [LayerOption],
    /// About how many bytes it offers on so many devices of so many bytes each.
    pub(crate) capacity: Capacity,
    /// The programs that make it, and their packages.
    pub(crate) programs: &'static [(&'static str, &'static str)],
    /// Kernel modules that are loaded before its drivers, where they are there: ciphers, and what a CPU has for them.
    pub(crate) helpers: &'static [&'static str],
    /// The modules that it cannot do without, in the order in which they are loaded.
    pub(crate) drivers: &'static [&'static str],
    /// What stands on it promises, as it is told.
    pub(crate) promises: fn(Promises, &Options) -> Promises,
    /// What is written lies on the disks as something else.
    pub(crate) hides: bool,
    /// As it is told, it discards what it wrote itself, so that images below it shrink.
    pub(crate) discards: fn(&Options) -> bool,
    /// Each block of it is written once before anything stands on it: no log holds that for each filesystem that is cut.
    pub(crate) wipes: bool,
    /// This machine's kernel may build it too: after a kill it can be taken away.
    pub(crate) on_host: bool,
    /// Makes it from what stands below; answers its device.
    pub(crate) build: fn(&mut Building, &[PathBuf], &Options) -> Result<PathBuf, LaneFailure>,
}

/// Bytes of each device, how many there are, and what the layer is told; answers about how many bytes it offers: what
/// superblocks, checksums and maps take is left out.
pub(crate) type Capacity = fn(u64, u64, &Options) -> u64;

/// Something that a layer may be told.
pub(crate) struct LayerOption {
    /// Before the `=`, or the whole word.
    pub(crate) key: &'static str,
    /// The values that it takes.
    pub(crate) takes: Takes,
}

/// Values of an option.
pub(crate) enum Takes {
    /// None: the word is all.
    Nothing,
    /// One of these.
    Words(&'static [&'static str]),
    /// A size in bytes that is a power of two, from and to.
    Size(u64, u64),
    /// Any size in bytes, from and to.
    Bytes(u64, u64),
    /// A number, from and to.
    Number(u64, u64),
}

/// What a layer was told, by key.
pub(crate) struct Options(BTreeMap<String, String>);

/// The rows.
pub(crate) static TABLE: [&Layer; model::stack::LAYERS.len()] = [
    &md::RAID0,
    &md::RAID1,
    &md::RAID4,
    &md::RAID5,
    &md::RAID6,
    &md::RAID10,
    &linear::LINEAR,
    &stripe::STRIPE,
    &crypt::CRYPT,
    &integrity::INTEGRITY,
    &thin::THIN,
    &snapshot::SNAPSHOT,
    &delay::DELAY,
    &cache::CACHE,
    &writecache::WRITECACHE,
    &bcache::BCACHE,
    &queue::QUEUE,
    &vm::VM,
];

impl Layer {
    /// Whether a guest may build it: the kernel that is set is this machine's.
    pub(crate) fn is_for_guests(&self) -> bool {
        self.name != VM
    }

    /// Whether it stands without one of its devices.
    pub(crate) fn stands_without_one(&self) -> bool {
        self.options.iter().any(|option| option.key == DEGRADED)
    }
}

/// Each layer as a lane names it on as few disks as it takes: `crypt`, `raid5:3`.
pub fn least_words() -> impl Iterator<Item = String> {
    TABLE.iter().map(|row| match *row.devices.start() {
        1 => row.name.to_owned(),
        least => format!("{}:{least}", row.name),
    })
}

/// Of a layer that keeps what it is given, and passes flushes on.
fn unchanged(promises: Promises, _: &Options) -> Promises {
    promises
}

/// Of a layer that discards nothing of its own.
fn never(_: &Options) -> bool {
    false
}

/// The drivers that a layer cannot do without, as it is told. What it cannot be told is refused elsewhere.
pub(crate) fn drivers(spec: &LayerSpec) -> Vec<&'static str> {
    let Some(row) = find(&spec.name) else { return Vec::new() };
    let slow = spec.options.iter().any(|option| option.starts_with(fast_disk::SLOW_IS));
    let delay = if slow { delay::DELAY.drivers } else { &[] };
    [delay, row.drivers].concat()
}

/// Kernel modules that are loaded before these, where they are there.
pub(crate) fn helpers(spec: &LayerSpec) -> Vec<&'static str> {
    let of_row = find(&spec.name).map_or(&[] as &[&str], |row| row.helpers);
    let of_scheduler = if spec.name == QUEUE { queue::modules(&spec.options) } else { Vec::new() };
    of_row.iter().copied().chain(of_scheduler).collect()
}

/// Whether a layer discards on its own account, as it is told. What it cannot be told is refused elsewhere.
pub(crate) fn discards(spec: &LayerSpec) -> bool {
    let row = find(&spec.name).map(|row| (row, Options::read(row.name, row.options, &spec.options)));
    matches!(row, Some((row, Ok(options))) if (row.discards)(&options))
}

/// The array that has its journal on this disk, counted from 0, where no array further below stands for that. What a layer
/// cannot be told is refused elsewhere.
pub(crate) fn journal_on(layers: &[LayerSpec], disk: u32) -> Option<&'static str> {
    let mut device = disk;
    for spec in layers.iter().rev() {
        let devices = spec.devices.max(1);
        let (group, member) = (device / devices, device % devices);
        if let Some(row) = find(&spec.name).filter(|row| row.stands_without_one()) {
            let options = Options::read(row.name, row.options, &spec.options);
            let has_journal = options.is_ok_and(|options| md::has_journal(&options));
            return (has_journal && member + 1 == devices).then_some(row.name);
        }
        device = group;
    }
    None
}

/// About how many bytes a filesystem gets of disks of so many bytes each below these layers.
pub(crate) fn capacity(layers: &[LayerSpec], disk_bytes: u64) -> u64 {
    layers.iter().rev().fold(disk_bytes, |each, spec| {
        match find(&spec.name).map(|row| (row, Options::read(row.name, row.options, &spec.options))) {
            Some((row, Ok(options))) => (row.capacity)(each, u64::from(spec.devices), &options),
            _ => each,
        }
    })
}

/// Of a layer that keeps what it is given on one device, whatever others hold.
fn of_one(each: u64, _: u64, _: &Options) -> u64 {
    each
}

/// Of one that spreads it over all devices.
fn of_all(each: u64, devices: u64, _: &Options) -> u64 {
    each.saturating_mul(devices)
}

/// What a filesystem of these promises still promises on these layers. What a layer cannot be told is refused elsewhere.
pub(crate) fn promises_on(promises: Promises, layers: &[LayerSpec]) -> Promises {
    layers.iter().fold(promises, |promises, spec| {
        match find(&spec.name).map(|row| (row, Options::read(row.name, row.options, &spec.options))) {
            Some((row, Ok(options))) => (row.promises)(promises, &options),
            _ => promises,
        }
    })
}

/// The row of a name.
pub(crate) fn find(name: &str) -> Option<&'static Layer> {
    TABLE.into_iter().find(|layer| layer.name == name)
}

/// Refuses a layer that is not there, a number of devices that it does not take, and what it cannot be told.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy.
pub(crate) fn check(spec: &LayerSpec) -> Result<&'static Layer, LaneFailure> {
    let shown = model::text::escaped(spec.name.as_bytes());
    let layer = find(&spec.name).ok_or_else(|| {
        usage(format!("there is no layer `{shown}`; layers are {}", TABLE.map(|layer| layer.name).join(", ")))
    })?;
    let (least, most) = (*layer.devices.start(), *layer.devices.end());
    if !layer.devices.contains(&spec.devices) {
        let devices = if spec.devices == 1 { "1 device".to_owned() } else { format!("{} devices", spec.devices) };
        let takes = match (least, most) {
            (least, most) if least == most => least.to_string(),
            _ => format!("{least} to {most}"),
        };
        return Err(usage(format!(
            "{} ({}) stands on {takes}, and it is given {devices}; write /{}",
            layer.name,
            layer.about,
            if least == 1 { layer.name.to_owned() } else { format!("{}:{least}", layer.name) }
        )));
    }
    let options = Options::read(layer.name, layer.options, &spec.options)?;
    if layer.devices.contains(&2) && (layer.capacity)(Bytes::MIB, spec.devices.into(), &options) < Bytes::MIB {
        return Err(usage(format!(
            "{} is told to keep more copies than it has devices, {}; write more of these, or another layout",
            layer.name, spec.devices
        )));
    }
    if layer.name == VM {
        vm::check(&options)?;
    }
    Ok(layer)
}

/// Refuses layers of one lane in an order, or a number, in which they have no meaning.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy.
pub(crate) fn check_order(layers: &[LayerSpec]) -> Result<(), LaneFailure> {
    let mut told = layers.iter().enumerate().filter(|(_, layer)| layer.name == VM);
    let Some((at, _)) = told.next() else { return Ok(()) };
    if told.next().is_some() {
        return Err(usage("vm is told twice, and a lane works with one kernel; write its settings behind one `/vm`"));
    }
    match layers[..at].iter().find(|layer| layer.is_built()) {
        None => Ok(()),
        Some(above) => Err(usage(format!(
            "vm sets the kernel for all of a lane, so it stands above {}; write it first, right behind the filesystem",
            above.name
        ))),
    }
}

impl Options {
    /// Reads what a layer of this name is told, of what it may be.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for the first option that it does not take.
    pub(crate) fn read(name: &str, takes: &[LayerOption], options: &[String]) -> Result<Options, LaneFailure> {
        let mut read = BTreeMap::new();
        for option in options {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let shown = model::text::escaped(option.as_bytes());
            let known = takes.iter().find(|known| known.key == key).ok_or_else(|| {
                let takes: Vec<String> = takes.iter().map(LayerOption::describe).collect();
                let takes = if takes.is_empty() { "no option".to_owned() } else { takes.join("; ") };
                usage(format!("{} has no option `{shown}`; it takes {takes}", name))
            })?;
            if !known.takes.takes(value, option.contains('=')) {
                return Err(usage(format!("{} does not take `{shown}`; write {}", name, known.describe())));
            }
            if read.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(usage(format!("{} is told `{key}` twice; remove one", name)));
            }
        }
        if read.contains_key("degraded") && read.contains_key("rebuilding") {
            return Err(usage(format!("{} is told `degraded` and `rebuilding`; remove one", name)));
        }
        let consistency = read.get("consistency").filter(|policy| *policy != "resync");
        if let (Some(policy), true) = (consistency, read.contains_key("bitmap")) {
            return Err(usage(format!(
                "{name} is told `bitmap=` and `consistency={policy}`, and keeps one of them; remove one"
            )));
        }
        Ok(Options(read))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All of them as they were told, in the order of their keys.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let told = |(key, value): (&String, &String)| match value.as_str() {
            "" => key.clone(),
            value => format!("{key}={value}"),
        };
        self.0.iter().map(told)
    }

    /// A size in bytes.
    pub(crate) fn size(&self, key: &str, usual: u64) -> u64 {
        self.text(key).and_then(|text| text.parse::<model::Bytes>().ok()).map_or(usual, |size| size.0)
    }

    pub(crate) fn number(&self, key: &str, usual: u64) -> u64 {
        self.text(key).and_then(|text| text.parse().ok()).unwrap_or(usual)
    }
}

impl LayerOption {
    fn describe(&self) -> String {
        let of = |bytes: u64| model::Bytes(bytes).to_string();
        match &self.takes {
            Takes::Nothing => self.key.to_owned(),
            Takes::Words(words) => format!("{}={}", self.key, words.join("|")),
            Takes::Size(from, to) => format!("{}={} to {} (a power of two)", self.key, of(*from), of(*to)),
            Takes::Bytes(from, to) => format!("{}={} to {}", self.key, of(*from), of(*to)),
            Takes::Number(from, to) => format!("{}={from} to {to}", self.key),
        }
    }
}

impl Takes {
    fn takes(&self, value: &str, has_value: bool) -> bool {
        match self {
            Takes::Nothing => !has_value,
            Takes::Words(words) => words.contains(&value),
            Takes::Size(from, to) => value
                .parse::<model::Bytes>()
                .is_ok_and(|size| size.0.is_power_of_two() && (*from..=*to).contains(&size.0)),
            Takes::Bytes(from, to) => value.parse::<model::Bytes>().is_ok_and(|size| (*from..=*to).contains(&size.0)),
            Takes::Number(from, to) => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                digits && value.parse().is_ok_and(|number| (*from..=*to).contains(&number))
            }
        }
    }
}

/// What a layer is, for the record: `raid5 of 3 devices, chunk=64K`.
pub(crate) fn describe(spec: &LayerSpec) -> String {
    let of = if spec.devices == 1 { String::new() } else { format!(" of {} devices", spec.devices) };
    let options: String = spec.options.iter().map(|option| format!(", {option}")).collect();
    format!("{}{of}{options}", spec.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_of_the_grammar_has_its_row() {
        assert_eq!(TABLE.map(|layer| layer.name), model::stack::LAYERS);
    }

    #[test]
    fn what_a_layer_cannot_be_told_is_refused_with_what_it_can() {
        let said = |lane: &str| {
            let lane: model::lane::LaneSpec = lane.parse().unwrap();
            check(&lane.layers[0]).map(drop).map_err(|error| error.to_string())
        };
        for fine in [
            "ext4/raid5:3",
            "ext4/raid10:4,chunk=64K,layout=f2",
            "ext4/crypt,cipher=aes-xts-plain64,sector=4096",
            "ext4/crypt,no_read_workqueue",
            "ext4/delay,ms=5",
            "ext4/cache:2,mode=writeback,chunk=128K,slow=5,share=50",
            "ext4/writecache:2,block=512,slow=5",
            "ext4/bcache:2,mode=none",
            "ext4/queue,scheduler=none,read_ahead=4M,requests=64",
            "ext4/queue",
            "ext4/vm,dirty_ratio=5,dirty_background_ratio=2",
            "ext4/vm,dirty_bytes=300M,dirty_background_bytes=64M",
            "ext4/vm,dirty_ratio=5,dirty_background_bytes=64M",
            "slow=ext4/vm,dirty_expire_centisecs=0,dirty_writeback_centisecs=100,vfs_cache_pressure=50,swappiness=10",
        ] {
            assert_eq!(said(fine), Ok(()), "{fine}");
        }
        for (text, words) in [
            ("ext4/raid5:2", "stands on 3 to 24, and it is given 2 devices; write /raid5:3"),
            ("ext4/crypt:2", "stands on 1, and it is given 2 devices; write /crypt"),
            ("ext4/cache", "stands on 2, and it is given 1 device; write /cache:2"),
            ("ext4/cache:3", "stands on 2, and it is given 3 devices; write /cache:2"),
            (
                "ext4/cache:2,mode=writearound",
                "cache does not take `mode=writearound`; write mode=writethrough|writeback|pass",
            ),
            ("ext4/cache:2,slow=0", "does not take `slow=0`"),
            ("ext4/writecache:2,share=101", "does not take `share=101`"),
            ("ext4/writecache:2,mode=writeback", "writecache has no option `mode=writeback`"),
            ("ext4/bcache:2,mode=passthrough", "bcache does not take"),
            ("ext4/raid5:3,stripes=4", "raid5 has no option `stripes=4`; it takes chunk="),
            ("ext4/raid0:2,chunk=65K", "raid0 does not take `chunk=65K`"),
            ("ext4/crypt,cipher=rot13", "crypt does not take `cipher=rot13`; write cipher="),
            ("ext4/crypt,no_read_workqueue=1", "does not take"),
            ("ext4/delay,ms=-1", "does not take"),
            ("ext4/delay,ms=1,ms=2", "twice"),
            ("ext4/raid0:2,degraded", "raid0 has no option `degraded`"),
            ("ext4/raid5:3,degraded,rebuilding", "remove one"),
            ("ext4/raid5:4,consistency=journal,bitmap=internal", "keeps one of them; remove one"),
            ("ext4/raid5:4,bitmap=none,consistency=ppl", "keeps one of them; remove one"),
            ("ext4/raid10:2,layout=n3", "more copies than it has devices, 2"),
            ("ext4/queue:2", "stands on 1, and it is given 2 devices; write /queue"),
            ("ext4/queue,scheduler=cfq", "write scheduler=none|mq-deadline|kyber|bfq"),
            ("ext4/queue,read_ahead=3M", "write read_ahead=4KiB to 64MiB (a power of two)"),
            ("ext4/vm:2", "stands on 1, and it is given 2 devices; write /vm"),
            ("ext4/vm,overcommit_memory=1", "vm has no option `overcommit_memory=1`"),
            ("ext4/vm,dirty_ratio=101", "write dirty_ratio=1 to 100"),
            ("ext4/vm,dirty_ratio=0", "write dirty_ratio=1 to 100"),
            ("ext4/vm,dirty_ratio=-1", "does not take `dirty_ratio=-1`"),
            ("ext4/vm,dirty_bytes=4K", "write dirty_bytes=8KiB to 1TiB"),
            ("ext4/vm,dirty_bytes=x", "does not take `dirty_bytes=x`"),
            ("ext4/vm,dirty_ratio=5,dirty_bytes=1G", "`dirty_ratio` and `dirty_bytes`, and the kernel keeps one"),
            ("ext4/vm,dirty_ratio=5,dirty_background_ratio=5", "dirty_background_ratio=5 is not below dirty_ratio=5"),
            ("ext4/vm,dirty_bytes=64M,dirty_background_bytes=1G", "is not below dirty_bytes=67108864"),
        ] {
            let said = said(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn the_kernel_is_set_once_and_above_all_that_is_built() {
        let said = |lane: &str| {
            let lane: model::lane::LaneSpec = lane.parse().unwrap();
            check_order(&lane.layers).map_err(|error| error.to_string())
        };
        for fine in [
            "ext4",
            "ext4/crypt/queue,requests=64",
            "ext4/vm,dirty_ratio=5/crypt",
            "ext4/queue,requests=64/vm,dirty_ratio=5/raid1:2",
        ] {
            assert_eq!(said(fine), Ok(()), "{fine}");
        }
        let below = said("ext4/raid1:2/vm,dirty_ratio=5").unwrap_err();
        assert!(below.contains("it stands above raid1; write it first"), "{below}");
        let twice = said("ext4/vm,dirty_ratio=5/vm,swappiness=10").unwrap_err();
        assert!(twice.contains("vm is told twice"), "{twice}");
        assert_eq!(TABLE.into_iter().filter(|layer| !layer.is_for_guests()).count(), 1);
    }

    #[test]
    fn what_a_layer_does_to_promises_stands_in_its_row() {
        let on = |lane: &str| {
            let lane: model::lane::LaneSpec = lane.parse().unwrap();
            promises_on(crate::promises::JOURNALED, &lane.layers)
        };
        let kept = crate::promises::JOURNALED;
        for lane in [
            "ext4",
            "ext4/raid5:3",
            "ext4/cache:2",
            "ext4/cache:2,mode=passthrough",
            "ext4/bcache:2,mode=writearound",
            "ext4/queue,scheduler=none",
            "ext4/vm,dirty_ratio=60",
        ] {
            assert_eq!(on(lane), kept, "{lane}");
        }
        for lane in ["ext4/cache:2,mode=writeback", "ext4/crypt/writecache:2", "ext4/bcache:2,mode=writeback/crypt"] {
            assert_eq!(on(lane), Promises { outlives_cache: false, ..kept }, "{lane}");
            assert_eq!(on(lane).durability_differences(&kept).len(), 1);
        }
        assert_eq!(on("ext4/integrity"), Promises { data_checksums: true, ..kept });
    }

    #[test]
    fn what_layers_leave_of_their_disks_is_counted_from_below() {
        let of = |lane: &str| {
            let lane: model::lane::LaneSpec = lane.parse().unwrap();
            capacity(&lane.layers, 1 << 30) as f64 / f64::from(1 << 30)
        };
        for (lane, disks) in [
            ("ext4", 1.0),
            ("ext4/crypt", 1.0),
            ("ext4/queue,scheduler=none", 1.0),
            ("ext4/vm,dirty_ratio=5", 1.0),
            ("ext4/raid0:3", 3.0),
            ("ext4/raid1:3", 1.0),
            ("ext4/raid5:4", 3.0),
            ("ext4/raid5:4,degraded", 3.0),
            ("ext4/raid5:4,consistency=journal", 2.0),
            ("ext4/raid6:5", 3.0),
            ("ext4/raid10:4", 2.0),
            ("ext4/raid10:6,layout=f3", 2.0),
            ("ext4/linear:2/raid1:2", 2.0),
            ("ext4/stripe:2/crypt", 2.0),
            ("ext4/snapshot", 0.5),
            ("ext4/cache:2", 1.0),
            ("ext4/bcache:2/raid0:2", 2.0),
        ] {
            assert_eq!(of(lane), disks, "{lane}");
        }
    }

    #[test]
    fn no_option_carries_what_would_end_a_table_of_the_device_mapper() {
        // Words of tables are split at spaces, devices at commas and semicolons.
        let ends = |text: &str| text.contains([' ', ',', ';', '\\']);
        for layer in TABLE {
            for option in layer.options {
                let words: &[&str] = if let Takes::Words(words) = option.takes { words } else { &[] };
                assert!(words.iter().all(|word| !ends(word)) && !ends(option.key), "{} {}", layer.name, option.key);
            }
        }
    }
}
