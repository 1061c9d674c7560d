//! What the installed fio would take without bounds of its own: memory by block, by entry and by thread.

use crate::common;

use common::with_files;
use jobfile::for_fio;

fn read(text: &str) -> Result<String, String> {
    let run = with_files(&[("a.fio", text)], for_fio);
    run.map(|run| run.text).map_err(|error| error.to_string())
}

/// The job `[j]` with these options, one a line.
fn job(options: &str) -> String {
    format!("[j]\n{options}\n")
}

#[track_caller]
fn refuses(text: &str, place: &str, words: &str) {
    let error = read(text).expect_err(text);
    assert!(error.starts_with(&format!("{place}: ")) && error.contains(words), "{text}: {error}");
}

#[track_caller]
fn takes(text: &str) {
    assert!(read(text).is_ok(), "{text}: {:?}", read(text));
}

#[test]
fn maps_of_visited_blocks_are_counted_whatever_the_engine() {
    let what = "above 1GiB; write norandommap or a larger bs";
    for options in [
        "ioengine=null\nrw=randwrite\nbs=512\nsize=24t",
        "rw=randread\nbs=512\nsize=24t",
        "ioengine=null\nrw=randrw:8\nsize=9t\nbs=512,64k\nnumjobs=2",
        "ioengine=null\nrw=randwrite\nbssplit=512/50:64k/50\nsize=24t",
        "ioengine=null\nrw=randwrite\nbsrange=512-64k\nfilesize=12t\nnrfiles=2\nsize=1g",
        "ioengine=null\nrw=randwrite\nbs=,64k\nsize=64t",
        "ioengine=null\nrw=randwrite\nsize=1g\nzonemode=strided\nzonesize=1g\nzonerange=64t",
        "ioengine=null\nrw=randwrite\nfill_device=1",
        "ioengine=null\nrw=randwrite\nbs=512\nsize=24t\nnorandommap=0",
        "ioengine=filecreate\nrw=randwrite\nbs=512\nsize=24t\nsoftrandommap=1",
    ] {
        refuses(&job(options), "a.fio:1", what);
    }
    // Together, and of files that another job has made.
    refuses("[global]\nioengine=null\nrw=randwrite\nbs=512\nsize=2t\n[a]\n[b]\n[c]\n", "a.fio:8", what);
    refuses("[a]\nfilename=f\nsize=24t\n[b]\nfilename=f\nrw=randread\nbs=512\n", "a.fio:4", what);
    // By the name that fio gives to a file of a job without one, or by what the job makes of it.
    refuses("[a]\nsize=24t\n[b]\nfilename=a.0.0\nrw=randread\nbs=512\n", "a.fio:3", what);
    let second = "filename_format=$jobnum/$jobname-$filenum\nfilesize=24t\nnrfiles=2";
    refuses(&format!("[a]\n{second}\n[b]\nfilename=0/a-1\nrw=randread\nbs=512\n"), "a.fio:5", what);
    refuses(
        "[a]\nsize=24t\n[b]\nfilename=a.0.0\noffset=1\n[c]\nfilename=a.0.0\nrw=randread\nbs=512\n",
        "a.fio:6",
        what,
    );
    takes("[a]\nsize=1g\n[b]\nfilename=a.0.0\nrw=randread\nbs=512\n");
    takes("[a]\nsize=24t\n[b]\nfilename=f\nsize=1g\nrw=randread\nbs=512\n");
    for options in [
        "ioengine=null\nrw=randwrite\nbs=512\nsize=24t\nnorandommap",
        "ioengine=null\nrw=randwrite\nbs=512\nsize=24t\nrandom_generator=lfsr",
        "ioengine=null\nrw=randwrite\nbs=512\nsize=24t\nrandom_distribution=zipf:1.2",
        "ioengine=null\nrw=write\nbs=512\nsize=24t",
        "ioengine=null\nrw=randwrite\nbs=64k\nsize=24t",
        "ioengine=null\nrw=randwrite\nfilesize=1g\nsize=24t",
        "rw=randwrite\nsize=1t",
    ] {
        takes(&job(options));
    }
}

#[test]
fn logs_are_not_handed_on() {
    let logs = "write_bw_log=/tmp/log\nwrite_lat_log\nwrite_iops_log=x\nwrite_hist_log=x\nwrite_iolog=../x\nlog_avg_msec=10\n\
                log_hist_msec=10\nlog_entries=1000000000\nlog_compression=1m\nper_job_logs=0\n";
    let text = format!("[global]\n{logs}[j]\n{logs}size=1m\n");
    assert_eq!(read(&text).unwrap(), "[global]\n[j]\nsize=1m\n");
}

#[test]
fn a_working_set_for_deduplication_is_refused() {
    for options in ["size=30g\nfilesize=1m", "ioengine=null\nsize=30g", "size=1m\ndedupe_global=1"] {
        let text = format!("[j]\ndedupe_mode=working_set\ndedupe_percentage=50\n{options}\n");
        refuses(&text, "a.fio:2", "dedupe_mode=working_set makes fio remember every block of its working set; write");
    }
    takes(&job("size=1m\ndedupe_mode=repeat\ndedupe_percentage=50"));
}

#[test]
fn threads_beside_the_workers_are_bounded() {
    refuses(&job("size=1m\nverify_async=20000"), "a.fio:3", "verify_async=20000 is above 64 threads for each worker");
    let all = "threads for the jobs up to here, above 1024; lower verify_async, iodepth or numjobs";
    refuses(&job("size=1m\nverify_async=64\nnumjobs=17"), "a.fio:1", all);
    refuses("[global]\nsize=1m\nverify_async=64\nnumjobs=8\n[a]\n[b]\n[c]\n", "a.fio:7", all);
    refuses(&job("size=1m\nio_submit_mode=offload\niodepth=2000"), "a.fio:1", all);
    takes(&job("size=1m\nverify_async=64\nnumjobs=16"));
    takes(&job("size=1m\nio_submit_mode=offload\niodepth=64\nnumjobs=16"));
    takes(&job("size=1m\nio_submit_mode=inline\niodepth=2000"));
}

#[test]
fn requests_files_and_workers_are_counted_also_where_blocks_are_small() {
    let memory = "more than half of this machine's memory; lower one of them";
    refuses(&job("ioengine=null\nsize=1m\nbs=1\niodepth=2m"), "a.fio:1", memory);
    refuses(&job("ioengine=null\nsize=1m\nbs=1\nnumjobs=4000"), "a.fio:1", memory);
    refuses(&job("ioengine=filecreate\nfilesize=4k\nnrfiles=4m"), "a.fio:1", memory);
    let files = "the jobs have more than 2097152 files together; lower nrfiles or numjobs";
    refuses(&job("ioengine=filecreate\nfilesize=4k\nnrfiles=2500000"), "a.fio:1", files);
    refuses("[global]\nioengine=filecreate\nfilesize=4k\nnrfiles=700k\n[a]\n[b]\n[c]\n", "a.fio:7", files);
    takes(&job("ioengine=filecreate\nfilesize=4k\nnrfiles=1m\nnumjobs=2"));
    let around = |text: &str| {
        with_files(&[("a.fio", text)], |path, around| {
            let large = jobfile::Surroundings { memory_bytes: 1 << 40, ..*around };
            for_fio(path, &large).map_err(|error| error.to_string())
        })
    };
    assert_eq!(
        around(&job("ioengine=null\nsize=1m\nthread\nnumjobs=5000")).unwrap_err(),
        "a.fio:1: the jobs up to here have 5000 workers, above the 4096 that fio runs; lower numjobs"
    );
}

#[test]
fn blocks_to_verify_count_as_memory() {
    let memory = "more than half of this machine's memory; lower one of them";
    for options in
        ["verify=crc32c", "verify=null", "verify_pattern=0xff", "verify=md5\ndo_verify=0\ntrim_percentage=10"]
    {
        refuses(&job(&format!("ioengine=null\nrw=write\nbs=512\nsize=10g\n{options}")), "a.fio:1", memory);
    }
    for options in [
        "rw=write\nverify=0",
        "rw=write\nverify=crc32c\ndo_verify=0",
        "rw=write\nverify=crc32c\nverify_backlog=1024",
        "rw=write\nverify=crc32c\nexperimental_verify=1",
        "rw=read\nverify=crc32c",
    ] {
        takes(&job(&format!("ioengine=null\nbs=512\nsize=10g\n{options}")));
    }
    takes(&job("rw=randwrite\nsize=10g\nverify=crc32c"));
}

#[test]
fn writes_that_fio_would_remember_without_end_are_refused() {
    let random = "ioengine=null\nrw=randwrite\nsize=1m\nruntime=60\nverify=crc32c\n";
    let what = "makes fio remember every write until the end; write verify_backlog=1024, or remove time_based";
    refuses(&job(&format!("{random}time_based")), "a.fio:6", what);
    refuses(&job(&format!("{random}time_based=1\nrw=randrw")), "a.fio:6", what);
    for options in
        ["", "time_based=0", "time_based\nverify_backlog=1024", "time_based\nnorandommap", "time_based\nrw=write"]
    {
        takes(&job(&format!("{random}{options}")));
    }
}

#[test]
fn seconds_of_a_steady_state_are_bounded() {
    let what = "above 1048576 of them for the jobs up to here; lower it";
    refuses(&job("size=1m\nsteadystate=iops:1%\nsteadystate_duration=20d"), "a.fio:1", what);
    refuses(&job("size=1m\nss=iops:1%\nss_dur=1d\nnumjobs=20"), "a.fio:1", what);
    refuses(&job("size=1m\nss_dur=1e9"), "a.fio:3", "ss_dur: `1e9` is no time");
    takes(&job("size=1m\nss=iops:1%\nss_dur=1h\nnumjobs=8"));
}
