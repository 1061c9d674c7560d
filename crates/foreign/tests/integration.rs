//! Files of other tools, read.
//!
//! One program, so that it is linked once.

mod common;

mod bonnie;
mod fio;
mod fs_benchmark;
mod hostile;
mod io500;
mod ior;
mod mmtests;
mod phoronix;
mod sysbench;
