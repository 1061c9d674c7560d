//! Whether the buffers of a job fit into memory: numbers of a suite may ask for terabytes, which the kernel promises and
//! then takes from whatever else runs.

use crate::error::EngineError;
use model::Bytes;
use model::job::Io;

/// Of the memory that is free, buffers may take so much.
const MOST_OF_MEMORY: f64 = 0.9;

/// MemAvailable of /proc/meminfo, in bytes.
pub(crate) fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Refuses jobs that run together where their buffers would not fit.
///
/// # Errors
/// The sentence with the remedy.
pub(super) fn check_buffers<'a>(together: impl Iterator<Item = &'a Io>) -> Result<(), EngineError> {
    let asked = together.map(Io::buffer_bytes).fold(0, u64::saturating_add);
    let free = available_bytes();
    // 0: the kernel does not tell.
    if free > 0 && asked as f64 > MOST_OF_MEMORY * free as f64 {
        return Err(EngineError::Unsuitable(format!(
            "buffers of {} MiB do not fit into the {} MiB of memory that are free; lower iodepth, bs or numjobs",
            asked / Bytes::MIB,
            free / Bytes::MIB
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_terabytes_are_refused_before_anything_is_made() {
        let usual = Io { bs: Bytes(4096), iodepth: 32, numjobs: 4, ..Io::default() };
        check_buffers([&usual, &usual].into_iter()).unwrap();
        assert!(available_bytes() > 1 << 20);
        let huge = Io { bs: Bytes(64 << 20), iodepth: 65_536, numjobs: 1024, ..Io::default() };
        let said = check_buffers([&usual, &huge].into_iter()).unwrap_err().to_string();
        assert!(said.contains("do not fit into the") && said.contains("lower iodepth"), "{said}");
        let over = Io { bs: Bytes(u64::MAX), ..huge };
        check_buffers([&over, &over].into_iter()).unwrap_err();
    }
}
