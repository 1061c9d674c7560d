//! Whether KVM truly works: a present /dev/kvm, and even a first instruction that runs, prove nothing, because
//! nested hosts hang later. The real kernel is booted until it answers, with a time limit.

use super::host::{Begun, Boot, Guest};
use super::kernel::{GuestKind, Kernel};
use super::machine::Machine;
use crate::failure::LaneFailure;
use model::Bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Hardware boots a small kernel in a second or two.
const PATIENCE: Duration = Duration::from_secs(12);
/// Memory of the trial.
const MEMORY: Bytes = Bytes(512 * Bytes::MIB);

/// What trials found, by kernel: a process tries each once.
static FOUND: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());

/// Why guests of QEMU cannot use KVM here.
///
/// # Errors
/// The reason, as a part of a sentence.
pub fn works_here(stop: &AtomicBool) -> Result<(), String> {
    device()?;
    let kernel = Kernel::find(GuestKind::Qemu, None).map_err(|failure| failure.to_string())?;
    let machine = Machine {
        kind: GuestKind::Qemu,
        kernel,
        cpus: 1,
        memory: MEMORY,
        disks: Vec::new(),
        sync: false,
        discards: false,
        kvm: true,
    };
    let boot = Boot {
        machine,
        // A name that the trial extends; the keeper removes it.
        folder: crate::host::temporary_folder().join(format!("fairlane-{}", std::process::id())),
        program: PathBuf::from("/proc/self/exe"),
        modules: Vec::new(),
        programs: Vec::new(),
        trace: None,
    };
    match works(&boot, stop, &mut |_| Ok(())) {
        true => Ok(()),
        false => Err(format!("a trial boot with KVM did not come up within {} s", PATIENCE.as_secs())),
    }
}

fn device() -> Result<(), String> {
    let allowed = rustix::fs::access(Path::new("/dev/kvm"), rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK);
    allowed.map_err(|_| "/dev/kvm cannot be opened".to_owned())
}

/// Where the trial of a guest has its folder.
pub(crate) fn trial_folder(boot: &Boot) -> PathBuf {
    boot.folder.with_extension("kvm")
}

/// What is known without a trial; `None`: only a trial tells.
pub(crate) fn known(kernel: &Path) -> Option<bool> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if device().is_err() { Some(false) } else { found.get(kernel).copied() }
}

/// Tries it with a guest's own kernel, without disks. `started` is told what to journal.
pub(crate) fn works(boot: &Boot, stop: &AtomicBool, started: &mut dyn FnMut(Begun) -> Result<(), LaneFailure>) -> bool {
    let path = boot.machine.kernel.path.clone();
    if let Some(known) = known(&path) {
        return known;
    }
    if stop.load(Ordering::Relaxed) {
        return false;
    }
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let mut trial = boot.clone();
    trial.machine.kvm = true;
    trial.machine.disks.clear();
    trial.folder = trial_folder(boot);
    trial.modules.clear();
    trial.programs.clear();
    let works = match Guest::boot_within(&trial, PATIENCE, stop, started) {
        Ok(guest) => {
            guest.end();
            true
        }
        Err(_) => false,
    };
    found().insert(path, works);
    works
}
