//! Emulated disks, as far as a forecast asks.

use model::Throttle;
use model::throttle::slice_of_all;
use model::workload::Io;

/// What devices are held to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Disks {
    /// The bare ones of the ceilings; `None`: to nothing.
    pub bare: Option<Throttle>,
    /// Each lane's; empty: none is held.
    pub lanes: Vec<Option<Throttle>>,
}

impl Disks {
    /// Nothing is held.
    #[cfg(test)]
    pub(super) const FREE: Disks = Disks { bare: None, lanes: Vec::new() };

    /// Whether any is held to something.
    pub(super) fn are_held(&self) -> bool {
        self.bare.iter().chain(self.lanes.iter().flatten()).next().is_some()
    }

    /// Seconds of warm-up and of the window of a slice of steady work; `None`: nothing is held.
    pub(super) fn slice(&self, io: &Io) -> Option<(f64, f64)> {
        let all: Vec<Throttle> = self.bare.iter().chain(self.lanes.iter().flatten()).copied().collect();
        slice_of_all(&all, io)
    }

    /// The mean of something over the lanes.
    pub(super) fn mean(&self, of: impl Fn(Option<Throttle>) -> f64) -> f64 {
        match self.lanes.len() {
            0 => of(None),
            count => self.lanes.iter().map(|&throttle| of(throttle)).sum::<f64>() / count as f64,
        }
    }
}

/// A rate of writing in bytes per second, in requests of so many bytes, as far as limits let it.
pub(super) fn limited(throttle: Option<Throttle>, rate: f64, block: u64) -> f64 {
    let Some(throttle) = throttle else { return rate };
    let bytes = throttle.write_bytes_per_second.map_or(f64::INFINITY, |limit| limit as f64);
    let requests = throttle.write_iops.map_or(f64::INFINITY, |limit| limit as f64 * block as f64);
    rate.min(bytes).min(requests)
}
