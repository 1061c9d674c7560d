//! IO500's score in reports, and its result.txt.

use crate::common::{RECORD_PATH, races, record, told};
use model::findings::{Findings, IO500_PHASES, Io500Finding, Io500Phase, Io500Score};
use report::{Input, Style, render};

/// A lane whose phases all have this figure.
fn lane(name: &str, figure: f64, seconds: f64) -> Io500Finding {
    let phase = |(name, counts): (&str, _)| {
        let name = name.to_owned();
        Io500Phase { name, counts, figure, seconds, read_again: false, rounds: 5 }
    };
    let score = Io500Score {
        score: figure,
        low: Some(0.9 * figure),
        high: Some(1.1 * figure),
        bandwidth: figure,
        metadata: figure,
        rounds: 5,
    };
    Io500Finding { lane: name.to_owned(), phases: IO500_PHASES.into_iter().map(phase).collect(), score: Some(score) }
}

fn rendered(io500: Vec<Io500Finding>, format: &str) -> Result<String, report::ReportError> {
    let findings = Findings { io500, ..told(&races::three()) };
    let record = record(&findings);
    let input = Input { findings: &findings, record: &record, record_path: Some(RECORD_PATH) };
    render(&input, format, &Style::default())
}

#[test]
fn a_score_stands_in_the_report_with_its_interval_and_with_what_makes_it_invalid() {
    let plain = rendered(Vec::new(), "text").unwrap();
    assert!(!plain.contains("IO500"), "{plain}");
    let mut half = lane("xfs", 12.0, 2.5);
    half.phases.retain(|phase| phase.name != "find");
    half.score = None;
    for format in ["text", "markdown"] {
        let text = rendered(vec![lane("ext4", 20.0, 3.0), half.clone()], format).unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("20 (18 to 22)") && words.contains("20 GiB/s") && words.contains("20 kIOPS"), "{text}");
        let invalid =
            "ior-easy-write, mdtest-easy-write, ior-hard-write, mdtest-hard-write wrote for 2.5 to 3 s in a round";
        assert!(words.contains("INVALID by the rules of IO500:") && words.contains(invalid), "{text}");
        assert!(words.contains("xfs has no score: no round has a figure of find."), "{text}");
        let long = rendered(vec![lane("ext4", 20.0, 301.0)], format).unwrap();
        assert!(long.contains("IO500") && !long.contains("INVALID") && !long.contains("figure of memory"), "{long}");
        let mut cached = lane("ext4", 20.0, 301.0);
        cached
            .phases
            .iter_mut()
            .filter(|phase| phase.name == "ior-hard-read")
            .for_each(|phase| phase.read_again = true);
        let text = rendered(vec![cached], format).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("ior-hard-read read more in a round than the files hold"), "{text}");
    }
}

#[test]
fn result_txt_has_a_section_for_each_phase_and_calls_a_short_run_invalid() {
    let text = rendered(vec![lane("ext4", 2.0, 301.0), lane("xfs", 0.5, 3.0)], "io500").unwrap();
    let (first, second) = text.split_once("\n[run]\n").expect("two lanes");
    for (name, _) in IO500_PHASES {
        assert_eq!(text.matches(&format!("\n[{name}]\n")).count(), 2, "{name}");
    }
    assert!(first.starts_with("[run]\nprocs           = 1\nversion         = fairlane-"), "{first}");
    assert!(first.contains("lane            = ext4\n"), "{first}");
    let scores = "\n[SCORE]\nMD              = 2.000000\nBW              = 2.000000\nSCORE           = 2.000000\n";
    assert!(first.contains(scores) && !first.contains("INVALID"), "{first}");
    assert!(first.contains("; 95 % interval of SCORE: 1.800000 to 2.200000, 5 rounds\n"), "{first}");
    assert!(second.contains("SCORE           = 0.500000 [INVALID]\n"), "{second}");
    assert_eq!(second.matches("; ERROR INVALID Runtime is smaller than expected minimum runtime\n").count(), 4);
}

#[test]
fn the_system_is_described_as_far_as_the_record_tells_and_the_rest_is_left_to_the_submitter() {
    let text = rendered(vec![lane("ext4", 2.0, 301.0)], "io500").unwrap();
    let of = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("; {key} ")));
        line.and_then(|line| Some(line.split_once(" = ")?.1.to_owned())).unwrap_or_else(|| panic!("{key}: {text}"))
    };
    for (key, expected) in [("client_nodes", "1"), ("client_procs_per_node", "1"), ("client_total_procs", "1")] {
        assert_eq!(of(key), expected, "{key}");
    }
    let record = record(&told(&races::three()));
    let (machine, built) = (&record.header.machine, &record.header.lanes);
    let filesystem = built.iter().find(|built| built.name == "ext4").map(|built| built.filesystem.as_str());
    for (key, told) in [("client_kernel_version", Some(machine.kernel.as_str())), ("filesystem_type", filesystem)] {
        let expected = told.filter(|told| !told.is_empty()).unwrap_or("# TODO by the submitter");
        assert_eq!(of(key), expected, "{key}");
    }
    for key in ["institution", "md_nodes", "ds_storage_type", "ds_software_version"] {
        assert_eq!(of(key), "# TODO by the submitter", "{key}");
    }
    assert!(text.lines().skip_while(|line| !line.starts_with("; description")).all(|line| line.starts_with(';')));
}

#[test]
fn a_race_of_other_work_has_no_result_txt() {
    let said = rendered(Vec::new(), "io500").unwrap_err().to_string();
    assert!(said.contains("race --suite io500"), "{said}");
}

#[test]
fn no_name_of_a_lane_or_time_of_a_record_adds_a_line_to_result_txt() {
    let plain = rendered(vec![lane("ext4", 2.0, 301.0)], "io500").unwrap();
    let forged = "x\n[SCORE]\nSCORE = 99\r\u{1b}[2J\u{202e}";
    let text = rendered(vec![lane(forged, 2.0, 301.0)], "io500").unwrap();
    assert_eq!(text.lines().count(), plain.lines().count(), "{text}");
    assert_eq!(text.matches("\n[SCORE]\n").count(), 1, "{text}");
    assert!(!text.contains(['\r', '\u{1b}', '\u{202e}']), "{text:?}");
}
