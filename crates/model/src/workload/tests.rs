//! Workloads: what they check, and what their groups are called.

use super::*;
use crate::operations::Method;

const TEXT: &str = r#"
    name = "t"
    about = "a test"
    [[workload]]
    name = "commit"
    title = "commit 4 KiB"
    kind = "io"
    rw = "append"
    bs = "4KiB"
    size = "64MiB"
    fdatasync = 1
"#;

#[test]
fn work_of_every_kind_tells_whether_it_flushes() {
    let flushes = |kind: &str| {
        let text = format!("name = \"t\"\nabout = \"t\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\n{kind}");
        Suite::from_toml(&text).unwrap_or_else(|error| panic!("{kind}: {error}")).workload[0].flushes()
    };
    let io =
        |more: &str| format!("kind = \"io\"\nrw = \"randwrite\"\nbs = \"4KiB\"\nsize = \"64MiB\"\niodepth = 1\n{more}");
    assert!(!flushes(&io("")) && flushes(&io("fdatasync = 8")) && flushes(&io("sync = \"dsync\"")));
    assert!(flushes("kind = \"small-files\"\nfiles = 10\nsize = \"4KiB\""));
    let appenders =
        |more: &str| format!("kind = \"appenders\"\nwriters = 10\nperiod_seconds = 1\nseconds = 10\n{more}");
    assert!(!flushes(&appenders("")) && flushes(&appenders("fsync_records = 3")));
    let steps = |more: &str| {
        format!(
            "kind = \"operations\"\nfiles = [{{ name = \"a\", count = 4, size = \"4KiB\" }}]\n\
             step = [{{ operation = \"create\", files = \"a\", sync = \"none\" }}{more}]"
        )
    };
    assert!(!flushes(&steps("")));
    for flushing in [
        "{ operation = \"fsync\", files = \"a\" }",
        "{ operation = \"overwrite\", files = \"a\", sync = \"each\" }",
        "{ operation = \"unlink\", files = \"a\" }",
    ] {
        assert!(flushes(&steps(&format!(", {flushing}"))), "{flushing}");
    }
    assert!(!flushes(&steps(", { operation = \"read\", files = \"a\" }")));
}

#[test]
fn a_suite_is_read_with_defaults() {
    let suite = Suite::from_toml(TEXT).unwrap();
    assert!(suite.workload[0].flush_bound());
    assert_eq!(suite.workload[0].groups(), ["write"]);
    let again: Suite = toml::from_str(&toml::to_string(&suite).unwrap()).unwrap();
    assert_eq!(again, suite);
}

#[test]
fn a_suite_says_what_the_article_did() {
    let tables = "\n[workload.as_published]\nsize = \"4GiB\"\nnumjobs = 1\n";
    let mut suite = Suite::from_toml(&format!("{TEXT}{tables}")).unwrap();
    let of = |suite: &Suite| match &suite.workload[0].kind {
        Kind::Io(io) => (io.size, io.slices, io.slice_seconds),
        _ => panic!("another kind"),
    };
    assert_eq!(of(&suite).0, Bytes(64 * Bytes::MIB));
    assert_eq!(Suite::from_toml(&suite.to_toml().unwrap()).unwrap(), suite);
    suite.do_as_published().unwrap();
    assert_eq!(of(&suite), (Bytes(4 << 30), 1, 60.0));
    // Without a table of its own a workload takes the usual changes.
    let mut plain = Suite::from_toml(TEXT).unwrap();
    plain.do_as_published().unwrap();
    assert_eq!(of(&plain), (Bytes(64 * Bytes::MIB), 1, 60.0));
    let shorter = format!("{TEXT}\n[workload.as_published]\nslice_seconds = 0.5\nslices = 3\n");
    let mut shorter = Suite::from_toml(&shorter).unwrap();
    shorter.do_as_published().unwrap();
    assert_eq!((of(&shorter).1, of(&shorter).2), (3, 0.5));
}

#[test]
fn operations_as_published_are_a_process_each_unless_their_table_says_otherwise() {
    let text = r#"
        name = "t"
        about = "a test"
        [[workload]]
        name = "o"
        title = "o"
        kind = "operations"
        files = [{ name = "small", count = 10 }]
        step = [{ operation = "create", files = "small" }]
    "#;
    let method = |text: &str| {
        let mut suite = Suite::from_toml(text).unwrap();
        suite.do_as_published().unwrap();
        match &suite.workload[0].kind {
            Kind::Operations(operations) => operations.method,
            _ => panic!("another kind"),
        }
    };
    assert_eq!(method(text), Method::ProcessPerOperation);
    let otherwise = format!("{text}\n[workload.as_published]\nmethod = \"in-process\"\n");
    assert_eq!(method(&otherwise), Method::InProcess);
}

#[test]
fn a_wrong_table_of_what_the_article_did_is_refused_by_name() {
    for (line, says) in [
        ("as_published = 3", "as_published is a table"),
        ("[workload.as_published]\nbananas = 1", "bananas"),
        ("[workload.as_published]\nname = \"x\"", "cannot change name"),
        ("[workload.as_published]\nbs = \"0\"", "bs must"),
        ("[workload.as_published]\nsize = \"many\"", "as_published"),
        ("[workload.as_published]\nsize = \"1GiB\"\n[surplus]\na = 1", "surplus"),
    ] {
        let error = Suite::from_toml(&format!("{TEXT}\n{line}\n")).unwrap_err().what;
        assert!(error.contains(says) && !error.contains('\n'), "{line}: {error}");
    }
    // What else is wrong is found although the tables were taken apart.
    let table = "\n[workload.as_published]\nsize = \"1GiB\"\n";
    let error = Suite::from_toml(&format!("{}{table}", TEXT.replace("fdatasync = 1", "bananas = 1"))).unwrap_err().what;
    assert_eq!(error.split(':').next(), Some("workload commit"), "{error}");
    assert!(error.contains("bananas"), "{error}");
}

#[test]
fn wrong_parameters_are_refused_by_name() {
    for (from, to, says) in [
        ("bs = \"4KiB\"", "bs = \"0\"", "bs must"),
        ("fdatasync = 1", "fdatasync = 1\niodepth = 4", "iodepth = 1"),
        ("fdatasync = 1", "bananas = 1", "bananas"),
        ("rw = \"append\"", "rw = \"sideways\"", "sideways"),
    ] {
        let error = Suite::from_toml(&TEXT.replace(from, to)).unwrap_err().what;
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_suite_cannot_name_files_outside_the_lane() {
    let plain = TEXT.replace("rw = \"append\"", "rw = \"write\"");
    for line in [
        "filename = [\"/etc/passwd\"]",
        "filename = [\"a\", \"../../etc/passwd\"]",
        "filename = [\"\"]",
        "filename = [\"a\\u0000b\"]",
        "filename_format = \"/etc/passwd\"",
        "filename_format = \"a/../../$filenum\"",
        "filename_format = \"$clientuid/etc/passwd\"",
    ] {
        let error = Suite::from_toml(&format!("{plain}\n{line}")).unwrap_err().what;
        assert!(error.starts_with("workload commit: filename"), "{line}: {error}");
    }
    let within = format!("{plain}\nfilename = [\"a\", \"d/b\"]");
    assert!(Suite::from_toml(&within).is_ok());
}

#[test]
fn a_suite_cannot_hold_a_job_file() {
    let start = "name = \"t\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\n";
    for rest in [
        "kind = \"fio\"\nfile = \"a\"\ntext = \"[a]\\nexec_prerun=id\"\nworking_set = \"1MiB\"\n\
         jobs = [{ name = \"a\", directions = [\"read\"] }]",
        "kind = \"jobs\"\njobs = [{ name = \"a\", io = { rw = \"read\", bs = \"4KiB\", size = \"1MiB\" } }]",
        // Not even understood: the sentence is the same.
        "kind = \"fio\"",
    ] {
        let error = Suite::from_toml(&format!("{start}{rest}")).unwrap_err().what;
        assert_eq!(
            error,
            "workload w: a suite holds no job files and no traces; run one with `fairlane fio JOBFILE` or `fairlane race --replay TRACE`",
            "{rest}"
        );
    }
}

#[test]
fn options_that_slices_ignore_are_refused_by_name_with_a_remedy() {
    let plain = TEXT.replace("rw = \"append\"", "rw = \"write\"");
    assert!(Suite::from_toml(&plain).is_ok());
    let lines = [
        "fsync = 1",
        "end_fsync = true",
        "fsync_on_close = true",
        "runtime_seconds = 10.0",
        "time_based = true",
        "ramp_time_seconds = 1.0",
        "startdelay_seconds = 1.0",
        "loops = 2",
        "io_size = \"1MiB\"",
        "file_append = true",
        "overwrite = true",
        "fallocate = \"posix\"",
        "allow_file_create = false",
        "create_on_open = true",
        "create_only = true",
        "create_fsync = false",
        "unlink = true",
        "unlink_each_loop = true",
        "verify = \"crc32c\"",
        "do_verify = false",
        "verify_fatal = true",
        "verify_interval = \"4KiB\"",
    ];
    for line in lines {
        let error = Suite::from_toml(&format!("{plain}\n{line}")).unwrap_err().what;
        let key = line.split(' ').next().unwrap();
        let fact = format!("workload commit: {key} has no effect on work measured in slices; ");
        assert!(error.starts_with(&fact) && error.len() > fact.len(), "{line}: {error}");
    }
}

#[test]
fn a_share_of_the_slowest_may_stand_beside_the_rate_that_came_of_it() {
    let rates = crate::job::PerDirection { write: crate::job::Rate::Operations(100.0), ..Default::default() };
    let mut suite = Suite::from_toml(TEXT).unwrap();
    let Kind::Io(io) = &mut suite.workload[0].kind else { unreachable!() };
    (io.rate_of_slowest, io.rate, io.thread) = (Some(0.7), Some(rates), true);
    assert_eq!(suite.workload[0].check(), Ok(()));
}
