//! The table of kernel functions and what it means when a thread is in them: `causes/*.toml`, read once.

use model::findings::Part;
use model::profile::Activity;
use serde::Deserialize;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

/// Filesystems first: what they call of the kernel's may mean more there.
const FILES: [(&str, &str); 5] = [
    ("ext4.toml", include_str!("../../../../causes/ext4.toml")),
    ("xfs.toml", include_str!("../../../../causes/xfs.toml")),
    ("btrfs.toml", include_str!("../../../../causes/btrfs.toml")),
    ("others.toml", include_str!("../../../../causes/others.toml")),
    ("kernel.toml", include_str!("../../../../causes/kernel.toml")),
];

/// The files.
static READ: LazyLock<Vec<File>> = LazyLock::new(|| {
    let file =
        |(name, text): &(&str, &str)| toml::from_str(text).unwrap_or_else(|error| panic!("causes/{name}: {error}"));
    FILES.iter().map(file).collect()
});
/// The table.
static CAUSES: LazyLock<Vec<&'static Cause>> = LazyLock::new(|| READ.iter().flat_map(|file| &file.cause).collect());

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "area")]
    _area: String,
    #[serde(rename = "source")]
    _source: String,
    /// Functions of threads of the kernel's that work for no filesystem.
    #[serde(default)]
    not_for_lanes: Vec<String>,
    cause: Vec<Cause>,
}

/// A row: functions, and what it means to be in one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cause {
    /// What a thread does there.
    pub(super) says: String,
    /// Where its time is counted.
    pub(super) part: Part,
    /// Only of a thread that does this; `None`: of any.
    #[serde(default)]
    on: Option<Activity>,
    /// While the lane's device is at work, a wait there is the device's.
    #[serde(default)]
    pub(super) device: bool,
    /// Only where no other row knows better.
    #[serde(default)]
    last: bool,
    /// Names; a star stands for any letters.
    functions: Vec<String>,
    /// One of these stands further out, or at the same place.
    #[serde(default)]
    under: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
}

/// What the rows say.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().map(|cause| cause.says.as_str())
}

/// What the table says of a function.
#[derive(Debug)]
struct Entry {
    /// Rows that name it.
    rows: Vec<usize>,
    /// Rows that ask for it further out.
    under: Vec<usize>,
    not_for_lanes: bool,
}

impl Entry {
    fn new(name: &str) -> Entry {
        let rows = |patterns: fn(&Cause) -> &[String]| -> Vec<usize> {
            let knows = |(_, cause): &(usize, &&Cause)| patterns(cause).iter().any(|pattern| matches(pattern, name));
            CAUSES.iter().enumerate().filter(knows).map(|(row, _)| row).collect()
        };
        let mut nobodys = READ.iter().flat_map(|file| &file.not_for_lanes);
        Entry {
            rows: rows(|cause| &cause.functions),
            under: rows(|cause| &cause.under),
            not_for_lanes: nobodys.any(|pattern| matches(pattern, name)),
        }
    }
}

/// Functions that were looked up: the passes of a record share most of theirs.
#[derive(Default)]
pub(crate) struct Known<'a>(HashMap<&'a str, Rc<Entry>>);

/// What the table says of the functions of a profile, by the functions' places.
pub(super) struct Rows(Vec<Rc<Entry>>);

impl Rows {
    /// Looks every function up that is not known.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>, known: &mut Known<'a>) -> Rows {
        Rows(names.map(|name| Rc::clone(known.0.entry(name).or_insert_with(|| Rc::new(Entry::new(name))))).collect())
    }

    fn entry(&self, frame: u32) -> Option<&Entry> {
        self.0.get(frame as usize).map(Rc::as_ref)
    }

    /// Whether a stack is that of a thread of the kernel's that works for no filesystem.
    pub(super) fn is_not_for_lanes(&self, frames: &[u32]) -> bool {
        frames.iter().any(|frame| self.entry(*frame).is_some_and(|entry| entry.not_for_lanes))
    }

    /// What a stack means; `frames`: places of functions, outermost first. The innermost function that a row knows tells;
    /// rows that are the last to be asked come after all frames.
    pub(super) fn find(&self, activity: Activity, frames: &[u32]) -> Option<&'static Cause> {
        let is_under = |row: usize, outer: &[u32]| {
            CAUSES[row].under.is_empty()
                || outer.iter().any(|frame| self.entry(*frame).is_some_and(|entry| entry.under.contains(&row)))
        };
        let pass = |last: bool| {
            (0..frames.len()).rev().find_map(|at| {
                let entry = self.entry(frames[at])?;
                let fits = |row: &&usize| {
                    let cause = CAUSES[**row];
                    cause.last == last && cause.on.is_none_or(|on| on == activity) && is_under(**row, &frames[..=at])
                };
                entry.rows.iter().find(fits).map(|row| CAUSES[*row])
            })
        };
        pass(false).or_else(|| pass(true))
    }
}

/// Whether a name is what a pattern says, in which each star stands for any letters, none too.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut ended = true;
    for part in parts {
        ended = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        // The last part stands at the end.
        if !ended && pattern.ends_with(part) && !rest.is_empty() {
            return name.ends_with(part);
        }
    }
    ended && pattern.contains('*') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_read_and_every_row_says_something() {
        assert!(CAUSES.len() > 50, "{}", CAUSES.len());
        for cause in CAUSES.iter() {
            assert!(!cause.says.is_empty() && !cause.functions.is_empty() && !cause._source.is_empty(), "{cause:?}");
            let once: BTreeSet<&String> = cause.functions.iter().collect();
            assert_eq!(once.len(), cause.functions.len(), "{cause:?}");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name) in [
            ("a_*", "a_b"),
            ("a_*", "a_"),
            ("ab", "ab"),
            ("a*c", "abc"),
            ("*_x_*", "a_x_b"),
            ("a*c*", "axcy"),
            ("a*c", "acbc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("ab", "abc"), ("a_*", "b_a_"), ("a*c", "abd"), ("a*c", "ac_"), ("*_x_*", "ax"), ("ab", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    /// Stacks as this kernel and others show them, innermost first.
    #[test]
    fn the_innermost_function_that_is_known_tells() {
        let found = |activity, frames: &[&str]| {
            let rows = Rows::new(frames.iter().copied(), &mut Known::default());
            let places: Vec<u32> = (0..frames.len() as u32).rev().collect();
            rows.find(activity, &places).map(|cause| (cause.says.as_str(), cause.part))
        };
        let wait = |frames: &[&str]| found(Activity::Wait, frames);
        let cpu = |frames: &[&str]| found(Activity::Cpu, frames);
        assert_eq!(
            wait(&["jbd2_log_wait_commit", "jbd2_complete_transaction", "ext4_sync_file", "do_fsync"]),
            Some(("waiting for the journal's commit", Part::Locks))
        );
        assert_eq!(
            wait(&[
                "io_schedule",
                "folio_wait_bit_common",
                "folio_wait_writeback",
                "file_write_and_wait_range",
                "ext4_sync_file"
            ]),
            Some(("waiting for data to be written", Part::Device))
        );
        assert_eq!(
            wait(&["rwsem_down_write_slowpath", "down_write", "ext4_buffered_write_iter", "vfs_write"]),
            Some(("waiting for the file's lock", Part::Locks))
        );
        assert_eq!(
            wait(&["rwsem_down_write_slowpath", "down_write_nested", "lock_rename", "do_renameat2"]),
            Some(("waiting for the directory's lock", Part::Locks))
        );
        assert_eq!(
            wait(&["submit_bio_wait", "blkdev_issue_flush", "xfs_file_fsync"]),
            Some(("waiting for the device's flush", Part::Flush))
        );
        // Who calls what any code may wait in knows better. Seen on Linux 6.18.
        for (frames, says) in [
            (
                &["schedule_timeout", "wait_for_completion_io", "write_all_supers", "btrfs_sync_log"][..],
                "waiting for the superblocks to be written and flushed",
            ),
            (
                &["io_schedule", "folio_wait_bit", "write_all_supers", "btrfs_sync_log"],
                "waiting for the superblocks to be written and flushed",
            ),
            (
                &["wait_for_completion", "__flush_workqueue", "xlog_cil_push_now", "xfs_log_force"],
                "waiting for the log to be written",
            ),
            (
                &["__down_common", "down", "xfs_buf_lock", "xfs_buf_find_lock"],
                "waiting for a buffer that another thread holds",
            ),
            (&["wait_for_completion", "xfs_buf_iowait", "xfs_buf_read_map"], "waiting for a block of metadata"),
            (&["wait_for_completion", "some_new_function"], "waiting for a kernel worker"),
        ] {
            assert_eq!(wait(frames).map(|(said, _)| said), Some(says), "{frames:?}");
        }
        assert_eq!(cpu(&["crc32c_arch", "btrfs_csum_one_bio"]), Some(("checksums", Part::Checksums)));
        assert_eq!(
            cpu(&["rb_erase", "ext4_es_remove_extent"]),
            Some(("finding blocks and inodes", Part::FilesystemCpu))
        );
        assert_eq!(wait(&["some_new_function"]), None);
        assert_eq!(wait(&[]), None);
    }

    /// fscrypt is asked for every name and every file, also where nothing is encrypted.
    #[test]
    fn only_what_ciphers_is_called_encrypting() {
        let cpu = |frames: &[&str]| {
            let rows = Rows::new(frames.iter().copied(), &mut Known::default());
            let places: Vec<u32> = (0..frames.len() as u32).rev().collect();
            rows.find(Activity::Cpu, &places).map(|cause| cause.says.as_str())
        };
        for plain in [
            &["fscrypt_match_name", "ext4_search_dir", "__ext4_find_entry", "ext4_lookup", "lookup_open"][..],
            &["fscrypt_setup_filename", "ext4_fname_setup_filename", "ext4_add_entry", "ext4_create", "lookup_open"],
            &["fscrypt_fname_siphash", "ext4fs_dirhash", "ext4_dx_add_entry", "ext4_add_entry", "ext4_create"],
            &["fscrypt_prepare_new_inode", "__ext4_new_inode", "ext4_create", "path_openat"],
            &["fscrypt_file_open", "ext4_file_open", "do_dentry_open", "vfs_open"],
            &["fscrypt_match_name", "f2fs_find_target_dentry", "f2fs_find_entry", "f2fs_lookup"],
            &["fscrypt_set_bio_crypt_ctx", "ext4_bio_write_folio", "ext4_do_writepages"],
            &["chacha_block_generic", "crng_make_state", "get_random_u32", "find_group_orlov", "__ext4_new_inode"],
        ] {
            assert!(cpu(plain).is_some_and(|says| says != "encrypting"), "{plain:?}: {:?}", cpu(plain));
        }
        for ciphers in [
            &["fscrypt_crypt_data_unit", "fscrypt_encrypt_pagecache_blocks", "ext4_bio_write_folio"][..],
            &["some_cipher", "fscrypt_decrypt_bio", "ext4_end_bio"],
            &["fscrypt_fname_encrypt", "fscrypt_setup_filename", "ext4_fname_setup_filename", "ext4_lookup"],
            &["fname_decrypt", "fscrypt_fname_disk_to_usr", "ext4_readdir"],
            &["aes_xts_encrypt_aesni", "crypto_skcipher_encrypt", "crypt_convert_block_skcipher", "kcryptd_crypt"],
        ] {
            assert_eq!(cpu(ciphers), Some("encrypting"), "{ciphers:?}");
        }
    }
}
