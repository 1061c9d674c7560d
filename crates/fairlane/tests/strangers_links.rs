//! Under sudo, links, pipes and folders of a user lead root nowhere that he may not go himself.

use crate::common;
use crate::server;

use common::{Place, assert_one_sentence, root};
use server::Server;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Nobody's id.
const USER: u32 = 54321;

/// Root, called by a user who has a home; and what is root's alone.
struct Sudo {
    place: Place,
    home: PathBuf,
    secret: PathBuf,
}

impl Sudo {
    fn new() -> Sudo {
        let place = Place::new();
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let (home, secret) = (place.path().join("home"), place.path().join("secret"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&secret).unwrap();
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o700)).unwrap();
        fs::write(secret.join("payroll-2026.jsonl"), "TOPSECRET = [\n").unwrap();
        chown(&home, Some(USER), Some(USER)).unwrap();
        Sudo { place, home, secret }
    }

    fn fairlane(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.fairlane(arguments);
        command.current_dir(&self.home).env("XDG_STATE_HOME", self.home.join("state")).env_remove("SUDO_HOME");
        command.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string()).stdin(Stdio::null());
        command
    }

    /// What it says on both of its outputs, and its status.
    fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.fairlane(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    }

    fn of_user(&self, name: &str, make: impl FnOnce(&Path)) -> PathBuf {
        let path = self.home.join(name);
        make(&path);
        std::os::unix::fs::lchown(&path, Some(USER), Some(USER)).unwrap();
        path
    }
}

fn pipe(path: &Path, mode: u32) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(mode), 0).unwrap();
}

#[test]
fn what_a_job_file_includes_is_read_with_the_users_rights() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let secret = sudo.secret.join("payroll-2026.jsonl");
    let open = sudo.place.path().join("root-alone");
    fs::write(&open, "TOPSECRET = [\n").unwrap();
    fs::set_permissions(&open, PermissionsExt::from_mode(0o600)).unwrap();
    sudo.of_user("link", |path| symlink(&open, path).unwrap());
    sudo.of_user("pipe", |path| pipe(path, 0o644));
    for named in [secret.to_str().unwrap(), open.to_str().unwrap(), "link", "pipe", "/dev/null"] {
        sudo.of_user("j.fio", |path| fs::write(path, format!("include {named}\n[a]\nrw=read\nsize=1m\n")).unwrap());
        let (status, said) = sudo.said(&["fio", "j.fio", "--dry-run"]);
        assert_eq!(status, Some(2), "{named}: {said}");
        assert!(!said.contains("TOPSECRET"), "{named}: {said}");
        assert!(said.contains("Permission denied") || said.contains("no regular file"), "{named}: {said}");
    }
}

#[test]
fn what_the_kernel_shows_to_root_alone_is_not_quoted() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    fs::write(sudo.secret.join("n.txt"), "TOPSECRET = [\n").unwrap();
    for named in ["/proc/sys/net/ipv4/tcp_fastopen_key", "/proc/self/maps", "/proc/self/cwd/n.txt", "/sys/kernel/notes"]
    {
        sudo.of_user("j.fio", |path| fs::write(path, format!("include {named}\n[a]\nrw=read\nsize=1m\n")).unwrap());
        let job = sudo.home.join("j.fio");
        let mut fairlane = sudo.fairlane(&["fio", job.to_str().unwrap(), "ext4", "--dry-run"]);
        // Root stands where the user may not go.
        let output = fairlane.current_dir(&sudo.secret).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(2), "{named}: {said}");
        let refused = ["Permission denied", "the kernel makes it up", "Too many levels", "No such file"];
        assert!(refused.iter().any(|why| said.contains(why)), "{named}: {said}");
        assert!(!said.contains("TOPSECRET") && !said.contains("is unknown"), "{named}: {said}");
    }
}

#[test]
fn a_file_that_describes_a_filesystem_is_read_with_the_users_rights() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let secret = sudo.secret.join("s.toml");
    fs::write(&secret, "TOPSECRET = 1\n").unwrap();
    sudo.of_user("x.toml", |path| symlink(&secret, path).unwrap());
    let (status, said) = sudo.said(&["race", "./x.toml", "--dry-run"]);
    assert_eq!(status, Some(2), "{said}");
    assert_one_sentence(&said, &["x.toml", "Permission denied"]);
    assert!(!said.contains("TOPSECRET"), "{said}");
}

#[test]
fn a_pipe_of_roots_is_not_read_through_a_users_link() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let theirs = sudo.place.path().join("pipe-of-root");
    pipe(&theirs, 0o600);
    sudo.of_user("s.toml", |path| symlink(&theirs, path).unwrap());
    let (status, said) = sudo.said(&["race", "--suite", "s.toml", "--dry-run"]);
    assert_eq!(status, Some(2), "{said}");
    assert_one_sentence(&said, &["s.toml", "Permission denied"]);
}

#[test]
fn names_in_a_folder_of_roots_stay_there() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    fs::create_dir_all(sudo.home.join("state/fairlane")).unwrap();
    for folder in ["state", "state/fairlane"] {
        chown(sudo.home.join(folder), Some(USER), Some(USER)).unwrap();
    }
    sudo.of_user("state/fairlane/runs", |path| symlink(&sudo.secret, path).unwrap());
    let (_, said) = sudo.said(&["records"]);
    assert!(!said.contains("payroll"), "{said}");
    let server = Server::new(&mut sudo.fairlane(&["serve", "--listen", "127.0.0.1:0"]));
    for path in ["/api/records", "/api/race/payroll-2026.jsonl/record", "/api/race/payroll-2026.jsonl"] {
        let answer = server.get(path);
        assert!(!answer.text().contains("TOPSECRET") && (path != "/api/records" || !answer.text().contains("payroll")));
    }
}

#[test]
fn what_stands_behind_roots_process_is_not_served() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    // Where the server stands the user may read, and he may not go there.
    let inner = sudo.secret.join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("payroll-2026.jsonl"), "TOPSECRET = [\n").unwrap();
    fs::create_dir_all(sudo.home.join("state/fairlane")).unwrap();
    sudo.of_user("state/fairlane/runs", |path| symlink("/proc/self/cwd", path).unwrap());
    let server = Server::new(sudo.fairlane(&["serve", "--listen", "127.0.0.1:0"]).current_dir(&inner));
    for path in ["/api/records", "/api/race/payroll-2026.jsonl/record", "/api/race/payroll-2026.jsonl"] {
        let answer = server.get(path).text().replace("payroll-2026.jsonl: there is no such record", "");
        assert!(!answer.contains("TOPSECRET") && !answer.contains("payroll"), "{path}: {answer}");
    }
}

#[test]
fn a_gate_reads_no_record_of_roots_through_a_users_link() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let alone = sudo.place.path().join("payroll-alone.jsonl");
    fs::write(&alone, "TOPSECRET = [\n").unwrap();
    fs::set_permissions(&alone, PermissionsExt::from_mode(0o600)).unwrap();
    sudo.of_user("a.jsonl", |path| symlink(&alone, path).unwrap());
    sudo.of_user("b.jsonl", |path| symlink(sudo.secret.join("payroll-2026.jsonl"), path).unwrap());
    sudo.of_user("folder", |path| symlink(&sudo.secret, path).unwrap());
    for named in ["a.jsonl", "b.jsonl", "?.jsonl", "folder/*.jsonl"] {
        let sides = ["compare", "--baseline", named, "--candidate", named, "--fail-if-slower", "5%"];
        let (status, said) = sudo.said(&sides);
        assert!(status.is_some_and(|status| status != 0), "{named}: {said}");
        assert!(
            !said.contains("TOPSECRET") && !said.contains("payroll") && !said.contains("header"),
            "{named}: {said}"
        );
    }
}

#[test]
fn which_files_are_in_a_folder_of_roots_is_not_told() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    fs::create_dir(sudo.secret.join("folder.jsonl")).unwrap();
    let told = |target: &str| {
        sudo.of_user("probe", |path| {
            _ = fs::remove_file(path);
            symlink(sudo.secret.join(target), path).unwrap();
        });
        [&["report", "probe"][..], &["compare", "--baseline", "probe", "--candidate", "x", "--fail-if-slower", "5%"]]
            .map(|words| sudo.said(words))
    };
    let nothing = told("nothing.jsonl");
    assert_eq!((told("payroll-2026.jsonl"), told("folder.jsonl")), (nothing.clone(), nothing));
}

#[test]
fn a_file_of_roots_under_a_name_of_the_users_is_not_read_as_root() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let alone = sudo.place.path().join("alone.jsonl");
    fs::write(&alone, "TOPSECRET = [\n").unwrap();
    fs::set_permissions(&alone, PermissionsExt::from_mode(0o600)).unwrap();
    // As users do it where fs.protected_hardlinks is 0.
    fs::hard_link(&alone, sudo.home.join("mine.jsonl")).unwrap();
    let (_, said) = sudo.said(&["report", "mine.jsonl"]);
    assert_one_sentence(&said, &["mine.jsonl", "hard link"]);
    fs::remove_file(sudo.home.join("mine.jsonl")).unwrap();
    let (_, said) = sudo.said(&["report", alone.to_str().unwrap()]);
    assert_one_sentence(&said, &["header"]);
}

#[test]
fn a_record_of_somebody_elses_chooses_no_folder_for_roots_images() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let race = ["race", "ext4", "--suite", &suite, "--workload", "commit", "--rounds", "1", "--lane-size", "320MiB"];
    place.expect(0, &[&race[..], &["-o", "r.jsonl"]].concat());
    let text = fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let elsewhere = place.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let here = place.path().canonicalize().unwrap();
    let moved = text
        .lines()
        .filter(|line| !line.contains("\"kind\":\"end\""))
        .map(|line| line.replace(&format!("{{\"images\":\"{}\"}}", here.display()), "{\"images\":\"/srv\"}") + "\n");
    let moved: String = moved.collect();
    assert!(
        moved.contains("{\"images\":\"/srv\"}"),
        "the plan names its folder otherwise by now: {}",
        &moved[..2000.min(moved.len())]
    );
    fs::write(place.path().join("moved.jsonl"), moved).unwrap();
    let (_, err) = place.expect(2, &["race", "--resume", "moved.jsonl", "--quiet"]);
    assert_one_sentence(&err, &["where root is to make its images", "--on /srv"]);
    let (_, err) = place.expect(2, &["race", "--resume", "moved.jsonl", "--on", "elsewhere", "--quiet"]);
    assert_one_sentence(&err, &["are elsewhere", "--on /srv"]);
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
}
