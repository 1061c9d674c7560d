//! A guest's clock beside the host's over each visit: what is measured inside is measured with the guest's.

use super::round::Track;
use super::visit::Visit;
use model::{Flag, Mark};

/// By which share a guest's clock may run fast or slow.
const MOST_DRIFT: f64 = 0.005;

impl Track<'_> {
    /// Reads both clocks, once a visit.
    pub(super) fn begin_clock(&mut self, visit: &mut Visit) {
        if visit.clocks.is_none()
            && let Some(guest) = self.stage.guest_of(visit.lane)
        {
            visit.clocks = guest.clocks(self.stop).ok();
            if visit.clocks.is_none() {
                unchecked(visit);
            }
        }
    }

    /// Reads them again and flags a visit whose figures a wrong clock made.
    pub(super) fn end_clock(&mut self, visit: &mut Visit) {
        let Some(earlier) = visit.clocks.take() else { return };
        let Some(guest) = self.stage.guest_of(visit.lane).filter(|guest| guest.lives()) else { return };
        let Ok(now) = guest.clocks(self.stop) else { return unchecked(visit) };
        if let Some(drift) = now.drift_since(&earlier).filter(|drift| drift.abs() > MOST_DRIFT) {
            visit.flags.push(flag(drift));
        }
    }
}

/// A clock that could not be read may have been wrong.
fn unchecked(visit: &mut Visit) {
    let flag = Flag::from(Mark::GuestClockUnchecked);
    if !visit.flags.contains(&flag) {
        visit.flags.push(flag);
    }
}

fn flag(drift: f64) -> Flag {
    let (share, way) = (drift.abs() * 100.0, if drift > 0.0 { "fast" } else { "slow" });
    Mark::GuestClock.with(format!("the guest's clock ran {share:.1} % {way}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cannot_be_read_marks_a_visit_once() {
        let mut visit = Visit::new(0, 0, 1);
        unchecked(&mut visit);
        unchecked(&mut visit);
        assert_eq!(visit.flags, [Flag::from(Mark::GuestClockUnchecked)]);
    }

    #[test]
    fn a_drift_is_told_with_its_way() {
        assert_eq!(flag(0.012), Flag::from("guest-clock: the guest's clock ran 1.2 % fast"));
        assert_eq!(flag(-0.006), Flag::from("guest-clock: the guest's clock ran 0.6 % slow"));
    }
}
