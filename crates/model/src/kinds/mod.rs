//! The kinds of work, and what everybody outside of their folders asks them.

pub mod appenders;
pub mod collective;
pub mod contention;
pub mod durable;
pub mod foreign;
pub mod job;
pub mod mix;
pub mod oltp;
pub mod one_file;
pub mod operations;
pub mod programs;
pub mod replay;
pub mod small_files;
pub mod streams;

use crate::Bytes;
use crate::findings::Counts;
use crate::record::Profile;
use crate::workload::Kind;
use job::{Data, Io, Pattern};
use oltp::Oltp;
use operations::{Asked, Operations};
use programs::Programs;

/// A kind of work, as everybody outside of its folder asks it. Whoever needs to know something of a workload asks here;
/// what a new kind does not answer itself holds for most of them.
pub trait WorkloadKind {
    /// The groups whose figures the work yields, in order.
    fn groups(&self) -> Vec<String>;

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the key.
    fn check(&self) -> Result<(), String>;

    /// How the work is cut into what lanes do in turn.
    fn schedule(&self) -> Schedule<'_>;

    /// The largest number of bytes that the work keeps on the lane.
    fn working_set_bytes(&self) -> u64;

    /// Of these, bytes of holes, which take no place.
    fn hole_bytes(&self) -> u64 {
        0
    }

    /// What the work moves once, roughly and rather too much.
    fn traffic(&self) -> Traffic {
        Traffic::of_pages(self.working_set_bytes() as f64)
    }

    /// What a round takes of a lane beside the seconds of its schedule.
    fn demand(&self) -> Demand {
        let bytes = self.working_set_bytes() as f64;
        Demand { moved_bytes: bytes, written_bytes: bytes, ..Demand::default() }
    }

    /// Whether flushes are part of what is measured, so that figures from where none reaches a disk are not those of
    /// durable work. What cannot be told counts as flushing.
    fn flushes(&self) -> bool {
        true
    }

    /// Whether each operation ends in a flush, so that the flush ceiling is the one that counts.
    fn is_flush_bound(&self) -> bool {
        false
    }

    /// Threads or processes that do a group's work at the same time and share the engine's user time.
    fn concurrency(&self, group: &str) -> u32 {
        let _ = group;
        1
    }

    /// Operations that are in flight all the time.
    fn queue_depth(&self) -> u32 {
        1
    }

    /// Whether the work waits by itself: a rate, an open loop, pauses. Reaching the rate shows no limit.
    fn is_paced(&self) -> bool {
        false
    }

    /// Whether operations of several kinds run at once, so that a ceiling of one kind says nothing about them.
    fn mixes_operations(&self) -> bool {
        false
    }

    /// Whether the work only writes, as fast as it can, and should reach a device.
    fn only_writes(&self) -> bool {
        false
    }

    /// Whether a group reads.
    fn reads(&self, group: &str) -> bool {
        action(group) == "read"
    }

    /// Whether a group is all of a trial's work together: its own window is that of the last sync alone.
    fn is_whole(&self, group: &str) -> bool {
        let _ = group;
        false
    }

    /// Whether a group only sums up the others.
    fn sums_up(&self, group: &str) -> bool {
        let _ = group;
        false
    }

    /// Whether a group begins with empty caches.
    fn begins_cold(&self, group: &str) -> bool {
        let _ = group;
        false
    }

    /// Whether somebody waits for each operation of a group, so that its longest waits belong beside its rate.
    fn is_awaited(&self, group: &str) -> bool {
        let _ = group;
        false
    }

    /// Whether the work has an end, and so a time of its own.
    fn has_an_end(&self) -> bool {
        false
    }

    /// Whether another tool did it: nothing is known of what bounds it, and a round is a run of each lane by itself.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Whether all of it is direct I/O, or none; `None`: it cannot be told.
    fn is_direct(&self) -> Option<bool> {
        None
    }

    /// Bytes of one request, where all are of one size.
    fn request_bytes(&self) -> Option<u64> {
        None
    }

    /// What one operation of a group is.
    fn counts(&self, group: &str) -> Counts {
        let _ = group;
        Counts::Operations
    }

    /// The same work on the bare device, whose speed is its ceiling. Where nothing is alike: what a flush costs, because
    /// syncing at the end tells the host's share.
    fn bare_counterparts(&self) -> Vec<(Profile, Io)> {
        vec![(Profile::Flush, flushes_on_the_bare_device())]
    }

    /// Whether what the bare device did is the ceiling of a group.
    fn is_ceiling_of(&self, profile: Profile, group: &str) -> bool {
        let _ = group;
        (profile == Profile::Flush) == self.is_flush_bound()
    }

    /// Whether the bare device's bandwidth in a counterpart is that of this work.
    fn counterpart_is_alike(&self) -> bool {
        !self.mixes_operations()
    }

    /// Whether the work has no sequential ceiling of its own, and the fastest that other work of the race reached on the
    /// bare device stands for it.
    fn borrows_ceilings(&self) -> bool {
        false
    }

    /// The same work without any device, whose speed is the engine's own ceiling; `None`: there is none.
    fn null_counterpart(&self) -> Option<Io> {
        None
    }

    /// Whether the engine without a device does this very work. A probe folds several workers into one, so its rate is
    /// not theirs.
    fn null_is_alike(&self) -> bool {
        false
    }

    /// Whether who does the work takes so much CPU time itself that a full CPU is not the filesystem's alone.
    fn shares_the_cpus(&self) -> bool {
        false
    }

    /// Whether the process that does the work is a program with work of its own, such as a database.
    fn is_done_by_programs(&self) -> bool {
        false
    }

    /// What of a filesystem's abilities the work needs.
    fn asks_for(&self) -> Vec<Asked> {
        Vec::new()
    }

    /// Whether it starts programs of this machine, which a guest does not have.
    fn starts_programs(&self) -> bool {
        false
    }

    /// Whether a filesystem that is a library inside the agent can do it.
    fn runs_in_a_library(&self) -> bool {
        false
    }

    /// What its files hold, where the suite says it.
    fn data(&self) -> Option<&Data> {
        None
    }

    /// The same with data that compresses; `title` makes the titles of its steps. `None`: its data is nobody's choice, or
    /// compresses already.
    fn with_compressible_data(&self, title: &dyn Fn(&str) -> String) -> Option<Kind> {
        let _ = title;
        None
    }

    /// Gives other names to the steps that a suite names; most work has none.
    fn name_steps(&mut self, named: &dyn Fn(&str) -> String) {
        let _ = named;
    }

    /// Does the work as published articles did, once.
    fn do_as_published(&mut self) {}
}

/// How a round of some work is cut into what the lanes do in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule<'a> {
    /// Steady work in slices that alternate between the lanes.
    Slices(&'a Io),
    /// The groups are phases, one after another; with `in_parts` each alternates between the lanes in parts, and
    /// otherwise the lanes do it whole in turn.
    Phases {
        /// Phases can be cut without losing what makes them up.
        in_parts: bool,
    },
    /// Steps on sets of files: lanes take turns at single steps, or at all of them.
    Steps(&'a Operations),
    /// One window, lane after lane, and everything read back after a remount.
    Window {
        /// Seconds of work before the window.
        warm_up_seconds: f64,
        /// Seconds of the window.
        seconds: f64,
    },
    /// Whole, lane after lane, as long as it takes.
    Whole {
        /// What was written is read back after a remount.
        reads_back: bool,
    },
    /// A database, lane after lane: loaded, worked on with each number of clients, checked.
    Transactions(&'a Oltp),
    /// Real programs, lane after lane, step after step.
    Programs(&'a Programs),
}

impl Schedule<'_> {
    /// Slices that alternate.
    pub fn is_slices(&self) -> bool {
        matches!(self, Schedule::Slices(_))
    }

    /// Steps on sets of files.
    pub fn is_steps(&self) -> bool {
        matches!(self, Schedule::Steps(_))
    }
}

/// Bytes and requests of some work, once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// Bytes read and written.
    pub bytes: f64,
    /// Requests, or calls that may become one each.
    pub requests: f64,
}

impl Traffic {
    /// Bytes in requests of a page.
    pub fn of_pages(bytes: f64) -> Self {
        Traffic { bytes, requests: bytes / 4096.0 }
    }
}

/// What a round takes of a lane beside the seconds of its schedule.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Demand {
    /// Names that are made, changed or removed.
    pub changes: f64,
    /// Files that are opened and read with empty caches.
    pub cold_files: f64,
    /// Bytes that are read or written in order.
    pub moved_bytes: f64,
    /// Of these, written.
    pub written_bytes: f64,
    /// Calls that wait for the disk's flush.
    pub flushes: f64,
    /// Mounts in between, for empty caches and checks.
    pub remounts: f64,
    /// How a window goes on writing, beside `written_bytes`.
    pub window: WindowWrites,
    /// Seconds until everybody has begun or ended.
    pub around_seconds: f64,
}

/// How work writes in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowWrites {
    /// As much as `written_bytes` says.
    #[default]
    Stated,
    /// As fast as it can, with a flush after each write.
    Flushed,
    /// As fast as it can.
    Free,
}

/// Bytes of a request of sequential work: what the kernel reads ahead by default.
pub(crate) const READ_AHEAD_BYTES: f64 = 128.0 * 1024.0;

/// Slices of a counterpart on each image; three rounds of them make the ceiling.
pub const COUNTERPART_SLICES: u32 = 2;

/// What a flush costs on the bare device.
fn flushes_on_the_bare_device() -> Io {
    Io {
        rw: Pattern::Write,
        bs: Bytes(4096),
        size: Bytes(64 << 20),
        ioengine: "sync".to_owned(),
        iodepth: 1,
        direct: true,
        fdatasync: 1,
        slices: COUNTERPART_SLICES,
        slice_seconds: 0.1,
        ..Io::default()
    }
}

/// What a group does, without the job's name in front: `read` of `JOB: read`.
pub fn action(group: &str) -> &str {
    group.rsplit_once(": ").map_or(group, |(_, action)| action)
}

impl Kind {
    /// The kind, to be asked.
    pub fn traits(&self) -> &dyn WorkloadKind {
        match self {
            Kind::Io(io) => &**io,
            Kind::Jobs(jobs) => &**jobs,
            Kind::Fio(run) => &**run,
            Kind::SmallFiles(small) => small,
            Kind::Operations(operations) => &**operations,
            Kind::Appenders(appenders) => &**appenders,
            Kind::Oltp(oltp) => &**oltp,
            Kind::Streams(streams) => streams,
            Kind::Programs(programs) => &**programs,
            Kind::Mix(mix) => &**mix,
            Kind::Contention(contention) => contention,
            Kind::OneFile(one) => one,
            Kind::Collective(collective) => collective,
            Kind::Durable(durable) => durable,
            Kind::Replay(replay) => &**replay,
            Kind::Foreign(foreign) => foreign,
        }
    }

    /// The kind, to be changed.
    pub(crate) fn traits_mut(&mut self) -> &mut dyn WorkloadKind {
        match self {
            Kind::Io(io) => &mut **io,
            Kind::Jobs(jobs) => &mut **jobs,
            Kind::Fio(run) => &mut **run,
            Kind::SmallFiles(small) => small,
            Kind::Operations(operations) => &mut **operations,
            Kind::Appenders(appenders) => &mut **appenders,
            Kind::Oltp(oltp) => &mut **oltp,
            Kind::Streams(streams) => streams,
            Kind::Programs(programs) => &mut **programs,
            Kind::Mix(mix) => &mut **mix,
            Kind::Contention(contention) => contention,
            Kind::OneFile(one) => one,
            Kind::Collective(collective) => collective,
            Kind::Durable(durable) => durable,
            Kind::Replay(replay) => &mut **replay,
            Kind::Foreign(foreign) => foreign,
        }
    }
}
