//! Databases and real programs.

use super::{Parts, Setting, Work};
use model::oltp::Script;
use model::programs::Material;
use model::workload::{Oltp, Programs, Workload};

/// Starting or stopping a server. Chosen, as the rates.
const SERVER_SECONDS: f64 = 1.5;
/// Rows that a database takes in a second while its tables are filled.
const LOADED_ROWS: f64 = 60_000.0;
/// Bytes of a recording that ffmpeg makes in a second. Chosen, on two CPUs.
const ENCODED: f64 = 30e6;
/// Files of a repository or of layers that are written and packed in a second. Chosen.
const PACKED_FILES: f64 = 3000.0;

impl Setting {
    /// Each lane alone: made, loaded, started, all groups, checked.
    pub(super) fn transactions(&self, oltp: &Oltp) -> Parts {
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
        Parts { round: lane * self.lanes + quiet, probe: self.flushes(), ..Parts::default() }
    }

    /// Each lane alone, a step after another; what they work on is made first where it is not kept yet.
    pub(super) fn programs(&self, workload: &Workload, programs: &Programs) -> Parts {
        let made = if engine::programs::is_made(programs) { Work::default() } else { material(programs) };
        Parts { once: made, ..self.programs_on(workload, programs) }
    }

    fn programs_on(&self, workload: &Workload, programs: &Programs) -> Parts {
        let rates = &self.rates;
        let bytes = workload.working_set_bytes() as f64;
        let steps = programs.step.len() as f64;
        // Read about as often as written; unpacking makes files.
        let files = match programs.material {
            Material::Repository | Material::Layers => programs.files as f64,
            Material::None | Material::Recording => 0.0,
        };
        // A recording is read into memory for each lane.
        let source = if programs.material == Material::Recording { programs.size.get() as f64 } else { 0.0 };
        let cold = programs.step.iter().filter(|step| step.cold).count();
        let looked_at = programs.step.iter().filter(|step| step.is_looked_at()).count();
        let seconds = (3.0 * bytes + source) / rates.sequential
            + 4.0 * files * rates.change_seconds
            + steps * (rates.process_seconds + rates.flush_seconds)
            + (cold + looked_at) as f64 * rates.remount_seconds;
        let round = (self.visit() + Work { seconds, bytes }) * self.lanes;
        let quiet = Work::seconds(self.quiet_seconds * self.lanes);
        Parts { round: round + quiet, probe: self.flushes(), ..Parts::default() }
    }
}

/// What making material takes, once: a recording is encoded, files are written one by one and packed.
pub fn material(programs: &Programs) -> Work {
    match programs.material {
        Material::None => Work::default(),
        Material::Recording => {
            let bytes = programs.size.get() as f64;
            Work { seconds: bytes / ENCODED, bytes }
        }
        Material::Repository | Material::Layers => {
            let files = programs.files as f64;
            Work { seconds: files / PACKED_FILES, bytes: files * 2.0 * 8192.0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_is_counted_as_what_it_is() {
        let of = |text: &str| material(&toml::from_str(&format!("step = []\n{text}")).unwrap());
        assert_eq!(of(""), Work::default());
        let recording = of("material = \"recording\"\nsize = \"2GB\"");
        assert_eq!(recording.bytes, 2e9);
        assert!(recording.seconds > 10.0);
        assert!(of("material = \"repository\"\nfiles = 20000").bytes > 20_000.0 * 4096.0);
    }
}
