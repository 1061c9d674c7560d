//! Transactions beside sysbench's on the same running server: same script, same number of clients, in turns.

use anyhow::{Context, Result, bail};
use engine::{Observer, OpenTarget, Work};
use model::agent::{Part, Target};
use model::oltp::{Oltp, Server};
use model::workload::{Kind, Workload};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

const ROUNDS: usize = 9;
const SECONDS: u32 = 4;
const ROWS: u64 = 50_000;
const THREADS: [u32; 2] = [12, 36];
const SCRIPTS: [(&str, &str); 4] = [
    ("point-select", "oltp_point_select"),
    ("insert", "oltp_insert"),
    ("update-index", "oltp_update_index"),
    ("read-write", "oltp_read_write"),
];

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
    let ours = House::open(server, script, threads, SECONDS)?;
    // What sysbench inserts Fairlane would take for rows that nobody wrote: then each has a server, both started by
    // Fairlane, and a table that was filled anew before each run.
    let inserts = script == "insert";
    let apart = inserts.then(|| House::open(server, "point-select", threads, 1)).transpose()?;
    let (ours, apart) = (RefCell::new(ours), RefCell::new(apart));
    // Servers have a CPU, and both kinds of clients the other: on two CPUs that all share, what the lighter client leaves
    // over would be the server's, and its transactions more.
    stay_on(1)?;
    let fairlane = || ours.borrow_mut().phase();
    let theirs = || {
        if let Some(apart) = &mut *apart.borrow_mut() {
            sysbench(server, name, threads, &apart.socket(), "cleanup")?;
            sysbench(server, name, threads, &apart.socket(), "prepare")?;
            // Waits until what filled the table is written, as before Fairlane's own.
            apart.phase()?;
            return run_sysbench(server, name, threads, &apart.socket());
        }
        run_sysbench(server, name, threads, &ours.borrow().socket())
    };
    // The first starts the server; both warm it.
    fairlane()?;
    if let Some(apart) = &mut *apart.borrow_mut() {
        apart.phase()?;
    }
    stay_on(0)?;
    theirs()?;
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let pair = if round % 2 == 0 {
            let ours = fairlane()?;
            (ours, theirs()?)
        } else {
            let theirs = theirs()?;
            (fairlane()?, theirs)
        };
        pairs.push(pair);
    }
    // Where sysbench wrote beside it, what the tables hold is not Fairlane's alone.
    ours.into_inner().close(inserts || script == "point-select")?;
    apart.into_inner().map_or(Ok(()), |apart| apart.close(false))?;
    let of = |figure: fn(&Run) -> f64| {
        let mut ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| figure(ours) / figure(theirs)).collect();
        ratios.sort_by(f64::total_cmp);
        format!("{:.3} ({:.2} to {:.2})", ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1])
    };
    Ok((of(|run| run.rate), of(|run| run.cpu_us)))
}

/// A server of Fairlane's and its tables, in a folder of their own.
struct House {
    work: Box<dyn Work>,
    place: OpenTarget,
    group: String,
    folder: TempDir,
}

/// CPU microseconds when the clients began, and when their window closed: what fills tables before, and writes back
/// behind them, is no transaction's.
#[derive(Default)]
struct Clients {
    began: f64,
    ended: f64,
}

impl Observer for Clients {
    fn work_begins(&mut self) {
        self.began = cpu_us(libc::RUSAGE_SELF);
    }
    fn window_opens(&mut self) {}
    fn window_closes(&mut self) {
        self.ended = cpu_us(libc::RUSAGE_SELF);
    }
}

impl House {
    fn open(server: Server, script: &str, threads: u32, seconds: u32) -> Result<House> {
        // Short: the path of a socket has 107 bytes at most.
        let folder = tempfile::Builder::new().prefix("fl").tempdir_in("/var/tmp")?;
        let oltp: Oltp = toml::from_str(&format!(
            "server = \"{}\"\nscript = \"{script}\"\nthreads = [{threads}]\ntable_size = {ROWS}\npool = \"64MiB\"\n\
             warm_up_seconds = 0.0\nseconds = {seconds}\ncold = false",
            server.name()
        ))?;
        let place = OpenTarget::open(&Target::Directory(folder.path().to_owned()))?;
        let group = oltp.groups().swap_remove(0);
        let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Oltp(Box::new(oltp)) };
        let work = engine::prepare(&place, &workload, 1, Arc::new(AtomicBool::new(false)))?;
        Ok(House { work, place, group, folder })
    }

    /// Where the server's sockets are.
    fn socket(&self) -> PathBuf {
        self.folder.path().join("fairlane-database")
    }

    /// Starts the server when it does not run yet, and runs the script.
    fn phase(&mut self) -> Result<Run> {
        let mut clients = Clients::default();
        let window = self.work.phase(&self.place, &self.group, Part::WHOLE, &mut clients)?;
        let cpu = clients.ended - clients.began;
        let operations = window.operations as f64;
        Ok(Run { rate: operations / window.seconds, cpu_us: cpu / operations })
    }

    /// Stops the server. `checked`: every row that was acknowledged must be there.
    fn close(mut self, checked: bool) -> Result<()> {
        if checked {
            self.work.verify(&self.place)?;
        }
        self.work.release();
        Ok(())
    }
}

fn run_sysbench(server: Server, name: &str, threads: u32, socket: &Path) -> Result<Run> {
    let before = cpu_us(libc::RUSAGE_CHILDREN);
    let said = sysbench(server, name, threads, socket, "run")?;
    let cpu = cpu_us(libc::RUSAGE_CHILDREN) - before;
    // `transactions:   12345  (3086.01 per sec.)`
    let line = said.lines().find_map(|line| line.trim().strip_prefix("transactions:"));
    let (count, rest) = line.and_then(|line| line.trim().split_once('(')).with_context(|| said.clone())?;
    let count: f64 = count.trim().parse()?;
    let rate: f64 = rest.split(' ').next().unwrap_or_default().parse()?;
    Ok(Run { rate, cpu_us: cpu / count })
}

/// What it said.
fn sysbench(server: Server, name: &str, threads: u32, socket: &Path, command: &str) -> Result<String> {
    let mut program = Command::new("sysbench");
    program.args([name, "--tables=1", "--rand-type=uniform", "--report-interval=0"]);
    program.args([format!("--table-size={ROWS}"), format!("--time={SECONDS}")]);
    if command == "run" {
        program.arg(format!("--threads={threads}"));
    }
    if server == Server::Postgresql {
        program.args(["--db-driver=pgsql", "--pgsql-user=fairlane", "--pgsql-db=postgres", "--pgsql-port=5432"]);
        program.arg(format!("--pgsql-host={}", socket.display()));
    } else {
        program.args(["--db-driver=mysql", "--mysql-user=root", "--mysql-db=sbtest"]);
        program.arg(format!("--mysql-socket={}", socket.join("socket").display()));
    }
    let output = program.arg(command).output().context("sysbench cannot be started; apt install sysbench")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("sysbench {name} {command}: {said}{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(said)
}

/// What this thread starts from here on, threads and programs, stays on this CPU.
fn stay_on(cpu: usize) -> Result<()> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).context("the clients and the server need a CPU each: CPUs 0 and 1")
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
