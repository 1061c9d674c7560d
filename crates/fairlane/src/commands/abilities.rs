//! Steps that a lane is known not to be able to do are refused before anything is made.

use crate::failure::Failure;
use lanes::{Lack, LaneSet};
use model::operations::{Ability, Asked};
use model::plan::Plan;
use model::programs::BY_PROGRAMS;
use model::workload::Workload;

/// Asks of every lane what the plan's operations on files need and its filesystem lacks.
///
/// # Errors
/// Names the workload, the step and the lanes, with the remedy.
pub fn check(plan: &Plan, lane_set: &LaneSet) -> Result<(), Failure> {
    let lanes: Vec<(String, Vec<Lack>)> =
        lane_set.lanes().into_iter().enumerate().map(|(index, lane)| (lane.name, lane_set.lacks(index))).collect();
    let refused = plan.workloads.iter().find_map(|workload| refusal(workload, &lanes));
    refused.map_or(Ok(()), |what| Err(Failure::usage(what)))
}

fn refusal(workload: &Workload, lanes: &[(String, Vec<Lack>)]) -> Option<String> {
    workload.traits().asks_for().into_iter().find_map(|asked| {
        let lacks = |(name, lacks): &'_ (String, Vec<Lack>)| {
            let lack = lacks.iter().find(|lack| lack.ability == asked.ability)?;
            Some((name.clone(), lack.remedy))
        };
        let without: Vec<(String, Option<&str>)> = lanes.iter().filter_map(lacks).collect();
        (!without.is_empty()).then(|| sentence(&workload.name, &asked, &without))
    })
}

fn sentence(workload: &str, asked: &Asked, without: &[(String, Option<&str>)]) -> String {
    let names: Vec<&str> = without.iter().map(|(name, _)| name.as_str()).collect();
    let (lanes, has, them) = match names.split_last() {
        Some((last, [])) => (format!("lane {last}"), "has", "the lane"),
        Some((last, others)) => (format!("lanes {} and {last}", others.join(", ")), "have", "these lanes"),
        None => return String::new(),
    };
    let leave = match asked.ability {
        Ability::AnyNames => format!("set names = \"plain\", or leave {them} out"),
        Ability::LargeFiles => format!("make its files smaller, or leave {them} out"),
        Ability::Owners if asked.by == BY_PROGRAMS => {
            format!("they have no rights of root's; leave the workload or {them} out")
        }
        Ability::Owners => format!("use SQLite (--set server=sqlite), or leave {them} out"),
        _ => format!("leave the step or {them} out"),
    };
    // What helps one lane is said where it helps all that are named.
    let own = without[0].1.filter(|remedy| without.iter().all(|(_, other)| *other == Some(remedy)));
    let remedy = own.map_or(leave.clone(), |own| format!("{own}, or {leave}"));
    format!("workload {workload}, {}: {lanes} {has} no {}; {remedy}", asked.by, asked.ability.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(steps: &str, lanes: &[(&str, Vec<Lack>)]) -> Option<String> {
        let text = format!(
            "name = \"w\"\ntitle = \"w\"\nkind = \"operations\"\n\
             files = [{{ name = \"a\", count = 9, populate = true, names = \"hostile\" }}]\nstep = [{steps}]"
        );
        let workload: Workload = toml::from_str(&text).unwrap();
        let lanes: Vec<(String, Vec<Lack>)> =
            lanes.iter().map(|(name, lacks)| ((*name).to_owned(), lacks.clone())).collect();
        refusal(&workload, &lanes)
    }

    #[test]
    fn servers_and_overlays_are_refused_where_a_filesystem_cannot_carry_them() {
        let lanes = [(
            "exfat".to_owned(),
            vec![Lack { ability: Ability::Owners, remedy: None }, Lack { ability: Ability::Overlays, remedy: None }],
        )];
        let refused = |text: &str| {
            let workload: Workload = toml::from_str(&format!("name = \"w\"\ntitle = \"w\"\n{text}")).unwrap();
            refusal(&workload, &lanes)
        };
        let oltp = "kind = \"oltp\"\nscript = \"insert\"\n";
        assert_eq!(refused(oltp), None, "SQLite is this process");
        assert_eq!(
            refused(&format!("{oltp}server = \"postgresql\"")).unwrap(),
            "workload w, server PostgreSQL: lane exfat has no owners of files; use SQLite (--set server=sqlite), or \
             leave the lane out"
        );
        let programs =
            "kind = \"programs\"\nstep = [{ name = \"start\", overlay = { lower = [\"a\"], do = \"read\" } }]";
        assert_eq!(
            refused(programs).unwrap(),
            "workload w, step start: lane exfat has no support for overlay mounts; leave the step or the lane out"
        );
    }

    #[test]
    fn the_sentence_names_step_lanes_and_what_helps_all_of_them() {
        let no = |ability, remedy| vec![Lack { ability, remedy }];
        let copy = "{ name = \"copy\", operation = \"reflink\", files = \"a\" }";
        let ext4 = ("ext4", no(Ability::Reflink, None));
        let lean = ("lean", no(Ability::Reflink, Some("remove it")));
        assert_eq!(
            refused(copy, std::slice::from_ref(&lean)).unwrap(),
            "workload w, step copy: lane lean has no copies that share blocks (reflink); remove it, or leave the step \
             or the lane out"
        );
        assert_eq!(
            refused(copy, &[("btrfs", Vec::new()), ext4.clone(), lean.clone()]).unwrap(),
            "workload w, step copy: lanes ext4 and lean have no copies that share blocks (reflink); leave the step or \
             these lanes out"
        );
        assert_eq!(refused("{ operation = \"stat\", files = \"a\" }", &[ext4, lean]), None);
        assert_eq!(
            refused("{ operation = \"stat\", files = \"a\" }", &[("e", no(Ability::AnyNames, None))]).unwrap(),
            "workload w, set a: lane e has no names of any bytes; set names = \"plain\", or leave the lane out"
        );
    }
}
