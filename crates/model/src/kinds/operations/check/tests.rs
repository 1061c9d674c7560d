use super::*;

fn read(sets: &str, steps: &str) -> Result<Operations, String> {
    let operations: Operations =
        toml::from_str(&format!("files = [{sets}]\nstep = [{steps}]")).map_err(|error| error.to_string())?;
    operations.check().map(|()| operations)
}

const SET: &str = "{ name = \"a\", count = 100, directories = 10, size = \"1KiB\" }";
const CREATE: &str = "{ operation = \"create\", files = \"a\" }";

#[test]
fn what_is_wrong_with_a_set_is_said_with_the_remedy() {
    assert!(read(SET, CREATE).is_ok());
    for (from, to, says) in [
        ("count = 100", "count = 5", "5 files cannot fill 10 directories"),
        ("count = 100", "count = 200000000", "count is above 100000000"),
        ("directories = 10", "directories = 0", "directories must lie"),
        ("directories = 10", "directories = 90, fan_out = 0, name_bytes = 9", "name_bytes must lie"),
        ("directories = 10", "directories = 10, name_bytes = 256", "name_bytes must lie"),
        ("count = 100, directories = 10", "count = 1000, directories = 1000, fan_out = 1", "raise fan_out"),
        ("\"1KiB\"", "{ from = \"2KiB\", to = \"1KiB\" }", "exchange the two"),
        ("\"1KiB\"", "[]", "lists 0 sizes"),
        ("\"1KiB\"", "[{ size = \"1KiB\", weight = -1 }]", "weights must be"),
        ("\"1KiB\"", "[{ size = \"1KiB\", weight = nan }]", "weights must be"),
        ("\"1KiB\"", "\"2TiB\"", "size is above 1TiB"),
        ("\"1KiB\"", "\"1KiB\", folder = \"a/b\"", "without a slash"),
        ("name = \"a\"", "name = \"\"", "name is empty"),
        ("count = 100", "populate = true", "populates nothing, because count is 0; give it a count or leave"),
    ] {
        let set = SET.replace(from, to);
        assert_ne!(set, SET);
        let error = read(&set, CREATE).expect_err(to);
        assert!(error.contains(says), "{to}: {error}");
    }
    let twice = format!("{SET}, {SET}");
    assert!(read(&twice, CREATE).unwrap_err().contains("two sets are named"));
    let shared = ["a", "b"].map(|name| SET.replace("\"a\"", &format!("\"{name}\", folder = \"f\""))).join(", ");
    assert!(read(&shared, CREATE).unwrap_err().contains("shared"));
    let many = "{ name = \"a\", folder = \"f\", count = 20000000 }, { name = \"b\", folder = \"f\" }";
    assert!(read(many, CREATE).unwrap_err().contains("raise name_bytes"));
}

#[test]
fn what_is_wrong_with_a_step_is_said_with_the_remedy() {
    for (step, says) in [
        ("operation = \"create\", files = \"b\"", "no set has that name; the sets are \"a\""),
        ("operation = \"create\", files = \"a\", first = 100", "file 100 and set a has 100"),
        ("operation = \"create\", files = \"a\", first = 50, count = 51", "files 50 to 100 and set a has 100"),
        ("operation = \"mkdir\", files = \"a\", count = 11", "directories 0 to 10 and set a has 10"),
        ("operation = \"create\", files = \"a\", count = 0", "does nothing"),
        ("operation = \"create\", files = \"a\", block = \"0\"", "block is 0"),
        ("operation = \"create\", files = \"a\", block = \"65MiB\"", "block is above 64MiB"),
        ("operation = \"random-read\", files = \"a\", block = \"512\"", "set count"),
        ("operation = \"random-read\", files = \"a\", count = 5", "block is missing"),
        ("operation = \"stat\", files = \"a\", sync = \"each\"", "nothing to sync"),
        ("operation = \"stat\", files = \"a\"", "no step has made"),
    ] {
        let error = read(SET, &format!("{{ {step} }}")).expect_err(step);
        assert!(error.contains(says), "{step}: {error}");
    }
    let named = CREATE.replace("{ ", "{ name = \"x\", ");
    assert!(read(SET, &format!("{named}, {named}")).unwrap_err().contains("two steps are named x"));
    let one = "{ name = \"a\", count = 5, size = \"1KiB\", folder = \"f\" }, { name = \"b\", folder = \"f\" }";
    for (step, says) in [
        ("operation = \"rename-across\"", "second directory"),
        ("operation = \"remove-tree\"", "other sets share"),
        ("operation = \"random-write\", count = 3, block = \"2KiB\"", "may have 1KiB; lower block"),
    ] {
        let error = read(one, &format!("{CREATE}, {{ {step}, files = \"a\" }}")).expect_err(step);
        assert!(error.contains(says), "{step}: {error}");
    }
    assert!(read(SET, "").unwrap_err().contains("no step"));
    assert!(read("", CREATE).unwrap_err().contains("no set of files"));
}

#[test]
fn threads_hold_no_more_buffers_than_a_machine_has_memory_for() {
    let of = |threads: u32, size: &str, block: &str| {
        let operations: Operations = toml::from_str(&format!(
            "threads = {threads}\nfiles = [{{ name = \"a\", count = 2000, size = \"{size}\" }}]\n\
             step = [{{ operation = \"create\", files = \"a\", block = \"{block}\" }}]"
        ))
        .unwrap();
        operations.mistake()
    };
    let mistake = of(1024, "1GiB", "64MiB").unwrap();
    assert_eq!((mistake.at, mistake.key), (At::Workload, Some("threads")));
    assert_eq!(
        mistake.what,
        "1024 threads would hold 66560 MiB of buffers, more than the 2048 MiB that are allowed: step create moves \
         64MiB at once; lower threads or block"
    );
    assert!(of(31, "1GiB", "64MiB").is_none() && of(32, "1GiB", "64MiB").is_some());
    // Files that are smaller than a block need no buffer of a block.
    assert!(of(1024, "64KiB", "64MiB").is_none());
}

#[test]
fn impossible_orders_are_told_by_the_files_and_the_step_in_the_way() {
    let steps = |rows: &[&str]| {
        let step = |(index, row): (usize, &&str)| format!("{{ name = \"s{index}\", files = \"a\", {row} }}");
        rows.iter().enumerate().map(step).collect::<Vec<_>>().join(", ")
    };
    for (rows, says) in [
        (
            &["operation = \"create\"", "operation = \"unlink\", first = 50", "operation = \"unlink\""][..],
            "step s2 works on files 50 to 99 of a, which step s1 has removed",
        ),
        (&["operation = \"create\", count = 10", "operation = \"create\""], "files 0 to 9 of a, which step s0"),
        (&["operation = \"create\"", "operation = \"rmdir\""], "still hold files"),
        (
            &["operation = \"rmdir\", count = 3", "operation = \"create\""],
            "directories 0 to 2 of a, which step s0 has removed",
        ),
        (&["operation = \"create\"", "operation = \"mkdir\""], "put it behind the mkdir step"),
        (
            &["operation = \"mkdir\"", "operation = \"create\"", "operation = \"remove-tree\"", "operation = \"list\""],
            "which step s2 has removed",
        ),
        (&["operation = \"create\"", "operation = \"link\"", "operation = \"link\", first = 99"], "file 99"),
        (&["operation = \"create\"", "operation = \"getxattr\""], "no step has set"),
        (
            &[
                "operation = \"create\"",
                "operation = \"link\"",
                "operation = \"rename-across\"",
                "operation = \"remove-tree\", count = 5",
            ],
            "lie in others",
        ),
    ] {
        let error = read(SET, &steps(rows)).expect_err(says);
        assert!(error.contains(says), "{error}");
    }
    let possible = ["mkdir", "create", "rename", "rename-across", "unlink", "rmdir", "mkdir", "write", "remove-tree"];
    assert!(
        read(SET, &steps(&possible.map(|one| format!("operation = \"{one}\"")).each_ref().map(|row| &**row))).is_ok()
    );
    let tree = SET.replace("directories = 10", "directories = 10, fan_out = 2");
    let inner = steps(&["operation = \"rmdir\", count = 1"]);
    assert!(read(&tree, &inner).unwrap_err().contains("in which other directories lie"));
    let leaf = steps(&["operation = \"mkdir\", first = 6, count = 4", "operation = \"rmdir\", first = 0"]);
    assert!(read(&tree, &leaf).is_ok());
    let orphan = steps(&["operation = \"rmdir\"", "operation = \"mkdir\", first = 2"]);
    assert!(read(&tree, &orphan).unwrap_err().contains("directories 0 to 1 of a, which step s0 has removed"));
    // What is removed first is there from the beginning, and what is made first is not.
    let child = steps(&["operation = \"rmdir\", first = 4, count = 2", "operation = \"mkdir\", count = 6"]);
    let error = read(&tree, &child).unwrap_err();
    assert!(error.contains("directories 4 to 9 of a are there from the beginning and lie in director"), "{error}");
    let populated = SET.replace("count", "populate = true, count");
    assert!(read(&populated, &steps(&["operation = \"mkdir\""])).unwrap_err().contains("remove populate"));
}

#[test]
fn what_is_remembered_does_not_grow_with_the_number_of_files() {
    let sets = "{ name = \"a\", count = 100000000, directories = 1000 }";
    let steps = "{ operation = \"create\", files = \"a\" }, \
                 { operation = \"rename\", files = \"a\", first = 17, count = 30000000 }, \
                 { operation = \"unlink\", files = \"a\", first = 5 }";
    let operations = read(sets, steps).unwrap();
    let mut state = State::begin(&operations);
    for index in 0..3 {
        state.advance(&operations, index).unwrap();
        assert!(state.set(0).files.all().len() <= 3);
    }
    assert_eq!(state.set(0).files.all().len(), 2);
}
