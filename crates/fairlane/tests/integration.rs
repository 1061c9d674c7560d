//! The binary as its users call it, but for what needs the machine to itself.
//!
//! One program, so that it is linked once and the tests of all files wait at the same time.

mod common;
#[path = "common/home.rs"]
mod home;
#[cfg(target_arch = "x86_64")]
#[path = "common/picky_host.rs"]
mod picky_host;
#[path = "common/server.rs"]
mod server;
#[path = "common/user_mode_linux.rs"]
mod user_mode_linux;

mod abilities;
mod action;
mod advise;
mod age;
mod as_published;
mod attach;
mod call_buffer;
mod capture;
mod collect;
mod completion;
mod contention;
mod databases;
mod devices;
mod documents;
mod explain;
mod fio;
mod gate;
mod guest_cuts;
mod guest_deaths;
mod guests;
mod imports;
mod install_services;
mod io500;
mod killed;
mod languages;
mod live;
mod machines;
mod manual;
mod media;
mod memo;
mod other_distributions;
mod page;
mod powercut;
mod powercut_refusals;
mod published;
mod races;
mod ranks;
mod refusals;
mod registers;
mod replay;
mod replay_cuts;
mod reports_into_files;
mod running;
mod screening;
mod screening_goes_on;
mod serve;
mod share;
mod strangers;
mod strangers_links;
mod strangers_terminal;
mod strangers_words;
mod trend;
