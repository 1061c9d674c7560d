//! There is no buffer of calls on this kind of CPU: every call of interest stops.

use crate::stops::Stop;
use libc::pid_t;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Default)]
pub(crate) struct Buffered {}

impl Buffered {
    pub(crate) fn of_child(&self, _: bool) -> Buffered {
        Buffered {}
    }

    pub(crate) fn is_mapped(&self) -> bool {
        false
    }
}

#[allow(dead_code, reason = "other kinds of CPU have them")]
pub(crate) enum Looked {
    AsItWas,
    Again,
    Ended(Stop),
}

#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) number: i64,
    pub(crate) begins: bool,
    pub(crate) arguments: [u64; 6],
    pub(crate) result: i64,
    pub(crate) looked: bool,
    pub(crate) path: Option<Vec<u8>>,
}

#[allow(dead_code, reason = "other kinds of CPU have them")]
#[derive(PartialEq, Eq)]
pub(crate) enum Owner {
    Runs,
    Stands,
    Gone,
}

pub(crate) struct CallBuffer {}

impl CallBuffer {
    pub(crate) fn begin(_: Instant) -> Option<CallBuffer> {
        None
    }

    pub(crate) fn inside() -> (u32, u32) {
        (0, 0)
    }

    pub(crate) fn look(&mut self, _: &mut Buffered, _: (pid_t, pid_t), _: u64, _: bool) -> Looked {
        Looked::AsItWas
    }

    pub(crate) fn forked(&self, _: pid_t, _: &mut Buffered, _: pid_t, _: bool) {}

    pub(crate) fn lent_on(&self, _: &mut Buffered, _: (pid_t, pid_t)) {}

    pub(crate) fn has_back(&self, _: &mut Buffered, _: (pid_t, pid_t)) {}

    pub(crate) fn turn_off(&self, _: pid_t, _: &mut Buffered) {}

    pub(crate) fn adopt(&self, _: pid_t) {}

    pub(crate) fn sampled(&self, _: pid_t, _: Duration) {}

    pub(crate) fn leads_out(_: pid_t) -> bool {
        false
    }

    pub(crate) fn own_memory(_: pid_t) -> Option<u64> {
        None
    }

    pub(crate) fn synchronize(&mut self) {}

    pub(crate) fn next(&mut self, _: bool, _: &dyn Fn(u32, u64) -> Owner) -> Option<Record> {
        None
    }

    pub(crate) fn is_held_up(&mut self) -> bool {
        false
    }

    pub(crate) fn lost(&self) -> u64 {
        0
    }

    pub(crate) fn fullness(&self) -> (u64, u64, u64) {
        (0, 0, 0)
    }

    pub(crate) fn ends_its_record(_: pid_t) -> Option<Stop> {
        None
    }

    pub(crate) fn whose(_: &Record) -> (pid_t, u64) {
        (0, 0)
    }

    pub(crate) fn when(&self, _: &Record) -> (u64, u64, u64) {
        (0, 0, 0)
    }
}

pub(crate) fn share_memory(_: pid_t, _: pid_t) -> bool {
    false
}
