//! The system's own tools: which operation needs which, and where they are.

use model::operations::{FileSet, Method, Operation, Operations, SyncPolicy};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folders that are searched where no PATH is set at all.
const USUAL_FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin";
/// The package of most tools.
const COREUTILS: &str = "coreutils";

/// A tool that an operation may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Dd,
    Touch,
    Stat,
    Ls,
    Mv,
    Ln,
    Truncate,
    Fallocate,
    Cp,
    Setfattr,
    Getfattr,
    Sync,
    Rm,
    Mkdir,
    Rmdir,
    /// Does nothing: what starting a process costs.
    True,
}

/// Name and package of each, in the order of [`Tool`].
const TABLE: [(Tool, &str, &str); 16] = [
    (Tool::Dd, "dd", COREUTILS),
    (Tool::Touch, "touch", COREUTILS),
    (Tool::Stat, "stat", COREUTILS),
    (Tool::Ls, "ls", COREUTILS),
    (Tool::Mv, "mv", COREUTILS),
    (Tool::Ln, "ln", COREUTILS),
    (Tool::Truncate, "truncate", COREUTILS),
    (Tool::Fallocate, "fallocate", "util-linux"),
    (Tool::Cp, "cp", COREUTILS),
    (Tool::Setfattr, "setfattr", "attr"),
    (Tool::Getfattr, "getfattr", "attr"),
    (Tool::Sync, "sync", COREUTILS),
    (Tool::Rm, "rm", COREUTILS),
    (Tool::Mkdir, "mkdir", COREUTILS),
    (Tool::Rmdir, "rmdir", COREUTILS),
    (Tool::True, "true", COREUTILS),
];

impl Tool {
    /// As it is called.
    pub(super) fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// As it is called, and its package.
    pub(super) fn row(self) -> (&'static str, &'static str) {
        let (_, name, package) = TABLE[self as usize];
        (name, package)
    }
}

/// A tool that is not installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingTool {
    /// As it is called: `setfattr`.
    pub name: &'static str,
    /// What brings it, as Debian and Fedora call it.
    pub package: &'static str,
}

/// The tools that these operations need and this machine lacks, each once; none where the kernel is
/// asked in-process.
pub fn missing_tools(operations: &Operations) -> Vec<MissingTool> {
    let needed = needed(operations);
    let missing = |(tool, name, package): (Tool, &'static str, &'static str)| {
        (needed.contains(&tool) && find(name).is_none()).then_some(MissingTool { name, package })
    };
    TABLE.into_iter().filter_map(missing).collect()
}

fn needed(operations: &Operations) -> Vec<Tool> {
    let mut all = Vec::new();
    if operations.method != Method::ProcessPerOperation {
        return all;
    }
    all.push(Tool::True);
    for step in &operations.step {
        all.push(tool_for(step.operation));
        let empty = |set: &FileSet| set.size.bounds().0 == 0;
        if step.operation == Operation::Create && operations.set(&step.files).is_some_and(empty) {
            all.push(Tool::Touch);
        }
        if step.sync == SyncPolicy::Each {
            all.push(Tool::Sync);
        }
    }
    all
}

/// The tool that does an operation; of empty files `touch` creates them.
pub(super) fn tool_for(operation: Operation) -> Tool {
    match operation {
        Operation::Create
        | Operation::Write
        | Operation::Read
        | Operation::Append
        | Operation::Overwrite
        | Operation::RandomRead
        | Operation::RandomWrite
        | Operation::Open => Tool::Dd,
        Operation::Stat => Tool::Stat,
        Operation::List => Tool::Ls,
        Operation::Rename | Operation::RenameAcross => Tool::Mv,
        Operation::Link | Operation::Symlink => Tool::Ln,
        Operation::Truncate => Tool::Truncate,
        Operation::Fallocate => Tool::Fallocate,
        Operation::Reflink => Tool::Cp,
        Operation::Setxattr => Tool::Setfattr,
        Operation::Getxattr => Tool::Getfattr,
        Operation::Fsync | Operation::FsyncDirectory => Tool::Sync,
        Operation::Unlink | Operation::RemoveTree => Tool::Rm,
        Operation::Mkdir => Tool::Mkdir,
        Operation::Rmdir => Tool::Rmdir,
    }
}

/// Where each tool lies, in the order of [`Tool`]; a tool that is not there has no path.
#[derive(Debug, Clone)]
pub(super) struct Programs([Option<CString>; TABLE.len()]);

impl Programs {
    /// Looks for all of them.
    pub(super) fn find() -> Self {
        Programs(TABLE.map(|(_, name, _)| CString::new(find(name)?.as_os_str().as_bytes()).ok()))
    }

    /// Where this one lies.
    pub(super) fn path(&self, tool: Tool) -> Option<&std::ffi::CStr> {
        self.0[tool as usize].as_deref()
    }
}

/// Relative elements of PATH are left out: tools are started inside the lane.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_FOLDERS.into());
    let executable = |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| executable(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_stands_at_its_own_place_in_the_table() {
        for (index, (tool, name, _)) in TABLE.into_iter().enumerate() {
            assert_eq!(tool as usize, index);
            assert_eq!(tool.name(), name);
        }
    }
}
