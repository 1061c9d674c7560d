//! What the kernel allows: descriptors and processes, looked at before the work begins and raised where that
//! is allowed.

use crate::error::EngineError;
use model::appenders::{Appenders, AppendersMethod};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;

/// Descriptors beside those of the work: the agent's own, and what it inherited.
const RESERVE: u64 = 256;
/// Multiplexed writers are spread over at most so many processes.
pub(super) const MOST_CARRIERS: u32 = 256;
/// Processes beside those of the work.
const PROCESS_RESERVE: u64 = 64;

/// What the kernel allows this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Allowed {
    /// Descriptors of one process: the hard limit, or what a privileged one may raise it to.
    descriptors: u64,
    /// The hard limit may be raised.
    privileged: bool,
    /// Open files of the whole system that are still to be had.
    files: u64,
    /// Processes that are still to be had.
    processes: u64,
    /// Which limit that is.
    process_limit: &'static str,
}

/// Whether the work can be had here, without any change.
///
/// # Errors
/// One sentence that names the limit and how to raise it.
pub fn check(appenders: &Appenders) -> Result<(), String> {
    judge(appenders, &allowed())
}

/// Raises this process's own limit of descriptors as far as the work needs it. Answers how many processes the
/// writers become: each one of its own where they are processes, so many as it takes where one process may not have
/// all files open, and `None` where they share threads of this one.
pub(super) fn raise(appenders: &Appenders) -> Result<Option<u32>, EngineError> {
    let allowed = allowed();
    judge(appenders, &allowed).map_err(EngineError::Unsuitable)?;
    let carriers = carriers(appenders, &allowed);
    let of_one = match carriers {
        Some(carriers) => u64::from(appenders.writers.div_ceil(carriers)) * u64::from(appenders.files),
        None => appenders.descriptors().0,
    };
    let needed = of_one + RESERVE;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= needed) {
        return Ok(carriers);
    }
    let maximum = now.maximum.map(|maximum| maximum.max(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).map_err(|errno| {
        EngineError::Unsuitable(format!(
            "{needed} descriptors are needed and cannot be had: {}; raise the limit (ulimit -n {needed}) or lower \
             writers or files",
            std::io::Error::from_raw_os_error(errno.raw_os_error())
        ))
    });
    raised.map(|()| carriers)
}

/// See [`raise`].
fn carriers(appenders: &Appenders, allowed: &Allowed) -> Option<u32> {
    if appenders.method == AppendersMethod::Processes {
        return Some(appenders.writers);
    }
    if appenders.descriptors().0 + RESERVE <= allowed.descriptors {
        return None;
    }
    let writers_each = allowed.descriptors.saturating_sub(RESERVE) / u64::from(appenders.files.max(1));
    let least = u64::from(appenders.writers).div_ceil(writers_each.max(1));
    Some(u32::try_from(least).unwrap_or(u32::MAX).max(appenders.threads).min(appenders.writers))
}

fn judge(appenders: &Appenders, allowed: &Allowed) -> Result<(), String> {
    let (of_one, of_all) = appenders.descriptors();
    let needed = of_one + RESERVE;
    let spread =
        || appenders.method == AppendersMethod::Multiplexed && carriers(appenders, allowed) <= Some(MOST_CARRIERS);
    if needed > allowed.descriptors && !spread() {
        let remedy = match allowed.privileged {
            true => format!("sysctl -w fs.nr_open={needed}"),
            false => format!("ulimit -n {needed}, as root"),
        };
        return Err(format!(
            "{} writers with {} files each need {needed} descriptors, and one process may have {}; raise the limit \
             ({remedy}), set reopen = true, or lower writers or files",
            appenders.writers, appenders.files, allowed.descriptors
        ));
    }
    if of_all > allowed.files {
        return Err(format!(
            "{} writers with {} files each need {of_all} open files, and the system has {} left; raise it (sysctl -w \
             fs.file-max=N), set reopen = true, or lower writers or files",
            appenders.writers, appenders.files, allowed.files
        ));
    }
    judge_processes(appenders, allowed)
}

/// Whether the processes of the work can be had here: all that a guest whose processes are this machine's meets.
///
/// # Errors
/// One sentence that names the limit and how to raise it.
pub fn check_processes(appenders: &Appenders) -> Result<(), String> {
    judge_processes(appenders, &allowed())
}

fn judge_processes(appenders: &Appenders, allowed: &Allowed) -> Result<(), String> {
    let processes = appenders.processes();
    if appenders.method == AppendersMethod::Processes && processes + PROCESS_RESERVE > allowed.processes {
        return Err(format!(
            "{processes} processes are needed, and {} are left to be had ({}); raise that limit, set method = \
             \"multiplexed\", or lower writers",
            allowed.processes.saturating_sub(PROCESS_RESERVE),
            allowed.process_limit
        ));
    }
    Ok(())
}

fn allowed() -> Allowed {
    let privileged = may_raise();
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let most = number_in("/proc/sys/fs/nr_open", 0).unwrap_or(u64::MAX);
    let files = number_in("/proc/sys/fs/file-max", 0).unwrap_or(u64::MAX);
    let open = number_in("/proc/sys/fs/file-nr", 0).unwrap_or(0);
    let (processes, process_limit) = processes_left(rustix::process::geteuid().is_root());
    Allowed {
        // Only a privileged process may raise its hard limit.
        descriptors: if privileged { hard.max(most) } else { hard },
        privileged,
        files: files.saturating_sub(open),
        processes,
        process_limit,
    }
}

/// Whether this process has CAP_SYS_RESOURCE (capabilities(7)): root in a container often has not.
fn may_raise() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & (1 << 24) != 0)
}

/// Processes that are still to be had, and by which limit.
fn processes_left(privileged: bool) -> (u64, &'static str) {
    // `running/all` in the fourth field (proc_loadavg(5)).
    let all = std::fs::read_to_string("/proc/loadavg").ok();
    let all = all.and_then(|text| text.split_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok()).unwrap_or(0);
    let mut left = vec![
        (number_in("/proc/sys/kernel/pid_max", 0).map(|most| most.saturating_sub(all)), "kernel.pid_max"),
        (number_in("/proc/sys/kernel/threads-max", 0).map(|most| most.saturating_sub(all)), "kernel.threads-max"),
    ];
    if !privileged {
        left.push((getrlimit(Resource::Nproc).current.map(|most| most.saturating_sub(all)), "ulimit -u"));
    }
    if let Some((most, now)) = own_group() {
        left.push((Some(most.saturating_sub(now)), "pids.max of the control group"));
    }
    let known = left.into_iter().filter_map(|(left, limit)| Some((left?, limit)));
    known.min_by_key(|(left, _)| *left).unwrap_or((u64::MAX, "no limit is known"))
}

/// `pids.max` and `pids.current` of this process's control group, where it has such a limit.
fn own_group() -> Option<(u64, u64)> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let folder = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        match controllers {
            "" => Some(Path::new("/sys/fs/cgroup").join(path)),
            some if some.split(',').any(|name| name == "pids") => Some(Path::new("/sys/fs/cgroup/pids").join(path)),
            _ => None,
        }
    })?;
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // `max` is no number: there is no limit.
    Some((read("pids.max")?, read("pids.current")?))
}

fn number_in(path: &str, field: usize) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.split_whitespace().nth(field)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Allowed = Allowed {
        descriptors: 1 << 20,
        privileged: true,
        files: 1 << 24,
        processes: 1 << 20,
        process_limit: "kernel.pid_max",
    };

    fn appenders(text: &str) -> Appenders {
        toml::from_str(&format!("writers = 20000\nperiod_seconds = 1\nseconds = 1\n{text}")).unwrap()
    }

    #[test]
    fn what_is_short_is_named_with_what_is_needed_and_how_to_raise_it() {
        assert_eq!(judge(&appenders(""), &PLENTY), Ok(()));
        let said = |text: &str, allowed: Allowed| judge(&appenders(text), &allowed).unwrap_err();
        let few = Allowed { descriptors: 300, ..PLENTY };
        let root = said("", few);
        assert!(root.contains("80256 descriptors") && root.contains("sysctl -w fs.nr_open=80256"), "{root}");
        let user = said("", Allowed { privileged: false, ..few });
        assert!(user.contains("ulimit -n 80256"), "{user}");
        assert_eq!(judge(&appenders("reopen = true"), &few), Ok(()), "each is open for a moment");
        let full = said("", Allowed { files: 79_999, ..PLENTY });
        assert!(
            full.contains("80000 open files") && full.contains("79999 left") && full.contains("fs.file-max"),
            "{full}"
        );
        let processes = said("method = \"processes\"", Allowed { processes: 20_000, ..PLENTY });
        assert!(processes.contains("20000 processes") && processes.contains("kernel.pid_max"), "{processes}");
        assert_eq!(judge(&appenders("method = \"processes\""), &few), Ok(()), "each has four descriptors");
    }

    #[test]
    fn writers_become_processes_where_one_may_not_have_all_files_open() {
        let with = |text: &str, descriptors| carriers(&appenders(text), &Allowed { descriptors, ..PLENTY });
        assert_eq!(with("", 1 << 20), None);
        assert_eq!(with("", 80_256), None);
        assert_eq!(with("", 80_255), Some(8), "as many as there were threads");
        assert_eq!(with("threads = 2", 20_000), Some(5));
        assert_eq!(with("threads = 2", 1024), Some(105), "of 192 writers each");
        assert_eq!(judge(&appenders("threads = 2"), &Allowed { descriptors: 1024, ..PLENTY }), Ok(()));
        assert_eq!(with("reopen = true", 300), None);
        assert_eq!(with("method = \"processes\"", 300), Some(20_000));
    }

    #[test]
    fn this_machine_allows_something() {
        let allowed = allowed();
        assert!(allowed.descriptors >= 256 && allowed.files > 0 && allowed.processes > 0, "{allowed:?}");
    }
}
