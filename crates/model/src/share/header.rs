//! The header of a record: its plan, its machine and its lanes without what tells whose they are.

use super::sharer::Sharer;
use super::shield::Sort;
use crate::aged::{AgedLane, AgedSpec, ColdRead};
use crate::calibration::{CalibratedResult, Calibration};
use crate::disk::{Behind, QueueLimits};
use crate::lane::{Contestant, Lane, LaneSpec, Venue};
use crate::machine::{Device, Machine};
use crate::plan::{Ground, Plan};
use crate::ranks::{JobRanks, LadderStep, RankLadder};
use crate::record::Header;
use crate::screening::{Factor, LeftOutOption, OptionLevel, Screening, ScreeningRun};
use crate::stack::LayerSpec;
use std::collections::BTreeMap;

/// Mount options whose value names a person, a machine, a secret or a part of somebody's tree.
const PRIVATE_OPTIONS: [&str; 19] = [
    "addr",
    "clientaddr",
    "cred",
    "credentials",
    "domain",
    "fsname",
    "ip",
    "mon_addr",
    "mountaddr",
    "netbiosname",
    "pass",
    "password",
    "secret",
    "secretfile",
    "servern",
    "subvol",
    "user",
    "username",
    "workgroup",
];

/// How mkfs programs are told a label, beside `-L`: by the end of their names.
const LABELS: [(&[&str], &[&str]); 4] = [
    (&["fat", "vfat", "msdos", "exfat"], &["-n", "--label", "--volume-label"]),
    (&["f2fs"], &["-l"]),
    (&["reiserfs", "reiser4"], &["-l"]),
    (&["udf", "udffs"], &["-l", "--label", "--lvid", "--vid", "--vsid", "--fsid"]),
];
/// Of all others.
const USUAL_LABELS: [&str; 3] = ["-L", "--label", "--fs_label"];

impl Sharer {
    pub(super) fn clean(&mut self, text: &mut String) {
        *text = self.shield.text(text);
    }

    pub(super) fn clean_all(&mut self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.clean(text));
    }

    pub(super) fn clean_optional(&mut self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.clean(text));
    }

    /// The keys of a map.
    pub(super) fn clean_keys<V>(&mut self, map: &mut BTreeMap<String, V>) {
        let before = std::mem::take(map);
        map.extend(before.into_iter().map(|(key, value)| (self.shield.text(&key), value)));
    }

    /// The keys of a map, which are lanes.
    pub(super) fn lane_keys<V>(&mut self, map: &mut BTreeMap<String, V>) {
        let before = std::mem::take(map);
        map.extend(before.into_iter().map(|(key, value)| (self.lane_name(&key), value)));
    }

    pub(super) fn header(&mut self, header: &mut Header) {
        let Header { schema: _, version, started, boot_id, seed: _, plan, machine, lanes, warnings, calibration } =
            header;
        self.clean(version);
        self.clean(started);
        *boot_id = self.boot(boot_id);
        self.plan(plan);
        self.machine_of(machine);
        lanes.iter_mut().for_each(|lane| self.lane(lane));
        warnings.iter_mut().for_each(|said| *said = self.warning(said));
        if let Some(calibration) = calibration {
            self.calibration(calibration);
        }
    }

    fn plan(&mut self, plan: &mut Plan) {
        plan.command_line = self.command_line(&plan.command_line, &plan.lanes);
        let Plan {
            suite,
            not_tested,
            first_answer: _,
            as_published: _,
            calibration: _,
            screening,
            find_max: _,
            explain: _,
            explain_in_time: _,
            lanes,
            with_self: _,
            workloads,
            rounds: _,
            margin: _,
            budget_seconds: _,
            lane_size: _,
            throttle: _,
            lane_throttles,
            seed: _,
            on,
            guest: _,
            ranks,
            command_line: _,
        } = plan;
        *suite = match self.trace() {
            Some(_) => self.shield.stand_in(Sort::Trace, suite),
            None => self.shield.text(suite),
        };
        self.clean_all(not_tested);
        for lane in lanes {
            *lane = self.lane_spec(lane);
        }
        if let Some(screening) = screening {
            self.screening(screening);
        }
        workloads.iter_mut().for_each(|workload| self.workload(workload));
        self.lane_keys(lane_throttles);
        if let Some(JobRanks { ranks: _, nodes: _, ladders, srun: _ }) = ranks {
            for LadderStep { workload, ranks: _ } in ladders.iter_mut().flat_map(|RankLadder { steps }| steps) {
                self.clean(workload);
            }
        }
        match on {
            Ground::Images(path) | Ground::Device(path) => *path = self.path_of(path),
            Ground::Disks(paths) => paths.iter_mut().for_each(|path| *path = self.path_of(path)),
        }
    }

    /// Options are the words of whoever screened them: read as those of lanes are, and so are what mkfs and the kernel said.
    fn screening(&mut self, screening: &mut Screening) {
        let Screening { base, design: _, factors, runs, left_out } = screening;
        let filesystem = match base.parse::<LaneSpec>() {
            Ok(LaneSpec { contestant: Contestant::Filesystem(name), .. }) => name,
            _ => String::new(),
        };
        *base = self.lane_line(base);
        for Factor { name, usual, other, further, class: _, costs, table_usual } in factors {
            self.clean(name);
            self.clean(costs);
            self.clean(table_usual);
            for OptionLevel { label, mkfs, mount, queue, vm } in [usual, other].into_iter().chain(further) {
                self.clean(label);
                *mkfs = self.mkfs_words(mkfs, &filesystem);
                self.mount_options(mount);
                self.clean_all(queue);
                self.clean_all(vm);
            }
        }
        for ScreeningRun { lane, at_other: _ } in runs {
            *lane = self.lane_name(lane);
        }
        for LeftOutOption { option, why } in left_out {
            self.clean(option);
            self.clean(why);
        }
    }

    pub(super) fn machine_of(&mut self, machine: &mut Machine) {
        let Machine {
            os,
            kernel,
            kernel_build,
            cpu,
            cpus: _,
            memory_bytes: _,
            memory_copy_bytes_per_second: _,
            governor,
            dirty_ratio: _,
            dirty_background_ratio: _,
            dirty_expire_centisecs: _,
            dirty_writeback_centisecs: _,
            dirty_bytes: _,
            dirty_background_bytes: _,
            vfs_cache_pressure: _,
            swappiness: _,
            machine_id_hash,
            virtualization,
            device,
            further_disks,
            tools,
        } = machine;
        for text in [os, kernel, cpu, governor, virtualization] {
            self.clean(text);
        }
        *kernel_build = self.kernel_build(kernel_build);
        *machine_id_hash = self.machine(machine_id_hash);
        self.device(device);
        further_disks.iter_mut().for_each(|disk| self.device(disk));
        self.clean_all(tools);
    }

    fn device(&mut self, device: &mut Device) {
        let Device {
            name,
            model,
            size_bytes: _,
            rotational: _,
            write_cache,
            fua: _,
            scheduler,
            host_filesystem,
            host_mount_options,
            queue,
            behind,
        } = device;
        *name = self.disk(name);
        for text in [model, write_cache, scheduler, host_filesystem] {
            self.clean(text);
        }
        let options: Vec<String> = host_mount_options.split(',').map(|option| self.mount_option(option)).collect();
        *host_mount_options = self.shield.text(&options.join(","));
        self.queue(queue);
        if let Some(Behind { kind: _, device }) = behind {
            *device = self.disk(device);
        }
    }

    fn queue(&mut self, queue: &mut Option<QueueLimits>) {
        if let Some(queue) = queue {
            self.clean_optional(&mut queue.write_cache);
        }
    }

    fn lane(&mut self, lane: &mut Lane) {
        let Lane {
            name,
            spec,
            filesystem,
            mkfs_command,
            mount_options,
            venue,
            ground,
            backing,
            size_bytes: _,
            promises: _,
            guarantees,
            is_self: _,
            kernel,
            kernel_build,
            flushes_stop_short: _,
            geometry,
            layers,
            above,
            aged,
            disks: _,
            usable_bytes: _,
            definition_sha256,
            queue,
            server_answers: _,
        } = lane;
        *name = self.lane_name(name);
        *spec = self.lane_line(spec);
        self.made_and_mounted(mkfs_command, mount_options);
        for of in guarantees.iter_mut().flat_map(|of| &mut of.options) {
            of.option = self.mount_option(&of.option);
        }
        // What another tool measured has none.
        if *ground != crate::kinds::foreign::VENUE {
            *ground = self.ground(ground);
        }
        *backing = self.disk(backing);
        for text in [filesystem, venue, kernel, kernel_build, above, definition_sha256] {
            self.clean(text);
        }
        self.clean_all(geometry);
        self.clean_all(layers);
        if let Some(aged) = aged {
            self.aged(aged);
        }
        self.queue(queue);
    }

    fn aged(&mut self, aged: &mut AgedLane) {
        let AgedLane { states, life, image, cold_read, .. } = aged;
        for text in [states, life, image] {
            self.clean(text);
        }
        if let Some(ColdRead { disk, .. }) = cold_read {
            *disk = self.disk(disk);
        }
    }

    fn calibration(&mut self, calibration: &mut Calibration) {
        let Calibration { started, kernel, suite, lane, lane_bytes: _, margin: _, races: _, results, not_covered } =
            calibration;
        *lane = self.lane_line(lane);
        for text in [started, kernel, suite] {
            self.clean(text);
        }
        self.clean_all(not_covered);
        for result in results {
            let CalibratedResult { workload, title, group, metric, .. } = result;
            *group = self.group_name(workload, group);
            for text in [workload, title, metric] {
                self.clean(text);
            }
        }
    }

    /// A lane as its user wrote it: what it is called changes with what it is made of, unless its user named it.
    pub(super) fn lane_spec(&mut self, spec: &LaneSpec) -> LaneSpec {
        let told = spec.told(|lane| self.inside_lane(lane)).ok();
        let mut clean = told.unwrap_or_else(|| {
            let mut clean = spec.clone();
            self.inside_lane(&mut clean);
            clean
        });
        let renamed = self.renamed(&spec.name);
        clean.name = renamed.unwrap_or_else(|| self.shield.text(&clean.name));
        clean
    }

    fn inside_lane(&mut self, lane: &mut LaneSpec) {
        let LaneSpec {
            name: _,
            contestant,
            mkfs_options,
            mount_options,
            devices: _,
            aged,
            full_percent: _,
            layers,
            above,
            venue,
            server_answers: _,
        } = lane;
        let filesystem = match contestant {
            Contestant::Filesystem(name) => {
                self.clean(name);
                name.clone()
            }
            Contestant::Directory(path) => {
                *path = self.path_of(path);
                String::new()
            }
            Contestant::Custom(path) => {
                let file = self.own_file(&path.to_string_lossy());
                *path = file.into();
                String::new()
            }
        };
        *mkfs_options = self.mkfs_words(mkfs_options, &filesystem);
        self.mount_options(mount_options);
        if let Some(AgedSpec { profile, .. }) = aged {
            self.clean(profile);
        }
        for LayerSpec { name, options, devices: _ } in layers.iter_mut().chain(above) {
            self.clean(name);
            self.mount_options(options);
        }
        match venue {
            Some(Venue::Image(Some(path)) | Venue::Device(path) | Venue::Qemu(Some(path))) => {
                *path = self.path_of(path)
            }
            Some(Venue::Image(None) | Venue::Uml | Venue::Qemu(None) | Venue::Library) | None => {}
        }
    }

    /// The command that makes a lane, and its mount options.
    pub(super) fn made_and_mounted(&mut self, command: &mut Vec<String>, options: &mut [String]) {
        let program = command.first().cloned().unwrap_or_default();
        *command = self.mkfs_words(command, &program);
        self.mount_options(options);
    }

    /// Words for mkfs. `program`: it, or the filesystem that it makes.
    fn mkfs_words(&mut self, words: &[String], program: &str) -> Vec<String> {
        let kind = program.rsplit(['.', '/']).next().unwrap_or_default().trim_start_matches("mk");
        let own = LABELS.iter().find(|(kinds, _)| kinds.contains(&kind)).map_or(&[][..], |(_, flags)| *flags);
        let flags = || USUAL_LABELS.iter().chain(own).copied();
        let mut clean: Vec<String> = Vec::with_capacity(words.len());
        let mut is_label = false;
        for word in words {
            let joined = flags().find_map(|flag| Some((flag, joined_value(word, flag)?)));
            clean.push(match joined {
                _ if is_label => self.shield.stand_in(Sort::Label, word),
                Some((flag, label)) => {
                    let between = if flag.starts_with("--") { "=" } else { "" };
                    format!("{flag}{between}{}", self.shield.stand_in(Sort::Label, label))
                }
                None => self.shield.text(word),
            });
            is_label = !is_label && flags().any(|flag| flag == word);
        }
        clean
    }

    fn mount_options(&mut self, options: &mut [String]) {
        options.iter_mut().for_each(|option| *option = self.mount_option(option));
    }

    fn mount_option(&mut self, option: &str) -> String {
        match option.split_once('=') {
            Some((key, value)) if PRIVATE_OPTIONS.contains(&key) && !matches!(value, "" | "/") => {
                format!("{key}={}", self.shield.stand_in(Sort::Option, value))
            }
            _ => self.shield.text(option),
        }
    }
}

/// The value that an option of mkfs carries in the same word: `-Ldata`, `--label=data`.
fn joined_value<'a>(word: &'a str, flag: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(flag)?;
    let value = if flag.starts_with("--") { rest.strip_prefix('=')? } else { rest };
    (!value.is_empty()).then_some(value)
}
