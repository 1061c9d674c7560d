//! What is known of the words of a filesystem whose options are screened: all of a row of the table, and little of one
//! of the user's own, whose options are in no table.

use super::ScreenedOption;
use crate::custom::Custom;
use crate::filesystems::Filesystem;
use crate::mkfs_words::Grammar;
use crate::promises;
use model::lane::Promises;

/// A filesystem, as far as words for its mkfs and its mount are read.
#[derive(Debug)]
pub(super) struct Dialect {
    /// What messages call it.
    pub(super) name: String,
    /// Its mkfs; `None`: it has none.
    pub(super) program: Option<String>,
    /// What a lane may say to its mkfs; `None`: nobody knows its options.
    pub(super) takes: Option<&'static Grammar>,
    /// Options of mkfs whose value is a list of words, each of which may be said by itself.
    pub(super) word_lists: &'static [&'static str],
    /// Options that Fairlane knows.
    pub(super) table: &'static [ScreenedOption],
    /// What it promises with words for mkfs and options of mount.
    pub(super) promises: fn(&[String], &[String]) -> Promises,
}

impl From<&'static Filesystem> for Dialect {
    fn from(row: &'static Filesystem) -> Dialect {
        Dialect {
            name: row.name.to_owned(),
            program: row.mkfs.first().map(|&program| program.to_owned()),
            takes: Some(row.mkfs_takes),
            word_lists: row.mkfs_word_lists,
            table: row.screened,
            promises: row.promises,
        }
    }
}

impl From<&Custom> for Dialect {
    fn from(custom: &Custom) -> Dialect {
        Dialect {
            name: custom.name.clone(),
            program: custom.mkfs.first().cloned(),
            takes: None,
            word_lists: &[],
            table: &[],
            // What its file states, whatever it is told.
            promises: promises::nothing,
        }
    }
}
