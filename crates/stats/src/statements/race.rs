//! What to know of a race, of its figures beyond what is possible, and of its tables (`judge`,
//! `impossible`, `operations`, `answer`).

templates! {
    as_published_once() =
        "as published: the article's own method, run once; one round shows no noise and gives no verdicts, race \
         without --as-published for them";
    as_published_often() = "as published: the article's own method, run more often than the article did";
    // As the race itself wrote it into its record.
    one_filesystem(lanes) = "{lanes}: what sets them apart is no filesystem's doing";
    virtual_machine() = "this is a virtual machine: its disk may be shared, cached by the host or capped";
    other_defaults(size) = "mkfs chooses other defaults on large disks than on lanes of {size}: journal, log, chunk sizes";
    taken_up_once() = "the race was interrupted and continued once";
    taken_up_often(times) = "the race was interrupted and continued {times} times";
    clocks_apart(compared, nodes, apart, drift, time) =
        "clocks of nodes ({compared} of {nodes}) told times at most {apart} apart before the race, and from its begin to its end, {time}, drifted by at most {drift}: no \
         figure rests on their agreement";
    nodes_let_go(apart, windows) =
        "nodes were let go at most {apart} apart (windows that were looked at: {windows}), which counts as one moment";
    no_time_for(work, round) = "{work} was not raced: a round of it takes about {round}, and the time was up";
    not_raced_for_time(work) = "{work} was not raced: the time was up";
    not_raced_at_all(work) = "{work} was not raced: the race ended before it";
    never_reached(work) = "{work} (never reached)";
    histograms_unreadable(lane, count) = "{lane}: {count} latency histograms cannot be read and were left out";
    quota_of_streams(cap) =
        "a probable quota: sequential reads and writes both stop at {cap} and vary by less than 1 %";
    quota_of_requests(cap) = "a probable quota: random reads and writes both stop at {cap} and vary by less than 1 %";
    on_different_disks(each) =
        "the lanes stand on different disks while they are measured: {each}; a difference may be the disk's";
    shared_rate_disturbed(why) = "the shared rate was measured in a disturbed moment: {why}";
    no_round_completed() = "the race did not come to it";
    not_come_to_yet() = "the race has not come to it yet";
    not_in_its_files() = "its files have no figure of it";
    stood_still_always() = "it stood still in every round";
    no_trial_measured(metric) = "no trial measured {metric}";
    no_time_of_step(step) = "no round has a time of {step}";
    settings_differ(work, each) =
        "{work}: the databases say other settings of themselves in different lanes ({each}); do not compare what their \
         commits cost";
    hardly_emulated(steps, burst) =
        "under {steps} s long, and the throttle lets through at once what the disk does in {burst} s: the emulated \
         disk hardly shows in it";

    // What power cuts and damage showed of its lanes.
    lane_broke_a_promise(lane, broken, cuts, when) =
        "{lane} broke a promise in {broken} of {cuts} simulated power cuts (fairlane powercut of {when}): its speed has \
         this price";
    lane_broke_a_promise_torn(lane, broken, cuts, when) =
        "{lane} broke a promise in {broken} of {cuts} simulated power cuts (fairlane powercut of {when}), each of which \
         tore a write between sectors of 512 bytes";
    lane_did_not_mount(lane, count, cuts, when) =
        "{lane} did not mount after {count} of {cuts} simulated power cuts without fsync of directories (fairlane powercut \
         of {when})";
    most_cuts_of_runs(when, runs) = "{when}, of {runs} runs that saw it the one with the most cuts";
    most_files_of_runs(when, runs) = "{when}, of {runs} runs that saw it the one with the most files";
    lane_read_damage(lane, files, when) =
        "{lane} promises checksums of data and gave {files} damaged files to a reader without an error (fairlane \
         integrity of {when})";

    // Figures beyond what is possible.
    beyond_memory(lane, rate, memory) =
        "{lane}: {rate} is more than this machine copied in memory when measured ({memory}): hardly all of these bytes \
         were touched";
    beyond_the_disk(lane, rate, disk, why) = "{lane}: {rate} is more than the bare disk's {disk}{why}";
    all_lanes(count) = "all {count} lanes";
    lanes_beyond_the_disk(lanes, low, high, disk, why) =
        "{lanes}: {low} to {high} are more than the bare disk's {disk}{why}";
    it_compresses(share) = ": the filesystem compresses, and {share} of the bytes passed the disk";
    cache_did_the_rest(share) = ": the page cache did the rest, {share} of the bytes passed the disk";
    hardly_a_byte() =
        ": hardly a byte passed the disk although O_DIRECT was asked for; holes and unwritten extents are answered \
         without it";
    rest_were_holes(share) =
        ": {share} of the bytes passed the disk although O_DIRECT was asked for; the rest were holes, unwritten extents \
         or a cache";
    all_bytes_passed() =
        ", and all bytes passed it: the ceiling was measured in a slow moment, or the disk has a cache of its own";

    // Tables of file operations.
    library_without_processes(lane) =
        "{lane} is an in-process library even here: its rows started no process, while each operation of a mounted \
         lane was one";
    libraries_without_processes(lanes) =
        "{lanes} are in-process libraries even here: their rows started no process, while each operation of a mounted \
         lane was one";
    correlated_comparisons(count, of) =
        "in {count} of {of} comparisons of lanes the rounds are correlated; their intervals were made wider";
    steps_and_warning(steps, warning) = "{steps}: {warning}";
    and_more_steps(steps, count) = "{steps} and {count} more steps";
}
