//! Why a life cannot be lived.

use rustix::io::Errno;

/// What went wrong; each is one sentence with its remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgingError {
    /// A profile is wrong.
    #[error("profile {name}: {mistake}")]
    Profile {
        /// How it was named.
        name: String,
        /// The line, what is wrong there, and the remedy.
        mistake: String,
    },
    /// A life asks for what cannot be.
    #[error("{0}")]
    Life(String),
    /// The system refused something for another reason than space.
    #[error("{path}: cannot {act}: {errno}; {remedy}")]
    System {
        /// Where, below the folder of the life, as it may be shown.
        path: String,
        /// What was tried.
        act: &'static str,
        /// What the system answered.
        errno: Errno,
        /// What to do.
        remedy: &'static str,
    },
    /// The folder holds another life, or none.
    #[error("{0}")]
    Another(String),
}

impl AgingError {
    /// An error of the system, with the remedy that its number calls for.
    pub fn system(act: &'static str, path: impl Into<String>, errno: Errno) -> Self {
        let remedy = match errno {
            Errno::ACCESS | Errno::PERM => "name a folder that you may write in",
            Errno::ROFS => "mount the filesystem for writing",
            Errno::IO => "the disk or the filesystem fails: look at the kernel's log (dmesg)",
            Errno::NOENT | Errno::EXIST | Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::XDEV => {
                "something else changes this folder: leave it alone, and begin again to have it repaired"
            }
            Errno::MFILE | Errno::NFILE => "allow more open files (ulimit -n)",
            Errno::FBIG => "allow larger files (ulimit -f)",
            _ => "begin again to go on from the last cycle",
        };
        AgingError::System { path: path.into(), act, errno, remedy }
    }
}
