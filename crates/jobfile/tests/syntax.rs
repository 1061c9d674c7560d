//! How the text is read: sections, lines, includes, variables, units, and which of two options counts.

use crate::common;

use common::{io, jobs, notes, refused, refuses, with_files};
use jobfile::parse;
use model::Bytes;
use model::job::Io;
use std::path::Path;

#[test]
fn a_job_without_options_is_fios_default() {
    let jobs = jobs("[j]\nsize=1m\n");
    assert_eq!(jobs.jobs[0].io, Io { size: Bytes(1 << 20), ..Io::default() });
    assert_eq!((jobs.jobs[0].name.as_str(), jobs.file.as_str(), jobs.notes.len()), ("j", "a.fio", 0));
}

#[test]
fn a_global_section_counts_for_the_jobs_below_it_and_resets_nothing() {
    let text = "[global]\nsize=1m\nbs=1k\n[a]\n[global]\nbs=2k\n[b]\n[c]\nbs=8k\n";
    let sizes: Vec<u64> = jobs(text).jobs.iter().map(|job| job.io.bs.0).collect();
    assert_eq!(sizes, [1024, 2048, 8192]);
    assert!(jobs("[globals]\nsize=1m\n[a]\n").notes[0].contains("global, as in fio"));
}

#[test]
fn comments_blanks_line_ends_and_a_byte_order_mark_do_not_matter() {
    let text =
        "\u{feff}; first\r\n# second\r\n [ j ] \r\n\t size = 1m ; third\r\n\r\nbs=8k # fourth\r\n  norandommap\r\n";
    let jobs = jobs(text);
    assert_eq!((jobs.jobs[0].name.as_str(), jobs.jobs[0].io.bs.0, jobs.jobs[0].io.norandommap), ("j", 8192, true));
    let long = format!("[j]\nsize=1m\ndescription={}\n", "x".repeat(1 << 20));
    assert!(with_files(&[("a.fio", &long)], parse).is_ok());
}

#[test]
fn text_that_is_no_job_file_is_refused_with_its_line() {
    for (text, words) in [
        ("size=1m\n[j]\n", "a.fio:1: `size` stands before any section; put [global] above it"),
        ("[j\nsize=1m\n", "a.fio:1: section `j` does not end with ]; write [NAME]"),
        ("[]\n", "a.fio:1: a section has no name; write [NAME]"),
        ("[j]\nsize=1m\0\n", "a.fio:2: holds a NUL byte, so it is no text; remove it"),
        ("; nothing\n", "a.fio: has no job; add a section such as [job]"),
        ("[global]\nsize=1m\n", "a.fio: has no job; add a section such as [job]"),
        ("[j]\nbs=4k\n", "a.fio:1: size is missing; say how many bytes the files have"),
        ("[j]\nsize\n", "a.fio:2: size needs a value; write size=VALUE"),
        ("[j]\nunlink\n", "a.fio:2: unlink needs a value; write unlink=VALUE"),
        ("[j]\niodetph=4\n", "a.fio:2: option `iodetph` is unknown; did you mean iodepth?"),
        ("[j]\nIODEPTH=4\n", "a.fio:2: option `IODEPTH` is unknown; did you mean iodepth?"),
    ] {
        assert_eq!(refused(text), words);
    }
}

#[test]
fn includes_are_read_beside_the_file_that_includes_them() {
    let files = [
        ("d/a.fio", "[global]\ninclude sub/b.fio\n[j]\nsize=1m\n"),
        ("d/sub/b.fio", "bs=8k\ninclude=c.fio\n"),
        ("d/sub/c.fio", "iodepth=4\nioengine=null\n"),
    ];
    let jobs = with_files(&files, parse).unwrap();
    assert_eq!((jobs.jobs[0].io.bs.0, jobs.jobs[0].io.iodepth), (8192, 4));
}

#[test]
fn includes_that_lead_nowhere_or_back_are_refused() {
    let case = |files: &[(&str, &str)]| with_files(files, parse).unwrap_err().to_string();
    assert_eq!(
        case(&[("a.fio", "[j]\ninclude b.fio\n")]),
        "a.fio:2: include `b.fio` cannot be read (no such file); check the path"
    );
    assert_eq!(
        case(&[("a.fio", "[j]\ninclude b.fio\n"), ("b.fio", "bs=4k\n\ninclude ./x/../a.fio\n")]),
        "b.fio:3: include `./x/../a.fio` comes back to itself; remove one include"
    );
    assert!(case(&[("a.fio", "[j]\ninclude b.fio\n"), ("b.fio", "[x]\n")]).starts_with("b.fio:1: a section begins"));
    // Each file includes the next one twice: 2^16 readings.
    let names: Vec<String> = (0..17).map(|index| format!("{index}.fio")).collect();
    let texts: Vec<String> = (1..=17).map(|index| format!("include {index}.fio\n").repeat(2)).collect();
    let mut files = vec![("a.fio", "[j]\ninclude 0.fio\n")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    assert!(case(&files).contains("include less"));
    let missing = with_files(&[("a.fio", "")], |_, around| parse(Path::new("nope.fio"), around)).unwrap_err();
    assert_eq!(missing.to_string(), "nope.fio: cannot be read (no such file); name a text file with jobs");
}

#[test]
fn variables_and_keywords_are_replaced() {
    assert_eq!(io("bs=${BLOCK}").bs, Bytes(16384));
    assert_eq!(io("bs=$pagesize").bs, Bytes(4096));
    assert_eq!(io("size=8*$mb_memory\nbs=1k").size, Bytes(8 * 3072));
    assert_eq!(io("numjobs=($ncpus+1)*2").numjobs, 10);
    assert_eq!(io("filename_format=$jobname.$jobnum").filename_format, "$jobname.$jobnum");
    refuses("bs=${NOPE}", "bs asks for environment variable `NOPE`, which is not set; set it");
    refuses("bs=${NOPE", "close it");
}

#[test]
fn units_count_as_fio_counts_them() {
    let jobs = jobs("[j]\nsize=1m\nbs=4KiB\n");
    assert_eq!(jobs.jobs[0].io.bs, Bytes(4000));
    assert!(jobs.notes[0].contains("counts in steps of 1000 (4000 bytes), as in fio"), "{:?}", jobs.notes);
    assert_eq!(io("bs=4KiB\nkb_base=1000").bs, Bytes(4096));
    assert_eq!(io("bs=4k\nkb_base=1000").size, Bytes(1_000_000));
}

#[test]
fn the_later_of_two_options_counts_and_aliases_are_the_same_option() {
    assert!(io("direct=0\nbuffered=0").direct);
    assert!(!io("buffered=0\ndirect=0").direct);
    assert_eq!(io("rwmixwrite=30\nrwmixread=40\nrw=rw").rwmixread, 40);
    assert_eq!(io("rwmixread=40\nrwmixwrite=30\nrw=rw").rwmixread, 70);
    assert_eq!(io("blocksize=8k\nbs=1k").bs, Bytes(1024));
    // An option that another takes the place of is not judged.
    assert_eq!(jobs("[global]\nioengine=rados\nsize=1m\n[j]\nioengine=null\n").jobs[0].io.ioengine, "null");
}

#[test]
fn what_changes_nothing_is_accepted_and_what_changes_the_work_is_refused() {
    notes("group_reporting", "a.fio:3: group_reporting: accepted without effect");
    notes("cpus_allowed=0-3", "same CPUs");
    notes("threads=1", "called thread");
    let twice = jobs("[global]\nsize=1m\ngroup_reporting\n[a]\n[b]\n");
    assert_eq!(twice.notes.len(), 1);
    for option in ["flow=8", "zonemode=zbd", "read_iolog=x", "latency_target=5", "ss=iops:10%", "exec_prerun=ls"] {
        refuses(option, "is not supported; ");
    }
    for option in ["zonemode=none", "nowait=0", "exit_what=group", "lockfile=none"] {
        assert_eq!(io(option), io(""));
    }
}

#[test]
fn options_are_resolved_in_fios_spelling() {
    let text = "[global]\nsize=1m\nreadwrite=randrw\ngroup_reporting\n[j]\nblocksize=${BLOCK}\nbuffered=0\ntime_based\nruntime=10s\n";
    let options = &jobs(text).jobs[0].options;
    let get = |name: &str| options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let expected = [
        ("rw", "randrw"),
        ("bs", "16k"),
        ("direct", "1"),
        ("time_based", "1"),
        ("runtime", "10s"),
        ("size", "1m"),
        ("iodepth", "1"),
        ("ioengine", "psync"),
        ("fallocate", "native"),
    ];
    for (name, value) in expected {
        assert_eq!(get(name), Some(value), "{name}");
    }
    assert_eq!((get("readwrite"), get("group_reporting"), get("buffered")), (None, None, None));
}

#[test]
fn lines_without_an_option_and_includes_without_a_file_say_so() {
    refuses("=5", "no option stands before the `=`");
    for include in ["include", "include  ", "include="] {
        refuses(include, "include names no file");
    }
    refuses("offset=25%", "`25%` is a percentage, which only size and io_size take");
    refuses("filename=/dev/shm/x", "lies in /dev");
}
