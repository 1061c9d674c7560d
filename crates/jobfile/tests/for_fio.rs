//! The text that the installed fio gets, and what it makes of it.

use crate::common;

use common::{jobs, with_files};
use jobfile::for_fio;
use model::Bytes;
use model::job::Direction;

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
        "profile=act",
        "donorname=/etc/passwd",
        "dp_scheme=/etc/passwd",
        "filename=./-",
        "lockmem=1g",
        "filename=$${EMPTY}{HOME}",
        "write_iolog=$${EMPTY}{HOME}",
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
}

#[test]
fn no_line_is_so_long_that_fio_takes_its_end_for_another_option() {
    let hidden = |bytes: usize| {
        let begun = "description=";
        let filled = "A".repeat(bytes - begun.len());
        format!("[j]\nsize=1m\nioengine=null\n{begun}{filled}exec_prerun=touch /tmp/x\n")
    };
    for bytes in [4095, 8191, 16_382] {
        let error = with_files(&[("a.fio", &hidden(bytes))], for_fio).expect_err("too long").to_string();
        assert!(error.starts_with("a.fio:4: description has more than") && error.ends_with("shorten it"), "{error}");
    }
    let section = format!("[{}]\nsize=1m\n", "j".repeat(5000));
    assert!(with_files(&[("a.fio", &section)], for_fio).is_err());
    // What is short enough is one line to every fio.
    let kept = hidden(3900);
    assert!(with_files(&[("a.fio", &kept)], for_fio).unwrap().text.lines().all(|line| line.len() < 4096));
}

#[test]
fn buffers_that_would_take_the_machines_memory_are_refused() {
    for options in ["bs=64m\niodepth=64", "bsrange=4k-1g\niodepth=4", "bssplit=4k/50:512m/50\nnumjobs=8"] {
        let text = format!("[a]\nsize=1m\n[j]\nsize=1m\n{options}\n");
        let error = with_files(&[("a.fio", &text)], for_fio).expect_err(options).to_string();
        assert!(error.starts_with("a.fio:3: ") && error.contains("more than half of this machine's memory"), "{error}");
    }
    assert!(with_files(&[("a.fio", "[j]\nsize=1m\nbs=64m\niodepth=16\n")], for_fio).is_ok());
}

#[test]
fn numbers_that_fio_reads_and_nobody_else_are_refused_where_memory_and_space_hang_on_them() {
    for option in [
        "bs=67108864.0",
        "bs=4k,(134217728-67108864)",
        "bssplit=4k/50:(1<<20)/50",
        "iodepth=24000.0",
        "numjobs=2.5",
        "nrfiles=1e6",
        "size=60000000000000.0",
        "filesize=1m-6e13",
        "offset=1.5g",
        "offset_increment=1.5g",
        "size=-1",
        "bs=",
    ] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let error = with_files(&[("a.fio", &text)], for_fio).expect_err(option).to_string();
        assert!(error.starts_with("a.fio:3: "), "{option}: {error}");
    }
    for option in
        ["bs=(64*1024)", "iodepth=(600-588)", "bs=4k,8k", "bs=,8k", "bssplit=4k/50:8k/", "size=50%", "filesize=1m-2m"]
    {
        let text = format!("[j]\nsize=1m\n{option}\n");
        assert!(with_files(&[("a.fio", &text)], for_fio).is_ok(), "{option}");
    }
    // An expression counts with its value.
    let text = "[j]\nsize=1m\nbs=(134217728-67108864)\niodepth=512\n";
    let error = with_files(&[("a.fio", text)], for_fio).expect_err("32 GiB").to_string();
    assert!(error.contains("more than half of this machine's memory"), "{error}");
}

#[test]
fn memory_that_would_stay_when_fio_is_ended_is_refused() {
    for option in ["mem=shm", "iomem=shmhuge:/dev/hugepages"] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let error = with_files(&[("a.fio", &text)], for_fio).expect_err(option).to_string();
        assert!(error.contains("leaves shared memory behind; write mem=mmap"), "{error}");
    }
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
            // A switch without a value is "1" to fio 3.33 and "" to 3.39.
            let theirs = if own == Some("1") && value == "" { Some("1") } else { value.as_str() };
            assert_eq!(own, theirs, "{key}");
        }
    }
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
