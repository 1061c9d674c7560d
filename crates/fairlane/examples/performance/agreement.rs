//! Ten job files on three filesystems: Fairlane's IOPS over fio's, and fio's over its own.

use crate::grounds::Grounds;
use crate::runs::{Cost, Runner, ratio, rounds};
use anyhow::Result;
use std::path::PathBuf;

const LANES: [&str; 3] = ["ext4", "xfs", "btrfs"];
const ROUNDS: usize = 7;

/// What a job's difference is traced to: a further program and its name in the table.
fn explained(job: &str) -> Option<(Runner, &'static str)> {
    match job {
        "seq-read-1m" | "seq-write-1m" => Some((Runner::FairlaneSmallPages, "Fairlane without huge pages / fio")),
        "rand-write-4k" => Some((Runner::FioFresh, "fio with new data and offsets / fio")),
        "buffered-read" => Some((Runner::Bare("cached.0.0".to_owned()), "bare pread loop / fio")),
        _ => None,
    }
}

/// Prints the table: for the job files whose names hold the part, the ratio on each lane, below it
/// that of fio to itself, which is what the machine's noise makes of no difference at all.
pub fn print(part: &str) -> Result<()> {
    let mut jobs: Vec<PathBuf> = std::fs::read_dir(crate::jobs_folder().join("agreement"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .collect();
    jobs.sort();
    println!("| job file | IOPS of | {} |", LANES.join(" | "));
    println!("| --- | --- |{}", " --- |".repeat(LANES.len()));
    for job in &jobs {
        let stem = job.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !stem.contains(part) {
            continue;
        }
        let mut entries = vec![(Runner::Fairlane, &**job), (Runner::Fio, &**job), (Runner::Fio, &**job)];
        let mut names = vec!["Fairlane / fio", "", "fio / fio"];
        if let Some((runner, name)) = explained(&stem) {
            entries.push((runner, &**job));
            names.push(name);
        }
        let mut cells = vec![Vec::new(); entries.len()];
        let grounds = Grounds::build(&LANES)?;
        for directory in &grounds.directories {
            let costs = rounds(&entries, directory, ROUNDS)?;
            for (cells, of) in cells.iter_mut().zip(&costs) {
                cells.push(cell(of, &costs[1]));
            }
        }
        for (name, cells) in names.iter().zip(&cells).filter(|(name, _)| !name.is_empty()) {
            println!("| {stem} | {name} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

fn cell(ours: &[Cost], theirs: &[Cost]) -> String {
    let (middle, least, most) = ratio(ours, theirs, |cost| cost.iops);
    format!("{middle:.3} ({least:.2} to {most:.2})")
}
