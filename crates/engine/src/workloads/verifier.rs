//! shim
use super::files::FilePlan;
use super::worker::Task;
use crate::error::EngineError;
use crate::target::Directory;
use crate::verify::Ledger;
use model::job::Io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub(super) struct Verifier;
impl Verifier {
    pub(super) fn of(_: &Task, _: Option<Arc<Ledger>>) -> Option<Verifier> {
        None
    }
    pub(super) fn issue(&mut self, _b: &mut [u8], _f: u32, _o: u64) {}
    pub(super) fn complete(&mut self, _f: u32, _o: u64, _b: u32) {}
    pub(super) fn check(&mut self, _b: &[u8], _f: u32, _o: u64) -> Result<(), EngineError> {
        Ok(())
    }
    pub(super) fn checked(&self) -> u64 {
        0
    }
}
pub(super) fn unit(io: &Io) -> u64 {
    io.bs.0
}
pub(super) fn read_back(
    _: Directory<'_>,
    _: &Io,
    _: &[FilePlan],
    _: &Ledger,
    _: &AtomicBool,
) -> Result<u64, EngineError> {
    Ok(0)
}
