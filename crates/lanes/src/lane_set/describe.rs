//! A lane set in words: for the record's header, for the sampler, for `--dry-run`.

use crate::contestant::{Contestant, directory_promises};
use crate::custom::Kind;
use crate::guest::GuestKind;
use crate::lane_set::LaneSet;
use crate::lane_set::open::{mount_options_of, mount_source};
use crate::venues::Venue;
use crate::venues::device::overwrite;
use crate::{above, command, disk, formatting, guarantees, layers};
use model::agent::FilesystemProcesses;
use model::lane::Lane;
use model::stack::LayerSpec;

impl LaneSet {
    /// The devices to watch while a lane works on a ground, as /proc/diskstats names them.
    pub fn device_names(&self, ground: usize) -> model::agent::Devices {
        let device = self.stores[ground].device_name();
        let further = self.stores[ground].further_device_names();
        if self.stores[ground].guest_disks().is_some() {
            // The names of this machine's disks mean others there, or none.
            return model::agent::Devices { device, further, ..model::agent::Devices::default() };
        }
        let backing = self.stores[ground].disk_name(self.host.as_ref()).filter(|disk| Some(disk) != device.as_ref());
        let others = self.stores.iter().enumerate();
        let others = others.filter(|(index, of)| *index != ground && of.guest_disks().is_none());
        let names = |of: &dyn Venue| of.device_name().into_iter().chain(of.further_device_names());
        let mut neighbours: Vec<String> = others.flat_map(|(_, other)| names(&**other)).collect();
        // Lanes that take turns on disks share some of them.
        let is_own = |name: &String| Some(name) == device.as_ref() || further.contains(name);
        neighbours.retain(|name| !is_own(name) && Some(name) != backing.as_ref());
        neighbours.sort();
        neighbours.dedup();
        model::agent::Devices { device, further, backing, neighbours, ..model::agent::Devices::default() }
    }

    /// The devices to watch while an open lane works on its ground, and the processes that are its
    /// filesystem.
    pub fn watched(&self, lane: usize, ground: usize) -> model::agent::Devices {
        model::agent::Devices { filesystem: self.filesystem_processes(lane, ground), ..self.device_names(ground) }
    }

    /// A FUSE program that stays in the foreground is known with all that it started; one that left a
    /// daemon behind is not, and neither is whatever serves a directory.
    fn filesystem_processes(&self, lane: usize, ground: usize) -> FilesystemProcesses {
        if let Some(host) = self.stores[ground].existing_filesystem() {
            let served = host.filesystem.starts_with("fuse");
            return if served { FilesystemProcesses::Unknown } else { FilesystemProcesses::None };
        }
        let lane = &self.lanes[lane];
        let Some(open) = &lane.open else { return FilesystemProcesses::None };
        if open.guest.is_some() {
            // What works in a guest is a guest's own: its agent sees nothing else.
            return match &lane.contestant {
                Contestant::Custom(custom) if custom.kind == Kind::Fuse => FilesystemProcesses::Unknown,
                _ => FilesystemProcesses::None,
            };
        }
        match (&open.process, &lane.contestant) {
            (Some(running), _) => FilesystemProcesses::Known(running.processes()),
            (None, Contestant::Custom(custom)) if custom.kind == Kind::Fuse => FilesystemProcesses::Unknown,
            (None, _) => FilesystemProcesses::None,
        }
    }

    /// The lanes as the record's header describes them. Geometry is known after `build`.
    pub fn lanes(&self) -> Vec<Lane> {
        (0..self.lanes.len()).map(|lane| self.describe_lane(lane)).collect()
    }

    fn describe_lane(&self, index: usize) -> Lane {
        let lane = &self.lanes[index];
        let ground = &self.stores[self.store_for(index, 0)];
        let (filesystem, promises, mount_options) = match ground.existing_filesystem() {
            Some(host) => (host.filesystem.clone(), directory_promises(host), host.mount_options.clone()),
            None => (lane.contestant.filesystem_name().to_owned(), lane.promises, lane.mount_options.clone()),
        };
        let mut mount_options = mount_options;
        // No option of the mount, but another lane than one that rebuilds nothing.
        mount_options.extend(lane.replacer().map(|_| model::stack::REBUILDING.to_owned()));
        let mut geometry = lane.geometry.clone();
        geometry.extend(lane.spec.above.iter().map(|above| format!("above: {}", above::describe(above))));
        geometry.extend(lane.spec.layers.iter().map(|layer| format!("layer: {}", layers::describe(layer))));
        if lane.replacer().is_some() {
            geometry.push(format!("rebuilding: the last of {} disks, onto a spare one", lane.spec.devices));
        }
        if lane.stacked_bytes > 0 {
            let bytes = model::units::human_bytes(lane.stacked_bytes as f64);
            geometry.push(format!("usable below the filesystem: {bytes} of {} disks", lane.spec.disks()));
        }
        geometry.extend(lane.contestant.driver().map(|driver| format!("driver: {driver}")));
        geometry.extend(lane.guest.map(|guest| format!("guest: {}", self.guests[guest].describe(&self.settings))));
        let guarantees = Some(guarantees::guarantees(&filesystem, &mount_options, &geometry));
        Lane {
            name: lane.name.clone(),
            spec: lane.spec.to_line(),
            filesystem,
            mkfs_command: lane.mkfs_command.clone(),
            mount_options,
            venue: if lane.contestant.is_library() { "library" } else { ground.name() }.to_owned(),
            ground: ground.identity(&self.base),
            backing: ground.disk_name(self.host.as_ref()).unwrap_or_default(),
            size_bytes: ground.size_bytes(self.settings.lane_size),
            promises,
            guarantees,
            is_self: lane.is_self,
            kernel: lane.guest.map(|guest| self.guests[guest].kernel.release.clone()).unwrap_or_default(),
            kernel_build: lane.guest.map(|guest| self.guests[guest].build.clone()).unwrap_or_default(),
            flushes_stop_short: ground.guest_disks().is_some_and(|disks| disks.kind == GuestKind::Uml)
                && !self.settings.guest.sync,
            geometry,
            layers: lane.spec.layers.iter().map(LayerSpec::to_line).collect(),
            above: lane.spec.above.as_ref().map(LayerSpec::to_line).unwrap_or_default(),
            aged: lane.past.as_ref().and_then(|past| past.facts.clone()),
            disks: ground.disks() as u32,
            usable_bytes: lane.stacked_bytes,
            definition_sha256: match &lane.contestant {
                Contestant::Custom(custom) => custom.sha256.clone(),
                _ => String::new(),
            },
            queue: match ground.guest_disks() {
                // What a guest's kernel makes of its disk is not seen from here.
                Some(_) => None,
                None => ground.device_name().and_then(|name| disk::queue_limits(&name)),
            },
            server_answers: lane.spec.server_answers,
        }
    }

    /// Every command and file that would be touched, in order: `--dry-run`.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for folder in &self.run_directories {
            lines.push(format!("make the directory {}", folder.path().display()));
            if folder.is_bound() {
                // Its owner could put another in its place.
                lines.push(format!("mount --bind {} {}", folder.path().display(), folder.work().display()));
            }
        }
        for line in self.stores.iter().flat_map(|ground| ground.describe(self.settings.lane_size)) {
            // Lanes that take turns on disks share some of them.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(self.beside.iter().map(|(_, found)| overwrite(found)));
        for slot in &self.guests {
            lines.push(format!("start a guest: {} ({})", slot.describe(&self.settings), slot.kernel.path.display()));
        }
        for index in 0..self.lanes.len() {
            lines.extend(self.describe_commands(index));
        }
        lines.extend(self.describe_throttling());
        let acts = if self.stores.iter().all(|ground| ground.folder().is_some()) {
            "remove"
        } else {
            "unmount, detach and remove"
        };
        lines.push(format!("after the race: {acts} all of it"));
        lines
    }

    fn describe_commands(&self, index: usize) -> Vec<String> {
        let lane = &self.lanes[index];
        let ground_index = self.store_for(index, 0);
        let ground = &*self.stores[ground_index];
        let work = self.lane_directory(index, ground_index);
        let directory = match (lane.guest, &lane.spec.above) {
            (Some(_), Some(_)) => above::place_below(&work),
            (Some(_), None) => work.clone(),
            (None, _) => lane.base(&work),
        };
        // Which device the layers will be, the guest's kernel says when they are built.
        let source = match lane.spec.built_layers().next() {
            Some(top) => format!("{{{}}}", top.to_line()).into(),
            None => ground.future_block_device().unwrap_or_else(|| mount_source(ground)),
        };
        let mut lines = Vec::new();
        if !lane.mkfs_command.is_empty() {
            let on_image = ground.guest_disks().filter(|_| !lane.spec.is_stacked());
            let formatted = on_image.map_or_else(|| source.clone(), |disks| disks.first().path.clone());
            let mut filled = crate::contestant::fill_device(&lane.mkfs_command, &formatted);
            let is_built = lane.spec.has_built_layers();
            let further = if is_built { Vec::new() } else { ground.further_future_devices() };
            let further = lane.of_filesystem(&further);
            filled.extend(further.iter().map(|device| device.display().to_string()));
            lines.extend(lane.describe_layers());
            lines.push(format!("{}: {}", lane.name, command::display(&filled)));
        }
        lines.extend(self.describe_past(index));
        let words = match &lane.contestant {
            Contestant::Directory(_) => {
                lines.push(format!("{}: write and remove files in {}", lane.name, directory.display()));
                return lines;
            }
            Contestant::Custom(custom) => {
                formatting::custom_mount_command(custom, &source, &directory, &lane.mount_options)
            }
            Contestant::Row(row) if lane.contestant.is_library() => {
                lines.push(format!(
                    "{}: format {} and work on it inside the agent, by the library {}",
                    lane.name,
                    source.display(),
                    row.name
                ));
                return lines;
            }
            Contestant::Row(row) => {
                let options = ["nosuid".to_owned(), "nodev".to_owned()].into_iter();
                let options: Vec<String> =
                    options.chain(mount_options_of(lane, &self.settings, &ground.further_future_devices())).collect();
                let words = ["mount", "-t", row.mounted_as(), "-o", &options.join(",")].map(str::to_owned);
                words.into_iter().chain([source, directory].map(|path| path.to_string_lossy().into_owned())).collect()
            }
        };
        lines.push(format!("{}: {}", lane.name, command::display(&words)));
        if let Some(above) = &lane.spec.above {
            lines.push(format!("{}: lay {} over it, at {}", lane.name, above::describe(above), work.display()));
        }
        lines
    }
}
