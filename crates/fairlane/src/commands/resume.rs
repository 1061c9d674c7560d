//! A record that is taken up again: whether it may be, and what it has spent already.

use super::planning;
use crate::conductor::machine;
use crate::failure::Failure;
use crate::options::{Race, Terms};
use crate::state;
use model::lane::{Contestant, Lane, LaneSpec};
use model::plan::Ground;
use model::record::Record;
use model::workload::{Kind, Workload};
use std::path::{Path, PathBuf};

/// A record that is taken up again.
pub struct Resumed {
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds.
    pub record: Record,
    /// Its lanes, as they were typed again where they were.
    pub lanes: Vec<LaneSpec>,
}

/// What was typed beside the name of a record.
pub struct Typed<'a> {
    /// The command: `race`.
    pub command: &'static str,
    /// The record as the command line names it.
    pub name: &'a str,
    /// Assignments of `--set`.
    pub set: &'a [String],
    /// What every race takes.
    pub terms: &'a Terms,
    /// The words of the whole command that goes on with it, as its report has them; empty: nobody knows more than the record.
    pub whole: &'a [String],
}

/// Finds a record and asks whether it may go on here. A record is a file that somebody may have written to have root
/// do something: what it may not choose by itself must be typed again: lanes, servers (`--set`) and folders (`--on`).
///
/// # Errors
/// When there is no such record, it is complete or a screening, it was begun by another version or machine, or what it asks
/// for was not typed again.
pub fn resume(name: &str, options: &Race) -> Result<Resumed, Failure> {
    let path = state::resolve(name)?;
    let record = state::load(&path)?;
    if record.header.plan.screening.is_some() {
        let line = super::screening::words_that_go_on(name, &record);
        return Err(Failure::usage(format!(
            "{} is a screening; go on with it as one: {}",
            path.display(),
            report::shell_line(&line)
        )));
    }
    if record.end == Some(model::record::EndOutcome::Complete) {
        return Err(complete(&path));
    }
    if let Some(of) = &record.header.plan.ranks {
        let again = record.header.plan.as_typed();
        let anew = match model::plan::is_over_mpi(&again) {
            true => format!("race again: {}", report::shell_line(&again)),
            false => "race again, from the start".to_owned(),
        };
        return Err(Failure::usage(format!(
            "{} was raced by {} ranks of an MPI job, and such a race is not gone on with; {anew}",
            path.display(),
            of.ranks
        )));
    }
    let typed = Typed { command: "race", name, set: &options.set, terms: &options.terms, whole: &[] };
    let trusted = check(&path, &record, &typed)?;
    let lanes = lanes_again(&record.header.plan.lanes, &options.lanes, name, trusted)?;
    place_again(&record.header.plan.on, &typed, trusted)?;
    Ok(Resumed { path, record, lanes })
}

/// Nothing of a race is left to do.
pub fn complete(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} is complete; there is nothing to resume: fairlane report {}",
        path.display(),
        path.display()
    ))
}

/// Asks whether a record may go on here but for its lanes and their place. Answers whether it may name folders: it is among the user's own,
/// or this is not root.
///
/// # Errors
/// When it was begun by another version or machine, or what it asks for was not typed again.
pub fn check(path: &Path, record: &Record, typed: &Typed) -> Result<bool, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if record.header.version != version {
        return Err(Failure::usage(format!(
            "{} was begun by Fairlane {}, this is {version}: their figures do not mix; race again, or use that version",
            path.display(),
            record.header.version
        )));
    }
    let here = machine::read(&record.header.machine.device.name);
    if let Some(difference) = record.header.machine.differs_from(&here) {
        return Err(Failure::usage(format!(
            "{} was begun on {difference}: its rounds cannot be paired with rounds here; race again",
            path.display()
        )));
    }
    for workload in &record.header.plan.workloads {
        check_again(workload, here.memory_bytes)
            .map_err(|what| Failure::usage(format!("{} cannot go on: {what}", path.display())))?;
    }
    let workloads = &record.header.plan.workloads;
    let is_socket = |assignment: &&String| assignment.split('=').next().is_some_and(|key| key.ends_with("socket"));
    if let Some(other) = typed.set.iter().find(|assignment| !is_socket(assignment)) {
        return Err(Failure::usage(format!(
            "--set {}: a race goes on with its own parameters, and only a server's socket is typed again; remove it",
            report::clean_text(other)
        )));
    }
    planning::check_sockets(workloads, typed.set)?;
    let trusted = !lanes::host::is_root() || state::is_kept(path);
    let runs_fio = |workload: &Workload| matches!(workload.kind, Kind::Fio(_));
    if !trusted && !typed.terms.allow_programs && workloads.iter().any(runs_fio) {
        let line = typed.again(&["--allow-programs"]);
        return Err(Failure::usage(format!(
            "the record has the installed fio run a job file as root, and it is not among your own records; read it, and \
             allow it: {line}"
        )));
    }
    Ok(trusted)
}

impl Typed<'_> {
    /// The command line that goes on, with more words; the whole one where it is known.
    pub fn again(&self, more: &[&str]) -> String {
        if !self.whole.is_empty() {
            return report::shell_line(&with(self.whole, more));
        }
        let begin = ["fairlane", self.command, "--resume", self.name];
        let words = begin.iter().chain(more).map(|&word| word.to_owned());
        report::shell_line(&words.collect::<Vec<_>>())
    }
}

/// A whole command with those of these words that it lacks: options, most with a value behind, and the lane of a screening, which
/// stands in front.
fn with(whole: &[String], more: &[&str]) -> Vec<String> {
    let mut words = whole.to_vec();
    let mut more = more.iter().copied();
    while let Some(word) = more.next() {
        match word {
            "--allow-programs" if words.iter().all(|known| known != word) => words.push(word.to_owned()),
            "--allow-programs" => {}
            option if option.starts_with("--") => {
                let value = more.next().unwrap_or_default();
                if !words.windows(2).any(|two| two[0] == option && two[1] == value) {
                    words.extend([option, value].map(str::to_owned));
                }
            }
            lane if words.get(2).is_some_and(|word| word == "--resume") => words.insert(2, lane.to_owned()),
            _ => {}
        }
    }
    words
}

/// The lanes to go on with: the record's, where none of them has to be typed again, or those that were typed, where
/// they are the same. `name`: the record as the command line names it.
/// `trusted`: it may name folders.
fn lanes_again(recorded: &[LaneSpec], typed: &[String], name: &str, trusted: bool) -> Result<Vec<LaneSpec>, Failure> {
    let line = || {
        let begin = ["fairlane", "race", "--resume", name].map(str::to_owned);
        let words: Vec<String> = begin.into_iter().chain(recorded.iter().map(LaneSpec::to_line)).collect();
        report::shell_line(&words)
    };
    if typed.is_empty() {
        let names_folder = |lane: &LaneSpec| {
            let folder = matches!(lane.venue, Some(model::lane::Venue::Image(Some(_))));
            (folder && !trusted).then_some("it names a folder, in which root makes its images")
        };
        let why = |lane: &LaneSpec| lanes::plain::must_be_typed(lane).or_else(|| names_folder(lane));
        let must = recorded.iter().find_map(|lane| why(lane).map(|why| (lane, why)));
        return match must {
            None => Ok(recorded.to_vec()),
            Some((lane, why)) => Err(Failure::usage(format!(
                "lane {} of this record is not raced again because the record says so: {why}; read it, and name the \
                 lanes again: {}",
                report::clean_text(&lane.name),
                line()
            ))),
        };
    }
    let parsed: Result<Vec<LaneSpec>, _> = typed.iter().map(|text| text.parse()).collect();
    let parsed = parsed.map_err(|error| Failure::usage(error.to_string()))?;
    // A file of the user's own may have moved: its bytes are compared.
    let same = |a: &LaneSpec, b: &LaneSpec| {
        let contestant = match (&a.contestant, &b.contestant) {
            (Contestant::Custom(_), Contestant::Custom(_)) => true,
            (a, b) => a == b,
        };
        let of = |lane: &LaneSpec| {
            let past = (lane.aged.clone(), lane.full_percent, lane.server_answers);
            let told = (lane.mkfs_options.clone(), lane.mount_options.clone(), lane.layers.clone());
            (lane.name.clone(), told, past, lane.venue.clone())
        };
        contestant && of(a) == of(b)
    };
    match parsed.len() == recorded.len() && parsed.iter().zip(recorded).all(|(a, b)| same(a, b)) {
        true => Ok(parsed),
        false => Err(Failure::usage(format!(
            "these are not the lanes of this record; name all of them in its order: {}",
            line()
        ))),
    }
}

/// Where the images stand: root makes them where a record of its own says, in the working directory, or where they were
/// typed again. `trusted`: the record may name folders.
///
/// # Errors
/// When the place has to be typed again, or another one was.
pub fn place_again(recorded: &Ground, beside: &Typed, trusted: bool) -> Result<(), Failure> {
    let typed = beside.terms.on.as_deref();
    let place = match recorded {
        Ground::Images(place) | Ground::Device(place) => place,
        Ground::Disks(_) if typed.is_none() => return Ok(()),
        Ground::Disks(_) => {
            return Err(Failure::usage("this record's lanes are on the disks that it names; leave --on out"));
        }
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let line = || beside.again(&["--on", &place.display().to_string()]);
    let here = || std::env::current_dir().is_ok_and(|here| real(&here) == real(place));
    match typed {
        Some(typed) if real(typed) == real(place) => Ok(()),
        Some(_) => Err(Failure::usage(format!("this record's lanes are elsewhere; name that place: {}", line()))),
        None if trusted || matches!(recorded, Ground::Device(_)) || here() => Ok(()),
        None => Err(Failure::usage(format!(
            "the record says where root is to make its images, and it is not among your own records; read it, and name \
             the place again: {}",
            line()
        ))),
    }
}

/// A record is a file that somebody may have edited, and resuming may run as root: what it makes the
/// engine or fio do is checked as when it was begun.
fn check_again(workload: &Workload, memory_bytes: u64) -> Result<(), String> {
    workload.check()?;
    let run = match &workload.kind {
        Kind::Fio(run) => run,
        Kind::Replay(replay) => return super::replay::check_again(replay),
        _ => return Ok(()),
    };
    let surroundings = jobfile::Surroundings {
        read: &|_| Ok(run.text.clone()),
        variable: &|_| None,
        cpus: 1,
        memory_bytes,
        page_bytes: 4096,
        space_bytes: 0,
    };
    let again = jobfile::for_fio(Path::new(&run.file), &surroundings).map_err(|error| error.to_string())?;
    match again == **run {
        true => Ok(()),
        false => Err("its job file is not as Fairlane writes it; begin again from the job file".to_owned()),
    }
}

/// A resumed race goes on only with lanes that are made as before: an edited file of one's own, a newer mkfs or
/// another disk would pair what is not the same. Asked before anything is made: of a record that was written to
/// deceive, nothing is formatted and nothing is started.
///
/// # Errors
/// Names what is no longer the same.
pub fn same_lanes(record: &Record, now: &[Lane], path: &Path) -> Result<(), Failure> {
    let then = &record.header.lanes;
    if then.len() != now.len() {
        return Err(differs(path, "the record tells of other lanes than its plan"));
    }
    let found = then.iter().zip(now).find_map(|(then, now)| {
        let own_file = !now.definition_sha256.is_empty();
        let pairs = [
            ("name", then.name == now.name),
            ("file that describes it", then.definition_sha256 == now.definition_sha256),
            // The bytes of that file count, and not where it lies.
            ("line", own_file || then.spec == now.spec),
            ("filesystem", then.filesystem == now.filesystem),
            ("mkfs command", then.mkfs_command == now.mkfs_command),
            ("mount options", then.mount_options == now.mount_options),
            ("layers and disks", then.stands_alike(now)),
            ("venue", then.venue == now.venue),
            ("place", then.ground == now.ground),
            ("size", then.size_bytes == now.size_bytes),
            ("disk", then.backing == now.backing),
            ("place in its plan", then.is_self == now.is_self),
            ("guest's kernel", stats::comparable::same_kernel(then, now)),
            ("way of its flushes", then.flushes_stop_short == now.flushes_stop_short),
        ];
        told(then, &pairs)
    });
    let tools = || machine::tool_versions(now, &record.header.plan.workloads) != record.header.machine.tools;
    let found = found.or_else(|| tools().then(|| "the versions of the programs used changed".to_owned()));
    found.map_or(Ok(()), |what| Err(differs(path, &what)))
}

/// What only the lanes themselves tell, once they were made.
///
/// # Errors
/// Names what is no longer the same.
pub fn same_built(record: &Record, now: &[Lane], path: &Path) -> Result<(), Failure> {
    let found = record.header.lanes.iter().zip(now).find_map(|(then, now)| {
        let pairs = [
            ("promises", then.promises == now.promises),
            ("geometry", then.geometry == now.geometry),
            ("past", then.past() == now.past()),
            // Rounds of two images are no replicates.
            ("kept image", image(then) == image(now)),
        ];
        told(then, &pairs)
    });
    found.map_or(Ok(()), |what| Err(differs(path, &what)))
}

fn image(lane: &Lane) -> &str {
    lane.aged.as_ref().map_or("", |facts| facts.image.as_str())
}

fn told(lane: &Lane, pairs: &[(&str, bool)]) -> Option<String> {
    let (what, _) = pairs.iter().find(|(_, same)| !same)?;
    Some(format!("the {what} of lane {} is no longer what it was", report::clean_text(&lane.name)))
}

fn differs(path: &Path, what: &str) -> Failure {
    Failure::usage(format!("{} cannot go on: {what}; race again", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_adds_to_the_whole_command_what_it_asks_for() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let whole = "fairlane screen ext4 --resume r.jsonl --option commit=5|30 --on /srv";
        for (whole, more, line) in [
            (whole, &["--on", "/srv"][..], whole.to_owned()),
            (whole, &["ext4", "--option", "commit=5|30"], whole.to_owned()),
            (whole, &["--allow-programs"], format!("{whole} --allow-programs")),
            (whole, &["--option", "-K"], format!("{whole} --option -K")),
            (
                "fairlane screen --resume r",
                &["./my.toml", "--on", "/a"],
                "fairlane screen ./my.toml --resume r --on /a".to_owned(),
            ),
        ] {
            assert_eq!(with(&words(whole), more).join(" "), line, "{more:?}");
        }
    }
}
