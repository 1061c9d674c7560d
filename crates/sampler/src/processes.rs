//! User time of the processes that are a lane's filesystem (FUSE): /proc/PID/stat (proc_pid_stat(5)).
//!
//! Without it their work would be taken for that of other programs.

use crate::source::{Source, fields, number};
use model::agent::FilesystemProcesses;

/// The processes to watch.
#[derive(Debug)]
pub(crate) struct Processes {
    stats: Vec<Source>,
    unknown: bool,
}

impl Processes {
    /// Opens their files; a process that is gone counts nothing from then on.
    pub(crate) fn open(of: &FilesystemProcesses) -> Self {
        let pids = match of {
            FilesystemProcesses::Known(pids) => pids.as_slice(),
            FilesystemProcesses::None | FilesystemProcesses::Unknown => &[],
        };
        let stats = pids.iter().map(|pid| Source::open(format!("/proc/{pid}/stat"), 512)).collect();
        Processes { stats, unknown: *of == FilesystemProcesses::Unknown }
    }

    /// Ticks of user time of all of them so far, and of children that they waited for.
    pub(crate) fn user_ticks(&mut self) -> u64 {
        self.stats.iter_mut().map(|stat| parse(stat.read_beginning())).sum()
    }

    /// Whether a filesystem runs in a process that nobody knows.
    pub(crate) fn unknown(&self) -> bool {
        self.unknown
    }
}

/// utime and cutime, fields 14 and 16; the name in field 2 may hold blanks and brackets.
fn parse(text: &[u8]) -> u64 {
    let Some(end_of_name) = text.iter().rposition(|byte| *byte == b')') else { return 0 };
    let mut rest = fields(&text[end_of_name + 1..]).skip(11);
    let (own, _system, children) = (rest.next(), rest.next(), rest.next());
    own.map_or(0, number) + children.map_or(0, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_time_is_that_of_the_process_and_of_its_ended_children() {
        let stat = b"42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 7 5 3 2 20 0 1 0 100 0 0";
        assert_eq!(parse(stat), 10);
        assert_eq!((parse(b""), parse(b"42 (cut")), (0, 0));
    }

    #[test]
    fn a_process_that_is_gone_counts_nothing_and_an_unknown_one_is_said_to_be() {
        let mut gone = Processes::open(&FilesystemProcesses::Known(vec![u32::MAX]));
        assert_eq!((gone.user_ticks(), gone.unknown()), (0, false));
        assert!(Processes::open(&FilesystemProcesses::Unknown).unknown());
        assert!(!Processes::open(&FilesystemProcesses::None).unknown());
    }
}
