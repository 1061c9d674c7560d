//! Transactions beside sysbench's on the same running server: same script, same number of clients, in turns.

use anyhow::{Context, Result, bail};
use engine::{Place, Work};
use model::agent::{Part, Target};
use model::oltp::{Oltp, Server};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const ROUNDS: usize = 9;
const SECONDS: u32 = 4;
const ROWS: u64 = 50_000;
const THREADS: [u32; 2] = [4, 12];
const SCRIPTS: [(&str, &str); 3] =
    [("point-select", "oltp_point_select"), ("update-index", "oltp_update_index"), ("read-write", "oltp_read_write")];

/// Transactions per second, and CPU microseconds of the client for each.
#[derive(Debug, Clone, Copy)]
struct Run {
    rate: f64,
    cpu_us: f64,
}

/// Prints the table: Fairlane over sysbench, the median of the rounds' ratios with the smallest and largest; of
/// servers and scripts whose names hold the part.
pub fn print(part: &str) -> Result<()> {
    println!("| server | script | clients | transactions | client CPU per transaction |");
    println!("| --- | --- | --- | --- | --- |");
    for server in [Server::Mariadb, Server::Postgresql] {
        if let Some((program, package)) = engine::databases::missing(server) {
            bail!("{program} is not installed; apt install {package}");
        }
        let asked = |script: &str| format!("{} {script}", server.name()).contains(part);
        for (script, name) in SCRIPTS.into_iter().filter(|(script, _)| asked(script)) {
            for threads in THREADS {
                let (rate, cpu) = compare(server, script, name, threads)?;
                println!("| {} | {script} | {threads} | {rate} | {cpu} |", server.title());
            }
        }
    }
    Ok(())
}

fn compare(server: Server, script: &str, name: &str, threads: u32) -> Result<(String, String)> {
    // Short: the path of a socket has 107 bytes at most.
    let folder = tempfile::Builder::new().prefix("fl").tempdir_in("/var/tmp")?;
    let oltp: Oltp = toml::from_str(&format!(
        "server = \"{}\"\nscript = \"{script}\"\nthreads = [{threads}]\ntable_size = {ROWS}\npool = \"64MiB\"\n\
         warm_up_seconds = 0.0\nseconds = {SECONDS}\ncold = false",
        server.name()
    ))?;
    let place = Place::open(&Target::Directory(folder.path().to_owned()))?;
    let kind = Kind::Oltp(Box::new(oltp.clone()));
    let workload = Workload { name: "t".into(), title: "t".into(), kind };
    let mut work = engine::prepare(&place, &workload, 1, Arc::new(AtomicBool::new(false)))?;
    let mut ours = || fairlane(work.as_mut(), &place, &oltp.groups()[0]);
    // The first starts the server; both warm it.
    ours()?;
    let theirs = || sysbench(server, name, threads, &folder.path().join("fairlane-database"));
    theirs()?;
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let pair = if round % 2 == 0 {
            let ours = ours()?;
            (ours, theirs()?)
        } else {
            let theirs = theirs()?;
            (ours()?, theirs)
        };
        pairs.push(pair);
    }
    work.verify(&place).or_else(|error| {
        // What sysbench inserted and removed nobody counted here.
        if error.to_string().contains("rows where") { Ok(0.0) } else { Err(error) }
    })?;
    work.release();
    let of = |figure: fn(&Run) -> f64| {
        let mut ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| figure(ours) / figure(theirs)).collect();
        ratios.sort_by(f64::total_cmp);
        format!("{:.3} ({:.2} to {:.2})", ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1])
    };
    Ok((of(|run| run.rate), of(|run| run.cpu_us)))
}

fn fairlane(work: &mut dyn Work, place: &Place, group: &str) -> Result<Run> {
    let before = cpu_us(libc::RUSAGE_SELF);
    let window = work.phase(place, group, Part::WHOLE, &mut ())?;
    let cpu = cpu_us(libc::RUSAGE_SELF) - before;
    let operations = window.operations as f64;
    Ok(Run { rate: operations / window.seconds, cpu_us: cpu / operations })
}

fn sysbench(server: Server, name: &str, threads: u32, house: &Path) -> Result<Run> {
    let mut command = Command::new("sysbench");
    command.args([name, "--tables=1", "--rand-type=uniform", "--report-interval=0"]);
    command.args([format!("--table-size={ROWS}"), format!("--threads={threads}"), format!("--time={SECONDS}")]);
    if server == Server::Postgresql {
        command.args(["--db-driver=pgsql", "--pgsql-user=fairlane", "--pgsql-db=postgres", "--pgsql-port=5432"]);
        command.arg(format!("--pgsql-host={}", house.display()));
    } else {
        command.args(["--db-driver=mysql", "--mysql-user=root", "--mysql-db=sbtest"]);
        command.arg(format!("--mysql-socket={}", house.join("socket").display()));
    }
    let before = cpu_us(libc::RUSAGE_CHILDREN);
    let output = command.arg("run").output().context("sysbench cannot be started; apt install sysbench")?;
    let cpu = cpu_us(libc::RUSAGE_CHILDREN) - before;
    let said = String::from_utf8_lossy(&output.stdout);
    // `transactions:   12345  (3086.01 per sec.)`
    let line = said.lines().find_map(|line| line.trim().strip_prefix("transactions:"));
    let Some((count, rest)) = line.and_then(|line| line.trim().split_once('(')).filter(|_| output.status.success())
    else {
        bail!("sysbench {name}: {said}{}", String::from_utf8_lossy(&output.stderr));
    };
    let count: f64 = count.trim().parse()?;
    let rate: f64 = rest.split(' ').next().unwrap_or_default().parse()?;
    Ok(Run { rate, cpu_us: cpu / count })
}

/// User and system time in microseconds.
fn cpu_us(of: libc::c_int) -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage writes one rusage to the address given, which is valid and aligned for it.
    if unsafe { libc::getrusage(of, usage.as_mut_ptr()) } != 0 {
        return 0.0;
    }
    // SAFETY: the call succeeded and has filled the structure.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    us(usage.ru_utime) + us(usage.ru_stime)
}
