//! Lanes that set something of the whole kernel: one command at a time, and one lane of its race at a time.

use crate::failure::{LaneFailure, failed};
use crate::lane_set::LaneSet;
use crate::layers::{VmLock, is_vm_held_by_another, is_vm_held_here, lock_vm};
use crate::recover::recover;
use crate::undo::Journal;
use std::path::Path;

/// Keeps every other command from what lanes set of the whole kernel, until all that this one was answered is dropped: a command
/// that has it may race any number of times. `undo`: the folder of undo journals.
///
/// # Errors
/// [`LaneFailure::Failed`] where another command has it or works on lanes now, or a dead race's settings cannot be put back.
pub fn lock_kernel(undo: &Path) -> Result<VmLock, LaneFailure> {
    let is_first = !is_vm_held_here();
    let lock = lock_vm()?;
    // A race that died since this command began may have left its settings, which would be taken for the machine's own.
    let recovered = recover(undo);
    if let Some(why) = recovered.failures.into_iter().next() {
        return Err(failed(why));
    }
    // One that begins later is told that the kernel is set.
    match others_at_work(&recovered.living, std::process::id()).filter(|_| is_first) {
        Some(why) => Err(failed(why)),
        None => Ok(lock),
    }
}

/// Why the kernel is not set while these processes have journals open; `None`: none of them is another one than `own`.
fn others_at_work(living: &[u32], own: u32) -> Option<String> {
    let mut others: Vec<u32> = living.iter().copied().filter(|pid| *pid != own).collect();
    others.sort_unstable();
    others.dedup();
    let (first, further) = others.split_first()?;
    let processes = further.iter().fold(first.to_string(), |list, pid| format!("{list}, {pid}"));
    let (command, word) = match further.is_empty() {
        true => ("another command works", "process"),
        false => ("other commands work", "processes"),
    };
    Some(format!(
        "{command} on lanes of this machine now ({word} {processes}), and this one would change figures there, because it sets \
         the kernel's writeback of the whole machine (layer vm); wait until that has ended"
    ))
}

impl LaneSet {
    /// Whether a lane sets something of the whole kernel: then no two lanes are open at once.
    pub(crate) fn sets_kernel(&self) -> bool {
        self.lanes.iter().any(|lane| lane.spec.vm().is_some())
    }

    /// [`lock_kernel`] where a lane sets something of the kernel, until this race is gone.
    ///
    /// # Errors
    /// As there.
    pub fn lock_kernel(&mut self) -> Result<(), LaneFailure> {
        if self.kernel_lock.is_none() && self.sets_kernel() {
            self.kernel_lock = Some(lock_kernel(&self.settings.undo)?);
        }
        Ok(())
    }

    /// Refuses to open a lane beside an open one where any of the race's lanes sets the kernel.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] with the lane that is open.
    pub(crate) fn check_alone(&self) -> Result<(), LaneFailure> {
        match self.lanes.iter().find(|lane| lane.open.is_some()).filter(|_| self.sets_kernel()) {
            None => Ok(()),
            Some(open) => Err(failed(format!(
                "lane {} is open, and lanes of a race that sets the kernel work one after the other; close it first",
                open.name
            ))),
        }
    }

    /// Puts back what lanes that are not open left set, because they could not be closed: the next one works without it.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub(crate) fn put_kernel_back_of_closed(&mut self, journal: &mut Journal) -> Result<(), LaneFailure> {
        let closed: Vec<usize> = (0..self.lanes.len()).filter(|&lane| self.lanes[lane].open.is_none()).collect();
        closed.into_iter().try_for_each(|lane| self.put_kernel_back(lane, Some(journal)))
    }

    /// Puts back what a lane set of the kernel, whatever else of it stands.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub(crate) fn put_kernel_back(&mut self, lane: usize, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        self.lanes[lane].stack.as_mut().map_or(Ok(()), |built| built.stack.put_kernel_back(journal))
    }

    /// Whether another race sets the kernel of this machine now, as a sentence without a full stop; a race that sets it itself is
    /// refused then.
    pub fn kernel_set_by_another(&self) -> Option<String> {
        (!self.sets_kernel() && is_vm_held_by_another()).then(|| {
            "another race sets the kernel's writeback (layer vm) of this whole machine while this one runs, so that its figures, \
             and the kernel's settings in its record, may be those of the other one's lanes; race again when that has ended"
                .to_owned()
        })
    }

    /// What a reader should know of figures of such lanes, and of those beside them.
    pub(crate) fn warning_of_kernel(&self) -> Option<String> {
        if !self.sets_kernel() {
            return self.kernel_set_by_another();
        }
        Some(
            "a lane sets the kernel's writeback (layer vm): the lanes work one after the other in each round, so that what \
             disturbs the machine for a moment does not hit all alike"
                .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sets_the_kernel_is_told_of_others_at_work_and_not_of_itself() {
        assert_eq!([others_at_work(&[], 7), others_at_work(&[7, 7], 7)], [None, None]);
        let one = others_at_work(&[7, 12], 7).unwrap_or_default();
        assert!(one.starts_with("another command works on lanes") && one.contains("(process 12)"), "{one}");
        let two = others_at_work(&[13, 7, 12, 13], 7).unwrap_or_default();
        assert!(two.starts_with("other commands work on lanes") && two.contains("(processes 12, 13)"), "{two}");
    }
}
