//! A job's options in fio's spelling.

use model::Bytes;
use model::job::{FioJob, FioRun, Rate};
use model::workload::{Direction, Io, Job, Pattern};

/// A job's options.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct JobOptions {
    /// Every option, each key once.
    pub(super) all: Vec<(String, String)>,
    /// I/Os in flight of one worker.
    pub(super) iodepth: u32,
    /// Workers.
    pub(super) numjobs: u32,
}

impl JobOptions {
    /// Of work that a suite describes with Fairlane's own keys.
    pub(super) fn of_io(io: &Io) -> JobOptions {
        let mut options = Options::default();
        options.core(io);
        let seconds = f64::from(io.slices) * io.slice_seconds;
        options.set("time_based", "1");
        options.set("runtime", time(seconds));
        options.rest(io);
        options.done(io.iodepth, io.numjobs)
    }

    /// Of a job of a job file: its options as they were resolved, and what tools expect to find
    /// where they do not name it.
    pub(super) fn of_job(job: &Job) -> JobOptions {
        let mut options = Options::default();
        job.options.iter().for_each(|(key, value)| options.set(key, value.as_str()));
        let mut known = Options::default();
        known.core(&job.io);
        options.complete(known);
        options.done(job.io.iodepth, job.io.numjobs)
    }

    /// Of a job that the installed fio ran: what the job file says, and fio's defaults of what
    /// tools expect to find.
    pub(super) fn of_fio(run: &FioRun, job: &FioJob) -> JobOptions {
        let mut options = Options::default();
        let mut section = "";
        for line in run.text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
            } else if !line.is_empty() && !line.starts_with([';', '#']) && (section == "global" || section == job.name)
            {
                let (key, value) = line.split_once('=').unwrap_or((line, "1"));
                options.set(canonical(key.trim()), value.trim());
            }
        }
        let has = |direction| job.directions.contains(&direction);
        let rw = match (has(Direction::Read), has(Direction::Write)) {
            (true, true) => "rw",
            (false, true) => "write",
            _ => "read",
        };
        let mut defaults = Options::default();
        for (key, value) in [("rw", rw), ("bs", "4k"), ("iodepth", "1"), ("numjobs", "1")] {
            defaults.set(key, value);
        }
        options.complete(defaults);
        let number = |key: &str| options.get(key).and_then(|value| value.parse().ok()).unwrap_or(1);
        let (iodepth, numjobs) = (number("iodepth"), number("numjobs"));
        options.done(iodepth, numjobs)
    }
}

/// One name for options that have two.
fn canonical(key: &str) -> &str {
    match key {
        "readwrite" => "rw",
        "blocksize" => "bs",
        other => other,
    }
}

#[derive(Default)]
struct Options(Vec<(String, String)>);

impl Options {
    /// The last value of a key counts.
    fn set(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        match self.0.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    fn set_if(&mut self, holds: bool, key: &str, value: impl Into<String>) {
        if holds {
            self.set(key, value);
        }
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_str())
    }

    /// Adds what is missing.
    fn complete(&mut self, others: Options) {
        for (key, value) in others.0 {
            if self.get(&key).is_none() {
                self.set(&key, value);
            }
        }
    }

    fn done(self, iodepth: u32, numjobs: u32) -> JobOptions {
        JobOptions { all: self.0, iodepth: iodepth.max(1), numjobs: numjobs.max(1) }
    }

    /// What every tool looks for.
    fn core(&mut self, io: &Io) {
        self.set("rw", pattern(io.rw));
        match &io.block_sizes {
            Some(sizes) => {
                let each = Direction::ALL.map(|direction| fio_sizes(sizes.for_direction(direction)));
                let split = each.iter().any(|text| text.contains('/'));
                let range = each.iter().any(|text| text.contains('-'));
                let key = if split {
                    "bssplit"
                } else if range {
                    "bsrange"
                } else {
                    "bs"
                };
                self.set("bs", size(io.bs));
                self.set(key, each.join(","));
            }
            None => self.set("bs", size(io.bs)),
        }
        self.set("size", size(io.size));
        self.set("ioengine", io.ioengine.as_str());
        self.set("iodepth", io.iodepth.to_string());
        self.set("numjobs", io.numjobs.to_string());
        self.set("direct", u32::from(io.direct).to_string());
    }

    /// What is not as it is by default.
    fn rest(&mut self, io: &Io) {
        let flag = |set: bool| u32::from(set).to_string();
        self.set_if(io.rw == Pattern::Append || io.file_append, "file_append", "1");
        self.set_if(io.fdatasync > 0, "fdatasync", io.fdatasync.to_string());
        self.set_if(io.fsync > 0, "fsync", io.fsync.to_string());
        self.set_if(io.end_fsync, "end_fsync", "1");
        self.set_if(io.rw.mixed(), "rwmixread", io.rwmixread.to_string());
        self.set_if(io.norandommap, "norandommap", "1");
        self.set_if(!io.randrepeat, "randrepeat", flag(io.randrepeat));
        self.set_if(io.rw.random(), "random_distribution", io.random_distribution.to_string());
        self.set_if(io.nrfiles > 1, "nrfiles", io.nrfiles.to_string());
        self.set_if(!io.filename.is_empty(), "filename", io.filename.join(":"));
        self.set_if(io.thread, "thread", "1");
        self.set_if(io.offset.0 > 0, "offset", size(io.offset));
        self.set_if(io.uncached, "uncached", "1");
        self.set_if(io.hipri, "hipri", "1");
        self.set_if(io.ramp_time_seconds > 0.0, "ramp_time", time(io.ramp_time_seconds));
        self.set_if(io.thinktime_seconds > 0.0, "thinktime", time(io.thinktime_seconds));
        if let Some(rates) = &io.rate {
            let each = |of: fn(&Rate) -> Option<f64>| {
                let values = Direction::ALL.map(|direction| of(rates.for_direction(direction)));
                let text = values.map(|value| value.map(|value| format!("{value:.0}")).unwrap_or_default());
                values.iter().any(Option::is_some).then(|| text.join(","))
            };
            let operations = each(|rate| if let Rate::Operations(rate) = rate { Some(*rate) } else { None });
            let bytes = each(|rate| if let Rate::Bytes(rate) = rate { Some(*rate) } else { None });
            operations.into_iter().for_each(|text| self.set("rate_iops", text));
            bytes.into_iter().for_each(|text| self.set("rate", text));
        }
    }
}

/// fio's name of a pattern.
fn pattern(rw: Pattern) -> &'static str {
    match rw {
        Pattern::Read => "read",
        Pattern::Write | Pattern::Append => "write",
        Pattern::RandRead => "randread",
        Pattern::RandWrite => "randwrite",
        Pattern::Rw => "rw",
        Pattern::RandRw => "randrw",
        Pattern::Trim => "trim",
        Pattern::RandTrim => "randtrim",
        Pattern::TrimWrite => "trimwrite",
    }
}

/// A size as fio reads it: `4k`, `1m`, `2g`.
fn size(bytes: Bytes) -> String {
    let units = [(1_u64 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let fits = units.iter().find(|(unit, _)| bytes.0 > 0 && bytes.0.is_multiple_of(*unit));
    fits.map_or_else(|| bytes.0.to_string(), |(unit, name)| format!("{}{name}", bytes.0 / unit))
}

/// Block sizes as fio reads them: `4k`, `4k-64k`, `4k/60:64k/40`.
fn fio_sizes(sizes: &model::job::BlockSizes) -> String {
    use model::job::BlockSizes;
    match sizes {
        BlockSizes::Fixed(bytes) => size(*bytes),
        BlockSizes::Range(low, high) => format!("{}-{}", size(*low), size(*high)),
        BlockSizes::Split(parts) => {
            let parts: Vec<String> = parts.iter().map(|(bytes, share)| format!("{}/{share}", size(*bytes))).collect();
            parts.join(":")
        }
    }
}

/// A time as fio reads it: `2s`, `750ms`, `100us`.
fn time(seconds: f64) -> String {
    let microseconds = super::whole(seconds * 1e6);
    match microseconds {
        whole if whole.is_multiple_of(1_000_000) => format!("{}s", whole / 1_000_000),
        whole if whole.is_multiple_of(1_000) => format!("{}ms", whole / 1_000),
        whole => format!("{whole}us"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_in_fios_spelling() {
        assert_eq!([4096, 1 << 20, 3 << 30, 512, 0].map(|bytes| size(Bytes(bytes))), ["4k", "1m", "3g", "512", "0"]);
        assert_eq!([2.0, 0.75, 1e-4].map(time), ["2s", "750ms", "100us"]);
    }

    #[test]
    fn options_of_a_file_that_fio_ran_are_those_of_its_section() {
        let text = "; a comment\n[global]\nblocksize=8k\nthread\n[a]\nreadwrite=randread\niodepth=16\n[b]\niodepth=2\n";
        let of = |name: &str| FioJob { name: name.into(), directions: vec![Direction::Read], direct: false };
        let run =
            FioRun { file: String::new(), text: text.into(), jobs: vec![of("a"), of("b")], working_set: Bytes(0) };
        let a = JobOptions::of_fio(&run, &run.jobs[0]);
        let expected = [("bs", "8k"), ("thread", "1"), ("rw", "randread"), ("iodepth", "16"), ("numjobs", "1")];
        assert_eq!(a.all, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!((a.iodepth, JobOptions::of_fio(&run, &run.jobs[1]).iodepth), (16, 2));
    }
}
