//! Builds the layers of a lane from its disks upwards, and takes them down again; runs where the lane lives.

use super::rebuild::{Rebuild, Rebuilt};
use super::{Options, find};
use crate::command;
use crate::failure::{LaneFailure, cannot, failed};
use crate::image::Aligned;
use model::stack::LayerSpec;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Bytes of a write of zeros.
const WRITE_BYTES: usize = 1 << 20;

/// The layers of one lane, as they stand.
#[derive(Debug)]
pub(crate) struct Stack {
    /// A layer began only because it was told to, although it was not whole.
    pub(crate) forced: bool,
    /// What the filesystem stands on.
    pub(crate) devices: Vec<PathBuf>,
    made: Vec<Made>,
    rebuilds: Vec<Rebuild>,
}

/// Something that was made, and what takes it away.
#[derive(Debug)]
struct Made {
    device: PathBuf,
    undo: Undo,
}

/// What takes away something that was made.
#[derive(Debug)]
pub(super) enum Undo {
    /// A tool.
    Run(Vec<String>),
    /// A word for an attribute of the kernel, which lets go of a device then.
    Tell { attribute: PathBuf, word: &'static str, frees: PathBuf },
}

impl Undo {
    fn undo(&self) -> Result<(), LaneFailure> {
        match self {
            Undo::Run(words) => run(words),
            Undo::Tell { attribute, word, frees } => {
                tell(attribute, word)?;
                crate::device::wait_until_free(frees);
                Ok(())
            }
        }
    }
}

/// What disks hold before anything is built on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Something that nobody needs.
    Anything,
    /// Zeros.
    Zeros,
    /// The same stack, as it was left: it is put together again.
    ThisStack,
}

/// A stack that is being built.
pub(crate) struct Building {
    lane: u32,
    holding: Holding,
    /// The disks themselves: what lies above them holds something else, where a layer encrypts it.
    disks: Vec<PathBuf>,
    /// A layer began only because it was told to, although it was not whole.
    forced: bool,
    made: Vec<Made>,
    /// Arrays that rebuild a disk, as soon as all layers stand.
    to_rebuild: Vec<(PathBuf, PathBuf)>,
}

impl Stack {
    /// Builds it: `devices` times all the layers, over the disks in their order. What was made stays in `self` where it
    /// fails half-way, and is taken down. `lane`: no other stack that stands has this number.
    ///
    /// # Errors
    /// What a tool or the kernel says.
    pub(crate) fn build(
        lane: u32,
        (disks, holding): (&[PathBuf], Holding),
        layers: &[LayerSpec],
        devices: u32,
    ) -> Result<Stack, LaneFailure> {
        let mut building =
            Building { lane, holding, disks: disks.to_vec(), forced: false, made: Vec::new(), to_rebuild: Vec::new() };
        let log = KernelLog::open();
        let mut disks = disks.iter();
        let built = (0..devices).map(|_| building.level(layers, &mut disks)).collect::<Result<Vec<_>, _>>();
        let mut stack =
            Stack { forced: building.forced, devices: Vec::new(), made: building.made, rebuilds: Vec::new() };
        let begun = built.and_then(|devices| {
            for (array, disk) in &building.to_rebuild {
                stack.rebuilds.push(Rebuild::begin(array, disk)?);
            }
            Ok(devices)
        });
        match begun {
            Ok(devices) => {
                stack.devices = devices;
                Ok(stack)
            }
            Err(error) => {
                let _ = stack.take_down();
                Err(log.explain(error))
            }
        }
    }

    /// Takes it down, from the top; goes on after an error and answers the first. Answers what was rebuilt, where
    /// anything was.
    ///
    /// # Errors
    /// What a tool says.
    pub(crate) fn take_down(&mut self) -> Result<Option<Rebuilt>, LaneFailure> {
        let mut rebuilt = Ok(None);
        for rebuild in self.rebuilds.drain(..) {
            rebuilt = rebuilt.and_then(|sum: Option<Rebuilt>| rebuild.end().map(|one| Some(one.and(sum))));
        }
        let mut first = Ok(());
        while let Some(made) = self.made.pop() {
            first = first.and(made.undo.undo());
        }
        first.and(rebuilt)
    }

    /// Writes what the kernel caches of all its devices, and forgets it.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(crate) fn drop_caches(&self, drop: &dyn Fn(&Path) -> Result<(), LaneFailure>) -> Result<(), LaneFailure> {
        self.made.iter().rev().try_for_each(|made| drop(&made.device))
    }

    /// Bytes of all devices that the filesystem stands on.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub(crate) fn bytes(&self) -> Result<u64, LaneFailure> {
        self.devices.iter().map(|device| size(device)).sum()
    }
}

/// What the kernel prints from now on: tools are told a number, and the kernel's log has the reason.
struct KernelLog(Option<File>);

impl KernelLog {
    fn open() -> KernelLog {
        let log = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
        KernelLog(log.ok().filter(|mut log| log.seek(SeekFrom::End(0)).is_ok()))
    }

    /// Adds the first complaint of the kernel about its layers: what follows is what came of it.
    fn explain(mut self, error: LaneFailure) -> LaneFailure {
        match (self.first_words(), error) {
            (Some(words), LaneFailure::Failed(said)) => failed(format!("{said}; the kernel says: {words}")),
            (_, error) => error,
        }
    }

    fn first_words(&mut self) -> Option<String> {
        let log = self.0.as_mut()?;
        let mut record = [0; 8192];
        // A read is a record: `6,339,5140900,-;device-mapper: table: …`.
        while let Ok(length @ 1..) = log.read(&mut record) {
            let text = String::from_utf8_lossy(&record[..length]).into_owned();
            let (head, words) = text.split_once(';').unwrap_or_default();
            let words = words.lines().next().unwrap_or_default();
            // The first number's last three bits: from 5 on it is no complaint.
            let priority = head.split(',').next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0) & 7;
            if priority < 5 && ["device-mapper: ", "md", "raid", "bcache"].iter().any(|begin| words.starts_with(begin))
            {
                return Some(model::text::escaped(words.as_bytes()));
            }
        }
        None
    }
}

impl Building {
    fn level<'a>(
        &mut self,
        layers: &[LayerSpec],
        disks: &mut impl Iterator<Item = &'a PathBuf>,
    ) -> Result<PathBuf, LaneFailure> {
        let Some((spec, below)) = layers.split_first() else {
            return disks.next().cloned().ok_or_else(|| failed("the lane has fewer disks than its layers take"));
        };
        let layer = find(&spec.name).ok_or_else(|| failed(format!("there is no layer {}", spec.name)))?;
        let under = (0..spec.devices).map(|_| self.level(below, disks)).collect::<Result<Vec<_>, _>>()?;
        let options = Options::read(layer.name, layer.options, &spec.options)?;
        (layer.build)(self, &under, &options)
    }

    /// Whether what stood on the disks is put together again.
    pub(super) fn is_again(&self) -> bool {
        self.holding == Holding::ThisStack
    }

    /// Remembers that a layer began only because it was told to.
    pub(super) fn force(&mut self) {
        self.forced = true;
    }

    /// Has so many bytes from the beginning of a device be zeros, where what it holds is not to be put together again.
    ///
    /// # Errors
    /// As [`write_zeros`].
    pub(super) fn begin_anew(&self, device: &Path, bytes: u64) -> Result<(), LaneFailure> {
        let holds_zeros = self.holding == Holding::Zeros && self.disks.iter().any(|disk| disk == device);
        if self.is_again() || holds_zeros { Ok(()) } else { write_zeros(device, bytes) }
    }

    /// A name that no other part of any lane has.
    pub(super) fn name(&self, part: &str) -> String {
        format!("fairlane{:02}-{}-{part}", self.lane, self.made.len())
    }

    /// A number below a thousand that no other array has: lanes are fewer than ten of them each.
    pub(super) fn number(&self) -> u32 {
        self.lane * 32 + self.made.len() as u32
    }

    /// Takes away what was made last, which was needed for a moment only.
    ///
    /// # Errors
    /// What the tool says.
    pub(super) fn unmake_last(&mut self) -> Result<(), LaneFailure> {
        self.made.pop().map_or(Ok(()), |made| made.undo.undo())
    }

    /// Has an array rebuild a disk that it lacks, once all layers stand.
    pub(super) fn rebuild(&mut self, array: &Path, disk: &Path) {
        self.to_rebuild.push((array.to_owned(), disk.to_owned()));
    }

    /// Remembers what was made.
    pub(super) fn made(&mut self, device: PathBuf, undo: Undo) {
        self.made.push(Made { device, undo });
    }
}

/// Writes a word into an attribute of the kernel.
///
/// # Errors
/// When the kernel does not take it.
pub(super) fn tell(attribute: &Path, word: &str) -> Result<(), LaneFailure> {
    std::fs::write(attribute, word).map_err(|error| cannot(format!("write `{word}` to {}", attribute.display()), error))
}

/// Runs a tool.
///
/// # Errors
/// What it says.
pub(super) fn run(words: &[String]) -> Result<(), LaneFailure> {
    command::run(words, &AtomicBool::new(false)).map(drop)
}

/// Bytes of a block device.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn size(device: &Path) -> Result<u64, LaneFailure> {
    let measure = || File::open(device)?.seek(SeekFrom::End(0));
    measure().map_err(|error| cannot(format!("measure {}", device.display()), error))
}

/// Where the kernel tells of a device, which may have other names in /dev.
///
/// # Errors
/// When there is no such device.
pub(super) fn kernel_folder(device: &Path) -> std::io::Result<PathBuf> {
    let number = device.metadata()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    Ok(PathBuf::from(format!("/sys/dev/block/{major}:{minor}")))
}

/// Writes zeros over so many bytes of a device from its beginning, past the page cache.
///
/// # Errors
/// When it cannot be opened or written.
pub(super) fn write_zeros(device: &Path, bytes: u64) -> Result<(), LaneFailure> {
    let zeros = Aligned::zeroed(WRITE_BYTES);
    let write = || {
        let file = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(device)?;
        let mut at = 0;
        while at < bytes {
            let length = (bytes - at).min(WRITE_BYTES as u64);
            file.write_all_at(&zeros.bytes()[..length as usize], at)?;
            at += length;
        }
        file.sync_all()
    };
    write().map_err(|error| cannot(format!("write zeros over {}", device.display()), error))
}
