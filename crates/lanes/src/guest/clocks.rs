//! A guest's clock beside the host's.

/// Two clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocks {
    /// The host's monotonic clock.
    pub host_seconds: f64,
    /// The guest's.
    pub guest_seconds: f64,
    /// By how much they may be apart in time.
    pub doubt_seconds: f64,
}

impl Clocks {
    /// By which share the guest's clock ran fast (or, below 0, slow) since an earlier moment, as far as the
    /// doubt leaves any; `None`: too little time passed to tell.
    pub fn drift_since(&self, earlier: &Clocks) -> Option<f64> {
        let host = self.host_seconds - earlier.host_seconds;
        let guest = self.guest_seconds - earlier.guest_seconds;
        let doubt = self.doubt_seconds + earlier.doubt_seconds;
        if host < 0.1 {
            return None;
        }
        let apart = guest - host;
        Some(apart.signum() * (apart.abs() - doubt).max(0.0) / host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_what_the_doubt_cannot_explain() {
        let at = |host_seconds: f64, guest_seconds: f64| Clocks { host_seconds, guest_seconds, doubt_seconds: 0.01 };
        let drift = |guest: f64| at(110.0, guest).drift_since(&at(100.0, 5.0));
        assert_eq!(drift(15.0), Some(0.0));
        assert_eq!(drift(15.015), Some(0.0));
        assert!(drift(15.12).is_some_and(|drift| (drift - 0.01).abs() < 1e-9));
        assert!(drift(14.88).is_some_and(|drift| (drift + 0.01).abs() < 1e-9));
        assert_eq!(at(100.05, 5.05).drift_since(&at(100.0, 5.0)), None);
    }
}
