//! Tests that fork run in a process of their own, in its only thread: before the harness starts any.
//!
//! The same program is started again with the test's name in its environment, and what stands in `.init_array` runs the
//! test before `main`.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// Names the test that a process is for.
const NAME: &str = "FAIRLANE_TEST_ALONE";
/// How such a process ends where its test passed; a harness that finds no test ends with 0.
const PASSED: i32 = 77;

/// `false`: this is the process for the test. Otherwise it is run there, and must pass.
pub fn elsewhere(test: &str) -> bool {
    if std::env::var_os(NAME).is_some() {
        return false;
    }
    if std::env::var_os("FAIRLANE_EMULATED").is_some() {
        println!("skipped: {test} forks, and the emulator itself has a thread beside the program's");
        return true;
    }
    let program = std::env::current_exe().unwrap();
    // No test is called so: where the table lacks the test, nothing runs.
    let run = Command::new(program)
        .args(["--exact", "none", "--nocapture"])
        .env(NAME, test)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].concat();
    print!("{}", String::from_utf8_lossy(&said));
    assert_eq!(run.status.code(), Some(PASSED), "{test} in a process of its own: {}", run.status);
    true
}

/// Before `main`: runs the test that this process is for, if it is one of these.
pub fn first(tests: &[(&str, fn())]) {
    let Some(name) = std::env::var_os(NAME) else { return };
    let Some((_, test)) = tests.iter().find(|(known, _)| name == *known) else { return };
    let passed = std::panic::catch_unwind(test).is_ok();
    std::process::exit(if passed { PASSED } else { 1 });
}

/// Sets the flag after so long, by a signal: a thread that waits would stand beside the forks. One at a
/// time.
#[allow(dead_code)]
pub fn set_after(flag: &Arc<AtomicBool>, wait: Duration) {
    static FLAG: AtomicPtr<AtomicBool> = AtomicPtr::new(std::ptr::null_mut());
    extern "C" fn ring(_: libc::c_int) {
        // SAFETY: it was made of an Arc that is never dropped.
        unsafe { (*FLAG.load(Ordering::Relaxed)).store(true, Ordering::Relaxed) }
    }
    FLAG.store(Arc::into_raw(flag.clone()).cast_mut(), Ordering::Relaxed);
    let once = libc::timeval {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_usec: libc::suseconds_t::from(wait.subsec_micros()),
    };
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: never, it_value: once };
    // SAFETY: the handler stores into one atomic; the structure lives until the call returns.
    unsafe {
        libc::signal(libc::SIGALRM, ring as extern "C" fn(libc::c_int) as libc::sighandler_t);
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()), 0);
    }
}

/// The tests of this module that run alone.
macro_rules! alone_tests {
    ($($test:ident),* $(,)?) => {
        #[used]
        // SAFETY: the C library calls what stands there once, before `main`, with the C calling convention.
        #[unsafe(link_section = ".init_array")]
        static ALONE: extern "C" fn() = {
            extern "C" fn first() {
                crate::alone::first(&[$((stringify!($test), $test as fn())),*]);
            }
            first
        };
    };
}
