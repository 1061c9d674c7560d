//! Lanes tried on a small image, journalled and undone: by this machine's kernel, or in a guest that is started for it.

use super::{Try, one_line};
use crate::commands::{contest, lane_failure, planning};
use crate::failure::{Failure, Status};
use crate::options::Terms;
use crate::{signals, terminal};
use lanes::screened_options::{self, Tried};
use lanes::{FailureKind, Journal, OptionTrial, Settings, undo};
use model::lane::{Contestant, LaneSpec, Venue};
use model::plan::{Ground, Plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why options of a lane in a guest are not tried to the end: the guest ended too often.
const GUEST_ENDED: &str = "the guest in which options were tried ended twice meanwhile, so that it was not started again and of \
    the others mkfs alone was tried: one that the guest refuses ends the race before its first round";
/// The same where their mkfs runs in the guest too.
const MADE_BY_THE_GUEST: &str = "the guest in which options were tried ended twice meanwhile, so that it was not started again and \
    the others were not tried: one that the guest refuses ends the race before its first round";

/// Where lanes are tried.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Of the race that they are to take part in: where its images will lie, how large they will be, what its guests are made of.
    pub plan: &'a Plan,
    /// How it was asked for.
    pub terms: &'a Terms,
}

/// How far lanes were tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// As a race makes and mounts them.
    Whole,
    /// Until the guest had ended too often, and from then on their mkfs alone.
    UntilGuestEnded,
}

/// Lanes that were tried.
pub struct Sorted<T> {
    /// Those that can be made and mounted, or were not tried.
    pub kept: Vec<(T, LaneSpec)>,
    /// What the others are, each with why it is refused, without a full stop.
    pub refused: Vec<(T, String)>,
}

/// Sorts some lanes by whether they can be made and mounted, tried where their images will lie.
///
/// # Errors
/// Where lanes cannot be tried here.
pub fn working<T>(base: &LaneSpec, lanes: Vec<(T, LaneSpec)>, place: Place) -> Result<Sorted<T>, Failure> {
    let (sorted, _) = trying(base, (place, None), |try_one| {
        let mut sorted = Sorted { kept: Vec::new(), refused: Vec::new() };
        for (what, lane) in lanes {
            match try_one(&lane)? {
                Tried::Refused(why) => sorted.refused.push((what, one_line(&why))),
                Tried::Works(_) | Tried::NotTried => sorted.kept.push((what, lane)),
            }
        }
        Ok(sorted)
    })?;
    Ok(sorted)
}

/// Lanes of guests are tried in one, without root; without root the check of the others says what is missing.
pub(super) fn can_be_tried(base: &LaneSpec) -> bool {
    planning::in_guest(base) || lanes::host::is_root()
}

/// Says that so many options are tried, and where. `has_guest`: in one that is started for it.
fn say_so(base: &LaneSpec, options: usize, (place, has_guest): (Place, bool)) {
    let options = if options == 1 { "1 option".to_owned() } else { format!("{options} options") };
    let size = place.plan.lane_size;
    match base.contestant {
        _ if has_guest => {
            terminal::say!("trying {options} in a guest that is started for it, on a sparse disk of {size}");
        }
        Contestant::Custom(_) => {
            terminal::say!("trying {options} on a sparse image of {size}, by the commands of its file");
        }
        _ => {
            terminal::say!("trying {options} on a sparse image of {size}");
        }
    }
}

/// What is said where options of a lane are not tried. `is_untried`: of some not even their mkfs is. `None`: they are, and
/// without root the check of the lanes says what is missing.
pub(super) fn why_untried(base: &LaneSpec, reach: Reach, is_untried: bool) -> Option<&'static str> {
    let why = match (reach, is_untried) {
        (Reach::Whole, _) => None,
        (Reach::UntilGuestEnded, false) => Some(GUEST_ENDED),
        (Reach::UntilGuestEnded, true) => Some(MADE_BY_THE_GUEST),
    };
    why.filter(|_| planning::in_guest(base))
}

/// Gives `work` what tries a lane on a small image, journalled and undone; where lanes cannot be tried, all of them work. Answers
/// what `work` does, and how far lanes were tried. `says`: how many options are tried is said on standard error.
///
/// # Errors
/// Those of `work`; where lanes cannot be tried here, or something of them stays.
pub(super) fn trying<T>(
    base: &LaneSpec,
    (place, says): (Place, Option<usize>),
    work: impl FnOnce(Try<'_>) -> Result<T, Failure>,
) -> Result<(T, Reach), Failure> {
    if !can_be_tried(base) {
        return work(&mut |_| Ok(Tried::NotTried)).map(|done| (done, Reach::Whole));
    }
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    let Plan { on, lane_size, .. } = place.plan;
    let folder = folder(base, on)?;
    let undo = undo::directory().map_err(lane_failure)?;
    let run_id = planning::run_id();
    let mut guest = guest(base, place, (&run_id, &undo))?;
    if let Some(options) = says {
        say_so(base, options, (place, guest.is_some()));
    }
    let mut journal = Journal::begin(&undo, &run_id).map_err(lane_failure)?;
    let devices = devices(base, on);
    let mut may_be_left = false;
    let started = guest.as_mut().map_or(Ok(()), |guest| guest.start(&mut journal, &stop));
    let done = started.map_err(lane_failure).and_then(|()| {
        work(&mut |lane| {
            // A program that ends at once ends before anybody looks.
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::interrupted());
            }
            if let Some(guest) = &mut guest {
                return guest.try_lane(lane, &mut journal, &stop).map_err(lane_failure);
            }
            let tried = screened_options::try_lane_of_size(lane, (*lane_size, &devices), &folder, &mut journal, &stop);
            may_be_left |= tried.as_ref().is_err_and(|failure| failure.kind() == FailureKind::Failed);
            tried.map_err(lane_failure)
        })
    });
    let reach = match &guest {
        Some(guest) if guest.gave_up() => Reach::UntilGuestEnded,
        _ => Reach::Whole,
    };
    let ended = guest.map_or(Ok(()), |guest| guest.end(&mut journal)).map_err(lane_failure);
    // What could not be undone stands in the journal, and the next command takes it away.
    if !may_be_left && ended.is_ok() {
        journal.finish().map_err(lane_failure)?;
    }
    let done = match done {
        Err(failure) if failure.status == Status::Failed => Err(failure),
        done => ended.and(done),
    };
    let done = if stop.load(Ordering::Relaxed) { done.and(Err(Failure::interrupted())) } else { done };
    done.map(|done| (done, reach))
}

/// The guest in which options of a lane are tried; `None`: they are tried on this machine.
///
/// # Errors
/// As a race of the lane would be refused.
fn guest(base: &LaneSpec, place: Place, (run_id, undo): (&str, &Path)) -> Result<Option<OptionTrial>, Failure> {
    if !planning::in_guest(base) {
        return Ok(None);
    }
    let plan = Plan { lanes: vec![base.clone()], ..place.plan.clone() };
    let settings = contest::settings(&plan, place.terms, (run_id, undo.to_owned()))?;
    // Nothing is replayed there.
    OptionTrial::check(Settings { trace: None, ..settings }).map(Some).map_err(lane_failure)
}

/// The devices that a lane will stand on; none where it stands on images.
pub(super) fn devices(base: &LaneSpec, on: &Ground) -> Vec<PathBuf> {
    match (&base.venue, on) {
        (Some(Venue::Device(device)), _) | (None, Ground::Device(device)) => vec![device.clone()],
        (None, Ground::Disks(disks)) => disks.iter().take(base.disks() as usize).cloned().collect(),
        _ => Vec::new(),
    }
}

/// Where a small image is made: beside the others, and for lanes on devices in the working directory.
fn folder(base: &LaneSpec, on: &Ground) -> Result<PathBuf, Failure> {
    let device = matches!(base.venue, Some(Venue::Device(_)));
    match on {
        Ground::Images(folder) if !device => Ok(folder.clone()),
        _ => std::env::current_dir().map_err(|error| {
            Failure::usage(format!(
                "options are tried on an image in the working directory, which cannot be used: {error}; go to another"
            ))
        }),
    }
}
