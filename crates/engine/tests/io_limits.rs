//! I/O engines at their limits: deep queues, large memory, flags, refusals, and the system calls that
//! they make. Some work is done in forks, which hold every file open that this process has: tests
//! that unmount are elsewhere.

#[path = "engines/child.rs"]
mod child;
#[macro_use]
#[path = "common/alone.rs"]
mod alone;
mod common;
#[path = "engines/rig.rs"]
mod rig;

use child::{in_child, mark, system_calls};
use common::*;
use engine::io::{self, Action, BUS_ERROR_EXIT_CODE, OperationFlags};
use rig::*;
use std::path::Path;

alone_tests!(
    a_queue_of_65536_works_and_a_deeper_one_is_refused,
    memory_above_one_gibibyte_lies_in_several_fixed_buffers,
    a_memlock_limit_costs_the_fixed_buffers_and_is_noted,
    uncached_reads_leave_the_page_cache_empty_or_are_refused_by_name,
    polled_completions_work_or_say_that_the_device_cannot,
    engines_refuse_what_they_cannot_do_with_the_reason,
    engines_that_a_seccomp_filter_forbids_are_not_available,
    a_mapped_file_that_is_cut_ends_the_process_with_a_sentence,
    no_engine_makes_a_system_call_beyond_the_measured_ones,
    polling_costs_no_system_call_while_nothing_has_completed,
    flags_cost_no_further_system_call,
);

#[test]
fn a_queue_of_65536_works_and_a_deeper_one_is_refused() {
    if alone::elsewhere("a_queue_of_65536_works_and_a_deeper_one_is_refused") {
        return;
    }
    let folder = in_memory();
    let path = folder.path().join("f");
    let deep = case("io_uring", 65_536);
    let mut rig = Rig::try_open(deep, vec![Some(file(&path, false))], 512).unwrap();
    for chunk in 0..deep.depth {
        rig.write(chunk, 0, u64::from(chunk) * 512, 512, 4);
    }
    assert!(rig.reap(deep.depth).iter().all(|result| *result == 512));
    assert!(std::fs::read(&path).unwrap() == told(0, 512 << 16, 4));
    let said = refusal(case("io_uring", 65_537), &path);
    assert!(said.contains("at most 65536"), "{said}");
}

#[test]
fn memory_above_one_gibibyte_lies_in_several_fixed_buffers() {
    if alone::elsewhere("memory_above_one_gibibyte_lies_in_several_fixed_buffers") {
        return;
    }
    if !is_root("a gibibyte of locked memory") {
        return;
    }
    let folder = in_memory();
    let path = folder.path().join("f");
    let mut rig =
        Rig::try_open(case("io_uring", 17), vec![Some(filled(&path, 64 * MIB, 0x5a, false))], 64 * MIB).unwrap();
    assert!(rig.queue.notes().is_empty(), "{:?}", rig.queue.notes());
    for chunk in [0, 15, 16] {
        rig.queue(Action::Read, chunk, 0, 0, 64 << 20);
        rig.completions.clear();
        rig.queue.reap(1, &mut rig.completions).unwrap();
        assert_eq!((rig.completions[0].chunk, rig.completions[0].result), (chunk, 64 << 20));
        assert!(rig.buffers.bytes(chunk).iter().all(|byte| *byte == 0x5a), "chunk {chunk}");
    }
}

#[test]
fn a_memlock_limit_costs_the_fixed_buffers_and_is_noted() {
    if alone::elsewhere("a_memlock_limit_costs_the_fixed_buffers_and_is_noted") {
        return;
    }
    if !is_root("becoming somebody else") {
        return;
    }
    let folder = in_memory();
    let open = filled(&folder.path().join("f"), BLOCK, 0x66, false);
    let (code, said) = in_child(|| {
        let limit = libc::rlimit { rlim_cur: 64 << 10, rlim_max: 64 << 10 };
        // SAFETY: plain calls; the child is a process of its own.
        unsafe {
            assert_eq!(libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit), 0);
            assert_eq!(libc::setresuid(61_234, 61_234, 61_234), 0);
        }
        let mut rig = Rig::open(case("io_uring", 4), vec![Some(open)]);
        let notes = rig.queue.notes().join("; ");
        assert!(notes.contains("without fixed buffers") && notes.contains("ulimit -l"), "{notes}");
        assert_eq!(rig.one(Action::Read, 0, 0, BLOCK as u32), BLOCK as i32);
        assert!(rig.buffers.bytes(0).iter().all(|byte| *byte == 0x66));
    });
    assert_eq!(code, 0, "{said}");
}

/// Of the first `bytes` of a file, how many pages the page cache holds.
fn cached_pages(path: &Path, bytes: usize) -> usize {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let open = file(path, false);
    let mut pages = vec![0u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping that is only asked about, with room for one byte per page, then unmapped.
    unsafe {
        let start = mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, &*open, 0).unwrap();
        assert_eq!(libc::mincore(start, bytes, pages.as_mut_ptr()), 0);
        munmap(start, bytes).unwrap();
    }
    pages.iter().filter(|page| **page & 1 == 1).count()
}

#[test]
fn uncached_reads_leave_the_page_cache_empty_or_are_refused_by_name() {
    if alone::elsewhere("uncached_reads_leave_the_page_cache_empty_or_are_refused_by_name") {
        return;
    }
    let folder = on_disk();
    let path = folder.path().join("f");
    for engine in ["sync", "io_uring", "libaio"] {
        let open = filled(&path, MIB, 0x21, false);
        rustix::fs::fsync(&open).unwrap();
        rustix::fs::fadvise(&open, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let case = Case { flags: UNCACHED, ..case(engine, 1) };
        let mut rig = match Rig::try_open(case, vec![Some(open)], BLOCK) {
            Ok(rig) => rig,
            Err(error) => {
                assert!(error.to_string().contains("RWF_DONTCACHE"), "{error}");
                eprintln!("skipped: {error}");
                continue;
            }
        };
        for block in 0..MIB / BLOCK {
            assert_eq!(rig.one(Action::Read, 0, block * BLOCK, BLOCK as u32), BLOCK as i32);
            assert!(rig.buffers.bytes(0).iter().all(|byte| *byte == 0x21));
        }
        let left = cached_pages(&path, MIB as usize);
        assert!(left < 64, "{engine}: {left} of 256 pages are cached");
        rig.write(0, 0, 0, BLOCK as u32, 8);
        assert_eq!(rig.reap(1), [BLOCK as i32]);
        assert!(std::fs::read(&path).unwrap()[..BLOCK as usize] == told(0, BLOCK as usize, 8));
        drop(rig);
        // The page cache itself cannot go without it: memory has nowhere else.
        let shared = in_memory();
        let path = shared.path().join("f");
        filled(&path, BLOCK, 0, false);
        let said = refusal(case, &path);
        assert!(said.contains("RWF_DONTCACHE") && said.contains("uncached = false"), "{said}");
        let mut rig = Rig::open(case, vec![None]);
        let said = rig.queue.set_file(0, Some(file(&path, false))).unwrap_err().to_string();
        assert!(said.contains("RWF_DONTCACHE"), "{said}");
        let only_writes = rustix::fs::open(&path, rustix::fs::OFlags::WRONLY, rustix::fs::Mode::empty()).unwrap();
        let said = Rig::try_open(case, vec![Some(only_writes.into())], BLOCK).err().unwrap().to_string();
        assert!(said.contains("RWF_DONTCACHE"), "{said}");
    }
    assert!(UNCACHED.remedy(libc::EOPNOTSUPP).unwrap().contains("RWF_DONTCACHE"));
    assert!(OperationFlags::default().remedy(libc::EOPNOTSUPP).is_none() && UNCACHED.remedy(libc::EIO).is_none());
}

#[test]
fn polled_completions_work_or_say_that_the_device_cannot() {
    if alone::elsewhere("polled_completions_work_or_say_that_the_device_cannot") {
        return;
    }
    let folder = on_disk();
    let path = folder.path().join("f");
    for engine in ["sync", "io_uring"] {
        filled(&path, 32 * BLOCK, 0x19, true);
        let case = Case { flags: HIPRI, direct: true, ..case(engine, 1) };
        let mut rig = Rig::open(case, vec![Some(file(&path, true))]);
        match rig.one(Action::Read, 0, 0, BLOCK as u32) {
            result if result == -libc::EOPNOTSUPP => assert!(HIPRI.remedy(-result).unwrap().contains("RWF_HIPRI")),
            result => {
                assert_eq!(result, BLOCK as i32);
                assert!(rig.buffers.bytes(0).iter().all(|byte| *byte == 0x19));
            }
        }
        assert_eq!(rig.one(Action::Fsync, 0, 0, 0), 0);
        assert_eq!(rig.one(Action::Trim, 0, 0, BLOCK as u32), 0);
    }
    let said = refusal(Case { flags: HIPRI, ..case("io_uring", 4) }, &path);
    assert!(said.contains("O_DIRECT") && said.contains("hipri = false"), "{said}");
    let said = refusal(Case { flags: HIPRI, ..case("libaio", 4) }, &path);
    assert!(said.contains("hipri = false"), "{said}");
}

#[test]
fn engines_refuse_what_they_cannot_do_with_the_reason() {
    if alone::elsewhere("engines_refuse_what_they_cannot_do_with_the_reason") {
        return;
    }
    let folder = on_disk();
    let path = folder.path().join("f");
    filled(&path, BLOCK, 0, false);
    for engine in ["sync", "mmap"] {
        assert!(refusal(case(engine, 2), &path).contains("iodepth = 1"));
    }
    for engine in ["sync", "mmap", "libaio"] {
        let said = refusal(Case { flags: SQ_THREAD, ..case(engine, 1) }, &path);
        assert!(said.contains("sqthread_poll = false"), "{said}");
    }
    for flags in [UNCACHED, DSYNC, HIPRI] {
        assert!(refusal(Case { flags, ..case("mmap", 1) }, &path).contains("carry no flags"));
    }
    let said = refusal(Case { direct: true, ..case("mmap", 1) }, &path);
    assert!(said.contains("direct = false"), "{said}");
    let only_writes = rustix::fs::open(&path, rustix::fs::OFlags::WRONLY, rustix::fs::Mode::empty()).unwrap();
    let said = Rig::try_open(case("mmap", 1), vec![Some(only_writes.into())], BLOCK).err().unwrap().to_string();
    assert!(said.contains("read and write"), "{said}");
    let most: u32 = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap().trim().parse().unwrap();
    let deep = Case { engine: "libaio", depth: most + 1, direct: false, flags: PLAIN };
    let buffers = engine::buffers::Buffers::for_reads(1, 1).unwrap();
    let setup = io::Setup {
        files: vec![None],
        writes: true,
        depth: deep.depth,
        memory: buffers.memory().clone(),
        flags: PLAIN,
    };
    let said = (io::find("libaio").unwrap().open)(setup).err().unwrap().to_string();
    assert!(said.contains("/proc/sys/fs/aio-max-nr"), "{said}");
}

/// A filter that answers one system call of this thread with an errno.
fn forbid(call: libc::c_long, errno: i32) {
    let statement = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut program = [
        statement((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0, 0),
        statement((libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, call as u32, 0, 1),
        statement((libc::BPF_RET | libc::BPF_K) as u16, libc::SECCOMP_RET_ERRNO | errno as u32, 0, 0),
        statement((libc::BPF_RET | libc::BPF_K) as u16, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program outlives the call, which copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter), 0);
    }
}

#[test]
fn engines_that_a_seccomp_filter_forbids_are_not_available() {
    if alone::elsewhere("engines_that_a_seccomp_filter_forbids_are_not_available") {
        return;
    }
    for (engine, call) in [("io_uring", libc::SYS_io_uring_setup), ("libaio", libc::SYS_io_setup)] {
        for errno in [libc::EPERM, libc::ENOSYS] {
            let said = std::thread::spawn(move || {
                forbid(call, errno);
                assert!(!io::available_names().contains(&engine.to_owned()));
                io::find(engine).err().map(|error| error.to_string()).unwrap()
            });
            let said = said.join().unwrap();
            assert!(said.contains("does not work here") && said.contains("seccomp"), "{said}");
        }
        assert!(io::available_names().contains(&engine.to_owned()));
    }
}

#[test]
fn a_mapped_file_that_is_cut_ends_the_process_with_a_sentence() {
    if alone::elsewhere("a_mapped_file_that_is_cut_ends_the_process_with_a_sentence") {
        return;
    }
    let folder = on_disk();
    let path = folder.path().join("f");
    filled(&path, 16 * BLOCK, 0, false);
    let (code, said) = in_child(|| {
        let mut rig = Rig::open(case("mmap", 1), vec![Some(file(&path, false))]);
        assert_eq!(rig.one(Action::Read, 0, 8 * BLOCK, BLOCK as u32), BLOCK as i32);
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(BLOCK).unwrap();
        rig.one(Action::Read, 0, 8 * BLOCK, BLOCK as u32);
    });
    assert_eq!(code, BUS_ERROR_EXIT_CODE, "{said}");
    assert!(said.contains("SIGBUS") && said.contains("ioengine = \"sync\""), "{said}");
}

/// The calls of ten batches of reads, then ten of writes.
fn calls_of(case: Case, path: &Path) -> Option<Vec<i64>> {
    let blocks = u64::from(case.depth);
    let open = filled(path, blocks * BLOCK, 0, case.direct);
    let calls = system_calls(|| {
        let mut rig = Rig::open(case, vec![Some(open)]);
        let mut batch = |action| {
            for chunk in 0..case.depth {
                rig.queue(action, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
            }
            rig.completions.clear();
            rig.queue.reap(case.depth, &mut rig.completions).unwrap();
            assert_eq!(rig.completions.len(), case.depth as usize);
        };
        batch(Action::Read);
        mark();
        [Action::Read, Action::Write].into_iter().for_each(|action| (0..10).for_each(|_| batch(action)));
        mark();
    });
    if calls.is_none() {
        eprintln!("skipped: tracing is forbidden here");
    }
    calls
}

fn count(calls: &[i64], number: i64) -> usize {
    calls.iter().filter(|call| **call == number).count()
}

#[test]
fn no_engine_makes_a_system_call_beyond_the_measured_ones() {
    if alone::elsewhere("no_engine_makes_a_system_call_beyond_the_measured_ones") {
        return;
    }
    for folder in [in_memory(), on_disk()] {
        for case in every_case().into_iter().chain([case("null", 1), case("null", 32)]) {
            let Some(calls) = calls_of(case, &folder.path().join("f")) else { return };
            let (enters, total) = (count(&calls, libc::SYS_io_uring_enter), calls.len());
            match case.engine {
                "sync" => {
                    assert_eq!(calls[..10], [libc::SYS_pread64; 10], "{case:?}");
                    assert_eq!(calls[10..], [libc::SYS_pwrite64; 10], "{case:?}");
                }
                "mmap" | "null" => assert!(calls.is_empty(), "{case:?}: {calls:?}"),
                // The thread takes what it sees; one call wakes it, one waits for it. Where it has lost
                // its CPU with the ring full, ours is offered.
                "io_uring" if case.flags.sqthread_poll => {
                    let yields = count(&calls, libc::SYS_sched_yield);
                    assert!(enters + yields == total && enters <= 40, "{case:?}: {calls:?}")
                }
                "io_uring" => assert!(enters == total && total == 20, "{case:?}: {calls:?}"),
                _ => {
                    let submits = count(&calls, libc::SYS_io_submit);
                    assert_eq!(submits, 20, "{case:?}: {calls:?}");
                    // Buffered operations are done when io_submit returns: the ring in memory has them.
                    let waits = count(&calls, libc::SYS_io_getevents);
                    assert!(
                        submits + waits == total && waits <= if case.direct { 20 } else { 0 },
                        "{case:?}: {calls:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn polling_costs_no_system_call_while_nothing_has_completed() {
    if alone::elsewhere("polling_costs_no_system_call_while_nothing_has_completed") {
        return;
    }
    let folder = in_memory();
    for case in
        [case("io_uring", 32), case("libaio", 32), case("null", 32), Case { flags: SQ_THREAD, ..case("io_uring", 32) }]
    {
        let open = filled(&folder.path().join("f"), BLOCK, 0, false);
        let calls = system_calls(|| {
            let mut rig = Rig::open(case, vec![Some(open)]);
            rig.one(Action::Read, 0, 0, BLOCK as u32);
            mark();
            rig.completions.clear();
            (0..1000).for_each(|_| rig.queue.poll(&mut rig.completions).unwrap());
            mark();
        });
        assert!(calls.is_none_or(|calls| calls.is_empty()), "{case:?}");
    }
}

#[test]
fn flags_cost_no_further_system_call() {
    if alone::elsewhere("flags_cost_no_further_system_call") {
        return;
    }
    let folder = on_disk();
    let case = Case { flags: DSYNC, ..case("sync", 1) };
    let Some(calls) = calls_of(case, &folder.path().join("f")) else { return };
    assert_eq!(calls[..10], [libc::SYS_pread64; 10]);
    assert_eq!(calls[10..], [libc::SYS_pwritev2; 10]);
}
