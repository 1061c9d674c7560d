//! Large files: written one after another, read at the same time, read and written at the same time, removed.

use super::{Observer, Work, heed};
use crate::beneath;
use crate::buffers::{Buffers, Room};
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::extents;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{BANDWIDTH, TIME, Window};
use crate::workers::Threads;
use model::agent::Part;
use model::streams::{STREAM_GROUPS, Streams};
use rustix::fs::{Mode, OFlags, fsync, openat};
use rustix::io::{read, write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// All files lie in this folder of the target.
const TOP: &str = "fairlane-streams";

/// Large files, prepared: an empty folder.
pub struct StreamsWork {
    streams: Streams,
    seed: u64,
    written_bytes: u64,
    stop: Arc<AtomicBool>,
}

/// What one thread did.
#[derive(Default)]
struct Did {
    bytes: u64,
    calls: u64,
    latencies: Latencies,
}

/// Which way a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
}

/// An open file, its path and which way its stream goes.
type StreamFile = (OwnedFd, PathBuf, Way);

impl StreamsWork {
    /// Makes the folder; what an interrupted race left there is removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        streams: &Streams,
        seed: u64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(|| {
            EngineError::Unsuitable("large files need a filesystem; race a lane that has a directory".to_owned())
        })?;
        beneath::make_anew(directory, TOP, Mode::RWXU, &path.join(TOP))?;
        Ok(StreamsWork { streams: streams.clone(), seed, written_bytes: 0, stop })
    }

    fn open(&self, place: &OpenTarget, name: &str, way: Way) -> Result<(OwnedFd, PathBuf), EngineError> {
        let Some((path, directory)) = place.directory() else {
            return Err(EngineError::Unsuitable("large files need a directory".to_owned()));
        };
        let (action, flags) = match way {
            Way::Read => ("open", OFlags::RDONLY),
            Way::Write => ("create", OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL),
        };
        let name = format!("{TOP}/{name}");
        let path = path.join(&name);
        let file = openat(directory, &name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644));
        file.map(|file| (file, path.clone())).map_err(|errno| EngineError::file(action, path, errno))
    }

    /// Moves a whole file through one descriptor.
    fn stream(&self, file: &OwnedFd, path: &Path, way: Way, number: u64) -> Result<Did, EngineError> {
        let (size, block) = (self.streams.size.get(), self.streams.block.get());
        let mut did = Did { latencies: Latencies::resident(), ..Did::default() };
        let writes = way == Way::Write;
        let mut buffers =
            writes.then(|| Buffers::for_writes(block, 1, self.seed ^ number.rotate_left(40))).transpose()?;
        let mut room = if writes { Room::default() } else { Room::new(block as usize)? };
        let clock = Clock::get();
        while did.bytes < size {
            heed(&self.stop)?;
            let wanted = block.min(size - did.bytes) as usize;
            let (begun, moved) = match &mut buffers {
                Some(buffers) => {
                    // Renewing the data is no part of the call.
                    let chunk = buffers.take();
                    buffers.renew(chunk);
                    let begun = clock.now();
                    let moved = write(file, &buffers.bytes(chunk)[..wanted]);
                    buffers.give_back(chunk);
                    (begun, moved)
                }
                None => (clock.now(), read(file, &mut room[..wanted])),
            };
            did.latencies.record(clock.now() - begun);
            let action = if way == Way::Read { "read" } else { "write" };
            let moved = moved.map_err(|errno| EngineError::Operation {
                action,
                bytes: wanted as u64,
                offset: did.bytes,
                path: path.to_owned(),
                remedy: None,
                errno: errno.raw_os_error(),
            })?;
            if moved == 0 {
                let (bytes, offset) = (wanted as u64, did.bytes);
                return Err(EngineError::Short { action, moved: 0, bytes, offset, path: path.to_owned() });
            }
            did.bytes += moved as u64;
            did.calls += 1;
        }
        Ok(did)
    }

    /// All of these files at the same time; those that were written are made stable. Answers what was done,
    /// and the seconds of the last sync.
    fn together(&self, files: &[StreamFile]) -> Result<(Did, f64), EngineError> {
        let one = |number: usize| {
            let (file, path, way) = &files[number];
            self.stream(file, path, *way, number as u64)
        };
        let did: Vec<Result<Did, EngineError>> = match files.len() {
            1 => vec![one(0)],
            count => {
                let one = &one;
                Threads::default().run((0..count).map(|number| move || one(number)), || (), |_| ())?.0
            }
        };
        let mut sum = Did::default();
        for did in did {
            let did = did?;
            sum.bytes += did.bytes;
            sum.calls += did.calls;
            sum.latencies.add(&did.latencies);
        }
        let begun = Clock::get().now();
        for (file, path, _) in files.iter().filter(|(_, _, way)| *way == Way::Write) {
            fsync(file).map_err(|errno| EngineError::file("sync", path, errno))?;
        }
        Ok((sum, seconds(Clock::get().now() - begun)))
    }

    /// Writes files and makes each stable, one after another, as a copy of a folder does. Answers them, to be read.
    fn write_all(
        &self,
        place: &OpenTarget,
        names: Vec<String>,
        window: &mut Window,
    ) -> Result<Vec<StreamFile>, EngineError> {
        let clock = Clock::get();
        let mut files = Vec::new();
        for (number, name) in names.into_iter().enumerate() {
            let (file, path) = self.open(place, &name, Way::Write)?;
            let did = self.stream(&file, &path, Way::Write, 1000 + number as u64)?;
            window.operations += did.calls;
            window.bytes += did.bytes;
            window.latencies.add(&did.latencies);
            let synced = clock.now();
            fsync(&file).map_err(|errno| EngineError::file("sync", &path, errno))?;
            window.sync_seconds += seconds(clock.now() - synced);
            files.push((file, path, Way::Read));
        }
        Ok(files)
    }

    /// Unlinks files, and makes that stable.
    fn remove_all(&self, place: &OpenTarget, all: &[String], window: &mut Window) -> Result<(), EngineError> {
        let clock = Clock::get();
        let Some((path, directory)) = place.directory() else { return Err(EngineError::Interrupted) };
        for name in all {
            heed(&self.stop)?;
            let name = format!("{TOP}/{name}");
            let before = clock.now();
            rustix::fs::unlinkat(directory, &name, rustix::fs::AtFlags::empty())
                .map_err(|errno| EngineError::file("remove", path.join(&name), errno))?;
            window.latencies.record(clock.now() - before);
        }
        window.operations = all.len() as u64;
        window.bytes = all.len() as u64 * self.streams.size.get();
        window.sync_seconds = place.sync()?;
        Ok(())
    }
}

impl Work for StreamsWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let Some(group) = STREAM_GROUPS.into_iter().find(|of| *of == group).filter(|_| part == Part::WHOLE) else {
            let group = model::text::escaped(group.as_bytes());
            return Err(EngineError::Unsuitable(format!(
                "large files have no phase {group} in parts; ask for the whole"
            )));
        };
        let (readers, writers) = (self.streams.readers, self.streams.writers);
        let names = |kind: &str, count: u32| (0..count).map(|number| format!("{kind}{number:04}")).collect::<Vec<_>>();
        let open = |names: Vec<String>, way: Way| {
            let one = |name: String| self.open(place, &name, way).map(|(file, path)| (file, path, way));
            names.into_iter().map(one).collect::<Result<Vec<_>, _>>()
        };
        let clock = Clock::get();
        let mut window = Window { group: group.to_owned(), primary_metric: BANDWIDTH, ..Window::default() };
        let mut written = 0;
        let mut files = match group {
            "write" | "delete" => Vec::new(),
            _ => open(names("r", readers), Way::Read)?,
        };
        observer.window_opens();
        let begun = clock.now();
        match group {
            "write" => {
                files = self.write_all(place, names("r", readers), &mut window)?;
                written = window.bytes;
            }
            "delete" => {
                let all = [names("r", readers), names("w", writers)].concat();
                self.remove_all(place, &all, &mut window)?;
                window.totals.push((TIME, seconds(clock.now() - begun) * 1e9));
            }
            _ => {
                if group == "read+write" {
                    files.extend(open(names("w", writers), Way::Write)?);
                }
                let (did, synced) = self.together(&files)?;
                (window.operations, window.bytes) = (did.calls, did.bytes);
                (window.latencies, window.sync_seconds) = (did.latencies, synced);
                written = if group == "read" { 0 } else { u64::from(writers) * self.streams.size.get() };
            }
        }
        window.seconds = seconds(clock.now() - begun);
        observer.window_closes();
        self.written_bytes += written;
        if written > 0 {
            let counted = files.iter().filter(|(_, _, way)| group == "write" || *way == Way::Write);
            let extents: Option<u64> = counted.map(|(file, ..)| extents::count(file)).sum();
            window.totals.extend(extents.map(|extents| ("extents", extents as f64)));
        }
        Ok(window)
    }

    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}
