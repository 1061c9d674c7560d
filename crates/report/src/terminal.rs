//! The screen during a race: progress and verdicts as they fall on one stream, the result on another.

use crate::clean::{clean, columns, shorten};
use crate::layout::{Phrase, Tone, hang};
use crate::{
    Style, aged, appenders, explanations, facts, io500, ladder, lines, operations, ranks, transactions, words,
};
use model::event::Event;
use model::findings::{Findings, ResultFinding, Verdict};
use std::io::{self, Write};

/// Warnings that the screen shows itself; the others stand in the report.
const WARNINGS_SHOWN: usize = 6;

/// How the screen looks and what it knows beforehand.
#[derive(Debug, Clone, Default)]
pub struct ScreenOptions {
    /// Of the result.
    pub style: Style,
    /// Draw the progress line. Set it only where the progress stream is a terminal and the user
    /// did not ask for quiet: the line is redrawn with control sequences.
    pub progress: bool,
    /// Columns of the terminal that shows the progress line; 0: as the style's width.
    pub progress_width: usize,
    /// Titles of the race's workloads, so that verdicts line up from the first one on.
    pub titles: Vec<String>,
    /// Where the record lies, as the user should see and type it; `None`: nowhere.
    pub record_path: Option<String>,
    /// The record is the newest one that is kept, so that `fairlane report` needs no name to find it.
    pub record_is_last: bool,
}

/// Writes what happens during a race: its result, once, to one stream; what falls meanwhile (ceilings, verdicts, where it
/// is) to the other, only where that is a terminal, and failures anyway.
///
/// It keeps no clock and decides nothing; a verdict that comes again is printed again only where
/// its words changed, marked as settled later.
#[derive(Debug)]
pub struct Screen<Data: Write, Progress: Write> {
    data: Data,
    progress: Progress,
    options: ScreenOptions,
    label_columns: usize,
    now: Now,
    /// The progress line that stands on the terminal; empty: none.
    drawn: String,
    /// Verdicts already printed: workload, group, words.
    printed: Vec<(String, String, String)>,
    failures: Vec<String>,
}

/// Where the race is.
#[derive(Debug, Default)]
struct Now {
    workload: String,
    round: String,
    lane: String,
    elapsed: String,
    note: String,
}

impl<Data: Write, Progress: Write> Screen<Data, Progress> {
    /// A screen on which nothing stands yet.
    pub fn new(data: Data, progress: Progress, options: ScreenOptions) -> Self {
        let label_columns = lines::label_columns(&options.titles);
        Screen {
            data,
            progress,
            options,
            label_columns,
            now: Now::default(),
            drawn: String::new(),
            printed: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Shows an event.
    ///
    /// # Errors
    /// What the streams answer, a closed pipe for one.
    pub fn show(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Ceilings(ceilings) => {
                let line = lines::ceilings(ceilings, self.label_columns, &self.progress_style());
                self.tell(&line)?;
            }
            Event::Verdicts(results) => self.verdicts(results)?,
            Event::Finished(findings) => return self.finish(findings),
            Event::ReportWritten { path } => {
                let mut out = String::new();
                lines::command(&mut out, words::REPORT, &clean(path), &self.options.style);
                return self.say(&out);
            }
            Event::TrialFailed { lane, title, reason } => self.failure(lane, title, reason)?,
            other => self.now.follow(other),
        }
        self.draw()
    }

    /// Takes the progress line off the terminal, so that something else can be written there.
    ///
    /// # Errors
    /// What the stream answers.
    pub fn clear(&mut self) -> io::Result<()> {
        if !self.drawn.is_empty() {
            self.drawn.clear();
            self.progress.write_all(b"\r\x1b[K")?;
            self.progress.flush()?;
        }
        Ok(())
    }

    /// Gives the streams back, the progress line still on them where one is drawn.
    pub fn into_streams(self) -> (Data, Progress) {
        (self.data, self.progress)
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        // The line would otherwise end up in the middle of the data where both are one terminal.
        self.clear()?;
        self.data.write_all(text.as_bytes())?;
        self.data.flush()
    }

    /// How lines look that fall during the race.
    fn progress_style(&self) -> Style {
        let style = self.options.style;
        let width = if self.options.progress_width > 0 { self.options.progress_width } else { style.width };
        Style { width, piped: false, ..style }
    }

    /// Shows a line that falls during the race, where somebody watches it.
    fn tell(&mut self, text: &str) -> io::Result<()> {
        if !self.options.progress || text.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.progress.write_all(text.as_bytes())?;
        self.progress.flush()
    }

    fn verdicts(&mut self, results: &[ResultFinding]) -> io::Result<()> {
        let style = self.progress_style();
        let mut out = String::new();
        let mut label_said: Option<&str> = None;
        if results.first().is_some_and(|first| first.section.is_some()) {
            return self.steps(results);
        }
        for result in results {
            let line = lines::verdict(result, facts::group_of(result, results));
            // Of the lanes of a screening no pair is judged: nothing falls before its end.
            if line.body.is_empty() {
                continue;
            }
            let words = line.body.plain();
            let earlier = self
                .printed
                .iter_mut()
                .find(|(workload, group, _)| *workload == result.workload && *group == result.group);
            let body = match earlier {
                Some((.., said)) if *said == words => continue,
                Some((.., said)) => {
                    *said = words;
                    let open = result.pairs.iter().any(|pair| pair.verdict == Verdict::Undecided);
                    Phrase::default().tone(Tone::Label, words::screen::settled_later(open)).and(line.body)
                }
                None => {
                    self.printed.push((result.workload.clone(), result.group.clone(), words));
                    line.body
                }
            };
            let label = if label_said == Some(&result.workload) { String::new() } else { facts::title(result) };
            label_said = Some(&result.workload);
            hang(&mut out, &label, self.label_columns, &body, line.limit.as_ref(), &style);
        }
        self.tell(&out)
    }

    /// Steps of file operations: how many stand how, in one line. The table comes at the end.
    fn steps(&mut self, results: &[ResultFinding]) -> io::Result<()> {
        let Some(first) = results.first() else { return Ok(()) };
        let body = operations::so_far(results);
        let words = body.plain();
        let earlier = self.printed.iter_mut().find(|(workload, ..)| *workload == first.workload);
        match earlier {
            _ if body.is_empty() => return Ok(()),
            Some((.., said)) if *said == words => return Ok(()),
            Some((.., said)) => *said = words,
            None => self.printed.push((first.workload.clone(), String::new(), words)),
        }
        let mut out = String::new();
        hang(&mut out, &facts::title(first), self.label_columns, &body, None, &self.progress_style());
        self.tell(&out)
    }

    /// The result, once: what fell during the race was progress.
    fn finish(&mut self, findings: &Findings) -> io::Result<()> {
        let style = self.options.style;
        let mut out = format!("\n{}", lines::result(findings, &style));
        if findings.screening.is_none() {
            appenders::text(&mut out, findings, &style);
            transactions::text(&mut out, findings, &style);
            aged::brief(&mut out, findings, &style);
            io500::text(&mut out, findings, &style);
            ladder::brief(&mut out, findings, &style);
            ranks::brief(&mut out, findings, &style);
        }
        if let Some(said) = facts::self_check(findings) {
            hang(&mut out, words::SELF_CHECK, self.label_columns, &said, None, &style);
        }
        let record = self.options.record_path.as_deref();
        let report = match record.filter(|_| !self.options.record_is_last) {
            Some(path) => format!("fairlane report {}", lines::typed(path)),
            None => "fairlane report".to_owned(),
        };
        out.push_str(&lines::warnings(findings, WARNINGS_SHOWN, Some(&report), &style));
        out.push_str(&explanations::pointer(findings, record, &style));
        out.push_str(&lines::closing(
            findings,
            self.options.record_path.as_deref(),
            self.options.record_is_last,
            &style,
        ));
        self.say(&out)
    }

    /// Failures are no progress: they are said wherever the stream goes, each once.
    fn failure(&mut self, lane: &str, title: &str, reason: &str) -> io::Result<()> {
        let said = words::screen::trial_failed(lane, title, reason).plain();
        if self.failures.contains(&said) {
            return Ok(());
        }
        self.clear()?;
        writeln!(self.progress, "{said}")?;
        self.progress.flush()?;
        self.failures.push(said);
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        if !self.options.progress {
            return Ok(());
        }
        let width = match self.options.progress_width {
            0 => self.options.style.columns(),
            width => width,
        };
        // One column stays free: a full line would make some terminals break it.
        let line = shorten(&self.now.line(), width.saturating_sub(1).max(1)).replace(crate::layout::GLUE, " ");
        if line == self.drawn {
            return Ok(());
        }
        if line.is_empty() {
            return self.clear();
        }
        write!(self.progress, "\r{line}\x1b[K")?;
        self.progress.flush()?;
        debug_assert!(columns(&line) < width.max(2), "the progress line fits");
        self.drawn = line;
        Ok(())
    }
}

impl Now {
    fn follow(&mut self, event: &Event) {
        match event {
            Event::WritingImages { done_bytes, total_bytes } => {
                self.workload = words::screen::writing_images(*done_bytes, *total_bytes);
            }
            Event::WorkloadStarted { title, number, of } => {
                *self = Now { elapsed: std::mem::take(&mut self.elapsed), ..Now::default() };
                self.workload = words::screen::workload(title, *number, *of);
            }
            Event::RoundStarted { round, look_at, elapsed_seconds, budget_seconds, title, .. } => {
                // Rounds of an earlier workload may come back once the others are done.
                if !self.workload.ends_with(&shorten(title, facts::LABEL_COLUMNS)) {
                    self.workload = shorten(title, facts::LABEL_COLUMNS);
                }
                self.round = words::screen::round(*round, *look_at);
                self.elapsed = words::screen::elapsed(*elapsed_seconds, *budget_seconds);
                self.lane.clear();
                self.note.clear();
            }
            Event::LaneStarted { lane, phase } => {
                self.lane = format!("{} {phase}", shorten(lane, 40));
            }
            Event::Explaining { title } => {
                *self = Now { elapsed: std::mem::take(&mut self.elapsed), ..Now::default() };
                self.workload = words::screen::explaining(title);
            }
            Event::RoundRepeated { reason, .. } => self.note = words::screen::repeated(reason),
            Event::Ceilings(_)
            | Event::Verdicts(_)
            | Event::Finished(_)
            | Event::RoundRecorded { .. }
            | Event::ReportWritten { .. }
            | Event::TrialFailed { .. } => {}
        }
    }

    fn line(&self) -> String {
        // What may be cut on a narrow terminal stands last.
        [&self.workload, &self.round, &self.elapsed, &self.lane, &self.note]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }
}
