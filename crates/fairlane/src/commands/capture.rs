//! `fairlane capture`: runs a program, or attaches to one, and writes down what it asks of files.

use crate::conductor::trial_run;
use crate::options::Capture;
use crate::terminal;
use capture::{CaptureError, Captured, Job, Running, attach, capture};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where capturing failed, as `env` and `timeout` have it: other numbers are the program's.
const FAILED: u8 = 125;

/// Runs it; answers the program's exit status, and 0 for one that ran already.
pub fn run(options: &Capture, mask: u32) -> ExitCode {
    match captured(options, mask) {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(FAILED)),
        Err((message, status)) => {
            terminal::say!("fairlane: {message}");
            ExitCode::from(status)
        }
    }
}

/// A folder as it was typed, and without links: programs may say either.
fn names_of(folder: Option<&Path>) -> std::io::Result<Vec<PathBuf>> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let (typed, plain) = (std::path::absolute(folder)?, folder.canonicalize()?);
    Ok(if typed == plain { vec![plain] } else { vec![typed, plain] })
}

/// The processes to attach to.
fn processes(options: &Capture) -> Result<Vec<i32>, String> {
    let number = |text: &String| {
        let number = text.parse::<i32>().ok().filter(|&number| number > 0);
        number.ok_or_else(|| {
            format!("--pid {}: that is no number of a process; `ps -e` lists them", text.escape_default())
        })
    };
    options.pids.iter().map(number).collect()
}

/// Runs the program to its end, or attaches to one.
fn done(job: Job, processes: Vec<i32>, options: &Capture, out: File) -> Result<Captured, CaptureError> {
    if processes.is_empty() {
        return capture(&job, out);
    }
    let named = processes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    let running = Running { processes, follow: options.follow };
    let captured = attach(job, &running, out, |processes, threads| {
        if !options.quiet {
            let many = |count: usize, of: &str, more: &str| format!("{count} {}", if count == 1 { of } else { more });
            terminal::say!(
                "attached to {named}: {}, {}; ^C ends the capture and leaves it running",
                many(processes, "process", "processes"),
                many(threads, "thread", "threads")
            );
        }
    })?;
    Ok(Captured { status: 0, ..captured })
}

/// What made the program slower than it has to be under a tracer.
fn remarks(done: &Captured) -> Vec<&'static str> {
    const PASSED_BY: &str = "most calls stopped the program and made it slower, as all of static programs, Go and musl do, and opens, \
         reads, writes and syncs where glibc is 2.41 or newer; race this trace with --speed max (docs/trace.md tells what else helps)";
    const FULL: &str = "more calls came than the tracer could read beside the program, so that some stopped; race this trace with \
         --speed max, or capture where a CPU is free";
    let Some(buffer) = &done.buffer else { return Vec::new() };
    let is_slowed_down = [(buffer.was_passed_by(done.operations), PASSED_BY), (buffer.filled > 0, FULL)];
    is_slowed_down.into_iter().filter(|(is, _)| *is).map(|(_, remark)| remark).collect()
}

fn captured(options: &Capture, mask: u32) -> Result<i32, (String, u8)> {
    let shown = model::text::escaped_path(&options.output);
    let usage = |message: String| (message, FAILED);
    let under = names_of(options.under.as_deref());
    let under = under.map_err(|error| usage(format!("--under: {error}; name a folder that is there")))?;
    let processes = processes(options).map_err(usage)?;
    let words = options.command.iter().map(|word| CString::new(word.as_bytes()));
    let command: Vec<CString> = words.collect::<Result<_, _>>().map_err(|error| usage(error.to_string()))?;
    let out: File =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&options.output).map_err(|error| {
            usage(match error.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    format!("{shown} is there already; name another file with -o, or remove it")
                }
                _ => format!("cannot write {shown}: {error}; name another file with -o"),
            })
        })?;
    let job = Job {
        command,
        under,
        anonymous: options.anonymous,
        started: trial_run::now(),
        mask,
        buffered: !options.no_buffer,
    };
    match done(job, processes, options, out) {
        Ok(done) => {
            if !options.quiet {
                let seconds = done.nanoseconds as f64 * 1e-9;
                let share = done.tracer_nanoseconds as f64 / done.nanoseconds.max(1) as f64;
                terminal::say!(
                    "{} operations in {seconds:.1} s, of which looking at them took {:.0} %; {} bytes in {shown}",
                    done.operations,
                    share * 100.0,
                    done.bytes
                );
                remarks(&done).into_iter().for_each(|remark| terminal::say!("{remark}"));
                terminal::say!(
                    "what it holds: fairlane trace show {}",
                    report::shell_line(&[options.output.display().to_string()])
                );
            }
            Ok(done.status)
        }
        Err(error) => {
            if !matches!(error, CaptureError::Write(_) | CaptureError::Threads(_)) {
                // Nothing is in it.
                let _ = std::fs::remove_file(&options.output);
            }
            let status = if let CaptureError::NotStarted(_, status) = error { status as u8 } else { FAILED };
            Err((error.to_string(), status))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::BufferUse;

    #[test]
    fn what_slows_a_program_down_is_told_with_what_helps() {
        let of = |calls, filled| {
            let buffer = BufferUse { calls, filled, ..BufferUse::default() };
            let none =
                Captured { status: 0, operations: 5000, bytes: 0, nanoseconds: 1, tracer_nanoseconds: 0, buffer: None };
            assert!(remarks(&none).is_empty());
            remarks(&Captured { buffer: Some(buffer), ..none }).concat()
        };
        assert_eq!(of(5000, 0), "");
        assert!(of(10, 0).contains("Go and musl") && !of(10, 0).contains("more calls came"), "{}", of(10, 0));
        assert!(of(5000, 1).contains("where a CPU is free") && of(5000, 1).contains("--speed max"), "{}", of(5000, 1));
    }
}
