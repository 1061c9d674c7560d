//! What a profile may say: each mistake with its line and what to write in its place.

use super::{Acts, Directories, FreedBy, Group, Profile, Sizes};

/// Groups of files at most.
const MOST_GROUPS: usize = 16;
/// Steps of a distribution at most.
const MOST_STEPS: usize = 65_536;
/// Bytes of a file at most.
const MOST_BYTES: u64 = 1 << 40;
/// Weights at most.
const MOST_WEIGHT: f64 = 1e12;

/// The line of a key: of the profile itself, or of its group of this number.
fn line(text: &str, group: Option<usize>, key: &str) -> usize {
    let mut groups = 0;
    let mut header = 1;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("[[files]]") {
            groups += 1;
            if group.is_some_and(|group| group + 1 == groups) {
                header = at + 1;
            }
        }
        let here = group.map_or(groups == 0, |group| group + 1 == groups);
        let word = line.split(['=', ' ', '.']).next().unwrap_or_default().trim_matches(['[', ']']);
        let of_table = line.strip_prefix("[files.").is_some_and(|rest| rest.starts_with(key));
        if here && (word == key || of_table) {
            return at + 1;
        }
    }
    header
}

/// What can be told before distributions are read.
///
/// # Errors
/// The line, the mistake and the remedy.
pub(super) fn shape(profile: &Profile, text: &str) -> Result<(), String> {
    let wrong = |key: &str, what: &str| Err(format!("line {}: {key} {what}", line(text, None, key)));
    let name = profile.name.as_str();
    if name.is_empty() || name.len() > 64 || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return wrong("name", "is made of letters, digits and dashes, 64 at most");
    }
    if !(1..=16).contains(&profile.writers) {
        return wrong("writers", "is between 1 and 16");
    }
    if !(profile.fill > 0.0 && profile.fill <= 1.0) {
        return wrong("fill", "is a share above 0 and at most 1");
    }
    let [low, high] = profile.settle;
    if !(low > 0.0 && low <= high && high <= 1.0) {
        return wrong("settle", "has two shares above 0 and at most 1, the smaller one first");
    }
    if !(profile.delete > 0.0 && profile.delete < 1.0) {
        return wrong("delete", "is a share above 0 and below 1");
    }
    if profile.groups.is_empty() || profile.groups.len() > MOST_GROUPS {
        return wrong("files", "come in 1 to 16 groups, each under [[files]]");
    }
    for (at, group) in profile.groups.iter().enumerate() {
        let mistake = of_group(group).err();
        if let Some((key, what)) = mistake {
            return Err(format!("line {}: {key} {what}", line(text, Some(at), key)));
        }
    }
    if profile.groups.iter().all(|group| group.weight == 0.0 || group.acts.create == 0.0) {
        return wrong("files", "need one group at least with a weight and `create` above 0, or nothing fills the disk");
    }
    Ok(())
}

type Mistake = (&'static str, &'static str);

fn of_group(group: &Group) -> Result<(), Mistake> {
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    if !(0.0..=MOST_WEIGHT).contains(&group.weight) {
        return Err(("weight", "is 0 or more"));
    }
    if !(group.space > 0.0 && group.space <= MOST_WEIGHT) {
        return Err(("space", "is above 0"));
    }
    if !(9..=64).contains(&group.name_length) {
        return Err(("name_length", "is between 9 and 64"));
    }
    if group.freed_by == FreedBy::Rewrite && !(group.rewritten_to > 0.0 && group.rewritten_to <= 0.95) {
        return Err(("rewritten_to", "is a share above 0 and at most 0.95"));
    }
    if !is_share(group.fsync) {
        return Err(("fsync", "is a share between 0 and 1"));
    }
    of_directories(&group.directories)?;
    if !(1..=64).contains(&group.lifetimes.among) {
        return Err(("lifetimes", "draw among 1 to 64 files"));
    }
    of_acts(&group.acts)?;
    if group.acts.append > 0.0 && group.appends.is_none() {
        return Err(("acts", "append: say with `appends` how much"));
    }
    if group.acts.overwrite > 0.0 && group.overwrites.is_none() {
        return Err(("acts", "overwrite: say with `overwrites` how much"));
    }
    of_sizes("sizes", &group.sizes)?;
    group.appends.as_ref().map_or(Ok(()), |sizes| of_sizes("appends", sizes))?;
    group.overwrites.as_ref().map_or(Ok(()), |sizes| of_sizes("overwrites", sizes))
}

fn of_directories(of: &Directories) -> Result<(), Mistake> {
    match (of.count, of.files) {
        (Some(1..=65_536), None) | (None, Some(1..=1_000_000)) => {}
        _ => return Err(("directories", "have either `count`, 1 to 65536, or `files` for each, 1 to 1000000")),
    }
    if !(1..=16).contains(&of.depth) {
        return Err(("directories", "have a `depth` between 1 and 16"));
    }
    if !(0.0..=1.0).contains(&of.local) {
        return Err(("directories", "have `local`, a share between 0 and 1"));
    }
    Ok(())
}

fn of_acts(acts: &Acts) -> Result<(), Mistake> {
    let all = [acts.create, acts.append, acts.replace, acts.overwrite, acts.rename];
    if !all.iter().all(|weight| (0.0..=MOST_WEIGHT).contains(weight)) {
        return Err(("acts", "are weights of 0 or more"));
    }
    // What never takes space would go on for ever.
    if acts.create + acts.append < 0.01 * all.iter().sum::<f64>() || acts.create + acts.append == 0.0 {
        return Err((
            "acts",
            "need `create` or `append`, one in a hundred at least, because nothing else fills the disk",
        ));
    }
    Ok(())
}

fn of_sizes(key: &'static str, sizes: &Sizes) -> Result<(), Mistake> {
    let forms = [sizes.median.is_some() || sizes.sigma.is_some(), !sizes.steps.is_empty(), sizes.from.is_some()];
    if forms.iter().filter(|is| **is).count() != 1 || (sizes.median.is_some() != sizes.sigma.is_some()) {
        return Err((key, "have either `median` and `sigma`, or `steps`, or a file with `from`"));
    }
    if sizes.median.is_some_and(|median| !(1..=MOST_BYTES).contains(&median.get())) {
        return Err((key, "have a median between 1 byte and 1 TiB"));
    }
    if sizes.sigma.is_some_and(|sigma| !(0.0..=5.0).contains(&sigma)) {
        return Err((key, "have a sigma between 0 and 5"));
    }
    if sizes.median.is_some() && sizes.most.is_none() {
        return Err((key, "with a median need `most`, because a lognormal curve has no end"));
    }
    let bounds = [sizes.least, sizes.most].into_iter().flatten();
    if bounds.clone().any(|bound| bound.get() > MOST_BYTES) {
        return Err((key, "have `least` and `most` of 1 TiB at most"));
    }
    let (least, most) = (sizes.least.map_or(1, |of| of.get()), sizes.most.map_or(MOST_BYTES, |of| of.get()));
    if least > most || sizes.median.is_some_and(|median| !(least..=most).contains(&median.get())) {
        return Err((key, "have their median between `least` and `most`"));
    }
    Ok(())
}

/// What distributions say, those of files too.
///
/// # Errors
/// As [`shape`].
pub(super) fn distributions(profile: &Profile, text: &str) -> Result<(), String> {
    for (at, group) in profile.groups.iter().enumerate() {
        let wrong = |key: &str, what: &str| Err(format!("line {}: {key} {what}", line(text, Some(at), key)));
        let sizes = [("sizes", Some(&group.sizes)), ("appends", group.appends.as_ref())];
        let sizes = sizes.into_iter().chain([("overwrites", group.overwrites.as_ref())]);
        for (key, of) in sizes.filter_map(|(key, of)| Some((key, of?))) {
            let weights: Vec<f64> = of.steps.iter().map(|step| step.1).collect();
            if of.median.is_none() && !are_weights(&weights) {
                return wrong(key, "have steps with weights of 0 or more, one of them above 0");
            }
            if of.steps.iter().any(|step| step.0.get() > MOST_BYTES) {
                return wrong(key, "have steps of 1 TiB at most");
            }
        }
        let ages: Vec<f64> = group.lifetimes.ages.iter().map(|age| age.1).collect();
        if !ages.is_empty() && !are_weights(&ages) {
            return wrong("lifetimes", "have ages with weights of 0 or more, one of them above 0");
        }
        let depths = &group.directories.depths;
        let weights: Vec<f64> = depths.iter().map(|depth| depth.1).collect();
        if !depths.is_empty() && !are_weights(&weights) {
            return wrong("directories", "have depths with weights of 0 or more, one of them above 0");
        }
    }
    Ok(())
}

fn are_weights(weights: &[f64]) -> bool {
    weights.len() <= MOST_STEPS
        && weights.iter().all(|weight| (0.0..=MOST_WEIGHT).contains(weight))
        && weights.iter().any(|weight| *weight > 0.0)
}
