//! Power cuts and damage in a guest, by its kernel and without root: the command runs there, and its record and the images
//! that it kept come back.

use super::cannot;
use super::durability_writer::DurabilityWriter;
use super::saved_case;
use super::scratch_space::ScratchSpace;
use crate::commands::{lane_failure, planning};
use crate::failure::{Failure, Status};
use crate::{owned, terminal};
use lanes::command_guest::{self, CommandGuest, FILES, TRACE, Terms};
use lanes::guest::CarriedTrace;
use model::durability::{Cuts, DurabilityLine, Example};
use model::lane::{LaneSpec, Venue};
use model::record::EndOutcome;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Names of the record, and of the folder of what was kept, on the guest's disk.
const RECORD: &str = "record.jsonl";
const KEPT: &str = "record.kept";
/// Bytes of a record that are read back, at most: a lane's examples are few.
const MOST_RECORD_BYTES: u64 = 64 << 20;

/// What is to be done.
pub struct Errand<'a> {
    /// In which guest.
    pub venue: &'a Venue,
    /// The lanes of the command.
    pub specs: &'a [LaneSpec],
    /// Where the disk of its files lies, in a folder of the run's own.
    pub on: &'a Path,
    /// Size of that disk.
    pub disk_bytes: u64,
    /// The command that does it there: what makes the record again, and what only a guest is told.
    pub again: Vec<String>,
    /// What only the guest is told.
    pub more: &'a [&'a str],
    /// Where the record goes, and kept images beside it.
    pub record: &'a Path,
    /// Only the result.
    pub quiet: bool,
    /// The trace whose calls are the work; `None`: it is work of the table.
    pub trace: Option<ErrandTrace>,
}

/// A trace that the guest gets into its memory.
pub struct ErrandTrace {
    /// The file, as it was opened.
    pub carried: CarriedTrace,
    /// Its path on this machine, from the root.
    pub path: PathBuf,
    /// What the work does, in words: the guest knows the trace by another name.
    pub what: String,
}

/// Does it; answers the record, complete or not.
///
/// # Errors
/// What the guest, or the command in it, says.
pub fn run(errand: &Errand, stop: &AtomicBool) -> Result<DurabilityWriter, Failure> {
    let mut scratch = ScratchSpace::begin(errand.on, &planning::run_id())?;
    let worked = in_scratch(errand, &mut scratch, stop);
    let ended = scratch.end();
    worked.and_then(|writer| ended.map(|()| writer))
}

fn in_scratch(errand: &Errand, scratch: &mut ScratchSpace, stop: &AtomicBool) -> Result<DurabilityWriter, Failure> {
    let folder = scratch.path("guest");
    std::fs::create_dir(&folder).map_err(cannot("make a folder for the guest"))?;
    let terms = Terms {
        venue: errand.venue,
        specs: errand.specs,
        folder: &folder,
        disk_bytes: errand.disk_bytes,
        further_disks: &[],
        trace: errand.trace.as_ref().map(|trace| &trace.carried),
        program: std::env::current_exe().map_err(cannot("find this program"))?,
    };
    let guest = CommandGuest::boot(&terms, scratch.journal(), stop).map_err(lane_failure)?;
    let record = Path::new(FILES).join(RECORD);
    let mut words = errand.again.clone();
    words.extend(errand.more.iter().map(|&word| word.to_owned()));
    if errand.trace.is_some() {
        words.extend(["--replay", TRACE].map(str::to_owned));
    }
    words.extend(["--on", FILES, "-o", &record.to_string_lossy()].map(str::to_owned));
    let mut told = Told { quiet: errand.quiet, ..Told::default() };
    let ran = guest.run(words, &mut |text| told.hear(text), stop).map_err(lane_failure);
    let disk = guest.end(scratch.journal()).map_err(lane_failure)?;
    if ran.is_err() {
        // It died, and what it had found by then is on its disk, some of it in the journal alone.
        command_guest::replay_journal(&disk).map_err(lane_failure)?;
    }
    let back = scratch.path("back");
    std::fs::create_dir(&back).map_err(cannot("make a folder for what comes back"))?;
    command_guest::copy_out(&disk, &[RECORD, KEPT], &back).map_err(lane_failure)?;
    let taken = back.join(RECORD).is_file().then(|| take_over(errand, &back));
    let status = ran?;
    let Some(taken) = taken else { return Err(told.failure(status)) };
    let (writer, outcome) = taken?;
    // A lane that failed, and controls that did, are told by the record.
    match outcome {
        EndOutcome::Complete | EndOutcome::Unexplained => Ok(writer),
        EndOutcome::Interrupted => Err(Failure::interrupted()),
        EndOutcome::Failed => Err(told.failure(status)),
    }
}

/// What the command said.
#[derive(Default)]
struct Told {
    quiet: bool,
    /// What has no end of a line yet.
    open: String,
    /// Whether its plan, which its first lines are and this run has told already, is over.
    begun: bool,
    lines: u64,
    /// The sentence of its failure.
    failure: String,
}

impl Told {
    fn hear(&mut self, text: &str) {
        self.open.push_str(text);
        while let Some(end) = self.open.find('\n') {
            let line: String = self.open.drain(..=end).collect();
            self.line(line.trim_end());
        }
    }

    fn line(&mut self, line: &str) {
        self.lines += 1;
        self.begun |= self.lines > 1 && !line.starts_with(' ');
        if let Some(failure) = line.strip_prefix("fairlane: ") {
            failure.clone_into(&mut self.failure);
        } else if self.begun && !self.quiet {
            terminal::say!("{}", report::clean_text(line));
        }
    }

    /// How the command ended that left no record, or none that it had come to the end of.
    fn failure(&self, status: i32) -> Failure {
        let said = report::clean_text(&self.failure);
        let statuses = [Status::Usage, Status::Missing, Status::Interrupted];
        let status_of = statuses.into_iter().find(|known| *known as i32 == status).unwrap_or(Status::Failed);
        let message = match said.is_empty() {
            true if status_of == Status::Interrupted => String::new(),
            true => format!("the command ended in the guest with status {status} and said nothing"),
            false => said,
        };
        Failure { status: status_of, message }
    }
}

/// Writes the record again, where this user keeps it, and what was kept beside it.
fn take_over(errand: &Errand, back: &Path) -> Result<(DurabilityWriter, EndOutcome), Failure> {
    let unread = cannot("read the record that the guest wrote");
    let lines = BufReader::new(File::open(back.join(RECORD)).map_err(&unread)?);
    let mut writer: Option<DurabilityWriter> = None;
    let keep_in = crate::commands::powercut::keep_in(errand.record);
    let mut outcome = EndOutcome::Failed;
    for line in lines.take(MOST_RECORD_BYTES).lines() {
        // A line that is torn is the last one of a guest that died.
        let Ok(line) = serde_json::from_str::<DurabilityLine>(&line.map_err(&unread)?) else { break };
        match (line, &mut writer) {
            (DurabilityLine::Durability(mut header), None) => {
                header.again.clone_from(&errand.again);
                let trace = errand.trace.iter().flat_map(|of| ["--replay".to_owned(), of.path.display().to_string()]);
                header.again.extend(trace.chain(["--on".to_owned(), name(errand.venue)]));
                writer = Some(DurabilityWriter::begin(errand.record, *header)?);
            }
            (DurabilityLine::Cuts(mut cuts), Some(writer)) => {
                kept_here(&mut cuts, &keep_in);
                errand.trace.iter().for_each(|trace| cuts.what.clone_from(&trace.what));
                writer.add(DurabilityLine::Cuts(cuts))?;
            }
            (DurabilityLine::End { outcome: how, .. }, Some(_)) => outcome = how,
            (line, Some(writer)) => writer.add(line)?,
            (_, None) => return Err(Failure::failed("the record that the guest wrote has no header")),
        }
    }
    let mut writer = writer.ok_or_else(|| Failure::failed("the record that the guest wrote is empty"))?;
    let trace = errand.trace.as_ref().map(|trace| trace.path.as_path());
    copy_kept(&back.join(KEPT), &keep_in, trace).map_err(cannot("keep the guest's failing images"))?;
    writer.end(outcome)?;
    Ok((writer, outcome))
}

/// As `--on` takes it.
fn name(venue: &Venue) -> String {
    match venue {
        Venue::Qemu(Some(kernel)) => format!("qemu:{}", kernel.display()),
        Venue::Qemu(None) => "qemu".to_owned(),
        _ => "uml".to_owned(),
    }
}

fn kept_here(cuts: &mut Cuts, keep_in: &Path) {
    let there = Path::new(FILES).join(KEPT);
    let here = |example: &mut Example| {
        if let Ok(case) = Path::new(&example.kept).strip_prefix(&there) {
            example.kept = keep_in.join(case).display().to_string();
        }
    };
    cuts.examples.iter_mut().chain(&mut cuts.complained).for_each(here);
}

/// Copies the files of each kept case, which are files in folders of one level. `trace`: where this machine has the trace that the
/// guest had elsewhere.
fn copy_kept(from: &Path, to: &Path, trace: Option<&Path>) -> std::io::Result<()> {
    let cases = match std::fs::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        cases => cases?,
    };
    for case in cases {
        let case = case?;
        if !case.file_type()?.is_dir() {
            continue;
        }
        let folder: PathBuf = to.join(case.file_name());
        owned::make_folders(&folder)?;
        for file in std::fs::read_dir(case.path())? {
            let file = file?;
            if !file.file_type()?.is_file() {
                continue;
            }
            let to = folder.join(file.file_name());
            // What an earlier run of that name kept gives way.
            match owned::remove(&to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut from = File::open(file.path())?;
            match trace.filter(|_| file.file_name() == saved_case::CASE) {
                Some(trace) => owned::create(&to)?.write_all(&saved_case::with_trace(&mut from, trace)?)?,
                None => _ = std::io::copy(&mut from, &mut owned::create(&to)?)?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_left_no_record_failed_as_it_says() {
        let mut told = Told { quiet: true, ..Told::default() };
        told.hear("2 lanes …\n  in /lanes/files\nfairlane: lane x: mkfs.x is mis");
        told.hear("sing; apt install x\n");
        let failure = told.failure(4);
        assert_eq!(
            (failure.status, failure.message.as_str()),
            (Status::Missing, "lane x: mkfs.x is missing; apt install x")
        );
        let failure = Told::default().failure(139);
        assert!(failure.status == Status::Failed && failure.message.contains("status 139"), "{}", failure.message);
    }

    #[test]
    fn the_plan_of_the_guest_is_not_told_again() {
        let mut told = Told { quiet: true, ..Told::default() };
        told.hear("plan\n  of two lines\n");
        assert!(!told.begun);
        told.hear("ext4 append: 0 of 12 cuts broke a promise\n");
        assert!(told.begun);
    }

    #[test]
    fn kept_images_are_where_they_were_copied_to() {
        let example = Example { kept: format!("{FILES}/{KEPT}/ext4-append"), ..Example::default() };
        let mut cuts = Cuts { examples: vec![example], ..Cuts::default() };
        kept_here(&mut cuts, Path::new("/home/me/cuts.kept"));
        assert_eq!(cuts.examples[0].kept, "/home/me/cuts.kept/ext4-append");
    }

    #[test]
    fn kept_images_of_a_guest_name_the_trace_where_this_machine_has_it() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("back"), place.path().join("here"));
        std::fs::create_dir_all(from.join("ext4-replay")).unwrap();
        let case = r#"{"lane":"ext4","workload":"replay","terms":{"records":3,"seed":5,"only":null},"cut":CUT,
            "trace":{"path":"/replay.trace","sha256":"abc"}}"#;
        let cut = serde_json::to_string(&"7/nothing".parse::<crashes::crash_model::Cut>().unwrap()).unwrap();
        std::fs::write(from.join("ext4-replay/case.json"), case.replace("CUT", &cut)).unwrap();
        std::fs::write(from.join("ext4-replay/log"), "log").unwrap();
        copy_kept(&from, &to, Some(Path::new("/home/me/app.trace"))).unwrap();
        let text = std::fs::read_to_string(to.join("ext4-replay/case.json")).unwrap();
        let case: saved_case::Case = serde_json::from_str(&text).unwrap();
        let trace = case.trace.unwrap();
        assert_eq!((trace.path.as_path(), trace.sha256.as_str()), (Path::new("/home/me/app.trace"), "abc"));
        assert_eq!(std::fs::read_to_string(to.join("ext4-replay/log")).unwrap(), "log");
    }
}
