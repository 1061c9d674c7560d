use super::*;
use crate::Bytes;

#[test]
fn texts_are_read_back_as_they_were_written() {
    for text in ["4KiB", "4KiB-64KiB", "4KiB/60:64KiB/40"] {
        assert_eq!(text.parse::<BlockSizes>().unwrap().to_string(), text);
    }
    for text in ["random", "zipf:1.2", "pareto:0.2", "normal:10", "zoned:90/10:10/90"] {
        assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
    }
    for text in ["incompressible", "1.6:1", "2.7:1", "zero", "compress:50", "compress:50/4096", "pattern:deadbeef"] {
        assert_eq!(text.parse::<Data>().unwrap().to_string(), text);
    }
}

#[test]
fn texts_that_make_no_sense_are_refused_with_a_remedy() {
    for text in ["", "4KiB/60", "64KiB-4KiB", "4KiB/x:1/40", "x"] {
        assert!(text.parse::<BlockSizes>().is_err(), "{text}");
    }
    for text in ["zipf:1", "zipf:x", "zoned:50/50", "zoned:x", "fractal", "pareto:2", "zipf:NaN"] {
        assert!(text.parse::<Distribution>().is_err(), "{text}");
    }
    for text in ["", "3:1", "compress:101", "pattern:", "pattern:abc", "pattern:zz", "pattern:éé"] {
        assert!(text.parse::<Data>().is_err(), "{text}");
    }
}

#[test]
fn defaults_are_left_out_and_read_back() {
    let io = Io { size: Bytes(1 << 20), ..Io::default() };
    let json = serde_json::to_string(&io).unwrap();
    assert!(json.len() < 200, "{json}");
    assert_eq!(serde_json::from_str::<Io>(&json).unwrap(), io);
}

fn one_job(name: &str, io: Io) -> Jobs {
    let job = Job {
        name: name.into(),
        stonewall: false,
        exitall: false,
        wait_for: None,
        options: Vec::new(),
        io: Io { size: Bytes(1 << 20), ..io },
    };
    Jobs { jobs: vec![job], file: String::new(), notes: Vec::new() }
}

#[test]
fn a_rate_for_one_direction_of_a_mixture_is_refused() {
    let of = |read, write| Io {
        rw: Pattern::RandRw,
        size: Bytes(1 << 20),
        rate: Some(PerDirection { read, write, trim: Rate::Unlimited }),
        ..Io::default()
    };
    let limit = Rate::Operations(100.0);
    assert!(of(limit, Rate::Unlimited).check().unwrap_err().contains("give reads and writes a rate each"));
    assert!(of(Rate::Unlimited, Rate::Bytes(1e6)).check().is_err());
    assert_eq!(of(limit, Rate::Bytes(1e6)).check(), Ok(()));
    let only_reads = Io { rwmixread: 100, ..of(limit, Rate::Unlimited) };
    assert_eq!(only_reads.check(), Ok(()));
    assert_eq!(Io { rw: Pattern::RandRead, ..of(limit, Rate::Unlimited) }.check(), Ok(()));
}

#[test]
fn a_rate_in_bytes_counts_blocks_of_the_mean_length() {
    let mean = |text: &str| text.parse::<BlockSizes>().unwrap().mean();
    assert_eq!((mean("4KiB"), mean("4KiB-16KiB"), mean("4KiB/75:64KiB/25")), (4096.0, 10_240.0, 19_456.0));
    let rate = PerDirection { read: Rate::Bytes(8192.0), write: Rate::Bytes(4096.0), trim: Rate::Unlimited };
    let io = Io { rw: Pattern::Rw, rate: Some(rate), ..Io::default() };
    assert_eq!(io.operations_of(Direction::Read, rate.read), Some(2.0));
    assert!((io.read_share() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(Io { rate: None, ..io }.read_share(), 0.5);
}

#[test]
fn durability_that_a_mapped_file_does_not_have_is_refused() {
    let io = |sync| Io { ioengine: "mmap".into(), rw: Pattern::Write, size: Bytes(1 << 20), sync, ..Io::default() };
    assert_eq!(io(SyncMode::None).check(), Ok(()));
    for sync in [SyncMode::Sync, SyncMode::Dsync] {
        assert!(io(sync).check().unwrap_err().contains("write fdatasync = 1"), "{sync:?}");
    }
}

/// Names that lead out of a lane, or name no file in it.
const OUTSIDE: [&str; 12] =
    ["", "/etc/passwd", "/", "//etc/passwd", "..", "../x", "a/../../x", "a/..", "a/", "a/.", ".", "a\0b"];

#[test]
fn files_outside_the_lane_are_refused_by_name() {
    for name in OUTSIDE {
        let named = Io { filename: vec!["fine".into(), name.into()], size: Bytes(1 << 20), ..Io::default() };
        let error = named.check().unwrap_err();
        assert!(error.starts_with("filename \"") && error.contains("; "), "{name:?}: {error}");
        assert!(one_job("a", named).check().is_err(), "{name:?}");
        let patterned = Io { filename_format: name.into(), size: Bytes(1 << 20), ..Io::default() };
        // An empty pattern is fio's own.
        assert_eq!(patterned.check().is_err(), !name.is_empty(), "{name:?}");
    }
    for name in ["x", "d/x", "./x", "..x", "x..", "a..b/c", "...", "d//x", "a:b", "a\\b"] {
        let io = Io { filename: vec![name.into()], size: Bytes(1 << 20), ..Io::default() };
        assert_eq!(io.check(), Ok(()), "{name:?}");
        let io = Io { filename_format: name.into(), size: Bytes(1 << 20), ..Io::default() };
        assert_eq!(io.check(), Ok(()), "{name:?}");
    }
}

#[test]
fn patterns_that_lead_out_of_the_lane_only_when_filled_in_are_refused() {
    for format in ["$clientuid/etc/passwd", ".$clientuid./x", "x/.$clientuid./../x", "$clientuid", "d/$clientuid"] {
        let io = Io { filename_format: format.into(), size: Bytes(1 << 20), ..Io::default() };
        assert!(io.check().unwrap_err().starts_with("filename_format"), "{format}");
    }
    for (job, format) in [(".$clientuid.", "$jobname/x"), ("$clientuid", "$jobname/etc/x")] {
        let io = Io { filename_format: format.into(), ..Io::default() };
        let error = one_job(job, io).check().unwrap_err();
        assert!(error.contains("filename_format"), "{error}");
    }
    let io = Io { filename_format: "d/$jobname/$jobnum.$filenum".into(), ..Io::default() };
    assert_eq!(one_job("a/../b", io).check(), Ok(()), "a slash in a job's name is no directory");
    assert_eq!(file_name("$jobname/$jobnum-$filenum$clientuid", "a/../b", 2, 3), "a_.._b/2-3");
    assert_eq!(file_name("", "a", 1, 0), "a.1.0");
}

#[test]
fn jobs_named_like_no_file_are_refused() {
    for name in ["", ".", "..", "a\0b"] {
        let error = one_job(name, Io::default()).check().unwrap_err();
        assert!(error.starts_with("the name of job"), "{error}");
    }
    for name in ["a", "a b", "/etc/passwd", "../x", "..."] {
        assert_eq!(one_job(name, Io::default()).check(), Ok(()), "{name}");
    }
}

#[test]
fn groups_carry_the_jobs_name_where_there_are_several() {
    let job = |name: &str, rw| Job {
        name: name.into(),
        stonewall: false,
        exitall: false,
        wait_for: None,
        options: Vec::new(),
        io: Io { rw, size: Bytes(1 << 20), ..Io::default() },
    };
    let mut jobs = Jobs { jobs: vec![job("a", Pattern::RandRw)], file: String::new(), notes: Vec::new() };
    assert_eq!(jobs.groups(), ["read", "write"]);
    jobs.jobs.push(job("b", Pattern::Read));
    assert_eq!(jobs.groups(), ["a: read", "a: write", "b: read"]);
    assert_eq!(jobs.working_set_bytes(), 2 << 20);
    assert_eq!(jobs.run_seconds(), None);
}
