//! Whose files workers and clients work on: a file for each of them, or parts of one that all share.

use super::io::Io;
use super::pattern::Pattern;
use super::values::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose files workers work on, and clients that do the same work (ranks of an MPI job). N-N and N-1 are IOR's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileLayout {
    /// Each has files of its own (N-N).
    #[default]
    Own,
    /// One file (N-1), in which each has `size` bytes that lie together.
    Segmented,
    /// One file (N-1), whose blocks of `bs` bytes go round: worker n of N has every N-th block, from block n on.
    Strided,
}

/// Refuses what one file for all leaves out.
///
/// # Errors
/// The sentence with the remedy, naming the key.
pub(super) fn check(io: &Io) -> Result<(), String> {
    let layout = match io.file {
        FileLayout::Own => return Ok(()),
        FileLayout::Segmented => "segmented",
        FileLayout::Strided => "strided",
    };
    let plain = [Pattern::Read, Pattern::Write, Pattern::RandRead, Pattern::RandWrite, Pattern::RandRw];
    if !plain.contains(&io.rw) {
        return Err(format!(
            "file = \"{layout}\" goes with read, write, randread, randwrite and randrw; change rw, or leave file out"
        ));
    }
    if let Some((key, _)) = left_out(io).into_iter().find(|(_, is_set)| *is_set) {
        return Err(format!(
            "{key} does not go with file = \"{layout}\", where all workers share one file of blocks of one length; remove \
             one of them"
        ));
    }
    if io.ioengine == "mmap" {
        return Err(format!(
            "mmap does not go with file = \"{layout}\": a mapping ends where the file did; set ioengine = \"sync\""
        ));
    }
    if io.bs.get() == 0 || io.size.get() == 0 || !io.size.get().is_multiple_of(io.bs.get()) {
        return Err(format!("size must be a multiple of bs with file = \"{layout}\"; change size or bs"));
    }
    Ok(())
}

/// Keys that one file for all leaves out, and whether they are set.
fn left_out(io: &Io) -> [(&'static str, bool); 14] {
    [
        ("block_sizes", io.block_sizes.is_some()),
        ("bs_unaligned", io.bs_unaligned),
        ("blockalign", io.blockalign.get() > 0),
        ("offset", io.offset.get() > 0),
        ("offset_increment", io.offset_increment.get() > 0),
        ("region", io.region.is_some()),
        ("sequential_step_bytes", io.sequential_step_bytes != 0),
        ("operations_per_offset", io.operations_per_offset > 1),
        ("random_distribution", io.random_distribution != Distribution::Random),
        ("percentage_random", io.percentage_random.is_some()),
        ("nrfiles", io.nrfiles > 1),
        ("filename", !io.filename.is_empty()),
        ("filename_format", !io.filename_format.is_empty()),
        ("filesize", io.filesize.is_some()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;
    use crate::kinds::WorkloadKind;

    fn shared(change: impl Fn(&mut Io)) -> Result<(), String> {
        let mut io = Io {
            rw: Pattern::Write,
            bs: Bytes(47_008),
            size: Bytes(47_008 * 100),
            file: FileLayout::Strided,
            numjobs: 4,
            ..Io::default()
        };
        change(&mut io);
        WorkloadKind::check(&io)
    }

    #[test]
    fn one_file_for_all_takes_blocks_of_any_one_length() {
        assert_eq!(shared(|_| {}), Ok(()));
        assert_eq!(shared(|io| (io.file, io.rw) = (FileLayout::Segmented, Pattern::RandRw)), Ok(()));
        let said = shared(|io| io.size = Bytes(47_008 * 100 + 1)).unwrap_err();
        assert_eq!(said, "size must be a multiple of bs with file = \"strided\"; change size or bs");
        assert!(shared(|io| io.rw = Pattern::Append).unwrap_err().starts_with("file = \"strided\" goes with read,"));
        assert!(shared(|io| io.ioengine = "mmap".to_owned()).unwrap_err().starts_with("mmap does not go with"));
    }

    #[test]
    fn what_one_file_for_all_leaves_out_is_refused_by_its_key() {
        assert_eq!(left_out(&Io::default()).map(|(_, is_set)| is_set), [false; 14]);
        type Change = fn(&mut Io);
        let changes: [(&str, Change); 6] = [
            ("nrfiles", |io| io.nrfiles = 2),
            ("filename", |io| io.filename = vec!["a".to_owned()]),
            ("offset", |io| io.offset = Bytes(512)),
            ("region", |io| io.region = Some(Bytes(512))),
            ("blockalign", |io| io.blockalign = Bytes(512)),
            ("random_distribution", |io| io.random_distribution = Distribution::Zipf(1.2)),
        ];
        for (key, change) in changes {
            let said = shared(change).unwrap_err();
            assert!(said.starts_with(&format!("{key} does not go with file = ")), "{said}");
        }
    }

    #[test]
    fn no_bare_device_is_asked_for_blocks_that_it_does_not_take() {
        let io = |bs: u64| Io { bs: Bytes(bs), size: Bytes(bs * 8), file: FileLayout::Strided, ..Io::default() };
        assert!(io(47_008).bare_counterparts().is_empty());
        let alike = io(4096).bare_counterparts().remove(0).1;
        assert_eq!((alike.file, alike.direct), (FileLayout::Own, true));
    }
}
