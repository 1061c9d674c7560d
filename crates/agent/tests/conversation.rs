//! Whole conversations with the agent, through memory instead of pipes.

use model::Bytes;
use model::agent::{Devices, LibraryTarget, Part, Reply, Request, Target};
use model::trial::Group;
use model::workload::{Io, Kind, Pattern, SmallFiles, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn line(request: &Request) -> String {
    serde_json::to_string(request).unwrap() + "\n"
}

fn converse_with(input: &[u8], stop: bool) -> Vec<Reply> {
    let mut output = Vec::new();
    agent::serve(input, &mut output, Arc::new(AtomicBool::new(stop))).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Sends the requests; answers with exactly as many replies.
fn converse(requests: &[Request]) -> Vec<Reply> {
    let input: String = requests.iter().map(line).collect();
    let replies = converse_with(input.as_bytes(), false);
    assert_eq!(replies.len(), requests.len(), "{replies:?}");
    replies
}

fn attach(target: Target) -> Request {
    Request::Attach { target, devices: Devices::default() }
}

fn attach_to(path: &Path) -> Request {
    attach(Target::Directory(path.to_owned()))
}

fn io_workload(rw: Pattern, ioengine: &str, iodepth: u32) -> Request {
    let io = Io {
        rw,
        bs: Bytes(4096),
        size: Bytes(1 << 20),
        ioengine: ioengine.to_owned(),
        iodepth,
        direct: false,
        fdatasync: 0,
        slices: 3,
        slice_seconds: 0.02,
        ..Io::default()
    };
    Request::prepare(Workload { name: "w".into(), title: "a workload".into(), kind: Kind::Io(Box::new(io)) }, 11)
}

fn small_files(files: u64) -> Request {
    let kind = Kind::SmallFiles(SmallFiles { files, size: Bytes(2000), directories: 4, sharing: Default::default() });
    Request::prepare(Workload { name: "s".into(), title: "small files".into(), kind }, 11)
}

fn slice(threads: bool) -> Request {
    Request::Slice { warm_up_seconds: 0.01, seconds: 0.02, threads }
}

fn phase(group: &str) -> Request {
    Request::Phase { group: group.to_owned(), part: Part::WHOLE, threads: false }
}

fn measured(reply: &Reply) -> &Group {
    match reply {
        Reply::Measured { groups, .. } if groups.len() == 1 => &groups[0],
        other => panic!("{other:?}"),
    }
}

fn reason(reply: &Reply) -> &str {
    match reply {
        Reply::Failed { reason, .. } => {
            assert!(!reason.contains('\n') && !reason.ends_with('.'), "{reason}");
            reason
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_steady_trial_goes_from_hello_to_finish() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    for (rw, engine, depth, name) in [
        (Pattern::RandRead, "sync", 1, "read"),
        (Pattern::Write, "io_uring", 8, "write"),
        (Pattern::Append, "sync", 1, "write"),
    ] {
        let replies = converse(&[
            Request::Hello,
            attach_to(folder.path()),
            io_workload(rw, engine, depth),
            slice(false),
            slice(true),
            slice(false),
            Request::Sync,
            Request::Finish,
            Request::Detach,
            Request::Quit,
        ]);
        let Reply::Hello { version, pid, ioengines } = &replies[0] else { panic!("{replies:?}") };
        assert!(!version.is_empty() && *pid == std::process::id());
        assert!(ioengines.contains(&"sync".to_owned()) && ioengines.contains(&"null".to_owned()));
        assert!(matches!(replies[2], Reply::Took { seconds } if seconds >= 0.0));
        let windows: Vec<&Group> = replies[3..6].iter().map(measured).collect();
        assert!(windows.iter().all(|group| group.name == name && group.operations > 0 && group.histogram.is_none()));
        let Reply::Measured { system, opened_after_seconds, .. } = &replies[4] else { panic!() };
        assert!(system.busiest_thread_share.is_some() && system.window_seconds > 0.0);
        // After its warm-up.
        assert!(*opened_after_seconds > 0.009, "{opened_after_seconds}");
        let Reply::Finished { groups, system, .. } = &replies[7] else { panic!("{:?}", replies[7]) };
        let [group] = groups.as_slice() else { panic!("{groups:?}") };
        assert_eq!(group.operations, windows.iter().map(|group| group.operations).sum::<u64>());
        assert_eq!(group.bytes, group.operations * 4096);
        let mut rates: Vec<f64> = windows.iter().map(|group| group.metrics["operations_per_second"]).collect();
        assert_eq!(group.slices_operations_per_second, rates);
        let in_slices: Vec<f64> = windows.iter().flat_map(|of| of.windows_operations_per_second.clone()).collect();
        assert_eq!((group.windows_operations_per_second.clone(), group.windows_seconds), (in_slices, 0.002));
        assert!(group.windows_operations_per_second.len() >= 30);
        rates.sort_by(f64::total_cmp);
        assert!((group.metrics["operations_per_second"] / rates[1] - 1.0).abs() < 1e-9);
        assert_eq!(group.primary_metric, "operations_per_second");
        assert!(group.histogram.is_some() && group.latency_ns.is_some() && group.system.is_none());
        // The sampler's window is the engine's: what differs is the time of a few reads of /proc.
        assert!((system.window_seconds - group.seconds).abs() < 0.5, "{} {}", system.window_seconds, group.seconds);
    }
}

#[test]
fn small_files_run_in_phases_over_a_detach_and_keep_each_phases_system() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let replies = converse(&[
        attach_to(folder.path()),
        small_files(200),
        phase("create"),
        Request::Detach,
        attach_to(folder.path()),
        phase("read"),
        phase("delete"),
        Request::Finish,
        Request::Finish,
    ]);
    let created = measured(&replies[2]);
    assert_eq!((created.operations, created.bytes), (200, 400_000));
    assert!(created.sync_seconds > 0.0 && created.sync_seconds < created.seconds);
    let Reply::Finished { groups, system, .. } = &replies[7] else { panic!("{:?}", replies[7]) };
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["create", "read", "delete"]);
    let windows: f64 = groups.iter().map(|group| group.system.as_ref().unwrap().window_seconds).sum();
    assert!((windows - system.window_seconds).abs() < 1e-9);
    for group in groups {
        let rate = group.operations as f64 / group.seconds;
        assert!((group.metrics["operations_per_second"] / rate - 1.0).abs() < 1e-9);
        assert!(group.slices_operations_per_second.is_empty());
    }
    assert!(reason(&replies[8]).contains("prepare"), "finish forgets");
}

#[test]
fn the_null_target_needs_nothing() {
    let replies = converse(&[
        attach(Target::Null),
        io_workload(Pattern::RandRead, "io_uring", 32),
        slice(false),
        Request::Sync,
        small_files(50),
        phase("create"),
        phase("read"),
        phase("delete"),
        Request::Finish,
    ]);
    assert!(measured(&replies[2]).operations > 1000);
    assert!(matches!(&replies[8], Reply::Finished { groups, .. } if groups.len() == 3));
}

#[test]
fn bad_lines_are_answered_and_the_conversation_goes_on() {
    let long = format!("{{\"do\":\"hello\",\"x\":\"{}\"}}\n", "y".repeat(2 << 20));
    let mut input = b"potato\n\n{\"do\":\"dance\"}\n{\"do\":\"slice\"}\n\xff\xfe\n[1,2]\n".to_vec();
    input.extend_from_slice(long.as_bytes());
    input.extend_from_slice(line(&Request::Hello).as_bytes());
    // The last line has no end: the conductor died while writing it.
    input.extend_from_slice(b"{\"do\":\"he");
    let replies = converse_with(&input, false);
    assert_eq!(replies.len(), 9);
    for reply in replies[..7].iter().chain(&replies[8..]) {
        assert!(reason(reply).contains("request"), "{reply:?}");
    }
    assert!(matches!(replies[7], Reply::Hello { .. }));
}

#[test]
fn requests_out_of_order_are_refused_with_what_to_send() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let replies = converse(&[
        io_workload(Pattern::Read, "sync", 1),
        slice(false),
        Request::Sync,
        attach_to(folder.path()),
        slice(false),
        phase("create"),
        Request::Finish,
        io_workload(Pattern::Read, "sync", 1),
        phase("create"),
        Request::Slice { warm_up_seconds: -1.0, seconds: 0.1, threads: false },
        Request::Slice { warm_up_seconds: 0.0, seconds: 1e9, threads: false },
        Request::Detach,
        slice(false),
        attach(Target::Directory("/there/is/no/such/folder".into())),
        Request::Hello,
    ]);
    for (index, says) in [
        (0, "send attach"),
        (1, "send attach"),
        (2, "send attach"),
        (4, "send prepare"),
        (5, "send prepare"),
        (6, "send prepare"),
        (8, "slices"),
        (9, "3600"),
        (10, "3600"),
        (12, "send attach"),
        (13, "/there/is/no/such/folder"),
    ] {
        assert!(reason(&replies[index]).contains(says), "{index}: {:?}", replies[index]);
    }
    assert!(matches!(replies[13], Reply::Failed { errno: Some(2), .. }));
    assert!(matches!(replies[14], Reply::Hello { .. }));
}

#[test]
fn wrong_workloads_are_refused_and_the_next_one_works() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let replies = converse(&[
        attach_to(folder.path()),
        io_workload(Pattern::Read, "libfoo", 1),
        io_workload(Pattern::Read, "sync", 8),
        io_workload(Pattern::Read, "sync", 1),
        slice(false),
    ]);
    assert!(reason(&replies[1]).contains("libfoo"));
    assert!(reason(&replies[2]).contains("iodepth = 1"));
    assert!(measured(&replies[4]).operations > 0);
}

#[test]
fn a_set_stop_flag_is_answered_with_interrupted() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let requests = [attach_to(folder.path()), io_workload(Pattern::Read, "sync", 1), small_files(9), Request::Hello];
    let input: String = requests.iter().map(line).collect();
    let replies = converse_with(input.as_bytes(), true);
    assert_eq!(reason(&replies[1]), "interrupted");
    assert_eq!(reason(&replies[2]), "interrupted");
    assert!(matches!(replies[3], Reply::Hello { .. }));
}

#[test]
fn quit_ends_the_conversation_before_later_requests() {
    let input = line(&Request::Quit) + &line(&Request::Hello);
    assert_eq!(converse_with(input.as_bytes(), false), [Reply::Done]);
    assert!(converse_with(b"", false).is_empty());
}

#[test]
fn a_listener_that_is_gone_ends_the_agent_with_an_error() {
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let input = line(&Request::Hello);
    let error = agent::serve(input.as_bytes(), Gone, Arc::new(AtomicBool::new(false))).unwrap_err();
    assert!(matches!(error, agent::AgentError::Output(_)), "{error}");
}

#[test]
fn a_library_is_formatted_let_go_and_opened_again() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let device = folder.path().join("disk");
    std::fs::File::create(&device).unwrap().set_len(64 << 20).unwrap();
    let library = |format| {
        attach(Target::Library(LibraryTarget {
            filesystem: "rsext4".to_owned(),
            device: device.clone(),
            options: vec!["journal".to_owned()],
            format,
        }))
    };
    let replies = converse(&[
        library(false),
        library(true),
        Request::Sync,
        Request::Detach,
        library(false),
        small_files(10),
        Request::Detach,
        Request::Sync,
    ]);
    assert!(reason(&replies[0]).contains("rsext4 cannot mount"), "{:?}", replies[0]);
    for done in [1, 3, 4, 6] {
        assert_eq!(replies[done], Reply::Done, "{done}");
    }
    assert!(matches!(replies[2], Reply::Took { .. }));
    assert!(reason(&replies[5]).contains("workload s needs a kernel filesystem"), "{:?}", replies[5]);
    assert!(reason(&replies[7]).contains("send attach"));
    // Let go cleanly, the disk is whole.
    let checked = std::process::Command::new("/sbin/e2fsck").args(["-f", "-n"]).arg(&device).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn operations_begin_again_and_other_work_does_not() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let text = r#"{ "name": "o", "title": "o", "kind": "operations", "files": [{ "name": "a", "count": 10 }],
        "step": [{ "operation": "create", "files": "a" }] }"#;
    let operations = Request::prepare(serde_json::from_str(text).unwrap(), 11);
    let replies = converse(&[
        attach_to(folder.path()),
        Request::Again,
        operations,
        phase("create"),
        Request::Again,
        phase("create"),
        Request::Finish,
        small_files(10),
        Request::Again,
    ]);
    assert!(reason(&replies[1]).contains("send prepare first"));
    let Reply::Finished { groups, .. } = &replies[6] else { panic!("{replies:?}") };
    assert_eq!((groups[0].operations, groups[0].slices_operations_per_second.len()), (20, 2));
    assert!(reason(&replies[8]).contains("only operations on files begin again"));
}

#[test]
fn a_step_that_the_filesystem_lacks_is_told_apart_and_what_was_done_before_it_stands() {
    // tmpfs: its files share no blocks.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let text = r#"{ "name": "o", "title": "o", "kind": "operations",
        "files": [{ "name": "a", "count": 10, "size": "1KiB" }],
        "step": [{ "operation": "create", "files": "a" }, { "operation": "reflink", "files": "a" },
                 { "operation": "stat", "files": "a" }] }"#;
    let replies = converse(&[
        attach_to(folder.path()),
        Request::prepare(serde_json::from_str(text).unwrap(), 11),
        phase("create"),
        phase("reflink"),
        phase("stat"),
        Request::Verify,
        Request::Sync,
        Request::Finish,
    ]);
    assert!(matches!(replies[3], Reply::Failed { unsupported: true, corrupt: false, errno: Some(95), .. }));
    assert!(reason(&replies[3]).contains("this filesystem cannot do step reflink"), "{:?}", replies[3]);
    // Steps run in their order: what stands behind it cannot be done.
    assert!(matches!(replies[4], Reply::Failed { unsupported: false, .. }), "{:?}", replies[4]);
    // Whether it left something behind is not known.
    assert!(reason(&replies[5]).contains("step reflink is half done"), "{:?}", replies[5]);
    let files = folder.path().join("fairlane-operations/set-000");
    assert_eq!(std::fs::read_dir(files).unwrap().count(), 10, "no half of a copy is left");
    let Reply::Finished { groups, .. } = &replies[7] else { panic!("{replies:?}") };
    assert_eq!(groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["create"]);
}
