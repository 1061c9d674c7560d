//! Every text of a record, planted with something private.

use super::*;
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

const RACE: &str = include_str!("../../../../schema/record.schema.json");
const DURABILITY: &str = include_str!("../../../../schema/durability-record.schema.json");
const FIXTURE: &str = include_str!("../../../fairlane/tests/fixtures/schema1.jsonl");
const DURABILITY_FIXTURE: &str = include_str!("../../../fairlane/tests/fixtures/durability1.jsonl");

/// Kinds of work are the longest of all choices.
const FORMS: usize = 16;

/// Makes lines of a record as its schema describes them: every key is there, and every text that is free holds a mark.
struct Planter<'a> {
    schema: &'a Value,
    /// Which of several forms is taken, counted round.
    form: usize,
    /// What stands in a text with this mark in this place.
    plant: fn(&str, usize) -> String,
    /// Places by their marks.
    places: BTreeMap<usize, String>,
    /// Definitions that are being made.
    begun: Vec<String>,
}

impl Planter<'_> {
    fn text(&mut self, place: &str) -> Value {
        let mark = self.places.len() + 1;
        self.places.insert(mark, place.to_owned());
        (self.plant)(place, mark).into()
    }

    fn make(&mut self, of: &Value, place: &str) -> Value {
        let mut made = match of.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
            Some(name) => self.defined(name),
            None => Value::Null,
        };
        for key in ["oneOf", "anyOf"] {
            let is_some = |choice: &&Value| choice["type"] != "null";
            let choices: Vec<&Value> = of[key].as_array().into_iter().flatten().filter(is_some).collect();
            if !choices.is_empty() {
                made = self.make(choices[self.form % choices.len()], place);
            }
        }
        if let Some(fixed) = of.get("const") {
            return fixed.clone();
        }
        if let Some(words) = of.get("enum").and_then(Value::as_array) {
            return words[self.form % words.len()].clone();
        }
        if let Some(example) = of.get("examples").and_then(|examples| examples.get(0)) {
            return example.clone();
        }
        let kind = of["type"].as_str().or_else(|| of["type"][0].as_str()).unwrap_or_default();
        match kind {
            "string" => self.text(place),
            "integer" | "number" => json!(1),
            "boolean" => json!(false),
            "array" => self.list(of, place),
            _ => self.object(of, place, made),
        }
    }

    fn defined(&mut self, name: &str) -> Value {
        match name {
            "Bytes" => return json!("4KiB"),
            // Power cuts have another of that name.
            "Speed" if self.schema["$defs"]["Speed"]["type"] == "string" => return json!("max"),
            // It holds another of its own kind.
            _ if self.begun.iter().any(|begun| begun == name) => return Value::Null,
            _ => {}
        }
        self.begun.push(name.to_owned());
        let schema = self.schema;
        let made = self.make(&schema["$defs"][name], name);
        self.begun.pop();
        made
    }

    fn list(&mut self, of: &Value, place: &str) -> Value {
        match of.get("prefixItems").and_then(Value::as_array) {
            Some(items) => {
                items.iter().enumerate().map(|(at, item)| self.make(item, &format!("{place}[{at}]"))).collect()
            }
            None => Value::Array(vec![self.make(&of["items"], &format!("{place}[]"))]),
        }
    }

    fn object(&mut self, of: &Value, place: &str, made: Value) -> Value {
        let mut object = match made {
            Value::Object(object) => object,
            other if of.get("properties").is_none() && of.get("additionalProperties").is_none() => return other,
            _ => Map::new(),
        };
        for (key, value) in of["properties"].as_object().into_iter().flatten() {
            object.insert(key.clone(), self.make(value, &format!("{place}.{key}")));
        }
        if of["additionalProperties"].is_object() {
            let key = self.text(&format!("{place}.{{key}}"));
            let value = self.make(&of["additionalProperties"], &format!("{place}.{{}}"));
            object.insert(key.as_str().unwrap_or_default().to_owned(), value);
        }
        Value::Object(object)
    }
}

/// A record with every kind of line, in one form, and the places of its marks.
fn planted(schema: &str, form: usize, plant: fn(&str, usize) -> String) -> (String, BTreeMap<usize, String>) {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let mut planter = Planter { schema: &schema, form, plant, places: BTreeMap::new(), begun: Vec::new() };
    let kinds = schema["oneOf"].as_array().expect("kinds of lines");
    let lines: Vec<String> = kinds.iter().map(|kind| planter.make(kind, "Line").to_string()).collect();
    (lines.join("\n") + "\n", planter.places)
}

/// All lines of the shared record.
#[track_caller]
fn shared(text: &str, private: &[Private]) -> (String, Vec<Removed>, Facts) {
    let mut sharing = Sharing::begin(text, private).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let first = lines_of(&mut sharing, 0);
    assert_eq!(first, lines_of(&mut sharing, 0), "every pass gives the same lines");
    (first, sharing.removed(), sharing.facts().clone())
}

/// The lines of one of the records that are shared together.
#[track_caller]
fn lines_of(sharing: &mut Sharing, at: usize) -> String {
    let mut lines = String::new();
    let take = |line: &str| -> Result<(), ShareError> {
        lines.push_str(line);
        lines.push('\n');
        Ok(())
    };
    sharing.each_line_of(at, take).unwrap_or_else(|error| panic!("{error}"));
    lines
}

/// The places whose marks are left, of all forms together, and all places.
fn left(schema: &str, plant: fn(&str, usize) -> String, private: &[Private]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut left, mut all) = (BTreeSet::new(), BTreeSet::new());
    for form in 0..FORMS {
        let (text, places) = planted(schema, form, plant);
        let (lines, ..) = shared(&text, private);
        left.extend(places.iter().filter(|(mark, _)| lines.contains(&format!("zq{mark}q"))).map(|(_, of)| of.clone()));
        all.extend(places.into_values());
    }
    (left, all)
}

/// Texts of a record of a race and of one of durability. Whoever adds one decides in this module what becomes of it.
const TEXTS: [(&str, usize); 2] = [(RACE, 154), (DURABILITY, 50)];

#[test]
fn every_text_of_a_record_is_planted() {
    for (schema, count) in TEXTS {
        let (_, all) = left(schema, |_, mark| format!("zq{mark}q"), &[]);
        assert_eq!(
            all.len(),
            count,
            "a text was added or removed: decide in model::share what becomes of it: {all:#?}"
        );
    }
}

#[test]
fn a_path_survives_in_no_text() {
    for (schema, _) in TEXTS {
        let (left, _) = left(schema, |_, mark| format!("/planted/zq{mark}q/x"), &[]);
        // A file of one's own keeps its name, which is no path.
        assert_eq!(left, BTreeSet::new());
    }
}

#[test]
fn names_addresses_and_ids_survive_in_no_text() {
    let private =
        [(Sort::User, "alice"), (Sort::Host, "Box17")].map(|(sort, text)| Private { sort, text: text.into() });
    let plants: [fn(&str, usize) -> String; 4] = [
        |place, mark| own(place, || format!("alice at box17 {mark}")),
        |place, mark| own(place, || format!("asked 10.1.2.{} for it", mark % 250)),
        |place, mark| own(place, || format!("{mark:08x}-2fa1-11d2-883f-0016d3cca427")),
        |place, mark| own(place, || format!("a{mark}@mail.example.org")),
    ];
    for (schema, _) in TEXTS {
        for plant in plants {
            for form in 0..FORMS {
                let (lines, ..) = shared(&planted(schema, form, plant).0, &private);
                for word in ["alice", "box17", "10.1.2.", "2fa1-11d2", "example.org"] {
                    assert!(!lines.contains(word), "{word} is left in {lines}");
                }
            }
        }
    }
}

/// Words that no person chose: who is called so is not told from them.
fn own(place: &str, plant: impl Fn() -> String) -> String {
    match place {
        "Lane.filesystem" | "DurabilityLane.filesystem" => "ext4".to_owned(),
        "Lane.venue" => "image".to_owned(),
        _ => plant(),
    }
}

#[test]
fn these_texts_are_private_whatever_they_hold() {
    let private = |schema: &str| {
        let (left, all) = left(schema, |_, mark| format!("zq{mark}q"), &[]);
        all.difference(&left).cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        private(RACE),
        [
            "Behind.device",
            "ColdRead.disk",
            "Contestant.directory",
            "Device.name",
            "Facts.command",
            "Ground.device",
            "Ground.disks[]",
            "Ground.images",
            "Group.histogram",
            "Header.boot_id",
            "Io.filename[]",
            "Lane.backing",
            "Lane.ground",
            "Line.boot_id",
            "Machine.machine_id_hash",
            "SystemUse.busiest_thread",
            "Venue.device",
            "Venue.image",
            "Venue.qemu",
            "Workload.filename[]",
            "Workload.socket",
            "Workload.trace",
        ]
    );
    assert_eq!(private(DURABILITY), ["Behind.device", "Device.name", "Example.kept", "Machine.machine_id_hash"]);
}

#[test]
fn a_real_record_keeps_its_figures_and_loses_whose_it_is() {
    let (text, removed, facts) = shared(FIXTURE, &[Private { sort: Sort::User, text: "root".into() }]);
    let (before, after) = (Record::parse(FIXTURE).unwrap(), Record::parse(&text).unwrap());
    assert_eq!(before.trials.len(), after.trials.len());
    for (one, other) in before.trials.iter().zip(&after.trials) {
        assert_eq!((&one.lane, &one.workload, one.round), (&other.lane, &other.workload, other.round));
        assert_eq!(
            one.groups.iter().map(|of| &of.histogram).collect::<Vec<_>>(),
            other.groups.iter().map(|of| &of.histogram).collect::<Vec<_>>()
        );
    }
    for private in ["/home/li", "f7ef5d73-c293-4afa-a107-b334469317ac", "0000000000000000"] {
        assert!(!text.contains(private), "{private}");
        assert!(removed.iter().any(|of| of.text == private && of.places > 0), "{private}: {removed:?}");
    }
    assert!(after.header.lanes.iter().all(|lane| lane.ground == "images in /work/1" && lane.backing == "vda"));
    assert!(crate::machine::is_untold(&after.header.machine.machine_id_hash));
    assert!(crate::machine::is_untold(&after.header.boot_id));
    assert!(facts.is_over && !facts.is_cut_off && facts.unknown_lines == 0, "{facts:?}");
    // What was shared may be shared again, and nothing more is told.
    let (again, ..) = shared(&text, &[]);
    assert_eq!(Record::parse(&again).unwrap().header.machine, after.header.machine);
}

#[test]
fn two_records_of_one_machine_and_boot_do_not_show_it() {
    let other = FIXTURE.replacen("\"started\":\"2026-11-20T10:49:35Z\"", "\"started\":\"2026-11-20T11:49:35Z\"", 1);
    let [one, other] = [FIXTURE, other.as_str()].map(|text| Record::parse(&shared(text, &[]).0).unwrap().header);
    assert_ne!(one.machine.machine_id_hash, other.machine.machine_id_hash);
    assert_ne!(one.boot_id, other.boot_id);
    assert_eq!(one.plan.lanes, other.plan.lanes);
}

/// The header of a race of these lanes.
fn race_of(lanes: &Value, warning: &str) -> String {
    let mut header: Value = serde_json::from_str(FIXTURE.lines().next().unwrap()).unwrap();
    header["plan"]["lanes"] = lanes.clone();
    header["warnings"] = json!([warning]);
    format!("{header}\n")
}

#[test]
fn two_records_that_belong_together_have_one_placeholder_for_each_private_text() {
    let lane = |name: &str, label: &str| {
        json!({
            "name": name, "contestant": { "filesystem": "ext4" }, "mkfs_options": ["-L", label], "mount_options": [],
            "venue": null,
        })
    };
    let first = race_of(&json!([lane("default", "alices"), lane("r02", "bobs")]), "carol built it");
    let other = race_of(&json!([lane("proposal", "bobs"), lane("default", "alices")]), "label-7 is no placeholder");
    let private = [Private { sort: Sort::User, text: "carol".into() }];
    let mut sharing = Sharing::begin_both(&first, &other, &private).unwrap();
    let [one, two] = [0, 1].map(|at| Record::parse(&lines_of(&mut sharing, at)).unwrap().header);
    let [default, run] = one.plan.lanes.as_slice() else { panic!("{:?}", one.plan.lanes) };
    let [proposal, same] = two.plan.lanes.as_slice() else { panic!("{:?}", two.plan.lanes) };
    assert_eq!((default, &run.mkfs_options), (same, &proposal.mkfs_options));
    assert_eq!([default, proposal].map(|lane| lane.mkfs_options[1].as_str()), ["label-8", "label-9"]);
    assert_eq!((one.machine, one.boot_id), (two.machine, two.boot_id));
    assert_eq!(one.warnings, ["user-1 built it"]);
    // What stood in the pass over the second one alone.
    assert!(sharing.removed().iter().all(|of| of.text != "carol"), "{:?}", sharing.removed());
    assert!(sharing.facts_of(1).stays.contains(&("lanes", "ext4, xfs".to_owned())), "{:?}", sharing.facts_of(1));
    // Shared one by one they have nothing in common.
    let [alone, apart] = [&first, &other].map(|text| Record::parse(&shared(text, &[]).0).unwrap().header);
    assert_ne!(alone.plan.lanes[0], apart.plan.lanes[1]);
}

#[test]
fn a_screening_of_a_file_of_ones_own_keeps_its_design_and_not_where_that_lies() {
    let file = "/home/li/acme/myfs.toml";
    let lane = |name: &str, delay: &str| {
        json!({
            "name": name, "contestant": { "custom": file }, "mkfs_options": ["-L", "alices"],
            "mount_options": [format!("delay={delay}")], "venue": null,
        })
    };
    let lanes = json!([lane("default", "0"), lane("r02", "100")]);
    let mut header: Value = serde_json::from_str(&race_of(&lanes, "")).unwrap();
    let level = |label: &str| json!({ "label": label, "mount": [format!("delay={label}")] });
    header["plan"]["screening"] = json!({
        "base": format!("{file}(-L alices)"),
        "design": "full-factorial",
        "factors": [{ "name": "delay", "usual": level("0"), "other": level("100"), "class": "promises" }],
        "runs": [{ "lane": "default", "at_other": [false] }, { "lane": "r02", "at_other": [true] }],
    });
    header["plan"]["command_line"] =
        json!(["fairlane", "screen", format!("{file}(-L alices)"), "--option", "delay=0|100"]);
    let (text, ..) = shared(&format!("{header}\n"), &[]);
    assert!(!text.contains("acme") && !text.contains("alices"), "{text}");
    let plan = Record::parse(&text).unwrap().header.plan;
    let screening = plan.screening.unwrap();
    let base: crate::lane::LaneSpec = screening.base.parse().unwrap();
    // Who reads it makes the same lanes of the base.
    assert_eq!(base.contestant, Contestant::Custom("./myfs.toml".into()));
    for (lane, delay) in plan.lanes.iter().zip(["delay=0", "delay=100"]) {
        assert_eq!((&lane.contestant, &lane.mkfs_options), (&base.contestant, &base.mkfs_options));
        assert_eq!(lane.mount_options, [delay]);
    }
    assert_eq!(plan.command_line[2..], [screening.base.as_str(), "--option", "delay=0|100"]);
}

#[test]
fn a_screening_that_is_larger_than_any_is_refused_as_every_reader_refuses_it() {
    let level = json!({ "label": "on" });
    let factor = json!({ "name": "a", "usual": level, "other": level });
    let mut header: Value = serde_json::from_str(FIXTURE.lines().next().unwrap()).unwrap();
    let mut begun = |count: usize, other: bool| {
        header["plan"]["screening"] =
            json!({ "base": "ext4", "design": "full-factorial", "factors": vec![factor.clone(); count], "runs": [] });
        let text = format!("{header}\n");
        let of = if other { Sharing::begin_both(FIXTURE, &text, &[]) } else { Sharing::begin(&text, &[]) };
        of.map(|_| ()).map_err(|error| error.to_string())
    };
    for other in [false, true] {
        assert_eq!(begun(23, other), Ok(()));
        let said = "a screening has 24 options, and 23 are the most; name another file";
        assert_eq!(begun(24, other), Err(said.to_owned()));
    }
}

#[test]
fn a_record_of_durability_is_shared_too() {
    let (text, removed, facts) = shared(DURABILITY_FIXTURE, &[]);
    let (before, after) =
        (DurabilityRecord::parse(DURABILITY_FIXTURE).unwrap(), DurabilityRecord::parse(&text).unwrap());
    assert_eq!(before.cuts.len(), after.cuts.len());
    assert_eq!((before.header.again, before.header.lanes), (after.header.again, after.header.lanes));
    assert!(removed.iter().any(|of| of.sort == Sort::Machine), "{removed:?}");
    assert!(facts.stays.iter().any(|(what, _)| *what == "lanes"), "{facts:?}");
}

#[test]
fn what_no_reader_knows_does_not_survive() {
    let odd = FIXTURE.replacen("\"schema\":1,", "\"schema\":1,\"owner\":\"/home/alice\",", 1).replacen(
        "\n",
        "\n{\"kind\":\"fan\",\"rpm\":900}\n",
        1,
    );
    let (text, _, facts) = shared(&format!("{odd}{{\"kind\":\"tri"), &[]);
    assert_eq!(text, shared(FIXTURE, &[]).0);
    assert_eq!((facts.unknown_lines, facts.is_cut_off), (1, true));
}

#[test]
fn what_is_damaged_or_no_record_is_refused_with_its_line() {
    let refused = |text: &str| Sharing::begin(text, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(refused("hello\n").contains("no record of Fairlane"));
    assert!(refused("").contains("empty"));
    let damaged = FIXTURE.replacen("\n", "\n{\"kind\":\"trial\"}\n", 1);
    assert!(refused(&damaged).contains("line 2 of this record is damaged"), "{}", refused(&damaged));
}

#[test]
fn whatever_is_left_is_found_in_what_is_written() {
    let sharing = Sharing::begin(FIXTURE, &[Private { sort: Sort::Host, text: "box17".into() }]).unwrap();
    for (written, sort) in [
        (json!({ "a": { "b": ["ok", "in /home/x"] } }), Sort::Path),
        (json!({ "/home/x": 1 }), Sort::Path),
        (json!(["BOX17"]), Sort::Host),
        (json!({ "a": "f7ef5d73-c293-4afa-a107-b334469317ac" }), Sort::Boot),
        (json!({ "a": "0a1b2c3d-c293-4afa-a107-b334469317ac" }), Sort::Identifier),
    ] {
        assert_eq!(sharing.left(&written).map(|left| left.sort), Some(sort), "{written}");
    }
    assert_eq!(sharing.left(&json!({ "histogram": "/x/", "home": 1, "a": "201 MiB/s of ext4/raid1:2" })), None);
}

/// A header like that of an import, with these files and warnings.
fn imported(files: &[&str], parameters: &str, warnings: &[&str]) -> String {
    let mut header: Value = serde_json::from_str(FIXTURE.lines().next().unwrap()).unwrap();
    let command: Vec<&str> = ["fairlane", "import"].into_iter().chain(files.iter().copied()).collect();
    header["warnings"] = json!(warnings);
    header["plan"]["command_line"] = json!(command);
    header["plan"]["lanes"] = json!([]);
    header["plan"]["workloads"] = json!([{
        "name": "job", "title": "as on box-77", "kind": "foreign", "format": "fio JSON", "parameters": parameters,
        "groups": ["read", "acme step"],
    }]);
    format!("{header}\n")
}

#[test]
fn files_of_an_import_are_private_and_their_lanes_stay() {
    let files = ["ext4=acme runs/first one.json", "xfs=second try.json", "ext4.json", "odd=acme.json"];
    let warnings =
        ["left out of first one: 2 x latency", "left out of second try: 1 x sum", "left out of ext4: 1 x sum"];
    let (text, removed, _) = shared(&imported(&files, "", &warnings), &[]);
    let header = Record::parse(&text).unwrap().header;
    let line: Vec<&str> = header.plan.command_line.iter().map(String::as_str).collect();
    assert_eq!(line, ["fairlane", "import", "ext4=/work/1", "xfs=file-1", "file-2", "file-3"]);
    assert_eq!(
        header.warnings,
        ["left out of file-4: 2 x latency", "left out of file-5: 1 x sum", "left out of ext4: 1 x sum"]
    );
    for private in ["acme runs", "acme.json", "first one", "second try"] {
        assert!(!text.contains(private), "{private} is left in {text}");
    }
    for (sort, private) in [(Sort::Path, "acme runs/first one.json"), (Sort::File, "second try.json")] {
        assert!(removed.iter().any(|of| of.sort == sort && of.text == private), "{private}: {removed:?}");
    }
}

#[test]
fn hosts_of_imported_figures_are_private() {
    let parameters = |given: &str| {
        let (text, removed, _) = shared(&imported(&["a.json"], given, &[]), &[]);
        let workload = Record::parse(&text).unwrap().header.plan.workloads.remove(0);
        let Kind::Foreign(of) = workload.kind else { panic!("it is another tool's") };
        (of.parameters, workload.title, removed.iter().any(|of| of.sort == Sort::Host))
    };
    let told = |parameters: &str, title: &str, is_removed: bool| (parameters.to_owned(), title.to_owned(), is_removed);
    assert_eq!(
        parameters("rw=randread host=Box-77 bs=4k"),
        told("rw=randread host=host-1 bs=4k", "as on host-1", true)
    );
    assert_eq!(parameters("host=localhost bs=4k"), told("host=localhost bs=4k", "as on box-77", false));
}

#[test]
fn every_name_that_stays_is_listed() {
    let mut header: Value = serde_json::from_str(&imported(&["--suite", "/srv/my.toml"], "", &[])).expect("a header");
    header["plan"]["command_line"][1] = json!("race");
    header["plan"]["lanes"] = json!([{
        "name": "mine", "contestant": { "custom": "/srv/acmefs.toml" }, "mkfs_options": [], "mount_options": [], "venue": null,
    }]);
    let fio = json!({
        "name": "acme-work", "title": "acme title", "kind": "fio", "file": "acme.fio", "text": "", "working_set": "4KiB",
        "jobs": [{ "name": "acme-job", "directions": ["read"] }],
    });
    header["plan"]["workloads"].as_array_mut().expect("workloads").push(fio);
    let (_, _, facts) = shared(&format!("{header}\n"), &[]);
    for (what, name) in [
        ("workloads", "acme-work"),
        ("titles", "acme title"),
        ("steps", "acme step"),
        ("jobs", "acme-job"),
        ("files", "acme.fio"),
        ("files", "acmefs.toml"),
        ("files", "my.toml"),
    ] {
        let is_told = |(of, names): &(&str, String)| *of == what && names.split(", ").any(|one| one == name);
        assert!(facts.stays.iter().any(is_told), "{what} {name}: {:?}", facts.stays);
    }
}

#[test]
fn names_that_stay_are_each_once_in_lines_that_are_shown_whole() {
    assert_eq!(in_lines("steps", &["a", "", "b", "a"]), [("steps", "a, b".to_owned())]);
    let names: Vec<String> = (0..1000).map(|number| format!("step {number:04} of thirty characters")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lines = in_lines("steps", &names);
    assert_eq!(lines.len(), MOST_LINES + 1);
    assert!(lines.iter().all(|(_, line)| line.chars().count() <= LINE_CHARACTERS));
    let listed: usize = lines.iter().take(MOST_LINES).map(|(_, line)| line.split(", ").count()).sum();
    assert_eq!(lines[MOST_LINES].1, format!("and {} more", 1000 - listed));
}
