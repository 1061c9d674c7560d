//! Where the time of operations went (`explain`).

templates! {
    cause_of_difference(share, cause) = "{share} {cause}";
    difference(fast, fast_time, slow, slow_time, more, causes) =
        "in these passes an operation takes {fast_time} in {fast} and {slow_time} in {slow}; of the {more} more, {causes}";
    cause_of_saving(share, cause) = "less {share} {cause}";
}
