//! How much work operations are: operations, bytes, files, room.

use super::{
    ChangeKind, FileSet, FileSize, FileState, Operation, OperationStep, Operations, POOL_BYTES, SetState, State,
};
use std::ops::Range;

/// Bytes of a read or write buffer at least.
const SMALLEST_BUFFER: u64 = 4096;

/// What a step comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    /// Operations; of `write` each block is one.
    pub operations: u64,
    /// Bytes that are written.
    pub written_bytes: u64,
    /// Bytes that are read.
    pub read_bytes: u64,
}

/// What is there at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Present {
    /// Files, links and copies beside them, and directories.
    pub things: u64,
    /// Bytes that the files hold, links and copies included, as large as their sets' mean; holes left out.
    pub bytes: u64,
}

impl FileSet {
    /// Bytes of these files when they are written whole: their sum where each is listed, otherwise by
    /// their mean.
    pub fn bytes_of(&self, files: &Range<u64>) -> u64 {
        match &self.size {
            FileSize::Each(sizes) => {
                let of = |at: u64| usize::try_from(at).map_or(sizes.len(), |at| at.min(sizes.len()));
                sizes[of(files.start)..of(files.end)].iter().fold(0, |sum, size| sum.saturating_add(size.0))
            }
            size => size.mean().saturating_mul(files.end.saturating_sub(files.start)),
        }
    }

    /// Bytes of the largest of these files when it is written whole.
    fn largest_of(&self, files: &Range<u64>) -> u64 {
        match &self.size {
            FileSize::Each(sizes) => {
                let of = |at: u64| usize::try_from(at).map_or(sizes.len(), |at| at.min(sizes.len()));
                sizes[of(files.start)..of(files.end)].iter().map(|size| size.0).max().unwrap_or(0)
            }
            size => size.bounds().1,
        }
    }
}

impl OperationStep {
    /// Bytes of its largest read or write call, where the largest file of its set ever has
    /// `largest_file` bytes; 0 where it moves none.
    pub fn largest_call(&self, largest_file: u64) -> u64 {
        match self.operation {
            Operation::Create
            | Operation::Write
            | Operation::Overwrite
            | Operation::Read
            | Operation::Append
            | Operation::RandomRead
            | Operation::RandomWrite => self.block().0.min(largest_file),
            _ => 0,
        }
    }
}

impl Operations {
    /// What a step comes to, by the mean size of its files.
    pub fn amount(&self, step: &OperationStep) -> Amount {
        let things = self.things(step);
        let count = things.end.saturating_sub(things.start);
        let whole = self.set(&step.files).map_or(0, |set| set.bytes_of(&things));
        let moved = count.saturating_mul(step.block().0);
        let (operations, written_bytes, read_bytes) = match step.operation {
            Operation::Create | Operation::Overwrite => (count, whole, 0),
            // Each file has at least one, and its last block may be cut.
            Operation::Write => (count.max(whole.div_ceil(step.block().0.max(1))), whole, 0),
            Operation::Read => (count, 0, whole),
            Operation::Append | Operation::RandomWrite => (count, moved, 0),
            Operation::RandomRead => (count, 0, moved),
            _ => (count, 0, 0),
        };
        Amount { operations, written_bytes, read_bytes }
    }

    /// Operations in all steps together.
    pub fn count(&self) -> u64 {
        self.step.iter().fold(0, |sum, step| sum.saturating_add(self.amount(step).operations))
    }

    /// Bytes that all steps write, an estimate for the plan.
    pub fn bytes_to_write(&self) -> u64 {
        self.step.iter().fold(0, |sum, step| sum.saturating_add(self.amount(step).written_bytes))
    }

    /// What is read back each time that contents are checked: before steps that remove or replace
    /// what was written, and at the end. Empty where the steps are impossible.
    pub fn checked(&self) -> Vec<Present> {
        let mut state = State::begin(self);
        let mut checked = Vec::new();
        for (index, before) in self.checks().into_iter().enumerate() {
            if before {
                checked.push(self.present(&state));
            }
            if state.advance(self, index).is_err() {
                return Vec::new();
            }
        }
        checked.push(self.present(&state));
        checked
    }

    fn present(&self, state: &State) -> Present {
        let mut present = Present::default();
        for (index, set) in self.files.iter().enumerate() {
            let state = state.set(index);
            for (range, file) in state.files.all().iter().filter(|(_, file)| file.present) {
                let written = 1 + u64::from(file.link.is_some()) + u64::from(file.copy.is_some());
                let count = range.end - range.start;
                present.things += count * (written + u64::from(file.symlink.is_some()));
                present.bytes = present.bytes.saturating_add(grown_bytes(set, range, file).saturating_mul(written));
            }
            let there = state.directories.all().iter().filter(|(_, directory)| directory.present);
            present.things += there.map(|(range, _)| range.end - range.start).sum::<u64>();
        }
        present
    }

    /// The largest number of bytes that the sets keep on the lane, an inode and a directory entry
    /// beside each file's blocks.
    pub fn working_set_bytes(&self) -> u64 {
        let of = |set: &FileSet| {
            let blocks = set.size.mean().next_multiple_of(4096) + 1024;
            set.count.saturating_mul(blocks).saturating_add(set.directories.saturating_mul(8192))
        };
        // Copies and what is allocated ahead come on top of the sets.
        let beside = |step: &OperationStep| {
            let things = self.things(step);
            let count = things.end.saturating_sub(things.start);
            match step.operation {
                Operation::Append | Operation::Fallocate => count.saturating_mul(step.block().0.next_multiple_of(4096)),
                _ => 0,
            }
        };
        self.files.iter().map(of).chain(self.step.iter().map(beside)).fold(0, u64::saturating_add)
    }

    /// Bytes by which steps lengthen files without writing, at most: a filesystem without holes
    /// needs as much room for them.
    pub fn hole_bytes(&self) -> u64 {
        let of = |step: &OperationStep| {
            let things = self.things(step);
            let size = self.set(&step.files).map_or(0, |set| set.size.bounds().0);
            let longer = step.block().0.saturating_sub(size);
            (things.end - things.start).saturating_mul(longer)
        };
        let lengthens = |step: &&OperationStep| step.operation == Operation::Truncate;
        self.step.iter().filter(lengthens).map(of).fold(0, u64::saturating_add)
    }

    /// The largest number of files, directories, symbolic links and copies that are there at the
    /// same time, the folders of the sets included. 0 where the steps are impossible.
    pub fn most_inodes(&self) -> u64 {
        let mut state = State::begin(self);
        let mut most = self.inodes_in(&state);
        for index in 0..self.step.len() {
            if state.advance(self, index).is_err() {
                return 0;
            }
            most = most.max(self.inodes_in(&state));
        }
        most
    }

    fn inodes_in(&self, state: &State) -> u64 {
        let of = |set: usize| {
            let state = state.set(set);
            let files = state.files.all().iter().map(|(range, file)| {
                let beside = u64::from(file.symlink.is_some()) + u64::from(file.copy.is_some());
                (range.end - range.start) * (u64::from(file.present) + beside)
            });
            let directories = state.directories.all().iter().filter(|(_, directory)| directory.present);
            let directories = directories.map(|(range, _)| range.end - range.start);
            files.chain(directories).fold(0, u64::saturating_add)
        };
        let all = (0..self.files.len()).map(of).fold(0, u64::saturating_add);
        all.saturating_add(self.files.len() as u64 + 1)
    }

    /// Bytes of the largest file that each set ever has, in the order of the sets; 0: it has none. Only
    /// the steps before an impossible one count.
    pub fn largest_files(&self) -> Vec<u64> {
        let mut state = State::begin(self);
        let largest = |state: &State, set: usize| largest_in(&self.files[set], state.set(set));
        let mut most: Vec<u64> = (0..self.files.len()).map(|set| largest(&state, set)).collect();
        for (index, step) in self.step.iter().enumerate() {
            if state.advance(self, index).is_err() {
                break;
            }
            if let Some(set) = self.files.iter().position(|set| set.name == step.files) {
                most[set] = most[set].max(largest(&state, set));
            }
        }
        most
    }

    /// Bytes that all threads together hold in buffers, at most, and the step with the largest call.
    pub(super) fn buffers(&self) -> (u64, Option<(&OperationStep, u64)>) {
        let largest = self.largest_files();
        let call = |step: &OperationStep| {
            let set = self.files.iter().position(|set| set.name == step.files);
            step.largest_call(set.map_or(0, |set| largest[set]))
        };
        let calls = || self.step.iter().map(|step| (step, call(step)));
        let reads = |step: &OperationStep| matches!(step.operation, Operation::Read | Operation::RandomRead);
        let most = calls().max_by_key(|(_, bytes)| *bytes);
        // What is written is made beside the pool; what is read has a room of its own.
        let made = most.map_or(0, |(_, bytes)| bytes).max(SMALLEST_BUFFER);
        let room = calls().filter(|(step, _)| reads(step)).map(|(_, bytes)| bytes.max(SMALLEST_BUFFER)).max();
        (u64::from(self.threads).saturating_mul(POOL_BYTES + made + room.unwrap_or(0)), most)
    }
}

/// Bytes of the largest file that is there.
fn largest_in(set: &FileSet, state: &SetState) -> u64 {
    let of = |(range, file): &(Range<u64>, FileState)| {
        let whole = set.largest_of(range);
        file.changes.iter().fold(0, |size, change| super::size_after(size, whole, change.kind))
    };
    state.files.all().iter().filter(|(_, file)| file.present).map(of).max().unwrap_or(0)
}

/// Bytes that files hold after their changes, zeros that nothing wrote left out.
fn grown_bytes(set: &FileSet, range: &Range<u64>, file: &FileState) -> u64 {
    let count = range.end - range.start;
    file.changes.iter().fold(0, |bytes: u64, change| match change.kind {
        ChangeKind::Whole => set.bytes_of(range),
        ChangeKind::Append(more) => bytes.saturating_add(more.saturating_mul(count)),
        ChangeKind::Truncate(size) => bytes.min(size.saturating_mul(count)),
        ChangeKind::Over | ChangeKind::Random | ChangeKind::Allocate(_) => bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sets: &str, steps: &str) -> Operations {
        let operations: Operations = toml::from_str(&format!("files = [{sets}]\nstep = [{steps}]")).unwrap();
        operations.check().unwrap();
        operations
    }

    #[test]
    fn steps_come_to_their_operations_and_bytes() {
        let operations = read(
            "{ name = \"a\", count = 2, size = [\"1MiB\", \"10MiB\"] }, { name = \"e\", count = 5 }",
            "{ operation = \"create\", files = \"a\", count = 1 }, \
             { operation = \"write\", files = \"a\", first = 1, block = \"4KiB\" }, \
             { operation = \"random-read\", files = \"a\", count = 30, block = \"4KiB\" }, \
             { operation = \"append\", files = \"a\", block = \"1KiB\" }, \
             { operation = \"write\", name = \"empty\", files = \"e\" }, { operation = \"stat\", files = \"e\" }",
        );
        let amounts: Vec<(u64, u64, u64)> = operations
            .step
            .iter()
            .map(|step| operations.amount(step))
            .map(|of| (of.operations, of.written_bytes, of.read_bytes))
            .collect();
        let mib = 1 << 20;
        assert_eq!(amounts, [(1, mib, 0), (2560, 10 * mib, 0), (30, 0, 30 * 4096), (2, 2048, 0), (5, 0, 0), (5, 0, 0)]);
        assert_eq!((operations.count(), operations.bytes_to_write()), (2603, 11 * mib + 2048));
    }

    #[test]
    fn what_is_checked_is_what_is_there_before_it_goes() {
        let operations = read(
            "{ name = \"a\", count = 10, size = \"1MiB\", directories = 2 }, { name = \"d\", directories = 3 }",
            "{ operation = \"create\", files = \"a\" }, { operation = \"link\", files = \"a\", count = 4 }, \
             { operation = \"symlink\", files = \"a\", count = 1 }, \
             { operation = \"truncate\", files = \"a\", block = \"1TiB\", first = 9 }, \
             { operation = \"unlink\", files = \"a\" }, { operation = \"mkdir\", files = \"d\" }",
        );
        let mib = 1 << 20;
        assert_eq!(
            operations.checked(),
            [
                // Before the truncate and before the unlink: ten files, four links, a symbolic link.
                Present { things: 15 + 2, bytes: 14 * mib },
                Present { things: 15 + 2, bytes: 14 * mib },
                Present { things: 2 + 3, bytes: 0 },
            ]
        );
    }

    #[test]
    fn holes_count_by_how_much_files_grow() {
        let operations = read(
            "{ name = \"a\", count = 10, size = \"1KiB\", populate = true }",
            "{ operation = \"truncate\", files = \"a\", block = \"3KiB\" }, \
             { name = \"shorter\", operation = \"truncate\", files = \"a\", block = \"0\" }",
        );
        assert_eq!(operations.hole_bytes(), 10 * 2048);
    }

    #[test]
    fn inodes_are_counted_when_most_things_are_there() {
        let operations = read(
            "{ name = \"a\", count = 100, directories = 10 }, { name = \"d\", directories = 5 }",
            "{ operation = \"create\", files = \"a\" }, { operation = \"link\", files = \"a\" }, \
             { operation = \"symlink\", files = \"a\", count = 30 }, { operation = \"reflink\", files = \"a\", count = 7 }, \
             { operation = \"unlink\", files = \"a\" }, { operation = \"mkdir\", files = \"d\" }",
        );
        // A hard link is no inode, and the five directories come when the files are gone.
        assert_eq!(operations.most_inodes(), 100 + 30 + 7 + 10 + 2 + 1);
    }

    #[test]
    fn the_largest_file_is_the_largest_that_is_there_at_any_moment() {
        let largest = |set: &str, steps: &str| read(set, steps).largest_files();
        let grown = largest(
            "{ name = \"a\", count = 2, size = { from = \"1KiB\", to = \"4KiB\" }, populate = true }",
            "{ operation = \"append\", files = \"a\", block = \"1KiB\" }, \
             { operation = \"fallocate\", files = \"a\", block = \"2KiB\" }, \
             { operation = \"truncate\", files = \"a\", block = \"100\" }",
        );
        assert_eq!(grown, [7 * 1024]);
        // Each file is appended to once, although the set is five times.
        let each: Vec<String> = (0..5)
            .map(|at| {
                format!(
                    "{{ name = \"s{at}\", operation = \"fallocate\", files = \"a\", block = \"1GiB\", first = {at}, count = 1 }}"
                )
            })
            .collect();
        let disjoint = read("{ name = \"a\", count = 5, populate = true }", &each.join(", "));
        assert_eq!(disjoint.largest_files(), [1 << 30]);
        assert!(disjoint.asks_for().iter().all(|asked| asked.ability != crate::operations::Ability::LargeFiles));
        // A set's size is that of no file where none is ever made; of a list only those count that are.
        let none =
            largest("{ name = \"d\", directories = 50, size = \"4GiB\" }", "{ operation = \"mkdir\", files = \"d\" }");
        assert_eq!(none, [0]);
        let first = largest(
            "{ name = \"a\", count = 2, size = [\"1MiB\", \"3GiB\"] }",
            "{ operation = \"create\", files = \"a\", count = 1 }",
        );
        assert_eq!(first, [1 << 20]);
    }

    #[test]
    fn sums_of_the_largest_sets_stop_at_the_end_and_do_not_begin_again() {
        let set = |name: &str| format!("{{ name = \"{name}\", count = 100000000, size = \"512GiB\" }}");
        let both = read(
            &[set("a"), set("b")].join(", "),
            "{ operation = \"create\", files = \"a\" }, { operation = \"fallocate\", files = \"a\", block = \"512GiB\" }, \
             { name = \"b\", operation = \"create\", files = \"b\" }, \
             { name = \"c\", operation = \"fallocate\", files = \"b\", block = \"512GiB\" }",
        );
        assert_eq!(both.working_set_bytes(), u64::MAX);
    }

    #[test]
    fn buffers_are_as_large_as_the_largest_call_and_no_larger_than_the_largest_file() {
        let of = |set: &str, steps: &str| {
            let operations = read(&format!("{{ name = \"a\", count = 8, {set} }}"), steps);
            let (bytes, most) = operations.buffers();
            (bytes, most.map(|(step, bytes)| (step.group().to_owned(), bytes)))
        };
        let create = r#"{ operation = "create", files = "a", block = "64MiB" }"#;
        let read = r#"{ operation = "read", files = "a", block = "64MiB" }"#;
        let both = format!("{create}, {read}");
        let mib = 1 << 20;
        assert_eq!(of(r#"size = "1GiB""#, create), (65 * mib, Some(("create".to_owned(), 64 * mib))));
        assert_eq!(of(r#"size = "1GiB""#, &both).0, 129 * mib);
        assert_eq!(of(r#"size = "1KiB""#, &both).0, mib + 2 * 4096);
        let grown = format!(r#"{create}, {{ operation = "append", files = "a", block = "2MiB" }}, {read}"#);
        assert_eq!(of(r#"size = "1KiB""#, &grown).0, mib + 2 * (2 * mib + 1024));
    }
}
