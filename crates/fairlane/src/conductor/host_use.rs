//! What this machine does beside a lane in a guest: other programs are not seen from inside of it.

use lanes::guest::Guest;
use model::trial::SystemUse;
use std::time::Instant;

/// One look at this machine and at a guest's processes.
pub struct HostLook {
    at: Instant,
    /// User time of all CPUs, seconds.
    user: f64,
    /// Time that the hypervisor took.
    steal: f64,
    /// User time of the guest's processes and of this one.
    own: f64,
}

impl HostLook {
    /// Looks now; `None` where /proc does not tell.
    pub fn now(guest: &Guest) -> Option<Self> {
        let (user, steal) = of_all_cpus(&std::fs::read_to_string("/proc/stat").ok()?)?;
        let own = user_ticks(std::process::id())? + below(guest.pid());
        let tick = 1.0 / sampler::ticks_per_second();
        Some(HostLook {
            at: Instant::now(),
            user: user as f64 * tick,
            steal: steal as f64 * tick,
            own: own as f64 * tick,
        })
    }

    /// Adds what was done since then to a sum, in the words of the rule of foreign noise: what is not the guest's is
    /// others'.
    pub fn add_since(&self, now: &HostLook, sum: &mut SystemUse) {
        sum.window_seconds += now.at.duration_since(self.at).as_secs_f64();
        sum.cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        sum.cpu_user_seconds += (now.user - self.user).max(0.0);
        sum.cpu_steal_seconds += (now.steal - self.steal).max(0.0);
        sum.agent_cpu_user_seconds += (now.own - self.own).max(0.0);
    }
}

/// User (with nice; a guest's time is in it) and steal, in ticks: fields 1, 2 and 8 of the first line of /proc/stat.
fn of_all_cpus(text: &str) -> Option<(u64, u64)> {
    let fields: Vec<u64> = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().flat_map(str::parse).collect();
    Some((fields.first()? + fields.get(1)?, *fields.get(7)?))
}

/// User time of a process and of its children that it has waited for, in ticks: fields 14 and 16 of its stat line.
fn user_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // Its name may hold anything.
    let behind = String::from_utf8_lossy(&stat[stat.iter().rposition(|&byte| byte == b')')? + 1..]).into_owned();
    let fields: Vec<&str> = behind.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(13)?.parse::<u64>().ok()?)
}

/// The same of a process and all below it.
fn below(pid: u32) -> u64 {
    let mut pids = vec![pid];
    let mut next = 0;
    let mut sum = 0;
    while let Some(&pid) = pids.get(next) {
        next += 1;
        sum += user_ticks(pid).unwrap_or(0);
        // Each thread has children of its own.
        for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            pids.extend(children.split_whitespace().flat_map(str::parse::<u32>));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_all_cpus_is_taken_apart() {
        let text = "cpu  100 20 30 4000 5 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(of_all_cpus(text), Some((120, 80)));
        assert_eq!(of_all_cpus(""), None);
    }

    #[test]
    fn what_is_not_the_guests_is_others() {
        let at = Instant::now();
        let look = |seconds: u64, user: f64, own: f64| HostLook {
            at: at + std::time::Duration::from_secs(seconds),
            user,
            steal: 0.0,
            own,
        };
        let overhead = stats::noise::HostOverhead::default();
        let noise = |user: f64| {
            let mut sum = SystemUse::default();
            look(0, 0.0, 0.0).add_since(&look(10, user, 5.0), &mut sum);
            // The share of this machine's CPUs.
            sum.cpus = 1;
            stats::noise::foreign(&sum, &overhead).map(|found| found.reason)
        };
        assert_eq!(noise(5.2), None);
        assert!(noise(9.0).is_some_and(|said| said.contains("other programs took")));
    }

    #[test]
    fn a_process_and_what_it_started_are_seen() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 60"])
            .spawn()
            .expect("sh");
        while user_ticks(child.id()).is_some_and(|ticks| ticks == 0) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(below(std::process::id()) >= user_ticks(child.id()).unwrap_or(u64::MAX));
        child.kill().expect("kill");
        child.wait().expect("wait");
    }
}
