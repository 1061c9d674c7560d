//! What documents say of the code is there.

use std::collections::BTreeSet;
use std::path::Path;

/// Names of all functions in the sources of the workspace.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let name = |line: &str| {
                let rest = line.trim_start().strip_prefix("fn ")?;
                Some(rest.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next()?.to_owned())
            };
            names.extend(text.lines().filter_map(name));
        }
    }
}

#[test]
fn every_test_that_the_page_on_safety_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    functions(&root.join("crates"), &mut names);
    let page = std::fs::read_to_string(root.join("docs/safety.md")).expect("docs/safety.md");
    let named: Vec<&str> = (page.split(|c: char| !(c == ':' || c == '_' || c.is_ascii_alphanumeric())))
        .filter_map(|word| word.rsplit_once("::").map(|(_, name)| name))
        .collect();
    assert!(named.len() > 40, "{named:?}");
    let missing: Vec<&&str> = named.iter().filter(|name| !names.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
