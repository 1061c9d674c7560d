//! What limited a result (`limit::rules`).

templates! {
    every_lane() = "every lane";
    lane_and_figure(lane, figure) = "{lane} {figure}";
    from_to(low, high) = "{low} to {high}";
    engine_was_late(late, trials, lane) =
        "in {late} of {trials} trials of {lane} the engine handed operations over later than it should have: the \
         engine was measured";
    operations_done_again(lane, share) =
        "io_uring gave {share} of the operations of {lane} back, and they were done one by one (1 % is tolerated): the \
         engine was measured; use ioengine = \"libaio\"";
    engine_near_its_own_limit(lane, share, null) =
        "{lane} runs at {share} of the {null} operations/s that the engine reaches without a device: the engine was \
         measured";
    engine_fills_windows(share, lane) =
        "the engine's own user time fills {share} of {lane}'s windows: the engine was measured";
    engine_fills_windows_of_workers(share, workers, lane) =
        "the engine's own user time fills {share} of {workers} workers in {lane}'s windows: the engine was measured";
    cache_answered(lane, share) =
        "in {lane} only {share} of the bytes read came from the device: the page cache answered";
    cache_took(lane, share) =
        "in {lane} only {share} of the bytes written came to the device while it was measured, and no sync is part of \
         the figure: the page cache took them";
    at_the_ceiling(who, share, ceiling, by_cpu) =
        "{who} runs at {share} of {ceiling}: this test cannot tell these filesystems apart{by_cpu}";
    at_an_unsteady_ceiling(who, share, ceiling, probes, queue, depth, by_cpu) =
        "{who} runs at {share} of {ceiling}, which is not steady (three quarters of its probes lie within {probes}), with {queue} of \
         the {depth} requests asked for waiting at the device: the disk set the pace, and only a difference that rounds \
         show pair by pair tells these filesystems apart{by_cpu}";
    by_cpu(list) = "; by CPU per operation: {list}";
    emulated_disk(limits) = "the emulated disk's {limits}";
    bare_device(figure) = "the bare device's {figure}";
    throttle_itself(limits) = "the throttle's {limits}";
    its_bare_figure(figure) = "its bare {figure}";
    own_disks(disks) = "each lane's own disk ({disks})";
    lane_on_bare_device(lane, figure) = "{lane} the bare device's {figure}";
    lane_not_limited(lane) = "{lane} not limited";
    lane_on_disks(lane, disks, limits) = "{lane} {disks} disks of {limits} each";
    at_own_disk(share, disks, what) = "each lane runs at {share} of its own disk ({disks}): {what}";
    at_own_emulated_disk(share, disks, what) =
        "each lane runs at {share} of its own emulated disk ({disks}): {what}";
    difference_of_disks() = "the difference is the disks'";
    difference_of_layouts() =
        "the difference is the disks', and of how the lanes lay their work over them: stripes, copies and the size of requests";
    difference_of_disks_and_writes(list) =
        "the difference is the disks', and of what the lanes write to them per byte of the application ({list})";
    flushes_per_second(rate) = "{rate} flushes/s";
    writes_differ(share, ceiling, list) =
        "every lane runs at {share} of {ceiling}, but they write different amounts to it per byte of the application \
         ({list})";
    makes_flushes(who, share, bare, list) =
        "{who} makes {share} of the flushes that the bare device makes when each follows a write ({bare}; lanes: \
         {list} flushes/s)";
    make_flushes(who, share, bare, list) =
        "{who} make {share} of the flushes that the bare device makes when each follows a write ({bare}; lanes: \
         {list} flushes/s)";
    flushes_like_the_device(who, bare, list) =
        "{who} flushes about as often as the bare device does when each flush follows a write ({bare}; lanes: {list} \
         flushes/s)";
    flush_like_the_device(who, bare, list) =
        "{who} flush about as often as the bare device does when each flush follows a write ({bare}; lanes: {list} \
         flushes/s)";
    spends_time_in_flushes(who, share, list) = "{who} spends {share} of the time in flushes ({list} flushes/s)";
    spend_time_in_flushes(who, share, list) = "{who} spend {share} of the time in flushes ({list} flushes/s)";
    trials_of_lane(count, of, lane) = "{count} of {of} trials of {lane}";
    other_programs(each, example) =
        "other programs were at work in {each}, so it cannot be told what limited them ({example})";
    a_thread() = "a thread";
    thread_fills_core(lane, thread, share) = "in {lane} {thread} fills {share} of a core";
    lane_fills_cpus(lane, share) = "{lane} fills {share} of all CPUs";
    with_spare_device(what, share) = "{what}, while the device is used to {share}";
    keeps_requests(who, range, depth) = "{who} keeps {range} of the {depth} requests asked for at the device";
    keep_requests(who, range, depth) = "{who} keep {range} of the {depth} requests asked for at the device";
    no_lane_has_a_figure() = "no lane has a figure";
    measured_elsewhere() = "another tool measured it, and what limited it is not known";
    shared_rate(share, slowest, rate) =
        "at {share} of the slowest lane's maximum ({slowest}): {rate} operations/s for every lane; the work is paced, \
         so reaching that rate shows no limit";
    paced() = "the work is paced, so reaching its rate shows no limit";
    several_kinds() =
        "work of several kinds runs together, and the bare device has no ceiling for such a mixture";
    no_single_cause(share, ceiling) = "no single cause stands out; the device is used to {share} of {ceiling}";
    beyond_the_ceiling(share, ceiling, who) =
        "{share} of {ceiling}, reached by {who}, is impossible: that ceiling was measured in a slow moment, or the disk \
         answers from a cache of its own, and how near anybody came to the disk's limit is not known";
    no_ceiling_known() = "no single cause stands out, and no ceiling of the bare device is known for this work";
}
