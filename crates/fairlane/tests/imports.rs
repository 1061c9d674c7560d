//! Results of the installed fio, sysbench and bonnie++, made records.

use crate::common;

use common::{Place, assert_one_sentence};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a tool is installed. `make test` installs all of them.
fn has(tool: &str) -> bool {
    let there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).chain(["/usr/sbin".into()]).any(|at| at.join(tool).exists()));
    if !there {
        println!("skipped: {tool} is not installed; `make test` installs it");
    }
    there
}

/// Runs a tool in a folder of the place; answers what it printed.
fn run(place: &Place, tool: &str, arguments: &[&str]) -> String {
    let of = Command::new(tool)
        .args(arguments)
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(of.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&of.stderr));
    String::from_utf8_lossy(&of.stdout).into_owned()
}

/// One run of fio that writes its JSON to a file.
fn fio(place: &Place, to: &str) -> Value {
    let output = format!("--output={to}");
    let words =
        ["--name=job", "--rw=randwrite", "--bs=4k", "--size=1M", "--filename=data", "--output-format=json", &output];
    run(place, "fio", &words);
    let text = std::fs::read_to_string(place.path().join(to)).expect("what fio wrote");
    serde_json::from_str(&text).expect("JSON")
}

/// The trials of a record: lane, round, group, figure.
fn figures(record: &[Value]) -> Vec<(String, u64, String, f64)> {
    let trials = record.iter().filter(|line| line["kind"] == "trial");
    let of_trial = |trial: &Value| {
        let groups = trial["groups"].as_array().expect("groups").clone();
        let (lane, round) =
            (trial["lane"].as_str().expect("a lane").to_owned(), trial["round"].as_u64().expect("a round"));
        groups.into_iter().map(move |group| {
            let metric = group["primary_metric"].as_str().expect("a metric");
            let figure = group["metrics"][metric].as_f64().expect("a figure");
            (lane.clone(), round, group["name"].as_str().expect("a name").to_owned(), figure)
        })
    };
    trials.flat_map(of_trial).collect()
}

#[test]
fn runs_of_fio_are_rounds_of_their_lanes_and_no_verdict_is_given() {
    if !has("fio") {
        return;
    }
    let place = Place::new();
    let names = ["a1.json", "a2.json", "a3.json", "b1.json", "b2.json"];
    let rates: Vec<f64> =
        names.iter().map(|name| fio(&place, name)["jobs"][0]["write"]["iops"].as_f64().expect("a rate")).collect();
    let words = ["import", "a=a1.json", "a=a2.json", "a=a3.json", "b=b1.json", "b=b2.json", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &words);
    assert!(out.contains("a1: fio JSON of fio-") && out.contains("lanes: a, b"), "{out}");
    let record = place.record();
    let expected: Vec<(String, u64, String, f64)> = [("a", 1, 0), ("b", 1, 3), ("a", 2, 1), ("b", 2, 4), ("a", 3, 2)]
        .map(|(lane, round, at)| (lane.to_owned(), round, "write".to_owned(), rates[at]))
        .to_vec();
    assert_eq!(figures(&record), expected);

    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("foreign figures, imported from fio JSON"), "{text}");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&json).expect("JSON");
    let result = &findings["results"][0];
    assert!(result["pairs"].as_array().expect("pairs").iter().all(|pair| pair["verdict"] == "none"), "{result}");
    // The mean of all three of its runs, with an interval.
    let mean = result["estimates"][0]["mean"].as_f64().expect("a mean");
    let logs = rates[..3].iter().map(|rate| rate.ln()).sum::<f64>() / 3.0;
    assert!((mean / logs.exp() - 1.0).abs() < 0.05 && result["estimates"][0]["low"].is_f64(), "{result}");
    // Nobody knows which run of the one goes with which of the other: the ratio is that of the means.
    let other = result["estimates"][1]["mean"].as_f64().expect("a mean");
    let ratio = result["pairs"][0]["ratio"].as_f64().expect("a ratio");
    assert!((ratio / (other / mean) - 1.0).abs() < 1e-9, "{ratio} {other} {mean}: {result}");
    assert!(result["estimates"][0].get("flushes_per_operation").is_none_or(Value::is_null), "{result}");
    for format in ["html", "markdown", "csv", "memo"] {
        place.expect(0, &["report", "r.jsonl", "--format", format]);
    }
    // One run that is named twice is one.
    std::fs::copy(place.path().join("a1.json"), place.path().join("copy.json")).expect("a copy");
    let (_, err) = place.expect(2, &["import", "a=a1.json", "a=copy.json", "-o", "twice.jsonl"]);
    assert_one_sentence(&err, &["copy.json holds what a file before it holds", "name each file once"]);
    // Of one run there is no interval.
    place.expect(0, &["import", "a=a1.json", "-o", "one.jsonl"]);
    let (one, _) = place.expect(0, &["report", "one.jsonl"]);
    assert!(one.contains("one run of each test: no interval"), "{one}");
    // Two imports of the same lane are compared as two records are.
    place.expect(0, &["import", "a=b1.json", "a=b2.json", "-o", "other.jsonl"]);
    let (compared, _) = place.expect(0, &["compare", "r.jsonl", "other.jsonl"]);
    assert!(compared.contains("job"), "{compared}");
    let (compared, _) = place.expect(0, &["compare", "one.jsonl", "other.jsonl"]);
    assert!(compared.contains("one round: no interval between runs"), "{compared}");
    // Nothing goes on with it.
    place.expect(2, &["race", "--resume", "r.jsonl"]);
}

#[test]
fn figures_of_sysbench_and_bonnie_are_those_that_they_printed() {
    if !has("sysbench") || !has("bonnie++") {
        return;
    }
    let place = Place::new();
    let files = ["fileio", "--file-num=2", "--file-total-size=2M"];
    run(&place, "sysbench", &[&files[..], &["prepare"]].concat());
    let work = ["--file-test-mode=rndrw", "--time=1", "run"];
    let texts = [(); 2].map(|()| run(&place, "sysbench", &[&files[..], &work].concat()));
    std::fs::write(place.path().join("s.txt"), texts.concat()).expect("a file");
    place.expect(0, &["import", "s.txt", "-o", "r.jsonl"]);
    let printed = |text: &str, what: &str| -> f64 {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(what)).expect(what);
        line.trim().parse().expect("a figure")
    };
    let read = figures(&place.record());
    for (round, text) in (1..).zip(&texts) {
        for (what, group) in [("reads/s:", "read"), ("writes/s:", "write"), ("fsyncs/s:", "fsync")] {
            let of =
                read.iter().find(|of| of.1 == round && of.2 == group).unwrap_or_else(|| panic!("{group}: {read:?}"));
            assert_eq!(of.3, printed(text, what), "{group}");
        }
    }
    std::fs::remove_file(place.path().join("r.jsonl")).expect("a record");
    let user = if rustix::process::geteuid().is_root() { "root" } else { "" };
    let mut words = vec!["-d", ".", "-s", "16M", "-r", "8", "-n", "0", "-q"];
    if !user.is_empty() {
        words.extend(["-u", user]);
    }
    let csv = run(&place, "bonnie++", &words);
    std::fs::write(place.path().join("b.csv"), &csv).expect("a file");
    place.expect(0, &["import", "b.csv", "-o", "r.jsonl"]);
    let line = csv.lines().find(|line| line.starts_with("1.98") || line.starts_with("1.97") || line.starts_with('2'));
    let fields: Vec<&str> = line.expect("a line of CSV").split(',').collect();
    let read = figures(&place.record());
    // What was too fast to be measured is `+++++`, and no figure.
    let kibibytes: Vec<f64> =
        fields.iter().filter_map(|field| field.parse().ok()).map(|field: f64| field * 1024.0).collect();
    assert!(
        !read.is_empty() && read.iter().all(|of| kibibytes.contains(&of.3) || kibibytes.contains(&(of.3 * 1024.0))),
        "{read:?} {csv}"
    );
}

#[test]
fn what_is_no_result_is_one_sentence_and_nothing_is_written() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).expect("a file");
    write("cut.json", "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [ {");
    let (_, err) = place.expect(2, &["import", "cut.json", "-o", "r.jsonl"]);
    assert_one_sentence(&err, &["cut.json: line 3, column 15"]);
    write("people.txt", "job: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n");
    let (_, err) = place.expect(2, &["import", "people.txt", "-o", "r.jsonl"]);
    assert_one_sentence(&err, &["--output-format=json"]);
    write("odd", "hello\n");
    let (_, err) = place.expect(2, &["import", "a=odd", "-o", "r.jsonl"]);
    assert_one_sentence(&err, &["odd holds no results that are known"]);
    let (_, err) = place.expect(2, &["import", "odd"]);
    assert_one_sentence(&err, &["odd holds no results that are known", "-o TRACE"]);
    write("nothing", "");
    let (_, err) = place.expect(2, &["import", "nothing"]);
    assert_one_sentence(&err, &["nothing is empty"]);
    let (_, err) = place.expect(2, &["import", " =odd"]);
    assert_one_sentence(&err, &["names no lane"]);
    let (_, err) = place.expect(2, &["import", "odd", "-o", "-"]);
    assert_one_sentence(&err, &["-o ./-"]);
    let (_, err) = place.expect(2, &["import", "missing"]);
    assert_one_sentence(&err, &["cannot read missing"]);
    let lines = |name: &str| place.path().join(name).exists();
    assert!(!lines("r.jsonl"), "a record is left");
    // What is there stays as it is.
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/fixtures/fio-3.33.json");
    let fixture = fixture.to_string_lossy().into_owned();
    write("r.jsonl", "mine");
    place.expect(2, &["import", &fixture, "-o", "r.jsonl"]);
    assert_eq!(std::fs::read_to_string(place.path().join("r.jsonl")).expect("a file"), "mine");
    // Without -o it is kept with the races' records.
    place.expect(0, &["import", &fixture]);
    let (records, _) = place.expect(0, &["records"]);
    assert!(records.contains("imported"), "{records}");
    // It was not raced, and nothing says so.
    let (text, _) = place.expect(0, &["report"]);
    let heading = text.lines().next().expect("a heading");
    assert!(heading.contains("; imported from fio JSON, measured 20") && !heading.contains("raced"), "{text}");
    let (markdown, _) = place.expect(0, &["report", "--format", "markdown"]);
    assert!(markdown.contains("imported from fio JSON, measured 20") && !markdown.contains("; raced"), "{markdown}");
    let (memo, _) = place.expect(0, &["report", "--format", "memo"]);
    assert!(memo.contains("Imported from fio JSON;") && !memo.contains("raced alone"), "{memo}");
    // Its tests have a course as others have.
    let (trend, _) = place.expect(0, &["trend", "SMALL"]);
    let heading = trend.lines().next().expect("a heading");
    assert!(heading.starts_with("small, ") && heading.ends_with("more is better; imported from fio JSON"), "{trend}");
}
