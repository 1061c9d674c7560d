//! What a race over MPI refuses before anything runs, each in one sentence with the remedy.

use super::message::Trouble;
use crate::failure::Failure;
use crate::options::{Passes, Race};
use lanes::LaneFailure;
use model::lane::{Contestant, LaneSpec};
use model::operations::Method;
use model::plan::Plan;
use model::ranks::Clients;
use model::workload::{Kind, Workload};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A rank as it is told: `rank 3`, and on which machine where there are several.
pub fn named(rank: u32, node: u32, nodes: u32) -> String {
    if nodes > 1 { format!("rank {rank} (node {node})") } else { format!("rank {rank}") }
}

/// Refuses options that ranks do not know yet, lanes that are no directories, and a directory that is named twice.
///
/// # Errors
/// As a command line that is wrong.
pub fn command_line(options: &Race) -> Result<(), Failure> {
    let others = [
        (options.resume.is_some(), "--resume"),
        (options.replay.is_some(), "--replay"),
        (options.find_max.is_some(), "--find-max"),
        (options.as_published, "--as-published"),
        (options.explain == Some(Passes::Yes), "--explain"),
        (options.terms.keep, "--keep"),
    ];
    if let Some((_, option)) = others.into_iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!("a race over MPI knows no {option} yet; leave it out")));
    }
    if options.lanes.is_empty() {
        return Err(Failure::usage(
            "a race over MPI races directories, and none is named; name one or more that all nodes mount, such as \
             /scratch/a /scratch/b",
        ));
    }
    let mut seen: Vec<((u64, u64), String)> = Vec::new();
    for word in &options.lanes {
        let lane: LaneSpec = word.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let Contestant::Directory(path) = &lane.contestant else {
            return Err(Failure::usage(format!(
                "lane {} is no directory, and ranks of an MPI job work in directories alone; mount it on every node and \
                 name the directory, with / or ./ in front",
                lane.name
            )));
        };
        // What is not there is refused by who looks at lanes.
        let Ok(found) = path.metadata() else { continue };
        let identity = (found.dev(), found.ino());
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == identity) {
            let against_itself = match options.terms.with_self {
                true => "; --with-self races the first lane against itself already",
                false => ", or race one against itself with --with-self",
            };
            return Err(Failure::usage(format!(
                "{other} and {} are one directory; name each once{against_itself}",
                lane.name
            )));
        }
        seen.push((identity, lane.name));
    }
    Ok(())
}

/// Refuses work that ranks do not do.
///
/// # Errors
/// Names the workload, and the kinds that are possible.
pub fn work(plan: &Plan, ranks: u32) -> Result<(), Failure> {
    if let Some((workload, why)) = plan.workloads.iter().find_map(|workload| Some((workload, cannot(workload)?))) {
        return Err(Failure::usage(format!(
            "workload {} {why}, and ranks of an MPI job do workloads of kind io, small-files, operations, one-file and \
             collective, each at its own speed and without starting programs; name such a suite or workloads: --suite shared",
            workload.name
        )));
    }
    let clients = Clients { of: ranks, ..Clients::ALONE };
    plan.workloads.iter().try_for_each(|workload| {
        let checked = match &workload.kind {
            Kind::Operations(operations) => operations.check_clients(clients),
            Kind::SmallFiles(small) => small.check_clients(clients),
            _ => Ok(()),
        };
        checked.map_err(|what| Failure::usage(format!("workload {}: {what}", workload.name)))
    })
}

/// Leaves out work that only ranks do, where there are none; answers what is said of that.
///
/// # Errors
/// Where nothing else is left.
pub fn without_ranks(plan: &mut Plan) -> Result<Option<String>, Failure> {
    let needs_ranks = |of: &Workload| matches!(of.kind, Kind::Collective(_));
    let titles: Vec<String> =
        plan.workloads.iter().filter(|of| needs_ranks(of)).map(|workload| workload.title.clone()).collect();
    if titles.is_empty() {
        return Ok(None);
    }
    let said = format!("{}: done by MPI-IO, and this race has no ranks of an MPI job", titles.join("; "));
    if titles.len() == plan.workloads.len() {
        return Err(Failure::usage(format!("{said}; start one: mpirun -n 2 fairlane-mpi race DIR DIR")));
    }
    plan.workloads.retain(|of| !needs_ranks(of));
    // Before what the suite says of every race: a long list is cut at its end.
    drop(plan.not_tested.splice(..0, titles));
    Ok(Some(format!("{said}: left out")))
}

/// Why ranks do not do a workload.
fn cannot(workload: &Workload) -> Option<String> {
    match &workload.kind {
        Kind::Io(io) if io.rate_of_slowest.is_some() => Some("has a rate of the slowest lane's".to_owned()),
        Kind::Operations(operations) if operations.method != Method::InProcess => Some("starts programs".to_owned()),
        Kind::Io(_) | Kind::SmallFiles(_) | Kind::Operations(_) | Kind::OneFile(_) | Kind::Collective(_) => None,
        _ => {
            let table = toml::Table::try_from(workload).unwrap_or_default();
            let kind = table.get("kind").and_then(|kind| kind.as_str()).unwrap_or("another").to_owned();
            Some(format!("is of kind {kind}"))
        }
    }
}

/// What a rank says that it is.
pub(super) struct Program {
    pub(super) version: String,
    pub(super) build: String,
}

/// Refuses ranks whose programs differ.
///
/// # Errors
/// Names the first that does.
pub(super) fn one_program(programs: &[Program], nodes: &[u32]) -> Result<(), Failure> {
    let Some(first) = programs.first() else { return Ok(()) };
    let differs = |of: &&(usize, &Program)| of.1.version != first.version || of.1.build != first.build;
    let numbered: Vec<(usize, &Program)> = programs.iter().enumerate().collect();
    match numbered.iter().find(differs) {
        Some((rank, other)) => {
            let node = nodes.get(*rank).copied().unwrap_or(0);
            let count = nodes.iter().max().map_or(1, |last| last + 1);
            Err(Failure::usage(format!(
                "{} runs Fairlane {} (build {}) and rank 0 runs {} (build {}), so their figures do not mix; put the same \
                 fairlane and fairlane-mpi on every node",
                named(*rank as u32, node, count),
                other.version,
                other.build,
                first.version,
                first.build
            )))
        }
        None => Ok(()),
    }
}

/// Where ranks are to work: a lane, the directory that was named, and the race's folder in it.
pub(super) struct Place<'a> {
    pub(super) lane: &'a str,
    pub(super) directory: &'a Path,
    pub(super) folder: &'a Path,
}

/// Why a rank cannot work in a lane, with the remedy.
pub(super) fn cannot_work(place: &Place, rank: &str, trouble: &Trouble) -> LaneFailure {
    let directory = model::text::escaped_path(place.directory);
    let said = match trouble {
        Trouble::Missing => {
            format!("{rank} has no directory {directory}; mount its filesystem on every node, or leave that node out")
        }
        Trouble::NotShared if !place.folder.starts_with(place.directory) => format!(
            "{rank} does not see what rank 0 wrote into {directory}, because root works there through /run on its own node; \
             start the job as the user whose directory it is"
        ),
        Trouble::NotShared => format!(
            "{rank} does not see what rank 0 wrote into {directory}; race a directory of a filesystem that all nodes share"
        ),
        Trouble::NotAllowed { why } => {
            format!(
                "{rank} may not work in {directory} ({why}); start the job as one user who may write there on every node"
            )
        }
        Trouble::Silent => format!(
            "{directory} does not answer {rank}; look after the filesystem on that node (dmesg), or leave the node out"
        ),
    };
    let said = format!("lane {}: {said}", place.lane);
    match trouble {
        Trouble::NotAllowed { .. } => LaneFailure::Privilege(said),
        Trouble::Silent => LaneFailure::Failed(said),
        Trouble::Missing | Trouble::NotShared => LaneFailure::Usage(said),
    }
}

/// The directory of a lane as every node calls it.
pub(super) fn directory_of(spec: &LaneSpec) -> PathBuf {
    match &spec.contestant {
        Contestant::Directory(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
        Contestant::Filesystem(_) | Contestant::Custom(_) => PathBuf::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser as _;

    #[test]
    fn a_directory_that_is_named_twice_is_refused_with_what_else_was_typed_in_mind() {
        let here = std::env::temp_dir().display().to_string();
        let refused = |more: &[&str]| {
            let words = ["fairlane-mpi", "race", here.as_str(), here.as_str()].into_iter().chain(more.iter().copied());
            let Command::Race(race) = Options::try_parse_from(words).unwrap().command else { panic!("another") };
            command_line(&race).unwrap_err().message
        };
        let (alone, beside) = (refused(&[]), refused(&["--with-self"]));
        assert!(alone.ends_with("name each once, or race one against itself with --with-self"), "{alone}");
        assert!(beside.ends_with("once; --with-self races the first lane against itself already"), "{beside}");
    }

    #[test]
    fn kinds_that_ranks_do_not_do_are_named_with_those_that_they_do() {
        let of = |suite: &str| crate::suites::find(suite).unwrap().workload;
        assert_eq!(of("shared").iter().find_map(cannot), None);
        for (suite, word) in [
            ("appenders", "is of kind appenders"),
            ("database", "is of kind oltp"),
            ("contention", "is of kind contention"),
            ("durability", "is of kind durable"),
        ] {
            assert!(of(suite).iter().filter_map(cannot).any(|why| why == word), "{suite}");
        }
        let mut paced = of("shared").swap_remove(0);
        let Kind::Io(io) = &mut paced.kind else { panic!("{paced:?}") };
        io.rate_of_slowest = Some(0.5);
        assert!(cannot(&paced).is_some_and(|why| why.contains("rate")));
    }

    #[test]
    fn what_only_ranks_do_is_left_out_without_them_and_refused_where_it_is_all() {
        let record = model::record::Record::parse(include_str!("../../tests/fixtures/schema1.jsonl")).unwrap();
        let workloads = crate::suites::find("shared").unwrap().workload;
        let mut plan = Plan { workloads, ..record.header.plan };
        let before = plan.workloads.len();
        let said = without_ranks(&mut plan).unwrap().unwrap();
        assert!(said.contains("MPI-IO") && said.ends_with(": left out"), "{said}");
        assert_eq!(plan.workloads.len(), before - 1);
        assert!(plan.not_tested.first().is_some_and(|first| said.starts_with(first.as_str())), "{:?}", plan.not_tested);
        assert_eq!(without_ranks(&mut plan).unwrap(), None);
        plan.workloads = crate::suites::find("shared").unwrap().workload;
        plan.workloads.retain(|of| of.name == "collective");
        let refused = without_ranks(&mut plan).unwrap_err().message;
        assert!(refused.ends_with("start one: mpirun -n 2 fairlane-mpi race DIR DIR"), "{refused}");
    }

    #[test]
    fn a_rank_of_another_build_is_refused_by_its_number() {
        let of = |build: &str| Program { version: "0.1.0".to_owned(), build: build.to_owned() };
        assert!(one_program(&[of("a"), of("a")], &[0, 1]).is_ok());
        let said = one_program(&[of("a"), of("a"), of("b")], &[0, 0, 1]).unwrap_err().message;
        assert!(said.starts_with("rank 2 (node 1) runs Fairlane 0.1.0 (build b)"), "{said}");
        let said = one_program(&[of("a"), of("b")], &[0, 0]).unwrap_err().message;
        assert!(said.starts_with("rank 1 runs"), "{said}");
    }

    #[test]
    fn each_trouble_has_its_sentence_and_its_status() {
        let (directory, folder) = (Path::new("/scratch/a"), Path::new("/scratch/a/.fairlane-x/lane00"));
        let place = Place { lane: "a", directory, folder };
        let said = |trouble: Trouble| cannot_work(&place, "rank 3 (node 1)", &trouble);
        let missing = said(Trouble::Missing);
        assert!(
            matches!(&missing, LaneFailure::Usage(text) if text.contains("rank 3 (node 1) has no directory /scratch/a;"))
        );
        assert!(matches!(said(Trouble::NotShared), LaneFailure::Usage(text) if text.contains("that all nodes share")));
        let not_allowed = said(Trouble::NotAllowed { why: "Permission denied".to_owned() });
        assert!(matches!(not_allowed, LaneFailure::Privilege(text) if text.contains("(Permission denied)")));
        assert!(matches!(said(Trouble::Silent), LaneFailure::Failed(text) if text.contains("does not answer rank 3")));
        let bound = Place { folder: Path::new("/run/.fairlane-x/directory00/lane00"), ..place };
        let through_run = cannot_work(&bound, "rank 1", &Trouble::NotShared).to_string();
        assert!(through_run.contains("as the user whose directory it is"), "{through_run}");
    }
}
