//! File operations beside a bare loop of the same system calls, beside fs_mark, and beside themselves
//! in two threads.

use crate::grounds::{Grounds, folder_in};
use anyhow::{Context, Result, bail, ensure};
use engine::{OpenTarget, Work};
use model::agent::{Part, Target};
use model::workload::Workload;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::{read, write};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Rounds in turns with another program.
const ROUNDS: usize = 21;
/// Rounds of programs that alternate inside each.
const FINE_ROUNDS: usize = 7;
const FILES: u64 = 50_000;
const DIRECTORIES: u64 = 50;
const SIZE: usize = 1024;
/// Bytes of a file's name: Fairlane's default, and fs_mark's.
const NAMES: [usize; 2] = [10, 40];
/// What is compared: the group's name.
const GROUPS: [&str; 5] = ["create", "stat", "read", "rename", "unlink"];

/// Operations per second by group.
type Rates = BTreeMap<String, f64>;
/// Of Fairlane and of what it is compared with.
type Pair = [Rates; 2];

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

/// Prints a row for each group; the first round warms up.
fn rows(
    groups: &[&str],
    (work, against, bar): (&str, &str, &str),
    rounds: usize,
    round: &dyn Fn(usize) -> Result<Pair>,
) -> Result<()> {
    let pairs = (0..=rounds).map(round).skip(1).collect::<Result<Vec<Pair>>>()?;
    for group in groups {
        let of = |side: usize| -> Result<Vec<f64>> {
            pairs.iter().map(|pair| pair[side].get(*group).copied().context("a group is missing")).collect()
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

/// A busy machine slows one of two runs by a quarter: the two take turns file by thousand files.
fn beside_bare(name: &str, directory: &Path) -> Result<()> {
    let work = format!("1 KiB files, one thread, {name}");
    let bare = |_| child(&["operations-child", "bare"], directory);
    let same = |_| child(&["operations-child", "same"], directory);
    rows(&GROUPS, (&work, "bare loop", "0.97"), FINE_ROUNDS, &bare)?;
    rows(&GROUPS, (&work, "itself", ""), FINE_ROUNDS, &same)
}

/// Two threads beside one of them.
fn two_threads(memory: &Path) -> Result<()> {
    let round = |_| child(&["operations-child", "threads"], memory);
    // One CPU of two that somebody else needs for a while delays both threads: the fastest parts tell
    // what two free ones give.
    let groups: Vec<String> = GROUPS.iter().flat_map(|group| [(*group).to_owned(), fastest_part(group)]).collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    rows(&groups, ("two threads in private directories, tmpfs", "one thread", "1.8"), 2 * FINE_ROUNDS, &round)?;
    // What the machine and the kernel give programs that share nothing but the filesystem.
    let folders = ["a", "b"].map(|name| memory.join(name));
    folders.iter().try_for_each(std::fs::create_dir)?;
    let round = |_| {
        let one = child(&["operations-child", "alone"], &folders[0])?;
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for folder in &folders {
                let sender = sender.clone();
                scope.spawn(move || sender.send(child(&["operations-child", "alone"], folder)));
            }
        });
        let (mut two, [other, _]) = (receiver.recv()??, receiver.recv()??);
        two[0].iter_mut().for_each(|(group, rate)| *rate += other[group]);
        let ([two, _], [one, _]) = (two, one);
        Ok([two, one])
    };
    rows(&groups, ("two bare loops in two processes, tmpfs", "one", ""), 2 * FINE_ROUNDS, &round)
}

/// Prints the rows beside fs_mark alone.
pub fn print_fs_mark() -> Result<()> {
    let grounds = Grounds::build(&["ext4"])?;
    let memory = folder_in("/dev/shm")?;
    println!("| work | against | ratio (range) | at least | ours /s | theirs /s |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let printed =
        beside_fs_mark("tmpfs", &memory, "1.35").and_then(|()| beside_fs_mark("ext4", &grounds.directories[0], "1.0"));
    std::fs::remove_dir_all(memory)?;
    printed
}

/// fs_mark and Fairlane fill the same tree with names of the same length, each first in every other round; and in memory
/// so does a bare loop: no more can be reached by doing the same calls.
fn beside_fs_mark(name: &str, directory: &Path, bar: &str) -> Result<()> {
    if Command::new("fs_mark").arg("-h").output().is_err() {
        println!("| create, {name} | fs_mark is missing: apt-get install fsmark | | {bar} | | |");
        return Ok(());
    }
    for bytes in NAMES {
        for directories in [DIRECTORIES, 1] {
            let shape =
                if directories == 1 { "one directory".to_owned() } else { format!("{directories} directories") };
            let work = format!("1 KiB files in {shape}, names of {bytes} bytes, {name}");
            let beside = |what: &'static str| {
                move |round| {
                    let what = format!("{what}-{bytes}-{directories}");
                    let ours = || child(&["operations-child", &what], directory).map(|[ours, _]| ours);
                    if round % 2 == 0 {
                        let ours = ours()?;
                        Ok([ours, fs_mark(directory, bytes, directories)?])
                    } else {
                        let theirs = fs_mark(directory, bytes, directories)?;
                        Ok([ours()?, theirs])
                    }
                }
            };
            let against = format!("fs_mark -S 0 {}", fs_mark_options(bytes, directories).join(" "));
            rows(&["create"], (&work, against.trim_end(), bar), ROUNDS, &beside("all"))?;
            if name != "tmpfs" {
                continue;
            }
            let bare = format!("a bare loop, {work}");
            rows(&["create"], (&bare, against.trim_end(), ""), ROUNDS, &beside("bare-all"))?;
        }
    }
    Ok(())
}

/// The options for names of so many bytes, of which its default is 40, and for so many directories, filled one after
/// the other as Fairlane fills them. In several, its paths have as many parts as Fairlane's; in one, a part fewer.
fn fs_mark_options(bytes: usize, directories: u64) -> Vec<String> {
    let mut options = Vec::new();
    if bytes != 40 {
        options.extend(["-p", "10", "-r", "6"].map(str::to_owned));
    }
    if directories > 1 {
        options.extend(["-D".into(), directories.to_string(), "-N".into(), (FILES / directories).to_string()]);
    }
    options
}

fn fs_mark(directory: &Path, bytes: usize, directories: u64) -> Result<Rates> {
    // It takes no path of forty bytes or more.
    let (folder, log) = ("fs_mark", "fs_mark.log");
    let files = FILES.to_string();
    let output = Command::new("fs_mark")
        .args(["-S", "0", "-s", "1024", "-n", &files, "-L", "1", "-k", "-l", log, "-d", folder])
        .args(fs_mark_options(bytes, directories))
        .current_dir(directory)
        .output()?;
    ensure!(output.status.success(), "fs_mark failed: {}", String::from_utf8_lossy(&output.stderr));
    let (folder, log) = (directory.join(folder), directory.join(log));
    let text = String::from_utf8(output.stdout)?;
    check_fs_mark(&folder, bytes, directories)?;
    std::fs::remove_dir_all(&folder)?;
    std::fs::remove_file(&log)?;
    // FSUse%, Count, Size, Files/sec, App Overhead.
    let line = text.lines().rev().find(|line| line.split_whitespace().count() == 5).context("fs_mark said nothing")?;
    let rate = line.split_whitespace().nth(3).context("fs_mark's line has no rate")?.parse()?;
    Ok(Rates::from([("create".to_owned(), rate)]))
}

/// What it made is what was asked: so many files, names of that length, and directories. With three random characters of
/// ten, names came again, and four files of ten were not created but opened.
fn check_fs_mark(folder: &Path, bytes: usize, directories: u64) -> Result<()> {
    let inner: Vec<PathBuf> = if directories > 1 {
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?
    } else {
        vec![folder.to_owned()]
    };
    let made = inner.len() as u64;
    ensure!(made == directories, "fs_mark made {made} directories of {directories}");
    let mut files = 0;
    for directory in inner {
        for entry in std::fs::read_dir(&directory)? {
            let length = entry?.file_name().len();
            ensure!(length == bytes, "fs_mark's names have {length} bytes, not {bytes}");
            files += 1;
        }
    }
    // A name may come again now and then.
    ensure!(files <= FILES && files + FILES / 1000 >= FILES, "fs_mark made {files} files of {FILES}");
    Ok(())
}

fn million(memory: &Path) -> Result<()> {
    let peak = |files: &str| child(&["operations-memory", files], memory).map(|[ours, _]| ours["peak"]);
    let (few, many) = (peak("1000")?, peak("1000000")?);
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    println!(
        "memory: {:.1} MiB at most for a million files, {:.1} MiB for a thousand; the difference may be 64 MiB",
        mib(many),
        mib(few)
    );
    Ok(())
}

fn child(arguments: &[&str], directory: &Path) -> Result<Pair> {
    let output = Command::new(std::env::current_exe()?).args(arguments).arg(directory).output()?;
    if !output.status.success() {
        bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the parent starts: the rates of one round.
pub fn work(what: &str, directory: &Path) -> Result<()> {
    let short = NAMES[0];
    let fairlane = |threads| move |name: &str| Fairlane::prepare(directory, name, DIRECTORIES, threads, short);
    let (ones, parts) = (DIRECTORIES as u32, DIRECTORIES as u32 / 10);
    let pair = match what {
        "bare" => alternate(ones, fairlane(1), |name| Bare::prepare(directory, name, DIRECTORIES, short))?,
        // The control: what difference is none.
        "same" => alternate(ones, fairlane(1), fairlane(1))?,
        // Threads begin together: parts are long beside that.
        "threads" => alternate(parts, fairlane(2), fairlane(1))?,
        "alone" => {
            let [ours, _] =
                alternate(parts, |name| Bare::prepare(directory, name, DIRECTORIES, short), |_| Ok(Nothing))?;
            [ours, Rates::new()]
        }
        _ => {
            let (rest, directories) = what.rsplit_once('-').context("no such child")?;
            let (which, bytes) = rest.rsplit_once('-').context("no such child")?;
            let (bytes, directories) = (bytes.parse()?, directories.parse()?);
            let rates = match which {
                "bare-all" => created(Bare::prepare(directory, "bare", directories, bytes)?)?,
                _ => created(Fairlane::prepare(directory, "ours", directories, 1, bytes)?)?,
            };
            [rates, Rates::new()]
        }
    };
    println!("{}", serde_json::to_string(&pair)?);
    Ok(())
}

/// The rate at which all files are created at a stretch.
fn created(mut contestant: impl Contestant) -> Result<Rates> {
    let seconds = contestant.part("create", Part::WHOLE)?;
    contestant.finish()?;
    Ok(Rates::from([("create".to_owned(), FILES as f64 / seconds)]))
}

/// Something that does a group in parts.
trait Contestant {
    /// Seconds that a part took.
    fn part(&mut self, group: &'static str, part: Part) -> Result<f64>;
    /// Removes what is left.
    fn finish(self) -> Result<()>;
}

/// The rate of the part in which the least happened beside it.
fn fastest_part(group: &str) -> String {
    format!("{group}: fastest part")
}

/// Both do every group in so many parts, in turns, each first in every other one. All of it twice with
/// everything exchanged, order, names and turns: where a filesystem lays a directory depends on all of
/// them, and ext4 read one of two equal trees a sixth faster.
fn alternate<A: Contestant, B: Contestant>(
    parts: u32,
    ours: impl Fn(&str) -> Result<A>,
    theirs: impl Fn(&str) -> Result<B>,
) -> Result<Pair> {
    let mut seconds = [[0.0; 2]; GROUPS.len()];
    let mut shortest = [[f64::MAX; 2]; GROUPS.len()];
    for ours_first in [true, false] {
        let (mut ours, mut theirs) = if ours_first {
            (ours("one")?, theirs("other")?)
        } else {
            let theirs = theirs("one")?;
            (ours("other")?, theirs)
        };
        for ((group, seconds), shortest) in GROUPS.into_iter().zip(&mut seconds).zip(&mut shortest) {
            for index in 0..parts {
                let part = Part { index, of: parts };
                let first = (index + u32::from(!ours_first)) % 2;
                for turn in [first, 1 - first] {
                    let took = if turn == 0 { ours.part(group, part)? } else { theirs.part(group, part)? };
                    seconds[turn as usize] += took;
                    shortest[turn as usize] = took.min(shortest[turn as usize]);
                }
            }
        }
        ours.finish()?;
        theirs.finish()?;
    }
    let rates = |side: usize| {
        GROUPS.iter().zip(seconds).zip(shortest).flat_map(move |((group, seconds), shortest)| {
            let fastest = FILES as f64 / f64::from(parts) / shortest[side];
            [((*group).to_owned(), 2.0 * FILES as f64 / seconds[side]), (fastest_part(group), fastest)]
        })
    };
    Ok([rates(0).collect(), rates(1).collect()])
}

fn workload(text: &str) -> Result<Workload> {
    Ok(toml::from_str(&format!("name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\n{text}"))?)
}

fn prepared(workload: &Workload, directory: &Path) -> Result<(Box<dyn Work>, OpenTarget)> {
    let place = OpenTarget::open(&Target::Directory(directory.to_owned()))?;
    let work = engine::prepare(&place, workload, 1, Arc::new(AtomicBool::new(false)))?;
    Ok((work, place))
}

/// The engine, as races use it.
struct Fairlane {
    work: Box<dyn Work>,
    place: OpenTarget,
    folder: PathBuf,
}

impl Fairlane {
    fn prepare(directory: &Path, name: &str, directories: u64, threads: u32, name_bytes: usize) -> Result<Self> {
        let folder = directory.join(name);
        std::fs::create_dir(&folder)?;
        let steps =
            GROUPS.map(|group| format!("{{ operation = \"{group}\", files = \"a\", sync = \"none\" }}")).join(", ");
        let set = format!(
            "{{ name = \"a\", count = {FILES}, directories = {directories}, size = \"{SIZE}\", \
             name_bytes = {name_bytes} }}"
        );
        let workload = workload(&format!("threads = {threads}\nfiles = [{set}]\nstep = [{steps}]"))?;
        let (work, place) = prepared(&workload, &folder)?;
        Ok(Fairlane { work, place, folder })
    }
}

impl Contestant for Fairlane {
    fn part(&mut self, group: &'static str, part: Part) -> Result<f64> {
        Ok(self.work.phase(&self.place, group, part, &mut ())?.seconds)
    }

    fn finish(self) -> Result<()> {
        Ok(std::fs::remove_dir_all(self.folder)?)
    }
}

/// Peak memory of the process that makes so many empty files, reads the names back and removes them.
pub fn memory(files: u64, directory: &Path) -> Result<()> {
    let set = format!("{{ name = \"a\", count = {files}, directories = 100 }}");
    let steps = "{ operation = \"create\", files = \"a\" }, { operation = \"list\", files = \"a\" }, \
                 { operation = \"rename\", files = \"a\" }, { operation = \"remove-tree\", files = \"a\" }";
    let workload = workload(&format!("files = [{set}]\nstep = [{steps}]"))?;
    let (mut work, place) = prepared(&workload, directory)?;
    for group in workload.groups() {
        work.phase(&place, &group, Part::WHOLE, &mut ())?;
        work.verify(&place)?;
    }
    std::fs::remove_dir_all(directory.join("fairlane-operations"))?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("the kernel tells no peak memory")?;
    let kib: f64 = line.split_whitespace().nth(1).context("the kernel tells no peak memory")?.parse()?;
    println!("{}", serde_json::json!([{ "peak": kib * 1024.0 }, {}]));
    Ok(())
}

/// The least that does the same: the same names in as many directories, the same calls, and a look at
/// the clock only before and after each part.
struct Bare {
    folder: PathBuf,
    top: std::fs::File,
    directories: u64,
    name_bytes: usize,
    room: [u8; SIZE + 1],
}

impl Bare {
    fn prepare(directory: &Path, name: &str, directories: u64, name_bytes: usize) -> Result<Self> {
        let folder = directory.join(name);
        // As deep as Fairlane's.
        let inner = folder.join("fairlane-operations");
        std::fs::create_dir_all(&inner)?;
        let top = std::fs::File::open(&inner)?;
        mkdirat(&top, "set-000", Mode::from_raw_mode(0o755))?;
        for number in 0..directories {
            mkdirat(&top, format!("set-000/d{number:09}").as_str(), Mode::from_raw_mode(0o755))?;
        }
        Ok(Bare { folder, top, directories, name_bytes, room: [1; SIZE + 1] })
    }
}

impl Contestant for Bare {
    fn part(&mut self, group: &'static str, part: Part) -> Result<f64> {
        let Bare { top, room, directories, name_bytes, .. } = self;
        let contents = [0xa5_u8; SIZE];
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let old = OFlags::RDONLY | OFlags::CLOEXEC;
        each_path(group, part, (*directories, *name_bytes), &mut |path, other| {
            match group {
                "create" => {
                    let file = openat(&*top, path, new, Mode::from_raw_mode(0o644))?;
                    ensure!(write(&file, &contents)? == SIZE, "a write was cut");
                }
                "stat" => drop(statat(&*top, path, AtFlags::SYMLINK_NOFOLLOW)?),
                "read" => {
                    let file = openat(&*top, path, old, Mode::empty())?;
                    ensure!(read(&file, &mut room[..])? == SIZE, "a file is too short");
                }
                "rename" => renameat(&*top, path, &*top, other)?,
                _ => unlinkat(&*top, path, AtFlags::empty())?,
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<()> {
        Ok(std::fs::remove_dir_all(self.folder)?)
    }
}

/// Takes no turn.
struct Nothing;

impl Contestant for Nothing {
    fn part(&mut self, _: &'static str, _: Part) -> Result<f64> {
        Ok(1.0)
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// Calls with each path of the part and the one it is renamed to; answers the seconds it took.
fn each_path(
    group: &str,
    part: Part,
    (directories, name_bytes): (u64, usize),
    call: &mut dyn FnMut(&CStr, &CStr) -> Result<()>,
) -> Result<f64> {
    let letter = if group == "unlink" { b'r' } else { b'f' };
    let range = part.range(FILES);
    let begun = Instant::now();
    let mut number = range.start;
    while number < range.end {
        let at = number * directories / FILES;
        let last = range.end.min((at + 1) * FILES / directories);
        let name = |letter| format!("{}{number:09}", char::from(letter));
        let path = |letter| format!("set-000/d{at:09}/{:x<name_bytes$}\0", name(letter));
        let (mut path, mut other) = (path(letter).into_bytes(), path(b'r').into_bytes());
        let digits = path.len() - 1 - (name_bytes - NAMES[0]);
        for _ in number..last {
            call(CStr::from_bytes_with_nul(&path)?, CStr::from_bytes_with_nul(&other)?)?;
            count_up(&mut path[..digits]);
            if group == "rename" {
                count_up(&mut other[..digits]);
            }
        }
        number = last;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// The next number, in the digits at the end.
fn count_up(path: &mut [u8]) {
    for digit in path.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}
