//! Pure statistics: order, estimates, sequential looks, verdicts, limits, advice.
//!
//! Everything here is a function of recorded figures: no clock, no file, no device. The conductor
//! asks for the next order ([`order`]), whether a trial was disturbed ([`noise`]) and how far a
//! workload is from its verdict ([`judge`]); reports render [`judge::findings`] and compute nothing.

mod acts;
pub mod advice;
pub mod answer;
mod appenders;
mod buffered;
mod bursts;
pub mod calibrate;
pub mod comparable;
mod comparable_lane;
pub mod compare;
pub mod compare_published;
pub mod conclude;
pub mod correlation;
mod decide;
pub mod disk;
pub mod durability;
pub mod estimate;
mod evidence;
mod exact;
pub mod explain;
mod failed;
pub mod forecast;
pub mod gate;
mod ground;
mod guarantees;
mod header_warnings;
mod impossible;
pub mod io500;
pub mod judge;
mod ladder;
pub mod latency;
mod layer_costs;
pub mod level;
pub mod limit;
mod load;
mod marks;
mod more_rounds;
mod node_clocks;
pub mod noise;
pub mod operations;
pub mod order;
pub mod page;
mod pair;
mod past;
mod ranking;
mod ranks;
mod recorded;
pub mod resample;
pub mod resolution;
mod row_mean;
pub mod said;
pub mod screening;
pub mod search;
pub mod sequential;
mod series;
mod servers;
pub mod stalls;
pub mod statements;
pub mod steady;
pub mod student;
pub mod throttle;
pub mod timeline;
mod transactions;
pub mod trend;
pub mod whole_race;
mod words;

#[cfg(test)]
mod sample;
