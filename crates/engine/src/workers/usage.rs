//! What the kernel says that a thread used.

use serde::{Deserialize, Serialize};

/// What a worker used between its first and its last operation.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) context_switches: u64,
    pub(crate) major_faults: u64,
    pub(crate) minor_faults: u64,
}

impl Usage {
    /// Of this thread so far.
    pub(crate) fn now() -> Usage {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole rusage of our own, which the call fills; zeros are valid.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Usage {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
            major_faults: usage.ru_majflt as u64,
            minor_faults: usage.ru_minflt as u64,
        }
    }

    /// From an earlier reading of the same thread to this one.
    pub(crate) fn since(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}
