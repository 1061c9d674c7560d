//! What filesystems make of the work that they are given is seen on real ones: direct I/O through the page cache, files
//! that lie within metadata.

mod common;
#[path = "common/user_mode_linux.rs"]
mod user_mode_linux;

use common::{Place, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use user_mode_linux::user_mode_linux;

/// What became dirty is counted for the whole machine: one race at a time.
static ALONE: Mutex<()> = Mutex::new(());

const STEADY: &str = r#"
name = "direct"
about = "direct I/O"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "read"
title = "random read 4 KiB, direct"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "32MiB"
ioengine = "sync"
data = "2.7:1"
direct = true
slices = 4
slice_seconds = 0.05

[[workload]]
name = "write"
title = "random overwrite 4 KiB, direct"
kind = "io"
rw = "randwrite"
bs = "4KiB"
size = "32MiB"
ioengine = "sync"
data = "2.7:1"
direct = true
slices = 4
slice_seconds = 0.05
"#;

const SMALL: &str = r#"
name = "small"
about = "small files"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "small"
title = "small files"
kind = "operations"
files = [{ name = "1 KiB", count = 200, size = "1KiB", directories = 4 }, { name = "16 KiB", count = 200, size = "16KiB" }]
step = [
    { name = "create 1 KiB", operation = "create", files = "1 KiB" },
    { name = "create 16 KiB", operation = "create", files = "16 KiB" },
    { name = "read 1 KiB", operation = "read", files = "1 KiB", cold = true },
    { name = "delete 1 KiB", operation = "unlink", files = "1 KiB" },
]
"#;

/// A race's record, what the statistics make of it, and its report.
struct Raced {
    record: Vec<Value>,
    found: Value,
    text: String,
}

impl Raced {
    /// Lanes that sent a group's I/O through the page cache, whether or not others did.
    fn buffered(&self, workload: &str, group: &str) -> BTreeMap<String, bool> {
        let result = self.result(workload, group);
        let of = |of: &Value| {
            let share = of["page_cache_share"].as_f64().unwrap_or_else(|| panic!("no share: {of}"));
            (of["lane"].as_str().expect("a lane").to_owned(), share >= 0.5)
        };
        let measured = result["estimates"].as_array().expect("estimates").iter().filter(|of| of["failure"].is_null());
        measured.map(of).collect()
    }

    fn result(&self, workload: &str, group: &str) -> &Value {
        let results = self.found["results"].as_array().expect("results");
        let found = results.iter().find(|of| of["workload"] == workload && of["group"] == group);
        found.unwrap_or_else(|| panic!("no {workload}: {group}"))
    }

    fn groups(&self) -> impl Iterator<Item = (&str, &Value)> {
        let trials = self.record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok");
        trials.flat_map(|trial| {
            let lane = trial["lane"].as_str().expect("a lane");
            trial["groups"].as_array().expect("groups").iter().map(move |group| (lane, group))
        })
    }
}

fn raced(place: &Place, words: &[&str]) -> Raced {
    raced_to(0, place, words)
}

/// A race that ends with this status.
fn raced_to(status: i32, place: &Place, words: &[&str]) -> Raced {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = words.to_vec();
    // The least of all rounds counts: a second one is for what else the machine does in the first.
    all.extend(["--rounds", "2", "--lane-size", "512MiB", "-o", "r.jsonl"]);
    place.expect(status, &all);
    let record = std::fs::read_to_string(place.path().join("r.jsonl")).expect("a record");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    Raced {
        record: record.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect(),
        found: serde_json::from_str(&json).expect("JSON"),
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn suite(place: &Place, text: &str) -> String {
    let suite = place.path().join("own.toml");
    std::fs::write(&suite, text).expect("a suite");
    suite.to_str().expect("UTF-8").to_owned()
}

fn lanes<const N: usize>(of: [(&str, bool); N]) -> BTreeMap<String, bool> {
    of.into_iter().map(|(lane, buffered)| (lane.to_owned(), buffered)).collect()
}

/// ext4 sends all of a file's I/O through the page cache where its data goes through the journal; btrfs what it reads of
/// compressed files. ext4 as it is and XFS do neither.
#[test]
fn direct_io_that_passes_the_page_cache_is_seen_of_reads_and_of_writes() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = suite(&place, STEADY);
    let all = ["race", "ext4", "xfs", "journal=ext4,data=journal", "zstd=btrfs,compress-force=zstd", "--suite", &suite];
    let found = raced(&place, &all);
    let expected = lanes([("ext4", false), ("xfs", false), ("journal", true), ("zstd", true)]);
    assert_eq!(found.buffered("read", "read"), expected);
    let writes = found.buffered("write", "write");
    for (lane, buffered) in [("ext4", false), ("xfs", false), ("journal", true)] {
        assert_eq!(writes[lane], buffered, "{lane}: {writes:?}");
    }
    let acts = found.result("read", "read")["acts"].to_string();
    assert!(acts.contains("journal buffers these direct reads"), "{acts}");
    assert!(acts.contains("zstd keeps these files compressed"), "{acts}");
    for said in ["zstd buffers these direct reads", "journal buffers these direct writes", "its files are compressed"] {
        assert!(found.text.contains(said), "{said}: {}", found.text);
    }
    let looked = |(lane, group): &(&str, &Value)| {
        group["cached_files"]["looked_bytes"].as_u64() == Some(32 << 20) && !lane.is_empty()
    };
    assert_eq!(found.groups().filter(looked).count(), 2 * 2 * 4, "every trial was looked at");
    place.assert_nothing_left();
}

/// The guest's kernel has no cachestat(2), and its tmpfs refuses O_DIRECT (Linux 6.6 and later do not).
#[test]
fn a_guest_sees_its_own_page_cache() {
    if !user_mode_linux() {
        return;
    }
    let place = Place::new();
    let suite = suite(&place, STEADY);
    let all = ["race", "ext4@uml", "journal=ext4,data=journal@uml", "tmpfs@uml", "--suite", &suite];
    let found = raced_to(1, &place, &all);
    for (workload, group) in [("read", "read"), ("write", "write")] {
        assert_eq!(found.buffered(workload, group), lanes([("ext4", false), ("journal", true)]), "{workload}");
    }
    assert!(
        found.text.contains("tmpfs failed: this filesystem refuses direct I/O, set direct = false"),
        "{}",
        found.text
    );
    place.assert_nothing_left();
}

#[test]
fn the_jobs_of_a_job_file_are_told_by_direction() {
    if !root() {
        return;
    }
    let place = Place::new();
    let text = "[global]\nioengine=psync\nsize=16m\nbs=4k\ndirect=1\nruntime=1\n\
        [over]\nrw=randwrite\noverwrite=1\n[look]\nstonewall\nrw=randread\n\
        [plain]\nstonewall\nrw=randread\ndirect=0\n";
    std::fs::write(place.path().join("a.fio"), text).expect("a job file");
    let found = raced(&place, &["fio", "a.fio", "ext4", "journal=ext4,data=journal"]);
    let expected = lanes([("ext4", false), ("journal", true)]);
    let workload = found.found["results"][0]["workload"].as_str().expect("a workload").to_owned();
    assert_eq!(found.buffered(&workload, "look: read"), expected);
    assert!(found.buffered(&workload, "look: read")["journal"]);
    // Only what was asked to be direct.
    assert!(found.result(&workload, "plain: read")["estimates"][0]["page_cache_share"].is_null());
    assert!(found.text.contains("journal buffers these direct reads"), "{}", found.text);
    assert!(found.groups().any(|(_, group)| group["name"] == "over: write" && !group["cached_files"].is_null()));
    place.assert_nothing_left();
}

#[test]
fn files_within_metadata_are_named_where_they_lie_there() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = suite(&place, SMALL);
    let found = raced(&place, &["race", "ext4", "btrfs", "inline=ext4(-O inline_data -I 2048)", "--suite", &suite]);
    let kept = |group: &str| {
        let of = |kept: &Value| (kept["lane"].as_str().unwrap().to_owned(), kept["form"].as_str().unwrap().to_owned());
        let kept = found.result("small", group)["kept"].as_array().map(|all| all.iter().map(of).collect::<Vec<_>>());
        kept.unwrap_or_default()
    };
    let inline = ["btrfs", "inline"].map(|lane| (lane.to_owned(), "inline".to_owned()));
    assert_eq!(kept("create 1 KiB"), inline);
    assert_eq!(kept("read 1 KiB"), inline);
    assert_eq!(kept("create 16 KiB"), []);
    // Nothing is there any more to be looked at.
    assert!(found.groups().all(|(_, group)| group["name"] != "delete 1 KiB" || group["kept_files"].is_null()));
    let looked = found.groups().filter(|(_, group)| group["kept_files"]["files"] == 8).count();
    assert_eq!(looked, 3 * 2 * 3, "every lane, round and step that left files");
    assert!(found.text.contains("keeps these files in its metadata"), "{}", found.text);
    place.assert_nothing_left();
}
