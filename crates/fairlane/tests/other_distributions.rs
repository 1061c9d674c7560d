//! Packages by the names of the distribution that is there: the real script and the real binary, in a mount namespace
//! with another distribution's /etc/os-release and package managers that only note what they are told.

use crate::common;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

/// What the script calls of the system.
const TOOLS: [&str; 16] = [
    "bash", "sh", "sed", "tr", "awk", "grep", "id", "dirname", "env", "cat", "mkdir", "tee", "chmod", "rm", "rmdir",
    "mount",
];

/// Another distribution.
struct Elsewhere {
    folder: tempfile::TempDir,
}

impl Elsewhere {
    /// `programs`: name and shell text of what stands in its PATH beside the tools.
    fn new(os_release: &str, programs: &[(&str, &str)]) -> Self {
        let folder = tempfile::Builder::new().prefix("fairlane-elsewhere-").tempdir_in("/var/tmp").expect("a folder");
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).expect("bin");
        let ours = |tool: &&str| programs.iter().any(|(name, _)| name == tool);
        for tool in TOOLS.into_iter().filter(|tool| !ours(tool)) {
            let real = ["/usr/bin", "/bin"].map(|place| PathBuf::from(place).join(tool));
            let real = real.iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{tool} is missing"));
            symlink(real.canonicalize().expect("tool"), bin.join(tool)).expect("link");
        }
        for (name, text) in programs {
            let path = bin.join(name);
            let log = folder.path().join("log");
            std::fs::write(&path, format!("#!/bin/sh\nlog={}\n{text}\n", log.display())).expect("program");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("mode");
        }
        std::fs::write(folder.path().join("os-release"), os_release).expect("os-release");
        Elsewhere { folder }
    }

    /// Runs a program there; `None`: this machine gives no mount namespace, which is said.
    fn run(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        let root = rustix::process::geteuid().is_root();
        let unshare = |words: &[&str]| {
            let mut command = Command::new("unshare");
            command.args(if root { &["--mount"][..] } else { &["--map-root-user", "--mount"][..] });
            // What others unmount goes away here as well, where that is passed on.
            command.args(["--propagation", "slave"]);
            command.args(words);
            command
        };
        if !unshare(&["true"]).output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: neither root nor user namespaces, so /etc/os-release cannot be another one");
            return None;
        }
        let folder = self.folder.path();
        let script = "mount --bind \"$1/os-release\" /etc/os-release && cd \"$1\" && PATH=\"$1/bin\" && export PATH && shift && exec \"$@\"";
        let path = folder.to_str().expect("path");
        let mut command = unshare(&["sh", "-c", script, "sh", path, program]);
        let output = command.args(arguments).env_remove("DEBIAN_FRONTEND").env("XDG_STATE_HOME", folder.join("state"));
        Some(output.env("FAIRLANE_UNDO_DIR", folder).output().expect("unshare runs"))
    }

    fn install(&self, pairs: &[&str]) -> Option<(i32, String, String)> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install-tools");
        let output = self.run(script, pairs)?;
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        Some((output.status.code().expect("a status"), String::from_utf8_lossy(&said).into_owned(), log))
    }
}

/// A manager that has every package but `none-such`, and notes what it installs.
const DNF: (&str, &str) =
    ("dnf", r#"case "$*" in "-q list none-such") exit 1 ;; "-q list "*) ;; *) echo "dnf $*" >>"$log" ;; esac"#);
const PACMAN: (&str, &str) =
    ("pacman", r#"case "$1" in -Qq) [ "$2" = xz ] ;; -Si) ;; *) echo "pacman $*" >>"$log" ;; esac"#);
const ZYPPER: (&str, &str) =
    ("zypper", r#"case "$*" in *search*) echo "| a package |" ;; *) echo "zypper $*" >>"$log" ;; esac"#);
const APT: [(&str, &str); 4] = [
    ("apt-get", r#"echo "$DEBIAN_FRONTEND apt-get $*" >>"$log""#),
    // More than a pipe holds: who stops reading early ends it.
    (
        "apt-cache",
        r#"[ "$2" = none-such ] || { echo "  Candidate: 1.0"; awk 'BEGIN { while (n++ < 20000) print "  Version table" }'; }"#,
    ),
    ("dpkg-query", "exit 1"),
    ("dpkg", ""),
];
const PAIRS: [&str; 5] = [
    "mkfs.none1:nilfs-tools",
    "cc-none:build-essential",
    "uml-none:user-mode-linux",
    "/no/such/xz:xz-utils",
    "kernel-none:linux-image-amd64",
];

#[test]
fn fedora_arch_and_suse_install_by_their_own_names_and_say_what_they_have_not() {
    let of = |release: &str, programs: &[(&str, &str)], wanted: &str| {
        let Some((status, said, log)) = Elsewhere::new(release, programs).install(&PAIRS) else { return };
        assert_eq!((status, log.trim()), (0, wanted), "{said}");
        assert!(said.contains("no package of uml-none: what needs them is left out"), "{said}");
    };
    of(
        "ID=fedora\nVERSION_ID=42\n",
        &[DNF, ("rpm", r#"[ "$3" = gcc ]"#)],
        "dnf install -y -q --setopt=install_weak_deps=False nilfs-utils make xz kernel-core",
    );
    of(
        "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
        &[DNF, ("rpm", "exit 1")],
        "dnf install -y -q --setopt=install_weak_deps=False nilfs-utils gcc make xz kernel-core",
    );
    of("ID=manjaro\nID_LIKE=arch\n", &[PACMAN], "pacman -S --needed --noconfirm nilfs-utils base-devel linux");
    // openSUSE has an apt-get too.
    of(
        "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n",
        &[ZYPPER, ("rpm", "exit 1"), APT[0]],
        "zypper --non-interactive --quiet install --no-recommends nilfs-utils gcc make xz kernel-default",
    );
}

#[test]
fn what_the_repositories_have_not_is_left_out_and_the_rest_is_installed() {
    let pairs = ["a-none:none-such", "b-none:fio"];
    if let Some((status, said, log)) = Elsewhere::new("ID=fedora\n", &[DNF, ("rpm", "exit 1")]).install(&pairs) {
        assert_eq!((status, log.trim()), (0, "dnf install -y -q --setopt=install_weak_deps=False fio"), "{said}");
        assert!(said.contains("do not have none-such"), "{said}");
    }
    // Of Debian the lists are fetched before that is known, and no question is asked behind a sudo that drops variables.
    let somebody = [("id", "echo 1000"), ("sudo", "exec env -i PATH=\"$PATH\" \"$@\"")];
    let programs: Vec<(&str, &str)> = APT.into_iter().chain(somebody).collect();
    if let Some((status, said, log)) = Elsewhere::new("ID=debian\n", &programs).install(&pairs) {
        let wanted = " apt-get update -qq\nnoninteractive apt-get install -y -qq --no-install-recommends fio\n";
        assert_eq!((status, log.as_str()), (0, wanted), "{said}");
        assert!(said.contains("do not have none-such"), "{said}");
    }
    let ubuntu = ["kernel-none:linux-image-amd64", "browser-none:chromium"];
    if let Some((status, said, log)) = Elsewhere::new("ID=ubuntu\nID_LIKE=debian\n", &APT).install(&ubuntu) {
        assert!(status == 0 && log.contains("--no-install-recommends linux-image-generic\n"), "{said}{log}");
        assert!(said.contains("no package of browser-none"), "{said}");
    }
}

#[test]
fn a_distribution_that_is_not_known_is_told_the_commands_that_are_missing() {
    for release in ["ID=alpine\n", "ID=nixos\n", "ID=altlinux\n", ""] {
        // ALT Linux has an apt-get for packages of other names.
        let elsewhere = Elsewhere::new(release, &[APT[0]]);
        let Some((status, said, log)) = elsewhere.install(&["mkfs.none1:nilfs-tools", "uml-none:fio"]) else { return };
        assert_eq!((status, log.as_str()), (4, ""), "{said}");
        assert!(said.contains("missing: mkfs.none1 uml-none.") && said.contains("nilfs-tools fio"), "{said}");
    }
}

#[test]
fn make_race_installs_the_linker_before_it_builds() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let Ok(output) = Command::new("make").args(["-n", "-C", root, "race"]).env_remove("MAKEFLAGS").output() else {
        eprintln!("skipped: make is missing, so there is no `make race`; apt install make");
        return;
    };
    let plan = String::from_utf8_lossy(&output.stdout).into_owned();
    let place = |words: &str| plan.find(words).unwrap_or_else(|| panic!("no `{words}` in {plan}"));
    assert!(place("cc:build-essential") < place("build --release"), "{plan}");
}

#[test]
fn remedies_of_the_binary_name_this_machines_package_manager() {
    let fio = |release: &str| {
        let elsewhere = Elsewhere::new(release, &[]);
        let job = elsewhere.folder.path().join("job.fio");
        std::fs::write(&job, "[a]\nrw=read\nsize=1m\n").expect("job");
        let arguments = ["fio", job.to_str().expect("path"), "--with-fio"];
        let output = elsewhere.run(env!("CARGO_BIN_EXE_fairlane"), &arguments)?;
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        Some(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (release, wanted) in [
        ("ID=debian\n", "apt install fio"),
        ("ID=fedora\n", "dnf install fio"),
        ("ID=endeavouros\nID_LIKE=arch\n", "pacman -S fio"),
        ("ID=sles\nID_LIKE=suse\n", "zypper install fio"),
        ("ID=alpine\n", "install what Debian calls fio with this distribution's package manager"),
    ] {
        let Some(err) = fio(release) else { return };
        common::assert_one_sentence(&err, &[wanted]);
    }
}
