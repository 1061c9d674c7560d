//! A guest's clock beside the host's over each trial run: what is measured inside is measured with the guest's.

use super::round::Runner;
use super::trial_run::TrialRun;
use model::{Flag, Mark};

/// By which share a guest's clock may run fast or slow.
const MOST_DRIFT: f64 = 0.005;

impl Runner<'_> {
    /// Reads both clocks, once a trial run.
    pub(super) fn begin_clock(&mut self, trial_run: &mut TrialRun) {
        if trial_run.clocks.is_none()
            && let Some(clocks) = self.lanes.guest_clocks(trial_run.lane)
        {
            trial_run.clocks = clocks.ok();
            if trial_run.clocks.is_none() {
                unchecked(trial_run);
            }
        }
    }

    /// Reads them again and flags a trial run whose figures a wrong clock made.
    pub(super) fn end_clock(&mut self, trial_run: &mut TrialRun) {
        let Some(earlier) = trial_run.clocks.take() else { return };
        if !self.lanes.guest_lives(trial_run.lane) {
            return;
        }
        let Some(Ok(now)) = self.lanes.guest_clocks(trial_run.lane) else { return unchecked(trial_run) };
        if let Some(drift) = now.drift_since(&earlier).filter(|drift| drift.abs() > MOST_DRIFT) {
            trial_run.flags.push(flag(drift));
        }
    }
}

/// A clock that could not be read may have been wrong.
fn unchecked(trial_run: &mut TrialRun) {
    let flag = Flag::from(Mark::GuestClockUnchecked);
    if !trial_run.flags.contains(&flag) {
        trial_run.flags.push(flag);
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
        let mut trial_run = TrialRun::new(0, 0, 1);
        unchecked(&mut trial_run);
        unchecked(&mut trial_run);
        assert_eq!(trial_run.flags, [Flag::from(Mark::GuestClockUnchecked)]);
    }

    #[test]
    fn a_drift_is_told_with_its_way() {
        assert_eq!(flag(0.012), Flag::from("guest-clock: the guest's clock ran 1.2 % fast"));
        assert_eq!(flag(-0.006), Flag::from("guest-clock: the guest's clock ran 0.6 % slow"));
    }
}
