//! A lane with levels of options: their words are joined with the lane's own, and pass every check of those.

use super::dialect::Dialect;
use super::level_words::{self, MkfsWord, mount_key};
use crate::contestant::Contestant;
use crate::custom::Custom;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::{self, Filesystem, Home};
use crate::layers;
use model::lane::{self, LaneSpec};
use model::screening::OptionLevel;
use model::stack::{DEGRADED, LayerSpec, QUEUE, REBUILDING, VM};
use model::text::escaped;

/// Words of mount that are no options of a lane which goes on working, and why.
const NO_OPTIONS: [(&str, &str); 3] = [
    ("ro", "nothing can be written then"),
    (DEGRADED, "it is a state of the disks, as --state tells it"),
    (REBUILDING, "it is a state of the disks, as --state tells it"),
];

/// What is known of the words of a lane's filesystem. The file of one of the user's own is not opened: it may be a
/// record that names it, and nobody who typed it.
///
/// # Errors
/// [`LaneFailure::Usage`] where it is neither in the table and mounted, nor described by a file.
pub(super) fn dialect_of(base: &LaneSpec) -> Result<Dialect, LaneFailure> {
    let is_mounted = |row: &&'static Filesystem| matches!(row.home, Home::Block | Home::Memory);
    let known = match &base.contestant {
        lane::Contestant::Filesystem(name) => filesystems::find(name).filter(is_mounted).map(Dialect::from),
        lane::Contestant::Custom(path) => Some(Dialect::from(&Custom::unread(path))),
        lane::Contestant::Directory(_) => None,
    };
    known.ok_or_else(|| {
        usage(format!(
            "options are varied of a filesystem of Fairlane's table that is mounted, or of a file of your own, and \
             `{}` is neither; name one such as ext4",
            escaped(base.name.as_bytes())
        ))
    })
}

/// A lane at these levels, called `name`. A level's words take the place of the lane's own where both set the same thing;
/// settings of a queue become the topmost layer, because the filesystem stands on that device, and those of the kernel stand
/// above it.
///
/// # Errors
/// [`LaneFailure::Usage`] where two levels set one thing in two ways, or no lane may say a word.
pub fn lane_with(base: &LaneSpec, name: &str, levels: &[&OptionLevel]) -> Result<LaneSpec, LaneFailure> {
    let dialect = dialect_of(base)?;
    let mut lane = LaneSpec { name: name.to_owned(), ..base.clone() };
    if levels.iter().any(|level| !level.mkfs.is_empty()) {
        lane.mkfs_options = join_mkfs(&dialect, &base.mkfs_options, levels)?;
    }
    lane.mount_options = join_mount(&base.mount_options, levels)?;
    lane.layers = join_settings(&base.layers, QUEUE, levels.iter().flat_map(|level| &level.queue))?;
    lane.layers = join_settings(&lane.layers, VM, levels.iter().flat_map(|level| &level.vm))?;
    check(&lane)?;
    Ok(lane)
}

fn join_mkfs(dialect: &Dialect, own: &[String], levels: &[&OptionLevel]) -> Result<Vec<String>, LaneFailure> {
    let own = level_words::of_mkfs(dialect, own)?;
    let mut said: Vec<MkfsWord> = Vec::new();
    for level in levels {
        for word in level_words::of_mkfs(dialect, &level.mkfs)? {
            match said.iter().find(|other| other.sets_the_same(&word)) {
                Some(other) if *other == word => {}
                Some(other) => return Err(both(&other.shown(), &word.shown())),
                None => said.push(word),
            }
        }
    }
    let mut all = own;
    for word in said {
        match all.iter_mut().find(|own| own.sets_the_same(&word)) {
            Some(own) => *own = word,
            None => all.push(word),
        }
    }
    Ok(level_words::to_mkfs(&all))
}

fn join_mount(own: &[String], levels: &[&OptionLevel]) -> Result<Vec<String>, LaneFailure> {
    let mut said: Vec<&String> = Vec::new();
    for option in levels.iter().flat_map(|level| &level.mount) {
        if let Some((_, why)) = NO_OPTIONS.iter().find(|(name, _)| name == option) {
            return Err(usage(format!("`{option}` is no option to vary: {why}; leave it out")));
        }
        match said.iter().find(|other| mount_key(other) == mount_key(option)) {
            Some(&other) if other == option => {}
            Some(&other) => return Err(both(other, option)),
            None => said.push(option),
        }
    }
    let is_said = |own: &&String| said.iter().any(|other| mount_key(other) == mount_key(own));
    let kept: Vec<&String> = own.iter().filter(|own| !is_said(own)).collect();
    Ok(kept.into_iter().chain(said).cloned().collect())
}

/// `name`: of a layer that builds nothing, and `told`: what levels say to it.
fn join_settings<'a>(
    own: &[LayerSpec],
    name: &str,
    told: impl Iterator<Item = &'a String>,
) -> Result<Vec<LayerSpec>, LaneFailure> {
    let mut said: Vec<String> = Vec::new();
    for setting in told {
        match said.iter().find(|other| setting_key(other) == setting_key(setting)) {
            Some(other) if other == setting => {}
            Some(other) => return Err(both(other, setting)),
            None => said.push(setting.clone()),
        }
    }
    let mut layers = own.to_vec();
    if said.is_empty() {
        return Ok(layers);
    }
    // Below what is built a queue is another one.
    match layers.iter().take_while(|layer| !layer.is_built()).position(|layer| layer.name == name) {
        Some(at) => {
            let top = &mut layers[at];
            top.options.retain(|own| !said.iter().any(|other| setting_key(other) == setting_key(own)));
            top.options.append(&mut said);
        }
        None => {
            let at = layers.iter().take_while(|layer| layer.name == VM).count();
            layers.insert(at, LayerSpec { name: name.to_owned(), options: said, devices: 1 });
        }
    }
    Ok(layers)
}

/// What a setting sets: of two settings of the kernel that take each other's place the same.
fn setting_key(setting: &str) -> &str {
    let key = setting.split('=').next().unwrap_or_default();
    key.strip_suffix("_ratio").or_else(|| key.strip_suffix("_bytes")).unwrap_or(key)
}

fn both(one: &str, other: &str) -> LaneFailure {
    usage(format!(
        "a lane cannot have both `{}` and `{}`, which set one thing; leave one of the two options out",
        escaped(one.as_bytes()),
        escaped(other.as_bytes())
    ))
}

/// Refuses what no lane may say, and what no command line says.
fn check(lane: &LaneSpec) -> Result<(), LaneFailure> {
    layers::check_order(&lane.layers)?;
    lane.layers.iter().try_for_each(|layer| layers::check(layer).map(drop))?;
    let contestant = match &lane.contestant {
        lane::Contestant::Custom(path) => Contestant::Custom(Box::new(Custom::unread(path))),
        // Which kernel mounts it decides none of its words.
        lane::Contestant::Filesystem(_) | lane::Contestant::Directory(_) => Contestant::resolve(lane, &|_| true)?,
    };
    let commands = contestant.commands(lane)?;
    if let Some(device) = commands.devices.first() {
        return Err(usage(format!(
            "{} is named beside the disks of the lanes, which would share it; leave it out",
            device.display()
        )));
    }
    if lane.to_line().parse().as_ref() != Ok(lane) {
        return Err(usage(
            "no command line makes a lane of these words; leave commas, blanks, brackets and slashes out of options",
        ));
    }
    Ok(())
}
