//! The cost of single jobs beside fio and a bare loop.

use crate::grounds::{Grounds, folder_in};
use crate::runs::{Runner, middle, ratio, rounds, run};
use anyhow::{Result, bail};
use engine::clock::Clock;
use std::path::Path;

const ROUNDS: usize = 9;

/// Prints the table of the rows whose names hold the part.
pub fn print(part: &str) -> Result<()> {
    let bench = crate::jobs_folder().join("rows");
    let job = |name: &str| bench.join(format!("{name}.fio"));
    let grounds = Grounds::build(&["ext4"])?;
    let lane = grounds.directories[0].clone();
    let memory = folder_in("/dev/shm")?;
    println!("clock: {}", Clock::get().name());
    println!("| work | against | IOPS ratio (range) | at least | total CPU | user CPU | ours | theirs |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let row = |work: &str,
               ours: &str,
               against: &str,
               theirs: (Runner, &str),
               directory: &Path,
               bar: &str|
     -> Result<()> {
        if !work.contains(part) && !against.contains(part) {
            return Ok(());
        }
        let (ours, peer) = (job(ours), job(theirs.1));
        let costs = rounds(&[(Runner::Fairlane, &*ours), (theirs.0, &*peer)], directory, ROUNDS)?;
        let (iops, least, most) = ratio(&costs[0], &costs[1], |cost| cost.iops);
        let (total, ..) = ratio(&costs[0], &costs[1], |cost| cost.total_cpu_us);
        let (user, ..) = ratio(&costs[0], &costs[1], |cost| cost.user_cpu_us);
        let figures = costs.iter().map(|costs| middle(costs)).map(|cost| {
            format!("{:.0} IOPS, {:.2} µs CPU, {:.2} µs user", cost.iops, cost.total_cpu_us, cost.user_cpu_us)
        });
        let figures = figures.collect::<Vec<_>>().join(" | ");
        println!(
            "| {work} | {against} | {iops:.3} ({least:.2} to {most:.2}) | {bar} | {total:.2} | {user:.2} | {figures} |"
        );
        Ok(())
    };
    let memory_path = memory.clone();
    row("null engine, latency of every operation", "null", "fio null", (Runner::Fio, "null"), &memory_path, "4")?;
    for (place, directory) in [("tmpfs", &memory_path), ("ext4", &lane)] {
        run(&Runner::Fairlane, &job("cached-sync"), directory)?;
        let file = directory.join("cached.0.0");
        if !resident(&file)? {
            bail!("{} is not wholly in the page cache; free some memory", file.display());
        }
        let work = format!("4 KiB cached random read, sync, {place}");
        let bare = Runner::Bare("cached.0.0".to_owned());
        row(&work, "cached-sync", "bare pread loop", (bare, "cached-sync"), directory, "0.98")?;
        row(&work, "cached-sync", "fio psync", (Runner::Fio, "cached-sync"), directory, "1.2")?;
    }
    let direct = "4 KiB random read, direct, io_uring, iodepth 64, ext4";
    let bar = "1.05, total CPU 0.6";
    row(direct, "direct-uring", "fio default", (Runner::Fio, "direct-uring"), &lane, bar)?;
    let bar = "0.98, total CPU 1.0, user CPU 0.6";
    row(direct, "direct-uring-tuned", "fio tuned", (Runner::Fio, "direct-uring-tuned"), &lane, bar)?;
    let cached = "4 KiB cached random read, buffered, io_uring, iodepth 32, ext4";
    row(cached, "cached-uring", "fio default", (Runner::Fio, "cached-uring"), &lane, "1.6")?;
    row(cached, "cached-uring-tuned", "fio tuned", (Runner::Fio, "cached-uring-tuned"), &lane, "1.1")?;
    let libaio = "4 KiB random read, direct, libaio, iodepth 64, ext4";
    row(libaio, "direct-libaio", "fio", (Runner::Fio, "direct-libaio"), &lane, "1.0")?;
    row("sequential read 1 MiB, direct, ext4", "seq-read", "fio", (Runner::Fio, "seq-read"), &lane, "1.0")?;
    row("sequential write 1 MiB, direct, ext4", "seq-write", "fio", (Runner::Fio, "seq-write"), &lane, "1.0")?;
    std::fs::remove_dir_all(memory)?;
    Ok(())
}

/// Whether every page of the file is in the page cache.
fn resident(path: &Path) -> Result<bool> {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open(path)?;
    let bytes = file.metadata()?.len() as usize;
    let mut pages = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a shared read-only mapping of a file that is open, of its length, at an address of the
    // kernel's choice; it is only asked about and unmapped again. `pages` has a byte for each page.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        libc::mincore(start, bytes, pages.as_mut_ptr());
        libc::munmap(start, bytes);
    }
    Ok(pages.iter().all(|page| page & 1 == 1))
}
