//! Collective I/O: all ranks of an MPI job write and read blocks of one file by MPI-IO at the same time.

use super::{Demand, Schedule, WorkloadKind};
use crate::Bytes;
use crate::job::FileLayout;
use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One file that all ranks write and read by `MPI_File_write_at_all` and `MPI_File_read_at_all`, as IOR does with
/// `-a MPIIO -c`. Each makes as many calls as every other one: the work ends by its count, and not by a clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// What is done, in this order; reads come behind the writes of what they read.
    #[serde(default = "every_act")]
    pub acts: Vec<CollectiveAct>,
    /// Bytes of one call of one rank (IOR: `-t`), 512 B to 64 MiB.
    pub bs: Bytes,
    /// Calls of each act by each rank, 10 to 1,000,000 (IOR: `-b` times `-s`, divided by `-t`).
    pub operations: u64,
    /// Which bytes of the file are a rank's: `strided` or `segmented`.
    #[serde(default = "strided")]
    pub file: FileLayout,
}

/// What all ranks do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveAct {
    /// Writes the file, which is new, and flushes it (`MPI_File_sync`).
    Write,
    /// Reads it: each rank what another one wrote.
    Read,
}

/// Calls of each act by each rank: each of ten parts does something.
const OPERATIONS: std::ops::RangeInclusive<u64> = 10..=1_000_000;
/// Bytes of one call.
const CALL_BYTES: std::ops::RangeInclusive<u64> = 512..=64 * Bytes::MIB;

fn every_act() -> Vec<CollectiveAct> {
    vec![CollectiveAct::Write, CollectiveAct::Read]
}

fn strided() -> FileLayout {
    FileLayout::Strided
}

impl CollectiveAct {
    /// What its group is called.
    pub fn group(self) -> &'static str {
        match self {
            CollectiveAct::Write => "collective write",
            CollectiveAct::Read => "collective read",
        }
    }
}

impl Collective {
    /// The act whose group this is.
    pub fn act(&self, group: &str) -> Option<CollectiveAct> {
        self.acts.iter().copied().find(|act| act.group() == group)
    }

    /// Bytes of one rank.
    pub fn size(&self) -> u64 {
        self.bs.get().saturating_mul(self.operations)
    }

    /// Where the blocks of one of so many ranks lie in the file, in bytes: the offset of its first block, and how far it is
    /// from each to the next.
    pub fn places(&self, rank: u32, of: u32) -> (u64, u64) {
        let bs = self.bs.get();
        match self.file {
            FileLayout::Strided => (u64::from(rank).saturating_mul(bs), u64::from(of.max(1)).saturating_mul(bs)),
            FileLayout::Segmented | FileLayout::Own => (u64::from(rank).saturating_mul(self.size()), bs),
        }
    }
}

impl WorkloadKind for Collective {
    fn groups(&self) -> Vec<String> {
        self.acts.iter().map(|act| act.group().to_owned()).collect()
    }

    fn check(&self) -> Result<(), String> {
        if !matches!(self.acts[..], [CollectiveAct::Write] | [CollectiveAct::Write, CollectiveAct::Read]) {
            return Err("acts is [\"write\"] or [\"write\", \"read\"]: what is read was written before".to_owned());
        }
        if !CALL_BYTES.contains(&self.bs.get()) {
            return Err("bs must lie between 512B and 64MiB".to_owned());
        }
        if !OPERATIONS.contains(&self.operations) {
            return Err("operations must lie between 10 and 1000000".to_owned());
        }
        if self.file == FileLayout::Own {
            return Err("collective I/O is that of one file; set file = \"strided\" or \"segmented\"".to_owned());
        }
        Ok(())
    }

    // Each part does a share of the calls.
    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: true }
    }

    fn working_set_bytes(&self) -> u64 {
        self.size()
    }

    fn demand(&self) -> Demand {
        let bytes = self.size() as f64;
        Demand { moved_bytes: bytes * self.acts.len() as f64, written_bytes: bytes, ..Demand::default() }
    }

    fn has_an_end(&self) -> bool {
        true
    }

    fn reads(&self, group: &str) -> bool {
        group == CollectiveAct::Read.group()
    }

    // What requests a disk gets is the MPI library's choice.
    fn is_ceiling_of(&self, _: Profile, _: &str) -> bool {
        false
    }

    fn counterpart_is_alike(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Collective {
        toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn each_act_is_a_group_and_is_found_by_it() {
        let of = read("bs = \"2MiB\"\noperations = 64");
        assert_eq!((of.check(), of.working_set_bytes()), (Ok(()), 128 << 20));
        assert_eq!(of.groups(), ["collective write", "collective read"]);
        assert_eq!([of.act("collective read"), of.act("read")], [Some(CollectiveAct::Read), None]);
        assert!(of.reads("collective read") && !of.reads("collective write"));
        assert_eq!(of.demand().moved_bytes, 2.0 * of.demand().written_bytes);
    }

    #[test]
    fn the_blocks_of_all_ranks_are_the_whole_file_and_each_is_one_ranks() {
        for file in ["strided", "segmented"] {
            let of = read(&format!("bs = \"47008B\"\noperations = 10\nfile = \"{file}\""));
            assert_eq!(of.check(), Ok(()), "{file}");
            let blocks = |rank: u32| {
                let (first, step) = of.places(rank, 3);
                (0..10).map(move |number| first + number * step)
            };
            let mut all: Vec<u64> = (0..3).flat_map(blocks).collect();
            all.sort_unstable();
            assert_eq!(all, (0..30).map(|block| block * 47_008).collect::<Vec<u64>>(), "{file}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let usual = "bs = \"1KiB\"\noperations = 10";
        assert_eq!(read(usual).check(), Ok(()));
        for wrong in [
            "bs = \"1KiB\"\noperations = 9".to_owned(),
            "bs = \"1KiB\"\noperations = 1000001".to_owned(),
            "bs = \"0B\"\noperations = 10".to_owned(),
            "bs = \"511B\"\noperations = 10".to_owned(),
            "bs = \"65MiB\"\noperations = 10".to_owned(),
            format!("{usual}\nfile = \"own\""),
            format!("{usual}\nacts = [\"read\"]"),
            format!("{usual}\nacts = [\"read\", \"write\"]"),
            format!("{usual}\nacts = []"),
        ] {
            assert!(read(&wrong).check().is_err(), "{wrong}");
        }
    }
}
