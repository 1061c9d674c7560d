//! What somebody without root's rights lacks for a look at the kernel, all of it at once.

use crate::symbols::Symbols;
use std::fmt;

/// Rights that are missing, each with what gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied(Vec<&'static str>);

/// What gives each right.
const EVENTS: &str = "perf events (sysctl kernel.perf_event_paranoid=-1)";
const TRACEPOINTS: &str =
    "tracepoints (mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing, GROUP being one of yours)";
const ADDRESSES: &str = "addresses in /proc/kallsyms (sysctl kernel.kptr_restrict=0)";

/// Up to this every user may look at all CPUs and their tracepoints.
const OPEN: i64 = -1;

/// A setting of the kernel; `None`: it has none of that name, or another one than a number.
fn setting(name: &str) -> Option<i64> {
    std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

impl Denied {
    /// Asks for each right by itself; `None`: none is missing.
    pub(crate) fn look() -> Option<Denied> {
        let is_root = rustix::process::geteuid().is_root();
        let events = !is_root && setting("perf_event_paranoid").is_some_and(|of| of > OPEN);
        let tracepoints = crate::tracefs().is_err_and(|error| error.is_of_rights());
        // Where nothing restricts pointers, addresses are shown to whoever may use perf events.
        let addresses = Symbols::read().is_none() && (!events || setting("kptr_restrict") != Some(0));
        Denied::from_missing([events, tracepoints, addresses])
    }

    /// `missing`: perf events, tracepoints, addresses.
    fn from_missing(missing: [bool; 3]) -> Option<Denied> {
        let all = missing.into_iter().zip([EVENTS, TRACEPOINTS, ADDRESSES]);
        let found: Vec<&str> = all.filter(|(missing, _)| *missing).map(|(_, what)| what).collect();
        (!found.is_empty()).then_some(Denied(found))
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let listed = match self.0.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            all => all.concat(),
        };
        write!(out, "this user may not look at the kernel; run as root, or allow {listed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_named_at_once() {
        let said = |missing: [bool; 3]| Denied::from_missing(missing).map(|denied| denied.to_string());
        assert_eq!(said([false; 3]), None);
        let all = said([true; 3]).unwrap();
        for part in ["run as root", "perf_event_paranoid=-1", "remount,gid=GROUP", "kptr_restrict=0"] {
            assert!(all.contains(part), "{part}: {all}");
        }
        let one = said([false, false, true]).unwrap();
        assert!(one.ends_with("or allow addresses in /proc/kallsyms (sysctl kernel.kptr_restrict=0)"), "{one}");
    }
}
