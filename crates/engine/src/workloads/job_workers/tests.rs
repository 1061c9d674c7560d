//! Workers of job files, as processes and as threads.

use super::*;
use std::sync::Arc;

alone_tests!(
    a_worker_sends_its_outcome_whatever_it_is,
    a_worker_that_fails_or_panics_says_so,
    a_process_that_is_given_up_ends,
    a_host_that_is_killed_is_told_and_one_that_is_given_up_ends,
);

const ALL: [Kin; 3] = [Kin::Processes, Kin::Hosted, Kin::Threads];

fn start(kin: Kin, duty: Duty) -> JobWorker {
    JobWorker::start(kin, "w", vec![duty], &AtomicBool::new(false)).unwrap().remove(0)
}

fn wait_for(hand: JobWorker) -> Result<Outcome, EngineError> {
    let mut hands = [Some(hand)];
    loop {
        if let Some((_, outcome)) = listen(&mut hands).unwrap().pop() {
            return outcome;
        }
    }
}

#[test]
fn a_worker_sends_its_outcome_whatever_it_is() {
    if crate::alone::elsewhere("a_worker_sends_its_outcome_whatever_it_is") {
        return;
    }
    for kin in ALL {
        let board = Arc::new(JobSignals::new(2).unwrap());
        let seen = board.clone();
        let duty: Duty = Box::new(move || {
            if !seen[1].wait_to_begin(Clock::kernel()) {
                return Err(EngineError::Interrupted);
            }
            let mut counts: [Counts; 4] = Default::default();
            counts[1].operations = 3;
            counts[1].samples = vec![1, 3];
            (0..3).for_each(|_| counts[1].latencies.record(5000));
            let mut outcome = Outcome { elapsed_ns: 7, ..Outcome::default() };
            outcome.count(&counts);
            Ok(outcome)
        });
        let hand = start(kin, duty);
        while board[1].ready.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        board[1].begin_at.store(1, Ordering::Release);
        let outcome = wait_for(hand).unwrap();
        let counts = outcome.counts(Tallied::Write).unwrap();
        assert_eq!((outcome.elapsed_ns, counts.operations, counts.latencies.operations()), (7, 3, 3));
        assert_eq!(counts.samples, [1, 3]);
        assert_eq!(outcome.counts(Tallied::Read).unwrap().operations, 0);
    }
}

#[test]
fn a_worker_that_fails_or_panics_says_so() {
    if crate::alone::elsewhere("a_worker_that_fails_or_panics_says_so") {
        return;
    }
    for kin in ALL {
        let full: Duty = Box::new(|| Err(EngineError::file("write", "/x", Errno::NOSPC)));
        let error = wait_for(start(kin, full)).unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENOSPC));
        assert!(error.to_string().contains("/x"), "{error}");
        let panics: Duty = Box::new(|| panic!("on purpose"));
        let error = wait_for(start(kin, panics)).unwrap_err();
        assert!(error.to_string().contains("failed inside"), "{error}");
    }
}

#[test]
fn a_process_that_is_given_up_ends() {
    if crate::alone::elsewhere("a_process_that_is_given_up_ends") {
        return;
    }
    let duty: Duty = Box::new(|| {
        std::thread::sleep(Duration::from_secs(600));
        Ok(Outcome::default())
    });
    let hand = start(Kin::Processes, duty);
    let Body::Process(pid) = hand.body else { panic!("a process was asked for") };
    drop(hand);
    assert_eq!(rustix::process::test_kill_process(pid), Err(Errno::SRCH));
}
#[test]
fn a_host_that_is_killed_is_told_and_one_that_is_given_up_ends() {
    if crate::alone::elsewhere("a_host_that_is_killed_is_told_and_one_that_is_given_up_ends") {
        return;
    }
    let duties = || {
        let endless = |_| -> Duty {
            Box::new(|| {
                std::thread::sleep(Duration::from_secs(600));
                Ok(Outcome::default())
            })
        };
        (0..3).map(endless).collect::<Vec<_>>()
    };
    let host = || JobWorker::start(Kin::Hosted, "w", duties(), &AtomicBool::new(false)).unwrap();
    let mut hands: Vec<_> = host().into_iter().map(Some).collect();
    let pid = match &hands[0].as_ref().unwrap().body {
        Body::Hosted(host) => host.pid,
        _ => panic!("a host was asked for"),
    };
    kill_process(pid, Signal::KILL).unwrap();
    let mut said = Vec::new();
    while said.len() < 3 {
        said.extend(listen(&mut hands).unwrap().into_iter().map(|(_, outcome)| outcome.unwrap_err().to_string()));
    }
    assert!(said.iter().all(|said| said.contains("killed by signal 9")), "{said:?}");
    let hands = host();
    let Body::Hosted(host) = &hands[0].body else { panic!("a host was asked for") };
    let pid = host.pid;
    drop(hands);
    assert_eq!(rustix::process::test_kill_process(pid), Err(Errno::SRCH));
}
