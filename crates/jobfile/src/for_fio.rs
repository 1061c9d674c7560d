//! A job file made fit for the installed fio: one text, whose work stays inside the lane.

use crate::job::merge;
use crate::options::Outside;
use crate::syntax::{self, Section, Setting};
use crate::values::{self, Base};
use crate::{JobFileError, Surroundings, shown, take};
use model::Bytes;
use model::job::{Direction, FioJob, FioRun, Io, Pattern};
use std::collections::BTreeMap;
use std::path::{Component, Path};

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
    let mut space = Space::default();
    let mut originals = BTreeMap::new();
    for section in &document.sections {
        text.push_str(&format!("[{}]\n", section.name));
        for setting in &section.settings {
            write(setting, &mut text)?;
        }
        if section.global {
            merge(&mut globals, section.settings.iter().filter(|setting| setting.row.name != "name"));
            continue;
        }
        let mut settings = globals.clone();
        merge(&mut settings, section.settings.iter());
        same_file_twice(&settings, &mut originals)?;
        let job = job(section, &settings)?;
        if !names.insert(job.name.clone()) {
            return Err(section.place.refuse(format!("job {} is named twice; rename one", shown(&job.name))));
        }
        space.add(&settings);
        jobs.push(job);
    }
    let file = path.file_name().map_or_else(|| document.place.file.to_string(), |name| name.to_string_lossy().into());
    Ok(FioRun { file, text, jobs, working_set: Bytes(space.bytes()) })
}

/// One setting as a line, unless it reaches outside the lane.
fn write(setting: &Setting, text: &mut String) -> Result<(), JobFileError> {
    let key = &setting.written;
    let refuse = |what: String| setting.place.refuse(what);
    let value = setting.value.as_deref();
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
        (Outside::Path, Some(value)) if value.split(':').any(leaves) => {
            let what = format!("{key}={} lies outside the lane; write a relative path", shown(value).trim_matches('`'));
            return Err(refuse(what));
        }
        // In single quotes stands the name of a file whose contents are the pattern.
        (_, Some(value)) if PATTERNS.contains(&setting.row.name) && value.contains('\'') => {
            return Err(refuse(format!("{key} from a file reaches outside the lane; write 0xHEX or \"text\"")));
        }
        (Outside::Files, Some(value)) => {
            let names = take::list(value).iter().map(|name| take::inside(name)).collect::<Result<Vec<_>, _>>();
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

fn find<'a>(settings: &'a [Setting], name: &str) -> Option<&'a Setting> {
    settings.iter().find(|setting| setting.row.name == name)
}

/// Refuses files of different directories that would be one file in the lane.
fn same_file_twice(settings: &[Setting], originals: &mut BTreeMap<String, String>) -> Result<(), JobFileError> {
    let Some(setting) = find(settings, "filename") else { return Ok(()) };
    let directory = find(settings, "directory").and_then(|setting| setting.value.as_deref()).unwrap_or("");
    for name in take::list(setting.value.as_deref().unwrap_or("")) {
        let name = take::inside(&name).map_err(|what| setting.place.refuse(what))?;
        let original = if name.original.starts_with('/') || directory.is_empty() {
            name.original.clone()
        } else {
            format!("{}/{}", directory.trim_end_matches('/'), name.inside)
        };
        let earlier = originals.entry(name.inside).or_insert_with(|| original.clone());
        if *earlier != original {
            let what = format!(
                "{} and {} would be one file in the lane; give them different names",
                shown(earlier),
                shown(&original)
            );
            return Err(setting.place.refuse(what));
        }
    }
    Ok(())
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
    Ok(FioJob { name, directions })
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
}

impl Space {
    fn add(&mut self, settings: &[Setting]) {
        let value = |name: &str| find(settings, name).and_then(|setting| setting.value.as_deref());
        // They touch no file.
        if matches!(value("ioengine"), Some("null" | "cpuio")) {
            return;
        }
        let base = value("kb_base").and_then(|text| take::base_of(text).ok()).unwrap_or(Base::Binary);
        let number = |name: &str| value(name).and_then(|text| values::number(text, base).ok());
        let workers = number("numjobs").unwrap_or(1).max(1);
        let increment = number("offset_increment").unwrap_or(0).saturating_mul(workers - 1);
        let offset = number("offset").unwrap_or(0).saturating_add(increment);
        let names = value("filename").map(take::list).unwrap_or_default();
        let files = if names.is_empty() { number("nrfiles").unwrap_or(1).max(1) } else { names.len() as u64 };
        // The larger end of a range of sizes.
        let largest = value("filesize").and_then(|text| {
            let ends = text.split(['-', ':']).filter_map(|end| values::number(end.trim(), base).ok());
            ends.max()
        });
        let each = largest.unwrap_or_else(|| (number("size").unwrap_or(0) / files).saturating_add(offset));
        if names.is_empty() {
            self.own = self.own.saturating_add(each.saturating_mul(files).saturating_mul(workers));
        }
        for name in names.iter().filter_map(|name| take::inside(name).ok()) {
            let bytes = self.named.entry(name.inside).or_insert(0);
            *bytes = (*bytes).max(each);
        }
    }

    fn bytes(&self) -> u64 {
        self.named.values().fold(self.own, |sum, bytes| sum.saturating_add(*bytes))
    }
}
