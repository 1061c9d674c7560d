//! The process that makes the load and samples the system, over JSON lines.
