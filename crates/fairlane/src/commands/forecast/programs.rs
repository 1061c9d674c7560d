//! Databases, large files and real programs.

use super::{Course, PROBE_SLICES, SLICE_EXTRA_SECONDS, Setting, Work};
use model::oltp::Script;
use model::programs::Material;
use model::workload::{Oltp, Programs, Streams, Workload};

/// Starting or stopping a server. Chosen, as the rates.
const SERVER_SECONDS: f64 = 1.5;
/// Rows that a database takes in a second while its tables are filled.
const LOADED_ROWS: f64 = 60_000.0;
/// Seconds of a slice of a ceiling of large files.
const STREAM_SLICE_SECONDS: f64 = 0.25;

impl Setting {
    /// Each lane alone: made, loaded, started, all groups, checked.
    pub(super) fn transactions(&self, oltp: &Oltp) -> Course {
        let rates = &self.rates;
        let rows = oltp.table_size as f64 * f64::from(oltp.tables);
        let bytes = oltp.working_set_bytes() as f64;
        let starts = f64::from(u8::from(oltp.starts_server())) * SERVER_SECONDS;
        let groups = oltp.groups().len() as f64;
        let cold = if oltp.cold && !oltp.is_external() { self.remount_seconds() + starts } else { 0.0 };
        let measured = groups * (oltp.warm_up_seconds + oltp.seconds);
        let fill = rows / LOADED_ROWS + bytes / rates.sequential;
        let refilled = if matches!(oltp.script, Script::Insert | Script::Delete) { groups - 1.0 } else { 0.0 };
        // The server starts to be filled, for its first group and to be checked.
        let made = fill * (1.0 + refilled) + 3.0 * starts + self.remount_seconds();
        let written = measured * rates.flushed + refilled * bytes;
        let lane = self.visit() + Work { seconds: made + cold + measured, bytes: bytes + written };
        let quiet = Work::seconds(groups * self.quiet_seconds * self.lanes);
        Course { round: lane * self.lanes + quiet, probe: self.flushes(), ..Course::default() }
    }

    /// Written, read, and read beside what the writers write.
    pub(super) fn streams(&self, streams: &Streams) -> Course {
        let rates = &self.rates;
        let (size, readers) = (streams.size.get() as f64, f64::from(streams.readers));
        let written = size * (readers + f64::from(streams.writers));
        let moved = written + 2.0 * size * readers;
        let seconds = moved / rates.sequential + 2.0 * rates.remount_seconds;
        let round = (self.visit() + Work { seconds, bytes: written }) * self.lanes;
        let phases = model::streams::STREAM_GROUPS.len() as f64;
        let probe_seconds = 2.0 * PROBE_SLICES * (STREAM_SLICE_SECONDS + SLICE_EXTRA_SECONDS);
        let probe = Work { seconds: probe_seconds, bytes: STREAM_SLICE_SECONDS * PROBE_SLICES * rates.sequential }
            * self.probed;
        Course { round: round + self.quiet(phases), probe, ..Course::default() }
    }

    /// Each lane alone, a step after another.
    pub(super) fn programs(&self, workload: &Workload, programs: &Programs) -> Course {
        let rates = &self.rates;
        let bytes = workload.working_set_bytes() as f64;
        let steps = programs.step.len() as f64;
        // Read about as often as written; unpacking makes files.
        let files = match programs.material {
            Material::Repository | Material::Layers => programs.files as f64,
            Material::None | Material::Recording => 0.0,
        };
        let seconds = 3.0 * bytes / rates.sequential
            + 4.0 * files * rates.change_seconds
            + steps * (rates.process_seconds + rates.flush_seconds)
            + rates.remount_seconds;
        let round = (self.visit() + Work { seconds, bytes }) * self.lanes;
        let quiet = Work::seconds((steps + 1.0) * self.quiet_seconds * self.lanes);
        Course { round: round + quiet, probe: self.flushes(), ..Course::default() }
    }
}
