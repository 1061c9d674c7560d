//! What a disk showed of itself, what the lanes stood on (`disk`, `ground`).

templates! {
    disk_is_memory(device) =
        "this disk is memory: {device} keeps its blocks in this machine's memory, so no figure here is a disk's";
    disk_is_page_cache(device) =
        "this disk answers from this machine's page cache: {device} is a loop device without direct I/O, so no figure \
         here is a disk's";
    disk_is_a_cache(list) =
        "this disk answers from a cache: {list}; what writes show here is that cache";
    disk_is_a_cache_or_an_allowance(list) =
        "this disk answers from a cache, or somebody allows it more at first: {list}; short writes show that";
    disk_flush_lowers(write, flushed) = "it took writes at {write}, with the flush behind them at {flushed}";
    disk_writes_above_reads(write, read) = "it wrote at {write}, its flush included, and read the same at {read}";
    disk_writes_fall(first, last, seconds) = "its writes fell from {first} to {last} within {seconds}";

    loop_is_not_the_disk(disk, list) =
        "mkfs and the filesystem see a loop device and not {disk}: {list}; a race on the device itself (--on /dev/… \
         --erase /dev/…) shows what that changes";
    no_such_size() = "none";
    logical_blocks_differ(here, there) = "logical blocks of {here} where the disk has {there}";
    physical_blocks_differ(here, there) = "physical blocks of {here} where the disk has {there}";
    minimum_io_differs(here, there) = "a smallest good request of {here} where the disk names {there}";
    optimal_io_differs(here, there) = "a best request of {here} where the disk names {there}";
    loop_has_a_write_cache() =
        "a write cache where the disk has none that needs a flush, so each flush costs here what it would not there";
    loop_has_no_write_cache() = "no write cache where the disk has one, so no flush is sent";
    loop_has_fua() = "stable single writes (FUA) that the disk does not have";
    loop_has_no_fua() = "no stable single writes (FUA), which the disk has, so a flush follows each of them";
    loop_discards() = "it takes discards, and the disk does not";
    loop_does_not_discard() = "it takes no discards, and the disk does";
    loop_spins() = "it counts as spinning, and the disk does not";
    loop_does_not_spin() = "it does not count as spinning, and the disk does";

    raced_there(places) = "raced {places}";
    on_fresh_filesystems_of(size) = "on fresh filesystems of {size}";
    on_filesystems_with_a_past_of(size) = "on filesystems of {size} with a past";
    on_filesystems_with_a_past_of_in(size, guest) = "on filesystems of {size} with a past in {guest}";
    on_fresh_filesystems_of_in(size, guest) = "on fresh filesystems of {size} in {guest}";
    on_fresh_filesystems_on(device) = "on fresh filesystems on {device}";
    in_a_directory_as_it_is(path) = "in {path} as it is";
    in_directories_as_they_are() = "in directories as they are";
    in_memory_alone() = "in memory";
}
