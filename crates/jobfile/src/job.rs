//! Jobs put together from their sections, with fio's rules about options that bear on each other.

use crate::draft::{Amount, Draft, Input};
use crate::names::{Files, JobNames};
use crate::options::{Outside, Take};
use crate::resolved::Resolved;
use crate::syntax::{self, Section, Setting};
use crate::total::{Notes, Total};
use crate::values::{self, Base};
use crate::{JobFileError, Place, Surroundings, shown, take};
use model::Bytes;
use model::job::{
    BlockSizes, Data, Direction, Distribution, Io, Job, Jobs, PerDirection, Rate, RateProcess, VERIFY_HEADER_BYTES,
    Verify,
};
use std::path::Path;

/// Sizes that are a share of the lane are whole numbers of these bytes, so that any usual block divides them.
const SHARE_STEP_BYTES: u64 = 1 << 20;

/// Reads a job file for Fairlane's own engine.
///
/// # Errors
/// The first thing that is wrong or cannot be done, with its file and line.
pub fn parse(path: &Path, surroundings: &Surroundings) -> Result<Jobs, JobFileError> {
    let document = syntax::read(path, surroundings)?;
    let mut notes = Notes::default();
    let (mut files, mut names, mut total) = (Files::default(), JobNames::default(), Total::default());
    let mut globals = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    let mut groups: (Option<Place>, bool) = (None, false);
    let share = share_of_space(&document.sections, surroundings.space_bytes);
    for section in &document.sections {
        if section.global {
            note_global_name(section, &mut notes);
            notes.check().map_err(|what| section.place.refuse(what))?;
            merge(&mut globals, section.settings.iter().filter(|setting| setting.row.name != "name"));
            continue;
        }
        let mut settings = globals.clone();
        merge(&mut settings, section.settings.iter());
        let part = Part { settings: &settings, section };
        let mut draft = part.draft(&mut notes)?;
        if draft.new_group {
            groups.0 = groups.0.or(Some(part.place("new_group")));
        }
        groups.1 |= draft.exitall;
        files.add(&draft.names, &draft.directory).map_err(|what| part.refuse("filename", what))?;
        part.share(&mut draft, share, &mut notes);
        let mut job = part.assemble(&mut draft, &mut notes, &jobs)?;
        if let Some(note) = names.add(&mut job).map_err(|(option, what)| part.refuse(option, what))? {
            notes.add(&section.place, &note);
        }
        total.add(&job, &notes).map_err(|what| section.place.refuse(what))?;
        jobs.push(job);
    }
    if let (Some(place), true) = groups {
        return Err(place.refuse("new_group together with exitall is not supported; remove one of them"));
    }
    let file = path.file_name().map_or_else(|| document.place.file.to_string(), |name| name.to_string_lossy().into());
    let jobs = Jobs { jobs, file, notes: notes.into_texts() };
    jobs.check().map_err(|what| document.place.refuse(what))?;
    Ok(jobs)
}

/// What of the space for all jobs falls to each worker whose `size` is a percentage: its own files lie beside the others'.
/// The bytes, and how many share them.
fn share_of_space(sections: &[Section], space_bytes: u64) -> (u64, u64) {
    let (mut globals, mut workers) = (Vec::new(), 0_u64);
    for section in sections {
        if section.global {
            merge(&mut globals, section.settings.iter());
            continue;
        }
        let mut settings = globals.clone();
        merge(&mut settings, section.settings.iter());
        let part = Part { settings: &settings, section };
        let value = |name: &str| part.setting(name).and_then(|setting| setting.value.as_deref()).map(str::trim);
        if value("size").is_some_and(|size| size.ends_with('%')) {
            let own = value("numjobs").and_then(|text| values::number(text, Base::Binary).ok());
            // Workers share a file that has a name.
            workers = workers.saturating_add(if value("filename").is_some() { 1 } else { own.unwrap_or(1).max(1) });
        }
    }
    (space_bytes / workers.max(1), workers)
}

fn note_global_name(section: &Section, notes: &mut Notes) {
    if section.name != "global" {
        notes.add(&section.place, &format!("section {} is global, as in fio", shown(&section.name)));
    }
    for setting in section.settings.iter().filter(|setting| setting.row.name == "name") {
        notes.add(&setting.place, "name: accepted without effect: the jobs are called after their sections, as in fio");
    }
}

/// Adds settings; a later one takes the place of an earlier one of the same option.
pub(crate) fn merge<'a>(into: &mut Vec<Setting>, settings: impl Iterator<Item = &'a Setting>) {
    for setting in settings {
        into.retain(|earlier| !std::ptr::eq(earlier.row, setting.row));
        into.push(setting.clone());
    }
}

/// One job's section with all settings that count for it.
struct Part<'a> {
    settings: &'a [Setting],
    section: &'a Section,
}

impl Part<'_> {
    fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.row.name == name)
    }

    /// Where an option is set; the section's line where it is not.
    fn place(&self, name: &str) -> Place {
        self.setting(name).map_or_else(|| self.section.place.clone(), |setting| setting.place.clone())
    }

    fn refuse(&self, name: &str, message: impl Into<String>) -> JobFileError {
        self.place(name).refuse(message)
    }

    /// Reads the options one by one.
    fn draft(&self, notes: &mut Notes) -> Result<Draft, JobFileError> {
        let mut draft = Draft::default();
        if let Some(setting) = self.setting("kb_base") {
            draft.base = take::base_of(setting.value.as_deref().unwrap_or(""))
                .map_err(|what| setting.place.refuse(format!("kb_base: {what}")))?;
        }
        let engine = |setting: &&Setting| setting.row.name == "ioengine";
        let rest = self.settings.iter().filter(|setting| !engine(setting));
        for setting in self.settings.iter().filter(engine).chain(rest) {
            let named = |what: &str| {
                if what.contains(setting.written.as_str()) {
                    what.to_owned()
                } else {
                    format!("{}: {what}", setting.written)
                }
            };
            let value = setting.value.as_deref().map(str::trim);
            match setting.row.take {
                Take::Work(take) => {
                    let input = Input { value, base: draft.base };
                    take(&mut draft, &input).map_err(|what| setting.place.refuse(named(&what)))?;
                    for note in std::mem::take(&mut draft.notes) {
                        notes.add(&setting.place, &format!("{}: {note}", setting.written));
                    }
                    if setting.row.outside == Outside::Keep && values::surprising_unit(input.text(), draft.base) {
                        notes.add(&setting.place, &surprise(setting, draft.base));
                    }
                }
                Take::Note(why) => notes.add(&setting.place, &format!("{}: {why}", setting.written)),
                Take::Refuse { harmless, .. } if harmless.contains(&value.unwrap_or("1")) => {}
                Take::Refuse { remedy, .. } => {
                    return Err(setting.place.refuse(format!("option {} is not supported; {remedy}", setting.written)));
                }
            }
        }
        Ok(draft)
    }

    /// `size=N%` in bytes: of the size of its files, as in fio, or, where they have none, of the share of the lane that falls
    /// to it.
    fn share(&self, draft: &mut Draft, (share_bytes, workers): (u64, u64), notes: &mut Notes) {
        let Some(percent) = draft.size_percent else { return };
        let files = if draft.names.is_empty() { u64::from(draft.io.nrfiles) } else { draft.names.len() as u64 };
        let of_files = draft.filesize.map(|(_, high)| high.saturating_mul(files));
        let whole = of_files.unwrap_or(share_bytes);
        let bytes = u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX);
        let step = if of_files.is_none() && bytes > SHARE_STEP_BYTES { SHARE_STEP_BYTES } else { 1 };
        draft.size = Some((bytes / step * step).max(1));
        if of_files.is_none() {
            let shared = if workers > 1 {
                format!("the {} of it that each of {workers} workers has", Bytes(whole))
            } else {
                Bytes(whole).to_string()
            };
            let what = format!(
                "size: {percent} % of half of the lane ({shared}); fio takes the percentage of files that exist, and a \
                 fresh lane has none"
            );
            notes.add(&self.place("size"), &what);
        }
    }

    /// Puts the job together.
    fn assemble(&self, draft: &mut Draft, notes: &mut Notes, before: &[Job]) -> Result<Job, JobFileError> {
        self.engine(draft, notes)?;
        self.blocks(draft, notes);
        self.place_files(draft, notes)?;
        self.amounts(draft, notes)?;
        self.rates(draft)?;
        self.times(draft, notes)?;
        self.data(draft)?;
        self.durability(draft, notes)?;
        if draft.wait_for.as_ref().is_some_and(|name| !before.iter().any(|job| job.name == *name)) {
            return Err(self.refuse("wait_for", "wait_for names no job above this one; change it"));
        }
        draft.io.check().map_err(|what| self.blame(&what))?;
        Ok(Job {
            name: draft.job_name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| self.section.name.clone()),
            stonewall: draft.stonewall,
            exitall: draft.exitall,
            wait_for: draft.wait_for.clone(),
            options: Resolved::new(self.settings).0,
            io: std::mem::take(&mut draft.io),
        })
    }

    /// The refusal of a whole job, at the option that its sentence names first.
    fn blame(&self, what: &str) -> JobFileError {
        let words = what.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        // bs has several spellings; the sentence knows only one.
        let spellings = |word: &str| match word {
            "bs" => ["bssplit", "bsrange", "bs"].to_vec(),
            "size" => ["size", "filesize"].to_vec(),
            word => crate::options::find(word).map(|row| vec![row.name]).unwrap_or_default(),
        };
        let setting = words.flat_map(spellings).find_map(|name| self.setting(name));
        setting.map_or(&self.section.place, |setting| &setting.place).refuse(what)
    }

    /// `io_submit_mode=offload`: a thread for each I/O in flight hands it over, so that one that blocks does not keep
    /// others back. Where handing over does not block, one thread does the same work.
    fn offload(&self, draft: &Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let (io, place) = (&draft.io, "io_submit_mode");
        let waits = match io.ioengine.as_str() {
            "io_uring" | "null" => false,
            // Through the page cache `io_submit` does the I/O before it returns.
            "libaio" => !io.direct,
            _ => io.iodepth > 1,
        };
        if waits {
            return Err(self.refuse(
                place,
                "io_submit_mode=offload with this engine keeps I/Os in flight that wait for each other here; write \
                 ioengine=io_uring with the same iodepth, or use --with-fio",
            ));
        }
        let has_rate = draft.rates.iter().chain(&draft.rate_iops).any(Option::is_some);
        let late = match io.rate_process {
            RateProcess::Poisson if has_rate => ", and latency counts from the intended start",
            RateProcess::Linear if has_rate => {
                ", and the rate does not wait for completions while fewer than iodepth are in flight"
            }
            _ => "",
        };
        let waits = match io.iodepth {
            1 => "one at a time is in flight".to_owned(),
            _ => format!("{} does not wait for them to complete", io.ioengine),
        };
        let what = format!("io_submit_mode=offload: the job's own thread hands I/Os over: {waits}{late}");
        notes.add(&self.place(place), &what);
        Ok(())
    }

    fn engine(&self, draft: &mut Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let written = draft.engine.clone().unwrap_or_else(|| "psync".to_owned());
        let engine = draft.io.ioengine.clone();
        let polls =
            [("hipri", draft.io.hipri), ("uncached", draft.io.uncached), ("sqthread_poll", draft.io.sqthread_poll)];
        for (option, set) in polls {
            let fits = written == "io_uring" || (written == "pvsync2" && option != "sqthread_poll");
            if set && !fits {
                return Err(
                    self.refuse(option, format!("{option} needs ioengine=io_uring; write it, or remove {option}"))
                );
            }
        }
        if draft.offload {
            self.offload(draft, notes)?;
        }
        let io = &mut draft.io;
        if matches!(engine.as_str(), "sync" | "mmap") {
            if io.iodepth > 1 {
                let what = format!("iodepth: taken as 1, as in fio: ioengine {written} keeps one I/O in flight");
                notes.add(&self.place("iodepth"), &what);
            }
            io.iodepth = 1;
        }
        if engine == "mmap" && io.direct {
            let option = if self.setting("direct").is_some() { "direct" } else { "buffered" };
            notes.add(
                &self.place(option),
                &format!("{option}: accepted without effect, as in fio: a mapped file goes through the page cache"),
            );
            io.direct = false;
        }
        // As fio: no share of the queue is larger than the queue.
        io.iodepth_low = io.iodepth_low.filter(|low| *low < io.iodepth);
        io.iodepth_batch_complete_min = io.iodepth_batch_complete_min.min(io.iodepth);
        io.iodepth_batch = match draft.iodepth_batch.unwrap_or(0) {
            _ if io.iodepth == 1 => None,
            0 => None,
            batch => Some(batch.min(io.iodepth)),
        };
        Ok(())
    }

    fn blocks(&self, draft: &mut Draft, notes: &mut Notes) {
        let mut of = |index: usize| {
            let split = draft.splits[index].take().filter(|split| split.len() > 1);
            match (split, draft.ranges[index], draft.fixed[index]) {
                (Some(split), ..) => BlockSizes::Split(split),
                (None, Some((low, high)), _) if low < high => BlockSizes::Range(Bytes(low), Bytes(high)),
                (None, Some((low, _)), _) => BlockSizes::Fixed(Bytes(low)),
                (None, None, fixed) => BlockSizes::Fixed(Bytes(fixed.unwrap_or(4096))),
            }
        };
        let sizes = PerDirection { read: of(0), write: of(1), trim: of(2) };
        let used: Vec<&BlockSizes> =
            draft.io.rw.directions().iter().map(|direction| sizes.for_direction(*direction)).collect();
        draft.io.bs = used.iter().map(|sizes| sizes.smallest()).min().unwrap_or(Bytes(4096));
        let plain = BlockSizes::Fixed(draft.io.bs);
        let all_plain = used.iter().all(|sizes| **sizes == plain);
        draft.io.block_sizes = (!all_plain).then(|| Box::new(sizes));
        if draft.io.rw.random() {
            // As fio: neither goes together with a map of visited blocks.
            let uneven = draft.io.random_distribution != Distribution::Random;
            if draft.blockalign && !draft.io.norandommap {
                notes.add(&self.place("ba"), "blockalign: blocks may repeat, as with norandommap; so does fio");
            }
            draft.io.norandommap |= uneven || draft.blockalign;
        }
    }

    fn place_files(&self, draft: &mut Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let io = &mut draft.io;
        io.filename = draft.names.iter().map(|name| name.inside.clone()).collect();
        io.filename_format = draft.format.as_ref().map(|name| name.inside.clone()).unwrap_or_default();
        if !io.filename.is_empty() {
            let files = u32::try_from(io.filename.len()).unwrap_or(u32::MAX);
            if self.setting("nrfiles").is_some() && io.nrfiles != files {
                notes.add(
                    &self.place("nrfiles"),
                    "nrfiles: accepted without effect, as in fio: filename names the files",
                );
            }
            io.nrfiles = files;
        }
        io.openfiles = io.openfiles.filter(|open| *open < io.nrfiles);
        if io.pre_read {
            io.invalidate = false;
        }
        Ok(())
    }

    /// Sizes of files, and how much is moved.
    fn amounts(&self, draft: &mut Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let large = ["offset_increment", "offset", "size"].into_iter().find(|name| self.setting(name).is_some());
        let too_large =
            || self.refuse(large.unwrap_or("size"), "size and offsets together are above 2^63-1 bytes; lower them");
        let fits = |bytes: Option<u64>| bytes.filter(|bytes| *bytes <= values::MOST).ok_or_else(too_large);
        let io = &mut draft.io;
        let files = u64::from(io.nrfiles);
        let last = io.offset_increment.0.checked_mul(u64::from(io.numjobs - 1));
        let furthest = fits(last.and_then(|last| last.checked_add(io.offset.0)))?;
        // Bytes that one pass moves, as far as files and offsets go.
        let pass = if let Some((low, high)) = draft.filesize {
            io.filesize = (low < high).then_some((Bytes(low), Bytes(high)));
            io.size = Bytes(fits(high.checked_mul(files))?);
            if furthest >= low {
                let what = "offset lies past the end of the files; lower offset or raise filesize";
                return Err(self.refuse(if io.offset.0 > 0 { "offset" } else { "offset_increment" }, what));
            }
            let region = (high - io.offset.0).saturating_mul(files);
            draft.size.map_or(region, |size| size.min(region))
        } else {
            let Some(size) = draft.size else {
                return Err(self.refuse("size", "size is missing; say how many bytes the files have"));
            };
            let each = size / files;
            if each == 0 {
                return Err(self.refuse("size", "size is under 1 byte for each file; raise size or lower nrfiles"));
            }
            // As fio: each worker's files reach as far as its own offset and size.
            io.size = Bytes(fits(each.checked_add(furthest).and_then(|file| file.checked_mul(files)))?);
            io.region = (furthest > io.offset.0).then_some(Bytes(each));
            each * files
        };
        let each = (io.size.0 / files).saturating_sub(furthest);
        if files > 1 && io.ioengine != "null" && each < io.smallest_block().0 {
            let option = if io.filename.is_empty() { "nrfiles" } else { "filename" };
            let what = format!(
                "size leaves {each} bytes for each of {files} files, under one block of {}; raise size or lower nrfiles",
                io.smallest_block().0
            );
            return Err(self.refuse(option, what));
        }
        let asked = match draft.io_size {
            Some(Amount::Bytes(bytes)) => Some(bytes),
            Some(Amount::Percent(percent)) => {
                let whole = draft.size.unwrap_or(pass);
                Some(u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX).max(1))
            }
            None => None,
        };
        io.io_size = asked.or((pass != io.size.0).then_some(pass)).map(Bytes);
        self.number_of_ios(draft, asked.unwrap_or(pass), notes)
    }

    /// `number_ios` in bytes: fio counts operations, the model counts bytes.
    fn number_of_ios(&self, draft: &mut Draft, moved: u64, notes: &mut Notes) -> Result<(), JobFileError> {
        let Some(number) = draft.number_ios else { return Ok(()) };
        if draft.time_based && draft.io.runtime_seconds.is_some() {
            notes.add(
                &self.place("number_ios"),
                "number_ios: accepted without effect, as in fio: the job is time_based",
            );
            return Ok(());
        }
        if draft.io.block_sizes.is_some() {
            let what = "number_ios with several block sizes is not supported; write io_size=BYTES";
            return Err(self.refuse("number_ios", what));
        }
        let bytes = number.saturating_mul(draft.io.bs.0);
        if bytes < moved {
            draft.io.io_size = Some(Bytes(bytes));
        }
        Ok(())
    }

    fn rates(&self, draft: &mut Draft) -> Result<(), JobFileError> {
        let any = |rates: &[Option<Rate>; 3]| rates.iter().flatten().any(|rate| *rate != Rate::Unlimited);
        let (bytes, operations) = (any(&draft.rates), any(&draft.rate_iops));
        if bytes && operations {
            return Err(self.refuse("rate_iops", "rate and rate_iops exclude each other; remove one"));
        }
        let [read, write, trim] =
            if bytes { draft.rates } else { draft.rate_iops }.map(|rate| rate.unwrap_or(Rate::Unlimited));
        draft.io.rate = (bytes || operations).then_some(PerDirection { read, write, trim });
        if draft.io.limits_one_of_two() {
            let name = if bytes { "rate" } else { "rate_iops" };
            let what = "limits only one direction of a mixed rw, which is not supported; write READ,WRITE";
            return Err(self.refuse(name, format!("{name} {what}")));
        }
        if draft.io.rate.is_none() {
            draft.io.rate_process = RateProcess::Linear;
        }
        Ok(())
    }

    fn times(&self, draft: &mut Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let io = &mut draft.io;
        io.time_based = draft.time_based;
        if io.time_based && io.runtime_seconds.is_none() {
            let what = "time_based: accepted without effect, as in fio: it needs a runtime";
            notes.add(&self.place("time_based"), what);
            io.time_based = false;
        }
        if draft.thinktime_issue && io.thinktime_seconds > 0.0 {
            let what = "thinktime_blocks_type=issue is not supported; write complete";
            return Err(self.refuse("thinktime_blocks_type", what));
        }
        if io.thinktime_seconds == 0.0 {
            io.thinktime_blocks = 1;
        }
        io.thinktime_spin_seconds = io.thinktime_spin_seconds.min(io.thinktime_seconds);
        Ok(())
    }

    fn data(&self, draft: &mut Draft) -> Result<(), JobFileError> {
        let compress = draft.compress_percent.filter(|percent| *percent > 0);
        if draft.pattern.is_some() && (compress.is_some() || draft.io.dedupe_percentage > 0) {
            let what = "buffer_pattern with compression or deduplication is not supported; remove buffer_pattern";
            return Err(self.refuse("buffer_pattern", what));
        }
        draft.io.data = match (compress, draft.pattern.take()) {
            (Some(percent), _) => Data::Compress(percent, draft.compress_chunk.unwrap_or(512)),
            (None, Some(pattern)) => Data::Pattern(pattern),
            (None, None) if draft.zero_buffers && draft.io.dedupe_percentage == 0 => Data::Zero,
            (None, None) => Data::Incompressible,
        };
        Ok(())
    }

    fn durability(&self, draft: &mut Draft, notes: &mut Notes) -> Result<(), JobFileError> {
        let io = &mut draft.io;
        if !io.rw.writes() {
            for (option, set) in [("fsync", &mut io.fsync), ("fdatasync", &mut io.fdatasync)] {
                if *set > 0 {
                    notes.add(
                        &self.place(option),
                        &format!("{option}: accepted without effect: the job does not write"),
                    );
                    *set = 0;
                }
            }
            if io.verify != Verify::None {
                let what = "verify reads back what the job itself writes, and it writes nothing; remove verify";
                return Err(self.refuse("verify", what));
            }
        }
        if io.verify != Verify::None {
            self.verification(io)?;
        }
        Ok(())
    }

    /// What cannot be read back and told apart is refused here, at its line, and not by the engine.
    fn verification(&self, io: &Io) -> Result<(), JobFileError> {
        if io.rw.trims() {
            let what = "verify cannot tell a block that was discarded from one that was lost; use another rw";
            return Err(self.refuse("verify", what));
        }
        if io.ioengine == "null" {
            let what = "verify has nothing to read back from ioengine=null; remove verify or use another ioengine";
            return Err(self.refuse("verify", what));
        }
        let named = !io.filename.is_empty();
        let repeats = |word: &str| !io.filename_format.is_empty() && !io.filename_format.contains(word);
        if io.reads_back() && io.numjobs > 1 && (named || repeats("$jobnum")) {
            let what = "verify cannot tell which of several workers wrote a shared block; write numjobs=1";
            return Err(self.refuse("verify", what));
        }
        if io.reads_back() && !named && io.nrfiles > 1 && repeats("$filenum") {
            let what = "verify cannot tell files of one name apart; write $filenum in filename_format";
            return Err(self.refuse("filename_format", what));
        }
        let interval = io.verify_interval.0;
        let unit = if interval > 0 { interval } else { io.smallest_block().0 };
        if unit < VERIFY_HEADER_BYTES {
            let option = if interval > 0 { "verify_interval" } else { "verify" };
            return Err(self.refuse(
                option,
                format!(
                    "verify needs {VERIFY_HEADER_BYTES} bytes for each header, not {unit}; raise bs or verify_interval"
                ),
            ));
        }
        if interval > 0 {
            let divides = |bytes: Bytes| bytes.0.is_multiple_of(interval);
            let whole = match io.blocks(Direction::Write) {
                BlockSizes::Fixed(bytes) => divides(bytes),
                BlockSizes::Range(low, high) => divides(low) && divides(high),
                BlockSizes::Split(parts) => parts.iter().all(|part| divides(part.0)),
            };
            if !whole {
                let what = "verify_interval does not divide every block; change it or bs";
                return Err(self.refuse("verify_interval", what));
            }
        }
        Ok(())
    }
}

/// `4KiB` is 4000 bytes in fio, which few expect.
fn surprise(setting: &Setting, base: Base) -> String {
    let value = setting.value.as_deref().unwrap_or("");
    let bytes = values::number(value, base).map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
    format!("{}: {} counts in steps of 1000{bytes}, as in fio; write k, m or g for 1024", setting.written, shown(value))
}
