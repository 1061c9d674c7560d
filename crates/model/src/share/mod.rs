//! A record made fit to be given away: what tells whose machine it was is replaced, and no figure changes.
//!
//! It lies beside the types because whoever adds a text to a record has to decide here what becomes of it.

mod durability;
mod header;
mod kinds;
mod lines;
mod ordinary;
mod patterns;
mod sharer;
mod shield;
#[cfg(test)]
mod tests;

pub use shield::{Private, Removed, Sort};

use crate::durability::{DurabilityLine, DurabilityRecord};
use crate::lane::Contestant;
use crate::record::{Brief, EndOutcome, Header, Line, Record, RecordError, header_of};
use crate::workload::{Kind, Workload};
use serde_json::Value;
use sharer::Sharer;
use std::collections::BTreeSet;

/// Kinds of lines of a record of durability, the first one aside.
const OF_DURABILITY: [&str; 7] = ["cuts", "failed", "speed", "damage", "full", "fault", "end"];
/// Keys whose values are no texts: figures, deflated and in base64, which were looked at before; and what bytes are written.
const NO_TEXTS: [&str; 2] = ["histogram", "data"];
/// How names of files end that stay in a line that repeats a race.
const OF_FILES: [&str; 2] = [".toml", ".fio"];
/// Lines of one sort of words that stay, at most.
const MOST_LINES: usize = 40;
/// Characters of such a line that holds several; longer ones are cut where they are shown.
const LINE_CHARACTERS: usize = 100;

/// Why a record is not shared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// It is no record of a race, or a damaged one.
    #[error("{0}")]
    Record(#[from] RecordError),
    /// It is a damaged record of durability.
    #[error("{0}")]
    Durability(String),
    /// A line cannot be read as what it says it is.
    #[error("line {line} of this record is damaged ({reason}); share another, or mend it")]
    Damaged {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Something private stands where nobody replaced it.
    #[error(
        "line {line} of what was to be written still holds something like a {what} ({text:?}): it is left; report this; nothing was written"
    )]
    Left {
        /// From 1.
        line: usize,
        /// What it looks like.
        what: &'static str,
        /// It itself.
        text: String,
    },
}

/// What of a record is known while it is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its race came to its end; otherwise it still runs, was interrupted, or crashed.
    pub is_over: bool,
    /// Its last line is incomplete, and left out.
    pub is_cut_off: bool,
    /// Lines of kinds that this version does not know, which are left out.
    pub unknown_lines: usize,
    /// What stays, by what it is: `suite`, `lanes`, `CPU`.
    pub stays: Vec<(&'static str, String)>,
}

/// A record that is being shared, alone or with one that belongs to it: what is private has one placeholder in both.
pub struct Sharing<'a> {
    sharer: Sharer,
    sources: Vec<Source<'a>>,
}

/// One of the records.
struct Source<'a> {
    text: &'a str,
    is_race: bool,
    facts: Facts,
}

impl<'a> Source<'a> {
    fn new(text: &'a str, is_race: bool, is_over: bool) -> Source<'a> {
        let is_cut_off = text.contains('\n') && !text.ends_with('\n');
        Source { text, is_race, facts: Facts { is_over, is_cut_off, unknown_lines: 0, stays: Vec::new() } }
    }
}

impl<'a> Sharing<'a> {
    /// Reads a record and learns what is private in it. `text`: the whole file; `private`: what is known of this machine and
    /// its user.
    ///
    /// # Errors
    /// [`ShareError`] where it is no record, or damaged.
    pub fn begin(text: &'a str, private: &[Private]) -> Result<Sharing<'a>, ShareError> {
        match DurabilityRecord::is_one(text) {
            true => Sharing::of_durability(text, private),
            false => Sharing::of_races(text, None, private),
        }
    }

    /// The same of a race with another one that belongs to it: of a screening with the race of its proposal.
    ///
    /// # Errors
    /// As [`Sharing::begin`], where one of them is none, or damaged.
    pub fn begin_both(text: &'a str, other: &'a str, private: &[Private]) -> Result<Sharing<'a>, ShareError> {
        Sharing::of_races(text, Some(other), private)
    }

    fn of_races(text: &'a str, other: Option<&'a str>, private: &[Private]) -> Result<Sharing<'a>, ShareError> {
        let is_over = |end: Option<EndOutcome>| end.is_some_and(EndOutcome::rounds_are_done);
        let read = |text: &'a str| Record::parse(text).map(|Record { header, end, .. }| (text, header, is_over(end)));
        let first = read(text)?;
        let (_, header, _) = &first;
        let other = other.map(read).transpose()?;
        let headers = || std::iter::once(header).chain(other.iter().map(|(_, header, _)| header));
        let lanes = headers().flat_map(|header| &header.lanes);
        let own = lanes.flat_map(|lane| [lane.filesystem.as_str(), lane.venue.as_str()]);
        let texts: Vec<&str> = std::iter::once(text).chain(other.iter().map(|(text, ..)| *text)).collect();
        let mut sharer = Sharer::new(&texts, (&header.started, header.seed), &header.machine, own);
        headers().skip(1).for_each(|header| sharer.know_machine(&header.machine));
        sharer.know_all(private);
        headers().for_each(|header| sharer.learn(header));
        let sources = std::iter::once(first).chain(other);
        Ok(Sharing { sharer, sources: sources.map(|(text, _, is_over)| Source::new(text, true, is_over)).collect() })
    }

    fn of_durability(text: &'a str, private: &[Private]) -> Result<Sharing<'a>, ShareError> {
        let DurabilityRecord { header, end, .. } = DurabilityRecord::parse(text).map_err(ShareError::Durability)?;
        let own = header.lanes.iter().map(|lane| lane.filesystem.as_str());
        let mut sharer = Sharer::new(&[text], (&header.started, header.seed), &header.machine, own);
        sharer.know_all(private);
        sharer.learn_durability(&header);
        Ok(Sharing { sharer, sources: vec![Source::new(text, false, end.is_some())] })
    }

    /// Hands out the lines of the shared record, without their ends. Every pass over them gives the same ones; what was
    /// replaced is counted in each anew.
    ///
    /// # Errors
    /// [`ShareError`] where a line is damaged or holds something private all the same, and what `take` answers.
    pub fn each_line<E: From<ShareError>>(&mut self, take: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.each_line_of(0, take)
    }

    /// The same of one of the records: 0 is the first one, 1 the other; there is none behind them.
    ///
    /// # Errors
    /// As [`Sharing::each_line`].
    pub fn each_line_of<E: From<ShareError>>(
        &mut self,
        at: usize,
        mut take: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.sharer.shield.count_anew();
        let source = &mut self.sources[at];
        source.facts.unknown_lines = 0;
        let text = source.text;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            // What a reader leaves out.
            if number > 1 && !line.ends_with('\n') {
                break;
            }
            match self.shared(at, number, line)? {
                Some(json) => take(&json)?,
                None => self.sources[at].facts.unknown_lines += 1,
            }
        }
        Ok(())
    }

    /// What was replaced in the last pass.
    pub fn removed(&self) -> Vec<Removed> {
        self.sharer.shield.removed()
    }

    /// Names of people and machines that are ordinary words (`root`, `localhost`), and stay.
    pub fn ordinary(&self) -> &[Private] {
        self.sharer.shield.ordinary()
    }

    /// What else is known of it; complete behind a pass.
    pub fn facts(&self) -> &Facts {
        self.facts_of(0)
    }

    /// The same of one of the records, counted as in [`Sharing::each_line_of`].
    pub fn facts_of(&self, at: usize) -> &Facts {
        &self.sources[at].facts
    }

    /// A line as it is shared; `None`: it is of a kind that this version does not know.
    fn shared(&mut self, at: usize, number: usize, line: &str) -> Result<Option<String>, ShareError> {
        let damaged = |reason: String| ShareError::Damaged { line: number, reason: crate::text::quoted(&reason) };
        let json = match self.sources[at].is_race {
            true => self.race_line(at, number, line),
            false => self.durability_line(at, number, line),
        };
        let Some(json) = json.map_err(damaged)? else { return Ok(None) };
        let written: Value = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
        match self.left(&written) {
            Some(Private { sort, text }) => {
                Err(ShareError::Left { line: number, what: sort.words(), text: crate::text::quoted(&text) })
            }
            None => Ok(Some(json)),
        }
    }

    fn race_line(&mut self, at: usize, number: usize, line: &str) -> Result<Option<String>, String> {
        let read = match number {
            // Within the bounds of every reader.
            1 => Some(Line::Header(Box::new(header_of(line.as_bytes()).map_err(|error| error.to_string())?))),
            _ => Line::read(line)?,
        };
        let Some(mut read) = read else { return Ok(None) };
        self.sharer.line(&mut read);
        if let Line::Header(header) = &read {
            self.sources[at].facts.stays = stays(header);
        }
        read.to_json().map(Some).map_err(|error| error.to_string())
    }

    fn durability_line(&mut self, at: usize, number: usize, line: &str) -> Result<Option<String>, String> {
        let told = |error: serde_json::Error| error.to_string();
        if number > 1 {
            let brief: Option<Brief> = match serde_json::from_str(line) {
                Err(error) if error.is_data() => None,
                read => Some(read.map_err(told)?),
            };
            if !brief.is_some_and(|brief| OF_DURABILITY.contains(&brief.kind.as_ref())) {
                return Ok(None);
            }
        }
        let mut read: DurabilityLine = serde_json::from_str(line).map_err(told)?;
        self.sharer.durability_line(&mut read);
        if let DurabilityLine::Durability(header) = &read {
            let lanes: Vec<&str> = header.lanes.iter().map(|lane| lane.name.as_str()).collect();
            let stays = &mut self.sources[at].facts.stays;
            *stays = in_lines("lanes", &lanes);
            stays.push(("machine", header.machine.in_one_line()));
        }
        serde_json::to_string(&read).map(Some).map_err(told)
    }

    /// The first private thing in what is written, wherever it stands. Names are not looked for among keys, which are the
    /// format's own but for those of maps, and those are texts that were looked through.
    fn left(&self, written: &Value) -> Option<Private> {
        match written {
            Value::String(text) => self.sharer.shield.left(text),
            Value::Array(list) => list.iter().find_map(|value| self.left(value)),
            Value::Object(object) => object.iter().find_map(|(key, value)| match key.as_str() {
                key if NO_TEXTS.contains(&key) => None,
                key if key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => self.left(value),
                key => self.sharer.shield.left(key).or_else(|| self.left(value)),
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// Words of people that stay, because reports pair by them, and what tells which kind of machine it was.
fn stays(header: &Header) -> Vec<(&'static str, String)> {
    let plan = &header.plan;
    let of_work = |texts: fn(&Workload) -> Vec<&str>| plan.workloads.iter().flat_map(texts).collect::<Vec<&str>>();
    let mut all = vec![("suite", plan.suite.clone())];
    for (what, texts) in [
        ("lanes", header.lanes.iter().map(|lane| lane.name.as_str()).collect::<Vec<&str>>()),
        ("workloads", of_work(|workload| vec![workload.name.as_str()])),
        ("titles", of_work(|workload| vec![workload.title.as_str()])),
        ("steps", of_work(steps)),
        ("jobs", of_work(jobs)),
        ("sets of files", of_work(sets)),
        ("files", files(header)),
    ] {
        all.extend(in_lines(what, &texts));
    }
    all.extend([
        ("machine", header.machine.in_one_line()),
        ("disk", header.machine.device.model.clone()),
        ("begin", header.started.clone()),
    ]);
    all.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect()
}

/// Names of a workload's steps, of their sections, and of another tool's kinds of operations.
fn steps(workload: &Workload) -> Vec<&str> {
    match &workload.kind {
        Kind::Operations(of) => of.step.iter().flat_map(|step| [step.name.as_str(), step.section.as_str()]).collect(),
        Kind::Programs(of) => of.step.iter().map(|step| step.name.as_str()).collect(),
        Kind::Mix(of) => of.step.iter().map(|step| step.name.as_str()).collect(),
        Kind::Foreign(of) => of.groups.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Names of the jobs of a job file.
fn jobs(workload: &Workload) -> Vec<&str> {
    match &workload.kind {
        Kind::Jobs(of) => of.jobs.iter().map(|job| job.name.as_str()).collect(),
        Kind::Fio(of) => of.jobs.iter().map(|job| job.name.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Names of sets of files.
fn sets(workload: &Workload) -> Vec<&str> {
    match &workload.kind {
        Kind::Operations(of) => of.files.iter().map(|set| set.name.as_str()).collect(),
        Kind::Mix(of) => of.files.iter().map(|pool| pool.name.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Names of job files, of suites' files and of files of filesystems of the user's own.
fn files(header: &Header) -> Vec<&str> {
    let plan = &header.plan;
    let of_work = plan.workloads.iter().filter_map(|workload| match &workload.kind {
        Kind::Jobs(of) => Some(of.file.as_str()),
        Kind::Fio(of) => Some(of.file.as_str()),
        _ => None,
    });
    let of_lanes = plan.lanes.iter().filter_map(|lane| match &lane.contestant {
        Contestant::Custom(path) => path.to_str(),
        Contestant::Filesystem(_) | Contestant::Directory(_) => None,
    });
    // A word with a sign of equality is the line of a lane, which was looked at.
    let is_file = |word: &&str| !word.contains('=') && OF_FILES.iter().any(|end| word.ends_with(end));
    let of_line = plan.command_line.iter().skip(2).map(String::as_str).filter(is_file);
    let all = of_work.chain(of_lanes).chain(of_line);
    all.map(|name| name.strip_prefix("./").unwrap_or(name)).collect()
}

/// Texts between commas, each once, in lines that are shown whole; what is more than is read is counted.
fn in_lines(what: &'static str, texts: &[&str]) -> Vec<(&'static str, String)> {
    let mut seen = BTreeSet::new();
    let mut lines: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for &text in texts.iter().filter(|text| !text.trim().is_empty()) {
        if !seen.insert(text) {
            continue;
        }
        let is_full = lines.len() >= MOST_LINES;
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + text.chars().count() <= LINE_CHARACTERS => {
                line.push_str(", ");
                line.push_str(text);
            }
            Some(_) if is_full => more += 1,
            _ => lines.push(text.to_owned()),
        }
    }
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.into_iter().map(|line| (what, line)).collect()
}
