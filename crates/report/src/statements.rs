//! What to say about one result: every pair of lanes is said or follows from what is said.
//!
//! Nothing is judged here. Pairs are turned to stand against one reference lane, ties are
//! gathered, and a pair that follows from two others is left out.

use model::findings::{Limit, Pair, ResultFinding, Undecided, Verdict};

/// A pair as it is shown; possibly the other way round than it was judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    pub(crate) ratio: Option<f64>,
    pub(crate) interval: Option<(f64, f64)>,
    /// It holds beside all other differences of the race, and what it comes to at least where that is known.
    pub(crate) over_race: Option<Option<f64>>,
    pub(crate) verdict: Verdict,
    pub(crate) undecided: Option<Undecided>,
    pub(crate) why: Option<&'a str>,
}

/// One thing to say about a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement<'a> {
    /// Every lane ran at the disk's own limit, between these rates; whether they tie.
    AtTheDisk { slowest: f64, fastest: f64, tie: bool },
    /// These lanes tie with each other; the widest interval among them, where there is one.
    Tie { lanes: Vec<&'a str>, interval: Option<(f64, f64)> },
    /// Decided pairs of one lane, the `a` of each.
    Apart(Vec<Shown<'a>>),
    /// Pairs whose interval is still too wide.
    Undecided { pairs: Vec<Shown<'a>> },
    /// Pairs without a verdict, all for the same reason; none where their figures mean nothing.
    NoVerdict { pairs: Vec<Shown<'a>>, why: &'a str },
    /// A lane without a figure.
    Failed { lane: &'a str, reason: &'a str },
    /// The only lane: nothing to compare.
    Alone { lane: &'a str, mean: f64, low: Option<f64>, high: Option<f64> },
    /// No lane has a figure.
    Nothing,
}

/// Everything to say about a result, in reading order.
pub(crate) fn statements(result: &ResultFinding) -> Vec<Statement<'_>> {
    let failed: Vec<Statement> = result
        .estimates
        .iter()
        .filter_map(|estimate| {
            estimate.failure.as_deref().map(|reason| Statement::Failed { lane: &estimate.lane, reason })
        })
        .collect();
    let failure_of = |lane: &str| result.estimates.iter().any(|e| e.lane == lane && e.failure.is_some());
    // A lane that failed is said once, not in each of its pairs.
    let pairs: Vec<&Pair> = result
        .pairs
        .iter()
        .filter(|pair| pair.ratio.is_some() || !(failure_of(&pair.a) || failure_of(&pair.b)))
        .collect();
    let measured: Vec<_> = result.estimates.iter().filter(|estimate| estimate.failure.is_none()).collect();

    let mut said = Vec::new();
    let tie = pairs.iter().all(|pair| pair.verdict == Verdict::Tie);
    let unranked = pairs.iter().all(|pair| matches!(pair.verdict, Verdict::Tie | Verdict::None));
    if result.limit == Limit::Device && !pairs.is_empty() && unranked && measured.len() > 1 {
        let rates = || measured.iter().map(|estimate| estimate.in_row());
        said.push(Statement::AtTheDisk {
            slowest: rates().fold(f64::INFINITY, f64::min),
            fastest: rates().fold(f64::NEG_INFINITY, f64::max),
            tie,
        });
    } else if pairs.is_empty() {
        match measured.as_slice() {
            [only] => said.push(Statement::Alone { lane: &only.lane, mean: only.mean, low: only.low, high: only.high }),
            [] if failed.is_empty() => said.push(Statement::Nothing),
            _ => {}
        }
    } else {
        said.extend(said_of_pairs(result, &pairs));
    }
    said.extend(failed);
    said
}

fn said_of_pairs<'a>(result: &'a ResultFinding, pairs: &[&'a Pair]) -> Vec<Statement<'a>> {
    let order = order_of(result, pairs);
    let reference = reference(&order, pairs);
    let shown: Vec<Shown> = pairs.iter().map(|pair| turned(pair, reference, result, &order)).collect();

    let mut known = Known::default();
    let mut said = ties(&shown, &order, &mut known);

    let mut decided: Vec<&Shown> =
        shown.iter().filter(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower)).collect();
    // Against the reference first, the fastest first; then neighbours in the ranking, because
    // they settle the pairs that lie farther apart.
    decided.sort_by(|x, y| {
        let beside = |pair: &Shown| pair.b != reference;
        let inside = if beside(x) {
            rank_distance(result, x).cmp(&rank_distance(result, y))
        } else {
            y.ratio.unwrap_or(0.0).total_cmp(&x.ratio.unwrap_or(0.0))
        };
        beside(x).cmp(&beside(y)).then(inside)
    });
    let mut apart: Vec<Vec<Shown>> = Vec::new();
    for pair in decided {
        let (above, below) = if pair.verdict == Verdict::Faster { (pair.a, pair.b) } else { (pair.b, pair.a) };
        if pair.b == reference || !known.follows(above, below) {
            known.above.push((above, below));
            match apart.iter_mut().find(|pairs| pairs[0].a == pair.a) {
                Some(pairs) => pairs.push(pair.clone()),
                None => apart.push(vec![pair.clone()]),
            }
        }
    }
    said.extend(apart.into_iter().map(Statement::Apart));
    said.extend(undecided(&shown));
    said.extend(without_verdict(result, &shown, reference));
    said
}

/// What the others are held against: the first lane of the command line that has a verdict against
/// another, or may yet have one; where none has, the first that was compared.
fn reference<'a>(order: &[&'a str], pairs: &[&'a Pair]) -> &'a str {
    let judged = |lane: &&str, any: bool| {
        pairs.iter().any(|pair| (pair.a == *lane || pair.b == *lane) && (any || pair.verdict != Verdict::None))
    };
    let of = |any: bool| order.iter().copied().find(|lane| judged(lane, any));
    of(false).or_else(|| of(true)).unwrap_or("")
}

/// The lane that the verdict line of a result holds the others against; `None`: nothing is compared.
pub(crate) fn reference_of(result: &ResultFinding) -> Option<&str> {
    let pairs: Vec<&Pair> = result.pairs.iter().collect();
    Some(reference(&order_of(result, &pairs), &pairs)).filter(|lane| !lane.is_empty())
}

/// What is known of a lane against another one; `None`: nobody compared them.
pub(crate) fn shown_against<'a>(result: &'a ResultFinding, lane: &str, other: &str) -> Option<Shown<'a>> {
    let straight = |pair: &&Pair| pair.a == lane && pair.b == other;
    let turned = |pair: &&Pair| pair.a == other && pair.b == lane;
    let find = |of: &dyn Fn(&&Pair) -> bool| result.pairs.iter().find(|pair| of(pair)).map(shown);
    find(&straight).or_else(|| find(&turned).map(flipped))
}

fn shown(pair: &Pair) -> Shown<'_> {
    Shown {
        a: &pair.a,
        b: &pair.b,
        ratio: pair.ratio,
        interval: pair.low.zip(pair.high),
        over_race: pair.over_race.then_some(pair.at_least),
        verdict: pair.verdict,
        undecided: pair.undecided,
        why: pair.why.as_deref().filter(|why| !why.trim().is_empty()),
    }
}

/// Lanes in the order of the estimates, those that only pairs name behind them.
fn order_of<'a>(result: &'a ResultFinding, pairs: &[&'a Pair]) -> Vec<&'a str> {
    let mut order: Vec<&str> = Vec::new();
    let named = result.estimates.iter().map(|estimate| estimate.lane.as_str());
    for lane in named.chain(pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()])) {
        if !order.contains(&lane) {
            order.push(lane);
        }
    }
    order
}

/// The pair with the reference in second place. Of two other lanes the later one is the subject,
/// but where they are apart, the one that is better or worse than the reference too.
fn turned<'a>(pair: &'a Pair, reference: &str, result: &ResultFinding, order: &[&str]) -> Shown<'a> {
    let straight = shown(pair);
    let subject_is_b = match pair.verdict {
        _ if pair.a == reference || pair.b == reference => pair.a == reference,
        Verdict::Faster | Verdict::Slower => {
            let (winner, loser) = if pair.verdict == Verdict::Faster { (&pair.a, &pair.b) } else { (&pair.b, &pair.a) };
            let subject = if loses(result, loser, reference) { loser } else { winner };
            subject == &pair.b
        }
        _ => {
            let listed = |lane: &str| order.iter().position(|other| *other == lane);
            listed(&pair.a) < listed(&pair.b)
        }
    };
    if subject_is_b { flipped(straight) } else { straight }
}

/// Whether a pair says that `lane` is slower than `other`.
fn loses(result: &ResultFinding, lane: &str, other: &str) -> bool {
    result.pairs.iter().any(|pair| match pair.verdict {
        Verdict::Slower => pair.a == lane && pair.b == other,
        Verdict::Faster => pair.b == lane && pair.a == other,
        _ => false,
    })
}

fn flipped(pair: Shown<'_>) -> Shown<'_> {
    Shown {
        a: pair.b,
        b: pair.a,
        ratio: pair.ratio.map(f64::recip),
        interval: pair.interval.map(|(low, high)| (high.recip(), low.recip())),
        over_race: pair.over_race.map(|at_least| at_least.map(f64::recip)),
        verdict: match pair.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        },
        ..pair
    }
}

fn rank(result: &ResultFinding, lane: &str) -> usize {
    result.ranking.iter().position(|level| level.iter().any(|other| other == lane)).unwrap_or(usize::MAX)
}

fn rank_distance(result: &ResultFinding, pair: &Shown) -> usize {
    rank(result, pair.a).abs_diff(rank(result, pair.b))
}

/// Lanes that all tie with each other, and ties that no such circle covers.
fn ties<'a>(shown: &[Shown<'a>], order: &[&'a str], known: &mut Known<'a>) -> Vec<Statement<'a>> {
    let tie = |x: &str, y: &str| {
        shown
            .iter()
            .find(|pair| pair.verdict == Verdict::Tie && ((pair.a == x && pair.b == y) || (pair.a == y && pair.b == x)))
    };
    let mut circles: Vec<Vec<&'a str>> = Vec::new();
    for lane in order.iter().copied() {
        match circles.iter_mut().find(|circle| circle.iter().all(|other| tie(lane, other).is_some())) {
            Some(circle) => circle.push(lane),
            None => circles.push(vec![lane]),
        }
    }
    let covered = |pair: &Shown| circles.iter().any(|circle| circle.contains(&pair.a) && circle.contains(&pair.b));
    let mut said: Vec<Statement> = Vec::new();
    for circle in circles.iter().filter(|circle| circle.len() > 1) {
        let inside = shown.iter().filter(|pair| circle.contains(&pair.a) && circle.contains(&pair.b));
        said.push(Statement::Tie { lanes: circle.clone(), interval: widest(inside) });
    }
    for pair in shown.iter().filter(|pair| pair.verdict == Verdict::Tie && !covered(pair)) {
        said.push(Statement::Tie { lanes: vec![pair.b, pair.a], interval: pair.interval });
    }
    known.level.extend(shown.iter().filter(|pair| pair.verdict == Verdict::Tie).map(|pair| (pair.a, pair.b)));
    said
}

/// The outermost bounds, with every pair turned so that its bounds lie around the same one.
fn widest<'s>(pairs: impl Iterator<Item = &'s Shown<'s>>) -> Option<(f64, f64)> {
    pairs.filter_map(|pair| pair.interval).reduce(|(low, high), (other_low, other_high)| {
        (low.min(other_low).min(other_high.recip()), high.max(other_high).max(other_low.recip()))
    })
}

fn undecided<'a>(shown: &[Shown<'a>]) -> Option<Statement<'a>> {
    let pairs: Vec<Shown> = shown.iter().filter(|pair| pair.verdict == Verdict::Undecided).cloned().collect();
    (!pairs.is_empty()).then_some(Statement::Undecided { pairs })
}

/// Pairs without a verdict, gathered by lane and reason: a lane that lacks a promise lacks it
/// against every other, and that is said once.
fn without_verdict<'a>(result: &ResultFinding, shown: &[Shown<'a>], reference: &str) -> Vec<Statement<'a>> {
    let mut reasons: Vec<(String, Vec<Shown<'a>>)> = Vec::new();
    for pair in shown.iter().filter(|pair| pair.verdict == Verdict::None) {
        let key = without_names(pair);
        match reasons.iter_mut().find(|(other, _)| *other == key) {
            Some((_, pairs)) => pairs.push(pair.clone()),
            None => reasons.push((key, vec![pair.clone()])),
        }
    }
    let mut said = Vec::new();
    for (_, mut pairs) in reasons {
        let why = pairs[0].why.unwrap_or_default();
        // A ratio of two figures that Fairlane's own speed set would pass for the lanes'.
        if result.limit == Limit::Harness {
            said.push(Statement::NoVerdict { pairs: Vec::new(), why });
            continue;
        }
        while let Some(first) = pairs.first() {
            let count = |lane: &str| pairs.iter().filter(|pair| pair.a == lane || pair.b == lane).count();
            let lanes = pairs.iter().flat_map(|pair| [pair.a, pair.b]).filter(|lane| *lane != reference);
            // Of lanes with equally many pairs the first: `max_by_key` alone would take the last.
            let subject = lanes.rev().max_by_key(|lane| count(lane)).unwrap_or(first.a);
            let (its, rest): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|pair| pair.a == subject || pair.b == subject);
            let its: Vec<Shown> =
                its.into_iter().map(|pair| if pair.b == subject { flipped(pair) } else { pair }).collect();
            let why = its[0].why.unwrap_or_default();
            said.push(Statement::NoVerdict { pairs: its, why });
            pairs = rest;
        }
    }
    said
}

/// The reason with both lanes' names taken out, so that reasons about different lanes compare.
fn without_names(pair: &Shown) -> String {
    let why = pair.why.unwrap_or_default();
    // The longer name first: `ext4` stands inside `ext4,nobarrier`.
    let (long, short) = if pair.a.len() >= pair.b.len() { (pair.a, pair.b) } else { (pair.b, pair.a) };
    [long, short].iter().filter(|name| !name.is_empty()).fold(why.to_owned(), |why, name| why.replace(name, "\0"))
}

/// What the statements so far settle.
#[derive(Default)]
struct Known<'a> {
    above: Vec<(&'a str, &'a str)>,
    level: Vec<(&'a str, &'a str)>,
}

impl<'a> Known<'a> {
    /// Whether `above` beats `below` by a chain of known pairs, at least one of them decided.
    fn follows(&self, above: &'a str, below: &'a str) -> bool {
        let mut seen: Vec<(&str, bool)> = vec![(above, false)];
        let mut next = 0;
        while let Some((lane, beaten)) = seen.get(next).copied() {
            next += 1;
            if lane == below && beaten {
                return true;
            }
            let down = self.above.iter().filter(|(from, _)| *from == lane).map(|(_, to)| (*to, true));
            let level = self.level.iter().filter_map(|(x, y)| match lane {
                lane if lane == *x => Some((*y, beaten)),
                lane if lane == *y => Some((*x, beaten)),
                _ => None,
            });
            for step in down.chain(level).collect::<Vec<_>>() {
                if !seen.contains(&step) {
                    seen.push(step);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::findings::Estimate;
    use proptest::prelude::*;

    const LANES: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn estimate(lane: &str) -> Estimate {
        Estimate {
            lane: lane.to_owned(),
            mean: 1.0,
            row_mean: None,
            low: None,
            high: None,
            rounds: 6,
            cpu_seconds_per_gib: None,
            cpu_seconds_per_operation: None,
            agent_cpu_seconds_per_operation: None,
            page_cache_share: None,
            write_amplification: None,
            flushes_per_operation: None,
            latency_p50_ns: None,
            latency_p99_ns: None,
            latency_p999_ns: None,
            latency_max_ns: None,
            mean_to_median: None,
            latency_mean_ns: None,
            cpu_share: None,
            cpu_system_share: None,
            device_busy_share: None,
            device_use: None,
            device_use_is_impossible: false,
            extents: None,
            once_seconds: None,
            failure: None,
        }
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
            warnings: Vec::new(),
        }
    }

    /// Whether a reader of the statements knows that `above` beats `below`: every lane that can be
    /// reached by "beats" and "ties with", where at least one step was a "beats".
    fn reader_knows(said: &[Statement], above: &str, below: &str) -> bool {
        let mut level: Vec<&str> = vec![above];
        let mut beaten: Vec<&str> = Vec::new();
        for _ in 0..2 * LANES.len() {
            for statement in said {
                match statement {
                    Statement::Apart(pairs) => {
                        for pair in pairs {
                            let faster = pair.verdict == Verdict::Faster;
                            let (winner, loser) = if faster { (pair.a, pair.b) } else { (pair.b, pair.a) };
                            if level.contains(&winner) || beaten.contains(&winner) {
                                beaten.push(loser);
                            }
                        }
                    }
                    Statement::Tie { lanes, .. } => {
                        for known in [&mut level, &mut beaten] {
                            if lanes.iter().any(|lane| known.contains(lane)) {
                                known.extend(lanes);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        beaten.contains(&below)
    }

    fn lists(pairs: &[Shown], pair: &Pair) -> bool {
        pairs.iter().any(|shown| (shown.a == pair.a && shown.b == pair.b) || (shown.a == pair.b && shown.b == pair.a))
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
                    Verdict::Faster => reader_knows(&said, &pair.a, &pair.b),
                    Verdict::Slower => reader_knows(&said, &pair.b, &pair.a),
                    Verdict::Tie => said.iter().any(|one| matches!(one, Statement::Tie { lanes, .. }
                        if lanes.contains(&pair.a.as_str()) && lanes.contains(&pair.b.as_str()))),
                    Verdict::Undecided => said.iter().any(|one| matches!(one, Statement::Undecided { pairs }
                        if lists(pairs, pair))),
                    Verdict::None => said.iter().any(|one| matches!(one, Statement::NoVerdict { pairs, why }
                        if lists(pairs, pair) && Some(*why) == pair.why.as_deref())),
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
                    Statement::Apart(pairs) => Some(pairs.iter()
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
        assert_eq!(reference_of(&beside), Some("b"));
        let said = statements(&beside);
        let firsts = said.iter().filter_map(|one| if let Statement::Apart(of) = one { of.first() } else { None });
        assert!(firsts.clone().count() == 3 && firsts.into_iter().all(|pair| pair.b == "b"), "{said:?}");
        assert_eq!(reference_of(&result(&[Verdict::None; 10], &[false; 10])), Some("a"));
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
}
