//! The tables of `docs/simulation.md`.

use crate::errors::{Counts, Judged, errors};
use crate::power::Question;
use crate::race::{Noise, first_answer, whole};
use crate::whole_race;
use model::plan::LOOKS;
use stats::resolution::{self, Contest};
use stats::sequential::{ONE_LOOK_P, PER_LOOK_P};
use stats::student;

const CORRELATED: f64 = 0.3;

/// The value below which a share of 5 % lies.
fn twentieth(values: &[f32]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    f64::from(sorted[values.len() / 20])
}

/// One row of false `faster`: the worst over ends of the budget, scales and numbers of rounds.
fn error_row(name: &str, counts: &Counts) {
    let by_look: Vec<String> =
        counts.first_answer.iter().map(|&count| format!("{:.1}", counts.percent(count))).collect();
    let whole: Vec<String> =
        counts.whole.iter().map(|of| format!("{:.1}", counts.percent(of.iter().copied().max().unwrap_or(0)))).collect();
    println!("| {name} | {} | {} | {:.1} |", by_look.join(" "), whole.join(" "), counts.worst_fixed());
}

const ERROR_HEAD: &str = "| first answer, budget ends at 6 8 10 14 20 | whole rule, ends at 6 8 10 14 20 | fixed rounds, worst of 2 to 20 |\n| --- | --- | --- | --- |";

/// The constants again, and the errors of a family alone.
pub fn constants_and_errors(families: usize, seed: u64) {
    let noises = [
        ("normal", Noise::WHITE, 2),
        ("lognormal", Noise { skewed: true, ..Noise::WHITE }, 2),
        ("AR(1) 0.3", Noise::correlated(CORRELATED), 1),
        ("AR(1) 0.3, lognormal", Noise { skewed: true, ..Noise::correlated(CORRELATED) }, 2),
        ("AR(1) 0.5", Noise::correlated(0.5), 10),
    ];
    println!("## Families with a false `faster`, in percent: one result alone\n");
    println!("| pairs, noise {ERROR_HEAD}");
    let mut constants = Vec::new();
    for lanes in 2..=6 {
        for (name, noise, part) in noises {
            let counts = errors(seed, families / part, lanes, &[noise], Judged::All);
            error_row(&format!("{}, {name}", lanes * (lanes - 1) / 2), &counts);
            if name == "AR(1) 0.3" {
                constants.push(counts);
            }
        }
    }
    println!("\n## Constants: the p that gives 5 % under AR(1) 0.3, and the one in use\n");
    println!("| pairs | per look, first answer | in use | one look x pairs (least of 2 to 20 rounds) | in use |");
    println!("| --- | --- | --- | --- | --- |");
    for ((pairs, in_use), counts) in PER_LOOK_P.into_iter().zip(&constants) {
        let one = counts.least_p_fixed[2..].iter().map(|of| twentieth(of)).fold(1.0, f64::min);
        let per_look = twentieth(&counts.least_p);
        println!("| {pairs} | {per_look:.5} | {in_use} | {:.4} | {ONE_LOOK_P} |", one * f64::from(pairs));
    }
    println!();
}

/// Errors in races of ten results, which tell each other how correlated rounds are.
pub fn races(families: usize, seed: u64) {
    println!("## The same in races of ten results ({families} families per row)\n");
    println!("| pairs, noise {ERROR_HEAD}");
    for lanes in [2, 3, 6] {
        let pairs = lanes * (lanes - 1) / 2;
        let correlated = Noise::correlated(CORRELATED);
        for (name, noise) in [
            ("normal", Noise::WHITE),
            ("AR(1) 0.3", correlated),
            ("AR(1) 0.3, half of it shared by all results", Noise { shared: 0.5, ..correlated }),
        ] {
            error_row(&format!("{pairs}, {name}"), &errors(seed, families, lanes, &[noise; 10], Judged::All));
        }
        let mut one = [Noise::WHITE; 10];
        one[0] = correlated;
        let counts = errors(seed, families / 5, lanes, &one, Judged::First);
        error_row(&format!("{pairs}, AR(1) 0.3 in this result, the others normal"), &counts);
    }
    println!();
}

/// What whole races say: by their rows, and by what holds over the race.
pub fn whole_races(races: usize, seed: u64) {
    println!("## Whole races of three lanes, in percent of {races} races\n");
    println!("Noise of a lane 4 %, margin 5 %. Equal lanes, and one of three 10 % faster in every second result.\n");
    println!(
        "| results | rule | noise | equal lanes: a false difference in a row | in ANSWER | one faster: largest of a row told \
         over a tenth too large | an \"at least\" too large | true ones named by rows | by ANSWER |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for results in [8, 31] {
        for (name, rule) in [("whole", whole(3, 0.05)), ("first answer", first_answer(3, 0.05))] {
            let correlated = Noise::correlated(CORRELATED);
            for (kind, noise) in [
                ("normal", Noise::WHITE),
                ("AR(1) 0.3", correlated),
                ("AR(1) 0.3, half of it shared by all results", Noise { shared: 0.5, ..correlated }),
            ] {
                let races = races * 8 / results;
                let equal = whole_race::simulate(seed, races, results, noise, 0.04, 0.0, rule);
                let apart = whole_race::simulate(seed, races, results, noise, 0.04, 0.1_f64.ln_1p(), rule);
                let percent = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
                println!(
                    "| {results} | {name} | {kind} | {:.1} | {:.1} | {:.0} | {:.1} | {:.0} | {:.0} |",
                    percent(equal.rows, equal.races),
                    percent(equal.held, equal.races),
                    percent(apart.largest, apart.races),
                    percent(apart.at_least, apart.races),
                    percent(apart.named[1], apart.named[0]),
                    percent(apart.named[2], apart.named[0])
                );
            }
        }
    }
    println!();
}

/// Differences as large as the margin that are called a tie: the worst over scales of noise.
pub fn ties(races: usize, seed: u64) {
    println!("## Pairs that differ by exactly the margin and are called a tie, in percent ({races} races per cell)\n");
    println!("| pairs | rule | results in the race | noise | worst |\n| --- | --- | --- | --- | --- |");
    for lanes in [2, 3] {
        for (name, rule) in [("whole", whole(lanes, 0.05)), ("first answer", first_answer(lanes, 0.05))] {
            for (results, kind, noise) in [
                (1, "normal", Noise::WHITE),
                (1, "AR(1) 0.3", Noise::correlated(CORRELATED)),
                (10, "normal", Noise::WHITE),
            ] {
                let races = if results > 1 { races / 5 } else { races };
                let worst = [0.01, 0.015, 0.02, 0.03, 0.04]
                    .map(|deviation| {
                        let truth = rule.delta();
                        Question { rule, lanes, results, noise, deviation, truth }.power(seed, races).tied()
                    })
                    .into_iter()
                    .fold(0.0, f64::max);
                println!("| {} | {name} | {results} | {kind} | {worst:.1} |", rule.pairs);
            }
        }
    }
    println!();
}

/// Expected rounds and shares decided for true differences.
pub fn power(races: usize, seed: u64) {
    const TRUE: [f64; 5] = [0.03, 0.06, 0.12, 0.25, 1.0];
    println!(
        "## Power: mean rounds to the verdict (percent decided rightly by 20 rounds), white noise, {races} races per cell\n"
    );
    println!("Noise: standard deviation of the pair's differences. 3 % is decided rightly as a tie.\n");
    println!(
        "| pairs, rule, results in the race, noise | 3 % | 6 % | 12 % | 25 % | 100 % |\n| --- | --- | --- | --- | --- | --- |"
    );
    for lanes in [2, 3] {
        for (name, rule) in [("whole", whole(lanes, 0.05)), ("first answer", first_answer(lanes, 0.05))] {
            for results in [1, 10] {
                for deviation in [0.02, 0.04, 0.08] {
                    let cell = |share: f64| {
                        let truth = share.ln_1p();
                        let noise = Noise::WHITE;
                        let races = if results > 1 { races / 5 } else { races };
                        let of = Question { rule, lanes, results, noise, deviation, truth }.power(seed, races);
                        format!("{:.1} ({:.0})", of.rounds(), of.decided())
                    };
                    let cells = TRUE.map(cell).join(" | ");
                    println!("| {}, {name}, {results}, {:.0} % | {cells} |", rule.pairs, 100.0 * deviation);
                }
            }
        }
    }
    println!("\nA true factor of two, three lanes, first answer, at six rounds:\n");
    println!("| noise of each lane | results in the race | percent decided |\n| --- | --- | --- |");
    for (lane, results) in [(0.07, 1), (0.10, 1), (0.10, 8), (0.14, 1), (0.14, 8)] {
        let rule = first_answer(3, 0.05);
        let (deviation, truth) = (lane * 2_f64.sqrt(), 2_f64.ln());
        let question = Question { rule, lanes: 3, results, noise: Noise::WHITE, deviation, truth };
        println!("| {:.0} % | {results} | {:.1} |", 100.0 * lane, question.power(seed, races).at_first_look());
    }
    println!();
}

/// How wide intervals are beside those that hold 5 % only where rounds are independent.
pub fn widths(races: usize, seed: u64) {
    // The p of each look for one and three pairs of independent rounds: t = 3.600 and 4.773 at six.
    const INDEPENDENT: [(usize, f64); 2] = [(2, 0.01554), (3, 0.00500)];
    println!("## Width of intervals, white noise, as a multiple of those made for independent rounds\n");
    println!("| pairs | rule | results | {} |", LOOKS.map(|look| format!("{look} rounds")).join(" | "));
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (lanes, p) in INDEPENDENT {
        for (name, rule) in [("whole", whole(lanes, 0.05)), ("first answer", first_answer(lanes, 0.05))] {
            for results in [1, 10] {
                let races = if results > 1 { races / 5 } else { races };
                let question = Question { rule, lanes, results, noise: Noise::WHITE, deviation: 0.04, truth: 0.0 };
                let of = LOOKS.map(|look| {
                    let plain = student::two_sided_quantile(p, f64::from(look - 1));
                    format!("{:.2}", question.constant(seed, races, look as usize) / plain)
                });
                println!("| {} | {name} | {results} | {} |", rule.pairs, of.join(" | "));
            }
        }
    }
    println!();
}

/// Forecasts and planned resolutions.
pub fn forecasts(races: usize, seed: u64) {
    println!("## Forecasts: undecided at six rounds, decided by the rounds forecast there, in percent\n");
    println!("| pairs | rule | noise | 6 % | 12 % | 25 % |\n| --- | --- | --- | --- | --- | --- |");
    for (lanes, name, rule) in
        [(2, "whole", whole(2, 0.05)), (3, "whole", whole(3, 0.05)), (3, "first answer", first_answer(3, 0.05))]
    {
        for deviation in [0.04, 0.08] {
            let cell = |share: f64| {
                let truth = share.ln_1p();
                let question = Question { rule, lanes, results: 1, noise: Noise::WHITE, deviation, truth };
                format!("{:.0}", question.forecasts_come_true(seed, races))
            };
            println!(
                "| {} | {name} | {:.0} % | {} |",
                rule.pairs,
                100.0 * deviation,
                [0.06, 0.12, 0.25].map(cell).join(" | ")
            );
        }
    }
    println!("\n## Resolution: the difference planned for, and how often its interval excludes zero (planned: 80 %)\n");
    println!(
        "| pairs | rule | results | noise | correlation | {} |",
        LOOKS.map(|look| format!("{look} rounds")).join(" | ")
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (lanes, results, name, rule) in [
        (2, 1, "whole", whole(2, 0.05)),
        (3, 8, "whole", whole(3, 0.05)),
        (3, 8, "first answer", first_answer(3, 0.05)),
    ] {
        for (deviation, correlation) in [(0.04, 0.0), (0.08, 0.0), (0.04, CORRELATED)] {
            let contest = Contest { rule, lanes, results };
            let noise = resolution::Noise { deviation, correlation };
            let cell = |look: u32| {
                let share = resolution::smallest_difference(noise, look, &contest).expect("two rounds and more");
                let (noise, truth) = (Noise::correlated(correlation), share.ln_1p());
                let races = if results > 1 { races / 4 } else { races };
                let question = Question { rule, lanes, results, noise, deviation, truth };
                format!("{:.1} %: {:.0}", 100.0 * share, question.excludes_zero(seed, races, look as usize))
            };
            let cells = LOOKS.map(cell).join(" | ");
            println!("| {} | {name} | {results} | {:.0} % | {correlation} | {cells} |", rule.pairs, 100.0 * deviation);
        }
    }
    println!();
}
