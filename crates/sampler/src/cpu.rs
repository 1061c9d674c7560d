//! CPU time of the whole system: the first line of /proc/stat (proc_stat(5)).

use crate::source::{Source, fields, lines, number};

/// CPU time of all CPUs since boot, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ticks {
    pub(crate) user: u64,
    pub(crate) system: u64,
    pub(crate) iowait: u64,
    pub(crate) steal: u64,
}

#[derive(Debug)]
pub(crate) struct Cpu {
    stat: Source,
    seconds_per_tick: f64,
    online: u32,
}

impl Cpu {
    pub(crate) fn open() -> Self {
        // Only the first line is wanted; the kernel makes the whole text in any case.
        let seconds_per_tick = 1.0 / ticks_per_second();
        Cpu { stat: Source::open("/proc/stat", 1024), seconds_per_tick, online: online_cpus() }
    }

    pub(crate) fn read(&mut self) -> Ticks {
        parse(self.stat.read_beginning())
    }

    /// Online CPUs when the sampler was made.
    pub(crate) fn online(&self) -> u32 {
        self.online
    }

    /// Seconds between two readings. Iowait and steal may run backwards: then they count as 0.
    pub(crate) fn seconds(&self, before: u64, after: u64) -> f64 {
        after.saturating_sub(before) as f64 * self.seconds_per_tick
    }
}

/// Ticks of the kernel's CPU times in a second.
pub fn ticks_per_second() -> f64 {
    // SAFETY: sysconf takes no pointer and has no precondition.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// CPUs of this machine that are online, also those that this process may not use.
pub fn online_cpus() -> u32 {
    // SAFETY: as above.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(cpus).unwrap_or(1).max(1)
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guest time is part of user.
fn parse(text: &[u8]) -> Ticks {
    let mut ticks = [0; 8];
    let Some(line) = lines(text).next().filter(|line| line.starts_with(b"cpu ")) else { return Ticks::default() };
    for (slot, field) in ticks.iter_mut().zip(fields(line).skip(1)) {
        *slot = number(field);
    }
    let [user, nice, system, _idle, iowait, irq, softirq, steal] = ticks;
    Ticks { user: user + nice, system: system + irq + softirq, iowait, steal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_added_up_by_kind() {
        let text = b"cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse(text), Ticks { user: 120, system: 43, iowait: 50, steal: 8 });
    }

    #[test]
    fn an_old_kernels_short_line_and_no_text_give_zeros() {
        assert_eq!(parse(b"cpu 1 2 3 4\n"), Ticks { user: 3, system: 3, iowait: 0, steal: 0 });
        assert_eq!(parse(b""), Ticks::default());
        assert_eq!(parse(b"intr 1 2 3\n"), Ticks::default());
    }

    #[test]
    fn counters_that_run_backwards_count_as_nothing() {
        let cpu = Cpu::open();
        assert_eq!(cpu.seconds(10, 7), 0.0);
        assert!(cpu.seconds(7, 10) > 0.0);
        assert!(cpu.online() >= 1);
    }
}
