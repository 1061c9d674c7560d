//! Whether KVM truly works: a present /dev/kvm, and even a first instruction that runs, prove nothing, because
//! nested hosts hang later. The real kernel is booted to its first process, with a time limit.

use super::host::{Boot, Guest};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Hardware boots a small kernel in a second or two.
const PATIENCE: Duration = Duration::from_secs(12);

/// Tries it, without disks.
pub(crate) fn works(boot: &Boot, stop: &AtomicBool) -> bool {
    let device = Path::new("/dev/kvm");
    let allowed = rustix::fs::access(device, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK);
    if allowed.is_err() || stop.load(Ordering::Relaxed) {
        return false;
    }
    let mut trial = boot.clone();
    trial.machine.kvm = true;
    trial.machine.disks.clear();
    trial.folder = boot.folder.with_extension("kvm");
    trial.modules.clear();
    trial.programs.clear();
    match Guest::boot_within(&trial, PATIENCE, stop, &mut |_| Ok(())) {
        Ok(guest) => {
            guest.end();
            true
        }
        Err(_) => false,
    }
}
