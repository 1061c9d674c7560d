//! Signals that reach the tracer: those that are meant for its program are handed on, and a timer ends a wait now and then.

use libc::{c_int, pid_t};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// From who ends programs: a supervisor, a closed terminal, another program.
const HANDED_ON: [c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Those that end the capture of a program that ran already.
const ENDING: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The last one that came; 0: none.
static CAME: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    if signal != libc::SIGALRM {
        CAME.store(signal, Ordering::Relaxed);
    }
}

/// While it is there, these signals end waits and nothing else.
pub(crate) struct Signals {
    old: Vec<(c_int, libc::sigaction)>,
}

impl Signals {
    /// `often`: how often a wait ends by itself.
    pub(crate) fn take(often: Duration) -> Signals {
        Signals::take_these(&HANDED_ON, often)
    }

    /// Those that end a capture.
    pub(crate) fn take_ending(often: Duration) -> Signals {
        Signals::take_these(&ENDING, often)
    }

    fn take_these(these: &[c_int], often: Duration) -> Signals {
        let take = |&signal: &c_int| {
            // SAFETY: zeros are a whole sigaction, the handler stores a number, and both places are ours.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                // Without SA_RESTART, so that the wait ends.
                action.sa_sigaction = note as extern "C" fn(c_int) as usize;
                (libc::sigaction(signal, &action, &mut old) == 0).then_some((signal, old))
            }
        };
        let old = these.iter().chain(&[libc::SIGALRM]).filter_map(take).collect();
        every(often);
        Signals { old }
    }

    /// Whether one came since this was asked last.
    pub(crate) fn came(&self) -> bool {
        CAME.load(Ordering::Relaxed) != 0 && CAME.swap(0, Ordering::Relaxed) != 0
    }

    /// Hands on what came.
    pub(crate) fn hand_on(&self, program: pid_t) {
        let signal = CAME.swap(0, Ordering::Relaxed);
        if signal != 0 {
            // SAFETY: a signal to a process of ours, which is not waited for yet.
            unsafe { libc::kill(program, signal) };
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        every(Duration::ZERO);
        for (signal, action) in &self.old {
            // SAFETY: what the kernel gave us before.
            unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
        }
    }
}

/// From now on a wait ends by itself so often; zero: no more.
pub(crate) fn every(often: Duration) {
    let time =
        libc::timeval { tv_sec: often.as_secs() as libc::time_t, tv_usec: often.subsec_micros() as libc::suseconds_t };
    let timer = libc::itimerval { it_interval: time, it_value: time };
    // SAFETY: the structure is ours.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}
