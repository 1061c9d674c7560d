//! Every pair is said or follows, whichever way round it was judged.

use super::*;
use model::findings::Estimate;
use model::sentence::Value;
use proptest::prelude::*;

const LANES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn estimate(lane: &str) -> Estimate {
    Estimate { lane: lane.to_owned(), mean: 1.0, rounds: 6, ..Estimate::default() }
}

fn result(verdicts: &[Verdict], turned: &[bool]) -> ResultFinding {
    let mut pairs = Vec::new();
    for (place, x) in LANES.iter().enumerate() {
        for y in &LANES[place + 1..] {
            let at = pairs.len();
            let (a, b) = if turned[at] { (*y, *x) } else { (*x, *y) };
            let (ratio, low, high) = match verdicts[at] {
                Verdict::Faster => (2.0, 1.5, 2.5),
                Verdict::Slower => (0.5, 0.4, 0.6),
                _ => (1.01, 0.99, 1.03),
            };
            pairs.push(Pair {
                a: a.to_owned(),
                b: b.to_owned(),
                ratio: Some(ratio),
                low: Some(low),
                high: Some(high),
                verdict: verdicts[at],
                why: (verdicts[at] == Verdict::None).then(|| format!("REASON {}", at % 2).into()),
                minutes_to_settle: None,
                rounds_to_settle: None,
                undecided: None,
                over_race: true,
                at_least: None,
            });
        }
    }
    ResultFinding {
        explanations: Vec::new(),
        explained: Vec::new(),
        unexplained: Vec::new(),
        headline: None,
        buffered: Vec::new(),
        kept: Vec::new(),
        acts: Vec::new(),
        workload: "w".to_owned(),
        title: "w".to_owned(),
        group: "g".to_owned(),
        section: None,
        missed_the_disk: false,
        by_means: false,
        stalls_matter: false,
        metric: "operations_per_second".to_owned(),
        unit: "operations/s".to_owned(),
        counts: model::findings::Counts::default(),
        higher_is_better: true,
        shared_rate: None,
        rounds: 6,
        limit: Limit::Unattributed,
        limit_reason: model::Sentence::default(),
        estimates: LANES.map(estimate).into(),
        pairs,
        ranking: Vec::new(),
        reference: None,
        statements: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Whether a reader of the statements knows that `above` beats `below`: every lane that can be
/// reached by "beats" and "ties with", where at least one step was a "beats".
fn reader_knows(result: &ResultFinding, said: &[Statement], above: &str, below: &str) -> bool {
    let mut level: Vec<&str> = vec![above];
    let mut beaten: Vec<&str> = Vec::new();
    for _ in 0..2 * LANES.len() {
        for statement in said {
            match statement {
                Statement::Apart { pairs, .. } => {
                    for pair in shown(result, pairs) {
                        let faster = pair.verdict == Verdict::Faster;
                        let (winner, loser) = if faster { (pair.a, pair.b) } else { (pair.b, pair.a) };
                        if level.contains(&winner) || beaten.contains(&winner) {
                            beaten.push(loser);
                        }
                    }
                }
                Statement::Tie { lanes, .. } => {
                    for known in [&mut level, &mut beaten] {
                        if lanes.iter().any(|lane| known.contains(&lane.as_str())) {
                            known.extend(lanes.iter().map(String::as_str));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    beaten.contains(&below)
}

fn shown<'a>(result: &'a ResultFinding, pairs: &[Told]) -> Vec<Shown<'a>> {
    pairs.iter().map(|&told| Shown::from_told(result, told).expect("a pair of the result")).collect()
}

fn lists(result: &ResultFinding, pairs: &[Told], pair: &Pair) -> bool {
    shown(result, pairs)
        .iter()
        .any(|shown| (shown.a == pair.a && shown.b == pair.b) || (shown.a == pair.b && shown.b == pair.a))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_is_said_or_follows(
        verdicts in prop::collection::vec(
            prop::sample::select(vec![
                Verdict::Faster, Verdict::Slower, Verdict::Tie, Verdict::Undecided, Verdict::None,
            ]),
            10,
        ),
        turned in prop::collection::vec(any::<bool>(), 10),
    ) {
        let result = result(&verdicts, &turned);
        let said = statements(&result);
        for pair in &result.pairs {
            let known = match pair.verdict {
                Verdict::Faster => reader_knows(&result, &said, &pair.a, &pair.b),
                Verdict::Slower => reader_knows(&result, &said, &pair.b, &pair.a),
                Verdict::Tie => said.iter().any(|one| matches!(one, Statement::Tie { lanes, .. }
                    if lanes.contains(&pair.a) && lanes.contains(&pair.b))),
                Verdict::Undecided => said.iter().any(|one| matches!(one, Statement::Undecided { pairs, .. }
                    if lists(&result, pairs, pair))),
                Verdict::None => said.iter().any(|one| matches!(one, Statement::NoVerdict { pairs, why }
                    if lists(&result, pairs, pair) && *why == pair.why)),
            };
            prop_assert!(known, "{:?} is missing from {:?}", pair, said);
        }
    }

    #[test]
    fn turning_a_pair_round_keeps_what_it_says(turned in prop::collection::vec(any::<bool>(), 10)) {
        // a beats b beats c …: whichever way the pairs were judged, the sentences are the same.
        let verdicts: Vec<Verdict> =
            turned.iter().map(|turned| if *turned { Verdict::Slower } else { Verdict::Faster }).collect();
        let straight = result(&[Verdict::Faster; 10], &[false; 10]);
        let turned = result(&verdicts, &turned);
        let shape = |result: &ResultFinding| -> Vec<(String, String, Verdict)> {
            let apart = statements(result).into_iter().filter_map(|one| match one {
                Statement::Apart { pairs, .. } => Some(shown(result, &pairs).into_iter()
                    .map(|pair| (pair.a.to_owned(), pair.b.to_owned(), pair.verdict)).collect::<Vec<_>>()),
                _ => None,
            });
            apart.flatten().collect()
        };
        prop_assert_eq!(shape(&straight), shape(&turned));
    }
}

#[test]
fn a_first_lane_that_gets_no_verdict_is_not_what_the_others_are_held_against() {
    // Pairs of `a` come first: it stands beside the others.
    let mut verdicts = [Verdict::Slower; 10];
    verdicts[..4].fill(Verdict::None);
    let beside = result(&verdicts, &[false; 10]);
    assert_eq!(reference_of(&beside).as_deref(), Some("b"));
    let said = statements(&beside);
    let firsts = said.iter().filter_map(|one| match one {
        Statement::Apart { pairs, .. } => shown(&beside, pairs).into_iter().next(),
        _ => None,
    });
    assert!(firsts.clone().count() == 3 && firsts.into_iter().all(|pair| pair.b == "b"), "{said:?}");
    assert_eq!(reference_of(&result(&[Verdict::None; 10], &[false; 10])).as_deref(), Some("a"));
}

#[test]
fn at_the_disk_it_says_tie_only_where_the_statistics_do() {
    let at = |verdicts: &[Verdict]| {
        let mut result = result(verdicts, &[false; 10]);
        result.limit = Limit::Device;
        let said = statements(&result);
        said.iter().find_map(|one| match one {
            Statement::AtTheDisk { tie, .. } => Some(*tie),
            _ => None,
        })
    };
    assert_eq!(at(&[Verdict::Tie; 10]), Some(true));
    assert_eq!(at(&[Verdict::None; 10]), Some(false));
    // One interval that is too wide for a tie leaves what was measured as it is.
    let mut mixed = [Verdict::Tie; 10];
    mixed[3] = Verdict::None;
    assert_eq!(at(&mixed), Some(false));
    mixed[3] = Verdict::Undecided;
    assert_eq!(at(&mixed), None);
}

#[test]
fn a_harness_bound_result_shows_no_ratio() {
    let mut result = result(&[Verdict::None; 10], &[false; 10]);
    result.limit = Limit::Harness;
    for statement in statements(&result) {
        assert!(matches!(&statement, Statement::NoVerdict { pairs, .. } if pairs.is_empty()), "{statement:?}");
    }
}

#[test]
fn one_lack_of_a_lane_is_said_once_whatever_it_is_held_against() {
    let mut result = result(&[Verdict::None; 10], &[false; 10]);
    for pair in &mut result.pairs {
        let lane = |name: &str| Value::Name(name.to_owned());
        let [with, without] = if pair.b == "e" { [pair.a.as_str(), "e"] } else { [pair.a.as_str(), pair.b.as_str()] };
        let id = if without == "e" { "lacks" } else { "differs" };
        pair.why = Some(Sentence::new(id, "{x} has it, {y} has not", vec![("x", lane(with)), ("y", lane(without))]));
    }
    let said = statements(&result);
    let told: Vec<(&str, usize)> = said
        .iter()
        .filter_map(|one| match one {
            Statement::NoVerdict { pairs, .. } => Some((shown(&result, pairs)[0].a, pairs.len())),
            _ => None,
        })
        .collect();
    // `a` is the reference: the other reason is told of `b`, then of what is left.
    assert_eq!(told, [("b", 3), ("c", 2), ("d", 1), ("e", 4)]);
}

#[test]
fn what_an_interval_says_already_is_no_remark() {
    let said = |why: Option<Sentence>, measured: bool| {
        let mut result = result(&[Verdict::Undecided; 10], &[true; 10]);
        for pair in &mut result.pairs {
            (pair.low, pair.high) = if measured { (Some(0.96), Some(1.09)) } else { (None, None) };
            pair.why.clone_from(&why);
        }
        statements(&result).into_iter().find_map(|one| match one {
            Statement::Undecided { remarks, .. } => Some(remarks.join(" | ")),
            _ => None,
        })
    };
    let sentence = |id, english: &str| Sentence::new(id, english, Vec::new());
    let known = || sentence(NAMES_THE_INTERVAL, "after 6 rounds the difference lies between -4 % and +9 %");
    assert_eq!(said(Some(known()), true).as_deref(), Some(""));
    assert_eq!(said(None, true).as_deref(), Some(""));
    assert_eq!(said(Some(known()), false), Some(known().to_string()));
    let clauses = ["6 of 8 rounds done", "both directories are on vda"].map(|said| sentence("said", said).into());
    let both = Sentence::new("clauses", "{parts}", vec![("parts", Value::Clauses(clauses.to_vec()))]);
    assert_eq!(said(Some(both), true).as_deref(), Some("6 of 8 rounds done"), "the other is a note of the race");
}

#[test]
fn many_lanes_are_told_in_no_time() {
    let names: Vec<String> = (0..model::bounds::MOST_LANES).map(|lane| format!("lane {lane}")).collect();
    let mut race = result(&[Verdict::Tie; 10], &[false; 10]);
    race.estimates = names.iter().map(|name| estimate(name)).collect();
    let model = race.pairs[0].clone();
    let verdicts = [Verdict::Faster, Verdict::Tie, Verdict::None, Verdict::Undecided, Verdict::Slower];
    let pair = |a: usize, b: usize| Pair {
        a: names[a].clone(),
        b: names[b].clone(),
        verdict: verdicts[(a * 7 + b * 3) % 5],
        why: Some(format!("reason {}", a * b % 3).into()),
        ..model.clone()
    };
    race.pairs = (0..names.len()).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| pair(a, b)).collect();
    let began = std::time::Instant::now();
    let mut all = vec![race; 100];
    set(&mut all);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}
