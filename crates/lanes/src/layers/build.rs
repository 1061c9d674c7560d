//! Builds the layers of a lane from its disks upwards, and takes them down again; runs where the lane lives, in a guest or here.

use super::rebuild::{Rebuild, Rebuilt};
use super::{Options, array_check, find, teardown};
use crate::command;
use crate::failure::{LaneFailure, cannot, failed};
use crate::image::Aligned;
use crate::loop_device;
use crate::undo::{EntryId, Journal, Thing};
use model::stack::LayerSpec;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long udev may look at a disk.
const HOLD_PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a write of zeros.
const WRITE_BYTES: usize = 1 << 20;

/// Whose kernel builds them.
pub(crate) enum Site<'a> {
    /// A guest's: what is made goes with it.
    Guest,
    /// This machine's, in the run of this id: what is made is journalled before.
    Here(&'a str, &'a mut Journal),
}

/// The layers of one lane, as they stand.
#[derive(Debug)]
pub(crate) struct Stack {
    /// A layer began only because it was told to, although it was not whole.
    pub(crate) forced: bool,
    /// What the filesystem stands on.
    pub(crate) devices: Vec<PathBuf>,
    made: Vec<Made>,
    /// Arrays that are to rebuild a disk, until they begin with it.
    to_rebuild: Vec<(PathBuf, PathBuf)>,
    rebuilds: Vec<Rebuild>,
    /// Its filesystem was mounted before: from then on its queues are to stay as they were set.
    was_mounted: bool,
    /// What of a queue did not.
    changed: Option<String>,
    /// While they are held, udev looks at none of the disks; in a guest nobody does. Where nothing is built on them, it may look.
    _held: Vec<File>,
}

/// Something that was made.
#[derive(Debug)]
struct Made {
    device: PathBuf,
    thing: Thing,
    /// Where it was promised; `None`: in a guest.
    entry: Option<EntryId>,
}

impl Made {
    /// Whether it is no part of the lane's own, but of the machine's kernel.
    fn is_of_kernel(&self) -> bool {
        matches!(self.thing, Thing::KernelSettings { .. })
    }

    fn take_away(&self, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        // What stands again in a guest is known by its superblocks.
        match self.entry {
            Some(_) => teardown::take_away_for_good(&self.thing)?,
            None => teardown::take_away(&self.thing)?,
        };
        match (self.entry, journal) {
            (Some(entry), Some(journal)) => journal.done(entry),
            _ => Ok(()),
        }
    }
}

/// What disks hold before anything is built on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Something that nobody needs.
    Anything,
    /// Zeros.
    Zeros,
    /// The same stack, taken down in order: it is put together again.
    WholeStack,
    /// The same stack, as a power cut left it.
    ThisStack,
    /// The same without one of its disks, which is gone.
    ThisStackWithout(PathBuf),
}

/// A stack that is being built.
pub(crate) struct Building<'a> {
    site: Site<'a>,
    /// Ctrl-C: zeros over a large disk take hours.
    stop: &'a AtomicBool,
    lane: u32,
    holding: Holding,
    /// The disks themselves: what lies above them holds something else, where a layer encrypts it.
    disks: Vec<PathBuf>,
    /// A layer began only because it was told to, although it was not whole.
    forced: bool,
    made: Vec<Made>,
    /// How many things were made before, those among them that are gone again.
    count: usize,
    to_rebuild: Vec<(PathBuf, PathBuf)>,
}

impl Stack {
    /// Builds it: `devices` times all the layers, over the disks in their order. `lane`: no other stack that stands has this
    /// number.
    ///
    /// # Errors
    /// What a tool or the kernel says, and what of it stands: nothing, but for what does not go again.
    pub(crate) fn build(
        (site, stop): (Site, &AtomicBool),
        lane: u32,
        (disks, holding): (&[PathBuf], Holding),
        layers: &[LayerSpec],
        devices: u32,
    ) -> Result<Stack, (LaneFailure, Box<Stack>)> {
        let mut building = Building {
            site,
            stop,
            lane,
            holding,
            disks: disks.to_vec(),
            forced: false,
            made: Vec::new(),
            count: 0,
            to_rebuild: Vec::new(),
        };
        let log = KernelLog::open();
        let is_built = layers.iter().any(LayerSpec::is_built);
        let held = match building.site {
            Site::Here(..) if is_built => disks.iter().map(|disk| hold(disk, stop)).collect::<Result<Vec<_>, _>>(),
            _ => Ok(Vec::new()),
        };
        let mut disks = disks.iter();
        let was_held = held.is_ok();
        let (held, built) = match held {
            Ok(held) => (held, (0..devices).map(|_| building.level(layers, &mut disks)).collect::<Result<Vec<_>, _>>()),
            Err(error) => (Vec::new(), Err(error)),
        };
        let Building { site, forced, made, to_rebuild, .. } = building;
        let mut stack = Stack {
            forced,
            devices: Vec::new(),
            made,
            to_rebuild,
            rebuilds: Vec::new(),
            was_mounted: false,
            changed: None,
            _held: held,
        };
        match built {
            Ok(devices) => {
                stack.devices = devices;
                Ok(stack)
            }
            Err(error) => {
                let journal = if let Site::Here(_, journal) = site { Some(journal) } else { None };
                let _ = stack.take_down(journal);
                let error = if was_held { log.explain(error) } else { error };
                Err((error, Box::new(stack)))
            }
        }
    }

    /// Its filesystem was mounted just now: sets queues again that somebody set otherwise, as rules of udev may after a mkfs, and
    /// has its arrays rebuild the disks that they lack from now on; where they do already nothing.
    ///
    /// # Errors
    /// When the kernel does not take a setting, or no thread can be started.
    pub(crate) fn begin_rebuilds(&mut self) -> Result<(), LaneFailure> {
        if std::mem::replace(&mut self.was_mounted, true) {
            self.changed = self.changed_setting();
        }
        self.made.iter().try_for_each(|made| teardown::set_again(&made.thing))?;
        for (array, disk) in self.to_rebuild.drain(..) {
            self.rebuilds.push(Rebuild::begin(&array, &disk)?);
        }
        Ok(())
    }

    /// What of a queue did not stay as it was set since the filesystem was mounted, in a sentence without a full stop; ask before it
    /// is taken down.
    pub(crate) fn changed_setting(&self) -> Option<String> {
        self.changed.clone().or_else(|| self.made.iter().find_map(|made| teardown::changed(&made.thing)))
    }

    /// Puts back what it set of the whole kernel, whatever else of it stands; what could not be put back stays in it, for another
    /// try.
    ///
    /// # Errors
    /// When the kernel does not take it.
    pub(crate) fn put_kernel_back(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let (mut first, mut left) = (Ok(()), Vec::new());
        for made in self.made.drain(..) {
            let undone = match made.is_of_kernel() {
                true => made.take_away(journal.as_deref_mut()).map(|()| true),
                false => Ok(false),
            };
            if !matches!(undone, Ok(true)) {
                left.push(made);
            }
            first = first.and(undone.map(drop));
        }
        self.made = left;
        first
    }

    /// Takes it down, from the top; goes on after an error and answers the first. What did not go stays in it, for another
    /// try. Answers what was rebuilt, where anything was.
    ///
    /// # Errors
    /// What a tool says.
    pub(crate) fn take_down(&mut self, mut journal: Option<&mut Journal>) -> Result<Option<Rebuilt>, LaneFailure> {
        let mut rebuilt = Ok(None);
        for rebuild in self.rebuilds.drain(..) {
            rebuilt = rebuilt.and_then(|sum: Option<Rebuilt>| rebuild.end().map(|one| Some(one.and(sum))));
        }
        let (mut first, mut left) = (Ok(()), Vec::new());
        while let Some(made) = self.made.pop() {
            if let Err(error) = made.take_away(journal.as_deref_mut()) {
                first = first.and(Err(error));
                left.push(made);
            }
        }
        left.reverse();
        self.made = left;
        first.and(rebuilt)
    }

    /// Whether anything of it stands.
    pub(crate) fn stands(&self) -> bool {
        !self.made.is_empty()
    }

    /// Writes what the kernel caches of all its devices, and forgets it.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(crate) fn drop_caches(&self, drop: &dyn Fn(&Path) -> Result<(), LaneFailure>) -> Result<(), LaneFailure> {
        self.made.iter().rev().try_for_each(|made| drop(&made.device))
    }

    /// The same for a stack of this machine.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn drop_caches_here(&self) -> Result<(), LaneFailure> {
        self.drop_caches(&|device| loop_device::drop_cache_of(device))
    }

    /// Has its arrays look whether their copies and parity agree; answers the sectors that do not, `None`: no array could look.
    ///
    /// # Errors
    /// What the kernel says; [`LaneFailure::Interrupted`].
    pub(crate) fn mismatches(&self, stop: &AtomicBool) -> Result<Option<u64>, LaneFailure> {
        let arrays = self.made.iter().filter(|made| matches!(made.thing, Thing::Array { .. }));
        arrays.map(|made| array_check::mismatches(&made.device, stop)).try_fold(None, |sum, found| {
            Ok(match (sum, found?) {
                (Some(sum), Some(found)) => Some(sum + found),
                (sum, found) => sum.or(found),
            })
        })
    }

    /// Bytes of all devices that the filesystem stands on.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub(crate) fn bytes(&self) -> Result<u64, LaneFailure> {
        self.devices.iter().map(|device| size(device)).sum()
    }
}

/// Keeps udev from a disk: it would put together again what is taken down, as soon as it sees the superblock of an array.
/// <https://systemd.io/BLOCK_DEVICE_LOCKING>: it locks a disk that it looks at, and leaves alone one that is locked.
///
/// # Errors
/// Where somebody locks it for longer than a while; [`LaneFailure::Interrupted`].
pub(crate) fn hold(disk: &Path, stop: &AtomicBool) -> Result<File, LaneFailure> {
    let file = File::open(disk).map_err(|error| cannot(format!("open {}", disk.display()), error))?;
    let begun = Instant::now();
    while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if !matches!(error, Errno::WOULDBLOCK | Errno::INTR) {
            return Err(cannot(format!("lock {}", disk.display()), std::io::Error::from(error)));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        if begun.elapsed() > HOLD_PATIENCE {
            return Err(failed(format!(
                "another program locks {} (flock, as tools for disks do); `lslocks` lists who, and end it",
                disk.display()
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(file)
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

impl Building<'_> {
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
        // What stands on a disk that is gone is gone with it, unless it stands without.
        if let Some(gone) = under.iter().find(|device| self.is_gone(device) && !layer.stands_without_one()) {
            return Ok(gone.clone());
        }
        let options = Options::read(layer.name, layer.options, &spec.options)?;
        (layer.build)(self, &under, &options)
    }

    /// Whether what stood on the disks is put together again.
    pub(super) fn is_again(&self) -> bool {
        matches!(self.holding, Holding::WholeStack | Holding::ThisStack | Holding::ThisStackWithout(_))
    }

    /// Whether what is put together again was taken down in order.
    pub(super) fn is_whole(&self) -> bool {
        self.holding == Holding::WholeStack
    }

    /// Whether the kernel was set for this stack already: of a filesystem on several devices it is asked for each.
    pub(super) fn has_set_kernel(&self) -> bool {
        self.made.iter().any(Made::is_of_kernel)
    }

    /// Whether a disk is gone, or what stands on it.
    pub(super) fn is_gone(&self, device: &Path) -> bool {
        matches!(&self.holding, Holding::ThisStackWithout(gone) if gone == device)
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
        if self.is_again() || holds_zeros { Ok(()) } else { self.write_zeros(device, bytes) }
    }

    /// As [`write_zeros`], until Ctrl-C.
    ///
    /// # Errors
    /// As there.
    pub(super) fn write_zeros(&self, device: &Path, bytes: u64) -> Result<(), LaneFailure> {
        write_zeros(device, bytes, self.stop)
    }

    /// A name that no other part of any lane has.
    pub(super) fn name(&self, part: &str) -> String {
        teardown::mapped_name(self.run_id(), self.lane, self.count, part)
    }

    /// The disks that all of it stands on.
    pub(super) fn disks(&self) -> &[PathBuf] {
        &self.disks
    }

    /// What an array is called on its disks.
    pub(super) fn array_name(&self) -> String {
        teardown::array_name(self.run_id())
    }

    fn run_id(&self) -> &str {
        if let Site::Here(run_id, _) = &self.site { run_id } else { "guest" }
    }

    /// Promises something that is made now, and is taken away with the rest; `device` is what it will be.
    ///
    /// # Errors
    /// When the promise does not reach the disk: then do not make it.
    pub(super) fn will_make(&mut self, device: PathBuf, thing: Thing) -> Result<(), LaneFailure> {
        let entry = match &mut self.site {
            Site::Here(_, journal) => Some(journal.will(thing.clone())?),
            Site::Guest => None,
        };
        self.count += 1;
        self.made.push(Made { device, thing, entry });
        Ok(())
    }

    /// What was made last came to be another device.
    pub(super) fn stands_as(&mut self, device: PathBuf) {
        if let Some(made) = self.made.last_mut() {
            made.device = device;
        }
    }

    /// Takes away what was made last, which was needed for a moment only.
    ///
    /// # Errors
    /// What the tool says.
    pub(super) fn unmake_last(&mut self) -> Result<(), LaneFailure> {
        let Some(made) = self.made.last() else { return Ok(()) };
        let journal = if let Site::Here(_, journal) = &mut self.site { Some(&mut **journal) } else { None };
        made.take_away(journal)?;
        self.made.pop();
        Ok(())
    }

    /// Has an array rebuild a disk that it lacks, once the filesystem is mounted.
    pub(super) fn rebuild(&mut self, array: &Path, disk: &Path) {
        self.to_rebuild.push((array.to_owned(), disk.to_owned()));
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
/// When it cannot be opened or written; [`LaneFailure::Interrupted`].
pub(super) fn write_zeros(device: &Path, bytes: u64, stop: &AtomicBool) -> Result<(), LaneFailure> {
    let zeros = Aligned::zeroed(WRITE_BYTES);
    let failure = |error| cannot(format!("write zeros over {}", device.display()), error);
    let open = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(device);
    let file = open.map_err(failure)?;
    let mut at = 0;
    while at < bytes {
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        let length = (bytes - at).min(WRITE_BYTES as u64);
        file.write_all_at(&zeros.bytes()[..length as usize], at).map_err(failure)?;
        at += length;
    }
    file.sync_all().map_err(failure)
}
