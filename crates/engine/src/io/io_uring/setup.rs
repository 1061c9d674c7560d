//! Making a ring: the leanest that this kernel has, and why there is none.

use super::super::slots::{Slots, is_direct, path_of, probe};
use super::super::{OperationFlags, Setup};
use crate::buffers::Memory;
use crate::error::EngineError;
use io_uring::{IoUring, Probe, opcode};
use model::NoteKind;

/// Most operations in flight: the kernel's largest completion ring (IORING_MAX_CQ_ENTRIES).
const MOST_DEPTH: u32 = 65_536;
/// The kernel's largest submission ring (IORING_MAX_ENTRIES). A deeper queue is handed over in parts.
const MOST_ENTRIES: u32 = 32_768;
/// The kernel takes no single registered buffer above this.
const LARGEST_FIXED_BUFFER_BYTES: usize = 1 << 30;
/// Milliseconds without work after which the submission thread sleeps. Short, so that it does not
/// burn a processor while another lane is measured.
const SUBMISSION_THREAD_IDLE_MS: u32 = 10;

/// Whether this kernel lets us make a ring and knows the operations.
pub(in crate::io) fn available() -> Result<(), String> {
    let ring = IoUring::new(2).map_err(|error| {
        let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        refusal(error.raw_os_error().unwrap_or(libc::EIO), disabled.trim())
    })?;
    let mut probe = Probe::new();
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(|error| format!("the kernel is older than 5.6 and has no probe ({error})"))?;
    let needed = [
        opcode::Read::CODE,
        opcode::Write::CODE,
        opcode::Fsync::CODE,
        opcode::Fallocate::CODE,
        opcode::ReadFixed::CODE,
    ];
    if needed.iter().all(|code| probe.is_supported(*code)) {
        Ok(())
    } else {
        Err("the kernel's io_uring cannot read, write, sync and discard".to_owned())
    }
}

/// Why the kernel refused a ring; `disabled` is the value of the sysctl, empty where there is none.
fn refusal(errno: i32, disabled: &str) -> String {
    match (errno, disabled) {
        (libc::EPERM, "2") => "sysctl kernel.io_uring_disabled = 2 forbids it to everyone".to_owned(),
        (libc::EPERM, "1") => {
            "sysctl kernel.io_uring_disabled = 1 forbids it to all but the members of kernel.io_uring_group".to_owned()
        }
        (libc::EPERM, _) => "a seccomp filter, such as a container's, forbids it (EPERM)".to_owned(),
        (libc::ENOSYS, "") => {
            "the kernel is older than 5.1 or built without io_uring, or a seccomp filter hides it (ENOSYS)".to_owned()
        }
        (libc::ENOSYS, _) => "a seccomp filter, such as a container's, hides it (ENOSYS)".to_owned(),
        (libc::ENOMEM, _) => {
            "the memlock limit or free memory does not allow a ring (ENOMEM), raise ulimit -l".to_owned()
        }
        _ => format!("the kernel refuses a ring ({})", std::io::Error::from_raw_os_error(errno)),
    }
}

/// Refuses, before anything is made, what can never work.
pub(super) fn check(setup: &Setup, slots: &Slots) -> Result<(), EngineError> {
    if setup.depth > MOST_DEPTH {
        return Err(EngineError::Unsuitable(format!(
            "io_uring keeps at most {MOST_DEPTH} operations in flight, not {}; lower iodepth",
            setup.depth
        )));
    }
    slots.present().next().map_or(Ok(()), |file| probe(file, setup.flags))?;
    slots.present().try_for_each(|file| check_hipri(file, setup.flags))
}

/// Polled completions are for direct I/O alone.
pub(super) fn check_hipri(file: &std::os::fd::OwnedFd, flags: OperationFlags) -> Result<(), EngineError> {
    if !flags.hipri || is_direct(file) {
        return Ok(());
    }
    Err(EngineError::Unsuitable(format!(
        "{} is not opened with O_DIRECT, and io_uring polls for the completions of direct I/O only; set direct = true \
         or hipri = false",
        path_of(file)
    )))
}

/// The leanest ring that this kernel makes.
pub(super) fn build(depth: u32, flags: OperationFlags, notes: &mut Vec<String>) -> Result<IoUring, EngineError> {
    // Two at least: a write may bring an fdatasync of its own.
    let entries = depth.clamp(2, MOST_ENTRIES);
    let mut builder = IoUring::builder();
    if flags.hipri {
        builder.setup_iopoll();
    }
    let result = if flags.sqthread_poll { build_polled(builder, entries) } else { build_own(builder, entries, notes) };
    result.map_err(|error| {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        if errno == libc::ENOMEM {
            return EngineError::Unsuitable(format!(
                "io_uring gets no memory for {depth} operations in flight; lower iodepth or raise the memlock limit \
                 (ulimit -l)"
            ));
        }
        EngineError::Ring { engine: "io_uring", action: "make a ring", errno }
    })
}

/// A thread of the kernel takes submissions. It runs the completions too, so that nothing is
/// deferred to us.
fn build_polled(mut builder: io_uring::Builder, entries: u32) -> std::io::Result<IoUring> {
    builder.setup_sqpoll(SUBMISSION_THREAD_IDLE_MS);
    let plain = builder.clone();
    builder.setup_submit_all().setup_single_issuer().setup_no_sqarray();
    builder.build(entries).or_else(|_| plain.build(entries))
}

/// We submit, and completions run when we wait for them (6.1), without one more table to look
/// through (6.6); else when we next enter the kernel (5.19); else as they come.
fn build_own(plain: io_uring::Builder, entries: u32, notes: &mut Vec<String>) -> std::io::Result<IoUring> {
    let mut deferred = plain.clone();
    // The flag tells us of finished work, so that looking for it costs no system call.
    deferred.setup_submit_all().setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
    let mut without_array = deferred.clone();
    without_array.setup_no_sqarray();
    if let Ok(ring) = without_array.build(entries).or_else(|_| deferred.build(entries)) {
        return Ok(ring);
    }
    notes.push(NoteKind::WithoutDeferral.note("the kernel is older than 6.1"));
    let mut cooperative = plain.clone();
    cooperative.setup_submit_all().setup_coop_taskrun().setup_taskrun_flag();
    cooperative.build(entries).or_else(|_| plain.build(entries))
}

/// Registers the slots as a table of files; `false` where the kernel or a limit refuses.
pub(super) fn register_files(ring: &IoUring, slots: &Slots, notes: &mut Vec<String>) -> bool {
    if slots.descriptors().is_empty() {
        return false;
    }
    match ring.submitter().register_files(slots.descriptors()) {
        Ok(()) => true,
        Err(error) => {
            let remedy = if error.raw_os_error() == Some(libc::EMFILE) { "; raise ulimit -n" } else { "" };
            notes.push(NoteKind::WithoutFiles.note(format_args!("{error}{remedy}")));
            false
        }
    }
}

/// Registers the memory as fixed buffers, as many as it takes: buffer `chunk >> shift` holds a
/// chunk whole. Answers the shift, or `None` where the kernel or a limit refuses.
pub(super) fn register_buffers(ring: &IoUring, memory: &Memory, notes: &mut Vec<String>) -> Option<u32> {
    let (start, total_bytes) = memory.whole();
    let shift = fixed_buffer_shift(memory.chunk_bytes())?;
    let buffer_bytes = memory.chunk_bytes() << shift;
    let buffers: Vec<libc::iovec> = (0..total_bytes)
        .step_by(buffer_bytes)
        .map(|at| libc::iovec { iov_base: start.wrapping_add(at).cast(), iov_len: buffer_bytes.min(total_bytes - at) })
        .collect();
    // SAFETY: the buffers lie within one mapping that outlives the ring: `Uring` holds an `Rc` of it
    // and drops the ring first.
    match unsafe { ring.submitter().register_buffers(&buffers) } {
        Ok(()) => Some(shift),
        Err(error) => {
            notes.push(NoteKind::WithoutBuffers.note(format_args!("{error}; raise the memlock limit (ulimit -l)")));
            None
        }
    }
}

/// How many chunks fit into one fixed buffer, as a power of two, so that none crosses a border.
fn fixed_buffer_shift(chunk_bytes: usize) -> Option<u32> {
    (LARGEST_FIXED_BUFFER_BYTES / chunk_bytes.max(1)).checked_ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_names_its_reason() {
        for (errno, disabled, said) in [
            (libc::EPERM, "2", "io_uring_disabled = 2"),
            (libc::EPERM, "1", "io_uring_group"),
            (libc::EPERM, "0", "seccomp"),
            (libc::ENOSYS, "", "older than 5.1"),
            (libc::ENOSYS, "0", "seccomp"),
            (libc::ENOMEM, "0", "ulimit -l"),
            (libc::EINVAL, "0", "Invalid argument"),
        ] {
            let text = refusal(errno, disabled);
            assert!(text.contains(said), "{errno} {disabled}: {text}");
        }
    }

    #[test]
    fn no_chunk_crosses_the_border_of_a_fixed_buffer() {
        for chunk_bytes in [1, 512, 4096, 10_000, 1 << 20, 3 << 20, 64 << 20, 1 << 30] {
            let bytes = chunk_bytes << fixed_buffer_shift(chunk_bytes).unwrap();
            assert!(bytes <= LARGEST_FIXED_BUFFER_BYTES && bytes.is_multiple_of(chunk_bytes), "{chunk_bytes}");
            assert!(2 * bytes > LARGEST_FIXED_BUFFER_BYTES, "{chunk_bytes}");
        }
        assert_eq!(fixed_buffer_shift((1 << 30) + 1), None);
    }
}
