//! Fairlane: which filesystem, with which options, on this hardware, for this work.
//!
//! This file dispatches; `options` declares, `commands` does, `conductor` races.

// Whatever is said goes through `terminal`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod conductor;
mod failure;
mod gathered;
mod knowledge;
mod language;
mod listing;
mod options;
mod owned;
mod owner;
mod powercut;
mod progress;
mod published;
mod ranks;
mod record_writer;
mod serve;
mod signals;
mod state;
mod suites;
mod terminal;

use failure::Failure;
use options::Command;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(role) = lanes::guest::init::role() {
        return commands::guest::run(role);
    }
    // What Fairlane makes it must be able to open again.
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask & !rustix::fs::Mode::RWXU);
    signals::tell_of_file_size();
    owner::find_home();
    lanes::custom::open_with(owned::open_to_read);
    if let Some(answered) = options::completion::answer() {
        return answered;
    }
    let options = options::parse();
    if let Command::Capture(options) = &options.command {
        // Its exit status is the program's, which has the mask that it would have.
        return commands::capture::run(options, mask.bits());
    }
    if let Command::Rank(options) = &options.command {
        // All ranks of a job end with the status of the first.
        return commands::rank::run(options);
    }
    ExitCode::from(told(run(&options.command)))
}

/// The exit status of a command, once what it failed for is said.
fn told(result: Result<(), Failure>) -> u8 {
    let Err(failure) = result else { return 0 };
    if !failure.message.is_empty() {
        terminal::say!("fairlane: {}", failure.message);
    }
    failure.status as u8
}

fn run(command: &Command) -> Result<(), Failure> {
    if !matches!(
        command,
        Command::Agent
            | Command::Clean { .. }
            | Command::Completions(_)
            | Command::GuestKeeper(_)
            | Command::Man(_)
            | Command::Recorder(_)
            | Command::Serve(_)
    ) {
        // Whatever a crashed race left behind is undone by the next command, but for those that only
        // read or print what is built in, and the one whose answer it is.
        commands::clean::recover();
    }
    match command {
        Command::Race(options) => commands::race::run(options),
        Command::Calibrate(options) => commands::calibrate::run(options),
        Command::Screen(options) => commands::screening::run(options),
        Command::Fio(options) => commands::fio::run(options),
        Command::Doctor(options) => commands::doctor::run(options),
        Command::Suites(options) => commands::suites::run(options),
        Command::Records => commands::records::run(),
        Command::Report(options) => commands::report::run(options),
        Command::Explain(options) => commands::explain::run(options),
        Command::Compare(options) => commands::compare::run(options),
        Command::Share(options) => commands::share::run(options),
        Command::Advise(options) => commands::advise::run(options),
        Command::Trend(options) => commands::trend::run(options),
        Command::Collect(options) => commands::collect::run(options),
        Command::Serve(options) => commands::serve::run(options),
        Command::Trace(options) => commands::trace::run(options),
        Command::Import(options) => commands::import::run(options),
        Command::Age(options) => commands::age::run(options),
        Command::Capture(_) | Command::Rank(_) => unreachable!("it has a status of its own"),
        Command::Clean { aged } => commands::clean::run(*aged),
        Command::Completions(options) => commands::completions::run(options),
        Command::Man(options) => commands::man::run(options),
        Command::Powercut(options) => commands::powercut::run(options),
        Command::Integrity(options) => commands::integrity::run(options),
        Command::Agent => commands::agent::run(),
        Command::Recorder(options) => commands::recorder::run(options.sweep),
        Command::GuestKeeper(options) => commands::guest::keep(options),
    }
}
