//! Answers over thousands of records: the first scan, and what the index makes of those after it.

use crate::guests::fairlane;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A small race of two lanes, three workloads and two rounds.
const RECORD: &str = include_str!("../../tests/fixtures/schema1.jsonl");
/// Seconds that an answer may take after the first scan.
const ENOUGH_SECONDS: f64 = 1.0;

/// Makes records and prints how long `records`, `trend` and the dashboard take over them.
pub fn print(count: u32) -> Result<()> {
    let place = tempfile::Builder::new().prefix("fairlane-bench-").tempdir_in("/var/tmp")?;
    let runs = place.path().join("state/fairlane/runs");
    std::fs::create_dir_all(&runs)?;
    make(&runs, count)?;
    println!("{count} records of {} bytes each; seconds", RECORD.len());
    println!("| answer | first | second | third | must be |");
    println!("| --- | ---: | ---: | ---: | --- |");
    for arguments in [&["records"][..], &["trend", "small-files", "create"], &["trend", "commit", "write"]] {
        let took = [(); 3].map(|()| timed(|| ran(place.path(), arguments)));
        row(&format!("fairlane {}", arguments.join(" ")), took.into_iter().collect::<Result<_>>()?);
    }
    for path in ["/api/records", "/api/trend?workload=small-files&group=create"] {
        let mut server = Server::start(place.path())?;
        let took = [(); 3].map(|()| timed(|| server.get(path)));
        row(&format!("a new server, {path}"), took.into_iter().collect::<Result<_>>()?);
        server.end();
    }
    std::fs::remove_file(place.path().join("state/fairlane/index.sqlite"))?;
    let mut server = Server::start(place.path())?;
    let took = [(); 3].map(|()| timed(|| server.get("/api/records")));
    row("a new server without the index, /api/records", took.into_iter().collect::<Result<_>>()?);
    server.end();
    Ok(())
}

/// Records of one machine, a minute between their races.
fn make(runs: &Path, count: u32) -> Result<()> {
    for at in 0..count {
        let (day, minute) = (at / 1440, at % 1440);
        let started = format!(
            "20{:02}-{:02}-{:02}T{:02}:{:02}:00Z",
            26 + day / 336,
            1 + day / 28 % 12,
            1 + day % 28,
            minute / 60,
            minute % 60
        );
        let record = RECORD.replacen("2026-11-20T10:49:35Z", &started, 1);
        std::fs::write(runs.join(format!("{}-tiny-{at}.jsonl", started.replace(':', "-"))), record)?;
    }
    Ok(())
}

fn row(what: &str, seconds: Vec<f64>) {
    let each: Vec<String> = seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
    println!("| {what} | {} | < {ENOUGH_SECONDS} after the first |", each.join(" | "));
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Fairlane with a state of its own.
fn command(place: &Path, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(fairlane()?);
    command.args(arguments).env("XDG_STATE_HOME", place.join("state")).env("FAIRLANE_UNDO_DIR", place.join("undo"));
    command.env_remove("SUDO_UID").stdin(Stdio::null());
    Ok(command)
}

fn ran(place: &Path, arguments: &[&str]) -> Result<()> {
    let output = command(place, arguments)?.output().context("fairlane does not run")?;
    match output.status.success() {
        true => Ok(()),
        false => bail!("fairlane {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)),
    }
}

struct Server {
    child: Child,
    host: String,
}

impl Server {
    fn start(place: &Path) -> Result<Server> {
        let mut child = command(place, &["serve", "--listen", "127.0.0.1:0"])?.stdout(Stdio::piped()).spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("it has no output")?).read_line(&mut url)?;
        let host = url.trim().strip_prefix("http://").map(|rest| rest.trim_end_matches('/').to_owned());
        Ok(Server { child, host: host.context("the server said no URL")? })
    }

    fn get(&mut self, path: &str) -> Result<()> {
        let mut stream = TcpStream::connect(&self.host)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        match answer.starts_with(b"HTTP/1.1 200 ") {
            true => Ok(()),
            false => bail!("{path}: {}", String::from_utf8_lossy(&answer[..answer.len().min(300)])),
        }
    }

    fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
