//! Options of mkfs tried on sparse files: what a mkfs refuses shows before gigabytes are written.

use super::LaneSet;
use super::open::with_devices;
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, NotDone, cannot, failed, usage};
use crate::filesystems::Filesystem;
use crate::formatting;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

impl LaneSet {
    /// Runs the mkfs of every lane that has options of its own on a sparse file beside the images.
    ///
    /// # Errors
    /// [`LaneFailure`] naming the lane, with who can help.
    pub(crate) fn try_mkfs_options(&self, image: Option<&PathBuf>, stop: &AtomicBool) -> Result<(), LaneFailure> {
        let Some(folder) = image.and_then(|image| image.parent()) else { return Ok(()) };
        for (index, lane) in self.lanes.iter().enumerate() {
            let Contestant::Row(row) = &lane.contestant else { continue };
            let in_guest = self.guest_that_formats(index).is_some() && row.mkfs_looks_around;
            let elsewhere = in_guest || lane.fixed_ground.is_some();
            if lane.spec.mkfs_options.is_empty() || !lane.named_devices.is_empty() || elsewhere {
                continue;
            }
            let files: Vec<PathBuf> =
                (0..lane.spec.devices).map(|number| folder.join(format!("mkfs-trial{number}"))).collect();
            for file in &files {
                let made = File::options().write(true).create_new(true).open(file);
                made.and_then(|made| made.set_len(self.settings.lane_size.0))
                    .map_err(|error| cannot(format!("make {}", file.display()), error))?;
            }
            let (first, further) = (&files[0], &files[1..]);
            let command = with_devices(&lane.mkfs_command, further);
            let beside: Vec<&Path> = further.iter().map(PathBuf::as_path).collect();
            let tried = formatting::format(&lane.contestant, &command, (first, None), &beside, stop);
            let removed = files.iter().map(|file| (file, std::fs::remove_file(file))).find(|(_, done)| done.is_err());
            tried.map_err(|why| with_remedy(why, row, folder).in_lane(&lane.name))?;
            if let Some((file, Err(error))) = removed {
                return Err(cannot(format!("remove {}", file.display()), error));
            }
        }
        Ok(())
    }
}

/// Why a mkfs made nothing with a lane's options, and what to do: the options are only to be corrected where they were refused.
/// `folder`: where it was to make it.
fn with_remedy(why: NotDone, row: &Filesystem, folder: &Path) -> LaneFailure {
    let program = row.mkfs.first().copied().unwrap_or("mkfs");
    match why {
        NotDone::Refused { failure: LaneFailure::Failed(what), .. } => {
            usage(format!("{what}; correct the lane's options of {program} (`man mkfs.{}` lists them)", row.name))
        }
        NotDone::Silent { failure: LaneFailure::Failed(what), .. } => {
            usage(format!("{what}; leave the lane's options of {program} out one by one to see which it does not take"))
        }
        NotDone::OfMachine(LaneFailure::Failed(what)) => failed(format!(
            "{what}; see whether {} has room (`df`), its disk works (`dmesg`) and memory is free, then race again",
            folder.display()
        )),
        NotDone::Failed(LaneFailure::Failed(what)) if what.starts_with(program) => failed(format!(
            "{what}; no option of the lane was refused: find what stopped it (`dmesg` tells where memory ran out), then race \
             again"
        )),
        why => why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::privilege;

    #[test]
    fn options_are_only_to_be_corrected_where_they_were_refused() {
        let row = crate::filesystems::find("xfs").unwrap();
        let told = |why: NotDone| with_remedy(why, row, Path::new("/srv/images"));
        let of = |said: &str| failed(format!("mkfs.xfs failed (exit status: 1): {said}"));
        let refused = NotDone::Refused { words: "log too large".to_owned(), failure: of("log too large") };
        let silent = NotDone::Silent { status: 1, failure: of("it printed nothing") };
        let full = NotDone::OfMachine(of("pwrite failed: No space left on device"));
        let killed = NotDone::Failed(failed("mkfs.xfs failed (signal: 9 (SIGKILL)): it printed nothing"));
        for (why, is_usage, remedy) in [
            (refused, true, "log too large; correct the lane's options of mkfs.xfs (`man mkfs.xfs` lists them)"),
            (silent, true, "it printed nothing; leave the lane's options of mkfs.xfs out one by one"),
            (full, false, "No space left on device; see whether /srv/images has room"),
            (killed, false, "no option of the lane was refused: find what stopped it"),
        ] {
            let failure = told(why);
            let said = failure.to_string();
            assert_eq!(matches!(failure, LaneFailure::Usage(_)), is_usage, "{said}");
            assert!(said.contains(remedy) && said.starts_with("mkfs.xfs failed"), "{said}");
            assert_eq!(is_usage, !said.contains("race again"), "{said}");
        }
        for other in [LaneFailure::Interrupted, privilege("the program mkfs.xfs is missing"), failed("cannot start it")]
        {
            assert_eq!(told(NotDone::Failed(other.clone())), other);
        }
    }
}
