//! Whether the disk under the lanes is called a cache, or another device than theirs, at each threshold on both sides.

use crate::common;

use common::{io, lane, record, run};
use model::disk::{Behind, BehindKind, DiskProbe, QueueLimits};
use model::findings::DiskSign;
use model::plan::Rounds;
use model::record::Record;
use model::workload::Pattern;
use stats::judge;

const GIB: f64 = (1_u64 << 30) as f64;

fn race(looks: &[DiskProbe]) -> Record {
    let read = io("random-read", Pattern::RandRead, 32, 0);
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![read], Rounds::Auto, true);
    run(&mut race, 6, &[1000.0, 1000.0], 0.0, 1);
    race.disks = looks.to_vec();
    race
}

/// Half a second of writes at a rate, the flush behind them, and reads.
fn look(write: f64, flush_seconds: f64, read: f64) -> DiskProbe {
    DiskProbe {
        workload: "random-read".into(),
        round: 1,
        area_bytes: 2 << 30,
        block_bytes: 1 << 20,
        depth: 8,
        written_bytes: (write * 0.5) as u64,
        write_seconds: 0.5,
        flush_seconds,
        write_bytes_per_second: vec![write; 10],
        read_bytes_per_second: read,
        ..DiskProbe::default()
    }
}

fn signs(looks: &[DiskProbe]) -> Vec<DiskSign> {
    judge::findings(&race(looks)).disk.map_or_else(Vec::new, |disk| disk.signs)
}

fn said(looks: &[DiskProbe]) -> Option<String> {
    let findings = judge::findings(&race(looks));
    let said = findings.disk.and_then(|disk| disk.said).map(String::from);
    let answer = findings.answer.unwrap();
    assert_eq!(said.as_deref(), answer.cached_disk.as_deref(), "the answer says it too");
    let told = findings.warnings.iter().position(|warning| warning.starts_with("this disk"));
    assert_eq!(told, said.as_ref().map(|_| 0), "first of all: {:?}", findings.warnings);
    said
}

#[test]
fn ordinary_disks_are_none_that_answer_from_a_cache() {
    for (what, write, flush, read) in [
        ("NVMe with a volatile cache", 3.0e9, 0.05, 3.5e9),
        ("NVMe that empties a slow one", 5.0e9, 0.24, 7.0e9),
        ("NVMe whose flush takes nothing", 2.0e9, 0.0, 3.2e9),
        ("SATA", 0.5e9, 0.02, 0.54e9),
        ("a disk that spins, with 32 MiB of cache", 0.2e9, 0.18, 0.2e9),
        ("a cloud disk whose quota for reads is lower", 0.4e9, 0.001, 0.24e9),
        ("a slow card", 0.02e9, 0.4, 0.09e9),
    ] {
        assert_eq!(signs(&vec![look(write, flush, read); 2]), [], "{what}");
        assert_eq!(said(&vec![look(write, flush, read); 2]), None, "{what}");
    }
    assert_eq!(judge::findings(&race(&[])).disk, None, "nobody looked");
}

#[test]
fn a_flush_that_takes_as_long_as_the_writes_is_a_caches() {
    let told = said(&vec![look(6.4e9, 4.83, 6.0e9); 2]).unwrap();
    assert_eq!(
        told,
        "this disk answers from a cache: it took writes at 6.4 GB/s, with the flush behind them at 600 MB/s; what writes \
         show here is that cache"
    );
    let sign = |flush| signs(&vec![look(1.0e9, flush, 1.0e9); 2]).len();
    assert_eq!([sign(0.49), sign(0.5), sign(0.51)], [0, 1, 1], "half of the rate");
    // Of writes that were shorter, a short flush is an ordinary cache's.
    let short = |flush| DiskProbe { write_seconds: 0.1, written_bytes: 100 << 20, ..look(1.0e9, flush, 1.0e9) };
    let sign = |flush| signs(&vec![short(flush); 2]).len();
    assert_eq!([sign(0.24), sign(0.25)], [0, 1], "a quarter of a second");
}

#[test]
fn one_disturbed_moment_says_nothing() {
    let (slow, fine) = (look(1.0e9, 2.0, 1.0e9), look(1.0e9, 0.01, 1.0e9));
    assert_eq!(signs(std::slice::from_ref(&slow)), [], "a single look");
    assert_eq!(signs(&[slow.clone(), fine.clone()]), [], "one of two");
    assert_eq!(signs(&[slow.clone(), fine, slow]).len(), 1, "two of three");
}

#[test]
fn no_medium_takes_long_writes_faster_than_it_gives_them_back() {
    let told = said(&vec![look(6.4e9, 0.0, 3.5e9); 2]).unwrap();
    assert!(told.contains("it wrote at 6.4 GB/s, its flush included, and read the same at 3.5 GB/s"), "{told}");
    let sign = |write, read| signs(&vec![look(write, 0.0, read); 2]).len();
    assert_eq!([sign(2.98e9, 2.0e9), sign(3.0e9, 2.0e9)], [0, 1], "one and a half times");
    assert_eq!([sign(0.99e9, 0.5e9), sign(1.0e9, 0.5e9)], [0, 1], "quotas are sold below");
    assert_eq!(sign(3.0e9, 0.0), 0, "reads were not measured");
    // Reads that were slow once may have been disturbed.
    assert_eq!(signs(&[look(3.0e9, 0.0, 1.0e9), look(3.0e9, 0.0, 2.1e9)]), []);
    assert_eq!(signs(&[look(3.0e9, 0.0, 1.0e9), look(2.9e9, 0.0, 2.0e9)]), []);
}

#[test]
fn writes_that_become_slower_filled_a_cache_or_used_an_allowance_up() {
    let falling = |last: f64| {
        let mut of = look(1.0e9, 0.01, 1.5e9);
        of.write_bytes_per_second[7..].fill(last);
        of
    };
    let told = said(&vec![falling(0.3e9); 2]).unwrap();
    assert_eq!(
        told,
        "this disk answers from a cache, or somebody allows it more at first: its writes fell from 1 GB/s to 300 MB/s \
         within 500 ms; short writes show that"
    );
    let sign = |last| signs(&vec![falling(last); 2]).len();
    assert_eq!([sign(0.51e9), sign(0.5e9)], [0, 1], "half");
    let few = DiskProbe { write_bytes_per_second: vec![1e9, 1e9, 1e9, 1e9, 1e8, 1e8, 1e8, 1e8], ..falling(1e8) };
    assert_eq!(signs(&vec![few; 2]), [], "eight parts have no thirds");
}

#[test]
fn what_the_kernel_shows_needs_no_figures() {
    for (kind, words) in [
        (BehindKind::Memory, "this disk is memory: loop7 keeps its blocks in this machine's memory"),
        (BehindKind::PageCache, "this disk answers from this machine's page cache: loop7 is a loop device"),
    ] {
        let mut race = race(&[]);
        race.header.machine.device.behind = Some(Behind { kind, device: "loop7".into() });
        let findings = judge::findings(&race);
        assert!(findings.warnings[0].starts_with(words), "{:?}", findings.warnings);
        assert!(findings.answer.unwrap().cached_disk.unwrap().starts_with(words));
        assert_eq!(findings.disk.unwrap().looks, 0);
    }
}

#[test]
fn figures_without_time_or_bytes_are_none() {
    let nothing = DiskProbe { write_seconds: 0.0, ..look(0.0, 1.0, 1.0e9) };
    assert_eq!(judge::findings(&race(&vec![nothing; 2])).disk, None);
    let broken = DiskProbe { flush_seconds: f64::NAN, read_bytes_per_second: f64::NAN, ..look(1.0e9, 0.0, 0.0) };
    assert_eq!(signs(&vec![broken; 2]), []);
}

fn queue() -> QueueLimits {
    QueueLimits {
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        minimum_io_bytes: Some(4096),
        optimal_io_bytes: Some(0),
        write_cache: Some("write back".into()),
        fua: Some(true),
        discard_max_bytes: Some(1 << 30),
        discard_granularity_bytes: Some(4096),
        rotational: Some(false),
    }
}

fn told_of(here: QueueLimits, there: QueueLimits) -> Option<String> {
    let mut race = race(&[]);
    race.header.machine.device.name = "nvme0n1".into();
    race.header.machine.device.queue = Some(there);
    race.header.lanes[0].queue = Some(here);
    let warnings = judge::findings(&race).warnings;
    warnings.into_iter().map(String::from).find(|said| said.starts_with("mkfs and the filesystem see"))
}

#[test]
fn a_loop_device_that_differs_from_the_disk_is_said_to_and_each_limit_is_named() {
    assert_eq!(told_of(queue(), queue()), None);
    assert_eq!(told_of(QueueLimits::default(), queue()), None, "what nobody tells differs in nothing");
    for (here, words) in [
        (
            QueueLimits { logical_block_bytes: Some(4096), ..queue() },
            "logical blocks of 4 KiB where the disk has 512 B",
        ),
        (
            QueueLimits { physical_block_bytes: Some(512), minimum_io_bytes: Some(512), ..queue() },
            "physical blocks of 512 B where the disk has 4 KiB; a race on the device itself",
        ),
        (
            QueueLimits { minimum_io_bytes: Some(65_536), ..queue() },
            "a smallest good request of 64 KiB where the disk names 4 KiB",
        ),
        (
            QueueLimits { optimal_io_bytes: Some(131_072), ..queue() },
            "a best request of 128 KiB where the disk names none",
        ),
        (QueueLimits { write_cache: Some("write through".into()), ..queue() }, "no write cache where the disk has one"),
        (QueueLimits { fua: Some(false), ..queue() }, "no stable single writes (FUA), which the disk has"),
        (QueueLimits { discard_max_bytes: Some(0), ..queue() }, "it takes no discards, and the disk does"),
        (QueueLimits { rotational: Some(true), ..queue() }, "it counts as spinning, and the disk does not"),
    ] {
        let told = told_of(here.clone(), queue()).unwrap_or_default();
        assert!(told.contains(words), "{told}");
        let other = told_of(queue(), here).unwrap_or_default();
        assert!(
            other.starts_with("mkfs and the filesystem see a loop device and not nvme0n1: ") && other != told,
            "{other}"
        );
    }
    // A lane on another disk is not held against this one.
    let mut race = race(&[]);
    race.header.machine.device.queue = Some(queue());
    race.header.machine.device.name = "sdb".into();
    race.header.lanes[0].queue = Some(QueueLimits { fua: Some(false), ..queue() });
    assert!(judge::findings(&race).warnings.iter().all(|said| !said.contains("loop device")));
}

#[test]
fn the_answer_names_what_was_raced() {
    let raced = |change: &dyn Fn(&mut Record)| {
        let mut race = race(&[]);
        change(&mut race);
        judge::findings(&race).answer.unwrap().raced.unwrap().to_string()
    };
    assert_eq!(raced(&|_| {}), "raced on fresh filesystems of 2 GiB");
    let both = |venue: &'static str, grounds: [&'static str; 2]| {
        move |race: &mut Record| {
            for (lane, ground) in race.header.lanes.iter_mut().zip(grounds) {
                (lane.venue, lane.ground) = (venue.to_owned(), ground.to_owned());
            }
        }
    };
    assert_eq!(raced(&both("device", ["/dev/sdb2"; 2])), "raced on fresh filesystems on /dev/sdb2");
    assert_eq!(raced(&both("directory", ["/mnt/a", "/mnt/b"])), "raced in directories as they are");
    assert_eq!(raced(&both("directory", ["/mnt/a"; 2])), "raced in /mnt/a as it is");
    assert_eq!(raced(&both("qemu", ["images"; 2])), "raced on fresh filesystems of 2 GiB in QEMU");
    assert_eq!(raced(&both("library", ["/dev/sdb2"; 2])), "raced on fresh filesystems on /dev/sdb2");
    let mixed = |race: &mut Record| {
        (race.header.lanes[1].venue, race.header.lanes[1].ground) = ("directory".into(), "/mnt/b".into());
        race.header.lanes[0].size_bytes = (8.0 * GIB) as u64;
    };
    assert_eq!(raced(&mixed), "raced on fresh filesystems of 8 GiB and in /mnt/b as it is");
}
