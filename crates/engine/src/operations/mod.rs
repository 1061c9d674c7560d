//! Operations on files, step after step: the kernel's, a library's, or a process for each.

#[allow(dead_code)]
pub(crate) mod backend;
#[allow(dead_code)]
pub(crate) mod contents;
#[allow(dead_code)]
pub(crate) mod process;

pub use process::{MissingTool, missing_tools};

use crate::error::EngineError;
use crate::target::Place;
use crate::workloads::Work;
use model::operations::Operations;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Operations, prepared.
pub struct OperationsWork;

impl OperationsWork {
    /// Makes the folders and the sets that are there from the beginning, synced.
    ///
    /// # Errors
    /// Where the target does not fit or a call fails.
    pub fn prepare(_: &Place, _: &Operations, _: u64, _: Arc<AtomicBool>) -> Result<Self, EngineError> {
        Err(EngineError::Unsuitable("operations are under construction on this branch".to_owned()))
    }
}

impl Work for OperationsWork {
    fn release(&mut self) {}
}
