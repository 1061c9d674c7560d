//! Operations on files, step after step: the kernel's, a library's, or a process for each.

pub(crate) mod backend;
pub(crate) mod contents;
pub(crate) mod in_process;
pub(crate) mod kernel;
pub(crate) mod names;
mod plan;
mod populate;
pub(crate) mod process;
pub(crate) mod rsext4;
mod run;
mod verify;
mod work;

pub use process::{MissingTool, missing_tools};
pub use work::OperationsWork;
