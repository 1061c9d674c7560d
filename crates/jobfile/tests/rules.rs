//! One test for each rule about what the work is: patterns, blocks, engines, rates, data, durability.

use crate::common;

use common::{io, jobs, notes, refused, refuses};
use model::Bytes;
use model::job::{BlockSizes, Data, Distribution, Pattern, PerDirection, Rate, RateProcess, SyncMode, Verify};

#[test]
fn durability_that_a_mapped_file_does_not_have_is_refused() {
    for (value, line) in [("sync=1", 4), ("sync=dsync", 4)] {
        let error = refused(&format!("[j]\nsize=1m\nioengine=mmap\n{value}\nrw=write\n"));
        assert!(error.starts_with(&format!("a.fio:{line}: sync does nothing")), "{error}");
    }
    assert_eq!(io("ioengine=mmap\nsync=none\nrw=write").sync, SyncMode::None);
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
    refuses("offset=50%", "percentage");
    refuses("numjobs=0", "not from 1");
    refuses("direct=yes", "neither 0 nor 1");
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
    assert_eq!(io("io_submit_mode=inline").iodepth, 1);
    // Accepted where handing an I/O over does not wait for it.
    notes("io_submit_mode=offload\nioengine=io_uring\niodepth=16", "io_uring does not wait for them");
    notes(
        "io_submit_mode=offload\nioengine=libaio\ndirect=1\niodepth=4\nrate_iops=50\nrate_process=poisson",
        "from the intended start",
    );
    notes("io_submit_mode=offload", "one at a time");
    refuses("io_submit_mode=offload\nioengine=libaio\niodepth=4", "write ioengine=io_uring");
    refuses("io_submit_mode=offload\niodepth=4", "write ioengine=io_uring");
    refuses("io_submit_mode=later", "write inline or offload");
}

#[test]
fn sizes_in_percent_are_those_of_the_files_or_of_half_of_the_lane() {
    let size = |text: &str| jobs(text).jobs.iter().map(|job| job.io.size.get()).collect::<Vec<_>>();
    const GIB: u64 = 1 << 30;
    assert_eq!(size("[j]\nsize=100%\n"), [GIB]);
    assert_eq!(size("[j]\nsize=50%\n"), [GIB / 2]);
    // Each worker's files lie beside the others'; those of a named file are one.
    assert_eq!(size("[global]\nsize=100%\n[a]\nnumjobs=3\n[b]\n"), [GIB / 4, GIB / 4]);
    assert_eq!(size("[global]\nsize=100%\nfilename=x\n[a]\nnumjobs=4\n"), [GIB]);
    assert_eq!(size("[j]\nsize=3%\n"), [30 << 20], "whole MiB, so that blocks divide it");
    // Of files that have a size, as in fio.
    let of_files = jobs("[j]\nsize=25%\nfilesize=8m\nnrfiles=2\n").jobs.remove(0).io;
    assert_eq!((of_files.size.get(), of_files.io_size.map(|moved| moved.get())), (16 << 20, Some(4 << 20)));
    let said = jobs("[j]\nsize=100%\n").notes;
    assert!(said[0].starts_with("a.fio:2: size: 100 % of half of the lane (1GiB)"), "{said:?}");
    for wrong in ["0%", "101%", "%", "1.5%", "-1%"] {
        let error = refused(&format!("[j]\nsize={wrong}\n"));
        assert!(error.starts_with("a.fio:2: size: "), "{error}");
    }
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
