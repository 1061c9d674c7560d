//! Why two lanes have no verdict, or what stands beside it, and what to know about their trials
//! (`pair`, `comparable`, `steady`).

templates! {
    clauses(parts) = "{parts}";
    lane_reason(lane, reason) = "{lane}: {reason}";
    shares_no_round(a, b) = "{a} and {b} share no round with a figure";
    trials_behind(lane, count, of) = "{lane} ({count} of {of} trials)";
    cannot_sustain(who) = "{who} cannot sustain this rate";
    engine_was_measured() = "the engine was measured, not the filesystem";
    device_was_measured() = "the device was measured, not the filesystem";
    both_near_the_disk() = "both near the disk's rate";
    cache_not_device() = "the page cache answered, not the device";
    one_round() = "one round: no interval between runs";
    missed_the_disk() = "bytes that did not pass the disk were measured, not the filesystem on it";
    cache_took_not_device() = "the page cache took the data, not the device";
    rounds_done_of(done, planned) = "{done} of {planned} rounds done";
    rounds_done(done, first) = "{done} rounds done, verdicts begin after {first}";
    difference_between(rounds, low, high) = "after {rounds} rounds the difference lies between {low} % and {high} %";
    scatter_too_much(rounds) = "{rounds} rounds scatter too much to say anything";
    correlated(a, b, lag, rounds, worth, wider) =
        "{a} against {b}: the rounds are correlated (lag 1: {lag}), {rounds} rounds are worth {worth}; the interval was \
         made {wider} times wider";
    stood_still(lane, count, of) = "{lane} stood still in {count} of {of} rounds";
    nothing_to_compare(each, remedy) = "{each}, and nothing is no rate to compare: {remedy}";
    more_time() = "give the work more time, or more operations";
    longer_slices(option) = "measure longer slices with {option}";
    stood_still_rate(lane, count, of) =
        "{lane} stood still in {count} of {of} rounds: its mean counts them as zeros and has no interval";
    stood_still_latency(lane, count, of) =
        "{lane} stood still in {count} of {of} rounds: they have no latency, and its mean is that of the others";
    every_lane_stood_still(count, of) =
        "every lane stood still in {count} of {of} rounds: such rounds say nothing of any of them and were left out";
    slices() = "slices";
    parts() = "parts";
    stalls(lane, count, of, percent, slices) =
        "{lane} stalls in {count} of {of} rounds: its mean over all of the time is {percent} % below the median of its \
         {slices}; means decide here";
    bursts(lane, count, of, percent, slices) =
        "{lane} works in bursts in {count} of {of} rounds: its mean over all of the time is {percent} % above the median of \
         its {slices}; means decide here";
    took_longer_once(round, of, lane, seconds, slices) =
        "in round {round} of {of} {lane} took {seconds} longer than its other {slices} say";
    took_less_once(round, of, lane, seconds, slices) =
        "in round {round} of {of} {lane} took {seconds} less than its other {slices} say";
    stalls_in_steps(lane, slices) =
        "{lane} stalls: its mean over all of the time is below the median of its {slices}; means decide here";
    bursts_in_steps(lane, slices) =
        "{lane} works in bursts: its mean over all of the time is above the median of its {slices}; means decide here";
    means_decide_all_of_it() = "means over all of the time decide here, as in the rest of this work";
    failed_in_rounds(lane, failed, of, reason) = "{lane} failed in {failed} of {of} rounds: {reason}";
    void_trials(lane, count, of, reason) = "{lane}: {count} of {of} trials are void: {reason}";
    figures_left_out(lane, count, of) =
        "{lane}: {count} of {of} figures are no positive number and were left out";
    figures_missing(lane, count, of, metric, group) = "{lane}: {count} of {of} trials have no {metric} for {group}";
    warm_up_cut(lane, count, of, share) =
        "{lane}: warm-up was cut from {count} of {of} trials, up to {share} of one";
    not_steady(lane, count, of, reason) = "{lane}: {count} of {of} trials are not steady: {reason}";
    parts_range(percent) = "its parts range over {percent} % of their mean";
    rises(percent) = "it rises by {percent} % of its mean from start to end";
    falls(percent) = "it falls by {percent} % of its mean from start to end";
    still_changing(windows) = "it was still changing in its second half ({windows} windows)";
    no_reason() = "no reason given";
    not_direct(lane) =
        "{lane}: what was written with O_DIRECT went through the page cache, so that buffered I/O was measured";
    not_direct_with_checksums(lane) =
        "{lane}: what was written with O_DIRECT went through the page cache, so that buffered I/O was measured; \
         Btrfs does so for files with checksums of data since Linux 6.15: race the option nodatasum beside it";
    not_direct_in_directory(lane) =
        "{lane}: what was written with O_DIRECT went through the page cache, so that buffered I/O was measured; \
         Btrfs does so for files with checksums of data since Linux 6.15: race a directory with chattr +C beside it";
    read_not_direct(lane, share) =
        "{lane}: {share} of what was read with O_DIRECT lay in the page cache afterwards, so that buffered I/O was measured";
    read_not_direct_compressed(lane, share) =
        "{lane}: {share} of what was read with O_DIRECT lay in the page cache afterwards, so that buffered I/O was measured; \
         its files are compressed";

    not_compressed(lane) =
        "{lane} compresses, and stored these files as they are, although their data compresses: the filesystem chooses \
         what it compresses; of Btrfs compress-force tries everything";

    // What a lane made of the work, beside its verdict.
    buffers_writes(lane) = "{lane} buffers these direct writes";
    buffers_reads(lane) = "{lane} buffers these direct reads";
    keeps_inline(lane) = "{lane} keeps these files in its metadata";
    keeps_compressed(lane) = "{lane} keeps these files compressed";
    keeps_in_tails(lane) = "{lane} keeps these files in blocks that files share";

    // Who may be ranked.
    different_promises(each) = "different promises: {each}";
    survives_a_crash(with, without) = "{with} survives a crash without a full check, {without} does not";
    hands_over_fsync(with, without) = "{with} hands fsync's data to the device as stable, {without} does not";
    flushes_its_writes(with, without) = "{with} flushes its writes, {without} does not";
    outlives_cache(with, without) = "what {with} made durable outlives the loss of a cache's disk, what {without} did may not";
    in_process_library(lane) = "{lane} is an in-process library, called without any system call";
    order_unknown(a, b) = "another tool measured {a} and {b}, and it is not known in which order";
    different_venue(a, a_is, b, b_is) = "different venue: {a} is {a_is}, {b} is {b_is}";
    other_kernels(a, a_on, b, b_on) =
        "different kernels: {a} is on Linux {a_on}, {b} is on Linux {b_on}, and more than the kernel differs";
    kernel_differs(a, a_on, b, b_on) = "the kernel differs: {a} is on Linux {a_on}, {b} is on Linux {b_on}";
    other_guests(a, a_is, b, b_is) = "different guests: {a} is in {a_is}, {b} is in {b_is}";
    different_disks(a, a_on, b, b_on) = "different disks: {a} is on {a_on}, {b} is on {b_on}";
    flushes_stop_short(stops, reaches) = "different flushes: no flush of {stops} reaches a disk, those of {reaches} do";
    same_disk_elsewhere(disk) = "both directories are on {disk}, but their fill and position on it differ";
    servers_compared(a, b) =
        "{a} and {b} are kept by servers: disks, servers and network are compared with the filesystems, and what survives a \
         crash there is not known";
    servers_compared_sync(a, b) =
        "{a} and {b} are kept by servers: disks, servers and network are compared with the filesystems; who started this race \
         said that both servers confirm a sync once their disks have the data (sync)";
    servers_compared_async(a, b) =
        "{a} and {b} are kept by servers: disks, servers and network are compared with the filesystems; who started this race \
         said that both servers confirm a sync before their disks have the data (async): a crash of a server may lose it";
    servers_said(with, without) =
        "who started this race said that the server of {with} confirms a sync once its disk has the data (sync), and that of \
         {without} before that (async): what survives a crash there differs";
    server_said_of_one(said, other) =
        "who started this race said when the server of {said} confirms a sync, and not of {other}: say it of both, with \
         server=sync or server=async behind the directory";
    also_checksums(lane) = "{lane} also checksums data";

    // Options that move a guarantee.
    stale_after_crash(lane, option) =
        "{lane}: with {option} a file that grew may hold old contents of the disk after a crash";
    journals_data(lane, option) = "{lane}: with {option} data goes through the journal too and is written twice";
    commits_out_of_order(lane, option) =
        "{lane}: with {option} the journal does not wait for its blocks; a checksum alone tells after a crash whether they \
         arrived";
    replaced_may_be_empty(lane, option) =
        "{lane}: with {option} a file that was replaced by rename and not synced may be empty after a crash";
    allocates_at_once(lane, option) =
        "{lane}: with {option} blocks are allocated when write is called, and each commit writes their data first";
    synchronous_names(lane, option) =
        "{lane}: with {option} changes of directories are on the disk when the call returns";
    synchronous_writes(lane, option) = "{lane}: with {option} every write is on the disk when the call returns";
    commits_all_data(lane, option) = "{lane}: with {option} each commit writes all data first";
    keeps_order(lane, option) = "{lane}: with {option} data reaches the disk in the order in which it was written";
    commits_all_at_fsync(lane, option) =
        "{lane}: with {option} fsync commits more than the file asked for";
    older_state(lane, option) = "{lane}: with {option} an older state may be mounted";
    overwrites_in_place(lane, option) =
        "{lane}: with {option} data is overwritten in place and has no checksums";
    no_metadata_checksums(lane) = "{lane}: its metadata has no checksums";
    metadata_once(lane) = "{lane}: its metadata is kept once, not twice";
    lazy_timestamps(lane, option) = "{lane}: with {option} a crash may take up to a day of timestamps back";
    commits_every(lane, option, seconds, usual) =
        "{lane}: with {option} a crash may lose what was written in the last {seconds} s and not synced ({usual} s are usual)";

    promises_lacking_one(names) = "promises {names}";
    promises_lacking_many(names) = "promise {names}";
    promises_beyond_one(names) = "also promises {names}";
    promises_beyond_many(names) = "also promise {names}";
    no_safe_metadata() = "no crash-safe metadata";
    no_stable_fsync() = "no fsync that reaches stable storage";
    no_write_barriers() = "no write barriers";
    no_fsync_beyond_cache() = "no fsync that outlives a cache's disk";
    safe_metadata() = "crash-safe metadata";
    stable_fsync() = "fsync that reaches stable storage";
    write_barriers() = "write barriers";
    fsync_beyond_cache() = "fsync that outlives a cache's disk";
    beside_in_unknown_order() = "was measured by another tool, and it is not known in which order";
    in_another_place_one(place) = "runs in another place ({place})";
    in_another_place_many(place) = "run in another place ({place})";
    is_library() = "is an in-process library, called without any system call";
    are_libraries() = "are in-process libraries, called without any system call";
    is_called_by_the_kernel() = "is called by system calls, which an in-process library is not";
    are_called_by_the_kernel() = "are called by system calls, which an in-process library is not";
    on_another_kernel(kernel) = "runs on another kernel (Linux {kernel}), and more than that differs";
    in_another_guest(guest) = "runs in another guest ({guest})";
    code_only() =
        "this race compares the filesystems' code, not your disk: user-mode Linux keeps its disks in the host's page cache";
    code_only_of(lanes) = "{lanes} lives in user-mode Linux, which compares the filesystems' code, not your disk";
    not_durable(lanes) =
        "not durable: user-mode Linux hands no flush to the disk, so {lanes} made nothing stable; --guest-sync, --on qemu \
         or the host do";
    elsewhere(place) = "does not share its ground ({place})";
    server_said_sync() = "has a server that confirms a sync once its disk has the data (sync), as was said when the race began";
    server_said_async() = "has a server that confirms a sync before its disk has the data (async), as was said when the race began";
    server_unsaid() = "has a server of which nobody said when it confirms a sync";
}
