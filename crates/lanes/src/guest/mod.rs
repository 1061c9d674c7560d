//! Guests: small machines with a kernel of their own, in which lanes are mounted without root.
//!
//! [`Guest`] is a running one, seen from the host; [`init`] and [`worker`] are this program inside of it. Disks
//! are images that the host formats; the guest mounts them when it is asked to.

mod channel;
mod clocks;
mod cpio;
mod elf;
mod errand;
mod host;
mod image;
pub mod init;
mod initramfs;
pub mod keeper;
pub mod kernel;
pub mod kvm;
mod life;
pub mod machine;
pub mod modules;
pub(crate) mod orphans;
mod panic_log;
pub mod protocol;
mod system;
pub mod uml;
pub mod worker;

pub use clocks::Clocks;
pub(crate) use host::ANSWER_PATIENCE;
pub use host::{AgentLink, Begun, Boot, Guest, check_room_for_uml};
pub use initramfs::CarriedTrace;
pub use kernel::{GuestKind, Kernel, has_image};
pub use machine::Machine;
