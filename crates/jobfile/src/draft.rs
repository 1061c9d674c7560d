//! A job while its options are being read: what they say, before it is put together.

use crate::names::Name;
use crate::values::{self, Base};
use model::Bytes;
use model::job::{Io, Rate};
use std::rc::Rc;

/// Read, write, discard.
pub(crate) type ByDirection<T> = [Option<T>; 3];

/// A number of bytes, or a share of the job's size.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    Bytes(u64),
    Percent(u64),
}

/// What the options of one job say.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// What needs no second look.
    pub io: Io,
    pub base: Base,
    pub size: Option<u64>,
    /// `size=N%`, from 1 to 100.
    pub size_percent: Option<u32>,
    /// `io_submit_mode=offload`.
    pub offload: bool,
    pub filesize: Option<(u64, u64)>,
    pub io_size: Option<Amount>,
    pub number_ios: Option<u64>,
    pub engine: Option<String>,
    /// Without `bsrange` and `bssplit`.
    pub fixed: ByDirection<u64>,
    /// They beat fixed sizes.
    pub ranges: ByDirection<(u64, u64)>,
    /// They beat ranges.
    pub splits: ByDirection<Vec<(Bytes, u32)>>,
    pub blockalign: bool,
    /// fio's value: 0 is the iodepth.
    pub iodepth_batch: Option<u32>,
    pub compress_percent: Option<u32>,
    pub compress_chunk: Option<u32>,
    pub pattern: Option<Vec<u8>>,
    pub zero_buffers: bool,
    pub rates: ByDirection<Rate>,
    pub rate_iops: ByDirection<Rate>,
    pub time_based: bool,
    pub names: Vec<Name>,
    pub format: Option<Name>,
    pub directory: Rc<str>,
    pub job_name: Option<String>,
    pub stonewall: bool,
    pub exitall: bool,
    pub wait_for: Option<String>,
    pub new_group: bool,
    pub thinktime_issue: bool,
    /// Of the option that is being read; the caller takes them away and adds the place.
    pub notes: Vec<String>,
}

impl Draft {
    pub fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }
}

/// The value of an option as it is read.
pub(crate) struct Input<'a> {
    /// `None`: the bare option.
    pub value: Option<&'a str>,
    pub base: Base,
}

impl<'a> Input<'a> {
    pub fn text(&self) -> &'a str {
        self.value.unwrap_or("")
    }

    pub fn number(&self) -> Result<u64, String> {
        values::number(self.text(), self.base)
    }

    /// A percentage from 1 to 100; `None`: it is none.
    pub fn percent(&self) -> Result<Option<u32>, String> {
        let percent = self.text().strip_suffix('%');
        percent.map(|percent| values::count(percent.trim(), self.base, 1, 100)).transpose()
    }

    pub fn count(&self, least: u32, most: u32) -> Result<u32, String> {
        values::count(self.text(), self.base, least, most)
    }

    pub fn switch(&self) -> Result<bool, String> {
        values::switch(self.value)
    }

    /// A time that counts in seconds without a unit.
    pub fn seconds(&self) -> Result<f64, String> {
        values::seconds(self.text(), 1_000_000)
    }

    /// A time that counts in microseconds without a unit.
    pub fn microseconds(&self) -> Result<f64, String> {
        values::seconds(self.text(), 1)
    }
}
