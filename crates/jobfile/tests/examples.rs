//! The job files that fio's authors ship as examples: which run, and what refuses the others.

use jobfile::{Surroundings, parse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn surroundings() -> Surroundings<'static> {
    Surroundings {
        read: &|path: &Path| std::fs::read_to_string(path),
        variable: &|_| None,
        cpus: 4,
        memory_bytes: 8 << 30,
        page_bytes: 4096,
        space_bytes: 1 << 30,
    }
}

/// The examples, or nothing where they have not been fetched.
fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fio-examples");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is missing; scripts/fio-examples fills it", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "fio"));
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Examples that run.
const RUN: &[&str] = &[
    "1mbs_clients",
    "aio-read",
    "backwards-read",
    "fio-rand-RW",
    "fio-rand-read",
    "fio-rand-write",
    "fio-seq-RW",
    "fio-seq-read",
    "fio-seq-write",
    "fixed-rate-submission",
    "fsx",
    "iometer-file-access-server",
    "null",
    "poisson-rate-submission",
    "rand-zones",
    "ssd-test",
    "tiobench-example",
    "waitfor",
    "zipf",
];

/// Fewer are no package of examples: fio 3.33 ships 86, fio 3.39 98, and each has some that the other has not.
const FEWEST: usize = 80;

/// Examples that are refused, and the setting that refuses them: an engine, a device, a variable that
/// is not set, or an option that changes the work.
const REFUSED: &[(&str, &str)] = &[
    ("atomic-verify", "verify=crc64"),
    ("basic-verify", "filename=/dev/XXX"),
    ("butterfly", "flow=2"),
    ("cmdprio-bssplit", "filename=/dev/sda"),
    ("cmdprio-percentage", "filename=/dev/sda"),
    ("cpp_null", "ioengine=cpp_null"),
    ("cpuio", "ioengine=cpuio"),
    ("cross-stripe-verify", "filename=/dev/nvme0n1"),
    ("dedupe-global", "dedupe_mode=working_set"),
    ("dev-dax", "ioengine=dev-dax"),
    ("dfs", "pool=${POOL}"),
    ("dircreate-ioengine", "ioengine=dircreate"),
    ("dirdelete-ioengine", "ioengine=dirdelete"),
    ("dirstat-ioengine", "ioengine=dirstat"),
    ("disk-zone-profile", "zonemode=strided"),
    ("e4defrag", "ioengine=e4defrag"),
    ("e4defrag2", "ioengine=e4defrag"),
    ("enospc-pressure", "ignore_error=,ENOSPC"),
    ("exec", "ioengine=exec"),
    ("exitwhat", "exit_what=stonewall"),
    ("falloc", "ioengine=falloc"),
    ("filecreate-ioengine", "ioengine=filecreate"),
    ("filedelete-ioengine", "ioengine=filedelete"),
    ("filestat-ioengine", "ioengine=filestat"),
    ("flow", "flow_sleep=1000"),
    ("ftruncate", "ioengine=ftruncate"),
    ("gfapi", "ioengine=gfapi"),
    ("gpudirect-rdmaio-client", "ioengine=rdma"),
    ("gpudirect-rdmaio-server", "ioengine=rdma"),
    ("http-s3-crypto", "http_s3_key=${S3_KEY}"),
    ("http-s3-storage-class", "http_s3_key=${S3_KEY}"),
    ("http-s3", "http_s3_key=${S3_KEY}"),
    ("http-swift", "http_swift_auth_token=${SWIFT_id}"),
    ("http-webdav", "ioengine=http"),
    ("ime", "ioengine=ime_psync"),
    ("jesd219", "filename=/dev/nvme0n1"),
    ("latency-profile", "latency_target=500000"),
    ("libblkio-io_uring", "libblkio_driver=io_uring"),
    ("libblkio-virtio-blk-vfio-pci", "libblkio_driver=virtio-blk-vfio-pci"),
    ("libcufile-cufile", "directory=${FIO_DIR}"),
    ("libcufile-posix", "directory=${FIO_DIR}"),
    ("libhdfs", "ioengine=libhdfs"),
    ("libiscsi", "ioengine=libiscsi"),
    ("libpmem", "ioengine=libpmem"),
    ("librpma_apm-client", "ioengine=librpma_apm_client"),
    ("librpma_apm-server", "ioengine=librpma_apm_server"),
    ("librpma_gpspm-client", "ioengine=librpma_gpspm_client"),
    ("librpma_gpspm-server", "ioengine=librpma_gpspm_server"),
    ("libzbc-rand-write", "ioengine=libzbc"),
    ("libzbc-seq-read", "ioengine=libzbc"),
    ("mtd", "ioengine=mtd"),
    ("nbd", "uri=nbd+unix:///?socket=${unixsocket}"),
    ("nbd", "uri=${uri}"),
    ("netio", "ioengine=net"),
    ("netio_multicast", "ioengine=net"),
    ("netio_vsock", "ioengine=net"),
    ("netio_vsock_receiver", "ioengine=net"),
    ("netio_vsock_sender", "ioengine=net"),
    ("nfs", "ioengine=nfs"),
    ("numa", "filename=/dev/sdb1"),
    ("pmemblk", "ioengine=pmemblk"),
    ("rados", "ioengine=rados"),
    ("rbd", "ioengine=rbd"),
    ("rdmaio-client", "ioengine=rdma"),
    ("rdmaio-server", "ioengine=rdma"),
    ("sg_verify-fail", "ioengine=sg"),
    ("sg_verify", "ioengine=sg"),
    ("sg_write_same_ndob", "ioengine=sg"),
    ("ssd-steadystate", "filename=/dev/fioa"),
    ("steadystate", "filename=/dev/null"),
    ("surface-scan", "verify=meta"),
    ("uring-cmd-fdp", "ioengine=io_uring_cmd"),
    ("uring-cmd-ng", "ioengine=io_uring_cmd"),
    ("uring-cmd-pi-ext", "pi_act=0"),
    ("uring-cmd-pi-sb", "md_per_io_size=64"),
    ("uring-cmd-trim-multi-range", "ioengine=io_uring_cmd"),
    ("uring-cmd-zoned", "ioengine=io_uring_cmd"),
    ("xnvme-fdp", "rw=${FIO_RW}"),
    ("xnvme-pi", "md_per_io_size=64"),
    ("xnvme-compare", "rw=${FIO_RW}"),
    ("xnvme-zoned", "rw=${FIO_RW}"),
    ("zbd-rand-write", "zonemode=zbd"),
    ("zbd-rand-write-trim-gc", "zonemode=zbd"),
    ("zbd-rand-write-zone-reset-gc", "zonemode=zbd"),
    ("zbd-seq-read", "zonemode=zbd"),
];

#[test]
fn every_example_runs_or_is_refused_for_the_very_option_that_it_was() {
    let files = examples();
    if files.is_empty() {
        return;
    }
    let mut refused: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, setting) in REFUSED {
        refused.entry(name).or_default().push(setting);
    }
    assert!(files.len() >= FEWEST, "{} examples alone; are they all there?", files.len());
    for path in &files {
        let name = name(path);
        let file = path.display().to_string();
        match (parse(path, &surroundings()), refused.get(name.as_str())) {
            (Ok(_), None) => assert!(RUN.contains(&name.as_str()), "{name} runs now; add it"),
            (Ok(_), Some(_)) => panic!("{name} runs now; move it"),
            (Err(error), None) => panic!("{error}"),
            (Err(error), Some(expected)) => {
                let text = std::fs::read_to_string(path).unwrap();
                let line = text.lines().nth(error.line as usize - 1).unwrap_or_default().trim();
                // Of some examples the file of one version differs from that of another.
                let expected = expected.iter().find(|setting| line.starts_with(**setting));
                let expected = expected.unwrap_or_else(|| panic!("{error}: {line}"));
                let (option, _) = expected.split_once('=').unwrap();
                assert!(error.message.contains(option), "{error} does not name {option}");
                assert!(error.to_string().starts_with(&format!("{file}:{}: ", error.line)), "{error}");
            }
        }
    }
}

#[test]
fn an_example_that_asks_for_variables_runs_when_they_are_set() {
    let set = |name: &str| match name {
        "FIO_RW" => Some("randwrite".to_owned()),
        "FIO_IODEPTH" => Some("8".to_owned()),
        "FIO_BS" => Some("16k".to_owned()),
        _ => None,
    };
    let surroundings = Surroundings { variable: &set, ..surroundings() };
    for path in examples().iter().filter(|path| name(path) == "xnvme-compare") {
        let jobs = parse(path, &surroundings).unwrap();
        assert_eq!(jobs.jobs[1].io.bs.0, 16384);
    }
}
