//! Workers as processes and as threads.

use super::super::{SharedMemory, Signals};
use super::*;
use crate::clock::Clock;
use rustix::process::{Signal, kill_process};
use std::sync::Arc;
use std::time::Duration;

alone_tests!(
    a_worker_sends_its_outcome_whatever_it_is,
    a_worker_that_fails_or_panics_says_so,
    a_process_that_is_given_up_ends,
    a_host_that_is_killed_is_told,
);

type Told = Vec<u64>;

const ALL: [Kin; 3] = [Kin::Processes, Kin::Hosted, Kin::Threads];

fn start(kin: Kin, duty: Duty<Told>) -> WorkerHandle<Told> {
    WorkerHandle::start(kin, "w", vec![duty], &AtomicBool::new(false)).unwrap().remove(0)
}

fn wait_for(handle: WorkerHandle<Told>) -> Result<Told, EngineError> {
    let mut handles = [Some(handle)];
    loop {
        if let Some((_, outcome)) = WorkerHandle::listen(&mut handles).unwrap().pop() {
            return outcome;
        }
    }
}

fn pid_of(handle: &WorkerHandle<Told>) -> rustix::process::Pid {
    let Body::Process(process) = &handle.body else { panic!("a process was asked for") };
    process.pid
}

#[test]
fn a_worker_sends_its_outcome_whatever_it_is() {
    if crate::alone::elsewhere("a_worker_sends_its_outcome_whatever_it_is") {
        return;
    }
    for kin in ALL {
        let board = Arc::new(SharedMemory::<Signals>::new(2).unwrap());
        let seen = board.clone();
        let duty: Duty<Told> = Box::new(move || {
            if !seen[1].wait_to_begin(Clock::kernel()) {
                return Err(EngineError::Interrupted);
            }
            Ok(vec![7, 1 << 60])
        });
        let handle = start(kin, duty);
        while board[1].ready.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        board[1].begin_at.store(1, Ordering::Release);
        assert_eq!(wait_for(handle).unwrap(), [7, 1 << 60]);
    }
}

#[test]
fn a_worker_that_fails_or_panics_says_so() {
    if crate::alone::elsewhere("a_worker_that_fails_or_panics_says_so") {
        return;
    }
    for kin in ALL {
        let full: Duty<Told> = Box::new(|| Err(EngineError::file("write", "/x", Errno::NOSPC)));
        let error = wait_for(start(kin, full)).unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENOSPC));
        assert!(error.to_string().contains("/x"), "{error}");
        let panics: Duty<Told> = Box::new(|| panic!("on purpose"));
        let error = wait_for(start(kin, panics)).unwrap_err();
        assert!(error.to_string().contains("failed inside"), "{error}");
    }
}

fn endless(kin: Kin, count: usize) -> Vec<WorkerHandle<Told>> {
    let duty = |_| -> Duty<Told> {
        Box::new(|| {
            std::thread::sleep(Duration::from_secs(600));
            Ok(Told::default())
        })
    };
    WorkerHandle::start(kin, "w", (0..count).map(duty).collect(), &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_process_that_is_given_up_ends() {
    if crate::alone::elsewhere("a_process_that_is_given_up_ends") {
        return;
    }
    for (kin, count) in [(Kin::Processes, 1), (Kin::Hosted, 3)] {
        let handles = endless(kin, count);
        let pid = pid_of(&handles[0]);
        drop(handles);
        assert_eq!(rustix::process::test_kill_process(pid), Err(Errno::SRCH));
    }
}

#[test]
fn a_host_that_is_killed_is_told() {
    if crate::alone::elsewhere("a_host_that_is_killed_is_told") {
        return;
    }
    let mut handles: Vec<_> = endless(Kin::Hosted, 3).into_iter().map(Some).collect();
    kill_process(pid_of(handles[0].as_ref().unwrap()), Signal::KILL).unwrap();
    let mut said = Vec::new();
    while said.len() < 3 {
        let ended = WorkerHandle::listen(&mut handles).unwrap();
        said.extend(ended.into_iter().map(|(_, outcome)| outcome.unwrap_err().to_string()));
    }
    assert!(said.iter().all(|said| said.contains("killed by signal 9")), "{said:?}");
}
