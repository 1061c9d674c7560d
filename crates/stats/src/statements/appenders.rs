//! What to know of appenders: bursts of their lanes' devices, and the search for how many a lane
//! sustains (`bursts`, `search`).

templates! {
    bursts_rise(lane, seconds, bytes, between, within) =
        "{lane} writes every {seconds} in bursts of {bytes}; p99 lateness rises from {between} to {within}";
    bursts_hidden(lane, seconds, bytes) =
        "{lane} writes every {seconds} in bursts of {bytes}, which do not show in the lateness";
    lone_bursts_rise(lane, bytes, between, within) =
        "{lane} writes in bursts of {bytes}; p99 lateness rises from {between} to {within}";
    lone_bursts_hidden(lane, bytes) = "{lane} writes in bursts of {bytes}, which do not show in the lateness";
    too_late(writers, lateness, period) = "with {writers} writers p99 lateness is {lateness}, in a period of {period}";
    backlog_grows(writers, backlog) = "with {writers} writers the backlog grows, to {backlog} at the end";
    load_too_high(writers, load, cpus) = "with {writers} writers the load average comes to {load} on {cpus} CPUs";
    load_unknown(writers) = "with {writers} writers: the load average is not known, because it could not be read for half a minute";
    harness_late(writers, lateness, own) =
        "with {writers} writers p99 lateness is {lateness}, and {own} of it is Fairlane's and the scheduler's own";
    harness_falls_too(writers) =
        "{writers} writers are not sustained without a filesystem either: Fairlane and the scheduler gave way";
    harness_flagged(writers) = "with {writers} writers Fairlane and the scheduler were measured";
    could_not_be_done(writers, reason) = "with {writers} writers: {reason}";
    all_sustained(writers) = "{writers} writers are sustained, and more were not tried";
    not_even(writers) = "not even {writers} writers are sustained";
    no_pass_ended() = "no pass of the search ended";
    more_not_tried(lanes) = "more writers than {lanes} sustain were not tried: the ratio may be larger";
    both_at_the_end(writers) = "both sustain {writers} writers, and more were not tried; raise --most-writers";
    harness_measured(lanes) = "Fairlane and the scheduler were measured, not the filesystem, with the writers that ended {lanes}";
    fewer_but_open(lane) = "{lane} has the smaller number and may sustain more";
    fewer_but_open_because(lane, reason) = "{lane} has the smaller number and may sustain more: {reason}";
    neither_gave_way(a, b) = "neither {a} nor {b} gave way before more writers could not be tried";
    passes_done_of(done, planned) = "{done} of {planned} passes done";
    one_pass() = "one pass: no interval between passes";
}
