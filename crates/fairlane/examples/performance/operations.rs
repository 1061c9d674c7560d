//! File operations beside a bare loop of the same system calls, beside fs_mark, and beside themselves
//! in two threads.

use crate::grounds::{Grounds, folder_in};
use anyhow::{Context, Result, bail, ensure};
use engine::{Place, Work};
use model::agent::{Part, Target};
use model::workload::Workload;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::{read, write};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const ROUNDS: usize = 5;
const FILES: u64 = 50_000;
const DIRECTORIES: u64 = 50;
const SIZE: usize = 1024;
/// What is compared: the group's name.
const GROUPS: [&str; 5] = ["create", "stat", "read", "rename", "unlink"];

/// Operations per second by group.
type Rates = BTreeMap<String, f64>;

/// Prints the table.
pub fn print() -> Result<()> {
    let grounds = Grounds::build(&["ext4"])?;
    let memory = folder_in("/dev/shm")?;
    println!("| work | against | ratio (range) | at least | ours /s | theirs /s |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let printed = [("tmpfs", &*memory, "1.35"), ("ext4", &*grounds.directories[0], "1.0")]
        .into_iter()
        .try_for_each(|(name, directory, bar)| {
            beside_bare(name, directory)?;
            beside_fs_mark(name, directory, bar)
        })
        .and_then(|()| two_threads(&memory))
        .and_then(|()| million(&memory));
    std::fs::remove_dir_all(memory)?;
    printed
}

/// Runs both programs in turns, each first in every other round, and prints a row for each group.
fn pairs(
    groups: &[&str],
    (work, against, bar): (&str, &str, &str),
    ours: &dyn Fn() -> Result<Rates>,
    theirs: &dyn Fn() -> Result<Rates>,
) -> Result<()> {
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let mut pair = [Rates::new(), Rates::new()];
        for turn in [round % 2, 1 - round % 2] {
            pair[turn] = if turn == 0 { ours()? } else { theirs()? };
        }
        // The first round warms up.
        if round > 0 {
            let [one, other] = pair;
            rates[0].push(one);
            rates[1].push(other);
        }
    }
    for group in groups {
        let of = |side: usize| -> Result<Vec<f64>> {
            rates[side].iter().map(|rates| rates.get(*group).copied().context("a group is missing")).collect()
        };
        let (ours, theirs) = (of(0)?, of(1)?);
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        let least = ratios.iter().copied().fold(f64::MAX, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "| {group}, {work} | {against} | {:.3} ({least:.2} to {most:.2}) | {bar} | {:.0} | {:.0} |",
            median(ratios),
            median(ours),
            median(theirs)
        );
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn beside_bare(name: &str, directory: &Path) -> Result<()> {
    let work = format!("1 KiB files, one thread, {name}");
    let (files, directories) = (FILES.to_string(), DIRECTORIES.to_string());
    let ours = || child(&["operations-child", "fairlane", &files, &directories, "1"], directory);
    let theirs = || child(&["operations-child", "bare", &files, &directories, "1"], directory);
    pairs(&GROUPS, (&work, "bare loop", "0.97"), &ours, &theirs)
}

/// fs_mark and Fairlane fill one directory with names of ten bytes.
fn beside_fs_mark(name: &str, directory: &Path, bar: &str) -> Result<()> {
    if Command::new("fs_mark").arg("-h").output().is_err() {
        println!("| create, {name} | fs_mark is missing: apt-get install fsmark | | {bar} | | |");
        return Ok(());
    }
    let files = FILES.to_string();
    let ours = || child(&["operations-child", "fairlane", &files, "1", "1"], directory);
    let theirs = || fs_mark(directory);
    let work = format!("1 KiB files in one directory, {name}");
    pairs(&["create"], (&work, "fs_mark -S 0 -p 10", bar), &ours, &theirs)
}

fn fs_mark(directory: &Path) -> Result<Rates> {
    let folder = directory.join("fs_mark");
    let log = directory.join("fs_mark.log");
    let files = FILES.to_string();
    let output = Command::new("fs_mark")
        .args(["-S", "0", "-s", "1024", "-n", &files, "-L", "1", "-p", "10", "-r", "3", "-k", "-l"])
        .arg(&log)
        .arg("-d")
        .arg(&folder)
        .current_dir(directory)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let longest = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.file_name().len())).max();
    ensure!(longest == Some(10), "fs_mark's names have {longest:?} bytes, not 10");
    std::fs::remove_dir_all(&folder)?;
    std::fs::remove_file(&log)?;
    // FSUse%, Count, Size, Files/sec, App Overhead.
    let line = text.lines().rev().find(|line| line.split_whitespace().count() == 5).context("fs_mark said nothing")?;
    let rate = line.split_whitespace().nth(3).context("fs_mark's line has no rate")?.parse()?;
    Ok(Rates::from([("create".to_owned(), rate)]))
}

fn two_threads(memory: &Path) -> Result<()> {
    let (files, directories) = (FILES.to_string(), DIRECTORIES.to_string());
    let two = || child(&["operations-child", "fairlane", &files, &directories, "2"], memory);
    let one = || child(&["operations-child", "fairlane", &files, &directories, "1"], memory);
    pairs(&GROUPS, ("two threads in private directories, tmpfs", "one thread", "1.8"), &two, &one)
}

fn million(memory: &Path) -> Result<()> {
    let peak = |files: &str| child(&["operations-memory", files], memory).map(|rates| rates["peak"]);
    let (few, many) = (peak("1000")?, peak("1000000")?);
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    println!(
        "memory: {:.1} MiB at most for a million files, {:.1} MiB for a thousand; the difference may be 64 MiB",
        mib(many),
        mib(few)
    );
    Ok(())
}

fn child(arguments: &[&str], directory: &Path) -> Result<Rates> {
    let output = Command::new(std::env::current_exe()?).args(arguments).arg(directory).output()?;
    if !output.status.success() {
        bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the parent starts: one program's rates in a directory.
pub fn work(program: &str, files: u64, directories: u64, threads: u32, directory: &Path) -> Result<()> {
    let rates = match program {
        "bare" => bare(files, directories, directory)?,
        _ => fairlane(files, directories, threads, directory)?,
    };
    println!("{}", serde_json::to_string(&rates)?);
    Ok(())
}

fn workload(text: &str) -> Result<Workload> {
    Ok(toml::from_str(&format!("name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\n{text}"))?)
}

fn prepared(workload: &Workload, directory: &Path) -> Result<(Box<dyn Work>, Place)> {
    let place = Place::open(&Target::Directory(directory.to_owned()))?;
    let work = engine::prepare(&place, workload, 1, Arc::new(AtomicBool::new(false)))?;
    Ok((work, place))
}

fn fairlane(files: u64, directories: u64, threads: u32, directory: &Path) -> Result<Rates> {
    let steps = GROUPS.map(|group| format!("{{ operation = \"{group}\", files = \"a\", sync = \"none\" }}")).join(", ");
    let set = format!("{{ name = \"a\", count = {files}, directories = {directories}, size = \"{SIZE}\" }}");
    let workload = workload(&format!("threads = {threads}\nfiles = [{set}]\nstep = [{steps}]"))?;
    let (mut work, place) = prepared(&workload, directory)?;
    let rate = |group: &str| -> Result<(String, f64)> {
        Ok((group.to_owned(), work.phase(&place, group, Part::WHOLE)?.operations_per_second()))
    };
    let rates = GROUPS.into_iter().map(rate).collect();
    std::fs::remove_dir_all(directory.join("fairlane-operations"))?;
    rates
}

/// Peak memory of the process that makes so many empty files, reads the names back and removes them.
pub fn memory(files: u64, directory: &Path) -> Result<()> {
    let set = format!("{{ name = \"a\", count = {files}, directories = 100 }}");
    let steps = "{ operation = \"create\", files = \"a\" }, { operation = \"list\", files = \"a\" }, \
                 { operation = \"rename\", files = \"a\" }, { operation = \"remove-tree\", files = \"a\" }";
    let workload = workload(&format!("files = [{set}]\nstep = [{steps}]"))?;
    let (mut work, place) = prepared(&workload, directory)?;
    for group in workload.groups() {
        work.phase(&place, &group, Part::WHOLE)?;
        work.verify(&place)?;
    }
    std::fs::remove_dir_all(directory.join("fairlane-operations"))?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("the kernel tells no peak memory")?;
    let kib: f64 = line.split_whitespace().nth(1).context("the kernel tells no peak memory")?.parse()?;
    println!("{}", serde_json::json!({ "peak": kib * 1024.0 }));
    Ok(())
}

/// The least that does the same: the same names in as many directories, the same calls, and a look at
/// the clock only before and after each group.
fn bare(files: u64, directories: u64, directory: &Path) -> Result<Rates> {
    let top = directory.join("fairlane-operations");
    std::fs::create_dir(&top)?;
    let top_directory = std::fs::File::open(&top)?;
    let top_fd = &top_directory;
    mkdirat(top_fd, "set-000", Mode::from_raw_mode(0o755))?;
    for number in 0..directories {
        mkdirat(top_fd, format!("set-000/d{number:09}").as_str(), Mode::from_raw_mode(0o755))?;
    }
    let contents = [0xa5_u8; SIZE];
    let mut room = [0_u8; SIZE + 1];
    let mut rates = Rates::new();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut group = |name: &str, letter: u8, call: &mut dyn FnMut(&CStr, &CStr) -> Result<()>| -> Result<()> {
        let begun = Instant::now();
        for at in 0..directories {
            let path = |letter| format!("set-000/d{at:09}/{}{:09}\0", char::from(letter), at * files / directories);
            let (mut path, mut other) = (path(letter).into_bytes(), path(b'r').into_bytes());
            for _ in at * files / directories..(at + 1) * files / directories {
                call(CStr::from_bytes_with_nul(&path)?, CStr::from_bytes_with_nul(&other)?)?;
                count_up(&mut path);
                if name == "rename" {
                    count_up(&mut other);
                }
            }
        }
        rates.insert(name.to_owned(), files as f64 / begun.elapsed().as_secs_f64());
        Ok(())
    };
    group("create", b'f', &mut |path, _| {
        let file = openat(top_fd, path, flags, Mode::from_raw_mode(0o644))?;
        ensure!(write(&file, &contents)? == SIZE, "a write was cut");
        Ok(())
    })?;
    group("stat", b'f', &mut |path, _| Ok(statat(top_fd, path, AtFlags::SYMLINK_NOFOLLOW).map(|_| ())?))?;
    group("read", b'f', &mut |path, _| {
        let file = openat(top_fd, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        ensure!(read(&file, &mut room)? == SIZE, "a file is too short");
        Ok(())
    })?;
    group("rename", b'f', &mut |path, other| Ok(renameat(top_fd, path, top_fd, other)?))?;
    group("unlink", b'r', &mut |path, _| Ok(unlinkat(top_fd, path, AtFlags::empty())?))?;
    std::fs::remove_dir_all(&top)?;
    Ok(rates)
}

/// The next number, in the digits before the zero byte.
fn count_up(path: &mut [u8]) {
    let end = path.len() - 1;
    for digit in path[..end].iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}
