//! shim
use crate::error::EngineError;
#[derive(Debug)]
pub struct Ledger;
impl Ledger {
    pub fn new(_: u64, _: &[(u64, u64)]) -> Result<Ledger, EngineError> {
        Ok(Ledger)
    }
}
