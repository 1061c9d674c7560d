//! How long guests take from the first byte of their memory image to their first answer.

use anyhow::{Context, Result, bail};
use lanes::guest::{Boot, Guest, GuestKind, Kernel, Machine};
use model::Bytes;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Starts of each kind.
const STARTS: usize = 5;
/// What a race of two lanes has.
const MEMORY: Bytes = Bytes(512 * Bytes::MIB);

/// Starts each kind of guest with the modules of ext4 and xfs, and prints the seconds.
pub fn print() -> Result<()> {
    let cpus = std::thread::available_parallelism()?.get().min(2) as u32;
    println!("| guest | kernel | CPUs | seconds until it answers, start by start | median |");
    println!("| --- | --- | --- | --- | --- |");
    for kind in [GuestKind::Uml, GuestKind::Qemu] {
        let kernel = Kernel::find(kind, None)?;
        let release = kernel.release.clone();
        let machine =
            Machine { kind, kernel, cpus, memory: MEMORY, disks: Vec::new(), sync: false, discards: false, kvm: false };
        let mut seconds = Vec::new();
        for start in 0..STARTS {
            let folder = std::env::temp_dir().join(format!("fairlane-bench-{}-{start}", std::process::id()));
            let boot = Boot {
                machine: machine.clone(),
                folder,
                program: fairlane()?,
                modules: vec!["ext4", "xfs"],
                programs: Vec::new(),
                trace: None,
            };
            let guest = Guest::boot(&boot, &AtomicBool::new(false), &mut |_| Ok(()))?;
            seconds.push(guest.boot_seconds());
            guest.end();
        }
        let each: Vec<String> = seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
        seconds.sort_by(f64::total_cmp);
        let (of, cpus) = match kind {
            GuestKind::Uml => ("user-mode Linux", 1),
            GuestKind::Qemu => ("QEMU, emulated CPU", cpus),
        };
        println!("| {of} | {release} | {cpus} | {} | {:.2} |", each.join(", "), seconds[STARTS / 2]);
    }
    Ok(())
}

/// The program that becomes a guest's first process: built beside this one.
pub fn fairlane() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(|folder| folder.parent()).context("this program lies in no folder")?;
    let program = folder.join("fairlane");
    match program.is_file() {
        true => Ok(program),
        false => bail!("{} is missing; build it: cargo build --release", program.display()),
    }
}
