//! What the conductor asks of lanes and of their agents: the seam between a race and everything that is real.
//!
//! The lanes of a real race are [`super::built_lanes::BuiltLanes`]. Others stand in for them where a race is tested: then
//! nothing is mounted, nobody waits, and what happens when is known.

use super::agent_process::CallError;
use super::host_use::HostLook;
use super::timeline::SystemSource;
use super::timeouts::TimeAllowance;
use super::wait_idle::{Activity, Disks};
use lanes::guest::Clocks;
use lanes::{Closed, Cold, LaneFailure, Opened};
use model::agent::{Devices, Reply, Request};
use model::ranks::NodeClocks;
use profile::{ProfileError, Profiler};
use std::path::PathBuf;

/// The lanes of one race, each with its agent. A lane is a number from 0; what it stands on is a ground, of which each
/// has a number too.
pub trait RacedLanes {
    /// Asks the agent of a lane, which is started where there is none. `allowance`: how much longer than usual it may
    /// take; `waiting` is called every few milliseconds until the answer is there. After Ctrl-C the agent is asked to
    /// stop, and one that was lost is replaced at the next call.
    ///
    /// # Errors
    /// See [`CallError`].
    fn call(
        &mut self,
        lane: usize,
        request: &Request,
        allowance: Option<&TimeAllowance>,
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError>;

    /// The agent of a lane lets go of it, also after Ctrl-C; `None`: there is no agent.
    ///
    /// # Errors
    /// See [`CallError`].
    fn let_go(&mut self, lane: usize) -> Option<Result<(), CallError>>;

    /// Ends all agents: the next calls start others.
    fn end_agents(&mut self);

    /// How far clocks of the machines that worked go apart, asked once, behind the race; `None`: there is one, or nobody can tell.
    fn node_clocks(&mut self) -> Option<NodeClocks> {
        None
    }

    /// Formats a lane on a ground and mounts it.
    ///
    /// # Errors
    /// What the lane could not do; it is as it was then, but for [`RacedLanes::is_open`].
    fn open(&mut self, lane: usize, ground: usize) -> Result<Opened, LaneFailure>;

    /// Unmounts a lane.
    ///
    /// # Errors
    /// What went wrong; it may still be mounted.
    fn close(&mut self, lane: usize) -> Result<Closed, LaneFailure>;

    /// Whether a lane is open: after a [`RacedLanes::close`] that failed it may still be mounted.
    fn is_open(&self, lane: usize) -> bool;

    /// Empties the caches of a lane that its agent has let go of.
    ///
    /// # Errors
    /// When it cannot be unmounted or mounted again.
    fn make_cold(&mut self, lane: usize) -> Result<Cold, LaneFailure>;

    /// Checks the disk of a library that let go of it; answers the seconds. `None`: nothing else checks such a lane.
    ///
    /// # Errors
    /// What the check found.
    fn check_disk(&mut self, lane: usize) -> Result<Option<f64>, LaneFailure>;

    /// Whether all lanes may be open at once; otherwise each is closed before the next is opened.
    fn side_by_side(&self) -> bool;

    /// Number of images that lanes take turns on.
    fn images(&self) -> usize;

    /// The ground of a lane in a round of so many places further on.
    fn store_for(&self, lane: usize, shift: u32) -> usize;

    /// The number of the image that a ground has now, or of the ground itself where images stay.
    fn image_of(&self, ground: usize) -> usize;

    /// Whether a ground is an image on a loop device; all of those share one disk.
    fn is_image(&self, ground: usize) -> bool;

    /// Whether a ground is a disk of a guest.
    fn is_guest_disk(&self, ground: usize) -> bool;

    /// The block device of a ground; `None`: it has none, or is several.
    fn raw_target(&self, ground: usize) -> Option<PathBuf>;

    /// Each disk of a ground that is several of one's own, with what is watched at it; empty: it is none such.
    fn raw_disks(&self, ground: usize) -> Vec<(PathBuf, Devices)>;

    /// Builds the layers of a lane that is closed, without a filesystem; answers their device. `None`: it has none, or what
    /// they do alone is not what they do below a filesystem.
    ///
    /// # Errors
    /// When they cannot be built.
    fn stand_bare(&mut self, lane: usize, ground: usize) -> Result<Option<PathBuf>, LaneFailure>;

    /// Takes them down again.
    ///
    /// # Errors
    /// When the guest does not.
    fn take_down_bare(&mut self, lane: usize) -> Result<(), LaneFailure>;

    /// Brings so much of a ground to where its disk lies, before its ceiling is measured.
    fn warm(&self, ground: usize, bytes: u64);

    /// The devices of a ground, as /proc/diskstats names them.
    fn device_names(&self, ground: usize) -> Devices;

    /// The same of an open lane, with the processes that are its filesystem.
    fn watched(&self, lane: usize, ground: usize) -> Devices;

    /// The disks that must be quiet before lanes on these grounds are measured.
    fn disks_of(&self, grounds: &[usize]) -> Disks;

    /// What those disks have under way; `with_host`: also the one that disks of guests lie on.
    fn activity(&self, disks: &Disks, with_host: bool) -> Activity;

    /// Holds a ground's device to the lane's throttle, if there is one.
    ///
    /// # Errors
    /// When the kernel refuses it.
    fn hold(&mut self, ground: usize, lane: usize) -> Result<(), LaneFailure>;

    /// The same where the bare device is measured.
    ///
    /// # Errors
    /// When the kernel refuses it.
    fn hold_bare(&mut self, ground: usize) -> Result<(), LaneFailure>;

    /// Holds a ground's device no longer.
    ///
    /// # Errors
    /// When the kernel refuses it.
    fn lift(&mut self, ground: usize) -> Result<(), LaneFailure>;

    /// Whether a lane lives in a guest.
    fn in_guest(&self, lane: usize) -> bool;

    /// Whether the guest of a lane lives.
    fn guest_lives(&self, lane: usize) -> bool;

    /// A guest's clock beside this machine's; `None`: the lane is in no guest that was started.
    fn guest_clocks(&self, lane: usize) -> Option<Result<Clocks, LaneFailure>>;

    /// Where lanes of several guests are compared: guests that were just started, on images that change places.
    ///
    /// # Errors
    /// When something of a guest stays.
    fn renew_guests(&mut self, shift: usize) -> Result<(), LaneFailure>;

    /// Which system a lane with these devices works in.
    fn system_of<'a>(&self, lane: usize, devices: &'a Devices) -> SystemSource<'a>;

    /// What this machine does beside a lane in a guest; `None`: the lane is in none, or nothing is told.
    fn beside_guest(&self, lane: usize) -> Option<HostLook>;

    /// The process of a lane's agent on this machine; `None`: there is none, or it lives in a guest.
    fn agent_pid(&self, lane: usize) -> Option<u32>;

    /// Opens what looks at the kernel while lanes work.
    ///
    /// # Errors
    /// What this machine refuses, or does not have.
    fn profiler(&self) -> Result<Profiler, ProfileError>;

    /// Whether the kernel lets itself be looked at, as far as a short try tells.
    fn can_profile(&self) -> bool;

    /// How often the CPUs slowed down for heat since they were started; `None`: not known.
    fn cpu_throttle_events(&self) -> Option<u64>;

    /// Where a server of a lane notes its process id.
    fn server_note(&self, lane: usize) -> PathBuf;

    /// A server of a lane is about to start: whatever happens, it is ended.
    ///
    /// # Errors
    /// When the journal cannot be written.
    fn server_starts(&mut self, lane: usize) -> Result<(), LaneFailure>;

    /// It has ended.
    ///
    /// # Errors
    /// When the journal cannot be written.
    fn server_ended(&mut self, lane: usize) -> Result<(), LaneFailure>;
}
