//! Manual pages: one for each command that is shown, and sound to the programs that render them.

use crate::common;

use common::{Place, assert_one_sentence};
use std::path::Path;
use std::process::Command;

/// The commands that --help shows, but `help` itself.
fn shown_commands(place: &Place) -> Vec<String> {
    let (help, _) = place.expect(0, &["--help"]);
    let list = help.split("Commands:\n").nth(1).expect("commands").split("\n\n").next().unwrap_or_default();
    // What a line goes on with stands further to the right.
    let first = |line: &str| {
        let name = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        name.split_whitespace().next().map(str::to_owned)
    };
    list.lines().filter_map(first).filter(|name| name != "help").collect()
}

/// What a program says against a page; `None`: it is not installed.
fn said_against(program: &str, arguments: &[&str], page: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).arg(page).output().ok()?;
    let told = if output.status.success() { &[][..] } else { &output.stdout[..] };
    let said = [&output.stderr[..], told].concat();
    Some(String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn each_command_has_a_page_that_is_rendered_without_a_warning() {
    let place = Place::new();
    let commands = shown_commands(&place);
    assert!(commands.len() > 15 && commands.iter().any(|name| name == "race"), "{commands:?}");
    place.expect(0, &["man", "pages"]);
    let folder = place.path().join("pages");
    let mut pages = vec!["fairlane.1".to_owned(), "fairlane-trace-show.1".to_owned()];
    pages.extend(commands.iter().map(|name| format!("fairlane-{name}.1")));
    for page in &pages {
        assert!(folder.join(page).is_file(), "{page} is missing");
    }
    assert_eq!(std::fs::read_dir(&folder).expect("pages").count(), pages.len());
    let mut rendered = 0;
    for page in &pages {
        let page = folder.join(page);
        // -z: no output; the warnings alone.
        let warnings = said_against("groff", &["-man", "-Kutf8", "-Tutf8", "-ww", "-z"], &page);
        let errors = said_against("mandoc", &["-T", "lint", "-W", "error"], &page);
        for said in [warnings, errors].into_iter().flatten() {
            assert!(said.is_empty(), "{}: {said}", page.display());
            rendered += 1;
        }
    }
    if rendered == 0 {
        eprintln!("neither groff nor mandoc is installed: pages were made, and not rendered");
    }
    let (_, err) = place.expect(2, &["man", "pages"]);
    assert_one_sentence(&err, &["pages holds something already"]);
}

#[test]
fn pages_are_the_same_twice_and_bear_the_day_of_the_source() {
    let place = Place::new();
    for folder in ["a", "b"] {
        let mut command = place.fairlane(&["man", folder]);
        let status = command.env("SOURCE_DATE_EPOCH", "1700000000").status().expect("fairlane runs");
        assert!(status.success());
    }
    for entry in std::fs::read_dir(place.path().join("a")).expect("pages").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a page");
        assert!(text.contains(" 2023-11-14 "), "{text:.300}");
        assert_eq!(text, std::fs::read_to_string(place.path().join("b").join(entry.file_name())).expect("a page"));
    }
}
