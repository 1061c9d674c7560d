//! The first process of a guest: it makes /proc, /sys and /dev, loads the modules, starts the worker and takes
//! care of orphans until the worker ends.
//!
//! Two processes, because whoever is process 1 must wait for every child there is, and the worker wants to
//! know how its own agents ended.

use super::protocol::{INIT, MODULES};
use rustix::mount::{MountFlags, mount};
use rustix::process::{WaitOptions, wait};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Argument of the worker.
const WORKER: &str = "guest-worker";
/// File with what went wrong while modules were loaded, for the worker.
pub(super) const FAILURES: &str = "/modules.failed";
/// Files that may be open at a time: engines with many threads open several each.
const MOST_FILES: u64 = 1 << 16;

/// What this process is in a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The kernel's first process.
    Init,
    /// The one that talks with the host.
    Worker,
}

/// Whether this process is a part of a guest: then it is nothing else. Told by the name that the kernel
/// starts it with, which is no path of any installation.
pub fn role() -> Option<Role> {
    let mut arguments = std::env::args_os();
    if arguments.next()? != INIT {
        return None;
    }
    match arguments.next() {
        Some(argument) if argument == WORKER => Some(Role::Worker),
        _ => (std::process::id() == 1).then_some(Role::Init),
    }
}

/// Whether this machine is a guest of Fairlane's own: what is made here goes with it.
pub fn is_here() -> bool {
    let first = std::fs::read("/proc/1/cmdline").unwrap_or_default();
    let told = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let booted = told.split_ascii_whitespace().any(|word| word.starts_with("rdinit="));
    booted && Path::new(FAILURES).exists() && first.split(|&byte| byte == 0).next() == Some(INIT.as_bytes())
}

/// The life of a guest. Never comes back: at the end the machine is off.
pub fn run() -> ! {
    let said = match live() {
        Ok(()) => "the end".to_owned(),
        Err(error) => format!("failed: {error}"),
    };
    // The console: what the host keeps of it stands in the failure's message.
    eprintln!("fairlane-guest: {said}");
    rustix::fs::sync();
    let _ = reboot(RebootCommand::PowerOff);
    // Process 1 must not end.
    loop {
        std::thread::park();
    }
}

fn live() -> Result<(), String> {
    prepare()?;
    let failures = load_modules();
    let _ = std::fs::write(FAILURES, failures.join("\n"));
    let mut worker = Command::new("/proc/self/exe");
    worker.arg0(INIT).arg(WORKER).env("PATH", "/bin:/usr/bin:/sbin:/usr/sbin");
    // Nobody makes nodes of devices here but the kernel and the tools themselves.
    worker.env("MDADM_NO_UDEV", "1").env("DM_DISABLE_UDEV", "1");
    let worker = worker.spawn().map_err(|error| format!("cannot start the worker: {error}"))?;
    let worker = rustix::process::Pid::from_child(&worker);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == worker => {
                return match status.exit_status() {
                    Some(0) => Ok(()),
                    _ => Err(format!("the worker ended ({status:?})")),
                };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("cannot wait: {error}")),
        }
    }
}

fn prepare() -> Result<(), String> {
    for (what, target) in
        [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/run"), ("tmpfs", "/tmp")]
    {
        let _ = std::fs::create_dir_all(target);
        match mount(what, target, what, MountFlags::empty(), None) {
            // CONFIG_DEVTMPFS_MOUNT has it mounted already.
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            Err(error) => return Err(format!("cannot mount {what}: {error}")),
        }
    }
    // Some mkfs ask it whether the device is mounted.
    let _ = std::fs::create_dir_all("/etc").and_then(|()| std::os::unix::fs::symlink("/proc/mounts", "/etc/mtab"));
    let _ = std::fs::create_dir_all("/dev/shm");
    let _ = mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::empty(), None);
    let limit = rustix::process::Rlimit { current: Some(MOST_FILES), maximum: Some(MOST_FILES) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
    Ok(())
}

/// Loads them in the order of the list; one that cannot be loaded is told, and the rest goes on: what it was
/// for is refused by name when it is missed.
fn load_modules() -> Vec<String> {
    let list = std::fs::read_to_string(MODULES).unwrap_or_default();
    let load = |path: &str| -> Result<(), String> {
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = File::open(path).map_err(|error| format!("module {name}: {error}"))?;
        match finit_module(&file, c"", 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(error) => Err(format!("module {name}: {error}")),
        }
    };
    list.lines().filter_map(|path| load(path).err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_no_part_of_a_guest() {
        assert_eq!(role(), None);
    }
}
