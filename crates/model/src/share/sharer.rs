//! Names and places of a record and of what belongs to it, each replaced by the same placeholder wherever it stands.

use super::kinds::hosts;
use super::shield::{Private, Shield, Sort};
use crate::lane::{Contestant, LaneSpec, Venue, twin_name};
use crate::machine::{self, Machine};
use crate::plan::{Ground, Plan};
use crate::record::Header;
use crate::workload::{Kind, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders whose folders are called after the people whose they are.
const OF_HOMES: [&str; 3] = ["/home/", "/Users/", "/var/home/"];
/// Options of a command line whose value is a path, or several.
const OF_PATHS: [&str; 7] = ["--on", "--disks", "--erase", "--replay", "--output", "-o", "--resume"];
/// Words of `--on` that name no path.
const VENUES: [&str; 4] = ["image", "uml", "qemu", "library"];
/// The command whose words are files, each with its lane before it or without.
const IMPORT: &str = "import";
/// How a warning of an import begins that names a file, by its name without the ending.
const LEFT_OUT_OF: &str = "left out of ";

/// Replaces what is private in the lines of one record, or of several that are shared together.
pub(super) struct Sharer {
    pub(super) shield: Shield,
    /// What stands for the machine: no other record's.
    identity: String,
    boots: usize,
    /// What stands for the trace of a replay, and so for its program.
    trace: Option<String>,
    /// Names of lanes, before and after.
    lanes: BTreeMap<String, String>,
    /// By the name of a workload, names of its groups, before and after.
    groups: BTreeMap<String, BTreeMap<String, String>>,
    /// Of a record that was imported, names of its lanes.
    imported_lanes: Vec<String>,
    /// Of such a record, names of files without their endings that are no names of lanes.
    stems: Vec<String>,
}

impl Sharer {
    /// `texts`: all of the files. `started` and `seed`: the first race's, which stay, and tell it from other records.
    /// `own`: words that no person chose.
    pub(super) fn new<'a>(
        texts: &[&str],
        (started, seed): (&str, u64),
        machine: &Machine,
        own: impl Iterator<Item = &'a str>,
    ) -> Sharer {
        let mut sharer = Sharer {
            shield: Shield::new(texts),
            identity: machine::untold_identity(started, seed),
            boots: 0,
            trace: None,
            lanes: BTreeMap::new(),
            groups: BTreeMap::new(),
            imported_lanes: Vec::new(),
            stems: Vec::new(),
        };
        own.for_each(|words| sharer.shield.own_words(words));
        sharer.know_machine(machine);
        sharer
    }

    /// Looks for the number of a machine, and for who built its kernel, from here on.
    pub(super) fn know_machine(&mut self, machine: &Machine) {
        if is_number_of_its_own(&machine.machine_id_hash) {
            self.shield.know(Sort::Machine, &machine.machine_id_hash, Some(self.identity.clone()));
        }
        for (user, host) in machine.kernel_build.split_whitespace().filter_map(builder) {
            self.shield.know(Sort::User, user, None);
            self.shield.know(Sort::Host, host, None);
        }
    }

    /// Looks for these from here on, and for what paths among them tell of people.
    pub(super) fn know_all(&mut self, private: &[Private]) {
        for one in private {
            match one.sort {
                Sort::Path | Sort::Device => self.know_path(Path::new(&one.text)),
                sort => self.shield.know(sort, &one.text, None),
            }
        }
    }

    /// Learns the names of a race: what its header says of places and people is looked for in all of its lines.
    pub(super) fn learn(&mut self, header: &Header) {
        let plan = &header.plan;
        let boot = self.boot(&header.boot_id);
        if is_number_of_its_own(&header.boot_id) {
            self.shield.know(Sort::Boot, &header.boot_id, Some(boot));
        }
        match &plan.on {
            Ground::Images(path) | Ground::Device(path) => self.know_path(path),
            Ground::Disks(paths) => paths.iter().for_each(|path| self.know_path(path)),
        }
        for lane in &plan.lanes {
            if let Contestant::Directory(path) | Contestant::Custom(path) = &lane.contestant {
                self.know_path(path);
            }
            if let Some(Venue::Image(Some(path)) | Venue::Device(path) | Venue::Qemu(Some(path))) = &lane.venue {
                self.know_path(path);
            }
        }
        for workload in &plan.workloads {
            self.know_work(workload, &plan.suite);
        }
        if plan.command_line.get(1).is_some_and(|command| command == IMPORT) {
            self.learn_files(header);
        }
        self.learn_names(plan);
        self.shield.count_anew();
    }

    /// A path that is looked for in all texts, and the person whose home it lies in.
    pub(super) fn know_path(&mut self, path: &Path) {
        let Some(text) = path.to_str().filter(|text| text.len() > 3 && text.contains('/')) else { return };
        let sort = if text.starts_with("/dev/") { Sort::Device } else { Sort::Path };
        self.shield.know(sort, text, None);
        let below = OF_HOMES.iter().find_map(|homes| text.strip_prefix(homes));
        if let Some(name) = below.and_then(|below| below.split('/').next()) {
            self.shield.know(Sort::User, name, None);
        }
    }

    /// What work names: a server's socket; a trace, whose program stands in titles. `suite`: of a replay its trace's file.
    fn know_work(&mut self, workload: &Workload, suite: &str) {
        match &workload.kind {
            Kind::Oltp(oltp) => self.know_path(Path::new(&oltp.socket)),
            Kind::Replay(replay) => {
                self.know_path(&replay.trace);
                let trace = self.shield.stand_in(Sort::Trace, suite);
                if suite.contains('.') {
                    self.shield.know(Sort::Trace, suite, Some(trace.clone()));
                }
                if workload.title.contains(' ') {
                    self.shield.know(Sort::Command, &workload.title, Some(replay.title(&trace)));
                }
                self.trace = Some(trace);
            }
            Kind::Foreign(foreign) => {
                hosts(&foreign.parameters).for_each(|host| self.shield.know(Sort::Host, host, None));
            }
            _ => {}
        }
    }

    /// Files that a record was imported from. A name may be any word (`read`): it is looked for where warnings have it.
    fn learn_files(&mut self, header: &Header) {
        self.imported_lanes = header.lanes.iter().map(|lane| lane.name.clone()).collect();
        for word in header.plan.command_line.iter().skip(2) {
            let (_, file) = lane_and_file(word, &self.imported_lanes);
            if file.starts_with('/') {
                self.know_path(Path::new(file));
            }
            let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            // A file that nothing names a lane for is one, and reports pair by its name.
            if !stem.is_empty() && !self.imported_lanes.contains(&stem) {
                self.stems.push(stem);
            }
        }
    }

    /// A warning, without the name of the file that it is about.
    pub(super) fn warning(&mut self, said: &str) -> String {
        let about = said.strip_prefix(LEFT_OUT_OF).and_then(|rest| {
            let of = |stem: &String| Some((stem.clone(), rest.strip_prefix(stem.as_str())?.strip_prefix(": ")?));
            self.stems.iter().filter_map(of).max_by_key(|(stem, _)| stem.len())
        });
        match about {
            Some((stem, what)) => {
                let file = self.shield.stand_in(Sort::File, &stem);
                self.shield.text(&format!("{LEFT_OUT_OF}{file}: {what}"))
            }
            None => self.shield.text(said),
        }
    }

    /// `LANE=FILE` or `FILE` of a line that imports.
    fn imported_file(&mut self, word: &str) -> String {
        let (lane, file) = lane_and_file(word, &self.imported_lanes);
        let file = if file.contains('/') { self.path(file) } else { self.shield.stand_in(Sort::File, file) };
        match lane {
            Some(lane) => format!("{}={file}", self.lane_name(lane)),
            None => file,
        }
    }

    /// Names of lanes and groups as they will be: what refers to them is renamed with them. Lanes of a race before keep
    /// theirs.
    fn learn_names(&mut self, plan: &Plan) {
        let before: Vec<String> = self.lanes.keys().cloned().collect();
        for lane in plan.lanes.iter().filter(|lane| !before.contains(&lane.name)) {
            let name = self.lane_spec(lane).name;
            self.rename(&lane.name, name);
        }
        for workload in &plan.workloads {
            let mut renamed = workload.clone();
            self.workload(&mut renamed);
            let groups = workload.groups().into_iter().zip(renamed.groups());
            let groups = groups.map(|(before, after)| (before, self.shield.text(&after))).collect();
            self.groups.insert(workload.name.clone(), groups);
        }
    }

    /// Calls a lane, and what runs as its twin, otherwise from here on.
    pub(super) fn rename(&mut self, lane: &str, mut name: String) {
        // Two names may be one but for the case of somebody's name.
        while self.lanes.values().any(|other| *other == name) {
            name.push_str(" (2)");
        }
        self.lanes.insert(twin_name(lane), twin_name(&name));
        self.lanes.insert(lane.to_owned(), name);
    }

    /// What a lane of the race is called from here on; `None`: there is none of that name.
    pub(super) fn renamed(&self, lane: &str) -> Option<String> {
        self.lanes.get(lane).cloned()
    }

    /// The name of a lane.
    pub(super) fn lane_name(&mut self, name: &str) -> String {
        self.renamed(name).unwrap_or_else(|| self.shield.text(name))
    }

    /// The name of a group of a workload; `workload`: by its name in the record.
    pub(super) fn group_name(&mut self, workload: &str, group: &str) -> String {
        match self.groups.get(workload).and_then(|groups| groups.get(group)) {
            Some(name) => name.clone(),
            None => self.shield.text(group),
        }
    }

    /// What stands for the trace of a replay; `None`: the race is none.
    pub(super) fn trace(&self) -> Option<String> {
        self.trace.clone()
    }

    /// What stands for the machine.
    pub(super) fn machine(&mut self, identity: &str) -> String {
        // Of a machine without one nothing is told either.
        match identity.is_empty() || machine::is_untold(identity) {
            true => self.identity.clone(),
            false => self.shield.stand_in_as(Sort::Machine, identity, Some(self.identity.clone())),
        }
    }

    /// What stands for a boot: of this record none that stands in another; empty: it is not known.
    pub(super) fn boot(&mut self, id: &str) -> String {
        // What was shared before keeps its boots.
        if id.is_empty() || machine::is_untold(id) {
            return id.to_owned();
        }
        let wish = machine::untold_boot(&self.identity, self.boots + 1);
        let boot = self.shield.stand_in_as(Sort::Boot, id, Some(wish.clone()));
        self.boots += usize::from(boot == wish);
        boot
    }

    /// A kernel's build without who built it, and where.
    pub(super) fn kernel_build(&mut self, build: &str) -> String {
        let word = |word: &str| match builder(word) {
            Some(_) => self.shield.stand_in(Sort::Builder, trimmed(word)),
            None => word.to_owned(),
        };
        let words: Vec<String> = build.split(' ').map(word).collect();
        self.shield.text(&words.join(" "))
    }

    /// A path of a file, a folder or a device.
    pub(super) fn path(&mut self, path: &str) -> String {
        match path {
            "" => String::new(),
            device if device.starts_with("/dev/") => self.shield.stand_in(Sort::Device, device),
            path => self.shield.stand_in(Sort::Path, path),
        }
    }

    /// The same.
    pub(super) fn path_of(&mut self, path: &Path) -> PathBuf {
        PathBuf::from(self.path(&path.to_string_lossy()))
    }

    /// A file of the user's own: its folder is private, and its name is one that reports call things by.
    pub(super) fn own_file(&mut self, path: &str) -> String {
        if !path.contains('/') {
            return self.shield.text(path);
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_plain = |character: char| character.is_alphanumeric() || "-_.".contains(character);
        let name = match name.chars().all(is_plain) && !name.ends_with('.') {
            true => self.shield.text(&name),
            // In texts it would end at a blank.
            false => {
                format!("file{}", [".toml", ".fio"].into_iter().find(|end| name.ends_with(end)).unwrap_or_default())
            }
        };
        let plain = format!("./{name}");
        if path == plain && self.shield.keep(&plain) {
            return plain;
        }
        // Files of one name in several folders stay several.
        let numbered = (2..100).map(|number| format!("./{number}-{name}"));
        let wish = std::iter::once(plain).chain(numbered).find(|wish| !self.shield.is_issued(wish));
        self.shield.stand_in_as(Sort::Path, path, wish)
    }

    /// What the kernel calls a disk; names that it gives by itself tell nothing.
    pub(super) fn disk(&mut self, name: &str) -> String {
        match name.is_empty() || is_kernels_own(name) {
            true => name.to_owned(),
            false => self.shield.stand_in(Sort::Disk, name),
        }
    }

    /// What identifies a lane's ground.
    pub(super) fn ground(&mut self, ground: &str) -> String {
        const IMAGES: &str = "images in ";
        match ground.strip_prefix(IMAGES) {
            Some(folder) => format!("{IMAGES}{}", self.path(folder)),
            None if matches!(ground, "" | "memory") => ground.to_owned(),
            // Of several devices a list.
            None if ground.starts_with("/dev/") => self.shield.text(ground),
            None if ground.starts_with(['/', '.', '~']) => self.path(ground),
            None => self.shield.stand_in(Sort::Ground, ground),
        }
    }

    /// The line that runs a race again.
    pub(super) fn command_line(&mut self, words: &[String], lanes: &[LaneSpec]) -> Vec<String> {
        let lines: Vec<String> = lanes.iter().map(LaneSpec::to_line).collect();
        let command = words.get(1).map_or("", String::as_str);
        let (mut before, mut clean) = ("", Vec::with_capacity(words.len()));
        for (at, word) in words.iter().enumerate() {
            let lane = lines.iter().zip(lanes).find(|(line, _)| *line == word);
            clean.push(match (lane, at, command) {
                (Some((_, lane)), ..) => self.line_of(lane),
                (None, 2, "fio") if word != "-" => self.own_file(word),
                (None, 2, "calibrate" | "screen") => self.lane_line(word),
                (None, 2.., IMPORT) => self.imported_file(word),
                _ if OF_PATHS.contains(&before) => self.places(word),
                _ if before == "--suite" && (word.contains('/') || word.ends_with(".toml")) => self.own_file(word),
                _ if before == "--throttle" => self.throttled(word),
                _ => self.shield.text(word),
            });
            before = word.as_str();
        }
        clean
    }

    /// The line that makes a lane; what is none is a text.
    pub(super) fn lane_line(&mut self, line: &str) -> String {
        match line.parse::<LaneSpec>() {
            Ok(lane) => self.line_of(&lane),
            Err(_) => self.shield.text(line),
        }
    }

    fn line_of(&mut self, lane: &LaneSpec) -> String {
        let line = self.lane_spec(lane).to_line();
        self.shield.text(&line)
    }

    /// Where lanes are: words and paths between commas.
    fn places(&mut self, word: &str) -> String {
        let place = |place: &str| match place.strip_prefix("qemu:") {
            Some(kernel) => format!("qemu:{}", self.path(kernel)),
            None if VENUES.contains(&place) => place.to_owned(),
            None => self.path(place),
        };
        word.split(',').map(place).collect::<Vec<_>>().join(",")
    }

    /// `[LANE:]LIMITS`.
    fn throttled(&mut self, word: &str) -> String {
        let of_lane = |(name, clean): (&String, &String)| {
            let limits = word.strip_prefix(name.as_str())?.strip_prefix(':')?;
            Some((name.len(), format!("{clean}:{limits}")))
        };
        match self.lanes.iter().filter_map(of_lane).max() {
            Some((_, clean)) => self.shield.text(&clean),
            None => self.shield.text(word),
        }
    }
}

/// Whether a machine's or a boot's identity is one that nothing else is: no word, and not short.
fn is_number_of_its_own(identity: &str) -> bool {
    !machine::is_untold(identity) && identity.len() >= 12 && identity.bytes().any(|byte| byte.is_ascii_digit())
}

/// The two parts of `LANE=FILE`; what begins with no lane of the record is a file as a whole.
fn lane_and_file<'a>(word: &'a str, lanes: &[String]) -> (Option<&'a str>, &'a str) {
    // What a file calls its contestants stands behind the lane.
    let is_lane = |lane: &str| {
        lanes.iter().any(|name| name.strip_prefix(lane).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
    };
    match word.split_once('=') {
        Some((lane, file)) if !lane.is_empty() && !file.is_empty() && is_lane(lane) => (Some(lane), file),
        _ => (None, word),
    }
}

/// A word without the brackets around it.
fn trimmed(word: &str) -> &str {
    word.trim_matches(|character: char| "()[],;".contains(character))
}

/// Who built a kernel, and where, as a word of its build says it: `user@host`.
fn builder(word: &str) -> Option<(&str, &str)> {
    let (user, host) = trimmed(word).split_once('@')?;
    (!user.is_empty() && !host.is_empty()).then_some((user, host))
}

/// Whether a disk is called as the kernel calls disks: `nvme0n1`, `sda2`, `dm-3`.
fn is_kernels_own(name: &str) -> bool {
    const LETTERED: [&str; 5] = ["sd", "vd", "xvd", "hd", "ubd"];
    const NUMBERED: [&str; 16] = [
        "nvme", "loop", "dm-", "md", "zram", "ram", "mmcblk", "nbd", "pmem", "bcache", "rbd", "nullb", "ublkb", "sr",
        "fd", "zd",
    ];
    let lettered = |rest: &str| {
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        (1..=2).contains(&letters) && rest.bytes().skip(letters).all(|byte| byte.is_ascii_digit())
    };
    let numbered = |rest: &str| {
        rest.starts_with(|first: char| first.is_ascii_digit())
            && rest.bytes().all(|byte| byte.is_ascii_digit() || b"cnp".contains(&byte))
    };
    LETTERED.iter().any(|begin| name.strip_prefix(begin).is_some_and(lettered))
        || NUMBERED.iter().any(|begin| name.strip_prefix(begin).is_some_and(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_kernel_gives_to_disks_are_known() {
        for name in
            ["nvme0n1", "nvme0c0n1p3", "sda", "sdaa12", "vdb1", "dm-3", "md127p1", "loop7", "zram0", "mmcblk0p2"]
        {
            assert!(is_kernels_own(name), "{name}");
        }
        for name in ["sdalice", "md_home", "alice-root", "vg0-lv", "dm-", "nvme", "sd", "mdalice"] {
            assert!(!is_kernels_own(name), "{name}");
        }
    }

    #[test]
    fn a_builder_is_a_word_with_a_name_on_both_sides() {
        assert_eq!(builder("(alice@box)"), Some(("alice", "box")));
        assert_eq!(["@0", "#1", "a@", "SMP"].map(builder), [None; 4]);
    }
}
