//! Findings in every format.
//!
//! One program, so that it is linked once and the tests of all files wait at the same time.

mod common;

mod appenders;
mod durability;
mod explanations;
mod fio_consumer;
mod fio_json;
mod golden;
mod guests;
mod hostile;
mod html;
mod io500;
mod junit;
mod ladder;
mod level;
mod published;
mod ranks;
mod schema;
mod screen;
mod screening;
mod screening_ends;
mod transactions;
