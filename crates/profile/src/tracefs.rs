//! Tracepoints of the running kernel, from a tracefs that is mounted nowhere.
//!
//! A detached mount belongs to its descriptor alone: when the process ends, however it ends, nothing of it is left.

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::read;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::ops::Range;

/// A description of a tracepoint is some hundred bytes long.
const MOST_BYTES: usize = 64 * 1024;

/// The kernel's tracepoints.
pub(crate) struct Tracefs {
    root: OwnedFd,
}

/// One tracepoint: its number, and where its fields lie in a raw sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tracepoint {
    pub(crate) id: u64,
    fields: Vec<(String, Range<usize>)>,
}

impl Tracefs {
    /// Takes the one that is mounted, or mounts one, detached: before Linux 6.0 another mount sets the modes of the first.
    pub(crate) fn open() -> Result<Tracefs, rustix::io::Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for folder in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
            if std::path::Path::new(folder).join("events").is_dir() {
                return Ok(Tracefs { root: rustix::fs::open(folder, flags, Mode::empty())? });
            }
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes =
            MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Tracefs { root })
    }

    /// A tracepoint by its group and name: `sched/sched_switch`. `None`: this kernel has none of that name, or describes it
    /// in words that are not understood.
    pub(crate) fn tracepoint(&self, name: &str) -> Option<Tracepoint> {
        let text = |file: &str| self.text(&format!("events/{name}/{file}"));
        let id = text("id")?.trim().parse().ok()?;
        Some(Tracepoint { id, fields: fields(&text("format")?) })
    }

    /// Whether its tracepoints are there, and not for this user to read.
    pub(crate) fn is_refused(&self) -> bool {
        let id = openat(&self.root, "events/sched/sched_switch/id", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        matches!(id, Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM))
    }

    fn text(&self, path: &str) -> Option<String> {
        let file = openat(&self.root, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut text = Vec::new();
        let mut part = [0; 4096];
        while text.len() < MOST_BYTES {
            match read(&file, &mut part).ok()? {
                0 => return String::from_utf8(text).ok(),
                count => text.extend_from_slice(&part[..count]),
            }
        }
        None
    }
}

impl Tracepoint {
    /// Where a field lies.
    pub(crate) fn field(&self, name: &str) -> Option<Range<usize>> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, place)| place.clone())
    }
}

/// The fields of a description: `field:pid_t next_pid; offset:56; size:4; signed:1;`, with tabs between.
fn fields(format: &str) -> Vec<(String, Range<usize>)> {
    let field = |line: &str| {
        let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
        let declared = parts.next()?.split('[').next()?;
        let name = declared.rsplit([' ', '*']).next()?.to_owned();
        let number = |part: Option<&str>, key: &str| part?.strip_prefix(key)?.parse::<usize>().ok();
        let offset = number(parts.next(), "offset:")?;
        let size = number(parts.next(), "size:")?;
        Some((name, offset..offset.checked_add(size)?))
    };
    format.lines().filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 314\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt: \"%s\"";

    #[test]
    fn fields_are_found_where_they_lie() {
        let tracepoint = Tracepoint { id: 314, fields: fields(SWITCH) };
        assert_eq!(tracepoint.field("prev_comm"), Some(8..24));
        assert_eq!(tracepoint.field("prev_state"), Some(32..40));
        assert_eq!(tracepoint.field("next_pid"), Some(56..60));
        assert_eq!(tracepoint.field("prio"), None);
        for torn in ["field:", "field:int a;", "field:int a;\toffset:x;\tsize:4;", "field:int a;\toffset:4"] {
            assert_eq!(fields(torn), [], "{torn}");
        }
    }

    #[test]
    fn the_kernels_own_tracepoints_are_read_and_nothing_is_mounted() {
        let before = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        match Tracefs::open() {
            Ok(tracefs) => {
                let switch = tracefs.tracepoint("sched/sched_switch").unwrap();
                assert!(switch.id > 0 && switch.field("next_pid").is_some());
                assert_eq!(tracefs.tracepoint("sched/no_such_tracepoint"), None);
            }
            Err(errno) => println!("skipped: no tracefs here ({errno})"),
        }
        assert_eq!(before, std::fs::read_to_string("/proc/self/mountinfo").unwrap());
    }
}
