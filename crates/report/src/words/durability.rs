//! What is said of power cuts, damage, full and failing disks.

use crate::clean::clean;
use crate::durability::{DurabilityPlan, PlannedCuts};
use crate::figures;
use crate::layout::Phrase;
use model::durability::{
    DamageFindings, DurabilityFindings, DurabilityVerdict, Fault, Full, Honesty, LaneDurability, LaneExample,
    SpeedFinding, Untrusted,
};

pub(crate) const POWER_CUTS: &str = "POWER CUTS";
pub(crate) const INTEGRITY: &str = "INTEGRITY";
pub(crate) const CONTROLS: &str = "CONTROLS";
pub(crate) const UNTRUSTED: &str = "UNTRUSTED";
pub(crate) const BEWARE: &str = "BEWARE";
pub(crate) const CHECKER: &str = "CHECKER";
pub(crate) const LOOK: &str = "LOOK";
/// Instead of a line to paste: root would look at what a stranger wrote.
pub(crate) const LOOK_WHERE_IT_RAN: &str = "The image was kept where this was run. This record is not among your own; \
    look only at images that a run of yours kept.";
pub(crate) const COST: &str = "COST";
pub(crate) const DAMAGE: &str = "DAMAGE";
pub(crate) const FULL: &str = "FULL DISK";
pub(crate) const FAULTS: &str = "FAULTS";

pub(crate) const CANNOT_PROVE: &str = "The cuts are simulated below the filesystem, on a disk that honours every flush: whether your own drive \
                                       does, this cannot show. What no cut of this run showed may still exist.";
pub(crate) const CANNOT_PROVE_DAMAGE: &str = "Blocks were damaged while the filesystem was unmounted, so that nothing was in memory. Your drive has \
                                              checksums of its own, which catch much of what is simulated here.";

pub(crate) fn heading(found: &DurabilityFindings) -> String {
    let lanes = match found.lanes.len() {
        1 => "1 lane".to_owned(),
        count => format!("{count} lanes"),
    };
    let done = if found.outcome == "complete" { String::new() } else { format!(", {}", found.outcome) };
    match found.command.as_str() {
        "integrity" => format!("Linux {}, seed {}, {}{done}", clean(&found.kernel), found.seed, clean(&found.started)),
        _ => format!("{lanes}, Linux {}, seed {}, {}{done}", clean(&found.kernel), found.seed, clean(&found.started)),
    }
}

/// Before anything is written.
pub(crate) fn plan(plan: &DurabilityPlan) -> String {
    let lanes = |count: usize| if count == 1 { "1 lane".to_owned() } else { format!("{count} lanes") };
    let work = match plan.cuts {
        Some(PlannedCuts { promised, unpromised: 0 }) => {
            format!("{}, {} power cuts in each", lanes(plan.lanes), figures::whole(promised))
        }
        Some(PlannedCuts { promised, unpromised }) => format!(
            "{}, {} power cuts in each, and beside them {} at work that promises nothing",
            lanes(plan.lanes),
            figures::whole(promised),
            figures::whole(unpromised)
        ),
        None => format!("{}, damaged, filled and failed", lanes(plan.lanes)),
    };
    format!(
        "{work}. Formats no disk; files in {} take up to {}. Ctrl-C cleans up.",
        clean(plan.folder),
        figures::bytes(plan.bytes)
    )
}

/// The heads of the table of lanes.
pub(crate) const COLUMNS: [&str; 8] =
    ["lane", "cuts", "broke a promise", "lost", "torn", "stale", "not atomic", "no mount"];
/// The heads of its second part.
pub(crate) const MORE_COLUMNS: [&str; 6] =
    ["lane", "with open writes", "different images", "checker complained", "without directory fsync", "speed"];

/// One lane's verdict.
pub(crate) fn lane(found: &LaneDurability, first: &str) -> Phrase {
    let phrase = Phrase::default().name(&found.lane);
    let phrase = match found.verdict {
        DurabilityVerdict::Unknown if found.failed.is_some() => phrase.say(" was not cut to the end"),
        DurabilityVerdict::Unknown if found.cuts > 0 => {
            phrase.say(" was cut only at work of which no control shows that a loss would be seen")
        }
        DurabilityVerdict::Unknown => phrase.say(" was not cut"),
        DurabilityVerdict::Kept => phrase.say(format!(
            " lost no acknowledged record in {} cuts{}; the true rate is probably below {}",
            found.proven_cuts,
            basis(found),
            small_share(found.below.unwrap_or(1.0))
        )),
        // Nothing that was promised of names broke.
        DurabilityVerdict::Broke if found.broken == 0 => phrase.say(format!(
            " did not mount after {} of {} cuts without fsync of directories, and broke no promise in {} others",
            found.bare_unmountable, found.bare_cuts, found.cuts
        )),
        DurabilityVerdict::Broke => phrase
            .say(format!(" broke a promise in {} of {} cuts", found.broken, found.cuts))
            .say(sorts(found))
            .say(torn(found))
            .say(not_even_mounted(found)),
    };
    let phrase = phrase.say(given_up(found));
    let phrase = match found.speed {
        Some(speed) => pace(phrase.say("; "), speed, first),
        None => phrase,
    };
    let phrase = match found.verdict {
        DurabilityVerdict::Broke if !found.promises_fsync => {
            phrase.say(": it does not promise that fsync reaches stable storage")
        }
        _ => phrase,
    };
    phrase.say(lost(found)).say(forced(found)).say(".")
}

/// Which disk was gone.
fn lost(found: &LaneDurability) -> String {
    match (found.loses_a_disk, found.lost_disk) {
        (false, _) => String::new(),
        (true, None | Some(1)) => "; its first disk was lost with each cut".to_owned(),
        (true, Some(number)) => format!("; its disk {number} was lost with each cut"),
    }
}

/// A boot would have stopped there, and a person would have had to decide.
fn forced(found: &LaneDurability) -> String {
    match found.forced {
        0 => String::new(),
        count => format!("; {count} of its arrays lacked a disk and began only by force (mdadm --force)"),
    }
}

fn torn(found: &LaneDurability) -> &'static str {
    match found.broken > 0 && found.broken == found.broken_torn_512 {
        true => {
            ", each of which tore a write between sectors of 512 bytes, which a drive whose sectors are 4 KiB does not do"
        }
        false => "",
    }
}

fn not_even_mounted(found: &LaneDurability) -> String {
    match found.bare_unmountable {
        0 => String::new(),
        count => format!("; without fsync of directories {count} of {} images did not mount", found.bare_cuts),
    }
}

/// On what the bound stands.
fn basis(found: &LaneDurability) -> String {
    match (found.open, found.images) {
        (Some(open), Some(images)) => {
            format!(" ({open} of them with open writes, {images} different images, by which the bound goes)")
        }
        _ => String::new(),
    }
}

fn given_up(found: &LaneDurability) -> String {
    match &found.failed {
        None => String::new(),
        Some(failed) if failed.at == "speed" => format!("; its speed could not be measured: {}", clean(&failed.reason)),
        Some(failed) => format!("; it failed at {}: {}", clean(&failed.at), clean(&failed.reason)),
    }
}

fn sorts(found: &LaneDurability) -> String {
    let all = [
        (found.lost, "lost acknowledged records"),
        (found.torn, "wrong bytes"),
        (found.stale, "an older state"),
        (found.mixed, "a replacement that was not atomic"),
        (found.unmountable, "no mount"),
    ];
    let said: Vec<String> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

fn pace(phrase: Phrase, speed: SpeedFinding, first: &str) -> Phrase {
    // Faster at some work and slower at other: one figure for all would hide it.
    if speed.low < 0.995 && speed.high > 1.005 {
        let (low, high) = (speed.low, speed.high);
        let said = format!("between x{low:.2} and x{high:.2} as fast as ");
        return phrase.say(said).name(first).say(", by kind of work");
    }
    let (times, word) = match speed.ratio >= 1.0 {
        true => (speed.ratio, "faster than"),
        false => (1.0 / speed.ratio, "slower than"),
    };
    let said = if times < 1.005 { "as fast as ".to_owned() } else { format!("{times:.2}x {word} ") };
    phrase.say(said).name(first)
}

/// A figure that older records do not have, in a cell.
pub(crate) fn counted(figure: Option<u64>) -> String {
    figure.map_or_else(|| "not counted".to_owned(), |figure| figure.to_string())
}

/// The speed in a cell, beside that of the first lane where `any` was measured.
pub(crate) fn speed(found: &LaneDurability, first: &str, any: bool) -> String {
    match found.speed {
        Some(speed) => {
            let [ratio, low, high] = [speed.ratio, speed.low, speed.high].map(|figure| format!("x{figure:.2}"));
            // One kind of work has no range.
            if low == high { ratio } else { format!("{ratio} ({low} to {high})") }
        }
        None if any && found.lane == first => "x1".to_owned(),
        None => "not measured".to_owned(),
    }
}

pub(crate) const SPEED_LEGEND: &str = "Speed: acknowledged records per second of the same work on an ordinary image, beside the first lane: geometric \
                                       mean over the kinds of work, and their range; medians of few rounds, without an interval. A race decides.";

/// What the images cost.
pub(crate) fn cost(found: &LaneDurability) -> Option<Phrase> {
    let rate = format!(": {} images an hour", figures::whole(found.images_per_hour?.round() as u64));
    let memory = match found.memory_bytes {
        0 => String::new(),
        bytes => format!(", at most {} of memory", figures::bytes(bytes)),
    };
    let compared = found.compared.map_or(String::new(), |of| {
        let (names, files) = (figures::whole(of.names), figures::whole(of.files));
        format!("; {names} names, {files} files and {} of data were compared in all", figures::bytes(of.bytes))
    });
    Some(Phrase::default().name(&found.lane).say(format!("{rate}{memory}{compared}.")))
}

/// What has no promise behind it, in a cell.
pub(crate) fn bare(found: &LaneDurability) -> String {
    match found.bare_cuts {
        0 => "not tried".to_owned(),
        cuts => format!("missing in {} of {cuts}, not promised", found.bare_missing),
    }
}

/// A share below one, with two digits that say something.
pub(crate) fn small_share(share: f64) -> String {
    match share {
        share if share >= 0.1 => format!("{:.0} %", share * 100.0),
        share if share >= 0.01 => format!("{:.1} %", share * 100.0),
        share => format!("{:.2} %", share * 100.0),
    }
}

/// What the controls did.
pub(crate) fn controls(found: &DurabilityFindings) -> Phrase {
    match found.controls.as_slice() {
        [safe, unsafe_one] => {
            let phrase = Phrase::default().name(safe).say(" kept everything and ").name(unsafe_one);
            let phrase = phrase.say(" did not: what would be lost is seen");
            if found.unproven.is_empty() {
                return phrase.say(", at each kind of work.");
            }
            let kinds: Vec<String> = found.unproven.iter().map(|kind| clean(kind)).collect();
            let phrase = phrase.say(format!(". But at {} ", kinds.join(", "))).name(unsafe_one);
            phrase.say(
                " broke nothing, so that no control proves a 0 there: of what a lane kept, these cuts are left out. Take \
                 more with --cuts.",
            )
        }
        _ => Phrase::new("none were run."),
    }
}

pub(crate) fn untrusted(reason: Untrusted, found: &DurabilityFindings) -> Phrase {
    let name = |index: usize| found.controls.get(index).map_or("", String::as_str);
    match reason {
        Untrusted::SafeControlLost => Phrase::default().name(name(0)).say(
            " must keep every acknowledged record and did not: either this kernel loses data or Fairlane is wrong. No \
             verdict of this run is to be believed.",
        ),
        Untrusted::UnsafeControlKept => Phrase::default().name(name(1)).say(
            " must lose something and did not: losses are not seen here, so that a lane that kept everything proves \
             nothing. Take more cuts with --cuts.",
        ),
        Untrusted::ControlMissing => {
            Phrase::new("a control was not cut, so that nothing shows whether losses would be seen.")
        }
    }
}

pub(crate) fn example(lane: &str, of: &LaneExample) -> Phrase {
    Phrase::default().name(lane).say(format!(
        ", {}, cut {}, {} acknowledged: {}",
        clean(&of.workload),
        clean(&of.example.cut),
        of.example.acknowledged,
        clean(&of.example.said)
    ))
}

/// One line of damage.
pub(crate) fn damage(found: &DamageFindings) -> Phrase {
    let damage = &found.damage;
    let stands = if damage.devices > 1 { format!(" on {} devices", damage.devices) } else { String::new() };
    let phrase = Phrase::default().name(&damage.lane).say(format!(
        "{stands}, {} blocks of {} damaged: ",
        damage.blocks,
        clean(&damage.of)
    ));
    if damage.blocks == 0 {
        return phrase.say("no such block was found that is read, so this shows nothing.");
    }
    let files = format!("of {} files {} were hit", damage.files, damage.hit);
    let phrase = match found.honesty {
        // Metadata belongs to no file.
        Honesty::Silent if damage.hit == 0 => phrase.say(format!(
            "of {} files {} were wrong or gone WITHOUT AN ERROR, {} were refused",
            damage.files, damage.silent, damage.refused
        )),
        Honesty::Silent => phrase.say(format!(
            "{} files were wrong or gone WITHOUT AN ERROR, {} were refused, {} of the hit ones read whole",
            damage.silent, damage.refused, damage.repaired
        )),
        Honesty::Refused if !damage.unmountable.is_empty() => {
            phrase.say(format!("it does not mount ({})", clean(&damage.unmountable)))
        }
        Honesty::Refused if damage.hit == 0 => {
            phrase.say(format!("{} of {} files were refused, none read with wrong bytes", damage.refused, damage.files))
        }
        Honesty::Refused => phrase.say(format!("{files}: {} refused, none read with wrong bytes", damage.refused)),
        Honesty::Repaired if damage.hit > 0 => phrase.say(format!("{files}: all read whole, from another copy")),
        Honesty::Repaired => phrase.say(format!("every file was read whole, {} errors corrected", damage.corrected)),
        Honesty::Unharmed => phrase.say("every file was read whole"),
        Honesty::Untested => phrase.say("none of them was read again, so this shows nothing"),
    };
    let phrase = match damage.read {
        Some(read) if read < damage.blocks && found.honesty != Honesty::Untested => {
            phrase.say(format!(" ({read} of the blocks were read)"))
        }
        _ => phrase,
    };
    let phrase = match damage.array_mismatches {
        Some(0) => phrase.say("; the array's own check noticed nothing"),
        Some(sectors) => phrase.say(format!(
            "; the array's own check noticed differences, and cannot tell what is right (mismatch_cnt {sectors}, which counts all \
             sectors of what it compares at a time)"
        )),
        None => phrase,
    };
    match (damage.noticed, damage.scrub.is_empty()) {
        (true, false) => phrase.say(format!("; the check noticed: {}.", clean(&damage.scrub))),
        (true, true) => phrase.say("; the check noticed."),
        // Reading had written the other copy over what was damaged.
        (false, _) if found.honesty == Honesty::Repaired => phrase.say("; nothing was left for the check to notice."),
        (false, _) => phrase.say("; the check noticed nothing."),
    }
}

pub(crate) fn full(found: &Full) -> Phrase {
    let deleted = match found.could_delete {
        true => format!("a file could be deleted, and {:.0} % of its space came back", found.came_back * 100.0),
        false => "NOTHING could be deleted".to_owned(),
    };
    Phrase::default().name(&found.lane).say(format!(
        ": full after {}, answered \"{}\"; {deleted}; {} of {} earlier files whole.",
        figures::bytes(found.filled_bytes),
        clean(&found.answered),
        found.whole,
        found.files
    ))
}

pub(crate) fn fault(found: &Fault) -> Phrase {
    let which = format!(": {} {} refused by the disk: ", clean(&found.of), found.number);
    let phrase = Phrase::default().name(&found.lane).say(which);
    let phrase = match (found.happened, found.unmountable.is_empty()) {
        (true, false) => phrase.say(format!("it did NOT MOUNT AGAIN ({}); before that ", clean(&found.unmountable))),
        _ => phrase,
    };
    let phrase = match (found.happened, found.told.is_empty()) {
        (false, _) => return phrase.say("it never came to that."),
        (true, true) => phrase.say("the application was told nothing"),
        (true, false) if found.by.is_empty() => {
            phrase.say(format!("the application was told \"{}\"", clean(&found.told)))
        }
        (true, false) => phrase.say(format!("{} answered \"{}\"", clean(&found.by), clean(&found.told))),
    };
    let phrase = match (found.told.is_empty(), found.writable) {
        (true, _) => phrase,
        (false, true) => phrase.say(", and the filesystem took further writes"),
        (false, false) => phrase.say(", and the filesystem took no more writes until a new mount"),
    };
    let count = found.acknowledged;
    if !found.unmountable.is_empty() {
        return phrase.say(format!("; whether its {count} acknowledged records are whole cannot be read."));
    }
    let lost = match (found.lost_mounted, found.lost) {
        (0, 0) if count == 0 => "; no record had been acknowledged.".to_owned(),
        (0, 0) => format!("; all {count} acknowledged records whole, before and after a new mount."),
        (mounted, 0) => {
            format!("; {mounted} of {count} acknowledged records could not be read before a new mount, all after it.")
        }
        (_, lost) => format!("; {lost} of {count} acknowledged records LOST ({}).", clean(&found.said)),
    };
    phrase.say(lost)
}
