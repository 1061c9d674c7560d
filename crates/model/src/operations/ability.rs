//! What operations ask of a filesystem that not every filesystem has.

use super::{Change, ChangeKind, Names, Operation, Operations, State};

/// Every filesystem holds files up to this size.
pub(super) const EVERY_FILE: u64 = (2 << 30) - 1;

/// What steps and sets may ask of a filesystem that not every one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Two files share blocks (FICLONE).
    Reflink,
    /// Extended attributes `user.*`.
    Attributes,
    /// A file has several names.
    Links,
    /// A name stands for another name.
    SymbolicLinks,
    /// Blocks are allocated before anything is written (fallocate).
    Allocation,
    /// A file that is lengthened without writing takes no blocks.
    Holes,
    /// Names hold any bytes but the slash and zero, up to 255 of them.
    AnyNames,
    /// Files of 2 GiB and more.
    LargeFiles,
}

impl Ability {
    /// What it is called in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Ability::Reflink => "copies that share blocks (reflink)",
            Ability::Attributes => "extended attributes",
            Ability::Links => "hard links",
            Ability::SymbolicLinks => "symbolic links",
            Ability::Allocation => "preallocation (fallocate)",
            Ability::Holes => "files with holes",
            Ability::AnyNames => "names of any bytes",
            Ability::LargeFiles => "files of 2 GiB and more",
        }
    }
}

impl Operation {
    /// What it asks of a filesystem that not every one has.
    pub fn asks_for(self) -> Option<Ability> {
        match self {
            Operation::Reflink => Some(Ability::Reflink),
            Operation::Setxattr | Operation::Getxattr => Some(Ability::Attributes),
            Operation::Link => Some(Ability::Links),
            Operation::Symlink => Some(Ability::SymbolicLinks),
            Operation::Fallocate => Some(Ability::Allocation),
            _ => None,
        }
    }
}

/// Who asks for an ability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `step copy`, `set spool`: the first that does.
    pub by: String,
    /// What it asks for.
    pub ability: Ability,
}

impl Operations {
    /// What the sets and steps ask for, each ability once.
    pub fn asks_for(&self) -> Vec<Asked> {
        let names = self.files.iter().filter(|set| set.names == Names::Hostile);
        let names = names.map(|set| Asked { by: format!("set {}", set.name), ability: Ability::AnyNames });
        let large = self.files.iter().filter(|set| self.largest_file(set) > EVERY_FILE);
        let large = large.map(|set| Asked { by: format!("set {}", set.name), ability: Ability::LargeFiles });
        let steps = self.step.iter().filter_map(|step| {
            Some(Asked { by: format!("step {}", step.group()), ability: step.operation.asks_for()? })
        });
        let mut asked: Vec<Asked> = Vec::new();
        for one in names.chain(large).chain(steps) {
            if asked.iter().all(|earlier| earlier.ability != one.ability) {
                asked.push(one);
            }
        }
        asked
    }

    /// Bytes by which steps lengthen files without writing, at most: a filesystem without holes
    /// needs as much room for them.
    pub fn hole_bytes(&self) -> u64 {
        let of = |step: &super::OperationStep| {
            let things = self.things(step);
            let size = self.set(&step.files).map_or(0, |set| set.size.bounds().0);
            let longer = step.block().0.saturating_sub(size);
            (things.end - things.start).saturating_mul(longer)
        };
        let lengthens = |step: &&super::OperationStep| step.operation == Operation::Truncate;
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

    /// Bytes of the largest file that a step of the set makes.
    pub(super) fn largest_file(&self, set: &super::FileSet) -> u64 {
        let mut changes = vec![Change { generation: 0, kind: ChangeKind::Whole }];
        let mut most = set.size.bounds().1;
        for (index, step) in self.step.iter().enumerate().filter(|(_, step)| step.files == set.name) {
            let block = step.block().0;
            let kind = match step.operation {
                Operation::Create | Operation::Write => ChangeKind::Whole,
                Operation::Append => ChangeKind::Append(block),
                Operation::Fallocate => ChangeKind::Allocate(block),
                Operation::Truncate => ChangeKind::Truncate(block),
                _ => continue,
            };
            changes.push(Change { generation: index as u32 + 1, kind });
            most = most.max(super::states::size_bounds(set, &changes).1);
        }
        most
    }
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
    fn what_is_asked_for_names_the_first_that_asks() {
        let operations = read(
            "{ name = \"a\", count = 4, populate = true }, { name = \"l\", count = 1, size = \"2GiB\" }, { name = \"h\", count = 8, names = \"hostile\", populate = true }",
            "{ operation = \"stat\", files = \"a\" }, { name = \"copy\", operation = \"reflink\", files = \"a\" }, \
             { name = \"again\", operation = \"reflink\", files = \"h\" }, { operation = \"setxattr\", files = \"a\" }, \
             { operation = \"getxattr\", files = \"a\" }",
        );
        let asked: Vec<(String, Ability)> = operations.asks_for().into_iter().map(|of| (of.by, of.ability)).collect();
        assert_eq!(
            asked,
            [
                ("set h".to_owned(), Ability::AnyNames),
                ("set l".to_owned(), Ability::LargeFiles),
                ("step copy".to_owned(), Ability::Reflink),
                ("step setxattr".to_owned(), Ability::Attributes)
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
    fn the_largest_file_is_the_one_that_all_steps_together_make() {
        let operations = read(
            "{ name = \"a\", count = 2, size = { from = \"1KiB\", to = \"4KiB\" }, populate = true }",
            "{ operation = \"append\", files = \"a\", block = \"1KiB\" }, \
             { operation = \"fallocate\", files = \"a\", block = \"2KiB\" }, \
             { operation = \"truncate\", files = \"a\", block = \"100\" }",
        );
        assert_eq!(operations.largest_file(&operations.files[0]), 7 * 1024);
    }
}
