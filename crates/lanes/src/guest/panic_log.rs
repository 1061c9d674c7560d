//! What a kernel said last: why something of it died.

use super::channel::Line;
use super::kernel::GuestKind;
use model::Bytes;
use std::time::Duration;

/// Lines of the console in a failure's message.
const LAST_LINES: usize = 4;
/// Telling lines that came so close to the last one are of one event.
const ONE_EVENT: Duration = Duration::from_secs(5);

/// The lines that tell why something died: those of the last event, or the last of all where none tells.
pub(super) fn last_block(console: &[Line]) -> Vec<&str> {
    let told = telling(console);
    if told.is_empty() { last(&console.iter().collect::<Vec<_>>()) } else { told }
}

/// The lines of the last event that a kernel, or the first process, calls a failure; empty: what it printed is no
/// cause of anything, as the lines of its boot are not.
pub(super) fn telling(console: &[Line]) -> Vec<&str> {
    // `VFS:` is what a kernel without a root says, and what some boots say in passing.
    let tells = |line: &&Line| {
        ["panic", "Panic", "Out of memory", "oom-kill", "BUG:", "Oops", "VFS: Unable", "VFS: Cannot", "fairlane-guest:"]
            .iter()
            .any(|word| line.text.contains(word))
    };
    let mut telling: Vec<&Line> = console.iter().filter(tells).collect();
    if let Some(last) = telling.last().map(|line| line.at) {
        telling.retain(|line| last.duration_since(line.at) <= ONE_EVENT);
    }
    last(&telling)
}

/// What helps a guest that did not start, from all that its kernel said; empty: that tells it.
pub(super) fn remedy(kind: GuestKind, memory: Bytes, said: &str) -> String {
    // A memory image that was unpacked in part lacks files, whatever is missed first.
    let signs = ["on memory", "Out of memory", "unpacking failed", "write error", "oom-kill"];
    let of_memory = signs.iter().any(|sign| said.contains(sign));
    match kind {
        _ if of_memory => format!(
            "; it has {memory} of memory: race with more of it (--guest-memory); commands that give guests a fixed amount, as powercut \
             does, need a smaller trace or the host"
        ),
        GuestKind::Qemu if said.is_empty() => {
            "; is it a kernel that boots on this machine's kind of CPU? name another kernel: @qemu:/path/to/vmlinuz"
                .to_owned()
        }
        _ => String::new(),
    }
}

fn last<'a>(telling: &[&'a Line]) -> Vec<&'a str> {
    let first = telling.len().saturating_sub(LAST_LINES);
    telling[first..].iter().map(|line| line.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn what_killed_something_is_the_last_event_and_not_the_first() {
        let now = Instant::now();
        let line = |number: u64, seconds: u64, text: &str| Line {
            number,
            at: now + Duration::from_secs(seconds),
            text: text.to_owned(),
        };
        let console = [
            line(1, 0, "Out of memory: Killed process 7 (old)"),
            line(2, 100, "Out of memory: Killed process 9 (new)"),
            line(3, 100, "some trace"),
            line(4, 101, "Kernel panic - not syncing"),
        ];
        assert_eq!(last_block(&console), ["Out of memory: Killed process 9 (new)", "Kernel panic - not syncing"]);
        assert_eq!(last_block(&console[2..3]), ["some trace"]);
        assert!(last_block(&[]).is_empty());
        // Lines of a boot are no cause of an end.
        let boot = [line(1, 0, "SELinux:  Initializing."), line(2, 0, "mmapper_init"), line(3, 0, "VFS: Disk quotas")];
        assert!(telling(&boot).is_empty() && last_block(&boot).len() == 3);
        assert_eq!(telling(&console), last_block(&console));
        let many: Vec<Line> = (0..9).map(|number| line(number, 0, &format!("BUG: {number}"))).collect();
        assert_eq!(last_block(&many), ["BUG: 5", "BUG: 6", "BUG: 7", "BUG: 8"]);
    }

    #[test]
    fn who_has_too_little_memory_or_no_kernel_is_told_what_to_change() {
        let memory = Bytes(128 * Bytes::MIB);
        let said = remedy(GuestKind::Qemu, memory, "Kernel panic - not syncing: System is deadlocked on memory");
        assert!(said.starts_with("; it has 128MiB of memory: race with more") && said.contains("powercut"), "{said}");
        assert!(remedy(GuestKind::Qemu, memory, "").contains("kind of CPU"));
        assert!(remedy(GuestKind::Qemu, memory, "").contains("@qemu:"));
        assert_eq!(remedy(GuestKind::Qemu, memory, "Kernel panic: no init"), "");
        assert_eq!(remedy(GuestKind::Uml, memory, "Freeing unused kernel memory: 24K"), "");
        assert_eq!(remedy(GuestKind::Uml, memory, ""), "");
    }
}
