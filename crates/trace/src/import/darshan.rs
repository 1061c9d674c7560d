//! Darshan's extended trace (DXT) as `darshan-dxt-parser` prints it: reads and writes with offset, length and times.

use super::builder::Builder;
use super::{ImportError, Lines};
use crate::Operation;
use crate::calls::code;
use std::collections::HashMap;
use std::io::BufRead;

const READS_AND_WRITES: &str = "Darshan's DXT tells of reads and writes alone: opens stand where a file is first used, and nothing \
     else is known";

pub(super) fn is_one(first: &str) -> bool {
    let words = first.trim_start_matches(['#', '*']).trim_start().to_ascii_lowercase();
    words.starts_with("darshan log version") || words.starts_with("dxt,") || words.starts_with("dxt trace")
}

/// A line: `X_POSIX  rank  write  segment  offset  length  start  end [OST …]`.
pub(super) fn read(first: &str, lines: &mut Lines<impl BufRead>, builder: &mut Builder) -> Result<(), ImportError> {
    builder.note(READS_AND_WRITES);
    let mut path = None;
    let mut calls: Vec<OfRank> = Vec::new();
    let mut next = Some(first.to_owned());
    while let Some(line) = next {
        next = lines.next()?.map(str::to_owned);
        if let Some((_, name)) = line.split_once("file_name:") {
            path = builder.path(name.trim().as_bytes());
            continue;
        }
        if let Some(command) = line.strip_prefix("# exe:") {
            builder.command = vec![command.trim().to_owned()];
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match call_of(&words, path) {
            Ok(Some(call)) => calls.push(call),
            Ok(None) => {}
            Err(why) => builder.leave_out(why),
        }
        if calls.len() > super::MOST_CALLS / 2 {
            return Err(ImportError::TooMuch);
        }
    }
    add(calls, builder)
}

/// A call of a rank on a file.
type OfRank = (u32, u32, Operation);

/// What a line says; nothing where it is a remark, or why it is left out.
fn call_of(words: &[&str], path: Option<u32>) -> Result<Option<OfRank>, &'static str> {
    let [module, rank, action, _, offset, length, start, end, ..] = words else { return Ok(None) };
    match *module {
        "X_POSIX" => {}
        // What MPI-IO does, POSIX does below it.
        "X_MPIIO" => return Err("lines of MPI-IO, whose calls are those of POSIX"),
        _ => return Ok(None),
    }
    let number = |word: &str| word.parse::<i64>().ok().filter(|number| *number >= 0);
    let seconds = |word: &str| word.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
    let of = (path, rank.parse::<u32>().ok(), number(offset), number(length), seconds(start), seconds(end));
    let call = match *action {
        "read" => Some(code::PREAD64),
        "write" => Some(code::PWRITE64),
        _ => None,
    };
    let (Some(call), (Some(path), Some(rank), Some(offset), Some(length), Some(start), Some(end))) = (call, of) else {
        return Err("lines that are no call");
    };
    let start = (start * 1e9) as u64;
    let nanoseconds = ((end * 1e9) as u64).saturating_sub(start);
    let numbers = [length, offset, 0, 0];
    Ok(Some((path, rank, Operation { call, start, nanoseconds, result: length, numbers, ..Operation::default() })))
}

/// The log goes file by file; a trace goes by time.
fn add(mut calls: Vec<OfRank>, builder: &mut Builder) -> Result<(), ImportError> {
    let mut open: HashMap<(u32, u32), u32> = HashMap::new();
    calls.sort_by_key(|(_, _, operation)| operation.start.saturating_add(operation.nanoseconds));
    for (path, rank, operation) in calls {
        let thread = builder.thread(rank.saturating_add(1), rank.saturating_add(1), None);
        let file = match open.get(&(rank, path)) {
            Some(&file) => file,
            None => {
                let file = builder.file(path);
                open.insert((rank, path), file);
                let flags = i64::from(libc::O_RDWR | libc::O_CREAT);
                builder.add(Operation {
                    call: code::OPENAT,
                    thread,
                    start: operation.start,
                    paths: [path, 0],
                    files: [file, 0],
                    numbers: [flags, 0o644, 0, 0],
                    ..Operation::default()
                })?;
                file
            }
        };
        builder.add(Operation { thread, files: [file, 0], ..operation })?;
        if operation.call == code::PREAD64 {
            builder.lays_out(path, operation.numbers[0] as u64 + operation.numbers[1] as u64);
        }
    }
    Ok(())
}
