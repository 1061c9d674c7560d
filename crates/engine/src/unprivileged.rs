//! Whom programs of others run as, and what they see of a lane.
//!
//! Neither a database server nor a suite's program has root's rights: where Fairlane is root they run as whoever called
//! sudo, otherwise as nobody. The folders above a lane are root's, so that they see their folder at [`SEAT`], in
//! namespaces of their own that are gone with them.

use rustix::fs::CWD;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount_change, move_mount, open_tree, unmount,
};
use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Where programs of root's see their folder: one that every system has, and that no program needs.
pub(crate) const SEAT: &CStr = c"/mnt";
/// What the folder of a race is called, below which its lanes are mounted (`lanes::undo`).
const RUN_DIRECTORY_PREFIX: &[u8] = b".fairlane-";
/// Bit of CAP_SYS_ADMIN in a set of capabilities (capability.h).
const CAP_SYS_ADMIN: u32 = 21;

/// Somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Somebody without privileges: whoever called sudo and stands in /etc/passwd, otherwise `nobody`. `None`: this process has none itself.
pub(crate) fn unprivileged() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if let (Some(uid), Some(gid)) = (number("SUDO_UID"), number("SUDO_GID"))
        && uid != 0
        && gid != 0
        && let Some(user) = in_passwd(|of| of.uid == uid && of.gid != 0)
    {
        return Some(user);
    }
    // Servers ask who they are: the user must be known.
    Some(in_passwd(|of| of.uid == 65534).unwrap_or(User { uid: 65534, gid: 65534 }))
}

fn in_passwd(wanted: impl Fn(&User) -> bool) -> Option<User> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let user = |line: &str| {
        let mut fields = line.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    text.lines().filter_map(user).find(wanted)
}

/// Whether programs see their folder at [`SEAT`]. Otherwise it is where it is.
pub(crate) fn is_seated() -> bool {
    unprivileged().is_some() && may_mount() && Path::new("/mnt").is_dir()
}

/// Whether this process may mount: root of a container may not.
fn may_mount() -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    (set >> CAP_SYS_ADMIN) & 1 == 1
}

/// Where lanes are mounted, those mounted last first. A copy of a mount keeps its device in use: in a child's namespace
/// the lanes of other races would be busy when they are made anew, wherever unmounting is not passed on (the root of
/// containers is private). To be asked before the fork.
pub(crate) fn lanes() -> Vec<CString> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    // Mount, parent, device, root, target (proc_pid_mountinfo(5)).
    let targets = text.split(|&byte| byte == b'\n').filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    let mut lanes: Vec<CString> = targets
        .map(model::text::mount_word)
        .filter(|target| target.split(|&byte| byte == b'/').any(|part| part.starts_with(RUN_DIRECTORY_PREFIX)))
        .filter_map(|target| CString::new(target).ok())
        .collect();
    lanes.reverse();
    lanes
}

/// In a child before it starts its program: a mount namespace of its own, with these folders at these places and without
/// these `lanes`. What others unmount goes away here as well, where that is passed on; nothing done here is seen by them.
/// `processes`: its next child is the first one of a process namespace, which ends with it. Makes system calls alone,
/// allocates nothing.
pub(crate) fn show(
    folders: [Option<(BorrowedFd, &'static CStr)>; 2],
    lanes: &[CString],
    processes: bool,
) -> std::io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    // Before the namespace: only mounts of the own one can be copied.
    let copy = |folder: Option<(BorrowedFd, &'static CStr)>| match folder {
        Some((folder, place)) => Ok::<_, std::io::Error>(Some((open_tree(folder, c"", flags)?, place))),
        None => Ok(None),
    };
    let [first, second] = folders;
    let trees = [copy(first)?, copy(second)?];
    let namespaces = libc::CLONE_NEWNS | if processes { libc::CLONE_NEWPID } else { 0 };
    // SAFETY: unshare takes flags alone; a child between fork and exec has one thread.
    if unsafe { libc::unshare(namespaces) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    for lane in lanes {
        // What is gone already needs no unmounting.
        let _ = unmount(lane.as_c_str(), UnmountFlags::DETACH);
    }
    for (tree, place) in trees.iter().flatten() {
        move_mount(tree, c"", CWD, *place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}

/// In a child before it starts its program: gives up root for good; sudo and its like give nothing back, also not to who
/// never was root (`None`). Makes system calls alone.
pub(crate) fn become_user(user: Option<User>) -> std::io::Result<()> {
    let done = |result: libc::c_int| if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
    // SAFETY: setgroups is given no groups; the others take numbers alone.
    unsafe {
        if let Some(user) = user {
            done(libc::setgroups(0, std::ptr::null()))?;
            done(libc::setgid(user.gid))?;
            done(libc::setuid(user.uid))?;
        }
        done(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    }
}
