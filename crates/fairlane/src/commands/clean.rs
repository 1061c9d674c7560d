//! `fairlane clean`, and the same at the start of every command: undo what a crash left behind.

use super::report::print;
use super::{doctor, lane_failure};
use crate::failure::Failure;
use crate::owner::Owner;
use crate::progress;
use crate::terminal;
use lanes::undo;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

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
    let material = engine::programs::remove_material();
    let material =
        material.iter().map(|of| format!("what programs work on: {}", report::clean_text(&of.display().to_string())));
    let links = links.iter().map(|folder| format!("removed {}", folder.display()));
    let lines = recovered.cleaned.iter().cloned().chain(drafts).chain(material).chain(links);
    let mut text: String = lines.map(|line| format!("{line}\n")).collect();
    let told = clean_as_user()?;
    text.push_str(&told);
    for pid in &recovered.living {
        text.push_str(&format!("a race still runs or is ending (process {pid}): what it made is its own\n"));
    }
    if text.is_empty() && recovered.failures.is_empty() {
        text = match left_by_root() {
            true => {
                "a race of root runs or left its lanes mounted; in the second case: sudo fairlane clean\n".to_owned()
            }
            false => NOTHING.to_owned(),
        };
    }
    print(&text)?;
    match recovered.failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(recovered.failures.join("; "))),
    }
}

/// Under sudo: what races of that user left, who raced in guests and directories, with his rights alone, because his journal
/// is no command to root. Answers what was said of it, nothing where there was nothing.
fn clean_as_user() -> Result<String, Failure> {
    let owner = Owner::current();
    let (Some((user, group)), Some(home)) = (owner.ids(), owner.home()) else { return Ok(String::new()) };
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("fairlane")
        .arg("clean")
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for name in ["XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let answer = bounded(command.uid(user).gid(group));
    let (status, said, complained) =
        answer.map_err(|error| Failure::failed(format!("cannot clean as the user who called sudo: {error}")))?;
    if !status.success() {
        let said = String::from_utf8_lossy(&complained);
        return Err(Failure::failed(format!(
            "as the user who called sudo: {}",
            said.trim().trim_start_matches("fairlane: ")
        )));
    }
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(if said == NOTHING || said.contains("sudo fairlane clean") { String::new() } else { said })
}

/// Runs a command of the user's; of what it prints so much is kept, and it is not heard any longer.
fn bounded(command: &mut Command) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (said, complained) = std::thread::scope(|scope| {
        let complained = scope.spawn(move || beginning(err));
        (beginning(out), complained.join().unwrap_or_else(|_| Ok(Vec::new())))
    });
    Ok((child.wait()?, said?, complained?))
}

fn beginning(from: Option<impl Read>) -> std::io::Result<Vec<u8>> {
    const MOST_BYTES: u64 = 64 << 10;
    let mut said = Vec::new();
    from.map_or(Ok(0), |from| from.take(MOST_BYTES).read_to_end(&mut said))?;
    Ok(said)
}

/// What is said where there was nothing.
const NOTHING: &str = "nothing to clean\n";

fn draft_text(draft: &Path) -> String {
    format!("half of what programs work on: {}", report::clean_text(&draft.display().to_string()))
}

/// Root's journals are for root alone, but what is mounted can be seen by all.
fn left_by_root() -> bool {
    !lanes::host::is_root()
        && std::fs::read_to_string("/proc/self/mountinfo").is_ok_and(|mounts| mounts.contains("/.fairlane-"))
}
