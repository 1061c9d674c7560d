//! What a race shows: verdicts on standard output (or on standard error, where that is kept for
//! something else), progress on standard error and only on a terminal.

use crate::failure::Failure;
use crate::owner::Owner;
use crate::terminal::{self, Clean};
use model::event::Event;
use report::{PlanSummary, Screen, ScreenOptions, Style};
use std::io::{IsTerminal, Stderr, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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
        Show { screen: Screen::new(channel.writer(), terminal::err(), options), quiet, channel }
    }

    /// Shows an event. With `--quiet` only the end, and not even that where the result is something
    /// else. A reader that left does not end a race.
    pub fn event(&mut self, event: &Event) {
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
