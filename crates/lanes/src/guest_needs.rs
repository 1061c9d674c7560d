//! What a guest needs to boot, and where else there is a kernel for what one lacks.

use crate::contestant::Contestant;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::Filesystem;
use crate::guest::{CarriedTrace, GuestKind, Kernel, uml};
use crate::lane_set::guest::{GuestSlot, cpus_of, kernel_mounts, memory_of};
use crate::lane_set::{LaneSet, Settings};
use crate::missing::doctor;
use model::Bytes;

/// Memory that a user-mode Linux guest needs beside twice this program: programs of 23 and 90 MB were booted by Debian's
/// 6.1 kernels with 128 and 192 MiB.
const LEAST_UML: u64 = 16 * Bytes::MIB;
/// The same of a QEMU guest: 192 and 320 MiB; with 160 the smaller program was not unpacked whole.
const LEAST_QEMU: u64 = 144 * Bytes::MIB;
/// Less was never enough for work on a filesystem.
const LEAST: u64 = 128 * Bytes::MIB;
/// The largest trace that a guest gets: its memory image lies below 2 GiB, together with all else that boots.
const MOST_TRACE: u64 = 1 << 30;

/// Refuses guests that are too small to boot, and CPUs that the machine has not.
pub(crate) fn check(guests: &[GuestSlot], settings: &Settings) -> Result<(), LaneFailure> {
    let memory = memory_of(settings);
    if let Some(trace) = settings.trace.as_ref().filter(|trace| trace.bytes() > MOST_TRACE) {
        return Err(usage(format!(
            "a guest gets a trace of at most {}, and this one has {}; race it on the host, or capture a shorter run",
            Bytes(MOST_TRACE),
            model::units::human_bytes(trace.bytes() as f64)
        )));
    }
    for slot in guests {
        let least = least_memory(slot.kind, kept_bytes(settings));
        if memory < least {
            let with = settings.trace.as_ref().map_or_else(String::new, |trace| {
                format!(" and a trace of {}", model::units::human_bytes(trace.bytes() as f64))
            });
            return Err(usage(format!(
                "a {} guest does not boot with {memory} of memory{with}; give it at least {least}: --guest-memory {least}",
                slot.kind.venue()
            )));
        }
    }
    let host = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    if settings.guest.cpus.is_some_and(|cpus| cpus > host) {
        return Err(usage(format!(
            "--guest-cpus {} is more than the {host} CPUs of this machine, which would have to take turns; lower it",
            cpus_of(settings)
        )));
    }
    Ok(())
}

/// Bytes of a guest's memory image that count: this program, and a trace.
fn kept_bytes(settings: &Settings) -> u64 {
    let program = std::fs::metadata(&settings.program).map_or(0, |of| of.len());
    program + settings.trace.as_ref().map_or(0, CarriedTrace::bytes)
}

/// What a guest takes while it boots, with so many bytes in its memory image: the kernel keeps the image and what it
/// unpacks of it at the same time.
fn booting_bytes(kind: GuestKind, kept: u64) -> u64 {
    let base = match kind {
        GuestKind::Uml => LEAST_UML,
        GuestKind::Qemu => LEAST_QEMU,
    };
    base + 2 * kept
}

/// The least memory that a guest boots with.
fn least_memory(kind: GuestKind, kept: u64) -> Bytes {
    Bytes(booting_bytes(kind, kept).next_multiple_of(32 * Bytes::MIB).max(LEAST))
}

/// What is surely free in a guest once it has booted: it has let go of the image then, and what its kernel takes for itself
/// is no more than that.
fn free_bytes(kind: GuestKind, memory: Bytes, kept: u64) -> u64 {
    memory.get().saturating_sub(booting_bytes(kind, kept))
}

impl LaneSet {
    /// What the work in guests finds free of their memory, rather too little; `None`: no lane lives in one.
    pub fn free_in_guests(&self) -> Option<Bytes> {
        let (memory, kept) = (memory_of(&self.settings), kept_bytes(&self.settings));
        let in_memory = self.lanes.iter().filter(|lane| lane.guest.is_some() && lane.contestant.in_memory());
        let files = in_memory.map(|lane| self.work_on(lane, None)).max().unwrap_or(0);
        let free = self.guests.iter().map(|slot| free_bytes(slot.kind, memory, kept)).min()?;
        // In words it is a round number, and its half too.
        Some(Bytes(free.saturating_sub(files) / (2 * Bytes::MIB) * (2 * Bytes::MIB)))
    }

    /// The trace that guests get.
    pub fn carried_trace(&self) -> Option<&CarriedTrace> {
        self.settings.trace.as_ref()
    }

    /// How much memory each guest has.
    pub fn memory_of_guests(&self) -> Bytes {
        memory_of(&self.settings)
    }
}

/// Where else a filesystem can be mounted that one kernel lacks; `here`: the guest whose kernel it is, `None`: the
/// host's own.
pub(crate) fn other_kernels(row: &Filesystem, here: Option<GuestKind>) -> String {
    let others = GuestKind::of_here().into_iter().filter(|kind| here != Some(*kind));
    let works = |kernel: &Kernel, kind| kind == GuestKind::Qemu || !uml::is_refused(kernel);
    let find = |kind| Kernel::find(kind, None).ok().filter(|kernel| works(kernel, kind));
    let found: Vec<_> = others.map(|kind| (kind, find(kind))).collect();
    let known = found.iter().map(|(kind, kernel)| (*kind, kernel.as_ref().map(|kernel| kernel_mounts(kernel, row))));
    elsewhere(&known.collect::<Vec<_>>(), here.is_none(), doctor())
}

/// `found`: guests, and whether their kernels mount it, `None` where the guest is missing.
fn elsewhere(found: &[(GuestKind, Option<bool>)], on_host: bool, doctor: &str) -> String {
    let boot = match on_host {
        true => "boot a kernel that has it",
        false => "name a kernel that has it: @qemu:/path/to/vmlinuz",
    };
    if let Some((kind, _)) = found.iter().find(|(_, mounts)| *mounts == Some(true)) {
        return format!("race it in a guest whose kernel has it: --on {}, or {boot}", kind.venue());
    }
    if let Some((kind, _)) = found.iter().find(|(_, mounts)| mounts.is_none()) {
        return format!("a guest's kernel may have it: `{doctor}` adds guests, then --on {}; or {boot}", kind.venue());
    }
    format!("no guest's kernel here has it either (`fairlane doctor` lists them); {boot}")
}

/// The package that brings a contestant's programs; empty: they are the user's own.
pub(crate) fn package_of(contestant: &Contestant) -> &'static str {
    match contestant {
        Contestant::Row(row) => row.package,
        Contestant::Custom(custom) => custom.row().and_then(|row| row.fuse).map_or("", |fuse| fuse.package),
        Contestant::Directory(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_needs_memory_for_its_kernel_and_twice_its_program() {
        let mib = |kind, program: u64| least_memory(kind, program * Bytes::MIB).get() / Bytes::MIB;
        assert!(mib(GuestKind::Qemu, 20) > 128, "QEMU does not boot with 128 MiB");
        assert!(mib(GuestKind::Uml, 20) <= 128, "user-mode Linux does");
        assert!(mib(GuestKind::Qemu, 200) >= mib(GuestKind::Qemu, 20) + 320);
        let free = |kept: u64| free_bytes(GuestKind::Uml, Bytes(512 << 20), kept * Bytes::MIB);
        assert!(free(20) > 300 << 20 && free(120) == free(20) - (200 << 20) && free(400) == 0);
    }

    #[test]
    fn another_guest_is_named_only_where_its_kernel_has_it() {
        use GuestKind::{Qemu, Uml};
        let told = |found: &[(GuestKind, Option<bool>)], on_host| {
            elsewhere(found, on_host, "fairlane doctor --install --user")
        };
        assert!(told(&[(Qemu, Some(true))], false).contains("--on qemu"));
        let nowhere = told(&[(Qemu, Some(false))], false);
        assert!(nowhere.contains("no guest's kernel here has it") && !nowhere.contains("--on qemu"), "{nowhere}");
        let host = told(&[(Uml, None), (Qemu, Some(false))], true);
        assert!(host.contains("`fairlane doctor --install --user`") && host.contains("--on uml"), "{host}");
        // Where there is no user-mode Linux, nobody is sent to it.
        let of_arm = told(&[(Qemu, None)], true);
        assert!(of_arm.contains("then --on qemu") && !of_arm.contains("uml"), "{of_arm}");
        assert!(told(&[(Uml, Some(true)), (Qemu, None)], true).contains("in a guest whose kernel has it: --on uml"));
    }
}
