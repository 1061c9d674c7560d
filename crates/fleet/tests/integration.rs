//! Records become rows, rows become files, and the files hold every cell.

mod common;
mod consumer;
mod files;
mod rows;
