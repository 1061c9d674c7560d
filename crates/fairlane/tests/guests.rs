//! Real guests: user-mode Linux and QEMU, started as the tests' own user.

use crate::user_mode_linux;

use lanes::guest::protocol::{Answer, Ask};
use lanes::guest::{Boot, Guest, GuestKind, Kernel, Machine};
use lanes::{Journal, LaneFailure, LaneSet, Settings, guest};
use model::Bytes;
use model::plan::Ground;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use user_mode_linux::user_mode_linux;

/// A folder that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fairlane-guests-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A formatted image.
    fn image(&self, name: &str, mkfs: &[&str]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
        // Debian's users have no sbin on their path.
        let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(|folder| Path::new(folder).join(mkfs[0]));
        let tool = folders.into_iter().find(|tool| tool.exists()).unwrap_or_else(|| PathBuf::from(mkfs[0]));
        let status = Command::new(tool).args(&mkfs[1..]).arg(&path).status().unwrap();
        assert!(status.success(), "{mkfs:?}");
        path
    }

    fn boot(&self, kind: GuestKind, disks: Vec<PathBuf>) -> Boot {
        let kernel = Kernel::find(kind, None).unwrap();
        let machine = Machine {
            kind,
            kernel,
            cpus: 2,
            memory: Bytes(512 << 20),
            disks,
            sync: false,
            discards: false,
            kvm: false,
        };
        Boot {
            machine,
            folder: self.0.join("guest"),
            program: PathBuf::from(env!("CARGO_BIN_EXE_fairlane")),
            modules: vec!["ext4"],
            programs: Vec::new(),
            trace: None,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn start(boot: &Boot) -> Result<Arc<Guest>, LaneFailure> {
    Guest::boot(boot, &AtomicBool::new(false), &mut |_| Ok(())).map(Arc::new)
}

/// Processes whose session is the keeper's, as /proc/PID/stat begins.
fn processes_of(session: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let (head, rest) = stat.rsplit_once(')')?;
            (rest.split_whitespace().nth(3)? == session.to_string()).then(|| head.to_owned())
        })
        .collect()
}

/// All processes of a guest: user-mode Linux leads sessions of its own.
fn pids_of(keeper: u32) -> Vec<u32> {
    let mut pids = vec![keeper];
    let mut next = 0;
    while let Some(&pid) = pids.get(next) {
        next += 1;
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    pids
}

fn a_disk_is_mounted_and_the_guest_ends(kind: GuestKind) {
    let scratch = Scratch::new(kind.venue());
    let image = scratch.image("a.img", &["mkfs.ext4", "-q", "-F"]);
    let guest = start(&scratch.boot(kind, vec![image])).unwrap();
    eprintln!("{} ready in {:.2} s: {:?}", kind.venue(), guest.boot_seconds(), guest.hello().release);
    assert_eq!(guest.hello().module_failures, Vec::<String>::new());
    assert!(guest.hello().filesystems.iter().any(|name| name == "ext4"), "{:?}", guest.hello());
    let stop = AtomicBool::new(false);
    let target = PathBuf::from("/lanes/0");
    let mount = Ask::Mount {
        filesystem: "ext4".to_owned(),
        source: Path::new("/dev").join(Machine::disk_name(kind, 0)),
        options: vec!["noatime".to_owned()],
        target: target.clone(),
        above: None,
        replace: None,
    };
    assert!(matches!(guest.ask(&mount, &stop).unwrap(), Answer::Mounted { .. }));
    assert!(
        matches!(guest.ask(&Ask::Room { target: target.clone() }, &stop).unwrap(), Answer::Room { inodes, .. } if inodes > 0)
    );
    // An agent answers through the same channel.
    let link = guest.start_agent(3, &stop).unwrap();
    guest.tell_agent(3, "{\"do\":\"hello\"}").unwrap();
    let reply = link.replies.recv_timeout(std::time::Duration::from_secs(30)).unwrap().unwrap();
    assert!(matches!(reply, model::agent::Reply::Hello { .. }), "{reply:?}");
    // A request that is many times longer than what a serial line of user-mode Linux takes unread.
    guest.tell_agent(3, &"x".repeat(64 << 10)).unwrap();
    let reply = link.replies.recv_timeout(std::time::Duration::from_secs(30)).unwrap().unwrap();
    assert!(matches!(&reply, model::agent::Reply::Failed { reason, .. } if reason.contains("no request")), "{reply:?}");
    let earlier = guest.clocks(&stop).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    eprintln!("drift {:?}", guest.clocks(&stop).unwrap().drift_since(&earlier));
    guest.ask(&Ask::Unmount { target }, &stop).unwrap();
    let pid = guest.pid();
    guest.end();
    assert_eq!(processes_of(pid), Vec::<String>::new());
    assert!(!scratch.0.join("guest").exists());
}

#[test]
fn user_mode_linux_mounts_a_disk_and_ends() {
    if !user_mode_linux() {
        return;
    }
    a_disk_is_mounted_and_the_guest_ends(GuestKind::Uml);
}

#[test]
fn qemu_mounts_a_disk_and_ends() {
    a_disk_is_mounted_and_the_guest_ends(GuestKind::Qemu);
}

/// Otherwise the next lane on these disks would find them held.
#[test]
fn a_lane_that_its_guest_cannot_mount_leaves_its_layers_on_no_disk() {
    if !user_mode_linux() {
        return;
    }
    let scratch = Scratch::new("half-open");
    let undo = scratch.0.join("undo");
    std::fs::create_dir(&undo).unwrap();
    let run_id = format!("half-open-{}", std::process::id());
    let go_on = AtomicBool::new(false);
    let settings = Settings {
        // No array has memory that can be mapped, so that no kernel mounts the first one.
        specs: ["ext4,dax/raid1:2@uml", "ext4/raid1:2@uml"].iter().map(|lane| lane.parse().unwrap()).collect(),
        with_self: false,
        ground: Ground::Images(scratch.0.clone()),
        lane_size: Bytes(96 << 20),
        run_id: run_id.clone(),
        seed: 7,
        erase: Vec::new(),
        largest_work: lanes::LargestWork { bytes: 8 << 20, ..Default::default() },
        largest_work_without_holes: lanes::LargestWork { bytes: 8 << 20, ..Default::default() },
        terminal: false,
        throttles: Default::default(),
        guest: Default::default(),
        program: env!("CARGO_BIN_EXE_fairlane").into(),
        trace: None,
        lives: vec![None, None],
        undo: undo.clone(),
    };
    let mut lane_set = LaneSet::check(settings).unwrap();
    let mut journal = Journal::begin(&undo, &run_id).unwrap();
    let refused = lane_set.build(&mut journal, &mut |_, _| {}, &go_on).unwrap_err().to_string();
    let lives = lane_set.guest_of(0).is_some_and(|guest| guest.lives());
    let ground = lane_set.store_for(0, 0);
    let opened = lane_set.open(1, ground, &mut journal, &go_on);
    let closed = opened.and_then(|_| lane_set.close(1, &mut journal));
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert!(refused.starts_with("lane ext4,dax/raid1:2: ") && refused.contains("mount"), "{refused}");
    assert!(lives, "what stood in it was taken down, and not the guest");
    assert!(closed.is_ok(), "{closed:?}");
}

#[test]
fn a_clock_that_runs_one_percent_fast_is_noticed() {
    if !user_mode_linux() {
        return;
    }
    let scratch = Scratch::new("clock");
    let guest = start(&scratch.boot(GuestKind::Uml, Vec::new())).unwrap();
    let stop = AtomicBool::new(false);
    let drift = || {
        let earlier = guest.clocks(&stop).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
        guest.clocks(&stop).unwrap().drift_since(&earlier).unwrap()
    };
    let before = drift();
    guest.ask(&Ask::BendClock { tick_microseconds: 10_100 }, &stop).unwrap();
    let bent = drift();
    // Less what the questions themselves took.
    assert!(before.abs() < 0.005 && bent > 0.005 && bent < 0.02, "{before} {bent}");
    guest.end();
}

/// How the guest's kernel has a file open, by /proc/PID/fdinfo.
fn opened_with(keeper: u32, file: &Path) -> Vec<i64> {
    let mut flags = Vec::new();
    for pid in pids_of(keeper) {
        for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            if std::fs::read_link(entry.path()).is_ok_and(|target| target == *file) {
                let info = format!("/proc/{pid}/fdinfo/{}", entry.file_name().to_string_lossy());
                let info = std::fs::read_to_string(info).unwrap_or_default();
                let line = info.lines().find_map(|line| line.strip_prefix("flags:"));
                flags.extend(line.and_then(|octal| i64::from_str_radix(octal.trim(), 8).ok()));
            }
        }
    }
    flags
}

#[test]
fn disks_of_user_mode_linux_wait_for_the_disk_where_that_is_asked_for() {
    if !user_mode_linux() {
        return;
    }
    for sync in [false, true] {
        let scratch = Scratch::new(if sync { "sync" } else { "no-sync" });
        let image = scratch.image("a.img", &["mkfs.ext4", "-q", "-F"]).canonicalize().unwrap();
        let mut boot = scratch.boot(GuestKind::Uml, vec![image.clone()]);
        boot.machine.sync = sync;
        let guest = start(&boot).unwrap();
        let stop = AtomicBool::new(false);
        let target = PathBuf::from("/lanes/0");
        let source = Path::new("/dev").join(Machine::disk_name(GuestKind::Uml, 0));
        let mount = Ask::Mount {
            filesystem: "ext4".to_owned(),
            source,
            options: Vec::new(),
            target: target.clone(),
            above: None,
            replace: None,
        };
        // A disk is opened when somebody opens its device.
        guest.ask(&mount, &stop).unwrap();
        let flags = opened_with(guest.pid(), &image);
        assert!(!flags.is_empty());
        assert!(
            flags.iter().all(|flags| (flags & i64::from(libc::O_SYNC) == i64::from(libc::O_SYNC)) == sync),
            "{flags:?}"
        );
        guest.ask(&Ask::Unmount { target }, &stop).unwrap();
        guest.end();
    }
}

#[test]
fn a_panic_is_told_with_the_kernels_words_and_leaves_no_process() {
    if !user_mode_linux() {
        return;
    }
    for kind in [GuestKind::Uml, GuestKind::Qemu] {
        let scratch = Scratch::new(&format!("panic-{}", kind.venue()));
        let guest = start(&scratch.boot(kind, Vec::new())).unwrap();
        let pid = guest.pid();
        let error = guest.ask(&Ask::Crash, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(error.contains("guest died") && error.contains("panic"), "{error}");
        guest.kill();
        assert_eq!(processes_of(pid), Vec::<String>::new());
    }
}

#[test]
fn a_kernel_that_does_not_boot_is_refused_in_a_sentence() {
    let scratch = Scratch::new("no-kernel");
    let mut boot = scratch.boot(GuestKind::Qemu, Vec::new());
    let broken = scratch.0.join("vmlinuz-broken");
    let mut bytes = std::fs::read(&boot.machine.kernel.path).unwrap();
    // The header stays whole; what it unpacks does not.
    let half = bytes.len() / 2;
    bytes[half..].fill(0xff);
    std::fs::write(&broken, bytes).unwrap();
    boot.machine.kernel.path = broken;
    let patience = std::time::Duration::from_secs(5);
    let error = Guest::boot_within(&boot, patience, &AtomicBool::new(false), &mut |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("the qemu guest did not start") && error.contains("vmlinuz-broken"), "{error}");
    assert!(guest::kernel::Kernel::find(GuestKind::Qemu, Some(Path::new("/etc/passwd"))).is_err());
}
