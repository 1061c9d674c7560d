//! Programs that run already when they are captured, and go on when the capture ends.

use crate::common::{Place, assert_one_sentence};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Threads and a child write, sleep and wait until a file `end` is there; an error that a call answers is written down.
const WORK: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void check(int is_right, const char *what) {
    if (!is_right) { FILE *f = fopen("errors", "a"); fprintf(f, "%s: %m\n", what); fclose(f); } }
static int goes_on(void) { return access("end", F_OK); }
static void *writes(void *name) {
    int f = open(name, O_RDWR | O_CREAT | O_APPEND, 0600); char line[32];
    for (long i = 0; goes_on(); i++) {
        int n = snprintf(line, 32, "%ld\n", i); check(write(f, line, n) == n, "write"); usleep(1000); }
    close(f); return 0; }
static void *sleeps(void *x) {
    struct timespec t = {0, 200000000}; while (goes_on()) check(!nanosleep(&t, 0), "nanosleep"); return 0; }
static void *polls(void *x) {
    int p[2]; pipe(p); struct pollfd of = {p[0], POLLIN}; while (goes_on()) check(!poll(&of, 1, 200), "poll"); return 0; }
static void *epolls(void *x) {
    int p[2], e = epoll_create1(0); pipe(p); struct epoll_event of = {EPOLLIN}; epoll_ctl(e, EPOLL_CTL_ADD, p[0], &of);
    while (goes_on()) check(!epoll_wait(e, &of, 1, 200), "epoll_wait"); return 0; }
static void *receives(void *x) {
    int p[2]; char c; struct timeval t = {0, 200000}; socketpair(AF_UNIX, SOCK_STREAM, 0, p);
    setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    while (goes_on()) check(read(p[0], &c, 1) < 0 && errno == EAGAIN, "receive"); return 0; }
int main(void) {
    pthread_t t[6]; char c; sigset_t of_children;
    /* Under a tracer the end of the child would break off epoll_wait, as a signal that is ignored does. */
    sigemptyset(&of_children); sigaddset(&of_children, SIGCHLD); sigprocmask(SIG_BLOCK, &of_children, 0);
    if (!fork()) { prctl(PR_SET_PDEATHSIG, SIGKILL); writes("child"); _exit(0); }
    pthread_create(t, 0, writes, "a"); pthread_create(t + 1, 0, writes, "b"); pthread_create(t + 2, 0, sleeps, 0);
    pthread_create(t + 3, 0, polls, 0);
#ifdef __x86_64__
    pthread_create(t + 4, 0, epolls, 0); pthread_create(t + 5, 0, receives, 0);
#else
    pthread_create(t + 4, 0, sleeps, 0); pthread_create(t + 5, 0, sleeps, 0);
#endif
    check(!read(0, &c, 1), "read");
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    wait(0); return 5; }
"#;

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).expect("a pid"), signal).expect("a signal");
}

fn bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |of| of.len())
}

/// A line of /proc about a process.
fn status(process: u32, key: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim().to_owned()
}

fn shown(place: &Place, trace: &str) -> Value {
    serde_json::from_str(&place.expect(0, &["trace", "show", trace, "--format", "json"]).0).expect("JSON")
}

fn file<'a>(shown: &'a Value, name: &Path) -> Option<&'a Value> {
    shown["files"].as_array().expect("files").iter().find(|of| of["path"] == name.to_str().expect("a name"))
}

/// What is run, and ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program above, which has written something.
fn work(place: &Place) -> Running {
    std::fs::write(place.path().join("w.c"), WORK).expect("a source");
    let made = Command::new("cc").args(["-O1", "-pthread", "-w", "-o", "w", "w.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    let mut command = Command::new("./w");
    let command = command.current_dir(place.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().expect("it runs"));
    for name in ["a", "b", "child"] {
        wait_for(name, || bytes(&place.path().join(name)) > 20);
    }
    running
}

/// Attaches, and answers once the program runs again.
fn attach(place: &Place, process: u32, trace: &str, more: &[&str]) -> Child {
    let process = process.to_string();
    let line = [&["capture", "-o", trace, "--pid", &process], more].concat();
    let err = std::fs::File::create(place.path().join("said")).expect("a file");
    let child = place.fairlane(&line).stderr(err).spawn().expect("it runs");
    wait_for("it does not attach", || said(place).contains("^C ends the capture and leaves it running"));
    child
}

fn said(place: &Place) -> String {
    std::fs::read_to_string(place.path().join("said")).unwrap_or_default()
}

/// Whether each of the files has its lines, one after another, and no call answered an error.
fn assert_unharmed(place: &Place) {
    assert!(!place.path().join("errors").exists(), "{:?}", std::fs::read_to_string(place.path().join("errors")));
    for name in ["a", "b", "child"] {
        let text = std::fs::read_to_string(place.path().join(name)).expect("a text");
        text.lines().enumerate().for_each(|(at, line)| assert_eq!(line, at.to_string(), "{name}"));
    }
}

/// Waits until the program writes on, and that nobody traces it.
fn wait_until_it_writes(place: &Place, names: &[&str]) {
    for name in names {
        let path = place.path().join(name);
        let before = bytes(&path);
        wait_for("it does not go on", || bytes(&path) > before + 100);
    }
}

fn assert_goes_on(place: &Place, process: u32, names: &[&str]) {
    wait_until_it_writes(place, names);
    for thread in std::fs::read_dir(format!("/proc/{process}/task")).expect("threads").flatten() {
        assert_eq!(status(thread.file_name().to_str().unwrap().parse().unwrap(), "TracerPid:"), "0");
    }
}

#[test]
fn a_running_program_is_captured_until_the_capture_ends_and_goes_on_unharmed() {
    let place = Place::new();
    let mut running = work(&place);
    let process = running.0.id();
    let top = place.path().canonicalize().expect("a folder");
    for (at, with) in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().enumerate() {
        let follows = at == 1;
        let trace = format!("{at}.trace");
        let mut capture = attach(&place, process, &trace, if follows { &["--follow"] } else { &[] });
        assert!(said(&place).contains(if follows { "2 processes, 8 threads" } else { "1 process, 7 threads" }));
        let before = bytes(&place.path().join("a"));
        wait_for("it does not go on", || bytes(&place.path().join("a")) > before + 300);
        signal(&capture, with);
        assert_eq!(capture.wait().expect("it ends").code(), Some(0), "{}", said(&place));
        assert_goes_on(&place, process, &["a", "b", "child"]);

        let shown = shown(&place, &trace);
        assert_eq!((&shown["end"]["status"], &shown["header"]["command"][0]), (&0.into(), &"./w".into()), "{shown}");
        assert_eq!(shown["header"]["directory"], top.to_str().unwrap());
        assert!(shown["notes"].to_string().contains("ran already when the capture began"), "{shown}");
        for name in ["a", "b"] {
            let of = file(&shown, &top.join(name)).expect("a file that was open");
            assert!(of["written_bytes"].as_u64() >= Some(100), "{of}");
        }
        assert_eq!(file(&shown, &top.join("child")).is_some(), follows, "{shown}");
        let calls = shown["calls"].as_array().expect("calls");
        let seeks = calls.iter().find(|of| of["call"] == "lseek").expect("where the files stood");
        assert_eq!(seeks["count"], if follows { 3 } else { 2 }, "{shown}");
    }
    std::fs::write(place.path().join("end"), "").expect("a file");
    drop(running.0.stdin.take());
    assert_eq!(running.0.wait().expect("it ends").code(), Some(5));
    assert_unharmed(&place);
}

#[test]
fn a_killed_tracer_leaves_the_program_running_and_its_end_ends_the_capture() {
    let place = Place::new();
    let mut running = work(&place);
    let process = running.0.id();
    for at in 0..3 {
        let mut capture = attach(&place, process, &format!("{at}.trace"), &["--follow"]);
        // Who stands before its call when the tracer dies is woken by the kernel, and a call that is not begun again is broken off: at
        // first all stand there.
        wait_until_it_writes(&place, &["a", "b", "child"]);
        capture.kill().expect("it is killed");
        capture.wait().expect("it is gone");
        assert_goes_on(&place, process, &["a", "b", "child"]);
    }
    let mut capture = attach(&place, process, "e.trace", &["--follow"]);
    std::fs::write(place.path().join("end"), "").expect("a file");
    drop(running.0.stdin.take());
    assert_eq!(running.0.wait().expect("it ends").code(), Some(5), "its parent is told, as ever");
    assert_eq!(capture.wait().expect("it ends").code(), Some(0), "{}", said(&place));
    assert_eq!(shown(&place, "e.trace")["end"]["status"], 5);
    assert_unharmed(&place);
    place.assert_nothing_left();
}

#[test]
fn what_a_running_program_begins_is_captured_and_can_be_done_again() {
    let place = Place::new();
    std::fs::write(place.path().join("in"), "1\n2\n3\n4\n").expect("a file");
    // Two descriptors of one file; a folder that is the working one; lines that are read one after another.
    let script = "mkdir d; cd d; exec 3<../in 4>out 5>&4; read x <&3; echo one >&4; echo > ../ready; read go; \
        read y <&3; echo $y >&5; /bin/cat <&3 >>../copy; (echo below > below)";
    let child = Command::new("sh").args(["-c", script]).current_dir(place.path()).stdin(Stdio::piped()).spawn();
    let mut running = Running(child.expect("it runs"));
    wait_for("it does not begin", || place.path().join("ready").exists());
    let mut capture = attach(&place, running.0.id(), "t.trace", &[]);
    running.0.stdin.take().expect("a pipe").write_all(b"go\n").expect("it is read");
    assert!(running.0.wait().expect("it ends").success());
    assert_eq!(capture.wait().expect("it ends").code(), Some(0), "{}", said(&place));
    assert_eq!(std::fs::read_to_string(place.path().join("d/out")).expect("a text"), "one\n2\n");
    assert_eq!(std::fs::read_to_string(place.path().join("copy")).expect("a text"), "3\n4\n");

    let top = place.path().canonicalize().expect("a folder");
    let shown = shown(&place, "t.trace");
    let of = |name: &str| file(&shown, &top.join(name)).unwrap_or_else(|| panic!("{name} in {shown}"));
    assert_eq!((&of("d/out")["written_bytes"], &of("d/out")["opened"]), (&2.into(), &1.into()), "{shown}");
    assert_eq!((&of("copy")["written_bytes"], &of("d/below")["written_bytes"]), (&4.into(), &6.into()));
    assert_eq!(of("in")["read_bytes"], 6, "what was read before is not in it");
    for folder in ["x", "y"] {
        std::fs::create_dir(place.path().join(folder)).expect("a folder");
    }
    let line = ["race", "./x", "./y", "--replay", "t.trace", "--rounds", "1", "-o", "r.jsonl", "--no-report"];
    let (out, _) = place.expect(0, &line);
    assert!(!out.contains("answered otherwise"), "{out}");
}

/// A thread has its own descriptors and directory before the capture begins, with the number of another one's file.
const APART: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int f;
static int opens(const char *name) { return open(name, O_RDWR | O_CREAT, 0600); }
static void *apart(void *x) {
    if (unshare(CLONE_FILES | CLONE_FS)) exit(77);
    close(f); if (opens("second") != f || chdir("d")) exit(1);
    close(opens("../ready")); while (access("../go", F_OK)) usleep(1000);
    write(f, "abcdefg", 7); write(opens("x"), "abc", 3); return 0; }
int main(void) {
    f = opens("first"); mkdir("d", 0700); pthread_t t; pthread_create(&t, 0, apart, 0);
    while (access("go", F_OK)) usleep(1000);
    write(f, "ab", 2); write(opens("x"), "abcde", 5); pthread_join(t, 0); return 0; }
"#;

#[test]
fn a_thread_that_unshared_before_has_its_own_descriptors_and_directory() {
    let place = Place::new();
    std::fs::write(place.path().join("u.c"), APART).expect("a source");
    let made = Command::new("cc").args(["-O1", "-pthread", "-w", "-o", "u", "u.c"]).current_dir(place.path()).status();
    assert!(made.expect("a compiler").success());
    let mut running = Running(Command::new("./u").current_dir(place.path()).spawn().expect("it runs"));
    let mut ended = None;
    wait_for("it does not begin", || {
        ended = running.0.try_wait().expect("a process");
        ended.is_some() || place.path().join("ready").exists()
    });
    if ended.is_some_and(|status| status.code() == Some(77)) {
        return eprintln!("skipped: unshare is forbidden here, as in some containers");
    }
    assert!(ended.is_none(), "{ended:?}");
    let mut capture = attach(&place, running.0.id(), "u.trace", &[]);
    std::fs::write(place.path().join("go"), "").expect("a file");
    assert!(running.0.wait().expect("it ends").success());
    assert_eq!(capture.wait().expect("it ends").code(), Some(0), "{}", said(&place));
    let top = place.path().canonicalize().expect("a folder");
    let shown = shown(&place, "u.trace");
    for (name, bytes) in [("first", 2_u64), ("second", 7), ("x", 5), ("d/x", 3)] {
        let of = file(&shown, &top.join(name)).unwrap_or_else(|| panic!("{name} in {shown}"));
        assert_eq!((&of["opened"], &of["written_bytes"]), (&1.into(), &bytes.into()), "{name}");
    }
}

#[test]
fn a_stopped_program_stays_stopped() {
    let place = Place::new();
    let mut running = work(&place);
    let process = running.0.id();
    let is_stopped = |process: u32| status(process, "State:").starts_with(['T', 't']);
    signal(&running.0, Signal::STOP);
    wait_for("it does not stop", || status(process, "State:").starts_with('T'));
    let before = ["a", "b"].map(|name| bytes(&place.path().join(name)));
    let mut capture = attach(&place, process, "s.trace", &[]);
    signal(&capture, Signal::INT);
    assert_eq!(capture.wait().expect("it ends").code(), Some(0));
    assert!(is_stopped(process) && status(process, "TracerPid:") == "0", "{}", status(process, "State:"));
    assert_eq!(["a", "b"].map(|name| bytes(&place.path().join(name))), before);

    // It continues and stops under the tracer.
    let mut capture = attach(&place, process, "t.trace", &[]);
    signal(&running.0, Signal::CONT);
    wait_for("it does not continue", || bytes(&place.path().join("a")) > before[0] + 100);
    signal(&running.0, Signal::STOP);
    wait_for("it does not stop", || is_stopped(process));
    signal(&capture, Signal::INT);
    assert_eq!(capture.wait().expect("it ends").code(), Some(0));
    wait_for("it does not stay stopped", || status(process, "State:").starts_with('T'));
    assert_eq!(status(process, "TracerPid:"), "0");
    signal(&running.0, Signal::CONT);
    assert_goes_on(&place, process, &["a", "b"]);
    std::fs::write(place.path().join("end"), "").expect("a file");
    drop(running.0.stdin.take());
    assert_eq!(running.0.wait().expect("it ends").code(), Some(5));
}

#[test]
fn what_cannot_be_attached_to_is_said_in_one_sentence() {
    let place = Place::new();
    let mut running = work(&place);
    let process = running.0.id().to_string();
    let mut gone = Command::new("true").spawn().expect("it runs");
    gone.wait().expect("it ends");
    let gone = gone.id().to_string();
    let child = Command::new("true").spawn().expect("it runs");
    let zombie = Running(child);
    wait_for("it does not end", || status(zombie.0.id(), "State:").starts_with('Z'));
    let ended = zombie.0.id().to_string();
    let mut threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("threads").flatten();
    let thread =
        threads.find_map(|of| of.file_name().into_string().ok().filter(|of| *of != process)).expect("a thread");
    let capture = ["capture", "-o", "t", "--pid"];
    for (status, line, says) in [
        (125, vec!["x"], &["--pid x", "`ps -e`"][..]),
        (125, vec!["-4"], &["--pid -4"]),
        (125, vec!["99999999999"], &["--pid 99999999999"]),
        (125, vec![&gone], &["there is no process", "`ps -e`"]),
        (125, vec![&ended], &["has ended"]),
        (125, vec![&thread], &["is a thread of process", "--pid"]),
        (2, vec![&process, "--", "true"], &["--pid"]),
    ] {
        let (_, err) = place.expect(status, &[&capture[..], &line].concat());
        assert_one_sentence(&err, says);
        assert!(!place.path().join("t").exists(), "what holds nothing is removed");
    }
    let (_, err) = place.expect(2, &["capture", "-o", "t", "--follow", "--", "true"]);
    assert_one_sentence(&err, &["--pid"]);
    // A thread of the kernel, where its processes are seen.
    if crate::common::root() && std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
        let (_, err) = place.expect(125, &["capture", "-o", "t", "--pid", "2"]);
        assert_one_sentence(&err, &["thread of the kernel"]);
    }
    let mut first = attach(&place, running.0.id(), "f.trace", &[]);
    let (_, err) = place.expect(125, &["capture", "-o", "t", "--pid", &process]);
    assert_one_sentence(&err, &["is traced by process", &first.id().to_string(), "(fairlane)", "end that first"]);
    signal(&first, Signal::INT);
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    std::fs::write(place.path().join("end"), "").expect("a file");
    drop(running.0.stdin.take());
    assert_eq!(running.0.wait().expect("it ends").code(), Some(5));
    assert_unharmed(&place);
}
