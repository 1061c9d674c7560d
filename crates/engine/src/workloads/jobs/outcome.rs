//! What one worker of a job has done, as it comes back from its process.

use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::workers::{Usage, fault};
use crate::workloads::worker::{Counts, Tallied};
use model::Flag;
use model::trial::Submission;
use serde::{Deserialize, Serialize};

/// What a worker has done, as it goes through the pipe.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Nanoseconds that counted.
    pub(super) elapsed_ns: u64,
    /// By read, write, trim, sync.
    counted: Vec<Counted>,
    /// Latency of submitting.
    pub(super) submission: Option<Submission>,
    /// What it used.
    pub(super) usage: Usage,
    /// Bytes written, ramp included.
    pub(super) written_bytes: u64,
    /// Blocks checked while reading.
    pub(super) verified_blocks: u64,
    /// What it had to do without.
    pub(super) notes: Vec<Flag>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Counted {
    operations: u64,
    bytes: u64,
    histogram: Option<String>,
    samples: Vec<u64>,
}

impl Outcome {
    /// Takes over a worker's counts.
    pub(super) fn count(&mut self, counts: &[Counts; 4]) {
        let counted = |counts: &Counts| Counted {
            operations: counts.operations,
            bytes: counts.bytes,
            histogram: counts.latencies.encode(),
            samples: counts.samples.clone(),
        };
        self.counted = counts.iter().map(counted).collect();
    }

    /// The counts of one kind.
    ///
    /// # Errors
    /// Where the histogram came through damaged.
    pub(super) fn counts(&self, kind: Tallied) -> Result<Counts, EngineError> {
        let Some(counted) = self.counted.get(kind as usize) else { return Ok(Counts::default()) };
        let latencies = match &counted.histogram {
            Some(text) => Latencies::decode(text).ok_or_else(|| fault("sent a histogram that cannot be read"))?,
            None => Latencies::new(),
        };
        let (operations, bytes) = (counted.operations, counted.bytes);
        Ok(Counts { operations, bytes, latencies, samples: counted.samples.clone() })
    }
}
