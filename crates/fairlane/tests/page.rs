//! The HTML report: every race ends with one, and `fairlane report` writes it again.

use crate::common;

use common::{Place, assert_one_sentence, root};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Races two directories in two rounds; answers standard output and standard error.
#[track_caller]
fn race(place: &Place, record: &str, more: &[&str]) -> (String, String) {
    let suite = place.tiny_suite();
    let lanes = ["a", "b"].map(|name| {
        let folder = place.path().join(name);
        std::fs::create_dir_all(&folder).expect("folder");
        format!("{name}={}", folder.display())
    });
    let base = ["race", &lanes[0], &lanes[1], "--suite", &suite, "--rounds", "2", "-o", record];
    place.expect(0, &[&base[..], more].concat())
}

/// The data inside a page.
#[track_caller]
fn data(html: &str) -> serde_json::Value {
    let (_, after) = html.split_once("<script id=\"data\" type=\"application/json\">").expect("a data element");
    let (json, _) = after.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("the data is JSON")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

fn trials(record: &Path) -> Vec<serde_json::Value> {
    let lines = read(record);
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    lines.filter(|line: &serde_json::Value| line["kind"] == "trial").collect()
}

#[test]
fn every_race_ends_with_a_report_beside_its_record() {
    let place = Place::new();
    let (out, err) = race(&place, "r.jsonl", &[]);
    assert_eq!(out.lines().last(), Some("REPORT    r.html"), "{out}{err}");
    let html = read(&place.path().join("r.html"));
    let page = data(&html);
    let schema = serde_json::from_str(include_str!("../../../schema/page.schema.json")).expect("schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&page), "{:?}", validator.iter_errors(&page).map(|error| error.to_string()).next());
    let race = &page["show"]["race"];
    assert_eq!(race["record"], "r.jsonl");
    // Findings are those of `report --format json`, and every trial is there.
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).expect("findings are JSON");
    assert_eq!(race["findings"]["results"].as_array().map(Vec::len), findings["results"].as_array().map(Vec::len));
    assert_eq!(race["findings"]["answer"]["choose"], findings["answer"]["choose"]);
    // Why each was limited stands there in every language; the page looks it up by the English sentence.
    for result in findings["results"].as_array().expect("results") {
        let english = result["limit_reason"].as_str().expect("a sentence");
        for language in ["zh", "de"] {
            let own = race["sentences"][language][english].as_str();
            assert!(own.is_some_and(|own| own != english), "{language}: {english}: {own:?}");
        }
    }
    let trials = trials(&place.path().join("r.jsonl"));
    let rows: usize = trials.iter().map(|trial| trial["groups"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(race["trials"]["round"].as_array().map(Vec::len), Some(rows));
    // Each trial holds a point per window: two slices, or ten parts of three phases.
    for trial in &trials {
        let timeline = &trial["course"];
        let windows = if trial["workload"] == "small-files" { 30 } else { 2 };
        for column in ["seconds", "measured_seconds", "operations_per_second", "cpu_share", "dirty_bytes"] {
            assert_eq!(timeline[column].as_array().map(Vec::len), Some(windows), "{column}: {trial}");
        }
        let measured = timeline["measured_seconds"][windows - 1].as_f64().expect("a number");
        let seconds = trial["system"]["window_seconds"].as_f64().expect("a number");
        assert!((measured - seconds).abs() < 0.001, "{trial}");
    }
    for timeline in race["courses"].as_array().expect("courses") {
        for lane in timeline["lanes"].as_array().expect("lanes") {
            let points = lane["seconds"].as_array().map_or(0, Vec::len);
            assert!(points >= 4 && lane["quantities"]["cpu_share"].as_array().map(Vec::len) == Some(points), "{lane}");
        }
    }
    place.assert_nothing_left();
}

#[test]
fn long_windows_are_looked_at_from_outside() {
    let place = Place::new();
    let sets =
        ["--workload", "commit", "--set", "commit.slices=1", "--set", "commit.slice_seconds=1.6", "--rounds", "1"];
    let suite = place.tiny_suite();
    std::fs::create_dir(place.path().join("a")).expect("folder");
    let base = ["race", "./a", "--suite", &suite, "-o", "r.jsonl", "--no-report"];
    place.expect(0, &[&base[..], &sets].concat());
    let trials = trials(&place.path().join("r.jsonl"));
    let timeline = &trials[0]["course"];
    let seconds: Vec<f64> =
        timeline["measured_seconds"].as_array().expect("points").iter().filter_map(serde_json::Value::as_f64).collect();
    assert!((2..=7).contains(&seconds.len()), "{timeline}");
    assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]) && seconds.iter().all(|at| *at <= 1.7), "{timeline}");
    // Of the operations in it only the mean is known.
    assert!(timeline["cpu_share"].is_array() && timeline["operations_per_second"].is_null(), "{timeline}");
}

#[test]
fn a_race_that_is_asked_for_no_report_writes_none_and_a_dry_run_names_it() {
    let place = Place::new();
    let (out, _) = race(&place, "r.jsonl", &["--no-report"]);
    assert!(!out.contains("REPORT") && !place.path().join("r.html").exists(), "{out}");
    let (out, _) = race(&place, "other.jsonl", &["--dry-run"]);
    assert!(out.contains("write the report other.html at the end"), "{out}");
    assert!(!place.path().join("other.html").exists());
}

#[test]
fn a_file_that_is_no_report_stays_and_an_older_report_gives_way() {
    let place = Place::new();
    let page = place.path().join("r.html");
    std::fs::write(&page, "<html>mine</html>").expect("file");
    let (out, err) = race(&place, "r.jsonl", &["--workload", "commit"]);
    assert_eq!(read(&page), "<html>mine</html>");
    assert!(!out.contains("REPORT"), "{out}");
    let warning = err.lines().find(|line| line.starts_with("warning: ")).expect("a warning");
    assert!(warning.contains("r.html") && warning.contains("--format html -o FILE"), "{warning}");
    place.expect(0, &["report", "r.jsonl", "--format", "html", "-o", "again.html"]);
    let older = read(&place.path().join("again.html"));
    let (out, _) = race(&place, "again.jsonl", &["--workload", "commit"]);
    assert!(out.ends_with("REPORT    again.html\n"), "{out}");
    assert_ne!(read(&place.path().join("again.html")), older);
    // A link is not followed.
    std::fs::write(place.path().join("target"), &older).expect("file");
    std::os::unix::fs::symlink("target", place.path().join("linked.html")).expect("link");
    race(&place, "linked.jsonl", &["--workload", "commit"]);
    assert_eq!(read(&place.path().join("target")), older);
    let parts = std::fs::read_dir(place.path()).expect("folder").flatten();
    assert!(parts.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().ends_with(".part")));
}

#[test]
fn under_sudo_a_report_belongs_to_who_asked_for_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let home = place.path().join("home");
    std::fs::create_dir(&home).expect("folder");
    std::os::unix::fs::chown(&home, Some(1234), Some(2345)).expect("chown");
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let suite = place.tiny_suite();
    std::fs::create_dir(place.path().join("a")).expect("folder");
    let arguments = ["race", "./a", "--suite", &suite, "--workload", "commit", "--rounds", "1", "-o", "home/r.jsonl"];
    let ran =
        place.fairlane(&arguments).env("SUDO_UID", "1234").env("SUDO_GID", "2345").output().expect("fairlane runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for name in ["r.jsonl", "r.html"] {
        let of = std::fs::metadata(home.join(name)).expect(name);
        assert_eq!((of.uid(), of.gid(), of.mode() & 0o777), (1234, 2345, 0o644), "{name}");
    }
}

#[test]
fn reports_beside_records_are_no_records() {
    let place = Place::new();
    for side in ["old", "new"] {
        std::fs::create_dir(place.path().join(side)).expect("folder");
        race(&place, &format!("{side}/r.jsonl"), &["--workload", "commit"]);
        assert!(place.path().join(side).join("r.html").exists());
    }
    // Kept records too: three files that are no records beside one that is.
    let runs = place.path().join("state/fairlane/runs");
    std::fs::create_dir_all(&runs).expect("folder");
    std::fs::copy(place.path().join("old/r.jsonl"), runs.join("2026-01-01T00-00-00Z-a.jsonl")).expect("copy");
    std::fs::copy(place.path().join("old/r.html"), runs.join("2026-01-01T00-00-00Z-a.html")).expect("copy");
    let (list, _) = place.expect(0, &["records"]);
    assert!(list.starts_with("last ") && list.matches("last").count() == 1 && !list.contains("html"), "{list}");
    let gate = ["compare", "--baseline", "old/*", "--candidate", "new/*", "--fail-if-slower", "5%"];
    let said = place.run(&gate);
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("GATE") && !said.contains("html"), "{said}");
    let (_, err) = place.expect(2, &[&gate[..2], &["old/*.html"], &gate[3..]].concat());
    assert_one_sentence(&err, &["no file matches", "old/*.html"]);
}

#[test]
fn a_report_goes_to_a_pipe_or_a_file_in_the_language_of_the_locale_or_the_one_asked_for() {
    let place = Place::new();
    race(&place, "r.jsonl", &["--workload", "commit", "--no-report"]);
    let language = |locale: &str, more: &[&str]| {
        let arguments = [&["report", "r.jsonl", "--format", "html"], more].concat();
        let out = place.fairlane(&arguments).env("LC_ALL", locale).output().expect("fairlane runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        data(&String::from_utf8(out.stdout).expect("UTF-8"))["language"].as_str().expect("a language").to_owned()
    };
    assert_eq!(language("zh_CN.UTF-8", &[]), "zh");
    assert_eq!(language("de_DE.UTF-8", &[]), "de");
    assert_eq!(language("fr_FR.UTF-8", &[]), "en");
    assert_eq!(language("zh_CN.UTF-8", &["--lang", "en"]), "en");
    assert_eq!(language("C", &["--lang", "de"]), "de");
    // Text for people and programs stays as it is, whatever the locale.
    for format in ["text", "markdown", "csv", "json"] {
        let arguments = ["report", "r.jsonl", "--format", format];
        let of =
            |locale: &str| place.fairlane(&arguments).env("LC_ALL", locale).output().expect("fairlane runs").stdout;
        assert!(of("zh_CN.UTF-8") == of("C") && !of("C").is_empty(), "{format}");
        let (_, err) = place.expect(2, &[&arguments[..], &["--lang", "zh"]].concat());
        assert_one_sentence(&err, &[format, "English", "--lang", "html"]);
        place.expect(0, &[&arguments[..], &["--lang", "en"]].concat());
    }
    let (_, err) = place.expect(2, &["report", "r.jsonl", "--format", "html", "--lang", "tlh"]);
    assert!(err.contains("en, zh or de"), "{err}");
    let (_, err) = place.expect(1, &["report", "r.jsonl", "--format", "html", "-o", "no/such/folder.html"]);
    assert_one_sentence(&err, &["no/such/folder.html", "-o"]);
    for compare in [&["compare", "r.jsonl", "r.jsonl"][..], &["compare", "r.jsonl", "published:openeuler-2203"]] {
        let (_, err) = place.expect(2, &[compare, &["--format", "html"]].concat());
        assert_one_sentence(&err, &["html", "markdown"]);
    }
}
