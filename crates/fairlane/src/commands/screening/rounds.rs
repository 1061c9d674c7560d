//! How the time of a screening is shared out, and how many rounds it has room for.

use crate::conductor::time::{Expected, OWED_ROUNDS};
use model::plan::{Plan, Rounds};
use model::units::human_seconds;

/// Seconds of screening and confirmation together where nobody says how long.
pub const USUAL_SECONDS: f64 = 3600.0;
/// Of that so much is the confirmation's.
const CONFIRMATION_SHARE: f64 = 0.25;
/// And no more: two lanes need no longer. Chosen.
pub const MOST_CONFIRMATION_SECONDS: f64 = 900.0;
/// Fewest rounds: two give no idea yet of how much a lane's figures scatter.
pub const FEWEST: u32 = 3;
/// Most rounds that are raced unasked: intervals hardly become narrower from there on. Chosen.
const MOST: u32 = 12;
/// A forecast is only roughly right, and a workload whose time is up before all of its rounds is told with wider intervals:
/// so many times the forecast has to fit. Chosen.
const SLOWER: f64 = 1.15;

/// Seconds of the parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Of the race of all runs.
    pub screening: f64,
    /// Of the race of the proposal against the default.
    pub confirmation: f64,
}

/// Shares a budget out, in seconds; `None`: the usual one.
pub fn share_out(budget: Option<f64>, confirms: bool) -> Times {
    let whole = budget.unwrap_or(USUAL_SECONDS);
    let share = if confirms { CONFIRMATION_SHARE } else { 0.0 };
    let confirmation = (whole * share).min(MOST_CONFIRMATION_SECONDS);
    Times { screening: whole - confirmation, confirmation }
}

/// Seconds of the confirmation once the race of all runs took so many: its part, and what that race left of its own. `budget`:
/// of both, `None`: the usual one.
pub fn of_confirmation(budget: Option<f64>, spent: f64) -> f64 {
    let left = budget.unwrap_or(USUAL_SECONDS) - spent;
    left.max(share_out(budget, true).confirmation).min(MOST_CONFIRMATION_SECONDS)
}

/// The budget with which the confirmation has so many seconds, however long the race of all runs takes; `None`: it never has
/// so many.
pub fn with_confirmation_of(seconds: f64) -> Option<f64> {
    (seconds <= MOST_CONFIRMATION_SECONDS).then_some(seconds / CONFIRMATION_SHARE)
}

/// The least budget that leaves the race of all runs so many seconds.
pub fn whole(screening: f64) -> f64 {
    (screening / (1.0 - CONFIRMATION_SHARE)).min(screening + MOST_CONFIRMATION_SECONDS)
}

/// Names the workloads that are left in the command of a screening's plan: the confirmation races these. A screening anew, which
/// has no budget, has those of Fairlane's own suites again that were left out for one.
pub fn name_workloads(plan: &mut Plan) {
    let mut line = Vec::new();
    let mut words = plan.command_line.iter();
    while let Some(word) = words.next() {
        if word == "--workload" {
            words.next();
        } else {
            line.push(word.clone());
        }
    }
    line.extend(plan.workloads.iter().flat_map(|workload| ["--workload".to_owned(), workload.name.clone()]));
    plan.command_line = line;
}

/// Seconds that have to be left for so many rounds of a workload.
pub fn needed_for(of: &Expected, rounds: u32) -> f64 {
    SLOWER * of.of_planned_rounds(rounds)
}

/// Gives a screening as many rounds as its time has room for, where nobody said how many. Answers what is to be said where
/// it has room for too few: they are raced all the same.
pub fn choose(plan: &mut Plan, expected: &[Expected]) -> Option<String> {
    plan.screening.as_ref()?;
    let (rounds, budget) = (plan.rounds, plan.budget_seconds?);
    if let Rounds::Fixed(rounds) = rounds {
        return owed(rounds, budget, expected);
    }
    let seconds = |rounds: u32| expected.iter().map(|of| needed_for(of, rounds)).sum::<f64>();
    if let Some(rounds) = (FEWEST..=MOST).rev().find(|&rounds| seconds(rounds) <= budget) {
        plan.rounds = Rounds::Fixed(rounds);
        return None;
    }
    (plan.rounds, plan.budget_seconds) = (Rounds::Fixed(FEWEST), None);
    let needed = seconds(FEWEST);
    let factors = plan.screening.as_ref().map_or(0, |screening| screening.factors.len());
    // The smallest design has room for some options more than one.
    let less = match stats::screening::lanes_of(factors) > stats::screening::lanes_of(1) {
        true => "fewer options or less work (--workload NAME) take less",
        false => "less work (--workload NAME) takes less",
    };
    Some(format!(
        "{FEWEST} rounds, the fewest of a screening, take about {} and not the {} that it has: they are raced all the same; \
         {less}, and --budget {:.0}m has room for them",
        human_seconds(needed),
        human_seconds(budget),
        (whole(needed) / 60.0).ceil()
    ))
}

/// What is to be said where somebody named a number of rounds, and the time is too short for the few that are raced in
/// any case; `None`: it is not.
fn owed(planned: u32, budget: f64, expected: &[Expected]) -> Option<String> {
    let rounds = planned.min(OWED_ROUNDS);
    let rest = if planned > rounds { format!(", and hardly more of the {planned}") } else { String::new() };
    let needed: f64 = expected.iter().map(|of| of.of_rounds(rounds)).sum();
    (needed > budget).then(|| {
        format!(
            "{rounds} rounds of all the work, the fewest that tell anything, take about {} and not the {} that it has: \
             they are raced all the same{rest}",
            human_seconds(needed),
            human_seconds(budget)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::Record;
    use model::screening::{DesignKind, Screening};

    /// A screening of one workload that has so many seconds.
    fn plan(budget: Option<f64>, rounds: Rounds) -> Plan {
        let record = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap();
        let screening = Screening {
            base: "ext4".to_owned(),
            design: DesignKind::FullFactorial,
            factors: Vec::new(),
            runs: Vec::new(),
            left_out: Vec::new(),
        };
        Plan { screening: Some(screening), budget_seconds: budget, rounds, ..record.header.plan }
    }

    const TEN_SECONDS: Expected = Expected { once: 0.0, checked: 0.0, round: 10.0, probe: 0.0 };

    #[test]
    fn a_quarter_of_the_time_and_no_more_than_fifteen_minutes_is_the_confirmations() {
        for (budget, screening, confirmation) in
            [(None, 2700.0, 900.0), (Some(1200.0), 900.0, 300.0), (Some(7200.0), 6300.0, 900.0)]
        {
            assert_eq!(share_out(budget, true), Times { screening, confirmation });
            assert_eq!(whole(screening), budget.unwrap_or(USUAL_SECONDS));
        }
        assert_eq!(share_out(Some(600.0), false), Times { screening: 600.0, confirmation: 0.0 });
    }

    #[test]
    fn what_the_race_of_all_runs_leaves_is_the_confirmations_too() {
        for (budget, spent, seconds) in [
            (Some(120.0), 50.0, 70.0),
            (Some(120.0), 90.0, 30.0),
            // It never has less than its part, and never more than the most.
            (Some(120.0), 200.0, 30.0),
            (Some(7200.0), 60.0, 900.0),
            (None, 2700.0, 900.0),
        ] {
            assert_eq!(of_confirmation(budget, spent), seconds, "{budget:?} {spent}");
        }
        assert_eq!(with_confirmation_of(69.0), Some(276.0));
        assert_eq!(share_out(with_confirmation_of(900.0), true).confirmation, 900.0);
        assert_eq!(with_confirmation_of(901.0), None);
    }

    #[test]
    fn there_are_as_many_rounds_as_the_time_has_room_for() {
        // One of them may be run again, and of ten and more two.
        for (budget, rounds) in [(46.1, 3), (57.4, 3), (57.6, 4), (115.1, 9), (137.9, 9), (138.1, 10), (1e6, 12)] {
            let mut plan = plan(Some(budget), Rounds::Auto);
            assert_eq!(choose(&mut plan, &[TEN_SECONDS]), None, "{budget}");
            assert_eq!((plan.rounds, plan.budget_seconds), (Rounds::Fixed(rounds), Some(budget)));
        }
        let mut of_two = plan(Some(115.1), Rounds::Auto);
        assert_eq!((choose(&mut of_two, &[TEN_SECONDS; 2]), of_two.rounds), (None, Rounds::Fixed(4)));
    }

    #[test]
    fn fewer_options_are_advised_where_they_take_fewer_lanes() {
        let names = ["a", "b", "c", "d"];
        for (names, says) in [
            (&names[..1], "; less work (--workload"),
            (&names[..3], "; less work (--workload"),
            (&names[..4], "; fewer options or less work"),
        ] {
            let mut short = plan(Some(30.0), Rounds::Auto);
            let factors = names.iter().map(|name| super::super::levels::tests::factor(name, &["0", "1"]));
            short.screening.as_mut().unwrap().factors = factors.collect();
            let said = choose(&mut short, &[TEN_SECONDS]).expect("a sentence");
            assert!(said.contains(says) && !said.contains("--without"), "{said}");
        }
    }

    #[test]
    fn the_command_names_the_workloads_that_are_left_and_no_other() {
        for typed in ["", " --workload commit --workload small-files"] {
            let mut plan = plan(None, Rounds::Auto);
            let line = format!("fairlane screen ext4 --suite quick{typed} --seed 7");
            plan.command_line = line.split(' ').map(str::to_owned).collect();
            plan.workloads.retain(|workload| workload.name != "commit");
            assert!(plan.workloads.len() > 1);
            name_workloads(&mut plan);
            let named: String =
                plan.workloads.iter().map(|workload| format!(" --workload {}", workload.name)).collect();
            assert_eq!(plan.command_line.join(" "), format!("fairlane screen ext4 --suite quick --seed 7{named}"));
        }
    }

    #[test]
    fn where_not_even_the_fewest_fit_they_are_raced_and_the_time_that_they_take_is_said() {
        let mut short = plan(Some(30.0), Rounds::Auto);
        let said = choose(&mut short, &[TEN_SECONDS]).expect("a sentence");
        assert!(said.contains("3 rounds") && said.contains("--budget 2m"), "{said}");
        assert_eq!((short.rounds, short.budget_seconds), (Rounds::Fixed(3), None));
        // Who names a number has it, and another race keeps its looks.
        let mut named = plan(Some(20.0), Rounds::Fixed(7));
        assert_eq!((choose(&mut named, &[TEN_SECONDS]), named.rounds), (None, Rounds::Fixed(7)));
        named.budget_seconds = Some(19.0);
        let said = choose(&mut named, &[TEN_SECONDS]).expect("two rounds do not fit");
        assert!(said.contains("2 rounds of all the work"), "{said}");
        assert!(said.ends_with("raced all the same, and hardly more of the 7"), "{said}");
        assert_eq!((named.rounds, named.budget_seconds), (Rounds::Fixed(7), Some(19.0)));
        let mut race = Plan { screening: None, ..plan(Some(1.0), Rounds::Auto) };
        assert_eq!((choose(&mut race, &[TEN_SECONDS]), race.rounds), (None, Rounds::Auto));
    }
}
