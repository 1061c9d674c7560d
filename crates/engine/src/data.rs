//! shim
use crate::buffers::{Buffers, Memory};
use crate::error::EngineError;
use model::job::Data;
use std::rc::Rc;
pub struct Contents(Buffers);
impl Contents {
    pub fn new(_: &Data, _: u32, largest_block: u64, depth: u32, seed: u64) -> Result<Contents, EngineError> {
        Ok(Contents(Buffers::for_writes(largest_block, depth, seed)?))
    }
    pub fn for_reads(largest_block: u64, depth: u32) -> Result<Contents, EngineError> {
        Ok(Contents(Buffers::for_reads(largest_block, depth)?))
    }
    pub fn memory(&self) -> &Rc<Memory> {
        self.0.memory()
    }
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.0.take()
    }
    #[inline]
    pub fn give_back(&mut self, chunk: u32) {
        self.0.give_back(chunk)
    }
    pub fn free_all(&mut self) {
        self.0.free_all()
    }
    #[inline]
    pub fn renew(&mut self, chunk: u32, _bytes: u32) {
        self.0.renew(chunk)
    }
    pub fn bytes(&self, chunk: u32) -> &[u8] {
        self.0.bytes(chunk)
    }
    pub fn bytes_mut(&mut self, chunk: u32) -> &mut [u8] {
        self.0.bytes_mut(chunk)
    }
}
