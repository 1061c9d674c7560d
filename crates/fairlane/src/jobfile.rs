//! STAND-IN until the crate `jobfile` is merged: delete this file, `mod jobfile;` in main.rs, and
//! the line `use crate::jobfile;` in commands/fio.rs. It reads only what this branch's tests need.
#![allow(missing_docs, dead_code)]

use model::Bytes;
use model::job::{Direction, FioJob, FioRun, Io, Job, Jobs, Pattern};
use std::collections::BTreeMap;
use std::path::Path;

pub struct Surroundings<'a> {
    pub read: &'a dyn Fn(&Path) -> std::io::Result<String>,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub cpus: u32,
    pub memory_bytes: u64,
    pub page_bytes: u64,
}

#[derive(Debug)]
pub struct JobFileError(String);

impl std::fmt::Display for JobFileError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

pub fn parse(path: &Path, surroundings: &Surroundings) -> Result<Jobs, JobFileError> {
    Ok(Jobs { jobs: read(path, surroundings)?.1, file: path.display().to_string(), notes: Vec::new() })
}

pub fn for_fio(path: &Path, surroundings: &Surroundings) -> Result<FioRun, JobFileError> {
    let (text, jobs) = read(path, surroundings)?;
    let all = Jobs { jobs, file: String::new(), notes: Vec::new() };
    let job = |job: &Job| FioJob { name: job.name.clone(), directions: job.io.rw.directions().to_vec() };
    Ok(FioRun {
        file: path.display().to_string(),
        text,
        jobs: all.jobs.iter().map(job).collect(),
        working_set: Bytes(all.working_set_bytes()),
    })
}

fn read(path: &Path, surroundings: &Surroundings) -> Result<(String, Vec<Job>), JobFileError> {
    let _: Option<Direction> = None;
    let text = (surroundings.read)(path)
        .map_err(|error| JobFileError(format!("{}: {error}; name a job file", path.display())))?;
    let (mut global, mut jobs): (BTreeMap<String, String>, Vec<Job>) = Default::default();
    let mut current: Option<(String, BTreeMap<String, String>)> = None;
    for (index, line) in text.lines().chain(["[global]"]).enumerate() {
        let wrong = |what: String| JobFileError(format!("{}:{}: {what}", path.display(), index + 1));
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            match current.take() {
                Some((name, own)) if name == "global" => global.extend(own),
                Some((name, own)) => jobs.push(job(name, &global, own)),
                None => {}
            }
            current = Some((name.to_owned(), Default::default()));
        } else if !line.is_empty() && !line.starts_with([';', '#']) {
            let (key, value) = line.split_once('=').unwrap_or((line, "1"));
            let known = "rw bs size ioengine iodepth direct numjobs runtime time_based stonewall verify \
                group_reporting thread fsync";
            if !known.split_whitespace().any(|known| known == key) {
                return Err(wrong(format!("`{key}` is no option of fio; check its spelling")));
            }
            let Some((_, own)) = &mut current else { return Err(wrong("no section; add [job]".to_owned())) };
            own.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok((text, jobs))
}

fn job(name: String, global: &BTreeMap<String, String>, own: BTreeMap<String, String>) -> Job {
    let get = |key: &str| own.get(key).or_else(|| global.get(key)).cloned().unwrap_or_default();
    let bytes = |key: &str, usual: u64| {
        let text = get(key);
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let unit = match unit {
            "k" => 1 << 10,
            "m" => 1 << 20,
            "g" => 1 << 30,
            _ => 1,
        };
        Bytes(number.parse::<u64>().map_or(usual, |number| number * unit))
    };
    let rw = match get("rw").as_str() {
        "write" => Pattern::Write,
        "randread" => Pattern::RandRead,
        "randwrite" => Pattern::RandWrite,
        "randrw" => Pattern::RandRw,
        _ => Pattern::Read,
    };
    let ioengine = match get("ioengine").as_str() {
        "io_uring" => "io_uring",
        _ => "sync",
    };
    let io = Io {
        rw,
        bs: bytes("bs", 4096),
        size: bytes("size", 0),
        ioengine: ioengine.to_owned(),
        iodepth: bytes("iodepth", 1).get() as u32,
        direct: get("direct") == "1",
        numjobs: bytes("numjobs", 1).get() as u32,
        runtime_seconds: get("runtime").parse().ok(),
        time_based: !get("time_based").is_empty(),
        verify: if get("verify").is_empty() { model::job::Verify::None } else { model::job::Verify::Crc32c },
        ..Io::default()
    };
    Job { name, stonewall: own.contains_key("stonewall"), exitall: false, wait_for: None, options: Vec::new(), io }
}
