//! Times the page of a large record that is made up, from its file on: how long it is read, how long the
//! statistics take, what is made of them for the page, and writing it; and what memory the writing takes.
//!
//! `cargo run --release -p report --example big-page -- [TRIALS [POINTS [FILE]]]`: 100,000 trials with five
//! points of their course each, written to a file that is removed again where none is named.

#[path = "../tests/common/mod.rs"]
mod common;

use common::pages;
use model::page::{Language, PAGE_SCHEMA, Page, Show};
use model::record::{Line, Record};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Lanes times workloads of the record.
const TRIALS_PER_ROUND: u32 = 9;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: u32| arguments.next().map_or(Ok(usual), |text| text.parse::<u32>());
    let (Ok(trials), Ok(points)) = (number(100_000), number(5)) else {
        eprintln!("usage: big-page [TRIALS [POINTS [FILE]]]");
        return ExitCode::from(2);
    };
    let named = arguments.next().map(PathBuf::from);
    let file =
        named.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("big-page-{}.html", std::process::id())));
    match time(trials, points, &file) {
        Ok(()) => {
            if named.is_none() {
                let _ = fs::remove_file(&file);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot write {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

fn time(trials: u32, points: u32, file: &Path) -> io::Result<()> {
    let made = file.with_extension("jsonl");
    let written = put(&pages::record_of(trials.div_ceil(TRIALS_PER_ROUND), points), &made);
    let all = Instant::now();
    let text = written.and_then(|()| fs::read_to_string(&made));
    let _ = fs::remove_file(&made);
    let text = text?;
    let record = Record::parse(&text).map_err(io::Error::other)?;
    println!("{} trials with {points} points each, {:.0} MB", record.trials.len(), text.len() as f64 / 1e6);
    drop(text);
    println!("reading   {:7.3} s", all.elapsed().as_secs_f64());
    let begun = Instant::now();
    let findings = stats::judge::findings(&record);
    println!("findings  {:7.3} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let race = stats::page::race(&record, findings, Vec::new());
    println!("page      {:7.3} s", begun.elapsed().as_secs_f64());
    let show = Show::Race { race: Box::new(race) };
    let page = Page { schema: PAGE_SCHEMA, version: "0.1.0".to_owned(), language: Language::En, show };
    // The kernel's high-water mark begins anew.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = high_water_kib();
    let begun = Instant::now();
    let mut out = BufWriter::new(File::create(file)?);
    report::html::page(&page, &mut out)?;
    out.flush()?;
    println!("writing   {:7.3} s", begun.elapsed().as_secs_f64());
    println!("in all    {:7.3} s", all.elapsed().as_secs_f64());
    println!("file      {:7.3} MB", file.metadata()?.len() as f64 / 1e6);
    println!("memory    {:7.3} MB more while writing", high_water_kib().saturating_sub(before) as f64 * 1024.0 / 1e6);
    Ok(())
}

/// Writes a record's header and trials as a race does.
fn put(record: &Record, file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let header = Line::Header(Box::new(record.header.clone()));
    let trials = record.trials.iter().map(|trial| Line::Trial(Box::new(trial.clone())));
    for line in std::iter::once(header).chain(trials) {
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The most memory that this process held, in KiB; 0 where the kernel does not tell.
fn high_water_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}
