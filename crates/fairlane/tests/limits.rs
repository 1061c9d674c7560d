//! What limited a result, on real filesystems: the engine, the page cache. The device's own limit is
//! shown in `throttle.rs`.

mod common;

use common::{Place, root};

const SUITE: &str = r#"
name = "limits"
about = "a test"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "engine"
title = "the engine alone"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "16MiB"
ioengine = "null"
direct = false
slices = 3
slice_seconds = 0.2

[[workload]]
name = "reread"
title = "a buffered read, again and again"
kind = "io"
rw = "read"
bs = "64KiB"
size = "16MiB"
ioengine = "sync"
direct = false
slices = 3
slice_seconds = 0.3
"#;

#[test]
fn the_engine_and_the_page_cache_are_not_taken_for_the_filesystem() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.path().join("limits.toml");
    std::fs::write(&suite, SUITE).unwrap();
    let suite = suite.to_string_lossy();
    let arguments = ["race", "ext4", "xfs", "--suite", &suite, "--lane-size", "320MiB", "--rounds", "2", "--quiet"];
    place.expect(0, &arguments);
    let (json, _) = place.expect(0, &["report", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let limit = |workload: &str| {
        let results = found["results"].as_array().unwrap();
        results.iter().find(|result| result["workload"] == workload).unwrap_or_else(|| panic!("{workload}: {found:#}"))
    };
    let engine = limit("engine");
    assert_eq!(engine["limit"], "harness", "{engine:#}");
    assert!(engine["limit_reason"].as_str().unwrap().contains("the engine was measured"), "{engine:#}");
    assert_eq!(engine["pairs"][0]["verdict"], "none", "{engine:#}");
    let reread = limit("reread");
    assert_eq!(reread["limit"], "cache", "{reread:#}");
    assert!(reread["limit_reason"].as_str().unwrap().contains("the page cache answered"), "{reread:#}");
    place.assert_nothing_left();
}
