//! A job file made fit for the installed fio: one text, whose work stays inside the lane.

mod load;
mod numbers;

use crate::job::merge;
use crate::names::{self, Files, Name};
use crate::options::Outside;
use crate::syntax::{self, Section, Setting};
use crate::values::{self, Base};
use crate::{JobFileError, Surroundings, shown, take};
use load::Load;
use model::Bytes;
use model::job::{Direction, FioJob, FioRun, Io, Pattern};
use numbers::{find, number, value};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::rc::Rc;

/// Engines of fio whose work stays on the files that a job names.
const ENGINES: [&str; 18] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "io_uring",
    "libaio",
    "posixaio",
    "mmap",
    "splice",
    "null",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "falloc",
    "e4defrag",
    "cpuio",
];

/// Options that take a pattern of bytes.
const PATTERNS: [&str; 2] = ["buffer_pattern", "verify_pattern"];

/// Bytes of a line for fio at most. It reads lines of 4,096 bytes (8,192 since 3.30) and takes what follows for a line of
/// its own, another option (`parse_jobs_ini` in fio's init.c).
const LINE_BYTES: usize = 4000;

/// Makes a job file fit for the installed fio, to be run with the lane as its working directory.
///
/// Includes and variables are resolved, `directory` is dropped, and absolute names of files become
/// their last part. Everything else stays as it is written.
///
/// # Errors
/// What is wrong, and every option that reaches outside the lane, with its file and line.
pub fn for_fio(path: &Path, surroundings: &Surroundings) -> Result<FioRun, JobFileError> {
    let document = syntax::read(path, surroundings)?;
    let mut text = String::new();
    let mut globals = Vec::new();
    let mut jobs: Vec<FioJob> = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    let (mut space, mut load, mut files) = (Space::default(), Load::default(), Files::default());
    for section in &document.sections {
        let begun = text.len();
        text.push_str(&format!("[{}]\n", section.name));
        if text.len() - begun > LINE_BYTES {
            return Err(section.place.refuse(format!(
                "the name of this section has more than the {LINE_BYTES} bytes that fio reads as one line; shorten it"
            )));
        }
        for setting in &section.settings {
            line(setting, &mut text)?;
        }
        if section.global {
            merge(&mut globals, section.settings.iter().filter(|setting| setting.row.name != "name"));
            continue;
        }
        let mut settings = globals.clone();
        merge(&mut settings, section.settings.iter());
        same_file_twice(&settings, &mut files)?;
        let job = job(section, &settings)?;
        if !names.insert(job.name.clone()) {
            return Err(section.place.refuse(format!("job {} is named twice; rename one", shown(&job.name))));
        }
        space.add(&settings)?;
        load.add((section, &settings), &job, &space, surroundings.memory_bytes)?;
        jobs.push(job);
    }
    let file = path.file_name().map_or_else(|| document.place.file.to_string(), |name| name.to_string_lossy().into());
    Ok(FioRun { file, text, jobs, working_set: Bytes(space.bytes()) })
}

/// One setting as a line, where fio reads it as one.
fn line(setting: &Setting, text: &mut String) -> Result<(), JobFileError> {
    let begun = text.len();
    // What is far too long is not taken apart first.
    let far = setting.row.outside != Outside::Drop && setting.value.as_deref().map_or(0, str::len) > LINE_BYTES;
    if !far {
        write(setting, text)?;
    }
    if far || text.len() - begun > LINE_BYTES {
        return Err(setting.place.refuse(format!(
            "{} has more than the {LINE_BYTES} bytes that fio reads as one line; shorten it",
            setting.written
        )));
    }
    Ok(())
}

/// Adds a setting to the text, unless it reaches outside the lane.
fn write(setting: &Setting, text: &mut String) -> Result<(), JobFileError> {
    let key = &setting.written;
    let refuse = |what: String| setting.place.refuse(what);
    let value = setting.value.as_deref();
    load::dedupe_mode(setting)?;
    match (setting.row.outside, value) {
        (Outside::Drop, _) => return Ok(()),
        (Outside::Refuse(why), _) => {
            return Err(refuse(format!("option {key} is refused, because {why}; remove it")));
        }
        (Outside::Engine, Some(engine)) if !ENGINES.contains(&engine) => {
            let what =
                format!("ioengine {} is not known to keep its work inside the lane; choose another", shown(engine));
            return Err(refuse(what));
        }
        // It would stay in the machine's memory when fio is ended from outside.
        (_, Some(value)) if setting.row.name == "mem" && value.trim_start().starts_with("shm") => {
            let what = format!("{key}={} leaves shared memory behind; write mem=mmap", shown(value).trim_matches('`'));
            return Err(refuse(what));
        }
        (Outside::Path, Some(value)) if value.split(':').any(leaves) => {
            let what = format!("{key}={} lies outside the lane; write a relative path", shown(value).trim_matches('`'));
            return Err(refuse(what));
        }
        // In single quotes stands the name of a file whose contents are the pattern.
        (_, Some(value)) if PATTERNS.contains(&setting.row.name) && value.contains('\'') => {
            return Err(refuse(format!("{key} from a file reaches outside the lane; write 0xHEX or \"text\"")));
        }
        (Outside::Files, Some(value)) => {
            let names = names::list(value).iter().map(|name| names::inside(name)).collect::<Result<Vec<_>, _>>();
            let names = names.map_err(refuse)?;
            let written: Vec<String> = names.iter().map(|name| name.inside.replace(':', "\\:")).collect();
            text.push_str(&format!("{key}={}\n", written.join(":")));
            return Ok(());
        }
        _ => {}
    }
    match value {
        Some(value) => text.push_str(&format!("{key}={value}\n")),
        None => text.push_str(&format!("{key}\n")),
    }
    Ok(())
}

/// Whether a path leads out of the working directory.
fn leaves(path: &str) -> bool {
    path.starts_with('/') || Path::new(path).components().any(|part| part == Component::ParentDir)
}

/// Refuses a pattern of names that leaves the lane once it is filled in. A `$` that is left could
/// become anything, as in the name of a job.
fn stays_inside(setting: &Setting, job: &str) -> Result<(), JobFileError> {
    let format = setting.value.as_deref().unwrap_or("");
    let filled = format.replace("$jobname", job).replace("$jobnum", "0").replace("$filenum", "0");
    if !filled.contains('$') && !leaves(&filled) {
        return Ok(());
    }
    Err(setting.place.refuse(format!(
        "{}={} may lie outside the lane; write a relative path of $jobname, $jobnum and $filenum",
        setting.written,
        shown(format).trim_matches('`')
    )))
}

/// Refuses files of different directories that would be one file in the lane.
fn same_file_twice(settings: &[Setting], files: &mut Files) -> Result<(), JobFileError> {
    let directory = match find(settings, "directory") {
        Some(setting) => {
            let text = setting.value.as_deref().unwrap_or("");
            names::directory(text).map_err(|what| setting.place.refuse(what))?
        }
        None => "",
    };
    let Some(setting) = find(settings, "filename") else { return Ok(()) };
    let refuse = |what: String| setting.place.refuse(what);
    let names = names::list(setting.value.as_deref().unwrap_or(""));
    let names: Vec<Name> = names.iter().map(|name| names::inside(name)).collect::<Result<_, _>>().map_err(refuse)?;
    files.add(&names, &Rc::from(directory)).map_err(refuse)
}

fn job(section: &Section, settings: &[Setting]) -> Result<FioJob, JobFileError> {
    let named = find(settings, "name").and_then(|setting| setting.value.as_deref()).filter(|name| !name.is_empty());
    let name = named.unwrap_or(&section.name).to_owned();
    // fio calls files and logs after the job.
    // fio fills in keywords in them too: `$clientuid` is empty, and an absolute path follows it.
    if leaves(&name) || name.contains('$') {
        return Err(section.place.refuse(format!("job {} names files outside the lane; rename it", shown(&name))));
    }
    if let Some(setting) = find(settings, "filename_format") {
        stays_inside(setting, &name)?;
    }
    let only_creates =
        find(settings, "create_only").is_some_and(|setting| values::switch(setting.value.as_deref()) == Ok(true));
    let directions = match find(settings, "rw") {
        // It makes files and measures nothing.
        _ if only_creates => Vec::new(),
        None => vec![Direction::Read],
        Some(setting) => match setting.value.as_deref().unwrap_or("") {
            text if text.starts_with("randtrimwrite") => Pattern::TrimWrite.directions().to_vec(),
            text => {
                let (rw, _) = take::pattern(text).map_err(|what| setting.place.refuse(what))?;
                Io { rw, rwmixread: share_of_reads(settings), ..Io::default() }.directions().to_vec()
            }
        },
    };
    Ok(FioJob { name, directions, direct: asks_direct(settings) })
}

/// Whether a job asks for direct I/O; the later of `direct` and `buffered` counts. A value that fio refuses counts as its
/// default: it says so itself.
fn asks_direct(settings: &[Setting]) -> bool {
    let asks = |setting: &Setting| match setting.row.name {
        "direct" => values::switch(setting.value.as_deref()).ok(),
        "buffered" => values::switch(setting.value.as_deref()).ok().map(|buffered| !buffered),
        _ => None,
    };
    settings.iter().rev().find_map(asks).unwrap_or(false)
}

/// Reads of a mixed job in percent; the later of `rwmixread` and `rwmixwrite` counts. A number that
/// fio refuses counts as even: fio says so itself.
fn share_of_reads(settings: &[Setting]) -> u32 {
    let percent = |setting: &Setting| {
        let number = setting.value.as_deref().and_then(|text| values::count(text, Base::Binary, 0, 100).ok())?;
        match setting.row.name {
            "rwmixread" => Some(number),
            "rwmixwrite" => Some(100 - number),
            _ => None,
        }
    };
    settings.iter().rev().find_map(percent).unwrap_or(50)
}

/// What the jobs keep on the lane, as far as the file says.
#[derive(Default)]
struct Space {
    /// Files that jobs share by name.
    named: BTreeMap<String, u64>,
    own: u64,
    /// The largest file of a job that names none.
    largest_own: u64,
}

impl Space {
    fn add(&mut self, settings: &[Setting]) -> Result<(), JobFileError> {
        // They touch no file.
        if matches!(value(settings, "ioengine"), Some("null" | "cpuio")) {
            return Ok(());
        }
        let number = |name: &str| number(settings, name);
        let workers = number("numjobs")?.unwrap_or(1).max(1);
        let increment = number("offset_increment")?.unwrap_or(0).saturating_mul(workers - 1);
        let offset = number("offset")?.unwrap_or(0).saturating_add(increment);
        let names = value(settings, "filename").map(names::list).unwrap_or_default();
        let files = if names.is_empty() { number("nrfiles")?.unwrap_or(1).max(1) } else { names.len() as u64 };
        let size = number("size")?.unwrap_or(0);
        let each = number("filesize")?.unwrap_or_else(|| (size / files).saturating_add(offset));
        if names.is_empty() {
            self.own = self.own.saturating_add(each.saturating_mul(files).saturating_mul(workers));
            self.largest_own = self.largest_own.max(each);
        }
        for name in names.iter().filter_map(|name| names::inside(name).ok()) {
            let bytes = self.named.entry(name.inside).or_insert(0);
            *bytes = (*bytes).max(each);
        }
        Ok(())
    }

    /// Bytes of a file that a job names without a size, at most: it may be one of those that fio named for an earlier job
    /// (`a.0.0`), of which there are too many to remember.
    fn most_bytes_of(&self, name: &Name) -> u64 {
        self.named.get(&name.inside).copied().unwrap_or(0).max(self.largest_own)
    }

    fn bytes(&self) -> u64 {
        self.named.values().fold(self.own, |sum, bytes| sum.saturating_add(*bytes))
    }
}
