//! A race over the ranks of an MPI job: rank 0 asks, every rank has an agent that works.
//!
//! MPI itself is in a program of its own, `fairlane-mpi`, which carries [`link`]'s lines and calls MPI-IO for agents. On each rank
//! [`host`] keeps the agents; on rank 0 [`job`] asks all of them, [`sharing`] says whose files each works
//! on, and [`combine`] makes one answer of theirs. [`ladder`] has work done by growing numbers of them, and [`launcher`] knows
//! what started them.

pub mod check;
mod combine;
pub mod host;
pub mod job;
pub mod ladder;
mod launcher;
pub mod link;
pub mod message;
mod progress;
pub mod sharing;
mod waits;

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a filesystem may keep everything of a rank waiting before it counts as hung: with what ends a round around
/// it, less than a minute.
pub(crate) const MOST_SILENCE: Duration = Duration::from_secs(45);

/// The folder of a rank's own in a lane; `None`: the one that all ranks share.
fn folder_of(rank: Option<u32>, lane: &Path) -> PathBuf {
    lane.join(rank.map_or_else(|| "shared".to_owned(), |rank| format!("rank{rank:05}")))
}

/// Does something that may hang in the kernel in a thread of its own; `None`: it has not ended in time, and the thread is
/// given up.
fn within<T: Send + 'static>(most: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, answer) = channel();
    let started = std::thread::Builder::new().name("ranks-io".to_owned()).spawn(move || sender.send(work()));
    started.ok().and_then(|_| answer.recv_timeout(most).ok())
}

/// That rank 0 is bound to some of its machine's CPUs, which many MPIs do unasked; `None`: it may use all of them.
pub fn bound() -> Option<String> {
    let allowed = rustix::thread::sched_getaffinity(None).ok()?.count();
    bound_in_words(allowed, sampler::online_cpus())
}

fn bound_in_words(allowed: u32, online: u32) -> Option<String> {
    (allowed < online).then(|| {
        format!(
            "rank 0 is bound to {allowed} of its node's {online} CPUs, which all threads of its agent share; \
             mpirun --bind-to none binds no rank"
        )
    })
}

/// CLOCK_MONOTONIC of this machine in nanoseconds: one clock for all processes on it.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_given_up_and_what_ends_is_answered() {
        let (held, hold) = channel::<()>();
        assert_eq!(within(Duration::from_millis(20), move || hold.recv()), None);
        drop(held);
        assert_eq!(within(MOST_SILENCE, || 7), Some(7));
    }

    #[test]
    fn a_rank_that_may_not_use_all_cpus_says_so() {
        assert_eq!(bound_in_words(8, 8), None);
        assert!(bound_in_words(1, 8).is_some_and(|said| said.starts_with("rank 0 is bound to 1 of its node's 8 CPUs")));
    }

    #[test]
    fn folders_of_ranks_lie_in_the_lane_in_their_order() {
        let lane = Path::new("/x/lane01");
        assert_eq!(folder_of(Some(7), lane), Path::new("/x/lane01/rank00007"));
        assert!(folder_of(Some(9), lane) < folder_of(Some(10), lane));
        assert_eq!(folder_of(None, lane), Path::new("/x/lane01/shared"));
    }
}
