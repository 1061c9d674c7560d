//! Rank 0 of a large job: what it takes to ask so many ranks and to make one figure of their answers, and how its record grows.
//!
//! Rank 0 is `fairlane` itself, which races one directory. The relay and all other ranks are played here: rank 1 works, with an
//! agent of its own, and all others answer what it answers, so that answers are as long as those of real ranks.

use crate::guests::fairlane;
use anyhow::{Context, Result, bail};
use model::agent::{Reply, Request, Target};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Written and read blocks with many latencies, and files: three trials a round. The room that they take is counted for every
/// rank, so that they are small.
const WORK: &str = "--suite shared --workload write --workload random-read --workload files --set direct=false \
                    --set write.bs=64KiB --set write.size=64KiB --set random-read.size=64KiB --set count=20 \
                    --set slice_seconds=0.2 --rounds 3 --no-report";
/// The table's head.
const HEAD: &str = "| ranks | questions a trial | answers a trial | rank 0's CPU a trial | a question | rank 0's memory | \
                    record a trial |";
/// What tells the seeds of ranks apart, as in `fairlane`.
const RANK_STREAM: u64 = 0x9e37_79b9_7f4a_7c15;

/// Prints a row for each of these numbers of ranks.
pub fn print(sizes: &[u32]) -> Result<()> {
    println!("{HEAD}");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    sizes.iter().try_for_each(|size| row(*size))
}

fn row(size: u32) -> Result<()> {
    let place = tempfile::Builder::new().prefix("fairlane-bench-").tempdir_in("/var/tmp")?;
    let mut rank0 = Rank0::start(place.path(), size)?;
    let raced = race(&rank0);
    let used = rank0.used();
    // Its input ends, and so does it.
    let _ = rank0.speaks.lock().unwrap_or_else(PoisonError::into_inner).shutdown(std::net::Shutdown::Both);
    let status = rank0.child.wait()?;
    let said = std::fs::read_to_string(place.path().join("said")).unwrap_or_default();
    let (questions, answered) = raced.with_context(|| said.clone())?;
    if !status.success() {
        bail!("rank 0 ended with {status}: {said}");
    }
    let (cpu_seconds, memory) = used?;
    let record = std::fs::read_to_string(place.path().join("r.jsonl"))?;
    let trials: Vec<usize> = record.lines().filter(|line| is_trial(line)).map(str::len).collect();
    let count = trials.len().max(1) as f64;
    println!(
        "| {size} | {:.0} | {:.0} KiB | {:.3} s | {:.2} ms | {:.1} MiB | {:.1} KiB |",
        questions as f64 / count,
        answered as f64 / 1024.0 / count,
        cpu_seconds / count,
        cpu_seconds * 1e3 / questions.max(1) as f64,
        memory as f64 / f64::from(1 << 20),
        trials.iter().sum::<usize>() as f64 / 1024.0 / count,
    );
    Ok(())
}

fn is_trial(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|line| line["kind"] == "trial")
}

/// The first rank's process, and the socket on which it hears a relay.
struct Rank0 {
    child: Child,
    size: u32,
    speaks: Arc<Mutex<UnixStream>>,
    lines: Receiver<String>,
    build: String,
}

impl Rank0 {
    fn start(place: &Path, size: u32) -> Result<Rank0> {
        let program = fairlane()?;
        let build = format!("{:08x}", crc32c::crc32c(&std::fs::read(&program)?));
        let (raced, undo) = (place.join("a"), place.join("undo"));
        for folder in [&raced, &undo] {
            std::fs::create_dir(folder)?;
            std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        }
        let (ours, its) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.args(["rank", "--", "race"]).arg(&raced).args(WORK.split_whitespace());
        command.arg("-o").arg(place.join("r.jsonl")).current_dir(place);
        command.env("XDG_STATE_HOME", place.join("state")).env("FAIRLANE_UNDO_DIR", &undo);
        command.env("FAIRLANE_QUIET_MILLISECONDS", "0").env_remove("SUDO_UID").env_remove("SUDO_GID");
        let said = File::create(place.join("said"))?;
        command.stdin(Stdio::from(OwnedFd::from(its))).stdout(said.try_clone()?).stderr(said);
        let child = command.spawn().context("fairlane does not start")?;
        // The command holds the other end of the socket as long as it lives, and the end of that process would not be seen.
        drop(command);
        let speaks = Arc::new(Mutex::new(ours.try_clone()?));
        let (sender, lines) = channel();
        let released = Arc::clone(&speaks);
        std::thread::spawn(move || {
            for line in BufReader::new(ours).lines().map_while(Result::ok) {
                if line == "barrier" {
                    // All the others are there already.
                    let _ = released.lock().unwrap_or_else(PoisonError::into_inner).write_all(b"released\n");
                } else if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let rank0 = Rank0 { child, size, speaks, lines, build };
        rank0.tell(&format!("rank 0 {size} {}\n", env!("CARGO_PKG_VERSION")))?;
        Ok(rank0)
    }

    fn tell(&self, line: &str) -> Result<()> {
        Ok(self.speaks.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())?)
    }

    /// CPU seconds of the process, its agent left out, and the most memory that it held, in bytes.
    fn used(&self) -> Result<(f64, u64)> {
        let pid = self.child.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // Behind the name, which may hold anything (proc_pid_stat(5)): user and system time are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM in status")?;
        let kibibytes = most.split_whitespace().next().context("no number behind VmHWM")?.parse::<u64>()?;
        Ok((ticks as f64 / rustix::param::clock_ticks_per_second() as f64, kibibytes * 1024))
    }
}

/// Answers for all other ranks until rank 0 ends the job: how many questions there were, and bytes of answers.
fn race(rank0: &Rank0) -> Result<(u64, u64)> {
    let mut agent = Agent::start()?;
    let (mut questions, mut bytes, mut answer) = (0, 0, String::new());
    while let Ok(line) = rank0.lines.recv() {
        let mut words = line.splitn(3, ' ');
        match (words.next().unwrap_or_default(), words.next(), words.next()) {
            ("to", Some(_), Some(text)) if text.contains("{\"ask\":\"stop\"}") => {}
            ("to", Some(rank), Some(text)) if text.contains("{\"ask\":\"ping\"}") => {
                let asked: Value = serde_json::from_str(text)?;
                let pong = json!({ "number": asked["number"], "answer": { "answer": "pong" } });
                rank0.tell(&format!("from {rank} {pong}\n"))?;
            }
            ("to", Some(rank), Some(text)) => {
                if rank == "1" {
                    let asked: Value = serde_json::from_str(text)?;
                    let told = agent.answer(&asked["ask"], &rank0.build)?;
                    answer = json!({ "number": asked["number"], "answer": told }).to_string();
                    questions += 1;
                    bytes += answer.len() as u64 * u64::from(rank0.size - 1);
                }
                rank0.tell(&format!("from {rank} {answer}\n"))?;
            }
            ("end", Some("0"), None) => return Ok((questions, bytes)),
            _ => bail!("rank 0 said {line}"),
        }
    }
    bail!("rank 0 is gone")
}

/// Who works for rank 1.
struct Agent {
    requests: UnixStream,
    replies: BufReader<UnixStream>,
}

impl Agent {
    fn start() -> Result<Agent> {
        let (ours, its) = UnixStream::pair()?;
        let input = BufReader::new(its.try_clone()?);
        std::thread::spawn(move || agent::serve(input, its, Arc::new(AtomicBool::new(false))));
        Ok(Agent { requests: ours.try_clone()?, replies: BufReader::new(ours) })
    }

    /// What rank 1 answers.
    fn answer(&mut self, ask: &Value, build: &str) -> Result<Value> {
        Ok(match ask["ask"].as_str().unwrap_or_default() {
            "hello" => {
                let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
                json!({ "answer": "hello", "version": env!("CARGO_PKG_VERSION"), "build": build, "boot": boot.trim() })
            }
            "look" => json!({ "answer": "looked", "trouble": null }),
            "agent" => {
                let request = own(serde_json::from_value(ask["request"].clone())?, ask["folder_of"].as_u64())?;
                let is_timed = matches!(request, Request::Slice { .. } | Request::Phase { .. });
                let now = clock_gettime(ClockId::Monotonic);
                let now_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
                let moments = is_timed.then(|| json!({ "released_ns": now_ns, "asked_ns": now_ns }));
                json!({ "answer": "agent", "reply": self.ask(&request)?, "moments": moments })
            }
            _ => json!({ "answer": "done" }),
        })
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        self.requests.write_all((request.to_line()? + "\n").as_bytes())?;
        let mut line = String::new();
        self.replies.read_line(&mut line)?;
        Ok(Reply::from_line(&line)?)
    }
}

/// A request as rank 1 does it, which reads what rank 0 wrote, because nobody else writes.
fn own(request: Request, folder_of: Option<u64>) -> Result<Request> {
    Ok(match request {
        Request::Attach { target: Target::Directory(lane), devices } => {
            let name = match folder_of {
                None => "shared",
                Some(1) => "rank00001",
                Some(_) => "rank00000",
            };
            let folder = lane.join(name);
            if folder_of.is_none_or(|of| of == 1) && !folder.exists() {
                std::fs::create_dir(&folder)?;
            }
            Request::Attach { target: Target::Directory(folder), devices }
        }
        Request::Prepare { workload, seed, clients } => {
            let seed = seed ^ RANK_STREAM;
            Request::Prepare { workload, seed, clients }
        }
        Request::CheckOther { seed, .. } => Request::CheckOther { client: 0, rank: 0, seed },
        other => other,
    })
}
