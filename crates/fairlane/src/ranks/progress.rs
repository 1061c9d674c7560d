//! Whether a process gets on with its work: a filesystem that hangs keeps its calls waiting, and nothing moves.

use std::time::{Duration, Instant};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// CPU time that counts as getting on, as a share of the time: waiting and looking around takes less.
const CPU_SHARE: f64 = 0.01;
/// Pages per second that reach disks or servers and count as getting on while a call waits for them: a sync of much data is
/// one long call. Logs of other programs write less.
const WRITTEN_PAGES_PER_SECOND: f64 = 256.0;
/// So often per second threads go to sleep in the kernel where their calls come back. Making and removing names counts as
/// nothing else and may take little CPU time; a call that hangs is woken more seldom.
const SLEEPS_PER_SECOND: f64 = 10.0;

/// What a process has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Done {
    /// Calls and bytes that it read and wrote, as one sum: only that it changes means something.
    io: u64,
    cpu_seconds: f64,
    /// Of the whole machine.
    written_pages: f64,
    /// How often the threads that wait in the kernel for a disk or a server have gone to sleep; `None`: none waits.
    waits: Option<u64>,
}

/// Looks at one process now and then.
pub struct Progress {
    pid: u32,
    most: Duration,
    every: Duration,
    looked: Instant,
    moved: Instant,
    seen: Option<Done>,
}

impl Progress {
    /// Of a process that has just been asked for something, and may stand still for so long.
    pub fn new(pid: u32, most: Duration) -> Self {
        let now = Instant::now();
        Progress { pid, most, every: LOOK_EVERY.min(most / 4), looked: now, moved: now, seen: None }
    }

    /// Whether it has stood still too long.
    pub fn is_hung(&mut self) -> bool {
        let since = self.looked.elapsed();
        if since < self.every {
            return false;
        }
        let now = look(self.pid);
        let moved = match (&self.seen, &now) {
            (Some(before), Some(now)) => moves(before, now, since.as_secs_f64()),
            // The first look has nothing to compare with; what is gone does not hang.
            (None, _) => false,
            (_, None) => true,
        };
        self.looked = Instant::now();
        if moved {
            self.moved = self.looked;
        }
        self.seen = now;
        self.moved.elapsed() > self.most
    }
}

fn moves(before: &Done, now: &Done, seconds: f64) -> bool {
    let sleeps = before.waits.zip(now.waits).map_or(0, |(before, now)| now.saturating_sub(before));
    now.io != before.io
        || sleeps as f64 > SLEEPS_PER_SECOND * seconds
        || now.cpu_seconds - before.cpu_seconds > CPU_SHARE * seconds
        || (now.waits.is_some() && now.written_pages - before.written_pages > WRITTEN_PAGES_PER_SECOND * seconds)
}

/// `None`: there is no such process.
fn look(pid: u32) -> Option<Done> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Fields 14 to 17 (proc_pid_stat(5)): its own time and that of children that ended; the name may hold anything.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let vmstat = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let written = vmstat.lines().find_map(|line| line.strip_prefix("nr_written ")?.trim().parse::<f64>().ok());
    Some(Done {
        io: io.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).fold(0, u64::wrapping_add),
        cpu_seconds: ticks as f64 / sampler::ticks_per_second(),
        written_pages: written.unwrap_or(0.0),
        waits: waits(pid),
    })
}

/// Of the threads of a process that are in uninterruptible sleep (state D, proc_pid_status(5)): how often they went to sleep;
/// `None`: none is.
fn waits(pid: u32) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let told = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    told.filter_map(|status| sleeps_of_waiting(&status)).reduce(u64::wrapping_add)
}

/// How often a thread went to sleep by itself, from its file status; `None`: it does not wait.
fn sleeps_of_waiting(status: &str) -> Option<u64> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    field("State:")?.starts_with('D').then_some(())?;
    field("voluntary_ctxt_switches:")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn started(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).stdout(Stdio::null()).spawn().expect("sh")
    }

    fn end(mut child: Child) {
        child.kill().expect("kill");
        child.wait().expect("wait");
    }

    #[test]
    fn what_only_waits_hangs_and_what_writes_or_computes_does_not() {
        let seen = Done { io: 5, cpu_seconds: 1.0, written_pages: 100.0, waits: Some(7000) };
        assert!(!moves(&seen, &Done { cpu_seconds: 1.04, written_pages: 1300.0, ..seen }, 5.0));
        assert!(moves(&seen, &Done { io: 6, ..seen }, 5.0), "a call came back");
        assert!(moves(&seen, &Done { cpu_seconds: 1.1, ..seen }, 5.0));
        let written = Done { written_pages: 2000.0, ..seen };
        assert!(moves(&seen, &written, 5.0), "a sync gets on");
        assert!(!moves(&seen, &Done { waits: None, ..written }, 5.0), "others write");
        assert!(moves(&seen, &Done { waits: Some(7051), ..seen }, 5.0), "names are made, slowly");
        assert!(!moves(&seen, &Done { waits: Some(7005), ..seen }, 5.0), "one call is woken now and then");
        assert!(!moves(&seen, &Done { waits: None, ..seen }, 5.0));
    }

    #[test]
    fn only_threads_that_wait_in_the_kernel_are_counted() {
        let status = |state: &str| {
            format!("Name:\tfairlane\nState:\t{state}\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t9\n")
        };
        assert_eq!(sleeps_of_waiting(&status("D (disk sleep)")), Some(42));
        assert_eq!(sleeps_of_waiting(&status("S (sleeping)")), None);
        let own = std::fs::read_to_string("/proc/self/status").expect("status");
        assert!(own.contains("\nvoluntary_ctxt_switches:\t") && own.contains("\nState:\t"), "{own}");
    }

    #[test]
    fn a_process_that_waits_is_found_hung_and_one_that_works_is_not() {
        let waits = started("exec sleep 600");
        let mut progress = Progress::new(waits.id(), Duration::from_millis(400));
        while !progress.is_hung() {
            std::thread::sleep(Duration::from_millis(10));
        }
        end(waits);
        let works = started("while :; do echo; done");
        let mut progress = Progress::new(works.id(), Duration::from_millis(400));
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(10));
            assert!(!progress.is_hung());
        }
        end(works);
        assert_eq!(look(u32::MAX), None);
    }
}
