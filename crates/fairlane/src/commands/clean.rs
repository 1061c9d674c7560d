//! `fairlane clean`, and the same at the start of every command: undo what a crash left behind.

use super::report::print;
use super::{doctor, lane_failure};
use crate::failure::Failure;
use crate::progress;
use crate::terminal;
use lanes::undo;
use std::path::Path;

/// Undoes what races that died left behind, and says so on standard error; nothing to do is silent.
pub fn recover() {
    progress::sweep();
    doctor::sweep();
    for draft in engine::programs::sweep_material() {
        terminal::say!("cleaned up after an earlier race: {}", draft_text(&draft));
    }
    let directory = match undo::existing_directory() {
        Ok(Some(directory)) => directory,
        // Disks of dead processes are told of all the same.
        Ok(None) => std::path::PathBuf::new(),
        Err(failure) => {
            terminal::say!("fairlane: {failure}");
            return;
        }
    };
    let recovered = undo::recover(&directory);
    for line in &recovered.cleaned {
        terminal::say!("cleaned up after an earlier race: {line}");
    }
    for line in &recovered.failures {
        terminal::say!("could not clean up after an earlier race: {line}");
    }
    for folder in &recovered.dead {
        terminal::say!(
            "disks of a process that is gone are still mounted in {}; `fairlane clean` takes them away",
            report::clean_text(&folder.display().to_string())
        );
    }
}

/// Removes what crashed races left and what `--keep` kept.
///
/// # Errors
/// When something cannot be undone.
pub fn run() -> Result<(), Failure> {
    progress::sweep();
    let links = doctor::sweep();
    let drafts = engine::programs::sweep_material();
    let directory = undo::existing_directory().map_err(lane_failure)?.unwrap_or_default();
    let recovered = undo::recover_kept(&directory);
    let drafts = drafts.iter().map(|draft| draft_text(draft));
    let links = links.iter().map(|folder| format!("removed {}", folder.display()));
    let lines = recovered.cleaned.iter().cloned().chain(drafts).chain(links);
    let mut text: String = lines.map(|line| format!("{line}\n")).collect();
    if text.is_empty() && recovered.failures.is_empty() {
        text = match left_by_root() {
            true => {
                "a race of root runs or left its lanes mounted; in the second case: sudo fairlane clean\n".to_owned()
            }
            false => "nothing to clean\n".to_owned(),
        };
    }
    print(&text)?;
    match recovered.failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(recovered.failures.join("; "))),
    }
}

fn draft_text(draft: &Path) -> String {
    format!("half of what programs work on: {}", report::clean_text(&draft.display().to_string()))
}

/// Root's journals are for root alone, but what is mounted can be seen by all.
fn left_by_root() -> bool {
    !lanes::host::is_root()
        && std::fs::read_to_string("/proc/self/mountinfo").is_ok_and(|mounts| mounts.contains("/.fairlane-"))
}
