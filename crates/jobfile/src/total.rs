//! What the jobs of a file come to together: a short file may ask for much, because each job has its own copy of what a
//! [global] section gives it.

use crate::Place;
use model::Bytes;
use model::job::Job;
use std::collections::BTreeSet;

/// Names and options of all jobs together.
const MOST_TEXT_BYTES: usize = 64 << 20;
/// All notes together.
const MOST_NOTE_BYTES: usize = 16 << 20;

/// Notes, each once.
#[derive(Default)]
pub(crate) struct Notes {
    texts: Vec<String>,
    seen: BTreeSet<String>,
    bytes: usize,
}

impl Notes {
    /// Beyond the bound nothing is kept: [`Notes::check`] refuses the file.
    pub fn add(&mut self, place: &Place, what: &str) {
        let text = format!("{}:{}: {what}", place.file, place.line);
        if self.bytes <= MOST_NOTE_BYTES && self.seen.insert(text.clone()) {
            self.bytes += text.len();
            self.texts.push(text);
        }
    }

    pub fn check(&self) -> Result<(), String> {
        match self.bytes {
            ..=MOST_NOTE_BYTES => Ok(()),
            _ => Err(format!(
                "the notes on the file up to here take more than {}; leave out options that are without effect",
                Bytes(MOST_NOTE_BYTES as u64)
            )),
        }
    }

    pub fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

/// The jobs so far.
#[derive(Default)]
pub(crate) struct Total {
    files: u64,
    text_bytes: usize,
}

impl Total {
    /// Counts a job in.
    ///
    /// # Errors
    /// The sentence: with this job there is too much of something.
    pub fn add(&mut self, job: &Job, notes: &Notes) -> Result<(), String> {
        self.files = self.files.saturating_add(job.io.files_of_all());
        model::job::check_files(self.files)?;
        self.text_bytes = self.text_bytes.saturating_add(text_bytes(job));
        if self.text_bytes > MOST_TEXT_BYTES {
            return Err(format!(
                "the names and options of the jobs up to here take more than {} together; shorten them or leave jobs out",
                Bytes(MOST_TEXT_BYTES as u64)
            ));
        }
        notes.check()
    }
}

/// Bytes of the texts that a job keeps.
fn text_bytes(job: &Job) -> usize {
    let options = job.options.iter().map(|(name, value)| name.len() + value.len());
    let names = [&job.name, &job.io.filename_format].into_iter().chain(&job.wait_for).chain(&job.io.filename);
    options.chain(names.map(String::len)).fold(0, usize::saturating_add)
}
