//! Names of files and jobs: what they are called in the lane, so that no two of them meet by accident.

use crate::shown;
use model::job::{Job, MOST_FILES};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::rc::Rc;

/// Longest `directory`: Linux takes no longer path.
const LONGEST_DIRECTORY_BYTES: usize = 4096;

/// A name of a file in the lane, and the name that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// Relative, without `.` and `..`.
    pub inside: String,
    /// As the job file has it, with its directory.
    pub original: String,
}

/// The name of a file inside the lane.
pub(crate) fn inside(name: &str) -> Result<Name, String> {
    let path = Path::new(name);
    if name.is_empty() || name == "-" || name.chars().any(char::is_control) {
        return Err(format!("{} is no name of a file; change it", shown(name)));
    }
    let parts: Vec<Component> = path.components().filter(|part| *part != Component::CurDir).collect();
    if parts.contains(&Component::ParentDir) {
        return Err(format!("{} leaves the lane with `..`; write a name without it", shown(name)));
    }
    if path.is_absolute() && parts.get(1).is_some_and(|part| part.as_os_str() == "dev") {
        return Err(format!(
            "{} lies in /dev, and devices of a job file are never touched; remove filename and give size",
            shown(name)
        ));
    }
    let inside = match (path.is_absolute(), parts.last()) {
        (true, Some(Component::Normal(last))) => last.to_string_lossy().into_owned(),
        (false, Some(_)) => parts.iter().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"),
        _ => return Err(format!("{} is no name of a file; change it", shown(name))),
    };
    // fio takes it for its standard input and output.
    if inside == "-" {
        return Err(format!("{} is no name of a file; change it", shown(name)));
    }
    short_enough(&inside)?;
    Ok(Name { inside, original: name.to_owned() })
}

/// Refuses names that Linux has no room for: 255 bytes for each part of a path. The whole gets what
/// the lane's own folder leaves of 4096.
pub(crate) fn short_enough(name: &str) -> Result<(), String> {
    let part = name.split('/').map(str::len).max().unwrap_or(0);
    match (part, name.len()) {
        (..=255, ..=3072) => Ok(()),
        (..=255, bytes) => Err(format!("{} is a path of {bytes} bytes, above 3072; shorten it", shown(name))),
        (bytes, _) => Err(format!("{} is a file name of {bytes} bytes, above 255; shorten it", shown(name))),
    }
}

/// The names of a list; `\:` is a colon. It ends after one name more than a job may have: whoever counts refuses it.
pub(crate) fn list(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = names.len() - 1;
        match letter {
            '\\' if letters.peek() == Some(&':') => names[last].extend(letters.next()),
            ':' if names.len() > MOST_FILES as usize => break,
            ':' => names.push(String::new()),
            letter => names[last].push(letter),
        }
    }
    names
}

/// The meaning of `directory=`, which is kept for every file in it.
pub(crate) fn directory(text: &str) -> Result<&str, String> {
    match text.len() {
        ..=LONGEST_DIRECTORY_BYTES => Ok(text),
        bytes => Err(format!("directory has {bytes} bytes, above {LONGEST_DIRECTORY_BYTES}; shorten it")),
    }
}

/// What a file of the lane stands for. Thousands of files share one directory's text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Original {
    /// Empty where the name says it all.
    directory: Rc<str>,
    name: String,
}

impl Original {
    fn text(&self) -> String {
        match &*self.directory {
            "" => self.name.clone(),
            directory => format!("{}/{}", directory.trim_end_matches('/'), self.name),
        }
    }
}

/// Files in the lane, and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, Original>);

impl Files {
    /// Refuses files of different directories that would be one file in the lane.
    pub fn add(&mut self, names: &[Name], directory: &Rc<str>) -> Result<(), String> {
        for name in names {
            let whole = name.original.starts_with('/') || directory.is_empty();
            let original = match whole {
                true => Original { directory: Rc::from(""), name: name.original.clone() },
                false => Original { directory: Rc::clone(directory), name: name.inside.clone() },
            };
            let Some(earlier) = self.0.get(&name.inside) else {
                self.0.insert(name.inside.clone(), original);
                continue;
            };
            if *earlier != original && earlier.text() != original.text() {
                return Err(format!(
                    "{} and {} would be one file in the lane; give them different names",
                    shown(&earlier.text()),
                    shown(&original.text())
                ));
            }
        }
        Ok(())
    }
}

/// Names of jobs, and how many sections have them.
#[derive(Debug, Default)]
pub(crate) struct JobNames(BTreeMap<String, u32>);

impl JobNames {
    /// Gives a job a name of its own, and says which in a note; its files keep fio's names.
    ///
    /// # Errors
    /// The option to blame, and the sentence.
    pub fn add(&mut self, job: &mut Job) -> Result<Option<String>, (&'static str, String)> {
        let uses_name = job.io.filename_format.is_empty() || job.io.filename_format.contains("$jobname");
        if job.io.filename.is_empty() && uses_name {
            let named = inside(&job.name).map_err(|what| ("name", what))?;
            if job.name.starts_with('/') || named.inside.is_empty() {
                return Err(("name", format!("job {} names files outside the lane; rename it", shown(&job.name))));
            }
        }
        if job.io.filename.is_empty() {
            let (worker, file) = (job.io.numjobs.saturating_sub(1), job.io.nrfiles.saturating_sub(1));
            let last = model::job::file_name(&job.io.filename_format, &job.name, worker, file);
            let option = if job.io.filename_format.is_empty() { "name" } else { "filename_format" };
            short_enough(&last).map_err(|what| (option, what))?;
        }
        let name = job.name.clone();
        let count = self.0.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return Ok(None);
        }
        job.name = format!("{name}#{count}");
        if self.0.contains_key(&job.name) {
            return Err(("name", format!("job {} is named twice; rename one", shown(&name))));
        }
        self.0.insert(job.name.clone(), 1);
        let format = &mut job.io.filename_format;
        *format =
            if format.is_empty() { format!("{name}.$jobnum.$filenum") } else { format.replace("$jobname", &name) };
        Ok(Some(format!("job {} is reported as {}: its name is taken", shown(&name), shown(&job.name))))
    }
}
