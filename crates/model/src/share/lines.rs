//! The lines behind the header: what was measured, and what was said of it.

use super::sharer::Sharer;
use super::shield::Sort;
use crate::flag::Flag;
use crate::histogram::Inflater;
use crate::profile::Profile;
use crate::record::{LayerProbe, Line, Probe, SharedRate};
use crate::search::SearchStep;
use crate::trial::{Group, SystemUse, Trial};

/// First words of threads' names that tell of no person: the kernel's, Fairlane's, and those of servers that it starts.
const THREADS: [&str; 38] = [
    "agent",
    "bch",
    "bcache",
    "bgwriter",
    "btrfs",
    "checkpointer",
    "cifsd",
    "copy",
    "dm",
    "dmcrypt",
    "f2fs",
    "fairlane",
    "fio",
    "fuse",
    "io_wqe",
    "iou",
    "jbd2",
    "jfsCommit",
    "jfsIO",
    "kcompactd0",
    "kcryptd",
    "kdmflush",
    "kswapd0",
    "ksoftirqd",
    "kworker",
    "loop",
    "mariadbd",
    "md",
    "migration",
    "mysqld",
    "nfsd",
    "nvme",
    "postgres",
    "rcu_preempt",
    "segctord",
    "thread",
    "walwriter",
    "xfsaild",
];

impl Sharer {
    pub(super) fn line(&mut self, line: &mut Line) {
        match line {
            Line::Header(header) => self.header(header),
            Line::Probe(probe) => self.probe(probe),
            Line::Layers(layers) => {
                let LayerProbe { lane, probe } = &mut **layers;
                *lane = self.lane_name(lane);
                self.probe(probe);
            }
            Line::Disk(disk) => self.clean(&mut disk.workload),
            Line::Trial(trial) => self.trial(trial),
            Line::Rate(rate) => self.rate(rate),
            Line::Step(step) => {
                let SearchStep { trial, without_filesystem, .. } = &mut **step;
                self.trial(trial);
                if let Some(trial) = without_filesystem {
                    self.trial(trial);
                }
            }
            Line::Profile(profile) => self.profile(profile),
            // Numbers alone.
            Line::Clocks(_) => {}
            Line::Note { said } => self.clean(said),
            Line::Unreached(unreached) => self.clean(&mut unreached.workload),
            Line::Resume { started, boot_id, without_passes: _ } => {
                self.clean(started);
                *boot_id = self.boot(boot_id);
            }
            Line::End { finished, outcome: _, reason, rounds_done: _ } => {
                self.clean(finished);
                self.clean_optional(reason);
            }
        }
    }

    fn probe(&mut self, probe: &mut Probe) {
        self.clean(&mut probe.workload);
        self.system(&mut probe.system);
    }

    fn rate(&mut self, rate: &mut SharedRate) {
        let SharedRate {
            workload,
            share: _,
            slowest,
            maxima_operations_per_second,
            operations_per_second: _,
            disturbed,
        } = rate;
        self.clean(workload);
        *slowest = self.lane_name(slowest);
        self.lane_keys(maxima_operations_per_second);
        self.clean_optional(disturbed);
    }

    fn profile(&mut self, profile: &mut Profile) {
        let Profile { workload, lane, group, symbols, .. } = profile;
        *group = self.group_name(workload, group);
        self.clean(workload);
        *lane = self.lane_name(lane);
        self.clean_all(symbols);
    }

    fn trial(&mut self, trial: &mut Trial) {
        let Trial {
            round: _,
            position: _,
            attempt: _,
            lane,
            workload,
            ground: _,
            outcome: _,
            reason,
            started,
            phases_seconds,
            groups,
            system,
            timeline: _,
            jobs,
            flags,
            disturbance: _,
        } = trial;
        *lane = self.lane_name(lane);
        groups.iter_mut().for_each(|group| self.group(workload, group));
        self.clean(workload);
        self.clean_optional(reason);
        self.clean(started);
        self.clean_keys(phases_seconds);
        self.system(system);
        jobs.iter_mut().for_each(|job| self.clean(&mut job.name));
        for flag in flags {
            match flag {
                Flag::Mark(_, figures) => self.clean(figures),
                Flag::Note(said) => self.clean(said),
            }
        }
    }

    /// `workload`: by its name in the record.
    fn group(&mut self, workload: &str, group: &mut Group) {
        let Group { name, primary_metric, metrics, histogram, job, settings, system, .. } = group;
        *name = self.group_name(workload, name);
        self.clean(primary_metric);
        self.clean_keys(metrics);
        self.clean(job);
        settings.values_mut().for_each(|value| self.clean(value));
        self.clean_keys(settings);
        if let Some(system) = system {
            self.system(system);
        }
        // A text that is no histogram could be anything.
        if histogram.as_deref().is_some_and(|text| !is_histogram(text)) {
            *histogram = None;
        }
    }

    fn system(&mut self, system: &mut SystemUse) {
        if let Some(thread) = &mut system.busiest_thread {
            let first = thread.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_')).next();
            let first = first.unwrap_or_default();
            let numbered = first.trim_end_matches(|character: char| character.is_ascii_digit());
            *thread = match THREADS.contains(&first) || THREADS.contains(&numbered) {
                true => self.shield.text(thread),
                false => self.shield.stand_in(Sort::Thread, thread),
            };
        }
    }
}

/// Whether it is base64 of a histogram, with nothing around it.
fn is_histogram(text: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    text.bytes().all(is_base64) && Inflater::default().plain(text).is_some()
}
