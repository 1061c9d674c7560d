//! An installation of servers starts none of them, and whatever ends it, nothing stays that would keep another one
//! from starting its services.

use crate::common;

use common::{Place, root};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Stands for apt-get: notes what it was told and what packages would start, then waits.
const APT: &str = r#"#!/bin/sh
here=$(dirname "$0")
case " $* " in *" install "*) ;; *) exit 0 ;; esac
for word in "$@"; do
    case "$word" in DPkg::Path=*) PATH="${word#DPkg::Path=}" ;; esac
done
for program in invoke-rc.d deb-systemd-invoke pg_createcluster mkdir; do
    echo "$program $(readlink -f "$(command -v $program)")" >> "$here/found"
done
echo $$ > "$here/installs"
while [ ! -e "$here/go" ]; do sleep 0.05; done
"#;

/// What an installation of an earlier version changed on the system.
fn of_the_system() -> Vec<String> {
    let paths = ["/usr/sbin/policy-rc.d", "/etc/postgresql-common/createcluster.d", "/etc/postgresql-common"];
    let state = |path: &&str| match Path::new(path).symlink_metadata() {
        Ok(found) => format!("{path} {} {} {}", found.ino(), found.len(), found.ctime_nsec()),
        Err(_) => format!("{path} is not there"),
    };
    paths.iter().map(state).collect()
}

struct Installation {
    place: Place,
    shims: PathBuf,
}

impl Installation {
    fn new() -> Installation {
        let place = Place::new();
        let shims = place.path().join("programs");
        std::fs::create_dir(&shims).expect("folder");
        // Whether the package is installed on this machine or known to it is not asked here.
        let lacking = "#!/bin/sh\nexit 1\n";
        let offered = "#!/bin/sh\necho '  Candidate: 1'\n";
        for (name, text) in [("apt-get", APT), ("dpkg-query", lacking), ("apt-cache", offered)] {
            std::fs::write(shims.join(name), text).expect(name);
            std::fs::set_permissions(shims.join(name), PermissionsExt::from_mode(0o755)).expect("mode");
        }
        Installation { place, shims }
    }

    fn start(&self) -> Child {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install-tools");
        let path = format!("{}:{}", self.shims.display(), std::env::var("PATH").expect("PATH"));
        // Under nohup a test has HUP ignored, and bash traps nothing that is.
        Command::new("env")
            .arg("--default-signal=INT,TERM,HUP")
            .arg(script)
            .arg("fairlane-no-such-command:postgresql")
            .env("PATH", path)
            .stdout(Stdio::null())
            .spawn()
            .expect("install-tools starts")
    }

    /// Waits until packages are being installed; answers the process that does it.
    fn wait(&self) -> Pid {
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(self.shims.join("installs")).unwrap_or_default();
            if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
                return pid;
            }
            assert!(begun.elapsed().as_secs() < 60, "nothing is installed");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn go(&self) {
        std::fs::write(self.shims.join("go"), "").expect("go");
    }
}

fn folder_of(child: &Child) -> PathBuf {
    PathBuf::from(format!("/run/.fairlane-install-{}", child.id()))
}

fn wait_until_gone(pid: Pid) {
    let begun = Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        assert!(begun.elapsed().as_secs() < 60, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_service_is_started_and_no_file_of_the_system_changes() {
    if !root() {
        return;
    }
    for signal in [None, Some(Signal::INT), Some(Signal::TERM), Some(Signal::HUP)] {
        let before = of_the_system();
        let installation = Installation::new();
        let mut child = installation.start();
        installation.wait();
        let during = of_the_system();
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&child), signal).expect("a signal");
        }
        installation.go();
        let status = child.wait().expect("it ends");
        let found = std::fs::read_to_string(installation.shims.join("found")).expect("what packages find");
        assert_eq!((&before, &before), (&during, &of_the_system()), "{signal:?}");
        let truth = std::fs::canonicalize("/bin/true").expect("true").display().to_string();
        for starter in ["invoke-rc.d", "deb-systemd-invoke", "pg_createcluster"] {
            assert!(found.contains(&format!("{starter} {truth}\n")), "{found}");
        }
        assert!(!found.contains(&format!("mkdir {truth}")), "{found}");
        assert!(!folder_of(&child).exists(), "{signal:?}");
        assert_eq!(status.success(), signal.is_none(), "{signal:?}: {status}");
    }
}

#[test]
fn what_a_kill_leaves_is_removed_once_nobody_installs_with_it() {
    if !root() {
        return;
    }
    for by_script in [true, false] {
        let before = of_the_system();
        let killed = Installation::new();
        let mut child = killed.start();
        let apt = killed.wait();
        child.kill().expect("SIGKILL");
        child.wait().expect("it is gone");
        let folder = folder_of(&child);
        let next = || match by_script {
            true => {
                let next = Installation::new();
                next.go();
                assert!(next.start().wait().expect("it ends").success());
            }
            false => drop(killed.place.expect(0, &["records"])),
        };
        assert!(folder.exists(), "the kill came too late");
        next();
        assert!(folder.exists(), "apt-get still works with it");
        killed.go();
        wait_until_gone(apt);
        next();
        assert!(!folder.exists() && before == of_the_system(), "by the script: {by_script}");
    }
}
