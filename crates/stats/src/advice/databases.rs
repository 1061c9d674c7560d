//! What transactions must have in common to stand for one advice.

use model::oltp::Oltp;
use model::record::Record;
use model::scenario::{Scenario, Wish};
use model::workload::{Kind, Workload};

/// Whether a scenario asks for writes that survive a power cut, and these transactions may lose theirs: fast
/// for a reason that the scenario rules out, they count as not measured.
pub(super) fn may_lose(scenario: &Scenario, record: &Record, workload: &str) -> bool {
    let durable = scenario.need.iter().any(|of| of.need.any == [Wish::Durable]);
    let Some(oltp) = oltp_of(&record.header.plan.workloads, workload).filter(|_| durable) else { return false };
    // What a server that was not started for the race does, it alone can say.
    let of_workload = record.trials.iter().filter(|trial| trial.workload == workload);
    let stated =
        || of_workload.flat_map(|trial| &trial.groups).any(|group| !Oltp::unsafe_stated(&group.settings).is_empty());
    !oltp.unsafe_settings().is_empty() || stated()
}

/// A workload of the same name and server that was raced with other tables or other settings; `None`: there is
/// none.
pub(super) fn differs(a: &[Workload], b: &[Workload]) -> Option<String> {
    let other = |name: &str| oltp_of(b, name);
    a.iter().find_map(|workload| {
        let (mine, theirs) = (oltp_of(a, &workload.name)?, other(&workload.name)?);
        let same = (mine.tables, mine.table_size, mine.pool, mine.distribution)
            == (theirs.tables, theirs.table_size, theirs.pool, theirs.distribution)
            && mine.settings() == theirs.settings();
        (mine.server == theirs.server && mine.script == theirs.script && !same).then(|| workload.name.clone())
    })
}

fn oltp_of<'a>(workloads: &'a [Workload], name: &str) -> Option<&'a Oltp> {
    let workload = workloads.iter().find(|workload| workload.name == name)?;
    match &workload.kind {
        Kind::Oltp(oltp) => Some(oltp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(more: &str) -> Vec<Workload> {
        let text = format!(
            "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"oltp\"\n\
             script = \"insert\"\n{more}"
        );
        model::workload::Suite::from_toml(&text).unwrap().workload
    }

    #[test]
    fn other_tables_or_settings_are_not_taken_together_and_other_servers_are_other_work() {
        let usual = plan("");
        assert_eq!(differs(&usual, &plan("")), None);
        for other in [
            "table_size = 200",
            "tables = 2",
            "pool = \"32MiB\"",
            "distribution = \"special\"",
            "options = { synchronous = \"OFF\" }",
        ] {
            assert_eq!(differs(&usual, &plan(other)), Some("w".to_owned()), "{other}");
        }
        assert_eq!(differs(&usual, &plan("server = \"mariadb\"\ntable_size = 200")), None);
        assert_eq!(differs(&usual, &plan("threads = [7]")), None, "another group");
    }
}
