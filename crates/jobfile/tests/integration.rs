//! Job files as their users write them.
//!
//! One program, so that it is linked once and the tests of all files wait at the same time.

mod common;

mod bounds;
mod examples;
mod files;
mod for_fio;
mod for_fio_bounds;
mod rules;
mod syntax;
