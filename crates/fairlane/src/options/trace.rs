//! Options of `capture` and `trace`.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

const CAPTURE_HELP: &str = "\
Runs COMMAND as it is, without root, and writes down what it and all that it starts ask of files.
Static programs are seen too; io_uring is not, and the trace says so. No contents are kept.
Most calls of programs that use glibc do not stop; those of static programs, Go and musl do, and become much slower.

  fairlane capture -o build.trace -- make -j4
  fairlane capture -o app.trace --under /srv/app --anonymous -- ./app
  fairlane capture -o app.trace --pid 4711 --follow
  fairlane trace show build.trace

With --pid it attaches to a program that runs already: ^C, TERM or HUP ends that and leaves it running.

Exit status: that of COMMAND; 125 where capturing failed, 126 and 127 where COMMAND does not run.
With --pid it is 0, however the program ended.";

/// Options of `capture`.
#[derive(Debug, Args)]
#[command(after_help = CAPTURE_HELP)]
pub struct Capture {
    /// Write the trace here; a file that is there is not overwritten
    #[arg(short, long, value_name = "TRACE")]
    pub output: PathBuf,
    /// Write down only what lies below this folder
    #[arg(long, value_name = "DIR")]
    pub under: Option<PathBuf>,
    /// Hash every part of every name, with a key that nobody keeps, so that the trace can be given away
    #[arg(long)]
    pub anonymous: bool,
    /// Capture this running process, with all its threads and what it begins from now on; may be given several times
    #[arg(long = "pid", value_name = "PID", conflicts_with = "command")]
    pub pids: Vec<String>,
    /// With --pid: capture what it has begun already too, and what that has begun
    #[arg(long, requires = "pids", conflicts_with = "command")]
    pub follow: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Stop at every call of interest, and put nothing into the program: slower
    #[arg(long)]
    pub no_buffer: bool,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required_unless_present = "pids", value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Options of `trace`.
#[derive(Debug, Args)]
pub struct Trace {
    /// What to do.
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// What is done with a trace.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// What it holds, in one page
    Show {
        /// The trace
        #[arg(value_name = "TRACE")]
        trace: PathBuf,
        /// text, html, json, csv (of its files) or scenario (for `advise --scenario`)
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: String,
    },
}

const IMPORT_HELP: &str = "\
Results of other benchmarks become a record, which report, compare (its gate too) and the page show, marked as foreign: fio (JSON,
terse), sysbench, Phoronix, IO500, IOR and mdtest, mmtests, modern-fs-benchmark, bonnie++. Several files of one lane are
its runs; NAME= names the lane.

  fairlane import ext4=run1.json ext4=run2.json xfs=run3.json xfs=run4.json
  fairlane import composite.xml
  fairlane compare last~1 last

Logs of a program's calls become a trace (-o names it):
  strace -f -tt -T -y -o app.log ./app       any strace; with -y descriptors have names, with -T and -tt times
  strace -ff -tt -T -y -o app.log ./app      a file for each process: app.log stands for app.log.1234 and all others;
                                             without -T and -tt (or -ttt) nobody knows their order, and they are refused
  fio --write_iolog=app.log job.fio          version 2 and 3, a file for each job
  darshan-dxt-parser app.darshan >app.log    Darshan's extended trace

  fairlane import app.log -o app.trace
  fairlane race ext4 xfs --replay app.trace";

/// Options of `import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct Import {
    /// Files of results, of one tool or several; or logs of calls, all of one kind, which become threads of one trace
    #[arg(required = true, value_name = "[NAME=]FILE")]
    pub files: Vec<PathBuf>,
    /// Write the record or the trace here; a file that is there is not overwritten. Records lie with those of races where it
    /// is not said
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
