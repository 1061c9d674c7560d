//! `fairlane clean`, and the same at the start of every command: undo what a crash left behind.

use super::report::print;
use super::{doctor, lane_failure};
use crate::failure::Failure;
use crate::owner::Owner;
use crate::progress;
use crate::terminal;
use lanes::undo;
use model::units::human_bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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
    lanes::kept_images::sweep(&directory);
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
pub fn run(aged: bool) -> Result<(), Failure> {
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
    text.push_str(&kept_images(&directory, aged));
    let told = clean_as_user(aged)?;
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

/// Images of aged lanes: removed where that was asked for, told where they are kept.
fn kept_images(undo: &Path, remove: bool) -> String {
    use lanes::kept_images::{self, Removed};
    kept_images::sweep(undo);
    let counted = |count: u64| if count == 1 { "1 image".to_owned() } else { format!("{count} images") };
    let (images, bytes) = kept_images::kept(undo);
    if !remove {
        return match images {
            0 => String::new(),
            _ => format!(
                "{} of aged lanes are kept, {} of at most {}: `fairlane clean --aged` removes them\n",
                counted(images),
                human_bytes(bytes as f64),
                human_bytes(kept_images::MOST_BYTES as f64)
            ),
        };
    }
    let Removed { images, bytes, in_use } = kept_images::remove_all(undo);
    let mut text = String::new();
    if images > 0 {
        text.push_str(&format!("removed {} of aged lanes, {}\n", counted(images), human_bytes(bytes as f64)));
    }
    if in_use > 0 {
        text.push_str(&format!("{} of aged lanes stay: a race uses them\n", counted(in_use)));
    }
    text
}

/// Under sudo: what races of that user left, who raced in guests and directories, with his rights alone, because his journal
/// is no command to root. Answers what was said of it, nothing where there was nothing.
fn clean_as_user(aged: bool) -> Result<String, Failure> {
    let owner = Owner::current();
    let (Some((user, group)), Some(home)) = (owner.ids(), owner.home()) else { return Ok(String::new()) };
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("fairlane")
        .arg("clean")
        .args(aged.then_some("--aged"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for name in ["XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let answer = bounded(command.uid(user).gid(group), PATIENCE);
    let (status, said, complained) =
        answer.map_err(|error| Failure::failed(format!("cannot clean as the user who called sudo: {error}")))?;
    if !status.success() {
        let said = String::from_utf8_lossy(&complained);
        return Err(Failure::failed(marked(user, said.trim().trim_start_matches("fairlane: ")).trim_end().to_owned()));
    }
    let said = String::from_utf8_lossy(&said);
    Ok(if said == NOTHING || said.contains("sudo fairlane clean") { String::new() } else { marked(user, &said) })
}

/// What a process of the user's said, marked line by line: he may have it say anything, and it is not to pass for root's word.
fn marked(user: u32, said: &str) -> String {
    said.lines().map(|line| format!("as user {user}: {}\n", report::clean_text(line))).collect()
}

/// How long the user's own clean-up may take: he may stop it, and root's goes on.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a command of the user's; of what it prints so much is kept, and then, or after that time, it is not heard any longer.
fn bounded(command: &mut Command, patience: Duration) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let until = Instant::now() + patience;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (said, complained) = std::thread::scope(|scope| {
        let complained = scope.spawn(move || beginning(err, until));
        (beginning(out, until), complained.join().unwrap_or_else(|_| Ok(Vec::new())))
    });
    loop {
        match child.try_wait()? {
            Some(status) => return Ok((status, said?, complained?)),
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill()?;
                child.wait()?;
                let said = format!("it was not done after {} s, and was ended; run it again", patience.as_secs());
                return Err(std::io::Error::other(said));
            }
        }
    }
}

fn beginning(from: Option<impl Read + AsFd>, until: Instant) -> std::io::Result<Vec<u8>> {
    const MOST_BYTES: usize = 64 << 10;
    let Some(mut from) = from else { return Ok(Vec::new()) };
    let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
    while said.len() < MOST_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&left)) {
            Ok(0) => break,
            Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        match from.read(&mut chunk)? {
            0 => break,
            count => said.extend_from_slice(&chunk[..count]),
        }
    }
    said.truncate(MOST_BYTES);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_users_own_clean_up_says_does_not_pass_for_roots_word() {
        let said = marked(1000, "removed /tmp/x\nfairlane: done\n\u{1b}[2Jnothing to clean\rx");
        assert!(said.lines().count() == 3 && said.ends_with('\n'), "{said}");
        assert!(
            said.lines().all(|line| line.starts_with("as user 1000: ")) && !said.contains(['\u{1b}', '\r']),
            "{said}"
        );
    }

    #[test]
    fn the_users_own_clean_up_is_heard_for_so_long_and_so_much() {
        let heard = |words: &[&str]| bounded(Command::new(words[0]).args(&words[1..]), Duration::from_secs(60));
        let (status, said, complained) = heard(&["echo", "done"]).unwrap();
        assert!(status.success() && said == b"done\n" && complained.is_empty());
        let (status, said, _) = heard(&["yes"]).unwrap();
        assert!(!status.success() && said.len() == 64 << 10);
        let told = bounded(Command::new("sleep").arg("600"), Duration::from_millis(200)).unwrap_err().to_string();
        assert!(told.contains("was ended; run it again"), "{told}");
    }
}
