//! Stacks of the passes that explain, bounded, each function's name once.

use super::LATENCY_DIGITS;
use super::names::Names;
use crate::explain::{Causes, Known};
use crate::timeline::digits;
use model::page::{LaneStacks, Stack, Stacks};
use model::profile::{Profile, ThreadRole};
use model::record::Record;
use std::collections::HashMap;

/// Stacks of all lanes at most.
const MOST_STACKS: usize = 60_000;
/// Frames of a stack, and functions and stacks of a pass; nobody's have more.
const MOST_FRAMES: usize = 64;
const MOST_SYMBOLS: usize = 20_000;
/// Passes that are shown.
const MOST_PASSES: usize = 2_000;
/// Characters of a function's name.
const MOST_NAME: usize = 120;

/// The stacks of every pass; a resumed race may have profiled twice, and the last one counts.
pub(super) fn stacks(record: &Record) -> Stacks {
    let key = |of: &Profile| (of.workload.clone(), of.group.clone(), of.lane.clone());
    let mut last: HashMap<_, usize> = HashMap::new();
    for (place, profile) in record.profiles.iter().enumerate() {
        last.insert(key(profile), place);
    }
    let mut places: Vec<usize> = last.into_values().collect();
    places.sort_unstable();
    places.truncate(MOST_PASSES);
    let most = MOST_STACKS / places.len().max(1);
    let (mut names, mut known) = (Names::default(), Known::default());
    let lanes = places.iter().map(|place| lane(&record.profiles[*place], most, &mut names, &mut known)).collect();
    Stacks { lanes, names: names.into_vec() }
}

/// As much of a name as is shown.
fn cut(name: &str) -> &str {
    name.char_indices().nth(MOST_NAME).map_or(name, |(end, _)| &name[..end])
}

fn lane<'a>(profile: &'a Profile, most: usize, names: &mut Names<'a>, known: &mut Known<'a>) -> LaneStacks {
    let mut of = LaneStacks {
        workload: profile.workload.clone(),
        group: profile.group.clone(),
        lane: profile.lane.clone(),
        operations: profile.operations,
        samples: profile.samples,
        left_out_seconds: profile.left_out_seconds.max(0.0),
        stacks: Vec::new(),
    };
    if profile.symbols.len() > MOST_SYMBOLS {
        return of;
    }
    let causes = Causes::new(profile, known);
    for stack in &profile.stacks {
        let seconds = digits(stack.seconds, LATENCY_DIGITS);
        // What others did meanwhile is no part of an operation.
        let is_lanes = !matches!(stack.role, ThreadRole::Other | ThreadRole::Profiler);
        if !is_lanes || !seconds.is_finite() || seconds <= 0.0 {
            continue;
        }
        if of.stacks.len() >= most || stack.frames.len() > MOST_FRAMES {
            of.left_out_seconds += seconds;
            continue;
        }
        let frames = profile.names(stack).map(|name| names.place(cut(name))).collect();
        of.stacks.push(Stack { role: stack.role, activity: stack.activity, part: causes.part(stack), seconds, frames });
    }
    of.left_out_seconds = digits(of.left_out_seconds, LATENCY_DIGITS);
    of
}
