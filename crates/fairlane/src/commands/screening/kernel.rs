//! The settings of the whole kernel that options of a screening make: its races, one behind the other, have them to themselves.

use super::levels;
use crate::commands::{lane_failure, planning};
use crate::failure::Failure;
use lanes::{KernelLock, host, undo};
use model::lane::LaneSpec;
use model::screening::Factor;

/// Keeps other races from what this screening sets of the kernel, until what is answered is dropped; `None`: it sets nothing, or
/// the check of its lanes says why it may not.
///
/// # Errors
/// Where another race sets it, or other commands work on lanes now.
pub fn hold(base: &LaneSpec, factors: &[Factor]) -> Result<Option<KernelLock>, Failure> {
    if !is_set(base, factors) || planning::in_guest(base) || !host::is_root() {
        return Ok(None);
    }
    let undo = undo::directory().map_err(lane_failure)?;
    lanes::lock_kernel(&undo).map(Some).map_err(lane_failure)
}

/// Whether the lane, or a level of an option, sets the kernel.
pub fn is_set(base: &LaneSpec, factors: &[Factor]) -> bool {
    base.vm().is_some() || factors.iter().any(is_set_by)
}

/// Whether a level of an option sets the kernel.
pub fn is_set_by(factor: &Factor) -> bool {
    (0..levels::count(factor)).any(|at| levels::level(factor, at).is_some_and(|level| !level.vm.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanes::screened_options::parse_option;

    #[test]
    fn a_screening_sets_the_kernel_where_its_lane_or_any_level_does() {
        let set = |lane: &str, options: &[&str]| {
            let base: LaneSpec = lane.parse().unwrap();
            let factors: Vec<Factor> = options.iter().map(|text| parse_option(&base, text).unwrap()).collect();
            is_set(&base, &factors)
        };
        for options in [&["dirty_ratio"][..], &["noatime", "vm.swappiness=60|default|10"][..]] {
            assert!(set("ext4", options), "{options:?}");
        }
        assert!(set("ext4/vm,dirty_ratio=5", &["noatime"]));
        assert!(!set("ext4", &["noatime", "read_ahead", "commit=5|30"]));
    }

    #[test]
    fn nothing_is_locked_for_what_sets_nothing() {
        let base: LaneSpec = "ext4".parse().unwrap();
        let factors = [parse_option(&base, "noatime").unwrap()];
        assert!(hold(&base, &factors).is_ok_and(|held| held.is_none()));
    }
}
