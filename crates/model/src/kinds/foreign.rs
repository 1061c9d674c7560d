//! Work that another tool did, of which only figures are known.

use super::{Schedule, WorkloadKind};
use crate::workload::{Kind, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The venue of a lane that another tool measured.
pub const VENUE: &str = "foreign";

/// Work that another tool did. It is in records that were imported, and nobody can race it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// The format that its figures were read from: `fio JSON`.
    pub format: String,
    /// What the file says of how it was done; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// Kinds of operations that it has figures of, in the file's order.
    pub groups: Vec<String>,
}

/// Most kinds of operations of one test.
const MOST_GROUPS: usize = 1000;
/// How the key of a metric begins that no other work has, and of which more is better; its unit follows.
const MORE_OF: &str = "more_of:";
/// The same where less is better.
const LESS_OF: &str = "less_of:";

/// The key of a metric that no other work has, in a unit that the tool has named.
pub fn metric(unit: &str, higher_is_better: bool) -> String {
    format!("{}{unit}", if higher_is_better { MORE_OF } else { LESS_OF })
}

/// Unit of such a metric and whether more is better, by its key; `None`: it is none.
pub fn unit_of(metric: &str) -> Option<(&str, bool)> {
    let more = metric.strip_prefix(MORE_OF).map(|unit| (unit, true));
    more.or_else(|| metric.strip_prefix(LESS_OF).map(|unit| (unit, false)))
}

/// The formats from which figures of this work were read, each once; empty: all of it was raced.
pub fn formats(workloads: &[Workload]) -> Vec<String> {
    let mut formats: Vec<String> = Vec::new();
    for workload in workloads {
        if let Kind::Foreign(Foreign { format, .. }) = &workload.kind
            && !formats.contains(format)
        {
            formats.push(format.clone());
        }
    }
    formats
}

impl WorkloadKind for Foreign {
    fn groups(&self) -> Vec<String> {
        self.groups.clone()
    }

    fn check(&self) -> Result<(), String> {
        let once = |(at, group): (usize, &String)| !self.groups[..at].contains(group);
        match () {
            () if self.groups.is_empty() => Err("groups is empty: such work has no figures".to_owned()),
            () if self.groups.len() > MOST_GROUPS => Err(format!("groups has more than {MOST_GROUPS} words")),
            () if !self.groups.iter().enumerate().all(once) => Err("groups has a word twice".to_owned()),
            () => Ok(()),
        }
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Whole { reads_back: false }
    }

    fn working_set_bytes(&self) -> u64 {
        0
    }

    // How it was paced, and what bounds it, is not known: nothing of this machine is its ceiling.
    fn is_paced(&self) -> bool {
        true
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn flushes(&self) -> bool {
        false
    }

    fn bare_counterparts(&self) -> Vec<(crate::record::Profile, super::Io)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_of_its_own_and_its_direction_stand_in_the_key() {
        assert_eq!(unit_of(&metric("Frames Per Second", true)), Some(("Frames Per Second", true)));
        assert_eq!(unit_of(&metric("Joules", false)), Some(("Joules", false)));
        assert_eq!(unit_of("operations_per_second"), None);
    }

    #[test]
    fn groups_are_there_and_each_is_one() {
        let of = |groups: &[&str]| Foreign {
            format: "fio JSON".to_owned(),
            parameters: String::new(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
        };
        assert_eq!(of(&["read", "write"]).check(), Ok(()));
        assert!(of(&[]).check().is_err() && of(&["read", "read"]).check().is_err());
        assert!(of(&[]).working_set_bytes() == 0);
    }

    #[test]
    fn each_format_of_imported_work_is_named_once() {
        let work = |format: &str| Workload {
            name: format.to_owned(),
            title: format.to_owned(),
            kind: Kind::Foreign(Foreign {
                format: format.to_owned(),
                parameters: String::new(),
                groups: vec!["read".to_owned()],
            }),
        };
        assert_eq!(formats(&[work("fio JSON"), work("IOR JSON"), work("fio JSON")]), ["fio JSON", "IOR JSON"]);
        assert!(formats(&[]).is_empty());
    }
}
