//! What records of races and simulations come to.
//!
//! One program, so that it is linked once and the tests of all files wait at the same time.

#[path = "common/asking.rs"]
mod asking;
#[path = "common/boots.rs"]
mod boots;
mod common;
#[path = "common/screened.rs"]
mod screened;

mod advice;
mod advice_databases;
mod advice_lanes;
mod arbitrary;
mod broken_promises;
mod buffered;
mod calibrating;
mod compare_errors;
mod comparing;
mod comparing_published;
mod disks;
mod explaining;
mod gate_errors;
mod gate_failures;
mod gate_settings;
mod gating;
mod guests;
mod impossible;
mod jobs_and_latency;
mod judging;
mod layer_costs;
mod limits;
mod limits_programs;
mod neighbours;
mod operations;
mod own_disks;
mod page;
mod past;
mod ranks;
mod rounds;
mod screening;
mod screening_confirmed;
mod screening_hostile;
mod screening_more_rounds;
mod sharing;
mod stalls;
mod swarms;
mod throttle;
mod transactions;
mod undecided;
