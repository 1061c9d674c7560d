//! Whether another race sets the kernel now, by the kernel's own list of locks (proc(5), /proc/locks): whoever asks takes none.

use super::vm::LOCK;
use rustix::fs::{major, minor};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Where the kernel lists them; everybody reads it.
const LOCKS: &str = "/proc/locks";

/// Whether another process has the lock of layer `vm`; `false` too where nobody can know it.
pub(crate) fn is_vm_held_by_another() -> bool {
    let known = std::fs::symlink_metadata(LOCK).ok().zip(std::fs::read_to_string(LOCKS).ok());
    known.is_some_and(|(file, locks)| holders(&locks, &file).into_iter().any(|pid| pid != std::process::id()))
}

/// The processes that have a lock of a file.
fn holders(locks: &str, file: &Metadata) -> Vec<u32> {
    let place = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
    let holder = |line: &str| {
        // Behind an arrow stands who waits for it.
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, of, ..] = words.as_slice() else { return None };
        pid.parse::<u32>().ok().filter(|_| *of == place)
    };
    locks.lines().filter_map(holder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;

    #[test]
    fn who_has_a_lock_is_read_from_the_kernels_list() {
        let file = std::fs::metadata("/proc/self").unwrap();
        let place = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
        let locks = format!(
            "1: FLOCK  ADVISORY  WRITE 6136 {place} 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 17 {place} 0 EOF\n2: POSIX  \
             ADVISORY  WRITE 18 {place} 0 EOF\n3: FLOCK  ADVISORY  READ 19 {place}7 0 EOF\n4: FLOCK\n\n"
        );
        assert_eq!(holders(&locks, &file), [6136]);
        assert_eq!(holders("", &file), Vec::<u32>::new());
    }

    #[test]
    fn a_lock_of_this_process_stands_in_the_list_until_it_is_let_go() {
        let Ok(folder) = std::fs::canonicalize("/dev/shm") else {
            eprintln!("locks: skipped, because there is no /dev/shm");
            return;
        };
        let path = folder.join(format!("fairlane-vm-held-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let list = || holders(&std::fs::read_to_string(LOCKS).unwrap(), &path.metadata().unwrap());
        let before = list();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        let held = list();
        drop(file);
        let after = list();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((before, held, after), (vec![], vec![std::process::id()], vec![]));
    }
}
