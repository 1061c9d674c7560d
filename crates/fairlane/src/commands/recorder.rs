//! The hidden command that serves a disk on behalf of `powercut` and `integrity`.

use crate::failure::Failure;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long what a dead parent left is tried to be taken away.
const ATTEMPTS: u32 = 5;

/// Serves until its file is unmounted. Where it is mounted stands in the command line too, for `fairlane clean` and
/// for whoever lists processes.
///
/// # Errors
/// Where it cannot be served.
pub fn run(sweep: bool) -> Result<(), Failure> {
    let _ = rustix::thread::set_name(c"fairlane-disk");
    if sweep {
        super::clean::recover();
        return Ok(());
    }
    crashes::control::serve(crashes::control::Hooks { orphaned })
        .map_err(|error| Failure::failed(format!("the disk cannot be served: {error}")))
}

/// The parent is gone. If it unmounted everything, this process ends by itself within the pause; otherwise the
/// undo journal says what is left, and a process that is not this one takes it away: nobody unmounts the file
/// that it serves itself.
fn orphaned() {
    for _ in 0..ATTEMPTS {
        std::thread::sleep(Duration::from_secs(1));
        let mut command = Command::new("/proc/self/exe");
        command.args(["recorder", "--sweep"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut child) = command.spawn() {
            let _ = child.wait();
        }
    }
}
