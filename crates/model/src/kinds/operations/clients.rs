//! What several clients, which are ranks of an MPI job, can do in directories that they share.

use super::{FileSize, Operation, Operations, Sharing};
use crate::ranks::Clients;

impl Operations {
    /// Whether all clients work in the same directories; each makes files of its own there.
    pub fn shares_directories(&self) -> bool {
        self.sharing == Sharing::Shared
    }

    /// What is wrong with the work for clients who share directories, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the step or the set.
    pub fn check_clients(&self, clients: Clients) -> Result<(), String> {
        if clients.is_alone() || !self.shares_directories() {
            return Ok(());
        }
        let own = "set sharing = \"private\"";
        if self.loops > 1 {
            return Err(format!("loops makes all directories anew, and ranks share them; set loops = 1, or {own}"));
        }
        let alone = [Operation::Mkdir, Operation::Rmdir, Operation::RemoveTree];
        if let Some(step) = self.step.iter().find(|step| alone.contains(&step.operation)) {
            let (name, operation) = (step.group(), step.operation.name());
            return Err(format!("step {name} ({operation}) makes or removes directories that ranks share; {own}"));
        }
        for set in &self.files {
            let room = 10_u64.pow(self.digits(set).min(9));
            if set.count.checked_mul(u64::from(clients.of)).is_none_or(|all| all > room) {
                let (name, count, of) = (&set.name, set.count, clients.of);
                return Err(format!(
                    "set {name}: {count} files of each of {of} ranks are more than their names tell apart ({room}); lower \
                     count, or {own}"
                ));
            }
        }
        Ok(())
    }
}

impl FileSize {
    /// Whether all clients have files of these sizes, so that one can read those of another: sizes that are drawn differ.
    pub fn is_alike(&self) -> bool {
        matches!(self, FileSize::Fixed(_) | FileSize::Each(_))
    }
}

#[cfg(test)]
mod tests {
    use crate::ranks::Clients;
    use crate::workload::{Kind, Workload};

    fn check(more: &str, operation: &str, count: u64, of: u32) -> Result<(), String> {
        let text = format!(
            "name = \"a\"\ntitle = \"a\"\nkind = \"operations\"\n{more}\n[[files]]\nname = \"a\"\ncount = {count}\n\
             [[step]]\noperation = \"{operation}\"\nfiles = \"a\""
        );
        let workload: Workload = toml::from_str(&text).unwrap();
        let Kind::Operations(operations) = workload.kind else { panic!("{text}") };
        operations.check_clients(Clients { of, ..Clients::ALONE })
    }

    #[test]
    fn clients_share_directories_in_which_each_makes_its_own_files() {
        let shared = "sharing = \"shared\"";
        assert_eq!(check(shared, "create", 1000, 1024), Ok(()));
        for (more, operation, count, word) in [
            ("sharing = \"shared\"\nloops = 2", "create", 10, "loops makes all directories anew"),
            (shared, "mkdir", 10, "step mkdir (mkdir) makes or removes directories"),
            (shared, "remove-tree", 10, "step remove-tree"),
            (shared, "create", 1_000_000, "more than their names tell apart (1000000000)"),
        ] {
            let said = check(more, operation, count, 1024).unwrap_err();
            assert!(said.contains(word) && said.contains("sharing = \"private\""), "{said}");
            assert_eq!(check(more, operation, count, 1), Ok(()), "one alone does it");
        }
        assert_eq!(check("loops = 2", "mkdir", 1_000_000, 1024), Ok(()), "directories of their own");
    }
}
