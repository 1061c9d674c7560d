//! Profiles of this machine's kernel: every thread's time is told whole, and known work is found where it is done.

use model::profile::{Activity, Profile, ThreadRole};
use profile::{Capture, LaneProcesses, Profiler, with_descendants};
use std::io::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Perf events of all CPUs: one test at a time.
static ONE: Mutex<()> = Mutex::new(());

/// A profile of this process while it works for so long; `None`, and said, where this machine allows none.
fn profiled(seconds: f64, mut work: impl FnMut() -> u64) -> Option<Profile> {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut profiler = match Profiler::open() {
        Ok(profiler) => profiler,
        Err(error) => {
            println!("skipped: {error}");
            return None;
        }
    };
    profiler.start().unwrap();
    let begun = Instant::now();
    let mut operations = 0;
    while begun.elapsed().as_secs_f64() < seconds {
        operations += work();
    }
    let window = profiler.stop((0.0, begun.elapsed().as_secs_f64()), &[]).unwrap();
    let agent = with_descendants(std::process::id());
    let mut capture = Capture::default();
    capture.add(&window, profiler.kernel(), &LaneProcesses { agent, ..LaneProcesses::default() }, None);
    Some(capture.profile(("w", "l", "g"), operations, operations as f64 / seconds))
}

/// Seconds of callers in stacks that hold a function.
fn seconds_in(profile: &Profile, activity: Activity, function: &str) -> f64 {
    let of = profile.stacks.iter().filter(|stack| stack.role == ThreadRole::Caller && stack.activity == activity);
    of.filter(|stack| profile.names(stack).any(|name| name == function)).map(|stack| stack.seconds).sum()
}

#[test]
fn a_thread_that_sleeps_and_one_that_writes_are_told_apart() {
    let mut file = tempfile::tempfile_in("/dev/shm").unwrap();
    let block = vec![1; 1 << 20];
    let found = profiled(0.5, || {
        file.write_all(&block).unwrap();
        file.set_len(0).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        1
    });
    let Some(profile) = found else { return };
    assert!(
        profile.samples > 50 && profile.lost_events == 0,
        "{} samples, {} lost",
        profile.samples,
        profile.lost_events
    );
    let callers = profile.time_of(ThreadRole::Caller);
    // Threads of the harness only wait for the test, and are none.
    let told = callers.cpu_seconds + callers.runnable_seconds + callers.waiting_seconds;
    assert!(
        callers.threads >= 1 && (told / f64::from(callers.threads) - profile.window_seconds).abs() < 0.05,
        "{callers:?}"
    );
    let writing = seconds_in(&profile, Activity::Cpu, "vfs_write");
    assert!(writing > 0.3 * callers.cpu_seconds, "{writing} of {callers:?}\n{profile:#?}");
}

#[test]
fn a_wait_has_the_stack_that_it_waits_in() {
    // Poll and sleep are a thread's own choice; waiting for a lock of a file is none.
    let file = tempfile::NamedTempFile::new().unwrap();
    let held = file.reopen().unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let wants = file.reopen().unwrap();
    let mut held = Some(held);
    let mut releasers = Vec::new();
    let found = profiled(0.4, || {
        releasers.extend(held.take().map(|held| {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                drop(held);
            })
        }));
        rustix::fs::flock(&wants, rustix::fs::FlockOperation::LockExclusive).unwrap();
        rustix::fs::flock(&wants, rustix::fs::FlockOperation::Unlock).unwrap();
        1
    });
    releasers.into_iter().for_each(|releaser| releaser.join().unwrap());
    let Some(profile) = found else { return };
    let waited = seconds_in(&profile, Activity::Wait, "flock_lock_inode_wait").max(seconds_in(
        &profile,
        Activity::Wait,
        "locks_lock_inode_wait",
    ));
    assert!(waited > 0.1, "{waited}: {profile:#?}");
}

#[test]
fn nothing_of_it_stays() {
    let before = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    // Other tests open files meanwhile.
    let is_events = |path: std::path::PathBuf| {
        std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
    };
    let descriptors =
        || std::fs::read_dir("/proc/self/fd").unwrap().flatten().filter(|entry| is_events(entry.path())).count();
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let open = descriptors();
    match Profiler::open() {
        Ok(mut profiler) => {
            assert!(profiler.stop((0.0, 1.0), &[]).is_err(), "it did not look");
            assert!(descriptors() > open, "events are descriptors of this process");
            profiler.start().unwrap();
            assert!(profiler.stop((0.0, 0.01), &["../../etc", "nodisk"]).is_ok());
        }
        Err(error) => println!("skipped: {error}"),
    }
    assert_eq!(descriptors(), open);
    assert_eq!(before, std::fs::read_to_string("/proc/self/mountinfo").unwrap());
}

#[test]
fn what_a_program_does_outside_of_the_kernel_is_its_own() {
    let mut sum = 0u64;
    let found = profiled(0.4, || {
        for at in 0..1_000_000u64 {
            sum = std::hint::black_box(sum.wrapping_mul(3).wrapping_add(at));
        }
        1
    });
    let Some(profile) = found else { return };
    let own = profile.stacks.iter().filter(|of| of.role == ThreadRole::Caller && of.activity == Activity::Cpu);
    let own: f64 = own.filter(|of| of.frames.is_empty()).map(|of| of.seconds).sum();
    let callers = profile.time_of(ThreadRole::Caller);
    assert!(own > 0.8 * callers.cpu_seconds && callers.cpu_seconds > 0.05, "{own} of {callers:?}: {sum}");
    assert_eq!(profile.lost_events, 0);
}

/// Seconds that this thread was on a CPU, by its own clock.
fn own_cpu() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Coming to a CPU that was idle is seen on each of them: a kernel may lose what idle threads tell.
#[test]
fn time_on_a_cpu_is_what_the_threads_own_clock_says() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cpus: Vec<usize> = (0..64).filter(|cpu| allowed.is_set(*cpu)).take(4).collect();
    for cpu in cpus {
        let found = std::thread::spawn(move || {
            let mut only = rustix::thread::CpuSet::new();
            only.set(cpu);
            rustix::thread::sched_setaffinity(None, &only).unwrap();
            let (mut begun, mut ended) = (None, 0.0);
            let found = profiled(0.4, || {
                begun.get_or_insert_with(own_cpu);
                let until = own_cpu() + 0.001;
                while own_cpu() < until {}
                std::thread::sleep(Duration::from_millis(1));
                ended = own_cpu();
                1
            });
            found.map(|profile| (ended - begun.unwrap_or(ended), profile))
        });
        let Some((own, profile)) = found.join().unwrap() else { return };
        let told = profile.time_of(ThreadRole::Caller).cpu_seconds;
        assert!(told > 0.8 * own && told < 1.1 * own + 0.02, "CPU {cpu}: {told} of {own} s");
    }
}
