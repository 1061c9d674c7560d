//! Where the time of operations went (`explain`).

templates! {
    cause_of_difference(share, cause) = "{share} {cause}";
    difference(fast, fast_time, slow, slow_time, more, causes) =
        "in these passes an operation takes {fast_time} in {fast} and {slow_time} in {slow}; of the {more} more, {causes}";
    cause_of_saving(share, cause) = "less {share} {cause}";
    not_explained_in(lanes, why) = "not explained in {lanes}: {why}";
    nothing_explained(reason) = "nothing is explained: {reason}";
    work_not_explained(work, reason) = "{work} is not explained: {reason}";
    partly_explained(work, reason) = "not all of {work} is explained: {reason}";
    no_passes() = "no pass was asked for: race with --explain for what counters cannot tell";
    no_time_for_passes() = "the time had no room for passes: --explain does them in any case";
    no_time_for_passes_of(works) = "the time had no room for a pass of {works}: --explain does it in any case";
    ended_before_passes() = "the race ended before its passes: --resume does them";
    ended_before_passes_of(works) = "the race ended before a pass of {works}: --resume does what is missing";
    passes_saw_nothing(works) = "the pass of {works} could not be done; its rounds are raced all the same";
    guests_unseen() = "no pass looks at lanes in guests: their kernel is not this machine's";
    programs_unseen(works) = "no pass looks at {works}: its programs have ended before it is known whose they were";
    done_by_programs() = "programs do the work, and the rounds' counters do not tell what those wait for";
    waits_by_itself() = "the work waits by itself, and the rounds' counters do not tell for what else";
    nothing_done() = "no operation of it was counted";
    too_short_for_counters(least) = "its rounds measured less than {least} together, which is too short for counters";
}
