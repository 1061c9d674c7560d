//! Short job files that ask for much: refused while they are read, before memory is taken.

use crate::common;

use common::{refused, refuses, with_files};
use jobfile::{Surroundings, for_fio, parse};
use std::path::Path;

/// A file whose jobs all have the names of its [global] section.
fn sharing(names: &[String], jobs: usize) -> String {
    let jobs: String = (0..jobs).map(|job| format!("[j{job}]\nrw=write\nsize=1g\n")).collect();
    format!("[global]\nioengine=null\nfilename={}\n{jobs}", names.join(":"))
}

#[test]
fn files_are_counted_while_jobs_are_added() {
    let names: Vec<String> = (0..4000).map(|name| format!("f{name}")).collect();
    // 524 jobs have 2,096,000 files; each section has three lines, from the fourth on. The last job is never looked at.
    let text = sharing(&names, 2000) + "bs=nonsense\n";
    assert_eq!(
        refused(&text),
        format!("a.fio:{}: the jobs have more than 2097152 files together; lower nrfiles or numjobs", 4 + 3 * 524)
    );
}

#[test]
fn names_and_options_of_all_jobs_are_bounded() {
    let names: Vec<String> = (0..4000).map(|name| format!("{name:0>245}")).collect();
    let what =
        "the names and options of the jobs up to here take more than 64MiB together; shorten them or leave jobs out";
    let error = refused(&sharing(&names, 60));
    let (place, sentence) = error.split_once(": ").unwrap();
    assert_eq!(sentence, what);
    // About 2 MB for each job: the names, and the option as it is written.
    let line: usize = place.strip_prefix("a.fio:").unwrap().parse().unwrap();
    assert!((4 + 3 * 30..4 + 3 * 40).contains(&line), "{place}");
    assert!(with_files(&[("a.fio", &sharing(&names, 30))], parse).is_ok());
    // A job that others wait for has its name in each of them.
    let name = "n".repeat(4 << 20);
    let others: String = (0..20).map(|job| format!("[j{job}]\n")).collect();
    let waits = format!("[{name}]\nfilename=x\nsize=1m\n[global]\nsize=1m\nwait_for={name}\n{others}");
    assert!(refused(&waits).ends_with(what), "{:.200}", refused(&waits));
}

#[test]
fn a_directory_is_no_longer_than_a_path() {
    let long = format!("directory={}", "d/".repeat(2049));
    refuses(&long, "directory has 4098 bytes, above 4096; shorten it");
    let error = with_files(&[("a.fio", &format!("[j]\nsize=1m\n{long}\n"))], for_fio).unwrap_err().to_string();
    assert_eq!(error, "a.fio:3: directory has 4098 bytes, above 4096; shorten it");
    let kept = "d/".repeat(2048);
    assert!(with_files(&[("a.fio", &format!("[j]\nsize=1m\ndirectory={kept}\nfilename=f\n"))], parse).is_ok());
}

#[test]
fn jobs_and_sections_are_counted_while_they_are_read() {
    let text = "[j]\n".repeat(3000) + "nonsense\n";
    assert_eq!(refused(&text), "a.fio:2049: the file has more than 2048 jobs; split it into several files");
    let text = "[global]\n".repeat(200_001) + "nonsense\n";
    assert_eq!(refused(&text), "a.fio:200001: more than 200000 options come together here; include less");
}

#[test]
fn numbers_of_any_length_are_not_read_for_every_job() {
    let zeros = "0".repeat(5000);
    refuses(&format!("bs={zeros}4k"), "is no number of at most 4096 letters");
    refuses(&format!("runtime={zeros}4"), "is no time");
    refuses(&format!("bs=({}1)", "1+".repeat(2100)), "is no number of at most 4096 letters");
}

#[test]
fn notes_are_bounded() {
    let long = "d/".repeat(2000) + "b.fio";
    let text = format!("[global]\ninclude {long}\n[j]\nsize=1m\n");
    let names = "name=x\n".repeat(5000);
    let error = with_files(&[("a.fio", &text), (&long, &names)], parse).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.fio:1: the notes on the file up to here take more than 16MiB; leave out options that are without effect"
    );
}

#[test]
fn variables_are_bounded_in_each_value_and_in_all() {
    let long = "x".repeat(1000);
    let read = |text: &str| {
        let around = Surroundings {
            read: &|_| Ok(text.to_owned()),
            variable: &|name| (name == "PATH").then(|| long.clone()),
            cpus: 4,
            memory_bytes: 3 << 30,
            page_bytes: 4096,
            space_bytes: 1 << 30,
        };
        let path = Path::new("a.fio");
        [parse(path, &around).err(), for_fio(path, &around).err()].map(|error| error.map(|error| error.to_string()))
    };
    let one = "a.fio:3: description comes to more than 16MiB once its variables are filled in; shorten it";
    let text = format!("[j]\nsize=1m\ndescription={}\n", "${PATH}".repeat(17_000));
    assert_eq!(read(&text), [Some(one.to_owned()), Some(one.to_owned())]);
    let line = format!("description={}\n", "${PATH}".repeat(12_000));
    let all =
        "a.fio:8: all values up to here come to more than 64MiB once their variables are filled in; leave some out";
    let text = format!("[j]\nsize=1m\n{}", line.repeat(6));
    assert_eq!(read(&text), [Some(all.to_owned()), Some(all.to_owned())]);
    // Fairlane itself takes as much as a file may have; fio does not, in one line.
    assert_eq!(read(&format!("[j]\nsize=1m\n{}", line.repeat(5)))[0], None);
}
