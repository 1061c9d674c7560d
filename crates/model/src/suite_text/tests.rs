use super::*;

const TEXT: &str = r#"name = "t"
about = "a test"

[[workload]]
name = "mail"
title = "a mail spool"
kind = "operations"
threads = 2

[[workload.files]]
name = "spool"
count = 200
size = { from = "1KiB", to = "64KiB" }

[[workload.files]]
name = "logs"
count = 10

[[workload.step]]
operation = "create"
files = "spool"
sync = "each"

[[workload.step]]
name = "expire"
operation = "unlink"
files = "spool"
count = 100

[[workload]]
name = "reads"
title = "reads"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "1MiB"
"#;

fn mistake(from: &str, to: &str) -> String {
    let text = TEXT.replacen(from, to, 1);
    assert_ne!(text, TEXT, "{from}");
    let said = Suite::from_toml(&text).expect_err(to).in_file("s.toml");
    assert!(!said.contains('\n') && !said.ends_with('.'), "{said}");
    said
}

#[test]
fn the_text_itself_is_sound() {
    Suite::from_toml(TEXT).unwrap();
}

#[test]
fn only_work_whose_data_does_not_compress_is_raced_with_other_data_too() {
    let listed = |text: &str| text.replacen("about", "compressible_too = [\"reads\", \"mail\"]\nabout", 1);
    let suite = Suite::from_toml(&listed(TEXT)).unwrap();
    assert_eq!(suite.compressible_too, ["reads", "mail"]);
    for (text, says) in [
        (TEXT.replacen("bs = \"4KiB\"", "bs = \"4KiB\"\ndata = \"2.7:1\"", 1), "reads, whose data is of one kind"),
        (TEXT.replacen("threads = 2", "method = \"process-per-operation\"", 1), "mail, whose data is of one kind"),
        (TEXT.replacen("name = \"reads\"", "name = \"mail-compressible\"", 1), "no workload has that"),
    ] {
        let said = Suite::from_toml(&listed(&text)).expect_err(says).in_file("s.toml");
        assert!(said.starts_with("s.toml:2: compressible_too") && said.contains(says), "{said}");
    }
    let taken = TEXT.replacen("name = \"reads\"", "name = \"mail-compressible\"", 1);
    let said =
        Suite::from_toml(&taken.replacen("about", "compressible_too = [\"mail\"]\nabout", 1)).expect_err("taken");
    assert!(said.what.contains("mail-compressible is the name of mail with other data"), "{said}");
}

/// A slip: what is written, what instead of it, the line that is told and what is said of it.
type Slip = (&'static str, &'static str, u32, &'static [&'static str]);

const SLIPS: &[Slip] = &[
    // Keys.
    (
        "operation = \"create\"",
        "opperation = \"create\"",
        20,
        &["workload mail, step 1", "`opperation`", "did you mean `operation`?", "files, first"],
    ),
    ("count = 10\n", "cuont = 10\n", 17, &["workload mail, set logs", "did you mean `count`?", "fan_out"]),
    ("threads = 2", "thread = 2", 8, &["workload mail", "did you mean `threads`?", "sharing"]),
    ("about = ", "abuot = ", 2, &["did you mean `about`?", "budget_seconds"]),
    ("bs = \"4KiB\"", "bananas = 1", 35, &["workload reads", "`bananas`; docs/suites.md lists the keys"]),
    ("bs = \"4KiB\"", "bz = \"4KiB\"", 35, &["workload reads", "did you mean `bs`?"]),
    ("from = \"1KiB\"", "form = \"1KiB\"", 13, &["set spool", "`size.form` (did you mean `from`?)", "from, to"]),
    // Words.
    (
        "\"unlink\"",
        "\"unlinkk\"",
        26,
        &[
            "workload mail, step expire",
            "`operation` is \"unlinkk\" (did you mean \"unlink\"?)",
            "one of create, write",
        ],
    ),
    ("\"each\"", "\"sometimes\"", 22, &["step 1: `sync` is \"sometimes\"", "none, each, end"]),
    (
        "\"operations\"",
        "\"operation\"",
        7,
        &["workload mail", "did you mean \"operations\"?", "io, small-files, operations"],
    ),
    ("\"randread\"", "\"sideways\"", 34, &["workload reads", "`rw` is \"sideways\"", "randrw"]),
    // Types and ranges.
    (
        "threads = 2",
        "threads = \"two\"",
        8,
        &["`threads` is the text \"two\"; it takes a whole number from 0 to 4294967295"],
    ),
    ("threads = 2", "threads = -2", 8, &["`threads` is -2"]),
    ("threads = 2", "threads = 2.5", 8, &["`threads` is a number with a fraction"]),
    ("count = 100", "count = [1]", 28, &["step expire: `count` is a list; it takes a whole number from 0 on"]),
    ("files = \"spool\"\nsync", "files = 3\nsync", 21, &["step 1: `files` is 3; it takes a text in quotes"]),
    (
        "count = 10\n",
        "count = 10\npopulate = \"yes\"\n",
        18,
        &["set logs: `populate` is the text \"yes\"; it takes true or false"],
    ),
    (
        "\"64KiB\"",
        "\"64 bananas\"",
        13,
        &["set spool: `size.to` is the text \"64 bananas\"; it takes a size such as \"4KiB\""],
    ),
    (
        "{ from = \"1KiB\", to = \"64KiB\" }",
        "true",
        13,
        &["`size` is a truth value", "a size such as", "a table of from and to", "a list"],
    ),
    (
        "{ from = \"1KiB\", to = \"64KiB\" }",
        "[\"1KiB\", true]",
        13,
        &["set spool: `size` is a truth value; it takes a size such as"],
    ),
    ("{ from = \"1KiB\", to = \"64KiB\" }", "[{ size = \"1KiB\", wieght = 1 }]", 13, &["did you mean `weight`?"]),
    ("\"4KiB\"", "true", 35, &["workload reads: `bs` is a truth value"]),
    ("[[workload.files]]", "[workload.filez]\n[[workload.files]]", 10, &["did you mean `files`?"]),
    // What is missing.
    (
        "operation = \"create\"\n",
        "",
        19,
        &["workload mail, step 1: the key `operation` is missing; set it to one of create, write"],
    ),
    ("files = \"spool\"\ncount", "count", 24, &["step expire: the key `files` is missing"]),
    ("name = \"logs\"\n", "", 15, &["workload mail, set 2: the key `name` is missing"]),
    ("kind = \"operations\"\n", "", 4, &["workload mail: the key `kind` is missing"]),
    ("title = \"reads\"\n", "", 30, &["workload reads: the key `title` is missing"]),
    ("size = \"1MiB\"\n", "", 30, &["workload reads: the key `size` is missing; set it to a size"]),
    ("about = \"a test\"\n", "", 1, &["the key `about` is missing"]),
    // What keys mean together.
    (
        "files = \"spool\"\nsync",
        "files = \"spol\"\nsync",
        21,
        &["step create works on files = \"spol\"", "(did you mean \"spool\"?); the sets are \"spool\", \"logs\""],
    ),
    ("count = 100", "count = 201", 24, &["step expire works on files 0 to 200 and set spool has 200"]),
    ("\"64KiB\"", "\"1KB\"", 10, &["set spool: size goes from 1KiB to 1000B; exchange the two"]),
    ("threads = 2", "threads = 0", 8, &["threads must lie between 1 and 1024"]),
    ("name = \"logs\"", "name = \"spool\"", 16, &["two sets are named \"spool\""]),
    ("name = \"reads\"", "name = \"mail\"", 31, &["two workloads are named mail"]),
    ("bs = \"4KiB\"", "bs = \"0\"", 35, &["workload reads: bs must"]),
    // Lists of workloads.
    (
        "about = \"a test\"",
        "about = \"a test\"\nmost_telling = [\"mial\"]",
        3,
        &["most_telling lists `mial`", "did you mean \"mail\"?"],
    ),
    ("about = \"a test\"", "compressible_too = [\"red\"]\nabout = \"a test\"", 2, &["compressible_too lists `red`"]),
    // TOML itself.
    ("threads = 2", "threads = ", 8, &[""]),
];

#[test]
fn every_slip_is_told_with_its_line_its_key_and_what_is_allowed() {
    for &(from, to, line, says) in SLIPS {
        let said = mistake(from, to);
        assert!(said.starts_with(&format!("s.toml:{line}: ")), "{to}: line {line} is expected in\n{said}");
        for part in says {
            assert!(said.contains(part), "{to}: `{part}` is missing in\n{said}");
        }
    }
}

#[test]
fn rows_in_one_line_know_their_line_too() {
    let text = "name = \"t\"\nabout = \"a\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"operations\"\n\
                files = [{ name = \"a\", count = 3 }]\nstep = [\n  { operation = \"create\", files = \"a\" },\n  \
                { operation = \"creat\", files = \"a\" },\n]\n";
    let said = Suite::from_toml(text).unwrap_err().in_file("s.toml");
    assert!(
        said.starts_with("s.toml:10: workload w, step 2: `operation` is \"creat\" (did you mean \"create\"?)"),
        "{said}"
    );
    let said = Suite::from_toml(&text.replace("\"creat\"", "\"create\"")).unwrap_err().in_file("s.toml");
    assert!(
        said.starts_with("s.toml:10: workload w: step create 2 makes files 0 to 2 of a, which step create"),
        "{said}"
    );
    for (text, says) in [
        ("workload = 3", "s.toml:3: `workload` is 3; it takes a list"),
        ("workload = [3]", "s.toml:3: workload 1 is 3; write a [[workload]] table"),
        ("workload = []", "s.toml:1: the suite lists no workload"),
    ] {
        let said = Suite::from_toml(&format!("name = \"t\"\nabout = \"a\"\n{text}")).unwrap_err().in_file("s.toml");
        assert!(said.starts_with(says), "{said}");
    }
}

#[test]
fn what_an_article_did_is_held_against_the_same_keys() {
    for (changes, line, says) in [
        ("thraeds = 3", 31, "workload mail, as_published: there is no key `thraeds` (did you mean `threads`?)"),
        (
            "files = [{ name = \"spool\", cuont = 3 }]",
            31,
            "workload mail, as_published, set spool: there is no key `cuont`",
        ),
        ("name = \"x\"", 31, "workload mail: as_published cannot change name"),
        ("threads = 0", 30, "workload mail: as_published: threads must lie"),
    ] {
        let text = TEXT.replacen(
            "\n[[workload]]\nname = \"reads\"",
            &format!("\n[workload.as_published]\n{changes}\n\n[[workload]]\nname = \"reads\""),
            1,
        );
        let said = Suite::from_toml(&text).unwrap_err().in_file("s.toml");
        assert!(said.starts_with(&format!("s.toml:{line}: {says}")), "{said}");
    }
}

#[test]
fn a_value_that_only_its_reader_understands_has_a_line_as_well() {
    let said = mistake("bs = \"4KiB\"", "bs = \"4KiB\"\nrandom_distribution = \"zipf:many\"");
    assert!(said.starts_with("s.toml:36: workload reads"), "{said}");
    assert!(said.contains("random_distribution") || said.contains("zipf"), "{said}");
}

#[test]
fn a_table_without_a_text_is_told_without_a_line() {
    let table: toml::Table =
        toml::from_str("name = \"w\"\ntitle = \"w\"\nkind = \"small-files\"\nfiles = \"x\"\nsize = \"1KiB\"").unwrap();
    let said = check_table(&table).unwrap_err();
    assert_eq!(said, "workload w: `files` is the text \"x\"; it takes a whole number from 0 on");
}

#[test]
fn a_suite_of_more_workloads_than_a_race_takes_is_refused_at_once() {
    let many = "[[workload]]\n".repeat(1001);
    let said = Suite::from_toml(&format!("name = \"t\"\nabout = \"a\"\n{many}")).unwrap_err().in_file("s.toml");
    assert!(said.contains("lists 1001 workloads, and no race takes more than 1000"), "{said}");
}
