//! In how many pieces a file lies on the disk, and in what form (FIEMAP).

use fiemap::flag;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

/// Extents of a file that are looked at, the first.
const MOST: usize = 1024;

/// Number of extents of a file, which must be synced: of what is dirty nothing is known, and nothing is written here.
/// `None` where the filesystem does not tell.
pub(crate) fn count(file: impl AsFd) -> Option<u64> {
    fiemap::count(file).ok()
}

/// The form in which a filesystem keeps a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In blocks of its own, as it was written.
    Plain,
    /// Within metadata.
    Inline,
    /// Compressed, half and more of it.
    Compressed,
    /// Its end, or all of it, in a block with data of other files.
    Tail,
}

/// The form of a file, of its first 1024 extents; nothing is written here. `None` where the filesystem does not tell,
/// or the file has no extent yet.
pub(crate) fn form(file: impl AsFd) -> Option<Form> {
    let (mut all, mut compressed, mut seen, mut special) = (0_u64, 0_u64, 0, None);
    let look = &mut |extent: &fiemap::Extent| {
        seen += 1;
        match extent.flags {
            flags if flags & flag::UNKNOWN != 0 => {}
            flags if flags & flag::INLINE != 0 => special = Some(Form::Inline),
            flags if flags & flag::TAIL != 0 => special = Some(Form::Tail),
            flags => {
                all += extent.length;
                if flags & flag::ENCODED != 0 && flags & flag::ENCRYPTED == 0 {
                    compressed += extent.length;
                }
            }
        }
        if special.is_some() || seen == MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    fiemap::visit(file, false, look).ok()?;
    special.or((all > 0).then_some(if 2 * compressed >= all { Form::Compressed } else { Form::Plain }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn a_hole_parts_a_file_and_an_empty_one_has_no_extent() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        // Not every filesystem tells.
        let Some(none) = count(&file) else { return };
        assert_eq!((none, form(&file)), (0, None));
        file.write_all(&[1; 65536]).unwrap();
        file.seek(SeekFrom::Start(8 << 20)).unwrap();
        file.write_all(&[2; 65536]).unwrap();
        file.sync_all().unwrap();
        assert!(count(&file).unwrap() >= 2);
        assert!(form(&file).is_some());
    }

    #[test]
    fn a_file_of_many_extents_is_looked_at_to_its_end_or_to_the_bound() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        for piece in 0..384 {
            file.seek(SeekFrom::Start(piece * (1 << 20))).unwrap();
            file.write_all(&[1; 4096]).unwrap();
        }
        file.sync_all().unwrap();
        if count(&file).is_some() {
            assert!(matches!(form(&file), Some(Form::Plain | Form::Compressed)), "{:?}", form(&file));
        }
    }
}
