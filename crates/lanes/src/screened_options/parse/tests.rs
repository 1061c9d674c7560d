//! Options that a person types.

use super::*;

fn levels(factor: &Factor) -> Vec<String> {
    let line = |level: &OptionLevel| {
        let words = [level.mkfs.join(" "), level.mount.join(","), level.queue.join(","), level.vm.join(",")].concat();
        format!("{}:{words}", level.label)
    };
    [&factor.usual, &factor.other].into_iter().chain(&factor.further).map(line).collect()
}

fn parsed(filesystem: &str, text: &str) -> Factor {
    parse_option(&filesystem.parse().unwrap(), text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_form_of_an_option_is_read() {
    for (filesystem, text, name, wanted) in [
        ("xfs", "logbufs", "logbufs", "8:; 2:logbufs=2; 4:logbufs=4"),
        ("xfs", "logbsize=32k|256k", "logbsize", "32k:; 256k:logbsize=256k"),
        ("xfs", "logbsize=64k|32k", "logbsize", "64k:logbsize=64k; 32k:"),
        ("xfs", "logbsize=16k|32k", "logbsize", "16k:logbsize=16k; 32k:logbsize=32k"),
        ("xfs", "log_size=256m", "log_size", "default:; 256m:-l size=256m"),
        ("xfs", "-m reflink=1|0", "-m reflink", "1:-m reflink=1; 0:-m reflink=0"),
        ("xfs", "-mreflink=0", "-m reflink", "default:; 0:-m reflink=0"),
        ("ext4", "-b 4096|1024|2048", "-b", "4096:-b 4096; 1024:-b 1024; 2048:-b 2048"),
        ("ext4", "-O flex_bg|^flex_bg", "-O flex_bg", "on:-O flex_bg; off:-O ^flex_bg"),
        ("ext4", "-O fast_commit", "-O fast_commit", "default:; on:-O fast_commit"),
        ("ext4", "bigalloc", "bigalloc", "off:; 64K:-O bigalloc -C 65536; 1M:-O bigalloc -C 1048576"),
        ("ext4", "noatime", "noatime", "off:; on:noatime"),
        ("btrfs", "space_cache", "free_space_tree", "on:; off:-R ^free-space-tree"),
        ("ext4", "nr_requests=32", "requests", "default:; 32:requests=32"),
        ("ext4", "nodelalloc|delalloc", "delalloc", "nodelalloc:nodelalloc; delalloc:delalloc"),
        ("ext4", "commit=30", "commit", "5:; 30:commit=30"),
        ("ext4", "commit=5|10", "commit", "5:commit=5; 10:commit=10"),
        ("ext4", "nombcache", "nombcache", "default:; on:nombcache"),
        ("btrfs", "--csum crc32c|xxhash", "--csum", "crc32c:--csum crc32c; xxhash:--csum xxhash"),
        ("btrfs", "compress=zstd:1|lzo", "compress", "zstd:1:compress=zstd:1; lzo:compress=lzo"),
        ("btrfs", "-M", "-M", "default:; on:-M"),
        ("f2fs", "queue:scheduler=none|bfq", "scheduler", "none:scheduler=none; bfq:scheduler=bfq"),
        ("nilfs2", "queue:read_ahead=4M", "read_ahead", "default:; 4M:read_ahead=4M"),
        ("nilfs2", "order=relaxed|strict", "order", "relaxed:order=relaxed; strict:order=strict"),
        ("f2fs", "queue,scheduler=none|bfq", "scheduler", "none:scheduler=none; bfq:scheduler=bfq"),
        ("xfs", "logbsize=default|256k", "logbsize", "32k:; 256k:logbsize=256k"),
        ("xfs", "logbsize=default|48k", "logbsize", "32k:; 48k:logbsize=48k"),
        ("xfs", " logbsize = 32k | 256k ", "logbsize", "32k:; 256k:logbsize=256k"),
        ("xfs", "-m  reflink = 1 | 0", "-m reflink", "1:-m reflink=1; 0:-m reflink=0"),
        ("ext4", "nodelalloc | delalloc", "delalloc", "nodelalloc:nodelalloc; delalloc:delalloc"),
        ("f2fs", "queue: scheduler = none | bfq", "scheduler", "none:scheduler=none; bfq:scheduler=bfq"),
        ("xfs", "vm.dirty_ratio=20|5", "dirty_ratio", "20:dirty_ratio=20; 5:dirty_ratio=5"),
        ("xfs", "vm.dirty_ratio=5", "dirty_ratio", "default:; 5:dirty_ratio=5"),
        ("xfs", "vm.dirty_bytes = 256M | 1G", "dirty_bytes", "256M:dirty_bytes=256M; 1G:dirty_bytes=1G"),
        ("nilfs2", "swappiness=default|10", "swappiness", "default:; 10:swappiness=10"),
        ("btrfs", "vm.dirty_ratio", "dirty_ratio", "default:; 5:dirty_ratio=5; 10:dirty_ratio=10; 2:dirty_ratio=2"),
    ] {
        let factor = parsed(filesystem, text);
        assert_eq!((factor.name.as_str(), levels(&factor).join("; ").as_str()), (name, wanted), "{text}");
    }
}

#[test]
fn what_changes_promises_is_never_called_ordinary() {
    for (filesystem, text) in [
        ("ext4", "-O ^has_journal"),
        ("ext4", "nobarrier"),
        ("ext4", "barrier=1|0"),
        ("ext4", "data=ordered|writeback"),
        ("ext4", "journal"),
        ("ext4", "noauto_da_alloc"),
        ("ext4", "-O metadata_csum|^metadata_csum"),
        ("xfs", "wsync"),
        ("btrfs", "nodatacow"),
        ("btrfs", "datasum=off"),
        ("btrfs", "-m dup|single"),
        ("f2fs", "fsync_mode=posix|nobarrier"),
        ("f2fs", "checkpoint=enable|disable"),
        ("f2fs", "disable_roll_forward"),
        // Said in the long form.
        ("btrfs", "--metadata single"),
        ("xfs", "-m crc=0"),
    ] {
        assert_eq!(parsed(filesystem, text).class, OptionClass::Promises, "{text}");
    }
    for (filesystem, text) in [
        ("ext4", "-t ext2"),
        ("ext4", "-m 5|0"),
        ("ext4", "-N 1000|9000"),
        ("ext4", "-L a|b"),
        ("ext4", "nodiratime"),
        ("ext4", "nombcache"),
        ("btrfs", "-M"),
        ("ext3", "data=ordered|writeback"),
        ("ext3", "commit=5|30"),
        ("nilfs2", "order=relaxed|strict"),
    ] {
        assert_eq!(parsed(filesystem, text).class, OptionClass::Unknown, "{text}");
    }
    for (filesystem, text) in [
        ("ext4", "commit=5|30"),
        ("ext4", "-O ^flex_bg"),
        ("ext4", "commit=5|10"),
        ("btrfs", "--nodesize 16384|4096"),
        ("nilfs2", "queue:scheduler=none|bfq"),
        ("xfs", "-m reflink=0"),
        ("btrfs", "queue:requests=64|128"),
        ("ext4", "vm.dirty_ratio=20|60"),
        ("nilfs2", "vm.dirty_expire_centisecs=3000|100"),
    ] {
        assert_eq!(parsed(filesystem, text).class, OptionClass::Ordinary, "{text}");
    }
}

#[test]
fn costs_are_told_of_the_level_that_they_are_true_of() {
    assert!(parsed("ext4", "commit=5|30").costs.contains("30 s"));
    assert!(parsed("ext4", "vm.dirty_ratio=20|60").costs.contains("nobody synced"));
    for text in ["vm.dirty_ratio=20|5", "vm.dirty_ratio=5", "dirty_ratio=10|5", "dirty_ratio"] {
        assert_eq!(parsed("ext4", text).costs, "who writes waits for the disk sooner", "{text}");
    }
    // It is not what the table says of its first level.
    assert_eq!(parsed("ext4", "vm.dirty_ratio=5|10").costs, "a crash takes more of what nobody synced");
    assert!(parsed("ext4", "vm.dirty_ratio=default|10").costs.starts_with("its level 5 costs: who writes waits"));
    assert!(parsed("nilfs2", "vm.dirty_background_ratio=10|2").costs.contains("reaches the disk all the same"));
    for text in ["read_ahead=default|1M", "read_ahead=16K|1M"] {
        let costs = parsed("ext4", text).costs;
        assert!(costs.starts_with("its level 4M costs: memory and disk time"), "{text}: {costs}");
    }
    for (filesystem, text, says) in [
        ("ext4", "-I 256|512", "inode tables of twice the size"),
        ("ext4", "-I 512", "inode tables of twice the size"),
        ("ext4", "-I 256|1024", "its level 512 costs: inode tables of twice the size"),
        ("ext4", "-b 4096|1024", "more blocks to keep account of; smaller files and filesystems at most"),
        ("btrfs", "compress=no|zstd", "its level zstd:1 costs: CPU time; what it gains depends on the data"),
        ("btrfs", "compress=no|zstd:1", "CPU time; what it gains depends on the data"),
        // Of another usual level it is not known.
        ("ext4", "-I 128|512", ""),
        ("ext4", "-I 1024|512", ""),
        ("ext4", "-I 512|256", ""),
    ] {
        assert_eq!(parsed(filesystem, text).costs, says, "{filesystem} {text}");
    }
    for text in ["noatime=on|off", "max_batch_time=15000|5", "inode_readahead_blks=32|128"] {
        assert_eq!(parsed("ext4", text).costs, "", "{text}");
    }
}

#[test]
fn what_no_lane_may_say_is_no_option() {
    let long = "x".repeat(LONGEST + 1);
    let many = format!("commit={}", (1..=9).map(|at| at.to_string()).collect::<Vec<_>>().join("|"));
    for (filesystem, text, part) in [
        ("ext4", "", "an option is empty"),
        ("ext4", long.as_str(), "256 are the most"),
        ("ext4", many.as_str(), "9 levels, and 8 are the most"),
        ("ext4", "vm.overcommit_memory=0|1", "one setting of a whole kernel"),
        ("ext4", "kernel.panic=0|1", "fairlane compare"),
        ("ext4", "dirty_bytes=1|2", "write dirty_bytes=8KiB to 1TiB"),
        ("ext4", "vm.dirty_ratio=20|101", "write dirty_ratio=1 to 100"),
        ("ext4", "vm.dirty_ratio=20|20", "are one; write two that differ"),
        ("ext4", "vm.swappiness", "named without a level"),
        ("ext4@uml", "vm.dirty_ratio=20|5", "set of this machine's kernel"),
        ("ext4", "commit=5|5", "are one; write two that differ"),
        ("ext4", "commit=5||30", "an empty level"),
        ("ext4", "commit=", "an empty level"),
        ("ext4", "|", "an option has no name"),
        ("ext4", "=5|30", "an option has no name"),
        ("ext4", "-F|-n", "the option `-F` has an empty level; `-n` is a flag of its own"),
        ("ext4", "-E mount_opts=nodelalloc", "known to tune2fs alone"),
        ("ext4", "-", "`-` is no option of mkfs.ext4"),
        ("ext4", "-Y 1|2", "none of the options"),
        ("ext4", "-d folder", "is not for lanes"),
        ("ext4", "-J device=/dev/sda", "holds `/`"),
        ("ext4", "-b 4096 1024", "no command line"),
        ("ext4", "-L -F", "looks like an option of its own"),
        ("ext4", "journal_path=x|y", "is no block device"),
        ("ext4", "commit=5,suid|30", "no command line"),
        ("ext4", "suid", "not for lanes"),
        ("ext4", "noatime,commit", "name each with an --option of its own: --option noatime --option commit"),
        ("ext4", "errors=panic", "whole machine would stop"),
        ("ext4", "ro", "no option to vary"),
        ("btrfs", "degraded", "no option to vary"),
        ("ext4", "noatime)@uml", "holds `)`"),
        ("ext4", "no\u{1b}atime", "holds `\\u{1b}`"),
        ("ext4", "block_size=8K|4K", "has the levels 4K, 1K, 2K"),
        ("xfs", "log_size=64m|100m", "or its own words: '-l size=64m|100m'"),
        ("xfs", "reflink=1|0", "or its own words: '-m reflink=1|0'"),
        ("xfs", "read_ahead=128K|1M", "or its own words: 'queue:read_ahead=128K|1M'"),
        ("ext4", "read_ahead_kb=4096|1024", "or its own words: 'queue:read_ahead=4096K|1024K'"),
        ("ext4", "block_size=8K|4K", "or its own words: '-b 1024|2048'"),
        ("ext4", "bigalloc=1|0", "has the levels off, 64K, 1M; write some of these"),
        ("xfs", "logbsize=32k", "write two levels: 'logbsize=32k|256k'"),
        ("xfs", "logbsize=default", "write two levels: 'logbsize=32k|256k'"),
        ("ext4", "queue:iosched", "says nothing to a queue"),
        ("ext4", "queue:scheduler=none|cfq", "write scheduler=none|mq-deadline|kyber|bfq"),
        ("ext4", "queue:rotational=0|1", "queue has no option"),
        ("tmpfs", "-b 4096", "has no mkfs"),
        ("tmpfs", "size=1G|2G", "as large as the others"),
        ("zfs", "noatime", "no filesystem that is mounted"),
        ("exr4", "noatime", "did you mean ext4?"),
    ] {
        let lane = filesystem.parse().unwrap();
        let said = parse_option(&lane, text).map(|factor| factor.name).unwrap_err();
        assert!(matches!(said, LaneFailure::Usage(_)) && said.to_string().contains(part), "{text}: {said}");
        assert!(!said.to_string().contains('\u{1b}'), "{said}");
    }
}
