//! Everything that a workload asks of a filesystem, once and small: what a lane cannot do shows
//! before the race.

use super::ability::EVERY_FILE;
use super::{FileSet, FileSize, Names, Operation, OperationStep, Operations, Sharing, SyncPolicy};
use crate::Bytes;

/// Bytes of a file of a rehearsal at most, and of one call.
const SMALL: u64 = 8192;
/// Files and directories of a set with hostile names: one for each way in which they are hostile.
const HOSTILE_FILES: u64 = 8;
/// Files of any other set: random operations go from one to the next.
const FILES: u64 = 2;

/// In which order operations are possible on files that the first of them makes.
const ORDER: [Operation; 25] = [
    Operation::Mkdir,
    Operation::Create,
    Operation::Write,
    Operation::Overwrite,
    Operation::Append,
    Operation::RandomWrite,
    Operation::Read,
    Operation::RandomRead,
    Operation::Stat,
    Operation::Open,
    Operation::Fsync,
    Operation::Setxattr,
    Operation::Getxattr,
    Operation::Fallocate,
    Operation::Link,
    Operation::Symlink,
    Operation::Reflink,
    Operation::Rename,
    Operation::RenameAcross,
    Operation::List,
    Operation::FsyncDirectory,
    Operation::Truncate,
    Operation::Unlink,
    Operation::Rmdir,
    Operation::RemoveTree,
];

/// A workload's operations done once on a few small files.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// The work: each operation of each set once.
    pub operations: Operations,
    /// Of each step of it what asks for it: `step copy (reflink)`, `set logs (files of 3GiB)`.
    pub asked_by: Vec<String>,
}

impl Operations {
    /// Each operation of each set once, on a few files as small as the operations allow; only files
    /// are truncated to their whole size, which writes nothing. It passes [`Operations::check`] where
    /// the operations do.
    pub fn rehearsal(&self) -> Rehearsal {
        let mut rehearsal = Rehearsal {
            operations: Operations {
                method: self.method,
                threads: 1,
                sharing: Sharing::Private,
                loops: 1,
                data: self.data.clone(),
                files: self.files.iter().map(|set| self.small(set)).collect(),
                step: Vec::new(),
            },
            asked_by: Vec::new(),
        };
        for (set, largest) in self.files.iter().zip(self.largest_files()) {
            self.rehearse(set, largest, &mut rehearsal);
        }
        rehearsal
    }

    fn steps_on<'a>(&'a self, set: &'a FileSet) -> impl Iterator<Item = &'a OperationStep> {
        self.step.iter().filter(|step| step.files == set.name)
    }

    fn small(&self, set: &FileSet) -> FileSet {
        let most = if set.names == Names::Hostile { HOSTILE_FILES } else { FILES };
        let random = |step: &OperationStep| matches!(step.operation, Operation::RandomRead | Operation::RandomWrite);
        let size = if self.steps_on(set).any(random) { SMALL } else { set.size.bounds().1.min(SMALL) };
        FileSet {
            count: set.count.min(most),
            size: FileSize::Fixed(Bytes(size)),
            directories: set.directories.min(most),
            fan_out: 0,
            populate: false,
            ..set.clone()
        }
    }

    /// `largest`: bytes of the largest file that the set ever has; 0: it has none.
    fn rehearse(&self, set: &FileSet, largest: u64, rehearsal: &mut Rehearsal) {
        let first = |operation: Operation| self.steps_on(set).find(|step| step.operation == operation);
        let makes = first(Operation::Create).is_some() || first(Operation::Write).is_some();
        let removed = first(Operation::Rmdir).is_some();
        for operation in ORDER {
            let step = match (operation, first(operation)) {
                // Nothing is left of the directories.
                (Operation::RemoveTree, _) if removed => continue,
                (_, Some(step)) => step.clone(),
                (Operation::Create, None) if set.populate && set.count > 0 && !makes => own(set, operation),
                (Operation::Truncate, None) if largest > EVERY_FILE => own(set, operation),
                // An empty directory alone is removed.
                (Operation::Unlink, None) if removed && set.count > 0 && (makes || set.populate) => own(set, operation),
                _ => continue,
            };
            let mut step = step;
            let largest_of_all = operation == Operation::Truncate && largest > EVERY_FILE.max(step.block().0);
            if largest_of_all {
                step.block = Some(Bytes(largest));
            }
            rehearsal.asked_by.push(match (largest_of_all, step.name == operation.name() || step.name.is_empty()) {
                (true, _) => format!("set {} (files of {})", set.name, Bytes(largest)),
                (false, true) => format!("step {}", operation.name()),
                (false, false) => format!("step {} ({})", step.name, operation.name()),
            });
            rehearsal.operations.step.push(self.small_step(step, rehearsal.operations.step.len()));
        }
    }

    /// The step on all files of the small set, and nothing but the operation in it.
    fn small_step(&self, step: OperationStep, number: usize) -> OperationStep {
        let random = matches!(step.operation, Operation::RandomRead | Operation::RandomWrite);
        let block = match step.operation {
            Operation::Truncate => step.block,
            _ => step.block.map(|block| Bytes(block.0.min(SMALL))),
        };
        let each = self.step.iter().any(|other| {
            other.operation == step.operation && other.files == step.files && other.sync == SyncPolicy::Each
        });
        OperationStep {
            name: format!("rehearsal {number}"),
            first: 0,
            count: random.then_some(FILES),
            block,
            sync: if each { SyncPolicy::Each } else { SyncPolicy::None },
            cold: false,
            ..step
        }
    }
}

/// A step that the workload has not, but needs to come so far.
fn own(set: &FileSet, operation: Operation) -> OperationStep {
    OperationStep {
        name: String::new(),
        section: String::new(),
        operation,
        files: set.name.clone(),
        first: 0,
        count: None,
        block: None,
        sync: SyncPolicy::None,
        cold: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::{Change, ChangeKind};

    fn read(text: &str) -> Operations {
        let operations: Operations = toml::from_str(text).unwrap();
        operations.check().unwrap();
        operations
    }

    fn rehearsed(operations: &Operations) -> Vec<Operation> {
        let rehearsal = operations.rehearsal();
        rehearsal.operations.check().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rehearsal.asked_by.len(), rehearsal.operations.step.len());
        rehearsal.operations.step.iter().map(|step| step.operation).collect()
    }

    #[test]
    fn every_operation_of_every_set_is_rehearsed_once() {
        let all = read(
            r#"
            threads = 4
            loops = 3
            files = [
                { name = "a", count = 1000, directories = 10, size = "64KiB", fan_out = 2 },
                { name = "h", count = 100, directories = 20, names = "hostile", populate = true },
                { name = "d", directories = 50 },
            ]
            step = [
                { operation = "create", files = "a", first = 500 },
                { operation = "create", name = "more", files = "a", count = 500 },
                { operation = "random-write", files = "a", count = 5000, block = "4KiB", sync = "each" },
                { operation = "append", files = "a", block = "1MiB" },
                { operation = "read", files = "a", cold = true },
                { operation = "setxattr", files = "a", first = 7 },
                { operation = "getxattr", files = "a", first = 8 },
                { operation = "unlink", files = "a" },
                { operation = "rename-across", files = "h" },
                { operation = "mkdir", files = "d" },
                { operation = "rmdir", files = "d" },
            ]
            "#,
        );
        assert_eq!(
            rehearsed(&all),
            [
                Operation::Create,
                Operation::Append,
                Operation::RandomWrite,
                Operation::Read,
                Operation::Setxattr,
                Operation::Getxattr,
                Operation::Unlink,
                Operation::Create,
                Operation::RenameAcross,
                Operation::Mkdir,
                Operation::Rmdir,
            ]
        );
        let rehearsal = all.rehearsal();
        assert!(rehearsal.operations.count() <= 8 * rehearsal.operations.step.len() as u64);
        assert!(rehearsal.operations.working_set_bytes() < 1 << 20);
        assert_eq!(rehearsal.operations.files[1].count, 8, "every kind of hostile name");
        assert_eq!(rehearsal.asked_by[0], "step create");
        assert_eq!(rehearsal.asked_by[2], "step random-write");
        assert_eq!(rehearsal.operations.step[2].sync, SyncPolicy::Each);
    }

    #[test]
    fn files_and_directories_come_and_go_in_any_order() {
        for steps in [
            // Directories that are removed first, while the set's files come from nowhere else.
            r#"{ operation = "unlink", files = "a" }, { operation = "rmdir", files = "a" }"#,
            r#"{ operation = "remove-tree", files = "a" }"#,
            r#"{ operation = "unlink", files = "a" }, { operation = "rmdir", files = "a" },
               { operation = "mkdir", files = "a" }, { operation = "create", files = "a" },
               { operation = "remove-tree", files = "a" }"#,
            r#"{ operation = "stat", files = "a" }, { operation = "write", files = "a" }"#,
        ] {
            let set = r#"{ name = "a", count = 40, directories = 4, populate = true }"#;
            let operations = read(&format!("files = [{set}]\nstep = [{steps}]"));
            assert!(!rehearsed(&operations).is_empty(), "{steps}");
        }
        let shared = read(
            r#"files = [{ name = "a", count = 3, folder = "f" }, { name = "b", count = 3, size = "1GiB", folder = "f" }]
               step = [{ operation = "create", files = "a" }, { operation = "create", name = "two", files = "b" },
                       { operation = "list", files = "a" }]"#,
        );
        assert_eq!(rehearsed(&shared), [Operation::Create, Operation::List, Operation::Create]);
        assert_eq!(shared.rehearsal().asked_by[2], "step two (create)");
    }

    #[test]
    fn large_files_are_tried_by_their_size_alone() {
        let with = |steps: &str| {
            read(&format!(
                "files = [{{ name = \"a\", count = 2, size = \"1GiB\", populate = true }}]\nstep = [{steps}]"
            ))
        };
        let grown = with(
            r#"{ operation = "append", name = "p", files = "a", block = "64MiB" },
               { operation = "fallocate", files = "a", block = "5GiB" }"#,
        );
        assert_eq!(rehearsed(&grown).last(), Some(&Operation::Truncate));
        let rehearsal = grown.rehearsal();
        assert_eq!(rehearsal.asked_by.last().unwrap(), "set a (files of 6208MiB)");
        assert!(rehearsal.operations.working_set_bytes() < 1 << 20, "only the truncate knows the size");
        let truncate = with(r#"{ operation = "truncate", name = "t", files = "a", block = "9GiB" }"#).rehearsal();
        assert_eq!(truncate.asked_by.last().unwrap(), "step t (truncate)");
        let size = crate::operations::states::size_bounds(
            &truncate.operations.files[0],
            &[Change { generation: 1, kind: ChangeKind::Truncate(truncate.operations.step[1].block().0) }],
        );
        assert_eq!(size.1, 9 << 30);
        let directories = read(
            r#"files = [{ name = "d", directories = 50, size = "4GiB" }, { name = "n", count = 3, size = "4GiB" }]
               step = [{ operation = "mkdir", files = "d" }, { operation = "rmdir", files = "d" },
                       { operation = "list", files = "n" }]"#,
        );
        assert_eq!(
            rehearsed(&directories),
            [Operation::Mkdir, Operation::Rmdir, Operation::List],
            "no file is there that could be truncated"
        );
        let small = with(r#"{ operation = "append", files = "a", block = "64MiB" }"#);
        assert_eq!(rehearsed(&small), [Operation::Create, Operation::Append], "such files are everywhere");
    }
}
