//! What each mark of a trial means for who reads, and what to do about it (`marks`). The marks' names stand in records, in
//! JSON and in CSV alone.

use model::sentence::{Value, Weight};
use model::{Mark, Sentence};

templates! {
    // Which trials: `all 60 trials`, `21 of 60 trials (ext4 7, xfs 14)`.
    all_trials(count) = "all {count} trials";
    some_trials(count, of) = "{count} of {of} trials";
    marked_trials(count, of, lanes) = "{count} of {of} trials ({lanes})";
    marked_trials_each(count, of, each) = "{count} of {of} trials ({each} of each lane)";
    marked_trials_of(lane, count) = "{lane} {count}";
    for_one(figures) = " (in one of them {figures})";

    cannot_sustain_rate(trials, one) =
        "{trials} fell behind the rate that was asked for{one}, so that their latencies are those of a growing queue: ask \
         for a lower rate";
    harness_bound_submission(trials, one) =
        "Fairlane itself was late in {trials}{one}, so that their latencies are partly its own: ask for a lower rate, or \
         leave it more CPUs";
    foreign_noise(trials, one) = "other programs disturbed {trials}{one}: race on an idle machine";
    neighbour_active(trials, one) =
        "other lanes still used the disk during {trials}{one}, which slows them: race fewer lanes at once, or each in a \
         race of its own";
    trials_unsteady(trials, one) = "the rate still changed when {trials} ended{one}: give the work more time";
    cpu_throttled(trials, one) =
        "the CPUs slowed down for heat during {trials}{one}, which slows all that computes: cool the machine, or rest it \
         before the race";
    suspended(trials, one) = "the machine slept during {trials}{one}: keep it awake and race again";
    clock_source(trials, one) =
        "the kernel changed its clock during {trials}{one}, so that their times cannot be trusted: race again";
    clock_set(trials, one) = "somebody set the time of day during {trials}{one}: the figures hold";
    guest_clock(trials, one) =
        "the guest's clock ran fast or slow during {trials}{one}, and their figures are off by as much: race on a host with \
         idle CPUs";
    guest_clock_unchecked(trials, one) =
        "the guest's clock could not be read after {trials}{one}: their figures hold if it ran as fast as the host's";
    image_unchecked(trials, one) =
        "whether the images were still written through after {trials} cannot be seen on this disk{one}: a lane that met \
         unwritten blocks looks slower than it is";
    image_unwritten(trials, one) =
        "the images had unwritten blocks again after {trials}{one}: a lane that met them looks slower than it is; a race on \
         a device (--on /dev/… --erase /dev/…) has none";
    rebuilding(trials, one) = "a disk was rebuilt beside the work of {trials}{one}";
    replay_differs(trials, one) =
        "{trials} did other work than the program{one}, and count nowhere: its calls were answered otherwise";
    warm_cache(trials) =
        "what {trials} read as cold may have come from memory, because nobody empties the page cache below a directory: \
         race lanes on images, as root or with --on qemu";
    warm_cache_of_host(trials) =
        "what {trials} read as cold came from the host's page cache: the guest's own cache is empty, its disk lies in the \
         host's memory; race on the host for reads from the disk";
    io_uring_again(trials, one) =
        "io_uring gave operations back in {trials}{one}, which were then done one by one: the figures hold";

    // What an engine had to do without: its own words.
    note(text, trials) = "{text} ({trials})";
    note_of_one(text, trials) = "{text}, for example ({trials} say so)";

    // Over all work of a race.
    race_disturbed(who, count, of, most) =
        "{who} disturbed {count} of {of} trials{most}: what they took, the lanes lacked; race on an idle machine";
    foreign_programs() = "other programs";
    the_hypervisor() = "the hypervisor";
    both_disturbers() = "other programs and the hypervisor";
    up_to_cpus(share) = " (up to {share} of the CPUs)";
}

/// What a mark on these trials means; `one`: the figures of one of them.
pub(crate) fn meaning(mark: Mark, trials: Sentence, figures: Option<&str>) -> Sentence {
    let one = match figures.filter(|figures| !figures.is_empty()) {
        Some(figures) => Value::Part(for_one(super::text(figures))),
        None => super::text(""),
    };
    let (said, weight) = match mark {
        Mark::CannotSustainRate => (cannot_sustain_rate(trials, one), Weight::Figures),
        Mark::HarnessBoundSubmission => (harness_bound_submission(trials, one), Weight::Figures),
        // Said once of the whole race.
        Mark::ForeignNoise => (foreign_noise(trials, one), Weight::Detail),
        Mark::NeighbourActive => (neighbour_active(trials, one), Weight::Figures),
        Mark::NotSteady => (trials_unsteady(trials, one), Weight::Figures),
        Mark::CpuThrottled => (cpu_throttled(trials, one), Weight::Figures),
        Mark::Suspended => (suspended(trials, one), Weight::Figures),
        Mark::ClockSource => (clock_source(trials, one), Weight::Figures),
        Mark::ClockSet => (clock_set(trials, one), Weight::Detail),
        Mark::GuestClock => (guest_clock(trials, one), Weight::Figures),
        Mark::GuestClockUnchecked => (guest_clock_unchecked(trials, one), Weight::Figures),
        Mark::ImageUnchecked => (image_unchecked(trials, one), Weight::Circumstances),
        Mark::ImageUnwritten => (image_unwritten(trials, one), Weight::Figures),
        Mark::Rebuilding => (rebuilding(trials, one), Weight::Circumstances),
        Mark::ReplayDiffers => (replay_differs(trials, one), Weight::Figures),
        Mark::WarmCache if figures.is_some_and(|said| !said.is_empty()) => {
            (warm_cache_of_host(trials), Weight::Figures)
        }
        Mark::WarmCache => (warm_cache(trials), Weight::Figures),
        Mark::IoUringAgain => (io_uring_again(trials, one), Weight::Detail),
    };
    said.weigh(weight)
}
