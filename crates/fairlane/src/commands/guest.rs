//! This program as a part of a guest: its first process, its worker, and on the host the keeper of its processes.

use crate::failure::Failure;
use crate::options::GuestKeeper;
use crate::signals;
use crate::terminal;
use lanes::guest::init::Role;
use lanes::guest::worker::{self, Looking};
use lanes::guest::{init, keeper};
use model::agent::Devices;
use sampler::{Sampler, Writeback};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the kernel of a guest started.
pub fn run(role: Role) -> ExitCode {
    match role {
        Role::Init => init::run(),
        Role::Worker => match worker::run(&watch) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                // The console: the host keeps its last lines.
                terminal::say!("fairlane-guest: {why}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Looks at the guest's own system from now on.
fn watch(devices: &Devices, appenders: bool) -> Looking {
    let mut sampler = Sampler::new(devices);
    let mut story = appenders.then(Writeback::open);
    sampler.begin(false);
    Box::new(move || {
        let beside = story.as_mut().map(Writeback::look);
        (sampler.lap(), beside)
    })
}

/// Keeps a guest until it or Fairlane ends; its exit status is the guest's.
///
/// # Errors
/// When the guest cannot be started.
pub fn keep(options: &GuestKeeper) -> Result<(), Failure> {
    let _ = rustix::thread::set_name(c"fairlane-keeper");
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    let GuestKeeper { parent, folder, apart, whole_registers, command } = options;
    let status = keeper::keep(*parent, folder, command, *apart, *whole_registers, &stop).map_err(Failure::failed)?;
    std::process::exit(i32::from(status));
}
