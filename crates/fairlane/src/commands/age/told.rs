//! What is said of a life: before it writes, while it is lived, and at its end.

use super::Outcome;
use super::folder::{Place, Space};
use aging::measures::{Caches, ChiSquared, ColdWalk, FreeClass};
use aging::state::State;
use aging::{Life, Lived, Measures, Progress, Until};
use model::units::{human_bytes, human_seconds, percent};

/// For forecasts: bytes that a disk takes in a second (chosen; the life itself tells how fast it was).
const GUESSED_RATE: f64 = 100e6;
/// Pieces of free space are told in these classes, from so many bytes on.
const FREE_CLASSES: [(u64, &str); 5] = [
    (0, "below 64 KiB"),
    (64 << 10, "64 KiB to 1 MiB"),
    (1 << 20, "1 to 16 MiB"),
    (16 << 20, "16 to 256 MiB"),
    (256 << 20, "256 MiB and more"),
];

/// What a life will write, before it does.
pub fn plan(place: &Place, life: &Life, space: &Space, state: Option<&State>) -> String {
    let size = life.capacity_bytes as f64;
    let mut text = format!("a life of profile {}, seed {}, in {}\n", life.profile.name, life.seed, place.shown());
    let [low, high] = life.profile.settle.map(percent);
    let (low, fill) = (low.trim_end_matches(" %").to_owned(), percent(life.profile.fill));
    let free = human_bytes(space.free_bytes as f64);
    let level = match (life.full, life.until) {
        (Some(full), Until::Overwrites(0.0)) => format!("filled to {} and not aged", percent(full)),
        (Some(full), _) => format!("filled to {fill} first and to {} at the end", percent(full)),
        (None, _) => format!("filled to {fill} first, {low} to {high} at the end"),
    };
    text.push_str(&format!("  size        {} ({free} are free): {level}\n", human_bytes(size)));
    text.push_str(&format!("  will write  {}\n", writes(life)));
    let left = life.full.unwrap_or((life.profile.settle[0] + life.profile.settle[1]) / 2.0);
    let here = state.map_or(0.0, |state| state.lived.used_share * size);
    let used = (space.used_bytes as f64 - here).max(0.0) + left * size;
    text.push_str(&format!(
        "  afterwards  this filesystem is about {} full\n",
        percent(used / space.size_bytes.max(1) as f64)
    ));
    if let Some(state) = state {
        text.push_str(&format!(
            "  goes on     after {} cycles, in which the size was overwritten {:.1} times\n",
            state.lived.cycles, state.lived.overwrites
        ));
    }
    text.push_str(
        "  This wears the disk and fragments this filesystem; `--remove` gives the space back, and not the order.\n",
    );
    text
}

fn writes(life: &Life) -> String {
    let (least, most) = life.forecast_bytes();
    let time = |bytes: f64| human_seconds(bytes / GUESSED_RATE);
    match life.until {
        Until::Minutes(minutes) => format!("as much as it can in {}", human_seconds(minutes * 60.0)),
        Until::Operations(acts) => format!("what {acts} operations write"),
        _ if most <= least * 1.2 => {
            format!("about {}, roughly {} where the disk takes 100 MB/s", human_bytes(most), time(most))
        }
        _ => format!(
            "{} to {}, roughly {} to {} where the disk takes 100 MB/s",
            human_bytes(least),
            human_bytes(most),
            time(least),
            time(most)
        ),
    }
}

/// One line while it is lived.
pub fn progress(progress: &Progress) -> String {
    let cycle = match progress.cycle {
        0 => "first filling".to_owned(),
        cycles => format!("cycle {}", cycles + 1),
    };
    let extents =
        progress.extents_per_file.map_or_else(String::new, |extents| format!(", {extents:.2} extents per file"));
    format!(
        "{cycle}: {} written, overwritten {:.2} times, {} full{extents}, {}",
        human_bytes(progress.bytes_written as f64),
        progress.overwrites,
        percent(progress.used_share),
        human_seconds(progress.seconds)
    )
}

/// All that came of it.
pub(super) fn outcome(outcome: &Outcome) -> String {
    let mut text = lived(outcome.lived, outcome);
    text.push_str(&layout(&outcome.measures));
    text.push_str(&walks(outcome));
    text.push_str(&against_profile(&outcome.measures));
    for note in &outcome.measures.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

fn lived(lived: &Lived, outcome: &Outcome) -> String {
    let ended = lived.ended_by.map_or("it is not over; the same command goes on", |by| by.words());
    let mut text = format!(
        "{}\n  life             profile {}, seed {}: {} operations in {} cycles, {}\n  overwritten      {:.1} times \
         ({} written into a size of {})\n  ended by         {ended}\n",
        outcome.folder,
        outcome.profile,
        outcome.seed,
        lived.operations,
        lived.cycles,
        human_seconds(lived.seconds),
        lived.overwrites,
        human_bytes(lived.bytes_written as f64),
        human_bytes(outcome.size_bytes as f64),
    );
    let (refused, skipped) = (lived.refused_for_space, lived.skipped_for_space);
    if refused + skipped > 0 {
        text.push_str(&format!(
            "  no space         for {refused} operations; {skipped} later ones on the same files were left out\n"
        ));
    }
    if lived.resumed > 0 {
        text.push_str(&format!(
            "  gone on with     {} times, {} files and folders repaired\n",
            lived.resumed, lived.repaired
        ));
    }
    text
}

fn layout(measures: &Measures) -> String {
    let mut text = format!(
        "  tree             {} files in {} folders, {}\n",
        measures.files,
        measures.directories,
        human_bytes(measures.bytes as f64)
    );
    let of = |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), |value| format!("{value:.3}"));
    let most = measures.most_extents.map_or_else(String::new, |most| format!(" (one has {most})"));
    text.push_str(&format!("  extents per file {}{most}\n", of(measures.extents_per_file)));
    text.push_str(&format!(
        "  layout score     {} of blocks follow the one before in their file\n",
        of(measures.layout_score)
    ));
    text.push_str(&format!(
        "  dynamic score    {} of blocks follow the one before in the order of a walk (from where they lie, not traced)\n",
        of(measures.dynamic_layout_score)
    ));
    let split = measures
        .directories_split
        .map_or_else(|| "not known".to_owned(), |share| format!("{} of them", percent(share)));
    text.push_str(&format!("  folders split    {split}\n"));
    text.push_str(&format!("  free space       {}\n", free_space(measures.free_extents.as_deref())));
    let lost = measures.allocated_bytes as f64 - measures.bytes as f64;
    text.push_str(&format!(
        "  space            {} of {} in use; the files hold {} and take {} ({} beside their contents)\n",
        human_bytes(measures.filesystem_used_bytes as f64),
        human_bytes(measures.filesystem_bytes as f64),
        human_bytes(measures.bytes as f64),
        human_bytes(measures.allocated_bytes as f64),
        human_bytes(lost.max(0.0)),
    ));
    text
}

fn free_space(classes: Option<&[FreeClass]>) -> String {
    let Some(classes) = classes else { return "not known".to_owned() };
    let pieces: u64 = classes.iter().map(|class| class.pieces).sum();
    let bytes: u64 = classes.iter().map(|class| class.bytes).sum();
    let parts = FREE_CLASSES.iter().enumerate().filter_map(|(at, (from, name))| {
        let to = FREE_CLASSES.get(at + 1).map_or(u64::MAX, |next| next.0);
        let here: u64 = classes.iter().filter(|of| (*from..to).contains(&of.from_bytes)).map(|of| of.bytes).sum();
        (here > 0).then(|| format!("{} in pieces of {name}", percent(here as f64 / bytes.max(1) as f64)))
    });
    format!("{} in {pieces} pieces: {}", human_bytes(bytes as f64), parts.collect::<Vec<_>>().join(", "))
}

fn walks(outcome: &Outcome) -> String {
    let walked = |walk: &ColdWalk| {
        let cold = match walk.caches {
            Caches::Dropped => "",
            Caches::PagesOnly => "; only pages were cold, because the kernel's caches are root's to drop",
        };
        format!(
            "{:.1} s for a GiB ({} in {}{cold})",
            walk.seconds_per_gib,
            human_bytes(walk.bytes as f64),
            human_seconds(walk.seconds)
        )
    };
    let mut text = String::new();
    if let Some(walk) = &outcome.cold_walk {
        text.push_str(&format!("  cold reading     {}\n", walked(walk)));
    }
    match (&outcome.beside_fresh, &outcome.no_fresh_copy) {
        (Some(beside), _) => {
            let part = match beside.share_of_files {
                all if all >= 1.0 => "of all files".to_owned(),
                share => format!("of {} of the files, as many as there was room for", percent(share)),
            };
            text.push_str(&format!(
                "  fresh copy       {part}: {}; the aged ones {:.1} s for a GiB, {:.2} times as long\n",
                walked(&beside.fresh),
                beside.aged.seconds_per_gib,
                beside.ratio
            ));
        }
        (None, Some(why)) => text.push_str(&format!("  fresh copy       {why}\n")),
        (None, None) => {}
    }
    text
}

fn against_profile(measures: &Measures) -> String {
    let told = |of: &ChiSquared| {
        format!(
            "chi-squared {:.1} of {} degrees of freedom ({}), {} of the files would be in another class",
            of.statistic,
            of.degrees,
            if of.probability < 0.005 { "p below 0.01".to_owned() } else { format!("p {:.2}", of.probability) },
            percent(of.misplaced_share)
        )
    };
    let mut text = String::new();
    for (name, of) in [("sizes", &measures.sizes), ("ages", &measures.ages)] {
        if let Some(of) = of {
            text.push_str(&format!("  {name:<16} {}\n", told(of)));
        }
    }
    if let Some(differing) = measures.differing_files {
        text.push_str(&format!("  files that differ from the life's  {differing}\n"));
    }
    text
}
