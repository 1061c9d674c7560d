//! The text of a job file: sections, settings, includes, variables.

use crate::variables::Variables;
use crate::{JobFileError, Place, Surroundings, one_line, options, shown};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Most files that may be included, one inside the other.
const DEEPEST_INCLUDE: usize = 16;
/// Most files that may be included in all; a file may be included more than once.
const MOST_INCLUDES: u32 = 1000;
/// Most settings of all sections together, so that includes cannot multiply without end.
const MOST_SETTINGS: usize = 200_000;
/// Most jobs; fio's own limit is of this size.
const MOST_JOBS: usize = 2048;

/// A job file, read.
#[derive(Debug)]
pub(crate) struct Document {
    /// Sections in order, `[global]` among them.
    pub sections: Vec<Section>,
    /// Where the file as a whole is.
    pub place: Place,
}

/// `[NAME]` and what follows.
#[derive(Debug)]
pub(crate) struct Section {
    pub name: String,
    pub global: bool,
    pub place: Place,
    pub settings: Vec<Setting>,
}

/// `OPTION=VALUE`.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// The option's row.
    pub row: &'static options::Row,
    /// As it was written: the option's name or an alias.
    pub written: String,
    /// With variables replaced; `None`: the bare option.
    pub value: Option<Rc<str>>,
    pub place: Place,
}

/// Reads a job file with everything that it includes.
pub(crate) fn read(path: &Path, surroundings: &Surroundings) -> Result<Document, JobFileError> {
    let place = Place { file: file_name(path), line: 0 };
    let text = (surroundings.read)(path)
        .map_err(|error| place.refuse(format!("cannot be read ({}); name a text file with jobs", reason(&error))))?;
    let mut reader = Reader {
        surroundings,
        variables: Variables::new(surroundings),
        sections: Vec::new(),
        open: Vec::new(),
        includes: 0,
        settings: 0,
        jobs: 0,
    };
    reader.file(path, &text)?;
    if reader.jobs == 0 {
        return Err(place.refuse("has no job; add a section such as [job]"));
    }
    Ok(Document { sections: reader.sections, place })
}

/// The path, fit for one line of text.
fn file_name(path: &Path) -> Rc<str> {
    path.to_string_lossy().chars().map(one_line).collect::<String>().into()
}

fn reason(error: &std::io::Error) -> String {
    error.to_string().chars().map(one_line).collect()
}

struct Reader<'a> {
    surroundings: &'a Surroundings<'a>,
    variables: Variables<'a>,
    sections: Vec<Section>,
    /// Files being read, the outermost first.
    open: Vec<PathBuf>,
    includes: u32,
    /// Options and sections.
    settings: usize,
    jobs: usize,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, text: &str) -> Result<(), JobFileError> {
        self.open.push(tidy(path));
        let file = file_name(path);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.split('\n').enumerate() {
            let place = Place { file: Rc::clone(&file), line: u32::try_from(index + 1).unwrap_or(u32::MAX) };
            self.line(line, path, &place)?;
        }
        self.open.pop();
        Ok(())
    }

    fn line(&mut self, line: &str, path: &Path, place: &Place) -> Result<(), JobFileError> {
        if line.contains('\0') {
            return Err(place.refuse("holds a NUL byte, so it is no text; remove it"));
        }
        // fio ends a line at the first `;` or `#`, wherever it stands.
        let line = line.split([';', '#']).next().unwrap_or("").trim();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix('[') {
            return self.section(rest, place);
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        if let Some(target) = include(key, value) {
            if target.is_empty() {
                return Err(place.refuse("include names no file; write include FILE"));
            }
            return self.include(target, path, place);
        }
        if key.is_empty() {
            return Err(place.refuse("no option stands before the `=`; write OPTION=VALUE, or remove the line"));
        }
        self.setting(key, value, place)
    }

    fn section(&mut self, rest: &str, place: &Place) -> Result<(), JobFileError> {
        if self.open.len() > 1 {
            return Err(place.refuse("a section begins inside an included file; keep sections in the job file"));
        }
        let Some(name) = rest.strip_suffix(']').map(str::trim) else {
            return Err(place.refuse(format!("section {} does not end with ]; write [NAME]", shown(rest))));
        };
        if name.is_empty() {
            return Err(place.refuse("a section has no name; write [NAME]"));
        }
        // As fio: whatever begins with `global` is global.
        let global = name.starts_with("global");
        self.jobs += usize::from(!global);
        if self.jobs > MOST_JOBS {
            return Err(place.refuse(format!("the file has more than {MOST_JOBS} jobs; split it into several files")));
        }
        self.one_more(place)?;
        self.sections.push(Section { name: name.to_owned(), global, place: place.clone(), settings: Vec::new() });
        Ok(())
    }

    fn include(&mut self, target: &str, path: &Path, place: &Place) -> Result<(), JobFileError> {
        let target = self.variables.expand("include", target, place)?;
        let path = path.parent().unwrap_or(Path::new("")).join(&*target);
        self.includes += 1;
        if self.open.contains(&tidy(&path)) {
            return Err(place.refuse(format!("include {} comes back to itself; remove one include", shown(&target))));
        }
        if self.open.len() > DEEPEST_INCLUDE || self.includes > MOST_INCLUDES {
            return Err(place.refuse(format!(
                "includes go deeper than {DEEPEST_INCLUDE} files or past {MOST_INCLUDES} in all; include less"
            )));
        }
        let text = (self.surroundings.read)(&path).map_err(|error| {
            place.refuse(format!("include {} cannot be read ({}); check the path", shown(&target), reason(&error)))
        })?;
        self.file(&path, &text)
    }

    fn setting(&mut self, key: &str, value: Option<&str>, place: &Place) -> Result<(), JobFileError> {
        if self.sections.is_empty() {
            return Err(place.refuse(format!("{} stands before any section; put [global] above it", shown(key))));
        }
        let Some(row) = options::find(key) else {
            let near = match options::nearest(key) {
                Some(near) => format!("did you mean {near}?"),
                None => "remove it".to_owned(),
            };
            return Err(place.refuse(format!("option {} is unknown; {near}", shown(key))));
        };
        if value.is_none() && !row.bare {
            return Err(place.refuse(format!("{key} needs a value; write {key}=VALUE")));
        }
        self.one_more(place)?;
        let value = value.map(|value| self.variables.expand(key, value, place)).transpose()?;
        let setting = Setting { row, written: key.to_owned(), value: value.map(Rc::from), place: place.clone() };
        if let Some(section) = self.sections.last_mut() {
            section.settings.push(setting);
        }
        Ok(())
    }

    fn one_more(&mut self, place: &Place) -> Result<(), JobFileError> {
        self.settings += 1;
        if self.settings > MOST_SETTINGS {
            return Err(place.refuse(format!("more than {MOST_SETTINGS} options come together here; include less")));
        }
        Ok(())
    }
}

/// The file of `include FILE` or `include=FILE`.
fn include<'a>(key: &'a str, value: Option<&'a str>) -> Option<&'a str> {
    match (key.strip_prefix("include"), value) {
        (Some(""), target) => Some(target.unwrap_or("")),
        // A file name may itself hold a `=`.
        (Some(rest), None) if rest.starts_with(char::is_whitespace) => Some(rest.trim()),
        _ => None,
    }
}

/// The path without `.` and with `..` taken back, so that one file has one name.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
