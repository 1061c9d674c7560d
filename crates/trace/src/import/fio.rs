//! fio's log of I/Os, as `write_iolog` writes it: version 2 and 3 (fio's HOWTO, "Trace file format").

use super::builder::Builder;
use super::{ImportError, Lines};
use crate::Operation;
use crate::calls::code;
use std::collections::HashMap;
use std::io::BufRead;

const NO_TIMES: &str =
    "fio's iolog of version 2 has no times: calls stand 1 us apart, and only --speed max says anything";
const ONE_EACH: &str = "a fio iolog does not tell who called nor how long it took: each file of it is one thread";
/// Between calls that have no times.
const STEP_NS: u64 = 1000;

pub(super) fn is_one(first: &str) -> bool {
    first.starts_with("fio version ") && first.trim_end().ends_with(" iolog")
}

pub(super) fn read(
    first: &str,
    lines: &mut Lines<impl BufRead>,
    log: u32,
    builder: &mut Builder,
) -> Result<(), ImportError> {
    let has_times = match first.split_whitespace().nth(2) {
        Some("2") => false,
        Some("3") => true,
        _ => return Err(ImportError::Unknown),
    };
    builder.note(ONE_EACH);
    if !has_times {
        builder.note(NO_TIMES);
    }
    let thread = builder.thread(log + 1, log + 1, None);
    let mut open: HashMap<u32, u32> = HashMap::new();
    let mut now = 0u64;
    while let Some(line) = lines.next()? {
        let line = line.to_owned();
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if has_times && !words.is_empty() {
            // Microseconds since its begin.
            let Ok(time) = words.remove(0).parse::<u64>() else {
                builder.leave_out("lines without a time");
                continue;
            };
            now = time.saturating_mul(1000).max(now);
        } else {
            now = now.saturating_add(STEP_NS);
        }
        let [name, action, rest @ ..] = &words[..] else {
            if !words.is_empty() {
                builder.leave_out("lines that are no action");
            }
            continue;
        };
        let absolute = if name.starts_with('/') { (*name).to_owned() } else { format!("/{name}") };
        let Some(path) = builder.path(absolute.as_bytes()) else {
            builder.leave_out("names that are none");
            continue;
        };
        if *action == "wait" {
            // Microseconds; where lines have times, fio does not heed it.
            let waited = rest.first().and_then(|word| word.parse::<u64>().ok()).filter(|_| !has_times).unwrap_or(0);
            now = now.saturating_add(waited.saturating_mul(1000));
            continue;
        }
        match asked(action, rest) {
            Ok(Some(operation)) => add(Operation { thread, start: now, ..operation }, path, &mut open, builder)?,
            Ok(None) => {}
            Err(why) => builder.leave_out(why),
        }
    }
    Ok(())
}

/// What an action asks for, but of which file; nothing where it asks for nothing, or why it is left out.
fn asked(action: &str, rest: &[&str]) -> Result<Option<Operation>, &'static str> {
    let number = |at: usize| rest.get(at).and_then(|word| word.parse::<i64>().ok()).filter(|number| *number >= 0);
    let (call, numbers, result) = match action {
        "add" => return Ok(None),
        "open" => (code::OPENAT, [i64::from(libc::O_RDWR), 0, 0, 0], 0),
        "close" => (code::CLOSE, [0; 4], 0),
        "sync" => (code::FSYNC, [0; 4], 0),
        "datasync" => (code::FDATASYNC, [0; 4], 0),
        "read" | "write" => {
            let (Some(offset), Some(length)) = (number(0), number(1)) else {
                return Err("lines without a plain offset and length");
            };
            (if action == "read" { code::PREAD64 } else { code::PWRITE64 }, [length, offset, 0, 0], length)
        }
        "trim" => return Err("trims"),
        _ => return Err("lines that are no action"),
    };
    Ok(Some(Operation { call, numbers, result, ..Operation::default() }))
}

/// The call on its file. `open`: the file that a path is open as.
fn add(
    operation: Operation,
    path: u32,
    open: &mut HashMap<u32, u32>,
    builder: &mut Builder,
) -> Result<(), ImportError> {
    if operation.call == code::OPENAT {
        let file = builder.file(path);
        open.insert(path, file);
        builder.needs(path, 0);
        return builder.add(Operation { paths: [path, 0], files: [file, 0], ..operation });
    }
    let Some(&file) = open.get(&path) else {
        builder.leave_out("files that are not open");
        return Ok(());
    };
    match operation.call {
        code::CLOSE => _ = open.remove(&path),
        // fio lays its files out before it begins.
        code::PREAD64 | code::PWRITE64 => {
            builder.lays_out(path, (operation.numbers[0] as u64).saturating_add(operation.numbers[1] as u64));
        }
        _ => {}
    }
    builder.add(Operation { files: [file, 0], ..operation })
}
