//! The suites: built in, or a file of the user's.

mod assigned;

use crate::failure::Failure;
use crate::owned;
pub use assigned::{Assigned, put_in_titles, reached};
use model::Bytes;
use model::bounds::TOML_BYTES;
use model::workload::{Kind, Suite, Workload};
use std::path::Path;

/// The suites built into the binary: name and TOML.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("quick", include_str!("../../../suites/quick.toml")),
    ("general", include_str!("../../../suites/general.toml")),
    ("operations", include_str!("../../../suites/operations.toml")),
    ("latency", include_str!("../../../suites/latency.toml")),
    ("database", include_str!("../../../suites/database.toml")),
    ("media", include_str!("../../../suites/media.toml")),
    ("applications", include_str!("../../../suites/applications.toml")),
    ("contention", include_str!("../../../suites/contention.toml")),
    ("shared", include_str!("../../../suites/shared.toml")),
    ("io500", include_str!("../../../suites/io500.toml")),
    ("durability", include_str!("../../../suites/durability.toml")),
    ("appenders", include_str!("../../../suites/appenders.toml")),
];

/// Finds a suite by its name, or reads it from a file.
///
/// # Errors
/// When there is no such suite, or its TOML is wrong.
pub fn find(name: &str) -> Result<Suite, Failure> {
    if let Some(suite) = find_built_in(name)? {
        return Ok(suite);
    }
    let path = Path::new(name);
    if !path.exists() {
        let known: Vec<_> = BUILT_IN.iter().map(|(known, _)| *known).collect();
        return Err(Failure::usage(format!(
            "there is no suite and no file `{name}`; the suites are: {}",
            known.join(", ")
        )));
    }
    let text = owned::text(path, TOML_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read the suite {name}: {error}")))?;
    Suite::from_toml(&text).map_err(|mistake| Failure::usage(mistake.in_file(name)))
}

/// Finds a built-in suite by its name; `None`: there is none of that name.
///
/// # Errors
/// When its TOML is wrong.
pub fn find_built_in(name: &str) -> Result<Option<Suite>, Failure> {
    let known = BUILT_IN.iter().find(|(known, _)| *known == name);
    let read =
        |text: &str| Suite::from_toml(text).map_err(|error| Failure::failed(format!("built-in suite {name}: {error}")));
    known.map(|(_, text)| read(text)).transpose()
}

/// The lane with the least room for the work.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Bytes that the work may keep on it.
    pub bytes: u64,
    /// `--lane-size` makes it larger.
    pub grows: bool,
}

/// Makes a suite's workloads what the article did; answers what had to be made smaller: names of
/// workloads, and a sentence for each. `room`: `None` where it is not known yet.
///
/// # Errors
/// When a workload does not fit together so.
pub fn do_as_published(suite: &mut Suite, room: Option<Room>) -> Result<Vec<(String, String)>, Failure> {
    suite.do_as_published().map_err(Failure::usage)?;
    let Some(room) = room else { return Ok(Vec::new()) };
    Ok(suite
        .workload
        .iter_mut()
        .filter_map(|workload| Some((workload.name.clone(), reduce(workload, room)?)))
        .collect())
}

/// Makes the files of steady work so small that they fit, and says so.
fn reduce(workload: &mut Workload, room: Room) -> Option<String> {
    let needed = workload.working_set_bytes();
    let Kind::Io(io) = &mut workload.kind else { return None };
    if needed <= room.bytes {
        return None;
    }
    let published = io.size;
    // Whole blocks, whatever their length.
    let block = io.bs.get().max(1);
    let unit = block.saturating_mul(Bytes::MIB.div_ceil(block));
    let fits = (u128::from(published.get()) * u128::from(room.bytes) / u128::from(needed.max(1))) as u64 / unit * unit;
    if fits == 0 {
        // Nothing useful fits: the lane's own check says what it needs.
        return None;
    }
    io.size = Bytes(fits);
    let size = needed.saturating_mul(2).checked_next_multiple_of(256 * Bytes::MIB).unwrap_or(u64::MAX);
    let remedy = if room.grows { format!("; --lane-size {} holds them whole", Bytes(size)) } else { String::new() };
    Some(format!(
        "{}: files of {} where the article had {published}, because a lane has room for {}{remedy}",
        workload.title,
        Bytes(fits),
        model::units::human_bytes(room.bytes as f64),
    ))
}

/// Adds, behind each workload that the suite lists for it, the same with data that compresses. The time that a suite has
/// by itself grows with the number of its workloads.
pub fn add_compressible(suite: &mut Suite) {
    let before = suite.workload.len();
    let listed = std::mem::take(&mut suite.compressible_too);
    for name in &listed {
        let Some(at) = suite.workload.iter().position(|workload| workload.name == *name) else { continue };
        // What was set by hand may have made its data compress.
        let Some(twin) = suite.workload[at].with_compressible_data() else { continue };
        if let Some(place) = suite.most_telling.iter().position(|of| of == name) {
            suite.most_telling.insert(place + 1, twin.name.clone());
        }
        suite.workload.insert(at + 1, twin);
    }
    let grown = suite.workload.len() as f64 / before.max(1) as f64;
    suite.budget_seconds = suite.budget_seconds.map(|seconds| seconds * grown);
}

/// Keeps the workloads that were asked for, in the suite's order.
///
/// # Errors
/// When a name is not in the suite.
pub fn choose(suite: &mut Suite, names: &[String]) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        if !suite.workload.iter().any(|workload| workload.name == *name) {
            let known: Vec<_> = suite.workload.iter().map(|workload| workload.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "suite {} has no workload `{name}`; it has: {}",
                suite.name,
                known.join(", ")
            )));
        }
    }
    suite.workload.retain(|workload| names.contains(&workload.name));
    Ok(())
}

/// Whether a workload, as it is set, tests something.
type Tests = fn(&Workload) -> bool;

/// What a suite says that it leaves out, and which workloads have it all the same where they are set so. To add one:
/// one row.
static LEFT_OUT: [(&str, Tests); 2] = [
    ("readers beside the writers", |of| matches!(&of.kind, Kind::Appenders(appenders) if appenders.readers > 0)),
    ("fsync after each record", |of| matches!(&of.kind, Kind::Appenders(appenders) if appenders.fsync_records == 1)),
];

/// Strikes what the workloads test, as they are set now, from what the suite says is not tested.
pub fn strike_tested(suite: &mut Suite) {
    let Suite { not_tested, workload, .. } = suite;
    let is_tested = |what: &str| LEFT_OUT.iter().any(|(name, has)| *name == what && workload.iter().any(has));
    not_tested.retain(|what| !is_tested(what));
}

/// Changes one parameter: `WORKLOAD.KEY=VALUE`, or `KEY=VALUE` of every workload that has it. What a database
/// workload does not know is an option of its server.
///
/// # Errors
/// When the workload or the key is unknown, or the value does not fit.
pub fn set(suite: &mut Suite, assignment: &str) -> Result<(), Failure> {
    set_in_raced(suite, assignment, &[]).map(drop)
}

/// The same in a race of these workloads, by their names; empty: of all. An assignment without a workload changes none of the
/// others, which it need not fit. Answers the names of those that it changed.
///
/// # Errors
/// As of [`set`].
pub fn set_in_raced(suite: &mut Suite, assignment: &str, raced: &[String]) -> Result<Vec<String>, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--set {assignment}: write WORKLOAD.KEY=VALUE, such as small-files.count=1000, or KEY=VALUE for every \
             workload that has the key"
        ))
    };
    let (path, value) = assignment.split_once('=').ok_or_else(wrong)?;
    let (name, key) = match path.rsplit_once('.') {
        Some((name, key)) => (Some(name), key),
        None => (None, path),
    };
    if key.is_empty() {
        return Err(wrong());
    }
    let Some(name) = name else { return set_everywhere(suite, (assignment, raced), key, value) };
    let suite_name = suite.name.clone();
    let workload =
        suite.workload.iter_mut().find(|workload| workload.name == name).ok_or_else(|| {
            Failure::usage(format!("--set {assignment}: suite {suite_name} has no workload `{name}`"))
        })?;
    let before = workload.clone();
    set_in(workload, assignment, key, value)?;
    Ok(Some(name.to_owned()).filter(|_| *workload != before).into_iter().collect())
}

/// Whether a workload is one of those that are raced, or the one of which such a one is made.
fn is_raced(workload: &Workload, raced: &[String]) -> bool {
    let is_it = |name: &String| name.strip_suffix(COMPRESSIBLE).unwrap_or(name) == workload.name;
    raced.is_empty() || raced.contains(&workload.name) || raced.iter().any(is_it)
}

/// Changes a parameter of every workload that has it and is raced; answers their names.
fn set_everywhere(
    suite: &mut Suite,
    (assignment, raced): (&str, &[String]),
    key: &str,
    value: &str,
) -> Result<Vec<String>, Failure> {
    let change = |workload: &mut Workload| {
        let before = workload.clone();
        set_in(workload, assignment, key, value).map(|()| Some(workload.name.clone()).filter(|_| *workload != before))
    };
    let has = |workload: &Workload| {
        if !is_raced(workload, raced) {
            return false;
        }
        let has_sets = matches!(workload.kind, Kind::Operations(_)) && OF_FILE_SETS.contains(&key);
        // Its default stands in no table.
        let has_data = key == "data"
            && match &workload.kind {
                Kind::Io(io) => io.rw.writes(),
                Kind::Operations(of) => of.method == model::operations::Method::InProcess,
                _ => false,
            };
        has_sets
            || has_data
            || toml::Table::try_from(workload).is_ok_and(|table| table.contains_key(key)) && !NAMES.contains(&key)
    };
    if suite.workload.iter().any(has) {
        return suite
            .workload
            .iter_mut()
            .filter(|workload| has(workload))
            .filter_map(|of| change(of).transpose())
            .collect();
    }
    let is_database = |workload: &&mut Workload| matches!(workload.kind, Kind::Oltp(_)) && is_raced(workload, raced);
    let mut databases = suite.workload.iter_mut().filter(is_database).peekable();
    if databases.peek().is_none() {
        let (name, which) = (&suite.name, if raced.is_empty() { "" } else { " that is raced" });
        return Err(Failure::usage(format!(
            "--set {assignment}: no workload of suite {name}{which} has a parameter `{key}`; `fairlane suites {name}` shows \
             them"
        )));
    }
    databases.filter_map(|of| change(of).transpose()).collect()
}

/// What the reader of TOML says of a value, without the names of its own types.
fn plain(message: &str) -> String {
    let said = message.trim().trim_start_matches("invalid value: ");
    let whole = ["expected u64", "expected u32"].iter().find_map(|kind| said.strip_suffix(kind));
    whole.map_or_else(
        || said.to_owned(),
        |fact| format!("{}; write a whole number from 0 on", fact.trim_end_matches([',', ' '])),
    )
}

/// How the name of work with data that compresses ends, behind that of the work of which it is made.
const COMPRESSIBLE: &str = "-compressible";

/// Keys of a workload that cannot be set.
const NAMES: [&str; 3] = ["name", "title", "kind"];

/// Parameters of sets of files, which are set in all sets of a workload of operations.
const OF_FILE_SETS: [&str; 3] = ["count", "size", "directories"];

fn set_in(workload: &mut Workload, assignment: &str, key: &str, value: &str) -> Result<(), Failure> {
    let name = workload.name.clone();
    let mut table = toml::Table::try_from(&*workload).map_err(|error| Failure::failed(error.to_string()))?;
    let known: Vec<String> = table.keys().filter(|key| !NAMES.contains(&key.as_str())).cloned().collect();
    if let (Kind::Operations(operations), true) = (&workload.kind, OF_FILE_SETS.contains(&key)) {
        // Of every set of files: which of them is meant, no such word can say.
        let mut operations = operations.clone();
        for set in &mut operations.files {
            let mut own = toml::Table::try_from(&*set).map_err(|error| Failure::failed(error.to_string()))?;
            own.insert(key.to_owned(), toml_value(value));
            *set = own.try_into().map_err(|error: toml::de::Error| {
                Failure::usage(format!("--set {assignment}: {}", plain(error.message())))
            })?;
        }
        let changed = Workload { kind: Kind::Operations(operations), ..workload.clone() };
        changed.check().map_err(|error| Failure::usage(format!("--set {assignment}: {error}")))?;
        *workload = changed;
        return Ok(());
    }
    // A key that has its default stands in no table, and is a parameter all the same.
    let is_default = |key: &str| {
        let mut with = table.clone();
        with.insert(key.to_owned(), toml_value(value));
        !NAMES.contains(&key) && model::suite_text::check_table(&with).is_ok()
    };
    if is_default(key) && !table.contains_key(key) {
        table.insert(key.to_owned(), toml_value(value));
    } else if NAMES.contains(&key) || !table.contains_key(key) {
        let near = model::nearest(key, known.iter().map(String::as_str));
        match (&workload.kind, near) {
            (Kind::Oltp(oltp), None) if !NAMES.contains(&key) => {
                let mut options = oltp.options.clone();
                options.insert(key.to_owned(), value.to_owned());
                let options = toml::Table::try_from(options).map_err(|error| Failure::failed(error.to_string()))?;
                table.insert("options".to_owned(), toml::Value::Table(options));
            }
            _ => {
                let known = known.join(", ");
                return Err(Failure::usage(format!(
                    "--set {assignment}: {name} has no parameter `{key}`; it has: {known}"
                )));
            }
        }
    } else {
        let value = match table.get(key) {
            Some(toml::Value::Array(_)) => {
                toml::Value::Array(value.split(',').map(|one| toml_value(one.trim())).collect())
            }
            _ => toml_value(value),
        };
        table.insert(key.to_owned(), value);
    }
    model::suite_text::check_table(&table).map_err(|what| Failure::usage(format!("--set {assignment}: {what}")))?;
    let changed: Workload = table
        .try_into()
        .map_err(|error: toml::de::Error| Failure::usage(format!("--set {assignment}: {}", plain(error.message()))))?;
    changed.check().map_err(|error| Failure::usage(format!("--set {assignment}: {error}")))?;
    *workload = changed;
    Ok(())
}

/// A number or a truth value where it reads as one, otherwise a text.
fn toml_value(text: &str) -> toml::Value {
    if let Ok(number) = text.parse::<i64>() {
        toml::Value::Integer(number)
    } else if let Ok(number) = text.parse::<f64>() {
        toml::Value::Float(number)
    } else if let Ok(truth) = text.parse::<bool>() {
        toml::Value::Boolean(truth)
    } else {
        toml::Value::String(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_refused_in_words_of_the_option() {
        let mut suite = find("quick").unwrap();
        let refused = set(&mut suite, "small-files.count=-5").unwrap_err().message;
        assert_eq!(refused, "--set small-files.count=-5: integer `-5`; write a whole number from 0 on");
    }

    #[test]
    fn what_is_set_without_a_workload_fits_those_that_are_raced_and_leaves_the_others() {
        let raced = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut suite = find("quick").unwrap();
        let log = suite.workload.iter().find(|workload| workload.name == "log").cloned();
        assert!(set(&mut suite, "size=1KiB").unwrap_err().message.contains("workload log"));
        for name in ["small-files", "small-files-compressible"] {
            let mut suite = find("quick").unwrap();
            set_in_raced(&mut suite, "size=1KiB", &raced(&[name])).unwrap();
            assert_eq!(suite.workload.iter().find(|workload| workload.name == "log").cloned(), log, "{name}");
            let small = suite.workload.iter().find(|workload| workload.name == "small-files").unwrap();
            let Kind::Operations(small) = &small.kind else { panic!("small-files is of another kind") };
            assert!(small.files.iter().all(|set| set.size.bounds() == (1024, 1024)), "{name}");
        }
        let refused = set_in_raced(&mut suite, "slices=3", &raced(&["small-files"])).unwrap_err().message;
        assert!(refused.contains("no workload of suite quick that is raced has a parameter `slices`"), "{refused}");
    }

    #[test]
    fn what_is_set_to_be_tested_is_not_said_to_be_left_out() {
        let of = |assignments: &[&str]| {
            let mut suite = find("appenders").unwrap();
            assignments.iter().for_each(|of| set(&mut suite, of).unwrap());
            strike_tested(&mut suite);
            suite.not_tested
        };
        let all = of(&[]);
        for (what, assignment) in
            [("readers beside the writers", "readers=20"), ("fsync after each record", "fsync_records=1")]
        {
            assert!(all.iter().any(|of| of == what), "{what} is no longer in {all:?}");
            let without: Vec<&String> = all.iter().filter(|of| *of != what).collect();
            assert_eq!(of(&[assignment]).iter().collect::<Vec<_>>(), without);
        }
        assert_eq!(of(&["fsync_records=7"]), all);
    }

    #[test]
    fn every_built_in_suite_is_sound_and_carries_its_own_name() {
        for (name, _) in BUILT_IN {
            assert_eq!(find(name).unwrap().name, *name);
        }
    }

    #[test]
    fn published_sizes_shrink_to_what_a_lane_holds_and_that_is_said() {
        let text = r#"
            name = "t"
            about = "a test"
            [[workload]]
            name = "w"
            title = "sequential write"
            kind = "io"
            rw = "write"
            bs = "1MiB"
            size = "64MiB"
            numjobs = 4
            [workload.as_published]
            size = "4GiB"
        "#;
        let size = |suite: &Suite| match &suite.workload[0].kind {
            Kind::Io(io) => io.size,
            _ => panic!("another kind"),
        };
        let read = || Suite::from_toml(text).unwrap();
        let (mut whole, mut unknown, mut small, mut tiny) = (read(), read(), read(), read());
        let room = |bytes: u64| Some(Room { bytes, grows: true });
        assert!(do_as_published(&mut whole, room(16 << 30)).unwrap().is_empty());
        assert!(do_as_published(&mut unknown, None).unwrap().is_empty());
        assert_eq!((size(&whole), size(&unknown)), (Bytes(4 << 30), Bytes(4 << 30)));
        let notes = do_as_published(&mut small, room(1 << 30)).unwrap();
        assert_eq!(size(&small), Bytes(256 << 20));
        assert_eq!(notes.len(), 1);
        for says in ["sequential write: files of 256MiB", "the article had 4GiB", "--lane-size 32GiB"] {
            assert!(notes[0].1.contains(says), "{notes:?}");
        }
        assert!(do_as_published(&mut tiny, room(1 << 20)).unwrap().is_empty());
        assert_eq!(size(&tiny), Bytes(4 << 30), "the lane's own check refuses it");
    }

    #[test]
    fn what_compresses_is_raced_beside_what_does_not_and_the_time_grows_with_it() {
        let mut suite = find("quick").unwrap();
        set(&mut suite, "random-write.data=1.6:1").unwrap();
        let (before, seconds) = (suite.workload.len(), suite.budget_seconds.unwrap());
        add_compressible(&mut suite);
        let names: Vec<&str> = suite.workload.iter().map(|workload| workload.name.as_str()).collect();
        assert_eq!(names.len(), before + 3, "random-write compresses already: {names:?}");
        let at = names.iter().position(|name| *name == "new-files").unwrap();
        assert_eq!(names[at + 1], "new-files-compressible");
        assert_eq!(suite.budget_seconds, Some(seconds * names.len() as f64 / before as f64));
        let place = |name: &str| suite.most_telling.iter().position(|of| of == name).unwrap();
        assert_eq!(place("new-files-compressible"), place("new-files") + 1);
        let (plain, twin) = (&suite.workload[at], &suite.workload[at + 1]);
        let (Kind::Operations(plain_work), Kind::Operations(work)) = (&plain.kind, &twin.kind) else {
            panic!("new-files is of another kind")
        };
        assert_eq!(work.data, model::job::Data::Ratio27);
        assert_eq!(twin.title, format!("{}, data 2.7:1", plain.title));
        for (step, plain_step) in work.step.iter().zip(&plain_work.step) {
            assert_eq!(step.name, format!("{}, data 2.7:1", plain_step.name));
        }
        for workload in &suite.workload {
            workload.check().unwrap();
        }
    }

    #[test]
    fn a_parameter_is_changed_and_a_wrong_one_is_refused_by_name() {
        let mut suite = find("quick").unwrap();
        set(&mut suite, "small-files.count=123").unwrap();
        set(&mut suite, "random-write.data=2.7:1").unwrap();
        let kind = |name: &str| suite.workload.iter().find(|workload| workload.name == name).unwrap().kind.clone();
        let Kind::Operations(small) = kind("small-files") else { panic!("small-files is of another kind") };
        assert!(small.files.iter().all(|set| set.count == 123));
        let Kind::Io(random) = kind("random-write") else { panic!("random-write is of another kind") };
        assert_eq!(random.data, model::job::Data::Ratio27, "a key that has its default is one too");
        for wrong in [
            "nope=1",
            "small-files.nope=1",
            "nope.count=1",
            "small-files.count=x",
            "random-write.data=9:1",
            "commit.kind=jobs",
            "x",
            "=1",
        ] {
            assert!(set(&mut suite, wrong).is_err(), "{wrong}");
        }
        // Without a workload every one that has the key is changed.
        set(&mut suite, "slices=3").unwrap();
        let slices = |workload: &Workload| match &workload.kind {
            Kind::Io(io) => io.slices == 3,
            _ => true,
        };
        assert!(suite.workload.iter().all(slices));
    }

    #[test]
    fn a_servers_own_options_are_set_for_every_database_workload() {
        let mut suite = find("database").unwrap();
        for assignment in ["server=mariadb", "threads=2,4", "innodb_doublewrite=OFF", "point-select.seconds=0.5"] {
            set(&mut suite, assignment).unwrap();
        }
        let databases: Vec<_> = suite
            .workload
            .iter()
            .filter_map(|workload| match &workload.kind {
                Kind::Oltp(oltp) => Some((workload.name.as_str(), oltp)),
                _ => None,
            })
            .collect();
        assert!(databases.len() >= 4);
        for (name, oltp) in databases {
            assert_eq!((oltp.server.name(), oltp.threads.as_slice()), ("mariadb", &[2, 4][..]), "{name}");
            assert_eq!(oltp.options["innodb_doublewrite"], "OFF");
            assert_eq!(oltp.seconds == 0.5, name == "point-select");
        }
        for wrong in ["sever=mariadb", "server=oracle", "thread=2", "threads=2,x", "datadir=/etc", "kind=io"] {
            assert!(set(&mut suite, wrong).is_err(), "{wrong}");
        }
    }
}
