//! Words that tell of nobody, although a machine or a person may be called so.

use std::collections::BTreeSet;

/// Names that many machines and accounts have, and words of placeholders.
const COMMON: &str = "access account address admin administrator agent alpine amd arch archlinux arm backup bench bin boot \
    build builder buildkite centos ci circleci client cloud command computer container daemon data \
    database db debian default demo desktop dev develop developer device docker epyc fairlane fedora \
    fileserver ftp gentoo github gitlab ground group guest home hat host id intel jenkins kernel kvm \
    label lab lane laptop linux live local localdomain localhost machine main man manjaro me mint my \
    myhost mypc name nas nfs nixos no node nobody none opensuse oracle owner path pc person pi place \
    podman postgres proc project public qemu raspberrypi red redhat release rhel rocky root run runner \
    sandbox service share shared software sql staff storage suse svn sys system test tester testbed \
    tester thread tmp trace travis ubuntu user users vagrant value var virtual vm web wheel work worker \
    workstation www xeon";

/// Words of the format itself: its kinds, states and operations, and what its figures count.
const OF_THE_FORMAT: &str = "across after all allocates at be burman commits crash data empty factorial folded hypervisor journals \
    keeps lazy may names older once order ordinary out overwrites place plackett promises replaced stale state synchronous \
    timestamps append appenders async auto backlog bandwidth bytes cache cached caller change closed cold commit \
    clocks collective complete contention cpu cpus crc32c create cuts damage delete directory disk dsync durability \
    durable each end ext2 ext3 ext4 failed fallocate fault fdatasync figure file files filesystem fio flush \
    flushes flushed foreign fsync full getxattr harness header hostile image images in index insert interrupted \
    io iops jobs keep late latency lateness layers library linear link list load lock mariadb max mean \
    measure memory mix mkdir mkfs mount multiplexed mysql native nanoseconds noreuse note ns null of ok \
    oltp on one only open operation operations other overwrite own page pattern per percent plain point \
    poisson populate posix postgresql private probe process processes profile profiler programs quiet \
    race races rand random randread randrw randtrim randwrite rank ranks rate read reads recording reflink remove \
    rename repeated replace replay repository resume rmdir rollback round rounds roundrobin rw second \
    seconds segmented select self seq sequences sequential set setxattr size slice small special speed sqlite stat \
    steady step streams strided sustained symlink sync tree trial trim trimwrite truncate uml uniform unknown unlimited \
    unlink unmount unreached update void wait wal window work worker write writes writeback written";

/// Whether a word tells of nobody. `own`: words of the record itself that no person chose.
pub(super) fn is_ordinary(word: &str, own: &BTreeSet<String>) -> bool {
    let word = word.to_lowercase();
    let among = |list: &str, word: &str| list.split_ascii_whitespace().any(|other| other == word);
    word.chars().count() < 2
        || word.bytes().all(|byte| byte.is_ascii_digit())
        || own.contains(&word)
        || among(COMMON, &word)
        // Words of the format are put together: seq-read.
        || word.split(['-', '_']).all(|part| among(OF_THE_FORMAT, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Words that the schema allows in places of a record that are no texts.
    fn words(schema: &Value, found: &mut BTreeSet<String>) {
        let mut take = |value: &Value| {
            let text = value.as_str().unwrap_or_default().to_lowercase();
            found.extend(text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned));
            found.insert(text);
        };
        match schema {
            Value::Object(object) => {
                object.get("const").into_iter().for_each(&mut take);
                object.get("enum").and_then(Value::as_array).into_iter().flatten().for_each(&mut take);
                object.values().for_each(|value| words(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| words(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_fixed_word_of_a_record_is_ordinary() {
        let mut found = BTreeSet::new();
        for schema in [
            include_str!("../../../../schema/record.schema.json"),
            include_str!("../../../../schema/durability-record.schema.json"),
        ] {
            words(&serde_json::from_str(schema).expect("a schema"), &mut found);
        }
        found.remove("");
        assert!(found.len() > 100, "{found:?}");
        let missing: Vec<&String> = found.iter().filter(|word| !is_ordinary(word, &BTreeSet::new())).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn names_of_people_are_not() {
        let own = BTreeSet::from(["bcachefs".to_owned()]);
        for word in ["alice", "li", "db-17", "Björk", "seq-alice"] {
            assert!(!is_ordinary(word, &own), "{word}");
        }
        for word in ["root", "Debian", "x", "1000", "bcachefs", "write", "seq-read"] {
            assert!(is_ordinary(word, &own), "{word}");
        }
    }
}
