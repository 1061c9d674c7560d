//! The dashboard's server as a real process: what it answers, whom it turns away, and that it only reads.

use crate::common;
use crate::server;

use common::{Place, assert_one_sentence};
use model::page::{Comparisons, Language, RacePage, RecordList, Trend};
use rustix::process::Signal;
use server::Server;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const RECORD: &str = include_str!("fixtures/schema1.jsonl");

/// A folder with two records, the second one begun later; `--records` and its path.
fn kept(place: &Place) -> PathBuf {
    let folder = place.path().join("kept");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.jsonl"), RECORD).unwrap();
    let later = RECORD.replacen("2026-11-20T10:49:35Z", "2026-11-21T00:00:00Z", 1);
    assert_ne!(later, RECORD, "the fixture begins with its start");
    std::fs::write(folder.join("b.jsonl"), later).unwrap();
    folder
}

fn of_folder(place: &Place, folder: &Path) -> Server {
    Server::start(place, &["--records", folder.to_str().unwrap()])
}

/// A name as it stands in a path.
fn encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn every_path_answers_what_it_promises() {
    let place = Place::new();
    let folder = kept(&place);
    let server = of_folder(&place, &folder);
    assert_eq!(server.url, format!("http://{}/", server.host));

    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains(r#""show":{"kind":"dashboard"}"#), "{}", page.text());
    assert!(page.header("content-security-policy").unwrap().contains("connect-src 'self'"));
    let german = server.ask("GET", "/", &[("Host", &server.host), ("Accept-Language", "fr, de;q=0.8, en;q=0.5")]);
    assert!(german.text().contains(r#""language":"de""#), "{}", german.text());

    let list: RecordList = server.get("/api/records").json();
    let names: Vec<&str> = list.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["b.jsonl", "a.jsonl"], "newest first");
    let record = &list.records[1];
    assert_eq!((record.lanes.join(" ").as_str(), record.suite.as_str(), record.trials), ("ext4 xfs", "tiny", 12));
    assert_eq!((record.outcome.as_str(), record.kernel.as_str()), ("complete", "6.12.0-fixture"));
    assert!(record.machine.contains("Debian") && record.machine.contains("A processor"), "{}", record.machine);
    assert!(list.unreadable.is_empty());
    // What trends there are is known without a record's page.
    let raced: Vec<_> = record.workloads.iter().map(|of| (of.name.as_str(), of.groups.join(" "))).collect();
    let groups = ["write", "read", "create read delete"].map(str::to_owned);
    let names = ["commit", "random-read", "small-files"];
    assert_eq!(raced, names.into_iter().zip(groups).collect::<Vec<_>>());
    assert_eq!(record.workloads[0].title, "commit 4 KiB");

    let race: RacePage = server.get("/api/race/a.jsonl").json();
    assert_eq!(race.findings.lanes.len(), 2);
    assert!(race.record.is_some_and(|path| path.ends_with("kept/a.jsonl")));
    // The same page as `report --format html` writes: rounds, trials, and what is said in every language.
    let rounds = race.details.iter().flat_map(|of| &of.lanes).map(|lane| lane.rounds.len());
    assert!(race.details.len() == race.findings.results.len() && rounds.min() == Some(2));
    assert_eq!((race.trials.in_all, race.trials.round.len()), (20, 20));
    let english: &str = &race.findings.results[0].limit_reason;
    assert!(race.sentences[&Language::De].get(english).is_some_and(|german| german != english), "{english}");
    let raw = server.get("/api/race/a.jsonl/record");
    assert_eq!((raw.status, raw.header("content-type")), (200, Some("application/x-ndjson")));
    assert_eq!(raw.header("content-disposition"), Some("attachment; filename=\"a.jsonl\""));
    assert!(raw.body == RECORD.as_bytes());

    let compared: Comparisons = server.get("/api/compare?a=a.jsonl&b=b.jsonl&b=a.jsonl&b=b.jsonl").json();
    assert_eq!(compared.comparisons.len(), 2, "the same is compared once");
    let rows = &compared.comparisons[0].rows;
    assert!(!rows.is_empty() && rows.iter().all(|row| (row.ratio - 1.0).abs() < 1e-9), "{rows:?}");

    let trend: Trend = server.get("/api/trend?workload=small-files&group=create").json();
    let points: Vec<_> = trend.points.iter().map(|point| (point.record.as_str(), point.lane.as_str())).collect();
    assert_eq!(points, [("a.jsonl", "ext4"), ("a.jsonl", "xfs"), ("b.jsonl", "ext4"), ("b.jsonl", "xfs")]);
    let one: Trend = server.get("/api/trend?workload=small-files&group=create&lane=xfs").json();
    assert!(one.points.len() == 2 && one.points.iter().all(|point| point.lane == "xfs"));

    // HEAD says the same without a body.
    let head = server.ask("HEAD", "/api/race/a.jsonl/record", &[("Host", &server.host)]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(RECORD.len().to_string().as_str()));
}

#[test]
fn what_is_not_there_or_not_asked_rightly_gets_one_sentence() {
    let place = Place::new();
    let folder = kept(&place);
    std::fs::write(folder.join("damaged.jsonl"), RECORD.replacen("{\"kind\":\"trial\"", "{\"kind\":tri", 1)).unwrap();
    std::fs::write(folder.join("other.jsonl"), "{\"kind\":\"shopping list\"}\n").unwrap();
    std::fs::write(folder.join("notes.txt"), "no record").unwrap();
    std::fs::write(folder.join("cuts.jsonl"), "{\"kind\":\"durability\",\"schema\":1}\n{\"kind\":\"cuts\"}\n").unwrap();
    let server = of_folder(&place, &folder);
    for (path, status, says) in [
        ("/nothing", 404, "/"),
        ("/api/race/none.jsonl", 404, "none.jsonl"),
        ("/api/race/notes.txt", 404, "notes.txt"),
        ("/api/race/none.jsonl/record", 404, "none.jsonl"),
        ("/api/race/%ff.jsonl", 404, "UTF-8"),
        ("/api/race/damaged.jsonl", 422, "damaged"),
        ("/api/race/other.jsonl", 422, "no record"),
        ("/api/race/cuts.jsonl", 422, "power cuts or damage, not of a race"),
        ("/api/compare?a=a.jsonl&b=cuts.jsonl", 422, "power cuts or damage, not of a race"),
        ("/api/compare", 400, "`a`"),
        ("/api/compare?a=a.jsonl", 400, "`b`"),
        ("/api/compare?a=a.jsonl&a=b.jsonl&b=a.jsonl", 400, "`a`"),
        ("/api/compare?a=a.jsonl&b=none.jsonl", 404, "none.jsonl"),
        ("/api/trend?workload=small-files", 400, "group"),
        ("/api/trend?workload=small-files&group=%3Cscript%3E", 404, "<script>"),
    ] {
        let said = server.get(path).refusal(status);
        assert!(said.contains(says), "{path}: {said}");
    }
    let list: RecordList = server.get("/api/records").json();
    assert_eq!(list.records.len(), 2);
    assert_eq!(list.unreadable.len(), 3, "{:?}", list.unreadable);
    assert!(list.unreadable.iter().any(|said| said.starts_with("damaged.jsonl: line ")), "{:?}", list.unreadable);
}

#[test]
fn names_are_text_and_lead_nowhere_outside_of_the_folder() {
    let place = Place::new();
    let folder = kept(&place);
    let secret = RECORD.replacen("\"suite\":\"tiny\"", "\"suite\":\"secret\"", 1);
    assert_ne!(secret, RECORD);
    std::fs::write(place.path().join("outside.jsonl"), &secret).unwrap();
    std::fs::create_dir(folder.join("folder.jsonl")).unwrap();
    std::fs::write(folder.join("folder.jsonl/inner.jsonl"), &secret).unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link(Path::new("../outside.jsonl"), "out.jsonl");
    link(&place.path().join("outside.jsonl"), "absolute.jsonl");
    link(Path::new("/proc/self/environ"), "environ.jsonl");
    link(Path::new("loop.jsonl"), "loop.jsonl");
    link(Path::new("a.jsonl"), "inside.jsonl");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("pipe.jsonl"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let server = of_folder(&place, &folder);
    let outside = place.path().join("outside.jsonl");
    let hostile = [
        "..%2foutside.jsonl".to_owned(),
        "%2e%2e%2foutside.jsonl".to_owned(),
        "%2e%2e/outside.jsonl".to_owned(),
        "../outside.jsonl".to_owned(),
        "..%5coutside.jsonl".to_owned(),
        "%252e%252e%252foutside.jsonl".to_owned(),
        "./a.jsonl".to_owned(),
        ".%2fa.jsonl".to_owned(),
        "folder.jsonl".to_owned(),
        "folder.jsonl%2finner.jsonl".to_owned(),
        "folder.jsonl/inner.jsonl".to_owned(),
        "a.jsonl%00".to_owned(),
        "%00.jsonl".to_owned(),
        "..%00.jsonl".to_owned(),
        "..%2foutside.jsonl%00.jsonl".to_owned(),
        "..".to_owned(),
        ".".to_owned(),
        String::new(),
        ".jsonl".to_owned(),
        "a.jsonl%20".to_owned(),
        "a.jsonl%2f".to_owned(),
        "out.jsonl".to_owned(),
        "absolute.jsonl".to_owned(),
        "environ.jsonl".to_owned(),
        "loop.jsonl".to_owned(),
        "pipe.jsonl".to_owned(),
        encoded(outside.to_str().unwrap()),
        encoded("/etc/passwd"),
        format!("{}.jsonl", "x".repeat(4000)),
    ];
    for name in &hostile {
        for path in [format!("/api/race/{name}"), format!("/api/race/{name}/record")] {
            let said = server.get(&path).refusal(404);
            assert!(!said.contains("secret") && said.len() < 1000, "{path}: {said}");
        }
        let said = server.get(&format!("/api/compare?a=a.jsonl&b={name}"));
        assert!(said.status == 404, "{name}: {}", said.text());
    }
    assert_eq!(server.get("/api/race/inside.jsonl").status, 200, "a link within the folder is a record of it");
    let list: RecordList = server.get("/api/records").json();
    assert_eq!(list.records.len(), 3);
    let reasons = list.unreadable.join("\n");
    assert_eq!(list.unreadable.len(), 6, "{reasons}");
    assert!(reasons.contains("out.jsonl: it is a link that leads out of the folder"), "{reasons}");
    assert!(reasons.contains("pipe.jsonl: it is no file"), "{reasons}");
    assert!(list.records.iter().all(|record| record.suite != "secret"));
}

#[test]
fn any_name_that_a_file_may_have_is_asked_for_as_it_is_listed() {
    let place = Place::new();
    let folder = kept(&place);
    let names = [
        "<script>alert(1)</script>\"'&.jsonl".replace('/', "_"),
        "\u{202e}turned \u{200b}%2e%2e.jsonl".to_owned(),
        "line\nbreak \\ ?#;.jsonl".to_owned(),
        format!("{}.jsonl", "名".repeat(80)),
        "..jsonl".to_owned(),
    ];
    for name in &names {
        std::fs::write(folder.join(name), RECORD).unwrap();
    }
    std::fs::write(folder.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.jsonl")), RECORD).unwrap();
    let server = of_folder(&place, &folder);
    let list: RecordList = server.get("/api/records").json();
    assert_eq!(list.unreadable.len(), 1, "{:?}", list.unreadable);
    for name in &names {
        assert!(list.records.iter().any(|record| record.name == *name), "{name:?}");
        let race: RacePage = server.get(&format!("/api/race/{}", encoded(name))).json();
        assert_eq!(race.findings.suite, "tiny");
        let raw = server.get(&format!("/api/race/{}/record", encoded(name)));
        let saved = raw.header("content-disposition").unwrap().strip_prefix("attachment; filename=\"").unwrap();
        let saved = saved.strip_suffix('"').unwrap();
        assert!(saved.chars().all(|of| of.is_ascii_alphanumeric() || "-._".contains(of)), "{saved}");
    }
}

#[test]
fn other_sites_other_methods_and_other_names_of_the_machine_are_turned_away() {
    let place = Place::new();
    let server = of_folder(&place, &kept(&place));
    let host = server.host.as_str();
    let port = host.rsplit(':').next().unwrap();
    let own = format!("http://{host}");
    assert_eq!(server.ask("GET", "/api/records", &[("Host", host), ("Origin", &own)]).status, 200);
    assert_eq!(server.ask("GET", "/api/records", &[("Host", &format!("localhost:{port}"))]).status, 200);
    let rebound = format!("evil.example:{port}");
    for path in ["/", "/api/records", "/api/race/a.jsonl", "/api/race/a.jsonl/record", "/api/live", "/nothing"] {
        let said = server.ask("GET", path, &[("Host", &rebound)]).refusal(403);
        assert!(said.contains(host), "{said}");
        server.ask("GET", path, &[("Host", "127.0.0.1")]).refusal(403);
        server.ask("GET", path, &[]).refusal(403);
        server.ask("GET", path, &[("Host", host), ("Origin", "http://evil.example")]).refusal(403);
        server.ask("GET", path, &[("Host", host), ("Origin", "null")]).refusal(403);
        // As the browser asks for an image on a page of another site, or of another port.
        for site in ["cross-site", "same-site"] {
            server.ask("GET", path, &[("Host", host), ("Sec-Fetch-Site", site)]).refusal(403);
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"] {
            let answer = server.ask(method, path, &[("Host", host), ("Content-Length", "0")]);
            answer.refusal(405);
            assert_eq!(answer.header("allow"), Some("GET, HEAD"));
        }
    }
    let from = |path: &str, site: &str| {
        let headers = [("Host", host), ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")];
        server.ask("GET", path, &headers)
    };
    assert_eq!(from("/", "cross-site").status, 200, "a link to the dashboard may be followed");
    from("/api/records", "cross-site").refusal(403);
    assert_eq!(from("/api/records", "same-origin").status, 200);
    assert_eq!(from("/api/race/a.jsonl/record", "none").status, 200, "typed by the user");
    let answers = [
        server.get("/"),
        server.get("/api/records"),
        server.get("/api/race/a.jsonl/record"),
        server.get("/nothing"),
        server.ask("OPTIONS", "/", &[("Host", host), ("Origin", &own)]),
        server.ask("GET", "/", &[("Host", &rebound)]),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")), "{:?}", answer.headers);
    }
}

#[test]
fn a_token_guards_every_path_and_other_addresses_are_not_served_without_one() {
    let place = Place::new();
    let folder = kept(&place);
    let records = ["--records", folder.to_str().unwrap()];
    let server = Server::start(&place, &[&records[..], &["--listen", "0.0.0.0:0", "--token", "auto"]].concat());
    let (_, token) = server.url.split_once("/?token=").expect("the URL carries the token");
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    for path in ["/", "/api/records", "/api/live", "/nothing"] {
        let answer = server.get(path);
        answer.refusal(401);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        server.get(&format!("{path}?token={}", "0".repeat(32))).refusal(401);
        server.get(&format!("{path}?token={}", &token[..31])).refusal(401);
    }
    assert_eq!(server.get(&format!("/?token={token}")).status, 200);
    let bearer = format!("Bearer {token}");
    let host = server.host.as_str();
    assert_eq!(server.ask("GET", "/api/records", &[("Host", host), ("Authorization", &bearer)]).status, 200);
    // The token does not open the door for other sites.
    let headers = [("Host", host), ("Authorization", bearer.as_str()), ("Origin", "http://evil.example")];
    server.ask("GET", "/api/records", &headers).refusal(403);
    let (status, said) = server.end(Signal::TERM);
    assert!(status.success() && said.contains("nothing on the way is encrypted"), "{said}");

    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7171"] {
        let (_, err) = place.expect(2, &["serve", "--listen", address]);
        assert_one_sentence(&err, &["without a token", "--token auto"]);
    }
    for (option, value, says) in [
        ("--token", "short", "16 to 256"),
        ("--token", "0123456789abcde&f", "16 to 256"),
        ("--listen", "example.org:80", "127.0.0.1:7171"),
        ("--listen", "7171", "127.0.0.1:7171"),
        ("--lang", "tlh", "en, zh or de"),
        ("--records", "no-such-folder", "no-such-folder"),
    ] {
        let (out, err) = place.expect(2, &["serve", option, value]);
        assert_one_sentence(&err, &[says]);
        assert!(out.is_empty());
    }
    // An address of documentation (RFC 5737): no machine has it.
    let (_, err) = place.expect(1, &["serve", "--listen", "192.0.2.1:7171", "--token", "auto"]);
    assert_one_sentence(&err, &["no address 192.0.2.1"]);
}

#[test]
fn a_second_server_on_the_port_says_so_and_the_first_ends_when_asked() {
    let place = Place::new();
    let server = of_folder(&place, &kept(&place));
    let (_, err) = place.expect(1, &["serve", "--listen", &server.host]);
    assert_one_sentence(&err, &[&server.host, "--listen 127.0.0.1:0"]);
    let mut watch = server.watch();
    assert!(watch.next().is_some());
    let (status, said) = server.end(Signal::INT);
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.is_empty(), "{said}");
    assert!(watch.next().is_none(), "the stream ended in order");
}

#[test]
fn slow_greedy_and_senseless_clients_do_not_keep_others_from_their_answers() {
    let place = Place::new();
    let server = of_folder(&place, &kept(&place));
    // As many as are answered at once, less one: silent, and in the middle of a head.
    let mut slow: Vec<_> = (0..63).map(|_| server.connect()).collect();
    for stream in slow.iter_mut().step_by(2) {
        stream.write_all(b"GET /api/records HTTP/1.1\r\nHost: ").unwrap();
    }
    assert_eq!(server.get("/api/records").status, 200);
    // Then one more than there is room for: its turn comes when the slow ones are given up.
    slow.push(server.connect());
    assert_eq!(server.get("/api/records").status, 200);
    for stream in &mut slow {
        let mut rest = Vec::new();
        // Closed with or without a word, and not left open.
        let _ = stream.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    }
    let long = "x".repeat(64 << 10);
    assert_eq!(server.ask("GET", "/", &[("Host", &server.host), ("X-Long", &long)]).status, 431);
    for senseless in [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"\r\n\r\n\r\n\r\n", b"GET\r\n\r\n"] {
        let mut stream = server.connect();
        stream.write_all(senseless).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_eq!(server.get("/api/records").status, 200);

    let mut watches: Vec<_> = (0..16).map(|_| server.watch()).collect();
    for watch in &mut watches {
        assert!(watch.next().is_some());
    }
    let said = server.get("/api/live").refusal(503);
    assert!(said.contains("close one"), "{said}");
    assert_eq!(server.get("/api/records").status, 200);
}

/// Path, bytes, time of the last change, inode and mode of a file.
type Entry = (PathBuf, u64, (i64, i64), u64, u32);

/// Every file below: path, length, time of writing, inode, mode.
fn everything(folder: &Path) -> Vec<Entry> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let of = entry.metadata().unwrap();
        all.push((entry.path(), of.len(), (of.mtime(), of.mtime_nsec()), of.ino(), of.mode()));
        if of.is_dir() {
            all.extend(everything(&entry.path()));
        }
    }
    all.sort();
    all
}

#[test]
fn it_writes_nothing_anywhere_and_undoes_nothing() {
    let place = Place::new();
    let folder = kept(&place);
    // What another command would clean up at once: a journal whose owner is dead.
    let journal = "{\"entry\":\"owner\",\"run_id\":\"0-1\",\"pid\":1,\"start_ticks\":1,\"boot_id\":\"another\"}\n";
    std::fs::write(place.path().join("undo/0-1.jsonl"), journal).unwrap();
    let before = everything(place.path());
    let server = of_folder(&place, &folder);
    for path in [
        "/",
        "/api/records",
        "/api/race/a.jsonl",
        "/api/race/a.jsonl/record",
        "/api/race/b.jsonl",
        "/api/compare?a=a.jsonl&b=b.jsonl",
        "/api/trend?workload=commit&group=write",
        "/api/race/none.jsonl",
    ] {
        assert!(server.get(path).status < 500, "{path}");
    }
    assert!(server.watch().next().is_some());
    assert!(server.end(Signal::INT).0.success());
    assert_eq!(everything(place.path()), before);

    // Its default folder is not even made.
    let server = Server::start(&place, &[]);
    let list: RecordList = server.get("/api/records").json();
    assert!(list.records.is_empty() && list.unreadable.is_empty());
    server.get("/api/race/a.jsonl").refusal(404);
    assert!(server.end(Signal::INT).0.success());
    assert_eq!(everything(place.path()), before);
}

#[test]
fn a_record_that_changed_is_read_again_and_one_that_grew_is_read_on() {
    let place = Place::new();
    let folder = kept(&place);
    let path = folder.join("grows.jsonl");
    let lines: Vec<&str> = RECORD.lines().collect();
    let write = |count: usize, rest: &str| std::fs::write(&path, lines[..count].join("\n") + "\n" + rest).unwrap();
    let append = |text: &str| {
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    };
    let server = of_folder(&place, &folder);
    let entry = || {
        let list: RecordList = server.get("/api/records").json();
        let entry = list.records.into_iter().find(|record| record.name == "grows.jsonl");
        entry.map(|entry| (entry.trials as usize, entry.outcome))
    };
    let trials = |count: usize| lines[..count].iter().filter(|line| line.starts_with("{\"kind\":\"trial\"")).count();
    let all = lines.len();
    write(all - 3, "{\"kind\":\"trial\",\"torn");
    assert_eq!(entry(), Some((trials(all - 3), "unfinished".to_owned())));
    let race: RacePage = server.get("/api/race/grows.jsonl").json();
    assert_eq!(race.findings.outcome, "unfinished");
    // The torn line is cut off and the race goes on, as `race --resume` does.
    write(all - 3, "");
    append(&format!("{}\n{}", lines[all - 3], &lines[all - 2][..40]));
    assert_eq!(entry(), Some((trials(all - 2), "unfinished".to_owned())));
    append(&format!("{}\n{}\n", &lines[all - 2][40..], lines[all - 1]));
    assert_eq!(entry(), Some((12, "complete".to_owned())));
    let race: RacePage = server.get("/api/race/grows.jsonl").json();
    assert_eq!(race.findings.outcome, "complete");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(entry(), None);
    server.get("/api/race/grows.jsonl").refusal(404);
}
