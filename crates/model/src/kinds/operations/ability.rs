//! What operations ask of a filesystem that not every filesystem has.

use super::{Names, Operation, Operations};

/// Every filesystem holds files up to this size.
pub(super) const EVERY_FILE: u64 = (2 << 30) - 1;

/// What work may ask of a filesystem that not every one has.
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
    /// Each file has an owner of its own.
    Owners,
    /// An overlay may be laid on folders of it, the one that is written to among them.
    Overlays,
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
            Ability::Owners => "owners of files",
            Ability::Overlays => "support for overlay mounts",
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
        let large = self.files.iter().zip(self.largest_files()).filter(|(_, bytes)| *bytes > EVERY_FILE);
        let large = large.map(|(set, _)| Asked { by: format!("set {}", set.name), ability: Ability::LargeFiles });
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
            "{ name = \"a\", count = 4, populate = true }, { name = \"l\", count = 1, size = \"2GiB\", populate = true }, { name = \"d\", directories = 5, size = \"4GiB\" }, { name = \"h\", count = 8, names = \"hostile\", populate = true }",
            "{ operation = \"stat\", files = \"a\" }, { name = \"copy\", operation = \"reflink\", files = \"a\" }, \
             { name = \"again\", operation = \"reflink\", files = \"h\" }, { operation = \"setxattr\", files = \"a\" }, \
             { operation = \"getxattr\", files = \"a\" }, { operation = \"mkdir\", files = \"d\" }",
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
}
