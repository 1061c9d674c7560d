//! Work that is raced by growing numbers of ranks (`--ranks 1,2,4`): each number is a workload of its own.

use crate::failure::Failure;
use model::plan::Plan;
use model::ranks::{JobRanks, LadderStep, RankLadder};
use model::workload::Workload;
use std::collections::BTreeSet;

/// The numbers that were asked for, ascending; none: there is no ladder. `job`: which has so many ranks.
///
/// # Errors
/// Where one of them is 0, is named twice, or is more than the job has.
pub fn numbers(asked: &[u32], job: &JobRanks) -> Result<Vec<u32>, Failure> {
    let of = job.ranks;
    let mut numbers = asked.to_vec();
    numbers.sort_unstable();
    let twice = numbers.windows(2).find(|two| two[0] == two[1]).map(|two| two[0]);
    let wrong = match (numbers.first().copied(), twice, numbers.last().copied()) {
        (Some(0), ..) => format!("--ranks 0: no work is done by no rank; name numbers from 1 to {of}"),
        (_, Some(number), _) => format!("--ranks names {number} twice; name each number once"),
        (.., Some(most)) if most > of => {
            format!(
                "--ranks {most}: this job has {of}; start it with as many ({}), or name fewer",
                job.launch_of(most).join(" ")
            )
        }
        _ => return Ok(numbers),
    };
    Err(Failure::usage(wrong))
}

/// Puts one workload for each number in the place of every workload of the plan; answers the ladders, none where there are no
/// numbers. `of`: how many ranks the job has. `most_telling`: names of workloads, in whose place their steps come too.
///
/// # Errors
/// Where a workload cannot be called so.
pub fn climb(
    plan: &mut Plan,
    most_telling: &mut Vec<String>,
    numbers: &[u32],
    of: u32,
) -> Result<Vec<RankLadder>, Failure> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let (mut raced, mut ladders, mut telling) = (Vec::new(), Vec::new(), Vec::new());
    for workload in &plan.workloads {
        let steps: Vec<Workload> = numbers.iter().map(|ranks| workload.of_ranks(*ranks, of)).collect();
        steps.iter().try_for_each(Workload::check).map_err(Failure::usage)?;
        let named = steps.iter().zip(numbers);
        let step = |(of, ranks): (&Workload, &u32)| LadderStep { workload: of.name.clone(), ranks: *ranks };
        ladders.push(RankLadder { steps: named.map(step).collect() });
        telling.push((workload.name.clone(), steps.iter().map(|step| step.name.clone()).collect::<Vec<String>>()));
        raced.extend(steps);
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = raced.iter().find(|step| !names.insert(step.name.as_str())) {
        return Err(Failure::usage(format!(
            "--ranks: two workloads would be called {}; rename the one of suite {} that is called so",
            twice.name, plan.suite
        )));
    }
    let steps_of = |name: &String| {
        let of = telling.iter().find(|(known, _)| known == name);
        of.map_or_else(|| vec![name.clone()], |(_, steps)| steps.clone())
    };
    *most_telling = most_telling.iter().flat_map(steps_of).collect();
    plan.workloads = raced;
    Ok(ladders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::Record;

    #[test]
    fn numbers_of_ranks_are_refused_in_one_sentence_and_go_up() {
        let mut job = JobRanks { ranks: 8, nodes: 2, ..JobRanks::default() };
        let said = |asked: &[u32]| numbers(asked, &job).map_err(|failure| failure.message);
        assert_eq!(said(&[8, 1, 4]), Ok(vec![1, 4, 8]));
        assert_eq!(said(&[]), Ok(Vec::new()));
        for (asked, sentence) in [
            (&[1, 0][..], "--ranks 0: no work is done by no rank; name numbers from 1 to 8"),
            (&[2, 4, 2], "--ranks names 2 twice; name each number once"),
            (&[1, 9], "--ranks 9: this job has 8; start it with as many (mpirun -n 9), or name fewer"),
        ] {
            assert_eq!(said(asked), Err(sentence.to_owned()));
        }
        job.srun = true;
        let said = numbers(&[16], &job).unwrap_err().message;
        assert!(said.contains("(srun -N 2 -n 16)"), "{said}");
    }

    #[test]
    fn every_workload_is_raced_by_each_number_and_the_one_of_all_ranks_keeps_its_name() {
        let workloads = crate::suites::find("shared").unwrap().workload;
        let record = Record::parse(include_str!("../../tests/fixtures/schema1.jsonl")).unwrap();
        let mut plan = Plan { workloads, ..record.header.plan };
        let (before, mut telling) = (plan.workloads.len(), vec!["files".to_owned(), "gone".to_owned()]);
        let ladders = climb(&mut plan, &mut telling, &[1, 4], 4).unwrap();
        assert_eq!((plan.workloads.len(), ladders.len()), (2 * before, before));
        let [write_1, write] = &plan.workloads[..2] else { panic!("two steps") };
        assert_eq!((write_1.name.as_str(), write.name.as_str()), ("write-ranks-1", "write"));
        assert_eq!(write_1.title, "overwrite 2 MiB, direct, 1 rank");
        assert_eq!(write.title, "overwrite 2 MiB, direct, 4 ranks");
        assert_eq!(write_1.kind, write.kind);
        let steps: Vec<(&str, u32)> =
            ladders[0].steps.iter().map(|step| (step.workload.as_str(), step.ranks)).collect();
        assert_eq!(steps, [("write-ranks-1", 1), ("write", 4)]);
        assert_eq!(telling, ["files-ranks-1", "files", "gone"]);
        let groups = |name: &str| plan.workloads.iter().find(|of| of.name == name).expect("it is raced").groups();
        assert_eq!(groups("files")[0], "create empty");
        assert_eq!(groups("files-ranks-1")[0], "create empty, 1 rank", "reports tell steps by their names");
        let twice = plan.workloads[0].clone();
        plan.workloads = vec![twice.clone(), Workload { name: "write-ranks-1-ranks-2".to_owned(), ..twice }];
        let said = climb(&mut plan, &mut telling, &[2, 4], 4).unwrap_err().message;
        assert!(said.starts_with("--ranks: two workloads would be called write-ranks-1-ranks-2; rename"), "{said}");
        assert!(climb(&mut plan, &mut telling, &[], 4).unwrap().is_empty());
    }
}
