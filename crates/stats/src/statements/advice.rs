//! Why a lane is left out of advice, or was compared in part of the work (`advice`).

templates! {
    of_part(part, reason) = "{part}: {reason}";
    rounds_failed(failed, of, reason) = "{failed} of {of} rounds failed: {reason}";
    too_few_rounds(count) = "fewer than {count} rounds have a figure";
    compared_without(parts, why) = "compared without {parts}, which count as not measured in it: {why}";
}
