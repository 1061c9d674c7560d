//! What a race shows: verdicts on standard output (or on standard error, where that is kept for
//! something else), progress on standard error and only on a terminal, but for a few lines of a screening in a log.

use crate::failure::Failure;
use crate::owner::Owner;
use crate::terminal::{self, Clean};
use model::event::Event;
use model::units::human_seconds;
use report::{PlanSummary, Screen, ScreenOptions, Style};
use std::io::{IsTerminal, Stderr, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A log has one line of a race in so long at most.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// Where plan and verdicts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Standard output.
    Out,
    /// Standard error: standard output is kept for figures.
    Err,
    /// The plan on standard output, then only progress: what comes of the race the command says itself.
    Plan,
    /// The same of a race that tunes: of its length, which nobody sets, nothing is said.
    Tuning,
}

impl Channel {
    fn writer(self) -> Box<dyn Write> {
        match self {
            Channel::Out | Channel::Plan | Channel::Tuning => Box::new(terminal::out(style().colour)),
            Channel::Err => Box::new(terminal::err()),
        }
    }

    fn style(self) -> Style {
        match self {
            Channel::Out | Channel::Plan | Channel::Tuning => style(),
            Channel::Err => style_on(&std::io::stderr()),
        }
    }

    /// Prints text.
    ///
    /// # Errors
    /// When standard output cannot be written. What standard error does not take is lost.
    pub fn print(self, text: &str) -> Result<(), Failure> {
        match self {
            Channel::Out | Channel::Plan | Channel::Tuning => super::report::print(text),
            Channel::Err => {
                let mut err = terminal::err();
                let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
                Ok(())
            }
        }
    }
}

/// The screen of one race.
pub struct Show {
    screen: Screen<Box<dyn Write>, Clean<Stderr>>,
    quiet: bool,
    channel: Channel,
    /// What stands on standard error where that is no terminal; `None`: nothing does.
    log: Option<Log>,
}

/// How far a race is, for a log: a screening and what follows it take long and say nothing else meanwhile.
struct Log {
    /// When its last line was written, or the race began.
    last: Instant,
}

impl Log {
    /// The line of an event, where it is time for one.
    fn line(&mut self, event: &Event, now: Instant) -> Option<String> {
        let Event::RoundStarted { title, round, look_at, elapsed_seconds, budget_seconds, .. } = event else {
            return None;
        };
        if now.saturating_duration_since(self.last) < BETWEEN_LINES {
            return None;
        }
        self.last = now;
        let most = budget_seconds.map_or_else(String::new, |most| format!(" of at most {}", human_seconds(most)));
        let raced = human_seconds(*elapsed_seconds);
        Some(report::clean_text(&format!(
            "{title}: round {round} begins, looked at after {look_at}; raced {raced}{most}"
        )))
    }
}

impl Show {
    /// A screen for a race whose workloads and record are known.
    pub fn new(channel: Channel, quiet: bool, titles: Vec<String>, record_path: &Path) -> Self {
        let options = ScreenOptions {
            style: channel.style(),
            progress: !quiet && std::io::stderr().is_terminal(),
            progress_width: terminal_width(&std::io::stderr()).unwrap_or(0),
            titles,
            record_path: Some(tilde(record_path)),
            record_is_last: crate::state::is_kept(record_path),
        };
        let is_logged = !quiet && !options.progress && matches!(channel, Channel::Plan | Channel::Tuning);
        let log = is_logged.then(|| Log { last: Instant::now() });
        Show { screen: Screen::new(channel.writer(), terminal::err(), options), quiet, channel, log }
    }

    /// Shows an event. With `--quiet` only the end, and not even that where the result is something
    /// else. A reader that left does not end a race.
    pub fn event(&mut self, event: &Event) {
        if let Some(line) = self.log.as_mut().and_then(|log| log.line(event, Instant::now())) {
            terminal::say!("{line}");
        }
        let of_the_race = matches!(event, Event::Finished(_) | Event::Verdicts(_) | Event::Ceilings(_));
        if of_the_race && matches!(self.channel, Channel::Plan | Channel::Tuning) {
            return;
        }
        let ends = matches!(event, Event::Finished(_) | Event::ReportWritten { .. });
        let result = ends && self.channel == Channel::Out;
        if !self.quiet || result || matches!(event, Event::TrialFailed { .. }) {
            let _ = self.screen.show(event);
        }
    }

    /// Leaves out the lines for a log, of a race whose number of rounds says nothing of how long it is.
    pub fn without_log(&mut self) {
        self.log = None;
    }

    /// Takes the progress line away, so that something else can be written.
    pub fn clear(&mut self) {
        let _ = self.screen.clear();
    }
}

/// Prints what the race will write and for how long, before it does.
///
/// # Errors
/// When standard output cannot be written.
pub fn plan(summary: &PlanSummary, channel: Channel) -> Result<(), Failure> {
    channel.print(&report::plan_lines(summary, &channel.style()))
}

/// How text looks on standard output.
pub fn style() -> Style {
    style_on(&std::io::stdout())
}

fn style_on(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Style {
    let terminal = stream.is_terminal();
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let width = terminal_width(stream).unwrap_or(Style::default().width);
    Style { colour: terminal && wanted, width, piped: !terminal, sudo: types_sudo() }
}

/// A command that formats and mounts, as whoever reads it types it: with `sudo` where he is not root and its lanes are in no
/// guest.
pub fn with_sudo(line: String, in_guest: bool) -> String {
    if types_sudo() && !in_guest { format!("sudo {line}") } else { line }
}

/// Whether who reads this has to ask for root's rights, and can.
fn types_sudo() -> bool {
    let is_other = !lanes::host::is_root() || Owner::current().ids().is_some();
    is_other && lanes::command::find_on_path("sudo").is_some()
}

fn terminal_width(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// A path as its user would type it: `~` for the home folder.
pub fn tilde(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Asks the person at the terminal to type the last characters of a serial number; Ctrl-C is heard
/// while it waits.
pub struct Typed<'a> {
    /// Ctrl-C or SIGTERM.
    pub stop: &'a AtomicBool,
}

impl lanes::device::Confirm for Typed<'_> {
    fn ask(&mut self, shown: &[String], _must_type: &str) -> Option<String> {
        let mut err = terminal::err();
        for line in shown {
            let _ = writeln!(err, "{line}");
        }
        let _ = write!(err, "> ");
        let _ = err.flush();
        let stdin = std::io::stdin();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let mut ready = [rustix::event::PollFd::new(&stdin, rustix::event::PollFlags::IN)];
            let moment = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            // Interrupted or nothing typed yet: look at the flag again.
            if let Ok(1..) = rustix::event::poll(&mut ready, Some(&moment)) {
                break;
            }
        }
        let mut line = String::new();
        match stdin.read_line(&mut line) {
            Ok(read) if read > 0 => Some(line.trim().to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_line_of_a_round_at_most_every_half_minute() {
        let begun = Instant::now();
        let mut log = Log { last: begun };
        let round = |round: u32, budget_seconds: Option<f64>| Event::RoundStarted {
            title: "append and commit\u{1b}".to_owned(),
            number: 1,
            round,
            look_at: 12,
            elapsed_seconds: 31.0,
            budget_seconds,
        };
        let mut line = |event: &Event, seconds: u64| log.line(event, begun + Duration::from_secs(seconds));
        assert_eq!(line(&round(1, None), 29), None);
        assert_eq!(line(&Event::LaneStarted { lane: "r02".to_owned(), phase: "measure" }, 31), None);
        let said = line(&round(2, Some(2700.0)), 31).expect("it is time");
        assert!(said.ends_with(": round 2 begins, looked at after 12; raced 31 s of at most 45 min"), "{said}");
        assert!(said.starts_with("append and commit") && !said.contains('\u{1b}'), "{said}");
        assert_eq!(line(&round(3, None), 60), None);
        assert!(line(&round(4, None), 61).is_some_and(|said| said.ends_with("raced 31 s")));
    }
}
