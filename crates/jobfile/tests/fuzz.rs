//! Hostile job files: nothing panics, and every refusal is one line that names its file.
//!
//! `PROPTEST_CASES=1000000 cargo test -p jobfile --test fuzz` looks at a million.

use jobfile::{Surroundings, for_fio, parse};
use proptest::prelude::*;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Names of options, sections and what looks like them.
const KEYS: &str = "rw readwrite bs blocksize bsrange bssplit bs_unaligned ba size io_size number_ios offset \
    offset_increment rwmixread rwmixwrite norandommap random_distribution percentage_random randrepeat kb_base \
    ioengine iodepth iodepth_batch iodepth_batch_complete_min iodepth_low direct buffered hipri sqthread_poll \
    uncached name numjobs thread directory filename filename_format filesize nrfiles openfiles file_service_type \
    file_append create_on_open create_only fallocate overwrite pre_read fadvise_hint unlink sync fsync fdatasync \
    end_fsync runtime time_based ramp_time startdelay loops thinktime thinktime_spin thinktime_blocks rate rate_iops \
    rate_process stonewall wait_for exitall new_group zero_buffers buffer_pattern buffer_compress_percentage \
    buffer_compress_chunk dedupe_percentage verify do_verify verify_interval include write_bw_log mem exec_prerun \
    zonemode flow verify_async verify_pattern io_submit_mode dedupe_mode steadystate_duration group_reporting \
    cpus_allowed iodetph bogus é [a] [global] [b ;x [";

/// Values that options take, and values that they should not.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "4k",
    "8k",
    "4KiB",
    "512",
    "1m",
    "1g",
    "64p",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999",
    "0x",
    "0xffffffffffffffff",
    "50%",
    "101%",
    "(1/0)",
    "(2^62)",
    "(((((1",
    "8*$mb_memory",
    "$pagesize",
    "$ncpus*4k",
    "${SET}",
    "${UNSET}",
    "${BREAKS}",
    "${",
    "4k,8k",
    "4k,,",
    ",,,,",
    "1k-4k",
    "4k:1k",
    "1k-4k,2k-",
    "4k/50:8k/50",
    "4k/50:8k/",
    "4k/60:8k/60",
    "/",
    ":",
    "::",
    "read",
    "randrw",
    "randread:8",
    "read:-8k",
    "write:9223372036854775807",
    "rw:-9223372036854775808",
    "trimwrite",
    "io_uring",
    "libaio",
    "null",
    "sync",
    "posixaio",
    "zipf:1.2",
    "zipf:nan",
    "zipf:inf",
    "zoned:50/5:30/15:20/",
    "zoned:////",
    "pareto:0.2",
    "normal:1e308",
    "random:0",
    "crc32c",
    "md5",
    "/dev/sda",
    "/tmp/x",
    "../x",
    "a/../../b",
    "/",
    ".",
    "-",
    "a\\:b:c",
    "/..",
    "//dev//null",
    "native",
    "0xdead\"ab\"-7",
    "\"",
    "'f'",
    "0x123",
    "a",
    "b",
    "job",
    "100d",
    "1min",
    "500ms",
    "99999999999d",
    "poisson",
    "é\u{202e}\u{7}",
    "self.fio",
    "deep.fio",
    "missing.fio",
    "x\rsize=1",
    "=",
    "  ",
    "$jobname",
    "[x]",
];

fn surroundings() -> Surroundings<'static> {
    Surroundings {
        read: &|path: &Path| match path.file_name().and_then(|name| name.to_str()) {
            Some("self.fio") => Ok("bs=4k\ninclude self.fio\n".to_owned()),
            Some("deep.fio") => Ok("bs=8k\niodepth=4\n".to_owned()),
            _ => Err(Error::new(ErrorKind::NotFound, "no such\nfile")),
        },
        variable: &|name| match name {
            "SET" => Some("16k".to_owned()),
            "BREAKS" => Some("1\nexec_prerun=x".to_owned()),
            _ => None,
        },
        cpus: u32::MAX,
        memory_bytes: u64::MAX,
        page_bytes: u64::MAX,
        space_bytes: u64::MAX,
    }
}

/// Reads a text both ways and looks at what comes out.
fn look(text: &str) -> Result<(), TestCaseError> {
    let around = surroundings();
    let read = |path: &Path| if path == Path::new("x/job.fio") { Ok(text.to_owned()) } else { (around.read)(path) };
    let around = Surroundings { read: &read, ..surroundings() };
    let path = Path::new("x/job.fio");
    let refusals = [
        parse(path, &around).map(|jobs| accepted(&jobs)).err(),
        for_fio(path, &around).map(|run| kept(&run.text)).err(),
    ];
    for refusal in refusals.into_iter().flatten() {
        let line = refusal.to_string();
        prop_assert!(!line.chars().any(char::is_control), "several lines: {line:?}");
        prop_assert!(line.starts_with("x/"), "names no file: {line}");
        prop_assert!(line.len() < 500, "too long: {line}");
        prop_assert!(refusal.line as usize <= text.split('\n').count(), "no such line: {line}");
    }
    Ok(())
}

/// What is accepted can be run: it passes the model's own checks, and no name leaves the lane.
fn accepted(jobs: &model::job::Jobs) {
    jobs.check().unwrap();
    jobs.working_set_bytes();
    jobs.groups();
    for job in &jobs.jobs {
        for name in job.io.filename.iter().chain([&job.io.filename_format]) {
            assert!(!name.starts_with('/') && !name.split('/').any(|part| part == ".."), "{name}");
        }
        assert!(job.io.bs.0 > 0 && job.io.iodepth > 0 && job.io.numjobs > 0 && job.io.nrfiles > 0);
    }
}

/// What fio gets runs no command and names no file outside the lane.
fn kept(text: &str) {
    for line in text.lines() {
        assert!(!line.starts_with("exec_") && !line.starts_with("filename=/"), "{text}");
    }
}

fn key() -> impl Strategy<Value = &'static str> {
    let keys: Vec<&'static str> = KEYS.split_whitespace().collect();
    (0..keys.len()).prop_map(move |index| keys[index])
}

fn value() -> impl Strategy<Value = &'static str> {
    (0..VALUES.len()).prop_map(|index| VALUES[index])
}

fn line() -> impl Strategy<Value = String> {
    (key(), 0..12_u8, value(), value()).prop_map(|(key, form, first, second)| match form {
        0 => key.to_owned(),
        1 => format!("{key} = {first}{second}"),
        2 => format!("{key}={first},{second}"),
        3 => format!(" {key}={first} ; {second}\r"),
        4 => format!("{key} {first}"),
        _ => format!("{key}={first}"),
    })
}

/// A sound job first, so that many get past the first line.
fn file() -> impl Strategy<Value = String> {
    (any::<bool>(), prop::collection::vec(line(), 0..8)).prop_map(|(sound, lines)| {
        let start = if sound { "[global]\nsize=1m\n[a]\n" } else { "" };
        format!("{start}{}", lines.join("\n"))
    })
}

/// A file, some of them with bytes changed, or bytes alone.
fn text() -> impl Strategy<Value = String> {
    let changes = prop::collection::vec((any::<u16>(), any::<u8>()), 1..6);
    let changed = (file(), changes).prop_map(|(file, changes)| {
        let mut bytes = file.into_bytes();
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let noise = prop::collection::vec(any::<u8>(), 0..48);
    let noise = noise.prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    prop_oneof![6 => file(), 3 => changed, 1 => noise]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_job_file_breaks_the_reader(text in text()) {
        look(&text)?;
    }
}
