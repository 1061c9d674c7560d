//! Hostile input for every reader of what strangers write: nothing panics, and at no moment does it all hold more than
//! 256 MiB.
//!
//! Inputs are real files with bytes, numbers, keys and whole values changed, drawn from a seed and their number, so that
//! one can be made again alone: `FUZZ_FIRST=N FUZZ_INPUTS=1`. `make fuzz` looks at ten million for each reader, `make test`
//! at what takes about a minute in all.

mod mutation;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::durability::DurabilityRecord;
use model::features::Features;
use model::lane::LaneSpec;
use model::page::Language;
use model::published::Published;
use model::record::Record;
use model::scenario::{Need, Scenario};
use model::share::{ShareError, Sharing};
use model::workload::{Suite, Workload};
use mutation::{Draw, mutate, mutate_values};
use rand_core::Rng;
use report::{Input, Render, Style};
use serde_json::Value;
use stats::gate::{Named, Terms};
use stats::trend::RecordFigures;
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// What all readers of this process may hold together, in bytes.
const MOST_BYTES: i64 = 256 << 20;

/// Counts what is held, and ends the process where it is too much: a reader that took 4 GB would otherwise only be slow.
struct Counting;

static HELD: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

impl Counting {
    fn add(bytes: i64) {
        let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if held > MOST.load(Ordering::Relaxed) {
            MOST.store(held, Ordering::Relaxed);
            if held > MOST_BYTES {
                const SAID: &str = "fuzz: more than 256 MiB are held; FUZZ_TRACE=1 names the input\n";
                // SAFETY: write reads as many bytes as the text has; it allocates nothing, which nobody may here.
                let _ = unsafe { libc::write(2, SAID.as_ptr().cast(), SAID.len()) };
                std::process::abort();
            }
        }
    }
}

// SAFETY: every call is handed to the system's allocator with the same arguments; counting touches no memory but two
// atomic numbers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::add(layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Counting::add(layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::add(size as i64 - layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One reader: whether it takes the input does not matter, as long as it answers.
struct Reader {
    name: &'static str,
    /// Inputs of an ordinary run.
    usual: u64,
    /// Makes an input.
    make: fn(&mut Draw) -> Vec<u8>,
    /// Reads it; answers whether it was taken.
    read: fn(&[u8]) -> bool,
}

fn number(key: &str) -> Option<u64> {
    std::env::var(key).ok()?.parse().ok()
}

fn fuzz(reader: &Reader) {
    let first = number("FUZZ_FIRST").unwrap_or(0);
    let inputs = number("FUZZ_INPUTS").unwrap_or(reader.usual);
    let trace = number("FUZZ_TRACE").is_some();
    let (mut taken, mut slowest, begun) = (0_u64, (Duration::ZERO, 0), Instant::now());
    for at in first..first + inputs {
        let input = (reader.make)(&mut Draw::new(reader.name, at));
        if trace {
            eprintln!("{} {at}", reader.name);
        }
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| (reader.read)(&input))) {
            Ok(was) => taken += u64::from(was),
            Err(_) => panic!(
                "{}: input {at} breaks it (FUZZ_FIRST={at} FUZZ_INPUTS=1):\n{}",
                reader.name,
                String::from_utf8_lossy(&input).escape_debug().take(4000).collect::<String>()
            ),
        }
        slowest = slowest.max((started.elapsed(), at));
    }
    println!(
        "{}: {inputs} inputs in {:.0} s, {taken} taken, the slowest {:.0} ms (number {}); at most {} MiB held by all readers",
        reader.name,
        begun.elapsed().as_secs_f64(),
        slowest.0.as_secs_f64() * 1e3,
        slowest.1,
        MOST.load(Ordering::Relaxed) >> 20
    );
    // A reader that takes nothing is only tested for its first line.
    assert!(taken > 0 || inputs < 1000, "{}: not one input was taken", reader.name);
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

const RECORD: &str = include_str!("../fixtures/schema1.jsonl");
const DURABILITY: &str = include_str!("../fixtures/durability1.jsonl");

/// Lines of a record, without their ends.
type Lines = Vec<Vec<u8>>;

/// Header, and the other lines.
static LINES: LazyLock<(Lines, Lines)> = LazyLock::new(|| {
    let mut lines: Vec<Vec<u8>> = RECORD.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    let more = [
        r#"{"kind":"note","said":"a note"}"#,
        r#"{"kind":"resume","started":"2026-01-01T00:00:00Z","boot_id":"b"}"#,
        r#"{"kind":"rate","workload":"commit","share":0.7,"slowest":"xfs","maxima_operations_per_second":{"xfs":1.0},"operations_per_second":0.7}"#,
        r#"{"kind":"end","finished":"2026-01-01T00:00:00Z","outcome":"complete"}"#,
        r#"{"kind":"later","x":[1,{}]}"#,
    ];
    lines.extend(more.map(|line| format!("{line}\n").into_bytes()));
    let others = lines.split_off(1);
    (lines, others)
});

static VALUES: LazyLock<Vec<Value>> =
    LazyLock::new(|| RECORD.lines().map(|line| serde_json::from_str(line).expect("a fixture")).collect());

fn some_record(draw: &mut Draw) -> Vec<u8> {
    let (headers, others) = &*LINES;
    let mut text = if draw.below(3) == 0 { mutate(draw, headers) } else { headers[0].clone() };
    for _ in 0..draw.below(4) {
        text.extend(if draw.below(2) == 0 { mutate(draw, others) } else { draw.one(others).clone() });
    }
    text
}

fn record_of_values(draw: &mut Draw) -> Vec<u8> {
    let mut text = Vec::new();
    // Mostly one change or two: what is refused shows no report.
    let changed = *draw.one(&[1, 1, 2, 4]);
    for (at, line) in VALUES.iter().enumerate() {
        if at > 0 && draw.below(5) == 0 {
            continue;
        }
        let mut line = line.clone();
        if draw.below(VALUES.len()) < changed {
            mutate_values(draw, &mut line);
        }
        text.extend(line.to_string().into_bytes());
        text.push(b'\n');
    }
    text
}

/// A record becomes findings, and those every report.
fn whole_chain(bytes: &[u8]) -> bool {
    let Ok(record) = Record::read(bytes) else { return false };
    let findings = stats::judge::findings(&record);
    let input = Input { findings: &findings, record: &record, record_path: Some("r.jsonl") };
    for format in &report::FORMATS {
        match &format.render {
            Render::Text(render) => {
                _ = render(
                    &input,
                    &Style { colour: bytes.len().is_multiple_of(2), width: 20 + bytes.len() % 200, ..Style::default() },
                )
            }
            Render::Spoken(render) => _ = render(&input, Language::De),
            Render::Page(_) => {
                let page = stats::page::race(&record, findings.clone(), Vec::new());
                serde_json::to_string(&page).expect("a page is JSON");
                report::language::sentences(&findings);
            }
        }
    }
    let again = stats::compare::compare(&record, &record, "a", "b");
    let named = [Named { name: "a", record: &record }];
    let gate = stats::gate::gate(&named, &named, &Terms { fail_if_slower: 0.05, need_resolution: Some(0.05) });
    for format in &report::FORMATS {
        let _ = (format.compare)(&again, &Style::default());
        let _ = gate.as_ref().map(|gate| (format.gate)(gate, &Style::default()));
    }
    let figures = stats::trend::figures(&record, "r");
    for workload in figures.workloads() {
        // A number at the edge of what one can be is not read again.
        let kept = serde_json::to_string(&figures.only(workload)).expect("figures are JSON");
        let Ok(kept) = serde_json::from_str::<RecordFigures>(&kept) else { continue };
        for group in figures.groups(workload) {
            _ = stats::trend::trend([&kept, &figures], workload, group, &[]);
        }
    }
    let mut cells = 0;
    let rows = fleet::rows(&record, "r", |row| {
        cells += row.cells().len();
        Ok::<(), ()>(())
    });
    assert!(rows.is_ok_and(|rows| cells == rows as usize * fleet::COLUMNS.len()));
    let _ = stats::calibrate::calibration(&record);
    // One in four is enough.
    if bytes.len().is_multiple_of(4) {
        share(bytes);
    }
    true
}

/// What is shared of a record that can be read is a record, and nothing private is left where nobody looked.
fn share(bytes: &[u8]) {
    let text = text(bytes);
    let mut sharing = Sharing::begin(&text, &[]).expect("a record can be read");
    let mut shared = String::new();
    let take = |line: &str| -> Result<(), ShareError> {
        shared.push_str(line);
        shared.push('\n');
        Ok(())
    };
    match sharing.each_line(take) {
        Err(error @ ShareError::Left { .. }) => panic!("{error}"),
        Err(error) => panic!("what was read once is read again: {error}"),
        Ok(()) => assert!(Sharing::begin(&shared, &[]).is_ok(), "{shared}"),
    }
}

fn some_durability(draw: &mut Draw) -> Vec<u8> {
    let mut text = Vec::new();
    for line in DURABILITY.split_inclusive('\n') {
        let line = vec![line.as_bytes().to_vec()];
        text.extend(match draw.below(30) {
            0 => mutate(draw, &line),
            1..=3 => {
                let mut value: Value = serde_json::from_slice(&line[0]).expect("a fixture");
                mutate_values(draw, &mut value);
                format!("{value}\n").into_bytes()
            }
            _ => line[0].clone(),
        });
    }
    text
}

fn durability_chain(bytes: &[u8]) -> bool {
    let Ok(record) = DurabilityRecord::read(bytes) else { return false };
    let found = stats::durability::findings(&record);
    for format in report::DURABILITY_FORMATS {
        let _ = report::render_durability(&found, format, Some("d.jsonl"), None, &Style::default());
    }
    stats::durability::broken(&record);
    share(bytes);
    true
}

/// Files of a folder of the repository.
fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|of| of == end));
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a file")).collect();
    assert!(!files.is_empty(), "{} holds nothing", folder.display());
    files
}

/// Suites, and each of their workloads alone: what is small is changed often, and read fast.
static SUITES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for suite in files("suites", "toml") {
        let text = String::from_utf8(suite).expect("UTF-8");
        let (head, workloads) = text.split_once("[[workload]]").expect("a workload");
        all.extend(workloads.split("[[workload]]").map(|one| format!("{head}[[workload]]{one}").into_bytes()));
        all.push(text.into_bytes());
    }
    all
});
static CUSTOM: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| files("docs", "toml"));
static SCENARIOS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| files("scenarios", "toml"));
static PROFILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| files("profiles", "toml"));
static FEATURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| files("features", "toml"));
static RESULTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    ["json", "txt", "csv", "xml"].iter().flat_map(|end| files("crates/foreign/tests/fixtures", end)).collect()
});
static PUBLISHED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| files("published", "toml"));

fn work(workload: &Workload) {
    let _ = (workload.check(), workload.working_set_bytes(), workload.groups());
}

fn read_suite(bytes: &[u8]) -> bool {
    let Ok(mut suite) = Suite::from_toml(&text(bytes)) else { return false };
    suite.workload.iter().for_each(work);
    let _ = suite.to_toml().expect("a suite is TOML");
    let _ = suite.do_as_published();
    suite.workload.iter().for_each(work);
    true
}

const LANES: [&str; 12] = [
    "ext4",
    "old=ext4@qemu:/boot/vmlinuz-6.1",
    "btrfs,compress=zstd:1",
    "lean=xfs,-mreflink=0,noatime",
    "ext4(-O ^has_journal)",
    "xfs@/dev/sdb1",
    "btrfs,-draid1,-mraid1:2",
    "/mnt/a",
    "./docs/myfs.toml",
    "a=tmpfs",
    "rsext4,journal",
    "btrfs-raid1=btrfs(-m raid1 -d raid1)",
];
const JOB_FILES: [&str; 3] = [
    "[global]\nsize=64m\nbs=4k,8k\nioengine=io_uring\niodepth=16\n[a]\nrw=randrw\nrwmixread=70\nrandom_distribution=zipf:1.2\n[b]\nstonewall\nrw=write\nbssplit=4k/50:8k/50\nverify=crc32c\n",
    "[j]\nfilename=f\nsize=50%\nrw=randread:8\nnumjobs=4\nthinktime=10ms\nrate=1m,2m\nruntime=1m\ntime_based\nramp_time=500ms\n",
    "[global]\nnrfiles=100\nfilesize=4k-1m\nfile_service_type=zipf:1.1\n[x]\nrw=write\nfsync=8\nbuffer_compress_percentage=50\nbuffer_pattern=0xdead\ninclude more.fio\n",
];
/// Values that options take.
const WORDS: [&str; 12] = [
    "2GiB",
    "4k",
    "10m",
    "1h30m",
    "5%",
    "0.05",
    "151MiB/s,8050iops",
    "read:16000iops",
    "quota=user",
    "shrink",
    "12:0",
    "3:subset:7",
];

fn owned(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|one| one.as_bytes().to_vec()).collect()
}

fn read_jobs(bytes: &[u8]) -> bool {
    let own = text(bytes).into_owned();
    let read = |path: &Path| match path.to_str() {
        Some("j.fio") => Ok(own.clone()),
        Some("more.fio") => Ok(own.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n")),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let around = jobfile::Surroundings {
        read: &read,
        variable: &|_| Some("1".to_owned()),
        cpus: 64,
        memory_bytes: 1 << 40,
        page_bytes: 65536,
        space_bytes: 1 << 30,
    };
    let _ = jobfile::for_fio(Path::new("j.fio"), &around);
    jobfile::parse(Path::new("j.fio"), &around).is_ok_and(|jobs| {
        let _ = (jobs.check(), jobs.working_set_bytes(), jobs.groups());
        true
    })
}

/// What conductor, agent and guest say to each other.
static MESSAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let header: Value = VALUES[0].clone();
    let mut all = owned(&[
        r#"{"request":"hello"}"#,
        r#"{"request":"attach","target":{"directory":"/mnt/x"},"devices":{}}"#,
        r#"{"ask":"mount","filesystem":"ext4","source":"/dev/vda","options":["noatime"],"target":"/lanes/0"}"#,
        r#"{"ask":"watch","lane":1,"devices":{},"appenders":true}"#,
        r#"{"answer":"hello","release":"6.1.0","filesystems":["ext4"],"cpus":2,"memory_bytes":1,"module_failures":[]}"#,
        r#"{"answer":"refused","kind":"usage","reason":"no"}"#,
        r#"{"answer":"clock","nanoseconds":5}"#,
    ]);
    use model::agent::{Part, Reply, Request, Room};
    for workload in header["plan"]["workloads"].as_array().expect("workloads") {
        let workload: Workload = serde_json::from_value(workload.clone()).expect("a workload");
        all.push(serde_json::to_vec(&Request::prepare(workload, 7)).expect("JSON"));
    }
    let of_groups = |line: &Value| serde_json::from_value(line["groups"].clone()).ok();
    if let Some(groups) = VALUES.iter().find_map(of_groups) {
        let reply = Reply::Finished { groups, system: Default::default(), notes: vec!["n".into()], jobs: Vec::new() };
        all.push(serde_json::to_vec(&reply).expect("JSON"));
    }
    let phase = Request::Phase { group: "create".to_owned(), part: Part { index: 1, of: 10 }, threads: true };
    for request in
        [Request::Hello, Request::Sync, Request::Slice { warm_up_seconds: 0.1, seconds: 2.0, threads: true }, phase]
    {
        all.push(serde_json::to_vec(&request).expect("JSON"));
    }
    let failed =
        Reply::Failed { reason: "no".to_owned(), errno: Some(28), corrupt: false, unsupported: true, room: Room::Full };
    for reply in [Reply::Done, Reply::Took { seconds: 0.5 }, failed] {
        all.push(serde_json::to_vec(&reply).expect("JSON"));
    }
    all
});

fn some_message(draw: &mut Draw) -> Vec<u8> {
    if draw.below(2) == 0 {
        return mutate(draw, &MESSAGES);
    }
    let mut value: Value = serde_json::from_slice(draw.one::<Vec<u8>>(&MESSAGES)).expect("a message");
    mutate_values(draw, &mut value);
    value.to_string().into_bytes()
}

fn read_message(bytes: &[u8]) -> bool {
    let request = serde_json::from_slice::<model::agent::Request>(bytes);
    if let Ok(model::agent::Request::Prepare { workload, .. }) = &request {
        work(workload);
    }
    let reply = serde_json::from_slice::<model::agent::Reply>(bytes).is_ok();
    let ask = serde_json::from_slice::<lanes::guest::protocol::Ask>(bytes).is_ok();
    let answer = serde_json::from_slice::<lanes::guest::protocol::Answer>(bytes).is_ok();
    request.is_ok() || reply || ask || answer
}

/// A conversation of lines none of which asks for work: what the agent does with the rest it does to itself.
fn read_lines(bytes: &[u8]) -> bool {
    let mut harmless = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        use model::agent::Request::{Detach, Finish, Hello, Quit, Sync};
        let read = serde_json::from_slice::<model::agent::Request>(line);
        // A greeting tries io_uring, which takes a millisecond: one in sixteen.
        let greets = matches!(read, Ok(Hello));
        if matches!(read, Err(_) | Ok(Detach | Sync | Finish | Quit)) || greets && bytes.len().is_multiple_of(16) {
            harmless.extend_from_slice(line);
        }
    }
    let mut answers = Vec::new();
    agent::serve(harmless.as_slice(), &mut answers, Default::default()).expect("it goes on");
    answers
        .split_inclusive(|byte| *byte == b'\n')
        .all(|line| serde_json::from_slice::<model::agent::Reply>(line).is_ok())
}

fn some_lines(draw: &mut Draw) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..1 + draw.below(4) {
        text.extend(some_message(draw));
        text.push(b'\n');
    }
    text
}

/// A plain V2 histogram with its numbers changed; what is deflated is inflated by the same reader.
fn some_histogram(draw: &mut Draw) -> Vec<u8> {
    let mut bytes = 0x1c84_9313_u32.to_be_bytes().to_vec();
    let counts: Vec<u8> = (0..draw.below(200))
        .map(|_| draw.random.next_u64() as u8 & if draw.random.next_u64() & 1 == 0 { 0x7f } else { 0xff })
        .collect();
    let length = if draw.below(3) == 0 { draw.random.next_u64() as u32 } else { counts.len() as u32 };
    let (offset, digits) = (u32::from(draw.below(9) == 0), *draw.one(&[3_u32, 3, 3, 2, 1, 0, 4, 5, u32::MAX]));
    for word in [length, offset, digits] {
        bytes.extend(word.to_be_bytes());
    }
    let long = |draw: &mut Draw| *draw.one(&[1, 1, 2, 1 << 20, u64::MAX, u64::MAX >> 1, 3_600_000_000_000, 0]);
    for word in [long(draw), long(draw), 1_f64.to_bits()] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(counts);
    let text = STANDARD.encode(&bytes).into_bytes();
    if draw.below(4) == 0 { mutate(draw, &[text]) } else { text }
}

fn read_histogram(bytes: &[u8]) -> bool {
    let own = text(bytes);
    let good = VALUES.iter().find_map(|line| line["groups"][0]["histogram"].as_str()).unwrap_or_default();
    let (merged, _) = stats::latency::merge([&*own, good, &own]);
    merged.is_some_and(|of| {
        let _ = (stats::latency::percentile(&of, 0.99), of.mean(), of.stdev());
        !of.is_empty()
    })
}

fn read_word(bytes: &[u8]) -> bool {
    let text = text(bytes);
    let [a, b, c] =
        [text.parse::<model::Bytes>().is_ok(), text.parse::<model::Throttle>().is_ok(), text.parse::<Need>().is_ok()];
    let [d, e] = [model::units::parse_seconds(&text).is_ok(), model::units::parse_percent(&text).is_ok()];
    let cut = text.parse::<crashes::crash_model::Cut>().is_ok();
    a || b || c || d || e || cut
}

macro_rules! readers {
    ($($test:ident: $name:literal, $usual:literal, $make:expr, $read:expr;)*) => {
        $(#[test]
        fn $test() {
            fuzz(&Reader { name: $name, usual: $usual, make: $make, read: $read });
        })*
    };
}

readers! {
    a_record_is_read: "record", 4_000, some_record, |bytes| Record::read(bytes).is_ok();
    a_record_becomes_every_report: "record and reports", 120, record_of_values, whole_chain;
    a_record_of_durability_becomes_every_report: "durability", 3_000, some_durability, durability_chain;
    a_suite_is_read: "suite", 1_500, |draw| mutate(draw, &SUITES), read_suite;
    a_lane_is_read: "lane", 100_000, |draw| mutate(draw, &owned(&LANES)), |bytes| {
        text(bytes).parse::<LaneSpec>().is_ok_and(|lane| !lane.to_line().is_empty())
    };
    a_job_file_is_read: "job file", 2_500, |draw| mutate(draw, &owned(&JOB_FILES)), read_jobs;
    a_filesystem_of_ones_own_is_read: "custom filesystem", 15_000, |draw| mutate(draw, &CUSTOM), |bytes| {
        lanes::custom::Custom::parse(&text(bytes), "x.toml").is_ok()
    };
    a_scenario_is_read: "scenario", 10_000, |draw| mutate(draw, &SCENARIOS), |bytes| Scenario::from_toml(&text(bytes)).is_ok();
    a_profile_of_ageing_is_read: "profile of ageing", 5_000, |draw| mutate(draw, &PROFILES), |bytes| {
        // What it names is as hostile as it is itself.
        aging::Profile::read("x.toml", &text(bytes), &mut |_| Ok(bytes.to_vec())).is_ok()
    };
    features_are_read: "features", 3_000, |draw| mutate(draw, &FEATURES), |bytes| Features::from_toml(&text(bytes)).is_ok();
    published_figures_are_read: "published", 800, |draw| mutate(draw, &PUBLISHED), |bytes| {
        Published::from_toml(&text(bytes)).is_ok()
    };
    results_of_other_tools_are_read: "foreign results", 3_000, |draw| mutate(draw, &RESULTS), |bytes| {
        foreign::read(&text(bytes)).is_ok_and(|of| of.series.iter().flat_map(|series| &series.runs).all(|run| run.is_finite() && *run > 0.0))
    };
    messages_are_read: "messages", 50_000, some_message, read_message;
    lines_are_answered: "lines", 10_000, some_lines, read_lines;
    a_histogram_is_read: "histogram", 3_000, some_histogram, read_histogram;
    values_of_options_are_read: "values", 100_000, |draw| mutate(draw, &owned(&WORDS)), read_word;
}
