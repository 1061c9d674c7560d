//! Races over the ranks of a job, without MPI: the test carries the lines between `fairlane rank` processes that `fairlane-mpi`
//! carries else. `scripts/test-mpi` races over MPI itself.

use crate::common;

use common::Place;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What some rank did: a line, or its end.
enum Happened {
    Said(usize, String),
    Ended(usize),
}

/// The ranks of a job.
struct Job {
    ranks: Vec<(Child, UnixStream)>,
    happened: Receiver<Happened>,
    /// Ranks that came to the barrier.
    waiting: usize,
}

/// How a job ended.
#[derive(Debug)]
struct End {
    /// `end` or `abort`, and the status.
    said: String,
    output: String,
}

fn listen(rank: usize, socket: &UnixStream, happened: Sender<Happened>) {
    let lines = BufReader::new(socket.try_clone().expect("a socket")).lines();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if happened.send(Happened::Said(rank, line)).is_err() {
                return;
            }
        }
        let _ = happened.send(Happened::Ended(rank));
    });
}

impl Job {
    fn start(place: &Place, size: usize, words: &[&str], version: &str) -> Job {
        let (sender, happened) = channel();
        let mut ranks = Vec::new();
        for rank in 0..size {
            let (mut ours, its) = UnixStream::pair().expect("sockets");
            let arguments: Vec<&str> = ["rank", "--"].into_iter().chain(words.iter().copied()).collect();
            let mut command = place.fairlane(&arguments);
            command.stdin(Stdio::from(OwnedFd::from(its))).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().expect("fairlane starts");
            writeln!(ours, "rank {rank} {size} {version}").expect("a line");
            listen(rank, &ours, sender.clone());
            ranks.push((child, ours));
        }
        Job { ranks, happened, waiting: 0 }
    }

    /// The input of all ranks ends, and so do they.
    fn let_go(&self) {
        for (_, socket) in &self.ranks {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }

    fn tell(&mut self, rank: usize, line: &str) {
        // Who is gone hears nothing.
        let _ = writeln!(self.ranks[rank].1, "{line}");
    }

    /// Carries lines until rank 0 ends the job; `look` sees every line before it is carried.
    fn carry(mut self, mut look: impl FnMut(usize, &str, &mut [(Child, UnixStream)])) -> End {
        let said = loop {
            match self.happened.recv_timeout(Duration::from_secs(300)).expect("the job goes on") {
                Happened::Said(from, line) => {
                    look(from, &line, &mut self.ranks);
                    let mut words = line.splitn(3, ' ');
                    match (words.next().unwrap_or_default(), words.next(), words.next()) {
                        ("to", Some(to), Some(text)) => {
                            let to = to.parse().expect("a rank");
                            self.tell(to, &format!("from {from} {text}"));
                        }
                        ("barrier", None, None) => {
                            self.waiting += 1;
                            if self.waiting == self.ranks.len() {
                                self.waiting = 0;
                                (0..self.ranks.len()).for_each(|rank| self.tell(rank, "released"));
                            }
                        }
                        ("end" | "abort", Some(_), None) => break line,
                        _ => panic!("rank {from} said {line}"),
                    }
                }
                Happened::Ended(0) => break "ended".to_owned(),
                Happened::Ended(rank) => self.tell(0, &format!("lost {rank} it ended")),
            }
        };
        let mut output = String::new();
        self.let_go();
        for (mut child, _) in std::mem::take(&mut self.ranks).into_iter().rev() {
            let mut text = Vec::new();
            child.stdout.take().expect("piped").read_to_end(&mut text).expect("output");
            child.stderr.take().expect("piped").read_to_end(&mut text).expect("output");
            child.wait().expect("it ends");
            output += &String::from_utf8_lossy(&text);
        }
        End { said, output }
    }
}

impl Drop for Job {
    /// Of a test that fails, too: rank 0 ends a relay that does not let it go, and that is the process of all tests.
    fn drop(&mut self) {
        self.let_go();
    }
}

fn lanes(place: &Place) -> Vec<PathBuf> {
    let lanes = ["a", "b"].map(|name| place.path().join(name));
    lanes.iter().for_each(|lane| std::fs::create_dir(lane).expect("a folder"));
    lanes.to_vec()
}

fn nothing_is_left(place: &Place, lanes: &[PathBuf]) {
    let entries = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
    assert!(lanes.iter().all(|lane| entries(lane) == 0) && entries(&place.path().join("undo")) == 0);
}

const SMALL: &str = "--suite shared --set write.size=4MiB --set read.size=4MiB --set random-read.size=4MiB --set files.count=30 \
    --set write-one.size=4MiB --set read-one.size=4MiB --set files-together.count=30 --set appends.operations=30 \
    --set locks.operations=20 --set opens.operations=30 --set slices=2 --set slice_seconds=0.05 --rounds 2 --no-report -o r.jsonl";

/// All that needs no MPI.
const ALL: &str = "--workload write --workload read --workload write-one --workload read-one --workload random-read --workload files \
    --workload files-together --workload appends --workload locks --workload opens";

fn words<'a>(lanes: &'a [PathBuf], more: &'a str) -> Vec<&'a str> {
    let lanes = lanes.iter().map(|lane| lane.to_str().expect("a name"));
    ["race"].into_iter().chain(lanes).chain(more.split_whitespace()).collect()
}

#[test]
fn ranks_race_together_and_the_record_has_one_figure_of_all_and_what_each_did() {
    let place = Place::new();
    let lanes = lanes(&place);
    // By the lane: in whose folder rank 1 works when a slice begins, and whether it reads there. Probes work in none.
    let mut at: BTreeMap<u64, (Option<u64>, bool)> = BTreeMap::new();
    let (mut slices, mut together) = ([0, 0], 0);
    let more = format!("{SMALL} {ALL}");
    let end = Job::start(&place, 3, &words(&lanes, &more), VERSION).carry(|from, line, _| {
        let Some(text) = line.strip_prefix("to 1 ").filter(|_| from == 0) else { return };
        let asked: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let (ask, request) = (&asked["ask"], &asked["ask"]["request"]);
        let Some(lane) = ask["lane"].as_u64() else { return };
        let (folder, reads) = at.entry(lane).or_default();
        match request["do"].as_str() {
            Some("attach") => {
                let is_folder = request["target"].get("directory").is_some();
                together += usize::from(is_folder && ask["folder_of"].is_null());
                *folder = ask["folder_of"].as_u64().filter(|_| is_folder);
            }
            Some("prepare") => {
                let name = request["workload"]["name"].as_str().expect("a name");
                *reads = ["read", "random-read"].contains(&name);
            }
            Some("slice") if folder.is_some() => {
                assert_eq!(*folder, Some(if *reads { 2 } else { 1 }), "in whose folder it works: {line}");
                slices[usize::from(*reads)] += 1;
            }
            _ => {}
        }
    });
    assert_eq!(end.said, "end 0", "{}", end.output);
    // One workload that writes files of its own and two that read them, in two lanes and two rounds of two slices.
    assert!(slices[0] >= 8 && slices[1] >= 16, "{slices:?}");
    // Six whose files or directories are everybody's, before they are made and again after that.
    assert!(together >= 2 * 6 * 2 * 2, "{together}");
    nothing_is_left(&place, &lanes);
    let record = place.record();
    assert_eq!(record[0]["plan"]["ranks"], serde_json::json!({ "ranks": 3, "nodes": 1 }));
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    assert!(trials.len() >= 2 * 2 * 10 - 2, "{}", trials.len());
    for group in trials.iter().flat_map(|trial| trial["groups"].as_array().expect("groups")) {
        let ranks = &group["ranks"];
        let figure = |key: &str| ranks[key].as_f64().unwrap_or_else(|| panic!("{key}: {group}"));
        assert_eq!((figure("ranks"), figure("nodes")), (3.0, 1.0));
        assert!(figure("lowest_operations_per_second") <= figure("highest_operations_per_second"));
        assert!(figure("first_done_seconds") <= figure("last_done_seconds") && figure("first_done_seconds") > 0.0);
        let name = group["name"].as_str().expect("a name");
        if name.starts_with("create") || name.starts_with("delete") {
            assert_eq!(group["operations"], 90, "{group}");
        }
    }
    let is_of =
        |trial: &serde_json::Value, name: &str| trial["workload"].as_str().is_some_and(|of| of.starts_with(name));
    // Opening leaves nothing to be compared.
    let leaves =
        |trial: &&&serde_json::Value| !is_of(trial, "opens") && (!is_of(trial, "files") || trial["round"] == 1);
    for trial in trials.iter().filter(leaves) {
        let compared = trial["groups"][0]["ranks"]["compared_by_same_node_bytes"].as_u64();
        assert!(compared > Some(0), "another rank compares what one wrote: {trial}");
    }
    let note = record[0]["warnings"].to_string();
    assert!(note.contains("3 ranks of an MPI job on 1 node") && note.contains("what another rank wrote"), "{note}");
    // Such a record is shown by every fairlane.
    let (shown, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(shown.contains("AGAIN     mpirun -n 3 fairlane-mpi race /"), "{shown}");
}

#[test]
fn a_ladder_is_raced_by_growing_numbers_of_ranks_while_the_others_come_to_their_barriers() {
    let place = Place::new();
    let lanes = lanes(&place);
    let more = format!("{SMALL} --workload write --workload files-together --ranks 3,1");
    let (mut idle, mut own) = (0, 0);
    let end = Job::start(&place, 3, &words(&lanes, &more), VERSION).carry(|from, line, _| {
        let is_asked = from == 0 && line.starts_with("to 1 ");
        idle += usize::from(is_asked && line.contains("\"ask\":\"barrier\""));
        own += usize::from(is_asked && line.contains("\"do\":\"slice\""));
    });
    assert_eq!(end.said, "end 0", "{}", end.output);
    // Two slices of two lanes in two rounds, and more of the steps on files.
    assert!(idle > 8 && own >= 8, "{idle} {own}");
    nothing_is_left(&place, &lanes);
    let record = place.record();
    let ladder = &record[0]["plan"]["ranks"]["ladders"][0]["steps"];
    let steps = serde_json::json!([{ "workload": "write-ranks-1", "ranks": 1 }, { "workload": "write", "ranks": 3 }]);
    assert_eq!(*ladder, steps);
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    assert!(trials.len() >= 2 * 2 * 4, "{}", trials.len());
    for trial in trials {
        let name = trial["workload"].as_str().expect("a name");
        let ranks = if name.ends_with("-ranks-1") { 1 } else { 3 };
        for group in trial["groups"].as_array().expect("groups") {
            assert_eq!(group["ranks"]["ranks"], ranks, "{name}: {group}");
            if group["name"].as_str().is_some_and(|name| name.starts_with("create")) {
                assert_eq!(group["operations"], 30 * ranks, "{name}: {group}");
            }
        }
    }
    let (shown, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(shown.contains("LADDER") && shown.contains("RANKS"), "{shown}");
    assert!(record[0]["plan"]["command_line"].to_string().contains("\"--ranks\",\"3,1\""), "{}", record[0]["plan"]);
}

#[test]
fn a_rank_that_is_lost_ends_the_race_and_the_record_is_closed() {
    let place = Place::new();
    let lanes = lanes(&place);
    let more = SMALL.replace("--rounds 2", "--rounds 50");
    let (mut slices, mut stopped) = (0, 0);
    let end = Job::start(&place, 3, &words(&lanes, &more), VERSION).carry(|from, line, ranks| {
        slices += usize::from(from == 0 && line.starts_with("to 2 ") && line.contains("\"do\":\"slice\""));
        stopped += usize::from(from == 0 && line.starts_with("to 1 ") && line.contains("\"ask\":\"stop\""));
        if slices == 15 {
            slices += 1;
            ranks[2].0.kill().expect("it is killed");
        }
    });
    assert_eq!(end.said, "abort 1", "{}", end.output);
    assert_eq!(stopped, 1, "who is left ends its work before rank 0 removes it");
    assert!(end.output.contains("rank 2 is gone: it ended; start the job again"), "{}", end.output);
    nothing_is_left(&place, &lanes);
    let record = place.record();
    let last = record.last().expect("lines");
    assert_eq!((&last["kind"], &last["outcome"]), (&"end".into(), &"failed".into()), "{last}");
    assert!(last["reason"].as_str().is_some_and(|why| why.contains("rank 2 is gone")), "{last}");
    let (_, said) = place.expect(2, &["race", "--resume", "r.jsonl"]);
    assert!(said.contains("is not gone on with; race again: mpirun -n 3 fairlane-mpi race "), "{said}");
}

#[test]
fn what_ranks_cannot_race_is_refused_in_one_sentence() {
    let place = Place::new();
    let lanes = lanes(&place);
    let again = place.path().join("again");
    std::os::unix::fs::symlink(&lanes[0], &again).expect("a link");
    let [twice, linked] = [place.path().join("./a"), again].map(|other| [lanes[0].clone(), other]);
    for (lanes, more, sentence) in [
        (&twice[..], "--suite shared", "are one directory; name each once"),
        (&linked[..], "--suite shared", "are one directory; name each once"),
        (&lanes[..1], "ext4 --suite shared", "lane ext4 is no directory"),
        (&[], "--suite shared", "and none is named"),
        (&lanes[..], "--suite appenders", "is of kind appenders, and ranks of an MPI job do workloads of kind io"),
        (
            &lanes[..],
            "--suite database",
            "ranks of an MPI job do workloads of kind io, small-files, operations, one-file and collective",
        ),
        (
            &lanes[..],
            "--suite shared --set files-together.loops=2",
            "loops makes all directories anew, and ranks share",
        ),
        (&lanes[..], "--suite shared --explain", "a race over MPI knows no --explain yet"),
        (&lanes[..], "--suite shared --ranks 1,3", "--ranks 3: this job has 2; start it with as many (mpirun -n 3)"),
        (&lanes[..], "--suite shared --ranks 0,1", "--ranks 0: no work is done by no rank"),
        (&lanes[..], "--suite shared --ranks 2,2", "--ranks names 2 twice"),
        (&lanes[..1], "--as-published", "a race over MPI knows no --as-published yet"),
    ] {
        let end = Job::start(&place, 2, &words(lanes, more), VERSION).carry(|_, _, _| {});
        assert_eq!(end.said, "end 2", "{}", end.output);
        assert!(end.output.contains(sentence), "{}", end.output);
        assert_eq!(end.output.matches("fairlane: ").count(), 1, "{}", end.output);
    }
    nothing_is_left(&place, &lanes);
    let end = Job::start(&place, 1, &["records"], VERSION).carry(|_, _, _| {});
    assert!(end.said == "end 2" && end.output.contains("races and does nothing else"), "{end:?}");
    let end = Job::start(&place, 1, &words(&lanes, SMALL), "0.0.1").carry(|_, _, _| {});
    assert!(end.said == "ended" && end.output.contains("fairlane-mpi is of version 0.0.1"), "{end:?}");
    place.expect(2, &["rank"]);
    let (_, said) = place.expect(2, &["race", "--suite", "shared", "--ranks", "1,2"]);
    assert!(said.contains("--ranks says how many ranks of an MPI job do the work, and this is none"), "{said}");
}
