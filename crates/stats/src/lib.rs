//! Pure statistics: order, estimates, sequential looks, verdicts, limits, advice.
//!
//! Everything here is a function of recorded figures: no clock, no file, no device. The conductor
//! asks for the next order ([`order`]), whether a trial was disturbed ([`noise`]) and how far a
//! workload is from its verdict ([`judge`]); reports render [`judge::findings`] and compute nothing.

pub mod advice;
pub mod answer;
mod buffered;
mod bursts;
pub mod calibrate;
pub mod comparable;
pub mod compare;
pub mod compare_published;
pub mod correlation;
pub mod course;
pub mod durability;
pub mod estimate;
mod evidence;
mod failed;
pub mod forecast;
pub mod gate;
mod guarantees;
mod impossible;
pub mod judge;
pub mod latency;
pub mod limit;
mod load;
pub mod noise;
pub mod operations;
pub mod order;
pub mod page;
mod pair;
mod ranking;
pub mod resample;
pub mod resolution;
pub mod say;
pub mod search;
pub mod sequential;
mod series;
pub mod steady;
pub mod student;
mod swarms;
pub mod throttle;
mod transactions;
pub mod trend;
pub mod whole_race;
mod words;

#[cfg(test)]
mod sample;
