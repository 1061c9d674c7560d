//! What single things take, roughly, on kinds of disks and in guests.

/// What single things take: rough figures of a disk that spins and of one that does not. Chosen near what
/// ordinary ones show, in round numbers: a disk may be three times faster or slower. They serve forecasts,
/// among them whether a workload of which no round was raced yet still fits into the budget: where they
/// are too low a race may take one round longer than it should, where they are too high a workload is named
/// as not raced that would have fitted. No figure of a filesystem rests on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bytes per second of large writes, made and written.
    pub sequential: f64,
    /// Bytes per second of small writes at random places.
    pub random: f64,
    /// Bytes per second of small writes with a flush behind each.
    pub flushed: f64,
    /// Bytes per second that are read back and compared.
    pub compared: f64,
    /// Of one flush.
    pub flush_seconds: f64,
    /// Of an operation that makes, removes or renames something and waits for no disk.
    pub change_seconds: f64,
    /// Of one that looks at something in the caches, or moves a block of an open file.
    pub look_seconds: f64,
    /// Of one that reads from a cold disk.
    pub cold_seconds: f64,
    /// Of starting a process and waiting for its end.
    pub process_seconds: f64,
    /// Of mkfs, mount, the last sync and unmount.
    pub visit_seconds: f64,
    /// Of unmounting and mounting again with empty caches.
    pub remount_seconds: f64,
}

/// A solid-state or virtual disk. Chosen: an NVMe disk of the lower middle, a flush of a consumer drive
/// without power-loss protection.
pub const FAST: Rates = Rates {
    sequential: 700e6,
    random: 300e6,
    flushed: 20e6,
    compared: 800e6,
    flush_seconds: 1e-3,
    change_seconds: 40e-6,
    look_seconds: 5e-6,
    cold_seconds: 150e-6,
    process_seconds: 1e-3,
    visit_seconds: 0.25,
    remount_seconds: 0.12,
};

/// A disk that spins. Chosen: 7,200 revolutions a minute, so 4.2 ms for half a turn and about as much for a
/// seek; a flush waits for a turn or two.
pub const SPINNING: Rates = Rates {
    sequential: 130e6,
    random: 2e6,
    flushed: 0.5e6,
    compared: 130e6,
    flush_seconds: 20e-3,
    change_seconds: 60e-6,
    look_seconds: 5e-6,
    cold_seconds: 8e-3,
    process_seconds: 1e-3,
    visit_seconds: 2.0,
    remount_seconds: 0.5,
};

/// A guest: every system call changes into its kernel and back by the host's, or runs on an emulated CPU.
/// Chosen after races in user-mode Linux on two CPUs.
pub const IN_GUEST: Rates = Rates {
    sequential: 200e6,
    random: 40e6,
    flushed: 8e6,
    compared: 300e6,
    flush_seconds: 1e-3,
    change_seconds: 300e-6,
    look_seconds: 40e-6,
    cold_seconds: 400e-6,
    process_seconds: 10e-3,
    visit_seconds: 0.5,
    remount_seconds: 0.2,
};

/// Bytes per second that a FUSE program writes in user-mode Linux: 10 to 20 MB/s were seen of ntfs-3g, which
/// makes several system calls for every 4 KiB.
pub(super) const FUSE_IN_GUEST: f64 = 15e6;

impl Rates {
    /// The mean of lanes of which such a share is FUSE in a guest.
    pub fn with_fuse_in_guest(self, share: f64) -> Self {
        if share == 0.0 {
            return self;
        }
        let mean = |rate: f64| 1.0 / ((1.0 - share) / rate + share / FUSE_IN_GUEST.min(rate));
        Rates { sequential: mean(self.sequential), random: mean(self.random), ..self }
    }
}
