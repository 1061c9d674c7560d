//! What documents say of the code is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// Every file of some kinds below a folder.
fn files(folder: &Path, kinds: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            files(&path, kinds, found);
        } else if path.extension().is_some_and(|extension| kinds.iter().any(|kind| extension == *kind)) {
            found.push(path);
        }
    }
}

/// The sections of the method that a text cites: `method 3.2`.
fn cited(text: &str) -> Vec<String> {
    // A line may end within a citation.
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| !matches!(*word, "//" | "///" | "//!" | "*")).collect();
    let is_method = |word: &str| word.trim_start_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("method");
    let cited = words.windows(2).filter(|two| is_method(two[0])).map(|two| {
        two[1].split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default().trim_end_matches('.')
    });
    cited.filter(|number| number.contains('.')).map(str::to_owned).collect()
}

#[test]
fn every_section_of_the_method_that_is_cited_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    files(&root.join("docs/method"), &["md"], &mut pages);
    let text: String = pages.iter().map(|page| std::fs::read_to_string(page).expect("a page")).collect();
    let headings: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("## ")?.split(' ').next()).collect();
    let mut sources = Vec::new();
    files(&root, &["rs", "ts", "tsx", "md", "toml"], &mut sources);
    let mut citations = 0;
    for source in sources {
        let text = std::fs::read_to_string(&source).expect("a source");
        assert!(!text.contains(concat!("methods", " section")), "{} cites what is not there", source.display());
        for number in cited(&text) {
            assert!(headings.contains(&*number), "{}: method {number} is not there", source.display());
            citations += 1;
        }
    }
    assert!(citations > 40 && headings.len() > 20, "{citations} citations of {headings:?}");
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    files(&root, &["md"], &mut pages);
    let mut links = 0;
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { page.clone() } else { page.parent().expect("a folder").join(file) };
            assert!(to.exists(), "{}: {link} leads nowhere", page.display());
            if !anchor.is_empty() && to.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&to).expect("a page");
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|line| anchor_of(line) == anchor), "{}: {link} leads nowhere", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 60, "{links} links");
}

/// What a heading's link is called where such pages are shown.
fn anchor_of(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Words of Fairlane's own that a storage engineer has to learn, as names of types and of files.
const RETIRED_TYPES: [&str; 19] = [
    "Track", "Visit", "Stage", "Specimen", "Bench", "Notebook", "Hand", "Board", "Crew", "Team", "Seat", "House",
    "Story", "Sight", "Eye", "Seen", "Shelf", "Slack", "Swarm",
];
const RETIRED_FILES: [&str; 23] = [
    "visit",
    "stage",
    "specimen",
    "bench",
    "notebook",
    "kept",
    "survive",
    "hand",
    "board",
    "crew",
    "team",
    "turn",
    "seat",
    "house",
    "story",
    "course",
    "say",
    "shelf",
    "talk",
    "left",
    "last_words",
    "patience",
    "swarm",
];

#[test]
fn sources_speak_the_fields_words_and_none_is_longer_than_six_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    files(&root.join("crates"), &["rs"], &mut sources);
    assert!(sources.len() > 400, "{}", sources.len());
    let mut wrong = Vec::new();
    for source in &sources {
        let text = std::fs::read_to_string(source).expect("a source");
        let lines = text.lines().count();
        wrong.extend((lines > 600).then(|| format!("{}: {lines} lines", source.display())));
        if !source.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        let name = source.file_stem().expect("a name").to_string_lossy();
        let folder = source.parent().and_then(Path::file_name).expect("a folder").to_string_lossy();
        let file = [name, folder].into_iter().find(|name| RETIRED_FILES.contains(&&**name));
        wrong.extend(file.map(|name| format!("{}: `{name}` is retired", source.display())));
        let types = text.split(['\n', ' ', '(', '<']).collect::<Vec<_>>();
        let types = types.windows(2).filter(|two| matches!(two[0], "struct" | "enum" | "trait"));
        let retired =
            types.map(|two| two[1].trim_end_matches([';', '{', ':'])).filter(|name| RETIRED_TYPES.contains(name));
        wrong.extend(retired.map(|name| format!("{}: `{name}` is retired", source.display())));
        // A function says what it makes or finds.
        let nameless = ["fn of(", "fn of<"].into_iter().find(|name| text.contains(name));
        wrong.extend(nameless.map(|name| format!("{}: `{name}` says nothing", source.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_everybody_reads_first_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, most) in [("README.md", 8 << 10), ("ARCHITECTURE.md", 14 << 10)] {
        let bytes = std::fs::metadata(root.join(page)).expect(page).len();
        assert!(bytes <= most, "{page} has {bytes} bytes; {most} are enough");
    }
}

/// What the container is built from is what the workspace and the packages say.
#[test]
fn the_containers_file_has_the_compiler_the_recommended_packages_and_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let quoted = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_else(|| panic!("{key}"));
        line.trim_start_matches([' ', '=']).trim_matches('"').to_owned()
    };
    let container = read("Containerfile").replace("\\\n", " ");
    let commands: Vec<Vec<&str>> = (container.lines().filter(|line| !line.starts_with('#')))
        .map(|line| line.split_whitespace().collect())
        .filter(|words: &Vec<&str>| !words.is_empty())
        .collect();
    let rust = format!("rust:{}-", quoted(&read("Cargo.toml"), "rust-version"));
    assert!(commands[0][0] == "FROM" && commands[0][1].starts_with(&rust), "{rust}: {:?}", commands[0]);
    let installs = commands.iter().find(|words| words.contains(&"apt-get")).expect("packages are installed");
    let recommended = quoted(&read("packaging/facts"), "RECOMMENDS");
    assert!(recommended.split(' ').count() > 2, "{recommended}");
    for package in recommended.split(' ') {
        assert!(installs.contains(&package), "{package} is recommended, and not installed: {installs:?}");
    }
    let of_sources = commands.iter().filter(|words| words[0] == "COPY" && !words[1].starts_with("--"));
    let copied: Vec<&str> = of_sources.flat_map(|words| words[1..words.len() - 1].iter().copied()).collect();
    assert!(copied.len() > 2, "{copied:?}");
    for name in copied {
        assert!(root.join(name).exists(), "{name} is copied, and is not there");
    }
}
