//! Real programs, each with fixed arguments, one after another.

mod permitted;

pub use permitted::{is_known, is_permitted};

use super::{Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::operations::{Ability, Asked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Programs that are started one after another in the lane, as argument lists, never by a shell. Each is a
/// group with its time, the sync of what it left included; the last group is the time of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// What they work on, made once and kept outside of the lanes; `{material}` stands for its path.
    #[serde(default)]
    pub material: Material,
    /// Bytes of a recording.
    #[serde(default = "usual_size")]
    pub size: Bytes,
    /// Files of a repository or of all layers together.
    #[serde(default = "usual_files")]
    pub files: u64,
    /// What is done, in order.
    pub step: Vec<ProgramStep>,
}

/// What programs work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Material {
    /// Nothing.
    #[default]
    None,
    /// A recording of `size` bytes, MPEG-2 video and sound in a transport stream, made by ffmpeg and read from
    /// memory. A list of cuts, `cuts.ffconcat`, lies in the lane: it takes two parts of `remuxed.mkv`.
    Recording,
    /// A bare git repository with `files` files and two branches, `main` and `other`, that differ in a quarter
    /// of them.
    Repository,
    /// A folder with four archives, `layer1.tar` to `layer4.tar`, of `files` small files in all, of which one in
    /// ten is a hard link; each replaces some files of those before it.
    Layers,
}

/// One program, or something that only a process with an overlay mount can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramStep {
    /// Its group; unique within the workload.
    pub name: String,
    /// Program and arguments.
    #[serde(default)]
    pub program: Vec<String>,
    /// In place of a program: work in an overlay of folders of the lane.
    #[serde(default)]
    pub overlay: Option<Overlay>,
    /// Folders that are made before, and are no part of the time.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Caches are emptied before.
    #[serde(default)]
    pub cold: bool,
    /// Files that it reads whole: their bytes are counted, so that a step which memory answered is told from one that
    /// the disk answered.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Files whose contents must be alike in all lanes, read from the disk afterwards; how many extents they have is
    /// told too.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// A program that must succeed afterwards, once what the step made was looked at; it is no part of the time.
    #[serde(default)]
    pub check: Vec<String>,
}

/// An overlay mount on folders of the lane, as containers have it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Lower folders, the topmost first.
    pub lower: Vec<String>,
    /// What is done in it.
    #[serde(rename = "do")]
    pub does: OverlayWork,
}

/// What is done in an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverlayWork {
    /// Every file is read, as at a container's start.
    #[default]
    Read,
    /// A byte is appended to one file in ten, which copies it up first.
    Change,
}

/// The group that is the time of all steps with their syncs.
pub const TOTAL: &str = "total";
/// Who asks for owners of files.
pub const BY_PROGRAMS: &str = "its programs";
/// What stands for the material's path.
pub const MATERIAL: &str = "{material}";
/// The metric that holds the checksum of a step's outputs, CRC-32C.
pub const OUTPUT_CHECKSUM: &str = "output_crc32c";
/// The metric of the total that holds the checksum of what the programs worked on, CRC-32C.
pub const MATERIAL_CHECKSUM: &str = "material_crc32c";
/// The folders of an overlay that are written to.
pub const OVERLAY_UPPER: [&str; 2] = ["overlay-upper", "overlay-work"];

/// The kernel takes 256 bytes for the names of all lower folders of an overlay (fsconfig(2)).
const MOST_LAYERS: usize = 12;

fn usual_size() -> Bytes {
    Bytes(2_000_000_000)
}

fn usual_files() -> u64 {
    20_000
}

impl ProgramStep {
    /// Whether what it made is looked at afterwards.
    pub fn is_looked_at(&self) -> bool {
        !self.outputs.is_empty() || !self.check.is_empty()
    }
}

impl Programs {
    /// The groups in order.
    pub fn groups(&self) -> Vec<String> {
        self.step.iter().map(|step| step.name.clone()).chain([TOTAL.to_owned()]).collect()
    }

    /// The step whose group this is.
    pub fn step_named(&self, group: &str) -> Option<&ProgramStep> {
        self.step.iter().find(|step| step.name == group)
    }

    /// What the material and the steps ask of a filesystem, each ability once.
    pub fn asks_for(&self) -> Vec<Asked> {
        let layers =
            (self.material == Material::Layers).then(|| Asked { by: "its layers".to_owned(), ability: Ability::Links });
        let overlay = self.step.iter().find(|step| step.overlay.is_some());
        let overlay = overlay.map(|step| Asked { by: format!("step {}", step.name), ability: Ability::Overlays });
        // They run as somebody who is not root, and their folder is given to them.
        let owners = self.step.first().map(|_| Asked { by: BY_PROGRAMS.to_owned(), ability: Ability::Owners });
        layers.into_iter().chain(overlay).chain(owners).collect()
    }

    /// Names of the programs that must be installed, each once; those that make the material too.
    pub fn programs(&self) -> Vec<&str> {
        let makers: &[&str] = match self.material {
            Material::None => &[],
            Material::Recording => &["ffmpeg", "ffprobe"],
            Material::Repository => &["git"],
            Material::Layers => &["tar"],
        };
        let steps = self.step.iter().flat_map(|step| [step.program.first(), step.check.first()]).flatten();
        let mut all: Vec<&str> = Vec::new();
        for name in makers.iter().copied().chain(steps.map(String::as_str)) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// Bytes on the lane at most, roughly: a recording, what it is remuxed into and what is cut of it; a
    /// repository or layers and what is unpacked of them.
    pub fn working_set_bytes(&self) -> u64 {
        match self.material {
            Material::None => 64 * Bytes::MIB,
            Material::Recording => self.size.get().saturating_mul(3),
            // Mean size, a block and an inode each; twice.
            Material::Repository | Material::Layers => self.files.saturating_mul(2 * (8192 + 1024)),
        }
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the step.
    pub fn check(&self) -> Result<(), String> {
        if self.step.is_empty() {
            return Err("there is no step; add a table [[workload.step]] with name and program".to_owned());
        }
        if !(4 * Bytes::MIB..=1 << 40).contains(&self.size.get()) {
            return Err("size must lie between 4MiB and 1TiB".to_owned());
        }
        if !(40..=10_000_000).contains(&self.files) {
            return Err("files must lie between 40 and 10000000".to_owned());
        }
        for (at, step) in self.step.iter().enumerate() {
            let name = &step.name;
            let fail = |what: &str| Err(format!("step {name}: {what}"));
            if name.trim().is_empty() || name == TOTAL || self.step[..at].iter().any(|other| other.name == *name) {
                return fail("its name must be its own, and not `total`");
            }
            if step.program.is_empty() == step.overlay.is_none() {
                return fail("it needs either program or overlay");
            }
            for (key, words) in [("program", &step.program), ("check", &step.check)] {
                if words.first().is_some_and(|program| program.is_empty() || program.contains('/')) {
                    return fail(&format!("{key} begins with a name that is looked for in PATH, without a slash"));
                }
            }
            let inside = |path: &String| {
                let plain = std::path::Path::new(path).components();
                !path.is_empty() && plain.into_iter().all(|part| matches!(part, std::path::Component::Normal(_)))
            };
            let lower = step.overlay.iter().flat_map(|overlay| &overlay.lower);
            if !step.outputs.iter().chain(&step.reads).chain(&step.folders).chain(lower.clone()).all(inside) {
                return fail("reads, outputs, folders and lower are relative paths inside the lane");
            }
            if step.overlay.as_ref().is_some_and(|overlay| !(1..=MOST_LAYERS).contains(&overlay.lower.len())) {
                return fail("lower names between 1 and 12 folders");
            }
            let words =
                step.program.iter().chain(&step.check).chain(&step.folders).chain(&step.outputs).chain(&step.reads);
            if words.chain(lower).any(|word| word.contains('\0')) {
                return fail("a word holds a NUL byte; remove it");
            }
        }
        Ok(())
    }
}

impl WorkloadKind for Programs {
    fn groups(&self) -> Vec<String> {
        Programs::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        Programs::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Programs(self)
    }

    fn working_set_bytes(&self) -> u64 {
        Programs::working_set_bytes(self)
    }

    // Written and read again and again.
    fn traffic(&self) -> Traffic {
        Traffic::of_pages(4.0 * self.working_set_bytes() as f64)
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    /// A step whose input comes from the lane.
    fn reads(&self, group: &str) -> bool {
        self.step.iter().any(|step| !step.reads.is_empty() && step.name == group)
    }

    fn is_whole(&self, group: &str) -> bool {
        group == TOTAL
    }

    fn has_an_end(&self) -> bool {
        true
    }

    fn is_done_by_programs(&self) -> bool {
        true
    }

    fn asks_for(&self) -> Vec<Asked> {
        Programs::asks_for(self)
    }

    fn starts_programs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(steps: &str) -> Programs {
        toml::from_str(&format!("step = [{steps}]")).unwrap()
    }

    #[test]
    fn groups_are_the_steps_and_their_total() {
        let of = programs(
            "{ name = \"a\", program = [\"cp\", \"{material}\", \"x\"], check = [\"cmp\", \"x\", \"x\"] }, \
             { name = \"b\", program = [\"cp\", \"x\", \"y\"] }",
        );
        assert_eq!((of.check(), of.groups()), (Ok(()), vec!["a".to_owned(), "b".to_owned(), "total".to_owned()]));
        assert_eq!(of.programs(), ["cp", "cmp"]);
        assert_eq!(of.asks_for(), [Asked { by: BY_PROGRAMS.to_owned(), ability: Ability::Owners }]);
    }

    #[test]
    fn layers_ask_for_links_and_steps_for_overlays() {
        let mut of = programs("{ name = \"start\", overlay = { lower = [\"a\"], do = \"read\" } }");
        of.material = Material::Layers;
        let asked: Vec<(String, Ability)> = of.asks_for().into_iter().map(|of| (of.by, of.ability)).collect();
        let expected =
            [("its layers", Ability::Links), ("step start", Ability::Overlays), (BY_PROGRAMS, Ability::Owners)];
        assert_eq!(asked, expected.map(|(by, ability)| (by.to_owned(), ability)));
    }

    #[test]
    fn what_cannot_be_started_or_leaves_the_lane_is_refused() {
        for wrong in [
            "",
            "{ name = \"total\", program = [\"true\"] }",
            "{ name = \"a\", program = [\"true\"] }, { name = \"a\", program = [\"true\"] }",
            "{ name = \"a\" }",
            "{ name = \"a\", program = [\"true\"], overlay = { lower = [\"x\"], do = \"read\" } }",
            "{ name = \"a\", program = [\"/bin/true\"] }",
            "{ name = \"a\", program = [\"true\"], outputs = [\"../x\"] }",
            "{ name = \"a\", program = [\"true\"], folders = [\"/x\"] }",
            "{ name = \"a\", overlay = { lower = [], do = \"read\" } }",
        ] {
            assert!(programs(wrong).check().is_err(), "{wrong}");
        }
    }
}
