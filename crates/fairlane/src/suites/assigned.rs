//! What `--set KEY=VALUE` changed in a suite.

use super::{COMPRESSIBLE, set_in};
use model::workload::Workload;

/// What `--set` changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// As it was typed: `size=8MiB`.
    pub assignment: String,
    /// Names of the workloads that it changed.
    pub workloads: Vec<String>,
}

impl Assigned {
    /// Whether it made this work as it is: it was set of it, or of the work of which this one was made, and nothing changed it
    /// since.
    fn is_of(&self, workload: &Workload) -> bool {
        let Some((path, value)) = self.assignment.split_once('=') else { return false };
        let key = path.rsplit('.').next().unwrap_or(path);
        // Work with data that compresses is made of the work that was changed, but for its data.
        let made_of = workload.name.strip_suffix(COMPRESSIBLE).filter(|_| key != "data");
        let is_it = |name: &String| *name == workload.name || made_of == Some(name.as_str());
        let mut again = workload.clone();
        self.workloads.iter().any(is_it)
            && set_in(&mut again, &self.assignment, key, value).is_ok()
            && again == *workload
    }

    /// How many of the workloads that are raced it changed, and which; `None`: it names one that is raced, or one alone is.
    fn reached(&self, raced: &[Workload]) -> Option<String> {
        let Assigned { assignment, workloads } = self;
        let (key, _) = assignment.split_once('=')?;
        if key.contains('.') {
            let is_raced = |name: &String| {
                raced.iter().any(|of| of.name == *name || of.name.strip_suffix(COMPRESSIBLE) == Some(name))
            };
            let lacking = workloads.iter().find(|name| !is_raced(name))?;
            return Some(format!("--set {assignment} changes nothing: {lacking} is not raced"));
        }
        let is_changed = |workload: &&Workload| workloads.contains(&workload.name) || self.is_of(workload);
        let changed: Vec<&str> = raced.iter().filter(is_changed).map(|workload| workload.name.as_str()).collect();
        // What is made of it is changed with it.
        let has_twin = |name: &str| changed.iter().any(|of| of.strip_suffix(COMPRESSIBLE) == Some(name));
        let one = workloads.iter().find(|name| changed.contains(&name.as_str()) && (key == "data" || !has_twin(name)));
        let alone = one.map_or_else(String::new, |name| format!("; --set {name}.{assignment} changes {name} alone"));
        match (changed.len(), raced.len()) {
            (0, _) | (_, 1) => None,
            (1, of) => Some(format!("--set {assignment} changes 1 of {of} workloads: {}", changed[0])),
            (some, of) if some == of => Some(format!("--set {assignment} changes all {of} workloads{alone}")),
            (some, of) => {
                let names = changed.join(", ");
                Some(format!("--set {assignment} changes {some} of {of} workloads: {names}{alone}"))
            }
        }
    }
}

/// What the plan says of assignments in a race of these workloads, a sentence each. Of several of one key the last one counts.
pub fn reached(set: &[Assigned], raced: &[Workload]) -> Vec<String> {
    let key = |assigned: &Assigned| {
        let (key, _) = assigned.assignment.split_once('=').unwrap_or_default();
        key.rsplit('.').next().unwrap_or_default().to_owned()
    };
    let stays = |(at, assigned): (usize, &Assigned)| {
        let later: Vec<&Assigned> = set[at + 1..].iter().filter(|later| key(later) == key(assigned)).collect();
        let is_last = |name: &&String| !later.iter().any(|later| later.workloads.contains(name));
        let workloads = assigned.workloads.iter().filter(is_last).cloned().collect();
        Assigned { workloads, ..assigned.clone() }.reached(raced)
    };
    set.iter().enumerate().filter_map(stays).collect()
}

/// Assignments that a title has room for.
const MOST_IN_TITLE: usize = 8;
/// How long work is measured, and not what it is.
const OF_MEASURING: [&str; 2] = ["slices", "slice_seconds"];

/// Titles are the suite's, and may tell sizes that `--set` changed: what it changed stands behind them, as far as the work is so
/// at last. Of several of one key the last one counts. `varied`: keys that a search has another value of in each of its steps.
pub fn put_in_titles(set: &[Assigned], varied: &[&str], raced: &mut [Workload]) {
    for workload in raced {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for assigned in set.iter().filter(|assigned| assigned.is_of(workload)) {
            let Some((path, value)) = assigned.assignment.split_once('=') else { continue };
            let key = path.rsplit('.').next().unwrap_or(path);
            if !OF_MEASURING.contains(&key) && !varied.contains(&key) {
                told.retain(|(other, _)| *other != key);
                told.push((key, value));
            }
        }
        let more = told.len().saturating_sub(MOST_IN_TITLE);
        let list: Vec<String> =
            told.iter().take(MOST_IN_TITLE).map(|(key, value)| format!("{key}={}", value.trim())).collect();
        match (list.is_empty(), more) {
            (true, _) => {}
            (false, 0) => workload.title = format!("{} ({})", workload.title, list.join(", ")),
            (false, more) => workload.title = format!("{} ({}, {more} more)", workload.title, list.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{add_compressible, choose, find, set_in_raced};
    use super::*;

    #[test]
    fn an_assignment_says_which_of_the_raced_workloads_it_reached() {
        let told = |workloads: &[&str], assignment: &str| {
            let mut suite = find("shared").unwrap();
            let raced: Vec<String> = workloads.iter().map(|&name| name.to_owned()).collect();
            let changed = set_in_raced(&mut suite, assignment, &raced).unwrap();
            choose(&mut suite, &raced).unwrap();
            reached(&[Assigned { assignment: assignment.to_owned(), workloads: changed }], &suite.workload)
        };
        let some = "--set size=8MiB changes 2 of 3 workloads: write, files; --set write.size=8MiB changes write alone";
        assert_eq!(told(&["write", "files", "appends"], "size=8MiB"), [some]);
        let all = "--set size=8MiB changes all 2 workloads; --set write.size=8MiB changes write alone";
        assert_eq!(told(&["write", "files"], "size=8MiB"), [all]);
        assert_eq!(told(&["write", "files"], "slices=3"), ["--set slices=3 changes 1 of 2 workloads: write"]);
        assert!(told(&["write", "files"], "write.size=8MiB").is_empty(), "who names one knows which");
        let nothing = "--set locks.operations=90 changes nothing: locks is not raced";
        assert_eq!(told(&["write", "files"], "locks.operations=90"), [nothing]);
        assert!(told(&["write"], "size=8MiB").is_empty(), "one is raced");
        // Of two that set one key of one workload the later one counts.
        let suite = find("shared").unwrap();
        let of = |assignment: &str, workloads: &[&str]| Assigned {
            assignment: assignment.to_owned(),
            workloads: workloads.iter().map(|&name| name.to_owned()).collect(),
        };
        let both = [of("size=8MiB", &["write", "files"]), of("write.size=64MiB", &["write"])];
        let raced: Vec<Workload> =
            suite.workload.into_iter().filter(|of| ["write", "files", "appends"].contains(&of.name.as_str())).collect();
        assert_eq!(reached(&both, &raced), ["--set size=8MiB changes 1 of 3 workloads: files"]);
        // What is made of changed work has what was changed, but for its data.
        let all = "--set count=9 changes all 2 workloads";
        let one = "--set data=1.6:1 changes 1 of 2 workloads: new-files";
        for (assignment, says) in [("count=9", all), ("data=1.6:1", one)] {
            let workloads = vec!["new-files".to_owned()];
            let mut suite = find("quick").unwrap();
            add_compressible(&mut suite);
            let is_it = |of: &Workload| of.name.trim_end_matches(COMPRESSIBLE) == "new-files";
            let mut two: Vec<Workload> = suite.workload.into_iter().filter(is_it).collect();
            let (key, value) = assignment.split_once('=').unwrap();
            let changed = if key == "data" { &mut two[..1] } else { &mut two[..] };
            changed.iter_mut().for_each(|of| set_in(of, assignment, key, value).unwrap());
            assert_eq!(Assigned { assignment: assignment.to_owned(), workloads }.reached(&two).unwrap(), says);
        }
    }

    #[test]
    fn a_title_says_what_was_set_and_so_tells_no_size_that_is_not_raced() {
        let titles = |of: &str, assignments: &[&str]| -> Vec<String> {
            let mut suite = find("quick").unwrap();
            let set = |assignment: &&str| {
                let workloads = set_in_raced(&mut suite, assignment, &[]).unwrap();
                Assigned { assignment: (*assignment).to_owned(), workloads }
            };
            let set: Vec<Assigned> = assignments.iter().map(set).collect();
            add_compressible(&mut suite);
            put_in_titles(&set, &[], &mut suite.workload);
            let is_it = |name: &str| name.strip_suffix(COMPRESSIBLE).unwrap_or(name) == of;
            suite.workload.into_iter().filter(|of| is_it(&of.name)).map(|of| of.title).collect()
        };
        let [plain, twin] = titles("small-files", &[]).try_into().unwrap();
        let with = |what: &str| [format!("{plain} ({what})"), format!("{twin} ({what})")];
        assert_eq!(titles("small-files", &["small-files.count=99"]), with("count=99"));
        assert_eq!(
            titles("small-files", &["count=90", "small-files.count=80"]),
            with("count=80"),
            "the last one counts"
        );
        let alone = [format!("{plain} (data=1.6:1)")];
        assert_eq!(titles("small-files", &["small-files.data=1.6:1"]), alone, "data that compresses has no twin");
        let measured = titles("random-read", &["slices=2", "commit.size=2MiB"]);
        assert_eq!(measured, titles("random-read", &[]), "how long it is measured is not what it is");
        let three = titles("random-read", &["random-read.bs=8KiB", "random-read.iodepth=2", "random-read.size=64MiB"]);
        assert!(three[0].ends_with(" (bs=8KiB, iodepth=2, size=64MiB)"), "{three:?}");
        // What something else changed since, and what was only called as a twin is.
        let suite = find("quick").unwrap();
        let mut raced: Vec<Workload> = suite.workload.into_iter().filter(|of| of.name == "random-read").collect();
        let set = |assignment: &str| {
            [Assigned { assignment: assignment.to_owned(), workloads: vec!["random-read".to_owned()] }]
        };
        let before = raced[0].title.clone();
        put_in_titles(&set("random-read.bs=8KiB"), &[], &mut raced);
        assert_eq!(raced[0].title, before, "it has 4 KiB");
        raced[0].name.push_str(COMPRESSIBLE);
        put_in_titles(&set("random-read.bs=8KiB"), &[], &mut raced);
        assert_eq!(raced[0].title, before);
        put_in_titles(&set("random-read.bs=4KiB"), &["bs"], &mut raced);
        assert_eq!(raced[0].title, before, "a search has others");
        put_in_titles(&set("random-read.bs=4KiB"), &[], &mut raced);
        assert_eq!(raced[0].title, format!("{before} (bs=4KiB)"));
    }
}
