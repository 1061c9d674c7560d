//! The agent's own CPU time: getrusage(2).

/// User and system time of this process, ended threads and ended children included, in
/// microseconds. Children that make the load (fio, workers that are processes) belong to the agent:
/// otherwise their time would be taken for another program's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OwnTime {
    pub(crate) user_microseconds: u64,
    pub(crate) system_microseconds: u64,
}

pub(crate) fn read() -> OwnTime {
    let (own, children) = (usage(libc::RUSAGE_SELF), usage(libc::RUSAGE_CHILDREN));
    OwnTime {
        user_microseconds: own.user_microseconds + children.user_microseconds,
        system_microseconds: own.system_microseconds + children.system_microseconds,
    }
}

fn usage(of: libc::c_int) -> OwnTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage writes one rusage to the address given, which is valid and aligned for it.
    if unsafe { libc::getrusage(of, usage.as_mut_ptr()) } != 0 {
        return OwnTime::default();
    }
    // SAFETY: the call succeeded and has filled the structure.
    let usage = unsafe { usage.assume_init() };
    let microseconds = |time: libc::timeval| (time.tv_sec as u64) * 1_000_000 + time.tv_usec as u64;
    OwnTime { user_microseconds: microseconds(usage.ru_utime), system_microseconds: microseconds(usage.ru_stime) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_shows_in_its_own_time() {
        let before = read();
        let begun = std::time::Instant::now();
        let mut sum = 0u64;
        while begun.elapsed().as_millis() < 30 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let after = read();
        let spent =
            after.user_microseconds + after.system_microseconds - before.user_microseconds - before.system_microseconds;
        assert!(spent > 5_000, "{spent} us of {sum} turns");
    }

    #[test]
    fn work_of_a_child_shows_once_it_has_ended() {
        let before = read();
        let status = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"])
            .status()
            .expect("sh runs");
        assert!(status.success());
        let after = read();
        let spent =
            after.user_microseconds + after.system_microseconds - before.user_microseconds - before.system_microseconds;
        assert!(spent > 3_000, "{spent} us");
    }
}
