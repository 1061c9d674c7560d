//! One test for each rule of fio's job files.

use jobfile::{Surroundings, for_fio, parse};
use model::Bytes;
use model::job::{
    BlockSizes, Data, Direction, Distribution, Fallocate, FileService, Io, Jobs, Pattern, PerDirection, Rate,
    RateProcess, SyncMode, Verify,
};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Files by name, and the variable `BLOCK`.
fn with_files<T>(files: &[(&str, &str)], act: impl Fn(&Path, &Surroundings) -> T) -> T {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| Error::new(ErrorKind::NotFound, "no such file"))
    };
    let surroundings = Surroundings {
        read: &read,
        variable: &|name| (name == "BLOCK").then(|| "16k".to_owned()),
        cpus: 4,
        memory_bytes: 3 << 30,
        page_bytes: 4096,
    };
    act(Path::new(files[0].0), &surroundings)
}

fn jobs(text: &str) -> Jobs {
    with_files(&[("a.fio", text)], parse).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The only job of a file that has `size=1m` and these options, one a line.
fn io(options: &str) -> Io {
    jobs(&format!("[j]\nsize=1m\n{options}\n")).jobs.remove(0).io
}

/// The refusal of a file.
fn refused(text: &str) -> String {
    with_files(&[("a.fio", text)], parse).expect_err(text).to_string()
}

/// The refusal of an option in a sound job, on line 3.
#[track_caller]
fn refuses(option: &str, words: &str) {
    let error = refused(&format!("[j]\nsize=1m\n{option}\n"));
    assert!(error.starts_with("a.fio:3: ") && error.contains(words), "{option}: {error}");
}

#[track_caller]
fn notes(options: &str, words: &str) {
    let notes = jobs(&format!("[j]\nsize=1m\n{options}\n")).notes;
    assert!(notes.iter().any(|note| note.starts_with("a.fio:") && note.contains(words)), "{options}: {notes:?}");
}

#[test]
fn durability_that_a_mapped_file_does_not_have_is_refused() {
    for (value, line) in [("sync=1", 4), ("sync=dsync", 4)] {
        let error = refused(&format!("[j]\nsize=1m\nioengine=mmap\n{value}\nrw=write\n"));
        assert!(error.starts_with(&format!("a.fio:{line}: sync does nothing")), "{error}");
    }
    assert_eq!(io("ioengine=mmap\nsync=none\nrw=write").sync, SyncMode::None);
}

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
fn patterns_take_a_modifier() {
    assert_eq!(io("readwrite=readwrite").rw, Pattern::Rw);
    let random = io("rw=randread:8");
    assert_eq!((random.rw, random.operations_per_offset), (Pattern::RandRead, 8));
    let backwards = io("rw=read:-8k");
    assert_eq!((backwards.rw, backwards.sequential_step_bytes), (Pattern::Read, -8192));
    refuses("rw=foo", "`foo` is no rw");
    refuses("rw=randtrimwrite", "not supported");
    refuses("rw=read:x", "no number");
    refuses("rw=randread:0", "not from 1");
}

#[test]
fn block_sizes_go_by_direction() {
    let fixed = io("rw=rw\nbs=4k,8k,");
    let sizes = fixed.block_sizes.unwrap();
    assert_eq!(
        (fixed.bs, &sizes.write, &sizes.trim),
        (Bytes(4096), &BlockSizes::Fixed(Bytes(8192)), &BlockSizes::Fixed(Bytes(4096)))
    );
    // A write's size alone makes a reading job no special one.
    assert_eq!(io("rw=read\nbs=4k,8k").block_sizes, None);
    assert_eq!(io("rw=write\nbs=4k,8k").bs, Bytes(8192));
    let range = io("bsrange=4k-1k,2k:8k").block_sizes.unwrap();
    assert_eq!(range.read, BlockSizes::Range(Bytes(1024), Bytes(4096)));
    assert_eq!(range.write, BlockSizes::Range(Bytes(2048), Bytes(8192)));
    let split = io("bssplit=4k/50:1k/:32k/").block_sizes.unwrap();
    assert_eq!(split.read, BlockSizes::Split(vec![(Bytes(4096), 50), (Bytes(1024), 25), (Bytes(32768), 25)]));
    refuses("bs=0", "bs is 0");
    refuses("bs=4x", "bs: `4x` is no number; write for example 4k, 128m or 0x1000");
    refuses("bssplit=4k/60:8k/60", "sum to 120");
    refuses("bs=1,2,3,4", "more than three");
    refuses("bs=2m", "bs must lie between 1 byte and size");
}

#[test]
fn a_job_is_blamed_on_the_option_that_breaks_it() {
    assert!(refused("[j]\nsize=1m\ndirect=1\nbs=1000\n").starts_with("a.fio:4: bs must be a multiple of 512"));
    assert!(refused("[global]\nbssplit=700/50:4k/50\n[j]\nsize=1m\ndirect=1\n").starts_with("a.fio:2: bs must be"));
    refuses("iodepth=0", "iodepth: `0` is not from 1 to 65536; change it");
    refuses("size=1.5k", "no number");
    refuses("size=50%", "percentage");
    refuses("numjobs=0", "not from 1");
    refuses("direct=yes", "neither 0 nor 1");
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
fn engines_are_taken_or_refused_by_name() {
    for (engine, taken) in [
        ("sync", "sync"),
        ("psync", "sync"),
        ("pvsync", "sync"),
        ("pvsync2", "sync"),
        ("io_uring", "io_uring"),
        ("libaio", "libaio"),
        ("mmap", "mmap"),
        ("null", "null"),
    ] {
        assert_eq!(io(&format!("ioengine={engine}")).ioengine, taken);
    }
    refuses("ioengine=posixaio", "write libaio or io_uring");
    refuses("ioengine=vsync", "joins");
    refuses("ioengine=rados", "--with-fio");
    notes("iodepth=4", "taken as 1, as in fio");
    assert_eq!(io("iodepth=4").iodepth, 1);
    refuses("hipri=1", "needs ioengine=io_uring");
    assert!(io("ioengine=pvsync2\nhipri").hipri && io("ioengine=io_uring\nsqthread_poll\nuncached=1").uncached);
}

#[test]
fn the_queue_follows_fios_rules() {
    let queue = io("ioengine=io_uring\niodepth=16");
    assert_eq!((queue.iodepth_batch, queue.iodepth_low, queue.iodepth_batch_complete_min), (None, None, 0));
    let queue = io("ioengine=io_uring\niodepth=16\niodepth_batch_submit=64\niodepth_low=4\niodepth_batch_complete=99");
    assert_eq!((queue.iodepth_batch, queue.iodepth_low, queue.iodepth_batch_complete_min), (Some(16), Some(4), 16));
    assert_eq!(io("ioengine=io_uring\niodepth=16\niodepth_batch=0\niodepth_low=16").iodepth_batch, None);
    refuses("io_submit_mode=offload", "write io_submit_mode=inline");
    assert_eq!(io("io_submit_mode=inline").iodepth, 1);
}

#[test]
fn sizes_offsets_and_amounts_are_fios() {
    let offset = io("offset=64k");
    assert_eq!((offset.size, offset.io_size, offset.region), (Bytes((1 << 20) + 65536), Some(Bytes(1 << 20)), None));
    let steps = io("offset_increment=1m\nnumjobs=3\nfilename=f");
    assert_eq!((steps.size, steps.io_size, steps.region), (Bytes(3 << 20), Some(Bytes(1 << 20)), Some(Bytes(1 << 20))));
    let parts = io("nrfiles=3");
    assert_eq!((parts.size, parts.nrfiles), (Bytes((1 << 20) / 3 * 3), 3));
    let own = io("filesize=64k\nnrfiles=2");
    assert_eq!((own.size, own.filesize, own.io_size), (Bytes(131_072), None, None));
    let less = io("filesize=4k-8m");
    assert_eq!(
        (less.size, less.filesize, less.io_size),
        (Bytes(8 << 20), Some((Bytes(4096), Bytes(8 << 20))), Some(Bytes(1 << 20)))
    );
    assert_eq!(io("io_limit=8k").io_size, Some(Bytes(8192)));
    assert_eq!(io("io_size=50%").io_size, Some(Bytes(524_288)));
    assert_eq!(io("number_ios=3").io_size, Some(Bytes(12288)));
    assert_eq!(io("number_ios=1000000").io_size, None);
    refuses("number_ios=3\nbssplit=4k/50:8k/50", "write io_size");
    refuses("offset=9223372036854775807", "2^63-1");
    refuses("offset=64k\nfilesize=4k", "past the end");
    refuses("offset=10%", "percentage");
    assert_eq!(io("numjobs=1024\noffset_increment=1p\nsync=0").numjobs, 1024);
    refuses("offset_increment=8000p\nnumjobs=1024", "2^63-1");
}

#[test]
fn files_are_named_inside_the_lane() {
    let named = io("filename=a:./b/c:/x/d\\:e\ndirectory=/elsewhere");
    assert_eq!((named.filename, named.nrfiles), (vec!["a".to_owned(), "b/c".to_owned(), "d:e".to_owned()], 3));
    notes("filename=/tmp/x", "filename: `/tmp/x` is `x` in the lane");
    notes("directory=/data", "the lane's directory stands in its place");
    refuses("filename=/dev/sda", "remove filename and give size");
    refuses("filename=//dev/./sda", "remove filename and give size");
    refuses("filename=../x", "`..`");
    refuses("filename=a/../../x", "`..`");
    refuses("filename=-", "no name");
    refuses("filename_format=../$jobnum", "`..`");
    assert!(refused("[../x]\nsize=1m\n").contains("`..`"));
    let two = "[a]\nsize=1m\nfilename=/x/f\n[b]\nsize=1m\ndirectory=/y\nfilename=f\n";
    assert_eq!(refused(two), "a.fio:7: `/x/f` and `/y/f` would be one file in the lane; give them different names");
}

#[test]
fn two_jobs_of_one_name_keep_fios_files_and_get_names_of_their_own() {
    let jobs = jobs("[global]\nsize=1m\n[a]\n[a]\n[b]\nname=c\n");
    let names: Vec<&str> = jobs.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "a#2", "c"]);
    assert_eq!(jobs.jobs[1].io.filename_format, "a.$jobnum.$filenum");
}

#[test]
fn times_count_in_seconds_but_for_thinking() {
    let times = io(
        "runtime=1m\ntime_based\nramp_time=500ms\nstartdelay=2\nthinktime=100\nthinktime_spin=1ms\nthinktime_blocks=8",
    );
    assert_eq!((times.runtime_seconds, times.time_based), (Some(60.0), true));
    assert_eq!((times.ramp_time_seconds, times.startdelay_seconds), (0.5, 2.0));
    assert_eq!((times.thinktime_seconds, times.thinktime_spin_seconds, times.thinktime_blocks), (0.0001, 0.0001, 8));
    assert_eq!((io("timeout=5").runtime_seconds, io("timeout=5").time_based), (Some(5.0), false));
    notes("time_based", "needs a runtime");
    refuses("startdelay=1-5", "range");
    refuses("runtime=1min", "no time");
    refuses("thinktime_iotime=5", "not supported");
}

#[test]
fn rates_go_by_direction() {
    let of = |read, write, trim| Some(PerDirection { read, write, trim });
    assert_eq!(io("rate=500k,").rate, of(Rate::Bytes(512_000.0), Rate::Unlimited, Rate::Unlimited));
    assert_eq!(io("rate=,1m").rate, of(Rate::Unlimited, Rate::Bytes(1_048_576.0), Rate::Bytes(1_048_576.0)));
    let poisson = io("rate_iops=100\nrate_process=poisson");
    assert_eq!(
        (poisson.rate, poisson.rate_process),
        (of(Rate::Operations(100.0), Rate::Operations(100.0), Rate::Operations(100.0)), RateProcess::Poisson)
    );
    assert_eq!(io("rate=0").rate, None);
    assert!(refused("[j]\nsize=1m\nrate=1m\nrate_iops=5\n").starts_with("a.fio:4: rate and rate_iops exclude"));
    for option in ["rate=1m,", "rate_iops=,5"] {
        let error = refused(&format!("[j]\nsize=1m\n{option}\nrw=randrw\n"));
        assert!(error.starts_with("a.fio:3: rate") && error.contains("only one direction"), "{option}: {error}");
    }
    assert!(io("rw=randrw\nrate=2m,1m").rate.is_some());
    notes("rate_min=1k", "does not end");
}

#[test]
fn random_places_are_fios() {
    assert_eq!(
        io("random_distribution=zoned:50/5:30/15:20/").random_distribution,
        Distribution::Zoned(vec![(50, 5), (30, 15), (20, 80)])
    );
    let zipf = io("rw=randread\nrandom_distribution=zipf:0.5");
    assert!(zipf.random_distribution == Distribution::Zipf(0.5) && zipf.norandommap);
    assert!(io("rw=randread\nba=8k").norandommap);
    assert_eq!(io("percentage_random=50,20").percentage_random, Some(PerDirection { read: 50, write: 20, trim: 20 }));
    assert_eq!(io("percentage_random=100").percentage_random, None);
    refuses("random_distribution=zipf:1", "1.01");
    refuses("random_distribution=zoned:50/50", "sum to 50");
    refuses("random_distribution=zipf:1.2:0.5", "not supported");
}

#[test]
fn durability_options_are_taken_and_dropped_where_nothing_is_written() {
    let write = io("rw=write\nfsync=4\nfdatasync=2\nend_fsync=1\nfsync_on_close=1\nsync=dsync");
    assert_eq!(
        (write.fsync, write.fdatasync, write.end_fsync, write.fsync_on_close, write.sync),
        (4, 2, true, true, SyncMode::Dsync)
    );
    assert_eq!(io("rw=read\nfsync=4").fsync, 0);
    notes("rw=read\nfsync=4", "does not write");
    assert_eq!((io("sync=1").sync, io("sync=0").sync), (SyncMode::Sync, SyncMode::None));
    refuses("sync=2", "no sync");
    refuses("sync_file_range=write:8", "write fdatasync");
}

#[test]
fn files_are_prepared_as_asked() {
    let asked = io(
        "fallocate=1\noverwrite=1\npre_read=1\nfile_service_type=random:3\nnrfiles=4\nopenfiles=2\nunlink=1\ncreate_on_open=1\nfile_append=1",
    );
    assert_eq!(
        (asked.fallocate, asked.overwrite, asked.pre_read, asked.invalidate),
        (Fallocate::Posix, true, true, false)
    );
    assert_eq!((asked.file_service_type, asked.file_service_count, asked.openfiles), (FileService::Random, 3, Some(2)));
    assert!(asked.unlink && asked.create_on_open && asked.file_append);
    assert_eq!(io("openfiles=9").openfiles, None);
    refuses("fallocate=yes", "no fallocate");
    refuses("file_service_type=zipf:1.2", "roundrobin");
}

#[test]
fn data_is_what_the_job_asks_for() {
    let pattern = |text: &str| match io(&format!("buffer_pattern={text}")).data {
        Data::Pattern(bytes) => bytes,
        other => panic!("{other:?}"),
    };
    // What fio 3.33 writes for each.
    assert_eq!(pattern("1000"), [0xe8, 0x03]);
    assert_eq!(pattern("-12"), [0xf4, 0xff, 0xff, 0xff]);
    assert_eq!(pattern("0x123"), [0x01, 0x23]);
    assert_eq!(pattern("0"), [0]);
    assert_eq!(pattern("0xdead\"ab\"7"), [0xde, 0xad, b'a', b'b', 7]);
    assert_eq!(pattern("70000"), [0x70, 0x11, 0x01]);
    refuses("buffer_pattern=4294967296", "no pattern");
    refuses("buffer_pattern='f'", "from a file");
    assert_eq!(io("buffer_compress_percentage=50").data, Data::Compress(50, 512));
    assert_eq!(io("buffer_compress_percentage=50\nbuffer_compress_chunk=4k").data, Data::Compress(50, 4096));
    assert_eq!(io("zero_buffers").data, Data::Zero);
    assert_eq!(io("dedupe_percentage=30").dedupe_percentage, 30);
    notes("refill_buffers", "never repeats");
}

#[test]
fn verification_is_crc32c_or_refused() {
    let verify = io("rw=write\nverify=crc32c-intel\nverify_fatal=1\ndo_verify=0\nverify_interval=512");
    assert_eq!(
        (verify.verify, verify.verify_fatal, verify.do_verify, verify.verify_interval),
        (Verify::Crc32c, true, false, Bytes(512))
    );
    assert_eq!(io("verify=0").verify, Verify::None);
    refuses(
        "verify=md5",
        "verify=md5 is not supported; write verify=crc32c, or let the installed fio do the job (--with-fio)",
    );
    refuses("verify=crc32c", "writes nothing");
    refuses("verify_interval=1000\nverify=crc32c\nrw=write", "does not divide");
    refuses("verify_pattern=0xff", "not supported");
    refuses("verify_backlog=8", "read back after the work");
}

#[test]
fn jobs_wait_for_each_other() {
    let ordered = jobs("[global]\nsize=1m\n[a]\nexitall\n[b]\nstonewall\n[c]\nwait_for=b\n");
    assert!(ordered.jobs[0].exitall && ordered.jobs[1].stonewall);
    assert_eq!(ordered.jobs[2].wait_for.as_deref(), Some("b"));
    refuses("wait_for=nobody", "names no job above");
    assert!(refused("[a]\nsize=1m\nexitall\nnew_group\n").starts_with("a.fio:4: new_group"));
    refuses("exit_what=all", "not supported");
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
fn fio_gets_one_text_that_stays_inside_the_lane() {
    let files = [
        (
            "a.fio",
            "; words\n[global]\ndirectory=/data\ninclude b.fio\nfilename=/tmp/x\\:y:z\n[j]\nsize=(4*1m)\nbs=2*$pagesize\nrw=randrw\nflow=3\nstonewall\nverify=md5\n",
        ),
        ("b.fio", "iodepth=${BLOCK}\n"),
    ];
    let run = with_files(&files, for_fio).unwrap();
    assert_eq!(
        run.text,
        "[global]\niodepth=16k\nfilename=x\\:y:z\n[j]\nsize=(4*1m)\nbs=8192\nrw=randrw\nflow=3\nstonewall\nverify=md5\n"
    );
    assert_eq!(run.jobs[0].directions, [Direction::Read, Direction::Write]);
    assert_eq!((run.file.as_str(), run.working_set), ("a.fio", Bytes(4 << 20)));
}

#[test]
fn fio_gets_nothing_that_reaches_outside_the_lane() {
    for option in [
        "exec_prerun=touch /tmp/x",
        "exec_postrun=x",
        "filename=/dev/sda",
        "filename=../x",
        "filename_format=/x/$jobnum",
        "filename_format=$clientuid/etc/x",
        "filename_format=.$clientuid./x",
        "filename_format=$client$jobnameuid/etc/x",
        "buffer_pattern='/etc/shadow'",
        "verify_pattern=0xff'/etc/shadow'",
        "write_bw_log=/tmp/log",
        "write_lat_log=../log",
        "opendir=/etc",
        "ioscheduler=noop",
        "cgroup=x",
        "uid=1",
        "ioengine=exec",
        "ioengine=net",
        "ioengine=external:/tmp/x.so",
        "ioengine=rbd",
        "read_iolog=trace",
        "replay_redirect=/dev/sda",
        "mem=mmaphuge:/tmp/x",
        "write_iolog=/etc/x",
        "profile=act",
        "donorname=/etc/passwd",
        "bogus=1",
        "rw=sideways",
    ] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let error = with_files(&[("a.fio", &text)], for_fio).expect_err(option).to_string();
        assert!(error.starts_with("a.fio:3: "), "{error}");
    }
    assert!(with_files(&[("a.fio", "[/etc/x]\nsize=1m\n")], for_fio).is_err());
    // Names that leave the lane only once they are filled in.
    let dots = "[.]\nsize=1m\nfilename_format=$jobname./$jobname./x\n";
    let error = with_files(&[("a.fio", dots)], for_fio).unwrap_err().to_string();
    assert!(error.starts_with("a.fio:3: filename_format="), "{error}");
    for section in ["[$clientuid/etc/x]", "[.$clientuid./x]", "[j]\nname=$clientuid/etc/x"] {
        let text = format!("{section}\nsize=1m\n");
        let error = with_files(&[("a.fio", &text)], for_fio).expect_err(section).to_string();
        assert!(error.starts_with("a.fio:1: job") && error.contains("outside the lane"), "{error}");
    }
    let inside = "[j]\nsize=1m\nfilename_format=d/$jobname.$jobnum.$filenum\nbuffer_pattern=\"a\"\n";
    assert!(with_files(&[("a.fio", inside)], for_fio).is_ok());
    assert!(with_files(&[("a.fio", "[j]\nsize=1m\nwrite_bw_log=log\nwrite_lat_log\n")], for_fio).is_ok());
}

#[test]
fn the_installed_fio_takes_what_is_made_for_it_and_means_the_same() {
    let text = "[global]\nioengine=null\nsize=400*$mb_memory\n[a]\nbs=${BLOCK}\n[b]\nrw=randwrite\nbssplit=4k/50:8k/\n[c]\nstonewall\nbs=512\nsize=1kib\n";
    let run = with_files(&[("a.fio", text)], for_fio).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.fio"), &run.text).unwrap();
    let fio =
        std::process::Command::new("fio").args(["--output-format=json", "job.fio"]).current_dir(folder.path()).output();
    let Ok(out) = fio else {
        println!("skipped: fio is not installed");
        return;
    };
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let ours = jobs(text);
    for (index, job) in ours.jobs.iter().enumerate() {
        let theirs = &json["jobs"][index];
        assert_eq!(theirs["jobname"], job.name.as_str());
        let direction = job.io.rw.directions()[0];
        let figures = &theirs[direction.name()];
        let moved = job.io.io_size.unwrap_or(job.io.size).0 / job.io.bs.0 * job.io.bs.0;
        assert_eq!(figures["io_bytes"].as_u64(), Some(moved), "{}", run.text);
        for (key, value) in theirs["job options"].as_object().unwrap() {
            let own = job.options.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            assert_eq!(own, value.as_str(), "{key}");
        }
    }
}

#[test]
fn names_that_no_filesystem_has_room_for_are_refused_at_their_line() {
    let long = "x".repeat(256);
    refuses(&format!("filename={long}"), "is a file name of 256 bytes, above 255");
    refuses(&format!("name={}", &long[..252]), "above 255");
    refuses(&format!("filename_format={long}.$jobnum"), "above 255");
    refuses(&format!("filename={}", format!("{}/", &long[..200]).repeat(16) + "x"), "is a path of");
    let error = refused(&format!("[{long}]\nsize=1m\n"));
    assert!(error.starts_with("a.fio:1: ") && error.contains("above 255; shorten it"), "{error}");
    // The name is the job's alone where a filename names the files.
    assert_eq!(jobs(&format!("[{long}]\nsize=1m\nfilename=x\n")).jobs[0].name, long);
    assert_eq!(io(&format!("filename={}", &long[..255])).filename.len(), 1);
    assert_eq!(jobs(&format!("[{}]\nsize=1m\n", &long[..251])).jobs.len(), 1);
}

#[test]
fn files_too_small_for_a_block_are_refused_where_their_number_is() {
    refuses("nrfiles=1000", "size leaves 1048 bytes for each of 1000 files, under one block of 4096");
    refuses("filename=a:b:c\nbs=512k", "under one block of 524288");
    assert_eq!(io("nrfiles=256").nrfiles, 256);
    assert_eq!(io("nrfiles=1000\nbs=1k").nrfiles, 1000);
    assert_eq!(io("nrfiles=1000\nioengine=null").nrfiles, 1000);
}

#[test]
fn what_verify_cannot_read_back_is_refused_at_its_line() {
    let verified = |options: &str| format!("verify=crc32c\nrw=write\n{options}");
    refuses("verify=crc32c\nrw=trimwrite", "discarded");
    refuses(&verified("ioengine=null"), "nothing to read back");
    refuses(&verified("filename=x\nnumjobs=2"), "which of several workers");
    refuses(&verified("filename_format=x.$filenum\nnumjobs=2"), "which of several workers");
    refuses(&verified("bs=32"), "needs 48 bytes");
    refuses("verify_interval=32\nverify=crc32c\nrw=write", "needs 48 bytes");
    refuses("filename_format=x.$jobnum\nnrfiles=2\nverify=crc32c\nrw=write", "of one name");
    assert_eq!(io(&verified("numjobs=2\nnrfiles=2\nbs=512")).numjobs, 2);
    assert_eq!(io(&verified("filename=x\nnumjobs=2\ndo_verify=0")).numjobs, 2);
}

#[test]
fn a_mapped_file_goes_through_the_page_cache_whatever_direct_says() {
    assert!(!io("ioengine=mmap\ndirect=1").direct);
    notes("ioengine=mmap\ndirect=1", "direct: accepted without effect");
    notes("ioengine=mmap\nbuffered=0", "buffered: accepted without effect");
    assert!(io("direct=1").direct);
}

#[test]
fn lines_without_an_option_and_includes_without_a_file_say_so() {
    refuses("=5", "no option stands before the `=`");
    for include in ["include", "include  ", "include="] {
        refuses(include, "include names no file");
    }
    refuses("offset=25%", "`25%` is a percentage, which only io_size takes");
    refuses("filename=/dev/shm/x", "lies in /dev");
}

#[test]
fn a_mix_of_0_or_100_percent_and_create_only_promise_no_figures_that_never_come() {
    let groups = |options: &str| jobs(&format!("[j]\nsize=1m\n{options}\n")).groups();
    let fio_groups = |options: &str| {
        let text = format!("[j]\nsize=1m\n{options}\n");
        with_files(&[("a.fio", &text)], for_fio).unwrap_or_else(|error| panic!("{error}")).groups()
    };
    for (options, expected) in [
        ("rw=randrw", &["read", "write"][..]),
        ("rw=randrw\nrwmixread=100", &["read"]),
        ("rw=rw\nrwmixwrite=100", &["write"]),
        ("rw=rw\nrwmixwrite=100\nrwmixread=100", &["read"]),
        ("rw=write\nrwmixread=100", &["write"]),
        ("rw=write\ncreate_only=1", &[]),
        ("rw=write\ncreate_only=0", &["write"]),
    ] {
        assert_eq!(groups(options), expected, "{options}");
        assert_eq!(fio_groups(options), expected, "{options}");
    }
}
